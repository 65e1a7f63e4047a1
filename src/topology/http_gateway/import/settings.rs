//! The inputs for the throttling and the metrics that an import finds. Settings that no input expresses are left out,
//! so that they stay as they are.

use crate::model::{Input, RouteSettings};
use crate::topology::mirrored::Found;

/// The default settings of the stage.
pub(super) fn of_stage(found: Found<'_>) -> RouteSettings {
    expressible(&found.default_settings()).unwrap_or_default()
}

/// The fewest members of the settings of a route that, with the default ones, produce them all.
pub(super) fn shortest(settings: &RouteSettings, default: &RouteSettings) -> RouteSettings {
    let Some(settings) = expressible(settings).filter(|settings| settings.or(default) == *settings) else {
        return RouteSettings::default();
    };
    let mut shortest = settings.clone();
    if settings.throttling_rate_limit == default.throttling_rate_limit {
        shortest.throttling_rate_limit = Input::Known(None);
    }
    if settings.throttling_burst_limit == default.throttling_burst_limit {
        shortest.throttling_burst_limit = Input::Known(None);
    }
    if settings.detailed_metrics_enabled == default.detailed_metrics_enabled {
        shortest.detailed_metrics_enabled = Input::Known(None);
    }
    match (shortest.is_empty(), settings.throttles()) {
        // One of them makes the settings those of the route.
        (true, true) => RouteSettings { throttling_rate_limit: settings.throttling_rate_limit, ..shortest },
        (true, false) => RouteSettings { detailed_metrics_enabled: settings.detailed_metrics_enabled, ..shortest },
        (false, _) => shortest,
    }
}

fn expressible(settings: &RouteSettings) -> Option<RouteSettings> {
    (settings.has_both_limits_or_none() && !settings.rejects_all()).then(|| settings.clone())
}
