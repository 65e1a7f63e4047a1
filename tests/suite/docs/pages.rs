//! Whole pages: front matter, examples, schema, import.

use std::path::{Path, PathBuf};

use super::{attributes, files_in, read, top};
use fgw::plugin::Schema;

/// What a page is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Resource,
    DataSource,
}

/// The page of one resource or data source.
pub(super) struct Page {
    kind: Kind,
    name: String,
    schema: Schema,
}

/// What the schema below means by a change.
const CHANGES: &str = "Each argument says what a change of its value does:

- **In place**: the objects in AWS stay and are changed. *Disruptive* is added where somebody notices.
- **Some objects**: what it says is made, deleted or exchanged, and all else stays. What is new is made and everything
  led to it before anything is deleted. The plan lists these objects in `aws_objects`.
- **Replaces the resource**: Terraform destroys all of it and makes it anew.
- **None**: nothing that exists is changed.
";

impl Kind {
    pub(super) const ALL: [Kind; 2] = [Kind::Resource, Kind::DataSource];

    /// The folder of the pages below `docs`, and of the examples below `examples`.
    pub(super) fn folder(self) -> &'static str {
        match self {
            Kind::Resource => "resources",
            Kind::DataSource => "data-sources",
        }
    }

    fn title(self) -> &'static str {
        match self {
            Kind::Resource => "Resource",
            Kind::DataSource => "Data Source",
        }
    }

    /// The example that stands first.
    fn first_example(self) -> &'static str {
        match self {
            Kind::Resource => "resource.tf",
            Kind::DataSource => "data-source.tf",
        }
    }
}

impl Page {
    pub(super) fn new(kind: Kind, name: &str, schema: Schema) -> Page {
        Page { kind, name: name.to_owned(), schema }
    }

    /// Below `docs`. The registry wants the name without that of the provider.
    pub(super) fn path(&self) -> String {
        format!("{}/{}.md", self.kind.folder(), self.name.trim_start_matches("fgw_"))
    }

    /// Its line on the first page.
    pub(super) fn entry(&self) -> String {
        entry(&self.name, &self.path(), &self.schema.description)
    }

    pub(super) fn text(&self) -> String {
        let Page { kind, name, schema } = self;
        let title = kind.title();
        let mut text = front_matter(&format!("{name} {title} - fgw"), first_sentence(&schema.description));
        text += &format!("\n# {name} ({title})\n\n{}\n\n## Example Usage\n", schema.description);
        let folder = top().join("examples").join(kind.folder()).join(name);
        text += &format!("\n{}", quoted(&folder.join(kind.first_example())));
        for example in self.further_examples(&folder) {
            text += &format!("\n### {}\n\n{}", heading(&example), quoted(&example));
        }
        text += "\n<a id=\"schema\"></a>\n## Schema\n";
        if *kind == Kind::Resource {
            text += &format!("\n{CHANGES}");
        }
        text += &attributes::section(&schema.attributes);
        if *kind == Kind::Resource {
            text += &import(&folder);
        }
        text
    }

    fn further_examples(&self, folder: &Path) -> Vec<PathBuf> {
        let first = self.kind.first_example();
        let is_further = |path: &PathBuf| {
            let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
            name.ends_with(".tf") && name != first && !name.starts_with("import")
        };
        files_in(folder).into_iter().filter(is_further).collect()
    }
}

/// The first page: what the provider is, its block, and where credentials come from.
pub(super) fn index(schema: &Schema, contents: &[(&str, Vec<String>)]) -> String {
    let mut text = front_matter("fgw Provider", first_sentence(&schema.description));
    text += &format!("\n# fgw Provider\n\n{}\n", schema.description);
    for (title, entries) in contents {
        text += &format!("\n## {title}\n\n{}", entries.concat());
    }
    text += &format!("\n## Example Usage\n\n{}", quoted(&top().join("examples/provider/provider.tf")));
    text += &format!("\n{}", include_str!("credentials.md"));
    text += "\n<a id=\"schema\"></a>\n## Schema\n";
    text + &attributes::section(&schema.attributes)
}

/// How a resource that exists comes into a state, by the examples of it.
fn import(folder: &Path) -> String {
    format!(
        "\n## Import\n\nThe id is that of the root object, the attribute `id`. The provider finds the rest by itself, \
         and the plan afterwards shows\nwhat differs from the configuration. With an `import` block:\n\n{}\nWith the \
         command:\n\n{}",
        quoted(&folder.join("import-by-string-id.tf")),
        quoted(&folder.join("import.sh"))
    )
}

pub(super) fn front_matter(title: &str, description: &str) -> String {
    format!("---\npage_title: \"{title}\"\nsubcategory: \"\"\ndescription: |-\n  {description}\n---\n")
}

/// A file as it stands, as a block of code.
pub(super) fn quoted(file: &Path) -> String {
    let language = if file.extension().is_some_and(|it| it == "sh") { "shell" } else { "terraform" };
    format!("```{language}\n{}\n```\n", read(file).trim_end())
}

/// The heading of an example: its file name in words.
fn heading(file: &Path) -> String {
    let name = file.file_stem().and_then(|name| name.to_str()).unwrap_or_default().replace('-', " ");
    let name = name.replace("ipv6", "IPv6").replace("nat", "NAT");
    let mut letters = name.chars();
    let first = letters.next().map(|it| if name.starts_with("IP") { it } else { it.to_ascii_uppercase() });
    first.into_iter().chain(letters).collect()
}

/// The line of a page on the first page.
pub(super) fn entry(name: &str, path: &str, description: &str) -> String {
    format!("- [`{name}`]({path}): {}\n", first_sentence(description))
}

/// The part of a description that fits into a list of pages.
fn first_sentence(text: &str) -> &str {
    let end = text.find(". ").or_else(|| text.find(".\n")).map_or(text.len(), |at| at + 1);
    &text[..end]
}
