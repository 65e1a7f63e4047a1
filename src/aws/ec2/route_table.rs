//! Route tables.

use std::time::Duration;

use aws_sdk_ec2::types::ResourceType;

use super::super::errors::incomplete_answer;
use super::super::waits::{self, Look};
use super::super::{AwsError, Operation, ownership};
use super::shown::Shown;
use super::tags;
use crate::cloud::{Failure, Observed};
use crate::objects::{Entry, Key, Learned, RouteTable, Spec};
use crate::plugin::Input;

/// How long the creation or deletion of a table may take unless the user says otherwise.
const READY: Duration = Duration::from_secs(5 * 60);

/// The table as AWS shows it, without its routes and associations, which are objects of their own.
pub(super) fn read(shown: &Shown<'_>, key: Key, table: &aws_sdk_ec2::types::RouteTable) -> Option<Observed> {
    Some(Observed {
        id: table.route_table_id()?.to_string(),
        key,
        spec: Spec::RouteTable(RouteTable {
            vpc: shown.vpc.clone(),
            propagating_gateways: Input::Known(Vec::new()),
            tags: tags::own(table.tags()),
        }),
        learned: Learned::new(),
    })
}

/// Makes the table. The SDK sends an idempotency token.
pub(crate) async fn create(operation: &Operation<'_>, spec: &RouteTable) -> Result<(), Failure> {
    let (session, vpc_id) = (operation.session, operation.id(&spec.vpc)?);
    let tags = ownership::tags_on_create(operation, &spec.tags)?;
    let id = waits::visible(operation, &[vpc_id], || async {
        let call = session
            .ec2
            .create_route_table()
            .vpc_id(vpc_id)
            .tag_specifications(tags::on_create(ResourceType::RouteTable, &tags));
        let answer = call.send().await.map_err(|error| error.failure("CreateRouteTable"))?;
        let id = answer.route_table().and_then(|it| it.route_table_id());
        id.map(str::to_string).ok_or_else(|| incomplete_answer("CreateRouteTable", "an id"))
    })
    .await?;
    operation.record_id(&id);
    let limit = seconds_or(operation.work.timeouts.route_table_create, READY);
    session
        .pollers
        .route_tables
        .until(session, "DescribeRouteTables", &id, &operation.patience(limit), |table| {
            Ok(match table {
                Some(_) => Look::Done(()),
                None => Look::Pending("the route table is not visible yet".to_string()),
            })
        })
        .await
}

/// Changes tags.
pub(crate) async fn update(
    operation: &Operation<'_>,
    id: &str,
    from: Option<&RouteTable>,
    to: &RouteTable,
) -> Result<(), Failure> {
    tags::update(operation, id, from.map(|from| &from.tags), &to.tags).await
}

/// Deletes the table with its routes. AWS refuses while a subnet is associated.
pub(crate) async fn delete(operation: &Operation<'_>, entry: &Entry) -> Result<(), Failure> {
    let (session, id) = (operation.session, entry.id.as_str());
    let patience = operation.patience(seconds_or(operation.work.timeouts.route_table_delete, READY));
    waits::released(&patience, || async {
        let call = session.ec2.delete_route_table().route_table_id(id).send().await;
        call.map(|_| ()).map_err(|error| error.failure("DeleteRouteTable"))
    })
    .await?;
    session
        .pollers
        .route_tables
        .until(session, "DescribeRouteTables", id, &patience, |table| {
            Ok(match table {
                None => Look::Done(()),
                Some(_) => Look::Pending("the route table is still there".to_string()),
            })
        })
        .await
}

fn seconds_or(seconds: Option<u64>, otherwise: Duration) -> Duration {
    seconds.map_or(otherwise, Duration::from_secs)
}
