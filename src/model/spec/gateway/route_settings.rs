//! Throttling and metrics of routes. API Gateway stores them in the stage.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use crate::plugin::{Check, Input, Value};

crate::attributes! {
    /// Throttling and metrics of routes. An absent one is not managed, because API Gateway merges what an update
    /// contains with what the stage has.
    #[derive(Default, Serialize, Deserialize)]
    pub struct RouteSettings: Encode {
        /// Number of requests per second that a route accepts on average, such as `10` or `0.5`. It rejects others with
        /// the status 429. API Gateway does not guarantee the limit, and the limits of the account apply too. Requires
        /// `throttling_burst_limit`. A route that sets one of these three attributes takes the others from
        /// `default_route_settings`.
        throttling_rate_limit: Input<Option<f64>> = optional().check(above_zero()).in_place(),
        /// Number of requests that a route accepts at once. Requires `throttling_rate_limit`.
        throttling_burst_limit: Input<Option<i64>> = optional().check(above_zero()).in_place(),
        /// Whether CloudWatch has metrics of each route, which it charges for.
        detailed_metrics_enabled: Input<Option<bool>> = optional().in_place(),
    }
}

/// The check of a limit.
fn above_zero() -> Check {
    Check::new("a number above 0", |value| match value {
        Value::Number(number) if number.as_f64() <= 0.0 => {
            let effect = "API Gateway would reject every request. Without a value, the limit of the account applies";
            Err(format!("{value} is not above 0: {effect}."))
        }
        _ => Ok(()),
    })
}

impl RouteSettings {
    /// Whether it has no member.
    pub fn is_empty(&self) -> bool {
        *self == RouteSettings::default()
    }

    /// The settings with the members that they lack from other ones.
    #[must_use]
    pub fn or(&self, others: &RouteSettings) -> RouteSettings {
        RouteSettings {
            throttling_rate_limit: or(&self.throttling_rate_limit, &others.throttling_rate_limit),
            throttling_burst_limit: or(&self.throttling_burst_limit, &others.throttling_burst_limit),
            detailed_metrics_enabled: or(&self.detailed_metrics_enabled, &others.detailed_metrics_enabled),
        }
    }

    /// The members that other settings have too.
    #[must_use]
    pub fn only(&self, others: &RouteSettings) -> RouteSettings {
        self.selected(others, true)
    }

    /// The members that other settings lack.
    #[must_use]
    pub fn without(&self, others: &RouteSettings) -> RouteSettings {
        self.selected(others, false)
    }

    fn selected(&self, others: &RouteSettings, has: bool) -> RouteSettings {
        fn member<T: Clone>(own: &Input<Option<T>>, other: bool, has: bool) -> Input<Option<T>> {
            if other == has { own.clone() } else { Input::Known(None) }
        }
        let [rate, burst, metrics] = others.has();
        RouteSettings {
            throttling_rate_limit: member(&self.throttling_rate_limit, rate, has),
            throttling_burst_limit: member(&self.throttling_burst_limit, burst, has),
            detailed_metrics_enabled: member(&self.detailed_metrics_enabled, metrics, has),
        }
    }

    fn has(&self) -> [bool; 3] {
        [
            self.throttling_rate_limit != Input::Known(None),
            self.throttling_burst_limit != Input::Known(None),
            self.detailed_metrics_enabled != Input::Known(None),
        ]
    }

    /// Whether it limits requests, or may do so.
    pub fn throttles(&self) -> bool {
        let [rate, burst, _] = self.has();
        rate || burst
    }

    /// Whether it has both limits or none.
    pub fn has_both_limits_or_none(&self) -> bool {
        let [rate, burst, _] = self.has();
        rate == burst
    }

    /// Whether API Gateway rejects every request, because a limit is 0.
    pub fn rejects_all(&self) -> bool {
        self.throttling_rate_limit.known().copied().flatten() == Some(0.0)
            || self.throttling_burst_limit.known().copied().flatten() == Some(0)
    }

    /// The known members in words, such as `throttling_rate_limit = 10`.
    pub fn phrase(&self) -> String {
        let text = |name: &str, value: Option<String>| value.map(|value| format!("{name} = {value}"));
        let members = [
            text(
                "throttling_rate_limit",
                self.throttling_rate_limit.known().copied().flatten().map(|it| it.to_string()),
            ),
            text(
                "throttling_burst_limit",
                self.throttling_burst_limit.known().copied().flatten().map(|it| it.to_string()),
            ),
            text(
                "detailed_metrics_enabled",
                self.detailed_metrics_enabled.known().copied().flatten().map(|it| it.to_string()),
            ),
        ];
        let members: Vec<String> = members.into_iter().flatten().collect();
        if members.is_empty() { "no limits and no metrics".to_string() } else { members.join(" and ") }
    }
}

fn or<T: Clone>(own: &Input<Option<T>>, other: &Input<Option<T>>) -> Input<Option<T>> {
    if matches!(own, Input::Known(None)) { other.clone() } else { own.clone() }
}

/// The settings that the last read found in a stage, managed or not.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct FoundSettings {
    /// The default settings.
    #[serde(default)]
    pub default: RouteSettings,
    /// The settings of routes by route key.
    #[serde(default)]
    pub routes: BTreeMap<String, RouteSettings>,
    /// The keys in `routes` without a route.
    #[serde(default)]
    pub stale: BTreeSet<String>,
}

impl FoundSettings {
    /// Whether the stage has none.
    pub fn is_empty(&self) -> bool {
        *self == FoundSettings::default()
    }
}
