//! Recently created objects of API Gateway, Lambda policies, CloudWatch Logs and Route 53.

use serde_json::Value;

use super::State;
use crate::support::proxy::call::Call;
use crate::support::proxy::message::Reply;
use crate::support::proxy::xml::Element;

/// For each create of API Gateway, the member of the answer that holds the new ID.
const CREATED: &[(&str, &str)] = &[
    ("CreateApi", "apiId"),
    ("CreateApiMapping", "apiMappingId"),
    ("CreateAuthorizer", "authorizerId"),
    ("CreateIntegration", "integrationId"),
    ("CreateRoute", "routeId"),
    ("CreateVpcLink", "vpcLinkId"),
];

/// For each list of API Gateway, the member of an item that holds its ID.
const LISTED: &[(&str, &str)] = &[
    ("GetApiMappings", "apiMappingId"),
    ("GetApis", "apiId"),
    ("GetAuthorizers", "authorizerId"),
    ("GetIntegrations", "integrationId"),
    ("GetRoutes", "routeId"),
    ("GetVpcLinks", "vpcLinkId"),
];

pub(super) fn rejection(state: &State, call: &Call) -> Option<Reply> {
    let hidden = uses(call).into_iter().find(|object| state.is_hidden(object));
    let function = function(call.param("destinationArn"));
    let cannot_execute = call.action == "PutSubscriptionFilter"
        && state.created.keys().any(|it| it.starts_with(&statement(function, "")) && state.is_hidden(it));
    if cannot_execute {
        let text = "Could not execute the lambda function. Make sure you have given CloudWatch Logs permission to \
                    execute your function.";
        return Some(Reply::error(call, 400, "InvalidParameterException", text));
    }
    let hidden = hidden?;
    Some(match call.service.as_str() {
        "apigateway" => Reply::error(call, 404, "NotFoundException", &format!("Unable to find {hidden}")),
        "logs" => {
            Reply::error(call, 400, "ResourceNotFoundException", &format!("The specified {hidden} does not exist."))
        }
        "lambda" => Reply::error(call, 404, "ResourceNotFoundException", &format!("No {hidden} is found")),
        "route53" => Reply::error(call, 404, "NoSuchChange", &format!("Could not find {hidden}")),
        _ => return None,
    })
}

pub(super) fn without_hidden(state: &mut State, call: &Call, reply: Reply) -> Result<(Reply, bool), String> {
    match call.service.as_str() {
        "apigateway" => of_gateway(state, call, reply),
        "lambda" => of_policy(state, call, reply),
        "logs" => of_logs(state, call, reply),
        "route53" => of_zone(state, call, reply),
        _ => Ok((reply, false)),
    }
}

/// The objects that a call reads, changes, deletes or refers to.
fn uses(call: &Call) -> Vec<String> {
    let param = |name: &str| call.param(name);
    let mut uses = Vec::new();
    match call.service.as_str() {
        "apigateway" => {
            let ids =
                ["apiId", "routeId", "integrationId", "authorizerId", "apiMappingId", "vpcLinkId", "connectionId"];
            uses.extend(ids.map(|name| param(name).to_owned()));
            uses.push(param("target").trim_start_matches("integrations/").to_owned());
            uses.push(stage(param("apiId"), param("stageName")));
            uses.push(stage(param("apiId"), param("stage")));
            uses.push(domain(param("domainName")));
            if let Some((_, path)) = param("resourceArn").split_once("::/") {
                let parts: Vec<&str> = path.split('/').collect();
                match parts[..] {
                    ["apis" | "vpclinks", api] => uses.push(api.to_owned()),
                    ["apis", api, "stages", name] => uses.extend([api.to_owned(), stage(api, name)]),
                    ["domainnames", name] => uses.push(domain(name)),
                    _ => {}
                }
            }
            if let Some((_, group)) = param("accessLogSettings").split_once(":log-group:") {
                uses.push(log_group(group.split('"').next().unwrap_or_default()));
            }
        }
        "lambda" if call.action == "RemovePermission" => {
            uses.push(statement(function(param("FunctionName")), param("StatementId")));
        }
        "logs" if call.action != "CreateLogGroup" => {
            uses.push(log_group(param("logGroupName")));
            uses.push(filter(param("logGroupName"), param("filterName")));
            if let Some((_, group)) = param("resourceArn").split_once(":log-group:") {
                uses.push(log_group(group));
            }
        }
        "route53" if call.action == "GetChange" => uses.push(change(param("Id"))),
        _ => {}
    }
    // PutSubscriptionFilter replaces a filter even if the filter is not visible yet.
    uses.retain(|object| call.action != "PutSubscriptionFilter" || !object.starts_with("subscription filter"));
    uses
}

fn of_gateway(state: &mut State, call: &Call, reply: Reply) -> Result<(Reply, bool), String> {
    let action = call.action.as_str();
    let (api, name) = (call.param("apiId"), call.param("stageName"));
    match action {
        "CreateStage" => state.add(stage(api, name)),
        "DeleteStage" => state.forget(&stage(api, name)),
        "CreateDomainName" => state.add(domain(call.param("domainName"))),
        "DeleteDomainName" => state.forget(&domain(call.param("domainName"))),
        _ => {}
    }
    let member = |table: &[(&str, &'static str)]| table.iter().find(|(it, _)| *it == action).map(|(_, id)| *id);
    if let Some(id) = member(CREATED) {
        let body: Value = json(&reply)?;
        state.add(body[id].as_str().ok_or("an answer without an id")?.to_owned());
    }
    let id: Box<dyn Fn(&Value) -> String> = match (member(LISTED), action) {
        (Some(id), _) => Box::new(move |item| text(&item[id])),
        (None, "GetStages") => Box::new(|item| stage(api, &text(&item["stageName"]))),
        (None, "GetDomainNames") => Box::new(|item| domain(&text(&item["domainName"]))),
        _ => return Ok((reply, false)),
    };
    without(state, reply, "items", id)
}

fn of_policy(state: &mut State, call: &Call, reply: Reply) -> Result<(Reply, bool), String> {
    let function = function(call.param("FunctionName"));
    match call.action.as_str() {
        "AddPermission" => state.add(statement(function, call.param("StatementId"))),
        "RemovePermission" => state.forget(&statement(function, call.param("StatementId"))),
        "GetPolicy" => {
            let mut body = json(&reply)?;
            let mut policy: Value =
                serde_json::from_str(body["Policy"].as_str().unwrap_or_default()).map_err(|error| error.to_string())?;
            let Some(statements) = policy["Statement"].as_array_mut() else { return Ok((reply, false)) };
            let before = statements.len();
            statements.retain(|it| !state.is_hidden(&statement(function, &text(&it["Sid"]))));
            if statements.is_empty() {
                let text = "The resource you requested does not exist.";
                return Ok((Reply::error(call, 404, "ResourceNotFoundException", text), true));
            }
            if statements.len() < before {
                body["Policy"] = policy.to_string().into();
                return Ok((reply.with_body(body.to_string()), true));
            }
        }
        _ => {}
    }
    Ok((reply, false))
}

fn of_logs(state: &mut State, call: &Call, reply: Reply) -> Result<(Reply, bool), String> {
    let name = call.param("logGroupName").to_owned();
    match call.action.as_str() {
        "CreateLogGroup" => state.add(log_group(&name)),
        "DeleteLogGroup" => state.forget(&log_group(&name)),
        "PutSubscriptionFilter" => state.add(filter(&name, call.param("filterName"))),
        "DeleteSubscriptionFilter" => state.forget(&filter(&name, call.param("filterName"))),
        "DescribeLogGroups" => return without(state, reply, "logGroups", |it| log_group(&text(&it["logGroupName"]))),
        "DescribeSubscriptionFilters" => {
            return without(state, reply, "subscriptionFilters", |it| filter(&name, &text(&it["filterName"])));
        }
        _ => {}
    }
    Ok((reply, false))
}

fn of_zone(state: &mut State, call: &Call, reply: Reply) -> Result<(Reply, bool), String> {
    match call.action.as_str() {
        "ChangeResourceRecordSets" => {
            let record = record(call.param("Name"));
            if call.param("Action") == "DELETE" {
                state.forget(&record);
            } else {
                state.add(record);
            }
            let root = Element::parse(&reply.text())?;
            state.add(change(root.child("ChangeInfo").map_or("", |info| info.text_of("Id"))));
            Ok((reply, false))
        }
        "ListResourceRecordSets" => {
            let mut root = Element::parse(&reply.text())?;
            let Some(records) = root.child_mut("ResourceRecordSets") else { return Ok((reply, false)) };
            let before = records.children.len();
            // A zone has its own records under its name, which are not new.
            records.children.retain(|it| it.text_of("Type") != "A" || !state.is_hidden(&record(it.text_of("Name"))));
            if records.children.len() == before {
                return Ok((reply, false));
            }
            Ok((reply.with_body(root.to_string()), true))
        }
        _ => Ok((reply, false)),
    }
}

/// The answer without the hidden items of a list, and whether there were any.
fn without(
    state: &State,
    reply: Reply,
    list: &str,
    object: impl Fn(&Value) -> String,
) -> Result<(Reply, bool), String> {
    let mut body = json(&reply)?;
    let Some(items) = body[list].as_array_mut() else { return Ok((reply, false)) };
    let before = items.len();
    items.retain(|item| !state.is_hidden(&object(item)));
    if items.len() == before { Ok((reply, false)) } else { Ok((reply.with_body(body.to_string()), true)) }
}

fn stage(api: &str, name: &str) -> String {
    format!("stage {name} of {api}")
}

fn domain(name: &str) -> String {
    format!("domain name {name}")
}

fn log_group(name: &str) -> String {
    format!("log group {}", name.strip_suffix(":*").unwrap_or(name))
}

fn filter(group: &str, name: &str) -> String {
    format!("subscription filter {name} of {group}")
}

fn statement(function: &str, id: &str) -> String {
    format!("statement of {function}: {id}")
}

fn record(name: &str) -> String {
    format!("record {}", name.trim_end_matches('.').to_lowercase())
}

fn change(id: &str) -> String {
    format!("change {}", id.trim_start_matches("/change/"))
}

/// The name of a function from its ARN.
fn function(text: &str) -> &str {
    let name = text.split_once(":function:").map_or(text, |(_, name)| name);
    name.split(':').next().unwrap_or_default()
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}

fn json(reply: &Reply) -> Result<Value, String> {
    serde_json::from_slice(&reply.body).map_err(|error| format!("not JSON: {error}"))
}
