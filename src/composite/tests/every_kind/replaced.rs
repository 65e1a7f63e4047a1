//! What a replacement of an object, or of its root, loses: the settings that no input of the new object expresses.

use std::collections::BTreeMap;

use super::{assert_complete, name};
use crate::model::{
    ApiRoute, Authorization, AuthorizationType, DomainName, Input, InterfaceEndpoint, Learned, LeftBehind, LogGroup,
    MutualTls, Ref, RouteSettings, Spec, Stage, VpcEndpoint,
};

/// The kind, the settings that a read has found, and what an equal new object lacks: the setting, and whether it
/// protects the object.
type Row = (&'static str, Learned, &'static [(&'static str, bool)]);

fn found(settings: &[(&str, &str)]) -> Learned {
    let settings = settings.iter().map(|(name, value)| (name.to_string(), value.to_string()));
    Learned { unexpressed: settings.collect(), ..Learned::new() }
}

fn limited() -> Learned {
    let limits = RouteSettings { throttling_burst_limit: Input::Known(Some(5)), ..RouteSettings::default() };
    let mut learned = found(&[("description", "Live.")]);
    learned.route_settings.default = limits;
    learned
}

/// What AWS can hold of each kind. An empty row states that inputs express all of it, or that the plan names it
/// otherwise; the kind itself has the reason.
fn table() -> Vec<Row> {
    let none = Learned::new;
    let domain = found(&[
        ("mutual_tls_authentication", "{ truststore_uri = \"s3://trust/ca.pem\" }"),
        ("routing_mode", "ROUTING_RULE_THEN_API_MAPPING"),
        ("ownership_verification_certificate_arn", "arn:owner"),
    ]);
    let subnet = Learned {
        network_acl_id: Some("acl-9".into()),
        ..found(&[("private_dns_hostname_type_on_launch", "resource-name")])
    };
    vec![
        (
            "VPC",
            found(&[("dhcp_options_id", "dopt-1")]),
            &[("dhcp_options_id dopt-1, unless it is the default of the Region", false)],
        ),
        ("secondary CIDR block", none(), &[]),
        ("IPv6 CIDR block", none(), &[]),
        ("internet gateway", none(), &[]),
        ("egress-only internet gateway", none(), &[]),
        (
            "subnet",
            subnet,
            &[("network ACL acl-9", false), ("private_dns_hostname_type_on_launch resource-name", false)],
        ),
        ("route table", none(), &[]),
        ("route table association", none(), &[]),
        ("Elastic IP address", none(), &[]),
        ("NAT gateway", none(), &[]),
        // That of an API has a test of its own.
        ("route", none(), &[]),
        ("API route", none(), &[]),
        ("VPC endpoint", none(), &[]),
        ("flow log", none(), &[]),
        ("security group", none(), &[]),
        ("interface endpoint", found(&[("ip_address_type", "dualstack")]), &[("ip_address_type dualstack", false)]),
        ("default network ACL", none(), &[]),
        ("default security group", none(), &[]),
        ("HTTP API", none(), &[]),
        ("authorizer", none(), &[]),
        ("JWT authorizer", none(), &[]),
        ("Lambda permission", none(), &[]),
        ("VPC link", none(), &[]),
        ("integration", none(), &[]),
        (
            "log group",
            found(&[("data_protection_status", "ACTIVATED"), ("metric filters", "2")]),
            &[("data_protection_status ACTIVATED", true), ("metric filters 2", false)],
        ),
        ("subscription filter", none(), &[]),
        (
            "stage",
            limited(),
            &[("description Live.", false), ("default_route_settings (throttling_burst_limit = 5)", false)],
        ),
        (
            "custom domain",
            domain,
            &[
                ("mutual_tls_authentication { truststore_uri = \"s3://trust/ca.pem\" }", true),
                ("ownership_verification_certificate_arn arn:owner", false),
                ("routing_mode ROUTING_RULE_THEN_API_MAPPING", false),
            ],
        ),
        ("API mapping", none(), &[]),
        ("DNS record", found(&[("evaluate_target_health", "true")]), &[("evaluate_target_health true", false)]),
    ]
}

#[test]
fn a_new_object_lacks_what_no_input_expresses() {
    let mut specs: BTreeMap<&str, Vec<Spec>> = BTreeMap::new();
    for spec in Spec::of_each_kind() {
        specs.entry(name(&spec)).or_default().push(spec);
    }
    assert_complete(table().iter().map(|(kind, ..)| *kind));
    for (kind, learned, expected) in table() {
        for spec in &specs[kind] {
            let left = spec.left_behind(&learned, spec.as_kind());
            let left: Vec<(&str, bool)> = left.iter().map(|it| (it.setting.as_str(), it.remedy.is_some())).collect();
            assert_eq!(left, expected, "{kind}");
            assert_eq!(spec.left_behind(&Learned::new(), spec.as_kind()), [], "{kind}: nothing was found");
            let protects = expected.iter().any(|(_, protects)| *protects);
            assert!(!protects || spec.is_protected_by_settings(), "{kind}: a replacement has to know it");
        }
    }
}

#[test]
fn a_new_object_that_expresses_a_setting_does_not_lack_it() {
    let trust = MutualTls { truststore_uri: "s3://trust/ca.pem".into(), truststore_version: None };
    for setting in [trust, MutualTls::off()] {
        let new = DomainName { mutual_tls: Input::Known(Some(setting)), ..DomainName::test() };
        let learned = found(&[("mutual_tls_authentication", "{}")]);
        assert_eq!(Spec::from(DomainName::test()).left_behind(&learned, Spec::from(new).as_kind()), []);
    }
    let mut new = InterfaceEndpoint::test();
    new.settings.ip_address_type = Input::Known(Some("ipv4".into()));
    let learned = found(&[("ip_address_type", "dualstack")]);
    assert_eq!(Spec::from(InterfaceEndpoint::test()).left_behind(&learned, Spec::from(new).as_kind()), []);
    let settings = limited().route_settings.default.clone();
    let route = Spec::from(ApiRoute::test());
    let left = route.left_behind(&found(&[("operation_name", "ListOrders")]), route.as_kind());
    assert_eq!(left, [LeftBehind::new("operation_name ListOrders")]);
    let new = Stage { description: Input::Known(Some("New.".into())), default_settings: settings, ..Stage::test() };
    let old = Spec::from(Stage { default_settings: new.default_settings.clone(), ..Stage::test() });
    assert_eq!(old.left_behind(&limited(), Spec::from(new).as_kind()), []);
}

/// The kinds whose ignored drift can protect them: an object that people have restricted, and the configured one.
#[test]
fn a_new_object_lacks_the_protection_of_ignored_drift() {
    let policy = || Input::Known(Some(r#"{"Statement":[]}"#.to_string()));
    let mut endpoint = InterfaceEndpoint::test();
    endpoint.settings.policy = policy();
    let trust = MutualTls { truststore_uri: "s3://trust/ca.pem".into(), truststore_version: None };
    let of_domain = |setting| Spec::from(DomainName { mutual_tls: Input::Known(Some(setting)), ..DomainName::test() });
    let authorization = Authorization { kind: AuthorizationType::AwsIam, ..Authorization::default() };
    let pairs = [
        (Spec::from(VpcEndpoint { policy: policy(), ..VpcEndpoint::test() }), Spec::from(VpcEndpoint::test())),
        (Spec::from(endpoint), Spec::from(InterfaceEndpoint::test())),
        (of_domain(trust), of_domain(MutualTls::off())),
        (
            Spec::from(ApiRoute { authorization, ..ApiRoute::test() }),
            Spec::from(ApiRoute { authorization: Authorization::default(), ..ApiRoute::test() }),
        ),
        (
            Spec::from(ApiRoute { authorization: Authorization::custom(Ref::Id("a9".into())), ..ApiRoute::test() }),
            Spec::from(ApiRoute { authorization: Authorization::default(), ..ApiRoute::test() }),
        ),
    ];
    for (restricted, configured) in &pairs {
        let kind = restricted.kind();
        assert!(restricted.weakened_by(configured.as_kind()).is_some_and(|it| it.remedy.is_some()), "{kind}");
        assert_eq!(restricted.weakened_by(restricted.as_kind()), None, "{kind}");
        assert_eq!(configured.weakened_by(restricted.as_kind()), None, "{kind}");
        assert!(restricted.is_protected_by_settings(), "{kind}");
    }
    let covered: Vec<&str> = pairs.iter().map(|(restricted, _)| restricted.kind()).collect();
    let protected = Spec::of_each_kind().into_iter().filter(|spec| spec.is_protected_by_settings());
    let others: Vec<&str> = protected.map(|spec| spec.kind()).filter(|kind| !covered.contains(kind)).collect();
    assert_eq!(others, [Spec::from(LogGroup::test()).kind()], "its protection is read in `left_behind`");
}
