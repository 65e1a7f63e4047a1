//! The private addresses that a private NAT gateway has beside its first one. They change in place.

use std::collections::BTreeMap;
use std::time::Duration;

use aws_sdk_ec2::types::{NatGateway, NatGatewayAddress, NatGatewayAddressStatus};

use crate::aws::calls::non_idempotent::Mutation;
use crate::aws::calls::wait::Poll;
use crate::aws::calls::{AwsError, Operation};
use crate::cloud::{Cause, Failure};
use crate::model;

/// How long addresses may come and go: one that goes drains its connections first.
const CHANGED: Duration = Duration::from_secs(10 * 60);

/// The first address. Where there is only one, AWS may not mark it.
pub(super) fn primary(gateway: &NatGateway) -> Option<&NatGatewayAddress> {
    match gateway.nat_gateway_addresses() {
        [only] => Some(only),
        several => several.iter().find(|address| address.is_primary() == Some(true)).or_else(|| several.first()),
    }
}

/// How many further addresses the NAT gateway has or is getting.
pub(super) fn count(gateway: &NatGateway) -> i64 {
    secondary(gateway).filter(|address| stays(address)).fold(0, |count, _| count + 1)
}

/// How many further addresses are wanted, as AWS takes the number. A public NAT gateway is given none.
pub(super) fn wanted(operation: &Operation<'_>, spec: &model::NatGateway) -> Result<i32, Failure> {
    if spec.allocation.is_some() {
        return Ok(0);
    }
    let count = *operation.known(&spec.secondary_private_ip_address_count)?;
    let message = || format!("{count} is no number of addresses that a NAT gateway can have");
    i32::try_from(count).map_err(|_| Failure::new(Cause::Other, "CreateNatGateway", message()))
}

/// Assigns addresses that AWS chooses, or takes the last ones away, until there are as many as wanted.
pub(super) async fn change(operation: &Operation<'_>, id: &str, wanted: i32) -> Result<(), Failure> {
    // AWS takes no other change while one is at work.
    let there = settled(operation, id, |there| Ok(Poll::Done(there))).await?;
    let keep = usize::try_from(wanted).unwrap_or_default();
    if keep > there.working.len() {
        assign(operation, id, &there, i32::try_from(keep - there.working.len()).unwrap_or(wanted)).await?;
    }
    let surplus: Vec<String> = there.working.iter().skip(keep).cloned().collect();
    if !surplus.is_empty() {
        let call = operation.session.ec2.unassign_private_nat_gateway_address().nat_gateway_id(id);
        let call = call.set_private_ip_addresses(Some(surplus)).send().await;
        call.map_err(|error| error.failure("UnassignPrivateNatGatewayAddress"))?;
    }
    until(operation, id, keep, &there).await
}

/// Waits until a new NAT gateway has as many further addresses as wanted, and all of them work.
pub(super) async fn wait(operation: &Operation<'_>, id: &str, wanted: i32) -> Result<(), Failure> {
    until(operation, id, usize::try_from(wanted).unwrap_or_default(), &Addresses::default()).await
}

/// Further addresses in AWS's order.
#[derive(Default)]
struct Addresses {
    working: Vec<String>,
    /// With AWS's reason.
    failed: BTreeMap<String, String>,
}

/// AWS takes no token here: after a lost answer, addresses that were not there before say that it was carried out.
async fn assign(operation: &Operation<'_>, id: &str, before: &Addresses, missing: i32) -> Result<(), Failure> {
    let session = operation.session;
    Mutation::of_ec2(operation, "AssignPrivateNatGatewayAddress")
        .create(
            || {
                let call = session.ec2.assign_private_nat_gateway_address().nat_gateway_id(id);
                call.private_ip_address_count(missing).customize().config_override(session.once_ec2()).send()
            },
            |_| Ok(()),
            || async {
                let gateway = session.pollers.nat_gateways.now(&session.ec2, id).await?;
                let now = gateway.as_ref().map_or(0, |gateway| secondary(gateway).count());
                Ok((now > before.working.len() + before.failed.len()).then_some(()))
            },
        )
        .await
}

/// Waits until as many addresses work as are wanted, and tells of those that have failed since `before`.
async fn until(operation: &Operation<'_>, id: &str, wanted: usize, before: &Addresses) -> Result<(), Failure> {
    settled(operation, id, |there| match there.failed.iter().find(|(ip, _)| !before.failed.contains_key(*ip)) {
        Some((ip, reason)) => {
            let message = format!("{ip} could not be assigned to the NAT gateway: {reason}");
            Err(Failure::new(Cause::Other, "AssignPrivateNatGatewayAddress", message))
        }
        None if there.working.len() == wanted => Ok(Poll::Done(())),
        None => Ok(Poll::Pending(format!("{} of {wanted} secondary addresses work", there.working.len()))),
    })
    .await
}

/// Waits until no address is coming or going any more and `judge` is content.
async fn settled<T>(
    operation: &Operation<'_>,
    id: &str,
    judge: impl Fn(Addresses) -> Result<Poll<T>, Failure>,
) -> Result<T, Failure> {
    let session = operation.session;
    session
        .pollers
        .nat_gateways
        .until(&session.ec2, "DescribeNatGateways", id, &operation.deadlines(CHANGED), |gateway| {
            let Some(gateway) = gateway else {
                return Ok(Poll::Pending("the NAT gateway is not visible yet".to_string()));
            };
            let mut there = Addresses::default();
            for address in secondary(gateway) {
                let ip = address.private_ip().unwrap_or_default().to_string();
                match address.status() {
                    None | Some(NatGatewayAddressStatus::Succeeded) => there.working.push(ip),
                    Some(NatGatewayAddressStatus::Failed) => {
                        let reason = address.failure_message().unwrap_or("AWS gave no reason");
                        there.failed.insert(ip, reason.to_string());
                    }
                    Some(status) => return Ok(Poll::Pending(format!("{ip} is {}", status.as_str()))),
                }
            }
            judge(there)
        })
        .await
}

fn secondary(gateway: &NatGateway) -> impl Iterator<Item = &NatGatewayAddress> {
    let primary = primary(gateway);
    gateway.nat_gateway_addresses().iter().filter(move |it| !primary.is_some_and(|primary| std::ptr::eq(*it, primary)))
}

/// Whether the address works or is about to.
fn stays(address: &NatGatewayAddress) -> bool {
    use NatGatewayAddressStatus::{Disassociating, Failed, Unassigning};
    !matches!(address.status(), Some(Failed | Unassigning | Disassociating))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::aws::ec2::recorded::{Notes, Recorded};
    use crate::model::Input;
    use crate::model::Key;
    use crate::model::keys::network as keys;

    /// A private NAT gateway with a first address and these: last number and status.
    fn gateway(addresses: &[(u8, &str)]) -> String {
        let item = |number: u8, status: &str, primary: bool| {
            format!(
                "<item><privateIp>10.0.0.{number}</privateIp><isPrimary>{primary}</isPrimary><status>{status}</status>\
                 <failureMessage>no address is free</failureMessage></item>"
            )
        };
        let items: String = addresses.iter().map(|(number, status)| item(*number, status, false)).collect();
        format!(
            "<natGatewaySet><item><natGatewayId>nat-1</natGatewayId><state>available</state><connectivityType>private\
             </connectivityType><natGatewayAddressSet>{items}{}</natGatewayAddressSet></item></natGatewaySet>",
            item(4, "succeeded", true)
        )
    }

    fn describes(aws: Recorded, looks: &[&[(u8, &str)]]) -> Recorded {
        looks.iter().fold(aws, |aws, look| aws.on("DescribeNatGateways", &gateway(look)))
    }

    async fn run(aws: &Recorded, body: impl AsyncFnOnce(&Operation<'_>) -> Result<(), Failure>) -> Result<(), Failure> {
        let subnet = Key::new("subnet.transit.0");
        let key = keys::private_nat_gateway(0, &subnet);
        Notes::default().run(&aws.session(), &key, &[(&subnet, "subnet-1")], body).await
    }

    #[tokio::test(start_paused = true)]
    async fn a_private_nat_gateway_is_made_with_its_secondary_addresses_and_without_a_public_one() {
        let made = "<natGateway><natGatewayId>nat-1</natGatewayId><state>pending</state></natGateway>";
        let aws = describes(
            Recorded::default().on("CreateNatGateway", made),
            &[&[(5, "assigning")], &[(5, "assigning")], &[(5, "succeeded"), (6, "succeeded")]],
        );
        let spec = model::NatGateway {
            subnet: Key::new("subnet.transit.0"),
            allocation: None,
            internet_gateway: None,
            secondary_private_ip_address_count: Input::Known(2),
            tags: Input::Known(Default::default()),
        };
        run(&aws, async |operation| super::super::nat_gateway::create(operation, &spec).await).await.unwrap();
        let call = &aws.calls("CreateNatGateway")[0];
        assert_eq!((call["ConnectivityType"].as_str(), call.get("AllocationId")), ("private", None));
        assert_eq!(call["SecondaryPrivateIpAddressCount"], "2");
        assert_eq!(aws.calls("DescribeNatGateways").len(), 3, "it waits for all of them");
    }

    #[tokio::test(start_paused = true)]
    async fn further_addresses_are_assigned_by_their_number_and_waited_for() {
        let looks: [&[(u8, &str)]; 4] = [
            &[(5, "unassigning"), (6, "succeeded")],
            &[(6, "succeeded")],
            &[(6, "succeeded"), (7, "assigning"), (8, "succeeded")],
            &[(6, "succeeded"), (7, "succeeded"), (8, "succeeded")],
        ];
        let aws = describes(Recorded::default().on("AssignPrivateNatGatewayAddress", ""), &looks);
        run(&aws, async |operation| change(operation, "nat-1", 3).await).await.unwrap();
        let call = &aws.calls("AssignPrivateNatGatewayAddress")[0];
        assert_eq!((call["NatGatewayId"].as_str(), call["PrivateIpAddressCount"].as_str()), ("nat-1", "2"));
        assert_eq!(aws.calls("DescribeNatGateways").len(), 4);
    }

    #[tokio::test(start_paused = true)]
    async fn the_last_addresses_are_taken_away_and_never_the_first_one() {
        let looks: [&[(u8, &str)]; 3] = [
            &[(5, "succeeded"), (6, "succeeded"), (7, "succeeded")],
            &[(5, "succeeded"), (6, "unassigning"), (7, "unassigning")],
            &[(5, "succeeded")],
        ];
        let aws = describes(Recorded::default().on("UnassignPrivateNatGatewayAddress", ""), &looks);
        run(&aws, async |operation| change(operation, "nat-1", 1).await).await.unwrap();
        let call = &aws.calls("UnassignPrivateNatGatewayAddress")[0];
        assert_eq!(
            (call["PrivateIpAddress.1"].as_str(), call["PrivateIpAddress.2"].as_str()),
            ("10.0.0.6", "10.0.0.7")
        );
        assert!(!call.contains_key("PrivateIpAddress.3"), "{call:?}");
    }

    #[tokio::test(start_paused = true)]
    async fn an_address_that_fails_tells_why_and_one_that_failed_long_ago_does_not_matter() {
        let looks: [&[(u8, &str)]; 2] = [&[(5, "failed")], &[(5, "failed"), (6, "failed")]];
        let aws = describes(Recorded::default().on("AssignPrivateNatGatewayAddress", ""), &looks);
        let failure = run(&aws, async |operation| change(operation, "nat-1", 1).await).await.unwrap_err();
        assert_eq!(failure.message, "10.0.0.6 could not be assigned to the NAT gateway: no address is free");

        let looks: [&[(u8, &str)]; 2] = [&[(5, "failed")], &[(5, "failed"), (6, "succeeded")]];
        let aws = describes(Recorded::default().on("AssignPrivateNatGatewayAddress", ""), &looks);
        assert_eq!(run(&aws, async |operation| change(operation, "nat-1", 1).await).await, Ok(()));
    }

    #[tokio::test(start_paused = true)]
    async fn a_lost_answer_to_an_assignment_assigns_no_address_twice() {
        let looks: [&[(u8, &str)]; 2] = [&[], &[(5, "succeeded")]];
        let lost = Recorded::default().fail("AssignPrivateNatGatewayAddress", 500, "InternalError", "try again");
        let aws = describes(lost, &looks);
        run(&aws, async |operation| change(operation, "nat-1", 1).await).await.unwrap();
        assert_eq!(aws.calls("AssignPrivateNatGatewayAddress").len(), 1);
    }
}
