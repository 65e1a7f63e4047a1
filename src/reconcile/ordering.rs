//! The order of operations.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::mem::Discriminant;

use super::plan::Action;
use crate::model::{Claim, Entry, Inventory, Key, OnDelete, Spec};

/// The operations of a plan while their order is determined.
pub(super) struct Ordering<'a> {
    actions: &'a [Action],
    existing: &'a Inventory,
    /// Creates and updates, by key.
    sets: BTreeMap<&'a Key, usize>,
    /// Deletions, by kind and id of the object.
    deletes: HashMap<(Discriminant<Spec>, &'a str), usize>,
    /// The dependencies of each operation, by position.
    depends_on: Vec<BTreeSet<usize>>,
}

/// The determined order.
pub(super) struct Ordered {
    /// The dependencies of each operation, by position.
    pub(super) depends_on: Vec<BTreeSet<usize>>,
    /// The deletions that free a claim of a new object, and therefore precede its creation.
    pub(super) claimed: BTreeSet<usize>,
}

impl<'a> Ordering<'a> {
    /// Indexes the operations. Their order is not determined yet.
    pub(super) fn of(actions: &'a [Action], existing: &'a Inventory) -> Ordering<'a> {
        let depends_on = vec![BTreeSet::new(); actions.len()];
        let mut ordering = Ordering { actions, existing, sets: BTreeMap::new(), deletes: HashMap::new(), depends_on };
        for (position, action) in actions.iter().enumerate() {
            match action {
                Action::Create(_) | Action::Update { .. } => ordering.sets.insert(action.key(), position),
                Action::Delete { entry, .. } => ordering.deletes.insert(entry.kind_and_id(), position),
            };
        }
        ordering
    }

    /// Determines the dependencies of each operation.
    pub(super) fn ordered(mut self) -> Ordered {
        for (position, action) in self.actions.iter().enumerate() {
            match action {
                Action::Create(object) | Action::Update { to: object, .. } => {
                    let needs = object.spec.needs().into_iter().map(|need| (need.key, need.up_to_date));
                    let needed = needs.chain(object.after.iter().map(|key| (key.clone(), true)));
                    let sets = needed.filter_map(|(key, up_to_date)| {
                        let set = *self.sets.get(&key)?;
                        (up_to_date || matches!(self.actions[set], Action::Create(_))).then_some(set)
                    });
                    self.depends_on[position].extend(sets);
                }
                Action::Delete { entry, cascades_from, .. } => {
                    self.order_delete(position, entry, cascades_from.as_ref());
                }
            }
        }
        let claimed = self.order_claims();
        let sets: Vec<usize> = self.sets.values().copied().collect();
        for (position, action) in self.actions.iter().enumerate() {
            if matches!(action, Action::Delete { .. }) && !claimed.contains(&position) {
                self.depends_on[position].extend(&sets);
            }
        }
        Ordered { depends_on: self.depends_on, claimed }
    }

    /// Orders the deletion of an object relative to the operations on its dependents.
    fn order_delete(&mut self, position: usize, entry: &Entry, cascades_from: Option<&Key>) {
        if let Some(parent) = cascades_from {
            let parents = self.deletes_of(parent);
            self.depends_on[position].extend(parents);
        }
        let existing = self.existing;
        for dependent in existing.present() {
            if let Some(need) = dependent.spec().needs().into_iter().find(|need| need.key == entry.key) {
                self.order_delete_and_dependent(position, entry, dependent, need.on_delete);
            }
        }
    }

    /// Orders the deletion of an object relative to the operation on one of its dependents.
    fn order_delete_and_dependent(&mut self, position: usize, entry: &Entry, dependent: &Entry, on_delete: OnDelete) {
        let Some(dependents_delete) = self.deletes.get(&dependent.kind_and_id()).copied() else {
            // The dependent is not deleted. If it is updated, the update removes its reference to this object.
            if on_delete == OnDelete::Restrict {
                self.depends_on[position].extend(self.sets.get(&dependent.key).copied());
            }
            return;
        };
        let dependents_parent = match &self.actions[dependents_delete] {
            Action::Delete { cascades_from, .. } => cascades_from.as_ref(),
            Action::Create(_) | Action::Update { .. } => None,
        };
        match (on_delete, dependents_parent) {
            (OnDelete::NoAction, _) => {}
            (OnDelete::DeleteAfter, _) => {
                self.depends_on[dependents_delete].insert(position);
            }
            // The dependent is deleted with this object.
            (OnDelete::Restrict, Some(parent)) if *parent == entry.key => {}
            (OnDelete::Restrict, Some(parent)) => {
                let parents = self.deletes_of(parent);
                self.depends_on[position].extend(parents);
            }
            (OnDelete::Restrict, None) => {
                self.depends_on[position].insert(dependents_delete);
            }
        }
    }

    fn deletes_of(&self, key: &Key) -> Vec<usize> {
        let holders = self.existing.present().filter(|entry| entry.key == *key);
        holders.filter_map(|entry| self.deletes.get(&entry.kind_and_id()).copied()).collect()
    }

    /// Lets the create of the new holder of a claim wait for the deletion of the old one. Returns the deletions that
    /// therefore cannot wait for all creates: those of the old holders and their dependencies.
    fn order_claims(&mut self) -> BTreeSet<usize> {
        let mut claimed = BTreeSet::new();
        let released = self.released_claims();
        for (created, action) in self.actions.iter().enumerate() {
            let object = match action {
                Action::Create(object) => object,
                Action::Update { before, to, .. } if before.can_be_renamed_to(&to.spec) => to,
                _ => continue,
            };
            let wanted = self.claims(&object.spec);
            for (position, held) in &released {
                if *position != created && Claim::any_collide(&wanted, held) {
                    self.depends_on[created].insert(*position);
                    if matches!(self.actions[*position], Action::Delete { .. }) {
                        claimed.insert(*position);
                    }
                }
            }
        }
        let mut unvisited: Vec<usize> = claimed.iter().copied().collect();
        while let Some(position) = unvisited.pop() {
            for &before in &self.depends_on[position] {
                if matches!(self.actions[before], Action::Delete { .. }) && claimed.insert(before) {
                    unvisited.push(before);
                }
            }
        }
        self.delay_claimed_deletes(&claimed);
        claimed
    }

    /// The claims of an object. A reference to an existing object is its ID, so that it collides with one by ID.
    fn claims(&self, spec: &Spec) -> Vec<Claim> {
        let id_of = |key: &Key| Some(self.existing.present().find(|entry| entry.key == *key)?.id.clone());
        spec.claims().into_iter().map(|claim| claim.resolved(&id_of)).collect()
    }

    /// The operations that release claims, with these claims: deletions, and renames, which release those of the old
    /// name.
    fn released_claims(&self) -> Vec<(usize, Vec<Claim>)> {
        let released = |action: &Action| match action {
            Action::Delete { entry, .. } => Some(self.claims(entry.spec())),
            Action::Update { before, to, .. } if before.can_be_renamed_to(&to.spec) => Some(self.claims(before)),
            Action::Create(_) | Action::Update { .. } => None,
        };
        let actions = self.actions.iter().enumerate();
        actions.filter_map(|(position, action)| Some((position, released(action)?))).collect()
    }

    /// Lets the deletion of the old holder of a claim wait for everything that the new holder needs, so that the time
    /// between them is short, and so that the old holder stays if a dependency of the new one cannot be created.
    /// Dependencies that themselves wait for the deletion are left out.
    fn delay_claimed_deletes(&mut self, claimed: &BTreeSet<usize>) {
        // An object that is deleted with its parent needs no call, so it does not wait.
        let is_call = |deleted: &usize| matches!(self.actions[*deleted], Action::Delete { cascades_from: None, .. });
        let is_delete = |position: usize| matches!(self.actions[position], Action::Delete { .. });
        for deleted in claimed.iter().copied().filter(is_call).collect::<Vec<_>>() {
            let holders = (0..self.actions.len())
                .filter(|holder| !is_delete(*holder) && self.depends_on[*holder].contains(&deleted));
            let needed = holders.flat_map(|holder| self.depends_on[holder].iter().copied());
            let needed: BTreeSet<usize> = needed.filter(|needed| !is_delete(*needed)).collect();
            for needed in needed {
                if !self.depends_on_transitively(needed, deleted) {
                    self.depends_on[deleted].insert(needed);
                }
            }
        }
    }

    /// Whether an operation waits for another one, directly or not.
    fn depends_on_transitively(&self, operation: usize, other: usize) -> bool {
        let (mut unvisited, mut visited) = (vec![operation], BTreeSet::new());
        while let Some(position) = unvisited.pop() {
            if self.depends_on[position].contains(&other) {
                return true;
            }
            unvisited.extend(self.depends_on[position].iter().copied().filter(|it| visited.insert(*it)));
        }
        false
    }
}
