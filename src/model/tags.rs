//! What holds for the tags of every object.

use std::collections::BTreeMap;

use super::{IgnoreTags, Scope, Tags};
use crate::plugin::{AttributePath, Input, Problem};

/// AWS allows 50 tags on an object, and two of them are ours: whose it is, and which one.
pub const MOST_TAGS: usize = 48;

/// The characters of a key, and those of a value: not bytes.
const LONGEST_KEY: usize = 128;
const LONGEST_VALUE: usize = 256;

impl Scope {
    /// `default_tags` with an object's own over them, later maps over earlier ones, less the keys that others manage. A
    /// map that is unknown makes all unknown; a value that is unknown is so alone.
    pub fn tags(&self, own: &[&Tags]) -> Tags {
        let defaults = self.default_tags.iter().map(|(key, value)| (key.clone(), Input::Known(value.clone())));
        let mut tags: BTreeMap<_, _> = defaults.collect();
        for map in own {
            let Input::Known(map) = map else { return Input::Unknown };
            tags.extend(map.iter().map(|(key, value)| (key.clone(), value.clone())));
        }
        tags.retain(|key, _| !self.ignore_tags.ignores(key));
        Input::Known(tags)
    }
}

/// A service that tags an object of ours. They differ in the characters that they take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TaggingService {
    /// VPCs and all that is in them.
    Ec2,
    /// APIs, stages and custom domains.
    ApiGateway,
    /// Log groups.
    Logs,
}

impl TaggingService {
    /// Whether the service takes a character in the key or value of a tag.
    pub(crate) fn takes(self, character: char) -> bool {
        // Both services say `\p{L}` and `\p{N}`. The standard library also counts the vowel signs of some scripts as
        // letters, so that AWS may refuse one that passes here.
        let is_usual = character.is_alphanumeric() || "_.:/=+-@".contains(character);
        match self {
            // The one service that documents no restriction.
            TaggingService::Ec2 => true,
            TaggingService::ApiGateway => is_usual || character == ' ',
            // Every separator, `\p{Z}`: white space without tabs and line breaks, which are control characters.
            TaggingService::Logs => is_usual || character.is_whitespace() && !character.is_control(),
        }
    }

    fn name(self) -> &'static str {
        match self {
            TaggingService::Ec2 => "EC2",
            TaggingService::ApiGateway => "API Gateway",
            TaggingService::Logs => "CloudWatch Logs",
        }
    }
}

/// The way out for a character that [`TaggingService::takes`] refuses.
pub(crate) const ALLOWED_CHARACTERS: &str = "Use letters, digits, spaces, and _ . : / = + - @ alone.";

/// Everything that is wrong with the tags of one attribute. `service` tags the objects that they are for.
pub(crate) fn check_tags(
    service: TaggingService,
    tags: &BTreeMap<String, Input<String>>,
    path: &AttributePath,
) -> Vec<Problem> {
    let mut problems = Vec::from_iter(check_count("There are", tags.len(), path));
    for (key, value) in tags {
        let value = value.known().map(String::as_str).unwrap_or_default();
        let found = faults(service, key, value).into_iter();
        problems.extend(found.map(|(message, hint)| Problem::new(path.key(key), message, hint)));
    }
    problems
}

/// What is wrong with the number of tags of one object. `subject` begins the sentence, such as "There are".
pub(crate) fn check_count(subject: &str, count: usize, path: &AttributePath) -> Option<Problem> {
    (count > MOST_TAGS).then(|| {
        let message = format!("{subject} {count} tags; AWS allows 50 on an object, and the provider needs 2 of them.");
        Problem::new(path.clone(), message, format!("Leave {} out, here or in default_tags.", count - MOST_TAGS))
    })
}

/// What is wrong with one default tag, and the way out. Which services it will be for is not known here, so its
/// characters are checked where objects get it, by [`Scope::default_tag_problems`].
pub(crate) fn check_tag(key: &str, value: &str, ignored: &IgnoreTags) -> Option<(String, &'static str)> {
    if ignored.ignores(key) {
        let message = format!("The tag {key:?} is also one that ignore_tags leaves to others.");
        return Some((message, "Remove it from one of the two."));
    }
    faults(TaggingService::Ec2, key, value).into_iter().next()
}

impl Scope {
    /// The default tags that a service does not take, as problems of a resource whose objects would get them. `path` is
    /// the attribute with their own tags.
    pub(crate) fn default_tag_problems(&self, service: TaggingService, path: &AttributePath) -> Vec<Problem> {
        let tags = self.default_tags.iter().filter(|(key, _)| !self.ignore_tags.ignores(key));
        let found = tags.flat_map(|(key, value)| faults(service, key, value).into_iter().map(move |it| (key, it)));
        found
            .map(|(key, (message, hint))| {
                let hint = format!("{hint} The tag is set by default_tags or TF_AWS_DEFAULT_TAGS_{key}.");
                Problem::new(path.clone(), message, hint)
            })
            .collect()
    }
}

/// What is wrong with one tag, each with the way out.
fn faults(service: TaggingService, key: &str, value: &str) -> Vec<(String, &'static str)> {
    let mut found = Vec::new();
    let lower = key.to_ascii_lowercase();
    if lower.starts_with("aws:") {
        let message = format!("AWS sets tags that begin with aws: itself, such as {key:?}.");
        found.push((message, "Choose another key."));
    }
    // In any case of letters, like AWS's own: "FGW:object" next to "fgw:object" would only confuse.
    if lower.starts_with("fgw:") {
        let message = format!("This provider marks what it owns by tags that begin with fgw:, such as {key:?}.");
        found.push((message, "Choose another key."));
    }
    // The API reference of EC2 says 127 where its user guide, like those of the other services, says 128.
    let length = key.chars().count();
    if !(1..=LONGEST_KEY).contains(&length) {
        let message = format!("The tag key {key:?} has {length} characters; AWS takes 1 to {LONGEST_KEY}.");
        found.push((message, "Choose another key."));
    }
    let length = value.chars().count();
    if length > LONGEST_VALUE {
        let message = format!("The value of tag {key:?} has {length} characters; AWS takes at most {LONGEST_VALUE}.");
        found.push((message, "Shorten it."));
    }
    let refused = |text: &str| text.chars().find(|character| !service.takes(*character));
    if let Some(character) = refused(key) {
        let message =
            format!("The tag key {key:?} has the character {character:?}, which {} does not take.", service.name());
        found.push((message, ALLOWED_CHARACTERS));
    }
    if let Some(character) = refused(value) {
        let message = format!(
            "The value {value:?} of tag {key:?} has the character {character:?}, which {} does not take.",
            service.name()
        );
        found.push((message, ALLOWED_CHARACTERS));
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tags(pairs: &[(&str, &str)]) -> Tags {
        Input::Known(pairs.iter().map(|(key, value)| (key.to_string(), Input::Known(value.to_string()))).collect())
    }

    fn scope() -> Scope {
        let default_tags = [("team", "default"), ("only", "default")];
        let default_tags = default_tags.map(|(key, value)| (key.to_string(), value.to_string())).into();
        Scope { default_tags, ..Scope::default() }
    }

    #[test]
    fn later_maps_win_over_earlier_ones_and_over_defaults() {
        let merged = scope().tags(&[&tags(&[("team", "a"), ("level", "a")]), &tags(&[("level", "b")])]);
        assert_eq!(merged, tags(&[("level", "b"), ("only", "default"), ("team", "a")]));
    }

    #[test]
    fn keys_that_others_manage_are_left_out() {
        let mut scope = scope();
        scope.ignore_tags.key_prefixes = vec!["kubernetes.io/".into()];
        scope.ignore_tags.keys = vec!["only".into()];
        assert_eq!(
            scope.tags(&[&tags(&[("kubernetes.io/x", "1"), ("k", "v")])]),
            tags(&[("k", "v"), ("team", "default")])
        );
    }

    #[test]
    fn an_unknown_map_makes_all_unknown_and_an_unknown_value_only_itself() {
        assert_eq!(scope().tags(&[&tags(&[("a", "b")]), &Input::Unknown]), Input::Unknown);
        let value = Input::Known([("a".to_string(), Input::Unknown)].into());
        let merged = scope().tags(&[&value]);
        assert_eq!(merged.known().unwrap()["a"], Input::Unknown);
        assert_eq!(merged.known().unwrap()["team"], Input::Known("default".to_string()));
    }

    use TaggingService::{ApiGateway, Ec2, Logs};

    /// The messages about one tag.
    fn told(service: TaggingService, key: &str, value: &str) -> Vec<String> {
        faults(service, key, value).into_iter().map(|(message, _)| message).collect()
    }

    fn are_taken(service: TaggingService, text: &str) -> bool {
        told(service, text, "").is_empty() && told(service, "k", text).is_empty()
    }

    #[test]
    fn every_service_takes_letters_and_digits_of_any_script_spaces_and_some_signs() {
        for service in [Ec2, ApiGateway, Logs] {
            assert!(are_taken(service, "Team größer 東京 ٣ a_b.c:d/e=f+g-h@i"), "{service:?}");
        }
    }

    #[test]
    fn ec2_takes_any_character() {
        assert!(are_taken(Ec2, "a#b&c(d)*,;\u{a0}\t\u{1f600}"));
    }

    #[test]
    fn api_gateway_takes_no_other_signs_and_no_other_spaces() {
        for character in ['#', '&', '*', ',', '(', '\\', '"', '\t', '\n', '\u{a0}', '\u{3000}', '\u{1f600}'] {
            assert!(!are_taken(ApiGateway, &character.to_string()), "{character:?}");
        }
        let messages = told(ApiGateway, "a&b", "c\u{a0}d");
        assert_eq!(messages.len(), 2);
        assert!(messages[0].contains("\"a&b\"") && messages[0].contains("'&'"), "{messages:?}");
        assert!(messages[1].contains("\"a&b\"") && messages[1].contains("API Gateway"), "{messages:?}");
    }

    #[test]
    fn cloudwatch_logs_takes_every_space_and_no_line_break() {
        assert!(are_taken(Logs, "a\u{a0}b\u{3000}c\u{2028}d"));
        for character in ['#', '&', '\t', '\n', '\r', '\u{85}', '\u{1f600}'] {
            assert!(!are_taken(Logs, &character.to_string()), "{character:?}");
        }
    }

    #[test]
    fn reserved_keys_are_refused_by_every_service_in_any_case_of_letters() {
        for service in [Ec2, ApiGateway, Logs] {
            for key in ["aws:x", "AWS:x", "aWs:x", "fgw:object", "FGW:x"] {
                assert_eq!(told(service, key, "").len(), 1, "{service:?} {key}");
            }
            assert_eq!(told(service, "aws", "aws:x"), [""; 0], "of a value nothing is reserved");
        }
    }

    #[test]
    fn lengths_are_counted_in_characters() {
        for service in [Ec2, ApiGateway, Logs] {
            assert_eq!(told(service, &"ö".repeat(128), &"ö".repeat(256)), [""; 0], "{service:?}");
            assert!(told(service, "", "")[0].contains("0 characters"), "{service:?}");
            assert!(told(service, &"ö".repeat(129), "")[0].contains("129 characters"), "{service:?}");
            assert!(told(service, "k", &"ö".repeat(257))[0].contains("257 characters"), "{service:?}");
        }
    }

    #[test]
    fn two_of_fifty_tags_are_the_providers() {
        let path = AttributePath::new("tags");
        let many = |count: usize| (0..count).map(|it| (format!("k{it}"), Input::Unknown)).collect();
        assert_eq!(check_tags(Ec2, &many(48), &path), []);
        let problems = check_tags(Ec2, &many(50), &path);
        assert_eq!(problems.len(), 1);
        assert!(problems[0].message.contains("50 tags") && problems[0].hint.contains("Leave 2 out"), "{problems:?}");
    }

    #[test]
    fn a_default_tag_is_held_to_the_service_that_sets_it_unless_it_is_ignored() {
        let (mut scope, path) = (scope(), AttributePath::new("tags"));
        scope.default_tags.insert("a#b".into(), "x".into());
        assert_eq!(check_tag("a#b", "x", &scope.ignore_tags), None);
        assert_eq!(scope.default_tag_problems(Ec2, &path), []);
        let problems = scope.default_tag_problems(ApiGateway, &path);
        assert_eq!(problems.len(), 1);
        assert!(problems[0].hint.contains("default_tags"), "{problems:?}");
        scope.ignore_tags.keys = vec!["a#b".into()];
        assert_eq!(scope.default_tag_problems(ApiGateway, &path), []);
        assert!(check_tag("a#b", "x", &scope.ignore_tags).is_some_and(|it| it.0.contains("ignore_tags")));
    }
}
