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

/// A log group that stays in AWS, and that the resource in the place of its root could not use.
pub(in crate::composite) struct Unusable {
    /// Its slot.
    pub(in crate::composite) slot: String,
    /// Its name.
    pub(in crate::composite) id: String,
    /// Whether the new resource needs the name. Otherwise it may.
    pub(in crate::composite) has_name: bool,
    /// Whether the setting of the new resource keeps the group; `None` if that is unknown.
    pub(in crate::composite) is_kept: Option<bool>,
    /// Its other values that differ from those of the configuration.
    pub(in crate::composite) differences: Vec<String>,
}

/// Adds an error if there are such groups. Returns whether there are.
pub(in crate::composite) fn refuse_unusable<P: Topology>(
    name: &str,
    unusable: &[Unusable],
    diagnostics: &mut Diagnostics,
) -> bool {
    let summary = format!("Could not plan {} {name:?}: the create could fail after the destroy", P::TYPE_NAME);
    refuse_groups(summary, unusable, "", diagnostics)
}

/// The same in the destroy of a replacement, of which no plan knew the groups.
pub(in crate::composite) fn refuse_unusable_replacement<P: Topology>(
    root_id: &str,
    unusable: &[Unusable],
    diagnostics: &mut Diagnostics,
) -> bool {
    let summary = format!("Could not replace {} {root_id}: the create would fail", P::TYPE_NAME);
    refuse_groups(summary, unusable, &format!("\n\n{KEPT}"), diagnostics)
}

fn refuse_groups(summary: String, unusable: &[Unusable], end: &str, diagnostics: &mut Diagnostics) -> bool {
    if unusable.is_empty() {
        return false;
    }
    let line = |it: &Unusable| {
        let name = (!it.has_name).then(|| "the name in the configuration is unknown and may be this one".to_string());
        let setting = match it.is_kept {
            Some(true) => None,
            Some(false) => Some("skip_destroy is false in the configuration".to_string()),
            None => Some("skip_destroy is unknown in the configuration".to_string()),
        };
        let reasons: Vec<String> = name.into_iter().chain(setting).chain(it.differences.iter().cloned()).collect();
        format!("  {} ({}): {}", it.slot, printable(&it.id), reasons.join("; "))
    };
    let lines: Vec<String> = unusable.iter().map(line).collect();
    diagnostics.error(
        summary,
        format!(
            "These log groups stay in AWS, because a setting keeps them or another resource uses them. The new resource \
             could not use them:\n{}\n\nSet skip_destroy of the group to true, and the values that the group has. Or \
             use another name, or apply the new value of skip_destroy before the replacement.{end}",
            lines.join("\n")
        ),
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
