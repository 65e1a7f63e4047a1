//! Names that only one object of an account may have: those of objects outside Terraform and of other roots.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, Weak};

use super::Simulation;
use super::shapes::learned;
use crate::cloud::{Cause, Failure};
use crate::model::{Finding, Lookup, Object, Outside, OwningRoot, Ref, Spec};

/// The names in use besides those of the simulated root.
#[derive(Default)]
pub(super) struct Names {
    /// The names of objects outside Terraform, and what a lookup finds.
    outside: Mutex<BTreeMap<Outside, Finding>>,
    /// The places of other roots in the account.
    others: Mutex<Vec<Weak<Simulation>>>,
}

impl Simulation {
    /// Lets two roots of one account meet each other's names.
    pub(crate) fn share_names(one: &Arc<Simulation>, other: &Arc<Simulation>) {
        one.names.others.lock().unwrap().push(Arc::downgrade(other));
        other.names.others.lock().unwrap().push(Arc::downgrade(one));
    }

    /// Creates an object outside Terraform with this name. A lookup finds this owner and this detail.
    pub(crate) fn take_name(&self, name: Outside, owner: Option<OwningRoot>, detail: &str) {
        let finding = Finding::Exists { owner, detail: detail.to_string() };
        self.names.outside.lock().unwrap().insert(name, finding);
    }

    /// What lookups of names find.
    pub(super) fn existing_names(&self, lookups: &[Lookup]) -> Vec<(Outside, Finding)> {
        let outside = self.names.outside.lock().unwrap().clone();
        let finding = |lookup: &Lookup| {
            let Lookup::Outside(wanted) = lookup else { return None };
            let is_name = matches!(wanted, Outside::Domain(_) | Outside::Record { .. });
            let found = outside.get(wanted).cloned();
            let found = found.or_else(|| is_name.then(|| self.holder(wanted).unwrap_or(Finding::Missing(None))));
            Some((wanted.clone(), found?))
        };
        lookups.iter().filter_map(finding).collect()
    }

    /// The object of this root or of another one that has a name.
    fn holder(&self, wanted: &Outside) -> Option<Finding> {
        self.finding_of(wanted).or_else(|| self.others().iter().find_map(|other| other.finding_of(wanted)))
    }

    fn others(&self) -> Vec<Arc<Simulation>> {
        self.names.others.lock().unwrap().iter().filter_map(Weak::upgrade).collect()
    }

    fn finding_of(&self, wanted: &Outside) -> Option<Finding> {
        let objects = self.objects();
        let object = objects.iter().find(|object| wanted.is_named_by(&object.spec))?;
        let target_of = |spec: &Spec| {
            learned(spec, "", &BTreeMap::new()).attributes.remove("target_domain_name").unwrap_or_default()
        };
        Some(match &object.spec {
            Spec::DnsRecord(record) => {
                let target = match &record.target {
                    Ref::Key(key) => objects.iter().find(|it| it.key == *key).map(|it| target_of(&it.spec)),
                    Ref::Id(target) => Some(target.clone()),
                };
                let detail = format!("{} {}", record.record_type, target.unwrap_or_default());
                Finding::Exists { owner: None, detail }
            }
            spec => Finding::Exists { owner: self.owner_of(object, &objects), detail: target_of(spec) },
        })
    }

    /// Refuses to create an object whose name something else has. A record that already points to the domain is the
    /// one that is wanted.
    pub(super) fn refuse_taken_name(&self, object: &Object) -> Result<(), Failure> {
        let mut outside = self.names.outside.lock().unwrap();
        let equal = match &object.spec {
            Spec::DnsRecord(record) => Some(format!("{} d-1.example.com", record.record_type)),
            _ => None,
        };
        outside.retain(|name, finding| match finding {
            Finding::Exists { detail, .. } => !name.is_named_by(&object.spec) || equal.as_ref() != Some(&*detail),
            _ => true,
        });
        let has_name = |other: &Arc<Simulation>| {
            let mut names = other.objects().clone().into_iter().filter_map(|it| Outside::name_of(&it.spec));
            Outside::name_of(&object.spec).is_some_and(|name| names.any(|it| it == name))
        };
        // Groups of other roots are seen as such.
        let is_group = matches!(object.spec, Spec::LogGroup(_));
        let is_taken = outside.keys().any(|name| name.is_named_by(&object.spec))
            || (!is_group && self.others().iter().any(has_name));
        match is_taken {
            true => Err(Failure::new(Cause::Exists, "Simulate", format!("the name of {} is taken", object.key))),
            false => Ok(()),
        }
    }
}
