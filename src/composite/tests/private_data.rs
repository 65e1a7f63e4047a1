//! The private data that an apply returns. A refresh that finds nothing new returns the same, or a host that compares
//! it reports a change that does not exist.

use super::properties::{some_gateway, some_network};
use super::*;

use proptest::prelude::*;

/// The top-level parts of private data that differ, each before and after.
fn different(before: &[u8], after: &[u8]) -> Vec<String> {
    let parts = |data: &[u8]| -> serde_json::Map<String, serde_json::Value> { serde_json::from_slice(data).unwrap() };
    let (before, after) = (parts(before), parts(after));
    let flat = |name: &str, value: Option<&serde_json::Value>| match value.and_then(|it| it["entries"].as_array()) {
        Some(entries) => entries.iter().map(ToString::to_string).collect::<Vec<_>>(),
        None => vec![format!("{name} {value:?}")],
    };
    let names = before.keys().chain(after.keys()).collect::<std::collections::BTreeSet<_>>();
    let of_name = |name: &String| {
        let (old, new) = (flat(name, before.get(name)), flat(name, after.get(name)));
        let missing = old.iter().filter(|it| !new.contains(it)).map(|it| format!("- {it}")).collect::<Vec<_>>();
        let more = new.iter().filter(|it| !old.contains(it)).map(|it| format!("+ {it}")).collect::<Vec<_>>();
        match missing.is_empty() && more.is_empty() && old != new {
            true => vec![format!("order of {name}")],
            false => [missing, more].concat(),
        }
    };
    names.into_iter().flat_map(of_name).collect()
}

fn check<P: Topology>(configs: &[Value], zones: usize) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build().unwrap();
    runtime.block_on(async {
        let mut terraform = Terraform::<P>::new(zones);
        for config in configs {
            terraform.refresh().await;
            let invalid = terraform.resource.validate(&terraform.config(config)).has_errors();
            let plan = terraform.plan(config).await;
            if invalid || plan.diagnostics.has_errors() {
                continue;
            }
            let diagnostics = terraform.apply(config).await;
            assert!(!diagnostics.has_errors(), "{diagnostics:?}");
            let (state, private) = (terraform.state.clone(), terraform.private.clone());
            terraform.refresh().await;
            assert_eq!(terraform.state, state);
            let different = different(&private, &terraform.private);
            assert!(terraform.private == private, "{different:#?}");
        }
    });
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]

    #[test]
    fn a_refresh_after_any_apply_of_a_network_finds_nothing_new(
        configs in proptest::collection::vec(some_network(), 1..4)
    ) {
        check::<FourTierVpc>(&configs, 3);
    }

    #[test]
    fn a_refresh_after_any_apply_of_a_gateway_finds_nothing_new(
        configs in proptest::collection::vec(some_gateway(), 1..4)
    ) {
        check::<HttpGateway>(&configs, 0);
    }
}
