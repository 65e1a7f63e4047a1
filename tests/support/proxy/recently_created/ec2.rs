//! Recently created objects of EC2.

use super::State;
use crate::support::proxy::call::Call;
use crate::support::proxy::message::Reply;
use crate::support::proxy::xml::Element;

/// For each create, the element of the answer that holds the new ID.
const CREATED: &[(&str, &str)] = &[
    ("AllocateAddress", "allocationId"),
    ("AssociateRouteTable", "associationId"),
    ("AssociateSubnetCidrBlock", "associationId"),
    ("AssociateVpcCidrBlock", "associationId"),
    ("AuthorizeSecurityGroupEgress", "securityGroupRuleId"),
    ("AuthorizeSecurityGroupIngress", "securityGroupRuleId"),
    ("CreateEgressOnlyInternetGateway", "egressOnlyInternetGatewayId"),
    ("CreateInternetGateway", "internetGatewayId"),
    ("CreateNatGateway", "natGatewayId"),
    ("CreateRouteTable", "routeTableId"),
    ("CreateSecurityGroup", "groupId"),
    ("CreateSubnet", "subnetId"),
    ("CreateVpc", "vpcId"),
    ("CreateVpcEndpoint", "vpcEndpointId"),
    ("ReplaceRouteTableAssociation", "newAssociationId"),
];

/// For each list, the element of an item that holds its ID.
const LISTED: &[(&str, &str)] = &[
    ("addressesSet", "allocationId"),
    ("associationSet", "routeTableAssociationId"),
    ("cidrBlockAssociationSet", "associationId"),
    ("egressOnlyInternetGatewaySet", "egressOnlyInternetGatewayId"),
    ("internetGatewaySet", "internetGatewayId"),
    ("ipv6CidrBlockAssociationSet", "associationId"),
    ("natGatewaySet", "natGatewayId"),
    ("routeTableSet", "routeTableId"),
    ("securityGroupInfo", "groupId"),
    ("securityGroupRuleSet", "securityGroupRuleId"),
    ("subnetSet", "subnetId"),
    ("vpcEndpointSet", "vpcEndpointId"),
    ("vpcSet", "vpcId"),
];

pub(super) fn rejection(state: &State, call: &Call) -> Option<Reply> {
    // Filters and tags do not refer to objects. All other parameters may.
    let names = |name: &str| !["Filter.", "TagSpecification.", "Tag."].iter().any(|other| name.starts_with(other));
    let mut named = call.params.iter().filter(|(name, _)| names(name)).map(|(_, value)| value);
    if let Some(id) = named.find(|value| state.is_hidden(value)) {
        let (code, kind) = not_found(id, &call.action);
        return Some(Reply::error(call, 400, code, &format!("The {kind} '{id}' does not exist")));
    }
    let hidden = part_of(call).filter(|part| state.is_hidden(part))?;
    let (code, text) = match call.action.as_str() {
        "ReplaceRoute" => {
            let text = "There is no route defined for the destination in the route table. Use CreateRoute instead.";
            ("InvalidParameterValue", text.to_owned())
        }
        "DeleteRoute" => ("InvalidRoute.NotFound", format!("no {hidden}")),
        "DetachInternetGateway" => ("Gateway.NotAttached", format!("no {hidden}")),
        "ReplaceNetworkAclEntry" | "DeleteNetworkAclEntry" => {
            ("InvalidNetworkAclEntry.NotFound", format!("no {hidden}"))
        }
        _ => return None,
    };
    Some(Reply::error(call, 400, code, &text))
}

pub(super) fn without_hidden(state: &mut State, call: &Call, reply: Reply) -> Result<(Reply, bool), String> {
    let created = CREATED.iter().find(|(action, _)| *action == call.action).map(|(_, element)| *element);
    let describes = call.action.starts_with("Describe");
    if created.is_none() && !describes && part_of(call).is_none() {
        return Ok((reply, false));
    }
    match call.action.as_str() {
        "CreateRoute" | "CreateNetworkAclEntry" | "AttachInternetGateway" => {
            state.add(part_of(call).ok_or("a part of an object without a name")?);
        }
        "DeleteRoute" | "DeleteNetworkAclEntry" | "DetachInternetGateway" => {
            state.forget(&part_of(call).ok_or("a part of an object without a name")?);
        }
        _ => {}
    }
    if !describes && created.is_none() {
        return Ok((reply, false));
    }
    let mut root = Element::parse(&reply.text())?;
    if let Some(element) = created {
        let mut ids = Vec::new();
        texts(&root, element, &mut ids);
        for id in ids {
            state.add(id);
        }
        return Ok((reply, false));
    }
    let by_attachment = call.filters().iter().any(|(name, _)| *name == "attachment.vpc-id");
    let hid = prune(state, &mut root, by_attachment);
    Ok(if hid { (reply.with_body(root.to_string()), true) } else { (reply, false) })
}

/// The name of the part of an object that a call creates, changes or deletes, if AWS assigns no ID to the part.
fn part_of(call: &Call) -> Option<String> {
    let destination = ["DestinationCidrBlock", "DestinationIpv6CidrBlock"];
    Some(match call.action.as_str() {
        "CreateRoute" | "ReplaceRoute" | "DeleteRoute" => {
            let destination = destination.iter().map(|name| call.param(name)).find(|value| !value.is_empty())?;
            route(call.param("RouteTableId"), destination)
        }
        "CreateNetworkAclEntry" | "ReplaceNetworkAclEntry" | "DeleteNetworkAclEntry" => {
            entry(call.param("NetworkAclId"), call.param("RuleNumber"), call.param("Egress"))
        }
        "AttachInternetGateway" | "DetachInternetGateway" => attachment(call.param("InternetGatewayId")),
        _ => return None,
    })
}

fn route(table: &str, destination: &str) -> String {
    format!("route to {destination} in {table}")
}

fn entry(acl: &str, number: &str, egress: &str) -> String {
    format!("entry {number} of {acl}, egress {egress}")
}

fn attachment(gateway: &str) -> String {
    format!("attachment of {gateway}")
}

/// Removes hidden objects at every depth. Returns whether there were any.
fn prune(state: &State, element: &mut Element, by_attachment: bool) -> bool {
    let before = element.children.len();
    let (name, items) = (element.name.clone(), &mut element.children);
    if let Some((_, id)) = LISTED.iter().find(|(set, _)| *set == name) {
        items.retain(|item| !state.is_hidden(item.text_of(id)));
    }
    if ["routeTableSet", "networkAclSet", "securityGroupInfo"].contains(&name.as_str()) {
        let own = |item: &Element| ["routeTableId", "networkAclId", "groupId"].map(|id| item.text_of(id).to_owned());
        items.retain(|item| {
            let is_companion = !own(item).iter().any(|id| state.created.contains_key(id));
            !(is_companion && state.hides_companions(item.text_of("vpcId")))
        });
    }
    if name == "internetGatewaySet" && by_attachment {
        items.retain(|item| !state.is_hidden(&attachment(item.text_of("internetGatewayId"))));
    }
    let mut hid = items.len() < before;
    for item in items {
        let id = |id: &str| item.text_of(id).to_owned();
        let (table, acl, gateway) = (id("routeTableId"), id("networkAclId"), id("internetGatewayId"));
        let mut keep = |set: &str, is_hidden: &dyn Fn(&Element) -> bool| {
            if let Some(set) = item.child_mut(set) {
                let before = set.children.len();
                set.children.retain(|part| !is_hidden(part));
                hid |= set.children.len() < before;
            }
        };
        keep("routeSet", &|part| {
            let destinations = ["destinationCidrBlock", "destinationIpv6CidrBlock"].map(|name| part.text_of(name));
            destinations.iter().any(|destination| state.is_hidden(&route(&table, destination)))
        });
        keep("entrySet", &|part| state.is_hidden(&entry(&acl, part.text_of("ruleNumber"), part.text_of("egress"))));
        if !gateway.is_empty() {
            keep("attachmentSet", &|_| state.is_hidden(&attachment(&gateway)));
        }
        hid |= prune(state, item, by_attachment);
    }
    hid
}

/// The texts of all elements of this name.
fn texts(element: &Element, name: &str, found: &mut Vec<String>) {
    for child in &element.children {
        if child.name == name && !child.text.is_empty() {
            found.push(child.text.clone());
        }
        texts(child, name, found);
    }
}

/// The error code for a missing object, and AWS's term for its kind.
fn not_found(id: &str, action: &str) -> (&'static str, &'static str) {
    let is_route = ["CreateRoute", "ReplaceRoute"].contains(&action);
    match id.rsplit_once('-').map_or(id, |(kind, _)| kind) {
        "vpc" => ("InvalidVpcID.NotFound", "vpc ID"),
        // In the calls for endpoints: `vpc_endpoint_subnet_association.go` of hashicorp/terraform-provider-aws.
        "subnet" if action.ends_with("VpcEndpoint") => ("InvalidSubnetId.NotFound", "subnet ID"),
        "subnet" => ("InvalidSubnetID.NotFound", "subnet ID"),
        "sg" => ("InvalidGroup.NotFound", "security group"),
        "igw" if is_route => ("InvalidGatewayID.NotFound", "gateway ID"),
        "igw" => ("InvalidInternetGatewayID.NotFound", "internetGateway ID"),
        "eigw" => ("InvalidGatewayID.NotFound", "gateway ID"),
        "eipalloc" => ("InvalidAllocationID.NotFound", "allocation ID"),
        "nat" if is_route => ("InvalidNatGatewayID.NotFound", "natGateway ID"),
        "nat" => ("NatGatewayNotFound", "Nat Gateway"),
        "rtb" => ("InvalidRouteTableID.NotFound", "routeTable ID"),
        "rtbassoc" => ("InvalidAssociationID.NotFound", "association ID"),
        "vpc-cidr-assoc" => ("InvalidVpcCidrBlockAssociationIdError.NotFound", "vpc CIDR block association ID"),
        "subnet-cidr-assoc" => {
            ("InvalidSubnetCidrBlockAssociationIdError.NotFound", "subnet CIDR block association ID")
        }
        "vpce" if action == "DeleteVpcEndpoints" => ("InvalidVpcEndpoint.NotFound", "Vpc Endpoint Id"),
        "vpce" => ("InvalidVpcEndpointId.NotFound", "Vpc Endpoint Id"),
        "sgr" => ("InvalidSecurityGroupRuleId.NotFound", "security group rule ID"),
        _ => ("InvalidID", "ID"),
    }
}
