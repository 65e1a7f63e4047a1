//! What the campaigns do damage to: a whole network or a whole gateway, in an account of its own, with a proxy before
//! it.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::{Display, Formatter};

use serde_json::{Value, json};

use super::{secrets, state_check};
use crate::support::proxy::Proxy;
use crate::support::terraform::{Run, Workspace};

/// Which of the two resources.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Network,
    Gateway,
}

/// What is being done when the damage comes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Phase {
    /// The first configuration is applied to an empty account.
    Create,
    /// The second one to what the first has made.
    Change,
    /// What the first has made is destroyed.
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

/// An account, a proxy before it, and a workspace.
#[derive(Debug)]
pub(super) struct Subject {
    pub(super) kind: Kind,
    pub(super) proxy: Proxy,
    pub(super) workspace: Workspace,
    /// The ids of what others have in the account; none of it is this subject's.
    pub(super) neighbours: BTreeSet<String>,
}

impl Subject {
    /// In an account that has what the configurations need beside our resource: functions, certificates, zones, keys.
    pub(super) fn new(kind: Kind) -> Self {
        Self::with_provider(kind, "")
    }

    /// The same, with further lines in the provider block.
    pub(super) fn with_provider(kind: Kind, lines: &str) -> Self {
        let proxy = match kind {
            Kind::Network => Proxy::moto(),
            Kind::Gateway => Proxy::ministack(),
        };
        let mut workspace = Workspace::with_provider(&proxy, lines);
        secrets::log_everything(&mut workspace);
        let subject = Self { kind, proxy, workspace, neighbours: BTreeSet::new() };
        if kind == Kind::Gateway {
            subject.furnish();
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

    /// The name of the resource, which its root carries in a tag.
    pub(super) fn name(&self) -> &'static str {
        match self.kind {
            Kind::Network => "main",
            Kind::Gateway => "shop",
        }
    }

    /// Does what comes before a phase, and writes the configuration of the phase. The log of calls is empty after it.
    pub(super) fn prepare(&self, phase: Phase) {
        self.write(false);
        if phase != Phase::Create {
            self.workspace.apply(&[]).succeeded();
            self.write(phase == Phase::Change);
        }
        self.proxy.clear_calls();
    }

    /// Writes the configuration of a phase that comes after what has been done to this subject. The log of calls is
    /// empty after it.
    pub(super) fn turn_to(&self, phase: Phase) {
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

    /// Runs a phase to its end, whatever that is.
    pub(super) fn run(&self, phase: Phase) -> Run {
        self.workspace.run(&Self::command(phase))
    }

    /// The resource's `aws_objects` in state: from key to id. Empty where it is not in state.
    pub(super) fn objects(&self) -> BTreeMap<String, String> {
        self.ids_in("aws_objects")
    }

    /// The ids of all that exists in the account and is this subject's, by an independent look.
    pub(super) fn existing(&self) -> BTreeSet<String> {
        let all = state_check::existing(self.proxy.account());
        all.difference(&self.neighbours).cloned().collect()
    }

    /// Panics unless state names all that exists of ours in the account, and nothing else. What the next apply deletes
    /// since something else has taken its key is in `pending_deletion`. The ACL and the group that AWS makes along with
    /// a VPC are there as long as it is, with our tags or without.
    pub(super) fn assert_state_is_true(&self) {
        self.assert_state_is_true_but_for(&BTreeSet::new());
    }

    /// The same where state may still name these.
    pub(super) fn assert_state_is_true_but_for(&self, leaving: &BTreeSet<String>) {
        let (existing, given) = (self.existing(), state_check::given(self.proxy.account()));
        let known: BTreeSet<String> =
            self.objects().into_values().chain(self.ids_in("pending_deletion").into_values()).collect();
        let orphaned: Vec<&String> = existing.difference(&known).collect();
        let is_there = |id: &&String| given.contains(*id) || leaving.contains(*id);
        let invented: Vec<&String> = known.difference(&existing).filter(|id| !is_there(id)).collect();
        assert!(orphaned.is_empty() && invented.is_empty(), "orphaned: {orphaned:?}, invented: {invented:?}");
    }

    /// Ends a phase that was cut off, as its message says: with `untaint` where Terraform tainted, and an apply or
    /// destroy, after which nothing is to be done.
    pub(super) fn finish(&self, phase: Phase) {
        if self.workspace.state().is_tainted(self.address()) {
            self.workspace.run(&["untaint", "-no-color", self.address()]).succeeded();
        }
        self.run(phase).succeeded();
        if phase != Phase::Destroy {
            self.workspace.assert_nothing_to_do();
            self.assert_state_is_true();
        }
    }

    /// Destroys, and panics if anything of ours is left.
    pub(super) fn destroy(&self) {
        self.run(Phase::Destroy).succeeded();
        assert!(self.workspace.state().resource(self.address()).is_none(), "a destroyed resource is in state");
        let ours = self.proxy.account().ours();
        let theirs = |line: &String| line.split(' ').nth(1).is_some_and(|id| self.neighbours.contains(id));
        let left: Vec<String> = ours.into_iter().filter(|line| !theirs(line)).collect();
        assert!(
            left.is_empty(),
            "objects of ours are left in account {}:\n{}",
            self.proxy.account().id,
            left.join("\n")
        );
    }

    /// Writes the first configuration of a network with another range, which only another network can have.
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
                self.workspace.write("main.tf.json", &resource.to_string());
            }
        }
    }

    fn furnish(&self) {
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

    /// A gateway with every kind of object that one can have.
    fn gateway(&self) -> Value {
        json!({
            "name": "shop",
            "description": "Orders and users.",
            "api_tags": { "team": "web" },
            "route_config": {
                "GET /orders": { "faas_function_arn": self.arn("orders") },
                "POST /orders": { "faas_function_arn": self.arn("orders"), "authorizer_name": "customers" },
                "GET /users/{proxy+}": { "faas_function_arn": self.arn("users"), "payload_format_version": "2.0" },
            },
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

    /// The same with something made, changed and removed of every kind.
    fn changed_gateway(&self) -> Value {
        let mut gateway = self.gateway();
        let changes = json!({
            "description": "Orders, users and more.",
            "api_tags": { "owner": "web" },
            "stage_tags": { "level": "live" },
            "route_config": {
                "GET /orders": { "faas_function_arn": self.arn("users") },
                "POST /orders": { "faas_function_arn": self.arn("orders"), "authorizer_name": "staff" },
                "GET /more": { "faas_function_arn": self.arn("orders"), "timeout_milliseconds": 9000 },
            },
            "faas_authorizers": {
                "staff": { "authorizer_name": "guard", "authorizer_payload_format_version": "1.0" },
            },
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

/// However a subject has ended, it has told no secret. One that did not survive is another matter.
impl Drop for Subject {
    fn drop(&mut self) {
        if !std::thread::panicking() {
            secrets::assert_nothing_is_told(self.workspace.path());
        }
    }
}

/// A network with every kind of object that one can have.
const NETWORK: &str = r#"
resource "fgw_four_tier_vpc" "this" {
  vpc_name                         = "main"
  cidr_block                       = "10.0.0.0/16"
  num_availability_zones           = 2
  num_nat_gateways                 = 2
  create_transit_subnets           = true
  enable_ipv6                      = true
  assign_generated_ipv6_cidr_block = true
  custom_tags                      = { team = "net" }
  apply_default_nacl_rules         = true
  default_nacl_ingress_rules = {
    All = { rule_no = 100, action = "allow", protocol = "-1", from_port = 0, to_port = 0, cidr_block = "0.0.0.0/0" }
    Web = { rule_no = 110, action = "allow", protocol = "tcp", from_port = 443, to_port = 443, cidr_block = "10.0.0.0/8" }
  }
  default_security_group_ingress_rules = {
    web  = { protocol = "tcp", from_port = 443, to_port = 443, cidr_blocks = ["10.0.0.0/8"] }
    self = { protocol = "-1", from_port = 0, to_port = 0, self = true }
  }
}
"#;

/// The same with something made, changed and removed of every kind.
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
}
"#;
