//! The identity of the credentials, and the errors if there are none.

use std::error::Error;

use aws_config::SdkConfig;
use aws_credential_types::provider::error::CredentialsError;
use aws_sdk_sts::error::SdkError;
use aws_sdk_sts::operation::get_caller_identity::GetCallerIdentityError;

use super::chain::{chain, find};
use super::credentials::{is_metadata_disabled, sts_config};
use super::origin::Origin;
use super::proxies::UnusableProxy;
use super::roles::RoleRejected;
use super::settings::Settings;
use super::sources::{ConfigError, Sources};
use crate::aws::calls::codes;
use crate::aws::calls::errors::AwsError;
use crate::cloud::Cause;
use crate::model::partition_of;

/// The identity of the credentials.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct CallerIdentity {
    /// Such as `aws`.
    pub(super) partition: String,
    /// `None` if the settings skip the request for it.
    pub(super) account: Option<String>,
}

/// Calls STS `GetCallerIdentity` once, and rejects accounts that the settings do not allow.
pub(super) async fn check(
    settings: &Settings,
    sources: &Sources,
    sdk: &SdkConfig,
    region: &str,
) -> Result<CallerIdentity, ConfigError> {
    if settings.skip_credentials_validation && settings.skip_requesting_account_id {
        return Ok(CallerIdentity { partition: partition_of(region).to_string(), account: None });
    }
    let sts = aws_sdk_sts::Client::from_conf(sts_config(settings, sdk, None));
    let answer = match sts.get_caller_identity().send().await {
        Ok(answer) => answer,
        Err(error) => {
            return Err(match (find::<UnusableProxy>(&error), find::<CredentialsError>(&error)) {
                (Some(proxy), _) => {
                    ConfigError::new("Could not configure the provider: invalid proxy", format!("{proxy}."))
                }
                (None, Some(cause)) => no_credentials(settings, sources, cause),
                (None, None) => sts_error(&error, &Origin::of(settings, sources)),
            });
        }
    };
    let partition = answer.arn().and_then(|arn| arn.split(':').nth(1)).filter(|partition| !partition.is_empty());
    let identity = CallerIdentity {
        partition: partition.unwrap_or_else(|| partition_of(region)).to_string(),
        account: answer.account().map(str::to_string),
    };
    guard(settings, identity.account.as_deref())?;
    Ok(identity)
}

fn guard(settings: &Settings, account: Option<&str>) -> Result<(), ConfigError> {
    let (allowed, forbidden) = (&settings.allowed_account_ids, &settings.forbidden_account_ids);
    if allowed.is_empty() && forbidden.is_empty() {
        return Ok(());
    }
    let Some(account) = account.filter(|account| !account.is_empty()) else {
        let argument = if allowed.is_empty() { "forbidden_account_ids" } else { "allowed_account_ids" };
        let detail = format!(
            "{argument} cannot be checked, because the response of STS GetCallerIdentity contains no account ID. Correct \
             the STS endpoint, or remove {argument}."
        );
        return Err(ConfigError::new("Could not configure the provider: account is unknown", detail).at(argument));
    };
    if !allowed.is_empty() && !allowed.iter().any(|id| id == account) {
        let detail = format!(
            "The credentials belong to account {account}, and allowed_account_ids allows only {}. Use credentials of \
             an allowed account, or add this account to the list.",
            allowed.join(", ")
        );
        return Err(ConfigError::new("Could not configure the provider: account is not allowed", detail)
            .at("allowed_account_ids"));
    }
    if forbidden.iter().any(|id| id == account) {
        let detail = format!(
            "The credentials belong to account {account}, and forbidden_account_ids lists {}. Use credentials of \
             another account, or remove this account from the list.",
            forbidden.join(", ")
        );
        return Err(ConfigError::new("Could not configure the provider: account is forbidden", detail)
            .at("forbidden_account_ids"));
    }
    Ok(())
}

fn sts_error(error: &SdkError<GetCallerIdentityError>, origin: &Origin) -> ConfigError {
    const WITHOUT_STS: &str =
        "For an endpoint without STS, set skip_credentials_validation and skip_requesting_account_id.";
    let failure = error.failure("STS GetCallerIdentity");
    let request = failure.request_id.map(|id| format!(" (request ID {id})")).unwrap_or_default();
    let message = failure.message.trim_end_matches('.');
    let detail = match (failure.code, failure.advice) {
        (Some(code), _) if failure.cause == Cause::Credentials => {
            format!("STS GetCallerIdentity returned {code}: {message}{request}.\n\n{}", origin.advice(&code))
        }
        (Some(code), _) => format!(
            "STS GetCallerIdentity returned {code}: {message}{request}.\n\nFix the cause, then run Terraform again."
        ),
        (None, advice) => format!(
            "STS GetCallerIdentity: {message}.\n\n{} {WITHOUT_STS}",
            advice.map_or("Check the endpoint of STS, then run Terraform again.".to_string(), |advice| advice.text)
        ),
    };
    ConfigError::new("Could not validate the AWS credentials", detail)
}

fn no_credentials(settings: &Settings, sources: &Sources, cause: &CredentialsError) -> ConfigError {
    // If STS rejected a role, the credentials for that call were valid.
    let role = find::<RoleRejected>(innermost(cause));
    let is_role_rejected = role.is_some();
    if let (Some(profile), false) = (sign_in_profile(settings, sources), is_role_rejected) {
        let detail = format!(
            "Profile {profile:?} signs in through IAM Identity Center and returned no credentials. If its session has \
             expired, run: aws sso login --profile {profile}\n\nThe cause: {}.",
            chain(cause)
        );
        return ConfigError::new("Could not configure the provider: sign-in required", detail);
    }
    if let (Some(profile), false) = (profile_with(settings, sources, &["login_session"]), is_role_rejected) {
        let detail = format!(
            "Profile {profile:?} signs in with aws login, which this provider does not support. Select a profile that runs \
             the AWS CLI for these credentials: credential_process = aws configure export-credentials --profile {profile} \
             --format process"
        );
        return ConfigError::new("Could not configure the provider: aws login is not supported", detail);
    }
    let is_last_resort = role.is_none() && Origin::of(settings, sources).is_last_resort();
    if is_last_resort || matches!(cause, CredentialsError::CredentialsNotLoaded(_)) {
        let selected = sources.profiles.selected_profile();
        let metadata = match settings.skip_metadata_api_check {
            true => "not called, because of skip_metadata_api_check".to_string(),
            _ if is_metadata_disabled() => "not called, because of AWS_EC2_METADATA_DISABLED".to_string(),
            _ if matches!(cause, CredentialsError::CredentialsNotLoaded(_)) => "no response".to_string(),
            _ => chain(cause),
        };
        let detail = format!(
            "No credentials are configured. Mostly, AWS_PROFILE or the argument profile has to select a profile.\n\n\
             The provider searched for credentials in this order:\n\
             - access_key and secret_key of the provider block: not set\n\
             - AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY: not set\n\
             - profile {selected:?} of the shared configuration and credentials files: no credentials\n\
             - AWS_WEB_IDENTITY_TOKEN_FILE and AWS_ROLE_ARN: not both set\n\
             - AWS_CONTAINER_CREDENTIALS_RELATIVE_URI and AWS_CONTAINER_CREDENTIALS_FULL_URI: not set\n\
             - the metadata service of the EC2 instance: {metadata}\n\n\
             Configure one of them, for example with: aws configure. Only on an EC2 instance, check its instance profile \
             instead."
        );
        return ConfigError::new("Could not configure the provider: no AWS credentials", detail);
    }
    if let Some(role @ RoleRejected::Refused { action, code, .. }) = role {
        let text = role.to_string().replacen("the role", "The role", 1);
        let detail = format!("{text}.\n\n{}", advice(action, code, &Origin::of(settings, sources)));
        return ConfigError::new("Could not configure the provider: role cannot be assumed", detail);
    }
    let advice = match role {
        Some(_) => "Correct the cause, or use other credentials.".to_string(),
        None => Origin::of(settings, sources).renewal(),
    };
    let detail = format!("{}.\n\n{advice}", chain(cause));
    ConfigError::new("Could not configure the provider: no AWS credentials", detail)
}

/// What to do about a role that STS refuses with this code.
fn advice(action: &str, code: &str, origin: &Origin) -> String {
    match codes::cause(Some(code), "") {
        Cause::Credentials => origin.advice(code),
        Cause::Denied if action == "AssumeRole" => {
            "Check that the role exists, that its trust policy allows the caller, and that a policy of the caller allows \
             sts:AssumeRole on it."
        }
        .to_string(),
        Cause::Denied => "Check that the role exists, and that its trust policy allows the token.".to_string(),
        _ => "Correct the cause, or use other credentials.".to_string(),
    }
}

/// The profile that signs in through IAM Identity Center, if the credentials depend on one.
pub(super) fn sign_in_profile<'a>(settings: &Settings, sources: &'a Sources) -> Option<&'a str> {
    profile_with(settings, sources, &["sso_session", "sso_start_url"])
}

/// The profile that has one of these keys, if the credentials depend on one: the selected profile, or a source profile
/// of it.
fn profile_with<'a>(settings: &Settings, sources: &'a Sources, keys: &[&str]) -> Option<&'a str> {
    if settings.access_key.is_some() || settings.web_identity.is_some() {
        return None;
    }
    let mut name = sources.profiles.selected_profile();
    // Source profiles may form a cycle.
    for _ in 0..8 {
        let profile = sources.profiles.get_profile(name)?;
        if keys.iter().any(|key| profile.get(key).is_some()) {
            return Some(profile.name());
        }
        name = profile.get("source_profile")?;
    }
    None
}

/// The innermost credentials error of a chain. The error of a role wraps that of the credentials that assume it.
fn innermost(error: &CredentialsError) -> &CredentialsError {
    let mut last = error;
    while let Some(next) = last.source().and_then(find::<CredentialsError>) {
        last = next;
    }
    last
}

#[cfg(test)]
mod tests {
    use super::*;

    async fn with_sign_in() -> (Settings, Sources) {
        let file = tempfile::NamedTempFile::new().unwrap();
        let profile = "[profile people]\nsso_session = corp\n[sso-session corp]\nsso_region = eu-west-3\n";
        std::fs::write(file.path(), profile).unwrap();
        let files = vec![file.path().to_str().unwrap().to_string()];
        let settings =
            Settings { profile: Some("people".to_string()), shared_config_files: files, ..Settings::default() };
        let sources = Sources::load(&settings).await.unwrap();
        (settings, sources)
    }

    fn role_rejected(source: impl Into<Box<dyn Error + Send + Sync>>) -> CredentialsError {
        CredentialsError::provider_error(RoleRejected::Unanswered {
            role: "role/deploy".to_string(),
            source: source.into(),
        })
    }

    #[tokio::test(start_paused = true)]
    async fn a_rejected_role_is_not_reported_as_an_expired_sign_in() {
        let (settings, sources) = with_sign_in().await;
        let error = no_credentials(&settings, &sources, &role_rejected("AccessDenied"));
        assert!(error.detail.contains("role/deploy") && !error.detail.contains("sso login"), "{}", error.detail);
    }

    #[tokio::test(start_paused = true)]
    async fn an_expired_sign_in_is_recognized_below_a_role() {
        let (settings, sources) = with_sign_in().await;
        let expired = CredentialsError::provider_error("the SSO token has expired");
        let error = no_credentials(&settings, &sources, &role_rejected(expired));
        assert!(error.detail.contains("aws sso login --profile people"), "{}", error.detail);
    }

    #[test]
    fn an_answer_without_an_account_passes_no_check() {
        let one = || vec!["123456789012".to_string()];
        for (allowed, forbidden) in [(one(), Vec::new()), (Vec::new(), one())] {
            let settings =
                Settings { allowed_account_ids: allowed, forbidden_account_ids: forbidden, ..Settings::default() };
            for account in [None, Some("")] {
                let error = guard(&settings, account).unwrap_err();
                assert_eq!(error.summary, "Could not configure the provider: account is unknown");
            }
        }
        assert_eq!(guard(&Settings::default(), None), Ok(()));
    }

    #[test]
    fn the_partition_follows_from_the_region() {
        let pairs = [("us-gov-west-1", "aws-us-gov"), ("us-isob-east-1", "aws-iso-b"), ("us-east-1", "aws")];
        for (region, partition) in pairs {
            assert_eq!(partition_of(region), partition);
        }
    }
}
