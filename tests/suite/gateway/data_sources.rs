//! The data source `fgw_http_gateway` under Terraform, in a configuration that does not manage the gateway.

use serde_json::json;

use super::import::whole;
use super::{TestEnv, text, with};
use crate::both::{Reader, example_of_data_source};

#[test]
fn a_gateway_is_found_by_id_name_and_tags_with_its_outputs() {
    let env = TestEnv::new();
    let account = env.proxy.account();
    account.boto("acm", "request_certificate", json!({ "DomainName": "*.example.com" }));
    let zone = json!({ "Name": "example.com", "CallerReference": account.id });
    let zone = text(&account.boto("route53", "create_hosted_zone", zone)["HostedZone"]["Id"]);
    let domain = json!({
        "domain_name": "shop.example.com", "certificate_domain": "*.example.com", "create_dns_entry": true,
        "hosted_zone_id": zone.trim_start_matches("/hostedzone/"),
    });
    env.apply(&with(&whole(&env), &domain));
    let other = Reader::of(env.subject());
    other.read(&format!("  id = \"{}\"", text(&env.attribute("id"))));
    other.assert_same_as_resource(15);
    assert_eq!(other.attribute("invoke_url"), "https://shop.example.com");
    assert_eq!(other.attribute("authorizer_ids").as_object().map(|it| it.len()), Some(3));
    let once = env.proxy.count("GetApis");
    for lines in ["  name = \"shop\"", "  name = \"shop\"\n  tags = { team = \"web\" }", "  tags = { team = \"web\" }"]
    {
        other.read(lines);
        other.assert_same_as_resource(15);
        assert_eq!(env.proxy.count("GetApis"), once + 1, "{lines}");
    }
    other.workspace.assert_nothing_to_do();
    other.workspace.destroy().succeeded();
    env.destroy();
}

#[test]
fn a_missing_or_ambiguous_gateway_is_an_error_with_a_hint() {
    let env = TestEnv::new();
    let other = Reader::of(env.subject());
    let rejected = |lines: &str| other.plan(lines);
    rejected("  name = \"shop\"").failed_with("Could not read fgw_http_gateway: none matches name \"shop\"");
    let api = json!({ "Name": "shop", "ProtocolType": "HTTP" });
    let unmanaged = text(&env.proxy.account().boto("apigatewayv2", "create_api", api)["ApiId"]);
    rejected("  name = \"shop\"").failed_with("created none there");
    rejected(&format!("  id = \"{unmanaged}\""))
        .failed_with(&format!("Could not read fgw_http_gateway {unmanaged}: not managed by fgw"));
    rejected("  id = \"00000000\"").failed_with("Could not read fgw_http_gateway 00000000: not found");
    rejected("").failed_with("Missing search criteria for fgw_http_gateway");

    let routes = json!({ "route_config": { "GET /orders": env.to("orders") } });
    let tagged = |env: &str| with(&routes, &json!({ "api_tags": { "env": env } }));
    env.configs(&[("this", &tagged("prod")), ("second", &tagged("test"))], &json!({}));
    env.workspace.apply(&[]).succeeded();
    let several = rejected("  name = \"shop\"");
    several.failed_with("Could not read fgw_http_gateway: 2 match name \"shop\"");
    let second = text(env.workspace.state().attribute("fgw_http_gateway.second", "id"));
    let this = text(&env.attribute("id"));
    for words in [this.as_str(), &second, "env = \"test\""] {
        several.failed_with(words);
    }
    other.read("  name = \"shop\"\n  tags = { env = \"test\" }");
    assert_eq!(other.attribute("api_id"), second.as_str());
    env.proxy.account().boto("apigatewayv2", "delete_api", json!({ "ApiId": unmanaged }));
    env.end();
}

#[test]
fn a_gateway_created_in_the_same_run_is_read_after_creation() {
    let env = TestEnv::with_terraform();
    env.config(&json!({ "route_config": { "GET /orders": env.to("orders") } }));
    env.subject().assert_read_after_creation("name = \"shop\"", "route_ids", |blocks| {
        env.workspace.write("data.tf", blocks);
    });
    env.end();
}

#[test]
fn the_example_reads_a_gateway_of_another_configuration() {
    let env = TestEnv::new();
    env.apply(&json!({ "route_config": { "GET /orders": env.to("orders") } }));
    let other = Reader::of(env.subject());
    other.workspace.config(&example_of_data_source("fgw_http_gateway"));
    other.workspace.apply(&[]).succeeded();
    let state = other.workspace.state();
    assert_eq!(*state.output("url"), env.attribute("invoke_url"));
    let source = format!("{}/*/GET/orders", text(&env.attribute("execution_arn")));
    assert_eq!(*state.output("orders_source_arn"), source);
    env.end();
}
