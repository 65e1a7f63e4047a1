//! A custom domain to which others have mapped their APIs: no run deletes what leads to it.

use serde_json::{Value, json};

use super::{TestEnv, text, with};
use crate::support::terraform::Run;

const NAME: &str = "api.example.com";

/// A gateway with a domain and a record, and a mapping of an unmanaged API to a path of the domain.
struct Shared {
    env: TestEnv,
    zone: String,
    theirs: String,
    mapping: String,
}

impl Shared {
    fn new(env: TestEnv) -> Self {
        let account = env.proxy.account();
        for domain in [NAME, "www.example.com"] {
            account.boto("acm", "request_certificate", json!({ "DomainName": domain }));
        }
        let zone = json!({ "Name": "example.com", "CallerReference": "shared" });
        let zone = text(&account.boto("route53", "create_hosted_zone", zone)["HostedZone"]["Id"]);
        let zone = zone.trim_start_matches("/hostedzone/").to_owned();
        let api = json!({ "Name": "theirs", "ProtocolType": "HTTP" });
        let theirs = text(&account.boto("apigatewayv2", "create_api", api)["ApiId"]);
        account.boto("apigatewayv2", "create_stage", json!({ "ApiId": theirs, "StageName": "prod" }));
        let mut shared = Self { env, zone, theirs, mapping: String::new() };
        shared.env.apply(&shared.at(Some(NAME)));
        shared.map();
        shared
    }

    fn at(&self, domain: Option<&str>) -> Value {
        let timeouts = json!({ "delete": "1s" });
        let mut config = json!({ "route_config": { "GET /a": self.env.to("orders") }, "timeouts": timeouts });
        if let Some(domain) = domain {
            config["domain_name"] = domain.into();
            config["hosted_zone_id"] = self.zone.as_str().into();
            config["create_dns_entry"] = true.into();
        }
        config
    }

    /// Maps the unmanaged API to a path of the domain.
    fn map(&mut self) {
        let mapping = json!({ "DomainName": NAME, "ApiId": self.theirs, "Stage": "prod", "ApiMappingKey": "payments" });
        let mapping = self.env.proxy.account().boto("apigatewayv2", "create_api_mapping", mapping);
        self.mapping = text(&mapping["ApiMappingId"]);
    }

    /// What the command of a message does.
    fn unmap(&self) {
        let mapping = json!({ "DomainName": NAME, "ApiMappingId": self.mapping });
        self.env.proxy.account().boto("apigatewayv2", "delete_api_mapping", mapping);
    }

    /// The number of mappings of each domain, and the names of the address records.
    fn exists(&self) -> (Vec<(String, usize)>, Vec<String>) {
        let account = self.env.proxy.account();
        let domains = account.list_of("domain_names");
        let mut domains: Vec<(String, usize)> = domains
            .iter()
            .map(|it| (text(&it["DomainName"]), it["mappings"].as_array().expect("a list").len()))
            .collect();
        domains.sort();
        let records = account.boto("route53", "list_resource_record_sets", json!({ "HostedZoneId": self.zone }));
        let records = records["ResourceRecordSets"].as_array().expect("a list").clone();
        let records = records.iter().filter(|it| it["Type"] == "A").map(|it| text(&it["Name"])).collect();
        (domains, records)
    }

    fn command(&self) -> String {
        format!("aws apigatewayv2 delete-api-mapping --domain-name {NAME} --api-mapping-id {}", self.mapping)
    }

    fn assert_refused(&self, run: &Run, before: &(Vec<(String, usize)>, Vec<String>)) {
        assert_ne!(run.code, 0, "{run}");
        assert!(run.says("custom domain in use") && run.says(&self.mapping), "{run}");
        assert_eq!(self.exists(), *before);
    }
}

fn with_mappings(all: &[(&str, usize)]) -> Vec<(String, usize)> {
    all.iter().map(|(name, count)| ((*name).to_owned(), *count)).collect()
}

#[test]
fn an_update_never_deletes_a_shared_domain() {
    let mut shared = Shared::new(TestEnv::new());
    let before = shared.exists();
    let objects = shared.env.attribute("aws_objects");
    // The domain goes, or another one takes its place, with and without a refresh.
    for wanted in [shared.at(None), shared.at(Some("www.example.com"))] {
        shared.env.config(&wanted);
        for options in [&[][..], &["-refresh=false"]] {
            let run = shared.env.workspace.plan(options);
            shared.assert_refused(&run, &before);
            assert!(run.says(&shared.command()), "{run}");
        }
        assert_eq!(shared.env.attribute("aws_objects"), objects);
    }
    // What the message says.
    shared.unmap();
    shared.env.apply(&shared.at(Some("www.example.com")));
    let (domains, _) = shared.exists();
    assert_eq!(domains, with_mappings(&[("www.example.com", 1)]));
    shared.env.apply(&shared.at(Some(NAME)));

    // A person maps an API between plan and apply.
    shared.env.config(&shared.at(None));
    assert_eq!(shared.env.workspace.plan(&[]).code, 2, "the plan has changes");
    shared.map();
    let before = shared.exists();
    shared.assert_refused(&shared.env.workspace.apply_plan(), &before);
    shared.unmap();
    shared.env.destroy();
}

#[test]
fn mappings_on_domains_of_others_are_named_and_awaited() {
    let env = TestEnv::new();
    let certificate = env.certificate("*.example.com");
    let account = env.proxy.account();
    let config = |more: Value| with(&json!({ "route_config": { "GET /a": env.to("orders") } }), &more);
    env.apply(&config(json!({ "stage_name": "v1", "timeouts": { "delete": "1s" } })));
    let configuration = json!({ "CertificateArn": certificate, "EndpointType": "REGIONAL" });
    let domain = json!({ "DomainName": "theirs.example.com", "DomainNameConfigurations": [configuration] });
    account.boto("apigatewayv2", "create_domain_name", domain);
    let api = text(&env.attribute("api_id"));
    let mapping = json!({ "DomainName": "theirs.example.com", "ApiId": api, "Stage": "v1", "ApiMappingKey": "shop" });
    let id = text(&account.boto("apigatewayv2", "create_api_mapping", mapping)["ApiMappingId"]);
    let unmap = || {
        let mapping = json!({ "DomainName": "theirs.example.com", "ApiMappingId": id });
        account.boto("apigatewayv2", "delete_api_mapping", mapping);
    };

    env.config(&config(json!({ "stage_name": "v2", "timeouts": { "delete": "1s" } })));
    let plan = env.workspace.plan(&[]);
    assert!(plan.says("a stage that other custom domains use") && plan.says(&id), "{plan}");
    env.config(&config(json!({ "stage_name": "v1", "timeouts": { "delete": "1s" } })));
    assert!(env.workspace.plan(&["-destroy"]).says(&id), "the plan of a destroy names it");
    let calls = env.proxy.mutations().len();
    let run = env.workspace.apply(&["-destroy"]);
    assert_ne!(run.code, 0, "{run}");
    let command = format!("delete-api-mapping --domain-name theirs.example.com --api-mapping-id {id}");
    assert!(run.says("custom domain in use") && run.says(&command), "{run}");
    assert_eq!(env.proxy.mutations().len(), calls, "nothing was deleted");
    unmap();
    env.destroy();
}

#[test]
fn a_destroy_of_a_shared_domain_is_refused_before_any_deletion() {
    let shared = Shared::new(TestEnv::with_terraform());
    let env = &shared.env;
    let before = shared.exists();
    for options in [&["-destroy"][..], &["-destroy", "-refresh=false"], &["-replace=fgw_http_gateway.this"]] {
        let calls = env.proxy.mutations().len();
        let run = env.workspace.apply(options);
        shared.assert_refused(&run, &before);
        assert!(run.says(&shared.command()), "{run}");
        assert_eq!(env.proxy.mutations().len(), calls, "{options:?}");
    }
    shared.unmap();
    env.destroy();
    assert_eq!(shared.exists(), (vec![], vec![]));
}
