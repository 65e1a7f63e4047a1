//! The inputs with ARNs of objects that AWS accepts only in the account, the Region or the partition of the gateway,
//! except functions.

use super::config::GatewayConfig;
use crate::model::{Destination, Needs, Scope};
use crate::plugin::{AttributePath, Input, Problem};
use crate::topology::places::elsewhere;

const KEY: &str = "access_log_logservice_group_kms_key_id";
const DESTINATION: &str = "access_log_logservice_group_subscription_destination_arn";
const ROLE: &str = "access_log_logservice_group_subscription_role_arn";

/// An input with an ARN: its attribute, its value, what AWS requires, and what to use instead.
type Given<'a> = (AttributePath, &'a Input<Option<String>>, Needs, &'static str);

/// The problems of objects in other places, as far as the inputs have an effect.
pub(super) fn problems(config: &GatewayConfig, scope: &Scope) -> Vec<Problem> {
    let mut all = of_calls(config);
    all.extend(of_logs(config));
    if let Input::Known(Some(_)) = &config.domain_name {
        let hint = "Use a certificate of the account and in the Region of the gateway.";
        all.push((AttributePath::new("certificate_arn"), &config.certificate_arn, Needs::ACCOUNT, hint));
    }
    let problem = |(path, arn, needs, hint): Given<'_>| elsewhere(path, arn.known()?.as_ref()?, scope, needs, hint);
    all.into_iter().filter_map(problem).collect()
}

/// What routes and authorizers use.
fn of_calls(config: &GatewayConfig) -> Vec<Given<'_>> {
    let target = "Use a listener or a Cloud Map service of the account and in the Region of the gateway.";
    let role = "API Gateway assumes only roles of the account of the gateway. Use one.";
    let mut all = Vec::new();
    for (key, route) in config.route_config.known().into_iter().flatten() {
        let (Some(route), path) = (route.known(), AttributePath::new("route_config").key(key)) else { continue };
        let integration = &route.integration;
        all.push((path.attribute("integration_uri"), &integration.integration_uri, Needs::ACCOUNT, target));
        all.push((path.attribute("credentials_arn"), &integration.credentials_arn, Needs::ACCOUNT, role));
    }
    for (name, entry) in config.faas_authorizers.known().into_iter().flatten() {
        let Some(entry) = entry.known() else { continue };
        let path = AttributePath::new("faas_authorizers").key(name).attribute("authorizer_credentials_arn");
        all.push((path, &entry.authorizer_credentials_arn, Needs::ACCOUNT, role));
    }
    all
}

/// What access logs use. Log events stay within their account and Region.
fn of_logs(config: &GatewayConfig) -> Vec<Given<'_>> {
    let given = |name, arn, needs, hint| (AttributePath::new(name), arn, needs, hint);
    let hint = "Use a log group or delivery stream of the account and in the Region of the gateway.";
    let mut all = vec![given("access_log_destination_arn", &config.access_log_destination_arn, Needs::ACCOUNT, hint)];
    let Input::Known(Some(_)) = &config.access_log_logservice_group_name else { return all };
    let hint = "CloudWatch Logs accepts only keys of its Region. Use one of these, of any account.";
    all.push(given(KEY, &config.access_log_logservice_group_kms_key_id, Needs::REGION, hint));
    let to = &config.access_log_logservice_group_subscription_destination_arn;
    let Some(destination) = to.known().and_then(|arn| Destination::parse(arn.as_ref()?).ok()) else { return all };
    let hint = "Use a function or stream of the account and in the Region of the gateway; it may forward the events.";
    all.push(given(DESTINATION, to, Needs::ACCOUNT, hint));
    if destination.is_stream() {
        let hint = "CloudWatch Logs assumes only roles of the account of the log group. Use one.";
        all.push(given(ROLE, &config.access_log_logservice_group_subscription_role_arn, Needs::ACCOUNT, hint));
    }
    all
}
