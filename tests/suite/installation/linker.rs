//! The linker of builds for Linux, and the order in which it puts the functions of a release.

#![cfg(target_os = "linux")]

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;
use std::process::Command;

use super::release::directory;

/// Links with a C compiler that only prints its arguments, and returns them.
fn linked(folder: &Path, arguments: &[&str]) -> Vec<String> {
    let compiler = folder.join("cc");
    fs::write(&compiler, "#!/bin/sh\nprintf '%s\\n' \"$@\"\n").expect("the directory is ours");
    fs::set_permissions(&compiler, fs::Permissions::from_mode(0o755)).expect("the file is ours");
    let path = std::env::var("PATH").expect("tests have a path");
    let run = Command::new("scripts/linker.sh")
        .args(arguments)
        .env("PATH", format!("{}:{path}", folder.display()))
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .output()
        .expect("the script is executable");
    assert!(run.status.success(), "{run:?}");
    String::from_utf8(run.stdout).expect("arguments are UTF-8").lines().map(str::to_owned).collect()
}

/// An object with all functions of the provider, like that of a release. The link is to the binary that the tests run.
fn object(folder: &Path, unit: u32) -> String {
    let object = folder.join(format!("terraform_provider_fgw-0123.{unit}.rcgu.o"));
    symlink(env!("CARGO_BIN_EXE_terraform-provider-fgw"), &object).expect("the directory is ours");
    object.display().to_string()
}

#[test]
fn a_release_is_linked_in_the_order_of_its_runs() {
    let folder = directory();
    let object = object(&folder, 0);
    let arguments = linked(&folder, &["-m64", &object]);
    assert_eq!(arguments[..2], ["-m64", &object]);
    let order = format!("-Wl,--symbol-ordering-file={object}.order");
    assert!(arguments.contains(&order), "{arguments:?}");
    assert!(arguments.contains(&"-fuse-ld=lld".to_owned()), "{arguments:?}");
    let folder_of_lld = arguments.iter().find_map(|it| it.strip_prefix("-B")).expect("the folder of LLD");
    assert!(Path::new(folder_of_lld).join("ld.lld").exists(), "the toolchain contains {folder_of_lld}");
    let chosen = linked(&folder, &["-fuse-ld=lld", &object]);
    assert_eq!(chosen.iter().filter(|it| *it == "-fuse-ld=lld").count(), 1, "{chosen:?}");

    // In a debug build, the copies of generic functions have other sizes than those that the list names.
    let listed = fs::read_to_string("scripts/order.txt").expect("the project has the file").split_whitespace().count();
    let order = fs::read_to_string(format!("{object}.order")).expect("the script has written it");
    let found = order.lines().count();
    assert!(order.contains("reconcile7planner4plan"), "each plan executes it");
    assert!(found > listed / 2, "only {found} of {listed} functions exist: run make order");
}

#[test]
fn other_builds_are_linked_as_they_are() {
    let folder = directory();
    let (one, other) = (object(&folder, 0), object(&folder, 1));
    for arguments in [&["-m64", "build_script_build-1.rcgu.o"][..], &[&one, &other, "-o", "debug"]] {
        assert_eq!(linked(&folder, arguments), arguments);
    }
}
