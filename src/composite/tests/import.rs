//! What an import brings, and what the plan after it shows.

use proptest::prelude::*;

use super::properties::some_network;
use super::*;
use crate::plugin::Nested;

/// Forgets a network or gateway and imports it, as `terraform state rm` and `terraform import` do.
pub(super) async fn reimport<P: Topology>(terraform: &mut Terraform<P>) {
    let id = terraform.state.get("id").as_str().unwrap().to_string();
    import(terraform, &id).await;
}

async fn import<P: Topology>(terraform: &mut Terraform<P>, id: &str) {
    terraform.account.take_calls();
    let imported = terraform.resource.import(id).await;
    assert_eq!(imported.diagnostics, Diagnostics::default());
    terraform.state = imported.state.expect("it was found");
    terraform.private = imported.private;
    assert_conforms(&terraform.state, &terraform.kind, "state");
    let before = terraform.state.clone();
    terraform.refresh().await;
    assert!(terraform.state == before, "Terraform reads right after an import");
}

/// The inputs that `terraform plan -generate-config-out` writes.
fn generated<P: Topology>(state: &Value) -> Value {
    let names = P::Config::attributes().into_iter().map(|attribute| attribute.name);
    Value::map(names.map(|name| (name.clone(), state.get(&name).clone())))
}

/// Asserts that the configuration and the generated one plan nothing, and that nothing in AWS is touched.
pub(super) async fn assert_imports_quietly<P: Topology>(terraform: &mut Terraform<P>, config: &Value) {
    reimport(terraform).await;
    terraform.assert_quiet(config).await;
    let generated = generated::<P>(&terraform.state);
    let problems = terraform.resource.validate(&terraform.config(&generated));
    assert!(!problems.has_errors(), "{problems:?}");
    terraform.assert_quiet(&generated).await;
    assert_eq!(terraform.account.take_calls(), Vec::<String>::new(), "an import and its plan change nothing in AWS");
}

fn entries(pairs: &[(&str, &str)]) -> Value {
    Value::map(pairs.iter().map(|(key, value)| (*key, Value::from(*value))))
}

#[tokio::test(start_paused = true)]
async fn what_placed_subnets_and_how_tags_were_spread_need_not_be_known() {
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
async fn a_network_that_is_made_with_another_spacing_than_configured_stays_where_it_is() {
    let mut terraform = Terraform::<FourTierVpc>::new(2);
    terraform.assert_applies(&network(&[("private_subnet_spacing", 20.into())])).await;
    assert_imports_quietly(&mut terraform, &network(&[])).await;
}

#[tokio::test(start_paused = true)]
async fn bits_that_no_subnet_of_the_tier_has_move_the_tier_and_nobody_else() {
    let mut terraform = Terraform::<FourTierVpc>::new(2);
    terraform.assert_applies(&network(&[])).await;
    reimport(&mut terraform).await;
    let config = network(&[("private_subnet_bits", 6.into())]);
    terraform.assert_applies(&config).await;
    let mut made: Vec<String> = terraform.account.take_calls();
    made.retain(|call| call.contains(" subnet."));
    made.sort();
    assert_eq!(
        made,
        [
            "create subnet.private_app.0",
            "create subnet.private_app.1",
            "delete subnet.private_app.0",
            "delete subnet.private_app.1"
        ]
    );
}

#[tokio::test(start_paused = true)]
async fn a_change_after_an_import_moves_nobody_and_leaves_nothing_to_do() {
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
async fn an_input_that_cannot_be_read_back_shows_once() {
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
    assert_eq!(*terraform.state.get("subnet_spacing"), 11.into(), "what is applied is as configured");
}

#[tokio::test(start_paused = true)]
async fn a_creation_that_was_cut_off_is_imported_and_finished() {
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

#[tokio::test(start_paused = true)]
async fn a_network_that_this_provider_did_not_make_is_refused() {
    let mut terraform = Terraform::<FourTierVpc>::new(1);
    terraform.assert_applies(&network(&[])).await;
    terraform.account.damage("vpc", |spec| {
        let Spec::Vpc(vpc) = spec else { unreachable!() };
        vpc.name = Input::Known(String::new());
    });
    let imported = terraform.resource.import("vpc-1").await;
    assert!(imported.state.is_none());
    let error = &imported.diagnostics.0[0];
    assert_eq!(error.summary, "vpc-1 was not made by fgw_four_tier_vpc");
    assert!(error.detail.contains("fgw:resource = \"four_tier_vpc/<name>\""), "{}", error.detail);
}

/// AWS does not tell the pool, so that its id shows once.
fn some_network_of_a_given_range() -> impl Strategy<Value = Value> {
    some_network().prop_map(|mut config| {
        config.set("ipv4_ipam_pool_id", Value::Null);
        config.set("cidr_block", "10.0.0.0/16".into());
        config
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn the_plan_after_any_import_is_empty(configs in proptest::collection::vec(some_network_of_a_given_range(), 1..3)) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build().unwrap();
        runtime.block_on(async {
            let mut terraform = Terraform::<FourTierVpc>::new(3);
            for (number, config) in configs.iter().enumerate() {
                let mut config = config.clone();
                if number + 1 < configs.len() {
                    // A block that an entry gave and that stayed without it looks like one that other bits gave.
                    config.set("public_subnet_cidr_blocks", Value::Null);
                }
                let config = &config;
                let plan = terraform.plan(config).await;
                let invalid = terraform.resource.validate(&terraform.config(config)).has_errors();
                if !invalid && !plan.diagnostics.has_errors() {
                    terraform.assert_applies(config).await;
                    // Without a subnet nothing tells how many AZs there should be.
                    if terraform.account.slots().iter().any(|slot| slot.starts_with("subnet.")) {
                        assert_imports_quietly(&mut terraform, config).await;
                    }
                }
            }
        });
    }
}

#[tokio::test(start_paused = true)]
async fn patterns_and_limits_that_change_after_an_import_show() {
    let mut terraform = Terraform::<FourTierVpc>::new(1);
    terraform.assert_applies(&network(&[])).await;
    reimport(&mut terraform).await;
    terraform.assert_applies(&network(&[("ignore_drift", vec!["eip.0"].into())])).await;
    let other = network(&[("ignore_drift", vec!["vpc"].into()), ("route_table_deletion_timeout", "1h".into())]);
    terraform.assert_applies(&other).await;
    assert_eq!(*terraform.state.get("ignore_drift"), vec!["vpc"].into());
    assert_eq!(*terraform.state.get("route_table_deletion_timeout"), "1h".into());
    assert_eq!(terraform.account.take_calls(), Vec::<String>::new());
}
