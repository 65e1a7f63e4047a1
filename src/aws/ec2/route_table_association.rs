//! Associations of subnets with route tables.

use aws_sdk_ec2::types::{RouteTable, RouteTableAssociationState, RouteTableAssociationStateCode};

use super::filter;
use crate::aws::calls::codes::missing::MissingCodes;
use crate::aws::calls::errors::incomplete_answer;
use crate::aws::calls::wait;
use crate::aws::calls::wait::Poll;
use crate::aws::calls::{Operation, OrFailure, list_all};
use crate::aws::ec2::observed::Shown;
use crate::cloud::{Cause, Failure, Observed};
use crate::model::keys::network as keys;
use crate::model::{Entry, Key, Learned, RouteTableAssociation, Spec};

pub(super) const MISSING: MissingCodes = MissingCodes(&["InvalidAssociationID.NotFound"]);

/// The association as AWS returns it; `None` for one that was removed or failed.
pub(super) fn read(
    shown: &Shown<'_>,
    key: Key,
    subnet: Key,
    association: &aws_sdk_ec2::types::RouteTableAssociation,
) -> Option<Observed> {
    if !is_active(association.association_state()) {
        return None;
    }
    Some(Observed {
        id: association.route_table_association_id()?.to_string(),
        key,
        spec: Spec::RouteTableAssociation(RouteTableAssociation {
            subnet,
            route_table: shown.reference(association.route_table_id()?),
        }),
        learned: Learned::new(),
    })
}

/// Adds the associations of managed subnets, with any route table.
pub(super) fn add_all(shown: &mut Shown<'_>, tables: &[RouteTable]) {
    for it in tables.iter().flat_map(|table| table.associations()) {
        let (Some(id), Some(subnet_id)) = (it.route_table_association_id(), it.subnet_id()) else { continue };
        let Some(subnet) = shown.key(subnet_id).cloned() else { continue };
        let key = match shown.known(id) {
            Some(entry) => entry.key.clone(),
            None => keys::route_table_association(&subnet),
        };
        shown.add(read(shown, key, subnet, it));
    }
}

/// Associates the subnet with its table.
pub(crate) async fn create(operation: &Operation<'_>, spec: &RouteTableAssociation) -> Result<(), Failure> {
    let (subnet_id, table_id) = (operation.id(&spec.subnet)?, operation.resolve(&spec.route_table)?);
    let created = operation
        .retry_until_visible(&[subnet_id, table_id], || async {
            let call = operation
                .session
                .ec2
                .associate_route_table()
                .subnet_id(subnet_id)
                .route_table_id(table_id)
                .send()
                .await;
            let answer = call.or_failure("AssociateRouteTable")?;
            let id = answer.association_id().ok_or_else(|| incomplete_answer("AssociateRouteTable", "an id"))?;
            Ok((id.to_string(), answer.association_state().cloned()))
        })
        .await;
    let (id, state) = match created {
        // The call accepts no idempotency token, so the association exists after a lost answer. One with another table
        // is unmanaged.
        Err(failure) if failure.cause == Cause::Exists => match of_subnet(operation, subnet_id).await? {
            Some((id, table, state)) if table == table_id => (id, state),
            Some((id, table, _)) => {
                let message = format!(
                    "{}. {id}, which this resource does not manage, associates {subnet_id} with {table}. Remove it (aws \
                     ec2 disassociate-route-table --association-id {id}), then run Terraform again",
                    failure.message.trim_end_matches('.')
                );
                return Err(Failure { message, ..failure });
            }
            None => return Err(failure),
        },
        created => created?,
    };
    operation.record_id(&id);
    wait_associated(operation, table_id, &id, state).await
}

/// Replaces the table in one call, so that the subnet never uses the main table. AWS returns a new id. Waits for an
/// association whose creation has been interrupted.
pub(crate) async fn update(
    operation: &Operation<'_>,
    id: &str,
    from: &RouteTableAssociation,
    to: &RouteTableAssociation,
) -> Result<(), Failure> {
    let table_id = operation.resolve(&to.route_table)?;
    if from.route_table == to.route_table {
        return match operation.is_resumed() {
            true => wait_associated(operation, table_id, id, None).await,
            false => Ok(()),
        };
    }
    let call = || async {
        let call = operation.session.ec2.replace_route_table_association();
        let call = call.association_id(id).route_table_id(table_id).send().await;
        let answer = call.or_failure("ReplaceRouteTableAssociation")?;
        let id = answer.new_association_id();
        let id = id.ok_or_else(|| incomplete_answer("ReplaceRouteTableAssociation", "an id"))?;
        Ok((id.to_string(), answer.association_state().cloned()))
    };
    let (id, state) = match operation.retry_until_visible(&[id, table_id], call).await {
        // The SDK repeats a call whose answer was lost. If AWS carried it out, the old id no longer exists.
        Err(failure) if failure.cause == Cause::NotFound => {
            match of_subnet(operation, operation.id(&to.subnet)?).await? {
                Some((id, table, state)) if table == table_id => (id, state),
                _ => return Err(failure),
            }
        }
        replaced => replaced?,
    };
    operation.record_id(&id);
    wait_associated(operation, table_id, &id, state).await
}

/// Removes the association. The subnet then uses the main table.
pub(crate) async fn delete(operation: &Operation<'_>, entry: &Entry) -> Result<(), Failure> {
    let id = entry.id.as_str();
    let is_missing = |failure: &Failure| MISSING.match_failure(failure, id);
    wait::delete(
        &operation.work.deadlines,
        is_missing,
        || exists(operation, id),
        || async {
            let call = operation.session.ec2.disassociate_route_table().association_id(id).send().await;
            call.map(|_| ()).or_failure("DisassociateRouteTable")
        },
    )
    .await?;
    let table = match entry.spec() {
        Spec::RouteTableAssociation(spec) => operation.work.ids.resolve(&spec.route_table),
        _ => None,
    };
    // An association is deleted with its table.
    let Some(table_id) = table else { return Ok(()) };
    poll_until(operation, table_id, id, |association| {
        Ok(match association {
            Some(it) if is_active(it.association_state()) => Poll::Pending("the association still exists".to_string()),
            _ => Poll::Done(()),
        })
    })
    .await
}

/// Whether a table has the association.
async fn exists(operation: &Operation<'_>, id: &str) -> Result<bool, Failure> {
    let call = operation.session.ec2.describe_route_tables();
    let call = call.filters(filter("association.route-table-association-id", id));
    let tables = list_all("DescribeRouteTables", call.into_paginator().items().send()).await?;
    let mut associations = tables.iter().flat_map(|table| table.associations());
    Ok(associations.any(|it| it.route_table_association_id() == Some(id) && is_active(it.association_state())))
}

async fn wait_associated(
    operation: &Operation<'_>,
    table_id: &str,
    id: &str,
    returned: Option<RouteTableAssociationState>,
) -> Result<(), Failure> {
    if returned.as_ref().and_then(|state| state.state()) == Some(&RouteTableAssociationStateCode::Associated) {
        return Ok(());
    }
    poll_until(operation, table_id, id, |association| {
        let Some(association) = association else {
            return Ok(Poll::Pending("the association is not visible yet".to_string()));
        };
        let state = association.association_state();
        // Some partitions return no state.
        Ok(match state.and_then(|state| state.state()) {
            None | Some(RouteTableAssociationStateCode::Associated) => Poll::Done(()),
            Some(RouteTableAssociationStateCode::Failed) => {
                let reason = state.and_then(|state| state.status_message()).unwrap_or("AWS gave no reason");
                return Err(Failure::new(Cause::Other, "AssociateRouteTable", reason));
            }
            Some(state) => Poll::Pending(format!("the association is {}", state.as_str())),
        })
    })
    .await
}

/// Polls the table until `check` accepts the association.
async fn poll_until(
    operation: &Operation<'_>,
    table_id: &str,
    id: &str,
    check: impl Fn(Option<&aws_sdk_ec2::types::RouteTableAssociation>) -> Result<Poll<()>, Failure>,
) -> Result<(), Failure> {
    let (session, deadlines) = (operation.session, operation.deadlines(wait::PROPAGATION));
    session
        .pollers
        .route_tables
        .until(&session.ec2, "DescribeRouteTables", table_id, &deadlines, |table| {
            let mut associations = table.into_iter().flat_map(|table| table.associations());
            check(associations.find(|it| it.route_table_association_id() == Some(id)))
        })
        .await
}

/// The id, table and state of a subnet's association.
async fn of_subnet(
    operation: &Operation<'_>,
    subnet_id: &str,
) -> Result<Option<(String, String, Option<RouteTableAssociationState>)>, Failure> {
    let call = operation.session.ec2.describe_route_tables().filters(filter("association.subnet-id", subnet_id));
    let tables = list_all("DescribeRouteTables", call.into_paginator().items().send()).await?;
    let mut associations = tables.iter().flat_map(|table| table.associations());
    Ok(associations.find(|it| it.subnet_id() == Some(subnet_id) && is_active(it.association_state())).and_then(|it| {
        let (id, table) = (it.route_table_association_id()?, it.route_table_id()?);
        Some((id.to_string(), table.to_string(), it.association_state().cloned()))
    }))
}

fn is_active(state: Option<&RouteTableAssociationState>) -> bool {
    !matches!(
        state.and_then(|state| state.state()),
        Some(
            RouteTableAssociationStateCode::Disassociated
                | RouteTableAssociationStateCode::Disassociating
                | RouteTableAssociationStateCode::Failed
        )
    )
}

#[cfg(test)]
mod tests {
    use super::super::route;
    use super::*;
    use crate::aws::ec2::recorded::{Notes, Recorded};
    use crate::model::keys::network as keys;
    use crate::model::{Ref, Route};

    fn tables(state: &str) -> String {
        format!(
            "<routeTableSet><item><routeTableId>rtb-1</routeTableId><routeSet><item><destinationCidrBlock>0.0.0.0/0\
             </destinationCidrBlock><gatewayId>igw-1</gatewayId></item></routeSet><associationSet><item>\
             <routeTableAssociationId>rtbassoc-1</routeTableAssociationId><routeTableId>rtb-1</routeTableId>\
             <associationState><state>{state}</state></associationState></item></associationSet></item></routeTableSet>"
        )
    }

    #[tokio::test(start_paused = true)]
    async fn an_association_and_a_route_of_one_table_share_polls() {
        let aws = Recorded::default()
            .on(
                "AssociateRouteTable",
                "<associationId>rtbassoc-1</associationId><associationState><state>associating</state>\
                 </associationState>",
            )
            .on("CreateRoute", "<return>true</return>")
            .on("DescribeRouteTables", &tables("associated"));
        let (session, spec, gateway, notes) =
            (aws.session(), RouteTableAssociation::test(), keys::internet_gateway(), Notes::default());
        let table = Key::new("route_table.public");
        let route = Route { route_table: table.clone(), target: Ref::Key(gateway.clone()), ..Route::test() };
        let key = Key::new("test");
        let ids = [(&spec.subnet, "subnet-1"), (&table, "rtb-1"), (&gateway, "igw-1")];
        let (associated, routed) = tokio::join!(
            notes.run(&session, &key, &ids, async |operation| create(operation, &spec).await),
            notes.run(&session, &key, &ids, async |operation| route::create(operation, &route).await),
        );
        associated.and(routed).unwrap();
        assert_eq!(aws.calls("DescribeRouteTables").len(), 1);
        assert_eq!(aws.calls("DescribeRouteTables")[0]["Filter.1.Value.1"], "rtb-1");
    }

    #[tokio::test(start_paused = true)]
    async fn delete_waits_until_the_table_drops_the_association() {
        let aws = Recorded::default()
            .on("DisassociateRouteTable", "<return>true</return>")
            .on("DescribeRouteTables", &tables("associated"))
            .on("DescribeRouteTables", &tables("disassociated"));
        let (key, table) = (Key::new("test"), Key::new("route_table.public"));
        let entry = Entry::new(key.clone(), "rtbassoc-1", Spec::RouteTableAssociation(RouteTableAssociation::test()));
        Notes::default()
            .run(&aws.session(), &key, &[(&table, "rtb-1")], async |operation| delete(operation, &entry).await)
            .await
            .unwrap();
        assert_eq!(aws.calls("DescribeRouteTables").len(), 2);
    }
}
