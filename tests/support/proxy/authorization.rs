//! Checks each call of the provider against the policies of the guide before the emulator executes it. The emulator
//! itself checks no permissions.

use std::collections::BTreeMap;
use std::fmt::{self, Display, Formatter};

use hyper::header::HeaderValue;
use serde_json::{Value, json};

use super::call::Call;
use super::message::{Message, Reply};
use super::upstream::Upstream;
use super::xml::Element;
use crate::support::permissions::configurations::Configurations;
use crate::support::permissions::context::{self, Object, Pending};
use crate::support::permissions::evaluation::{self, Check};
use crate::support::permissions::{arn, recorded};

/// A check of a call that no policy allows.
#[derive(Debug)]
pub(super) struct Refused {
    check: Check,
    /// The statements that would allow it, if the role had them.
    statements: Vec<String>,
}

impl Display for Refused {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        let Refused { check, statements } = self;
        match statements.is_empty() {
            true => write!(out, "no policy of the permissions guide allows {check}"),
            false => write!(
                out,
                "no policy of the permissions guide for these inputs allows {check}; only {} would",
                statements.join(" and ")
            ),
        }
    }
}

/// The checks of a call that no policy allows. The role has the statements that the configurations need.
pub(super) async fn refused(
    upstream: &Upstream,
    call: &Call,
    message: &Message,
    configurations: &Configurations,
) -> Result<Vec<Refused>, String> {
    let mut refused = Vec::new();
    for pending in context::pending(call, &message.method, message.path()) {
        // An association that was removed before. AWS's answer does not depend on the permissions.
        let Some(check) = complete(upstream, call, message, pending).await? else { continue };
        let check = check.with_listed_keys();
        let statements = evaluation::allowing(&check);
        if statements.iter().any(|it| configurations.need(it.needed())) {
            recorded::record(&check);
        } else {
            refused.push(Refused { check, statements: statements.iter().map(|it| it.sid.clone()).collect() });
        }
    }
    Ok(refused)
}

/// Whether an object of the call does not exist. Only AWS knows what it would check then. `DeleteVpcEndpoints`
/// succeeds, and lists the missing objects in its answer.
pub(super) fn is_missing(reply: &Reply) -> bool {
    reply.text().contains("NotFound")
}

/// The check with the context that only the account knows. `None` if the association in the call does not exist.
async fn complete(
    upstream: &Upstream,
    call: &Call,
    message: &Message,
    pending: Pending,
) -> Result<Option<Check>, String> {
    let Pending { check, object } = pending;
    // AWS ends a delivery only if there is one.
    if check.action == "logs:DeleteLogDelivery"
        && call.action == "DeleteFlowLogs"
        && !deliver(upstream, call, message).await?
    {
        return Ok(None);
    }
    let tags = match object {
        Object::None => return Ok(Some(check)),
        Object::Ec2(_) if !call.is_mutation() => return Ok(Some(check)),
        Object::Ec2(id) => tags_of(upstream, message, &id).await?,
        Object::Associated { list, association } => match associated(upstream, message, list, &association).await? {
            Some(id) => tags_of(upstream, message, &id).await?,
            None => return Ok(None),
        },
        Object::Api(path) => tags_of_api(upstream, call, message, &path).await?,
        Object::LogGroup(name) => {
            let group = format!("arn:aws:logs:{}:{}:log-group:{name}", call.region, upstream.account.id);
            let body = json!({ "resourceArn": group });
            context::tags_in(&json_call(upstream, message, "Logs_20140328.ListTagsForResource", &body).await?)
        }
        Object::Permission { function, statement } => {
            let path = format!("/2015-03-31/functions/{}/policy", super::call::encode(&function));
            let (_, answer) = upstream.rest(message, "GET", &path, None).await?;
            return Ok(Some(match principal(&answer, &statement) {
                Some(principal) => check.with("lambda:Principal", &[&principal]),
                None => check,
            }));
        }
    };
    // A user fills in the IDs of addresses and groups that the provider does not manage.
    let custom = match call.action.as_str() {
        "CreateNatGateway" => "elastic-ip",
        "CreateVpcEndpoint" | "ModifyVpcEndpoint" => "security-group",
        _ => "none",
    };
    if check.resource.contains(&format!(":{custom}/")) && !tags.contains_key("fgw:resource") {
        return Ok(Some(Check { resource: arn(&format!("custom-{custom}")), ..check }));
    }
    Ok(Some(context::with_tags(check, "aws:ResourceTag", &tags)))
}

/// Whether one of the flow logs of a call delivers to a bucket or a stream.
async fn deliver(upstream: &Upstream, call: &Call, message: &Message) -> Result<bool, String> {
    let answer = upstream.describe(message, "DescribeFlowLogs", &[]).await?;
    let ids: Vec<&str> = (1..).map(|n| call.param(&format!("FlowLogId.{n}"))).take_while(|id| !id.is_empty()).collect();
    let is_it = |item: &&Element| ids.contains(&item.text_of("flowLogId"));
    Ok(answer.items("flowLogSet").iter().filter(is_it).any(|it| it.text_of("logDestinationType") != "cloud-watch-logs"))
}

/// The tags of an object of EC2.
async fn tags_of(upstream: &Upstream, message: &Message, id: &str) -> Result<BTreeMap<String, String>, String> {
    let filter = [("Filter.1.Name", "resource-id"), ("Filter.1.Value.1", id)];
    let answer = upstream.describe(message, "DescribeTags", &filter).await?;
    let tag = |item: &Element| (item.text_of("key").to_owned(), item.text_of("value").to_owned());
    Ok(answer.items("tagSet").iter().map(tag).collect())
}

/// The tags of an API, a stage or a custom domain. ministack keeps those of the create with the object, and those of
/// later calls apart.
async fn tags_of_api(
    upstream: &Upstream,
    call: &Call,
    message: &Message,
    path: &str,
) -> Result<BTreeMap<String, String>, String> {
    let decoded = super::call::decode(path.trim_start_matches("/v2"), false);
    let arn = format!("arn:aws:apigateway:{}::{decoded}", call.region);
    let path_of_tags = format!("/v2/tags/{}", super::call::encode(&arn));
    let mut tags = context::tags_in(&upstream.rest(message, "GET", path, None).await?.1);
    tags.extend(context::tags_in(&upstream.rest(message, "GET", &path_of_tags, None).await?.1));
    Ok(tags)
}

/// The ID of the object with this association: of the listed object or, if the name of the ID is that of the
/// association's other side, of that one.
async fn associated(
    upstream: &Upstream,
    message: &Message,
    (action, list, name): (&str, &str, &str),
    association: &str,
) -> Result<Option<String>, String> {
    let answer = upstream.describe(message, action, &[]).await?;
    Ok(answer.items(list).iter().find_map(|item| {
        let holder = holder(item, association)?;
        let own = Some(holder.text_of(name)).filter(|id| !id.is_empty());
        Some(own.unwrap_or_else(|| item.text_of(name)).to_owned())
    }))
}

/// The element one of whose children has this text.
fn holder<'a>(element: &'a Element, text: &str) -> Option<&'a Element> {
    if element.children.iter().any(|child| child.children.is_empty() && child.text == text) {
        return Some(element);
    }
    element.children.iter().find_map(|child| holder(child, text))
}

/// A call with a JSON body as the same caller.
async fn json_call(upstream: &Upstream, origin: &Message, target: &str, body: &Value) -> Result<Value, String> {
    let mut message = Message { body: body.to_string().into(), ..origin.clone() };
    let target = HeaderValue::from_str(target).map_err(|error| error.to_string())?;
    message.headers.insert("x-amz-target", target);
    let reply = upstream.forward(&Call::parse(&message), &message).await?;
    Ok(serde_json::from_slice(&reply.body).unwrap_or_default())
}

/// The principal of a statement in the policy of a function.
fn principal(answer: &Value, statement: &str) -> Option<String> {
    let policy: Value = serde_json::from_str(answer["Policy"].as_str()?).ok()?;
    let found = policy["Statement"].as_array()?.iter().find(|it| it["Sid"] == statement)?;
    let principal = &found["Principal"];
    Some(principal["Service"].as_str().or(principal["AWS"].as_str()).or(principal.as_str())?.to_owned())
}
