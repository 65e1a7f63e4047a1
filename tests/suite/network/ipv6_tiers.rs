//! IPv6 in private tiers: blocks, the egress-only internet gateway, its routes, and the assignment of addresses.

use serde_json::{Value, json};

use super::adoption::assert_is_adopted;
use super::drift_matrix::fixes;
use super::interruptions::apply_killed_after;
use super::{THIS, TestEnv, assert_unchanged, text};
use crate::support::adoption::{generate, without_adopt};
use crate::support::foreign::network::{ForeignNetwork, Objects};
use crate::support::proxy::lasts::Lasts;
use crate::support::proxy::log::Record;

/// One AZ with all tiers but the transit one, and a NAT gateway.
const PLAIN: &str = "  num_availability_zones = 1\n  num_nat_gateways = 1\n  create_vpc_endpoints = false";

const GENERATED: &str = "  enable_ipv6 = true\n  assign_generated_ipv6_cidr_block = true";

/// The network with IPv6, and these further inputs.
fn dual(further: &str) -> String {
    format!("{PLAIN}\n{GENERATED}\n{further}")
}

/// All three tiers, with addresses in the private ones that have a route.
fn everywhere() -> String {
    dual(
        "  ipv6_subnet_tiers = [\"public\", \"private_app\", \"private_persistence\"]\n  \
         assign_ipv6_address_on_creation_tiers = [\"private_app\"]",
    )
}

/// What a call changes: its action, with the object or the value that tells it from others of the action.
fn described(record: &Record) -> String {
    let call = &record.call;
    let assigns = call.param("AssignIpv6AddressOnCreation.Value");
    match call.action.as_str() {
        "ModifySubnetAttribute" => format!("assigns {assigns}"),
        "CreateRoute" | "DeleteRoute" => format!("{} {}", call.action, call.param("DestinationIpv6CidrBlock")),
        action => action.to_owned(),
    }
}

/// The steps of the last apply, without repetitions that follow each other.
fn steps(env: &TestEnv) -> Vec<String> {
    let mut steps: Vec<String> = env.proxy.mutations().iter().map(described).collect();
    steps.dedup();
    steps
}

/// An instance's network interface with an IPv6 address in a subnet.
fn interface(env: &TestEnv, subnet: &str) -> Value {
    let arguments = json!({ "SubnetId": env.id(subnet), "Ipv6AddressCount": 1, "Description": "web" });
    env.ec2("create_network_interface", arguments)["NetworkInterface"].clone()
}

fn gateway(env: &TestEnv) -> String {
    text(&env.attribute("egress_only_internet_gateway_id"))
}

#[test]
fn ipv6_is_turned_on_and_off_in_private_tiers_in_order() {
    let env = TestEnv::new();
    env.proxy.has_policies_of_configurations();
    let plain = env.change(PLAIN);
    let before = env.attribute("aws_objects");
    let on = env.change(&everywhere());
    assert_eq!(
        on.calls,
        "AssociateSubnetCidrBlock 3, AssociateVpcCidrBlock 1, CreateEgressOnlyInternetGateway 1, CreateRoute 2, \
         ModifySubnetAttribute 1"
    );
    let steps_on = steps(&env);
    let order = |steps: &[String], expected: &[&str]| {
        let first: Vec<usize> = expected
            .iter()
            .map(|step| steps.iter().rposition(|it| it == step).unwrap_or_else(|| panic!("no {step} in {steps:?}")))
            .collect();
        assert!(first.is_sorted(), "{expected:?} in {steps:?}");
    };
    order(
        &steps_on,
        &[
            "AssociateVpcCidrBlock",
            "AssociateSubnetCidrBlock",
            "CreateEgressOnlyInternetGateway",
            "CreateRoute ::/0",
            "assigns true",
        ],
    );
    for line in [
        "subnet main-public-0 us-east-1a use1-az6 10.0.0.0/21 #0/64 public_ip=false",
        "subnet main-private-app-0 us-east-1a use1-az6 10.0.80.0/21 #64/64 public_ip=false assigns_ipv6",
        "subnet main-private-persistence-0 us-east-1a use1-az6 10.0.160.0/21 #128/64 public_ip=false",
        "table main-private-app-0 [main-private-app-0] 0.0.0.0/0>main-nat-gateway-0 10.0.0.0/16>local ::/0>main-egress-only",
    ] {
        assert!(on.new.iter().any(|it| it == line), "no {line} in {on:#?}");
    }
    assert_unchanged(&before, &env.attribute("aws_objects"));
    env.assert_state_matches_aws();

    // A refresh makes one more call, for the gateway.
    env.proxy.clear_calls();
    env.workspace.assert_nothing_to_do();
    assert_eq!(env.proxy.by_action()["DescribeEgressOnlyInternetGateways"], 1, "{:?}", env.proxy.by_action());
    env.workspace.reimport(THIS);
    env.workspace.assert_nothing_to_do();

    let off = env.change(PLAIN);
    assert_eq!(
        off.calls,
        "DeleteEgressOnlyInternetGateway 1, DeleteRoute 2, DisassociateSubnetCidrBlock 3, DisassociateVpcCidrBlock 1, \
         ModifySubnetAttribute 1"
    );
    let steps_off = steps(&env);
    order(
        &steps_off,
        &[
            "assigns false",
            "DeleteRoute ::/0",
            "DisassociateSubnetCidrBlock",
            "DeleteEgressOnlyInternetGateway",
            "DisassociateVpcCidrBlock",
        ],
    );
    assert_eq!(env.proxy.mutations().iter().filter(|it| it.status != 200).count(), 0, "AWS rejects no call");
    assert_eq!(env.attribute("aws_objects"), before, "all objects have the same ids as before");
    let without_acl = |lines: &[String]| -> Vec<String> {
        lines.iter().filter(|line| !line.starts_with("acl") && !line.starts_with("group")).cloned().collect()
    };
    let now: Vec<String> = env.snapshot().lines().into_iter().map(str::to_owned).collect();
    assert_eq!(without_acl(&now), without_acl(&plain.new));
    env.destroy();
}

#[test]
fn tiers_gain_and_lose_ipv6_one_by_one() {
    let env = TestEnv::new();
    env.change(&dual(""));
    let before = env.attribute("aws_objects");
    let app = env.change(&dual("  ipv6_subnet_tiers = [\"public\", \"private_app\"]"));
    assert_eq!(app.calls, "AssociateSubnetCidrBlock 1, CreateEgressOnlyInternetGateway 1, CreateRoute 1");
    assert_unchanged(&before, &env.attribute("aws_objects"));
    let without =
        env.change(&dual("  ipv6_subnet_tiers = [\"public\", \"private_app\"]\n  create_egress_only_igw = false"));
    assert_eq!(without.calls, "DeleteEgressOnlyInternetGateway 1, DeleteRoute 1");
    assert_eq!(steps(&env), ["DeleteRoute ::/0", "DeleteEgressOnlyInternetGateway"], "no route leads nowhere");
    let public_off = env.change(&dual("  ipv6_subnet_tiers = [\"private_app\"]"));
    assert_eq!(
        public_off.calls,
        "CreateEgressOnlyInternetGateway 1, CreateRoute 1, DeleteRoute 1, DisassociateSubnetCidrBlock 1"
    );
    let all = steps(&env);
    let at = |step: &str| all.iter().position(|it| it == step);
    assert!(at("DeleteRoute ::/0") < at("DisassociateSubnetCidrBlock"), "{all:?}");
    // A tier without internet access has a block and no route.
    let persistence = env.change(&dual("  ipv6_subnet_tiers = [\"private_app\", \"private_persistence\"]"));
    assert_eq!(persistence.calls, "AssociateSubnetCidrBlock 1");
    let none = env.change(&dual("  ipv6_subnet_tiers = []"));
    assert_eq!(none.calls, "DeleteEgressOnlyInternetGateway 1, DeleteRoute 1, DisassociateSubnetCidrBlock 2");
    env.destroy();
}

#[test]
fn addresses_in_use_are_named_before_a_block_is_taken() {
    let env = TestEnv::new();
    env.change(&everywhere());
    let interface = interface(&env, "subnet.private_app.0");
    let (id, address) = (text(&interface["NetworkInterfaceId"]), text(&interface["Ipv6Addresses"][0]["Ipv6Address"]));
    for off in [PLAIN.to_owned(), dual("")] {
        env.config(&off);
        env.proxy.clear_calls();
        let plan = env.workspace.plan(&[]);
        plan.failed_with("addresses of subnet.private_app.0 are in use");
        for part in [&id, &address, "web"] {
            assert!(plan.says(part), "{part}: {plan}");
        }
        assert_eq!(env.calls(), "");
    }
    // Another tier loses its block.
    let others = dual("  ipv6_subnet_tiers = [\"public\", \"private_app\"]");
    assert_eq!(env.change(&others).calls, "DisassociateSubnetCidrBlock 1, ModifySubnetAttribute 1");
    // An address without the interface is enough to free it.
    let unassign = json!({ "NetworkInterfaceId": id, "Ipv6Addresses": [address] });
    env.ec2("unassign_ipv6_addresses", unassign);
    env.change(PLAIN);
    env.ec2("delete_network_interface", json!({ "NetworkInterfaceId": id }));
    env.destroy();
}

#[test]
fn an_address_that_appears_during_the_apply_is_named() {
    let env = TestEnv::new();
    env.change(&everywhere());
    env.config(PLAIN);
    let (account, subnet) = (env.proxy.account().clone(), env.id("subnet.private_app.0"));
    let witness = env.proxy.after_each_change(move |call| {
        if call.action == "ModifySubnetAttribute" {
            let arguments = json!({ "SubnetId": subnet, "Ipv6AddressCount": 1, "Description": "late" });
            account.boto("ec2", "create_network_interface", arguments);
        }
    });
    let applied = env.workspace.apply(&[]);
    drop(witness);
    applied.failed_with("InvalidCidrBlock.InUse");
    assert!(applied.says("\"late\""), "{applied}");
    assert!(!env.attribute("aws_objects")["egress_only_internet_gateway"].is_null(), "it waits for the block");
    let filters = json!([{ "Name": "description", "Values": ["late"] }]);
    let found = env.ec2("describe_network_interfaces", json!({ "Filters": filters }));
    let late = &found["NetworkInterfaces"][0]["NetworkInterfaceId"];
    env.ec2("delete_network_interface", json!({ "NetworkInterfaceId": late }));
    env.apply();
    env.destroy();
}

#[test]
fn a_deleted_gateway_and_deleted_routes_are_created_again() {
    let env = TestEnv::new();
    env.change(&everywhere());
    let good = env.snapshot();
    let table = env.id("route_table.private_app.0");
    env.ec2("delete_route", json!({ "RouteTableId": table, "DestinationIpv6CidrBlock": "::/0" }));
    fixes(&env, &good, &[("route.private_app.0.ipv6", "is missing")], "CreateRoute 1");
    let before = gateway(&env);
    env.ec2("delete_egress_only_internet_gateway", json!({ "EgressOnlyInternetGatewayId": before }));
    let blackhole = format!("target is blackhole {before} instead of egress_only_internet_gateway");
    let found = [("egress_only_internet_gateway", "is missing"), ("route.private_app.0.ipv6", blackhole.as_str())];
    fixes(&env, &good, &found, "CreateEgressOnlyInternetGateway 1, ReplaceRoute 1");
    let flag = json!({ "SubnetId": env.id("subnet.private_app.0"), "AssignIpv6AddressOnCreation": { "Value": false } });
    env.ec2("modify_subnet_attribute", flag);
    let drift = "assign_ipv6_address_on_creation is false instead of true";
    fixes(&env, &good, &[("subnet.private_app.0", drift)], "ModifySubnetAttribute 1");
    env.destroy();
}

#[test]
fn a_new_gateway_is_waited_for_until_aws_lists_it() {
    let env = TestEnv::new();
    env.change(PLAIN);
    env.proxy.hide_new_objects(Lasts::Answers(2));
    let on = env.change(&everywhere());
    assert!(on.calls.contains("CreateEgressOnlyInternetGateway 1"), "{on:#?}");
    env.proxy.hide_new_objects(Lasts::NOT_AT_ALL);
    env.destroy();
}

#[test]
fn a_gateway_of_someone_else_is_named_and_can_be_adopted() {
    let env = TestEnv::new();
    env.change(PLAIN);
    let theirs = env.ec2("create_egress_only_internet_gateway", json!({ "VpcId": env.id("vpc") }));
    let id = text(&theirs["EgressOnlyInternetGateway"]["EgressOnlyInternetGatewayId"]);
    env.config(&everywhere());
    env.proxy.clear_calls();
    let plan = env.workspace.plan(&[]);
    plan.failed_with("already has the egress-only internet gateway");
    for part in [id.as_str(), "create_egress_only_igw", "adopt"] {
        assert!(plan.says(part), "{part}: {plan}");
    }
    assert_eq!(env.calls(), "");
    let adopting = format!("{}\n  adopt = {{ egress_only_internet_gateway = \"{id}\" }}", everywhere());
    let adopted = env.change(&adopting);
    assert!(!adopted.calls.contains("CreateEgressOnlyInternetGateway"), "{adopted:#?}");
    assert_eq!(gateway(&env), id);
    env.destroy();
}

#[test]
fn a_gateway_of_an_interrupted_run_is_taken_over() {
    let env = TestEnv::new();
    env.change(PLAIN);
    let vpc = env.id("vpc");
    let tags = json!([
        { "Key": "fgw:resource", "Value": format!("four_tier_vpc/{vpc}") },
        { "Key": "fgw:object", "Value": "egress_only_internet_gateway" },
    ]);
    let specification = json!([{ "ResourceType": "egress-only-internet-gateway", "Tags": tags }]);
    let created =
        env.ec2("create_egress_only_internet_gateway", json!({ "VpcId": vpc, "TagSpecifications": specification }));
    let on = env.change(&everywhere());
    assert!(!on.calls.contains("CreateEgressOnlyInternetGateway"), "{on:#?}");
    assert_eq!(json!(gateway(&env)), created["EgressOnlyInternetGateway"]["EgressOnlyInternetGatewayId"]);
    env.destroy();
}

/// Whether AWS has created a default route for IPv6.
fn makes_an_ipv6_route(record: &Record) -> bool {
    let call = &record.call;
    call.action == "CreateRoute" && call.param("DestinationIpv6CidrBlock") == "::/0" && record.worked.is_some()
}

/// Terraform has the state from before: the run was killed after its routes, or the state that it wrote is lost.
#[test]
fn a_lost_switch_of_ipv6_goes_on_with_and_without_refresh() {
    for (is_killed, flags) in [(true, &[][..]), (true, &["-refresh=false"]), (false, &[]), (false, &["-refresh=false"])]
    {
        let env = TestEnv::with_terraform();
        env.change(PLAIN);
        let state = env.workspace.path().join("terraform.tfstate");
        let before = std::fs::read(&state).expect("there is a state");
        env.config(&everywhere());
        env.proxy.clear_calls();
        if is_killed {
            apply_killed_after(&env, 2, makes_an_ipv6_route);
        } else {
            env.workspace.apply(&[]).succeeded();
        }
        std::fs::write(&state, before).expect("the state is ours");
        env.proxy.clear_calls();
        env.workspace.apply(flags).succeeded();
        assert!(!env.calls().contains("CreateEgressOnlyInternetGateway"), "{flags:?}: {}", env.calls());
        assert!(!env.calls().contains("Delete"), "{flags:?}: {}", env.calls());
        assert_eq!(env.proxy.account().list_of("egress_only_internet_gateways").len(), 1);
        env.workspace.assert_nothing_to_do();
        env.assert_state_matches_aws();
        env.destroy();
    }
}

#[test]
fn an_unmanaged_ipv6_route_in_a_private_table_is_refused() {
    let env = TestEnv::new();
    env.change(PLAIN);
    let table = env.id("route_table.private_app.0");
    let instance = env.ec2("create_network_interface", json!({ "SubnetId": env.id("subnet.private_app.0") }));
    let target = &instance["NetworkInterface"]["NetworkInterfaceId"];
    let route = json!({ "RouteTableId": table, "DestinationIpv6CidrBlock": "::/0", "NetworkInterfaceId": target });
    env.ec2("create_route", route);
    env.config(&everywhere());
    let plan = env.workspace.plan(&[]);
    plan.failed_with("would route ::/0");
    assert!(plan.says("create_egress_only_igw = false"), "{plan}");
    let kept = env.change(&format!("{}\n  create_egress_only_igw = false", everywhere()));
    assert!(!kept.calls.contains("CreateRoute 2") && !kept.calls.contains("EgressOnly"), "{kept:#?}");
    env.ec2("delete_route", json!({ "RouteTableId": table, "DestinationIpv6CidrBlock": "::/0" }));
    env.ec2("delete_network_interface", json!({ "NetworkInterfaceId": target }));
    env.destroy();
}

#[test]
fn a_dual_stack_network_of_terraform_aws_modules_is_adopted() {
    let (applied, objects) = assert_is_adopted(|env| terraform_aws_modules(env, true));
    assert!(objects.contains_key("egress_only_internet_gateway"), "{objects:?}");
    assert!(!applied.says("ignore_drift"), "{applied}");
}

/// No input expresses a range that a customer has brought to AWS.
#[test]
fn a_network_with_a_byoip_range_is_adopted_and_keeps_it() {
    let (_, objects) = assert_is_adopted(|env| {
        let built = terraform_aws_modules(env, false);
        env.proxy.brings_ipv6_ranges();
        built
    });
    assert!(objects.contains_key("subnet.private_app.1"), "{objects:?}");
}

/// A network of the module vpc of terraform-aws-modules with `enable_ipv6`: IPv6 prefixes 0 and 1 of the public
/// subnets, 2 and 3 of the private ones, addresses on creation, and default routes. The private tables have them to an
/// egress-only internet gateway. Without `has_routes`, the network has neither.
fn terraform_aws_modules(env: &TestEnv, has_routes: bool) -> (String, Objects) {
    let foreign = ForeignNetwork::new(&env.proxy, "legacy");
    env.ec2("modify_vpc_attribute", json!({ "VpcId": foreign.vpc, "EnableDnsHostnames": { "Value": true } }));
    let associate = json!({ "VpcId": foreign.vpc, "AmazonProvidedIpv6CidrBlock": true });
    env.ec2("associate_vpc_cidr_block", associate);
    let vpcs = env.ec2("describe_vpcs", json!({ "VpcIds": [foreign.vpc] }));
    let range: ipnet::Ipv6Net =
        text(&vpcs["Vpcs"][0]["Ipv6CidrBlockAssociationSet"][0]["Ipv6CidrBlock"]).parse().expect("a range");
    let internet = foreign.internet_gateway();
    foreign.tag(&internet, &[("Name", "legacy")]);
    let mut objects =
        Objects::from([("vpc".into(), foreign.vpc.clone()), ("internet_gateway".into(), internet.clone())]);
    let mut egress = String::new();
    if has_routes {
        let created = env.ec2("create_egress_only_internet_gateway", json!({ "VpcId": foreign.vpc }));
        egress = text(&created["EgressOnlyInternetGateway"]["EgressOnlyInternetGatewayId"]);
        foreign.tag(&egress, &[("Name", "legacy")]);
        objects.insert("egress_only_internet_gateway".into(), egress.clone());
    }
    let ipv6_route = |table: &str, kind: &str, target: &str| {
        if !has_routes {
            return;
        }
        let route = json!({ "RouteTableId": table, "DestinationIpv6CidrBlock": "::/0", kind: target });
        env.ec2("create_route", route);
    };
    let mut public = Vec::new();
    for (index, zone) in ["us-east-1a", "us-east-1b"].iter().enumerate() {
        let mut subnet = |kind: &str, tier: &str, block: usize, prefix: usize| {
            let id = foreign.subnet(&format!("legacy-{kind}-{zone}"), &format!("10.0.{}.0/24", block + index), zone);
            let address = u128::from(range.network()) + (((prefix + index) as u128) << 64);
            let block = ipnet::Ipv6Net::new(address.into(), 64).expect("a length").to_string();
            env.ec2("associate_subnet_cidr_block", json!({ "SubnetId": id, "Ipv6CidrBlock": block }));
            let flag = json!({ "SubnetId": id, "AssignIpv6AddressOnCreation": { "Value": true } });
            env.ec2("modify_subnet_attribute", flag);
            objects.insert(format!("subnet.{tier}.{index}"), id.clone());
            id
        };
        public.push(subnet("public", "public", 101, 0));
        let private = subnet("private", "private_app", 1, 2);
        let (nat, _) = foreign.nat_gateway(&public[index]);
        let table = foreign.table(&format!("legacy-private-{zone}"), Some(("NatGatewayId", &nat)), &[&private]);
        ipv6_route(&table, "EgressOnlyInternetGatewayId", &egress);
        objects.insert(format!("nat_gateway.{index}"), nat);
        objects.insert(format!("route_table.private_app.{index}"), table);
    }
    let public: Vec<&str> = public.iter().map(String::as_str).collect();
    let table = foreign.table("legacy-public", Some(("GatewayId", &internet)), &public);
    ipv6_route(&table, "GatewayId", &internet);
    objects.insert("route_table.public".into(), table);
    objects.extend(foreign.defaults());
    (foreign.vpc, objects)
}

#[test]
fn an_adopted_dual_stack_network_is_changed_and_destroyed() {
    let env = TestEnv::with_terraform();
    let (vpc, objects) = terraform_aws_modules(&env, true);
    let generated = generate(&env.workspace, THIS, &vpc, "");
    env.workspace.apply(&[]).succeeded();
    env.workspace.config("");
    let public_only = |line: &str| match line.split_whitespace().next() {
        Some("create_egress_only_igw") => String::new(),
        Some(name @ ("ipv6_subnet_tiers" | "assign_ipv6_address_on_creation_tiers")) => {
            format!("  {name} = [\"public\"]")
        }
        _ => line.to_owned(),
    };
    let changed: Vec<String> = without_adopt(&generated).lines().map(public_only).collect();
    std::fs::write(env.workspace.path().join("generated.tf"), changed.join("\n") + "\n").expect("the file is ours");
    env.proxy.clear_calls();
    env.workspace.apply(&[]).succeeded();
    assert_eq!(
        env.calls(),
        "DeleteEgressOnlyInternetGateway 1, DeleteRoute 2, DisassociateSubnetCidrBlock 2, ModifySubnetAttribute 2"
    );
    env.workspace.assert_nothing_to_do();
    let remaining = env.attribute("aws_objects");
    for (key, id) in objects.iter().filter(|(key, _)| *key != "egress_only_internet_gateway") {
        assert_eq!(remaining[key], json!(id), "{key}");
    }
    env.destroy();
    let left = env.proxy.account().list();
    for kind in ["subnets", "egress_only_internet_gateways"] {
        assert_eq!(left[kind].as_array().map(Vec::len), Some(0), "{kind}: {left}");
    }
}
