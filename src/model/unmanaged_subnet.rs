//! Subnets of a network's VPC that its resource did not create. Their blocks are taken.

use ipnet::Ipv4Net;

/// An unmanaged subnet.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct UnmanagedSubnet {
    /// Its AWS ID.
    pub id: String,
    /// Its IPv4 block.
    pub block: Ipv4Net,
}

impl UnmanagedSubnet {
    /// The name under which the VPC's entry stores them in `learned`. An empty value means that there are none any
    /// more.
    pub const LEARNED: &'static str = "unmanaged_subnets";

    /// The value of [`UnmanagedSubnet::LEARNED`]: `<block> <ID>` of each, separated by commas, sorted.
    pub fn join(mut subnets: Vec<UnmanagedSubnet>) -> String {
        subnets.sort();
        subnets.iter().map(|subnet| format!("{} {}", subnet.block, subnet.id)).collect::<Vec<_>>().join(",")
    }

    /// The subnets in a value of [`UnmanagedSubnet::LEARNED`].
    pub fn split(text: &str) -> Vec<UnmanagedSubnet> {
        let subnet = |text: &str| {
            let (block, id) = text.split_once(' ')?;
            Some(UnmanagedSubnet { id: id.to_string(), block: block.parse().ok()? })
        };
        text.split(',').filter_map(subnet).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn subnets_are_stored_in_the_order_of_their_ids() {
        let subnet = |id: &str, block: &str| UnmanagedSubnet { id: id.into(), block: block.parse().unwrap() };
        let (one, two) = (subnet("subnet-1", "10.0.9.0/24"), subnet("subnet-2", "10.0.3.0/28"));
        let text = UnmanagedSubnet::join(vec![two.clone(), one.clone()]);
        assert_eq!(text, "10.0.9.0/24 subnet-1,10.0.3.0/28 subnet-2");
        assert_eq!(UnmanagedSubnet::split(&text), [one, two]);
        assert_eq!(UnmanagedSubnet::split(&UnmanagedSubnet::join(vec![])), []);
    }
}
