use super::*;
use crate::aws::ec2::recorded::{Notes, OWNER, Recorded, VPC};

const CREATED: &str = "<egressOnlyInternetGateway><egressOnlyInternetGatewayId>eigw-1</egressOnlyInternetGatewayId>\
                       </egressOnlyInternetGateway>";
const NONE: &str = "<egressOnlyInternetGatewaySet/>";
const DESCRIBE: &str = "DescribeEgressOnlyInternetGateways";

/// An answer with one gateway.
fn listed(id: &str, vpc: &str, resource: &str) -> String {
    format!(
        "<egressOnlyInternetGatewaySet><item><egressOnlyInternetGatewayId>{id}</egressOnlyInternetGatewayId>\
         <attachmentSet><item><state>attached</state><vpcId>{vpc}</vpcId></item></attachmentSet><tagSet>\
         <item><key>fgw:resource</key><value>four_tier_vpc/{resource}</value></item><item><key>fgw:object</key>\
         <value>egress_only_internet_gateway</value></item></tagSet></item></egressOnlyInternetGatewaySet>"
    )
}

fn entry() -> Entry {
    let spec = EgressOnlyInternetGateway::test();
    Entry::new(keys::egress_only_internet_gateway(), "eigw-1", spec.into())
}

async fn created(aws: &Recorded, notes: &Notes) -> Result<(), Failure> {
    let spec = EgressOnlyInternetGateway::test();
    let ids = [(&spec.vpc, VPC)];
    notes.run(&aws.session(), &entry().key, &ids, async |operation| create(operation, &spec).await).await
}

#[tokio::test(start_paused = true)]
async fn a_create_ends_when_aws_lists_the_gateway() {
    let aws = Recorded::default()
        .on("CreateEgressOnlyInternetGateway", CREATED)
        .fail(DESCRIBE, 400, "InvalidGatewayID.NotFound", "The gateway ID 'eigw-1' does not exist")
        .on(DESCRIBE, NONE)
        .on(DESCRIBE, &listed("eigw-1", VPC, VPC));
    let notes = Notes::default();
    created(&aws, &notes).await.unwrap();
    assert_eq!(notes.ids(), ["eigw-1"]);
    assert_eq!(aws.calls(DESCRIBE).len(), 3);
    let call = &aws.calls("CreateEgressOnlyInternetGateway")[0];
    assert!(call["VpcId"] == VPC && !call["ClientToken"].is_empty(), "{call:?}");
}

#[tokio::test(start_paused = true)]
async fn a_second_gateway_of_a_vpc_is_refused_with_the_first() {
    let refused = || {
        let code = "EgressOnlyInternetGatewayLimitExceeded";
        Recorded::default().fail("CreateEgressOnlyInternetGateway", 400, code, "The maximum number has been reached.")
    };
    let notes = Notes::default();
    let failure = created(&refused().on(DESCRIBE, &listed("eigw-9", VPC, "other")), &notes).await.unwrap_err();
    for part in ["maximum number", "eigw-9", "adopt", "create_egress_only_igw"] {
        assert!(failure.message.contains(part), "{part}: {failure:?}");
    }
    // The quota of the Region.
    let failure = created(&refused().on(DESCRIBE, &listed("eigw-9", "vpc-2", "other")), &notes).await.unwrap_err();
    assert!(!failure.message.contains("eigw-9"), "{failure:?}");
    assert!(notes.ids().is_empty());
}

/// The IDs that a read lists, and the number of its calls. `answers` are those of the calls in their order.
async fn listed_with(entries: &[Entry], is_import: bool, answers: &[&str]) -> (Vec<String>, usize) {
    let aws = answers.iter().fold(Recorded::default(), |aws, answer| aws.on(DESCRIBE, answer));
    let session = aws.session();
    let other = Entry::new(Key::new("vpc"), VPC, Spec::Vpc(crate::model::Vpc::test()));
    let mut known: HashMap<&str, &Entry> = entries.iter().map(|entry| (entry.id.as_str(), entry)).collect();
    if !is_import {
        known.insert(VPC, &other);
    }
    let network =
        Network { session: &session, owner: OWNER, root_id: VPC, known: &known, slots: None, consented: None };
    let found = list(network).await.unwrap();
    let ids = found.iter().filter_map(Listed::id).map(str::to_string).collect();
    (ids, aws.actions().len())
}

#[tokio::test(start_paused = true)]
async fn only_a_network_that_has_or_may_have_one_is_asked() {
    let (ours, theirs) = (listed("eigw-1", VPC, VPC), listed("eigw-1", VPC, "other"));
    let one = || vec!["eigw-1".to_string()];
    assert_eq!(listed_with(&[], false, &[]).await, (vec![], 0));
    assert_eq!(listed_with(&[entry()], false, &[&ours]).await, (one(), 1), "by its tag");
    assert_eq!(listed_with(&[entry()], false, &[NONE, &theirs]).await, (one(), 2), "it has lost its tags");
    assert_eq!(listed_with(&[entry()], false, &[NONE, NONE]).await, (vec![], 2), "it was deleted");
    assert_eq!(listed_with(&[], true, &[&theirs]).await, (one(), 1));
    assert_eq!(listed_with(&[], true, &[&listed("eigw-1", "vpc-2", "other")]).await, (vec![], 1));
}

#[tokio::test(start_paused = true)]
async fn a_leftover_is_found_and_a_foreign_gateway_is_none() {
    let wanted = Object::new(entry().key, entry().applied);
    let found = async |answer: &str, objects: &[&Object]| {
        let aws = Recorded::default().on(DESCRIBE, answer);
        let found = leftovers(&aws.session(), OWNER, VPC, objects).await;
        (found, aws.actions().len())
    };
    let (ours, _) = found(&listed("eigw-1", VPC, VPC), &[&wanted]).await;
    assert_eq!(ours.unwrap().into_iter().map(|it| it.id).collect::<Vec<_>>(), ["eigw-1"]);
    let (foreign, _) = found(&listed("eigw-9", VPC, "other"), &[&wanted]).await;
    assert_eq!(foreign.unwrap().len(), 0);
    let (none, _) = found(NONE, &[&wanted]).await;
    assert_eq!(none.unwrap().len(), 0);
    assert_eq!(found(NONE, &[]).await.1, 0, "nothing is created");
}

#[tokio::test(start_paused = true)]
async fn a_missing_gateway_counts_as_deleted() {
    let deleted = async |code: &str, message: &str, answer: &str| {
        let aws = Recorded::default().fail("DeleteEgressOnlyInternetGateway", 400, code, message).on(DESCRIBE, answer);
        let (vpc, entry) = (Key::new("vpc"), entry());
        let ids = [(&vpc, VPC)];
        Notes::default().run(&aws.session(), &entry.key, &ids, async |operation| delete(operation, &entry).await).await
    };
    let here = listed("eigw-1", VPC, VPC);
    deleted("InvalidGatewayID.NotFound", "The gateway ID 'eigw-1' does not exist", &here).await.unwrap();
    let other = deleted("InvalidGatewayID.NotFound", "The gateway ID 'eigw-2' does not exist", &here).await;
    assert!(other.is_err(), "the gateway itself still exists");
    deleted("InvalidVpcID.NotFound", "The vpc ID 'vpc-1' does not exist", NONE).await.unwrap();
}
