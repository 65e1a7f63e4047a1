//! Finds the uses between files of the product without a compiler: paths in `use` declarations and in code are followed
//! through re-exports to the file that declares the item.

use std::collections::{BTreeMap, BTreeSet};

use super::scan::without_text;
use super::tree::File;

type Path = Vec<String>;

/// The names in one file.
#[derive(Default)]
struct Names {
    /// The path of each imported name.
    imports: BTreeMap<String, Path>,
    /// The path of each re-exported name. A re-export is not a use; code with the name uses the file that declares it.
    exports: BTreeMap<String, Path>,
    /// The modules of which it re-exports all public items.
    globs: Vec<Path>,
    /// The public items that the file declares.
    items: BTreeSet<String>,
    /// Every path in the code.
    paths: Vec<Path>,
}

/// The files that each file uses, by path. A submodule's use of its parent modules does not count, because Rust's
/// privacy rules treat them as one unit.
pub(crate) fn imports(files: &[File]) -> BTreeMap<String, BTreeSet<String>> {
    let modules: BTreeMap<Path, &File> = files.iter().map(|file| (module(&file.path), file)).collect();
    let mut names: BTreeMap<&Path, Names> =
        modules.iter().map(|(module, file)| (module, names(module, file, &modules))).collect();
    let of_globs: Vec<_> = modules.keys().map(|module| (module, of_globs(module, &names))).collect();
    for (module, exports) in of_globs {
        let own = names.get_mut(module).expect("each module has its names");
        let others =
            exports.into_iter().filter(|(name, _)| !own.items.contains(name) && !own.exports.contains_key(name));
        let others: Vec<_> = others.collect();
        own.exports.extend(others);
    }
    let uses = |module: &Path| -> BTreeSet<String> {
        let own = &names[module];
        let imported = own.imports.values().cloned();
        let targets = imported.chain(own.paths.iter().cloned()).filter_map(|path| declared_in(&path, &names, 0));
        targets.filter(|target| !module.starts_with(target)).map(|target| modules[&target].path.clone()).collect()
    };
    modules.iter().map(|(module, file)| (file.path.clone(), uses(module))).collect()
}

/// The groups of files that use each other, directly or indirectly.
pub(crate) fn cycles(imports: &BTreeMap<String, BTreeSet<String>>) -> Vec<Vec<String>> {
    let reach = |from: &String| {
        let (mut reached, mut next) = (BTreeSet::new(), vec![from.clone()]);
        while let Some(file) = next.pop() {
            let new = imports.get(&file).into_iter().flatten().filter(|it| reached.insert((*it).clone()));
            next.extend(new.cloned());
        }
        reached
    };
    let reached: BTreeMap<&String, BTreeSet<String>> = imports.keys().map(|file| (file, reach(file))).collect();
    let mut cycles: BTreeSet<Vec<String>> = BTreeSet::new();
    for (file, others) in reached.iter().filter(|(file, others)| others.contains(**file)) {
        cycles.insert(others.iter().filter(|other| reached[other].contains(*file)).cloned().collect());
    }
    cycles.into_iter().collect()
}

/// `src/aws/ec2/vpc.rs` is `aws::ec2::vpc`, and `src/lib.rs` the root.
fn module(path: &str) -> Path {
    let path = path.trim_start_matches("src/").trim_end_matches(".rs").trim_end_matches("/mod");
    path.split('/').filter(|part| *part != "lib").map(str::to_owned).collect()
}

/// The names that a module re-exports with globs, and their paths.
fn of_globs(module: &Path, names: &BTreeMap<&Path, Names>) -> BTreeMap<String, Path> {
    let of_one = |glob: &Path| {
        let mut exports = of_globs(glob, names);
        let Some(own) = names.get(glob) else { return exports };
        exports.extend(own.exports.clone());
        exports.extend(own.items.iter().map(|it| (it.clone(), glob.iter().chain([it]).cloned().collect())));
        exports
    };
    names.get(module).into_iter().flat_map(|own| own.globs.iter().flat_map(of_one)).collect()
}

/// The module whose file declares the item of a path; `None` for a module and for an item of another crate.
fn declared_in(path: &Path, names: &BTreeMap<&Path, Names>, depth: usize) -> Option<Path> {
    let (module, rest) =
        (0..=path.len()).rev().find_map(|end| names.get_key_value(&path[..end].to_vec()).zip(Some(&path[end..])))?;
    let name = rest.first()?;
    match module.1.exports.get(name).filter(|_| depth < 9) {
        Some(export) => {
            let further: Path = export.iter().chain(&rest[1..]).cloned().collect();
            declared_in(&further, names, depth + 1)
        }
        None => Some((*module.0).clone()),
    }
}

fn names(module: &Path, file: &File, modules: &BTreeMap<Path, &File>) -> Names {
    let code = without_text(&file.code().map(|(_, line)| format!("{line}\n")).collect::<String>());
    let mut names = Names::default();
    let mut rest = String::new();
    for statement in code.split_inclusive(';') {
        let Some((at, is_export)) = begin_of_use(statement) else {
            rest.push_str(statement);
            continue;
        };
        rest.push_str(&statement[..at]);
        for (path, alias) in leaves(statement[at..].trim_end_matches(';').trim()) {
            match absolute(&path, module, modules) {
                Some(path) if alias == "*" && is_export => names.globs.push(path[..path.len() - 1].to_vec()),
                Some(path) if is_export => _ = names.exports.insert(alias, path),
                Some(path) => _ = names.imports.insert(alias, path),
                None => {}
            }
        }
    }
    names.items = rest.lines().filter_map(public_item).collect();
    let known = |name: &str| {
        let child: Path = module.iter().cloned().chain([name.to_owned()]).collect();
        names.imports.get(name).cloned().or_else(|| modules.contains_key(&child).then_some(child))
    };
    for path in paths(&rest) {
        let first = path[0].clone();
        let found = absolute(&path, module, modules)
            .or_else(|| Some(known(&first)?.into_iter().chain(path[1..].iter().cloned()).collect()));
        names.paths.extend(found);
    }
    names
}

/// The name of the public item that a line declares.
fn public_item(line: &str) -> Option<String> {
    let is_keyword = |it: &&str| ["async", "const", "enum", "fn", "static", "struct", "trait", "type"].contains(it);
    let mut words = line.trim_start().strip_prefix("pub ")?.split(|it: char| !it.is_alphanumeric() && it != '_');
    words.next().filter(is_keyword)?;
    words.find(|word| !is_keyword(word)).map(str::to_owned)
}

/// The position of the path if the statement is a `use`, and whether it is a re-export.
fn begin_of_use(statement: &str) -> Option<(usize, bool)> {
    statement.match_indices("use ").find_map(|(at, word)| {
        let before = statement[..at].rsplit(['\n', '{', '}']).next().unwrap_or_default();
        let visibility = before.trim();
        let is_one = visibility.is_empty() || visibility == "pub" || before.ends_with(") ");
        is_one.then_some((at + word.len(), !visibility.is_empty()))
    })
}

/// The paths of a tree of imports, each with its local name.
fn leaves(tree: &str) -> Vec<(Path, String)> {
    let Some((prefix, inner)) = tree.split_once('{') else {
        let (path, alias) = tree.split_once(" as ").unwrap_or((tree, ""));
        let path: Path = path.split("::").map(|it| it.trim().to_owned()).collect();
        let alias = if alias.is_empty() { path.last().cloned().unwrap_or_default() } else { alias.trim().to_owned() };
        return vec![(path, alias)];
    };
    let prefix: Path = prefix.split("::").map(str::trim).filter(|it| !it.is_empty()).map(str::to_owned).collect();
    let inner = &inner[..inner.rfind('}').expect("a brace closes")];
    let (mut depth, mut parts) = (0, vec![String::new()]);
    for sign in inner.chars() {
        match sign {
            '{' => depth += 1,
            '}' => depth -= 1,
            _ => {}
        }
        match (sign, depth) {
            (',', 0) => parts.push(String::new()),
            _ => parts.last_mut().expect("there is one").push(sign),
        }
    }
    let parts = parts.iter().map(|it| it.trim()).filter(|it| !it.is_empty());
    parts
        .flat_map(leaves)
        .map(|(path, alias)| match path.as_slice() {
            [only] if only == "self" => (prefix.clone(), prefix.last().cloned().unwrap_or_default()),
            _ => (prefix.iter().cloned().chain(path).collect(), alias),
        })
        .collect()
}

/// A path from the crate's root; `None` if it begins with another crate or a local name.
fn absolute(path: &Path, module: &Path, modules: &BTreeMap<Path, &File>) -> Option<Path> {
    let supers = path.iter().take_while(|it| *it == "super").count();
    let (base, rest) = match path.first()?.as_str() {
        "crate" => (&[][..], &path[1..]),
        "self" => (&module[..], &path[1..]),
        "super" => (&module[..module.len().checked_sub(supers)?], &path[supers..]),
        first => {
            let child: Path = module.iter().cloned().chain([first.to_owned()]).collect();
            (&module[..modules.contains_key(&child).then_some(module.len())?], &path[..])
        }
    };
    Some(base.iter().chain(rest).cloned().collect())
}

/// The paths with `::` in code.
fn paths(code: &str) -> Vec<Path> {
    let is_of_path = |it: char| it.is_alphanumeric() || it == '_' || it == ':';
    let words = code.split(|it: char| !is_of_path(it)).filter(|word| word.contains("::"));
    words
        .map(|word| word.split("::").filter(|it| !it.is_empty()).map(|it| it.trim_matches(':').to_owned()).collect())
        .filter(|path: &Path| path.len() > 1)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(path: &str, text: &str) -> File {
        File { path: path.to_owned(), text: text.to_owned() }
    }

    #[test]
    fn uses_are_found_and_followed_through_re_exports() {
        let files = [
            file("src/lib.rs", "mod a;\nmod b;\n"),
            file("src/a.rs", "mod inner;\nmod other;\npub use inner::Thing;\nuse crate::b::{self, Two as Second};\n"),
            file("src/a/inner.rs", "use super::other;\nfn f() { other::call(); }\n"),
            file("src/a/other.rs", "pub fn call() {}\n// crate::b::One\n"),
            file("src/b.rs", "use crate::a::{Thing, other::{self, call}};\n"),
        ];
        let found = imports(&files);
        let of = |path: &str| found[path].iter().map(String::as_str).collect::<Vec<_>>();
        assert_eq!(of("src/a.rs"), ["src/b.rs"], "a re-export is not a use");
        assert_eq!(of("src/a/inner.rs"), ["src/a/other.rs"]);
        assert_eq!(of("src/a/other.rs"), [""; 0], "a comment is not a use");
        assert_eq!(of("src/b.rs"), ["src/a/inner.rs", "src/a/other.rs"]);
    }

    #[test]
    fn uses_are_followed_through_globs() {
        let files = [
            file("src/lib.rs", "mod a;\nmod b;\n"),
            file("src/a.rs", "mod inner;\npub use inner::*;\npub enum Own {}\n"),
            file("src/a/inner.rs", "mod most;\npub use most::*;\npub const fn two() {}\n"),
            file("src/a/inner/most.rs", "pub struct Thing {\n    pub own: u8,\n}\npub enum Own {}\n"),
            file("src/b.rs", "use crate::a::Thing;\nfn f() { crate::a::two(); }\n"),
            file("src/c.rs", "use crate::a::Own;\n"),
        ];
        let found = imports(&files);
        let of = |path: &str| found[path].iter().map(String::as_str).collect::<Vec<_>>();
        assert_eq!(of("src/b.rs"), ["src/a/inner.rs", "src/a/inner/most.rs"]);
        assert_eq!(of("src/c.rs"), ["src/a.rs"], "an item of the module itself has priority");
    }

    #[test]
    fn files_that_use_each_other_indirectly_are_a_cycle() {
        let files = [
            file("src/lib.rs", "mod a;\nmod b;\nmod c;\nmod d;\n"),
            file("src/a.rs", "use crate::b::B;\n"),
            file("src/b.rs", "fn f() { crate::c::run(); }\n"),
            file("src/c.rs", "use super::a::A;\nuse super::d::D;\n"),
            file("src/d.rs", ""),
        ];
        assert_eq!(cycles(&imports(&files)), [["src/a.rs", "src/b.rs", "src/c.rs"]]);
    }
}
