//! Tier switches: each creates or deletes its own objects and moves no other subnet.

use super::{TestEnv, without_acl};

const TWO_AZS: &str = "  num_availability_zones = 2\n  num_nat_gateways = 1";

fn two_azs(further: &str) -> String {
    format!("{TWO_AZS}\n{further}")
}

/// The lines of both endpoints with these tables.
fn endpoints(tables: &str) -> [String; 2] {
    [("keyvalue", "dynamodb"), ("objectstore", "s3")].map(|(name, service)| {
        format!("endpoint main-{name} Gateway com.amazonaws.us-east-1.{service} (Allow * *) [{tables}]")
    })
}

const THREE_TIERS: &str = "main-private-app-0 main-private-app-1 main-private-persistence-0 \
                           main-private-persistence-1 main-public";

#[test]
fn turning_the_transit_tier_on_and_off_moves_no_other_subnet() {
    let env = TestEnv::new();
    env.change(TWO_AZS);
    let on = env.change(&two_azs("  create_transit_subnets = true"));
    assert_eq!(on.calls, "AssociateRouteTable 2, CreateRouteTable 2, CreateSubnet 2, ModifyVpcEndpoint 2");
    let with_transit = format!("{THREE_TIERS} main-transit-0 main-transit-1");
    let [keyvalue, objectstore] = endpoints(&with_transit);
    let transit = [
        "subnet main-transit-0 us-east-1a use1-az6 10.0.144.0/21 public_ip=false",
        "subnet main-transit-1 us-east-1b use1-az1 10.0.152.0/21 public_ip=false",
        "table main-transit-0 [main-transit-0] 10.0.0.0/16>local",
        "table main-transit-1 [main-transit-1] 10.0.0.0/16>local",
    ];
    assert_eq!(without_acl(&on.new), [&[keyvalue.as_str(), &objectstore], &transit[..]].concat());
    let [keyvalue, objectstore] = endpoints(THREE_TIERS);
    assert_eq!(without_acl(&on.old), [keyvalue.as_str(), &objectstore]);

    let routed = env.change(&two_azs("  create_transit_subnets = true\n  allow_transit_internet_access = true"));
    assert_eq!(routed.calls, "CreateRoute 2");
    assert_eq!(routed.new[0], "table main-transit-0 [main-transit-0] 0.0.0.0/0>main-nat-gateway-0 10.0.0.0/16>local");

    let off = env.change(TWO_AZS);
    assert_eq!(off.calls, "DeleteRouteTable 2, DeleteSubnet 2, ModifyVpcEndpoint 2");
    assert_eq!(without_acl(&off.new), [keyvalue.as_str(), &objectstore]);
    env.destroy();
}

#[test]
fn the_public_tier_is_deleted_and_created_with_its_gateways() {
    let env = TestEnv::new();
    let all = env.change(TWO_AZS);
    let off = env.change(&two_azs("  create_public_subnets = false"));
    assert_eq!(
        off.calls,
        "DeleteInternetGateway 1, DeleteNatGateway 1, DeleteRoute 2, DeleteRouteTable 1, DeleteSubnet 2, \
         DetachInternetGateway 1, ModifyVpcEndpoint 2, ReleaseAddress 1"
    );
    assert!(off.new.contains(&"table main-private-app-0 [main-private-app-0] 10.0.0.0/16>local".to_owned()));
    let on = env.change(TWO_AZS);
    assert_eq!(
        on.calls,
        "AllocateAddress 1, AssociateRouteTable 2, AttachInternetGateway 1, CreateInternetGateway 1, CreateNatGateway 1, \
         CreateRoute 3, CreateRouteTable 1, CreateSubnet 2, ModifyVpcEndpoint 2"
    );
    let before: Vec<&String> = all.new.iter().filter(|line| !line.starts_with("acl")).collect();
    let snapshot = env.snapshot();
    let now: Vec<&str> = snapshot.lines().into_iter().filter(|line| !line.starts_with("acl")).collect();
    assert_eq!(now, before, "the network is the same as before");
    env.end();
}

#[test]
fn private_tiers_are_turned_on_and_off_one_by_one() {
    let env = TestEnv::new();
    env.change(TWO_AZS);
    let off = env.change(&two_azs("  create_private_persistence_subnets = false"));
    assert_eq!(off.calls, "DeleteRouteTable 2, DeleteSubnet 2, ModifyVpcEndpoint 2");
    // One apply deletes a tier and creates another. AWS deletes the route of each app table with the table.
    let swapped = env.change(&two_azs("  create_private_app_subnets = false"));
    assert_eq!(
        swapped.calls,
        // The endpoints get the new tables first, and lose the old ones after the subnets are deleted.
        "AssociateRouteTable 2, CreateRouteTable 2, CreateSubnet 2, DeleteRouteTable 2, DeleteSubnet 2, ModifyVpcEndpoint 4"
    );
    assert!(
        swapped
            .new
            .contains(&"subnet main-private-persistence-1 us-east-1b use1-az1 10.0.168.0/21 public_ip=false".into()),
        "{swapped:#?}"
    );
    assert!(!swapped.old.iter().any(|line| line.starts_with("subnet main-public")), "{swapped:#?}");
    env.end();
}

#[test]
fn vpc_and_public_subnet_switches_change_in_place() {
    let env = TestEnv::new();
    env.change(TWO_AZS);
    let metrics = env.change(&two_azs(
        "  enable_network_address_usage_metrics = true\n  enable_dns_hostnames = false\n  map_public_ip_on_launch = true",
    ));
    assert_eq!(metrics.calls, "ModifySubnetAttribute 2, ModifyVpcAttribute 2");
    assert_eq!(
        metrics.new,
        [
            "subnet main-public-0 us-east-1a use1-az6 10.0.0.0/21 public_ip=true",
            "subnet main-public-1 us-east-1b use1-az1 10.0.8.0/21 public_ip=true",
            "vpc main 10.0.0.0/16 default support=true hostnames=false metrics=true",
        ]
    );
    let without = env.change(&two_azs("  enable_dns_hostnames = false\n  enable_dns_support = false"));
    assert_eq!(without.calls, "ModifySubnetAttribute 2, ModifyVpcAttribute 2");
    // Without DNS support, host names are off too.
    let only_support = two_azs("  enable_dns_support = false");
    env.config(&only_support);
    let plan = env.workspace.plan(&[]);
    assert!(plan.says("enable_dns_hostnames has no effect while enable_dns_support is false"), "{plan}");
    assert_eq!(env.change(&only_support).calls, "");
    // AWS requires DNS support before DNS hostnames.
    env.change(TWO_AZS);
    let order: Vec<String> = env
        .proxy
        .mutations()
        .iter()
        .flat_map(|record| record.call.params.keys().cloned().collect::<Vec<_>>())
        .filter(|name| name.starts_with("Enable"))
        .collect();
    assert_eq!(order, ["EnableDnsSupport.Value", "EnableDnsHostnames.Value"]);
    env.end();
}
