//! Diagnostics of a list of roots.

use crate::plugin::{AttributePath, Diagnostics};

/// An empty name in a filter.
pub(in crate::composite) fn empty_name(name: &str, diagnostics: &mut Diagnostics) {
    let detail = "An empty value matches nothing. Set another value or remove the argument.";
    diagnostics.attribute_error(AttributePath::new(name), format!("{name} is empty"), detail);
}

/// A state in a filter that no root can have.
pub(in crate::composite) fn unknown_root_state(
    path: AttributePath,
    state: &str,
    all: &[&str],
    diagnostics: &mut Diagnostics,
) {
    let detail = format!("{state:?} is none of {}.", all.join(", "));
    diagnostics.attribute_error(path, "Unknown state", detail);
}

/// A root that could not be read.
pub(in crate::composite) fn not_listed(display_name: &str, cause: &Diagnostics, diagnostics: &mut Diagnostics) {
    let cause: Vec<String> = cause.0.iter().map(|it| format!("{}: {}", it.summary, it.detail)).collect();
    diagnostics.warning(
        format!("{display_name} is not in the list"),
        format!("Its state could not be read.\n\n{}", cause.join("\n\n")),
    );
}
