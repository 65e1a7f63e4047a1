//! CloudWatch log groups.

use serde::{Deserialize, Serialize};

use crate::model::OnDelete::NoAction;
use crate::model::keys::network;
use crate::model::spec::kind::{Counterpart, Identity, Kind, WhenInUse, of, tagged};
use crate::model::{Claim, Key, Learned, LeftBehind, Need, Tags, only, printable};
use crate::plugin::{Check, Input, Number, Value};

/// The log group of access logs or of a flow log. Key `log_group` or `log_group.flow_log.<name>`, fixed by name.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LogGroup {
    /// The API or VPC, which a log group does not need, but which must exist first (see [`super::Eip::vpc`]).
    pub root: Key,
    /// Name of the group.
    pub name: Input<String>,
    /// Retention period in days; `None` if log events never expire.
    pub retention_in_days: Input<Option<i64>>,
    /// ARN of the KMS key that encrypts its events; `None` for the encryption of CloudWatch Logs itself. CloudWatch
    /// Logs does not accept key IDs and aliases.
    pub kms_key_arn: Input<Option<String>>,
    /// Whether its deletion leaves it in AWS with its events and without the tags of the provider.
    pub skip_destroy: Input<bool>,
    /// Tags.
    pub tags: Tags,
}

impl LogGroup {
    /// The name of the setting in `unexpressed` for a policy that masks personal data in new events.
    pub const DATA_PROTECTION: &'static str = "data_protection_status";

    /// The name of the setting in `unexpressed` with which AWS rejects the deletion of a group.
    pub const DELETION_PROTECTION: &'static str = "deletion_protection_enabled";

    /// The name of the number of metric filters in `unexpressed`.
    pub const METRIC_FILTERS: &'static str = "metric filters";

    /// The retention periods that CloudWatch Logs supports, in days, and 0 for events that never expire, as in
    /// hashicorp/aws.
    const RETENTIONS: [i64; 23] =
        [0, 1, 3, 5, 7, 14, 30, 60, 90, 120, 150, 180, 365, 400, 545, 731, 1096, 1827, 2192, 2557, 2922, 3288, 3653];

    /// The check of an input with a retention period.
    pub(crate) fn retention() -> Check {
        let rule = format!("one of {} days", LogGroup::RETENTIONS.map(|it| it.to_string()).join(", "));
        Check::new(rule, move |value| match value {
            Value::Number(Number::Int(days)) if LogGroup::RETENTIONS.contains(days) => Ok(()),
            Value::Number(_) => Err(format!("{value} days are not a retention period of CloudWatch Logs.")),
            _ => Ok(()),
        })
    }

    /// The period of such an input. CloudWatch Logs expresses events that never expire by the absence of a period.
    pub(crate) fn period(input: &Input<Option<i64>>) -> Input<Option<i64>> {
        input.clone().map(|days| days.filter(|days| *days != 0))
    }

    /// The name of the group in an ARN.
    pub fn name_in(arn: &str) -> Option<&str> {
        let name = arn.split_once(":log-group:")?.1;
        Some(name.strip_suffix(":*").unwrap_or(name))
    }

    /// Whether an ARN may contain this name.
    pub(crate) fn is_name(name: &str) -> bool {
        !name.is_empty() && name.len() <= 512 && only(name, "._-/#")
    }

    /// The command that turns off the deletion protection of a group.
    pub fn unprotecting(name: &str) -> String {
        format!(
            "aws logs put-log-group-deletion-protection --log-group-identifier {name} --no-deletion-protection-enabled"
        )
    }

    /// The check of an input with the name of a new group.
    pub(crate) fn new_name() -> Check {
        let rule = "a name of 1 to 512 letters, digits, and characters . _ - /, without \"aws/\" at the beginning";
        Check::text(rule, check_name)
    }
}

/// Checks the name of a new group. The error is a sentence.
fn check_name(name: &str) -> Result<(), String> {
    if name.is_empty() || name.len() > 512 {
        return Err(format!("{name:?} has {} characters; the name of a log group has 1 to 512.", name.len()));
    }
    // CreateLogGroup accepts it, but ListTagsForResource and TagResource reject an ARN with it.
    if name.contains('#') {
        return Err(format!("{name:?} contains \"#\", and CloudWatch Logs does not support tags on such a log group."));
    }
    if !only(name, "._-/") {
        return Err(format!("{name:?} is not a valid name of a log group."));
    }
    if name.starts_with("aws/") {
        return Err(format!("{name:?} starts with \"aws/\", which AWS reserves."));
    }
    Ok(())
}

impl Kind for LogGroup {
    fn kind(&self) -> &'static str {
        "log group"
    }

    fn identity(&self) -> Identity {
        Identity::Fixed { slots: network::FLOW_LOG_GROUP, input: "flow_logs" }
    }

    fn counterpart(&self) -> Counterpart {
        Counterpart {
            description: "The destination of access logs or of a flow log.",
            resource: "aws_cloudwatch_log_group",
            import_id: "NAME",
            attributes: &[
                ("root", &[]),
                ("name", &["name"]),
                ("retention_in_days", &["retention_in_days"]),
                ("kms_key_arn", &["kms_key_id"]),
                ("skip_destroy", &["skip_destroy"]),
                ("tags", &["tags"]),
            ],
        }
    }

    fn when_in_use(&self) -> WhenInUse {
        WhenInUse::Deleted
    }

    /// Its class, its metric filters and its protection of personal data, which the events in a new group lack.
    fn left_behind(&self, learned: &Learned, _new: &dyn Kind) -> Vec<LeftBehind> {
        let mut others = learned.clone();
        let protection = others.unexpressed.remove(LogGroup::DATA_PROTECTION).map(|status| {
            let remedy = "Create the new group with its policy outside this resource, and set the input of an existing \
                          destination to its ARN, in place of the name of a group.";
            LeftBehind::protecting(format!("{} {}", LogGroup::DATA_PROTECTION, printable(&status)), remedy)
        });
        protection.into_iter().chain(others.left_behind()).collect()
    }

    fn is_protected_by_settings(&self) -> bool {
        true
    }

    fn needs(&self) -> Vec<Need> {
        vec![Need::of_id(&self.root, NoAction)]
    }

    fn claims(&self) -> Vec<Claim> {
        vec![Claim::LogGroup { name: self.name.clone() }]
    }

    tagged!();

    fn is_irrecoverable(&self) -> bool {
        !self.stays_when_deleted()
    }

    fn stays_when_deleted(&self) -> bool {
        self.skip_destroy == Input::Known(true)
    }

    fn lost_when_deleted(&self, learned: &Learned) -> Option<String> {
        let filters = learned.unexpressed.get(LogGroup::METRIC_FILTERS);
        let filters = filters.map(|count| format!(", and so are its metric filters ({count})")).unwrap_or_default();
        self.is_irrecoverable().then(|| format!("its log events are lost{filters}"))
    }

    fn holds_subscription_filters(&self) -> bool {
        true
    }

    fn command_to_unprotect(&self, learned: &Learned) -> Option<String> {
        learned.unexpressed.get(LogGroup::DELETION_PROTECTION)?;
        self.name.known().map(|name| LogGroup::unprotecting(name))
    }

    /// One that the configuration keeps can be used again: its events stay, and nothing else of it changes.
    fn uses_existing(&self) -> Option<bool> {
        Some(self.stays_when_deleted())
    }

    fn take_forms(&mut self, other: &dyn Kind) {
        self.take_unstored(other);
    }

    /// Its root, and whether it is kept.
    fn take_unstored(&mut self, earlier: &dyn Kind) {
        if let Some(earlier) = of::<LogGroup>(earlier).filter(|earlier| earlier.name == self.name) {
            self.root = earlier.root.clone();
            self.skip_destroy = earlier.skip_destroy.clone();
        }
    }
}
