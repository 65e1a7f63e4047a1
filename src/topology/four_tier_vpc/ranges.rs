//! The IPv4 ranges of the VPC, and the blocks in them.

use ipnet::Ipv4Net;

use super::config::Config;
use crate::model::Key;
use crate::model::keys::network as keys;
use crate::plugin::{AttributePath, Input, Problem};

/// The ranges that AWS rejects for a VPC with `InvalidVpc.Range`, each with its purpose in RFC 6890.
const RESERVED: [(&str, &str); 4] = [
    ("0.0.0.0/8", "hosts in this network"),
    ("127.0.0.0/8", "loopback"),
    ("169.254.0.0/16", "link-local addresses"),
    ("224.0.0.0/4", "multicast"),
];

/// The whole and the purpose of the reserved ranges that contain a range.
pub(super) fn reserved(range: &Ipv4Net) -> Option<(&'static str, &'static str)> {
    RESERVED.into_iter().find(|(text, _)| text.parse().is_ok_and(|whole: Ipv4Net| whole.contains(range)))
}

/// The secondary ranges of the configuration; `None` while one is unknown. The validation reports those that are no
/// ranges.
pub(super) fn secondary(config: &Config) -> Option<Vec<Ipv4Net>> {
    let all = config.secondary_cidr_blocks.known()?.iter().map(Input::known).collect::<Option<Vec<_>>>()?;
    Some(all.into_iter().filter_map(|text| text.parse::<Ipv4Net>().ok()).map(|range| range.trunc()).collect())
}

/// The key of the secondary range that contains a block. A block that is not known yet is in the primary range, or gets
/// its key later.
pub(super) fn around(config: &Config, block: &Input<String>) -> Option<Key> {
    let block: Ipv4Net = block.known()?.parse().ok()?;
    let range = secondary(config)?.into_iter().find(|range| range.contains(&block))?;
    Some(keys::cidr_block(&range.to_string()))
}

/// The problem of a block in none of the VPC's ranges, of which the first one is the primary one.
pub(super) fn outside(path: AttributePath, block: &Ipv4Net, ranges: &[Ipv4Net]) -> Problem {
    let all = ranges.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ");
    let message = match ranges {
        [only] => format!("{block} is outside the VPC's range {only}."),
        _ => format!("{block} is in none of the VPC's ranges, {all}."),
    };
    Problem::new(path, message, format!("Use a block inside {all}, or add its range to secondary_cidr_blocks."))
}

/// Whether a block is in one of these ranges.
pub(super) fn contain(ranges: &[Ipv4Net], block: &Ipv4Net) -> bool {
    ranges.iter().any(|range| range.contains(block))
}

/// Whether two blocks have an address in common.
pub(super) fn overlap(one: &Ipv4Net, other: &Ipv4Net) -> bool {
    one.contains(other) || other.contains(one)
}
