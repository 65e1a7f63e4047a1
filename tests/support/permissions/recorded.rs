//! The requests of a run of the test suite, which `make requests` records, so that the policies can be checked without
//! the suite.

use std::collections::BTreeSet;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, OnceLock};

use super::evaluation::Check;

/// If this variable is set, each request is appended to the file that it names.
const RECORD: &str = "FGW_RECORD_REQUESTS";

fn file() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden/requests.txt")
}

/// Records a request that is new in this run.
pub(crate) fn record(check: &Check) {
    static SEEN: OnceLock<Mutex<BTreeSet<Check>>> = OnceLock::new();
    let Some(path) = std::env::var_os(RECORD) else { return };
    let mut seen = SEEN.get_or_init(Mutex::default).lock().expect("no one panics while recording");
    if seen.insert(check.clone()) {
        let file = std::fs::OpenOptions::new().create(true).append(true).open(&path);
        let mut file = file.unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        writeln!(file, "{check}").unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    }
}

/// The recorded requests.
pub(crate) fn all() -> Vec<Check> {
    let path = file();
    let text = std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    text.lines().map(|line| parse(line).unwrap_or_else(|| panic!("not a request: {line}"))).collect()
}

fn parse(line: &str) -> Option<Check> {
    let mut parts = line.split(' ');
    let mut check = Check::new(parts.next()?, parts.next()?);
    for part in parts {
        let (key, values) = part.split_once('=')?;
        check = check.with(key, &values.split(',').collect::<Vec<_>>());
    }
    Some(check)
}
