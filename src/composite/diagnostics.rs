//! The diagnostics of a topology: data in, text out. This module uses nothing else of `composite`.
//!
//! The summary of an error names the action and the object. The detail states what AWS returned, what it means, and
//! what to do. Every summary is a literal in the call that adds it, and has a row in the table of
//! `docs/guides/when-something-goes-wrong.md`; `tests/tidy/diagnostics.rs` compares the two.

mod adoption;
mod apply;
mod destroy;
mod faults;
mod ignored;
mod import;
mod list;
mod location;
mod lookup;
mod moves;
mod plan;
mod protected;
mod renamed;
mod replaced;
mod shared_domain;
#[cfg(test)]
mod tests;
mod text;
mod users;

pub(super) use adoption::{
    Difference, InvalidEntry, adopt_before_import, adopt_has_no_effect, adopt_is_undecided, adopt_is_unknown,
    adopted_already, adoption_would_change, invalid_entries, not_adopted_yet, not_created_again, not_named_in_adopt,
    not_replaced, nothing_is_deleted, objects_of_stacks,
};
pub(super) use apply::{
    Operation, awaits_deployment, destroy_in_use, duplicates, failures, incomplete, leftovers, not_as_planned,
    not_attached, not_deployed, progress_not_written, rejected_credentials, root_not_in_plan, still_deploying,
    still_in_use, still_unknown, tag_not_changed, unknown_outcomes, unreadable_plan,
};
pub(super) use destroy::{End, warn_of_end, warn_of_unread_root};
pub(super) use faults::{warn_of_faults, warn_of_remarks};
pub(super) use ignored::{warn_of_lost_drift, warn_of_overwritten_drift};
pub(super) use import::{
    cannot_be_adopted, found_by_tags, has_other_part, left_to_others, move_refused, no_such_root, only_recorded,
};
pub(super) use list::{empty_name, not_listed, unknown_root_state};
pub(super) use location::{
    elsewhere, empty_import_id, import_from_another_account, invalid_import_id, invalid_import_region, other_partition,
    unknown_region, warn_of_another_region,
};
pub(super) use lookup::{
    no_such_id, no_topology, none_found, several_found, tags_not_shown, warn_of_unfinished, wrong_id,
};
pub(super) use moves::warn_of_moves;
pub(super) use plan::{
    addresses_in_use, not_in_one_step, overlap, public_addresses, refuse_contested, root_is_missing,
    warn_of_cut_off_interfaces, warn_of_deleted_filters, warn_of_deletions, warn_of_existing, warn_of_kept_for_users,
    warn_of_missing, warn_of_obstacle, warn_of_outages, warn_of_outside, warn_of_paths, warn_of_takeover,
    warn_of_unmatched_patterns, would_lose_root,
};
pub(super) use protected::{
    Protected, protected_from_deletion, protected_in_destroy, protected_in_replacement, protected_in_update,
};
pub(super) use renamed::{found_renamed, not_renamed, warn_of_renamed};
pub(super) use replaced::{
    Left, Unusable, refuse_unusable, refuse_unusable_replacement, refuse_weaker_objects, refuse_weaker_replacement,
    refuse_withheld, warn_of_left_settings,
};
pub(super) use shared_domain::{destroy_is_mapped, refuse_shared_domain_in_update, warn_of_mapped_stages};
pub(super) use text::{detail, failed};
pub(super) use users::warn_of_users;
