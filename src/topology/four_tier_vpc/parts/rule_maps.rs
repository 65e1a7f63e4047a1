//! Maps of rules, which the parts with rules share: from rules that exist to entries of the configuration.

use std::collections::BTreeMap;

use crate::plugin::schema::{with_defaults, without_empty};
use crate::plugin::{AttributePath, Encode, FromValue, Input, Value};

/// A map of rules in the configuration.
pub(super) type RuleMap<R> = Input<BTreeMap<String, Input<R>>>;

/// An entry of a map of rules.
pub(super) trait RuleEntry: Encode + FromValue {
    /// A rule in the form of AWS.
    type Rule: Clone + Ord;

    /// The rules that the entry requires; `None` while any part is unknown.
    fn rules(&self) -> Option<Vec<Self::Rule>>;

    /// The entries that require these rules.
    fn of_all(rules: &[Self::Rule]) -> BTreeMap<String, Self>;
}

/// The rules that a map requires, sorted; `None` while any part is unknown.
pub(super) fn required<R: RuleEntry>(map: &RuleMap<R>) -> Option<Vec<R::Rule>> {
    let rules: Option<Vec<Vec<R::Rule>>> = map.known()?.values().map(|entry| entry.known()?.rules()).collect();
    let mut rules: Vec<R::Rule> = rules?.into_iter().flatten().collect();
    rules.sort();
    Some(rules)
}

/// Sets a map for an import, unless its default requires the rules that exist.
pub(super) fn import<R: RuleEntry>(attributes: &mut Value, name: &str, now: &[R::Rule]) {
    let default = RuleMap::<R>::from_value(attributes.get(name), &AttributePath::new(name), &mut Vec::new());
    let mut sorted = now.to_vec();
    sorted.sort();
    if default.and_then(|default| required(&default)) != Some(sorted) {
        let entries = R::of_all(now).into_iter().map(|(key, entry)| (key, entry.encode()));
        attributes.set(name, Value::map(entries));
    }
}

/// Keeps the entries of a map whose rules all exist, and adds entries for the other rules.
pub(super) fn reflect<R: RuleEntry>(
    state: &mut Value,
    name: &str,
    now: &[R::Rule],
    generated: impl Fn(&[R::Rule]) -> BTreeMap<String, R>,
) {
    let Some(entries) = state.get(name).as_map() else { return };
    let mut kept: BTreeMap<String, Value> = BTreeMap::new();
    let mut covered: Vec<R::Rule> = Vec::new();
    for (key, entry) in entries {
        let decoded = R::decode(&with_defaults(&R::attributes(), entry), &AttributePath::root(), &mut Vec::new());
        let Some(rules) = decoded.and_then(|entry| entry.rules()) else { continue };
        if !rules.is_empty() && rules.iter().all(|rule| now.contains(rule)) {
            kept.insert(key.clone(), entry.clone());
            covered.extend(rules);
        }
    }
    let rest: Vec<R::Rule> = now.iter().filter(|rule| !covered.contains(rule)).cloned().collect();
    for (key, entry) in generated(&rest) {
        let free = (2..).map(|number| format!("{key}.{number}"));
        let key = std::iter::once(key.clone()).chain(free).find(|key| !kept.contains_key(key));
        kept.extend(key.map(|key| (key, without_empty(&R::attributes(), &entry.encode()))));
    }
    state.set(name, Value::Map(kept));
}
