//! Throttling and metrics of the stage and its routes.

use std::collections::BTreeMap;

use super::Draft;
use crate::model::keys::gateway as keys;
use crate::model::{Entry, FoundSettings, Input, RouteKey, RouteSettings, Spec, Stage};
use crate::plugin::{AttributePath, Nested, Problem};
use crate::topology::http_gateway::config::GatewayConfig;

const DEFAULT: &str = "default_route_settings";

/// The required settings of routes without settings of their own.
pub(super) fn default(config: &GatewayConfig) -> RouteSettings {
    match &config.default_route_settings {
        Input::Known(settings) => settings.clone().unwrap_or_default(),
        Input::Unknown => RouteSettings::unknown().unwrap_or_default(),
    }
}

/// The required settings by route key. A route with settings of its own has none of the default ones in API Gateway, so
/// that its settings contain all that it does not set itself.
pub(super) fn of_routes(config: &GatewayConfig) -> BTreeMap<String, RouteSettings> {
    let default = default(config);
    let routes = config.route_config.known().into_iter().flatten();
    let routes = routes.filter_map(|(key, route)| Some((key, &route.known()?.settings)));
    let own = routes.filter(|(_, settings)| !settings.is_empty());
    own.map(|(key, settings)| (key.clone(), settings.or(&default))).collect()
}

impl Draft<'_> {
    /// Reports what API Gateway cannot change, and warns about what the inputs do not say.
    pub(super) fn check_settings(&mut self, wanted: &Stage) {
        let key = keys::stage(&wanted.name);
        let existing = self.existing.current().find(|entry| entry.key == key && entry.is_present());
        self.warn_of_metrics(existing.and_then(|entry| Stage::of(entry.spec())), wanted);
        let Some(entry) = existing else { return };
        let Spec::Stage(now) = entry.spec() else { return };
        let found = entry.learned.route_settings.clone();
        self.check_removal(entry, now, wanted);
        self.check_stale(now, wanted, &found);
        self.warn_of_settings(now, wanted, &found);
    }

    /// Limits that an apply has set cannot be removed from the stage. Those that were found are not managed.
    fn check_removal(&mut self, entry: &Entry, now: &Stage, wanted: &Stage) {
        let removed = now.default_settings.without(&wanted.default_settings);
        if !entry.is_applied() || !removed.throttles() {
            return;
        }
        self.problems.push(Problem::new(
            AttributePath::new(DEFAULT),
            "The default limits cannot be removed from a live stage: API Gateway has no call for it.",
            format!(
                "Keep {DEFAULT} with explicit values. {} keeps the present limits; those of most accounts are \
                 throttling_rate_limit = 10000 and throttling_burst_limit = 5000.",
                now.default_settings.phrase()
            ),
        ));
    }

    /// As long as a stage has settings of a missing route, API Gateway rejects those of all others.
    fn check_stale(&mut self, now: &Stage, wanted: &Stage, found: &FoundSettings) {
        let is_ours = |key: &String| now.route_settings.contains_key(key) || self.route_keys.contains(key.as_str());
        let stale: Vec<&String> = found.stale.iter().filter(|key| !is_ours(key)).collect();
        if stale.is_empty() || wanted.route_settings.is_empty() || wanted.route_settings == now.route_settings {
            return;
        }
        let api = self.api_id();
        let command = |key: &&String| Stage::command_to_delete_settings(api, &wanted.name, key);
        let commands: Vec<String> = stale.iter().map(command).collect();
        let names: Vec<String> = stale.iter().map(|key| format!("{key:?}")).collect();
        self.problems.push(Problem::new(
            AttributePath::new("route_config"),
            format!(
                "The stage has unmanaged settings of routes that do not exist: {}. API Gateway rejects the settings of \
                 all other routes until they are deleted.",
                names.join(", ")
            ),
            format!("Delete them, then run plan again.\n\n  {}", commands.join("\n  ")),
        ));
    }

    /// Warns of the price when the metrics of routes are turned on.
    fn warn_of_metrics(&mut self, now: Option<&Stage>, wanted: &Stage) {
        let has_metrics = |stage: &Stage, key: &str| {
            let settings = stage.route_settings.get(key).unwrap_or(&stage.default_settings);
            settings.detailed_metrics_enabled == Input::Known(Some(true))
        };
        let is_new = |key: &&&str| has_metrics(wanted, key) && !now.is_some_and(|now| has_metrics(now, key));
        let names: Vec<String> = self.route_keys.iter().filter(is_new).map(|key| format!("{key:?}")).collect();
        if !names.is_empty() {
            self.warnings.push(Problem::new(
                AttributePath::new("route_config"),
                format!("CloudWatch charges for the metrics of each of these routes: {}.", names.join(", ")),
                "To avoid the charges, remove detailed_metrics_enabled.",
            ));
        }
    }

    fn warn_of_settings(&mut self, now: &Stage, wanted: &Stage, found: &FoundSettings) {
        let mut warnings = Vec::new();
        let default = found.default.without(&wanted.default_settings);
        for (key, settings) in &wanted.route_settings {
            let path = AttributePath::new("route_config").key(key);
            if default.throttles() && !settings.throttles() && !found.routes.contains_key(key) {
                let message = format!(
                    "The route gets settings of its own without limits, so that the unmanaged default limits of the \
                     stage no longer apply to it: {}.",
                    default.phrase()
                );
                let hint = format!("Set the limits of the route, or manage the default ones with {DEFAULT}.");
                warnings.push(Problem::new(path, message, hint));
            }
        }
        let shape = |key: &str| RouteKey::parse(key).ok().map(|key| key.shape());
        for (key, settings) in found.routes.iter().filter(|(key, _)| !self.route_keys.contains(key.as_str())) {
            let exists = self.existing.present().any(|it| it.key == keys::route(key));
            let renamed = self.route_keys.iter().find(|new| exists && shape(new) == shape(key));
            let Some(new) = renamed else { continue };
            let ours = now.route_settings.get(key).is_some_and(|ours| settings.without(ours).is_empty());
            let until = match wanted.route_settings.contains_key(*new) {
                true if ours => "until the apply sets them again",
                true => "until the apply sets the configured ones",
                false => "from then on",
            };
            warnings.push(Problem::new(
                AttributePath::new("route_config").key(new),
                format!(
                    "The route is renamed, which deletes its settings in the stage: {}. The default settings apply to \
                     it {until}.",
                    settings.phrase()
                ),
                "To keep settings that this resource does not manage, set them in the route.",
            ));
        }
        self.warnings.extend(warnings);
    }
}
