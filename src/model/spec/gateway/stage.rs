//! The stage of an API.

use serde::{Deserialize, Serialize};

use crate::model::OnDelete::Restrict;
use crate::model::spec::kind::{Counterpart, Kind, of, tagged};
use crate::model::{Claim, Key, Need, Ref, Tags, is_same_format};
use crate::plugin::Input;

/// The stage `$default`, deployed automatically. Key `stage`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Stage {
    /// Its API.
    pub api: Key,
    /// Whether AWS deploys each change automatically. A blueprint always requires it, because changes are not served
    /// otherwise.
    pub auto_deploy: bool,
    /// The message of AWS about the last deployment if it failed. AWS then serves the deployment before it. Always
    /// `None` in a blueprint.
    #[serde(default)]
    pub deployment_failure: Option<String>,
    /// The access logs; `None` if they are off.
    pub access_log: Option<AccessLog>,
    /// Tags.
    pub tags: Tags,
}

/// Access logs of a stage.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct AccessLog {
    /// The log group; an unmanaged one is referred to by its ARN.
    pub log_group: Ref,
    /// The format, one line with `$context` variables.
    pub format: Input<String>,
}

impl Kind for Stage {
    fn kind(&self) -> &'static str {
        "stage"
    }

    fn counterpart(&self) -> Counterpart {
        Counterpart {
            description: "The deployment that serves requests. AWS deploys each change of a route to it.",
            resource: "aws_apigatewayv2_stage",
            import_id: "API_ID/STAGE",
            attributes: &[
                ("api", &["api_id"]),
                ("auto_deploy", &["auto_deploy"]),
                ("deployment_failure", &[]),
                ("access_log", &["access_log_settings.destination_arn", "access_log_settings.format"]),
                ("tags", &["tags"]),
            ],
        }
    }

    fn needs(&self) -> Vec<Need> {
        let mut needs = vec![Need::new(&self.api, Restrict)];
        needs.extend(self.access_log.iter().flat_map(|log| Need::of(&log.log_group, Restrict)));
        needs
    }

    fn parent(&self) -> Option<&Key> {
        Some(&self.api)
    }

    fn claims(&self) -> Vec<Claim> {
        vec![Claim::DefaultStage]
    }

    tagged!();

    fn references_mut(&mut self) -> Vec<&mut Ref> {
        self.access_log.iter_mut().map(|log| &mut log.log_group).collect()
    }

    fn is_deployed_by_aws(&self) -> bool {
        true
    }

    fn mask_status(&mut self, wanted: &dyn Kind) {
        if let Some(wanted) = of::<Stage>(wanted) {
            self.deployment_failure.clone_from(&wanted.deployment_failure);
        }
    }

    fn take_forms(&mut self, applied: &dyn Kind) {
        if let (Some(AccessLog { format, .. }), Some(AccessLog { format: applied, .. })) =
            (&mut self.access_log, of::<Stage>(applied).and_then(|applied| applied.access_log.as_ref()))
            && let (Input::Known(found), Input::Known(text)) = (&format, applied)
            && is_same_format(found, text)
        {
            format.clone_from(applied);
        }
    }
}
