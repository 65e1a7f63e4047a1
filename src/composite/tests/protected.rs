//! Objects that `protected_objects` protects from deletion.

use super::*;

/// A network with two AZs and these inputs.
fn two_azs(nats: i64, protected: &[&str], more: &[(&str, Value)]) -> Value {
    let mut config = network(&[("num_availability_zones", 2.into()), ("num_nat_gateways", nats.into())]);
    if !protected.is_empty() {
        config.set("protected_objects", protected.to_vec().into());
    }
    for (name, value) in more {
        config.set(name, value.clone());
    }
    config
}

/// A replacement of the VPC.
fn other_range() -> (&'static str, Value) {
    ("cidr_block", "10.9.0.0/16".into())
}

/// Asserts that the only error has this summary and these texts, and that it names the attribute.
fn assert_refused(diagnostics: &Diagnostics, summary: &str, texts: &[&str]) {
    let [error] = &diagnostics.0[diagnostics.0.len() - 1..] else { panic!("no error") };
    assert_eq!(error.summary, format!("{summary}: protected objects"), "{diagnostics:?}");
    assert_eq!(error.path, Some(AttributePath::new("protected_objects")));
    for text in texts {
        assert!(error.detail.contains(text), "{text} is missing in {}", error.detail);
    }
}

impl<P: Topology> Terraform<P> {
    /// Connects to a new account in which protected objects of this root may be deleted.
    fn allowing(root_id: &str) -> Terraform<P> {
        let mut terraform = Terraform::new(2);
        terraform.account = Arc::new(Simulation::new(2).allowing(root_id));
        let connection = Connection::default();
        connection.set(connected(&terraform.account));
        terraform.resource = Composite::new(connection);
        terraform
    }

    async fn plan_end(&self) -> PlanResponse {
        self.resource.plan(self.destroy_request()).await
    }

    /// Plans a replacement as core does for `-replace`: an update, and then a create without the state.
    pub(super) async fn plan_requested_replacement(&mut self, attributes: &Value) -> PlanResponse {
        let update = self.plan(attributes).await;
        assert!(!update.diagnostics.has_errors(), "{:?}", update.diagnostics);
        self.plan_successor(attributes, update.private).await
    }

    fn object(&self, key: &str) -> String {
        self.state.get("aws_objects").get(key).as_str().unwrap().to_string()
    }
}

#[tokio::test(start_paused = true)]
async fn an_update_deletes_no_protected_object() {
    let mut terraform = Terraform::<FourTierVpc>::new(2);
    let protected = ["eip.*", "nat_gateway.1"];
    terraform.assert_applies(&two_azs(2, &protected, &[])).await;
    terraform.account.take_calls();
    let plan = terraform.plan(&two_azs(1, &protected, &[])).await;
    let (eip, gateway) = (terraform.object("eip.1"), terraform.object("nat_gateway.1"));
    let lines = [
        format!("  nat_gateway.1 ({gateway}), protected by \"nat_gateway.1\""),
        format!("  eip.1 ({eip}), protected by \"eip.*\""),
        "To delete them, remove these patterns from protected_objects".to_string(),
    ];
    let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
    assert_refused(&plan.diagnostics, "Could not plan fgw_four_tier_vpc \"main\"", &lines);

    // The planned value counts, so the same apply may remove the patterns and the objects.
    terraform.assert_applies(&two_azs(1, &["subnet.*"], &[])).await;
    assert!(terraform.account.take_calls().contains(&"delete nat_gateway.1".to_string()));
}

#[tokio::test(start_paused = true)]
async fn a_change_of_patterns_alone_calls_nothing() {
    let mut terraform = Terraform::<FourTierVpc>::new(2);
    terraform.assert_applies(&two_azs(1, &[], &[])).await;
    terraform.account.take_calls();
    for protected in [&["*"][..], &["vpc", "subnet.*"], &[]] {
        let config = two_azs(1, protected, &[]);
        assert_ne!(terraform.plan(&config).await.planned, terraform.state);
        terraform.assert_applies(&config).await;
        assert_eq!(terraform.account.take_calls(), [""; 0]);
    }
}

#[tokio::test(start_paused = true)]
async fn a_moved_az_replaces_no_protected_object() {
    let mut terraform = Terraform::<FourTierVpc>::new(3);
    let zones = |ids: &[&str]| ("availability_zone_ids", Value::from(ids.to_vec()));
    for protected in ["subnet.public.*", "nat_gateway.*"] {
        let config = |ids: &[&str], protected: &[&str]| two_azs(2, protected, &[zones(ids)]);
        terraform.assert_applies(&config(&["use1-az1", "use1-az2"], &[protected])).await;
        let plan = terraform.plan(&config(&["use1-az1", "use1-az3"], &[protected])).await;
        assert_refused(&plan.diagnostics, "Could not plan fgw_four_tier_vpc \"main\"", &[protected]);
    }
}

#[tokio::test(start_paused = true)]
async fn a_replacement_is_refused_by_state_and_by_plan() {
    let mut terraform = Terraform::<FourTierVpc>::new(2);
    let refused = "Could not replace fgw_four_tier_vpc vpc-2";
    terraform.assert_applies(&two_azs(1, &["eip.*"], &[])).await;
    let texts = ["  eip.0 (", "allow_protected_deletion = [\"vpc-2\"]", "first apply a configuration without"];
    for protected in [&["eip.*"][..], &[]] {
        let plan = terraform.plan(&two_azs(1, protected, &[other_range()])).await;
        assert_refused(&plan.diagnostics, refused, &texts);
    }
    terraform.assert_applies(&two_azs(1, &[], &[])).await;
    let plan = terraform.plan(&two_azs(1, &["eip.*"], &[other_range()])).await;
    assert_refused(&plan.diagnostics, refused, &texts);
    terraform.assert_applies(&two_azs(1, &[], &[other_range()])).await;
}

#[tokio::test(start_paused = true)]
async fn a_requested_replacement_is_refused() {
    let mut terraform = Terraform::<FourTierVpc>::new(2);
    terraform.assert_applies(&two_azs(1, &["vpc"], &[])).await;
    for protected in [&["vpc"][..], &[]] {
        let plan = terraform.plan_requested_replacement(&two_azs(1, protected, &[])).await;
        assert_refused(&plan.diagnostics, "Could not replace fgw_four_tier_vpc vpc-2", &["  vpc (vpc-2)"]);
    }
    terraform.assert_applies(&two_azs(1, &[], &[])).await;
    let plan = terraform.plan_requested_replacement(&two_azs(1, &[], &[])).await;
    assert!(!plan.diagnostics.has_errors(), "{:?}", plan.diagnostics);
}

#[tokio::test(start_paused = true)]
async fn a_destroy_is_refused_at_plan_and_at_apply() {
    let mut terraform = Terraform::<FourTierVpc>::new(2);
    terraform.assert_applies(&two_azs(1, &["nat_gateway.*"], &[])).await;
    terraform.account.take_calls();
    let state = terraform.state.clone();
    let refused = "Could not destroy fgw_four_tier_vpc vpc-2";
    let texts = ["  nat_gateway.0 (", "terraform untaint", "removed", "allow_protected_deletion = [\"vpc-2\"]"];
    let plan = terraform.plan_end().await;
    assert_refused(&plan.diagnostics, refused, &texts);
    assert_refused(&terraform.destroy().await, refused, &texts);
    assert_eq!((&terraform.state, terraform.account.take_calls()), (&state, vec![]));
    terraform.assert_quiet(&two_azs(1, &["nat_gateway.*"], &[])).await;

    // Without private state, the plan reads AWS.
    terraform.private = Vec::new();
    assert_refused(&terraform.plan_end().await.diagnostics, refused, &texts);

    terraform.assert_applies(&two_azs(1, &[], &[])).await;
    assert!(!terraform.plan_end().await.diagnostics.has_errors());
    assert_eq!(terraform.destroy().await, Diagnostics::default());
}

#[tokio::test(start_paused = true)]
async fn a_tainted_root_keeps_its_protected_objects() {
    let mut terraform = Terraform::<FourTierVpc>::new(2);
    let config = two_azs(1, &["eip.*"], &[]);
    terraform.assert_applies(&config).await;
    terraform.account.take_calls();
    // Terraform passes neither state nor private state to the plan of the create.
    let diagnostics = terraform.replace(&config, Vec::new()).await;
    assert_refused(&diagnostics, "Could not destroy fgw_four_tier_vpc vpc-2", &["terraform untaint"]);
    assert_eq!(terraform.account.take_calls(), [""; 0]);
    terraform.assert_quiet(&config).await;
}

#[tokio::test(start_paused = true)]
async fn the_provider_block_lifts_the_protection_of_a_root() {
    let config = |more: &[(&str, Value)]| two_azs(1, &["*"], more);
    let mut terraform = Terraform::<FourTierVpc>::allowing("vpc-2");
    terraform.assert_applies(&config(&[])).await;
    assert_eq!(terraform.replace(&config(&[]), Vec::new()).await, Diagnostics::default());
    assert_ne!(terraform.object("vpc"), "vpc-2");
    // The new root is protected.
    let refused = format!("Could not destroy fgw_four_tier_vpc {}", terraform.object("vpc"));
    assert_refused(&terraform.plan_end().await.diagnostics, &refused, &[]);

    for change in [("num_nat_gateways", 0.into()), other_range()] {
        let mut terraform = Terraform::<FourTierVpc>::allowing("vpc-2");
        terraform.assert_applies(&config(&[])).await;
        terraform.assert_applies(&config(&[change])).await;
    }
}

#[tokio::test(start_paused = true)]
async fn a_root_whose_creation_failed_is_not_protected() {
    let config = two_azs(1, &["*"], &[]);
    for state in [RootState::Incomplete, RootState::Creating] {
        let mut terraform = Terraform::<FourTierVpc>::new(2);
        terraform.account.failing.lock().unwrap().push("nat_gateway.0".into());
        if state == RootState::Creating {
            *terraform.account.tagging_failure.lock().unwrap() = Some(Cause::Denied);
        }
        assert!(terraform.apply(&config).await.has_errors());
        assert_eq!(*terraform.account.root_state.lock().unwrap(), Some(state));
        assert!(!terraform.plan_end().await.diagnostics.has_errors());
        let update = terraform.plan(&two_azs(0, &["*"], &[])).await;
        assert!(!update.diagnostics.has_errors(), "{:?}", update.diagnostics);
        let replacement = terraform.plan_requested_replacement(&config).await;
        assert!(!replacement.diagnostics.has_errors(), "{:?}", replacement.diagnostics);
        terraform.account.failing.lock().unwrap().clear();
        let failed = terraform.object("vpc");
        assert!(!terraform.replace(&config, Vec::new()).await.has_errors());
        assert_ne!(terraform.object("vpc"), failed);
    }
}

#[tokio::test(start_paused = true)]
async fn a_complete_root_that_may_not_be_tagged_is_protected() {
    let mut terraform = Terraform::<FourTierVpc>::new(2);
    *terraform.account.tagging_failure.lock().unwrap() = Some(Cause::Denied);
    let config = two_azs(1, &["*"], &[]);
    assert!(!terraform.apply(&config).await.has_errors());
    assert_eq!(*terraform.account.root_state.lock().unwrap(), Some(RootState::Creating));
    let refused = "Could not destroy fgw_four_tier_vpc vpc-2";
    assert_refused(&terraform.plan_end().await.diagnostics, refused, &[]);
    assert_refused(&terraform.replace(&config, Vec::new()).await, refused, &[]);
}

/// Asserts that a destroy, a deletion by an update and each of two replacements of a tainted root are refused.
async fn assert_stays_protected(terraform: &mut Terraform<FourTierVpc>) {
    let config = two_azs(1, &["*"], &[]);
    terraform.refresh().await;
    terraform.account.take_calls();
    let refused = "Could not destroy fgw_four_tier_vpc vpc-2";
    assert_refused(&terraform.plan_end().await.diagnostics, refused, &[]);
    let fewer = terraform.plan(&two_azs(0, &["*"], &[])).await;
    assert_refused(&fewer.diagnostics, "Could not plan fgw_four_tier_vpc \"main\"", &["nat_gateway.0"]);
    for _ in 0..2 {
        assert_refused(&terraform.replace(&config, Vec::new()).await, refused, &[]);
        terraform.refresh().await;
        assert_refused(&terraform.destroy().await, refused, &[]);
    }
    assert_eq!(terraform.account.take_calls(), [""; 0]);
}

#[tokio::test(start_paused = true)]
async fn neither_refused_tags_nor_drift_lift_the_protection() {
    let mut terraform = Terraform::<FourTierVpc>::new(2);
    *terraform.account.tagging_failure.lock().unwrap() = Some(Cause::Denied);
    assert!(!terraform.apply(&two_azs(1, &["*"], &[])).await.has_errors());
    assert_stays_protected(&mut terraform).await;
    terraform.account.delete_outside("route.public.ipv4");
    terraform.refresh().await;
    assert_ne!(terraform.state.get("drift"), &Value::Map(Default::default()));
    assert_stays_protected(&mut terraform).await;
}

#[tokio::test(start_paused = true)]
async fn a_failed_update_does_not_lift_the_protection() {
    for tagging in [None, Some(Cause::Denied)] {
        let mut terraform = Terraform::<FourTierVpc>::new(2);
        *terraform.account.tagging_failure.lock().unwrap() = tagging;
        assert!(!terraform.apply(&two_azs(1, &["*"], &[])).await.has_errors());
        terraform.account.failing.lock().unwrap().push("nat_gateway.1".into());
        assert!(terraform.apply(&two_azs(2, &["*"], &[])).await.has_errors());
        assert_ne!(terraform.state.get("drift").get("nat_gateway.1"), &Value::Null);
        terraform.account.failing.lock().unwrap().clear();
        assert_stays_protected(&mut terraform).await;
    }
}

#[tokio::test(start_paused = true)]
async fn a_tag_that_someone_sets_does_not_lift_the_protection() {
    for planted in [RootState::Creating, RootState::Incomplete] {
        let mut terraform = Terraform::<FourTierVpc>::new(2);
        let config = two_azs(1, &["*"], &[]);
        terraform.assert_applies(&config).await;
        *terraform.account.root_state.lock().unwrap() = Some(planted);
        assert_stays_protected(&mut terraform).await;
        let replacement = terraform.plan_requested_replacement(&config).await;
        assert_refused(&replacement.diagnostics, "Could not replace fgw_four_tier_vpc vpc-2", &[]);
    }
}

#[tokio::test(start_paused = true)]
async fn a_failed_creation_is_protected_once_an_apply_completes_it() {
    let config = two_azs(1, &["*"], &[]);
    for tagging in [None, Some(Cause::Denied)] {
        let mut terraform = Terraform::<FourTierVpc>::new(2);
        *terraform.account.tagging_failure.lock().unwrap() = tagging;
        terraform.account.failing.lock().unwrap().push("nat_gateway.0".into());
        assert!(terraform.apply(&config).await.has_errors());
        assert!(terraform.apply(&config).await.has_errors());
        assert!(!terraform.plan_end().await.diagnostics.has_errors());
        terraform.account.failing.lock().unwrap().clear();
        assert!(!terraform.apply(&config).await.has_errors());
        assert_stays_protected(&mut terraform).await;
    }
}

#[tokio::test(start_paused = true)]
async fn the_destroy_of_a_failed_creation_can_be_repeated() {
    let mut terraform = Terraform::<FourTierVpc>::new(2);
    let config = two_azs(1, &["*"], &[]);
    terraform.account.failing.lock().unwrap().push("nat_gateway.0".into());
    assert!(terraform.apply(&config).await.has_errors());
    *terraform.account.failing.lock().unwrap() = vec!["eip.0".into()];
    for _ in 0..2 {
        terraform.account.take_calls();
        let failed = terraform.replace(&config, Vec::new()).await;
        assert!(terraform.account.take_calls().contains(&"delete eip.0".to_string()), "{failed:?}");
        // Even if only the address remains.
        terraform.account.delete_root_outside();
        terraform.refresh().await;
    }
    terraform.account.failing.lock().unwrap().clear();
    assert!(!terraform.plan_end().await.diagnostics.has_errors());
    assert!(!terraform.replace(&config, Vec::new()).await.has_errors());
}

#[tokio::test(start_paused = true)]
async fn a_state_that_reports_no_unfinished_creation_is_protected() {
    let mut terraform = Terraform::<FourTierVpc>::new(2);
    let config = two_azs(1, &["*"], &[]);
    terraform.account.failing.lock().unwrap().push("nat_gateway.0".into());
    assert!(terraform.apply(&config).await.has_errors());
    // Without private state, the reported status decides.
    terraform.private = Vec::new();
    assert!(!terraform.plan_end().await.diagnostics.has_errors());
    terraform.refresh().await;
    assert!(!terraform.plan_end().await.diagnostics.has_errors());
    terraform.private = Vec::new();
    terraform.state.set("status", "ready".into());
    let refused = "Could not destroy fgw_four_tier_vpc vpc-2";
    assert_refused(&terraform.plan_end().await.diagnostics, refused, &[]);
    // An import counts as complete.
    let imported = terraform.resource.import(ImportTarget::Id("vpc-2".to_string())).await;
    (terraform.state, terraform.private) = (imported.state.unwrap(), imported.private);
    terraform.state.set("protected_objects", Value::from(vec!["*"]));
    assert_refused(&terraform.plan_end().await.diagnostics, refused, &[]);
}

#[tokio::test(start_paused = true)]
async fn a_missing_root_does_not_lift_the_protection_of_the_rest() {
    let mut terraform = Terraform::<FourTierVpc>::new(2);
    let config = |protected: &[&str]| two_azs(1, protected, &[]);
    terraform.assert_applies(&config(&["eip.*"])).await;
    terraform.account.delete_root_outside();
    terraform.refresh().await;
    let refused = "Could not replace fgw_four_tier_vpc vpc-2";
    for protected in [&["eip.*"][..], &[]] {
        assert_refused(&terraform.plan(&config(protected)).await.diagnostics, refused, &["  eip.0 ("]);
    }
    // Objects that no longer exist need no protection.
    let mut terraform = Terraform::<FourTierVpc>::new(2);
    terraform.assert_applies(&config(&["vpc", "subnet.*"])).await;
    terraform.account.delete_root_outside();
    terraform.refresh().await;
    terraform.assert_applies(&config(&["vpc", "subnet.*"])).await;
}

#[tokio::test(start_paused = true)]
async fn a_pattern_that_was_unknown_at_plan_is_checked_at_apply() {
    let mut terraform = Terraform::<FourTierVpc>::new(2);
    terraform.assert_applies(&two_azs(2, &[], &[])).await;
    terraform.account.take_calls();
    let plan = terraform.plan(&two_azs(1, &[], &[("protected_objects", Value::Unknown)])).await;
    assert!(!plan.diagnostics.has_errors(), "{:?}", plan.diagnostics);
    let diagnostics = terraform.apply_plan(&two_azs(1, &["nat_gateway.*"], &[]), plan).await;
    let summaries: Vec<&str> = diagnostics.0.iter().map(|it| it.summary.as_str()).collect();
    assert_eq!(summaries, ["Could not plan fgw_four_tier_vpc \"main\": protected objects"]);
    assert_refused(&diagnostics, "Could not plan fgw_four_tier_vpc \"main\"", &["  nat_gateway.1 ("]);
    assert_eq!(terraform.account.take_calls(), [""; 0]);
}

#[tokio::test(start_paused = true)]
async fn a_pending_deletion_is_not_refused_again() {
    let mut terraform = Terraform::<FourTierVpc>::new(2);
    let one_az = |protected: &[&str]| two_azs(1, protected, &[("num_availability_zones", 1.into())]);
    terraform.assert_applies(&two_azs(1, &["subnet.*"], &[])).await;
    terraform.account.in_use.lock().unwrap().push("subnet.private_app.1".into());
    let plan = terraform.plan(&one_az(&["subnet.*"])).await;
    let texts = ["subnet.private_app.1", "subnet.private_persistence.1"];
    assert_refused(&plan.diagnostics, "Could not plan fgw_four_tier_vpc \"main\"", &texts);

    assert!(!terraform.apply(&one_az(&[])).await.has_errors());
    terraform.refresh().await;
    let pending = |terraform: &Terraform<FourTierVpc>| terraform.state.get("pending_deletion").as_map().unwrap().len();
    assert_ne!(pending(&terraform), 0);
    terraform.account.in_use.lock().unwrap().clear();
    terraform.refresh().await;
    terraform.assert_applies(&one_az(&["subnet.*"])).await;
    assert_eq!(pending(&terraform), 0);
}

#[tokio::test(start_paused = true)]
async fn a_failed_nat_gateway_is_replaced_although_it_is_protected() {
    let mut terraform = Terraform::<FourTierVpc>::new(2);
    let config = |nats: i64| two_azs(nats, &["*"], &[]);
    terraform.assert_applies(&config(2)).await;
    let (works, failed) = (terraform.object("nat_gateway.0"), terraform.object("nat_gateway.1"));
    terraform.account.fail_nat_gateway("nat_gateway.1");
    terraform.refresh().await;
    terraform.assert_applies(&config(2)).await;
    assert_ne!(terraform.object("nat_gateway.1"), failed);
    assert_eq!(terraform.object("nat_gateway.0"), works);
    assert!(terraform.plan_end().await.diagnostics.has_errors());
}

#[tokio::test(start_paused = true)]
async fn a_gateway_keeps_its_protected_routes_and_domain() {
    let mut terraform = Terraform::<HttpGateway>::new(2);
    let config = |routes: &[&str], domain: Option<&str>, protected: &[&str]| {
        let routes: Vec<(&str, Value)> = routes.iter().map(|key| (*key, route("a", None))).collect();
        let inputs = [("domain_name", domain.into()), ("protected_objects", Value::from(protected.to_vec()))];
        gateway(&routes, &[], &inputs)
    };
    let (both, domain) = (["GET /a", "GET /b"], Some("api.example.com"));
    let protected = ["route.GET *", "domain"];
    terraform.assert_applies(&config(&both, domain, &protected)).await;
    let refused = "Could not plan fgw_http_gateway \"front\"";
    let plan = terraform.plan(&config(&both[..1], domain, &protected)).await;
    assert_refused(&plan.diagnostics, refused, &["  route.GET /b ("]);
    for domain in [None, Some("other.example.com")] {
        let plan = terraform.plan(&config(&both, domain, &protected)).await;
        assert_refused(&plan.diagnostics, refused, &["  domain ("]);
    }
    assert!(terraform.plan_end().await.diagnostics.has_errors());
    terraform.assert_applies(&config(&both[..1], domain, &["domain"])).await;
}
