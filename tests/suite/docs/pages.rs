//! Whole pages: front matter, examples, schema, import.

use std::path::{Path, PathBuf};

use super::{attributes, files_in, read, top};
use fgw::plugin::{Attribute, AttributeType, Schema};

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
        text += &format!("\n# {name} ({title})\n\n{}\n", schema.description);
        if *kind == Kind::Resource {
            text += &format!("\n{}\n", pictures(name));
        }
        text += "\n## Example Usage\n";
        let folder = top().join("examples").join(kind.folder()).join(name);
        text += &format!("\n{}", quoted(&folder.join(kind.first_example())));
        for example in self.further_examples(&folder) {
            text += &format!("\n### {}\n\n{}", heading(&example), without_requirements(&quoted(&example)));
        }
        text += "\n<a id=\"schema\"></a>\n## Schema\n";
        if *kind == Kind::Resource {
            text += &format!("\n{CHANGES}{}", service_names(&schema.attributes));
        }
        text += &attributes::section(&schema.attributes);
        if *kind == Kind::Resource {
            text += &import(&folder, if name == "fgw_http_gateway" { "API" } else { "VPC" });
        }
        with_links(&text)
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
    let mut text = front_matter_of_index("fgw Provider", first_sentence(&schema.description));
    text += &format!("\n# fgw Provider\n\n{}\n\n{STATUS}", schema.description);
    for (title, entries) in contents {
        text += &format!("\n## {title}\n\n{}", entries.concat());
    }
    text += &format!("\n## Guides\n\n{}", guides());
    text += &format!("\n## Example Usage\n\n{}", quoted(&top().join("examples/provider/provider.tf")));
    text += &format!("\n{}", include_str!("credentials.md"));
    text += "\n<a id=\"schema\"></a>\n## Schema\n";
    text + &attributes::section(&schema.attributes)
}

/// The pictures of a resource, with their text alternatives.
fn pictures(resource: &str) -> &'static str {
    match resource {
        "fgw_four_tier_vpc" => {
            "![A VPC with three availability zones as columns and the tiers public, private app, private persistence and \
             transit as rows. The public subnets use the internet gateway, and the app subnets the NAT gateway in their \
             zone. S3 and DynamoDB have gateway endpoints.](../pictures/network.svg)"
        }
        "fgw_http_gateway" => {
            "![A request goes from the client through the custom domain or the default endpoint to the stage, which \
             writes access logs, then to the route with its authorizer, to the integration, and with a permission to \
             the Lambda function.](../pictures/request-path.svg)"
        }
        other => panic!("{other} has no picture"),
    }
}

/// The state of the project, for the index page.
const STATUS: &str = concat!(
    "**Status:** the version is ",
    env!("CARGO_PKG_VERSION"),
    ". Nothing has run on AWS yet: all tests use emulators of AWS. A release candidate is\ninstalled only if \
     `required_providers` contains its exact version.\n"
);

/// Links to all guides, with the first sentence of each description.
fn guides() -> String {
    let files = files_in(&top().join("docs/guides"));
    let entry = |file: &PathBuf| {
        let text = read(file);
        let title = text.split_once("page_title: \"").and_then(|(_, rest)| rest.split_once('"'));
        let about = text.split_once("description: |-\n  ").and_then(|(_, rest)| rest.split_once('\n'));
        let name = file.file_name().and_then(|name| name.to_str()).expect("a file has a name");
        let (Some((title, _)), Some((about, _))) = (title, about) else { panic!("{name} has no front matter") };
        format!("- [{title}](guides/{name}): {about}\n")
    };
    files.iter().map(entry).collect()
}

/// The section on importing an existing resource, with its examples.
fn import(folder: &Path, root: &str) -> String {
    let is_api = root == "API";
    let part = match is_api {
        true => {
            "Of an API with several\nstages, the stage `$default` is imported, or that which follows a slash, as in `ID/prod`. "
        }
        false => "",
    };
    format!(
        "\n## Import\n\nThe import ID is the ID of the {root}, which is also the attribute `id`. If it is in\nanother Region than that of the provider block, add `@` and the Region, as in `ID@eu-west-1`. \
         {part}The provider finds all\nother objects, and the next plan shows the differences from the configuration. What \
         something else built is only taken over\nby the next apply, as the guide \"Adopting {}\" describes. Import with an `import` block:\n\n{}\nWith Terraform 1.12 or OpenTofu 1.12 and later, the block can contain the \
         identity of the resource: `id`, and optionally\n`region` and `account_id`. The import fails if the credentials \
         belong to another account:\n\n{}\nOr import with the command:\n\n{}\nYou do not have to write the \
         configuration yourself. With any version of Terraform or OpenTofu, write an empty block,\nimport into it with \
         the command, and let the provider print the configuration, which has only the arguments that differ\nfrom their \
         defaults:\n\n{}\nThe program `terraform-provider-fgw` is the provider itself, which `terraform init` has \
         installed below\n`.terraform/providers`. Replace the empty block with the printed one. The next plan is then empty. The command does \
         not know the\nRegion of the provider block, so if a resource is in another one, the plan warns and you add `region`.\n\nTerraform 1.14 and later generate the same arguments with \
         `terraform plan -generate-config-out=FILE` and an `import`\nblock, and add `null` for other optional \
         arguments. Earlier versions and OpenTofu write all arguments. Two versions have\nerrors: OpenTofu 1.12 does \
         not quote keys such as `GET /a` (opentofu/opentofu#3978), and Terraform 1.16.0 to 1.16.2 look\nfor the \
         provider of an `import` block without a `resource` block at another address (hashicorp/terraform#39144).\n",
        if is_api { "an API" } else { "a network" },
        quoted(&folder.join("import-by-string-id.tf")),
        quoted(&folder.join("import-by-identity.tf")),
        quoted(&folder.join("import.sh")),
        quoted(&folder.join("import-and-generate.sh"))
    )
}

/// A table from the names of AWS services to the arguments whose names do not contain them.
fn service_names(attributes: &[Attribute]) -> String {
    let services =
        [("S3", "objectstore"), ("DynamoDB", "keyvalue"), ("CloudWatch Logs", "logservice"), ("Lambda", "faas")];
    let mut names: Vec<&str> = attributes.iter().map(|it| it.name.as_str()).collect();
    let nested = attributes.iter().filter_map(|it| match &it.kind {
        AttributeType::Nested(_, nested) => Some(nested),
        AttributeType::Plain(_) => None,
    });
    names.extend(nested.flatten().map(|it| it.name.as_str()));
    names.sort_unstable();
    names.dedup();
    let mut text = "\n| AWS service | Arguments and outputs |\n|---|---|\n".to_owned();
    for (service, word) in services {
        let found: Vec<String> =
            names.iter().filter(|name| name.contains(word)).map(|name| format!("`{name}`")).collect();
        if !found.is_empty() {
            text += &format!("| {service} | {} |\n", found.join(", "));
        }
    }
    text
}

/// Links instead of the quoted titles of guides.
fn with_links(text: &str) -> String {
    let guides = [
        ("Addresses", "addresses"),
        ("Adopting a network", "adopting-a-network"),
        ("Adopting an API", "adopting-an-api"),
        ("Permissions", "permissions"),
        ("Protecting objects", "protecting-objects"),
    ];
    guides.iter().fold(text.to_owned(), |text, (title, file)| {
        text.replace(&format!("guide \"{title}\""), &format!("guide [{title}](../guides/{file}.md)"))
    })
}

/// An example without its block `terraform`, which the first example of the page shows.
fn without_requirements(code: &str) -> String {
    match code.split_once("```terraform\nterraform {\n") {
        Some(("", rest)) => {
            let (_, rest) = rest.split_once("\n}\n\n").expect("the block ends before the first resource");
            format!("```terraform\n{rest}")
        }
        _ => code.to_owned(),
    }
}

pub(super) fn front_matter(title: &str, description: &str) -> String {
    front_matter_of_index(title, description).replacen("\ndescription:", "\nsubcategory: \"\"\ndescription:", 1)
}

/// The page of the provider belongs to no category: `tfplugindocs validate` rejects one.
fn front_matter_of_index(title: &str, description: &str) -> String {
    format!("---\npage_title: \"{title}\"\ndescription: |-\n  {description}\n---\n")
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
