//! Changes of the children of a missing API. The REST API rejects them as if another change were in progress (recorded:
//! CreateAuthorizer), and it is unknown whether the HTTP API does so too. The provider must handle the stranger answer.

use super::super::call::{Call, encode};
use super::super::message::{Message, Reply};
use super::super::upstream::Upstream;
use super::conflict;

/// The text of AWS for concurrent changes.
const BUSY: &str = "Unable to complete operation due to concurrent modification. Please try again later.";

/// The answer to a change of a child of a missing API. `None` for any other call.
pub(super) async fn rejected(emulator: &Upstream, call: &Call, message: &Message) -> Result<Option<Reply>, String> {
    let api = call.param("apiId");
    let is_child = message.path().strip_prefix("/v2/apis/").is_some_and(|rest| rest.contains('/'));
    if message.method == "GET" || !is_child || api.is_empty() {
        return Ok(None);
    }
    let (status, _) = emulator.rest(message, "GET", &format!("/v2/apis/{}", encode(api)), None).await?;
    Ok((status == 404).then(|| conflict(call, BUSY)))
}
