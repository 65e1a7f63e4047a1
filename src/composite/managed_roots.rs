//! The roots that this process knows to be managed by the current state, and the lookup of all others.
//!
//! Terraform tells a provider neither the address of a resource nor which other resources a state contains. A process
//! learns the ids of managed roots from the requests that it receives, and from its own creates.

use std::collections::btree_map;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicBool, Ordering};

use tokio::sync::watch;

use super::duplicates::{Comparison, is_unfinished};
use crate::cloud::{Cloud, Failure, Namesake};
use crate::model::{Entry, Inventory, Origin};
use crate::topology::Topology;

/// The managed roots of all resource types.
#[derive(Debug, Default)]
pub(super) struct ManagedRoots(watch::Sender<Known>);

#[derive(Debug, Default)]
struct Known {
    ids: BTreeSet<String>,
    /// The IDs of the roots that this process has destroyed.
    destroyed: BTreeSet<String>,
    /// The number of creates, by [`new_root`], whose root has no id yet: AWS may have created it already.
    without_id: BTreeMap<String, usize>,
    /// Whether a destroy keeps an object that others may use, by the IDs of its root and of the object.
    kept: BTreeMap<(String, String), bool>,
    /// The IDs of the objects that roots use without owning them, by root: its ID or [`new_root`].
    used: BTreeMap<String, BTreeSet<String>>,
}

/// The roots that stop a create, and those that do not because they are managed.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Found {
    pub(super) unfinished: Vec<Namesake>,
    /// Unfinished roots that the configuration would not create again. They do not stop a create.
    pub(super) other_unfinished: Vec<Namesake>,
    pub(super) complete: Vec<Namesake>,
    /// The ids of the roots that are managed.
    pub(super) managed: BTreeSet<String>,
    /// The ids of all roots with the name, also of those that the configuration allows.
    pub(super) namesakes: BTreeSet<String>,
}

/// A root without an ID: its type and the name that the user gave.
pub(super) fn new_root<P: Topology>(name: &str) -> String {
    format!("{} {name:?}", P::TYPE_NAME)
}

/// A create that has begun. Until its root has an id, others with its name wait before they take a root that they find
/// for one of another process.
pub(super) struct BegunCreate<'a> {
    roots: &'a ManagedRoots,
    new_root: String,
    is_without_id: AtomicBool,
}

impl ManagedRoots {
    /// Adds a managed root.
    pub(super) fn add(&self, id: &str) {
        self.0.send_if_modified(|known| known.ids.insert(id.to_string()));
    }

    /// Begins a create. To be called before the first call that creates something.
    pub(super) fn begin<P: Topology>(&self, name: &str) -> BegunCreate<'_> {
        let new_root = new_root::<P>(name);
        self.0.send_modify(|known| *known.without_id.entry(new_root.clone()).or_default() += 1);
        BegunCreate { roots: self, new_root, is_without_id: AtomicBool::new(true) }
    }

    /// Lists the roots with this name that stop a create, and those that do not because they are managed.
    pub(super) async fn look_up<P: Topology>(
        &self,
        cloud: &dyn Cloud,
        name: &str,
        comparison: &Comparison,
    ) -> Result<Found, Failure> {
        let is_compared = |id: &str| matches!(comparison, Comparison::With(_)) && !self.contains(id);
        let mut roots = cloud.namesakes(P::KIND, name, &is_compared).await?;
        let namesakes = roots.iter().map(|root| root.id.clone()).collect();
        roots.retain(|root| is_unfinished(root) || comparison.finds(root) || self.contains(&root.id));
        if roots.iter().any(|root| !self.contains(&root.id)) {
            self.creates_have_ids(&new_root::<P>(name)).await;
        }
        let mut found = Found { namesakes, ..Found::default() };
        for root in roots {
            match (self.contains(&root.id), is_unfinished(&root)) {
                (true, _) => drop(found.managed.insert(root.id)),
                (false, true) if comparison.finds(&root) => found.unfinished.push(root),
                (false, true) => found.other_unfinished.push(root),
                (false, false) => found.complete.push(root),
            }
        }
        Ok(found)
    }

    /// Remembers which objects that others may use a destroy of a root keeps, and which ones it uses itself.
    pub(super) fn note_usable(&self, root_id: &str, inventory: &Inventory) {
        let usable = || inventory.current().filter(|entry| entry.applied.uses_existing().is_some());
        self.0.send_if_modified(|known| {
            let used = usable().filter(|entry| entry.is_used()).map(|entry| entry.id.clone());
            known.used.insert(root_id.to_string(), used.collect());
            for entry in usable().filter(|entry| !entry.is_used()) {
                known.kept.insert((root_id.to_string(), entry.id.clone()), entry.stays_when_deleted());
            }
            false
        });
    }

    /// The objects of a root that another root of this process uses, such as the new one in a replacement that creates
    /// it first, by their IDs, and each with such a root. One that a setting keeps is not among them: it only loses its
    /// tags.
    pub(super) fn users(&self, root_id: &str, inventory: &Inventory) -> BTreeMap<String, String> {
        let unkept = inventory.entries.iter().filter(|entry| entry.applied.uses_existing() == Some(false));
        unkept.filter_map(|entry| Some((entry.id.clone(), self.user_of(root_id, &entry.id)?))).collect()
    }

    /// Keeps the objects that other roots use, unless this process has destroyed them.
    pub(super) fn keep_used(&self, users: &BTreeMap<String, String>, inventory: &mut Inventory) {
        let is_used = |entry: &&mut Entry| users.get(&entry.id).is_some_and(|user| !self.is_destroyed(user));
        inventory.entries.iter_mut().filter(is_used).for_each(|entry| entry.origin = Origin::Used);
    }

    /// Whether a destroy of a root keeps an object; `None` if this process does not know the state of the root.
    pub(super) fn keeps(&self, root_id: &str, id: &str) -> Option<bool> {
        self.0.borrow().kept.get(&(root_id.to_string(), id.to_string())).copied()
    }

    /// Another root of this process than the owner that uses an object.
    pub(super) fn user_of(&self, owner: &str, id: &str) -> Option<String> {
        let known = self.0.borrow();
        known.used.iter().find(|(user, ids)| *user != owner && ids.contains(id)).map(|(user, _)| user.clone())
    }

    /// Remembers that a root does not exist any more.
    pub(super) fn note_destroyed(&self, root_id: &str) {
        self.0.send_modify(|known| {
            known.used.remove(root_id);
            known.destroyed.insert(root_id.to_string());
        });
    }

    /// Whether this process has destroyed a root.
    pub(super) fn is_destroyed(&self, root_id: &str) -> bool {
        self.0.borrow().destroyed.contains(root_id)
    }

    /// Whether a root is managed.
    pub(super) fn contains(&self, id: &str) -> bool {
        self.0.borrow().ids.contains(id)
    }

    /// Waits until each create of this type and name that has begun has an id or has ended.
    async fn creates_have_ids(&self, new_root: &str) {
        let has_ids = |known: &Known| !known.without_id.contains_key(new_root);
        let mut changes = self.0.subscribe();
        // An error would mean that the sender was dropped, but it is `self`.
        let _known = changes.wait_for(has_ids).await;
    }
}

impl BegunCreate<'_> {
    /// Records the id of the root.
    pub(super) fn has_id(&self, id: &str) {
        self.roots.add(id);
        self.ends_without_id();
    }

    fn ends_without_id(&self) {
        if !self.is_without_id.swap(false, Ordering::Relaxed) {
            return;
        }
        self.roots.0.send_modify(|known| {
            if let btree_map::Entry::Occupied(mut count) = known.without_id.entry(self.new_root.clone()) {
                *count.get_mut() -= 1;
                if *count.get() == 0 {
                    count.remove();
                }
            }
        });
    }
}

/// The create has ended, perhaps without a root.
impl Drop for BegunCreate<'_> {
    fn drop(&mut self) {
        self.ends_without_id();
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::cloud::RootState;
    use crate::composite::simulation::Simulation;
    use crate::topology::four_tier_vpc::FourTierVpc;

    async fn found(roots: &ManagedRoots, account: &Simulation) -> Found {
        roots.look_up::<FourTierVpc>(account, "main", &Comparison::Allowed).await.unwrap()
    }

    fn unfinished(id: &str) -> Namesake {
        Namesake { id: id.into(), created: None, state: Some(RootState::Creating), features: BTreeSet::new() }
    }

    /// AWS has created the root of a sibling, but its answer has not arrived yet.
    #[tokio::test(start_paused = true)]
    async fn a_create_waits_for_the_id_of_a_sibling_in_flight() {
        let (roots, account) = (Arc::new(ManagedRoots::default()), Simulation::new(1));
        account.namesakes.lock().unwrap().push(unfinished("vpc-1"));
        let (sibling, of_another_name) = (roots.begin::<FourTierVpc>("main"), roots.begin::<FourTierVpc>("other"));
        let lookup = found(&roots, &account);
        tokio::pin!(lookup);
        assert!(futures::poll!(&mut lookup).is_pending(), "the root may be that of the sibling");
        sibling.has_id("vpc-1");
        sibling.has_id("vpc-1");
        let only = || BTreeSet::from(["vpc-1".to_string()]);
        assert_eq!(lookup.await, Found { managed: only(), namesakes: only(), ..Found::default() });
        drop((sibling, of_another_name));
        assert!(roots.0.borrow().without_id.is_empty());
    }

    #[tokio::test(start_paused = true)]
    async fn a_root_without_a_sibling_in_flight_is_unfinished() {
        let (roots, account) = (ManagedRoots::default(), Simulation::new(1));
        account.namesakes.lock().unwrap().push(unfinished("vpc-1"));
        let failed = [roots.begin::<FourTierVpc>("main"), roots.begin::<FourTierVpc>("main")];
        let lookup = found(&roots, &account);
        tokio::pin!(lookup);
        assert!(futures::poll!(&mut lookup).is_pending());
        drop(failed);
        assert_eq!(lookup.await.unfinished, [unfinished("vpc-1")]);
    }

    #[tokio::test(start_paused = true)]
    async fn nothing_waits_if_no_root_is_found() {
        let (roots, account) = (ManagedRoots::default(), Simulation::new(1));
        let _in_flight = roots.begin::<FourTierVpc>("main");
        assert_eq!(found(&roots, &account).await, Found::default());
    }
}
