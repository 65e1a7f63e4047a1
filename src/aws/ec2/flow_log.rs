//! Flow logs of a VPC.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::time::Duration;

use aws_sdk_ec2::types::{
    DestinationFileFormat, DestinationOptionsRequest, FlowLog as Log, FlowLogsResourceType, LogDestinationType,
    ResourceType, Tag, TrafficType,
};
use futures::future::join_all;

use super::claims::{Claims, Evidence, Ours};
use super::conflicts::{Text, explained_by};
use super::network::Network;
use super::{client_token, filter_any, tags};
use crate::aws::Session;
use crate::aws::calls::codes::missing::MissingCodes;
use crate::aws::calls::codes::{is_log_destination_unusable, is_role_unusable};
use crate::aws::calls::errors::{incomplete_answer, item_failure};
use crate::aws::calls::wait::{Backoff, Poll, SECONDS, retry_while};
use crate::aws::calls::{Operation, OrFailure, list_all, ownership, wait};
use crate::aws::ec2::observed::{List, Listed, Shown};
use crate::aws::logs::group;
use crate::aws::logs::group::FoundGroup;
use crate::cloud::{Cause, Failure, Observed};
use crate::model::keys::{name_in, network as keys};
use crate::model::{
    DELIVERY_ERROR, DELIVERY_STATUS, DestinationOptions, Entry, FlowLog, FlowLogSettings, Input, Key, LogGroup, Object,
    Spec, TopologyKind,
};

const MISSING: MissingCodes = MissingCodes(&["InvalidFlowLogId.NotFound"]);

/// How long EC2 may not know a new role, as in hashicorp/aws.
const NEW_ROLE: Duration = Duration::from_secs(2 * 60);

/// The flow logs of the VPC itself, and not those of its subnets and interfaces.
pub(super) async fn of_vpc(session: &Session, vpc_id: &str) -> Result<Vec<Log>, Failure> {
    let ec2 = session.ec2.clone();
    let list = move |ids| {
        let call = ec2.describe_flow_logs().filter(filter_any::<String>("resource-id", ids));
        list_all("DescribeFlowLogs", call.into_paginator().items().send())
    };
    let found = session.shared.flow_logs.of(&session.shared.networks, vpc_id, Log::resource_id, list).await?;
    Ok(found.into_iter().filter(|log| log.resource_id() == Some(vpc_id)).collect())
}

/// The log groups that the network creates for flow logs, and its flow logs. No call is sent for a network without flow
/// logs in state. A first read looks for them, and for the groups of those with this root's ownership tag.
pub(super) async fn lists(network: Network<'_>) -> Result<Vec<List>, Failure> {
    let Network { session, known, slots, consented, .. } = network;
    let named = [slots, consented].into_iter().flatten().flatten().map(|(id, slot)| (slot, id));
    let in_state = known.values().map(|entry| (&entry.key.slot, &entry.id));
    let all: Vec<(&String, &String)> = in_state.chain(named).collect();
    let of = |prefix: &'static str| all.iter().filter(move |(slot, _)| slot.starts_with(prefix));
    let mut groups: BTreeSet<String> = of(keys::FLOW_LOG_GROUP).map(|(_, name)| (*name).clone()).collect();
    let mut logs = Vec::new();
    if network.trusts_tags() || of(keys::FLOW_LOG).next().is_some() {
        logs = of_vpc(session, network.root_id).await?;
    }
    if network.trusts_tags() {
        let resource = network.resource();
        let ours = logs.iter().filter(|log| tags::resource(log.tags()) == Some(resource.as_str()));
        groups.extend(ours.filter(|log| kind(log) == FlowLog::CLOUDWATCH).filter_map(destination));
    }
    let found = join_all(groups.iter().map(|name| group::find(session, name))).await;
    let found: Vec<Option<FoundGroup>> = found.into_iter().collect::<Result<_, _>>()?;
    let is_the_same = |found: &FoundGroup| {
        let entry = found.shown.log_group_name.as_deref().and_then(|name| known.get(name));
        entry.is_none_or(|entry| group::is_the_same(&found.shown, &entry.learned))
    };
    let found = found.into_iter().flatten().filter(is_the_same);
    let groups = found.map(|found| Box::new((found.clone(), tags::from_map(found.tags))) as Box<dyn Listed>);
    Ok(vec![groups.collect(), logs.into_iter().map(|log| Box::new(log) as Box<dyn Listed>).collect()])
}

/// The flow logs with the tags of this network, and the log groups of `objects` that exist with them. Since the
/// interrupted run, their entries may have other keys.
pub(super) async fn leftovers(
    session: &Session,
    owner: TopologyKind,
    root_id: &str,
    objects: &[&Object],
) -> Result<Vec<Observed>, Failure> {
    let groups = objects.iter().filter_map(|it| Some((LogGroup::of(&it.spec)?.name.known()?, &it.key.slot)));
    let groups: BTreeMap<String, String> = groups.map(|(name, slot)| (name.clone(), slot.clone())).collect();
    if groups.is_empty() && !objects.iter().any(|it| matches!(it.spec, Spec::FlowLog(_))) {
        return Ok(Vec::new());
    }
    let network = Network { session, owner, root_id, known: &HashMap::new(), slots: None, consented: None };
    let lists = lists(Network { consented: Some(&groups), ..network }).await?;
    let mut shown = Shown::new(network, Key::new(keys::VPC), &[], &[]);
    shown.claim_lists(&lists);
    shown.add_lists(&lists);
    let found = shown.into_seen().objects.into_iter();
    Ok(found.filter(|it| FlowLog::of(&it.spec).is_some() || groups.contains_key(&it.id)).collect())
}

/// A log group, with its tags as EC2 returns them.
impl Listed for (FoundGroup, Vec<Tag>) {
    fn id(&self) -> Option<&str> {
        self.0.shown.log_group_name.as_deref()
    }

    fn tags(&self) -> &[Tag] {
        &self.1
    }

    fn evidence<'a>(&'a self, _: &Claims<'a>) -> Evidence<'a> {
        let fixed = self.id().unwrap_or_default().to_string();
        Evidence { fixed, ..Evidence::new("a log group", |slot| name_in(slot, keys::FLOW_LOG_GROUP).is_some()) }
    }

    fn read(&self, shown: &Shown<'_>, ours: Ours<'_>) -> Option<Observed> {
        let key = match ours {
            Ours::State(entry) => entry.key.clone(),
            Ours::Slot(slot) => Key::fixed(slot, Input::Known(self.id()?.to_string())),
        };
        group::read(&self.0, shown.vpc.clone(), key)
    }

    fn outlives_vpc(&self) -> bool {
        true
    }
}

impl Listed for Log {
    fn id(&self) -> Option<&str> {
        self.flow_log_id()
    }

    fn tags(&self) -> &[Tag] {
        self.tags()
    }

    fn evidence<'a>(&'a self, _: &Claims<'a>) -> Evidence<'a> {
        let fixed = in_vpc(self, Key::new(keys::VPC)).fixed().known().cloned().unwrap_or_default();
        Evidence { fixed, ..Evidence::new("a flow log", |slot| name_in(slot, keys::FLOW_LOG).is_some()) }
    }

    /// AWS cannot change a log, so one in state has the properties of the last apply.
    fn read(&self, shown: &Shown<'_>, ours: Ours<'_>) -> Option<Observed> {
        let (key, spec) = match ours.place(FlowLog::of)? {
            (key, Some(applied)) => {
                let mut spec = applied.clone();
                spec.settings.tags = tags::own(self.tags());
                (key, spec)
            }
            (Key { slot, .. }, None) => {
                let spec = spec(shown, self);
                (keys::flow_log(slot.strip_prefix(keys::FLOW_LOG)?, spec.fixed()), spec)
            }
        };
        let learned =
            [(DELIVERY_STATUS, self.deliver_logs_status()), (DELIVERY_ERROR, self.deliver_logs_error_message())];
        let learned = learned.map(|(name, value)| (name.to_string(), value.unwrap_or_default().to_string()));
        Some(Observed { id: self.flow_log_id()?.to_string(), key, spec: Spec::FlowLog(spec), learned: learned.into() })
    }

    fn spec(&self, shown: &Shown<'_>) -> Option<Spec> {
        Some(Spec::FlowLog(spec(shown, self)))
    }
}

fn spec(shown: &Shown<'_>, log: &Log) -> FlowLog {
    let log_group = shown.key(&destination(log).unwrap_or_default()).cloned();
    FlowLog { log_group, ..in_vpc(log, shown.vpc.clone()) }
}

/// A log as AWS returned it, without the key of its log group.
fn in_vpc(log: &Log, vpc: Key) -> FlowLog {
    let owned = |text: Option<&str>| Input::Known(text.filter(|text| !text.is_empty()).map(str::to_string));
    let destination_options = log.destination_options().map(|it| DestinationOptions {
        file_format: it.file_format().unwrap_or(&DestinationFileFormat::PlainText).as_str().to_string().into(),
        hive_compatible_partitions: it.hive_compatible_partitions().unwrap_or(false).into(),
        per_hour_partition: it.per_hour_partition().unwrap_or(false).into(),
    });
    let settings = FlowLogSettings {
        log_destination_type: kind(log).to_string().into(),
        iam_role_arn: owned(log.deliver_logs_permission_arn()),
        deliver_cross_account_role: owned(log.deliver_cross_account_role()),
        traffic_type: log.traffic_type().unwrap_or(&TrafficType::All).as_str().to_string().into(),
        max_aggregation_interval: log.max_aggregation_interval().map_or(600, i64::from).into(),
        log_format: owned(log.log_format()),
        destination_options: destination_options.into(),
        tags: tags::own(log.tags()),
    };
    let destination = destination(log).unwrap_or_default().into();
    FlowLog { vpc, log_group: None, destination, settings: settings.normalized() }
}

fn kind(log: &Log) -> &str {
    log.log_destination_type().map_or(FlowLog::CLOUDWATCH, LogDestinationType::as_str)
}

/// The name of its log group, or the ARN of its bucket or stream. AWS returns the ARN, the name or both for a group.
fn destination(log: &Log) -> Option<String> {
    let arn = log.log_destination().filter(|arn| !arn.is_empty());
    let name = match kind(log) {
        FlowLog::CLOUDWATCH => log.log_group_name().or_else(|| LogGroup::name_in(arn?)),
        _ => arn,
    };
    name.map(str::to_string)
}

/// Creates a log, and waits until AWS lists it.
pub(crate) async fn create(operation: &Operation<'_>, spec: &FlowLog) -> Result<(), Failure> {
    let (session, vpc_id) = (operation.session, operation.id(&spec.vpc)?);
    let (settings, destination) = (&spec.settings, operation.known(&spec.destination)?);
    let kind = operation.known(&settings.log_destination_type)?;
    let tags = ownership::tags_on_create(operation, &settings.tags)?;
    let options = match operation.known(&settings.destination_options)? {
        Some(options) => Some(
            DestinationOptionsRequest::builder()
                .file_format(operation.known(&options.file_format)?.as_str().into())
                .hive_compatible_partitions(*operation.known(&options.hive_compatible_partitions)?)
                .per_hour_partition(*operation.known(&options.per_hour_partition)?)
                .build(),
        ),
        None => None,
    };
    let is_group = spec.is_to_log_group();
    let call = session
        .ec2
        .create_flow_logs()
        .resource_ids(vpc_id)
        .resource_type(FlowLogsResourceType::Vpc)
        .traffic_type(operation.known(&settings.traffic_type)?.as_str().into())
        .log_destination_type(kind.as_str().into())
        .set_log_group_name(is_group.then(|| destination.clone()))
        .set_log_destination((!is_group).then(|| destination.clone()))
        .set_deliver_logs_permission_arn(operation.known(&settings.iam_role_arn)?.clone())
        .set_deliver_cross_account_role(operation.known(&settings.deliver_cross_account_role)?.clone())
        .max_aggregation_interval(i32::try_from(*operation.known(&settings.max_aggregation_interval)?).unwrap_or(600))
        .set_log_format(operation.known(&settings.log_format)?.clone())
        .set_destination_options(options)
        .tag_specifications(tags::on_create(ResourceType::VpcFlowLog, &tags))
        .client_token(client_token());
    let send = || async {
        let answer = call.clone().send().await.or_failure("CreateFlowLogs")?;
        // AWS reports a rejection inside a successful response.
        if let Some(error) = answer.unsuccessful().first().and_then(|item| item.error()) {
            let failure = item_failure("CreateFlowLogs", error.code(), error.message());
            // Only a destination that the same run may have created is waited for.
            let missing = (failure.cause == Cause::NotFound).then(|| destination.clone());
            return Err(Failure { missing, ..failure });
        }
        let id = answer.flow_log_ids().first().cloned();
        id.ok_or_else(|| incomplete_answer("CreateFlowLogs", "an id"))
    };
    let used = [vpc_id, destination.as_str()];
    let visible = || operation.retry_until_visible(&used, send);
    let (deadlines, mut backoff) = (operation.deadlines(NEW_ROLE), Backoff::new(SECONDS));
    let id = match retry_while(&deadlines, &mut backoff, is_role_unusable, visible).await {
        Err(failure) if failure.cause == Cause::Exists => return Err(occupied(operation, failure, spec).await),
        Err(failure) if failure.cause == Cause::QuotaExceeded => return Err(with_quota_advice(failure)),
        Err(failure) => return Err(explained(failure, destination)),
        Ok(id) => id,
    };
    operation.record_id(&id);
    wait::until("CreateFlowLogs", &operation.deadlines(wait::PROPAGATION), SECONDS, || async {
        let listed = of_vpc(session, vpc_id).await?;
        let is_listed = listed.iter().any(|log| log.flow_log_id() == Some(id.as_str()));
        Ok(if is_listed { Poll::Done(()) } else { Poll::Pending("the flow log is not visible yet".to_string()) })
    })
    .await
}

/// Names the log that AWS has for this configuration already. Which of its values AWS compares is not documented; the
/// destination is one of them. If it is a log in state, the caller deletes those that are no longer required, as at a
/// quota, and tries again.
async fn occupied(operation: &Operation<'_>, failure: Failure, spec: &FlowLog) -> Failure {
    let vpc_id = operation.root_id().unwrap_or_default();
    let found = of_vpc(operation.session, vpc_id).await.unwrap_or_else(|failure| {
        tracing::warn!("The flow logs of {vpc_id} are unknown: {failure}");
        Vec::new()
    });
    let to = spec.destination.known().map(String::as_str).unwrap_or_default();
    let other = equal(&found, spec).or_else(|| found.iter().find(|log| destination(log).as_deref() == Some(to)));
    let Some(id) = other.and_then(|log| log.flow_log_id()) else { return failure };
    let message = failure.message.trim_end_matches('.');
    if operation.work.known.contains(id) {
        let message = format!("{message}. {id} of this network delivers to {to} already. Use another destination");
        return Failure { message, cause: Cause::QuotaExceeded, ..failure };
    }
    explained_by(failure, taken(&operation.key.slot, id, spec))
}

/// The log with an equal configuration. AWS accepts no second one.
pub(super) fn equal<'a>(found: &'a [Log], spec: &FlowLog) -> Option<&'a Log> {
    found.iter().find(|log| in_vpc(log, spec.vpc.clone()).fixed() == spec.fixed())
}

/// The log that has the configuration of the one in a slot already.
pub(super) fn taken(slot: &str, id: &str, spec: &FlowLog) -> Text {
    let to = spec.destination.known().map(String::as_str).unwrap_or_default();
    let message = format!("{id} delivers to {to} already.");
    (message, format!("To take it over, set {slot:?} = {id:?} in adopt; or use another destination, or delete it."))
}

fn with_quota_advice(failure: Failure) -> Failure {
    let message = format!(
        "{}. AWS limits the flow logs of a VPC. Remove one that is no longer needed, or request a higher quota",
        failure.message.trim_end_matches('.')
    );
    Failure { message, ..failure }
}

/// Adds what AWS expects of the destination. The caller lacks no permission.
fn explained(failure: Failure, destination: &str) -> Failure {
    if !is_log_destination_unusable(&failure) {
        return failure;
    }
    let message = format!(
        "{}. Check that {destination} exists, that its policy allows delivery.logs.amazonaws.com to write, and that a KMS \
         key of a bucket is given by its ARN",
        failure.message.trim_end_matches('.')
    );
    Failure { message, cause: Cause::Other, ..failure }
}

/// Updates the tags. A change of anything else creates another log.
pub(crate) async fn update(operation: &Operation<'_>, id: &str, from: &FlowLog, to: &FlowLog) -> Result<(), Failure> {
    tags::update(operation, id, &from.settings.tags, &to.settings.tags).await
}

/// Deletes the log. Its records stay.
pub(crate) async fn delete(operation: &Operation<'_>, entry: &Entry) -> Result<(), Failure> {
    let (session, id) = (operation.session, entry.id.as_str());
    let is_missing = |failure: &Failure| MISSING.match_failure(failure, id);
    let is_there = || async {
        let listed = of_vpc(session, operation.root_id()?).await?;
        Ok(listed.iter().any(|log| log.flow_log_id() == Some(id)))
    };
    wait::delete(&operation.work.deadlines, is_missing, is_there, || async {
        let answer = session.ec2.delete_flow_logs().flow_log_ids(id).send().await.or_failure("DeleteFlowLogs")?;
        match answer.unsuccessful().first().and_then(|item| item.error()) {
            Some(error) => Err(item_failure("DeleteFlowLogs", error.code(), error.message())),
            None => Ok(()),
        }
    })
    .await
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::aws::ec2::recorded::{Notes, Recorded};

    const CREATED: &str = "<flowLogIdSet><item>fl-1</item></flowLogIdSet>";
    const LISTED: &str =
        "<flowLogSet><item><flowLogId>fl-1</flowLogId><resourceId>vpc-1</resourceId></item></flowLogSet>";

    fn spec() -> FlowLog {
        let settings = FlowLogSettings {
            log_destination_type: Input::Known(FlowLog::CLOUDWATCH.into()),
            iam_role_arn: Input::Known(Some("arn:aws:iam::123456789012:role/new".into())),
            deliver_cross_account_role: Input::default(),
            traffic_type: Input::Known("ALL".into()),
            max_aggregation_interval: Input::Known(600),
            log_format: Input::default(),
            destination_options: Input::default(),
            tags: Input::default(),
        };
        FlowLog { vpc: Key::new("vpc"), log_group: None, destination: Input::Known("/net".into()), settings }
    }

    fn rejected(action: &str, code: &str, message: &str) -> (String, String) {
        let error = format!("<error><code>{code}</code><message>{message}</message></error>");
        (action.to_string(), format!("<unsuccessful><item><resourceId>vpc-1</resourceId>{error}</item></unsuccessful>"))
    }

    async fn created(aws: &Recorded) -> Result<(), Failure> {
        let (vpc, key) = (Key::new("vpc"), Key::new("flow_log.app"));
        let ids = [(&vpc, "vpc-1")];
        Notes::default().run(&aws.session(), &key, &ids, async |operation| create(operation, &spec()).await).await
    }

    /// The text is that of hashicorp/terraform-provider-aws#29323.
    #[tokio::test(start_paused = true)]
    async fn a_new_role_is_waited_for() {
        let aws = Recorded::default()
            .fail("CreateFlowLogs", 400, "InvalidParameter", "Unable to assume given IAM role")
            .on("CreateFlowLogs", CREATED)
            .on("DescribeFlowLogs", LISTED);
        created(&aws).await.unwrap();
        assert_eq!(aws.actions(), ["CreateFlowLogs", "CreateFlowLogs", "DescribeFlowLogs"]);
        let [first, second] = &aws.calls("CreateFlowLogs")[..] else { panic!() };
        assert_eq!(first["ClientToken"], second["ClientToken"], "AWS creates one log");
        assert_eq!((first["LogGroupName"].as_str(), first.get("LogDestination")), ("/net", None));
    }

    #[tokio::test(start_paused = true)]
    async fn a_rejection_inside_an_answer_is_a_failure_at_once() {
        let (action, inside) = rejected("CreateFlowLogs", "LogDestinationNotFoundException", "LogDestination: missing");
        let aws = Recorded::default().on(&action, &inside);
        let failure = created(&aws).await.unwrap_err();
        assert!(failure.message.contains("Check that /net exists"), "{failure:?}");
        assert_eq!(aws.actions(), ["CreateFlowLogs"], "the configuration named it before the plan");
    }

    /// One in state makes room if it is no longer required.
    #[tokio::test(start_paused = true)]
    async fn a_log_in_state_with_the_destination_counts_as_a_quota() {
        let (action, inside) = rejected("CreateFlowLogs", "FlowLogAlreadyExists", "There is an existing Flow Log");
        let listed = LISTED.replace("<resourceId>", "<logGroupName>/net</logGroupName><resourceId>");
        let failed = async |listed: &str, known: Vec<&'static str>| {
            let aws = Recorded::default().on(&action, &inside).on("DescribeFlowLogs", listed);
            let (vpc, key) = (Key::new("vpc"), Key::new("flow_log.app"));
            let notes = Notes { known, ..Notes::default() };
            let ids = [(&vpc, "vpc-1")];
            notes.run(&aws.session(), &key, &ids, async |operation| create(operation, &spec()).await).await.unwrap_err()
        };
        let (ours, foreign) = (failed(&listed, vec!["fl-1"]).await, failed(&listed, vec![]).await);
        assert_eq!((ours.cause, foreign.cause), (Cause::QuotaExceeded, Cause::Exists));
        assert!(ours.message.contains("fl-1 of this network delivers to /net"), "{ours}");
        assert!(foreign.message.contains("\"flow_log.app\" = \"fl-1\" in adopt"), "{foreign}");
        let (action, inside) = rejected("CreateFlowLogs", "FlowLogsLimitExceeded", "You've reached the limit");
        let at_limit = created(&Recorded::default().on(&action, &inside)).await.unwrap_err();
        assert_eq!(at_limit.cause, Cause::QuotaExceeded);
        assert!(at_limit.message.contains("request a higher quota"), "{at_limit}");
    }

    #[tokio::test(start_paused = true)]
    async fn a_deleted_log_counts_as_deleted_only_if_it_is_gone() {
        let entry = Entry::new(Key::new("flow_log.app"), "fl-1", Spec::FlowLog(spec()));
        let deleted = async |code: &str, listed: &str| {
            let (action, inside) = rejected("DeleteFlowLogs", code, "fl-1 does not exist");
            let aws = Recorded::default().on(&action, &inside).on("DescribeFlowLogs", listed);
            let (vpc, key) = (Key::new("vpc"), entry.key.clone());
            let ids = [(&vpc, "vpc-1")];
            Notes::default().run(&aws.session(), &key, &ids, async |operation| delete(operation, &entry).await).await
        };
        deleted("InvalidFlowLogId.NotFound", LISTED).await.unwrap();
        deleted("InvalidVpcID.NotFound", "<flowLogSet/>").await.unwrap();
        assert_eq!(deleted("UnauthorizedOperation", LISTED).await.unwrap_err().cause, Cause::Denied);
    }
}
