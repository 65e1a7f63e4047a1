//! One spec of each kind for tests. A test states the fields that matter to it, and takes the others from here:
//! `Subnet { index: 1, ..Subnet::test() }`.

use super::{
    Api, ApiMapping, ApiRoute, Authorization, Authorizer, DefaultNetworkAcl, DefaultSecurityGroup, DnsRecord,
    DomainName, EgressOnlyInternetGateway, Eip, FlowLog, FlowLogSettings, Integration, InterfaceEndpoint,
    InterfaceEndpointSettings, InternetGateway, Ipv6Source, JwtAuthorizer, LambdaPermission, LogGroup, LogSubscription,
    NatGateway, NetworkAclRule, Route, RouteSettings, RouteTable, RouteTableAssociation, RuleSource, SecurityGroup,
    SecurityGroupRule, Stage, Subnet, Target, Tier, Vpc, VpcCidrBlock, VpcEndpoint, VpcIpv6Block, VpcLink,
};
use std::collections::BTreeMap;

use crate::model::{Caller, Key, Ref};
use crate::plugin::Input;

fn text(it: &str) -> Input<String> {
    Input::Known(it.into())
}

fn vpc() -> Key {
    Key::new("vpc")
}

fn api() -> Key {
    Key::new("api")
}

impl Vpc {
    pub(crate) fn test() -> Vpc {
        Vpc {
            name: text("shop"),
            cidr_block: Input::Known(Some("10.0.0.0/16".into())),
            ipv4_ipam_pool_id: Input::default(),
            ipv4_netmask_length: Input::default(),
            instance_tenancy: text("default"),
            enable_dns_support: Input::Known(true),
            enable_dns_hostnames: Input::Known(true),
            enable_network_address_usage_metrics: Input::Known(false),
            tags: Input::default(),
        }
    }
}

impl VpcCidrBlock {
    pub(crate) fn test() -> VpcCidrBlock {
        VpcCidrBlock { vpc: vpc(), cidr_block: "100.64.0.0/16".into() }
    }
}

impl VpcIpv6Block {
    pub(crate) fn test() -> VpcIpv6Block {
        VpcIpv6Block { vpc: vpc(), source: Ipv6Source::Amazon { network_border_group: Input::default() } }
    }
}

impl InternetGateway {
    pub(crate) fn test() -> InternetGateway {
        InternetGateway { vpc: Some(vpc()), tags: Input::default() }
    }
}

impl EgressOnlyInternetGateway {
    pub(crate) fn test() -> EgressOnlyInternetGateway {
        let range = Key::new("ipv6_cidr_block");
        EgressOnlyInternetGateway { vpc: vpc(), ipv6_block: Some(range), tags: Input::default() }
    }
}

impl Subnet {
    pub(crate) fn test() -> Subnet {
        Subnet {
            vpc: vpc(),
            tier: Tier::Public,
            index: 0,
            availability_zone: "us-east-1a".into(),
            availability_zone_id: "use1-az1".into(),
            cidr_block: text("10.0.0.0/24"),
            secondary_range: None,
            map_public_ip_on_launch: Input::Known(false),
            ipv6_block: None,
            ipv6_cidr_block: Input::default(),
            assign_ipv6_address_on_creation: Input::Known(false),
            tags: Input::default(),
        }
    }
}

impl InterfaceEndpoint {
    pub(crate) fn test() -> InterfaceEndpoint {
        InterfaceEndpoint {
            vpc: vpc(),
            service_name: text("com.amazonaws.us-east-1.kms"),
            offer: None,
            subnets: vec![Ref::Key(Key::new("subnet.private_app.0"))],
            security_groups: Input::Known(vec![Ref::Id("sg-1".into())]),
            private_dns_enabled: Input::Known(true),
            private_dns_only_for_inbound_resolver_endpoint: Input::Known(None),
            gateway_endpoint: None,
            settings: InterfaceEndpointSettings {
                service_region: Input::Known(None),
                ip_address_type: Input::Known(None),
                dns_record_ip_type: Input::Known(None),
                policy: Input::Known(None),
                tags: Input::default(),
            },
        }
    }
}

impl FlowLog {
    pub(crate) fn test() -> FlowLog {
        let settings = FlowLogSettings {
            log_destination_type: text(FlowLog::CLOUDWATCH),
            iam_role_arn: Input::Known(Some("arn:aws:iam::123456789012:role/flow".into())),
            deliver_cross_account_role: Input::default(),
            traffic_type: text("ALL"),
            max_aggregation_interval: Input::Known(600),
            log_format: Input::default(),
            destination_options: Input::default(),
            tags: Input::default(),
        };
        FlowLog { vpc: vpc(), log_group: None, destination: text("/net"), settings }
    }
}

impl SecurityGroup {
    pub(crate) fn test() -> SecurityGroup {
        let none = || Input::Known(Vec::new());
        SecurityGroup { vpc: vpc(), ingress: none(), egress: none(), tags: Input::default() }
    }
}

impl RouteTable {
    pub(crate) fn test() -> RouteTable {
        RouteTable { vpc: vpc(), propagating_gateways: Input::default(), tags: Input::default() }
    }
}

impl RouteTableAssociation {
    pub(crate) fn test() -> RouteTableAssociation {
        RouteTableAssociation {
            subnet: Key::new("subnet.public.0"),
            route_table: Ref::Key(Key::new("route_table.public")),
        }
    }
}

impl Eip {
    pub(crate) fn test() -> Eip {
        Eip { vpc: vpc(), tags: Input::default() }
    }
}

impl NatGateway {
    pub(crate) fn test() -> NatGateway {
        NatGateway {
            subnet: Key::new("subnet.public.0"),
            allocation: None,
            internet_gateway: None,
            secondary_private_ip_address_count: Input::Known(0),
            tags: Input::default(),
        }
    }
}

impl Route {
    pub(crate) fn test() -> Route {
        Route {
            route_table: Key::new("route_table.public"),
            destination: "0.0.0.0/0".into(),
            target: Ref::Key(Key::new("internet_gateway")),
        }
    }
}

impl VpcEndpoint {
    pub(crate) fn test() -> VpcEndpoint {
        VpcEndpoint {
            vpc: vpc(),
            service_name: text("com.amazonaws.us-east-1.s3"),
            route_tables: vec![],
            policy: Input::default(),
            tags: Input::default(),
        }
    }
}

impl DefaultNetworkAcl {
    pub(crate) fn test() -> DefaultNetworkAcl {
        DefaultNetworkAcl {
            vpc: vpc(),
            ingress: Input::default(),
            egress: Input::default(),
            taken: vec![],
            tags: Input::default(),
        }
    }
}

impl NetworkAclRule {
    pub(crate) fn test() -> NetworkAclRule {
        NetworkAclRule {
            rule_no: 100,
            allow: true,
            protocol: "-1".into(),
            cidr_block: "0.0.0.0/0".into(),
            ports: None,
            icmp: None,
        }
    }
}

impl DefaultSecurityGroup {
    pub(crate) fn test() -> DefaultSecurityGroup {
        DefaultSecurityGroup {
            vpc: vpc(),
            ingress: Input::default(),
            egress: Input::default(),
            left_ingress: Vec::new(),
            left_egress: Vec::new(),
            tags: Input::default(),
        }
    }
}

impl SecurityGroupRule {
    pub(crate) fn test() -> SecurityGroupRule {
        SecurityGroupRule {
            protocol: "tcp".into(),
            from_port: Some(443),
            to_port: Some(443),
            source: RuleSource::CidrIpv4("10.0.0.0/8".into()),
            description: None,
        }
    }
}

impl Api {
    pub(crate) fn test() -> Api {
        Api {
            name: text("shop"),
            description: Input::default(),
            version: Input::default(),
            cors: Input::default(),
            disable_endpoint: Input::default(),
            ip_address_type: text(Api::IPV4),
            tags: Input::default(),
        }
    }
}

impl Authorizer {
    pub(crate) fn test() -> Authorizer {
        Authorizer {
            api: api(),
            name: "token".into(),
            authorizer_uri: text("uri"),
            payload_format_version: text("2.0"),
            identity_sources: Input::default(),
            result_ttl_in_seconds: Input::Known(0),
            enable_simple_responses: Input::Known(false),
            credentials_arn: Input::default(),
        }
    }
}

impl JwtAuthorizer {
    pub(crate) fn test() -> JwtAuthorizer {
        JwtAuthorizer {
            api: api(),
            name: "users".into(),
            issuer: text("https://id.example.com"),
            audience: Input::Known(["shop".to_string()].into()),
            identity_source: text("$request.header.Authorization"),
        }
    }
}

impl LambdaPermission {
    pub(crate) fn test() -> LambdaPermission {
        LambdaPermission {
            api: api(),
            function_arn: text("arn:aws:lambda:us-east-1:123456789012:function:orders"),
            qualifier: Input::default(),
            caller: Caller::Routes,
        }
    }
}

impl VpcLink {
    pub(crate) fn test() -> VpcLink {
        VpcLink {
            api: api(),
            name: text("main"),
            subnet_ids: Input::Known(["subnet-1".to_string()].into()),
            security_group_ids: Input::Known(["sg-1".to_string()].into()),
            tags: Input::default(),
        }
    }
}

impl Integration {
    pub(crate) fn test() -> Integration {
        Integration {
            api: api(),
            target: Target::function("arn:aws:lambda:us-east-1:123456789012:function:orders"),
            payload_format_version: text("2.0"),
            timeout_in_millis: Input::Known(30_000),
            description: Input::default(),
            request_parameters: Input::default(),
            response_parameters: Input::default(),
            permission: None,
        }
    }
}

impl ApiRoute {
    pub(crate) fn test() -> ApiRoute {
        ApiRoute { api: api(), route_key: "GET /a".into(), integration: None, authorization: Authorization::default() }
    }
}

impl LogGroup {
    pub(crate) fn test() -> LogGroup {
        LogGroup {
            root: api(),
            name: text("/http/shop"),
            retention_in_days: Input::default(),
            kms_key_arn: Input::default(),
            skip_destroy: false.into(),
            tags: Input::default(),
        }
    }
}

impl LogSubscription {
    pub(crate) fn test() -> LogSubscription {
        LogSubscription {
            log_group: Key::new("log_group"),
            destination_arn: text("arn:aws:lambda:us-east-1:123456789012:function:sink"),
            filter_pattern: Input::default(),
            role_arn: Input::default(),
            distribution: Input::default(),
            permission: None,
        }
    }
}

impl Stage {
    pub(crate) fn test() -> Stage {
        Stage {
            api: api(),
            name: Stage::DEFAULT.to_string(),
            description: Input::Known(None),
            variables: Input::default(),
            auto_deploy: true,
            deployment_failure: None,
            access_log: None,
            default_settings: RouteSettings::default(),
            route_settings: BTreeMap::new(),
            tags: Input::default(),
        }
    }
}

impl DomainName {
    pub(crate) fn test() -> DomainName {
        DomainName {
            api: api(),
            domain_name: text("api.example.com"),
            certificate_arn: text("cert1"),
            endpoint_type: DomainName::REGIONAL.into(),
            security_policy: DomainName::TLS_1_2.into(),
            ip_address_type: text(Api::IPV4),
            mutual_tls: Input::default(),
            tags: Input::default(),
        }
    }
}

impl ApiMapping {
    pub(crate) fn test() -> ApiMapping {
        ApiMapping {
            api: api(),
            stage: Ref::Key(crate::model::keys::gateway::stage(Stage::DEFAULT)),
            domain: Key::new("domain"),
            mapping_key: String::new(),
        }
    }
}

impl DnsRecord {
    pub(crate) fn test() -> DnsRecord {
        DnsRecord {
            zone_id: text("Z1"),
            name: text("api.example.com"),
            target: Ref::Key(Key::new("domain")),
            record_type: DnsRecord::A.into(),
        }
    }
}
