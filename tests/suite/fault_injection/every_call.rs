//! Every distinct call to AWS that a whole life makes fails once for good, and every one fails transiently. The calls
//! are found by recording a life without damage.

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

/// What every scripted answer carries as its request id.
const REQUEST_ID: &str = "00000000-0000-4000-8000-00000000fa17";

#[test]
fn every_call_of_a_network_fails_once_for_good() {
    campaign("Every call of a network fails for good", sample(lives(Kind::Network), 3), |life| life.run(Kind::Network));
}

#[test]
fn every_call_of_a_gateway_fails_once_for_good() {
    campaign("Every call of a gateway fails for good", sample(lives(Kind::Gateway), 3), |life| life.run(Kind::Gateway));
}

#[test]
fn every_call_of_a_network_fails_transiently() {
    campaign("Every call of a network fails transiently", sample(shakes(), 2), |shake| shake.run(Kind::Network));
}

#[test]
fn every_call_of_a_gateway_fails_transiently() {
    campaign("Every call of a gateway fails transiently", sample(shakes(), 2), |shake| shake.run(Kind::Gateway));
}

/// What a call does, as far as its failure can matter.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Deed {
    service: String,
    action: String,
    /// It changes the tag `fgw:state` of the root.
    marks_root: bool,
    is_mutation: bool,
}

impl Deed {
    fn of(call: &Call) -> Self {
        let (service, action) = (call.service.clone(), call.action.clone());
        let names_mark = || call.params.iter().any(|(name, value)| format!("{name} {value}").contains("fgw:state"));
        let marks_root = ["CreateTags", "TagResource"].contains(&action.as_str()) && names_mark();
        Self { service, action, marks_root, is_mutation: call.is_mutation() }
    }
}

impl Display for Deed {
    fn fmt(&self, out: &mut Formatter<'_>) -> std::fmt::Result {
        let mark = if self.marks_root { " of fgw:state" } else { "" };
        write!(out, "{}:{}{mark}", self.service, self.action)
    }
}

/// What a life without damage does.
#[derive(Debug)]
struct Clean {
    /// For each phase, how often each call is made before the first one that changes something, and from then on.
    calls: BTreeMap<Phase, BTreeMap<Deed, Counts>>,
    /// How often each call is made by a look at what exists.
    refresh: BTreeMap<Deed, usize>,
    /// The keys in state after the creation, and after the change.
    keys: BTreeMap<Phase, BTreeSet<String>>,
}

#[derive(Clone, Copy, Debug, Default)]
struct Counts {
    early: usize,
    late: usize,
}

impl Clean {
    /// Recorded once for each kind.
    fn of(kind: Kind) -> &'static Self {
        static NETWORK: OnceLock<Clean> = OnceLock::new();
        static GATEWAY: OnceLock<Clean> = OnceLock::new();
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
                    *refresh.entry(Deed::of(&record.call)).or_default() += 1;
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

    /// Whether by design the failure of this call is no more than a warning: the change of `fgw:state`, which some
    /// roles may not make, and a plan's look for what others keep in what it deletes. The latter are the reads that the
    /// plan of a destroy makes beside its look at what exists, and those of a change for the interfaces in subnets and
    /// the paths of domains that it deletes.
    fn only_warns(&self, blow: &Blow) -> bool {
        let seen_before = self.refresh.get(&blow.deed).copied().unwrap_or_default();
        let beside_refresh = match blow.which {
            Which::Every => seen_before == 0,
            Which::Nth(number) => number > seen_before,
        };
        let looks_for_others = match blow.phase {
            Phase::Create => false,
            Phase::Change => {
                let action = blow.deed.action.as_str();
                action == "DescribeNetworkInterfaces" || (action == "GetApiMappings" && beside_refresh)
            }
            Phase::Destroy => blow.moment == Moment::Early && beside_refresh,
        };
        blow.deed.marks_root || (looks_for_others && !blow.deed.is_mutation && blow.deed.service != "sts")
    }
}

fn counts(records: &[Record]) -> BTreeMap<Deed, Counts> {
    let mut counts: BTreeMap<Deed, Counts> = BTreeMap::new();
    let first = records.iter().position(|record| record.call.is_mutation()).unwrap_or(records.len());
    for (position, record) in records.iter().enumerate() {
        let counted = counts.entry(Deed::of(&record.call)).or_default();
        if position < first { counted.early += 1 } else { counted.late += 1 }
    }
    counts
}

/// One call that fails for good, while one phase runs.
#[derive(Clone, Debug)]
struct Blow {
    phase: Phase,
    deed: Deed,
    moment: Moment,
    which: Which,
    damage: Damage,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Moment {
    /// From the start.
    Early,
    /// From the first call on that changes something.
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
    /// Not allowed, and so not done.
    Refused,
    /// More often than the account may.
    Throttled,
    /// Something breaks at AWS before the work is done.
    BrokenBefore,
    /// Something breaks at AWS after the work was done.
    BrokenAfter,
    /// The connection ends before the work is done.
    CutBefore,
    /// The connection ends after the work was done.
    CutAfter,
}

impl Damage {
    /// As the service words it. Status and code are what AWS documents for it.
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

    /// None where no answer comes.
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

impl Display for Blow {
    fn fmt(&self, out: &mut Formatter<'_>) -> std::fmt::Result {
        let Self { phase, deed, moment, which, damage } = self;
        write!(out, "{phase} {deed} {damage:?} {moment:?} {which:?}")
    }
}

impl Blow {
    fn fault(&self) -> Fault {
        let fault = Fault::on("*").when(strikes(self.deed.clone(), self.moment));
        let fault = match self.which {
            Which::Every => fault,
            Which::Nth(number) => fault.nth(number),
        };
        self.damage.strike(fault, &self.deed.service)
    }

    /// Whether by design nothing is shown of this failure. Some roles may look at their own domain only, which then is
    /// asked for by its name. And for an apply Terraform plans again, and folds what that warns of into what the first
    /// plan has, which had an answer.
    fn is_silent(&self) -> bool {
        let is_second_look = self.deed.action == "DescribeNetworkInterfaces" && self.which != Which::Every;
        self.damage == Damage::Refused
            && (self.deed.action == "GetDomainNames" || (self.phase == Phase::Change && is_second_look))
    }

    /// What AWS was asked to delete and has agreed to, with what goes along. Where the look for whether it has left
    /// fails, state names it until the next one.
    fn leaving(&self, calls: &[Record], before: &BTreeMap<String, String>) -> BTreeSet<String> {
        let mut leaving = BTreeSet::new();
        let takes_away = |action: &str| action.starts_with("Delete") || action.starts_with("Disassociate");
        for Record { call, .. } in calls.iter().filter(|it| it.worked.is_some() && takes_away(&it.call.action)) {
            leaving.extend(call.params.values().cloned());
            for destination in ["DestinationCidrBlock", "DestinationIpv6CidrBlock"] {
                leaving.insert(format!("{}_{}", call.param("RouteTableId"), call.param(destination)));
            }
        }
        if before.get("vpc").is_some_and(|vpc| leaving.contains(vpc)) {
            leaving.extend(before.values().cloned());
        }
        // The routes of a table go with it, and the association of a subnet.
        let table = |id: &String| id.split_once('_').map(|(table, _)| table.to_owned());
        let routes = before.values().filter(|id| table(id).is_some_and(|table| leaving.contains(&table)));
        let routes: Vec<String> = routes.cloned().collect();
        leaving.extend(routes);
        let subnets = before.iter().filter(|(_, id)| leaving.contains(*id));
        let associations = subnets.filter_map(|(slot, _)| slot.strip_prefix("subnet."));
        let associations = associations.filter_map(|place| before.get(&format!("route_table_association.{place}")));
        let associations: Vec<String> = associations.cloned().collect();
        leaving.extend(associations);
        if self.deed.is_mutation { BTreeSet::new() } else { leaving }
    }

    /// Runs the phase with this call failing. Says whether anything has been changed.
    fn strike(&self, subject: &Subject, clean: &Clean) -> bool {
        eprintln!("  {self}");
        let calls_before = subject.proxy.calls().len();
        let objects_before = subject.objects();
        subject.proxy.fault(self.fault());
        let run = subject.run(self.phase);
        subject.proxy.clear_faults();
        let calls = subject.proxy.calls().split_off(calls_before);
        assert!(calls.iter().any(|record| record.injected), "{self}: the call is not made\n{run}");
        match run.code {
            0 if clean.only_warns(self) && !self.is_silent() => {
                self.assert_told(&run.stdout, "\nWarning: ", &run, clean);
            }
            0 if self.is_silent() => {
                assert!(!run.says("scripted"), "{self}: a warning at each plan helps nobody\n{run}");
            }
            // The work was done, and the provider has seen it although no answer said so.
            0 if self.damage.is_after_work() => {
                assert!(!run.says("scripted"), "{self}: no secret is made of it\n{run}");
            }
            0 => panic!("{self}: an apply without {} succeeds\n{run}", self.deed),
            1 => self.assert_told(&run.stderr, "\nError: ", &run, clean),
            code => panic!("{self}: terraform ends with {code}\n{run}"),
        }
        eprintln!("    code {}", run.code);
        let leaving = self.leaving(&calls, &objects_before);
        let truth = AssertUnwindSafe(|| subject.assert_state_is_true_but_for(&leaving));
        let truth = catch_unwind(truth);
        assert!(truth.is_ok(), "{self}: state is not true after\n{run}");
        if run.code == 0 && self.phase != Phase::Destroy {
            subject.workspace.assert_nothing_to_do();
        }
        let worked = calls.iter().any(|record| record.call.is_mutation());
        if !worked {
            assert_eq!(subject.objects(), objects_before, "{self}: nothing was done and state has changed\n{run}");
        }
        worked
    }

    /// One diagnostic says what failed, on which object, with the code and the request id of AWS.
    fn assert_told(&self, output: &str, severity: &str, run: &Run, clean: &Clean) {
        let words = |text: &str| text.replace(['│', '╷', '╵'], " ").split_whitespace().collect::<Vec<_>>().join(" ");
        let told = output.split(severity).skip(1).map(words);
        let names = |text: &String| {
            let failed = match self.damage.answer(&self.deed.service) {
                Some((_, code)) => text.contains(code) && text.contains(REQUEST_ID),
                None => text.contains("connection"),
            };
            // What fails early fails for the resource as a whole, which Terraform names.
            let object = self.moment == Moment::Early || clean.names_object(text) || self.deed.marks_root;
            failed && object && text.contains(&self.deed.action)
        };
        assert!(told.into_iter().any(|text| names(&text)), "{self}: the message does not tell\n{run}");
    }
}

impl Clean {
    /// Whether a text names an object by its key.
    fn names_object(&self, text: &str) -> bool {
        let keys = self.keys.values().flatten();
        let named = |word: &str| of_any_account(word.trim_matches(['"', ':', ',', '(', ')']));
        let words: BTreeSet<String> = text.split_whitespace().map(named).collect();
        keys.into_iter().any(|key| words.contains(key) || (key.contains(' ') && text.contains(key)))
    }
}

/// The keys in state, as they are in every account.
fn keys_of(subject: &Subject) -> BTreeSet<String> {
    subject.objects().into_keys().map(|key| of_any_account(&key)).collect()
}

/// A key without the digest of a function's ARN, which has the account in it: `integration.orders.2787f8`.
fn of_any_account(key: &str) -> String {
    let is_digest = |text: &str| text.len() == 6 && text.chars().all(|it| it.is_ascii_hexdigit());
    match key.rsplit_once('.') {
        Some((plain, digest)) if is_digest(digest) => plain.to_owned(),
        _ => key.to_owned(),
    }
}

/// Whether a call is the deed; late only once something has been changed.
fn strikes(deed: Deed, moment: Moment) -> impl Fn(&Call) -> bool + Send + Sync + 'static {
    let changing = AtomicBool::new(false);
    move |call| {
        if call.is_mutation() {
            changing.store(true, Ordering::Relaxed);
        }
        Deed::of(call) == deed && (moment == Moment::Early || changing.load(Ordering::Relaxed))
    }
}

/// From creation to destruction, with blows in the creation and in one later phase. Of the blows in a phase all but the
/// last strike before anything is changed.
#[derive(Clone, Debug)]
struct Life {
    create: Vec<Blow>,
    then: Option<(Phase, Vec<Blow>)>,
}

impl Display for Life {
    fn fmt(&self, out: &mut Formatter<'_>) -> std::fmt::Result {
        let blows: Vec<String> = self.blows().map(ToString::to_string).collect();
        out.write_str(&blows.join(", then "))
    }
}

impl Life {
    fn blows(&self) -> impl Iterator<Item = &Blow> {
        self.create.iter().chain(self.then.iter().flat_map(|(_, blows)| blows))
    }

    fn run(&self, kind: Kind) -> Tally {
        let clean = Clean::of(kind);
        // Each call is sent twice, so that it is seen how often a lost answer's work is done.
        let subject = Subject::with_provider(kind, "  max_retries = 2");
        subject.prepare(Phase::Create);
        let mut tally = Tally::default();
        phase(&subject, Phase::Create, &self.create, clean);
        if let Some((later, blows)) = &self.then {
            tally.add(Tally::of(&subject.proxy));
            subject.turn_to(*later);
            phase(&subject, *later, blows, clean);
        }
        tally.add(Tally::of(&subject.proxy));
        subject.destroy();
        tally
    }
}

fn phase(subject: &Subject, phase: Phase, blows: &[Blow], clean: &Clean) {
    for (position, blow) in blows.iter().enumerate() {
        let worked = blow.strike(subject, clean);
        assert!(!worked || position + 1 == blows.len(), "{blow}: it comes too late for the blows after it");
    }
    match blows.is_empty() {
        true => _ = subject.run(phase).succeeded(),
        false => subject.finish(phase),
    }
}

/// All blows, in as few lives as they fit in.
fn lives(kind: Kind) -> Vec<Life> {
    let clean = Clean::of(kind);
    let mut creates = rounds(clean, Phase::Create).into_iter();
    let later = [Phase::Change, Phase::Destroy].into_iter();
    let later = later.flat_map(|phase| rounds(clean, phase).into_iter().map(move |blows| (phase, blows)));
    let mut lives: Vec<Life> =
        later.map(|then| Life { create: creates.next().unwrap_or_default(), then: Some(then) }).collect();
    lives.extend(creates.map(|create| Life { create, then: None }));
    lives
}

/// The blows of one phase, in groups that fit into one life.
fn rounds(clean: &Clean, phase: Phase) -> Vec<Vec<Blow>> {
    let (mut early, mut late) = (Vec::new(), Vec::new());
    for (deed, counts) in &clean.calls[&phase] {
        let blow = |moment, which, damage| Blow { phase, deed: deed.clone(), moment, which, damage };
        if deed.is_mutation {
            late.extend(
                [Damage::Refused, Damage::BrokenAfter, Damage::CutAfter]
                    .map(|damage| blow(Moment::Late, Which::Every, damage)),
            );
            if counts.late > 1 {
                late.push(blow(Moment::Late, Which::Nth(counts.late.div_ceil(2)), Damage::Refused));
            }
            continue;
        }
        // Reads have no work that could be done or not.
        if counts.early > 0 {
            let every = blow(Moment::Early, Which::Every, Damage::Refused);
            let goes_on = clean.only_warns(&every) || every.is_silent();
            if goes_on { late.push(every) } else { early.push(every) }
        }
        if counts.early > 1 {
            let last = blow(Moment::Early, Which::Nth(counts.early), Damage::Refused);
            let goes_on = clean.only_warns(&last) || last.is_silent();
            if goes_on { late.push(last) } else { early.push(last) }
        }
        if counts.late > 0 {
            late.push(blow(Moment::Late, Which::Every, Damage::Refused));
        }
        if counts.late > 1 {
            late.push(blow(Moment::Late, Which::Nth(counts.late.div_ceil(2)), Damage::Refused));
        }
    }
    let mut early = early.into_iter();
    let mut rounds: Vec<Vec<Blow>> =
        late.into_iter().map(|blow| early.next().into_iter().chain([blow]).collect()).collect();
    rounds.extend(early.map(|blow| vec![blow]));
    rounds
}

/// A whole life in which each distinct call fails once or twice in each phase, and then works.
#[derive(Clone, Copy, Debug)]
struct Shake {
    damage: Damage,
    times: usize,
    moment: Moment,
}

impl Display for Shake {
    fn fmt(&self, out: &mut Formatter<'_>) -> std::fmt::Result {
        let Self { damage, times, moment } = self;
        write!(out, "{damage:?} {times} times, {moment:?}")
    }
}

fn shakes() -> Vec<Shake> {
    let damages = [Damage::CutAfter, Damage::Throttled, Damage::BrokenBefore, Damage::CutBefore, Damage::BrokenAfter];
    let all =
        damages.into_iter().flat_map(|damage| {
            [(1, Moment::Early), (2, Moment::Early), (1, Moment::Late), (2, Moment::Late)]
                .map(|(times, moment)| Shake { damage, times, moment })
        });
    all.collect()
}

impl Shake {
    fn run(self, kind: Kind) -> Tally {
        let clean = Clean::of(kind);
        let subject = Subject::new(kind);
        let mut tally = Tally::default();
        subject.prepare(Phase::Create);
        for phase in Phase::ALL {
            if phase != Phase::Create {
                subject.turn_to(phase);
            }
            for deed in clean.calls[&phase].keys() {
                let fault = Fault::on("*").when(strikes(deed.clone(), self.moment)).first(self.times);
                subject.proxy.fault(self.damage.strike(fault, &deed.service));
            }
            let run = subject.run(phase);
            subject.proxy.clear_faults();
            assert_eq!(run.code, 0, "{phase}: {run}");
            assert!(!run.says("scripted") && !run.says("request id"), "{phase}: the user notices\n{run}");
            tally.add(Tally::of(&subject.proxy));
            subject.proxy.clear_calls();
            subject.assert_state_is_true();
            if phase != Phase::Destroy {
                let keys = keys_of(&subject);
                assert_eq!(keys, clean.keys[&phase], "{phase}: other objects than without damage\n{run}");
                subject.workspace.assert_nothing_to_do();
            }
        }
        subject.destroy();
        tally
    }
}
