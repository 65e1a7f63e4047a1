//! What the proxy has seen of one operation: how many calls, side by side with how many, and the least time they need.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use crate::support::proxy::Proxy;
use crate::support::proxy::log::Record;
use crate::topology::{Kind, Topology};

/// The calls of one operation.
#[derive(Debug)]
pub(crate) struct Calls {
    /// Retries and polls included.
    pub(crate) by_action: BTreeMap<String, usize>,
    /// Calls that change something.
    pub(crate) changing: usize,
    /// Calls that read, before the first that changes.
    pub(crate) looks: usize,
    /// Calls that read after it: fgw waits for what it has changed, hashicorp/aws also reads each object again.
    pub(crate) looks_while_changing: usize,
    pub(crate) peak_concurrency: usize,
    /// How long the emulator was at work on at least one call.
    pub(crate) emulator: Duration,
    /// The calls of the longest chain in which each needs the answer to the one before; see [`chain`].
    pub(crate) chain: &'static [&'static str],
    /// Whether the log has these calls one after the other.
    pub(crate) chain_holds: bool,
    /// Latency times the chain, and the wait for NAT gateways: the least that fgw can take.
    pub(crate) bound: Duration,
    /// What the run itself did one after the other: from its last call back to the first, always the call whose end
    /// came last before the beginning.
    pub(crate) walked: Vec<String>,
}

impl Calls {
    pub(crate) fn of(proxy: &Proxy, topology: &Topology, operation: &str) -> Self {
        let records = proxy.calls();
        let first_change = records.iter().position(|it| it.call.is_mutation()).unwrap_or(records.len());
        let changing = records.iter().filter(|it| it.call.is_mutation()).count();
        let chain = chain(topology.kind, operation);
        let latency = Duration::from_millis(topology.latency_ms);
        let steps = u32::try_from(chain.len()).expect("a chain has some calls");
        let waits = chain.contains(&"CreateNatGateway").then(|| Duration::from_secs(topology.nat_pending_s));
        Self {
            by_action: proxy.by_action(),
            changing,
            looks: first_change,
            looks_while_changing: records.len() - first_change - changing,
            peak_concurrency: proxy.peak_concurrency(),
            emulator: at_work(&records, latency),
            chain,
            chain_holds: is_walked(chain, &records),
            bound: latency * steps + waits.unwrap_or_default(),
            walked: walk(&records),
        }
    }
}

/// The longest chain of calls in which each needs the answer to the one before, empty where none is stated. An apply
/// checks the credentials and looks up AZs twice: Terraform starts the provider once to plan and once to apply, and
/// plans again in between.
fn chain(kind: Kind, operation: &str) -> &'static [&'static str] {
    match (kind, operation) {
        // Nothing is made before it is known that no killed run has left a network of this name. The VPC is made first
        // and alone, as all else carries its id in its tags. Addresses and subnets are there before the internet
        // gateway is attached, and the route needs a NAT gateway that is ready. The tag that says that all is done
        // comes last.
        (Kind::Network, "apply") => &[
            "GetCallerIdentity",
            "DescribeAvailabilityZones",
            "GetCallerIdentity",
            "DescribeAvailabilityZones",
            "DescribeVpcs",
            "CreateVpc",
            "CreateInternetGateway",
            "AttachInternetGateway",
            "CreateNatGateway",
            "DescribeNatGateways",
            "CreateRoute",
            "CreateTags",
        ],
        (Kind::Network, "plan") => &["GetCallerIdentity", "DescribeSubnets"],
        // A subnet, and the attachment of the internet gateway, must be without NAT gateways; the VPC without anything.
        (Kind::Network, "destroy") => &[
            "GetCallerIdentity",
            "DescribeSubnets",
            "GetCallerIdentity",
            "DeleteNatGateway",
            "DescribeNatGateways",
            "DetachInternetGateway",
            "DeleteInternetGateway",
            "DeleteVpc",
        ],
        _ => &[],
    }
}

/// Whether the log holds these actions in this order, each begun after the one before had ended.
fn is_walked(chain: &[&str], records: &[Record]) -> bool {
    let mut free: Option<Instant> = None;
    chain.iter().all(|action| {
        let begins = |it: &&Record| it.call.action == *action && free.is_none_or(|free| it.started >= free);
        let next = records.iter().filter(begins).filter_map(|it| it.ended).min();
        free = next.or(free);
        next.is_some()
    })
}

fn walk(records: &[Record]) -> Vec<String> {
    let mut walked = Vec::new();
    let mut at = records.iter().max_by_key(|it| it.ended);
    while let Some(record) = at {
        walked.push(record.call.action.clone());
        let before = records.iter().filter(|it| it.ended.is_some_and(|end| end <= record.started));
        at = before.max_by_key(|it| it.ended);
    }
    walked.reverse();
    walked
}

/// The time in which some call had come through the latency and had no answer yet.
fn at_work(records: &[Record], latency: Duration) -> Duration {
    let mut spans: Vec<_> = records
        .iter()
        .filter_map(|it| Some((it.started + latency, it.worked?)))
        .filter(|(from, to)| from < to)
        .collect();
    spans.sort_unstable();
    let (mut sum, mut until) = (Duration::ZERO, None);
    for (from, to) in spans {
        let from = until.map_or(from, |until: Instant| until.max(from));
        sum += to.saturating_duration_since(from);
        until = Some(until.map_or(to, |until| until.max(to)));
    }
    sum
}
