//! What unmanaged objects have that only one object can have: an error of the plan, before the first call.

use super::*;

/// A network of one AZ with these inputs.
fn with(pairs: &[(&str, Value)]) -> Value {
    let few = [
        ("num_availability_zones", 1_i64.into()),
        ("num_nat_gateways", 0_i64.into()),
        ("create_vpc_endpoints", false.into()),
        ("enable_dns_hostnames", true.into()),
        ("enable_ipv6", true.into()),
        ("assign_generated_ipv6_cidr_block", true.into()),
    ];
    network(&[few.as_slice(), pairs].concat())
}

fn endpoint(name: &str, pairs: &[(&str, Value)]) -> (&'static str, Value) {
    ("interface_endpoints", Value::map([(name, Value::map(pairs.iter().cloned()))]))
}

fn log(name: &str, kind: &str) -> (&'static str, Value) {
    let (s3, bucket) = ("s3".into(), "arn:aws:s3:::logs".into());
    let log =
        Value::map([("log_destination_type", s3), ("log_destination", bucket), ("traffic_type", Value::from(kind))]);
    ("flow_logs", Value::map([(name, log)]))
}

fn gateway_only() -> (&'static str, Value) {
    ("create_egress_only_igw", true.into())
}

fn addresses(ids: &[&str]) -> [(&'static str, Value); 3] {
    let count = i64::try_from(ids.len()).expect("there are few");
    [("num_nat_gateways", count.into()), ("use_custom_nat_eips", true.into()), ("custom_nat_eips", ids.to_vec().into())]
}

/// The slot of an object that something else builds, the configuration that requires one with its place, and the input
/// at which the plan names it.
fn kinds() -> Vec<(&'static str, Value, &'static str)> {
    vec![
        ("interface_endpoint.kms", with(&[endpoint("kms", &[])]), "interface_endpoints"),
        ("security_group.interface_endpoints", with(&[endpoint("kms", &[])]), "interface_endpoints"),
        ("flow_log.all", with(&[log("all", "ALL")]), "flow_logs"),
        ("egress_only_internet_gateway", with(&[gateway_only()]), "create_egress_only_igw"),
        ("nat_gateway.0", with(&addresses(&["eipalloc-1"])), "custom_nat_eips"),
    ]
}

/// A network in which something else has built the object in this slot. Returns its ID too.
async fn with_obstacle(slot: &str, config: &Value) -> (Terraform<FourTierVpc>, String) {
    let (terraform, [id]) = with_obstacles([slot], config).await;
    (terraform, id)
}

/// The same for several objects.
async fn with_obstacles<const N: usize>(slots: [&str; N], config: &Value) -> (Terraform<FourTierVpc>, [String; N]) {
    let mut terraform = Terraform::<FourTierVpc>::new(1);
    terraform.assert_applies(&with(&[])).await;
    let before = terraform.account.slots();
    let (state, private) = (terraform.state.clone(), terraform.private.clone());
    terraform.assert_applies(config).await;
    let objects = terraform.state.get("aws_objects").clone();
    let ids = slots.map(|slot| objects.get(slot).as_str().expect("it exists").to_string());
    (terraform.state, terraform.private) = (state, private);
    for other in terraform.account.slots().iter().filter(|it| !before.contains(it) && !slots.contains(&it.as_str())) {
        terraform.account.delete_outside(other);
    }
    terraform.account.further.lock().unwrap().extend(slots.map(str::to_string));
    terraform.refresh().await;
    terraform.account.take_calls();
    (terraform, ids)
}

fn adopting(config: &Value, entries: &[(&str, &str)]) -> Value {
    let mut config = config.clone();
    config.set("adopt", Value::map(entries.iter().map(|(slot, id)| (*slot, Value::from(*id)))));
    config
}

/// The error of a plan that names an object. It sends no call that changes something.
async fn assert_named(terraform: &Terraform<FourTierVpc>, config: &Value, id: &str, input: &str) {
    let plan = terraform.plan(config).await;
    let errors: Vec<_> = plan.diagnostics.0.iter().filter(|it| it.severity == Severity::Error).collect();
    let [error] = errors.as_slice() else { panic!("{:?}", plan.diagnostics) };
    assert!(error.detail.contains(id) && error.detail.contains("in adopt"), "{error:?}");
    let path = error.path.as_ref().map(ToString::to_string).unwrap_or_default();
    assert!(path.starts_with(input), "{path}");
    assert_eq!(terraform.account.take_calls(), [""; 0]);
}

#[tokio::test(start_paused = true)]
async fn an_obstacle_of_each_kind_is_an_error_of_the_plan() {
    for (slot, config, input) in kinds() {
        let (mut terraform, id) = with_obstacle(slot, &config).await;
        for owner in [None, Some("vpc-of-another-root")] {
            terraform.account.give_to(slot, owner);
            assert_named(&terraform, &config, &id, input).await;
        }
        // The entry of a managed object lifts nothing.
        let subnet = terraform.state.get("aws_objects").get("subnet.public.0").as_str().expect("an id").to_string();
        assert_named(&terraform, &adopting(&config, &[("subnet.public.0", &subnet)]), &id, input).await;
        let quiet = terraform.plan(&with(&[])).await;
        assert!(!quiet.diagnostics.has_errors(), "{slot}: {:?}", quiet.diagnostics);
        // The ways out: something else deletes it, or it is no longer there.
        terraform.account.delete_outside(slot);
        terraform.assert_applies(&config).await;
        terraform.assert_quiet(&config).await;
    }
}

#[tokio::test(start_paused = true)]
async fn an_obstacle_that_adopt_names_is_none() {
    let is_alone = |slot: &str| slot.starts_with("flow_log") || slot.starts_with("egress");
    for (slot, config, _) in kinds().into_iter().filter(|(slot, ..)| is_alone(slot)) {
        let (mut terraform, id) = with_obstacle(slot, &config).await;
        let config = adopting(&config, &[(slot, &id)]);
        terraform.assert_applies(&config).await;
        assert_eq!(terraform.state.get("aws_objects").get(slot).as_str(), Some(id.as_str()));
        terraform.assert_quiet(&config).await;
    }
}

#[tokio::test(start_paused = true)]
async fn adopt_lifts_only_the_check_of_what_it_names() {
    let (log_slot, gateway_slot) = ("flow_log.all", "egress_only_internet_gateway");
    let config = with(&[log("all", "ALL"), gateway_only()]);
    let (mut terraform, [log, gateway]) = with_obstacles([log_slot, gateway_slot], &config).await;
    assert_named(&terraform, &adopting(&config, &[(log_slot, &log)]), &gateway, "create_egress_only_igw").await;
    assert_named(&terraform, &adopting(&config, &[(gateway_slot, &gateway)]), &log, "flow_logs").await;
    terraform.assert_applies(&adopting(&config, &[(log_slot, &log), (gateway_slot, &gateway)])).await;
    terraform.assert_quiet(&config).await;
}

#[tokio::test(start_paused = true)]
async fn names_that_an_endpoint_gains_are_looked_for() {
    let named = with(&[endpoint("kms", &[])]);
    let (mut terraform, id) = with_obstacle("interface_endpoint.kms", &named).await;
    let unnamed = with(&[endpoint("own", &[("service", "kms".into()), ("private_dns_enabled", false.into())])]);
    terraform.assert_applies(&unnamed).await;
    terraform.account.take_calls();
    let gains = with(&[endpoint("own", &[("service", "kms".into())])]);
    assert_named(&terraform, &gains, &id, "interface_endpoints").await;
}

/// Both would be created by the same resource.
#[tokio::test(start_paused = true)]
async fn what_two_entries_would_have_is_an_error_of_the_plan() {
    let entries = |input: &'static str, names: [&str; 2], entry: Value| {
        with(&[(input, Value::map(names.map(|name| (name, entry.clone()))))])
    };
    let (_, logs) = log("one", "ALL");
    let of_kms = Value::map([("service", "kms".into())]);
    for (config, parts) in [
        (entries("interface_endpoints", ["one", "two"], of_kms), ["one", "private DNS names"]),
        (entries("flow_logs", ["one", "two"], logs.get("one").clone()), ["one", "same configuration"]),
        (with(&addresses(&["eipalloc-1", "eipalloc-1"])), ["eipalloc-1", "custom_nat_eips"]),
    ] {
        let mut terraform = Terraform::<FourTierVpc>::new(2);
        terraform.assert_applies(&with(&[("num_availability_zones", 2_i64.into())])).await;
        terraform.account.take_calls();
        // The addresses are those of one input, which a plan does not check again.
        let mut found = terraform.resource.validate(&terraform.config(&config));
        found.0.extend(terraform.plan(&config).await.diagnostics.0);
        let text = format!("{found:?}");
        assert!(found.has_errors() && parts.iter().all(|part| text.contains(part)), "{text}");
        assert_eq!(terraform.account.take_calls(), [""; 0]);
    }
}

/// The plan deletes what has the place.
#[tokio::test(start_paused = true)]
async fn an_obstacle_that_the_plan_deletes_is_none() {
    let mut terraform = Terraform::<FourTierVpc>::new(1);
    terraform.assert_applies(&with(&[log("one", "ALL"), endpoint("kms", &[])])).await;
    let other = with(&[log("two", "ALL"), endpoint("keys", &[("service", "kms".into())])]);
    terraform.assert_applies(&other).await;
    terraform.assert_quiet(&other).await;
}
