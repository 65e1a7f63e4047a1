//! Statements in the policies of functions that let API Gateway or CloudWatch Logs call them.

use std::time::Duration;

use serde_json::Value;
use tokio::time::Instant;

use crate::aws::Session;
use crate::aws::apigateway::{digest, execution_arn};
use crate::aws::calls::codes;
use crate::aws::calls::non_idempotent::{Mutation, Search};
use crate::aws::calls::rate_limit::{Limit, LimitKey};
use crate::aws::calls::wait::{Poll, until};
use crate::aws::calls::{AwsError, Operation};
use crate::cloud::{Cause, Failure, Observed};
use crate::model::FunctionArn;
use crate::model::Input;
use crate::model::Scope;
use crate::model::{Caller, Entry, Key, LambdaPermission, Learned, Spec};

/// Lambda takes 15 calls a second that change something, of one account in one Region, all kinds of calls together. The
/// period is somewhat longer than a second, since calls do not travel equally fast.
const CHANGES: Limit = Limit::Window { calls: 15, period: Duration::from_millis(1100) };

/// How long a new function may answer that it does not exist.
const NEW_FUNCTION: Duration = Duration::from_secs(30);

/// How long a new statement may take to show.
const VISIBLE: Duration = Duration::from_secs(300);

/// The function whose policy holds a statement, and the part of the policy.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct FunctionPolicy {
    /// ARN without alias or version.
    pub(crate) function_arn: String,
    /// Alias or version: each has a policy of its own.
    pub(crate) qualifier: Option<String>,
}

/// Who may call a function, by AWS's ids.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CallerId<'a> {
    /// API Gateway, for every route.
    Routes,
    /// API Gateway, for the authorizer of this id.
    Authorizer(&'a str),
    /// CloudWatch Logs, for the log group of this name.
    LogGroup(&'a str),
}

/// One statement of a policy.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Statement(Value);

/// Reads the policy of a function, alias or version. A function without one, or that does not exist, has no
/// statements.
pub(crate) async fn policy(session: &Session, place: &FunctionPolicy) -> Result<Vec<Statement>, Failure> {
    let client = session.lambda(&region(session, place));
    let request = client.get_policy().function_name(&place.function_arn).set_qualifier(place.qualifier.clone());
    let text = match request.send().await.map_err(|error| error.failure("GetPolicy")) {
        Ok(answer) => answer.policy.unwrap_or_default(),
        Err(failure) if is_absent(&failure) => return Ok(Vec::new()),
        Err(failure) => return Err(failure),
    };
    let policy: Value = serde_json::from_str(&text).map_err(|error| {
        let message = format!("the policy of {} is no JSON: {error}", place.function_arn);
        Failure::new(Cause::Other, "GetPolicy", message)
    })?;
    Ok(match policy.get("Statement") {
        Some(Value::Array(statements)) => statements.iter().cloned().map(Statement).collect(),
        Some(statement @ Value::Object(_)) => vec![Statement(statement.clone())],
        _ => Vec::new(),
    })
}

/// What a policy shows of a permission. `None` where the statement is missing or lets in something else.
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
    statement.lets_in(caller.service(), &source_arn).then(|| Observed {
        id: statement_id.to_string(),
        key,
        spec: Spec::LambdaPermission(spec.clone()),
        learned: Learned::new(),
    })
}

/// Adds a statement, or takes the one that is there already if it is equal, and waits until it shows.
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
    // Statements are lost when calls on one function overlap, whatever the qualifier.
    let _turn = session.process.locks.lock(format!("lambda {}", wanted.place.function_arn)).await;
    // A statement of ours that someone has rewritten.
    if operation.work.known.contains(&wanted.id) && wanted.is_rewritten(session).await? {
        remove(operation, &wanted.place, &wanted.id).await?;
    }
    add(operation, &wanted).await?;
    operation.record_id(&wanted.id);
    let deadlines = operation.deadlines(VISIBLE);
    until("the statement to show in the function's policy", &deadlines, Duration::from_secs(5), || async {
        Ok(wanted.find(session).await?.map_or_else(|| Poll::Pending("it does not show".to_string()), Poll::Done))
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
    /// Whether the statement is there; another one of its id is an error.
    async fn find(&self, session: &Session) -> Result<Option<()>, Failure> {
        match self.of_this_id(session).await? {
            Some(there) if there.lets_in(self.principal, &self.source_arn) => Ok(Some(())),
            Some(there) => Err(different(&self.place, &self.id, &there)),
            None => Ok(None),
        }
    }

    async fn is_rewritten(&self, session: &Session) -> Result<bool, Failure> {
        let there = self.of_this_id(session).await?;
        Ok(there.is_some_and(|it| !it.lets_in(self.principal, &self.source_arn)))
    }

    async fn of_this_id(&self, session: &Session) -> Result<Option<Statement>, Failure> {
        Ok(policy(session, &self.place).await?.into_iter().find(|it| it.id() == Some(&self.id)))
    }
}

/// Adds a statement, as soon as the function exists and no other change of it is at work.
async fn add(operation: &Operation<'_>, wanted: &WantedStatement) -> Result<(), Failure> {
    let (session, place) = (operation.session, &wanted.place);
    let client = session.lambda(&region(session, place));
    let call = || async {
        throttle(session, place).await;
        let call = client.add_permission().function_name(&place.function_arn).set_qualifier(place.qualifier.clone());
        let call = call.statement_id(&wanted.id).action("lambda:InvokeFunction");
        let call = call.principal(wanted.principal).source_arn(&wanted.source_arn);
        call.customize().config_override(session.once_lambda()).send().await.map(|_| ())
    };
    // That the function is absent is waited out below.
    let mutation = Mutation {
        action: "AddPermission",
        deadlines: &operation.work.deadlines,
        is_busy: |_| false,
        unknown_until: None,
        search: Search::TWO_LOOKS,
    };
    let new_until = Instant::now() + NEW_FUNCTION;
    until("a change of the function's policy", &operation.work.deadlines, Duration::from_secs(5), || async {
        match mutation.create(call, Ok, || wanted.find(session)).await {
            Ok(()) => Ok(Poll::Done(())),
            Err(failure) if codes::is_policy_conflict(&failure) => {
                Ok(wanted.find(session).await?.map_or_else(|| Poll::Pending(failure.to_string()), Poll::Done))
            }
            Err(failure) if is_absent(&failure) && Instant::now() < new_until => Ok(Poll::Pending(failure.to_string())),
            Err(failure) => Err(failure),
        }
    })
    .await
}

/// Nothing of a statement can change in place: everything that matters is part of its key.
pub(crate) async fn update(
    _operation: &Operation<'_>,
    _id: &str,
    _from: Option<&LambdaPermission>,
    _to: &LambdaPermission,
) -> Result<(), Failure> {
    Ok(())
}

/// Removes a statement. A deleted function has taken it along.
pub(crate) async fn delete(operation: &Operation<'_>, entry: &Entry) -> Result<(), Failure> {
    let Spec::LambdaPermission(spec) = &entry.applied else {
        return Err(Failure::new(Cause::Other, "RemovePermission", "no permission; this is a bug in the provider"));
    };
    let place = FunctionPolicy::of(operation, spec)?;
    let _turn = operation.session.process.locks.lock(format!("lambda {}", place.function_arn)).await;
    remove(operation, &place, &entry.id).await
}

/// Removes a statement, in the turn of whoever calls it.
async fn remove(operation: &Operation<'_>, place: &FunctionPolicy, statement_id: &str) -> Result<(), Failure> {
    let session = operation.session;
    let client = session.lambda(&region(session, place));
    let change = Mutation {
        action: "RemovePermission",
        deadlines: &operation.work.deadlines,
        is_busy: codes::is_policy_conflict,
        unknown_until: None,
        search: Search::TWO_LOOKS,
    };
    let delete = || async {
        throttle(session, place).await;
        let request = client.remove_permission().function_name(&place.function_arn);
        request.set_qualifier(place.qualifier.clone()).statement_id(statement_id).send().await
    };
    let is_there = || async { Ok(policy(session, place).await?.iter().any(|it| it.id() == Some(statement_id))) };
    match change.delete(delete, is_there).await {
        Err(failure) if !is_absent(&failure) => Err(failure),
        _ => Ok(()),
    }
}

/// Waits until one more change may be sent to the Region of a function.
async fn throttle(session: &Session, place: &FunctionPolicy) {
    let region = Some(region(session, place));
    let key = LimitKey { account: session.scope.account.clone(), region, calls: "lambda" };
    session.process.rate_limiter.acquire(key, CHANGES).await;
}

/// The id of the statement for a caller. It begins with the API's id, so that whose it is can be seen in the function's
/// policy.
pub(crate) fn statement_id(api_id: &str, place: &FunctionPolicy, caller: CallerId<'_>) -> String {
    let place = format!("{} {}", place.function_arn, place.qualifier.as_deref().unwrap_or_default());
    match caller {
        CallerId::Routes => format!("fgw-{api_id}-routes-{}", digest(&place)),
        CallerId::Authorizer(id) => format!("{}{id}", authorizer_prefix(api_id)),
        CallerId::LogGroup(name) => format!("fgw-{api_id}-logs-{}", digest(&format!("{place} {name}"))),
    }
}

impl CallerId<'_> {
    /// The principal. These names are the same in every partition.
    fn service(self) -> &'static str {
        match self {
            CallerId::Routes | CallerId::Authorizer(_) => "apigateway.amazonaws.com",
            CallerId::LogGroup(_) => "logs.amazonaws.com",
        }
    }
}

impl FunctionPolicy {
    /// The place of a function, alias or version.
    pub(crate) fn of_function(function: &FunctionArn) -> FunctionPolicy {
        FunctionPolicy { function_arn: function.unqualified(), qualifier: function.qualifier.clone() }
    }

    /// The function, with alias or version.
    pub(crate) fn function(&self) -> Option<FunctionArn> {
        let unqualified = FunctionArn::parse(&self.function_arn).ok()?;
        Some(FunctionArn { qualifier: self.qualifier.clone(), ..unqualified })
    }

    /// The place of a permission. `None` while it is unknown.
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

    /// The permission of an API at this place.
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

    /// Whether it lets a service call the function from this source, and does nothing else.
    fn lets_in(&self, principal: &str, source_arn: &str) -> bool {
        let allowed = self.0.get("Principal");
        let service = allowed.and_then(|it| it.get("Service").or(Some(it))).and_then(only);
        self.0.get("Effect").and_then(Value::as_str) == Some("Allow")
            && service == Some(principal)
            && self.0.get("Action").and_then(only) == Some("lambda:InvokeFunction")
            && self.sources().is_some_and(|sources| sources == [source_arn])
    }

    /// The sources that the statement is limited to. `None` where it is not limited to sources, or by more.
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

/// Policies may write one value as a list of one.
fn only(value: &Value) -> Option<&str> {
    match value {
        Value::Array(values) => match &values[..] {
            [value] => value.as_str(),
            _ => None,
        },
        value => value.as_str(),
    }
}

/// Policies change in the function's own Region.
fn region(session: &Session, place: &FunctionPolicy) -> String {
    FunctionArn::parse(&place.function_arn).map_or_else(|_| session.scope.region.clone(), |function| function.region)
}

fn source_arn(scope: &Scope, place: &FunctionPolicy, api_id: &str, caller: CallerId<'_>) -> String {
    // Only functions of the gateway's own account get here.
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

/// The authorizer that a statement is for.
pub(crate) fn authorizer_in<'a>(api_id: &str, statement_id: &'a str) -> Option<&'a str> {
    statement_id.strip_prefix(&authorizer_prefix(api_id))
}

fn is_absent(failure: &Failure) -> bool {
    failure.cause == Cause::NotFound
}

fn different(place: &FunctionPolicy, statement_id: &str, there: &Statement) -> Failure {
    let FunctionPolicy { function_arn, qualifier } = place;
    let qualifier = qualifier.iter().map(|it| format!(" --qualifier {it}")).collect::<String>();
    Failure::new(
        Cause::Exists,
        "AddPermission",
        format!(
            "the policy of {function_arn} has a statement {statement_id} already, which is not the one that is \
             needed: {}. Remove it (aws lambda remove-permission --function-name {function_arn}{qualifier} \
             --statement-id {statement_id}) and apply again",
            there.0
        ),
    )
}

#[cfg(test)]
mod tests;
