//! Custom domains: merged settings, one update at a time, and trust stores.

use serde_json::{Value, json};

use crate::support::authority::Authority;
use crate::support::proxy::lasts::Lasts;
use crate::support::proxy::{Proxy, TrustStore};

const NAME: &str = "api.example.com";
const URI: &str = "s3://trust/ca.pem";

struct Domain {
    proxy: Proxy,
    certificate: String,
}

impl Domain {
    fn new() -> Self {
        let proxy = Proxy::ministack();
        let certificate = proxy.account().boto("acm", "request_certificate", json!({ "DomainName": NAME }));
        let certificate = certificate["CertificateArn"].as_str().expect("an ARN").to_owned();
        Self { proxy, certificate }
    }

    /// A call with the whole configuration, or with further members of it.
    fn arguments(&self, more: Value, configuration: Value) -> Value {
        let own = json!({ "CertificateArn": self.certificate, "EndpointType": "REGIONAL" });
        let configuration = crate::gateway::with(&own, &configuration);
        let all = json!({ "DomainName": NAME, "DomainNameConfigurations": [configuration] });
        crate::gateway::with(&all, &more)
    }

    fn call(&self, method: &str, arguments: Value) -> Value {
        self.proxy.boto("apigatewayv2", method, arguments)
    }

    fn rejected(&self, arguments: Value) -> (String, String) {
        let error = self.proxy.try_boto("apigatewayv2", "update_domain_name", arguments).expect_err("a rejection");
        (error.code, error.message)
    }

    fn shown(&self) -> Value {
        self.call("get_domain_name", json!({ "DomainName": NAME }))
    }
}

fn trust(uri: &str, version: Option<&str>) -> Value {
    let mut setting = json!({ "TruststoreUri": uri });
    if let Some(version) = version {
        setting["TruststoreVersion"] = version.into();
    }
    json!({ "MutualTlsAuthentication": setting })
}

#[test]
fn updates_of_a_domain_merge_and_take_their_time() {
    let domain = Domain::new();
    let store = TrustStore { pem: Authority::new().certificate.pem(), warnings: vec!["It expires.".into()] };
    domain.proxy.truststore(URI, "v1", store.clone());
    domain.proxy.truststore(URI, "v2", TrustStore { warnings: Vec::new(), ..store });
    let dualstack = json!({ "IpAddressType": "dualstack" });
    let created = domain.call("create_domain_name", domain.arguments(trust(URI, Some("v1")), dualstack));
    assert_eq!(created["MutualTlsAuthentication"]["TruststoreWarnings"], json!(["It expires."]));

    // What a call omits stays, inside of the configuration and of mutual TLS too.
    // Two answers show the update: that to another update, and a read.
    domain.proxy.domains_updating(Lasts::Answers(2));
    domain.call(
        "update_domain_name",
        domain.arguments(json!({ "RoutingMode": "ROUTING_RULE_THEN_API_MAPPING" }), json!({})),
    );
    let (code, message) = domain.rejected(domain.arguments(trust(URI, Some("v2")), json!({})));
    assert_eq!((code.as_str(), message.as_str()), ("ConflictException", "There is already an update in progress"));
    assert_eq!(domain.shown()["DomainNameConfigurations"][0]["DomainNameStatus"], "UPDATING");
    let shown = domain.shown();
    assert_eq!(shown["DomainNameConfigurations"][0]["DomainNameStatus"], "AVAILABLE");
    assert_eq!(shown["DomainNameConfigurations"][0]["IpAddressType"], "dualstack");
    let found =
        (&shown["MutualTlsAuthentication"]["TruststoreUri"], &shown["MutualTlsAuthentication"]["TruststoreVersion"]);
    assert_eq!((found, &shown["RoutingMode"]), ((&json!(URI), &json!("v1")), &json!("ROUTING_RULE_THEN_API_MAPPING")));
    domain.proxy.domains_updating(Lasts::NOT_AT_ALL);
    let version = json!({ "MutualTlsAuthentication": { "TruststoreVersion": "v2" } });
    domain.call("update_domain_name", domain.arguments(version, json!({})));
    assert_eq!(domain.shown()["MutualTlsAuthentication"]["TruststoreUri"], URI);

    for (arguments, text) in [
        (json!({ "DomainName": NAME, "RoutingMode": "API_MAPPING_ONLY" }), "Expected one domain name configuration"),
        (domain.arguments(trust("s3://trust/x.pem", None), json!({})), "truststore URI s3://trust/x.pem version v2"),
    ] {
        let (code, message) = domain.rejected(arguments);
        assert!(code == "BadRequestException" && message.contains(text), "{code}: {message}");
    }
    domain.call("update_domain_name", domain.arguments(trust("", None), json!({})));
    assert!(domain.shown().get("MutualTlsAuthentication").is_none(), "it is off");
}

#[test]
fn clients_meet_the_mutual_tls_that_is_in_force() {
    let domain = Domain::new();
    let authority = Authority::new();
    let (ours, theirs) = (authority.identity("client"), Authority::new().identity("client"));
    let store = TrustStore { pem: authority.certificate.pem(), warnings: Vec::new() };
    domain.proxy.truststore(URI, "", store);
    domain.call("create_domain_name", domain.arguments(json!({}), json!({})));
    let clients = domain.proxy.clients();
    let are_served = || [None, Some(&ours), Some(&theirs)].map(|identity| clients.get(NAME, identity).is_ok());
    assert_eq!(are_served(), [true, true, true]);
    // AWS serves with the previous setting during an update.
    domain.proxy.domains_updating(Lasts::UntilSet);
    domain.call("update_domain_name", domain.arguments(trust(URI, None), json!({})));
    assert_eq!(are_served(), [true, true, true]);
    domain.proxy.domains_updating(Lasts::NOT_AT_ALL);
    assert_eq!(are_served(), [false, true, false]);
    domain.proxy.domains_updating(Lasts::UntilSet);
    domain.call("update_domain_name", domain.arguments(trust("", None), json!({})));
    assert_eq!(are_served(), [false, true, false]);
    domain.proxy.domains_updating(Lasts::NOT_AT_ALL);
    assert_eq!(are_served(), [true, true, true]);
}
