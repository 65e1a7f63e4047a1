//! CloudWatch log groups.

use aws_sdk_cloudwatchlogs::types::LogGroup as Shown;
use tokio::sync::OwnedMutexGuard;

use super::changes::Change;
use super::tag_changes::{self, TagChanges};
use super::{AwsError, Operation, Session, locks, ownership};
use crate::cloud::{Cause, Failure, Observed};
use crate::objects::{Entry, Key, Learned, LogGroup, Spec};
use crate::plugin::Input;
use crate::product::Scope;

/// A log group and its tags, which AWS shows by two calls.
#[derive(Clone, Debug)]
pub(crate) struct Found {
    /// The group.
    pub(crate) shown: Shown,
    /// All its tags, ownership tags included.
    pub(crate) tags: std::collections::HashMap<String, String>,
}

/// Reads a log group by its exact name. `None` where it does not exist.
pub(crate) async fn find(session: &Session, name: &str) -> Result<Option<Found>, Failure> {
    let mut token = None;
    let shown = loop {
        let request = session.logs.describe_log_groups().log_group_name_prefix(name).set_next_token(token);
        let page = request.send().await.map_err(|error| error.failure("DescribeLogGroups"))?;
        let mut groups = page.log_groups.unwrap_or_default().into_iter();
        if let Some(group) = groups.find(|group| group.log_group_name.as_deref() == Some(name)) {
            break group;
        }
        match page.next_token.filter(|token| !token.is_empty()) {
            Some(next) => token = Some(next),
            None => return Ok(None),
        }
    };
    let Some(arn) = arn_of(&shown) else { return Ok(None) };
    match session.logs.list_tags_for_resource().resource_arn(arn).send().await {
        Ok(answer) => Ok(Some(Found { shown, tags: answer.tags.unwrap_or_default() })),
        Err(error) => match error.failure("ListTagsForResource") {
            failure if is_absent(&failure) => Ok(None),
            failure => Err(failure),
        },
    }
}

/// What AWS shows of a log group.
pub(crate) fn read(found: &Found, api: Key, key: Key) -> Option<Observed> {
    let name = found.shown.log_group_name.clone()?;
    let spec = LogGroup {
        api,
        name: Input::Known(name.clone()),
        retention_in_days: Input::Known(found.shown.retention_in_days.filter(|days| *days != 0).map(i64::from)),
        kms_key_arn: Input::Known(found.shown.kms_key_id.clone()),
        tags: tag_changes::shown(&found.tags),
    };
    let learned = arn_of(&found.shown).map(|arn| learned(arn.to_string())).unwrap_or_default();
    Some(Observed { id: name, key, spec: Spec::LogGroup(spec), learned })
}

/// Whether a log group is the one of this root that has this key.
pub(crate) fn is_ours(found: &Found, resource: &str, slot: &str) -> bool {
    let tag = |key: &str| found.tags.get(key).map(String::as_str);
    tag(ownership::RESOURCE) == Some(resource) && tag(ownership::OBJECT) == Some(slot)
}

/// Makes a log group. One that is there already is taken only if it carries our tags.
pub(crate) async fn create(operation: &Operation<'_>, spec: &LogGroup) -> Result<(), Failure> {
    let session = operation.session;
    let name = operation.known(&spec.name)?;
    let tags = ownership::tags_on_create(operation, &spec.tags)?;
    let find_ours = || async {
        match find(session, name).await? {
            Some(found) if is_ours(&found, &resource(operation), &operation.key.slot) => Ok(Some(())),
            Some(_) => Err(foreign(operation, name)),
            None => Ok(None),
        }
    };
    let answer = {
        let (_turn, change) = change(operation, name, "CreateLogGroup").await;
        change
            .create(
                || async {
                    session
                        .logs
                        .create_log_group()
                        .log_group_name(name)
                        .set_tags(Some(tags.clone().into_iter().collect()))
                        .customize()
                        .config_override(session.once_logs())
                        .send()
                        .await
                        .map(|_| ())
                },
                find_ours,
            )
            .await
    };
    // A new group keeps events for ever, so nothing is to be cleared.
    let from = match answer {
        Ok(()) => Some(LogGroup { retention_in_days: Input::Known(None), ..spec.clone() }),
        Err(failure) if failure.code.as_deref() == Some("ResourceAlreadyExistsException") => {
            find_ours().await?.ok_or(failure)?;
            None
        }
        Err(failure) => return Err(failure),
    };
    operation.record_id(name);
    operation.record_learned(learned(arn(operation, name).await?));
    update(operation, name, from.as_ref(), spec).await
}

/// Brings a log group to its spec. To keep events for ever is a call of its own.
pub(crate) async fn update(
    operation: &Operation<'_>,
    name: &str,
    from: Option<&LogGroup>,
    to: &LogGroup,
) -> Result<(), Failure> {
    let logs = &operation.session.logs;
    let tags = TagChanges::between(operation, from.map(|from| &from.tags), &to.tags)?;
    let (_turn, change) = change(operation, name, "PutRetentionPolicy").await;
    if from.is_none_or(|from| from.retention_in_days != to.retention_in_days) {
        match operation.known(&to.retention_in_days)? {
            Some(days) => {
                let days = i32::try_from(*days).unwrap_or(i32::MAX);
                change.send(|| logs.put_retention_policy().log_group_name(name).retention_in_days(days).send()).await?;
            }
            None => {
                let change = Change { action: "DeleteRetentionPolicy", ..change };
                change.send(|| logs.delete_retention_policy().log_group_name(name).send()).await?;
            }
        }
    }
    if tags == TagChanges::default() {
        return Ok(());
    }
    let arn = arn(operation, name).await?;
    if !tags.set.is_empty() {
        let set: std::collections::HashMap<String, String> = tags.set.into_iter().collect();
        let change = Change { action: "TagResource", ..change };
        change.send(|| logs.tag_resource().resource_arn(&arn).set_tags(Some(set.clone())).send()).await?;
    }
    if !tags.remove.is_empty() {
        let change = Change { action: "UntagResource", ..change };
        change.send(|| logs.untag_resource().resource_arn(&arn).set_tag_keys(Some(tags.remove.clone())).send()).await?;
    }
    Ok(())
}

/// Deletes a log group with its events.
pub(crate) async fn delete(operation: &Operation<'_>, entry: &Entry) -> Result<(), Failure> {
    let (_turn, change) = change(operation, &entry.id, "DeleteLogGroup").await;
    let logs = &operation.session.logs;
    match change.send(|| logs.delete_log_group().log_group_name(&entry.id).send()).await {
        Err(failure) if !is_absent(&failure) => Err(failure),
        _ => Ok(()),
    }
}

/// The name of the group that an ARN names.
pub(crate) fn name_in(arn: &str) -> Option<&str> {
    let name = arn.split_once(":log-group:")?.1;
    Some(name.strip_suffix(":*").unwrap_or(name))
}

/// AWS refuses calls on one group that overlap.
async fn change<'a>(operation: &'a Operation<'_>, name: &str, action: &'a str) -> (OwnedMutexGuard<()>, Change<'a>) {
    let turn = locks::turn(format!("log group {} {name}", operation.session.scope.region)).await;
    let is_busy = |failure: &Failure| failure.code.as_deref() == Some("OperationAbortedException");
    (turn, Change { action, patience: &operation.work.patience, is_busy })
}

fn is_absent(failure: &Failure) -> bool {
    failure.code.as_deref() == Some("ResourceNotFoundException")
}

/// The ARN as tag calls and access logs want it: `arn` ends in `:*`, which neither takes.
fn arn_of(shown: &Shown) -> Option<&str> {
    shown.log_group_arn.as_deref().or(shown.arn.as_deref()).map(|arn| arn.strip_suffix(":*").unwrap_or(arn))
}

/// AWS does not answer a create with the ARN. It can be said beforehand where the account is known.
async fn arn(operation: &Operation<'_>, name: &str) -> Result<String, Failure> {
    let Scope { partition, region, account, .. } = &operation.session.scope;
    if let Some(account) = account {
        return Ok(format!("arn:{partition}:logs:{region}:{account}:log-group:{name}"));
    }
    let patience = &operation.work.patience;
    super::waits::until("the new log group to show", patience, std::time::Duration::from_secs(2), || async {
        let found = find(operation.session, name).await?;
        Ok(match found.as_ref().and_then(|found| arn_of(&found.shown)) {
            Some(arn) => super::waits::Look::Done(arn.to_string()),
            None => super::waits::Look::Pending("no such log group".to_string()),
        })
    })
    .await
}

fn learned(arn: String) -> Learned {
    Learned::from([("arn".to_string(), arn)])
}

fn resource(operation: &Operation<'_>) -> String {
    ownership::resource(operation.work.owner, operation.work.root_id.unwrap_or_default())
}

fn foreign(operation: &Operation<'_>, name: &str) -> Failure {
    let (resource, slot) = (resource(operation), &operation.key.slot);
    Failure::new(
        Cause::Exists,
        "CreateLogGroup",
        format!(
            "log group {name} exists already and is not managed here, so it is left alone. Choose another name, or \
             delete it (aws logs delete-log-group --log-group-name {name}), or hand it over by the tags {}={resource} \
             and {}={slot}, and apply again",
            ownership::RESOURCE,
            ownership::OBJECT,
        ),
    )
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::aws::recorded::{Answer, Recorded, run};

    const NAME: &str = "/http/shop";

    fn spec(days: Option<i64>) -> LogGroup {
        LogGroup {
            kms_key_arn: Input::Known(None),
            api: Key::new("api"),
            name: Input::Known(NAME.into()),
            retention_in_days: Input::Known(days),
            tags: Input::Known([("team".to_string(), Input::Known("web".to_string()))].into()),
        }
    }

    fn key() -> Key {
        Key::fixed("log_group", Input::Known(NAME.into()))
    }

    fn shown(name: &str) -> Value {
        json!({ "logGroupName": name, "arn": format!("arn:aws:logs:r:123456789012:log-group:{name}:*") })
    }

    fn groups(groups: &[Value], next: Option<&str>) -> Answer {
        Answer::Json(200, json!({ "logGroups": groups, "nextToken": next }))
    }

    fn exists() -> Answer {
        Answer::Error(400, "ResourceAlreadyExistsException", "The specified log group already exists")
    }

    #[tokio::test]
    async fn a_group_is_made_with_its_tags_and_then_gets_its_retention() {
        let aws = Recorded::default()
            .on("CreateLogGroup", Answer::Json(200, json!({})))
            .on("PutRetentionPolicy", Answer::Json(200, json!({})));
        let session = aws.session("r");
        let (answer, told) = run(&session, &key(), &[], async |it| create(it, &spec(Some(30))).await).await;
        answer.unwrap();
        assert_eq!(
            aws.body("CreateLogGroup"),
            json!({ "logGroupName": NAME, "tags": {
                "team": "web", "fgw:resource": "http_gateway/api1", "fgw:object": "log_group"
            } })
        );
        assert_eq!(aws.body("PutRetentionPolicy"), json!({ "logGroupName": NAME, "retentionInDays": 30 }));
        assert_eq!(told.ids, [NAME]);
        assert_eq!(told.learned["arn"], "arn:aws:logs:r:123456789012:log-group:/http/shop");
    }

    #[tokio::test]
    async fn a_group_of_someone_else_is_never_taken() {
        let aws = Recorded::default()
            .on("CreateLogGroup", exists())
            .on("DescribeLogGroups", groups(&[shown("/http/shop-2")], Some("p2")))
            .on("DescribeLogGroups", groups(&[shown(NAME)], None))
            .on("ListTagsForResource", Answer::Json(200, json!({ "tags": { "fgw:resource": "http_gateway/api2" } })));
        let (answer, told) = run(&aws.session("r"), &key(), &[], async |it| create(it, &spec(None)).await).await;
        let failure = answer.unwrap_err();
        assert_eq!(failure.cause, Cause::Exists);
        assert!(failure.message.contains("delete-log-group"), "{failure}");
        assert!(told.ids.is_empty());
        assert_eq!(
            aws.body("ListTagsForResource"),
            json!({ "resourceArn": "arn:aws:logs:r:123456789012:log-group:/http/shop" })
        );
    }

    #[tokio::test]
    async fn a_group_that_a_killed_run_left_is_taken_and_brought_to_what_is_wanted() {
        let tags = json!({ "fgw:resource": "http_gateway/api1", "fgw:object": "log_group" });
        let aws = Recorded::default()
            .on("CreateLogGroup", exists())
            .on("DescribeLogGroups", groups(&[shown(NAME)], None))
            .on("ListTagsForResource", Answer::Json(200, json!({ "tags": tags })))
            .on("DeleteRetentionPolicy", Answer::Json(200, json!({})))
            .on("TagResource", Answer::Json(200, json!({})));
        let (answer, told) = run(&aws.session("r"), &key(), &[], async |it| create(it, &spec(None)).await).await;
        answer.unwrap();
        assert_eq!(told.ids, [NAME]);
        assert_eq!(aws.body("DeleteRetentionPolicy"), json!({ "logGroupName": NAME }));
        assert_eq!(aws.body("TagResource")["tags"], json!({ "team": "web" }));
    }

    #[tokio::test]
    async fn events_kept_for_ever_are_a_call_of_their_own_and_dropped_tags_are_removed() {
        let aws = Recorded::default()
            .on("DeleteRetentionPolicy", Answer::Error(400, "OperationAbortedException", "Please try again"))
            .on("DeleteRetentionPolicy", Answer::Json(200, json!({})))
            .on("UntagResource", Answer::Json(200, json!({})));
        let from = LogGroup {
            tags: Input::Known(
                [("team", "web"), ("old", "1")].map(|(key, value)| (key.into(), Input::Known(value.into()))).into(),
            ),
            ..spec(Some(30))
        };
        let session = aws.session("r");
        run(&session, &key(), &[], async |it| update(it, NAME, Some(&from), &spec(None)).await).await.0.unwrap();
        assert_eq!(aws.calls(), ["DeleteRetentionPolicy", "DeleteRetentionPolicy", "UntagResource"]);
        assert_eq!(aws.body("UntagResource")["tagKeys"], json!(["old"]));
    }

    #[tokio::test]
    async fn a_group_that_is_gone_counts_as_deleted() {
        let aws = Recorded::default().on("DeleteLogGroup", Answer::Error(400, "ResourceNotFoundException", "gone"));
        let entry = Entry::new(key(), NAME, Spec::LogGroup(spec(None)));
        run(&aws.session("r"), &key(), &[], async |it| delete(it, &entry).await).await.0.unwrap();
    }
}
