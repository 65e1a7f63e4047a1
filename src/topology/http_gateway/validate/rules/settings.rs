//! Rules for throttling, metrics and endpoints.

use super::*;

pub(super) fn settings() -> Vec<Rule> {
    let default = |settings: Json| json!({"default_route_settings": settings});
    let route = |more: Json| with(json!({"faas_function_arn": ORDERS}), more);
    let of_route = |more: Json| json!({"route_config": {"GET /a": route(more)}});
    let both = || json!({"throttling_rate_limit": 0.5, "throttling_burst_limit": 1});
    let rate = || json!({"throttling_rate_limit": 10});
    let mut rules = vec![
        (
            "default settings set something",
            default(json!({})),
            &["default_route_settings"] as &[&str],
            &["sets nothing"] as &[&str],
            default(json!({"detailed_metrics_enabled": false})),
        ),
        (
            "a default rate has a burst",
            default(rate()),
            &["default_route_settings.throttling_rate_limit"],
            &["throttling_rate_limit requires throttling_burst_limit"],
            default(both()),
        ),
        (
            "the burst of a route has a rate",
            of_route(json!({"throttling_burst_limit": 5})),
            &["route_config[\"GET /a\"].throttling_burst_limit"],
            &["throttling_burst_limit requires throttling_rate_limit"],
            of_route(both()),
        ),
        (
            "the burst of a route may be the default one",
            of_route(rate()),
            &["route_config[\"GET /a\"].throttling_rate_limit"],
            &["throttling_rate_limit requires throttling_burst_limit"],
            with(of_route(rate()), default(both())),
        ),
        (
            "a burst is a whole number above 0",
            default(with(both(), json!({"throttling_burst_limit": 0}))),
            &["default_route_settings.throttling_burst_limit"],
            &["0 is not above 0", "reject every request"],
            default(both()),
        ),
        (
            "an IP address type exists",
            json!({"ip_address_type": "ipv6"}),
            &["ip_address_type"],
            &["\"ipv6\""],
            json!({"ip_address_type": "dualstack"}),
        ),
        (
            "IP addresses of a domain need a domain",
            json!({"domain_ip_address_type": "dualstack"}),
            &["domain_ip_address_type"],
            &["domain_name"],
            json!({"domain_ip_address_type": "dualstack", "domain_name": "api.example.com"}),
        ),
    ];
    for (name, limit) in [("a rate is not 0", json!(0)), ("a rate is not negative", json!(-1))] {
        rules.push((
            name,
            of_route(with(both(), json!({"throttling_rate_limit": limit}))),
            &["route_config[\"GET /a\"].throttling_rate_limit"],
            &["is not above 0", "the limit of the account"],
            of_route(both()),
        ));
    }
    rules
}
