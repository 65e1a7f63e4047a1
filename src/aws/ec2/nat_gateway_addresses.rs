//! The secondary private addresses of a private NAT gateway. They change in place.

use std::time::Duration;

use aws_sdk_ec2::types::{NatGateway, NatGatewayAddress, NatGatewayAddressStatus, NatGatewayState};

use crate::aws::calls::non_idempotent::Mutation;
use crate::aws::calls::wait::Poll;
use crate::aws::calls::{Operation, OrFailure};
use crate::cloud::{Cause, Failure};
use crate::model;

/// How long a change of addresses may take. AWS drains the connections of an address before it unassigns it.
const CHANGED: Duration = Duration::from_secs(10 * 60);

/// Whether AWS is still creating it. A pending NAT gateway has no addresses yet.
pub(super) fn is_pending(gateway: &NatGateway) -> bool {
    gateway.state() == Some(&NatGatewayState::Pending)
}

/// The primary address. AWS may not mark it if it is the only one.
pub(super) fn primary(gateway: &NatGateway) -> Option<&NatGatewayAddress> {
    match gateway.nat_gateway_addresses() {
        [only] => Some(only),
        several => several.iter().find(|address| address.is_primary() == Some(true)).or_else(|| several.first()),
    }
}

/// The number of secondary addresses that are assigned or being assigned.
pub(super) fn count(gateway: &NatGateway) -> i64 {
    secondary(gateway).filter(|address| is_present(address)).fold(0, |count, _| count + 1)
}

/// The number of secondary addresses in the spec. A public NAT gateway gets none.
pub(super) fn wanted(operation: &Operation<'_>, spec: &model::NatGateway) -> Result<i32, Failure> {
    if spec.allocation.is_some() {
        return Ok(0);
    }
    let count = *operation.known(&spec.secondary_private_ip_address_count)?;
    let message = || format!("a NAT gateway cannot have {count} secondary addresses");
    i32::try_from(count).map_err(|_| Failure::new(Cause::Other, "CreateNatGateway", message()))
}

/// Assigns addresses that AWS chooses, or unassigns the last ones, until there are `wanted` secondary addresses.
pub(super) async fn change(operation: &Operation<'_>, id: &str, wanted: i32) -> Result<(), Failure> {
    // AWS rejects a change while another one is in progress.
    let current = stable(operation, id, |current| Ok(Poll::Done(current))).await?;
    let keep = usize::try_from(wanted).unwrap_or_default();
    if keep > current.assigned.len() {
        assign(operation, id, &current, i32::try_from(keep - current.assigned.len()).unwrap_or(wanted)).await?;
    }
    let surplus: Vec<String> = current.assigned.iter().skip(keep).cloned().collect();
    if !surplus.is_empty() {
        let call = operation.session.ec2.unassign_private_nat_gateway_address().nat_gateway_id(id);
        let call = call.set_private_ip_addresses(Some(surplus)).send().await;
        call.or_failure("UnassignPrivateNatGatewayAddress")?;
    }
    until(operation, id, keep, &current).await
}

/// Waits until a new NAT gateway has the wanted number of secondary addresses and all of them are assigned.
pub(super) async fn wait(operation: &Operation<'_>, id: &str, wanted: i32) -> Result<(), Failure> {
    until(operation, id, usize::try_from(wanted).unwrap_or_default(), &Addresses::default()).await
}

/// The secondary addresses, in AWS's order.
#[derive(Default)]
struct Addresses {
    assigned: Vec<String>,
    /// The failed addresses, each with AWS's reason.
    failed: Vec<(String, String)>,
}

/// Assigns `missing` more addresses. The call accepts no idempotency token. After a lost answer, an increased number of
/// addresses shows that AWS carried it out.
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
                Ok((now > before.assigned.len() + before.failed.len()).then_some(()))
            },
        )
        .await
}

/// Waits until `wanted` addresses are assigned. Fails if an address has failed since `before`.
async fn until(operation: &Operation<'_>, id: &str, wanted: usize, before: &Addresses) -> Result<(), Failure> {
    stable(operation, id, |current| {
        let other = current.failed.iter().find(|failed| !before.failed.contains(failed));
        // Without an IP, a new failure may look like an earlier one.
        match other.or_else(|| current.failed.get(before.failed.len())) {
            Some((ip, reason)) => {
                let message = format!("{ip} could not be assigned to the NAT gateway: {reason}");
                Err(Failure::new(Cause::Other, "AssignPrivateNatGatewayAddress", message))
            }
            None if current.assigned.len() == wanted => Ok(Poll::Done(())),
            None => {
                let assigned = current.assigned.len();
                Ok(Poll::Pending(format!("{assigned} of {wanted} secondary addresses are assigned")))
            }
        }
    })
    .await
}

/// Waits until no change of an address is in progress and `check` returns [`Poll::Done`].
async fn stable<T>(
    operation: &Operation<'_>,
    id: &str,
    check: impl Fn(Addresses) -> Result<Poll<T>, Failure>,
) -> Result<T, Failure> {
    let session = operation.session;
    session
        .pollers
        .nat_gateways
        .until(&session.ec2, "DescribeNatGateways", id, &operation.deadlines(CHANGED), |gateway| {
            let Some(gateway) = gateway else {
                return Ok(Poll::Pending("the NAT gateway is not visible yet".to_string()));
            };
            if is_pending(gateway) {
                return Ok(Poll::Pending("the NAT gateway is pending".to_string()));
            }
            let mut current = Addresses::default();
            for address in secondary(gateway) {
                // AWS returns an address without its IP until it is assigned.
                let ip = address.private_ip().unwrap_or("a secondary address").to_string();
                match address.status() {
                    None | Some(NatGatewayAddressStatus::Succeeded) => current.assigned.push(ip),
                    Some(NatGatewayAddressStatus::Failed) => {
                        let reason = address.failure_message().unwrap_or("AWS gave no reason");
                        current.failed.push((ip, reason.to_string()));
                    }
                    Some(status) => return Ok(Poll::Pending(format!("{ip} is {}", status.as_str()))),
                }
            }
            check(current)
        })
        .await
}

fn secondary(gateway: &NatGateway) -> impl Iterator<Item = &NatGatewayAddress> {
    let primary = primary(gateway);
    gateway.nat_gateway_addresses().iter().filter(move |it| !primary.is_some_and(|primary| std::ptr::eq(*it, primary)))
}

/// Whether the address is assigned or being assigned.
fn is_present(address: &NatGatewayAddress) -> bool {
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

    /// A private NAT gateway with a primary address and these secondary ones: last number and status. AWS returns an
    /// address without its IP while it is assigning.
    fn gateway(addresses: &[(u8, &str)]) -> String {
        let item = |number: u8, status: &str, primary: bool| {
            let ip =
                if status == "assigning" { String::new() } else { format!("<privateIp>10.0.0.{number}</privateIp>") };
            format!(
                "<item>{ip}<isPrimary>{primary}</isPrimary><status>{status}</status>\
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

    fn describes(aws: Recorded, reads: &[&[(u8, &str)]]) -> Recorded {
        reads.iter().fold(aws, |aws, read| aws.on("DescribeNatGateways", &gateway(read)))
    }

    async fn run(aws: &Recorded, body: impl AsyncFnOnce(&Operation<'_>) -> Result<(), Failure>) -> Result<(), Failure> {
        let subnet = Key::new("subnet.transit.0");
        let key = keys::private_nat_gateway(0, &subnet);
        Notes::default().run(&aws.session(), &key, &[(&subnet, "subnet-1")], body).await
    }

    #[tokio::test(start_paused = true)]
    async fn create_assigns_secondary_addresses_and_no_public_one() {
        let created = "<natGateway><natGatewayId>nat-1</natGatewayId><state>pending</state></natGateway>";
        let aws = describes(
            Recorded::default().on("CreateNatGateway", created),
            &[&[(5, "assigning")], &[(5, "assigning")], &[(5, "succeeded"), (6, "succeeded")]],
        );
        let spec = model::NatGateway {
            subnet: Key::new("subnet.transit.0"),
            secondary_private_ip_address_count: Input::Known(2),
            ..model::NatGateway::test()
        };
        run(&aws, async |operation| super::super::nat_gateway::create(operation, &spec).await).await.unwrap();
        let call = &aws.calls("CreateNatGateway")[0];
        assert_eq!((call["ConnectivityType"].as_str(), call.get("AllocationId")), ("private", None));
        assert_eq!(call["SecondaryPrivateIpAddressCount"], "2");
        assert_eq!(aws.calls("DescribeNatGateways").len(), 3, "create waits for all addresses");
    }

    #[tokio::test(start_paused = true)]
    async fn added_addresses_are_requested_by_count_and_awaited() {
        let reads: [&[(u8, &str)]; 4] = [
            &[(5, "unassigning"), (6, "succeeded")],
            &[(6, "succeeded")],
            &[(6, "succeeded"), (7, "assigning"), (8, "succeeded")],
            &[(6, "succeeded"), (7, "succeeded"), (8, "succeeded")],
        ];
        let aws = describes(Recorded::default().on("AssignPrivateNatGatewayAddress", ""), &reads);
        run(&aws, async |operation| change(operation, "nat-1", 3).await).await.unwrap();
        let call = &aws.calls("AssignPrivateNatGatewayAddress")[0];
        assert_eq!((call["NatGatewayId"].as_str(), call["PrivateIpAddressCount"].as_str()), ("nat-1", "2"));
        assert_eq!(aws.calls("DescribeNatGateways").len(), 4);
    }

    #[tokio::test(start_paused = true)]
    async fn the_last_addresses_are_removed_and_never_the_primary() {
        let reads: [&[(u8, &str)]; 3] = [
            &[(5, "succeeded"), (6, "succeeded"), (7, "succeeded")],
            &[(5, "succeeded"), (6, "unassigning"), (7, "unassigning")],
            &[(5, "succeeded")],
        ];
        let aws = describes(Recorded::default().on("UnassignPrivateNatGatewayAddress", ""), &reads);
        run(&aws, async |operation| change(operation, "nat-1", 1).await).await.unwrap();
        let call = &aws.calls("UnassignPrivateNatGatewayAddress")[0];
        assert_eq!(
            (call["PrivateIpAddress.1"].as_str(), call["PrivateIpAddress.2"].as_str()),
            ("10.0.0.6", "10.0.0.7")
        );
        assert!(!call.contains_key("PrivateIpAddress.3"), "{call:?}");
    }

    #[tokio::test(start_paused = true)]
    async fn only_newly_failed_addresses_are_reported() {
        let reads: [&[(u8, &str)]; 2] = [&[(5, "failed")], &[(5, "failed"), (6, "failed")]];
        let aws = describes(Recorded::default().on("AssignPrivateNatGatewayAddress", ""), &reads);
        let failure = run(&aws, async |operation| change(operation, "nat-1", 1).await).await.unwrap_err();
        assert_eq!(failure.message, "10.0.0.6 could not be assigned to the NAT gateway: no address is free");

        let reads: [&[(u8, &str)]; 2] = [&[(5, "failed")], &[(5, "failed"), (6, "succeeded")]];
        let aws = describes(Recorded::default().on("AssignPrivateNatGatewayAddress", ""), &reads);
        assert_eq!(run(&aws, async |operation| change(operation, "nat-1", 1).await).await, Ok(()));
    }

    #[tokio::test(start_paused = true)]
    async fn addresses_of_a_pending_gateway_are_not_changed() {
        let pending = "<natGatewaySet><item><natGatewayId>nat-1</natGatewayId><state>pending</state>\
                       <connectivityType>private</connectivityType><natGatewayAddressSet><item/>\
                       </natGatewayAddressSet></item></natGatewaySet>";
        let aws = Recorded::default().on("DescribeNatGateways", pending);
        let aws = describes(aws, &[&[(5, "assigning")], &[(5, "succeeded")]]);
        run(&aws, async |operation| change(operation, "nat-1", 1).await).await.unwrap();
        assert_eq!(
            aws.calls("AssignPrivateNatGatewayAddress").len(),
            0,
            "the address of the creation is the wanted one"
        );
        assert_eq!(aws.calls("DescribeNatGateways").len(), 4);
    }

    #[tokio::test(start_paused = true)]
    async fn a_second_failure_without_an_ip_is_reported() {
        let failed = |count: usize| {
            let item = "<item><isPrimary>false</isPrimary><status>failed</status><failureMessage>no address is free\
                        </failureMessage></item>";
            format!(
                "<natGatewaySet><item><natGatewayId>nat-1</natGatewayId><state>available</state><natGatewayAddressSet>\
                 <item><privateIp>10.0.0.4</privateIp><isPrimary>true</isPrimary></item>{}</natGatewayAddressSet></item>\
                 </natGatewaySet>",
                item.repeat(count)
            )
        };
        let aws = Recorded::default()
            .on("AssignPrivateNatGatewayAddress", "")
            .on("DescribeNatGateways", &failed(1))
            .on("DescribeNatGateways", &failed(2));
        let failure = run(&aws, async |operation| change(operation, "nat-1", 1).await).await.unwrap_err();
        assert_eq!(failure.message, "a secondary address could not be assigned to the NAT gateway: no address is free");
    }

    #[tokio::test(start_paused = true)]
    async fn a_lost_answer_does_not_assign_addresses_twice() {
        let reads: [&[(u8, &str)]; 2] = [&[], &[(5, "succeeded")]];
        let lost = Recorded::default().fail("AssignPrivateNatGatewayAddress", 500, "InternalError", "try again");
        let aws = describes(lost, &reads);
        run(&aws, async |operation| change(operation, "nat-1", 1).await).await.unwrap();
        assert_eq!(aws.calls("AssignPrivateNatGatewayAddress").len(), 1);
    }
}
