use super::*;
use crate::aws::ec2::recorded::{Notes, Recorded};
use crate::model::{Ref, Tier};

fn spec() -> (Key, NatGateway) {
    let subnet = Key::new("subnet.public.0");
    let address = Input::Known(Ref::Key(keys::eip(0)));
    let key = keys::nat_gateway(0, &subnet, &address);
    let spec = NatGateway { subnet, allocation: Some(address), ..NatGateway::test() };
    (key, spec)
}

#[tokio::test(start_paused = true)]
async fn a_failed_nat_gateway_reports_its_reason_and_is_recorded() {
    let aws = Recorded::default()
        .on("CreateNatGateway", "<natGateway><natGatewayId>nat-1</natGatewayId><state>pending</state></natGateway>")
        .on(
            "DescribeNatGateways",
            "<natGatewaySet><item><natGatewayId>nat-1</natGatewayId><state>failed</state>\
             <failureCode>Gateway.NotAttached</failureCode><failureMessage>Network vpc-1 has no Internet gateway \
             attached</failureMessage></item></natGatewaySet>",
        );
    let (key, spec) = spec();
    let (eip, notes) = (keys::eip(0), Notes::default());
    let failure = notes
        .run(&aws.session(), &key, &[(&spec.subnet, "subnet-1"), (&eip, "eipalloc-1")], async |operation| {
            create(operation, &spec).await
        })
        .await
        .unwrap_err();
    assert_eq!(failure.code.as_deref(), Some("Gateway.NotAttached"));
    assert!(failure.message.contains("no Internet gateway"), "{}", failure.message);
    assert_eq!(notes.ids(), ["nat-1"]);
    let call = &aws.calls("CreateNatGateway")[0];
    assert_eq!((call["ConnectivityType"].as_str(), call["AllocationId"].as_str()), ("public", "eipalloc-1"));
    assert!(!call["ClientToken"].is_empty());
}

const UNUSED: &str = "<natGatewaySet/>";

/// Another NAT gateway, which is being deleted, uses the address.
const IN_USE: &str = "<natGatewaySet><item><natGatewayId>nat-0</natGatewayId><state>deleting</state>\
                    <natGatewayAddressSet><item><allocationId>eipalloc-1</allocationId></item></natGatewayAddressSet>\
                    </item></natGatewaySet>";

const AVAILABLE: &str = "<natGatewaySet><item><natGatewayId>nat-1</natGatewayId><state>available</state></item>\
                     </natGatewaySet>";

async fn create_on(aws: &Recorded) -> Result<(), Failure> {
    let (key, spec) = spec();
    let ids = [(&spec.subnet, "subnet-1"), (&keys::eip(0), "eipalloc-1")];
    Notes::default().run(&aws.session(), &key, &ids, async |operation| create(operation, &spec).await).await
}

#[tokio::test(start_paused = true)]
async fn create_waits_for_an_address_of_a_deleting_nat_gateway() {
    let created = "<natGateway><natGatewayId>nat-1</natGatewayId><state>pending</state></natGateway>";
    let reads = |aws: Recorded, reads: &[&str]| reads.iter().fold(aws, |aws, it| aws.on("DescribeNatGateways", it));
    let aws = reads(Recorded::default().on("CreateNatGateway", created), &[IN_USE, IN_USE, UNUSED, AVAILABLE]);
    create_on(&aws).await.unwrap();
    let read = "DescribeNatGateways";
    assert_eq!(aws.actions(), [read, read, read, "CreateNatGateway", read]);
    let first = &aws.calls(read)[0];
    assert_eq!((first["Filter.1.Name"].as_str(), first["Filter.1.Value.1"].as_str()), ("state", "deleting"));

    // The deletion starts after the first read.
    let rejected = Recorded::default()
        .fail("CreateNatGateway", 400, "Resource.AlreadyAssociated", "eipalloc-1 is already associated")
        .on("CreateNatGateway", created);
    let aws = reads(rejected, &[UNUSED, IN_USE, UNUSED, AVAILABLE]);
    create_on(&aws).await.unwrap();
    assert_eq!(aws.calls("CreateNatGateway").len(), 2);
}

#[tokio::test(start_paused = true)]
async fn an_address_that_is_otherwise_in_use_fails_at_once() {
    let aws = Recorded::default()
        .on("DescribeNatGateways", UNUSED)
        .on(
            "DescribeAddresses",
            "<addressesSet><item><allocationId>eipalloc-1</allocationId><associationId>eipassoc-1</associationId>\
             <networkInterfaceId>eni-1</networkInterfaceId></item></addressesSet>",
        )
        .fail("CreateNatGateway", 400, "Resource.AlreadyAssociated", "eipalloc-1 is already associated");
    let failure = create_on(&aws).await.unwrap_err();
    assert_eq!(failure.code.as_deref(), Some("Resource.AlreadyAssociated"));
    for text in ["eipalloc-1 is associated with eni-1", "--association-id eipassoc-1", "custom_nat_eips"] {
        assert!(failure.text().contains(text), "{}", failure.text());
    }
    assert_eq!(aws.calls("CreateNatGateway").len(), 1);
}

#[tokio::test(start_paused = true)]
async fn an_az_without_nat_gateways_is_named() {
    let message = "Nat Gateway is not available in this availability zone";
    let aws = Recorded::default().on("DescribeNatGateways", UNUSED).fail(
        "CreateNatGateway",
        400,
        "NotAvailableInZone",
        message,
    );
    let subnet = keys::subnet(Tier::Public, 4, "use1-az3", &Input::Known("10.0.32.0/21".into()));
    let spec = NatGateway { subnet, ..spec().1 };
    let key = keys::nat_gateway(4, &spec.subnet, &Input::Known(Ref::Key(keys::eip(0))));
    let ids = [(&spec.subnet, "subnet-1"), (&keys::eip(0), "eipalloc-1")];
    let notes = Notes::default();
    let created = notes.run(&aws.session(), &key, &ids, async |operation| create(operation, &spec).await).await;
    let failure = created.unwrap_err();
    assert_eq!(failure.code.as_deref(), Some("NotAvailableInZone"));
    for part in [message, "subnet.public.4", "add \"use1-az3\" to availability_zone_exclude_ids"] {
        assert!(failure.message.contains(part), "no {part} in {}", failure.message);
    }
    assert!(notes.ids().is_empty() && aws.calls("CreateNatGateway").len() == 1);
}

#[tokio::test(start_paused = true)]
async fn a_missing_nat_gateway_counts_as_deleted() {
    let aws = Recorded::default()
        .fail("DeleteNatGateway", 400, "NatGatewayNotFound", "nat-1 was not found")
        .on("DescribeNatGateways", UNUSED);
    let (key, spec) = spec();
    let entry = Entry::new(key.clone(), "nat-1", Spec::NatGateway(spec));
    Notes::default().run(&aws.session(), &key, &[], async |operation| delete(operation, &entry).await).await.unwrap();
    assert_eq!(aws.actions(), ["DeleteNatGateway", "DescribeNatGateways"]);
}

#[tokio::test(start_paused = true)]
async fn an_address_of_a_deleted_nat_gateway_is_disassociated() {
    let deleted = "<natGatewaySet><item><natGatewayId>nat-0</natGatewayId><state>deleted</state><natGatewayAddressSet>\
                   <item><allocationId>eipalloc-1</allocationId><networkInterfaceId>eni-0</networkInterfaceId></item>\
                   </natGatewayAddressSet></item></natGatewaySet>";
    let created = "<natGateway><natGatewayId>nat-1</natGatewayId></natGateway>";
    let account = |interface: &str| {
        let address = format!(
            "<addressesSet><item><allocationId>eipalloc-1</allocationId><associationId>eipassoc-1</associationId>\
             <networkInterfaceId>{interface}</networkInterfaceId></item></addressesSet>"
        );
        let aws = Recorded::default().on("DescribeAddresses", &address);
        aws.on("DisassociateAddress", "<return>true</return>")
    };
    let refused = |aws: Recorded| {
        aws.fail("CreateNatGateway", 400, "Resource.AlreadyAssociated", "eipalloc-1 is already associated")
    };
    let reads = |aws: Recorded, reads: &[&str]| reads.iter().fold(aws, |aws, it| aws.on("DescribeNatGateways", it));
    // Before the call: whenever moto refuses it, a network interface stays.
    let aws = reads(account("eni-0"), &[deleted, deleted, AVAILABLE]).on("CreateNatGateway", created);
    create_on(&aws).await.unwrap();
    let read = "DescribeNatGateways";
    assert_eq!(aws.actions(), [read, "DescribeAddresses", read, "DisassociateAddress", "CreateNatGateway", read],);
    assert_eq!(aws.calls("DisassociateAddress")[0]["AssociationId"], "eipassoc-1");
    let states = ["Filter.1.Value.1", "Filter.1.Value.2"].map(|name| aws.calls(read)[0][name].clone());
    assert_eq!(states, ["deleting", "deleted"]);

    // The deletion ends after the first read.
    let aws = reads(refused(account("eni-0")), &[UNUSED, deleted, deleted, AVAILABLE]);
    let aws = aws.on("CreateNatGateway", created);
    create_on(&aws).await.unwrap();
    assert_eq!((aws.calls("DisassociateAddress").len(), aws.calls("CreateNatGateway").len()), (1, 2));

    // Another object uses the address.
    let aws = reads(refused(account("eni-9")), &[deleted]);
    assert_eq!(create_on(&aws).await.unwrap_err().cause, Cause::Exists);
    assert!(aws.calls("DisassociateAddress").is_empty());
}
