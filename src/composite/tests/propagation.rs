//! Route propagation from virtual private gateways, which AWS enables only once they are attached.

use super::*;

fn propagating(gateways: &[&str], pairs: &[(&str, Value)]) -> Value {
    let mut config = network(pairs);
    config.set("private_propagating_vgws", gateways.to_vec().into());
    config
}

fn set_unattached(terraform: &Terraform<FourTierVpc>, gateways: &[&str]) {
    *terraform.account.unattached.lock().unwrap() = gateways.iter().map(|id| id.to_string()).collect();
}

fn propagating_to(terraform: &Terraform<FourTierVpc>, slot: &str) -> Vec<String> {
    let inventory = inventory(&terraform.private);
    let Spec::RouteTable(table) = inventory.at(slot).unwrap().spec().clone() else { panic!("{slot}") };
    let gateways = table.propagating_gateways.known().unwrap().clone();
    gateways.into_iter().map(|id| id.known().unwrap().clone()).collect()
}

#[tokio::test(start_paused = true)]
async fn a_network_is_created_before_its_gateway_is_attached() {
    let mut terraform = Terraform::<FourTierVpc>::new(2);
    set_unattached(&terraform, &["vgw-1"]);
    let config = propagating(&["vgw-1"], &[]);
    let diagnostics = terraform.apply(&config).await;
    assert!(!diagnostics.has_errors(), "{diagnostics:?}");
    let warning = diagnostics.0.iter().find(|it| it.summary == "Route propagation is not enabled yet");
    let detail = &warning.unwrap_or_else(|| panic!("{diagnostics:?}")).detail;
    for slot in ["route_table.private_app.0", "route_table.private_app.1"] {
        assert!(detail.contains(slot), "{detail}");
        assert!(terraform.state.get("drift").get(slot).as_str().is_some(), "{}", terraform.state.get("drift"));
    }
    assert_eq!(*terraform.account.root_state.lock().unwrap(), Some(RootState::Ready), "the network is complete");

    set_unattached(&terraform, &[]);
    terraform.refresh().await;
    terraform.account.take_calls();
    terraform.assert_applies(&config).await;
    let mut calls = terraform.account.take_calls();
    calls.sort();
    assert_eq!(calls, ["update route_table.private_app.0", "update route_table.private_app.1"]);
    assert_eq!(propagating_to(&terraform, "route_table.private_app.0"), ["vgw-1"]);
    assert_eq!(*terraform.state.get("drift"), Value::map::<&str>([]));
}

#[tokio::test(start_paused = true)]
async fn no_operation_waits_for_an_attachment() {
    let mut terraform = Terraform::<FourTierVpc>::new(3);
    terraform.assert_applies(&propagating(&["vgw-1"], &[("num_availability_zones", 2.into())])).await;
    set_unattached(&terraform, &["vgw-2"]);
    terraform.account.take_calls();
    let changed = propagating(
        &["vgw-1", "vgw-2"],
        &[("num_availability_zones", 3.into()), ("create_private_persistence_subnets", false.into())],
    );
    let diagnostics = terraform.apply(&changed).await;
    assert!(!diagnostics.has_errors(), "{diagnostics:?}");
    let calls = terraform.account.take_calls();
    for call in ["create route.private_app.2.ipv4", "delete subnet.private_persistence.0"] {
        assert!(calls.iter().any(|it| it == call), "no {call} in {calls:?}");
    }
    assert_eq!(propagating_to(&terraform, "route_table.private_app.0"), ["vgw-1", "vgw-2"], "both are managed");

    // Without the gateway that is never attached, nothing is left to be done.
    let without = propagating(
        &["vgw-1"],
        &[("num_availability_zones", 3.into()), ("create_private_persistence_subnets", false.into())],
    );
    terraform.assert_applies(&without).await;
    assert_eq!(propagating_to(&terraform, "route_table.private_app.2"), ["vgw-1"]);
}

#[tokio::test(start_paused = true)]
async fn tags_of_a_table_change_although_a_gateway_is_not_attached() {
    let mut terraform = Terraform::<FourTierVpc>::new(1);
    terraform.assert_applies(&network(&[])).await;
    set_unattached(&terraform, &["vgw-1"]);
    let tags = Value::map([("team", Value::from("a"))]);
    assert!(!terraform.apply(&propagating(&["vgw-1"], &[("custom_tags", tags)])).await.has_errors());
    let calls = terraform.account.take_calls();
    assert_eq!(calls.iter().filter(|it| *it == "update route_table.private_app.0").count(), 2, "{calls:?}");
    let inventory = inventory(&terraform.private);
    let entry = inventory.at("route_table.private_app.0").unwrap();
    assert!(entry.applied.tags().unwrap().known().unwrap().contains_key("team"), "{entry:?}");
}

#[tokio::test(start_paused = true)]
async fn a_network_in_stages_is_created_before_its_gateway_is_attached() {
    let mut terraform = Terraform::<FourTierVpc>::new(2);
    set_unattached(&terraform, &["vgw-1"]);
    let pairs = [("cidr_block", Value::Null), ("ipv4_ipam_pool_id", "ipam-pool-1".into())];
    let diagnostics = terraform.apply(&propagating(&["vgw-1"], &pairs)).await;
    assert!(!diagnostics.has_errors(), "{diagnostics:?}");
    assert_eq!(*terraform.account.root_state.lock().unwrap(), Some(RootState::Ready));
}

#[tokio::test(start_paused = true)]
async fn a_plan_without_refresh_does_not_wait_for_an_attachment() {
    let ignoring = ("ignore_drift", Value::from(vec!["route_table.*"]));
    for pairs in [vec![], vec![ignoring]] {
        let mut terraform = Terraform::<FourTierVpc>::new(3);
        set_unattached(&terraform, &["vgw-1"]);
        let with = |zones: i64| {
            let mut config = propagating(&["vgw-1"], &pairs);
            config.set("num_availability_zones", zones.into());
            config
        };
        assert!(!terraform.apply(&with(2)).await.has_errors());
        for zones in [3, 2] {
            let diagnostics = terraform.apply(&with(zones)).await;
            assert!(!diagnostics.has_errors(), "{diagnostics:?}");
            let has_third = terraform.account.slots().iter().any(|slot| slot == "route.private_app.2.ipv4");
            assert_eq!(has_third, zones == 3);
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_route_is_rerouted_although_a_gateway_is_not_attached() {
    let mut terraform = Terraform::<FourTierVpc>::new(2);
    set_unattached(&terraform, &["vgw-1"]);
    let mut config = propagating(&["vgw-1"], &[("num_nat_gateways", 2.into())]);
    assert!(!terraform.apply(&config).await.has_errors());
    terraform.account.take_blackholes();
    config.set("public_subnet_cidr_blocks", Value::map([("AZ-0", Value::from("10.0.240.0/24"))]));
    assert!(!terraform.apply(&config).await.has_errors());
    assert_eq!(terraform.account.take_blackholes(), std::collections::BTreeSet::new());
}
