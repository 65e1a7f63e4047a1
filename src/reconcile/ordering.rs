//! The order of operations.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::mem::Discriminant;

use super::plan::Action;
use super::split::Split;
use crate::model::{Claim, Entry, Inventory, Key, OnDelete, Ref, Spec};

/// The operations of a plan while their order is determined.
pub(super) struct Ordering<'a> {
    actions: &'a [Action],
    existing: &'a Inventory,
    /// Creates and updates, by key, without early, late and detached updates.
    sets: BTreeMap<&'a Key, usize>,
    /// Early updates, by key.
    early: BTreeMap<&'a Key, usize>,
    /// Late updates, by position.
    late: &'a BTreeSet<usize>,
    /// Detached updates, by position.
    detached: &'a BTreeSet<usize>,
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
    pub(super) fn of(split: &'a Split, existing: &'a Inventory) -> Ordering<'a> {
        let Split { actions, early: first, late, detached } = split;
        let depends_on = vec![BTreeSet::new(); actions.len()];
        let (sets, early, deletes) = Default::default();
        let mut ordering = Ordering { actions, existing, sets, early, late, detached, deletes, depends_on };
        for (position, action) in actions.iter().enumerate() {
            match action {
                _ if late.contains(&position) || detached.contains(&position) => continue,
                Action::Update { .. } if first.contains(&position) => ordering.early.insert(action.key(), position),
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
                _ if self.late.contains(&position) => {}
                _ if self.early.get(action.key()) == Some(&position) => {}
                _ if self.detached.contains(&position) => {
                    self.depends_on[position].extend(self.sets.get(action.key()).copied());
                }
                Action::Create(object) | Action::Update { to: object, .. } => {
                    let needs = object.spec.needs().into_iter().map(|need| (need.key, need.up_to_date));
                    let needed = needs.chain(object.after.iter().map(|key| (key.clone(), true)));
                    let follows = self.follows_adoptions(action);
                    let sets = needed.filter_map(|(key, up_to_date)| {
                        let set = *self.sets.get(&key)?;
                        let is_new = matches!(self.actions[set], Action::Create(_));
                        (up_to_date || is_new || (follows && self.existing.foreign(&key).is_some())).then_some(set)
                    });
                    let sets: Vec<usize> = sets.collect();
                    self.depends_on[position].extend(sets);
                    self.depends_on[position].extend(self.early.get(action.key()));
                }
                Action::Delete { entry, cascades_from, .. } => {
                    self.order_delete(position, entry, cascades_from.as_ref());
                }
            }
        }
        self.order_updates();
        self.order_given_up_claims();
        self.order_adoption();
        self.order_late_updates();
        let mut claimed = self.order_claims();
        self.order_suspension(&mut claimed);
        self.order_exposure(&claimed);
        self.delay_early_updates();
        let sets: Vec<usize> = self.sets.values().copied().collect();
        for (position, action) in self.actions.iter().enumerate() {
            if self.late.contains(&position)
                || (matches!(action, Action::Delete { .. }) && !claimed.contains(&position))
            {
                self.depends_on[position].extend(&sets);
            }
        }
        self.keep_targets(&claimed);
        Ordered { depends_on: self.depends_on, claimed }
    }

    /// Lets updates wait for what is to precede them, unless that waits for them.
    fn order_updates(&mut self) {
        for position in self.sets.values().copied().collect::<Vec<_>>() {
            let Action::Update { to, .. } = &self.actions[position] else { continue };
            for first in to.updated_after.iter().filter_map(|key| self.sets.get(key).copied()).collect::<Vec<_>>() {
                if first != position && !self.depends_on_transitively(first, position) {
                    self.depends_on[position].insert(first);
                }
            }
        }
    }

    /// Whether an operation waits for the adoption of the objects that it uses: if that fails, a managed root must not
    /// get objects that use them. Until the root is adopted, nothing is managed.
    fn follows_adoptions(&self, action: &Action) -> bool {
        let uses_objects = matches!(action, Action::Create(_)) || action.spec().tags().is_none();
        uses_objects && !self.existing.has_foreign_root()
    }

    /// Lets the adoption of the root wait for that of all other objects, and for what the adoption creates: it is the
    /// mark of a complete adoption.
    fn order_adoption(&mut self) {
        let adopts = |action: &Action| match action {
            Action::Update { to, .. } => self.existing.foreign(&to.key).is_some(),
            Action::Create(_) => true,
            Action::Delete { .. } => false,
        };
        // A late update waits for all others. An adoption that needs one is refused.
        let is_adoption = |at: &usize| adopts(&self.actions[*at]) && !self.late.contains(at);
        let adoptions: Vec<usize> = (0..self.actions.len()).filter(is_adoption).collect();
        let is_root =
            |at: &&usize| matches!(self.actions[**at], Action::Update { .. }) && self.actions[**at].spec().is_root();
        let Some(&root) = adoptions.iter().find(is_root) else { return };
        self.depends_on[root].extend(adoptions.iter().copied().filter(|at| *at != root));
        for &other in adoptions.iter().filter(|at| **at != root) {
            self.depends_on[other].remove(&root);
        }
    }

    /// Lets a late update wait for the deletion of the dependents of its object. It may remove references to deleted
    /// objects: then it waits for the deletion of their dependents too, and the deletion of the objects for the update.
    /// A subnet leaves an address range whatever else uses the range, or the subnet.
    fn order_late_updates(&mut self) {
        for &late in self.late {
            let Action::Update { before, to, .. } = &self.actions[late] else { continue };
            let (mut left, kept) = (before.needs(), to.spec.needs());
            left.retain(|need| !kept.contains(need));
            for deletion in left.iter().flat_map(|need| self.deletes_of(&need.key)).collect::<Vec<_>>() {
                self.depends_on[deletion].insert(late);
            }
            if to.spec.holds_network_interfaces() {
                continue;
            }
            for used in std::iter::once(&to.key).chain(left.iter().map(|need| &need.key)) {
                let dependents = self.deletes_of_dependents(used);
                self.depends_on[late].extend(dependents);
            }
        }
    }

    /// Lets the deletion of a target wait for the deletion of the subnets whose route tables refer to it. AWS rejects
    /// the deletion of a subnet while it is in use. The deletion of a target that frees a claim cannot wait, so its
    /// routes are rerouted (see `reroute`). If the whole topology is deleted, nothing is kept.
    ///
    /// A late update of a subnet takes the addresses to which the routes belong. It follows their deletion, and that of
    /// their target follows it.
    fn keep_targets(&mut self, claimed: &BTreeSet<usize>) {
        let deletes_root =
            self.actions.iter().any(|action| matches!(action, Action::Delete { entry, .. } if entry.spec().is_root()));
        if deletes_root {
            return;
        }
        for route in self.existing.present().filter(|entry| self.deletes.contains_key(&entry.kind_and_id())) {
            let (Some(Ref::Key(target)), Some(parent)) = (route.spec().target(), route.spec().parent()) else {
                continue;
            };
            let late = self.late_updates_of_users(parent);
            let deletion = self.deletes[&route.kind_and_id()];
            // A subnet that stays has another table by the time that its old one is deleted with its routes.
            if matches!(self.actions[deletion], Action::Delete { cascades_from: None, .. }) {
                for &update in &late {
                    if !self.depends_on_transitively(deletion, update) {
                        self.depends_on[update].insert(deletion);
                    }
                }
            }
            let dependents = [self.deletes_of_dependents(parent), late].concat();
            for position in self.deletes_of(target).into_iter().filter(|position| !claimed.contains(position)) {
                // A route that was changed outside Terraform may lead to a gateway inside the subnet.
                let before = dependents.iter().filter(|it| !self.depends_on_transitively(**it, position));
                let before: Vec<usize> = before.copied().collect();
                self.depends_on[position].extend(before);
            }
        }
    }

    /// The late updates of the subnets that use a route table.
    fn late_updates_of_users(&self, table: &Key) -> Vec<usize> {
        let needs = |entry: &Entry, key: &Key| entry.spec().needs().iter().any(|need| need.key == *key);
        let uses_table = |key: &Key| self.existing.present().any(|it| needs(it, table) && needs(it, key));
        let is_of_user = |late: &&usize| {
            let action = &self.actions[**late];
            action.spec().holds_network_interfaces() && uses_table(action.key())
        };
        self.late.iter().filter(is_of_user).copied().collect()
    }

    /// The deletions of the dependents of an object, without those that its own deletion causes.
    fn deletes_of_dependents(&self, key: &Key) -> Vec<usize> {
        let dependents =
            self.existing.present().filter(|entry| entry.spec().needs().iter().any(|need| need.key == *key));
        let deletes = dependents.filter_map(|entry| self.deletes.get(&entry.kind_and_id()).copied());
        deletes.filter(|deletion| !self.cascades_from(*deletion, key)).collect()
    }

    fn cascades_from(&self, deletion: usize, key: &Key) -> bool {
        matches!(&self.actions[deletion], Action::Delete { cascades_from: Some(parent), .. } if parent == key)
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
                let leaves =
                    |early: &&usize| self.actions[**early].spec().needs().iter().all(|need| need.key != entry.key);
                let early = self.early.get(&dependent.key).filter(leaves);
                self.depends_on[position].extend(early.or(self.sets.get(&dependent.key)).copied());
            }
            return;
        };
        let dependents_parent = match &self.actions[dependents_delete] {
            Action::Delete { cascades_from, .. } => cascades_from.as_ref(),
            Action::Create(_) | Action::Update { .. } => None,
        };
        match (on_delete, dependents_parent) {
            // A route is deleted before its target, so that it never leads nowhere.
            (OnDelete::NoAction, None) if dependent.spec().target() == Some(&Ref::Key(entry.key.clone())) => {
                self.depends_on[position].insert(dependents_delete);
            }
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

    /// Lets the new holder of a claim wait for the update by which the old one gives it up, unless that waits for it.
    fn order_given_up_claims(&mut self) {
        let sets: Vec<usize> = self.sets.values().copied().collect();
        let given_up = |position: &usize| match &self.actions[*position] {
            Action::Update { before, to, .. } => (*position, self.without(self.claims(before), &to.spec)),
            Action::Create(_) | Action::Delete { .. } => (*position, Vec::new()),
        };
        let given_up: Vec<(usize, Vec<Claim>)> = sets.iter().map(given_up).filter(|(_, it)| !it.is_empty()).collect();
        for (position, (first, claims)) in sets.iter().flat_map(|it| given_up.iter().map(move |other| (*it, other))) {
            let takes = position != *first && Claim::any_collide(&self.gained_claims(position), claims);
            if takes && !self.depends_on_transitively(*first, position) {
                self.depends_on[position].insert(*first);
            }
        }
    }

    /// The claims that an operation takes.
    fn gained_claims(&self, position: usize) -> Vec<Claim> {
        match &self.actions[position] {
            Action::Create(object) => self.claims(&object.spec),
            Action::Update { before, to, .. } => self.without(self.claims(&to.spec), before),
            Action::Delete { .. } => Vec::new(),
        }
    }

    /// The claims that do not collide with those of this spec.
    fn without(&self, mut claims: Vec<Claim>, spec: &Spec) -> Vec<Claim> {
        let others = self.claims(spec);
        claims.retain(|claim| !others.iter().any(|other| claim.collides(other)));
        claims
    }

    /// Lets the new holder of a claim wait for the deletion of the old one. Returns the deletions that therefore cannot
    /// wait for all creates and updates: those of the old holders and their dependencies.
    fn order_claims(&mut self) -> BTreeSet<usize> {
        let mut claimed = BTreeSet::new();
        let released = self.released_claims();
        for holder in self.sets.values().copied().collect::<Vec<_>>() {
            let wanted = self.gained_claims(holder);
            for (position, held) in &released {
                if Claim::any_collide(&wanted, held) && !self.depends_on_transitively(*position, holder) {
                    self.depends_on[holder].insert(*position);
                    claimed.insert(*position);
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

    /// The deletions, with the claims that they release.
    fn released_claims(&self) -> Vec<(usize, Vec<Claim>)> {
        let released = |action: &Action| match action {
            Action::Delete { entry, .. } => Some(self.claims(entry.spec())),
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

    /// While the stage deploys no changes, all routes are deleted, so that it never serves a part of the old ones. If
    /// it is deleted too, its successor is created after that, and everything else is deleted after the stage, so that
    /// nothing waits for its deployment.
    fn order_suspension(&mut self, claimed: &mut BTreeSet<usize>) {
        let is_stage = |position: &usize| self.actions[*position].spec().is_deployed_by_aws();
        let suspensions: Vec<usize> = self.early.values().copied().filter(is_stage).collect();
        let is_suspended = |spec: &Spec| spec.is_deployed_by_aws() && spec.suspended() == *spec;
        // A failed run may have suspended the old stage already.
        let is_successor = !suspensions.is_empty()
            || self.actions.iter().any(|it| matches!(it, Action::Delete { entry, .. } if is_suspended(entry.spec())));
        let resumes = |set: &usize| match &self.actions[*set] {
            Action::Update { before, to, .. } => is_suspended(before) && to.spec.suspended() != to.spec,
            Action::Create(object) => object.spec.is_deployed_by_aws() && is_successor,
            _ => false,
        };
        let Some(resumption) = self.sets.values().copied().find(resumes) else { return };
        let routes: Vec<usize> = self.deleted_routes().into_iter().map(|(position, _)| position).collect();
        for position in routes {
            claimed.insert(position);
            self.depends_on[position].extend(&suspensions);
            self.depends_on[resumption].insert(position);
        }
        let is_delete = |position: &usize| matches!(self.actions[*position], Action::Delete { .. });
        let deletes: Vec<usize> = (0..self.actions.len()).filter(is_delete).collect();
        for &stage in deletes.iter().filter(|position| is_stage(position)) {
            for other in deletes.iter().filter(|other| **other != stage && !claimed.contains(other)) {
                if !self.depends_on_transitively(stage, *other) {
                    self.depends_on[*other].insert(stage);
                }
            }
        }
    }

    /// Lets the deletion of a route wait for that of the routes that would accept requests which it rejects.
    fn order_exposure(&mut self, claimed: &BTreeSet<usize>) {
        let routes = self.deleted_routes();
        for (position, deleted) in routes.iter().filter(|(position, _)| !claimed.contains(position)) {
            let exposing = routes.iter().filter(|(_, other)| deleted.exposed_by(&[other.as_kind()]).is_some());
            self.depends_on[*position].extend(exposing.map(|(other, _)| *other));
        }
    }

    /// The deletions of what serves requests, except those with a parent.
    fn deleted_routes(&self) -> Vec<(usize, &'a Spec)> {
        let routes = self.actions.iter().enumerate().filter_map(|(position, action)| match action {
            Action::Delete { entry, cascades_from: None, .. } => Some((position, entry.spec())),
            _ => None,
        });
        routes.filter(|(_, spec)| spec.answers_requests()).collect()
    }

    /// Lets an early update wait for what the rest of it needs, unless that waits for the early update, so that the
    /// time between the two is short.
    fn delay_early_updates(&mut self) {
        for (key, early) in self.early.clone() {
            let Some(&rest) = self.sets.get(key) else { continue };
            for needed in self.depends_on[rest].clone() {
                if needed != early && !self.depends_on_transitively(needed, early) {
                    self.depends_on[early].insert(needed);
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
