//! Gateways on ministack, and a gateway together with a network on moto.

use super::{REQUIRED, apply, destroy, id, import, import_with_group, provider, workspace};
use crate::support::emulator::Emulator;
use crate::support::http;
use crate::support::terraform::Workspace;

const SHOP: &str = "fgw_http_gateway.shop";

const ECHO: &str = "def handler(event, context):\n    return {'statusCode': 200, 'body': 'called'}\n";

const ALLOW: &str =
    "def handler(event, context):\n    return {'isAuthorized': event['headers'].get('x-key') == 'yes'}\n";

/// A gateway with these routes and further lines. The values of the routes are the rest of their objects.
fn gateway(name: &str, function: &str, routes: &[(&str, &str)], lines: &str) -> String {
    let routes: String = routes
        .iter()
        .map(|(key, rest)| {
            format!(
                "    \"{key}\" = {{\n      faas_function_arn = \"{function}\"\n      payload_format_version = \"2.0\"\n{rest}\n    \
                 }}\n"
            )
        })
        .collect();
    format!(
        "resource \"fgw_http_gateway\" \"shop\" {{\n  name = \"{name}\"\n  route_config = {{\n{routes}  }}\n{lines}\n}}\n"
    )
}

/// The status of a request to the gateway.
fn status(workspace: &Workspace, port: u16, path: &str, key: Option<&str>) -> u16 {
    let url = workspace.state().attribute(SHOP, "invoke_url").as_str().expect("a URL").to_owned();
    let host = url.strip_prefix("http://").expect("the emulator uses plain HTTP");
    let request = http::Request::new(port, "GET", path).header("host", host);
    let request = key.into_iter().fold(request, |request, key| request.header("x-key", key));
    request.send().expect("an answer").status
}

#[test]
fn a_gateway_lives_on_plain_ministack() {
    let emulator = Emulator::plain_ministack();
    let (account, workspace) = (emulator.default_account(), workspace(&provider(emulator, emulator)));
    let function = account.create_function("shop-echo", ECHO);
    account.create_function("shop-allow", ALLOW);
    let config =
        |routes: &[(&str, &str)], lines: &str| REQUIRED.to_owned() + &gateway("shop", &function, routes, lines);

    let tagged = "  api_tags = {\n    Team = \"blue\"\n  }\n";
    apply(&workspace, &config(&[("GET /a", ""), ("GET /b", "")], tagged));
    let status = |path: &str, key: Option<&str>| status(&workspace, emulator.port, path, key);
    assert_eq!((status("/a", None), status("/b", None), status("/c", None)), (200, 200, 404));

    let guarded = "      authorizer_name = \"guard\"";
    let guard = "  faas_authorizers = {\n    guard = {\n      authorizer_name = \"shop-allow\"\n      \
                 authorizer_payload_format_version = \"2.0\"\n      enable_simple_responses = true\n    }\n  }\n  \
                 jwt_authorizers = {\n    users = {\n      issuer = \"https://id.example.com\"\n      \
                 audience = [\"shop\"]\n    }\n  }\n  access_log_logservice_group_name = \"/shop/access\"";
    let scoped = "      authorizer_name = \"users\"\n      authorization_scopes = [\"read\"]";
    let signed = "      authorization_type = \"AWS_IAM\"";
    let routes = [("GET /a", ""), ("GET /c", guarded), ("GET /d", scoped), ("GET /e", signed)];
    apply(&workspace, &config(&routes, &format!("{tagged}{guard}")));
    assert_eq!((status("/b", None), status("/c", Some("no")), status("/c", Some("yes"))), (404, 403, 200));
    assert_eq!((status("/d", None), status("/e", None)), (401, 403));
    import_with_group(&workspace, SHOP);

    let api = id(&workspace, SHOP);
    destroy(&workspace, std::slice::from_ref(&account), &[&api, "http_gateway/shop"]);
    for function in ["shop-echo", "shop-allow"] {
        account.boto("lambda", "delete_function", serde_json::json!({ "FunctionName": function }));
    }
}

#[test]
fn a_network_on_moto_and_a_gateway_on_ministack_live_together() {
    let (moto, ministack) = (Emulator::plain_moto(), Emulator::plain_ministack());
    let (account, workspace) = (ministack.default_account(), workspace(&provider(moto, ministack)));
    let vpcs = moto.default_account().boto("ec2", "describe_vpcs", serde_json::json!({}));
    let caller = account.boto("sts", "get_caller_identity", serde_json::json!({}));
    assert_ne!(vpcs["Vpcs"][0]["OwnerId"], caller["Account"], "EC2 and STS report different accounts");
    let function = account.create_function("mixed-echo", ECHO);
    let network = |tag: &str| {
        format!(
            "resource \"fgw_four_tier_vpc\" \"main\" {{\n  vpc_name = \"mixed\"\n  cidr_block = \"10.0.0.0/16\"\n  \
             num_nat_gateways = 1\n  num_availability_zones = 2\n  custom_tags = {{\n    Team = \"{tag}\"\n  }}\n}}\n"
        )
    };
    let config = |tag: &str| REQUIRED.to_owned() + &network(tag) + &gateway("mixed", &function, &[("GET /a", "")], "");
    apply(&workspace, &config("blue"));
    apply(&workspace, &config("green"));
    assert_eq!(status(&workspace, ministack.port, "/a", None), 200);

    let (vpc, api) = (id(&workspace, "fgw_four_tier_vpc.main"), id(&workspace, SHOP));
    import(&workspace, "fgw_four_tier_vpc.main");
    import(&workspace, SHOP);
    let roots = [&vpc, &api, "four_tier_vpc/mixed", "http_gateway/mixed"];
    destroy(&workspace, &[account.clone(), moto.default_account()], &roots);
    account.boto("lambda", "delete_function", serde_json::json!({ "FunctionName": "mixed-echo" }));
}

#[test]
fn a_gateway_without_authorizers_lives_on_plain_moto() {
    let moto = Emulator::plain_moto();
    let (account, workspace) = (moto.default_account(), workspace(&provider(moto, moto)));
    let function = account.create_function("on-moto", ECHO);
    let config =
        |routes: &[(&str, &str)], lines: &str| REQUIRED.to_owned() + &gateway("on-moto", &function, routes, lines);
    apply(&workspace, &config(&[("GET /a", ""), ("GET /b", "")], ""));
    apply(&workspace, &config(&[("GET /a", ""), ("GET /c", "")], ""));
    import(&workspace, SHOP);

    // moto cannot list authorizers.
    let guard = "  faas_authorizers = {\n    guard = {\n      authorizer_name = \"on-moto\"\n    }\n  }";
    workspace.config(&config(&[("GET /a", "      authorizer_name = \"guard\"")], guard));
    let failed = workspace.apply(&[]);
    failed.failed_with("GetAuthorizers");
    failed.failed_with(&format!(
        "HTTP status 500 with a response of type text/html instead of an AWS error. The endpoint is {}.",
        moto.endpoint()
    ));
    apply(&workspace, &config(&[("GET /a", "")], ""));
    let api = id(&workspace, SHOP);
    destroy(&workspace, std::slice::from_ref(&account), &[&api, "http_gateway/on-moto"]);
    account.boto("lambda", "delete_function", serde_json::json!({ "FunctionName": "on-moto" }));
}
