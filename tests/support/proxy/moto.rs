//! The differences between moto and AWS in EC2, which the proxy repairs. Each repair states the behavior of AWS.

mod acls;
mod associating;
mod dependencies;
mod endpoints;
mod flow_logs;
mod group_rules;
mod internet_gateways;
mod ipam;
mod ipv6;
mod nat_addresses;
pub(super) mod nats;
mod propagation;
mod vpcs;
pub(super) mod zones;

use std::collections::{BTreeMap, HashMap};
use std::sync::Mutex;

use serde_json::json;

use self::acls::Icmp;
use self::associating::Associating;
use self::endpoints::Endpoints;
use self::flow_logs::FlowLogs;
use self::ipam::Ipam;
use self::nats::Nats;
use self::propagation::Propagation;
use self::zones::Zones;
use super::call::{Call, encode};
use super::message::{Message, Reply};
use super::upstream::Upstream;
use super::xml::Element;
use super::{Before, lock};

/// The repairs, with the state that they keep between calls.
#[derive(Debug, Default)]
pub(super) struct Repairs {
    pub(super) nats: Nats,
    pub(super) zones: Zones,
    pub(super) ipam: Ipam,
    pub(super) associating: Associating,
    icmp: Icmp,
    propagation: Propagation,
    endpoints: Endpoints,
    flow_logs: FlowLogs,
    keys: Mutex<HashMap<String, String>>,
    tokens: Mutex<Tokens>,
}

/// The parameters and the answers of successful creates, by action and client token.
type Tokens = HashMap<(String, String), (BTreeMap<String, String>, Reply)>;

impl Repairs {
    pub(super) async fn before(&self, emulator: &Upstream, call: &Call, message: Message) -> Result<Before, String> {
        match call.action.as_str() {
            // moto cannot list authorizers. No gateway of a test on moto has one.
            "GetAuthorizers" => return Ok(Before::Answer(Reply::json(200, &json!({ "items": [] })))),
            "CreateAuthorizer" => return Err("the proxy of moto does not list authorizers".into()),
            _ => {}
        }
        if call.service == "logs" && call.action.ends_with("ssociateKmsKey") {
            // moto has no such calls. An empty key is none.
            lock(&self.keys).insert(call.param("logGroupName").to_owned(), call.param("kmsKeyId").to_owned());
            return Ok(Before::Answer(Reply::json(200, &json!({}))));
        }
        if call.service != "ec2" {
            return Ok(Before::Forward(message));
        }
        reject_unsupported(call)?;
        if let Some(reply) = self.same_token(call).or_else(|| two_attributes(call)) {
            return Ok(Before::Answer(reply));
        }
        let answer = match call.action.as_str() {
            "AssociateSubnetCidrBlock" => ipv6::second_range(emulator, call, &message).await?,
            "DisassociateSubnetCidrBlock" => ipv6::of_addressing(emulator, call, &message).await?,
            "DisassociateVpcCidrBlock" => ipv6::of_subnets(emulator, call, &message).await?,
            "ModifySubnetAttribute" => ipv6::addressing_without_range(emulator, call, &message).await?,
            "CreateNatGateway" => match self.nats.zone_is_constrained(emulator, call, &message).await? {
                None => self.nats.address_in_use(emulator, call, &message).await?,
                rejected => rejected,
            },
            "AssignPrivateNatGatewayAddress" => Some(self.nats.assign(call)),
            "UnassignPrivateNatGatewayAddress" => Some(self.nats.unassign(call)),
            "AssociateRouteTable" => associated_with_another_table(emulator, call, &message).await?,
            "AuthorizeSecurityGroupIngress" | "AuthorizeSecurityGroupEgress" => group_rules::rejected(call),
            "CreateRoute" => route_exists(emulator, call, &message).await?,
            "DeleteSubnet" => {
                let answer = dependencies::of_subnet(&self.nats, emulator, call, &message).await?;
                if answer.is_none() {
                    disassociate_tables(emulator, call, &message).await?;
                    disassociate_acl(emulator, call, &message).await?;
                }
                answer
            }
            "DeleteRouteTable" => dependencies::of_main_table(emulator, call, &message).await?,
            "AttachInternetGateway" => internet_gateways::second(emulator, call, &message).await?,
            "DetachInternetGateway" => dependencies::of_attachment(&self.nats, emulator, call, &message).await?,
            "ReleaseAddress" => dependencies::of_address(&self.nats, emulator, call, &message).await?,
            "DeleteVpc" => dependencies::of_vpc(&self.nats, emulator, call, &message).await?,
            "DeleteSecurityGroup" => endpoints::of_group(emulator, call, &message).await?,
            "EnableVgwRoutePropagation" => Some(self.propagation.enable(emulator, call, &message).await?),
            "DisableVgwRoutePropagation" => Some(self.propagation.disable(call)),
            "GetIpamPoolAllocations" => Some(self.ipam.allocations(call)),
            "CreateFlowLogs" => self.flow_logs.rejected(emulator, call, &message).await?,
            "DeleteVpcEndpoints" => Some(endpoints::delete(&self.endpoints, emulator, call, &message).await?),
            _ => None,
        };
        if let Some(reply) = answer {
            return Ok(Before::Answer(reply));
        }
        Ok(Before::Forward(match call.action.as_str() {
            "CreateVpc" => self.ipam.create(call, message)?,
            "AssociateVpcCidrBlock" => self.ipam.associate(call, message)?,
            "CreateFlowLogs" => FlowLogs::forwarded(call, message),
            "ModifyVpcEndpoint" => endpoints::reset_policy(call, message),
            "DescribeNatGateways" => nats::without_own_filters(call, message),
            // moto fails on this filter, which `make acceptance` uses. The answer may contain other endpoints.
            "DescribeVpcEndpoints" => without_filters(call, message, |filter| filter == "vpc-endpoint-id"),
            "DescribeNetworkAcls" => without_filters(call, message, |filter| filter == acls::ID),
            _ => message,
        }))
    }

    pub(super) async fn after(
        &self,
        emulator: &Upstream,
        call: &Call,
        message: &Message,
        reply: Reply,
    ) -> Result<Reply, String> {
        if call.service == "logs" && call.action == "DescribeLogGroups" {
            return self.with_keys(reply);
        }
        if call.service != "ec2" {
            return Ok(reply);
        }
        if !reply.is_success() {
            return missing_object(emulator, call, message, reply).await;
        }
        let reply = match call.action.as_str() {
            "CreateSubnet" => self.associating.created(call, association_state(reply))?,
            "AssociateSubnetCidrBlock" => self.associating.created(call, reply)?,
            "DescribeSubnets" => self.associating.described(call, association_state(reply))?,
            "CreateVpc" => {
                self.ipam.created(call, &reply)?;
                self.associating.created(call, vpcs::complete(emulator, message, reply).await?)?
            }
            "DeleteVpc" => {
                self.ipam.deleted(call);
                reply
            }
            "DisassociateVpcCidrBlock" => {
                self.ipam.disassociated(call);
                reply
            }
            "AssociateVpcCidrBlock" => {
                let reply = vpcs::complete_ipv6(emulator, call, message, reply).await?;
                self.associating.created(call, self.ipam.associated(call, reply)?)?
            }
            "DescribeVpcs" => self.associating.described(call, self.ipam.described(reply)?)?,
            "DescribeAvailabilityZones" => self.zones.described(call, reply)?,
            "CreateNatGateway" => self.nats.created(emulator, call, message, reply).await?,
            "DescribeNatGateways" => self.nats.described(call, reply)?,
            "DeleteNatGateway" => self.nats.deleted(emulator, call, message, reply).await?,
            "DescribeNetworkInterfaces" => {
                endpoints::interfaces(emulator, message, self.nats.interfaces(emulator, message, reply).await?).await?
            }
            "CreateVpcEndpoint" => {
                self.endpoints.created(call, &reply)?;
                reply
            }
            "CreateFlowLogs" => {
                self.flow_logs.created(call, &reply)?;
                reply
            }
            "DescribeFlowLogs" => self.flow_logs.described(emulator, message, reply).await?,
            "ModifyVpcEndpoint" => {
                self.endpoints.modified(emulator, call, message).await?;
                endpoints::update_routes(emulator, call, message).await?;
                reply
            }
            "DescribeVpcEndpoints" => self.endpoints.described(reply)?,
            "DescribeVpcPeeringConnections" => peerings_of_vpc(call, reply)?,
            "DescribeRouteTables" => {
                self.propagation.described(blackholes(&self.nats, emulator, message, reply).await?)?
            }
            "DescribeNetworkAcls" => self.icmp.described(acls::of_ids(call, reply)?)?,
            "CreateNetworkAclEntry" | "ReplaceNetworkAclEntry" => {
                self.icmp.set(call);
                reply
            }
            _ => reply,
        };
        self.remember_token(call, &reply);
        Ok(reply)
    }

    fn with_keys(&self, reply: Reply) -> Result<Reply, String> {
        let mut answer: serde_json::Value = serde_json::from_str(&reply.text()).map_err(|error| error.to_string())?;
        for group in answer["logGroups"].as_array_mut().into_iter().flatten() {
            let key = lock(&self.keys).get(group["logGroupName"].as_str().unwrap_or_default()).cloned();
            if let (Some(key), Some(group)) = (key, group.as_object_mut()) {
                group.remove("kmsKeyId");
                group.extend((!key.is_empty()).then(|| ("kmsKeyId".to_owned(), key.into())));
            }
        }
        Ok(reply.with_body(answer.to_string()))
    }

    /// AWS answers a create with a known client token with the object that it created for that token. moto creates a
    /// second one.
    fn same_token(&self, call: &Call) -> Option<Reply> {
        let key = token(call)?;
        let tokens = lock(&self.tokens);
        let (params, reply) = tokens.get(&key)?;
        Some(if *params == call.params {
            reply.clone()
        } else {
            let message = "The request uses the same client token as a previous, but non-identical request.";
            Reply::error(call, 400, "IdempotentParameterMismatch", message)
        })
    }

    fn remember_token(&self, call: &Call, reply: &Reply) {
        if let Some(key) = token(call) {
            lock(&self.tokens).insert(key, (call.params.clone(), reply.clone()));
        }
    }
}

fn token(call: &Call) -> Option<(String, String)> {
    let with_tokens = [
        "CreateNatGateway",
        "CreateEgressOnlyInternetGateway",
        "CreateRouteTable",
        "CreateVpcEndpoint",
        "CreateFlowLogs",
    ];
    let token = call.params.get("ClientToken")?;
    with_tokens.contains(&call.action.as_str()).then(|| (call.action.clone(), token.clone()))
}

/// Requests that are valid on AWS, but corrupt moto or have another effect there. The provider must not send them in a
/// test against moto.
fn reject_unsupported(call: &Call) -> Result<(), String> {
    let pool = !call.param("Ipv6Pool").is_empty() || !call.param("Ipv4IpamPoolId").is_empty();
    let host_bits = |text: &str| text.parse::<ipnet::IpNet>().is_ok_and(|net| net.trunc() != net);
    match call.action.as_str() {
        "AssociateVpcCidrBlock" if pool => Err("with a pool it corrupts moto; use recorded HTTP".into()),
        "CreateVpcEndpoint" if call.param("VpcEndpointType").is_empty() => {
            Err("without VpcEndpointType moto cannot delete the endpoint; always send the type".into())
        }
        "CreateRoute" if host_bits(call.param("DestinationCidrBlock")) => {
            Err("a destination with host bits breaks the table in moto; send the canonical form".into())
        }
        _ if call.param("DryRun") == "true" => Err("moto executes a dry run".into()),
        _ => Ok(()),
    }
}

/// AWS accepts one attribute per call; moto accepts several.
fn two_attributes(call: &Call) -> Option<Reply> {
    let identity = match call.action.as_str() {
        "ModifySubnetAttribute" => "SubnetId",
        "ModifyVpcAttribute" => "VpcId",
        _ => return None,
    };
    let attributes =
        call.params.keys().filter(|name| ![identity, "Action", "Version"].contains(&name.as_str())).count();
    let message = "Only one attribute can be modified at a time";
    (attributes > 1).then(|| Reply::error(call, 400, "InvalidParameterCombination", message))
}

/// AWS returns `associated` as the state of a subnet's IPv6 association; moto returns a Python dictionary as text.
fn association_state(reply: Reply) -> Reply {
    let text = reply.text().replace("{'State': 'associated'}", "associated");
    let text = text.replace("{&#39;State&#39;: &#39;associated&#39;}", "associated");
    reply.with_body(text)
}

/// AWS rejects a second explicit route table for a subnet; moto reports success and keeps the first.
async fn associated_with_another_table(
    emulator: &Upstream,
    call: &Call,
    message: &Message,
) -> Result<Option<Reply>, String> {
    let (subnet, table) = (call.param("SubnetId"), call.param("RouteTableId"));
    if subnet.is_empty() {
        return Ok(None);
    }
    let filter = [("Filter.1.Name", "association.subnet-id"), ("Filter.1.Value.1", subnet)];
    let tables = emulator.describe(message, "DescribeRouteTables", &filter).await?;
    let other = tables.items("routeTableSet").iter().any(|found| found.text_of("routeTableId") != table);
    let text = format!("the specified association for route table {table} conflicts with an existing association");
    Ok(other.then(|| Reply::error(call, 400, "Resource.AlreadyAssociated", &text)))
}

/// AWS rejects a second route to an IPv6 destination; moto overwrites the first. (For IPv4, moto rejects it too.) AWS
/// rejects a route to a missing NAT gateway; moto creates a route without a target.
async fn route_exists(emulator: &Upstream, call: &Call, message: &Message) -> Result<Option<Reply>, String> {
    let (table, wanted) = (call.param("RouteTableId"), call.param("DestinationIpv6CidrBlock"));
    if !wanted.is_empty() {
        let tables = emulator.ec2(message, "DescribeRouteTables", &[("RouteTableId.1", table)]).await?;
        // moto itself reports a missing table.
        let taken = tables.is_ok_and(|tables| {
            let routes = tables.items("routeTableSet").iter().flat_map(|table| table.items("routeSet"));
            routes.into_iter().any(|route| route.text_of("destinationIpv6CidrBlock") == wanted)
        });
        if taken {
            let text = format!("The route identified by {wanted} already exists.");
            return Ok(Some(Reply::error(call, 400, "RouteAlreadyExists", &text)));
        }
    }
    let nat = call.param("NatGatewayId");
    if !nat.is_empty() {
        let found = emulator.describe(message, "DescribeNatGateways", &[("NatGatewayId.1", nat)]).await?;
        if found.items("natGatewaySet").is_empty() {
            let text = format!("The natGateway ID '{nat}' does not exist");
            return Ok(Some(Reply::error(call, 400, "InvalidNatGatewayID.NotFound", &text)));
        }
    }
    Ok(None)
}

/// On AWS, the association with a route table is deleted with the subnet. In moto it remains, and blocks the deletion
/// of the table.
async fn disassociate_tables(emulator: &Upstream, call: &Call, message: &Message) -> Result<(), String> {
    let subnet = call.param("SubnetId");
    let filter = [("Filter.1.Name", "association.subnet-id"), ("Filter.1.Value.1", subnet)];
    let tables = emulator.describe(message, "DescribeRouteTables", &filter).await?;
    for association in tables.items("routeTableSet").iter().flat_map(|table| table.items("associationSet")) {
        if association.text_of("subnetId") == subnet {
            let id = association.text_of("routeTableAssociationId");
            // An error is a race with the provider's own disassociation.
            let _lost_race = emulator.ec2(message, "DisassociateRouteTable", &[("AssociationId", id)]).await?;
        }
    }
    Ok(())
}

/// On AWS, the association with a network ACL is deleted with the subnet. In moto it remains, and blocks the deletion
/// of the ACL.
async fn disassociate_acl(emulator: &Upstream, call: &Call, message: &Message) -> Result<(), String> {
    let subnet = call.param("SubnetId");
    let of_subnet = [("Filter.1.Name", "association.subnet-id"), ("Filter.1.Value.1", subnet)];
    let acls = emulator.describe(message, "DescribeNetworkAcls", &of_subnet).await?;
    for acl in acls.items("networkAclSet").iter().filter(|acl| acl.text_of("default") != "true") {
        let vpc = acl.text_of("vpcId");
        let default = [
            ("Filter.1.Name", "vpc-id"),
            ("Filter.1.Value.1", vpc),
            ("Filter.2.Name", "default"),
            ("Filter.2.Value.1", "true"),
        ];
        let default = emulator.describe(message, "DescribeNetworkAcls", &default).await?;
        let default = default.items("networkAclSet").first().map(|acl| acl.text_of("networkAclId").to_owned());
        for association in acl.items("associationSet").iter().filter(|it| it.text_of("subnetId") == subnet) {
            let id = association.text_of("networkAclAssociationId");
            let to_default =
                [("AssociationId", id), ("NetworkAclId", default.as_deref().ok_or("a VPC has a default ACL")?)];
            // An error is a race with another change of the association.
            let _lost_race = emulator.ec2(message, "ReplaceNetworkAclAssociation", &to_default).await?;
        }
    }
    Ok(())
}

/// On AWS, a route to a deleted NAT gateway, egress-only internet gateway or internet gateway is a `blackhole`, as is a
/// route to a detached internet gateway. In moto it stays `active`.
async fn blackholes(nats: &Nats, emulator: &Upstream, message: &Message, reply: Reply) -> Result<Reply, String> {
    let text = reply.text();
    let has_target = |target: &str| text.contains(target);
    let (nat, egress, internet) = ("<natGatewayId>nat-", "<egressOnlyInternetGatewayId>eigw-", "<gatewayId>igw-");
    if ![nat, egress, internet].into_iter().any(has_target) {
        return Ok(reply);
    }
    let alive = if has_target(nat) { nats.alive(emulator, message, &[]).await? } else { Vec::new() };
    let egress_gateways = match has_target(egress) {
        true => emulator.describe(message, "DescribeEgressOnlyInternetGateways", &[]).await?,
        false => Element::default(),
    };
    let internet_gateways = match has_target(internet) {
        true => emulator.describe(message, "DescribeInternetGateways", &[]).await?,
        false => Element::default(),
    };
    let mut existing: Vec<&str> = alive.iter().map(|nat| nat.text_of("natGatewayId")).collect();
    let egress_gateways = egress_gateways.items("egressOnlyInternetGatewaySet").iter();
    existing.extend(egress_gateways.map(|gateway| gateway.text_of("egressOnlyInternetGatewayId")));
    let internet_gateways = internet_gateways.items("internetGatewaySet").iter();
    let attached = internet_gateways.filter(|gateway| !gateway.items("attachmentSet").is_empty());
    existing.extend(attached.map(|gateway| gateway.text_of("internetGatewayId")));

    let mut root = Element::parse(&text)?;
    for table in root.items_mut("routeTableSet") {
        for route in table.items_mut("routeSet") {
            let targets = ["natGatewayId", "egressOnlyInternetGatewayId", "gatewayId"].map(|it| route.text_of(it));
            let is_gateway = |id: &&&str| ["nat-", "eigw-", "igw-"].iter().any(|prefix| id.starts_with(prefix));
            if targets.iter().filter(is_gateway).any(|id| !existing.contains(id)) {
                route.set("state", "blackhole");
            }
        }
    }
    Ok(reply.with_body(root.to_string()))
}

/// AWS filters peering connections by the VPC on either side; moto supports no filters for them.
fn peerings_of_vpc(call: &Call, reply: Reply) -> Result<Reply, String> {
    let mut root = Element::parse(&reply.text())?;
    if let Some(set) = root.child_mut("vpcPeeringConnectionSet") {
        for (name, values) in call.filters() {
            let side = match name {
                "requester-vpc-info.vpc-id" => "requesterVpcInfo",
                "accepter-vpc-info.vpc-id" => "accepterVpcInfo",
                other => return Err(format!("the proxy does not support the filter {other} of peering connections")),
            };
            let vpc = |peering: &Element| peering.child(side).map_or("", |side| side.text_of("vpcId")).to_owned();
            set.children.retain(|peering| values.contains(&vpc(peering).as_str()));
        }
    }
    Ok(reply.with_body(root.to_string()))
}

/// AWS names the missing object; moto fails with an HTML page, or names a route table.
async fn missing_object(emulator: &Upstream, call: &Call, message: &Message, reply: Reply) -> Result<Reply, String> {
    let page = reply.status == 500 && reply.error_code().is_none();
    let (code, text) = match call.action.as_str() {
        "DeleteNatGateway" if page => {
            ("NatGatewayNotFound", format!("The Nat Gateway {} was not found", call.param("NatGatewayId")))
        }
        "ReplaceNetworkAclEntry" | "DeleteNetworkAclEntry" if page => {
            let acl = call.param("NetworkAclId");
            let found = emulator.ec2(message, "DescribeNetworkAcls", &[("NetworkAclId.1", acl)]).await?;
            match found {
                Ok(_) => ("InvalidNetworkAclEntry.NotFound", "The network acl entry does not exist".to_owned()),
                Err(_) => ("InvalidNetworkAclID.NotFound", format!("The networkAcl ID '{acl}' does not exist")),
            }
        }
        "ReplaceNetworkAclAssociation" if page => {
            let id = call.param("AssociationId");
            ("InvalidAssociationID.NotFound", format!("The association ID '{id}' does not exist"))
        }
        "DescribeNetworkAcls" if reply.error_code().as_deref() == Some("InvalidRouteTableID.NotFound") => {
            ("InvalidNetworkAclID.NotFound", "The networkAcl ID does not exist".to_owned())
        }
        _ => return Ok(reply),
    };
    Ok(Reply::error(call, 400, code, &text))
}

/// The answer to a call that the proxy has executed itself.
fn done(call: &Call) -> Reply {
    let action = &call.action;
    Reply::xml(
        200,
        &format!(
            "<{action}Response xmlns=\"http://ec2.amazonaws.com/doc/2016-11-15/\"><requestId>proxy</requestId>\
             <return>true</return></{action}Response>"
        ),
    )
}

/// A query without some of its filters.
fn without_filters(call: &Call, message: Message, is_left_out: fn(&str) -> bool) -> Message {
    let mut params = call.params.clone();
    params.retain(|name, _| !name.starts_with("Filter."));
    let kept = call.filters().into_iter().filter(|(name, _)| !is_left_out(name));
    for (number, (name, values)) in kept.enumerate() {
        params.insert(format!("Filter.{}.Name", number + 1), name.to_owned());
        for (place, value) in values.iter().enumerate() {
            params.insert(format!("Filter.{}.Value.{}", number + 1, place + 1), (*value).to_owned());
        }
    }
    with_params(message, &params)
}

/// A query with other parameters.
fn with_params(message: Message, params: &BTreeMap<String, String>) -> Message {
    let pairs: Vec<String> = params.iter().map(|(name, value)| format!("{name}={}", encode(value))).collect();
    Message { body: pairs.join("&").into(), ..message }
}
