//! The places for objects in the type of an attribute.

use std::collections::BTreeMap;

use crate::plugin::{Attribute, AttributeType, Mode, Nesting, Type};

/// The shape of a value.
#[derive(Clone, Copy)]
pub(super) enum Shape<'a> {
    Object(Names<'a>),
    /// A list, set or map.
    Collection(Elements<'a>),
    /// A value without named parts.
    Plain,
}

/// The names of an object.
#[derive(Clone, Copy)]
pub(super) enum Names<'a> {
    Attributes(&'a [Attribute]),
    Fields(&'a BTreeMap<String, Type>),
}

/// The elements of a collection.
#[derive(Clone, Copy)]
pub(super) enum Elements<'a> {
    Objects(&'a [Attribute]),
    Values(&'a Type),
}

impl<'a> Shape<'a> {
    pub(super) fn of(kind: &'a AttributeType) -> Shape<'a> {
        match kind {
            AttributeType::Plain(kind) => Shape::of_type(kind),
            AttributeType::Nested(Nesting::Single, attributes) => Shape::Object(Names::Attributes(attributes)),
            AttributeType::Nested(Nesting::List | Nesting::Map, attributes) => {
                Shape::Collection(Elements::Objects(attributes))
            }
        }
    }

    fn of_type(kind: &'a Type) -> Shape<'a> {
        match kind {
            Type::List(element) | Type::Set(element) | Type::Map(element) => {
                Shape::Collection(Elements::Values(element))
            }
            Type::Object(fields) => Shape::Object(Names::Fields(fields)),
            Type::Bool | Type::Number | Type::String | Type::Tuple(_) | Type::Dynamic => Shape::Plain,
        }
    }
}

impl<'a> Elements<'a> {
    pub(super) fn shape(self) -> Shape<'a> {
        match self {
            Elements::Objects(attributes) => Shape::Object(Names::Attributes(attributes)),
            Elements::Values(kind) => Shape::of_type(kind),
        }
    }
}

impl<'a> Names<'a> {
    /// The shape of the value with this name. `None` if there is no such name.
    pub(super) fn get(self, name: &str) -> Option<Shape<'a>> {
        match self {
            Names::Attributes(attributes) => attributes.iter().find(|it| it.name == name).map(|it| Shape::of(&it.kind)),
            Names::Fields(fields) => fields.get(name).map(Shape::of_type),
        }
    }

    /// The names that a configuration may set.
    pub(super) fn settable(self) -> Vec<&'a str> {
        match self {
            Names::Attributes(attributes) => {
                attributes.iter().filter(|it| it.mode != Mode::Computed).map(|it| it.name.as_str()).collect()
            }
            Names::Fields(fields) => fields.keys().map(String::as_str).collect(),
        }
    }
}
