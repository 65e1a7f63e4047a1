//! Problems that several attributes have together.
//!
//! Terraform sends the configuration as it is written to be validated, also before each plan. In the one that it plans,
//! an attribute in `ignore_changes` has the value of the state instead. So `ignore_changes` may resolve such a problem,
//! and only a plan can tell.

use super::{Attribute, Diagnostic, Diagnostics, Mode, Severity, Step, Value};

/// The findings about a configuration.
#[derive(Default)]
pub(super) struct Findings {
    /// Those that no other attribute can change, and all warnings.
    pub(super) alone: Diagnostics,
    /// The errors of several attributes.
    pub(super) together: Diagnostics,
}

impl Findings {
    /// All of them for a validation. A plan rejects what is a warning here.
    pub(super) fn of_validation(mut self) -> Diagnostics {
        self.alone.0.extend(self.together.0.into_iter().map(|it| {
            let detail = format!("{} A plan rejects this, unless ignore_changes covers one of the inputs.", it.detail);
            Diagnostic { severity: Severity::Warning, detail, ..it }
        }));
        self.alone
    }
}

/// Checks a configuration. An error about an attribute concerns it alone if it stays while all others are unknown,
/// because an unknown value breaks no rule.
pub(super) fn find(attributes: &[Attribute], config: &Value, check: impl Fn(&Value) -> Diagnostics) -> Findings {
    let mut findings = Findings::default();
    let mut checked: Option<(String, Diagnostics)> = None;
    for found in check(config).0 {
        let name = match found.path.as_ref().and_then(|path| path.0.first()) {
            Some(Step::Attribute(name)) if found.severity == Severity::Error => name.clone(),
            _ => {
                findings.alone.0.push(found);
                continue;
            }
        };
        if checked.as_ref().is_none_or(|(of, _)| *of != name) {
            checked = Some((name.clone(), check(&with_others_unknown(attributes, config, &name))));
        }
        let stays = checked.as_ref().is_some_and(|(_, alone)| alone.0.contains(&found));
        if stays { findings.alone.0.push(found) } else { findings.together.0.push(found) }
    }
    findings
}

fn with_others_unknown(attributes: &[Attribute], config: &Value, name: &str) -> Value {
    let mut alone = config.clone();
    let is_input = |it: &&Attribute| !matches!(it.mode, Mode::Computed | Mode::Block);
    for other in attributes.iter().filter(is_input).filter(|it| it.name != name) {
        alone.set(&other.name, Value::Unknown);
    }
    alone
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plugin::{AttributePath, AttributeType, Type};

    fn text(name: &str) -> Attribute {
        Attribute::new(name, AttributeType::Plain(Type::String), "").optional()
    }

    /// `a` must not be `bad`, and `b` must not equal it.
    fn check(config: &Value) -> Diagnostics {
        let mut found = Diagnostics::default();
        let (a, b) = (config.get("a").as_str(), config.get("b").as_str());
        if a == Some("bad") {
            found.attribute_error(AttributePath::new("a"), "a is bad", "Use another one.");
        }
        if a.is_some() && a == b {
            found.attribute_error(AttributePath::new("b"), "b equals a", "Use another one.");
        }
        found.warning("mild", "Nothing to do.");
        found
    }

    #[test]
    fn only_an_error_of_several_attributes_becomes_a_warning() {
        let attributes = [text("a"), text("b")];
        let found = |a: &str, b: &str| {
            let config = Value::map([("a", Value::from(a)), ("b", b.into())]);
            find(&attributes, &config, check)
        };
        let summaries = |found: &Diagnostics| found.0.iter().map(|it| it.summary.clone()).collect::<Vec<_>>();
        let both = found("bad", "bad");
        assert_eq!(summaries(&both.alone), ["a is bad", "mild"]);
        assert_eq!(summaries(&both.together), ["b equals a"]);
        assert_eq!(both.together.0[0].severity, Severity::Error);
        let validated = both.of_validation();
        let errors: Vec<_> = validated.0.iter().filter(|it| it.severity == Severity::Error).collect();
        assert_eq!(errors.iter().map(|it| it.summary.as_str()).collect::<Vec<_>>(), ["a is bad"]);
        let pair = validated.0.iter().find(|it| it.summary == "b equals a").unwrap();
        assert!(pair.detail.contains("unless ignore_changes covers"), "{pair:?}");
        assert_eq!(summaries(&found("good", "fine").together), [""; 0]);
    }
}
