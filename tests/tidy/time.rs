//! No test depends on the speed of the machine.
//!
//! A test that sleeps passes or fails depending on the load; a test with a short timeout fails on a slow machine. Tests
//! wait for a condition instead, with a timeout that only a hang reaches, or pause tokio's clock (`start_paused =
//! true`). In a test with a paused clock, and in a file all of whose asynchronous tests have one, only `thread::sleep`
//! counts.

use std::collections::BTreeMap;
use std::time::Duration;

use super::rule::{assert_kept, first_of, has_word};
use super::scan::{Clock, Part, Scan, closing, scan, without_text};
use super::tree::{File, tree};

/// The shortest timeout that a slow machine does not reach.
const SHORTEST: Duration = Duration::from_secs(30);

/// Files that may sleep, compare a measured time or have a shorter timeout, each with the reason.
const ALLOWED: &[(&str, &str)] = &[
    ("src/aws/recorded.rs", "delays a response for a test, and sets the deadline of an operation"),
    ("src/composite/simulation.rs", "calls take time on the paused clock of its tests"),
    ("src/composite/simulation/limits.rs", "calls take time on the paused clock of its tests"),
    ("tests/suite/gateway/authorization.rs", "sends 20 requests a second"),
    ("tests/suite/gateway/deployments.rs", "sends 20 requests a second"),
    ("tests/suite/gateway/stages.rs", "sends 20 requests a second"),
    ("tests/suite/installation/package.rs", "holds a lock for some time"),
    ("tests/suite/testbed/terraform.rs", "tests the time limit of a run"),
    ("tests/support/emulator.rs", "polls for a port"),
    ("tests/support/proxy.rs", "polls for a call, and delays responses for tests"),
    ("tests/support/proxy/lasts.rs", "measures durations, and delays AWS for the benchmark"),
    ("tests/support/terraform.rs", "polls for the end of a process"),
    ("tests/support/wait.rs", "the only loop that waits for an event"),
];

/// Calls with a timeout as an argument.
const TIMEOUTS: &[&str] = &["timeout(", "timeout_at(", "within(", "wait_for(", "recv_timeout(", "wait_timeout("];

#[test]
fn no_test_depends_on_time() {
    let files = tree();
    let scan = scan(&files);
    let mut found: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    for part in &scan.test_code {
        let file = files.iter().find(|file| file.path == part.file).expect("the scan has read the file");
        let first = file.text[..part.bytes.start].matches('\n').count();
        for (number, what) in depends_on_time(&real_time(part, file, &scan), &file.text) {
            found.entry(&file.path).or_default().push(format!("{}:{}: {what}", file.path, first + number));
        }
    }
    let is_allowed = |path: &str| ALLOWED.iter().any(|(file, _)| *file == path);
    let places: Vec<String> =
        found.iter().filter(|(file, _)| !is_allowed(file)).flat_map(|(_, it)| it.clone()).collect();
    assert_kept("No test sleeps, compares a measured time, or has a timeout below 30 s; see ALLOWED.", &places);
    assert!(ALLOWED.iter().all(|(_, reason)| !reason.is_empty()), "an exception has a reason");
    let stale = ALLOWED.iter().filter(|(file, _)| !found.contains_key(file));
    let stale: Vec<String> = stale.map(|(file, _)| format!("tests/tidy/time.rs: {file} needs no exception")).collect();
    assert_kept("ALLOWED lists only files that need it.", &stale);
}

#[test]
fn unit_tests_do_not_wait_on_real_time() {
    // Their servers run on this machine, and with a paused clock the timeouts of calls in progress would expire.
    let with_sockets = ["src/aws/config/connect/tests.rs"];
    let mut places = Vec::new();
    for file in tree().iter().filter(|file| file.is_of("src") && file.is_rust()) {
        let breaks = |line: &str| {
            let runs = line.contains("tokio::test") || line.contains("Builder::new_current_thread");
            if runs && !line.contains("start_paused") && !with_sockets.contains(&&*file.path) {
                return Some("a test with a running clock".to_string());
            }
            if line.contains("std::time") && has_word(line, "Instant") {
                return Some("std's clock, which tests cannot pause".to_string());
            }
            first_of(line, &["thread::sleep", "cfg!(test)"])
        };
        places.extend(
            file.lines().filter_map(|(number, line)| Some(format!("{}:{number}: {}", file.path, breaks(line)?))),
        );
    }
    assert_kept("Unit tests pause tokio's clock, and the product has the same time limits in tests.", &places);
}

/// The code of a part of a file, with blank lines in place of those that run on a paused clock.
fn real_time(part: &Part, file: &File, scan: &Scan) -> String {
    let mut code = without_text(&file.text);
    code.truncate(part.bytes.end);
    let clocks = || scan.tests.iter().filter(|test| test.body.file == part.file);
    let all = clocks().any(|test| test.clock == Clock::Paused) && !clocks().any(|test| test.clock == Clock::Tokio);
    let tests = clocks().filter(|test| test.clock == Clock::Paused).map(|test| test.body.bytes.clone());
    for bytes in tests.filter(|bytes| bytes.end <= part.bytes.end).chain(all.then(|| part.bytes.clone())) {
        let lines = code[bytes.clone()].split('\n');
        let lines =
            lines.map(|line| if line.contains("thread::sleep(") { line.to_owned() } else { " ".repeat(line.len()) });
        let lines: Vec<String> = lines.collect();
        code.replace_range(bytes, &lines.join("\n"));
    }
    code.split_off(part.bytes.start)
}

/// The violations in a piece of code, with their line numbers. Constants are searched in the whole file.
fn depends_on_time(code: &str, file: &str) -> Vec<(usize, String)> {
    let mut found = Vec::new();
    for (number, line) in code.lines().enumerate().map(|(index, line)| (index + 1, line)) {
        let next = code.lines().nth(number).unwrap_or_default().trim_start();
        let compares = |text: &str| [" < ", " > ", " <= ", " >= "].iter().any(|sign| text.contains(sign));
        if line.contains("thread::sleep(") || line.contains("time::sleep(") || line.contains("time::sleep_until(") {
            found.push((number, "sleeps".to_owned()));
        }
        let is_measured = line.contains(".elapsed()");
        let with_bound = line
            .split_once("Duration::")
            .is_some_and(|(before, _)| [" <", " >", " <=", " >="].iter().any(|sign| before.trim_end().ends_with(sign)));
        if is_measured && (compares(line) || next.starts_with(['<', '>'])) || with_bound {
            found.push((number, "compares a measured time".to_owned()));
        }
    }
    for (at, timeout) in timeouts(code, file) {
        if timeout < SHORTEST {
            found.push((code[..at].lines().count(), format!("times out after {timeout:?}")));
        }
    }
    found
}

/// The timeouts in a piece of code that are literals or constants, with their positions.
fn timeouts(code: &str, file: &str) -> Vec<(usize, Duration)> {
    let calls = TIMEOUTS.iter().flat_map(|call| {
        let begin = |at: usize| at + call.len() - 1;
        code.match_indices(call).map(move |(at, _)| (begin(at), &code[begin(at)..closing(code, begin(at))]))
    });
    let deadlines =
        code.match_indices("Instant::now() + ").map(|(at, _)| (at, code[at..].split(';').next().unwrap_or("")));
    calls.chain(deadlines).filter_map(|(at, text)| Some((at + 1, duration(text, file)?))).collect()
}

/// The first duration in a text, as a literal or as a constant of the file.
fn duration(text: &str, file: &str) -> Option<Duration> {
    if let Some(written) = literal(text) {
        return Some(written);
    }
    let is_of_name = |it: char| it.is_ascii_uppercase() || it == '_';
    let mut names = text.split(|it: char| !it.is_alphanumeric() && it != '_');
    names.find_map(|name| {
        let is_name = name.len() > 2 && name.chars().all(is_of_name);
        let (_, value) = is_name.then(|| file.split_once(&format!("const {name}: Duration =")))??;
        literal(value.split(';').next()?)
    })
}

fn literal(text: &str) -> Option<Duration> {
    let (_, call) = text.split_once("Duration::from_")?;
    let (unit, rest) = call.split_once('(')?;
    let number: String =
        rest.chars().take_while(|it| it.is_ascii_digit() || *it == '_').filter(|it| *it != '_').collect();
    let number: u64 = number.parse().ok()?;
    match unit {
        "secs" => Some(Duration::from_secs(number)),
        "millis" => Some(Duration::from_millis(number)),
        "micros" => Some(Duration::from_micros(number)),
        _ => None,
    }
}

#[test]
fn code_on_a_paused_clock_is_ignored() {
    let paused = "#[tokio::test(start_paused = true)]\nasync fn a() { time::sleep(x); }\n";
    let real = "#[tokio::test]\nasync fn b() { time::sleep(x); }\n";
    let found = |tests: &str| {
        let text = format!("mod tests {{\n{tests}fn both() {{ time::sleep(x); }}\nfn c() {{ thread::sleep(x) }}\n}}\n");
        let files = [File { path: "tests/a.rs".into(), text }];
        let scan = scan(&files);
        let found = depends_on_time(&real_time(&scan.test_code[0], &files[0], &scan), &files[0].text);
        found.into_iter().map(|(line, _)| line).collect::<Vec<_>>()
    };
    assert_eq!(found(&format!("{real}{paused}")), [3, 6, 7]);
    assert_eq!(found(paused), [5]);
    assert_eq!(found(real), [3, 4, 5]);
}

#[test]
fn code_that_depends_on_time_is_found() {
    let found = |code: &str| depends_on_time(code, code).into_iter().map(|(line, what)| format!("{line} {what}"));
    let found = |code: &str| found(code).collect::<Vec<_>>();
    assert_eq!(found("a;\nstd::thread::sleep(PAUSE);\ntokio::time::sleep(x).await;"), ["2 sleeps", "3 sleeps"]);
    let compares = "compares a measured time";
    assert_eq!(found("assert!(begun.elapsed() < A);\nlet took = begun.elapsed();"), [format!("1 {compares}")]);
    assert_eq!(found("begun.elapsed()\n    >= A"), [format!("1 {compares}")]);
    assert_eq!(found("assert!(two - one >= Duration::from_millis(7))"), [format!("1 {compares}")]);
    assert_eq!(found("fn a() -> Duration { Duration::from_secs(1) }"), [""; 0]);
    assert_eq!(found("x;\ntimeout(\n    Duration::from_millis(50),\n    b)"), ["2 times out after 50ms"]);
    assert_eq!(found("run.within(Duration::from_secs(30)); wait_for(\"a\", 2, Duration::from_secs(60))"), [""; 0]);
    assert_eq!(found("let end = Instant::now() + Duration::from_secs(20);"), ["1 times out after 20s"]);
    assert_eq!(
        found("const A_WHILE: Duration = Duration::from_secs(5);\ntimeout(A_WHILE, b)"),
        ["2 times out after 5s"]
    );
    assert_eq!(found("const LONG: Duration = Duration::from_secs(300);\ntimeout(LONG, b)"), [""; 0]);
}
