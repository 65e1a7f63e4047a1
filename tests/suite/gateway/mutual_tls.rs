//! Mutual TLS of the custom domain: a client without a certificate is refused before, during and after each change.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::{THIS, TestEnv, text, with};
use crate::support::authority::{Authority, Identity};
use crate::support::proxy::fault::Fault;
use crate::support::proxy::lasts::Lasts;
use crate::support::proxy::{Clients, TrustStore, Witness};

const NAME: &str = "api.example.com";
const WWW: &str = "www.example.com";
const URI: &str = "s3://trust/ca.pem";
const LESS_PROTECTED: &str = "new objects would be less protected";

/// A gateway with a custom domain, and clients that know its domain.
struct Guarded {
    env: TestEnv,
    clients: Clients,
    /// A client with a certificate of the authority in the trust store.
    known: Identity,
}

impl Guarded {
    fn new() -> Self {
        Self::on(TestEnv::new())
    }

    fn on(env: TestEnv) -> Self {
        let authority = Authority::new();
        let pem = authority.certificate.pem();
        let store = |warnings: &[&str]| TrustStore {
            pem: pem.clone(),
            warnings: warnings.iter().map(|it| (*it).to_owned()).collect(),
        };
        for (uri, version) in [(URI, ""), (URI, "v1"), (URI, "v2"), ("s3://trust/other.pem", "")] {
            env.proxy.truststore(uri, version, store(&[]));
        }
        env.proxy.truststore("s3://trust/old.pem", "", store(&["The certificate CN=old has expired."]));
        env.proxy.truststore("s3://trust/empty.pem", "", TrustStore { pem: String::new(), warnings: Vec::new() });
        env.certificate("*.example.com");
        let clients = env.proxy.clients();
        Self { env, clients, known: authority.identity("client") }
    }

    fn at(&self, domain: &str, more: Value) -> Value {
        with(&self.env.with_domain(domain), &more)
    }

    /// Mutual TLS in AWS.
    fn in_aws(&self, domain: &str) -> Value {
        let found = json!({ "DomainName": domain });
        let found = self.env.proxy.account().boto("apigatewayv2", "get_domain_name", found);
        found["MutualTlsAuthentication"]["TruststoreUri"].clone()
    }

    /// A person turns mutual TLS on.
    fn person_guards(&self, domain: &str) {
        let certificate = &self.env.attribute("certificate_arn");
        let configuration = json!({ "CertificateArn": certificate, "EndpointType": "REGIONAL" });
        let trust = json!({ "TruststoreUri": URI });
        let change = json!({ "DomainName": domain, "DomainNameConfigurations": [configuration], "MutualTlsAuthentication": trust });
        self.env.proxy.boto("apigatewayv2", "update_domain_name", change);
    }

    /// Sends requests with and without a certificate to both domains, now and after each changing call. A client
    /// without one is never served.
    fn watched(&self) -> Witness {
        let (clients, known) = (self.clients.clone(), self.known.clone());
        let look = move || {
            for domain in [NAME, WWW] {
                // A domain may be missing, and a client with a certificate reaches it as soon as it is mapped.
                let _served_or_missing = clients.get(domain, Some(&known));
                let _refused = clients.get(domain, None);
            }
        };
        look();
        self.env.proxy.after_each_change(move |_| look())
    }

    /// Asserts that the domain serves a client with a certificate, and has never served one without.
    fn assert_guards(&self, domain: &str) {
        assert_eq!(self.clients.get(domain, Some(&self.known)), Ok(200), "{domain} serves a client with a certificate");
        assert!(self.clients.get(domain, None).is_err(), "{domain} refuses a client without one");
        assert_eq!(self.clients.served_to_unknown(), 0, "a client without a certificate was served");
    }
}

fn trusting(uri: &str, version: Option<&str>) -> Value {
    json!({ "mutual_tls_authentication": { "truststore_uri": uri, "truststore_version": version } })
}

#[test]
fn a_new_domain_asks_for_certificates_from_the_start() {
    let guarded = Guarded::new();
    let env = &guarded.env;
    let witness = guarded.watched();
    env.apply(&guarded.at(NAME, trusting(URI, None)));
    let calls = env.calls(&BTreeMap::new());
    assert_eq!(calls.iter().filter(|it| it.contains("DomainName")).count(), 1, "one call creates it: {calls:?}");
    guarded.assert_guards(NAME);

    // Changes of the trust store, of its version, and of the certificate, each with the domain updating for a while.
    env.proxy.domains_updating(Lasts::Answers(2));
    for version in ["v1", "v2"] {
        let calls = env.change(&guarded.at(NAME, trusting(URI, Some(version))));
        assert_eq!(calls, [format!("UpdateDomainName {NAME}")]);
        guarded.assert_guards(NAME);
    }
    env.certificate(NAME);
    assert_eq!(env.change(&guarded.at(NAME, trusting(URI, Some("v2")))), [format!("UpdateDomainName {NAME}")]);
    guarded.assert_guards(NAME);
    // Another name, with the same trust store.
    env.change(&guarded.at(WWW, trusting(URI, Some("v2"))));
    guarded.assert_guards(WWW);
    drop(witness);
    env.workspace.assert_nothing_to_do();

    // Off is written, and a plan says who can call then.
    env.config(&guarded.at(WWW, trusting("", None)));
    let plan = env.workspace.plan(&[]);
    assert!(plan.says("no longer asks for a client certificate"), "{plan}");
    env.workspace.apply(&[]).succeeded();
    assert_eq!(guarded.clients.get(WWW, None), Ok(200));
    env.workspace.assert_nothing_to_do();
    env.destroy();
}

#[test]
fn mutual_tls_that_no_input_manages_survives_every_life() {
    let guarded = Guarded::new();
    let env = &guarded.env;
    env.apply(&guarded.at(NAME, json!({})));
    assert_eq!(guarded.clients.get(NAME, None), Ok(200), "the domain is open at first");
    guarded.person_guards(NAME);
    let guarded = Guarded { clients: env.proxy.clients(), known: guarded.known.clone(), env: guarded.env };
    let env = &guarded.env;
    let witness = guarded.watched();
    env.workspace.assert_nothing_to_do();
    env.certificate(NAME);
    env.apply(&guarded.at(NAME, json!({ "domain_ip_address_type": "dualstack" })));
    guarded.assert_guards(NAME);

    // The refused rename, with and without private state, and a refused replacement.
    for options in [&[][..], &["-refresh=false"]] {
        env.config(&guarded.at(WWW, json!({})));
        let run = env.workspace.plan(options);
        run.failed_with(LESS_PROTECTED)
            .failed_with(&format!("mutual_tls_authentication = {{ truststore_uri = \"{URI}\" }}"));
        guarded.assert_guards(NAME);
    }
    env.workspace.lose_private_state(THIS);
    env.config(&guarded.at(WWW, json!({})));
    env.workspace.plan(&["-refresh=false"]).failed_with(LESS_PROTECTED);
    guarded.assert_guards(NAME);

    // The way out, followed to the letter.
    env.apply(&guarded.at(WWW, trusting(URI, None)));
    guarded.assert_guards(WWW);
    env.apply(&guarded.at(NAME, trusting(URI, None)));
    guarded.assert_guards(NAME);
    // It is not managed any more.
    env.config(&guarded.at(NAME, json!({})));
    assert!(env.workspace.plan(&[]).says("no longer managed"));
    env.workspace.apply(&[]).succeeded();
    assert_eq!(guarded.in_aws(NAME), URI);
    guarded.assert_guards(NAME);
    drop(witness);
    env.end();
}

#[test]
fn a_replaced_gateway_keeps_mutual_tls_or_nothing_is_deleted() {
    let guarded = Guarded::on(TestEnv::with_terraform());
    let env = &guarded.env;
    env.apply(&guarded.at(NAME, json!({})));
    guarded.person_guards(NAME);
    env.workspace.assert_nothing_to_do();
    let replace = format!("-replace={THIS}");
    env.workspace.plan(&[&replace]).failed_with(LESS_PROTECTED);
    guarded.assert_guards(NAME);

    // A plan knows nothing of a tainted gateway, so the apply stops before its first deletion.
    env.workspace.run(&["taint", "-no-color", THIS]).succeeded();
    let calls = env.proxy.mutations().len();
    env.workspace.apply(&[]).failed_with(LESS_PROTECTED).failed_with("terraform untaint");
    assert_eq!(env.proxy.mutations().len(), calls);
    guarded.assert_guards(NAME);
    env.apply(&guarded.at(NAME, trusting(URI, None)));
    guarded.assert_guards(NAME);
    env.workspace.apply(&[&replace]).succeeded();
    guarded.assert_guards(NAME);
    env.end();
}

#[test]
fn an_import_proposes_mutual_tls() {
    let guarded = Guarded::new();
    let env = &guarded.env;
    env.apply(&guarded.at(NAME, trusting(URI, Some("v1"))));
    env.workspace.reimport(THIS);
    let found = json!({ "truststore_uri": URI, "truststore_version": "v1" });
    assert_eq!(env.attribute("mutual_tls_authentication"), found);
    env.workspace.assert_nothing_to_do();
    env.end();
}

#[test]
fn refused_and_doubtful_trust_stores_are_reported() {
    let guarded = Guarded::new();
    let env = &guarded.env;
    env.apply(&guarded.at(NAME, trusting(URI, None)));
    for (uri, text) in [
        ("s3://trust/missing.pem", "Unable to access truststore URI s3://trust/missing.pem version N/A"),
        ("s3://trust/empty.pem", "contains no valid certificate"),
    ] {
        env.config(&guarded.at(NAME, trusting(uri, None)));
        env.workspace.apply(&[]).failed_with(text);
        guarded.assert_guards(NAME);
    }
    env.config(&guarded.at(NAME, trusting("s3://trust/old.pem", None)));
    let run = env.workspace.apply(&[]);
    run.succeeded();
    assert!(run.says("The certificate CN=old has expired."), "{run}");
    guarded.assert_guards(NAME);
    env.workspace.assert_nothing_to_do();
    env.end();
}

#[test]
fn a_change_waits_for_one_in_progress_and_survives_a_lost_answer() {
    let guarded = Guarded::new();
    let env = &guarded.env;
    env.apply(&guarded.at(NAME, trusting(URI, None)));
    let witness = guarded.watched();
    env.proxy.fault(Fault::on("UpdateDomainName").first(1).after_work().reset());
    env.proxy.domains_updating(Lasts::Answers(2));
    env.apply(&guarded.at(NAME, trusting("s3://trust/other.pem", None)));
    assert_eq!(guarded.in_aws(NAME), "s3://trust/other.pem");
    guarded.assert_guards(NAME);
    drop(witness);
    env.workspace.assert_nothing_to_do();
    env.end();
}

#[test]
fn drift_of_mutual_tls_is_corrected_unless_it_is_ignored() {
    let guarded = Guarded::new();
    let env = &guarded.env;
    env.apply(&guarded.at(NAME, trusting("", None)));
    guarded.person_guards(NAME);
    let drift = text(&env.drift()["domain"]);
    assert!(drift.contains("mutual_tls"), "{drift}");
    env.apply_config();
    assert!(guarded.in_aws(NAME).is_null() || guarded.in_aws(NAME) == "");

    let ignored = with(&trusting("", None), &json!({ "ignore_drift": ["domain"] }));
    env.apply(&guarded.at(NAME, ignored.clone()));
    guarded.person_guards(NAME);
    env.workspace.assert_nothing_to_do();
    assert_eq!(guarded.in_aws(NAME), URI);
    env.config(&guarded.at(WWW, ignored));
    env.workspace.plan(&[]).failed_with(LESS_PROTECTED);
    env.end();
}
