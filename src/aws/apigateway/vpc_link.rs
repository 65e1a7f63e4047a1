//! VPC links, which belong to an account and not to an API. AWS sets them up and deletes them asynchronously, and it
//! accepts few calls of each action. The calls take no idempotency token, so after a lost answer a link is recognized
//! by the tag of the request.

use std::collections::BTreeMap;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::time::Duration;

use aws_sdk_apigatewayv2::types::{VpcLink as Shown, VpcLinkStatus};

use super::deployment::before_deletion;
use super::{
    PAGE, client, deleted, is_absent, is_busy, is_unclear, limit_key, link_users, no_id, none_if_absent, pages,
    root_id, tag, untag, with_quota_advice,
};
use crate::aws::Session;
use crate::aws::calls::codes::is_object_quota;
use crate::aws::calls::deployed_changes::Awaited;
use crate::aws::calls::non_idempotent::{Mutation, Search};
use crate::aws::calls::rate_limit::Limit;
use crate::aws::calls::tag_changes::{self, TagChanges};
use crate::aws::calls::wait::{self, Backoff, Poll};
use crate::aws::calls::{Operation, OrFailure, ownership};
use crate::cloud::{Cause, Extent, Failure, Observed};
use crate::model::keys::gateway as keys;
use crate::model::{Entry, Input, Key, Learned, Object, Scope, Spec, VpcLink};

/// How long AWS may take to set up a link, or to delete it.
const SETTLED: Duration = Duration::from_secs(10 * 60);

/// How long an available link may not serve requests yet. AWS documents no such time.
const WARM_UP: Duration = Duration::from_secs(5);

/// How long AWS may still report a route as a user of a link after the last deployment.
const REFERENCE_LAG: Duration = Duration::from_secs(5 * 60);

/// AWS accepts one CreateVpcLink every 15 seconds. One second is added because network latency varies.
const CREATES: Limit = Limit::Bucket { per_second: 1.0 / 16.0, burst: 1.0 };

/// AWS accepts one DeleteVpcLink every 30 seconds.
const DELETES: Limit = Limit::Bucket { per_second: 1.0 / 31.0, burst: 1.0 };

/// Lists the links of the account in the Region.
pub(super) async fn list(session: &Session) -> Result<Vec<Shown>, Failure> {
    pages(|token| async move {
        let answer = client(session).await.get_vpc_links().max_results(PAGE).set_next_token(token).send().await;
        let answer = answer.or_failure("GetVpcLinks")?;
        Ok((answer.items.unwrap_or_default(), answer.next_token))
    })
    .await
}

/// The same. An emulator without links reports the list as missing, which AWS never does.
pub(super) async fn list_if_supported(session: &Session) -> Result<Vec<Shown>, Failure> {
    none_if_absent(list(session).await)
}

/// Converts a link that AWS returned to an observation. One that AWS deletes is missing. A failed one never recovers,
/// so it gets another key than the wanted one, and the plan replaces it. An inactive one recovers with the next
/// request.
pub(super) fn read(shown: &Shown, api: Key, key: Key) -> Option<Observed> {
    if shown.vpc_link_status == Some(VpcLinkStatus::Deleting) {
        return None;
    }
    let has_failed = key.has_failed || shown.vpc_link_status == Some(VpcLinkStatus::Failed);
    let spec = VpcLink {
        api,
        name: Input::Known(shown.name.clone().unwrap_or_default()),
        subnet_ids: Input::Known(shown.subnet_ids().iter().cloned().collect()),
        security_group_ids: Input::Known(shown.security_group_ids().iter().cloned().collect()),
        tags: tag_changes::shown(shown.tags.iter().flatten()),
    };
    Some(Observed {
        id: shown.vpc_link_id.clone()?,
        key: Key { has_failed, ..key },
        spec: Spec::VpcLink(spec),
        learned: Learned::new(),
    })
}

/// Lists the links if state contains one.
pub(super) async fn known(session: &Session, known: &[Entry]) -> Result<Vec<Shown>, Failure> {
    match known.iter().any(|entry| matches!(entry.applied, Spec::VpcLink(_))) {
        true => list(session).await,
        false => Ok(Vec::new()),
    }
}

/// The link with this ID.
pub(super) fn find<'a>(links: &'a [Shown], id: &str) -> Option<&'a Shown> {
    links.iter().find(|it| it.vpc_link_id.as_deref() == Some(id))
}

/// The known links that still exist after the deletion of the API.
pub(super) async fn outliving(session: &Session, entries: &[Entry]) -> Result<Vec<Observed>, Failure> {
    let links = known(session, entries).await?;
    let read = |entry: &Entry| {
        let applied = VpcLink::of(&entry.applied)?;
        self::read(find(&links, &entry.id)?, applied.api.clone(), entry.key.clone())
    };
    Ok(entries.iter().filter_map(read).collect())
}

/// The status of a link. `None` for one that does not exist, or that AWS deletes.
pub(crate) async fn status_of(session: &Session, id: &str) -> Result<Option<String>, Failure> {
    let shown = get(session, id).await?;
    Ok(shown.filter(|it| it.vpc_link_status != Some(VpcLinkStatus::Deleting)).map(|it| status(&it)))
}

/// A link whose tags name this root as its owner.
pub(super) fn own(shown: &Shown, resource: &str, api: &Key) -> Option<Observed> {
    let tag = |key: &str| shown.tags.as_ref().and_then(|tags| tags.get(key)).map(String::as_str);
    let slot = tag(ownership::OBJECT).filter(|_| tag(ownership::RESOURCE) == Some(resource))?;
    under(shown, slot, api)
}

/// A link under this slot. `None` for the slot of another kind.
pub(super) fn under(shown: &Shown, slot: &str, api: &Key) -> Option<Observed> {
    let read = read(shown, api.clone(), Key::new(slot))?;
    let link = VpcLink::of(&read.spec)?;
    let key = keys::vpc_link(slot.strip_prefix(keys::VPC_LINK)?, &link.subnet_ids, &link.security_group_ids);
    let key = Key { has_failed: read.key.has_failed, ..key };
    Some(Observed { key, ..read })
}

/// Finds, among links that a plan creates, those that an interrupted run has created.
pub(super) async fn leftovers(
    session: &Session,
    resource: &str,
    objects: &[&Object],
) -> Result<Vec<Observed>, Failure> {
    let links: Vec<&&Object> = objects.iter().filter(|object| matches!(object.spec, Spec::VpcLink(_))).collect();
    let Some(VpcLink { api, .. }) = links.first().and_then(|object| VpcLink::of(&object.spec)) else {
        return Ok(Vec::new());
    };
    let all = list(session).await?;
    let own = all.iter().filter_map(|shown| own(shown, resource, api));
    // The key of an entry is free text, so the tag may contain another one.
    let is_required =
        |found: &Observed| links.iter().any(|object| object.key.fixed == found.key.fixed && !found.key.has_failed);
    Ok(own.filter(is_required).collect())
}

/// Creates a link, and waits until integrations can use it.
pub(crate) async fn create(operation: &Operation<'_>, spec: &VpcLink) -> Result<(), Failure> {
    let session = operation.session;
    let mut tags = ownership::tags_on_create(operation, &spec.tags)?;
    let request = ownership::add_request(&mut tags);
    let name = operation.known(&spec.name)?;
    let subnets = operation.known(&spec.subnet_ids)?;
    let groups = operation.known(&spec.security_group_ids)?;
    let find = || async {
        let all = list(session).await?;
        let created = all.into_iter().find(|it| ownership::is_of_request(it.tags.as_ref(), &request));
        Ok(created.map(|it| it.vpc_link_id))
    };
    throttle(operation, "CreateVpcLink", CREATES).await?;
    let change = mutation(operation, "CreateVpcLink");
    let answer = change.create(
        || async {
            let answer = client(session)
                .await
                .create_vpc_link()
                .name(name)
                .set_subnet_ids(Some(subnets.iter().cloned().collect()))
                .set_security_group_ids(Some(groups.iter().cloned().collect()).filter(|it: &Vec<_>| !it.is_empty()))
                .set_tags(Some(tags.clone().into_iter().collect()))
                .customize()
                .config_override(session.once_apigateway())
                .send()
                .await?;
            Ok(answer.vpc_link_id)
        },
        Ok,
        find,
    );
    let id = answer.await.map_err(with_quota_advice)?.ok_or_else(|| no_id("CreateVpcLink"))?;
    operation.record_id(&id);
    wait::until(&format!("VPC link {id}"), &operation.deadlines(SETTLED), wait::MINUTES, || async {
        let Some(shown) = get(session, &id).await? else { return Ok(Poll::Pending("it was not found".to_string())) };
        match &shown.vpc_link_status {
            Some(VpcLinkStatus::Available | VpcLinkStatus::Inactive) => Ok(Poll::Done(())),
            Some(VpcLinkStatus::Failed) => {
                let message = shown.vpc_link_status_message.unwrap_or_default();
                Err(Failure::new(Cause::Other, "GetVpcLink", format!("VPC link {id} has failed: {message}")))
            }
            _ => Ok(Poll::Pending(status(&shown))),
        }
    })
    .await?;
    // A stop ends the pause, and the link is usable after it too.
    let _ended = Backoff::starting_at(WARM_UP, WARM_UP).pause(&operation.work.deadlines, None).await;
    Ok(())
}

/// Updates the name and the tags of a link. AWS changes nothing else.
pub(crate) async fn update(operation: &Operation<'_>, id: &str, from: &VpcLink, to: &VpcLink) -> Result<(), Failure> {
    let session = operation.session;
    if from.name != to.name {
        let name = operation.known(&to.name)?;
        let call = || async { client(session).await.update_vpc_link().vpc_link_id(id).name(name).send().await };
        mutation(operation, "UpdateVpcLink").send(call).await?;
    }
    let arn = arn(&session.scope, id);
    let tags = TagChanges::between(operation, &from.tags, &to.tags)?;
    tag(session, &arn, tags.set, &mutation(operation, "TagResource")).await?;
    untag(session, &arn, tags.remove, &mutation(operation, "UntagResource")).await
}

/// Deletes a link when the stage serves no integration with it any more, and waits until it is deleted: until then, its
/// network interfaces block the deletion of their subnets.
pub(crate) async fn delete(operation: &Operation<'_>, entry: &Entry) -> Result<(), Failure> {
    let (session, id) = (operation.session, &entry.id);
    before_deletion(operation, root_id(operation)?, Awaited::CreatesAndUpdates, entry).await?;
    let delete = || async { client(session).await.delete_vpc_link().vpc_link_id(id).send().await };
    let exists = || async { Ok(get(session, id).await?.is_some()) };
    let deadlines = operation.deadlines(REFERENCE_LAG);
    let is_update = operation.work.deadlines.in_use_until < operation.work.deadlines.deadline;
    let refused = OnceLock::new();
    let sent = wait::retry_while_in_use(&deadlines, || async {
        // AWS accepts so few calls that the wait for the next one may last longer than that for the users.
        throttle(operation, "DeleteVpcLink", DELETES).await.map_err(|ended| refused.get().cloned().unwrap_or(ended))?;
        let sent = deleted(mutation(operation, "DeleteVpcLink").delete(delete, is_unclear, exists).await);
        match sent {
            Err(failure) if failure.cause == Cause::InUse => {
                refused.get_or_init(|| failure.clone());
                let has_users = is_update && has_other_users(operation, entry).await;
                // Terraform changes them only after this update, so nothing is waited for.
                Err(Failure { cause: if has_users { Cause::Other } else { Cause::InUse }, ..failure })
            }
            sent => sent,
        }
    });
    sent.await.map_err(|failure| match refused.get().is_some_and(|refused| refused.code == failure.code) {
        true => Failure { cause: Cause::InUse, ..failure },
        false => failure,
    })?;
    let was_deleting = AtomicBool::new(false);
    wait::until(&format!("VPC link {id}"), &operation.deadlines(SETTLED), wait::MINUTES, || async {
        let Some(shown) = get(session, id).await? else { return Ok(Poll::Done(())) };
        match &shown.vpc_link_status {
            Some(VpcLinkStatus::Deleting) => was_deleting.store(true, Relaxed),
            // A read may still return the status from before the deletion.
            Some(VpcLinkStatus::Failed) if was_deleting.load(Relaxed) || !entry.has_failed() => {
                let message = shown.vpc_link_status_message.as_deref().unwrap_or("AWS returns no reason");
                let message = format!("AWS accepted the deletion of VPC link {id}, which then failed: {message}");
                return Err(Failure::new(Cause::InUse, "DeleteVpcLink", message));
            }
            _ => {}
        }
        Ok(Poll::Pending(status(&shown)))
    })
    .await
}

/// Whether routes use a link that this resource does not manage.
async fn has_other_users(operation: &Operation<'_>, entry: &Entry) -> bool {
    let Ok(api_id) = root_id(operation) else { return false };
    let is_known = |id: &str| operation.work.known.contains(id);
    let entries = (&[entry][..], Extent::Limited);
    !link_users::of_links(operation.session, api_id, entries, &is_known).await.objects.is_empty()
}

/// Adds tags to a link.
pub(crate) async fn add_tags(
    operation: &Operation<'_>,
    id: &str,
    tags: BTreeMap<String, String>,
) -> Result<(), Failure> {
    let session = operation.session;
    if let Some(existing) = get(session, id).await?.and_then(|it| it.tags) {
        ownership::check_adoption(operation, id, &existing)?;
    }
    tag(session, &arn(&session.scope, id), tags, &mutation(operation, "TagResource")).await
}

/// Removes the ownership tags of a link that stays, because the configuration names it by its ID.
pub(crate) async fn disown(operation: &Operation<'_>, entry: &Entry) -> Result<(), Failure> {
    let session = operation.session;
    let Some(shown) = get(session, &entry.id).await? else { return Ok(()) };
    let tags: BTreeMap<String, String> = shown.tags.into_iter().flatten().collect();
    let keys = tags.into_keys().filter(|key| ownership::is_ownership(key));
    untag(session, &arn(&session.scope, &entry.id), keys.collect(), &mutation(operation, "UntagResource")).await
}

/// Reads a link; `None` if it does not exist.
pub(super) async fn get(session: &Session, id: &str) -> Result<Option<Shown>, Failure> {
    let answer = client(session).await.get_vpc_link().vpc_link_id(id).send().await;
    match answer.or_failure("GetVpcLink") {
        Ok(it) => Ok(Some(
            Shown::builder()
                .set_vpc_link_id(it.vpc_link_id)
                .set_name(it.name)
                .set_subnet_ids(it.subnet_ids)
                .set_security_group_ids(it.security_group_ids)
                .set_tags(it.tags)
                .set_vpc_link_status(it.vpc_link_status)
                .set_vpc_link_status_message(it.vpc_link_status_message)
                .build(),
        )),
        Err(failure) if is_absent(&failure) => Ok(None),
        Err(failure) => Err(failure),
    }
}

/// The status of a link, for a message.
fn status(shown: &Shown) -> String {
    shown.vpc_link_status.as_ref().map_or("it has no status", VpcLinkStatus::as_str).to_string()
}

/// The ARN of a link, which contains no account ID.
fn arn(scope: &Scope, id: &str) -> String {
    format!("arn:{}:apigateway:{}::/vpclinks/{id}", scope.partition, scope.region)
}

async fn throttle(operation: &Operation<'_>, action: &'static str, limit: Limit) -> Result<(), Failure> {
    let why = format!("API Gateway accepts few {action} calls per minute, and earlier calls are still waiting");
    let limiter = &operation.session.process.rate_limiter;
    limiter.acquire_until(limit_key(operation.session, action), limit, &operation.work.deadlines, &why).await
}

fn mutation<'a>(operation: &'a Operation<'_>, action: &'a str) -> Mutation<'a> {
    Mutation {
        action,
        deadlines: &operation.work.deadlines,
        is_busy: |failure| is_busy(failure) || (failure.cause == Cause::Throttled && !is_object_quota(failure)),
        unknown_until: None,
        search: Search::TWO_POLLS,
        parent: None,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::aws::recorded::{Answer, Recorded, run};

    const CREATE: &str = "POST /v2/vpclinks";
    const GET: &str = "GET /v2/vpclinks/l1";
    const DELETE: &str = "DELETE /v2/vpclinks/l1";

    fn ids() -> [(Key, &'static str); 1] {
        [(Key::new("api"), "api1")]
    }

    fn shown(status: &str) -> Answer {
        Answer::Json(200, json!({ "vpcLinkId": "l1", "vpcLinkStatus": status, "vpcLinkStatusMessage": "no addresses" }))
    }

    async fn create_with(aws: &Recorded, name: &str) -> (Result<(), Failure>, Vec<String>) {
        let session = aws.session(name);
        let key = Key::new("vpc_link.main");
        let (answer, reported) = run(&session, &key, &ids(), async |it| create(it, &VpcLink::test()).await).await;
        (answer, reported.ids)
    }

    #[tokio::test(start_paused = true)]
    async fn a_create_waits_until_the_link_is_available() {
        let created = Answer::Json(201, json!({ "vpcLinkId": "l1", "vpcLinkStatus": "PENDING" }));
        let aws = Recorded::default().on(CREATE, created).on(GET, shown("PENDING")).on(GET, shown("AVAILABLE"));
        let start = tokio::time::Instant::now();
        let (answer, ids) = create_with(&aws, "vpc-link-created").await;
        answer.unwrap();
        assert_eq!((ids, aws.calls()), (vec!["l1".to_string()], vec![CREATE.into(), GET.into(), GET.into()]));
        assert!(start.elapsed() >= WARM_UP, "{:?}", start.elapsed());
        let body = aws.body(CREATE);
        assert_eq!((&body["subnetIds"], &body["securityGroupIds"]), (&json!(["subnet-1"]), &json!(["sg-1"])));
        assert_eq!(body["tags"]["fgw:object"], "vpc_link.main");
    }

    /// The code is an assumption.
    #[tokio::test(start_paused = true)]
    async fn an_exceeded_quota_is_not_retried() {
        let text = "Maximum number of VPC links for this account has been reached";
        for code in ["LimitExceededException", "TooManyRequestsException", "ConflictException"] {
            let aws = Recorded::default().on(CREATE, Answer::Error(429, code, text));
            let failure = create_with(&aws, code).await.0.unwrap_err();
            assert_eq!((failure.cause, aws.calls().len()), (Cause::QuotaExceeded, 1));
            assert!(failure.message.contains("VPC links count against their quota"), "{failure}");
        }
    }

    #[tokio::test(start_paused = true)]
    async fn a_link_that_stays_loses_only_the_ownership_tags() {
        let tags = json!({ "fgw:resource": "http_gateway/api1", "fgw:object": "vpc_link.main", "team": "web" });
        let shown = Answer::Json(200, json!({ "vpcLinkId": "l1", "vpcLinkStatus": "AVAILABLE", "tags": tags }));
        let arn = "arn%3Aaws%3Aapigateway%3Avpc-link-disowned%3A%3A%2Fvpclinks%2Fl1";
        let untag = format!("DELETE /v2/tags/{arn}?tagKeys=fgw%3Aobject&tagKeys=fgw%3Aresource");
        let aws = Recorded::default().on(GET, shown).on(&untag, Answer::Json(204, Value::Null));
        let entry = Entry::new(Key::new("vpc_link.main"), "l1", Spec::VpcLink(VpcLink::test()));
        let session = aws.session("vpc-link-disowned");
        run(&session, &entry.key, &ids(), async |it| disown(it, &entry).await).await.0.unwrap();
        assert_eq!(aws.calls(), [GET.to_string(), untag]);
    }

    #[tokio::test(start_paused = true)]
    async fn a_failed_link_is_recorded_and_reported_with_its_message() {
        let created = Answer::Json(201, json!({ "vpcLinkId": "l1" }));
        let aws = Recorded::default().on(CREATE, created).on(GET, shown("FAILED"));
        let (answer, ids) = create_with(&aws, "vpc-link-failed").await;
        let failure = answer.unwrap_err();
        assert!(failure.message.contains("VPC link l1 has failed: no addresses"), "{failure:?}");
        assert_eq!(ids, ["l1"]);
        let found = Shown::builder().vpc_link_id("l1").vpc_link_status(VpcLinkStatus::Failed).build();
        assert!(read(&found, Key::new("api"), Key::new("vpc_link.main")).unwrap().key.has_failed);
        let found = Shown::builder().vpc_link_id("l1").vpc_link_status(VpcLinkStatus::Inactive).build();
        assert!(!read(&found, Key::new("api"), Key::new("vpc_link.main")).unwrap().key.has_failed);
    }

    #[tokio::test(start_paused = true)]
    async fn a_delete_waits_for_routes_and_for_the_end_of_the_link() {
        let text = "Cannot delete vpc link. Vpc link 'l1', is referenced in [ANY:r1] in format of [Method:Resource]";
        let used = Answer::Error(400, "BadRequestException", text);
        let missing = Answer::Error(404, "NotFoundException", "Unable to find VpcLink by ID l1");
        let aws = Recorded::default()
            .on(DELETE, used)
            .on(DELETE, Answer::Json(202, Value::Null))
            .on(GET, shown("DELETING"))
            .on(GET, missing);
        let entry = Entry::new(Key::new("vpc_link.main"), "l1", Spec::VpcLink(VpcLink::test()));
        let session = aws.session("vpc-link-deleted");
        run(&session, &entry.key, &ids(), async |it| delete(it, &entry).await).await.0.unwrap();
        assert_eq!(aws.calls(), [DELETE, DELETE, GET, GET]);
    }

    #[tokio::test(start_paused = true)]
    async fn a_deletion_that_fails_later_means_that_the_link_is_in_use() {
        let aws = Recorded::default()
            .on(DELETE, Answer::Json(202, Value::Null))
            .on(GET, shown("AVAILABLE"))
            .on(GET, shown("DELETING"))
            .on(GET, shown("FAILED"));
        let entry = Entry::new(Key::new("vpc_link.main"), "l1", Spec::VpcLink(VpcLink::test()));
        let session = aws.session("vpc-link-undeletable");
        let failure = run(&session, &entry.key, &ids(), async |it| delete(it, &entry).await).await.0.unwrap_err();
        assert_eq!((failure.cause, failure.message.contains("then failed: no addresses")), (Cause::InUse, true));
    }
}
