//! Operations that fail, stop, panic or are deferred.

use super::*;

#[tokio::test(start_paused = true)]
async fn a_replacement_deletes_the_whole_old_network() {
    let mut terraform = Terraform::<FourTierVpc>::new(2);
    let config = network(&[]);
    terraform.assert_applies(&config).await;
    let objects = terraform.account.slots().len();
    terraform.assert_applies(&network(&[("cidr_block", "10.9.0.0/16".into())])).await;
    assert_eq!(terraform.account.slots().len(), objects, "the old network is deleted");
    // A tainted network: neither prior nor private state for the create, and the old state for the destroy.
    assert_eq!(terraform.replace(&config, Vec::new()).await, Diagnostics::default());
    assert_eq!(terraform.account.slots().len(), objects);
    terraform.assert_quiet(&config).await;
}

#[tokio::test(start_paused = true)]
async fn a_failed_create_keeps_all_created_objects_in_state() {
    let mut terraform = Terraform::<FourTierVpc>::new(2);
    terraform.account.failing.lock().unwrap().push("nat_gateway.0".into());
    let diagnostics = terraform.apply(&network(&[])).await;
    let first = &diagnostics.0[0];
    assert_eq!(first.summary, "Could not create NAT gateway \"nat_gateway.0\"");
    assert!(first.detail.contains("SimulatedFailure") && first.detail.contains("request-1"), "{}", first.detail);
    assert!(diagnostics.0.iter().any(|it| it.detail.contains("terraform untaint")), "{diagnostics:?}");
    let named: Vec<&String> = terraform.state.get("aws_objects").as_map().unwrap().keys().collect();
    assert_eq!(named, terraform.account.slots().iter().collect::<Vec<_>>());
    assert_eq!(*terraform.account.root_state.lock().unwrap(), Some(RootState::Incomplete));

    terraform.account.failing.lock().unwrap().clear();
    terraform.account.take_calls();
    terraform.assert_applies(&network(&[])).await;
    assert_eq!(terraform.account.take_calls()[0], "create nat_gateway.0");
    assert_eq!(*terraform.account.root_state.lock().unwrap(), Some(RootState::Ready));
}

#[tokio::test(start_paused = true)]
async fn a_create_without_any_object_leaves_no_state() {
    let mut terraform = Terraform::<FourTierVpc>::new(2);
    terraform.account.failing.lock().unwrap().push("vpc".into());
    let diagnostics = terraform.apply(&network(&[])).await;
    assert!(diagnostics.has_errors());
    assert_eq!(terraform.state, Value::Null);
}

#[tokio::test(start_paused = true)]
async fn an_object_that_fails_after_it_is_usable_starts_nothing_more() {
    let mut terraform = Terraform::<FourTierVpc>::new(2);
    terraform.account.failing_late.lock().unwrap().push("vpc".into());
    let diagnostics = terraform.apply(&network(&[])).await;
    assert_eq!(diagnostics.0[0].summary, "Could not create VPC \"vpc\"");
    let created = terraform.account.slots();
    assert!(created.len() > 1, "an object in the VPC was created: {created:?}");
    assert!(!created.contains(&"nat_gateway.0".to_string()), "no later operation was started: {created:?}");
    let named: Vec<&String> = terraform.state.get("aws_objects").as_map().unwrap().keys().collect();
    assert_eq!(named, created.iter().collect::<Vec<_>>());

    terraform.account.failing_late.lock().unwrap().clear();
    terraform.assert_applies(&network(&[])).await;
    assert_eq!(*terraform.account.root_state.lock().unwrap(), Some(RootState::Ready));
}

#[tokio::test(start_paused = true)]
async fn before_the_vpc_is_usable_only_what_needs_its_id_is_created() {
    let mut terraform = Terraform::<FourTierVpc>::new(2);
    terraform.account.never_usable.lock().unwrap().push("vpc".into());
    let diagnostics = terraform.apply(&network(&[])).await;
    assert_eq!(diagnostics.0[0].summary, "Could not create VPC \"vpc\"");
    assert_eq!(terraform.account.slots(), ["eip.0", "internet_gateway", "vpc"]);
    let named: Vec<&String> = terraform.state.get("aws_objects").as_map().unwrap().keys().collect();
    assert_eq!(named, ["eip.0", "internet_gateway", "vpc"]);

    terraform.account.never_usable.lock().unwrap().clear();
    terraform.assert_applies(&network(&[])).await;
}

#[tokio::test(start_paused = true)]
async fn a_failed_update_continues_without_a_refresh() {
    let mut terraform = Terraform::<FourTierVpc>::new(2);
    terraform.assert_applies(&network(&[])).await;
    let tagged = network(&[("public_subnet_custom_tags", Value::map([("team", Value::from("net"))]))]);
    terraform.account.failing.lock().unwrap().push("subnet.public.1".into());
    assert!(terraform.apply(&tagged).await.has_errors());
    assert_eq!(terraform.state.get("drift").get("subnet.public.1"), &"not yet applied: updating subnet".into());
    terraform.account.failing.lock().unwrap().clear();
    terraform.account.take_calls();
    let plan = terraform.plan(&tagged).await;
    assert_ne!(plan.planned, terraform.state, "a plan without refresh shows the rest");
    terraform.assert_applies(&tagged).await;
    assert_eq!(terraform.account.take_calls(), ["update subnet.public.1"]);
}

#[tokio::test(start_paused = true)]
async fn an_object_whose_replacement_failed_keeps_its_slot() {
    let mut terraform = Terraform::<FourTierVpc>::new(2);
    let before = network(&[]);
    terraform.assert_applies(&before).await;
    let subnets = terraform.state.get("private_app_subnets").clone();
    terraform.account.failing.lock().unwrap().push("subnet.private_app.1".into());
    assert!(terraform.apply(&network(&[("private_subnet_bits", 6.into())])).await.has_errors());
    assert!(terraform.state.get("aws_objects").as_map().unwrap().contains_key("subnet.private_app.1"));
    assert!(!terraform.state.get("pending_deletion").as_map().unwrap().contains_key("subnet.private_app.1"));
    terraform.account.failing.lock().unwrap().clear();
    terraform.assert_applies(&before).await;
    let name = "main-private-app-1";
    assert_eq!(terraform.state.get("private_app_subnets").get(name).get("id"), subnets.get(name).get("id"));
}

#[tokio::test(start_paused = true)]
async fn tags_before_and_after_a_failed_update_are_managed() {
    let mut terraform = Terraform::<FourTierVpc>::new(1);
    let tagged = |tag: &str| network(&[("custom_tags", Value::map([(tag, Value::from("x"))]))]);
    terraform.assert_applies(&tagged("before")).await;
    terraform.account.failing.lock().unwrap().push("subnet.public.0".into());
    assert!(terraform.apply(&tagged("after")).await.has_errors());
    let inventory = inventory(&terraform.private);
    let entry = inventory.at("subnet.public.0").unwrap();
    let keys: Vec<&String> = entry.applied.tags().unwrap().known().unwrap().keys().collect();
    assert_eq!(keys, ["Name", "after", "before"], "both are managed until the update is complete");
}

#[tokio::test(start_paused = true)]
async fn propagating_gateways_of_a_failed_update_stay_managed() {
    let mut terraform = Terraform::<FourTierVpc>::new(1);
    let propagating = |gateway: &str| network(&[("private_propagating_vgws", vec![gateway].into())]);
    terraform.assert_applies(&propagating("vgw-before")).await;
    terraform.account.failing.lock().unwrap().push("route_table.private_app.0".into());
    assert!(terraform.apply(&propagating("vgw-after")).await.has_errors());
    let inventory = inventory(&terraform.private);
    let entry = inventory.at("route_table.private_app.0").unwrap();
    let Spec::RouteTable(table) = &entry.applied else { panic!("{entry:?}") };
    let known = |id: &str| Input::Known(id.to_string());
    assert_eq!(table.propagating_gateways, Input::Known(vec![known("vgw-after"), known("vgw-before")]));
    terraform.account.failing.lock().unwrap().clear();
    terraform.assert_applies(&network(&[])).await;
    let inventory = self::inventory(&terraform.private);
    let Spec::RouteTable(table) = &inventory.at("route_table.private_app.0").unwrap().applied else { panic!() };
    assert_eq!(table.propagating_gateways, Input::Known(vec![]));
}

#[tokio::test(start_paused = true)]
async fn an_operation_without_an_attribute_change_shows_in_the_plan() {
    let mut terraform = Terraform::<FourTierVpc>::new(2);
    let config = network(&[]);
    terraform.assert_applies(&config).await;
    let mut private = crate::composite::private_state::Private::decode(&terraform.private).unwrap();
    private.inventory.entries.iter_mut().find(|entry| entry.key.slot == "subnet.public.1").unwrap().mark_unfinished();
    terraform.private = private.encode();
    let plan = terraform.plan(&config).await;
    assert_eq!(*plan.planned.get("drift"), Value::Unknown, "Terraform would not apply a plan without changes");
    terraform.account.take_calls();
    terraform.assert_applies(&config).await;
    assert_eq!(terraform.account.take_calls(), ["update subnet.public.1"]);
}

#[tokio::test(start_paused = true)]
async fn a_failed_move_of_subnets_is_completed_by_the_next_apply() {
    let mut terraform = Terraform::<FourTierVpc>::new(2);
    terraform.assert_applies(&network(&[])).await;
    let smaller = network(&[("transit_subnet_bits", 6.into()), ("private_subnet_bits", 6.into())]);
    terraform.account.failing.lock().unwrap().push("subnet.private_app.1".into());
    assert!(terraform.apply(&smaller).await.has_errors());
    terraform.account.failing.lock().unwrap().clear();
    terraform.assert_applies(&smaller).await;
    let subnets = terraform.state.get("private_app_subnets");
    let block = |name: &str| subnets.get(name).get("cidr_block").as_str().unwrap().to_string();
    assert!(block("main-private-app-0").ends_with("/22") && block("main-private-app-1").ends_with("/22"), "{subnets}");
}

#[tokio::test(start_paused = true)]
async fn a_failed_destroy_keeps_the_remaining_objects_in_state() {
    let mut terraform = Terraform::<FourTierVpc>::new(2);
    terraform.assert_applies(&network(&[])).await;
    terraform.account.in_use.lock().unwrap().push("subnet.private_app.1".into());
    // The destroy cannot know that.
    *terraform.account.dependents_failure.lock().unwrap() = Some(Cause::Denied);
    let diagnostics = terraform.destroy().await;
    assert!(diagnostics.0.iter().any(|it| it.summary == "Could not delete subnet \"subnet.private_app.1\""));
    let named: Vec<&String> = terraform.state.get("aws_objects").as_map().unwrap().keys().collect();
    assert_eq!(named, terraform.account.slots().iter().collect::<Vec<_>>());
    terraform.account.in_use.lock().unwrap().clear();
    terraform.refresh().await;
    assert_eq!(terraform.destroy().await, Diagnostics::default());
    assert_eq!(terraform.account.slots(), Vec::<String>::new());
}

#[tokio::test(start_paused = true)]
async fn a_root_tagged_as_creating_is_tagged_by_the_next_apply() {
    let mut terraform = Terraform::<FourTierVpc>::new(2);
    let config = network(&[]);
    terraform.assert_applies(&config).await;
    *terraform.account.root_state.lock().unwrap() = Some(RootState::Creating);
    terraform.refresh().await;
    let note = terraform.state.get("drift").get("vpc").as_str().unwrap().to_string();
    assert!(note.ends_with("tag fgw:state is creating"), "{note}");
    terraform.account.take_calls();
    terraform.assert_applies(&config).await;
    assert_eq!(*terraform.account.root_state.lock().unwrap(), Some(RootState::Ready));
    assert_eq!(terraform.account.take_calls(), Vec::<String>::new());
}

#[tokio::test(start_paused = true)]
async fn a_subnet_in_use_is_deleted_by_the_next_apply() {
    let mut terraform = Terraform::<FourTierVpc>::new(2);
    let all = network(&[]);
    let without = network(&[("create_private_persistence_subnets", false.into())]);
    terraform.assert_applies(&all).await;
    terraform.account.in_use.lock().unwrap().push("subnet.private_persistence.1".into());
    let diagnostics = terraform.apply(&without).await;
    assert!(!diagnostics.has_errors(), "{diagnostics:?}");
    let pending: Vec<&String> = terraform.state.get("pending_deletion").as_map().unwrap().keys().collect();
    assert!(pending.contains(&&"subnet.private_persistence.1".to_string()), "{pending:?}");
    terraform.assert_quiet(&without).await;
    terraform.account.in_use.lock().unwrap().clear();
    terraform.refresh().await;
    terraform.assert_applies(&without).await;
    assert_eq!(*terraform.state.get("pending_deletion"), Value::map::<&str>([]));
    assert!(!terraform.account.slots().iter().any(|slot| slot.contains("persistence")));
}

#[tokio::test(start_paused = true)]
async fn pending_deletion_is_canceled_when_the_tier_is_required() {
    let mut terraform = Terraform::<FourTierVpc>::new(2);
    let all = network(&[]);
    let without = network(&[("create_private_persistence_subnets", false.into())]);
    terraform.assert_applies(&all).await;
    let before = terraform.state.clone();
    let in_use = ["subnet.private_persistence.0", "subnet.private_persistence.1"].map(String::from);
    terraform.account.in_use.lock().unwrap().extend(in_use);
    let diagnostics = terraform.apply(&without).await;
    assert!(!diagnostics.has_errors(), "{diagnostics:?}");
    assert_ne!(*terraform.state.get("pending_deletion"), Value::map::<&str>([]));
    terraform.refresh().await;
    terraform.account.take_calls();
    terraform.assert_applies(&all).await;
    for name in ["private_persistence_subnets", "aws_objects", "pending_deletion"] {
        assert_eq!(terraform.state.get(name), before.get(name), "{name}");
    }
    let calls = terraform.account.take_calls();
    assert!(calls.iter().all(|call| call.starts_with("update ")), "{calls:?}");
}

#[tokio::test(start_paused = true)]
async fn a_create_stops_if_a_killed_create_left_a_root() {
    let mut terraform = Terraform::<FourTierVpc>::new(2);
    let (state, features) = (Some(RootState::Creating), Default::default());
    let left = Namesake { id: "vpc-dead".into(), created: None, state, features };
    terraform.account.namesakes.lock().unwrap().push(left);
    let diagnostics = terraform.apply(&network(&[])).await;
    assert!(diagnostics.0[0].detail.contains("terraform import ADDRESS vpc-dead"), "{diagnostics:?}");
    assert_eq!(terraform.account.take_calls(), Vec::<String>::new());
}

#[tokio::test(start_paused = true)]
async fn a_panic_in_an_operation_does_not_cancel_the_others() {
    let mut terraform = Terraform::<FourTierVpc>::new(2);
    let config = network(&[]);
    // While a subnet is created, another one is always in flight.
    for slot in ["subnet.public.0", "nat_gateway.0", "vpc"] {
        terraform.account.panicking.lock().unwrap().push(slot.into());
        let diagnostics = terraform.apply(&config).await;
        let first = &diagnostics.0[0];
        assert!(
            first.summary.starts_with("Could not create ") && first.summary.ends_with(&format!("\"{slot}\"")),
            "{first:?}"
        );
        assert!(first.detail.contains(&format!("simulated panic at {slot}")), "{}", first.detail);
        assert!(first.detail.contains("bug in the provider. Report it"), "{}", first.detail);
        let named = match slot {
            "vpc" => Vec::new(),
            _ => terraform.state.get("aws_objects").as_map().unwrap().keys().cloned().collect(),
        };
        assert_eq!(named, terraform.account.slots());
        assert_eq!(named.contains(&"subnet.public.1".to_string()), slot != "vpc", "{named:?}");
        terraform.account.panicking.lock().unwrap().clear();
        terraform.assert_applies(&config).await;
        assert_eq!(terraform.destroy().await, Diagnostics::default());
    }
}

#[tokio::test(start_paused = true)]
async fn a_create_without_a_client_keeps_the_creating_tag() {
    for failing in [None, Some("nat_gateway.0")] {
        let mut terraform = Terraform::<FourTierVpc>::new(2);
        terraform.account.failing.lock().unwrap().extend(failing.map(str::to_string));
        terraform.client_gone.cancel();
        terraform.apply(&network(&[])).await;
        assert!(!terraform.account.slots().is_empty());
        assert_eq!(*terraform.account.root_state.lock().unwrap(), Some(RootState::Creating), "{failing:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_panic_after_all_operations_keeps_the_state() {
    let terraform = Terraform::<FourTierVpc>::new(2);
    terraform.account.panicking.lock().unwrap().push("the end".into());
    let attributes = network(&[]);
    let plan = terraform.plan(&attributes).await;
    let partial_state = PartialState::default();
    let request = ApplyRequest {
        prior: Value::Null,
        planned: plan.planned,
        config: terraform.config(&attributes),
        planned_private: plan.private,
        stop: terraform.stop.clone(),
        client_gone: Default::default(),
        partial_state: partial_state.clone(),
    };
    let account = Arc::clone(&terraform.account);
    let resource = Arc::new(terraform.resource);
    let outcome = tokio::spawn(async move { resource.apply(request).await }).await;
    assert!(outcome.is_err_and(|error| error.is_panic()));
    let (state, private) = partial_state.get().expect("the apply set a snapshot");
    let named: Vec<&String> = state.get("aws_objects").as_map().unwrap().keys().collect();
    assert_eq!(named, account.slots().iter().collect::<Vec<_>>());
    assert_eq!(inventory(&private).entries.len(), named.len());
}

#[tokio::test(start_paused = true)]
async fn a_stop_prevents_new_operations() {
    let mut terraform = Terraform::<FourTierVpc>::new(2);
    terraform.stop.cancel();
    let diagnostics = terraform.apply(&network(&[])).await;
    assert!(diagnostics.has_errors());
    assert_eq!(terraform.account.take_calls(), Vec::<String>::new());
    assert_eq!(terraform.state, Value::Null);
}

#[tokio::test(start_paused = true)]
async fn a_stopped_destroy_removes_cascaded_deletions_from_state() {
    let mut terraform = Terraform::<FourTierVpc>::new(2);
    terraform.assert_applies(&network(&[])).await;
    let (stop, account) = (terraform.stop.clone(), terraform.account.clone());
    let watch = tokio::spawn(async move {
        while !account.calls.lock().unwrap().iter().any(|call| call.starts_with("delete route_table.")) {
            tokio::task::yield_now().await;
        }
        stop.cancel();
    });
    assert!(terraform.destroy().await.has_errors());
    watch.await.unwrap();
    let known: Vec<String> = terraform.state.get("aws_objects").as_map().unwrap().keys().cloned().collect();
    assert_eq!(known, terraform.account.slots());
}

#[tokio::test(start_paused = true)]
async fn objects_of_a_killed_update_are_taken_over_without_private_state() {
    let mut terraform = Terraform::<FourTierVpc>::new(2);
    terraform.assert_applies(&network(&[("num_nat_gateways", 2.into())])).await;
    let before = terraform.state.clone();
    let changed = network(&[("num_nat_gateways", 1.into()), ("create_transit_subnets", true.into())]);
    terraform.assert_applies(&changed).await;
    let after = terraform.state.get("aws_objects").as_map().unwrap().clone();

    terraform.state = before.clone();
    terraform.private = Vec::new();
    terraform.refresh().await;
    let drift = terraform.state.get("drift").as_map().unwrap().clone();
    let objects = before.get("aws_objects").as_map().unwrap();
    let unmanaged = terraform.state.get("unmanaged_objects").as_map().unwrap().clone();
    // Routes and associations have no line of their own.
    let new = after.iter().filter(|(slot, _)| !objects.contains_key(*slot) && !slot.starts_with("route"));
    for (slot, id) in new {
        let reason = unmanaged[id.as_str().unwrap()].as_str().unwrap();
        assert!(reason.starts_with(&format!("{slot}, not in state")), "{slot}: {reason}");
    }
    for slot in objects.keys().filter(|slot| !after.contains_key(*slot)) {
        assert!(drift[slot].as_str().unwrap().ends_with("is missing"), "{slot}: {drift:?}");
    }
    assert!(drift.contains_key("nat_gateway.1"), "{drift:?}");
    terraform.account.take_calls();
    terraform.apply(&changed).await;
    let calls = terraform.account.take_calls();
    assert!(!calls.iter().any(|call| call.starts_with("create")), "{calls:?}");
    terraform.refresh().await;
    assert_eq!(*terraform.state.get("unmanaged_objects"), Value::map::<&str>([]));
    terraform.assert_quiet(&changed).await;
}

#[tokio::test(start_paused = true)]
async fn an_ipv6_range_without_subnets_is_found_by_its_id() {
    let mut terraform = Terraform::<FourTierVpc>::new(2);
    let with_range = [("enable_ipv6", true.into()), ("assign_generated_ipv6_cidr_block", true.into())];
    terraform.assert_applies(&network(&with_range)).await;
    let before = terraform.state.clone();
    terraform.account.failing.lock().unwrap().push("ipv6_cidr_block".into());
    assert!(terraform.apply(&network(&[])).await.has_errors());
    terraform.account.failing.lock().unwrap().clear();

    // Terraform keeps the state from before the update, and discards the private state.
    terraform.state = before;
    terraform.private = Vec::new();
    terraform.refresh().await;
    assert!(terraform.state.get("aws_objects").as_map().unwrap().contains_key("ipv6_cidr_block"));
    terraform.assert_applies(&network(&[])).await;
    assert!(!terraform.account.slots().contains(&"ipv6_cidr_block".to_string()));
}

#[tokio::test(start_paused = true)]
async fn a_read_ends_at_its_timeout() {
    let mut terraform = Terraform::<FourTierVpc>::new(1);
    let mut timeouts = Value::map([("read", Value::from("20m"))]);
    for name in ["create", "update", "delete"] {
        timeouts.set(name, Value::Null);
    }
    terraform.assert_applies(&network(&[("timeouts", timeouts)])).await;
    terraform.account.hanging.store(true, std::sync::atomic::Ordering::Relaxed);
    let (state, private) = (terraform.state.clone(), terraform.private.clone());
    let start = tokio::time::Instant::now();
    let read = terraform.resource.read(ReadRequest { state: state.clone(), private }).await;
    assert_eq!(start.elapsed().as_secs(), 20 * 60);
    assert!(read.diagnostics.0[0].detail.contains("timeouts.read"), "{:?}", read.diagnostics);
    assert!(read.state == state, "the state is unchanged");
}

#[tokio::test(start_paused = true)]
async fn operations_of_a_failed_second_stage_are_reported_as_drift() {
    let mut terraform = Terraform::<FourTierVpc>::new(2);
    terraform.assert_applies(&network(&[])).await;
    // Only after the pool has allocated a /56 is it known that the subnets would be /62, which is not a valid size.
    let config = network(&[
        ("enable_ipv6", true.into()),
        ("ipv6_ipam_pool_id", "ipam-pool-1".into()),
        ("ipv6_subnet_bits", 6.into()),
        ("create_vpc_endpoints", false.into()),
    ]);
    let diagnostics = terraform.apply(&config).await;
    assert!(diagnostics.has_errors());
    assert_eq!(*terraform.state.get("pending_deletion"), Value::map::<&str>([]), "no deletion was attempted");
    let drift = terraform.state.get("drift").as_map().unwrap().clone();
    for slot in ["vpc_endpoint.objectstore", "subnet.public.0"] {
        assert!(drift.contains_key(slot), "{slot} is not in {drift:?}");
    }
    terraform.refresh().await;
    terraform.assert_applies(&network(&[])).await;
    assert!(!terraform.account.slots().contains(&"ipv6_cidr_block".to_string()));
}

#[tokio::test(start_paused = true)]
async fn a_tainted_gateway_is_replaced_with_its_unreachable_objects() {
    let pairs = [
        ("access_log_logservice_group_name", Value::from("front-logs")),
        ("access_log_logservice_group_subscription_destination_arn", function("sink").into()),
    ];
    let config = gateway(&[("GET /a", route("a", None))], &[], &pairs);
    for slot in ["stage", "integration.", "log_subscription"] {
        let mut terraform = Terraform::<HttpGateway>::new(0);
        terraform.assert_applies(&config).await;
        let all = terraform.account.slots();
        assert!(!terraform.destroy().await.has_errors());
        let failing = all.iter().filter(|it| it.starts_with(slot)).cloned();
        terraform.account.failing.lock().unwrap().extend(failing);
        assert!(terraform.apply(&config).await.has_errors());
        assert!(terraform.account.slots().contains(&"log_group".to_string()), "{slot}");
        terraform.account.failing.lock().unwrap().clear();

        terraform.refresh().await;
        let private = terraform.private.clone();
        assert_eq!(terraform.replace(&config, private).await, Diagnostics::default(), "{slot}");
        assert_eq!(terraform.account.slots(), all);
        terraform.assert_quiet(&config).await;
        assert!(!terraform.destroy().await.has_errors());
        assert_eq!(terraform.account.slots(), Vec::<String>::new());
    }
}

#[tokio::test(start_paused = true)]
async fn lost_private_state_of_an_incomplete_gateway_is_rebuilt() {
    let config = gateway(&[("GET /a", route("a", None))], &[], &[("access_log_logservice_group_name", "logs".into())]);
    let mut terraform = Terraform::<HttpGateway>::new(0);
    terraform.account.failing.lock().unwrap().push("stage".into());
    assert!(terraform.apply(&config).await.has_errors());
    terraform.account.failing.lock().unwrap().clear();
    let objects = terraform.state.get("aws_objects").clone();
    terraform.private = Vec::new();
    terraform.refresh().await;
    assert_eq!(*terraform.state.get("aws_objects"), objects);
    terraform.account.take_calls();
    terraform.assert_applies(&config).await;
    assert_eq!(terraform.account.take_calls(), ["create stage"]);
}

#[tokio::test(start_paused = true)]
async fn a_create_with_an_unknown_outcome_is_resolved() {
    let mut terraform = Terraform::<FourTierVpc>::new(2);
    let lost = ["route_table.private_app.0", "route_table_association.private_app.1", "nat_gateway.0"];
    terraform.account.losing_answers.lock().unwrap().extend(lost.map(String::from));
    assert!(terraform.apply(&network(&[])).await.has_errors());
    let named: Vec<&String> = terraform.state.get("aws_objects").as_map().unwrap().keys().collect();
    assert_eq!(named, terraform.account.slots().iter().collect::<Vec<_>>());
    for slot in lost {
        assert!(terraform.state.get("aws_objects").get(slot).as_str().is_some(), "{slot}");
    }
    terraform.account.losing_answers.lock().unwrap().clear();
    terraform.account.take_calls();
    terraform.assert_applies(&network(&[])).await;
    let again = terraform.account.take_calls();
    assert!(!lost.iter().any(|slot| again.contains(&format!("create {slot}"))), "{again:?}");
}

#[tokio::test(start_paused = true)]
async fn a_delete_with_an_unknown_outcome_is_resolved() {
    let mut terraform = Terraform::<FourTierVpc>::new(2);
    terraform.assert_applies(&network(&[])).await;
    // The association is deleted with the subnet.
    terraform.account.losing_answers.lock().unwrap().push("subnet.private_app.1".into());
    let fewer = network(&[("num_availability_zones", 1.into())]);
    assert!(terraform.apply(&fewer).await.has_errors());
    let named: Vec<&String> = terraform.state.get("aws_objects").as_map().unwrap().keys().collect();
    assert_eq!(named, terraform.account.slots().iter().collect::<Vec<_>>());
    assert_eq!(*terraform.state.get("drift").get("subnet.private_app.1"), Value::Null, "the deletion is complete");
    terraform.account.losing_answers.lock().unwrap().clear();
    terraform.assert_applies(&fewer).await;

    terraform.account.losing_answers.lock().unwrap().extend(["route_table.public", "vpc"].map(String::from));
    assert!(terraform.destroy().await.has_errors());
    let named: Vec<&String> = terraform.state.get("aws_objects").as_map().unwrap().keys().collect();
    assert_eq!(named, terraform.account.slots().iter().collect::<Vec<_>>());
    assert!(!terraform.destroy().await.has_errors(), "the outcome of the last call is resolved");
    assert_eq!((&terraform.state, terraform.account.slots().len()), (&Value::Null, 0));
}
