//! Unmanaged objects in a topology, as plans and failures report them.

use super::*;
use crate::plugin::Diagnostic;

impl<P: Topology> Terraform<P> {
    async fn plan_destroy(&self, connection: Option<Connection>) -> Vec<Diagnostic> {
        let request = self.destroy_request();
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
async fn unmanaged_objects_in_deleted_subnets_are_reported() {
    let mut terraform = Terraform::<FourTierVpc>::new(2);
    terraform.assert_applies(&network(&[])).await;
    terraform.use_subnet("subnet.private_app.0");
    let without = network(&[("create_private_app_subnets", false.into())]);
    let plan = terraform.plan(&without).await;
    let warning = &plan.diagnostics.0[0];
    assert_eq!(warning.summary, "Updating fgw_four_tier_vpc \"main\" deletes 8 AWS objects");
    let id = terraform.state.get("aws_objects").get("subnet.private_app.0").as_str().unwrap().to_string();
    let line = format!("  deleted: subnet.private_app.0 ({id}), contains 1 network interface:\n      {INTERFACE}\n");
    assert!(warning.detail.contains(&line), "{}", warning.detail);
    assert!(warning.detail.contains("the attribute pending_deletion"), "{}", warning.detail);
    let diagnostics = terraform.apply(&without).await;
    let pending = diagnostics.0.iter().find(|it| it.summary.starts_with("subnet.private_app.0 is still in use"));
    assert!(pending.is_some_and(|it| it.detail.contains(INTERFACE)), "{diagnostics:?}");
}

#[tokio::test(start_paused = true)]
async fn interfaces_in_a_group_that_gets_no_rules_are_reported() {
    let mut terraform = Terraform::<FourTierVpc>::new(2);
    let restricted = network(&[("restrict_default_security_group", true.into())]);
    assert_eq!(terraform.plan(&restricted).await.diagnostics, Diagnostics::default(), "a new network has none");
    terraform.assert_applies(&network(&[])).await;
    assert_eq!(terraform.plan(&restricted).await.diagnostics, Diagnostics::default());
    terraform.use_subnet("default_security_group");
    let plan = terraform.plan(&restricted).await;
    let [warning] = &plan.diagnostics.0[..] else { panic!("{:?}", plan.diagnostics) };
    assert_eq!(warning.summary, "Updating fgw_four_tier_vpc \"main\" cuts off 1 network interface");
    assert!(warning.detail.contains("eni-default_security_group"), "{}", warning.detail);
    terraform.assert_applies(&restricted).await;
    // The interfaces have lost their traffic already.
    assert_eq!(terraform.plan(&restricted).await.diagnostics, Diagnostics::default());
    terraform.account.in_use.lock().unwrap().clear();
    terraform.refresh().await;
    terraform.assert_applies(&network(&[])).await;
}

#[tokio::test(start_paused = true)]
async fn a_missing_list_permission_is_only_a_warning() {
    let mut terraform = Terraform::<FourTierVpc>::new(2);
    terraform.assert_applies(&network(&[])).await;
    *terraform.account.dependents_failure.lock().unwrap() = Some(Cause::Denied);
    let without = network(&[("create_private_app_subnets", false.into())]);
    let plan = terraform.plan(&without).await;
    let [warning] = &plan.diagnostics.0[..] else { panic!("{:?}", plan.diagnostics) };
    let text = "The list of network interfaces may be incomplete. DescribeNetworkInterfaces: not authorized";
    assert!(warning.detail.contains(text), "{warning:?}");
    terraform.assert_applies(&without).await;
    let warnings = terraform.plan_destroy(None).await;
    let summary = "Could not list unmanaged objects in fgw_four_tier_vpc \"main\"";
    let warning = warnings.iter().find(|it| it.summary == summary);
    assert!(warning.is_some_and(|it| it.detail.contains("do not allow this call")), "{warnings:?}");
}

#[tokio::test(start_paused = true)]
async fn a_subnet_in_use_is_not_replaced_by_an_overlapping_one() {
    let mut terraform = Terraform::<FourTierVpc>::new(2);
    terraform.assert_applies(&network(&[])).await;
    let moved = |block: &str| network(&[("private_app_subnet_cidr_blocks", blocks(&[("AZ-0", block)]))]);
    assert!(!terraform.plan(&moved("10.0.82.0/24")).await.diagnostics.has_errors(), "the old subnet is not in use");
    terraform.use_subnet("subnet.private_app.0");
    let plan = terraform.plan(&moved("10.0.82.0/24")).await;
    let error = plan.diagnostics.0.iter().find(|it| it.summary.contains("overlaps a subnet in use")).expect("an error");
    for text in ["10.0.82.0/24", "10.0.80.0/21", INTERFACE, "Choose a block", "delete the interfaces"] {
        assert!(error.detail.contains(text), "{text}: {}", error.detail);
    }
    assert!(plan.diagnostics.has_errors());
    assert!(!terraform.plan(&moved("10.0.240.0/24")).await.diagnostics.has_errors(), "its subnet is created first");
}

#[tokio::test(start_paused = true)]
async fn the_plan_of_a_destroy_lists_managed_and_unmanaged_objects() {
    let mut terraform = Terraform::<FourTierVpc>::new(2);
    terraform.assert_applies(&network(&[])).await;
    let [addresses] = &terraform.plan_destroy(None).await[..] else { panic!("one warning") };
    let inventory = inventory(&terraform.private);
    let summary = format!("Destroying fgw_four_tier_vpc \"main\" deletes {} AWS objects", inventory.entries.len());
    assert_eq!(addresses.summary, summary);
    for entry in &inventory.entries {
        assert!(addresses.detail.contains(&format!("\n  {} ({})", entry.key, entry.id)), "{}", addresses.detail);
    }
    let (address, _) = addresses.detail.split_once("These are deleted with").expect("two parts");
    assert!(
        address.contains("eip.0 (") && address.contains("the public address") && !address.contains("subnet"),
        "{address}"
    );
    assert!(!addresses.detail.contains("could not be listed"), "{}", addresses.detail);
    terraform.use_subnet("subnet.private_app.0");
    let warnings = terraform.plan_destroy(None).await;
    assert_eq!(warnings[1].summary, "fgw_four_tier_vpc \"main\" to be destroyed contains 1 unmanaged object");
    assert!(warnings[1].detail.contains(INTERFACE), "{}", warnings[1].detail);
    let unknown = Connection::default();
    unknown.set(Connected::Unknown(TagSettings::default()));
    let [addresses] = &terraform.plan_destroy(Some(unknown)).await[..] else { panic!("one warning") };
    assert!(addresses.detail.contains("the provider configuration is not known yet"), "{}", addresses.detail);
    // Without private state, the managed objects are read before the unmanaged ones are listed.
    terraform.private = Vec::new();
    assert_eq!(terraform.plan_destroy(None).await[1], warnings[1]);
}

#[tokio::test(start_paused = true)]
async fn a_replacement_plan_lists_managed_and_unmanaged_objects() {
    let mut terraform = Terraform::<FourTierVpc>::new(2);
    terraform.assert_applies(&network(&[])).await;
    terraform.use_subnet("subnet.private_app.0");
    let by_argument = terraform.plan(&network(&[("cidr_block", "10.1.0.0/16".into())])).await;
    let requested = terraform.plan_requested_replacement(&network(&[])).await;
    for plan in [by_argument, requested] {
        let detail = |summary: &str| {
            let found = plan.diagnostics.0.iter().find(|it| it.summary.starts_with(summary));
            found.unwrap_or_else(|| panic!("{summary}: {:?}", plan.diagnostics)).detail.clone()
        };
        let deleted = detail("Replacing fgw_four_tier_vpc \"main\" deletes");
        for text in ["  eip.0 (", "the public address", "  vpc (", "  subnet.public.1 ("] {
            assert!(deleted.contains(text), "{text}: {deleted}");
        }
        assert!(detail("fgw_four_tier_vpc \"main\" to be destroyed contains 1 unmanaged object").contains(INTERFACE));
    }
}

/// Plans the replacement of a tainted resource as core does: as a create, with nothing of the old one.
async fn plan_of_tainted(terraform: &mut Terraform<FourTierVpc>) -> PlanResponse {
    let plan = terraform.plan_successor(&network(&[]), Vec::new()).await;
    assert!(!plan.diagnostics.has_errors(), "{:?}", plan.diagnostics);
    plan
}

#[tokio::test(start_paused = true)]
async fn the_plan_of_a_tainted_resource_lists_what_it_deletes() {
    const DELETES: &str = "Replacing fgw_four_tier_vpc \"main\" deletes";
    const UNREAD: &str = "Could not list what a replacement of fgw_four_tier_vpc \"main\" deletes";
    let mut terraform = Terraform::<FourTierVpc>::new(2);
    terraform.assert_applies(&network(&[])).await;
    terraform.use_subnet("subnet.private_app.0");
    terraform.begin_process();
    terraform.resource.note_state(&terraform.state.clone());
    let plan = plan_of_tainted(&mut terraform).await;
    assert!(
        plan.diagnostics.0.iter().any(|it| it.summary == UNREAD && it.detail.contains("vpc-")),
        "{:?}",
        plan.diagnostics
    );

    terraform.refresh().await;
    let plan = plan_of_tainted(&mut terraform).await;
    let deleted = plan.diagnostics.0.iter().find(|it| it.summary.starts_with(DELETES)).expect("a warning");
    for text in ["tainted", "  eip.0 (", "the public address", "  vpc (", "  subnet.public.1 ("] {
        assert!(deleted.detail.contains(text), "{text}: {deleted:?}");
    }
    let unmanaged = "fgw_four_tier_vpc \"main\" to be destroyed contains 1 unmanaged object";
    assert!(plan.diagnostics.0.iter().any(|it| it.summary == unmanaged), "{:?}", plan.diagnostics);

    // The plan of another resource with the same name is no replacement of one that has a plan of its own.
    terraform.plan(&network(&[])).await;
    let plan = plan_of_tainted(&mut terraform).await;
    assert!(!plan.diagnostics.0.iter().any(|it| it.summary.starts_with(DELETES)), "{:?}", plan.diagnostics);

    // The apply destroys it before it plans the create again.
    let mut terraform = Terraform::<FourTierVpc>::new(2);
    terraform.assert_applies(&network(&[])).await;
    terraform.begin_process();
    terraform.refresh().await;
    assert!(!terraform.destroy().await.has_errors());
    let plan = plan_of_tainted(&mut terraform).await;
    assert!(
        !plan.diagnostics.0.iter().any(|it| it.summary.starts_with(DELETES) || it.summary == UNREAD),
        "{:?}",
        plan.diagnostics
    );
}

#[tokio::test(start_paused = true)]
async fn a_refused_destroy_lists_all_dependents() {
    let mut terraform = Terraform::<FourTierVpc>::new(2);
    terraform.assert_applies(&network(&[])).await;
    terraform.use_subnet("subnet.private_app.0");
    terraform.use_subnet("subnet.public.1");
    let diagnostics = terraform.destroy().await;
    let [error] = &diagnostics.0[..] else { panic!("{diagnostics:?}") };
    for text in [INTERFACE, "network interface eni-subnet.public.1"] {
        assert!(error.detail.contains(text), "{text}: {}", error.detail);
    }
}

#[tokio::test(start_paused = true)]
async fn the_plan_of_a_destroy_lists_unmanaged_routes_as_deleted() {
    let mut terraform = Terraform::<HttpGateway>::new(0);
    terraform.assert_applies(&gateway(&[("GET /a", route("a", None))], &[], &[])).await;
    let [only] = &terraform.plan_destroy(None).await[..] else { panic!("one warning") };
    assert!(only.summary.ends_with("deletes 5 AWS objects") && only.detail.contains("\n  route.GET /a ("), "{only:?}");
    terraform.account.add_unmanaged_route("GET /theirs", None, None);
    let [_, warning] = &terraform.plan_destroy(None).await[..] else { panic!("two warnings") };
    assert_eq!(warning.summary, "fgw_http_gateway \"front\" to be destroyed contains 1 unmanaged object");
    assert!(warning.detail.contains("together with") && !warning.detail.contains("rejects"), "{}", warning.detail);
    assert!(warning.detail.contains("  route id of GET /theirs \"GET /theirs\""), "{}", warning.detail);
}

#[tokio::test(start_paused = true)]
async fn the_plan_of_a_destroy_lists_objects_without_private_state() {
    let mut terraform = Terraform::<HttpGateway>::new(0);
    let logged = [("access_log_logservice_group_name", Value::from("logs"))];
    terraform.assert_applies(&gateway(&[("GET /a", route("a", None))], &[], &logged)).await;
    // Only the stage refers to the log group.
    terraform.account.delete_outside("stage");
    terraform.private = Vec::new();
    let warnings = terraform.plan_destroy(None).await;
    assert!(warnings[0].detail.contains("  log_group (logs), its log events are lost"), "{warnings:?}");
}

/// A network in which the endpoint of GuardDuty has an interface in a private app subnet.
async fn monitored(delete_guardduty_resources: bool) -> (Terraform<FourTierVpc>, Value) {
    let mut terraform = Terraform::<FourTierVpc>::new(2);
    let attributes = [("delete_guardduty_resources", delete_guardduty_resources.into())];
    terraform.assert_applies(&network(&attributes)).await;
    terraform.account.guardduty.lock().unwrap().insert("subnet.private_app.0".into());
    terraform.account.take_calls();
    let [(name, value)] = attributes;
    (terraform, network(&[(name, value), ("create_private_app_subnets", false.into())]))
}

const ENDPOINT: &str = "GuardDuty Runtime Monitoring created an endpoint and its security group (sg-9, vpce-9)";
const INPUT: &str = "Delete them, or set delete_guardduty_resources to true";

#[tokio::test(start_paused = true)]
async fn an_update_keeps_the_endpoint_of_guardduty_by_default() {
    let (mut terraform, without) = monitored(false).await;
    let plan = terraform.plan(&without).await;
    let warning = &plan.diagnostics.0[0].detail;
    assert!(warning.contains(ENDPOINT) && warning.contains(INPUT), "{warning}");
    let diagnostics = terraform.apply(&without).await;
    let pending = diagnostics.0.iter().find(|it| it.summary.starts_with("subnet.private_app.0 is still in use"));
    let pending = &pending.expect("the subnet is pending").detail;
    assert!(pending.contains(ENDPOINT) && pending.contains(INPUT), "{pending}");
    assert!(terraform.state.get("pending_deletion").get("subnet.private_app.0").as_str().is_some());
}

#[tokio::test(start_paused = true)]
async fn an_update_removes_its_subnets_from_the_endpoint_of_guardduty() {
    let (mut terraform, without) = monitored(true).await;
    let plan = terraform.plan(&without).await;
    let warning = &plan.diagnostics.0[0].detail;
    assert!(warning.contains(ENDPOINT) && warning.contains("the update removes it from the endpoint"), "{warning}");
    assert!(!warning.contains(INPUT), "{warning}");
    terraform.assert_applies(&without).await;
    let removal = "remove the endpoint of GuardDuty from subnet.private_app.0";
    assert!(terraform.account.take_calls().iter().any(|call| call == removal));
}

#[tokio::test(start_paused = true)]
async fn interfaces_of_guardduty_are_no_overlap_if_they_are_removed() {
    for remove in [false, true] {
        let (terraform, _) = monitored(remove).await;
        let moved = network(&[
            ("delete_guardduty_resources", remove.into()),
            ("private_app_subnet_cidr_blocks", blocks(&[("AZ-0", "10.0.82.0/24")])),
        ]);
        let plan = terraform.plan(&moved).await;
        let is_rejected = plan.diagnostics.0.iter().any(|it| it.summary.contains("overlaps a subnet in use"));
        assert_eq!(is_rejected, !remove, "{:?}", plan.diagnostics);
    }
}

#[tokio::test(start_paused = true)]
async fn a_destroy_names_the_objects_of_guardduty_by_default() {
    let (mut terraform, _) = monitored(false).await;
    let warnings = terraform.plan_destroy(None).await;
    let warning = &warnings[1].detail;
    assert!(warning.contains("vpce-9") && warning.contains(ENDPOINT) && warning.contains(INPUT), "{warning}");
    let diagnostics = terraform.destroy().await;
    let error = diagnostics.0.iter().find(|it| it.summary.ends_with(": in use"));
    let error = &error.expect("nothing was deleted").detail;
    assert!(error.contains(ENDPOINT) && error.contains(INPUT), "{error}");
}

#[tokio::test(start_paused = true)]
async fn a_destroy_deletes_the_objects_of_guardduty_if_set() {
    let (mut terraform, _) = monitored(true).await;
    terraform.account.guardduty.lock().unwrap().insert("subnet.public.1".into());
    let warnings = terraform.plan_destroy(None).await;
    let warning = &warnings[1].detail;
    assert!(warning.contains(ENDPOINT) && warning.contains("The destroy deletes the endpoint"), "{warning}");
    let diagnostics = terraform.destroy().await;
    assert!(!diagnostics.has_errors() && terraform.state.is_null(), "{diagnostics:?}");
    let calls = terraform.account.take_calls();
    assert_eq!(calls.iter().filter(|call| *call == "delete the endpoint of GuardDuty").count(), 1);
}
