//! Recorded HTTP responses of EC2 for tests: the answers of each action, and a list of the calls.

use std::collections::{BTreeMap, HashMap, VecDeque};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use aws_smithy_runtime_api::client::http::{
    HttpClient, HttpConnector, HttpConnectorFuture, HttpConnectorSettings, SharedHttpConnector,
};
use aws_smithy_runtime_api::client::orchestrator::{HttpRequest, HttpResponse};
use aws_smithy_runtime_api::client::runtime_components::RuntimeComponents;
use aws_smithy_types::body::SdkBody;
use aws_smithy_types::retry::RetryConfig;
use tokio::time::Instant;

use crate::aws::Session;
use crate::aws::calls::Operation;
use crate::cloud::{Deadlines, Failure, OpContext, Recorder};
use crate::model::TopologyKind;
use crate::model::{GuardDutyObjects, Ids, Key, Learned, ResolvedObject, Spec};
use crate::model::{Scope, Timeouts};

/// The VPC of every test.
pub(crate) const VPC: &str = "vpc-1";

/// The owner of every test.
pub(crate) const OWNER: TopologyKind = TopologyKind::FourTierVpc;

/// Status and body of each answer, in order.
type Answers = VecDeque<(u16, String)>;

/// EC2 with a list of answers for each action. The last answer of an action is repeated.
#[derive(Clone, Debug, Default)]
pub(crate) struct Recorded {
    answers: Arc<Mutex<HashMap<String, Answers>>>,
    calls: Arc<Mutex<Vec<BTreeMap<String, String>>>>,
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

    /// Forgets all answers and calls.
    pub(crate) fn clear(&self) {
        self.answers.lock().unwrap().clear();
        self.calls.lock().unwrap().clear();
    }

    /// Sets the time that each answer takes.
    pub(crate) fn slow(self, slow: Duration) -> Recorded {
        Recorded { slow, ..self }
    }

    fn add(self, action: &str, status: u16, body: String) -> Recorded {
        self.answers.lock().unwrap().entry(action.to_string()).or_default().push_back((status, body));
        self
    }

    /// The parameters of every call of an action.
    pub(crate) fn calls(&self, action: &str) -> Vec<BTreeMap<String, String>> {
        self.calls.lock().unwrap().iter().filter(|call| call["Action"] == action).cloned().collect()
    }

    /// The actions that were called, in order.
    pub(crate) fn actions(&self) -> Vec<String> {
        self.calls.lock().unwrap().iter().map(|call| call["Action"].clone()).collect()
    }

    /// A session with this EC2. The retries of the SDK are disabled.
    pub(crate) fn session(&self) -> Session {
        let region = aws_types::region::Region::new("us-east-1");
        let keys = aws_credential_types::Credentials::new("AKIATEST", "secret", None, None, "test");
        let ec2 = aws_sdk_ec2::Config::builder()
            .behavior_version(aws_sdk_ec2::config::BehaviorVersion::v2026_01_12())
            .region(region)
            .credentials_provider(keys)
            .retry_config(RetryConfig::disabled())
            .http_client(self.clone())
            .build();
        /// A service that is not called here.
        macro_rules! config {
            ($sdk:ident) => {
                $sdk::Config::builder()
                    .behavior_version($sdk::config::BehaviorVersion::v2026_01_12())
                    .http_client(self.clone())
                    .build()
            };
        }
        Session {
            scope: Scope { region: "us-east-1".to_string(), ..Scope::default() },
            ec2: aws_sdk_ec2::Client::from_conf(ec2),
            apigateway: aws_sdk_apigatewayv2::Client::from_conf(config!(aws_sdk_apigatewayv2)),
            logs: aws_sdk_cloudwatchlogs::Client::from_conf(config!(aws_sdk_cloudwatchlogs)),
            acm: aws_sdk_acm::Client::from_conf(config!(aws_sdk_acm)),
            kms: aws_sdk_kms::Client::from_conf(config!(aws_sdk_kms)),
            route53: aws_sdk_route53::Client::from_conf(config!(aws_sdk_route53)),
            lambda_config: config!(aws_sdk_lambda),
            pollers: Default::default(),
            process: Default::default(),
        }
    }
}

impl HttpConnector for Recorded {
    fn call(&self, request: HttpRequest) -> HttpConnectorFuture {
        let call = parameters(request.body().bytes().expect("EC2 requests are held in memory"));
        let action = call["Action"].clone();
        self.calls.lock().unwrap().push(call);
        let mut answers = self.answers.lock().unwrap();
        let queue = answers.get_mut(&action).unwrap_or_else(|| panic!("no answer is recorded for {action}"));
        let (status, body) = if queue.len() > 1 { queue.pop_front() } else { queue.front().cloned() }
            .expect("an answer is added with its queue");
        let status = status.try_into().expect("a recorded status is a valid status");
        let mut response = HttpResponse::new(status, SdkBody::from(body));
        response.headers_mut().insert("x-amzn-requestid", "req-1");
        let slow = self.slow;
        HttpConnectorFuture::new(async move {
            if !slow.is_zero() {
                tokio::time::sleep(slow).await;
            }
            Ok(response)
        })
    }
}

impl HttpClient for Recorded {
    fn http_connector(&self, _: &HttpConnectorSettings, _: &RuntimeComponents) -> SharedHttpConnector {
        SharedHttpConnector::new(self.clone())
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
    /// The spec last applied to the object.
    pub(crate) before: Option<Spec>,
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
            before: self.before.as_ref(),
            known: self.known.iter().map(|id| id.to_string()).collect(),
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

/// The parameters of a request of EC2, whose body is a form.
fn parameters(body: &[u8]) -> BTreeMap<String, String> {
    let body = std::str::from_utf8(body).expect("a form is ASCII");
    body.split('&').filter_map(|pair| pair.split_once('=')).map(|(key, value)| (decode(key), decode(value))).collect()
}

fn decode(text: &str) -> String {
    let mut bytes = Vec::new();
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        match byte {
            b'+' => bytes.push(b' '),
            b'%' => {
                let digits = [rest.next().expect("two digits follow"), rest.next().expect("two digits follow")];
                let digits = std::str::from_utf8(&digits).expect("hexadecimal digits are ASCII");
                bytes.push(u8::from_str_radix(digits, 16).expect("digits are hexadecimal"));
            }
            other => bytes.push(other),
        }
    }
    String::from_utf8(bytes).expect("parameters are UTF-8")
}
