//! Whole pages: front matter, examples, schema, import.

use std::path::{Path, PathBuf};

use super::{attributes, files_in, read, top};
use fgw::plugin::Schema;

/// The subject of a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Resource,
    DataSource,
    ListResource,
}

/// The page of one resource, data source or list resource.
pub(super) struct Page {
    kind: Kind,
    name: String,
    schema: Schema,
}

/// The legend for the effects of changes.
const CHANGES: &str = "For each argument, *Change* states the effect of changing its value:

- **In place**: the provider modifies the existing objects. *Disruptive* means that the change can affect workloads or
  other resources that use these objects.
- **Some objects**: the provider creates, deletes or replaces the stated objects, and keeps all others. It creates new
  objects and switches traffic to them before it deletes old ones. The plan lists the objects in `aws_objects`.
- **Replaces the resource**: Terraform destroys the whole resource and creates it again.
- **None**: no existing object changes.
";

impl Kind {
    pub(super) const ALL: [Kind; 3] = [Kind::Resource, Kind::DataSource, Kind::ListResource];

    /// The folder of the pages below `docs`, and of the examples below `examples`.
    pub(super) fn folder(self) -> &'static str {
        match self {
            Kind::Resource => "resources",
            Kind::DataSource => "data-sources",
            Kind::ListResource => "list-resources",
        }
    }

    fn title(self) -> &'static str {
        match self {
            Kind::Resource => "Resource",
            Kind::DataSource => "Data Source",
            Kind::ListResource => "List Resource",
        }
    }

    /// The file of the first example.
    fn first_example(self) -> &'static str {
        match self {
            Kind::Resource => "resource.tf",
            Kind::DataSource => "data-source.tf",
            Kind::ListResource => "list-resource.tfquery.hcl",
        }
    }
}

impl Page {
    pub(super) fn new(kind: Kind, name: &str, schema: Schema) -> Page {
        Page { kind, name: name.to_owned(), schema }
    }

    /// The path relative to `docs`. The registry requires the name without the provider's prefix.
    pub(super) fn path(&self) -> String {
        format!("{}/{}.md", self.kind.folder(), self.name.trim_start_matches("fgw_"))
    }

    /// The entry of the page on the index page.
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

/// The index page: the provider, its block, and the sources of credentials.
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

/// The section on importing an existing resource, with its examples.
fn import(folder: &Path) -> String {
    format!(
        "\n## Import\n\nThe import ID is the ID of the root object, the VPC or the API, which is also the attribute \
         `id`. If it is in\nanother Region than that of the provider block, add `@` and the Region, as in `ID@eu-west-1`. \
         The provider finds all\nother objects, and the next plan shows the differences from the configuration. What \
         something else built is only taken over\nby the next apply, as the guides \"Adopting a network\" and \"Adopting an \
         API\" describe. Import with an `import` block:\n\n{}\nWith Terraform 1.12 or OpenTofu 1.12 and later, the block can contain the \
         identity of the resource: `id`, and optionally\n`region` and `account_id`. The import fails if the credentials \
         belong to another account:\n\n{}\nOr import with the command:\n\n{}\nYou do not have to write the \
         configuration yourself. With any version of Terraform or OpenTofu, write an empty block,\nimport into it with \
         the command, and let the provider print the configuration, which has only the arguments that differ\nfrom their \
         defaults:\n\n{}\nThe program `terraform-provider-fgw` is the provider itself, which `terraform init` has \
         installed below\n`.terraform/providers`, or which your `dev_overrides` name. Replace the empty block with the \
         printed one. The next plan\nis then empty. The command does not know the Region of the provider block, so if a resource is in \
         another one, the\nplan warns and you add `region`.\n\nTerraform 1.14 and later generate the same arguments with \
         `terraform plan -generate-config-out=FILE` and an `import`\nblock, and add `null` for other optional \
         arguments. Earlier versions and OpenTofu write all arguments. Two versions have\nerrors: OpenTofu 1.12 does \
         not quote keys such as `GET /a` (opentofu/opentofu#3978), and Terraform 1.16.0 to 1.16.2 look\nfor the \
         provider of an `import` block without a `resource` block at another address (hashicorp/terraform#39144).\n",
        quoted(&folder.join("import-by-string-id.tf")),
        quoted(&folder.join("import-by-identity.tf")),
        quoted(&folder.join("import.sh")),
        quoted(&folder.join("import-and-generate.sh"))
    )
}

pub(super) fn front_matter(title: &str, description: &str) -> String {
    format!("---\npage_title: \"{title}\"\nsubcategory: \"\"\ndescription: |-\n  {description}\n---\n")
}

/// A file as a code block.
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

/// An entry on the index page.
pub(super) fn entry(name: &str, path: &str, description: &str) -> String {
    format!("- [`{name}`]({path}): {}\n", first_sentence(description))
}

/// The first sentence of a description, for the list of pages.
fn first_sentence(text: &str) -> &str {
    let end = [". ", ".\n"].into_iter().filter_map(|end| text.find(end)).min().map_or(text.len(), |at| at + 1);
    &text[..end]
}
