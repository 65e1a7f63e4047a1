//! Subnets of a network's VPC that its resource did not create. Their blocks are taken.

use ipnet::{Ipv4Net, Ipv6Net};

/// An unmanaged subnet.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct UnmanagedSubnet {
    /// Its AWS ID.
    pub id: String,
    /// Its IPv4 block.
    pub block: Ipv4Net,
    /// Its IPv6 block.
    pub ipv6_block: Option<Ipv6Net>,
}

impl UnmanagedSubnet {
    /// The name under which the VPC's entry stores them in `learned`. An empty value means that there are none any
    /// more.
    pub const LEARNED: &'static str = "unmanaged_subnets";

    /// The value of [`UnmanagedSubnet::LEARNED`]: `<block> <ID>` or `<block> <ID> <IPv6 block>` of each, separated by
    /// commas, sorted.
    pub fn join(mut subnets: Vec<UnmanagedSubnet>) -> String {
        subnets.sort();
        let text = |subnet: &UnmanagedSubnet| {
            let ipv6 = subnet.ipv6_block.map(|block| format!(" {block}")).unwrap_or_default();
            format!("{} {}{ipv6}", subnet.block, subnet.id)
        };
        subnets.iter().map(text).collect::<Vec<_>>().join(",")
    }

    /// The subnets in a value of [`UnmanagedSubnet::LEARNED`].
    pub fn split(text: &str) -> Vec<UnmanagedSubnet> {
        let subnet = |text: &str| {
            let mut parts = text.split(' ');
            let (block, id) = (parts.next()?.parse().ok()?, parts.next()?.to_string());
            Some(UnmanagedSubnet { id, block, ipv6_block: parts.next().and_then(|block| block.parse().ok()) })
        };
        text.split(',').filter_map(subnet).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn subnets_are_stored_in_the_order_of_their_ids() {
        let subnet = |id: &str, block: &str, ipv6: Option<&str>| UnmanagedSubnet {
            id: id.into(),
            block: block.parse().unwrap(),
            ipv6_block: ipv6.map(|block| block.parse().unwrap()),
        };
        let one = subnet("subnet-1", "10.0.9.0/24", Some("2001:db8:0:1::/64"));
        let two = subnet("subnet-2", "10.0.3.0/28", None);
        let text = UnmanagedSubnet::join(vec![two.clone(), one.clone()]);
        assert_eq!(text, "10.0.9.0/24 subnet-1 2001:db8:0:1::/64,10.0.3.0/28 subnet-2");
        assert_eq!(UnmanagedSubnet::split(&text), [one, two]);
        assert_eq!(UnmanagedSubnet::split(&UnmanagedSubnet::join(vec![])), []);
    }
}
