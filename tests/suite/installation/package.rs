//! The contents of a package, and the errors of `make package`.

// In tests and their helpers, a failed unwrap is a failed test.
#![allow(clippy::unwrap_used)]

use std::os::unix::fs::{MetadataExt, symlink};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;
use std::{env, fs, thread};

use serde_json::json;

use super::registry::sum;
use super::release::{Key, Release, VERSION, directory, name};
use crate::support::wait::until;

/// The content of a file of the project.
fn project(path: &str) -> String {
    fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(path)).expect("the project has the file")
}

fn fake_binary() -> PathBuf {
    let file = directory().join("any-name");
    fs::write(&file, "not a program").expect("the directory is ours");
    file
}

#[test]
fn readme_guide_and_changelog_name_the_version() {
    assert!(project("README.md").contains(&format!("the version is {VERSION}")));
    let guide = "docs/guides/getting-started-without-an-aws-account.md";
    for page in ["README.md", guide] {
        assert!(project(page).contains(&format!("version = \"{VERSION}\"")), "{page} requires the version");
    }
    assert!(project("CHANGELOG.md").contains(&format!("## [{VERSION}]")));
}

#[test]
fn packages_of_one_binary_are_identical() {
    let (binary, key) = (fake_binary(), Key::new());
    let packages = [Release::of(&binary, Some(&key)), Release::of(&binary, Some(&key))];
    let files = |release: &Release| {
        let mut files: Vec<_> =
            fs::read_dir(&release.directory).expect("the directory exists").collect::<Result<_, _>>().unwrap();
        files.sort_by_key(fs::DirEntry::file_name);
        files.iter().map(|file| (file.file_name(), fs::read(file.path()).unwrap())).collect::<Vec<_>>()
    };
    let [one, other] = packages.each_ref().map(files);
    let names: Vec<_> = one.iter().map(|(name, _)| name.to_string_lossy().into_owned()).collect();
    let ends = ["_SHA256SUMS", "_SHA256SUMS.sig", &Release::zip_end(), "_manifest.json"];
    assert_eq!(names, ends.map(name));
    assert_eq!(
        one.iter().map(|(_, content)| sum(content)).collect::<Vec<_>>(),
        other.iter().map(|(_, content)| sum(content)).collect::<Vec<_>>()
    );
}

#[test]
fn package_contains_what_the_registries_require() {
    let release = Release::of(&fake_binary(), None);
    let contents = release.contents();
    let heads: Vec<_> = contents
        .as_array()
        .expect("a list")
        .iter()
        .map(|file| json!([file["name"], file["mode"], file["system"], file["time"]]))
        .collect();
    let begin = json!([1980, 1, 1, 0, 0, 0]);
    let binary = format!("terraform-provider-fgw_v{VERSION}");
    // Without the executable bit, the binary would install but not start.
    assert_eq!(
        json!(heads),
        json!([
            ["LICENSE", "0o100644", 3, begin],
            ["THIRD-PARTY-NOTICES.txt", "0o100644", 3, begin],
            [binary, "0o100755", 3, begin],
        ])
    );
    assert_eq!(contents[0]["text"], project("LICENSE"));
    assert_eq!(contents[2]["text"], "not a program");

    let manifest = project("terraform-registry-manifest.json");
    assert_eq!(release.text("_manifest.json"), manifest);
    let zip = release.file(&Release::zip_end());
    let expected = [(name(&Release::zip_end()), sum(&zip)), (name("_manifest.json"), sum(manifest.as_bytes()))];
    assert_eq!(release.sums(), expected.into());

    assert!(!release.directory.join(name("_SHA256SUMS.sig")).exists());
    assert!(release.output.contains("GPG_KEY is not set, so there is no signature"), "{}", release.output);
}

#[test]
fn notices_contain_the_license_of_every_linked_dependency() {
    let release = Release::of(&fake_binary(), None);
    let contents = release.contents();
    let notices = contents[1]["text"].as_str().expect("a text");
    // The packages that `cargo tree` lists as linked into the binary. Procedural macros run only in the compiler.
    let tree = Command::new(env!("CARGO"))
        .args(["tree", "--locked", "--package", "terraform-provider-fgw", "--edges", "normal,no-proc-macro"])
        .args(["--prefix", "none", "--format", "{p}"])
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .output()
        .expect("cargo runs this test");
    let tree = String::from_utf8_lossy(&tree.stdout).into_owned();
    let mut missing = Vec::new();
    let mut count = 0;
    for line in tree.lines().filter(|line| !line.starts_with("terraform-provider-fgw ")) {
        let (package, version) = line.split_once(" v").expect("a name and a version");
        let label = format!("{package} {}", version.split(' ').next().unwrap_or_default());
        count += 1;
        let is_listed = notices.lines().any(|line| line.starts_with(&format!("{label}: ")));
        let has_text = notices.lines().any(|line| line.split(", ").any(|it| it == label));
        if !is_listed || !has_text {
            missing.push(label);
        }
    }
    assert!(count > 100, "{tree}");
    assert_eq!(missing, Vec::<String>::new());
    for text in ["Apache License", "Permission is hereby granted, free of charge", "UNICODE LICENSE V3"] {
        assert!(notices.contains(text), "no {text}");
    }
}

#[test]
fn licenses_of_dependencies_match_deny_toml() {
    let compare = |allow: &str| {
        let python = crate::support::venv::program("python");
        // The script reads deny.toml from the parent of its own directory, so a copy of both can contain another list.
        let top = directory();
        fs::create_dir(top.join("scripts")).unwrap();
        let list = project("deny.toml").replace("\"MPL-2.0\", ", allow);
        for (path, content) in [
            ("deny.toml", list),
            ("scripts/licenses.py", project("scripts/licenses.py")),
            ("Cargo.toml", project("Cargo.toml")),
            ("Cargo.lock", project("Cargo.lock")),
        ] {
            fs::write(top.join(path), content).unwrap();
        }
        for link in ["src", "tests", "build.rs"] {
            symlink(Path::new(env!("CARGO_MANIFEST_DIR")).join(link), top.join(link)).unwrap();
        }
        let home = busy_cargo_home();
        let ran = Command::new(python)
            .arg(top.join("scripts/licenses.py"))
            .env("CARGO_HOME", &home)
            .output()
            .expect("python runs");
        (ran.status.code(), String::from_utf8_lossy(&ran.stderr).trim().to_owned())
    };
    assert_eq!(compare("\"MPL-2.0\", "), (Some(0), String::new()));
    let missing = format!("terraform-provider-fgw {VERSION} has the license MPL-2.0, which deny.toml does not allow");
    assert_eq!(compare(""), (Some(1), missing));
    let unused = "deny.toml allows GPL-3.0-only, which no dependency needs".to_owned();
    assert_eq!(compare("\"MPL-2.0\", \"GPL-3.0-only\", "), (Some(1), unused));
}

/// A home for cargo with the downloaded sources of the cargo that runs this test. Its lock is held for a moment as if
/// by another cargo. The cargo under test waits for the lock, and by default would print a message about it.
fn busy_cargo_home() -> PathBuf {
    const LOCK: &str = ".package-cache";
    // Each home needs a lock and a database of its own: cargo writes to the database only while it holds the lock, so
    // a second lock for one database lets two cargos write at once, and one of them reports "database is locked".
    const OF_ONE_HOME: [&str; 2] = [LOCK, ".global-cache"];
    let own = env::var_os("CARGO_HOME").map(PathBuf::from);
    let own = own.unwrap_or_else(|| PathBuf::from(env::var_os("HOME").expect("a home")).join(".cargo"));
    let home = directory();
    for entry in fs::read_dir(own).unwrap().map(Result::unwrap) {
        // Further files of the lock and of the database have longer names.
        if !OF_ONE_HOME.iter().any(|name| entry.file_name().to_string_lossy().starts_with(name)) {
            symlink(entry.path(), home.join(entry.file_name())).unwrap();
        }
    }
    let lock = fs::File::create(home.join(LOCK)).unwrap();
    lock.lock().unwrap();
    let inode = format!(":{} ", lock.metadata().unwrap().ino());
    // Linux lists the process that holds a lock and, with an arrow, those that wait for it.
    let shows = move |arrow: bool| {
        let locks = fs::read_to_string("/proc/locks").unwrap_or_default();
        locks.lines().any(|line| line.contains(&inode) && line.contains("->") == arrow)
    };
    let is_listed = shows(false);
    thread::spawn(move || {
        if is_listed {
            until("cargo waits for the lock", || shows(true));
        } else {
            // Elsewhere, a slow cargo may start too late to wait. Then the test shows less, but does not fail.
            thread::sleep(Duration::from_millis(500));
        }
        drop(lock);
    });
    home
}

#[test]
fn wrong_tags_and_unsupported_platforms_are_rejected() {
    let rejected = |variable: (&str, &str)| {
        let directory = directory();
        let binary = fake_binary().display().to_string();
        let run = Release::make("package", &directory, None, &[("FGW_BINARY", &binary), variable]);
        assert!(!run.status.success(), "{run:?}");
        assert_eq!(fs::read_dir(&directory).unwrap().count(), 0, "{run:?}");
        String::from_utf8_lossy(&run.stderr).into_owned()
    };
    let message = rejected(("TAG", "v999.0.0"));
    let expected = format!("the tag v999.0.0 does not match the version {VERSION} in Cargo.toml");
    assert!(message.contains(&expected), "{message}");
    let message = rejected(("TARGET", "riscv64gc-unknown-linux-gnu"));
    assert!(message.contains("riscv64gc-unknown-linux-gnu is not a platform of a release"), "{message}");
}

#[test]
fn checksums_of_all_platforms_are_in_one_signed_file() {
    let key = Key::new();
    let release = Release::of(&fake_binary(), None);
    let other = name("_plan9_mips.zip");
    fs::copy(release.directory.join(name(&Release::zip_end())), release.directory.join(&other)).unwrap();
    fs::write(release.directory.join("terraform-provider-fgw_0.0.1_linux_amd64.zip"), "of another version").unwrap();
    let run = Release::make("package-sums", &release.directory, Some(&key), &[("TAG", &format!("v{VERSION}"))]);
    assert!(run.status.success(), "{run:?}");
    let names: Vec<String> = release.sums().into_keys().collect();
    let mut expected = vec![name(&Release::zip_end()), other, name("_manifest.json")];
    expected.sort();
    assert_eq!(names, expected);
    assert!(release.file("_SHA256SUMS.sig").len() > 256, "RSA with 2048 bits");
}
