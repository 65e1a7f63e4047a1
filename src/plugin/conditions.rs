//! Rules between the attributes of one block.

use super::{Attribute, AttributePath, Problem, Value};

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
    /// Exactly one of both must be set.
    EitherOr(&'static str),
}

impl Condition {
    /// The rule for the documentation.
    pub fn rule(&self) -> String {
        match self {
            Condition::OnlyWith(other, values) => format!("only with `{other} = {}`", any_of(values)),
            Condition::OnlyIfSet(other) => format!("only with `{other}`"),
            Condition::RequiredWith(other, value) => format!("required with `{other} = {value:?}`"),
            Condition::EitherOr(other) => format!("either this or `{other}` is required"),
        }
    }

    /// The problem of an attribute of a block that breaks the rule.
    pub(super) fn problem(
        &self,
        attributes: &[Attribute],
        block: &Value,
        name: &str,
        path: &AttributePath,
    ) -> Option<Problem> {
        let (own, given) = (effective(attributes, block, name), block.get(name));
        // A default is no choice of the user.
        let is_set =
            !given.is_null() && !attributes.iter().any(|it| it.name == name && it.default.as_ref() == Some(given));
        let other = |name: &str| Some(effective(attributes, block, name)).filter(|value| !value.is_unknown());
        let (message, hint) = match self {
            Condition::OnlyWith(name_of_other, values) => {
                let other = other(name_of_other)?;
                if !is_set || other.as_str().is_some_and(|it| values.contains(&it)) {
                    return None;
                }
                let allowed = any_of(values);
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
            Condition::RequiredWith(name_of_other, value) => {
                if !own.is_null() || other(name_of_other)?.as_str() != Some(value) {
                    return None;
                }
                let message = format!("{name} is required, because {name_of_other} is {value:?}.");
                (message, format!("Set {name}, or change {name_of_other}."))
            }
            Condition::EitherOr(name_of_other) => match (own, other(name_of_other)?) {
                (Value::Unknown, _) => return None,
                (Value::Null, Value::Null) => (
                    format!("Neither {name} nor {name_of_other} is set."),
                    format!("Set either {name} or {name_of_other}."),
                ),
                (own, other) if !own.is_null() && !other.is_null() => (
                    format!("Both {name} ({own}) and {name_of_other} ({other}) are set."),
                    "Remove one of them.".to_string(),
                ),
                _ => return None,
            },
        };
        Some(Problem::new(path.clone(), message, hint))
    }
}

/// The value of an attribute, or its default.
fn effective<'a>(attributes: &'a [Attribute], block: &'a Value, name: &str) -> &'a Value {
    let default = || attributes.iter().find(|it| it.name == name).and_then(|it| it.default.as_ref());
    let given = block.get(name);
    if given.is_null() { default().unwrap_or(given) } else { given }
}

fn any_of(values: &[&str]) -> String {
    values.iter().map(|value| format!("{value:?}")).collect::<Vec<_>>().join(" or ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plugin::schema::check;
    use crate::plugin::{AttributeType, Type};

    fn attributes() -> Vec<Attribute> {
        let text = |name: &str| Attribute::new(name, AttributeType::Plain(Type::String), "");
        vec![
            text("lock").default("key"),
            text("code").only_with("lock", &["dial"]).required_with("lock", "dial"),
            text("wood").either_or("metal"),
            text("metal"),
            text("alloy").only_if_set("metal"),
        ]
    }

    fn messages(values: &[(&str, Value)]) -> Vec<String> {
        let block = Value::map(values.iter().map(|(name, value)| (*name, value.clone())));
        check(&attributes(), &block, &AttributePath::root())
            .into_iter()
            .map(|it| format!("{}: {}", it.path, it.message))
            .collect()
    }

    #[test]
    fn each_condition_names_both_attributes_and_values() {
        let wood = || ("wood", Value::from("oak"));
        let table: [(&[(&str, Value)], &[&str]); 8] = [
            (&[wood()], &[]),
            (&[wood(), ("code", "1".into())], &["code: code is used only with lock = \"dial\", but lock is \"key\"."]),
            (&[wood(), ("lock", "dial".into())], &["code: code is required, because lock is \"dial\"."]),
            (&[wood(), ("lock", "dial".into()), ("code", "1".into())], &[]),
            (&[wood(), ("alloy", "x".into())], &["alloy: alloy has no effect without metal."]),
            (&[("alloy", "x".into()), ("metal", "tin".into())], &[]),
            (&[], &["wood: Neither wood nor metal is set."]),
            (&[wood(), ("metal", "tin".into())], &["wood: Both wood (\"oak\") and metal (\"tin\") are set."]),
        ];
        for (values, expected) in table {
            assert_eq!(messages(values), expected, "{values:?}");
        }
    }

    #[test]
    fn unknown_values_break_no_condition() {
        let unknown = || Value::Unknown;
        for values in [
            [("wood", unknown()), ("metal", unknown())],
            [("wood", unknown()), ("metal", "tin".into())],
            [("metal", unknown()), ("alloy", "x".into())],
        ] {
            assert_eq!(messages(&values), Vec::<String>::new(), "{values:?}");
        }
        for code in ["1".into(), unknown(), Value::Null] {
            assert_eq!(messages(&[("wood", "oak".into()), ("lock", unknown()), ("code", code)]), Vec::<String>::new());
        }
    }
}
