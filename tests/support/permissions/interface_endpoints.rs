//! The permissions for interface endpoints, and for the security groups that networks create for them.
//!
//! The permissions for endpoints of both kinds are in `network.rs`: `CreateVpcEndpoint` in the VPC, `ModifyVpcEndpoint`
//! and `DeleteVpcEndpoints`. So are those for the rules of all security groups in the VPC.

use super::Condition::{InterfaceEndpoint, None as Always, Ours, WithMark};
use super::Feature;
use super::Policy::InterfaceEndpoints;

pub(super) const FEATURE: Feature = Feature {
    purposes: &[
        (InterfaceEndpoints, "InterfaceEndpoints", "The interface endpoints", "no `interface_endpoints`"),
        (
            InterfaceEndpoints,
            "PrivateDns",
            "Associates the private hosted zone of a service with the VPC",
            "`private_dns_enabled = false` in all `interface_endpoints`",
        ),
        (
            InterfaceEndpoints,
            "EndpointGroups",
            "The security groups that the network creates for interface endpoints",
            "`security_group_ids` in all `interface_endpoints`",
        ),
        (
            InterfaceEndpoints,
            "CustomGroups",
            "Interface endpoints with your own security groups",
            "no `security_group_ids`",
        ),
    ],
    calls: &[(
        "ec2",
        &[
            (InterfaceEndpoints, "InterfaceEndpoints", &["CreateVpcEndpoint"], &["vpc-endpoint"], InterfaceEndpoint),
            (InterfaceEndpoints, "InterfaceEndpoints", &["CreateVpcEndpoint"], &["subnet"], Ours),
            (InterfaceEndpoints, "EndpointGroups", &["CreateSecurityGroup"], &["security-group"], WithMark),
            (InterfaceEndpoints, "EndpointGroups", &["CreateSecurityGroup"], &["vpc"], Ours),
            (
                InterfaceEndpoints,
                "EndpointGroups",
                &["CreateVpcEndpoint", "DeleteSecurityGroup", "ModifyVpcEndpoint"],
                &["security-group"],
                Ours,
            ),
            (
                InterfaceEndpoints,
                "CustomGroups",
                &["CreateVpcEndpoint", "ModifyVpcEndpoint"],
                &["custom-security-group"],
                Always,
            ),
        ],
    )],
    implied: &[(
        InterfaceEndpoints,
        "PrivateDns",
        &["route53:AssociateVPCWithHostedZone"],
        &["hostedzone-of-service"],
        Always,
        "An interface endpoint with private DNS associates a hosted zone of the service with the VPC",
        (&["CreateVpcEndpoint", "ModifyVpcEndpoint"], "PrivateDnsEnabled"),
    )],
    unrestricted: &[
        (
            InterfaceEndpoints,
            "CustomGroups",
            "ec2:CreateVpcEndpoint",
            "The groups are yours and have your tags: fill in their IDs",
        ),
        (
            InterfaceEndpoints,
            "PrivateDns",
            "route53:AssociateVPCWithHostedZone",
            "The hosted zones belong to the services, and their IDs are not known",
        ),
    ],
    kinds: &[],
    associated: &[],
};
