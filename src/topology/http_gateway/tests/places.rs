//! Objects in other accounts, Regions and partitions, which AWS does not accept.

use serde_json::{Value as Json, json};

use super::{ORDERS, config, context, domains, problems};
use crate::model::{Inventory, Scope};
use crate::topology::Topology;
use crate::topology::http_gateway::HttpGateway;

const OURS: &str = "123456789012";
const OTHER: &str = "999999999999";

const FUNCTION: &str = "arn:PARTITION:lambda:REGION:ACCOUNT:function:logs";
const KINESIS: &str = "arn:PARTITION:kinesis:REGION:ACCOUNT:stream/logs";
const FIREHOSE: &str = "arn:PARTITION:firehose:REGION:ACCOUNT:deliverystream/logs";
const ROLE: &str = "arn:PARTITION:iam::ACCOUNT:role/calls";
const OWN_ROLE: &str = "arn:aws:iam::123456789012:role/logs";

const DESTINATION: &str = "access_log_logservice_group_subscription_destination_arn";
const ROLE_OF_LOGS: &str = "access_log_logservice_group_subscription_role_arn";
const KEY: &str = "access_log_logservice_group_kms_key_id";

/// Which parts of its ARN must be those of the provider: account, Region, partition.
type Needs = [bool; 3];
const ALL: Needs = [true, true, true];
/// The ARN of a role has no Region.
const GLOBAL: Needs = [true, false, true];
const PARTITION: Needs = [false, false, true];

/// The problems of a plan in this place: attribute and message.
fn refused(gateway: &Json, scope: &Scope) -> Vec<(String, String)> {
    assert_eq!(problems(gateway.clone()), [], "{gateway}");
    let config = config(gateway.clone());
    let (existing, facts) = (Inventory::default(), domains::facts());
    let problems = HttpGateway::blueprint(&context(&config, &existing, scope, &facts)).err().unwrap_or_default();
    for it in &problems {
        assert!(it.message.ends_with('.') && it.hint.ends_with('.'), "{it:?}");
    }
    problems.into_iter().map(|it| (it.path.to_string(), it.message)).collect()
}

/// Asserts what a plan refuses of an object in other places. The gateway has its ARN, with PARTITION, REGION and
/// ACCOUNT, at this attribute.
fn check(path: &str, gateway: Json, needs: Needs) {
    for (partition, region) in [("aws", "eu-central-1"), ("aws-cn", "cn-north-1"), ("aws-us-gov", "us-gov-west-1")] {
        let scope = Scope {
            partition: partition.into(),
            region: region.into(),
            account: Some(OURS.into()),
            ..Scope::default()
        };
        let complete = json!({ "name": "shop", "route_config": { "GET /": { "faas_function_arn": ORDERS } } });
        let text = super::with(complete, gateway.clone()).to_string();
        let text = text.replace("arn:aws:", &format!("arn:{partition}:")).replace("eu-central-1", region);
        let at = |its_partition: &str, its_region: &str, its_account: &str| -> Json {
            let text = text.replace("PARTITION", its_partition).replace("REGION", its_region);
            serde_json::from_str(&text.replace("ACCOUNT", its_account)).unwrap()
        };
        assert_eq!(refused(&at(partition, region, OURS), &scope), []);
        for (is_needed, part, there, its, ours) in [
            (needs[0], "account", at(partition, region, OTHER), OTHER, OURS),
            (needs[1], "Region", at(partition, "elsewhere-1", OURS), "elsewhere-1", region),
            (needs[2], "partition", at("aws-iso", region, OURS), "aws-iso", partition),
        ] {
            let found = refused(&there, &scope);
            let end = format!("is of the {part} {its}, but the provider uses the {part} {ours}.");
            let is_named = |(at, message): &(String, String)| at == path && message.ends_with(&end);
            assert_eq!(found.len(), usize::from(is_needed), "{there}: {found:?}");
            assert!(found.iter().all(is_named), "{end} {found:?}");
        }
        let unknown = Scope { account: None, ..scope };
        assert_eq!(refused(&at(partition, region, OTHER), &unknown), [], "{path}: the own account is unknown");
    }
}

/// A gateway with this route.
fn route(route: Json) -> Json {
    json!({ "route_config": { "GET /a": route } })
}

#[test]
fn integrations_in_other_places_are_refused() {
    let at = |attribute: &str| format!("route_config[\"GET /a\"].{attribute}");
    for target in [
        "elasticloadbalancing:REGION:ACCOUNT:listener/app/a/1/2",
        "elasticloadbalancing:REGION:ACCOUNT:listener/net/a/1/2",
        "servicediscovery:REGION:ACCOUNT:service/srv-1?color=blue",
    ] {
        let private = json!({ "integration_uri": format!("arn:PARTITION:{target}"), "vpc_link_id": "a1b2c3" });
        check(&at("integration_uri"), route(private), ALL);
    }
    let queue = json!({ "integration_subtype": "SQS-SendMessage", "credentials_arn": ROLE,
                        "request_parameters": { "QueueUrl": "a", "MessageBody": "b" } });
    check(&at("credentials_arn"), route(queue), GLOBAL);
    check(&at("credentials_arn"), route(json!({ "faas_function_arn": ORDERS, "credentials_arn": ROLE })), GLOBAL);
    check(&at("faas_function_arn"), route(json!({ "faas_function_arn": FUNCTION })), PARTITION);
    let called = json!({ "faas_function_arn": FUNCTION, "credentials_arn": OWN_ROLE });
    check(&at("faas_function_arn"), route(called), PARTITION);
}

#[test]
fn authorizers_in_other_places_are_refused() {
    for (attribute, entry, needs) in [
        ("authorizer_name", json!({ "authorizer_name": FUNCTION }), PARTITION),
        ("authorizer_name", json!({ "authorizer_name": FUNCTION, "authorizer_credentials_arn": OWN_ROLE }), PARTITION),
        (
            "authorizer_credentials_arn",
            json!({ "authorizer_name": ORDERS, "authorizer_credentials_arn": ROLE }),
            GLOBAL,
        ),
    ] {
        let mut gateway = route(json!({ "faas_function_arn": ORDERS, "authorizer_name": "guard" }));
        gateway["faas_authorizers"] = json!({ "guard": entry });
        check(&format!("faas_authorizers[\"guard\"].{attribute}"), gateway, needs);
    }
}

#[test]
fn log_destinations_in_other_places_are_refused() {
    for destination in [
        "logs:REGION:ACCOUNT:log-group:/shop:*",
        "logs:REGION:ACCOUNT:log-group:/shop",
        "firehose:REGION:ACCOUNT:deliverystream/amazon-apigateway-x",
    ] {
        let elsewhere = json!({ "access_log_destination_arn": format!("arn:PARTITION:{destination}") });
        check("access_log_destination_arn", elsewhere, ALL);
    }
    let logging = |more: Json| super::with(json!({ "access_log_logservice_group_name": "/shop" }), more);
    check(DESTINATION, logging(json!({ DESTINATION: FUNCTION })), ALL);
    for stream in [KINESIS, FIREHOSE] {
        check(DESTINATION, logging(json!({ DESTINATION: stream, ROLE_OF_LOGS: OWN_ROLE })), ALL);
    }
    let own = KINESIS.replace("PARTITION", "aws").replace("REGION", "eu-central-1").replace("ACCOUNT", OURS);
    check(ROLE_OF_LOGS, logging(json!({ DESTINATION: own, ROLE_OF_LOGS: ROLE })), GLOBAL);
    for key in ["key/1234abcd-12ab-34cd-56ef-1234567890ab", "alias/logs"] {
        let key = format!("arn:PARTITION:kms:REGION:ACCOUNT:{key}");
        check(KEY, logging(json!({ KEY: key })), [false, true, true]);
    }
}

#[test]
fn certificates_in_other_places_are_refused() {
    let certificate = "arn:PARTITION:acm:REGION:ACCOUNT:certificate/0a1b2c3d-12ab-34cd-56ef-1234567890ab";
    check("certificate_arn", json!({ "domain_name": "api.example.com", "certificate_arn": certificate }), ALL);
}

#[test]
fn objects_without_effect_may_be_anywhere() {
    let scope = super::scope();
    let there = |arn: &str| arn.replace("PARTITION", "aws").replace("REGION", "eu-west-1").replace("ACCOUNT", OTHER);
    let certificate = "arn:aws:acm:us-east-1:123456789012:certificate/0a1b2c3d-12ab-34cd-56ef-1234567890ab";
    for gateway in [
        json!({ DESTINATION: there(FIREHOSE), ROLE_OF_LOGS: there(ROLE) }),
        json!({ "access_log_logservice_group_name": "/shop", ROLE_OF_LOGS: there(ROLE) }),
        json!({ "certificate_arn": certificate }),
    ] {
        assert_eq!(refused(&gateway, &scope), []);
    }
}
