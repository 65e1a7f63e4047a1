//! Interface endpoints.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use crate::model::OnDelete::Restrict;
use crate::model::keys::network;
use crate::model::spec::kind::{Counterpart, Identity, Kind, WhenInUse, of, tagged};
use crate::model::{Claim, EndpointOffer, Key, Learned, LeftBehind, Need, Ref, Tags, lost_policy, policy_document};
use crate::plugin::{Check, Input, PlanEffect, Value};

/// An interface endpoint. Key `interface_endpoint.<name>`, fixed by the name and the Region of the service.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct InterfaceEndpoint {
    /// Its VPC.
    pub vpc: Key,
    /// The full name of the service.
    pub service_name: Input<String>,
    /// What AWS offers of the service, as far as a plan has looked it up. Values that follow from it return when
    /// another input no longer forces others.
    pub offer: Option<EndpointOffer>,
    /// The subnets with its network interfaces, sorted, at most one per AZ.
    pub subnets: Vec<Ref>,
    /// The security groups of its network interfaces, sorted.
    pub security_groups: Input<Vec<Ref>>,
    /// Whether the names of the service resolve to its addresses inside the VPC.
    pub private_dns_enabled: Input<bool>,
    /// Whether only queries from outside the VPC do. Those from inside use the gateway endpoint of the service. `None`
    /// for a service without one.
    pub private_dns_only_for_inbound_resolver_endpoint: Input<Option<bool>>,
    /// The gateway endpoint that AWS requires for that.
    pub gateway_endpoint: Option<Key>,
    /// Its other inputs.
    #[serde(flatten)]
    pub settings: InterfaceEndpointSettings,
}

crate::attributes! {
    /// The inputs of an interface endpoint that are stored as they are.
    #[derive(Serialize, Deserialize)]
    pub struct InterfaceEndpointSettings: Encode {
        /// Region of the service, if it is another one. The owner of the service must allow it.
        service_region: Input<Option<String>>
            = optional().only_if_set("service_name").change(InterfaceEndpoint::REPLACED).remark(crate::model::NOT_YET_RUN),
        /// Addresses of the endpoint: `ipv4` or `dualstack`. AWS accepts `ipv6` only in IPv6-only subnets, which no
        /// tier has. By default AWS chooses, and the addresses are not managed: an endpoint keeps those that it has,
        /// until its tier has no IPv6 any more.
        ip_address_type: Input<Option<String>>
            = optional().check(Check::one_of(&["ipv4", "dualstack", "ipv6"])).in_place(),
        /// Records that AWS creates for the endpoint: `ipv4`, `dualstack`, `ipv6` or `service-defined`. By default AWS
        /// chooses, and the records are not managed.
        dns_record_ip_type: Input<Option<String>>
            = optional().check(Check::one_of(&["ipv4", "dualstack", "ipv6", "service-defined"])).in_place(),
        /// IAM policy in JSON. Null allows all access. The provider replaces the text `$${fgw:vpc_id}` by the ID of
        /// this VPC, because a reference to it would be a cycle. Another form of the same policy, such as another
        /// order, changes nothing.
        policy: Input<Option<String>> = optional().check(policy_document()).in_place(),
        /// Tags for the endpoint and its own security group.
        tags: Tags = default(Value::map::<&str>([])).in_place(),
    }
}

impl InterfaceEndpoint {
    /// The effect of a change of the service.
    pub(crate) const REPLACED: PlanEffect = PlanEffect::PartialReplace(
        "replaces the endpoint. The new one is created first, unless both have the same private DNS name, which AWS \
         rejects: then the service is not reachable through either for a few minutes",
    );

    /// Whether an AWS service, and not a third party, offers the service with this full name.
    pub fn is_of_aws(service_name: &str) -> bool {
        !service_name.contains(".vpce-svc-")
    }
}

impl Kind for InterfaceEndpoint {
    fn kind(&self) -> &'static str {
        "interface endpoint"
    }

    fn identity(&self) -> Identity {
        Identity::Fixed { slots: network::INTERFACE_ENDPOINT, input: "interface_endpoints" }
    }

    fn counterpart(&self) -> Counterpart {
        Counterpart {
            description: "Makes a service reachable at private addresses in subnets. AWS charges for each of them by \
                          the hour.",
            resource: "aws_vpc_endpoint",
            import_id: "ENDPOINT_ID",
            attributes: &[
                ("vpc", &["vpc_id"]),
                ("service_name", &["service_name"]),
                ("offer", &[]),
                ("subnets", &["subnet_ids"]),
                ("security_groups", &["security_group_ids"]),
                ("private_dns_enabled", &["private_dns_enabled"]),
                (
                    "private_dns_only_for_inbound_resolver_endpoint",
                    &["dns_options.private_dns_only_for_inbound_resolver_endpoint"],
                ),
                ("gateway_endpoint", &[]),
                ("service_region", &["service_region"]),
                ("ip_address_type", &["ip_address_type"]),
                ("dns_record_ip_type", &["dns_options.dns_record_ip_type"]),
                ("policy", &["policy"]),
                ("tags", &["tags"]),
            ],
        }
    }

    fn when_in_use(&self) -> WhenInUse {
        WhenInUse::Deferred
    }

    /// The addresses and records that AWS or a person has chosen.
    fn left_behind(&self, learned: &Learned, new: &dyn Kind) -> Vec<LeftBehind> {
        let new = of::<InterfaceEndpoint>(new);
        let is_expressed = |name: &str| match (name, new) {
            ("ip_address_type", Some(new)) => new.settings.ip_address_type != Input::Known(None),
            ("dns_record_ip_type", Some(new)) => new.settings.dns_record_ip_type != Input::Known(None),
            _ => false,
        };
        let mut found = learned.clone();
        found.unexpressed.retain(|name, _| !is_expressed(name));
        found.left_behind()
    }

    fn weakened_by(&self, new: &dyn Kind) -> Option<LeftBehind> {
        lost_policy(&self.settings.policy, &of::<InterfaceEndpoint>(new)?.settings.policy)
    }

    fn is_protected_by_settings(&self) -> bool {
        true
    }

    fn needs(&self) -> Vec<Need> {
        let groups = self.security_groups.known().into_iter().flatten();
        let used = self.subnets.iter().chain(groups).flat_map(|it| Need::of(it, Restrict));
        let gateway = self.gateway_endpoint.iter().map(|key| Need::new(key, Restrict));
        [Need::new(&self.vpc, Restrict)].into_iter().chain(used).chain(gateway).collect()
    }

    fn claims(&self) -> Vec<Claim> {
        match self.private_dns_enabled {
            Input::Known(false) => Vec::new(),
            _ => vec![Claim::PrivateDns { service_name: self.service_name.clone() }],
        }
    }

    /// AWS rejects private DNS names until both DNS attributes of the VPC are set.
    fn needs_complete(&self) -> bool {
        self.private_dns_enabled != Input::Known(false)
    }

    tagged!(settings.tags);

    fn references_mut(&mut self) -> Vec<&mut Ref> {
        let groups = match &mut self.security_groups {
            Input::Known(groups) => groups.iter_mut(),
            Input::Unknown => [].iter_mut(),
        };
        self.subnets.iter_mut().chain(groups).collect()
    }

    fn changes_learned(&self, before: &dyn Kind) -> bool {
        let created = |it: &InterfaceEndpoint| (it.subnets.clone(), it.private_dns_enabled.clone());
        of::<InterfaceEndpoint>(before).is_none_or(|before| created(before) != created(self))
    }

    fn leave(&mut self, keys: &BTreeSet<Key>) {
        self.subnets.retain(|subnet| !matches!(subnet, Ref::Key(key) if keys.contains(key)));
    }

    fn fault(&self, learned: &Learned) -> Option<String> {
        let service = self.service_name.known().map(String::as_str).unwrap_or_default();
        Some(match learned.get(ENDPOINT_STATE)?.as_str() {
            PENDING_ACCEPTANCE => format!(
                "waits for the owner of {service} to accept it. Its private DNS names, if any, follow with the next \
                 apply after that"
            ),
            "failed" => {
                format!("has failed, so that {service} is not reachable through it. The next apply replaces it")
            }
            state @ ("rejected" | "expired" | "partial") => format!(
                "is {state}, so that {service} is not or not fully reachable through it. Ask its owner to accept it. If \
                 that is not possible, remove the entry, apply, and add it again"
            ),
            _ => return None,
        })
    }

    /// What AWS chooses is not managed, and AWS returns neither its offer nor the gateway endpoint.
    fn serves(&self, learned: &Learned) -> bool {
        !learned.get(ENDPOINT_STATE).is_some_and(|state| is_unaccepted(state))
    }

    /// What an interrupted update has set is managed until the next one, which may not set it.
    fn merge_owned(&mut self, other: &dyn Kind) {
        let Some(other) = of::<InterfaceEndpoint>(other) else { return };
        let merge = |own: &mut Input<Option<String>>, other: &Input<Option<String>>| {
            if *own == Input::Known(None) {
                own.clone_from(other);
            }
        };
        merge(&mut self.settings.ip_address_type, &other.settings.ip_address_type);
        merge(&mut self.settings.dns_record_ip_type, &other.settings.dns_record_ip_type);
        if self.private_dns_only_for_inbound_resolver_endpoint == Input::Known(None) {
            self.private_dns_only_for_inbound_resolver_endpoint =
                other.private_dns_only_for_inbound_resolver_endpoint.clone();
        }
    }

    /// What AWS chooses is not managed, and AWS returns neither where it offers the service nor the gateway endpoint.
    fn mask_unowned(&mut self, wanted: &dyn Kind) {
        let Some(wanted) = of::<InterfaceEndpoint>(wanted) else { return };
        let chosen_by_aws = |input: &Input<Option<String>>| *input == Input::Known(None);
        if chosen_by_aws(&wanted.settings.ip_address_type) {
            self.settings.ip_address_type = Input::Known(None);
        }
        if chosen_by_aws(&wanted.settings.dns_record_ip_type) {
            self.settings.dns_record_ip_type = Input::Known(None);
        }
        if wanted.private_dns_only_for_inbound_resolver_endpoint == Input::Known(None) {
            self.private_dns_only_for_inbound_resolver_endpoint = Input::Known(None);
        }
        self.offer.clone_from(&wanted.offer);
        self.gateway_endpoint.clone_from(&wanted.gateway_endpoint);
    }
}

/// The label of an AWS service in a Region: the end of its full name. `None` for other services.
pub fn service_label<'a>(full_name: &'a str, region: &str) -> Option<&'a str> {
    if !InterfaceEndpoint::is_of_aws(full_name) {
        return None;
    }
    let in_region = full_name.split_once(&format!(".{region}.")).map(|(_, label)| label);
    // Services such as IAM have one name for all Regions.
    in_region.or_else(|| full_name.strip_prefix("com.amazonaws."))
}

/// The name of the learned value with the state of an interface endpoint, in lower case.
pub const ENDPOINT_STATE: &str = "state";

/// The name of the learned value with the addresses of an interface endpoint, such as `dualstack`.
pub const ENDPOINT_ADDRESSES: &str = "ip_address_type";

/// The state of an endpoint that the owner of the service has neither accepted nor rejected yet.
pub const PENDING_ACCEPTANCE: &str = "pendingacceptance";

/// Whether the owner of the service has not accepted an endpoint in this state. It has no private DNS names then,
/// whatever was requested.
pub fn is_unaccepted(state: &str) -> bool {
    matches!(state, PENDING_ACCEPTANCE | "rejected" | "expired")
}
