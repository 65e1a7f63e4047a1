//! Secondary IPv4 ranges of the VPC, and subnets in them.

use serde_json::{Value, json};

use super::adoption::assert_is_adopted;
use super::refusals::rejected;
use super::{SHORT_TIMEOUTS, THIS, TestEnv, text};
use crate::support::adoption::{generate, without_adopt};
use crate::support::foreign::network::{ForeignNetwork, Objects};
use crate::support::proxy::fault::Fault;
use crate::support::proxy::lasts::Lasts;

const ALONE: &str = "  num_availability_zones = 2\n  num_nat_gateways = 0\n  create_public_subnets = false\n  \
                     create_vpc_endpoints = false";

const PODS: &str = "100.64.0.0/16";

fn alone(more: &str) -> String {
    format!("{ALONE}\n{more}")
}

/// The network with the range of the pods, and the private persistence tier in it.
fn with_pods(more: &str) -> String {
    let blocks = "private_persistence_subnet_cidr_blocks = { AZ-0 = \"100.64.0.0/18\", AZ-1 = \"100.64.64.0/18\" }";
    alone(&format!("  secondary_cidr_blocks = [\"{PODS}\"{more}]\n  {blocks}"))
}

/// The position of the first or the last call of an action.
fn at(env: &TestEnv, action: &str, is_last: bool) -> usize {
    let calls: Vec<String> = env.proxy.mutations().into_iter().map(|record| record.call.action).collect();
    let found = match is_last {
        true => calls.iter().rposition(|it| it == action),
        false => calls.iter().position(|it| it == action),
    };
    found.unwrap_or_else(|| panic!("{action} in {calls:?}"))
}

/// Asserts that AWS has rejected no call.
fn assert_no_errors(env: &TestEnv) {
    let errors: Vec<String> = env.proxy.calls().into_iter().filter_map(|record| record.error).collect();
    assert_eq!(errors, [""; 0]);
}

fn associate(env: &TestEnv, range: &str) -> String {
    let created =
        env.proxy.boto("ec2", "associate_vpc_cidr_block", json!({ "VpcId": env.id("vpc"), "CidrBlock": range }));
    text(&created["CidrBlockAssociation"]["AssociationId"])
}

fn disassociate(env: &TestEnv, association: &str) {
    env.proxy.boto("ec2", "disassociate_vpc_cidr_block", json!({ "AssociationId": association }));
}

#[test]
fn ranges_are_added_changed_imported_and_removed() {
    let env = TestEnv::new();
    let kms = "\n  interface_endpoints = { kms = { subnet_tier = \"private_app\" } }";
    env.change(&alone(kms));
    let network = env.attribute("aws_objects");
    let on = env.change(&format!("{}{kms}", alone("  secondary_cidr_blocks = [\"100.64.0.0/16\"]")));
    assert_eq!(on.calls, "AssociateVpcCidrBlock 1, AuthorizeSecurityGroupIngress 1", "the group allows the new range");
    let vpc = "vpc main 10.0.0.0/16 +100.64.0.0/16 default support=true hostnames=true metrics=false";
    assert!(on.new.iter().any(|line| line == vpc), "{on:#?}");
    let tables = env.proxy.boto("ec2", "describe_route_tables", json!({}));
    assert!(tables.to_string().contains(PODS), "AWS adds local routes, which are neither drift nor unmanaged");

    let second = env.change(&format!("{}{kms}", with_pods(", \"100.65.0.0/20\"")));
    assert_eq!(
        second.calls,
        "AssociateRouteTable 2, AssociateVpcCidrBlock 1, AuthorizeSecurityGroupIngress 1, CreateSubnet 2, DeleteSubnet 2"
    );
    let blocks = |tier: &str| {
        env.attribute(&format!("{tier}_subnets"))[format!("main-{}-0", tier.replace('_', "-"))]["cidr_block"].clone()
    };
    assert_eq!(blocks("private_persistence"), "100.64.0.0/18");
    assert!(env.id("cidr_block.100.64.0.0/16").starts_with("vpc-cidr-assoc-"));

    env.workspace.reimport(THIS);
    env.workspace.assert_nothing_to_do();
    let ids = env.attribute("aws_objects");
    env.workspace.lose_private_state(THIS);
    env.proxy.clear_calls();
    env.workspace.apply(&[]).succeeded();
    assert_eq!((env.calls(), env.attribute("aws_objects")), (String::new(), ids), "their IDs are in the state");

    let fewer = env.change(&format!("{}{kms}", with_pods("")));
    assert_eq!(fewer.calls, "DisassociateVpcCidrBlock 1, RevokeSecurityGroupIngress 1");
    env.change(&alone(kms));
    let now = env.attribute("aws_objects");
    for (slot, id) in network.as_object().expect("a map").iter().filter(|(slot, _)| !slot.contains("persistence")) {
        assert_eq!(now[slot], *id, "{slot}");
    }
    env.destroy();
}

/// kubernetes-sigs/cluster-api-provider-aws#3277 and #3347, hashicorp/terraform-provider-aws#9592 and #40791
#[test]
fn subnets_come_after_their_range_and_go_before_it() {
    let env = TestEnv::new();
    env.proxy.ranges_changing(Lasts::Answers(3));
    env.config(&with_pods(""));
    env.apply();
    assert!(at(&env, "AssociateVpcCidrBlock", true) < at(&env, "CreateSubnet", true));
    assert_no_errors(&env);

    // All at once: no range goes before its subnets, and AWS never has to say so.
    env.change(&alone(""));
    assert!(at(&env, "DeleteSubnet", true) < at(&env, "DisassociateVpcCidrBlock", false));
    assert_no_errors(&env);

    // The same range again, at once.
    env.change(&with_pods(""));
    rejected_here(&env, "  secondary_cidr_blocks = [\"100.64.0.0/17\"]", &["Remove 100.64.0.0/16 in one apply"]);
    env.change(&with_pods(""));
    env.proxy.clear_calls();
    env.destroy();
    assert_eq!(env.proxy.count("DisassociateVpcCidrBlock"), 0, "AWS deletes the associations with the VPC");
    assert_no_errors(&env);
}

/// kubernetes-sigs/cluster-api-provider-aws#4246 and #5291
#[test]
fn a_foreign_range_is_reported_and_taken_over_only_if_required() {
    let env = TestEnv::new();
    env.change(ALONE);
    let association = associate(&env, PODS);
    env.workspace.apply(&["-refresh-only"]).succeeded();
    env.workspace.assert_nothing_to_do();
    let reported = env.attribute("unmanaged_objects")[&association].clone();
    assert!(text(&reported).contains("it associates the range 100.64.0.0/16"), "{reported}");
    let destroyed = env.change(&alone("  custom_tags = { a = \"b\" }"));
    assert!(!destroyed.calls.contains("VpcCidrBlock"), "{destroyed:#?}");

    rejected_here(&env, "  secondary_cidr_blocks = [\"100.64.0.0/20\"]", &["overlaps 100.64.0.0/16", &association]);
    env.config(&with_pods(""));
    let plan = env.workspace.plan(&[]);
    assert!(plan.says(&format!("The VPC has 100.64.0.0/16 already ({association})")), "{plan}");
    let taken = env.change(&with_pods(""));
    assert!(!taken.calls.contains("VpcCidrBlock"), "{taken:#?}");
    assert_eq!(env.id("cidr_block.100.64.0.0/16"), association);
    assert_eq!(env.attribute("unmanaged_objects"), json!({}));
    assert!(env.change(ALONE).calls.contains("DisassociateVpcCidrBlock 1"), "from then on, it is managed");
    env.end();
}

/// A plan that fails with these texts.
fn rejected_here(env: &TestEnv, attributes: &str, says: &[&str]) {
    env.config(&alone(attributes));
    let plan = env.workspace.plan(&[]);
    for text in says {
        plan.failed_with(text);
    }
}

#[test]
fn unmanaged_subnets_and_routes_in_the_way_are_named() {
    let env = TestEnv::new();
    env.change(&with_pods(""));
    let foreign = ForeignNetwork::within(&env.proxy, &env.id("vpc"));
    let subnet = foreign.subnet("theirs", "100.64.128.0/24", "us-east-1a");
    let says = [format!("the subnet {subnet} (100.64.128.0/24) is in it"), "keep 100.64.0.0/16 in".to_string()];
    rejected_here(&env, "", &says.each_ref().map(String::as_str));

    // A subnet that appears after the plan keeps the range, and is named; afterwards, the apply goes on.
    env.ec2("delete_subnet", json!({ "SubnetId": subnet }));
    env.config(&alone(SHORT_TIMEOUTS));
    env.workspace.plan_json(&[]);
    let late = foreign.subnet("late", "100.64.129.0/24", "us-east-1a");
    let applied = env.workspace.apply_plan();
    assert!(applied.says(&late), "{applied}");
    assert!(env.attribute("pending_deletion").to_string().contains("cidr_block.100.64.0.0/16"), "{applied}");
    env.ec2("delete_subnet", json!({ "SubnetId": late }));
    assert!(env.change(ALONE).calls.contains("DisassociateVpcCidrBlock 1"));

    // The same if the plan deletes nothing else: those who use an output of the network go on, and the next apply
    // deletes it.
    env.change(&alone(&format!("  secondary_cidr_blocks = [\"{PODS}\"]")));
    env.config(&alone(SHORT_TIMEOUTS));
    env.workspace.plan_json(&[]);
    let later = foreign.subnet("later", "100.64.130.0/24", "us-east-1a");
    let applied = env.workspace.apply_plan();
    applied.succeeded();
    assert!(applied.says(&later) && applied.says("still in use; the next apply deletes it"), "{applied}");
    assert!(env.attribute("pending_deletion").to_string().contains("cidr_block.100.64.0.0/16"), "{applied}");
    env.workspace.assert_nothing_to_do();
    env.ec2("delete_subnet", json!({ "SubnetId": later }));
    assert_eq!(env.change(ALONE).calls, "DisassociateVpcCidrBlock 1");

    let table = env.id("route_table.private_app.0");
    let gateway = foreign.internet_gateway();
    let route = json!({ "RouteTableId": table, "DestinationCidrBlock": "100.64.7.0/24", "GatewayId": gateway });
    env.ec2("create_route", route);
    rejected_here(&env, "  secondary_cidr_blocks = [\"100.64.0.0/16\"]", &[&format!("100.64.7.0/24 in {table}")]);
    env.change(&alone("  secondary_cidr_blocks = [\"100.64.7.128/25\"]"));
    env.ec2("delete_route", json!({ "RouteTableId": table, "DestinationCidrBlock": "100.64.7.0/24" }));
    env.ec2("detach_internet_gateway", json!({ "InternetGatewayId": gateway, "VpcId": env.id("vpc") }));
    env.end();
}

#[test]
fn a_failed_association_is_reported_and_repeated() {
    let env = TestEnv::new();
    env.change(ALONE);
    env.proxy.fail_next_range("The CIDR conflicts with that of a peered VPC.");
    env.config(&with_pods(""));
    let failed = env.workspace.apply(&[]);
    failed.failed_with("The CIDR conflicts with that of a peered VPC.");
    assert_eq!(env.proxy.count("CreateSubnet"), 4, "no subnet was created in it");
    env.apply();
    assert_eq!(env.proxy.count("AssociateVpcCidrBlock"), 1);

    // What AWS may have loosened is a warning, and what it rejects an error of the apply.
    let restricted = alone("  secondary_cidr_blocks = [\"172.16.0.0/16\"]");
    env.change(ALONE);
    env.config(&restricted);
    let plan = env.workspace.plan(&[]);
    assert!(plan.code == 2 && plan.says("AWS may reject 172.16.0.0/16"), "{plan}");
    env.workspace.apply(&[]).failed_with("The CIDR '172.16.0.0/16' is restricted.");
    env.end();
}

#[test]
fn a_lost_answer_associates_a_range_once() {
    let env = TestEnv::new();
    env.change(ALONE);
    env.proxy.fault(Fault::on("AssociateVpcCidrBlock").first(1).after_work().reset());
    env.change(&with_pods(""));
    assert_eq!(env.proxy.count("AssociateVpcCidrBlock"), 1);
    env.assert_state_matches_aws();
    env.proxy.fault(Fault::on("DisassociateVpcCidrBlock").first(1).after_work().reset());
    env.change(ALONE);
    env.end();
}

#[test]
fn drift_of_ranges_is_shown_ignored_and_corrected() {
    let env = TestEnv::new();
    let two = alone("  secondary_cidr_blocks = [\"100.64.0.0/16\", \"100.65.0.0/16\"]");
    env.change(&two);
    let good = env.snapshot();
    disassociate(&env, &env.id("cidr_block.100.65.0.0/16"));
    let plan = env.workspace.plan_json(&[]);
    let after = &plan["resource_drift"][0]["change"]["after"];
    assert_eq!(after["secondary_cidr_blocks"], json!([PODS]));
    assert!(text(&after["drift"]["cidr_block.100.65.0.0/16"]).contains("is missing"), "{after}");

    let ignoring = format!("{two}\n  ignore_drift = [\"cidr_block.*\"]");
    env.config(&ignoring);
    env.proxy.clear_calls();
    env.workspace.apply(&[]).succeeded();
    assert_eq!(env.calls(), "");
    assert_eq!(env.change(&two).calls, "AssociateVpcCidrBlock 1");
    assert_eq!(env.snapshot().lines(), good.lines());

    // An association of the same range is the same range.
    disassociate(&env, &env.id("cidr_block.100.65.0.0/16"));
    env.proxy.boto("ec2", "describe_vpcs", json!({}));
    let again = associate(&env, "100.65.0.0/16");
    env.proxy.boto("ec2", "describe_vpcs", json!({}));
    env.workspace.apply(&["-refresh-only"]).succeeded();
    env.workspace.assert_nothing_to_do();
    assert_eq!(env.id("cidr_block.100.65.0.0/16"), again);
    env.end();
}

#[test]
fn protected_ranges_are_not_removed() {
    let env = TestEnv::new();
    let protected = "\n  protected_objects = [\"cidr_block.*\"]";
    env.change(&format!("{}{protected}", alone("  secondary_cidr_blocks = [\"100.64.0.0/16\"]")));
    env.config(&alone(protected));
    env.workspace.plan(&[]).failed_with("cidr_block.100.64.0.0/16");
    env.change(ALONE);
    env.end();
}

#[test]
fn invalid_ranges_and_blocks_fail_at_plan() {
    rejected(
        &alone("  secondary_cidr_blocks = [\"10.0.8.0/24\", \"169.254.0.0/16\", \"100.64.0.0/30\"]"),
        &["10.0.8.0/24 overlaps 10.0.0.0/16", "link-local", "only /16 to /28"],
    );
    rejected(
        &with_pods("").replace("100.64.64.0/18", "100.66.64.0/18"),
        &["100.66.64.0/18 is in none of the VPC's ranges, 10.0.0.0/16, 100.64.0.0/16."],
    );
}

/// The associations of the VPC besides the primary one, by range.
fn ranges(env: &TestEnv, vpc: &str) -> Value {
    let vpcs = env.proxy.boto("ec2", "describe_vpcs", json!({ "VpcIds": [vpc] }));
    let blocks = vpcs["Vpcs"][0]["CidrBlockAssociationSet"].as_array().expect("a list").clone();
    let is_further = |block: &&Value| {
        block["CidrBlock"] != vpcs["Vpcs"][0]["CidrBlock"] && block["CidrBlockState"]["State"] == "associated"
    };
    blocks.iter().filter(is_further).map(|it| (text(&it["CidrBlock"]), it["AssociationId"].clone())).collect()
}

/// A network as in the EKS guide on custom networking: nodes in the primary range, pods in 100.64.0.0/16, and one NAT
/// gateway. Nodes and pods of an AZ share a route table.
fn eks(env: &TestEnv) -> (String, Objects) {
    let foreign = ForeignNetwork::new(&env.proxy, "eks");
    foreign.range(PODS);
    let gateway = foreign.internet_gateway();
    let mut objects = foreign.defaults();
    objects.extend([("vpc".into(), foreign.vpc.clone()), ("internet_gateway".into(), gateway.clone())]);
    let zones = ["us-east-1a", "us-east-1b"];
    let public: Vec<String> = (zones.iter().enumerate())
        .map(|(index, zone)| foreign.subnet(&format!("eks-public-{zone}"), &format!("10.0.{index}.0/24"), zone))
        .collect();
    let (nat, _) = foreign.nat_gateway(&public[0]);
    let table = foreign.table("eks-public", Some(("GatewayId", &gateway)), &[&public[0], &public[1]]);
    objects.extend([("nat_gateway.0".into(), nat.clone()), ("route_table.public".into(), table)]);
    for (index, (zone, public)) in zones.iter().zip(public).enumerate() {
        let nodes = foreign.subnet(&format!("eks-private-{zone}"), &format!("10.0.{}.0/24", 10 + index), zone);
        let pods = foreign.subnet(&format!("eks-pods-{zone}"), &format!("100.64.{}.0/18", 64 * index), zone);
        let table = foreign.table(&format!("eks-private-{zone}"), Some(("NatGatewayId", &nat)), &[&nodes, &pods]);
        objects.extend([
            (format!("subnet.public.{index}"), public),
            (format!("subnet.private_app.{index}"), nodes),
            (format!("subnet.private_persistence.{index}"), pods),
            (format!("route_table.private_app.{index}"), table),
        ]);
    }
    (foreign.vpc, objects)
}

#[test]
fn a_network_of_eks_is_adopted_with_tags_only() {
    let (applied, _) = assert_is_adopted(eks);
    assert!(!applied.says("100.64.0.0/16 already"), "nothing to warn of: {applied}");
}

#[test]
fn an_adopted_network_of_eks_can_be_changed() {
    let env = TestEnv::with_terraform();
    let (vpc, objects) = eks(&env);
    let before = ranges(&env, &vpc);
    let generated = generate(&env.workspace, THIS, &vpc, "");
    env.workspace.apply(&[]).succeeded();
    assert_eq!((ranges(&env, &vpc), env.id("cidr_block.100.64.0.0/16")), (before.clone(), text(&before[PODS])));
    let adopted = without_adopt(&generated);
    let write = |text: &str| std::fs::write(env.workspace.path().join("generated.tf"), text).expect("the file is ours");
    let change = |text: &str| {
        write(text);
        env.proxy.clear_calls();
        env.workspace.apply(&[]).succeeded();
        env.workspace.assert_nothing_to_do();
        env.calls()
    };
    env.workspace.config("");
    let (one, two) = (
        "secondary_cidr_blocks = [\"100.64.0.0/16\"]",
        "secondary_cidr_blocks = [\"100.64.0.0/16\", \"100.65.0.0/16\"]",
    );
    let spaced = regular(&adopted);
    assert!(spaced.contains(one), "{adopted}");
    assert_eq!(change(&spaced.replace(one, two)), "AssociateVpcCidrBlock 1");
    assert_eq!(change(&spaced), "DisassociateVpcCidrBlock 1");
    // Without the pods, their subnets go first.
    let tier = "create_private_persistence_subnets =";
    let without = spaced.replace(&format!("  {one}\n"), "").replace(&format!("{tier} true"), &format!("{tier} false"));
    assert!(change(&without).contains("DeleteSubnet 2, DisassociateVpcCidrBlock 1"), "{}", env.calls());
    assert_eq!(env.id("subnet.private_app.0"), objects["subnet.private_app.0"]);
    assert_eq!(ranges(&env, &vpc), json!({}));
    env.end();
}

/// A generated configuration with one space around each `=`.
fn regular(generated: &str) -> String {
    let line = |line: &str| match line.split_once(" = ") {
        Some((name, value)) => format!("{} = {value}\n", name.trim_end()),
        None => format!("{line}\n"),
    };
    generated.lines().map(line).collect()
}
