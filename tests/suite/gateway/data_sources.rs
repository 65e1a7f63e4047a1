//! The data source `fgw_http_gateway` under real Terraform: a configuration that does not own the gateway.

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

/// Reads what is there, and asserts that nothing in AWS was changed.
fn read(bed: &TestEnv, other: &Workspace, lines: &str) {
    other.config(&data(lines));
    bed.proxy.clear_calls();
    other.apply(&[]).succeeded();
    let changes: Vec<String> = bed.proxy.mutations().into_iter().map(|record| record.call.action).collect();
    assert!(changes.is_empty(), "a look changes something in AWS: {changes:?}");
}

/// Asserts that each attribute that was found is what the resource says of itself.
fn assert_told_as_by_the_resource(bed: &TestEnv, other: &Workspace) {
    let state = other.state();
    let told = state.resource(FOUND).expect("it was found").as_object().expect("attributes");
    assert!(told.len() > 15, "{told:?}");
    for (name, value) in told.iter().filter(|(name, _)| *name != "tags") {
        assert_eq!(*value, bed.attribute(name), "{name}");
    }
}

#[test]
fn a_gateway_of_another_configuration_is_found_in_each_way_and_told_as_its_resource_tells_it() {
    let bed = TestEnv::new();
    let account = bed.proxy.account();
    account.boto("acm", "request_certificate", json!({ "DomainName": "*.example.com" }));
    let zone = json!({ "Name": "example.com", "CallerReference": account.id });
    let zone = text(&account.boto("route53", "create_hosted_zone", zone)["HostedZone"]["Id"]);
    let domain = json!({
        "domain_name": "shop.example.com", "certificate_domain": "*.example.com", "create_dns_entry": true,
        "hosted_zone_id": zone.trim_start_matches("/hostedzone/"),
    });
    bed.apply(&with(&whole(&bed), &domain));
    let other = Workspace::new(&bed.proxy);
    read(&bed, &other, &format!("  id = \"{}\"", text(&bed.attribute("id"))));
    assert_told_as_by_the_resource(&bed, &other);
    assert_eq!(other.state().attribute(FOUND, "invoke_url"), "https://shop.example.com");
    assert_eq!(other.state().attribute(FOUND, "authorizer_ids").as_object().map(|it| it.len()), Some(3));
    let once = bed.proxy.count("GetApis");
    for lines in ["  name = \"shop\"", "  name = \"shop\"\n  tags = { team = \"web\" }", "  tags = { team = \"web\" }"]
    {
        read(&bed, &other, lines);
        assert_told_as_by_the_resource(&bed, &other);
        assert_eq!(bed.proxy.count("GetApis"), once + 1, "{lines}");
    }
    other.assert_nothing_to_do();
    other.destroy().succeeded();
    bed.destroy();
}

#[test]
fn a_gateway_that_is_not_there_or_not_alone_is_an_error_that_says_what_to_do() {
    let bed = TestEnv::new();
    let other = Workspace::new(&bed.proxy);
    let refused = |lines: &str| {
        other.config(&data(lines));
        other.plan(&[])
    };
    refused("  name = \"shop\"").failed_with("No fgw_http_gateway is called \"shop\"");
    let api = json!({ "Name": "shop", "ProtocolType": "HTTP" });
    let foreign = text(&bed.proxy.account().boto("apigatewayv2", "create_api", api)["ApiId"]);
    refused("  name = \"shop\"").failed_with("made none there");
    refused(&format!("  id = \"{foreign}\"")).failed_with(&format!("{foreign} was not made by fgw_http_gateway"));
    refused("  id = \"00000000\"").failed_with("fgw_http_gateway 00000000 does not exist");
    refused("").failed_with("Which fgw_http_gateway is meant is not said");

    let routes = json!({ "route_config": { "GET /orders": bed.to("orders") } });
    let tagged = |env: &str| with(&routes, &json!({ "api_tags": { "env": env } }));
    bed.configs(&[("this", &tagged("prod")), ("second", &tagged("test"))], &json!({}));
    bed.workspace.apply(&[]).succeeded();
    let several = refused("  name = \"shop\"");
    several.failed_with("2 of fgw_http_gateway are called \"shop\"");
    let second = text(bed.workspace.state().attribute("fgw_http_gateway.second", "id"));
    let this = text(&bed.attribute("id"));
    for words in [this.as_str(), &second, "env = \"test\""] {
        several.failed_with(words);
    }
    read(&bed, &other, "  name = \"shop\"\n  tags = { env = \"test\" }");
    assert_eq!(other.state().attribute(FOUND, "api_id"), second.as_str());
    bed.proxy.account().boto("apigatewayv2", "delete_api", json!({ "ApiId": foreign }));
    bed.destroy();
}

#[test]
fn a_gateway_of_the_same_run_is_read_after_it_was_made() {
    let bed = TestEnv::with_terraform();
    bed.config(&json!({ "route_config": { "GET /orders": bed.to("orders") } }));
    let named = "data \"fgw_http_gateway\" \"named\" {\n  name = \"shop\"\n  depends_on = [fgw_http_gateway.this]\n}\n";
    let outputs = "output \"by_id\" {\n  value = data.fgw_http_gateway.found.route_ids\n}\noutput \"by_name\" {\n  value = \
                   data.fgw_http_gateway.named.route_ids\n}\n";
    bed.workspace.write("data.tf", &(data(&format!("  id = {THIS}.id")) + named + outputs));
    let plan = bed.workspace.plan_json(&[]);
    assert_eq!(plan["output_changes"]["by_name"]["after_unknown"], Value::Bool(true), "{}", plan["output_changes"]);
    bed.workspace.apply_plan().succeeded();
    let state = bed.workspace.state();
    let made = bed.attribute("route_ids");
    assert_eq!((state.output("by_id"), state.output("by_name")), (&made, &made));
    bed.workspace.assert_nothing_to_do();
    bed.destroy();
}

#[test]
fn the_example_reads_a_gateway_of_another_configuration() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/data-sources/fgw_http_gateway/data-source.tf");
    let example = std::fs::read_to_string(path).expect("an example can be read");
    let bed = TestEnv::new();
    bed.apply(&json!({ "route_config": { "GET /orders": bed.to("orders") } }));
    let other = Workspace::new(&bed.proxy);
    // The workspace requires the provider already.
    let begins = example.find("\n}\n").expect("it begins with a terraform block") + 3;
    other.config(&example[begins..]);
    other.apply(&[]).succeeded();
    let state = other.state();
    assert_eq!(*state.output("url"), bed.attribute("invoke_url"));
    let source = format!("{}/*/GET/orders", text(&bed.attribute("execution_arn")));
    assert_eq!(*state.output("orders_source_arn"), source);
    bed.destroy();
}
