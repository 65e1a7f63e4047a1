//! Which test is about which argument of the provider block and which source of credentials. A new argument needs a
//! line here, and so a test.

use std::collections::BTreeSet;
use std::path::Path;

use fgw::plugin::Provider;
use fgw::plugin::schema::{Attribute, AttributeType};
use fgw::provider::Fgw;

/// Every argument of the provider block, with a test whose text has its name.
const ARGUMENTS: &[(&str, &str)] = &[
    ("region", "region_and_keys_come_from_the_block_then_the_environment_then_the_profile"),
    ("profile", "a_profile_is_named_by_the_block_or_the_environment_and_must_exist"),
    ("access_key", "region_and_keys_come_from_the_block_then_the_environment_then_the_profile"),
    ("secret_key", "no_secret_is_in_state_plan_log_or_message"),
    ("token", "no_secret_is_in_state_plan_log_or_message"),
    ("shared_config_files", "files_in_the_home_directory_may_be_written_with_a_tilde"),
    ("shared_credentials_files", "files_in_the_home_directory_may_be_written_with_a_tilde"),
    ("assume_role.role_arn", "two_aliases_work_in_two_accounts_and_regions_one_of_them_through_a_chain_of_roles"),
    ("assume_role.session_name", "two_aliases_work_in_two_accounts_and_regions_one_of_them_through_a_chain_of_roles"),
    ("assume_role.external_id", "two_aliases_work_in_two_accounts_and_regions_one_of_them_through_a_chain_of_roles"),
    ("assume_role.duration", "two_aliases_work_in_two_accounts_and_regions_one_of_them_through_a_chain_of_roles"),
    ("assume_role.policy", "two_aliases_work_in_two_accounts_and_regions_one_of_them_through_a_chain_of_roles"),
    ("assume_role.policy_arns", "two_aliases_work_in_two_accounts_and_regions_one_of_them_through_a_chain_of_roles"),
    ("assume_role.tags", "two_aliases_work_in_two_accounts_and_regions_one_of_them_through_a_chain_of_roles"),
    (
        "assume_role.transitive_tag_keys",
        "two_aliases_work_in_two_accounts_and_regions_one_of_them_through_a_chain_of_roles",
    ),
    (
        "assume_role.source_identity",
        "two_aliases_work_in_two_accounts_and_regions_one_of_them_through_a_chain_of_roles",
    ),
    (
        "assume_role_with_web_identity.role_arn",
        "a_web_identity_is_followed_by_roles_and_its_token_may_stand_in_the_block",
    ),
    ("assume_role_with_web_identity.session_name", "a_web_identity_token_gives_credentials_without_any_other"),
    ("assume_role_with_web_identity.duration", "a_web_identity_token_of_the_environment_needs_no_line_in_the_block"),
    ("assume_role_with_web_identity.policy", "a_web_identity_token_of_the_environment_needs_no_line_in_the_block"),
    ("assume_role_with_web_identity.policy_arns", "a_web_identity_token_of_the_environment_needs_no_line_in_the_block"),
    (
        "assume_role_with_web_identity.web_identity_token",
        "a_web_identity_is_followed_by_roles_and_its_token_may_stand_in_the_block",
    ),
    (
        "assume_role_with_web_identity.web_identity_token_file",
        "a_web_identity_token_gives_credentials_without_any_other",
    ),
    ("sts_region", "a_chain_of_two_roles_in_profiles_is_followed_with_the_endpoint_and_region_of_sts"),
    ("allowed_account_ids", "an_account_that_may_not_be_worked_on_is_refused_with_both_numbers"),
    ("forbidden_account_ids", "an_account_that_may_not_be_worked_on_is_refused_with_both_numbers"),
    ("default_tags.tags", "default_tags_of_block_and_environment_are_on_every_object_and_follow_changes"),
    ("ignore_tags.keys", "ignored_tags_are_neither_set_nor_removed_nor_looked_at"),
    ("ignore_tags.key_prefixes", "ignored_tags_are_neither_set_nor_removed_nor_looked_at"),
    ("endpoints", "an_endpoint_of_the_block_goes_before_that_of_its_service_and_that_before_the_one_for_all"),
    ("use_fips_endpoint", "fips_and_dual_stack_endpoints_are_asked_for_by_block_environment_or_profile"),
    ("use_dualstack_endpoint", "fips_and_dual_stack_endpoints_are_asked_for_by_block_environment_or_profile"),
    ("max_retries", "how_often_and_how_a_call_is_repeated_is_set_by_block_environment_or_profile"),
    ("retry_mode", "how_often_and_how_a_call_is_repeated_is_set_by_block_environment_or_profile"),
    (
        "token_bucket_rate_limiter_capacity",
        "how_often_and_how_a_call_is_repeated_is_set_by_block_environment_or_profile",
    ),
    ("custom_ca_bundle", "a_proxy_that_opens_tls_is_passed_with_the_certificate_of_its_authority"),
    ("insecure", "a_certificate_that_nobody_vouches_for_is_refused_unless_insecure_says_otherwise"),
    ("http_proxy", "http_goes_through_a_proxy_but_not_to_hosts_that_need_none"),
    ("https_proxy", "a_proxy_that_opens_tls_is_passed_with_the_certificate_of_its_authority"),
    ("no_proxy", "http_goes_through_a_proxy_but_not_to_hosts_that_need_none"),
    ("skip_metadata_api_check", "the_metadata_service_is_not_asked_where_it_must_not_be_or_need_not_be"),
    (
        "ec2_metadata_service_endpoint",
        "the_metadata_service_is_asked_where_the_block_then_the_environment_then_the_profile_say",
    ),
    ("ec2_metadata_service_endpoint_mode", "the_metadata_service_has_an_address_of_each_version_of_ip"),
    ("skip_credentials_validation", "where_both_checks_are_skipped_sts_is_never_asked_and_the_network_is_made"),
    ("skip_requesting_account_id", "where_both_checks_are_skipped_sts_is_never_asked_and_the_network_is_made"),
    ("skip_region_validation", "a_block_for_localstack_is_taken_as_it_is_written_for_hashicorp_aws"),
    ("user_agent", "every_call_names_the_provider_terraform_and_what_the_user_adds"),
    ("s3_use_path_style", "a_block_for_localstack_is_taken_as_it_is_written_for_hashicorp_aws"),
    ("s3_us_east_1_regional_endpoint", "a_block_for_localstack_is_taken_as_it_is_written_for_hashicorp_aws"),
];

/// What gives credentials or settings beside the block, with a test whose text has this word.
const SOURCES: &[(&str, &str)] = &[
    ("AWS_ACCESS_KEY_ID", "region_and_keys_come_from_the_block_then_the_environment_then_the_profile"),
    ("AWS_REGION", "region_and_keys_come_from_the_block_then_the_environment_then_the_profile"),
    ("AWS_DEFAULT_REGION", "region_and_keys_come_from_the_block_then_the_environment_then_the_profile"),
    ("has no region", "without_region_or_credentials_the_error_says_where_they_were_looked_for"),
    ("AWS_PROFILE", "a_profile_is_named_by_the_block_or_the_environment_and_must_exist"),
    ("AWS_DEFAULT_PROFILE", "a_profile_is_named_by_the_block_or_the_environment_and_must_exist"),
    ("credential_process", "a_process_gives_temporary_keys_or_says_why_not"),
    ("source_profile", "a_chain_of_two_roles_in_profiles_is_followed_with_the_endpoint_and_region_of_sts"),
    ("credential_source", "a_chain_of_two_roles_in_profiles_is_followed_with_the_endpoint_and_region_of_sts"),
    ("aws sso login", "an_ended_sign_in_says_which_command_renews_it"),
    ("renewed", "a_sign_in_that_can_be_renewed_is_renewed_without_a_person"),
    ("AWS_WEB_IDENTITY_TOKEN_FILE", "a_web_identity_token_of_the_environment_needs_no_line_in_the_block"),
    ("AWS_ROLE_ARN", "a_web_identity_token_of_the_environment_needs_no_line_in_the_block"),
    ("AWS_ROLE_SESSION_NAME", "a_web_identity_token_of_the_environment_needs_no_line_in_the_block"),
    (
        "AWS_CONTAINER_CREDENTIALS_FULL_URI",
        "a_container_gives_credentials_to_who_shows_its_token_and_never_through_a_proxy",
    ),
    (
        "AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE",
        "a_container_gives_credentials_to_who_shows_its_token_and_never_through_a_proxy",
    ),
    (
        "AWS_EC2_METADATA_SERVICE_ENDPOINT",
        "the_metadata_service_is_asked_where_the_block_then_the_environment_then_the_profile_say",
    ),
    ("AWS_EC2_METADATA_DISABLED", "the_metadata_service_is_not_asked_where_it_must_not_be_or_need_not_be"),
    ("AWS_ENDPOINT_URL", "an_endpoint_of_the_block_goes_before_that_of_its_service_and_that_before_the_one_for_all"),
    (
        "AWS_ENDPOINT_URL_EC2",
        "an_endpoint_of_the_block_goes_before_that_of_its_service_and_that_before_the_one_for_all",
    ),
    ("AWS_CA_BUNDLE", "a_proxy_that_opens_tls_is_passed_with_the_certificate_of_its_authority"),
    ("HTTPS_PROXY", "a_proxy_that_opens_tls_is_passed_with_the_certificate_of_its_authority"),
    ("HTTP_PROXY", "http_goes_through_a_proxy_but_not_to_hosts_that_need_none"),
    ("NO_PROXY", "http_goes_through_a_proxy_but_not_to_hosts_that_need_none"),
    ("AWS_USE_FIPS_ENDPOINT", "fips_and_dual_stack_endpoints_are_asked_for_by_block_environment_or_profile"),
    ("AWS_USE_DUALSTACK_ENDPOINT", "fips_and_dual_stack_endpoints_are_asked_for_by_block_environment_or_profile"),
    ("AWS_MAX_ATTEMPTS", "how_often_and_how_a_call_is_repeated_is_set_by_block_environment_or_profile"),
    ("AWS_RETRY_MODE", "how_often_and_how_a_call_is_repeated_is_set_by_block_environment_or_profile"),
    ("TF_APPEND_USER_AGENT", "every_call_names_the_provider_terraform_and_what_the_user_adds"),
    ("TF_AWS_DEFAULT_TAGS_", "default_tags_of_block_and_environment_are_on_every_object_and_follow_changes"),
    ("TF_AWS_IGNORE_TAGS_KEYS", "default_tags_of_the_block_go_before_the_environment"),
    ("TF_AWS_IGNORE_TAGS_KEY_PREFIXES", "default_tags_of_the_block_go_before_the_environment"),
    ("alias", "two_aliases_work_in_two_accounts_and_regions_one_of_them_through_a_chain_of_roles"),
];

/// The arguments of a block, those of its blocks as `block.argument`. What `endpoints` may hold is one argument.
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

/// The text of every Rust file that may hold such a test.
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

/// The text of a test: it ends where a line ends it that stands as far left as its first one.
fn body<'a>(text: &'a str, test: &str) -> Option<&'a str> {
    let rest = &text[text.find(&format!("fn {test}() {{"))?..];
    rest.split_once("\n}\n").map(|(body, _)| body)
}

#[test]
fn every_argument_and_every_source_has_a_test_that_names_it() {
    let known: BTreeSet<String> = arguments(&Fgw::default().schema().attributes, "").into_iter().collect();
    let listed: BTreeSet<String> = ARGUMENTS.iter().map(|(argument, _)| (*argument).to_owned()).collect();
    let without_test: Vec<&String> = known.difference(&listed).collect();
    assert!(without_test.is_empty(), "write a test of these arguments and name it in ARGUMENTS: {without_test:?}");
    let gone: Vec<&String> = listed.difference(&known).collect();
    assert!(gone.is_empty(), "the provider block has no such arguments: {gone:?}");

    let top = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut text = String::new();
    for folder in ["src/aws", "src/provider", "tests/suite/provider_block"] {
        sources(&top.join(folder), &mut text);
    }
    text += &std::fs::read_to_string(top.join("tests/suite/provider_block.rs")).expect("a source file can be read");
    for (what, test) in ARGUMENTS.iter().chain(SOURCES) {
        let name = what.rsplit('.').next().unwrap_or(what);
        let body = body(&text, test).unwrap_or_else(|| panic!("there is no test {test}, which should be of {what}"));
        assert!(body.contains(name), "{test} should be of {what} and does not name it");
    }
}
