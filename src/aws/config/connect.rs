//! From the provider block to the clients.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use aws_config::SdkConfig;
use aws_config::profile::ProfileSet;
use aws_config::retry::RetryConfig;
use aws_config::timeout::TimeoutConfig;
use aws_runtime::env_config::file::{EnvConfigFileKind, EnvConfigFiles};
use aws_smithy_runtime_api::client::behavior_version::BehaviorVersion;
use aws_types::os_shim_internal::{Env, Fs};
use aws_types::region::Region;
use hyper_util::client::proxy::matcher::Matcher;

use super::http_client::AwsHttpClient;
use super::{credentials, identity};
use crate::aws::Session;
use crate::aws::calls::process_state::ProcessState;
use crate::aws::calls::retry::{DEFAULT_ATTEMPTS, budget};
use crate::aws::config::redact::without_secrets;
use crate::aws::config::tls::{Trust, tls};
use crate::model::check_tag;
use crate::model::{IgnoreTags, Scope};
use crate::plugin::AttributePath;
use crate::provider::block::ProviderBlock;
use crate::provider::endpoints;

/// Why there is no connection: what the user is told.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Refusal {
    /// The argument at fault, if it is one.
    pub(crate) path: Option<AttributePath>,
    /// One line.
    pub(crate) summary: String,
    /// What happened, and the way out.
    pub(crate) detail: String,
}

impl Refusal {
    /// A refusal that no argument is to blame for.
    pub(crate) fn new(summary: &str, detail: impl Into<String>) -> Refusal {
        Refusal { path: None, summary: summary.into(), detail: without_secrets(&detail.into()) }
    }

    /// The same, with the argument at fault.
    #[must_use]
    pub(crate) fn at(mut self, path: &str) -> Refusal {
        self.path = Some(AttributePath::new(path));
        self
    }
}

/// Makes the clients, and asks AWS once whose credentials they are.
///
/// `block` is wholly known. Nothing but the identity is asked of AWS, and the metadata service only if there are no
/// other credentials.
pub(crate) async fn connect(block: &ProviderBlock, terraform_version: &str) -> Result<Session, Refusal> {
    let sources = Sources::load(block).await?;
    let region = sources.region(block)?;
    let http = http_client(block, &sources, terraform_version)?;
    let base = base_config(block, &sources, &region, http).await?;
    let credentials = credentials::provider(block, &sources, &base).await?;
    let sdk = base.into_builder().credentials_provider(credentials).build();
    let identity = identity::check(block, &sources, &sdk, region.as_ref()).await?;
    let scope = Scope {
        partition: identity.partition,
        region: region.to_string(),
        account: identity.account,
        ignore_tags: ignore_tags(block, std::env::vars()),
        default_tags: BTreeMap::new(),
    };
    let default_tags = default_tags(block, &scope.ignore_tags, std::env::vars())?;
    Ok(session(block, &sdk, Scope { default_tags, ..scope }))
}

/// Where settings come from beside the block: the environment, and the profile.
pub(crate) struct Sources {
    pub(crate) files: EnvConfigFiles,
    pub(crate) profiles: ProfileSet,
}

impl Sources {
    pub(super) async fn load(block: &ProviderBlock) -> Result<Sources, Refusal> {
        let mut files = EnvConfigFiles::builder()
            .include_default_config_file(is_empty(&block.shared_config_files))
            .include_default_credentials_file(is_empty(&block.shared_credentials_files));
        for file in block.shared_config_files.iter().flatten() {
            files = files.with_file(EnvConfigFileKind::Config, path(file));
        }
        for file in block.shared_credentials_files.iter().flatten() {
            files = files.with_file(EnvConfigFileKind::Credentials, path(file));
        }
        let files = files.build();
        let of_environment = PROFILE_VARIABLES.into_iter().find_map(|name| Some((name, environment(&[name])?)));
        let of_block = given(&block.profile);
        let selected = of_block.clone().or_else(|| Some(of_environment.clone()?.1)).unwrap_or_else(|| "default".into());
        let profiles = aws_config::profile::load(&Fs::real(), &Env::real(), &files, Some(Cow::Owned(selected)))
            .await
            .map_err(|error| {
            let detail = format!("{}. Correct the file, or name others.", super::http_client::chain(&error));
            Refusal::new("The shared AWS configuration files cannot be read", detail)
        })?;
        let sources = Sources { files, profiles };
        if let Some(name) = of_block {
            return match sources.unknown(&name) {
                Some(refusal) => Err(refusal.at("profile")),
                None => Ok(sources),
            };
        }
        match of_environment {
            // Whatever else gives credentials is most often another account. Only keys in the block need no profile.
            Some((variable, name)) if given(&block.access_key).is_none() && name != "default" => {
                sources.unknown(&name).map_or(Ok(sources), |refusal| {
                    let detail = format!("{} It is named by {variable}.", refusal.detail);
                    Err(Refusal { detail, ..refusal })
                })
            }
            _ => Ok(sources),
        }
    }

    /// What is told of a profile that no file defines.
    fn unknown(&self, name: &str) -> Option<Refusal> {
        if self.profiles.get_profile(name).is_some() {
            return None;
        }
        let mut known: Vec<&str> = self.profiles.profiles().collect();
        known.sort_unstable();
        let known = if known.is_empty() { "none".to_string() } else { known.join(", ") };
        let detail = format!(
            "The shared configuration and credentials files define no profile {name:?}; they define: {known}. Correct the \
             name, or make the profile with: aws configure --profile {name}"
        );
        Some(Refusal::new("Unknown AWS profile", detail))
    }

    /// A setting of the selected profile.
    pub(crate) fn profile_setting(&self, name: &str) -> Option<&str> {
        self.profiles.get(name).filter(|value| !value.is_empty())
    }

    fn region(&self, block: &ProviderBlock) -> Result<Region, Refusal> {
        let region = given(&block.region)
            .or_else(|| environment(&["AWS_REGION", "AWS_DEFAULT_REGION"]))
            .or_else(|| self.profile_setting("region").map(str::to_string));
        region.map(Region::new).ok_or_else(|| {
            let detail = format!(
                "The provider block has no region, AWS_REGION and AWS_DEFAULT_REGION are not set, and profile {:?} \
                 has no region. Set one of them, such as region = \"eu-central-1\".",
                self.profiles.selected_profile()
            );
            Refusal::new("No AWS Region", detail).at("region")
        })
    }
}

/// Which profile is used where the block names none.
const PROFILE_VARIABLES: [&str; 2] = ["AWS_PROFILE", "AWS_DEFAULT_PROFILE"];

/// A path as a user wrote it: `~/` is the home directory, as in hashicorp/aws.
pub(crate) fn path(text: &str) -> PathBuf {
    match (text.strip_prefix("~/"), environment(&["HOME", "USERPROFILE"])) {
        (Some(rest), Some(home)) => Path::new(&home).join(rest),
        _ => text.into(),
    }
}

/// The first of these environment variables that is set and not empty.
pub(crate) fn environment(names: &[&str]) -> Option<String> {
    names.iter().find_map(|name| std::env::var(name).ok().filter(|value| !value.is_empty()))
}

/// An argument, where an empty string means "not set", as in hashicorp/aws.
pub(crate) fn given(argument: &Option<String>) -> Option<String> {
    argument.clone().filter(|value| !value.is_empty())
}

fn is_empty(files: &Option<Vec<String>>) -> bool {
    files.as_ref().is_none_or(Vec::is_empty)
}

fn http_client(block: &ProviderBlock, sources: &Sources, terraform_version: &str) -> Result<AwsHttpClient, Refusal> {
    let bundle = given(&block.custom_ca_bundle)
        .or_else(|| environment(&["AWS_CA_BUNDLE"]))
        .or_else(|| sources.profile_setting("ca_bundle").map(str::to_string))
        .map(|file| path(&file));
    let trust = match &bundle {
        _ if block.insecure == Some(true) => Trust::Anyone,
        Some(file) => Trust::Bundle(file),
        None => Trust::System,
    };
    let tls = tls(&trust)
        .map_err(|error| Refusal::new("The certificate authorities cannot be read", error).at("custom_ca_bundle"))?;
    let proxies = proxies(block, environment);
    Ok(AwsHttpClient::new(tls, proxies, &user_agent(block, terraform_version)))
}

/// Which proxy is used when. Both spellings of the variables are common.
fn proxies(block: &ProviderBlock, environment: impl Fn(&[&str]) -> Option<String>) -> Matcher {
    let https = given(&block.https_proxy)
        .or_else(|| environment(&["HTTPS_PROXY", "https_proxy"]))
        .or_else(|| given(&block.http_proxy));
    let http = given(&block.http_proxy).or_else(|| environment(&["HTTP_PROXY", "http_proxy"]));
    let no = given(&block.no_proxy).or_else(|| environment(&["NO_PROXY", "no_proxy"]));
    Matcher::builder()
        .http(http.unwrap_or_default())
        .https(https.unwrap_or_default())
        .no(no.unwrap_or_default())
        .build()
}

fn user_agent(block: &ProviderBlock, terraform_version: &str) -> String {
    let own = format!("terraform-provider-fgw/{}", env!("CARGO_PKG_VERSION"));
    let terraform = (!terraform_version.is_empty()).then(|| format!("Terraform/{terraform_version}"));
    let appended = environment(&["TF_APPEND_USER_AGENT"]);
    let products = [own].into_iter().chain(terraform).chain(block.user_agent.iter().flatten().cloned()).chain(appended);
    products.collect::<Vec<_>>().join(" ")
}

/// Everything but the credentials.
async fn base_config(
    block: &ProviderBlock,
    sources: &Sources,
    region: &Region,
    http: AwsHttpClient,
) -> Result<SdkConfig, Refusal> {
    let timeouts = TimeoutConfig::builder()
        .connect_timeout(Duration::from_secs(5))
        // Long enough for the slowest answers of AWS, and short enough to notice a connection that hangs.
        .read_timeout(Duration::from_secs(60))
        .build();
    // A credentials process or a sign-in service may take its time, and is asked once.
    let identity_cache =
        aws_smithy_runtime::client::identity::IdentityCache::lazy().load_timeout(Duration::from_secs(60)).build();
    let mut loader = aws_config::defaults(BehaviorVersion::latest())
        .http_client(http)
        .region(region.clone())
        .profile_name(sources.profiles.selected_profile())
        .profile_files(sources.files.clone())
        .timeout_config(timeouts)
        .identity_cache(identity_cache)
        .retry_config(retry_config(block, sources)?)
        .no_credentials();
    if let Some(use_fips) = block.use_fips_endpoint {
        loader = loader.use_fips(use_fips);
    }
    if let Some(use_dual_stack) = block.use_dualstack_endpoint {
        loader = loader.use_dual_stack(use_dual_stack);
    }
    Ok(loader.load().await)
}

fn retry_config(block: &ProviderBlock, sources: &Sources) -> Result<RetryConfig, Refusal> {
    let mode = given(&block.retry_mode)
        .or_else(|| environment(&["AWS_RETRY_MODE"]))
        .or_else(|| sources.profile_setting("retry_mode").map(str::to_string));
    let config = match mode.as_deref() {
        // The AWS CLI still knows "legacy", which lies in the files of many people.
        None | Some("standard" | "legacy") => RetryConfig::standard(),
        Some("adaptive") => RetryConfig::adaptive(),
        Some(other) => {
            let detail = format!(
                "{other:?} is neither standard nor adaptive. It is set by retry_mode, AWS_RETRY_MODE or the profile."
            );
            return Err(Refusal::new("Unknown retry mode", detail).at("retry_mode"));
        }
    };
    let attempts = match block.max_retries {
        Some(attempts) => u32::try_from(attempts).unwrap_or(DEFAULT_ATTEMPTS),
        None => {
            let text = environment(&["AWS_MAX_ATTEMPTS"])
                .or_else(|| sources.profile_setting("max_attempts").map(str::to_string));
            match text {
                None => DEFAULT_ATTEMPTS,
                Some(text) => text.parse().map_err(|_| {
                    let detail = format!("{text:?} is not a number. It is set by AWS_MAX_ATTEMPTS or the profile.");
                    Refusal::new("Unusable number of attempts", detail).at("max_retries")
                })?,
            }
        }
    };
    Ok(config.with_max_attempts(attempts.max(1)))
}

/// The tags for everything. The block goes before the environment.
fn default_tags(
    block: &ProviderBlock,
    ignored: &IgnoreTags,
    variables: impl Iterator<Item = (String, String)>,
) -> Result<BTreeMap<String, String>, Refusal> {
    let mut tags: BTreeMap<String, String> = variables
        .filter_map(|(name, value)| Some((name.strip_prefix("TF_AWS_DEFAULT_TAGS_")?.to_string(), value)))
        .collect();
    tags.extend(block.tags());
    for (key, value) in &tags {
        if let Some((message, hint)) = check_tag(key, value, ignored) {
            let detail = format!("{message} {hint} The tag is set by default_tags or TF_AWS_DEFAULT_TAGS_{key}.");
            return Err(Refusal::new("Unusable default tag", detail).at("default_tags"));
        }
    }
    Ok(tags)
}

fn ignore_tags(block: &ProviderBlock, variables: impl Iterator<Item = (String, String)>) -> IgnoreTags {
    let mut ignored = block.ignored();
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

fn session(block: &ProviderBlock, sdk: &SdkConfig, scope: Scope) -> Session {
    let capacity = block.token_bucket_rate_limiter_capacity.and_then(|capacity| usize::try_from(capacity).ok());
    macro_rules! config {
        ($sdk:ident, $service:expr) => {{
            let mut builder = $sdk::config::Builder::from(sdk).retry_partition(budget($service.names[0], capacity));
            if let Some(url) = block.endpoint($service) {
                builder = builder.endpoint_url(url);
            }
            builder.build()
        }};
    }
    Session {
        scope,
        ec2: aws_sdk_ec2::Client::from_conf(config!(aws_sdk_ec2, endpoints::EC2)),
        apigateway: aws_sdk_apigatewayv2::Client::from_conf(config!(aws_sdk_apigatewayv2, endpoints::APIGATEWAY)),
        logs: aws_sdk_cloudwatchlogs::Client::from_conf(config!(aws_sdk_cloudwatchlogs, endpoints::LOGS)),
        acm: aws_sdk_acm::Client::from_conf(config!(aws_sdk_acm, endpoints::ACM)),
        kms: aws_sdk_kms::Client::from_conf(config!(aws_sdk_kms, endpoints::KMS)),
        route53: aws_sdk_route53::Client::from_conf(config!(aws_sdk_route53, endpoints::ROUTE53)),
        lambda_config: config!(aws_sdk_lambda, endpoints::LAMBDA),
        newborns: Default::default(),
        pollers: Default::default(),
        process: ProcessState::shared(),
    }
}

#[cfg(test)]
mod tests;
