//! Adoptions of further objects by a network that is managed already: they add nothing but tags to these objects.

use serde_json::json;

use super::interruptions::apply_killed;
use super::{SHORT_TIMEOUTS, THIS, TestEnv, text};
use crate::support::foreign::network::{ForeignNetwork, Objects, foreign_tags, one_nat_gateway_per_az};

/// An adopted network in two AZs, in which boto3 has built the objects of a third one.
struct Extended {
    env: TestEnv,
    /// The objects of the third AZ, by the keys that they get.
    further: Objects,
    /// The lines of the configuration that are the same for two and for three AZs.
    common: String,
    /// The addresses of the NAT gateways.
    addresses: Vec<String>,
}

impl Extended {
    fn new() -> Self {
        let env = TestEnv::with_terraform();
        let (vpc, objects) = one_nat_gateway_per_az(&env.proxy);
        env.config("  num_nat_gateways = 1");
        env.workspace.import(THIS, &vpc).succeeded();
        let mut names = env.attribute("name_tags");
        let given = env.attribute("custom_nat_eips");
        let mut addresses: Vec<String> = given.as_array().expect("a list").iter().map(text).collect();
        let common = |names: &serde_json::Value| {
            format!(
                "  vpc_name = \"legacy\"\n  use_custom_nat_eips = true\n  create_private_persistence_subnets = false\n  \
                 create_vpc_endpoints = false\n  enable_default_security_group = false\n  enable_dns_hostnames = false\n  \
                 public_subnet_bits = 8\n  private_subnet_bits = 8\n  custom_tags = {{ Owner = \"platform\" }}\n  \
                 name_tags = {names}\n"
            )
        };
        let adopt = entries(&objects);
        env.config(&format!("{}{}{adopt}", common(&names), zones(2, &addresses)));
        env.workspace.apply(&[]).succeeded();

        let foreign = ForeignNetwork::within(&env.proxy, &vpc);
        let public = foreign.subnet("legacy-public-us-east-1c", "10.0.103.0/24", "us-east-1c");
        foreign.associate(&objects["route_table.public"], &public);
        let private = foreign.subnet("legacy-private-us-east-1c", "10.0.3.0/24", "us-east-1c");
        let (nat, address) = foreign.nat_gateway(&public);
        let table = foreign.table("legacy-private-us-east-1c", Some(("NatGatewayId", &nat)), &[&private]);
        addresses.push(address);
        for (key, name) in [
            ("subnet.public.2", "legacy-public-us-east-1c"),
            ("subnet.private_app.2", "legacy-private-us-east-1c"),
            ("route_table.private_app.2", "legacy-private-us-east-1c"),
        ] {
            names[key] = json!(name);
        }
        let further = Objects::from([
            ("subnet.public.2".into(), public),
            ("subnet.private_app.2".into(), private),
            ("route_table.private_app.2".into(), table),
            ("nat_gateway.2".into(), nat),
        ]);
        env.proxy.clear_calls();
        Self { common: common(&names), env, further, addresses }
    }

    /// A configuration for three AZs with these further lines.
    fn config(&self, lines: &str) {
        self.env.config(&format!("{}{}{lines}", self.common, zones(3, &self.addresses)));
    }

    /// The map `adopt` with another object under one of the keys.
    fn entries_with(&self, key: &str, id: &str) -> String {
        let mut further = self.further.clone();
        further.insert(key.into(), id.into());
        entries(&further)
    }

    /// Asserts that a plan with these lines is refused, with these texts.
    fn assert_refused(&self, lines: &str, texts: &[&str]) {
        self.config(lines);
        let plan = self.env.workspace.plan(&[]);
        for expected in texts {
            plan.failed_with(expected);
        }
    }
}

/// The inputs for this number of AZs, with a NAT gateway in each.
fn zones(count: usize, addresses: &[String]) -> String {
    let addresses = json!(addresses[..count]);
    format!("  num_availability_zones = {count}\n  num_nat_gateways = {count}\n  custom_nat_eips = {addresses}\n")
}

fn entries(objects: &Objects) -> String {
    let lines: Vec<String> = objects.iter().map(|(key, id)| format!("    \"{key}\" = \"{id}\"\n")).collect();
    format!("  adopt = {{\n{}  }}\n", lines.concat())
}

#[test]
fn the_objects_of_a_further_az_are_adopted() {
    let network = Extended::new();
    let env = &network.env;
    let tags = foreign_tags(env.proxy.account());
    network.config(&entries(&network.further));
    let plan = env.workspace.plan_json(&[]);
    let change = &plan["resource_changes"][0]["change"];
    for (key, id) in &network.further {
        assert_eq!(change["after"]["aws_objects"][key], json!(id), "{key}: {change}");
    }
    env.workspace.apply_plan().succeeded();
    assert_eq!(env.calls(), format!("CreateTags {}", network.further.len()));
    let now = foreign_tags(env.proxy.account());
    for (tag, value) in &tags {
        assert_eq!(now.get(tag), Some(value), "{tag} has not changed");
    }
    env.workspace.assert_nothing_to_do();
    network.config("");
    env.workspace.assert_nothing_to_do();
    env.destroy();
    assert_eq!(env.proxy.account().list_of("addresses").len(), 3, "addresses of the user are never released");
}

#[test]
fn further_objects_that_differ_are_refused() {
    let network = Extended::new();
    let env = &network.env;
    let subnet = network.further["subnet.public.2"].clone();
    let cannot = "This object cannot be adopted";

    let table = &network.further["route_table.private_app.2"];
    network.assert_refused(
        &network.entries_with("subnet.public.2", table),
        &[cannot, &format!("{table} is also named under the key")],
    );
    let mut wrong_kind = network.further.clone();
    wrong_kind.remove("route_table.private_app.2");
    wrong_kind.insert("subnet.public.2".into(), table.clone());
    network.assert_refused(&entries(&wrong_kind), &[cannot, "\"subnet.public.2\" is not the key of a route table"]);
    network.assert_refused(
        &network.entries_with("subnet.transit.2", "subnet-0123456789abcdef0"),
        &[cannot, "there is no object subnet-0123456789abcdef0 that this VPC could adopt"],
    );
    env.config(&format!("{}{}{}", network.common, zones(2, &network.addresses), entries(&network.further)));
    env.workspace.plan(&[]).failed_with("this configuration does not require subnet.public.2");

    let all = entries(&network.further);
    network.assert_refused(
        &format!("{all}  public_subnet_cidr_blocks = {{ \"AZ-2\" = \"10.0.200.0/24\" }}\n"),
        &["An adoption changes nothing but tags", "cidr_block is 10.0.200.0/24 instead of 10.0.103.0/24"],
    );
    network.assert_refused(
        &format!("{all}  availability_zone_exclude_names = [\"us-east-1c\"]\n"),
        &["availability_zone is us-east-1d instead of us-east-1c"],
    );
    let named = network.common.replace("\"subnet.public.2\":\"legacy-public-us-east-1c\"", "\"subnet.public.2\":\"x\"");
    env.config(&format!("{named}{}{all}", zones(3, &network.addresses)));
    env.workspace.plan(&[]).failed_with("name_tags[\"subnet.public.2\"] = \"legacy-public-us-east-1c\"");

    let owner = json!([{ "Key": "fgw:resource", "Value": "four_tier_vpc/vpc-other" }]);
    env.ec2("create_tags", json!({ "Resources": [subnet], "Tags": owner }));
    network.assert_refused(&all, &[cannot, "another resource manages it"]);
    assert_eq!(env.calls(), "");
}

#[test]
fn endpoints_that_exist_are_adopted_when_they_are_switched_on() {
    const BASE: &str = "  num_availability_zones = 2\n  num_nat_gateways = 0\n";
    let env = TestEnv::new();
    env.change(&format!("{BASE}  create_vpc_endpoints = false"));
    let objects = env.attribute("aws_objects");
    let is_table = |(key, _): &(&String, &serde_json::Value)| key.starts_with("route_table.");
    let tables: Vec<String> =
        objects.as_object().expect("a map").iter().filter(is_table).map(|it| text(it.1)).collect();
    let mut further = Objects::new();
    for (key, service) in [("objectstore", "s3"), ("keyvalue", "dynamodb")] {
        let service = format!("com.amazonaws.us-east-1.{service}");
        let endpoint = json!({
            "VpcId": env.id("vpc"), "ServiceName": service, "RouteTableIds": tables, "VpcEndpointType": "Gateway",
        });
        let created = env.ec2("create_vpc_endpoint", endpoint);
        further.insert(format!("vpc_endpoint.{key}"), text(&created["VpcEndpoint"]["VpcEndpointId"]));
    }
    let adopted = env.change(&format!("{BASE}{}", entries(&further)));
    assert_eq!(adopted.calls, "CreateTags 2");
    env.destroy();
}

#[test]
fn a_leftover_with_an_interface_is_taken_over_by_name() {
    const BASE: &str = "  num_availability_zones = 2\n  num_nat_gateways = 0\n  create_vpc_endpoints = false\n";
    let env = TestEnv::with_terraform();
    env.change(BASE);
    let transit = format!("{BASE}  create_transit_subnets = true\n");
    env.config(&transit);
    env.proxy.clear_calls();
    apply_killed(&env, 1);
    env.workspace.apply(&["-refresh-only"]).succeeded();
    let left = env.attribute("unmanaged_objects");
    let (left, reason) = left.as_object().expect("a map").iter().find(|it| it.0.starts_with("subnet-")).expect("one");
    let key = text(reason).split(',').next().expect("the key comes first").to_owned();
    env.ec2("create_network_interface", json!({ "SubnetId": left }));
    env.proxy.clear_calls();

    let further = Objects::from([(key.clone(), left.clone())]);
    env.config(&format!("{transit}{}", entries(&further)));
    env.workspace.apply(&[]).succeeded();
    assert_eq!(env.id(&key), *left);
    env.config(&transit);
    env.workspace.assert_nothing_to_do();
}

/// Its NAT gateways and its internet gateway would be deleted before its public subnets, whose AZ has a foreign one.
#[test]
fn a_destroy_of_a_partly_adopted_network_deletes_nothing() {
    let network = Extended::new();
    let env = &network.env;
    env.config(&format!("{}{}{SHORT_TIMEOUTS}", network.common, zones(2, &network.addresses)));
    env.workspace.apply(&[]).succeeded();
    let before = env.attribute("aws_objects");
    env.proxy.clear_calls();
    let refused = env.workspace.destroy();
    for text in [
        ": in use",
        "Nothing was deleted",
        &network.further["subnet.public.2"],
        &network.further["subnet.private_app.2"],
    ] {
        refused.failed_with(text);
    }
    assert_eq!((env.calls(), env.attribute("aws_objects")), (String::new(), before));
    env.assert_state_matches_aws();
    // The foreign subnets still have their way out.
    let gateways = env.ec2("describe_nat_gateways", json!({}));
    let states: Vec<&str> =
        gateways["NatGateways"].as_array().expect("a list").iter().filter_map(|it| it["State"].as_str()).collect();
    assert_eq!(states, ["available"; 3]);

    network.config(&entries(&network.further));
    env.workspace.apply(&[]).succeeded();
    env.destroy();
}
