//! Random keys of random topologies.

use super::*;
use crate::composite::tests::properties::{some_gateway, some_network};
use proptest::prelude::*;

/// The keys of the entries in another order, of which some are new ones.
fn shuffled(keys: &[String], order: &[usize], new: &[bool]) -> Vec<(String, String)> {
    let mut left: Vec<String> = keys.to_vec();
    let pick = |(position, key): (usize, &String)| {
        let to = left.remove(order[position % order.len()] % left.len());
        let is_new = new[position % new.len()];
        (key.clone(), if is_new { format!("n{position}") } else { to })
    };
    keys.iter().enumerate().map(pick).collect()
}

/// The configuration with such keys in these maps. The service of an endpoint does not follow from its key then.
fn with_other_keys(config: &Value, inputs: &[&str], order: &[usize], new: &[bool]) -> Value {
    let mut config = config.clone();
    for input in inputs {
        let keys: Vec<String> = config.get(input).as_map().into_iter().flatten().map(|(key, _)| key.clone()).collect();
        for key in keys.iter().filter(|_| *input == "interface_endpoints") {
            let service = config.get(input).get(key).get("service").as_str().unwrap_or(key).to_string();
            set_in(&mut config, input, key, "service", service.into());
        }
        let pairs = shuffled(&keys, order, new);
        let pairs: Vec<(&str, &str)> = pairs.iter().map(|(from, to)| (from.as_str(), to.as_str())).collect();
        config = with_keys(&config, input, &pairs);
    }
    config
}

/// Applies a configuration, and then the same one with other keys. Nothing is created or deleted.
fn check<P: Topology>(config: &Value, renamed: &Value) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build().unwrap();
    runtime.block_on(async {
        let mut terraform = Terraform::<P>::new(3);
        let is_invalid = terraform.resource.validate(&terraform.config(config)).has_errors();
        if is_invalid || terraform.plan(config).await.diagnostics.has_errors() {
            return;
        }
        terraform.assert_applies(config).await;
        let ids: Vec<String> = terraform.slots_by_id().into_keys().collect();
        terraform.account.take_calls();
        terraform.assert_applies(renamed).await;
        terraform.assert_kept(renamed, &ids).await;
        terraform.end().await;
    });
}

fn some_keys() -> impl Strategy<Value = (Vec<usize>, Vec<bool>)> {
    (proptest::collection::vec(0..4_usize, 3), proptest::collection::vec(any::<bool>(), 3))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn other_keys_in_any_network_create_and_delete_nothing(config in some_network(), (order, new) in some_keys()) {
        let renamed = with_other_keys(&config, &["flow_logs", "interface_endpoints"], &order, &new);
        check::<FourTierVpc>(&config, &renamed);
    }

    #[test]
    fn other_keys_in_any_gateway_create_and_delete_nothing(config in some_gateway(), (order, new) in some_keys()) {
        let mut renamed = with_other_keys(&config, &["vpc_links"], &order, &new);
        // The keys of both maps of authorizers are unique together.
        let (first, second) = (&[("first", "second"), ("second", "first")], &[("first", "1"), ("second", "0")]);
        // Authorizers of one function keep their keys, so that an exchange of the keys is one of the credentials.
        let has_role = |key: &str| !config.get("faas_authorizers").get(key).get("authorizer_credentials_arn").is_null();
        let keys: Keys<'_> = if new[0] && has_role("first") == has_role("second") { first } else { second };
        let is_function = config.get("faas_authorizers").get("second").as_map().is_some();
        for (input, of) in [("faas_authorizers", keys), ("jwt_authorizers", &keys[1..])] {
            if is_function || keys == second {
                renamed = with_keys(&renamed, input, of);
            }
        }
        check::<HttpGateway>(&config, &renamed);
    }
}
