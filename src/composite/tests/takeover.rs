//! Objects of interrupted runs: taken over if the configuration requires them, otherwise left alone.

use std::collections::BTreeSet;

use super::*;
use crate::topology::four_tier_vpc::FourTierVpc;

/// Applies a configuration, of which Terraform then loses the new state: the run was killed at its end.
async fn apply_and_forget(terraform: &mut Terraform<FourTierVpc>, config: &Value) {
    let (state, private) = (terraform.state.clone(), terraform.private.clone());
    terraform.assert_applies(config).await;
    (terraform.state, terraform.private) = (state, private);
    terraform.account.take_calls();
}

fn created(calls: &[String]) -> Vec<&String> {
    calls.iter().filter(|call| call.starts_with("create")).collect()
}

fn unmanaged(terraform: &Terraform<FourTierVpc>) -> BTreeSet<String> {
    terraform.state.get("unmanaged_objects").as_map().unwrap().keys().cloned().collect()
}

#[tokio::test(start_paused = true)]
async fn objects_of_a_killed_update_are_taken_over() {
    let mut terraform = Terraform::<FourTierVpc>::new(3);
    terraform.assert_applies(&network(&[("num_availability_zones", 2.into())])).await;
    let changed = network(&[("num_availability_zones", 3.into()), ("num_nat_gateways", 2.into())]);
    apply_and_forget(&mut terraform, &changed).await;
    let objects = terraform.account.slots();

    terraform.refresh().await;
    assert!(!unmanaged(&terraform).is_empty());
    let plan = terraform.plan(&changed).await;
    let warning = plan.diagnostics.0.iter().find(|it| it.summary.contains("takes over objects that are not in state"));
    assert!(warning.unwrap().detail.contains("nat_gateway.1: nat_gateway.1-"), "{:?}", plan.diagnostics);
    assert!(plan.planned.get("aws_objects").get("nat_gateway.1").as_str().is_some(), "its id is known at plan");
    terraform.assert_applies(&changed).await;
    assert_eq!(created(&terraform.account.take_calls()), Vec::<&String>::new());
    assert_eq!(terraform.account.slots(), objects);
    terraform.refresh().await;
    assert_eq!(unmanaged(&terraform), BTreeSet::new());
    terraform.assert_quiet(&changed).await;
}

#[tokio::test(start_paused = true)]
async fn objects_that_the_next_configuration_does_not_require_stay() {
    let mut terraform = Terraform::<FourTierVpc>::new(3);
    terraform.assert_applies(&network(&[("num_availability_zones", 2.into())])).await;
    let killed = network(&[("num_availability_zones", 2.into()), ("create_transit_subnets", true.into())]);
    apply_and_forget(&mut terraform, &killed).await;
    let objects = terraform.account.slots();

    let next = network(&[("num_availability_zones", 3.into())]);
    terraform.refresh().await;
    let leftovers = unmanaged(&terraform);
    // A new subnet gets no range that a leftover has, which the account would reject.
    terraform.assert_applies(&next).await;
    let calls = terraform.account.take_calls();
    assert!(!calls.iter().any(|call| call.starts_with("delete")), "{calls:?}");
    assert!(objects.iter().all(|slot| terraform.account.slots().contains(slot)));
    assert_eq!(unmanaged(&terraform), leftovers, "an apply does not look for others");
    terraform.refresh().await;
    assert_eq!(unmanaged(&terraform), leftovers);
    terraform.assert_quiet(&next).await;
}

#[tokio::test(start_paused = true)]
async fn objects_of_two_killed_updates_are_told_apart() {
    let mut terraform = Terraform::<FourTierVpc>::new(3);
    terraform.assert_applies(&network(&[("num_availability_zones", 2.into())])).await;
    let first = network(&[("num_availability_zones", 3.into())]);
    apply_and_forget(&mut terraform, &first).await;
    terraform.refresh().await;
    let leftovers = unmanaged(&terraform);
    let second = network(&[("num_availability_zones", 3.into()), ("create_transit_subnets", true.into())]);
    apply_and_forget(&mut terraform, &second).await;

    terraform.refresh().await;
    terraform.assert_applies(&second).await;
    assert_eq!(created(&terraform.account.take_calls()), Vec::<&String>::new());
    terraform.refresh().await;
    // The second configuration requires other ranges for some subnets.
    assert!(unmanaged(&terraform).is_subset(&leftovers), "{:?}", unmanaged(&terraform));
    terraform.assert_quiet(&second).await;
}

#[tokio::test(start_paused = true)]
async fn a_subnet_with_an_unmanaged_interface_is_not_taken_over() {
    let mut terraform = Terraform::<FourTierVpc>::new(3);
    terraform.assert_applies(&network(&[("num_availability_zones", 2.into())])).await;
    let changed = network(&[("num_availability_zones", 3.into())]);
    apply_and_forget(&mut terraform, &changed).await;
    terraform.account.in_use.lock().unwrap().push("subnet.public.2".into());

    terraform.refresh().await;
    let plan = terraform.plan(&changed).await;
    assert!(plan.planned.get("aws_objects").get("subnet.private_app.2").as_str().is_some());
    assert!(plan.planned.get("aws_objects").get("subnet.public.2").is_unknown(), "another one is created");
    assert_eq!(*plan.planned.get("unmanaged_objects"), Value::Unknown);
    // It gets another range, which the account would reject otherwise. The association stays with the subnet in use.
    terraform.account.take_calls();
    terraform.assert_applies(&changed).await;
    let calls = terraform.account.take_calls();
    let created = ["create route_table_association.public.2", "create subnet.public.2"].map(String::from);
    assert!(created.iter().all(|call| calls.contains(call)), "{calls:?}");
    assert!(!calls.iter().any(|call| call.starts_with("delete")), "{calls:?}");
    terraform.refresh().await;
    assert_eq!(unmanaged(&terraform).len(), 1, "{:?}", unmanaged(&terraform));
    terraform.assert_quiet(&changed).await;
}

#[tokio::test(start_paused = true)]
async fn an_address_is_taken_over_only_with_its_nat_gateway() {
    let mut terraform = Terraform::<FourTierVpc>::new(2);
    terraform.assert_applies(&network(&[("num_nat_gateways", 1.into())])).await;
    apply_and_forget(&mut terraform, &network(&[("num_nat_gateways", 2.into())])).await;
    terraform.refresh().await;
    // The NAT gateway of the killed run is in the range that the subnet had.
    let blocks = Value::map([("AZ-1", Value::from("10.0.240.0/24"))]);
    let moved = network(&[("num_nat_gateways", 2.into()), ("public_subnet_cidr_blocks", blocks)]);
    let plan = terraform.plan(&moved).await;
    for slot in ["nat_gateway.1", "eip.1"] {
        assert!(plan.planned.get("aws_objects").get(slot).is_unknown(), "{slot}: {:?}", plan.planned);
    }
}

#[tokio::test(start_paused = true)]
async fn an_apply_takes_over_nothing_that_the_plan_did_not_show() {
    let mut terraform = Terraform::<FourTierVpc>::new(3);
    let public = |zones: Value| {
        let only =
            ["create_private_app_subnets", "create_private_persistence_subnets"].map(|tier| (tier, false.into()));
        network(&[&only[..], &[("num_availability_zones", zones), ("num_nat_gateways", 0.into())]].concat())
    };
    terraform.assert_applies(&public(2.into())).await;
    let changed = public(3.into());
    apply_and_forget(&mut terraform, &changed).await;
    terraform.refresh().await;
    let leftovers = unmanaged(&terraform);
    let plan = terraform.plan(&public(Value::Unknown)).await;
    assert!(!plan.diagnostics.has_errors(), "{:?}", plan.diagnostics);

    assert_eq!(terraform.apply_plan(&changed, plan).await, Diagnostics::default());
    let calls = terraform.account.take_calls();
    assert!(calls.contains(&"create subnet.public.2".to_string()), "{calls:?}");
    assert!(!calls.iter().any(|call| call.starts_with("delete")), "{calls:?}");
    terraform.refresh().await;
    assert_eq!(unmanaged(&terraform), leftovers);
    terraform.assert_quiet(&changed).await;
}

#[tokio::test(start_paused = true)]
async fn a_plan_without_refresh_reads_before_it_takes_objects_over() {
    let mut terraform = Terraform::<FourTierVpc>::new(3);
    terraform.assert_applies(&network(&[("num_availability_zones", 2.into())])).await;
    let changed = network(&[("num_availability_zones", 3.into())]);
    apply_and_forget(&mut terraform, &changed).await;
    terraform.refresh().await;
    let taken = |plan: &PlanResponse| plan.planned.get("aws_objects").get("subnet.public.2").as_str().is_some();
    assert!(taken(&terraform.plan(&changed).await));
    terraform.account.delete_outside("route_table_association.public.2");
    terraform.account.delete_outside("subnet.public.2");
    // A plan with -refresh=false, in a new process.
    let connection = Connection::default();
    connection.set(connected(&terraform.account));
    terraform.resource = Composite::new(connection);
    let plan = terraform.plan(&changed).await;
    assert!(!taken(&plan), "{:?}", plan.planned);
    assert!(plan.planned.get("aws_objects").get("subnet.private_app.2").as_str().is_some());
}

#[tokio::test(start_paused = true)]
async fn objects_taken_over_after_an_import_enter_state() {
    let mut terraform = Terraform::<FourTierVpc>::new(3);
    terraform.assert_applies(&network(&[("num_availability_zones", 2.into())])).await;
    super::import::reimport(&mut terraform).await;
    let changed = network(&[("num_availability_zones", 3.into())]);
    apply_and_forget(&mut terraform, &changed).await;
    terraform.refresh().await;
    terraform.assert_applies(&changed).await;
    assert_eq!(created(&terraform.account.take_calls()), Vec::<&String>::new());
    assert!(terraform.state.get("aws_objects").get("subnet.public.2").as_str().is_some());
    terraform.assert_quiet(&changed).await;
}

#[tokio::test(start_paused = true)]
async fn a_role_that_may_not_list_interfaces_takes_over_no_subnet() {
    let mut terraform = Terraform::<FourTierVpc>::new(3);
    terraform.assert_applies(&network(&[("num_availability_zones", 2.into())])).await;
    let changed = network(&[("num_availability_zones", 3.into())]);
    apply_and_forget(&mut terraform, &changed).await;
    *terraform.account.dependents_failure.lock().unwrap() = Some(Cause::Denied);
    terraform.refresh().await;
    let plan = terraform.plan(&changed).await;
    assert!(!plan.diagnostics.has_errors(), "{:?}", plan.diagnostics);
    assert!(plan.planned.get("aws_objects").get("subnet.public.2").is_unknown(), "another one is created");
}
