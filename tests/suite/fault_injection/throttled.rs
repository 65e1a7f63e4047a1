//! Two whole networks and two gateways with fifty routes each in one apply, at AWS's rate limits.

use std::collections::BTreeMap;
use std::fmt::{self, Display, Formatter};

use serde_json::{Value, json};

use super::campaign::{Tally, campaign, is_whole, sample};
use crate::support::proxy::Proxy;
use crate::support::terraform::Workspace;

/// The maximum percentage of throttled calls.
const THROTTLED_PERCENT: usize = 5;

const ROUTES: usize = 50;
const FUNCTIONS: usize = 10;

#[derive(Clone, Copy, Debug)]
enum Case {
    Plain,
    /// AWS allows one change of a domain in thirty seconds.
    WithDomains,
}

impl Display for Case {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        write!(out, "{self:?}")
    }
}

#[test]
fn few_calls_of_a_large_apply_are_throttled() {
    let cases = sample(vec![Case::Plain, Case::WithDomains], 1);
    campaign("Two networks and two gateways at AWS's rates", cases, |case| {
        let (networks, gateways) = (Proxy::moto(), Proxy::ministack());
        let blocks = [Workspace::block(&networks, ""), Workspace::block(&gateways, "  alias = \"gateways\"")];
        let mut workspace = Workspace::with_blocks(&blocks.join("\n"));
        workspace.within(std::time::Duration::from_secs(600));
        create_prerequisites(&gateways);
        let mut tally = Tally::default();
        networks.throttle();
        gateways.throttle();
        // At these rates, a change takes half a minute.
        for &changed in if is_whole() { &[false, true][..] } else { &[false] } {
            let resources = json!({
                "fgw_four_tier_vpc": { "one": network("one", changed), "two": network("two", changed) },
                "fgw_http_gateway": {
                    "one": gateway(&gateways, "one", *case, changed), "two": gateway(&gateways, "two", *case, changed),
                },
            });
            workspace.write("main.tf.json", &json!({ "resource": resources }).to_string());
            workspace.apply(&[]).succeeded();
            tally.add(measured(&networks, "EC2"));
            tally.add(measured(&gateways, "gateways"));
            workspace.assert_nothing_to_do();
        }
        workspace.destroy().succeeded();
        tally.add(measured(&networks, "EC2"));
        tally.add(measured(&gateways, "gateways"));
        networks.account().assert_nothing_of_ours_is_left();
        gateways.account().assert_nothing_of_ours_is_left();
        tally
    });
}

/// The counts since the log was last cleared. Panics if too many calls were throttled.
fn measured(proxy: &Proxy, name: &str) -> Tally {
    let tally = Tally::of(proxy);
    let mut actions: BTreeMap<String, (usize, usize)> = BTreeMap::new();
    for record in proxy.calls() {
        let (calls, throttled) = actions.entry(record.call.action).or_default();
        *calls += 1;
        *throttled += usize::from(record.injected);
    }
    actions.retain(|_, (_, throttled)| *throttled > 0);
    eprintln!("{name}: {} of {} calls throttled: {actions:?}", tally.faults, tally.calls);
    assert!(tally.faults * 100 < tally.calls * THROTTLED_PERCENT, "{name}: often throttled: {tally:?} {actions:?}");
    proxy.clear_calls();
    tally
}

/// A network with every kind of object, and as many of each as three AZs allow.
fn network(name: &str, changed: bool) -> Value {
    json!({
        "vpc_name": name,
        "cidr_block": "10.0.0.0/16",
        "num_availability_zones": 3,
        "num_nat_gateways": if changed { 1 } else { 3 },
        "create_transit_subnets": true,
        "enable_ipv6": true,
        "assign_generated_ipv6_cidr_block": true,
        "assign_ipv6_address_on_creation": true,
        "map_public_ip_on_launch": true,
        "custom_tags": { "team": if changed { "net" } else { "infra" } },
    })
}

fn gateway(proxy: &Proxy, name: &str, case: Case, changed: bool) -> Value {
    let arn = |function: usize| format!("arn:aws:lambda:us-east-1:{}:function:f{function}", proxy.account().id);
    let shift = usize::from(changed);
    let route = |number: usize| {
        let to = json!({ "faas_function_arn": arn((number + shift) % FUNCTIONS) });
        (format!("GET /resources/{}", number + shift * ROUTES / 2), to)
    };
    let mut gateway = json!({
        "provider": "fgw.gateways",
        "name": name,
        "route_config": (0..ROUTES).map(route).collect::<BTreeMap<_, _>>(),
        "faas_authorizers": { "customers": { "authorizer_name": "f0", "authorizer_payload_format_version": "2.0" } },
        "access_log_logservice_group_name": format!("/{name}/access"),
    });
    if matches!(case, Case::WithDomains) {
        gateway["domain_name"] = format!("{name}.example.com").into();
        gateway["create_dns_entry"] = false.into();
    }
    gateway
}

fn create_prerequisites(proxy: &Proxy) {
    for number in 0..FUNCTIONS {
        let source = "def handler(event, context):\n    return {'statusCode': 200, 'isAuthorized': True}\n";
        proxy.account().create_function(&format!("f{number}"), source);
    }
    proxy.account().boto("acm", "request_certificate", json!({ "DomainName": "*.example.com" }));
}
