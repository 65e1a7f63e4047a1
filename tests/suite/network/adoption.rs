//! Adoption of networks that something else built: an import is not ownership, and an adoption adds nothing but tags.

use serde_json::json;

use super::{THIS, TestEnv, text};
use crate::support::adoption::{generate, without_adopt};
use crate::support::foreign::network::{ForeignNetwork, Objects, foreign_tags, one_nat_gateway_per_az};
use crate::support::proxy::fault::Fault;
use crate::support::terraform::Run;

/// A network with one NAT gateway, one table for the private and the database subnets, and gateway endpoints. One AZ
/// has no database subnet.
fn single_nat_gateway(env: &TestEnv) -> (String, Objects) {
    let foreign = ForeignNetwork::new(&env.proxy, "shop");
    let gateway = foreign.internet_gateway();
    let zones = ["us-east-1a", "us-east-1b", "us-east-1c"];
    let tier = |name: &str, first: usize, zones: &[&str]| -> Vec<String> {
        let subnet = |(index, zone): (usize, &&str)| {
            foreign.subnet(&format!("shop-{name}-{zone}"), &format!("10.0.{}.0/24", first + index), zone)
        };
        zones.iter().enumerate().map(subnet).collect()
    };
    let (public, private) = (tier("public", 0, &zones), tier("private", 10, &zones));
    let database = tier("db", 20, &zones[..2]);
    let (nat, _) = foreign.nat_gateway(&public[0]);
    let all = |lists: &[&Vec<String>]| lists.iter().flat_map(|list| list.iter().cloned()).collect::<Vec<_>>();
    let table = |name: &str, target: (&str, &str), subnets: Vec<String>| {
        foreign.table(name, Some(target), &subnets.iter().map(String::as_str).collect::<Vec<_>>())
    };
    let tables = [
        table("shop-public", ("GatewayId", &gateway), all(&[&public])),
        table("shop-private", ("NatGatewayId", &nat), all(&[&private, &database])),
    ];
    let mut objects = foreign.defaults();
    objects.extend([
        ("vpc".into(), foreign.vpc.clone()),
        ("internet_gateway".into(), gateway),
        ("nat_gateway.0".into(), nat),
        ("route_table.public".into(), tables[0].clone()),
        ("route_table.private_app".into(), tables[1].clone()),
    ]);
    for (key, service) in [("objectstore", "s3"), ("keyvalue", "dynamodb")] {
        let service = format!("com.amazonaws.us-east-1.{service}");
        let endpoint = json!({
            "VpcId": foreign.vpc, "ServiceName": service, "RouteTableIds": tables, "VpcEndpointType": "Gateway",
        });
        let created = env.ec2("create_vpc_endpoint", endpoint);
        objects.insert(format!("vpc_endpoint.{key}"), text(&created["VpcEndpoint"]["VpcEndpointId"]));
    }
    for (tier, ids) in [("public", public), ("private_app", private), ("private_persistence", database)] {
        objects.extend(ids.into_iter().enumerate().map(|(index, id)| (format!("subnet.{tier}.{index}"), id)));
    }
    (foreign.vpc, objects)
}

/// A network without any route to the internet, whose subnets have names that tell nothing.
fn isolated(env: &TestEnv) -> (String, Objects) {
    let foreign = ForeignNetwork::new(&env.proxy, "");
    let mut objects = foreign.defaults();
    objects.insert("vpc".into(), foreign.vpc.clone());
    for (index, zone) in ["us-east-1b", "us-east-1d"].iter().enumerate() {
        let subnet = foreign.subnet(&format!("net {zone}"), &format!("10.0.{}.0/20", 64 + 16 * index), zone);
        objects.insert(format!("route_table.private_persistence.{index}"), foreign.table("", None, &[&subnet]));
        objects.insert(format!("subnet.private_persistence.{index}"), subnet);
    }
    (foreign.vpc, objects)
}

#[test]
fn a_network_with_a_nat_gateway_per_az_is_adopted() {
    assert_is_adopted(|env| one_nat_gateway_per_az(&env.proxy));
}

#[test]
fn a_network_with_a_single_nat_gateway_is_adopted() {
    assert_is_adopted(single_nat_gateway);
}

#[test]
fn a_network_without_internet_access_is_adopted() {
    assert_is_adopted(isolated);
}

/// Adopts a network with the configuration that Terraform generates, and destroys it. Returns the adopting apply, and
/// the objects.
pub(super) fn assert_is_adopted(build: impl Fn(&TestEnv) -> (String, Objects)) -> (Run, Objects) {
    let env = TestEnv::with_terraform();
    let (vpc, objects) = build(&env);
    let tags = foreign_tags(env.proxy.account());
    env.proxy.clear_calls();
    let generated = generate(&env.workspace, THIS, &vpc, "");
    for (key, id) in &objects {
        assert!(
            generated
                .lines()
                .any(|line| line.contains(&format!("\"{key}\"")) || line.trim().starts_with(&format!("{key} "))),
            "{key} {id}: {generated}"
        );
        assert!(generated.contains(id), "{generated}");
    }
    assert_eq!(env.calls(), "", "looking changes nothing");

    let applied = env.workspace.apply(&[]);
    applied.succeeded();
    assert!(applied.says(r#"~ status = "not_adopted" -> "ready""#), "{applied}");
    assert_eq!(env.calls(), format!("CreateTags {}", objects.len()));
    let now = foreign_tags(env.proxy.account());
    for (tag, value) in &tags {
        assert_eq!(now.get(tag), Some(value), "{tag} has not changed");
    }
    let added: Vec<&String> = now.keys().filter(|tag| !tags.contains_key(*tag)).collect();
    assert!(added.iter().all(|tag| tag.ends_with(" Name")), "only objects without a name get one: {added:?}");
    let adopted = env.attribute("aws_objects");
    for (key, id) in &objects {
        assert_eq!(adopted[key], json!(id), "{key} in {adopted}");
    }
    assert_eq!((env.attribute("status"), env.attribute("drift")), (json!("ready"), json!({})));
    env.workspace.assert_nothing_to_do();

    // What is adopted is the network's own from now on.
    env.workspace.config("");
    std::fs::write(env.workspace.path().join("generated.tf"), without_adopt(&generated)).expect("the file is ours");
    env.workspace.assert_nothing_to_do();
    env.destroy();
    let left = env.proxy.account().list();
    assert_eq!(left["subnets"].as_array().map(Vec::len), Some(0), "{left}");
    let nat_gateways = objects.keys().filter(|key| key.starts_with("nat_gateway.")).count();
    let addresses = left["addresses"].as_array().map(Vec::len);
    assert_eq!(addresses, Some(nat_gateways), "addresses of the user are never released: {left}");
    (applied, objects)
}

/// The attributes that reproduce [`one_nat_gateway_per_az`], with this map `adopt`.
fn reproduction(env: &TestEnv, adopt: &Objects) -> String {
    let entries: Vec<String> = adopt.iter().map(|(key, id)| format!("    \"{key}\" = \"{id}\"")).collect();
    let names = env.attribute("name_tags");
    let eips = env.attribute("custom_nat_eips");
    let rules: Vec<String> = ["security_group_egress", "nacl_ingress", "nacl_egress"]
        .iter()
        .map(|name| format!("  default_{name}_rules = {}\n", env.attribute(&format!("default_{name}_rules"))))
        .collect();
    format!(
        "  vpc_name = \"legacy\"\n  num_availability_zones = 2\n  num_nat_gateways = 2\n  use_custom_nat_eips = true\n  \
         custom_nat_eips = {eips}\n  create_private_persistence_subnets = false\n  create_vpc_endpoints = false\n  \
         apply_default_nacl_rules = true\n  enable_dns_hostnames = false\n  public_subnet_bits = 8\n  \
         private_subnet_bits = 8\n  custom_tags = {{ Owner = \"platform\" }}\n{}  name_tags = {names}\n  adopt = {{\n{}\n  }}",
        rules.concat(),
        entries.join("\n")
    )
}

#[test]
fn an_adoption_without_consent_or_with_a_difference_is_refused() {
    let env = TestEnv::with_terraform();
    let (vpc, objects) = one_nat_gateway_per_az(&env.proxy);
    env.config("  num_nat_gateways = 1");
    env.workspace.import(THIS, &vpc).succeeded();
    assert_eq!(env.attribute("aws_objects"), json!({}));
    env.proxy.clear_calls();

    // The configuration names no object.
    env.config(&reproduction(&env, &Objects::new()));
    let plan = env.workspace.plan(&[]);
    plan.failed_with("Objects are not named in adopt");
    plan.failed_with(&format!("\"subnet.public.1\" = \"{}\"", objects["subnet.public.1"]));

    // One object is missing, and another one is wrong.
    let mut adopt = objects.clone();
    adopt.remove("nat_gateway.1");
    env.config(&reproduction(&env, &adopt));
    env.workspace.plan(&[]).failed_with(&format!("\"nat_gateway.1\" = \"{}\"", objects["nat_gateway.1"]));
    let mut adopt = objects.clone();
    adopt.insert("subnet.public.0".into(), objects["subnet.public.1"].clone());
    env.config(&reproduction(&env, &adopt));
    let plan = env.workspace.plan(&[]);
    plan.failed_with("This object cannot be adopted");
    plan.failed_with(&format!("Use \"subnet.public.0\" = \"{}\"", objects["subnet.public.0"]));
    let other = text(&env.ec2("create_vpc", json!({ "CidrBlock": "10.9.0.0/16" }))["Vpc"]["VpcId"]);
    let mut adopt = objects.clone();
    adopt.insert("vpc".into(), other.clone());
    env.config(&reproduction(&env, &adopt));
    env.workspace.plan(&[]).failed_with(&other);

    // An input differs from what exists.
    env.config(&reproduction(&env, &objects).replace("enable_dns_hostnames = false", "enable_dns_hostnames = true"));
    let plan = env.workspace.plan(&[]);
    plan.failed_with("An adoption changes nothing but tags");
    plan.failed_with("enable_dns_hostnames = false instead of true");
    env.config(&reproduction(&env, &objects).replace("legacy-public-us-east-1a", "other"));
    env.workspace.plan(&[]).failed_with("tag Name");
    let replaced = reproduction(&env, &objects);
    env.config(&format!("{replaced}\n  cidr_block = \"10.1.0.0/16\""));
    env.workspace.plan(&[]).failed_with("A resource that is not adopted is not replaced");
    assert_eq!(env.calls(), "");

    // With consent and without a difference, the plan shows the adoption.
    env.config(&reproduction(&env, &objects));
    env.workspace.apply(&[]).succeeded();
    assert_eq!(env.calls(), format!("CreateTags {}", objects.len()));
    env.workspace.assert_nothing_to_do();
    env.destroy();
}

#[test]
fn a_destroy_before_the_adoption_deletes_nothing() {
    let env = TestEnv::with_terraform();
    let (vpc, objects) = one_nat_gateway_per_az(&env.proxy);
    let before = env.snapshot();
    let import = || {
        env.config("  num_nat_gateways = 1");
        env.workspace.import(THIS, &vpc).succeeded();
        env.config(&reproduction(&env, &objects));
        env.proxy.clear_calls();
    };
    import();
    let destroyed = env.workspace.destroy();
    destroyed.succeeded();
    assert!(destroyed.says("nothing is deleted"), "{destroyed}");
    import();
    env.workspace.config("");
    env.workspace.apply(&[]).succeeded();
    import();
    env.workspace.run(&["apply", "-refresh-only", "-auto-approve", "-no-color", "-input=false"]).succeeded();
    // A replacement builds a second network only if nothing says that it is the same one.
    env.config(&reproduction(&env, &objects));
    env.workspace.run(&["taint", THIS]).succeeded();
    env.workspace.plan(&[]).failed_with("Only an imported resource can adopt objects");
    env.config(&reproduction(&env, &Objects::new()));
    env.workspace.plan(&[]).failed_with("it is not adopted yet");
    assert_eq!(env.calls(), "");
    assert_eq!(env.snapshot().lines(), before.lines());

    // An interrupted adoption deletes nothing either, and is completed by the next apply.
    env.workspace.run(&["untaint", THIS]).succeeded();
    env.config(&reproduction(&env, &objects));
    let table = objects["route_table.public"].clone();
    let denied = Fault::on("CreateTags").when(move |call| call.params.values().any(|it| *it == table));
    env.proxy.fault(denied.answer(403, "UnauthorizedOperation", "You are not authorized"));
    env.workspace.apply(&[]).failed_with("UnauthorizedOperation");
    env.proxy.clear_faults();
    let adopted = env.attribute("aws_objects");
    assert!(adopted["vpc"].is_null() && adopted["route_table.public"].is_null(), "{adopted}");
    assert_eq!(adopted["subnet.public.0"], json!(objects["subnet.public.0"]));
    env.proxy.clear_calls();
    let destroyed = env.workspace.destroy();
    destroyed.succeeded();
    assert!(destroyed.says(&format!("subnet.public.0: {}", objects["subnet.public.0"])), "{destroyed}");
    assert_eq!(env.calls(), "");
    import();
    env.workspace.apply(&[]).succeeded();
    env.workspace.assert_nothing_to_do();
    env.end();
}

#[test]
fn an_adoption_of_a_network_whose_state_was_not_saved_is_repeated() {
    let env = TestEnv::with_terraform();
    let (vpc, objects) = one_nat_gateway_per_az(&env.proxy);
    env.config("");
    env.workspace.import(THIS, &vpc).succeeded();
    env.workspace.config(&env.workspace.generated_text());
    env.workspace.apply_without_saving();
    env.workspace.apply(&[]).succeeded();
    let adopted = env.attribute("aws_objects");
    assert!(objects.iter().all(|(key, id)| adopted[key] == json!(id)), "{adopted}");
    env.workspace.assert_nothing_to_do();
    env.end();
}
