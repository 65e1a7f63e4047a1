//! Subnets that an update deletes, but that AWS keeps because they are in use: what they need stays with them.

use std::collections::BTreeSet;

use proptest::prelude::*;

use super::properties::{some_network, warned_outages};
use super::*;

/// Three AZs with `nats` NAT gateways, and gateway endpoints.
fn azs(zones: i64, nats: i64) -> Value {
    network(&[("num_availability_zones", zones.into()), ("num_nat_gateways", nats.into())])
}

fn set_in_use(terraform: &Terraform<FourTierVpc>, slots: &[&str]) {
    *terraform.account.in_use.lock().unwrap() = slots.iter().map(|slot| slot.to_string()).collect();
}

fn pending_deletion(terraform: &Terraform<FourTierVpc>) -> Vec<String> {
    terraform.state.get("pending_deletion").as_map().unwrap().keys().cloned().collect()
}

fn detail<'a>(plan: &'a PlanResponse, summary: &str) -> &'a str {
    let found = plan.diagnostics.0.iter().find(|it| it.summary.contains(summary));
    found.map_or_else(|| panic!("{:?}", plan.diagnostics), |it| it.detail.as_str())
}

#[tokio::test(start_paused = true)]
async fn an_az_keeps_its_nat_gateway_and_endpoints_while_in_use() {
    let mut terraform = Terraform::<FourTierVpc>::new(3);
    terraform.assert_applies(&azs(3, 3)).await;
    set_in_use(&terraform, &["subnet.private_app.2"]);
    let plan = terraform.plan(&azs(2, 2)).await;
    let text = detail(&plan, " deletes ");
    let line = text.lines().find(|it| it.contains("stay until")).unwrap_or_else(|| panic!("{text}"));
    for kept in ["nat_gateway.2", "eip.2", "subnet.public.2", "route_table.private_app.2", "vpc_endpoint.objectstore"] {
        assert!(text.contains(kept), "no {kept} in {line}");
    }
    terraform.account.take_calls();
    assert!(!terraform.apply(&azs(2, 2)).await.has_errors());
    let kept = [
        "eip.2",
        "nat_gateway.2",
        "route.private_app.2.ipv4",
        "route_table.private_app.2",
        "route_table.private_persistence.2",
        "route_table_association.private_app.2",
        "route_table_association.public.2",
        "subnet.private_app.2",
        "subnet.public.2",
    ];
    assert_eq!(pending_deletion(&terraform), kept);
    assert_eq!(terraform.account.take_calls(), ["delete subnet.private_persistence.2", "delete subnet.private_app.2"]);
    assert_eq!(*terraform.state.get("drift"), Value::map::<&str>([]));

    set_in_use(&terraform, &[]);
    terraform.refresh().await;
    terraform.assert_applies(&azs(2, 2)).await;
    assert_eq!(pending_deletion(&terraform), Vec::<String>::new());
    assert!(!terraform.account.slots().iter().any(|slot| slot.contains(".2")), "{:?}", terraform.account.slots());
    assert_eq!(terraform.account.take_blackholes(), BTreeSet::new());
    assert_eq!(terraform.account.take_endpoint_losses(), BTreeSet::new());
    assert!(!terraform.destroy().await.has_errors());
}

#[tokio::test(start_paused = true)]
async fn a_subnet_in_use_gets_a_route_to_the_nat_gateway_that_stays() {
    let mut terraform = Terraform::<FourTierVpc>::new(3);
    // The NAT gateway of the third AZ is that of the first one.
    terraform.assert_applies(&azs(3, 2)).await;
    set_in_use(&terraform, &["subnet.private_app.2"]);
    let mut moved = azs(2, 2);
    moved.set("public_subnet_cidr_blocks", Value::map([("AZ-0", Value::from("10.0.240.0/24"))]));
    let plan = terraform.plan(&moved).await;
    let text = detail(&plan, " deletes ");
    assert!(text.contains("route.private_app.2.ipv4 to nat_gateway.1"), "{text}");
    assert_eq!(warned_outages(&plan), BTreeSet::new());
    assert!(!terraform.apply(&moved).await.has_errors());
    assert_eq!(terraform.account.take_blackholes(), BTreeSet::new());
    terraform.refresh().await;
    assert_eq!(*terraform.state.get("drift"), Value::map::<&str>([]));
    set_in_use(&terraform, &[]);
    terraform.refresh().await;
    terraform.assert_applies(&moved).await;
    assert_eq!(pending_deletion(&terraform), Vec::<String>::new());
}

#[tokio::test(start_paused = true)]
async fn a_subnet_in_use_gets_a_route_to_the_only_new_nat_gateway() {
    let mut terraform = Terraform::<FourTierVpc>::new(2);
    terraform.assert_applies(&azs(2, 1)).await;
    set_in_use(&terraform, &["subnet.private_app.1"]);
    let mut moved = azs(1, 1);
    moved.set("public_subnet_cidr_blocks", Value::map([("AZ-0", Value::from("10.0.240.0/24"))]));
    let plan = terraform.plan(&moved).await;
    let expected = ["route.private_app.0.ipv4", "route.private_app.1.ipv4"].map(String::from);
    assert_eq!(warned_outages(&plan), BTreeSet::from(expected));
    assert!(!terraform.apply(&moved).await.has_errors());
    terraform.refresh().await;
    assert_eq!(terraform.account.current_blackholes(), BTreeSet::new(), "it uses the new NAT gateway");
}

#[tokio::test(start_paused = true)]
async fn subnets_keep_their_endpoints_when_their_tables_are_replaced() {
    let mut terraform = Terraform::<FourTierVpc>::new(3);
    let own_tables = network(&[("one_route_table_public_subnets", false.into())]);
    let one_table = network(&[("one_route_table_public_subnets", true.into())]);
    terraform.assert_applies(&own_tables).await;
    for config in [&one_table, &own_tables] {
        terraform.assert_applies(config).await;
        assert_eq!(terraform.account.take_endpoint_losses(), BTreeSet::new());
        assert_eq!(terraform.account.take_blackholes(), BTreeSet::new());
    }
}

/// The routes of which a plan warns that no other target replaces theirs.
fn without_successor(plan: &PlanResponse) -> BTreeSet<String> {
    let lines = plan.diagnostics.0.iter().flat_map(|it| it.detail.lines());
    let lines = lines.filter(|line| line.contains("until the route is deleted with its table"));
    lines.filter_map(|line| line.trim().split(' ').next()).map(str::to_string).collect()
}

/// Applies valid configurations one after the other, while AWS keeps some of the subnets that they delete. At the end,
/// nothing is in use, so that everything is deleted.
fn check_subnets_in_use(configs: &[(Value, Vec<u8>)]) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build().unwrap();
    runtime.block_on(async {
        let mut terraform = Terraform::<FourTierVpc>::new(3);
        for (config, used) in configs {
            let subnets = terraform.account.slots().into_iter().filter(|slot| slot.starts_with("subnet."));
            let subnets: Vec<String> = subnets.collect();
            let of_number = |number: &u8| subnets.get(usize::from(*number)).map(String::as_str);
            set_in_use(&terraform, &used.iter().filter_map(of_number).collect::<Vec<_>>());
            terraform.refresh().await;
            let plan = terraform.plan(config).await;
            let invalid = terraform.resource.validate(&terraform.config(config)).has_errors();
            if invalid || plan.diagnostics.has_errors() || !plan.requires_replace.is_empty() {
                continue;
            }
            let routes_before = terraform.account.routes_in_use();
            let broken_before = terraform.account.current_blackholes();
            let diagnostics = terraform.apply(config).await;
            assert!(!diagnostics.has_errors(), "{diagnostics:?}");
            // A new subnet may get a route before its target exists. An earlier apply may have deleted the target of a
            // subnet in use, and warned of it then.
            let mut blackholes = terraform.account.take_blackholes();
            blackholes.retain(|slot| routes_before.contains(slot) && !broken_before.contains(slot));
            let mut warned = warned_outages(&plan);
            warned.retain(|slot| !broken_before.contains(slot));
            // A route of which the plan warns may be deleted before its target, because neither waits for the other.
            assert!(blackholes.is_subset(&warned), "{blackholes:?} is not in {warned:?}");
            assert!(warned.is_subset(&routes_before), "{warned:?}");
            let mut left = terraform.account.current_blackholes();
            left.retain(|slot| !broken_before.contains(slot));
            assert!(left.is_subset(&without_successor(&plan)), "{left:?}");
            let mut losses = terraform.account.take_endpoint_losses();
            // The configuration may disable the endpoints.
            losses.retain(|_| terraform.account.slots().iter().any(|slot| slot.starts_with("vpc_endpoint.")));
            assert_eq!(losses, BTreeSet::new());
            terraform.refresh().await;
            assert_eq!(*terraform.state.get("drift"), Value::map::<&str>([]));
        }
        set_in_use(&terraform, &[]);
        terraform.refresh().await;
        if let Some((config, _)) = configs.last()
            && !terraform.state.is_null()
            && !terraform.plan(config).await.diagnostics.has_errors()
            && terraform.plan(config).await.requires_replace.is_empty()
            && !terraform.resource.validate(&terraform.config(config)).has_errors()
        {
            terraform.assert_applies(config).await;
            assert_eq!(pending_deletion(&terraform), Vec::<String>::new());
        }
    });
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn subnets_in_use_keep_their_routes_and_endpoints(
        configs in proptest::collection::vec((some_network(), proptest::collection::vec(0..12_u8, 0..4)), 2..5)
    ) {
        check_subnets_in_use(&configs);
    }
}

#[tokio::test(start_paused = true)]
async fn an_internet_gateway_with_mapped_addresses_is_not_deleted() {
    let mut terraform = Terraform::<FourTierVpc>::new(2);
    let nothing = network(&[("num_availability_zones", 2.into()), ("num_nat_gateways", 0.into())]);
    terraform.assert_applies(&nothing).await;
    set_in_use(&terraform, &["subnet.public.0", "internet_gateway"]);
    let mut without = nothing.clone();
    without.set("create_igw", false.into());
    let plan = terraform.plan(&without).await;
    assert!(plan.diagnostics.has_errors(), "{:?}", plan.diagnostics);
    let text = detail(&plan, "internet_gateway is in use");
    assert!(text.contains("eni-subnet.public.0"), "{text}");

    // The gateway waits for the subnets that are deleted with it.
    without.set("create_public_subnets", false.into());
    assert!(!terraform.apply(&without).await.has_errors());
    let pending = pending_deletion(&terraform);
    for kept in ["internet_gateway", "route.public.ipv4", "subnet.public.0"] {
        assert!(pending.iter().any(|slot| slot == kept), "no {kept} in {pending:?}");
    }
    set_in_use(&terraform, &[]);
    terraform.refresh().await;
    terraform.assert_applies(&without).await;
    assert_eq!(pending_deletion(&terraform), Vec::<String>::new());
}

#[tokio::test(start_paused = true)]
async fn a_subnet_that_waits_for_one_in_use_is_an_error() {
    let mut terraform = Terraform::<FourTierVpc>::new(2);
    terraform.assert_applies(&azs(2, 1)).await;
    let moved = {
        let mut config = azs(1, 1);
        config.set("public_subnet_cidr_blocks", Value::map([("AZ-0", Value::from("10.0.88.0/24"))]));
        config
    };
    // The plan does not see the network interface.
    *terraform.account.dependents_failure.lock().unwrap() = Some(Cause::Denied);
    set_in_use(&terraform, &["subnet.private_app.1"]);
    let diagnostics = terraform.apply(&moved).await;
    assert!(diagnostics.0.iter().any(|it| it.summary.contains("incomplete")), "{diagnostics:?}");
    set_in_use(&terraform, &[]);
    terraform.refresh().await;
    terraform.assert_applies(&moved).await;
}

#[tokio::test(start_paused = true)]
async fn an_adopted_policy_is_no_drift_while_a_subnet_is_in_use() {
    let mut terraform = Terraform::<FourTierVpc>::new(2);
    terraform.assert_applies(&azs(2, 1)).await;
    let policy = r#"{"Statement":[],"Version":"2012-10-17"}"#;
    terraform.account.change_outside("vpc_endpoint.objectstore", |spec| {
        let Spec::VpcEndpoint(endpoint) = spec else { unreachable!() };
        endpoint.policy = Input::Known(Some(policy.into()));
    });
    terraform.refresh().await;
    set_in_use(&terraform, &["subnet.private_app.1"]);
    let mut fewer = azs(1, 1);
    fewer.set("objectstore_endpoint_policy", policy.into());
    assert!(!terraform.apply(&fewer).await.has_errors());
    assert_eq!(*terraform.state.get("drift"), Value::map::<&str>([]));
    set_in_use(&terraform, &[]);
    terraform.refresh().await;
    terraform.assert_applies(&fewer).await;
}
