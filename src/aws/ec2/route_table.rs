//! Route tables.

use std::time::Duration;

use aws_sdk_ec2::types::{ResourceType, Tag};
use futures::future::join_all;

use super::claims::{Claims, Evidence, Ours};
use super::slots::{is_route_table, is_route_table_of_tier};
use super::{filter_any, route, route_table_association, tags};
use crate::aws::Session;
use crate::aws::calls::codes;
use crate::aws::calls::codes::missing::MissingCodes;
use crate::aws::calls::errors::incomplete_answer;
use crate::aws::calls::ownership;
use crate::aws::calls::wait;
use crate::aws::calls::wait::{Backoff, Poll};
use crate::aws::calls::{Operation, OrFailure, list_all};
use crate::aws::ec2::observed::{Listed, Shown};
use crate::cloud::{Cause, Deadlines, Failure, Observed};
use crate::model::Input;
use crate::model::{Entry, FoundRouteTable, Learned, RouteTable, Spec};

const MISSING: MissingCodes = MissingCodes(&["InvalidRouteTableID.NotFound"]);
const MISSING_VPN_GATEWAY: MissingCodes = MissingCodes(&["InvalidVpnGatewayID.NotFound"]);

/// How long the creation or deletion of a table may take, unless the user sets a timeout.
const READY: Duration = Duration::from_secs(5 * 60);

/// How long an update of a table may take, unless the user sets a timeout.
const CHANGED: Duration = Duration::from_secs(2 * 60);

/// Why a main route table cannot be managed as the table of a single AZ.
const OF_WHOLE_TIER: &str = "it is the main route table, which can only be adopted for a whole tier, under a key such as \
                             \"route_table.private_app\"";

/// Whether a table is the main one of its VPC, which serves every subnet without an association.
pub(super) fn is_main_table(table: &aws_sdk_ec2::types::RouteTable) -> bool {
    table.associations().iter().any(|it| it.main() == Some(true))
}

/// All route tables of a VPC.
pub(super) async fn in_vpc(session: &Session, vpc_id: &str) -> Result<Vec<aws_sdk_ec2::types::RouteTable>, Failure> {
    let ec2 = session.ec2.clone();
    let list = move |ids| {
        let call = ec2.describe_route_tables().filters(filter_any::<String>("vpc-id", ids));
        list_all("DescribeRouteTables", call.into_paginator().items().send())
    };
    session.shared.route_tables.of(&session.shared.networks, vpc_id, |it| it.vpc_id(), list).await
}

impl Listed for aws_sdk_ec2::types::RouteTable {
    fn id(&self) -> Option<&str> {
        self.route_table_id()
    }

    fn tags(&self) -> &[Tag] {
        self.tags()
    }

    /// Subnets must have been claimed.
    fn evidence<'a>(&'a self, claims: &Claims<'a>) -> Evidence<'a> {
        let slot = self.route_table_id().and_then(|id| claims.network.consented?.get(id));
        let is_of_one_az = slot.is_some_and(|slot| is_main_table(self) && !is_route_table_of_tier(slot));
        Evidence {
            needs_consent: foreign_association(self, claims),
            // It also serves every new subnet.
            impossible: is_of_one_az.then(|| OF_WHOLE_TIER.to_string()),
            requires: self.associations().iter().filter_map(|it| it.subnet_id()).collect(),
            ..Evidence::new("a route table", is_route_table)
        }
    }

    /// Routes and associations are separate objects. Of a table in state, leaves out the gateways whose propagation was
    /// enabled outside Terraform.
    fn read(&self, shown: &Shown<'_>, ours: Ours<'_>) -> Option<Observed> {
        let (key, applied) = ours.place(RouteTable::of)?;
        let gateways = self.propagating_vgws().iter().filter_map(|it| it.gateway_id());
        let mut gateways: Vec<Input<String>> = gateways.map(|id| Input::Known(id.to_string())).collect();
        gateways.sort();
        if let Some(applied) = applied {
            let applied = applied.propagating_gateways.known();
            gateways.retain(|gateway| applied.is_some_and(|applied| applied.contains(gateway)));
        }
        Some(Observed {
            id: self.route_table_id()?.to_string(),
            key,
            spec: Spec::RouteTable(RouteTable {
                vpc: shown.vpc.clone(),
                propagating_gateways: Input::Known(gateways),
                tags: tags::own(self.tags()),
            }),
            learned: Learned::new(),
        })
    }
}

/// An association of a table with something that is not managed.
fn foreign_association(table: &aws_sdk_ec2::types::RouteTable, claims: &Claims<'_>) -> Option<String> {
    if claims.network.trusts_tags() {
        return None;
    }
    if is_main_table(table) {
        return Some("it is the main route table of the VPC".to_string());
    }
    let mut foreign = table.associations().iter().filter_map(|it| {
        let id = it.gateway_id().or_else(|| it.subnet_id().filter(|id| claims.ours(Some(id)).is_none()))?;
        Some(format!("it is associated with {id}, which is not managed"))
    });
    foreign.next()
}

impl From<&aws_sdk_ec2::types::RouteTable> for FoundRouteTable {
    fn from(it: &aws_sdk_ec2::types::RouteTable) -> FoundRouteTable {
        let associated = it.associations().iter().filter_map(|it| it.subnet_id().or(it.gateway_id()));
        FoundRouteTable {
            id: it.route_table_id().unwrap_or_default().to_string(),
            tags: tags::all(it.tags()),
            is_main: is_main_table(it),
            associated: associated.map(str::to_string).collect(),
            routes: it.routes().iter().filter_map(route::found).collect(),
        }
    }
}

/// Creates the table. An update enables the propagation of gateways, so that no other operation waits for it. The SDK
/// sends an idempotency token.
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
            let answer = call.send().await.or_failure("CreateRouteTable")?;
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
        .await
}

/// Updates propagation and tags. Propagation that was enabled outside Terraform stays.
pub(crate) async fn update(
    operation: &Operation<'_>,
    id: &str,
    from: &RouteTable,
    to: &RouteTable,
) -> Result<(), Failure> {
    let deadlines = operation.deadlines(seconds_or(operation.work.timeouts.route_table_update, CHANGED));
    let (before, wanted) = (gateways(operation, from)?, gateways(operation, to)?);
    let new = wanted.iter().copied().filter(|gateway| !before.contains(gateway)).collect();
    let enabled = enable_all(operation, id, new, &deadlines).await;
    if !matches!(&enabled, Err(failure) if failure.cause == Cause::NotAttached) {
        enabled.clone()?;
    }
    // A gateway that is not attached prevents nothing else.
    for gateway in before.iter().filter(|gateway| !wanted.contains(gateway)) {
        disable(operation, id, gateway).await?;
    }
    tags::update(operation, id, &from.tags, &to.tags).await?;
    enabled
}

/// Deletes the table with its routes. AWS rejects this while a subnet is associated.
pub(crate) async fn delete(operation: &Operation<'_>, entry: &Entry) -> Result<(), Failure> {
    let (session, id) = (operation.session, entry.id.as_str());
    let deadlines = operation.deadlines(seconds_or(operation.work.timeouts.route_table_delete, READY));
    let is_missing = |failure: &Failure| MISSING.match_failure(failure, id);
    wait::delete(
        &deadlines,
        is_missing,
        || exists(session, id),
        || async {
            match send_delete(session, id).await {
                Err(failure) if failure.cause == Cause::InUse && may_be_deleted_now(session, id).await => {
                    send_delete(session, id).await
                }
                deleted => deleted,
            }
        },
    )
    .await?;
    session
        .pollers
        .route_tables
        .until(&session.ec2, "DescribeRouteTables", id, &deadlines, |table| {
            Ok(match table {
                None => Poll::Done(()),
                Some(_) => Poll::Pending("the route table still exists".to_string()),
            })
        })
        .await
}

/// Removes the ownership tags of a main route table, which AWS deletes only with its VPC. Its routes stay, because they
/// serve every subnet without an association.
pub(crate) async fn disown(operation: &Operation<'_>, entry: &Entry) -> Result<(), Failure> {
    let (session, id) = (operation.session, entry.id.as_str());
    tags::remove_ownership(operation, MISSING, id, || exists(session, id)).await
}

async fn exists(session: &Session, id: &str) -> Result<bool, Failure> {
    Ok(session.pollers.route_tables.now(&session.ec2, id).await?.is_some())
}

async fn send_delete(session: &Session, id: &str) -> Result<(), Failure> {
    let call = session.ec2.delete_route_table().route_table_id(id).send().await;
    call.map(|_| ()).or_failure("DeleteRouteTable")
}

/// Removes the associations of deleted subnets, and returns whether there was one. After a failure to remove them, the
/// table is still in use, which is what the user learns.
async fn may_be_deleted_now(session: &Session, id: &str) -> bool {
    disassociate_deleted(session, id).await.unwrap_or_else(|failure| {
        tracing::warn!("{id} may have associations of deleted subnets: {failure}");
        false
    })
}

/// Removes the associations of subnets that no longer exist, and returns whether there was one. AWS deletes an
/// association with its subnet, but emulators may keep it. An association of an existing subnet stays, because it is
/// unmanaged: those of this network are deleted before their table.
async fn disassociate_deleted(session: &Session, id: &str) -> Result<bool, Failure> {
    let table = session.pollers.route_tables.now(&session.ec2, id).await?;
    let associations = table.and_then(|table| table.associations).unwrap_or_default();
    let associations: Vec<(&str, &str)> =
        associations.iter().filter_map(|it| Some((it.route_table_association_id()?, it.subnet_id()?))).collect();
    let disassociate = |(association, subnet)| async move {
        // One read may not show a new subnet yet.
        for pause in [Duration::ZERO, wait::SECONDS] {
            tokio::time::sleep(pause).await;
            if session.pollers.subnets.now(&session.ec2, subnet).await?.is_some() {
                return Ok(false);
            }
        }
        let call = session.ec2.disassociate_route_table().association_id(association).send().await;
        match call.or_failure("DisassociateRouteTable") {
            Err(failure) if !route_table_association::MISSING.match_failure(&failure, association) => Err(failure),
            _ => Ok(true),
        }
    };
    let removed: Vec<Result<bool, Failure>> = join_all(associations.into_iter().map(disassociate)).await;
    Ok(removed.into_iter().collect::<Result<Vec<bool>, _>>()?.contains(&true))
}

fn gateways<'a>(operation: &Operation<'_>, spec: &'a RouteTable) -> Result<Vec<&'a str>, Failure> {
    let gateways = spec.propagating_gateways.known().map(Vec::as_slice).unwrap_or_default();
    gateways.iter().map(|gateway| operation.known(gateway).map(String::as_str)).collect()
}

/// Enables the propagation of each gateway concurrently, so that a detached gateway does not delay the others. Returns
/// `NotAttached` only if there is no other failure.
async fn enable_all(
    operation: &Operation<'_>,
    id: &str,
    gateways: Vec<&str>,
    deadlines: &Deadlines,
) -> Result<(), Failure> {
    let enabled = gateways.into_iter().map(|gateway| enable(operation, id, gateway, deadlines));
    let (detached, others): (Vec<Failure>, Vec<Failure>) =
        join_all(enabled).await.into_iter().filter_map(Result::err).partition(|it| it.cause == Cause::NotAttached);
    others.into_iter().chain(detached).next().map_or(Ok(()), Err)
}

/// Enables the propagation of a gateway. An update retries until the gateway is attached, because an attachment takes
/// some time, and Terraform may attach it in the same run. In a create, nothing can refer to the VPC yet, so there is
/// one attempt.
async fn enable(operation: &Operation<'_>, id: &str, gateway: &str, deadlines: &Deadlines) -> Result<(), Failure> {
    let send = || async {
        let call = operation.session.ec2.enable_vgw_route_propagation();
        let call = call.route_table_id(id).gateway_id(gateway).send().await;
        call.map(|_| ()).or_failure("EnableVgwRoutePropagation")
    };
    let enable = || async { operation.retry_until_visible(&[id, gateway], send).await };
    let may_wait = |failure: &Failure| !operation.work.in_create && codes::is_not_attached(failure);
    match wait::retry_while(deadlines, &mut Backoff::new(wait::SECONDS), may_wait, enable).await {
        Err(failure) if codes::is_not_attached(&failure) => {
            let message = format!("{}; {gateway} is not attached to {}", failure.message, operation.root_id()?);
            Err(Failure { cause: Cause::NotAttached, message, ..failure })
        }
        enabled => enabled,
    }
}

/// Disables the propagation. The propagation of a missing or detached gateway counts as disabled.
async fn disable(operation: &Operation<'_>, id: &str, gateway: &str) -> Result<(), Failure> {
    let session = operation.session;
    let is_missing = |failure: &Failure| MISSING_VPN_GATEWAY.match_failure(failure, gateway);
    let is_enabled = || async {
        let table = session.pollers.route_tables.now(&session.ec2, id).await?;
        let enabled = table.and_then(|table| table.propagating_vgws).unwrap_or_default();
        Ok(enabled.iter().any(|it| it.gateway_id() == Some(gateway)))
    };
    wait::delete(&operation.work.deadlines, is_missing, is_enabled, || async {
        let call = session.ec2.disable_vgw_route_propagation().route_table_id(id).gateway_id(gateway).send().await;
        match call.or_failure("DisableVgwRoutePropagation") {
            Err(failure) if codes::is_not_attached(&failure) => Ok(()),
            disabled => disabled.map(|_| ()),
        }
    })
    .await
}

fn seconds_or(seconds: Option<u64>, default: Duration) -> Duration {
    seconds.map_or(default, Duration::from_secs)
}

#[cfg(test)]
mod tests {
    use tokio::time::Instant;

    use super::*;
    use crate::aws::ec2::recorded::{Notes, Recorded};
    use crate::cloud::OpContext;
    use crate::model::keys::network as keys;
    use crate::model::{Key, Tier};

    const DONE: &str = "<return>true</return>";

    fn spec(gateways: &[&str]) -> RouteTable {
        RouteTable {
            propagating_gateways: Input::Known(gateways.iter().map(|id| Input::Known(id.to_string())).collect()),
            ..RouteTable::test()
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
    async fn propagation_waits_until_the_gateway_is_attached() {
        let aws = Recorded::default()
            .fail("EnableVgwRoutePropagation", 400, "Gateway.NotAttached", "vgw-1 is not attached")
            .on("EnableVgwRoutePropagation", DONE);
        let (limit, from, to) = (Duration::from_secs(20), spec(&[]), spec(&["vgw-1", "vgw-2"]));
        run(&aws, limit, async |operation| update(operation, "rtb-1", &from, &to).await).await.unwrap();
        let calls = aws.calls("EnableVgwRoutePropagation");
        let gateways: Vec<_> = calls.iter().map(|it| (it["RouteTableId"].as_str(), it["GatewayId"].as_str())).collect();
        assert_eq!(gateways, [("rtb-1", "vgw-1"), ("rtb-1", "vgw-2"), ("rtb-1", "vgw-1")]);
    }

    #[tokio::test(start_paused = true)]
    async fn a_gateway_that_is_never_attached_is_left_to_the_next_apply() {
        let aws = Recorded::default().fail("EnableVgwRoutePropagation", 400, "Gateway.NotAttached", "is not attached");
        let (from, to) = (spec(&[]), spec(&["vgw-1"]));
        let (limit, start) = (CHANGED * 10, Instant::now());
        let failure = run(&aws, limit, async |operation| update(operation, "rtb-1", &from, &to).await).await;
        assert_eq!(start.elapsed(), CHANGED);
        let failure = failure.unwrap_err();
        assert_eq!((failure.cause, failure.code.as_deref()), (Cause::NotAttached, Some("Gateway.NotAttached")));
        assert!(failure.message.contains("vgw-1 is not attached to vpc-1"), "{}", failure.message);
        assert!(aws.actions().len() > 1, "the call is retried: {:?}", aws.actions());
    }

    #[tokio::test(start_paused = true)]
    async fn a_create_does_not_wait_for_an_attachment() {
        let aws = Recorded::default().fail("EnableVgwRoutePropagation", 400, "Gateway.NotAttached", "is not attached");
        let (from, to) = (spec(&[]), spec(&["vgw-1"]));
        let updated = run(&aws, CHANGED, async |operation| {
            let work = OpContext { in_create: true, ..operation.work.clone() };
            let operation = Operation { work: &work, ..*operation };
            update(&operation, "rtb-1", &from, &to).await
        });
        assert_eq!(updated.await.unwrap_err().cause, Cause::NotAttached);
        assert_eq!(aws.actions(), ["EnableVgwRoutePropagation"], "one attempt");
    }

    #[tokio::test(start_paused = true)]
    async fn an_unattached_gateway_does_not_delay_the_next_one() {
        let aws = Recorded::default()
            .fail("EnableVgwRoutePropagation", 400, "Gateway.NotAttached", "is not attached")
            .on("EnableVgwRoutePropagation", DONE)
            .fail("EnableVgwRoutePropagation", 400, "Gateway.NotAttached", "is not attached");
        let (from, to) = (spec(&[]), spec(&["vgw-1", "vgw-2"]));
        let limit = CHANGED;
        let failure = run(&aws, limit, async |operation| update(operation, "rtb-1", &from, &to).await).await;
        assert!(failure.unwrap_err().message.contains("vgw-1 is not attached"));
        let calls = aws.calls("EnableVgwRoutePropagation");
        let gateways: Vec<_> = calls.iter().map(|it| it["GatewayId"].as_str()).take(3).collect();
        assert_eq!(gateways, ["vgw-1", "vgw-2", "vgw-1"]);
    }

    #[tokio::test(start_paused = true)]
    async fn a_detached_gateway_prevents_nothing_else_and_hides_no_error() {
        let detached =
            |aws: Recorded| aws.fail("EnableVgwRoutePropagation", 400, "Gateway.NotAttached", "is not attached");
        let aws = detached(Recorded::default()).on("DisableVgwRoutePropagation", DONE);
        let (from, to) = (spec(&["vgw-1"]), spec(&["vgw-2"]));
        let updated = run(&aws, CHANGED, async |operation| update(operation, "rtb-1", &from, &to).await).await;
        assert_eq!(updated.unwrap_err().cause, Cause::NotAttached);
        assert_eq!(aws.calls("DisableVgwRoutePropagation")[0]["GatewayId"], "vgw-1");

        let (code, text) = ("InvalidParameterValue", "Value (vgw-2) for parameter gatewayId is invalid");
        let aws = detached(detached(Recorded::default()).fail("EnableVgwRoutePropagation", 400, code, text));
        let (from, to) = (spec(&[]), spec(&["vgw-1", "vgw-2"]));
        let updated = run(&aws, CHANGED, async |operation| update(operation, "rtb-1", &from, &to).await).await;
        assert_eq!(updated.unwrap_err().code.as_deref(), Some(code));
    }

    #[tokio::test(start_paused = true)]
    async fn update_switches_changed_gateways_and_tolerates_missing_ones() {
        let aws = Recorded::default().on("EnableVgwRoutePropagation", DONE).fail(
            "DisableVgwRoutePropagation",
            400,
            "InvalidVpnGatewayID.NotFound",
            "does not exist",
        );
        let (from, to) = (spec(&["vgw-1", "vgw-2"]), spec(&["vgw-2", "vgw-3"]));
        let limit = Duration::from_secs(20);
        run(&aws, limit, async |operation| update(operation, "rtb-1", &from, &to).await).await.unwrap();
        assert_eq!(aws.actions(), ["EnableVgwRoutePropagation", "DisableVgwRoutePropagation"]);
        assert_eq!(aws.calls("EnableVgwRoutePropagation")[0]["GatewayId"], "vgw-3");
        assert_eq!(aws.calls("DisableVgwRoutePropagation")[0]["GatewayId"], "vgw-1");
    }

    /// The table with two associations.
    const ASSOCIATED: &str = "<routeTableSet><item><routeTableId>rtb-1</routeTableId><associationSet>\
        <item><routeTableAssociationId>rtbassoc-1</routeTableAssociationId><subnetId>subnet-1</subnetId></item>\
        <item><routeTableAssociationId>rtbassoc-2</routeTableAssociationId><subnetId>subnet-2</subnetId></item>\
        </associationSet></item></routeTableSet>";

    async fn delete_from(aws: &Recorded) -> Result<(), Failure> {
        let key = keys::route_table(Tier::PrivateApp, Some(0));
        let entry = Entry::new(key, "rtb-1", Spec::RouteTable(spec(&[])));
        run(aws, Duration::from_secs(120), async |operation| delete(operation, &entry).await).await
    }

    #[tokio::test(start_paused = true)]
    async fn only_associations_of_deleted_subnets_are_removed() {
        let rejected = || Recorded::default().fail("DeleteRouteTable", 400, "DependencyViolation", "has dependencies");
        let aws = rejected()
            .on("DescribeRouteTables", ASSOCIATED)
            .on("DescribeSubnets", "<subnetSet><item><subnetId>subnet-2</subnetId></item></subnetSet>")
            .on("DisassociateRouteTable", DONE);
        // A subnet that exists is unmanaged, and keeps its table.
        assert_eq!(delete_from(&aws).await.unwrap_err().cause, Cause::InUse);
        let removed = aws.calls("DisassociateRouteTable");
        assert!(!removed.is_empty() && removed.iter().all(|call| call["AssociationId"] == "rtbassoc-1"), "{removed:?}");

        let aws = rejected()
            .on("DeleteRouteTable", DONE)
            .on("DescribeRouteTables", ASSOCIATED)
            .on("DescribeRouteTables", "<routeTableSet/>")
            .on("DescribeSubnets", "<subnetSet/>")
            .on("DisassociateRouteTable", DONE)
            .fail("DisassociateRouteTable", 400, "InvalidAssociationID.NotFound", "rtbassoc-2 does not exist");
        let start = Instant::now();
        delete_from(&aws).await.unwrap();
        let changes: Vec<_> = aws.actions().into_iter().filter(|action| !action.starts_with("Describe")).collect();
        let disassociate = "DisassociateRouteTable";
        assert_eq!(changes, ["DeleteRouteTable", disassociate, disassociate, "DeleteRouteTable"]);
        // Two reads of the subnets, three seconds apart.
        assert!(start.elapsed() < Duration::from_secs(4), "the deletion is repeated at once: {:?}", start.elapsed());
    }

    #[tokio::test(start_paused = true)]
    async fn a_table_in_use_is_deleted_later_without_another_change() {
        let aws = Recorded::default()
            .fail("DeleteRouteTable", 400, "DependencyViolation", "has dependencies")
            .on("DeleteRouteTable", DONE)
            .on("DescribeRouteTables", "<routeTableSet/>");
        delete_from(&aws).await.unwrap();
        let read = "DescribeRouteTables";
        assert_eq!(aws.actions(), ["DeleteRouteTable", read, "DeleteRouteTable", read]);
    }
}
