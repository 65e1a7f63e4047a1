//! Settings of existing objects that their replacements do not get: the lives of a domain with mutual TLS, and of
//! objects that a person has restricted while their drift is ignored.

use super::*;
use crate::model::keys::gateway as keys;
use crate::model::{AuthorizationType, DomainName, MutualTls};
use crate::plugin::Encode;
use crate::topology::http_gateway::MutualTlsConfig;

const URI: &str = "s3://trust/ca.pem";
const LESS_PROTECTED: &str = "new objects would be less protected";

fn at(domain: &str, pairs: &[(&str, Value)]) -> Value {
    let mut config = gateway(&[("GET /a", route("a", None))], &[], &[("domain_name", domain.into())]);
    for (name, value) in pairs {
        config.set(name, value.clone());
    }
    config
}

/// The input for mutual TLS. An empty URI turns it off.
fn trusting(uri: &str) -> (&'static str, Value) {
    let setting = MutualTls { truststore_uri: uri.into(), truststore_version: None };
    ("mutual_tls_authentication", MutualTlsConfig::of(&setting).encode())
}

fn ignoring(slots: &[&str]) -> (&'static str, Value) {
    ("ignore_drift", slots.to_vec().into())
}

fn trusts(setting: MutualTls) -> impl Fn(&mut Spec) {
    move |spec| {
        let Spec::DomainName(domain) = spec else { panic!("{spec:?}") };
        domain.mutual_tls = Input::Known(Some(setting.clone()));
    }
}

fn on() -> MutualTls {
    MutualTls { truststore_uri: URI.into(), truststore_version: None }
}

/// Mutual TLS of the domain in AWS.
fn in_aws(terraform: &Terraform<HttpGateway>) -> MutualTls {
    let name = terraform.state.get("domain_name").as_str().expect("a domain").to_string();
    let spec = terraform.account.spec_of(&keys::domain(&Input::Known(name))).expect("it exists");
    DomainName::of(&spec)
        .expect("a domain")
        .mutual_tls
        .known()
        .cloned()
        .flatten()
        .expect("AWS has one setting or the other")
}

/// A gateway whose domain got mutual TLS from a person.
async fn with_mutual_tls_of_a_person(more: &[(&str, Value)]) -> Terraform<HttpGateway> {
    let mut terraform = Terraform::<HttpGateway>::new(1);
    terraform.assert_applies(&at("a.example.com", more)).await;
    terraform.account.change_outside("domain", trusts(on()));
    terraform.refresh().await;
    terraform.account.take_calls();
    terraform
}

fn error_of(diagnostics: &Diagnostics) -> String {
    let errors = diagnostics.0.iter().filter(|it| it.severity == Severity::Error);
    errors.map(|it| format!("{}: {}", it.summary, it.detail)).collect()
}

fn warnings_of(diagnostics: &Diagnostics) -> String {
    diagnostics.0.iter().map(|it| format!("{}: {}\n", it.summary, it.detail)).collect()
}

#[tokio::test(start_paused = true)]
async fn mutual_tls_of_a_person_stays_and_is_no_drift() {
    let mut terraform = with_mutual_tls_of_a_person(&[]).await;
    terraform.assert_quiet(&at("a.example.com", &[])).await;
    // Another change keeps it.
    let dualstack = ("domain_ip_address_type", "dualstack".into());
    terraform.assert_applies(&at("a.example.com", &[dualstack])).await;
    assert_eq!(in_aws(&terraform), on());
}

#[tokio::test(start_paused = true)]
async fn a_renamed_domain_never_loses_mutual_tls() {
    let mut terraform = with_mutual_tls_of_a_person(&[]).await;
    let plan = terraform.plan(&at("b.example.com", &[])).await;
    let error = error_of(&plan.diagnostics);
    let remedy = format!("Set mutual_tls_authentication = {{ truststore_uri = {URI:?} }}.");
    assert!(error.contains(LESS_PROTECTED) && error.contains(&remedy), "{error}");
    assert_eq!(terraform.account.take_calls(), [""; 0]);

    // The remedy, followed to the letter, alone or with the new name.
    terraform.assert_applies(&at("b.example.com", &[trusting(URI)])).await;
    assert_eq!(in_aws(&terraform), on());
    terraform.assert_applies(&at("c.example.com", &[trusting(URI)])).await;
    assert_eq!(in_aws(&terraform), on());

    // A rename that turns it off says so in the configuration.
    terraform.assert_applies(&at("a.example.com", &[trusting("")])).await;
    assert_eq!(in_aws(&terraform), MutualTls::off());
}

/// A new domain would trust the certificates of the current version.
#[tokio::test(start_paused = true)]
async fn a_renamed_domain_keeps_the_version_of_its_trust_store() {
    let mut terraform = Terraform::<HttpGateway>::new(1);
    terraform.assert_applies(&at("a.example.com", &[trusting(URI)])).await;
    let pinned = MutualTls { truststore_version: Some("7".into()), ..on() };
    terraform.account.change_outside("domain", trusts(pinned.clone()));
    terraform.refresh().await;
    terraform.assert_quiet(&at("a.example.com", &[trusting(URI)])).await;
    let plan = terraform.plan(&at("b.example.com", &[trusting(URI)])).await;
    let error = error_of(&plan.diagnostics);
    let remedy = format!("Set mutual_tls_authentication = {pinned}.");
    assert!(error.contains(LESS_PROTECTED) && error.contains(&remedy), "{error}");
    let setting = ("mutual_tls_authentication", MutualTlsConfig::of(&pinned).encode());
    terraform.assert_applies(&at("b.example.com", &[setting])).await;
    assert_eq!(in_aws(&terraform), pinned);
    // Another trust store is a decision of the configuration.
    terraform.assert_applies(&at("c.example.com", &[trusting("s3://trust/other.pem")])).await;
}

/// The plan did not know the setting.
#[tokio::test(start_paused = true)]
async fn mutual_tls_that_is_turned_on_after_the_plan_stops_the_apply() {
    for is_on in [false, true] {
        let mut terraform = Terraform::<HttpGateway>::new(1);
        terraform.assert_applies(&at("a.example.com", &[])).await;
        let renamed = at("b.example.com", &[]);
        let plan = terraform.plan(&renamed).await;
        if is_on {
            terraform.account.change_outside("domain", trusts(on()));
        }
        terraform.account.take_calls();
        let error = error_of(&terraform.apply_plan(&renamed, plan).await);
        assert_eq!(error.contains(LESS_PROTECTED), is_on, "{error}");
        assert_eq!(terraform.account.take_calls().is_empty(), is_on);
        assert_eq!(in_aws(&terraform), if is_on { on() } else { MutualTls::off() });
    }
}

#[tokio::test(start_paused = true)]
async fn a_domain_that_goes_with_its_mutual_tls_is_no_replacement() {
    let mut terraform = with_mutual_tls_of_a_person(&[]).await;
    terraform.assert_applies(&gateway(&[("GET /a", route("a", None))], &[], &[])).await;
    terraform.end().await;
}

#[tokio::test(start_paused = true)]
async fn ignored_mutual_tls_is_not_lost_by_a_rename() {
    let ignored = [trusting(""), ignoring(&["domain"])];
    let mut terraform = with_mutual_tls_of_a_person(&ignored).await;
    terraform.assert_applies(&at("a.example.com", &ignored)).await;
    let plan = terraform.plan(&at("b.example.com", &ignored)).await;
    assert!(error_of(&plan.diagnostics).contains(LESS_PROTECTED), "{:?}", plan.diagnostics);
    terraform.assert_applies(&at("b.example.com", &[trusting(URI), ignoring(&["domain"])])).await;
    assert_eq!(in_aws(&terraform), on());
}

#[tokio::test(start_paused = true)]
async fn a_requested_replacement_of_the_gateway_does_not_drop_it() {
    for more in [&[][..], &[trusting(""), ignoring(&["domain"])]] {
        let mut terraform = with_mutual_tls_of_a_person(more).await;
        let plan = terraform.plan_requested_replacement(&at("a.example.com", more)).await;
        assert!(error_of(&plan.diagnostics).contains(LESS_PROTECTED), "{:?}", plan.diagnostics);
        let expressed = at("a.example.com", &[trusting(URI)]);
        let update = terraform.plan(&expressed).await;
        let replaced = terraform.replace(&expressed, update.private).await;
        assert!(!replaced.has_errors(), "{replaced:?}");
        assert_eq!(in_aws(&terraform), on());
        terraform.end().await;
    }
}

/// An unknown input leaves the plan undecided, but null is known not to express the setting.
#[tokio::test(start_paused = true)]
async fn an_undecided_replacement_keeps_only_what_is_expressed() {
    for unknown in ["mutual_tls_authentication", "route_config", "domain_name", "vpc_links"] {
        for is_tainted in [true, false] {
            for is_expressed in [true, false] {
                let mut terraform = Terraform::<HttpGateway>::new(1);
                terraform.assert_applies(&at("a.example.com", &[trusting(URI)])).await;
                let more: &[(&str, Value)] = if is_expressed { &[trusting(URI)] } else { &[] };
                let mut config = at("a.example.com", more);
                config.set(unknown, Value::Unknown);
                terraform.account.take_calls();
                let update = if is_tainted { Vec::new() } else { terraform.plan(&config).await.private };
                let private = terraform.private.clone();
                let create = terraform.plan_successor(&config, update).await;
                let mut error = error_of(&create.diagnostics);
                if error.is_empty() {
                    terraform.private = create.private;
                    error = error_of(&terraform.destroy().await);
                }
                let is_kept = is_expressed && unknown != "mutual_tls_authentication";
                assert_eq!(error.is_empty(), is_kept, "{unknown}, tainted {is_tainted}: {error}");
                if !is_kept {
                    assert!(error.contains("would be less protected"), "{error}");
                    assert_eq!(terraform.account.take_calls(), [""; 0]);
                    terraform.private = private;
                    terraform.end().await;
                }
            }
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_tainted_gateway_is_not_replaced_without_it() {
    // Terraform plans a tainted resource as a create, and passes nothing of it.
    let mut terraform = with_mutual_tls_of_a_person(&[]).await;
    let replaced = terraform.replace(&at("a.example.com", &[]), Vec::new()).await;
    let error = error_of(&replaced);
    assert!(error.contains(LESS_PROTECTED) && error.contains("terraform untaint"), "{error}");
    assert_eq!(terraform.account.take_calls(), [""; 0]);

    // The replacement that keeps it, and a destroy, which replaces nothing.
    let replaced = terraform.replace(&at("a.example.com", &[trusting(URI)]), Vec::new()).await;
    assert!(!replaced.has_errors(), "{replaced:?}");
    assert_eq!(in_aws(&terraform), on());
    terraform.end().await;
}

#[tokio::test(start_paused = true)]
async fn without_private_state_the_setting_is_read_again() {
    let mut terraform = with_mutual_tls_of_a_person(&[]).await;
    terraform.private = Vec::new();
    let plan = terraform.plan(&at("b.example.com", &[])).await;
    assert!(error_of(&plan.diagnostics).contains(LESS_PROTECTED), "{:?}", plan.diagnostics);
    terraform.refresh().await;
    terraform.assert_quiet(&at("a.example.com", &[])).await;
    assert_eq!(in_aws(&terraform), on());
}

#[tokio::test(start_paused = true)]
async fn drift_of_managed_mutual_tls_is_shown_and_corrected() {
    for (configured, found) in [(trusting(URI), MutualTls::off()), (trusting(""), on())] {
        let mut terraform = Terraform::<HttpGateway>::new(1);
        let config = at("a.example.com", &[configured]);
        terraform.assert_applies(&config).await;
        let wanted = in_aws(&terraform);
        terraform.account.change_outside("domain", trusts(found.clone()));
        terraform.refresh().await;
        let shown = terraform.state.get("mutual_tls_authentication").get("truststore_uri").clone();
        assert_eq!(shown, Value::from(found.truststore_uri.as_str()));
        assert!(terraform.state.get("drift").get("domain").as_str().is_some_and(|it| it.contains("mutual_tls")));
        terraform.assert_applies(&config).await;
        assert_eq!(in_aws(&terraform), wanted);
    }
}

#[tokio::test(start_paused = true)]
async fn null_manages_it_no_longer_and_a_plan_says_so() {
    let mut terraform = Terraform::<HttpGateway>::new(1);
    terraform.assert_applies(&at("a.example.com", &[trusting(URI)])).await;
    let plan = terraform.plan(&at("a.example.com", &[])).await;
    assert!(warnings_of(&plan.diagnostics).contains("no longer managed"), "{:?}", plan.diagnostics);
    terraform.assert_applies(&at("a.example.com", &[])).await;
    assert_eq!(in_aws(&terraform), on());
    let plan = terraform.plan(&at("a.example.com", &[])).await;
    assert!(!warnings_of(&plan.diagnostics).contains("no longer managed"), "{:?}", plan.diagnostics);

    // Off is written, and a plan says who can call then, also of mutual TLS that was not managed.
    let plan = terraform.plan(&at("a.example.com", &[trusting("")])).await;
    assert!(
        warnings_of(&plan.diagnostics).contains("no longer asks for a client certificate"),
        "{:?}",
        plan.diagnostics
    );
    terraform.assert_applies(&at("a.example.com", &[trusting("")])).await;
    assert_eq!(in_aws(&terraform), MutualTls::off());
}

#[tokio::test(start_paused = true)]
async fn a_version_cannot_be_removed_alone() {
    let versioned = |version: Option<&str>| {
        let setting = MutualTls { truststore_uri: URI.into(), truststore_version: version.map(str::to_string) };
        ("mutual_tls_authentication", MutualTlsConfig::of(&setting).encode())
    };
    let mut terraform = Terraform::<HttpGateway>::new(1);
    terraform.assert_applies(&at("a.example.com", &[versioned(Some("1"))])).await;
    terraform.assert_applies(&at("a.example.com", &[versioned(Some("2"))])).await;
    let plan = terraform.plan(&at("a.example.com", &[versioned(None)])).await;
    assert!(error_of(&plan.diagnostics).contains("cannot be removed alone"), "{:?}", plan.diagnostics);
    // Another trust store has its own versions.
    terraform.assert_applies(&at("a.example.com", &[trusting("s3://trust/other.pem")])).await;
    assert_eq!(in_aws(&terraform).truststore_version, None);
    terraform.assert_applies(&at("a.example.com", &[trusting("")])).await;
}

#[tokio::test(start_paused = true)]
async fn a_failed_change_of_mutual_tls_is_repeated_or_taken_back() {
    for next in [trusting(URI), trusting("")] {
        let mut terraform = Terraform::<HttpGateway>::new(1);
        terraform.assert_applies(&at("a.example.com", &[trusting("")])).await;
        terraform.account.failing.lock().unwrap().push("domain".to_string());
        assert!(terraform.apply(&at("a.example.com", &[trusting(URI)])).await.has_errors());
        assert_eq!(in_aws(&terraform), MutualTls::off());
        terraform.account.failing.lock().unwrap().clear();
        terraform.assert_applies(&at("a.example.com", &[next])).await;
    }
}

#[tokio::test(start_paused = true)]
async fn a_change_of_mutual_tls_whose_answer_was_lost_is_in_state() {
    let mut terraform = Terraform::<HttpGateway>::new(1);
    terraform.assert_applies(&at("a.example.com", &[trusting("")])).await;
    terraform.account.losing_answers.lock().unwrap().push("domain".to_string());
    terraform.apply(&at("a.example.com", &[trusting(URI)])).await;
    assert_eq!(in_aws(&terraform), on());
    terraform.account.losing_answers.lock().unwrap().clear();
    terraform.refresh().await;
    let plan = terraform.plan(&at("b.example.com", &[])).await;
    assert!(error_of(&plan.diagnostics).contains(LESS_PROTECTED), "{:?}", plan.diagnostics);
    terraform.assert_applies(&at("a.example.com", &[trusting(URI)])).await;
}

#[tokio::test(start_paused = true)]
async fn an_import_proposes_mutual_tls_only_if_it_is_on() {
    for (setting, proposed) in [(on(), true), (MutualTls::off(), false)] {
        let mut terraform = Terraform::<HttpGateway>::new(1);
        terraform.assert_applies(&at("a.example.com", &[])).await;
        terraform.account.change_outside("domain", trusts(setting.clone()));
        let id = terraform.state.get("id").as_str().unwrap().to_string();
        import::import(&mut terraform, &id).await;
        let uri = terraform.state.get("mutual_tls_authentication").get("truststore_uri").clone();
        assert_eq!(uri.as_str().is_some(), proposed, "{uri:?}");
        let config = if proposed { at("a.example.com", &[trusting(URI)]) } else { at("a.example.com", &[]) };
        terraform.assert_applies(&config).await;
        assert_eq!(in_aws(&terraform), setting);
    }
}

/// An object that a person restricts while its drift is ignored.
struct Restricted {
    config: Value,
    slot: &'static str,
    restrict: fn(&mut Spec),
}

impl Restricted {
    fn new(mut config: Value, slot: &'static str, restrict: fn(&mut Spec)) -> Restricted {
        config.set("ignore_drift", vec![slot].into());
        Restricted { config, slot, restrict }
    }

    async fn built<P: Topology>(&self) -> Terraform<P> {
        let mut terraform = Terraform::<P>::new(2);
        terraform.assert_applies(&self.config).await;
        terraform.account.change_outside(self.slot, self.restrict);
        terraform.assert_quiet(&self.config).await;
        terraform.account.take_calls();
        terraform
    }
}

fn restricted_in_gateways() -> [Restricted; 2] {
    let domain = |spec: &mut Spec| trusts(on())(spec);
    let route_of_roles = |spec: &mut Spec| {
        let Spec::ApiRoute(route) = spec else { panic!("{spec:?}") };
        route.authorization = AuthorizationType::AwsIam.into();
    };
    [
        Restricted::new(at("a.example.com", &[trusting("")]), "domain", domain),
        Restricted::new(gateway(&[("GET /a", route("a", None))], &[], &[]), "route.GET /a", route_of_roles),
    ]
}

/// A network with an interface endpoint under a key.
fn with_endpoint(key: &str, more: &[(&str, Value)]) -> Value {
    let endpoint = Value::map([("subnet_tier", Value::from("private_app")), ("service", "kms".into())]);
    let mut config = network(&[("interface_endpoints", Value::map([(key, endpoint)]))]);
    for (name, value) in more {
        config.set(name, value.clone());
    }
    config
}

fn restricted_in_networks() -> [Restricted; 2] {
    const EMPTY: &str = r#"{"Statement":[]}"#;
    let interface_endpoint = |spec: &mut Spec| {
        let Spec::InterfaceEndpoint(endpoint) = spec else { panic!("{spec:?}") };
        endpoint.settings.policy = Input::Known(Some(EMPTY.into()));
    };
    let gateway_endpoint = |spec: &mut Spec| {
        let Spec::VpcEndpoint(endpoint) = spec else { panic!("{spec:?}") };
        endpoint.policy = Input::Known(Some(EMPTY.into()));
    };
    [
        Restricted::new(with_endpoint("x", &[]), "interface_endpoint.x", interface_endpoint),
        Restricted::new(network(&[]), "vpc_endpoint.objectstore", gateway_endpoint),
    ]
}

async fn assert_taint_refused<P: Topology>(terraform: &mut Terraform<P>, it: &Restricted) {
    let replaced = terraform.replace(&it.config, Vec::new()).await;
    let error = error_of(&replaced);
    assert!(error.contains(LESS_PROTECTED) && error.contains("terraform untaint"), "{}: {error}", it.slot);
    assert_eq!(terraform.account.take_calls(), [""; 0], "{}", it.slot);
}

async fn tainted<P: Topology>(all: impl IntoIterator<Item = Restricted>) {
    for it in all {
        let mut terraform = it.built::<P>().await;
        assert_taint_refused(&mut terraform, &it).await;
    }
}

#[tokio::test(start_paused = true)]
async fn a_tainted_root_is_not_replaced_without_ignored_restrictions() {
    tainted::<HttpGateway>(restricted_in_gateways()).await;
    tainted::<FourTierVpc>(restricted_in_networks()).await;
}

async fn without_private_state<P: Topology>(all: impl IntoIterator<Item = Restricted>) {
    for it in all {
        let mut terraform = it.built::<P>().await;
        let state = terraform.state.clone();
        terraform.private = Vec::new();
        let plan = terraform.plan(&it.config).await;
        assert!(plan.planned == state, "{}: {}", it.slot, differing(&state, &plan.planned));
        terraform.assert_quiet(&it.config).await;
        assert!(terraform.state == state, "{}: {}", it.slot, differing(&state, &terraform.state));

        // With what the refresh has read, and without it.
        for private in [terraform.private.clone(), Vec::new()] {
            terraform.private = private;
            let plan = terraform.plan_requested_replacement(&it.config).await;
            assert!(error_of(&plan.diagnostics).contains(LESS_PROTECTED), "{}: {:?}", it.slot, plan.diagnostics);
        }

        assert_taint_refused(&mut terraform, &it).await;

        // Once it is no longer ignored, it is drift like any other.
        (terraform.state, terraform.private) = (state, Vec::new());
        terraform.refresh().await;
        let mut config = it.config.clone();
        config.set("ignore_drift", Value::Null);
        terraform.account.take_calls();
        terraform.assert_applies(&config).await;
        let calls = terraform.account.take_calls();
        assert!(calls.contains(&format!("update {}", it.slot)), "{calls:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn ignored_restrictions_outlive_a_lost_private_state() {
    without_private_state::<HttpGateway>(restricted_in_gateways()).await;
    without_private_state::<FourTierVpc>(restricted_in_networks()).await;
}

#[tokio::test(start_paused = true)]
async fn ignored_mutual_tls_outlives_a_rename_and_a_lost_private_state() {
    let ignored = [trusting(""), ignoring(&["domain"])];
    for reads in [true, false] {
        let mut terraform = with_mutual_tls_of_a_person(&ignored).await;
        terraform.private = Vec::new();
        if reads {
            terraform.refresh().await;
        }
        let plan = terraform.plan(&at("b.example.com", &ignored)).await;
        assert!(error_of(&plan.diagnostics).contains(LESS_PROTECTED), "{:?}", plan.diagnostics);
    }
}

#[tokio::test(start_paused = true)]
async fn a_renamed_endpoint_in_a_replaced_network_keeps_its_policy() {
    let [it, _] = restricted_in_networks();
    let renamed = |more: &[(&str, Value)]| with_endpoint("y", &[more, &[ignoring(&["interface_endpoint.y"])]].concat());
    for is_lost in [false, true] {
        let mut terraform = it.built::<FourTierVpc>().await;
        if is_lost {
            terraform.private = Vec::new();
        }
        let by_argument = terraform.plan(&renamed(&[("tenancy", "dedicated".into())])).await;
        let error = error_of(&by_argument.diagnostics);
        assert!(error.contains(LESS_PROTECTED), "lost {is_lost}: {error}");
        let requested = terraform.plan_requested_replacement(&renamed(&[])).await;
        assert!(error_of(&requested.diagnostics).contains(LESS_PROTECTED), "{:?}", requested.diagnostics);
        let tainted = terraform.replace(&renamed(&[]), Vec::new()).await;
        assert!(error_of(&tainted).contains(LESS_PROTECTED), "{tainted:?}");
        assert_eq!(terraform.account.take_calls(), [""; 0]);
    }
}
