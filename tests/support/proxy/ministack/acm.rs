//! The differences between ministack and ACM: ministack deletes a certificate that a custom domain uses.

use hyper::header::HeaderValue;

use super::super::Before;
use super::super::call::Call;
use super::super::message::{Message, Reply};
use super::super::upstream::Upstream;

/// AWS rejects the deletion of a certificate that is in use.
pub(super) async fn before(emulator: &Upstream, call: &Call, message: Message) -> Result<Before, String> {
    if call.action != "DeleteCertificate" {
        return Ok(Before::Forward(message));
    }
    let arn = call.param("CertificateArn");
    let domains = super::list(emulator, &as_api_gateway(&message)?, "/v2/domainnames").await?;
    let uses = |domain: &serde_json::Value| {
        let configurations = domain["domainNameConfigurations"].as_array().into_iter().flatten();
        let mut arns =
            configurations.flat_map(|it| [&it["certificateArn"], &it["ownershipVerificationCertificateArn"]]);
        arns.any(|used| used == arn)
    };
    if !domains.iter().any(uses) {
        return Ok(Before::Forward(message));
    }
    let account = arn.split(':').nth(4).unwrap_or_default();
    let text = format!("Certificate {arn} in account {account} is in use.");
    Ok(Before::Answer(Reply::error(call, 400, "ResourceInUseException", &text)))
}

/// A request of the same caller to API Gateway: the emulator finds the service by the credential scope.
fn as_api_gateway(message: &Message) -> Result<Message, String> {
    let mut message = message.clone();
    message.headers.remove("x-amz-target");
    let scope = message.header("authorization").replace("/acm/", "/apigateway/");
    message.headers.insert("authorization", HeaderValue::from_str(&scope).map_err(|error| error.to_string())?);
    Ok(message)
}
