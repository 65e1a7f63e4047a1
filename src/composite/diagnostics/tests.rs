//! Text from AWS cannot forge a message. Any user who may write tags chooses such text.

use std::collections::BTreeMap;

use super::*;
use crate::cloud::{Case, Cause, Dependent, Dependents, Failure, Namesake, Root, RootFilter};
use crate::model::{Eip, Entry, GuardDutyObjects, Input, Inventory, Key, RouteTable, Spec, Tags};
use crate::plugin::Diagnostics;
use crate::topology::four_tier_vpc::FourTierVpc;

/// A name that ends its line, begins a reassuring one, reverses the text and clears the line of a terminal.
const FORGED: &str = "spare\n  kept: nothing is deleted\u{202e}\u{9b}2K";

fn tags() -> Tags {
    Input::Known(BTreeMap::new())
}

/// Panics if a message has a line that only `FORGED` can have added, or a hidden character.
fn assert_not_forged(Diagnostics(messages): Diagnostics) {
    assert!(!messages.is_empty());
    for message in messages {
        let text = format!("{}\n{}", message.summary, message.detail);
        assert!(text.contains("kept: nothing is deleted"), "the name is not in the message: {text}");
        assert!(!text.lines().any(|line| line.trim_start().starts_with("kept:")), "{text}");
        assert!(!text.contains(['\u{202e}', '\u{9b}']), "{text:?}");
    }
}

#[test]
fn keys_and_ids_of_deleted_objects_add_no_line() {
    let table = Spec::RouteTable(RouteTable { tags: tags(), ..RouteTable::test() });
    let mut entry = Entry::new(Key::new(format!("route_table.{FORGED}")), FORGED, table);
    entry.learned.unmanaged_routes = vec![(FORGED.to_string(), FORGED.to_string())];
    let address = Spec::Eip(Eip { tags: tags(), ..Eip::test() });
    let mut address = Entry::new(Key::new(format!("eip.{FORGED}")), FORGED, address);
    address.learned.insert("public_ip".to_string(), FORGED.to_string());
    let inventory = Inventory { entries: vec![entry.clone(), address] };
    let mut found = Diagnostics::default();
    let nothing = Dependents::default();
    let keep = GuardDutyObjects::Keep;
    warn_of_end::<FourTierVpc>(End::Destroy, ("prod", FORGED), &inventory, Some(&nothing), keep, &mut found);
    root_is_missing::<FourTierVpc>(&crate::plugin::Value::Null, "prod", &inventory, &mut found);
    left_to_others(&entry, &mut found);
    assert_not_forged(found);
}

#[test]
fn failures_and_dependents_add_no_line() {
    let failure = Failure {
        code: Some(format!("Code{FORGED}")),
        request_id: Some(FORGED.to_string()),
        ..Failure::new(Cause::Other, FORGED, FORGED)
    };
    let mut found = Diagnostics::default();
    failed("Could not read prod".to_string(), &failure, &mut found);
    still_deploying::<FourTierVpc>("api", &failure, &mut found);
    not_attached(&[(FORGED.to_string(), FORGED.to_string())].into(), &mut found);
    unknown_outcomes::<FourTierVpc>("prod", FORGED, &mut found);
    leftovers::<FourTierVpc>(
        "prod",
        &[Namesake {
            id: FORGED.to_string(),
            created: Some(FORGED.to_string()),
            state: None,
            features: Default::default(),
        }],
        false,
        &mut found,
    );
    let dependent = Dependent {
        kind: "network interface",
        id: FORGED.to_string(),
        description: FORGED.to_string(),
        further: FORGED.to_string(),
        owner: Some(FORGED.to_string()),
        holds: Vec::new(),
        guardduty: vec![FORGED.to_string()],
    };
    let dependents = Dependents { objects: vec![dependent], unseen: vec![failure] };
    warn_of_paths::<FourTierVpc>("prod", &dependents, &mut found);
    assert_not_forged(found);
}

#[test]
fn names_and_tags_of_roots_add_no_line() {
    let root = |id: &str| Root {
        id: id.to_string(),
        name: FORGED.to_string(),
        tags: [(FORGED.to_string(), FORGED.to_string())].into(),
        state: None,
    };
    let (one, other) = (root("vpc-1"), root(FORGED));
    let mut found = Diagnostics::default();
    let filter = RootFilter { name: Some("prod"), ..Default::default() };
    several_found::<FourTierVpc>(&filter, &[&one, &other], &mut found);
    assert_not_forged(found);
}

#[test]
fn tags_outside_terraform_add_no_line_to_the_drift() {
    let of = |tags| Spec::Eip(Eip { tags: Input::Known(tags), ..Eip::test() });
    let differences = of(BTreeMap::new()).differences(&of([(FORGED.to_string(), Input::Known(String::new()))].into()));
    assert_eq!(differences, ["tag spare\\n  kept: nothing is deleted\\u{202e}\\u{9b}2K is added"]);
}

#[test]
fn only_a_managed_object_may_have_been_deleted_outside_terraform() {
    let missing = |cause| {
        let failure = Failure::new(cause, "CreateNatGateway", "The allocation ID 'eipalloc-9' does not exist");
        super::text::detail(&Failure { code: Some("InvalidAllocationID.NotFound".into()), ..failure })
    };
    assert!(missing(Cause::NotFound).contains("deleted outside Terraform"));
    let reference = missing(Cause::NoSuchReference);
    assert!(reference.contains("the configuration refers to it") && !reference.contains("deleted"), "{reference}");
    assert!(missing(Cause::NotDeleted).contains("still exists"));
}

#[test]
fn a_failed_operation_names_its_case() {
    let of = |further: &str, guardduty: &[&str]| Dependents {
        objects: vec![Dependent {
            kind: "network interface",
            id: "eni-1".to_string(),
            description: String::new(),
            further: further.to_string(),
            owner: None,
            holds: Vec::new(),
            guardduty: guardduty.iter().map(ToString::to_string).collect(),
        }],
        unseen: Vec::new(),
    };
    let case = |cause, found: &Dependents| super::text::case(&Failure::new(cause, "DeleteSubnet", "no"), Some(found));
    assert_eq!(case(Cause::InUse, &of("type vpc_endpoint", &["vpce-1"])), Some(Case::GuardDuty));
    assert_eq!(case(Cause::TimedOut, &of("type lambda", &[])), Some(Case::LambdaInterfaces));
    assert_eq!(case(Cause::InUse, &of("type lambdas", &[])), None);
    assert_eq!(case(Cause::Denied, &of("", &[])), Some(Case::PermissionMissing));
    assert_eq!(case(Cause::Lost, &of("", &[])), Some(Case::ConnectionLost));
    let refused = Failure::new(Cause::Lost, "DeleteSubnet", "no").with_advice("Start it.", []);
    assert_eq!(super::text::case(&refused, None), None);
    let full = Failure { case: Some(Case::AccessLogs), ..Failure::new(Cause::Denied, "CreateStage", "no") };
    assert_eq!(super::text::case(&full, None), Some(Case::AccessLogs));
    let mut denied = Diagnostics::default();
    failed("Could not plan".to_string(), &Failure::new(Cause::Denied, "DescribeVpcs", "no"), &mut denied);
    assert!(denied.0[0].detail.ends_with(&Case::PermissionMissing.see()), "{denied:?}");
}
