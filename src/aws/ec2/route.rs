//! Routes, identified by table and destination.

use std::str::FromStr;
use std::time::Duration;

use aws_sdk_ec2::types::{RouteOrigin, RouteState, RouteTable};
use ipnet::IpNet;

use crate::aws::calls::codes::missing::MissingCodes;
use crate::aws::calls::wait;
use crate::aws::calls::wait::Poll;
use crate::aws::calls::{Operation, OrFailure};
use crate::aws::ec2::observed::Shown;
use crate::cloud::{Cause, Failure, Observed};
use crate::model::keys::network as keys;
use crate::model::keys::network::Family;
use crate::model::{Entry, Key, Learned, Ref, Route, Spec};

const MISSING: MissingCodes = MissingCodes(&["InvalidRoute.NotFound"]);

/// The target of a route. Each kind has its own parameter in the calls.
#[derive(Debug, Default, PartialEq)]
struct RouteTarget {
    gateway_id: Option<String>,
    nat_gateway_id: Option<String>,
    egress_only_internet_gateway_id: Option<String>,
    transit_gateway_id: Option<String>,
    vpc_peering_connection_id: Option<String>,
    network_interface_id: Option<String>,
}

/// The route as AWS returns it; `None` for an unmanaged one. A route is managed if it is in state or if it is a default
/// route to a managed gateway.
fn read(shown: &Shown<'_>, table: &Key, table_id: &str, route: &aws_sdk_ec2::types::Route) -> Option<Observed> {
    let destination = destination(route)?;
    if is_created_by_aws(route) {
        return None;
    }
    let id = id(table_id, &destination);
    let target_id = target(route).unwrap_or("nothing");
    let is_blackhole = route.state() == Some(&RouteState::Blackhole);
    let target = match is_blackhole {
        true => Ref::blackhole(target_id),
        false => shown.reference(target_id),
    };
    let key = match shown.known(&id) {
        Some(entry) => entry.key.clone(),
        None => match (&target, destination.as_str()) {
            (Ref::Key(_), "0.0.0.0/0") => keys::default_route(table, Family::Ipv4),
            (Ref::Key(_), "::/0") => keys::default_route(table, Family::Ipv6),
            _ => return None,
        },
    };
    let spec = Spec::Route(Route { route_table: table.clone(), destination, target });
    Some(Observed { id, key, spec, learned: Learned::new() })
}

/// Adds the routes of managed tables that are in state, and default routes to managed gateways. All other routes are
/// unmanaged, and recorded as learned values of their table.
pub(super) fn add_all(shown: &mut Shown<'_>, tables: &[RouteTable]) {
    for table in tables {
        let Some(table_id) = table.route_table_id() else { continue };
        let Some(key) = shown.key(table_id).cloned() else { continue };
        for it in table.routes() {
            shown.add(read(shown, &key, table_id, it));
        }
        let unmanaged = table.routes().iter().filter_map(|it| unmanaged(shown, &key, table_id, it));
        let unmanaged: Vec<(String, String)> = unmanaged.collect();
        if let Some(learned) = shown.learned_of(table_id) {
            learned.unmanaged_routes = unmanaged;
        }
    }
}

/// Destination and target of an unmanaged route in a managed table: a route that is neither in state nor created by
/// AWS. A propagated route is left out too, because a static route takes precedence over it.
fn unmanaged(
    shown: &Shown<'_>,
    table: &Key,
    table_id: &str,
    route: &aws_sdk_ec2::types::Route,
) -> Option<(String, String)> {
    let prefix_list = || route.destination_prefix_list_id().map(str::to_string);
    let destination = destination(route).or_else(prefix_list)?;
    if is_created_by_aws(route) || read(shown, table, table_id, route).is_some() {
        return None;
    }
    Some((destination, target(route).unwrap_or("nothing").to_string()))
}

/// Destination and target of an unmanaged route to a managed object.
pub(super) fn to_managed(
    shown: &Shown<'_>,
    table_id: &str,
    route: &aws_sdk_ec2::types::Route,
) -> Option<(String, String)> {
    let prefix_list = || route.destination_prefix_list_id().map(str::to_string);
    let destination = destination(route).or_else(prefix_list)?;
    let target = target(route).filter(|target| shown.key(target).is_some())?;
    let is_unmanaged = shown.key(&id(table_id, &destination)).is_none() && !is_created_by_aws(route);
    is_unmanaged.then(|| (destination, target.to_string()))
}

/// Destination and target of any route, for a landscape.
pub(super) fn found(it: &aws_sdk_ec2::types::Route) -> Option<(String, String)> {
    let destination =
        it.destination_cidr_block().or(it.destination_ipv6_cidr_block()).or(it.destination_prefix_list_id())?;
    let target = it
        .gateway_id()
        .or(it.nat_gateway_id())
        .or(it.transit_gateway_id())
        .or(it.egress_only_internet_gateway_id())
        .or(it.vpc_peering_connection_id())
        .or(it.network_interface_id())
        .or(it.instance_id())
        .unwrap_or("unknown");
    Some((destination.to_string(), target.to_string()))
}

/// Whether it is a local route, or one that AWS creates for a gateway endpoint or propagates from a VPN gateway. A
/// route to an endpoint of a Gateway Load Balancer has a range as its destination, and is not created by AWS.
pub(super) fn is_created_by_aws(route: &aws_sdk_ec2::types::Route) -> bool {
    let to_service = route.destination_prefix_list_id().is_some();
    route.gateway_id().is_some_and(|id| id == "local" || (to_service && id.starts_with("vpce-")))
        || route.origin() == Some(&RouteOrigin::EnableVgwRoutePropagation)
}

pub(crate) async fn create(operation: &Operation<'_>, spec: &Route) -> Result<(), Failure> {
    let (table_id, target_id) = (operation.id(&spec.route_table)?, operation.resolve(&spec.target)?);
    let created = operation
        .retry_until_visible(&[table_id, target_id], || async {
            let target = RouteTarget::of(target_id)?;
            let call = operation
                .session
                .ec2
                .create_route()
                .route_table_id(table_id)
                .set_destination_cidr_block(ipv4(&spec.destination))
                .set_destination_ipv6_cidr_block(ipv6(&spec.destination))
                .set_gateway_id(target.gateway_id)
                .set_nat_gateway_id(target.nat_gateway_id)
                .set_egress_only_internet_gateway_id(target.egress_only_internet_gateway_id)
                .set_transit_gateway_id(target.transit_gateway_id)
                .set_vpc_peering_connection_id(target.vpc_peering_connection_id)
                .set_network_interface_id(target.network_interface_id);
            call.send().await.map(|_| ()).or_failure("CreateRoute")
        })
        .await;
    match created {
        // The call accepts no idempotency token, so the route exists after a lost answer. One with another target is
        // unmanaged.
        Err(failure) if failure.cause == Cause::Exists => {
            let session = operation.session;
            let table = session.pollers.route_tables.now(&session.ec2, table_id).await?;
            let existing = find(table.as_ref(), &spec.destination).and_then(target).unwrap_or("unknown");
            if existing != target_id {
                let message = format!(
                    "{table_id} already has an unmanaged route to {} with the target {existing}, which was not \
                     changed. Delete that route, then run Terraform again",
                    spec.destination
                );
                return Err(Failure { message, ..failure });
            }
        }
        created => created?,
    }
    operation.record_id(&id(table_id, &spec.destination));
    wait_for(operation, table_id, &spec.destination, target_id).await
}

/// Replaces the target in one call.
pub(crate) async fn update(operation: &Operation<'_>, _id: &str, from: &Route, to: &Route) -> Result<(), Failure> {
    if from.target == to.target {
        return Ok(());
    }
    let (table_id, target_id) = (operation.id(&to.route_table)?, operation.resolve(&to.target)?);
    operation
        .retry_until_visible(&[table_id, target_id], || async {
            let target = RouteTarget::of(target_id)?;
            let call = operation
                .session
                .ec2
                .replace_route()
                .route_table_id(table_id)
                .set_destination_cidr_block(ipv4(&to.destination))
                .set_destination_ipv6_cidr_block(ipv6(&to.destination))
                .set_gateway_id(target.gateway_id)
                .set_nat_gateway_id(target.nat_gateway_id)
                .set_egress_only_internet_gateway_id(target.egress_only_internet_gateway_id)
                .set_transit_gateway_id(target.transit_gateway_id)
                .set_vpc_peering_connection_id(target.vpc_peering_connection_id)
                .set_network_interface_id(target.network_interface_id);
            call.send().await.map(|_| ()).or_failure("ReplaceRoute")
        })
        .await?;
    wait_for(operation, table_id, &to.destination, target_id).await
}

/// Deletes the route.
pub(crate) async fn delete(operation: &Operation<'_>, entry: &Entry) -> Result<(), Failure> {
    let (table_id, destination) = entry.id.split_once('_').ok_or_else(|| {
        let message = format!("{} is not a route id of the form <table>_<destination>", entry.id);
        Failure::new(Cause::Other, "DeleteRoute", message)
    })?;
    let session = operation.session;
    let is_missing = |failure: &Failure| MISSING.match_failure(failure, table_id);
    let exists = || async {
        let table = session.pollers.route_tables.now(&session.ec2, table_id).await?;
        Ok(find(table.as_ref(), destination).is_some())
    };
    wait::delete(&operation.work.deadlines, is_missing, exists, || async {
        let call = operation
            .session
            .ec2
            .delete_route()
            .route_table_id(table_id)
            .set_destination_cidr_block(ipv4(destination))
            .set_destination_ipv6_cidr_block(ipv6(destination));
        call.send().await.map(|_| ()).or_failure("DeleteRoute")
    })
    .await
}

async fn wait_for(
    operation: &Operation<'_>,
    table_id: &str,
    destination: &str,
    target_id: &str,
) -> Result<(), Failure> {
    // A route is an update of its table.
    let limit = operation.work.timeouts.route_table_update.map_or(wait::PROPAGATION, Duration::from_secs);
    let (session, deadlines) = (operation.session, operation.deadlines(limit));
    session
        .pollers
        .route_tables
        .until(&session.ec2, "DescribeRouteTables", table_id, &deadlines, |table| {
            Ok(match find(table, destination).and_then(target) {
                Some(target) if target == target_id => Poll::Done(()),
                Some(target) => Poll::Pending(format!("the target of the route is still {target}")),
                None => Poll::Pending("the route is not visible yet".to_string()),
            })
        })
        .await
}

fn find<'a>(table: Option<&'a aws_sdk_ec2::types::RouteTable>, wanted: &str) -> Option<&'a aws_sdk_ec2::types::Route> {
    table?.routes().iter().find(|route| destination(route).as_deref() == Some(wanted))
}

/// The id of a route in state, because routes have no id in AWS.
fn id(table_id: &str, destination: &str) -> String {
    format!("{table_id}_{destination}")
}

/// The canonical destination of a route; `None` for a prefix list.
fn destination(route: &aws_sdk_ec2::types::Route) -> Option<String> {
    let cidr = route.destination_cidr_block().or_else(|| route.destination_ipv6_cidr_block())?;
    Some(IpNet::from_str(cidr).map_or_else(|_| cidr.to_string(), |net| net.trunc().to_string()))
}

/// The id of the target of a route.
fn target(route: &aws_sdk_ec2::types::Route) -> Option<&str> {
    route
        .nat_gateway_id()
        .or_else(|| route.egress_only_internet_gateway_id())
        .or_else(|| route.transit_gateway_id())
        .or_else(|| route.vpc_peering_connection_id())
        .or_else(|| route.network_interface_id())
        .or_else(|| route.instance_id())
        .or_else(|| route.local_gateway_id())
        .or_else(|| route.carrier_gateway_id())
        .or_else(|| route.core_network_arn())
        .or_else(|| route.gateway_id())
}

fn ipv4(destination: &str) -> Option<String> {
    (!destination.contains(':')).then(|| destination.to_string())
}

fn ipv6(destination: &str) -> Option<String> {
    destination.contains(':').then(|| destination.to_string())
}

impl RouteTarget {
    /// The prefix of an id determines the kind of the target.
    fn of(id: &str) -> Result<RouteTarget, Failure> {
        let mut target = RouteTarget::default();
        let prefix = id.split('-').next().unwrap_or_default();
        let parameter = match prefix {
            "igw" | "vgw" => &mut target.gateway_id,
            "nat" => &mut target.nat_gateway_id,
            "eigw" => &mut target.egress_only_internet_gateway_id,
            "tgw" => &mut target.transit_gateway_id,
            "pcx" => &mut target.vpc_peering_connection_id,
            "eni" => &mut target.network_interface_id,
            _ => {
                return Err(Failure::new(Cause::Other, "CreateRoute", format!("{id} cannot be the target of a route")));
            }
        };
        *parameter = Some(id.to_string());
        Ok(target)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::aws::ec2::recorded::{Notes, Recorded};

    fn table(target: &str) -> String {
        format!(
            "<routeTableSet><item><routeTableId>rtb-1</routeTableId><routeSet><item>\
             <destinationCidrBlock>10.0.0.0/16</destinationCidrBlock><gatewayId>local</gatewayId></item><item>\
             <destinationCidrBlock>0.0.0.0/0</destinationCidrBlock>{target}<state>active</state>\
             <origin>CreateRoute</origin></item></routeSet></item></routeTableSet>"
        )
    }

    async fn create_on(aws: &Recorded, notes: &Notes) -> Result<(), Failure> {
        let spec = Route::test();
        let gateway = keys::internet_gateway();
        let ids = [(&spec.route_table, "rtb-1"), (&gateway, "igw-1")];
        notes
            .run(&aws.session(), &Key::new("route.public.ipv4"), &ids, async |operation| create(operation, &spec).await)
            .await
    }

    #[tokio::test(start_paused = true)]
    async fn an_equal_existing_route_is_adopted() {
        let aws = Recorded::default()
            .fail("CreateRoute", 400, "RouteAlreadyExists", "The route identified by 0.0.0.0/0 already exists.")
            .on("DescribeRouteTables", &table("<gatewayId>igw-1</gatewayId>"));
        let notes = Notes::default();
        create_on(&aws, &notes).await.unwrap();
        assert_eq!(notes.ids(), ["rtb-1_0.0.0.0/0"]);
        assert_eq!(aws.calls("CreateRoute")[0]["GatewayId"], "igw-1");
    }

    #[tokio::test(start_paused = true)]
    async fn an_unmanaged_route_is_reported_and_not_changed() {
        let aws = Recorded::default()
            .fail("CreateRoute", 400, "RouteAlreadyExists", "The route identified by 0.0.0.0/0 already exists.")
            .on("DescribeRouteTables", &table("<transitGatewayId>tgw-9</transitGatewayId>"));
        let notes = Notes::default();
        let failure = create_on(&aws, &notes).await.unwrap_err();
        assert!(failure.message.contains("tgw-9"), "{}", failure.message);
        assert_eq!(failure.code.as_deref(), Some("RouteAlreadyExists"));
        assert!(notes.ids().is_empty());
    }

    #[tokio::test(start_paused = true)]
    async fn create_waits_for_a_recently_created_target() {
        let aws = Recorded::default()
            .fail("CreateRoute", 400, "InvalidInternetGatewayID.NotFound", "The gateway ID 'igw-1' does not exist")
            .on("CreateRoute", "<return>true</return>")
            .on("DescribeRouteTables", &table("<gatewayId>igw-1</gatewayId>"));
        let session = aws.session();
        session.process.created.add("igw-1");
        let (spec, gateway) = (Route::test(), keys::internet_gateway());
        let ids = [(&spec.route_table, "rtb-1"), (&gateway, "igw-1")];
        Notes::default()
            .run(&session, &Key::new("route.public.ipv4"), &ids, async |operation| create(operation, &spec).await)
            .await
            .unwrap();
        assert_eq!(aws.calls("CreateRoute").len(), 2);
    }

    #[tokio::test(start_paused = true)]
    async fn a_missing_older_target_is_not_found_at_once() {
        let aws = Recorded::default().fail(
            "CreateRoute",
            400,
            "InvalidInternetGatewayID.NotFound",
            "The gateway ID 'igw-1' does not exist",
        );
        assert_eq!(create_on(&aws, &Notes::default()).await.unwrap_err().cause, Cause::NotFound);
        assert_eq!(aws.calls("CreateRoute").len(), 1);
    }

    #[tokio::test(start_paused = true)]
    async fn an_ipv6_route_uses_its_own_parameter_in_every_call() {
        let shown = |target: &str| {
            format!(
                "<routeTableSet><item><routeTableId>rtb-1</routeTableId><routeSet><item>\
                 <destinationIpv6CidrBlock>0::/0</destinationIpv6CidrBlock>{target}<state>active</state></item>\
                 </routeSet></item></routeTableSet>"
            )
        };
        let aws = Recorded::default()
            .on("CreateRoute", "<return>true</return>")
            .on("ReplaceRoute", "<return>true</return>")
            .on("DeleteRoute", "<return>true</return>")
            .on("DescribeRouteTables", &shown("<gatewayId>igw-1</gatewayId>"))
            .on("DescribeRouteTables", &shown("<egressOnlyInternetGatewayId>eigw-1</egressOnlyInternetGatewayId>"));
        let to_gateway = Route { destination: "::/0".into(), ..Route::test() };
        let to_other = Route { target: Ref::Id("eigw-1".into()), ..to_gateway.clone() };
        let (key, gateway) = (Key::new("route.public.ipv6"), keys::internet_gateway());
        let (notes, ids) = (Notes::default(), [(&to_gateway.route_table, "rtb-1"), (&gateway, "igw-1")]);
        let session = aws.session();
        let done = notes.run(&session, &key, &ids, async |operation| {
            create(operation, &to_gateway).await?;
            update(operation, "rtb-1_::/0", &to_gateway, &to_other).await?;
            let entry = Entry::new(key.clone(), "rtb-1_::/0", Spec::Route(to_other.clone()));
            delete(operation, &entry).await
        });
        done.await.unwrap();
        assert_eq!(notes.ids(), ["rtb-1_::/0"]);
        for action in ["CreateRoute", "ReplaceRoute", "DeleteRoute"] {
            let call = &aws.calls(action)[0];
            assert_eq!((call["RouteTableId"].as_str(), call["DestinationIpv6CidrBlock"].as_str()), ("rtb-1", "::/0"));
            assert!(!call.contains_key("DestinationCidrBlock"), "{call:?}");
        }
    }

    #[test]
    fn the_id_prefix_determines_the_parameter() {
        assert_eq!(RouteTarget::of("nat-1").unwrap().nat_gateway_id.as_deref(), Some("nat-1"));
        assert_eq!(RouteTarget::of("eigw-1").unwrap().egress_only_internet_gateway_id.as_deref(), Some("eigw-1"));
        assert!(RouteTarget::of("subnet-1").is_err());
    }

    #[test]
    fn destinations_are_compared_in_canonical_form() {
        let route = aws_sdk_ec2::types::Route::builder().destination_ipv6_cidr_block("0::/0").build();
        assert_eq!(destination(&route).as_deref(), Some("::/0"));
    }
}
