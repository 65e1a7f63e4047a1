//! The restrictions of AWS's user guide ("VPC CIDR blocks") on the ranges of one VPC. AWS has loosened some of them
//! without notice, so they are only reasons for warnings.

use ipnet::Ipv4Net;

/// The private blocks that exclude each other.
const PRIVATE: [&str; 4] = ["10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "198.19.0.0/16"];

/// Why AWS may reject a range for a VPC with another one: a clause. A primary range of public addresses, or of
/// 100.64.0.0/10, excludes all private ones.
pub(super) fn between(range: &Ipv4Net, other: &Ipv4Net, is_primary: bool) -> Option<String> {
    let group = |range: &Ipv4Net| PRIVATE.into_iter().find(|whole| is_within(range, whole));
    match (group(range), group(other)) {
        (Some(mine), theirs) if theirs != Some(mine) && (is_primary || theirs.is_some()) => {
            Some(format!("its user guide excludes {mine} together with {}", theirs.unwrap_or("such addresses")))
        }
        _ if is_within(other, "10.0.0.0/15") && is_within(range, "10.0.0.0/16") => {
            Some("its user guide excludes 10.0.0.0/16 together with 10.0.0.0/15".to_string())
        }
        _ if is_within(other, "172.16.0.0/12") && is_within(range, "172.31.0.0/16") => {
            Some("its user guide excludes 172.31.0.0/16 together with 172.16.0.0/12".to_string())
        }
        _ => None,
    }
}

fn is_within(range: &Ipv4Net, whole: &str) -> bool {
    whole.parse::<Ipv4Net>().is_ok_and(|whole| whole.contains(range))
}
