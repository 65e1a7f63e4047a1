//! Subnets.

use std::time::Duration;

use aws_sdk_ec2::types::{AttributeBooleanValue, ResourceType, SubnetState};

use super::super::errors::incomplete_answer;
use super::super::waits::{self, Look};
use super::super::{AwsError, Operation, ownership};
use super::shown::Shown;
use super::{filter, tags, without_token};
use crate::cloud::{Cause, Failure, Observed};
use crate::objects::{Entry, Key, Learned, Spec, Subnet, Tier};
use crate::plugin::Input;

/// How long a subnet may be pending.
const READY: Duration = Duration::from_secs(10 * 60);

/// The subnet as AWS shows it. AWS knows neither tier nor index.
pub(super) fn read(
    shown: &Shown<'_>,
    key: Key,
    (tier, index): (Tier, u32),
    subnet: &aws_sdk_ec2::types::Subnet,
) -> Option<Observed> {
    Some(Observed {
        id: subnet.subnet_id()?.to_string(),
        key,
        spec: Spec::Subnet(Subnet {
            vpc: shown.vpc.clone(),
            tier,
            index,
            availability_zone: subnet.availability_zone()?.to_string(),
            availability_zone_id: subnet.availability_zone_id()?.to_string(),
            cidr_block: Input::Known(subnet.cidr_block().unwrap_or_default().to_string()),
            map_public_ip_on_launch: Input::Known(subnet.map_public_ip_on_launch().unwrap_or(false)),
            ipv6_block: None,
            ipv6_cidr_block: Input::Known(None),
            assign_ipv6_address_on_creation: Input::Known(false),
            tags: tags::own(subnet.tags()),
        }),
        learned: Learned::new(),
    })
}

/// Makes the subnet.
pub(crate) async fn create(operation: &Operation<'_>, spec: &Subnet) -> Result<(), Failure> {
    let (session, vpc_id) = (operation.session, operation.id(&spec.vpc)?);
    let cidr_block = operation.known(&spec.cidr_block)?;
    let tags = ownership::tags_on_create(operation, &spec.tags)?;
    // An older subnet in another place of this tier and index may still carry the same tags, so the range counts.
    let find = || async {
        let call = session
            .ec2
            .describe_subnets()
            .set_filters(Some(tags::of_this_object(operation)?))
            .filters(filter("vpc-id", vpc_id))
            .filters(filter("cidr-block", cidr_block));
        let answer = call.send().await.map_err(|error| error.failure("DescribeSubnets"))?;
        let mut here = answer.subnets().iter().filter(|it| {
            it.availability_zone_id() == Some(spec.availability_zone_id.as_str())
                || it.availability_zone() == Some(spec.availability_zone.as_str())
        });
        Ok(here.find_map(|it| it.subnet_id()).map(str::to_string))
    };
    let made = waits::visible(operation, &[vpc_id], || {
        without_token::create(
            operation,
            "CreateSubnet",
            || {
                session
                    .ec2
                    .create_subnet()
                    .vpc_id(vpc_id)
                    .cidr_block(cidr_block)
                    .availability_zone(&spec.availability_zone)
                    .tag_specifications(tags::on_create(ResourceType::Subnet, &tags))
                    .customize()
                    .config_override(session.once_ec2())
                    .send()
            },
            |answer| {
                let id = answer.subnet().and_then(|it| it.subnet_id());
                id.map(str::to_string).ok_or_else(|| incomplete_answer("CreateSubnet", "an id"))
            },
            find,
        )
    })
    .await;
    let id = match made {
        // The range is taken: by this very subnet, if an earlier answer was lost and the search came too early.
        Err(failure) if failure.cause == Cause::Exists => find().await?.ok_or(failure)?,
        made => made?,
    };
    operation.record_id(&id);
    look_until(operation, &id, READY, |subnet| match subnet.state() {
        Some(SubnetState::Available) => Ok(Look::Done(())),
        Some(SubnetState::Pending) | None => Ok(Look::Pending("the subnet is pending".to_string())),
        Some(state) => {
            Err(Failure::new(Cause::Other, "CreateSubnet", format!("AWS says that the subnet is {}", state.as_str())))
        }
    })
    .await?;
    if *operation.known(&spec.map_public_ip_on_launch)? {
        set_map_public_ip(operation, &id, true).await?;
    }
    Ok(())
}

/// Changes public addressing and tags.
pub(crate) async fn update(
    operation: &Operation<'_>,
    id: &str,
    from: Option<&Subnet>,
    to: &Subnet,
) -> Result<(), Failure> {
    if from.is_none_or(|from| from.map_public_ip_on_launch != to.map_public_ip_on_launch) {
        set_map_public_ip(operation, id, *operation.known(&to.map_public_ip_on_launch)?).await?;
    }
    tags::update(operation, id, from.map(|from| &from.tags), &to.tags).await
}

/// Deletes the subnet, and with it its route table association.
pub(crate) async fn delete(operation: &Operation<'_>, entry: &Entry) -> Result<(), Failure> {
    let (session, id) = (operation.session, entry.id.as_str());
    waits::released(&operation.work.patience, || async {
        let call = session.ec2.delete_subnet().subnet_id(id).send().await;
        call.map(|_| ()).map_err(|error| error.failure("DeleteSubnet"))
    })
    .await?;
    let patience = operation.patience(waits::PROPAGATION);
    session
        .pollers
        .subnets
        .until(session, "DeleteSubnet", id, &patience, |subnet| {
            Ok(match subnet {
                None => Look::Done(()),
                Some(_) => Look::Pending("the subnet is still there".to_string()),
            })
        })
        .await
}

async fn set_map_public_ip(operation: &Operation<'_>, id: &str, wanted: bool) -> Result<(), Failure> {
    waits::visible(operation, &[id], || async {
        let value = AttributeBooleanValue::builder().value(wanted).build();
        let call = operation.session.ec2.modify_subnet_attribute().subnet_id(id).map_public_ip_on_launch(value);
        call.send().await.map(|_| ()).map_err(|error| error.failure("ModifySubnetAttribute"))
    })
    .await?;
    look_until(operation, id, waits::PROPAGATION, |subnet| {
        let shown = subnet.map_public_ip_on_launch().unwrap_or(false);
        Ok(if shown == wanted {
            Look::Done(())
        } else {
            Look::Pending(format!("map_public_ip_on_launch is still {shown}"))
        })
    })
    .await
}

async fn look_until(
    operation: &Operation<'_>,
    id: &str,
    at_most: Duration,
    judge: impl Fn(&aws_sdk_ec2::types::Subnet) -> Result<Look<()>, Failure>,
) -> Result<(), Failure> {
    let session = operation.session;
    let judge = |subnet: Option<&aws_sdk_ec2::types::Subnet>| match subnet {
        Some(subnet) => judge(subnet),
        None => Ok(Look::Pending("the subnet is not visible yet".to_string())),
    };
    session.pollers.subnets.until(session, "DescribeSubnets", id, &operation.patience(at_most), judge).await
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::aws::ec2::recorded::{Notes, Recorded};

    fn spec() -> Subnet {
        Subnet {
            vpc: Key::new("vpc"),
            tier: Tier::Public,
            index: 0,
            availability_zone: "us-east-1a".into(),
            availability_zone_id: "use1-az6".into(),
            cidr_block: Input::Known("10.0.0.0/24".into()),
            map_public_ip_on_launch: Input::Known(true),
            ipv6_block: None,
            ipv6_cidr_block: Input::Known(None),
            assign_ipv6_address_on_creation: Input::Known(false),
            tags: Input::Known(Default::default()),
        }
    }

    fn shown(id: &str, public: bool) -> String {
        format!(
            "<subnetSet><item><subnetId>{id}</subnetId><state>available</state><mapPublicIpOnLaunch>{public}\
             </mapPublicIpOnLaunch></item></subnetSet>"
        )
    }

    #[tokio::test]
    async fn a_new_subnet_is_ready_when_aws_shows_its_public_addressing() {
        let aws = Recorded::default()
            .on("CreateSubnet", "<subnet><subnetId>subnet-1</subnetId></subnet>")
            .on("ModifySubnetAttribute", "<return>true</return>")
            .on("DescribeSubnets", &shown("subnet-9", true))
            .on("DescribeSubnets", &shown("subnet-1", false))
            .on("DescribeSubnets", &shown("subnet-1", false))
            .on("DescribeSubnets", &shown("subnet-1", true));
        let (vpc, notes) = (Key::new("vpc"), Notes::default());
        notes
            .run(&aws.session(), &Key::new("subnet.public.0"), &[(&vpc, "vpc-1")], async |operation| {
                create(operation, &spec()).await
            })
            .await
            .unwrap();
        let [d, m] = ["DescribeSubnets", "ModifySubnetAttribute"];
        assert_eq!(aws.actions(), ["CreateSubnet", d, d, m, d, d]);
        assert_eq!(notes.ids(), ["subnet-1"]);
    }

    #[tokio::test]
    async fn a_deleted_subnet_is_gone_when_aws_no_longer_shows_it() {
        let aws = Recorded::default()
            .on("DeleteSubnet", "<return>true</return>")
            .on("DescribeSubnets", &shown("subnet-1", true))
            .on("DescribeSubnets", "<subnetSet/>");
        let key = Key::new("subnet.public.0");
        let entry = Entry::new(key.clone(), "subnet-1", Spec::Subnet(spec()));
        Notes::default()
            .run(&aws.session(), &key, &[], async |operation| delete(operation, &entry).await)
            .await
            .unwrap();
        assert_eq!(aws.actions(), ["DeleteSubnet", "DescribeSubnets", "DescribeSubnets"]);
    }
}
