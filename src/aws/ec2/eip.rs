//! Elastic IP addresses.

use std::time::Duration;

use aws_sdk_ec2::Client;
use aws_sdk_ec2::types::{Address, DomainType, Filter, NatGateway, ResourceType, Tag};

use super::claims::{Claims, Evidence, Ours};
use super::network::Network;
use super::slots::is_eip;
use super::{address_users, filter_any, nat_gateway, nat_gateway_addresses as addresses, tags};
use crate::aws::calls::codes;
use crate::aws::calls::codes::missing::MissingCodes;
use crate::aws::calls::errors::incomplete_answer;
use crate::aws::calls::non_idempotent::Mutation;
use crate::aws::calls::ownership;
use crate::aws::calls::wait;
use crate::aws::calls::wait::Poll;
use crate::aws::calls::{Operation, OrFailure};
use crate::aws::ec2::observed::{Listed, Shown};
use crate::cloud::{Cause, Failure, Observed};
use crate::model::{Eip, Entry, Learned, Spec};

/// The first one is from a recorded answer of AWS.
const MISSING: MissingCodes =
    MissingCodes(&["InvalidAllocationID.NotFound", "InvalidAddress.NotFound", "InvalidAddressID.NotFound"]);

/// How long a new address may be invisible.
const READY: Duration = Duration::from_secs(5 * 60);

pub(super) async fn describe(ec2: Client, filter: Filter) -> Result<Vec<Address>, Failure> {
    let answer = ec2.describe_addresses().filters(filter).send().await.or_failure("DescribeAddresses")?;
    Ok(answer.addresses.unwrap_or_default())
}

async fn tagged(network: Network<'_>) -> Result<Vec<Address>, Failure> {
    let ec2 = network.session.ec2.clone();
    let list = move |resources| describe(ec2.clone(), tags::below_any(resources));
    let shared = &network.session.shared;
    shared.addresses.of(&shared.networks, &network.resource(), |it| tags::resource(it.tags()), list).await
}

/// The addresses with this root's ownership tag, and those in state without the tag, for which a second call is sent if
/// there are any. Addresses have no VPC id, and AWS returns them on one page. An address that the configuration last
/// applied gives to a NAT gateway is left out, unless the user consents: the role may have been unable to remove the
/// tags of an address that the user has taken over.
pub(super) async fn list(network: Network<'_>) -> Result<Vec<Address>, Failure> {
    let Network { session, known, slots, consented, .. } = network;
    let mut found = tagged(network).await?;
    let missing = network.missing(
        [slots, consented],
        |spec| matches!(spec, Spec::Eip(_)),
        |slot| slot.starts_with("eip."),
        |id| found.iter().any(|it| it.allocation_id() == Some(id)),
    );
    if !missing.is_empty() {
        found.extend(describe(session.ec2.clone(), filter_any("allocation-id", missing)).await?);
    }
    let is_consented = |id: &str| consented.is_some_and(|slots| slots.contains_key(id));
    let is_given = |id: &str| known.values().any(|entry| entry.applied.is_given(id)) && !is_consented(id);
    found.retain(|it| !it.allocation_id().is_some_and(is_given));
    Ok(found)
}

impl Listed for Address {
    fn id(&self) -> Option<&str> {
        self.allocation_id()
    }

    fn tags(&self) -> &[Tag] {
        self.tags()
    }

    /// NAT gateways must have been claimed.
    fn evidence<'a>(&'a self, claims: &Claims<'a>) -> Evidence<'a> {
        let user = user_of(self, claims);
        Evidence {
            needs_consent: user.is_none().then(|| "no NAT gateway of this network uses it".to_string()),
            impossible: other_address(self, claims),
            requires: user.into_iter().collect(),
            ..Evidence::new("an Elastic IP address", is_eip)
        }
    }

    fn read(&self, shown: &Shown<'_>, ours: Ours<'_>) -> Option<Observed> {
        Some(Observed {
            id: self.allocation_id()?.to_string(),
            key: ours.place(Eip::of)?.0,
            spec: Spec::Eip(Eip { vpc: shown.vpc.clone(), tags: tags::own(self.tags()) }),
            learned: learned(self.public_ip()),
        })
    }
}

/// The NAT gateway of the network whose primary address this is. An address belongs to the network only through it.
fn user_of<'a>(address: &Address, claims: &Claims<'a>) -> Option<&'a str> {
    let id = address.allocation_id()?;
    let uses = |gateway: &&NatGateway| match addresses::primary(gateway) {
        Some(primary) => primary.allocation_id() == Some(id),
        None => has_number_of(gateway, address, claims),
    };
    let mut ours = claims.nats.iter().filter(|it| claims.ours(it.nat_gateway_id()).is_some());
    ours.find(uses)?.nat_gateway_id()
}

/// Why an address that the user names is not that of the NAT gateway with the number in its slot. An interrupted run
/// may have left one that no NAT gateway uses yet.
fn other_address(address: &Address, claims: &Claims<'_>) -> Option<String> {
    let id = address.allocation_id()?;
    let number = claims.network.consented?.get(id)?.strip_prefix("eip.")?;
    if claims.tagged_slot(address.tags()).is_some() {
        return None;
    }
    let slot = format!("nat_gateway.{number}");
    let has_slot = |gateway: &&NatGateway| claims.slot_of(gateway.nat_gateway_id()) == Some(slot.as_str());
    let Some(gateway) = claims.nats.iter().find(has_slot) else {
        return Some(format!("this network has no {slot}"));
    };
    let used = addresses::primary(gateway).and_then(|primary| primary.allocation_id());
    let gateway = gateway.nat_gateway_id().unwrap_or_default();
    let used = used.filter(|used| *used != id)?;
    Some(format!("it is not the address of {slot}: {gateway} uses {used}"))
}

/// Whether an address without an association has the number of a NAT gateway. AWS may not return the address of a
/// pending NAT gateway, and ministack 1.5.33 never returns it.
fn has_number_of(gateway: &NatGateway, address: &Address, claims: &Claims<'_>) -> bool {
    let Some(slot) = claims.slot_of(gateway.nat_gateway_id()) else { return false };
    let number = tags::value(address.tags(), ownership::OBJECT).and_then(|slot| slot.strip_prefix("eip."));
    let is_free = address.association_id().is_none() && address.instance_id().is_none_or(str::is_empty);
    is_free && number.is_some() && slot.strip_prefix("nat_gateway.") == number
}

pub(crate) async fn create(operation: &Operation<'_>, spec: &Eip) -> Result<(), Failure> {
    let session = operation.session;
    let mut tags = ownership::tags_on_create(operation, &spec.tags)?;
    let request = tags::add_request(&mut tags);
    let (id, public_ip) = Mutation::of_ec2(operation, "AllocateAddress")
        .create(
            || {
                session
                    .ec2
                    .allocate_address()
                    .domain(DomainType::Vpc)
                    .tag_specifications(tags::on_create(ResourceType::ElasticIp, &tags))
                    .customize()
                    .config_override(session.once_ec2())
                    .send()
            },
            |answer| {
                let id = answer.allocation_id().ok_or_else(|| incomplete_answer("AllocateAddress", "an id"))?;
                Ok((id.to_string(), answer.public_ip().map(str::to_string)))
            },
            || async {
                let call = session.ec2.describe_addresses().filters(request.clone());
                let answer = call.send().await.or_failure("DescribeAddresses")?;
                let mut found = answer.addresses().iter();
                Ok(found.find_map(|it| Some((it.allocation_id()?.to_string(), it.public_ip().map(str::to_string)))))
            },
        )
        .await?;
    operation.record_id(&id);
    operation.record_learned(learned(public_ip.as_deref()));
    // A NAT gateway with an address that is not visible yet fails minutes after its creation.
    session
        .pollers
        .addresses
        .until(&session.ec2, "DescribeAddresses", &id, &operation.deadlines(READY), |address| {
            Ok(match address {
                Some(_) => Poll::Done(()),
                None => Poll::Pending("the address is not visible yet".to_string()),
            })
        })
        .await
}

/// Updates tags.
pub(crate) async fn update(operation: &Operation<'_>, id: &str, from: &Eip, to: &Eip) -> Result<(), Failure> {
    tags::update(operation, id, &from.tags, &to.tags).await
}

/// Releases the address. `AuthFailure` means either that the address was released earlier and belongs to another
/// account now, or that a NAT gateway still uses it. After the deletion of a NAT gateway, AWS may report its network
/// interface as missing, and the address still exists. A read of the address distinguishes these cases.
pub(crate) async fn delete(operation: &Operation<'_>, entry: &Entry) -> Result<(), Failure> {
    let (session, id) = (operation.session, entry.id.as_str());
    wait::retry_while_in_use(&operation.work.deadlines, || async {
        let call = session.ec2.release_address().allocation_id(id).send().await;
        let Err(failure) = call.or_failure("ReleaseAddress") else { return Ok(()) };
        let cause = match failure.cause {
            Cause::NotFound if MISSING.match_failure(&failure, id) => return Ok(()),
            Cause::NotFound => Cause::NotDeleted,
            Cause::InUse => Cause::InUse,
            _ if codes::is_auth_failure(&failure) => Cause::InUse,
            _ => return Err(failure),
        };
        let Some(address) = session.pollers.addresses.now(&session.ec2, id).await? else { return Ok(()) };
        // An association with anything else is unmanaged, and stays.
        nat_gateway::is_released_now(operation, id).await;
        let message = match address_users::user_of(&address) {
            Some(user) => format!("{}; it is associated with {user}", failure.message.trim_end_matches('.')),
            None => failure.message,
        };
        Err(Failure { cause, message, ..failure })
    })
    .await
}

/// Removes the ownership tags. If the role may not, they stay: a read recognizes the address by the NAT gateway for
/// which the configuration lists it.
pub(crate) async fn disown(operation: &Operation<'_>, entry: &Entry) -> Result<(), Failure> {
    let (session, id) = (operation.session, entry.id.as_str());
    let exists = || async { Ok(session.pollers.addresses.now(&session.ec2, id).await?.is_some()) };
    tags::remove_ownership(operation, MISSING, id, exists).await
}

fn learned(public_ip: Option<&str>) -> Learned {
    public_ip.map(|public_ip| ("public_ip".to_string(), public_ip.to_string())).into_iter().collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::aws::ec2::recorded::{Notes, Recorded};
    use crate::model::keys::network as keys;

    fn entry() -> Entry {
        Entry::new(keys::eip(0), "eipalloc-1", Spec::Eip(Eip::test()))
    }

    const IN_USE: &str = "<addressesSet><item><allocationId>eipalloc-1</allocationId></item></addressesSet>";

    #[tokio::test(start_paused = true)]
    async fn a_rejected_release_succeeds_only_if_the_address_is_deleted() {
        let aws = Recorded::default()
            .fail("ReleaseAddress", 400, "AuthFailure", "You do not have permission to access the specified resource.")
            .on("DescribeAddresses", IN_USE)
            .on("DescribeAddresses", "<addressesSet/>");
        let notes = Notes::default();
        notes
            .run(&aws.session(), &keys::eip(0), &[], async |operation| delete(operation, &entry()).await)
            .await
            .unwrap();
        assert_eq!(aws.calls("ReleaseAddress").len(), 2);
    }

    #[tokio::test(start_paused = true)]
    async fn an_address_that_is_not_released_in_time_is_in_use() {
        let aws = Recorded::default()
            .fail("ReleaseAddress", 400, "AuthFailure", "You do not have permission to access the specified resource.")
            .on("DescribeAddresses", &IN_USE.replace("</item>", "<instanceId>i-1</instanceId></item>"));
        let failure = Notes::default()
            .run_for(&aws.session(), &keys::eip(0), &[], Duration::from_secs(120), async |operation| {
                delete(operation, &entry()).await
            })
            .await
            .unwrap_err();
        assert_eq!((failure.cause, failure.code.as_deref()), (Cause::InUse, Some("AuthFailure")));
        assert!(failure.message.ends_with("it is associated with i-1; gave up after 120 s"), "{}", failure.message);
    }

    #[tokio::test(start_paused = true)]
    async fn a_missing_network_interface_does_not_release_the_address() {
        let (code, text) = ("InvalidNetworkInterfaceID.NotFound", "The networkInterface ID 'eni-1' does not exist");
        let released = async |aws: &Recorded| {
            let body = async |operation: &Operation<'_>| delete(operation, &entry()).await;
            Notes::default().run(&aws.session(), &keys::eip(0), &[], body).await
        };
        let aws = Recorded::default()
            .fail("ReleaseAddress", 400, code, text)
            .on("ReleaseAddress", "<return>true</return>")
            .on("DescribeAddresses", IN_USE);
        released(&aws).await.unwrap();
        assert_eq!(aws.calls("ReleaseAddress").len(), 2);
        let aws = Recorded::default().fail("ReleaseAddress", 400, code, text).on("DescribeAddresses", IN_USE);
        let failure = released(&aws).await.unwrap_err();
        assert_eq!((failure.cause, failure.code.as_deref()), (Cause::NotDeleted, Some(code)));
        let own = "The allocation ID 'eipalloc-1' does not exist";
        let aws = Recorded::default().fail("ReleaseAddress", 400, "InvalidAllocationID.NotFound", own);
        released(&aws).await.unwrap();
        assert_eq!(aws.actions(), ["ReleaseAddress"], "no read is necessary");
    }

    #[tokio::test(start_paused = true)]
    async fn a_disowned_address_loses_its_ownership_tags_if_possible() {
        let disown = async |aws: &Recorded| {
            Notes::default()
                .run(&aws.session(), &keys::eip(0), &[], async |operation| disown(operation, &entry()).await)
                .await
        };
        let aws = Recorded::default().on("DeleteTags", "<return>true</return>");
        disown(&aws).await.unwrap();
        let call = &aws.calls("DeleteTags")[0];
        let tags = ["Tag.1.Key", "Tag.2.Key", "Tag.3.Key"].map(|name| call[name].as_str());
        assert_eq!(
            (call["ResourceId.1"].as_str(), tags),
            ("eipalloc-1", ["fgw:resource", "fgw:object", "fgw:request"])
        );
        assert_eq!(aws.actions(), ["DeleteTags"]);
        for (code, is_success) in
            [("UnauthorizedOperation", true), ("InvalidAllocationID.NotFound", true), ("InvalidParameterValue", false)]
        {
            let aws = Recorded::default().fail("DeleteTags", 400, code, "rejected");
            assert_eq!(disown(&aws).await.is_ok(), is_success, "{code}");
        }
    }

    #[tokio::test(start_paused = true)]
    async fn an_address_is_recorded_before_any_wait() {
        let aws = Recorded::default()
            .on("AllocateAddress", "<allocationId>eipalloc-1</allocationId><publicIp>198.51.100.7</publicIp>")
            .fail("DescribeAddresses", 400, "UnauthorizedOperation", "You are not authorized");
        let notes = Notes::default();
        let Spec::Eip(spec) = entry().applied else { unreachable!() };
        let result =
            notes.run(&aws.session(), &keys::eip(0), &[], async |operation| create(operation, &spec).await).await;
        assert_eq!(result.unwrap_err().cause, Cause::Denied);
        assert_eq!(notes.ids(), ["eipalloc-1"]);
        assert_eq!(notes.learned.lock().unwrap()["public_ip"], "198.51.100.7");
    }
}
