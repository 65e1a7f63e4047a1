//! Custom domains that several APIs have one after the other, or share: no run deletes what leads to a domain to which
//! others have mapped their APIs.

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

/// Two gateways of one configuration, with these domains and their records.
struct Pair {
    env: TestEnv,
    zone: String,
}

impl Pair {
    fn new() -> Self {
        let env = TestEnv::with_terraform();
        env.certificate("*.example.com");
        let zone = json!({ "Name": "example.com", "CallerReference": "pair" });
        let zone = text(&env.proxy.account().boto("route53", "create_hosted_zone", zone)["HostedZone"]["Id"]);
        let zone = zone.trim_start_matches("/hostedzone/").to_owned();
        Self { env, zone }
    }

    fn config(&self, domains: [Option<&str>; 2]) {
        let config = |name: &str, domain: Option<&str>| {
            let mut config = json!({ "name": name, "route_config": { "GET /a": self.env.to("orders") } });
            if let Some(domain) = domain {
                config["domain_name"] = domain.into();
                config["hosted_zone_id"] = self.zone.as_str().into();
                config["create_dns_entry"] = true.into();
            }
            config
        };
        let [one, two] = [config("one", domains[0]), config("two", domains[1])];
        self.env.configs(&[("one", &one), ("two", &two)], &json!({}));
    }

    /// The IDs of the APIs to which the domains lead.
    fn targets(&self) -> Vec<(String, String)> {
        let domains = self.env.proxy.account().list_of("domain_names").into_iter();
        let mut targets: Vec<_> =
            domains.map(|it| (text(&it["DomainName"]), text(&it["mappings"][0]["ApiId"]))).collect();
        targets.sort();
        targets
    }

    fn api_ids(&self) -> [String; 2] {
        ["one", "two"]
            .map(|label| text(self.env.workspace.state().attribute(&format!("fgw_http_gateway.{label}"), "id")))
    }
}

#[test]
fn a_domain_moves_between_two_gateways_in_one_apply() {
    let pair = Pair::new();
    pair.config([Some(NAME), None]);
    pair.env.apply_config();
    let [one, two] = pair.api_ids();
    for (domains, to) in [([None, Some(NAME)], &two), ([Some(NAME), None], &one)] {
        pair.config(domains);
        let plan = pair.env.workspace.plan(&[]);
        assert!(plan.code == 2 && plan.says("The custom domain \"api.example.com\" belongs to"), "{plan}");
        pair.env.apply_config();
        assert_eq!(pair.targets(), [(NAME.to_owned(), to.clone())]);
    }
    pair.env.destroy();
}

#[test]
fn an_exchange_of_domains_fails_unchanged_and_says_how() {
    let pair = Pair::new();
    let (one, two, three) = (Some(NAME), Some("www.example.com"), Some("new.example.com"));
    pair.config([one, two]);
    pair.env.apply_config();
    let ids = pair.api_ids();
    let before = pair.targets();
    pair.config([two, one]);
    let calls = pair.env.proxy.mutations().len();
    for run in [pair.env.workspace.plan(&[]), pair.env.workspace.apply(&[])] {
        run.failed_with("exchange the custom domain").failed_with("Give one of them a third name");
        assert!(!run.says("delete-domain-name"), "{run}");
    }
    assert_eq!((pair.env.proxy.mutations().len(), pair.targets()), (calls, before));
    // What the message says.
    pair.config([three, one]);
    pair.env.apply_config();
    pair.config([two, one]);
    pair.env.apply_config();
    let [first, second] = ids;
    assert_eq!(pair.targets(), [(NAME.to_owned(), second), ("www.example.com".to_owned(), first)]);
    pair.env.destroy();
}

#[test]
fn two_gateways_of_one_configuration_never_have_one_domain() {
    let pair = Pair::new();
    pair.config([Some(NAME), Some(NAME)]);
    pair.env.workspace.apply(&[]).failed_with("require the custom domain \"api.example.com\" of their own");
    assert_eq!(pair.env.proxy.mutations().len(), 0);
    pair.config([Some(NAME), None]);
    pair.env.apply_config();
    pair.config([Some(NAME), Some(NAME)]);
    let run = pair.env.workspace.plan(&[]);
    assert_eq!(run.code, 1, "{run}");
    assert!(!run.says("delete-domain-name"), "{run}");
    pair.config([Some(NAME), None]);
    pair.env.destroy();
}
