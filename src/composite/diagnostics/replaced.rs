//! Settings that new objects do not get, because no input expresses them.

use crate::model::{LeftBehind, printable};
use crate::plugin::Diagnostics;
use crate::topology::Topology;

/// The end of an error that stops a destroy in a replacement.
const KEPT: &str = "Nothing has been deleted. If the resource is tainted, this command keeps it:\n\n  \
                    terraform untaint ADDRESS";

/// A setting of an existing object that the object in its place lacks.
pub(in crate::composite) struct Left {
    /// The slot of both objects.
    pub(in crate::composite) slot: String,
    /// The ID of the existing object.
    pub(in crate::composite) id: String,
    /// The setting.
    pub(in crate::composite) what: LeftBehind,
}

/// Settings that protect nothing.
pub(in crate::composite) fn warn_of_left_settings<P: Topology>(
    name: &str,
    left: &[Left],
    diagnostics: &mut Diagnostics,
) {
    let lines = left.iter().filter(|it| it.what.remedy.is_none()).map(line);
    let lines: Vec<String> = lines.collect();
    if !lines.is_empty() {
        diagnostics.warning(
            format!("{} {name:?} loses settings of objects that it replaces", P::TYPE_NAME),
            format!(
                "No input expresses these settings, so the new objects do not get them:\n{}\n\nNote what you need, and \
                 set it again after the apply.",
                lines.join("\n")
            ),
        );
    }
}

/// Settings without which the new objects serve at once with less protection. Returns whether there are some.
pub(in crate::composite) fn refuse_weaker_objects<P: Topology>(
    name: &str,
    left: &[Left],
    diagnostics: &mut Diagnostics,
) -> bool {
    let Some(settings) = protecting(left) else { return false };
    diagnostics.error(
        format!("Could not plan {} {name:?}: new objects would be less protected", P::TYPE_NAME),
        format!("This plan replaces objects, and the new ones would serve at once without these settings:\n{settings}"),
    );
    true
}

/// The same in the destroy of a replacement, of which no plan knew the existing objects.
pub(in crate::composite) fn refuse_weaker_replacement<P: Topology>(
    root_id: &str,
    left: &[Left],
    diagnostics: &mut Diagnostics,
) -> bool {
    let Some(settings) = protecting(left) else { return false };
    diagnostics.error(
        format!("Could not replace {} {root_id}: new objects would be less protected", P::TYPE_NAME),
        format!("The objects of the new resource would serve at once without these settings:\n{settings}\n\n{KEPT}"),
    );
    true
}

/// Objects of other roots that the new one may not use, in the destroy of a replacement. Returns whether some exist.
pub(in crate::composite) fn refuse_withheld<'a, P: Topology>(
    root_id: &str,
    problems: impl Iterator<Item = &'a str>,
    diagnostics: &mut Diagnostics,
) -> bool {
    let problems: Vec<&str> = problems.collect();
    if problems.is_empty() {
        return false;
    }
    diagnostics.error(
        format!("Could not replace {} {root_id}: the create would fail", P::TYPE_NAME),
        format!("{}\n\n{KEPT}", problems.join("\n")),
    );
    true
}

fn protecting(left: &[Left]) -> Option<String> {
    let lines = left.iter().filter_map(|it| Some(format!("{}. {}", line(it), it.what.remedy.as_ref()?)));
    let lines: Vec<String> = lines.collect();
    (!lines.is_empty()).then(|| lines.join("\n"))
}

fn line(left: &Left) -> String {
    format!("  {} ({}): {}", left.slot, printable(&left.id), left.what.setting)
}
