//! The provider block, with the names and the syntax of hashicorp/aws, so that a user's block can be copied.

use std::collections::BTreeMap;

use super::endpoints::{Endpoints, is_called};
use crate::aws::config::settings::Secret;
use crate::plugin::{AttributePath, AttributeType, Check, FromValue, Nested, Problem, Type, Value};

crate::attributes! {
    /// What the user wrote. An absent block and an empty one are the same.
    pub struct ProviderBlock {
        /// The Region, such as `eu-central-1`. Otherwise `AWS_REGION`, `AWS_DEFAULT_REGION` or the profile's `region`
        /// is taken.
        region: Option<String> = optional(),
        /// The profile in the shared configuration and credentials files. Otherwise `AWS_PROFILE`,
        /// `AWS_DEFAULT_PROFILE`, or `default`. A profile named here goes before credentials in the environment. One
        /// that is named and does not exist is an error.
        profile: Option<String> = optional(),
        /// The access key id. It needs `secret_key`. Without it credentials are looked for as the AWS CLI does: in the
        /// environment, the profile (with roles, IAM Identity Center or an external process), a web identity token, the
        /// container, the machine.
        access_key: Option<String> = optional(),
        /// The secret access key that belongs to `access_key`.
        secret_key: Option<Secret> = optional().sensitive(),
        /// The session token that belongs to a temporary `access_key`.
        token: Option<Secret> = optional().sensitive(),
        /// Shared configuration files. A later one goes before an earlier one, and `~/` is the home directory.
        /// Otherwise `AWS_CONFIG_FILE`, or `~/.aws/config`.
        shared_config_files: Option<Vec<String>> = optional(),
        /// Shared credentials files. A later one goes before an earlier one, and `~/` is the home directory. Otherwise
        /// `AWS_SHARED_CREDENTIALS_FILE`, or `~/.aws/credentials`.
        shared_credentials_files: Option<Vec<String>> = optional(),
        /// Roles to assume one after the other, each with the credentials of the one before it.
        assume_role: Option<Vec<AssumeRole>> = block(),
        /// A role to assume with a token of an identity provider, for CI with OIDC. It is assumed before `assume_role`.
        /// Where `AWS_ROLE_ARN` and `AWS_WEB_IDENTITY_TOKEN_FILE` are set it may be empty; it may then be left out if
        /// there are no credentials in the environment or the profile, which would go before.
        assume_role_with_web_identity: Option<Vec<AssumeRoleWithWebIdentity>> = block(),
        /// The Region whose STS is asked for roles, those of profiles too, and for the account. Otherwise `region`.
        sts_region: Option<String> = optional(),
        /// Accounts that may be worked on. Any other is refused before anything is read or changed. Not together with
        /// `forbidden_account_ids`.
        allowed_account_ids: Option<Vec<String>> = optional(),
        /// Accounts that may not be worked on, such as `["123456789012"]`.
        forbidden_account_ids: Option<Vec<String>> = optional(),
        /// Tags for every object that can carry tags. A resource's own tags go before them. The environment adds
        /// to them: `TF_AWS_DEFAULT_TAGS_<key>`.
        default_tags: Option<Vec<DefaultTags>> = block(),
        /// Tags that others manage: neither set nor removed nor looked at. The environment adds to them:
        /// `TF_AWS_IGNORE_TAGS_KEYS` and `TF_AWS_IGNORE_TAGS_KEY_PREFIXES`, separated by commas.
        ignore_tags: Option<Vec<IgnoreTagsBlock>> = block(),
        /// URLs to call instead of AWS's own, by service. They go before `AWS_ENDPOINT_URL_<SERVICE>`,
        /// `AWS_ENDPOINT_URL` and the profile's `endpoint_url`. The endpoints of IAM Identity Center are set by
        /// those alone.
        endpoints: Option<Vec<Endpoints>> = block(),
        /// Call endpoints with FIPS 140 validated cryptography. Otherwise `AWS_USE_FIPS_ENDPOINT`, or the profile's
        /// `use_fips_endpoint`.
        use_fips_endpoint: Option<bool> = optional(),
        /// Call endpoints that are reachable by IPv4 and IPv6. Otherwise `AWS_USE_DUALSTACK_ENDPOINT`, or the
        /// profile's `use_dualstack_endpoint`.
        use_dualstack_endpoint: Option<bool> = optional(),
        /// How often a call is sent, at most, when AWS throttles it or the way to AWS is disturbed; 0 and 1 both mean
        /// once. STS is asked 4 times at most. Otherwise `AWS_MAX_ATTEMPTS`, the profile's `max_attempts`, or 25.
        max_retries: Option<i64> = optional().check(Check::between(0, 1000)),
        /// `standard`, or `adaptive`, which also slows down when AWS throttles. Otherwise `AWS_RETRY_MODE`, the
        /// profile's `retry_mode`, or `standard`.
        retry_mode: Option<String> = optional().check(Check::one_of(&["standard", "adaptive"])),
        /// Limits the retries that may be pending at once, for each service. A retry takes 5 of this capacity, or 10
        /// after a timeout. Without it there is no limit.
        token_bucket_rate_limiter_capacity: Option<i64> = optional().check(Check::between(1, 1_000_000)),
        /// A file of certificate authorities (PEM) to believe instead of those of this machine, such as that of a proxy
        /// that opens TLS. `~/` is the home directory. Otherwise `AWS_CA_BUNDLE`, or the profile's `ca_bundle`.
        custom_ca_bundle: Option<String> = optional(),
        /// Believe any TLS certificate, whatever `custom_ca_bundle` says. Whoever is between you and AWS can then read
        /// and change everything.
        insecure: Option<bool> = optional(),
        /// The URL of a proxy for `http` endpoints, and for `https` endpoints where neither `https_proxy` nor
        /// `HTTPS_PROXY` is set. Otherwise `HTTP_PROXY`.
        http_proxy: Option<String> = optional(),
        /// The URL of a proxy for `https` endpoints. Otherwise `HTTPS_PROXY`.
        https_proxy: Option<String> = optional(),
        /// Hosts, domains and address ranges that are reached without a proxy, separated by commas. Otherwise
        /// `NO_PROXY`. This machine and the metadata services of instances and containers never need a proxy.
        no_proxy: Option<String> = optional(),
        /// Do not look for credentials at the metadata service of an EC2 instance. `AWS_EC2_METADATA_DISABLED=true`
        /// does the same.
        skip_metadata_api_check: Option<bool> = optional(),
        /// Where the metadata service of the EC2 instance answers. Otherwise `AWS_EC2_METADATA_SERVICE_ENDPOINT`, or
        /// the profile's `ec2_metadata_service_endpoint`.
        ec2_metadata_service_endpoint: Option<String> = optional(),
        /// Whether the metadata service is reached by `IPv4` or `IPv6`, where no endpoint of it is given. Otherwise
        /// `AWS_EC2_METADATA_SERVICE_ENDPOINT_MODE`, the profile's `ec2_metadata_service_endpoint_mode`, or `IPv4`.
        ec2_metadata_service_endpoint_mode: Option<String> = optional().check(Check::one_of(&["IPv4", "IPv6"])),
        /// Do not check the credentials when the provider starts.
        skip_credentials_validation: Option<bool> = optional(),
        /// Do not ask AWS for the account id. Only together with `skip_credentials_validation` is nothing asked.
        skip_requesting_account_id: Option<bool> = optional(),
        /// Accept a Region whose name does not look like one.
        skip_region_validation: Option<bool> = optional(),
        /// Products to add to the User-Agent header, such as `my-pipeline/1.2`. `TF_APPEND_USER_AGENT` adds to them.
        user_agent: Option<Vec<String>> = optional(),
        /// Has no effect: this provider does not use S3.
        s3_use_path_style: Option<bool> = optional(),
        /// Has no effect: this provider does not use S3.
        s3_us_east_1_regional_endpoint: Option<String> = optional(),
    }
}

crate::attributes! {
    /// A role to assume.
    #[derive(Default)]
    pub struct AssumeRole {
        /// The ARN of the role, such as `arn:aws:iam::123456789012:role/deploy`.
        role_arn: Option<String> = required(),
        /// The name of the session, which CloudTrail shows. By default one is made up.
        session_name: Option<String> = optional(),
        /// What the role's owner gave you to prove on whose behalf you act.
        external_id: Option<String> = optional(),
        /// How long credentials last, from 15 minutes to 12 hours, such as `1h30m`. They are renewed as long as needed.
        duration: Option<String> = optional(),
        /// A policy (JSON) that further restricts what the session may do.
        policy: Option<String> = optional(),
        /// ARNs of managed policies that further restrict what the session may do.
        policy_arns: Option<Vec<String>> = optional(),
        /// Tags of the session.
        tags: Option<BTreeMap<String, String>> = optional(),
        /// The keys of those tags that are passed on when this session assumes a role.
        transitive_tag_keys: Option<Vec<String>> = optional(),
        /// Who started the session, which CloudTrail shows for all that follows.
        source_identity: Option<String> = optional(),
    }
}

crate::attributes! {
    /// A role to assume with a token of an identity provider.
    #[derive(Default)]
    pub struct AssumeRoleWithWebIdentity {
        /// The ARN of the role. Otherwise `AWS_ROLE_ARN`.
        role_arn: Option<String> = optional(),
        /// The name of the session. Otherwise `AWS_ROLE_SESSION_NAME`, or one is made up.
        session_name: Option<String> = optional(),
        /// How long credentials last, from 15 minutes to 12 hours, such as `1h`.
        duration: Option<String> = optional(),
        /// A policy (JSON) that further restricts what the session may do.
        policy: Option<String> = optional(),
        /// ARNs of managed policies that further restrict what the session may do.
        policy_arns: Option<Vec<String>> = optional(),
        /// The token. Not together with `web_identity_token_file`.
        web_identity_token: Option<Secret> = optional().sensitive(),
        /// The file that holds the token, read anew each time. `~/` is the home directory. Otherwise
        /// `AWS_WEB_IDENTITY_TOKEN_FILE`.
        web_identity_token_file: Option<String> = optional(),
    }
}

crate::attributes! {
    /// Tags for everything.
    pub struct DefaultTags {
        /// The tags, such as `{ Owner = "platform" }`.
        tags: Option<BTreeMap<String, String>> = optional(),
    }
}

crate::attributes! {
    /// Tags that others manage.
    pub struct IgnoreTagsBlock {
        /// Keys, such as `LastScanned`.
        keys: Option<Vec<String>> = optional(),
        /// Beginnings of keys, such as `kubernetes.io/`.
        key_prefixes: Option<Vec<String>> = optional(),
    }
}

impl ProviderBlock {
    /// The one block of role and web identity.
    pub(crate) fn web_identity(&self) -> Option<&AssumeRoleWithWebIdentity> {
        self.assume_role_with_web_identity.as_ref()?.first()
    }

    /// The roles to assume, in order.
    pub(crate) fn roles(&self) -> &[AssumeRole] {
        self.assume_role.as_deref().unwrap_or_default()
    }

    /// Every endpoint: its path, the name that the user wrote, and the URL.
    pub(crate) fn endpoints_by_name(&self) -> impl Iterator<Item = (AttributePath, &str, &str)> {
        let blocks = self.endpoints.iter().flatten().enumerate();
        blocks.flat_map(|(index, block)| {
            let path = AttributePath::new("endpoints").index(index);
            block.entries().map(move |(name, url)| (path.attribute(name), name, url))
        })
    }

    /// The tags of the block, without the environment's.
    pub(crate) fn tags(&self) -> BTreeMap<String, String> {
        let blocks = self.default_tags.iter().flatten();
        blocks.flat_map(|block| block.tags.iter().flatten()).map(|(key, value)| (key.clone(), value.clone())).collect()
    }

    /// The keys and prefixes of the block, without the environment's.
    pub(crate) fn ignored(&self) -> crate::model::IgnoreTags {
        let blocks = || self.ignore_tags.iter().flatten();
        crate::model::IgnoreTags {
            keys: blocks().flat_map(|block| block.keys.clone().unwrap_or_default()).collect(),
            key_prefixes: blocks().flat_map(|block| block.key_prefixes.clone().unwrap_or_default()).collect(),
        }
    }

    /// Whether everything is known that decides where calls go, who signs them and what they make. The rest may be
    /// known only after apply without hiding AWS from a plan.
    pub(crate) fn is_decided(config: &Value) -> bool {
        let matters = |name: &str, value: &Value| match (name, value) {
            (name, _) if HOW_NOT_WHAT.contains(&name) => false,
            ("endpoints", Value::List(blocks)) => blocks.iter().any(|block| match block {
                Value::Map(urls) => urls.iter().any(|(name, url)| is_called(name) && !url.is_wholly_known()),
                other => !other.is_wholly_known(),
            }),
            (_, value) => !value.is_wholly_known(),
        };
        match config {
            Value::Map(arguments) => !arguments.iter().any(|(name, value)| matters(name, value)),
            other => other.is_wholly_known(),
        }
    }

    /// Decodes what is known of a block. Unknown values read as absent, unknown elements are left out.
    pub(crate) fn known_part(config: &Value) -> (Option<ProviderBlock>, Vec<Problem>) {
        let mut problems = Vec::new();
        let block = ProviderBlock::decode(&without_unknown_elements(config), &AttributePath::root(), &mut problems);
        (block, problems)
    }
}

/// Arguments that change how calls are sent, or nothing at all.
const HOW_NOT_WHAT: &[&str] = &[
    "max_retries",
    "retry_mode",
    "token_bucket_rate_limiter_capacity",
    "user_agent",
    "skip_region_validation",
    "s3_use_path_style",
    "s3_us_east_1_regional_endpoint",
];

fn without_unknown_elements(value: &Value) -> Value {
    match value {
        Value::Unknown => Value::Null,
        Value::List(items) => {
            Value::List(items.iter().filter(|item| !item.is_unknown()).map(without_unknown_elements).collect())
        }
        Value::Map(entries) => Value::map(
            entries
                .iter()
                .filter(|(_, value)| !value.is_unknown())
                .map(|(key, value)| (key.clone(), without_unknown_elements(value))),
        ),
        other => other.clone(),
    }
}

impl FromValue for Secret {
    fn attribute_type() -> AttributeType {
        AttributeType::Plain(Type::String)
    }

    fn from_value(value: &Value, path: &AttributePath, problems: &mut Vec<Problem>) -> Option<Secret> {
        String::from_value(value, path, problems).map(Secret::new)
    }
}
