//! Corrections of ministack: the settings of a stage and of its routes, disabled endpoints, and IP address types.

use serde_json::{Value, json};

use super::Gateway;
use crate::support::http::{self, Answer};
use crate::support::proxy::Proxy;

impl Gateway {
    fn update_stage(&self, settings: Value) {
        self.call("update_stage", of_stage(settings));
    }

    fn get(&self, path: &str) -> Answer {
        http::gateway(self.proxy.account(), &self.api, "GET", path).send().expect("a response")
    }

    /// The statuses of this many requests.
    fn statuses(&self, count: usize) -> Vec<u16> {
        (0..count).map(|_| self.get("/hello").status).collect()
    }
}

fn of_stage(mut arguments: Value) -> Value {
    arguments["StageName"] = "$default".into();
    arguments
}

#[test]
fn deleting_log_or_route_settings_keeps_the_stage() {
    let gateway = Gateway::new();
    gateway.call("update_stage", json!({"StageName": "$default", "AccessLogSettings": {}}));
    assert_eq!(gateway.stage()["AccessLogSettings"]["Format"], "$context.requestId");
    gateway.call("delete_access_log_settings", json!({"StageName": "$default"}));
    let stage = gateway.stage();
    assert!(stage["AccessLogSettings"]["Format"].is_null(), "{stage}");
    assert_eq!(stage["RouteSettings"]["GET /hello"]["ThrottlingBurstLimit"], 5);
    let settings = json!({"StageName": "$default", "RouteKey": "GET /hello"});
    gateway.call("delete_route_settings", settings.clone());
    assert!(gateway.stage()["RouteSettings"]["GET /hello"].is_null());
    assert_eq!(gateway.stage()["AutoDeploy"], true);
    assert_eq!(gateway.rejected("delete_route_settings", settings), "NotFoundException");
}

#[test]
fn updates_merge_settings_by_key_and_by_member() {
    let gateway = Gateway::new();
    let metrics = json!({"DetailedMetricsEnabled": false});
    assert_eq!(gateway.stage()["DefaultRouteSettings"], metrics);
    gateway.update_stage(json!({"DefaultRouteSettings": {"ThrottlingRateLimit": 2.5}}));
    gateway.update_stage(json!({"DefaultRouteSettings": {"DetailedMetricsEnabled": true}}));
    gateway.update_stage(json!({"DefaultRouteSettings": {}, "RouteSettings": {}}));
    let stage = gateway.stage();
    assert_eq!(stage["DefaultRouteSettings"], json!({"ThrottlingRateLimit": 2.5, "DetailedMetricsEnabled": true}));
    assert_eq!(
        stage["RouteSettings"],
        json!({"GET /hello": {"ThrottlingBurstLimit": 5, "DetailedMetricsEnabled": false}})
    );
    gateway.update_stage(json!({"RouteSettings": {"GET /hello": {"ThrottlingRateLimit": 1}}}));
    let merged = json!({"ThrottlingRateLimit": 1.0, "ThrottlingBurstLimit": 5, "DetailedMetricsEnabled": false});
    assert_eq!(gateway.stage()["RouteSettings"], json!({"GET /hello": merged}));
}

#[test]
fn settings_of_a_missing_route_block_those_of_others() {
    let gateway = Gateway::new();
    let route = gateway.call("create_route", json!({"RouteKey": "GET /other"}));
    let settings = |key: &str| of_stage(json!({"RouteSettings": {key: {"ThrottlingRateLimit": 1}}}));
    assert_eq!(gateway.rejected("update_stage", settings("GET /missing")), "NotFoundException");
    gateway.update_stage(settings("GET /other"));
    gateway.call("delete_route", json!({"RouteId": route["RouteId"]}));
    assert_eq!(gateway.rejected("update_stage", settings("GET /hello")), "NotFoundException");
    gateway.update_stage(json!({"Description": "without settings of routes"}));
    gateway.call("delete_route_settings", of_stage(json!({"RouteKey": "GET /other"})));
    gateway.update_stage(settings("GET /hello"));
}

#[test]
fn negative_limits_and_execution_logs_are_rejected() {
    let gateway = Gateway::new();
    for settings in [json!({"ThrottlingRateLimit": -1}), json!({"LoggingLevel": "INFO"})] {
        let of_route = of_stage(json!({"RouteSettings": {"GET /hello": settings}}));
        for arguments in [of_route, of_stage(json!({"DefaultRouteSettings": settings}))] {
            assert_eq!(gateway.rejected("update_stage", arguments), "BadRequestException", "{settings}");
        }
    }
}

#[test]
fn routes_are_throttled_by_their_own_or_the_default_limits() {
    let gateway = Gateway::new();
    // The limits refill a bucket with one token in 17 minutes.
    let limits = |burst: u32| json!({"ThrottlingRateLimit": 0.001, "ThrottlingBurstLimit": burst});
    gateway.update_stage(json!({"DefaultRouteSettings": limits(1)}));
    assert_eq!(gateway.statuses(2), [200, 200], "a route with settings of its own ignores the default ones");
    gateway.update_stage(json!({"RouteSettings": {"GET /hello": limits(2)}}));
    assert_eq!(gateway.statuses(3), [200, 200, 429]);
    gateway.call("delete_route_settings", of_stage(json!({"RouteKey": "GET /hello"})));
    assert_eq!(gateway.statuses(2), [200, 429], "the default limits apply again");
    gateway.update_stage(json!({"DefaultRouteSettings": {"ThrottlingRateLimit": 0}}));
    assert_eq!((gateway.get("/hello").status, gateway.get("/missing").status), (429, 404));
    assert_eq!(gateway.get("/hello").json(), json!({"message": "Too Many Requests"}));
}

#[test]
fn a_disabled_endpoint_answers_404_once_it_is_deployed() {
    let gateway = Gateway::new();
    gateway.call("update_api", json!({"DisableExecuteApiEndpoint": true}));
    let answer = gateway.get("/hello");
    assert_eq!((answer.status, answer.json()), (404, json!({"message": "Not Found"})));
    gateway.call("update_api", json!({"DisableExecuteApiEndpoint": false}));
    assert_eq!(gateway.get("/hello").status, 200);
}

#[test]
fn apis_and_domains_keep_their_ip_address_types() {
    let proxy = Proxy::ministack();
    let call = |method: &str, arguments: Value| proxy.boto("apigatewayv2", method, arguments);
    let api = call("create_api", json!({"Name": "a", "ProtocolType": "HTTP", "IpAddressType": "dualstack"}));
    let id = json!({"ApiId": api["ApiId"]});
    assert_eq!(call("get_api", id.clone())["IpAddressType"], "dualstack");
    assert_eq!(call("update_api", json!({"ApiId": api["ApiId"], "Name": "b"}))["IpAddressType"], "dualstack");
    call("update_api", json!({"ApiId": api["ApiId"], "IpAddressType": "ipv4"}));
    assert_eq!(call("get_api", id)["IpAddressType"], "ipv4");
    assert_eq!(call("create_api", json!({"Name": "c", "ProtocolType": "HTTP"}))["IpAddressType"], "ipv4");

    let domain = |method: &str, configuration: Value| {
        let domain = json!({"DomainName": "a.example.com", "DomainNameConfigurations": [configuration]});
        call(method, domain)["DomainNameConfigurations"][0]["IpAddressType"].clone()
    };
    assert_eq!(domain("create_domain_name", json!({"IpAddressType": "dualstack"})), "dualstack");
    assert_eq!(domain("update_domain_name", json!({"CertificateArn": "arn:aws:acm:x"})), "dualstack");
    assert_eq!(domain("update_domain_name", json!({"IpAddressType": "ipv4"})), "ipv4");
}
