//! The steps of the guide "Adopting an API" for a module with resources of hashicorp/aws in the same state. They run
//! with that provider if `FGW_BENCH_AWS_PROVIDER` names the folder of its binary. Otherwise, boto3 builds the API.

use serde_json::json;

use super::adoption::changes;
use super::{THIS, TestEnv, text};
use crate::support::adoption::{generate, install_hashicorp_aws, removed, without_adopt};
use crate::support::foreign::api::ForeignApi;

/// The module that builds the API: two routes with an integration each, a stage with access logs, and the permissions
/// of the functions.
const MODULE: &str = r#"
variable "functions" {
  type = map(string)
}

resource "aws_apigatewayv2_api" "this" {
  name          = "legacy"
  protocol_type = "HTTP"
  tags          = { Owner = "web" }
  cors_configuration {
    allow_methods = ["GET"]
    allow_origins = ["https://example.com"]
  }
}

resource "aws_apigatewayv2_integration" "this" {
  for_each               = var.functions
  api_id                 = aws_apigatewayv2_api.this.id
  integration_type       = "AWS_PROXY"
  integration_uri        = each.value
  payload_format_version = "2.0"
}

resource "aws_apigatewayv2_route" "this" {
  for_each  = var.functions
  api_id    = aws_apigatewayv2_api.this.id
  route_key = "GET /${each.key}"
  target    = "integrations/${aws_apigatewayv2_integration.this[each.key].id}"
}

resource "aws_cloudwatch_log_group" "this" {
  name              = "/legacy/access"
  retention_in_days = 30
}

resource "aws_apigatewayv2_stage" "this" {
  api_id      = aws_apigatewayv2_api.this.id
  name        = "$default"
  auto_deploy = true
  access_log_settings {
    destination_arn = aws_cloudwatch_log_group.this.arn
    format          = "{\"id\":\"$context.requestId\"}"
  }
}

output "api_id" {
  value = aws_apigatewayv2_api.this.id
}
"#;

/// The configuration of the module, and what stays in the hands of hashicorp/aws: the permissions of the functions.
fn configuration(env: &TestEnv, api: &str, module: &str) -> String {
    let function = |name: &str| format!("{name} = \"{}\"", env.arn(name));
    let functions = format!("{{\n    {}\n    {}\n  }}", function("orders"), function("users"));
    let permission = format!(
        "resource \"aws_lambda_permission\" \"api\" {{\n  for_each = {functions}\n  function_name = each.value\n  action = \
         \"lambda:InvokeFunction\"\n  principal = \"apigateway.amazonaws.com\"\n  source_arn = \
         \"arn:aws:execute-api:us-east-1:{}:${{{api}}}/*/*\"\n}}\n",
        env.proxy.account().id
    );
    match module {
        "" => permission,
        module => {
            format!("module \"{module}\" {{\n  source = \"./legacy\"\n  functions = {functions}\n}}\n{permission}")
        }
    }
}

#[test]
fn an_api_of_a_module_is_adopted_in_its_state() {
    let env = TestEnv::with_terraform();
    let services = ["apigatewayv2", "lambda", "logs"];
    if !install_hashicorp_aws(&env.workspace, &env.proxy, &services) {
        let api = ForeignApi::new(&env.proxy, "HTTP");
        api.route("GET /orders", "orders", &json!({}));
        api.create("stage", json!({ "StageName": "$default", "AutoDeploy": true }));
        generate(&env.workspace, THIS, &api.id, "");
        assert!(env.workspace.apply(&[]).says("1 imported, 0 added, 1 changed, 0 destroyed"));
        env.workspace.assert_nothing_to_do();
        return;
    }
    std::fs::create_dir(env.workspace.path().join("legacy")).expect("the directory is ours");
    env.workspace.write("legacy/main.tf", MODULE);
    let before = configuration(&env, "module.legacy.api_id", "legacy");
    env.workspace.config(&format!("{before}output \"api_id\" {{\n  value = module.legacy.api_id\n}}\n"));
    assert_eq!(env.workspace.run(&["get"]).code, 0);
    env.workspace.apply(&[]).succeeded();
    let apis = env.proxy.account().boto("apigatewayv2", "get_apis", json!({}));
    let id = text(&apis["Items"][0]["ApiId"]);

    let generated = generate(&env.workspace, THIS, &id, &before);
    let import = format!("import {{\n  to = {THIS}\n  id = \"{id}\"\n}}\n");
    let after = configuration(&env, &format!("{THIS}.api_id"), "");
    env.workspace.config(&format!("{import}{}{after}", removed("module.legacy")));
    env.proxy.clear_calls();
    let applied = env.workspace.apply(&[]);
    assert!(applied.says("1 imported, 0 added, 1 changed, 0 destroyed"), "{applied}");
    // API, stage and log group.
    assert_eq!(changes(&env), ["AddPermission 2", "TagResource 3"]);
    assert_eq!(env.attribute("access_log_logservice_group_retention_in_days"), json!(30));

    // The blocks have served their purpose. The permissions of hashicorp/aws use an output, and stay as they are.
    env.workspace.config(&after);
    env.workspace.write("generated.tf", &without_adopt(&generated));
    env.workspace.assert_nothing_to_do();
    assert_eq!(env.send("GET", "/users", None).body, "users /users");
    env.workspace.destroy().succeeded();
    env.proxy.account().assert_nothing_of_ours_is_left();
}
