//! The proxy between provider and emulator, one per test: it logs each call, injects faults by script, repairs what the
//! emulator gets wrong so that the product meets AWS, and fails the test when the emulator does not know a call.

pub(crate) mod call;
pub(crate) mod fault;
mod gate;
mod holds;
pub(crate) mod lasts;
pub(crate) mod log;
pub(crate) mod message;
mod ministack;
mod moto;
mod newborn;
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
use self::fault::{Effect, Fault};
use self::gate::Gate;
use self::holds::Holds;
use self::lasts::Lasts;
use self::log::{Log, Record};
use self::message::{Message, Reply};
pub(crate) use self::moto::zones::Zone;
use self::newborn::Newborns;
use self::throttle::Throttle;
use self::upstream::Upstream;
pub(crate) use self::witness::Witness;
use self::witness::Witnesses;
use super::emulator::{Account, Emulator, Kind};
use super::http;
use super::listing::BotoError;
use super::runtime;
use super::wait::until;
use super::{kept, permissions};

/// A proxy on a loopback port, in front of one account. Dropping it ends it, and panics if [`Proxy::check`] would.
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
    newborns: Newborns,
    holds: Holds,
    gate: Gate,
    witnesses: Witnesses,
    violations: Mutex<Vec<String>>,
    moto: moto::Repairs,
    ministack: ministack::Repairs,
    stop: CancellationToken,
}

/// A request that no log shows and no emulator gets: its answer says only that those before it have arrived.
const FENCE: &str = "/_proxy/fence";

/// What a repair makes of a request before the emulator sees it.
enum Before {
    /// Send this.
    Forward(Message),
    /// Answer this; the emulator does not see the request.
    Answer(Reply),
}

impl Proxy {
    /// In front of moto, for networks, with an account of its own.
    pub(crate) fn moto() -> Self {
        Self::in_account(Emulator::moto().account())
    }

    /// In front of ministack, for gateways, with an account of its own.
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
            newborns: Newborns::default(),
            holds: Holds::default(),
            gate: Gate::default(),
            witnesses: Witnesses::default(),
            violations: Mutex::default(),
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

    /// Adds a fault. Of several that strike a call the first added acts.
    pub(crate) fn fault(&self, fault: Fault) {
        lock(&self.shared.faults).push(fault);
    }

    pub(crate) fn clear_faults(&self) {
        lock(&self.shared.faults).clear();
    }

    /// Every answer comes this much later.
    pub(crate) fn latency(&self, latency: Duration) {
        *lock(&self.shared.latency) = latency;
    }

    /// From now on calls are taken at the rates that AWS documents, with full buckets.
    pub(crate) fn throttle(&self) {
        self.shared.throttle.start();
    }

    /// The same, and only [`Proxy::advance`] fills the buckets again.
    pub(crate) fn throttle_with_stopped_clock(&self) {
        self.shared.throttle.start_stopped();
    }

    /// Lets the time pass in which buckets fill.
    pub(crate) fn advance(&self, by: Duration) {
        self.shared.throttle.advance(by);
    }

    /// Each object that is made from now on is unknown to AWS at first: reading it by its id and using it are answered
    /// with the error that AWS has for its kind, and lists leave it out. Each such answer is a look.
    /// [`Lasts::NOT_AT_ALL`] makes all of them known.
    pub(crate) fn hide_newborns(&self, hidden: Lasts) {
        self.shared.newborns.hide(hidden);
    }

    /// This deleting action of EC2 is refused with `DependencyViolation`, for each object from the first attempt on.
    /// Each refusal is a look.
    pub(crate) fn in_use(&self, action: &str, held: Lasts) {
        self.shared.holds.hold(action, held);
    }

    /// NAT gateways of moto are `pending` after their creation; on AWS for one to three minutes.
    pub(crate) fn nat_pending(&self, pending: Lasts) {
        self.shared.moto.nats.set_pending(pending);
    }

    /// NAT gateways of moto are `deleting`, and hold address, subnet and gateway, after their deletion.
    pub(crate) fn nat_deleting(&self, deleting: Lasts) {
        self.shared.moto.nats.set_deleting(deleting);
    }

    /// The nth NAT gateway made from now on (counted from 1) ends in state `failed` with this code and message.
    pub(crate) fn nat_fails(&self, nth: usize, code: &str, message: &str) {
        self.shared.moto.nats.fail(nth, code, message);
    }

    /// IPAM pools keep the range of a VPC after its deletion; on AWS for up to half an hour.
    pub(crate) fn ipam_releasing(&self, releasing: Lasts) {
        self.shared.moto.ipam.set_releasing(releasing);
    }

    /// AWS stands still from now on: calls are neither carried out nor answered before [`Proxy::go_on`].
    pub(crate) fn stand_still(&self) {
        self.shared.gate.close();
    }

    /// AWS stands still as soon as this many calls are like this: they have begun, or are done and not yet answered.
    pub(crate) fn stand_still_when(&self, count: usize, like: impl Fn(&Record) -> bool + Send + 'static) {
        self.shared.gate.close_when(move |log| log.count(&like) >= count);
    }

    /// Whether that moment has come.
    pub(crate) fn stands_still(&self) -> bool {
        self.shared.gate.is_closed()
    }

    /// AWS carries out and answers what it was asked meanwhile, and goes on.
    pub(crate) fn go_on(&self) {
        self.shared.gate.open();
    }

    /// Goes on, and waits until everything is done that was asked: AWS also does what a process has asked that is dead.
    pub(crate) fn finish_calls(&self) {
        self.go_on();
        // What a process wrote before it died is read before a request that comes later.
        http::get(self.port, FENCE).expect("the proxy answers");
        until("all calls have ended", || self.count_like(|record| record.ended.is_none()) == 0);
    }

    /// Has somebody look at each state that AWS passes through: after every call that changes something, before its
    /// answer and before the next change. Ends with what is returned.
    pub(crate) fn after_each_change(&self, look: impl Fn(&Call) + Send + Sync + 'static) -> Witness {
        self.shared.witnesses.add(look)
    }

    /// The zones that the Region has from now on, in the place of moto's.
    pub(crate) fn zones(&self, zones: &[Zone]) {
        self.shared.moto.zones.set(zones);
    }

    /// What stages of ministack tell of their last deployment from now on; ministack itself tells nothing.
    pub(crate) fn deployment(&self, message: &str) {
        self.shared.ministack.set_deployment(message);
    }

    /// All calls since the start or the last [`Proxy::clear_calls`], in the order of their beginning.
    pub(crate) fn calls(&self) -> Vec<Record> {
        self.shared.log.snapshot()
    }

    /// The calls that change something.
    pub(crate) fn mutations(&self) -> Vec<Record> {
        self.calls().into_iter().filter(|record| record.call.is_mutation()).collect()
    }

    /// Keeps the first `count` calls of the log and forgets the later ones.
    pub(crate) fn keep_calls(&self, count: usize) {
        self.shared.log.keep(count);
    }

    pub(crate) fn clear_calls(&self) {
        self.shared.log.clear();
    }

    /// How often an action was called, retries and failures included.
    pub(crate) fn count(&self, action: &str) -> usize {
        self.calls().iter().filter(|record| record.call.action == action).count()
    }

    /// How many calls are like this; cheap enough to be asked all the time.
    pub(crate) fn count_like(&self, like: impl Fn(&Record) -> bool) -> usize {
        self.shared.log.count(like)
    }

    /// How many calls of an action have been answered with success: for moments such as "after the fifth subnet".
    pub(crate) fn succeeded(&self, action: &str) -> usize {
        let success = |record: &&Record| record.call.action == action && (200..300).contains(&record.status);
        self.calls().iter().filter(success).count()
    }

    pub(crate) fn by_action(&self) -> BTreeMap<String, usize> {
        self.shared.log.by_action()
    }

    /// The most calls that were in flight at one moment.
    pub(crate) fn peak_concurrency(&self) -> usize {
        log::peak(&self.calls())
    }

    /// Waits until `count` calls of an action have been answered with success.
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

    /// Panics if the emulator did not know a call, or was sent what breaks it: then the test has shown nothing.
    pub(crate) fn check(&self) {
        let violations = self.take_violations();
        assert!(
            violations.is_empty(),
            "the emulator cannot play its part:\n{}\nits log ends:\n{}",
            violations.join("\n"),
            self.account().emulator.log_tail()
        );
    }

    /// What [`Proxy::check`] would panic with, and forgets it.
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
                // A connection ends as the client or a fault ends it; the log has what matters.
                _ = connection => {}
            }
        });
    }
}

/// An error here closes the connection, which is what a scripted reset wants.
async fn answer(shared: Arc<Shared>, request: hyper::Request<Incoming>) -> Result<hyper::Response<Full<Bytes>>, Lost> {
    let message = Message::read(request).await.map_err(|_| Lost)?;
    if message.path() == FENCE {
        return Ok(Reply::xml(200, "").into_response());
    }
    // A task of its own: AWS goes on with a call whose caller has gone.
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

/// The fault that acts. Each counts the call, or the number of one would depend on the others.
fn struck_by(faults: &[Fault], call: &Call) -> Option<Fault> {
    let striking: Vec<&Fault> = faults.iter().filter(|fault| fault.strikes(call)).collect();
    striking.first().map(|fault| (*fault).clone())
}

/// What the caller is answered instead; none if the call goes on.
async fn strike(effect: &Effect, call: &Call) -> Result<Option<Reply>, Lost> {
    match effect {
        Effect::Answer { status, code, message } => Ok(Some(Reply::error(call, *status, code, message))),
        Effect::Reset => Err(Lost),
        Effect::Hang => std::future::pending().await,
        Effect::Delay(by) => {
            tokio::time::sleep(*by).await;
            Ok(None)
        }
    }
}

impl Shared {
    /// A call of the provider for which `docs/guides/permissions.md` gives no permission fails the test.
    fn note_undocumented(&self, call: &Call, message: &Message) {
        let is_ours = message.header("user-agent").contains("terraform-provider-fgw/");
        if is_ours && !permissions::knows(&call.service, &call.action) {
            let why = "has no row in tests/support/permissions.rs, from which users take their IAM policies";
            lock(&self.violations).push(format!("{}: {} {why}", call.service, call.action));
        }
    }

    /// The answer to a call, and whether it is not what AWS would answer by itself.
    async fn outcome(&self, call: &Call, message: Message, entry: &log::Entry) -> Result<(Reply, bool), Lost> {
        let fault = struck_by(&lock(&self.faults), call);
        if let Some(fault) = fault.as_ref().filter(|fault| !fault.after_work)
            && let Some(reply) = strike(&fault.effect, call).await?
        {
            return Ok((reply, true));
        }
        if let Some(reply) = self.refused(call) {
            return Ok((reply, true));
        }
        let turn = self.witnesses.turn(call).await;
        let (reply, changed) = self.emulate(call, message).await;
        turn.look(call).await;
        entry.worked();
        self.gate.logged(&self.log);
        if let Some(fault) = fault.as_ref().filter(|fault| fault.after_work)
            && let Some(reply) = strike(&fault.effect, call).await?
        {
            return Ok((reply, true));
        }
        Ok((reply, changed))
    }

    /// What AWS answers without any work, where a test has told it to.
    fn refused(&self, call: &Call) -> Option<Reply> {
        self.throttle.before(call).or_else(|| self.newborns.before(call)).or_else(|| self.holds.before(call))
    }

    /// The emulator's answer, repaired, and whether newborns were taken out of it; or, where it does not know the call,
    /// an error that an SDK does not retry.
    async fn emulate(&self, call: &Call, message: Message) -> (Reply, bool) {
        let answer = self.repaired(call, message).await.and_then(|reply| self.newborns.after(call, reply));
        answer.unwrap_or_else(|violation| {
            let violation = format!("{}: {violation}", call.action);
            lock(&self.violations).push(violation.clone());
            (Reply::error(call, 400, "EmulatorCannot", &violation), false)
        })
    }

    async fn repaired(&self, call: &Call, message: Message) -> Result<Reply, String> {
        if call.is_unknown() {
            return Err("the proxy does not know this method and path".into());
        }
        let kind = self.upstream.account.emulator.kind;
        let before = match kind {
            Kind::Moto => self.moto.before(&self.upstream, call, message.clone()).await?,
            Kind::Ministack => ministack::before(&self.upstream, call, message.clone()).await?,
        };
        let reply = match before {
            Before::Answer(reply) => return Ok(reply),
            Before::Forward(sent) => {
                let reply = self.upstream.forward(call, &sent).await?;
                // moto looks through its tables, before it changes them, while another call may be adding to them, and
                // then ends in an error of Python's. AWS has no such moment.
                let has_crashed = kind == Kind::Moto && reply.status == 500 && is_page(&reply);
                if has_crashed { self.upstream.forward(call, &sent).await? } else { reply }
            }
        };
        let reply = match kind {
            Kind::Moto => self.moto.after(&self.upstream, call, &message, reply).await?,
            Kind::Ministack => self.ministack.after(&self.upstream, call, &message, reply).await?,
        };
        match not_implemented(&reply) {
            Some(why) => Err(why),
            None => Ok(reply),
        }
    }
}

/// How the emulators say that they do not know an action: none of it is an answer that AWS gives to a known one.
fn not_implemented(reply: &Reply) -> Option<String> {
    let text = reply.text();
    let code = reply.error_code().unwrap_or_default();
    let page = reply.status >= 400 && is_page(reply);
    let unknown = ["InvalidAction", "InvalidOperationException", "UnknownOperationException"].contains(&code.as_str());
    let path = reply.status == 404 && text.contains("Unknown API Gateway path");
    (page || unknown || path || reply.status == 501)
        .then(|| format!("not implemented: {} {}", reply.status, text.chars().take(400).collect::<String>()))
}

/// Whether it is for people to read: the web server of an emulator answers like that, and AWS's API never.
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
