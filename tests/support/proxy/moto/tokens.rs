//! Client tokens. AWS answers a create with a known token with the object that it created for that token. moto creates
//! a second one.

use std::collections::HashMap;
use std::sync::Mutex;

use super::{Answer, Done, Instead, Params, Repair, Reply, Request, async_trait, lock};

/// The parameters and the answers of successful creates, by action and client token.
#[derive(Debug, Default)]
pub(crate) struct Tokens(Mutex<HashMap<(String, String), (Params, Reply)>>);

#[async_trait]
impl Repair for Tokens {
    async fn instead(&self, call: &Request<'_>) -> Instead {
        let Some(key) = token(call) else { return Ok(None) };
        let tokens = lock(&self.0);
        let text = "The request uses the same client token as a previous, but non-identical request.";
        Ok(tokens.get(&key).map(|(params, reply)| match *params == call.params {
            true => reply.clone(),
            false => call.rejected("IdempotentParameterMismatch", text),
        }))
    }

    async fn after(&self, call: &Request<'_>, answer: &mut Answer) -> Done {
        if let Some(key) = token(call) {
            lock(&self.0).insert(key, (call.params.clone(), answer.reply()));
        }
        Ok(())
    }
}

fn token(call: &Request<'_>) -> Option<(String, String)> {
    let has_token = [
        "CreateNatGateway",
        "CreateEgressOnlyInternetGateway",
        "CreateRouteTable",
        "CreateVpcEndpoint",
        "CreateFlowLogs",
    ];
    let token = call.params.get("ClientToken")?;
    has_token.contains(&call.name).then(|| (call.action.clone(), token.clone()))
}
