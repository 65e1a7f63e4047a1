//! `fgw_four_tier_vpc` against moto behind the proxy: behavior in the stand-in for Terraform, and what Terraform itself
//! must show under Terraform.

#[path = "network/acl.rs"]
mod acl;
#[path = "network/addressing.rs"]
mod addressing;
#[path = "network/blocks.rs"]
mod blocks;
#[path = "network/budget.rs"]
mod budget;
#[path = "network/data_sources.rs"]
mod data_sources;
#[path = "network/drift.rs"]
mod drift;
#[path = "network/drift_matrix.rs"]
mod drift_matrix;
#[path = "network/endpoints.rs"]
mod endpoints;
#[path = "network/examples.rs"]
mod examples;
#[path = "network/failures.rs"]
mod failures;
#[path = "network/foreigners.rs"]
mod foreigners;
#[path = "network/full.rs"]
mod full;
#[path = "network/gateways.rs"]
mod gateways;
#[path = "network/ignoring.rs"]
mod ignoring;
#[path = "network/import.rs"]
mod import;
#[path = "network/inputs.rs"]
mod inputs;
#[path = "network/interruptions.rs"]
mod interruptions;
#[path = "network/ipam.rs"]
mod ipam;
#[path = "network/ipv6.rs"]
mod ipv6;
#[path = "network/layout.rs"]
mod layout;
#[path = "network/pending_deletion.rs"]
mod pending_deletion;
#[path = "network/minimal.rs"]
mod minimal;
#[path = "network/nat_changes.rs"]
mod nat_changes;
#[path = "network/snapshot.rs"]
mod snapshot;
#[path = "network/private_nat.rs"]
mod private_nat;
#[path = "network/propagation.rs"]
mod propagation;
#[path = "network/refusals.rs"]
mod refusals;
#[path = "network/security_group.rs"]
mod security_group;
#[path = "network/tag_reach.rs"]
mod tag_reach;
#[path = "network/tags.rs"]
mod tags;
#[path = "network/tiers.rs"]
mod tiers;
#[path = "network/unknowns.rs"]
mod unknowns;
#[path = "network/zones.rs"]
mod zones;

use std::collections::BTreeMap;

use serde_json::{Value, json};

use self::snapshot::Picture;
use crate::support::proxy::Proxy;
use crate::support::terraform::{Run, Workspace};

/// The address of the network in every configuration here.
const THIS: &str = "fgw_four_tier_vpc.this";

/// An account, a proxy before it, and a workspace with one network.
struct TestEnv {
    workspace: Workspace,
    proxy: Proxy,
}

/// What an apply did: the changing calls it made, and how the account looks now and did not before.
#[derive(Debug)]
struct Change {
    /// `CreateRoute 2, DeleteSubnet 1`, in alphabetical order.
    calls: String,
    /// The lines of objects that have gone, or have looked like this.
    gone: Vec<String>,
    /// The lines of objects that are new, or look like this now.
    new: Vec<String>,
}

impl TestEnv {
    fn new() -> Self {
        Self::with_provider("")
    }

    /// With further lines in the provider block.
    fn with_provider(lines: &str) -> Self {
        let proxy = Proxy::moto();
        let workspace = Workspace::without_terraform(&proxy, lines);
        Self { workspace, proxy }
    }

    /// Under Terraform: for what only Terraform can show.
    fn with_terraform() -> Self {
        Self::with_terraform_and("")
    }

    /// The same, with further lines in the provider block.
    fn with_terraform_and(lines: &str) -> Self {
        let proxy = Proxy::moto();
        let workspace = Workspace::with_provider(&proxy, lines);
        Self { workspace, proxy }
    }

    /// The network `main` in 10.0.0.0/16, with further attributes.
    fn config(&self, attributes: &str) {
        self.workspace.config(&network(attributes));
    }

    /// Applies a configuration and looks what that did.
    fn change(&self, attributes: &str) -> Change {
        self.config(attributes);
        self.apply()
    }

    /// Applies what is configured, and asserts that nothing is left to do.
    fn apply(&self) -> Change {
        self.apply_with(&[])
    }

    fn apply_with(&self, options: &[&str]) -> Change {
        let before = self.snapshot();
        self.proxy.clear_calls();
        let plan = self.workspace.plan_json(options);
        self.workspace.apply_plan().succeeded();
        let calls = self.calls();
        self.assert_did_what_was_planned(&plan);
        self.workspace.assert_nothing_to_do();
        assert_eq!(self.attribute("drift"), json!({}), "a finished apply leaves no drift");
        assert_eq!(self.attribute("pending_deletion"), json!({}), "nothing uses what an apply deletes here");
        let after = self.snapshot();
        Change { calls, gone: after.missing_of(&before), new: before.missing_of(&after) }
    }

    /// Asserts that every object which a plan says will be made anew has been. That what it says will stay has stayed,
    /// Terraform checks itself.
    fn assert_did_what_was_planned(&self, plan: &Value) {
        let changes = plan["resource_changes"].as_array().expect("a list");
        let change = &changes.iter().find(|it| it["address"] == THIS).expect("the network is there")["change"];
        let (before, after) = (&change["before"]["aws_objects"], self.attribute("aws_objects"));
        let anew = change["after_unknown"]["aws_objects"].as_object().into_iter().flatten().map(|(key, _)| key);
        // A route is named by its table and destination, and has no other id.
        for key in anew.filter(|key| !key.starts_with("route.")) {
            assert_ne!(before[key], after[key], "the plan says that {key} is made anew, and it has stayed");
        }
    }

    /// Destroys, and asserts through boto3 that nothing of ours is left.
    fn destroy(&self) -> Run {
        let run = self.workspace.destroy();
        run.succeeded();
        assert!(self.workspace.state().resource(THIS).is_none());
        self.proxy.account().assert_nothing_of_ours_is_left();
        run
    }

    /// The changing calls since the log was cleared, as in [`Change::calls`].
    fn calls(&self) -> String {
        let mut counts: BTreeMap<String, usize> = BTreeMap::new();
        for record in self.proxy.mutations() {
            *counts.entry(record.call.action).or_default() += 1;
        }
        let counts: Vec<String> = counts.iter().map(|(action, count)| format!("{action} {count}")).collect();
        counts.join(", ")
    }

    fn snapshot(&self) -> Picture {
        Picture::of(&self.proxy.account().list())
    }

    /// An attribute of the network in state.
    fn attribute(&self, name: &str) -> Value {
        self.workspace.state().attribute(THIS, name).clone()
    }

    /// The id of one of the network's objects, by its key.
    fn id(&self, key: &str) -> String {
        text(&self.attribute("aws_objects")[key])
    }

    /// A change behind the provider's back, past the proxy.
    fn ec2(&self, method: &str, arguments: Value) -> Value {
        self.proxy.account().boto("ec2", method, arguments)
    }

    /// Asserts that each object in the account that is ours is in state, and the other way round.
    fn assert_state_holds_what_exists(&self) {
        let objects = self.attribute("aws_objects");
        let in_state: Vec<String> = objects.as_object().expect("a map").values().map(text).collect();
        for line in self.proxy.account().ours() {
            let id = line.split(' ').nth(1).expect("kind, id and tags");
            assert!(in_state.iter().any(|it| it == id), "{line} is not in state: {objects}");
        }
        let listing = self.proxy.account().list().to_string();
        for id in in_state.iter().filter(|id| !id.contains('_')) {
            assert!(listing.contains(id.as_str()), "{id} is in state and does not exist");
        }
    }
}

/// Asserts that an object which both lists of ids name has the same id in both.
fn assert_others_stay(before: &Value, after: &Value) {
    for (key, id) in before.as_object().expect("a map") {
        assert!(after[key].is_null() || after[key] == *id, "{key} was {id} and is {}", after[key]);
    }
}

/// The lines but the ACL's, whose number of subnets follows from the others.
fn without_acl(lines: &[String]) -> Vec<&str> {
    lines.iter().map(String::as_str).filter(|line| !line.starts_with("acl")).collect()
}

/// The configuration of the network `main` in 10.0.0.0/16.
fn network(attributes: &str) -> String {
    let mut lines = String::new();
    for (name, value) in [("vpc_name", "main"), ("cidr_block", "10.0.0.0/16")] {
        let given = attributes.lines().any(|line| line.split_whitespace().next() == Some(name));
        if !given {
            lines += &format!("  {name} = \"{value}\"\n");
        }
    }
    format!("resource \"fgw_four_tier_vpc\" \"this\" {{\n{lines}{attributes}\n}}\n")
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_else(|| panic!("no text: {value}")).to_owned()
}
