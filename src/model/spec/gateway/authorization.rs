//! The authorization of routes.

use std::collections::BTreeSet;
use std::fmt::{self, Display, Formatter};

use serde::{Deserialize, Serialize};

use crate::model::Ref;
use crate::plugin::Input;

/// The requests that a route accepts. AWS sets all of it with one call.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(from = "Stored")]
pub struct Authorization {
    /// The type.
    #[serde(rename = "type")]
    pub kind: AuthorizationType,
    /// The authorizer, for the types `CUSTOM` and `JWT`.
    pub authorizer: Option<Ref>,
    /// The scopes of which a token needs one, for the type `JWT`; empty if it needs none.
    pub scopes: Input<BTreeSet<String>>,
}

/// A type of authorization, under its name in AWS.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum AuthorizationType {
    /// Everyone may send requests.
    #[default]
    None,
    /// Requests need a signature, and a policy of the signer that allows them.
    AwsIam,
    /// A REQUEST authorizer decides.
    Custom,
    /// A JWT authorizer decides.
    Jwt,
    /// A type that this provider never sets.
    #[serde(untagged)]
    Other(String),
}

impl AuthorizationType {
    /// The type with this name.
    pub fn named(name: &str) -> AuthorizationType {
        use AuthorizationType::{AwsIam, Custom, Jwt, None, Other};
        let known = [None, AwsIam, Custom, Jwt].into_iter().find(|it| it.name() == name);
        known.unwrap_or_else(|| Other(name.to_string()))
    }

    /// Its name.
    pub fn name(&self) -> &str {
        match self {
            AuthorizationType::None => "NONE",
            AuthorizationType::AwsIam => "AWS_IAM",
            AuthorizationType::Custom => "CUSTOM",
            AuthorizationType::Jwt => "JWT",
            AuthorizationType::Other(name) => name,
        }
    }
}

impl Authorization {
    /// That of a route with a REQUEST authorizer.
    pub fn custom(authorizer: Ref) -> Authorization {
        Authorization {
            kind: AuthorizationType::Custom,
            authorizer: Some(authorizer),
            scopes: Input::Known(BTreeSet::new()),
        }
    }

    /// The ID of an authorizer that is not referred to by its key.
    pub fn authorizer_id(&self) -> Option<&str> {
        match &self.authorizer {
            Some(Ref::Id(id)) => Some(id),
            _ => None,
        }
    }

    /// Whether a route with this authorization accepts every request.
    pub fn is_public(&self) -> bool {
        self.kind == AuthorizationType::None
    }

    /// Whether this authorization accepts requests that the other one rejects, as far as they can be compared: those of
    /// different authorizers cannot.
    pub fn is_weaker_than(&self, other: &Authorization) -> bool {
        let is_same = self.kind == other.kind && self.authorizer == other.authorizer;
        match (&self.scopes, &other.scopes) {
            _ if self.is_public() => !other.is_public(),
            (Input::Known(scopes), Input::Known(others)) if is_same && !others.is_empty() => {
                scopes.is_empty() || !scopes.is_subset(others)
            }
            _ => false,
        }
    }
}

/// That of a type without an authorizer.
impl From<AuthorizationType> for Authorization {
    fn from(kind: AuthorizationType) -> Authorization {
        Authorization { kind, ..Authorization::default() }
    }
}

impl Display for Authorization {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        out.write_str(self.kind.name())?;
        match &self.authorizer {
            Some(Ref::Key(key)) => write!(out, " by {}", key.slot)?,
            Some(Ref::Id(id)) => write!(out, " by {id}")?,
            None => {}
        }
        match &self.scopes {
            Input::Unknown => out.write_str(" for scopes known after apply"),
            Input::Known(scopes) if scopes.is_empty() => Ok(()),
            Input::Known(scopes) => write!(out, " for {}", Vec::from_iter(scopes.iter().cloned()).join(" or ")),
        }
    }
}

/// An authorization in a state.
#[derive(Deserialize)]
#[serde(untagged)]
enum Stored {
    Authorization {
        r#type: AuthorizationType,
        authorizer: Option<Ref>,
        scopes: Input<BTreeSet<String>>,
    },
    /// That of an earlier version: a REQUEST authorizer, the name of a type without an authorizer, or nothing.
    Authorizer(Option<Ref>),
    /// The same of an unmanaged route.
    Protection(String),
}

impl From<Stored> for Authorization {
    fn from(stored: Stored) -> Authorization {
        match stored {
            Stored::Authorization { r#type, authorizer, scopes } => Authorization { kind: r#type, authorizer, scopes },
            Stored::Authorizer(None) => Authorization::default(),
            Stored::Authorizer(Some(Ref::Id(id))) | Stored::Protection(id) => match id.as_str() {
                "AWS_IAM" => AuthorizationType::AwsIam.into(),
                _ => Authorization::custom(Ref::Id(id)),
            },
            Stored::Authorizer(Some(authorizer)) => Authorization::custom(authorizer),
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::model::Key;

    fn jwt(name: &str, scopes: &[&str]) -> Authorization {
        Authorization {
            kind: AuthorizationType::Jwt,
            authorizer: Some(Ref::Key(Key::new(name))),
            scopes: Input::Known(scopes.iter().map(|it| it.to_string()).collect()),
        }
    }

    #[test]
    fn states_of_earlier_versions_are_read() {
        let guard = Authorization::custom(Ref::Key(Key::new("authorizer.guard")));
        let iam = Authorization::from(AuthorizationType::AwsIam);
        for (stored, expected) in [
            (json!(null), Authorization::default()),
            (json!({ "key": Key::new("authorizer.guard") }), guard.clone()),
            (json!({ "id": "AWS_IAM" }), iam.clone()),
            (json!("AWS_IAM"), iam.clone()),
            (json!("a1b2c3"), Authorization::custom(Ref::Id("a1b2c3".into()))),
            (json!({ "id": "a1b2c3" }), Authorization::custom(Ref::Id("a1b2c3".into()))),
        ] {
            assert_eq!(serde_json::from_value::<Authorization>(stored).unwrap(), expected);
        }
        let other = Authorization::from(AuthorizationType::named("COGNITO"));
        let unknown = Authorization { scopes: Input::Unknown, ..jwt("a", &[]) };
        for authorization in [Authorization::default(), guard, iam, other, unknown, jwt("a", &["b", "a"])] {
            let stored = serde_json::to_value(&authorization).unwrap();
            assert_eq!(serde_json::from_value::<Authorization>(stored).unwrap(), authorization);
        }
    }

    #[test]
    fn an_authorization_is_weaker_if_it_accepts_more_requests() {
        let (public, guard) = (Authorization::default(), Authorization::custom(Ref::Key(Key::new("guard"))));
        for (one, other, is_weaker) in [
            (&public, &guard, true),
            (&public, &public, false),
            (&guard, &public, false),
            (&guard, &jwt("a", &["read"]), false),
            (&jwt("a", &[]), &jwt("a", &["read"]), true),
            (&jwt("a", &["read", "write"]), &jwt("a", &["read"]), true),
            (&jwt("a", &["read"]), &jwt("a", &["read", "write"]), false),
            (&jwt("a", &["read"]), &jwt("a", &[]), false),
            (&jwt("b", &[]), &jwt("a", &["read"]), false),
        ] {
            assert_eq!(one.is_weaker_than(other), is_weaker, "{one} and {other}");
        }
    }
}
