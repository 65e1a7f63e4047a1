//! The `timeouts` block that every resource has, and the timeouts that result from it.

use crate::model::durations;
use crate::plugin::{Check, Input};

/// The default timeout of a create.
pub const DEFAULT_CREATE: &str = "30m";
/// The default timeout of an update. API Gateway may take an hour to change the certificate of a custom domain.
pub const DEFAULT_UPDATE: &str = "1h30m";
/// The default timeout of a destroy. Lambda keeps network interfaces for up to 45 minutes. After the deletion of the
/// VPC, an IPAM pool keeps its range for up to 35 minutes.
pub const DEFAULT_DELETE: &str = "1h30m";

crate::attributes! {
    /// Timeouts of whole operations, as durations such as `30s`, `10m` or `1h30m`.
    pub struct OperationTimeouts {
        /// Timeout for creating the resource, such as `45m` or `1h30m`.
        create: Input<Option<String>> = optional().check(duration()).otherwise(DEFAULT_CREATE).changes_nothing(),
        /// Timeout for reading the resource. By default, there is no limit.
        read: Input<Option<String>> = optional().check(duration()).changes_nothing(),
        /// Timeout for updating the resource. An update retries the deletion of an object that is still in use for only
        /// 2 minutes, because Terraform changes the dependents of the object only after the update.
        update: Input<Option<String>> = optional().check(duration()).otherwise(DEFAULT_UPDATE).changes_nothing(),
        /// Timeout for destroying the resource.
        delete: Input<Option<String>> = optional().check(duration()).otherwise(DEFAULT_DELETE).changes_nothing(),
    }
}

/// Timeouts in seconds; `None` means the default.
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
    /// The timeouts that the block sets. [`duration`] has already reported texts that are not durations.
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

    /// The timeout of the whole create, in seconds.
    pub fn of_create(&self) -> u64 {
        self.create.unwrap_or_else(|| default(DEFAULT_CREATE))
    }

    /// The timeout of the whole update, in seconds.
    pub fn of_update(&self) -> u64 {
        self.update.unwrap_or_else(|| default(DEFAULT_UPDATE))
    }

    /// The timeout of the whole destroy, in seconds.
    pub fn of_delete(&self) -> u64 {
        self.delete.unwrap_or_else(|| default(DEFAULT_DELETE))
    }
}

fn default(text: &str) -> u64 {
    seconds(text).expect("the defaults must be durations")
}

/// The check of a timeout.
pub fn duration() -> Check {
    let rule = "a duration such as 30s, 10m or 1h30m";
    Check::new(rule, move |value| match value.as_str() {
        Some(text) if seconds(text).is_none() => Err(format!("{value} is not a duration.")),
        _ => Ok(()),
    })
}

/// The length of a duration in seconds, rounded up; `None` if the text is not a positive duration.
pub fn seconds(text: &str) -> Option<u64> {
    let seconds = durations::parse(text)?.as_secs_f64().ceil();
    (seconds > 0.0).then_some(seconds as u64)
}

#[cfg(test)]
mod tests {
    use super::{Timeouts, seconds};

    #[test]
    fn configured_timeouts_override_the_defaults() {
        let unset = Timeouts::default();
        assert_eq!((unset.of_create(), unset.of_update(), unset.of_delete()), (1800, 5400, 5400));
        assert_eq!(Timeouts { update: Some(5), ..unset }.of_update(), 5);
    }

    #[test]
    fn a_destroy_has_time_for_lambda_and_for_ipam() {
        let (lambda, ipam) = (45 * 60, 35 * 60);
        assert!(Timeouts::default().of_delete() > lambda + ipam, "and for the other deletions");
    }

    #[test]
    fn durations_are_rounded_up_to_whole_seconds() {
        assert_eq!(seconds("1500ms"), Some(2));
        assert_eq!(seconds("10m"), Some(600));
        assert_eq!(seconds("0s"), None);
        assert_eq!(seconds("soon"), None);
    }
}
