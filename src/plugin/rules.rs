//! Rules for the value of one attribute, and for two attributes of a block.

use std::sync::Arc;

use super::{AttributePath, Problem, Value};

/// Returns an error for a known, non-null value that breaks a rule.
pub type Test = dyn Fn(&Value) -> Result<(), String> + Send + Sync;

/// A rule for one attribute's value.
#[derive(Clone)]
pub struct Check {
    /// The rule in words, for hints and the documentation: "one of A, B".
    pub rule: String,
    /// Returns an error for a known, non-null value that breaks the rule.
    pub test: Arc<Test>,
}

impl Check {
    /// A rule with a function that checks it. The error names the invalid value; the hint names the rule.
    pub fn new(rule: impl Into<String>, test: impl Fn(&Value) -> Result<(), String> + Send + Sync + 'static) -> Check {
        Check { rule: rule.into(), test: Arc::new(test) }
    }

    /// A rule for strings, with a function whose error is a sentence that names the invalid value.
    pub fn text(rule: &str, test: impl Fn(&str) -> Result<(), String> + Send + Sync + 'static) -> Check {
        Check::new(rule, move |value| value.as_str().map_or(Ok(()), &test))
    }

    /// The value has from `shortest` to `longest` characters, both included.
    pub fn length(shortest: usize, longest: usize) -> Check {
        let rule = match shortest {
            0 => format!("a text of at most {longest} characters"),
            _ => format!("a text of {shortest} to {longest} characters"),
        };
        Check::text(&rule, move |text| match text.chars().count() {
            length if (shortest..=longest).contains(&length) => Ok(()),
            length => Err(format!("The value has {length} characters; {shortest} to {longest} are allowed.")),
        })
    }

    /// The value is one of these strings.
    pub fn one_of(allowed: &'static [&'static str]) -> Check {
        let rule = format!("one of {}", allowed.join(", "));
        Check::new(rule, move |value| match value.as_str() {
            Some(text) if !allowed.contains(&text) => Err(format!("{value} is not a valid value.")),
            _ => Ok(()),
        })
    }

    /// The value is a whole number from `lowest` to `highest`, both included.
    pub fn between(lowest: i64, highest: i64) -> Check {
        let rule = format!("a whole number from {lowest} to {highest}");
        Check::new(rule, move |value| match value {
            Value::Number(number) if number.as_i64().is_some_and(|it| (lowest..=highest).contains(&it)) => Ok(()),
            Value::Number(_) => Err(format!("{value} is not a valid value.")),
            _ => Ok(()),
        })
    }
}

impl std::fmt::Debug for Check {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Check({})", self.rule)
    }
}

/// A rule of one attribute that depends on another one of the same block. An attribute that is not configured has its
/// default. An unknown value breaks no rule.
#[derive(Clone, Debug)]
pub enum Condition {
    /// It may be set only if the other one has one of these values.
    OnlyWith(&'static str, &'static [&'static str]),
    /// It may be set only if the other one is set.
    OnlyIfSet(&'static str),
    /// It must be set if the other one has this value.
    RequiredWith(&'static str, &'static str),
    /// Exactly one of it and the others must be set.
    EitherOr(&'static [&'static str]),
    /// At most one of both may be set.
    ConflictsWith(&'static str),
}

impl Condition {
    /// The rule for the documentation.
    pub fn rule(&self) -> String {
        match self {
            Condition::OnlyWith(other, values) => format!("only with `{other}` set to {}", any_of(values, "`")),
            Condition::OnlyIfSet(other) => format!("only with `{other}`"),
            Condition::RequiredWith(other, value) => format!("required with `{other}` set to `{value:?}`"),
            Condition::EitherOr(others) => {
                let others: Vec<String> = others.iter().map(|other| format!("`{other}`")).collect();
                format!("set exactly one of this and {}", others.join(" and "))
            }
            Condition::ConflictsWith(other) => format!("conflicts with `{other}`"),
        }
    }

    /// The problem of an attribute that breaks the rule. `value` is its value or default, `is_set` tells whether the
    /// user chose it, and `other` returns the value or default of another attribute.
    pub(super) fn problem<'a>(
        &self,
        path: &AttributePath,
        name: &str,
        (value, is_set): (&Value, bool),
        other: impl Fn(&str) -> &'a Value,
    ) -> Option<Problem> {
        let other = |name: &str| Some(other(name)).filter(|value| !value.is_unknown());
        let mut is_absence = matches!(self, Condition::OnlyIfSet(_) | Condition::RequiredWith(..));
        let (message, hint) = match self {
            Condition::OnlyWith(name_of_other, values) => {
                let other = other(name_of_other)?;
                if !is_set || other.as_str().is_some_and(|it| values.contains(&it)) {
                    return None;
                }
                let allowed = any_of(values, "");
                (
                    format!("{name} is used only with {name_of_other} = {allowed}, but {name_of_other} is {other}."),
                    format!("Remove {name}, or change {name_of_other}."),
                )
            }
            Condition::OnlyIfSet(name_of_other) => {
                if !is_set || !other(name_of_other)?.is_null() {
                    return None;
                }
                let message = format!("{name} has no effect without {name_of_other}.");
                (message, format!("Set {name_of_other}, or remove {name}."))
            }
            Condition::RequiredWith(name_of_other, needed) => {
                if !value.is_null() || other(name_of_other)?.as_str() != Some(needed) {
                    return None;
                }
                let message = format!("{name} is required, because {name_of_other} is {needed:?}.");
                (message, format!("Set {name}, or change {name_of_other}."))
            }
            Condition::EitherOr(others) => {
                let names: Vec<&str> = std::iter::once(name).chain(others.iter().copied()).collect();
                let own = Some(value).filter(|value| !value.is_unknown());
                let values: Vec<Option<&Value>> =
                    std::iter::once(own).chain(others.iter().map(|name| other(name))).collect();
                let set = names.iter().zip(&values).filter_map(|(name, value)| Some((name, (*value)?)));
                match set.filter(|(_, value)| !value.is_null()).collect::<Vec<_>>()[..] {
                    [] if values.iter().all(Option::is_some) => {
                        is_absence = true;
                        (
                            format!("Neither {} is set.", names.join(" nor ")),
                            format!("Set either {}.", names.join(" or ")),
                        )
                    }
                    [(one, value), (other, value_of_other), ..] => both(one, value, other, value_of_other),
                    _ => return None,
                }
            }
            Condition::ConflictsWith(name_of_other) => match other(name_of_other)? {
                other if is_set && !other.is_null() => both(name, value, name_of_other, other),
                _ => return None,
            },
        };
        let problem = Problem::new(path.clone(), message, hint);
        Some(if is_absence { problem.of_absence() } else { problem })
    }
}

fn both(name: &str, value: &Value, name_of_other: &str, other: &Value) -> (String, String) {
    let message = format!("Both {name} ({value}) and {name_of_other} ({other}) are set.");
    (message, "Remove one of them.".to_string())
}

/// The values, each between two marks.
fn any_of(values: &[&str], mark: &str) -> String {
    values.iter().map(|value| format!("{mark}{value:?}{mark}")).collect::<Vec<_>>().join(" or ")
}
