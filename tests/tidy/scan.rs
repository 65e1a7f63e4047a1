//! Finds the modules and tests in Rust source without a compiler.
//!
//! Comments and literals are blanked first; the rest is read as words and braces. This is sufficient for modules, which
//! rustfmt formats uniformly, and for functions with `#[test]` or `#[tokio::test]`, also inside `proptest!`.

use std::collections::BTreeMap;
use std::ops::Range;

use super::tree::File;

/// The tests and the test code in the source files of `src` and `tests`.
#[derive(Default)]
pub(crate) struct Scan {
    pub(crate) tests: Vec<Test>,
    pub(crate) test_code: Vec<Part>,
}

/// One test function.
pub(crate) struct Test {
    /// Its path as the test runner prints it: `network::tests::a_name`.
    pub(crate) path: String,
    pub(crate) clock: Clock,
    pub(crate) body: Part,
}

/// The clock of a test.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Clock {
    /// The machine's clock: `#[test]`.
    Machine,
    /// tokio's clock, which follows the machine's: `#[tokio::test]`.
    Tokio,
    /// tokio's paused clock, which advances when all tasks wait: `#[tokio::test(start_paused = true)]`.
    Paused,
}

/// A part of a file.
pub(crate) struct Part {
    pub(crate) file: String,
    pub(crate) bytes: Range<usize>,
}

/// Follows the modules from the root of each crate: the library, the program, and each file that cargo builds as a
/// test.
pub(crate) fn scan(files: &[File]) -> Scan {
    let files: BTreeMap<&str, &File> = files.iter().map(|file| (file.path.as_str(), file)).collect();
    let mut scan = Scan::default();
    for root in files.keys().filter(|path| is_root(path)) {
        let (folder, _) = root.rsplit_once('/').expect("a root is in a folder");
        let root = Module { file: root, folder, path: "", is_test: root.starts_with("tests/") };
        read(&files, &root, &mut scan);
    }
    scan
}

pub(crate) fn is_root(path: &str) -> bool {
    match path.strip_prefix("tests/").and_then(|rest| rest.strip_suffix(".rs")) {
        Some(rest) => rest.split_once('/').is_none_or(|(_, rest)| rest == "main"),
        None => ["src/lib.rs", "src/main.rs"].contains(&path),
    }
}

/// A module with its own file.
struct Module<'a> {
    file: &'a str,
    /// The folder with the files of its submodules.
    folder: &'a str,
    path: &'a str,
    /// Whether it is compiled for tests only.
    is_test: bool,
}

/// The block that an opening brace begins.
#[derive(Default)]
struct Block<'a> {
    module: Option<&'a str>,
    /// The position where test code begins within product code.
    tests_from: Option<usize>,
}

fn read(files: &BTreeMap<&str, &File>, module: &Module<'_>, scan: &mut Scan) {
    let file = files.get(module.file).unwrap_or_else(|| panic!("{} declares a module in no file", module.file));
    let code = without_text(&file.text);
    let part = |bytes| Part { file: module.file.to_owned(), bytes };
    if module.is_test {
        scan.test_code.push(part(0..code.len()));
    }
    let mut words = Words { code: &code, at: 0 };
    let mut blocks: Vec<Block<'_>> = Vec::new();
    let mut opening = Block::default();
    let mut attributes: Vec<&str> = Vec::new();
    while let Some((at, word)) = words.next() {
        let names = || blocks.iter().filter_map(|block| block.module);
        match word {
            "#" => {
                let is_inner = words.peek() == Some("!");
                words.at += usize::from(is_inner);
                if words.peek() != Some("[") {
                    continue;
                }
                let end = closing(&code, words.at);
                if !is_inner {
                    attributes.push(file.text[words.at + 1..end].trim());
                }
                words.at = end + 1;
            }
            "{" => {
                blocks.push(std::mem::take(&mut opening));
                attributes.clear();
            }
            "}" => {
                let from = blocks.pop().and_then(|block| block.tests_from);
                scan.test_code.extend(from.map(|from| part(from..at)));
                attributes.clear();
            }
            ";" => attributes.clear(),
            "mod" => {
                let Some((_, name)) = words.next() else { continue };
                let is_test = attributes.contains(&"cfg(test)");
                if words.peek() == Some("{") {
                    let tests_from = (is_test && !module.is_test).then_some(at);
                    opening = Block { module: Some(name), tests_from };
                } else if words.peek() == Some(";") {
                    let is_test = module.is_test || is_test || blocks.iter().any(|block| block.tests_from.is_some());
                    let inline: Vec<&str> = names().collect();
                    let path = joined("::", [module.path].into_iter().chain(names()).chain([name]));
                    let (file, folder) = place(files, module, &inline, name, named_path(&attributes));
                    read(files, &Module { file: &file, folder: &folder, path: &path, is_test }, scan);
                }
            }
            "fn" => {
                let (Some(clock), Some((_, name))) = (clock(&attributes), words.next()) else { continue };
                assert!(name != "$", "{}: a macro generates tests, whose names this search cannot find", module.file);
                let path = joined("::", [module.path].into_iter().chain(names()).chain([name]));
                let parameters = words.at + code[words.at..].find('(').expect("a function has parameters");
                let parameters = closing(&code, parameters);
                let begin = parameters + code[parameters..].find('{').expect("a test has a body");
                let body = part(begin..closing(&code, begin));
                scan.tests.push(Test { path, clock, body });
            }
            _ => {}
        }
    }
}

/// The file of a module, and the folder of its submodules.
fn place(
    files: &BTreeMap<&str, &File>,
    parent: &Module<'_>,
    inline: &[&str],
    name: &str,
    named: Option<&str>,
) -> (String, String) {
    let folder = joined("/", [parent.folder].into_iter().chain(inline.iter().copied()));
    if let Some(named) = named {
        // At the top level of a file, the path is relative to the file; in an inline module, to the folder of the
        // module.
        let (siblings, _) = parent.file.rsplit_once('/').expect("a source file is in a folder");
        let file = normal(&format!("{}/{named}", if inline.is_empty() { siblings } else { &folder }));
        let own = file.rsplit_once('/').map(|(folder, _)| folder.to_owned()).unwrap_or_default();
        return (file, own);
    }
    let own = format!("{folder}/{name}");
    let file =
        [format!("{own}.rs"), format!("{own}/mod.rs")].into_iter().find(|file| files.contains_key(file.as_str()));
    (file.unwrap_or_else(|| panic!("{}: the module {name} has no file", parent.file)), own)
}

/// A path without `..`.
pub(crate) fn normal(path: &str) -> String {
    let mut parts: Vec<&str> = Vec::new();
    for part in path.split('/') {
        match part {
            ".." => drop(parts.pop()),
            "." => {}
            part => parts.push(part),
        }
    }
    parts.join("/")
}

fn joined<'a>(between: &str, parts: impl Iterator<Item = &'a str>) -> String {
    parts.filter(|part| !part.is_empty()).collect::<Vec<_>>().join(between)
}

/// The clock of a test with these attributes; `None` if the function is not a test.
fn clock(attributes: &[&str]) -> Option<Clock> {
    attributes.iter().find_map(|attribute| {
        let (name, options) = attribute.split_once('(').unwrap_or((attribute, ""));
        match name.trim() {
            "test" => Some(Clock::Machine),
            name if name.ends_with("::test") && options.contains("start_paused = true") => Some(Clock::Paused),
            name if name.ends_with("::test") => Some(Clock::Tokio),
            _ => None,
        }
    })
}

/// The value of `path = "..."`.
fn named_path<'a>(attributes: &[&'a str]) -> Option<&'a str> {
    attributes.iter().find(|attribute| attribute.starts_with("path"))?.split('"').nth(1)
}

/// The words and symbols of code, in order.
struct Words<'a> {
    code: &'a str,
    at: usize,
}

impl<'a> Words<'a> {
    fn next(&mut self) -> Option<(usize, &'a str)> {
        let rest = &self.code[self.at..];
        let begin = self.at + rest.find(|it: char| !it.is_whitespace())?;
        let rest = &self.code[begin..];
        let sign = rest.chars().next().map(char::len_utf8)?;
        let end = begin + rest.find(|it: char| !is_of_word(it)).unwrap_or(rest.len()).max(sign);
        self.at = end;
        Some((begin, &self.code[begin..end]))
    }

    fn peek(&self) -> Option<&'a str> {
        Words { code: self.code, at: self.at }.next().map(|(_, word)| word)
    }
}

fn is_of_word(it: char) -> bool {
    it.is_alphanumeric() || it == '_'
}

/// The position of the bracket that closes the first bracket at or after `from`.
pub(crate) fn closing(code: &str, from: usize) -> usize {
    let mut depth = 0;
    for (at, sign) in code[from..].char_indices() {
        match sign {
            '(' | '[' | '{' => depth += 1,
            ')' | ']' | '}' if depth == 1 => return from + at,
            ')' | ']' | '}' => depth -= 1,
            _ => {}
        }
    }
    panic!("a bracket does not close: {}", code[from..].lines().next().unwrap_or_default());
}

/// The source with spaces in place of comments and literals. Bytes and lines keep their positions.
pub(crate) fn without_text(source: &str) -> String {
    let mut code = String::with_capacity(source.len());
    while let Some(next) = source[code.len()..].chars().next() {
        let rest = &source[code.len()..];
        match length_of_text(rest) {
            Some(length) => {
                let blank = |byte: u8| if byte == b'\n' { '\n' } else { ' ' };
                code.extend(rest.bytes().take(length).map(blank));
            }
            None if is_of_word(next) => {
                code.push_str(&rest[..rest.find(|it: char| !is_of_word(it)).unwrap_or(rest.len())]);
            }
            None => code.push(next),
        }
    }
    code
}

/// The length of the comment or literal at the beginning of `rest`, if there is one.
fn length_of_text(rest: &str) -> Option<usize> {
    let to = |end: &str, from: usize| rest[from..].find(end).map_or(rest.len(), |at| from + at + end.len());
    let prefix = rest.find(|it: char| !matches!(it, 'b' | 'c' | 'r')).unwrap_or(rest.len());
    let (prefix, literal) = rest.split_at(prefix);
    match prefix {
        "" if rest.starts_with("//") => Some(rest.find('\n').unwrap_or(rest.len())),
        "" if rest.starts_with("/*") => Some(length_of_block_comment(rest)),
        "" | "b" | "c" if literal.starts_with('"') => Some(prefix.len() + length_of_quoted(literal, '"')),
        "" | "b" if is_character(literal) => Some(prefix.len() + length_of_quoted(literal, '\'')),
        "r" | "br" | "cr" => {
            let hashes = literal.find(|it: char| it != '#').unwrap_or_default();
            let begins = literal[hashes..].starts_with('"');
            begins.then(|| to(&format!("\"{}", "#".repeat(hashes)), prefix.len() + hashes + 1))
        }
        _ => None,
    }
}

/// Whether a quote begins a character, not a lifetime.
fn is_character(rest: &str) -> bool {
    let mut signs = rest.chars();
    signs.next() == Some('\'') && (signs.next() == Some('\\') || signs.next() == Some('\''))
}

/// The length of the literal at the beginning of `rest`, with both quotes.
pub(crate) fn length_of_quoted(rest: &str, quote: char) -> usize {
    let mut is_escaped = false;
    for (at, sign) in rest.char_indices().skip(1) {
        if sign == quote && !is_escaped {
            return at + 1;
        }
        is_escaped = sign == '\\' && !is_escaped;
    }
    rest.len()
}

fn length_of_block_comment(rest: &str) -> usize {
    let (mut depth, mut at) = (0, 0);
    while at < rest.len() {
        match &rest.as_bytes()[at..rest.len().min(at + 2)] {
            b"/*" => (depth, at) = (depth + 1, at + 2),
            b"*/" => (depth, at) = (depth - 1, at + 2),
            _ => at += 1,
        }
        if depth == 0 {
            break;
        }
    }
    at
}

#[test]
fn comments_and_literals_are_blanked_in_place() {
    let blanked = |source: &str| {
        let code = without_text(source);
        assert_eq!(code.len(), source.len());
        code.split_whitespace().collect::<Vec<_>>().join(" ")
    };
    assert_eq!(blanked("a // b\nc /* d /* e */ f */ g"), "a c g");
    assert_eq!(blanked(r##"a "b\"{" c r#"d"{"# e b"f" g br"h\" i"##), "a c e g i");
    assert_eq!(blanked(r"a('{', '\'', b'}', '\u{7b}', 'é') <'b> &'c d"), "a( , , , , ) <'b> &'c d");
    assert_eq!(blanked("bracket r#type for\"x\""), "bracket r#type for");
    assert_eq!(without_text("\"a\nb\""), "  \n  ");
}

#[test]
fn tests_are_found_under_the_path_of_their_module() {
    let file = |path: &str, text: &str| File { path: path.into(), text: text.into() };
    let files = [
        file("src/lib.rs", "//! mod none;\nmod a;\npub mod b {\n    mod c;\n    #[path = \"d.rs\"]\n    mod e;\n}"),
        file(
            "src/a.rs",
            "const X: &str = \"mod x {\";\n#[cfg(test)]\nmod tests {\n    #[test]\n    fn one() { '{' }\n}\nfn no() {}",
        ),
        file("src/b/c.rs", "#[cfg(test)]\nmod f;"),
        file("src/b/c/f.rs", "#![allow(x)]\n#[tokio::test(start_paused = true)]\n#[allow(y)]\nasync fn two() {}"),
        file("src/b/d.rs", "macro_rules! m { ($x:ident) => { fn $x() {} } }\n#[test]\nfn three() { mod_(1); }"),
        file("tests/suite.rs", "#[path = \"suite/g.rs\"]\nmod g;\n#[path = \"../src/b/d.rs\"]\nmod again;"),
        file("tests/suite/g.rs", "mod h;\nproptest! {\n    #[test]\n    fn four(x in { 1..2 }) {}\n}"),
        file("tests/suite/h.rs", "mod i { mod j; }"),
        file("tests/suite/h/i/j.rs", "#[test]\nfn five() {}"),
        file("tests/k/main.rs", "#[tokio::test]\nasync fn six() {}"),
    ];
    let scan = scan(&files);
    let found: Vec<&str> = scan.tests.iter().map(|test| test.path.as_str()).collect();
    assert_eq!(
        found,
        ["a::tests::one", "b::c::f::two", "b::e::three", "six", "g::h::i::j::five", "g::four", "again::three"]
    );
    let clocks: Vec<Clock> = scan.tests.iter().map(|test| test.clock).collect();
    assert_eq!((clocks[1], clocks[2], clocks[3]), (Clock::Paused, Clock::Machine, Clock::Tokio));
    let test_code: Vec<&str> = scan.test_code.iter().map(|part| part.file.as_str()).collect();
    assert_eq!(test_code.iter().filter(|file| file.starts_with("src/") && **file != "src/b/d.rs").count(), 2);
    let inline = scan.test_code.iter().find(|part| part.file == "src/a.rs").expect("it has tests");
    let text = &files[1].text[inline.bytes.clone()];
    assert!(text.starts_with("mod tests {") && text.ends_with("fn one() { '{' }\n"), "{text}");
}
