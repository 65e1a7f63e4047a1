//! Custom domains: their certificate, their objects, and what is told of them.

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

/// What a look into the account finds: a certificate.
pub(super) fn facts() -> Facts {
    Facts { certificates: Some(vec![certificate("cert-1", &["*.example.com"], 1)]), ..Facts::default() }
}

fn certificate(arn: &str, names: &[&str], not_before: i64) -> Certificate {
    Certificate { arn: arn.into(), names: names.iter().map(|name| name.to_string()).collect(), not_before }
}

fn with_domain(more: serde_json::Value) -> GatewayConfig {
    config(with(json!({ "domain_name": DOMAIN }), more))
}

/// The certificate that the domain gets, and where something is said to be missing.
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
        panic!("it is decided")
    };
    let certificate = objects.into_iter().find_map(|object| match object.spec {
        Spec::DomainName(domain) => Some(domain.certificate_arn),
        _ => None,
    });
    (certificate.unwrap(), missing.iter().map(|problem| format!("{}: {}", problem.path, problem.message)).collect())
}

#[test]
fn a_gateway_with_a_domain_is_made_in_these_waves() {
    let objects = objects(&with_domain(json!({ "create_dns_entry": true, "hosted_zone_id": "Z0123456789ABC" })));
    expect_file!["../../../../tests/golden/http_gateway/custom_domain.txt"].assert_eq(&waves(&objects));
}

#[test]
fn a_domain_is_regional_with_tls_1_2_and_all_of_it_leads_to_the_stage() {
    let objects = objects(&with_domain(json!({})));
    let [.., domain, mapping] = &objects[..] else { panic!("{objects:?}") };
    let Spec::DomainName(spec) = &domain.spec else { panic!("{domain:?}") };
    assert_eq!((spec.endpoint_type.as_str(), spec.security_policy.as_str()), ("REGIONAL", "TLS_1_2"));
    assert_eq!(spec.certificate_arn, Input::Known("cert-1".into()));
    let Spec::ApiMapping(spec) = &mapping.spec else { panic!("{mapping:?}") };
    assert_eq!((&spec.stage, &spec.domain, spec.mapping_key.as_str()), (&Ref::Key(keys::stage()), &domain.key, ""));
    assert_eq!(of_kind(&objects, "DNS record"), vec![], "none was asked for");
}

#[test]
fn a_certificate_stays_while_it_can_be_used_and_else_the_latest_is_taken() {
    let config = with_domain(json!({}));
    let (old, new) = (certificate("old", &["*.example.com"], 1), certificate("new", &[DOMAIN], 2));
    let known = |arn: &str| (Input::Known(arn.to_string()), vec![]);
    assert_eq!(chosen(&config, &[old.clone(), new.clone()], None), known("new"));
    assert_eq!(chosen(&config, &[old, new.clone()], Some("old")), known("old"));
    assert_eq!(chosen(&config, &[new], Some("old")), known("new"));
}

#[test]
fn a_certificate_that_is_not_there_is_missing_where_it_was_named() {
    let (certificate, missing) = chosen(&with_domain(json!({})), &[], None);
    assert_eq!(certificate, Input::Unknown);
    let said = "ACM has no certificate for \"api.example.com\" in eu-central-1 that is issued and not expired.";
    assert_eq!(missing, [format!("domain_name: {said}")]);

    let named = with_domain(json!({ "certificate_domain": "*.example.org" }));
    let other = self::certificate("other", &["*.example.org"], 1);
    let (certificate, missing) = chosen(&named, &[other], None);
    assert_eq!(certificate, Input::Unknown);
    let said = "The certificate other is for *.example.org, which \"api.example.com\" is not part of.";
    assert_eq!(missing, [format!("certificate_domain: {said}")]);
}

#[test]
fn another_domain_is_another_object_with_another_mapping() {
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
    assert!(!collide, "the new one need not wait for the old one to leave");
}

#[test]
fn outputs_lead_to_the_domain_where_there_is_one() {
    let config = with_domain(json!({ "create_dns_entry": true, "hosted_zone_id": "Z0123456789ABC" }));
    let objects = objects(&config);
    let outputs = HttpGateway::outputs(&config, Some(&objects), &all_made(&objects), Some(&scope()));
    let text = |name: &str| outputs[name].as_str().unwrap_or_default().to_string();
    assert_eq!(text("invoke_url"), "https://api.example.com");
    assert_eq!(text("api_endpoint"), "https://id-api.example", "the API's own endpoint stays");
    assert_eq!(text("certificate_arn"), "cert-1");
    assert_eq!(text("dns_record_fqdn"), DOMAIN);
    let target = Value::map([("domain_name", "d-id-domain.example".into()), ("hosted_zone_id", "Z1".into())]);
    assert_eq!(outputs["domain_target"], target);
    let planned = HttpGateway::outputs(&config, Some(&objects), &Ids::default(), Some(&scope()));
    assert_eq!(planned["domain_target"], Value::Unknown, "AWS tells it");
    assert_eq!(planned["certificate_arn"], Value::from("cert-1"), "it is chosen at plan");
    let of_many =
        HttpGateway::outputs(&with_domain(json!({ "domain_name": "*.example.com" })), None, &Ids::default(), None);
    assert_eq!(of_many["invoke_url"], Value::Unknown, "a wildcard is no name to call, the API's endpoint is");
}

#[test]
fn what_somebody_weakens_is_told_in_words() {
    let objects = objects(&with_domain(json!({})));
    let Some(Spec::DomainName(spec)) = objects.into_iter().map(|it| it.spec).find(|it| it.kind() == "custom domain")
    else {
        panic!("it has a domain")
    };
    let found = DomainName { security_policy: "TLS_1_0".into(), ..spec.clone() };
    let told = Spec::DomainName(spec).differences(&Spec::DomainName(found));
    assert_eq!(told, ["security_policy is TLS_1_0 instead of TLS_1_2"]);
}
