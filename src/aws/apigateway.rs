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
mod limiter;
pub(crate) mod read;
pub(crate) mod route;
pub(crate) mod stage;

use sha2::{Digest, Sha256};
use tokio::sync::OwnedMutexGuard;

use crate::aws::Session;
use crate::aws::calls::Operation;
use crate::aws::calls::non_idempotent::Change;
use crate::aws::calls::wait;
use crate::cloud::{Cause, Failure};
use crate::model::Scope;

pub(crate) use api_mapping::RecentlyUnmapped;
pub(crate) use dependents::in_the_way;
pub(crate) use limiter::{Limiter, turn};

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
async fn change<'a>(operation: &'a Operation<'_>, api_id: &str, action: &'a str) -> (OwnedMutexGuard<()>, Change<'a>) {
    let turn = operation.session.process.locks.turn(format!("api {} {api_id}", operation.session.scope.region)).await;
    let unknown_until = operation.unknown_until(api_id);
    (turn, Change { action, patience: &operation.work.patience, is_busy, unknown_until })
}

/// Of the conflicts only this one passes by itself.
fn is_busy(failure: &Failure) -> bool {
    failure.code.as_deref() == Some("ConflictException")
        && failure.message.to_lowercase().contains("concurrent modification")
}

fn is_absent(failure: &Failure) -> bool {
    failure.code.as_deref() == Some("NotFoundException")
}

fn is_conflict(failure: &Failure) -> bool {
    failure.code.as_deref() == Some("ConflictException") && !is_busy(failure)
}

/// A domain's mapping holds an API and its stages, and AWS does not call that a conflict.
fn is_mapped(failure: &Failure) -> bool {
    failure.message.to_lowercase().contains("remove all base path mappings")
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
    let patience = operation.patience(api_mapping::lag(operation.session, api_id));
    wait::released(&patience, delete).await
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
    change: &Change<'_>,
) -> Result<(), Failure> {
    if tags.is_empty() {
        return Ok(());
    }
    let tags: std::collections::HashMap<String, String> = tags.into_iter().collect();
    change
        .send(|| async {
            turn(session).await.tag_resource().resource_arn(arn).set_tags(Some(tags.clone())).send().await
        })
        .await
        .map(|_| ())
}

/// Removes tags from an API, a stage or a domain.
async fn untag(session: &Session, arn: &str, keys: Vec<String>, change: &Change<'_>) -> Result<(), Failure> {
    if keys.is_empty() {
        return Ok(());
    }
    change
        .send(|| async {
            turn(session).await.untag_resource().resource_arn(arn).set_tag_keys(Some(keys.clone())).send().await
        })
        .await
        .map(|_| ())
}
