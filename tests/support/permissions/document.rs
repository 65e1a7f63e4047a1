//! The policies of the guide, generated from the table.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value, json};

use super::{Condition, Needed, Policy, Row, arn, purposes, rows};

/// A statement of a policy.
#[derive(Clone, Debug)]
pub(crate) struct Statement {
    pub(crate) policy: Policy,
    pub(crate) purpose: &'static str,
    pub(crate) sid: String,
    pub(crate) actions: Vec<&'static str>,
    pub(crate) resources: Vec<String>,
    pub(crate) condition: Condition,
}

impl Statement {
    /// The configurations that need it.
    pub(crate) fn needed(&self) -> Needed {
        let found = purposes().find(|(policy, name, ..)| (*policy, *name) == (self.policy, self.purpose));
        found.expect("a statement has a purpose").3
    }

    pub(crate) fn json(&self) -> Value {
        let mut statement = Map::new();
        statement.insert("Sid".into(), json!(self.sid));
        statement.insert("Effect".into(), json!("Allow"));
        statement.insert("Action".into(), one_or_all(&self.actions));
        statement.insert("Resource".into(), one_or_all(&self.resources));
        let mut operators: BTreeMap<&str, Map<String, Value>> = BTreeMap::new();
        for (operator, key, values) in self.condition.clauses() {
            operators.entry(operator).or_default().insert(key.into(), one_or_all(&values));
        }
        if !operators.is_empty() {
            statement.insert("Condition".into(), json!(operators));
        }
        Value::Object(statement)
    }
}

fn one_or_all<T: serde::Serialize>(values: &[T]) -> Value {
    match values {
        [one] => json!(one),
        all => json!(all),
    }
}

/// What the rows of a statement have in common.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct Place {
    /// The index in [`purposes`].
    purpose: usize,
    condition: Condition,
    resources: Vec<&'static str>,
}

/// The statements of a policy. Each combines all rows with the same purpose, condition and resources.
pub(crate) fn statements(policy: Policy) -> Vec<Statement> {
    let mut combined: BTreeMap<Place, BTreeSet<&'static str>> = BTreeMap::new();
    let purpose = |row: &Row| {
        let found = purposes().position(|(of, name, ..)| (*of, *name) == (row.policy, row.purpose));
        found.expect("each row has a purpose")
    };
    // An action of API Gateway on several paths, each with its own row, is one statement for all of them.
    let mut paths: BTreeMap<(usize, Condition, &str), BTreeSet<&'static str>> = BTreeMap::new();
    for row in rows().filter(|row| row.policy == policy && !row.action.is_empty()) {
        let purpose = purpose(&row);
        if row.action.starts_with("apigateway:") {
            paths.entry((purpose, row.condition, row.action)).or_default().extend(row.resources);
        } else {
            let place = Place { purpose, condition: row.condition, resources: row.resources.to_vec() };
            combined.entry(place).or_default().insert(row.action);
        }
    }
    for ((purpose, condition, action), resources) in paths {
        let place = Place { purpose, condition, resources: resources.into_iter().collect() };
        combined.entry(place).or_default().insert(action);
    }
    let of = |purpose: usize| combined.keys().filter(|place| place.purpose == purpose).count();
    let mut numbers: BTreeMap<usize, usize> = BTreeMap::new();
    let numbered = combined.iter().map(|(place, actions)| {
        let number = numbers.entry(place.purpose).or_default();
        *number += 1;
        let (policy, name, ..) = *purposes().nth(place.purpose).expect("the index is that of a purpose");
        Statement {
            policy,
            purpose: name,
            sid: if of(place.purpose) == 1 { name.to_owned() } else { format!("{name}{number}") },
            actions: actions.iter().copied().collect(),
            resources: place.resources.iter().map(|it| arn(it)).collect(),
            condition: place.condition,
        }
    });
    numbered.collect()
}

/// The statements of all policies.
pub(crate) fn all() -> Vec<Statement> {
    super::POLICIES.iter().flat_map(|(policy, _)| statements(*policy)).collect()
}

/// The policy document, with its members in the order that AWS's examples use.
pub(crate) fn document(policy: Policy) -> String {
    let blocks: Vec<String> = statements(policy).iter().map(text).collect();
    format!("{{\n  \"Version\": \"2012-10-17\",\n  \"Statement\": [\n{}\n  ]\n}}", blocks.join(",\n"))
}

fn text(statement: &Statement) -> String {
    let json = statement.json();
    let members = ["Sid", "Effect", "Action", "Resource", "Condition"];
    let members: Vec<String> = members
        .iter()
        .filter(|name| !json[**name].is_null())
        .map(|name| {
            let value = serde_json::to_string_pretty(&json[*name]).expect("JSON can be written");
            format!("      \"{name}\": {}", value.replace('\n', "\n      "))
        })
        .collect();
    format!("    {{\n{}\n    }}", members.join(",\n"))
}
