//! Request authorizers.

use super::super::config::FaasAuthorizer;
use super::*;
use crate::model::{Arn, check_role, only};
use crate::model::{FunctionArn, parse_short};

/// AWS's fixed quota of authorizers.
const MOST_AUTHORIZERS: usize = 10;

/// Where in a request an identity can stand.
const SOURCES: [&str; 4] = ["$request.header.", "$request.querystring.", "$context.", "$stageVariables."];

impl Problems {
    pub(super) fn authorizers(&mut self, config: &GatewayConfig) {
        let Input::Known(authorizers) = &config.faas_authorizers else { return };
        let path = AttributePath::new("faas_authorizers");
        if authorizers.len() > MOST_AUTHORIZERS {
            let message =
                format!("There are {} authorizers; an API has at most {MOST_AUTHORIZERS}.", authorizers.len());
            self.add(path.clone(), message, "Share authorizers between routes.");
        }
        for (name, entry) in authorizers {
            let path = path.key(name);
            let length = name.chars().count();
            if !(1..=128).contains(&length) {
                let message =
                    format!("The authorizer's name {name:?} has {length} characters; API Gateway takes 1 to 128.");
                self.add(path.clone(), message, "Choose another key.");
            }
            if let Input::Known(entry) = entry {
                self.authorizer(entry, &path);
            }
        }
    }

    fn authorizer(&mut self, entry: &FaasAuthorizer, path: &AttributePath) {
        self.function(entry, path);
        if let Input::Known(Some(role)) = &entry.authorizer_credentials_arn
            && let Err(message) = check_role(role)
        {
            let hint = "Give an ARN such as arn:aws:iam::123456789012:role/name, or leave it out to use a permission.";
            self.add(path.attribute("authorizer_credentials_arn"), message, hint);
        }
        self.identity(entry, path);
        if entry.enable_simple_responses == Input::Known(true)
            && entry.authorizer_payload_format_version.known().is_some_and(|it| it == "1.0")
        {
            self.add(
                path.attribute("enable_simple_responses"),
                "enable_simple_responses is true, but authorizer_payload_format_version is \"1.0\", which answers \
                 with policies only.",
                "Set authorizer_payload_format_version to \"2.0\", or leave enable_simple_responses out.",
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
            // With a URI the name is for people.
            (_, Input::Known(Some(_)) | Input::Unknown) => None,
            (arn, _) if arn.starts_with("arn:") => FunctionArn::parse(arn).err(),
            (name, _) => parse_short(name).err(),
        };
        if let Some(problem) = problem {
            let hint = "Give the name or the ARN of the authorizer function.";
            self.add(path.attribute("authorizer_name"), problem, hint);
        }
    }

    fn uri(&mut self, uri: &str, path: AttributePath) {
        if let Ok(function) = FunctionArn::parse(uri) {
            let message = format!("{uri:?} is the ARN of a function, not its invoke URI.");
            let hint = format!(
                "Use {:?}, or set authorizer_name to the ARN and leave authorizer_uri out.",
                function.invoke_uri()
            );
            self.add(path, message, hint);
        } else if let Err(reason) = check_uri(uri) {
            let message = format!("{uri:?} is not the invoke URI of a function: {reason}.");
            self.add(path, message, "Use invoke_arn of the function, or leave authorizer_uri out.");
        }
    }

    fn identity(&mut self, entry: &FaasAuthorizer, path: &AttributePath) {
        let sources = path.attribute("identity_sources");
        for (index, source) in items(&entry.identity_sources) {
            if !is_identity_source(source) {
                let message = format!("{source:?} is not an identity source.");
                let hint = format!("Write one per element, each {} and a name.", SOURCES.join(" or "));
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
                "Answers would be kept for {ttl} seconds, but there are no identity_sources to keep them under."
            );
            let hint = "Set identity_sources, or set result_ttl_in_seconds to 0.";
            self.add(path.attribute("result_ttl_in_seconds"), message, hint);
        }
    }
}

/// Says what is wrong with an invoke URI, to be put behind a colon.
fn check_uri(uri: &str) -> Result<(), String> {
    if uri.len() > 2048 {
        return Err(format!("it has {} bytes, of which API Gateway takes 2048", uri.len()));
    }
    let arn = Arn::split(uri).ok().filter(|arn| arn.service == "apigateway" && arn.account == "lambda");
    let function = arn
        .and_then(|arn| arn.resource.strip_prefix("path/2015-03-31/functions/"))
        .and_then(|rest| rest.strip_suffix("/invocations"))
        .ok_or(
            "it does not have the form arn:aws:apigateway:<region>:lambda:path/2015-03-31/functions/<ARN>/invocations",
        )?;
    // API Gateway puts stage variables in their place with each request.
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
