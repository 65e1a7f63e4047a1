//! Attributes of subnets. Each call sets one.

use aws_sdk_ec2::operation::modify_subnet_attribute::builders::ModifySubnetAttributeFluentBuilder;
use aws_sdk_ec2::types::AttributeBooleanValue;

use super::poll_until;
use crate::aws::calls::wait;
use crate::aws::calls::wait::Poll;
use crate::aws::calls::{Operation, OrFailure};
use crate::cloud::Failure;
use crate::model::Subnet;

/// An attribute and its new value.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum SubnetChange {
    MapPublicIp(bool),
    /// AWS accepts `true` only for a subnet with an IPv6 range, and rejects removing the range while it is `true`.
    AssignIpv6(bool),
}

/// All attributes with the values of the spec.
pub(super) fn changes(operation: &Operation<'_>, spec: &Subnet) -> Result<[SubnetChange; 2], Failure> {
    Ok([
        SubnetChange::MapPublicIp(*operation.known(&spec.map_public_ip_on_launch)?),
        SubnetChange::AssignIpv6(*operation.known(&spec.assign_ipv6_address_on_creation)?),
    ])
}

/// Sets an attribute and waits until AWS returns the new value, because the next call may depend on it.
pub(super) async fn set(operation: &Operation<'_>, id: &str, change: SubnetChange) -> Result<(), Failure> {
    operation
        .retry_until_visible(&[id], || async {
            let call = change.on(operation.session.ec2.modify_subnet_attribute().subnet_id(id));
            call.send().await.map(|_| ()).or_failure("ModifySubnetAttribute")
        })
        .await?;
    poll_until(operation, id, wait::PROPAGATION, |subnet| {
        let shown = change.shown(subnet);
        Ok(if shown == change.is_on() {
            Poll::Done(())
        } else {
            Poll::Pending(format!("{} is still {shown}", change.name()))
        })
    })
    .await
}

impl SubnetChange {
    /// Whether the new value is `true`. In a new subnet all attributes are `false`.
    pub(super) fn is_on(&self) -> bool {
        match self {
            SubnetChange::MapPublicIp(value) | SubnetChange::AssignIpv6(value) => *value,
        }
    }

    fn name(self) -> &'static str {
        match self {
            SubnetChange::MapPublicIp(_) => "map_public_ip_on_launch",
            SubnetChange::AssignIpv6(_) => "assign_ipv6_address_on_creation",
        }
    }

    fn shown(self, subnet: &aws_sdk_ec2::types::Subnet) -> bool {
        let shown = match self {
            SubnetChange::MapPublicIp(_) => subnet.map_public_ip_on_launch(),
            SubnetChange::AssignIpv6(_) => subnet.assign_ipv6_address_on_creation(),
        };
        shown.unwrap_or(false)
    }

    fn on(self, call: ModifySubnetAttributeFluentBuilder) -> ModifySubnetAttributeFluentBuilder {
        let value = AttributeBooleanValue::builder().value(self.is_on()).build();
        match self {
            SubnetChange::MapPublicIp(_) => call.map_public_ip_on_launch(value),
            SubnetChange::AssignIpv6(_) => call.assign_ipv6_address_on_creation(value),
        }
    }
}
