//! Secondary IPv4 ranges, which have no tags.

use std::collections::BTreeMap;

use super::*;
use crate::model::{OccupiedAddresses, VpcCidrBlock};

/// The VPC with its primary range, one that was disassociated, and two others.
fn aws(answers: &[(&str, &str)]) -> Recorded {
    let item = |(id, range, state): (&str, &str, &str)| {
        format!(
            "<item><associationId>{id}</associationId><cidrBlock>{range}</cidrBlock><cidrBlockState><state>{state}\
             </state></cidrBlockState></item>"
        )
    };
    let items = [
        ("assoc-0", "10.0.0.0/16", "associated"),
        ("assoc-1", "100.64.0.0/16", "associating"),
        ("assoc-2", "100.65.0.0/16", "associated"),
        ("assoc-3", "100.66.0.0/16", "disassociated"),
    ];
    let items: String = items.into_iter().map(item).collect();
    network_with(&format!("<cidrBlockAssociationSet>{items}</cidrBlockAssociationSet>"), answers)
}

fn known(id: &str) -> Vec<Entry> {
    let range = VpcCidrBlock::test();
    let vpc = Entry::new(Key::new("vpc"), "vpc-1", Spec::Vpc(crate::model::Vpc::test()));
    vec![vpc, Entry::new(keys::cidr_block(&range.cidr_block), id, Spec::VpcCidrBlock(range))]
}

fn ids(objects: &[Observed]) -> Vec<(&str, &str)> {
    let ranges = objects.iter().filter(|it| matches!(it.spec, Spec::VpcCidrBlock(_)));
    ranges.map(|it| (it.key.slot.as_str(), it.id.as_str())).collect()
}

const BOTH: [(&str, &str); 2] = [("cidr_block.100.64.0.0/16", "assoc-1"), ("cidr_block.100.65.0.0/16", "assoc-2")];

#[tokio::test(start_paused = true)]
async fn an_import_finds_all_secondary_ranges() {
    assert_eq!(ids(&objects(&aws(&[]), &[]).await), BOTH);
}

#[tokio::test(start_paused = true)]
async fn only_ranges_in_state_are_managed_whatever_their_ids() {
    // Without a slot, the second one would be created again.
    for id in ["assoc-1", "assoc-of-an-earlier-time"] {
        let aws = aws(&[]);
        let seen = read(&aws.session(), OWNER, "vpc-1", Known::entries(&known(id))).await.unwrap().unwrap();
        assert_eq!(ids(&seen.objects), BOTH[..1]);
        let [left] = seen.unmanaged.as_slice() else { panic!("{:?}", seen.unmanaged) };
        assert_eq!((left.id.as_str(), left.is_tagged), ("assoc-2", false));
        assert!(left.reason.contains("100.65.0.0/16"), "{}", left.reason);
        assert!(seen.incomplete.contains("assoc-1"), "it is associating: {:?}", seen.incomplete);
        let learned: OccupiedAddresses =
            serde_json::from_str(&at(&seen.objects, "vpc").learned[OccupiedAddresses::LEARNED]).unwrap();
        let ranges: Vec<String> = learned.ranges.keys().map(ToString::to_string).collect();
        assert_eq!(ranges, ["100.65.0.0/16"]);
    }
    let slots: BTreeMap<String, String> = [("assoc-2".to_string(), BOTH[1].0.to_string())].into();
    let by_state = Known { slots: Some(&slots), ..Known::default() };
    let seen = read(&aws(&[]).session(), OWNER, "vpc-1", by_state).await.unwrap().unwrap();
    assert_eq!(ids(&seen.objects), BOTH[1..]);
}

#[tokio::test(start_paused = true)]
async fn a_subnet_refers_to_the_range_around_it() {
    let item = |id: &str, slot: &str, block: &str| subnet_item(id, &below(slot), block);
    let subnets = format!(
        "<subnetSet>{}{}</subnetSet>",
        item("subnet-1", "subnet.private_app.0", "100.64.8.0/21"),
        item("subnet-2", "subnet.private_app.1", "10.0.8.0/21")
    );
    let objects = objects(&aws(&[("DescribeSubnets", &subnets)]), &[]).await;
    let range = |slot: &str| crate::model::Subnet::of(&at(&objects, slot).spec).unwrap().secondary_range.clone();
    assert_eq!(range("subnet.private_app.0"), Some(keys::cidr_block("100.64.0.0/16")));
    assert_eq!(range("subnet.private_app.1"), None);
}

/// Local routes, default routes, and routes that AWS propagates or creates for endpoints do not count.
#[tokio::test(start_paused = true)]
async fn the_destinations_of_unmanaged_routes_are_learned() {
    let route = |destination: &str, rest: &str| {
        format!("<item><destinationCidrBlock>{destination}</destinationCidrBlock>{rest}</item>")
    };
    let routes: String = [
        route("10.0.0.0/16", "<gatewayId>local</gatewayId>"),
        route("100.64.0.0/16", "<gatewayId>local</gatewayId><origin>CreateRouteTable</origin>"),
        route("0.0.0.0/0", "<natGatewayId>nat-1</natGatewayId>"),
        route("172.20.0.0/16", "<gatewayId>vgw-1</gatewayId><origin>EnableVgwRoutePropagation</origin>"),
        route("100.66.7.0/24", "<transitGatewayId>tgw-1</transitGatewayId><origin>CreateRoute</origin>"),
    ]
    .concat();
    let tables = format!(
        "<routeTableSet><item><routeTableId>rtb-7</routeTableId><routeSet>{routes}</routeSet></item></routeTableSet>"
    );
    let objects = objects(&aws(&[("DescribeRouteTables", &tables)]), &[]).await;
    let learned = &at(&objects, "vpc").learned[OccupiedAddresses::LEARNED];
    assert_eq!(learned, r#"{"ranges":{},"routes":{"100.66.7.0/24":"rtb-7"}}"#);
}
