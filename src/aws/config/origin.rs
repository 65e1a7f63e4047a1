//! The origin of the credentials, for messages: where they come from, and how to renew them. Pure, apart from reading
//! the environment.

use std::sync::Arc;

use aws_config::profile::{Profile, ProfileSet};

use super::profile_roles::{self, Source};
use super::settings::Settings;
use super::sources::{Sources, environment};

/// The origin of credentials. An extension of responses, so that an error can name the credentials of its request.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Origin(Arc<Parts>);

#[derive(Debug, PartialEq)]
struct Parts {
    /// Such as `access_key and secret_key of the provider block`.
    source: String,
    /// A sentence without a period.
    renewal: String,
    /// The ARNs of roles that are assumed with the credentials, one after the other.
    roles: Vec<String>,
    /// Whether nothing is configured, so that the provider asks the metadata service.
    is_last_resort: bool,
}

impl Origin {
    /// The origin in the order in which the provider searches.
    pub(super) fn of(settings: &Settings, sources: &Sources) -> Origin {
        let mut parts = parts(settings, sources);
        parts.roles.extend(settings.roles.iter().map(|role| role.arn.clone()));
        Origin(Arc::new(parts))
    }

    /// The meaning of an error code with which AWS rejects credentials, which these are, and what to do.
    pub(crate) fn advice(&self, code: &str) -> String {
        let meaning = match code {
            "ExpiredToken" | "ExpiredTokenException" => "The credentials have expired.",
            "RequestExpired" => "The credentials have expired, or the clock of this machine is wrong.",
            "SignatureDoesNotMatch" | "InvalidSignatureException" => {
                "The secret key does not belong to the access key, or the clock of this machine is wrong."
            }
            _ => {
                "AWS does not accept this access key: it is deleted or inactive, belongs to another partition, or lacks its \
                 session token."
            }
        };
        format!("{meaning} {}", self.renewal())
    }

    /// Whether nothing is configured: the metadata service is asked on every machine.
    pub(super) fn is_last_resort(&self) -> bool {
        self.0.is_last_resort
    }

    /// Which credentials these are, and how to renew them.
    pub(crate) fn renewal(&self) -> String {
        let Parts { source, renewal, roles, .. } = &*self.0;
        let roles = match &roles[..] {
            [] => String::new(),
            roles => format!(", with which the provider assumes {}", roles.join(", then ")),
        };
        format!("The provider uses {source}{roles}. {renewal}, then run Terraform again.")
    }
}

fn parts(settings: &Settings, sources: &Sources) -> Parts {
    if let Some(role) = &settings.web_identity {
        let role = role.arn.clone().or_else(|| environment(&["AWS_ROLE_ARN"]));
        let source = "the web identity token of assume_role_with_web_identity";
        return new(source, "Provide a new token", role);
    }
    if settings.access_key.is_some() {
        return match settings.token {
            Some(_) => {
                new("access_key, secret_key and token of the provider block", "Set new values of all three", None)
            }
            None => new("access_key and secret_key of the provider block", "Correct them", None),
        };
    }
    if settings.profile.is_none()
        && environment(&["AWS_ACCESS_KEY_ID"]).is_some()
        && environment(&["AWS_SECRET_ACCESS_KEY"]).is_some()
    {
        return match environment(&["AWS_SESSION_TOKEN"]) {
            Some(_) => new(
                "AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY and AWS_SESSION_TOKEN of the environment",
                "Set new values of all three, or unset them to use a profile",
                None,
            ),
            None => new(
                "AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY of the environment",
                "Correct them, or unset them to use a profile",
                None,
            ),
        };
    }
    let of_profile = of_profiles(&sources.profiles);
    if settings.profile.is_some() || of_profile.is_some() {
        let name = sources.profiles.selected_profile();
        return of_profile.unwrap_or_else(|| new(&format!("profile {name:?}"), "Correct the profile", None));
    }
    if let (Some(_), Some(role)) = (environment(&["AWS_WEB_IDENTITY_TOKEN_FILE"]), environment(&["AWS_ROLE_ARN"])) {
        return new("the token in the file AWS_WEB_IDENTITY_TOKEN_FILE", "Renew the token in the file", Some(role));
    }
    let container = ["AWS_CONTAINER_CREDENTIALS_RELATIVE_URI", "AWS_CONTAINER_CREDENTIALS_FULL_URI"];
    match environment(&container) {
        Some(_) => new("the credentials of the container", "Check the role of the container and its clock", None),
        None => Parts {
            is_last_resort: true,
            ..new(
                "the role of this EC2 instance, from its metadata service",
                "Check the instance profile and the clock of the instance",
                None,
            )
        },
    }
}

fn new(source: &str, renewal: &str, role: Option<String>) -> Parts {
    Parts { source: source.into(), renewal: renewal.into(), roles: role.into_iter().collect(), is_last_resort: false }
}

/// The origin in the selected profile. `None` if it has no credentials.
fn of_profiles(profiles: &ProfileSet) -> Option<Parts> {
    let selected = profiles.selected_profile();
    let Some(chain) = profile_roles::chain(profiles) else { return of_profile(profiles.get_profile(selected)?) };
    let roles: Vec<String> = chain.roles.into_iter().map(|role| role.arn).collect();
    let first = match chain.source {
        Source::Keys(_) => {
            let source = profiles.get_profile(selected)?.get("source_profile").unwrap_or(selected);
            of_keys(source, profiles.get_profile(source).and_then(|it| it.get("aws_session_token")).is_some())
        }
        Source::Token(role) => new(
            &format!("the web identity token file of profile {selected:?}"),
            "Renew the token in the file",
            role.arn,
        ),
        Source::Profile(name) => of_profile(profiles.get_profile(&name)?)?,
        Source::Named(name) => {
            new(&format!("credential_source = {name} of profile {selected:?}"), "Renew these credentials", None)
        }
    };
    Some(Parts { roles: first.roles.iter().cloned().chain(roles).collect(), ..first })
}

/// The origin in a profile without roles. `None` if it has no credentials.
fn of_profile(profile: &Profile) -> Option<Parts> {
    let (name, has) = (profile.name(), |key: &str| profile.get(key).is_some_and(|value| !value.is_empty()));
    if has("sso_session") || has("sso_start_url") {
        let source = format!("profile {name:?}, which signs in through IAM Identity Center");
        return Some(new(&source, &format!("Run: aws sso login --profile {name}"), None));
    }
    if has("aws_access_key_id") {
        return Some(of_keys(name, has("aws_session_token")));
    }
    has("credential_process").then(|| {
        let source = format!("the credential_process of profile {name:?}");
        new(&source, "Run its command by hand, and sign in again if it requires that", None)
    })
}

fn of_keys(profile: &str, has_token: bool) -> Parts {
    let source = format!("the access key of profile {profile:?} in the shared configuration and credentials files");
    match has_token {
        true => {
            new(&source, "Write a new access key, secret key and session token to the profile, or sign in again", None)
        }
        false => new(&source, &format!("Correct it with: aws configure --profile {profile}"), None),
    }
}
