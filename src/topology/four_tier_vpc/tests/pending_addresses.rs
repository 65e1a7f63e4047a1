//! Blocks of subnets that the same plan deletes, or that an earlier run failed to delete, when new subnets are placed.

use super::*;
use crate::reconcile;

#[test]
fn a_new_tier_avoids_the_blocks_of_a_deleted_one() {
    let tiers = |app: bool, persistence: bool| {
        config(&[
            ("create_private_app_subnets", app.into()),
            ("create_private_persistence_subnets", persistence.into()),
            ("private_subnet_spacing", 16_i64.into()),
            ("persistence_subnet_spacing", 16_i64.into()),
        ])
    };
    let before = objects(&tiers(true, false), "abc");
    assert_eq!(blocks(&before)["subnet.private_app.0"], "10.0.128.0/21");
    let after = blocks(&next_objects(&tiers(false, true), Some(&tiers(true, false)), &applied(&before), "abc"));
    // The formula's blocks are .128, .136 and .144, which the other tier has until the new subnets exist.
    for (index, block) in ["10.0.176.0/21", "10.0.184.0/21", "10.0.192.0/21"].iter().enumerate() {
        assert_eq!(after[&format!("subnet.private_persistence.{index}")], *block);
    }
    assert_eq!(after["subnet.public.0"], "10.0.0.0/21");
}

#[test]
fn bits_that_change_while_a_tier_is_off_apply_when_it_returns() {
    let with = |on: bool, bits: i64| {
        config(&[("create_private_persistence_subnets", on.into()), ("persistence_subnet_bits", bits.into())])
    };
    let before = objects(&with(true, 5), "abc");
    let mut existing = applied(&before);
    set_pending_deletion(&mut existing, "subnet.private_persistence");
    // The tier is disabled with five bits, changed to six bits, and then enabled.
    let after = blocks(&next_objects(&with(true, 6), Some(&with(false, 6)), &existing, "abc"));
    assert!(after["subnet.private_persistence.0"].ends_with("/22"), "{after:?}");
    existing.entries.retain(|entry| !entry.key.slot.contains("private_persistence"));
    let new_bits = blocks(&next_objects(&with(true, 6), Some(&with(false, 6)), &existing, "abc"));
    let old_bits = blocks(&next_objects(&with(true, 6), Some(&with(false, 5)), &existing, "abc"));
    assert_eq!(new_bits, old_bits);
}

#[test]
fn the_block_of_a_duplicate_subnet_is_avoided() {
    let without = config(&[("create_private_persistence_subnets", false.into())]);
    let mut existing = applied(&objects(&without, "ab"));
    let mut stray = existing.at("subnet.public.0").unwrap().clone();
    (stray.key, stray.id) = (Key::new("stray.subnet-7"), "subnet-7".into());
    let Spec::Subnet(subnet) = &mut stray.applied else { unreachable!() };
    subnet.cidr_block = Input::Known("10.0.160.0/21".into());
    existing.entries.push(stray);
    let after = blocks(&next_objects(&config(&[]), Some(&without), &existing, "ab"));
    assert_eq!(after["subnet.public.0"], "10.0.0.0/21");
    let persistence = ["subnet.private_persistence.0", "subnet.private_persistence.1"].map(|slot| after[slot].as_str());
    assert_eq!(persistence, ["10.0.208.0/21", "10.0.168.0/21"]);
}

#[test]
fn an_entry_may_use_the_block_of_a_subnet_that_is_deleted() {
    let entry = |block: &str| ("public_subnet_cidr_blocks", Value::map([("AZ-0", block.into())]));
    let off = ("create_private_persistence_subnets", false.into());
    let existing = applied(&objects(&config(&[]), "ab"));
    let after = next_objects(&config(&[entry("10.0.160.0/22"), off]), Some(&config(&[])), &existing, "ab");
    assert_eq!(blocks(&after)["subnet.public.0"], "10.0.160.0/22");
    let plan = reconcile::plan(&existing, &after).unwrap();
    let at = |slot: &str, create: bool| {
        let is_it = |op: &reconcile::Op| {
            op.action.key().slot == slot && matches!(op.action, reconcile::Action::Create(_)) == create
        };
        plan.ops.iter().position(is_it).unwrap()
    };
    let (create, delete) = (at("subnet.public.0", true), at("subnet.private_persistence.0", false));
    assert!(plan.ops[create].depends_on.contains(&delete), "{plan:#?}");
    // If that subnet stays, the entry is rejected.
    let problems = blueprint(&config(&[entry("10.0.160.0/22")]), Some(&config(&[])), &existing, "ab").unwrap_err();
    assert!(problems[0].message.contains("10.0.160.0/22 overlaps 10.0.160.0/21"), "{problems:?}");
}
