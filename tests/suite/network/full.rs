//! The full network of the specification: three AZs, four tiers, three NAT gateways.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::{TestEnv, text};
use crate::support::proxy::Proxy;

const FULL: &str = "  num_availability_zones = 3\n  num_nat_gateways = 3\n  create_transit_subnets = true";

/// The expected snapshot, written from the specification.
const TABLE: &str = "\
acl default (in 100 allow 0.0.0.0/0, in 32767 deny 0.0.0.0/0, out 100 allow 0.0.0.0/0, out 32767 deny 0.0.0.0/0) 12 subnets
address main-nat-gateway-0
address main-nat-gateway-1
address main-nat-gateway-2
endpoint main-keyvalue Gateway com.amazonaws.us-east-1.dynamodb (Allow * *) [TABLES]
endpoint main-objectstore Gateway com.amazonaws.us-east-1.s3 (Allow * *) [TABLES]
group default main in(-1 self) out(-1 0.0.0.0/0, -1 ::/0)
internet_gateway main on main
nat main-nat-gateway-0 public available in main-public-0 with main-nat-gateway-0
nat main-nat-gateway-1 public available in main-public-1 with main-nat-gateway-1
nat main-nat-gateway-2 public available in main-public-2 with main-nat-gateway-2
subnet main-private-app-0 us-east-1a use1-az6 10.0.48.0/21 public_ip=false
subnet main-private-app-1 us-east-1b use1-az1 10.0.56.0/21 public_ip=false
subnet main-private-app-2 us-east-1c use1-az2 10.0.64.0/21 public_ip=false
subnet main-private-persistence-0 us-east-1a use1-az6 10.0.96.0/21 public_ip=false
subnet main-private-persistence-1 us-east-1b use1-az1 10.0.104.0/21 public_ip=false
subnet main-private-persistence-2 us-east-1c use1-az2 10.0.112.0/21 public_ip=false
subnet main-public-0 us-east-1a use1-az6 10.0.0.0/21 public_ip=false
subnet main-public-1 us-east-1b use1-az1 10.0.8.0/21 public_ip=false
subnet main-public-2 us-east-1c use1-az2 10.0.16.0/21 public_ip=false
subnet main-transit-0 us-east-1a use1-az6 10.0.144.0/21 public_ip=false
subnet main-transit-1 us-east-1b use1-az1 10.0.152.0/21 public_ip=false
subnet main-transit-2 us-east-1c use1-az2 10.0.160.0/21 public_ip=false
table (main) [] 10.0.0.0/16>local
table main-private-app-0 [main-private-app-0] 0.0.0.0/0>main-nat-gateway-0 10.0.0.0/16>local
table main-private-app-1 [main-private-app-1] 0.0.0.0/0>main-nat-gateway-1 10.0.0.0/16>local
table main-private-app-2 [main-private-app-2] 0.0.0.0/0>main-nat-gateway-2 10.0.0.0/16>local
table main-private-persistence-0 [main-private-persistence-0] 10.0.0.0/16>local
table main-private-persistence-1 [main-private-persistence-1] 10.0.0.0/16>local
table main-private-persistence-2 [main-private-persistence-2] 10.0.0.0/16>local
table main-public [main-public-0 main-public-1 main-public-2] 0.0.0.0/0>main 10.0.0.0/16>local
table main-transit-0 [main-transit-0] 10.0.0.0/16>local
table main-transit-1 [main-transit-1] 10.0.0.0/16>local
table main-transit-2 [main-transit-2] 10.0.0.0/16>local
vpc main 10.0.0.0/16 default support=true hostnames=true metrics=false";

/// The tables of both endpoints: all except the main one.
const TABLES: &str = "main-private-app-0 main-private-app-1 main-private-app-2 main-private-persistence-0 \
                      main-private-persistence-1 main-private-persistence-2 main-public main-transit-0 main-transit-1 \
                      main-transit-2";

#[test]
fn a_full_network_matches_the_specification_in_few_calls() {
    let env = TestEnv::with_terraform();
    env.config(FULL);
    let planned = env.workspace.plan_json(&[]);
    let after = &planned["resource_changes"][0]["change"]["after"];
    let unknown = &planned["resource_changes"][0]["change"]["after_unknown"];
    assert_eq!(unknown["aws_objects"].as_object().map(|it| it.len()), Some(49), "the plan shows each object");
    assert_eq!(after["private_app_subnets"]["main-private-app-2"]["cidr_block"], "10.0.64.0/21");

    env.proxy.clear_calls();
    env.workspace.apply(&[]).succeeded();
    assert_calls(&env.proxy, 80, "a create");
    // On moto, every object is ready at the first poll, so there is at most one poll for each.
    assert!(env.proxy.calls().len() <= 80 + 49, "{:#?}", env.proxy.by_action());
    env.proxy.clear_calls();
    env.workspace.assert_nothing_to_do();
    assert_calls(&env.proxy, 16, "a refresh and plan");
    assert_eq!(env.calls(), "", "a plan changes nothing");

    let listing = env.proxy.account().list();
    let expected = TABLE.replace("TABLES", TABLES);
    assert_eq!(env.snapshot().lines(), expected.lines().collect::<Vec<_>>());
    assert_ownership_tags(&env, &listing);
    assert_outputs(&env, &listing);

    env.proxy.clear_calls();
    env.destroy();
    // A plan names the unmanaged objects in the VPC, and the apply, which may run much later and in another process,
    // deletes nothing while one exists. Each takes a list of every kind: 12 calls, since peering connections take two.
    assert_calls(&env.proxy, 74, "a destroy");
}

/// Asserts a limit on the number of calls. Reads after the first changing call do not count: they are polls, whose
/// number varies on AWS.
fn assert_calls(proxy: &Proxy, at_most: usize, what: &str) {
    let mut changing = false;
    let mut count = 0;
    for record in proxy.calls() {
        changing |= record.call.is_mutation();
        count += usize::from(!changing || record.call.is_mutation());
    }
    assert!(count <= at_most, "{what} takes {count} calls, at most {at_most} are allowed: {:#?}", proxy.by_action());
}

/// Asserts the ownership tags: the root has the network's name and the state `ready`, every other object has the root's
/// id and its own key.
fn assert_ownership_tags(env: &TestEnv, listing: &Value) {
    let objects = env.attribute("aws_objects");
    let keys: BTreeMap<String, &str> =
        objects.as_object().expect("a map").iter().map(|(key, id)| (text(id), key.as_str())).collect();
    assert_eq!(keys.len(), 49, "{objects}");
    let vpc = env.id("vpc");
    let mut tagged = 0;
    for (kind, member) in [
        ("vpcs", "VpcId"),
        ("internet_gateways", "InternetGatewayId"),
        ("subnets", "SubnetId"),
        ("route_tables", "RouteTableId"),
        ("addresses", "AllocationId"),
        ("nat_gateways", "NatGatewayId"),
        ("vpc_endpoints", "VpcEndpointId"),
        ("security_groups", "GroupId"),
        ("network_acls", "NetworkAclId"),
    ] {
        for object in listing[kind].as_array().expect("a list") {
            let tags = &object["tags"];
            let ours: BTreeMap<&str, &str> =
                [("resource", "fgw:resource"), ("object", "fgw:object"), ("state", "fgw:state")]
                    .into_iter()
                    .filter_map(|(short, key)| Some((short, tags[key].as_str()?)))
                    .collect();
            let resource = format!("four_tier_vpc/{vpc}");
            match keys.get(&text(&object[member])) {
                Some(&"vpc") => {
                    assert_eq!(ours, [("resource", "four_tier_vpc/main"), ("state", "ready")].into());
                }
                Some(key) => assert_eq!(ours, [("resource", resource.as_str()), ("object", key)].into()),
                None => assert_eq!(ours, BTreeMap::new(), "AWS created it with the VPC: {object}"),
            }
            tagged += usize::from(!ours.is_empty());
        }
    }
    // The other 16 of the 49 objects are four routes and twelve associations, which have no tags.
    assert_eq!(tagged, 33);
}

fn assert_outputs(env: &TestEnv, listing: &Value) {
    let account = &env.proxy.account().id;
    let named = |kind: &str, member: &str, name: &str| {
        let objects = listing[kind].as_array().expect("a list");
        let found = objects.iter().find(|object| object["tags"]["Name"] == name);
        found.unwrap_or_else(|| panic!("no {name} among the {kind}"))[member].clone()
    };
    let vpc = named("vpcs", "VpcId", "main");
    let tables = listing["route_tables"].as_array().expect("a list");
    let main_table = tables.iter().find(|table| table["Associations"][0]["Main"] == true).expect("a main table");
    let three = |of: &dyn Fn(usize) -> Value| Value::Array((0..3).map(of).collect());
    let mut expected = BTreeMap::from([
        ("id".to_owned(), vpc.clone()),
        ("vpc_id".to_owned(), vpc.clone()),
        ("vpc_arn".to_owned(), json!(format!("arn:aws:ec2:us-east-1:{account}:vpc/{}", text(&vpc)))),
        ("vpc_cidr_block".to_owned(), "10.0.0.0/16".into()),
        ("ipv6_cidr_block".to_owned(), Value::Null),
        ("availability_zones".to_owned(), json!(["us-east-1a", "us-east-1b", "us-east-1c"])),
        ("availability_zone_ids_used".to_owned(), json!(["use1-az6", "use1-az1", "use1-az2"])),
        ("default_route_table_id".to_owned(), main_table["RouteTableId"].clone()),
        ("default_network_acl_id".to_owned(), listing["network_acls"][0]["NetworkAclId"].clone()),
        ("default_security_group_id".to_owned(), named("security_groups", "GroupId", "main")),
        ("internet_gateway_id".to_owned(), named("internet_gateways", "InternetGatewayId", "main")),
        (
            "nat_gateway_ids".to_owned(),
            three(&|index| named("nat_gateways", "NatGatewayId", &format!("main-nat-gateway-{index}"))),
        ),
        (
            "nat_gateway_public_ips".to_owned(),
            three(&|index| named("addresses", "PublicIp", &format!("main-nat-gateway-{index}"))),
        ),
        ("private_nat_gateway_ids".to_owned(), json!([])),
        ("objectstore_endpoint_id".to_owned(), named("vpc_endpoints", "VpcEndpointId", "main-objectstore")),
        ("keyvalue_endpoint_id".to_owned(), named("vpc_endpoints", "VpcEndpointId", "main-keyvalue")),
        ("status".to_owned(), json!("ready")),
        ("drift".to_owned(), json!({})),
        ("pending_deletion".to_owned(), json!({})),
        ("tags_all".to_owned(), json!({})),
    ]);
    for (tier, name, first_block) in [
        ("public", "public", 0),
        ("private_app", "private-app", 48),
        ("private_persistence", "private-persistence", 96),
        ("transit", "transit", 144),
    ] {
        let id = |index: usize| named("subnets", "SubnetId", &format!("main-{name}-{index}"));
        let arn = |index: usize| json!(format!("arn:aws:ec2:us-east-1:{account}:subnet/{}", text(&id(index))));
        let table = |index: usize| match tier {
            "public" => named("route_tables", "RouteTableId", "main-public"),
            _ => named("route_tables", "RouteTableId", &format!("main-{name}-{index}")),
        };
        let subnet = |index: usize| {
            let subnet_name = format!("main-{name}-{index}");
            let zone = ["us-east-1a", "us-east-1b", "us-east-1c"][index];
            let zone_id = ["use1-az6", "use1-az1", "use1-az2"][index];
            let object = json!({
                "id": id(index), "arn": arn(index), "name": subnet_name, "tier": tier, "index": index,
                "availability_zone": zone,
                "availability_zone_id": zone_id,
                "cidr_block": format!("10.0.{}.0/21", first_block + 8 * index), "ipv6_cidr_block": null,
                "route_table_id": table(index), "map_public_ip_on_launch": false,
                "assign_ipv6_address_on_creation": false, "vpc_id": vpc, "owner_id": account,
                "tags": {"Name": subnet_name},
            });
            (format!("main-{name}-{index}"), object)
        };
        expected.insert(format!("{tier}_subnets"), Value::Object((0..3).map(subnet).collect()));
        expected.insert(format!("{tier}_subnet_ids"), three(&id));
        expected.insert(format!("{tier}_subnet_arns"), three(&arn));
        let tables = if tier == "public" { json!([table(0)]) } else { three(&table) };
        expected.insert(format!("{tier}_route_table_ids"), tables);
    }
    for (name, value) in expected {
        assert_eq!(env.attribute(&name), value, "output {name}");
    }
}
