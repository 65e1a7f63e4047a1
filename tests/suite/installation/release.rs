//! Releases that `make package` builds from a binary, signed with a temporary key.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::OnceLock;

use serde_json::Value;
use tempfile::TempDir;

use crate::support::{reaper, venv};

/// The version in Cargo.toml.
pub(super) const VERSION: &str = env!("CARGO_PKG_VERSION");

/// An RSA key in its own directory.
pub(super) struct Key {
    directory: PathBuf,
    pub(super) id: String,
}

impl Key {
    pub(super) fn new() -> Self {
        let directory = directory();
        let run = Command::new(venv::program("python")).arg(openpgp()).arg(&directory).arg("new").output();
        let run = run.expect("the environment has python");
        assert!(run.status.success(), "{run:?}");
        Self { directory, id: String::from_utf8_lossy(&run.stdout).trim().to_owned() }
    }

    /// The public key, ASCII-armored.
    pub(super) fn public(&self) -> String {
        fs::read_to_string(self.directory.join("public.asc")).expect("the key was generated")
    }

    /// The variables with which `scripts/package.py` signs with this key, through a program in place of gpg.
    fn variables(&self) -> Vec<(&str, String)> {
        let words = [venv::program("python"), openpgp(), self.directory.clone()];
        let words: Vec<String> = words.iter().map(|word| format!("'{}'", word.display())).collect();
        vec![("GPG", words.join(" ")), ("GPG_KEY", self.id.clone())]
    }
}

/// The files of a release.
pub(super) struct Release {
    pub(super) directory: PathBuf,
    /// The standard output of `make package`.
    pub(super) output: String,
}

impl Release {
    /// The binary that all tests run, packaged and signed only once.
    pub(super) fn of_the_provider() -> &'static (Self, Key) {
        static RELEASE: OnceLock<(Release, Key)> = OnceLock::new();
        RELEASE.get_or_init(|| {
            let key = Key::new();
            (Self::of(Path::new(env!("CARGO_BIN_EXE_terraform-provider-fgw")), Some(&key)), key)
        })
    }

    /// Any file, packaged as if it were the binary.
    pub(super) fn of(binary: &Path, key: Option<&Key>) -> Self {
        let directory = directory();
        let run = Self::make("package", &directory, key, &[("FGW_BINARY", &binary.display().to_string())]);
        assert!(run.status.success(), "{run:?}");
        Self { directory, output: String::from_utf8_lossy(&run.stdout).into_owned() }
    }

    /// Runs a target of the Makefile that writes into a directory.
    pub(super) fn make(target: &str, directory: &Path, key: Option<&Key>, variables: &[(&str, &str)]) -> Output {
        let mut make = Command::new("make");
        make.args(["--silent", target]).current_dir(env!("CARGO_MANIFEST_DIR")).env("PACKAGE_DIR", directory);
        // Neither a make that runs this test nor its user may affect the package.
        for name in ["MAKEFLAGS", "MAKELEVEL", "MFLAGS", "TARGET", "TAG", "GPG", "GPG_KEY", "GPG_PASSPHRASE"] {
            make.env_remove(name);
        }
        make.env_remove("SOURCE_DATE_EPOCH").envs(variables.iter().copied());
        make.envs(key.map(Key::variables).unwrap_or_default());
        make.output().expect("the tests need make")
    }

    /// The content of the file with this ending after name and version, such as `_SHA256SUMS`.
    pub(super) fn file(&self, end: &str) -> Vec<u8> {
        let path = self.directory.join(name(end));
        fs::read(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
    }

    pub(super) fn text(&self, end: &str) -> String {
        String::from_utf8(self.file(end)).expect("the file is text")
    }

    /// The end of the name of the zip for this platform.
    pub(super) fn zip_end() -> String {
        let (system, machine) = platform();
        format!("_{system}_{machine}.zip")
    }

    /// The SHA-256 checksums that the release states, by file name.
    pub(super) fn sums(&self) -> BTreeMap<String, String> {
        let sums = self.text("_SHA256SUMS");
        let pairs = sums.lines().map(|line| line.split_once("  ").expect("a sum, two spaces and a name"));
        pairs.map(|(sum, name)| (name.to_owned(), sum.to_owned())).collect()
    }

    /// Name, mode, system, time and size of each file in the zip, in order, and the content of small files.
    pub(super) fn contents(&self) -> Value {
        let program = "import json, sys, zipfile\nz = zipfile.ZipFile(sys.argv[1])\n\
                       print(json.dumps([dict(name=i.filename, mode=oct(i.external_attr >> 16), system=i.create_system, \
                       time=i.date_time, size=i.file_size, text=z.read(i).decode() if i.file_size < 10**6 else None) \
                       for i in z.infolist()]))";
        python(program, &[self.directory.join(name(&Self::zip_end())).as_path()])
    }
}

/// The name of the file with this ending after name and version.
pub(super) fn name(end: &str) -> String {
    format!("terraform-provider-fgw_{VERSION}{end}")
}

/// The registries' names of this operating system and architecture.
pub(super) fn platform() -> (&'static str, &'static str) {
    let system = match std::env::consts::OS {
        "macos" => "darwin",
        system => system,
    };
    let machine = match std::env::consts::ARCH {
        "x86_64" => "amd64",
        "aarch64" => "arm64",
        machine => machine,
    };
    (system, machine)
}

/// Runs a Python program with the packages of the tests, and returns the JSON that it prints.
pub(super) fn python(program: &str, arguments: &[&Path]) -> Value {
    let ran = Command::new(venv::program("python")).args(["-c", program]).args(arguments).output();
    let ran = ran.expect("the environment has python");
    assert!(ran.status.success(), "{}", String::from_utf8_lossy(&ran.stderr));
    serde_json::from_slice(&ran.stdout).expect("it prints JSON")
}

/// A temporary directory that is removed after the test process has ended.
pub(super) fn directory() -> PathBuf {
    let directory: TempDir = tempfile::Builder::new().prefix("fgw-release-").tempdir().expect("a temporary directory");
    reaper::directory_created(directory.path());
    directory.keep()
}

fn openpgp() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/support/openpgp.py")
}
