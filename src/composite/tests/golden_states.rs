//! States of earlier versions, in tests/golden/states. Every later version plans no change on them, with their private
//! state and without it, and destroys them.
//!
//! A case whose file does not exist is written. A change of the format needs a new file in addition to the old one.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use super::adoption::imported;
use super::*;
use crate::composite::status::Status;
use crate::plugin::schema::with_shown_defaults;

/// A configuration, and the state that an apply or an import has left.
#[derive(Serialize, Deserialize)]
struct Golden {
    config: Value,
    state: Value,
    private: serde_json::Value,
}

impl Golden {
    fn of<P: Topology>(terraform: &Terraform<P>, config: &Value) -> Golden {
        let private = serde_json::from_slice(&terraform.private).expect("private state is JSON");
        Golden { config: config.clone(), state: terraform.state.clone(), private }
    }

    /// The case of a file, if it exists.
    fn read(path: &PathBuf) -> Option<Golden> {
        Some(serde_json::from_slice(&std::fs::read(path).ok()?).expect("it was written by a test"))
    }

    /// Terraform with this state, and the account that it describes.
    fn terraform<P: Topology>(&self) -> Terraform<P> {
        let mut terraform = Terraform::<P>::new(3);
        // As the server completes a state of an earlier version.
        let attributes = terraform.resource.schema().attributes;
        terraform.state = with_shown_defaults(&attributes, &completed(&self.state, &terraform.kind));
        terraform.private = serde_json::to_vec(&self.private).expect("it was JSON");
        terraform.account.restore(&inventory(&terraform.private));
        terraform
    }
}

/// Reads a case, or writes it.
async fn golden(name: &str, written: impl Future<Output = Golden>) -> Golden {
    let path = PathBuf::from(format!("{}/tests/golden/states/{name}.json", env!("CARGO_MANIFEST_DIR")));
    if let Some(golden) = Golden::read(&path) {
        return golden;
    }
    let mut text = serde_json::to_string_pretty(&written.await).expect("values are JSON");
    text.push('\n');
    std::fs::create_dir_all(path.parent().expect("a folder")).expect("the folder can be created");
    std::fs::write(&path, text).expect("the file can be written");
    Golden::read(&path).expect("it was written")
}

/// Asserts that a state plans nothing, with its private state and without it, and is destroyed.
async fn assert_quiet_and_destroyed<P: Topology>(golden: &Golden) {
    for keeps_private in [true, false] {
        let mut terraform = golden.terraform::<P>();
        if !keeps_private {
            terraform.private = Vec::new();
        }
        let mut before = terraform.state.clone();
        terraform.assert_quiet(&golden.config).await;
        // The refresh adds outputs that the earlier version did not have.
        for (name, value) in terraform.state.as_map().into_iter().flatten() {
            if golden.state.as_map().is_some_and(|state| !state.contains_key(name)) {
                before.set(name, value.clone());
            }
        }
        assert!(terraform.state == before, "a refresh changes {}", differing(&before, &terraform.state));
        assert_eq!(terraform.account.take_calls(), [""; 0]);
        assert_eq!(terraform.destroy().await, Diagnostics::default());
        assert_eq!(terraform.account.slots(), [""; 0]);
    }
}

fn wide_network() -> Value {
    let tags = Value::map([("team", Value::from("web"))]);
    network(&[
        ("create_transit_subnets", true.into()),
        ("num_nat_gateways", 2.into()),
        ("allow_private_persistence_internet_access", true.into()),
        ("enable_ipv6", true.into()),
        ("assign_generated_ipv6_cidr_block", true.into()),
        ("apply_default_nacl_rules", true.into()),
        ("custom_tags", tags),
    ])
}

fn wide_gateway() -> Value {
    let routes = [("GET /a", route("a", Some("guard"))), ("POST /{proxy+}", route("b", None))];
    let domain = [
        ("domain_name", Value::from("a.example.com")),
        ("create_dns_entry", true.into()),
        ("hosted_zone_id", "Z0123456789A".into()),
    ];
    gateway(&routes, &[("guard", authorizer("guard"))], &domain)
}

async fn applied<P: Topology>(config: Value) -> Golden {
    let mut terraform = Terraform::<P>::new(3);
    terraform.assert_applies(&config).await;
    Golden::of(&terraform, &config)
}

async fn adopted<P: Topology>(config: Value) -> Golden {
    let (mut terraform, generated) = imported::<P>(&config).await;
    terraform.assert_applies(&generated).await;
    Golden::of(&terraform, &generated)
}

#[tokio::test(start_paused = true)]
async fn a_golden_network_plans_nothing() {
    let golden = golden("network", applied::<FourTierVpc>(wide_network())).await;
    assert_quiet_and_destroyed::<FourTierVpc>(&golden).await;
}

#[tokio::test(start_paused = true)]
async fn a_golden_adopted_network_plans_nothing() {
    let golden = golden("network_adopted", adopted::<FourTierVpc>(wide_network())).await;
    assert_quiet_and_destroyed::<FourTierVpc>(&golden).await;
}

#[tokio::test(start_paused = true)]
async fn a_golden_gateway_plans_nothing() {
    let golden = golden("gateway", applied::<HttpGateway>(wide_gateway())).await;
    assert_quiet_and_destroyed::<HttpGateway>(&golden).await;
}

#[tokio::test(start_paused = true)]
async fn a_golden_adopted_gateway_plans_nothing() {
    let golden = golden("gateway_adopted", adopted::<HttpGateway>(wide_gateway())).await;
    assert_quiet_and_destroyed::<HttpGateway>(&golden).await;
}

fn protected_gateway() -> Value {
    let mut scoped = route("a", Some("users"));
    scoped.set("authorization_scopes", Value::from(vec!["read"]));
    let mut signed = route("b", None);
    signed.set("authorization_type", "AWS_IAM".into());
    let users = Value::map([("users", jwt_authorizer("https://id.example.com/"))]);
    gateway(&[("GET /a", scoped), ("GET /b", signed)], &[], &[("jwt_authorizers", users)])
}

#[tokio::test(start_paused = true)]
async fn a_golden_gateway_with_tokens_and_signatures_plans_nothing() {
    let golden = golden("gateway_protected", applied::<HttpGateway>(protected_gateway())).await;
    assert_quiet_and_destroyed::<HttpGateway>(&golden).await;
}

#[tokio::test(start_paused = true)]
async fn a_golden_adopted_gateway_with_tokens_plans_nothing() {
    let golden = golden("gateway_protected_adopted", adopted::<HttpGateway>(protected_gateway())).await;
    assert_quiet_and_destroyed::<HttpGateway>(&golden).await;
}

/// An import that no apply has adopted. A destroy deletes nothing of it, even if the state of the root were lost.
#[tokio::test(start_paused = true)]
async fn a_destroy_of_a_golden_import_deletes_nothing() {
    let written = async {
        let (terraform, generated) = imported::<FourTierVpc>(&wide_network()).await;
        Golden::of(&terraform, &generated)
    };
    let golden = golden("network_not_adopted", written).await;
    for status in [Status::NotAdopted, Status::Ready] {
        let mut terraform = golden.terraform::<FourTierVpc>();
        assert_eq!(Status::in_state(&terraform.state), Some(Status::NotAdopted));
        status.write(&mut terraform.state);
        let existing = terraform.account.slots();
        assert_eq!(terraform.destroy().await, Diagnostics::default());
        assert_eq!(terraform.account.slots(), existing);
    }
}
