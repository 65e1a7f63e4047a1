//! NAT gateways that are replaced, and the routes to them in the meantime.

use super::*;

/// Two AZs with a NAT gateway each, or with one for both.
fn two_azs(nats: i64, block: Option<&str>) -> Value {
    let mut config = network(&[("num_availability_zones", 2.into()), ("num_nat_gateways", nats.into())]);
    if let Some(block) = block {
        config.set("public_subnet_cidr_blocks", Value::map([("AZ-0", Value::from(block))]));
    }
    config
}

/// The calls that concern NAT gateways and the routes of the private app tier.
fn nat_calls(terraform: &Terraform<FourTierVpc>) -> Vec<String> {
    let concerns = |call: &String| call.contains(" nat_gateway.") || call.contains(" route.private_app.");
    terraform.account.take_calls().into_iter().filter(concerns).collect()
}

fn warning(plan: &PlanResponse) -> Option<&str> {
    plan.diagnostics.0.iter().find(|it| it.summary.contains(" interrupts ")).map(|it| it.detail.as_str())
}

#[tokio::test(start_paused = true)]
async fn a_route_uses_another_nat_gateway_during_a_replacement() {
    let mut terraform = Terraform::<FourTierVpc>::new(2);
    terraform.assert_applies(&two_azs(2, None)).await;
    let other = terraform.state.get("aws_objects").get("nat_gateway.1").clone();
    terraform.account.take_calls();
    assert_eq!(warning(&terraform.plan(&two_azs(2, Some("10.0.240.0/24"))).await), None);
    terraform.assert_applies(&two_azs(2, Some("10.0.240.0/24"))).await;
    let expected = [
        "update route.private_app.0.ipv4",
        "delete nat_gateway.0",
        "create nat_gateway.0",
        "update route.private_app.0.ipv4",
    ];
    assert_eq!(nat_calls(&terraform), expected);
    assert_eq!(*terraform.state.get("aws_objects").get("nat_gateway.1"), other);
    assert_eq!(terraform.account.take_blackholes().len(), 0);
}

#[tokio::test(start_paused = true)]
async fn a_route_uses_another_nat_gateway_until_a_missing_one_exists() {
    let mut terraform = Terraform::<FourTierVpc>::new(2);
    terraform.assert_applies(&two_azs(2, None)).await;
    terraform.account.delete_outside("nat_gateway.0");
    terraform.refresh().await;
    let drift: Vec<&String> = terraform.state.get("drift").as_map().unwrap().keys().collect();
    assert_eq!(drift, ["nat_gateway.0", "route.private_app.0.ipv4"]);
    let address = terraform.state.get("aws_objects").get("eip.0").clone();
    terraform.account.take_calls();
    terraform.assert_applies(&two_azs(2, None)).await;
    let mut calls = nat_calls(&terraform);
    assert_eq!(calls.pop().as_deref(), Some("update route.private_app.0.ipv4"));
    calls.sort();
    assert_eq!(calls, ["create nat_gateway.0", "update route.private_app.0.ipv4"]);
    assert_eq!(*terraform.state.get("aws_objects").get("eip.0"), address);
    assert_eq!(terraform.account.take_blackholes().len(), 0);
}

#[tokio::test(start_paused = true)]
async fn a_plan_warns_of_routes_without_another_nat_gateway() {
    let mut terraform = Terraform::<FourTierVpc>::new(2);
    terraform.assert_applies(&two_azs(1, None)).await;
    let replaced = two_azs(1, Some("10.0.240.0/24"));
    let plan = terraform.plan(&replaced).await;
    let detail = warning(&plan).unwrap_or_else(|| panic!("{:?}", plan.diagnostics));
    for index in 0..2 {
        let line = format!("  route.private_app.{index}.ipv4 (");
        let line = detail.lines().find(|it| it.starts_with(&line)).unwrap_or_else(|| panic!("{detail}"));
        assert!(line.contains("from the deletion of nat_gateway.0 (nat_gateway.0-"), "{line}");
    }
    terraform.assert_applies(&replaced).await;
    assert_eq!(terraform.account.take_blackholes().len(), 2, "the warning is correct");
    terraform.account.delete_outside("nat_gateway.0");
    terraform.refresh().await;
    let plan = terraform.plan(&replaced).await;
    assert!(warning(&plan).is_some_and(|it| it.contains("already")), "{:?}", plan.diagnostics);
}

#[tokio::test(start_paused = true)]
async fn a_failed_replacement_keeps_the_route_to_another_nat_gateway() {
    let mut terraform = Terraform::<FourTierVpc>::new(2);
    terraform.assert_applies(&two_azs(2, None)).await;
    // The deletion fails, so no new object is created.
    terraform.account.failing.lock().unwrap().push("nat_gateway.0".into());
    assert!(terraform.apply(&two_azs(2, Some("10.0.240.0/24"))).await.has_errors());
    assert_eq!(terraform.account.take_blackholes().len(), 0);
    terraform.account.failing.lock().unwrap().clear();
    terraform.account.take_calls();
    terraform.assert_applies(&two_azs(2, Some("10.0.240.0/24"))).await;
    let calls = nat_calls(&terraform);
    assert_eq!(calls, ["delete nat_gateway.0", "create nat_gateway.0", "update route.private_app.0.ipv4"]);
    assert_eq!(terraform.account.take_blackholes().len(), 0);
}

#[tokio::test(start_paused = true)]
async fn a_nat_gateway_with_another_address_is_created_first() {
    let mut terraform = Terraform::<FourTierVpc>::new(2);
    terraform.assert_applies(&two_azs(1, None)).await;
    let mut custom = two_azs(1, None);
    custom.set("use_custom_nat_eips", true.into());
    custom.set("custom_nat_eips", vec!["eipalloc-0123456789abcdef0"].into());
    terraform.account.take_calls();
    assert_eq!(warning(&terraform.plan(&custom).await), None);
    terraform.assert_applies(&custom).await;
    let calls = nat_calls(&terraform);
    assert_eq!((calls[0].as_str(), calls[3].as_str()), ("create nat_gateway.0", "delete nat_gateway.0"), "{calls:?}");
    assert_eq!(calls.len(), 4);
    assert_eq!(terraform.account.take_blackholes().len(), 0);
}

/// The calls that concern NAT gateways, addresses and default routes, in alphabetical order.
fn sorted_nat_calls(terraform: &Terraform<FourTierVpc>) -> Vec<String> {
    let concerns = |call: &String| ["nat_gateway.", " eip.", " route."].iter().any(|part| call.contains(part));
    let mut calls: Vec<String> = terraform.account.take_calls().into_iter().filter(concerns).collect();
    calls.sort();
    calls
}

fn id(terraform: &Terraform<FourTierVpc>, key: &str) -> String {
    terraform.state.get("aws_objects").get(key).as_str().unwrap_or_default().to_string()
}

/// The network with these addresses, in the order of the list.
fn with_addresses(config: &Value, ids: &[&str]) -> Value {
    let mut config = config.clone();
    config.set("use_custom_nat_eips", true.into());
    config.set("custom_nat_eips", ids.to_vec().into());
    config
}

#[tokio::test(start_paused = true)]
async fn addresses_of_the_network_can_be_taken_over() {
    let mut terraform = Terraform::<FourTierVpc>::new(2);
    terraform.assert_applies(&two_azs(2, None)).await;
    let (eips, nats) = (["eip.0", "eip.1"].map(|it| id(&terraform, it)), [0, 1].map(|it| format!("nat_gateway.{it}")));
    let before = nats.clone().map(|it| id(&terraform, &it));
    let custom = with_addresses(&two_azs(2, None), &[&eips[1], &eips[0]]);
    let plan = terraform.plan(&custom).await;
    let warning = plan.diagnostics.0.iter().find(|it| it.summary.contains("stops managing 2 AWS objects"));
    let detail = &warning.unwrap_or_else(|| panic!("{:?}", plan.diagnostics)).detail;
    for (slot, eip) in eips.iter().enumerate() {
        assert!(detail.contains(&format!("  no longer managed: eip.{slot} ({eip})")), "{detail}");
    }
    assert!(!detail.contains("lost"), "{detail}");
    terraform.account.take_calls();
    terraform.assert_applies(&custom).await;
    let expected = ["disown eip.0", "disown eip.1", "update nat_gateway.0", "update nat_gateway.1"];
    assert_eq!(sorted_nat_calls(&terraform), expected);
    assert_eq!(nats.clone().map(|it| id(&terraform, &it)), before, "the gateways stay");
    assert_eq!(id(&terraform, "eip.0"), "");

    // A moved gateway keeps the address, and the way back replaces gateways and addresses.
    let moved = with_addresses(&two_azs(2, Some("10.0.240.0/24")), &[&eips[0], &eips[1]]);
    terraform.assert_applies(&moved).await;
    let calls = sorted_nat_calls(&terraform);
    assert_eq!(calls[..2], ["create nat_gateway.0", "delete nat_gateway.0"], "{calls:?}");
    terraform.assert_applies(&two_azs(2, Some("10.0.240.0/24"))).await;
    let calls = sorted_nat_calls(&terraform);
    let created = ["create eip.0", "create eip.1", "create nat_gateway.0", "create nat_gateway.1"];
    assert_eq!(calls[..4], created, "{calls:?}");
    assert!(!eips.contains(&id(&terraform, "eip.0")));
    terraform.account.take_calls();
    terraform.assert_applies(&with_addresses(&two_azs(2, Some("10.0.240.0/24")), &[&eips[0], &eips[1]])).await;
    terraform.account.take_calls();
    assert!(!terraform.destroy().await.has_errors());
    assert!(sorted_nat_calls(&terraform).iter().all(|call| !call.contains("eip.")));
}

#[tokio::test(start_paused = true)]
async fn one_address_is_taken_over_and_the_other_released() {
    let mut terraform = Terraform::<FourTierVpc>::new(2);
    terraform.assert_applies(&two_azs(2, None)).await;
    let (kept, nat) = (id(&terraform, "eip.1"), id(&terraform, "nat_gateway.1"));
    terraform.account.take_calls();
    // The subnet of the other gateway is replaced in the same update.
    let custom = with_addresses(&two_azs(1, Some("10.0.240.0/24")), &[&kept]);
    terraform.assert_applies(&custom).await;
    let calls = sorted_nat_calls(&terraform);
    let expected = [
        "delete eip.0",
        "delete nat_gateway.0",
        "disown eip.1",
        "update nat_gateway.1",
        "update route.private_app.0.ipv4",
    ];
    assert_eq!(calls, expected);
    assert_eq!(id(&terraform, "nat_gateway.1"), nat);
}

#[tokio::test(start_paused = true)]
async fn a_moved_gateway_takes_its_address_along() {
    let mut terraform = Terraform::<FourTierVpc>::new(2);
    terraform.assert_applies(&two_azs(2, None)).await;
    let eips = ["eip.0", "eip.1"].map(|it| id(&terraform, it));
    // The simulation rejects two gateways with one address.
    let custom = with_addresses(&two_azs(2, Some("10.0.240.0/24")), &[&eips[0], &eips[1]]);
    terraform.account.take_calls();
    terraform.assert_applies(&custom).await;
    let calls = sorted_nat_calls(&terraform);
    assert!(calls.contains(&"disown eip.0".to_string()) && !calls.contains(&"delete eip.0".to_string()), "{calls:?}");
}

#[tokio::test(start_paused = true)]
async fn a_takeover_that_fails_continues_in_the_next_apply() {
    let mut terraform = Terraform::<FourTierVpc>::new(2);
    terraform.assert_applies(&two_azs(2, None)).await;
    let eips = ["eip.0", "eip.1"].map(|it| id(&terraform, it));
    let custom = with_addresses(&two_azs(2, None), &[&eips[0], &eips[1]]);
    terraform.account.failing.lock().unwrap().push("eip.1".into());
    assert!(terraform.apply(&custom).await.has_errors());
    terraform.account.failing.lock().unwrap().clear();
    terraform.account.take_calls();
    terraform.assert_applies(&custom).await;
    assert_eq!(sorted_nat_calls(&terraform), ["disown eip.1"]);
}

#[tokio::test(start_paused = true)]
async fn a_replacement_that_would_release_listed_addresses_is_rejected() {
    let mut terraform = Terraform::<FourTierVpc>::new(2);
    terraform.assert_applies(&two_azs(1, None)).await;
    let eip = id(&terraform, "eip.0");
    let mut custom = with_addresses(&two_azs(1, None), &[&eip]);
    let replaced = |config: &Value| {
        let mut config = config.clone();
        config.set("cidr_block", "10.1.0.0/16".into());
        config
    };
    let plan = terraform.plan(&replaced(&custom)).await;
    let error = plan.diagnostics.0.iter().find(|it| it.detail.contains("releases")).expect("an error");
    assert!(error.detail.contains(&eip) && error.detail.contains("first"), "{error:?}");
    terraform.assert_applies(&custom).await;
    custom = replaced(&custom);
    assert!(!terraform.plan(&custom).await.diagnostics.has_errors());
}

#[tokio::test(start_paused = true)]
async fn fewer_nat_gateways_keep_those_whose_subnets_stay() {
    for tier in [None, Some("create_transit_subnets")] {
        let of = |count: i64, excluded: &[&str]| {
            let mut config = network(&[("num_nat_gateways", count.into())]);
            config.set("availability_zone_exclude_ids", excluded.to_vec().into());
            if let Some(transit) = tier {
                config.set(transit, true.into());
                config.set("enable_private_nat", true.into());
            }
            config
        };
        let mut terraform = Terraform::<FourTierVpc>::new(3);
        terraform.assert_applies(&of(3, &[])).await;
        terraform.account.take_calls();
        terraform.assert_applies(&of(2, &["use1-az2"])).await;
        let calls = terraform.account.take_calls();
        let nats: Vec<&String> = calls.iter().filter(|it| it.contains("nat_gateway.") || it.contains("eip.")).collect();
        match tier {
            None => assert_eq!(nats, ["delete nat_gateway.1", "delete eip.1"]),
            Some(_) => assert_eq!(nats, ["delete private_nat_gateway.1"]),
        }
        // The AZ returns at its index, and gets its gateway back.
        terraform.assert_applies(&of(3, &[])).await;
        let calls = terraform.account.take_calls();
        assert!(
            calls.iter().any(|call| call.ends_with("create nat_gateway.1") || call == "create private_nat_gateway.1")
        );
    }
}

#[tokio::test(start_paused = true)]
async fn a_plan_shows_the_target_of_each_route_that_moves() {
    let mut terraform = Terraform::<FourTierVpc>::new(2);
    let created = terraform.plan(&two_azs(2, None)).await;
    assert_eq!(*created.planned.get("route_targets"), Value::Unknown);
    terraform.assert_applies(&two_azs(2, None)).await;
    let ids = |slot: &str| terraform.state.get("aws_objects").get(slot).clone();
    let (gateway, stays, leaves) = (ids("internet_gateway"), ids("nat_gateway.0"), ids("nat_gateway.1"));
    let targets = |second: &Value| {
        Value::map([
            ("route.public.ipv4", gateway.clone()),
            ("route.private_app.0.ipv4", stays.clone()),
            ("route.private_app.1.ipv4", second.clone()),
        ])
    };
    assert_eq!(*terraform.state.get("route_targets"), targets(&leaves));
    let plan = terraform.plan(&two_azs(1, None)).await;
    assert_eq!(*plan.planned.get("route_targets"), targets(&stays));

    // The found target of an ignored route is shown, and its removal by hand.
    let mut config = two_azs(2, None);
    config.set("ignore_drift", vec!["route.*"].into());
    terraform.assert_applies(&config).await;
    terraform.account.change_outside("route.private_app.1.ipv4", |spec| {
        let Spec::Route(route) = spec else { unreachable!() };
        route.target = crate::model::Ref::Id("eni-1".into());
    });
    terraform.refresh().await;
    assert_eq!(*terraform.state.get("route_targets"), targets(&"eni-1".into()));
    config.set("num_nat_gateways", 1.into());
    let plan = terraform.plan(&config).await;
    assert_eq!(*plan.planned.get("route_targets"), targets(&"eni-1".into()), "the route does not move");
    terraform.assert_applies(&config).await;
    terraform.account.delete_outside("route.private_app.1.ipv4");
    terraform.refresh().await;
    assert!(terraform.state.get("route_targets").get("route.private_app.1.ipv4").is_null());
    terraform.assert_quiet(&config).await;
}

#[tokio::test(start_paused = true)]
async fn a_plan_warns_of_subnets_that_move_to_another_route_table() {
    let mut terraform = Terraform::<FourTierVpc>::new(2);
    terraform.assert_applies(&two_azs(1, None)).await;
    let mut config = two_azs(1, None);
    config.set("route_table_layout", Value::map([("private_app", Value::from("per_tier"))]));
    let plan = terraform.plan(&config).await;
    let line = "  route_table_association.private_app.1: subnet.private_app.1 moves from route_table.private_app.1 to \
                route_table.private_app";
    assert!(warning(&plan).is_some_and(|detail| detail.contains(line)), "{:?}", plan.diagnostics);
}

#[tokio::test(start_paused = true)]
async fn a_nat_gateway_stays_until_subnets_have_left_its_table() {
    let layout = [("private_app", Value::from("per_tier")), ("private_persistence", "private_app".into())];
    let persistence = |more: &[(&str, Value)]| {
        let mut config = network(&[
            ("num_availability_zones", 1.into()),
            ("allow_private_persistence_internet_access", true.into()),
            ("create_private_app_subnets", false.into()),
        ]);
        for (name, value) in more {
            config.set(name, value.clone());
        }
        config
    };
    let mut terraform = Terraform::<FourTierVpc>::new(1);
    terraform.assert_applies(&persistence(&[])).await;
    // The new public subnet overlaps the old one, so the NAT gateway is deleted before other objects are created.
    let without = persistence(&[
        ("create_private_app_subnets", true.into()),
        ("num_nat_gateways", 0.into()),
        ("public_subnet_cidr_blocks", Value::map([("AZ-0", Value::from("10.0.0.0/24"))])),
        ("route_table_layout", Value::map(layout)),
    ]);
    let plan = terraform.plan(&without).await;
    assert_eq!(super::properties::warned_outages(&plan).len(), 0);
    terraform.account.take_calls();
    terraform.assert_applies(&without).await;
    assert_eq!(terraform.account.take_blackholes().len(), 0);
    let calls = terraform.account.take_calls();
    let position = |call: &str| calls.iter().position(|it| it == call).unwrap_or_else(|| panic!("{calls:?}"));
    assert!(position("update route_table_association.private_persistence.0") < position("delete nat_gateway.0"));
}
