//! How long operations may take: the `timeouts` block that every resource has, and what it comes to.

use crate::model::durations;
use crate::plugin::{Check, Input};

/// How long a create may take where the user does not say.
pub const DEFAULT_CREATE: &str = "30m";
/// The same of an update.
pub const DEFAULT_UPDATE: &str = "30m";
/// The same of a destroy: Lambda keeps network interfaces for up to 45 minutes.
pub const DEFAULT_DELETE: &str = "1h";

crate::attributes! {
    /// How long whole operations may take, as durations such as `30s`, `10m` or `1h30m`.
    pub struct OperationTimeouts {
        /// How long creating the resource may take, such as `45m` or `1h30m`.
        create: Input<Option<String>> = optional().check(duration()).otherwise(DEFAULT_CREATE).changes_nothing(),
        /// How long reading it may take. Null is without a limit.
        read: Input<Option<String>> = optional().check(duration()).changes_nothing(),
        /// How long updating it may take. What an update deletes and others still use is waited for 2 minutes only:
        /// they are changed after it.
        update: Input<Option<String>> = optional().check(duration()).otherwise(DEFAULT_UPDATE).changes_nothing(),
        /// How long destroying it may take. Functions keep network interfaces for up to 45 minutes.
        delete: Input<Option<String>> = optional().check(duration()).otherwise(DEFAULT_DELETE).changes_nothing(),
    }
}

/// How long an operation may take, in seconds; `None` is what applies where the user does not say.
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

    /// For the whole create, in seconds.
    pub fn of_create(&self) -> u64 {
        self.create.unwrap_or_else(|| default(DEFAULT_CREATE))
    }

    /// For the whole update, in seconds.
    pub fn of_update(&self) -> u64 {
        self.update.unwrap_or_else(|| default(DEFAULT_UPDATE))
    }

    /// For the whole destroy, in seconds.
    pub fn of_delete(&self) -> u64 {
        self.delete.unwrap_or_else(|| default(DEFAULT_DELETE))
    }
}

fn default(text: &str) -> u64 {
    seconds(text).expect("the defaults above are durations")
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
    use super::{Timeouts, seconds};

    #[test]
    fn what_the_user_says_goes_before_the_default() {
        let unset = Timeouts::default();
        assert_eq!((unset.of_create(), unset.of_update(), unset.of_delete()), (1800, 1800, 3600));
        assert_eq!(Timeouts { update: Some(5), ..unset }.of_update(), 5);
    }

    #[test]
    fn parts_of_a_second_count_as_a_whole_one_and_nothing_does_not_count() {
        assert_eq!(seconds("1500ms"), Some(2));
        assert_eq!(seconds("10m"), Some(600));
        assert_eq!(seconds("0s"), None);
        assert_eq!(seconds("soon"), None);
    }
}
