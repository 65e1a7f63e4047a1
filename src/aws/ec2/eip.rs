//! Elastic IP addresses.

use std::time::Duration;

use aws_sdk_ec2::types::{Address, DomainType, ResourceType};

use super::{nat_gateway, tags};
use crate::aws::calls::codes;
use crate::aws::calls::codes::missing::Kind;
use crate::aws::calls::errors::incomplete_answer;
use crate::aws::calls::non_idempotent::Mutation;
use crate::aws::calls::ownership;
use crate::aws::calls::wait;
use crate::aws::calls::wait::Poll;
use crate::aws::calls::{Operation, OrFailure};
use crate::aws::ec2::observed::Shown;
use crate::cloud::{Cause, Failure, Observed};
use crate::model::{Eip, Entry, Key, Learned, Spec};

/// How long a new address may be invisible.
const READY: Duration = Duration::from_secs(5 * 60);

/// The address as AWS returns it.
pub(super) fn read(shown: &Shown<'_>, key: Key, address: &Address) -> Option<Observed> {
    Some(Observed {
        id: address.allocation_id()?.to_string(),
        key,
        spec: Spec::Eip(Eip { vpc: shown.vpc.clone(), tags: tags::own(address.tags()) }),
        learned: learned(address.public_ip()),
    })
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
pub(crate) async fn update(operation: &Operation<'_>, id: &str, from: Option<&Eip>, to: &Eip) -> Result<(), Failure> {
    tags::update(operation, id, from.map(|from| &from.tags), &to.tags).await
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
            Cause::NotFound if Kind::Address.is_missing(&failure, id) => return Ok(()),
            Cause::NotFound => Cause::NotDeleted,
            Cause::InUse => Cause::InUse,
            _ if codes::is_auth_failure(&failure) => Cause::InUse,
            _ => return Err(failure),
        };
        let Some(address) = session.pollers.addresses.now(&session.ec2, id).await? else { return Ok(()) };
        // An association with anything else is unmanaged, and stays.
        nat_gateway::is_released_now(operation, id).await;
        let user = address.instance_id().filter(|id| !id.is_empty()).or(address.network_interface_id());
        let message = match user {
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
    tags::remove_ownership(operation, Kind::Address, id, exists).await
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
