//! The rules for the tags of every object.

use std::collections::BTreeMap;

use super::{Scope, Tags};
use crate::plugin::{AttributePath, Input, Problem};

/// The maximum number of configured tags of an object. AWS allows 50, and the provider sets up to 3: `fgw:resource`,
/// `fgw:object` or, on a root, `fgw:state`, and `fgw:request`.
pub const MOST_TAGS: usize = 47;

/// The maximum length of a key and of a value, in characters, not bytes.
const LONGEST_KEY: usize = 128;
const LONGEST_VALUE: usize = 256;

impl Scope {
    /// `default_tags` merged with an object's own tags, without ignored keys. Own tags override `default_tags`, and
    /// later maps override earlier ones. The result is unknown if a map or an ignored key is unknown; an unknown value
    /// makes only itself unknown.
    pub fn tags(&self, own: &[&Tags]) -> Tags {
        let mut tags = BTreeMap::new();
        for map in std::iter::once(&self.default_tags).chain(own.iter().copied()) {
            let Input::Known(map) = map else { return Input::Unknown };
            tags.extend(map.iter().map(|(key, value)| (key.clone(), value.clone())));
        }
        tags.retain(|key, _| !self.ignore_tags.ignores(key));
        if self.ignore_tags.may_have_more && !tags.is_empty() { Input::Unknown } else { Input::Known(tags) }
    }

    /// Whether a tag of an object may come from `default_tags`.
    pub(crate) fn may_be_default_tag(&self, key: &str, value: &str) -> bool {
        match self.default_tags.known().map(|tags| tags.get(key)) {
            Some(Some(Input::Known(default))) => default == value,
            Some(Some(Input::Unknown)) => true,
            Some(None) | None => false,
        }
    }
}

/// A service that stores tags of our objects. The services allow different characters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TaggingService {
    /// VPCs and the objects in them.
    Ec2,
    /// APIs, stages and custom domains.
    ApiGateway,
    /// Log groups.
    Logs,
}

impl TaggingService {
    /// Whether the service allows a character in the key or value of a tag.
    pub(crate) fn allows(self, character: char) -> bool {
        // API Gateway and CloudWatch Logs document `\p{L}` and `\p{N}`. The standard library also counts the vowel
        // signs of some scripts as letters, so AWS may reject a character that passes here.
        let is_usual = character.is_alphanumeric() || "_.:/=+-@".contains(character);
        match self {
            // EC2 documents no restriction.
            TaggingService::Ec2 => true,
            TaggingService::ApiGateway => is_usual || character == ' ',
            // CloudWatch Logs also allows every separator, `\p{Z}`: white space except tabs and line breaks, which are
            // control characters.
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

/// The hint for a character that [`TaggingService::allows`] rejects.
pub(crate) const ALLOWED_CHARACTERS: &str = "Use only letters, digits, spaces, and _ . : / = + - @.";

/// All problems of the tags of one attribute. `service` is the service that stores them.
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

/// The problem of too many tags on one object. `subject` is the start of the message, such as "There are".
pub(crate) fn check_count(subject: &str, count: usize, path: &AttributePath) -> Option<Problem> {
    (count > MOST_TAGS).then(|| {
        let message = format!("{subject} {count} tags; AWS allows 50 on an object, and the provider needs 3 of them.");
        Problem::new(path.clone(), message, format!("Remove {} of them, here or from default_tags.", count - MOST_TAGS))
    })
}

/// The first problem of a default tag, as message and hint. Its characters are not checked here, because the services
/// that will store it are unknown; [`Scope::default_tag_problems`] checks them.
pub(crate) fn check_tag(key: &str, value: &Input<String>) -> Option<(String, &'static str)> {
    let value = value.known().map(String::as_str).unwrap_or_default();
    faults(TaggingService::Ec2, key, value).into_iter().next()
}

impl Scope {
    /// The problems of default tags that a service does not allow, for a resource whose objects would get them. `path`
    /// is the attribute with the objects' own tags.
    pub(crate) fn default_tag_problems(&self, service: TaggingService, path: &AttributePath) -> Vec<Problem> {
        let tags = self.default_tags.known().into_iter().flatten();
        let tags = tags.filter(|(key, _)| !self.ignore_tags.ignores(key));
        let found = tags.flat_map(|(key, value)| {
            let value = value.known().map(String::as_str).unwrap_or_default();
            faults(service, key, value).into_iter().map(move |it| (key, it))
        });
        found
            .map(|(key, (message, hint))| {
                let hint = format!("{hint} The tag is set by default_tags or TF_AWS_DEFAULT_TAGS_{key}.");
                Problem::new(path.clone(), message, hint)
            })
            .collect()
    }
}

/// All problems of one tag, as messages and hints.
fn faults(service: TaggingService, key: &str, value: &str) -> Vec<(String, &'static str)> {
    let mut found = Vec::new();
    let lower = key.to_ascii_lowercase();
    if lower.starts_with("aws:") {
        let message = format!("The tag key {key:?} starts with aws:, which AWS reserves.");
        found.push((message, "Choose another key."));
    }
    // Reserved in any case, like the prefix of AWS: "FGW:object" next to "fgw:object" would be confusing.
    if lower.starts_with("fgw:") {
        let message = format!("The tag key {key:?} starts with fgw:, which this provider reserves.");
        found.push((message, "Choose another key."));
    }
    // The EC2 API reference documents 127 characters. The EC2 user guide, like those of the other services, documents
    // 128.
    let length = key.chars().count();
    if !(1..=LONGEST_KEY).contains(&length) {
        let message = format!("The tag key {key:?} has {length} characters; AWS allows 1 to {LONGEST_KEY}.");
        found.push((message, "Choose another key."));
    }
    let length = value.chars().count();
    if length > LONGEST_VALUE {
        let message = format!("The value of tag {key:?} has {length} characters; AWS allows at most {LONGEST_VALUE}.");
        found.push((message, "Shorten it."));
    }
    let disallowed = |text: &str| text.chars().find(|character| !service.allows(*character));
    if let Some(character) = disallowed(key) {
        let message = format!(
            "The tag key {key:?} contains the character {character:?}, which {} does not allow.",
            service.name()
        );
        found.push((message, ALLOWED_CHARACTERS));
    }
    if let Some(character) = disallowed(value) {
        let message = format!(
            "The value {value:?} of tag {key:?} contains the character {character:?}, which {} does not allow.",
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
        Scope { default_tags: tags(&[("team", "default"), ("only", "default")]), ..Scope::default() }
    }

    #[test]
    fn later_maps_override_earlier_ones_and_defaults() {
        let merged = scope().tags(&[&tags(&[("team", "a"), ("level", "a")]), &tags(&[("level", "b")])]);
        assert_eq!(merged, tags(&[("level", "b"), ("only", "default"), ("team", "a")]));
    }

    #[test]
    fn ignored_keys_are_omitted() {
        let mut scope = scope();
        scope.ignore_tags.key_prefixes = vec!["kubernetes.io/".into()];
        scope.ignore_tags.keys = vec!["only".into()];
        assert_eq!(
            scope.tags(&[&tags(&[("kubernetes.io/x", "1"), ("k", "v")])]),
            tags(&[("k", "v"), ("team", "default")])
        );
    }

    #[test]
    fn only_an_unknown_map_makes_all_tags_unknown() {
        assert_eq!(scope().tags(&[&tags(&[("a", "b")]), &Input::Unknown]), Input::Unknown);
        let value = Input::Known([("a".to_string(), Input::Unknown)].into());
        let merged = scope().tags(&[&value]);
        assert_eq!(merged.known().unwrap()["a"], Input::Unknown);
        assert_eq!(merged.known().unwrap()["team"], Input::Known("default".to_string()));
    }

    #[test]
    fn unknown_default_tags_are_unknown_tags_and_own_tags_override_them() {
        let run = |own: &str| {
            let default_tags = Input::Known([("run".to_string(), Input::Unknown)].into());
            let scope = Scope { default_tags, ..Scope::default() };
            scope.tags(&[&tags(&[(own, "1")])]).known().unwrap()["run"].clone()
        };
        assert_eq!((run("other"), run("run")), (Input::Unknown, Input::Known("1".to_string())));
        let scope = Scope { default_tags: Input::Unknown, ..Scope::default() };
        assert_eq!(scope.tags(&[&tags(&[("run", "1")])]), Input::Unknown);
    }

    #[test]
    fn nothing_is_known_of_tags_that_may_be_ignored() {
        let mut scope = scope();
        scope.ignore_tags.may_have_more = true;
        assert_eq!(scope.tags(&[]), Input::Unknown);
        scope.ignore_tags.keys = vec!["team".into(), "only".into()];
        assert_eq!(scope.tags(&[]), tags(&[]), "no tag is left that may be ignored");
    }

    use TaggingService::{ApiGateway, Ec2, Logs};

    /// The messages of the problems of one tag.
    fn messages(service: TaggingService, key: &str, value: &str) -> Vec<String> {
        faults(service, key, value).into_iter().map(|(message, _)| message).collect()
    }

    fn is_allowed(service: TaggingService, text: &str) -> bool {
        messages(service, text, "").is_empty() && messages(service, "k", text).is_empty()
    }

    #[test]
    fn every_service_allows_letters_digits_spaces_and_some_signs() {
        for service in [Ec2, ApiGateway, Logs] {
            assert!(is_allowed(service, "Team größer 東京 ٣ a_b.c:d/e=f+g-h@i"), "{service:?}");
        }
    }

    #[test]
    fn ec2_allows_any_character() {
        assert!(is_allowed(Ec2, "a#b&c(d)*,;\u{a0}\t\u{1f600}"));
    }

    #[test]
    fn api_gateway_rejects_other_signs_and_spaces() {
        for character in ['#', '&', '*', ',', '(', '\\', '"', '\t', '\n', '\u{a0}', '\u{3000}', '\u{1f600}'] {
            assert!(!is_allowed(ApiGateway, &character.to_string()), "{character:?}");
        }
        let found = messages(ApiGateway, "a&b", "c\u{a0}d");
        assert_eq!(found.len(), 2);
        assert!(found[0].contains("\"a&b\"") && found[0].contains("'&'"), "{found:?}");
        assert!(found[1].contains("\"a&b\"") && found[1].contains("API Gateway"), "{found:?}");
    }

    #[test]
    fn cloudwatch_logs_allows_spaces_but_no_line_breaks() {
        assert!(is_allowed(Logs, "a\u{a0}b\u{3000}c\u{2028}d"));
        for character in ['#', '&', '\t', '\n', '\r', '\u{85}', '\u{1f600}'] {
            assert!(!is_allowed(Logs, &character.to_string()), "{character:?}");
        }
    }

    #[test]
    fn reserved_keys_are_rejected_in_any_case() {
        for service in [Ec2, ApiGateway, Logs] {
            for key in ["aws:x", "AWS:x", "aWs:x", "fgw:object", "FGW:x"] {
                assert_eq!(messages(service, key, "").len(), 1, "{service:?} {key}");
            }
            assert_eq!(messages(service, "aws", "aws:x"), [""; 0], "values have no reserved prefix");
        }
    }

    #[test]
    fn lengths_are_counted_in_characters() {
        for service in [Ec2, ApiGateway, Logs] {
            assert_eq!(messages(service, &"ö".repeat(128), &"ö".repeat(256)), [""; 0], "{service:?}");
            assert!(messages(service, "", "")[0].contains("0 characters"), "{service:?}");
            assert!(messages(service, &"ö".repeat(129), "")[0].contains("129 characters"), "{service:?}");
            assert!(messages(service, "k", &"ö".repeat(257))[0].contains("257 characters"), "{service:?}");
        }
    }

    #[test]
    fn at_most_47_tags_are_allowed() {
        let path = AttributePath::new("tags");
        let many = |count: usize| (0..count).map(|it| (format!("k{it}"), Input::Unknown)).collect();
        assert_eq!(check_tags(Ec2, &many(47), &path), []);
        let problems = check_tags(Ec2, &many(49), &path);
        assert_eq!(problems.len(), 1);
        assert!(problems[0].message.contains("49 tags") && problems[0].hint.contains("Remove 2"), "{problems:?}");
    }

    #[test]
    fn default_tags_are_checked_per_service_unless_ignored() {
        let (mut scope, path) = (scope(), AttributePath::new("tags"));
        scope.default_tags = tags(&[("a#b", "x")]);
        assert_eq!(check_tag("a#b", &Input::Known("x".to_string())), None);
        assert_eq!(scope.default_tag_problems(Ec2, &path), []);
        let problems = scope.default_tag_problems(ApiGateway, &path);
        assert_eq!(problems.len(), 1);
        assert!(problems[0].hint.contains("default_tags"), "{problems:?}");
        scope.ignore_tags.keys = vec!["a#b".into()];
        assert_eq!(scope.default_tag_problems(ApiGateway, &path), []);
    }
}
