//! The subjects of the campaigns: a whole network or a whole gateway, in its own account, behind its own proxy.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::{Display, Formatter};

use serde_json::{Value, json};

use super::{secrets, state_check};
use crate::support::issuer::issuers;
use crate::support::proxy::Proxy;
use crate::support::terraform::{Run, Workspace};

/// The resource of a subject.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Network,
    Gateway,
}

/// The phase in which faults occur.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Phase {
    /// Applies the first configuration to an empty account.
    Create,
    /// Applies the second configuration to the objects of the first.
    Change,
    /// Destroys the objects of the first configuration.
    Destroy,
}

impl Phase {
    pub(super) const ALL: [Phase; 3] = [Phase::Create, Phase::Change, Phase::Destroy];
}

impl Display for Phase {
    fn fmt(&self, out: &mut Formatter<'_>) -> std::fmt::Result {
        out.write_str(match self {
            Phase::Create => "create",
            Phase::Change => "change",
            Phase::Destroy => "destroy",
        })
    }
}

/// An account, its proxy, and a workspace.
#[derive(Debug)]
pub(super) struct Subject {
    pub(super) kind: Kind,
    pub(super) proxy: Proxy,
    pub(super) workspace: Workspace,
    /// The IDs of the objects in the account that do not belong to this subject.
    pub(super) neighbors: BTreeSet<String>,
}

impl Subject {
    /// In an account with the prerequisites of the configurations: functions, certificates, hosted zones and keys. The
    /// state is a local file.
    pub(super) fn new(kind: Kind) -> Self {
        Self::with_provider(kind, "")
    }

    /// The same, with a state that Terraform writes only at the end of a run.
    pub(super) fn with_remote_state(kind: Kind) -> Self {
        let mut subject = Self::new(kind);
        subject.workspace.store_remotely();
        subject
    }

    /// The same, with further lines in the provider block.
    pub(super) fn with_provider(kind: Kind, lines: &str) -> Self {
        let proxy = match kind {
            Kind::Network => Proxy::moto(),
            Kind::Gateway => Proxy::ministack(),
        };
        let mut workspace = Workspace::with_provider(&proxy, lines);
        secrets::log_everything(&mut workspace);
        let subject = Self { kind, proxy, workspace, neighbors: BTreeSet::new() };
        if kind == Kind::Gateway {
            subject.create_prerequisites();
        }
        subject
    }

    /// The address of the resource in state.
    pub(super) fn address(&self) -> &'static str {
        match self.kind {
            Kind::Network => "fgw_four_tier_vpc.this",
            Kind::Gateway => "fgw_http_gateway.this",
        }
    }

    /// The name of the resource, which is in a tag of its root.
    pub(super) fn name(&self) -> &'static str {
        match self.kind {
            Kind::Network => "main",
            Kind::Gateway => "shop",
        }
    }

    /// Runs the preceding phases, writes the configuration of this phase, and clears the log of calls.
    pub(super) fn prepare(&self, phase: Phase) {
        self.write(false);
        if phase != Phase::Create {
            self.workspace.apply(&[]).succeeded();
            self.write(phase == Phase::Change);
        }
        self.proxy.clear_calls();
    }

    /// Writes the configuration of a phase, without running the preceding phases, and clears the log of calls.
    pub(super) fn configure(&self, phase: Phase) {
        if phase != Phase::Destroy {
            self.write(phase == Phase::Change);
        }
        self.proxy.clear_calls();
    }

    /// The command of a phase.
    pub(super) fn command(phase: Phase) -> [&'static str; 4] {
        let verb = if phase == Phase::Destroy { "destroy" } else { "apply" };
        [verb, "-no-color", "-input=false", "-auto-approve"]
    }

    /// Restores the empty state before the first run, as if its backend had not yet written another one.
    pub(super) fn lose_state(&self) {
        for file in ["terraform.tfstate", "terraform.tfstate.backup"] {
            let removed = std::fs::remove_file(self.workspace.path().join(file));
            assert!(removed.is_ok() || !self.workspace.path().join(file).exists(), "{file} is ours");
        }
    }

    /// Runs a phase to its end, whether it succeeds or fails.
    pub(super) fn run(&self, phase: Phase) -> Run {
        self.workspace.run(&Self::command(phase))
    }

    /// The resource's `aws_objects` in state: from key to ID. Empty if the resource is not in state.
    pub(super) fn objects(&self) -> BTreeMap<String, String> {
        self.ids_in("aws_objects")
    }

    /// The IDs of all existing objects of this subject, from an independent listing of the account.
    pub(super) fn existing(&self) -> BTreeSet<String> {
        let all = state_check::existing(self.proxy.account());
        all.difference(&self.neighbors).cloned().collect()
    }

    /// Panics unless the state contains exactly the existing objects of the provider. Objects that the next apply
    /// deletes because another object has their key are in `pending_deletion`. The network ACL and the security group
    /// that AWS creates with a VPC exist as long as the VPC, with or without the provider's tags.
    pub(super) fn assert_state_is_accurate(&self) {
        self.assert_state_is_accurate_except(&BTreeSet::new());
    }

    /// The same, except that the state may still contain these IDs.
    pub(super) fn assert_state_is_accurate_except(&self, allowed: &BTreeSet<String>) {
        let (existing, given) = (self.existing(), state_check::given(self.proxy.account()));
        let known: BTreeSet<String> =
            self.objects().into_values().chain(self.ids_in("pending_deletion").into_values()).collect();
        let orphaned: Vec<&String> = existing.difference(&known).collect();
        let is_allowed = |id: &&String| given.contains(*id) || allowed.contains(*id);
        let invented: Vec<&String> = known.difference(&existing).filter(|id| !is_allowed(id)).collect();
        assert!(orphaned.is_empty() && invented.is_empty(), "orphaned: {orphaned:?}, invented: {invented:?}");
    }

    /// Completes an interrupted phase as its message instructs: with `untaint` if the resource is tainted, and an apply
    /// or destroy. After that, the plan must be empty.
    pub(super) fn finish(&self, phase: Phase) {
        if self.workspace.state().is_tainted(self.address()) {
            self.workspace.run(&["untaint", "-no-color", self.address()]).succeeded();
        }
        self.run(phase).succeeded();
        if phase != Phase::Destroy {
            self.release_unused_addresses();
            self.workspace.assert_nothing_to_do();
            self.assert_state_is_accurate();
        }
    }

    /// Releases the addresses that an interrupted run allocated and did not yet use, as `unmanaged_objects` tells users
    /// to. Their tags alone do not show that they belong to the network.
    pub(super) fn release_unused_addresses(&self) {
        let state = self.workspace.state();
        let Some(resource) = state.resource(self.address()) else { return };
        for (id, reason) in resource["unmanaged_objects"].as_object().into_iter().flatten() {
            if reason.as_str().is_some_and(|reason| reason.contains("no NAT gateway of this network uses it")) {
                self.proxy.account().boto("ec2", "release_address", json!({ "AllocationId": id }));
            }
        }
    }

    /// Destroys the subject. Panics if any object of the provider is left.
    pub(super) fn destroy(&self) {
        self.run(Phase::Destroy).succeeded();
        assert!(self.workspace.state().resource(self.address()).is_none(), "a destroyed resource is in state");
        let ours = self.proxy.account().ours();
        let theirs = |line: &String| line.split(' ').nth(1).is_some_and(|id| self.neighbors.contains(id));
        let left: Vec<String> = ours.into_iter().filter(|line| !theirs(line)).collect();
        assert!(
            left.is_empty(),
            "objects of the provider are left in account {}:\n{}",
            self.proxy.account().id,
            left.join("\n")
        );
    }

    /// Writes the first configuration of a network with another CIDR block, which requires a replacement.
    pub(super) fn move_to_another_range(&self) {
        self.workspace.config(&NETWORK.replace("\"10.0.0.0/16\"", "\"10.1.0.0/16\""));
    }

    fn ids_in(&self, attribute: &str) -> BTreeMap<String, String> {
        let state = self.workspace.state();
        let ids = state.resource(self.address()).map(|it| it[attribute].clone()).unwrap_or_default();
        let ids = ids.as_object().into_iter().flatten();
        ids.map(|(key, id)| (key.clone(), id.as_str().unwrap_or_default().to_owned())).collect()
    }

    fn write(&self, changed: bool) {
        match self.kind {
            Kind::Network => self.workspace.config(if changed { CHANGED_NETWORK } else { NETWORK }),
            Kind::Gateway => {
                let gateway = if changed { self.changed_gateway() } else { self.gateway() };
                let resource = json!({ "resource": { "fgw_http_gateway": { "this": gateway } } });
                self.workspace.write("main.tf.json", &self.proxy.account().fill_in(&resource.to_string()));
            }
        }
    }

    fn create_prerequisites(&self) {
        let account = self.proxy.account();
        for name in ["orders", "users", "sink", "guard"] {
            let source = "def handler(event, context):\n    return {'statusCode': 200, 'isAuthorized': True}\n";
            account.create_function(name, source);
        }
        for name in ["example.com", "api.example.com"] {
            account.boto("acm", "request_certificate", json!({ "DomainName": format!("*.{name}") }));
            let reference = format!("{} {name}", account.id);
            account.boto("route53", "create_hosted_zone", json!({ "Name": name, "CallerReference": reference }));
        }
        for alias in ["alias/first", "alias/second"] {
            let key = account.boto("kms", "create_key", json!({}))["KeyMetadata"]["KeyId"].clone();
            account.boto("kms", "create_alias", json!({ "AliasName": alias, "TargetKeyId": key }));
        }
    }

    /// A gateway with every kind of object.
    fn gateway(&self) -> Value {
        json!({
            "name": "shop",
            "description": "Orders and users.",
            "api_tags": { "team": "web" },
            "route_config": {
                "GET /orders": { "faas_function_arn": self.arn("orders") },
                "POST /orders": {
                    "faas_function_arn": self.arn("orders"), "authorizer_name": "customers",
                    "throttling_rate_limit": 10, "throttling_burst_limit": 5,
                },
                "GET /users/{proxy+}": { "faas_function_arn": self.arn("users"), "payload_format_version": "2.0" },
                "ANY /shop/{proxy+}": { "integration_uri": "https://shop.example.com/{proxy}" },
                "GET /stock": { "integration_uri": LISTENER, "vpc_link": "main" },
            },
            "vpc_links": { "main": { "subnet_ids": ["subnet-1"], "security_group_ids": ["sg-1"] } },
            "faas_authorizers": { "customers": {
                "authorizer_name": "guard", "authorizer_payload_format_version": "2.0", "enable_simple_responses": true,
                "identity_sources": ["$request.header.x-key"],
            } },
            "cors_configuration": { "allow_origins": ["https://shop.example"], "allow_methods": ["GET"] },
            "access_log_logservice_group_name": "/shop/access",
            "access_log_logservice_group_retention_in_days": 30,
            "access_log_logservice_group_tags": { "kept": "short" },
            "access_log_logservice_group_subscription_destination_arn": self.arn("sink"),
            "domain_name": "shop.example.com",
            "create_dns_entry": true,
            "hosted_zone_id": self.zone("example.com."),
        })
    }

    /// The same with objects of every kind added, changed and removed.
    fn changed_gateway(&self) -> Value {
        let mut gateway = self.gateway();
        let changes = json!({
            "description": "Orders, users and more.",
            "api_tags": { "owner": "web" },
            "stage_tags": { "level": "live" },
            "stage_name": "live",
            "stage_variables": { "level": "live" },
            "stage_description": "Live.",
            "route_config": {
                "GET /orders": { "faas_function_arn": self.arn("users") },
                "POST /orders": { "faas_function_arn": self.arn("orders"), "authorizer_name": "staff" },
                "GET /more": {
                    "faas_function_arn": self.arn("orders"), "timeout_milliseconds": 9000, "authorizer_name": "people",
                    "authorization_scopes": ["read"],
                    "detailed_metrics_enabled": true,
                },
                "GET /stock": { "integration_uri": LISTENER, "vpc_link": "main", "timeout_milliseconds": 9000 },
                "POST /events": {
                    "integration_subtype": "SQS-SendMessage",
                    "credentials_arn": "arn:aws:iam::123456789012:role/caller",
                    "request_parameters": { "QueueUrl": "https://sqs.example.com/events", "MessageBody": "$request.body" },
                },
            },
            "vpc_links": { "main": { "subnet_ids": ["subnet-2"], "security_group_ids": ["sg-1"] } },
            "jwt_authorizers": { "people": { "issuer": issuers().url("people"), "audience": ["shop"] } },
            "faas_authorizers": {
                "staff": { "authorizer_name": "guard", "authorizer_payload_format_version": "1.0" },
            },
            "disable_execute_api_endpoint": true,
            "ip_address_type": "dualstack",
            "cors_configuration": null,
            "access_log_logservice_group_retention_in_days": null,
            "access_log_logservice_group_tags": { "kept": "long", "for": "audit" },
            "access_log_logservice_group_subscription_destination_arn": null,
            "domain_name": "shop.api.example.com",
            "certificate_domain": "*.api.example.com",
            "hosted_zone_id": self.zone("api.example.com."),
        });
        for (name, value) in changes.as_object().expect("attributes") {
            gateway[name] = value.clone();
        }
        gateway
    }

    fn arn(&self, function: &str) -> String {
        format!("arn:aws:lambda:us-east-1:{}:function:{function}", self.proxy.account().id)
    }

    fn zone(&self, name: &str) -> String {
        let zones = self.proxy.account().boto("route53", "list_hosted_zones", json!({}));
        let zones = zones["HostedZones"].as_array().cloned().unwrap_or_default();
        let zone = zones.iter().find(|zone| zone["Name"] == name).unwrap_or_else(|| panic!("no zone {name}"));
        zone["Id"].as_str().expect("an id").trim_start_matches("/hostedzone/").to_owned()
    }
}

/// No subject may have leaked a secret, however it ended. Cases that did not survive are not checked.
impl Drop for Subject {
    fn drop(&mut self) {
        if !std::thread::panicking() {
            secrets::assert_no_secret_is_leaked(self.workspace.path());
        }
    }
}

const LISTENER: &str =
    "arn:aws:elasticloadbalancing:us-east-1:123456789012:listener/app/shop/0123456789abcdef/0123456789abcdef";

/// A network with every kind of object.
const NETWORK: &str = r#"
resource "fgw_four_tier_vpc" "this" {
  vpc_name                         = "main"
  cidr_block                       = "10.0.0.0/16"
  secondary_cidr_blocks            = ["100.64.0.0/16"]
  num_availability_zones           = 2
  num_nat_gateways                 = 2
  create_transit_subnets           = true
  enable_ipv6                      = true
  assign_generated_ipv6_cidr_block = true
  ipv6_subnet_tiers                = ["public", "private_app"]
  custom_tags                      = { team = "net" }
  apply_default_nacl_rules         = true
  private_persistence_subnet_cidr_blocks = { AZ-1 = "100.64.0.0/24" }
  default_nacl_ingress_rules = {
    All = { rule_no = 100, action = "allow", protocol = "-1", from_port = 0, to_port = 0, cidr_block = "0.0.0.0/0" }
    Web = { rule_no = 110, action = "allow", protocol = "tcp", from_port = 443, to_port = 443, cidr_block = "10.0.0.0/8" }
  }
  default_security_group_ingress_rules = {
    web  = { protocol = "tcp", from_port = 443, to_port = 443, cidr_blocks = ["10.0.0.0/8"] }
    self = { protocol = "-1", from_port = 0, to_port = 0, self = true }
  }
  interface_endpoints = { kms = {} }
}
"#;

/// The same with objects of every kind added, changed and removed.
const CHANGED_NETWORK: &str = r#"
resource "fgw_four_tier_vpc" "this" {
  vpc_name                   = "main"
  cidr_block                 = "10.0.0.0/16"
  num_availability_zones     = 3
  num_nat_gateways           = 1
  create_vpc_endpoints       = false
  create_transit_subnets     = false
  enable_network_address_usage_metrics = true
  map_public_ip_on_launch = true
  custom_tags                = { owner = "net" }
  apply_default_nacl_rules   = true
  default_nacl_ingress_rules = {
    All = { rule_no = 100, action = "allow", protocol = "-1", from_port = 0, to_port = 0, cidr_block = "0.0.0.0/0" }
    Web = { rule_no = 120, action = "allow", protocol = "tcp", from_port = 443, to_port = 443, cidr_block = "10.0.0.0/8" }
  }
  default_security_group_ingress_rules = {
    dns  = { protocol = "udp", from_port = 53, to_port = 53, cidr_blocks = ["10.0.0.0/8"] }
    self = { protocol = "-1", from_port = 0, to_port = 0, self = true }
  }
  default_security_group_egress_rules = {
    all = { protocol = "-1", from_port = 0, to_port = 0, cidr_blocks = ["10.0.0.0/8"] }
  }
  interface_endpoints = { kms = {} }
}
"#;
