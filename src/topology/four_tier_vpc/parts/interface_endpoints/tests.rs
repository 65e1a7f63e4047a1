//! Tests of interface endpoints.

use std::collections::{BTreeMap, BTreeSet};

use proptest::prelude::*;
use serde_json::{Value as Json, json};

use super::*;
use crate::model::{
    Classification, Drift, FoundObject, NetworkLandscape, Object, Ref, RuleSource, SecurityGroup, Spec,
};
use crate::topology::four_tier_vpc::FourTierVpc;
use crate::topology::four_tier_vpc::config::tests::{config, decode};
use crate::topology::four_tier_vpc::fixtures::{applied, blueprint, next_objects, objects, scope};
use crate::topology::four_tier_vpc::{import, reflect, validate};
use crate::topology::rules::{UNKNOWN, value};
use crate::topology::{Blueprint, Topology};

fn input(endpoints: Json) -> [(&'static str, Value); 1] {
    [(ENTRIES.input, value(endpoints))]
}

/// The problems of a plan with these inputs in two AZs.
fn problems(inputs: &[(&'static str, Value)]) -> Vec<Problem> {
    let config = match decode(inputs) {
        Ok(config) => config,
        Err(problems) => return problems,
    };
    let found = validate::validate(&config);
    if found.is_empty() {
        blueprint(&config, None, &Inventory::default(), "ab").err().unwrap_or_default()
    } else {
        found
    }
}

#[test]
fn each_broken_rule_of_endpoints_is_reported_at_its_input() {
    let group = json!(["sg-0123456789abcdef0"]);
    let private = |more: Json| crate::topology::rules::with(json!({ "private_dns_enabled": true }), more);
    let ipv6 = json!({ "ip_address_type": "ipv4", "dns_record_ip_type": "ipv6" });
    let of_aws = json!({ "service_name": "com.amazonaws.eu-central-1.ecr-api" });
    let rules: [(&str, Json, &[&str]); 22] = [
        ("service", json!({ "service": "ecr-api" }), &["Did you mean \"ecr.api\"?"]),
        ("service", json!({ "service": "kms", "service_name": "a.b.c" }), &["\"kms\"", "\"a.b.c\""]),
        ("service", json!({ "service": "missing" }), &["eu-central-1", "\"missing\"", "service_name"]),
        ("service_name", json!({ "service_name": "kms" }), &["\"kms\"", "set service"]),
        (
            "service_name",
            of_aws,
            &["Did you mean \"com.amazonaws.eu-central-1.ecr.api\"?", "describe-vpc-endpoint-services"],
        ),
        ("dns_record_ip_type", ipv6, &["\"ipv6\"", "\"ipv4\""]),
        ("policy", json!({ "policy": "{\"Statement\":\"${fgw:vpc}\"}" }), &["${fgw:vpc}", "${fgw:vpc_id}"]),
        ("service_region", json!({ "service_region": "us-east-1" }), &["service_name"]),
        ("subnet_tier", json!({ "subnet_tier": "app" }), &["\"app\"", "private_app"]),
        ("subnet_tier", json!({ "subnet_tier": "transit" }), &["transit", "create_transit_subnets"]),
        ("availability_zones", json!({ "availability_zones": [] }), &["empty"]),
        ("availability_zones", json!({ "availability_zones": ["c"] }), &["no subnet in c", "a, b"]),
        ("availability_zones", json!({ "availability_zones": ["b"] }), &["does not offer", "in b", "in a"]),
        ("private_dns_enabled", private(json!({ "service": "plain" })), &["true", "plain"]),
        (
            "private_dns_only_for_inbound_resolver_endpoint",
            { json!({ "private_dns_only_for_inbound_resolver_endpoint": true }) },
            &["kms", "gateway"],
        ),
        ("allowed_ports", json!({ "allowed_ports": [80], "security_group_ids": group }), &["[80]", "sg-0123"]),
        ("allowed_ports", json!({ "allowed_ports": [0] }), &["0", "65535"]),
        ("allowed_cidr_blocks", json!({ "allowed_cidr_blocks": ["10.0.0.1/8"] }), &["\"10.0.0.1/8\""]),
        ("policy", json!({ "policy": "{}" }), &["Statement"]),
        ("policy", json!({ "service": "plain", "policy": "{\"Statement\":[]}" }), &["plain", "Remove"]),
        ("ip_address_type", json!({ "ip_address_type": "ipv6" }), &["\"ipv6\"", "IPv6-only"]),
        ("ip_address_type", json!({ "ip_address_type": "dualstack" }), &["\"dualstack\"", "private_app"]),
    ];
    for (at, endpoint, says) in rules {
        let found = problems(&input(json!({ "kms": endpoint })));
        let paths: Vec<String> = found.iter().map(|it| it.path.to_string()).collect();
        assert_eq!(paths, [format!("interface_endpoints[\"kms\"].{at}")], "{found:#?}");
        let text = format!("{} {}", found[0].message, found[0].hint);
        assert!(says.iter().all(|it| text.contains(it)), "{says:?} in {text}");
        assert!(found[0].message.ends_with('.') && found[0].hint.ends_with('.'), "{text}");
    }
    let of_two = problems(&input(json!({ "a": { "service": "kms" }, "b": { "service": "kms" } })));
    assert!(of_two[0].message.contains("\"a\" and \"b\""), "{of_two:?}");
    assert_eq!(
        problems(&input(json!({ "a": { "service": "kms" }, "b": { "service": "kms", "private_dns_enabled": false } }))),
        []
    );
    assert_eq!(problems(&input(json!({ "x": UNKNOWN }))), []);
}

#[test]
fn names_require_dns_and_s3_requires_its_gateway_endpoint() {
    let off = |name: &'static str| (name, Value::Bool(false));
    let [kms] = input(json!({ "kms": { "private_dns_enabled": true } }));
    let found = problems(&[kms, off("enable_dns_support"), off("enable_dns_hostnames")]);
    assert_eq!(found.len(), 2, "one for each switch: {found:?}");
    let s3 = |more: Json| {
        let [s3] = input(json!({ "s3": more }));
        problems(&[s3, off("create_vpc_endpoints")])
    };
    assert!(s3(json!({}))[0].hint.contains("create_vpc_endpoints"));
    assert_eq!(s3(json!({ "private_dns_only_for_inbound_resolver_endpoint": false })), []);
    assert_eq!(problems(&input(json!({ "s3": {} }))), []);
}

fn endpoints(config: &Config) -> Vec<model::InterfaceEndpoint> {
    objects(config, "abc").iter().filter_map(|it| model::InterfaceEndpoint::of(&it.spec).cloned()).collect()
}

#[test]
fn an_endpoint_is_where_its_service_is_offered() {
    let config = config(&input(json!({ "kms": {} })));
    let [kms] = &endpoints(&config)[..] else { panic!() };
    assert_eq!(
        kms.subnets.iter().map(Ref::named).collect::<Vec<_>>(),
        ["subnet.private_app.0", "subnet.private_app.1"]
    );
    assert_eq!((&kms.private_dns_enabled, kms.service_name.known().map(String::as_str)), {
        (&Input::Known(true), Some("com.amazonaws.eu-central-1.kms"))
    });
    let Ok(Blueprint::Decided { warnings, .. }) = blueprint(&config, None, &Inventory::default(), "abc") else {
        panic!()
    };
    let said: Vec<&str> = warnings.iter().map(|it| it.message.as_str()).collect();
    assert_eq!(said, ["com.amazonaws.eu-central-1.kms is not available in c: the endpoint has no subnet there."]);
}

#[test]
fn only_s3_has_the_inbound_option_and_needs_its_gateway_endpoint() {
    let config = config(&input(json!({ "s3": {}, "kms": {}, "plain": {} })));
    let of = |label: &str| {
        let all = endpoints(&config);
        all.into_iter().find(|it| it.service_name.known().is_some_and(|name| name.ends_with(label))).unwrap()
    };
    let (s3, kms, plain) = (of(".s3"), of(".kms"), of(".plain"));
    assert_eq!(s3.private_dns_only_for_inbound_resolver_endpoint, Input::Known(Some(true)));
    assert_eq!(s3.gateway_endpoint.map(|key| key.slot), Some("vpc_endpoint.objectstore".to_string()));
    assert_eq!(kms.private_dns_only_for_inbound_resolver_endpoint, Input::Known(None));
    assert_eq!((plain.private_dns_enabled, kms.gateway_endpoint), (Input::Known(false), None));
}

#[test]
fn endpoints_share_a_group_unless_they_have_rules_of_their_own() {
    let all = json!({
        "kms": {}, "s3": {},
        "plain": { "allowed_ports": [443, 9094], "allowed_cidr_blocks": ["10.9.0.0/16"] },
        "ecr.api": { "security_group_ids": ["sg-2", "sg-1"] },
    });
    let all = objects(&config(&input(all)), "a");
    let groups = all.iter().filter_map(|it| Some((it.key.slot.as_str(), SecurityGroup::of(&it.spec)?)));
    let rules = groups.map(|(slot, group)| {
        let rules = group.ingress.known().unwrap().iter();
        let text = rules.map(|rule| match &rule.source {
            RuleSource::CidrIpv4(block) => format!("{} {block}", rule.from_port.unwrap()),
            other => panic!("{other:?}"),
        });
        (slot, text.collect::<Vec<_>>().join(", "))
    });
    assert_eq!(
        rules.collect::<Vec<_>>(),
        [
            ("security_group.interface_endpoints", "443 10.0.0.0/16".to_string()),
            (
                "security_group.interface_endpoint.plain",
                "443 10.0.0.0/16, 443 10.9.0.0/16, 9094 10.0.0.0/16, 9094 10.9.0.0/16".to_string()
            ),
        ]
    );
    let of = |slot: &str| {
        let spec = all.iter().find(|it| it.key.slot == slot).map(|it| model::InterfaceEndpoint::of(&it.spec).unwrap());
        spec.unwrap().security_groups.known().unwrap().iter().map(Ref::named).collect::<Vec<_>>()
    };
    assert_eq!(of("interface_endpoint.kms"), ["security_group.interface_endpoints"]);
    assert_eq!(of("interface_endpoint.plain"), ["security_group.interface_endpoint.plain"]);
    assert_eq!(of("interface_endpoint.ecr.api"), ["sg-1", "sg-2"]);
}

/// The warnings of a change in these AZs.
fn warned(before: Json, after: Json) -> Vec<String> {
    let (before, after) = (config(&input(before)), config(&input(after)));
    let existing = applied(&objects(&before, "a"));
    let Ok(Blueprint::Decided { warnings, .. }) = blueprint(&after, Some(&before), &existing, "a") else { panic!() };
    warnings.into_iter().map(|it| format!("{}: {}", it.path, it.message)).collect()
}

#[test]
fn the_plan_names_each_gap() {
    let kms = |tier: &str| json!({ "kms": { "subnet_tier": tier } });
    let [moved] = &warned(kms("private_app"), kms("private_persistence"))[..] else { panic!() };
    assert!(moved.contains("leaves subnet.private_app.0") && moved.contains("not reachable at all"), "{moved}");
    let [renamed] = &warned(json!({ "kms": {} }), json!({ "keys": { "service": "kms" } }))[..] else { panic!() };
    assert!(renamed.starts_with("interface_endpoints[\"keys\"]: interface_endpoint.kms ("), "{renamed}");
    let without = |name: &str| json!({ name: { "service": "kms", "private_dns_enabled": false } });
    assert_eq!(warned(without("a"), without("b")), Vec::<String>::new());
}

#[test]
fn a_settled_endpoint_needs_no_lookup() {
    let config = config(&input(json!({ "kms": {}, "s3": { "service": "s3" } })));
    let mut existing = applied(&objects(&config, "a"));
    let looked_up =
        |prior: Option<&Config>, existing: &Inventory| FourTierVpc::lookups_of_change(&config, prior, existing);
    let [kms, s3] = ["kms", "s3"].map(|it| Lookup::EndpointService(it.to_string()));
    assert_eq!(looked_up(Some(&config), &existing), []);
    let again = next_objects(&config, Some(&config), &existing, "a");
    let settled = |objects: &[Object]| {
        objects.iter().filter_map(|it| model::InterfaceEndpoint::of(&it.spec).cloned()).collect::<Vec<_>>()
    };
    assert_eq!(settled(&again), settled(&objects(&config, "a")));
    assert_eq!(looked_up(None, &existing), [kms.clone(), s3], "the inputs may be new");
    for entry in &mut existing.entries {
        if let (Spec::InterfaceEndpoint(it), "interface_endpoint.kms") = (&mut entry.applied, entry.key.slot.as_str()) {
            it.offer = None;
        }
    }
    assert_eq!(looked_up(Some(&config), &existing), [kms], "an import does not know where it is offered");
}

#[test]
fn what_is_unknown_leaves_the_existence_of_objects_open() {
    for endpoints in [UNKNOWN.into(), json!({ "a": UNKNOWN }), json!({ "kms": { "security_group_ids": UNKNOWN } })] {
        let unknown = config(&input(endpoints));
        assert_eq!(InterfaceEndpoints.is_wanted(&unknown), Input::Unknown);
        let changes = InterfaceEndpoints.alternatives(&unknown);
        let counts = changes.iter().map(|change| {
            let mut config = unknown.clone();
            change(&mut config);
            let all = objects(&config, "a");
            all.iter().filter(|it| it.key.slot.contains("interface_endpoint")).count()
        });
        let counts: Vec<usize> = counts.collect();
        assert!(counts[0] != counts[1], "{counts:?}");
    }
    let known =
        config(&input(json!({ "kms": { "service": UNKNOWN, "policy": UNKNOWN, "security_group_ids": [UNKNOWN] } })));
    assert_eq!(InterfaceEndpoints.is_wanted(&known), Input::Known(true));
}

#[test]
fn unknown_ports_and_blocks_leave_the_group_of_an_endpoint_open() {
    for (inputs, is_open) in [
        (json!({ "allowed_ports": UNKNOWN }), true),
        (json!({ "allowed_ports": [UNKNOWN] }), true),
        (json!({ "allowed_cidr_blocks": UNKNOWN }), true),
        (json!({ "allowed_cidr_blocks": [UNKNOWN] }), false),
        (json!({ "allowed_ports": [80, UNKNOWN] }), false),
        (json!({ "allowed_ports": UNKNOWN, "allowed_cidr_blocks": ["10.9.0.0/16"] }), false),
    ] {
        let unknown = config(&input(json!({ "kms": inputs })));
        assert_eq!(InterfaceEndpoints.is_wanted(&unknown).is_known(), !is_open, "{inputs}");
        let groups = InterfaceEndpoints.alternatives(&unknown).into_iter().flat_map(|change| {
            let mut config = unknown.clone();
            change(&mut config);
            objects(&config, "a").into_iter().map(|it| it.key.slot).filter(|slot| slot.contains("group"))
        });
        let groups: BTreeSet<String> = groups.filter(|slot| slot.contains("endpoint")).collect();
        assert_eq!(groups.len(), if is_open { 2 } else { 0 }, "{inputs}: {groups:?}");
    }
}

#[test]
fn endpoints_are_adopted_if_their_subnets_are_of_one_tier() {
    let endpoint = |id: &str, service: &str, subnets: &[&str]| {
        let spec = model::InterfaceEndpoint {
            service_name: Input::Known(service.to_string()),
            subnets: subnets.iter().map(|slot| Ref::Id(format!("id-of-subnet.{slot}"))).collect(),
            ..model::InterfaceEndpoint::test()
        };
        (FoundObject { id: id.into(), tags: BTreeMap::new() }, Spec::InterfaceEndpoint(spec))
    };
    let landscape = NetworkLandscape {
        others: vec![
            endpoint("vpce-1", "com.amazonaws.eu-central-1.ecr.api", &["private_app.0", "private_app.1"]),
            endpoint("vpce-2", "com.amazonaws.eu-central-1.ecr.api", &["private_app.0"]),
            endpoint("vpce-3", "com.amazonaws.vpce.eu-central-1.vpce-svc-0abc", &["private_app.0"]),
            endpoint("vpce-4", "com.amazonaws.eu-central-1.kms", &["private_app.0", "public.1"]),
        ],
        ..NetworkLandscape::default()
    };
    let slots = ["private_app.0", "private_app.1", "public.1"].map(|it| format!("subnet.{it}"));
    let slots = slots.map(|slot| (format!("id-of-{slot}"), slot)).into();
    let mut classifier =
        Classifier { landscape: &landscape, result: Classification { slots, ..Classification::default() } };
    InterfaceEndpoints.classify(&mut classifier);
    let found = classifier.result;
    let slots = ["vpce-1", "vpce-2", "vpce-3", "vpce-4"].map(|id| found.slots.get(id).map(String::as_str));
    assert_eq!(
        slots,
        [
            Some("interface_endpoint.ecr.api"),
            Some("interface_endpoint.ecr.api-2"),
            Some("interface_endpoint.com.amazonaws.vpce.eu-central-1.vpce-svc-0abc"),
            None,
        ]
    );
    assert!(found.unmanaged["vpce-4"].contains("one tier"), "{found:?}");
}

/// Any endpoint, with or without each optional input.
fn endpoint() -> impl Strategy<Value = Json> {
    let tier = prop::sample::select(vec!["private_app", "private_persistence"]);
    (tier, any::<[bool; 5]>(), 0..3_usize).prop_map(|(tier, [zone, names, policy, tags, kind], group)| {
        let mut it = json!({ "subnet_tier": tier });
        let mut set = |key: &str, value: Json| it[key] = value;
        if zone {
            set("availability_zones", json!(["a"]));
        }
        if names {
            set("private_dns_enabled", json!(false));
        }
        if policy {
            set("policy", json!("{\"Statement\":[{\"Effect\":\"Allow\"}]}"));
        }
        if tags {
            set("tags", json!({ "team": "net" }));
        }
        if kind {
            set("ip_address_type", json!("ipv4"));
        }
        match group {
            0 => set("security_group_ids", json!(["sg-1", "sg-2"])),
            1 => set("allowed_ports", json!([80, 443])),
            _ => {}
        }
        it
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 100, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn an_import_reproduces_endpoints(kms in endpoint(), s3 in endpoint()) {
        let [own] = input(json!({ "kms": kms, "storage": crate::topology::rules::with(s3, json!({ "service": "s3" })) }));
        let general = ("custom_tags", Value::map([("cost", Value::from("net"))]));
        let config = config(&[own, general.clone()]);
        let required = objects(&config, "abc");
        let imported = import::imported(&applied(&required), &scope()).expect("a network");
        let again = decode(&[(ENTRIES.input, imported.get(ENTRIES.input).clone()), general]).expect("valid inputs");
        let of = |objects: Vec<Object>| {
            objects.into_iter().filter(|it| it.key.slot.contains("interface_endpoint")).collect::<Vec<_>>()
        };
        prop_assert_eq!(of(objects(&again, "abc")), of(required));
    }
}

#[test]
fn drift_shows_in_the_entry_of_its_endpoint() {
    let all = json!({ "kms": { "tags": { "team": "net" } }, "s3": {}, "ecr.api": {} });
    let mut inventory = applied(&objects(&config(&input(all.clone())), "abc"));
    for entry in &mut inventory.entries {
        let Spec::InterfaceEndpoint(it) = &entry.applied else { continue };
        let mut it = it.clone();
        match entry.key.slot.as_str() {
            "interface_endpoint.kms" => {
                it.subnets.pop();
                it.security_groups = Input::Known(vec![Ref::Id("sg-9".into())]);
                it.private_dns_enabled = Input::Known(false);
                it.settings.policy = Input::Known(Some("{}".into()));
                it.settings.tags = Input::Known([("team".to_string(), Input::Known("web".to_string()))].into());
            }
            "interface_endpoint.s3" => it.private_dns_only_for_inbound_resolver_endpoint = Input::Known(Some(false)),
            _ => {
                entry.drift = Drift::Missing;
                continue;
            }
        }
        entry.observe(Spec::InterfaceEndpoint(it));
    }
    let mut state = Value::map(input(all));
    reflect::write_drift(&mut state, &inventory);
    let entries = state.get(ENTRIES.input).as_map().unwrap();
    assert_eq!(entries.keys().collect::<Vec<_>>(), ["kms", "s3"], "the third one was deleted");
    let kms = &entries["kms"];
    assert_eq!(kms.get("availability_zones"), &Value::List(vec!["a".into()]));
    assert_eq!(kms.get("security_group_ids"), &Value::List(vec!["sg-9".into()]));
    assert_eq!((kms.get("private_dns_enabled"), kms.get("policy")), (&Value::Bool(false), &"{}".into()));
    assert_eq!(kms.get("tags"), &Value::map([("team", Value::from("web"))]));
    assert_eq!(entries["s3"].get("private_dns_only_for_inbound_resolver_endpoint"), &Value::Bool(false));
}
