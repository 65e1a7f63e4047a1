//! CORS configurations.

use super::config::CorsConfig;
use crate::objects::Cors;
use crate::plugin::{AttributePath, Input, Problem, Value};

/// The methods that API Gateway takes in a CORS configuration.
const METHODS: [&str; 8] = ["GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS", "*"];

type Strings = Input<Option<Vec<Input<String>>>>;

/// What is set on the API. Unknown where any part is, as it is set with one call.
pub(super) fn cors(config: &Input<Option<CorsConfig>>) -> Input<Option<Cors>> {
    match config {
        Input::Unknown => Input::Unknown,
        Input::Known(None) => Input::Known(None),
        Input::Known(Some(config)) => known(config).map_or(Input::Unknown, |cors| Input::Known(Some(cors))),
    }
}

fn known(config: &CorsConfig) -> Option<Cors> {
    Some(Cors {
        allow_credentials: config.allow_credentials.known()?.unwrap_or(false),
        allow_headers: strings(&config.allow_headers)?,
        allow_methods: strings(&config.allow_methods)?,
        allow_origins: strings(&config.allow_origins)?,
        expose_headers: strings(&config.expose_headers)?,
        max_age: *config.max_age.known()?,
    })
}

fn strings(list: &Strings) -> Option<Vec<String>> {
    list.known()?.iter().flatten().map(|item| item.known().cloned()).collect()
}

/// The known items of a list with their positions.
fn items(list: &Strings) -> impl Iterator<Item = (usize, &String)> {
    let items = list.known().and_then(Option::as_ref).into_iter().flatten();
    items.enumerate().filter_map(|(index, item)| Some((index, item.known()?)))
}

/// The attribute's value for what AWS shows. Attributes that say what was applied keep the user's words.
pub(super) fn reflected(state: &Value, applied: Option<&Cors>, found: Option<&Cors>) -> Value {
    let Some(found) = found else { return Value::Null };
    let none = Cors::default();
    let applied = applied.unwrap_or(&none);
    let list = |items: &[String]| match items {
        [] => Value::Null,
        items => Value::from(items.to_vec()),
    };
    let either = |name: &str, differs: bool, value: Value| match differs {
        true => (name.to_string(), value),
        false => (name.to_string(), state.get(name).clone()),
    };
    let credentials = if found.allow_credentials { Value::Bool(true) } else { Value::Null };
    Value::map([
        either("allow_credentials", applied.allow_credentials != found.allow_credentials, credentials),
        either("allow_headers", applied.allow_headers != found.allow_headers, list(&found.allow_headers)),
        either("allow_methods", applied.allow_methods != found.allow_methods, list(&found.allow_methods)),
        either("allow_origins", applied.allow_origins != found.allow_origins, list(&found.allow_origins)),
        either("expose_headers", applied.expose_headers != found.expose_headers, list(&found.expose_headers)),
        either("max_age", applied.max_age != found.max_age, found.max_age.into()),
    ])
}

/// Checks a configuration against AWS's rules.
pub(super) fn check(config: &CorsConfig, path: &AttributePath, problems: &mut Vec<Problem>) {
    check_something_is_set(config, path, problems);
    for (index, method) in items(&config.allow_methods) {
        if !METHODS.contains(&method.as_str()) {
            problems.push(Problem::new(
                path.attribute("allow_methods").index(index),
                format!("{method:?} is not a method that API Gateway takes here."),
                format!("Use one of {}, in capitals.", METHODS.join(", ")),
            ));
        }
    }
    for (index, origin) in items(&config.allow_origins) {
        let path = path.attribute("allow_origins").index(index);
        if origin == "*" {
            if config.allow_credentials.known() == Some(&Some(true)) {
                problems.push(Problem::new(
                    path,
                    "allow_credentials is true and allow_origins contains \"*\", which neither AWS nor browsers allow \
                     together.",
                    "Name the origins, or leave allow_credentials out.",
                ));
            }
            continue;
        }
        let host = origin.split_once("://").map_or("", |(_, host)| host);
        if host.is_empty() || host.contains('/') {
            problems.push(Problem::new(
                path,
                format!("{origin:?} is not an origin."),
                "Write a scheme and a host with nothing behind, such as https://example.com, or \"*\".",
            ));
        }
    }
    for (name, list) in [("allow_headers", &config.allow_headers), ("expose_headers", &config.expose_headers)] {
        for (index, header) in items(list) {
            if header.is_empty()
                || !header.chars().all(|it| it.is_ascii_graphic() && !",:;\"/()<>@[]{}?=\\".contains(it))
            {
                problems.push(Problem::new(
                    path.attribute(name).index(index),
                    format!("{header:?} is not the name of a header."),
                    "Write one name per element, such as \"authorization\", or \"*\".",
                ));
            }
        }
    }
}

/// API Gateway takes an empty configuration and does nothing with it.
fn check_something_is_set(config: &CorsConfig, path: &AttributePath, problems: &mut Vec<Problem>) {
    let lists = [&config.allow_headers, &config.allow_methods, &config.allow_origins, &config.expose_headers];
    let empty = |list: &&Strings| match list {
        Input::Unknown => false,
        Input::Known(list) => list.as_ref().is_none_or(Vec::is_empty),
    };
    if config.allow_credentials == Input::Known(None) && config.max_age == Input::Known(None) && lists.iter().all(empty)
    {
        problems.push(Problem::new(
            path.clone(),
            "cors_configuration sets nothing.",
            "Set at least one of its attributes, or leave it out to turn CORS off.",
        ));
    }
}
