//! NAT gateways.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use aws_sdk_ec2::types::{ConnectivityType, NatGatewayState, ResourceType, Tag};

use super::claims::{Claims, Evidence, Ours};
use super::slots::{is_nat_gateway, is_private_nat_gateway};
use super::{address_users, filter_any, nat_gateway_addresses as addresses, tags};
use crate::aws::Session;
use crate::aws::calls::codes;
use crate::aws::calls::codes::missing::MissingCodes;
use crate::aws::calls::errors::incomplete_answer;
use crate::aws::calls::ownership;
use crate::aws::calls::wait;
use crate::aws::calls::wait::Poll;
use crate::aws::calls::{AwsError, Operation, OrFailure, list_all};
use crate::aws::ec2::observed::{Listed, Shown};
use crate::cloud::{Cause, Failure, Observed};
use crate::model::Input;
use crate::model::keys::network as keys;
use crate::model::{Entry, FoundNatGateway, Key, Learned, NatGateway, Ref, Spec};

/// The first one is from gruntwork-io/cloud-nuke#325.
const MISSING: MissingCodes = MissingCodes(&["NatGatewayNotFound", "InvalidNatGatewayID.NotFound"]);

/// How long a NAT gateway may be pending; one to three minutes are usual.
const READY: Duration = Duration::from_secs(10 * 60);

/// How long a NAT gateway may be deleting. It drains its connections first.
const DELETED: Duration = Duration::from_secs(30 * 60);

/// Whether the NAT gateway exists. AWS returns a deleted one for about an hour.
pub(super) fn exists(gateway: &aws_sdk_ec2::types::NatGateway) -> bool {
    !matches!(gateway.state(), Some(NatGatewayState::Deleted | NatGatewayState::Deleting))
}

/// All NAT gateways of a VPC, also deleted ones.
pub(super) async fn in_vpc(session: &Session, vpc_id: &str) -> Result<Vec<aws_sdk_ec2::types::NatGateway>, Failure> {
    let ec2 = session.ec2.clone();
    let list = move |ids| {
        let call = ec2.describe_nat_gateways().filter(filter_any::<String>("vpc-id", ids));
        list_all("DescribeNatGateways", call.into_paginator().items().send())
    };
    session.shared.nat_gateways.of(&session.shared.networks, vpc_id, |it| it.vpc_id(), list).await
}

impl Listed for aws_sdk_ec2::types::NatGateway {
    fn id(&self) -> Option<&str> {
        self.nat_gateway_id()
    }

    fn tags(&self) -> &[Tag] {
        self.tags()
    }

    /// Subnets and route tables must have been claimed.
    fn evidence<'a>(&'a self, claims: &Claims<'a>) -> Evidence<'a> {
        let (id, subnet_id) = (self.nat_gateway_id(), self.subnet_id());
        let address = addresses::primary(self).and_then(|address| address.allocation_id());
        let is_foreign = claims.ours(subnet_id).is_none();
        let subnet = is_foreign.then(|| "its subnet is not managed".to_string());
        let users = claims.tables_to(|route| route.nat_gateway_id() == id);
        let of_kind = match is_private(self) {
            true => Evidence::new("a private NAT gateway", is_private_nat_gateway),
            false => Evidence::new("a NAT gateway", is_nat_gateway),
        };
        Evidence {
            fixed: format!("{} {}", subnet_id.unwrap_or_default(), address.unwrap_or_default()),
            needs_consent: subnet.clone().or_else(|| claims.foreign_table(users.iter().copied())),
            impossible: subnet,
            requires: users.into_iter().chain(subnet_id).collect(),
            ..of_kind
        }
    }

    /// A failed NAT gateway never recovers, so it gets another key than the wanted one, and the plan replaces it.
    fn read(&self, shown: &Shown<'_>, ours: Ours<'_>) -> Option<Observed> {
        let address = addresses::primary(self).and_then(|address| address.allocation_id());
        let is_private = is_private(self);
        let allocation = address.map(|id| Input::Known(shown.reference(id))).filter(|_| !is_private);
        // The provider does not manage secondary addresses of public NAT gateways.
        let secondary = Input::Known(if is_private { addresses::count(self) } else { 0 });
        let subnet = self.subnet_id().and_then(|id| shown.key(id));
        let tags = tags::own(self.tags());
        let (key, spec) = match ours.place(NatGateway::of)? {
            (key, Some(applied)) => {
                let spec = NatGateway {
                    subnet: subnet.unwrap_or(&applied.subnet).clone(),
                    // AWS may not return the address while the NAT gateway is pending.
                    allocation: allocation.or_else(|| applied.allocation.clone()),
                    internet_gateway: applied.internet_gateway.clone(),
                    secondary_private_ip_address_count: match addresses::is_pending(self) {
                        true => applied.secondary_private_ip_address_count.clone(),
                        false => secondary,
                    },
                    tags,
                };
                (key, spec)
            }
            (Key { slot, .. }, None) => {
                let subnet = subnet?.clone();
                let own = || own_address(shown, &slot).map(|key| Input::Known(Ref::Key(key)));
                let allocation = if is_private { None } else { allocation.or_else(own).or(Some(Input::Unknown)) };
                let fixed = match &allocation {
                    Some(address) => keys::nat_gateway(0, &subnet, address).fixed,
                    None => keys::private_nat_gateway(0, &subnet).fixed,
                };
                let internet_gateway = allocation.as_ref().map(|_| keys::internet_gateway());
                let secondary_private_ip_address_count = secondary;
                let spec =
                    NatGateway { subnet, allocation, internet_gateway, secondary_private_ip_address_count, tags };
                (Key::fixed(slot, fixed), spec)
            }
        };
        let has_failed = key.has_failed || self.state() == Some(&NatGatewayState::Failed);
        Some(Observed {
            id: self.nat_gateway_id()?.to_string(),
            key: Key { has_failed, ..key },
            spec: Spec::NatGateway(spec),
            learned: learned(self),
        })
    }
}

fn is_private(gateway: &aws_sdk_ec2::types::NatGateway) -> bool {
    gateway.connectivity_type() == Some(&ConnectivityType::Private)
}

/// AWS returns a failed gateway for about an hour. It is no part of a foreign network.
pub(super) fn found(gateways: &[aws_sdk_ec2::types::NatGateway]) -> Vec<FoundNatGateway> {
    let parts = gateways.iter().filter(|it| it.state() != Some(&NatGatewayState::Failed));
    let found = parts.map(|it| FoundNatGateway {
        id: it.nat_gateway_id().unwrap_or_default().to_string(),
        tags: tags::all(it.tags()),
        subnet: it.subnet_id().unwrap_or_default().to_string(),
        is_private: is_private(it),
    });
    found.collect()
}

/// The address that the network created for the public NAT gateway with this slot: the one with the same number. AWS
/// may not return the address of a pending NAT gateway, and ministack 1.5.33 never returns it.
fn own_address(shown: &Shown<'_>, slot: &str) -> Option<Key> {
    let address = keys::eip(slot.strip_prefix("nat_gateway.")?.parse().ok()?);
    shown.has(&address).then_some(address)
}

/// The name of the network interface among the learned values.
const INTERFACE: &str = "network_interface_id";

/// The public address and the network interface of a NAT gateway.
fn learned(gateway: &aws_sdk_ec2::types::NatGateway) -> Learned {
    let address = addresses::primary(gateway);
    let values = [
        ("public_ip", address.and_then(|address| address.public_ip())),
        (INTERFACE, address.and_then(|address| address.network_interface_id())),
    ];
    values.into_iter().filter_map(|(name, value)| Some((name.to_string(), value?.to_string()))).collect()
}

/// The network interface of the NAT gateway in an entry.
pub(super) fn interface_of(entry: &Entry) -> Option<&str> {
    let is_nat = matches!(entry.applied, Spec::NatGateway(_));
    entry.learned.get(INTERFACE).filter(|_| is_nat).map(String::as_str)
}

/// Creates the NAT gateway and waits until it is available. The SDK sends an idempotency token. If a NAT gateway that
/// is being deleted still uses the address, waits for the end of that deletion first.
pub(crate) async fn create(operation: &Operation<'_>, spec: &NatGateway) -> Result<(), Failure> {
    let (session, subnet_id) = (operation.session, operation.id(&spec.subnet)?);
    let allocation_id = match &spec.allocation {
        Some(address) => Some(operation.resolve(operation.known(address)?)?),
        None => None,
    };
    let kind = if allocation_id.is_some() { ConnectivityType::Public } else { ConnectivityType::Private };
    let secondary = addresses::wanted(operation, spec)?;
    let tags = ownership::tags_on_create(operation, &spec.tags)?;
    let used: Vec<&str> = [subnet_id].into_iter().chain(allocation_id).collect();
    let send = || async {
        let call = session
            .ec2
            .create_nat_gateway()
            .subnet_id(subnet_id)
            .connectivity_type(kind.clone())
            .set_allocation_id(allocation_id.map(str::to_string))
            .set_secondary_private_ip_address_count((secondary > 0).then_some(secondary))
            .tag_specifications(tags::on_create(ResourceType::Natgateway, &tags));
        let answer = call.send().await.map_err(|error| with_zone(error.failure("CreateNatGateway"), &spec.subnet))?;
        answer.nat_gateway.ok_or_else(|| incomplete_answer("CreateNatGateway", "the NAT gateway"))
    };
    if let Some(address) = allocation_id.filter(|address| !session.process.created.contains(address)) {
        // AWS may detect that the address is in use only after the call has succeeded, and then the new NAT gateway
        // fails permanently. An address that this process created cannot be in use.
        await_release(operation, address).await?;
    }
    let created = match (operation.retry_until_visible(&used, send).await, allocation_id) {
        (Err(failure), Some(address))
            if failure.cause == Cause::Exists && await_release(operation, address).await? =>
        {
            operation.retry_until_visible(&used, send).await
        }
        (created, _) => created,
    };
    let created = match (created, allocation_id) {
        (Err(failure), Some(address)) if failure.cause == Cause::Exists => {
            return Err(address_users::with_user(operation, failure, address).await);
        }
        (created, _) => created?,
    };
    let id = created.nat_gateway_id().ok_or_else(|| incomplete_answer("CreateNatGateway", "an id"))?;
    operation.record_id(id);
    operation.record_learned(learned(&created));
    match (ready(operation, id).await, allocation_id) {
        (Err(failure), Some(address)) if codes::is_address_taken(&failure) => {
            return Err(address_users::with_user(operation, failure, address).await);
        }
        (ready, _) => ready?,
    }
    if secondary > 0 { addresses::wait(operation, id, secondary).await } else { Ok(()) }
}

/// Updates secondary addresses and tags. After an interrupted creation, waits until the NAT gateway is available,
/// because no traffic may be routed to it earlier.
pub(crate) async fn update(
    operation: &Operation<'_>,
    id: &str,
    from: &NatGateway,
    to: &NatGateway,
) -> Result<(), Failure> {
    if operation.is_resumed() {
        ready(operation, id).await?;
    }
    let count = |spec: &NatGateway| spec.secondary_private_ip_address_count.clone();
    if to.allocation.is_none() && count(from) != count(to) {
        addresses::change(operation, id, addresses::wanted(operation, to)?).await?;
    }
    tags::update(operation, id, &from.tags, &to.tags).await
}

/// Deletes the NAT gateway and waits until its address and network interface are released. Routes to it become
/// blackholes.
pub(crate) async fn delete(operation: &Operation<'_>, entry: &Entry) -> Result<(), Failure> {
    let (session, id) = (operation.session, entry.id.as_str());
    let is_missing = |failure: &Failure| MISSING.match_failure(failure, id);
    let is_there =
        || async { Ok(session.pollers.nat_gateways.now(&session.ec2, id).await?.is_some_and(|it| exists(&it))) };
    wait::delete(&operation.work.deadlines, is_missing, is_there, || async {
        let call = session.ec2.delete_nat_gateway().nat_gateway_id(id).send().await;
        call.map(|_| ()).or_failure("DeleteNatGateway")
    })
    .await?;
    session
        .pollers
        .nat_gateways
        .until(&session.ec2, "DeleteNatGateway", id, &operation.deadlines(DELETED), |gateway| {
            Ok(match gateway.and_then(|gateway| gateway.state()) {
                None | Some(NatGatewayState::Deleted) => Poll::Done(()),
                Some(state) => Poll::Pending(format!("the NAT gateway is {}", state.as_str())),
            })
        })
        .await
}

/// Waits until no NAT gateway that is being deleted uses the address, and releases it from a deleted one. Returns
/// whether one used it. The plan does not contain that deletion, because [`exists`] counts such a NAT gateway as
/// deleted.
async fn await_release(operation: &Operation<'_>, address: &str) -> Result<bool, Failure> {
    let (was_in_use, is_of_deleted) = (AtomicBool::new(false), AtomicBool::new(false));
    wait::until("CreateNatGateway", &operation.deadlines(DELETED), wait::MINUTES, || async {
        let users = ended_users(operation, address).await?;
        let id = |state| users.iter().find(|it| it.state() == Some(&state)).and_then(|it| it.nat_gateway_id());
        Ok(match id(NatGatewayState::Deleting) {
            Some(gateway) => {
                was_in_use.store(true, Ordering::Relaxed);
                Poll::Pending(format!("{gateway}, which is being deleted, still uses {address}"))
            }
            None => {
                is_of_deleted.store(id(NatGatewayState::Deleted).is_some(), Ordering::Relaxed);
                Poll::Done(())
            }
        })
    })
    .await?;
    // moto creates a network interface that nothing deletes whenever it refuses a used address.
    let is_released = is_of_deleted.into_inner() && is_released_now(operation, address).await;
    Ok(was_in_use.into_inner() || is_released)
}

/// The NAT gateways, in any VPC, that use the address or have used it, and are deleted or being deleted.
async fn ended_users(operation: &Operation<'_>, address: &str) -> Result<Vec<aws_sdk_ec2::types::NatGateway>, Failure> {
    let mut found = in_states(operation, &[NatGatewayState::Deleting, NatGatewayState::Deleted]).await?;
    found.retain(|gateway| gateway.nat_gateway_addresses().iter().any(|it| it.allocation_id() == Some(address)));
    Ok(found)
}

/// Releases an address from a deleted NAT gateway, and returns whether it was associated with one. After a failure, the
/// address is still in use, which is what the user learns.
pub(super) async fn is_released_now(operation: &Operation<'_>, address: &str) -> bool {
    release_from_deleted(operation, address).await.unwrap_or_else(|failure| {
        tracing::warn!("{address} may be associated with a deleted NAT gateway: {failure}");
        false
    })
}

/// Disassociates the address if it is still associated with the network interface of a deleted NAT gateway, and returns
/// whether it was. AWS deletes both with the NAT gateway; moto 5.2.5 deletes neither.
async fn release_from_deleted(operation: &Operation<'_>, address: &str) -> Result<bool, Failure> {
    let session = operation.session;
    let found = session.pollers.addresses.now(&session.ec2, address).await?;
    let association = found.as_ref().and_then(|it| Some((it.association_id()?, it.network_interface_id()?)));
    let Some((association, interface)) = association else { return Ok(false) };
    let deleted = in_states(operation, &[NatGatewayState::Deleted]).await?;
    let mut interfaces = deleted.iter().flat_map(|gateway| gateway.nat_gateway_addresses());
    if !interfaces.any(|it| it.network_interface_id() == Some(interface)) {
        return Ok(false);
    }
    let call = session.ec2.disassociate_address().association_id(association).send().await;
    call.map(|_| true).or_failure("DisassociateAddress")
}

/// All NAT gateways of the account in these states.
async fn in_states(
    operation: &Operation<'_>,
    states: &[NatGatewayState],
) -> Result<Vec<aws_sdk_ec2::types::NatGateway>, Failure> {
    let states = states.iter().map(NatGatewayState::as_str);
    let call = operation.session.ec2.describe_nat_gateways().filter(filter_any("state", states));
    list_all("DescribeNatGateways", call.into_paginator().items().send()).await
}

/// All NAT gateways of the account, also deleted ones.
pub(super) async fn of_account(session: &Session) -> Result<Vec<aws_sdk_ec2::types::NatGateway>, Failure> {
    let call = session.ec2.describe_nat_gateways();
    list_all("DescribeNatGateways", call.into_paginator().items().send()).await
}

/// The address of the user that a NAT gateway gets.
pub(super) fn given_address(spec: &NatGateway) -> Option<&str> {
    match &spec.allocation {
        Some(Input::Known(Ref::Id(id))) => Some(id),
        _ => None,
    }
}

/// Waits until the NAT gateway is available, and records its learned values.
async fn ready(operation: &Operation<'_>, id: &str) -> Result<(), Failure> {
    let session = operation.session;
    let ready = session
        .pollers
        .nat_gateways
        .until(&session.ec2, "CreateNatGateway", id, &operation.deadlines(READY), |gateway| match gateway {
            None => Ok(Poll::Pending("the NAT gateway is not visible yet".to_string())),
            Some(gateway) => match gateway.state() {
                Some(NatGatewayState::Available) => Ok(Poll::Done(learned(gateway))),
                Some(NatGatewayState::Pending) | None => Ok(Poll::Pending("the NAT gateway is pending".to_string())),
                // It never recovers; the next plan replaces it.
                Some(state) => Err(failed(state, gateway)),
            },
        })
        .await?;
    operation.record_learned(ready);
    Ok(())
}

/// Names the AZ and what to do if AWS has no NAT gateways in the AZ of the subnet.
fn with_zone(failure: Failure, subnet: &Key) -> Failure {
    let Some(zone) = keys::zone_in(subnet).filter(|_| codes::is_zone_without_nat_gateways(&failure)) else {
        return failure;
    };
    let message = format!(
        "{}. AWS offers no NAT gateways in the AZ {zone} of {}. To use other AZs, add {zone:?} to \
         availability_zone_exclude_ids. To keep the AZ, set num_nat_gateways so low that no NAT gateway is in it",
        failure.message.trim_end_matches('.'),
        subnet.slot
    );
    Failure { message, ..failure }
}

fn failed(state: &NatGatewayState, gateway: &aws_sdk_ec2::types::NatGateway) -> Failure {
    let reason = gateway.failure_message().unwrap_or("AWS gave no reason");
    Failure {
        cause: Cause::Other,
        action: "CreateNatGateway".to_string(),
        code: gateway.failure_code().map(str::to_string),
        message: format!("the NAT gateway is {}: {reason}", state.as_str()),
        missing: None,
        request_id: None,
        retry_after: None,
        advice: None,
        case: None,
        undeployed_since: None,
    }
}

#[cfg(test)]
mod tests;
