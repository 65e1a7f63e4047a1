//! The names, and the addresses of the user, that only one object may have, as the resources of this process have and
//! want them.
//!
//! Terraform plans and applies one resource after the other, in any order. Two of them may want one name, one may want
//! the name that another one releases in the same run, and two may exchange their names, which AWS does not do in one
//! step. A resource that another provider block or another state contains is unknown here.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::managed_roots::new_root;
use crate::model::{Inventory, Outside};
use crate::reconcile::{Action, Plan};
use crate::topology::Topology;
use crate::topology::outside::{Conflict, Holder};

/// A name, with the Region in which it is unique. The Region of a name that is unique in all Regions is empty.
type Place = (Outside, String);

/// The names of all resources of this process.
#[derive(Debug, Default)]
pub(super) struct Names(Mutex<Known>);

#[derive(Debug, Default)]
struct Known {
    /// The resources, by the ID of the root or, without one, by type, name and Region.
    notes: BTreeMap<String, Note>,
    /// The names that applies in progress create.
    claimed: BTreeSet<Place>,
    /// The names that applies of this process have created.
    created: BTreeSet<Place>,
}

/// What is known of a resource.
#[derive(Debug)]
struct Note {
    resource: Claimant,
    /// The names of its objects before its plan.
    owns: BTreeSet<Place>,
    /// What its last plan does; `None` if it has none, or an undecided one.
    plan: Option<Planned>,
}

#[derive(Debug)]
struct Planned {
    /// The names of the objects that it deletes or disowns.
    releases: BTreeSet<Place>,
    /// The names of the objects that it creates, or takes from their owner.
    wants: BTreeSet<Place>,
}

/// A resource in Terraform's sense.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Claimant {
    /// The ID of its root; `None` in the plan of a create.
    root_id: Option<String>,
    /// Its type, and the name that the user gave.
    name: String,
    region: String,
}

/// The names of the objects of a resource, and what a plan does with them.
#[derive(Debug, Default)]
pub(super) struct PlannedNames {
    pub(super) owns: BTreeSet<Outside>,
    pub(super) releases: BTreeSet<Outside>,
    pub(super) wants: BTreeSet<Outside>,
}

/// The names that one apply creates, until it ends.
pub(super) struct Claim<'a> {
    names: &'a Names,
    claimed: BTreeSet<Place>,
}

impl Claimant {
    /// A resource with the name that the user gave.
    pub(super) fn of<P: Topology>(root_id: Option<&str>, name: &str, region: &str) -> Claimant {
        Claimant { root_id: root_id.map(str::to_string), name: new_root::<P>(name), region: region.to_string() }
    }

    fn key(&self) -> String {
        self.root_id.clone().unwrap_or_else(|| format!("{} in {}", self.name, self.region))
    }

    /// Whether both may be one resource, which the plan replaces: the new root has no ID yet. Two resources with one
    /// name, which `allow_duplicate_name` allows, look the same.
    fn is(&self, other: &Claimant) -> bool {
        match (&self.root_id, &other.root_id) {
            (Some(one), Some(other)) => one == other,
            _ => (&self.name, &self.region) == (&other.name, &other.region),
        }
    }
}

impl fmt::Display for Claimant {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.root_id {
            Some(root_id) => write!(formatter, "{} ({root_id})", self.name),
            None => formatter.write_str(&self.name),
        }
    }
}

impl PlannedNames {
    /// What a plan does. If it replaces the root, the destroy releases all names before.
    pub(super) fn of(inventory: &Inventory, plan: &Plan) -> PlannedNames {
        let releases = plan.deleted().filter_map(|entry| Outside::name_of(&entry.applied)).collect();
        PlannedNames { owns: owned(inventory), releases, wants: created(plan) }
    }

    /// What the plan of a destroy does.
    pub(super) fn of_destroy(inventory: &Inventory) -> PlannedNames {
        let owns = owned(inventory);
        PlannedNames { releases: owns.clone(), owns, wants: BTreeSet::new() }
    }
}

/// The names of the objects that an inventory owns.
pub(super) fn owned(inventory: &Inventory) -> BTreeSet<Outside> {
    let own = inventory.present().filter(|entry| !entry.is_used() && !entry.is_foreign());
    own.filter_map(|entry| Outside::name_of(&entry.applied)).collect()
}

/// The names of the objects that a plan creates.
pub(super) fn created(plan: &Plan) -> BTreeSet<Outside> {
    let name = |action: &Action| match action {
        Action::Create(object) => Outside::name_of(&object.spec),
        Action::Update { .. } | Action::Delete { .. } => None,
    };
    plan.ops.iter().filter_map(|op| name(&op.action)).collect()
}

fn place(region: &str, name: &Outside) -> Place {
    (name.clone(), if name.is_regional() { region.to_string() } else { String::new() })
}

fn places(region: &str, names: impl IntoIterator<Item = Outside>) -> BTreeSet<Place> {
    names.into_iter().map(|name| place(region, &name)).collect()
}

impl Names {
    /// Remembers a resource of a state, unless it is known.
    pub(super) fn note_resource(&self, resource: Claimant) {
        let key = resource.key();
        self.lock().notes.entry(key).or_insert_with(|| Note { resource, owns: BTreeSet::new(), plan: None });
    }

    /// Remembers what a plan does. `names` is `None` if the plan is undecided.
    pub(super) fn note_plan(&self, resource: &Claimant, names: Option<PlannedNames>) {
        let region = &resource.region;
        let note = match names {
            None => Note { resource: resource.clone(), owns: BTreeSet::new(), plan: None },
            Some(PlannedNames { owns, releases, wants }) => {
                let plan = Planned { releases: places(region, releases), wants: places(region, wants) };
                Note { resource: resource.clone(), owns: places(region, owns), plan: Some(plan) }
            }
        };
        self.lock().notes.insert(resource.key(), note);
    }

    /// Remembers what a resource owns after an apply.
    pub(super) fn note_applied(&self, resource: &Claimant, owns: BTreeSet<Outside>) {
        let note = Note { resource: resource.clone(), owns: places(&resource.region, owns), plan: None };
        self.lock().notes.insert(resource.key(), note);
    }

    /// Forgets all plans, when Terraform begins to plan or to apply a configuration.
    pub(super) fn forget_plans(&self) {
        let mut known = self.lock();
        known.notes.retain(|_, note| note.resource.root_id.is_some());
        known.notes.values_mut().for_each(|note| note.plan = None);
    }

    /// Forgets a root that does not exist any more.
    pub(super) fn forget_root(&self, root_id: &str) {
        self.lock().notes.remove(root_id);
    }

    /// Forgets a create that has ended.
    pub(super) fn forget_create(&self, resource: &Claimant) {
        self.lock().notes.remove(&resource.key());
    }

    /// The resource that has the name of an existing object. `owner` is the root that the tag of the object names.
    pub(super) fn holder(&self, resource: &Claimant, to: &Outside, owner: Option<&str>) -> Holder {
        let (known, place) = (self.lock(), place(&resource.region, &to.as_name()));
        let note = match owner {
            Some(owner) => known.notes.get(owner),
            None => known.notes.values().find(|note| note.owns.contains(&place) && !note.resource.is(resource)),
        };
        match note {
            Some(note) if note.resource.is(resource) => Holder::Same,
            Some(note) => {
                let plan = note.plan.as_ref().filter(|_| note.owns.contains(&place));
                Holder::Other {
                    described: note.resource.to_string(),
                    releases: plan.map(|plan| plan.releases.contains(&place)),
                }
            }
            None if owner.is_some_and(|owner| resource.root_id.as_deref() == Some(owner)) => Holder::Same,
            None => Holder::Unknown,
        }
    }

    /// What contradicts the last plan of a resource in those of other resources.
    pub(super) fn conflicts(&self, resource: &Claimant) -> Vec<(Outside, Conflict)> {
        self.lock().conflicts(resource)
    }

    /// Whether an apply of this process has created an object with this name in the Region of a resource.
    pub(super) fn was_created(&self, resource: &Claimant, to: &Outside) -> bool {
        self.lock().created.contains(&place(&resource.region, &to.as_name()))
    }

    /// Claims names for the creates of an apply. The error is a name that another apply creates at the same time.
    pub(super) fn claim(&self, resource: &Claimant, names: BTreeSet<Outside>) -> Result<Claim<'_>, Outside> {
        let claimed = places(&resource.region, names);
        let mut known = self.lock();
        if let Some((name, _)) = claimed.iter().find(|it| known.claimed.contains(*it)) {
            return Err(name.clone());
        }
        known.claimed.extend(claimed.iter().cloned());
        Ok(Claim { names: self, claimed })
    }

    fn lock(&self) -> MutexGuard<'_, Known> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Known {
    fn conflicts(&self, resource: &Claimant) -> Vec<(Outside, Conflict)> {
        let Some((note, plan)) = self.notes.get(&resource.key()).and_then(|it| Some((it, it.plan.as_ref()?))) else {
            return Vec::new();
        };
        let others = || self.notes.values().filter(|other| !other.resource.is(resource));
        let wants = |other: &Note, place: &Place| other.plan.as_ref().is_some_and(|it| it.wants.contains(place));
        let of_wanted = |place: &Place| {
            others().find_map(|other| {
                let described = other.resource.to_string();
                let releases = other.plan.as_ref().filter(|_| other.owns.contains(place));
                match releases.map(|plan| plan.releases.contains(place)) {
                    _ if wants(other, place) => Some(Conflict::Wanted { by: described }),
                    Some(false) => Some(Conflict::Kept { by: described }),
                    Some(true) => {
                        let own = self.leads_to(other, note, &mut BTreeSet::new())?;
                        Some(Conflict::Exchange { with: described, own })
                    }
                    None => None,
                }
            })
        };
        let of_kept = |place: &Place| {
            others().find(|other| wants(other, place)).map(|it| Conflict::Wanted { by: it.resource.to_string() })
        };
        let wanted = plan.wants.iter().filter_map(|place| Some((place.0.clone(), of_wanted(place)?)));
        let kept = note.owns.difference(&plan.releases);
        let kept = kept.filter_map(|place| Some((place.0.clone(), of_kept(place)?)));
        wanted.chain(kept).collect()
    }

    /// The name of `to` for which a resource waits, or one of those for which it waits.
    fn leads_to(&self, from: &Note, to: &Note, seen: &mut BTreeSet<String>) -> Option<Outside> {
        if !seen.insert(from.resource.key()) {
            return None;
        }
        from.plan.iter().flat_map(|plan| &plan.wants).find_map(|place| match to.owns.contains(place) {
            true => Some(place.0.clone()),
            false => {
                let owner = self.notes.values().find(|note| note.owns.contains(place))?;
                self.leads_to(owner, to, seen)
            }
        })
    }
}

impl Drop for Claim<'_> {
    fn drop(&mut self) {
        let mut known = self.names.lock();
        known.claimed.retain(|name| !self.claimed.contains(name));
        known.created.append(&mut self.claimed);
    }
}
