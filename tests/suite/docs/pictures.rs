//! The pictures of the documentation are those that the script draws, and each use of one has a text alternative.

use std::path::Path;
use std::process::Command;

use super::{files_in, read, top};
use crate::support::venv;

#[test]
fn pictures_match_their_script() {
    let drawn = tempfile::tempdir().expect("a temporary directory");
    let script = top().join("scripts/pictures.py");
    let done = Command::new(venv::program("python")).arg("-B").arg(script).arg(drawn.path()).output();
    let done = done.expect("the environment has Python");
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    let folder = top().join("docs/pictures");
    let names = |folder: &Path| -> Vec<_> {
        files_in(folder).iter().filter_map(|it| Some(it.file_name()?.to_owned())).collect()
    };
    for file in files_in(drawn.path()) {
        expect_test::expect_file![folder.join(file.file_name().expect("a file has a name"))].assert_eq(&read(&file));
    }
    assert_eq!(names(&folder), names(drawn.path()), "a picture that the script does not draw");
}

#[test]
fn every_picture_is_used_with_a_text_alternative() {
    let folders = ["docs/guides", "docs/resources"].map(|folder| files_in(&top().join(folder)));
    let mut pages: Vec<_> = folders.into_iter().flatten().collect();
    pages.extend(["README.md", "BENCHMARKS.md", "docs/index.md"].map(|page| top().join(page)));
    let mut used = std::collections::BTreeSet::new();
    for page in pages {
        let text = read(&page);
        for (before, after) in
            text.match_indices("![").map(|(at, _)| text[at + 2..].split_once("](").expect("an image"))
        {
            assert!(before.split_whitespace().count() >= 10, "{}: {before:?} describes nothing", page.display());
            let target = after.split(')').next().unwrap_or_default();
            let file = page.parent().expect("a page is in a folder").join(target);
            used.insert(file.canonicalize().unwrap_or_else(|error| panic!("{}: {target}: {error}", page.display())));
        }
    }
    let drawn = files_in(&top().join("docs/pictures")).into_iter().map(|it| it.canonicalize().expect("it exists"));
    let unused: Vec<_> = drawn.filter(|it| !used.contains(it)).collect();
    assert!(unused.is_empty(), "{unused:?}");
}
