//! Functions that the rules share: searches in lines and reports of violations.

use super::tree::File;

/// Fails with the rule and every place that breaks it.
pub(crate) fn assert_kept(rule: &str, broken: &[String]) {
    assert!(broken.is_empty(), "{rule}\n\n  {}\n", broken.join("\n  "));
}

/// The places where `breaks` finds a violation in a line of code.
pub(crate) fn broken<'a>(
    files: impl IntoIterator<Item = &'a File>,
    breaks: impl Fn(&str) -> Option<String>,
) -> Vec<String> {
    let mut places = Vec::new();
    for file in files {
        let wrong = file.code().filter_map(|(number, line)| Some((number, breaks(line)?)));
        places.extend(wrong.map(|(number, what)| format!("{}:{number}: {what}", file.path)));
    }
    places
}

/// The first of `words` that a line contains.
pub(crate) fn first_of(line: &str, words: &[&str]) -> Option<String> {
    words.iter().find(|word| line.contains(**word)).map(|word| (*word).to_string())
}

/// Whether a line contains a whole word: `async`, but not `asynchronous`.
pub(crate) fn has_word(line: &str, word: &str) -> bool {
    let is_part = |it: char| it.is_alphanumeric() || it == '_';
    line.match_indices(word)
        .any(|(at, _)| !line[..at].ends_with(is_part) && !line[at + word.len()..].starts_with(is_part))
}

#[test]
fn tests_and_comments_are_not_code() {
    use super::tree::{product, test_files};

    let text =
        "use a;\n// no async\n#[cfg(test)]\nmod outside;\nfn f() {}\n#[cfg(test)]\nmod tests {\n    async {}\n}\n";
    let file = File { path: "src/a.rs".into(), text: text.into() };
    let code: Vec<&str> = file.code().map(|(_, line)| line).collect();
    assert_eq!(code, ["use a;", "#[cfg(test)]", "mod outside;", "fn f() {}", "#[cfg(test)]"]);
    assert_eq!(test_files(&[file]), ["src/a/outside"]);
    assert!(has_word("pub async fn", "async") && !has_word("asynchronous my_async", "async"));
    let paths: Vec<String> = product().into_iter().map(|file| file.path).collect();
    assert!(paths.contains(&"src/composite.rs".into()) && !paths.contains(&"src/composite/simulation.rs".into()));
}
