//! Objects that unmanaged ones use while an update or a destroy deletes them.

use proptest::prelude::*;

use super::every_kind::links;
use super::properties::some_network;
use super::*;

impl<P: Topology> Terraform<P> {
    fn set_in_use(&self, slots: &[&str]) {
        *self.account.in_use.lock().unwrap() = slots.iter().map(|slot| slot.to_string()).collect();
    }

    /// What waited for an object in use, and waits for it no more after the apply, is deleted by another one.
    async fn assert_settles(&mut self, config: &Value) {
        for _ in 0..3 {
            self.refresh().await;
            let plan = self.plan(config).await;
            if plan.planned == self.state {
                return;
            }
            let diagnostics = self.apply_plan(config, plan).await;
            let errors = diagnostics.0.iter().filter(|it| it.severity == Severity::Error);
            let errors: Vec<&Diagnostic> = errors.collect();
            assert!(errors.iter().all(|error| is_allowed(error, &[])), "{errors:#?}");
            if !errors.is_empty() {
                return;
            }
        }
        self.assert_quiet(config).await;
    }

    fn pending(&self) -> Vec<String> {
        self.state.get("pending_deletion").as_map().expect("a map").keys().cloned().collect()
    }
}

fn linked(subnet: &str) -> Value {
    gateway(&[("GET /a", route("a", None))], &[], &[("vpc_links", links(subnet))])
}

fn with_text<'a>(diagnostics: &'a Diagnostics, part: &str) -> &'a Diagnostic {
    let found = diagnostics.0.iter().find(|it| it.summary.contains(part));
    found.unwrap_or_else(|| panic!("no {part:?} in {diagnostics:?}"))
}

#[tokio::test(start_paused = true)]
async fn a_link_in_use_is_deleted_once_its_users_have_left() {
    let mut terraform = Terraform::<HttpGateway>::new(1);
    terraform.assert_applies(&linked("subnet-1")).await;
    let old = terraform.state.get("vpc_link_ids").get("main").clone();
    terraform.set_in_use(&["vpc_link.main"]);
    let diagnostics = terraform.apply(&linked("subnet-2")).await;
    let warning = with_text(&diagnostics, "vpc_link.main is still in use");
    for text in ["route r-vpc_link.main \"GET /theirs\" (of API api9 \"theirs\")", "the attribute pending_deletion"] {
        assert!(warning.detail.contains(text), "{text}: {}", warning.detail);
    }
    // Those who use the ID follow in this run.
    assert_ne!(*terraform.state.get("vpc_link_ids").get("main"), old);
    assert_eq!(*terraform.state.get("pending_deletion").get("vpc_link.main"), old);
    terraform.assert_quiet(&linked("subnet-2")).await;

    // A change of something else does not try again.
    terraform.account.take_calls();
    let mut renamed = linked("subnet-2");
    renamed.set("description", "shop".into());
    terraform.assert_applies(&renamed).await;
    assert_eq!(terraform.account.take_calls(), ["update api"]);
    assert_eq!(terraform.pending(), ["vpc_link.main"]);

    terraform.set_in_use(&[]);
    terraform.refresh().await;
    terraform.assert_applies(&renamed).await;
    assert_eq!(terraform.account.take_calls().len(), 1, "the old link is deleted");
    assert_eq!(terraform.account.ids_of("vpc_link.").len(), 1);
}

#[tokio::test(start_paused = true)]
async fn a_deletion_that_fails_later_is_pending_and_never_taken_back() {
    let mut terraform = Terraform::<HttpGateway>::new(1);
    terraform.assert_applies(&linked("subnet-1")).await;
    let old = terraform.state.get("vpc_link_ids").get("main").clone();
    terraform.set_in_use(&["vpc_link.main"]);
    terraform.account.fails_deletion.lock().unwrap().insert("vpc_link.main".into());
    let diagnostics = terraform.apply(&linked("subnet-2")).await;
    assert!(!diagnostics.has_errors(), "{diagnostics:?}");
    terraform.refresh().await;
    assert_eq!(terraform.pending(), ["vpc_link.main"]);
    terraform.set_in_use(&[]);
    terraform.refresh().await;
    terraform.assert_applies(&linked("subnet-1")).await;
    assert_ne!(*terraform.state.get("vpc_link_ids").get("main"), old, "the failed link serves nothing");
    assert_eq!((terraform.pending(), terraform.account.ids_of("vpc_link.").len()), (vec![], 1));
}

#[tokio::test(start_paused = true)]
async fn a_refusal_beside_another_failure_is_pending_too() {
    let mut terraform = Terraform::<HttpGateway>::new(1);
    terraform.assert_applies(&linked("subnet-1")).await;
    let mut both = gateway(&[("GET /a", route("b", None))], &[], &[("vpc_links", links("subnet-2"))]);
    both.set("description", "shop".into());
    terraform.set_in_use(&["vpc_link.main"]);
    *terraform.account.failing.lock().unwrap() = vec!["api".into()];
    assert!(terraform.apply(&both).await.has_errors());
    terraform.account.failing.lock().unwrap().clear();
    terraform.refresh().await;
    let diagnostics = terraform.apply(&both).await;
    assert!(!diagnostics.has_errors(), "{diagnostics:?}");
    assert_eq!(terraform.pending(), ["vpc_link.main"]);
    terraform.assert_quiet(&both).await;
}

#[tokio::test(start_paused = true)]
async fn the_place_of_a_pending_object_cannot_be_taken_yet() {
    let mut terraform = Terraform::<FourTierVpc>::new(2);
    let block = |block: &str| network(&[("private_app_subnet_cidr_blocks", Value::map([("AZ-0", block.into())]))]);
    terraform.assert_applies(&network(&[])).await;
    let old = terraform.state.get("aws_objects").get("subnet.private_app.0").clone();
    terraform.set_in_use(&["subnet.private_app.0"]);
    assert!(!terraform.apply(&block("10.0.240.0/24")).await.has_errors());
    terraform.refresh().await;
    let plan = terraform.plan(&block("10.0.82.0/24")).await;
    let error = with_text(&plan.diagnostics, "cannot be created yet");
    assert!(error.detail.contains("network interface eni-subnet.private_app.0"), "{}", error.detail);
    // The old block takes the old subnet back.
    assert!(!terraform.apply(&block("10.0.80.0/21")).await.has_errors());
    assert_eq!(*terraform.state.get("aws_objects").get("subnet.private_app.0"), old);
    terraform.set_in_use(&[]);
    terraform.refresh().await;
    terraform.assert_applies(&block("10.0.80.0/21")).await;
    assert_eq!(terraform.pending(), Vec::<String>::new());
}

#[tokio::test(start_paused = true)]
async fn a_destroy_deletes_nothing_while_others_use_the_network() {
    let mut terraform = Terraform::<FourTierVpc>::new(2);
    terraform.assert_applies(&network(&[])).await;
    let before = terraform.account.slots();
    terraform.set_in_use(&["subnet.private_app.0"]);
    terraform.account.take_calls();
    let start = tokio::time::Instant::now();
    let diagnostics = terraform.destroy().await;
    let error = with_text(&diagnostics, ": in use");
    for text in ["Nothing was deleted", "network interface eni-subnet.private_app.0", "timeouts.delete"] {
        assert!(error.detail.contains(text), "{text}: {}", error.detail);
    }
    assert!(start.elapsed().as_secs() >= 60, "it waits for them: {:?}", start.elapsed());
    assert_eq!((terraform.account.slots(), terraform.account.take_calls()), (before, Vec::new()));
    terraform.assert_quiet(&network(&[])).await;
    terraform.set_in_use(&[]);
    terraform.end().await;
}

#[tokio::test(start_paused = true)]
async fn a_destroy_waits_for_users_that_go() {
    let mut terraform = Terraform::<FourTierVpc>::new(2);
    terraform.assert_applies(&network(&[])).await;
    terraform.set_in_use(&["subnet.private_app.0"]);
    let account = terraform.account.clone();
    let leave = async {
        tokio::time::sleep(std::time::Duration::from_secs(100)).await;
        account.in_use.lock().unwrap().clear();
    };
    let (diagnostics, ()) = tokio::join!(terraform.destroy(), leave);
    assert!(!diagnostics.has_errors(), "{diagnostics:?}");
    assert_eq!(terraform.account.slots(), Vec::<String>::new());
}

#[tokio::test(start_paused = true)]
async fn a_stop_ends_the_wait_of_a_destroy_with_nothing_deleted() {
    let mut terraform = Terraform::<FourTierVpc>::new(2);
    terraform.assert_applies(&network(&[])).await;
    let before = terraform.account.slots();
    terraform.set_in_use(&["subnet.private_app.0"]);
    let stop = terraform.stop.clone();
    let stopping = async {
        tokio::time::sleep(std::time::Duration::from_secs(5)).await;
        stop.cancel();
    };
    let (diagnostics, ()) = tokio::join!(terraform.destroy(), stopping);
    assert!(with_text(&diagnostics, ": in use").detail.contains("requested a stop"), "{diagnostics:?}");
    assert_eq!(terraform.account.slots(), before);
}

#[tokio::test(start_paused = true)]
async fn a_destroy_without_permission_to_look_deletes_what_it_can() {
    let mut terraform = Terraform::<FourTierVpc>::new(2);
    terraform.assert_applies(&network(&[])).await;
    terraform.set_in_use(&["subnet.private_app.0"]);
    *terraform.account.dependents_failure.lock().unwrap() = Some(Cause::Denied);
    let diagnostics = terraform.destroy().await;
    with_text(&diagnostics, "Could not delete subnet \"subnet.private_app.0");
    terraform.set_in_use(&[]);
    terraform.end().await;
}

#[tokio::test(start_paused = true)]
async fn a_gateway_whose_link_another_one_uses_is_not_destroyed() {
    let mut terraform = Terraform::<HttpGateway>::new(1);
    terraform.assert_applies(&linked("subnet-1")).await;
    let before = terraform.account.slots();
    terraform.set_in_use(&["vpc_link.main"]);
    let diagnostics = terraform.destroy().await;
    let error = with_text(&diagnostics, ": in use");
    assert!(error.detail.contains("route r-vpc_link.main \"GET /theirs\""), "{}", error.detail);
    assert_eq!(terraform.account.slots(), before);
    terraform.set_in_use(&[]);
    terraform.end().await;
}

/// A link is not in the API, so something may use it after the API was deleted outside Terraform.
#[tokio::test(start_paused = true)]
async fn a_gateway_without_its_api_waits_for_the_users_of_its_link() {
    for loses in [false, true] {
        let mut terraform = Terraform::<HttpGateway>::new(1);
        terraform.assert_applies(&linked("subnet-1")).await;
        terraform.set_in_use(&["vpc_link.main"]);
        terraform.account.delete_root_outside();
        let before = terraform.account.slots();
        if loses {
            terraform.private = Vec::new();
        }
        let diagnostics = terraform.destroy().await;
        let error = with_text(&diagnostics, ": in use");
        assert!(error.detail.contains("route r-vpc_link.main"), "{}", error.detail);
        assert_eq!(terraform.account.slots(), before, "loses its private state: {loses}");
        terraform.set_in_use(&[]);
        terraform.end().await;
    }
}

#[tokio::test(start_paused = true)]
async fn a_destroy_searches_all_apis_for_users_of_a_link() {
    let mut terraform = Terraform::<HttpGateway>::new(1);
    terraform.assert_applies(&linked("subnet-1")).await;
    let before = terraform.account.slots();
    terraform.set_in_use(&["vpc_link.main"]);
    *terraform.account.other_apis.lock().unwrap() = 24;
    let plan = terraform.resource.plan(terraform.destroy_request()).await;
    let warning = with_text(&plan.diagnostics, "to be destroyed contains");
    for text in ["These use objects of", "route r-vpc_link.main \"GET /theirs\""] {
        assert!(warning.detail.contains(text), "{text}: {}", warning.detail);
    }
    let diagnostics = terraform.destroy().await;
    let error = with_text(&diagnostics, ": in use");
    assert!(error.detail.contains("route r-vpc_link.main \"GET /theirs\""), "{}", error.detail);
    assert_eq!(terraform.account.slots(), before);

    // An update looks for them only after AWS has rejected the deletion, and names what it did not read.
    let diagnostics = terraform.apply(&linked("subnet-2")).await;
    let warning = with_text(&diagnostics, "vpc_link.main is still in use");
    assert!(warning.detail.contains("5 APIs were not read"), "{}", warning.detail);
    terraform.set_in_use(&[]);
    terraform.end().await;
}

#[tokio::test(start_paused = true)]
async fn a_destroy_without_a_list_of_users_deletes_nothing_or_warns() {
    use Cause::{Credentials, Denied, Lost, Other, Throttled};
    for cause in [Throttled, Lost, Credentials, Denied, Other] {
        let mut terraform = Terraform::<HttpGateway>::new(1);
        terraform.assert_applies(&linked("subnet-1")).await;
        let before = terraform.account.slots();
        *terraform.account.dependents_failure.lock().unwrap() = Some(cause);
        let plan = terraform.resource.plan(terraform.destroy_request()).await;
        let warning = with_text(&plan.diagnostics, "Could not list unmanaged objects");
        assert!(warning.detail.contains("objects that other APIs use"), "{}", warning.detail);
        let diagnostics = terraform.destroy().await;
        // What AWS rejects does not change with another call, and the plan has named it.
        if matches!(cause, Denied | Other) {
            assert_eq!((diagnostics.has_errors(), terraform.account.slots()), (false, vec![]), "{diagnostics:?}");
            continue;
        }
        let error = with_text(&diagnostics, "Could not destroy fgw_http_gateway");
        assert!(error.detail.contains("Nothing was deleted"), "{}", error.detail);
        assert_eq!(terraform.account.slots(), before, "{cause:?}");
        *terraform.account.dependents_failure.lock().unwrap() = None;
        terraform.end().await;
    }
}

#[tokio::test(start_paused = true)]
async fn a_destroy_lists_the_users_of_each_object_once() {
    let mut terraform = Terraform::<HttpGateway>::new(1);
    let mut config = linked("subnet-1");
    config.set("domain_name", "a.example.com".into());
    terraform.assert_applies(&config).await;
    assert!(terraform.account.looked_for.lock().unwrap().is_empty(), "a create lists no users");
    assert!(!terraform.destroy().await.has_errors());
    assert_eq!(*terraform.account.looked_for.lock().unwrap(), ["stage", "vpc_link.main"]);
}

#[tokio::test(start_paused = true)]
async fn a_stage_in_use_is_pending_with_its_mappings() {
    let mut terraform = Terraform::<HttpGateway>::new(1);
    let staged = |name: &str| gateway(&[("GET /a", route("a", None))], &[], &[("stage_name", name.into())]);
    terraform.assert_applies(&staged("prod")).await;
    terraform.set_in_use(&["stage"]);
    let diagnostics = terraform.apply(&staged("next")).await;
    let warning = with_text(&diagnostics, "stage is still in use");
    assert!(warning.detail.contains("API mapping m-stage \"theirs.example.com/\""), "{}", warning.detail);
    terraform.account.looked_for.lock().unwrap().clear();
    terraform.refresh().await;
    assert_eq!(*terraform.account.looked_for.lock().unwrap(), ["stage"]);
    assert_eq!(terraform.plan(&staged("next")).await.planned, terraform.state, "its user is known");
    terraform.set_in_use(&[]);
    terraform.end().await;
}

#[tokio::test(start_paused = true)]
async fn an_endpoint_stays_until_its_successor_is_accepted() {
    let mut terraform = Terraform::<FourTierVpc>::new(2);
    let endpoint = |service: &str| {
        let entry = Value::map([("subnet_tier", Value::from("private_app")), ("service", service.into())]);
        network(&[("interface_endpoints", Value::map([("x", entry)]))])
    };
    terraform.assert_applies(&endpoint("kms")).await;
    let old = terraform.state.get("aws_objects").get("interface_endpoint.x").clone();
    let accept = |is_accepted| ("com.amazonaws.us-east-1.sns".to_string(), is_accepted);
    terraform.account.accepted.lock().unwrap().extend([accept(false)]);
    let diagnostics = terraform.apply(&endpoint("sns")).await;
    assert!(!diagnostics.has_errors(), "{diagnostics:?}");
    assert!(with_text(&diagnostics, "is still in use").detail.contains("has not been accepted yet"), "{diagnostics:?}");
    assert_eq!(*terraform.state.get("pending_deletion").get("interface_endpoint.x"), old);
    // The read reports the new endpoint as a fault.
    let request = ReadRequest { state: terraform.state.clone(), private: terraform.private.clone() };
    let read = terraform.resource.read(request).await;
    (terraform.state, terraform.private) = (read.state, read.private);
    assert_eq!(terraform.plan(&endpoint("sns")).await.planned, terraform.state);
    terraform.account.accepted.lock().unwrap().extend([accept(true)]);
    terraform.refresh().await;
    terraform.assert_applies(&endpoint("sns")).await;
    assert_eq!(terraform.pending(), Vec::<String>::new());
}

/// The kinds whose failed deletions are errors, by their messages.
fn is_allowed(error: &Diagnostic, plan: &[String]) -> bool {
    let kinds = Spec::of_each_kind();
    let mut named =
        kinds.iter().filter(|spec| error.summary.starts_with(&format!("Could not delete {} ", spec.kind())));
    match named.next() {
        Some(spec) if spec.when_in_use() == crate::model::WhenInUse::Error => true,
        // Its successor needs its name or its place.
        Some(_) => plan.iter().any(|slot| error.summary.contains(&format!("\"{slot}"))),
        None => error.summary.contains(": incomplete"),
    }
}

/// Applies valid configurations one after the other, while some objects are in use. At the end, none is.
fn check_sequence<P: Topology>(configs: &[(Value, Vec<u16>)]) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build().unwrap();
    runtime.block_on(async {
        let mut terraform = Terraform::<P>::new(3);
        let mut last = None;
        for (config, used) in configs {
            let slots = terraform.account.slots();
            let of_number = |number: &u16| slots.get(usize::from(*number) % slots.len().max(1)).map(String::as_str);
            terraform.set_in_use(&used.iter().filter_map(of_number).collect::<Vec<_>>());
            terraform.refresh().await;
            let plan = terraform.plan(config).await;
            let invalid = terraform.resource.validate(&terraform.config(config)).has_errors();
            if invalid || plan.diagnostics.has_errors() || !plan.requires_replace.is_empty() {
                continue;
            }
            last = Some(config);
            let planned = plan.planned.get("aws_objects").clone();
            let created = planned.as_map().into_iter().flatten().filter(|(_, id)| id.is_unknown());
            let created: Vec<String> = created.map(|(slot, _)| slot.clone()).collect();
            let diagnostics = terraform.apply(config).await;
            let errors = diagnostics.0.iter().filter(|it| it.severity == Severity::Error);
            let errors: Vec<&Diagnostic> = errors.collect();
            assert!(errors.iter().all(|error| is_allowed(error, &created)), "{errors:#?}");
            if errors.is_empty() {
                terraform.assert_settles(config).await;
            }
        }
        terraform.set_in_use(&[]);
        terraform.refresh().await;
        if let Some(config) = last {
            let plan = terraform.plan(config).await;
            if !plan.diagnostics.has_errors() && plan.requires_replace.is_empty() {
                terraform.assert_applies(config).await;
                assert_eq!(terraform.pending(), Vec::<String>::new());
            }
        }
        terraform.end().await;
    });
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn users_of_any_objects_of_a_network_delay_only_their_deletion(
        configs in proptest::collection::vec((some_network(), proptest::collection::vec(any::<u16>(), 0..5)), 2..5)
    ) {
        check_sequence::<FourTierVpc>(&configs);
    }

    #[test]
    fn users_of_any_objects_of_a_gateway_delay_only_their_deletion(
        configs in proptest::collection::vec((domains::some_gateway(), proptest::collection::vec(any::<u16>(), 0..5)), 2..5)
    ) {
        check_sequence::<HttpGateway>(&configs);
    }
}
