//! The permissions for networks: the calls of EC2, grouped by their resources.

use super::Condition::{
    GatewayEndpoint, InRegion, InVpc, MarkedOnCreate, None as Always, OfGuardDuty, Ours, Untagged, WithMark,
    WithMarkInVpc,
};
use super::Policy::{NetworkAdoption, NetworkChange, NetworkChange2, NetworkOptions, NetworkRead};
use super::{Associated, Calls, Feature, Kind, Purpose, TAGGABLE, Unrestricted};

/// The purposes of statements.
const PURPOSES: &[Purpose] = &[
    (NetworkRead, "Network", "Reads all objects of a network", ""),
    (
        NetworkRead,
        "Obstacles",
        "Finds unmanaged objects that block a deletion, and virtual private gateways that are new in the configuration",
        "you do not need these objects in messages",
    ),
    (
        NetworkRead,
        "PrefixLists",
        "Looks up the prefix lists that are new in the configuration",
        "no `prefix_list_ids`. With them, the plan then does not report a missing prefix list",
    ),
    (
        NetworkRead,
        "IpamPool",
        "Checks that an IPAM pool has released a range before the provider creates a VPC with that range",
        "no `ipv4_ipam_pool_id` and no `ipv6_ipam_pool_id`",
    ),
    (NetworkChange, "Network", "VPC, subnets, route tables and routes", ""),
    (
        NetworkChange,
        "TagOnCreate",
        "The ownership tags (`fgw:*`) and your tags, in the call that creates an object",
        "",
    ),
    (
        NetworkChange,
        "TagLater",
        "Changes of tags after an object has been created, including `fgw:state`",
        "the role may tag only objects that it creates (see below)",
    ),
    (NetworkChange2, "InternetGateway", "The internet gateway", "`create_igw = false`, or no public tier"),
    (NetworkChange2, "NatGateway", "NAT gateways, public and private", "`num_nat_gateways = 0`"),
    (
        NetworkChange2,
        "ElasticIp",
        "The Elastic IP addresses of NAT gateways",
        "`num_nat_gateways = 0`, `use_custom_nat_eips = true` or `enable_private_nat = true`",
    ),
    (NetworkChange2, "Endpoints", "The endpoints", "`create_vpc_endpoints = false` and no `interface_endpoints`"),
    (
        NetworkChange2,
        "SecurityGroup",
        "Rules and tags of the default security group",
        "`enable_default_security_group = false`",
    ),
    (
        NetworkOptions,
        "CustomAddresses",
        "NAT gateways with your own Elastic IP addresses",
        "`use_custom_nat_eips = false`",
    ),
    (
        NetworkOptions,
        "NatAddresses",
        "Secondary private addresses of NAT gateways",
        "`nat_secondary_private_ip_address_count = 0`",
    ),
    (NetworkOptions, "NetworkAcl", "Rules and tags of the default network ACL", "`apply_default_nacl_rules = false`"),
    (NetworkOptions, "Propagation", "Route propagation from virtual private gateways", "no `<tier>_propagating_vgws`"),
    (NetworkOptions, "Ipv6", "IPv6 ranges and blocks", "`enable_ipv6 = false`"),
    (
        NetworkOptions,
        "GuardDuty",
        "Removes deleted subnets from the endpoint of GuardDuty, or deletes the endpoint and its security group",
        "`delete_guardduty_resources = false`",
    ),
    (NetworkOptions, "IpamPool", "Ranges from IPAM pools", "no `ipv4_ipam_pool_id` and no `ipv6_ipam_pool_id`"),
    (
        NetworkAdoption,
        "Adopt",
        "The first ownership tags of objects that something else created",
        "the network was not adopted, or the adoption is complete",
    ),
];

const CALLS: &[Calls] = &[
    (
        NetworkRead,
        "Network",
        &[
            "DescribeAddresses",
            "DescribeAvailabilityZones",
            "DescribeInternetGateways",
            "DescribeNatGateways",
            "DescribeNetworkAcls",
            "DescribeRouteTables",
            "DescribeSecurityGroupRules",
            "DescribeSecurityGroups",
            "DescribeSubnets",
            "DescribeVpcEndpointServices",
            "DescribeVpcEndpoints",
            "DescribeVpcs",
        ],
        &["*"],
        InRegion,
    ),
    (NetworkRead, "Network", &["DescribeVpcAttribute"], &["vpc"], Always),
    (
        NetworkRead,
        "Obstacles",
        &[
            "DescribeEgressOnlyInternetGateways",
            "DescribeNetworkInterfaces",
            "DescribeVpcPeeringConnections",
            "DescribeVpnGateways",
        ],
        &["*"],
        InRegion,
    ),
    (NetworkRead, "PrefixLists", &["DescribeManagedPrefixLists"], &["*"], InRegion),
    (NetworkRead, "IpamPool", &["GetIpamPoolAllocations"], &["ipam-pool"], Always),
    (NetworkChange, "Network", &["CreateVpc"], &["vpc"], WithMark),
    (NetworkChange, "Network", &["CreateSubnet"], &["subnet"], WithMark),
    (NetworkChange, "Network", &["CreateRouteTable"], &["route-table"], WithMark),
    (
        NetworkChange,
        "Network",
        &["CreateRouteTable", "CreateSubnet", "DeleteVpc", "ModifyVpcAttribute", "ModifyVpcTenancy"],
        &["vpc"],
        Ours,
    ),
    (NetworkChange, "Network", &["DeleteSubnet", "ModifySubnetAttribute"], &["subnet"], Ours),
    (
        NetworkChange,
        "Network",
        &["CreateRoute", "DeleteRoute", "DeleteRouteTable", "ReplaceRoute"],
        &["route-table"],
        Ours,
    ),
    (
        NetworkChange,
        "Network",
        &["AssociateRouteTable", "DisassociateRouteTable", "ReplaceRouteTableAssociation"],
        &["route-table", "subnet"],
        Ours,
    ),
    (NetworkChange, "TagOnCreate", &["CreateTags"], TAGGABLE, MarkedOnCreate),
    (NetworkChange, "TagLater", &["CreateTags", "DeleteTags"], TAGGABLE, Ours),
    (NetworkAdoption, "Adopt", &["CreateTags"], TAGGABLE, Untagged),
    (NetworkChange2, "InternetGateway", &["CreateInternetGateway"], &["internet-gateway"], WithMark),
    (
        NetworkChange2,
        "InternetGateway",
        &["AttachInternetGateway", "DetachInternetGateway"],
        &["internet-gateway", "vpc"],
        Ours,
    ),
    (NetworkChange2, "InternetGateway", &["DeleteInternetGateway"], &["internet-gateway"], Ours),
    (NetworkChange2, "NatGateway", &["CreateNatGateway"], &["natgateway"], WithMark),
    (NetworkChange2, "NatGateway", &["CreateNatGateway"], &["subnet"], Ours),
    (NetworkChange2, "NatGateway", &["DeleteNatGateway"], &["natgateway"], Ours),
    (NetworkChange2, "ElasticIp", &["AllocateAddress"], &["elastic-ip"], WithMark),
    (
        NetworkChange2,
        "ElasticIp",
        &["CreateNatGateway", "DisassociateAddress", "ReleaseAddress"],
        &["elastic-ip"],
        Ours,
    ),
    (NetworkChange2, "ElasticIp", &["DisassociateAddress"], &["network-interface"], Always),
    (NetworkChange2, "Endpoints", &["CreateVpcEndpoint"], &["vpc-endpoint"], GatewayEndpoint),
    (NetworkChange2, "Endpoints", &["CreateVpcEndpoint"], &["route-table", "vpc"], Ours),
    (NetworkChange2, "Endpoints", &["ModifyVpcEndpoint"], &["route-table", "vpc-endpoint"], Ours),
    (NetworkChange2, "Endpoints", &["DeleteVpcEndpoints"], &["vpc-endpoint"], Ours),
    (
        NetworkChange2,
        "SecurityGroup",
        &[
            "AuthorizeSecurityGroupEgress",
            "AuthorizeSecurityGroupIngress",
            "RevokeSecurityGroupEgress",
            "RevokeSecurityGroupIngress",
            "UpdateSecurityGroupRuleDescriptionsEgress",
            "UpdateSecurityGroupRuleDescriptionsIngress",
        ],
        &["security-group"],
        InVpc,
    ),
    (
        NetworkChange2,
        "SecurityGroup",
        &["AuthorizeSecurityGroupEgress", "AuthorizeSecurityGroupIngress"],
        &["security-group-rule"],
        Always,
    ),
    (NetworkChange2, "SecurityGroup", &["CreateTags"], &["security-group"], WithMarkInVpc),
    (NetworkChange2, "SecurityGroup", &["CreateTags", "DeleteTags"], &["security-group"], Ours),
    (NetworkOptions, "CustomAddresses", &["CreateNatGateway"], &["custom-elastic-ip"], Always),
    (
        NetworkOptions,
        "NatAddresses",
        &["AssignPrivateNatGatewayAddress", "UnassignPrivateNatGatewayAddress"],
        &["natgateway"],
        Ours,
    ),
    (
        NetworkOptions,
        "NetworkAcl",
        &["CreateNetworkAclEntry", "DeleteNetworkAclEntry", "ReplaceNetworkAclAssociation", "ReplaceNetworkAclEntry"],
        &["network-acl"],
        InVpc,
    ),
    (NetworkOptions, "NetworkAcl", &["ReplaceNetworkAclAssociation"], &["subnet"], Ours),
    (NetworkOptions, "NetworkAcl", &["CreateTags"], &["network-acl"], WithMarkInVpc),
    (NetworkOptions, "NetworkAcl", &["CreateTags", "DeleteTags"], &["network-acl"], Ours),
    (
        NetworkOptions,
        "Propagation",
        &["DisableVgwRoutePropagation", "EnableVgwRoutePropagation"],
        &["route-table"],
        Ours,
    ),
    (
        NetworkOptions,
        "Propagation",
        &["DisableVgwRoutePropagation", "EnableVgwRoutePropagation"],
        &["vpn-gateway"],
        Always,
    ),
    (NetworkOptions, "GuardDuty", &["DeleteVpcEndpoints", "ModifyVpcEndpoint"], &["vpc-endpoint"], OfGuardDuty),
    (NetworkOptions, "GuardDuty", &["DeleteSecurityGroup"], &["security-group"], OfGuardDuty),
    // The subnet that leaves the endpoint.
    (NetworkOptions, "GuardDuty", &["ModifyVpcEndpoint"], &["subnet"], Ours),
    (NetworkOptions, "Ipv6", &["AssociateVpcCidrBlock", "DisassociateVpcCidrBlock"], &["vpc"], Ours),
    (NetworkOptions, "Ipv6", &["AssociateSubnetCidrBlock", "DisassociateSubnetCidrBlock"], &["subnet"], Ours),
    (NetworkOptions, "IpamPool", &["AssociateVpcCidrBlock", "CreateVpc"], &["ipam-pool"], Always),
];

/// Why no condition restricts a statement, and what to fill in instead.
const UNRESTRICTED: &[Unrestricted] = &[
    (
        NetworkRead,
        "Network",
        "ec2:DescribeVpcAttribute",
        "It changes nothing, and a refresh must report a VPC that has lost its tags",
    ),
    (NetworkRead, "IpamPool", "ec2:GetIpamPoolAllocations", "The pool is yours and has your tags: fill in its ID"),
    (
        NetworkChange2,
        "ElasticIp",
        "ec2:DisassociateAddress",
        "AWS creates the network interfaces of NAT gateways without tags. The call also needs the permission on the \
         address, which has a condition",
    ),
    (
        NetworkChange2,
        "SecurityGroup",
        "ec2:AuthorizeSecurityGroupEgress",
        "The rule does not exist yet, and the provider sets no tags on it. The call also needs the permission on the \
         group, which has a condition",
    ),
    (
        NetworkOptions,
        "CustomAddresses",
        "ec2:CreateNatGateway",
        "The addresses are yours and have your tags: fill in their allocation IDs",
    ),
    (
        NetworkOptions,
        "Propagation",
        "ec2:DisableVgwRoutePropagation",
        "The gateways are yours and have your tags: fill in their IDs. The call also needs the permission on the route \
         table, which has a condition",
    ),
    (
        NetworkOptions,
        "IpamPool",
        "ec2:AssociateVpcCidrBlock",
        "The pools are yours and have your tags: fill in their IDs",
    ),
];

const KINDS: &[Kind] = &[
    ("elastic-ip", "eipalloc-", &["AllocationId", "SecondaryAllocationId"]),
    ("internet-gateway", "igw-", &["InternetGatewayId"]),
    ("ipam-pool", "ipam-pool-", &["IpamPoolId", "Ipv4IpamPoolId", "Ipv6IpamPoolId"]),
    ("natgateway", "nat-", &["NatGatewayId"]),
    ("network-acl", "acl-", &["NetworkAclId"]),
    ("route-table", "rtb-", &["RouteTableId", "AddRouteTableId", "RemoveRouteTableId"]),
    ("security-group", "sg-", &["GroupId", "SecurityGroupId", "AddSecurityGroupId", "RemoveSecurityGroupId"]),
    ("subnet", "subnet-", &["SubnetId", "AddSubnetId", "RemoveSubnetId"]),
    ("vpc", "vpc-", &["VpcId", "ResourceId"]),
    ("vpc-endpoint", "vpce-", &["VpcEndpointId"]),
    ("vpn-gateway", "vgw-", &["GatewayId"]),
];

const ASSOCIATED: &[Associated] = &[
    ("DisassociateAddress", "elastic-ip", ("DescribeAddresses", "addressesSet", "allocationId")),
    ("DisassociateRouteTable", "route-table", ("DescribeRouteTables", "routeTableSet", "routeTableId")),
    // The subnet of an association belongs to the same network as its route table, and has the same tag.
    ("DisassociateRouteTable", "subnet", ("DescribeRouteTables", "routeTableSet", "subnetId")),
    ("DisassociateSubnetCidrBlock", "subnet", ("DescribeSubnets", "subnetSet", "subnetId")),
    ("DisassociateVpcCidrBlock", "vpc", ("DescribeVpcs", "vpcSet", "vpcId")),
    ("ReplaceNetworkAclAssociation", "subnet", ("DescribeNetworkAcls", "networkAclSet", "subnetId")),
    ("ReplaceRouteTableAssociation", "route-table", ("DescribeRouteTables", "routeTableSet", "routeTableId")),
    ("ReplaceRouteTableAssociation", "subnet", ("DescribeRouteTables", "routeTableSet", "subnetId")),
];

pub(super) const FEATURE: Feature = Feature {
    purposes: PURPOSES,
    calls: &[("ec2", CALLS)],
    implied: &[],
    unrestricted: UNRESTRICTED,
    kinds: KINDS,
    associated: ASSOCIATED,
};
