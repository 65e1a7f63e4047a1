//! Custom domains: their certificates and updates.

use proptest::prelude::*;

use super::*;
use crate::composite::simulation::certificate;
use crate::model::Certificate;
use crate::plugin::Encode;
use crate::topology::http_gateway::MutualTlsConfig;

/// A random gateway, possibly with a domain, which possibly has a DNS record.
pub(super) fn some_gateway() -> impl Strategy<Value = Value> {
    let names = prop::sample::select(vec!["a.example.com", "b.example.com"]);
    let zones = prop::option::of(prop::sample::select(vec!["Z0123456789A", "Z0123456789B"]));
    // The certificate is looked up by the name, looked up by another domain, or given.
    let domain = prop::option::of((names, zones, 0..3));
    let endpoint = (any::<bool>(), prop::bool::weighted(0.3));
    // Off or on. A domain that keeps what is not managed cannot be renamed, which `replaced_settings` tests.
    let trust = prop::sample::select(vec!["", "s3://trust/ca.pem", "s3://trust/other.pem"]);
    (super::properties::some_gateway(), domain, endpoint, trust).prop_map(|(mut gateway, domain, endpoint, trust)| {
        let (dualstack, disabled) = endpoint;
        gateway.set("ip_address_type", if dualstack { "dualstack" } else { "ipv4" }.into());
        gateway.set("disable_execute_api_endpoint", disabled.into());
        if let Some((name, zone, certificate)) = domain {
            let given = |number, text: &str| (certificate == number).then(|| text.to_string()).into();
            gateway.set("domain_name", name.into());
            gateway.set("mutual_tls_authentication", truststore(trust));
            gateway.set("domain_ip_address_type", given(2, "dualstack"));
            gateway.set("certificate_domain", given(1, "*.example.com"));
            gateway.set("certificate_arn", given(2, "cert-1"));
            gateway.set("create_dns_entry", zone.is_some().into());
            gateway.set("hosted_zone_id", zone.map(str::to_string).into());
        }
        gateway
    })
}

fn truststore(uri: &str) -> Value {
    MutualTlsConfig { truststore_uri: uri.to_string().into(), truststore_version: Input::Known(None) }.encode()
}

/// A gateway with a domain.
fn with_domain(name: &str) -> Value {
    gateway(&[("GET /a", route("a", None))], &[], &[("domain_name", name.into())])
}

fn without_domain() -> Value {
    gateway(&[("GET /a", route("a", None))], &[], &[])
}

fn certificates(terraform: &Terraform<HttpGateway>, list: &[(&str, i64)]) {
    let list = list.iter().map(|(arn, not_before)| certificate(arn, *not_before));
    *terraform.account.certificates.lock().unwrap() = list.collect();
}

async fn created() -> Terraform<HttpGateway> {
    let mut terraform = Terraform::<HttpGateway>::new(1);
    terraform.assert_applies(&with_domain("a.example.com")).await;
    terraform.account.take_calls();
    terraform
}

#[tokio::test(start_paused = true)]
async fn the_plan_shows_a_newer_certificate_and_the_apply_uses_it() {
    let mut terraform = created().await;
    certificates(&terraform, &[("cert-0", 0), ("cert-1", 1)]);
    terraform.assert_quiet(&with_domain("a.example.com")).await;

    certificates(&terraform, &[("cert-1", 1), ("cert-2", 2)]);
    let plan = terraform.plan(&with_domain("a.example.com")).await;
    assert_eq!(*plan.planned.get("certificate_arn"), Value::from("cert-2"));
    assert_eq!(plan.planned.get("aws_objects"), terraform.state.get("aws_objects"), "no object is created or deleted");
    terraform.assert_applies(&with_domain("a.example.com")).await;
    assert_eq!(terraform.account.take_calls(), ["update domain"]);
    assert_eq!(*terraform.state.get("certificate_arn"), Value::from("cert-2"));
}

#[tokio::test(start_paused = true)]
async fn a_certificate_issued_after_the_plan_waits_for_the_next_plan() {
    let config = with_domain("a.example.com");
    let mut terraform = Terraform::<HttpGateway>::new(1);
    let plan = terraform.plan(&config).await;
    certificates(&terraform, &[("cert-1", 1), ("cert-2", 2)]);
    assert!(!terraform.apply_plan(&config, plan).await.has_errors());
    assert_eq!(*terraform.state.get("certificate_arn"), Value::from("cert-1"));
    terraform.account.take_calls();
    terraform.assert_applies(&config).await;
    assert_eq!(terraform.account.take_calls(), ["update domain"]);

    // The same for an update.
    certificates(&terraform, &[("cert-2", 2), ("cert-3", 3)]);
    let plan = terraform.plan(&config).await;
    certificates(&terraform, &[("cert-2", 2), ("cert-3", 3), ("cert-4", 4)]);
    assert!(!terraform.apply_plan(&config, plan).await.has_errors());
    assert_eq!(*terraform.state.get("certificate_arn"), Value::from("cert-3"));
}

#[tokio::test(start_paused = true)]
async fn a_certificate_set_outside_terraform_has_no_precedence() {
    let config = with_domain("a.example.com");
    let set = |terraform: &Terraform<HttpGateway>, arn: &str| {
        terraform.account.change_outside("domain", |spec| {
            let Spec::DomainName(domain) = spec else { unreachable!() };
            domain.certificate_arn = Input::Known(arn.to_string());
        });
    };
    let mut terraform = created().await;
    certificates(&terraform, &[("cert-0", 0), ("cert-1", 1)]);
    set(&terraform, "cert-0");
    terraform.refresh().await;
    assert_eq!(*terraform.state.get("certificate_arn"), Value::from("cert-0"));
    let drift = terraform.state.get("drift").as_map().unwrap().clone();
    assert_eq!(drift["domain"], Value::from("certificate_arn is cert-0 instead of cert-1"));
    terraform.assert_applies(&config).await;
    assert_eq!(terraform.account.take_calls(), ["update domain"]);

    // The rule chooses the certificate that AWS already returns.
    certificates(&terraform, &[("cert-1", 1), ("cert-2", 2)]);
    set(&terraform, "cert-2");
    terraform.refresh().await;
    terraform.assert_applies(&config).await;
    assert_eq!(terraform.account.take_calls(), Vec::<String>::new());
    assert_eq!(*terraform.state.get("certificate_arn"), Value::from("cert-2"));

    // Ignored drift is corrected together with another choice.
    let mut ignoring = config.clone();
    ignoring.set("ignore_drift", Value::List(vec!["domain".into()]));
    terraform.assert_applies(&ignoring).await;
    set(&terraform, "cert-0");
    terraform.refresh().await;
    terraform.assert_quiet(&ignoring).await;
    certificates(&terraform, &[("cert-2", 2), ("cert-3", 3)]);
    terraform.assert_applies(&ignoring).await;
    assert_eq!(*terraform.state.get("certificate_arn"), Value::from("cert-3"));
}

#[tokio::test(start_paused = true)]
async fn a_pinned_certificate_stays_until_the_pin_is_removed() {
    let pinned = |arn: Value| {
        let mut config = with_domain("a.example.com");
        config.set("certificate_arn", arn);
        config
    };
    let mut terraform = created().await;
    certificates(&terraform, &[("cert-1", 1), ("cert-2", 2)]);
    terraform.assert_quiet(&pinned("cert-1".into())).await;
    certificates(&terraform, &[]);
    terraform.assert_applies(&pinned("cert-9".into())).await;
    assert_eq!(terraform.account.take_calls(), ["update domain"]);
    super::import::reimport(&mut terraform).await;
    terraform.assert_quiet(&pinned("cert-9".into())).await;

    certificates(&terraform, &[("cert-1", 1), ("cert-2", 2)]);
    terraform.assert_applies(&with_domain("a.example.com")).await;
    assert_eq!(terraform.account.take_calls(), ["update domain"]);
    assert_eq!(*terraform.state.get("certificate_arn"), Value::from("cert-2"));

    // Without a domain, a pin has no effect, but Terraform requires that the state contains it.
    let mut unused = without_domain();
    unused.set("certificate_arn", "cert-2".into());
    terraform.assert_applies(&unused).await;
    terraform.assert_applies(&without_domain()).await;
    assert!(terraform.state.get("certificate_arn").is_null());
}

#[tokio::test(start_paused = true)]
async fn an_unknown_certificate_becomes_known_at_apply() {
    let pinned = |arn: Value| {
        let mut config = with_domain("a.example.com");
        config.set("certificate_arn", arn);
        config
    };
    for (domain_exists, certificate) in [(false, "cert-9".into()), (true, "cert-9".into()), (true, Value::Null)] {
        let mut terraform = Terraform::<HttpGateway>::new(1);
        let start = if domain_exists { with_domain("a.example.com") } else { without_domain() };
        terraform.assert_applies(&start).await;
        certificates(&terraform, &[("cert-1", 1), ("cert-2", 2)]);
        terraform.account.take_calls();
        let plan = terraform.plan(&pinned(Value::Unknown)).await;
        assert!(plan.diagnostics.0.is_empty(), "{:?}", plan.diagnostics);
        assert_eq!(*plan.planned.get("certificate_arn"), Value::Unknown);
        assert_eq!(plan.planned.get("aws_objects").get("domain").is_unknown(), !domain_exists);
        let applied = terraform.apply_plan(&pinned(certificate.clone()), plan).await;
        assert!(!applied.has_errors(), "{applied:?}");
        let expected = if certificate.is_null() { "cert-2".into() } else { certificate.clone() };
        assert_eq!(*terraform.state.get("certificate_arn"), expected);
        let calls: &[&str] = if domain_exists { &["update domain"] } else { &["create domain", "create api_mapping"] };
        assert_eq!(terraform.account.take_calls(), calls);
        terraform.assert_quiet(&pinned(certificate)).await;
    }
}

#[tokio::test(start_paused = true)]
async fn without_a_certificate_the_plan_warns_and_the_apply_fails() {
    let mut terraform = Terraform::<HttpGateway>::new(1);
    terraform.assert_applies(&without_domain()).await;
    terraform.account.take_calls();
    certificates(&terraform, &[]);
    let plan = terraform.plan(&with_domain("a.example.com")).await;
    let warned = plan.diagnostics.0.iter().any(|it| it.detail.contains("ACM has no certificate for \"a.example.com\""));
    assert!(warned && !plan.diagnostics.has_errors(), "{:?}", plan.diagnostics);
    assert_eq!(*plan.planned.get("certificate_arn"), Value::Unknown);
    let before = terraform.state.clone();
    let diagnostics = terraform.apply_plan(&with_domain("a.example.com"), plan).await;
    assert!(diagnostics.has_errors());
    assert_eq!(terraform.account.take_calls(), Vec::<String>::new());
    assert_eq!(terraform.state, before);
    terraform.assert_quiet(&without_domain()).await;
}

#[tokio::test(start_paused = true)]
async fn a_certificate_created_between_plan_and_apply_is_used() {
    let mut terraform = Terraform::<HttpGateway>::new(1);
    let other = Certificate { names: vec!["other.example.net".into()], ..certificate("cert-other", 1) };
    *terraform.account.certificates.lock().unwrap() = vec![other.clone()];
    let plan = terraform.plan(&with_domain("a.example.com")).await;
    assert!(plan.diagnostics.0.iter().any(|it| it.detail.contains("cert-other")), "{:?}", plan.diagnostics);
    *terraform.account.certificates.lock().unwrap() = vec![other, certificate("cert-new", 2)];
    let applied = terraform.apply_plan(&with_domain("a.example.com"), plan).await;
    assert!(!applied.has_errors(), "{applied:?}");
    assert_eq!(*terraform.state.get("certificate_arn"), Value::from("cert-new"));
    terraform.assert_quiet(&with_domain("a.example.com")).await;
}

#[tokio::test(start_paused = true)]
async fn another_domain_is_mapped_before_the_old_one_is_deleted() {
    let mut terraform = created().await;
    terraform.assert_applies(&with_domain("b.example.com")).await;
    assert_eq!(
        terraform.account.take_calls(),
        ["create domain", "create api_mapping", "delete api_mapping", "delete domain"]
    );
    assert_eq!(*terraform.state.get("invoke_url"), Value::from("https://b.example.com"));
    terraform.assert_applies(&without_domain()).await;
    assert_eq!(terraform.account.take_calls(), ["delete api_mapping", "delete domain"]);
    assert!(terraform.state.get("domain_target").is_null());
}

#[tokio::test(start_paused = true)]
async fn drift_of_a_domain_and_its_mapping_is_corrected() {
    let mut terraform = created().await;
    terraform.account.change_outside("domain", |spec| {
        let Spec::DomainName(domain) = spec else { unreachable!() };
        domain.security_policy = "TLS_1_0".into();
    });
    terraform.account.change_outside("api_mapping", |spec| {
        let Spec::ApiMapping(mapping) = spec else { unreachable!() };
        mapping.stage = crate::model::Ref::Id("api2/prod".into());
    });
    terraform.refresh().await;
    let drift = terraform.state.get("drift").as_map().unwrap().clone();
    assert_eq!(drift["api_mapping"], Value::from("stage is api2/prod instead of stage"));
    assert_eq!(drift["domain"], Value::from("security_policy is TLS_1_0 instead of TLS_1_2"));
    terraform.assert_applies(&with_domain("a.example.com")).await;
    assert_eq!(terraform.account.take_calls(), ["update domain", "update api_mapping"]);

    terraform.account.delete_outside("api_mapping");
    terraform.account.delete_outside("domain");
    terraform.refresh().await;
    terraform.assert_applies(&with_domain("a.example.com")).await;
    assert_eq!(terraform.account.take_calls(), ["create domain", "create api_mapping"]);
}

/// A gateway whose mapping was deleted outside Terraform, and with another one in its place.
async fn mapped_again(stage: Option<&str>) -> Terraform<HttpGateway> {
    let mut terraform = created().await;
    let before = inventory(&terraform.private);
    terraform.account.delete_outside("api_mapping");
    terraform.account.create_outside(&before, "api_mapping", &"m9".into());
    if let Some(stage) = stage {
        let api = terraform.state.get("id").as_str().unwrap();
        let target = crate::model::Ref::Id(stage.replace("ours", api));
        terraform.account.change_outside("api_mapping", |spec| {
            let Spec::ApiMapping(mapping) = spec else { unreachable!() };
            mapping.stage = target.clone();
        });
    }
    terraform.refresh().await;
    terraform
}

#[tokio::test(start_paused = true)]
async fn an_equal_mapping_is_named_before_it_is_taken_over() {
    let mut terraform = mapped_again(None).await;
    let config = with_domain("a.example.com");
    let plan = terraform.plan(&config).await;
    let [warning] = &plan.diagnostics.0[..] else { panic!("{:?}", plan.diagnostics) };
    let target = format!("points to {}/$default", terraform.state.get("id").as_str().unwrap());
    for part in ["The API mapping \"a.example.com/\" (m9) exists already", &target, "The apply takes it over"] {
        assert!(warning.detail.contains(part), "{part}: {}", warning.detail);
    }
    assert!(!terraform.apply_plan(&config, plan).await.has_errors());
    assert_eq!(*terraform.state.get("aws_objects").get("api_mapping"), Value::from("m9"));
    terraform.assert_quiet(&config).await;

    // It is recognized by its ID without private state.
    terraform.private = Vec::new();
    terraform.refresh().await;
    assert_eq!(terraform.plan(&config).await.diagnostics.0, []);
}

#[tokio::test(start_paused = true)]
async fn a_mapping_to_another_stage_is_named_and_never_overwritten() {
    let config = with_domain("a.example.com");
    for stage in ["api2/prod", "ours/beta"] {
        let mut terraform = mapped_again(Some(stage)).await;
        let target = stage.replace("ours", terraform.state.get("id").as_str().unwrap());
        let plan = terraform.plan(&config).await;
        let [warning] = &plan.diagnostics.0[..] else { panic!("{:?}", plan.diagnostics) };
        let command = "delete-api-mapping --domain-name a.example.com --api-mapping-id m9";
        for part in [&format!("already points to {target}"), command] {
            assert!(warning.detail.contains(part), "{part}: {}", warning.detail);
        }
        assert!(terraform.apply_plan(&config, plan).await.has_errors(), "{stage}");
        assert_eq!(terraform.account.ids_of("api_mapping"), ["m9".to_string()].into());

        let mut ignoring = config.clone();
        ignoring.set("ignore_drift", Value::List(vec!["api_mapping".into()]));
        terraform.refresh().await;
        let plan = terraform.plan(&ignoring).await;
        assert_eq!(plan.diagnostics.0, [], "nothing is created");
        assert!(!terraform.apply_plan(&ignoring, plan).await.has_errors(), "{stage}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_domain_of_a_killed_update_is_taken_over_only_if_required() {
    let of = |name: &str| {
        let mut config = with_domain(name);
        config.set("create_dns_entry", true.into());
        config.set("hosted_zone_id", "Z0123456789A".into());
        config
    };
    for (wanted, expected, is_left) in [
        ("a.example.com", vec![], true),
        ("b.example.com", vec!["create dns_record", "delete api_mapping", "delete dns_record", "delete domain"], false),
    ] {
        let mut terraform = Terraform::<HttpGateway>::new(1);
        terraform.assert_applies(&of("a.example.com")).await;
        let (state, private) = (terraform.state.clone(), terraform.private.clone());
        terraform.assert_applies(&of("b.example.com")).await;
        // The run was killed after the creation of the new domain, before its record was created and any object of the
        // old domain was deleted.
        terraform.account.delete_outside("dns_record");
        for slot in ["domain", "api_mapping", "dns_record"] {
            terraform.account.create_outside(&inventory(&private), slot, state.get("aws_objects").get(slot));
        }
        (terraform.state, terraform.private) = (state, private);
        terraform.account.take_calls();
        terraform.refresh().await;
        let objects = terraform.state.get("aws_objects").as_map().unwrap().clone();
        assert_eq!(objects["domain"], Value::from("a.example.com"));
        let unmanaged = terraform.state.get("unmanaged_objects").as_map().unwrap().clone();
        assert!(unmanaged.contains_key("b.example.com"), "{unmanaged:?}");
        terraform.assert_applies(&of(wanted)).await;
        let mut calls = terraform.account.take_calls();
        calls.sort();
        assert_eq!(calls, expected, "{wanted}");
        assert!(terraform.account.ids_of("domain").contains(wanted));
        // AWS does not delete an API with a mapping, so the leftovers must be deleted first.
        let destroyed = terraform.destroy().await;
        assert_eq!(destroyed.has_errors(), is_left, "{destroyed:?}");
        assert_eq!(terraform.account.slots().is_empty(), !is_left, "{wanted}");
    }
}

/// An update leaves what it should delete, and the private state is lost.
#[tokio::test(start_paused = true)]
async fn what_a_failed_update_leaves_is_deleted_without_private_state() {
    let with_record = |name: &str| {
        let mut config = with_domain(name);
        config.set("create_dns_entry", true.into());
        config.set("hosted_zone_id", "Z0123456789A".into());
        config
    };
    let off = with_domain("a.example.com");
    let mut faults = Vec::new();
    for next in [off, with_record("b.example.com"), with_domain("b.example.com"), without_domain()] {
        for slot in ["dns_record", "api_mapping", "domain"] {
            for is_answer_lost in [true, false] {
                // A read does not find a new record whose ID the state lacks.
                if is_answer_lost && slot == "dns_record" && next == with_record("b.example.com") {
                    continue;
                }
                let mut terraform = Terraform::<HttpGateway>::new(1);
                terraform.assert_applies(&with_record("a.example.com")).await;
                let account = terraform.account.clone();
                let failing = if is_answer_lost { &account.losing_answers } else { &account.failing };
                failing.lock().unwrap().push(slot.to_string());
                terraform.apply(&next).await;
                failing.lock().unwrap().clear();
                terraform.private = Vec::new();
                let destroyed = terraform.destroy().await;
                if destroyed.has_errors() || !account.slots().is_empty() {
                    let domain = next.get("domain_name");
                    faults.push(format!("{domain}, {slot}, answer lost {is_answer_lost}: {destroyed:?}"));
                }
            }
        }
    }
    assert!(faults.is_empty(), "{faults:#?}");
}

/// A gateway with a domain, and an unmanaged DNS record for it.
async fn with_unmanaged_record() -> Terraform<HttpGateway> {
    let mut terraform = Terraform::<HttpGateway>::new(1);
    let mut config = with_domain("a.example.com");
    config.set("create_dns_entry", true.into());
    config.set("hosted_zone_id", "Z0123456789A".into());
    terraform.assert_applies(&config).await;
    let (state, private) = (terraform.state.clone(), terraform.private.clone());
    terraform.assert_applies(&with_domain("a.example.com")).await;
    assert!(!terraform.account.slots().contains(&"dns_record".to_string()));
    terraform.account.create_outside(&inventory(&private), "dns_record", state.get("aws_objects").get("dns_record"));
    terraform.assert_quiet(&with_domain("a.example.com")).await;
    terraform.account.take_calls();
    terraform
}

#[tokio::test(start_paused = true)]
async fn an_unmanaged_dns_record_is_kept_by_a_replacement() {
    let config = with_domain("a.example.com");
    let mut terraform = with_unmanaged_record().await;
    terraform.private = Vec::new();
    terraform.assert_quiet(&config).await;
    assert!(terraform.state.get("aws_objects").get("dns_record").is_null());
    terraform.private = b"from the future".to_vec();
    assert_eq!(terraform.plan(&config).await.planned, terraform.state, "also in a plan without refresh");
    assert_eq!(terraform.replace(&config, Vec::new()).await, Diagnostics::default());
    terraform.assert_quiet(&config).await;
    assert!(terraform.account.slots().contains(&"dns_record".to_string()));
}

#[tokio::test(start_paused = true)]
async fn an_imported_dns_record_that_is_not_configured_is_kept_in_aws() {
    let config = with_domain("a.example.com");
    let mut terraform = with_unmanaged_record().await;
    super::import::reimport(&mut terraform).await;
    assert_eq!(*terraform.state.get("create_dns_entry"), Value::from(true));
    let plan = terraform.plan(&config).await;
    assert!(plan.diagnostics.0.iter().any(|it| it.summary.contains("dns_record is not in the configuration")));
    terraform.assert_applies(&config).await;
    assert_eq!(terraform.account.take_calls(), Vec::<String>::new());
    assert_eq!(*terraform.state.get("create_dns_entry"), Value::from(false));
    assert!(terraform.state.get("aws_objects").get("dns_record").is_null());
    assert!(!terraform.destroy().await.has_errors());
    assert_eq!(terraform.account.slots(), ["dns_record"]);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]

    #[test]
    fn the_domain_always_has_the_best_certificate(
        rounds in proptest::collection::vec(proptest::collection::btree_set(0..4_i64, 1..4), 1..5)
    ) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build().unwrap();
        runtime.block_on(async {
            let mut terraform = Terraform::<HttpGateway>::new(1);
            for usable in rounds {
                let list = usable.iter().map(|number| certificate(&format!("cert-{number}"), *number));
                *terraform.account.certificates.lock().unwrap() = list.collect();
                terraform.assert_applies(&with_domain("a.example.com")).await;
                let arn = terraform.state.get("certificate_arn").as_str().unwrap().to_string();
                assert_eq!(Some(arn), usable.last().map(|number| format!("cert-{number}")), "{usable:?}");
            }
            assert!(!terraform.destroy().await.has_errors());
            assert_eq!(terraform.account.slots(), Vec::<String>::new());
        });
    }
}
