//! Custom domains: their certificate, their objects, and their outputs.

use super::*;
use crate::model::Certificate;
use crate::model::{DomainName, Ref};

const DOMAIN: &str = "api.example.com";

const CERTIFICATE: &str = "arn:aws:acm:eu-central-1:123456789012:certificate/0a1b2c3d-12ab-34cd-56ef-1234567890ab";

/// A certificate that no lookup finds.
const PINNED: &str = "arn:aws:acm:eu-central-1:123456789012:certificate/pinned";

/// Configurations with and without a domain.
pub(super) fn some_domain() -> impl Strategy<Value = serde_json::Value> {
    let names = prop::sample::select(vec!["api.example.com", "www.example.com"]);
    // The certificate is looked up by the name, looked up by another domain, or given.
    let domain = (0..3, any::<bool>(), names);
    prop::option::of(domain).prop_map(|domain| {
        let Some((certificate, has_record, name)) = domain else { return json!({}) };
        let (names_certificate, pins_certificate) = (certificate == 1, certificate == 2);
        json!({
            "domain_name": name,
            "certificate_domain": names_certificate.then_some("*.example.com"),
            "certificate_arn": pins_certificate.then_some(CERTIFICATE),
            "create_dns_entry": has_record,
            "hosted_zone_id": has_record.then_some("Z0123456789ABC"),
        })
    })
}

/// The result of the lookups: one certificate.
pub(super) fn facts() -> Facts {
    Facts { certificates: Some(vec![certificate(CERTIFICATE, &["*.example.com"], 1)]), ..Facts::default() }
}

fn certificate(arn: &str, names: &[&str], not_before: i64) -> Certificate {
    let names = names.iter().map(|name| name.to_string()).collect();
    Certificate { arn: arn.into(), names, not_before, ..Certificate::default() }
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
    assert_eq!(spec.certificate_arn, Input::Known(CERTIFICATE.into()));
    let Spec::ApiMapping(spec) = &mapping.spec else { panic!("{mapping:?}") };
    assert_eq!(
        (&spec.stage, &spec.domain, spec.mapping_key.as_str()),
        (&Ref::Key(keys::stage("$default")), &domain.key, "")
    );
    assert_eq!(of_kind(&objects, "DNS record"), vec![], "create_dns_entry is not set");
}

#[test]
fn current_certificate_has_no_precedence() {
    let config = with_domain(json!({}));
    let (old, new) = (certificate("old", &["*.example.com"], 1), certificate("new", &[DOMAIN], 2));
    let known = |arn: &str| (Input::Known(arn.to_string()), vec![]);
    for before in [None, Some("old"), Some("new"), Some("deleted")] {
        assert_eq!(chosen(&config, &[old.clone(), new.clone()], before), known("new"));
    }
    assert_eq!(chosen(&config, &[old], Some("new")), known("old"));
}

#[test]
fn configured_certificate_is_used_without_a_lookup() {
    let pinned = with_domain(json!({ "certificate_arn": PINNED }));
    assert_eq!(HttpGateway::lookups(&pinned), []);
    let better = certificate("better", &[DOMAIN], 9);
    assert_eq!(chosen(&pinned, std::slice::from_ref(&better), None), (Input::Known(PINNED.into()), vec![]));
    assert_eq!(chosen(&pinned, &[], Some("old")), (Input::Known(PINNED.into()), vec![]));
    let unknown = with_domain(json!({ "certificate_arn": UNKNOWN }));
    assert_eq!(HttpGateway::lookups(&unknown), []);
    assert_eq!(chosen(&unknown, &[better], Some("old")), (Input::Unknown, vec![]));
    assert_eq!(HttpGateway::lookups(&with_domain(json!({}))).len(), 1);
}

#[test]
fn configured_certificate_is_an_output_in_every_plan() {
    let output = |attributes: serde_json::Value, is_decided: bool| {
        let config = config(attributes);
        let objects = if is_decided { objects(&config) } else { vec![] };
        let outputs = HttpGateway::outputs(&config, is_decided.then_some(&objects), &Ids::default(), None);
        outputs["certificate_arn"].clone()
    };
    let named = json!({ "domain_name": DOMAIN });
    let unnamed = json!({ "domain_name": null });
    for (basis, without) in [(named, Value::from(CERTIFICATE)), (unnamed, Value::Null)] {
        assert_eq!(output(basis.clone(), true), without);
        for is_decided in [true, false] {
            let given = |arn: &str| output(with(basis.clone(), json!({ "certificate_arn": arn })), is_decided);
            assert_eq!(given(PINNED), Value::from(PINNED), "{basis} {is_decided}");
            assert_eq!(given(UNKNOWN), Value::Unknown, "{basis} {is_decided}");
        }
    }
    assert_eq!(output(json!({ "domain_name": DOMAIN }), false), Value::Unknown);
    assert_eq!(output(json!({ "domain_name": UNKNOWN, "certificate_arn": PINNED }), false), Value::from(PINNED));
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
    assert_eq!(text("certificate_arn"), CERTIFICATE);
    assert_eq!(text("dns_record_fqdn"), DOMAIN);
    let target = Value::map([("domain_name", "d-id-domain.example".into()), ("hosted_zone_id", "Z1".into())]);
    assert_eq!(outputs["domain_target"], target);
    let planned = HttpGateway::outputs(&config, Some(&objects), &Ids::default(), Some(&scope()));
    assert_eq!(planned["domain_target"], Value::Unknown, "only AWS determines it");
    assert_eq!(planned["certificate_arn"], Value::from(CERTIFICATE), "it is chosen at plan time");
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

/// If private state is lost, only the output `domain_target` distinguishes a domain from its successor.
#[test]
fn a_domain_with_another_target_than_in_state_is_not_owned() {
    let objects = objects(&with_domain(json!({})));
    let domain = objects.into_iter().find(|it| it.key.slot == "domain").expect("the gateway has a domain");
    let target = |name: &str| Value::map([("domain_target", Value::map([("domain_name", name.into())]))]);
    let mut found = Entry::new(domain.key, DOMAIN, domain.spec);
    let may_own = |state: &Value, found: &Entry| HttpGateway::may_own(state, found, &Inventory::default());
    assert!(may_own(&target("d-1"), &found), "AWS returned no target");
    found.learned = [("target_domain_name".to_string(), "d-1".to_string())].into();
    assert!(may_own(&target("d-1"), &found));
    assert!(!may_own(&target("d-2"), &found));
    assert!(may_own(&Value::map([("domain_target", Value::Null)]), &found), "a configuration has no outputs");
}
