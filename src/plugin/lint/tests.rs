//! Configurations of doors, and the names that are found in them.

use tempfile::TempDir;

use super::*;
use crate::plugin::{AttributeType, Nesting, Type};

fn plain(name: &str, kind: Type) -> Attribute {
    Attribute::new(name, AttributeType::Plain(kind), "")
}

fn nested(name: &str, nesting: Nesting, attributes: Vec<Attribute>) -> Attribute {
    Attribute::new(name, AttributeType::Nested(nesting, attributes), "")
}

fn schemas() -> Schemas {
    let text = |name: &str| plain(name, Type::String);
    let tags = plain("tags", Type::Map(Box::new(Type::String)));
    let size = Type::Object([("width".to_string(), Type::Number), ("height".to_string(), Type::Number)].into());
    let plate = nested("plate", Nesting::Single, vec![text("depth"), text("alloy")]);
    let door = vec![
        text("name"),
        tags.clone(),
        nested("hinges", Nesting::Map, vec![text("metal"), text("screws"), tags.clone(), plate]),
        nested("locks", Nesting::List, vec![text("kind"), text("number")]),
        nested("frame", Nesting::Single, vec![text("wood"), text("color")]),
        plain("sizes", Type::List(Box::new(size.clone()))),
        plain("size", size),
        nested("limits", Nesting::Single, vec![text("open"), text("close"), tags]).block(),
        nested("keys", Nesting::List, vec![nested("shape", Nesting::Single, vec![text("teeth")])]).block(),
    ];
    Schemas {
        prefix: "acme".to_string(),
        provider: vec![
            nested("style", Nesting::Single, vec![text("color")]),
            nested("walls", Nesting::List, vec![text("height")]).block(),
        ],
        resources: [("acme_door".to_string(), door.clone())].into(),
        data_sources: [("acme_door".to_string(), door)].into(),
    }
}

/// The findings for a configuration of some files, without errors.
fn found(files: &[(&str, &str)]) -> Vec<String> {
    let Lint { findings, errors } = linted(files);
    assert_eq!(errors, [""; 0]);
    findings
}

/// The result, with paths below the directory of the configuration.
fn linted(files: &[(&str, &str)]) -> Lint {
    let directory = TempDir::new().unwrap();
    for (name, text) in files {
        let path = directory.path().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }
    let Lint { findings, errors } = lint_with(&schemas(), &directory.path().join("root"));
    let top = format!("{}/", directory.path().display());
    let short = |texts: Vec<String>| texts.into_iter().map(|text| text.replace(&top, "")).collect();
    Lint { findings: short(findings), errors: short(errors) }
}

/// The lines and names of the findings in the arguments of a door, with further blocks after it.
fn in_door(arguments: &str, others: &str) -> Vec<(usize, String)> {
    let text = format!("resource \"acme_door\" \"front\" {{\n{arguments}\n}}\n{others}");
    found(&[("root/main.tf", &text)]).iter().map(|finding| line_and_name(finding)).collect()
}

fn line_and_name(finding: &str) -> (usize, String) {
    let line = finding.split(':').nth(1).unwrap().parse().unwrap();
    let named = finding.split_once(" has no ").unwrap().1;
    (line, named.split('"').nth(1).unwrap().to_string())
}

fn names(arguments: &str, others: &str) -> Vec<String> {
    in_door(arguments, others).into_iter().map(|(_, name)| name).collect()
}

#[test]
fn a_finding_has_file_line_place_and_nearest_name() {
    let text = r#"
resource "acme_door" "front" {
  name = "front"
  hinges = {
    "top left" = { metl = "brass", plate = { aloy = "x" } }
    (var.key)  = { zebra = 1 }
  }
  size = { widht = 1 }
  limits {
    opne = "1m"
  }
}

variable "key" {}
"#;
    let dropped = "which Terraform drops without an error.";
    assert_eq!(
        found(&[("root/main.tf", text)]),
        [
            format!(
                "root/main.tf:5: acme_door.front: hinges[\"top left\"] has no attribute \"metl\", {dropped} Did you mean \
                 \"metal\"?"
            ),
            format!(
                "root/main.tf:5: acme_door.front: hinges[\"top left\"].plate has no attribute \"aloy\", {dropped} Did you \
                 mean \"alloy\"?"
            ),
            format!(
                "root/main.tf:6: acme_door.front: hinges[*] has no attribute \"zebra\", {dropped} Its names are metal, \
                 screws, tags, plate."
            ),
            format!(
                "root/main.tf:8: acme_door.front: size has no attribute \"widht\", {dropped} Did you mean \"width\"?"
            ),
            "root/main.tf:10: acme_door.front: limits has no argument \"opne\". Did you mean \"open\"?".to_string(),
        ]
    );
}

#[test]
fn correct_free_and_foreign_names_are_silent() {
    let text = r#"
resource "acme_door" "front" {
  for_each      = toset(["a"])
  unknown_names = "Terraform rejects this one itself."
  tags   = { anything = "x" }
  hinges = { anything = { metal = "brass", tags = { "any thing" = "y" }, plate = null } }
  locks  = [{ kind = "bolt" }, { number = 1 }]
  frame  = null
  lifecycle {
    ignore_changes = [hinges]
  }
}

resource "other_door" "front" {
  hinges = { top = { metl = "brass" } }
}

data "acme_window" "side" {
  hinges = { top = { metl = "brass" } }
}

output "hinges" {
  value = { top = { metl = "brass" } }
}
"#;
    assert_eq!(found(&[("root/main.tf", text)]), [""; 0]);
    assert_eq!(found(&[("root/main.tf", "locals {\n  a = 1\n}\n")]), [""; 0]);
}

#[test]
fn literal_objects_are_found_in_any_expression() {
    let bad = "{ metl = \"brass\" }";
    for hinges in [
        format!("{{ top = {bad} }}"),
        format!("{{ top : {bad} }}"),
        format!("({{ \"top\" = ({bad}) }})"),
        format!("\"${{ {{ top = {bad} }} }}\""),
        format!("{{ for name in var.names : name => {bad} }}"),
        format!("{{ for name in var.names : name => {bad} if name != \"\" }}"),
        format!("{{ for name, it in var.names : name => merge(it, {bad}) }}"),
        format!("merge({{ top = {{}} }}, {{ bottom = {bad} }})"),
        format!("core::merge({{ bottom = {bad} }})"),
        format!("merge([for name in var.names : {{ (name) = {bad} }}]...)"),
        format!("merge([{{ top = {bad} }}, var.names]...)"),
        format!("try(var.names.x, {{ top = {bad} }})"),
        format!("var.names == null ? {{}} : {{ top = {bad} }}"),
        format!("var.names != null ? {{ top = {bad} }} : null"),
        format!("{{ top = var.names != null ? {bad} : null }}"),
        format!("{{ top = merge(var.names, {bad}) }}"),
        format!("{{ top = try(var.names.x, coalesce(null, {bad})) }}"),
        format!("{{ top = lookup(var.names, \"top\", {bad}) }}"),
        format!("{{ top = lookup({{ a = {bad} }}, var.names, {{}}) }}"),
        format!("{{ top = {{ a = {bad} }}[var.names] }}"),
        format!("{{ top = {{ a = {bad}, b = {{}} }}[\"a\"] }}"),
        format!("{{ top = [{bad}][0] }}"),
        format!("{{ top = element([{bad}], 0) }}"),
        format!("{{ top = one([{bad}]) }}"),
        format!("tomap({{ top = sensitive({bad}) }})"),
        format!("zipmap([\"top\"], [{bad}])"),
        format!("{{ for it in flatten([[{bad}], [for x in var.names : [{bad}]]]) : it => it }}"),
        format!("{{ for key, it in {{ top = {bad} }} : key => it }}"),
        format!("{{ for it in [for x in var.names : {bad}] : it.screws => it }}"),
        format!("{{ for it in [{{ hinge = {bad} }}] : \"x\" => it.hinge }}"),
    ] {
        let found = in_door(&format!("  hinges = {hinges}"), "variable \"names\" {}\n");
        assert!(!found.is_empty() && found.iter().all(|it| *it == (2, "metl".to_string())), "{hinges}: {found:?}");
    }
    for locks in [
        "[{ knd = 1 }]",
        "concat([], [{ knd = 1 }])",
        "flatten([[{ knd = 1 }]])",
        "[for x in [] : { knd = x }]",
        "values({ a = { knd = 1 } })",
        "tolist(slice(distinct([{ knd = 1 }]), 0, 1))",
        "[{ kind = 1 }, { knd = 1 }]",
    ] {
        assert_eq!(names(&format!("locks = {locks}"), ""), ["knd"], "{locks}");
    }
    for (argument, name) in [
        ("frame = { wod = 1 }", "wod"),
        ("frame = merge({ wood = 1 }, { colr = 1 })", "colr"),
        ("sizes = [{ widht = 1 }]", "widht"),
        ("sizes = [for x in [] : { heigth = x }]", "heigth"),
    ] {
        assert_eq!(names(argument, ""), [name], "{argument}");
    }
}

#[test]
fn values_that_are_not_certain_are_left_out() {
    let others = r#"
variable "hinges" {
  default = { top = { metl = "brass" } }
}
variable "text" {}
locals {
  mixed = [{ kind = "hinge", metl = "x" }, { kind = "lock" }]
  used  = { top = { metal = "x", owner = "me" } }
  a     = local.b
  b     = local.a
}
output "owner" {
  value = [local.used.top.owner, local.mixed[0].kind, local.mixed[0].metl]
}
"#;
    for hinges in [
        "var.text",
        "jsondecode(var.text)",
        "jsondecode(jsonencode({ top = { metl = 1 } }))",
        "provider::acme::hinges({ top = { metl = 1 } })",
        "module.x.hinges",
        "{ top = { (var.text) = 1 } }",
        "{ top = { \"${var.text}\" = 1 } }",
        "{ top = { for key, it in { metl = 1 } : key => it } }",
        "{ for it in local.mixed : it.kind => it if it.kind == \"hinge\" }",
        "local.used",
        "local.a",
        "local.missing",
        "{ for it in var.text : it => { for key, value in it : key => value } }",
        "{ for local in var.text : \"x\" => local.used.top }",
        "{ top = [{ metl = 1 }][*].x }",
        "keys({ top = { metl = 1 } })",
        "lookup({ hinges = {}, locks = { top = { metl = 1 } } }, \"hinges\", {})",
        "{ for it in var.text : it => { metl = 1 }... }",
    ] {
        assert_eq!(names(&format!("hinges = {hinges}"), others), [""; 0], "{hinges}");
    }
}

#[test]
fn local_values_and_defaults_are_followed() {
    let others = r#"
locals {
  hinges  = { top = { metl = "brass" } }
  again   = local.hinges
  deep    = { doors = { front = { hinges = local.hinges } } }
  hinge   = { metl = "brass" }
  by_env  = { dev = { hinges = local.hinges }, prod = { hinges = {} } }
  looped  = { for key in ["a"] : key => { metl = key } }
  listed  = [{ name = "top", hinge = local.hinge }]
}
variable "hinges" {
  default = { top = { metl = "brass" } }
}
"#;
    for hinges in [
        "local.hinges",
        "local.again",
        "local.deep.doors.front.hinges",
        "local.deep[\"doors\"][\"front\"].hinges",
        "local.by_env[terraform.workspace].hinges",
        "lookup(local.by_env.dev, \"hinges\", {})",
        "{ top = local.hinge }",
        "{ top = merge(local.hinge, { screws = 4 }) }",
        "{ for name, it in local.hinges : name => it }",
        "{ for name, it in local.hinges : name => merge(it, { screws = 4 }) }",
        "{ for it in local.listed : it.name => it.hinge }",
        "local.looped",
        "{ x = local.looped.a }",
        "var.hinges",
        "true ? local.hinges : var.other",
    ] {
        assert_eq!(names(&format!("hinges = {hinges}"), others), ["metl"], "{hinges}");
    }
    let twice = "locals {\n  hinges = { top = { metl = 1 } }\n}\n";
    let door = "resource \"acme_door\" \"front\" {\n  hinges = local.hinges\n}\n";
    let overridden = "locals {\n  hinges = {}\n}\n";
    let files = [("root/a.tf", twice), ("root/b.tf", door), ("root/override.tf", overridden)];
    assert_eq!(found(&files), [""; 0], "an override file decides");
    assert_eq!(found(&files[..2]).len(), 1);
}

#[test]
fn loops_of_blocks_are_followed() {
    let others = "locals {\n  doors = { a = { hinges = { top = { metl = 1 } }, limits = { tags = {} } } }\n}\n";
    assert_eq!(names("for_each = local.doors\nhinges = each.value.hinges", others), ["metl"]);
    assert_eq!(names("for_each = local.doors\nhinges = { top = each.key }", others), [""; 0]);
    let dynamic = "dynamic \"limits\" {\n  for_each = [1]\n  content {\n    opne = limits.value\n  }\n}";
    assert_eq!(in_door(dynamic, ""), [(5, "opne".to_string())]);
    let keys = |content: &str, iterator: &str| {
        let each = "for_each = [{ shape = { teeeth = 1 } }]";
        names(
            &format!("dynamic \"keys\" {{\n  {each}\n  {iterator}\n  content {{\n    shape = {content}\n  }}\n}}"),
            "",
        )
    };
    assert_eq!(keys("{ teth = 1 }", ""), ["teth"]);
    assert_eq!(keys("keys.value.shape", ""), ["teeeth"]);
    assert_eq!(keys("it.value.shape", "iterator = it"), ["teeeth"]);
    assert_eq!(keys("keys.value.shape", "iterator = it"), [""; 0]);
}

#[test]
fn data_sources_and_provider_blocks_are_checked() {
    let text = r#"
data "acme_door" "a" {
  frame = { wod = 1 }
}
check "b" {
  data "acme_door" "b" {
    frame = { wod = 1 }
  }
}
provider "acme" {
  alias = "x"
  style = { colr = 1 }
  walls {
    heigt = 1
  }
}
provider "other" {
  style = { colr = 1 }
}
"#;
    let lines: Vec<_> = found(&[("root/main.tf", text)]).iter().map(|it| line_and_name(it)).collect();
    assert_eq!(
        lines,
        [(3, "wod"), (7, "wod"), (12, "colr"), (14, "heigt")].map(|(line, name)| (line, name.to_string()))
    );
    let source = |source: &str| {
        format!("terraform {{\n  required_providers {{\n    other = {{ source = \"{source}\" }}\n  }}\n}}\n")
    };
    let lint = |versions: &str| found(&[("root/main.tf", text), ("root/versions.tf", versions)]).len();
    assert_eq!(lint(&source("example.com/acme/acme")), 5, "another local name");
    assert_eq!(lint(&source("acme/other")), 4);
}

#[test]
fn the_json_syntax_has_the_same_findings() {
    let text = r#"{
  "//": "a comment",
  "locals": [{ "hinges": { "a": { "metl": "1" } } }],
  "provider": { "acme": [{ "style": { "colr": 1 } }] },
  "resource": {
    "acme_door": {
      "front": {
        "//": "a comment",
        "hinges": {
          "top": {
            "//": "a comment",
            "m\u0065tl": "${var.x}",
            "plate":
              { "dpeth": 1 }
          },
          "${var.x}": { "scrws": 4 }
        },
        "locks": "${concat([{ knd = \"a\" }], [])}",
        "limits": { "opne": "1m" },
        "dynamic": { "keys": { "for_each": [1], "content": { "shape": { "teth": 1 } } } }
      },
      "back": [{ "hinges": "${local.hinges}", "tags": { "${": "not a template" } }]
    }
  },
  "variable": { "x": { "type": "string", "description": "costs ${" } }
}
"#;
    let expected =
        [(3, "metl"), (4, "colr"), (12, "metl"), (14, "dpeth"), (16, "scrws"), (18, "knd"), (19, "opne"), (20, "teth")];
    let lines: Vec<_> = found(&[("root/main.tf.json", text)]).iter().map(|it| line_and_name(it)).collect();
    assert_eq!(lines, expected.map(|(line, name)| (line, name.to_string())));
    assert_eq!(found(&[("root/main.tf.json", &format!("[{text}]"))]).len(), expected.len());
}

#[test]
fn inputs_of_local_modules_are_followed() {
    let root = r#"
module "house" {
  source   = "../modules/house"
  for_each = { a = { hinges = { x = { scrws = 1 } } } }
  hinges   = { top = { metl = 1, owner = 2, aloy = 3 } }
  more     = each.value.hinges
}
module "second" {
  source = "../modules/house"
  hinges = local.hinges
}
module "remote" {
  source = "acme/house/acme"
  hinges = { top = { metl = 1 } }
}
locals {
  hinges = { top = { metal = 1, plat = 2 } }
}
"#;
    let house = r#"
variable "hinges" {
  type = map(object({ metal = string, owner = optional(string), sizes = optional(list(object({ x = string }))) }))
}
variable "more" {
  default = { x = { unused = 1 } }
}
resource "acme_door" "all" {
  hinges = merge(var.hinges, var.more)
}
output "owners" {
  value = [for it in var.hinges : it.owner]
}
"#;
    let found = found(&[("root/main.tf", root), ("modules/house/main.tf", house)]);
    let short: Vec<_> = found.iter().map(|it| it.split(" has no ").next().unwrap().to_string()).collect();
    assert_eq!(found.iter().filter(|it| it.contains("\"metl\"")).count(), 1);
    assert_eq!(
        short,
        [
            "root/main.tf:4: module.house.acme_door.all: hinges[\"x\"]",
            "root/main.tf:5: module.house.acme_door.all: hinges[\"top\"]",
            "root/main.tf:5: module.house.acme_door.all: hinges[\"top\"]",
            "root/main.tf:17: module.second.acme_door.all: hinges[\"top\"]",
            "modules/house/main.tf:3: module.house.acme_door.all: hinges[*]",
            "modules/house/main.tf:6: module.second.acme_door.all: hinges[\"x\"]",
        ]
    );
}

#[test]
fn module_calls_in_circles_and_many_references_end() {
    let own = "module \"a\" {\n  source = \"./\"\n}\nmodule \"b\" {\n  source = \"../root\"\n}\n";
    let doors = "resource \"acme_door\" \"front\" {\n  hinges = local.h0\n  frame = { wod = 1 }\n}\n";
    let doubled: String =
        (0..40).map(|index| format!("  h{index} = merge(local.h{0}, local.h{0})\n", index + 1)).collect();
    let text = format!("{own}{doors}locals {{\n{doubled}}}\n");
    assert_eq!(found(&[("root/main.tf", &text)]).len(), 1);
}

#[test]
fn unreadable_files_are_errors_with_a_line() {
    let errors = |files: &[(&str, &str)]| linted(files).errors;
    let good = ("root/good.tf", "resource \"acme_door\" \"a\" {\n  frame = { wod = 1 }\n}\n");
    let Lint { findings, errors: broken } = linted(&[good, ("root/bad.tf", "locals {\n  a = [1,\n  b = }\n")]);
    assert_eq!(findings.len(), 1, "the other files are checked");
    assert!(
        broken.len() == 1 && broken[0].starts_with("root/bad.tf:3: The file cannot be read as HCL: "),
        "{broken:?}"
    );
    let json = errors(&[("root/bad.tf.json", "{\n  \"a\": 1,\n}\n")]);
    assert!(
        json.len() == 1 && json[0].starts_with("root/bad.tf.json:3: The file cannot be read as JSON: "),
        "{json:?}"
    );
    let call = "\n\nmodule \"a\" {\n  source = \"./missing\"\n}\n";
    assert_eq!(
        errors(&[("root/main.tf", call)]),
        ["root/main.tf:3: The module root/missing: The directory does not exist."]
    );
    assert_eq!(errors(&[("other/main.tf", "")]), ["root: The directory does not exist."]);
    let none = errors(&[("root/main.txt", ""), ("root/.hidden.tf", "}"), ("root/#a.tf#", "}"), ("root/a.tf~", "}")]);
    assert_eq!(none, ["root: The directory contains no configuration: no file ends with .tf or .tf.json."]);
}

#[test]
fn byte_order_marks_and_line_ends_of_windows_are_read() {
    let text = "\u{feff}resource \"acme_door\" \"a\" {\r\n  frame = {\r\n    wod = 1\r\n  }\r\n}\r\n";
    assert!(found(&[("root/main.tf", text)])[0].starts_with("root/main.tf:3: "));
    let json = "\u{feff}{\r\n\"resource\": {\"acme_door\": {\"a\": {\"frame\": {\r\n\"wod\": 1}}}}}";
    assert!(found(&[("root/main.tf.json", json)])[0].starts_with("root/main.tf.json:3: "));
}

// Terraform accepts both of these, and the parser does not.

#[test]
fn newlines_that_have_no_meaning_are_accepted() {
    let hinges =
        "{\n  for name in [] : name =>\n  true\n  ? { metl = 1 }\n  : {\n    screws = 1\n    plate = {}\n  }\n}";
    assert_eq!(in_door(&format!("hinges = {hinges}"), ""), [(5, "metl".to_string())]);
}

#[test]
fn keys_that_an_object_defines_again_are_accepted() {
    let hinges = "{ top = { metl = 1, metal = 2, metal = 3, metal = 4 }\n top = { plate = {}, plate = { aloy = 1 } } }";
    assert_eq!(names(&format!("hinges = {hinges}"), ""), ["metl", "aloy"]);
    let keys = "\n\"top\" = {}".repeat(30);
    let found = linted(&[("root/main.tf", &format!("locals {{\n  a = {{ {keys}\n }}\n}}"))]);
    assert!(found.errors.len() == 1 && found.errors[0].contains("redefined object key"), "{:?}", found.errors);
    let computed = linted(&[("root/main.tf", "locals {\n  a = {\n (b.c) = 1\n (b.c) = 2\n }\n}")]);
    assert!(computed.errors.len() == 1 && computed.errors[0].starts_with("root/main.tf:4: "), "{:?}", computed.errors);
}

#[test]
fn deep_nesting_does_not_end_the_process() {
    let deep = |open: &str, close: &str| format!("{}1{}", open.repeat(100_000), close.repeat(100_000));
    let hcl = linted(&[("root/main.tf", &format!("locals {{\n  a = {}\n}}\n", deep("[", "]")))]);
    assert!(hcl.errors.len() == 1 && hcl.errors[0].starts_with("root/main.tf:2: "), "{:?}", hcl.errors);
    let json = linted(&[("root/main.tf.json", &format!("{{\"locals\": {{\"a\": {}}}}}", deep("[", "]")))]);
    assert_eq!((json.findings.len(), json.errors.len()), (0, 0));
}
