//! Request authorizers.

use super::super::config::FaasAuthorizer;
use super::*;
use crate::model::{Arn, FunctionArn, only, parse_short};

/// The prefixes of identity sources.
const SOURCES: [&str; 4] = ["$request.header.", "$request.querystring.", "$context.", "$stageVariables."];

impl Problems {
    pub(super) fn authorizers(&mut self, config: &GatewayConfig) {
        let Input::Known(authorizers) = &config.faas_authorizers else { return };
        let path = AttributePath::new("faas_authorizers");
        for (name, entry) in authorizers {
            let path = path.key(name);
            let length = name.chars().count();
            if !(1..=128).contains(&length) {
                let message =
                    format!("The authorizer name {name:?} has {length} characters; API Gateway allows 1 to 128.");
                self.add(path.clone(), message, "Choose another key.");
            }
            if let Input::Known(entry) = entry {
                self.authorizer(entry, &path);
            }
        }
    }

    fn authorizer(&mut self, entry: &FaasAuthorizer, path: &AttributePath) {
        self.function(entry, path);
        self.identity(entry, path);
        if entry.enable_simple_responses == Input::Known(true)
            && entry.authorizer_payload_format_version.known().is_some_and(|it| it == "1.0")
        {
            self.add(
                path.attribute("enable_simple_responses"),
                "enable_simple_responses is true, but authorizer_payload_format_version is \"1.0\", which supports \
                 only IAM policies.",
                "Set authorizer_payload_format_version to \"2.0\", or remove enable_simple_responses.",
            );
        }
    }

    fn function(&mut self, entry: &FaasAuthorizer, path: &AttributePath) {
        if let Input::Known(Some(uri)) = &entry.authorizer_uri {
            self.uri(uri, path.attribute("authorizer_uri"));
        }
        let Input::Known(function) = &entry.authorizer_name else { return };
        let problem = match (function.as_str(), &entry.authorizer_uri) {
            ("", _) => Some("authorizer_name is empty.".to_string()),
            // With a URI, the name is not used to call the function.
            (_, Input::Known(Some(_)) | Input::Unknown) => None,
            (arn, _) if arn.starts_with("arn:") => FunctionArn::parse(arn).err(),
            (name, _) => parse_short(name).err(),
        };
        if let Some(problem) = problem {
            let hint = "Use the name or the ARN of the authorizer function.";
            self.add(path.attribute("authorizer_name"), problem, hint);
        }
    }

    fn uri(&mut self, uri: &str, path: AttributePath) {
        if let Ok(function) = FunctionArn::parse(uri) {
            let message = format!("{uri:?} is the ARN of a function, not its invoke URI.");
            let hint = format!(
                "Use {:?}, or set authorizer_name to the ARN and remove authorizer_uri.",
                function.invoke_uri()
            );
            self.add(path, message, hint);
        } else if let Err(reason) = check_uri(uri) {
            let message = format!("{uri:?} is not the invoke URI of a function: {reason}.");
            self.add(path, message, "Use the invoke_arn of the function, or remove authorizer_uri.");
        }
    }

    fn identity(&mut self, entry: &FaasAuthorizer, path: &AttributePath) {
        let sources = path.attribute("identity_sources");
        for (index, source) in items(&entry.identity_sources) {
            if !is_identity_source(source) {
                let message = format!("{source:?} is not an identity source.");
                let hint = format!("Write one source per element: {}, followed by a name.", SOURCES.join(" or "));
                self.add(sources.index(index), message, hint);
            }
        }
        let is_same = |one: &str, other: &str| match one.starts_with(SOURCES[0]) {
            true => one.eq_ignore_ascii_case(other),
            false => one == other,
        };
        self.repeated(&sources, items(&entry.identity_sources), is_same);
        let are_none = entry.identity_sources.known().is_some_and(|it| it.as_ref().is_none_or(Vec::is_empty));
        if let Input::Known(Some(ttl @ 1..)) = entry.result_ttl_in_seconds
            && are_none
        {
            let message = format!(
                "Results would be cached for {ttl} seconds, but there are no identity_sources to cache them by."
            );
            let hint = "Set identity_sources, or set result_ttl_in_seconds to 0.";
            self.0.push(Problem::new(path.attribute("result_ttl_in_seconds"), message, hint).of_absence());
        }
    }
}

/// Checks an invoke URI. The error completes a sentence after a colon.
fn check_uri(uri: &str) -> Result<(), String> {
    if uri.len() > 2048 {
        return Err(format!("it has {} bytes, and API Gateway allows 2048", uri.len()));
    }
    let arn = Arn::split(uri).ok().filter(|arn| arn.service == "apigateway" && arn.account == "lambda");
    let function = arn
        .and_then(|arn| arn.resource.strip_prefix("path/2015-03-31/functions/"))
        .and_then(|rest| rest.strip_suffix("/invocations"))
        .ok_or(
            "it does not have the form arn:aws:apigateway:<region>:lambda:path/2015-03-31/functions/<ARN>/invocations",
        )?;
    // API Gateway replaces stage variables at each request.
    match FunctionArn::parse(function) {
        Err(reason) if !function.contains("${stageVariables.") => Err(reason.trim_end_matches('.').to_string()),
        _ => Ok(()),
    }
}

fn is_identity_source(text: &str) -> bool {
    let Some((prefix, name)) = SOURCES.iter().find_map(|it| Some((*it, text.strip_prefix(it)?))) else { return false };
    match prefix {
        "$request.header." => is_header(name),
        "$request.querystring." => !name.is_empty() && !name.contains([' ', ',', '$', '&', '=']),
        _ => !name.is_empty() && only(name, "._-"),
    }
}
