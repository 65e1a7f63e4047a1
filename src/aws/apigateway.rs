//! HTTP APIs. Facts that shape every file here:
//!
//! - An update is a PATCH: a field that is not sent stays as it is. Each kind says how its fields are cleared.
//! - AWS refuses a change of an API while another one is at work, so changes take turns, API by API.
//! - No call has an idempotency token, and delete operations return errors that the SDK does not model.

pub(crate) mod api;
pub(crate) mod api_mapping;
pub(crate) mod authorizer;
mod dependents;
pub(crate) mod domain_name;
pub(crate) mod integration;
pub(crate) mod read;
pub(crate) mod route;
pub(crate) mod stage;

use std::time::Duration;

use aws_sdk_apigatewayv2::Client;
use sha2::{Digest, Sha256};
use tokio::sync::OwnedMutexGuard;

use crate::aws::Session;
use crate::aws::calls::Operation;
use crate::aws::calls::codes::{is_concurrent_change as is_busy, is_conflict, is_mapped};
use crate::aws::calls::non_idempotent::{Mutation, Search};
use crate::aws::calls::rate_limit::{Limit, LimitKey};
use crate::aws::calls::wait;
use crate::cloud::{Cause, Deadlines, Failure};
use crate::model::Scope;

pub(crate) use dependents::dependents;

/// API Gateway takes ten control calls a second, with bursts of forty, from one account in one Region: all kinds of
/// calls together, reads included, and AWS does not raise it. These limits are lower: others call too, and the plan
/// before an apply was another process, which may have used half of what AWS allows at once.
const CALLS: Limit = Limit::Bucket { per_second: 9.0, burst: 20.0 };

/// Of each call that changes a custom domain AWS takes one in thirty seconds. A second more, as calls do not travel
/// equally fast.
const DOMAIN_CALLS: Limit = Limit::Bucket { per_second: 1.0 / 31.0, burst: 1.0 };

/// How long AWS may go on seeing a mapping that it has deleted.
const MAPPING_LAG: Duration = Duration::from_secs(30);

/// The client, once it may be used for one call. Every call to API Gateway begins with this.
pub(crate) async fn client(session: &Session) -> &Client {
    session.process.rate_limiter.acquire(limit_key(session, "apigateway"), CALLS).await;
    &session.apigateway
}

/// Waits until a call that changes a domain may be sent, such as `CreateDomainName`. The first one passes at once.
/// Fails when the time is over before, or Terraform asks to stop.
async fn throttle_domain_call(session: &Session, action: &'static str, deadlines: &Deadlines) -> Result<(), Failure> {
    let why = format!("API Gateway takes one {action} in 30 s, and others are before this one");
    session.process.rate_limiter.acquire_until(limit_key(session, action), DOMAIN_CALLS, deadlines, &why).await
}

fn limit_key(session: &Session, calls: &'static str) -> LimitKey {
    LimitKey { account: session.scope.account.clone(), region: Some(session.scope.region.clone()), calls }
}

/// The ARN of an API. It has no account in it.
pub(crate) fn api_arn(scope: &Scope, api_id: &str) -> String {
    format!("arn:{}:apigateway:{}::/apis/{api_id}", scope.partition, scope.region)
}

/// A few characters that stand for a text.
pub(crate) fn digest(text: &str) -> String {
    Sha256::digest(text).iter().take(4).map(|byte| format!("{byte:02x}")).collect()
}

/// The beginning of the ARNs of what callers invoke, as Lambda permissions name it.
pub(crate) fn execution_arn(scope: &Scope, account: &str, api_id: &str) -> String {
    format!("arn:{}:execute-api:{}:{account}:{api_id}", scope.partition, scope.region)
}

/// A change of an API or of one of its children, and the turn that it needs.
async fn change<'a>(
    operation: &'a Operation<'_>,
    api_id: &str,
    action: &'a str,
) -> (OwnedMutexGuard<()>, Mutation<'a>) {
    let turn = operation.session.process.locks.lock(format!("api {} {api_id}", operation.session.scope.region)).await;
    let unknown_until = operation.unknown_until(api_id);
    (turn, Mutation { action, deadlines: &operation.work.deadlines, is_busy, unknown_until, search: Search::TWO_LOOKS })
}

fn is_absent(failure: &Failure) -> bool {
    failure.cause == Cause::NotFound
}

/// The end of a delete: absence is success, and a conflict means that something still uses the object.
fn deleted<T>(answer: Result<T, Failure>) -> Result<(), Failure> {
    match answer {
        Ok(_) => Ok(()),
        Err(failure) if is_absent(&failure) => Ok(()),
        Err(failure) if is_conflict(&failure) || is_mapped(&failure) => Err(Failure { cause: Cause::InUse, ..failure }),
        Err(failure) => Err(failure),
    }
}

/// Whether a list still holds an object. Where what the list belongs to is gone, it does not.
fn holds<T>(listed: Result<Vec<T>, Failure>, is_it: impl Fn(&T) -> bool) -> Result<bool, Failure> {
    match listed {
        Ok(items) => Ok(items.iter().any(is_it)),
        Err(failure) if is_absent(&failure) => Ok(false),
        Err(failure) => Err(failure),
    }
}

/// Sends the deletion of an API or of its stage, as long as AWS may still see a mapping to it that has just gone.
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

/// Notes that mappings of an API have just been deleted.
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

/// AWS shows text that was cleared as an empty string, or not at all.
fn text(shown: Option<&str>) -> Option<String> {
    shown.filter(|text| !text.is_empty()).map(str::to_string)
}

/// How many items a list call asks for. AWS gives few where nothing is asked for, and each page takes a call of those
/// that the whole account shares. AWS writes down no limit; a hundred is taken.
const PAGE: &str = "100";

/// Reads a list to its end. The SDK has no paginators for this service.
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
        || Failure::new(Cause::Other, operation.key.slot.clone(), "its API has no id; this is a bug in the provider");
    operation.work.root_id.ok_or_else(missing)
}

/// An answer without an id, which AWS does not give.
fn no_id(action: &str) -> Failure {
    Failure::new(Cause::Other, action, "AWS answered without an id")
}

/// A number as AWS takes it. What does not fit is cut to the limit, which AWS then refuses with its own words.
fn small(number: i64) -> i32 {
    i32::try_from(number).unwrap_or(if number < 0 { i32::MIN } else { i32::MAX })
}

/// Tags an API, a stage or a domain.
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

/// Removes tags from an API, a stage or a domain.
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
    async fn each_call_about_a_domain_has_a_limit_of_its_own_and_its_wait_ends_with_time_and_stop() {
        let aws = Recorded::default();
        let (session, start) = (aws.session("us-east-1"), Instant::now());
        let within = |seconds| Deadlines::until(Instant::now() + Duration::from_secs(seconds), Default::default());
        for action in ["CreateDomainName", "UpdateDomainName", "DeleteDomainName"] {
            throttle_domain_call(&session, action, &within(0)).await.unwrap();
        }
        assert_eq!(start.elapsed(), Duration::ZERO, "the first call of each action does not wait");
        throttle_domain_call(&session, "UpdateDomainName", &within(31)).await.unwrap();
        assert_eq!(start.elapsed(), Duration::from_secs(31));

        // By now the limit of this action has recovered: one call passes, and the next would wait for 31 s.
        throttle_domain_call(&session, "CreateDomainName", &within(0)).await.unwrap();
        let failure = throttle_domain_call(&session, "CreateDomainName", &within(30)).await.unwrap_err();
        assert_eq!((failure.cause, start.elapsed()), (Cause::TimedOut, Duration::from_secs(61)));
        let deadlines = within(60);
        deadlines.stop.cancel();
        let failure = throttle_domain_call(&session, "CreateDomainName", &deadlines).await.unwrap_err();
        assert_eq!(failure.cause, Cause::Stopped);
        throttle_domain_call(&aws.session("eu-west-1"), "CreateDomainName", &deadlines).await.unwrap();
        assert_eq!(start.elapsed(), Duration::from_secs(61), "neither a stop nor another Region waits");
    }

    #[tokio::test(start_paused = true)]
    async fn sessions_of_one_region_share_the_limit_of_all_calls() {
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
