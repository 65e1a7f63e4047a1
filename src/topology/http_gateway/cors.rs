//! CORS configurations.

use super::config::CorsConfig;
use crate::model::Cors;
use crate::plugin::{Input, Value};

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
