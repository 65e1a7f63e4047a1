//! The planned state. Values that the apply cannot change are known.

use std::collections::{BTreeMap, BTreeSet};

use crate::cloud::Unmanaged;
use crate::composite::decision::Decision;
use crate::composite::generate::configuration_of;
use crate::composite::private_state::Private;
use crate::composite::status::Status;
use crate::composite::{location, state, used};
use crate::model::{Entry, Ids, Inventory, Key, Object, ResolvedObject, Scope, WhenInUse};
use crate::plugin::schema::with_defaults;
use crate::plugin::{Attribute, AttributeType, Mode, Nested, Nesting, Value};
use crate::reconcile::Action;
use crate::topology::Topology;

/// The inputs of a planned state.
pub(super) struct Announcement<'a, P: Topology> {
    /// The prior state; null for a create.
    pub(super) prior: &'a Value,
    /// The configuration, with defaults.
    pub(super) attributes: &'a Value,
    /// The configuration, without defaults.
    pub(super) written: &'a Value,
    /// The same, decoded.
    pub(super) config: &'a P::Config,
    /// The scope of the provider; `None` if it is unknown.
    pub(super) scope: Option<&'a Scope>,
}

impl<P: Topology> Announcement<'_, P> {
    /// Returns the planned state when the set of objects is known. Ids that do not change are known too.
    /// `released` describes the objects that the apply leaves in AWS, by id.
    pub(super) fn decided(
        &self,
        private: &Private,
        decision: &Decision,
        takes_over: bool,
        released: &BTreeMap<String, String>,
    ) -> Value {
        let prior = self.prior;
        let mut ids = unchanged_ids(&private.inventory, decision);
        // A destroy in the same run may delete what a create would use, and then it is created.
        let is_new = |entry: &&Entry| used::is_new(prior, entry);
        private.inventory.current().filter(is_new).for_each(|entry| ids.remove(&entry.key));
        let keeps_used = used::ids_in(&private.inventory, &decision.objects) == used::ids_in_state(prior);
        let mut planned = self.base(Some(&shown(&private.inventory, &decision.objects)), &ids);
        let objects = decision.objects.iter();
        planned.set("aws_objects", Value::map(objects.map(|object| (object.key.slot.clone(), ids.id(&object.key)))));
        planned.set("drift", Value::Map(BTreeMap::new()));
        // The create of a default group or ACL, or of an object that has no tags, adopts the existing one.
        let is_adopted = |it: &Unmanaged| {
            decision.plan.ops.iter().any(|op| match &op.action {
                Action::Create(object) => {
                    (object.spec.is_adopted() || !it.is_tagged) && it.slot.as_ref() == Some(&object.key.slot)
                }
                Action::Update { .. } | Action::Delete { .. } => false,
            })
        };
        if !prior.is_null() && keeps_used && !takes_over && !private.unmanaged.iter().any(is_adopted) {
            // An apply looks for no further ones.
            let mut unmanaged = prior.get("unmanaged_objects").clone();
            for (id, text) in released {
                unmanaged.set(id, text.as_str().into());
            }
            planned.set("unmanaged_objects", unmanaged);
        } else {
            planned.set("unmanaged_objects", Value::Unknown);
        }
        let is_manual = private.inventory.is_deployed_by_hand();
        let may_wait = |entry: &Entry| {
            entry.spec().when_in_use() == WhenInUse::Deferred
                || (is_manual && entry.spec().is_part_of_unmanaged_object())
        };
        let has_pending = private.inventory.present().any(|entry| entry.pending_deletion);
        let may_defer = has_pending || (!prior.is_null() && decision.plan.deleted().any(may_wait));
        let is_open = !decision.plan.is_empty() && may_defer;
        let is_taken_back = |entry: &Entry| {
            let is_current = private.inventory.current().any(|it| it.key == entry.key);
            !is_current && decision.objects.iter().any(|object| object.key == entry.key)
        };
        let stays = |entry: &&Entry| entry.pending_deletion && !is_taken_back(entry);
        let staying = state::by_slot(private.inventory.present().filter(stays));
        planned.set("pending_deletion", if is_open { Value::Unknown } else { staying.into() });
        if decision.plan.is_empty() && private.is_observed_only(&decision.objects) {
            // All drift already matches the configuration, so no change is needed.
            let mut quiet = planned.clone();
            quiet.set("drift", prior.get("drift").clone());
            self.keep_derived(&mut quiet);
            if quiet == *prior {
                return quiet;
            }
        }
        let may_stay_detached = decision.plan.ops.iter().any(|op| match &op.action {
            Action::Create(object) | Action::Update { to: object, .. } => object.spec.depends_on_attachment(),
            Action::Delete { .. } => false,
        });
        let has_drift = prior.get("drift").as_map().is_some_and(|drift| !drift.is_empty());
        // When the inputs are known, the plan of the apply may find that no change is needed, and keeps the drift.
        let may_keep_drift = has_drift && !self.attributes.is_wholly_known();
        // Terraform does not apply a plan whose planned state equals the prior state.
        if may_keep_drift || may_stay_detached || (!decision.plan.is_empty() && planned == *prior) {
            planned.set("drift", Value::Unknown);
        }
        if !self.attributes.is_wholly_known() {
            self.leave_open(&mut planned);
        }
        planned
    }

    /// Sets inputs to their prior values that the configuration omits, as a generated one does because they follow from
    /// other attributes. Terraform allows this for inputs that the provider may compute.
    fn keep_derived(&self, planned: &mut Value) {
        let is_omitted = |it: &Attribute| {
            it.mode == Mode::OptionalComputed
                && self.attributes.get(&it.name).is_null()
                && planned.get(&it.name) != self.prior.get(&it.name)
        };
        let omitted: Vec<Attribute> = P::Config::attributes().into_iter().filter(is_omitted).collect();
        if omitted.is_empty() {
            return;
        }
        let generated = configuration_of::<P>(self.prior, None);
        for Attribute { name, .. } in omitted.iter().filter(|it| generated.get(&it.name).is_null()) {
            planned.set(name, self.prior.get(name).clone());
        }
    }

    /// Plans omitted inputs as unknown that have another value in state. Once everything is known, the plan may find
    /// that nothing changes, and then keeps their values.
    pub(super) fn leave_open(&self, planned: &mut Value) {
        for Attribute { name, mode, kind, default, .. } in P::Config::attributes() {
            let may_be_computed = mode == Mode::OptionalComputed || default.is_some();
            let prior = self.prior.get(&name);
            let differs = !prior.is_null() && planned.get(&name) != prior;
            if may_be_computed
                && differs
                && self.written.get(&name).is_null()
                && matches!(kind, AttributeType::Plain(_))
            {
                planned.set(&name, Value::Unknown);
            }
        }
    }

    /// Returns the configured attributes, `id`, `tags_all` and the outputs.
    pub(super) fn base(&self, objects: Option<&[Object]>, ids: &Ids) -> Value {
        let mut planned = state::empty::<P>();
        let attributes = P::Config::attributes();
        let [filled_prior, filled] = [self.prior, self.attributes].map(|inputs| with_defaults(&attributes, inputs));
        for Attribute { name, kind, .. } in &attributes {
            let (prior, value) = (self.prior.get(name), self.attributes.get(name));
            // Terraform allows a provider to keep a prior value that means the same. An import sets empty values that a
            // plan leaves out.
            let is_same_text =
                || prior.as_str().zip(value.as_str()).is_some_and(|(one, other)| P::is_same_text(name, one, other));
            let is_default = || self.written.get(name).is_null() && filled_prior.get(name) == filled.get(name);
            let keeps_prior = !prior.is_null() && (is_same_text() || is_default());
            planned.set(
                name,
                match (keeps_prior, kind) {
                    (true, _) => prior.clone(),
                    (false, AttributeType::Nested(nesting, nested)) => {
                        with_prior_defaults(*nesting, nested, (prior, value, self.written.get(name)))
                    }
                    (false, AttributeType::Plain(_)) => value.clone(),
                },
            );
        }
        planned.set("id", known_id(self.prior));
        Status::Ready.write(&mut planned);
        location::write(self.scope, &mut planned);
        planned.set("tags_all", state::tags_all::<P>(self.config, self.scope));
        for (name, value) in P::outputs(self.config, objects, ids, self.scope) {
            planned.set(&name, value);
        }
        planned
    }
}

/// Returns the planned value of a nested attribute: with the prior values of attributes that the configuration omits
/// and that mean the same, such as an empty list in place of null. `written` is the value without defaults.
fn with_prior_defaults(
    nesting: Nesting,
    attributes: &[Attribute],
    (prior, value, written): (&Value, &Value, &Value),
) -> Value {
    let of_entry = |prior: &Value, value: &Value, written: &Value| {
        let (Value::Map(_), Value::Map(_), Value::Map(_)) = (prior, value, written) else { return value.clone() };
        let mut kept = value.clone();
        for Attribute { name, kind, .. } in attributes {
            let (prior_value, own) = (prior.get(name), written.get(name));
            let [before, after] = [prior, value].map(|entry| with_defaults(attributes, entry).get(name).clone());
            if own.is_null() && !prior_value.is_null() && before == after {
                kept.set(name, prior_value.clone());
            } else if let AttributeType::Nested(nesting, nested) = kind {
                kept.set(name, with_prior_defaults(*nesting, nested, (prior_value, value.get(name), own)));
            }
        }
        kept
    };
    match (nesting, value) {
        (Nesting::Single, _) => of_entry(prior, value, written),
        (Nesting::Map, Value::Map(entries)) => Value::map(
            entries.iter().map(|(key, value)| (key.clone(), of_entry(prior.get(key), value, written.get(key)))),
        ),
        // The elements of a list have no identity.
        (Nesting::Map | Nesting::List, _) => value.clone(),
    }
}

/// Returns the objects as outputs show them after the apply.
fn shown(inventory: &Inventory, objects: &[Object]) -> Vec<Object> {
    let is_deleted = |key: &Key| !objects.iter().any(|object| object.key == *key);
    let shown = |object: &Object| match inventory.at(&object.key.slot).filter(|entry| entry.key == object.key) {
        Some(entry) if entry.ignored && object.spec.target().is_some() => {
            let spec = entry.merged_with(object, &is_deleted).0.spec;
            (!entry.is_missing()).then(|| Object::new(object.key.clone(), spec))
        }
        _ => Some(object.clone()),
    };
    objects.iter().filter_map(shown).collect()
}

/// Returns the ids of the required objects that exist and keep their id.
fn unchanged_ids(inventory: &Inventory, decision: &Decision) -> Ids {
    let (mut ids, mut changed) = (Ids::default(), BTreeSet::new());
    let existing = inventory.ids();
    for object in &decision.objects {
        if let Some(resolved) = existing.get(&object.key) {
            ids.insert(object.key.clone(), resolved.clone());
        }
    }
    for op in &decision.plan.ops {
        if let Action::Update { before, to, .. } = &op.action
            && to.spec.changes_learned(before.as_kind())
        {
            changed.insert(to.key.clone());
        }
        match &op.action {
            Action::Create(object) => ids.remove(&object.key),
            // An adoption changes nothing but tags.
            Action::Update { to, .. } if to.spec.gets_new_id_when_updated() && inventory.foreign(&to.key).is_none() => {
                ids.remove(&to.key);
            }
            Action::Update { id, to, certain, .. } => {
                // An object that is required again while it is in pending deletion keeps its ID.
                if existing.get(&to.key).is_none() && !id.is_empty() {
                    let learned = inventory.present().find(|entry| entry.id == *id && entry.key == to.key);
                    let learned = learned.map(|entry| entry.learned.clone()).unwrap_or_default();
                    ids.insert(to.key.clone(), ResolvedObject { id: id.clone(), learned });
                }
                if !certain {
                    ids.mark_incomplete(&to.key);
                }
            }
            Action::Delete { .. } => {}
        }
    }
    for key in &changed {
        ids.forget_created_with(key);
    }
    ids
}

fn known_id(prior: &Value) -> Value {
    match prior.get("id") {
        Value::String(id) => id.as_str().into(),
        _ => Value::Unknown,
    }
}
