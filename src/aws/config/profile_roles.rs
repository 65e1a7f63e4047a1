//! The roles of a profile, and the source of the credentials that assume them. Pure functions.
//!
//! The SDK resolves profiles too, but ignores the endpoint and Region of STS in the provider block, and the duration in
//! the profile: its credentials always last one hour.

use std::time::Duration;

use aws_config::profile::{Profile, ProfileSet};
use aws_credential_types::Credentials;

use super::settings::{Role, WebIdentityRole};

/// The source of the first credentials of a profile, and the roles to assume with them, in order.
#[derive(Debug)]
pub(super) struct Chain {
    pub(super) source: Source,
    pub(super) roles: Vec<Role>,
}

/// The source of the first credentials.
#[derive(Debug)]
pub(super) enum Source {
    /// Keys in a file.
    Keys(Credentials),
    /// A web identity token in a file.
    Token(Box<WebIdentityRole>),
    /// Another source in the profile of this name, such as a sign-in or a process.
    Profile(String),
    /// The source that `credential_source` names.
    Named(String),
}

/// The chain of the selected profile. `None` if the profile has no role, or if its settings are contradictory or form a
/// cycle, which the SDK reports.
pub(super) fn chain(profiles: &ProfileSet) -> Option<Chain> {
    let mut roles = Vec::new();
    let mut name = profiles.selected_profile();
    let source = loop {
        let profile = profiles.get_profile(name)?;
        let keys = keys(profile);
        // In a source profile, keys take precedence over a role.
        if let (false, Some(keys)) = (roles.is_empty(), keys.clone()) {
            break Source::Keys(keys);
        }
        let Some(role) = setting(profile, "role_arn") else { break Source::Profile(name.to_string()) };
        if let Some(file) = setting(profile, "web_identity_token_file") {
            break Source::Token(Box::new(WebIdentityRole {
                arn: Some(role),
                session_name: setting(profile, "role_session_name"),
                duration: duration(profile),
                token_file: Some(file),
                ..Default::default()
            }));
        }
        roles.push(Role {
            arn: role,
            session_name: setting(profile, "role_session_name"),
            external_id: setting(profile, "external_id"),
            duration: duration(profile),
            ..Default::default()
        });
        match (profile.get("source_profile"), profile.get("credential_source")) {
            (Some(own), None) if own == name => break Source::Keys(keys?),
            (Some(next), None) if roles.len() <= profiles.profiles().count() => name = next,
            (None, Some(source)) => break Source::Named(source.to_string()),
            _ => return None,
        }
    };
    let has_no_role = roles.is_empty() && !matches!(source, Source::Token(_));
    roles.reverse();
    (!has_no_role).then_some(Chain { source, roles })
}

fn keys(profile: &Profile) -> Option<Credentials> {
    let (key, secret) = (setting(profile, "aws_access_key_id")?, setting(profile, "aws_secret_access_key")?);
    Some(Credentials::new(key, secret, setting(profile, "aws_session_token"), None, "profile"))
}

fn duration(profile: &Profile) -> Option<Duration> {
    setting(profile, "duration_seconds")?.parse().ok().map(Duration::from_secs)
}

fn setting(profile: &Profile, name: &str) -> Option<String> {
    profile.get(name).filter(|value| !value.is_empty()).map(str::to_string)
}
