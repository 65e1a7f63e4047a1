//! Settings of the environment and of shared AWS configuration files, and what the user is told when they do not fit.

use std::borrow::Cow;
use std::path::{Path, PathBuf};

use aws_config::profile::ProfileSet;
use aws_runtime::env_config::file::{EnvConfigFileKind, EnvConfigFiles};
use aws_types::os_shim_internal::{Env, Fs};
use aws_types::region::Region;

use super::http_client::chain;
use super::redact::redact;
use super::settings::Settings;

/// Why there is no connection: what the user is told.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct ConfigError {
    /// The argument at fault, if it is one.
    pub(crate) argument: Option<&'static str>,
    /// One line.
    pub(crate) summary: String,
    /// What happened, and the way out.
    pub(crate) detail: String,
}

impl ConfigError {
    /// A refusal that no argument is to blame for.
    pub(crate) fn new(summary: &str, detail: impl Into<String>) -> ConfigError {
        ConfigError { argument: None, summary: summary.into(), detail: redact(&detail.into()) }
    }

    /// The same, with the argument at fault.
    #[must_use]
    pub(crate) fn at(mut self, argument: &'static str) -> ConfigError {
        self.argument = Some(argument);
        self
    }
}

/// Where settings come from in addition to the provider configuration: the environment and the profile.
pub(crate) struct Sources {
    pub(crate) files: EnvConfigFiles,
    pub(crate) profiles: ProfileSet,
}

impl Sources {
    pub(super) async fn load(settings: &Settings) -> Result<Sources, ConfigError> {
        let mut files = EnvConfigFiles::builder()
            .include_default_config_file(settings.shared_config_files.is_empty())
            .include_default_credentials_file(settings.shared_credentials_files.is_empty());
        for file in &settings.shared_config_files {
            files = files.with_file(EnvConfigFileKind::Config, path(file));
        }
        for file in &settings.shared_credentials_files {
            files = files.with_file(EnvConfigFileKind::Credentials, path(file));
        }
        let files = files.build();
        let of_environment = PROFILE_VARIABLES.into_iter().find_map(|name| Some((name, environment(&[name])?)));
        let of_block = settings.profile.clone();
        let selected = of_block.clone().or_else(|| Some(of_environment.clone()?.1)).unwrap_or_else(|| "default".into());
        let profiles = aws_config::profile::load(&Fs::real(), &Env::real(), &files, Some(Cow::Owned(selected)))
            .await
            .map_err(|error| {
            let detail = format!("{}. Correct the file, or name others.", chain(&error));
            ConfigError::new("The shared AWS configuration files cannot be read", detail)
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
            Some((variable, name)) if settings.access_key.is_none() && name != "default" => {
                sources.unknown(&name).map_or(Ok(sources), |refusal| {
                    let detail = format!("{} It is named by {variable}.", refusal.detail);
                    Err(ConfigError { detail, ..refusal })
                })
            }
            _ => Ok(sources),
        }
    }

    /// What is told of a profile that no file defines.
    fn unknown(&self, name: &str) -> Option<ConfigError> {
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
        Some(ConfigError::new("Unknown AWS profile", detail))
    }

    /// A setting of the selected profile.
    pub(crate) fn profile_setting(&self, name: &str) -> Option<&str> {
        self.profiles.get(name).filter(|value| !value.is_empty())
    }

    pub(super) fn region(&self, settings: &Settings) -> Result<Region, ConfigError> {
        let region = settings
            .region
            .clone()
            .or_else(|| environment(&["AWS_REGION", "AWS_DEFAULT_REGION"]))
            .or_else(|| self.profile_setting("region").map(str::to_string));
        region.map(Region::new).ok_or_else(|| {
            let detail = format!(
                "The provider block has no region, AWS_REGION and AWS_DEFAULT_REGION are not set, and profile {:?} \
                 has no region. Set one of them, such as region = \"eu-central-1\".",
                self.profiles.selected_profile()
            );
            ConfigError::new("No AWS Region", detail).at("region")
        })
    }
}

/// Which profile is used where the provider configuration names none.
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
