//! Which outputs an unknown input makes unknown: one input at a time, for existing topologies. The guide lists them.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use super::*;
use crate::plugin::{AttributeType, Nested, Nesting};

/// The paths of the parts of a planned state that differ from the state.
pub(super) fn open_paths(planned: &Value, state: &Value) -> BTreeSet<String> {
    let mut open = BTreeSet::new();
    collect(planned, state, "", &mut open);
    open
}

fn collect(planned: &Value, state: &Value, path: &str, open: &mut BTreeSet<String>) {
    let below = |name: &str| if path.is_empty() { name.to_string() } else { format!("{path}.{name}") };
    match (planned, state) {
        (planned, state) if planned == state => {}
        (Value::Map(planned), Value::Map(state)) if planned.keys().eq(state.keys()) => {
            for (name, value) in planned {
                collect(value, &state[name], &below(name), open);
            }
        }
        (Value::List(planned), Value::List(state)) if planned.len() == state.len() => {
            planned.iter().zip(state).for_each(|(planned, state)| collect(planned, state, &below("*"), open));
        }
        _ => {
            open.insert(path.to_string());
        }
    }
}

/// The attribute that has no place in the table: it describes every apply.
const OF_EVERY_APPLY: [&str; 1] = ["unmanaged_objects"];

/// An output as the guide writes it: without the parts of keys that depend on the configuration.
fn written(path: &str) -> String {
    let (name, rest) = path.split_once('.').map_or((path, None), |(name, rest)| (name, Some(rest)));
    match (name, rest) {
        (_, None) => format!("`{name}`"),
        ("aws_objects", Some(slot)) => {
            let kind = slot.split(['.', '#']).next().unwrap_or_default();
            let has_number = slot != kind;
            format!("`aws_objects[\"{kind}{}\"]`", if has_number { ".*" } else { "" })
        }
        (name, Some("*")) => format!("elements of `{name}`"),
        ("tags_all", Some(_)) => "values in `tags_all`".to_string(),
        (name, Some(rest)) => match rest.rsplit_once('.').filter(|_| name.ends_with("_subnets")) {
            Some((subnet, "tags")) if !subnet.contains('.') => format!("`{name}[*].tags`"),
            Some((subnet, _)) if subnet.ends_with(".tags") => format!("values in `{name}[*].tags`"),
            Some((_, attribute)) => format!("`{name}[*].{attribute}`"),
            None => format!("entries of `{name}`"),
        },
    }
}

/// The same outputs of all tiers in one.
fn of_all_tiers(mut outputs: BTreeSet<String>) -> BTreeSet<String> {
    let tiers = ["public", "private_app", "private_persistence", "transit"];
    for output in outputs.clone() {
        let Some(place) = output.find("public_") else { continue };
        let of = |tier: &str| output.replacen("public_", &format!("{tier}_"), 1);
        if place <= output.find('_').unwrap_or_default() && tiers.iter().all(|tier| outputs.contains(&of(tier))) {
            outputs.retain(|it| !tiers.iter().any(|tier| *it == of(tier)));
            outputs.insert(of("<tier>"));
        }
    }
    outputs
}

/// Every input, and the configuration in which it is unknown. Inputs in maps are those of the first entry.
fn with_each_unknown<P: Topology>(config: &Value) -> Vec<(String, Value)> {
    let mut all = Vec::new();
    for attribute in P::Config::attributes() {
        let name = &attribute.name;
        if name == "timeouts" {
            continue;
        }
        let mut unknown = config.clone();
        unknown.set(name, Value::Unknown);
        all.push((name.clone(), unknown));
        let (AttributeType::Nested(Nesting::Map, nested), Some(entries)) = (&attribute.kind, config.get(name).as_map())
        else {
            continue;
        };
        let Some((key, entry)) = entries.first_key_value().filter(|_| P::KIND.root() == "api") else { continue };
        for member in nested {
            let (mut entries, mut entry, mut unknown) = (entries.clone(), entry.clone(), config.clone());
            entry.set(&member.name, Value::Unknown);
            entries.insert(key.clone(), entry);
            unknown.set(name, Value::Map(entries));
            all.push((format!("{name}[*].{}", member.name), unknown));
        }
    }
    all
}

/// Plans with each input unknown. Returns the outputs that become unknown, by input.
async fn exceptions<P: Topology>(config: &Value) -> Vec<(String, BTreeSet<String>)> {
    let mut terraform = Terraform::<P>::new(4);
    terraform.account.zones.lock().unwrap()[3].state = "impaired".into();
    terraform.assert_applies(config).await;
    let mut rows = Vec::new();
    for (input, unknown) in with_each_unknown::<P>(config) {
        let shown = terraform.plan(&unknown).await;
        if !shown.requires_replace.is_empty() {
            continue;
        }
        assert!(!shown.diagnostics.has_errors(), "{input}: {:?}", shown.diagnostics);
        for name in P::ROOT_OUTPUTS.iter().chain(&["id"]) {
            assert_eq!(shown.planned.get(name), terraform.state.get(name), "{name} with an unknown {input}");
        }
        let last = terraform.plan(config).await;
        terraform.assert_as_planned(&shown.planned, &last.planned, "");
        let top = input.split('[').next().unwrap_or_default();
        let mut open = open_paths(&shown.planned, &terraform.state);
        let is_output = |path: &String| {
            let name = path.split('.').next().unwrap_or_default();
            name != top && !OF_EVERY_APPLY.contains(&name)
        };
        open.retain(is_output);
        rows.push((input, of_all_tiers(open.iter().map(|path| written(path)).collect())));
    }
    rows
}

fn table(rows: Vec<(String, BTreeSet<String>)>) -> String {
    let mut lines: Vec<(Vec<String>, BTreeSet<String>)> = Vec::new();
    for (input, outputs) in rows.into_iter().filter(|(_, outputs)| !outputs.is_empty()) {
        match lines.iter_mut().find(|(_, other)| *other == outputs) {
            Some((inputs, _)) => inputs.push(format!("`{input}`")),
            None => lines.push((vec![format!("`{input}`")], outputs)),
        }
    }
    let mut text = "| Unknown input | Outputs that are unknown |\n|---|---|".to_string();
    for (inputs, outputs) in lines {
        let outputs: Vec<String> = outputs.into_iter().collect();
        text += &format!("\n| {} | {} |", inputs.join(", "), outputs.join(", "));
    }
    text
}

/// A network with all tiers, IPv6, rules and endpoints.
fn rich_network() -> Value {
    network(&[
        ("availability_zone_state", "available".into()),
        ("num_nat_gateways", 2.into()),
        ("create_transit_subnets", true.into()),
        ("enable_ipv6", true.into()),
        ("assign_generated_ipv6_cidr_block", true.into()),
        ("apply_default_nacl_rules", true.into()),
        ("custom_tags", Value::map([("team", Value::from("net"))])),
    ])
}

/// A gateway with a domain, a record, logs that go to a function, and two functions.
fn rich_gateway() -> Value {
    let mut first = route("a", Some("guard"));
    first.set("payload_format_version", "2.0".into());
    let routes = [("GET /a", first), ("GET /b", route("b", None)), ("GET /c", route("b", None))];
    gateway(
        &routes,
        &[("guard", authorizer("guard"))],
        &[
            ("domain_name", "a.example.com".into()),
            ("create_dns_entry", true.into()),
            ("hosted_zone_id", "Z0123456789A".into()),
            ("access_log_logservice_group_name", "logs".into()),
            ("access_log_logservice_group_subscription_destination_arn", function("sink").into()),
        ],
    )
}

#[tokio::test(start_paused = true)]
async fn the_guide_lists_the_outputs_that_unknown_inputs_make_unknown() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/guides/values-known-after-apply.md");
    let mut text = std::fs::read_to_string(&path).expect("the guide exists");
    let tables = [
        ("network", table(exceptions::<FourTierVpc>(&rich_network()).await)),
        ("gateway", table(exceptions::<HttpGateway>(&rich_gateway()).await)),
    ];
    for (name, table) in tables {
        let (begin, end) = (format!("<!-- begin {name} -->\n"), format!("<!-- end {name} -->"));
        let start = text.find(&begin).expect("the guide has the part") + begin.len();
        let stop = text.find(&end).expect("the part ends");
        text.replace_range(start..stop, &format!("\n{table}\n\n"));
    }
    expect_test::expect_file![path].assert_eq(&text);
}

/// What keeps dependents from being replaced, by input.
#[tokio::test(start_paused = true)]
async fn what_no_value_of_an_input_changes_stays_known() {
    let rows: BTreeMap<String, BTreeSet<String>> =
        exceptions::<FourTierVpc>(&rich_network()).await.into_iter().collect();
    let open = |input: &str| rows[input].iter().map(|it| it.trim_matches('`').to_string()).collect::<Vec<_>>();
    assert_eq!(
        open("create_vpc_endpoints"),
        ["aws_objects", "keyvalue_endpoint_id", "objectstore_endpoint_id", "pending_deletion"]
    );
    assert_eq!(open("num_nat_gateways"), ["aws_objects", "nat_gateway_ids", "nat_gateway_public_ips", "route_targets"]);
    assert_eq!(open("associate_default_nacl_to_subnets"), [""; 0]);
    assert_eq!(open("enable_default_security_group"), ["aws_objects"]);
    assert_eq!(
        open("one_route_table_public_subnets"),
        [
            "aws_objects",
            "pending_deletion",
            "public_route_table_ids",
            "public_subnets[*].route_table_id",
            "route_targets"
        ]
    );
    let is_expected =
        |it: &String| ["aws_objects", "pending_deletion"].contains(&it.as_str()) || it.starts_with("transit_");
    assert!(open("create_transit_subnets").iter().all(is_expected));

    let rows: BTreeMap<String, BTreeSet<String>> =
        exceptions::<HttpGateway>(&rich_gateway()).await.into_iter().collect();
    assert_eq!(
        rows["route_config[*].faas_function_arn"],
        ["`aws_objects`", "`pending_deletion`"].map(str::to_string).into(),
        "the only route of an integration keeps it"
    );
    let authorizations = ["entries of `route_authorizations`".to_string()].into();
    assert_eq!(rows["route_config[*].authorizer_name"], authorizations);
    assert_eq!(rows["route_config[*].authorization_type"], authorizations);
    assert_eq!(rows["route_config[*].authorization_scopes"], BTreeSet::new());
}

#[tokio::test(start_paused = true)]
async fn a_new_route_with_an_unknown_function_deletes_nothing() {
    let mut terraform = Terraform::<HttpGateway>::new(4);
    let routes = [("GET /a", route("a", None)), ("GET /b", route("b", None))];
    terraform.assert_applies(&gateway(&routes, &[], &[])).await;
    let of = |function: Value| {
        let mut new = route("new", None);
        new.set("faas_function_arn", function);
        gateway(&[routes.as_slice(), &[("GET /new", new)]].concat(), &[], &[])
    };
    let shown = terraform.plan(&of(Value::Unknown)).await;
    for name in ["drift", "pending_deletion"] {
        assert_eq!(shown.planned.get(name), &Value::Map(BTreeMap::new()), "{name}");
    }
    for function in ["new", "a"] {
        let last = terraform.plan(&of(super::function(function).into())).await;
        terraform.assert_as_planned(&shown.planned, &last.planned, function);
    }
}

#[tokio::test(start_paused = true)]
async fn an_unknown_function_may_be_that_of_another_route() {
    let mut terraform = Terraform::<HttpGateway>::new(4);
    let of = |function: Value| {
        let mut first = route("a", None);
        first.set("faas_function_arn", function);
        gateway(&[("GET /a", first), ("GET /b", route("b", None))], &[], &[])
    };
    terraform.assert_applies(&of(function("a").into())).await;
    let shown = terraform.plan(&of(Value::Unknown)).await;
    for function in ["a", "b", "c"] {
        let last = terraform.plan(&of(super::function(function).into())).await;
        terraform.assert_as_planned(&shown.planned, &last.planned, function);
    }
}

/// One of the routes of an integration may leave it.
#[tokio::test(start_paused = true)]
async fn an_unknown_function_makes_one_entry_of_integration_ids_unknown() {
    let mut terraform = Terraform::<HttpGateway>::new(0);
    let config = rich_gateway();
    terraform.assert_applies(&config).await;
    let mut shared = route("b", None);
    shared.set("faas_function_arn", Value::Unknown);
    let mut routes = config.get("route_config").clone();
    routes.set("GET /b", shared);
    let mut unknown = config.clone();
    unknown.set("route_config", routes);
    let shown = terraform.plan(&unknown).await;
    assert_eq!(shown.planned.get("route_ids"), terraform.state.get("route_ids"));
    let mut expected = terraform.state.get("integration_ids").clone();
    expected.set("GET /b", Value::Unknown);
    assert_eq!(*shown.planned.get("integration_ids"), expected);
    for function_name in ["b", "a", "c"] {
        let mut routes = config.get("route_config").clone();
        routes.set("GET /b", route(function_name, None));
        let mut after = config.clone();
        after.set("route_config", routes);
        terraform.assert_as_planned(&shown.planned, &terraform.plan(&after).await.planned, "");
    }
}
