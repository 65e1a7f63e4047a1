//! The subscription filter of a log group.

use serde::{Deserialize, Serialize};

use crate::model::OnDelete::Restrict;
use crate::model::spec::kind::{Counterpart, Identity, Kind, WhenInUse, of};
use crate::model::{Claim, Key, Learned, LeftBehind, Need};
use crate::plugin::Input;

/// The subscription filter of the log group. Key `log_subscription`, fixed by the group's name. Its ID is
/// `<group>|<filter>`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LogSubscription {
    /// The log group whose events are forwarded.
    pub log_group: Key,
    /// ARN of the function or stream that receives them.
    pub destination_arn: Input<String>,
    /// The filter pattern; the empty pattern matches all events.
    pub filter_pattern: Input<String>,
    /// ARN of the role that CloudWatch Logs assumes to write to a stream.
    pub role_arn: Input<Option<String>>,
    /// `Random` or `ByLogStream` for a Kinesis stream; the value that AWS returns for other destinations is ignored.
    pub distribution: Input<Option<String>>,
    /// The permission to call the function; `None` for a stream and for a function in another account.
    pub permission: Option<Key>,
}

impl LogSubscription {
    /// The start of the names of the filters that this provider creates.
    const PREFIX: &'static str = "fgw-access-logs-";

    /// The name of the filter of an API. AWS replaces the filter of a group that has the name in a call, so the name
    /// contains the owner: the gateways that forward one group have one filter each.
    pub fn name_for(api_id: &str) -> String {
        format!("{}{api_id}", LogSubscription::PREFIX)
    }

    /// Whether a filter with this name is that of another API.
    pub fn is_of_another(name: &str, api_id: &str) -> bool {
        name.starts_with(LogSubscription::PREFIX) && name != LogSubscription::name_for(api_id)
    }

    /// The ID of a filter. The name of a log group cannot contain a vertical bar.
    pub fn id(log_group: &str, name: &str) -> String {
        format!("{log_group}|{name}")
    }

    /// The name of the log group and that of the filter in an ID.
    pub fn names_in(id: &str) -> Option<(&str, &str)> {
        id.split_once('|')
    }
}

impl Kind for LogSubscription {
    fn kind(&self) -> &'static str {
        "subscription filter"
    }

    fn identity(&self) -> Identity {
        Identity::Key("a gateway has one")
    }

    fn counterpart(&self) -> Counterpart {
        Counterpart {
            description: "Forwards log events to a function or a stream.",
            resource: "aws_cloudwatch_log_subscription_filter",
            import_id: "GROUP|NAME",
            attributes: &[
                ("log_group", &["log_group_name"]),
                ("destination_arn", &["destination_arn"]),
                ("filter_pattern", &["filter_pattern"]),
                ("role_arn", &["role_arn"]),
                ("distribution", &["distribution"]),
                ("permission", &[]),
            ],
        }
    }

    fn when_in_use(&self) -> WhenInUse {
        WhenInUse::Deleted
    }

    /// Inputs express all settings of the filter that the provider creates.
    fn left_behind(&self, _learned: &Learned, _new: &dyn Kind) -> Vec<LeftBehind> {
        Vec::new()
    }

    fn needs(&self) -> Vec<Need> {
        let mut needs = vec![Need::new(&self.log_group, Restrict)];
        needs.extend(self.permission.iter().map(|permission| Need::new(permission, Restrict)));
        needs
    }

    fn parent(&self) -> Option<&Key> {
        Some(&self.log_group)
    }

    fn claims(&self) -> Vec<Claim> {
        vec![Claim::SubscriptionOf { log_group: self.log_group.clone() }]
    }

    /// AWS returns the default distribution only for some destinations.
    fn mask_unowned(&mut self, wanted: &dyn Kind) {
        let Some(wanted) = of::<LogSubscription>(wanted) else { return };
        let is_default = |it: &Input<Option<String>>| it.known().is_some_and(|it| it.as_deref() != Some("Random"));
        if is_default(&self.distribution) && is_default(&wanted.distribution) {
            self.distribution = wanted.distribution.clone();
        }
    }
}
