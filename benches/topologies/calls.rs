//! The calls of one operation in the log of the proxy: their number, their concurrency, and their minimum duration.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use crate::support::proxy::Proxy;
use crate::support::proxy::log::Record;
use crate::topology::{Kind, Topology};

/// The calls of one operation.
#[derive(Debug)]
pub(crate) struct Calls {
    /// The number of calls by action, including retries and polls.
    pub(crate) by_action: BTreeMap<String, usize>,
    /// The number of mutating calls.
    pub(crate) changing: usize,
    /// The number of read calls before the first mutating call.
    pub(crate) reads_before: usize,
    /// The number of read calls after it: fgw waits for its changes, and hashicorp/aws also reads each object again.
    pub(crate) reads_after: usize,
    pub(crate) peak_concurrency: usize,
    /// The time during which the emulator processed at least one call.
    pub(crate) emulator: Duration,
    /// The calls of the longest chain in which each needs the response to the previous one; see [`chain`].
    pub(crate) chain: &'static [&'static str],
    /// Whether the log contains these calls in sequence.
    pub(crate) chain_holds: bool,
    /// The lower bound for fgw: the latency times the length of the chain, plus the wait for NAT gateways.
    pub(crate) bound: Duration,
    /// The sequential calls of the run, found from its last call backward: the predecessor of a call is the one that
    /// ended last before the call started.
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
            reads_before: first_change,
            reads_after: records.len() - first_change - changing,
            peak_concurrency: proxy.peak_concurrency(),
            emulator: busy_time(&records, latency),
            chain,
            chain_holds: is_walked(chain, &records),
            bound: latency * steps + waits.unwrap_or_default(),
            walked: walk(&records),
        }
    }
}

/// The longest chain of calls in which each needs the response to the previous one; empty if none is defined. An apply
/// checks the credentials and reads the AZs twice, because Terraform starts the provider once to plan and once to
/// apply, and plans again in between.
fn chain(kind: Kind, operation: &str) -> &'static [&'static str] {
    match (kind, operation) {
        // Before the provider creates anything, it checks that no killed run has left a network of this name. It
        // creates the VPC first and alone, because the tags of all other objects contain its ID. Elastic IP addresses
        // and subnets exist before the internet gateway is attached, and the route needs an available NAT gateway. The
        // tag that marks the network as complete is set last.
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
        // NAT gateways must be deleted before their subnets and the attachment of the internet gateway, and everything
        // before the VPC.
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

/// Whether the log contains these actions in this order, each started after the previous one had ended.
fn is_walked(chain: &[&str], records: &[Record]) -> bool {
    let mut free: Option<Instant> = None;
    chain.iter().all(|action| {
        let can_follow = |it: &&Record| it.call.action == *action && free.is_none_or(|free| it.started >= free);
        let next = records.iter().filter(can_follow).filter_map(|it| it.ended).min();
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

/// The time during which at least one call had passed the latency and had no response yet.
fn busy_time(records: &[Record], latency: Duration) -> Duration {
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
