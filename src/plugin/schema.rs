//! What a provider or resource block may contain.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::{AttributePath, Problem, Value};

/// The schema of one provider or resource.
#[derive(Clone, Debug)]
pub struct Schema {
    /// Raised when a stored state needs an upgrade.
    pub version: i64,
    /// What the block is, in Markdown.
    pub description: String,
    /// Attributes and nested blocks, in the order of the documentation.
    pub attributes: Vec<Attribute>,
}

/// One attribute or nested block: all there is to know about it.
#[derive(Clone, Debug)]
pub struct Attribute {
    /// Name in the configuration.
    pub name: String,
    /// Type of its value.
    pub kind: AttributeType,
    /// Who sets it.
    pub mode: Mode,
    /// What null in the configuration means. An attribute with a default is shown as optional and computed.
    pub default: Option<Value>,
    /// What it is for, in Markdown.
    pub description: String,
    /// Hidden in Terraform's output.
    pub sensitive: bool,
    /// Why not to use it any more.
    pub deprecation: Option<String>,
    /// Rules that a known, non-null value obeys.
    pub checks: Vec<Check>,
    /// What a change of its value leads to; `None` where the user cannot change it, or nothing is kept that it could
    /// change.
    pub change: Option<PlanEffect>,
    /// What applies where it is null and stays null in state, such as a duration.
    pub otherwise: Option<&'static str>,
    /// What the fields of a plain object type are, by name: Terraform's schema has no place for that.
    pub fields: &'static [(&'static str, &'static str)],
}

/// What a change of an attribute's value leads to. Where that depends on the values, the gravest counts, and the words
/// say when it is less. They are the rest of a sentence, without its full stop.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum PlanEffect {
    /// Nothing that exists is changed.
    None,
    /// What exists is changed in place, and serves on.
    InPlace,
    /// What exists is changed in place, which disturbs somebody: "Changed in place, but ...".
    Disruptive(&'static str),
    /// Parts of what exists come, go or are exchanged, and the rest stays: "A change ...".
    PartialReplace(&'static str),
    /// All that exists is replaced: "A change replaces the whole resource ...".
    RequiresReplace(&'static str),
}

/// The type of an attribute.
#[derive(Clone, Debug, PartialEq)]
pub enum AttributeType {
    /// A plain value.
    Plain(Type),
    /// An object, or a collection of objects, with attributes of their own.
    Nested(Nesting, Vec<Attribute>),
}

/// A type of plain values.
#[derive(Clone, Debug, PartialEq)]
pub enum Type {
    /// true or false.
    Bool,
    /// A number.
    Number,
    /// A string.
    String,
    /// An ordered list.
    List(Box<Type>),
    /// An unordered set.
    Set(Box<Type>),
    /// A map with string keys.
    Map(Box<Type>),
    /// A list of a fixed length, each element of which has a type of its own.
    Tuple(Vec<Type>),
    /// An object with named attributes.
    Object(BTreeMap<String, Type>),
    /// Whatever the user gives: its type travels with the value.
    Dynamic,
}

/// How nested objects are held.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Nesting {
    /// One object.
    Single,
    /// A list of objects.
    List,
    /// A map of objects.
    Map,
}

/// Who sets an attribute.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// The user, always.
    Required,
    /// The user, if wanted.
    Optional,
    /// The provider.
    Computed,
    /// The user, if wanted, else the provider.
    OptionalComputed,
    /// The user if wanted, written as a block `name { ... }` instead of an attribute.
    Block,
}

/// Returns what is wrong with a known, non-null value.
pub type Test = dyn Fn(&Value) -> Result<(), String> + Send + Sync;

/// A rule for one attribute's value.
#[derive(Clone)]
pub struct Check {
    /// The rule in words, for the documentation: "one of A, B".
    pub rule: String,
    /// Returns what is wrong with a known, non-null value.
    pub test: Arc<Test>,
}

impl Check {
    /// A rule given as a function. The error text names the offending value and the rule.
    pub fn new(rule: impl Into<String>, test: impl Fn(&Value) -> Result<(), String> + Send + Sync + 'static) -> Check {
        Check { rule: rule.into(), test: Arc::new(test) }
    }

    /// The value is one of these strings.
    pub fn one_of(allowed: &'static [&'static str]) -> Check {
        let rule = format!("one of {}", allowed.join(", "));
        Check::new(rule.clone(), move |value| match value.as_str() {
            Some(text) if !allowed.contains(&text) => Err(format!("{value} is not {rule}.")),
            _ => Ok(()),
        })
    }

    /// The value is a whole number between these two, both included.
    pub fn between(lowest: i64, highest: i64) -> Check {
        let rule = format!("a whole number from {lowest} to {highest}");
        Check::new(rule.clone(), move |value| match value {
            Value::Number(number) if number.as_i64().is_some_and(|it| (lowest..=highest).contains(&it)) => Ok(()),
            Value::Number(_) => Err(format!("{value} is not {rule}.")),
            _ => Ok(()),
        })
    }
}

impl std::fmt::Debug for Check {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Check({})", self.rule)
    }
}

impl PartialEq for Attribute {
    fn eq(&self, other: &Attribute) -> bool {
        self.name == other.name && self.kind == other.kind && self.mode == other.mode
    }
}

impl Attribute {
    /// An optional attribute. The other builders refine it.
    pub fn new(name: &str, kind: AttributeType, description: &str) -> Attribute {
        Attribute {
            name: name.to_string(),
            kind,
            mode: Mode::Optional,
            default: None,
            description: description.trim().to_string(),
            sensitive: false,
            deprecation: None,
            checks: Vec::new(),
            change: None,
            otherwise: None,
            fields: &[],
        }
    }

    /// An attribute that the provider sets.
    pub fn computed(name: &str, kind: Type, description: &str) -> Attribute {
        let mut attribute = Attribute::new(name, AttributeType::Plain(kind), description);
        attribute.mode = Mode::Computed;
        attribute
    }

    /// The user must set it.
    #[must_use]
    pub fn required(mut self) -> Attribute {
        self.mode = Mode::Required;
        self
    }

    /// The user may set it; null has a meaning of its own.
    #[must_use]
    pub fn optional(mut self) -> Attribute {
        self.mode = Mode::Optional;
        self
    }

    /// The user may set it; where he does not, the provider does.
    #[must_use]
    pub fn optional_computed(mut self) -> Attribute {
        self.mode = Mode::OptionalComputed;
        self
    }

    /// The user may set it; null means this value.
    #[must_use]
    pub fn default(mut self, value: impl Into<Value>) -> Attribute {
        self.default = Some(value.into());
        self
    }

    /// Written as a nested block.
    #[must_use]
    pub fn block(mut self) -> Attribute {
        self.mode = Mode::Block;
        self
    }

    /// Hidden in Terraform's output.
    #[must_use]
    pub fn sensitive(mut self) -> Attribute {
        self.sensitive = true;
        self
    }

    /// Not to be used any more, for this reason.
    #[must_use]
    pub fn deprecated(mut self, reason: &str) -> Attribute {
        self.deprecation = Some(reason.to_string());
        self
    }

    /// A change of it changes nothing that exists.
    #[must_use]
    pub fn changes_nothing(self) -> Attribute {
        self.change(PlanEffect::None)
    }

    /// A change of it is made in place, and nobody is disturbed.
    #[must_use]
    pub fn in_place(self) -> Attribute {
        self.change(PlanEffect::InPlace)
    }

    /// What a change of it leads to.
    #[must_use]
    pub fn change(mut self, change: PlanEffect) -> Attribute {
        self.change = Some(change);
        self
    }

    /// What applies where it is null, which it stays in state.
    #[must_use]
    pub fn otherwise(mut self, text: &'static str) -> Attribute {
        self.otherwise = Some(text);
        self
    }

    /// What the fields of its plain object type are.
    #[must_use]
    pub fn fields(mut self, fields: &'static [(&'static str, &'static str)]) -> Attribute {
        self.fields = fields;
        self
    }

    /// All that Terraform can tell of it: what it is for, a short default, and what a change leads to.
    pub fn text(&self) -> String {
        let default = match (&self.default, self.otherwise) {
            (Some(value @ (Value::Bool(_) | Value::Number(_) | Value::String(_))), _) => {
                format!(" Default: `{value}`.")
            }
            (_, Some(text)) => format!(" Default: `{}`.", Value::from(text)),
            _ => String::new(),
        };
        let change = self.change.map(|change| format!(" {change}")).unwrap_or_default();
        format!("{}{default}{change}", self.description)
    }

    /// Adds a rule for known, non-null values.
    #[must_use]
    pub fn check(mut self, check: Check) -> Attribute {
        self.checks.push(check);
        self
    }
}

impl std::fmt::Display for PlanEffect {
    /// A whole sentence.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            PlanEffect::None => f.write_str("A change alters nothing that exists."),
            PlanEffect::InPlace => f.write_str("Changed in place."),
            PlanEffect::Disruptive(words) => write!(f, "Changed in place, but {words}."),
            PlanEffect::PartialReplace(words) => write!(f, "A change {words}."),
            PlanEffect::RequiresReplace("") => f.write_str("A change replaces the whole resource."),
            PlanEffect::RequiresReplace(words) => write!(f, "A change replaces the whole resource, {words}."),
        }
    }
}

impl AttributeType {
    /// The type of the values of this attribute.
    pub fn value_type(&self) -> Type {
        match self {
            AttributeType::Plain(kind) => kind.clone(),
            AttributeType::Nested(nesting, attributes) => {
                let object = object_type(attributes);
                match nesting {
                    Nesting::Single => object,
                    Nesting::List => Type::List(Box::new(object)),
                    Nesting::Map => Type::Map(Box::new(object)),
                }
            }
        }
    }
}

/// The object type that these attributes make.
pub fn object_type(attributes: &[Attribute]) -> Type {
    Type::Object(attributes.iter().map(|it| (it.name.clone(), it.kind.value_type())).collect())
}

/// A configuration with defaults in place of nulls, at every depth. Defaults follow the configuration and not
/// Terraform's proposed state, which repeats the prior value of a computed attribute.
pub fn with_defaults(attributes: &[Attribute], config: &Value) -> Value {
    let Value::Map(entries) = config else { return config.clone() };
    let mut filled = entries.clone();
    for attribute in attributes {
        let given = entries.get(&attribute.name).unwrap_or(&Value::Null);
        let value = match (&attribute.default, given) {
            (Some(default), Value::Null) => default.clone(),
            _ => given.clone(),
        };
        filled.insert(attribute.name.clone(), nested_with_defaults(&attribute.kind, value));
    }
    Value::Map(filled)
}

fn nested_with_defaults(kind: &AttributeType, value: Value) -> Value {
    let AttributeType::Nested(nesting, attributes) = kind else { return value };
    match (nesting, value) {
        (Nesting::Single, value) => with_defaults(attributes, &value),
        (Nesting::List, Value::List(items)) => {
            Value::List(items.iter().map(|item| with_defaults(attributes, item)).collect())
        }
        (Nesting::Map, Value::Map(entries)) => {
            Value::Map(entries.iter().map(|(key, item)| (key.clone(), with_defaults(attributes, item))).collect())
        }
        (_, other) => other,
    }
}

/// Runs every attribute's checks on a configuration and returns what is wrong.
pub fn check(attributes: &[Attribute], config: &Value, path: &AttributePath) -> Vec<Problem> {
    let mut problems = Vec::new();
    for attribute in attributes {
        let value = config.get(&attribute.name);
        let path = path.attribute(&attribute.name);
        if value.is_null() || value.is_unknown() {
            continue;
        }
        for check in &attribute.checks {
            if let Err(message) = (check.test)(value) {
                problems.push(Problem::new(path.clone(), message, format!("Set it to {}.", check.rule)));
            }
        }
        let AttributeType::Nested(_, nested) = &attribute.kind else { continue };
        match (&attribute.kind, value) {
            (AttributeType::Nested(Nesting::Map, _), Value::Map(entries)) => {
                for (key, item) in entries {
                    problems.extend(self::check(nested, item, &path.key(key)));
                }
            }
            (_, Value::List(items)) => {
                for (index, item) in items.iter().enumerate() {
                    problems.extend(self::check(nested, item, &path.index(index)));
                }
            }
            _ => problems.extend(self::check(nested, value, &path)),
        }
    }
    problems
}
