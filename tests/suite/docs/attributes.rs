//! The schema section of a page: every attribute with its type, default, rules and the effect of a change.

use super::groups;
use fgw::plugin::schema::PlanEffect;
use fgw::plugin::{Attribute, AttributeType, Mode, Nesting, Type, Value};

/// Attributes of a nested object, which have their own section further down.
struct Nested<'a> {
    /// The path from the root, such as `route_config` or `a.b`.
    path: String,
    /// The paths of further objects with the same attributes.
    equal: Vec<String>,
    content: Content<'a>,
    /// Whether Terraform drops unknown names from it: it is the value of an argument, and not a block.
    drops_names: bool,
}

enum Content<'a> {
    /// Attributes that the schema declares.
    Attributes(&'a [Attribute], Origin),
    /// The fields of a plain type, and their descriptions.
    Fields(&'a Type, &'a [(&'static str, &'static str)]),
}

/// Whether the user or the provider sets the nested values.
#[derive(Clone, Copy, PartialEq)]
enum Origin {
    User,
    Provider,
}

/// The whole section, from required arguments to nested objects.
pub(super) fn section(attributes: &[Attribute]) -> String {
    let mut waiting = Vec::new();
    let mut text = part(attributes, "", Origin::User, "### ", &mut waiting);
    merge_equal(&mut waiting);
    waiting.reverse();
    while let Some(nested) = waiting.pop() {
        let path = &nested.path;
        text.push('\n');
        for path in std::iter::once(path).chain(&nested.equal) {
            text += &format!("<a id=\"{}\"></a>\n", anchor(path));
        }
        let paths = std::iter::once(path).chain(&nested.equal).map(|path| format!("`{path}`"));
        text += &format!("### Nested Schema for {}\n", paths.collect::<Vec<_>>().join(", "));
        let mut further = Vec::new();
        match nested.content {
            Content::Attributes(attributes, origin) => {
                if nested.drops_names {
                    text += "\nTerraform drops a misspelled name from this object without an error. The command \
                             `terraform-provider-fgw lint` finds it.\n";
                }
                if is_all_in_place(attributes) {
                    text += "\nChange of each argument: **in place**.\n";
                }
                text += &part(attributes, path, origin, "", &mut further);
            }
            Content::Fields(kind, fields) => {
                text += "\nRead-Only:\n\n";
                for (name, kind) in fields_of(kind) {
                    let about = fields.iter().find(|(field, _)| field == name);
                    let (_, about) = about.unwrap_or_else(|| panic!("{path}: the field {name} has no description"));
                    text += &format!("- `{name}` ({}) {about}\n", plain(kind));
                }
            }
        }
        further.reverse();
        waiting.extend(further);
    }
    text
}

/// Makes one section of those with equal attributes, such as the subnets of the tiers.
fn merge_equal(waiting: &mut Vec<Nested>) {
    let shown = |nested: &Nested| match nested.content {
        // Any path but that of the page, whose arguments have groups.
        Content::Attributes(attributes, origin) => part(attributes, "nested", origin, "", &mut Vec::new()),
        Content::Fields(kind, fields) => format!("{:?}{fields:?}", fields_of(kind)),
    };
    let mut merged: Vec<Nested> = Vec::new();
    for nested in waiting.drain(..) {
        let text = shown(&nested);
        match merged.iter_mut().find(|earlier| shown(earlier) == text) {
            Some(earlier) => earlier.equal.push(nested.path),
            None => merged.push(nested),
        }
    }
    *waiting = merged;
}

/// Whether every argument of a nested object that can be changed is changed in place.
fn is_all_in_place(attributes: &[Attribute]) -> bool {
    let changes: Vec<PlanEffect> = attributes.iter().filter_map(|it| it.change).collect();
    changes.len() > 1 && changes.iter().all(|it| matches!(it, PlanEffect::InPlace))
}

/// The attributes of one object, the required ones first.
fn part<'a>(
    attributes: &'a [Attribute],
    path: &str,
    origin: Origin,
    mark: &str,
    waiting: &mut Vec<Nested<'a>>,
) -> String {
    let group = |attribute: &Attribute| match attribute.mode {
        _ if origin == Origin::Provider => 2,
        Mode::Required => 0,
        Mode::Computed => 2,
        Mode::Optional | Mode::OptionalComputed | Mode::Block => 1,
    };
    let mut text = String::new();
    for (number, title) in ["Required", "Optional", "Read-Only"].into_iter().enumerate() {
        let members: Vec<&Attribute> = attributes.iter().filter(|it| group(it) == number).collect();
        if members.is_empty() {
            continue;
        }
        let colon = if mark.is_empty() { ":" } else { "" };
        text += &format!("\n{mark}{title}{colon}\n\n");
        // Attributes with the same description share one item.
        let is_stated = !path.is_empty() && is_all_in_place(attributes);
        let mut items: Vec<(&Attribute, String)> =
            members.into_iter().map(|it| (it, item(it, path, is_stated))).collect();
        let is_grouped = path.is_empty() && title == "Optional" && items.len() > groups::LONG;
        if is_grouped {
            items.sort_by_key(|(it, _)| groups::of(&it.name));
        }
        let mut group = None;
        for (position, (attribute, about)) in items.iter().enumerate() {
            if items[..position].iter().any(|(_, earlier)| earlier == about) {
                continue;
            }
            if is_grouped && group.replace(groups::of(&attribute.name)) != Some(groups::of(&attribute.name)) {
                let newline = if position == 0 { "" } else { "\n" };
                text += &format!("{newline}#### {}\n\n", groups::of(&attribute.name).1);
            }
            let names = items[position..].iter().filter(|(_, other)| other == about);
            let names: Vec<String> = names.map(|(it, _)| format!("`{}`", it.name)).collect();
            text += &format!("- {} {about}", names.join(", "));
            let path = if path.is_empty() { attribute.name.clone() } else { format!("{path}.{}", attribute.name) };
            if let AttributeType::Nested(_, nested) = &attribute.kind {
                let origin = if attribute.mode == Mode::Computed { Origin::Provider } else { origin };
                let drops_names = attribute.mode != Mode::Block && origin != Origin::Provider;
                let content = Content::Attributes(nested, origin);
                waiting.push(Nested { path, equal: Vec::new(), content, drops_names });
            } else if let AttributeType::Plain(kind) = &attribute.kind
                && !fields_of(kind).is_empty()
            {
                let content = Content::Fields(kind, attribute.fields);
                waiting.push(Nested { path, equal: Vec::new(), content, drops_names: false });
            }
        }
    }
    text
}

/// The documentation of one attribute, without its name, and without the effect of a change if its section states it.
fn item(attribute: &Attribute, path: &str, change_is_stated: bool) -> String {
    let mut marks = vec![kind(attribute)];
    marks.extend(attribute.sensitive.then(|| "Sensitive".to_owned()));
    marks.extend(attribute.deprecation.is_some().then(|| "Deprecated".to_owned()));
    let mut text = format!("({}) {}", marks.join(", "), one_line(&attribute.description));
    let is_nested = match &attribute.kind {
        AttributeType::Nested(..) => true,
        AttributeType::Plain(kind) => !fields_of(kind).is_empty(),
    };
    if let Some(deprecation) = &attribute.deprecation {
        text += &format!(" Deprecated: {deprecation}");
    }
    if is_nested {
        let path = if path.is_empty() { attribute.name.clone() } else { format!("{path}.{}", attribute.name) };
        text += &format!(" See [below](#{}).", anchor(&path));
    }
    text.push('\n');
    let default = attribute.default.as_ref().map(hcl).or(attribute.otherwise.map(|text| hcl(&Value::from(text))));
    if let Some(default) = default {
        match default.contains('\n') {
            false => text += &format!("  - Default: `{default}`\n"),
            true => {
                text +=
                    &format!("  - Default:\n\n    ```terraform\n    {}\n    ```\n\n", default.replace('\n', "\n    "));
            }
        }
    }
    if !attribute.checks.is_empty() {
        let rules: Vec<&str> = attribute.checks.iter().map(|check| check.rule.as_str()).collect();
        text += &format!("  - Allowed: {}\n", rules.join("; "));
    }
    if !attribute.conditions.is_empty() {
        let rules: Vec<String> = attribute.conditions.iter().map(|condition| condition.rule()).collect();
        text += &format!("  - Condition: {}\n", rules.join("; "));
    }
    if let Some(change) = attribute.change.filter(|_| !change_is_stated) {
        text += &format!("  - Change: {}\n", effect(change));
    }
    if let Some(remark) = attribute.remark {
        text += &format!("  - {remark}\n");
    }
    text
}

/// The effect of a change, which begins with a term of the legend.
fn effect(change: PlanEffect) -> String {
    match change {
        PlanEffect::Handling | PlanEffect::None => "**none**".to_owned(),
        PlanEffect::InPlace => "**in place**".to_owned(),
        PlanEffect::Disruptive(words) => format!("**in place, disruptive**: {words}"),
        PlanEffect::PartialReplace(words) => format!("**some objects**. A change {words}."),
        PlanEffect::RequiresReplace("") => "**replaces the resource**".to_owned(),
        PlanEffect::RequiresReplace(words) => format!("**replaces the resource**, {words}"),
    }
}

/// The type in the registry's terms.
fn kind(attribute: &Attribute) -> String {
    match (&attribute.kind, attribute.mode == Mode::Block) {
        (AttributeType::Plain(kind), _) => plain(kind),
        (AttributeType::Nested(Nesting::Single, _), false) => "Attributes".to_owned(),
        (AttributeType::Nested(Nesting::List, _), false) => "Attributes List".to_owned(),
        (AttributeType::Nested(Nesting::Map, _), false) => "Attributes Map".to_owned(),
        (AttributeType::Nested(Nesting::Single, _), true) => "Block".to_owned(),
        (AttributeType::Nested(Nesting::List, _), true) => "Block List".to_owned(),
        (AttributeType::Nested(Nesting::Map, _), true) => "Block Map".to_owned(),
    }
}

/// A plain type in the registry's terms, such as `Map of List of String`.
pub(super) fn plain(kind: &Type) -> String {
    match kind {
        Type::Bool => "Boolean".to_owned(),
        Type::Number => "Number".to_owned(),
        Type::String => "String".to_owned(),
        Type::List(of) => format!("List of {}", plain(of)),
        Type::Set(of) => format!("Set of {}", plain(of)),
        Type::Map(of) => format!("Map of {}", plain(of)),
        Type::Object(_) => "Object".to_owned(),
        Type::Tuple(_) => "Tuple".to_owned(),
        Type::Dynamic => "Dynamic".to_owned(),
    }
}

/// The fields of the object type within a plain type, if any.
fn fields_of(kind: &Type) -> Vec<(&String, &Type)> {
    match kind {
        Type::List(of) | Type::Set(of) | Type::Map(of) => fields_of(of),
        Type::Object(fields) => fields.iter().collect(),
        Type::Bool | Type::Number | Type::String | Type::Tuple(_) | Type::Dynamic => Vec::new(),
    }
}

fn anchor(path: &str) -> String {
    format!("nestedatt--{}", path.replace('.', "--"))
}

fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// A value in HCL, with objects over several lines.
fn hcl(value: &Value) -> String {
    match value {
        Value::Map(entries) if !entries.is_empty() => {
            let shown = entries.iter().filter(|(_, value)| !value.is_null());
            let lines = shown.map(|(name, value)| format!("  {name} = {}\n", hcl(value).replace('\n', "\n  ")));
            format!("{{\n{}}}", lines.collect::<String>())
        }
        Value::Map(_) => "{}".to_owned(),
        other => other.to_string(),
    }
}
