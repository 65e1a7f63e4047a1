//! Creates while AWS contains a root that the configuration would create again.

use super::*;

/// A complete root with the range of [`network`].
fn complete(id: &str) -> Namesake {
    let features = std::collections::BTreeSet::from(["10.0.0.0/16".to_string()]);
    Namesake { id: id.into(), created: None, state: Some(RootState::Ready), features }
}

fn in_aws(terraform: &Terraform<FourTierVpc>, roots: &[Namesake]) {
    *terraform.account.namesakes.lock().unwrap() = roots.to_vec();
}

/// Asserts that a plan was rejected because of a root, and that its message names both ways out, the import last.
fn assert_stopped(diagnostics: &Diagnostics, id: &str) {
    assert_eq!(diagnostics.0.len(), 1, "{diagnostics:?}");
    assert_eq!(diagnostics.0[0].summary, format!("Could not create fgw_four_tier_vpc \"main\": {id} exists already"));
    let detail = &diagnostics.0[0].detail;
    let position = |text: &str| detail.find(text).unwrap_or_else(|| panic!("no {text:?} in {detail}"));
    assert!(position("another workspace") < position("allow_duplicate_name = true"), "{detail}");
    assert!(position("allow_duplicate_name = true") < position(&format!("terraform import ADDRESS {id}")), "{detail}");
}

#[tokio::test(start_paused = true)]
async fn a_complete_root_stops_a_plan_unless_it_is_allowed() {
    let terraform = Terraform::<FourTierVpc>::new(2);
    in_aws(&terraform, &[complete("vpc-1")]);
    assert_stopped(&terraform.plan(&network(&[])).await.diagnostics, "vpc-1");
    for different in [
        network(&[("allow_duplicate_name", true.into())]),
        network(&[("cidr_block", "10.1.0.0/16".into())]),
        network(&[("cidr_block", Value::Unknown)]),
        network(&[("allow_duplicate_name", Value::Unknown)]),
    ] {
        assert!(!terraform.plan(&different).await.diagnostics.has_errors(), "{different}");
    }
    let host_bits = terraform.plan(&network(&[("cidr_block", "10.0.77.0/16".into())])).await.diagnostics;
    assert!(host_bits.has_errors(), "the same range");
    let of_pool = network(&[("cidr_block", Value::Null), ("ipv4_ipam_pool_id", "ipam-pool-1".into())]);
    let of_pool = terraform.plan(&of_pool).await.diagnostics;
    assert_stopped(&of_pool, "vpc-1");
    assert!(!of_pool.0[0].detail.contains("CIDR block") && host_bits.0[0].detail.contains("the same CIDR block"));
    assert_eq!(terraform.account.take_calls(), Vec::<String>::new());
}

#[tokio::test(start_paused = true)]
async fn a_root_that_appears_after_the_plan_stops_the_apply() {
    let mut terraform = Terraform::<FourTierVpc>::new(2);
    let plan = terraform.plan(&network(&[])).await;
    in_aws(&terraform, &[complete("vpc-1")]);
    assert_stopped(&terraform.apply_plan(&network(&[]), plan).await, "vpc-1");
    assert_eq!(terraform.account.take_calls(), Vec::<String>::new());
    assert_eq!(terraform.state, Value::Null);
}

#[tokio::test(start_paused = true)]
async fn an_unfinished_root_stops_only_the_create_of_the_same_root() {
    let mut terraform = Terraform::<FourTierVpc>::new(2);
    in_aws(&terraform, &[Namesake { state: Some(RootState::Creating), ..complete("vpc-1") }]);
    let warned = |diagnostics: &Diagnostics| {
        let is_of_root = |it: &Diagnostic| it.severity == Severity::Warning && it.summary.contains("Unfinished vpc-1");
        !diagnostics.has_errors() && diagnostics.0.iter().any(is_of_root)
    };
    let plan = terraform.plan(&network(&[])).await;
    assert!(warned(&plan.diagnostics), "the other create may end before the apply: {:?}", plan.diagnostics);
    assert!(terraform.apply_plan(&network(&[]), plan).await.has_errors());
    let allowed = network(&[("allow_duplicate_name", true.into())]);
    let plan = terraform.plan(&allowed).await;
    assert!(warned(&terraform.apply_plan(&allowed, plan).await));
    assert!(!terraform.destroy().await.has_errors());
    (terraform.state, terraform.private) = (Value::Null, Vec::new());
    let elsewhere = network(&[("cidr_block", "10.99.0.0/16".into())]);
    assert!(warned(&terraform.plan(&elsewhere).await.diagnostics), "it may have been forgotten");
    terraform.assert_applies(&elsewhere).await;
}

#[tokio::test(start_paused = true)]
async fn roots_that_reached_this_process_do_not_stop_a_create() {
    let state = |id: &str| Value::map([("id", Value::from(id))]);
    let attributes = network(&[]);
    let mut terraform = Terraform::<FourTierVpc>::new(2);
    in_aws(&terraform, &["vpc-1", "vpc-2", "vpc-3"].map(complete));
    assert_eq!(terraform.plan(&attributes).await.diagnostics.0.len(), 3);
    // An upgrade, a read, and the plan of a destroy.
    terraform.resource.note_state(&state("vpc-1"));
    terraform.resource.read(ReadRequest { state: state("vpc-2"), private: Vec::new() }).await;
    let destroyed = PlanRequest {
        prior: state("vpc-3"),
        proposed: Value::Null,
        config: Value::Null,
        prior_private: Vec::new(),
        planned_private: Vec::new(),
    };
    terraform.resource.plan(destroyed).await;
    terraform.assert_applies(&attributes).await;
}

/// Roots that Terraform is about to read share calls.
#[tokio::test(start_paused = true)]
async fn a_state_announces_its_root() {
    let terraform = Terraform::<FourTierVpc>::new(1);
    terraform.resource.note_state(&Value::map([("id", Value::from("vpc-1"))]));
    assert_eq!(terraform.account.take_calls(), ["announce vpc-1"]);
}

#[tokio::test(start_paused = true)]
async fn a_root_that_this_process_created_does_not_stop_a_create() {
    let mut terraform = Terraform::<FourTierVpc>::new(2);
    terraform.assert_applies(&network(&[])).await;
    let id = terraform.state.get("id").as_str().unwrap().to_string();
    (terraform.state, terraform.private) = (Value::Null, Vec::new());
    in_aws(&terraform, &[complete(&id), Namesake { state: Some(RootState::Creating), ..complete(&id) }]);
    assert_eq!(terraform.plan(&network(&[])).await.diagnostics, Diagnostics::default());
}

#[tokio::test(start_paused = true)]
async fn a_shown_plan_tells_the_final_plan_which_roots_are_managed() {
    let attributes = network(&[]);
    let shown = {
        let terraform = Terraform::<FourTierVpc>::new(2);
        in_aws(&terraform, &[complete("vpc-1")]);
        terraform.resource.note_state(&Value::map([("id", Value::from("vpc-1"))]));
        terraform.plan(&attributes).await
    };
    // The apply runs in another process, which receives no other resource.
    let mut terraform = Terraform::<FourTierVpc>::new(2);
    in_aws(&terraform, &[complete("vpc-1")]);
    assert_stopped(&terraform.plan(&attributes).await.diagnostics, "vpc-1");
    let last = terraform.plan_again(&attributes, shown.private).await;
    assert_eq!(last.diagnostics, Diagnostics::default());
    let applied = terraform.apply_plan(&attributes, last).await;
    assert_eq!(applied, Diagnostics::default());
    let stored = String::from_utf8(terraform.private.clone()).unwrap();
    assert!(!stored.contains("managed_roots"), "only plans contain them: {stored}");
}

#[tokio::test(start_paused = true)]
async fn the_final_plan_uses_the_facts_of_the_shown_plan() {
    let mut terraform = Terraform::<FourTierVpc>::new(2);
    let attributes = network(&[]);
    let shown = terraform.plan(&attributes).await;
    terraform.account.add_zone();
    let zones = |plan: &PlanResponse| plan.planned.get("availability_zones").clone();
    assert_ne!(zones(&terraform.plan(&attributes).await), zones(&shown), "a new plan uses the new zone");
    let last = terraform.plan_again(&attributes, shown.private.clone()).await;
    assert_eq!(last.planned, shown.planned);
    assert_eq!(terraform.apply_plan(&attributes, last).await, Diagnostics::default());
}

#[tokio::test(start_paused = true)]
async fn on_other_hosts_the_final_plan_uses_the_facts_of_the_refresh() {
    let mut terraform = Terraform::<FourTierVpc>::new(2);
    terraform.assert_applies(&network(&[])).await;
    terraform.refresh().await;
    let changed = network(&[("create_transit_subnets", true.into())]);
    let shown = terraform.plan(&changed).await;
    terraform.account.add_zone();
    let last = terraform.plan(&changed).await;
    assert_eq!(last.planned, shown.planned);
    assert_eq!(terraform.apply_plan(&changed, last).await, Diagnostics::default());
    let zones = |plan: &PlanResponse| plan.planned.get("availability_zones").clone();
    terraform.refresh().await;
    assert_ne!(zones(&terraform.plan(&changed).await), zones(&shown), "the next refresh finds the new zone");
}

#[tokio::test(start_paused = true)]
async fn the_facts_of_a_refresh_answer_only_the_same_lookups() {
    let mut terraform = Terraform::<HttpGateway>::new(1);
    let domain = |name: &str| gateway(&[("GET /a", route("a", None))], &[], &[("domain_name", name.into())]);
    terraform.assert_applies(&domain("api.example.com")).await;
    terraform.refresh().await;
    terraform.account.certificates.lock().unwrap()[0].names = vec!["api.example.org".into()];
    let plan = terraform.plan(&domain("api.example.org")).await;
    assert_eq!(plan.planned.get("certificate_arn").as_str(), Some("cert-1"), "{:?}", plan.diagnostics);
}

#[tokio::test(start_paused = true)]
async fn a_final_plan_finds_what_the_shown_plan_missed() {
    let terraform = Terraform::<HttpGateway>::new(1);
    let attributes = gateway(&[("GET /a", route("a", None))], &[], &[("domain_name", "api.example.com".into())]);
    let certificates = std::mem::take(&mut *terraform.account.certificates.lock().unwrap());
    let shown = terraform.plan(&attributes).await;
    assert_eq!(*shown.planned.get("certificate_arn"), Value::Unknown);
    *terraform.account.certificates.lock().unwrap() = certificates;
    let last = terraform.plan_again(&attributes, shown.private).await;
    assert_eq!(last.planned.get("certificate_arn").as_str(), Some("cert-1"), "{:?}", last.diagnostics);
}

#[tokio::test(start_paused = true)]
async fn a_failed_list_of_roots_stops_a_create_but_no_update() {
    let mut terraform = Terraform::<FourTierVpc>::new(2);
    *terraform.account.namesakes_failure.lock().unwrap() = Some(Cause::Denied);
    let failed = terraform.plan(&network(&[])).await.diagnostics;
    assert_eq!(failed.0[0].summary, "Could not plan fgw_four_tier_vpc");
    *terraform.account.namesakes_failure.lock().unwrap() = None;
    terraform.assert_applies(&network(&[])).await;
    *terraform.account.namesakes_failure.lock().unwrap() = Some(Cause::Denied);
    terraform.assert_applies(&network(&[("custom_tags", Value::map([("a", Value::from("b"))]))])).await;
    assert_eq!(terraform.destroy().await, Diagnostics::default());
}
