//! Converts the provider block to the settings of `aws`. An empty string means "not set", as in hashicorp/aws, so that
//! a variable can switch an argument off.

use super::block::{AssumeRole, AssumeRoleWithWebIdentity, ProviderBlock};
use super::endpoints::service_named;
use crate::aws::config::settings::{Role, Secret, Settings, WebIdentityRole};
use crate::model::durations;

impl ProviderBlock {
    /// The settings of a completely known, valid block.
    pub(crate) fn settings(&self) -> Settings {
        let endpoints = self.endpoints_by_name().filter_map(|(_, name, url)| Some((service_named(name)?, url.into())));
        Settings {
            region: non_empty(&self.region),
            profile: non_empty(&self.profile),
            access_key: non_empty(&self.access_key),
            secret_key: secret(&self.secret_key),
            token: secret(&self.token),
            shared_config_files: list(&self.shared_config_files),
            shared_credentials_files: list(&self.shared_credentials_files),
            roles: self.roles().iter().map(role).collect(),
            web_identity: self.web_identity().map(web_identity),
            sts_region: non_empty(&self.sts_region),
            allowed_account_ids: list(&self.allowed_account_ids),
            forbidden_account_ids: list(&self.forbidden_account_ids),
            default_tags: self.tags(),
            ignore_tags: self.ignored(),
            allow_protected_deletion: self.allow_protected_deletion.clone().unwrap_or_default(),
            endpoints: endpoints.collect(),
            use_fips_endpoint: self.use_fips_endpoint,
            use_dualstack_endpoint: self.use_dualstack_endpoint,
            max_attempts: self.max_retries.and_then(|attempts| u32::try_from(attempts).ok()),
            retry_mode: non_empty(&self.retry_mode),
            retry_capacity: self.token_bucket_rate_limiter_capacity.and_then(|capacity| usize::try_from(capacity).ok()),
            custom_ca_bundle: non_empty(&self.custom_ca_bundle),
            insecure: self.insecure == Some(true),
            http_proxy: non_empty(&self.http_proxy),
            https_proxy: non_empty(&self.https_proxy),
            no_proxy: non_empty(&self.no_proxy),
            skip_metadata_api_check: self.skip_metadata_api_check == Some(true),
            ec2_metadata_service_endpoint: non_empty(&self.ec2_metadata_service_endpoint),
            ec2_metadata_service_endpoint_mode: non_empty(&self.ec2_metadata_service_endpoint_mode),
            skip_credentials_validation: self.skip_credentials_validation == Some(true),
            skip_requesting_account_id: self.skip_requesting_account_id == Some(true),
            user_agent: list(&self.user_agent),
        }
    }
}

fn role(block: &AssumeRole) -> Role {
    Role {
        arn: block.role_arn.clone().unwrap_or_default(),
        session_name: non_empty(&block.session_name),
        external_id: non_empty(&block.external_id),
        duration: block.duration.as_deref().and_then(durations::parse),
        policy: non_empty(&block.policy),
        policy_arns: list(&block.policy_arns),
        tags: block.tags.clone().unwrap_or_default(),
        transitive_tag_keys: list(&block.transitive_tag_keys),
        source_identity: non_empty(&block.source_identity),
    }
}

fn web_identity(block: &AssumeRoleWithWebIdentity) -> WebIdentityRole {
    WebIdentityRole {
        arn: non_empty(&block.role_arn),
        session_name: non_empty(&block.session_name),
        duration: block.duration.as_deref().and_then(durations::parse),
        policy: non_empty(&block.policy),
        policy_arns: list(&block.policy_arns),
        token: secret(&block.web_identity_token),
        token_file: non_empty(&block.web_identity_token_file),
    }
}

fn non_empty(argument: &Option<String>) -> Option<String> {
    argument.clone().filter(|value| !value.is_empty())
}

fn secret(argument: &Option<Secret>) -> Option<Secret> {
    argument.clone().filter(|value| !value.reveal().is_empty())
}

fn list(argument: &Option<Vec<String>>) -> Vec<String> {
    argument.clone().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use crate::aws::config::settings::Service;
    use crate::plugin::Value;
    use crate::provider::block::ProviderBlock;

    #[test]
    fn empty_strings_are_unset_and_aliases_set_the_endpoint() {
        let endpoints = Value::map([("apigateway", "http://a".into()), ("s3", "http://s".into()), ("ec2", "".into())]);
        let config = Value::map([
            ("region", "".into()),
            ("secret_key", "".into()),
            ("retry_mode", "adaptive".into()),
            ("endpoints", Value::List(vec![endpoints])),
        ]);
        let settings = ProviderBlock::known_part(&config).0.unwrap().settings();
        assert_eq!((settings.region, settings.secret_key), (None, None));
        assert_eq!(settings.retry_mode.as_deref(), Some("adaptive"));
        assert_eq!(settings.endpoints, [(Service::ApiGateway, "http://a".to_string())].into());
    }

    #[test]
    fn role_duration_is_parsed_and_token_is_not_printed() {
        let role = Value::map([("role_arn", "arn:aws:iam::123456789012:role/r".into()), ("duration", "1h30m".into())]);
        let token = Value::map([("web_identity_token", "open sesame".into())]);
        let config = Value::map([
            ("assume_role", Value::List(vec![role])),
            ("assume_role_with_web_identity", Value::List(vec![token])),
        ]);
        let settings = ProviderBlock::known_part(&config).0.unwrap().settings();
        assert_eq!(settings.roles[0].duration.map(|it| it.as_secs()), Some(5400));
        assert_eq!(settings.web_identity.as_ref().unwrap().token.as_ref().unwrap().reveal(), "open sesame");
        assert!(!format!("{settings:?}").contains("open sesame"));
    }
}
