//! Gateway endpoints.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::time::Duration;

use aws_sdk_ec2::Client;
use aws_sdk_ec2::types::{ResourceType, Tag, VpcEndpoint as Endpoint, VpcEndpointType};
use futures::future::join_all;

use super::claims::{Claims, Evidence, Ours};
use super::{client_token, conflicts, filter_any, tags};
use crate::aws::Session;
use crate::aws::calls::codes;
use crate::aws::calls::codes::missing::MissingCodes;
use crate::aws::calls::errors::{incomplete_answer, item_failure};
use crate::aws::calls::ownership;
use crate::aws::calls::poller::Polled;
use crate::aws::calls::rate_limit::{Limit, LimitKey};
use crate::aws::calls::wait;
use crate::aws::calls::wait::{Backoff, Poll};
use crate::aws::calls::{Operation, OrFailure, list_all};
use crate::aws::ec2::observed::{Listed, Shown};
use crate::cloud::{Case, Cause, Failure, Observed};
use crate::model::Input;
use crate::model::keys::network::EndpointService;
use crate::model::{Entry, FoundEndpoint, Key, Learned, Ref, Spec, VpcEndpoint, policy_in_vpc, shown_policy};

/// AWS returns the first one for a deletion, and the second one for a read.
pub(super) const MISSING: MissingCodes =
    MissingCodes(&["InvalidVpcEndpoint.NotFound", "InvalidVpcEndpointId.NotFound"]);

/// How long an endpoint may be pending or deleting.
pub(super) const READY: Duration = Duration::from_secs(10 * 60);

/// AWS accepts four calls of each action that changes endpoints at once, and then three in ten seconds, per account and
/// Region (request throttling in EC2's developer guide). The burst is smaller, because calls do not arrive exactly when
/// they are sent.
const CALLS: Limit = Limit::Bucket { per_second: 0.3, burst: 3.5 };

/// Waits until one more call of an action that changes an endpoint may be sent.
pub(super) async fn acquire(operation: &Operation<'_>, action: &'static str) -> Result<(), Failure> {
    let Session { scope, process, .. } = operation.session;
    let key = LimitKey { account: scope.account.clone(), region: Some(scope.region.clone()), calls: action };
    let why = format!("EC2 accepts three {action} calls in ten seconds, and earlier ones are still waiting");
    process.rate_limiter.acquire_until(key, CALLS, &operation.work.deadlines, &why).await
}

/// Whether the endpoint exists. AWS returns a deleted one for some time.
pub(super) fn exists(endpoint: &Endpoint) -> bool {
    !matches!(state(endpoint).as_str(), "deleted" | "deleting")
}

/// Whether it is a gateway endpoint. Some partitions return no type for these.
pub(super) fn is_gateway(endpoint: &Endpoint) -> bool {
    endpoint.vpc_endpoint_type().is_none_or(|kind| kind.as_str().is_empty() || *kind == VpcEndpointType::Gateway)
}

impl Listed for Endpoint {
    fn id(&self) -> Option<&str> {
        self.vpc_endpoint_id()
    }

    fn tags(&self) -> &[Tag] {
        self.tags()
    }

    /// Route tables must have been claimed.
    fn evidence<'a>(&'a self, claims: &Claims<'a>) -> Evidence<'a> {
        let service = self.service_name().unwrap_or_default();
        let is_slot: fn(&str) -> bool = match EndpointService::of_name(service) {
            Some(EndpointService::ObjectStore) => |slot| slot == "vpc_endpoint.objectstore",
            Some(EndpointService::KeyValue) => |slot| slot == "vpc_endpoint.keyvalue",
            None => |_| false,
        };
        let users = self.route_table_ids().iter().map(String::as_str);
        Evidence {
            fixed: service.to_string(),
            needs_consent: claims.foreign_table(users.clone()),
            requires: users.collect(),
            ..Evidence::new("an endpoint for this service", is_slot)
        }
    }

    /// Leaves out the route tables that were added outside Terraform.
    fn read(&self, shown: &Shown<'_>, ours: Ours<'_>) -> Option<Observed> {
        let (key, applied) = ours.place(VpcEndpoint::of)?;
        let service_name = Input::Known(self.service_name()?.to_string());
        let applied_tables = applied.map(|applied| applied.route_tables.as_slice()).unwrap_or_default();
        let tables = self.route_table_ids().iter().map(|id| shown.reference(id));
        let mut route_tables: Vec<Ref> =
            tables.filter(|table| matches!(table, Ref::Key(_)) || applied_tables.contains(table)).collect();
        route_tables.sort();
        let applied_policy = applied.and_then(|applied| applied.policy.known()).and_then(|policy| policy.as_deref());
        Some(Observed {
            id: self.vpc_endpoint_id()?.to_string(),
            key: if applied.is_some() { key } else { Key::fixed(key.slot, service_name.clone()) },
            spec: Spec::VpcEndpoint(VpcEndpoint {
                vpc: shown.vpc.clone(),
                service_name,
                route_tables,
                policy: Input::Known(shown_policy(self.policy_document(), applied_policy, shown.network.root_id)),
                tags: tags::own(self.tags()),
            }),
            learned: Learned::new(),
        })
    }
}

impl From<&Endpoint> for FoundEndpoint {
    fn from(it: &Endpoint) -> FoundEndpoint {
        FoundEndpoint {
            id: it.vpc_endpoint_id().unwrap_or_default().to_string(),
            tags: tags::all(it.tags()),
            service_name: it.service_name().unwrap_or_default().to_string(),
            route_tables: it.route_table_ids().to_vec(),
        }
    }
}

pub(crate) async fn create(operation: &Operation<'_>, spec: &VpcEndpoint) -> Result<(), Failure> {
    let (session, vpc_id) = (operation.session, operation.id(&spec.vpc)?);
    let tables = resolve(operation, &spec.route_tables)?;
    let (service_name, policy) = (operation.known(&spec.service_name)?, operation.known(&spec.policy)?);
    let tags = ownership::tags_on_create(operation, &spec.tags)?;
    let used: Vec<&str> = [vpc_id].into_iter().chain(tables.iter().map(String::as_str)).collect();
    let send = |with_tags: bool| {
        let call = session
            .ec2
            .create_vpc_endpoint()
            .vpc_id(vpc_id)
            .vpc_endpoint_type(VpcEndpointType::Gateway)
            .service_name(service_name)
            .set_route_table_ids(Some(tables.clone()))
            .set_policy_document(policy.as_deref().map(|policy| policy_in_vpc(policy, vpc_id)))
            .client_token(client_token());
        let specification = with_tags.then(|| vec![tags::on_create(ResourceType::VpcEndpoint, &tags)]);
        async move {
            acquire(operation, "CreateVpcEndpoint").await?;
            let answer = call.set_tag_specifications(specification).send().await;
            let answer = answer.or_failure("CreateVpcEndpoint")?;
            let id = answer.vpc_endpoint().and_then(|it| it.vpc_endpoint_id());
            id.map(str::to_string).ok_or_else(|| incomplete_answer("CreateVpcEndpoint", "an id"))
        }
    };
    let (id, has_tags) = match operation.retry_until_visible(&used, || send(true)).await {
        Err(failure) if codes::is_tagging_unsupported(&failure, &session.scope.partition) => {
            (operation.retry_until_visible(&used, || send(false)).await?, false)
        }
        Err(failure) if failure.cause == Cause::Exists => {
            return Err(conflicts::with_other_endpoint(session, failure, vpc_id, (None, service_name), &tables).await);
        }
        created => (created?, true),
    };
    operation.record_id(&id);
    if !has_tags {
        tags::set(operation, &id, &tags).await?;
    }
    let check = |endpoint: Option<&Endpoint>| {
        let Some(endpoint) = endpoint else {
            return Ok(Poll::Pending("the endpoint is not visible yet".to_string()));
        };
        match state(endpoint).as_str() {
            "available" => Ok(Poll::Done(())),
            "failed" | "rejected" | "expired" => Err(last_error("CreateVpcEndpoint", endpoint)),
            other => Ok(Poll::Pending(format!("the endpoint is {other}"))),
        }
    };
    session
        .pollers
        .vpc_endpoints
        .until(&session.ec2, "CreateVpcEndpoint", &id, &operation.deadlines(READY), check)
        .await
}

/// Updates route tables and policy in one call, and tags. Waits until AWS returns the new route tables, because a plan
/// directly after the apply would otherwise report drift. The policy is not waited for: AWS may return a text that
/// differs for another reason than a delay.
pub(crate) async fn update(
    operation: &Operation<'_>,
    id: &str,
    from: &VpcEndpoint,
    to: &VpcEndpoint,
) -> Result<(), Failure> {
    let (session, root_id) = (operation.session, operation.root_id()?);
    let wanted = resolve(operation, &to.route_tables)?;
    // A table that has been deleted since is no longer associated.
    let before = from.route_tables.iter().filter_map(|table| operation.work.ids.resolve(table).map(str::to_string));
    let before: Vec<String> = before.collect();
    let mut add: Vec<String> = wanted.iter().filter(|id| !before.contains(id)).cloned().collect();
    let mut remove: Vec<String> = before.into_iter().filter(|id| !wanted.contains(id)).collect();
    let mut ownership = BTreeMap::new();
    if operation.is_resumed() {
        // AWS may have completed the earlier update since it was read, and rejects a table that is already associated.
        let found = session.pollers.vpc_endpoints.now(&session.ec2, id).await?;
        let tables = found.as_ref().map(|it| it.route_table_ids()).unwrap_or_default();
        add.retain(|id| !tables.contains(id));
        remove.retain(|id| tables.contains(id));
        ownership = tags::missing_ownership(operation, found.iter().flat_map(|it| it.tags()))?;
    }
    let policy = (from.policy != to.policy).then(|| operation.known(&to.policy)).transpose()?;
    if !add.is_empty() || !remove.is_empty() || policy.is_some() {
        let used: Vec<&str> = [id].into_iter().chain(add.iter().map(String::as_str)).collect();
        let policy = policy.map(|it| it.as_deref().map(|it| policy_in_vpc(it, root_id)));
        let changed = operation
            .retry_until_visible(&used, || async {
                let mut call = session
                    .ec2
                    .modify_vpc_endpoint()
                    .vpc_endpoint_id(id)
                    .set_add_route_table_ids((!add.is_empty()).then(|| add.clone()))
                    .set_remove_route_table_ids((!remove.is_empty()).then(|| remove.clone()));
                call = match &policy {
                    Some(Some(policy)) => call.policy_document(policy),
                    Some(None) => call.reset_policy(true),
                    None => call,
                };
                acquire(operation, "ModifyVpcEndpoint").await?;
                call.send().await.map(|_| ()).or_failure("ModifyVpcEndpoint")
            })
            .await;
        match changed {
            Err(failure) if failure.cause == Cause::Exists => {
                let (vpc_id, service_name) = (operation.id(&to.vpc)?, operation.known(&to.service_name)?);
                return Err(
                    conflicts::with_other_endpoint(session, failure, vpc_id, (Some(id), service_name), &add).await
                );
            }
            changed => changed?,
        }
    }
    if !add.is_empty() || !remove.is_empty() {
        await_tables(operation, id, &add, &remove).await?;
    }
    tags::update_with(operation, id, &from.tags, &to.tags, ownership).await
}

/// Waits until the endpoint has the added route tables and none of the removed ones.
async fn await_tables(operation: &Operation<'_>, id: &str, add: &[String], remove: &[String]) -> Result<(), Failure> {
    let (session, deadlines) = (operation.session, operation.deadlines(wait::PROPAGATION));
    let check = |endpoint: Option<&Endpoint>| {
        let tables = endpoint.map(|it| it.route_table_ids()).unwrap_or_default();
        let is_current = add.iter().all(|id| tables.contains(id)) && !remove.iter().any(|id| tables.contains(id));
        let pending = || Poll::Pending(format!("the endpoint has the route tables {}", tables.join(", ")));
        Ok(if is_current { Poll::Done(()) } else { pending() })
    };
    session.pollers.vpc_endpoints.until(&session.ec2, "ModifyVpcEndpoint", id, &deadlines, check).await
}

/// Deletes the endpoint, and with it its routes in all tables.
pub(crate) async fn delete(operation: &Operation<'_>, entry: &Entry) -> Result<(), Failure> {
    let id = entry.id.as_str();
    let session = operation.session;
    let is_missing = |failure: &Failure| MISSING.match_failure(failure, id);
    let is_there =
        || async { Ok(session.pollers.vpc_endpoints.now(&session.ec2, id).await?.is_some_and(|it| exists(&it))) };
    acquire(operation, "DeleteVpcEndpoints").await?;
    let deleted = wait::delete(&operation.work.deadlines, is_missing, is_there, || async {
        match send_delete(session, id).await {
            Err(failure) if codes::is_route_missing(&failure) => {
                leave_tables(session, id).await?;
                send_delete(session, id).await
            }
            deleted => deleted,
        }
    })
    .await;
    deleted.map_err(|failure| match codes::is_needed_by_interface_endpoint(&failure) {
        true => {
            let message = format!(
                "{}. Delete the interface endpoint first, or set its option private_dns_only_for_inbound_resolver_endpoint \
                 to false; or keep this endpoint: set create_vpc_endpoints to true",
                failure.message
            );
            Failure { message, case: Some(Case::S3Endpoint), ..failure }
        }
        false => failure,
    })?;
    until_deleted(operation, id).await
}

/// Removes an endpoint from all its route tables. An emulator may be unable to delete it while one of them has been
/// deleted or lacks the route.
async fn leave_tables(session: &Session, id: &str) -> Result<(), Failure> {
    let endpoint = session.pollers.vpc_endpoints.now(&session.ec2, id).await?;
    let tables = endpoint.filter(exists).and_then(|it| it.route_table_ids).unwrap_or_default();
    if tables.is_empty() {
        return Ok(());
    }
    let call = session.ec2.modify_vpc_endpoint().vpc_endpoint_id(id).set_remove_route_table_ids(Some(tables));
    call.send().await.map(|_| ()).or_failure("ModifyVpcEndpoint")
}

/// The endpoints of all types in a VPC, also deleted ones. Not every implementation of the EC2 API applies the filter.
pub(super) async fn in_vpc(session: &Session, vpc_id: &str) -> Result<Vec<Endpoint>, Failure> {
    let ec2 = session.ec2.clone();
    let list = move |ids| {
        let call = ec2.describe_vpc_endpoints().filters(filter_any::<String>("vpc-id", ids));
        list_all("DescribeVpcEndpoints", call.into_paginator().items().send())
    };
    let found = session.shared.endpoints.of(&session.shared.networks, vpc_id, Endpoint::vpc_id, list).await?;
    Ok(found.into_iter().filter(|endpoint| endpoint.vpc_id().is_none_or(|id| id == vpc_id)).collect())
}

/// Endpoints are read by their IDs, because not every implementation of the EC2 API has a filter for these.
impl Polled for Endpoint {
    type Client = Client;
    const LONGEST: Duration = wait::MINUTES;

    async fn describe(client: &Client, ids: &[String]) -> Result<Vec<(String, Endpoint)>, Failure> {
        match endpoints(client, ids).await {
            // One missing endpoint fails the whole call.
            Err(failure) if failure.cause == Cause::NotFound && ids.len() > 1 => {
                let each = join_all(ids.iter().map(|id| endpoints(client, std::slice::from_ref(id)))).await;
                let each = each.into_iter().zip(ids).map(|(found, id)| if_found(found, id));
                each.collect::<Result<Vec<_>, _>>().map(|found| found.concat())
            }
            found => if_found(found, ids.first().map_or("", String::as_str)),
        }
    }
}

/// The endpoints with these IDs, at most 200. `NotFound` if one of them does not exist.
async fn endpoints(client: &Client, ids: &[String]) -> Result<Vec<(String, Endpoint)>, Failure> {
    let call = client.describe_vpc_endpoints().set_vpc_endpoint_ids(Some(ids.to_vec()));
    let found = list_all("DescribeVpcEndpoints", call.into_paginator().items().send()).await?;
    Ok(found.into_iter().filter_map(|it| Some((it.vpc_endpoint_id()?.to_string(), it))).collect())
}

/// Nothing if the failure reports the endpoint as missing.
fn if_found<T>(found: Result<Vec<T>, Failure>, id: &str) -> Result<Vec<T>, Failure> {
    match found {
        Err(failure) if MISSING.match_failure(&failure, id) => Ok(Vec::new()),
        found => found,
    }
}

/// Requests the deletion of an endpoint. AWS reports a rejection inside a successful response.
pub(super) async fn send_delete(session: &Session, id: &str) -> Result<(), Failure> {
    let call = session.ec2.delete_vpc_endpoints().vpc_endpoint_ids(id).send().await;
    let answer = call.or_failure("DeleteVpcEndpoints")?;
    match answer.unsuccessful().first() {
        None => Ok(()),
        Some(item) => {
            let (code, message) = (item.error().and_then(|it| it.code()), item.error().and_then(|it| it.message()));
            Err(item_failure("DeleteVpcEndpoints", code, message))
        }
    }
}

/// Retries a change of an interface endpoint while AWS still makes an earlier one.
pub(super) async fn while_busy<T, F>(operation: &Operation<'_>, send: impl FnMut() -> F) -> Result<T, Failure>
where
    F: Future<Output = Result<T, Failure>>,
{
    let (deadlines, mut backoff) = (operation.deadlines(READY), Backoff::new(wait::SECONDS));
    wait::retry_while(&deadlines, &mut backoff, codes::is_endpoint_busy, send).await
}

/// Waits until an endpoint is deleted.
pub(super) async fn until_deleted(operation: &Operation<'_>, id: &str) -> Result<(), Failure> {
    let session = operation.session;
    let was_deleting = AtomicBool::new(false);
    session
        .pollers
        .vpc_endpoints
        .until(&session.ec2, "DeleteVpcEndpoints", id, &operation.deadlines(READY), |endpoint| {
            let Some(endpoint) = endpoint else { return Ok(Poll::Done(())) };
            let state = state(endpoint);
            was_deleting.fetch_or(state == "deleting", Relaxed);
            match state.as_str() {
                "deleted" => Ok(Poll::Done(())),
                // A read may still return the state from before the deletion.
                "failed" if was_deleting.load(Relaxed) => {
                    Err(Failure { cause: Cause::InUse, ..last_error("DeleteVpcEndpoints", endpoint) })
                }
                state => Ok(Poll::Pending(format!("the endpoint is {state}"))),
            }
        })
        .await
}

/// The failure that AWS shows in a failed endpoint.
pub(super) fn last_error(action: &str, endpoint: &Endpoint) -> Failure {
    let error = endpoint.last_error();
    let (code, message) = (error.and_then(|it| it.code()), error.and_then(|it| it.message()));
    Failure { cause: Cause::Other, ..item_failure(action, code, message) }
}

/// The state in lower case. The API model capitalizes states, but AWS returns them in lower case.
pub(super) fn state(endpoint: &Endpoint) -> String {
    endpoint.state().map(|state| state.as_str().to_lowercase()).unwrap_or_default()
}

/// The IDs that references refer to.
pub(super) fn resolve(operation: &Operation<'_>, references: &[Ref]) -> Result<Vec<String>, Failure> {
    references.iter().map(|it| operation.resolve(it).map(str::to_string)).collect()
}

#[cfg(test)]
mod tests;
