//! Interface endpoints of a network.

use super::*;

fn with_endpoint(pairs: &[(&str, Value)]) -> Value {
    let endpoints = Value::map([("kms", Value::map(pairs.iter().cloned()))]);
    network(&[("interface_endpoints", endpoints), ("enable_dns_hostnames", true.into())])
}

/// The simulation panics if the attributes are not set.
#[tokio::test(start_paused = true)]
async fn endpoints_with_names_wait_for_both_dns_attributes() {
    let mut terraform = Terraform::<FourTierVpc>::new(2);
    terraform.account.limits.slow_attributes.store(true, std::sync::atomic::Ordering::Relaxed);
    terraform.assert_applies(&with_endpoint(&[])).await;
    let calls = terraform.account.take_calls();
    assert!(calls.iter().any(|call| call == "create interface_endpoint.kms"), "{calls:?}");
}

/// With its default inputs it shares a group, otherwise it has one of its own.
#[tokio::test(start_paused = true)]
async fn unknown_ports_of_an_endpoint_promise_no_group() {
    let unknown = [("allowed_ports", Value::Unknown), ("allowed_ports", Value::List(vec![Value::Unknown]))];
    for unknown in unknown.map(|input| with_endpoint(&[input])) {
        for port in [443_i64, 8443] {
            let mut terraform = Terraform::<FourTierVpc>::new(1);
            let known = with_endpoint(&[("allowed_ports", vec![port].into())]);
            let shown = terraform.plan(&unknown).await;
            let last = terraform.plan(&known).await;
            terraform.assert_as_planned(&shown.planned, &last.planned, "");
            terraform.assert_applies(&known).await;
        }
    }
}

/// It leaves a subnet early only if a new one needs the addresses.
#[tokio::test(start_paused = true)]
async fn an_endpoint_leaves_early_only_for_the_addresses() {
    let moved = async |block: &str| {
        let mut terraform = Terraform::<FourTierVpc>::new(1);
        let with = |block: &str| {
            let mut config = with_endpoint(&[]);
            config.set("private_app_subnet_cidr_blocks", Value::map([("AZ-0", Value::from(block))]));
            config
        };
        terraform.assert_applies(&with("10.0.200.0/24")).await;
        terraform.account.take_calls();
        terraform.assert_applies(&with(block)).await;
        let calls = terraform.account.take_calls();
        let at = |call: &str| calls.iter().position(|it| it == call).unwrap_or_else(|| panic!("{call} in {calls:?}"));
        let (update, create) = (at("update interface_endpoint.kms"), at("create subnet.private_app.0"));
        (calls.iter().filter(|it| it.starts_with("update interface_endpoint")).count(), create < update)
    };
    assert_eq!(moved("10.0.220.0/24").await, (1, true));
    assert_eq!(moved("10.0.200.0/23").await, (2, false));
}

#[tokio::test(start_paused = true)]
async fn private_names_move_from_one_endpoint_to_another() {
    let endpoint = |pairs: &[(&str, Value)]| {
        Value::map([("service", Value::from("kms"))].into_iter().chain(pairs.iter().cloned()))
    };
    let with = |endpoints: &[(&str, Value)]| {
        let endpoints = Value::map(endpoints.iter().cloned());
        network(&[("interface_endpoints", endpoints), ("enable_dns_hostnames", true.into())])
    };
    let without = || endpoint(&[("private_dns_enabled", false.into())]);
    let mut terraform = Terraform::<FourTierVpc>::new(1);
    let mut calls = async |config: &Value| {
        terraform.assert_applies(config).await;
        let calls = terraform.account.take_calls().into_iter();
        calls.filter(|it| it.contains("interface_endpoint")).collect::<Vec<_>>()
    };
    calls(&with(&[("a", endpoint(&[]))])).await;
    let to_new = calls(&with(&[("a", without()), ("b", endpoint(&[]))])).await;
    assert_eq!(to_new, ["update interface_endpoint.a", "create interface_endpoint.b"]);
    let exchanged = calls(&with(&[("a", endpoint(&[])), ("b", without())])).await;
    assert_eq!(exchanged, ["update interface_endpoint.b", "update interface_endpoint.a"]);
    calls(&with(&[("a", without()), ("b", endpoint(&[]))])).await;
    let from_deleted = calls(&with(&[("a", endpoint(&[]))])).await;
    assert_eq!(from_deleted, ["delete interface_endpoint.b", "update interface_endpoint.a"]);
}
