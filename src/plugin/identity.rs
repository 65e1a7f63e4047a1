//! The identity of a resource: a few attributes that are enough to import it.

use std::collections::BTreeMap;

use super::proto::tfplugin6 as pb;
use super::{Diagnostics, Problem, Type, Value, json, msgpack, types};

/// An attribute of an identity. Its value is a string.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct IdentityAttribute {
    /// The name.
    pub name: &'static str,
    /// Whether an import by identity must set it. Otherwise it may be null.
    pub is_required: bool,
    /// The meaning, one line.
    pub description: &'static str,
}

/// What an import is given.
#[derive(Clone, Debug, PartialEq)]
pub enum ImportTarget {
    /// The import ID.
    Id(String),
    /// The identity, an object of the attributes of [`Resource::identity_schema`](super::Resource::identity_schema).
    Identity(Value),
}

/// Describes the target in messages: the ID, or the attributes of the identity that are set.
impl std::fmt::Display for ImportTarget {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            ImportTarget::Id(id) => write!(formatter, "{id:?}"),
            ImportTarget::Identity(identity) => {
                let given = identity.as_map().into_iter().flatten();
                let given = given.filter_map(|(name, value)| Some(format!("{name} = {:?}", value.as_str()?)));
                write!(formatter, "{{ {} }}", given.collect::<Vec<_>>().join(", "))
            }
        }
    }
}

/// The version of every identity schema. Terraform compares it with that of a stored identity; a state without identity
/// has version 0.
pub(super) const VERSION: i64 = 0;

/// The identity of one resource type.
#[derive(Debug)]
pub(super) struct Identity(Vec<IdentityAttribute>);

impl Identity {
    /// `None` without attributes: the resource has no identity.
    pub(super) fn of(attributes: Vec<IdentityAttribute>) -> Option<Identity> {
        (!attributes.is_empty()).then_some(Identity(attributes))
    }

    pub(super) fn schema(&self) -> pb::ResourceIdentitySchema {
        let attribute = |it: &IdentityAttribute| pb::resource_identity_schema::IdentityAttribute {
            name: it.name.to_string(),
            r#type: types::to_json(&Type::String).to_string().into_bytes(),
            required_for_import: it.is_required,
            optional_for_import: !it.is_required,
            description: it.description.to_string(),
        };
        pb::ResourceIdentitySchema { version: VERSION, identity_attributes: self.0.iter().map(attribute).collect() }
    }

    /// Encodes an identity. One that does not match the schema is an error.
    pub(super) fn encode(&self, identity: &Value, diagnostics: &mut Diagnostics) -> Option<pb::ResourceIdentityData> {
        let (msgpack, problems) = msgpack::encode(identity, &self.kind());
        if problems.is_empty() {
            return Some(pb::ResourceIdentityData {
                identity_data: Some(pb::DynamicValue { msgpack, json: Vec::new() }),
            });
        }
        diagnostics.problems(problems);
        None
    }

    /// Decodes an identity from Terraform; `None` if it is absent or null.
    pub(super) fn decode(&self, identity: Option<pb::ResourceIdentityData>) -> Result<Option<Value>, Problem> {
        let Some(data) = identity.and_then(|identity| identity.identity_data) else { return Ok(None) };
        let value = match data.msgpack.is_empty() && data.json.is_empty() {
            true => Value::Null,
            false if data.msgpack.is_empty() => json::decode(&data.json, &self.kind())?,
            false => msgpack::decode(&data.msgpack, &self.kind())?,
        };
        Ok((!value.is_null()).then_some(value))
    }

    /// Decodes a stored identity.
    pub(super) fn decode_stored(&self, json: &[u8]) -> Result<Value, Problem> {
        json::decode(json, &self.kind())
    }

    fn kind(&self) -> Type {
        Type::Object(self.0.iter().map(|it| (it.name.to_string(), Type::String)).collect::<BTreeMap<_, _>>())
    }
}
