//! The files of a configuration: a root module and the local modules that it calls.

use std::collections::{BTreeMap, BTreeSet};
use std::io::ErrorKind;
use std::path::{Component, Path, PathBuf};

use super::Schemas;
use super::expression::{Expression, Place};
use super::modules::{Block, Module};
use super::{hcl_syntax, json_syntax};

/// A configuration.
#[derive(Default)]
pub(super) struct Configuration {
    /// The directory of the root module.
    pub(super) root: PathBuf,
    /// The modules by directory.
    pub(super) modules: BTreeMap<PathBuf, Module>,
    /// The names that its expressions read from objects.
    pub(super) reads: BTreeSet<String>,
    /// The reasons why a part could not be read.
    pub(super) errors: Vec<String>,
    files: Vec<File>,
}

/// A file that was read.
struct File {
    path: PathBuf,
    /// The offsets of the ends of its lines.
    line_ends: Vec<usize>,
}

impl Configuration {
    /// Reads a root module and the local modules that it calls, directly or indirectly.
    pub(super) fn read(schemas: &Schemas, directory: &Path) -> Configuration {
        let root = clean(directory);
        let mut configuration = Configuration { root: root.clone(), ..Configuration::default() };
        if let Err(error) = configuration.read_module(schemas, &root) {
            configuration.errors.push(format!("{}: {error}", root.display()));
        }
        configuration
    }

    /// The text `file:line`.
    pub(super) fn position(&self, place: Place) -> String {
        let file = &self.files[place.file];
        format!("{}:{}", file.path.display(), file.line_ends.partition_point(|end| *end < place.offset) + 1)
    }

    /// The directory of the module that a block calls. `None` if it is not a local one.
    pub(super) fn called(&self, call: &Block, from: &Path) -> Option<PathBuf> {
        let source = call.argument("source")?.as_text()?;
        (source.starts_with("./") || source.starts_with("../")).then(|| clean(&from.join(source)))
    }

    fn read_module(&mut self, schemas: &Schemas, directory: &Path) -> Result<(), String> {
        let paths = configuration_files(directory)?;
        let contents = paths.into_iter().filter_map(|path| self.read_file(path)).collect();
        let module = Module::of(contents, schemas);
        let calls = module.calls.iter();
        let called: Vec<_> = calls.filter_map(|call| Some((call.place, self.called(call, directory)?))).collect();
        self.modules.insert(directory.to_path_buf(), module);
        for (place, directory) in called {
            if self.modules.contains_key(&directory) {
                continue;
            }
            if let Err(error) = self.read_module(schemas, &directory) {
                self.errors.push(format!("{}: The module {}: {error}", self.position(place), directory.display()));
            }
        }
        Ok(())
    }

    /// The content of a file. `None` after an error.
    fn read_file(&mut self, path: PathBuf) -> Option<Expression> {
        let text = match std::fs::read_to_string(&path) {
            Ok(text) => text,
            Err(error) => {
                self.errors.push(format!("{}:1: The file could not be read: {error}.", path.display()));
                return None;
            }
        };
        let parse = if is_json(&path) { json_syntax::file } else { hcl_syntax::file };
        let content = parse(&text, self.files.len(), &mut self.reads);
        let content = content.map_err(|(line, error)| self.errors.push(format!("{}:{line}: {error}", path.display())));
        let line_ends = text.bytes().enumerate().filter(|(_, byte)| *byte == b'\n').map(|(offset, _)| offset).collect();
        self.files.push(File { path, line_ends });
        content.ok()
    }
}

fn is_json(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension == "json")
}

/// The files that Terraform and OpenTofu read in a directory, in the order of their names.
fn configuration_files(directory: &Path) -> Result<Vec<PathBuf>, String> {
    let from = if directory.as_os_str().is_empty() { Path::new(".") } else { directory };
    let unreadable = |error: std::io::Error| match error.kind() {
        ErrorKind::NotFound => "The directory does not exist.".to_string(),
        ErrorKind::NotADirectory => "The path is not a directory.".to_string(),
        _ => format!("The directory could not be read: {error}."),
    };
    let mut paths = Vec::new();
    for entry in std::fs::read_dir(from).map_err(unreadable)? {
        let name = entry.map_err(unreadable)?.file_name();
        let Some(name) = name.to_str() else { continue };
        let is_temporary = name.starts_with(['.', '#']) || name.ends_with('~');
        if !is_temporary && [".tf", ".tf.json", ".tofu", ".tofu.json"].iter().any(|end| name.ends_with(end)) {
            paths.push(directory.join(name));
        }
    }
    paths.sort();
    if paths.is_empty() {
        return Err("The directory contains no configuration: no file ends with .tf or .tf.json.".to_string());
    }
    Ok(paths)
}

/// A path without `.` and, where possible, without `..`, as Terraform shortens it. Empty for the working directory.
fn clean(path: &Path) -> PathBuf {
    let mut cleaned = PathBuf::new();
    for component in path.components() {
        match component {
            Component::CurDir => {}
            Component::ParentDir if matches!(cleaned.components().next_back(), Some(Component::Normal(_))) => {
                cleaned.pop();
            }
            other => cleaned.push(other),
        }
    }
    cleaned
}
