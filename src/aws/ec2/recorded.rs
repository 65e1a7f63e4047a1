//! The recorder of [`crate::aws::recorded`] for EC2: answers in XML, and calls as forms.

use std::collections::BTreeMap;
use std::sync::Mutex;
use std::time::Duration;

use tokio::time::Instant;

use crate::aws::Session;
use crate::aws::calls::Operation;
use crate::aws::recorded::{self as aws, Answer};
use crate::cloud::{Deadlines, Failure, OpContext, Recorder};
use crate::model::TopologyKind;
use crate::model::{GuardDutyObjects, Ids, Key, Learned, ResolvedObject, Unfinished};
use crate::model::{Scope, Timeouts};

/// The VPC of every test.
pub(crate) const VPC: &str = "vpc-1";

/// The owner of every test.
pub(crate) const OWNER: TopologyKind = TopologyKind::FourTierVpc;

/// Answers actions of EC2 in XML.
#[derive(Clone, Debug, Default)]
pub(crate) struct Recorded {
    aws: aws::Recorded,
    slow: Duration,
}

impl Recorded {
    /// Adds an answer of an action: the content of its response element.
    pub(crate) fn on(self, action: &str, inside: &str) -> Recorded {
        let body = format!("<{action}Response><requestId>req-1</requestId>{inside}</{action}Response>");
        self.add(action, 200, body)
    }

    /// Adds an error as an answer of an action.
    pub(crate) fn fail(self, action: &str, status: u16, code: &str, message: &str) -> Recorded {
        let body = format!(
            "<Response><Errors><Error><Code>{code}</Code><Message>{message}</Message></Error></Errors>\
             <RequestID>req-1</RequestID></Response>"
        );
        self.add(action, status, body)
    }

    /// Denies every action without an answer.
    pub(crate) fn denying_others(self) -> Recorded {
        Recorded { aws: self.aws.denying_others(), ..self }
    }

    /// Forgets all answers and calls.
    pub(crate) fn clear(&self) {
        self.aws.clear();
    }

    /// Sets the time that each later answer takes.
    pub(crate) fn slow(self, slow: Duration) -> Recorded {
        Recorded { slow, ..self }
    }

    fn add(self, action: &str, status: u16, body: String) -> Recorded {
        let answer = Answer::After(self.slow, Box::new(Answer::Xml(status, body)));
        Recorded { aws: self.aws.on(action, answer), ..self }
    }

    /// The parameters of every call of an action.
    pub(crate) fn calls(&self, action: &str) -> Vec<BTreeMap<String, String>> {
        self.all_calls().into_iter().filter(|call| call["Action"] == action).collect()
    }

    /// The parameters of every call.
    pub(crate) fn all_calls(&self) -> Vec<BTreeMap<String, String>> {
        self.aws.requests().into_iter().map(|it| serde_json::from_value(it.body).expect("EC2 receives forms")).collect()
    }

    /// The actions that were called, in order.
    pub(crate) fn actions(&self) -> Vec<String> {
        self.aws.calls()
    }

    /// A session of a new process with this EC2. The retries of the SDK are disabled.
    pub(crate) fn session(&self) -> Session {
        let scope = Scope { region: "us-east-1".to_string(), ..Scope::default() };
        Session { scope, process: Default::default(), ..self.aws.session("us-east-1") }
    }
}

/// The ids and learned values that one operation recorded.
#[derive(Default)]
pub(crate) struct Notes {
    pub(crate) ids: Mutex<Vec<String>>,
    pub(crate) learned: Mutex<Learned>,
    /// The ids in state.
    pub(crate) known: Vec<&'static str>,
    /// The texts that became known since the plan.
    pub(crate) new_inputs: std::collections::BTreeSet<String>,
    /// The earlier operation on the object that has not been completed.
    pub(crate) unfinished: Option<Unfinished>,
    /// What a deletion does with the objects of GuardDuty.
    pub(crate) guardduty: GuardDutyObjects,
}

impl Notes {
    /// Runs one operation on an object below the VPC. `ids` are the objects that it needs.
    pub(crate) async fn run<T>(
        &self,
        session: &Session,
        key: &Key,
        ids: &[(&Key, &str)],
        body: impl AsyncFnOnce(&Operation<'_>) -> Result<T, Failure>,
    ) -> Result<T, Failure> {
        self.run_for(session, key, ids, Duration::from_secs(20), body).await
    }

    /// Like [`Notes::run`], with a time limit.
    pub(crate) async fn run_for<T>(
        &self,
        session: &Session,
        key: &Key,
        ids: &[(&Key, &str)],
        limit: Duration,
        body: impl AsyncFnOnce(&Operation<'_>) -> Result<T, Failure>,
    ) -> Result<T, Failure> {
        let mut known = Ids::default();
        for (key, id) in ids {
            known.insert((*key).clone(), ResolvedObject { id: id.to_string(), learned: Learned::new() });
        }
        let record_id = |id: &str| self.ids.lock().unwrap().push(id.to_string());
        let record_learned = |learned| *self.learned.lock().unwrap() = learned;
        let record = Recorder { id: &record_id, learned: &record_learned, usable: &|| () };
        let work = OpContext {
            owner: OWNER,
            root_id: (key.slot != "vpc").then_some(VPC),
            ids: &known,
            unfinished: self.unfinished.clone(),
            known: self.known.iter().map(|id| id.to_string()).collect(),
            deployed: Default::default(),
            new_inputs: &self.new_inputs,
            in_create: false,
            timeouts: &Timeouts::default(),
            deadlines: Deadlines::until(Instant::now() + limit, Default::default()),
            guardduty: self.guardduty,
        };
        body(&Operation { session, work: &work, key, routes: &[], record: Some(&record) }).await
    }

    /// The ids that were recorded, in order.
    pub(crate) fn ids(&self) -> Vec<String> {
        self.ids.lock().unwrap().clone()
    }
}
