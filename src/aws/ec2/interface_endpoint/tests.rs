use std::collections::HashMap;
use std::time::Duration;

use futures::future::join_all;
use tokio::time::Instant;

use super::*;
use crate::aws::ec2::network::Network;
use crate::aws::ec2::recorded::{Notes, OWNER, Recorded, VPC};
use crate::aws::ec2::vpc_endpoint as gateway;
use crate::cloud::Cause;
use crate::model::{Key, VpcEndpoint};

const KMS: &str = "com.amazonaws.us-east-1.kms";
const PARTNER: &str = "com.amazonaws.vpce.us-east-1.vpce-svc-1";
const CREATED: &str = "<vpcEndpoint><vpcEndpointId>vpce-1</vpcEndpointId></vpcEndpoint>";
const DONE: &str = "<return>true</return>";

fn key() -> Key {
    keys::interface_endpoint("kms", &Input::Known(KMS.into()), &Input::default())
}

fn spec(service: &str, subnets: &[&str]) -> InterfaceEndpoint {
    InterfaceEndpoint {
        service_name: Input::Known(service.to_string()),
        subnets: subnets.iter().map(|id| Ref::Id(id.to_string())).collect(),
        ..InterfaceEndpoint::test()
    }
}

/// An answer of DescribeVpcEndpoints: an endpoint with these subnets, and an interface `eni-N` in each `subnet-N`.
fn shown(state: &str, subnets: &[&str], more: &str) -> String {
    let items = |ids: &mut dyn Iterator<Item = String>| ids.map(|id| format!("<item>{id}</item>")).collect::<String>();
    let interfaces = items(&mut subnets.iter().map(|id| id.replace("subnet", "eni")));
    let subnets = items(&mut subnets.iter().map(|id| id.to_string()));
    format!(
        "<vpcEndpointSet><item><vpcEndpointId>vpce-1</vpcEndpointId><vpcId>vpc-1</vpcId>\
         <vpcEndpointType>Interface</vpcEndpointType><serviceName>{KMS}</serviceName><state>{state}</state>\
         <subnetIdSet>{subnets}</subnetIdSet><networkInterfaceIdSet>{interfaces}</networkInterfaceIdSet>\
         <groupSet><item><groupId>sg-1</groupId></item></groupSet>{more}</item></vpcEndpointSet>"
    )
}

/// An answer of DescribeNetworkInterfaces.
fn interface(id: &str) -> String {
    format!("<networkInterfaceSet><item><networkInterfaceId>{id}</networkInterfaceId></item></networkInterfaceSet>")
}

fn unsuccessful(code: &str) -> String {
    format!(
        "<unsuccessful><item><resourceId>vpce-1</resourceId><error><code>{code}</code><message>no</message></error>\
         </item></unsuccessful>"
    )
}

async fn run(
    aws: &Recorded,
    notes: &Notes,
    body: impl AsyncFnOnce(&Operation<'_>) -> Result<(), Failure>,
) -> Result<(), Failure> {
    let (session, vpc) = (aws.session(), Key::new("vpc"));
    session.process.created.add("subnet-1");
    session.process.created.add("sg-1");
    notes.run_for(&session, &key(), &[(&vpc, "vpc-1")], Duration::from_secs(3600), body).await
}

async fn created(aws: &Recorded, spec: &InterfaceEndpoint) -> Result<(), Failure> {
    run(aws, &Notes::default(), async |operation| create(operation, spec).await).await
}

async fn updated(aws: &Recorded, from: &InterfaceEndpoint, to: &InterfaceEndpoint) -> Result<(), Failure> {
    run(aws, &Notes::default(), async |operation| update(operation, "vpce-1", from, to).await).await
}

async fn deleted(aws: &Recorded, entry: &Entry) -> Result<(), Failure> {
    run(aws, &Notes::default(), async |operation| delete(operation, entry).await).await
}

/// An endpoint with an interface, in state.
fn entry() -> Entry {
    let addresses = EndpointAddresses { network_interfaces: vec!["eni-1".into()], ..EndpointAddresses::default() };
    let learned = Learned { endpoint: Some(addresses), ..Learned::new() };
    Entry { learned, ..Entry::new(key(), "vpce-1", Spec::InterfaceEndpoint(spec(KMS, &["subnet-1"]))) }
}

#[tokio::test(start_paused = true)]
async fn names_of_a_third_party_are_requested_only_after_its_acceptance() {
    for (state, calls) in [("pendingAcceptance", 0), ("available", 1)] {
        let aws = Recorded::default()
            .on("CreateVpcEndpoint", CREATED)
            .on("DescribeVpcEndpoints", &shown(state, &["subnet-1"], ""))
            .on("ModifyVpcEndpoint", DONE);
        created(&aws, &spec(PARTNER, &["subnet-1"])).await.unwrap();
        assert_eq!(aws.calls("CreateVpcEndpoint")[0]["PrivateDnsEnabled"], "false");
        let later: Vec<String> =
            aws.calls("ModifyVpcEndpoint").into_iter().map(|it| it["PrivateDnsEnabled"].clone()).collect();
        assert_eq!(later, vec!["true"; calls], "{state}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_failure_after_the_creation_has_the_state_and_the_reason() {
    let full = "<lastError><code>InsufficientFreeAddressesInSubnet</code><message>full</message></lastError>";
    for (state, more, says) in [
        ("failed", full, "vpce-1 is failed: full"),
        (
            "rejected",
            "",
            concat!(
                "vpce-1 is rejected: AWS gave no reason",
                ". Ask the owner of the service to accept it. If that is not possible, remove the entry, apply, and add it again"
            ),
        ),
        (
            "expired",
            "",
            concat!(
                "vpce-1 is expired: AWS gave no reason",
                ". Ask the owner of the service to accept it. If that is not possible, remove the entry, apply, and add it again"
            ),
        ),
    ] {
        let aws = Recorded::default().on("CreateVpcEndpoint", CREATED);
        let aws = aws.on("DescribeVpcEndpoints", &shown(state, &["subnet-1"], more));
        let notes = Notes::default();
        let wanted = spec(PARTNER, &["subnet-1"]);
        let failure = run(&aws, &notes, async |operation| create(operation, &wanted).await).await.unwrap_err();
        assert!(failure.message.starts_with(says) && failure.code.is_some() != more.is_empty(), "{failure}");
        assert_eq!(notes.ids(), ["vpce-1"], "a destroy deletes it");
    }
}

/// AWS spells the code of a subnet in two ways.
#[tokio::test(start_paused = true)]
async fn new_subnets_and_groups_are_waited_for() {
    for (code, message) in [
        ("InvalidSubnetId.NotFound", "The subnet ID 'subnet-1' does not exist"),
        ("InvalidSubnetID.NotFound", "The subnet ID 'subnet-1' does not exist"),
        ("InvalidGroup.NotFound", "The security group 'sg-1' does not exist"),
    ] {
        let aws = Recorded::default()
            .fail("CreateVpcEndpoint", 400, code, message)
            .fail("CreateVpcEndpoint", 400, code, message)
            .on("CreateVpcEndpoint", CREATED)
            .on("DescribeVpcEndpoints", &shown("available", &["subnet-1"], ""));
        created(&aws, &spec(KMS, &["subnet-1"])).await.unwrap();
        assert_eq!(aws.calls("CreateVpcEndpoint").len(), 3, "{code}");
        let aws = Recorded::default()
            .fail("ModifyVpcEndpoint", 400, code, message)
            .on("ModifyVpcEndpoint", DONE)
            .on("DescribeVpcEndpoints", &shown("available", &["subnet-2"], ""))
            .on("DescribeVpcEndpoints", &shown("available", &["subnet-1", "subnet-2"], ""));
        updated(&aws, &spec(KMS, &["subnet-2"]), &spec(KMS, &["subnet-1", "subnet-2"])).await.unwrap();
        assert_eq!(aws.calls("ModifyVpcEndpoint").len(), 2, "{code}");
        let message = message.replace("-1", "-9");
        let aws = Recorded::default().fail("CreateVpcEndpoint", 400, code, &message);
        assert_eq!(created(&aws, &spec(KMS, &["subnet-1"])).await.unwrap_err().cause, Cause::NotFound);
        assert_eq!(aws.actions(), ["CreateVpcEndpoint"], "this run has created neither");
    }
}

const BUSY: &str = "OperationInProgress";

/// hashicorp/terraform-provider-aws#42875
#[tokio::test(start_paused = true)]
async fn a_change_is_retried_while_another_one_runs() {
    let busy = |it: Recorded| it.fail("ModifyVpcEndpoint", 400, BUSY, "VpcEndpoint modify operation in progress");
    let aws = busy(busy(Recorded::default()))
        .on("ModifyVpcEndpoint", DONE)
        .on("DescribeVpcEndpoints", &shown("available", &["subnet-1"], ""));
    let without = InterfaceEndpoint { private_dns_enabled: Input::Known(false), ..spec(KMS, &["subnet-1"]) };
    updated(&aws, &without, &spec(KMS, &["subnet-1"])).await.unwrap();
    assert_eq!(aws.calls("ModifyVpcEndpoint").len(), 3);

    // A deletion too, whose rejection is inside a successful answer.
    let aws = Recorded::default()
        .on("DeleteVpcEndpoints", &unsuccessful(BUSY))
        .on("DeleteVpcEndpoints", "<unsuccessful/>")
        .on("DescribeVpcEndpoints", "<vpcEndpointSet/>")
        .on("DescribeNetworkInterfaces", "<networkInterfaceSet/>");
    deleted(&aws, &entry()).await.unwrap();
    assert_eq!(aws.calls("DeleteVpcEndpoints").len(), 2);
}

#[tokio::test(start_paused = true)]
async fn a_change_waits_until_an_accepted_endpoint_is_set_up() {
    let aws = Recorded::default()
        .on("DescribeVpcEndpoints", &shown("pending", &["subnet-1"], ""))
        .on("DescribeVpcEndpoints", &shown("pending", &["subnet-1"], ""))
        .on("DescribeVpcEndpoints", &shown("available", &["subnet-1"], ""))
        .on("ModifyVpcEndpoint", DONE);
    let without = InterfaceEndpoint { private_dns_enabled: Input::Known(false), ..spec(PARTNER, &["subnet-1"]) };
    updated(&aws, &without, &spec(PARTNER, &["subnet-1"])).await.unwrap();
    let describe = "DescribeVpcEndpoints";
    assert_eq!(aws.actions()[..4], [describe, describe, describe, "ModifyVpcEndpoint"]);
}

#[tokio::test(start_paused = true)]
async fn the_way_out_of_a_rejection_is_named() {
    for (state, has_advice) in [("rejected", true), ("expired", true), ("failed", false)] {
        let aws = Recorded::default()
            .on("DescribeVpcEndpoints", &shown(state, &["subnet-1", "subnet-2"], ""))
            .on("ModifyVpcEndpoint", DONE);
        let failure =
            updated(&aws, &spec(KMS, &["subnet-1", "subnet-2"]), &spec(KMS, &["subnet-1"])).await.unwrap_err();
        assert!(failure.message.contains(&format!("vpce-1 is {state}")), "{failure}");
        assert_eq!(failure.message.contains("remove the entry, apply, and add it again"), has_advice, "{failure}");
    }
}

/// The SDK repeats the call, and AWS already makes the change.
#[tokio::test(start_paused = true)]
async fn a_change_whose_answer_was_lost_is_not_made_twice() {
    let aws = Recorded::default()
        .fail("ModifyVpcEndpoint", 400, BUSY, "VpcEndpoint modify operation in progress")
        .fail("ModifyVpcEndpoint", 400, "DuplicateSubnetsInSameZone", "Found another VPC endpoint subnet")
        .on("DescribeVpcEndpoints", &shown("available", &["subnet-1"], ""))
        .on("DescribeVpcEndpoints", &shown("pending", &["subnet-1", "subnet-2"], ""))
        .on("DescribeVpcEndpoints", &shown("available", &["subnet-1", "subnet-2"], ""));
    updated(&aws, &spec(KMS, &["subnet-1"]), &spec(KMS, &["subnet-1", "subnet-2"])).await.unwrap();
    assert_eq!(aws.calls("ModifyVpcEndpoint").len(), 1);
}

#[tokio::test(start_paused = true)]
async fn interfaces_are_waited_for_where_the_endpoint_has_left() {
    let aws = Recorded::default()
        .on("ModifyVpcEndpoint", DONE)
        .on("DescribeVpcEndpoints", &shown("available", &["subnet-1", "subnet-2"], ""))
        .on("DescribeVpcEndpoints", &shown("available", &["subnet-1"], ""))
        .on("DescribeNetworkInterfaces", &interface("eni-2"))
        .on("DescribeNetworkInterfaces", "<networkInterfaceSet/>");
    updated(&aws, &spec(KMS, &["subnet-1", "subnet-2"]), &spec(KMS, &["subnet-1"])).await.unwrap();
    let calls = aws.calls("DescribeNetworkInterfaces");
    assert_eq!((calls.len(), calls[0]["Filter.1.Value.1"].as_str()), (2, "eni-2"));
}

#[tokio::test(start_paused = true)]
async fn a_deletion_waits_for_interfaces_also_of_a_deleted_endpoint() {
    let missing = unsuccessful("InvalidVpcEndpoint.NotFound");
    for (answer, found) in
        [("<unsuccessful/>", shown("deleting", &["subnet-1"], "")), (missing.as_str(), "<vpcEndpointSet/>".to_string())]
    {
        let aws = Recorded::default()
            .on("DeleteVpcEndpoints", answer)
            .on("DescribeVpcEndpoints", &found)
            .on("DescribeVpcEndpoints", "<vpcEndpointSet/>")
            .on("DescribeNetworkInterfaces", &interface("eni-1"))
            .on("DescribeNetworkInterfaces", "<networkInterfaceSet/>");
        deleted(&aws, &entry()).await.unwrap();
        assert_eq!(aws.calls("DescribeNetworkInterfaces").len(), 2, "{answer}");
    }
    let aws = Recorded::default().on("DeleteVpcEndpoints", &unsuccessful("UnauthorizedOperation"));
    let aws = aws.on("DescribeVpcEndpoints", &shown("available", &["subnet-1"], ""));
    assert_eq!(deleted(&aws, &entry()).await.unwrap_err().cause, Cause::Denied);
}

/// hashicorp/terraform-provider-aws#17269
#[tokio::test(start_paused = true)]
async fn the_owner_of_the_private_names_is_named_if_it_is_an_endpoint() {
    let text = "private-dns-enabled cannot be set because there is already a conflicting DNS domain for \
                kms.us-east-1.amazonaws.com in the VPC vpc-1";
    let names = "<privateDnsEnabled>true</privateDnsEnabled>";
    let other = shown("available", &["subnet-1"], names).replace("vpce-1", "vpce-9");
    let none = "<vpcEndpointSet/>".to_string();
    let deleted = other.replace("available", "deleted");
    for (found, says) in [
        (other, "vpce-9 has the private DNS names of com.amazonaws.us-east-1.kms in this VPC"),
        (none, "A private hosted zone that is associated with this VPC may have the same name"),
        (deleted, "A private hosted zone that is associated with this VPC may have the same name"),
    ] {
        let answers = || {
            let aws = Recorded::default().fail("CreateVpcEndpoint", 400, "InvalidParameter", text);
            aws.fail("ModifyVpcEndpoint", 400, "InvalidParameter", text)
        };
        let aws = answers().on("DescribeVpcEndpoints", &found);
        let of_create = created(&aws, &spec(KMS, &["subnet-1"])).await.unwrap_err();
        let own = shown("available", &["subnet-1"], "");
        let aws = answers().on("DescribeVpcEndpoints", &own).on("DescribeVpcEndpoints", &found);
        let without = InterfaceEndpoint { private_dns_enabled: Input::Known(false), ..spec(KMS, &["subnet-1"]) };
        let of_update = updated(&aws, &without, &spec(KMS, &["subnet-1"])).await.unwrap_err();
        for failure in [of_create, of_update] {
            assert!(failure.message.contains(says), "{}", failure.message);
            assert!(failure.message.contains("set private_dns_enabled to false"), "{}", failure.message);
        }
    }
}

/// hashicorp/terraform-provider-aws#45846 and #31117
#[tokio::test(start_paused = true)]
async fn the_inbound_option_is_sent_with_the_names_of_s3_only() {
    let option = "DnsOptions.PrivateDnsOnlyForInboundResolverEndpoint";
    let s3 = |names: bool, only: bool| InterfaceEndpoint {
        private_dns_enabled: Input::Known(names),
        private_dns_only_for_inbound_resolver_endpoint: Input::Known(names.then_some(only)),
        ..spec("com.amazonaws.us-east-1.s3", &["subnet-1"])
    };
    let sent = async |from: InterfaceEndpoint, to: InterfaceEndpoint| {
        let aws = Recorded::default().on("ModifyVpcEndpoint", DONE);
        let aws = aws.on("DescribeVpcEndpoints", &shown("available", &["subnet-1"], ""));
        updated(&aws, &from, &to).await.unwrap();
        let call = &aws.calls("ModifyVpcEndpoint")[0];
        (call["PrivateDnsEnabled"].clone(), call.get(option).cloned())
    };
    let [yes, no] = [true, false].map(|it| it.to_string());
    assert_eq!(sent(s3(false, false), s3(true, true)).await, (yes.clone(), Some(yes.clone())));
    assert_eq!(sent(s3(false, false), s3(true, false)).await, (yes.clone(), Some(no.clone())));
    assert_eq!(sent(s3(true, true), s3(true, false)).await, (yes.clone(), Some(no.clone())));
    assert_eq!(sent(s3(true, true), s3(false, false)).await, (no, None));
    let without = InterfaceEndpoint { private_dns_enabled: Input::Known(false), ..spec(KMS, &["subnet-1"]) };
    assert_eq!(sent(without, spec(KMS, &["subnet-1"])).await, (yes, None));
}

/// AWS accepts four calls of each action at once, and then three in ten seconds.
#[tokio::test(start_paused = true)]
async fn twenty_endpoints_and_two_gateways_are_created_at_the_rate_of_aws() {
    let aws = Recorded::default()
        .on("CreateVpcEndpoint", CREATED)
        .on("DescribeVpcEndpoints", &shown("available", &["subnet-1"], ""));
    let (session, vpc, key, notes) = (aws.session(), Key::new("vpc"), key(), Notes::default());
    let (ids, limit) = ([(&vpc, "vpc-1")], Duration::from_secs(3600));
    let (interface, s3) = (&spec(KMS, &["subnet-1"]), &VpcEndpoint::test());
    let start = Instant::now();
    let all = (0..22).map(|number| {
        notes.run_for(&session, &key, &ids, limit, async move |operation: &Operation<'_>| match number {
            0..20 => create(operation, interface).await,
            _ => gateway::create(operation, s3).await,
        })
    });
    assert!(join_all(all).await.iter().all(Result::is_ok));
    let seconds = start.elapsed().as_secs();
    assert_eq!((aws.calls("CreateVpcEndpoint").len(), seconds), (22, 61), "(22 - 3.5) / 0.3");
}

#[tokio::test(start_paused = true)]
async fn endpoints_that_aws_or_guardduty_created_are_not_adopted() {
    let endpoint = || {
        let endpoint = Endpoint::builder().vpc_endpoint_id("vpce-1").vpc_endpoint_type(VpcEndpointType::Interface);
        endpoint.service_name("com.amazonaws.us-east-1.guardduty-data")
    };
    let tag = Tag::builder().key("GuardDutyManaged").value("true").build();
    assert!(is_managed(&endpoint().requester_managed(false).build()));
    assert!(!is_managed(&endpoint().requester_managed(true).build()));
    let (session, known) = (Recorded::default().session(), HashMap::new());
    let network =
        Network { session: &session, owner: OWNER, root_id: VPC, known: &known, slots: None, consented: None };
    let shown = Shown::new(network, Key::new(keys::VPC), &[], &[]);
    assert!(Interface(endpoint().build()).spec(&shown).is_some());
    assert!(Interface(endpoint().tags(tag).build()).spec(&shown).is_none());
}

/// An answer of DescribeSubnets: `subnet-N` is in the AZ of the last digit of N.
fn zones(subnets: &[&str]) -> String {
    let items = subnets.iter().map(|id| {
        let zone = &id[id.len() - 1..];
        format!("<item><subnetId>{id}</subnetId><availabilityZone>zone-{zone}</availabilityZone></item>")
    });
    format!("<subnetSet>{}</subnetSet>", items.collect::<String>())
}

/// The subnets that each change removes and adds, such as `-subnet-1`.
fn moves(aws: &Recorded) -> Vec<String> {
    let of = |call: &HashMap<String, String>| {
        let ids = |name: &str, sign: &str| {
            let all = (1..9).map_while(|index| call.get(&format!("{name}.{index}")));
            all.map(|id| format!("{sign}{id}")).collect::<Vec<_>>()
        };
        [ids("RemoveSubnetId", "-"), ids("AddSubnetId", "+")].concat().join(" ")
    };
    aws.calls("ModifyVpcEndpoint").iter().map(|call| of(&call.clone().into_iter().collect())).collect()
}

#[tokio::test(start_paused = true)]
async fn an_endpoint_moves_one_zone_at_a_time() {
    let all = ["subnet-1", "subnet-2", "subnet-11", "subnet-12", "subnet-13"];
    let mut aws = Recorded::default()
        .on("ModifyVpcEndpoint", DONE)
        .on("DescribeSubnets", &zones(&all))
        .on("DescribeNetworkInterfaces", "<networkInterfaceSet/>");
    let steps: [&[&str]; 6] = [
        &["subnet-1", "subnet-2"],
        &["subnet-1", "subnet-2", "subnet-13"],
        &["subnet-2", "subnet-13"],
        &["subnet-11", "subnet-2", "subnet-13"],
        &["subnet-11", "subnet-13"],
        &["subnet-11", "subnet-12", "subnet-13"],
    ];
    for subnets in steps {
        aws = aws.on("DescribeVpcEndpoints", &shown("available", subnets, ""));
    }
    updated(&aws, &spec(KMS, &["subnet-1", "subnet-2"]), &spec(KMS, &all[2..])).await.unwrap();
    let moved = ["+subnet-13", "-subnet-1", "+subnet-11", "-subnet-2", "+subnet-12"];
    assert_eq!(moves(&aws), moved, "the zone that it did not have comes first");
}

#[tokio::test(start_paused = true)]
async fn a_killed_move_goes_on() {
    let all = ["subnet-1", "subnet-2", "subnet-11", "subnet-12"];
    let aws = Recorded::default()
        .on("ModifyVpcEndpoint", DONE)
        .on("DescribeSubnets", &zones(&all))
        .on("DescribeNetworkInterfaces", "<networkInterfaceSet/>")
        .on("DescribeVpcEndpoints", &shown("available", &["subnet-2"], ""))
        .on("DescribeVpcEndpoints", &shown("available", &["subnet-2", "subnet-11"], ""))
        .on("DescribeVpcEndpoints", &shown("available", &["subnet-11"], ""))
        .on("DescribeVpcEndpoints", &shown("available", &["subnet-11", "subnet-12"], ""));
    updated(&aws, &spec(KMS, &["subnet-1", "subnet-2"]), &spec(KMS, &all[2..])).await.unwrap();
    assert_eq!(moves(&aws), ["+subnet-11", "-subnet-2", "+subnet-12"]);
}

#[tokio::test(start_paused = true)]
async fn a_policy_names_the_own_vpc() {
    let with = |action: &str| {
        let statement = format!(r#"{{"Action":"{action}","Condition":{{"StringEquals":{{"aws:SourceVpc":"VPC"}}}}}}"#);
        let text = format!(r#"{{"Statement":{statement}}}"#);
        let policy = Input::Known(Some(text.replace("VPC", "${fgw:vpc_id}")));
        let settings = InterfaceEndpointSettings { policy, ..spec(KMS, &["subnet-1"]).settings };
        (InterfaceEndpoint { settings, ..spec(KMS, &["subnet-1"]) }, text.replace("VPC", "vpc-1"))
    };
    let ((before, first), (after, second)) = (with("kms:Sign"), with("kms:*"));
    let aws = Recorded::default()
        .on("CreateVpcEndpoint", CREATED)
        .on("ModifyVpcEndpoint", DONE)
        .on("DescribeVpcEndpoints", &shown("available", &["subnet-1"], ""));
    created(&aws, &before).await.unwrap();
    assert_eq!(aws.calls("CreateVpcEndpoint")[0]["PolicyDocument"], first);
    updated(&aws, &before, &after).await.unwrap();
    assert_eq!(aws.calls("ModifyVpcEndpoint")[0]["PolicyDocument"], second);
}
