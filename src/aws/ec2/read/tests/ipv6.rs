//! IPv6 ranges, which have no tags.

use super::*;
use crate::model::{Ipv6Source, VpcIpv6Block};

const PART: &str = "2600:1f18:0:ab01::/64";

/// The VPC with these ranges: id, pool, range and state.
fn ranges(ranges: &[(&str, &str, &str, &str)]) -> String {
    let items: String = ranges
        .iter()
        .map(|(id, pool, range, state)| {
            format!(
                "<item><associationId>{id}</associationId><ipv6CidrBlock>{range}</ipv6CidrBlock>\
                 <ipv6Pool>{pool}</ipv6Pool><networkBorderGroup>us-east-1</networkBorderGroup>\
                 <ipv6CidrBlockState><state>{state}</state></ipv6CidrBlockState></item>"
            )
        })
        .collect();
    format!("<ipv6CidrBlockAssociationSet>{items}</ipv6CidrBlockAssociationSet>")
}

const MANAGED: (&str, &str, &str, &str) = ("assoc-1", "Amazon", "2600:1F18:0:ab00:0::/56", "associated");
const OLD: (&str, &str, &str, &str) = ("assoc-0", "Amazon", "2600:1f18:0:ab00::/56", "disassociated");
const UNMANAGED: (&str, &str, &str, &str) = ("assoc-2", "IPAM Managed", "2600:1f18:0:cd00::/56", "associated");

fn part(range: &str, state: &str) -> String {
    format!(
        "<assignIpv6AddressOnCreation>true</assignIpv6AddressOnCreation><ipv6CidrBlockAssociationSet><item>\
         <associationId>a-1</associationId><ipv6CidrBlock>{range}</ipv6CidrBlock><ipv6CidrBlockState>\
         <state>{state}</state></ipv6CidrBlockState></item></ipv6CidrBlockAssociationSet>"
    )
}

/// A managed public subnet with a range in this state, and an unmanaged subnet.
fn subnets(range: &str, state: &str) -> String {
    let managed = subnet_item("subnet-1", &(below("subnet.public.0") + &part(range, state)), "10.0.0.0/21");
    let unmanaged = tags(&[("Name", "unmanaged")]) + &part("2600:1f18:0:cd07::/64", "associated");
    format!("<subnetSet>{managed}{}</subnetSet>", subnet_item("subnet-9", &unmanaged, "10.0.240.0/24"))
}

async fn read_with(vpc: &[(&str, &str, &str, &str)], subnets: &str, known: &[Entry]) -> Vec<Observed> {
    let aws = network_with(&ranges(vpc), &[("DescribeSubnets", subnets)]);
    let objects = objects(&aws, known).await;
    let calls = (aws.calls("DescribeVpcs").len(), aws.calls("DescribeSubnets").len());
    assert_eq!(calls, (1, 1), "IPv6 needs no additional call");
    objects
}

fn block(objects: &[Observed]) -> Option<(&Observed, &Ipv6Source)> {
    objects.iter().find_map(|it| match &it.spec {
        Spec::VpcIpv6Block(VpcIpv6Block { source, .. }) => Some((it, source)),
        _ => None,
    })
}

fn subnet(objects: &[Observed]) -> &crate::model::Subnet {
    match &at(objects, "subnet.public.0").spec {
        Spec::Subnet(subnet) => subnet,
        other => panic!("{other:?} is not a subnet"),
    }
}

fn pool(id: Option<&str>) -> Ipv6Source {
    let pool_id = Input::Known(id.map(str::to_string));
    Ipv6Source::Pool { pool_id, cidr_block: Input::Known(None), netmask_length: Input::Known(None) }
}

/// An entry of state for a range of a pool with this id.
fn known(id: &str) -> Entry {
    let source = pool(Some("ipam-pool-1"));
    let key = keys::ipv6_cidr_block(&source);
    Entry::new(key, id, Spec::VpcIpv6Block(VpcIpv6Block { source, ..VpcIpv6Block::test() }))
}

#[tokio::test(start_paused = true)]
async fn import_adopts_the_only_unused_range_without_ipv6_subnets() {
    let without_range = subnets(PART, "disassociated");
    let adopted = |objects: &[Observed]| block(objects).map(|(seen, _)| seen.id.clone());
    assert_eq!(adopted(&read_with(&[OLD, MANAGED, UNMANAGED], &without_range, &[]).await), Some("assoc-1".to_string()));
    let associating = ("assoc-1", "IPAM Managed", "", "associating");
    let read = read_with(&[associating, UNMANAGED], &without_range, &[]).await;
    assert_eq!(adopted(&read), Some("assoc-1".to_string()), "no subnet uses it yet");
    let spare = ("assoc-3", "Amazon", "2600:1f18:0:ef00::/56", "associated");
    assert_eq!(adopted(&read_with(&[MANAGED, spare], &without_range, &[]).await), None, "both ranges are unused");
    assert_eq!(adopted(&read_with(&[UNMANAGED], &without_range, &[]).await), None, "an unmanaged subnet uses it");
}

#[tokio::test(start_paused = true)]
async fn import_adopts_the_range_of_the_managed_subnets() {
    let amazon = Ipv6Source::Amazon { network_border_group: Input::Known(None) };
    for (pool_shown, expected) in [("Amazon", amazon), ("IPAM Managed", pool(None))] {
        let range = ("assoc-1", pool_shown, MANAGED.2, MANAGED.3);
        let objects = read_with(&[OLD, UNMANAGED, range], &subnets("2600:1f18:0:AB01::/64", "associated"), &[]).await;
        let (seen, source) = block(&objects).expect("a range is adopted");
        assert_eq!((seen.id.as_str(), source), ("assoc-1", &expected));
        assert_eq!(seen.key, keys::ipv6_cidr_block(&expected));
        assert_eq!(seen.learned["ipv6_cidr_block"], "2600:1f18:0:ab00::/56");
        assert_eq!(objects.iter().filter(|it| matches!(it.spec, Spec::VpcIpv6Block(_))).count(), 1);
        let subnet = subnet(&objects);
        assert_eq!(subnet.ipv6_block.as_ref(), Some(&seen.key));
        assert_eq!(subnet.ipv6_cidr_block, Input::Known(Some(PART.into())));
        assert_eq!(subnet.assign_ipv6_address_on_creation, Input::Known(true));
    }
}

/// A network has one range of each source.
#[tokio::test(start_paused = true)]
async fn import_adopts_the_range_of_the_public_subnets_of_two_by_amazon() {
    let private = below("subnet.private_app.0") + &part("2600:1f18:0:ef01::/64", "associated");
    let private = subnet_item("subnet-2", &private, "10.0.8.0/21");
    let subnets = subnets(PART, "associated").replace("<subnetSet>", &format!("<subnetSet>{private}"));
    let other = ("assoc-3", "Amazon", "2600:1f18:0:ef00::/56", "associated");
    for ranges in [[other, MANAGED], [MANAGED, other]] {
        let objects = read_with(&ranges, &subnets, &[]).await;
        let adopted = objects.iter().filter(|it| matches!(it.spec, Spec::VpcIpv6Block(_)));
        assert_eq!(adopted.map(|it| it.id.as_str()).collect::<Vec<_>>(), ["assoc-1"]);
    }
}

#[tokio::test(start_paused = true)]
async fn a_border_group_other_than_the_region_is_read() {
    let vpc = ranges(&[MANAGED]).replace(">us-east-1<", ">us-east-1-bos-1<");
    let aws = network_with(&vpc, &[("DescribeSubnets", &subnets(PART, "associated"))]);
    let objects = objects(&aws, &[]).await;
    let group = Input::Known(Some("us-east-1-bos-1".to_string()));
    assert_eq!(block(&objects).unwrap().1, &Ipv6Source::Amazon { network_border_group: group });
}

#[tokio::test(start_paused = true)]
async fn import_adopts_none_of_several_unused_ranges() {
    let none = format!("<subnetSet>{}</subnetSet>", subnet_item("subnet-1", &below("subnet.public.0"), "10.0.0.0/21"));
    let objects = read_with(&[UNMANAGED, MANAGED], &none, &[]).await;
    assert_eq!(block(&objects), None);
    assert_eq!(subnet(&objects).ipv6_cidr_block, Input::Known(None));
}

#[tokio::test(start_paused = true)]
async fn a_known_range_is_read_with_its_source_from_state() {
    let objects = read_with(&[MANAGED, UNMANAGED], &subnets(PART, "associated"), &[known("assoc-2")]).await;
    let (seen, source) = block(&objects).expect("the known range is read");
    assert_eq!((seen.id.as_str(), source), ("assoc-2", &pool(Some("ipam-pool-1"))));
    assert_eq!(seen.key, known("assoc-2").key);
    let subnet = subnet(&objects);
    assert_eq!(subnet.ipv6_cidr_block, Input::Known(Some(PART.into())), "the range of the subnet is read");
    assert_eq!(subnet.ipv6_block, None, "no managed range contains it");
}

#[tokio::test(start_paused = true)]
async fn a_disassociated_known_range_is_missing_and_not_substituted() {
    for state in ["disassociated", "disassociating", "failed"] {
        let range = ("assoc-2", "IPAM Managed", UNMANAGED.2, state);
        let objects = read_with(&[range, MANAGED], &subnets(PART, "associated"), &[known("assoc-2")]).await;
        assert_eq!(block(&objects), None, "{state}");
    }
    let pending = ("assoc-2", "IPAM Managed", UNMANAGED.2, "associating");
    let objects = read_with(&[pending], &subnets(PART, "associated"), &[known("assoc-2")]).await;
    assert!(block(&objects).is_some(), "an interrupted creation is read");
}

#[tokio::test(start_paused = true)]
async fn a_subnet_range_that_is_not_associated_reads_as_none() {
    for state in ["associating", "disassociating", "disassociated", "failing", "failed"] {
        let objects = read_with(&[MANAGED], &subnets(PART, state), &[known("assoc-1")]).await;
        assert_eq!(subnet(&objects).ipv6_cidr_block, Input::Known(None), "{state}");
    }
}

#[tokio::test(start_paused = true)]
async fn the_ipv6_default_route_is_read_in_canonical_form() {
    let target = "<gatewayId>igw-1</gatewayId><state>active</state>";
    let mut answers = public_subnet_answers(target);
    answers[1].1 = answers[1].1.replace(
        "<destinationCidrBlock>172.16.0.0/12</destinationCidrBlock><transitGatewayId>tgw-1</transitGatewayId>",
        "<destinationIpv6CidrBlock>0::/0</destinationIpv6CidrBlock><gatewayId>igw-1</gatewayId>",
    );
    let answers: Vec<(&str, &str)> = answers.iter().map(|(action, inside)| (*action, inside.as_str())).collect();
    let objects = objects(&network(&answers), &[]).await;
    let route = at(&objects, "route.public.ipv6");
    assert_eq!(route.id, "rtb-1_::/0");
    let Spec::Route(spec) = &route.spec else { panic!("{route:?}") };
    assert_eq!((spec.destination.as_str(), &spec.target), ("::/0", &Ref::Key(keys::internet_gateway())));
}

/// A range that its owner has brought to AWS stays, with the blocks of subnets in it.
#[tokio::test(start_paused = true)]
async fn a_byoip_range_stays_unmanaged() {
    let brought = ("assoc-1", "ipv6pool-ec2-0123456789abcdef0", MANAGED.2, MANAGED.3);
    for ranges_shown in [vec![brought], vec![brought, UNMANAGED]] {
        let subnets = subnets(PART, "associated");
        let objects = read_with(&ranges_shown, &subnets, &[]).await;
        assert_eq!(block(&objects), None);
        let public = subnet(&objects);
        assert_eq!((&public.ipv6_block, &public.ipv6_cidr_block), (&None, &Input::Known(None)));
        assert_eq!(public.assign_ipv6_address_on_creation, Input::Known(false));
        let learned = &at(&objects, "subnet.public.0").learned;
        assert_eq!(learned.unexpressed[crate::model::Subnet::UNEXPRESSED_IPV6_BLOCK], PART);

        let aws = network_with(&ranges(&ranges_shown), &[("DescribeSubnets", &subnets)]);
        let unmanaged = read(&aws.session(), OWNER, "vpc-1", Known::default()).await.unwrap().unwrap().unmanaged;
        let reason = unmanaged.iter().find(|it| it.id == "assoc-1").map(|it| it.reason.as_str());
        assert!(reason.is_some_and(|reason| reason.contains("ipv6pool-ec2-0123456789abcdef0")), "{unmanaged:?}");
    }
    // Without a subnet in it, it is not the only unused one.
    let without = subnets(PART, "disassociated");
    assert_eq!(block(&read_with(&[brought], &without, &[]).await), None);
    let both = read_with(&[brought, ("assoc-3", "Amazon", "2600:1f18:0:ef00::/56", "associated")], &without, &[]).await;
    assert_eq!(block(&both).map(|(seen, _)| seen.id.as_str()), Some("assoc-3"));
}
