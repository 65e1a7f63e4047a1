//! An independent view of an account: a listing by boto3, directly from the emulator, and small actions through boto3.

use std::io::{BufRead, BufReader, Write};
use std::os::unix::process::CommandExt;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::{Mutex, OnceLock};

use serde_json::{Value, json};

use super::emulator::{Account, Kind};
use super::{reaper, venv};

/// An AWS error; for another failure, the name of the Python exception as the code.
#[derive(Clone, Debug)]
pub(crate) struct BotoError {
    pub(crate) code: String,
    pub(crate) message: String,
}

impl Account {
    /// All objects of the account except its default VPC: a map from kind (`vpcs`, `subnets`, `route_tables`,
    /// `internet_gateways`, `egress_only_internet_gateways`, `vpn_gateways`, `addresses`, `nat_gateways`,
    /// `vpc_endpoints`, `security_groups`, `network_acls`, `apis`, `domain_names`, `vpc_links`, `log_groups`,
    /// `functions`, `hosted_zones`) to objects with the members that boto3 returns, and `tags` as a map. Omits NAT
    /// gateways and endpoints in state `deleted`.
    pub(crate) fn list(&self) -> Value {
        self.send(json!({"operation": "list"})).unwrap_or_else(|error| panic!("cannot list the account: {error:?}"))
    }

    /// The objects of one kind, see [`Account::list`].
    pub(crate) fn list_of(&self, kind: &str) -> Vec<Value> {
        let mut all = self.list();
        match all.get_mut(kind).map(Value::take) {
            Some(Value::Array(objects)) => objects,
            _ => panic!("no kind {kind} in the listing"),
        }
    }

    /// See [`ours_in`].
    pub(crate) fn ours(&self) -> Vec<String> {
        ours_in(&self.list())
    }

    /// Panics with the objects that are left.
    pub(crate) fn assert_nothing_of_ours_is_left(&self) {
        let left = self.ours();
        assert!(left.is_empty(), "objects of the provider are left in account {}:\n{}", self.id, left.join("\n"));
    }

    /// Any boto3 call, such as `boto("ec2", "delete_tags", json!({...}))`. Panics on an error.
    pub(crate) fn boto(&self, service: &str, method: &str, arguments: Value) -> Value {
        self.try_boto(service, method, arguments.clone())
            .unwrap_or_else(|error| panic!("{service}.{method}({arguments}) fails: {error:?}"))
    }

    pub(crate) fn try_boto(&self, service: &str, method: &str, arguments: Value) -> Result<Value, BotoError> {
        self.send(json!({"operation": "boto", "service": service, "method": method, "arguments": arguments}))
    }

    /// The same call through another endpoint, such as that of a proxy.
    pub(crate) fn try_boto_at(
        &self,
        endpoint: &str,
        service: &str,
        method: &str,
        arguments: Value,
    ) -> Result<Value, BotoError> {
        let call = json!({"operation": "boto", "service": service, "method": method, "arguments": arguments});
        self.send_to(endpoint, call)
    }

    /// Creates a function from Python source that defines `handler(event, context)`, and returns its ARN.
    pub(crate) fn create_function(&self, name: &str, source: &str) -> String {
        self.function("create_function", name, source)
    }

    /// Replaces the source of a function, from the next invocation on.
    pub(crate) fn update_function(&self, name: &str, source: &str) -> String {
        self.function("update_function", name, source)
    }

    /// The headers of a signed GET request.
    pub(crate) fn signed_headers(&self, host: &str, path: &str) -> Vec<(String, String)> {
        let request = json!({"operation": "sign", "host": host, "path": path});
        let headers = self.send(request).unwrap_or_else(|error| panic!("cannot sign {path}: {error:?}"));
        let pair = |(name, value): (&String, &Value)| (name.clone(), value.as_str().expect("a text").to_owned());
        headers.as_object().expect("headers are a map").iter().map(pair).collect()
    }

    fn function(&self, operation: &str, name: &str, source: &str) -> String {
        let request = json!({"operation": operation, "name": name, "source": source});
        let arn = self.send(request).unwrap_or_else(|error| panic!("{operation} {name} fails: {error:?}"));
        arn.as_str().expect("an ARN").to_owned()
    }

    fn send(&self, request: Value) -> Result<Value, BotoError> {
        self.send_to(&self.emulator.endpoint(), request)
    }

    fn send_to(&self, endpoint: &str, mut request: Value) -> Result<Value, BotoError> {
        let kind = match self.emulator.kind {
            Kind::Moto | Kind::LocalStack => "moto",
            Kind::Ministack => "ministack",
        };
        request["kind"] = kind.into();
        request["endpoint"] = endpoint.into();
        request["account"] = self.id.clone().into();
        Python::take().send(&request)
    }
}

/// One line for each object in a listing with an `fgw:*` tag, and for each policy statement that allows API Gateway or
/// CloudWatch Logs to invoke a function.
pub(crate) fn ours_in(listing: &Value) -> Vec<String> {
    let mut found = Vec::new();
    for (kind, objects) in listing.as_object().expect("a listing is a map") {
        for object in objects.as_array().expect("of each kind it has a list") {
            find_ours(kind, object, &mut found);
        }
    }
    found
}

fn find_ours(kind: &str, object: &Value, found: &mut Vec<String>) {
    let tags = object["tags"].as_object().into_iter().flatten();
    let ours: Vec<String> =
        tags.filter(|(key, _)| key.starts_with("fgw:")).map(|(key, value)| format!("{key}={}", plain(value))).collect();
    if !ours.is_empty() {
        found.push(format!("{kind} {} {}", plain(object.get(id_of(kind)).unwrap_or(object)), ours.join(" ")));
    }
    for statement in object["statements"].as_array().into_iter().flatten() {
        let principal = statement["Principal"].to_string();
        if principal.contains("apigateway") || principal.contains("logs.") {
            found.push(format!("statement {} of {}", plain(&statement["Sid"]), plain(&object["FunctionName"])));
        }
    }
}

/// A string without quotes; any other value as JSON.
fn plain(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

/// The name of the member with the ID of an object of this kind.
pub(crate) fn id_of(kind: &str) -> &'static str {
    match kind {
        "vpcs" => "VpcId",
        "subnets" => "SubnetId",
        "route_tables" => "RouteTableId",
        "internet_gateways" => "InternetGatewayId",
        "egress_only_internet_gateways" => "EgressOnlyInternetGatewayId",
        "vpn_gateways" => "VpnGatewayId",
        "addresses" => "AllocationId",
        "nat_gateways" => "NatGatewayId",
        "vpc_endpoints" => "VpcEndpointId",
        "flow_logs" => "FlowLogId",
        "security_groups" => "GroupId",
        "network_acls" => "NetworkAclId",
        "apis" => "ApiId",
        "domain_names" => "DomainName",
        "vpc_links" => "VpcLinkId",
        "log_groups" => "logGroupName",
        "hosted_zones" => "Id",
        _ => "FunctionName",
    }
}

/// One Python process for all tests, because its start takes longer than most requests. It ends when its pipe closes.
struct Python {
    /// Never waited for: it ends with this process.
    _process: Child,
    requests: ChildStdin,
    answers: BufReader<ChildStdout>,
}

impl Python {
    fn take() -> std::sync::MutexGuard<'static, Self> {
        static PYTHON: OnceLock<Mutex<Python>> = OnceLock::new();
        // A panic between request and answer would leave an unread answer. `send` does not panic there.
        PYTHON.get_or_init(|| Mutex::new(Self::start())).lock().expect("sending does not panic")
    }

    fn start() -> Self {
        let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/support/listing.py");
        let mut python = Command::new(venv::program("python"))
            .args(["-u", script])
            .env_clear()
            .env("PATH", std::env::var_os("PATH").unwrap_or_default())
            .env("AWS_EC2_METADATA_DISABLED", "true")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .process_group(0)
            .spawn()
            .unwrap_or_else(|error| panic!("cannot start {script}: {error}"));
        reaper::group_started(python.id());
        let requests = python.stdin.take().expect("stdin is piped");
        let answers = BufReader::new(python.stdout.take().expect("stdout is piped"));
        Self { _process: python, requests, answers }
    }

    fn send(&mut self, request: &Value) -> Result<Value, BotoError> {
        let lost = |error: std::io::Error| BotoError { code: "NoPython".into(), message: error.to_string() };
        writeln!(self.requests, "{request}").map_err(lost)?;
        let mut line = String::new();
        self.answers.read_line(&mut line).map_err(lost)?;
        let mut answer: Value = serde_json::from_str(&line)
            .map_err(|error| BotoError { code: "NoPython".into(), message: format!("{error} in {line:?}") })?;
        match answer.get("error") {
            Some(error) => Err(BotoError {
                code: error["code"].as_str().unwrap_or_default().into(),
                message: error["message"].as_str().unwrap_or_default().into(),
            }),
            None => Ok(answer["ok"].take()),
        }
    }
}
