use std::time::Duration;

use super::*;
use crate::aws::ec2::recorded::{Notes, Recorded};
use crate::model::Unfinished;

const RANGE: &str = "2600:1f18:0:ab00::/56";

fn vpc() -> Key {
    Key::new("vpc")
}

fn spec(source: Ipv6Source) -> VpcIpv6Block {
    VpcIpv6Block { source, ..VpcIpv6Block::test() }
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
        (pool(Some("ipam-pool-1"), None, None), "ipv6pool-ec2-0123456789abcdef0", Notes::default(), false),
        (amazon(None), "ipv6pool-ec2-0123456789abcdef0", Notes::default(), false),
    ] {
        let new = item("assoc-8", "any", RANGE, "associated");
        let aws = Recorded::default()
            .on("DescribeVpcs", &leftover(pool_shown))
            .on("DescribeSubnets", "<subnetSet/>")
            .on("AssociateVpcCidrBlock", &association(&new))
            .on("DescribeVpcs", &shown(&[item("assoc-7", pool_shown, RANGE, "associated"), new]));
        create_on(&aws, &notes, &wanted).await.unwrap();
        let expected = if adopted { "assoc-7" } else { "assoc-8" };
        assert_eq!(notes.ids(), [expected], "{wanted:?} with an existing range of {pool_shown}");
        assert_eq!(aws.calls("AssociateVpcCidrBlock").is_empty(), adopted, "{wanted:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_range_is_not_adopted_if_others_use_it_or_if_there_are_two() {
    let other = "2600:1f18:0:1100::/56";
    let subnets = "<subnetSet><item><subnetId>subnet-9</subnetId><ipv6CidrBlockAssociationSet><item><ipv6CidrBlock>\
                   2600:1f18:0:ab07::/64</ipv6CidrBlock><ipv6CidrBlockState><state>associated</state>\
                   </ipv6CidrBlockState></item></ipv6CidrBlockAssociationSet></item></subnetSet>";
    let used = [item("assoc-7", AMAZON, RANGE, "associated")];
    let two = ["assoc-6", "assoc-7"].map(|id| item(id, AMAZON, other, "associated"));
    for (before, subnets) in [(used.as_slice(), subnets), (&two, "<subnetSet/>")] {
        let new = item("assoc-8", AMAZON, RANGE, "associated");
        let aws = Recorded::default()
            .on("DescribeVpcs", &shown(before))
            .on("DescribeSubnets", subnets)
            .on("AssociateVpcCidrBlock", &association(&new))
            .on("DescribeVpcs", &shown(&[before, &[new]].concat()));
        let notes = Notes::default();
        create_on(&aws, &notes, &amazon(None)).await.unwrap();
        assert_eq!(notes.ids(), ["assoc-8"]);
    }
    let own = Recorded::default().on("DescribeVpcs", &shown(&used)).on("DescribeSubnets", subnets);
    let notes = Notes { known: vec!["subnet-9"], ..Notes::default() };
    create_on(&own, &notes, &amazon(None)).await.unwrap();
    assert_eq!(notes.ids(), ["assoc-7"], "a managed subnet may use it");
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
async fn an_empty_range_of_a_lost_answer_is_adopted() {
    let associating = |pool: &str| shown(&[item("assoc-8", pool, "", "associating")]);
    for (wanted, pool_shown) in [(amazon(None), AMAZON), (pool(Some("ipam-pool-1"), None, Some(56)), "IPAM Managed")] {
        let mut aws = Recorded::default().on("DescribeVpcs", &shown(&[])).fail(
            "AssociateVpcCidrBlock",
            500,
            "InternalError",
            "An internal error",
        );
        // More polls than the search for a lost range makes before the call is sent again.
        for _ in 0..17 {
            aws = aws.on("DescribeVpcs", &associating(pool_shown));
        }
        let aws = aws.on("DescribeVpcs", &shown(&[item("assoc-8", pool_shown, RANGE, "associated")]));
        let notes = Notes::default();
        create_on(&aws, &notes, &wanted).await.unwrap();
        assert_eq!((notes.ids(), aws.calls("AssociateVpcCidrBlock").len()), (vec!["assoc-8".to_string()], 1));
        assert_eq!(notes.learned.lock().unwrap()["ipv6_cidr_block"], RANGE);
    }
}

#[tokio::test(start_paused = true)]
async fn an_empty_range_of_a_killed_run_is_judged_when_it_is_known() {
    for (requested, adopted) in [(RANGE, true), ("2600:1f18:0:ac00::/56", false)] {
        let new = item("assoc-8", "IPAM Managed", requested, "associated");
        let old = item("assoc-7", "IPAM Managed", RANGE, "associated");
        let aws = Recorded::default()
            .on("DescribeVpcs", &shown(&[item("assoc-7", "IPAM Managed", "", "associating")]))
            .on("DescribeVpcs", &shown(std::slice::from_ref(&old)))
            .on("DescribeSubnets", "<subnetSet/>")
            .on("AssociateVpcCidrBlock", &association(&new))
            .on("DescribeVpcs", &shown(&[old, new]));
        let notes = Notes::default();
        create_on(&aws, &notes, &pool(Some("ipam-pool-1"), Some(requested), None)).await.unwrap();
        assert_eq!(notes.ids(), [if adopted { "assoc-7" } else { "assoc-8" }]);
        assert_eq!(aws.calls("AssociateVpcCidrBlock").is_empty(), adopted);
    }
}

fn allocations(items: &[(&str, &str)]) -> String {
    let item = |(range, vpc): &(&str, &str)| {
        format!("<item><cidr>{range}</cidr><resourceId>{vpc}</resourceId><resourceType>vpc</resourceType></item>")
    };
    format!("<ipamPoolAllocationSet>{}</ipamPoolAllocationSet>", items.iter().map(item).collect::<String>())
}

#[tokio::test(start_paused = true)]
async fn delete_waits_until_the_pool_releases_the_range() {
    let others = [("2600:1f18:0:cd00::/56", "vpc-1"), (RANGE, "vpc-2")];
    let with_range = [&others[..], &[(RANGE, "vpc-1")]].concat();
    let key = Key::new("ipv6_cidr_block");
    let vpc = vpc();
    // With the VPC, AWS deletes its ranges too.
    for (ids, disassociated) in [(vec![(&vpc, "vpc-1")], 1), (vec![], 0)] {
        let aws = Recorded::default()
            .on("DisassociateVpcCidrBlock", &association(&item("assoc-1", "IPAM Managed", RANGE, "disassociating")))
            .on("DescribeVpcs", &shown(&[]))
            .on("GetIpamPoolAllocations", &allocations(&with_range))
            .on("GetIpamPoolAllocations", &allocations(&others));
        let mut entry =
            Entry::new(key.clone(), "assoc-1", Spec::VpcIpv6Block(pool(Some("ipam-pool-1"), None, Some(56))));
        entry.learned.insert("ipv6_cidr_block".to_string(), RANGE.to_string());
        let notes = Notes::default();
        notes.run(&aws.session(), &key, &ids, async |operation| delete(operation, &entry).await).await.unwrap();
        let calls = aws.calls("GetIpamPoolAllocations");
        assert_eq!((calls.len(), calls[0]["IpamPoolId"].as_str()), (2, "ipam-pool-1"));
        assert_eq!(aws.calls("DisassociateVpcCidrBlock").len(), disassociated);
    }
}

#[tokio::test(start_paused = true)]
async fn update_only_waits_for_an_incomplete_creation() {
    let aws = Recorded::default()
        .on("DescribeVpcs", &shown(&[item("assoc-1", "IPAM Managed", RANGE, "associating")]))
        .on("DescribeVpcs", &shown(&[item("assoc-1", "IPAM Managed", RANGE, "associated")]));
    let (key, to) = (Key::new("ipv6_cidr_block"), pool(Some("ipam-pool-1"), None, None));
    let found = pool(None, None, None);
    for (unfinished, calls) in [(None, 0), (Some(Unfinished::Create), 2)] {
        let is_resumed = unfinished.is_some();
        let (notes, session, vpc) = (Notes { unfinished, ..Notes::default() }, aws.session(), vpc());
        let ids = [(&vpc, "vpc-1")];
        let updated =
            notes.run(&session, &key, &ids, async |operation| update(operation, "assoc-1", &found, &to).await);
        updated.await.unwrap();
        assert_eq!(aws.actions().len(), calls);
        assert_eq!(notes.learned.lock().unwrap().attributes.contains_key("ipv6_cidr_block"), is_resumed);
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
