//! The test of each argument of the provider block and of each source of credentials. A new argument needs a line here,
//! and therefore a test.

use std::collections::BTreeSet;
use std::path::Path;

use fgw::plugin::Provider;
use fgw::plugin::schema::{Attribute, AttributeType};
use fgw::provider::Fgw;

/// Every argument of the provider block, with a test that contains its name.
const ARGUMENTS: &[(&str, &str)] = &[
    ("region", "region_and_keys_precedence_is_block_environment_profile"),
    ("profile", "profile_of_the_block_or_the_environment_must_exist"),
    ("access_key", "region_and_keys_precedence_is_block_environment_profile"),
    ("secret_key", "no_secret_is_in_state_plan_log_or_message"),
    ("token", "no_secret_is_in_state_plan_log_or_message"),
    ("shared_config_files", "tilde_in_file_names_is_the_home_directory"),
    ("shared_credentials_files", "tilde_in_file_names_is_the_home_directory"),
    ("assume_role.role_arn", "two_aliases_use_two_accounts_and_a_chain_of_roles"),
    ("assume_role.session_name", "two_aliases_use_two_accounts_and_a_chain_of_roles"),
    ("assume_role.external_id", "two_aliases_use_two_accounts_and_a_chain_of_roles"),
    ("assume_role.duration", "two_aliases_use_two_accounts_and_a_chain_of_roles"),
    ("assume_role.policy", "two_aliases_use_two_accounts_and_a_chain_of_roles"),
    ("assume_role.policy_arns", "two_aliases_use_two_accounts_and_a_chain_of_roles"),
    ("assume_role.tags", "two_aliases_use_two_accounts_and_a_chain_of_roles"),
    ("assume_role.transitive_tag_keys", "two_aliases_use_two_accounts_and_a_chain_of_roles"),
    ("assume_role.source_identity", "two_aliases_use_two_accounts_and_a_chain_of_roles"),
    ("assume_role_with_web_identity.role_arn", "roles_follow_an_inline_web_identity_token"),
    ("assume_role_with_web_identity.session_name", "web_identity_token_needs_no_other_credentials"),
    ("assume_role_with_web_identity.duration", "web_identity_token_of_the_environment_needs_no_block"),
    ("assume_role_with_web_identity.policy", "web_identity_token_of_the_environment_needs_no_block"),
    ("assume_role_with_web_identity.policy_arns", "web_identity_token_of_the_environment_needs_no_block"),
    ("assume_role_with_web_identity.web_identity_token", "roles_follow_an_inline_web_identity_token"),
    ("assume_role_with_web_identity.web_identity_token_file", "web_identity_token_needs_no_other_credentials"),
    ("sts_region", "profile_role_chains_use_the_sts_endpoint_and_region"),
    ("allowed_account_ids", "disallowed_account_is_rejected_with_both_account_ids"),
    ("forbidden_account_ids", "disallowed_account_is_rejected_with_both_account_ids"),
    ("allow_protected_deletion", "a_deposed_network_is_deleted_only_if_the_provider_block_allows_it"),
    ("default_tags.tags", "default_tags_are_on_every_object_and_follow_changes"),
    ("ignore_tags.keys", "ignored_tags_are_neither_set_nor_removed_nor_compared"),
    ("ignore_tags.key_prefixes", "ignored_tags_are_neither_set_nor_removed_nor_compared"),
    ("endpoints", "endpoint_precedence_is_block_then_service_then_global"),
    ("use_fips_endpoint", "fips_and_dual_stack_are_set_by_block_environment_or_profile"),
    ("use_dualstack_endpoint", "fips_and_dual_stack_are_set_by_block_environment_or_profile"),
    ("max_retries", "retries_are_set_by_block_environment_or_profile"),
    ("retry_mode", "retries_are_set_by_block_environment_or_profile"),
    ("token_bucket_rate_limiter_capacity", "retries_are_set_by_block_environment_or_profile"),
    ("custom_ca_bundle", "tls_intercepting_proxy_is_trusted_by_its_authority"),
    ("insecure", "untrusted_certificate_is_rejected_unless_insecure_is_set"),
    ("http_proxy", "http_uses_a_proxy_except_for_exempt_hosts"),
    ("https_proxy", "tls_intercepting_proxy_is_trusted_by_its_authority"),
    ("no_proxy", "http_uses_a_proxy_except_for_exempt_hosts"),
    ("skip_metadata_api_check", "metadata_service_is_not_called_if_disabled_or_not_needed"),
    ("ec2_metadata_service_endpoint", "metadata_endpoint_precedence_is_block_environment_profile"),
    ("ec2_metadata_service_endpoint_mode", "the_metadata_service_is_called_over_ipv4_or_ipv6"),
    ("skip_credentials_validation", "sts_is_never_called_if_both_checks_are_skipped"),
    ("skip_requesting_account_id", "sts_is_never_called_if_both_checks_are_skipped"),
    ("skip_region_validation", "localstack_block_for_hashicorp_aws_is_accepted"),
    ("user_agent", "user_agent_names_provider_terraform_and_user_additions"),
    ("s3_use_path_style", "localstack_block_for_hashicorp_aws_is_accepted"),
    ("s3_us_east_1_regional_endpoint", "localstack_block_for_hashicorp_aws_is_accepted"),
];

/// The sources of credentials and settings other than the block, with a test that contains the word.
const SOURCES: &[(&str, &str)] = &[
    ("AWS_ACCESS_KEY_ID", "region_and_keys_precedence_is_block_environment_profile"),
    ("AWS_REGION", "region_and_keys_precedence_is_block_environment_profile"),
    ("AWS_DEFAULT_REGION", "region_and_keys_precedence_is_block_environment_profile"),
    ("has no region", "missing_region_or_credentials_error_lists_the_sources"),
    ("AWS_PROFILE", "profile_of_the_block_or_the_environment_must_exist"),
    ("AWS_DEFAULT_PROFILE", "profile_of_the_block_or_the_environment_must_exist"),
    ("credential_process", "credential_process_returns_temporary_keys_or_an_error"),
    ("source_profile", "profile_role_chains_use_the_sts_endpoint_and_region"),
    ("credential_source", "profile_role_chains_use_the_sts_endpoint_and_region"),
    ("aws sso login", "error_for_an_ended_sign_in_names_the_command"),
    ("renewed", "expired_sign_in_is_renewed_with_its_refresh_token"),
    ("AWS_WEB_IDENTITY_TOKEN_FILE", "web_identity_token_of_the_environment_needs_no_block"),
    ("AWS_ROLE_ARN", "web_identity_token_of_the_environment_needs_no_block"),
    ("AWS_ROLE_SESSION_NAME", "web_identity_token_of_the_environment_needs_no_block"),
    ("AWS_CONTAINER_CREDENTIALS_FULL_URI", "container_credentials_need_a_token_and_bypass_proxies"),
    ("AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE", "container_credentials_need_a_token_and_bypass_proxies"),
    ("AWS_EC2_METADATA_SERVICE_ENDPOINT", "metadata_endpoint_precedence_is_block_environment_profile"),
    ("AWS_EC2_METADATA_DISABLED", "metadata_service_is_not_called_if_disabled_or_not_needed"),
    ("AWS_ENDPOINT_URL", "endpoint_precedence_is_block_then_service_then_global"),
    ("AWS_ENDPOINT_URL_EC2", "endpoint_precedence_is_block_then_service_then_global"),
    ("AWS_CA_BUNDLE", "tls_intercepting_proxy_is_trusted_by_its_authority"),
    ("HTTPS_PROXY", "tls_intercepting_proxy_is_trusted_by_its_authority"),
    ("HTTP_PROXY", "http_uses_a_proxy_except_for_exempt_hosts"),
    ("NO_PROXY", "http_uses_a_proxy_except_for_exempt_hosts"),
    ("AWS_USE_FIPS_ENDPOINT", "fips_and_dual_stack_are_set_by_block_environment_or_profile"),
    ("AWS_USE_DUALSTACK_ENDPOINT", "fips_and_dual_stack_are_set_by_block_environment_or_profile"),
    ("AWS_MAX_ATTEMPTS", "retries_are_set_by_block_environment_or_profile"),
    ("AWS_RETRY_MODE", "retries_are_set_by_block_environment_or_profile"),
    ("TF_APPEND_USER_AGENT", "user_agent_names_provider_terraform_and_user_additions"),
    ("TF_AWS_DEFAULT_TAGS_", "default_tags_are_on_every_object_and_follow_changes"),
    ("TF_AWS_IGNORE_TAGS_KEYS", "default_tags_in_the_block_override_the_environment"),
    ("TF_AWS_IGNORE_TAGS_KEY_PREFIXES", "default_tags_in_the_block_override_the_environment"),
    ("alias", "two_aliases_use_two_accounts_and_a_chain_of_roles"),
];

/// The arguments of a block, those of nested blocks as `block.argument`. `endpoints` counts as one argument.
fn arguments(attributes: &[Attribute], before: &str) -> Vec<String> {
    let mut names = Vec::new();
    for attribute in attributes {
        let name = format!("{before}{}", attribute.name);
        match &attribute.kind {
            AttributeType::Nested(_, inner) if name != "endpoints" => {
                names.extend(arguments(inner, &format!("{name}.")));
            }
            _ => names.push(name),
        }
    }
    names
}

/// Appends the text of every Rust file of a folder that may contain such a test.
fn sources(folder: &Path, text: &mut String) {
    for entry in std::fs::read_dir(folder).expect("a folder of the project can be read") {
        let path = entry.expect("a folder of the project can be read").path();
        if path.is_dir() {
            sources(&path, text);
        } else if path.extension().is_some_and(|end| end == "rs") && !path.ends_with("provider_block/table.rs") {
            *text += &std::fs::read_to_string(&path).expect("a source file can be read");
        }
    }
}

/// The text of a test, up to a closing brace at the beginning of a line.
fn body<'a>(text: &'a str, test: &str) -> Option<&'a str> {
    let rest = &text[text.find(&format!("fn {test}() {{"))?..];
    rest.split_once("\n}\n").map(|(body, _)| body)
}

#[test]
fn every_argument_and_source_has_a_test_that_names_it() {
    let known: BTreeSet<String> = arguments(&Fgw::default().schema().attributes, "").into_iter().collect();
    let listed: BTreeSet<String> = ARGUMENTS.iter().map(|(argument, _)| (*argument).to_owned()).collect();
    let without_test: Vec<&String> = known.difference(&listed).collect();
    assert!(without_test.is_empty(), "add a test for these arguments to ARGUMENTS: {without_test:?}");
    let unknown: Vec<&String> = listed.difference(&known).collect();
    assert!(unknown.is_empty(), "the provider block has no such arguments: {unknown:?}");

    let top = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut text = String::new();
    for folder in ["src/aws", "src/provider", "tests/suite/provider_block"] {
        sources(&top.join(folder), &mut text);
    }
    for file in ["tests/suite/provider_block.rs", "tests/suite/network/protected.rs"] {
        text += &std::fs::read_to_string(top.join(file)).expect("a source file can be read");
    }
    for (what, test) in ARGUMENTS.iter().chain(SOURCES) {
        let name = what.rsplit('.').next().unwrap_or(what);
        let body = body(&text, test).unwrap_or_else(|| panic!("{test}, the test of {what}, does not exist"));
        assert!(body.contains(name), "{test}, the test of {what}, does not contain {name}");
    }
}
