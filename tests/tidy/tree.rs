//! The text files of the project. `tests/suite/guides/permissions.rs` includes this file too.

use std::collections::BTreeSet;
use std::path::Path;

/// One text file of the project.
pub(crate) struct File {
    /// The path from the root of the project, with `/`.
    pub(crate) path: String,
    pub(crate) text: String,
}

impl File {
    pub(crate) fn is_rust(&self) -> bool {
        self.path.ends_with(".rs")
    }

    /// Whether it is in a folder, or is the file that declares the folder's modules.
    pub(crate) fn is_of(&self, module: &str) -> bool {
        let rest = self.path.strip_prefix(module);
        rest.is_some_and(|rest| rest.is_empty() || rest == ".rs" || rest.starts_with('/'))
    }

    /// Its lines with their numbers.
    pub(crate) fn lines(&self) -> impl Iterator<Item = (usize, &str)> {
        self.text.lines().enumerate().map(|(index, line)| (index + 1, line))
    }

    /// Its lines of code with their numbers, without comments and without the test module at its end.
    pub(crate) fn code(&self) -> impl Iterator<Item = (usize, &str)> {
        let mut previous = "";
        let in_product = self.lines().take_while(move |(_, line)| {
            let begins_tests = previous.trim() == "#[cfg(test)]" && line.contains("mod ") && line.ends_with('{');
            previous = line;
            !begins_tests
        });
        in_product.filter(|(_, line)| !line.trim_start().starts_with("//"))
    }
}

/// Every text file of the project, except what `.gitignore` names.
pub(crate) fn tree() -> Vec<File> {
    let package = Path::new(env!("CARGO_MANIFEST_DIR"));
    let top =
        package.ancestors().find(|folder| folder.join("Cargo.lock").exists()).expect("the project has a lock file");
    let ignored = std::fs::read_to_string(top.join(".gitignore")).expect("the project has a .gitignore");
    let mut skipped: BTreeSet<&str> = ignored.lines().map(|line| line.trim_matches('/')).collect();
    skipped.extend([".git", ".terraform", "__pycache__"]);
    let mut files = Vec::new();
    walk(top, "", &skipped, &mut files);
    files.sort_by(|one, other| one.path.cmp(&other.path));
    assert!(files.iter().any(|file| file.path == "src/lib.rs"), "the source tree is not at {}", top.display());
    files
}

fn walk(folder: &Path, prefix: &str, skipped: &BTreeSet<&str>, files: &mut Vec<File>) {
    for entry in std::fs::read_dir(folder).expect("a folder of the project can be read") {
        let entry = entry.expect("a folder of the project can be read");
        let name = entry.file_name().to_string_lossy().into_owned();
        if skipped.contains(name.as_str()) {
            continue;
        }
        let path = format!("{prefix}{name}");
        if entry.path().is_dir() {
            walk(&entry.path(), &format!("{path}/"), skipped, files);
        } else if let Ok(text) = std::fs::read_to_string(entry.path()) {
            files.push(File { path, text });
        }
    }
}

/// The Rust files in `src` that are part of the product, not of its tests.
pub(crate) fn product() -> Vec<File> {
    let files = tree();
    let tests = test_files(&files);
    let is_test =
        |path: &str| tests.iter().any(|test| path == format!("{test}.rs") || path.starts_with(&format!("{test}/")));
    files.into_iter().filter(|file| file.is_of("src") && file.is_rust() && !is_test(&file.path)).collect()
}

/// The modules that are declared for tests only, as paths without `.rs`.
pub(crate) fn test_files(files: &[File]) -> Vec<String> {
    let mut modules = Vec::new();
    for file in files.iter().filter(|file| file.is_of("src") && file.is_rust()) {
        let folder = ["/mod.rs", "/lib.rs", "/main.rs", ".rs"].iter().find_map(|end| file.path.strip_suffix(end));
        let lines: Vec<&str> = file.text.lines().map(str::trim).collect();
        for pair in lines.windows(2).filter(|pair| pair[0] == "#[cfg(test)]") {
            let name = pair[1].strip_suffix(';').and_then(|declaration| declaration.split("mod ").nth(1));
            modules.extend(folder.zip(name).map(|(folder, name)| format!("{folder}/{name}")));
        }
    }
    modules
}
