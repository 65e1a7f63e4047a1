//! Rules for the value of one attribute.

use std::sync::Arc;

use super::Value;

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
            0 => format!("at most {longest} characters"),
            _ => format!("{shortest} to {longest} characters"),
        };
        Check::text(&rule, move |text| match text.chars().count() {
            length if (shortest..=longest).contains(&length) => Ok(()),
            length => Err(format!("The value has {length} characters; AWS allows {shortest} to {longest}.")),
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
