//! The proxy between provider and emulator, one per test. It logs each call, injects scripted faults, corrects the
//! emulator where it differs from AWS, and fails the test if the emulator does not support a call.

mod authorization;
pub(crate) mod call;
pub(crate) mod clients;
pub(crate) mod fault;
mod gate;
mod holds;
pub(crate) mod lasts;
pub(crate) mod log;
pub(crate) mod message;
mod ministack;
mod moto;
mod recently_created;
mod throttle;
mod upstream;
mod witness;
pub(crate) mod xml;

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

use http_body_util::Full;
use hyper::body::{Bytes, Incoming};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use serde_json::Value;
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;

use self::call::Call;
pub(crate) use self::clients::Clients;
use self::fault::{Effect, Fault};
use self::gate::Gate;
use self::holds::Holds;
use self::lasts::Lasts;
use self::log::{Log, Record};
use self::message::{Message, Reply};
pub(crate) use self::ministack::domains::TrustStore;
pub(crate) use self::moto::zones::Zone;
use self::recently_created::RecentlyCreated;
use self::throttle::Throttle;
use self::upstream::Upstream;
pub(crate) use self::witness::Witness;
use self::witness::Witnesses;
use super::deployments::{self, Deployments};
use super::emulator::{Account, Emulator, Kind};
use super::http;
use super::listing::BotoError;
use super::runtime;
use super::wait::until;
use super::{kept, permissions};

/// A proxy on a loopback port, in front of one account. Dropping it stops it, and panics if [`Proxy::check`] would.
#[derive(Debug)]
pub(crate) struct Proxy {
    port: u16,
    shared: Arc<Shared>,
}

#[derive(Debug)]
struct Shared {
    upstream: Upstream,
    log: Log,
    faults: Mutex<Vec<Fault>>,
    latency: Mutex<Duration>,
    throttle: Throttle,
    recently_created: RecentlyCreated,
    holds: Holds,
    gate: Gate,
    witnesses: Witnesses,
    violations: Mutex<Vec<String>>,
    /// The configurations whose statements the role of the provider has. `None` is a role with all statements.
    configurations: Mutex<Option<Vec<String>>>,
    moto: moto::Repairs,
    ministack: ministack::Repairs,
    stop: CancellationToken,
}

/// The path of a request that is neither logged nor forwarded. Its answer shows that all earlier requests have arrived.
const FENCE: &str = "/_proxy/fence";

/// The decision of a repair on a request.
enum Before {
    /// Forward this message.
    Forward(Message),
    /// Return this answer, and do not forward the request.
    Answer(Reply),
}

impl Proxy {
    /// In front of moto, for networks, with its own account.
    pub(crate) fn moto() -> Self {
        Self::in_account(Emulator::moto().account())
    }

    /// In front of ministack, for gateways, with its own account.
    pub(crate) fn ministack() -> Self {
        Self::in_account(Emulator::ministack().account())
    }

    pub(crate) fn in_account(account: Account) -> Self {
        let shared = Arc::new(Shared {
            upstream: Upstream::new(account),
            log: Log::default(),
            faults: Mutex::default(),
            latency: Mutex::default(),
            throttle: Throttle::default(),
            recently_created: RecentlyCreated::default(),
            holds: Holds::default(),
            gate: Gate::default(),
            witnesses: Witnesses::default(),
            violations: Mutex::default(),
            configurations: Mutex::default(),
            moto: moto::Repairs::default(),
            ministack: ministack::Repairs::default(),
            stop: CancellationToken::new(),
        });
        let listener = runtime().block_on(TcpListener::bind(("127.0.0.1", 0))).expect("loopback has free ports");
        let port = listener.local_addr().expect("a bound socket has an address").port();
        runtime().spawn(serve(listener, Arc::clone(&shared)));
        Self { port, shared }
    }

    pub(crate) fn endpoint(&self) -> String {
        format!("http://127.0.0.1:{}", self.port)
    }

    pub(crate) fn port(&self) -> u16 {
        self.port
    }

    pub(crate) fn account(&self) -> &Account {
        &self.shared.upstream.account
    }

    /// Adds a fault. If several affect a call, the one that was added first applies.
    pub(crate) fn fault(&self, fault: Fault) {
        lock(&self.shared.faults).push(fault);
    }

    pub(crate) fn clear_faults(&self) {
        lock(&self.shared.faults).clear();
    }

    /// Delays every answer by this time.
    pub(crate) fn latency(&self, latency: Duration) {
        *lock(&self.shared.latency) = latency;
    }

    /// Applies the rate limits that AWS documents from now on, with full buckets.
    pub(crate) fn throttle(&self) {
        self.shared.throttle.start();
    }

    /// The same with a stopped clock: only [`Proxy::advance`] refills the buckets.
    pub(crate) fn throttle_with_stopped_clock(&self) {
        self.shared.throttle.start_stopped();
    }

    /// Advances the stopped clock that refills the buckets.
    pub(crate) fn advance(&self, by: Duration) {
        self.shared.throttle.advance(by);
    }

    /// Hides each object that is created from now on: reads by its ID and calls that use it return the error of AWS for
    /// a missing object of its kind, and lists omit it. Each such answer counts for [`Lasts::Answers`].
    /// [`Lasts::NOT_AT_ALL`] makes all objects visible.
    pub(crate) fn hide_new_objects(&self, hidden: Lasts) {
        self.shared.recently_created.hide(hidden);
    }

    /// Rejects this delete action of EC2 with `DependencyViolation`: per object, from the first attempt on. Each
    /// rejection counts for [`Lasts::Answers`].
    pub(crate) fn in_use(&self, action: &str, held: Lasts) {
        self.shared.holds.hold(action, held);
    }

    /// How long NAT gateways of moto are `pending` after their creation; on AWS, one to three minutes.
    pub(crate) fn nat_pending(&self, pending: Lasts) {
        self.shared.moto.nats.set_pending(pending);
    }

    /// How long NAT gateways of moto are `deleting`, and use their address, subnet and internet gateway, after their
    /// deletion.
    pub(crate) fn nat_deleting(&self, deleting: Lasts) {
        self.shared.moto.nats.set_deleting(deleting);
    }

    /// The nth NAT gateway that is created from now on (counted from 1) ends in state `failed` with this code and
    /// message.
    pub(crate) fn nat_fails(&self, nth: usize, code: &str, message: &str) {
        self.shared.moto.nats.fail(nth, code, message);
    }

    /// These AZs have no NAT gateways from now on.
    pub(crate) fn zones_without_nat_gateways(&self, zone_ids: &[&str]) {
        self.shared.moto.nats.constrain(zone_ids);
    }

    /// How long interface endpoints of moto are `pending` after their creation, a change or their acceptance; on AWS,
    /// one to three minutes.
    pub(crate) fn endpoint_pending(&self, pending: Lasts) {
        self.shared.moto.interface_endpoints.set_pending(pending);
    }

    /// How long interface endpoints of moto are `deleting`, and keep their private DNS names.
    pub(crate) fn endpoint_deleting(&self, deleting: Lasts) {
        self.shared.moto.interface_endpoints.set_deleting(deleting);
    }

    /// How long the network interface of an interface endpoint exists after the endpoint was deleted or has left the
    /// subnet; on AWS, some minutes. Lists of it and deletions that it blocks count for [`Lasts::Answers`].
    pub(crate) fn endpoint_interfaces(&self, lasts: Lasts) {
        self.shared.moto.endpoint_interfaces.set_lasts(lasts);
    }

    /// The VPC links of this account of ministack have their network interfaces in the VPCs of moto.
    pub(crate) fn has_links_of(&self, gateways: Account) {
        self.shared.moto.link_interfaces.set(gateways);
    }

    /// The nth interface endpoint that is created from now on (counted from 1) ends in state `failed` with this error.
    pub(crate) fn endpoint_fails(&self, nth: usize, code: &str, message: &str) {
        self.shared.moto.interface_endpoints.fail(nth, code, message);
    }

    /// Adds an endpoint service of another account in these AZs, such as
    /// `com.amazonaws.vpce.us-east-1.vpce-svc-0123456789abcdef0`. Its owner has to accept each endpoint.
    pub(crate) fn endpoint_service(&self, name: &str, zones: &[&str], private_dns_name: Option<&str>) {
        self.shared.moto.endpoint_services.add(name, zones, private_dns_name);
    }

    /// The owners of endpoint services accept, or reject, all endpoints that wait for them.
    pub(crate) fn answer_endpoint_requests(&self, are_accepted: bool) {
        self.shared.moto.interface_endpoints.answer_requests(are_accepted);
    }

    /// How many flow logs a VPC may have.
    pub(crate) fn limit_flow_logs(&self, limit: usize) {
        self.shared.moto.flow_logs.set_limit(limit);
    }

    /// From now on, two flow logs of a VPC conflict if only their destinations are equal.
    pub(crate) fn one_flow_log_to_each_destination(&self) {
        self.shared.moto.flow_logs.compare_only_destinations();
    }

    /// How long the secondary ranges of VPCs are associating and disassociating; on AWS, some seconds.
    pub(crate) fn ranges_changing(&self, changing: Lasts) {
        self.shared.moto.cidr_blocks.set(changing);
    }

    /// Lets the next association of a secondary range fail with this status message.
    pub(crate) fn fail_next_range(&self, message: &str) {
        self.shared.moto.cidr_blocks.fail(message);
    }

    /// How long the IPv6 ranges of VPCs and subnets are associating; on AWS, some seconds.
    pub(crate) fn ipv6_associating(&self, associating: Lasts) {
        self.shared.moto.associating.set(associating);
    }

    /// AWS shows the IPv6 ranges that are not from IPAM as brought to it by the customer.
    pub(crate) fn brings_ipv6_ranges(&self) {
        self.shared.moto.ipam.bring();
    }

    /// How long IPAM pools keep a range allocated that its VPC no longer has; on AWS, up to half an hour.
    pub(crate) fn ipam_releasing(&self, releasing: Lasts) {
        self.shared.moto.ipam.set_releasing(releasing);
    }

    /// How long updates of custom domains of ministack take; on AWS, some minutes. Reads of the domain count for
    /// [`Lasts::Answers`].
    pub(crate) fn domains_updating(&self, updating: Lasts) {
        self.shared.ministack.domains.set_lasts(updating);
    }

    /// Adds a trust store to S3, or replaces it. An empty version is the current one.
    pub(crate) fn truststore(&self, uri: &str, version: &str, store: TrustStore) {
        self.shared.ministack.domains.add_store(uri, version, store);
    }

    /// Starts the TLS endpoint of the custom domains.
    pub(crate) fn clients(&self) -> Clients {
        Clients::start(Arc::clone(&self.shared))
    }

    /// Pauses AWS: calls are neither executed nor answered before [`Proxy::resume`].
    pub(crate) fn pause(&self) {
        self.shared.gate.close();
    }

    /// Pauses AWS as soon as `count` calls match. A matching call may just have begun, or may be done and not yet
    /// answered.
    pub(crate) fn pause_when(&self, count: usize, like: impl Fn(&Record) -> bool + Send + 'static) {
        self.shared.gate.close_when(move |log| log.count(&like) >= count);
    }

    /// Whether AWS is paused.
    pub(crate) fn is_paused(&self) -> bool {
        self.shared.gate.is_closed()
    }

    /// Resumes AWS: it executes and answers the pending calls.
    pub(crate) fn resume(&self) {
        self.shared.gate.open();
    }

    /// Resumes AWS, and waits until all calls have ended. AWS also executes the calls of a killed process.
    pub(crate) fn finish_calls(&self) {
        self.resume();
        // The proxy reads the earlier requests of a killed process before this one.
        http::get(self.port, FENCE).expect("the proxy answers");
        until("all calls have ended", || self.count_like(|record| record.ended.is_none()) == 0);
    }

    /// Calls `observe` for each state that AWS passes through: after every call that changes something, before its
    /// answer and before the next change. Ends when the returned value is dropped.
    pub(crate) fn after_each_change(&self, observe: impl Fn(&Call) + Send + Sync + 'static) -> Witness {
        self.shared.witnesses.add(observe)
    }

    /// Replaces moto's zones of the Region.
    pub(crate) fn zones(&self, zones: &[Zone]) {
        self.shared.moto.zones.set(zones);
    }

    /// Changes how and when ministack deploys the changes of APIs.
    pub(crate) fn deployments(&self, settings: Deployments<'_>) {
        deployments::set(self.account(), settings);
    }

    /// Sets the quota of routes per API. The default is AWS's 300.
    pub(crate) fn route_quota(&self, most: usize) {
        self.shared.ministack.set_route_quota(most);
    }

    /// All calls since the start or the last [`Proxy::clear_calls`], in the order in which they began.
    pub(crate) fn calls(&self) -> Vec<Record> {
        self.shared.log.snapshot()
    }

    /// How often each action was called among the mutating calls in the log.
    pub(crate) fn mutation_counts(&self) -> BTreeMap<String, usize> {
        let mut counts = BTreeMap::new();
        for record in self.mutations() {
            *counts.entry(record.call.action).or_default() += 1;
        }
        counts
    }

    /// The calls that change something.
    pub(crate) fn mutations(&self) -> Vec<Record> {
        self.calls().into_iter().filter(|record| record.call.is_mutation()).collect()
    }

    /// Keeps the first `count` calls of the log, and removes the later ones.
    pub(crate) fn keep_calls(&self, count: usize) {
        self.shared.log.keep(count);
    }

    pub(crate) fn clear_calls(&self) {
        self.shared.log.clear();
    }

    /// The number of calls of an action, including retries and failures.
    pub(crate) fn count(&self, action: &str) -> usize {
        self.calls().iter().filter(|record| record.call.action == action).count()
    }

    /// The number of matching calls. It is cheap enough to poll.
    pub(crate) fn count_like(&self, like: impl Fn(&Record) -> bool) -> usize {
        self.shared.log.count(like)
    }

    /// The number of successful calls of an action, for moments such as "after the fifth subnet".
    pub(crate) fn succeeded(&self, action: &str) -> usize {
        let success = |record: &&Record| record.call.action == action && (200..300).contains(&record.status);
        self.calls().iter().filter(success).count()
    }

    pub(crate) fn by_action(&self) -> BTreeMap<String, usize> {
        self.shared.log.by_action()
    }

    /// The largest number of calls that were in flight at the same time.
    pub(crate) fn peak_concurrency(&self) -> usize {
        log::peak(&self.calls())
    }

    /// Waits until `count` calls of an action have succeeded.
    pub(crate) fn wait_for(&self, action: &str, count: usize) {
        until(&format!("{count} calls of {action} have succeeded"), || self.succeeded(action) >= count);
    }

    /// A boto3 call through this proxy.
    pub(crate) fn boto(&self, service: &str, method: &str, arguments: Value) -> Value {
        self.try_boto(service, method, arguments.clone())
            .unwrap_or_else(|error| panic!("{service}.{method}({arguments}) fails: {error:?}"))
    }

    pub(crate) fn try_boto(&self, service: &str, method: &str, arguments: Value) -> Result<Value, BotoError> {
        self.account().try_boto_at(&self.endpoint(), service, method, arguments)
    }

    /// Panics if the emulator did not support a call, or received one that corrupts it, because then the test proves
    /// nothing.
    pub(crate) fn check(&self) {
        let violations = self.take_violations();
        assert!(
            violations.is_empty(),
            "the emulator cannot serve this test:\n{}\nend of its log:\n{}",
            violations.join("\n"),
            self.account().emulator.log_tail()
        );
    }

    /// From now on, the provider has only those statements of the permissions guide that one of the configurations of
    /// this test needs.
    pub(crate) fn has_policies_of_configurations(&self) {
        lock(&self.shared.configurations).get_or_insert_default();
    }

    /// Adds a configuration to those, in HCL or JSON. An object may outlive the configuration that needed it.
    pub(crate) fn uses(&self, configuration: &str) {
        if let Some(all) = lock(&self.shared.configurations).as_mut() {
            all.push(configuration.to_owned());
        }
    }

    /// Returns and clears the violations with which [`Proxy::check`] would panic.
    pub(crate) fn take_violations(&self) -> Vec<String> {
        std::mem::take(&mut lock(&self.shared.violations))
    }
}

impl Drop for Proxy {
    fn drop(&mut self) {
        self.shared.stop.cancel();
        if !std::thread::panicking() {
            self.check();
        }
        if let Some(directory) = kept::directory() {
            let calls: String = self.calls().iter().map(|record| format!("{record}\n")).collect();
            kept::write(&directory, &format!("calls-{}.txt", self.port), &calls);
            let emulator = self.account().emulator;
            kept::write(&directory, &format!("{:?}.log", emulator.kind).to_lowercase(), &emulator.log_tail());
        }
    }
}

async fn serve(listener: TcpListener, shared: Arc<Shared>) {
    loop {
        let stream = tokio::select! {
            () = shared.stop.cancelled() => return,
            accepted = listener.accept() => match accepted {
                Ok((stream, _)) => stream,
                Err(error) => {
                    lock(&shared.violations).push(format!("the proxy cannot accept: {error}"));
                    return;
                }
            },
        };
        let shared = Arc::clone(&shared);
        tokio::spawn(async move {
            let service = service_fn(|request| answer(Arc::clone(&shared), request));
            let connection = http1::Builder::new().serve_connection(TokioIo::new(stream), service);
            tokio::select! {
                () = shared.stop.cancelled() => {}
                // The client or a fault may end the connection. The log has the result.
                _ = connection => {}
            }
        });
    }
}

/// An error closes the connection, as a scripted reset requires.
async fn answer(shared: Arc<Shared>, request: hyper::Request<Incoming>) -> Result<hyper::Response<Full<Bytes>>, Lost> {
    let message = Message::read(request).await.map_err(|_| Lost)?;
    if message.path() == FENCE {
        return Ok(Reply::xml(200, "").into_response());
    }
    // A separate task, because AWS finishes a call even if its caller disconnects.
    let task = tokio::spawn(async move {
        let stop = shared.stop.clone();
        tokio::select! {
            () = stop.cancelled() => Err(Lost),
            done = handle(&shared, message) => done,
        }
    });
    task.await.map_err(|_| Lost)?.map(Reply::into_response)
}

async fn handle(shared: &Shared, message: Message) -> Result<Reply, Lost> {
    let call = Call::parse(&message);
    let entry = shared.log.begin(&call);
    shared.gate.logged(&shared.log);
    shared.note_undocumented(&call, &message);
    let latency = *lock(&shared.latency);
    tokio::time::sleep(latency).await;
    shared.gate.pass().await;
    let outcome = shared.outcome(&call, message, &entry).await;
    shared.gate.pass().await;
    match outcome {
        Ok((reply, injected)) => {
            entry.end(&reply, injected);
            Ok(reply)
        }
        Err(Lost) => {
            entry.end_without_answer();
            Err(Lost)
        }
    }
}

/// The fault that applies. Every fault counts the call, so that the count of one does not depend on the others.
fn struck_by(faults: &[Fault], call: &Call) -> Option<Fault> {
    let striking: Vec<&Fault> = faults.iter().filter(|fault| fault.strikes(call)).collect();
    striking.first().map(|fault| (*fault).clone())
}

/// The scripted answer; `None` if the call continues.
async fn strike(effect: &Effect, call: &Call) -> Result<Option<Reply>, Lost> {
    match effect {
        Effect::Answer { status, code, message } => Ok(Some(Reply::error(call, *status, code, message))),
        Effect::Page => Ok(Some(Reply::page())),
        Effect::Reset => Err(Lost),
        Effect::Hang => std::future::pending().await,
        Effect::Delay(by) => {
            tokio::time::sleep(*by).await;
            Ok(None)
        }
    }
}

impl Shared {
    /// A call of the provider that `docs/guides/permissions.md` does not cover fails the test.
    fn note_undocumented(&self, call: &Call, message: &Message) {
        if is_ours(message) && !permissions::covers(&call.service, &call.action) {
            let why = "has no row below tests/support/permissions, the source of the documented IAM policies";
            lock(&self.violations).push(format!("{}: {} {why}", call.service, call.action));
        }
    }

    /// The answer to a call, and whether AWS by itself would have answered differently.
    async fn outcome(&self, call: &Call, message: Message, entry: &log::Entry) -> Result<(Reply, bool), Lost> {
        let fault = struck_by(&lock(&self.faults), call);
        if let Some(fault) = fault.as_ref().filter(|fault| !fault.after_work)
            && let Some(reply) = strike(&fault.effect, call).await?
        {
            return Ok((reply, true));
        }
        if let Some(reply) = self.rejected(call) {
            return Ok((reply, true));
        }
        let turn = self.witnesses.turn(call).await;
        let (reply, changed) = self.emulate(call, message).await;
        turn.observe(call).await;
        entry.worked();
        self.gate.logged(&self.log);
        if let Some(fault) = fault.as_ref().filter(|fault| fault.after_work)
            && let Some(reply) = strike(&fault.effect, call).await?
        {
            return Ok((reply, true));
        }
        Ok((reply, changed))
    }

    /// AWS's answer without executing the call, if a test has set one.
    fn rejected(&self, call: &Call) -> Option<Reply> {
        self.throttle.before(call).or_else(|| self.recently_created.before(call)).or_else(|| self.holds.before(call))
    }

    /// The corrected answer of the emulator, and whether recently created objects were removed from it. If the emulator
    /// does not support the call, an error that SDKs do not retry.
    async fn emulate(&self, call: &Call, message: Message) -> (Reply, bool) {
        let refused = self.refused(call, &message).await;
        let answer = self.repaired(call, message).await.and_then(|reply| self.recently_created.after(call, reply));
        if answer.as_ref().is_ok_and(|(reply, _)| !authorization::is_missing(reply)) {
            lock(&self.violations).extend(refused);
        }
        answer.unwrap_or_else(|violation| {
            let violation = format!("{}: {violation}", call.action);
            lock(&self.violations).push(violation.clone());
            (Reply::error(call, 400, "EmulatorCannot", &violation), false)
        })
    }

    /// The violations of a call of the provider that the policies of the guide do not allow.
    async fn refused(&self, call: &Call, message: &Message) -> Vec<String> {
        let is_local = self.upstream.account.emulator.kind == Kind::LocalStack;
        if is_local || !is_ours(message) || !permissions::covers(&call.service, &call.action) {
            return vec![];
        }
        let configurations = lock(&self.configurations).clone();
        match authorization::refused(&self.upstream, call, message, configurations.as_deref()).await {
            Ok(refused) => refused.into_iter().map(|why| format!("{}: {why}", call.action)).collect(),
            Err(error) => vec![format!("{}: its permissions cannot be checked: {error}", call.action)],
        }
    }

    async fn repaired(&self, call: &Call, message: Message) -> Result<Reply, String> {
        if call.is_unknown() {
            return Err("the proxy does not recognize this method and path".into());
        }
        let kind = self.upstream.account.emulator.kind;
        let before = match kind {
            Kind::Moto => self.moto.before(&self.upstream, call, message.clone()).await?,
            Kind::Ministack => self.ministack.before(&self.upstream, call, message.clone()).await?,
            Kind::LocalStack => Before::Forward(message.clone()),
        };
        let reply = match before {
            Before::Answer(reply) => return Ok(reply),
            Before::Forward(sent) => {
                let reply = self.upstream.forward(call, &sent).await?;
                // Before a change, moto iterates over its tables, and fails with a Python error if another call adds to
                // them at the same time. AWS has no such race. Nothing has changed then, so the call is repeated.
                let has_crashed = kind == Kind::Moto && reply.status == 500 && is_page(&reply);
                if has_crashed { self.upstream.forward(call, &sent).await? } else { reply }
            }
        };
        let reply = match kind {
            Kind::Moto => self.moto.after(&self.upstream, call, &message, reply).await?,
            Kind::Ministack => self.ministack.after(&self.upstream, call, &message, reply).await?,
            Kind::LocalStack => reply,
        };
        match not_implemented(&reply) {
            Some(why) => Err(why),
            None => Ok(reply),
        }
    }
}

/// Whether the provider sent the request.
fn is_ours(message: &Message) -> bool {
    message.header("user-agent").contains("terraform-provider-fgw/")
}

/// The reason if the emulator does not implement an action. AWS returns none of these answers for an existing action.
fn not_implemented(reply: &Reply) -> Option<String> {
    let text = reply.text();
    let code = reply.error_code().unwrap_or_default();
    let page = reply.status >= 400 && is_page(reply);
    let unknown = ["InvalidAction", "InvalidOperationException", "UnknownOperationException"].contains(&code.as_str());
    let path = reply.status == 404 && text.contains("Unknown API Gateway path");
    (page || unknown || path || reply.status == 501)
        .then(|| format!("not implemented: {} {}", reply.status, text.chars().take(400).collect::<String>()))
}

/// Whether the answer is an HTML page, as the web server of an emulator returns it. AWS's API never does.
fn is_page(reply: &Reply) -> bool {
    let content = reply.headers.get("content-type").and_then(|value| value.to_str().ok()).unwrap_or_default();
    content.starts_with("text/html")
}

/// The connection ends without an answer.
#[derive(Debug)]
struct Lost;

impl std::fmt::Display for Lost {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.write_str("connection ended by script")
    }
}

impl std::error::Error for Lost {}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().expect("no one panics while holding a lock of the proxy")
}
