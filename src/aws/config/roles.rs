//! The credentials of roles, for which STS is called.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, SystemTime};

use aws_credential_types::Credentials;
use aws_credential_types::provider::error::CredentialsError;
use aws_credential_types::provider::{ProvideCredentials, future};
use aws_sdk_sts::types::{PolicyDescriptorType, Tag};
use aws_smithy_runtime_api::client::orchestrator::HttpResponse;
use aws_smithy_runtime_api::client::result::SdkError;
use aws_smithy_types::error::metadata::ProvideErrorMetadata;
use aws_types::request_id::RequestId;

use super::chain::{NO_REASON, find};
use super::settings::{Role, WebIdentityRole};
use super::sources::{environment, path};
use crate::aws::calls::codes;
use crate::aws::config::redact::register_secret;
use crate::cloud::Cause;

/// The credentials of a role from STS `AssumeRole`. The SDK's own provider does not support source identity and
/// transitive tags.
#[derive(Debug)]
pub(super) struct AssumedRole {
    sts: aws_sdk_sts::Client,
    role: Role,
    default_session_name: String,
    may_be_new: AtomicBool,
}

impl AssumedRole {
    pub(super) fn new(sts: aws_sdk_sts::Client, role: Role) -> AssumedRole {
        AssumedRole { sts, role, default_session_name: default_session_name(), may_be_new: AtomicBool::new(true) }
    }

    async fn assume(&self) -> Result<Credentials, CredentialsError> {
        let role = &self.role;
        let answer = self
            .sts
            .assume_role()
            .role_arn(&role.arn)
            .role_session_name(role.session_name.clone().unwrap_or_else(|| self.default_session_name.clone()))
            .set_external_id(role.external_id.clone())
            .set_duration_seconds(seconds(role.duration))
            .set_policy(role.policy.clone())
            .set_policy_arns(policies(&role.policy_arns))
            .set_tags(session_tags(&role.tags)?)
            .set_transitive_tag_keys(some(&role.transitive_tag_keys))
            .set_source_identity(role.source_identity.clone())
            .send()
            .await
            .map_err(|error| rejected("AssumeRole", &role.arn, error))?;
        credentials(answer.credentials)
    }
}

impl ProvideCredentials for AssumedRole {
    fn provide_credentials<'a>(&'a self) -> future::ProvideCredentials<'a>
    where
        Self: 'a,
    {
        future::ProvideCredentials::new(until_known(&self.may_be_new, || self.assume()))
    }
}

/// The credentials of a role from STS `AssumeRoleWithWebIdentity`.
#[derive(Debug)]
pub(super) struct WebIdentity {
    sts: aws_sdk_sts::Client,
    role: WebIdentityRole,
    default_session_name: String,
    may_be_new: AtomicBool,
}

impl WebIdentity {
    pub(super) fn new(sts: aws_sdk_sts::Client, role: WebIdentityRole) -> WebIdentity {
        WebIdentity { sts, role, default_session_name: default_session_name(), may_be_new: AtomicBool::new(true) }
    }

    async fn assume(&self) -> Result<Credentials, CredentialsError> {
        let role = &self.role;
        let role_arn = role.arn.clone().or_else(|| environment(&["AWS_ROLE_ARN"]));
        let session_name = role
            .session_name
            .clone()
            .or_else(|| environment(&["AWS_ROLE_SESSION_NAME"]))
            .unwrap_or_else(|| self.default_session_name.clone());
        let answer = self
            .sts
            .assume_role_with_web_identity()
            .set_role_arn(role_arn.clone())
            .role_session_name(session_name)
            .web_identity_token(self.token().await?)
            .set_duration_seconds(seconds(role.duration))
            .set_policy(role.policy.clone())
            .set_policy_arns(policies(&role.policy_arns))
            .send()
            .await
            .map_err(|error| rejected("AssumeRoleWithWebIdentity", role_arn.as_deref().unwrap_or_default(), error))?;
        credentials(answer.credentials)
    }

    /// The token. A file is read each time, because its token is renewed.
    async fn token(&self) -> Result<String, CredentialsError> {
        let token = self.read_token().await?;
        register_secret(&token);
        Ok(token)
    }

    async fn read_token(&self) -> Result<String, CredentialsError> {
        if let Some(token) = &self.role.token {
            return Ok(token.reveal().to_string());
        }
        let file = self
            .role
            .token_file
            .clone()
            .or_else(|| environment(&["AWS_WEB_IDENTITY_TOKEN_FILE"]))
            .ok_or_else(|| CredentialsError::invalid_configuration("no web identity token file is set"))?;
        let read = tokio::task::spawn_blocking({
            let file = path(&file);
            move || std::fs::read_to_string(file)
        });
        let text = read.await.map_err(CredentialsError::unhandled)?;
        let text = text.map_err(|error| {
            CredentialsError::invalid_configuration(format!("the web identity token file {file}: {error}"))
        })?;
        Ok(text.trim().to_string())
    }
}

impl ProvideCredentials for WebIdentity {
    fn provide_credentials<'a>(&'a self) -> future::ProvideCredentials<'a>
    where
        Self: 'a,
    {
        future::ProvideCredentials::new(until_known(&self.may_be_new, || self.assume()))
    }
}

/// STS did not return credentials for a role.
#[derive(Debug, thiserror::Error)]
pub(super) enum RoleRejected {
    /// STS has rejected the call.
    #[error("the role {role} could not be assumed: {code}: {message}{request}")]
    Refused { action: &'static str, role: String, code: String, message: String, request: String },
    /// There was no answer, or there are no credentials for the call.
    #[error("the role {role} could not be assumed")]
    Unanswered { role: String, source: Box<dyn std::error::Error + Send + Sync> },
}

impl RoleRejected {
    /// Whether STS may accept the same call some seconds later, because a role, its trust policy or a permission is
    /// new.
    fn may_pass(&self) -> bool {
        let RoleRejected::Refused { code, message, .. } = self else { return false };
        codes::cause(Some(code), message) == Cause::Denied && !message.contains("explicit deny")
    }
}

fn rejected<E>(action: &'static str, role: &str, error: SdkError<E, HttpResponse>) -> CredentialsError
where
    E: ProvideErrorMetadata + std::error::Error + Send + Sync + 'static,
    SdkError<E, HttpResponse>: RequestId,
{
    let role = role.to_string();
    CredentialsError::provider_error(match error.code() {
        Some(code) => RoleRejected::Refused {
            action,
            role,
            code: code.to_string(),
            message: error.message().unwrap_or(NO_REASON).trim_end_matches('.').to_string(),
            request: error.request_id().map(|id| format!(" (request ID {id})")).unwrap_or_default(),
        },
        None => RoleRejected::Unanswered { role, source: Box::new(error) },
    })
}

/// The pauses before a role that STS refuses is assumed again. IAM takes some seconds, as long as this at most, to make
/// a new role or policy known.
const PAUSES: [Duration; 4] =
    [Duration::from_secs(2), Duration::from_secs(4), Duration::from_secs(6), Duration::from_secs(8)];

/// Assumes a role that may be new: the same run may have created it just before. Only the first credentials of a role
/// are waited for, because later ones are of a role that is known, or that was refused for other reasons.
async fn until_known<F>(may_be_new: &AtomicBool, assume: impl Fn() -> F) -> Result<Credentials, CredentialsError>
where
    F: Future<Output = Result<Credentials, CredentialsError>>,
{
    let mut pauses = PAUSES.iter().filter(|_| may_be_new.load(Ordering::Relaxed));
    let result = loop {
        let result = assume().await;
        let refused = result.as_ref().err().and_then(|error| find::<RoleRejected>(error)).filter(|it| it.may_pass());
        let (Some(refused), Some(pause)) = (refused, pauses.next()) else { break result };
        tracing::info!("{refused}; assuming it again in {} s, because it may be new", pause.as_secs());
        tokio::time::sleep(*pause).await;
    };
    may_be_new.store(false, Ordering::Relaxed);
    result
}

fn credentials(answer: Option<aws_sdk_sts::types::Credentials>) -> Result<Credentials, CredentialsError> {
    let answer = answer.ok_or_else(|| CredentialsError::unhandled("the response of STS has no credentials"))?;
    let expires = SystemTime::try_from(answer.expiration).map_err(CredentialsError::unhandled)?;
    let aws_sdk_sts::types::Credentials { access_key_id, secret_access_key, session_token, .. } = answer;
    Ok(Credentials::new(access_key_id, secret_access_key, Some(session_token), Some(expires), "assumed role"))
}

fn seconds(duration: Option<Duration>) -> Option<i32> {
    i32::try_from(duration?.as_secs()).ok()
}

fn policies(arns: &[String]) -> Option<Vec<PolicyDescriptorType>> {
    some(arns).map(|arns| arns.into_iter().map(|arn| PolicyDescriptorType::builder().arn(arn).build()).collect())
}

/// `None` for an empty list, which is not sent.
fn some(items: &[String]) -> Option<Vec<String>> {
    (!items.is_empty()).then(|| items.to_vec())
}

fn session_tags(tags: &BTreeMap<String, String>) -> Result<Option<Vec<Tag>>, CredentialsError> {
    let tag = |(key, value)| Tag::builder().key(key).value(value).build();
    let tags = tags.iter().map(tag).collect::<Result<Vec<_>, _>>().map_err(CredentialsError::invalid_configuration)?;
    Ok((!tags.is_empty()).then_some(tags))
}

/// A session name that identifies the provider in CloudTrail. The time in nanoseconds makes it unique.
fn default_session_name() -> String {
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or(Duration::ZERO);
    format!("terraform-provider-fgw-{}", since.as_nanos())
}

#[cfg(test)]
mod tests {
    use aws_credential_types::provider::SharedCredentialsProvider;
    use aws_smithy_runtime_api::client::behavior_version::BehaviorVersion;
    use aws_smithy_runtime_api::client::http::{SharedHttpConnector, http_client_fn};
    use aws_smithy_types::retry::RetryConfig;
    use aws_types::region::Region;
    use tokio::time::Instant;

    use super::*;
    use crate::aws::config::chain::chain;
    use crate::aws::config::settings::Secret;
    use crate::aws::recorded::{Answer, Recorded};

    const ROLE: &str = "arn:aws:iam::123456789012:role/deploy";

    const REFUSED: &str = "User: arn:aws:iam::123456789012:user/ci is not authorized to perform: sts:AssumeRole on \
                           resource: arn:aws:iam::123456789012:role/deploy";

    /// Documented shape: the error of AssumeRole.
    fn refused(code: &str, message: &str) -> Answer {
        let error = format!("<Error><Type>Sender</Type><Code>{code}</Code><Message>{message}</Message></Error>");
        Answer::Xml(403, format!("<ErrorResponse>{error}<RequestId>01234567</RequestId></ErrorResponse>"))
    }

    /// Documented shape: the answer of AssumeRole and AssumeRoleWithWebIdentity.
    fn assumed(action: &str) -> Answer {
        let body = format!(
            "<{action}Response><{action}Result><Credentials><AccessKeyId>ASIA</AccessKeyId>\
             <SecretAccessKey>s</SecretAccessKey><SessionToken>t</SessionToken>\
             <Expiration>2099-01-01T00:00:00Z</Expiration></Credentials></{action}Result></{action}Response>"
        );
        Answer::Xml(200, body)
    }

    /// The credentials of a role, by each of the two actions.
    fn of_role(aws: &Recorded, action: &str) -> SharedCredentialsProvider {
        let connector = SharedHttpConnector::new(aws.clone());
        let config = aws_sdk_sts::Config::builder()
            .behavior_version(BehaviorVersion::latest())
            .region(Region::new("us-east-1"))
            .credentials_provider(Credentials::for_tests())
            .retry_config(RetryConfig::disabled())
            .http_client(http_client_fn(move |_, _| connector.clone()));
        let sts = aws_sdk_sts::Client::from_conf(config.build());
        if action == "AssumeRole" {
            let role = Role { arn: ROLE.to_string(), ..Role::default() };
            return SharedCredentialsProvider::new(AssumedRole::new(sts, role));
        }
        let token = Some(Secret::new("ey.token".to_string()));
        let role = WebIdentityRole { arn: Some(ROLE.to_string()), token, ..Default::default() };
        SharedCredentialsProvider::new(WebIdentity::new(sts, role))
    }

    /// The result, the number of calls and the seconds that an attempt takes.
    async fn attempt(
        aws: &Recorded,
        provider: &SharedCredentialsProvider,
    ) -> (Result<Credentials, String>, usize, u64) {
        let (start, before) = (Instant::now(), aws.calls().len());
        let result = provider.provide_credentials().await.map_err(|error| chain(&error));
        (result, aws.calls().len() - before, start.elapsed().as_secs())
    }

    /// The run that creates a role may assume it: IAM takes some seconds to make it known.
    #[tokio::test(start_paused = true)]
    async fn a_new_role_is_waited_for() {
        for action in ["AssumeRole", "AssumeRoleWithWebIdentity"] {
            let aws = Recorded::default()
                .on(action, refused("AccessDenied", REFUSED))
                .on(action, refused("AccessDenied", REFUSED))
                .on(action, assumed(action));
            let (result, calls, seconds) = attempt(&aws, &of_role(&aws, action)).await;
            assert_eq!(result.as_ref().map(Credentials::access_key_id), Ok("ASIA"), "{action}");
            assert_eq!((calls, seconds), (3, 6), "{action}");
        }
    }

    #[tokio::test(start_paused = true)]
    async fn a_refused_role_is_one_line_and_waited_for_once() {
        for action in ["AssumeRole", "AssumeRoleWithWebIdentity"] {
            let aws = Recorded::default().on(action, refused("AccessDenied", REFUSED));
            let role = of_role(&aws, action);
            let (result, calls, seconds) = attempt(&aws, &role).await;
            let text = result.unwrap_err();
            let expected = format!("the role {ROLE} could not be assumed: AccessDenied: {REFUSED} (request ID req-1)");
            assert!(text.ends_with(&expected), "{text}");
            assert_eq!((calls, seconds), (5, 20), "{action}");
            let (result, calls, seconds) = attempt(&aws, &role).await;
            assert_eq!((result.is_err(), calls, seconds), (true, 1, 0), "{action}: it is not new anymore");
        }
    }

    #[tokio::test(start_paused = true)]
    async fn only_a_refusal_that_may_pass_is_waited_for() {
        for (code, message) in [
            ("AccessDenied", format!("{REFUSED} with an explicit deny in a service control policy").as_str()),
            ("ExpiredToken", "The security token included in the request is expired"),
            ("InvalidIdentityToken", "No OpenIDConnect provider found in your account"),
        ] {
            for action in ["AssumeRole", "AssumeRoleWithWebIdentity"] {
                let aws = Recorded::default().on(action, refused(code, message));
                let (result, calls, seconds) = attempt(&aws, &of_role(&aws, action)).await;
                assert!(
                    result.unwrap_err().contains(&format!("could not be assumed: {code}: {message} (")),
                    "{action}"
                );
                assert_eq!((calls, seconds), (1, 0), "{code} {action}");
            }
        }
    }

    #[tokio::test(start_paused = true)]
    async fn a_role_that_was_assumed_is_not_new() {
        let aws = Recorded::default().on("AssumeRole", assumed("AssumeRole"));
        let role = of_role(&aws, "AssumeRole");
        assert!(attempt(&aws, &role).await.0.is_ok());
        aws.clear();
        let aws = aws.on("AssumeRole", refused("AccessDenied", REFUSED));
        let (result, calls, seconds) = attempt(&aws, &role).await;
        assert_eq!((result.is_err(), calls, seconds), (true, 1, 0));
    }
}
