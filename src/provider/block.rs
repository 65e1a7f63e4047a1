//! The provider block. Names and syntax are those of hashicorp/aws, so that an existing block can be copied.

use std::collections::{BTreeMap, BTreeSet};

use super::endpoints::{Endpoints, is_called};
use crate::aws::config::settings::Secret;
use crate::model::{IgnoreTags, Tags};
use crate::plugin::{AttributePath, AttributeType, Check, FromValue, Input, Nested, Problem, Type, Value};

crate::attributes! {
    /// The provider block as configured. An absent block and an empty one are equivalent.
    pub struct ProviderBlock {
        /// AWS Region, such as `eu-central-1`. Defaults to `AWS_REGION`, `AWS_DEFAULT_REGION`, or the profile's
        /// `region`.
        region: Option<String> = optional(),
        /// Profile in the shared configuration and credentials files. Defaults to `AWS_PROFILE`, `AWS_DEFAULT_PROFILE`,
        /// or `default`. A profile that is set here takes precedence over credentials in the environment. A profile
        /// that is set here or in the environment must exist.
        profile: Option<String> = optional(),
        /// Access key ID. Requires `secret_key`. Without it, the provider searches for credentials in this order:
        /// environment, profile (with roles, IAM Identity Center or an external process), web identity token,
        /// container, EC2 instance.
        access_key: Option<String> = optional(),
        /// Secret access key that belongs to `access_key`.
        secret_key: Option<Secret> = optional().sensitive(),
        /// Session token that belongs to a temporary `access_key`.
        token: Option<Secret> = optional().sensitive(),
        /// Paths of shared configuration files. Later files take precedence over earlier ones. `~/` at the start of a
        /// path is the home directory. Defaults to `AWS_CONFIG_FILE`, or `~/.aws/config`.
        shared_config_files: Option<Vec<String>> = optional(),
        /// Paths of shared credentials files. Later files take precedence over earlier ones. `~/` at the start of a
        /// path is the home directory. Defaults to `AWS_SHARED_CREDENTIALS_FILE`, or `~/.aws/credentials`.
        shared_credentials_files: Option<Vec<String>> = optional(),
        /// Roles to assume in this order, each with the credentials of the previous one.
        assume_role: Option<Vec<AssumeRole>> = block(),
        /// Role to assume with a token of an identity provider, such as the OIDC token of a CI system. It is assumed
        /// before the roles of `assume_role`. If `AWS_ROLE_ARN` and `AWS_WEB_IDENTITY_TOKEN_FILE` are set, the block
        /// may be empty. In that case, the block may also be omitted, unless the provider block, the environment or the
        /// profile contains credentials, which would take precedence.
        assume_role_with_web_identity: Option<Vec<AssumeRoleWithWebIdentity>> = block(),
        /// Region of the STS endpoint, which the provider calls to assume roles, including those of profiles, and to
        /// read the account ID. Defaults to `region`.
        sts_region: Option<String> = optional(),
        /// IDs of the AWS accounts that the provider may use. The provider rejects any other account before it reads or
        /// changes anything. Conflicts with `forbidden_account_ids`.
        allowed_account_ids: Option<Vec<String>> = optional(),
        /// IDs of the AWS accounts that the provider must not use, such as `["123456789012"]`. Conflicts with
        /// `allowed_account_ids`.
        forbidden_account_ids: Option<Vec<String>> = optional(),
        /// Tags for every object that supports tags. Tags of a resource override them. The environment variables
        /// `TF_AWS_DEFAULT_TAGS_<key>` add further tags.
        default_tags: Input<Option<Vec<Input<DefaultTags>>>> = block(),
        /// Tags that the provider ignores: it does not set, remove or read them, even if `default_tags` contains them.
        /// The environment variables
        /// `TF_AWS_IGNORE_TAGS_KEYS` and `TF_AWS_IGNORE_TAGS_KEY_PREFIXES` add further keys and prefixes, separated by
        /// commas.
        ignore_tags: Input<Option<Vec<Input<IgnoreTagsBlock>>>> = block(),
        /// IDs of the VPCs and APIs whose objects may be deleted although `protected_objects` of the resource protects
        /// them, such as `["vpc-0123456789abcdef0"]`. It is the only way if the value in state can no longer be
        /// changed, for example for a deposed object. Remove the ID after the apply.
        allow_protected_deletion: Option<BTreeSet<String>> = optional(),
        /// Custom endpoint URLs by service. They take precedence over `AWS_ENDPOINT_URL_<SERVICE>`, `AWS_ENDPOINT_URL`
        /// and the profile's `endpoint_url`. Only these variables and the profile can set the endpoints of IAM Identity
        /// Center.
        endpoints: Option<Vec<Endpoints>> = block(),
        /// Whether to use FIPS endpoints, whose cryptography is validated according to FIPS 140. Defaults to
        /// `AWS_USE_FIPS_ENDPOINT`, or the profile's `use_fips_endpoint`.
        use_fips_endpoint: Option<bool> = optional(),
        /// Whether to use endpoints that support both IPv4 and IPv6. Defaults to `AWS_USE_DUALSTACK_ENDPOINT`, or the
        /// profile's `use_dualstack_endpoint`.
        use_dualstack_endpoint: Option<bool> = optional(),
        /// Maximum number of attempts, including the first one, for a call that AWS throttles or that fails
        /// temporarily, for example because of the connection. 0 and 1 both mean one attempt. Calls to STS are limited
        /// to 4 attempts. Defaults to `AWS_MAX_ATTEMPTS`, or the profile's `max_attempts`. If neither is set, throttled
        /// calls have 25 attempts, and calls that fail otherwise have 8, or 3 if an emulator does not support them.
        max_retries: Option<i64> = optional().check(Check::between(0, 1000)),
        /// Retry mode: `standard`, or `adaptive`, which also reduces the rate of calls when AWS throttles them.
        /// Defaults to `AWS_RETRY_MODE`, the profile's `retry_mode`, or `standard`.
        retry_mode: Option<String> = optional().check(Check::one_of(&["standard", "adaptive"])),
        /// Capacity for retries that are pending at the same time, separately for each service. A retry uses 5 units of
        /// the capacity, or 10 after a timeout. By default, there is no limit.
        token_bucket_rate_limiter_capacity: Option<i64> = optional().check(Check::between(1, 1_000_000)),
        /// Path of a PEM file with the CA certificates to trust instead of those of the system, for example for a proxy
        /// that intercepts TLS. `~/` at the start of the path is the home directory. Defaults to `AWS_CA_BUNDLE`, or
        /// the profile's `ca_bundle`.
        custom_ca_bundle: Option<String> = optional(),
        /// Whether to disable TLS certificate verification, regardless of `custom_ca_bundle`. Anyone on the network
        /// path can then read and modify all traffic. Defaults to `false`.
        insecure: Option<bool> = optional(),
        /// URL of a proxy for `http` endpoints, and for `https` endpoints if neither `https_proxy` nor `HTTPS_PROXY` is
        /// set. Defaults to `HTTP_PROXY`.
        http_proxy: Option<String> = optional(),
        /// URL of a proxy for `https` endpoints. Defaults to `HTTPS_PROXY`.
        https_proxy: Option<String> = optional(),
        /// Hosts, domains and address ranges, separated by commas, to which the provider connects without a proxy.
        /// Defaults to `NO_PROXY`. The provider never uses a proxy for the local host and for the metadata services of
        /// instances and containers.
        no_proxy: Option<String> = optional(),
        /// Whether to skip the EC2 instance metadata service when searching for credentials.
        /// `AWS_EC2_METADATA_DISABLED=true` has the same effect. Defaults to `false`.
        skip_metadata_api_check: Option<bool> = optional(),
        /// URL of the EC2 instance metadata service. Defaults to `AWS_EC2_METADATA_SERVICE_ENDPOINT`, or the profile's
        /// `ec2_metadata_service_endpoint`.
        ec2_metadata_service_endpoint: Option<String> = optional(),
        /// IP version for calls to the EC2 instance metadata service if no endpoint is set: `IPv4` or `IPv6`. Defaults
        /// to `AWS_EC2_METADATA_SERVICE_ENDPOINT_MODE`, the profile's `ec2_metadata_service_endpoint_mode`, or `IPv4`.
        ec2_metadata_service_endpoint_mode: Option<String> = optional().check(Check::one_of(&["IPv4", "IPv6"])),
        /// Whether to skip the validation of the credentials when the provider starts. It takes effect only if
        /// `skip_requesting_account_id` is also `true`, because a single call does both. Defaults to `false`.
        skip_credentials_validation: Option<bool> = optional(),
        /// Whether to skip reading the account ID when the provider starts. It takes effect only if
        /// `skip_credentials_validation` is also `true`, because a single call does both. Defaults to `false`.
        skip_requesting_account_id: Option<bool> = optional(),
        /// Whether to accept a Region name that does not have the usual form, such as that of an emulator. Defaults to
        /// `false`.
        skip_region_validation: Option<bool> = optional(),
        /// Products to add to the User-Agent header, such as `my-pipeline/1.2`. The environment variable
        /// `TF_APPEND_USER_AGENT` adds further products.
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
        /// ARN of the role, such as `arn:aws:iam::123456789012:role/deploy`. If STS denies it, the provider tries again
        /// for 20 seconds, because the run may have created the role just before, unless a policy denies it explicitly.
        role_arn: Option<String> = required(),
        /// Name of the session, which appears in CloudTrail. By default, a name is generated.
        session_name: Option<String> = optional(),
        /// External ID that the owner of the role requires in its trust policy.
        external_id: Option<String> = optional(),
        /// Duration of the credentials, from 15 minutes to 12 hours, such as `1h30m`. The provider renews them as long
        /// as it needs them.
        duration: Option<String> = optional(),
        /// IAM policy in JSON that further restricts the permissions of the session.
        policy: Option<String> = optional(),
        /// ARNs of managed policies that further restrict the permissions of the session.
        policy_arns: Option<Vec<String>> = optional(),
        /// Tags of the session.
        tags: Option<BTreeMap<String, String>> = optional(),
        /// Keys of the session tags that are passed on when this session assumes another role.
        transitive_tag_keys: Option<Vec<String>> = optional(),
        /// Source identity of the session, which CloudTrail shows for all calls of this session and of sessions that it
        /// starts.
        source_identity: Option<String> = optional(),
    }
}

crate::attributes! {
    /// A role to assume with a token of an identity provider.
    #[derive(Default)]
    pub struct AssumeRoleWithWebIdentity {
        /// ARN of the role. Defaults to `AWS_ROLE_ARN`. If STS denies it, the provider tries again for 20 seconds.
        role_arn: Option<String> = optional(),
        /// Name of the session. Defaults to `AWS_ROLE_SESSION_NAME`, or to a generated name.
        session_name: Option<String> = optional(),
        /// Duration of the credentials, from 15 minutes to 12 hours, such as `1h`.
        duration: Option<String> = optional(),
        /// IAM policy in JSON that further restricts the permissions of the session.
        policy: Option<String> = optional(),
        /// ARNs of managed policies that further restrict the permissions of the session.
        policy_arns: Option<Vec<String>> = optional(),
        /// Token of the identity provider. Conflicts with `web_identity_token_file`.
        web_identity_token: Option<Secret> = optional().sensitive(),
        /// Path of a file that contains the token. The provider reads the file each time it assumes the role. `~/` at
        /// the start of the path is the home directory. Defaults to `AWS_WEB_IDENTITY_TOKEN_FILE`.
        web_identity_token_file: Option<String> = optional(),
    }
}

crate::attributes! {
    /// Tags for all objects.
    pub struct DefaultTags {
        /// Tags by key, such as `{ Owner = "platform" }`.
        tags: Input<Option<BTreeMap<String, Input<String>>>> = optional(),
    }
}

crate::attributes! {
    /// Tags that the provider ignores.
    pub struct IgnoreTagsBlock {
        /// Keys of the tags to ignore, such as `LastScanned`.
        keys: Input<Option<Vec<Input<String>>>> = optional(),
        /// Prefixes of the keys of the tags to ignore, such as `kubernetes.io/`.
        key_prefixes: Input<Option<Vec<Input<String>>>> = optional(),
    }
}

impl ProviderBlock {
    /// The block `assume_role_with_web_identity`, if any.
    pub(crate) fn web_identity(&self) -> Option<&AssumeRoleWithWebIdentity> {
        self.assume_role_with_web_identity.as_ref()?.first()
    }

    /// The roles to assume, in order.
    pub(crate) fn roles(&self) -> &[AssumeRole] {
        self.assume_role.as_deref().unwrap_or_default()
    }

    /// All configured endpoints: path, name and URL.
    pub(crate) fn endpoints_by_name(&self) -> impl Iterator<Item = (AttributePath, &str, &str)> {
        let blocks = self.endpoints.iter().flatten().enumerate();
        blocks.flat_map(|(index, block)| {
            let path = AttributePath::new("endpoints").index(index);
            block.entries().map(move |(name, url)| (path.attribute(name), name, url))
        })
    }

    /// The tags of the block, without those of the environment.
    pub(crate) fn tags(&self) -> Tags {
        let mut all = BTreeMap::new();
        let Input::Known(blocks) = &self.default_tags else { return Input::Unknown };
        for block in blocks.iter().flatten() {
            let Some(Input::Known(tags)) = block.known().map(|block| &block.tags) else { return Input::Unknown };
            all.extend(tags.clone().unwrap_or_default());
        }
        Input::Known(all)
    }

    /// The keys and prefixes of the block, without those of the environment.
    pub(crate) fn ignored(&self) -> IgnoreTags {
        let mut ignored = IgnoreTags::default();
        let Input::Known(blocks) = &self.ignore_tags else { return IgnoreTags { may_have_more: true, ..ignored } };
        for block in blocks.iter().flatten() {
            let Input::Known(block) = block else {
                ignored.may_have_more = true;
                continue;
            };
            for (texts, known) in [(&block.keys, &mut ignored.keys), (&block.key_prefixes, &mut ignored.key_prefixes)] {
                let given = texts.known().map(|texts| texts.as_deref().unwrap_or_default());
                ignored.may_have_more |= given.is_none_or(|given| given.iter().any(|text| !text.is_known()));
                known.extend(given.into_iter().flatten().filter_map(Input::known).cloned());
            }
        }
        ignored
    }

    /// Whether all arguments are known that determine the endpoints, the credentials and the set of objects. A plan can
    /// read AWS even if other arguments are known only after apply.
    pub(crate) fn is_decided(config: &Value) -> bool {
        let matters = |name: &str, value: &Value| match (name, value) {
            (name, _) if MAY_BE_UNKNOWN.contains(&name) => false,
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

    /// Decodes the known part of a block. Unknown values are decoded as absent, and unknown elements are omitted. Tags
    /// keep both.
    pub(crate) fn known_part(config: &Value) -> (Option<ProviderBlock>, Vec<Problem>) {
        let (mut problems, mut known) = (Vec::new(), without_unknown_elements(config));
        for name in ["default_tags", "ignore_tags"] {
            known.set(name, config.get(name).clone());
        }
        let block = ProviderBlock::decode(&known, &AttributePath::root(), &mut problems);
        (block, problems)
    }
}

/// Arguments that change only tags or the way in which calls are sent, or have no effect.
const MAY_BE_UNKNOWN: &[&str] = &[
    "default_tags",
    "ignore_tags",
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
