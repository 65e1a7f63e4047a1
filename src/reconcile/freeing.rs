//! Deletions that make room at a quota.

use std::collections::BTreeSet;

use super::plan::{Action, Op, Phase, Plan};
use super::suspend::suspensions;
use crate::model::{Entry, Inventory, OnDelete, Ref, Spec};

impl Plan {
    /// The deletions of objects that no other object refers to, and that count towards a quota that `failed` exceed.
    /// Before the deletion of a route, the stages are suspended. `existing` are the current objects.
    pub fn freeing(&self, failed: &[&Spec], existing: &Inventory) -> Plan {
        let is_used = |entry: &Entry| {
            let uses = |other: &Entry| {
                let mut needs = other.spec().needs().into_iter();
                let is_target = other.spec().target() == Some(&Ref::Key(entry.key.clone()));
                is_target || needs.any(|need| need.key == entry.key && need.on_delete == OnDelete::Restrict)
            };
            existing.present().any(uses)
        };
        let deletes_unused = |action: &Action| matches!(action, Action::Delete { entry, .. } if !is_used(entry));
        let free = self.ops.iter().enumerate().filter(|(position, _)| !self.held.contains(position));
        let freeing =
            free.map(|(_, op)| op).filter(|op| op.action.makes_room_for(failed) && deletes_unused(&op.action));
        let freeing: Vec<&Op> = freeing.collect();
        let serve = freeing.iter().any(|op| op.action.spec().answers_requests());
        let first = if serve { suspensions(existing) } else { Vec::new() };
        let depends_on: BTreeSet<usize> = (0..first.len()).collect();
        let first = first.into_iter().map(|action| Op { action, depends_on: BTreeSet::new(), phase: Phase::Main });
        let freeing = freeing.into_iter().map(|op| Op { depends_on: depends_on.clone(), ..op.clone() });
        Plan { ops: first.into_iter().chain(freeing).collect(), ..Plan::default() }
    }
}
