//! Throttling, newborns and deletions that are refused for a while.

use std::time::Duration;

use serde_json::{Value, json};

use crate::support::proxy::Proxy;

const A_WHILE: Duration = Duration::from_millis(700);

fn code(proxy: &Proxy, service: &str, method: &str, arguments: Value) -> String {
    proxy.try_boto(service, method, arguments).map_or_else(|error| error.code, |_| "done".to_owned())
}

#[test]
fn each_action_of_ec2_has_a_bucket_of_its_own_that_fills_again() {
    let proxy = Proxy::moto();
    proxy.throttle();
    let delete = || code(&proxy, "ec2", "delete_nat_gateway", json!({ "NatGatewayId": "nat-00000000000000001" }));
    for _ in 0..10 {
        assert_eq!(delete(), "NatGatewayNotFound");
    }
    assert_eq!(delete(), "RequestLimitExceeded");
    assert_eq!(proxy.calls().last().map(|call| (call.status, call.injected)), Some((503, true)));
    assert_eq!(code(&proxy, "ec2", "describe_vpcs", json!({})), "done");
    std::thread::sleep(Duration::from_millis(1100));
    assert_eq!(delete(), "NatGatewayNotFound");
}

#[test]
fn api_gateway_has_one_bucket_for_all_calls_and_one_for_each_change_of_a_domain() {
    let proxy = Proxy::ministack();
    proxy.throttle();
    let delete = || code(&proxy, "apigatewayv2", "delete_domain_name", json!({ "DomainName": "a.example.com" }));
    assert_eq!((delete(), delete()), ("NotFoundException".into(), "TooManyRequestsException".into()));
    let codes: Vec<String> = (0..60).map(|_| code(&proxy, "apigatewayv2", "get_apis", json!({}))).collect();
    assert!(codes[..30].iter().all(|code| code == "done"), "{codes:?}");
    assert!(codes.iter().any(|code| code == "TooManyRequestsException"), "{codes:?}");
    let records: Vec<String> = (0..8).map(|_| code(&proxy, "route53", "list_hosted_zones", json!({}))).collect();
    assert_eq!((records[0].as_str(), records[7].as_str()), ("done", "Throttling"));
}

#[test]
fn a_newborn_of_ec2_is_not_found_missing_in_lists_and_of_no_use_until_it_is_known() {
    let proxy = Proxy::moto();
    proxy.newborns_hidden_for(A_WHILE);
    let vpc = proxy.boto("ec2", "create_vpc", json!({ "CidrBlock": "10.0.0.0/16" }))["Vpc"]["VpcId"].clone();
    let by_id = || code(&proxy, "ec2", "describe_vpcs", json!({ "VpcIds": [vpc] }));
    let listed = || {
        let filter = json!({ "Filters": [{ "Name": "vpc-id", "Values": [vpc] }] });
        let count = |method: &str, list: &str| proxy.boto("ec2", method, filter.clone())[list].as_array().map(Vec::len);
        (count("describe_vpcs", "Vpcs"), count("describe_network_acls", "NetworkAcls"))
    };
    let subnet = json!({ "VpcId": vpc, "CidrBlock": "10.0.0.0/24" });
    assert_eq!(code(&proxy, "ec2", "create_subnet", subnet.clone()), "InvalidVpcID.NotFound");
    assert_eq!((by_id().as_str(), listed()), ("InvalidVpcID.NotFound", (Some(0), Some(0))));
    std::thread::sleep(A_WHILE);
    assert_eq!(by_id(), "done");
    let subnet = proxy.boto("ec2", "create_subnet", subnet)["Subnet"]["SubnetId"].clone();
    std::thread::sleep(A_WHILE);
    assert_eq!(listed(), (Some(1), Some(1)));
    let table = proxy.boto("ec2", "create_route_table", json!({ "VpcId": vpc }))["RouteTable"]["RouteTableId"].clone();
    let gateway =
        proxy.boto("ec2", "create_internet_gateway", json!({}))["InternetGateway"]["InternetGatewayId"].clone();
    let attach = json!({ "InternetGatewayId": gateway, "VpcId": vpc });
    assert_eq!(code(&proxy, "ec2", "attach_internet_gateway", attach.clone()), "InvalidInternetGatewayID.NotFound");
    std::thread::sleep(A_WHILE);
    proxy.boto("ec2", "attach_internet_gateway", attach.clone());
    let route = json!({ "RouteTableId": table, "DestinationCidrBlock": "0.0.0.0/0", "GatewayId": gateway });
    proxy.boto("ec2", "create_route", route.clone());
    let association = proxy.boto("ec2", "associate_route_table", json!({ "RouteTableId": table, "SubnetId": subnet }));
    let parts = || {
        let shown = &proxy.boto("ec2", "describe_route_tables", json!({ "RouteTableIds": [table] }))["RouteTables"][0];
        let routes = shown["Routes"].as_array().map(Vec::len);
        (routes, shown["Associations"].as_array().map(Vec::len))
    };
    assert_eq!(parts(), (Some(1), Some(0)));
    assert_eq!(code(&proxy, "ec2", "replace_route", route.clone()), "InvalidParameterValue");
    assert_eq!(code(&proxy, "ec2", "detach_internet_gateway", attach), "Gateway.NotAttached");
    let again = json!({ "AssociationId": association["AssociationId"], "RouteTableId": table });
    assert_eq!(code(&proxy, "ec2", "replace_route_table_association", again), "InvalidAssociationID.NotFound");
    std::thread::sleep(A_WHILE);
    assert_eq!(parts(), (Some(2), Some(1)));
    assert_eq!(code(&proxy, "ec2", "replace_route", route), "done");
}

#[test]
fn a_newborn_of_a_gateway_is_not_found_missing_in_lists_and_of_no_use_until_it_is_known() {
    let proxy = Proxy::ministack();
    proxy.account().create_function("f", "def handler(event, context):\n    return {}\n");
    proxy.newborns_hidden_for(A_WHILE);
    let api = proxy.boto("apigatewayv2", "create_api", json!({ "Name": "a", "ProtocolType": "HTTP" }))["ApiId"].clone();
    let stage = json!({ "ApiId": api, "StageName": "$default" });
    assert_eq!(code(&proxy, "apigatewayv2", "get_api", json!({ "ApiId": api })), "NotFoundException");
    assert_eq!(code(&proxy, "apigatewayv2", "create_stage", stage.clone()), "NotFoundException");
    assert_eq!(proxy.boto("apigatewayv2", "get_apis", json!({}))["Items"], json!([]));
    let permission = json!({
        "FunctionName": "f", "StatementId": "s", "Action": "lambda:InvokeFunction", "Principal": "apigateway.amazonaws.com",
    });
    proxy.boto("lambda", "add_permission", permission);
    let policy = || code(&proxy, "lambda", "get_policy", json!({ "FunctionName": "f" }));
    assert_eq!(policy(), "ResourceNotFoundException");
    proxy.boto("logs", "create_log_group", json!({ "logGroupName": "/g" }));
    let retention = json!({ "logGroupName": "/g", "retentionInDays": 7 });
    assert_eq!(code(&proxy, "logs", "put_retention_policy", retention.clone()), "ResourceNotFoundException");
    assert_eq!(proxy.boto("logs", "describe_log_groups", json!({}))["logGroups"], json!([]));
    std::thread::sleep(A_WHILE);
    assert_eq!((policy().as_str(), code(&proxy, "logs", "put_retention_policy", retention).as_str()), ("done", "done"));
    proxy.boto("apigatewayv2", "create_stage", stage.clone());
    assert_eq!(proxy.boto("apigatewayv2", "get_stages", json!({ "ApiId": api }))["Items"], json!([]));
    assert_eq!(code(&proxy, "apigatewayv2", "get_stage", stage.clone()), "NotFoundException");
    std::thread::sleep(A_WHILE);
    assert_eq!(code(&proxy, "apigatewayv2", "get_stage", stage), "done");
}

#[test]
fn a_deletion_is_refused_for_a_while_that_begins_with_its_first_attempt() {
    let proxy = Proxy::moto();
    proxy.in_use_for("DeleteVpc", A_WHILE);
    let vpc = proxy.boto("ec2", "create_vpc", json!({ "CidrBlock": "10.0.0.0/16" }))["Vpc"]["VpcId"].clone();
    std::thread::sleep(A_WHILE);
    let delete = || code(&proxy, "ec2", "delete_vpc", json!({ "VpcId": vpc }));
    assert_eq!(delete(), "DependencyViolation");
    assert!(proxy.calls().last().is_some_and(|call| call.injected));
    std::thread::sleep(A_WHILE);
    assert_eq!(delete(), "done");
}
