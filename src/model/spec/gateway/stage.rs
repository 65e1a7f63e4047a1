//! The stage of an API.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::{FoundSettings, LogGroup, RouteSettings};
use crate::model::OnDelete::Restrict;
use crate::model::spec::kind::{Counterpart, Identity, Kind, WhenInUse, of, tagged};
use crate::model::{Claim, Key, Learned, LeftBehind, Need, Ref, Tags, is_same_format, printable};
use crate::plugin::{Check, Input};

/// A stage, deployed automatically. Key `stage`, fixed by its name unless that is `$default`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Stage {
    /// Its API.
    pub api: Key,
    /// Its name, which is also its ID.
    #[serde(default = "default_name")]
    pub name: String,
    /// The description; `None` if it is not managed, because AWS has no call that removes one.
    #[serde(default)]
    pub description: Input<Option<String>>,
    /// The stage variables.
    #[serde(default)]
    pub variables: Tags,
    /// Whether AWS deploys each change automatically. A blueprint always requires it, because changes are not served
    /// otherwise.
    pub auto_deploy: bool,
    /// The message of AWS about the last deployment if it failed. AWS then serves the deployment before it. Always
    /// `None` in a blueprint.
    #[serde(default)]
    pub deployment_failure: Option<String>,
    /// The access logs; `None` if they are off.
    pub access_log: Option<AccessLog>,
    /// The settings of routes without settings of their own.
    #[serde(default)]
    pub default_settings: RouteSettings,
    /// The settings of routes by route key. Those of other routes are not managed.
    #[serde(default)]
    pub route_settings: BTreeMap<String, RouteSettings>,
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

    fn identity(&self) -> Identity {
        Identity::Key("a gateway has one")
    }

    fn counterpart(&self) -> Counterpart {
        Counterpart {
            description: "The deployment that serves requests. AWS deploys each change of a route to it.",
            resource: "aws_apigatewayv2_stage",
            import_id: "API_ID/STAGE",
            attributes: &[
                ("api", &["api_id"]),
                ("name", &["name"]),
                ("description", &["description"]),
                ("variables", &["stage_variables"]),
                ("auto_deploy", &["auto_deploy"]),
                ("deployment_failure", &[]),
                ("access_log", &["access_log_settings.destination_arn", "access_log_settings.format"]),
                ("default_settings", &["default_route_settings"]),
                ("route_settings", &["route_settings"]),
                ("tags", &["tags"]),
            ],
        }
    }

    fn when_in_use(&self) -> WhenInUse {
        // Mappings of unmanaged domains to it block its deletion.
        WhenInUse::Deferred
    }

    /// The description, the throttling and the metrics that no input sets.
    fn left_behind(&self, learned: &Learned, new: &dyn Kind) -> Vec<LeftBehind> {
        let Some(new) = of::<Stage>(new) else { return Vec::new() };
        let mut left = learned.clone();
        if new.description != Input::Known(None) {
            left.unexpressed.remove("description");
        }
        let settings = self.unmanaged_settings(&learned.route_settings).into_iter().map(LeftBehind::new);
        left.left_behind().into_iter().chain(settings).collect()
    }

    fn needs(&self) -> Vec<Need> {
        let mut needs = vec![Need::of_id(&self.api, Restrict)];
        needs.extend(self.access_log.iter().flat_map(|log| Need::of(&log.log_group, Restrict)));
        needs
    }

    fn parent(&self) -> Option<&Key> {
        Some(&self.api)
    }

    fn claims(&self) -> Vec<Claim> {
        vec![Claim::Stage { name: self.name.clone() }]
    }

    tagged!();

    fn references_mut(&mut self) -> Vec<&mut Ref> {
        self.access_log.iter_mut().map(|log| &mut log.log_group).collect()
    }

    /// A log group by the ARN in the configuration.
    fn is_given(&self, id: &str) -> bool {
        let log_group = self.access_log.as_ref().map(|log| &log.log_group);
        matches!(log_group, Some(Ref::Id(arn)) if LogGroup::name_in(arn) == Some(id))
    }

    fn is_deployed_by_aws(&self) -> bool {
        true
    }

    fn suspend_deployment(&mut self) {
        self.auto_deploy = false;
    }

    fn mask_unowned(&mut self, wanted: &dyn Kind) {
        if let Some(wanted) = of::<Stage>(wanted) {
            self.keep_managed_of(wanted);
        }
    }

    fn merge_owned(&mut self, other: &dyn Kind) {
        let Some(other) = of::<Stage>(other) else { return };
        self.default_settings = self.default_settings.or(&other.default_settings);
        for (key, settings) in &other.route_settings {
            let own = self.route_settings.entry(key.clone()).or_default();
            *own = own.or(settings);
        }
    }

    fn fault(&self, learned: &Learned) -> Option<String> {
        let found = &learned.route_settings;
        let routes = found.routes.iter().filter(|(_, settings)| settings.rejects_all()).map(|(key, _)| key.as_str());
        let default = found.default.rejects_all().then_some("all routes without settings of their own");
        let all: Vec<&str> = default.into_iter().chain(routes).collect();
        let to = all.join(", ");
        (!all.is_empty()).then(|| format!("rejects every request to {to} with the status 429, because a limit is 0"))
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

fn default_name() -> String {
    Stage::DEFAULT.to_string()
}

impl Stage {
    /// The name of the stage whose URL is that of the API itself.
    pub const DEFAULT: &str = "$default";

    /// The rule for a name (API reference of CreateStage).
    pub fn name_check() -> Check {
        Check::text("`$default`, or a text of 1 to 128 letters, digits, `_` and `-`", |name| {
            let wrong = name.chars().find(|it| !(it.is_ascii_alphanumeric() || "_-".contains(*it)));
            match (wrong, name.chars().count()) {
                _ if name == Stage::DEFAULT => Ok(()),
                (Some(character), _) => Err(format!("{name:?} contains {character:?}.")),
                (None, 1..=128) => Ok(()),
                (None, length) => Err(format!("The name has {length} characters; 1 to 128 are allowed.")),
            }
        })
    }

    /// The command that deletes the settings of a route.
    pub fn command_to_delete_settings(api_id: &str, name: &str, route_key: &str) -> String {
        format!(
            "aws apigatewayv2 delete-route-settings --api-id {api_id} --stage-name '{name}' --route-key '{route_key}'"
        )
    }

    /// The settings found in AWS that this spec does not contain, a phrase for each.
    pub fn unmanaged_settings(&self, found: &FoundSettings) -> Vec<String> {
        let default = found.default.without(&self.default_settings);
        let routes = found.routes.iter().map(|(key, settings)| {
            let managed = self.route_settings.get(key);
            (key.as_str(), managed.map_or_else(|| settings.clone(), |managed| settings.without(managed)))
        });
        let all = [("default_route_settings", default)].into_iter().chain(routes);
        let left = all.filter(|(_, settings)| !settings.is_empty());
        left.map(|(key, settings)| format!("{} ({})", printable(key), settings.phrase())).collect()
    }

    /// Removes the description and the settings that another spec does not contain.
    pub fn keep_managed_of(&mut self, other: &Stage) {
        if other.description == Input::Known(None) {
            self.description = Input::Known(None);
        }
        self.default_settings = self.default_settings.only(&other.default_settings);
        self.route_settings.retain(|key, settings| match other.route_settings.get(key) {
            Some(others) => {
                *settings = settings.only(others);
                true
            }
            None => false,
        });
    }
}
