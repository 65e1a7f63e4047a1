//! Errors and warnings for the user.

use super::AttributePath;

/// The severity of a [`Diagnostic`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Severity {
    /// The operation failed.
    Error,
    /// The operation continued.
    Warning,
}

/// One message for the user of Terraform.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnostic {
    /// Error or warning.
    pub severity: Severity,
    /// One line that names the affected object, because Terraform merges warnings of the same summary.
    pub summary: String,
    /// What happened, why, and what to do.
    pub detail: String,
    /// The affected attribute, if there is one.
    pub path: Option<AttributePath>,
}

/// The messages of one operation, in order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Diagnostics(pub Vec<Diagnostic>);

/// An invalid value in a configuration.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// The invalid attribute.
    pub path: AttributePath,
    /// A complete sentence that states the problem and the invalid values.
    pub message: String,
    /// A complete sentence, in the imperative, that states how to fix the problem.
    pub hint: String,
}

/// Why an attribute of an object may be absent although the user has set it.
pub const DROPS_NAMES: &str = "Terraform drops a misspelled name from an object without an error.";

impl Problem {
    /// A problem and how to fix it.
    pub fn new(path: AttributePath, message: impl Into<String>, hint: impl Into<String>) -> Problem {
        Problem { path, message: message.into(), hint: hint.into() }
    }

    /// The same about an absent attribute. In an object, its name may be misspelled.
    #[must_use]
    pub fn of_absence(mut self) -> Problem {
        if self.path.0.len() > 1 {
            self.message = format!("{} {DROPS_NAMES}", self.message);
        }
        self
    }
}

impl Diagnostics {
    /// Adds an error.
    pub fn error(&mut self, summary: impl Into<String>, detail: impl Into<String>) {
        self.push(Severity::Error, summary, detail, None);
    }

    /// Adds a warning.
    pub fn warning(&mut self, summary: impl Into<String>, detail: impl Into<String>) {
        self.push(Severity::Warning, summary, detail, None);
    }

    /// Adds an error about one attribute.
    pub fn attribute_error(&mut self, path: AttributePath, summary: impl Into<String>, detail: impl Into<String>) {
        self.push(Severity::Error, summary, detail, Some(path));
    }

    /// Adds a warning about one attribute.
    pub fn attribute_warning(&mut self, path: AttributePath, summary: impl Into<String>, detail: impl Into<String>) {
        self.push(Severity::Warning, summary, detail, Some(path));
    }

    /// Adds configuration problems as errors.
    pub fn problems(&mut self, problems: impl IntoIterator<Item = Problem>) {
        for problem in problems {
            let summary = format!("Invalid value for {}", problem.path);
            self.attribute_error(problem.path, summary, format!("{} {}", problem.message, problem.hint));
        }
    }

    /// Whether any message is an error.
    pub fn has_errors(&self) -> bool {
        self.0.iter().any(|diagnostic| diagnostic.severity == Severity::Error)
    }

    fn push(
        &mut self,
        severity: Severity,
        summary: impl Into<String>,
        detail: impl Into<String>,
        path: Option<AttributePath>,
    ) {
        self.0.push(Diagnostic { severity, summary: summary.into(), detail: detail.into(), path });
    }
}
