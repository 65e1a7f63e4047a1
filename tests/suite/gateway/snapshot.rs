//! An account as lines of text, with names in place of ids, so that tests can list expected lines.

use std::collections::BTreeMap;

use serde_json::Value;

use super::{short, text};
use crate::support::emulator::Account;

/// The lines of all APIs with their authorizers, routes, unused integrations and stages, of all log groups and of all
/// statements, in this order. Ids appear as `<api name>`, `<authorizer name>` and `<account>`.
pub(super) fn snapshot(account: &Account) -> Vec<String> {
    let all = account.list();
    let list = |value: &Value| value.as_array().cloned().unwrap_or_default();
    let mut names = BTreeMap::from([(account.id.clone(), "<account>".to_owned())]);
    let mut lines = Vec::new();
    for api in list(&all["apis"]) {
        names.insert(text(&api["ApiId"]), format!("<{}>", plain(&api["Name"])));
        let (name, description, version) = (plain(&api["Name"]), plain(&api["Description"]), plain(&api["Version"]));
        lines.push(format!("api {name}: description {description}, version {version}"));
        lines.push(format!("cors {}", plain(&api["CorsConfiguration"])));
        lines.push(format!("tags of api {}", tags(&api["tags"])));
        let mut authorizers = BTreeMap::new();
        for authorizer in list(&api["authorizers"]) {
            authorizers.insert(text(&authorizer["AuthorizerId"]), plain(&authorizer["Name"]));
            names.insert(text(&authorizer["AuthorizerId"]), format!("<{}>", plain(&authorizer["Name"])));
            let role = authorizer["AuthorizerCredentialsArn"]
                .as_str()
                .filter(|it| !it.is_empty())
                .map(|role| format!(", as {role}"));
            lines.push(format!(
                "authorizer {}: {} calls {}, payload {}, simple {}, sources {}, ttl {}{}",
                plain(&authorizer["Name"]),
                plain(&authorizer["AuthorizerType"]),
                short(&text(&authorizer["AuthorizerUri"])),
                plain(&authorizer["AuthorizerPayloadFormatVersion"]),
                plain(&authorizer["EnableSimpleResponses"]),
                plain(&authorizer["IdentitySource"]),
                plain(&authorizer["AuthorizerResultTtlInSeconds"]),
                role.unwrap_or_default(),
            ));
        }
        let integrations: BTreeMap<String, String> = list(&api["integrations"])
            .iter()
            .map(|it| {
                let line = format!(
                    "{} {} payload {} after {} ms, {}",
                    plain(&it["IntegrationType"]),
                    short(&text(&it["IntegrationUri"])),
                    plain(&it["PayloadFormatVersion"]),
                    plain(&it["TimeoutInMillis"]),
                    plain(&it["Description"]),
                );
                (text(&it["IntegrationId"]), line)
            })
            .collect();
        let mut unused = integrations.clone();
        let mut routes: Vec<String> = list(&api["routes"])
            .iter()
            .map(|route| {
                let target = plain(&route["Target"]);
                let target = target.trim_start_matches("integrations/");
                unused.remove(target);
                let protection = match plain(&route["AuthorizationType"]).as_str() {
                    "CUSTOM" => format!("guarded by {}", authorizers[&text(&route["AuthorizerId"])]),
                    "JWT" => format!(
                        "tokens for {}, scopes {}",
                        authorizers[&text(&route["AuthorizerId"])],
                        plain(&route["AuthorizationScopes"])
                    ),
                    other => other.to_owned(),
                };
                let function = integrations.get(target).cloned().unwrap_or_else(|| format!("a missing {target}"));
                format!("route {}: {function}; {protection}", plain(&route["RouteKey"]))
            })
            .collect();
        routes.sort();
        lines.push(format!("{} integrations", integrations.len()));
        lines.extend(routes);
        lines.extend(unused.values().map(|it| format!("unused integration: {it}")));
        for stage in list(&api["stages"]) {
            let logs = &stage["AccessLogSettings"];
            lines.push(format!(
                "stage {}: deployed by itself {}",
                plain(&stage["StageName"]),
                plain(&stage["AutoDeploy"])
            ));
            lines.push(format!("logs to {} as {}", plain(&logs["DestinationArn"]), plain(&logs["Format"])));
            lines.push(format!("tags of stage {}", tags(&stage["tags"])));
        }
    }
    for group in
        list(&all["log_groups"]).iter().filter(|group| !plain(&group["logGroupName"]).starts_with("/aws/lambda"))
    {
        let days = plain(&group["retentionInDays"]);
        lines.push(format!(
            "log group {} for {days} days, tags {}",
            plain(&group["logGroupName"]),
            tags(&group["tags"])
        ));
    }
    let mut statements = Vec::new();
    for function in list(&all["functions"]) {
        for statement in list(&function["statements"]) {
            statements.push(format!(
                "statement of {}: {} {} {} from {}",
                plain(&function["FunctionName"]),
                plain(&statement["Effect"]),
                plain(&statement["Principal"]["Service"]),
                plain(&statement["Action"]),
                plain(&statement["Condition"]["ArnLike"]["AWS:SourceArn"]),
            ));
        }
    }
    statements.sort();
    lines.extend(statements);
    let named = |line: String| names.iter().fold(line, |line, (id, name)| line.replace(id, name));
    lines.into_iter().map(named).collect()
}

/// All tags except `fgw:request`, which is random.
fn tags(value: &Value) -> String {
    let mut tags = value.clone();
    if let Some(tags) = tags.as_object_mut() {
        tags.remove("fgw:request");
    }
    plain(&tags)
}

/// A missing or empty value as `-`, a string without its quotes, other values as JSON.
fn plain(value: &Value) -> String {
    match value {
        Value::Null => "-".to_owned(),
        Value::String(text) if text.is_empty() => "-".to_owned(),
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}
