use super::*;
use crate::aws::ec2::recorded::{Notes, Recorded};
use crate::model::{Key, Unfinished};

const RANGE: &str = "100.64.0.0/16";

/// An association as AWS returns it.
fn item(id: &str, range: &str, state: &str) -> String {
    format!(
        "<associationId>{id}</associationId><cidrBlock>{range}</cidrBlock><cidrBlockState><state>{state}</state>\
         <statusMessage>it conflicts with a peered VPC</statusMessage></cidrBlockState>"
    )
}

/// The VPC with its primary range and these associations.
fn shown(items: &[String]) -> String {
    let primary = item("assoc-0", "10.0.0.0/16", "associated");
    let items: String = [primary].iter().chain(items).map(|item| format!("<item>{item}</item>")).collect();
    format!(
        "<vpcSet><item><vpcId>vpc-1</vpcId><cidrBlock>10.0.0.0/16</cidrBlock><cidrBlockAssociationSet>{items}\
         </cidrBlockAssociationSet></item></vpcSet>"
    )
}

fn answer() -> String {
    let item = item("assoc-1", RANGE, "associating");
    format!("<cidrBlockAssociation>{item}</cidrBlockAssociation><vpcId>vpc-1</vpcId>")
}

async fn create_on(aws: &Recorded, notes: &Notes) -> Result<(), Failure> {
    let (key, spec, vpc) = (keys::cidr_block(RANGE), VpcCidrBlock::test(), Key::new("vpc"));
    notes.run(&aws.session(), &key, &[(&vpc, "vpc-1")], async |operation| create(operation, &spec).await).await
}

async fn delete_on(aws: &Recorded) -> Result<(), Failure> {
    let (key, vpc) = (keys::cidr_block(RANGE), Key::new("vpc"));
    let entry = Entry::new(key.clone(), "assoc-1", Spec::VpcCidrBlock(VpcCidrBlock::test()));
    let notes = Notes::default();
    notes.run(&aws.session(), &key, &[(&vpc, "vpc-1")], async |operation| delete(operation, &entry).await).await
}

#[tokio::test(start_paused = true)]
async fn a_range_is_ready_when_it_is_associated() {
    let old = || item("assoc-9", RANGE, "disassociated");
    let mut aws = Recorded::default().on("DescribeVpcs", &shown(&[old()])).on("AssociateVpcCidrBlock", &answer());
    aws = aws.on("DescribeVpcs", &shown(&[old()]));
    for state in ["associating", "associated"] {
        aws = aws.on("DescribeVpcs", &shown(&[old(), item("assoc-1", RANGE, state)]));
    }
    let notes = Notes::default();
    create_on(&aws, &notes).await.unwrap();
    assert_eq!(notes.ids(), ["assoc-1"]);
    let calls = aws.calls("AssociateVpcCidrBlock");
    assert_eq!((calls.len(), calls[0]["VpcId"].as_str(), calls[0]["CidrBlock"].as_str()), (1, "vpc-1", RANGE));
    assert_eq!(aws.calls("DescribeVpcs").len(), 4);
}

#[tokio::test(start_paused = true)]
async fn a_failed_range_is_recorded_and_reports_the_status_message() {
    let aws = Recorded::default()
        .on("DescribeVpcs", &shown(&[]))
        .on("AssociateVpcCidrBlock", &answer())
        .on("DescribeVpcs", &shown(&[item("assoc-1", RANGE, "failed")]));
    let notes = Notes::default();
    let failure = create_on(&aws, &notes).await.unwrap_err();
    assert_eq!(failure.cause, Cause::Other);
    assert!(failure.message.ends_with("with the VPC: it conflicts with a peered VPC"), "{}", failure.message);
    assert_eq!(notes.ids(), ["assoc-1"]);
}

#[tokio::test(start_paused = true)]
async fn an_existing_association_of_the_range_is_taken_over() {
    let aws = Recorded::default().on("DescribeVpcs", &shown(&[item("assoc-5", RANGE, "associated")]));
    let notes = Notes::default();
    create_on(&aws, &notes).await.unwrap();
    assert_eq!(notes.ids(), ["assoc-5"]);
    assert_eq!(aws.calls("AssociateVpcCidrBlock").len(), 0);
}

#[tokio::test(start_paused = true)]
async fn a_range_that_is_disassociating_is_waited_for() {
    let mut aws = Recorded::default();
    for state in ["disassociating", "disassociated"] {
        aws = aws.on("DescribeVpcs", &shown(&[item("assoc-5", RANGE, state)]));
    }
    let aws =
        aws.on("AssociateVpcCidrBlock", &answer()).on("DescribeVpcs", &shown(&[item("assoc-1", RANGE, "associated")]));
    create_on(&aws, &Notes::default()).await.unwrap();
    assert_eq!(aws.actions()[..3], ["DescribeVpcs", "DescribeVpcs", "AssociateVpcCidrBlock"]);
}

#[tokio::test(start_paused = true)]
async fn a_lost_answer_associates_no_range_twice() {
    let aws = Recorded::default()
        .on("DescribeVpcs", &shown(&[]))
        .fail("AssociateVpcCidrBlock", 500, "InternalError", "try again")
        .on("DescribeVpcs", &shown(&[item("assoc-1", RANGE, "associating")]))
        .on("DescribeVpcs", &shown(&[item("assoc-1", RANGE, "associated")]));
    let notes = Notes::default();
    create_on(&aws, &notes).await.unwrap();
    assert_eq!((notes.ids(), aws.calls("AssociateVpcCidrBlock").len()), (vec!["assoc-1".to_string()], 1));
}

#[tokio::test(start_paused = true)]
async fn a_rejected_range_is_not_sent_again() {
    let text = "The CIDR '172.16.0.0/16' is restricted.";
    let aws = Recorded::default().on("DescribeVpcs", &shown(&[])).fail(
        "AssociateVpcCidrBlock",
        400,
        "InvalidVpc.Range",
        text,
    );
    let failure = create_on(&aws, &Notes::default()).await.unwrap_err();
    assert_eq!((failure.code.as_deref(), failure.message.as_str()), (Some("InvalidVpc.Range"), text));
    assert_eq!(aws.calls("AssociateVpcCidrBlock").len(), 1);
}

#[tokio::test(start_paused = true)]
async fn an_interrupted_create_is_waited_for() {
    let mut aws = Recorded::default();
    for state in ["associating", "associated"] {
        aws = aws.on("DescribeVpcs", &shown(&[item("assoc-1", RANGE, state)]));
    }
    let (key, spec, vpc) = (keys::cidr_block(RANGE), VpcCidrBlock::test(), Key::new("vpc"));
    let update = async |operation: &Operation<'_>| update(operation, "assoc-1", &spec, &spec).await;
    let notes = Notes { unfinished: Some(Unfinished::Create), ..Notes::default() };
    notes.run(&aws.session(), &key, &[(&vpc, "vpc-1")], update).await.unwrap();
    assert_eq!(aws.calls("DescribeVpcs").len(), 2);
}

#[tokio::test(start_paused = true)]
async fn a_deletion_waits_for_the_subnets_and_for_its_end() {
    let in_use = "The vpc vpc-1 currently has a subnet within CIDR block 100.64.0.0/16";
    let mut aws = Recorded::default()
        .fail("DisassociateVpcCidrBlock", 400, "InvalidCidrBlock.InUse", in_use)
        .on("DisassociateVpcCidrBlock", "");
    for state in ["disassociating", "disassociated"] {
        aws = aws.on("DescribeVpcs", &shown(&[item("assoc-1", RANGE, state)]));
    }
    delete_on(&aws).await.unwrap();
    assert_eq!(aws.calls("DisassociateVpcCidrBlock").len(), 2);
    assert_eq!(aws.calls("DescribeVpcs").len(), 2);
}

#[tokio::test(start_paused = true)]
async fn only_the_code_of_a_range_reports_it_as_missing() {
    let missing = "The vpc CIDR block association ID 'assoc-1' does not exist";
    let aws = Recorded::default()
        .fail("DisassociateVpcCidrBlock", 400, "InvalidVpcCidrBlockAssociationID.NotFound", missing)
        .on("DescribeVpcs", &shown(&[]));
    delete_on(&aws).await.unwrap();
    let aws = Recorded::default()
        .fail("DisassociateVpcCidrBlock", 400, "InvalidRoute.NotFound", "no route")
        .on("DescribeVpcs", &shown(&[item("assoc-1", RANGE, "associated")]));
    assert_eq!(delete_on(&aws).await.unwrap_err().cause, Cause::NotDeleted);
}
