//! What unmanaged objects have that only one object can have: those that something else built.

use super::Simulation;
use crate::cloud::{Begun, Cause, Failure, Obstacle};
use crate::model::{Claim, Entry, Object, Spec};

/// Whether AWS rejects a second object of this kind with what the first one has, and a plan looks for the first one.
fn has_what_one_can_have(spec: &Spec) -> bool {
    matches!(
        spec,
        Spec::SecurityGroup(_)
            | Spec::InterfaceEndpoint(_)
            | Spec::FlowLog(_)
            | Spec::EgressOnlyInternetGateway(_)
            | Spec::NatGateway(_)
    )
}

/// What an object begins to have.
fn gained(begun: &Begun<'_>) -> Vec<Claim> {
    let before = begun.before.map(|before| before.claims()).unwrap_or_default();
    begun.spec.claims().into_iter().filter(|claim| !before.contains(claim)).collect()
}

/// Whether both have the same name. It is no claim, because a group keeps its name when its entry gets another key.
fn have_one_name(object: &Object, begun: &Begun<'_>) -> bool {
    matches!(object.spec, Spec::SecurityGroup(_)) && begun.before.is_none() && object.key.slot == begun.key.slot
}

impl Simulation {
    /// Gives the ownership tags of an object to another root, or removes them.
    pub(crate) fn give_to(&self, slot: &str, root_id: Option<&str>) {
        let objects = self.objects();
        let key = objects.iter().map(|object| &object.key).find(|key| key.slot == slot).expect("it exists");
        let mut owners = self.created_for.lock().unwrap();
        owners.remove(key);
        owners.extend(root_id.map(|id| (key.clone(), id.to_string())));
    }

    /// The ID of the object that something else built and that has what another one gains.
    fn built_with(&self, begun: &Begun<'_>, is_managed: impl Fn(&str) -> bool) -> Option<String> {
        let gained = gained(begun);
        let (further, ids) = (self.further.lock().unwrap(), self.ids.lock().unwrap());
        let is_it = |it: &&Object| {
            has_what_one_can_have(&it.spec)
                && further.contains(&it.key.slot)
                && !is_managed(&ids[&it.key])
                && (have_one_name(it, begun) || Claim::any_collide(&it.spec.claims(), &gained))
        };
        self.objects().iter().find(is_it).map(|object| ids[&object.key].clone())
    }

    pub(super) fn obstacles_to(&self, begun: &[Begun<'_>], existing: &[Entry]) -> Vec<Obstacle> {
        let is_managed = |id: &str| existing.iter().any(|entry| entry.id == id);
        let obstacle = |begun: &Begun<'_>| {
            let id = self.built_with(begun, is_managed)?;
            let message = format!("{id} has what {} needs.", begun.key);
            let hint = format!("Set {:?} = {id:?} in adopt.", begun.key.slot);
            Some(Obstacle { key: begun.key.clone(), id, owner: None, message, hint })
        };
        begun.iter().filter_map(obstacle).collect()
    }

    /// The answer of AWS to a create for which something else has the place.
    pub(super) fn refuse_for_further(&self, object: &Object) -> Result<(), Failure> {
        let begun = Begun { key: &object.key, before: None, spec: &object.spec };
        match self.built_with(&begun, |_| false) {
            Some(id) => Err(Failure::new(Cause::Exists, "Simulate", format!("{id} exists already"))),
            None => Ok(()),
        }
    }
}
