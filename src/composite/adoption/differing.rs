//! The inputs because of which a plan would do more to the objects that it adopts than add tags. Pure.

use std::collections::BTreeSet;
use std::fmt::{Display, Formatter};

use super::forbidden;
use crate::composite::decision::Basis;
use crate::composite::protected::Protection;
use crate::composite::state;
use crate::model::Inventory;
use crate::plugin::schema::with_defaults;
use crate::plugin::{Attribute, AttributeType, Diagnostics, Nested, Nesting, Type, Value};
use crate::topology::Topology;

/// An input, or an element of a map, that differs from what exists.
struct DifferingInput {
    name: String,
    /// The key of the element. `None` if this is a whole input.
    key: Option<String>,
    /// Null for an element that the configuration does not contain.
    given: Value,
    /// Null for an element that the existing objects do not have.
    existing: Value,
}

impl DifferingInput {
    /// Both values of an input, or of each element in which two maps differ.
    fn all(attribute: &Attribute, given: &Value, existing: &Value) -> Vec<Self> {
        let name = &attribute.name;
        let input = |key, given: &Value, existing: &Value| {
            (given != existing).then(|| Self {
                name: name.clone(),
                key,
                given: given.clone(),
                existing: existing.clone(),
            })
        };
        let is_map =
            matches!(attribute.kind, AttributeType::Plain(Type::Map(_)) | AttributeType::Nested(Nesting::Map, _));
        let (Some(of_config), Some(of_aws), true) = (given.as_map(), existing.as_map(), is_map) else {
            return input(None, given, existing).into_iter().collect();
        };
        let keys: BTreeSet<&String> = of_config.keys().chain(of_aws.keys()).collect();
        keys.into_iter().filter_map(|key| input(Some(key.clone()), given.get(key), existing.get(key))).collect()
    }

    /// Replaces the given value by the existing one.
    fn correct(&self, attributes: &mut Value) {
        let Some(key) = &self.key else { return attributes.set(&self.name, self.existing.clone()) };
        let mut elements = attributes.get(&self.name).as_map().cloned().unwrap_or_default();
        match &self.existing {
            Value::Null => drop(elements.remove(key)),
            existing => drop(elements.insert(key.clone(), existing.clone())),
        }
        attributes.set(&self.name, Value::Map(elements));
    }
}

impl Display for DifferingInput {
    fn fmt(&self, out: &mut Formatter<'_>) -> std::fmt::Result {
        let Self { name, key, given, existing } = self;
        let name = key.as_ref().map_or_else(|| name.clone(), |key| format!("{name}[{key:?}]"));
        match (key, given, existing) {
            (Some(_), _, Value::Null) => write!(out, "no {name}"),
            (Some(_), Value::Null, _) => write!(out, "{name} = {existing}"),
            _ => write!(out, "{name} = {existing} instead of {given}"),
        }
    }
}

/// The inputs that reproduce the existing objects and differ from those in the configuration: those without which the
/// plan would make fewer than `count` forbidden changes. For a foreign root, all of them if there is no such input.
/// `filled` is the configuration with defaults, `before` is the state.
pub(super) fn inputs_to_change<P: Topology>(
    basis: &Basis<'_, P>,
    filled: &Value,
    before: &Value,
    (inventory, count): (&Inventory, usize),
) -> Vec<String> {
    let differing = |before: &Value| differing::<P>(basis, filled, before, (inventory, count));
    if inventory.has_foreign_root() {
        // The import has set the inputs in the state.
        let [all, causes] = differing(before);
        return if causes.is_empty() { all } else { causes };
    }
    let Some(imported) = P::imported(inventory, basis.scope) else { return Vec::new() };
    // First with the inputs that AWS does not return as configured, then as an import returns them, in which an absent
    // value, such as no retention period, is null.
    let mut as_configured = imported.clone();
    P::take_as_applied(&mut as_configured, filled, inventory);
    let causes = [as_configured, imported].map(|before| differing(&before)[1].clone());
    causes.into_iter().find(|causes| !causes.is_empty()).unwrap_or_default()
}

/// The inputs that differ from those in `before`: all of them, and those without which the plan would make fewer than
/// `count` forbidden changes.
fn differing<P: Topology>(
    basis: &Basis<'_, P>,
    filled: &Value,
    before: &Value,
    (inventory, count): (&Inventory, usize),
) -> [Vec<String>; 2] {
    // The elements of a map are compared with none, not with null.
    let [filled, before] = [filled, before].map(|inputs| with_defaults(&P::Config::attributes(), inputs));
    let inputs = P::Config::attributes().into_iter().filter(|Attribute { name, .. }| {
        let texts = filled.get(name).as_str().zip(before.get(name).as_str());
        name != "adopt" && !texts.is_some_and(|(one, other)| P::is_same_text(name, one, other))
    });
    let both_values = |input: Attribute| DifferingInput::all(&input, filled.get(&input.name), before.get(&input.name));
    let all: Vec<DifferingInput> = inputs.flat_map(both_values).collect();
    let is_cause = |input: &&DifferingInput| {
        let mut attributes = filled.clone();
        input.correct(&mut attributes);
        let Ok((_, config)) = state::decode::<P>(&attributes) else { return false };
        let protection = Protection::none();
        let (prior, scope, facts) = (basis.prior, basis.scope, basis.facts);
        let basis = Basis::<P> { config: &config, prior, scope, facts, protection, may_rename: true };
        let (mut inventory, mut reported) = (inventory.clone(), Diagnostics::default());
        let decision = basis.decide(&mut inventory, &mut reported).ok().flatten();
        decision.is_some_and(|decision| forbidden(&inventory, &decision).len() < count)
    };
    let causes = all.iter().filter(is_cause).map(ToString::to_string).collect();
    [all.iter().map(ToString::to_string).collect(), causes]
}
