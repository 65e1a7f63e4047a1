//! APIs that boto3 builds.

use std::cell::RefCell;
use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::text;
use crate::support::proxy::Proxy;

/// An API built with boto3 in the shape of hashicorp/aws: an integration for each route.
pub(crate) struct ForeignApi<'a> {
    proxy: &'a Proxy,
    pub(crate) id: String,
    /// The functions and the IDs of its permissions.
    permissions: RefCell<BTreeSet<(String, String)>>,
}

impl<'a> ForeignApi<'a> {
    pub(crate) fn new(proxy: &'a Proxy, protocol: &str) -> Self {
        let mut api = json!({ "Name": "legacy", "ProtocolType": protocol, "Tags": { "Owner": "web" } });
        if protocol == "WEBSOCKET" {
            api["RouteSelectionExpression"] = json!("$request.body.action");
        }
        let id = text(&proxy.account().boto("apigatewayv2", "create_api", api)["ApiId"]);
        Self::within(proxy, id)
    }

    /// An API that exists.
    pub(crate) fn within(proxy: &'a Proxy, id: String) -> Self {
        Self { proxy, id, permissions: RefCell::default() }
    }

    pub(crate) fn create(&self, what: &str, mut arguments: Value) -> Value {
        arguments["ApiId"] = json!(self.id);
        self.proxy.account().boto("apigatewayv2", &format!("create_{what}"), arguments)
    }

    /// A route to a function with an integration of its own. Returns the ID of the route.
    pub(crate) fn route(&self, key: &str, function: &str, further: &Value) -> String {
        let integration = json!({ "IntegrationType": "AWS_PROXY", "IntegrationUri": self.arn(function),
            "PayloadFormatVersion": "2.0", "IntegrationMethod": "POST" });
        let target = text(&self.create("integration", integration)["IntegrationId"]);
        let mut route = json!({ "RouteKey": key, "Target": format!("integrations/{target}") });
        route.as_object_mut().expect("an object").extend(further.as_object().cloned().unwrap_or_default());
        let id = text(&self.create("route", route)["RouteId"]);
        self.allow(function);
        id
    }

    /// The ARN of a function of the account.
    fn arn(&self, function: &str) -> String {
        format!("arn:aws:lambda:us-east-1:{}:function:{function}", self.proxy.account().id)
    }

    /// The permission that other tools create for each function, with an ID of their own.
    fn allow(&self, function: &str) {
        let source = format!("arn:aws:execute-api:us-east-1:{}:{}/*/*", self.proxy.account().id, self.id);
        self.permit(
            function,
            &json!({ "StatementId": format!("AllowAPIGatewayInvoke-{}", self.id),
            "Principal": "apigateway.amazonaws.com", "SourceArn": source }),
        );
    }

    /// Adds a statement to the policy of a function once.
    pub(crate) fn permit(&self, function: &str, statement: &Value) {
        if self.permissions.borrow_mut().insert((function.to_owned(), text(&statement["StatementId"]))) {
            let mut permission = json!({ "FunctionName": self.arn(function), "Action": "lambda:InvokeFunction" });
            permission.as_object_mut().expect("an object").extend(statement.as_object().cloned().unwrap_or_default());
            self.proxy.account().boto("lambda", "add_permission", permission);
        }
    }

    /// Removes the permissions that something else created. Panics if one of them does not exist.
    pub(crate) fn remove_permissions(&self) {
        let account = self.proxy.account();
        for (function, id) in self.permissions.borrow().iter() {
            let permission = json!({ "FunctionName": function, "StatementId": id });
            account.boto("lambda", "remove_permission", permission);
        }
    }

    pub(crate) fn authorizer(&self, name: &str) -> String {
        let arn = self.arn("guard");
        let uri = format!("arn:aws:apigateway:us-east-1:lambda:path/2015-03-31/functions/{arn}/invocations");
        let authorizer = json!({ "Name": name, "AuthorizerType": "REQUEST", "AuthorizerUri": uri,
            "AuthorizerPayloadFormatVersion": "2.0", "EnableSimpleResponses": true,
            "IdentitySource": ["$request.header.x-key"], "AuthorizerResultTtlInSeconds": 0 });
        let id = text(&self.create("authorizer", authorizer)["AuthorizerId"]);
        self.allow("guard");
        id
    }

    /// A log group that keeps its events for 14 days and forwards them to a function. Returns its ARN.
    pub(crate) fn log_group(&self, name: &str, function: &str) -> String {
        let account = self.proxy.account();
        account.boto("logs", "create_log_group", json!({ "logGroupName": name }));
        account.boto("logs", "put_retention_policy", json!({ "logGroupName": name, "retentionInDays": 14 }));
        self.permit(function, &json!({ "StatementId": "logs", "Principal": "logs.us-east-1.amazonaws.com" }));
        let filter = json!({ "logGroupName": name, "filterName": format!("to-{function}"), "filterPattern": "",
            "destinationArn": self.arn(function) });
        account.boto("logs", "put_subscription_filter", filter);
        format!("arn:aws:logs:us-east-1:{}:log-group:{name}", account.id)
    }

    /// The domain `api.example.com` with a certificate, a mapping to the stage `$default`, and a record. Returns the ID
    /// of its hosted zone.
    pub(crate) fn domain(&self) -> String {
        self.domain_of("$default")
    }

    /// The same with a mapping to another stage.
    pub(crate) fn domain_of(&self, stage: &str) -> String {
        const NAME: &str = "api.example.com";
        let account = self.proxy.account();
        let certificate = account.boto("acm", "request_certificate", json!({ "DomainName": "*.example.com" }));
        let configuration = json!([{ "CertificateArn": certificate["CertificateArn"], "EndpointType": "REGIONAL",
            "SecurityPolicy": "TLS_1_2" }]);
        let domain = json!({ "DomainName": NAME, "DomainNameConfigurations": configuration });
        let domain = account.boto("apigatewayv2", "create_domain_name", domain);
        self.create("api_mapping", json!({ "DomainName": NAME, "Stage": stage }));
        let zone = json!({ "Name": "example.com", "CallerReference": "legacy" });
        let zone = text(&account.boto("route53", "create_hosted_zone", zone)["HostedZone"]["Id"]);
        let target = &domain["DomainNameConfigurations"][0];
        let alias = json!({ "HostedZoneId": target["HostedZoneId"], "DNSName": target["ApiGatewayDomainName"],
            "EvaluateTargetHealth": false });
        let record = json!({ "Name": NAME, "Type": "A", "AliasTarget": alias });
        let batch = json!({ "Changes": [{ "Action": "CREATE", "ResourceRecordSet": record }] });
        account.boto("route53", "change_resource_record_sets", json!({ "HostedZoneId": zone, "ChangeBatch": batch }));
        zone.trim_start_matches("/hostedzone/").to_owned()
    }
}
