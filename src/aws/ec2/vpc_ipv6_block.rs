//! IPv6 ranges of VPCs. They have no tags: a range is managed if state contains the id of its association.

use std::time::Duration;

use aws_sdk_ec2::types::{VpcCidrBlockStateCode, VpcIpv6CidrBlockAssociation};

use super::{filter, ipam, ipv6_range};
use crate::aws::Session;
use crate::aws::calls::errors::incomplete_answer;
use crate::aws::calls::non_idempotent::Mutation;
use crate::aws::calls::wait;
use crate::aws::calls::wait::Poll;
use crate::aws::calls::{AwsError, Operation};
use crate::aws::ec2::observed::Shown;
use crate::cloud::{Cause, Failure, Observed};
use crate::model::Input;
use crate::model::{Entry, Ipv6Source, Key, Learned, Spec, VpcIpv6Block};

/// How long a range may be associating.
const READY: Duration = Duration::from_secs(10 * 60);

/// The name that AWS returns for its own pool.
const AMAZON: &str = "Amazon";

/// The range as AWS returns it. `source` is passed in, because it never changes and AWS returns only a part of it.
pub(super) fn read(
    shown: &Shown<'_>,
    key: Key,
    source: Ipv6Source,
    block: &VpcIpv6CidrBlockAssociation,
) -> Option<Observed> {
    Some(Observed {
        id: block.association_id()?.to_string(),
        key,
        spec: Spec::VpcIpv6Block(VpcIpv6Block { vpc: shown.vpc.clone(), source }),
        learned: learned(block),
    })
}

/// Whether the range is associated or associating. AWS continues to return disassociated ranges.
pub(super) fn exists(block: &VpcIpv6CidrBlockAssociation) -> bool {
    matches!(state(block), Some(VpcCidrBlockStateCode::Associated | VpcCidrBlockStateCode::Associating))
}

/// The source of a range, as far as AWS returns it.
pub(super) fn source(block: &VpcIpv6CidrBlockAssociation, region: &str) -> Ipv6Source {
    if block.ipv6_pool() == Some(AMAZON) {
        let group = block.network_border_group().filter(|group| *group != region).map(str::to_string);
        return Ipv6Source::Amazon { network_border_group: Input::Known(group) };
    }
    let (pool_id, cidr_block) = (Input::Known(None), Input::Known(None));
    Ipv6Source::Pool { pool_id, cidr_block, netmask_length: Input::Known(None) }
}

/// Associates a range with the VPC, or adopts one that an interrupted run associated.
pub(crate) async fn create(operation: &Operation<'_>, spec: &VpcIpv6Block) -> Result<(), Failure> {
    let (session, vpc_id) = (operation.session, operation.id(&spec.vpc)?);
    let source = Source::of(operation, &spec.source)?;
    let before = blocks(session, vpc_id).await?;
    let fits = |block: &&VpcIpv6CidrBlockAssociation| exists(block) && source.fits(block, &session.scope.region);
    let id = |block: &VpcIpv6CidrBlockAssociation| block.association_id().map(str::to_string);
    // A matching range that is not in state was associated by a run that was killed.
    let leftover = before.iter().filter(fits).filter_map(id).find(|id| !operation.work.known.contains(id));
    let id = match leftover {
        Some(leftover) => leftover,
        None => {
            let request = source.request(session.ec2.associate_vpc_cidr_block().vpc_id(vpc_id))?;
            let mutation = Mutation::of_ec2(operation, "AssociateVpcCidrBlock");
            let associate = || {
                mutation.create(
                    || request.clone().customize().config_override(session.once_ec2()).send(),
                    |answer| {
                        let created = answer.ipv6_cidr_block_association().and_then(id);
                        created.ok_or_else(|| incomplete_answer("AssociateVpcCidrBlock", "an id"))
                    },
                    || async {
                        let now = blocks(session, vpc_id).await?;
                        let is_new = |id: &String| !before.iter().any(|block| block.association_id() == Some(id));
                        Ok(now.iter().filter(fits).filter_map(id).find(is_new))
                    },
                )
            };
            operation.retry_until_visible(&[vpc_id], || ipam::monitored(operation, associate)).await?
        }
    };
    operation.record_id(&id);
    ready(operation, vpc_id, &id).await
}

/// Makes no change, because AWS cannot change a range. A pool that AWS did not return may become known after an import,
/// which needs no call. If `from` is `None`, waits for the range, because its creation may have been interrupted.
pub(crate) async fn update(
    operation: &Operation<'_>,
    id: &str,
    from: Option<&VpcIpv6Block>,
    to: &VpcIpv6Block,
) -> Result<(), Failure> {
    match from {
        Some(_) => Ok(()),
        None => ready(operation, operation.id(&to.vpc)?, id).await,
    }
}

/// Disassociates the range. AWS rejects this while a subnet has a part of it.
pub(crate) async fn delete(operation: &Operation<'_>, entry: &Entry) -> Result<(), Failure> {
    let (session, id) = (operation.session, entry.id.as_str());
    let Spec::VpcIpv6Block(VpcIpv6Block { vpc, .. }) = &entry.applied else {
        return Err(Failure::new(Cause::Other, "DisassociateVpcCidrBlock", format!("{id} is not an IPv6 range")));
    };
    let vpc_id = operation.id(vpc)?;
    wait::retry_while_in_use(&operation.work.deadlines, || async {
        let call = session.ec2.disassociate_vpc_cidr_block().association_id(id).send().await;
        call.map(|_| ()).map_err(|error| error.failure("DisassociateVpcCidrBlock"))
    })
    .await?;
    let deadlines = operation.deadlines(wait::PROPAGATION);
    wait::until("DisassociateVpcCidrBlock", &deadlines, wait::SECONDS, || async {
        let blocks = blocks(session, vpc_id).await?;
        let state = blocks.iter().find(|block| block.association_id() == Some(id)).map(state);
        Ok(match state {
            None | Some(Some(VpcCidrBlockStateCode::Disassociated)) => Poll::Done(()),
            Some(state) => Poll::Pending(describe_state(state)),
        })
    })
    .await
}

/// Waits until the range is associated, and records it. `disassociated` and `failing` are interim states on the way
/// there.
async fn ready(operation: &Operation<'_>, vpc_id: &str, id: &str) -> Result<(), Failure> {
    let learned = wait::until("DescribeVpcs", &operation.deadlines(READY), wait::SECONDS, || async {
        let blocks = blocks(operation.session, vpc_id).await?;
        let Some(block) = blocks.iter().find(|block| block.association_id() == Some(id)) else {
            return Ok(Poll::Pending("the range is not visible yet".to_string()));
        };
        match state(block) {
            Some(VpcCidrBlockStateCode::Associated) => Ok(Poll::Done(learned(block))),
            Some(VpcCidrBlockStateCode::Failed) => {
                let reason = block.ipv6_cidr_block_state().and_then(|state| state.status_message());
                let reason = reason.unwrap_or("AWS gave no reason");
                let message = format!("the IPv6 range could not be associated with the VPC: {reason}");
                Err(Failure::new(Cause::Other, "AssociateVpcCidrBlock", message))
            }
            state => Ok(Poll::Pending(describe_state(state))),
        }
    })
    .await?;
    operation.record_learned(learned);
    Ok(())
}

async fn blocks(session: &Session, vpc_id: &str) -> Result<Vec<VpcIpv6CidrBlockAssociation>, Failure> {
    let answer = session.ec2.describe_vpcs().filters(filter("vpc-id", vpc_id)).send().await;
    let mut answer = answer.map_err(|error| error.failure("DescribeVpcs"))?.vpcs.unwrap_or_default();
    answer.retain(|vpc| vpc.vpc_id() == Some(vpc_id));
    Ok(answer.pop().and_then(|vpc| vpc.ipv6_cidr_block_association_set).unwrap_or_default())
}

fn state(block: &VpcIpv6CidrBlockAssociation) -> Option<&VpcCidrBlockStateCode> {
    block.ipv6_cidr_block_state().and_then(|state| state.state())
}

fn describe_state(state: Option<&VpcCidrBlockStateCode>) -> String {
    format!("the range is {}", state.map_or("in an unknown state", |state| state.as_str()))
}

fn learned(block: &VpcIpv6CidrBlockAssociation) -> Learned {
    let range = block.ipv6_cidr_block().and_then(ipv6_range);
    range.map(|range| ("ipv6_cidr_block".to_string(), range.to_string())).into_iter().collect()
}

type Request = aws_sdk_ec2::operation::associate_vpc_cidr_block::builders::AssociateVpcCidrBlockFluentBuilder;

/// An [`Ipv6Source`] whose values are all known.
enum Source<'a> {
    Amazon { network_border_group: Option<&'a str> },
    Pool { pool_id: Option<&'a str>, cidr_block: Option<&'a str>, netmask_length: Option<i64> },
}

impl<'a> Source<'a> {
    fn of(operation: &Operation<'_>, source: &'a Ipv6Source) -> Result<Source<'a>, Failure> {
        Ok(match source {
            Ipv6Source::Amazon { network_border_group } => {
                Source::Amazon { network_border_group: operation.known(network_border_group)?.as_deref() }
            }
            Ipv6Source::Pool { pool_id, cidr_block, netmask_length } => Source::Pool {
                pool_id: operation.known(pool_id)?.as_deref(),
                cidr_block: operation.known(cidr_block)?.as_deref(),
                netmask_length: *operation.known(netmask_length)?,
            },
        })
    }

    fn request(&self, call: Request) -> Result<Request, Failure> {
        Ok(match *self {
            Source::Amazon { network_border_group } => call
                .amazon_provided_ipv6_cidr_block(true)
                .set_ipv6_cidr_block_network_border_group(network_border_group.map(str::to_string)),
            Source::Pool { pool_id: None, .. } => {
                let message =
                    "the IPAM pool of the range is unknown, because AWS does not return it; set ipv6_ipam_pool_id";
                return Err(Failure::new(Cause::Other, "AssociateVpcCidrBlock", message));
            }
            Source::Pool { pool_id, cidr_block, netmask_length } => call
                .set_ipv6_ipam_pool_id(pool_id.map(str::to_string))
                .set_ipv6_cidr_block(cidr_block.map(str::to_string))
                .set_ipv6_netmask_length(ipam::netmask_length("AssociateVpcCidrBlock", netmask_length)?),
        })
    }

    /// Whether a range may come from this source, as far as AWS returns its source.
    fn fits(&self, block: &VpcIpv6CidrBlockAssociation, region: &str) -> bool {
        let is_amazon = block.ipv6_pool() == Some(AMAZON);
        match *self {
            Source::Amazon { network_border_group } => {
                let group = block.network_border_group().unwrap_or(region);
                is_amazon && group == network_border_group.unwrap_or(region)
            }
            Source::Pool { cidr_block, netmask_length, .. } => {
                let Some(range) = block.ipv6_cidr_block().and_then(ipv6_range) else { return false };
                !is_amazon
                    && cidr_block.is_none_or(|wanted| ipv6_range(wanted) == Some(range))
                    && netmask_length.is_none_or(|length| length == i64::from(range.prefix_len()))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::aws::ec2::recorded::{Notes, Recorded};

    const RANGE: &str = "2600:1f18:0:ab00::/56";

    fn vpc() -> Key {
        Key::new("vpc")
    }

    fn spec(source: Ipv6Source) -> VpcIpv6Block {
        VpcIpv6Block { vpc: vpc(), source }
    }

    fn amazon(group: Option<&str>) -> VpcIpv6Block {
        spec(Ipv6Source::Amazon { network_border_group: Input::Known(group.map(str::to_string)) })
    }

    fn pool(id: Option<&str>, cidr_block: Option<&str>, netmask_length: Option<i64>) -> VpcIpv6Block {
        spec(Ipv6Source::Pool {
            pool_id: Input::Known(id.map(str::to_string)),
            cidr_block: Input::Known(cidr_block.map(str::to_string)),
            netmask_length: Input::Known(netmask_length),
        })
    }

    /// One association as AWS returns it.
    fn item(id: &str, pool: &str, range: &str, state: &str) -> String {
        format!(
            "<associationId>{id}</associationId><ipv6CidrBlock>{range}</ipv6CidrBlock><ipv6Pool>{pool}</ipv6Pool>\
             <networkBorderGroup>us-east-1</networkBorderGroup><ipv6CidrBlockState><state>{state}</state>\
             <statusMessage>no range is left</statusMessage></ipv6CidrBlockState>"
        )
    }

    fn shown(items: &[String]) -> String {
        let items: String = items.iter().map(|item| format!("<item>{item}</item>")).collect();
        format!(
            "<vpcSet><item><vpcId>vpc-1</vpcId><ipv6CidrBlockAssociationSet>{items}</ipv6CidrBlockAssociationSet>\
             </item></vpcSet>"
        )
    }

    fn association(item: &str) -> String {
        format!("<ipv6CidrBlockAssociation>{item}</ipv6CidrBlockAssociation><vpcId>vpc-1</vpcId>")
    }

    async fn create_on(aws: &Recorded, notes: &Notes, spec: &VpcIpv6Block) -> Result<(), Failure> {
        let key = crate::model::keys::network::ipv6_cidr_block(&spec.source);
        notes.run(&aws.session(), &key, &[(&vpc(), "vpc-1")], async |operation| create(operation, spec).await).await
    }

    async fn delete_on(aws: &Recorded, limit: Duration) -> Result<(), Failure> {
        let key = Key::new("ipv6_cidr_block");
        let entry = Entry::new(key.clone(), "assoc-1", Spec::VpcIpv6Block(amazon(None)));
        let ids = [(&vpc(), "vpc-1")];
        let notes = Notes::default();
        notes.run_for(&aws.session(), &key, &ids, limit, async |operation| delete(operation, &entry).await).await
    }

    #[tokio::test(start_paused = true)]
    async fn a_new_range_passes_interim_states_and_is_canonical() {
        let mut aws = Recorded::default()
            .on("DescribeVpcs", &shown(&[]))
            .on("AssociateVpcCidrBlock", &association(&item("assoc-1", AMAZON, "", "associating")));
        for state in ["associating", "disassociated", "failing", "associated"] {
            let old = item("assoc-0", AMAZON, "2600:1f18:0:1100::/56", "disassociated");
            aws = aws.on("DescribeVpcs", &shown(&[old, item("assoc-1", AMAZON, "2600:1F18:0:AB00:0::/56", state)]));
        }
        let notes = Notes::default();
        create_on(&aws, &notes, &amazon(None)).await.unwrap();
        assert_eq!(notes.ids(), ["assoc-1"]);
        assert_eq!(notes.learned.lock().unwrap()["ipv6_cidr_block"], RANGE);
        let calls = aws.calls("AssociateVpcCidrBlock");
        assert_eq!((calls.len(), calls[0]["AmazonProvidedIpv6CidrBlock"].as_str()), (1, "true"));
        assert!(!calls[0].contains_key("Ipv6CidrBlockNetworkBorderGroup"), "{calls:?}");
        assert_eq!(aws.calls("DescribeVpcs").len(), 5);
    }

    #[tokio::test(start_paused = true)]
    async fn a_failed_range_reports_its_reason_and_is_recorded() {
        let aws = Recorded::default()
            .on("DescribeVpcs", &shown(&[]))
            .on("AssociateVpcCidrBlock", &association(&item("assoc-1", AMAZON, "", "associating")))
            .on("DescribeVpcs", &shown(&[item("assoc-1", AMAZON, "", "failed")]));
        let notes = Notes::default();
        let failure = create_on(&aws, &notes, &amazon(None)).await.unwrap_err();
        assert!(failure.message.contains("no range is left"), "{}", failure.message);
        assert_eq!(notes.ids(), ["assoc-1"]);
    }

    #[tokio::test(start_paused = true)]
    async fn a_pool_range_is_requested_until_the_account_is_monitored() {
        let text = "The account 123456789012 is not monitored by IPAM";
        for (wanted, parameter, value) in [
            (pool(Some("ipam-pool-1"), None, Some(52)), "Ipv6NetmaskLength", "52"),
            (pool(Some("ipam-pool-1"), Some(RANGE), None), "Ipv6CidrBlock", RANGE),
        ] {
            let aws = Recorded::default()
                .on("DescribeVpcs", &shown(&[]))
                .fail("AssociateVpcCidrBlock", 400, "UnsupportedOperation", text)
                .on("AssociateVpcCidrBlock", &association(&item("assoc-1", "IPAM Managed", "", "associating")))
                .on("DescribeVpcs", &shown(&[item("assoc-1", "IPAM Managed", RANGE, "associated")]));
            create_on(&aws, &Notes::default(), &wanted).await.unwrap();
            let calls = aws.calls("AssociateVpcCidrBlock");
            assert_eq!(calls.len(), 2);
            assert_eq!((calls[1]["Ipv6IpamPoolId"].as_str(), calls[1][parameter].as_str()), ("ipam-pool-1", value));
            assert!(!calls[1].contains_key("AmazonProvidedIpv6CidrBlock"), "{calls:?}");
        }
    }

    #[tokio::test(start_paused = true)]
    async fn a_range_of_an_unknown_pool_is_not_requested() {
        let aws = Recorded::default().on("DescribeVpcs", &shown(&[]));
        let failure = create_on(&aws, &Notes::default(), &pool(None, None, None)).await.unwrap_err();
        assert!(failure.message.contains("ipv6_ipam_pool_id"), "{}", failure.message);
        assert_eq!(aws.actions(), ["DescribeVpcs"]);
    }

    #[tokio::test(start_paused = true)]
    async fn only_a_matching_range_of_a_killed_run_is_adopted() {
        let leftover = |pool: &str| shown(&[item("assoc-7", pool, RANGE, "associated")]);
        let known = || Notes { known: vec!["assoc-7"], ..Notes::default() };
        for (wanted, pool_shown, notes, adopted) in [
            (amazon(None), AMAZON, Notes::default(), true),
            (amazon(Some("us-east-1")), AMAZON, Notes::default(), true),
            (amazon(Some("us-east-1-bos-1")), AMAZON, Notes::default(), false),
            (amazon(None), AMAZON, known(), false),
            (amazon(None), "IPAM Managed", Notes::default(), false),
            (pool(Some("ipam-pool-1"), None, Some(56)), "IPAM Managed", Notes::default(), true),
            (pool(Some("ipam-pool-1"), Some("2600:1f18:0:AB00::/56"), None), "IPAM Managed", Notes::default(), true),
            (pool(Some("ipam-pool-1"), None, Some(52)), "IPAM Managed", Notes::default(), false),
            (pool(Some("ipam-pool-1"), Some("2600:1f18:0:ac00::/56"), None), "IPAM Managed", Notes::default(), false),
            (pool(Some("ipam-pool-1"), None, None), "IPAM Managed", known(), false),
            (pool(Some("ipam-pool-1"), None, None), AMAZON, Notes::default(), false),
        ] {
            let new = item("assoc-8", "any", RANGE, "associated");
            let aws = Recorded::default()
                .on("DescribeVpcs", &leftover(pool_shown))
                .on("AssociateVpcCidrBlock", &association(&new))
                .on("DescribeVpcs", &shown(&[item("assoc-7", pool_shown, RANGE, "associated"), new]));
            create_on(&aws, &notes, &wanted).await.unwrap();
            let expected = if adopted { "assoc-7" } else { "assoc-8" };
            assert_eq!(notes.ids(), [expected], "{wanted:?} with an existing range of {pool_shown}");
            assert_eq!(aws.calls("AssociateVpcCidrBlock").is_empty(), adopted, "{wanted:?}");
        }
    }

    #[tokio::test(start_paused = true)]
    async fn after_a_lost_answer_the_new_range_is_adopted() {
        let before = item("assoc-7", AMAZON, "2600:1f18:0:1100::/56", "associated");
        let aws = Recorded::default()
            .on("DescribeVpcs", &shown(std::slice::from_ref(&before)))
            .fail("AssociateVpcCidrBlock", 500, "InternalError", "An internal error")
            .on("DescribeVpcs", &shown(&[before, item("assoc-8", AMAZON, RANGE, "associated")]));
        let notes = Notes { known: vec!["assoc-7"], ..Notes::default() };
        create_on(&aws, &notes, &amazon(None)).await.unwrap();
        assert_eq!((notes.ids(), aws.calls("AssociateVpcCidrBlock").len()), (vec!["assoc-8".to_string()], 1));
    }

    #[tokio::test(start_paused = true)]
    async fn update_only_waits_for_an_incomplete_creation() {
        let aws = Recorded::default()
            .on("DescribeVpcs", &shown(&[item("assoc-1", "IPAM Managed", RANGE, "associating")]))
            .on("DescribeVpcs", &shown(&[item("assoc-1", "IPAM Managed", RANGE, "associated")]));
        let (key, to) = (Key::new("ipv6_cidr_block"), pool(Some("ipam-pool-1"), None, None));
        let found = pool(None, None, None);
        for (from, calls) in [(Some(&found), 0), (None, 2)] {
            let (notes, session, vpc) = (Notes::default(), aws.session(), vpc());
            let ids = [(&vpc, "vpc-1")];
            let updated =
                notes.run(&session, &key, &ids, async |operation| update(operation, "assoc-1", from, &to).await);
            updated.await.unwrap();
            assert_eq!(aws.actions().len(), calls);
            assert_eq!(notes.learned.lock().unwrap().contains_key("ipv6_cidr_block"), from.is_none());
        }
    }

    #[tokio::test(start_paused = true)]
    async fn delete_retries_until_no_subnet_uses_the_range() {
        let text = "The vpc vpc-1 currently has a subnet within CIDR block 2600:1f18:0:ab00::/56";
        let aws = Recorded::default()
            .fail("DisassociateVpcCidrBlock", 400, "InvalidCidrBlock.InUse", text)
            .on("DisassociateVpcCidrBlock", &association(&item("assoc-1", AMAZON, RANGE, "disassociating")))
            .on("DescribeVpcs", &shown(&[item("assoc-1", AMAZON, RANGE, "disassociating")]))
            .on("DescribeVpcs", &shown(&[item("assoc-1", AMAZON, RANGE, "disassociated")]));
        delete_on(&aws, Duration::from_secs(20)).await.unwrap();
        let [describe, disassociate] = ["DescribeVpcs", "DisassociateVpcCidrBlock"];
        assert_eq!(aws.actions(), [disassociate, disassociate, describe, describe]);
        assert_eq!(aws.calls(disassociate)[0]["AssociationId"], "assoc-1");
    }

    #[tokio::test(start_paused = true)]
    async fn a_used_range_is_in_use_and_a_missing_one_is_deleted() {
        let text = "The vpc vpc-1 currently has a subnet within CIDR block 2600:1f18:0:ab00::/56";
        let aws = Recorded::default().fail("DisassociateVpcCidrBlock", 400, "InvalidCidrBlock.InUse", text);
        let failure = delete_on(&aws, Duration::from_secs(60)).await.unwrap_err();
        assert_eq!(failure.cause, Cause::InUse);
        assert_eq!(failure.message, format!("{text}; gave up after 60 s"));
        let code = "InvalidVpcCidrBlockAssociationIdError.NotFound";
        let aws = Recorded::default()
            .fail("DisassociateVpcCidrBlock", 400, code, "does not exist")
            .on("DescribeVpcs", "<vpcSet/>");
        delete_on(&aws, Duration::from_secs(20)).await.unwrap();
    }
}
