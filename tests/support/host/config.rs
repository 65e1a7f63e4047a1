//! The configuration in a directory, in HCL or JSON, as values of the schemas.
//!
//! Supports only what tests of single resources need: provider and resource blocks with literal values, templates and
//! `jsonencode`. References, modules, `lifecycle` and the like need Terraform. Here they cause a panic.

use std::collections::BTreeMap;
use std::path::Path;
use std::str::FromStr;

use fgw::plugin::{Attribute, AttributeType, Mode, Nesting, Schema, Type, Value};
use hcl::eval::{Context, Evaluate, FuncArgs, FuncDef, ParamType};
use hcl::{Body, Structure, Template};
use serde_json::{Map, Value as Json, json};

/// The configuration of a directory.
#[derive(Debug, Default)]
pub(super) struct Config {
    /// The arguments of the provider block.
    pub(super) provider: Map<String, Json>,
    /// The arguments of each resource, by type and name.
    pub(super) resources: BTreeMap<(String, String), Map<String, Json>>,
}

impl Config {
    /// Reads all `.tf` and `.tf.json` files. Panics on features that need Terraform.
    pub(super) fn read(directory: &Path) -> Self {
        let mut config = Self::default();
        for entry in std::fs::read_dir(directory).expect("the directory is ours") {
            let path = entry.expect("the directory is ours").path();
            let name = path.file_name().expect("a file has a name").to_string_lossy().into_owned();
            let text = || std::fs::read_to_string(&path).expect("the directory is ours");
            let blocks = if name.ends_with(".tf.json") {
                serde_json::from_str(&text()).expect("a test writes JSON")
            } else if name.ends_with(".tf") {
                let body = hcl::parse(&text()).unwrap_or_else(|error| panic!("{name} is not HCL: {error}"));
                Json::Object(arguments(&body))
            } else {
                continue;
            };
            config.add(&blocks);
        }
        config
    }

    fn add(&mut self, blocks: &Json) {
        for (kind, block) in blocks.as_object().expect("a file has blocks") {
            match kind.as_str() {
                "terraform" => {}
                "provider" => {
                    let block = items(&block["fgw"]);
                    let [block] = block[..] else { panic!("several provider blocks need Terraform") };
                    self.provider = object(block);
                }
                "resource" => {
                    for (of_type, resources) in block.as_object().expect("resources have a type") {
                        for (name, resource) in resources.as_object().expect("resources have a name") {
                            self.resources.insert((of_type.clone(), name.clone()), object(items(resource)[0]));
                        }
                    }
                }
                _ => panic!("a test with a {kind} block needs Terraform"),
            }
        }
    }
}

/// The arguments as a value of the schema. The error describes what Terraform would reject.
pub(super) fn typed(schema: &Schema, arguments: &Map<String, Json>) -> Result<Value, String> {
    object_of(&schema.attributes, arguments, "")
}

/// A body as JSON: a block is nested under its labels, and the blocks of one type are a list.
fn arguments(body: &Body) -> Map<String, Json> {
    let mut found = Map::new();
    for structure in body {
        match structure {
            Structure::Attribute(attribute) => {
                let value = attribute.expr.evaluate(&context());
                let value = value.unwrap_or_else(|error| panic!("{} needs Terraform: {error}", attribute.key()));
                found.insert(attribute.key().to_owned(), serde_json::to_value(value).expect("HCL is JSON"));
            }
            Structure::Block(block) => {
                let mut place = &mut found;
                let mut names = vec![block.identifier().to_owned()];
                names.extend(block.labels().iter().map(|label| label.as_str().to_owned()));
                let last = names.pop().expect("a block has an identifier");
                for name in names {
                    place = place.entry(name).or_insert_with(|| json!({})).as_object_mut().expect("labels nest");
                }
                let blocks = place.entry(last).or_insert_with(|| json!([])).as_array_mut().expect("blocks are lists");
                blocks.push(Json::Object(arguments(block.body())));
            }
        }
    }
    found
}

fn context() -> Context<'static> {
    fn encode(arguments: FuncArgs) -> Result<hcl::Value, String> {
        serde_json::to_string(&arguments[0]).map(Into::into).map_err(|error| error.to_string())
    }
    let mut context = Context::new();
    context.declare_func("jsonencode", FuncDef::builder().param(ParamType::Any).build(encode));
    context
}

/// The blocks of a list, or the one block.
fn items(blocks: &Json) -> Vec<&Json> {
    match blocks {
        Json::Array(blocks) => blocks.iter().collect(),
        Json::Null => Vec::new(),
        block => vec![block],
    }
}

fn object(value: &Json) -> Map<String, Json> {
    value.as_object().expect("a block has arguments").clone()
}

fn object_of(attributes: &[Attribute], arguments: &Map<String, Json>, path: &str) -> Result<Value, String> {
    if let Some(name) = arguments.keys().find(|name| attributes.iter().all(|it| it.name != **name)) {
        if ["lifecycle", "depends_on", "provider", "count", "for_each"].contains(&name.as_str()) {
            panic!("a test with {name} needs Terraform");
        }
        return Err(format!("Unsupported argument {path}{name}"));
    }
    let attribute = |attribute: &Attribute| {
        let path = format!("{path}{}", attribute.name);
        let given = arguments.get(&attribute.name).unwrap_or(&Json::Null);
        let value = match (&attribute.kind, attribute.mode) {
            (AttributeType::Nested(Nesting::Single, nested), Mode::Block) => match items(given)[..] {
                [] => Value::Null,
                [block] => object_of(nested, &object(block), &format!("{path}."))?,
                _ => return Err(format!("Too many blocks {path}")),
            },
            (AttributeType::Nested(_, nested), Mode::Block) => {
                let blocks = items(given).into_iter();
                let blocks = blocks.map(|block| object_of(nested, &object(block), &format!("{path}.")));
                Value::List(blocks.collect::<Result<_, _>>()?)
            }
            (AttributeType::Nested(nesting, nested), _) => nested_of(*nesting, nested, given, &path)?,
            (AttributeType::Plain(kind), _) => plain_of(kind, given, &path)?,
        };
        let computed = attribute.mode == Mode::Computed;
        match (attribute.mode, value.is_null()) {
            (Mode::Required, true) => Err(format!("Missing required argument {path}")),
            (_, false) if computed => Err(format!("Value for unconfigurable attribute {path}")),
            _ => Ok((attribute.name.clone(), value)),
        }
    };
    Ok(Value::map(attributes.iter().map(attribute).collect::<Result<Vec<_>, _>>()?))
}

fn nested_of(nesting: Nesting, attributes: &[Attribute], given: &Json, path: &str) -> Result<Value, String> {
    let item = |item: &Json, path: &str| match item {
        Json::Null => Ok(Value::Null),
        Json::Object(arguments) => object_of(attributes, arguments, &format!("{path}.")),
        _ => Err(format!("{path} is not an object")),
    };
    match (nesting, given) {
        (_, Json::Null) => Ok(Value::Null),
        (Nesting::Single, given) => item(given, path),
        (Nesting::Map, Json::Object(items)) => {
            let items = items.iter().map(|(key, it)| Ok((key.clone(), item(it, &format!("{path}[{key:?}]"))?)));
            Ok(Value::map(items.collect::<Result<Vec<_>, String>>()?))
        }
        (Nesting::List, Json::Array(items)) => {
            Ok(Value::List(items.iter().map(|it| item(it, path)).collect::<Result<_, _>>()?))
        }
        _ => Err(format!("{path} is of the wrong type")),
    }
}

/// A value of a plain type, with Terraform's conversions between strings, numbers and booleans.
fn plain_of(kind: &Type, given: &Json, path: &str) -> Result<Value, String> {
    let wrong = || format!("{path}: {given} is not of type {kind:?}");
    match (kind, given) {
        (_, Json::Null) => Ok(Value::Null),
        (_, Json::String(text)) if text.contains("${") || text.contains("%{") => {
            let template = Template::from_str(text).map_err(|error| error.to_string())?;
            let text = template.evaluate(&context()).unwrap_or_else(|error| panic!("{path} needs Terraform: {error}"));
            Ok(Value::String(text))
        }
        (Type::Bool, Json::Bool(value)) => Ok(Value::Bool(*value)),
        (Type::Bool, Json::String(text)) => text.parse().map(Value::Bool).map_err(|_| wrong()),
        (Type::Number, Json::Number(number)) => {
            number.as_i64().map(Value::from).or_else(|| number.as_f64().map(Value::from)).ok_or_else(wrong)
        }
        (Type::Number, Json::String(text)) => text.parse::<i64>().map(Value::from).map_err(|_| wrong()),
        (Type::String, Json::String(text)) => Ok(Value::from(text.as_str())),
        (Type::String, Json::Number(_) | Json::Bool(_)) => Ok(Value::from(given.to_string())),
        (Type::List(kind) | Type::Set(kind), Json::Array(items)) => {
            let items = items.iter().map(|item| plain_of(kind, item, path));
            Ok(Value::List(items.collect::<Result<_, _>>()?))
        }
        (Type::Map(kind), Json::Object(items)) => {
            let items = items.iter().map(|(key, item)| Ok((key.clone(), plain_of(kind, item, path)?)));
            Ok(Value::map(items.collect::<Result<Vec<_>, String>>()?))
        }
        (Type::Object(attributes), Json::Object(items)) => {
            let attribute = |(name, kind): (&String, &Type)| {
                let item = items.get(name).ok_or_else(|| format!("{path}: attribute {name} is required"))?;
                Ok((name.clone(), plain_of(kind, item, path)?))
            };
            Ok(Value::map(attributes.iter().map(attribute).collect::<Result<Vec<_>, String>>()?))
        }
        _ => Err(wrong()),
    }
}
