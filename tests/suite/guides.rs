//! Tests of the guides in `docs/guides`: their statements about the code are compared with the code, and their examples
//! are run.

#[path = "guides/addresses.rs"]
mod addresses;
#[path = "guides/first_run.rs"]
mod first_run;
#[path = "guides/getting_started.rs"]
mod getting_started;
#[path = "guides/modules.rs"]
mod modules;
#[path = "guides/permissions.rs"]
mod permissions;
#[path = "guides/iam_policies.rs"]
mod iam_policies;
#[path = "guides/policies.rs"]
mod policies;
#[path = "guides/together.rs"]
mod together;

use std::path::{Path, PathBuf};

/// A guide with generated parts, each between `<!-- begin NAME -->` and `<!-- end NAME -->`.
struct Guide {
    path: PathBuf,
    text: String,
}

impl Guide {
    fn open(name: &str) -> Self {
        let path = directory().join(name);
        let text = std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        Self { path, text }
    }

    /// The range of a part, without its two marks.
    fn part(&self, name: &str) -> std::ops::Range<usize> {
        let (begin, end) = (format!("<!-- begin {name} -->\n"), format!("<!-- end {name} -->"));
        let found = |mark: &str| {
            assert_eq!(self.text.matches(mark).count(), 1, "{} needs one {mark:?}", self.path.display());
            self.text.find(mark).expect("the mark occurs once")
        };
        let range = found(&begin) + begin.len()..found(&end);
        assert!(range.start <= range.end, "{name} ends before it begins");
        range
    }

    /// Replaces the content of a part.
    fn put(&mut self, name: &str, content: &str) {
        let range = self.part(name);
        self.text.replace_range(range, &format!("\n{content}\n"));
    }

    /// Fails if the file differs from the generated text. `UPDATE_EXPECT=1` writes it.
    fn check(&self) {
        expect_test::expect_file![&self.path].assert_eq(&self.text);
    }
}

fn directory() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/guides")
}

#[test]
fn guides_have_front_matter_and_valid_links() {
    let files = std::fs::read_dir(directory()).expect("there are guides");
    let names: Vec<String> =
        files.map(|file| file.expect("it can be read").file_name().to_string_lossy().into_owned()).collect();
    assert!(names.len() >= 5, "{names:?}");
    for name in &names {
        let text = Guide::open(name).text;
        let head = text.strip_prefix("---\n").and_then(|text| text.split_once("\n---\n")).map(|(head, _)| head);
        let lines: Vec<&str> = head.unwrap_or_else(|| panic!("{name} has no front matter")).lines().collect();
        let keys: Vec<&str> = lines.iter().filter_map(|line| line.split_once(':')).map(|(key, _)| key).collect();
        assert_eq!(keys.iter().filter(|key| !key.starts_with(' ')).count(), 3, "{name}: {lines:?}");
        assert!(lines[0].starts_with("page_title: \"") && lines[1] == "subcategory: \"\"", "{name}: {lines:?}");
        assert_eq!(lines[2], "description: |-", "{name}");
        let title = lines[0].trim_start_matches("page_title: ").trim_matches('"');
        assert!(text.contains(&format!("\n# {title}\n")), "{name}: the heading differs from the title");
        for link in text.split("](").skip(1).filter_map(|rest| rest.split(')').next()) {
            let (file, section) = link.split_once('#').unwrap_or((link, ""));
            if file.starts_with("../") {
                assert!(directory().join(file).exists(), "{name}: no page {link}");
                continue;
            }
            let guide = if file.is_empty() { name.as_str() } else { file };
            assert!(names.iter().any(|it| it == guide), "{name}: {link} is not a link to a guide");
            let anchor = |line: &str| line.trim_start_matches('#').trim().to_lowercase().replace(' ', "-");
            let target = Guide::open(guide).text;
            let mut headings = target.lines().filter(|line| line.starts_with('#'));
            assert!(section.is_empty() || headings.any(|line| anchor(line) == section), "{name}: no section {link}");
        }
    }
}
