//! AZs that AWS adds, impairs or no longer lists, and AZs that inputs exclude and admit again. Only inputs delete
//! objects; the other AZs keep their indices, blocks, NAT gateways and ids.

use serde_json::json;

use super::{THIS, TestEnv, assert_unchanged, without_acl};
use crate::support::proxy::Zone;

/// Only two tiers, to keep the tests fast.
const TWO_TIERS: &str = "  create_vpc_endpoints = false\n  create_private_persistence_subnets = false";

fn with(further: &str) -> String {
    format!("{TWO_TIERS}\n{further}")
}

fn a() -> Zone {
    Zone::new("us-east-1a", "use1-az6")
}

fn b() -> Zone {
    Zone::new("us-east-1b", "use1-az1")
}

fn c() -> Zone {
    Zone::new("us-east-1c", "use1-az2")
}

fn d() -> Zone {
    Zone::new("us-east-1d", "use1-az4")
}

fn e() -> Zone {
    Zone::new("us-east-1e", "use1-az3")
}

#[test]
fn a_new_az_is_added_at_the_end_even_if_its_name_is_first() {
    let env = TestEnv::new();
    let all = with("  num_nat_gateways = 2");
    env.proxy.zones(&[b(), d()]);
    env.change(&all);
    assert_eq!(env.attribute("availability_zones"), json!(["us-east-1b", "us-east-1d"]));
    let before = env.attribute("aws_objects");

    env.proxy.zones(&[a(), b(), d()]);
    let plan = env.workspace.plan_json(&[]);
    let after = &plan["resource_changes"][0]["change"]["after"];
    assert_eq!(after["availability_zones"], json!(["us-east-1b", "us-east-1d", "us-east-1a"]));
    assert_eq!(after["aws_objects"]["subnet.public.0"], before["subnet.public.0"], "its id is known at plan");
    let opened = env.change(&all);
    assert_eq!(opened.calls, "AssociateRouteTable 2, CreateRoute 1, CreateRouteTable 1, CreateSubnet 2");
    assert_eq!(
        without_acl(&opened.new),
        [
            "subnet main-private-app-2 us-east-1a use1-az6 10.0.96.0/21 public_ip=false",
            "subnet main-public-2 us-east-1a use1-az6 10.0.16.0/21 public_ip=false",
            "table main-private-app-2 [main-private-app-2] 0.0.0.0/0>main-nat-gateway-0 10.0.0.0/16>local",
            "table main-public [main-public-0 main-public-1 main-public-2] 0.0.0.0/0>main 10.0.0.0/16>local",
        ]
    );
    assert_eq!(
        without_acl(&opened.old),
        ["table main-public [main-public-0 main-public-1] 0.0.0.0/0>main 10.0.0.0/16>local"]
    );
    assert_unchanged(&before, &env.attribute("aws_objects"));

    // Another new AZ is not used while the number of AZs is fixed.
    env.proxy.zones(&[a(), b(), c(), d()]);
    let held = env.change(&with("  num_nat_gateways = 2\n  num_availability_zones = 3"));
    assert_eq!((held.calls.as_str(), held.new.len()), ("", 0));
    env.destroy();
}

#[test]
fn an_impaired_or_missing_az_keeps_its_subnets_with_a_warning() {
    let env = TestEnv::new();
    let three = with("  num_nat_gateways = 3");
    env.proxy.zones(&[a(), b(), c()]);
    env.change(&three);

    let warns = |says: &[&str]| {
        let plan = env.workspace.plan(&[]);
        assert_eq!(plan.code, 0, "the state of an AZ changes nothing:\n{plan}");
        for text in says {
            assert!(plan.says(text), "no {text:?} in\n{plan}");
        }
    };
    env.proxy.zones(&[a(), b().state("impaired"), c().state("unavailable")]);
    warns(&[
        "The AZ us-east-1b (use1-az1) is impaired. It has subnets of this network.",
        "The AZ us-east-1c (use1-az2) is unavailable. It has subnets of this network.",
        "To stop using an AZ, add its ID to availability_zone_exclude_ids.",
    ]);
    env.proxy.zones(&[a(), c()]);
    warns(&["AWS no longer lists the AZ us-east-1b (use1-az1). Its subnets stay."]);
    // The same with other inputs that choose AZs.
    for choice in [
        "  num_availability_zones = 3",
        "  availability_zone_state = \"available\"",
        "  availability_zone_ids = [\"use1-az6\", \"use1-az1\", \"use1-az2\"]",
    ] {
        let chosen = env.change(&with(&format!("  num_nat_gateways = 3\n{choice}")));
        assert_eq!((chosen.calls.as_str(), chosen.new.len()), ("", 0), "{choice}");
    }
    // Objects in a missing AZ can still be changed, and deleted by an input.
    let tagged = env.change(&with("  num_nat_gateways = 3\n  public_subnet_custom_tags = { a = \"b\" }"));
    assert_eq!(tagged.calls, "CreateTags 3");
    let before = env.attribute("aws_objects");
    let left = env.change(&with("  num_nat_gateways = 1\n  availability_zone_exclude_ids = [\"use1-az1\"]"));
    assert_eq!(
        left.calls,
        "DeleteNatGateway 2, DeleteRouteTable 1, DeleteSubnet 2, DeleteTags 2, ReleaseAddress 2, ReplaceRoute 1"
    );
    assert_unchanged(&before, &env.attribute("aws_objects"));
    assert_eq!(env.attribute("availability_zone_ids_used"), json!(["use1-az6", "use1-az2"]));
    env.end();
}

#[test]
fn new_subnets_use_only_azs_of_the_requested_state() {
    let env = TestEnv::new();
    let offered = [
        a(),
        b().state("impaired"),
        c().state("unavailable"),
        d(),
        Zone::new("us-east-1-bos-1a", "use1-bos1-az1").kind("local-zone"),
        Zone::new("us-east-1-wl1-bos-wlz-1", "use1-wl1-bos-wlz1").kind("wavelength-zone"),
        Zone::new("us-east-1e", "use1-az3").not_opted_in(),
    ];
    env.proxy.zones(&offered);
    let available =
        |further: &str| with(&format!("  num_nat_gateways = 0\n  availability_zone_state = \"available\"\n{further}"));
    env.change(&available(""));
    assert_eq!(env.attribute("availability_zones"), json!(["us-east-1a", "us-east-1d"]));
    let describe = env.proxy.calls().into_iter().find(|record| record.call.action == "DescribeAvailabilityZones");
    assert_eq!(describe.expect("AZs are read").call.filters(), [("zone-type", vec!["availability-zone"])]);

    // An AZ in use that no longer has the requested state stays. An AZ that now has it is added.
    env.proxy.zones(&[a().state("impaired"), b(), c().state("unavailable"), d()]);
    let recovered = env.change(&available(""));
    assert_eq!(recovered.calls, "AssociateRouteTable 2, CreateRouteTable 1, CreateSubnet 2");
    assert_eq!(env.attribute("availability_zones"), json!(["us-east-1a", "us-east-1d", "us-east-1b"]));
    // Without a requested state, the remaining AZ is used, too.
    let any = env.change(&with("  num_nat_gateways = 0"));
    assert_eq!(any.calls, recovered.calls);
    let back = env.change(&available(""));
    assert_eq!(back.calls, "", "the filter applies only to AZs that are not in use yet");
    env.end();
}

#[test]
fn an_excluded_az_loses_its_subnets_and_returns_to_its_index() {
    let env = TestEnv::new();
    env.proxy.zones(&[a(), b(), c(), e()]);
    env.change(&with("  num_nat_gateways = 1\n  num_availability_zones = 3"));
    let before = env.attribute("aws_objects");

    let by_id =
        with("  num_nat_gateways = 1\n  num_availability_zones = 2\n  availability_zone_exclude_ids = [\"use1-az1\"]");
    env.config(&by_id);
    let plan = env.workspace.plan(&[]);
    for text in [
        "Updating fgw_four_tier_vpc \"main\" deletes 6 AWS objects",
        &format!("deleted: subnet.private_app.1 ({})", env.id("subnet.private_app.1")),
    ] {
        assert!(plan.says(text), "no {text:?} in\n{plan}");
    }
    let excluded = env.change(&by_id);
    assert_eq!(excluded.calls, "DeleteRouteTable 1, DeleteSubnet 2");
    let lines = [
        "subnet main-private-app-1 us-east-1b use1-az1 10.0.88.0/21 public_ip=false",
        "subnet main-public-1 us-east-1b use1-az1 10.0.8.0/21 public_ip=false",
        "table main-private-app-1 [main-private-app-1] 0.0.0.0/0>main-nat-gateway-0 10.0.0.0/16>local",
    ];
    assert!(lines.iter().all(|line| excluded.old.iter().any(|it| it == line)), "{excluded:#?}");
    assert_unchanged(&before, &env.attribute("aws_objects"));

    // Admitted again, the AZ gets its former index, and with it the same names and blocks.
    let admitted = env.change(&with("  num_nat_gateways = 1\n  num_availability_zones = 3"));
    assert_eq!(admitted.calls, "AssociateRouteTable 2, CreateRoute 1, CreateRouteTable 1, CreateSubnet 2");
    let (was, is) = (without_acl(&excluded.old), without_acl(&admitted.new));
    assert_eq!(is, was);

    // Excluded by name, the AZ is replaced by another one at the same index.
    let before = env.attribute("aws_objects");
    let by_name = env.change(&with(
        "  num_nat_gateways = 1\n  num_availability_zones = 3\n  availability_zone_exclude_names = [\"us-east-1b\"]",
    ));
    assert_eq!(by_name.calls, "AssociateRouteTable 2, CreateSubnet 2, DeleteSubnet 2");
    assert_eq!(env.attribute("availability_zones"), json!(["us-east-1a", "us-east-1e", "us-east-1c"]));
    let after = env.attribute("aws_objects");
    for key in ["subnet.public.0", "subnet.private_app.2", "nat_gateway.0", "eip.0", "route_table.private_app.1"] {
        assert_eq!(after[key], before[key], "{key}");
    }
    env.end();
}

#[test]
fn azs_and_nat_gateways_are_added_and_removed_by_count_and_id() {
    let env = TestEnv::new();
    let of = |count: u32| with(&format!("  num_nat_gateways = {count}\n  num_availability_zones = {count}"));
    env.change(&of(2));
    let two = env.attribute("aws_objects");
    let three = env.change(&of(3));
    assert_eq!(
        three.calls,
        "AllocateAddress 1, AssociateRouteTable 2, CreateNatGateway 1, CreateRoute 1, CreateRouteTable 1, CreateSubnet 2"
    );
    assert_unchanged(&two, &env.attribute("aws_objects"));
    let back = env.change(&of(2));
    assert_eq!(back.calls, "DeleteNatGateway 1, DeleteRouteTable 1, DeleteSubnet 2, ReleaseAddress 1");
    assert_eq!((back.old, back.new), (three.new, three.old), "the change is reverted exactly");
    assert_eq!(env.attribute("aws_objects"), two);

    let ids = |ids: &str| with(&format!("  num_nat_gateways = 2\n  availability_zone_ids = [{ids}]"));
    let same = env.change(&ids("\"use1-az1\", \"use1-az6\""));
    assert_eq!(same.calls, "", "the order of the ids has no meaning");
    let wide = env.change(&ids("\"use1-az4\", \"use1-az1\", \"use1-az6\""));
    assert_eq!(wide.calls, "AssociateRouteTable 2, CreateRoute 1, CreateRouteTable 1, CreateSubnet 2");
    assert_eq!(env.attribute("availability_zone_ids_used"), json!(["use1-az6", "use1-az1", "use1-az4"]));
    let narrow = env.change(&ids("\"use1-az6\", \"use1-az1\""));
    assert_eq!(narrow.calls, "DeleteRouteTable 1, DeleteSubnet 2");
    assert_eq!(env.attribute("aws_objects"), two);
    env.end();
}

/// A network in three AZs of which the last has no NAT gateways, after the failed create.
fn failed_in_the_last_az(env: &TestEnv) {
    env.proxy.zones(&[a(), b(), e()]);
    env.proxy.zones_without_nat_gateways(&["use1-az3"]);
    env.config(&with("  num_nat_gateways = 3"));
    let failed = env.workspace.apply(&[]);
    for text in [
        "Could not create NAT gateway \"nat_gateway.2\"",
        "CreateNatGateway returned NotAvailableInZone: Nat Gateway is not available in this availability zone.",
        "AWS offers no NAT gateways in the AZ use1-az3 of subnet.public.2.",
        "add \"use1-az3\" to availability_zone_exclude_ids",
    ] {
        failed.failed_with(text);
    }
}

#[test]
fn an_az_without_nat_gateways_can_be_excluded_after_the_error() {
    let excluded = with("  num_nat_gateways = 2\n  availability_zone_exclude_ids = [\"use1-az3\"]");
    let env = TestEnv::new();
    failed_in_the_last_az(&env);
    let (vpc, nat) = (env.id("vpc"), env.id("nat_gateway.1"));
    env.workspace.untaint(THIS);
    let continued = env.change(&excluded);
    assert_eq!(continued.calls, "CreateTags 1, DeleteRouteTable 1, DeleteSubnet 2, ReleaseAddress 1");
    assert_eq!((env.id("vpc"), env.id("nat_gateway.1")), (vpc, nat));
    env.destroy();

    // Without untaint, Terraform replaces the network.
    failed_in_the_last_az(&env);
    let vpc = env.id("vpc");
    env.change(&excluded);
    assert_ne!(env.id("vpc"), vpc);

    // The same when the AZ is added to an existing network, and the number of NAT gateways is reduced to keep it.
    let nat = env.id("nat_gateway.1");
    env.config(&with("  num_nat_gateways = 3"));
    env.workspace.apply(&[]).failed_with("AWS offers no NAT gateways in the AZ use1-az3 of subnet.public.2.");
    let kept = env.change(&with("  num_nat_gateways = 2"));
    assert_eq!(kept.calls, "CreateRoute 1, ReleaseAddress 1");
    assert_eq!(env.id("nat_gateway.1"), nat);
    env.end();
}

#[test]
fn a_removed_az_takes_its_nat_gateway_along_and_no_other() {
    let env = TestEnv::new();
    env.proxy.zones(&[a(), b(), c()]);
    let three = with("  num_nat_gateways = 3");
    env.change(&three);
    let before = env.attribute("aws_objects");
    let two = with("  num_nat_gateways = 2\n  availability_zone_exclude_ids = [\"use1-az1\"]");
    let removed = env.change(&two);
    assert_eq!(removed.calls, "DeleteNatGateway 1, DeleteRouteTable 1, DeleteSubnet 2, ReleaseAddress 1");
    let after = env.attribute("aws_objects");
    assert_unchanged(&before, &after);
    for key in ["nat_gateway.0", "nat_gateway.2", "eip.2"] {
        assert_eq!(after[key], before[key], "{key}");
    }
    assert!(after["nat_gateway.1"].is_null() && after["eip.1"].is_null(), "{after}");
    // If the number does not fall, the NAT gateway moves with its address.
    let back = env.change(&three);
    assert!(back.calls.contains("AllocateAddress 1") && back.calls.contains("CreateNatGateway 1"), "{back:#?}");
    assert_unchanged(&after, &env.attribute("aws_objects"));
    let address = env.id("eip.1");
    env.config(&with("  num_nat_gateways = 3\n  availability_zone_exclude_ids = [\"use1-az1\"]"));
    let plan = env.workspace.plan(&[]);
    assert!(plan.says("3 NAT gateways in 2 AZs") && plan.says("AWS charges for them: nat_gateway.2."), "{plan}");
    let moved = env.apply();
    assert!(!moved.calls.contains("Address"), "{moved:#?}");
    assert_eq!(env.id("eip.1"), address);
    env.end();
}
