//! Keys of entries are free text: an entry that gets another key keeps its objects.

mod lives;
mod properties;

use std::collections::BTreeMap;

use super::*;

/// New keys by the old ones.
type Keys<'a> = &'a [(&'a str, &'a str)];

fn new_key(keys: Keys<'_>, key: &str) -> String {
    keys.iter().find(|(from, _)| *from == key).map_or(key, |(_, to)| to).to_string()
}

/// The configuration with other keys of the entries of a map, and with all references to them.
fn with_keys(config: &Value, input: &str, keys: Keys<'_>) -> Value {
    let mut config = config.clone();
    let entries = config.get(input).as_map().cloned().unwrap_or_default();
    config.set(input, Value::map(entries.into_iter().map(|(key, entry)| (new_key(keys, &key), entry))));
    let reference = match input {
        "vpc_links" => "vpc_link",
        "faas_authorizers" | "jwt_authorizers" => "authorizer_name",
        _ => return config,
    };
    let routes = config.get("route_config").as_map().cloned().unwrap_or_default();
    let renamed = |(key, mut route): (String, Value)| {
        if let Some(name) = route.get(reference).as_str().map(str::to_string) {
            route.set(reference, new_key(keys, &name).into());
        }
        (key, route)
    };
    config.set("route_config", Value::map(routes.into_iter().map(renamed)));
    if let Some(name) = config.get("default_authorizer_name").as_str().map(str::to_string) {
        config.set("default_authorizer_name", new_key(keys, &name).into());
    }
    config
}

/// Sets an input of an entry.
fn set_in(config: &mut Value, input: &str, key: &str, name: &str, value: Value) {
    let mut entries = config.get(input).clone();
    let mut entry = entries.get(key).clone();
    entry.set(name, value);
    entries.set(key, entry);
    config.set(input, entries);
}

/// A network with three flow logs and four endpoints.
fn some_entries(skip_destroy: bool) -> Value {
    let group = |name: &str| {
        Value::map([
            ("log_group_name", Value::from(name)),
            ("log_group_skip_destroy", skip_destroy.into()),
            ("iam_role_arn", "arn:aws:iam::123456789012:role/flow".into()),
        ])
    };
    let bucket =
        Value::map([("log_destination_type", "s3".into()), ("log_destination", Value::from("arn:aws:s3:::x"))]);
    let endpoint = |service: &str, more: &[(&str, Value)]| {
        let all = [("subnet_tier", Value::from("private_app")), ("service", service.into())];
        Value::map(all.into_iter().chain(more.iter().cloned()))
    };
    let ports = |port: i64| ("allowed_ports", Value::List(vec![port.into()]));
    network(&[
        ("num_availability_zones", 1.into()),
        ("num_nat_gateways", 0.into()),
        ("create_public_subnets", false.into()),
        ("create_private_persistence_subnets", false.into()),
        ("create_vpc_endpoints", false.into()),
        ("flow_logs", Value::map([("a", group("/net/1")), ("b", group("/net/2")), ("s3", bucket)])),
        (
            "interface_endpoints",
            Value::map([
                ("a", endpoint("kms", &[ports(8443)])),
                ("b", endpoint("sqs", &[ports(80)])),
                ("shared", endpoint("sns", &[])),
                ("given", endpoint("ecr.api", &[("security_group_ids", vec!["sg-1"].into())])),
            ]),
        ),
    ])
}

/// A gateway with two authorizers of each type, and two links.
fn some_gateway() -> Value {
    let guarded = |authorizer: &str| route("orders", Some(authorizer));
    let private = |link: &str| {
        let mut route = route("orders", None);
        route.set("faas_function_arn", Value::Null);
        let listener = "arn:aws:elasticloadbalancing:us-east-1:123456789012:listener/app/a/1/2";
        route.set("integration_uri", listener.into());
        route.set("vpc_link", link.into());
        route
    };
    let link = |subnet: &str| {
        let mut link = Value::map(LinkConfig::attributes().into_iter().map(|it| (it.name, Value::Null)));
        link.set("subnet_ids", vec![subnet].into());
        link
    };
    let jwt = |issuer: &str| jwt_authorizer(&format!("https://{issuer}.example.com"));
    gateway(
        &[
            ("GET /a", guarded("a")),
            ("GET /b", guarded("b")),
            ("GET /j", guarded("j")),
            ("GET /k", guarded("k")),
            ("GET /l", private("a")),
            ("GET /m", private("b")),
        ],
        &[("a", authorizer("one")), ("b", authorizer("two"))],
        &[
            ("jwt_authorizers", Value::map([("j", jwt("j")), ("k", jwt("k"))])),
            ("vpc_links", Value::map([("a", link("subnet-1")), ("b", link("subnet-2"))])),
        ],
    )
}

/// The renamed maps, with two of their keys.
const OF_NETWORK: [(&str, [&str; 2]); 2] = [("flow_logs", ["a", "b"]), ("interface_endpoints", ["a", "b"])];
const OF_GATEWAY: [(&str, [&str; 2]); 3] =
    [("faas_authorizers", ["a", "b"]), ("jwt_authorizers", ["j", "k"]), ("vpc_links", ["a", "b"])];

/// One renamed, another one renamed to a word that sorts first, two swapped, and two rotated.
fn some_renames([one, other]: [&str; 2]) -> [Vec<(&str, &str)>; 4] {
    [vec![(one, "z")], vec![(other, "0")], vec![(one, other), (other, one)], vec![(one, other), (other, "z")]]
}

impl<P: Topology> Terraform<P> {
    /// The slots of the objects in state, by their IDs.
    fn slots_by_id(&self) -> BTreeMap<String, Vec<String>> {
        let mut all: BTreeMap<String, Vec<String>> = BTreeMap::new();
        for (slot, id) in self.state.get("aws_objects").as_map().unwrap() {
            all.entry(id.as_str().unwrap().to_string()).or_default().push(slot.clone());
        }
        all
    }

    /// Asserts that all objects exist as before, under the keys of the configuration, with nothing left to do.
    async fn assert_kept(&mut self, config: &Value, ids: &[String]) {
        let calls = self.account.take_calls();
        let is_change = |call: &&String| ["create ", "delete ", "disown "].iter().any(|verb| call.starts_with(verb));
        assert_eq!(calls.iter().filter(is_change).collect::<Vec<_>>(), Vec::<&String>::new());
        assert_eq!(self.slots_by_id().into_keys().collect::<Vec<_>>(), ids);
        assert_eq!(self.account.old_tags(), Vec::<String>::new());
        assert_eq!(self.state.get("pending_deletion").as_map().map(BTreeMap::len), Some(0));
        self.assert_quiet(config).await;
        assert_eq!(self.slots_by_id().into_keys().collect::<Vec<_>>(), ids);
    }
}

/// The sentences of a plan about continued entries.
fn continued(diagnostics: &Diagnostics) -> Vec<&str> {
    let about = diagnostics.0.iter().filter(|it| it.summary.ends_with(" keeps objects under other keys"));
    about.flat_map(|it| it.detail.lines()).filter_map(|line| line.strip_prefix("  ")).collect()
}

fn errors(diagnostics: &Diagnostics) -> Vec<&Diagnostic> {
    diagnostics.0.iter().filter(|it| it.severity == Severity::Error).collect()
}

#[tokio::test(start_paused = true)]
async fn the_plan_says_which_entry_continues_which() {
    let mut terraform = Terraform::<FourTierVpc>::new(2);
    let config = some_entries(true);
    terraform.assert_applies(&config).await;
    let id = |slot: &str| terraform.state.get("aws_objects").get(slot).as_str().unwrap().to_string();
    let (log, endpoint) = (id("flow_log.a"), id("interface_endpoint.a"));
    let renamed = with_keys(&with_keys(&config, "flow_logs", &[("a", "y")]), "interface_endpoints", &[("a", "y")]);
    let plan = terraform.plan(&renamed).await;
    let sentences = [
        format!("flow_logs: y continues a ({log}, /net/1)"),
        format!("interface_endpoints: y continues a ({endpoint})"),
    ];
    assert_eq!(continued(&plan.diagnostics), sentences);
    for (slot, id) in [("flow_log.y", &log), ("interface_endpoint.y", &endpoint)] {
        assert_eq!(plan.planned.get("aws_objects").get(slot).as_str(), Some(id.as_str()), "{slot} is known at plan");
    }
    assert_eq!(plan.planned.get("flow_log_ids").get("y").as_str(), Some(log.as_str()));
    assert!(plan.planned.get("aws_objects").get("flow_log.a").is_null());
    terraform.account.take_calls();
    terraform.assert_applies(&renamed).await;
    let mut calls = terraform.account.take_calls();
    calls.retain(|call| !call.starts_with("announce"));
    calls.sort();
    let slots = ["flow_log.y", "interface_endpoint.y", "log_group.flow_log.y", "security_group.interface_endpoint.y"];
    let expected = ["rename", "update"].iter().flat_map(|verb| slots.map(|slot| format!("{verb} {slot}")));
    assert_eq!(calls, expected.collect::<Vec<_>>(), "tags change, and nothing else");
    assert_eq!(terraform.account.tag("flow_log.y", "Name").as_deref(), Some("main-flow-log-y"));
}

#[tokio::test(start_paused = true)]
async fn only_the_entry_that_went_is_deleted() {
    let mut terraform = Terraform::<HttpGateway>::new(1);
    let config = some_gateway();
    terraform.assert_applies(&config).await;
    let id = |terraform: &Terraform<_>, slot: &str| terraform.state.get("aws_objects").get(slot).clone();
    let (one, other) = (id(&terraform, "authorizer.a"), id(&terraform, "authorizer.b"));
    // The second entry gets the key of the first, which goes.
    let mut next = with_keys(&config, "faas_authorizers", &[("b", "a")]);
    next.set("faas_authorizers", Value::map([("a", authorizer("two"))]));
    terraform.account.take_calls();
    let plan = terraform.plan(&next).await;
    assert_eq!(
        continued(&plan.diagnostics),
        [format!("faas_authorizers: a continues b ({})", other.as_str().unwrap())]
    );
    terraform.assert_applies(&next).await;
    assert_eq!(id(&terraform, "authorizer.a"), other);
    let calls = terraform.account.take_calls();
    let deleted: Vec<&str> = calls.iter().filter_map(|call| call.strip_prefix("delete ")).collect();
    assert_eq!(deleted.len(), 2, "the authorizer {one} and its permission: {calls:?}");
    assert!(!calls.iter().any(|call| call.starts_with("create")), "{calls:?}");
    assert!(!terraform.slots_by_id().contains_key(one.as_str().unwrap()));
}

#[tokio::test(start_paused = true)]
async fn renamed_and_changed_at_once_is_an_update() {
    let mut terraform = Terraform::<FourTierVpc>::new(2);
    let config = some_entries(false);
    terraform.assert_applies(&config).await;
    let ids: Vec<String> = terraform.slots_by_id().into_keys().collect();
    let mut next = with_keys(&with_keys(&config, "flow_logs", &[("a", "y")]), "interface_endpoints", &[("a", "y")]);
    set_in(&mut next, "flow_logs", "y", "retention_in_days", 7_i64.into());
    set_in(&mut next, "interface_endpoints", "y", "private_dns_enabled", false.into());
    terraform.account.take_calls();
    terraform.assert_applies(&next).await;
    terraform.assert_kept(&next, &ids).await;

    // A flow log itself cannot change, but its group stays with its events.
    let mut next = with_keys(&next, "flow_logs", &[("y", "x")]);
    set_in(&mut next, "flow_logs", "x", "traffic_type", "REJECT".into());
    let plan = terraform.plan(&next).await;
    assert_eq!(continued(&plan.diagnostics), ["flow_logs: x continues y (/net/1)"]);
    terraform.account.take_calls();
    terraform.assert_applies(&next).await;
    let calls = terraform.account.take_calls();
    let changes: Vec<&String> =
        calls.iter().filter(|it| it.starts_with("create") || it.starts_with("delete")).collect();
    assert_eq!(changes, ["create flow_log.x", "delete flow_log.y"]);
}

#[tokio::test(start_paused = true)]
async fn entries_with_one_identity_are_split_and_merged() {
    let link = |subnet: &str| {
        let mut link = Value::map(LinkConfig::attributes().into_iter().map(|it| (it.name, Value::Null)));
        link.set("subnet_ids", vec![subnet].into());
        link
    };
    let with_links = |names: &[&str]| {
        let links = Value::map(names.iter().map(|name| (*name, link("subnet-1"))));
        gateway(&[("GET /a", route("orders", None))], &[], &[("vpc_links", links)])
    };
    let mut terraform = Terraform::<HttpGateway>::new(1);
    terraform.assert_applies(&with_links(&["m"])).await;
    let of = |terraform: &Terraform<HttpGateway>, slot: &str| terraform.state.get("aws_objects").get(slot).clone();
    let first = of(&terraform, "vpc_link.m");
    for (names, calls, of_first) in [
        // The first of two entries continues it.
        (&["x", "y"][..], &["create vpc_link.y", "rename vpc_link.x", "update vpc_link.x"][..], "vpc_link.x"),
        // One with the same key stays.
        (&["x", "y", "a"][..], &["create vpc_link.a"][..], "vpc_link.x"),
        (&["x"][..], &["delete vpc_link.a", "delete vpc_link.y"][..], "vpc_link.x"),
        // An object of each identity stays.
        (&["q"][..], &["rename vpc_link.q", "update vpc_link.q"][..], "vpc_link.q"),
    ] {
        terraform.account.take_calls();
        terraform.assert_applies(&with_links(names)).await;
        let mut made = terraform.account.take_calls();
        made.retain(|call| call.contains("vpc_link"));
        made.sort();
        assert_eq!(made, calls, "{names:?}");
        assert_eq!(of(&terraform, of_first), first, "{names:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn rules_have_no_objects_of_their_own() {
    let rule = |more: &[(&str, Value)]| {
        let all = [("protocol", Value::from("tcp")), ("from_port", 443_i64.into()), ("to_port", 443_i64.into())];
        Value::map(all.into_iter().chain(more.iter().cloned()))
    };
    let acl = rule(&[("cidr_block", "10.0.0.0/8".into()), ("rule_no", 100_i64.into()), ("action", "allow".into())]);
    let group = rule(&[("cidr_blocks", vec!["10.0.0.0/8"].into())]);
    let config = |key: &str| {
        network(&[
            ("apply_default_nacl_rules", true.into()),
            ("enable_default_security_group", true.into()),
            ("default_nacl_ingress_rules", Value::map([(key, acl.clone())])),
            ("default_nacl_egress_rules", Value::map([(key, acl.clone())])),
            ("default_security_group_ingress_rules", Value::map([(key, group.clone())])),
            ("default_security_group_egress_rules", Value::map([(key, group.clone())])),
        ])
    };
    let mut terraform = Terraform::<FourTierVpc>::new(1);
    terraform.assert_applies(&config("a")).await;
    terraform.account.take_calls();
    terraform.assert_applies(&config("b")).await;
    let mut calls = terraform.account.take_calls();
    calls.retain(|call| !call.starts_with("announce"));
    assert_eq!(calls, [""; 0]);
}
