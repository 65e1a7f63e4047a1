//! AZs that AWS opens, impairs or hides, and those that inputs take away and bring back: nothing is deleted but what an
//! input removed, and the others keep their index, blocks, NAT gateways and ids.

use serde_json::json;

use super::{TestEnv, assert_others_stay, without_acl};
use crate::support::proxy::Zone;

/// Two tiers, for speed.
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
fn an_az_that_aws_opens_is_added_at_the_end_even_if_its_name_comes_first() {
    let bed = TestEnv::new();
    let all = with("  num_nat_gateways = 2");
    bed.proxy.zones(&[b(), d()]);
    bed.change(&all);
    assert_eq!(bed.attribute("availability_zones"), json!(["us-east-1b", "us-east-1d"]));
    let before = bed.attribute("aws_objects");

    bed.proxy.zones(&[a(), b(), d()]);
    let plan = bed.workspace.plan_json(&[]);
    let after = &plan["resource_changes"][0]["change"]["after"];
    assert_eq!(after["availability_zones"], json!(["us-east-1b", "us-east-1d", "us-east-1a"]));
    assert_eq!(after["aws_objects"]["subnet.public.0"], before["subnet.public.0"], "what stays is known at plan");
    let opened = bed.change(&all);
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
        without_acl(&opened.gone),
        ["table main-public [main-public-0 main-public-1] 0.0.0.0/0>main 10.0.0.0/16>local"]
    );
    assert_others_stay(&before, &bed.attribute("aws_objects"));

    // One more in the middle, while the number of AZs is held: it is not used.
    bed.proxy.zones(&[a(), b(), c(), d()]);
    let held = bed.change(&with("  num_nat_gateways = 2\n  num_availability_zones = 3"));
    assert_eq!((held.calls.as_str(), held.new.len()), ("", 0));
    bed.destroy();
}

#[test]
fn an_az_that_is_impaired_unavailable_or_missing_keeps_its_subnets_and_the_plan_warns() {
    let bed = TestEnv::new();
    let three = with("  num_nat_gateways = 3");
    bed.proxy.zones(&[a(), b(), c()]);
    bed.change(&three);

    let warns = |says: &[&str]| {
        let plan = bed.workspace.plan(&[]);
        assert_eq!(plan.code, 0, "a state of an AZ changes nothing:\n{plan}");
        for text in says {
            assert!(plan.says(text), "no {text:?} in\n{plan}");
        }
    };
    bed.proxy.zones(&[a(), b().state("impaired"), c().state("unavailable")]);
    warns(&[
        "The AZ us-east-1b (use1-az1) is impaired. It has subnets of this network.",
        "The AZ us-east-1c (use1-az2) is unavailable. It has subnets of this network.",
        "To leave an AZ, add its id to availability_zone_exclude_ids.",
    ]);
    bed.proxy.zones(&[a(), c()]);
    warns(&["AWS no longer lists the AZ us-east-1b (use1-az1). Its subnets stay."]);
    // Whatever else chooses AZs.
    for choice in [
        "  num_availability_zones = 3",
        "  availability_zone_state = \"available\"",
        "  availability_zone_ids = [\"use1-az6\", \"use1-az1\", \"use1-az2\"]",
    ] {
        let chosen = bed.change(&with(&format!("  num_nat_gateways = 3\n{choice}")));
        assert_eq!((chosen.calls.as_str(), chosen.new.len()), ("", 0), "{choice}");
    }
    // What is missing can still be changed and, by an input, removed.
    let tagged = bed.change(&with("  num_nat_gateways = 3\n  public_subnet_custom_tags = { a = \"b\" }"));
    assert_eq!(tagged.calls, "CreateTags 3");
    let before = bed.attribute("aws_objects");
    let left = bed.change(&with("  num_nat_gateways = 1\n  availability_zone_exclude_ids = [\"use1-az1\"]"));
    assert_eq!(
        left.calls,
        "DeleteNatGateway 2, DeleteRouteTable 1, DeleteSubnet 2, DeleteTags 2, ReleaseAddress 2, ReplaceRoute 1"
    );
    assert_others_stay(&before, &bed.attribute("aws_objects"));
    assert_eq!(bed.attribute("availability_zone_ids_used"), json!(["use1-az6", "use1-az2"]));
    bed.destroy();
}

#[test]
fn new_places_are_found_only_in_azs_of_the_wanted_state_and_never_in_other_zones() {
    let bed = TestEnv::new();
    let offered = [
        a(),
        b().state("impaired"),
        c().state("unavailable"),
        d(),
        Zone::new("us-east-1-bos-1a", "use1-bos1-az1").kind("local-zone"),
        Zone::new("us-east-1-wl1-bos-wlz-1", "use1-wl1-bos-wlz1").kind("wavelength-zone"),
        Zone::new("us-east-1e", "use1-az3").not_opted_in(),
    ];
    bed.proxy.zones(&offered);
    let available =
        |further: &str| with(&format!("  num_nat_gateways = 0\n  availability_zone_state = \"available\"\n{further}"));
    bed.change(&available(""));
    assert_eq!(bed.attribute("availability_zones"), json!(["us-east-1a", "us-east-1d"]));
    let asked = bed.proxy.calls().into_iter().find(|record| record.call.action == "DescribeAvailabilityZones");
    assert_eq!(asked.expect("AZs are looked up").call.filters(), [("zone-type", vec!["availability-zone"])]);

    // The state that was wanted is not that of an AZ in use any more: it stays, and its neighbour comes.
    bed.proxy.zones(&[a().state("impaired"), b(), c().state("unavailable"), d()]);
    let recovered = bed.change(&available(""));
    assert_eq!(recovered.calls, "AssociateRouteTable 2, CreateRouteTable 1, CreateSubnet 2");
    assert_eq!(bed.attribute("availability_zones"), json!(["us-east-1a", "us-east-1d", "us-east-1b"]));
    // Any state will do: the last one is used too.
    let any = bed.change(&with("  num_nat_gateways = 0"));
    assert_eq!(any.calls, recovered.calls);
    let back = bed.change(&available(""));
    assert_eq!(back.calls, "", "the filter chooses new places and gives up none");
    bed.destroy();
}

#[test]
fn excluded_azs_leave_with_all_that_is_theirs_and_come_back_to_their_index() {
    let bed = TestEnv::new();
    bed.proxy.zones(&[a(), b(), c(), e()]);
    bed.change(&with("  num_nat_gateways = 1\n  num_availability_zones = 3"));
    let before = bed.attribute("aws_objects");

    let by_id =
        with("  num_nat_gateways = 1\n  num_availability_zones = 2\n  availability_zone_exclude_ids = [\"use1-az1\"]");
    bed.config(&by_id);
    let plan = bed.workspace.plan(&[]);
    for text in [
        "The update of fgw_four_tier_vpc \"main\" deletes 6 AWS objects",
        &format!("deleted: subnet.private_app.1 ({})", bed.id("subnet.private_app.1")),
    ] {
        assert!(plan.says(text), "no {text:?} in\n{plan}");
    }
    let excluded = bed.change(&by_id);
    assert_eq!(excluded.calls, "DeleteRouteTable 1, DeleteSubnet 2");
    let lines = [
        "subnet main-private-app-1 us-east-1b use1-az1 10.0.88.0/21 public_ip=false",
        "subnet main-public-1 us-east-1b use1-az1 10.0.8.0/21 public_ip=false",
        "table main-private-app-1 [main-private-app-1] 0.0.0.0/0>main-nat-gateway-0 10.0.0.0/16>local",
    ];
    assert!(lines.iter().all(|line| excluded.gone.iter().any(|it| it == line)), "{excluded:#?}");
    assert_others_stay(&before, &bed.attribute("aws_objects"));

    // Re-admitted it finds its index free, and with it its names and blocks.
    let admitted = bed.change(&with("  num_nat_gateways = 1\n  num_availability_zones = 3"));
    assert_eq!(admitted.calls, "AssociateRouteTable 2, CreateRoute 1, CreateRouteTable 1, CreateSubnet 2");
    let (was, is) = (without_acl(&excluded.gone), without_acl(&admitted.new));
    assert_eq!(is, was);

    // By name, and another one takes the place: the index stays in use, the AZ behind it is another.
    let before = bed.attribute("aws_objects");
    let by_name = bed.change(&with(
        "  num_nat_gateways = 1\n  num_availability_zones = 3\n  availability_zone_exclude_names = [\"us-east-1b\"]",
    ));
    assert_eq!(by_name.calls, "AssociateRouteTable 2, CreateSubnet 2, DeleteSubnet 2");
    assert_eq!(bed.attribute("availability_zones"), json!(["us-east-1a", "us-east-1e", "us-east-1c"]));
    let after = bed.attribute("aws_objects");
    for key in ["subnet.public.0", "subnet.private_app.2", "nat_gateway.0", "eip.0", "route_table.private_app.1"] {
        assert_eq!(after[key], before[key], "{key}");
    }
    bed.destroy();
}

#[test]
fn the_count_goes_from_two_to_three_and_back_with_its_nat_gateways_and_ids_narrow_and_widen() {
    let bed = TestEnv::new();
    let of = |count: u32| with(&format!("  num_nat_gateways = {count}\n  num_availability_zones = {count}"));
    bed.change(&of(2));
    let two = bed.attribute("aws_objects");
    let three = bed.change(&of(3));
    assert_eq!(
        three.calls,
        "AllocateAddress 1, AssociateRouteTable 2, CreateNatGateway 1, CreateRoute 1, CreateRouteTable 1, CreateSubnet 2"
    );
    assert_others_stay(&two, &bed.attribute("aws_objects"));
    let back = bed.change(&of(2));
    assert_eq!(back.calls, "DeleteNatGateway 1, DeleteRouteTable 1, DeleteSubnet 2, ReleaseAddress 1");
    assert_eq!((back.gone, back.new), (three.new, three.gone), "all that came has gone, and nothing else");
    assert_eq!(bed.attribute("aws_objects"), two);

    let ids = |ids: &str| with(&format!("  num_nat_gateways = 2\n  availability_zone_ids = [{ids}]"));
    let same = bed.change(&ids("\"use1-az1\", \"use1-az6\""));
    assert_eq!(same.calls, "", "the order of the ids has no meaning");
    let wide = bed.change(&ids("\"use1-az4\", \"use1-az1\", \"use1-az6\""));
    assert_eq!(wide.calls, "AssociateRouteTable 2, CreateRoute 1, CreateRouteTable 1, CreateSubnet 2");
    assert_eq!(bed.attribute("availability_zone_ids_used"), json!(["use1-az6", "use1-az1", "use1-az4"]));
    let narrow = bed.change(&ids("\"use1-az6\", \"use1-az1\""));
    assert_eq!(narrow.calls, "DeleteRouteTable 1, DeleteSubnet 2");
    assert_eq!(bed.attribute("aws_objects"), two);
    bed.destroy();
}
