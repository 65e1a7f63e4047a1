use super::*;
use crate::aws::ec2::recorded::{Notes, Recorded};
use crate::model::{Key, Unfinished};

fn spec() -> Subnet {
    Subnet { availability_zone_id: "use1-az6".into(), map_public_ip_on_launch: Input::Known(true), ..Subnet::test() }
}

fn shown(id: &str, public: bool) -> String {
    format!(
        "<subnetSet><item><subnetId>{id}</subnetId><state>available</state><mapPublicIpOnLaunch>{public}\
         </mapPublicIpOnLaunch></item></subnetSet>"
    )
}

#[tokio::test(start_paused = true)]
async fn create_waits_for_public_addressing() {
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

#[tokio::test(start_paused = true)]
async fn delete_waits_until_the_subnet_is_no_longer_returned() {
    let aws = Recorded::default()
        .on("DeleteSubnet", "<return>true</return>")
        .on("DescribeSubnets", &shown("subnet-1", true))
        .on("DescribeSubnets", "<subnetSet/>");
    let key = Key::new("subnet.public.0");
    let entry = Entry::new(key.clone(), "subnet-1", Spec::Subnet(spec()));
    Notes::default().run(&aws.session(), &key, &[], async |operation| delete(operation, &entry).await).await.unwrap();
    assert_eq!(aws.actions(), ["DeleteSubnet", "DescribeSubnets", "DescribeSubnets"]);
}

const OLD: &str = "2600:1f18:0:ab00::/64";
const NEW: &str = "2600:1f18:0:ab01::/64";

/// The public subnet with this IPv6 range, and with this value of `assign_ipv6_address_on_creation`.
fn dual(range: Option<&str>, assign: bool) -> Subnet {
    Subnet {
        map_public_ip_on_launch: Input::Known(false),
        ipv6_block: range.map(|_| Key::new("ipv6_cidr_block")),
        ipv6_cidr_block: Input::Known(range.map(str::to_string)),
        assign_ipv6_address_on_creation: Input::Known(assign),
        ..spec()
    }
}

/// The subnet with these associations: id, range and state.
fn with_ranges(assign: bool, ranges: &[(&str, &str, &str)]) -> String {
    let items: String = ranges
        .iter()
        .map(|(id, range, state)| {
            format!(
                "<item><associationId>{id}</associationId><ipv6CidrBlock>{range}</ipv6CidrBlock>\
                 <ipv6CidrBlockState><state>{state}</state><statusMessage>no range is left</statusMessage>\
                 </ipv6CidrBlockState></item>"
            )
        })
        .collect();
    format!(
        "<subnetSet><item><subnetId>subnet-1</subnetId><state>available</state>\
         <assignIpv6AddressOnCreation>{assign}</assignIpv6AddressOnCreation>\
         <ipv6CidrBlockAssociationSet>{items}</ipv6CidrBlockAssociationSet></item></subnetSet>"
    )
}

fn association(id: &str, range: &str) -> String {
    format!(
        "<subnetId>subnet-1</subnetId><ipv6CidrBlockAssociation><associationId>{id}</associationId>\
         <ipv6CidrBlock>{range}</ipv6CidrBlock></ipv6CidrBlockAssociation>"
    )
}

fn accepts(aws: Recorded) -> Recorded {
    aws.on("ModifySubnetAttribute", "<return>true</return>")
        .on("DisassociateSubnetCidrBlock", &association("a-1", OLD))
        .on("AssociateSubnetCidrBlock", &association("a-2", NEW))
}

async fn create_on(aws: &Recorded, notes: &Notes, spec: &Subnet) -> Result<(), Failure> {
    let (vpc, key) = (Key::new("vpc"), Key::new("subnet.public.0"));
    notes.run(&aws.session(), &key, &[(&vpc, "vpc-1")], async |operation| create(operation, spec).await).await
}

async fn update_on(aws: &Recorded, from: &Subnet, to: &Subnet) -> Result<(), Failure> {
    let key = Key::new("subnet.public.0");
    let notes = Notes::default();
    notes.run(&aws.session(), &key, &[], async |operation| update(operation, "subnet-1", from, to).await).await
}

/// An update after one that has not been completed.
async fn resume_on(aws: &Recorded, from: &Subnet, to: &Subnet) -> Result<(), Failure> {
    let key = Key::new("subnet.public.0");
    let notes = Notes { unfinished: Some(Unfinished::Update(Default::default())), ..Notes::default() };
    notes.run(&aws.session(), &key, &[], async |operation| update(operation, "subnet-1", from, to).await).await
}

/// The calls that change a subnet, in order.
fn changes(aws: &Recorded) -> Vec<String> {
    aws.actions().into_iter().filter(|action| !action.starts_with("Describe") && action != "CreateTags").collect()
}

/// The values of `assign_ipv6_address_on_creation` that were set, in order.
fn assigned(aws: &Recorded) -> Vec<String> {
    let calls = aws.calls("ModifySubnetAttribute");
    calls.iter().filter_map(|call| call.get("AssignIpv6AddressOnCreation.Value").cloned()).collect()
}

#[tokio::test(start_paused = true)]
async fn a_new_subnet_gets_its_ipv6_range_before_addressing() {
    let aws = accepts(Recorded::default())
        .on("CreateSubnet", "<subnet><subnetId>subnet-1</subnetId></subnet>")
        .on("DescribeSubnets", &with_ranges(false, &[("a-1", OLD, "associating")]))
        .on("DescribeSubnets", &with_ranges(false, &[("a-1", OLD, "failing")]))
        .on("DescribeSubnets", &with_ranges(false, &[("a-1", OLD, "associated")]))
        .on("DescribeSubnets", &with_ranges(true, &[("a-1", OLD, "associated")]));
    create_on(&aws, &Notes::default(), &dual(Some(OLD), true)).await.unwrap();
    assert_eq!(aws.calls("CreateSubnet")[0]["Ipv6CidrBlock"], OLD);
    let [create, describe, modify] = ["CreateSubnet", "DescribeSubnets", "ModifySubnetAttribute"];
    assert_eq!(aws.actions(), [create, describe, describe, describe, modify, describe]);
    assert_eq!(assigned(&aws), ["true"]);
}

#[tokio::test(start_paused = true)]
async fn a_failed_ipv6_range_is_reported_and_the_subnet_recorded() {
    let aws = Recorded::default()
        .on("CreateSubnet", "<subnet><subnetId>subnet-1</subnetId></subnet>")
        .on("DescribeSubnets", &with_ranges(false, &[("a-1", OLD, "failed")]));
    let notes = Notes::default();
    let failure = create_on(&aws, &notes, &dual(Some(OLD), true)).await.unwrap_err();
    assert!(failure.message.contains("no range is left"), "{}", failure.message);
    assert_eq!(notes.ids(), ["subnet-1"]);
}

#[tokio::test(start_paused = true)]
async fn addressing_is_off_while_the_range_is_replaced() {
    let aws = accepts(Recorded::default())
        .on("DescribeSubnets", &with_ranges(true, &[("a-1", OLD, "associated")]))
        .on("DescribeSubnets", &with_ranges(false, &[("a-1", OLD, "associated")]))
        .on("DescribeSubnets", &with_ranges(false, &[("a-1", OLD, "disassociating")]))
        .on("DescribeSubnets", &with_ranges(false, &[("a-1", OLD, "disassociated")]))
        .on("DescribeSubnets", &with_ranges(false, &[("a-1", OLD, "disassociated"), ("a-2", NEW, "associating")]))
        .on("DescribeSubnets", &with_ranges(false, &[("a-1", OLD, "disassociated"), ("a-2", NEW, "associated")]))
        .on("DescribeSubnets", &with_ranges(true, &[("a-2", NEW, "associated")]));
    update_on(&aws, &dual(Some(OLD), true), &dual(Some(NEW), true)).await.unwrap();
    let modify = "ModifySubnetAttribute";
    assert_eq!(changes(&aws), [modify, "DisassociateSubnetCidrBlock", "AssociateSubnetCidrBlock", modify]);
    assert_eq!(assigned(&aws), ["false", "true"]);
    assert_eq!(aws.calls("DisassociateSubnetCidrBlock")[0]["AssociationId"], "a-1");
    assert_eq!(aws.calls("AssociateSubnetCidrBlock")[0]["Ipv6CidrBlock"], NEW);
}

#[tokio::test(start_paused = true)]
async fn ipv6_is_enabled_and_disabled_in_the_order_aws_requires() {
    let on = accepts(Recorded::default())
        .on("DescribeSubnets", &with_ranges(false, &[]))
        .on("DescribeSubnets", &with_ranges(false, &[("a-2", NEW, "associated")]))
        .on("DescribeSubnets", &with_ranges(true, &[("a-2", NEW, "associated")]));
    update_on(&on, &dual(None, false), &dual(Some(NEW), true)).await.unwrap();
    assert_eq!(changes(&on), ["AssociateSubnetCidrBlock", "ModifySubnetAttribute"]);

    let off = accepts(Recorded::default())
        .on("DescribeSubnets", &with_ranges(true, &[("a-1", OLD, "associated")]))
        .on("DescribeSubnets", &with_ranges(false, &[("a-1", OLD, "associated")]))
        .on("DescribeSubnets", &with_ranges(false, &[]));
    update_on(&off, &dual(Some(OLD), true), &dual(None, false)).await.unwrap();
    assert_eq!(changes(&off), ["ModifySubnetAttribute", "DisassociateSubnetCidrBlock"]);
    assert_eq!(assigned(&off), ["false"]);
}

#[tokio::test(start_paused = true)]
async fn addressing_alone_changes_without_reading_the_range() {
    let aws = accepts(Recorded::default()).on("DescribeSubnets", &with_ranges(false, &[("a-1", OLD, "associated")]));
    update_on(&aws, &dual(Some(OLD), true), &dual(Some(OLD), false)).await.unwrap();
    assert_eq!(aws.actions(), ["ModifySubnetAttribute", "DescribeSubnets"]);
    let other_block = Subnet { ipv6_block: Some(Key::new("other")), ..dual(Some(OLD), false) };
    update_on(&aws, &dual(Some(OLD), false), &other_block).await.unwrap();
    assert_eq!(aws.actions().len(), 2, "the same range with another key needs no call");
}

#[tokio::test(start_paused = true)]
async fn an_interrupted_replacement_continues_from_the_subnet() {
    let aws = Recorded::default()
        .on("ModifySubnetAttribute", "<return>true</return>")
        .on("DisassociateSubnetCidrBlock", &association("a-1", OLD))
        .fail("AssociateSubnetCidrBlock", 400, "InvalidSubnet.Range", "The CIDR is invalid.")
        .on("DescribeSubnets", &with_ranges(false, &[("a-1", OLD, "associated")]))
        .on("DescribeSubnets", &with_ranges(false, &[]));
    let failure = update_on(&aws, &dual(Some(OLD), false), &dual(Some(NEW), true)).await.unwrap_err();
    assert_eq!(failure.code.as_deref(), Some("InvalidSubnet.Range"));
    assert_eq!(assigned(&aws), [""; 0]);

    let aws = accepts(Recorded::default())
        .on("DescribeSubnets", &with_ranges(false, &[]))
        .on("DescribeSubnets", &with_ranges(false, &[("a-2", NEW, "associated")]))
        .on("DescribeSubnets", &with_ranges(true, &[("a-2", NEW, "associated")]));
    resume_on(&aws, &dual(None, false), &dual(Some(NEW), true)).await.unwrap();
    assert_eq!(changes(&aws), ["AssociateSubnetCidrBlock", "ModifySubnetAttribute"]);

    // The range is replaced already, and AWS may still associate it.
    let aws = accepts(Recorded::default())
        .on("DescribeSubnets", &with_ranges(true, &[("a-2", NEW, "associating")]))
        .on("DescribeSubnets", &with_ranges(true, &[("a-2", NEW, "associated")]));
    resume_on(&aws, &dual(Some(NEW), true), &dual(Some(NEW), true)).await.unwrap();
    assert_eq!(aws.actions(), ["DescribeSubnets"; 2]);
}

#[tokio::test(start_paused = true)]
async fn a_range_of_another_subnet_is_retried_until_it_is_free() {
    let aws = Recorded::default()
        .fail("AssociateSubnetCidrBlock", 400, "InvalidSubnet.Conflict", "conflicts with another subnet")
        .on("AssociateSubnetCidrBlock", &association("a-2", NEW))
        .on("DescribeSubnets", &with_ranges(false, &[]))
        .on("DescribeSubnets", &with_ranges(false, &[("a-2", NEW, "associated")]));
    update_on(&aws, &dual(None, false), &dual(Some(NEW), false)).await.unwrap();
    assert_eq!(aws.calls("AssociateSubnetCidrBlock").len(), 2);
}

#[tokio::test(start_paused = true)]
async fn a_lost_answer_does_not_associate_twice() {
    let aws = Recorded::default()
        .fail("AssociateSubnetCidrBlock", 500, "InternalError", "An internal error")
        .on("DescribeSubnets", &with_ranges(false, &[]))
        .on("DescribeSubnets", &with_ranges(false, &[("a-2", NEW, "associating")]))
        .on("DescribeSubnets", &with_ranges(false, &[("a-2", NEW, "associated")]));
    update_on(&aws, &dual(None, false), &dual(Some(NEW), false)).await.unwrap();
    assert_eq!(aws.calls("AssociateSubnetCidrBlock").len(), 1);
}

#[tokio::test(start_paused = true)]
async fn an_unknown_state_of_an_ipv6_range_counts_as_associated() {
    let created = "<subnet><subnetId>subnet-1</subnetId></subnet>";
    // The text of moto 5.2.5.
    let ranges = with_ranges(false, &[("a-1", OLD, "{'State': 'associated'}")]);
    let aws = accepts(Recorded::default().on("CreateSubnet", created).on("DescribeSubnets", &ranges));
    create_on(&aws, &Notes::default(), &dual(Some(OLD), false)).await.unwrap();
    update_on(&aws, &dual(Some(NEW), false), &dual(Some(OLD), false)).await.unwrap();
    assert!(aws.calls("AssociateSubnetCidrBlock").is_empty() && aws.calls("DisassociateSubnetCidrBlock").is_empty());
}

#[tokio::test(start_paused = true)]
async fn the_subnet_whose_range_overlaps_is_named() {
    let item = |id: &str, range: &str| format!("<item><subnetId>{id}</subnetId><cidrBlock>{range}</cidrBlock></item>");
    let others = [item("subnet-8", "10.0.1.0/24"), item("subnet-9", "10.0.0.128/25")].concat();
    let aws = Recorded::default()
        .fail("CreateSubnet", 400, "InvalidSubnet.Conflict", "The CIDR '10.0.0.0/24' conflicts with another subnet")
        .on("DescribeSubnets", &format!("<subnetSet>{others}</subnetSet>"));
    let failure = create_on(&aws, &Notes::default(), &spec()).await.unwrap_err();
    let named = "10.0.0.0/24 overlaps subnet-9 (10.0.0.128/25). Delete that subnet";
    assert!(failure.message.contains(named), "{}", failure.message);
}
