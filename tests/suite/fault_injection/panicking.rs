//! Panics in the provider's own code, in the middle of operations. Each is a failure like any other: the error names
//! the object and asks for a report, and the rest of the apply continues.
//!
//! The provider of the tests is built with debug assertions, and reads from `FGW_PANIC` where to panic.

use std::collections::BTreeSet;
use std::fmt::{Display, Formatter};
use std::time::Duration;

use serde_json::json;

use super::campaign::{Tally, campaign, sample};
use super::subject::{Kind, Phase, Subject};
use crate::state_check;
use crate::support::proxy::Proxy;
use crate::support::terraform::{Run, Workspace};

/// One object of each kind in the subjects, and some that only the change phase creates or deletes.
const OF_NETWORK: &[&str] = &[
    "vpc",
    "ipv6_cidr_block",
    "cidr_block.100.64.0.0/16",
    "internet_gateway",
    "subnet.public.0",
    "subnet.transit.1",
    "subnet.private_app.2",
    "route_table.private_app.0",
    "route_table_association.public.0",
    "eip.1",
    "nat_gateway.0",
    "route.public.ipv4",
    "vpc_endpoint.objectstore",
    "default_network_acl",
    "default_security_group",
];
const OF_GATEWAY: &[&str] = &[
    "api",
    "permission.orders.*",
    "authorizer.customers",
    "authorizer.staff",
    "authorizer_permission.*",
    "integration.GET /users/*",
    "integration.GET /stock",
    "vpc_link.main",
    "route.GET /orders",
    "stage",
    "log_group",
    "log_subscription",
    "subscription_permission",
    "domain",
    "dns_record",
    "dns_record_aaaa",
    "api_mapping",
];

/// In the lifecycle of one subject, every operation on one object panics.
struct Case {
    kind: Kind,
    slot: String,
    /// Whether the panic comes as late as possible, after the ID is recorded and the work is done, or before the work.
    late: bool,
}

impl Display for Case {
    fn fmt(&self, out: &mut Formatter<'_>) -> std::fmt::Result {
        write!(out, "{:?}: {} panics {}", self.kind, self.slot, if self.late { "late" } else { "early" })
    }
}

impl Case {
    /// The value of `FGW_PANIC`. A late deletion is done, which only the next read shows.
    fn places(&self) -> String {
        let moments = if self.late {
            [("recorded", "create"), ("after", "update"), ("after", "delete")]
        } else {
            [("before", "create"), ("before", "update"), ("before", "delete")]
        };
        moments.map(|(moment, verb)| format!("{moment} {verb} {}", self.slot)).join(";")
    }

    fn run(&self) -> Tally {
        let mut subject = Subject::new(self.kind);
        // So that other operations are in flight at the panic.
        subject.proxy.latency(Duration::from_millis(30));
        let mut tally = Tally::default();
        for phase in Phase::ALL {
            match phase {
                Phase::Destroy => subject.proxy.clear_calls(),
                _ => subject.prepare(phase),
            }
            subject.workspace.env("FGW_PANIC", &self.places());
            let run = subject.run(phase);
            subject.workspace.env("FGW_PANIC", "");
            let panicked = self.assert_reported(&run);
            let exists = subject.objects().keys().any(|slot| slot.starts_with(self.beginning()));
            assert!(panicked || phase != Phase::Create || !exists, "it was created without a panic: {run}");
            if panicked {
                if self.late && phase != Phase::Create {
                    subject.workspace.apply(&["-refresh-only"]).succeeded();
                }
                subject.assert_state_is_accurate();
                subject.finish(phase);
            }
            tally.add(Tally { faults: usize::from(panicked), ..Tally::of(&subject.proxy) });
        }
        assert!(tally.faults > 0, "the provider never panicked");
        assert!(subject.workspace.state().resource(subject.address()).is_none(), "a destroyed resource is in state");
        subject.proxy.account().assert_nothing_of_ours_is_left();
        tally
    }

    fn beginning(&self) -> &str {
        self.slot.trim_end_matches('*')
    }

    /// Whether the provider panicked. If it did, panics unless the message reports that.
    fn assert_reported(&self, run: &Run) -> bool {
        if !run.says("panic on demand") {
            run.succeeded();
            return false;
        }
        run.failed_with(self.beginning()).failed_with("This is a bug in the provider. Report it with this message.");
        assert!(!run.says("plugin crashed"), "the provider has survived: {run}");
        true
    }
}

#[test]
fn a_panic_in_an_operation_is_reported_and_loses_nothing() {
    let of = |kind: Kind, slots: &[&str], late: bool| -> Vec<Case> {
        slots.iter().map(|slot| Case { kind, slot: (*slot).to_string(), late }).collect()
    };
    let mut cases = Vec::new();
    for late in [false, true] {
        cases.extend(of(Kind::Network, OF_NETWORK, late));
        cases.extend(of(Kind::Gateway, OF_GATEWAY, late));
    }
    // The first is a network, the last a gateway.
    campaign("A panic in the provider's own code", sample(cases, 2), Case::run);
}

#[test]
fn a_panic_stops_neither_the_process_nor_other_resources() {
    let proxy = Proxy::moto();
    proxy.latency(Duration::from_millis(30));
    let mut workspace = Workspace::new(&proxy);
    let network = |name: &str, nats: usize| {
        format!(
            "resource \"fgw_four_tier_vpc\" \"{name}\" {{\n  vpc_name = \"{name}\"\n  cidr_block = \"10.0.0.0/16\"\n  \
             num_availability_zones = 2\n  num_nat_gateways = {nats}\n}}\n"
        )
    };
    workspace.config(&(network("struck", 2) + &network("other", 1)));
    // Three panics at once. The other network has neither `eip.1` nor `nat_gateway.1`.
    workspace.env("FGW_PANIC", "answered create eip.1; before create nat_gateway.1; before mark vpc");
    let apply = workspace.apply(&[]);
    apply.failed_with("panic on demand: answered create eip.1").failed_with("Report it with this message");
    assert!(!apply.says("Plugin did not respond") && !apply.says("connection is shutting down"), "{apply}");
    // The root is marked after all operations and outside of any of them: the state contains everything up to then.
    for name in ["struck", "other"] {
        let address = format!("fgw_four_tier_vpc.{name}");
        assert!(workspace.state().is_tainted(&address), "{apply}");
        workspace.run(&["untaint", "-no-color", &address]).succeeded();
    }
    let assert_accurate = |workspace: &Workspace| {
        let state = workspace.state();
        let known: BTreeSet<String> = ["struck", "other"]
            .iter()
            .filter_map(|name| state.resource(&format!("fgw_four_tier_vpc.{name}")))
            .flat_map(|resource| resource["aws_objects"].as_object().expect("a map").values().cloned())
            .map(|id| id.as_str().expect("an id").to_string())
            .collect();
        assert_eq!(known, state_check::existing(proxy.account()));
    };
    // The tags of an address whose ID was lost in the panic do not show that it belongs to the network: the next
    // refresh reports it, and users release it.
    workspace.env("FGW_PANIC", "");
    workspace.apply(&["-refresh-only"]).succeeded();
    let state = workspace.state();
    let lost = state.attribute("fgw_four_tier_vpc.struck", "unmanaged_objects").as_object().expect("a map").clone();
    assert_eq!(lost.len(), 1, "{lost:?}");
    for (id, reason) in &lost {
        assert!(reason.as_str().is_some_and(|it| it.starts_with("eip.1, not in state: no NAT gateway")), "{reason}");
        proxy.account().boto("ec2", "release_address", json!({ "AllocationId": id }));
    }
    assert_accurate(&workspace);
    workspace.apply(&[]).succeeded();
    workspace.assert_nothing_to_do();
    assert_accurate(&workspace);
    workspace.destroy().succeeded();
    proxy.account().assert_nothing_of_ours_is_left();
}

#[test]
fn a_panic_outside_of_operations_is_reported_and_keeps_state() {
    let mut subject = Subject::new(Kind::Gateway);
    subject.prepare(Phase::Create);
    subject.workspace.env("FGW_PANIC", "before settle api");
    subject
        .run(Phase::Create)
        .failed_with("The provider failed unexpectedly")
        .failed_with("Report it with this message");
    subject.assert_state_is_accurate();
    subject.workspace.env("FGW_PANIC", "before read api");
    subject
        .workspace
        .plan(&[])
        .failed_with("panic on demand: before read api")
        .failed_with("Report it with this message");
    let log = std::fs::read_to_string(subject.workspace.log()).expect("the run writes a log");
    assert!(log.contains("a call panicked: panic on demand: before read api"), "{log}");
    subject.workspace.env("FGW_PANIC", "");
    subject.finish(Phase::Create);
    subject.destroy();
}
