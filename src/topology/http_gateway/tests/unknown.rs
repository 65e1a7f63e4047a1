//! The inputs that may be unknown at plan.

use serde_json::json;

use super::UNKNOWN;

/// The paths of inputs that may be unknown at plan, for [`make_unknown`].
pub(super) fn unknowable() -> Vec<&'static str> {
    vec![
        "name",
        "description",
        "api_version",
        "api_tags",
        "stage_tags",
        "stage_name",
        "stage_description",
        "stage_variables",
        "route_config",
        "faas_authorizers",
        "jwt_authorizers",
        "default_authorizer_name",
        "default_authorization_scopes",
        "default_route_settings",
        "default_route_settings.throttling_rate_limit",
        "disable_execute_api_endpoint",
        "ip_address_type",
        "cors_configuration",
        "access_log_logservice_group_name",
        "access_log_logservice_group_skip_destroy",
        "access_log_destination_arn",
        "access_log_format_type",
        "custom_access_log_format",
        "access_log_logservice_group_tags",
        "access_log_logservice_group_retention_in_days",
        "access_log_logservice_group_kms_key_id",
        "access_log_logservice_group_subscription_destination_arn",
        "access_log_logservice_group_subscription_filter_pattern",
        "access_log_logservice_group_subscription_role_arn",
        "access_log_logservice_group_subscription_distribution",
        "domain_name",
        "domain_ip_address_type",
        "certificate_arn",
        "certificate_domain",
        "create_dns_entry",
        "hosted_zone_id",
        "timeouts",
        "route_config.*",
        "route_config.*.faas_function_arn",
        "route_config.*.integration_uri",
        "route_config.*.integration_method",
        "route_config.*.vpc_link",
        "route_config.*.vpc_link_id",
        "route_config.*.tls_config",
        "route_config.*.integration_subtype",
        "route_config.*.credentials_arn",
        "route_config.*.request_parameters",
        "route_config.*.response_parameters",
        "route_config.*.description",
        "route_config.*.payload_format_version",
        "route_config.*.timeout_milliseconds",
        "route_config.*.authorizer_name",
        "route_config.*.authorization_type",
        "route_config.*.authorization_scopes",
        "route_config.*.throttling_rate_limit",
        "route_config.*.throttling_burst_limit",
        "route_config.*.detailed_metrics_enabled",
        "vpc_links.*",
        "vpc_links.*.subnet_ids",
        "vpc_links.*.security_group_ids",
        "vpc_links.*.name",
        "vpc_links.*.tags",
        "jwt_authorizers.*",
        "jwt_authorizers.*.issuer",
        "jwt_authorizers.*.audience",
        "jwt_authorizers.*.identity_sources",
        "faas_authorizers.*",
        "faas_authorizers.*.authorizer_name",
        "faas_authorizers.*.authorizer_uri",
        "faas_authorizers.*.identity_sources",
        "faas_authorizers.*.authorizer_credentials_arn",
        "faas_authorizers.*.authorizer_payload_format_version",
        "faas_authorizers.*.enable_simple_responses",
        "faas_authorizers.*.result_ttl_in_seconds",
        "cors_configuration.allow_origins",
        "cors_configuration.max_age",
    ]
}

pub(super) fn make_unknown(config: &mut serde_json::Value, path: &str) {
    let (step, rest) = path.split_once('.').map_or((path, None), |(step, rest)| (step, Some(rest)));
    let Some(entries) = config.as_object_mut() else { return };
    let keys: Vec<String> = if step == "*" { entries.keys().cloned().collect() } else { vec![step.to_string()] };
    for key in keys {
        match rest {
            None => {
                entries.insert(key, json!(UNKNOWN));
            }
            Some(rest) => {
                if let Some(entry) = entries.get_mut(&key) {
                    make_unknown(entry, rest);
                }
            }
        }
    }
}
