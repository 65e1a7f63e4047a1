//! The effects of changes that several inputs have in common.

/// The effect of a change that replaces the subnets of one tier. The text completes "A change ...".
pub(super) const REPLACED_TIER: &str = "replaces the tier's subnets that have no explicit CIDR block; an old subnet that is still \
     in use is listed in `pending_deletion` until a later apply can delete it";

/// The same for a tier that may contain NAT gateways.
pub(super) const REPLACED_TIER_WITH_NAT: &str = "replaces the tier's subnets that have no explicit CIDR block, and the NAT \
     gateways in them, which breaks connections through these gateways; an old subnet that is still in use is listed \
     in `pending_deletion` until a later apply can delete it";

/// The effect of a change of the number of NAT gateways.
pub(super) const NAT_GATEWAYS: &str = "creates or deletes NAT gateways and the Elastic IP addresses that this resource created for them; those in \
     removed AZs go first. Routes switch before a gateway is deleted, but connections through it break";

/// The effect of a change of the flow logs.
pub(super) const FLOW_LOGS: &str = "creates, replaces or deletes flow logs; traffic is not affected";

/// The effect of a change of the interface endpoints.
pub(super) const ENDPOINTS: &str = "creates, changes, replaces or deletes endpoints and their security groups. While an endpoint \
     is created or deleted, the names of its service change between public and private addresses";

/// The effect of a change of the secondary ranges.
pub(super) const SECONDARY_RANGES: &str = "associates or disassociates blocks; a subnet whose block is removed without an entry \
     of its own moves to the primary block, which replaces it";

/// The effect of a change of explicit blocks.
pub(super) const REPLACED_ENTRY: &str =
    "of an entry to another block replaces that subnet; a subnet whose entry is removed keeps its block";

/// The effect of a change that requires another IPv6 range.
pub(super) const OTHER_RANGE: &str = "replaces the IPv6 range. The subnets are kept and get blocks of the new range before \
     the old range is deleted; addresses of the old range are lost";

/// The effect of a change that requires a range of another length.
pub(super) const OTHER_LENGTH: &str =
    "to a length that differs from that of the current IPv6 range replaces the range, as a change of the pool does";

/// The effect of a change in place that gives subnets other IPv6 blocks.
pub(super) const OTHER_BLOCKS: &str = "subnets get other IPv6 blocks, which AWS rejects while network interfaces have \
     addresses of the old ones";

/// The effect of a change of the tiers with IPv6 blocks.
pub(super) const TIERS_WITH_IPV6: &str = "gives the subnets of a tier IPv6 blocks and their route tables IPv6 routes, or takes \
     them; all subnets are kept";
