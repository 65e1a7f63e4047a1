//! Throttling, eventual consistency, and deletions that are rejected for some time.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::{Value, json};

use crate::support::emulator::Account;
use crate::support::http;
use crate::support::proxy::Proxy;
use crate::support::proxy::lasts::Lasts;
use crate::support::wait::until;

fn code(proxy: &Proxy, service: &str, method: &str, arguments: Value) -> String {
    proxy.try_boto(service, method, arguments).map_or_else(|error| error.code, |_| "done".to_owned())
}

/// The answers to this many calls.
fn codes(count: usize, call: impl Fn() -> String) -> Vec<String> {
    (0..count).map(|_| call()).collect()
}

#[test]
fn each_ec2_action_has_its_own_token_bucket() {
    let proxy = Proxy::moto();
    proxy.throttle_with_stopped_clock();
    let delete = || code(&proxy, "ec2", "delete_nat_gateway", json!({ "NatGatewayId": "nat-00000000000000001" }));
    assert_eq!(codes(10, delete), ["NatGatewayNotFound"; 10]);
    assert_eq!(delete(), "RequestLimitExceeded");
    assert_eq!(proxy.calls().last().map(|call| (call.status, call.injected)), Some((503, true)));
    assert_eq!(code(&proxy, "ec2", "describe_vpcs", json!({})), "done");
    proxy.advance(Duration::from_millis(900));
    assert_eq!(delete(), "RequestLimitExceeded", "the rate is one call per second");
    proxy.advance(Duration::from_millis(1100));
    assert_eq!(codes(3, delete), ["NatGatewayNotFound", "NatGatewayNotFound", "RequestLimitExceeded"]);
}

#[test]
fn token_buckets_refill_in_real_time_by_default() {
    let proxy = Proxy::moto();
    proxy.throttle();
    let delete = || code(&proxy, "ec2", "delete_nat_gateway", json!({ "NatGatewayId": "nat-00000000000000001" }));
    codes(15, delete);
    until("the bucket has filled again", || delete() == "NatGatewayNotFound");
}

#[test]
fn api_gateway_has_one_bucket_and_one_per_domain_action() {
    let proxy = Proxy::ministack();
    proxy.throttle_with_stopped_clock();
    let delete = || code(&proxy, "apigatewayv2", "delete_domain_name", json!({ "DomainName": "a.example.com" }));
    let list = || code(&proxy, "apigatewayv2", "get_apis", json!({}));
    assert_eq!((delete(), delete()), ("NotFoundException".into(), "TooManyRequestsException".into()));
    assert_eq!(codes(39, list), ["done"; 39], "the first deletion took one of forty tokens, the second none");
    assert_eq!(list(), "TooManyRequestsException");
    proxy.advance(Duration::from_secs(1));
    assert_eq!(codes(10, list), ["done"; 10]);
    assert_eq!((list(), delete()), ("TooManyRequestsException".into(), "TooManyRequestsException".into()));
    proxy.advance(Duration::from_secs(30));
    assert_eq!(delete(), "NotFoundException");
    let records = codes(6, || code(&proxy, "route53", "list_hosted_zones", json!({})));
    assert_eq!(records, ["done", "done", "done", "done", "done", "Throttling"]);
}

#[test]
fn new_ec2_objects_are_invisible_and_unusable_at_first() {
    let proxy = Proxy::moto();
    proxy.hide_new_objects(Lasts::Answers(2));
    let vpc = proxy.boto("ec2", "create_vpc", json!({ "CidrBlock": "10.0.0.0/16" }))["Vpc"]["VpcId"].clone();
    let by_id = || code(&proxy, "ec2", "describe_vpcs", json!({ "VpcIds": [vpc] }));
    let count = |method: &str, list: &str| {
        let filter = json!({ "Filters": [{ "Name": "vpc-id", "Values": [vpc] }] });
        proxy.boto("ec2", method, filter)[list].as_array().map(Vec::len)
    };
    let subnet = json!({ "VpcId": vpc, "CidrBlock": "10.0.0.0/24" });
    assert_eq!(code(&proxy, "ec2", "create_subnet", subnet.clone()), "InvalidVpcID.NotFound");
    assert_eq!(by_id(), "InvalidVpcID.NotFound");
    assert_eq!(by_id(), "done");
    let acls = || count("describe_network_acls", "NetworkAcls");
    assert_eq!(
        [acls(), acls(), acls()],
        [Some(0), Some(0), Some(1)],
        "the default objects of a VPC become visible later"
    );
    let subnet = proxy.boto("ec2", "create_subnet", subnet)["Subnet"]["SubnetId"].clone();
    let listed = || count("describe_subnets", "Subnets");
    assert_eq!([listed(), listed(), listed()], [Some(0), Some(0), Some(1)]);
    assert_eq!(count("describe_vpcs", "Vpcs"), Some(1));

    let table = proxy.boto("ec2", "create_route_table", json!({ "VpcId": vpc }))["RouteTable"]["RouteTableId"].clone();
    let by_table = || code(&proxy, "ec2", "describe_route_tables", json!({ "RouteTableIds": [table] }));
    assert_eq!(codes(3, by_table), ["InvalidRouteTableID.NotFound", "InvalidRouteTableID.NotFound", "done"]);
    let gateway =
        proxy.boto("ec2", "create_internet_gateway", json!({}))["InternetGateway"]["InternetGatewayId"].clone();
    let attach = json!({ "InternetGatewayId": gateway, "VpcId": vpc });
    let attached = codes(3, || code(&proxy, "ec2", "attach_internet_gateway", attach.clone()));
    assert_eq!(attached, ["InvalidInternetGatewayID.NotFound", "InvalidInternetGatewayID.NotFound", "done"]);
    assert_eq!(code(&proxy, "ec2", "detach_internet_gateway", attach), "Gateway.NotAttached");

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
    let again = json!({ "AssociationId": association["AssociationId"], "RouteTableId": table });
    assert_eq!(code(&proxy, "ec2", "replace_route_table_association", again), "InvalidAssociationID.NotFound");
    assert_eq!(parts(), (Some(2), Some(1)));
    assert_eq!(code(&proxy, "ec2", "replace_route", route), "done");
}

#[test]
fn new_gateway_objects_are_invisible_and_unusable_at_first() {
    let proxy = Proxy::ministack();
    proxy.account().create_function("f", "def handler(event, context):\n    return {}\n");
    proxy.hide_new_objects(Lasts::Answers(3));
    let api = proxy.boto("apigatewayv2", "create_api", json!({ "Name": "a", "ProtocolType": "HTTP" }))["ApiId"].clone();
    let stage = json!({ "ApiId": api, "StageName": "$default" });
    assert_eq!(code(&proxy, "apigatewayv2", "get_api", json!({ "ApiId": api })), "NotFoundException");
    assert_eq!(code(&proxy, "apigatewayv2", "create_stage", stage.clone()), "NotFoundException");
    assert_eq!(proxy.boto("apigatewayv2", "get_apis", json!({}))["Items"], json!([]));
    let permission = json!({
        "FunctionName": "f", "StatementId": "s", "Action": "lambda:InvokeFunction", "Principal": "apigateway.amazonaws.com",
    });
    proxy.boto("lambda", "add_permission", permission);
    let policies = codes(4, || code(&proxy, "lambda", "get_policy", json!({ "FunctionName": "f" })));
    let missing = "ResourceNotFoundException";
    assert_eq!(policies, [missing, missing, missing, "done"]);
    proxy.boto("logs", "create_log_group", json!({ "logGroupName": "/g" }));
    let retention = || {
        let retention = json!({ "logGroupName": "/g", "retentionInDays": 7 });
        code(&proxy, "logs", "put_retention_policy", retention)
    };
    assert_eq!(codes(2, retention), [missing, missing]);
    assert_eq!(proxy.boto("logs", "describe_log_groups", json!({}))["logGroups"], json!([]));
    assert_eq!(retention(), "done");
    proxy.boto("apigatewayv2", "create_stage", stage.clone());
    assert_eq!(proxy.boto("apigatewayv2", "get_stages", json!({ "ApiId": api }))["Items"], json!([]));
    assert_eq!(code(&proxy, "apigatewayv2", "get_stage", stage.clone()), "NotFoundException");
    proxy.hide_new_objects(Lasts::NOT_AT_ALL);
    assert_eq!(code(&proxy, "apigatewayv2", "get_stage", stage), "done");
}

#[test]
fn deletion_is_rejected_for_a_while_after_its_first_attempt() {
    let proxy = Proxy::moto();
    proxy.in_use("DeleteVpc", Lasts::Answers(2));
    let vpc = proxy.boto("ec2", "create_vpc", json!({ "CidrBlock": "10.0.0.0/16" }))["Vpc"]["VpcId"].clone();
    let delete = || code(&proxy, "ec2", "delete_vpc", json!({ "VpcId": vpc }));
    assert_eq!(codes(2, delete), ["DependencyViolation"; 2]);
    assert!(proxy.calls().last().is_some_and(|call| call.injected));
    assert_eq!(delete(), "done");
}

/// Calls EC2 without boto3, which makes only one call at a time.
fn ec2(port: u16, account: &str, action: &str) -> String {
    let scope = "AWS4-HMAC-SHA256 Credential=1/20260101/us-east-1/ec2/aws4_request, SignedHeaders=host, Signature=0";
    let request = http::Request::new(port, "POST", "/")
        .header("authorization", scope)
        .header("x-moto-account-id", account)
        .header("content-type", "application/x-www-form-urlencoded")
        .body(&format!("Action={action}&Version=2016-11-15"));
    let answer = request.send().expect("there is a response");
    assert_eq!(answer.status, 200, "{answer:?}");
    answer.body
}

const CREATE: &str = "CreateVpc&CidrBlock=10.0.0.0%2F16";

/// The number of VPCs in an account, read without the proxy.
fn vpcs(account: &Account) -> usize {
    ec2(account.emulator.port, &account.id, "DescribeVpcs").matches("<vpcId>").count()
}

#[test]
fn paused_proxy_answers_no_call() {
    let proxy = Proxy::moto();
    let before = vpcs(proxy.account());
    proxy.pause_when(1, |record| record.call.action == "CreateVpc" && record.worked.is_some());
    std::thread::scope(|scope| {
        let creation = scope.spawn(|| ec2(proxy.port(), "", CREATE));
        until("the proxy pauses", || proxy.is_paused());
        let other = scope.spawn(|| ec2(proxy.port(), "", CREATE));
        until("another call has arrived", || proxy.count("CreateVpc") == 2);
        assert_eq!(vpcs(proxy.account()), before + 1, "one call has finished its work");
        assert!(
            proxy.calls().iter().all(|call| call.ended.is_none()) && !creation.is_finished() && !other.is_finished()
        );
        proxy.finish_calls();
        assert!(!proxy.is_paused() && proxy.calls().iter().all(|call| call.ended.is_some()));
    });
    assert_eq!(vpcs(proxy.account()), before + 2);
    assert_eq!(proxy.calls().len(), 2, "the fence is not a call");
}

#[test]
fn observer_runs_after_each_change_and_before_the_next() {
    let proxy = Proxy::moto();
    let before = vpcs(proxy.account());
    let (account, seen) = (proxy.account().clone(), Arc::<Mutex<Vec<usize>>>::default());
    let note = Arc::clone(&seen);
    let observer = proxy.after_each_change(move |call| {
        assert_eq!(call.action, "CreateVpc");
        note.lock().expect("no panic").push(vpcs(&account));
    });
    std::thread::scope(|scope| {
        for _ in 0..3 {
            scope.spawn(|| ec2(proxy.port(), "", CREATE));
        }
    });
    ec2(proxy.port(), "", "DescribeVpcs");
    drop(observer);
    ec2(proxy.port(), "", CREATE);
    assert_eq!(*seen.lock().expect("no panic"), [before + 1, before + 2, before + 3]);
}

#[test]
fn lambda_has_one_bucket_for_get_policy_and_one_for_other_calls() {
    let proxy = Proxy::ministack();
    proxy.throttle_with_stopped_clock();
    let policy = || code(&proxy, "lambda", "get_policy", json!({ "FunctionName": "absent" }));
    let remove =
        || code(&proxy, "lambda", "remove_permission", json!({ "FunctionName": "absent", "StatementId": "s" }));
    assert_eq!(codes(16, policy).pop().as_deref(), Some("TooManyRequestsException"));
    assert_eq!(codes(15, remove), ["ResourceNotFoundException"; 15], "they have another bucket");
    assert_eq!(code(&proxy, "lambda", "list_functions", json!({})), "TooManyRequestsException", "reads count too");
    proxy.advance(Duration::from_secs(1));
    let refilled = codes(16, policy);
    assert_eq!(refilled[..15], ["ResourceNotFoundException"; 15]);
    assert_eq!(refilled[15], "TooManyRequestsException");
}
