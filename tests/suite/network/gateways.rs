//! NAT gateways, their addresses, and the route tables of the public tier.

use serde_json::json;

use super::{TestEnv, text};

const TWO_AZS: &str = "  num_availability_zones = 2\n  create_vpc_endpoints = false";

fn two_azs(further: &str) -> String {
    format!("{TWO_AZS}\n{further}")
}

fn addresses(env: &TestEnv, count: usize) -> Vec<String> {
    let allocate = |number: usize| {
        let tags = json!([{"ResourceType": "elastic-ip", "Tags": [{"Key": "Name", "Value": format!("own-{number}")}]}]);
        text(&env.ec2("allocate_address", json!({"Domain": "vpc", "TagSpecifications": tags}))["AllocationId"])
    };
    (0..count).map(allocate).collect()
}

#[test]
fn routes_move_before_a_nat_gateway_is_deleted() {
    let env = TestEnv::new();
    env.change(&two_azs("  num_nat_gateways = 1"));
    let first = env.id("nat_gateway.0");
    let more = env.change(&two_azs("  num_nat_gateways = 2"));
    assert_eq!(more.calls, "AllocateAddress 1, CreateNatGateway 1, ReplaceRoute 1");
    assert_eq!(
        more.new,
        [
            "address main-nat-gateway-1",
            "nat main-nat-gateway-1 public available in main-public-1 with main-nat-gateway-1",
            "table main-private-app-1 [main-private-app-1] 0.0.0.0/0>main-nat-gateway-1 10.0.0.0/16>local",
        ]
    );
    let fewer = env.change(&two_azs("  num_nat_gateways = 1"));
    let order: Vec<String> = env.proxy.mutations().into_iter().map(|record| record.call.action).collect();
    assert_eq!(order, ["ReplaceRoute", "DeleteNatGateway", "ReleaseAddress"]);
    assert_eq!(fewer.old, more.new);
    assert_eq!(env.id("nat_gateway.0"), first);
    let none = env.change(&two_azs("  num_nat_gateways = 0"));
    assert_eq!(none.calls, "DeleteNatGateway 1, DeleteRoute 2, ReleaseAddress 1");
    env.destroy();
}

#[test]
fn another_internet_gateway_in_the_vpc_is_named() {
    let env = TestEnv::new();
    let closed = two_azs("  num_nat_gateways = 0\n  create_igw = false");
    env.change(&closed);
    let other = text(&env.ec2("create_internet_gateway", json!({}))["InternetGateway"]["InternetGatewayId"]);
    let attachment = json!({"InternetGatewayId": other, "VpcId": env.id("vpc")});
    env.ec2("attach_internet_gateway", attachment.clone());
    let open = two_azs("  num_nat_gateways = 0");
    env.config(&open);
    let failed = env.workspace.apply(&[]);
    failed.failed_with("AttachInternetGateway returned InvalidParameterValue");
    failed.failed_with(&format!(
        "{other}, which this resource does not manage, is attached. Detach it, or set create_igw"
    ));
    env.ec2("detach_internet_gateway", attachment);
    env.change(&open);
    env.end();
}

#[test]
fn existing_addresses_serve_nat_gateways_and_are_kept() {
    let env = TestEnv::new();
    let own = addresses(&env, 3);
    let custom = |ids: &[&String]| {
        let ids: Vec<String> = ids.iter().map(|id| format!("\"{id}\"")).collect();
        two_azs(&format!(
            "  num_nat_gateways = {}\n  use_custom_nat_eips = true\n  custom_nat_eips = [{}]",
            ids.len(),
            ids.join(", ")
        ))
    };
    let created = env.change(&custom(&[&own[0], &own[1]]));
    for line in [
        "nat main-nat-gateway-0 public available in main-public-0 with own-0",
        "nat main-nat-gateway-1 public available in main-public-1 with own-1",
    ] {
        assert!(created.new.iter().any(|it| it == line), "no {line} in {created:#?}");
    }
    let ips = env.proxy.account().list_of("addresses");
    let ip = |id: &str| ips.iter().find(|it| it["AllocationId"] == id).expect("it is allocated")["PublicIp"].clone();
    assert_eq!(env.attribute("nat_gateway_public_ips"), json!([ip(&own[0]), ip(&own[1])]));

    let turned = env.change(&custom(&[&own[1], &own[0]]));
    assert_eq!(turned.calls, "", "the order of the list has no meaning");
    let kept = env.id("nat_gateway.1");
    let replaced = env.change(&custom(&[&own[2], &own[1]]));
    assert_eq!(replaced.calls, "CreateNatGateway 1, DeleteNatGateway 1, ReplaceRoute 1");
    assert_eq!(env.id("nat_gateway.1"), kept);

    // Without existing addresses, the provider allocates its own. The existing ones are not released.
    let given_up = env.change(&two_azs("  num_nat_gateways = 2"));
    assert_eq!(given_up.calls, "AllocateAddress 2, CreateNatGateway 2, DeleteNatGateway 2, ReplaceRoute 2");

    // Back to existing addresses: the plan warns that the allocated ones are lost. Routes move before their release.
    let ours = env.attribute("nat_gateway_public_ips");
    env.config(&custom(&[&own[0], &own[1]]));
    let plan = env.workspace.plan(&[]);
    for index in [0, 1] {
        let (eip, nat) = (env.id(&format!("eip.{index}")), env.id(&format!("nat_gateway.{index}")));
        let address = ours[index].as_str().expect("an address");
        let lost = format!("deleted: eip.{index} ({eip}), the public address {address} is lost");
        assert!(plan.says(&lost) && plan.says(&format!("replaced: nat_gateway.{index} ({nat})")), "{plan}");
    }
    let taken_up = env.apply();
    assert_eq!(taken_up.calls, "CreateNatGateway 2, DeleteNatGateway 2, ReleaseAddress 2, ReplaceRoute 2");
    let order: Vec<String> = env.proxy.mutations().into_iter().map(|record| record.call.action).collect();
    let last = |action: &str| order.iter().rposition(|it| it == action);
    let first = |action: &str| order.iter().position(|it| it == action);
    assert!(last("CreateNatGateway") < first("ReplaceRoute"), "{order:?}");
    assert!(first("ReplaceRoute") < first("DeleteNatGateway") && first("DeleteNatGateway") < first("ReleaseAddress"));
    env.destroy();
    let left = env.proxy.account().list_of("addresses");
    assert_eq!(left.len(), 3, "existing addresses are not released: {left:?}");
}

#[test]
fn public_subnets_change_their_tables_without_a_gap() {
    let env = TestEnv::new();
    env.change(&two_azs("  num_nat_gateways = 0"));
    let own = env.change(&two_azs("  num_nat_gateways = 0\n  one_route_table_public_subnets = false"));
    assert_eq!(own.calls, "CreateRoute 2, CreateRouteTable 2, DeleteRouteTable 1, ReplaceRouteTableAssociation 2");
    let calls = env.proxy.mutations();
    let last_route = calls.iter().rposition(|record| record.call.action == "CreateRoute");
    let first_move = calls.iter().position(|record| record.call.action == "ReplaceRouteTableAssociation");
    assert!(last_route < first_move, "a subnet moves to a table that has its default route: {calls:#?}");
    assert_eq!(
        own.new,
        [
            "table main-public-0 [main-public-0] 0.0.0.0/0>main 10.0.0.0/16>local",
            "table main-public-1 [main-public-1] 0.0.0.0/0>main 10.0.0.0/16>local",
        ]
    );
    let back = env.change(&two_azs("  num_nat_gateways = 0"));
    assert_eq!(back.calls, "CreateRoute 1, CreateRouteTable 1, DeleteRouteTable 2, ReplaceRouteTableAssociation 2");
    assert_eq!(back.new, own.old);
    env.end();
}

#[test]
fn persistence_reaches_the_internet_only_if_allowed() {
    let env = TestEnv::new();
    env.change(&two_azs("  num_nat_gateways = 1"));
    let allowed = env.change(&two_azs("  num_nat_gateways = 1\n  allow_private_persistence_internet_access = true"));
    assert_eq!(allowed.calls, "CreateRoute 2");
    assert_eq!(
        allowed.new[1],
        "table main-private-persistence-1 [main-private-persistence-1] 0.0.0.0/0>main-nat-gateway-0 10.0.0.0/16>local"
    );
    let forbidden = env.change(&two_azs("  num_nat_gateways = 1"));
    assert_eq!((forbidden.calls.as_str(), forbidden.new), ("DeleteRoute 2", allowed.old));
    let closed = env.change(&two_azs("  num_nat_gateways = 0\n  create_igw = false"));
    assert!(closed.new.iter().any(|line| line == "table main-public [main-public-0 main-public-1] 10.0.0.0/16>local"));
    assert!(env.attribute("internet_gateway_id").is_null());
    env.end();
}
