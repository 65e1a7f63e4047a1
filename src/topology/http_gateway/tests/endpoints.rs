//! The endpoint of the API, and the IP addresses of it and of the domain.

use serde_json::{Value as Json, json};

use crate::model::keys::gateway as keys;
use crate::model::{Api, DnsRecord, DomainName, Drift, Inventory};
use crate::plugin::{Input, Value};
use crate::reconcile::{Plan, plan};
use crate::topology::Topology;
use crate::topology::http_gateway::HttpGateway;

use super::{ORDERS, USERS, all_created, config, decided, existing, objects, scope, with};

/// A domain with records.
fn domain(more: Json) -> Json {
    let domain = json!({ "domain_name": "api.example.com", "create_dns_entry": true, "hosted_zone_id": "Z1" });
    with(domain, more)
}

fn change(before: Json, after: Json) -> Plan {
    let existing = existing(&objects(&config(before)));
    plan(&existing, &decided(&config(after), &existing, &scope()).0).unwrap()
}

fn ops(plan: &Plan) -> Vec<String> {
    plan.ops.iter().map(|op| format!("{} {}", op.action.doing(), op.action.key())).collect()
}

/// Whether an operation runs after another one.
fn follows(plan: &Plan, operation: &str, other: &str) -> bool {
    let ops = ops(plan);
    let position = |name: &str| ops.iter().position(|it| it == name).unwrap_or_else(|| panic!("no {name} in {ops:?}"));
    let (mut unvisited, other) = (vec![position(operation)], position(other));
    while let Some(at) = unvisited.pop() {
        if at == other {
            return true;
        }
        unvisited.extend(plan.ops[at].depends_on.iter().copied());
    }
    false
}

#[test]
fn the_endpoint_is_disabled_when_the_domain_serves_the_api() {
    // Objects of all kinds are created with it, and none of them waits for the update of the API.
    let others = json!({
        "faas_authorizers": { "a": { "authorizer_name": "auth" } },
        "route_config": { "GET /a": { "faas_function_arn": ORDERS, "authorizer_name": "a" } },
        "access_log_logservice_group_name": "/http/shop",
        "access_log_logservice_group_subscription_destination_arn": USERS,
    });
    let disabled = domain(json!({ "disable_execute_api_endpoint": true, "ip_address_type": "dualstack" }));
    let plan = change(json!({}), with(others, disabled));
    for other in ["domain", "api_mapping", "dns_record", "dns_record_aaaa"] {
        assert!(follows(&plan, "updating api", &format!("creating {other}")), "{other}: {:?}", ops(&plan));
    }
    // A new API is created as it is required.
    let created = objects(&config(domain(json!({ "disable_execute_api_endpoint": true }))));
    assert_eq!(Api::of(&created[0].spec).unwrap().disable_endpoint, Input::Known(true));
}

#[test]
fn the_endpoint_is_enabled_before_the_domain_is_deleted() {
    let plan = change(domain(json!({ "disable_execute_api_endpoint": true })), json!({}));
    for other in ["domain", "api_mapping", "dns_record"] {
        assert!(follows(&plan, &format!("deleting {other}"), "updating api"), "{other}: {:?}", ops(&plan));
    }
}

#[test]
fn a_domain_gets_ipv6_addresses_before_its_record() {
    let plan = change(domain(json!({})), domain(json!({ "ip_address_type": "dualstack" })));
    assert_eq!(ops(&plan), ["updating api", "updating domain", "creating dns_record_aaaa"]);
    assert!(follows(&plan, "creating dns_record_aaaa", "updating domain"));
}

#[test]
fn a_domain_may_have_other_ip_addresses_than_the_endpoint() {
    let types = |given: Json| {
        let objects = objects(&config(domain(given)));
        let records = objects.iter().filter_map(|it| DnsRecord::of(&it.spec)).map(|it| it.record_type.clone());
        let api = objects.iter().find_map(|it| Api::of(&it.spec)).expect("there is an API");
        let domain = objects.iter().find_map(|it| DomainName::of(&it.spec)).expect("there is a domain");
        let types = [&api.ip_address_type, &domain.ip_address_type].map(|it| it.known().cloned().expect("it is known"));
        (types.join(" "), records.collect::<Vec<_>>().join(" "))
    };
    let of = |api: &str, domain: Json| types(json!({ "ip_address_type": api, "domain_ip_address_type": domain }));
    let is = |types: &str, records: &str| (types.to_string(), records.to_string());
    assert_eq!(of("ipv4", json!(null)), is("ipv4 ipv4", "A"));
    assert_eq!(of("dualstack", json!(null)), is("dualstack dualstack", "A AAAA"));
    assert_eq!(of("ipv4", json!("dualstack")), is("ipv4 dualstack", "A AAAA"));
    assert_eq!(of("dualstack", json!("ipv4")), is("dualstack ipv4", "A"));
    let wildcard = json!({ "domain_name": "*.example.com", "domain_ip_address_type": "dualstack" });
    assert_eq!(types(wildcard), is("ipv4 dualstack", "A AAAA"));
}

#[test]
fn a_domain_loses_ipv6_addresses_after_its_record() {
    let plan = change(domain(json!({ "ip_address_type": "dualstack" })), domain(json!({})));
    assert_eq!(ops(&plan), ["updating api", "updating domain", "deleting dns_record_aaaa"]);
    assert!(follows(&plan, "updating domain", "deleting dns_record_aaaa"));
    // Other changes of the domain do not wait.
    let arn = "arn:aws:acm:eu-central-1:123456789012:certificate/1";
    let both = change(domain(json!({ "ip_address_type": "dualstack" })), domain(json!({ "certificate_arn": arn })));
    let of_domain = ops(&both).iter().filter(|it| *it == "updating domain").count();
    assert_eq!(of_domain, 2, "{:?}", ops(&both));
    assert!(!follows(&both, "updating domain", "deleting dns_record_aaaa"), "the first one");
}

#[test]
fn the_url_is_that_of_an_endpoint_that_answers() {
    let url = |given: Json| {
        let config = config(given);
        let objects = objects(&config);
        HttpGateway::outputs(&config, Some(&objects), &all_created(&objects), Some(&scope()))["invoke_url"].clone()
    };
    let disabled = json!({ "disable_execute_api_endpoint": true });
    assert_eq!(url(disabled.clone()), Value::Null);
    assert_eq!(url(with(json!({ "domain_name": "*.example.com" }), disabled.clone())), Value::Null);
    assert_eq!(
        url(with(json!({ "domain_name": "api.example.com" }), disabled)),
        Value::from("https://api.example.com")
    );
    assert!(!url(json!({})).is_null());
}

#[test]
fn an_endpoint_without_successor_and_one_that_opens_are_warned_of() {
    let warned = |given: Json, existing: &Inventory| {
        let warnings = decided(&config(given), existing, &scope()).1;
        warnings.into_iter().map(|it| it.message).collect::<Vec<_>>()
    };
    let disabled = || json!({ "disable_execute_api_endpoint": true });
    let none = Inventory::default();
    assert_eq!(
        warned(disabled(), &none),
        ["No request reaches the API unless another configuration maps a domain to it."]
    );
    assert_eq!(warned(domain(disabled()), &none), [""; 0]);
    let mut existing = existing(&objects(&config(domain(disabled()))));
    let opened = warned(domain(json!({})), &existing);
    assert!(opened.len() == 1 && opened[0].contains("enables the endpoint of the API again"), "{opened:?}");
    assert_eq!(warned(domain(disabled()), &existing), [""; 0]);
    existing.entries.iter_mut().filter(|it| it.key == keys::api()).for_each(|it| it.drift = Drift::Missing);
    assert_eq!(warned(domain(json!({})), &existing), [""; 0]);
}
