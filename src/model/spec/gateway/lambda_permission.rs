//! Statements in the policies of functions.

use serde::{Deserialize, Serialize};

use crate::model::OnDelete::{DeleteAfter, NoAction};
use crate::model::keys::gateway;
use crate::model::spec::kind::{Counterpart, Identity, Kind, WhenInUse, of};
use crate::model::{Caller, Claim, Key, Learned, LeftBehind, Need};
use crate::plugin::Input;

/// A statement in a function's policy that allows an AWS service to call it. Key `permission.<function>.<hash>`,
/// `authorizer_permission.<name>` or `subscription_permission`, fixed by function and qualifier, and the last one also
/// by the log group. The ID is the statement ID.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LambdaPermission {
    /// The API for which it is created.
    pub api: Key,
    /// Unqualified ARN of the function.
    pub function_arn: Input<String>,
    /// Alias or version, if the ARN contains one.
    pub qualifier: Input<Option<String>>,
    /// The service and object that may call.
    pub caller: Caller,
}

impl Kind for LambdaPermission {
    fn kind(&self) -> &'static str {
        "Lambda permission"
    }

    fn identity(&self) -> Identity {
        match &self.caller {
            Caller::Authorizer(_) => {
                Identity::Entry { slots: gateway::AUTHORIZER_PERMISSION, leader: gateway::AUTHORIZER }
            }
            Caller::Routes | Caller::LogGroup(_) => Identity::Key("its function is its key"),
        }
    }

    /// Its caller has the new key already.
    fn key_in(&self, key: &Key, slot: String) -> Key {
        let moved = Key { slot, ..key.clone() };
        match (&self.caller, &self.function_arn, &self.qualifier, key.fixed.known()) {
            // The key of a statement without effect is fixed by its ID instead.
            (Caller::Authorizer(authorizer), Input::Known(function), Input::Known(qualifier), Some(fixed))
                if fixed.starts_with(function.as_str()) =>
            {
                let fixed = gateway::authorizer_permission_of(authorizer, function, qualifier.as_deref()).fixed;
                Key { fixed, ..moved }
            }
            _ => moved,
        }
    }

    fn counterpart(&self) -> Counterpart {
        Counterpart {
            description: match &self.caller {
                Caller::Routes => {
                    "A statement in a function's policy that allows API Gateway to invoke it for the routes of this API."
                }
                Caller::Authorizer(_) => {
                    "A statement in a function's policy that allows API Gateway to invoke it for an authorizer."
                }
                Caller::LogGroup(_) => {
                    "A statement in a function's policy that allows CloudWatch Logs to send log events to it."
                }
            },
            resource: "aws_lambda_permission",
            import_id: "FUNCTION/STATEMENT_ID",
            attributes: &[
                ("api", &["source_arn"]),
                ("function_arn", &["function_name"]),
                ("qualifier", &["qualifier"]),
                ("caller", &["principal", "source_arn"]),
            ],
        }
    }

    fn when_in_use(&self) -> WhenInUse {
        WhenInUse::Deleted
    }

    /// The statement follows from the function and its caller.
    fn left_behind(&self, _learned: &Learned, _new: &dyn Kind) -> Vec<LeftBehind> {
        Vec::new()
    }

    fn needs(&self) -> Vec<Need> {
        let mut needs = vec![Need::of_id(&self.api, NoAction)];
        needs.extend(match &self.caller {
            Caller::Routes => None,
            // The statement contains the ID of the authorizer. An update of the authorizer may require the statement.
            Caller::Authorizer(authorizer) => Some(Need::of_id(authorizer, DeleteAfter)),
            Caller::LogGroup(group) => Some(Need::new(group, NoAction)),
        });
        needs
    }

    /// AWS limits the size of a policy.
    fn shares_quota_with(&self, other: &dyn Kind) -> bool {
        let policy = |it: &LambdaPermission| (it.function_arn.clone(), it.qualifier.clone());
        of::<LambdaPermission>(other).is_some_and(|other| policy(self) == policy(other))
    }

    fn claims(&self) -> Vec<Claim> {
        vec![Claim::Statement {
            function_arn: self.function_arn.clone(),
            qualifier: self.qualifier.clone(),
            caller: self.caller.clone(),
        }]
    }

    fn is_added_by_adoption(&self) -> bool {
        true
    }

    fn is_part_of_unmanaged_object(&self) -> bool {
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_policy_has_a_size_of_its_own() {
        let of = |function: &str, qualifier: Option<&str>| LambdaPermission {
            api: gateway::api(),
            function_arn: Input::Known(function.into()),
            qualifier: Input::Known(qualifier.map(str::to_string)),
            caller: Caller::Routes,
        };
        let permission = of("a", None);
        for (other, shares) in [(of("a", None), true), (of("b", None), false), (of("a", Some("live")), false)] {
            assert_eq!(permission.shares_quota_with(&other), shares, "{other:?}");
        }
    }
}
