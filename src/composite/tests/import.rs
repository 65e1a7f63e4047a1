//! Imports of networks and the plans after them.

use proptest::prelude::*;

use super::properties::some_basic_network;
use super::*;
use crate::plugin::{Diagnostic, Nested};

/// Removes a topology from state and imports it, as `terraform state rm` and `terraform import` do.
pub(super) async fn reimport<P: Topology>(terraform: &mut Terraform<P>) {
    let id = terraform.state.get("id").as_str().unwrap().to_string();
    import(terraform, &id).await;
}

pub(super) async fn import<P: Topology>(terraform: &mut Terraform<P>, id: &str) {
    terraform.account.take_calls();
    let imported = terraform.resource.import(ImportTarget::Id(id.to_string())).await;
    let lists_objects = |it: &Diagnostic| it.summary.ends_with("objects found by their tags");
    assert!(!imported.diagnostics.has_errors() && imported.diagnostics.0.iter().all(lists_objects));
    terraform.state = imported.state.expect("the topology is found");
    terraform.private = imported.private;
    assert_conforms(&terraform.state, &terraform.kind, "state");
    let before = terraform.state.clone();
    terraform.refresh().await;
    assert!(terraform.state == before, "Terraform reads right after an import");
}

/// The configuration that `terraform plan -generate-config-out` writes before Terraform 1.14, and that of OpenTofu.
fn generated<P: Topology>(state: &Value) -> Value {
    let names = P::Config::attributes().into_iter().map(|attribute| attribute.name);
    Value::map(names.map(|name| (name.clone(), state.get(&name).clone())))
}

/// Inputs that no object shows, or that an import expresses by other ones. Terraform shows them in the first plan.
const ONLY_RECORDED: [&str; 5] = [
    "access_log_logservice_group_skip_destroy",
    "default_authorization_scopes",
    "default_authorizer_name",
    "flow_logs",
    // Public routes state their type if there is a default authorizer.
    "route_config",
];

/// Asserts that after an import the plans of this configuration and of the generated one are empty but for inputs that
/// are only recorded, and that nothing in AWS is changed.
pub(super) async fn assert_imports_quietly<P: Topology>(terraform: &mut Terraform<P>, config: &Value) {
    let log_groups = |terraform: &Terraform<P>| {
        let entries = inventory(&terraform.private).entries.into_iter();
        entries.map(|entry| entry.applied).filter(|spec| matches!(spec, Spec::LogGroup(_))).collect::<Vec<_>>()
    };
    let before = log_groups(terraform);
    reimport(terraform).await;
    let plan = terraform.plan(config).await;
    // An import finds an authorizer under its name in AWS, which may be that of an earlier key.
    let is_renamed = plan.diagnostics.0.iter().any(|it| it.summary.ends_with(" keeps objects under other keys"));
    let planned = plan.planned.as_map().expect("a state is an object").iter();
    let recorded: Vec<&str> =
        planned.filter(|(name, value)| terraform.state.get(name) != *value).map(|(name, _)| name.as_str()).collect();
    let is_quiet = is_renamed || recorded.iter().all(|name| ONLY_RECORDED.contains(name));
    assert!(is_quiet, "{}", differing(&terraform.state, &plan.planned));
    let is_said = plan.diagnostics.0.iter().any(|it| it.summary.ends_with("changes nothing in AWS"));
    assert_eq!(is_said, !recorded.is_empty() && !is_renamed, "{recorded:?}");
    terraform.assert_applies(config).await;
    assert_eq!(log_groups(terraform), before, "a destroy keeps the same log groups");
    reimport(terraform).await;
    let generated = generated::<P>(&terraform.state);
    let problems = terraform.resource.validate(&terraform.config(&generated));
    assert!(!problems.has_errors(), "{problems:?}");
    terraform.assert_quiet(&generated).await;
    super::generate::assert_generates_quietly(terraform).await;
    // The import keeps log groups, which the first apply of the configuration ends.
    terraform.assert_applies(config).await;
    assert_eq!(log_groups(terraform), before);
    assert_eq!(terraform.account.take_calls(), Vec::<String>::new(), "an import and its plan change nothing in AWS");
}

fn entries(pairs: &[(&str, &str)]) -> Value {
    Value::map(pairs.iter().map(|(key, value)| (*key, Value::from(*value))))
}

/// Whether the next configuration leaves out what an update after an import does not remove, because no record shows
/// who has set it: rules of default objects, and tags of endpoints.
fn forgets_found(config: &Value, next: &Value) -> bool {
    let endpoints = |config: &Value| config.get("interface_endpoints").as_map().cloned().unwrap_or_default();
    let has_lost_tags = endpoints(config)
        .iter()
        .any(|(name, it)| it.get("tags") != next.get("interface_endpoints").get(name).get("tags"));
    let is_on = |config: &Value, name: &str| *config.get(name) == true.into();
    let names = ["apply_default_nacl_rules", "enable_default_security_group"];
    has_lost_tags || names.iter().any(|name| is_on(config, name) && !is_on(next, name))
}

#[tokio::test(start_paused = true)]
async fn default_objects_found_by_their_tags_are_forgotten_and_not_reset() {
    let mut terraform = Terraform::<FourTierVpc>::new(1);
    let default = |is_on: bool| {
        network(&[("apply_default_nacl_rules", is_on.into()), ("enable_default_security_group", is_on.into())])
    };
    terraform.assert_applies(&default(true)).await;
    reimport(&mut terraform).await;
    let plan = terraform.plan(&default(false)).await;
    let forgotten = plan.diagnostics.0.iter().filter(|it| it.summary.ends_with("is not in the configuration"));
    assert_eq!(forgotten.count(), 2, "{:?}", plan.diagnostics);
    terraform.assert_applies(&default(false)).await;
    assert_eq!(terraform.account.take_calls(), [""; 0], "their rules stay");
    assert!(terraform.state.get("aws_objects").get("default_network_acl").is_null());

    // A destroy right after an import leaves them to AWS too.
    terraform.assert_applies(&default(true)).await;
    reimport(&mut terraform).await;
    assert_eq!(terraform.destroy().await, Diagnostics::default());
    let calls = terraform.account.take_calls();
    assert!(!calls.iter().any(|call| call.starts_with("delete default_")), "{calls:?}");
}

#[tokio::test(start_paused = true)]
async fn an_import_counts_the_objects_that_it_finds_by_their_tags() {
    let mut terraform = Terraform::<FourTierVpc>::new(1);
    terraform.assert_applies(&network(&[("num_nat_gateways", 1.into())])).await;
    let id = terraform.state.get("id").as_str().unwrap().to_string();
    let imported = terraform.resource.import(ImportTarget::Id(id.clone())).await;
    let objects = inventory(&terraform.private).entries;
    let tagged = objects.iter().filter(|entry| entry.applied.tags().is_some() && entry.id != id).count();
    let line =
        format!("Found: {tagged}, which aws_objects names. Others can set these tags too: review the next plan.");
    assert_eq!(imported.diagnostics.0[0].detail, line);
    assert!(tagged > 5 && imported.state.unwrap().get("aws_objects") == terraform.state.get("aws_objects"));
}

#[tokio::test(start_paused = true)]
async fn an_import_needs_neither_spacings_nor_tag_maps() {
    let mut terraform = Terraform::<FourTierVpc>::new(3);
    let config = network(&[
        ("subnet_spacing", 12.into()),
        ("num_availability_zones", 2.into()),
        ("persistence_subnet_spacing", 30.into()),
        ("private_app_subnet_cidr_blocks", entries(&[("AZ-1", "10.0.250.0/24")])),
        ("custom_tags", entries(&[("team", "blue"), ("Name", "renamed")])),
        ("vpc_custom_tags", entries(&[("team", "red")])),
        ("public_subnet_custom_tags", entries(&[("kubernetes.io/role/elb", "1")])),
        ("private_app_route_table_custom_tags", entries(&[("routes", "out")])),
        ("nat_gateway_custom_tags", entries(&[("bill", "nat")])),
        ("security_group_tags", entries(&[("closed", "yes")])),
        ("default_security_group_ingress_rules", Value::map::<&str>([])),
    ]);
    terraform.assert_applies(&config).await;
    assert_imports_quietly(&mut terraform, &config).await;
    let state = &terraform.state;
    assert_eq!(*state.get("persistence_subnet_spacing"), 30.into());
    assert_eq!(*state.get("private_subnet_spacing"), 12.into());
    assert_eq!(*state.get("private_app_subnet_cidr_blocks"), entries(&[("AZ-1", "10.0.250.0/24")]));
    assert_eq!(*state.get("custom_tags"), entries(&[("Name", "renamed"), ("team", "blue")]));
    assert_eq!(*state.get("vpc_custom_tags"), entries(&[("team", "red")]));
    assert_eq!(*state.get("nat_gateway_custom_tags"), entries(&[("bill", "nat")]));
}

#[tokio::test(start_paused = true)]
async fn a_network_with_another_spacing_than_configured_stays_in_place() {
    let mut terraform = Terraform::<FourTierVpc>::new(2);
    terraform.assert_applies(&network(&[("private_subnet_spacing", 20.into())])).await;
    assert_imports_quietly(&mut terraform, &network(&[])).await;
}

#[tokio::test(start_paused = true)]
async fn a_change_of_bits_after_an_import_moves_only_its_tier() {
    let mut terraform = Terraform::<FourTierVpc>::new(2);
    terraform.assert_applies(&network(&[])).await;
    reimport(&mut terraform).await;
    let config = network(&[("private_subnet_bits", 6.into())]);
    terraform.assert_applies(&config).await;
    let mut calls: Vec<String> = terraform.account.take_calls();
    calls.retain(|call| call.contains(" subnet."));
    calls.sort();
    assert_eq!(
        calls,
        [
            "create subnet.private_app.0",
            "create subnet.private_app.1",
            "delete subnet.private_app.0",
            "delete subnet.private_app.1"
        ]
    );
}

#[tokio::test(start_paused = true)]
async fn a_failed_update_after_an_import_moves_no_subnets() {
    let mut terraform = Terraform::<FourTierVpc>::new(2);
    terraform.assert_applies(&network(&[("subnet_spacing", 12.into())])).await;
    reimport(&mut terraform).await;
    let config = network(&[("private_subnet_spacing", 15.into()), ("enable_dns_hostnames", false.into())]);
    terraform.account.failing.lock().unwrap().push("vpc".into());
    assert!(terraform.apply(&config).await.has_errors());
    terraform.account.failing.lock().unwrap().clear();
    terraform.refresh().await;
    terraform.assert_applies(&config).await;
    assert_eq!(terraform.account.take_calls(), ["update vpc", "update vpc"]);
}

#[tokio::test(start_paused = true)]
async fn an_input_that_aws_does_not_return_shows_once() {
    let mut terraform = Terraform::<FourTierVpc>::new(1);
    let limits =
        [("create", Value::from("40m")), ("read", Value::Null), ("update", Value::Null), ("delete", Value::Null)];
    let no_rules = ("default_security_group_ingress_rules", Value::map::<&str>([]));
    let config = network(&[("timeouts", Value::map(limits)), no_rules.clone()]);
    terraform.assert_applies(&config).await;
    reimport(&mut terraform).await;
    let plan = terraform.plan(&config).await;
    let mut with_timeouts = terraform.state.clone();
    with_timeouts.set("timeouts", config.get("timeouts").clone());
    assert!(plan.planned == with_timeouts, "{}", differing(&with_timeouts, &plan.planned));
    terraform.assert_applies(&config).await;
    assert_eq!(terraform.account.take_calls(), Vec::<String>::new());
    let quiet = network(&[("timeouts", config.get("timeouts").clone()), ("subnet_spacing", 11.into()), no_rules]);
    terraform.assert_quiet(&quiet).await;
    let mut changed = quiet.clone();
    changed.set("enable_dns_hostnames", false.into());
    terraform.assert_applies(&changed).await;
    assert_eq!(*terraform.state.get("subnet_spacing"), 11.into(), "an applied input is as configured");
}

#[tokio::test(start_paused = true)]
async fn an_incomplete_network_is_imported_and_completed() {
    let mut terraform = Terraform::<FourTierVpc>::new(2);
    let config = network(&[]);
    terraform.account.failing.lock().unwrap().extend(["nat_gateway.0".into(), "subnet.private_app.1".into()]);
    assert!(terraform.apply(&config).await.has_errors());
    terraform.account.failing.lock().unwrap().clear();
    reimport(&mut terraform).await;
    terraform.assert_applies(&config).await;
    let calls = terraform.account.take_calls();
    assert!(calls.contains(&"create nat_gateway.0".to_string()), "{calls:?}");
    assert!(!calls.iter().any(|call| call.starts_with("delete") || call == "create vpc"), "{calls:?}");
}

/// A random network without an IPAM pool. AWS does not return the id of the pool, so it would show in the first plan.
fn some_network_without_pool() -> impl Strategy<Value = Value> {
    some_basic_network().prop_map(|mut config| {
        config.set("ipv4_ipam_pool_id", Value::Null);
        config.set("cidr_block", "10.0.0.0/16".into());
        config
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn the_plan_after_any_import_is_empty(configs in proptest::collection::vec(some_network_without_pool(), 1..3)) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build().unwrap();
        runtime.block_on(async {
            let mut terraform = Terraform::<FourTierVpc>::new(3);
            for (number, config) in configs.iter().enumerate() {
                let mut config = config.clone();
                if number + 1 < configs.len() {
                    // A block of a removed entry cannot be distinguished from a block of other bits.
                    config.set("public_subnet_cidr_blocks", Value::Null);
                }
                let config = &config;
                let plan = terraform.plan(config).await;
                let invalid = terraform.resource.validate(&terraform.config(config)).has_errors();
                if !invalid && !plan.diagnostics.has_errors() {
                    terraform.assert_applies(config).await;
                    // Without subnets the number of AZs cannot be derived.
                    if terraform.account.slots().iter().any(|slot| slot.starts_with("subnet.")) {
                        let before = (terraform.state.clone(), terraform.private.clone());
                        assert_imports_quietly(&mut terraform, config).await;
                        // After an import, these are unmanaged.
                        if configs.get(number + 1).is_some_and(|next| forgets_found(config, next)) {
                            (terraform.state, terraform.private) = before;
                        }
                    }
                }
            }
        });
    }
}

#[tokio::test(start_paused = true)]
async fn host_names_without_dns_support_are_imported_as_off() {
    let mut terraform = Terraform::<FourTierVpc>::new(1);
    let config = network(&[("enable_dns_support", false.into())]);
    terraform.assert_applies(&config).await;
    assert_eq!(*terraform.state.get("enable_dns_hostnames"), true.into(), "as configured by default");
    assert_imports_quietly(&mut terraform, &config).await;
    terraform.assert_applies(&network(&[])).await;
    assert!(terraform.account.take_calls().contains(&"update vpc".to_string()));
}

#[tokio::test(start_paused = true)]
async fn changed_patterns_and_timeouts_show_after_an_import() {
    let mut terraform = Terraform::<FourTierVpc>::new(1);
    terraform.assert_applies(&network(&[])).await;
    reimport(&mut terraform).await;
    terraform.assert_applies(&network(&[("ignore_drift", vec!["eip.0"].into())])).await;
    let other = network(&[
        ("ignore_drift", vec!["vpc"].into()),
        ("protected_objects", vec!["vpc"].into()),
        ("route_table_deletion_timeout", "1h".into()),
        ("allow_duplicate_name", true.into()),
        ("delete_guardduty_resources", true.into()),
    ]);
    terraform.assert_applies(&other).await;
    assert_eq!(*terraform.state.get("ignore_drift"), vec!["vpc"].into());
    assert_eq!(*terraform.state.get("protected_objects"), vec!["vpc"].into());
    assert_eq!(*terraform.state.get("route_table_deletion_timeout"), "1h".into());
    assert_eq!(*terraform.state.get("delete_guardduty_resources"), true.into());
    assert_eq!(terraform.account.take_calls(), Vec::<String>::new());
}
