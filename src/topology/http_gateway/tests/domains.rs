//! Custom domains: their certificate, their objects, and their outputs.

use super::*;
use crate::model::Certificate;
use crate::model::{DomainName, Ref};

const DOMAIN: &str = "api.example.com";

/// Configurations with and without a domain.
pub(super) fn some_domain() -> impl Strategy<Value = serde_json::Value> {
    let domain = (any::<bool>(), any::<bool>(), prop::sample::select(vec!["api.example.com", "www.example.com"]));
    prop::option::of(domain).prop_map(|domain| {
        let Some((names_certificate, has_record, name)) = domain else { return json!({}) };
        json!({
            "domain_name": name,
            "certificate_domain": names_certificate.then_some("*.example.com"),
            "create_dns_entry": has_record,
            "hosted_zone_id": has_record.then_some("Z0123456789ABC"),
        })
    })
}

/// The result of the lookups: one certificate.
pub(super) fn facts() -> Facts {
    Facts { certificates: Some(vec![certificate("cert-1", &["*.example.com"], 1)]), ..Facts::default() }
}

fn certificate(arn: &str, names: &[&str], not_before: i64) -> Certificate {
    Certificate { arn: arn.into(), names: names.iter().map(|name| name.to_string()).collect(), not_before }
}

fn with_domain(more: serde_json::Value) -> GatewayConfig {
    config(with(json!({ "domain_name": DOMAIN }), more))
}

/// The chosen certificate of the domain, and the missing objects that the blueprint reports.
fn chosen(config: &GatewayConfig, found: &[Certificate], before: Option<&str>) -> (Input<String>, Vec<String>) {
    let facts = Facts { certificates: Some(found.to_vec()), ..Facts::default() };
    let mut existing = Inventory::default();
    existing.entries.extend(before.map(|arn| {
        let mut object = objects(config).into_iter().find(|object| object.key.slot == "domain").unwrap();
        let Spec::DomainName(spec) = &mut object.spec else { panic!("{object:?}") };
        spec.certificate_arn = Input::Known(arn.into());
        Entry::new(object.key, DOMAIN, object.spec)
    }));
    let scope = scope();
    let Ok(Blueprint::Decided { objects, missing, .. }) =
        HttpGateway::blueprint(&context(config, &existing, &scope, &facts))
    else {
        panic!("the blueprint must be decided")
    };
    let certificate = objects.into_iter().find_map(|object| match object.spec {
        Spec::DomainName(domain) => Some(domain.certificate_arn),
        _ => None,
    });
    (certificate.unwrap(), missing.iter().map(|problem| format!("{}: {}", problem.path, problem.message)).collect())
}

#[test]
fn custom_domain_matches_the_golden_waves() {
    let objects = objects(&with_domain(json!({ "create_dns_entry": true, "hosted_zone_id": "Z0123456789ABC" })));
    expect_file!["../../../../tests/golden/http_gateway/custom_domain.txt"].assert_eq(&waves(&objects));
}

#[test]
fn domain_is_regional_with_tls_1_2_and_maps_to_the_stage() {
    let objects = objects(&with_domain(json!({})));
    let [.., domain, mapping] = &objects[..] else { panic!("{objects:?}") };
    let Spec::DomainName(spec) = &domain.spec else { panic!("{domain:?}") };
    assert_eq!((spec.endpoint_type.as_str(), spec.security_policy.as_str()), ("REGIONAL", "TLS_1_2"));
    assert_eq!(spec.certificate_arn, Input::Known("cert-1".into()));
    let Spec::ApiMapping(spec) = &mapping.spec else { panic!("{mapping:?}") };
    assert_eq!((&spec.stage, &spec.domain, spec.mapping_key.as_str()), (&Ref::Key(keys::stage()), &domain.key, ""));
    assert_eq!(of_kind(&objects, "DNS record"), vec![], "create_dns_entry is not set");
}

#[test]
fn certificate_is_kept_while_usable() {
    let config = with_domain(json!({}));
    let (old, new) = (certificate("old", &["*.example.com"], 1), certificate("new", &[DOMAIN], 2));
    let known = |arn: &str| (Input::Known(arn.to_string()), vec![]);
    assert_eq!(chosen(&config, &[old.clone(), new.clone()], None), known("new"));
    assert_eq!(chosen(&config, &[old, new.clone()], Some("old")), known("old"));
    assert_eq!(chosen(&config, &[new], Some("old")), known("new"));
}

#[test]
fn missing_certificate_is_reported_at_its_attribute() {
    let (certificate, missing) = chosen(&with_domain(json!({})), &[], None);
    assert_eq!(certificate, Input::Unknown);
    let message = "ACM has no certificate for \"api.example.com\" in eu-central-1 that is issued and not expired.";
    assert_eq!(missing, [format!("domain_name: {message}")]);

    let named = with_domain(json!({ "certificate_domain": "*.example.org" }));
    let other = self::certificate("other", &["*.example.org"], 1);
    let (certificate, missing) = chosen(&named, &[other], None);
    assert_eq!(certificate, Input::Unknown);
    let message = "The certificate other is for *.example.org, which does not cover \"api.example.com\".";
    assert_eq!(missing, [format!("certificate_domain: {message}")]);
}

#[test]
fn changed_domain_replaces_domain_and_mapping() {
    let keys = |name: &str| {
        let objects = objects(&config(json!({ "domain_name": name })));
        (key_at(&objects, "domain").unwrap(), key_at(&objects, "api_mapping").unwrap())
    };
    let (before, after) = (keys("a.example.com"), keys("b.example.com"));
    assert_ne!(before.0, after.0);
    assert_ne!(before.1, after.1);
    let claims = |name: &str| -> Vec<_> {
        let objects = objects(&config(json!({ "domain_name": name })));
        let of_domain = objects.into_iter().filter(|it| matches!(it.spec, Spec::DomainName(_) | Spec::ApiMapping(_)));
        of_domain.flat_map(|it| it.spec.claims()).collect()
    };
    let collide = claims("a.example.com").iter().any(|a| claims("b.example.com").iter().any(|b| a.collides(b)));
    assert!(!collide, "the new domain must not wait for the deletion of the old one");
}

#[test]
fn outputs_refer_to_the_custom_domain() {
    let config = with_domain(json!({ "create_dns_entry": true, "hosted_zone_id": "Z0123456789ABC" }));
    let objects = objects(&config);
    let outputs = HttpGateway::outputs(&config, Some(&objects), &all_created(&objects), Some(&scope()));
    let text = |name: &str| outputs[name].as_str().unwrap_or_default().to_string();
    assert_eq!(text("invoke_url"), "https://api.example.com");
    assert_eq!(text("api_endpoint"), "https://id-api.example", "the API keeps its own endpoint");
    assert_eq!(text("certificate_arn"), "cert-1");
    assert_eq!(text("dns_record_fqdn"), DOMAIN);
    let target = Value::map([("domain_name", "d-id-domain.example".into()), ("hosted_zone_id", "Z1".into())]);
    assert_eq!(outputs["domain_target"], target);
    let planned = HttpGateway::outputs(&config, Some(&objects), &Ids::default(), Some(&scope()));
    assert_eq!(planned["domain_target"], Value::Unknown, "only AWS determines it");
    assert_eq!(planned["certificate_arn"], Value::from("cert-1"), "it is chosen at plan time");
    let of_many =
        HttpGateway::outputs(&with_domain(json!({ "domain_name": "*.example.com" })), None, &Ids::default(), None);
    assert_eq!(of_many["invoke_url"], Value::Unknown, "a wildcard cannot be called, so the URL is the API's endpoint");
}

#[test]
fn weakened_security_policy_is_described() {
    let objects = objects(&with_domain(json!({})));
    let Some(Spec::DomainName(spec)) = objects.into_iter().map(|it| it.spec).find(|it| it.kind() == "custom domain")
    else {
        panic!("the gateway must have a domain")
    };
    let found = DomainName { security_policy: "TLS_1_0".into(), ..spec.clone() };
    let differences = Spec::DomainName(spec).differences(&Spec::DomainName(found));
    assert_eq!(differences, ["security_policy is TLS_1_0 instead of TLS_1_2"]);
}
