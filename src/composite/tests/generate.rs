//! Generated configurations: a plan with them is empty, and they contain nothing that could be omitted.

use std::collections::BTreeSet;

use proptest::prelude::*;

use super::import::{assert_imports_quietly, reimport};
use super::properties::some_network;
use super::*;

/// The inputs of a generated configuration, without those that it omits.
pub(super) fn generated<P: Topology>(terraform: &Terraform<P>) -> Value {
    let config = terraform.resource.configuration(&terraform.state);
    let given = config.as_map().unwrap().iter().filter(|(_, value)| !value.is_null());
    Value::map(given.map(|(name, value)| (name.clone(), value.clone())))
}

fn names(config: &Value) -> BTreeSet<&str> {
    config.as_map().unwrap().keys().map(String::as_str).collect()
}

/// Asserts that the generated configuration is valid and that a plan with it is empty.
pub(super) async fn assert_generates_quietly<P: Topology>(terraform: &mut Terraform<P>) {
    let generated = generated(terraform);
    let Diagnostics(mut problems) = terraform.resource.validate(&terraform.config(&generated));
    // The certificates of the simulated account have short names.
    problems.retain(|it| !it.detail.contains("is not the ARN of an ACM certificate"));
    assert!(!Diagnostics(problems.clone()).has_errors(), "{problems:?}");
    terraform.assert_quiet(&generated).await;
}

/// Asserts that each input of the generated configuration is necessary: without it, the configuration is invalid, or
/// its plan is not empty.
async fn assert_is_shortest<P: Topology>(terraform: &Terraform<P>) {
    let generated = generated(terraform);
    let has_subnets = terraform.account.slots().iter().any(|slot| slot.starts_with("subnet."));
    for name in names(&generated) {
        // The certificate may be one that a lookup would not choose. AZs have an effect only with subnets.
        if name == "certificate_arn" || !has_subnets && name.contains("availability_zone") {
            continue;
        }
        let mut shorter = generated.clone();
        shorter.set(name, Value::Null);
        if terraform.resource.validate(&terraform.config(&shorter)).has_errors() {
            continue;
        }
        let plan = terraform.plan(&shorter).await;
        assert!(plan.diagnostics.has_errors() || plan.planned != terraform.state, "{name} is superfluous: {generated}");
    }
}

/// Applies a configuration, unless it is invalid, and generates it.
async fn check<P: Topology>(terraform: &mut Terraform<P>, config: &Value) {
    let plan = terraform.plan(config).await;
    if terraform.resource.validate(&terraform.config(config)).has_errors() || plan.diagnostics.has_errors() {
        return;
    }
    terraform.assert_applies(config).await;
    assert_is_shortest(terraform).await;
    assert_generates_quietly(terraform).await;
    // The generated configuration is as good as the one that was applied.
    let generated = generated(terraform);
    terraform.account.take_calls();
    terraform.assert_applies(&generated).await;
    assert_eq!(terraform.account.take_calls(), Vec::<String>::new());
}

/// A network whose configuration spells out some of what it would get anyway.
pub(super) fn some_spelled_out_network() -> impl Strategy<Value = Value> {
    (some_network(), proptest::array::uniform5(any::<bool>())).prop_map(|(mut config, given)| {
        let [zones, count, app, persistence, limits] = given;
        let spacing = if *config.get("create_transit_subnets") == true.into() { 6 } else { 10 };
        let count_of_zones = config.get("num_availability_zones").clone();
        if zones {
            let ids = ["use1-az1", "use1-az2", "use1-az3"];
            let count = match &count_of_zones {
                Value::Number(count) => count.as_i64().unwrap() as usize,
                _ => ids.len(),
            };
            config.set("availability_zone_ids", ids[..count].to_vec().into());
        }
        if zones && !count {
            config.set("num_availability_zones", Value::Null);
        }
        if app {
            config.set("private_subnet_spacing", spacing.into());
        }
        if persistence {
            config.set("persistence_subnet_spacing", (2 * spacing).into());
        }
        if limits {
            config.set("timeouts", Value::map([("create", Value::from("40m"))]));
            config.set("protected_objects", vec!["vpc"].into());
            config.set("cloud_region", "eu-west-1".into());
        }
        config
    })
}

fn run(test: impl Future<Output = ()>) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build().unwrap();
    runtime.block_on(test);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn any_generated_network_plans_empty(configs in proptest::collection::vec(some_spelled_out_network(), 1..3)) {
        run(async {
            // One more AZ than any configuration uses.
            let mut terraform = Terraform::<FourTierVpc>::new(4);
            for config in &configs {
                check(&mut terraform, config).await;
            }
        });
    }

    #[test]
    fn any_generated_gateway_plans_empty(configs in proptest::collection::vec(domains::some_gateway(), 1..3)) {
        run(async {
            let mut terraform = Terraform::<HttpGateway>::new(0);
            for config in &configs {
                check(&mut terraform, config).await;
            }
        });
    }
}

#[tokio::test(start_paused = true)]
async fn a_network_with_three_inputs_generates_these() {
    let mut terraform = Terraform::<FourTierVpc>::new(3);
    terraform.assert_applies(&network(&[])).await;
    assert_eq!(generated(&terraform), network(&[]));
    // AWS does not say that all AZs were wanted, and the Region may get another one.
    assert_imports_quietly(&mut terraform, &network(&[])).await;
    assert_eq!(generated(&terraform), network(&[("num_availability_zones", 3.into())]));
}

#[tokio::test(start_paused = true)]
async fn a_generated_gateway_omits_the_defaults_of_its_entries() {
    let mut terraform = Terraform::<HttpGateway>::new(0);
    let mut guarded = route("a", Some("keeper"));
    guarded.set("timeout_milliseconds", 900.into());
    let routes = [("GET /a", guarded), ("$default", route("b", None))];
    let config = gateway(&routes, &[("keeper", authorizer("guard"))], &[]);
    terraform.assert_applies(&config).await;
    assert_eq!(generated(&terraform), config);
    reimport(&mut terraform).await;
    assert_eq!(generated(&terraform), config);
}

#[tokio::test(start_paused = true)]
async fn a_generated_gateway_has_one_input_for_its_certificate() {
    let mut terraform = Terraform::<HttpGateway>::new(0);
    let with = |pairs: &[(&str, Value)]| {
        let all = [&[("domain_name", Value::from("a.example.com"))], pairs].concat();
        gateway(&[("GET /a", route("a", None))], &[], &all)
    };
    let certificate_inputs = |terraform: &Terraform<HttpGateway>| {
        let generated = generated(terraform);
        names(&generated).into_iter().filter(|name| name.starts_with("certificate")).collect::<Vec<_>>().join(" ")
    };
    terraform.assert_applies(&with(&[("certificate_domain", "*.example.com".into())])).await;
    assert_eq!(certificate_inputs(&terraform), "certificate_domain", "the lookup stays");
    terraform.assert_applies(&with(&[("certificate_arn", "cert-1".into())])).await;
    assert_eq!(certificate_inputs(&terraform), "certificate_arn");
    reimport(&mut terraform).await;
    assert_eq!(certificate_inputs(&terraform), "certificate_arn");
}

#[tokio::test(start_paused = true)]
async fn a_spacing_that_repeats_the_default_can_be_removed_in_two_steps() {
    let mut terraform = Terraform::<FourTierVpc>::new(2);
    terraform.assert_applies(&network(&[("private_subnet_spacing", 10.into())])).await;
    terraform.account.take_calls();
    terraform.assert_quiet(&network(&[])).await;
    // The default of a network with a transit tier is another number, but the existing subnets stay.
    terraform.assert_applies(&network(&[("create_transit_subnets", true.into())])).await;
    let calls = terraform.account.take_calls();
    assert!(!calls.iter().any(|call| call.contains("subnet.private_app")), "{calls:?}");
    assert!(terraform.state.get("private_subnet_spacing").is_null(), "an applied input is as configured");
}

#[test]
fn no_state_generates_nothing() {
    let terraform = Terraform::<FourTierVpc>::new(1);
    assert_eq!(names(&generated(&terraform)), BTreeSet::new());
}

#[tokio::test(start_paused = true)]
async fn the_output_of_generate_changes_nothing_in_that_of_terraform() {
    let endpoints = Value::map([("ecr.api", Value::map::<String>([]))]);
    let config = network(&[("interface_endpoints", endpoints), ("num_availability_zones", 2_i64.into())]);
    let (mut terraform, mut written) = super::adoption::imported::<FourTierVpc>(&config).await;
    // Terraform writes all that the state has, also empty values.
    let mut endpoint = written.get("interface_endpoints").get("ecr.api").clone();
    endpoint.set("allowed_cidr_blocks", Value::List(Vec::new()));
    written.set("interface_endpoints", Value::map([("ecr.api", endpoint)]));
    assert!(matches!(written.get("availability_zone_ids"), Value::List(_)), "{written}");
    terraform.assert_applies(&written).await;
    assert_generates_quietly(&mut terraform).await;
}

#[tokio::test(start_paused = true)]
async fn generate_keeps_the_addresses_that_the_network_uses() {
    for is_used in [true, false] {
        let mut terraform = Terraform::<FourTierVpc>::new(2);
        let addresses = ("custom_nat_eips", Value::from(vec!["eipalloc-1"]));
        terraform.assert_applies(&network(&[addresses, ("use_custom_nat_eips", is_used.into())])).await;
        assert_is_shortest(&terraform).await;
        assert_generates_quietly(&mut terraform).await;
    }
}
