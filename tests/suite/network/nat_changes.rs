//! NAT gateways that are created, deleted and replaced, and the targets of default routes while that happens.

use serde_json::json;

use super::{TestEnv, text};
use crate::support::proxy::call::Call;
use crate::support::proxy::fault::Fault;
use crate::support::proxy::lasts::Lasts;
use crate::support::proxy::log::Record;
use crate::support::wait::until;

fn azs(count: usize, further: &str) -> String {
    format!("  num_availability_zones = {count}\n  create_vpc_endpoints = false\n{further}")
}

/// The changing calls in the order of their start, each with its action and the parameters that matter here.
fn steps(env: &TestEnv) -> Vec<String> {
    let step = |record: Record| {
        let names = ["RouteTableId", "NatGatewayId", "AllocationId", "CidrBlock"];
        let parameters = names.map(|name| record.call.param(name).to_owned());
        let parameters: Vec<String> = parameters.into_iter().filter(|value| !value.is_empty()).collect();
        format!("{} {}", record.call.action, parameters.join(" ")).trim_end().to_owned()
    };
    env.proxy.mutations().into_iter().map(step).collect()
}

fn position(steps: &[String], step: &str) -> usize {
    steps.iter().position(|it| it == step).unwrap_or_else(|| panic!("no {step:?} in {steps:#?}"))
}

/// Lets NAT gateways stay pending and deleting for some polls, as on AWS, so that independent calls come first.
fn slow(env: &TestEnv) {
    env.proxy.nat_pending(Lasts::Answers(6));
    env.proxy.nat_deleting(Lasts::Answers(6));
}

#[test]
fn routes_use_another_nat_gateway_until_one_is_recreated() {
    let env = TestEnv::new();
    env.change(&azs(2, "  num_nat_gateways = 2"));
    let (table, address, other) = (env.id("route_table.private_app.0"), env.id("eip.0"), env.id("nat_gateway.1"));
    let addresses = env.attribute("nat_gateway_public_ips");
    let good = env.snapshot();
    // Through the proxy, which disassociates the address as AWS does.
    env.proxy.boto("ec2", "delete_nat_gateway", json!({"NatGatewayId": env.id("nat_gateway.0")}));
    let plan = env.workspace.plan(&[]);
    assert!(plan.code == 2 && !plan.says("interrupts"), "{plan}");
    env.proxy.nat_pending(Lasts::UntilSet);
    std::thread::scope(|scope| {
        // The new gateway is pending until the table routes to the other one, and for two more polls.
        scope.spawn(|| {
            env.proxy.wait_for("ReplaceRoute", 1);
            let polls = env.proxy.succeeded("DescribeNatGateways");
            env.proxy.wait_for("DescribeNatGateways", polls + 2);
            assert_eq!(env.proxy.count("ReplaceRoute"), 1, "the table does not route to a pending gateway");
            env.proxy.nat_pending(Lasts::NOT_AT_ALL);
        });
        env.apply();
    });
    let steps = steps(&env);
    let aside = position(&steps, &format!("ReplaceRoute {table} {other}"));
    let created = position(&steps, &format!("CreateNatGateway {address}"));
    let back = position(&steps, &format!("ReplaceRoute {table} {}", env.id("nat_gateway.0")));
    assert!(aside < back && created < back && steps.len() == 3, "{steps:#?}");
    assert_eq!(env.snapshot().lines(), good.lines());
    assert_eq!(env.attribute("nat_gateway_public_ips"), addresses);
    assert_eq!(env.id("nat_gateway.1"), other);
    env.destroy();
}

#[test]
fn the_address_of_a_pending_gateway_becomes_known_in_the_next_apply() {
    let env = TestEnv::new();
    env.change(&azs(1, "  num_nat_gateways = 0"));
    let own = text(&env.ec2("allocate_address", json!({"Domain": "vpc"}))["AllocationId"]);
    let with = format!("  num_nat_gateways = 1\n  use_custom_nat_eips = true\n  custom_nat_eips = [\"{own}\"]");
    env.config(&azs(1, &with));
    env.proxy.nat_pending(Lasts::UntilSet);
    let is_poll = |call: &Call| call.filters().iter().any(|(name, _)| *name == "nat-gateway-id");
    env.proxy.fault(Fault::on("DescribeNatGateways").when(is_poll).answer(400, "InvalidRequest", "scripted"));
    env.workspace.apply(&[]).failed_with("InvalidRequest");
    env.proxy.clear_faults();

    // AWS returns no address of a pending gateway. Terraform rejects an apply that changes a known value of its plan.
    let plan = env.workspace.plan_json(&[]);
    let unknown = &plan["resource_changes"][0]["change"]["after_unknown"];
    assert_eq!(unknown["nat_gateway_public_ips"], json!([true]), "{unknown:#}");
    env.proxy.nat_pending(Lasts::NOT_AT_ALL);
    env.workspace.apply_plan().succeeded();
    env.workspace.assert_nothing_to_do();
    let address = &env.proxy.account().list_of("addresses")[0]["PublicIp"];
    assert_eq!(env.attribute("nat_gateway_public_ips"), json!([address]));
    env.end();
}

#[test]
fn the_pending_gateway_of_a_killed_run_is_awaited() {
    let env = TestEnv::with_terraform();
    env.change(&azs(1, "  num_nat_gateways = 0"));
    env.config(&azs(1, "  num_nat_gateways = 1"));
    env.proxy.nat_pending(Lasts::UntilSet);
    env.proxy.pause_when(1, |record| record.call.action == "CreateNatGateway" && record.worked.is_some());
    let mut running = env.workspace.start(&["apply", "-no-color", "-input=false", "-auto-approve"]);
    running.reach(|| env.proxy.is_paused());
    running.kill();
    drop(running);
    env.proxy.finish_calls();
    env.proxy.clear_calls();
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let is_poll = |record: &Record| {
                let filters = record.call.filters();
                record.status == 200 && filters.iter().any(|(name, _)| *name == "nat-gateway-id")
            };
            until("the provider polls the gateway", || env.proxy.count_like(is_poll) >= 2);
            assert_eq!(env.proxy.count("CreateRoute"), 0, "no route uses a pending gateway");
            env.proxy.nat_pending(Lasts::NOT_AT_ALL);
        });
        env.workspace.apply(&[]).succeeded();
    });
    assert_eq!(env.proxy.count("CreateNatGateway"), 0, "the gateway of the killed run is used");
    env.workspace.assert_nothing_to_do();
    env.end();
}

#[test]
fn an_address_is_reused_once_its_nat_gateway_is_deleted() {
    let env = TestEnv::new();
    env.change(&azs(1, "  num_nat_gateways = 1"));
    let addresses = env.attribute("nat_gateway_public_ips");
    let good = env.snapshot();
    env.proxy.nat_deleting(Lasts::UntilSet);
    env.proxy.boto("ec2", "delete_nat_gateway", json!({"NatGatewayId": env.id("nat_gateway.0")}));
    env.proxy.clear_calls();
    std::thread::scope(|scope| {
        scope.spawn(|| {
            // While the provider waits for the address, it lists the gateways that are being deleted.
            let is_poll = |record: &Record| {
                let filters = record.call.filters();
                let asks = |(name, values): &(&str, Vec<&str>)| *name == "state" && values.contains(&"deleting");
                record.status == 200 && filters.iter().any(asks)
            };
            until("the provider waits for the address", || env.proxy.count_like(is_poll) >= 5);
            assert_eq!(env.proxy.count("CreateNatGateway"), 0, "the address is still in use");
            env.proxy.nat_deleting(Lasts::NOT_AT_ALL);
        });
        env.workspace.apply(&[]).succeeded();
    });
    let created: Vec<u16> = env
        .proxy
        .mutations()
        .into_iter()
        .filter(|record| record.call.action == "CreateNatGateway")
        .map(|record| record.status)
        .collect();
    assert_eq!(created, [200], "the gateway is created once the address is free: {:#?}", steps(&env));
    env.workspace.assert_nothing_to_do();
    assert_eq!(env.snapshot().lines(), good.lines());
    assert_eq!(env.attribute("nat_gateway_public_ips"), addresses);
    env.end();
}

#[test]
fn a_replaced_subnet_keeps_the_address_and_the_default_route() {
    let env = TestEnv::new();
    let with = |further: &str| azs(2, &format!("  num_nat_gateways = 2\n{further}"));
    env.change(&with(""));
    let (table, address) = (env.id("route_table.private_app.0"), env.id("eip.0"));
    let (old, other) = (env.id("nat_gateway.0"), env.id("nat_gateway.1"));
    let addresses = env.attribute("nat_gateway_public_ips");
    slow(&env);
    let entry = with("  public_subnet_cidr_blocks = { AZ-0 = \"10.0.240.0/24\" }");
    env.config(&entry);
    let plan = env.workspace.plan(&[]);
    assert!(plan.says("nat_gateway.0") && !plan.says("interrupts"), "{plan}");
    env.change(&entry);
    let steps = steps(&env);
    let expected = [
        format!("ReplaceRoute {table} {other}"),
        format!("DeleteNatGateway {old}"),
        format!("CreateNatGateway {address}"),
        format!("ReplaceRoute {table} {}", env.id("nat_gateway.0")),
    ];
    let order: Vec<usize> = expected.iter().map(|step| position(&steps, step)).collect();
    assert!(order.is_sorted(), "{steps:#?}");
    assert_eq!(steps.iter().filter(|step| step.contains("Address") || step.contains(&other)).count(), 1, "{steps:#?}");
    let created = position(&steps, "CreateSubnet 10.0.240.0/24");
    assert!(created < order[2] && steps.last().is_some_and(|it| it.starts_with("DeleteSubnet")), "{steps:#?}");
    assert_eq!(env.attribute("nat_gateway_public_ips"), addresses);
    assert_eq!(env.id("nat_gateway.1"), other);
    env.end();
}

#[test]
fn the_plan_warns_of_interrupted_default_routes() {
    let env = TestEnv::new();
    let with = |further: &str| azs(2, &format!("  num_nat_gateways = 1\n{further}"));
    env.change(&with(""));
    let (old, addresses) = (env.id("nat_gateway.0"), env.attribute("nat_gateway_public_ips"));
    let entry = with("  public_subnet_cidr_blocks = { AZ-0 = \"10.0.240.0/24\" }");
    env.config(&entry);
    let plan = env.workspace.plan(&[]);
    assert!(plan.says("Updating fgw_four_tier_vpc \"main\" interrupts 2 routes"), "{plan}");
    for index in 0..2 {
        let table = env.id(&format!("route_table.private_app.{index}"));
        let line = format!(
            "route.private_app.{index}.ipv4 ({table}_0.0.0.0/0): from the deletion of nat_gateway.0 ({old}) until the new \
             nat_gateway.0 is available"
        );
        assert!(plan.says(&line), "no {line:?} in {plan}");
    }
    let replaced = env.change(&entry);
    let calls = "AssociateRouteTable 1, CreateNatGateway 1, CreateSubnet 1, DeleteNatGateway 1, DeleteSubnet 1, \
                 ReplaceRoute 2";
    assert_eq!(replaced.calls, calls);
    assert_eq!(env.attribute("nat_gateway_public_ips"), addresses);
    env.proxy.boto("ec2", "delete_nat_gateway", json!({"NatGatewayId": env.id("nat_gateway.0")}));
    let plan = env.workspace.plan(&[]);
    assert!(
        plan.says("already, because its target was deleted, and until the new nat_gateway.0 is available"),
        "{plan}"
    );
    let fixed = env.apply();
    assert_eq!(fixed.calls, "CreateNatGateway 1, ReplaceRoute 2");
    env.end();
}

#[test]
fn the_number_of_nat_gateways_changes_and_others_stay() {
    let env = TestEnv::new();
    env.change(&azs(2, "  num_nat_gateways = 1"));
    let first = env.id("nat_gateway.0");
    slow(&env);
    let three = env.change(&azs(2, "  num_nat_gateways = 3"));
    assert_eq!(three.calls, "AllocateAddress 2, CreateNatGateway 2, ReplaceRoute 1");
    // The third gateway is in AZ 0, and stays there when AZ 2 is added.
    let third = env.id("nat_gateway.2");
    let wider = env.change(&azs(3, "  num_nat_gateways = 3"));
    assert!(!wider.calls.contains("Nat") && !wider.calls.contains("Address"), "{wider:#?}");
    assert_eq!((env.id("nat_gateway.0"), env.id("nat_gateway.2")), (first.clone(), third));
    env.change(&azs(3, "  num_nat_gateways = 1"));
    let steps = steps(&env);
    let last_move = steps.iter().rposition(|step| step.starts_with("ReplaceRoute"));
    let first_end = steps.iter().position(|step| step.starts_with("DeleteNatGateway"));
    assert!(last_move.is_some() && last_move < first_end, "{steps:#?}");
    assert_eq!(env.id("nat_gateway.0"), first);
    env.end();
}

#[test]
fn a_shorter_address_list_deletes_only_its_nat_gateway() {
    let env = TestEnv::new();
    let own: Vec<String> =
        (0..3).map(|_| text(&env.ec2("allocate_address", json!({"Domain": "vpc"}))["AllocationId"])).collect();
    let custom = |ids: &[&String]| {
        let (count, ids) = (ids.len(), json!(ids));
        azs(3, &format!("  num_nat_gateways = {count}\n  use_custom_nat_eips = true\n  custom_nat_eips = {ids}"))
    };
    env.change(&custom(&[&own[0], &own[1], &own[2]]));
    let [first, second, third] = [0, 1, 2].map(|slot| env.id(&format!("nat_gateway.{slot}")));
    slow(&env);
    env.change(&custom(&[&own[2], &own[0]]));
    let steps = steps(&env);
    let moved = position(&steps, &format!("ReplaceRoute {} {third}", env.id("route_table.private_app.1")));
    let deletion = position(&steps, &format!("DeleteNatGateway {second}"));
    assert!(moved < deletion && steps.len() == 2, "{steps:#?}");
    assert_eq!((env.id("nat_gateway.0"), env.id("nat_gateway.2")), (first, third));
    env.end();
}

#[test]
fn an_unmanaged_default_route_is_rejected_with_its_target() {
    let env = TestEnv::new();
    env.change(&azs(1, "  num_nat_gateways = 0"));
    let gateway = text(&env.ec2("create_transit_gateway", json!({}))["TransitGateway"]["TransitGatewayId"]);
    let table = env.id("route_table.private_app.0");
    let route = json!({"RouteTableId": table, "DestinationCidrBlock": "0.0.0.0/0"});
    let mut to_gateway = route.clone();
    to_gateway["TransitGatewayId"] = json!(gateway);
    env.ec2("create_route", to_gateway);
    env.workspace.assert_nothing_to_do();

    env.proxy.clear_calls();
    env.config(&azs(1, "  num_nat_gateways = 1"));
    let rejected = env.workspace.plan(&[]);
    rejected.failed_with("Invalid value for num_nat_gateways");
    rejected.failed_with(&format!(
        "route.private_app.0.ipv4 would route 0.0.0.0/0 in route_table.private_app.0 ({table}) to nat_gateway.0, but a \
         route that this resource did not create already routes it to {gateway}."
    ));
    assert_eq!(env.proxy.mutations().len(), 0);
    env.ec2("delete_route", route);
    env.apply();
    env.end();
}

/// A network with two NAT gateways, the IDs of their addresses, and the configuration that lists these as custom ones.
fn with_own_addresses(env: &TestEnv) -> ([String; 2], String) {
    env.change(&azs(2, "  num_nat_gateways = 2"));
    let ids = ["eip.0", "eip.1"].map(|key| env.id(key));
    let custom = format!(
        "  num_nat_gateways = 2\n  use_custom_nat_eips = true\n  custom_nat_eips = {}",
        json!([ids[1], ids[0]])
    );
    (ids, azs(2, &custom))
}

/// The keys of an address's tags.
fn tag_keys(env: &TestEnv, id: &str) -> Vec<String> {
    let found = env.ec2("describe_addresses", json!({"AllocationIds": [id]}));
    let tags = found["Addresses"][0]["Tags"].as_array().cloned().unwrap_or_default();
    tags.iter().map(|tag| text(&tag["Key"])).collect()
}

#[test]
fn addresses_of_the_network_become_custom_ones() {
    let env = TestEnv::new();
    let (ids, custom) = with_own_addresses(&env);
    let (nats, addresses) = (env.attribute("nat_gateway_ids"), env.attribute("nat_gateway_public_ips"));
    env.config(&custom);
    let plan = env.workspace.plan(&[]);
    assert!(plan.says("Updating fgw_four_tier_vpc \"main\" stops managing 2 AWS objects"), "{plan}");
    for (slot, id) in ids.iter().enumerate() {
        assert!(plan.says(&format!("no longer managed: eip.{slot} ({id})")), "{plan}");
    }
    let taken = env.change(&custom);
    assert_eq!(taken.calls, "DeleteTags 2");
    assert_eq!((env.attribute("nat_gateway_ids"), env.attribute("nat_gateway_public_ips")), (nats, addresses));
    assert!(env.attribute("aws_objects")["eip.0"].is_null());
    for id in &ids {
        assert_eq!(tag_keys(&env, id), ["Name"]);
    }
    env.destroy();
    assert_eq!(env.proxy.account().list_of("addresses").len(), 2, "the addresses are the user's");
}

#[test]
fn a_role_that_may_not_remove_tags_disowns_addresses() {
    let env = TestEnv::new();
    let (ids, custom) = with_own_addresses(&env);
    env.proxy.fault(Fault::on("DeleteTags").answer(403, "UnauthorizedOperation", "You are not authorized"));
    env.change(&custom);
    assert!(tag_keys(&env, &ids[0]).contains(&"fgw:object".to_owned()));
    env.workspace.destroy().succeeded();
    assert_eq!(env.proxy.account().list_of("addresses").len(), 2, "the addresses are the user's");
}
