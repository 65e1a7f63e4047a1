//! Networks with a tier that has no subnets in some AZs.

use super::generate::generated;
use super::import::{assert_imports_quietly, reimport};
use super::*;

const NAME: &str = "tier_availability_zone_ids";

/// The AZs of the private persistence tier.
fn persistence(ids: &[&str]) -> (&'static str, Value) {
    (NAME, Value::map([("private_persistence", Value::from(ids.to_vec()))]))
}

#[tokio::test(start_paused = true)]
async fn a_tier_leaves_and_returns_to_an_az_alone() {
    let mut terraform = Terraform::<FourTierVpc>::new(3);
    let (all, some) = (network(&[]), network(&[persistence(&["use1-az1", "use1-az3"])]));
    terraform.assert_applies(&all).await;
    let before = terraform.state.get("aws_objects").clone();
    terraform.account.take_calls();
    let plan = terraform.plan(&some).await;
    let lists = |it: &Diagnostic| it.detail.contains("deleted: subnet.private_persistence.1 (");
    assert!(plan.diagnostics.0.iter().any(lists), "{:?}", plan.diagnostics);
    terraform.assert_applies(&some).await;
    let mut calls = terraform.account.take_calls();
    calls.retain(|call| !call.contains("vpc_endpoint."));
    calls.sort();
    // AWS deletes the association with the subnet.
    assert_eq!(calls, ["route_table", "subnet"].map(|kind| format!("delete {kind}.private_persistence.1")));
    let after = terraform.state.get("aws_objects").clone();
    for (key, id) in after.as_map().unwrap() {
        assert_eq!(id, before.get(key), "{key}");
    }
    terraform.assert_applies(&all).await;
    for (key, id) in after.as_map().unwrap() {
        assert_eq!(id, terraform.state.get("aws_objects").get(key), "{key}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_subnet_in_use_stays_until_it_is_free_or_required_again() {
    let mut terraform = Terraform::<FourTierVpc>::new(2);
    let (all, some) = (network(&[]), network(&[persistence(&["use1-az1"])]));
    terraform.assert_applies(&all).await;
    let subnet = terraform.state.get("aws_objects").get("subnet.private_persistence.1").clone();
    terraform.account.in_use.lock().unwrap().push("subnet.private_persistence.1".into());
    terraform.apply(&some).await;
    let pending = terraform.state.get("pending_deletion").as_map().unwrap();
    assert!(pending.contains_key("subnet.private_persistence.1"), "{pending:?}");
    terraform.assert_applies(&all).await;
    assert_eq!(*terraform.state.get("aws_objects").get("subnet.private_persistence.1"), subnet);
}

#[tokio::test(start_paused = true)]
async fn an_import_lists_the_azs_of_a_partial_tier() {
    let mut terraform = Terraform::<FourTierVpc>::new(4);
    let some = network(&[persistence(&["use1-az3", "use1-az1"]), ("num_availability_zones", 3.into())]);
    terraform.assert_applies(&some).await;
    assert_imports_quietly(&mut terraform, &some).await;
    let sorted = persistence(&["use1-az1", "use1-az3"]);
    assert_eq!(*terraform.state.get(NAME), sorted.1);
    assert_eq!(generated(&terraform), network(&[sorted, ("num_availability_zones", 3.into())]));
    // A configuration that requires all subnets creates the missing one.
    reimport(&mut terraform).await;
    let all = network(&[("num_availability_zones", 3.into())]);
    terraform.assert_applies(&all).await;
    let calls = terraform.account.take_calls();
    assert!(calls.contains(&"create subnet.private_persistence.1".to_string()), "{calls:?}");
    assert!(terraform.state.get(NAME).is_null());
}

#[tokio::test(start_paused = true)]
async fn lists_of_all_tiers_replace_the_other_inputs_for_azs() {
    let mut terraform = Terraform::<FourTierVpc>::new(4);
    let lists = [("public", "use1-az1"), ("private_app", "use1-az3"), ("private_persistence", "use1-az3")];
    let lists = (NAME, Value::map(lists.map(|(tier, id)| (tier, Value::from(vec![id])))));
    let config = network(&[lists.clone(), ("num_availability_zones", 3.into())]);
    terraform.assert_applies(&config).await;
    assert_eq!(*terraform.state.get("availability_zone_ids_used"), vec!["use1-az1", "use1-az3"].into());
    assert_imports_quietly(&mut terraform, &config).await;
    assert_eq!(generated(&terraform), network(&[lists]));
}
