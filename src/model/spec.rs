//! The kinds of AWS objects, one file each, in the order of creation.
//!
//! A spec contains all inputs of an object in AWS's terms and refers to other objects by key.

mod gateway;
mod kind;
mod network;
mod phrases;
#[cfg(test)]
mod changes;
mod references;
#[cfg(test)]
mod test;
mod units;

use std::collections::BTreeSet;
use std::ops::{Deref, DerefMut};

use serde::{Deserialize, Serialize};

use super::{Key, Ref};
use crate::plugin::Input;

pub use gateway::*;
pub use kind::{Counterpart, Identity, Kind, WhenInUse};
pub use network::*;
pub use units::{MergeContext, Merged};

/// Declares [`Spec`], and `of` for each kind.
macro_rules! kinds {
    ($($kind:ident,)*) => {
        /// The inputs of one object.
        #[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
        #[serde(tag = "kind", rename_all = "snake_case")]
        #[expect(missing_docs, reason = "each variant is named after the struct that it holds")]
        pub enum Spec {
            $($kind($kind),)*
        }

        impl Deref for Spec {
            type Target = dyn Kind;

            fn deref(&self) -> &Self::Target {
                match self {
                    $(Spec::$kind(it) => it,)*
                }
            }
        }

        impl DerefMut for Spec {
            fn deref_mut(&mut self) -> &mut Self::Target {
                match self {
                    $(Spec::$kind(it) => it,)*
                }
            }
        }

        #[cfg(test)]
        impl Spec {
            /// A spec of each kind, for tests of statements about all kinds.
            pub(crate) fn of_each_kind() -> Vec<Spec> {
                vec![$(Spec::$kind($kind::test()),)*]
            }
        }

        $(
            impl $kind {
                /// The object of this kind that a spec describes; `None` if it is of another kind.
                pub fn of(spec: &Spec) -> Option<&$kind> {
                    match spec {
                        Spec::$kind(it) => Some(it),
                        _ => None,
                    }
                }
            }

            impl From<$kind> for Spec {
                fn from(it: $kind) -> Spec {
                    Spec::$kind(it)
                }
            }
        )*
    };
}

kinds! {
    Vpc,
    VpcCidrBlock,
    VpcIpv6Block,
    InternetGateway,
    EgressOnlyInternetGateway,
    Subnet,
    RouteTable,
    RouteTableAssociation,
    Eip,
    NatGateway,
    Route,
    VpcEndpoint,
    FlowLog,
    SecurityGroup,
    InterfaceEndpoint,
    DefaultNetworkAcl,
    DefaultSecurityGroup,
    Api,
    Authorizer,
    JwtAuthorizer,
    LambdaPermission,
    VpcLink,
    Integration,
    ApiRoute,
    LogGroup,
    LogSubscription,
    Stage,
    DomainName,
    ApiMapping,
    DnsRecord,
}

impl Spec {
    /// The object as its kind.
    pub fn as_kind(&self) -> &dyn Kind {
        &**self
    }

    /// Adds the tags and propagating gateways of another spec that are missing in this one. They are managed one by
    /// one, and those of both specs are managed from now on.
    pub fn merge(&mut self, other: &Spec) {
        if let (Some(Input::Known(tags)), Some(Input::Known(others))) = (self.tags_mut(), other.tags()) {
            for (key, value) in others {
                tags.entry(key.clone()).or_insert_with(|| value.clone());
            }
        }
        self.merge_owned(other.as_kind());
    }

    /// The spec to record when the create of this object begins. Until the create has succeeded, what it does last has
    /// not been done.
    #[must_use]
    pub fn of_begun_create(&self) -> Spec {
        let mut spec = self.clone();
        spec.begin_create();
        spec
    }

    /// The same spec with another target; `None` if it has no target.
    pub fn with_target(&self, target: Ref) -> Option<Spec> {
        let mut spec = self.clone();
        *spec.target_mut()? = target;
        Some(spec)
    }

    /// This spec with the parts of `before` that depend on the attachment of unmanaged objects or, if there is no
    /// `before`, without such parts; `None` if this spec has the same parts.
    pub fn with_attached_parts_of(&self, before: Option<&Spec>) -> Option<Spec> {
        let mut spec = self.clone();
        spec.take_attached_parts_of(before.map(Spec::as_kind));
        (spec != *self).then_some(spec)
    }

    /// This spec before what changes only when all creates and other updates are done, with the references in `before`
    /// to objects with these keys, which the object can keep until those objects are deleted; `None` if it is the same.
    pub fn keeping_references(&self, before: &Spec, keys: &BTreeSet<Key>) -> Option<Spec> {
        let mut spec = self.clone();
        spec.keep_references(before.as_kind(), keys);
        spec.hold_back(before.as_kind());
        (spec != *self).then_some(spec)
    }

    /// This spec without its references to objects with these keys, as the first of two steps to `to`; `None` if one
    /// step is enough, because it leaves none of them or gets no others instead.
    pub fn leaving(&self, keys: &BTreeSet<Key>, to: &Spec) -> Option<Spec> {
        let mut spec = self.clone();
        spec.leave(keys);
        (spec != *self && spec.needs() != to.needs()).then_some(spec)
    }

    /// This spec, which serves what AWS has deployed and not the changes that follow.
    #[must_use]
    pub fn suspended(&self) -> Spec {
        let mut spec = self.clone();
        spec.suspend_deployment();
        spec
    }

    /// This spec without what protects what the object serves.
    #[must_use]
    pub fn without_protection(&self) -> Spec {
        let mut spec = self.clone();
        spec.drop_protection();
        spec
    }

    /// This spec after the creation of another object of the topology, which AWS may let change this one.
    #[must_use]
    pub fn after_creation_of(mut self, created: &Spec) -> Spec {
        self.follow_creation_of(created.as_kind());
        self
    }

    /// Whether every input is known.
    pub fn is_known(&self) -> bool {
        !contains_unknown(&self.fields())
    }

    /// The differences of another spec of the same kind from this one, for messages: one phrase per field, with both
    /// values or, for a list, with the elements that only the other spec (`+`) or only this one has (`-`). For tags,
    /// the phrases contain only keys, because the values may be confidential.
    pub fn differences(&self, other: &Spec) -> Vec<String> {
        let (mine, others) = (self.fields(), other.fields());
        let mut differences = Vec::new();
        for (field, value) in &mine {
            let other = others.get(field).unwrap_or(&serde_json::Value::Null);
            if value == other {
                continue;
            }
            differences.extend(phrases::differences(field, value, other));
        }
        differences
    }

    /// The differences of an existing object from this spec because of which a create does not use it: all but tags,
    /// which it keeps, and what AWS does not store.
    pub fn differences_in_use(&self, existing: &Spec) -> Vec<String> {
        let mut existing = existing.clone();
        existing.take_forms(self.as_kind());
        if let (Some(tags), Some(own)) = (existing.tags_mut(), self.tags()) {
            tags.clone_from(own);
        }
        self.differences(&existing)
    }

    fn fields(&self) -> serde_json::Map<String, serde_json::Value> {
        match serde_json::to_value(self) {
            Ok(serde_json::Value::Object(fields)) => fields,
            _ => serde_json::Map::new(),
        }
    }
}

fn contains_unknown(fields: &serde_json::Map<String, serde_json::Value>) -> bool {
    fn unknown(value: &serde_json::Value) -> bool {
        match value {
            serde_json::Value::Array(items) => items.iter().any(unknown),
            serde_json::Value::Object(fields) => {
                fields.contains_key(crate::plugin::decode::UNKNOWN) || fields.values().any(unknown)
            }
            _ => false,
        }
    }
    fields.values().any(unknown)
}
