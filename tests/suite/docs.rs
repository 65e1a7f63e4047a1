//! Generates the pages of the Terraform Registry from the schema, the examples and the blueprints, and compares them
//! with `docs`.
//!
//! With `UPDATE_EXPECT=1`, as in `make docs`, the tests write the pages. The text depends only on the code and the
//! examples; no Terraform and no emulator runs.

#[path = "docs/attributes.rs"]
mod attributes;
#[path = "docs/changes.rs"]
mod changes;
#[path = "docs/examples.rs"]
mod examples;
#[path = "docs/functions.rs"]
mod functions;
#[path = "docs/gateway_changes.rs"]
mod gateway_changes;
#[path = "docs/groups.rs"]
mod groups;
#[path = "docs/network_changes.rs"]
mod network_changes;
#[path = "docs/objects.rs"]
mod objects;
#[path = "docs/pages.rs"]
mod pages;
#[path = "docs/pictures.rs"]
mod pictures;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use self::pages::{Kind, Page};
use fgw::plugin::Provider as _;
use fgw::provider::Fgw;

/// Every generated page, with its path relative to `docs`.
fn all() -> Vec<(String, String)> {
    let provider = Fgw::default();
    let resources = provider.resources();
    let resources: Vec<Page> =
        resources.iter().map(|it| Page::new(Kind::Resource, it.type_name(), it.schema())).collect();
    let data_sources = provider.data_sources();
    let data_sources: Vec<Page> =
        data_sources.iter().map(|it| Page::new(Kind::DataSource, it.type_name(), it.schema())).collect();
    let lists = provider.list_resources();
    let lists: Vec<Page> = lists.iter().map(|it| Page::new(Kind::ListResource, it.type_name(), it.schema())).collect();
    let functions = provider.functions();
    let contents = [
        ("Resources", resources.iter().map(Page::entry).collect()),
        ("Data Sources", data_sources.iter().map(Page::entry).collect()),
        ("List Resources", lists.iter().map(Page::entry).collect()),
        ("Functions", functions.iter().map(|it| functions::entry(it.as_ref())).collect()),
    ];
    let mut all = vec![("index.md".to_owned(), pages::index(&provider.schema(), &contents))];
    all.extend(resources.iter().chain(&data_sources).chain(&lists).map(|page| (page.path(), page.text())));
    all.extend(functions.iter().map(|it| functions::page(it.as_ref())));
    all.push(("guides/what-each-object-is.md".to_owned(), objects::guide()));
    all
}

fn top() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// The text of a file of the project.
fn read(path: &Path) -> String {
    std::fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// The files of a folder, sorted; empty if the folder does not exist.
fn files_in(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).into_iter().flatten();
    let mut files: Vec<PathBuf> = entries.map(|entry| entry.expect("a folder can be read").path()).collect();
    files.sort();
    files
}

#[test]
fn pages_match_the_code() {
    for (path, text) in all() {
        let path = top().join("docs").join(path);
        if std::env::var_os("UPDATE_EXPECT").is_some() {
            std::fs::create_dir_all(path.parent().expect("a page is below docs")).expect("the project can be written");
        }
        expect_test::expect_file![path].assert_eq(&text);
    }
}

#[test]
fn every_page_describes_part_of_the_schema() {
    let generated: BTreeSet<PathBuf> = all().into_iter().map(|(path, _)| top().join("docs").join(path)).collect();
    for kind in Kind::ALL {
        for file in files_in(&top().join("docs").join(kind.folder())) {
            assert!(generated.contains(&file), "{} describes nothing in the schema: delete it", file.display());
        }
    }
}

#[test]
fn pages_are_plain_and_their_links_resolve() {
    for (path, text) in all() {
        assert!(text.starts_with("---\npage_title: ") && text.ends_with('\n') && !text.ends_with("\n\n"), "{path}");
        let anchors: BTreeSet<&str> =
            text.split("<a id=\"").skip(1).filter_map(|rest| Some(rest.split_once('"')?.0)).collect();
        let mut is_code = false;
        for (number, line) in text.lines().enumerate() {
            assert!(line.trim_end() == line && !line.contains('\t'), "{path}:{}: {line:?}", number + 1);
            // Outside of code, the registry does not show text that looks like an HTML tag.
            let words: String = line.split('`').step_by(2).collect();
            is_code ^= line.trim_start().starts_with("```");
            assert!(
                is_code || !words.replace("<a id=", "").replace("</a>", "").contains('<'),
                "{path}:{}: {line:?}",
                number + 1
            );
            for target in line.split("](").skip(1).filter_map(|rest| Some(rest.split_once(')')?.0)) {
                let folder = Path::new("docs").join(&path);
                let resolves = match target.strip_prefix('#') {
                    Some(anchor) => anchors.contains(anchor),
                    None if target.starts_with("https://") => true,
                    // The registry serves pages without their extension, and no other files of the project.
                    None => {
                        let file = top().join(folder.parent().expect("the page is below docs")).join(target);
                        all().iter().any(|(page, _)| file.ends_with(page)) || file.exists()
                    }
                };
                assert!(resolves, "{path}:{}: the link {target} is broken", number + 1);
            }
        }
    }
}
