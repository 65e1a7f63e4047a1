//! Validation: every rule of the specification and of AWS that can be checked without a call to AWS. An unknown value
//! is never a problem, and all problems are reported at once. Rules that concern a single value are checks of its
//! attribute in `config`.

mod authorizers;
mod cors;
mod domains;
mod logs;
#[cfg(test)]
mod properties;
mod routes;
mod settings;
#[cfg(test)]
mod rules;

use super::config::GatewayConfig;
use super::{authorization, jwt_authorizers, stage, vpc_links};
use crate::model::keys::gateway;
use crate::model::{ALLOWED_CHARACTERS, TaggingService, check_tags};
use crate::plugin::{AttributePath, Input, Problem};
use crate::topology::protected;

/// All problems of a configuration.
pub(super) fn validate(config: &GatewayConfig) -> Vec<Problem> {
    let mut problems = Problems::default();
    problems.api(config);
    problems.routes(config);
    problems.settings(config);
    problems.authorizers(config);
    problems.0.extend(authorization::problems(config));
    problems.0.extend(jwt_authorizers::problems(&config.jwt_authorizers, &config.faas_authorizers));
    problems.0.extend(vpc_links::problems(&config.vpc_links));
    problems.0.extend(stage::problems(config));
    problems.cors(config);
    problems.access_logs(config);
    problems.subscription(config);
    problems.domains(config);
    problems.0.extend(protected::problems(&config.protected_objects, &gateway::slots()));
    let log_tags = config.access_log_logservice_group_tags.known().and_then(Option::as_ref);
    for (service, name, tags) in [
        (TaggingService::ApiGateway, "api_tags", config.api_tags.known()),
        (TaggingService::ApiGateway, "stage_tags", config.stage_tags.known()),
        (TaggingService::Logs, "access_log_logservice_group_tags", log_tags),
    ] {
        problems.0.extend(tags.map(|tags| check_tags(service, tags, &AttributePath::new(name))).unwrap_or_default());
    }
    problems.0
}

/// The problems found so far.
#[derive(Default)]
struct Problems(Vec<Problem>);

impl Problems {
    fn add(&mut self, path: AttributePath, message: impl Into<String>, hint: impl Into<String>) {
        self.0.push(Problem::new(path, message, hint));
    }

    fn api(&mut self, config: &GatewayConfig) {
        if let Input::Known(name) = &config.name {
            let path = AttributePath::new("name");
            // The name is stored in a tag of the API, by which the API is found again after a run was killed.
            if !name.chars().all(|character| TaggingService::ApiGateway.allows(character)) {
                let message =
                    format!("{name:?} contains characters that AWS does not allow in a tag, where the name is stored.");
                self.add(path, message, ALLOWED_CHARACTERS);
            }
        }
    }

    /// Reports each item that repeats an earlier item of the list.
    fn repeated<'a>(
        &mut self,
        path: &AttributePath,
        items: impl Iterator<Item = (usize, &'a String)>,
        is_same: fn(&str, &str) -> bool,
    ) {
        let mut seen: Vec<&str> = Vec::new();
        for (index, item) in items {
            match seen.iter().find(|it| is_same(it, item)) {
                Some(first) => {
                    let message = match *first == item {
                        true => format!("{item:?} is listed twice."),
                        false => format!("{item:?} is listed twice, the first time as {first:?}."),
                    };
                    self.add(path.index(index), message, "Remove one of them.");
                }
                None => seen.push(item),
            }
        }
    }
}

/// The known items of a list with their indices.
fn items(list: &Input<Option<Vec<Input<String>>>>) -> impl Iterator<Item = (usize, &String)> + Clone {
    let items = list.known().and_then(Option::as_deref).unwrap_or_default().iter();
    items.enumerate().filter_map(|(index, item)| Some((index, item.known()?)))
}

/// Whether the text is a valid name of an HTTP header, or `*`.
fn is_header(text: &str) -> bool {
    !text.is_empty() && text.chars().all(|it| it.is_ascii_alphanumeric() || "!#$%&'*+-.^_`|~".contains(it))
}
