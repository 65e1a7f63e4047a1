//! Decoding of values into typed structs and back, by one declaration per attribute.

use std::collections::{BTreeMap, BTreeSet};

use super::{Attribute, AttributePath, AttributeType, Nesting, Problem, Type, Value};

/// A configured value, which may be known only after apply.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Input<T> {
    /// Not known at plan.
    Unknown,
    /// Known.
    Known(T),
}

impl<T> Input<T> {
    /// The value, if it is known.
    pub fn known(&self) -> Option<&T> {
        match self {
            Input::Unknown => None,
            Input::Known(value) => Some(value),
        }
    }

    /// Whether it is known.
    pub fn is_known(&self) -> bool {
        matches!(self, Input::Known(_))
    }

    /// Applies a function to the known value.
    pub fn map<U>(self, change: impl FnOnce(T) -> U) -> Input<U> {
        match self {
            Input::Unknown => Input::Unknown,
            Input::Known(value) => Input::Known(change(value)),
        }
    }

    /// Borrows the known value.
    pub fn as_ref(&self) -> Input<&T> {
        match self {
            Input::Unknown => Input::Unknown,
            Input::Known(value) => Input::Known(value),
        }
    }
}

impl<T: Default> Default for Input<T> {
    fn default() -> Input<T> {
        Input::Known(T::default())
    }
}

impl<T> From<T> for Input<T> {
    fn from(value: T) -> Input<T> {
        Input::Known(value)
    }
}

impl<T: Into<Value>> From<Input<T>> for Value {
    fn from(input: Input<T>) -> Value {
        match input {
            Input::Unknown => Value::Unknown,
            Input::Known(value) => value.into(),
        }
    }
}

/// The name of the field that represents an unknown value in serialized data. Stored data contains no unknown values;
/// they are serialized only to compare and merge specs.
pub const UNKNOWN: &str = "(known after apply)";

impl<T: serde::Serialize> serde::Serialize for Input<T> {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Input::Known(value) => value.serialize(serializer),
            Input::Unknown => BTreeMap::from([(UNKNOWN, true)]).serialize(serializer),
        }
    }
}

impl<'de, T: serde::Deserialize<'de>> serde::Deserialize<'de> for Input<T> {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Input<T>, D::Error> {
        // Stored data has no unknown values.
        #[derive(serde::Deserialize)]
        struct Unknown {
            #[serde(rename = "(known after apply)")]
            is_unknown: bool,
        }
        #[derive(serde::Deserialize)]
        #[serde(untagged)]
        enum Either<T> {
            Unknown(Unknown),
            Known(T),
        }
        Ok(match Either::deserialize(deserializer)? {
            Either::Unknown(Unknown { is_unknown: true }) => Input::Unknown,
            Either::Unknown(_) => return Err(serde::de::Error::custom("a value is neither known nor unknown")),
            Either::Known(value) => Input::Known(value),
        })
    }
}

/// A type that a configuration value can be decoded into.
pub trait FromValue: Sized {
    /// The attribute type that declares it.
    fn attribute_type() -> AttributeType;

    /// Decodes a value. If it does not fit, adds to `problems` and returns `None`. Terraform has already checked the
    /// types, so most values that do not fit are null or unknown where the type does not allow it.
    fn from_value(value: &Value, path: &AttributePath, problems: &mut Vec<Problem>) -> Option<Self>;
}

/// A struct declared with [`attributes!`](crate::attributes).
pub trait Nested: Sized {
    /// The declared attributes, in order.
    fn attributes() -> Vec<Attribute>;

    /// Decodes an object whose defaults are filled in.
    fn decode(value: &Value, path: &AttributePath, problems: &mut Vec<Problem>) -> Option<Self>;

    /// A block of which nothing is known. `None` if an attribute must be known.
    fn unknown() -> Option<Self> {
        let unknown = Value::map(Self::attributes().into_iter().map(|it| (it.name, Value::Unknown)));
        Self::decode(&unknown, &AttributePath::root(), &mut Vec::new())
    }
}

/// A struct declared with [`attributes!`](crate::attributes) as `pub struct Name: Encode`. A block with secrets is not
/// encoded.
pub trait Encode: Nested {
    /// The object that decodes to this struct.
    fn encode(&self) -> Value;
}

/// Declares a block: a struct with its schema, defaults, rules and decoding.
///
/// Each field is a documented, typed attribute, followed by the builders of [`Attribute`] that refine it. The doc
/// comment is the description in the schema. `: Encode` after the name of the struct derives [`Encode`]. Last lines
/// `..rest: Other` add the attributes of other such structs to the block.
///
/// [`Encode`]: crate::plugin::decode::Encode
///
/// ```
/// fgw::attributes! {
///     /// A door.
///     pub struct Door {
///         /// Its width in millimeters.
///         width: fgw::plugin::Input<i64> = required().check(fgw::plugin::Check::between(600, 1200)),
///         /// Its color.
///         color: fgw::plugin::Input<String> = default("white"),
///     }
/// }
/// ```
#[macro_export]
macro_rules! attributes {
    (
        $(#[$struct_attribute:meta])*
        pub struct $name:ident $(: $encode:ident)? {
            $(
                $(#[doc = $doc:literal])*
                $field:ident : $kind:ty = $builder:ident ( $($argument:expr),* ) $( . $more:ident ( $($more_argument:expr),* ) )*
            ),* $(,)?
            $( .. $rest:ident : $rest_kind:ty ),*
        }
    ) => {
        $(#[$struct_attribute])*
        #[derive(Clone, Debug, PartialEq)]
        pub struct $name {
            $(
                $(#[doc = $doc])*
                pub $field: $kind,
            )*
            $(
                /// The attributes that it shares with another struct.
                pub $rest: $rest_kind,
            )*
        }

        impl $crate::plugin::Nested for $name {
            fn attributes() -> Vec<$crate::plugin::Attribute> {
                let own = vec![$(
                    $crate::plugin::Attribute::new(
                        $crate::plugin::decode::name(stringify!($field)),
                        <$kind as $crate::plugin::FromValue>::attribute_type(),
                        concat!($($doc, "\n"),*),
                    )
                    .$builder($($argument),*)
                    $( .$more($($more_argument),*) )*
                ),*];
                own.into_iter()$( .chain(<$rest_kind as $crate::plugin::Nested>::attributes()) )*.collect()
            }

            fn decode(
                value: &$crate::plugin::Value,
                path: &$crate::plugin::AttributePath,
                problems: &mut Vec<$crate::plugin::Problem>,
            ) -> Option<Self> {
                // Every field is decoded before the first `?`, so that all problems are reported at once.
                $(
                    let $field = <$kind as $crate::plugin::FromValue>::from_value(
                        value.get($crate::plugin::decode::name(stringify!($field))),
                        &path.attribute($crate::plugin::decode::name(stringify!($field))),
                        problems,
                    );
                )*
                $( let $rest = <$rest_kind as $crate::plugin::Nested>::decode(value, path, problems); )*
                Some($name { $($field: $field?,)* $($rest: $rest?),* })
            }
        }

        impl $crate::plugin::FromValue for $name {
            fn attribute_type() -> $crate::plugin::AttributeType {
                $crate::plugin::AttributeType::Nested(
                    $crate::plugin::Nesting::Single,
                    <$name as $crate::plugin::Nested>::attributes(),
                )
            }

            fn from_value(
                value: &$crate::plugin::Value,
                path: &$crate::plugin::AttributePath,
                problems: &mut Vec<$crate::plugin::Problem>,
            ) -> Option<Self> {
                match value {
                    $crate::plugin::Value::Map(_) => <$name as $crate::plugin::Nested>::decode(value, path, problems),
                    other => $crate::plugin::decode::type_mismatch(other, path, problems),
                }
            }
        }

        $crate::attributes!(@encode [$($encode)?] $name { $($field),* } { $($rest),* });
    };
    (@encode [] $name:ident { $($field:ident),* } { $($rest:ident),* }) => {};
    (@encode [Encode] $name:ident { $($field:ident),* } { $($rest:ident),* }) => {
        impl $crate::plugin::Encode for $name {
            fn encode(&self) -> $crate::plugin::Value {
                let own = [$(($crate::plugin::decode::name(stringify!($field)).to_string(), self.$field.clone().into())),*];
                let rest = std::iter::empty()$( .chain($crate::plugin::Encode::encode(&self.$rest).into_map()) )*;
                $crate::plugin::Value::map(own.into_iter().chain(rest))
            }
        }

        impl From<$name> for $crate::plugin::Value {
            fn from(it: $name) -> $crate::plugin::Value {
                $crate::plugin::Encode::encode(&it)
            }
        }
    };
}

/// The name of the attribute that a field declares. A trailing underscore allows an attribute whose name is a Rust
/// keyword, such as `self_`, and is not part of the name.
pub fn name(field: &str) -> &str {
    field.strip_suffix('_').unwrap_or(field)
}

/// Reports a value that is null, unknown or of the wrong type.
pub fn type_mismatch<T>(value: &Value, path: &AttributePath, problems: &mut Vec<Problem>) -> Option<T> {
    let (message, hint) = match value {
        Value::Null => ("The value must not be null.".to_string(), "Set a value or remove the attribute."),
        Value::Unknown => (
            "The value must be known, but it is known only after apply.".to_string(),
            "Use a value that is known during planning.",
        ),
        other => (format!("{other} has the wrong type."), "Use a value of the type in the documentation."),
    };
    problems.push(Problem::new(path.clone(), message, hint));
    None
}

fn plain<T: FromValue>() -> Type {
    T::attribute_type().value_type()
}

impl FromValue for bool {
    fn attribute_type() -> AttributeType {
        AttributeType::Plain(Type::Bool)
    }

    fn from_value(value: &Value, path: &AttributePath, problems: &mut Vec<Problem>) -> Option<bool> {
        match value {
            Value::Bool(value) => Some(*value),
            other => type_mismatch(other, path, problems),
        }
    }
}

impl FromValue for i64 {
    fn attribute_type() -> AttributeType {
        AttributeType::Plain(Type::Number)
    }

    fn from_value(value: &Value, path: &AttributePath, problems: &mut Vec<Problem>) -> Option<i64> {
        match value {
            Value::Number(number) => match number.as_i64() {
                Some(number) => Some(number),
                None => {
                    let message = format!("{number} is not a 64-bit integer.");
                    problems.push(Problem::new(path.clone(), message, "Use a whole number."));
                    None
                }
            },
            other => type_mismatch(other, path, problems),
        }
    }
}

impl FromValue for f64 {
    fn attribute_type() -> AttributeType {
        AttributeType::Plain(Type::Number)
    }

    fn from_value(value: &Value, path: &AttributePath, problems: &mut Vec<Problem>) -> Option<f64> {
        match value {
            Value::Number(number) => Some(number.as_f64()),
            other => type_mismatch(other, path, problems),
        }
    }
}

impl FromValue for String {
    fn attribute_type() -> AttributeType {
        AttributeType::Plain(Type::String)
    }

    fn from_value(value: &Value, path: &AttributePath, problems: &mut Vec<Problem>) -> Option<String> {
        match value {
            Value::String(text) => Some(text.clone()),
            other => type_mismatch(other, path, problems),
        }
    }
}

impl<T: FromValue> FromValue for Option<T> {
    fn attribute_type() -> AttributeType {
        T::attribute_type()
    }

    fn from_value(value: &Value, path: &AttributePath, problems: &mut Vec<Problem>) -> Option<Option<T>> {
        match value {
            Value::Null => Some(None),
            other => T::from_value(other, path, problems).map(Some),
        }
    }
}

impl<T: FromValue> FromValue for Input<T> {
    fn attribute_type() -> AttributeType {
        T::attribute_type()
    }

    fn from_value(value: &Value, path: &AttributePath, problems: &mut Vec<Problem>) -> Option<Input<T>> {
        match value {
            Value::Unknown => Some(Input::Unknown),
            other => T::from_value(other, path, problems).map(Input::Known),
        }
    }
}

impl<T: FromValue> FromValue for Vec<T> {
    fn attribute_type() -> AttributeType {
        match T::attribute_type() {
            AttributeType::Nested(Nesting::Single, attributes) => AttributeType::Nested(Nesting::List, attributes),
            _ => AttributeType::Plain(Type::List(Box::new(plain::<T>()))),
        }
    }

    fn from_value(value: &Value, path: &AttributePath, problems: &mut Vec<Problem>) -> Option<Vec<T>> {
        let Value::List(items) = value else { return type_mismatch(value, path, problems) };
        let decoded: Vec<Option<T>> =
            items.iter().enumerate().map(|(index, item)| T::from_value(item, &path.index(index), problems)).collect();
        decoded.into_iter().collect()
    }
}

impl<T: FromValue + Ord> FromValue for BTreeSet<T> {
    fn attribute_type() -> AttributeType {
        AttributeType::Plain(Type::Set(Box::new(plain::<T>())))
    }

    fn from_value(value: &Value, path: &AttributePath, problems: &mut Vec<Problem>) -> Option<BTreeSet<T>> {
        let Value::List(items) = value else { return type_mismatch(value, path, problems) };
        // Terraform has no path for an element of a set.
        let decoded: Vec<Option<T>> = items.iter().map(|item| T::from_value(item, path, problems)).collect();
        decoded.into_iter().collect()
    }
}

/// In a map of strings, an element that is null counts as absent: modules pass optional variables there.
impl<T: FromValue> FromValue for BTreeMap<String, T> {
    fn attribute_type() -> AttributeType {
        match T::attribute_type() {
            AttributeType::Nested(Nesting::Single, attributes) => AttributeType::Nested(Nesting::Map, attributes),
            _ => AttributeType::Plain(Type::Map(Box::new(plain::<T>()))),
        }
    }

    fn from_value(value: &Value, path: &AttributePath, problems: &mut Vec<Problem>) -> Option<BTreeMap<String, T>> {
        let Value::Map(entries) = value else { return type_mismatch(value, path, problems) };
        let omits_nulls = T::attribute_type() == AttributeType::Plain(Type::String);
        let decoded: Vec<Option<(String, T)>> = entries
            .iter()
            .filter(|(_, item)| !(omits_nulls && item.is_null()))
            .map(|(key, item)| Some((key.clone(), T::from_value(item, &path.key(key), problems)?)))
            .collect();
        decoded.into_iter().collect()
    }
}
