//! The changes in place of each kind of object, for tests of rules that hold for all of them.

use super::{AccessLog, Authorization, Cors, NetworkAclRule, SecurityGroupRule, Spec, TakenSubnet, Target};
use crate::model::{Key, Ref, Tags};
use crate::plugin::Input;

fn text(it: &str) -> Input<String> {
    Input::Known(it.into())
}

fn some(it: &str) -> Input<Option<String>> {
    Input::Known(Some(it.into()))
}

fn tags() -> Tags {
    Input::Known([("team".to_string(), text("net"))].into())
}

fn id(it: &str) -> Ref {
    Ref::Id(it.into())
}

/// The spec with each of these changes alone, and with all of them.
macro_rules! changed {
    ($name:ident, $spec:expr, $($($field:ident).+ = $value:expr),*) => {{
        let mut all = $spec.clone();
        let mut specs = Vec::new();
        $(
            all.$($field).+ = $value;
            let mut one = $spec.clone();
            one.$($field).+ = $value;
            specs.push(Spec::$name(one));
        )*
        specs.push(Spec::$name(all));
        specs
    }};
}

impl Spec {
    /// The specs to which AWS changes an object in place, one for each property and, last, one with all of them. Empty
    /// if AWS changes nothing of the kind. A new kind does not compile without a line here.
    pub(crate) fn changes(&self) -> Vec<Spec> {
        match self {
            Spec::Vpc(it) => changed!(
                Vpc,
                it,
                name = text("new"),
                enable_dns_support = it.enable_dns_support.clone().map(|is_on| !is_on),
                enable_dns_hostnames = it.enable_dns_hostnames.clone().map(|is_on| !is_on),
                enable_network_address_usage_metrics =
                    it.enable_network_address_usage_metrics.clone().map(|is_on| !is_on),
                tags = tags()
            ),
            Spec::VpcCidrBlock(_) | Spec::VpcIpv6Block(_) | Spec::LambdaPermission(_) => Vec::new(),
            Spec::InternetGateway(it) => changed!(InternetGateway, it, tags = tags()),
            Spec::EgressOnlyInternetGateway(it) => changed!(EgressOnlyInternetGateway, it, tags = tags()),
            Spec::Subnet(it) => changed!(
                Subnet,
                it,
                map_public_ip_on_launch = Input::Known(true),
                ipv6_cidr_block = some("2600:1f18:0:ab00::/64"),
                tags = tags()
            ),
            Spec::RouteTable(it) => {
                changed!(RouteTable, it, propagating_gateways = Input::Known(vec![text("vgw-1")]), tags = tags())
            }
            Spec::RouteTableAssociation(it) => changed!(RouteTableAssociation, it, route_table = id("rtb-1")),
            Spec::Eip(it) => changed!(Eip, it, tags = tags()),
            Spec::NatGateway(it) => {
                changed!(NatGateway, it, secondary_private_ip_address_count = Input::Known(2), tags = tags())
            }
            Spec::Route(it) => changed!(Route, it, target = id("tgw-1")),
            Spec::VpcEndpoint(it) => {
                changed!(VpcEndpoint, it, route_tables = vec![id("rtb-1")], policy = some("{}"), tags = tags())
            }
            Spec::FlowLog(it) => changed!(FlowLog, it, settings.tags = tags()),
            Spec::SecurityGroup(it) => changed!(
                SecurityGroup,
                it,
                ingress = Input::Known(vec![SecurityGroupRule::test()]),
                egress = Input::Known(vec![SecurityGroupRule::test()]),
                tags = tags()
            ),
            Spec::InterfaceEndpoint(it) => changed!(
                InterfaceEndpoint,
                it,
                subnets = vec![id("subnet-9")],
                security_groups = Input::Known(vec![id("sg-9")]),
                private_dns_enabled = it.private_dns_enabled.clone().map(|is_on| !is_on),
                settings.ip_address_type = some("dualstack"),
                settings.dns_record_ip_type = some("dualstack"),
                settings.policy = some("{}"),
                settings.tags = tags()
            ),
            Spec::DefaultNetworkAcl(it) => changed!(
                DefaultNetworkAcl,
                it,
                ingress = Input::Known(vec![NetworkAclRule::test()]),
                egress = Input::Known(vec![NetworkAclRule::test()]),
                taken = vec![TakenSubnet { subnet: Key::new("subnet.public.0"), from: "acl-9".into() }],
                tags = tags()
            ),
            Spec::DefaultSecurityGroup(it) => changed!(
                DefaultSecurityGroup,
                it,
                ingress = Input::Known(Some(vec![SecurityGroupRule::test()])),
                egress = Input::Known(Some(vec![SecurityGroupRule::test()])),
                tags = tags()
            ),
            Spec::Api(it) => changed!(
                Api,
                it,
                name = text("new"),
                description = some("new"),
                version = some("2"),
                cors = Input::Known(Some(Cors { allow_origins: vec!["*".into()], ..Cors::default() })),
                disable_endpoint = Input::Known(true),
                ip_address_type = text("dualstack"),
                tags = tags()
            ),
            Spec::Authorizer(it) => changed!(
                Authorizer,
                it,
                name = "new".into(),
                authorizer_uri = text("other"),
                payload_format_version = text("1.0"),
                identity_sources = Input::Known(vec!["$request.header.A".into()]),
                result_ttl_in_seconds = Input::Known(60),
                enable_simple_responses = Input::Known(true),
                credentials_arn = some("arn:aws:iam::123456789012:role/r")
            ),
            Spec::JwtAuthorizer(it) => changed!(
                JwtAuthorizer,
                it,
                name = "new".into(),
                issuer = text("https://other.example.com"),
                audience = Input::Known(["desk".to_string()].into()),
                identity_source = text("$request.header.A")
            ),
            Spec::VpcLink(it) => changed!(VpcLink, it, name = text("new"), tags = tags()),
            Spec::Integration(it) => changed!(
                Integration,
                it,
                target = Target::function("arn:aws:lambda:us-east-1:123456789012:function:other"),
                payload_format_version = text("1.0"),
                timeout_in_millis = Input::Known(5_000),
                description = some("new"),
                request_parameters = Input::Known([("append:header.a".to_string(), "1".to_string())].into())
            ),
            Spec::ApiRoute(it) => changed!(
                ApiRoute,
                it,
                integration = Some(id("int9")),
                authorization = Authorization::custom(id("auth9"))
            ),
            Spec::LogGroup(it) => changed!(
                LogGroup,
                it,
                retention_in_days = Input::Known(Some(7)),
                kms_key_arn = some("arn:aws:kms:us-east-1:123456789012:key/1"),
                tags = tags()
            ),
            Spec::LogSubscription(it) => changed!(
                LogSubscription,
                it,
                destination_arn = text("arn:aws:kinesis:us-east-1:123456789012:stream/sink"),
                filter_pattern = text("ERROR"),
                role_arn = some("arn:aws:iam::123456789012:role/r"),
                distribution = some("Random")
            ),
            Spec::Stage(it) => changed!(
                Stage,
                it,
                variables = tags(),
                auto_deploy = !it.auto_deploy,
                access_log =
                    Some(AccessLog { log_group: id("arn:aws:logs:us-east-1:1:log-group:/a"), format: text("$a") }),
                default_settings.throttling_rate_limit = Input::Known(Some(1.5)),
                tags = tags()
            ),
            Spec::DomainName(it) => changed!(
                DomainName,
                it,
                certificate_arn = text("cert2"),
                ip_address_type = text("dualstack"),
                tags = tags()
            ),
            Spec::ApiMapping(it) => changed!(ApiMapping, it, stage = id("prod"), mapping_key = "v2".into()),
            Spec::DnsRecord(it) => {
                changed!(DnsRecord, it, target = id("d-other.example.net"))
            }
        }
    }
}
