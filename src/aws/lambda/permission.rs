//! Statements in function policies that allow API Gateway or CloudWatch Logs to call the function.

use std::time::Duration;

use serde_json::Value;
use tokio::time::Instant;

use crate::aws::Session;
use crate::aws::apigateway::deployment::before_deletion;
use crate::aws::apigateway::{digest, execution_arn};
use crate::aws::calls::codes;
use crate::aws::calls::codes::missing::is_statement_missing;
use crate::aws::calls::deployed_changes::Awaited;
use crate::aws::calls::non_idempotent::{Mutation, Search};
use crate::aws::calls::operation::NEW_INPUT;
use crate::aws::calls::rate_limit::{Limit, LimitKey};
use crate::aws::calls::wait::{Backoff, Poll, until_with};
use crate::aws::calls::{Operation, OrFailure};
use crate::cloud::{Cause, Failure, Observed};
use crate::model::FunctionArn;
use crate::model::Input;
use crate::model::Scope;
use crate::model::{Caller, Entry, Key, LambdaPermission, Learned, Spec};

/// Lambda accepts 15 `GetPolicy` calls per second, per account and Region, and 15 calls of all other control plane
/// actions together, except `GetFunction`. AWS does not raise these quotas. The period is longer than a second because
/// network latency varies.
const CALLS: Limit = Limit::Window { calls: 15, period: Duration::from_millis(1100) };

/// The first pause between polls of a policy, which are subject to the quota of `GetPolicy`.
const FIRST_PAUSE: Duration = Duration::from_millis(200);

/// The longest pause.
const LONGEST_PAUSE: Duration = Duration::from_secs(5);

/// How long a new statement may take to become visible.
const VISIBLE: Duration = Duration::from_secs(300);

/// The policy that contains a statement: that of a function, an alias or a version.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct FunctionPolicy {
    /// The function ARN without alias or version.
    pub(crate) function_arn: String,
    /// The alias or version. Each has a separate policy.
    pub(crate) qualifier: Option<String>,
}

/// The permitted caller of a function, by AWS IDs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CallerId<'a> {
    /// API Gateway, for every route.
    Routes,
    /// API Gateway, for the authorizer with this ID.
    Authorizer(&'a str),
    /// CloudWatch Logs, for the log group with this name.
    LogGroup(&'a str),
}

/// One statement of a policy.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Statement(Value);

/// Reads the policy of a function, alias or version. Empty if the function has no policy or does not exist.
pub(crate) async fn policy(session: &Session, place: &FunctionPolicy) -> Result<Vec<Statement>, Failure> {
    let key = format!("{} {}", place.function_arn, place.qualifier.as_deref().unwrap_or_default());
    let (own, function) = (session.clone(), place.clone());
    let shared = &session.shared;
    shared
        .policies
        .all(&shared.gateways, &key, async move || get_policy(&own, &function).await)
        .await
        .map(|statements| statements.into_iter().map(Statement).collect())
}

async fn get_policy(session: &Session, place: &FunctionPolicy) -> Result<Vec<Value>, Failure> {
    let client = session.lambda(&region(session, place));
    let request = client.get_policy().function_name(&place.function_arn).set_qualifier(place.qualifier.clone());
    throttle(session, place, "GetPolicy").await;
    let text = match request.send().await.or_failure("GetPolicy") {
        Ok(answer) => answer.policy.unwrap_or_default(),
        Err(failure) if is_absent(&failure) => return Ok(Vec::new()),
        Err(failure) => return Err(failure),
    };
    let policy: Value = serde_json::from_str(&text).map_err(|error| {
        let message = format!("the policy of {} is not valid JSON: {error}", place.function_arn);
        Failure::new(Cause::Other, "GetPolicy", message)
    })?;
    Ok(match policy.get("Statement") {
        Some(Value::Array(statements)) => statements.clone(),
        Some(statement @ Value::Object(_)) => vec![statement.clone()],
        _ => Vec::new(),
    })
}

/// Finds a permission in a policy. `None` if the statement is missing or allows anything else.
pub(crate) fn read(
    scope: &Scope,
    policy: &[Statement],
    api_id: &str,
    statement_id: &str,
    key: Key,
    spec: &LambdaPermission,
) -> Option<Observed> {
    let place = FunctionPolicy::known(spec)?;
    let caller = match &spec.caller {
        Caller::Routes => CallerId::Routes,
        Caller::Authorizer(_) => CallerId::Authorizer(authorizer_in(api_id, statement_id)?),
        Caller::LogGroup(group) => CallerId::LogGroup(group.fixed.known()?),
    };
    let source_arn = source_arn(scope, &place, api_id, caller);
    let statement = policy.iter().find(|it| it.id() == Some(statement_id))?;
    statement.allows(caller.service(), &source_arn).then(|| Observed {
        id: statement_id.to_string(),
        key,
        spec: Spec::LambdaPermission(spec.clone()),
        learned: Learned::new(),
    })
}

/// Adds a statement, or adopts an equal existing one, and waits until it is visible.
pub(crate) async fn create(operation: &Operation<'_>, spec: &LambdaPermission) -> Result<(), Failure> {
    let session = operation.session;
    let place = FunctionPolicy::of(operation, spec)?;
    let api_id = operation.id(&spec.api)?;
    let caller = match &spec.caller {
        Caller::Routes => CallerId::Routes,
        Caller::Authorizer(key) => CallerId::Authorizer(operation.id(key)?),
        Caller::LogGroup(key) => CallerId::LogGroup(operation.id(key)?),
    };
    let wanted = WantedStatement {
        id: statement_id(api_id, &place, caller),
        principal: caller.service(),
        source_arn: source_arn(&session.scope, &place, api_id, caller),
        place,
    };
    // Overlapping calls for one function, even with different qualifiers, may lose statements.
    let _lock = session.process.locks.lock(format!("lambda {}", wanted.place.function_arn)).await;
    // A statement of this resource that was changed outside Terraform.
    if operation.work.known.contains(&wanted.id) && wanted.is_rewritten(session).await? {
        remove(operation, &wanted.place, &wanted.id).await?;
    }
    add(operation, &wanted).await?;
    operation.record_id(&wanted.id);
    let deadlines = operation.deadlines(VISIBLE);
    let backoff = Backoff::starting_at(FIRST_PAUSE, LONGEST_PAUSE);
    until_with("Waiting for the statement in the function policy", &deadlines, backoff, || async {
        let found = wanted.find(session).await?;
        Ok(found.map_or_else(|| Poll::Pending("the statement was not found".to_string()), Poll::Done))
    })
    .await
}

/// A statement to add.
struct WantedStatement {
    place: FunctionPolicy,
    id: String,
    principal: &'static str,
    source_arn: String,
}

impl WantedStatement {
    /// Finds the statement. A different statement with its ID is an error.
    async fn find(&self, session: &Session) -> Result<Option<()>, Failure> {
        match self.of_this_id(session).await? {
            Some(existing) if existing.allows(self.principal, &self.source_arn) => Ok(Some(())),
            Some(existing) => Err(different(&self.place, &self.id, &existing)),
            None => Ok(None),
        }
    }

    async fn is_rewritten(&self, session: &Session) -> Result<bool, Failure> {
        let existing = self.of_this_id(session).await?;
        Ok(existing.is_some_and(|it| !it.allows(self.principal, &self.source_arn)))
    }

    async fn of_this_id(&self, session: &Session) -> Result<Option<Statement>, Failure> {
        Ok(policy(session, &self.place).await?.into_iter().find(|it| it.id() == Some(&self.id)))
    }
}

/// Adds a statement. Waits until the function exists and no other change of it is in progress.
async fn add(operation: &Operation<'_>, wanted: &WantedStatement) -> Result<(), Failure> {
    let (session, place) = (operation.session, &wanted.place);
    let client = session.lambda(&region(session, place));
    let call = || async {
        throttle(session, place, "lambda").await;
        let call = client.add_permission().function_name(&place.function_arn).set_qualifier(place.qualifier.clone());
        let call = call.statement_id(&wanted.id).action("lambda:InvokeFunction");
        let call = call.principal(wanted.principal).source_arn(&wanted.source_arn);
        call.customize().config_override(session.once_lambda()).send().await.map(|_| ())
    };
    // A missing function is handled below, because it may be new.
    let mutation = Mutation {
        action: "AddPermission",
        deadlines: &operation.work.deadlines,
        is_busy: |_| false,
        unknown_until: None,
        search: Search::TWO_POLLS,
        parent: None,
    };
    let new_until = Instant::now() + NEW_INPUT;
    let (deadlines, backoff) = (&operation.work.deadlines, Backoff::starting_at(FIRST_PAUSE, LONGEST_PAUSE));
    until_with("Adding a statement to the function policy", deadlines, backoff, || async {
        match mutation.create(call, Ok, || wanted.find(session)).await {
            Ok(()) => Ok(Poll::Done(())),
            Err(failure) if codes::is_policy_conflict(&failure) => {
                Ok(wanted.find(session).await?.map_or_else(|| Poll::Pending(failure.to_string()), Poll::Done))
            }
            Err(failure) if is_absent(&failure) && Instant::now() < new_until => Ok(Poll::Pending(failure.to_string())),
            Err(failure) if codes::is_policy_full(&failure) => Err(full(failure, place)),
            Err(failure) => Err(failure),
        }
    })
    .await
}

/// Does nothing: all fields of a statement are part of its key, so a change replaces the statement.
pub(crate) async fn update(
    _operation: &Operation<'_>,
    _id: &str,
    _from: &LambdaPermission,
    _to: &LambdaPermission,
) -> Result<(), Failure> {
    Ok(())
}

/// Removes a statement. A missing function counts as success, because its policy was deleted with it.
pub(crate) async fn delete(operation: &Operation<'_>, entry: &Entry) -> Result<(), Failure> {
    let spec = operation.of_its_kind(LambdaPermission::of(&entry.applied))?;
    // The deployed stage may still call the function.
    if !matches!(spec.caller, Caller::LogGroup(_)) {
        before_deletion(operation, operation.root_id()?, Awaited::All, entry).await?;
    }
    let place = FunctionPolicy::of(operation, spec)?;
    let _lock = operation.session.process.locks.lock(format!("lambda {}", place.function_arn)).await;
    remove(operation, &place, &entry.id).await
}

/// Removes a statement. The caller holds the lock of the function.
async fn remove(operation: &Operation<'_>, place: &FunctionPolicy, statement_id: &str) -> Result<(), Failure> {
    let session = operation.session;
    let client = session.lambda(&region(session, place));
    let change = Mutation {
        action: "RemovePermission",
        deadlines: &operation.work.deadlines,
        is_busy: codes::is_policy_conflict,
        unknown_until: None,
        search: Search::TWO_POLLS,
        parent: None,
    };
    let delete = || async {
        throttle(session, place, "lambda").await;
        let request = client.remove_permission().function_name(&place.function_arn);
        request.set_qualifier(place.qualifier.clone()).statement_id(statement_id).send().await
    };
    let exists = || async { Ok(policy(session, place).await?.iter().any(|it| it.id() == Some(statement_id))) };
    change.delete(delete, |failure| is_statement_missing(failure, statement_id), exists).await
}

/// Waits until one more call may be sent to the Region of a function. `calls` is `GetPolicy`, or `lambda` for all other
/// calls.
pub(super) async fn throttle(session: &Session, place: &FunctionPolicy, calls: &'static str) {
    let region = Some(region(session, place));
    let key = LimitKey { account: session.scope.account.clone(), region, calls };
    session.process.rate_limiter.acquire(key, CALLS).await;
}

/// The ID of the statement for a caller. It contains the ID of the API, so that the function policy shows to which
/// gateway it belongs.
pub(crate) fn statement_id(api_id: &str, place: &FunctionPolicy, caller: CallerId<'_>) -> String {
    let place = format!("{} {}", place.function_arn, place.qualifier.as_deref().unwrap_or_default());
    match caller {
        CallerId::Routes => format!("fgw-{api_id}-routes-{}", digest(&place)),
        // An authorizer keeps its ID when its function changes, so the ID alone would not distinguish the statements.
        CallerId::Authorizer(id) => format!("{}{id}-{}", authorizer_prefix(api_id), digest(&place)),
        CallerId::LogGroup(name) => format!("fgw-{api_id}-logs-{}", digest(&format!("{place} {name}"))),
    }
}

/// The principal of CloudWatch Logs. AWS also accepts that of the Region of the log group,
/// `logs.<region>.amazonaws.com`, with the same effect:
/// - `logs.amazonaws.com`: hashicorp/aws acceptance tests (TestAccLogsSubscriptionFilter_basic), `LambdaDestination` of
///   aws/aws-cdk, and the example in the user guide of CloudWatch Logs;
/// - with the Region: recorded PutSubscriptionFilter of 2026, AddPermission of 2016, and older versions of the guide.
const LOGS: &str = "logs.amazonaws.com";

impl CallerId<'_> {
    /// The service principal, which is the same in every partition.
    fn service(self) -> &'static str {
        match self {
            CallerId::Routes | CallerId::Authorizer(_) => "apigateway.amazonaws.com",
            CallerId::LogGroup(_) => LOGS,
        }
    }
}

/// Whether two principals are the same service in the Region of the source.
fn is_same_service(shown: &str, principal: &str, source_arn: &str) -> bool {
    let region = source_arn.split(':').nth(3).unwrap_or_default();
    shown == principal || (principal == LOGS && shown == format!("logs.{region}.amazonaws.com"))
}

impl FunctionPolicy {
    /// The policy of a function, alias or version.
    pub(crate) fn of_function(function: &FunctionArn) -> FunctionPolicy {
        FunctionPolicy { function_arn: function.unqualified(), qualifier: function.qualifier.clone() }
    }

    /// The function with alias or version. `None` if the ARN is invalid.
    pub(crate) fn function(&self) -> Option<FunctionArn> {
        let unqualified = FunctionArn::parse(&self.function_arn).ok()?;
        Some(FunctionArn { qualifier: self.qualifier.clone(), ..unqualified })
    }

    /// The policy of a permission. `None` while it is unknown.
    pub(crate) fn known(spec: &LambdaPermission) -> Option<FunctionPolicy> {
        Some(FunctionPolicy {
            function_arn: spec.function_arn.known()?.clone(),
            qualifier: spec.qualifier.known()?.clone(),
        })
    }

    fn of(operation: &Operation<'_>, spec: &LambdaPermission) -> Result<FunctionPolicy, Failure> {
        Ok(FunctionPolicy {
            function_arn: operation.known(&spec.function_arn)?.clone(),
            qualifier: operation.known(&spec.qualifier)?.clone(),
        })
    }

    /// A permission for an API in this policy.
    pub(crate) fn permission(&self, api: Key, caller: Caller) -> LambdaPermission {
        LambdaPermission {
            api,
            function_arn: Input::Known(self.function_arn.clone()),
            qualifier: Input::Known(self.qualifier.clone()),
            caller,
        }
    }
}

impl Statement {
    fn id(&self) -> Option<&str> {
        self.0.get("Sid")?.as_str()
    }

    /// Whether the statement allows this service to call the function from this source, and nothing else.
    fn allows(&self, principal: &str, source_arn: &str) -> bool {
        let allowed = self.0.get("Principal");
        let service = allowed.and_then(|it| it.get("Service").or(Some(it))).and_then(only);
        self.0.get("Effect").and_then(Value::as_str) == Some("Allow")
            && service.is_some_and(|shown| is_same_service(shown, principal, source_arn))
            && self.0.get("Action").and_then(only) == Some("lambda:InvokeFunction")
            && self.sources().is_some_and(|sources| sources == [source_arn])
    }

    /// The source ARNs of the condition. `None` if there is no such condition or if there are further ones.
    fn sources(&self) -> Option<Vec<&str>> {
        let conditions = self.0.get("Condition")?.as_object()?;
        let [(operator, condition)] = conditions.iter().collect::<Vec<_>>()[..] else { return None };
        let [(name, sources)] = condition.as_object()?.iter().collect::<Vec<_>>()[..] else { return None };
        if !operator.eq_ignore_ascii_case("ArnLike") || !name.eq_ignore_ascii_case("AWS:SourceArn") {
            return None;
        }
        match sources {
            Value::Array(sources) => sources.iter().map(Value::as_str).collect(),
            source => source.as_str().map(|source| vec![source]),
        }
    }
}

/// A single value, which a policy may also contain as a list with one element.
fn only(value: &Value) -> Option<&str> {
    match value {
        Value::Array(values) => match &values[..] {
            [value] => value.as_str(),
            _ => None,
        },
        value => value.as_str(),
    }
}

/// The Region of the function, in which its policy is read and changed.
fn region(session: &Session, place: &FunctionPolicy) -> String {
    FunctionArn::parse(&place.function_arn).map_or_else(|_| session.scope.region.clone(), |function| function.region)
}

fn source_arn(scope: &Scope, place: &FunctionPolicy, api_id: &str, caller: CallerId<'_>) -> String {
    // Statements are added only to functions in the account of the gateway.
    let account = scope.account.clone().or_else(|| FunctionArn::parse(&place.function_arn).ok().map(|it| it.account));
    let account = account.unwrap_or_default();
    let execution_arn = execution_arn(scope, &account, api_id);
    match caller {
        CallerId::Routes => format!("{execution_arn}/*/*"),
        CallerId::Authorizer(id) => format!("{execution_arn}/authorizers/{id}"),
        CallerId::LogGroup(name) => {
            format!("arn:{}:logs:{}:{account}:log-group:{name}:*", scope.partition, scope.region)
        }
    }
}

fn authorizer_prefix(api_id: &str) -> String {
    format!("fgw-{api_id}-authorizer-")
}

/// The ID of the authorizer in a statement ID.
pub(crate) fn authorizer_in<'a>(api_id: &str, statement_id: &'a str) -> Option<&'a str> {
    let rest = statement_id.strip_prefix(&authorizer_prefix(api_id))?;
    Some(rest.split_once('-').map_or(rest, |(id, _)| id))
}

fn is_absent(failure: &Failure) -> bool {
    failure.cause == Cause::NotFound
}

/// The failure of a policy without room for a statement. An unused statement of this resource may be among those that
/// the same apply removes.
fn full(failure: Failure, place: &FunctionPolicy) -> Failure {
    let name = &place.function_arn;
    let qualifier = place.qualifier.iter().map(|it| format!(" --qualifier {it}")).collect::<String>();
    let message = format!("{} The policy of {name} has no room for the statement of this gateway", failure.message);
    Failure { cause: Cause::QuotaExceeded, message, ..failure }.with_advice(
        format!(
            "List the statements with the first command, and remove those of callers that no longer exist with the second \
             one. Or use another function, or an alias, which has a policy of its own: create it with the third command, \
             and write {name}:gateway in the configuration. If Terraform has marked the resource as tainted, run terraform \
             untaint first. Then apply again."
        ),
        [
            format!("aws lambda get-policy --function-name {name}{qualifier} --query Policy --output text"),
            format!("aws lambda remove-permission --function-name {name}{qualifier} --statement-id SID"),
            format!("aws lambda create-alias --function-name {name} --name gateway --function-version '$LATEST'"),
        ],
    )
}

fn different(place: &FunctionPolicy, statement_id: &str, existing: &Statement) -> Failure {
    let FunctionPolicy { function_arn, qualifier } = place;
    let qualifier = qualifier.iter().map(|it| format!(" --qualifier {it}")).collect::<String>();
    Failure::new(
        Cause::Exists,
        "AddPermission",
        format!("the policy of {function_arn} already has a different statement {statement_id}: {}", existing.0),
    )
    .with_advice(
        "Remove it with this command, then apply again.",
        [format!(
            "aws lambda remove-permission --function-name {function_arn}{qualifier} --statement-id {statement_id}"
        )],
    )
}

#[cfg(test)]
mod tests;
