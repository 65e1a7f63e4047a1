//! How long operations may take: the `timeouts` block that every resource has, and what it comes to.

use crate::durations;
use crate::plugin::{Check, Input};

crate::attributes! {
    /// How long whole operations may take, as durations such as `30s`, `10m` or `1h30m`.
    pub struct OperationTimeouts {
        /// For creating the resource, such as `30m` or `1h30m`.
        create: Input<Option<String>> = optional().check(duration()),
        /// For reading it.
        read: Input<Option<String>> = optional().check(duration()),
        /// For updating it.
        update: Input<Option<String>> = optional().check(duration()),
        /// For destroying it.
        delete: Input<Option<String>> = optional().check(duration()),
    }
}

/// How long an operation may wait, in seconds; `None` is the kind's own default.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Timeouts {
    /// For the whole create.
    pub create: Option<u64>,
    /// For the whole read.
    pub read: Option<u64>,
    /// For the whole update.
    pub update: Option<u64>,
    /// For the whole destroy.
    pub delete: Option<u64>,
    /// For the creation of one route table.
    pub route_table_create: Option<u64>,
    /// For the update of one route table.
    pub route_table_update: Option<u64>,
    /// For the deletion of one route table.
    pub route_table_delete: Option<u64>,
}

impl Timeouts {
    /// What the block sets. Texts that are no durations have been reported by [`duration`].
    pub fn of(block: &Input<Option<OperationTimeouts>>) -> Timeouts {
        let Input::Known(Some(block)) = block else { return Timeouts::default() };
        let set = |input: &Input<Option<String>>| input.known()?.as_deref().and_then(seconds);
        Timeouts {
            create: set(&block.create),
            read: set(&block.read),
            update: set(&block.update),
            delete: set(&block.delete),
            ..Timeouts::default()
        }
    }
}

/// The rule for one duration that something may take.
pub fn duration() -> Check {
    let rule = "a duration such as 30s, 10m or 1h30m";
    Check::new(rule, move |value| match value.as_str() {
        Some(text) if seconds(text).is_none() => Err(format!("{value} is not {rule}.")),
        _ => Ok(()),
    })
}

/// The seconds that a duration stands for, rounded up; `None` where the text is no positive duration.
pub fn seconds(text: &str) -> Option<u64> {
    let seconds = durations::parse(text)?.as_secs_f64().ceil();
    (seconds > 0.0).then_some(seconds as u64)
}

#[cfg(test)]
mod tests {
    use super::seconds;

    #[test]
    fn parts_of_a_second_count_as_a_whole_one_and_nothing_does_not_count() {
        assert_eq!(seconds("1500ms"), Some(2));
        assert_eq!(seconds("10m"), Some(600));
        assert_eq!(seconds("0s"), None);
        assert_eq!(seconds("soon"), None);
    }
}
