//! Schemas of provider, resource and data blocks.

use std::collections::BTreeMap;

use super::{AttributePath, Check, Condition, Problem, Value};

/// The schema of one block.
#[derive(Clone, Debug)]
pub struct Schema {
    /// Version of the stored state. A higher version requires an upgrade of older states.
    pub version: i64,
    /// A description of the block, in Markdown.
    pub description: String,
    /// Attributes and nested blocks, in the order of the documentation.
    pub attributes: Vec<Attribute>,
}

/// An attribute or nested block.
#[derive(Clone, Debug)]
pub struct Attribute {
    /// Name in the configuration.
    pub name: String,
    /// Type of its value.
    pub kind: AttributeType,
    /// Whether the user or the provider sets it.
    pub mode: Mode,
    /// The value that replaces null in the configuration. Terraform sees an attribute with a default as optional and
    /// computed.
    pub default: Option<Value>,
    /// A description, in Markdown.
    pub description: String,
    /// Whether Terraform hides the value in its output.
    pub sensitive: bool,
    /// The reason of the deprecation, for a deprecated input. The provider warns where it is set. The schema for
    /// Terraform does not contain it: Terraform 1.15 and OpenTofu 1.12 warn wherever a deprecated attribute is read,
    /// which includes each output that contains the whole resource.
    pub deprecation: Option<String>,
    /// Rules for known, non-null values.
    pub checks: Vec<Check>,
    /// Rules that depend on other attributes of the same block.
    pub conditions: Vec<Condition>,
    /// The effect of a change of its value. `None` if the user cannot change it, or if there are no objects that a
    /// change could affect.
    pub change: Option<PlanEffect>,
    /// The effective value, such as a duration, of an attribute that is null in configuration and state.
    pub otherwise: Option<&'static str>,
    /// The descriptions of the fields of a plain object type, by name. Terraform's schema has no place for them.
    pub fields: &'static [(&'static str, &'static str)],
    /// A sentence at the end of the documentation.
    pub remark: Option<&'static str>,
}

/// The effect of a change of an attribute's value. If the effect depends on the values, this is the most severe one,
/// and the text names the exceptions. The text completes a sentence and has no period.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum PlanEffect {
    /// No object has the value: it only affects how objects are handled.
    Handling,
    /// No existing object changes.
    None,
    /// Objects are updated in place, without an interruption.
    InPlace,
    /// Objects are updated in place, with a side effect: "Changed in place, but ...".
    Disruptive(&'static str),
    /// Some objects are created, deleted or replaced: "A change ...".
    PartialReplace(&'static str),
    /// All objects are replaced: "A change replaces the whole resource, ...".
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
    /// A list of a fixed length, with a type for each element.
    Tuple(Vec<Type>),
    /// An object with named attributes.
    Object(BTreeMap<String, Type>),
    /// A value of any type, which is encoded with its type.
    Dynamic,
}

/// The collection of nested objects.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Nesting {
    /// One object.
    Single,
    /// A list of objects.
    List,
    /// A map of objects.
    Map,
}

/// Whether the user or the provider sets an attribute.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// The user must set it.
    Required,
    /// The user may set it.
    Optional,
    /// The provider sets it.
    Computed,
    /// The user may set it, otherwise the provider sets it.
    OptionalComputed,
    /// The user may set it, as a block `name { ... }` instead of an attribute.
    Block,
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
            conditions: Vec::new(),
            change: None,
            otherwise: None,
            fields: &[],
            remark: None,
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

    /// The user may set it, and null is a valid value.
    #[must_use]
    pub fn optional(mut self) -> Attribute {
        self.mode = Mode::Optional;
        self
    }

    /// The user may set it, otherwise the provider sets it.
    #[must_use]
    pub fn optional_computed(mut self) -> Attribute {
        self.mode = Mode::OptionalComputed;
        self
    }

    /// The user may set it, and this value is the default.
    #[must_use]
    pub fn default(mut self, value: impl Into<Value>) -> Attribute {
        self.default = Some(value.into());
        self
    }

    /// The user may set it, as a nested block.
    #[must_use]
    pub fn block(mut self) -> Attribute {
        self.mode = Mode::Block;
        self
    }

    /// Terraform hides the value in its output.
    #[must_use]
    pub fn sensitive(mut self) -> Attribute {
        self.sensitive = true;
        self
    }

    /// It is deprecated for this reason.
    #[must_use]
    pub fn deprecated(mut self, reason: &str) -> Attribute {
        self.deprecation = Some(reason.to_string());
        self
    }

    /// No object has its value: it only affects how objects are handled.
    #[must_use]
    pub fn handling(self) -> Attribute {
        self.change(PlanEffect::Handling)
    }

    /// A change of it does not affect existing objects.
    #[must_use]
    pub fn changes_nothing(self) -> Attribute {
        self.change(PlanEffect::None)
    }

    /// A change of it updates objects in place, without an interruption.
    #[must_use]
    pub fn in_place(self) -> Attribute {
        self.change(PlanEffect::InPlace)
    }

    /// A change of it has this effect.
    #[must_use]
    pub fn change(mut self, change: PlanEffect) -> Attribute {
        self.change = Some(change);
        self
    }

    /// This value applies if it is null in configuration and state.
    #[must_use]
    pub fn otherwise(mut self, text: &'static str) -> Attribute {
        self.otherwise = Some(text);
        self
    }

    /// The descriptions of the fields of its plain object type, by name.
    #[must_use]
    pub fn fields(mut self, fields: &'static [(&'static str, &'static str)]) -> Attribute {
        self.fields = fields;
        self
    }

    /// Its documentation ends with this sentence.
    #[must_use]
    pub fn remark(mut self, sentence: &'static str) -> Attribute {
        self.remark = Some(sentence);
        self
    }

    /// Whether the default is empty. Null and an empty value then mean the same.
    pub fn is_empty_by_default(&self) -> bool {
        self.default.as_ref().is_some_and(Value::is_empty)
    }

    /// The description for Terraform: the purpose, the default if it is short, the effect of a change, and the remark.
    pub fn text(&self) -> String {
        let default = match (&self.default, self.otherwise) {
            (Some(value @ (Value::Bool(_) | Value::Number(_) | Value::String(_))), _) => {
                format!(" Default: `{value}`.")
            }
            (_, Some(text)) => format!(" Default: `{}`.", Value::from(text)),
            _ => String::new(),
        };
        let change = self.change.map(|change| format!(" {change}")).unwrap_or_default();
        let remark = self.remark.map(|remark| format!(" {remark}")).unwrap_or_default();
        let drops_names = match (&self.kind, self.mode) {
            (AttributeType::Nested(..), Mode::Required | Mode::Optional | Mode::OptionalComputed) => {
                " Terraform drops a misspelled name in it without an error: run the command `lint` of this provider."
            }
            _ => "",
        };
        format!("{}{default}{change}{drops_names}{remark}", self.description)
    }

    /// Adds a rule for known, non-null values.
    #[must_use]
    pub fn check(mut self, check: Check) -> Attribute {
        self.checks.push(check);
        self
    }

    /// It may be set only if another attribute has one of these values.
    #[must_use]
    pub fn only_with(mut self, other: &'static str, values: &'static [&'static str]) -> Attribute {
        self.conditions.push(Condition::OnlyWith(other, values));
        self
    }

    /// It may be set only if another attribute is set.
    #[must_use]
    pub fn only_if_set(mut self, other: &'static str) -> Attribute {
        self.conditions.push(Condition::OnlyIfSet(other));
        self
    }

    /// It must be set if another attribute has this value.
    #[must_use]
    pub fn required_with(mut self, other: &'static str, value: &'static str) -> Attribute {
        self.conditions.push(Condition::RequiredWith(other, value));
        self
    }

    /// Exactly one of it and another attribute must be set.
    #[must_use]
    pub fn either_or(mut self, others: &'static [&'static str]) -> Attribute {
        self.conditions.push(Condition::EitherOr(others));
        self
    }

    /// It may be set only if another attribute is not.
    #[must_use]
    pub fn conflicts_with(mut self, other: &'static str) -> Attribute {
        self.conditions.push(Condition::ConflictsWith(other));
        self
    }
}

impl std::fmt::Display for PlanEffect {
    /// Formats the effect as a complete sentence.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            PlanEffect::Handling | PlanEffect::None => f.write_str("A change does not affect existing objects."),
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

/// The object type with these attributes.
pub fn object_type(attributes: &[Attribute]) -> Type {
    Type::Object(attributes.iter().map(|it| (it.name.clone(), it.kind.value_type())).collect())
}

/// Replaces null with the default of its attribute, at every depth of a configuration. Terraform's proposed state is
/// not suitable for this, because it repeats the prior value of a computed attribute.
pub fn with_defaults(attributes: &[Attribute], config: &Value) -> Value {
    mapped(attributes, config, &|attribute, given| match (&attribute.default, given) {
        (Some(default), Value::Null) => default.clone(),
        (_, given) => given,
    })
}

/// The same, but an attribute whose default is empty stays null. A plan shows all values but null, and null means the
/// same here.
pub fn with_shown_defaults(attributes: &[Attribute], config: &Value) -> Value {
    mapped(attributes, config, &|attribute, given| match (&attribute.default, given) {
        (Some(default), Value::Null) if !attribute.is_empty_by_default() => default.clone(),
        (_, given) => given,
    })
}

/// Replaces an empty value with null if the default of its attribute is empty, at every depth: a value that is not
/// configured, as [`with_shown_defaults`] returns it.
pub fn without_empty(attributes: &[Attribute], value: &Value) -> Value {
    mapped(attributes, value, &|attribute, given| match attribute.is_empty_by_default() && given.is_empty() {
        true => Value::Null,
        false => given,
    })
}

/// Changes the value of each attribute, at every depth. The change of an attribute precedes those within its value.
fn mapped(attributes: &[Attribute], object: &Value, change: &dyn Fn(&Attribute, Value) -> Value) -> Value {
    let Value::Map(entries) = object else { return object.clone() };
    let mut changed = entries.clone();
    for attribute in attributes {
        let given = entries.get(&attribute.name).cloned().unwrap_or_default();
        changed.insert(attribute.name.clone(), mapped_nested(&attribute.kind, change(attribute, given), change));
    }
    Value::Map(changed)
}

fn mapped_nested(kind: &AttributeType, value: Value, change: &dyn Fn(&Attribute, Value) -> Value) -> Value {
    let AttributeType::Nested(nesting, attributes) = kind else { return value };
    let item = |item: &Value| mapped(attributes, item, change);
    match (nesting, value) {
        (Nesting::Single, value) => item(&value),
        (Nesting::List, Value::List(items)) => Value::List(items.iter().map(item).collect()),
        (Nesting::Map, Value::Map(entries)) => {
            Value::Map(entries.iter().map(|(key, value)| (key.clone(), item(value))).collect())
        }
        (_, other) => other,
    }
}

/// Replaces each value that equals the default of its attribute with null, at every depth: the inverse of
/// [`with_defaults`]. The result has exactly these attributes.
pub fn without_defaults(attributes: &[Attribute], config: &Value) -> Value {
    let filled = with_defaults(attributes, config);
    let defaults = with_defaults(attributes, &Value::Map(BTreeMap::new()));
    Value::map(attributes.iter().map(|attribute| {
        let given = filled.get(&attribute.name).clone();
        let default = attribute.default.as_ref().map(|_| defaults.get(&attribute.name));
        let is_default = default == Some(&given);
        let value = if is_default { Value::Null } else { nested_without_defaults(&attribute.kind, given) };
        (attribute.name.clone(), value)
    }))
}

fn nested_without_defaults(kind: &AttributeType, value: Value) -> Value {
    let AttributeType::Nested(nesting, attributes) = kind else { return value };
    match (nesting, value) {
        (Nesting::Single, value @ Value::Map(_)) => without_defaults(attributes, &value),
        (Nesting::List, Value::List(items)) => {
            Value::List(items.iter().map(|item| without_defaults(attributes, item)).collect())
        }
        (Nesting::Map, Value::Map(entries)) => {
            Value::Map(entries.iter().map(|(key, item)| (key.clone(), without_defaults(attributes, item))).collect())
        }
        (_, other) => other,
    }
}

/// Runs the checks of all attributes on a configuration. Of a block that is null or unknown, there is nothing to check.
pub fn check(attributes: &[Attribute], config: &Value, path: &AttributePath) -> Vec<Problem> {
    let mut problems = Vec::new();
    if config.is_null() || config.is_unknown() {
        return problems;
    }
    for attribute in attributes {
        let value = config.get(&attribute.name);
        let path = path.attribute(&attribute.name);
        let other = |name: &str| effective(attributes, config, name);
        // A default is no choice of the user, and an unknown value may turn out to be null.
        let is_set = || !value.is_null() && !value.is_unknown() && attribute.default.as_ref() != Some(value);
        let own = || (other(&attribute.name), is_set());
        let broken = |condition: &Condition| condition.problem(&path, &attribute.name, own(), other);
        problems.extend(attribute.conditions.iter().filter_map(broken));
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

/// The value of an attribute, or its default.
fn effective<'a>(attributes: &'a [Attribute], block: &'a Value, name: &str) -> &'a Value {
    let given = block.get(name);
    let default = || attributes.iter().find(|it| it.name == name).and_then(|it| it.default.as_ref());
    if given.is_null() { default().unwrap_or(given) } else { given }
}
