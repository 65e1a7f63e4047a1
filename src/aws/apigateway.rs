//! HTTP APIs of API Gateway.
//!
//! - An update is a PATCH: omitted fields keep their values. The `update` function of each kind documents how its
//!   fields are cleared.
//! - AWS rejects a change to an API while another change is in progress, so changes are serialized per API.
//! - No call takes an idempotency token, and delete operations return errors that the SDK does not model.

pub(crate) mod api;
pub(crate) mod api_mapping;
pub(crate) mod authorizer;
mod dependents;
pub(crate) mod deployment;
pub(crate) mod domain_name;
pub(crate) mod integration;
pub(crate) mod jwt_authorizer;
mod landscape;
mod link_users;
mod missing_api;
pub(crate) mod read;
#[cfg(test)]
mod recorded_shapes;
pub(crate) mod route;
pub(crate) mod stage;
pub(crate) mod vpc_link;

use std::time::Duration;

use aws_sdk_apigatewayv2::Client;
use sha2::{Digest, Sha256};
use tokio::sync::OwnedMutexGuard;

use crate::aws::Session;
use crate::aws::calls::Operation;
use crate::aws::calls::codes::{
    is_concurrent_change as is_busy, is_conflict, is_link_referenced, is_mapped, is_object_quota,
};
use crate::aws::calls::non_idempotent::{Mutation, Search};
use crate::aws::calls::rate_limit::{Limit, LimitKey};
use crate::aws::calls::wait;
use crate::cloud::{Case, Cause, Deadlines, Failure};
use crate::model::Scope;

pub(crate) use dependents::dependents;

/// API Gateway accepts 10 control plane calls per second with bursts of 40, per account and Region, for all actions
/// together including reads. AWS does not raise this quota. These limits are lower because other clients share the
/// quota and because the plan before an apply runs in another process, which may have used half of the burst.
const CALLS: Limit = Limit::Bucket { per_second: 9.0, burst: 20.0 };

/// AWS accepts one call every 30 seconds of each action that changes a custom domain. One second is added because
/// network latency varies.
const DOMAIN_CALLS: Limit = Limit::Bucket { per_second: 1.0 / 31.0, burst: 1.0 };

/// How long a deleted mapping may still block the deletion of its API or stage.
const MAPPING_LAG: Duration = Duration::from_secs(30);

/// How long AWS may still report a route as a user of an authorizer or an integration after the route was changed or
/// deleted.
const REFERENCE_LAG: Duration = Duration::from_secs(30);

/// Waits for the rate limiter and returns the client for one call. Every call to API Gateway uses this.
pub(crate) async fn client(session: &Session) -> &Client {
    session.process.rate_limiter.acquire(limit_key(session, "apigateway"), CALLS).await;
    &session.apigateway
}

/// Waits until a call that changes a domain, such as `CreateDomainName`, may be sent. The first call does not wait.
/// Fails if the deadline would pass first or if Terraform requests a stop.
async fn throttle_domain_call(session: &Session, action: &'static str, deadlines: &Deadlines) -> Result<(), Failure> {
    let why = format!("API Gateway accepts one {action} call every 30 s, and earlier calls are still waiting");
    session.process.rate_limiter.acquire_until(limit_key(session, action), DOMAIN_CALLS, deadlines, &why).await
}

fn limit_key(session: &Session, calls: &'static str) -> LimitKey {
    LimitKey { account: session.scope.account.clone(), region: Some(session.scope.region.clone()), calls }
}

/// The ARN of an API, which contains no account ID.
pub(crate) fn api_arn(scope: &Scope, api_id: &str) -> String {
    format!("arn:{}:apigateway:{}::/apis/{api_id}", scope.partition, scope.region)
}

/// The first 4 bytes of the SHA-256 hash of a text, as 8 hexadecimal digits.
pub(crate) fn digest(text: &str) -> String {
    Sha256::digest(text).iter().take(4).map(|byte| format!("{byte:02x}")).collect()
}

/// The prefix of an API's `execute-api` ARNs, which Lambda permissions use as the source ARN.
pub(crate) fn execution_arn(scope: &Scope, account: &str, api_id: &str) -> String {
    format!("arn:{}:execute-api:{}:{account}:{api_id}", scope.partition, scope.region)
}

/// Locks an API and returns the lock with a mutation of the API or of one of its children.
async fn change<'a>(
    operation: &'a Operation<'_>,
    api_id: &'a str,
    action: &'a str,
) -> (OwnedMutexGuard<()>, Mutation<'a>) {
    let lock = operation.session.process.locks.lock(format!("api {} {api_id}", operation.session.scope.region)).await;
    let unknown_until = operation.unknown_until(api_id);
    let (deadlines, parent) = (&operation.work.deadlines, missing_api::parent(operation, api_id));
    (lock, Mutation { action, deadlines, is_busy, unknown_until, search: Search::TWO_POLLS, parent })
}

/// Whether this resource manages an object: it is in state, or this process created it.
fn is_managed(operation: &Operation<'_>, id: &str) -> bool {
    operation.work.known.contains(id) || operation.session.process.created.contains(id)
}

fn is_absent(failure: &Failure) -> bool {
    failure.cause == Cause::NotFound
}

/// The listed objects: none if AWS reports that the object to which they belong is missing.
fn none_if_absent<T>(listed: Result<Vec<T>, Failure>) -> Result<Vec<T>, Failure> {
    match listed {
        Err(failure) if is_absent(&failure) => Ok(Vec::new()),
        listed => listed,
    }
}

/// Interprets the answer to a delete call: a conflict means that the object is in use.
fn deleted(answer: Result<(), Failure>) -> Result<(), Failure> {
    match answer {
        Err(failure) if is_conflict(&failure) || is_mapped(&failure) || is_link_referenced(&failure) => {
            Err(Failure { cause: Cause::InUse, ..failure })
        }
        answer => answer,
    }
}

/// For kinds of which no text is known: an answer that reports a missing object may be about any object.
fn is_unclear(_: &Failure) -> bool {
    false
}

/// Whether a list contains an object. The list of a deleted parent contains none.
fn holds<T>(listed: Result<Vec<T>, Failure>, is_it: impl Fn(&T) -> bool) -> Result<bool, Failure> {
    match listed {
        Ok(items) => Ok(items.iter().any(is_it)),
        Err(failure) if is_absent(&failure) => Ok(false),
        Err(failure) => Err(failure),
    }
}

/// Deletes an API or its stage, and retries as long as a deleted mapping may still block the deletion.
async fn unmapped<F>(operation: &Operation<'_>, api_id: &str, delete: impl Fn() -> F) -> Result<(), Failure>
where
    F: Future<Output = Result<(), Failure>>,
{
    let session = operation.session;
    let deleted = session.process.unmapped.age(&unmapped_id(session, api_id));
    let lag = deleted.map_or(Duration::ZERO, |age| MAPPING_LAG.saturating_sub(age));
    let deadlines = operation.deadlines(lag);
    wait::retry_while_in_use(&deadlines, delete).await
}

/// Deletes an authorizer or an integration, and retries as long as a changed route may still block the deletion.
/// `delete` acquires the lock of the API, so that other changes of the API are not blocked between two attempts.
async fn unreferenced<F>(operation: &Operation<'_>, delete: impl Fn() -> F) -> Result<(), Failure>
where
    F: Future<Output = Result<(), Failure>>,
{
    wait::retry_while_in_use(&operation.deadlines(REFERENCE_LAG), delete).await
}

/// Adds advice to the failure of a create call that exceeds a quota of the API or, for VPC links, of the account.
fn with_quota_advice(mut failure: Failure) -> Failure {
    if is_object_quota(&failure) {
        failure.cause = Cause::QuotaExceeded;
        failure.case = Some(Case::QuotaExceeded);
        failure.message = format!(
            "{}. Authorizers, integrations, routes and VPC links count against their quota until the update has deleted \
             them. Apply the configuration without the objects to be deleted first, or request a higher quota; AWS does \
             not raise the quota of integrations.",
            failure.message.trim_end_matches('.')
        );
    }
    failure
}

/// Records the deletion of mappings to an API.
fn note_unmapped(session: &Session, api_id: &str) {
    session.process.unmapped.add(unmapped_id(session, api_id));
}

fn unmapped_id(session: &Session, api_id: &str) -> String {
    format!("{} {api_id}", session.scope.region)
}

/// The name of the lock for changes of a domain.
fn domain_lock(session: &Session, name: &str) -> String {
    format!("domain {} {name}", session.scope.region)
}

/// AWS returns cleared text as an empty string or omits it.
fn text(shown: Option<&str>) -> Option<String> {
    shown.filter(|text| !text.is_empty()).map(str::to_string)
}

/// The page size of list calls. The default of AWS is small, and each page counts against the quota of the account. AWS
/// documents no maximum; 100 is an assumption.
const PAGE: &str = "100";

/// Reads all pages of a list. The SDK has no paginators for this service.
async fn pages<T, F>(mut page: impl FnMut(Option<String>) -> F) -> Result<Vec<T>, Failure>
where
    F: Future<Output = Result<(Vec<T>, Option<String>), Failure>>,
{
    let mut items = Vec::new();
    let mut token = None;
    loop {
        let (more, next) = page(token).await?;
        items.extend(more);
        match next.filter(|token| !token.is_empty()) {
            Some(next) => token = Some(next),
            None => return Ok(items),
        }
    }
}

/// The API that an object belongs to.
fn root_id<'a>(operation: &'a Operation<'_>) -> Result<&'a str, Failure> {
    let missing =
        || Failure::new(Cause::Other, operation.key.slot.clone(), "its API has no ID; this is a bug in the provider");
    operation.work.root_id.ok_or_else(missing)
}

/// The failure of a create call that returned no ID. AWS always returns one.
fn no_id(action: &str) -> Failure {
    Failure::new(Cause::Other, action, "AWS returned no ID")
}

/// Converts a number to the type of the SDK. A number out of range is clamped, and AWS rejects it with its own message.
fn small(number: i64) -> i32 {
    i32::try_from(number).unwrap_or(if number < 0 { i32::MIN } else { i32::MAX })
}

/// Tags an API, a stage, a domain or a VPC link.
async fn tag(
    session: &Session,
    arn: &str,
    tags: std::collections::BTreeMap<String, String>,
    change: &Mutation<'_>,
) -> Result<(), Failure> {
    if tags.is_empty() {
        return Ok(());
    }
    let tags: std::collections::HashMap<String, String> = tags.into_iter().collect();
    change
        .send(|| async {
            client(session).await.tag_resource().resource_arn(arn).set_tags(Some(tags.clone())).send().await
        })
        .await
        .map(|_| ())
}

/// Removes tags from an API, a stage, a domain or a VPC link.
async fn untag(session: &Session, arn: &str, keys: Vec<String>, change: &Mutation<'_>) -> Result<(), Failure> {
    if keys.is_empty() {
        return Ok(());
    }
    change
        .send(|| async {
            client(session).await.untag_resource().resource_arn(arn).set_tag_keys(Some(keys.clone())).send().await
        })
        .await
        .map(|_| ())
}

#[cfg(test)]
mod tests {
    use tokio::time::Instant;

    use super::*;
    use crate::aws::recorded::Recorded;

    #[tokio::test(start_paused = true)]
    async fn each_domain_action_has_its_own_limit_and_a_bounded_wait() {
        let aws = Recorded::default();
        let (session, start) = (aws.session("us-east-1"), Instant::now());
        let within = |seconds| Deadlines::until(Instant::now() + Duration::from_secs(seconds), Default::default());
        for action in ["CreateDomainName", "UpdateDomainName", "DeleteDomainName"] {
            throttle_domain_call(&session, action, &within(0)).await.unwrap();
        }
        assert_eq!(start.elapsed(), Duration::ZERO, "the first call of each action does not wait");
        throttle_domain_call(&session, "UpdateDomainName", &within(31)).await.unwrap();
        assert_eq!(start.elapsed(), Duration::from_secs(31));

        // After 31 s the limit of this action allows one call, and the next one would wait for 31 s.
        throttle_domain_call(&session, "CreateDomainName", &within(0)).await.unwrap();
        let failure = throttle_domain_call(&session, "CreateDomainName", &within(30)).await.unwrap_err();
        assert_eq!((failure.cause, start.elapsed()), (Cause::TimedOut, Duration::from_secs(61)));
        let deadlines = within(60);
        deadlines.stop.cancel();
        let failure = throttle_domain_call(&session, "CreateDomainName", &deadlines).await.unwrap_err();
        assert_eq!(failure.cause, Cause::Stopped);
        throttle_domain_call(&aws.session("eu-west-1"), "CreateDomainName", &deadlines).await.unwrap();
        assert_eq!(start.elapsed(), Duration::from_secs(61), "neither a stopped call nor another Region waits");
    }

    #[tokio::test(start_paused = true)]
    async fn sessions_of_one_region_share_one_rate_limit() {
        let aws = Recorded::default();
        let (one, other, start) = (aws.session("us-east-1"), aws.session("us-east-1"), Instant::now());
        for _ in 0..10 {
            client(&one).await;
            client(&other).await;
        }
        assert_eq!(start.elapsed(), Duration::ZERO, "the burst does not wait");
        for _ in 0..9 {
            client(&one).await;
            client(&other).await;
        }
        let seconds = start.elapsed().as_secs_f64();
        assert!((2.0..2.1).contains(&seconds), "18 calls over the burst took {seconds} s");
    }
}
