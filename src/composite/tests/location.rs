//! Roots of another account or Region. An existing root stays in its Region. With another account each operation fails,
//! and state stays as it is.

use super::*;

impl<P: Topology> Terraform<P> {
    /// Connects to another account, in which nothing exists.
    fn connect_to(&mut self, account: &str) {
        self.account = Arc::new(Simulation::new(2).at(account, "us-east-1"));
        let connection = Connection::default();
        connection.set(connected(&self.account));
        self.resource = Composite::new(connection);
    }

    /// Sets the Region of the provider block to `eu-west-1`. Returns the account in that Region.
    fn move_provider(&mut self) -> Arc<Simulation> {
        let there = Arc::new(Simulation::new(2).at("123456789012", "eu-west-1"));
        let here = self.account.clone();
        let connection = Connection::default();
        let open = move |region: &str| -> SharedCloud {
            assert_eq!(region, "us-east-1");
            here.clone()
        };
        connection.set(Connected::Ready(Regions::new(there.clone(), open)));
        self.resource = Composite::new(connection);
        there
    }

    /// Reads, plans and applies a change, and plans and applies a destroy, with the credentials of another account.
    async fn assert_unreachable_from(&mut self, account: &str, change: &Value) {
        let change_plan = self.plan(change).await;
        assert!(!change_plan.diagnostics.has_errors(), "{:?}", change_plan.diagnostics);
        self.connect_to(account);
        let state = self.state.clone();
        let is_rejected = |diagnostics: &Diagnostics| {
            let [error] = &diagnostics.0[..] else { panic!("one error: {diagnostics:?}") };
            assert!(error.summary.ends_with("another account"), "{error:?}");
            for account in ["123456789012", account] {
                let text = format!("account {account} in Region us-east-1");
                assert!(error.detail.contains(&text), "{text}: {error:?}");
            }
        };
        let request = ReadRequest { state: state.clone(), private: self.private.clone() };
        let read = self.resource.read(request).await;
        is_rejected(&read.diagnostics);
        assert_eq!((&read.state, &read.private), (&state, &self.private));
        is_rejected(&self.plan(change).await.diagnostics);
        is_rejected(&self.apply_plan(change, change_plan).await);
        assert_eq!(self.state, state);
        is_rejected(&self.resource.plan(self.destroy_request()).await.diagnostics);
        is_rejected(&self.destroy().await);
        assert_eq!(self.state, state);
        assert_eq!(self.account.take_calls(), [""; 0]);
    }
}

/// The only diagnostic.
fn only(diagnostics: &Diagnostics) -> &Diagnostic {
    let [diagnostic] = &diagnostics.0[..] else { panic!("one diagnostic: {diagnostics:?}") };
    diagnostic
}

#[tokio::test(start_paused = true)]
async fn a_network_of_another_account_is_an_error() {
    let mut terraform = Terraform::<FourTierVpc>::new(2);
    terraform.assert_applies(&network(&[])).await;
    let change = network(&[("create_transit_subnets", true.into())]);
    terraform.assert_unreachable_from("210987654321", &change).await;
}

#[tokio::test(start_paused = true)]
async fn a_gateway_of_another_account_is_an_error() {
    let mut terraform = Terraform::<HttpGateway>::new(0);
    terraform.assert_applies(&gateway(&[("GET /a", route("a", None))], &[], &[])).await;
    let change = gateway(&[("GET /a", route("a", None)), ("GET /b", route("b", None))], &[], &[]);
    terraform.assert_unreachable_from("210987654321", &change).await;
}

#[tokio::test(start_paused = true)]
async fn an_existing_root_stays_in_its_region() {
    let mut terraform = Terraform::<FourTierVpc>::new(2);
    terraform.assert_applies(&network(&[])).await;
    assert_eq!(terraform.state.get("region"), &"us-east-1".into());
    let there = terraform.move_provider();
    terraform.assert_quiet(&network(&[])).await;
    let plan = terraform.plan(&network(&[])).await;
    let warning = only(&plan.diagnostics);
    assert_eq!(warning.severity, Severity::Warning);
    assert!(warning.summary.ends_with("stays in Region us-east-1"), "{warning:?}");
    assert!(warning.detail.contains("eu-west-1"), "{warning:?}");
    // No warning once the configuration names the Region.
    let named = network(&[("region", "us-east-1".into())]);
    assert_eq!(terraform.plan(&named).await.diagnostics, Diagnostics::default());
    let change = network(&[("region", "us-east-1".into()), ("create_transit_subnets", true.into())]);
    terraform.assert_applies(&change).await;
    assert!(!terraform.destroy().await.has_errors());
    assert!(terraform.state.is_null());
    assert_eq!(there.take_calls(), [""; 0]);
    assert_eq!(terraform.account.ids_of("").len(), 0);
}

#[tokio::test(start_paused = true)]
async fn state_without_a_region_uses_that_of_its_arns() {
    let mut terraform = Terraform::<FourTierVpc>::new(2);
    terraform.assert_applies(&network(&[])).await;
    let there = terraform.move_provider();
    // As written by version 0.1.
    terraform.state.set("region", Value::Null);
    terraform.refresh().await;
    assert_eq!(terraform.state.get("region"), &"us-east-1".into());
    assert_eq!(there.take_calls(), [""; 0]);
}

/// With `-refresh=false`.
#[tokio::test(start_paused = true)]
async fn state_without_a_region_needs_no_refresh() {
    for is_changed in [true, false] {
        let mut terraform = Terraform::<FourTierVpc>::new(2);
        terraform.assert_applies(&network(&[])).await;
        let there = terraform.move_provider();
        terraform.state.set("region", Value::Null);
        if is_changed {
            let change = network(&[("create_transit_subnets", true.into())]);
            let plan = terraform.plan(&change).await;
            assert!(!plan.diagnostics.has_errors() && plan.requires_replace.is_empty(), "{:?}", plan.diagnostics);
            assert!(!terraform.apply_plan(&change, plan).await.has_errors());
            assert_eq!(terraform.state.get("region"), &"us-east-1".into());
            terraform.state.set("region", Value::Null);
        }
        assert!(!terraform.destroy().await.has_errors());
        assert_eq!(terraform.account.ids_of("").len(), 0);
        assert_eq!(there.take_calls(), [""; 0]);
    }
}

#[tokio::test(start_paused = true)]
async fn another_region_in_the_configuration_replaces_the_root() {
    let mut terraform = Terraform::<FourTierVpc>::new(2);
    terraform.assert_applies(&network(&[])).await;
    let there = terraform.move_provider();
    let moved = network(&[("region", "eu-west-1".into())]);
    let plan = terraform.plan(&moved).await;
    assert_eq!(plan.requires_replace, [AttributePath::new("region")]);
    assert_eq!(plan.planned.get("region"), &"eu-west-1".into());
    terraform.assert_applies(&moved).await;
    assert_eq!(terraform.state.get("region"), &"eu-west-1".into());
    assert_eq!(terraform.account.ids_of("").len(), 0);
    assert!(!there.ids_of("").is_empty());
}

#[tokio::test(start_paused = true)]
async fn a_replacement_moves_to_the_region_of_the_provider_with_a_warning() {
    let mut terraform = Terraform::<FourTierVpc>::new(2);
    terraform.assert_applies(&network(&[])).await;
    terraform.move_provider();
    let other_block = network(&[("cidr_block", "10.9.0.0/16".into())]);
    let plan = terraform.plan(&other_block).await;
    assert_eq!(plan.requires_replace, [AttributePath::new("cidr_block")]);
    let about_region = |plan: &PlanResponse| {
        let summaries = plan.diagnostics.0.iter().map(|it| it.summary.clone());
        summaries.filter(|summary| summary.contains("Region")).collect::<Vec<_>>()
    };
    assert_eq!(about_region(&plan), ["fgw_four_tier_vpc vpc-2 moves to Region eu-west-1"]);
    let mut named = other_block.clone();
    named.set("region", "us-east-1".into());
    assert_eq!(about_region(&terraform.plan(&named).await), [""; 0]);
    terraform.assert_applies(&other_block).await;
    assert_eq!(terraform.state.get("region"), &"eu-west-1".into());
}

#[tokio::test(start_paused = true)]
async fn another_region_replaces_the_root_even_if_the_provider_is_unknown() {
    let mut terraform = Terraform::<FourTierVpc>::new(2);
    terraform.assert_applies(&network(&[])).await;
    let connection = Connection::default();
    connection.set(Connected::Unknown(TagSettings::default()));
    terraform.resource = Composite::new(connection);
    let moved = network(&[("region", "eu-west-1".into())]);
    let plan = terraform.plan(&moved).await;
    assert_eq!(plan.requires_replace, [AttributePath::new("region")]);
    assert_eq!(plan.planned.get("region"), &"eu-west-1".into());
    let same = terraform.plan(&network(&[("region", "us-east-1".into())])).await;
    assert_eq!(same.requires_replace, []);
}

#[tokio::test(start_paused = true)]
async fn an_unknown_region_is_planned_only_for_a_create() {
    let mut terraform = Terraform::<FourTierVpc>::new(2);
    let unknown = network(&[("region", Value::Unknown)]);
    let plan = terraform.plan(&unknown).await;
    assert_eq!((&plan.diagnostics, plan.planned.get("region")), (&Diagnostics::default(), &Value::Unknown));
    assert_eq!(terraform.account.take_calls(), [""; 0]);
    // The value becomes known before the apply.
    let known = network(&[("region", "us-east-1".into())]);
    let again = terraform.plan(&known).await;
    terraform.assert_as_planned(&plan.planned, &again.planned, "");
    let applied = terraform.apply_plan(&known, again).await;
    assert!(!applied.has_errors(), "{applied:?}");
    let error = terraform.plan(&unknown).await.diagnostics;
    assert_eq!(only(&error).path, Some(AttributePath::new("region")));
    assert!(only(&error).summary.contains("not known yet"), "{error:?}");
}

#[tokio::test(start_paused = true)]
async fn a_region_of_another_partition_is_an_error() {
    let terraform = Terraform::<FourTierVpc>::new(2);
    let error = terraform.plan(&network(&[("region", "cn-north-1".into())])).await.diagnostics;
    assert_eq!(only(&error).path, Some(AttributePath::new("region")));
    assert!(only(&error).detail.contains("cn-north-1") && only(&error).detail.contains("us-east-1"), "{error:?}");
}

#[tokio::test(start_paused = true)]
async fn an_import_finds_a_root_by_id_region_or_identity() {
    let mut terraform = Terraform::<FourTierVpc>::new(2);
    terraform.assert_applies(&network(&[])).await;
    let identity = terraform.resource.identity(&terraform.state).unwrap();
    let expected = [("id", "vpc-2"), ("region", "us-east-1"), ("account_id", "123456789012")];
    assert_eq!(identity, Value::map(expected.map(|(name, value)| (name, Value::from(value)))));
    terraform.move_provider();
    let mut only_id = identity.clone();
    only_id.set("region", Value::Null);
    for (target, is_found) in [
        (ImportTarget::Id("vpc-2@us-east-1".into()), true),
        (ImportTarget::Identity(identity.clone()), true),
        // In the Region of the provider block.
        (ImportTarget::Id("vpc-2".into()), false),
        (ImportTarget::Identity(only_id), false),
    ] {
        let imported = terraform.resource.import(target.clone()).await;
        assert_eq!(imported.state.is_some(), is_found, "{target}: {:?}", imported.diagnostics);
        if let Some(state) = imported.state {
            assert_eq!(terraform.resource.identity(&state), Some(identity.clone()));
        }
    }
}

#[tokio::test(start_paused = true)]
async fn an_import_with_a_wrong_region_account_or_id_is_an_error() {
    let mut terraform = Terraform::<FourTierVpc>::new(2);
    terraform.assert_applies(&network(&[])).await;
    let mut other = terraform.resource.identity(&terraform.state).unwrap();
    other.set("account_id", "210987654321".into());
    terraform.account.take_calls();
    for (target, summary, texts) in [
        (ImportTarget::Identity(other), "another account", ["210987654321", "123456789012"]),
        (ImportTarget::Id("vpc-1@nowhere".into()), "invalid Region", ["nowhere", "vpc-1@eu-central-1"]),
        (ImportTarget::Identity(Value::map([("id", Value::from(" "))])), "no ID", ["empty", "VPC"]),
        (ImportTarget::Id("@us-east-1".into()), "no ID", ["empty", "VPC"]),
    ] {
        let imported = terraform.resource.import(target).await;
        assert!(imported.state.is_none());
        let error = only(&imported.diagnostics);
        assert!(error.summary.ends_with(summary) && texts.iter().all(|text| error.detail.contains(text)), "{error:?}");
    }
    assert_eq!(terraform.account.take_calls(), [""; 0]);
}

#[test]
fn states_move_only_between_providers_of_this_name() {
    let resource = Composite::<FourTierVpc>::new(Connection::default());
    let moved = |provider: &str, type_name: &str| {
        let (provider_address, type_name) = (provider.to_string(), type_name.to_string());
        resource.check_move(&MoveSource { provider_address, type_name, schema_version: 0 })
    };
    assert_eq!(moved("registry.example.com/acme/fgw", "fgw_four_tier_vpc"), Ok(()));
    for (provider, type_name) in
        [("registry.example.com/hashicorp/aws", "aws_vpc"), ("registry.example.com/acme/fgw", "fgw_http_gateway")]
    {
        let error = moved(provider, type_name).unwrap_err();
        assert!(error.contains(provider) && error.contains(type_name) && error.contains("import"), "{error}");
    }
}

#[tokio::test(start_paused = true)]
async fn the_objects_of_a_deleted_root_keep_their_location() {
    let mut terraform = Terraform::<FourTierVpc>::new(2);
    terraform.assert_applies(&network(&[])).await;
    let mut of_destroy = Terraform::<FourTierVpc>::new(2);
    of_destroy.assert_applies(&network(&[])).await;

    terraform.account.delete_root_outside();
    terraform.refresh().await;
    of_destroy.account.failing.lock().unwrap().push("eip.0".into());
    of_destroy.account.failing.lock().unwrap().push("vpc".into());
    assert!(of_destroy.destroy().await.has_errors());
    of_destroy.account.delete_root_outside();
    of_destroy.refresh().await;
    for mut terraform in [terraform, of_destroy] {
        let left: Vec<&String> = terraform.state.get("aws_objects").as_map().unwrap().keys().collect();
        assert_eq!(left, ["eip.0"]);
        terraform.connect_to("210987654321");
        let request = ReadRequest { state: terraform.state.clone(), private: terraform.private.clone() };
        let read = terraform.resource.read(request).await;
        assert!(read.diagnostics.has_errors() && read.state == terraform.state, "{:?}", read.diagnostics);
    }
}

#[tokio::test(start_paused = true)]
async fn a_generated_configuration_names_only_another_region() {
    let mut terraform = Terraform::<FourTierVpc>::new(2);
    terraform.assert_applies(&network(&[])).await;
    let region =
        |terraform: &Terraform<FourTierVpc>| terraform.resource.configuration(&terraform.state).get("region").clone();
    assert_eq!(region(&terraform), Value::Null);
    terraform.move_provider();
    assert_eq!(region(&terraform), "us-east-1".into());
    // The command for the shell is not connected.
    terraform.resource = Composite::new(Connection::default());
    assert_eq!(region(&terraform), Value::Null);
}
