//! The policies of functions.

use super::super::call::{Call, encode};
use super::super::message::{Message, Reply};
use super::super::upstream::Upstream;

/// The longest policy of a function, alias or version, in characters.
const LONGEST_POLICY: usize = 20_480;

/// The length of a statement without its variable parts.
const FRAME: usize = 150;

/// AWS limits the length of a policy (adobe/helix-deploy#24); ministack does not.
pub(super) async fn policy_full(emulator: &Upstream, call: &Call, message: &Message) -> Result<Option<Reply>, String> {
    let (function, qualifier) = (encode(call.param("FunctionName")), call.param("Qualifier"));
    let query = if qualifier.is_empty() { String::new() } else { format!("?Qualifier={}", encode(qualifier)) };
    let path = format!("/2015-03-31/functions/{function}/policy{query}");
    let (status, answer) = emulator.rest(message, "GET", &path, None).await?;
    let policy = answer["Policy"].as_str().unwrap_or_default();
    let names = ["StatementId", "SourceArn", "Principal", "FunctionName"];
    let length = policy.len() + FRAME + names.iter().map(|name| call.param(name).len()).sum::<usize>();
    let text = format!("The final policy size ({length}) is bigger than the limit ({LONGEST_POLICY}).");
    let is_full = status == 200 && length > LONGEST_POLICY;
    Ok(is_full.then(|| Reply::error(call, 400, "PolicyLengthExceededException", &text)))
}
