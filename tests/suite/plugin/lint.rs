//! The command `lint`, on the configurations of this project.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use fgw::plugin::lint::{Lint, lint};
use fgw::plugin::{Attribute, AttributeType, Provider, Type};
use fgw::provider::Fgw;
use hcl_edit::Span;
use hcl_edit::expr::ObjectKey;
use hcl_edit::structure::Block;
use hcl_edit::visit::{self, Visit};
use tempfile::TempDir;

const PROJECT: &str = env!("CARGO_MANIFEST_DIR");

/// The configurations of examples and benchmarks. Most are one file, so each is checked alone.
fn configurations() -> Vec<PathBuf> {
    let mut files = Vec::new();
    let mut folders = vec![Path::new(PROJECT).join("examples"), Path::new(PROJECT).join("benches")];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            match path.extension().and_then(|it| it.to_str()) {
                _ if path.is_dir() => folders.push(path),
                Some("tf") => files.push(path),
                _ => {}
            }
        }
    }
    files.sort();
    assert!(files.len() > 20, "{files:?}");
    files
}

/// The result for a configuration of one file, `main.tf`.
fn lint_text(provider: &Fgw, text: &str) -> Lint {
    let directory = TempDir::new().unwrap();
    std::fs::write(directory.path().join("main.tf"), text).unwrap();
    let Lint { findings, errors } = lint(provider, directory.path());
    let short = |texts: Vec<String>| {
        texts.into_iter().map(|text| text.rsplit_once("/main.tf:").map_or(text.clone(), |(_, end)| end.to_string()))
    };
    Lint { findings: short(findings).collect(), errors: short(errors).collect() }
}

#[test]
fn examples_and_benchmarks_have_no_findings() {
    let provider = Fgw::default();
    for path in configurations() {
        let text = std::fs::read_to_string(&path).unwrap();
        assert_eq!(lint_text(&provider, &text), Lint::default(), "{}", path.display());
        let directory = path.parent().unwrap();
        assert_eq!(lint(&provider, directory), Lint::default(), "{}", directory.display());
    }
}

/// The names of objects in attributes.
fn nested_names(attributes: &[Attribute], names: &mut BTreeSet<String>) {
    fn fields(kind: &Type, names: &mut BTreeSet<String>) {
        match kind {
            Type::List(element) | Type::Set(element) | Type::Map(element) => fields(element, names),
            Type::Object(parts) => {
                for (name, kind) in parts {
                    names.insert(name.clone());
                    fields(kind, names);
                }
            }
            _ => {}
        }
    }
    for attribute in attributes {
        match &attribute.kind {
            AttributeType::Plain(kind) => fields(kind, names),
            AttributeType::Nested(_, nested) => {
                names.extend(nested.iter().map(|it| it.name.clone()));
                nested_names(nested, names);
            }
        }
    }
}

/// The positions of nested names in the blocks of the provider.
struct Uses<'a> {
    names: &'a BTreeSet<String>,
    found: Vec<std::ops::Range<usize>>,
}

impl Visit for Uses<'_> {
    fn visit_block(&mut self, block: &Block) {
        if block.labels.first().is_some_and(|label| label.as_str().starts_with("fgw_")) {
            visit::visit_block(self, block);
        }
    }

    fn visit_object_key(&mut self, key: &ObjectKey) {
        if let ObjectKey::Ident(name) = key {
            self.found.extend(name.span().filter(|_| self.names.contains(name.as_str())));
        }
    }
}

/// Names that differ in one letter.
fn misspelled(name: &str) -> [String; 3] {
    let middle = name.len() / 2;
    let (start, end) = name.split_at(middle);
    let mut swapped: Vec<char> = name.chars().collect();
    swapped.swap(middle - 1, middle);
    [format!("{start}q{}", &end[1..]), format!("{start}{}", &end[1..]), swapped.into_iter().collect()]
}

#[test]
fn each_misspelled_name_in_an_example_is_found() {
    let provider = Fgw::default();
    let mut names = BTreeSet::new();
    for resource in provider.resources() {
        nested_names(&resource.schema().attributes, &mut names);
    }
    let (mut tried, mut used) = (0, BTreeSet::new());
    for path in configurations() {
        let text = std::fs::read_to_string(&path).unwrap();
        let mut uses = Uses { names: &names, found: Vec::new() };
        uses.visit_body(&text.parse().unwrap());
        for span in uses.found {
            let name = &text[span.clone()];
            let line = text[..span.start].lines().count();
            for wrong in misspelled(name).iter().filter(|wrong| !names.contains(*wrong) && *wrong != name) {
                let mut changed = text.clone();
                changed.replace_range(span.clone(), wrong);
                let Lint { findings, errors } = lint_text(&provider, &changed);
                let context = format!("{}:{line}: {wrong}: {findings:?} {errors:?}", path.display());
                assert_eq!((findings.len(), errors.len()), (1, 0), "{context}");
                assert!(findings[0].starts_with(&format!("{line}: ")), "{context}");
                assert!(findings[0].contains(&format!(" {wrong:?}")), "{context}");
                assert!(findings[0].ends_with(&format!("Did you mean {name:?}?")), "{context}");
                tried += 1;
            }
            used.insert(name.to_string());
        }
    }
    assert!(tried > 200 && used.len() > 20, "{tried} misspelled, {used:?}");
}

/// The case of the issue: the misspelled name makes the second route public.
#[test]
fn a_route_that_a_misspelled_name_makes_public_is_found() {
    let text = r#"
resource "fgw_http_gateway" "main" {
  name             = "shop"
  faas_authorizers = { users = { authorizer_name = "authorize" } }
  route_config = {
    "GET /"      = { faas_function_arn = var.function, authorizer_name = "users" }
    "GET /admin" = { faas_function_arn = var.function, authoriser_name = "users" }
  }
}

resource "fgw_four_tier_vpc" "main" {
  flow_logs           = { all = { retention = 7 } }
  interface_endpoints = { "ecr.api" = { security_groups = [] } }
}
"#;
    let Lint { findings, .. } = lint_text(&Fgw::default(), text);
    let meant = ["7: authorizer_name", "12: retention_in_days", "13: security_group_ids"];
    let short = |finding: &String| {
        let line = finding.split(':').next().unwrap();
        format!("{line}: {}", finding.rsplit('"').nth(1).unwrap())
    };
    assert_eq!(findings.iter().map(short).collect::<Vec<_>>(), meant);
}

// The command.

fn run(arguments: &[&str], directory: &Path) -> (Option<i32>, String, String) {
    let program = env!("CARGO_BIN_EXE_terraform-provider-fgw");
    let output = Command::new(program).args(arguments).current_dir(directory).env_clear().output().unwrap();
    let Output { status, stdout, stderr } = output;
    (status.code(), String::from_utf8(stdout).unwrap(), String::from_utf8(stderr).unwrap())
}

#[test]
fn the_command_prints_findings_and_ends_with_1() {
    let directory = TempDir::new().unwrap();
    let folder = directory.path();
    let write = |name: &str, text: &str| {
        std::fs::create_dir_all(folder.join(name).parent().unwrap()).unwrap();
        std::fs::write(folder.join(name), text).unwrap();
    };
    write("root/main.tf", "module \"shop\" {\n  source = \"../shop\"\n}\n");
    write("shop/main.tf", "resource \"fgw_http_gateway\" \"a\" {\n  cors_configuration = { max_age = 1 }\n}\n");
    let silent = (Some(0), String::new(), String::new());
    assert_eq!(run(&["lint", "root"], folder), silent);
    write("shop/main.tf", "resource \"fgw_http_gateway\" \"a\" {\n  cors_configuration = { max_ages = 1 }\n}\n");
    let finding = "shop/main.tf:2: module.shop.fgw_http_gateway.a: cors_configuration has no attribute \"max_ages\", which \
                   Terraform drops without an error. Did you mean \"max_age\"?\n";
    assert_eq!(run(&["lint", "root"], folder), (Some(1), finding.to_string(), String::new()));
    let from_root = format!("../{finding}");
    assert_eq!(run(&["lint"], &folder.join("root")), (Some(1), from_root, String::new()));
    write("root/bad.tf", "}\n");
    let (code, stdout, stderr) = run(&["lint", "root"], folder);
    assert_eq!((code, stdout.as_str()), (Some(2), finding));
    assert!(stderr.starts_with("Error: root/bad.tf:1: The file cannot be read as HCL: "), "{stderr}");
    write("other/main.tf", "resource \"null_resource\" \"a\" {}\n");
    assert_eq!(run(&["lint", "other"], folder), silent);
}

#[test]
fn wrong_arguments_of_the_command_are_errors() {
    let folder = Path::new(PROJECT);
    for arguments in [["lint", "--fix", ""], ["lint", "examples", "benches"]] {
        let given: Vec<&str> = arguments.into_iter().filter(|it| !it.is_empty()).collect();
        let (code, stdout, stderr) = run(&given, folder);
        assert_eq!((code, stdout.as_str()), (Some(2), ""));
        assert_eq!(stderr, "Error: Run terraform-provider-fgw lint, or terraform-provider-fgw lint DIR.\n");
    }
    let (code, _, stderr) = run(&["lint", "no-such-directory"], folder);
    assert_eq!((code, stderr.as_str()), (Some(2), "Error: no-such-directory: The directory does not exist.\n"));
    for arguments in [&["--help"][..], &["lint", "--help"]] {
        let (code, stdout, _) = run(arguments, folder);
        assert!(code == Some(0) && stdout.contains("terraform-provider-fgw lint [DIR]"), "{stdout}");
    }
}
