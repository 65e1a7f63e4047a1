//! AWS's rate limits for one account in one Region: a token bucket for each action of EC2, one for all of API Gateway,
//! and those of the other services.

use std::collections::HashMap;
use std::sync::Mutex;
use std::time::{Duration, Instant};

use super::call::Call;
use super::lock;
use super::message::Reply;

/// Off by default.
#[derive(Debug, Default)]
pub(super) struct Throttle(Mutex<Option<Rates>>);

#[derive(Debug)]
struct Rates {
    clock: Clock,
    buckets: HashMap<String, Bucket>,
}

/// The clock that refills the buckets.
#[derive(Clone, Copy, Debug)]
enum Clock {
    Running {
        since: Instant,
    },
    /// Only the test advances it, so that buckets hold the same number of tokens on every machine.
    Stopped {
        at: Duration,
    },
}

#[derive(Debug)]
struct Bucket {
    tokens: f64,
    filled: Duration,
}

/// A bucket from which a call takes one token.
#[derive(Debug, PartialEq)]
struct Limit {
    bucket: String,
    /// The capacity of the bucket: the number of calls that pass at once.
    burst: f64,
    per_second: f64,
}

impl Clock {
    fn now(self) -> Duration {
        match self {
            Self::Running { since } => since.elapsed(),
            Self::Stopped { at } => at,
        }
    }
}

impl Throttle {
    /// Starts with full buckets.
    pub(super) fn start(&self) {
        self.start_with(Clock::Running { since: Instant::now() });
    }

    /// The same with a stopped clock.
    pub(super) fn start_stopped(&self) {
        self.start_with(Clock::Stopped { at: Duration::ZERO });
    }

    /// Advances a stopped clock.
    pub(super) fn advance(&self, by: Duration) {
        match &mut lock(&self.0).as_mut().expect("it was started").clock {
            Clock::Stopped { at } => *at += by,
            Clock::Running { .. } => panic!("the clock is not stopped"),
        }
    }

    fn start_with(&self, clock: Clock) {
        *lock(&self.0) = Some(Rates { clock, buckets: HashMap::new() });
    }

    /// AWS's error, if a bucket of the call is empty. A rejected call takes no token.
    pub(super) fn before(&self, call: &Call) -> Option<Reply> {
        let mut throttle = lock(&self.0);
        let Rates { clock, buckets } = throttle.as_mut()?;
        let (limits, now) = (limits(call), clock.now());
        for limit in &limits {
            let full = || Bucket { tokens: limit.burst, filled: now };
            let bucket = buckets.entry(limit.bucket.clone()).or_insert_with(full);
            let refill = now.saturating_sub(bucket.filled).as_secs_f64() * limit.per_second;
            (bucket.tokens, bucket.filled) = ((bucket.tokens + refill).min(limit.burst), now);
            if bucket.tokens < 1.0 {
                return Some(rejection(call));
            }
        }
        for limit in &limits {
            buckets.get_mut(&limit.bucket).expect("it has just been filled").tokens -= 1.0;
        }
        None
    }
}

/// The throttling error of each service.
fn rejection(call: &Call) -> Reply {
    let (status, code, message) = match call.service.as_str() {
        "ec2" => (503, "RequestLimitExceeded", "Request limit exceeded."),
        "apigateway" => (429, "TooManyRequestsException", "Too Many Requests"),
        "lambda" => (429, "TooManyRequestsException", "Rate exceeded"),
        "route53" => (400, "Throttling", "Rate exceeded"),
        _ => (400, "ThrottlingException", "Rate exceeded"),
    };
    Reply::error(call, status, code, message)
}

fn limits(call: &Call) -> Vec<Limit> {
    let action = call.action.as_str();
    let limit = |bucket: &str, burst, per_second| Limit { bucket: bucket.into(), burst, per_second };
    let of_action = |burst, per_second| vec![limit(action, burst, per_second)];
    match call.service.as_str() {
        "ec2" => {
            let (burst, per_second) = ec2(call);
            of_action(burst, per_second)
        }
        "apigateway" => {
            let mut limits = vec![limit("all of API Gateway", 40.0, 10.0)];
            match action {
                "CreateDomainName" | "UpdateDomainName" | "DeleteDomainName" => {
                    limits.push(limit(action, 1.0, 1.0 / 30.0));
                }
                "CreateVpcLink" => limits.push(limit(action, 1.0, 1.0 / 15.0)),
                "DeleteVpcLink" => limits.push(limit(action, 1.0, 1.0 / 30.0)),
                "CreateDeployment" => limits.push(limit(action, 1.0, 1.0 / 5.0)),
                _ => {}
            }
            limits
        }
        // Lambda has one quota for GetPolicy, one for GetFunction, and one for all other calls together, except
        // invocations.
        "lambda" => match action {
            "Invoke" => Vec::new(),
            "GetPolicy" => of_action(15.0, 15.0),
            "GetFunction" => of_action(100.0, 100.0),
            _ => vec![limit("all other calls of Lambda", 15.0, 15.0)],
        },
        "logs" if ["DescribeLogGroups", "CreateLogGroup"].contains(&action) => of_action(10.0, 10.0),
        "route53" => vec![limit("all of Route 53", 5.0, 5.0)],
        _ => Vec::new(),
    }
}

/// The burst and the rate per second of EC2's categories of actions.
fn ec2(call: &Call) -> (f64, f64) {
    match call.action.as_str() {
        "CreateNatGateway"
        | "DeleteNatGateway"
        | "AssociateNatGatewayAddress"
        | "DisassociateNatGatewayAddress"
        | "AssignPrivateNatGatewayAddress"
        | "UnassignPrivateNatGatewayAddress" => (10.0, 1.0),
        "CreateVpcEndpoint" | "ModifyVpcEndpoint" | "DeleteVpcEndpoints" => (4.0, 0.3),
        "CreateTags" | "DeleteTags" => (100.0, 10.0),
        "DeleteNetworkInterface" => (100.0, 5.0),
        "DescribeInstances" | "DescribeNetworkInterfaces" | "DescribeSecurityGroups"
            if call.filters().is_empty() && call.param("MaxResults").is_empty() =>
        {
            (50.0, 10.0)
        }
        action if action.starts_with("Describe") || action.starts_with("Get") => (100.0, 20.0),
        _ => (50.0, 5.0),
    }
}
