//! The objects that GuardDuty creates in a network by itself.

/// What a deletion does with the objects of GuardDuty, if they block it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum GuardDutyObjects {
    /// Keeps them, and waits.
    #[default]
    Keep,
    /// Removes the deleted subnets from the endpoint of GuardDuty.
    LeaveSubnets,
    /// Deletes the endpoint and its security group.
    Delete,
}
