//! One topology from nothing to nothing: apply, plan without changes, change, destroy.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::calls::Calls;
use crate::process::terraform;
use crate::results::Results;
use crate::support::proxy::Proxy;
use crate::support::proxy::lasts::Lasts;
use crate::topology::{Kind, Side, Topology, Workspace};

/// What stands in an account: kinds of objects and how many there are of each.
pub(crate) type Look = BTreeMap<String, usize>;

/// Measures each operation, in an account of its own. What the apply has made must look like what the first one of this
/// topology has made, or the two sides would be compared in making different things.
pub(crate) fn cycle(results: &mut Results, topology: &Topology, side: &Side, round: usize, first: &mut Option<Look>) {
    let proxy = account(topology);
    let workspace = Workspace::new(topology, side, &proxy);
    for operation in ["apply", "plan", "change", "destroy"] {
        workspace.set(topology, side, &proxy, ["change", "destroy"].contains(&operation));
        proxy.clear_calls();
        let run = terraform(workspace.path(), arguments(operation));
        let calls = Calls::of(&proxy, topology, operation);
        let cannot = proxy.take_violations();
        // The emulator must know every call of ours; hashicorp/aws makes some that it can do without.
        assert!(!side.is_fgw || cannot.is_empty(), "the emulator cannot play its part: {cannot:?}");
        results.add(topology, side, round, operation, &run, &calls, cannot.len());
        match operation {
            "apply" => {
                let look = look_at(&proxy);
                let first = first.get_or_insert_with(|| look.clone());
                if look != *first {
                    results.differs(topology, side, &look, first);
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
        // It fails if there is anything to do.
        "plan" => &["plan", "-no-color", "-input=false", "-detailed-exitcode"],
        _ => &["destroy", "-no-color", "-input=false", "-auto-approve"],
    }
}

/// An account with the manners of the topology, and with the functions that a gateway calls.
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
    // An emulator loads a service when it is first called, which takes it seconds.
    look_at(&proxy);
    proxy.latency(std::time::Duration::from_millis(topology.latency_ms));
    proxy.nat_pending(Lasts::For(std::time::Duration::from_secs(topology.nat_pending_s)));
    proxy
}

/// The objects of each kind, and the parts of those that have some.
fn look_at(proxy: &Proxy) -> Look {
    let mut look = Look::new();
    let listing = proxy.account().list();
    for (kind, objects) in listing.as_object().expect("a listing is a map") {
        let objects = objects.as_array().expect("of lists");
        *look.entry(kind.clone()).or_default() += objects.len();
        for (name, value) in objects.iter().filter_map(Value::as_object).flatten() {
            let is_part = ["Routes", "Associations", "Integrations", "Authorizers", "Stages", "statements"]
                .iter()
                .any(|part| part.eq_ignore_ascii_case(name));
            if let (true, Some(parts)) = (is_part, value.as_array()) {
                *look.entry(format!("{kind} {}", name.to_lowercase())).or_default() += parts.len();
            }
        }
    }
    look
}
