//! The data source `fgw_http_gateway` under Terraform, in a configuration that does not manage the gateway.

use std::path::Path;

use serde_json::{Value, json};

use super::import::whole;
use super::{THIS, TestEnv, text, with};
use crate::support::terraform::Workspace;

const FOUND: &str = "fgw_http_gateway.found";

/// A data block with these lines.
fn data(lines: &str) -> String {
    format!("data \"fgw_http_gateway\" \"found\" {{\n{lines}\n}}\n")
}

/// Reads the data source and asserts that this changes nothing in AWS.
fn read(env: &TestEnv, other: &Workspace, lines: &str) {
    other.config(&data(lines));
    env.proxy.clear_calls();
    other.apply(&[]).succeeded();
    let changes: Vec<String> = env.proxy.mutations().into_iter().map(|record| record.call.action).collect();
    assert!(changes.is_empty(), "a data source changes something in AWS: {changes:?}");
}

/// Asserts that the data source and the resource have the same attributes.
fn assert_same_as_resource(env: &TestEnv, other: &Workspace) {
    let state = other.state();
    let found = state.resource(FOUND).expect("it was found").as_object().expect("attributes");
    assert!(found.len() > 15, "{found:?}");
    for (name, value) in found.iter().filter(|(name, _)| *name != "tags") {
        assert_eq!(*value, env.attribute(name), "{name}");
    }
}

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
    let other = Workspace::new(&env.proxy);
    read(&env, &other, &format!("  id = \"{}\"", text(&env.attribute("id"))));
    assert_same_as_resource(&env, &other);
    assert_eq!(other.state().attribute(FOUND, "invoke_url"), "https://shop.example.com");
    assert_eq!(other.state().attribute(FOUND, "authorizer_ids").as_object().map(|it| it.len()), Some(3));
    let once = env.proxy.count("GetApis");
    for lines in ["  name = \"shop\"", "  name = \"shop\"\n  tags = { team = \"web\" }", "  tags = { team = \"web\" }"]
    {
        read(&env, &other, lines);
        assert_same_as_resource(&env, &other);
        assert_eq!(env.proxy.count("GetApis"), once + 1, "{lines}");
    }
    other.assert_nothing_to_do();
    other.destroy().succeeded();
    env.destroy();
}

#[test]
fn a_missing_or_ambiguous_gateway_is_an_error_with_a_hint() {
    let env = TestEnv::new();
    let other = Workspace::new(&env.proxy);
    let rejected = |lines: &str| {
        other.config(&data(lines));
        other.plan(&[])
    };
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
    read(&env, &other, "  name = \"shop\"\n  tags = { env = \"test\" }");
    assert_eq!(other.state().attribute(FOUND, "api_id"), second.as_str());
    env.proxy.account().boto("apigatewayv2", "delete_api", json!({ "ApiId": unmanaged }));
    env.destroy();
}

#[test]
fn a_gateway_created_in_the_same_run_is_read_after_creation() {
    let env = TestEnv::with_terraform();
    env.config(&json!({ "route_config": { "GET /orders": env.to("orders") } }));
    let named = "data \"fgw_http_gateway\" \"named\" {\n  name = \"shop\"\n  depends_on = [fgw_http_gateway.this]\n}\n";
    let outputs = "output \"by_id\" {\n  value = data.fgw_http_gateway.found.route_ids\n}\noutput \"by_name\" {\n  value = \
                   data.fgw_http_gateway.named.route_ids\n}\n";
    env.workspace.write("data.tf", &(data(&format!("  id = {THIS}.id")) + named + outputs));
    let plan = env.workspace.plan_json(&[]);
    assert_eq!(plan["output_changes"]["by_name"]["after_unknown"], Value::Bool(true), "{}", plan["output_changes"]);
    env.workspace.apply_plan().succeeded();
    let state = env.workspace.state();
    let created = env.attribute("route_ids");
    assert_eq!((state.output("by_id"), state.output("by_name")), (&created, &created));
    env.workspace.assert_nothing_to_do();
    env.destroy();
}

#[test]
fn the_example_reads_a_gateway_of_another_configuration() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/data-sources/fgw_http_gateway/data-source.tf");
    let example = std::fs::read_to_string(path).expect("an example can be read");
    let env = TestEnv::new();
    env.apply(&json!({ "route_config": { "GET /orders": env.to("orders") } }));
    let other = Workspace::new(&env.proxy);
    // The workspace already has a terraform block.
    let begins = example.find("\n}\n").expect("it starts with a terraform block") + 3;
    other.config(&example[begins..]);
    other.apply(&[]).succeeded();
    let state = other.state();
    assert_eq!(*state.output("url"), env.attribute("invoke_url"));
    let source = format!("{}/*/GET/orders", text(&env.attribute("execution_arn")));
    assert_eq!(*state.output("orders_source_arn"), source);
    env.destroy();
}
