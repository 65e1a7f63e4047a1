//! What deletions do with the objects of GuardDuty that block them, according to the configuration. Pure. Plan and
//! apply use the same functions.

use super::state;
use crate::cloud::GuardDutyObjects;
use crate::plugin::Value;
use crate::topology::Topology;

/// For an update to this configuration.
pub(super) fn of_update<P: Topology>(config: &P::Config) -> GuardDutyObjects {
    match P::removes_guardduty_objects(config) {
        true => GuardDutyObjects::LeaveSubnets,
        false => GuardDutyObjects::Keep,
    }
}

/// For a destroy of the objects in this state. Terraform passes no configuration to a destroy.
pub(super) fn of_destroy<P: Topology>(state: &Value) -> GuardDutyObjects {
    match state::decode::<P>(state) {
        Ok((_, config)) if P::removes_guardduty_objects(&config) => GuardDutyObjects::Delete,
        _ => GuardDutyObjects::Keep,
    }
}
