//! Random values of every input, on top of random configurations: a generator draws not only defaults.

use std::collections::{BTreeMap, BTreeSet};

use proptest::prelude::*;
use proptest::sample::Index;
use proptest::strategy::ValueTree;
use proptest::test_runner::TestRunner;

use super::Topology;
use crate::plugin::{Attribute, AttributePath, AttributeType, Mode, Nested, Value, schema};

/// Values of an input, or of several that belong together: by path, such as `flow_logs.*.tags`, where `*` are some of
/// the entries.
pub(crate) struct Setting(Vec<Vec<(&'static str, Value)>>);

/// Values of one input.
pub(crate) fn values<const N: usize>(path: &'static str, values: [Value; N]) -> Setting {
    Setting(values.into_iter().map(|value| vec![(path, value)]).collect())
}

/// Inputs that belong together.
pub(crate) fn together<const N: usize>(inputs: [(&'static str, Value); N]) -> Setting {
    Setting(vec![inputs.into()])
}

/// A map with one entry.
pub(crate) fn entry(key: &str, value: impl Into<Value>) -> Value {
    Value::map([(key, value.into())])
}

/// Values of an input with tags.
pub(crate) fn tags() -> [Value; 2] {
    [entry("team", "web"), Value::map([("cost", "1".into()), ("team", "net".into())])]
}

/// Which settings to set: the setting, its value, and the entries of a map.
pub(crate) type Picks = Vec<(Index, Index, u8)>;

pub(crate) fn some_picks() -> impl Strategy<Value = Picks> {
    prop::collection::vec((any::<Index>(), any::<Index>(), any::<u8>()), 0..7)
}

/// Sets some settings of a configuration, each as far as the configuration stays valid.
pub(crate) fn with_picks<P: Topology>(config: Value, settings: &[Setting], picks: &Picks) -> Value {
    picks.iter().fold(config, |config, (setting, value, entries)| {
        let Setting(alternatives) = setting.get(settings);
        let mut changed = config.clone();
        for (path, value) in value.get(alternatives) {
            set(&mut changed, &path.split('.').collect::<Vec<_>>(), value, *entries);
        }
        if is_valid::<P>(&changed) { changed } else { config }
    })
}

/// The configurations of a generator with some settings.
pub(crate) fn with_settings<P: Topology>(
    configs: impl Strategy<Value = Value>,
    settings: Vec<Setting>,
) -> impl Strategy<Value = Value> {
    let settings = std::sync::Arc::new(settings);
    (configs, some_picks()).prop_map(move |(config, picks)| with_picks::<P>(config, &settings, &picks))
}

/// Sets an input, in the entries with these positions.
fn set(object: &mut Value, path: &[&str], value: &Value, entries: u8) {
    let (name, rest) = path.split_first().expect("a path has names");
    if rest.is_empty() {
        return object.set(name, value.clone());
    }
    let Value::Map(all) = object else { return };
    match *name {
        "*" => {
            let picked = all.values_mut().enumerate().filter(|(position, _)| entries >> (position % 8) & 1 == 1);
            picked.for_each(|(_, item)| set(item, rest, value, entries));
        }
        name => drop(all.get_mut(name).map(|object| set(object, rest, value, entries))),
    }
}

/// Whether the schema and the topology accept a configuration.
pub(crate) fn is_valid<P: Topology>(config: &Value) -> bool {
    let attributes = P::Config::attributes();
    let config = schema::with_defaults(&attributes, config);
    let mut problems = schema::check(&attributes, &config, &AttributePath::root());
    match P::Config::decode(&config, &AttributePath::root(), &mut problems) {
        Some(config) => problems.is_empty() && P::validate(&config).is_empty(),
        None => false,
    }
}

/// Asserts that each input, at every depth, takes at least two values in valid ones of these configurations. `except`
/// has those that do not, each with the reason.
pub(crate) fn assert_every_setting_is_drawn<P: Topology>(
    configs: impl Strategy<Value = Value>,
    except: &[(&str, &str)],
) {
    let mut runner = TestRunner::deterministic();
    let attributes = P::Config::attributes();
    let mut found: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    name_all(&attributes, "", &mut found);
    for _ in 0..1500 {
        let config = configs.new_tree(&mut runner).expect("the generator rejects nothing").current();
        if is_valid::<P>(&config) {
            add_values(&attributes, &schema::with_defaults(&attributes, &config), "", &mut found);
        }
    }
    let constant = found.iter().filter(|(_, values)| values.len() < 2).map(|(path, _)| path.as_str());
    let constant: BTreeSet<&str> = constant.collect();
    let expected: BTreeSet<&str> = except.iter().map(|(path, _)| *path).collect();
    assert_eq!(constant, expected, "inputs with one value; each needs a setting, or a reason in the list");
}

fn name_all(attributes: &[Attribute], prefix: &str, found: &mut BTreeMap<String, BTreeSet<String>>) {
    for attribute in attributes.iter().filter(|it| it.mode != Mode::Computed) {
        let path = format!("{prefix}{}", attribute.name);
        if let AttributeType::Nested(_, nested) = &attribute.kind {
            name_all(nested, &format!("{path}."), found);
        }
        found.insert(path, BTreeSet::new());
    }
}

fn add_values(attributes: &[Attribute], object: &Value, prefix: &str, found: &mut BTreeMap<String, BTreeSet<String>>) {
    for attribute in attributes.iter().filter(|it| it.mode != Mode::Computed) {
        let (path, value) = (format!("{prefix}{}", attribute.name), object.get(&attribute.name));
        if let AttributeType::Nested(nesting, nested) = &attribute.kind {
            let items: Vec<&Value> = match value {
                Value::Map(_) if *nesting == schema::Nesting::Single => vec![value],
                Value::Map(entries) => entries.values().collect(),
                Value::List(items) => items.iter().collect(),
                _ => Vec::new(),
            };
            for item in items {
                add_values(nested, item, &format!("{path}."), found);
            }
        }
        found.get_mut(&path).expect("all paths are named").insert(value.to_string());
    }
}
