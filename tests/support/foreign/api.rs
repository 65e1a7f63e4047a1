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
}
