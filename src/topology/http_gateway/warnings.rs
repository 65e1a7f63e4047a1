//! Warnings about valid configurations: inputs without effect, and numbers above AWS's default quotas.
//!
//! The specification calls several inputs "used only when ..." another input is set. A module may set them all and turn
//! the other input on and off, so they are accepted without effect.

use std::collections::{BTreeMap, BTreeSet};

use super::authorization::used_authorizers;
use super::config::GatewayConfig;
use super::integrations::IntegrationConfig;
use super::{jwt_authorizers, stage, vpc_links};
use crate::model::keys::gateway as keys;
use crate::model::{Api, Destination, Spec, Stage};
use crate::plugin::{AttributePath, Input, Problem};
use crate::topology::{Context, IgnoredDrift};

/// AWS's default quota of routes per API.
const MOST_ROUTES: usize = 300;

/// AWS's default quota of authorizers per API.
const MOST_AUTHORIZERS: usize = 10;

/// The default quota of VPC links per account and Region.
const MOST_LINKS: usize = 10;

const GROUP: &str = "access_log_logservice_group_name";
const DESTINATION: &str = "access_log_logservice_group_subscription_destination_arn";
const DISTRIBUTION: &str = "access_log_logservice_group_subscription_distribution";
const PATTERN: &str = "access_log_logservice_group_subscription_filter_pattern";
const ROLE: &str = "access_log_logservice_group_subscription_role_arn";
const FORMAT: &str = "custom_access_log_format";
const FORMAT_TYPE: &str = "access_log_format_type";
const ELSEWHERE: &str = "access_log_destination_arn";

/// The warning that the apply turns automatic deployment on again.
pub(super) fn deploys_again(context: &Context<'_, GatewayConfig>) -> Option<Problem> {
    let entry = context.existing.at(keys::STAGE)?;
    // An apply that ended while it renamed variables has left it off itself.
    let was_on = Stage::of(&entry.applied).is_some_and(|stage| stage.auto_deploy);
    let is_off = was_on && matches!(entry.observed(), Some(Spec::Stage(stage)) if !stage.auto_deploy);
    let is_kept = IgnoredDrift::of(&context.config.ignore_drift).covers(&entry.key.slot);
    let is_replaced = context.config.stage_name.known().is_some_and(|name| entry.key != keys::stage(name));
    (is_off && !is_kept && !entry.is_missing()).then(|| {
        let off = "Automatic deployment of the stage was turned off outside Terraform.";
        let (effect, hint) = match is_replaced {
            true => (
                "The new stage serves all changes of the API that were held back.",
                "To deploy them at another time, keep the stage_name, and add \"stage\" to ignore_drift.",
            ),
            false => (
                "The apply turns it on again, and AWS then deploys all changes of the API that were held back.",
                "To keep it off, add \"stage\" to ignore_drift.",
            ),
        };
        Problem::new(AttributePath::new("ignore_drift"), format!("{off} {effect}"), hint)
    })
}

/// All warnings that follow from the configuration alone.
pub(super) fn warnings(config: &GatewayConfig) -> Vec<Problem> {
    let mut warnings = quotas(config);
    warnings.extend(without_effect(config));
    for (name, input) in
        [("certificate_arn", &config.certificate_arn), ("certificate_domain", &config.certificate_domain)]
    {
        if let (Input::Known(None), Input::Known(Some(_))) = (&config.domain_name, input) {
            warnings.push(no_effect(name, "domain_name is not set", "Set domain_name"));
        }
    }
    if let (Input::Known(false), Input::Known(Some(_))) = (&config.create_dns_entry, &config.hosted_zone_id) {
        warnings.push(no_effect("hosted_zone_id", "create_dns_entry is false", "Set create_dns_entry to true"));
    }
    warnings.extend(unused_authorizers(config));
    warnings.extend(integrations(config));
    warnings.extend(jwt_authorizers::warnings(&config.jwt_authorizers));
    warnings.extend(vpc_links::warnings(&config.vpc_links, used_links(config).as_ref()));
    warnings.extend(stage::prefixed_paths(config));
    if let (Input::Known(true), Input::Known(None)) = (&config.disable_execute_api_endpoint, &config.domain_name) {
        warnings.push(Problem::new(
            AttributePath::new("disable_execute_api_endpoint"),
            "No request reaches the API unless another configuration maps a domain to it.",
            "Set domain_name, or map a domain to the stage elsewhere.",
        ));
    }
    if let (Input::Known(false), Input::Known(Some(mutual_tls))) =
        (&config.disable_execute_api_endpoint, config.mutual_tls())
        && mutual_tls.is_on()
    {
        warnings.push(Problem::new(
            AttributePath::new("mutual_tls_authentication"),
            "Clients can bypass the client certificate at the API's own endpoint, api_endpoint.",
            "Set disable_execute_api_endpoint = true.",
        ));
    }
    warnings
}

/// The warning that the apply enables the endpoint of the API again.
pub(super) fn enables_endpoint(context: &Context<'_, GatewayConfig>) -> Option<Problem> {
    let entry = context.existing.at(keys::API).filter(|entry| entry.is_present())?;
    let is_disabled = Api::of(entry.spec())?.disable_endpoint == Input::Known(true);
    let is_enabled = context.config.disable_execute_api_endpoint == Input::Known(false);
    let endpoint = entry.learned.get("api_endpoint").map_or("its own endpoint", String::as_str);
    (is_disabled && is_enabled).then(|| {
        Problem::new(
            AttributePath::new("disable_execute_api_endpoint"),
            format!("The apply enables the endpoint of the API again: clients can reach it at {endpoint}."),
            "To keep the endpoint disabled, set disable_execute_api_endpoint = true.",
        )
    })
}

/// Values of integrations that may not work.
fn integrations(config: &GatewayConfig) -> Vec<Problem> {
    let variables: Option<BTreeSet<&str>> =
        config.stage_variables.known().map(|all| all.keys().map(String::as_str).collect());
    let routes = config.route_config.known().into_iter().flatten();
    let routes = routes.filter_map(|(key, route)| Some((key, &route.known()?.integration)));
    let of = |(key, integration): (&String, &IntegrationConfig)| {
        integration.warnings(&AttributePath::new("route_config").key(key), key, variables.as_ref())
    };
    routes.flat_map(of).collect()
}

/// Authorizers that no route uses. A misspelled attribute of a route, which Terraform drops, leaves the route public.
fn unused_authorizers(config: &GatewayConfig) -> Vec<Problem> {
    let Some(used) = used_authorizers(config) else { return Vec::new() };
    let faas = config.faas_authorizers.known().into_iter().flatten().map(|(name, _)| ("faas_authorizers", name));
    let jwt = config.jwt_authorizers.known().into_iter().flatten().map(|(name, _)| ("jwt_authorizers", name));
    let unused = faas.chain(jwt).filter(|(_, name)| !used.contains(name.as_str()));
    let warning = |(map, name): (&str, &String)| {
        Problem::new(
            AttributePath::new(map).key(name),
            format!("No route uses the authorizer {name:?}, so it protects nothing."),
            format!("Set authorizer_name = {name:?} in the routes that it is to protect, or remove it."),
        )
    };
    unused.map(warning).collect()
}

/// The VPC links that routes name. `None` if one of them is unknown.
fn used_links(config: &GatewayConfig) -> Option<BTreeSet<&str>> {
    let routes = config.route_config.known()?.values();
    let used = routes.map(|route| Some(route.known()?.integration.vpc_link.known()?.as_deref()));
    Some(used.collect::<Option<BTreeSet<_>>>()?.into_iter().flatten().collect())
}

fn quotas(config: &GatewayConfig) -> Vec<Problem> {
    let authorizers = config.faas_authorizers.known().map_or(0, BTreeMap::len)
        + config.jwt_authorizers.known().map_or(0, BTreeMap::len);
    let counts = [
        ("route_config", "routes", config.route_config.known().map_or(0, BTreeMap::len), MOST_ROUTES),
        ("faas_authorizers", "authorizers", authorizers, MOST_AUTHORIZERS),
        ("vpc_links", "VPC links", config.vpc_links.known().map_or(0, BTreeMap::len), MOST_LINKS),
    ];
    let exceeded = counts.into_iter().filter(|(_, _, count, most)| count > most);
    let warning = |(attribute, objects, count, most): (_, _, usize, usize)| {
        Problem::new(
            AttributePath::new(attribute),
            match attribute {
                "vpc_links" => format!("There are {count} {objects}, but AWS allows {most} per Region by default."),
                _ => format!("There are {count} {objects}, but AWS allows {most} per API by default."),
            },
            format!("Use at most {most}, unless AWS has raised the quota of this account."),
        )
    };
    exceeded.map(warning).collect()
}

/// Inputs of access logs without effect.
fn without_effect(config: &GatewayConfig) -> Vec<Problem> {
    let mut given = given(config);
    let mut warnings = Vec::new();
    if config.access_log_logservice_group_name == Input::Known(None) {
        let is_elsewhere = config.access_log_destination_arn != Input::Known(None);
        let reason = match is_elsewhere {
            true => format!("{ELSEWHERE} is set, and {GROUP} is not"),
            false => format!("access logs are off, because {GROUP} is not set"),
        };
        let (formats, of_group): (Vec<_>, Vec<_>) =
            given.into_iter().partition(|name| is_elsewhere && [FORMAT, FORMAT_TYPE].contains(name));
        warnings.extend(of_group.iter().map(|name| no_effect(name, &reason, &format!("Set {GROUP}"))));
        given = formats;
    }
    if let (true, Some(kind @ ("CLF" | "JSON"))) =
        (given.contains(&FORMAT), config.access_log_format_type.known().map(String::as_str))
    {
        let reason = format!("access_log_format_type is {kind:?}");
        warnings.push(no_effect(FORMAT, &reason, "Set access_log_format_type to \"CUSTOM\""));
    }
    let (unused, reason): (&[&'static str], _) = match &config.access_log_logservice_group_subscription_destination_arn
    {
        Input::Unknown => return warnings,
        Input::Known(None) => {
            (&[DISTRIBUTION, PATTERN, ROLE], format!("log events are not forwarded, because {DESTINATION} is not set"))
        }
        Input::Known(Some(arn)) => match Destination::parse(arn) {
            Ok(Destination::Function(_)) => (&[DISTRIBUTION, ROLE], format!("the destination {arn:?} is a function")),
            Ok(Destination::DeliveryStream) => {
                (&[DISTRIBUTION], format!("the destination {arn:?} is not a Kinesis stream"))
            }
            // Validation has already reported an invalid ARN.
            Ok(Destination::KinesisStream) | Err(_) => return warnings,
        },
    };
    for name in unused.iter().filter(|name| given.contains(*name)) {
        let remedy = match *name {
            PATTERN => format!("Set {DESTINATION}"),
            _ => format!("Set {DESTINATION} to a stream"),
        };
        warnings.push(no_effect(name, &reason, &remedy));
    }
    warnings
}

/// The inputs of access logs, except the name of the group, that have another value than their default.
fn given(config: &GatewayConfig) -> Vec<&'static str> {
    let text = |input: &Input<Option<String>>| matches!(input, Input::Known(Some(_)));
    let tags = config.access_log_logservice_group_tags.known().and_then(Option::as_ref);
    let pattern = config.access_log_logservice_group_subscription_filter_pattern.known();
    let retention = &config.access_log_logservice_group_retention_in_days;
    let inputs = [
        ("access_log_logservice_group_retention_in_days", matches!(retention, Input::Known(Some(_)))),
        (
            "access_log_logservice_group_skip_destroy",
            config.access_log_logservice_group_skip_destroy == Input::Known(true),
        ),
        ("access_log_logservice_group_tags", tags.is_some_and(|tags| !tags.is_empty())),
        ("access_log_logservice_group_kms_key_id", text(&config.access_log_logservice_group_kms_key_id)),
        (DESTINATION, text(&config.access_log_logservice_group_subscription_destination_arn)),
        (DISTRIBUTION, text(&config.access_log_logservice_group_subscription_distribution)),
        (PATTERN, pattern.is_some_and(|pattern| !pattern.is_empty())),
        (ROLE, text(&config.access_log_logservice_group_subscription_role_arn)),
        (FORMAT_TYPE, config.access_log_format_type.known().is_some_and(|kind| kind != "JSON")),
        (FORMAT, text(&config.custom_access_log_format)),
    ];
    inputs.into_iter().filter(|(_, is_given)| *is_given).map(|(name, _)| name).collect()
}

fn no_effect(name: &str, reason: &str, remedy: &str) -> Problem {
    Problem::new(
        AttributePath::new(name),
        format!("{name} has no effect: {reason}."),
        format!("{remedy}, or remove {name}."),
    )
}

#[cfg(test)]
mod tests {
    use serde_json::{Value as Json, json};

    use super::super::tests::{ORDERS, UNKNOWN, config, problems, with};
    use super::*;

    const KINESIS: &str = "arn:aws:kinesis:eu-central-1:123456789012:stream/logs";
    const FIREHOSE: &str = "arn:aws:firehose:eu-central-1:123456789012:deliverystream/logs";

    /// The warnings of a valid configuration: attribute and message.
    fn warned(attributes: Json) -> Vec<(String, String)> {
        assert_eq!(problems(attributes.clone()), [], "{attributes}");
        let found = warnings(&config(attributes));
        found.into_iter().map(|it| (it.path.to_string(), format!("{} {}", it.message, it.hint))).collect()
    }

    fn attributes(attributes: Json) -> Vec<String> {
        warned(attributes).into_iter().map(|(attribute, _)| attribute).collect()
    }

    /// Every input of access logs except the name of the group.
    fn of_logs() -> Json {
        json!({
            "access_log_logservice_group_retention_in_days": 7,
            "access_log_logservice_group_skip_destroy": true,
            "access_log_logservice_group_tags": {"a": "b"},
            "access_log_logservice_group_kms_key_id": "alias/logs",
            DESTINATION: KINESIS,
            DISTRIBUTION: "Random",
            PATTERN: "500",
            ROLE: "arn:aws:iam::123456789012:role/logs",
            "access_log_format_type": "CUSTOM",
            FORMAT: "$context.requestId",
        })
    }

    #[test]
    fn inputs_of_access_logs_have_no_effect_without_a_group() {
        let all = warned(of_logs());
        let expected: std::collections::BTreeSet<String> = of_logs().as_object().unwrap().keys().cloned().collect();
        assert_eq!(
            all.iter().map(|(attribute, _)| attribute.clone()).collect::<std::collections::BTreeSet<_>>(),
            expected
        );
        assert_eq!(all.len(), 10);
        for (attribute, text) in &all {
            assert!(text.starts_with(&format!("{attribute} has no effect: ")), "{text}");
            assert!(text.contains("access_log_logservice_group_name is not set"), "{text}");
        }
        for (attribute, value) in of_logs().as_object().unwrap() {
            assert_eq!(attributes(json!({attribute: value})), [attribute.as_str()]);
            assert_eq!(attributes(json!({attribute: UNKNOWN})), Vec::<String>::new());
        }
        for group in ["/http/shop", UNKNOWN] {
            assert_eq!(warned(with(of_logs(), json!({GROUP: group}))), [], "{group}");
        }
        let elsewhere = json!({ELSEWHERE: "arn:aws:logs:eu-central-1:123456789012:log-group:shop"});
        let mut of_group = expected;
        of_group.retain(|name| ![FORMAT, FORMAT_TYPE].contains(&name.as_str()));
        let found = attributes(with(of_logs(), elsewhere));
        assert_eq!(found.into_iter().collect::<std::collections::BTreeSet<_>>(), of_group, "formats have an effect");
        let defaults = json!({"access_log_logservice_group_tags": {}, PATTERN: "", "access_log_format_type": "JSON"});
        assert_eq!(warned(defaults), []);
    }

    #[test]
    fn inputs_of_a_subscription_depend_on_its_destination() {
        let to = |destination: Json| {
            let subscription = json!({
                GROUP: "/http/shop", DESTINATION: destination, DISTRIBUTION: "Random", PATTERN: "500",
                ROLE: "arn:aws:iam::123456789012:role/logs",
            });
            warned(subscription)
        };
        let names = |found: &[(String, String)]| found.iter().map(|(name, _)| name.clone()).collect::<Vec<_>>();
        assert_eq!(to(json!(KINESIS)), []);
        assert_eq!(to(json!(UNKNOWN)), []);
        assert_eq!(names(&to(json!(null))), [DISTRIBUTION, PATTERN, ROLE]);
        let (function, delivery) = (to(json!(ORDERS)), to(json!(FIREHOSE)));
        assert_eq!(names(&function), [DISTRIBUTION, ROLE]);
        assert_eq!(names(&delivery), [DISTRIBUTION]);
        assert!(function[0].1.contains("function:orders\" is a function"), "{function:?}");
        assert!(delivery[0].1.contains("deliverystream/logs\" is not a Kinesis stream"), "{delivery:?}");
    }

    #[test]
    fn custom_format_and_certificate_depend_on_another_input() {
        let formatted = |kind: &str| {
            warned(json!({GROUP: "/http/shop", "access_log_format_type": kind, FORMAT: "$context.requestId"}))
        };
        for kind in ["CLF", "JSON"] {
            let found = formatted(kind);
            assert_eq!((found.len(), found[0].0.as_str()), (1, FORMAT));
            assert!(found[0].1.contains(&format!("access_log_format_type is {kind:?}")), "{found:?}");
        }
        assert_eq!((formatted("CUSTOM"), formatted(UNKNOWN)), (vec![], vec![]));
        let arn = "arn:aws:acm:eu-central-1:123456789012:certificate/0";
        for input in [json!({"certificate_domain": "*.example.com"}), json!({"certificate_arn": arn})] {
            let name: Vec<String> = input.as_object().unwrap().keys().cloned().collect();
            assert_eq!(attributes(input.clone()), name);
            for domain in ["api.example.com", UNKNOWN] {
                assert_eq!(warned(with(input.clone(), json!({"domain_name": domain}))), []);
            }
        }
        assert_eq!(attributes(json!({"certificate_arn": UNKNOWN})), Vec::<String>::new());
    }

    #[test]
    fn an_authorizer_that_no_route_uses_causes_a_warning() {
        let routes = |open: Json, guarded: Json| {
            json!({
                "faas_authorizers": {"guard": {"authorizer_name": "auth"}, "spare": {"authorizer_name": "auth"}},
                "route_config": {
                    "GET /open": {"faas_function_arn": ORDERS, "authorizer_name": open},
                    "GET /guarded": {"faas_function_arn": ORDERS, "authorizer_name": guarded},
                },
            })
        };
        let found = warned(routes(json!(null), json!("guard")));
        assert_eq!((found.len(), found[0].0.as_str()), (1, "faas_authorizers[\"spare\"]"));
        assert!(found[0].1.contains("No route uses the authorizer \"spare\""), "{found:?}");
        assert_eq!(warned(routes(json!(null), json!(null))).len(), 2);
        assert_eq!(warned(routes(json!("spare"), json!("guard"))), []);
        assert_eq!(warned(routes(json!(UNKNOWN), json!("guard"))), []);
    }

    #[test]
    fn values_of_integrations_that_may_not_work_are_warnings() {
        let route = |key: &str, more: Json| {
            let variables = json!({"stage_variables": {"host": "a.example.com"}});
            warned(with(variables, json!({"route_config": {key: with(json!({"faas_function_arn": ORDERS}), more)}})))
        };
        let url = |key: &str, uri: &str| route(key, json!({"faas_function_arn": null, "integration_uri": uri}));
        let queue = |attributes: Json| {
            let parameters = json!({"QueueUrl": "a", "MessageBody": "b", "MessageAttributes": attributes});
            route(
                "$default",
                json!({"faas_function_arn": null, "integration_subtype": "SQS-SendMessage",
                "credentials_arn": "arn:aws:iam::123456789012:role/queue", "request_parameters": parameters}),
            )
        };
        let parameter = |value: &str| route("GET /a", json!({"request_parameters": {"append:header.a": value}}));
        for (found, attribute, text) in [
            (url("ANY /{proxy+}", "https://a.example.com/{proxy+}"), "integration_uri", "Write {proxy}:"),
            (url("$default", "https://a.example.com/{proxy}"), "integration_uri", "does not replace {proxy}"),
            (url("GET /{id}", "https://a.example.com/{name}"), "integration_uri", "The path of the route has id."),
            (url("GET /a", "https://${stageVariables.port}/"), "integration_uri", "stage_variables has no \"port\""),
            (parameter("$stageVariables.tenant"), "request_parameters[\"append:header.a\"]", "no \"tenant\""),
            (parameter("$5"), "request_parameters[\"append:header.a\"]", "Variables begin with $request"),
            (queue(json!("{}")), "request_parameters[\"MessageAttributes\"]", "without a variable"),
        ] {
            assert!(
                matches!(&found[..], [(path, message)] if path.ends_with(attribute) && message.contains(text)),
                "{text}: {found:?}"
            );
        }
        for found in [
            url("ANY /{proxy+}", "https://${stageVariables.host}/{proxy}"),
            url("$default", "https://a.example.com/a}?a={"),
            parameter("$stageVariables.host"),
            queue(json!("$request.body.attributes")),
            queue(json!(UNKNOWN)),
        ] {
            assert_eq!(found, []);
        }
        let routes = json!({"GET /a": {"faas_function_arn": ORDERS,
            "request_parameters": {"append:header.a": "$stageVariables.host"}}});
        assert_eq!(warned(json!({"stage_variables": UNKNOWN, "route_config": routes})), []);
    }

    #[test]
    fn the_issuer_of_cognito_is_not_its_login_domain() {
        let issued = |issuer: &str| {
            warned(json!({
                "jwt_authorizers": {"people": {"issuer": issuer, "audience": ["shop"]}},
                "route_config": {"GET /a": {"faas_function_arn": ORDERS, "authorizer_name": "people"}},
            }))
        };
        for issuer in ["https://shop.auth.eu-central-1.amazoncognito.com", "https://a.amazoncognito.com/"] {
            let found = issued(issuer);
            assert_eq!((found.len(), found[0].0.as_str()), (1, "jwt_authorizers[\"people\"].issuer"));
            assert!(found[0].1.contains("https://cognito-idp.<Region>.amazonaws.com/<user pool ID>"), "{found:?}");
        }
        assert_eq!(issued("https://cognito-idp.eu-central-1.amazonaws.com/eu-central-1_a"), []);
        assert_eq!(issued(UNKNOWN), []);
    }

    #[test]
    fn a_hosted_zone_has_no_effect_without_a_record() {
        let zone = |entry: Json| {
            attributes(json!({"domain_name": "api.example.com", "hosted_zone_id": "Z1", "create_dns_entry": entry}))
        };
        assert_eq!(zone(json!(false)), ["hosted_zone_id"]);
        assert_eq!((zone(json!(true)), zone(json!(UNKNOWN))), (vec![], vec![]));
    }

    #[test]
    fn numbers_above_default_quotas_are_warnings() {
        let routes = |count: usize| {
            let routes: Json =
                (0..count).map(|it| (format!("GET /r{it}"), json!({"faas_function_arn": ORDERS}))).collect();
            json!({"route_config": routes})
        };
        let authorizers = |count: usize| {
            let entries: Json = (0..count).map(|it| (format!("a{it}"), json!({"authorizer_name": "auth"}))).collect();
            let route = |it| json!({"faas_function_arn": ORDERS, "authorizer_name": format!("a{it}")});
            let routes: Json = (0..count).map(|it| (format!("GET /r{it}"), route(it))).collect();
            json!({"faas_authorizers": entries, "route_config": routes})
        };
        for (at_most, above, texts) in [
            (routes(300), routes(301), ["route_config", "301 routes", "AWS allows 300"]),
            (authorizers(10), authorizers(11), ["faas_authorizers", "11 authorizers", "AWS allows 10"]),
        ] {
            assert_eq!(warned(at_most), []);
            let found = warned(above);
            assert_eq!((found.len(), found[0].0.as_str()), (1, texts[0]));
            assert!(found[0].1.contains(texts[1]) && found[0].1.contains(texts[2]), "{found:?}");
        }
    }
}
