//! A custom domain to which others have mapped their APIs: no run deletes what leads to it.

use serde_json::{Value, json};

use super::{TestEnv, text};
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
        let mut config = json!({ "route_config": { "GET /a": self.env.to("orders") } });
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
fn an_update_keeps_a_shared_domain_with_its_record_until_it_is_free() {
    let shared = Shared::new(TestEnv::new());
    let env = &shared.env;
    let before = shared.exists();
    let objects = env.attribute("aws_objects");

    env.config(&shared.at(None));
    let plan = env.workspace.plan(&[]);
    assert!(plan.says("keeps a custom domain that other APIs use") && plan.says(&shared.mapping), "{plan}");
    env.workspace.apply(&[]).succeeded();
    assert_eq!(shared.exists(), before, "the domain, its mapping and its record stay");
    let pending = env.attribute("pending_deletion");
    for slot in ["domain", "api_mapping", "dns_record"] {
        assert_eq!(pending[slot], objects[slot], "{pending}");
        assert!(env.attribute("aws_objects")[slot].is_null());
    }
    // They block nothing, and do not appear in each plan.
    assert_eq!(env.workspace.plan(&[]).code, 0);
    let mut changed = shared.at(None);
    changed["description"] = "changed".into();
    env.apply(&changed);
    assert_eq!(shared.exists(), before);
    assert_eq!(env.attribute("pending_deletion"), pending);

    shared.unmap();
    env.apply(&changed);
    assert_eq!(shared.exists(), (vec![], vec![]));
    assert_eq!(env.attribute("pending_deletion"), json!({}));
    env.destroy();
}

#[test]
fn a_shared_domain_stays_while_another_one_takes_its_place() {
    let shared = Shared::new(TestEnv::new());
    let env = &shared.env;
    env.apply(&shared.at(Some("www.example.com")));
    let both =
        (with_mappings(&[(NAME, 2), ("www.example.com", 1)]), vec![format!("{NAME}."), "www.example.com.".to_owned()]);
    assert_eq!(shared.exists(), both);
    assert_eq!(env.attribute("aws_objects")["domain"], "www.example.com");
    assert_eq!(env.attribute("pending_deletion")["domain"], NAME);

    // A domain that is required again is not pending any more.
    shared.env.config(&shared.at(Some(NAME)));
    env.workspace.apply(&[]).succeeded();
    assert_eq!(shared.exists(), (with_mappings(&[(NAME, 2)]), vec![format!("{NAME}.")]));
    assert_eq!(
        (&env.attribute("aws_objects")["domain"], &env.attribute("pending_deletion")),
        (&json!(NAME), &json!({}))
    );
    shared.unmap();
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

#[test]
fn a_plan_that_does_not_know_the_mappings_is_refused() {
    let mut shared = Shared::new(TestEnv::new());
    shared.unmap();
    shared.env.apply(&shared.at(Some(NAME)));
    shared.map();
    let before = shared.exists();
    shared.env.config(&shared.at(None));
    shared.assert_refused(&shared.env.workspace.plan(&["-refresh=false"]), &before);
    shared.env.workspace.apply(&[]).succeeded();
    assert_eq!(shared.exists(), before);
    assert_eq!(shared.env.attribute("pending_deletion")["domain"], NAME);
}
