//! What may be written: every rule of the specification and of AWS that can be checked without AWS. What is unknown is
//! never a problem, and all problems are reported at once. Rules for one value alone stand with their attribute, as a
//! check.

mod authorizers;
mod cors;
mod domains;
mod logs;
#[cfg(test)]
mod properties;
mod routes;
#[cfg(test)]
mod rules;

use super::config::GatewayConfig;
use crate::model::{ALLOWED_CHARACTERS, TaggingService, check_tags};
use crate::plugin::{AttributePath, Input, Problem};

/// Every problem.
pub(super) fn validate(config: &GatewayConfig) -> Vec<Problem> {
    let mut problems = Problems::default();
    problems.api(config);
    problems.routes(config);
    problems.authorizers(config);
    problems.cors(config);
    problems.access_logs(config);
    problems.subscription(config);
    problems.domains(config);
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
            self.length(name, 1, 128, path.clone());
            // A tag of the API carries the name, by which it is found again after a killed run.
            if !name.chars().all(|character| TaggingService::ApiGateway.takes(character)) {
                let message = format!("{name:?} has characters that AWS does not take in a tag, and a tag carries it.");
                self.add(path, message, ALLOWED_CHARACTERS);
            }
        }
        if let Input::Known(Some(description)) = &config.description {
            self.length(description, 0, 1024, AttributePath::new("description"));
        }
        if let Input::Known(Some(version)) = &config.api_version {
            self.length(version, 0, 64, AttributePath::new("api_version"));
        }
    }

    fn length(&mut self, text: &str, shortest: usize, longest: usize, path: AttributePath) {
        let length = text.chars().count();
        if !(shortest..=longest).contains(&length) {
            let message = format!("It has {length} characters; AWS takes {shortest} to {longest}.");
            self.add(path, message, if length > longest { "Shorten it." } else { "Give it a value." });
        }
    }

    /// Reports each item that stands in a list a second time.
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
                        true => format!("{item:?} is given twice."),
                        false => format!("{item:?} is given twice, the first time as {first:?}."),
                    };
                    self.add(path.index(index), message, "Remove one of them.");
                }
                None => seen.push(item),
            }
        }
    }
}

/// The known items of a list with their positions.
fn items(list: &Input<Option<Vec<Input<String>>>>) -> impl Iterator<Item = (usize, &String)> + Clone {
    let items = list.known().and_then(Option::as_deref).unwrap_or_default().iter();
    items.enumerate().filter_map(|(index, item)| Some((index, item.known()?)))
}

/// Whether this is the name of an HTTP header, or `*`.
fn is_header(text: &str) -> bool {
    !text.is_empty() && text.chars().all(|it| it.is_ascii_alphanumeric() || "!#$%&'*+-.^_`|~".contains(it))
}
