//! The log group of access logs.

use serde::{Deserialize, Serialize};

use crate::model::OnDelete::NoAction;
use crate::model::spec::kind::{Counterpart, Kind, tagged};
use crate::model::{Claim, Key, Learned, Need, Tags};
use crate::plugin::Input;

/// The log group of access logs. Key `log_group`, fixed by name.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LogGroup {
    /// The API, which a log group does not need, but which must exist first (see [`super::Eip::vpc`]).
    pub api: Key,
    /// Name of the group.
    pub name: Input<String>,
    /// Retention period in days; `None` if log events never expire.
    pub retention_in_days: Input<Option<i64>>,
    /// ARN of the KMS key that encrypts its events; `None` for the encryption of CloudWatch Logs itself. CloudWatch
    /// Logs does not accept key IDs and aliases.
    pub kms_key_arn: Input<Option<String>>,
    /// Tags.
    pub tags: Tags,
}

impl Kind for LogGroup {
    fn kind(&self) -> &'static str {
        "log group"
    }

    fn counterpart(&self) -> Counterpart {
        Counterpart {
            resource: "aws_cloudwatch_log_group",
            import_id: "NAME",
            attributes: &[
                ("api", &[]),
                ("name", &["name"]),
                ("retention_in_days", &["retention_in_days"]),
                ("kms_key_arn", &["kms_key_id"]),
                ("tags", &["tags"]),
            ],
        }
    }

    fn needs(&self) -> Vec<Need> {
        vec![Need::new(&self.api, NoAction)]
    }

    fn claims(&self) -> Vec<Claim> {
        vec![Claim::LogGroup { name: self.name.clone() }]
    }

    tagged!();

    fn is_irrecoverable(&self) -> bool {
        true
    }

    fn lost_when_deleted(&self, _learned: &Learned) -> Option<String> {
        Some("its log events are lost".to_string())
    }
}
