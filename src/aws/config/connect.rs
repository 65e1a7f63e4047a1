//! Creation of a session from the settings.

use std::collections::BTreeMap;
use std::time::Duration;

use aws_config::SdkConfig;
use aws_config::retry::RetryConfig;
use aws_config::timeout::TimeoutConfig;
use aws_smithy_runtime_api::client::behavior_version::BehaviorVersion;
use aws_types::region::Region;

use super::http_client::AwsHttpClient;
use super::origin::Origin;
use super::proxies::Proxies;
use super::settings::{Service, Settings};
use super::sources::{ConfigError, Sources, environment, path};
use super::{credentials, identity, plaintext};
use crate::aws::Session;
use crate::aws::calls::deployed_changes::RecordDeployedChanges;
use crate::aws::calls::process_state::ProcessState;
use crate::aws::calls::retry::{DEFAULT_ATTEMPTS, budget};
use crate::aws::calls::retry_limits::LimitRetries;
use crate::aws::config::tls::{Verification, tls};
use crate::model::{IgnoreTags, Input, Scope, TagSettings, Tags, check_tag};

/// The configuration of the clients of an account, from which those of each Region are created. Their credentials and
/// connections are shared.
#[derive(Clone)]
pub(crate) struct Account {
    settings: Settings,
    sdk: SdkConfig,
    limit_retries: LimitRetries,
    /// With the Region of the provider block.
    scope: Scope,
}

impl Account {
    /// The Region of the provider block.
    pub(crate) fn region(&self) -> &str {
        &self.scope.region
    }

    /// Creates the clients for a Region, without calls to AWS.
    pub(crate) fn session(&self, region: &str) -> Session {
        let sdk = self.sdk.to_builder().region(Region::new(region.to_string())).build();
        let scope = Scope { region: region.to_string(), ..self.scope.clone() };
        session(&self.settings, &sdk, self.limit_retries, scope)
    }
}

/// Finds the configuration, and calls AWS once for the identity of the credentials.
///
/// There are no other calls, apart from those that obtain credentials. The metadata service is called only if there are
/// no other credentials. The second result is the services and hosts of endpoints that the environment or the profile
/// sets and whose traffic others can read.
pub(crate) async fn connect(
    settings: &Settings,
    terraform_version: &str,
) -> Result<(Account, Vec<(String, String)>), ConfigError> {
    let sources = Sources::load(settings).await?;
    let region = sources.region(settings)?;
    let http = http_client(settings, &sources, terraform_version)?;
    let base = base_config(settings, &sources, &region, http).await?;
    let credentials = credentials::provider(settings, &sources, &base).await?;
    let sdk = base.into_builder().credentials_provider(credentials).build();
    let identity = identity::check(settings, &sources, &sdk, region.as_ref()).await?;
    let TagSettings { default_tags, ignore_tags } = tags(settings)?;
    let scope = Scope {
        partition: identity.partition,
        region: region.to_string(),
        account: identity.account,
        default_tags,
        ignore_tags,
        allow_protected_deletion: settings.allow_protected_deletion.clone(),
    };
    let limit_retries = LimitRetries { is_number_set: configured_attempts(settings, &sources)?.is_some() };
    let signs_in = identity::sign_in_profile(settings, &sources).is_some();
    let exposed = plaintext::exposed_by_environment(settings, &sdk, signs_in);
    Ok((Account { settings: settings.clone(), sdk, limit_retries, scope }, exposed))
}

fn http_client(settings: &Settings, sources: &Sources, terraform_version: &str) -> Result<AwsHttpClient, ConfigError> {
    let bundle = settings
        .custom_ca_bundle
        .clone()
        .or_else(|| environment(&["AWS_CA_BUNDLE"]))
        .or_else(|| sources.profile_setting("ca_bundle").map(str::to_string))
        .map(|file| path(&file));
    let verification = match &bundle {
        _ if settings.insecure => Verification::None,
        Some(file) => Verification::Bundle(file),
        None => Verification::System,
    };
    let tls = tls(&verification)
        .map_err(|error| ConfigError::new("Could not read the CA certificates", error).at("custom_ca_bundle"))?;
    let proxies = Proxies::new(settings, environment);
    let origin = Origin::of(settings, sources);
    Ok(AwsHttpClient::new(tls, proxies, &user_agent(settings, terraform_version), Some(origin)))
}

fn user_agent(settings: &Settings, terraform_version: &str) -> String {
    let own = format!("terraform-provider-fgw/{}", env!("CARGO_PKG_VERSION"));
    let terraform = (!terraform_version.is_empty()).then(|| format!("Terraform/{terraform_version}"));
    let appended = environment(&["TF_APPEND_USER_AGENT"]);
    let products = [own].into_iter().chain(terraform).chain(settings.user_agent.iter().cloned()).chain(appended);
    products.collect::<Vec<_>>().join(" ")
}

/// The SDK configuration without credentials.
async fn base_config(
    settings: &Settings,
    sources: &Sources,
    region: &Region,
    http: AwsHttpClient,
) -> Result<SdkConfig, ConfigError> {
    let timeouts = TimeoutConfig::builder()
        .connect_timeout(Duration::from_secs(5))
        // Long enough for the slowest responses of AWS, and short enough to detect a broken connection.
        .read_timeout(Duration::from_secs(60))
        .build();
    // A credential process or a sign-in service may be slow, but is called only once.
    let identity_cache =
        aws_smithy_runtime::client::identity::IdentityCache::lazy().load_timeout(Duration::from_secs(60)).build();
    let mut loader = aws_config::defaults(BehaviorVersion::latest())
        .http_client(http)
        .region(region.clone())
        .profile_name(sources.profiles.selected_profile())
        .profile_files(sources.files.clone())
        .timeout_config(timeouts)
        .identity_cache(identity_cache)
        .retry_config(retry_config(settings, sources)?)
        .no_credentials();
    if let Some(use_fips) = settings.use_fips_endpoint {
        loader = loader.use_fips(use_fips);
    }
    if let Some(use_dual_stack) = settings.use_dualstack_endpoint {
        loader = loader.use_dual_stack(use_dual_stack);
    }
    Ok(loader.load().await)
}

fn retry_config(settings: &Settings, sources: &Sources) -> Result<RetryConfig, ConfigError> {
    let mode = settings
        .retry_mode
        .clone()
        .or_else(|| environment(&["AWS_RETRY_MODE"]))
        .or_else(|| sources.profile_setting("retry_mode").map(str::to_string));
    let config = match mode.as_deref() {
        // The AWS CLI still supports "legacy", which many configuration files contain.
        None | Some("standard" | "legacy") => RetryConfig::standard(),
        Some("adaptive") => RetryConfig::adaptive(),
        Some(other) => {
            let detail = format!(
                "{other:?} is neither standard nor adaptive. Correct retry_mode, AWS_RETRY_MODE or the profile."
            );
            return Err(
                ConfigError::new("Could not configure the provider: invalid retry mode", detail).at("retry_mode")
            );
        }
    };
    let attempts = configured_attempts(settings, sources)?.unwrap_or(DEFAULT_ATTEMPTS);
    Ok(config.with_max_attempts(attempts.max(1)))
}

/// The maximum number of attempts that the user has set.
fn configured_attempts(settings: &Settings, sources: &Sources) -> Result<Option<u32>, ConfigError> {
    if settings.max_attempts.is_some() {
        return Ok(settings.max_attempts);
    }
    let text = environment(&["AWS_MAX_ATTEMPTS"]);
    let text = text.or_else(|| sources.profile_setting("max_attempts").map(str::to_string));
    let attempts = text.map(|text| {
        text.parse().map_err(|_| {
            let detail = format!("{text:?} is not a number. Correct AWS_MAX_ATTEMPTS or the profile.");
            ConfigError::new("Could not configure the provider: invalid number of attempts", detail).at("max_retries")
        })
    });
    attempts.transpose()
}

/// The settings of tags in the provider configuration and in the environment.
pub(crate) fn tags(settings: &Settings) -> Result<TagSettings, ConfigError> {
    let ignore_tags = ignore_tags(settings, std::env::vars());
    Ok(TagSettings { default_tags: default_tags(settings, std::env::vars())?, ignore_tags })
}

/// The default tags. The provider configuration takes precedence over the environment.
fn default_tags(settings: &Settings, variables: impl Iterator<Item = (String, String)>) -> Result<Tags, ConfigError> {
    let Input::Known(configured) = &settings.default_tags else { return Ok(Input::Unknown) };
    let of_variable = |(name, value): (String, String)| {
        Some((name.strip_prefix("TF_AWS_DEFAULT_TAGS_")?.to_string(), Input::Known(value)))
    };
    let mut tags: BTreeMap<String, Input<String>> = variables.filter_map(of_variable).collect();
    tags.extend(configured.clone());
    for (key, value) in &tags {
        if let Some((message, hint)) = check_tag(key, value) {
            let detail = format!("{message} {hint} The tag is set by default_tags or TF_AWS_DEFAULT_TAGS_{key}.");
            return Err(
                ConfigError::new("Could not configure the provider: invalid default tag", detail).at("default_tags")
            );
        }
    }
    Ok(Input::Known(tags))
}

fn ignore_tags(settings: &Settings, variables: impl Iterator<Item = (String, String)>) -> IgnoreTags {
    let mut ignored = settings.ignore_tags.clone();
    for (name, value) in variables {
        let keys = match name.as_str() {
            "TF_AWS_IGNORE_TAGS_KEYS" => &mut ignored.keys,
            "TF_AWS_IGNORE_TAGS_KEY_PREFIXES" => &mut ignored.key_prefixes,
            _ => continue,
        };
        keys.extend(value.split(',').map(str::trim).filter(|key| !key.is_empty()).map(str::to_string));
    }
    ignored
}

fn session(settings: &Settings, sdk: &SdkConfig, limit_retries: LimitRetries, scope: Scope) -> Session {
    let process = ProcessState::shared();
    macro_rules! config {
        ($sdk:ident, $service:expr) => {{
            let mut builder = $sdk::config::Builder::from(sdk)
                .retry_partition(budget($service.id(), settings.retry_capacity))
                .interceptor(limit_retries);
            if let Some(url) = settings.endpoints.get(&$service) {
                builder = builder.endpoint_url(url);
            }
            builder
        }};
    }
    let deployed_changes =
        RecordDeployedChanges { changes: process.deployed_changes.clone(), region: scope.region.clone() };
    Session {
        scope,
        ec2: aws_sdk_ec2::Client::from_conf(config!(aws_sdk_ec2, Service::Ec2).build()),
        apigateway: aws_sdk_apigatewayv2::Client::from_conf(
            config!(aws_sdk_apigatewayv2, Service::ApiGateway).interceptor(deployed_changes).build(),
        ),
        logs: aws_sdk_cloudwatchlogs::Client::from_conf(config!(aws_sdk_cloudwatchlogs, Service::Logs).build()),
        acm: aws_sdk_acm::Client::from_conf(config!(aws_sdk_acm, Service::Acm).build()),
        kms: aws_sdk_kms::Client::from_conf(config!(aws_sdk_kms, Service::Kms).build()),
        route53: aws_sdk_route53::Client::from_conf(config!(aws_sdk_route53, Service::Route53).build()),
        lambda_config: config!(aws_sdk_lambda, Service::Lambda).build(),
        pollers: Default::default(),
        shared: Default::default(),
        process,
    }
}

#[cfg(test)]
mod tests;
