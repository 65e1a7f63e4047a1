//! Route tables.

use std::time::Duration;

use aws_sdk_ec2::types::ResourceType;
use futures::future::join_all;

use super::tags;
use crate::aws::calls::codes;
use crate::aws::calls::errors::incomplete_answer;
use crate::aws::calls::ownership;
use crate::aws::calls::wait;
use crate::aws::calls::wait::{Backoff, Poll};
use crate::aws::calls::{AwsError, Operation};
use crate::aws::ec2::observed::Shown;
use crate::cloud::{Cause, Deadlines, Failure, Observed};
use crate::model::Input;
use crate::model::{Entry, Key, Learned, RouteTable, Spec};

/// How long the creation or deletion of a table may take unless the user says otherwise.
const READY: Duration = Duration::from_secs(5 * 60);

/// How long a change of the table may take unless the user says otherwise.
const CHANGED: Duration = Duration::from_secs(2 * 60);

/// The table as AWS shows it, without its routes and associations, which are objects of their own. Of the gateways
/// that propagate to it those that others have let do so are left out, where it is known what was applied.
pub(super) fn read(
    shown: &Shown<'_>,
    key: Key,
    applied: Option<&RouteTable>,
    table: &aws_sdk_ec2::types::RouteTable,
) -> Option<Observed> {
    let mut gateways: Vec<Input<String>> = table
        .propagating_vgws()
        .iter()
        .filter_map(|it| it.gateway_id())
        .map(|id| Input::Known(id.to_string()))
        .collect();
    gateways.sort();
    if let Some(applied) = applied {
        let ours = applied.propagating_gateways.known();
        gateways.retain(|gateway| ours.is_some_and(|ours| ours.contains(gateway)));
    }
    Some(Observed {
        id: table.route_table_id()?.to_string(),
        key,
        spec: Spec::RouteTable(RouteTable {
            vpc: shown.vpc.clone(),
            propagating_gateways: Input::Known(gateways),
            tags: tags::own(table.tags()),
        }),
        learned: Learned::new(),
    })
}

/// Makes the table and lets gateways propagate to it. The SDK sends an idempotency token.
pub(crate) async fn create(operation: &Operation<'_>, spec: &RouteTable) -> Result<(), Failure> {
    let (session, vpc_id) = (operation.session, operation.id(&spec.vpc)?);
    let tags = ownership::tags_on_create(operation, &spec.tags)?;
    let id = operation
        .retry_until_visible(&[vpc_id], || async {
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
    let deadlines = operation.deadlines(seconds_or(operation.work.timeouts.route_table_create, READY));
    session
        .pollers
        .route_tables
        .until(&session.ec2, "DescribeRouteTables", &id, &deadlines, |table| {
            Ok(match table {
                Some(_) => Poll::Done(()),
                None => Poll::Pending("the route table is not visible yet".to_string()),
            })
        })
        .await?;
    enable_all(operation, &id, gateways(operation, spec)?, &deadlines).await
}

/// Changes which gateways propagate, and tags. Gateways that others let propagate stay.
pub(crate) async fn update(
    operation: &Operation<'_>,
    id: &str,
    from: Option<&RouteTable>,
    to: &RouteTable,
) -> Result<(), Failure> {
    let deadlines = operation.deadlines(seconds_or(operation.work.timeouts.route_table_update, CHANGED));
    let wanted = gateways(operation, to)?;
    let before = match (from, operation.work.before) {
        (Some(from), _) | (None, Some(Spec::RouteTable(from))) => gateways(operation, from)?,
        _ => Vec::new(),
    };
    // Enabling what is enabled changes nothing.
    let new = wanted.iter().copied().filter(|gateway| from.is_none() || !before.contains(gateway)).collect();
    enable_all(operation, id, new, &deadlines).await?;
    for gateway in before.iter().filter(|gateway| !wanted.contains(gateway)) {
        disable(operation, id, gateway).await?;
    }
    tags::update(operation, id, from.map(|from| &from.tags), &to.tags).await
}

/// Deletes the table with its routes. AWS refuses while a subnet is associated.
pub(crate) async fn delete(operation: &Operation<'_>, entry: &Entry) -> Result<(), Failure> {
    let (session, id) = (operation.session, entry.id.as_str());
    let deadlines = operation.deadlines(seconds_or(operation.work.timeouts.route_table_delete, READY));
    wait::retry_while_in_use(&deadlines, || async {
        let call = session.ec2.delete_route_table().route_table_id(id).send().await;
        call.map(|_| ()).map_err(|error| error.failure("DeleteRouteTable"))
    })
    .await?;
    session
        .pollers
        .route_tables
        .until(&session.ec2, "DescribeRouteTables", id, &deadlines, |table| {
            Ok(match table {
                None => Poll::Done(()),
                Some(_) => Poll::Pending("the route table is still there".to_string()),
            })
        })
        .await
}

fn gateways<'a>(operation: &Operation<'_>, spec: &'a RouteTable) -> Result<Vec<&'a str>, Failure> {
    let gateways = spec.propagating_gateways.known().map(Vec::as_slice).unwrap_or_default();
    gateways.iter().map(|gateway| operation.known(gateway).map(String::as_str)).collect()
}

/// Lets the routes of each gateway propagate. One that is not attached holds up no other, wherever it stands.
async fn enable_all(
    operation: &Operation<'_>,
    id: &str,
    gateways: Vec<&str>,
    deadlines: &Deadlines,
) -> Result<(), Failure> {
    let enabled = gateways.into_iter().map(|gateway| enable(operation, id, gateway, deadlines));
    join_all(enabled).await.into_iter().collect()
}

/// Lets a gateway's routes propagate to the table, as soon as the gateway is attached: that takes a while, and may be
/// at work in another run.
async fn enable(operation: &Operation<'_>, id: &str, gateway: &str, deadlines: &Deadlines) -> Result<(), Failure> {
    let send = || async {
        let call = operation.session.ec2.enable_vgw_route_propagation();
        let call = call.route_table_id(id).gateway_id(gateway).send().await;
        call.map(|_| ()).map_err(|error| error.failure("EnableVgwRoutePropagation"))
    };
    let enable = || async { operation.retry_until_visible(&[id], send).await };
    match wait::retry_while(deadlines, &mut Backoff::new(wait::SECONDS), codes::is_not_attached, enable).await {
        Err(failure) if codes::is_not_attached(&failure) => {
            let message = format!(
                "{}; {gateway} is not attached to this VPC, {}, and must be before its routes can propagate. An \
                 attachment that uses this network's vpc_id is made after the network: leave the gateway out of the \
                 propagating gateways, apply, so that it is attached, then name it again and apply once more",
                failure.message,
                operation.root_id()?
            );
            Err(Failure { message, ..failure })
        }
        enabled => enabled,
    }
}

/// Ends the propagation. That of a gateway which has gone or is detached has ended.
async fn disable(operation: &Operation<'_>, id: &str, gateway: &str) -> Result<(), Failure> {
    let call = operation.session.ec2.disable_vgw_route_propagation();
    let call = call.route_table_id(id).gateway_id(gateway).send().await;
    match call.map_err(|error| error.failure("DisableVgwRoutePropagation")) {
        Err(failure) if codes::is_not_attached(&failure) => Ok(()),
        Err(failure) if failure.cause == Cause::NotFound => Ok(()),
        disabled => disabled.map(|_| ()),
    }
}

fn seconds_or(seconds: Option<u64>, otherwise: Duration) -> Duration {
    seconds.map_or(otherwise, Duration::from_secs)
}

#[cfg(test)]
mod tests {
    use tokio::time::Instant;

    use super::*;
    use crate::aws::ec2::recorded::{Notes, Recorded};
    use crate::model::Tier;
    use crate::model::keys::network as keys;

    const DONE: &str = "<return>true</return>";

    fn spec(gateways: &[&str]) -> RouteTable {
        RouteTable {
            vpc: Key::new("vpc"),
            propagating_gateways: Input::Known(gateways.iter().map(|id| Input::Known(id.to_string())).collect()),
            tags: Input::Known(Default::default()),
        }
    }

    async fn run(
        aws: &Recorded,
        limit: Duration,
        body: impl AsyncFnOnce(&Operation<'_>) -> Result<(), Failure>,
    ) -> Result<(), Failure> {
        let (vpc, key) = (Key::new("vpc"), keys::route_table(Tier::PrivateApp, Some(0)));
        Notes::default().run_for(&aws.session(), &key, &[(&vpc, "vpc-1")], limit, body).await
    }

    #[tokio::test(start_paused = true)]
    async fn a_gateway_that_is_being_attached_propagates_to_a_new_table_when_it_is() {
        let table = "<routeTable><routeTableId>rtb-1</routeTableId></routeTable>";
        let tables = "<routeTableSet><item><routeTableId>rtb-1</routeTableId></item></routeTableSet>";
        let aws = Recorded::default()
            .on("CreateRouteTable", table)
            .on("DescribeRouteTables", tables)
            .fail("EnableVgwRoutePropagation", 400, "Gateway.NotAttached", "vgw-1 is not attached")
            .on("EnableVgwRoutePropagation", DONE);
        let limit = Duration::from_secs(20);
        run(&aws, limit, async |operation| create(operation, &spec(&["vgw-1", "vgw-2"])).await).await.unwrap();
        let calls = aws.calls("EnableVgwRoutePropagation");
        let gateways: Vec<_> = calls.iter().map(|it| (it["RouteTableId"].as_str(), it["GatewayId"].as_str())).collect();
        assert_eq!(gateways, [("rtb-1", "vgw-1"), ("rtb-1", "vgw-2"), ("rtb-1", "vgw-1")]);
    }

    #[tokio::test(start_paused = true)]
    async fn a_gateway_that_is_never_attached_fails_with_the_way_out() {
        let aws = Recorded::default().fail("EnableVgwRoutePropagation", 400, "Gateway.NotAttached", "is not attached");
        let (from, to) = (spec(&[]), spec(&["vgw-1"]));
        let (limit, start) = (CHANGED * 10, Instant::now());
        let failure = run(&aws, limit, async |operation| update(operation, "rtb-1", Some(&from), &to).await).await;
        assert_eq!(start.elapsed(), CHANGED);
        let failure = failure.unwrap_err();
        assert_eq!(failure.code.as_deref(), Some("Gateway.NotAttached"));
        assert!(failure.message.contains("vgw-1 is not attached to this VPC, vpc-1"), "{}", failure.message);
        assert!(failure.message.contains("apply once more"), "{}", failure.message);
        assert!(aws.actions().len() > 1, "it tries again: {:?}", aws.actions());
    }

    #[tokio::test(start_paused = true)]
    async fn a_gateway_that_is_never_attached_does_not_keep_the_next_one_from_propagating() {
        let aws = Recorded::default()
            .fail("EnableVgwRoutePropagation", 400, "Gateway.NotAttached", "is not attached")
            .on("EnableVgwRoutePropagation", DONE)
            .fail("EnableVgwRoutePropagation", 400, "Gateway.NotAttached", "is not attached");
        let (from, to) = (spec(&[]), spec(&["vgw-1", "vgw-2"]));
        let limit = CHANGED;
        let failure = run(&aws, limit, async |operation| update(operation, "rtb-1", Some(&from), &to).await).await;
        assert!(failure.unwrap_err().message.contains("vgw-1 is not attached"));
        let calls = aws.calls("EnableVgwRoutePropagation");
        let gateways: Vec<_> = calls.iter().map(|it| it["GatewayId"].as_str()).take(3).collect();
        assert_eq!(gateways, ["vgw-1", "vgw-2", "vgw-1"]);
    }

    #[tokio::test(start_paused = true)]
    async fn propagation_changes_by_difference_and_a_gateway_that_has_gone_has_ended_it() {
        let aws = Recorded::default().on("EnableVgwRoutePropagation", DONE).fail(
            "DisableVgwRoutePropagation",
            400,
            "InvalidVpnGatewayID.NotFound",
            "does not exist",
        );
        let (from, to) = (spec(&["vgw-1", "vgw-2"]), spec(&["vgw-2", "vgw-3"]));
        let limit = Duration::from_secs(20);
        run(&aws, limit, async |operation| update(operation, "rtb-1", Some(&from), &to).await).await.unwrap();
        assert_eq!(aws.actions(), ["EnableVgwRoutePropagation", "DisableVgwRoutePropagation"]);
        assert_eq!(aws.calls("EnableVgwRoutePropagation")[0]["GatewayId"], "vgw-3");
        assert_eq!(aws.calls("DisableVgwRoutePropagation")[0]["GatewayId"], "vgw-1");
    }
}
