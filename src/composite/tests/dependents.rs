//! What others keep in a network, as plans and failures tell it.

use super::*;
use crate::plugin::Diagnostic;

impl<P: Topology> Terraform<P> {
    async fn plan_of_destroy(&self, connection: Option<Connection>) -> Vec<Diagnostic> {
        let request = PlanRequest {
            prior: self.state.clone(),
            proposed: Value::Null,
            config: Value::Null,
            prior_private: self.private.clone(),
            stop: self.stop.clone(),
        };
        let plan = match connection {
            None => self.resource.plan(request).await,
            Some(connection) => Composite::<P>::new(connection).plan(request).await,
        };
        assert_eq!(plan.planned, Value::Null);
        assert!(!plan.diagnostics.has_errors(), "{:?}", plan.diagnostics);
        plan.diagnostics.0
    }

    fn use_subnet(&self, slot: &str) {
        self.account.in_use.lock().unwrap().push(slot.into());
    }
}

fn blocks(entries: &[(&str, &str)]) -> Value {
    Value::map(entries.iter().map(|(key, block)| (*key, Value::from(*block))))
}

const INTERFACE: &str = "network interface eni-subnet.private_app.0 \"AWS Lambda VPC ENI-shop\" (type lambda, account \
                         123456789012)";

#[tokio::test(start_paused = true)]
async fn a_plan_and_an_apply_name_what_others_have_in_the_subnets_that_are_deleted() {
    let mut terraform = Terraform::<FourTierVpc>::new(2);
    terraform.assert_applies(&network(&[])).await;
    terraform.use_subnet("subnet.private_app.0");
    let without = network(&[("create_private_app_subnets", false.into())]);
    let plan = terraform.plan(&without).await;
    let warning = &plan.diagnostics.0[0];
    assert_eq!(warning.summary, "The update of fgw_four_tier_vpc \"main\" deletes 8 AWS objects");
    let id = terraform.state.get("aws_objects").get("subnet.private_app.0").as_str().unwrap().to_string();
    let line = format!("  deleted: subnet.private_app.0 ({id}), with 1 network interface in it:\n      {INTERFACE}\n");
    assert!(warning.detail.contains(&line), "{}", warning.detail);
    assert!(warning.detail.contains("the attribute pending_deletion"), "{}", warning.detail);
    let diagnostics = terraform.apply(&without).await;
    let leaving = diagnostics.0.iter().find(|it| it.summary.starts_with("subnet.private_app.0 is still in use"));
    assert!(leaving.is_some_and(|it| it.detail.contains(INTERFACE)), "{diagnostics:?}");
}

#[tokio::test(start_paused = true)]
async fn a_plan_without_permission_to_look_says_so_and_goes_on() {
    let mut terraform = Terraform::<FourTierVpc>::new(2);
    terraform.assert_applies(&network(&[])).await;
    *terraform.account.hides_obstacles.lock().unwrap() = true;
    let without = network(&[("create_private_app_subnets", false.into())]);
    let plan = terraform.plan(&without).await;
    let [warning] = &plan.diagnostics.0[..] else { panic!("{:?}", plan.diagnostics) };
    assert!(
        warning.detail.contains("could not be looked up: DescribeNetworkInterfaces: not authorized"),
        "{warning:?}"
    );
    terraform.assert_applies(&without).await;
    let warnings = terraform.plan_of_destroy(None).await;
    let summary = "What others keep in fgw_four_tier_vpc \"main\" could not be looked up";
    assert!(warnings.iter().any(|it| it.summary == summary && it.detail.contains("lack a permission")), "{warnings:?}");
}

#[tokio::test(start_paused = true)]
async fn a_subnet_that_others_use_is_not_exchanged_for_one_that_overlaps_it() {
    let mut terraform = Terraform::<FourTierVpc>::new(2);
    terraform.assert_applies(&network(&[])).await;
    let moved = |block: &str| network(&[("private_app_subnet_cidr_blocks", blocks(&[("AZ-0", block)]))]);
    assert!(!terraform.plan(&moved("10.0.82.0/24")).await.diagnostics.has_errors(), "nobody uses the old one");
    terraform.use_subnet("subnet.private_app.0");
    let plan = terraform.plan(&moved("10.0.82.0/24")).await;
    let error = plan.diagnostics.0.iter().find(|it| it.summary.contains("would have to wait for")).expect("an error");
    for text in ["10.0.82.0/24", "10.0.80.0/21", INTERFACE, "choose a block", "empty the old subnet"] {
        assert!(error.detail.contains(text), "{text}: {}", error.detail);
    }
    assert!(plan.diagnostics.has_errors());
    assert!(!terraform.plan(&moved("10.0.240.0/24")).await.diagnostics.has_errors(), "a free block is made first");
}

#[tokio::test(start_paused = true)]
async fn the_plan_of_a_destroy_names_what_others_keep_and_needs_no_connection() {
    let mut terraform = Terraform::<FourTierVpc>::new(2);
    terraform.assert_applies(&network(&[])).await;
    let [addresses] = &terraform.plan_of_destroy(None).await[..] else { panic!("one warning") };
    let inventory = inventory(&terraform.private);
    let summary = format!("Destroying fgw_four_tier_vpc \"main\" deletes {} AWS objects", inventory.entries.len());
    assert_eq!(addresses.summary, summary);
    for entry in &inventory.entries {
        assert!(addresses.detail.contains(&format!("\n  {} ({})", entry.key, entry.id)), "{}", addresses.detail);
    }
    let (address, _) = addresses.detail.split_once("These go with").expect("two parts");
    assert!(
        address.contains("eip.0 (") && address.contains("the public address") && !address.contains("subnet"),
        "{address}"
    );
    assert!(!addresses.detail.contains("could not be looked up"), "{}", addresses.detail);
    terraform.use_subnet("subnet.private_app.0");
    let warnings = terraform.plan_of_destroy(None).await;
    assert_eq!(warnings[1].summary, "Others keep 1 object in fgw_four_tier_vpc \"main\", which is to be destroyed");
    assert!(warnings[1].detail.contains(INTERFACE), "{}", warnings[1].detail);
    let unknown = Connection::default();
    unknown.set(Connected::Unknown);
    let [addresses] = &terraform.plan_of_destroy(Some(unknown)).await[..] else { panic!("one warning") };
    assert!(addresses.detail.contains("the provider configuration is not known yet"), "{}", addresses.detail);
    // Private state is a cache: without it our own objects are found before others are looked for.
    terraform.private = Vec::new();
    assert_eq!(terraform.plan_of_destroy(None).await[1], warnings[1]);
}

#[tokio::test(start_paused = true)]
async fn the_plan_of_a_replacement_names_what_goes_and_what_others_keep() {
    let mut terraform = Terraform::<FourTierVpc>::new(2);
    terraform.assert_applies(&network(&[])).await;
    terraform.use_subnet("subnet.private_app.0");
    let plan = terraform.plan(&network(&[("cidr_block", "10.1.0.0/16".into())])).await;
    let said = |summary: &str| {
        let found = plan.diagnostics.0.iter().find(|it| it.summary.starts_with(summary));
        found.unwrap_or_else(|| panic!("{summary}: {:?}", plan.diagnostics)).detail.clone()
    };
    let gone = said("Replacing fgw_four_tier_vpc \"main\" deletes");
    for text in ["  eip.0 (", "the public address", "  vpc (", "  subnet.public.1 ("] {
        assert!(gone.contains(text), "{text}: {gone}");
    }
    assert!(said("Others keep 1 object in").contains(INTERFACE));
}

#[tokio::test(start_paused = true)]
async fn a_destroy_that_fails_names_what_is_in_the_way_of_which_object() {
    let mut terraform = Terraform::<FourTierVpc>::new(2);
    terraform.assert_applies(&network(&[])).await;
    terraform.use_subnet("subnet.private_app.0");
    terraform.use_subnet("subnet.public.1");
    let diagnostics = terraform.destroy().await;
    let of = |slot: &str| {
        let summary = format!("Deleting subnet {slot} failed");
        diagnostics.0.iter().find(|it| it.summary == summary).expect("it failed").detail.clone()
    };
    let detail = of("subnet.private_app.0");
    assert!(detail.contains(&format!("In its way:\n  {INTERFACE}")), "{detail}");
    assert!(
        !detail.contains("eni-subnet.public.1") && of("subnet.public.1").contains("eni-subnet.public.1"),
        "{detail}"
    );
}

#[tokio::test(start_paused = true)]
async fn the_plan_of_a_destroy_names_what_others_keep_in_an_api_as_it_goes_along() {
    let mut terraform = Terraform::<HttpGateway>::new(0);
    terraform.assert_applies(&gateway(&[("GET /a", route("a", None))], &[], &[])).await;
    let [ours] = &terraform.plan_of_destroy(None).await[..] else { panic!("one warning") };
    assert!(ours.summary.ends_with("deletes 5 AWS objects") && ours.detail.contains("\n  route.GET /a ("), "{ours:?}");
    terraform.account.foreign_routes.lock().unwrap().push("r9".into());
    let [_, warning] = &terraform.plan_of_destroy(None).await[..] else { panic!("two warnings") };
    assert_eq!(warning.summary, "Others keep 1 object in fgw_http_gateway \"front\", which is to be destroyed");
    assert!(warning.detail.contains("along with") && !warning.detail.contains("refuses"), "{}", warning.detail);
    assert!(warning.detail.contains("  route r9 \"GET /theirs\""), "{}", warning.detail);
}

#[tokio::test(start_paused = true)]
async fn the_plan_of_a_destroy_without_private_state_names_what_the_destroy_finds() {
    let mut terraform = Terraform::<HttpGateway>::new(0);
    let logged = [("access_log_logservice_group_name", Value::from("logs"))];
    terraform.assert_applies(&gateway(&[("GET /a", route("a", None))], &[], &logged)).await;
    // Nothing but the stage leads to the log group.
    terraform.account.lose("stage");
    terraform.private = Vec::new();
    let warnings = terraform.plan_of_destroy(None).await;
    assert!(warnings[0].detail.contains("  log_group (logs), its log events are lost"), "{warnings:?}");
}
