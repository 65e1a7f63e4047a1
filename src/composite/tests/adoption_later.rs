//! Adoptions of additional objects by a network or an API that is managed already.

use proptest::prelude::*;

use super::domains::some_gateway;
use super::properties::some_network;
use super::*;

type Network = Terraform<FourTierVpc>;
type Api = Terraform<HttpGateway>;

/// Applies a configuration of which Terraform loses the new state, so that the state does not contain its new objects.
/// Something else built them. Returns the entries of `adopt` for them.
async fn build_further<P: Topology>(terraform: &mut Terraform<P>, config: &Value) -> Vec<(String, String)> {
    let before = terraform.account.slots();
    let (state, private) = (terraform.state.clone(), terraform.private.clone());
    terraform.assert_applies(config).await;
    let objects = terraform.state.get("aws_objects").as_map().expect("a map").clone();
    (terraform.state, terraform.private) = (state, private);
    let new = objects.iter().filter(|(slot, _)| !before.contains(slot));
    let new: Vec<(String, String)> = new.map(|(slot, id)| (slot.clone(), id.as_str().expect("an id").into())).collect();
    const OF_NETWORKS: [&str; 7] =
        ["subnet.", "route_table.", "eip.", "nat_gateway.", "private_nat", "internet", "vpc_endpoint."];
    let has_tags = |slot: &str| {
        ["log_group", "domain"].contains(&slot) || OF_NETWORKS.iter().any(|prefix| slot.starts_with(prefix))
    };
    let named = new.into_iter().filter(|(slot, _)| has_tags(slot));
    let named: Vec<(String, String)> = named.collect();
    terraform.account.further.lock().unwrap().extend(named.iter().map(|(slot, _)| slot.clone()));
    terraform.refresh().await;
    terraform.account.take_calls();
    named
}

fn adopting(config: &Value, entries: &[(String, String)]) -> Value {
    let mut config = config.clone();
    config.set("adopt", Value::map(entries.iter().map(|(slot, id)| (slot.clone(), Value::from(id.as_str())))));
    config
}

/// The first error of a plan.
async fn refusal<P: Topology>(terraform: &Terraform<P>, config: &Value) -> (String, String) {
    let plan = terraform.plan(config).await.diagnostics;
    let error = plan.0.iter().find(|it| it.severity == Severity::Error);
    error.map(|it| (it.summary.clone(), it.detail.clone())).unwrap_or_else(|| panic!("no error: {plan:?}"))
}

fn zones(count: i64) -> Value {
    network(&[("num_availability_zones", count.into())])
}

/// A network in two AZs, in which something else built the objects of a third one.
async fn with_a_third_zone() -> (Network, Vec<(String, String)>) {
    let mut terraform = Network::new(3);
    terraform.assert_applies(&zones(2)).await;
    let named = build_further(&mut terraform, &zones(3)).await;
    (terraform, named)
}

#[tokio::test(start_paused = true)]
async fn objects_of_a_further_zone_are_adopted() {
    let (mut terraform, named) = with_a_third_zone().await;
    assert!(named.iter().any(|(slot, _)| slot == "subnet.public.2"), "{named:?}");
    assert_eq!(*terraform.state.get("unmanaged_objects"), Value::map::<&str>([]), "a read does not find them");
    let config = adopting(&zones(3), &named);
    let plan = terraform.plan(&config).await;
    assert_eq!(plan.diagnostics, Diagnostics::default());
    for (slot, id) in &named {
        assert_eq!(plan.planned.get("aws_objects").get(slot).as_str(), Some(id.as_str()), "{slot}");
    }
    assert_eq!(*plan.planned.get("unmanaged_objects"), Value::Unknown);
    assert_eq!(terraform.apply(&config).await, Diagnostics::default());
    let calls = terraform.account.take_calls();
    assert!(calls.iter().all(|call| call.starts_with("adopt ")), "{calls:?}");
    assert!(named.iter().all(|(slot, _)| calls.contains(&format!("adopt {slot}"))), "{calls:?}");
    terraform.assert_quiet(&config).await;
    terraform.refresh().await;
    terraform.assert_quiet(&zones(3)).await;
    assert_eq!(terraform.destroy().await, Diagnostics::default());
    assert_eq!(terraform.account.slots(), [""; 0]);
}

/// The same network after an adoption that has failed at a subnet.
async fn failed_adoption(loses_private_state: bool) -> (Network, Vec<(String, String)>) {
    let (mut terraform, named) = with_a_third_zone().await;
    terraform.account.failing.lock().unwrap().push("subnet.public.2".to_string());
    assert!(terraform.apply(&adopting(&zones(3), &named)).await.has_errors());
    terraform.account.failing.lock().unwrap().clear();
    if loses_private_state {
        terraform.private = Vec::new();
    }
    terraform.refresh().await;
    terraform.account.take_calls();
    (terraform, named)
}

#[tokio::test(start_paused = true)]
async fn a_failed_adoption_leaves_the_object_unmanaged() {
    for loses in [false, true] {
        let (mut terraform, _) = failed_adoption(loses).await;
        let managed = terraform.state.get("aws_objects").clone();
        for slot in ["subnet.public.2", "route_table_association.public.2"] {
            assert!(managed.get(slot).is_null(), "{slot}: {managed}");
        }
        assert!(managed.get("subnet.private_app.2").as_str().is_some(), "{managed}");
        terraform.destroy().await;
        let calls = terraform.account.take_calls();
        assert!(!calls.iter().any(|call| call.ends_with("public.2")), "{calls:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_failed_adoption_is_completed_by_the_next_apply() {
    for loses in [false, true] {
        let (mut terraform, named) = failed_adoption(loses).await;
        assert!(!terraform.apply(&adopting(&zones(3), &named)).await.has_errors());
        let calls = terraform.account.take_calls();
        assert!(calls.iter().all(|call| call.starts_with("adopt ")), "{calls:?}");
        assert!(calls.contains(&"adopt subnet.public.2".to_string()), "{calls:?}");
        terraform.assert_quiet(&zones(3)).await;
    }
}

#[tokio::test(start_paused = true)]
async fn an_apply_that_stops_at_once_adopts_nothing() {
    let (mut terraform, named) = with_a_third_zone().await;
    let plan = terraform.plan(&adopting(&zones(3), &named)).await;
    // The private state that an apply leaves which fails before its first operation.
    terraform.private = plan.private;
    terraform.account.take_calls();
    terraform.destroy().await;
    let calls = terraform.account.take_calls();
    let named_slot = |call: &String| named.iter().any(|(slot, _)| call.ends_with(slot));
    assert!(!calls.iter().any(named_slot), "{calls:?}");
}

#[tokio::test(start_paused = true)]
async fn an_object_that_is_not_required_is_not_adopted() {
    let (terraform, named) = with_a_third_zone().await;
    let (summary, detail) = refusal(&terraform, &adopting(&zones(2), &named)).await;
    assert_eq!(summary, "This object cannot be adopted");
    assert!(detail.contains("this configuration does not require "), "{detail}");
    let unknown = [("subnet.public.2".to_string(), "subnet-of-another-network".to_string())];
    let (_, detail) = refusal(&terraform, &adopting(&zones(3), &unknown)).await;
    assert!(detail.contains("no object subnet-of-another-network that this VPC could adopt"), "{detail}");
    assert_eq!(terraform.account.take_calls(), [""; 0]);
}

#[tokio::test(start_paused = true)]
async fn a_difference_is_an_error_with_both_values_and_the_input() {
    let (terraform, named) = with_a_third_zone().await;
    let range = Value::map([("AZ-2", Value::from("10.0.240.0/24"))]);
    let moved = network(&[("num_availability_zones", 3.into()), ("public_subnet_cidr_blocks", range)]);
    let (summary, detail) = refusal(&terraform, &adopting(&moved, &named)).await;
    assert_eq!(summary, "An adoption changes nothing but tags");
    assert!(detail.contains("would be replaced: cidr_block is 10.0.240.0/24 instead of 10.0."), "{detail}");
    assert!(detail.contains("public_subnet_cidr_blocks[\"AZ-2\"]"), "{detail}");

    let maps = |spec: &mut Spec| {
        let Spec::Subnet(subnet) = spec else { return };
        subnet.map_public_ip_on_launch = Input::Known(true);
    };
    terraform.account.change_outside("subnet.private_app.2", maps);
    let (summary, detail) = refusal(&terraform, &adopting(&zones(3), &named)).await;
    assert_eq!(summary, "An adoption changes nothing but tags");
    assert!(detail.contains("map_public_ip_on_launch is false instead of true"), "{detail}");
    assert_eq!(terraform.account.take_calls(), [""; 0]);
}

#[tokio::test(start_paused = true)]
async fn nothing_is_created_for_an_adopted_object() {
    let (terraform, named) = with_a_third_zone().await;
    terraform.account.delete_outside("route_table_association.public.2");
    let (summary, detail) = refusal(&terraform, &adopting(&zones(3), &named)).await;
    assert_eq!(summary, "An adoption changes nothing but tags");
    assert!(detail.contains("route_table_association.public.2 would be created for subnet.public.2-"), "{detail}");
}

#[tokio::test(start_paused = true)]
async fn entries_of_managed_and_deleted_objects_have_no_effect() {
    let (mut terraform, named) = with_a_third_zone().await;
    assert_eq!(terraform.apply(&adopting(&zones(3), &named)).await, Diagnostics::default());
    // The objects are deleted, and later created again.
    assert!(!terraform.apply(&adopting(&zones(2), &named)).await.has_errors());
    terraform.refresh().await;
    let plan = terraform.plan(&adopting(&zones(2), &named)).await;
    let summaries: Vec<&String> = plan.diagnostics.0.iter().map(|it| &it.summary).collect();
    assert_eq!(summaries, ["adopt has no effect any more"]);
    terraform.account.take_calls();
    assert!(!terraform.apply(&adopting(&zones(3), &named)).await.has_errors());
    assert!(terraform.account.take_calls().contains(&"create subnet.public.2".to_string()));

    let other = [("subnet.public.0".to_string(), "subnet-other".to_string())];
    let (summary, _) = refusal(&terraform, &adopting(&zones(3), &other)).await;
    assert_eq!(summary, "The resource manages another object under this key");
    let public = terraform.state.get("aws_objects").get("subnet.public.0").as_str().expect("an id").to_string();
    let (_, detail) = refusal(&terraform, &adopting(&zones(3), &[("subnet.public.7".to_string(), public)])).await;
    assert!(detail.contains("is subnet.public.0"), "{detail}");
}

#[tokio::test(start_paused = true)]
async fn an_unknown_entry_for_a_free_key_is_an_error() {
    let (terraform, _) = with_a_third_zone().await;
    let unknown = |slot: &str| {
        let mut config = zones(3);
        config.set("adopt", Value::map([(slot, Value::Unknown)]));
        config
    };
    let (summary, _) = refusal(&terraform, &unknown("subnet.public.2")).await;
    assert_eq!(summary, "The objects to adopt are unknown");
    assert!(!terraform.plan(&unknown("subnet.public.0")).await.diagnostics.has_errors());
}

#[tokio::test(start_paused = true)]
async fn a_leftover_in_use_is_taken_over_with_consent() {
    let (mut terraform, named) = with_a_third_zone().await;
    terraform.account.further.lock().unwrap().clear();
    terraform.account.in_use.lock().unwrap().push("subnet.public.2".into());
    terraform.refresh().await;
    let plan = terraform.plan(&zones(3)).await;
    assert!(plan.planned.get("aws_objects").get("subnet.public.2").is_unknown(), "another one is created");
    let entry: Vec<(String, String)> = named.into_iter().filter(|(slot, _)| slot == "subnet.public.2").collect();
    let config = adopting(&zones(3), &entry);
    terraform.account.take_calls();
    assert!(!terraform.apply(&config).await.has_errors());
    assert_eq!(terraform.account.take_calls(), [""; 0], "they have the tags already");
    assert_eq!(terraform.state.get("aws_objects").get("subnet.public.2"), &Value::from(entry[0].1.as_str()));
    terraform.refresh().await;
    terraform.assert_quiet(&zones(3)).await;
}

/// An API without access logs and a domain, for which something else built both. Returns the configuration with them.
async fn with_logs_and_a_domain() -> (Api, Value, Vec<(String, String)>) {
    let mut terraform = Api::new(1);
    let routes = [("GET /a", route("a", None))];
    terraform.assert_applies(&gateway(&routes, &[], &[])).await;
    let inputs = [
        ("access_log_logservice_group_name", Value::from("front-logs")),
        ("access_log_logservice_group_subscription_destination_arn", function("sink").into()),
        ("domain_name", "a.example.com".into()),
    ];
    let config = gateway(&routes, &[], &inputs);
    let named = build_further(&mut terraform, &config).await;
    (terraform, config, named)
}

#[tokio::test(start_paused = true)]
async fn a_log_group_and_a_domain_are_adopted_by_an_api() {
    let (mut terraform, config, named) = with_logs_and_a_domain().await;
    assert_eq!(named.iter().map(|(slot, _)| slot.as_str()).collect::<Vec<_>>(), ["domain", "log_group"]);
    assert_eq!(*terraform.state.get("unmanaged_objects"), Value::map::<&str>([]), "a read does not find them");
    let adopting = adopting(&config, &named);
    let plan = terraform.plan(&adopting).await;
    for (slot, id) in &named {
        assert_eq!(plan.planned.get("aws_objects").get(slot).as_str(), Some(id.as_str()), "{slot}");
    }
    assert!(!terraform.apply(&adopting).await.has_errors());
    let calls = terraform.account.take_calls();
    assert!(!calls.iter().any(|call| call.starts_with("create ") || call.starts_with("delete ")), "{calls:?}");
    assert!(named.iter().all(|(slot, _)| calls.contains(&format!("adopt {slot}"))), "{calls:?}");
    terraform.refresh().await;
    terraform.assert_quiet(&config).await;
    assert_eq!(terraform.destroy().await, Diagnostics::default());
    assert_eq!(terraform.account.slots(), [""; 0]);
}

#[tokio::test(start_paused = true)]
async fn an_api_adopts_no_log_group_that_differs() {
    let (terraform, mut config, named) = with_logs_and_a_domain().await;
    config.set("access_log_logservice_group_retention_in_days", 30.into());
    let (summary, detail) = refusal(&terraform, &adopting(&config, &named)).await;
    assert_eq!(summary, "An adoption changes nothing but tags");
    assert!(detail.contains("retention_in_days is 30 instead of absent"), "{detail}");
    assert!(detail.contains("access_log_logservice_group_retention_in_days = null instead of 30"), "{detail}");
}

#[tokio::test(start_paused = true)]
async fn an_entry_of_a_deleted_log_group_has_no_effect() {
    let (mut terraform, config, named) = with_logs_and_a_domain().await;
    assert!(!terraform.apply(&adopting(&config, &named)).await.has_errors());
    terraform.refresh().await;
    let group: Vec<(String, String)> = named.into_iter().filter(|(slot, _)| slot == "log_group").collect();
    terraform.account.delete_outside("log_group");
    terraform.refresh().await;
    let plan = terraform.plan(&adopting(&config, &group)).await;
    let summaries: Vec<&str> = plan.diagnostics.0.iter().map(|it| it.summary.as_str()).collect();
    assert!(summaries.contains(&"adopt has no effect any more"), "{summaries:?}");
    assert!(!plan.diagnostics.has_errors(), "{summaries:?}");
    assert!(plan.planned.get("aws_objects").get("log_group").is_unknown(), "another one is created");
}

#[tokio::test(start_paused = true)]
async fn an_entry_of_a_deleted_stage_has_no_effect() {
    let mut terraform = Api::new(1);
    let config = gateway(&[("GET /a", route("a", None))], &[], &[]);
    terraform.assert_applies(&config).await;
    let stage = terraform.state.get("aws_objects").get("stage").as_str().expect("an ID").to_string();
    terraform.account.delete_outside("stage");
    terraform.refresh().await;
    let plan = terraform.plan(&adopting(&config, &[("stage".to_string(), stage)])).await;
    assert!(!plan.diagnostics.has_errors(), "{:?}", plan.diagnostics);
}

#[tokio::test(start_paused = true)]
async fn a_log_group_may_have_the_name_of_the_domain() {
    let mut terraform = Api::new(1);
    let domain = [("domain_name", Value::from("a.example.com"))];
    let routes = [("GET /a", route("a", None))];
    terraform.assert_applies(&gateway(&routes, &[], &domain)).await;
    let logs = ("access_log_logservice_group_name", Value::from("a.example.com"));
    let config = gateway(&routes, &[], &[domain[0].clone(), logs]);
    let named = build_further(&mut terraform, &config).await;
    assert_eq!(named, [("log_group".to_string(), terraform.state.get("domain_name").as_str().unwrap().to_string())]);
    assert!(!terraform.apply(&adopting(&config, &named)).await.has_errors());
    terraform.refresh().await;
    terraform.assert_quiet(&config).await;
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 16, ..ProptestConfig::default() })]

    #[test]
    fn any_further_objects_are_adopted_as_they_are(
        config in some_network(),
        failing in any::<prop::sample::Index>(),
        loses in any::<bool>(),
    ) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build().unwrap();
        runtime.block_on(adopt_a_further_zone(&config, failing, loses));
    }

    #[test]
    fn any_log_group_and_domain_are_adopted_as_they_are(
        config in some_gateway(),
        failing in any::<prop::sample::Index>(),
        loses in any::<bool>(),
    ) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build().unwrap();
        runtime.block_on(adopt_logs_and_domain(&config, failing, loses));
    }
}

/// Builds a network without its last AZ, and adopts the objects of that one after a failure.
async fn adopt_a_further_zone(config: &Value, failing: prop::sample::Index, loses: bool) {
    let mut terraform = Network::new(3);
    let (mut fewer, mut config) = (config.clone(), config.clone());
    let zones = match config.get("num_availability_zones") {
        Value::Number(zones) => zones.as_i64().expect("a small number"),
        _ => 3,
    };
    for config in [&mut fewer, &mut config] {
        config.set("tier_availability_zone_ids", Value::Null);
        config.set("name_tags", Value::Null);
    }
    fewer.set("num_availability_zones", (zones - 1).max(1).into());
    let is_invalid = terraform.resource.validate(&terraform.config(&config)).has_errors();
    if is_invalid || terraform.plan(&config).await.diagnostics.has_errors() {
        return;
    }
    terraform.assert_applies(&fewer).await;
    adopt_after_a_failure(terraform, &config, failing, loses).await;
}

/// Builds an API without access logs and a domain, and adopts both after a failure.
async fn adopt_logs_and_domain(config: &Value, failing: prop::sample::Index, loses: bool) {
    let mut terraform = Api::new(1);
    if terraform.plan(config).await.diagnostics.has_errors() {
        return;
    }
    let mut fewer = config.clone();
    let inputs = config.as_map().expect("a configuration is a map").keys();
    let is_of_them = |name: &&String| {
        ["access_log_", "domain_", "certificate_", "create_dns", "hosted_zone"].iter().any(|it| name.starts_with(it))
    };
    for name in inputs.filter(is_of_them) {
        fewer.set(name, Value::Null);
    }
    terraform.assert_applies(&fewer).await;
    adopt_after_a_failure(terraform, config, failing, loses).await;
}

/// Lets something else build what a configuration requires further, and adopts it after a failure at one object.
async fn adopt_after_a_failure<P: Topology>(
    mut terraform: Terraform<P>,
    config: &Value,
    failing: prop::sample::Index,
    loses: bool,
) {
    let named = build_further(&mut terraform, config).await;
    if named.is_empty() {
        return;
    }
    let adopting = adopting(config, &named);
    let failing = named[failing.index(named.len())].0.clone();
    terraform.account.failing.lock().unwrap().push(failing);
    assert!(terraform.apply(&adopting).await.has_errors());
    terraform.account.failing.lock().unwrap().clear();
    if loses {
        terraform.private = Vec::new();
    }
    terraform.refresh().await;
    assert!(!terraform.apply(&adopting).await.has_errors());
    let calls = terraform.account.take_calls();
    assert!(!calls.iter().any(|call| call.starts_with("create ") || call.starts_with("delete ")), "{calls:?}");
    for (slot, id) in &named {
        assert!(!calls.contains(&format!("update {slot}")), "{calls:?}");
        assert_eq!(terraform.state.get("aws_objects").get(slot).as_str(), Some(id.as_str()), "{slot}");
    }
    terraform.refresh().await;
    terraform.assert_quiet(config).await;
    assert_eq!(terraform.destroy().await, Diagnostics::default());
    assert_eq!(terraform.account.slots(), [""; 0]);
}
