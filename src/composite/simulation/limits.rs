//! What AWS allows only up to a number, or only later.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use super::Simulation;
use crate::cloud::{Cause, Failure};
use crate::model::{Claim, Input, InterfaceEndpoint, Key, Object, Spec};

/// The time that the calls for the attributes of a VPC take, which are sent after its subnets may be created.
const ATTRIBUTES: Duration = Duration::from_secs(2);

/// The limits of an account.
#[derive(Default)]
pub(crate) struct Limits {
    /// How many objects AWS allows whose slots begin with this text.
    counts: Mutex<BTreeMap<&'static str, usize>>,
    /// Whether the attributes of a new VPC take longer than everything that starts meanwhile.
    pub(crate) slow_attributes: AtomicBool,
    /// The VPCs whose DNS attributes are not set yet.
    without_dns: Mutex<BTreeSet<Key>>,
}

impl Limits {
    /// Waits until the attributes of a new VPC are set.
    pub(super) async fn set_attributes(&self, object: &Object) {
        if matches!(object.spec, Spec::Vpc(_)) && self.slow_attributes.load(Ordering::Relaxed) {
            tokio::time::sleep(ATTRIBUTES).await;
        }
    }
}

/// A VPC whose attributes are not set, until it is dropped.
pub(super) struct WithoutDns<'a>(&'a Simulation, Key);

impl Drop for WithoutDns<'_> {
    fn drop(&mut self) {
        self.0.limits.without_dns.lock().unwrap().remove(&self.1);
    }
}

impl Simulation {
    /// Allows this many objects whose slots begin with `slots`.
    pub(crate) fn limit(&self, slots: &'static str, count: usize) {
        self.limits.counts.lock().unwrap().insert(slots, count);
    }

    pub(super) fn refuse_beyond_limit(&self, object: &Object) -> Result<(), Failure> {
        let objects = self.objects();
        for (slots, count) in self.limits.counts.lock().unwrap().iter() {
            let is_one = |it: &&Object| it.key.slot.starts_with(slots);
            if is_one(&object) && objects.iter().filter(is_one).count() >= *count {
                return Err(Failure::new(Cause::QuotaExceeded, "Simulate", format!("AWS allows {count} {slots}*")));
            }
        }
        Ok(())
    }

    /// An update takes only claims that no other object has.
    pub(super) fn check_gained_claims(&self, to: &Object) {
        let (objects, ids) = (self.objects(), self.ids.lock().unwrap());
        let claims = |spec: &Spec| -> Vec<Claim> {
            spec.claims().into_iter().map(|claim| claim.resolved(&|key| ids.get(key).cloned())).collect()
        };
        let before = objects.iter().find(|it| it.key == to.key).map(|it| claims(&it.spec)).unwrap_or_default();
        let gained = claims(&to.spec).into_iter().filter(|claim| !before.iter().any(|it| it.collides(claim)));
        for claim in gained {
            let holder =
                objects.iter().find(|it| it.key != to.key && claims(&it.spec).iter().any(|it| it.collides(&claim)));
            assert!(holder.is_none(), "{} takes {claim:?} of {:?}", to.key, holder.map(|it| &it.key));
        }
    }

    /// A new VPC gets its attributes after it is usable.
    pub(super) fn set_dns_later(&self, object: &Object) -> Option<WithoutDns<'_>> {
        matches!(object.spec, Spec::Vpc(_)).then(|| {
            self.limits.without_dns.lock().unwrap().insert(object.key.clone());
            WithoutDns(self, object.key.clone())
        })
    }

    /// AWS gives an endpoint names only in a VPC with both DNS attributes.
    pub(super) fn check_names(&self, spec: &Spec) {
        let endpoint = InterfaceEndpoint::of(spec).filter(|it| it.private_dns_enabled != Input::Known(false));
        let is_early = endpoint.is_some_and(|it| self.limits.without_dns.lock().unwrap().contains(&it.vpc));
        assert!(!is_early, "an endpoint gets names before the DNS attributes of its VPC are set");
    }
}
