//! Every distinct call to AWS in a whole lifecycle fails permanently once, and every one fails transiently. The calls
//! are found by recording a lifecycle without faults.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::{Display, Formatter};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};

use super::campaign::{Tally, campaign, sample};
use super::subject::{Kind, Phase, Subject};
use crate::support::proxy::call::Call;
use crate::support::proxy::fault::Fault;
use crate::support::proxy::log::Record;
use crate::support::terraform::Run;

/// The request ID of every scripted answer.
const REQUEST_ID: &str = "00000000-0000-4000-8000-00000000fa17";

#[test]
fn a_network_recovers_from_a_permanent_failure_of_every_call() {
    let cases = sample(lifecycles(Kind::Network), 3);
    campaign("Every call of a network fails permanently", cases, |it| it.run(Kind::Network));
}

#[test]
fn a_gateway_recovers_from_a_permanent_failure_of_every_call() {
    let cases = sample(lifecycles(Kind::Gateway), 3);
    campaign("Every call of a gateway fails permanently", cases, |it| it.run(Kind::Gateway));
}

#[test]
fn a_network_survives_transient_failures_of_every_call() {
    campaign("Every call of a network fails transiently", sample(transients(), 2), |it| it.run(Kind::Network));
}

#[test]
fn a_gateway_survives_transient_failures_of_every_call() {
    campaign("Every call of a gateway fails transiently", sample(transients(), 2), |it| it.run(Kind::Gateway));
}

/// A call, as far as it matters for its failure.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct CallKind {
    service: String,
    action: String,
    /// Whether it changes the tag `fgw:state` of the root.
    marks_root: bool,
    is_mutation: bool,
}

impl CallKind {
    fn of(call: &Call) -> Self {
        let (service, action) = (call.service.clone(), call.action.clone());
        let names_mark = || call.params.iter().any(|(name, value)| format!("{name} {value}").contains("fgw:state"));
        let marks_root = ["CreateTags", "TagResource"].contains(&action.as_str()) && names_mark();
        Self { service, action, marks_root, is_mutation: call.is_mutation() }
    }
}

impl Display for CallKind {
    fn fmt(&self, out: &mut Formatter<'_>) -> std::fmt::Result {
        let mark = if self.marks_root { " of fgw:state" } else { "" };
        write!(out, "{}:{}{mark}", self.service, self.action)
    }
}

/// The calls and the objects of a lifecycle without faults.
#[derive(Debug)]
struct Baseline {
    /// For each phase, the number of times each call is made before the first mutating call, and from then on.
    calls: BTreeMap<Phase, BTreeMap<CallKind, Counts>>,
    /// The number of times each call is made by a refresh.
    refresh: BTreeMap<CallKind, usize>,
    /// The keys in state after each phase.
    keys: BTreeMap<Phase, BTreeSet<String>>,
}

#[derive(Clone, Copy, Debug, Default)]
struct Counts {
    early: usize,
    late: usize,
}

impl Baseline {
    /// Recorded once for each kind.
    fn of(kind: Kind) -> &'static Self {
        static NETWORK: OnceLock<Baseline> = OnceLock::new();
        static GATEWAY: OnceLock<Baseline> = OnceLock::new();
        let cell = match kind {
            Kind::Network => &NETWORK,
            Kind::Gateway => &GATEWAY,
        };
        cell.get_or_init(|| Self::record(kind))
    }

    fn record(kind: Kind) -> Self {
        let subject = Subject::new(kind);
        let (mut calls, mut keys, mut refresh) = (BTreeMap::new(), BTreeMap::new(), BTreeMap::new());
        for phase in Phase::ALL {
            subject.prepare(phase);
            if phase == Phase::Destroy {
                subject.workspace.plan(&["-refresh-only"]);
                for record in subject.proxy.calls() {
                    *refresh.entry(CallKind::of(&record.call)).or_default() += 1;
                }
                subject.proxy.clear_calls();
            }
            subject.run(phase).succeeded();
            calls.insert(phase, counts(&subject.proxy.calls()));
            keys.insert(phase, keys_of(&subject));
            if phase == Phase::Change {
                subject.destroy();
            }
        }
        Self { calls, refresh, keys }
    }

    /// Whether a failure of this call is only a warning, by design. That applies to the change of `fgw:state`, which
    /// some roles may not make, and to a plan's search for unmanaged objects in what it deletes. The search consists of
    /// the reads that the plan of a destroy makes in addition to its refresh, and of those that a change makes for the
    /// network interfaces in subnets and the mappings of domains that it deletes.
    fn only_warns(&self, failure: &Failure) -> bool {
        let seen_before = self.refresh.get(&failure.target).copied().unwrap_or_default();
        let in_addition = match failure.which {
            Which::Every => seen_before == 0,
            Which::Nth(number) => number > seen_before,
        };
        let finds_unmanaged = match failure.phase {
            Phase::Create => false,
            Phase::Change => {
                let action = failure.target.action.as_str();
                action == "DescribeNetworkInterfaces" || (action == "GetApiMappings" && in_addition)
            }
            Phase::Destroy => failure.moment == Moment::Early && in_addition,
        };
        failure.target.marks_root || (finds_unmanaged && !failure.target.is_mutation && failure.target.service != "sts")
    }
}

fn counts(records: &[Record]) -> BTreeMap<CallKind, Counts> {
    let mut counts: BTreeMap<CallKind, Counts> = BTreeMap::new();
    let first = records.iter().position(|record| record.call.is_mutation()).unwrap_or(records.len());
    for (position, record) in records.iter().enumerate() {
        let counted = counts.entry(CallKind::of(&record.call)).or_default();
        if position < first { counted.early += 1 } else { counted.late += 1 }
    }
    counts
}

/// A call that fails permanently during one phase.
#[derive(Clone, Debug)]
struct Failure {
    phase: Phase,
    target: CallKind,
    moment: Moment,
    which: Which,
    damage: Damage,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Moment {
    /// From the start.
    Early,
    /// From the first mutating call on.
    Late,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Which {
    Every,
    Nth(usize),
}

/// How a call fails.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Damage {
    /// AWS denies the call and does not execute it.
    Refused,
    /// AWS throttles the call and does not execute it.
    Throttled,
    /// AWS fails before it executes the call.
    BrokenBefore,
    /// AWS fails after it executed the call.
    BrokenAfter,
    /// The connection ends before AWS executes the call.
    CutBefore,
    /// The connection ends after AWS executed the call.
    CutAfter,
}

impl Damage {
    /// Makes a fault fail in this way, with the status and code that AWS documents for the service.
    fn strike(self, fault: Fault, service: &str) -> Fault {
        let fault = match self {
            Damage::BrokenAfter | Damage::CutAfter => fault.after_work(),
            Damage::Refused | Damage::Throttled | Damage::BrokenBefore | Damage::CutBefore => fault,
        };
        match self.answer(service) {
            Some((status, code)) => fault.answer(status, code, "scripted"),
            None => fault.reset(),
        }
    }

    /// `None` if there is no answer.
    fn answer(self, service: &str) -> Option<(u16, &'static str)> {
        match self {
            Damage::Refused => Some(match service {
                "ec2" => (403, "UnauthorizedOperation"),
                "sts" | "route53" => (403, "AccessDenied"),
                "apigateway" | "lambda" => (403, "AccessDeniedException"),
                _ => (400, "AccessDeniedException"),
            }),
            Damage::Throttled => Some(match service {
                "ec2" => (503, "RequestLimitExceeded"),
                "sts" | "route53" => (400, "Throttling"),
                "apigateway" | "lambda" => (429, "TooManyRequestsException"),
                _ => (400, "ThrottlingException"),
            }),
            Damage::BrokenBefore | Damage::BrokenAfter => Some(match service {
                "ec2" => (500, "InternalError"),
                "lambda" => (500, "ServiceException"),
                "sts" | "route53" => (500, "InternalFailure"),
                _ => (500, "InternalServerException"),
            }),
            Damage::CutBefore | Damage::CutAfter => None,
        }
    }

    fn is_after_work(self) -> bool {
        matches!(self, Damage::BrokenAfter | Damage::CutAfter)
    }
}

impl Display for Failure {
    fn fmt(&self, out: &mut Formatter<'_>) -> std::fmt::Result {
        let Self { phase, target, moment, which, damage } = self;
        write!(out, "{phase} {target} {damage:?} {moment:?} {which:?}")
    }
}

impl Failure {
    fn fault(&self) -> Fault {
        let fault = Fault::on("*").when(strikes(self.target.clone(), self.moment));
        let fault = match self.which {
            Which::Every => fault,
            Which::Nth(number) => fault.nth(number),
        };
        self.damage.strike(fault, &self.target.service)
    }

    /// Whether this failure is not reported, by design. Some roles may read only their own domain, which is then read
    /// by its name, and may not look up a hosted zone before its records change. For an apply, Terraform plans again,
    /// and shows only the warnings of the first plan, in which the call succeeded. And a refresh looks up what the plan
    /// of the state's inputs needs, which may be more than the changed ones need: these create no endpoint.
    fn is_silent(&self) -> bool {
        let is_silent_in_change = match self.target.action.as_str() {
            "DescribeNetworkInterfaces" => self.which != Which::Every,
            "DescribeVpcEndpointServices" => true,
            _ => false,
        };
        self.damage == Damage::Refused
            && (["GetDomainNames", "GetHostedZone"].contains(&self.target.action.as_str())
                || (self.phase == Phase::Change && is_silent_in_change))
    }

    /// The IDs of the objects whose deletion AWS has accepted, and of those that are deleted along with them. If the
    /// read that confirms a deletion fails, the state contains them until the next one.
    fn deleted(&self, calls: &[Record], before: &BTreeMap<String, String>) -> BTreeSet<String> {
        let mut deleted = BTreeSet::new();
        let deletes = |action: &str| action.starts_with("Delete") || action.starts_with("Disassociate");
        for Record { call, .. } in calls.iter().filter(|it| it.worked.is_some() && deletes(&it.call.action)) {
            deleted.extend(call.params.values().cloned());
            for destination in ["DestinationCidrBlock", "DestinationIpv6CidrBlock"] {
                deleted.insert(format!("{}_{}", call.param("RouteTableId"), call.param(destination)));
            }
        }
        if before.get("vpc").is_some_and(|vpc| deleted.contains(vpc)) {
            deleted.extend(before.values().cloned());
        }
        // A route table is deleted with its routes, a subnet with its association.
        let table = |id: &String| id.split_once('_').map(|(table, _)| table.to_owned());
        let routes = before.values().filter(|id| table(id).is_some_and(|table| deleted.contains(&table)));
        let routes: Vec<String> = routes.cloned().collect();
        deleted.extend(routes);
        let subnets = before.iter().filter(|(_, id)| deleted.contains(*id));
        let associations = subnets.filter_map(|(slot, _)| slot.strip_prefix("subnet."));
        let associations = associations.filter_map(|place| before.get(&format!("route_table_association.{place}")));
        let associations: Vec<String> = associations.cloned().collect();
        deleted.extend(associations);
        if self.target.is_mutation { BTreeSet::new() } else { deleted }
    }

    /// Whether the call that fails may be missing in a run. How often the provider polls depends on the speed of the
    /// machine, and so does which reads it makes before the first mutating call. The number of mutating calls does not.
    fn may_be_missing(&self, calls: &[Record]) -> bool {
        let is_made = || calls.iter().any(|record| CallKind::of(&record.call) == self.target);
        !self.target.is_mutation && (self.which != Which::Every || self.moment == Moment::Late) && is_made()
    }

    /// Runs the phase with this failure. Returns whether a mutating call was made.
    fn strike(&self, subject: &Subject, baseline: &Baseline) -> bool {
        eprintln!("  {self}");
        let calls_before = subject.proxy.calls().len();
        let objects_before = subject.objects();
        subject.proxy.fault(self.fault());
        let run = subject.run(self.phase);
        subject.proxy.clear_faults();
        let calls = subject.proxy.calls().split_off(calls_before);
        let is_struck = calls.iter().any(|record| record.injected);
        assert!(is_struck || self.may_be_missing(&calls), "{self}: the call is not made\n{run}");
        match run.code {
            0 if !is_struck => assert!(!run.says("scripted"), "{self}: nothing has failed\n{run}"),
            0 if baseline.only_warns(self) && !self.is_silent() => {
                self.assert_reported(&run.stdout, "\nWarning: ", &run, baseline);
            }
            0 if self.is_silent() => {
                assert!(!run.says("scripted"), "{self}: there must be no warning\n{run}");
            }
            // The work was done, and the provider has detected that without an answer.
            0 if self.damage.is_after_work() => {
                assert!(!run.says("scripted"), "{self}: there must be no warning after a success\n{run}");
            }
            0 => panic!("{self}: the apply succeeds without {}\n{run}", self.target),
            1 => self.assert_reported(&run.stderr, "\nError: ", &run, baseline),
            code => panic!("{self}: terraform ends with {code}\n{run}"),
        }
        eprintln!("    code {}", run.code);
        let deleted = self.deleted(&calls, &objects_before);
        let check = AssertUnwindSafe(|| subject.assert_state_is_accurate_except(&deleted));
        let check = catch_unwind(check);
        assert!(check.is_ok(), "{self}: the state is not accurate after\n{run}");
        if run.code == 0 && self.phase != Phase::Destroy {
            subject.workspace.assert_nothing_to_do();
        }
        let worked = calls.iter().any(|record| record.call.is_mutation());
        if !worked {
            assert_eq!(subject.objects(), objects_before, "{self}: only the state has changed\n{run}");
        }
        worked
    }

    /// Panics unless one diagnostic names the failed call and its object, with the code and the request ID of AWS.
    fn assert_reported(&self, output: &str, severity: &str, run: &Run, baseline: &Baseline) {
        let words = |text: &str| text.replace(['│', '╷', '╵'], " ").split_whitespace().collect::<Vec<_>>().join(" ");
        let diagnostics = output.split(severity).skip(1).map(words);
        let names = |text: &String| {
            let failed = match self.damage.answer(&self.target.service) {
                Some((_, code)) => text.contains(code) && text.contains(REQUEST_ID),
                None => text.contains("connection"),
            };
            // An early failure concerns the resource as a whole, which Terraform names.
            let object = self.moment == Moment::Early || baseline.names_object(text) || self.target.marks_root;
            failed && object && text.contains(&self.target.action)
        };
        assert!(diagnostics.into_iter().any(|text| names(&text)), "{self}: no diagnostic describes the failure\n{run}");
    }
}

impl Baseline {
    /// Whether a text names an object by its key.
    fn names_object(&self, text: &str) -> bool {
        let keys = self.keys.values().flatten();
        let named = |word: &str| of_any_account(word.trim_matches(['"', ':', ',', '(', ')']));
        let words: BTreeSet<String> = text.split_whitespace().map(named).collect();
        keys.into_iter().any(|key| words.contains(key) || (key.contains(' ') && text.contains(key)))
    }
}

/// The keys in state, in a form that is the same in every account.
fn keys_of(subject: &Subject) -> BTreeSet<String> {
    subject.objects().into_keys().map(|key| of_any_account(&key)).collect()
}

/// A key without the digest of a function's ARN, which depends on the account: `permission.orders.2787f8`.
fn of_any_account(key: &str) -> String {
    let is_digest = |text: &str| text.len() == 6 && text.chars().all(|it| it.is_ascii_hexdigit());
    match key.rsplit_once('.') {
        Some((plain, digest)) if is_digest(digest) => plain.to_owned(),
        _ => key.to_owned(),
    }
}

/// Whether a call matches; at a late moment, only after the first mutating call.
fn strikes(target: CallKind, moment: Moment) -> impl Fn(&Call) -> bool + Send + Sync + 'static {
    let changing = AtomicBool::new(false);
    move |call| {
        if call.is_mutation() {
            changing.store(true, Ordering::Relaxed);
        }
        CallKind::of(call) == target && (moment == Moment::Early || changing.load(Ordering::Relaxed))
    }
}

/// A lifecycle from creation to destruction, with failures in the creation and in one later phase. All failures of a
/// phase except the last one occur before anything is changed.
#[derive(Clone, Debug)]
struct Lifecycle {
    create: Vec<Failure>,
    then: Option<(Phase, Vec<Failure>)>,
}

impl Display for Lifecycle {
    fn fmt(&self, out: &mut Formatter<'_>) -> std::fmt::Result {
        let failures: Vec<String> = self.failures().map(ToString::to_string).collect();
        out.write_str(&failures.join(", then "))
    }
}

impl Lifecycle {
    fn failures(&self) -> impl Iterator<Item = &Failure> {
        self.create.iter().chain(self.then.iter().flat_map(|(_, failures)| failures))
    }

    /// Runs the lifecycle, and another one with the failures that a change before their turn has precluded.
    fn run(&self, kind: Kind) -> Tally {
        let (mut tally, mut left) = self.run_once(kind);
        while let Some(next) = left.take() {
            let (further, rest) = next.run_once(kind);
            tally.add(further);
            left = rest;
        }
        tally
    }

    fn run_once(&self, kind: Kind) -> (Tally, Option<Lifecycle>) {
        let baseline = Baseline::of(kind);
        // Each call is sent at most twice, so that work that is done twice after a lost answer is noticed.
        let subject = Subject::with_provider(kind, "  max_retries = 2");
        subject.prepare(Phase::Create);
        let mut tally = Tally::default();
        let create = phase(&subject, Phase::Create, &self.create, baseline);
        let mut then = None;
        if let Some((later, failures)) = &self.then {
            tally.add(Tally::of(&subject.proxy));
            subject.configure(*later);
            let precluded = phase(&subject, *later, failures, baseline);
            then = (!precluded.is_empty()).then_some((*later, precluded));
        }
        tally.add(Tally::of(&subject.proxy));
        subject.destroy();
        let is_complete = create.is_empty() && then.is_none();
        (tally, (!is_complete).then_some(Lifecycle { create, then }))
    }
}

/// Runs a phase with its failures one after the other. Returns the failures that come after a change: their moment,
/// before anything is changed, has passed.
fn phase(subject: &Subject, phase: Phase, failures: &[Failure], baseline: &Baseline) -> Vec<Failure> {
    let changed_at = failures.iter().position(|failure| failure.strike(subject, baseline));
    match failures.is_empty() {
        true => _ = subject.run(phase).succeeded(),
        false => subject.finish(phase),
    }
    changed_at.map_or_else(Vec::new, |position| failures[position + 1..].to_vec())
}

/// All failures, in as few lifecycles as possible.
fn lifecycles(kind: Kind) -> Vec<Lifecycle> {
    let baseline = Baseline::of(kind);
    let mut creates = rounds(baseline, Phase::Create).into_iter();
    let later = [Phase::Change, Phase::Destroy].into_iter();
    let later = later.flat_map(|phase| rounds(baseline, phase).into_iter().map(move |failures| (phase, failures)));
    let mut lifecycles: Vec<Lifecycle> =
        later.map(|then| Lifecycle { create: creates.next().unwrap_or_default(), then: Some(then) }).collect();
    lifecycles.extend(creates.map(|create| Lifecycle { create, then: None }));
    lifecycles
}

/// The failures of one phase, in groups that fit into one lifecycle.
fn rounds(baseline: &Baseline, phase: Phase) -> Vec<Vec<Failure>> {
    let (mut early, mut late) = (Vec::new(), Vec::new());
    for (target, counts) in &baseline.calls[&phase] {
        let failure = |moment, which, damage| Failure { phase, target: target.clone(), moment, which, damage };
        if target.is_mutation {
            late.extend(
                [Damage::Refused, Damage::BrokenAfter, Damage::CutAfter]
                    .map(|damage| failure(Moment::Late, Which::Every, damage)),
            );
            if counts.late > 1 {
                late.push(failure(Moment::Late, Which::Nth(counts.late.div_ceil(2)), Damage::Refused));
            }
            continue;
        }
        // A read has no work that could be done or not.
        if counts.early > 0 {
            let every = failure(Moment::Early, Which::Every, Damage::Refused);
            let goes_on = baseline.only_warns(&every) || every.is_silent();
            if goes_on { late.push(every) } else { early.push(every) }
        }
        if counts.early > 1 {
            let last = failure(Moment::Early, Which::Nth(counts.early), Damage::Refused);
            let goes_on = baseline.only_warns(&last) || last.is_silent();
            if goes_on { late.push(last) } else { early.push(last) }
        }
        if counts.late > 0 {
            late.push(failure(Moment::Late, Which::Every, Damage::Refused));
        }
        if counts.late > 1 {
            late.push(failure(Moment::Late, Which::Nth(counts.late.div_ceil(2)), Damage::Refused));
        }
    }
    let mut early = early.into_iter();
    let mut rounds: Vec<Vec<Failure>> =
        late.into_iter().map(|failure| early.next().into_iter().chain([failure]).collect()).collect();
    rounds.extend(early.map(|failure| vec![failure]));
    rounds
}

/// A whole lifecycle in which each distinct call fails once or twice in each phase, and then succeeds.
#[derive(Clone, Copy, Debug)]
struct Transient {
    damage: Damage,
    times: usize,
    moment: Moment,
}

impl Display for Transient {
    fn fmt(&self, out: &mut Formatter<'_>) -> std::fmt::Result {
        let Self { damage, times, moment } = self;
        write!(out, "{damage:?} {times} times, {moment:?}")
    }
}

fn transients() -> Vec<Transient> {
    let damages = [Damage::CutAfter, Damage::Throttled, Damage::BrokenBefore, Damage::CutBefore, Damage::BrokenAfter];
    let all = damages.into_iter().flat_map(|damage| {
        [(1, Moment::Early), (2, Moment::Early), (1, Moment::Late), (2, Moment::Late)]
            .map(|(times, moment)| Transient { damage, times, moment })
    });
    all.collect()
}

impl Transient {
    fn run(self, kind: Kind) -> Tally {
        let baseline = Baseline::of(kind);
        let subject = Subject::new(kind);
        let mut tally = Tally::default();
        subject.prepare(Phase::Create);
        for phase in Phase::ALL {
            if phase != Phase::Create {
                subject.configure(phase);
            }
            for target in baseline.calls[&phase].keys() {
                let fault = Fault::on("*").when(strikes(target.clone(), self.moment)).first(self.times);
                subject.proxy.fault(self.damage.strike(fault, &target.service));
            }
            let run = subject.run(phase);
            subject.proxy.clear_faults();
            assert_eq!(run.code, 0, "{phase}: {run}");
            assert!(!run.says("scripted") && !run.says("request ID"), "{phase}: failures are shown\n{run}");
            tally.add(Tally::of(&subject.proxy));
            subject.proxy.clear_calls();
            subject.assert_state_is_accurate();
            if phase != Phase::Destroy {
                let keys = keys_of(&subject);
                assert_eq!(keys, baseline.keys[&phase], "{phase}: other objects than without faults\n{run}");
                subject.workspace.assert_nothing_to_do();
            }
        }
        subject.destroy();
        tally
    }
}
