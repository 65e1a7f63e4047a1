//! The order in which an endpoint changes its subnets.

use std::collections::BTreeMap;

use super::without;
use crate::aws::Session;
use crate::aws::calls::list_all;
use crate::aws::ec2::filter_any;
use crate::cloud::Failure;

/// The subnets to add and to remove in one call.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Step {
    pub(super) add: Vec<String>,
    pub(super) remove: Vec<String>,
}

impl Step {
    /// The subnets after this step.
    pub(super) fn applied_to(&self, has: &[String]) -> Vec<String> {
        without(&[has, &self.add].concat(), &self.remove)
    }
}

/// One or more steps that change the subnets of an endpoint, with one read if it leaves some and gets others.
pub(super) async fn steps(
    session: &Session,
    has: &[String],
    add: Vec<String>,
    remove: Vec<String>,
) -> Result<Vec<Step>, Failure> {
    if add.is_empty() || remove.is_empty() {
        return Ok(vec![Step { add, remove }]);
    }
    let call = session.ec2.describe_subnets().filters(filter_any("subnet-id", has.iter().chain(&add)));
    let found = list_all("DescribeSubnets", call.into_paginator().items().send()).await?;
    let zone = |it: &aws_sdk_ec2::types::Subnet| {
        Some((it.subnet_id()?.to_string(), it.availability_zone().unwrap_or_default().to_string()))
    };
    let zones: BTreeMap<String, String> = found.iter().filter_map(zone).collect();
    Ok(by_zone(has, add, remove, &zones))
}

/// AWS rejects two subnets in one AZ. So the endpoint first gets those in AZs in which it has none. Then it leaves each
/// of the others before it gets its successor, one AZ after the other, so that it stays reachable in all other AZs.
fn by_zone(
    has: &[String],
    mut add: Vec<String>,
    mut remove: Vec<String>,
    zones: &BTreeMap<String, String>,
) -> Vec<Step> {
    let is_free = |id: &mut String| {
        let zone = zones.get(id);
        zone.is_some() && has.iter().all(|other| zones.get(other).is_some_and(|it| Some(it) != zone))
    };
    let mut steps = vec![Step { add: add.extract_if(.., is_free).collect(), remove: Vec::new() }];
    let mut successors = Vec::new();
    for id in &remove {
        let follows = |it: &mut String| zones.get(it).is_some_and(|zone| zones.get(id) == Some(zone));
        successors.extend(add.extract_if(.., follows).map(|it| (id.clone(), it)));
    }
    for (old, new) in successors {
        remove.retain(|id| *id != old);
        steps.push(Step { add: Vec::new(), remove: vec![old] });
        steps.push(Step { add: vec![new], remove: Vec::new() });
    }
    steps.push(Step { add: Vec::new(), remove });
    // The AZ of a subnet is unknown as long as reads do not show it.
    steps.push(Step { add, remove: Vec::new() });
    steps.retain(|step| *step != Step::default());
    steps
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ids(text: &str) -> Vec<String> {
        text.split_whitespace().map(str::to_string).collect()
    }

    /// The AZ of `b1` is `b`. Those of other names are unknown.
    fn moved(has: &str, add: &str, remove: &str) -> Vec<String> {
        let zone = |id: &String| id[1..].parse::<u8>().ok().map(|_| (id.clone(), id[..1].to_string()));
        let zones = ids(has).iter().chain(&ids(add)).filter_map(zone).collect();
        let steps = by_zone(&ids(has), ids(add), ids(remove), &zones);
        let signed = |sign: &'static str, ids: Vec<String>| ids.into_iter().map(move |id| format!("{sign}{id}"));
        let text = |it: Step| signed("+", it.add).chain(signed("-", it.remove)).collect::<Vec<_>>().join(" ");
        steps.into_iter().map(text).collect()
    }

    #[test]
    fn an_endpoint_keeps_all_zones_but_one() {
        assert_eq!(moved("a1 b1", "a2 b2", "a1 b1"), ["-a1", "+a2", "-b1", "+b2"]);
        assert_eq!(moved("a1 b1", "c1 d1", "a1 b1"), ["+c1 +d1", "-a1 -b1"], "no AZ is left before others are there");
        assert_eq!(moved("a1 b1 c1", "b2", "a1 b1"), ["-b1", "+b2", "-a1"]);
        assert_eq!(moved("a1", "a2", "a1"), ["-a1", "+a2"]);
        assert_eq!(moved("a1 b1", "ax", "a1"), ["-a1", "+ax"], "its AZ may be a");
        assert_eq!(moved("bx", "a1", "bx"), ["-bx", "+a1"], "it may be in a");
    }
}
