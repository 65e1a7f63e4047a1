//! NAT gateways.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use aws_sdk_ec2::types::{ConnectivityType, NatGatewayState, ResourceType};

use super::{conflicts, filter, nat_gateway_addresses as addresses, tags};
use crate::aws::calls::codes;
use crate::aws::calls::codes::missing::Kind;
use crate::aws::calls::errors::incomplete_answer;
use crate::aws::calls::ownership;
use crate::aws::calls::wait;
use crate::aws::calls::wait::Poll;
use crate::aws::calls::{AwsError, Operation, OrFailure, list_all};
use crate::aws::ec2::claims::Ours;
use crate::aws::ec2::observed::Shown;
use crate::cloud::{Cause, Failure, Observed};
use crate::model::Input;
use crate::model::keys::network as keys;
use crate::model::{Entry, Key, Learned, NatGateway, Ref, Spec};

/// How long a NAT gateway may be pending; one to three minutes are usual.
const READY: Duration = Duration::from_secs(10 * 60);

/// How long a NAT gateway may be deleting. It drains its connections first.
const DELETED: Duration = Duration::from_secs(30 * 60);

/// Whether the NAT gateway exists. AWS returns a deleted one for about an hour.
pub(super) fn exists(gateway: &aws_sdk_ec2::types::NatGateway) -> bool {
    !matches!(gateway.state(), Some(NatGatewayState::Deleted | NatGatewayState::Deleting))
}

/// The NAT gateway as AWS returns it. A failed one never recovers, so it gets another key than the wanted one, and the
/// plan replaces it.
pub(super) fn read(shown: &Shown<'_>, ours: Ours<'_>, gateway: &aws_sdk_ec2::types::NatGateway) -> Option<Observed> {
    let address = addresses::primary(gateway).and_then(|address| address.allocation_id());
    let is_private = gateway.connectivity_type() == Some(&ConnectivityType::Private);
    let allocation = address.map(|id| Input::Known(shown.reference(id))).filter(|_| !is_private);
    // The provider does not manage secondary addresses of public NAT gateways.
    let secondary = Input::Known(if is_private { addresses::count(gateway) } else { 0 });
    let (key, spec) = match ours {
        Ours::State(Entry { key, applied: Spec::NatGateway(applied), .. }) => {
            let subnet = gateway.subnet_id().and_then(|id| shown.key(id)).unwrap_or(&applied.subnet).clone();
            // AWS may not return the address while the NAT gateway is pending.
            let allocation = allocation.or_else(|| applied.allocation.clone());
            let internet_gateway = applied.internet_gateway.clone();
            let secondary = match gateway.state() {
                Some(NatGatewayState::Pending) => applied.secondary_private_ip_address_count.clone(),
                _ => secondary,
            };
            let spec = NatGateway {
                subnet,
                allocation,
                internet_gateway,
                secondary_private_ip_address_count: secondary,
                tags: tags::own(gateway.tags()),
            };
            (key.clone(), spec)
        }
        Ours::State(_) => return None,
        Ours::Slot(slot) => {
            let subnet = shown.key(gateway.subnet_id()?)?.clone();
            let own = || own_address(shown, slot).map(|key| Input::Known(Ref::Key(key)));
            let allocation = if is_private { None } else { allocation.or_else(own).or(Some(Input::Unknown)) };
            let fixed = match &allocation {
                Some(address) => keys::nat_gateway(0, &subnet, address).fixed,
                None => keys::private_nat_gateway(0, &subnet).fixed,
            };
            let internet_gateway = allocation.as_ref().map(|_| keys::internet_gateway());
            let spec = NatGateway {
                subnet,
                allocation,
                internet_gateway,
                secondary_private_ip_address_count: secondary,
                tags: tags::own(gateway.tags()),
            };
            (Key::fixed(slot, fixed), spec)
        }
    };
    let has_failed = key.has_failed || gateway.state() == Some(&NatGatewayState::Failed);
    let key = Key { has_failed, ..key };
    Some(Observed {
        id: gateway.nat_gateway_id()?.to_string(),
        key,
        spec: Spec::NatGateway(spec),
        learned: learned(gateway),
    })
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
            if failure.cause == Cause::Exists
                && (await_release(operation, address).await? || is_released_now(operation, address).await) =>
        {
            operation.retry_until_visible(&used, send).await
        }
        (created, _) => created,
    };
    let created = match (created, allocation_id) {
        (Err(failure), Some(address)) if failure.cause == Cause::Exists => {
            return Err(conflicts::with_user(operation, failure, address).await);
        }
        (created, _) => created?,
    };
    let id = created.nat_gateway_id().ok_or_else(|| incomplete_answer("CreateNatGateway", "an id"))?;
    operation.record_id(id);
    operation.record_learned(learned(&created));
    match (ready(operation, id).await, allocation_id) {
        (Err(failure), Some(address)) if codes::is_address_taken(&failure) => {
            return Err(conflicts::with_user(operation, failure, address).await);
        }
        (ready, _) => ready?,
    }
    if secondary > 0 { addresses::wait(operation, id, secondary).await } else { Ok(()) }
}

/// Updates secondary addresses and tags. If `from` is `None`, the NAT gateway may still be pending after an interrupted
/// creation. In this case, waits until it is available, because no traffic may be routed to it earlier.
pub(crate) async fn update(
    operation: &Operation<'_>,
    id: &str,
    from: Option<&NatGateway>,
    to: &NatGateway,
) -> Result<(), Failure> {
    if from.is_none() {
        ready(operation, id).await?;
    }
    let count = |spec: &NatGateway| spec.secondary_private_ip_address_count.clone();
    if to.allocation.is_none() && from.is_none_or(|from| count(from) != count(to)) {
        addresses::change(operation, id, addresses::wanted(operation, to)?).await?;
    }
    tags::update(operation, id, from.map(|from| &from.tags), &to.tags).await
}

/// Deletes the NAT gateway and waits until its address and network interface are released. Routes to it become
/// blackholes.
pub(crate) async fn delete(operation: &Operation<'_>, entry: &Entry) -> Result<(), Failure> {
    let (session, id) = (operation.session, entry.id.as_str());
    let is_missing = |failure: &Failure| Kind::NatGateway.is_missing(failure, id);
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

/// Waits until no NAT gateway that is being deleted uses the address. Returns whether one did. The plan does not
/// contain that deletion, because [`exists`] counts such a NAT gateway as deleted.
async fn await_release(operation: &Operation<'_>, address: &str) -> Result<bool, Failure> {
    let in_use = AtomicBool::new(false);
    wait::until("CreateNatGateway", &operation.deadlines(DELETED), wait::MINUTES, || async {
        Ok(match deleting_user(operation, address).await? {
            Some(gateway) => {
                in_use.store(true, Ordering::Relaxed);
                Poll::Pending(format!("{gateway}, which is being deleted, still uses {address}"))
            }
            None => Poll::Done(()),
        })
    })
    .await?;
    Ok(in_use.into_inner())
}

/// The id of the NAT gateway, in any VPC, that uses the address and is being deleted.
async fn deleting_user(operation: &Operation<'_>, address: &str) -> Result<Option<String>, Failure> {
    let deleting = in_state(operation, NatGatewayState::Deleting).await?;
    let uses = |gateway: &&aws_sdk_ec2::types::NatGateway| {
        gateway.nat_gateway_addresses().iter().any(|it| it.allocation_id() == Some(address))
    };
    Ok(deleting.iter().find(uses).and_then(|gateway| gateway.nat_gateway_id()).map(str::to_string))
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
    let deleted = in_state(operation, NatGatewayState::Deleted).await?;
    let mut interfaces = deleted.iter().flat_map(|gateway| gateway.nat_gateway_addresses());
    if !interfaces.any(|it| it.network_interface_id() == Some(interface)) {
        return Ok(false);
    }
    let call = session.ec2.disassociate_address().association_id(association).send().await;
    call.map(|_| true).or_failure("DisassociateAddress")
}

/// All NAT gateways of the account in a state.
async fn in_state(
    operation: &Operation<'_>,
    state: NatGatewayState,
) -> Result<Vec<aws_sdk_ec2::types::NatGateway>, Failure> {
    let call = operation.session.ec2.describe_nat_gateways().filter(filter("state", state.as_str()));
    list_all("DescribeNatGateways", call.into_paginator().items().send()).await
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
mod tests {
    use super::*;
    use crate::aws::ec2::recorded::{Notes, Recorded};
    use crate::model::{Ref, Tier};

    fn spec() -> (Key, NatGateway) {
        let subnet = Key::new("subnet.public.0");
        let address = Input::Known(Ref::Key(keys::eip(0)));
        let key = keys::nat_gateway(0, &subnet, &address);
        let spec = NatGateway { subnet, allocation: Some(address), ..NatGateway::test() };
        (key, spec)
    }

    #[tokio::test(start_paused = true)]
    async fn a_failed_nat_gateway_reports_its_reason_and_is_recorded() {
        let aws = Recorded::default()
            .on("CreateNatGateway", "<natGateway><natGatewayId>nat-1</natGatewayId><state>pending</state></natGateway>")
            .on(
                "DescribeNatGateways",
                "<natGatewaySet><item><natGatewayId>nat-1</natGatewayId><state>failed</state>\
                 <failureCode>Gateway.NotAttached</failureCode><failureMessage>Network vpc-1 has no Internet gateway \
                 attached</failureMessage></item></natGatewaySet>",
            );
        let (key, spec) = spec();
        let (eip, notes) = (keys::eip(0), Notes::default());
        let failure = notes
            .run(&aws.session(), &key, &[(&spec.subnet, "subnet-1"), (&eip, "eipalloc-1")], async |operation| {
                create(operation, &spec).await
            })
            .await
            .unwrap_err();
        assert_eq!(failure.code.as_deref(), Some("Gateway.NotAttached"));
        assert!(failure.message.contains("no Internet gateway"), "{}", failure.message);
        assert_eq!(notes.ids(), ["nat-1"]);
        let call = &aws.calls("CreateNatGateway")[0];
        assert_eq!((call["ConnectivityType"].as_str(), call["AllocationId"].as_str()), ("public", "eipalloc-1"));
        assert!(!call["ClientToken"].is_empty());
    }

    const UNUSED: &str = "<natGatewaySet/>";

    /// Another NAT gateway, which is being deleted, uses the address.
    const IN_USE: &str = "<natGatewaySet><item><natGatewayId>nat-0</natGatewayId><state>deleting</state>\
                        <natGatewayAddressSet><item><allocationId>eipalloc-1</allocationId></item></natGatewayAddressSet>\
                        </item></natGatewaySet>";

    const AVAILABLE: &str = "<natGatewaySet><item><natGatewayId>nat-1</natGatewayId><state>available</state></item>\
                         </natGatewaySet>";

    async fn create_on(aws: &Recorded) -> Result<(), Failure> {
        let (key, spec) = spec();
        let ids = [(&spec.subnet, "subnet-1"), (&keys::eip(0), "eipalloc-1")];
        Notes::default().run(&aws.session(), &key, &ids, async |operation| create(operation, &spec).await).await
    }

    #[tokio::test(start_paused = true)]
    async fn create_waits_for_an_address_of_a_deleting_nat_gateway() {
        let created = "<natGateway><natGatewayId>nat-1</natGatewayId><state>pending</state></natGateway>";
        let reads = |aws: Recorded, reads: &[&str]| reads.iter().fold(aws, |aws, it| aws.on("DescribeNatGateways", it));
        let aws = reads(Recorded::default().on("CreateNatGateway", created), &[IN_USE, IN_USE, UNUSED, AVAILABLE]);
        create_on(&aws).await.unwrap();
        let read = "DescribeNatGateways";
        assert_eq!(aws.actions(), [read, read, read, "CreateNatGateway", read]);
        let first = &aws.calls(read)[0];
        assert_eq!((first["Filter.1.Name"].as_str(), first["Filter.1.Value.1"].as_str()), ("state", "deleting"));

        // The deletion starts after the first read.
        let rejected = Recorded::default()
            .fail("CreateNatGateway", 400, "Resource.AlreadyAssociated", "eipalloc-1 is already associated")
            .on("CreateNatGateway", created);
        let aws = reads(rejected, &[UNUSED, IN_USE, UNUSED, AVAILABLE]);
        create_on(&aws).await.unwrap();
        assert_eq!(aws.calls("CreateNatGateway").len(), 2);
    }

    #[tokio::test(start_paused = true)]
    async fn an_address_that_is_otherwise_in_use_fails_at_once() {
        let aws = Recorded::default()
            .on("DescribeNatGateways", UNUSED)
            .on(
                "DescribeAddresses",
                "<addressesSet><item><allocationId>eipalloc-1</allocationId><associationId>eipassoc-1</associationId>\
                 <networkInterfaceId>eni-1</networkInterfaceId></item></addressesSet>",
            )
            .fail("CreateNatGateway", 400, "Resource.AlreadyAssociated", "eipalloc-1 is already associated");
        let failure = create_on(&aws).await.unwrap_err();
        assert_eq!(failure.code.as_deref(), Some("Resource.AlreadyAssociated"));
        for text in ["eipalloc-1 is associated with eni-1", "--association-id eipassoc-1", "custom_nat_eips"] {
            assert!(failure.text().contains(text), "{}", failure.text());
        }
        assert_eq!(aws.calls("CreateNatGateway").len(), 1);
    }

    #[tokio::test(start_paused = true)]
    async fn an_az_without_nat_gateways_is_named() {
        let message = "Nat Gateway is not available in this availability zone";
        let aws = Recorded::default().on("DescribeNatGateways", UNUSED).fail(
            "CreateNatGateway",
            400,
            "NotAvailableInZone",
            message,
        );
        let subnet = keys::subnet(Tier::Public, 4, "use1-az3", &Input::Known("10.0.32.0/21".into()));
        let spec = NatGateway { subnet, ..spec().1 };
        let key = keys::nat_gateway(4, &spec.subnet, &Input::Known(Ref::Key(keys::eip(0))));
        let ids = [(&spec.subnet, "subnet-1"), (&keys::eip(0), "eipalloc-1")];
        let notes = Notes::default();
        let created = notes.run(&aws.session(), &key, &ids, async |operation| create(operation, &spec).await).await;
        let failure = created.unwrap_err();
        assert_eq!(failure.code.as_deref(), Some("NotAvailableInZone"));
        for part in [message, "subnet.public.4", "add \"use1-az3\" to availability_zone_exclude_ids"] {
            assert!(failure.message.contains(part), "no {part} in {}", failure.message);
        }
        assert!(notes.ids().is_empty() && aws.calls("CreateNatGateway").len() == 1);
    }

    #[tokio::test(start_paused = true)]
    async fn a_missing_nat_gateway_counts_as_deleted() {
        let aws = Recorded::default()
            .fail("DeleteNatGateway", 400, "NatGatewayNotFound", "nat-1 was not found")
            .on("DescribeNatGateways", UNUSED);
        let (key, spec) = spec();
        let entry = Entry::new(key.clone(), "nat-1", Spec::NatGateway(spec));
        Notes::default()
            .run(&aws.session(), &key, &[], async |operation| delete(operation, &entry).await)
            .await
            .unwrap();
        assert_eq!(aws.actions(), ["DeleteNatGateway", "DescribeNatGateways"]);
    }

    #[tokio::test(start_paused = true)]
    async fn an_address_of_a_deleted_nat_gateway_is_disassociated() {
        let deleted = "<natGatewaySet><item><natGatewayId>nat-0</natGatewayId><state>deleted</state><natGatewayAddressSet>\
                       <item><allocationId>eipalloc-1</allocationId><networkInterfaceId>eni-0</networkInterfaceId></item>\
                       </natGatewayAddressSet></item></natGatewaySet>";
        let account = |interface: &str| {
            let address = format!(
                "<addressesSet><item><allocationId>eipalloc-1</allocationId><associationId>eipassoc-1</associationId>\
                 <networkInterfaceId>{interface}</networkInterfaceId></item></addressesSet>"
            );
            Recorded::default()
                .fail("CreateNatGateway", 400, "Resource.AlreadyAssociated", "eipalloc-1 is already associated")
                .on("CreateNatGateway", "<natGateway><natGatewayId>nat-1</natGatewayId></natGateway>")
                .on("DescribeAddresses", &address)
                .on("DescribeNatGateways", UNUSED)
                .on("DescribeNatGateways", UNUSED)
                .on("DescribeNatGateways", deleted)
                .on("DescribeNatGateways", AVAILABLE)
                .on("DisassociateAddress", "<return>true</return>")
        };
        let aws = account("eni-0");
        create_on(&aws).await.unwrap();
        assert_eq!(aws.calls("DisassociateAddress")[0]["AssociationId"], "eipassoc-1");
        let states: Vec<String> =
            aws.calls("DescribeNatGateways").iter().map(|call| call["Filter.1.Value.1"].clone()).collect();
        assert_eq!(states, ["deleting", "deleting", "deleted", "nat-1"]);

        // Another object uses the address.
        let aws = account("eni-9");
        assert_eq!(create_on(&aws).await.unwrap_err().cause, Cause::Exists);
        assert!(aws.calls("DisassociateAddress").is_empty());
    }
}
