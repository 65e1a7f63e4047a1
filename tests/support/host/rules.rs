//! The rules of Terraform core for the values of a provider: the proposed new state, and the checks of a plan and of an
//! applied state. The functions follow Terraform's package `objchange`. The unit tests of `src/composite` include this
//! file too, so it imports its types from the parent module.

use super::{Attribute, AttributeType, Mode, Nesting, Type, Value};

/// Whether the provider may set the attribute if the configuration does not.
fn is_computed(attribute: &Attribute) -> bool {
    matches!(attribute.mode, Mode::Computed | Mode::OptionalComputed) || attribute.default.is_some()
}

/// An object with these attributes, all null.
pub(super) fn empty(attributes: &[Attribute]) -> Value {
    Value::map(attributes.iter().map(|it| (it.name.clone(), Value::Null)))
}

/// The new state that Terraform proposes to the provider's plan: the configuration, with prior values for the computed
/// attributes that it does not set.
pub(super) fn proposed(attributes: &[Attribute], prior: &Value, config: &Value) -> Value {
    if config.is_null() || config.is_unknown() {
        return config.clone();
    }
    let merged = attributes.iter().map(|attribute| {
        let (prior, config) = (prior.get(&attribute.name), config.get(&attribute.name));
        let value = match &attribute.kind {
            _ if is_computed(attribute) && config.is_null() && !was_configured(attribute, prior) => prior.clone(),
            AttributeType::Nested(nesting, nested) => proposed_nested(*nesting, nested, prior, config),
            AttributeType::Plain(_) => config.clone(),
        };
        (attribute.name.clone(), value)
    });
    Value::map(merged)
}

fn proposed_nested(nesting: Nesting, attributes: &[Attribute], prior: &Value, config: &Value) -> Value {
    match (nesting, config) {
        (Nesting::Single, config) => proposed(attributes, prior, config),
        (Nesting::Map, Value::Map(items)) => {
            let items = items.iter().map(|(key, item)| (key.clone(), proposed(attributes, prior.get(key), item)));
            Value::map(items)
        }
        (Nesting::List, Value::List(items)) => {
            let prior = |index: usize| match prior {
                Value::List(priors) => priors.get(index).cloned().unwrap_or_default(),
                _ => Value::Null,
            };
            let items = items.iter().enumerate().map(|(index, item)| proposed(attributes, &prior(index), item));
            Value::List(items.collect())
        }
        (_, config) => config.clone(),
    }
}

/// Whether a nested attribute has a leaf that only the configuration can have set. Then an absent configuration means
/// that it was removed, and Terraform does not propose the prior value.
fn was_configured(attribute: &Attribute, prior: &Value) -> bool {
    let AttributeType::Nested(_, nested) = &attribute.kind else { return false };
    let has = |item: &Value| nested.iter().any(|it| !is_computed(it) && !item.get(&it.name).is_null());
    attribute.mode != Mode::Computed
        && match (&attribute.kind, prior) {
            (AttributeType::Nested(Nesting::Single, _), prior) => has(prior),
            (_, Value::Map(items)) => items.values().any(has),
            (_, Value::List(items)) => items.iter().any(has),
            _ => false,
        }
}

/// The parts of a plan that Terraform rejects, one line each.
pub(super) fn rejected_in_plan(
    attributes: &[Attribute],
    prior: &Value,
    config: &Value,
    planned: &Value,
) -> Vec<String> {
    let mut rejected = Vec::new();
    object_in_plan(attributes, prior, config, planned, "", &mut rejected);
    rejected
}

fn object_in_plan(
    attributes: &[Attribute],
    prior: &Value,
    config: &Value,
    planned: &Value,
    path: &str,
    rejected: &mut Vec<String>,
) {
    for attribute in attributes {
        let name = &attribute.name;
        let (prior, config, planned) = (prior.get(name), config.get(name), planned.get(name));
        let path = format!("{path}.{name}");
        let computed = is_computed(attribute);
        let accepted = planned == config
            || (planned == prior && !prior.is_null() && !config.is_null())
            || (computed && (attribute.mode == Mode::Computed || config.is_null()));
        match &attribute.kind {
            _ if accepted => {}
            _ if config.is_null() => rejected.push(format!("{path}: planned value for a non-computed attribute")),
            AttributeType::Plain(_) => {
                rejected.push(format!("{path}: planned value {planned} does not match config value {config}"));
            }
            AttributeType::Nested(nesting, nested) => {
                nested_in_plan(*nesting, nested, [prior, config, planned], &path, rejected);
            }
        }
    }
}

fn nested_in_plan(
    nesting: Nesting,
    attributes: &[Attribute],
    [prior, config, planned]: [&Value; 3],
    path: &str,
    rejected: &mut Vec<String>,
) {
    match (nesting, config, planned) {
        (Nesting::Single, Value::Map(_), Value::Map(_)) => {
            object_in_plan(attributes, prior, config, planned, path, rejected);
        }
        (Nesting::Map, Value::Map(configs), Value::Map(plans)) if configs.keys().eq(plans.keys()) => {
            for (key, config) in configs {
                let path = format!("{path}[{key:?}]");
                object_in_plan(attributes, prior.get(key), config, &plans[key], &path, rejected);
            }
        }
        (Nesting::List, Value::List(configs), Value::List(plans)) if configs.len() == plans.len() => {
            for (index, (config, planned)) in configs.iter().zip(plans).enumerate() {
                let prior = match prior {
                    Value::List(items) => items.get(index).cloned().unwrap_or_default(),
                    _ => Value::Null,
                };
                object_in_plan(attributes, &prior, config, planned, &format!("{path}[{index}]"), rejected);
            }
        }
        _ => rejected.push(format!("{path}: planned {planned} for the configured {config}")),
    }
}

/// Adds a line for each part of a value that Terraform rejects because it differs from the plan. Unknown parts of the
/// plan may have any value.
pub(super) fn unlike_planned(kind: &Type, planned: &Value, actual: &Value, path: &str, unlike: &mut Vec<String>) {
    match (kind, planned, actual) {
        (_, Value::Unknown, _) => {}
        (Type::Object(attributes), Value::Map(_), Value::Map(_)) => {
            for (name, kind) in attributes {
                unlike_planned(kind, planned.get(name), actual.get(name), &format!("{path}.{name}"), unlike);
            }
        }
        (Type::Map(kind), Value::Map(plans), Value::Map(actuals)) if plans.keys().eq(actuals.keys()) => {
            for (key, planned) in plans {
                unlike_planned(kind, planned, &actuals[key], &format!("{path}[{key:?}]"), unlike);
            }
        }
        (Type::List(kind), Value::List(plans), Value::List(actuals)) if plans.len() == actuals.len() => {
            for (index, (planned, actual)) in plans.iter().zip(actuals).enumerate() {
                unlike_planned(kind, planned, actual, &format!("{path}[{index}]"), unlike);
            }
        }
        (Type::Set(_), Value::List(plans), Value::List(actuals)) => {
            let is_present = |planned: &Value| planned.is_unknown() || actuals.contains(planned);
            if actuals.len() > plans.len() || !plans.iter().all(is_present) {
                unlike.push(format!("{path}: planned {planned}, but now {actual}"));
            }
        }
        (_, planned, actual) if planned == actual => {}
        _ => unlike.push(format!("{path}: planned {planned}, but now {actual}")),
    }
}

/// The value with its sets sorted and without duplicates, as Terraform stores them.
pub(super) fn normalized(kind: &Type, value: Value) -> Value {
    match (kind, value) {
        (Type::Set(kind), Value::List(items)) => {
            let mut items: Vec<Value> = items.into_iter().map(|item| normalized(kind, item)).collect();
            items.sort_by_cached_key(Value::to_string);
            items.dedup();
            Value::List(items)
        }
        (Type::List(kind), Value::List(items)) => {
            Value::List(items.into_iter().map(|item| normalized(kind, item)).collect())
        }
        (Type::Map(kind), Value::Map(items)) => {
            Value::map(items.into_iter().map(|(key, item)| (key, normalized(kind, item))))
        }
        (Type::Object(attributes), Value::Map(items)) => {
            let attribute = |(name, item): (String, Value)| match attributes.get(&name) {
                Some(kind) => (name, normalized(kind, item)),
                None => panic!("the schema has no attribute {name}"),
            };
            Value::map(items.into_iter().map(attribute))
        }
        (_, value) => value,
    }
}
