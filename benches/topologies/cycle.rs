//! The lifecycle of one topology: apply, plan without changes, change, destroy.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::calls::Calls;
use crate::process::terraform;
use crate::results::Results;
use crate::support::proxy::Proxy;
use crate::support::proxy::lasts::Lasts;
use crate::topology::{Kind, Side, Topology, Workspace};

/// The file of a plan.
const PLAN: &str = "plan.bin";

/// The number of objects of each kind in an account.
pub(crate) type Counts = BTreeMap<String, usize>;

/// Measures each operation in a separate account. The apply must create as many objects as the first apply of this
/// topology, because otherwise the providers would not do the same work; a difference is recorded in the results.
pub(crate) fn cycle(results: &mut Results, topology: &Topology, side: &Side, round: usize, first: &mut Option<Counts>) {
    let proxy = account(topology);
    let workspace = Workspace::new(topology, side, &proxy);
    for operation in ["apply", "plan", "change", "destroy"] {
        workspace.set(topology, side, &proxy, ["change", "destroy"].contains(&operation));
        proxy.clear_calls();
        let run = terraform(workspace.path(), arguments(operation));
        let calls = Calls::of(&proxy, topology, operation);
        let unsupported = proxy.take_violations();
        // The emulator must support every call of fgw. hashicorp/aws can do without some of its calls.
        assert!(!side.is_fgw || unsupported.is_empty(), "the emulator does not support these calls: {unsupported:?}");
        let sizes = ["terraform.tfstate", PLAN].map(|file| workspace.bytes_of(file));
        results.add(topology, side, round, operation, &run, &calls, sizes, unsupported.len());
        match operation {
            "apply" => {
                let counts = count_objects(&proxy);
                let first = first.get_or_insert_with(|| counts.clone());
                if counts != *first {
                    results.differs(topology, side, &counts, first);
                }
            }
            "plan" => assert_eq!(calls.changing, 0, "a plan changes nothing: {:?}", calls.by_action),
            _ => {}
        }
    }
}

fn arguments(operation: &str) -> &'static [&'static str] {
    match operation {
        "apply" | "change" => &["apply", "-no-color", "-input=false", "-auto-approve"],
        // With this option, the plan fails unless it is empty.
        "plan" => &["plan", "-no-color", "-input=false", "-detailed-exitcode", "-out=plan.bin"],
        _ => &["destroy", "-no-color", "-input=false", "-auto-approve"],
    }
}

/// An account with the delays of the topology, and with the functions that a gateway calls.
fn account(topology: &Topology) -> Proxy {
    let proxy = match topology.kind {
        Kind::Network => Proxy::moto(),
        Kind::Gateway => Proxy::ministack(),
    };
    if topology.kind == Kind::Gateway {
        let functions = (0..topology.functions()).map(|number| format!("f{number}"));
        for name in functions.chain(["guard".to_owned()]) {
            let source = "def handler(event, context):\n    return {'statusCode': 200}\n";
            proxy.account().create_function(&name, source);
        }
    }
    // An emulator loads a service at its first call, which takes seconds.
    count_objects(&proxy);
    proxy.latency(std::time::Duration::from_millis(topology.latency_ms));
    proxy.nat_pending(Lasts::For(std::time::Duration::from_secs(topology.nat_pending_s)));
    proxy
}

/// Counts the objects of each kind, and the parts of objects that have parts.
fn count_objects(proxy: &Proxy) -> Counts {
    let mut counts = Counts::new();
    let listing = proxy.account().list();
    for (kind, objects) in listing.as_object().expect("a listing is a map") {
        let objects = objects.as_array().expect("of lists");
        *counts.entry(kind.clone()).or_default() += objects.len();
        for (name, value) in objects.iter().filter_map(Value::as_object).flatten() {
            let is_part = ["Routes", "Associations", "Integrations", "Authorizers", "Stages", "statements"]
                .iter()
                .any(|part| part.eq_ignore_ascii_case(name));
            if let (true, Some(parts)) = (is_part, value.as_array()) {
                *counts.entry(format!("{kind} {}", name.to_lowercase())).or_default() += parts.len();
            }
        }
    }
    counts
}
