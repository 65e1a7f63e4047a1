//! Validation of the provider block without AWS. All problems are reported at once. An unknown value is not a problem.

use std::collections::BTreeMap;

use super::block::ProviderBlock;
use super::endpoints::{is_called, service_named};
use crate::aws::config::plaintext::{are_all_on_this_machine, explained, exposed_host};
use crate::model::{check_role, check_tag, durations, is_account_id};
use crate::plugin::{AttributePath, Diagnostics, Problem, Value};

/// All problems and warnings of a block, except those of the checks of its attributes, which the server runs.
pub(crate) fn validate(config: &Value) -> Diagnostics {
    let mut diagnostics = Diagnostics::default();
    let (block, mismatches) = ProviderBlock::known_part(config);
    diagnostics.problems(mismatches);
    if let Some(block) = block {
        diagnostics.problems(problems(config, &block));
        if let Some(names) = without_effect(&block) {
            diagnostics.warning(
                "Provider arguments without effect",
                format!("This provider does not call the services of these arguments: {names}."),
            );
        }
        unprotected(&block, &mut diagnostics);
    }
    diagnostics
}

/// Warnings about connections that others can read and change.
fn unprotected(block: &ProviderBlock, diagnostics: &mut Diagnostics) {
    if block.insecure == Some(true) && !are_all_on_this_machine(&block.settings()) {
        diagnostics.attribute_warning(
            AttributePath::new("insecure"),
            "TLS certificates are not verified",
            "Others on the way can read and change all calls, also the responses of STS, which contain secret keys. Remove \
             insecure, and add the certificate authority of a proxy or an emulator to custom_ca_bundle.",
        );
    }
    let metadata = block.ec2_metadata_service_endpoint.as_deref().map(|url| ("ec2_metadata_service_endpoint", url));
    let called = block.endpoints_by_name().filter(|(_, name, _)| is_called(name)).map(|(_, name, url)| (name, url));
    let exposed = called.chain(metadata).filter_map(|(name, url)| Some((name.to_string(), exposed_host(url)?)));
    let exposed: Vec<(String, String)> = exposed.collect();
    if !exposed.is_empty() {
        diagnostics.warning("Endpoints without encryption", explained(&exposed));
    }
}

fn problems(config: &Value, block: &ProviderBlock) -> Vec<Problem> {
    let mut found = Vec::new();
    regions(config, block, &mut found);
    static_keys(config, block, &mut found);
    accounts(block, &mut found);
    roots(block, &mut found);
    roles(config, block, &mut found);
    web_identity(config, block, &mut found);
    at_most_one(block, &mut found);
    tags(block, &mut found);
    endpoints(block, &mut found);
    urls(block, &mut found);
    user_agent(block, &mut found);
    found
}

fn regions(config: &Value, block: &ProviderBlock, found: &mut Vec<Problem>) {
    if block.skip_region_validation == Some(true) || config.get("skip_region_validation").is_unknown() {
        return;
    }
    for (name, region) in [("region", &block.region), ("sts_region", &block.sts_region)] {
        if let Some(region) = region.as_deref().filter(|region| !region.is_empty())
            && !is_region(region)
        {
            found.push(Problem::new(
                AttributePath::new(name),
                format!("{region:?} does not look like a Region."),
                "Use a Region such as \"eu-central-1\", or set skip_region_validation = true if AWS or an emulator has \
                 a Region of this name.",
            ));
        }
    }
}

/// Whether a name has the form of a Region name: two to four letters, one or more words, and a number. There is no list
/// of Regions, because AWS adds Regions more often than providers are updated.
pub(crate) fn is_region(name: &str) -> bool {
    let parts: Vec<&str> = name.split('-').collect();
    let [first, middle @ .., number] = parts.as_slice() else { return false };
    let is_word = |word: &&str| !word.is_empty() && word.bytes().all(|byte| byte.is_ascii_lowercase());
    !middle.is_empty()
        && (2..=4).contains(&first.len())
        && is_word(first)
        && middle.iter().all(is_word)
        && !number.is_empty()
        && number.bytes().all(|byte| byte.is_ascii_digit())
}

fn static_keys(config: &Value, block: &ProviderBlock, found: &mut Vec<Problem>) {
    let lacks = |name: &str| config.get(name).is_null() || config.get(name).as_str() == Some("");
    let has = |value: Option<&str>| value.is_some_and(|text| !text.is_empty());
    let has_key = has(block.access_key.as_deref());
    let has_secret = has(block.secret_key.as_ref().map(|secret| secret.reveal()));
    if has_key && lacks("secret_key") {
        let hint = "Set secret_key too, or remove access_key to use credentials from the environment or a profile.";
        found.push(Problem::new(AttributePath::new("access_key"), "access_key is set without secret_key.", hint));
    }
    if has_secret && lacks("access_key") {
        let hint = "Set access_key too, or remove secret_key to use credentials from the environment or a profile.";
        found.push(Problem::new(AttributePath::new("secret_key"), "secret_key is set without access_key.", hint));
    }
    if has(block.token.as_ref().map(|secret| secret.reveal())) && lacks("access_key") {
        let hint = "Set the access_key and secret_key that belong to the token, or remove it.";
        found.push(Problem::new(AttributePath::new("token"), "token is set without access_key.", hint));
    }
}

fn accounts(block: &ProviderBlock, found: &mut Vec<Problem>) {
    let allowed = block.allowed_account_ids.as_deref().unwrap_or_default();
    let forbidden = block.forbidden_account_ids.as_deref().unwrap_or_default();
    for (name, ids) in [("allowed_account_ids", allowed), ("forbidden_account_ids", forbidden)] {
        for (index, id) in ids.iter().enumerate() {
            if !is_account_id(id) {
                found.push(Problem::new(
                    AttributePath::new(name).index(index),
                    format!("{id:?} is not an account ID."),
                    "Write the 12 digits in quotation marks to keep leading zeros.",
                ));
            }
        }
        let is_skipped =
            block.skip_credentials_validation == Some(true) && block.skip_requesting_account_id == Some(true);
        if !ids.is_empty() && is_skipped {
            found.push(Problem::new(
                AttributePath::new(name),
                format!(
                    "{name} cannot be checked, because skip_credentials_validation and skip_requesting_account_id \
                     prevent the provider from reading the account ID."
                ),
                "Remove one of these two arguments, or remove this one.",
            ));
        }
    }
    if !allowed.is_empty() && !forbidden.is_empty() {
        found.push(Problem::new(
            AttributePath::new("forbidden_account_ids"),
            "forbidden_account_ids is set together with allowed_account_ids.",
            "Keep allowed_account_ids, which forbids all other accounts, or keep forbidden_account_ids.",
        ));
    }
}

/// Emulators have IDs of other lengths than AWS, so only the characters are checked.
fn roots(block: &ProviderBlock, found: &mut Vec<Problem>) {
    let is_id = |id: &str| !id.is_empty() && id.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-');
    for id in block.allow_protected_deletion.iter().flatten().filter(|id| !is_id(id)) {
        found.push(Problem::new(
            AttributePath::new("allow_protected_deletion"),
            format!("{id:?} is not the ID of a VPC or of an API."),
            "Use the value of the resource's attribute id, such as \"vpc-0123456789abcdef0\".",
        ));
    }
}

fn roles(config: &Value, block: &ProviderBlock, found: &mut Vec<Problem>) {
    let is_unknown = |index: usize, name: &str| match config.get("assume_role") {
        Value::List(items) => items.get(index).is_none_or(|item| item.is_unknown() || item.get(name).is_unknown()),
        _ => true,
    };
    for (index, role) in block.roles().iter().enumerate() {
        let path = AttributePath::new("assume_role").index(index);
        match &role.role_arn {
            Some(arn) => role_arn(arn, &path, found),
            None if is_unknown(index, "role_arn") => {}
            None => found.push(Problem::new(path.clone(), "The block has no role ARN.", "Set role_arn.")),
        }
        session(&role.session_name, &role.duration, &role.policy, &path, found);
        for key in role.transitive_tag_keys.iter().flatten() {
            let has_tag = role.tags.as_ref().is_some_and(|tags| tags.contains_key(key));
            if !has_tag && !is_unknown(index, "tags") {
                found.push(Problem::new(
                    path.attribute("transitive_tag_keys"),
                    format!("The key {key:?} is not set in tags."),
                    "Add the tag to tags, or remove the key.",
                ));
            }
        }
    }
}

fn web_identity(config: &Value, block: &ProviderBlock, found: &mut Vec<Problem>) {
    let Some(role) = block.web_identity() else { return };
    let path = AttributePath::new("assume_role_with_web_identity").index(0);
    if let Some(arn) = &role.role_arn {
        role_arn(arn, &path, found);
    }
    session(&role.session_name, &role.duration, &role.policy, &path, found);
    if role.web_identity_token.is_some() && role.web_identity_token_file.is_some() {
        found.push(Problem::new(
            path.attribute("web_identity_token"),
            "web_identity_token is set together with web_identity_token_file.",
            "Keep one of the two; only a file can be renewed while Terraform runs.",
        ));
    }
    let is_known = config.get("assume_role_with_web_identity").is_wholly_known();
    let from_environment = |name: &str| std::env::var(name).is_ok_and(|value| !value.is_empty());
    if is_known && role.role_arn.is_none() && !from_environment("AWS_ROLE_ARN") {
        found.push(Problem::new(path.clone(), "The block has no role ARN.", "Set role_arn or AWS_ROLE_ARN."));
    }
    let has_token = role.web_identity_token.is_some() || role.web_identity_token_file.is_some();
    if is_known && !has_token && !from_environment("AWS_WEB_IDENTITY_TOKEN_FILE") {
        let hint = "Set web_identity_token_file, web_identity_token or AWS_WEB_IDENTITY_TOKEN_FILE.";
        found.push(Problem::new(path, "The block has no token.", hint));
    }
}

fn role_arn(arn: &str, path: &AttributePath, found: &mut Vec<Problem>) {
    if let Err(message) = check_role(arn) {
        let hint = "Use an ARN such as \"arn:aws:iam::123456789012:role/deploy\".";
        found.push(Problem::new(path.attribute("role_arn"), message, hint));
    }
}

fn session(
    name: &Option<String>,
    duration: &Option<String>,
    policy: &Option<String>,
    path: &AttributePath,
    found: &mut Vec<Problem>,
) {
    if let Some(name) = name
        && !((2..=64).contains(&name.len())
            && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_+=,.@-".contains(&byte)))
    {
        found.push(Problem::new(
            path.attribute("session_name"),
            format!("{name:?} is not a valid session name."),
            "Use 2 to 64 letters, digits, and the characters _ + = , . @ -.",
        ));
    }
    if let Some(text) = duration {
        let message = match durations::parse(text) {
            None => Some(format!("{text:?} is not a duration.")),
            Some(length) if !(900..=43_200).contains(&length.as_secs()) => Some(format!("{text:?} is out of range.")),
            Some(_) => None,
        };
        if let Some(message) = message {
            let hint = "Use a duration from 15m to 12h, such as \"1h30m\".";
            found.push(Problem::new(path.attribute("duration"), message, hint));
        }
    }
    if let Some(policy) = policy
        && let Err(error) = serde_json::from_str::<serde_json::Value>(policy)
    {
        let hint = "Use jsonencode() to write it.";
        found.push(Problem::new(path.attribute("policy"), format!("The policy is not valid JSON: {error}."), hint));
    }
}

/// hashicorp/aws allows each of these blocks once. With several, it would be undefined which one applies.
fn at_most_one(block: &ProviderBlock, found: &mut Vec<Problem>) {
    let counts = [
        ("assume_role_with_web_identity", block.assume_role_with_web_identity.as_ref().map_or(0, Vec::len)),
        ("default_tags", block.default_tags.known().into_iter().flatten().flatten().count()),
        ("ignore_tags", block.ignore_tags.known().into_iter().flatten().flatten().count()),
    ];
    for (name, count) in counts.into_iter().filter(|(_, count)| *count > 1) {
        let path = AttributePath::new(name).index(1);
        found.push(Problem::new(path, format!("There are {count} {name} blocks."), "Keep one of them."));
    }
}

fn tags(block: &ProviderBlock, found: &mut Vec<Problem>) {
    for (index, tags) in block.default_tags.known().into_iter().flatten().flatten().enumerate() {
        let path = AttributePath::new("default_tags").index(index).attribute("tags");
        let tags = tags.known().and_then(|block| block.tags.known()).into_iter().flatten();
        for (key, value) in tags.flatten() {
            found.extend(check_tag(key, value).map(|(message, hint)| Problem::new(path.key(key), message, hint)));
        }
    }
}

fn endpoints(block: &ProviderBlock, found: &mut Vec<Problem>) {
    let mut taken: BTreeMap<&str, &str> = BTreeMap::new();
    for (path, name, url) in block.endpoints_by_name() {
        found.extend(url_problem(path.clone(), url, &["http", "https"]));
        let service = service_named(name).map_or(name, |service| service.id());
        match taken.insert(service, url) {
            Some(other) if other != url => found.push(Problem::new(
                path,
                // A URL may contain a password.
                format!("The service {service} has two different endpoints."),
                "Keep one of them.",
            )),
            _ => {}
        }
    }
}

fn urls(block: &ProviderBlock, found: &mut Vec<Problem>) {
    let web: &[&str] = &["http", "https"];
    for (name, url) in [
        ("http_proxy", &block.http_proxy),
        ("https_proxy", &block.https_proxy),
        ("ec2_metadata_service_endpoint", &block.ec2_metadata_service_endpoint),
    ] {
        if let Some(url) = url.as_deref().filter(|url| !url.is_empty()) {
            found.extend(url_problem(AttributePath::new(name), url, web));
        }
    }
}

fn url_problem(path: AttributePath, url: &str, schemes: &[&str]) -> Option<Problem> {
    let is_url = url.parse::<http::Uri>().is_ok_and(|uri| {
        uri.scheme_str().is_some_and(|scheme| schemes.contains(&scheme))
            && uri.host().is_some_and(|host| !host.is_empty())
    });
    // The URL of a proxy may contain a password, so the message does not contain the value.
    let hint = "Use a URL such as \"http://localhost:4566\".";
    (!is_url).then(|| Problem::new(path, "The value is not a URL with http:// or https:// and a host.", hint))
}

fn user_agent(block: &ProviderBlock, found: &mut Vec<Problem>) {
    for (index, product) in block.user_agent.iter().flatten().enumerate() {
        if product.is_empty() || !product.bytes().all(|byte| (b' '..=b'~').contains(&byte)) {
            found.push(Problem::new(
                AttributePath::new("user_agent").index(index),
                format!("{product:?} is not allowed in a User-Agent header."),
                "Use a product such as \"my-pipeline/1.2\", in printable ASCII.",
            ));
        }
    }
}

fn without_effect(block: &ProviderBlock) -> Option<String> {
    let mut names: Vec<String> = block
        .endpoints_by_name()
        .filter(|(_, name, _)| !is_called(name))
        .map(|it| format!("endpoints.{}", it.1))
        .collect();
    if block.s3_use_path_style.is_some() {
        names.push("s3_use_path_style".to_string());
    }
    if block.s3_us_east_1_regional_endpoint.is_some() {
        names.push("s3_us_east_1_regional_endpoint".to_string());
    }
    (!names.is_empty()).then(|| names.join(", "))
}

#[cfg(test)]
mod tests;
