//! Attachments of internet gateways.

use crate::support::proxy::call::Call;
use crate::support::proxy::message::{Message, Reply};
use crate::support::proxy::upstream::Upstream;

/// AWS attaches one internet gateway to a VPC; moto attaches several, and the same one twice.
pub(super) async fn second(emulator: &Upstream, call: &Call, message: &Message) -> Result<Option<Reply>, String> {
    let (vpc, wanted) = (call.param("VpcId"), call.param("InternetGatewayId"));
    let filter = [("Filter.1.Name", "attachment.vpc-id"), ("Filter.1.Value.1", vpc)];
    let attached = emulator.describe(message, "DescribeInternetGateways", &filter).await?;
    let attached = attached.items("internetGatewaySet");
    if attached.iter().any(|gateway| gateway.text_of("internetGatewayId") == wanted) {
        let text = format!("resource {wanted} is already attached to network {vpc}");
        return Ok(Some(Reply::error(call, 400, "Resource.AlreadyAssociated", &text)));
    }
    let text = format!("Network {vpc} already has an internet gateway attached");
    Ok((!attached.is_empty()).then(|| Reply::error(call, 400, "InvalidParameterValue", &text)))
}
