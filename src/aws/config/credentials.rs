//! The sources of credentials, and the roles that are assumed with them.

use aws_config::SdkConfig;
use aws_config::ecs::EcsCredentialsProvider;
use aws_config::environment::EnvironmentVariableCredentialsProvider;
use aws_config::imds::client::EndpointMode;
use aws_config::imds::credentials::ImdsCredentialsProvider;
use aws_config::meta::credentials::CredentialsProviderChain;
use aws_config::profile::ProfileFileCredentialsProvider;
use aws_config::provider_config::ProviderConfig;
use aws_credential_types::Credentials;
use aws_credential_types::provider::SharedCredentialsProvider;
use aws_smithy_runtime_api::client::behavior_version::BehaviorVersion;
use aws_types::region::Region;

use super::origin::Origin;
use super::profile_roles::{self, Source};
use super::roles::{AssumedRole, WebIdentity};
use super::settings::{Role, Secret, Service, Settings, WebIdentityRole};
use super::sources::{ConfigError, Sources, environment};
use crate::aws::calls::retry_limits::LimitRetries;
use crate::aws::config::loaded_credentials::SecretsRegistered;
use crate::aws::config::redact::register_secret;

/// The credentials that sign all calls. This function does not call AWS.
pub(super) async fn provider(
    settings: &Settings,
    sources: &Sources,
    base: &SdkConfig,
) -> Result<SharedCredentialsProvider, ConfigError> {
    for secret in [&settings.secret_key, &settings.token].into_iter().flatten() {
        register_secret(secret.reveal());
    }
    let mut provider = match &settings.web_identity {
        // The token replaces all other credentials.
        Some(role) => with_token(settings, base, role.clone()),
        None => first(settings, sources, base)?,
    };
    for role in &settings.roles {
        provider = assuming(settings, base, provider, role.clone());
    }
    let origin = Some(Origin::of(settings, sources));
    Ok(SharedCredentialsProvider::new(SecretsRegistered { provider, origin }))
}

/// Credentials of a role that is assumed with a web identity token.
fn with_token(settings: &Settings, base: &SdkConfig, role: WebIdentityRole) -> SharedCredentialsProvider {
    let sts = aws_sdk_sts::Client::from_conf(sts_config(settings, base, None));
    SharedCredentialsProvider::new(WebIdentity::new(sts, role))
}

/// Credentials of a role that is assumed with those of `provider`.
fn assuming(
    settings: &Settings,
    base: &SdkConfig,
    provider: SharedCredentialsProvider,
    role: Role,
) -> SharedCredentialsProvider {
    let provider = SharedCredentialsProvider::new(SecretsRegistered { provider, origin: None });
    let sts = aws_sdk_sts::Client::from_conf(sts_config(settings, base, Some(provider)));
    SharedCredentialsProvider::new(AssumedRole::new(sts, role))
}

/// The maximum number of attempts of an STS call. STS throttles less than EC2, and an incorrect endpoint should be
/// reported soon.
const STS_ATTEMPTS: u32 = 4;

/// The configuration of STS, which may have its own Region and endpoint.
pub(super) fn sts_config(
    settings: &Settings,
    base: &SdkConfig,
    credentials: Option<SharedCredentialsProvider>,
) -> aws_sdk_sts::Config {
    let mut builder = aws_sdk_sts::config::Builder::from(base);
    if let Some(retries) = base.retry_config() {
        builder = builder.retry_config(retries.clone().with_max_attempts(retries.max_attempts().min(STS_ATTEMPTS)));
    }
    builder = builder.interceptor(LimitRetries { is_number_set: false });
    if let Some(region) = settings.sts_region.clone() {
        builder = builder.region(Region::new(region));
    }
    if let Some(url) = settings.endpoints.get(&Service::Sts) {
        builder = builder.endpoint_url(url);
    }
    if let Some(credentials) = credentials {
        builder = builder.credentials_provider(credentials);
    }
    builder.build()
}

/// The credentials before any role of the settings.
fn first(settings: &Settings, sources: &Sources, base: &SdkConfig) -> Result<SharedCredentialsProvider, ConfigError> {
    let secret =
        |secret: &Option<Secret>| secret.as_ref().map(|it| it.reveal().to_string()).filter(|it| !it.is_empty());
    if let (Some(key), Some(secret_key)) = (settings.access_key.clone(), secret(&settings.secret_key)) {
        let keys = Credentials::new(key, secret_key, secret(&settings.token), None, "provider block");
        return Ok(SharedCredentialsProvider::new(keys));
    }
    let mut config = ProviderConfig::without_region()
        .with_behavior_version(Some(BehaviorVersion::latest()))
        .with_region(base.region().cloned())
        .with_use_fips(base.use_fips())
        .with_use_dual_stack(base.use_dual_stack());
    if let Some(http) = base.http_client() {
        config = config.with_http_client(http);
    }
    let imds = metadata_service(settings, sources, &config)?;
    let environment_keys = EnvironmentVariableCredentialsProvider::new();
    let container = EcsCredentialsProvider::builder().configure(&config).build();
    let profile = of_profile(settings, sources, base, &config, imds.as_ref());
    if settings.profile.clone().is_some() {
        return Ok(profile);
    }
    let mut chain = CredentialsProviderChain::first_try("Environment", environment_keys).or_else("Profile", profile);
    // CI systems set these variables. The name of the session is in the environment, too.
    if environment(&["AWS_WEB_IDENTITY_TOKEN_FILE"]).is_some() && environment(&["AWS_ROLE_ARN"]).is_some() {
        chain = chain.or_else("WebIdentityToken", with_token(settings, base, WebIdentityRole::default()));
    }
    chain = chain.or_else("EcsContainer", container);
    Ok(SharedCredentialsProvider::new(match imds {
        Some(imds) => chain.or_else("Ec2InstanceMetadata", imds),
        None => chain,
    }))
}

/// The credentials of the selected profile.
fn of_profile(
    settings: &Settings,
    sources: &Sources,
    base: &SdkConfig,
    config: &ProviderConfig,
    imds: Option<&SharedCredentialsProvider>,
) -> SharedCredentialsProvider {
    let of_sdk = |name: &str| {
        let mut profile = ProfileFileCredentialsProvider::builder()
            .configure(config)
            .profile_name(name)
            .profile_files(sources.files.clone());
        if let Some(imds) = imds {
            profile = profile.with_custom_provider("Ec2InstanceMetadata", imds.clone());
        }
        SharedCredentialsProvider::new(profile.build())
    };
    let selected = || of_sdk(sources.profiles.selected_profile());
    let Some(chain) = profile_roles::chain(&sources.profiles) else { return selected() };
    let mut provider = match chain.source {
        Source::Keys(keys) => SharedCredentialsProvider::new(keys),
        Source::Token(role) => with_token(settings, base, *role),
        Source::Profile(name) => of_sdk(&name),
        Source::Named(name) => match (name.to_ascii_lowercase().as_str(), imds) {
            ("environment", _) => SharedCredentialsProvider::new(EnvironmentVariableCredentialsProvider::new()),
            ("ecscontainer", _) => {
                SharedCredentialsProvider::new(EcsCredentialsProvider::builder().configure(config).build())
            }
            ("ec2instancemetadata", Some(imds)) => imds.clone(),
            // The SDK reports a source that is disabled or unknown.
            _ => return selected(),
        },
    };
    for role in chain.roles {
        provider = assuming(settings, base, provider, role);
    }
    provider
}

/// The metadata service of the EC2 instance. `None` if it is disabled.
pub(super) fn metadata_service(
    settings: &Settings,
    sources: &Sources,
    config: &ProviderConfig,
) -> Result<Option<SharedCredentialsProvider>, ConfigError> {
    if is_metadata_disabled() || settings.skip_metadata_api_check {
        return Ok(None);
    }
    let of_selected = |name: &str| sources.profile_setting(name).map(str::to_string);
    // Without such a service, every further attempt takes a second.
    let mut client = aws_config::imds::Client::builder().configure(config).max_attempts(2);
    let url = settings
        .ec2_metadata_service_endpoint
        .clone()
        .or_else(|| environment(&["AWS_EC2_METADATA_SERVICE_ENDPOINT"]))
        .or_else(|| of_selected("ec2_metadata_service_endpoint"));
    let mode = settings
        .ec2_metadata_service_endpoint_mode
        .clone()
        .or_else(|| environment(&["AWS_EC2_METADATA_SERVICE_ENDPOINT_MODE"]))
        .or_else(|| of_selected("ec2_metadata_service_endpoint_mode"));
    if let Some(url) = url {
        client = client.endpoint(&url).map_err(|error| {
            let detail = format!("{error}. Use a URL such as http://169.254.169.254.");
            ConfigError::new("Could not configure the provider: invalid metadata service address", detail)
                .at("ec2_metadata_service_endpoint")
        })?;
    } else if let Some(mode) = mode {
        let mode = mode.parse::<EndpointMode>().map_err(|error| {
            let detail = format!("{error}. Use IPv4 or IPv6.");
            ConfigError::new("Could not configure the provider: invalid metadata service mode", detail)
                .at("ec2_metadata_service_endpoint_mode")
        })?;
        client = client.endpoint_mode(mode);
    }
    let imds = ImdsCredentialsProvider::builder().configure(config).imds_client(client.build()).build();
    Ok(Some(SharedCredentialsProvider::new(imds)))
}

/// Whether the environment disables the metadata service for all AWS tools.
pub(super) fn is_metadata_disabled() -> bool {
    environment(&["AWS_EC2_METADATA_DISABLED"]).is_some_and(|it| it.eq_ignore_ascii_case("true"))
}
