//! The permissions for interface endpoints, and for the security groups that networks create for them.
//!
//! The permissions for endpoints of both kinds are in `network.rs`: `CreateVpcEndpoint` in the VPC, `ModifyVpcEndpoint`
//! and `DeleteVpcEndpoints`.

use super::Condition::{InterfaceEndpoint, None as Always, Ours, WithMark};
use super::Policy::InterfaceEndpoints;
use super::{Feature, Needed};

pub(super) const FEATURE: Feature = Feature {
    purposes: &[
        (InterfaceEndpoints, "InterfaceEndpoints", "The interface endpoints", Needed::If(&["interface_endpoints"], "")),
        (
            InterfaceEndpoints,
            "PrivateDns",
            "Associates the private hosted zone of a service with the VPC",
            Needed::If(&["interface_endpoints"], ", or `private_dns_enabled = false` in all of them"),
        ),
        (
            InterfaceEndpoints,
            "EndpointGroups",
            "The security groups that the network creates for interface endpoints",
            Needed::If(&["interface_endpoints"], ", or `security_group_ids` in all of them"),
        ),
        (
            InterfaceEndpoints,
            "CustomGroups",
            "Interface endpoints with your own security groups",
            Needed::If(&["security_group_ids"], ""),
        ),
    ],
    calls: &[(
        "ec2",
        &[
            (InterfaceEndpoints, "InterfaceEndpoints", &["CreateVpcEndpoint"], &["vpc-endpoint"], InterfaceEndpoint),
            (InterfaceEndpoints, "InterfaceEndpoints", &["CreateVpcEndpoint", "ModifyVpcEndpoint"], &["subnet"], Ours),
            (InterfaceEndpoints, "EndpointGroups", &["CreateSecurityGroup"], &["security-group"], WithMark),
            (InterfaceEndpoints, "EndpointGroups", &["CreateSecurityGroup"], &["vpc"], Ours),
            (
                InterfaceEndpoints,
                "EndpointGroups",
                &[
                    "AuthorizeSecurityGroupIngress",
                    "CreateTags",
                    "CreateVpcEndpoint",
                    "DeleteSecurityGroup",
                    "DeleteTags",
                    "ModifyVpcEndpoint",
                    "RevokeSecurityGroupEgress",
                    "RevokeSecurityGroupIngress",
                    "UpdateSecurityGroupRuleDescriptionsIngress",
                ],
                &["security-group"],
                Ours,
            ),
            (
                InterfaceEndpoints,
                "EndpointGroups",
                &["AuthorizeSecurityGroupIngress"],
                &["security-group-rule"],
                Always,
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
            "EndpointGroups",
            "ec2:AuthorizeSecurityGroupIngress",
            "The rule does not exist yet, and the provider sets no tags on it. The call also needs the permission on the \
             group, which has a condition",
        ),
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
