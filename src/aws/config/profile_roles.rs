//! The roles of a profile, and where the keys come from that assume them. Pure.
//!
//! The SDK follows profiles too, but asks AWS's own STS whatever endpoint and Region the provider block gives, and for
//! credentials of an hour whatever the profile says.

use std::time::Duration;

use aws_config::profile::{Profile, ProfileSet};
use aws_credential_types::Credentials;

use super::settings::{Role, WebIdentityRole};

/// What a profile leads to: the source of the first credentials, and the roles to assume with them, in order.
#[derive(Debug)]
pub(super) struct Chain {
    pub(super) source: Source,
    pub(super) roles: Vec<Role>,
}

/// Where the first credentials come from.
#[derive(Debug)]
pub(super) enum Source {
    /// Keys in a file.
    Keys(Credentials),
    /// A token of an identity provider, in a file.
    Token(Box<WebIdentityRole>),
    /// What else the profile of this name has: a sign-in, a process.
    Profile(String),
    /// What `credential_source` names.
    Named(String),
}

/// The chain of the selected profile. `None` where it names no role, and where what it says is contradictory or leads
/// in a circle: the SDK has words for that.
pub(super) fn chain(profiles: &ProfileSet) -> Option<Chain> {
    let mut roles = Vec::new();
    let mut name = profiles.selected_profile();
    let source = loop {
        let profile = profiles.get_profile(name)?;
        let keys = keys(profile);
        // A profile that is the source of another one gives its keys, if it has any, and not its role.
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
    let leads_nowhere = roles.is_empty() && !matches!(source, Source::Token(_));
    roles.reverse();
    (!leads_nowhere).then_some(Chain { source, roles })
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
