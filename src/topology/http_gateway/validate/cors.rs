//! CORS configurations.

use super::super::config::CorsConfig;
use super::*;
use crate::model::only;
use crate::plugin::DROPS_NAMES;

/// The methods that API Gateway accepts in a CORS configuration.
const METHODS: [&str; 8] = ["GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS", "*"];

impl Problems {
    pub(super) fn cors(&mut self, config: &GatewayConfig) {
        let Input::Known(Some(cors)) = &config.cors_configuration else { return };
        let path = AttributePath::new("cors_configuration");
        if sets_nothing(cors) {
            let message = format!(
                "cors_configuration sets nothing, and API Gateway ignores an empty configuration. {DROPS_NAMES}"
            );
            self.add(path.clone(), message, "Set at least one of its attributes, or remove it to turn CORS off.");
        }
        let methods = path.attribute("allow_methods");
        for (index, method) in items(&cors.allow_methods).filter(|(_, method)| !METHODS.contains(&method.as_str())) {
            let message = format!("{method:?} is not a method that API Gateway allows here.");
            self.add(methods.index(index), message, format!("Use one of {}, in uppercase.", METHODS.join(", ")));
        }
        self.repeated(&methods, items(&cors.allow_methods), |one, other| one == other);
        self.origins(cors, &path.attribute("allow_origins"));
        for (name, headers) in [("allow_headers", &cors.allow_headers), ("expose_headers", &cors.expose_headers)] {
            let path = path.attribute(name);
            for (index, header) in items(headers).filter(|(_, header)| !is_header(header)) {
                let message = format!("{header:?} is not a valid header name.");
                self.add(
                    path.index(index),
                    message,
                    "Write one name per element, such as \"authorization\", or \"*\".",
                );
            }
            self.repeated(&path, items(headers), str::eq_ignore_ascii_case);
        }
    }

    fn origins(&mut self, cors: &CorsConfig, path: &AttributePath) {
        for (index, origin) in items(&cors.allow_origins) {
            if origin == "*" {
                if cors.allow_credentials == Input::Known(Some(true)) {
                    let message = "allow_credentials is true and allow_origins contains \"*\", a combination that \
                                   neither AWS nor browsers allow.";
                    self.add(path.index(index), message, "Name the origins, or remove allow_credentials.");
                }
            } else if let Err(reason) = check_origin(origin) {
                let hint = "Write http or https and a host without a path, such as https://example.com, or any host, \
                            such as https://*, or \"*\".";
                self.add(path.index(index), format!("{origin:?} is not an origin: {reason}."), hint);
            }
        }
        self.repeated(path, items(&cors.allow_origins), |one, other| one == other);
    }
}

/// Checks an origin. The error completes a sentence after a colon.
fn check_origin(origin: &str) -> Result<(), &'static str> {
    let (scheme, host) = origin.split_once("://").ok_or("it has no scheme")?;
    if !["http", "https"].contains(&scheme) {
        return Err("API Gateway supports only the schemes http and https");
    }
    match host {
        "*" => Ok(()),
        "" => Err("it has no host"),
        host if host.contains(['/', '?', '#']) => Err("its host is followed by a path, query or fragment"),
        host if host.contains('*') => Err("API Gateway does not support a wildcard within a host"),
        host if !only(host, ".-_:[]") => Err("its host contains invalid characters"),
        _ => Ok(()),
    }
}

fn sets_nothing(cors: &CorsConfig) -> bool {
    let lists = [&cors.allow_headers, &cors.allow_methods, &cors.allow_origins, &cors.expose_headers];
    let mut lists = lists.into_iter().map(|list| list.known().map(|list| list.as_ref().is_none_or(Vec::is_empty)));
    cors.allow_credentials == Input::Known(None)
        && cors.max_age == Input::Known(None)
        && lists.all(|is_empty| is_empty == Some(true))
}
