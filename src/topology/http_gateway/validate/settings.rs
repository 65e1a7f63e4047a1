//! Throttling and metrics of routes.

use super::*;
use crate::model::RouteSettings;
use crate::plugin::{DROPS_NAMES, Nested};

impl Problems {
    pub(super) fn settings(&mut self, config: &GatewayConfig) {
        let path = AttributePath::new("default_route_settings");
        let default = config.default_route_settings.known().cloned().unwrap_or_else(RouteSettings::unknown);
        let is_empty = default.as_ref().is_some_and(RouteSettings::is_empty);
        if is_empty {
            let hint = "Set at least one of its attributes, or remove it to leave the settings as they are.";
            self.add(path.clone(), format!("default_route_settings sets nothing. {DROPS_NAMES}"), hint);
        }
        let default = default.unwrap_or_default();
        self.limits(&default, &path);
        for (key, route) in config.route_config.known().into_iter().flatten() {
            let Input::Known(route) = route else { continue };
            if !route.settings.is_empty() {
                let path = AttributePath::new("route_config").key(key);
                self.limits(&route.settings.or(&default), &path);
            }
        }
    }

    /// AWS does not document what one of the limits means without the other.
    fn limits(&mut self, settings: &RouteSettings, path: &AttributePath) {
        let (given, missing) = match (&settings.throttling_rate_limit, &settings.throttling_burst_limit) {
            (Input::Known(Some(_)), Input::Known(None)) => ("throttling_rate_limit", "throttling_burst_limit"),
            (Input::Known(None), Input::Known(Some(_))) => ("throttling_burst_limit", "throttling_rate_limit"),
            _ => return,
        };
        let message = format!("{given} requires {missing}.");
        let hint = format!("Set {missing} here or in default_route_settings, or remove {given}.");
        self.0.push(Problem::new(path.attribute(given), message, hint).of_absence());
    }
}
