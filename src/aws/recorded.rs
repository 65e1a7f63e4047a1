//! A fake AWS for tests, which returns recorded responses and stores the requests.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use aws_credential_types::Credentials;
use aws_smithy_runtime_api::client::http::{HttpConnector, HttpConnectorFuture, SharedHttpConnector, http_client_fn};
use aws_smithy_runtime_api::client::orchestrator::{HttpRequest, HttpResponse};
use aws_smithy_runtime_api::client::result::ConnectorError;
use aws_smithy_types::body::SdkBody;
use aws_smithy_types::retry::RetryConfig;
use aws_types::region::Region;
use serde_json::Value;
use tokio::time::Instant;

use crate::aws::Session;
use crate::aws::calls::Operation;
use crate::aws::calls::deployed_changes::RecordDeployedChanges;
use crate::aws::calls::process_state::ProcessState;
use crate::aws::calls::retry::budget;
use crate::cloud::{Connected, Connection, Deadlines, Failure, OpContext, Recorder, Regions};
use crate::composite::Composite;
use crate::model::TopologyKind;
use crate::model::{Ids, Key, Learned, ResolvedObject};
use crate::model::{Scope, Timeouts};
use crate::plugin::{ImportResponse, ImportTarget, Resource};
use crate::topology::Topology;

/// The owner of all objects in these tests.
pub(crate) const OWNER: TopologyKind = TopologyKind::HttpGateway;

/// Answers calls in any order. Several responses to one call are returned in turn, the last one repeatedly. The
/// sessions share rate limits and locks with each other, like those of one process, but not with other tests.
#[derive(Clone, Debug, Default)]
pub(crate) struct Recorded {
    tape: Arc<Mutex<Tape>>,
    process: Arc<ProcessState>,
}

#[derive(Debug, Default)]
struct Tape {
    answers: Vec<(String, Answer)>,
    /// Whether calls without a response are denied. Otherwise, they panic.
    denies_others: bool,
    requests: Vec<RecordedRequest>,
}

/// The protocol of a request, which AWS answers in the same protocol.
enum Protocol {
    /// The action in a header, as CloudWatch Logs, ACM and KMS expect it.
    Target,
    /// A form, as EC2 expects it.
    Query,
    /// Method and path.
    Rest,
}

/// The deadline of an operation, which is longer than every timeout of the code under test.
const LIMIT: Duration = Duration::from_secs(2 * 3600);

/// The response of EC2 to a call without permission.
const DENIED: &str = "<Response><Errors><Error><Code>UnauthorizedOperation</Code><Message>not you</Message></Error>\
                      </Errors><RequestID>req-1</RequestID></Response>";

/// A response of AWS.
#[derive(Clone, Debug)]
pub(crate) enum Answer {
    /// A status and a JSON body.
    Json(u16, Value),
    /// A status and an XML body, as Route 53 and EC2 return it.
    Xml(u16, String),
    /// A status, an error code and a message, which AWS omits in some errors. CloudWatch Logs, ACM and KMS return the
    /// code in the body, API Gateway and Lambda in a header.
    Error(u16, &'static str, &'static str),
    /// AWS carries out the call, but the response is lost.
    Lost,
    /// Another response, after a delay.
    After(Duration, Box<Answer>),
    /// A response to the requests so far, the last of which it answers.
    To(fn(&[RecordedRequest]) -> Answer),
}

/// A request that AWS received.
#[derive(Clone, Debug)]
pub(crate) struct RecordedRequest {
    /// Method and path with query, without the page size. For CloudWatch Logs and EC2, the action.
    pub(crate) call: String,
    /// The body: JSON, a map of the parameters of a form, or a string if it is neither; null if it is empty.
    pub(crate) body: Value,
    /// The time of the request, and that of the response.
    pub(crate) times: (Instant, Option<Instant>),
}

/// Imports a root through the resource of its topology.
pub(crate) async fn imported<P: Topology>(session: Session, id: &str) -> ImportResponse {
    let connection = Connection::default();
    connection.set(Connected::Ready(Regions::new(Arc::new(session), |region| panic!("nothing is in {region}"))));
    Composite::<P>::new(connection).import(ImportTarget::Id(id.to_string())).await
}

impl Recorded {
    /// Adds a response to a call, such as `POST /v2/apis` or `CreateLogGroup`.
    pub(crate) fn on(self, call: &str, answer: Answer) -> Recorded {
        self.tape.lock().unwrap().answers.push((call.to_string(), answer));
        self
    }

    /// Denies every call that has no response.
    pub(crate) fn denying_others(self) -> Recorded {
        self.tape.lock().unwrap().denies_others = true;
        self
    }

    /// Forgets all responses and requests.
    pub(crate) fn clear(&self) {
        *self.tape.lock().unwrap() = Tape::default();
    }

    /// The requests so far.
    pub(crate) fn requests(&self) -> Vec<RecordedRequest> {
        self.tape.lock().unwrap().requests.clone()
    }

    /// The calls so far.
    pub(crate) fn calls(&self) -> Vec<String> {
        self.requests().into_iter().map(|request| request.call).collect()
    }

    /// The body of the only request of this call.
    pub(crate) fn body(&self, call: &str) -> Value {
        let mut bodies: Vec<Value> =
            self.requests().into_iter().filter(|request| request.call == call).map(|request| request.body).collect();
        assert_eq!(bodies.len(), 1, "{call} in {:?}", self.calls());
        bodies.remove(0)
    }

    /// A session in this Region, whose clients call this AWS.
    pub(crate) fn session(&self, region: &str) -> Session {
        let connector = SharedHttpConnector::new(self.clone());
        let http = http_client_fn(move |_, _| connector.clone());
        let credentials = Credentials::for_tests();
        // The SDK's own budget is one for all clients of a process, so the tests would use up each other's retries.
        let retries = budget("recorded", None);
        let region_name = Region::new(region.to_string());
        macro_rules! config {
            ($sdk:ident) => {
                $sdk::Config::builder()
                    .behavior_version($sdk::config::BehaviorVersion::latest())
                    .region(region_name.clone())
                    .credentials_provider(credentials.clone())
                    .retry_config(RetryConfig::disabled())
                    .retry_partition(retries.clone())
                    .http_client(http.clone())
            };
        }
        let changes = self.process.deployed_changes.clone();
        let deployed_changes = RecordDeployedChanges { changes, region: region.into() };
        Session {
            scope: Scope {
                partition: "aws".into(),
                region: region.into(),
                account: Some("123456789012".into()),
                ..Scope::default()
            },
            ec2: aws_sdk_ec2::Client::from_conf(config!(aws_sdk_ec2).build()),
            apigateway: aws_sdk_apigatewayv2::Client::from_conf(
                config!(aws_sdk_apigatewayv2).interceptor(deployed_changes).build(),
            ),
            logs: aws_sdk_cloudwatchlogs::Client::from_conf(config!(aws_sdk_cloudwatchlogs).build()),
            acm: aws_sdk_acm::Client::from_conf(config!(aws_sdk_acm).build()),
            kms: aws_sdk_kms::Client::from_conf(config!(aws_sdk_kms).build()),
            route53: aws_sdk_route53::Client::from_conf(config!(aws_sdk_route53).build()),
            lambda_config: config!(aws_sdk_lambda).build(),
            pollers: Default::default(),
            shared: Default::default(),
            process: self.process.clone(),
        }
    }

    /// A session in this Region in which the SDK retries calls of CloudWatch Logs, as it does outside tests.
    pub(crate) fn session_with_retries(&self, region: &str) -> Session {
        let session = self.session(region);
        let retries = RetryConfig::standard().with_max_attempts(4);
        let config = session.logs.config().to_builder().retry_config(retries).build();
        Session { logs: aws_sdk_cloudwatchlogs::Client::from_conf(config), ..session }
    }
}

/// The values that an operation has recorded.
#[derive(Debug, Default)]
pub(crate) struct Records {
    /// The IDs, in the order of recording.
    pub(crate) ids: Vec<String>,
    /// The other values that AWS returned.
    pub(crate) learned: Learned,
}

/// Runs one operation on the object of this key, below the API `api1`. `ids` are the objects that exist.
pub(crate) async fn run<F>(session: &Session, key: &Key, ids: &[(Key, &str)], call: F) -> (Result<(), Failure>, Records)
where
    F: AsyncFnOnce(&Operation<'_>) -> Result<(), Failure>,
{
    let resolved = ids.iter().map(|(key, id)| {
        let learned = [
            ("arn", format!("arn:aws:logs:{}:123456789012:log-group:{id}", session.scope.region)),
            ("target_domain_name", format!("d-{id}")),
            ("target_hosted_zone_id", "ZAWS".to_string()),
        ];
        let learned = learned.map(|(name, value)| (name.to_string(), value)).into();
        (key.clone(), ResolvedObject { id: (*id).to_string(), learned })
    });
    let mut all = Ids::default();
    for (key, object) in resolved {
        all.insert(key, object);
    }
    let records = Mutex::new(Records::default());
    let record_id = |id: &str| records.lock().unwrap().ids.push(id.to_string());
    let record_learned = |learned: Learned| records.lock().unwrap().learned = learned;
    let timeouts = Timeouts::default();
    let work = OpContext {
        owner: OWNER,
        root_id: Some("api1"),
        ids: &all,
        unfinished: None,
        known: Default::default(),
        deployed: ["$default".to_string()].into(),
        new_inputs: &Default::default(),
        in_create: false,
        timeouts: &timeouts,
        deadlines: Deadlines::until(Instant::now() + LIMIT, Default::default()),
        guardduty: Default::default(),
    };
    let record = Recorder { id: &record_id, learned: &record_learned, usable: &|| () };
    let operation = Operation { session, work: &work, key, routes: &[], record: Some(&record) };
    let answer = call(&operation).await;
    (answer, records.into_inner().unwrap())
}

impl HttpConnector for Recorded {
    fn call(&self, request: HttpRequest) -> HttpConnectorFuture {
        let (protocol, call, body) = decoded(&request);
        let (answer, place) = {
            let mut tape = self.tape.lock().unwrap();
            tape.requests.push(RecordedRequest { call: call.clone(), body, times: (Instant::now(), None) });
            let mut matching = tape.answers.iter().enumerate().filter(|(_, (name, _))| *name == call);
            let first = matching.next().map(|(index, (_, answer))| (index, answer.clone()));
            let is_last = matching.next().is_none();
            let answer = first.map(|(index, answer)| {
                if !is_last {
                    tape.answers.remove(index);
                }
                answer
            });
            let denied = || match protocol {
                Protocol::Query => Answer::Xml(403, DENIED.to_string()),
                Protocol::Target | Protocol::Rest => Answer::Error(403, "AccessDeniedException", "not you"),
            };
            (answer.or_else(|| tape.denies_others.then(denied)), tape.requests.len() - 1)
        };
        let tape = self.tape.clone();
        HttpConnectorFuture::new(async move {
            let mut answer = answer.unwrap_or_else(|| panic!("no response is recorded for {call}"));
            if let Answer::After(pause, then) = answer {
                if !pause.is_zero() {
                    tokio::time::sleep(pause).await;
                }
                answer = *then;
            }
            if let Answer::To(answer_to) = answer {
                answer = answer_to(&tape.lock().unwrap().requests);
            }
            tape.lock().unwrap().requests[place].times.1 = Some(Instant::now());
            let text = |body: Value| if body.is_null() { String::new() } else { body.to_string() };
            let mut error_type = None;
            let (status, text) = match answer {
                Answer::Json(status, body) => (status, text(body)),
                Answer::Xml(status, body) => (status, body),
                Answer::Error(status, code, message) => {
                    let mut body = serde_json::Map::new();
                    if !message.is_empty() {
                        body.insert("message".into(), message.into());
                    }
                    match protocol {
                        Protocol::Target => drop(body.insert("__type".into(), code.into())),
                        Protocol::Query | Protocol::Rest => error_type = Some(code),
                    }
                    (status, text(body.into()))
                }
                _ => return Err(ConnectorError::io("connection reset".into())),
            };
            let status = status.try_into().expect("tests use valid statuses");
            let mut response = HttpResponse::new(status, SdkBody::from(text));
            if let Some(code) = error_type {
                response.headers_mut().insert("x-amzn-errortype", code);
            }
            if matches!(protocol, Protocol::Query) {
                response.headers_mut().insert("x-amzn-requestid", "req-1");
            }
            Ok(response)
        })
    }
}

/// The protocol, the call and the body of a request.
fn decoded(request: &HttpRequest) -> (Protocol, String, Value) {
    let body = request.body().bytes().unwrap_or_default();
    if request.headers().get("content-type") == Some("application/x-www-form-urlencoded") {
        let parameters = parameters(body);
        return (Protocol::Query, parameters["Action"].clone(), serde_json::json!(parameters));
    }
    let body = match body {
        [] => Value::Null,
        body => {
            serde_json::from_slice(body).unwrap_or_else(|_| Value::String(String::from_utf8_lossy(body).into_owned()))
        }
    };
    if let Some(target) = request.headers().get("x-amz-target") {
        return (Protocol::Target, target.rsplit('.').next().unwrap_or_default().to_string(), body);
    }
    let uri: http::Uri = request.uri().parse().expect("the SDK creates valid URIs");
    let path = without_page_size(uri.path_and_query().expect("it has a path"));
    (Protocol::Rest, format!("{} {path}", request.method()), body)
}

/// The tag `fgw:request` in the body of this call.
pub(crate) fn request_of(requests: &[RecordedRequest], call: &str) -> Value {
    let request = requests.iter().rev().find(|request| request.call == call).expect("the call was sent");
    request.body["tags"]["fgw:request"].clone()
}

/// A body without the tag `fgw:request`, which is random.
pub(crate) fn without_request(mut body: Value) -> Value {
    let tags = body["tags"].as_object_mut().expect("the call sets tags");
    let request = tags.remove("fgw:request").expect("the call has the tag of the request");
    assert_eq!(request.as_str().map(str::len), Some(32));
    body
}

/// The path with its query, without the page size, which is the same for all lists.
fn without_page_size(target: &http::uri::PathAndQuery) -> String {
    let query = target.query().unwrap_or_default().split('&').filter(|it| !it.starts_with("maxResults="));
    let query: Vec<&str> = query.filter(|it| !it.is_empty()).collect();
    match query.is_empty() {
        true => target.path().to_string(),
        false => format!("{}?{}", target.path(), query.join("&")),
    }
}

/// The parameters in a form.
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
