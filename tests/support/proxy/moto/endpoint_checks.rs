//! The requests for interface endpoints that AWS rejects, and moto accepts. If no other source is stated, the texts are
//! answers of AWS that public issues quote.

use super::endpoint_services::Service;
use super::{Element, Instead, Request};

/// The name of an option of S3 interface endpoints in requests and, from a lower case letter on, in answers.
pub(super) const INBOUND_ONLY: &str = "PrivateDnsOnlyForInboundResolverEndpoint";

/// The properties of an endpoint that moto does not store.
#[derive(Clone, Debug)]
pub(super) struct Settings {
    pub(super) private_dns: bool,
    pub(super) inbound_only: bool,
    pub(super) ip_address_type: String,
    pub(super) dns_record_ip_type: String,
}

impl Settings {
    /// Those of a new endpoint. By default, AWS enables private DNS if the service has a private name.
    pub(super) fn new(call: &Request<'_>, service: &Service) -> Self {
        let private_dns = !service.private_names.is_empty() && !service.acceptance_required;
        let default = Self {
            private_dns,
            inbound_only: private_dns && service.has_gateway,
            ip_address_type: "ipv4".into(),
            dns_record_ip_type: String::new(),
        };
        default.changed(call, service)
    }

    /// These after a change.
    pub(super) fn changed(&self, call: &Request<'_>, service: &Service) -> Self {
        let given = |name: &str| Some(call.param(name)).filter(|it| !it.is_empty());
        let is_enabled = given("PrivateDnsEnabled").map(|it| it == "true");
        let inbound_only = given(&format!("DnsOptions.{INBOUND_ONLY}")).map(|it| it == "true");
        let ip_address_type = given("IpAddressType").unwrap_or(&self.ip_address_type).to_owned();
        let record = given("DnsOptions.DnsRecordIpType").unwrap_or(&self.dns_record_ip_type);
        // By default, the records follow the addresses.
        let follows = record.is_empty() || (record == self.ip_address_type && given("IpAddressType").is_some());
        Self {
            private_dns: is_enabled.unwrap_or(self.private_dns),
            // AWS sets its default whenever a request enables private DNS: hashicorp/terraform-provider-aws#33689.
            inbound_only: match (inbound_only, is_enabled) {
                (Some(inbound_only), _) => inbound_only,
                (None, Some(is_enabled)) => is_enabled && service.has_gateway,
                (None, None) => self.inbound_only,
            },
            dns_record_ip_type: if follows { ip_address_type.clone() } else { record.to_owned() },
            ip_address_type,
        }
    }
}

/// A create, or a change of an existing endpoint.
pub(super) struct Requested<'a> {
    pub(super) service: &'a Service,
    pub(super) vpc: &'a str,
    /// The settings of the endpoint after the call.
    pub(super) settings: &'a Settings,
    /// Before the call.
    pub(super) subnets: Vec<&'a str>,
    pub(super) groups: Vec<&'a str>,
    pub(super) added_subnets: Vec<&'a str>,
    pub(super) removed_subnets: Vec<&'a str>,
    pub(super) added_groups: Vec<&'a str>,
    pub(super) removed_groups: Vec<&'a str>,
    /// Whether the owner of the service still has to accept the endpoint.
    pub(super) is_waiting: bool,
    /// Whether another endpoint in the VPC has the private DNS names of the service.
    pub(super) has_conflict: bool,
}

/// The rejection of a request; `None` if AWS accepts it.
pub(super) async fn rejection(call: &Request<'_>, requested: &Requested<'_>) -> Instead {
    let subnets = call.describe("DescribeSubnets", &[("vpc-id", requested.vpc)]).await?;
    let groups = call.describe("DescribeSecurityGroups", &[("vpc-id", requested.vpc)]).await?;
    let found = Found { subnets: subnets.items("subnetSet"), groups: groups.items("securityGroupInfo") };
    let mut rejection = found.missing(requested).or_else(|| found.zones(requested));
    rejection = rejection.or_else(|| removed(requested)).or_else(|| found.addresses(requested));
    rejection = rejection.or_else(|| policy(call, requested.service));
    if rejection.is_none() {
        rejection = private_dns(call, requested).await?;
    }
    Ok(rejection.map(|(code, text)| call.rejected(code, &text)))
}

/// Code and text of an error.
type Rejection = Option<(&'static str, String)>;

const INVALID: &str = "InvalidParameter";

/// The subnets and security groups of the VPC.
struct Found<'a> {
    subnets: &'a [Element],
    groups: &'a [Element],
}

impl<'a> Found<'a> {
    fn subnet(&self, id: &str) -> Option<&'a Element> {
        self.subnets.iter().find(|it| it.text_of("subnetId") == id)
    }

    /// The code for a subnet is that of the calls for endpoints; others return `InvalidSubnetID.NotFound`. See
    /// `vpc_endpoint_subnet_association.go` of hashicorp/terraform-provider-aws.
    fn missing(&self, requested: &Requested<'_>) -> Rejection {
        if let Some(id) = requested.added_subnets.iter().find(|id| self.subnet(id).is_none()) {
            return Some(("InvalidSubnetId.NotFound", format!("The subnet ID '{id}' does not exist")));
        }
        let exists = |id: &&&str| self.groups.iter().any(|it| it.text_of("groupId") == **id);
        let missing = requested.added_groups.iter().find(|id| !exists(id))?;
        Some(("InvalidGroup.NotFound", format!("The security group '{missing}' does not exist")))
    }

    fn zones(&self, requested: &Requested<'_>) -> Rejection {
        let zone = |id: &str| self.subnet(id).map_or("", |it| it.text_of("availabilityZone"));
        let service = requested.service;
        let is_outside = |id: &&&str| !service.zones.is_empty() && !service.zones.iter().any(|it| it == zone(id));
        if let Some(subnet) = requested.added_subnets.iter().find(is_outside) {
            let name = &service.name;
            let text = format!(
                "The VPC endpoint service {name} does not support the availability zone of the subnet: {subnet}."
            );
            return Some((INVALID, text));
        }
        // Those that the same call removes count too: public code removes them in an earlier call.
        let mut used: Vec<&str> = requested.subnets.iter().map(|id| zone(id)).collect();
        for subnet in &requested.added_subnets {
            if used.contains(&zone(subnet)) {
                let text = format!(
                    "Found another VPC endpoint subnet in the availability zone of {subnet}. VPC endpoint subnets should \
                     be in different availability zones supported by the VPC endpoint service."
                );
                return Some(("DuplicateSubnetsInSameZone", text));
            }
            used.push(zone(subnet));
        }
        None
    }

    /// The texts are not known.
    fn addresses(&self, requested: &Requested<'_>) -> Rejection {
        let Settings { ip_address_type, dns_record_ip_type, .. } = requested.settings;
        let types = &requested.service.ip_address_types;
        let supported = match ip_address_type.as_str() {
            "dualstack" => ["ipv4", "ipv6"].iter().all(|one| types.iter().any(|it| it == one)),
            one => types.iter().any(|it| it == one),
        };
        if !supported {
            let text = format!("The service {} does not support {ip_address_type}.", requested.service.name);
            return Some((INVALID, text));
        }
        let records: &[&str] = match ip_address_type.as_str() {
            "ipv4" => &["ipv4", "service-defined"],
            "ipv6" => &["ipv6", "service-defined"],
            _ => &["ipv4", "ipv6", "dualstack", "service-defined"],
        };
        if !records.contains(&dns_record_ip_type.as_str()) {
            let text = format!("DnsRecordIpType {dns_record_ip_type} does not match IpAddressType {ip_address_type}.");
            return Some((INVALID, text));
        }
        let mut subnets = requested.subnets.iter().filter(|id| !requested.removed_subnets.contains(id));
        if ip_address_type == "ipv6" {
            let has_ipv4 = |id: &&&str| self.subnet(id).is_some_and(|it| it.text_of("ipv6Native") != "true");
            let subnet = subnets.chain(&requested.added_subnets).find(has_ipv4)?;
            return Some((INVALID, format!("The subnet {subnet} is not an IPv6-only subnet.")));
        }
        let lacks_ipv6 =
            |id: &&&str| self.subnet(id).is_some_and(|it| it.items("ipv6CidrBlockAssociationSet").is_empty());
        let without = subnets.find(lacks_ipv6).or_else(|| requested.added_subnets.iter().find(lacks_ipv6));
        let subnet = without.filter(|_| ip_address_type != "ipv4")?;
        Some((INVALID, format!("The subnet {subnet} has no IPv6 CIDR block.")))
    }
}

/// An endpoint keeps a group. It can exist without subnets (recorded: DescribeVpcEndpoints of 2026, and
/// hashicorp/terraform-provider-aws removes the last one with `aws_vpc_endpoint_subnet_association`). For other objects
/// than its own, AWS returns this code, as `vpc_endpoint_subnet_association.go` and
/// `vpc_endpoint_security_group_association.go` of hashicorp/terraform-provider-aws expect. The texts are not known.
fn removed(requested: &Requested<'_>) -> Rejection {
    for (kind, before, added, removed) in [
        ("subnet", &requested.subnets, &requested.added_subnets, &requested.removed_subnets),
        ("security group", &requested.groups, &requested.added_groups, &requested.removed_groups),
    ] {
        if let Some(id) = removed.iter().find(|id| !before.contains(id)) {
            return Some((INVALID, format!("The {kind} {id} is not associated with the VPC endpoint.")));
        }
        let is_last = !removed.is_empty() && added.is_empty() && removed.len() == before.len();
        if is_last && kind == "security group" {
            return Some((INVALID, format!("A VPC endpoint must have at least one {kind}.")));
        }
    }
    None
}

fn policy(call: &Request<'_>, service: &Service) -> Rejection {
    let policy: serde_json::Value = serde_json::from_str(call.param("PolicyDocument")).unwrap_or_default();
    let statement = &policy["Statement"];
    let statement = if statement.is_array() { &statement[0] } else { statement };
    let is_full = ["Principal", "Action", "Resource"].iter().all(|name| statement[name] == "*");
    let text = format!("Service {} only supports the full-access endpoint policy.", service.name);
    (!policy.is_null() && !is_full && !service.supports_policy).then_some((INVALID, text))
}

async fn private_dns(call: &Request<'_>, requested: &Requested<'_>) -> Result<Rejection, String> {
    let Requested { service, vpc, settings, .. } = requested;
    let (enabled, option) = (call.param("PrivateDnsEnabled"), call.param(&format!("DnsOptions.{INBOUND_ONLY}")));
    let rejected = |text: String| Ok(Some((INVALID, text)));
    if !option.is_empty() && !service.has_gateway {
        return rejected(format!("{INBOUND_ONLY} not supported for this service."));
    }
    if enabled == "true" && service.private_names.is_empty() {
        let name = &service.name;
        return rejected(format!(
            "Private DNS can't be enabled because the service {name} does not provide a private DNS name."
        ));
    }
    let is_requested = call.name == "CreateVpcEndpoint" || enabled == "true";
    if settings.private_dns && is_requested {
        if requested.is_waiting {
            let name = &service.name;
            return rejected(format!(
                "Private DNS can only be enabled after the endpoint connection is accepted by the owner of {name}."
            ));
        }
        for attribute in ["enableDnsSupport", "enableDnsHostnames"] {
            let found = call.describe("DescribeVpcAttribute", &[("VpcId", vpc), ("Attribute", attribute)]).await?;
            if found.child(attribute).is_none_or(|it| it.text_of("value") != "true") {
                return rejected(format!(
                    "Enabling private DNS requires both enableDnsSupport and enableDnsHostnames VPC attributes set to true \
                     for {vpc}"
                ));
            }
        }
        if requested.has_conflict {
            let name = service.private_names.first().map_or("", String::as_str);
            return rejected(format!(
                "private-dns-enabled cannot be set because there is already a conflicting DNS domain for {name} in the VPC \
                 {vpc}"
            ));
        }
    }
    if settings.inbound_only && (is_requested || !option.is_empty()) {
        let found = call.describe("DescribeVpcEndpoints", &[("vpc-id", vpc)]).await?;
        let is_gateway = |it: &Element| {
            it.text_of("vpcEndpointType") == "Gateway"
                && it.text_of("serviceName") == service.name
                && it.text_of("state") != "deleted"
        };
        if !found.items("vpcEndpointSet").iter().any(is_gateway) {
            return rejected(format!(
                "To set {INBOUND_ONLY} to true, the VPC {vpc} must have a Gateway endpoint for the service."
            ));
        }
    }
    Ok(None)
}
