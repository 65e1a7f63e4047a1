//! Settings from the environment and the shared AWS configuration files, and the errors for invalid settings.

use std::borrow::Cow;
use std::path::{Path, PathBuf};

use aws_config::profile::ProfileSet;
use aws_runtime::env_config::file::{EnvConfigFileKind, EnvConfigFiles};
use aws_types::os_shim_internal::{Env, Fs};
use aws_types::region::Region;

use super::chain::chain;
use super::redact::redact;
use super::settings::Settings;

/// An error of the connection to AWS, for the user.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct ConfigError {
    /// The invalid argument, if it is one.
    pub(crate) argument: Option<&'static str>,
    /// One line.
    pub(crate) summary: String,
    /// What is wrong, and how to fix it.
    pub(crate) detail: String,
}

impl ConfigError {
    /// An error without an argument. Redacts secrets in the detail.
    pub(crate) fn new(summary: &str, detail: impl Into<String>) -> ConfigError {
        ConfigError { argument: None, summary: summary.into(), detail: redact(&detail.into()) }
    }

    /// The same error, with the invalid argument.
    #[must_use]
    pub(crate) fn at(mut self, argument: &'static str) -> ConfigError {
        self.argument = Some(argument);
        self
    }
}

/// The sources of settings other than the provider configuration and the environment: the shared files with the
/// profile.
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
            let detail = format!(
                "{}. Correct the file, or set shared_config_files and shared_credentials_files.",
                chain(&error)
            );
            ConfigError::new("Could not read the shared AWS configuration files", detail)
        })?;
        let sources = Sources { files, profiles };
        if let Some(name) = of_block {
            return match sources.unknown_profile(&name, "the provider block") {
                Some(error) => Err(error.at("profile")),
                None => Ok(sources),
            };
        }
        match of_environment {
            // Credentials of another source most often belong to another account. Only keys in the provider block do
            // not require the profile.
            Some((variable, name)) if settings.access_key.is_none() && name != "default" => {
                sources.unknown_profile(&name, variable).map_or(Ok(sources), Err)
            }
            _ => Ok(sources),
        }
    }

    /// The error for a profile that no file defines. `origin` is the setting that selects the profile.
    fn unknown_profile(&self, name: &str, origin: &str) -> Option<ConfigError> {
        if self.profiles.get_profile(name).is_some() {
            return None;
        }
        // The names of other profiles may be those of customers, and logs of CI systems are often public.
        let detail = format!(
            "The shared configuration and credentials files define no profile {name:?}. Correct the name in {origin}, or \
             create the profile with: aws configure --profile {name}"
        );
        Some(ConfigError::new("Could not configure the provider: unknown AWS profile", detail))
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
                 has no region. Set one of them, for example in the provider block:\n\n  region = \"eu-central-1\"",
                self.profiles.selected_profile()
            );
            ConfigError::new("Could not configure the provider: no AWS Region", detail).at("region")
        })
    }
}

/// The variables that select the profile if the provider configuration does not.
const PROFILE_VARIABLES: [&str; 2] = ["AWS_PROFILE", "AWS_DEFAULT_PROFILE"];

/// The path for a configured text. A leading `~/`, or `~\` on Windows, is the home directory, as in hashicorp/aws.
pub(crate) fn path(text: &str) -> PathBuf {
    let rest = text.strip_prefix('~').and_then(|rest| rest.strip_prefix(std::path::is_separator));
    match (rest, environment(&["HOME", "USERPROFILE"])) {
        (Some(rest), Some(home)) => Path::new(&home).join(rest),
        _ => text.into(),
    }
}

/// The first of these environment variables that is set and not empty.
pub(crate) fn environment(names: &[&str]) -> Option<String> {
    names.iter().find_map(|name| std::env::var(name).ok().filter(|value| !value.is_empty()))
}
