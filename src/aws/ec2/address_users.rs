//! What uses an Elastic IP address of the user, which only one object can.

use aws_sdk_ec2::types::Address;

use super::conflicts::{Text, explained_by};
use crate::aws::calls::Operation;
use crate::cloud::Failure;

/// The instance or the network interface that an address is associated with.
pub(super) fn user_of(address: &Address) -> Option<&str> {
    [address.instance_id(), address.network_interface_id()].into_iter().flatten().find(|id| !id.is_empty())
}

/// An address that a network interface or an instance uses.
pub(super) fn associated(address: &Address, user: &str) -> Text {
    let id = address.allocation_id().unwrap_or("The address");
    let hint = format!(
        "Replace it in custom_nat_eips, or disassociate it (aws ec2 disassociate-address --association-id {}). If the \
         network interface is that of a NAT gateway, delete the NAT gateway instead. Then run Terraform again.",
        address.association_id().unwrap_or("ID")
    );
    (format!("{id} is associated with {user}."), hint)
}

/// An address that another NAT gateway uses. `slot` is the key of the new one if that one can take its place.
pub(super) fn of_nat_gateway(address: &str, (user, root): (&str, Option<&str>), slot: Option<&str>) -> Text {
    let of_root = root.map(|root| format!(" of {root}")).unwrap_or_default();
    let adopt = slot.map(|slot| format!("To take it over, set {slot:?} = {user:?} in adopt. Otherwise replace"));
    let hint = format!(
        "{} the address in custom_nat_eips, or delete that NAT gateway. Then run Terraform again.",
        adopt.unwrap_or_else(|| "Replace".to_string())
    );
    (format!("{address} is the address of {user}{of_root}."), hint)
}

/// The failure of a NAT gateway whose address something else uses, with the user of the address and what to do.
pub(super) async fn with_user(operation: &Operation<'_>, failure: Failure, address: &str) -> Failure {
    let session = operation.session;
    let found = session.pollers.addresses.now(&session.ec2, address).await.unwrap_or_else(|failure| {
        tracing::warn!("The user of {address} is unknown: {failure}");
        None
    });
    match found.as_ref().and_then(|it| Some((it, user_of(it)?))) {
        Some((address, user)) => explained_by(failure, associated(address, user)),
        None => failure,
    }
}
