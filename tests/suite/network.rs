//! `fgw_four_tier_vpc` against moto behind the proxy. Most tests run in the stand-in for Terraform; those that need
//! Terraform's own behavior run under Terraform.

#[path = "network/acl.rs"]
mod acl;
#[path = "network/adoption.rs"]
mod adoption;
#[path = "network/adoption_from_aws.rs"]
mod adoption_from_aws;
#[path = "network/adoption_from_module.rs"]
mod adoption_from_module;
#[path = "network/adoption_of_addresses.rs"]
mod adoption_of_addresses;
#[path = "network/adoption_later.rs"]
mod adoption_later;
#[path = "network/adoption_of_any.rs"]
mod adoption_of_any;
#[path = "network/adoption_of_defaults.rs"]
mod adoption_of_defaults;
#[path = "network/adoption_of_routes.rs"]
mod adoption_of_routes;
#[path = "network/adoption_of_tools.rs"]
mod adoption_of_tools;
#[path = "network/addressing.rs"]
mod addressing;
#[path = "network/blocks.rs"]
mod blocks;
#[path = "network/budget.rs"]
mod budget;
#[path = "network/connectivity.rs"]
mod connectivity;
#[path = "network/data_sources.rs"]
mod data_sources;
#[path = "network/drift.rs"]
mod drift;
#[path = "network/drift_matrix.rs"]
mod drift_matrix;
#[path = "network/duplicates.rs"]
mod duplicates;
#[path = "network/endpoint_faults.rs"]
mod endpoint_faults;
#[path = "network/endpoints.rs"]
mod endpoints;
#[path = "network/examples.rs"]
mod examples;
#[path = "network/failed_updates.rs"]
mod failed_updates;
#[path = "network/failures.rs"]
mod failures;
#[path = "network/unmanaged.rs"]
mod unmanaged;
#[path = "network/unmanaged_users.rs"]
mod unmanaged_users;
#[path = "network/flow_logs.rs"]
mod flow_logs;
#[path = "network/followed_values.rs"]
mod followed_values;
#[path = "network/full.rs"]
mod full;
#[path = "network/gateways.rs"]
mod gateways;
#[path = "network/generate.rs"]
mod generate;
#[path = "network/guardduty.rs"]
mod guardduty;
#[path = "network/ignoring.rs"]
mod ignoring;
#[path = "network/import.rs"]
mod import;
#[path = "network/inputs.rs"]
mod inputs;
#[path = "network/interface_endpoints.rs"]
mod interface_endpoints;
#[path = "network/interruptions.rs"]
mod interruptions;
#[path = "network/ipam.rs"]
mod ipam;
#[path = "network/ipv6.rs"]
mod ipv6;
#[path = "network/ipv6_tiers.rs"]
mod ipv6_tiers;
#[path = "network/kept_groups.rs"]
mod kept_groups;
#[path = "network/layout.rs"]
mod layout;
#[path = "network/leftovers.rs"]
mod leftovers;
#[path = "network/location.rs"]
mod location;
#[path = "network/pending_deletion.rs"]
mod pending_deletion;
#[path = "network/minimal.rs"]
mod minimal;
#[path = "network/missing_objects.rs"]
mod missing_objects;
#[path = "network/nat_changes.rs"]
mod nat_changes;
#[path = "network/snapshot.rs"]
mod snapshot;
#[path = "network/obstacles.rs"]
mod obstacles;
#[path = "network/ownership_tags.rs"]
mod ownership_tags;
#[path = "network/private_nat.rs"]
mod private_nat;
#[path = "network/propagation.rs"]
mod propagation;
#[path = "network/protected.rs"]
mod protected;
#[path = "network/refusals.rs"]
mod refusals;
#[path = "network/renamed.rs"]
mod renamed;
#[path = "network/route_tables.rs"]
mod route_tables;
#[path = "network/secondary_ranges.rs"]
mod secondary_ranges;
#[path = "network/security_group.rs"]
mod security_group;
#[path = "network/shared_reads.rs"]
mod shared_reads;
#[path = "network/stopped_reads.rs"]
mod stopped_reads;
#[path = "network/tag_reach.rs"]
mod tag_reach;
#[path = "network/tags.rs"]
mod tags;
#[path = "network/tier_zones.rs"]
mod tier_zones;
#[path = "network/tiers.rs"]
mod tiers;
#[path = "network/unknowns.rs"]
mod unknowns;
#[path = "network/zones.rs"]
mod zones;

use serde_json::{Value, json};

use self::snapshot::Snapshot;
use crate::both::Subject;
use crate::support::proxy::Proxy;
use crate::support::terraform::{Run, Workspace};

/// The address of the network in every configuration here.
const THIS: &str = "fgw_four_tier_vpc.this";

/// The block for runs that have to reach a timeout. Where possible, the next configuration goes without it, because
/// what has to succeed may take longer on a busy machine.
const SHORT_TIMEOUTS: &str = "  timeouts {\n    update = \"10s\"\n    delete = \"10s\"\n  }\n";

/// An account, the proxy in front of it, and a workspace with one network.
struct TestEnv {
    workspace: Workspace,
    proxy: Proxy,
}

/// The effect of an apply: its changing calls, and the differences between the account's snapshots before and after it.
#[derive(Debug)]
struct Change {
    /// Counts by action, such as `CreateRoute 2, DeleteSubnet 1`, in alphabetical order.
    calls: String,
    /// The lines of deleted objects, and the former lines of changed ones.
    old: Vec<String>,
    /// The lines of created objects, and the present lines of changed ones.
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

    /// Under Terraform, for behavior that only Terraform shows.
    fn with_terraform() -> Self {
        Self::with_terraform_and("")
    }

    /// The same, with further lines in the provider block.
    fn with_terraform_and(lines: &str) -> Self {
        let proxy = Proxy::moto();
        let workspace = Workspace::with_provider(&proxy, lines);
        Self { workspace, proxy }
    }

    /// The network `main` in 10.0.0.0/16, with further attributes, in whose ARNs the account of the test replaces
    /// 123456789012.
    fn config(&self, attributes: &str) {
        self.proxy.uses(attributes);
        self.workspace.config(&network(&self.of_account(attributes)));
    }

    /// A text with the account of the test.
    fn of_account(&self, text: &str) -> String {
        self.proxy.account().fill_in(text)
    }

    /// Applies a configuration and returns the effect.
    fn change(&self, attributes: &str) -> Change {
        self.config(attributes);
        self.apply()
    }

    /// Applies the configuration, and asserts that another plan is empty.
    fn apply(&self) -> Change {
        self.apply_with(&[])
    }

    fn apply_with(&self, options: &[&str]) -> Change {
        let before = self.snapshot();
        self.proxy.clear_calls();
        let plan = self.workspace.plan_json(options);
        self.workspace.apply_plan().succeeded();
        let calls = self.calls();
        self.assert_matches_plan(&plan);
        self.workspace.assert_nothing_to_do();
        assert_eq!(self.attribute("drift"), json!({}), "a finished apply leaves no drift");
        assert_eq!(self.attribute("pending_deletion"), json!({}), "no deleted object is in use");
        let after = self.snapshot();
        Change { calls, old: after.missing_of(&before), new: before.missing_of(&after) }
    }

    /// Asserts that every object with an unknown id in the plan was replaced. Terraform itself checks that the known
    /// ids have not changed.
    fn assert_matches_plan(&self, plan: &Value) {
        let changes = plan["resource_changes"].as_array().expect("a list");
        let change = &changes.iter().find(|it| it["address"] == THIS).expect("the plan has the network")["change"];
        let (before, after) = (&change["before"]["aws_objects"], self.attribute("aws_objects"));
        let new = change["after_unknown"]["aws_objects"].as_object().into_iter().flatten().map(|(key, _)| key);
        // The id of a route consists of its table and destination, so a replaced route has the same id.
        for key in new.filter(|key| !key.starts_with("route.")) {
            assert_ne!(before[key], after[key], "the plan replaces {key}, but the apply kept it");
        }
    }

    /// Destroys the network, and asserts through boto3 that no managed object is left.
    fn destroy(&self) -> Run {
        let run = self.workspace.destroy();
        run.succeeded();
        assert!(self.workspace.state().resource(THIS).is_none());
        self.proxy.account().assert_nothing_of_ours_is_left();
        run
    }

    /// The changing calls since the log was cleared, in the form of [`Change::calls`].
    fn calls(&self) -> String {
        let counts: Vec<String> =
            self.proxy.mutation_counts().iter().map(|(action, count)| format!("{action} {count}")).collect();
        counts.join(", ")
    }

    fn snapshot(&self) -> Snapshot {
        Snapshot::of(&self.proxy.account().list())
    }

    /// For the halves of tests that both resources share.
    fn subject(&self) -> Subject<'_> {
        Subject { type_name: "fgw_four_tier_vpc", workspace: &self.workspace, proxy: &self.proxy }
    }

    /// An attribute of the network in state.
    fn attribute(&self, name: &str) -> Value {
        self.workspace.state().attribute(THIS, name).clone()
    }

    /// The id of one of the network's objects, by its key.
    fn id(&self, key: &str) -> String {
        text(&self.attribute("aws_objects")[key])
    }

    /// A call outside Terraform that bypasses the proxy.
    fn ec2(&self, method: &str, arguments: Value) -> Value {
        self.proxy.account().boto("ec2", method, arguments)
    }

    /// Releases the addresses that a killed run allocated for no NAT gateway, as `unmanaged_objects` tells users to.
    fn release_unused_addresses(&self) {
        for (id, reason) in self.attribute("unmanaged_objects").as_object().expect("a map") {
            assert!(text(reason).contains("no NAT gateway of this network uses it"), "{id}: {reason}");
            self.ec2("release_address", json!({ "AllocationId": id }));
        }
    }

    /// Asserts that state contains the managed objects of the account, and no others.
    fn assert_state_matches_aws(&self) {
        let objects = self.attribute("aws_objects");
        let in_state: Vec<String> = objects.as_object().expect("a map").values().map(text).collect();
        for line in self.proxy.account().ours() {
            let id = line.split(' ').nth(1).expect("kind, id and tags");
            assert!(in_state.iter().any(|it| it == id), "{line} is not in state: {objects}");
        }
        let listing = self.proxy.account().list().to_string();
        for id in in_state.iter().filter(|id| !id.contains('_')) {
            assert!(listing.contains(id.as_str()), "{id} is in state but does not exist");
        }
    }
}

/// Asserts that each key in both maps has the same id in both.
fn assert_unchanged(before: &Value, after: &Value) {
    for (key, id) in before.as_object().expect("a map") {
        assert!(after[key].is_null() || after[key] == *id, "{key} was {id} and is {}", after[key]);
    }
}

/// The lines without that of the ACL, which changes with the number of subnets.
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
    value.as_str().unwrap_or_else(|| panic!("not a string: {value}")).to_owned()
}
