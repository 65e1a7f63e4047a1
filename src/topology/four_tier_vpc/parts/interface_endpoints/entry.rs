//! The entry of an interface endpoint in the configuration.

use crate::model::{self, Input, InterfaceEndpointSettings, Tier};
use crate::plugin::{Check, Number, PlanEffect, Value};
use crate::topology::four_tier_vpc::Strings;

/// The port that most services use.
const HTTPS: i64 = 443;

crate::attributes! {
    /// An interface endpoint.
    pub struct InterfaceEndpoint: Encode {
        /// Label of an AWS service: the end of its full name, such as `ecr.api`. Defaults to the name of the entry.
        service: Input<Option<String>>
            = optional().conflicts_with("service_name").change(model::InterfaceEndpoint::REPLACED),
        /// Full name of a service, such as `com.amazonaws.vpce.eu-central-1.vpce-svc-0123456789abcdef0` of a third
        /// party.
        service_name: Input<Option<String>> = optional().check(service_name()).change(model::InterfaceEndpoint::REPLACED),
        /// Tier with the subnets of the endpoint.
        subnet_tier: Input<String> = default("private_app").check(Check::one_of(&TIERS)).change(MOVED),
        /// Names of the AZs in which the endpoint has a subnet, such as `eu-central-1a`. Defaults to all AZs of the
        /// tier in which the service is offered.
        availability_zones: Input<Option<Vec<Input<String>>>> = optional().check(zones()).change(MOVED),
        /// Whether the public names of the service resolve to the endpoint inside the VPC. Defaults to `true` for an
        /// AWS service that has such names, and to `false` for others and while `enable_dns_support` or
        /// `enable_dns_hostnames`, which it requires, is `false`. A service of a third party gets its names once its
        /// owner has accepted the endpoint.
        private_dns_enabled: Input<Option<bool>> = optional().in_place(),
        /// For a service that also has gateway endpoints, such as S3: whether only queries from outside the VPC resolve
        /// to the endpoint, so that the VPC itself uses the gateway endpoint, which must exist. Defaults to `true`.
        private_dns_only_for_inbound_resolver_endpoint: Input<Option<bool>> = optional().in_place(),
        /// IDs of existing security groups for the endpoint, instead of one that this resource creates. A group of this
        /// VPC that the same configuration creates would be a cycle: attach it with
        /// `aws_vpc_endpoint_security_group_association`, which this resource leaves alone.
        security_group_ids: Input<Option<Vec<Input<String>>>> = optional().check(groups()).change(REGROUPED),
        /// TCP ports to allow from the ranges of the VPC that this resource manages. An endpoint with other ports than
        /// 443 gets a security group of its own, which is created or deleted with the first or last such port.
        allowed_ports: Input<Vec<Input<i64>>>
            = default(Value::List(vec![HTTPS.into()])).check(ports()).conflicts_with("security_group_ids").in_place(),
        /// Further CIDR blocks to allow on these ports, such as ranges that something else has associated with the VPC.
        /// An endpoint with such blocks gets a security group of its own.
        allowed_cidr_blocks: Strings
            = default(Value::List(Vec::new())).check(blocks()).conflicts_with("security_group_ids").in_place(),
        ..settings: InterfaceEndpointSettings
    }
}

/// The effect of another tier or other AZs.
const MOVED: PlanEffect = PlanEffect::Disruptive(
    "the endpoint moves one AZ after the other. It leaves its subnet in an AZ before it gets another one there, because \
     AWS rejects two: its address in this AZ does not answer for about a minute",
);

/// The effect of other security groups.
const REGROUPED: PlanEffect = PlanEffect::PartialReplace(
    "between null and a list creates or deletes the security group of this resource. The endpoint gets the new groups \
     and loses the old ones in one call",
);

const TIERS: [&str; 4] =
    [Tier::Public.slot(), Tier::PrivateApp.slot(), Tier::PrivatePersistence.slot(), Tier::Transit.slot()];

fn service_name() -> Check {
    Check::text("a full name, such as com.amazonaws.eu-central-1.ecr.api", |name| match name.matches('.').count() {
        2.. => Ok(()),
        _ => Err(format!("{name:?} is not the full name of a service. For the label of one, set service instead.")),
    })
}

/// A check of the elements of a list. `rule` is that of the list, and `problem` returns the error of an element.
fn elements(rule: &str, problem: fn(&Value) -> Option<String>) -> Check {
    Check::new(rule, move |value| match value {
        Value::List(items) => items.iter().find_map(problem).map_or(Ok(()), Err),
        _ => Ok(()),
    })
}

/// A list with elements.
fn not_empty(rule: &str) -> Check {
    Check::new(rule, |value| match value {
        Value::List(items) if items.is_empty() => Err("The list is empty.".to_string()),
        _ => Ok(()),
    })
}

fn zones() -> Check {
    not_empty("the names of one or more AZs")
}

fn groups() -> Check {
    not_empty("the IDs of one or more security groups")
}

fn ports() -> Check {
    elements("a list of ports from 1 to 65535", |port| match port {
        Value::Number(Number::Int(1..=65535)) | Value::Unknown => None,
        _ => Some(format!("{port} is not a port.")),
    })
}

fn blocks() -> Check {
    elements("a list of CIDR blocks", |block| {
        let text = block.as_str()?;
        let is_block = text.parse::<ipnet::IpNet>().is_ok_and(|net| net == net.trunc());
        (!is_block).then(|| format!("{text:?} is not a CIDR block, or has bits behind its prefix."))
    })
}

impl InterfaceEndpoint {
    /// The tier; `None` while it is unknown.
    pub(super) fn tier(&self) -> Option<Tier> {
        let name = self.subnet_tier.known()?;
        Tier::ALL.into_iter().find(|tier| tier.slot() == name)
    }

    /// The full name or the label of the service of the entry with this name.
    pub(super) fn service_of(&self, name: &str) -> Input<String> {
        match (&self.service_name, &self.service) {
            (Input::Known(Some(full)), _) => Input::Known(full.clone()),
            (Input::Known(None), Input::Known(label)) => Input::Known(label.as_deref().unwrap_or(name).to_string()),
            (Input::Unknown, _) | (_, Input::Unknown) => Input::Unknown,
        }
    }

    /// Whether it gets a security group of its own.
    pub(super) fn has_own_group(&self) -> bool {
        let shared = (vec![Input::Known(HTTPS)], Vec::new());
        self.security_group_ids == Input::Known(None)
            && (self.allowed_ports.known(), self.allowed_cidr_blocks.known()) != (Some(&shared.0), Some(&shared.1))
    }

    /// Whether it uses the group that such endpoints share.
    pub(super) fn shares_group(&self) -> bool {
        self.security_group_ids == Input::Known(None) && !self.has_own_group()
    }

    /// Whether its ports are those with which it shares a group. `None` while that depends on an unknown one.
    fn has_default_ports(&self) -> Option<bool> {
        match self.allowed_ports.known()?.as_slice() {
            [Input::Unknown] => None,
            ports => Some(ports == [Input::Known(HTTPS)]),
        }
    }

    /// Assumes that unknown ports and blocks are those with which it shares a group.
    pub(super) fn assume_shared_group(&mut self) {
        if self.has_default_ports().is_none() {
            self.allowed_ports = Input::Known(vec![Input::Known(HTTPS)]);
        }
        if !self.allowed_cidr_blocks.is_known() {
            self.allowed_cidr_blocks = Input::Known(Vec::new());
        }
    }

    /// Assumes that unknown ports and blocks are others, so that it has a group of its own.
    pub(super) fn assume_own_group(&mut self) {
        if !self.has_decided_group() {
            self.allowed_cidr_blocks = Input::Known(vec![Input::Unknown]);
        }
    }

    /// The AZs that it names: `Some(None)` for all, `None` while one is unknown.
    pub(super) fn chosen_zones(&self) -> Option<Option<Vec<&str>>> {
        let Some(zones) = self.availability_zones.known()? else { return Some(None) };
        zones.iter().map(|zone| zone.known().map(String::as_str)).collect::<Option<Vec<_>>>().map(Some)
    }

    /// Whether its objects do not depend on unknown values.
    pub(super) fn is_decided(&self) -> bool {
        self.tier().is_some() && self.chosen_zones().is_some() && self.has_decided_group()
    }

    /// Whether unknown ports and blocks leave open if it has a group of its own.
    fn has_decided_group(&self) -> bool {
        let has_default_ports = self.has_default_ports();
        let has_no_blocks = self.allowed_cidr_blocks.known().map(Vec::is_empty);
        let is_own = has_default_ports == Some(false) || has_no_blocks == Some(false);
        match &self.security_group_ids {
            Input::Unknown => false,
            Input::Known(Some(_)) => true,
            Input::Known(None) => is_own || (has_default_ports.is_some() && has_no_blocks.is_some()),
        }
    }

    /// Whether it is to have IPv6 addresses alone.
    pub(super) fn is_ipv6_only(&self) -> bool {
        matches!(&self.settings.ip_address_type, Input::Known(Some(kind)) if kind == "ipv6")
    }

    /// Whether it has IPv6 addresses.
    pub(super) fn has_ipv6(&self) -> bool {
        matches!(&self.settings.ip_address_type, Input::Known(Some(kind)) if kind != "ipv4")
    }
}
