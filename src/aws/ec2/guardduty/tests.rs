use super::*;
use crate::aws::ec2::recorded::{Notes, Recorded, VPC};
use crate::model::keys::network as keys;
use crate::model::{Input, Key, Tier};

type Lookup = fn() -> std::future::Ready<Result<bool, Failure>>;

/// A subnet or VPC of which each answer about a missing object is an answer about itself.
fn object(within: Within<'_>) -> Object<'_, fn(&Failure) -> bool, Lookup> {
    Object { vpc_id: VPC, within, is_missing: |_| true, exists: || std::future::ready(Ok(false)) }
}

const DONE: &str = "<return>true</return>";
const SERVICE: &str = "com.amazonaws.us-east-1.guardduty-data";

fn endpoint(id: &str, service: &str, state: &str, tag: &str) -> String {
    format!(
        "<vpcEndpointSet><item><vpcEndpointId>{id}</vpcEndpointId><vpcEndpointType>Interface</vpcEndpointType><serviceName>\
         {service}</serviceName><state>{state}</state><subnetIdSet><item>subnet-1</item><item>subnet-2</item></subnetIdSet>\
         <groupSet><item><groupId>sg-9</groupId></item></groupSet><networkInterfaceIdSet><item>eni-1</item>\
         </networkInterfaceIdSet><tagSet><item><key>GuardDutyManaged</key><value>{tag}</value></item></tagSet></item>\
         </vpcEndpointSet>"
    )
}

fn of_guardduty(state: &str) -> String {
    endpoint("vpce-9", SERVICE, state, "true")
}

fn groups(name: &str) -> String {
    format!(
        "<securityGroupInfo><item><groupId>sg-9</groupId><groupName>{name}</groupName><tagSet><item><key>GuardDutyManaged\
         </key><value>true</value></item></tagSet></item></securityGroupInfo>"
    )
}

fn subnet() -> Key {
    keys::subnet(Tier::Public, 0, "use1-az1", &Input::Known("10.0.0.0/24".into()))
}

/// The subnet `subnet-1` or the VPC, whose deletion is rejected `rejections` times.
struct Deleted {
    aws: Recorded,
    within: Within<'static>,
    guardduty: GuardDutyObjects,
}

impl Deleted {
    fn new(within: Within<'static>, guardduty: GuardDutyObjects, rejections: usize) -> Deleted {
        let mut aws = Recorded::default();
        for _ in 0..rejections {
            aws = aws.fail("DeleteSubnet", 400, "DependencyViolation", "has dependencies");
        }
        Deleted { aws: aws.on("DeleteSubnet", DONE), within, guardduty }
    }

    async fn run(&self, limit: Duration) -> Result<(), Failure> {
        let notes = Notes { guardduty: self.guardduty, ..Notes::default() };
        let session = self.aws.session();
        let body = async |operation: &Operation<'_>| {
            delete_without(operation, object(self.within), || async {
                let call = session.ec2.delete_subnet().subnet_id("subnet-1").send().await;
                call.map(|_| ()).or_failure("DeleteSubnet")
            })
            .await
        };
        notes.run_for(&session, &subnet(), &[], limit, body).await
    }
}

const SECONDS: Duration = Duration::from_secs(20);

#[tokio::test(start_paused = true)]
async fn without_permission_by_the_configuration_nothing_is_removed() {
    let deleted = Deleted::new(Within::Subnet("subnet-1"), GuardDutyObjects::Keep, 2);
    deleted.run(SECONDS).await.unwrap();
    assert_eq!(deleted.aws.actions(), ["DeleteSubnet"; 3]);
}

#[tokio::test(start_paused = true)]
async fn a_deletable_subnet_causes_no_search() {
    let deleted = Deleted::new(Within::Subnet("subnet-1"), GuardDutyObjects::LeaveSubnets, 0);
    deleted.run(SECONDS).await.unwrap();
    assert_eq!(deleted.aws.actions(), ["DeleteSubnet"]);
}

#[tokio::test(start_paused = true)]
async fn an_update_removes_its_subnet_from_the_endpoint() {
    let mut deleted = Deleted::new(Within::Subnet("subnet-1"), GuardDutyObjects::LeaveSubnets, 2);
    deleted.aws = deleted.aws.on("DescribeVpcEndpoints", &of_guardduty("available")).on("ModifyVpcEndpoint", DONE);
    deleted.run(SECONDS).await.unwrap();
    let actions = deleted.aws.actions();
    assert_eq!(actions, ["DeleteSubnet", "DescribeVpcEndpoints", "ModifyVpcEndpoint", "DeleteSubnet", "DeleteSubnet"]);
    let call = &deleted.aws.calls("ModifyVpcEndpoint")[0];
    assert_eq!((call["VpcEndpointId"].as_str(), call["RemoveSubnetId.1"].as_str()), ("vpce-9", "subnet-1"));
    assert!(!call.contains_key("RemoveSubnetId.2"), "the other subnet stays: {call:?}");
}

#[tokio::test(start_paused = true)]
async fn a_change_waits_for_an_earlier_change_of_the_endpoint() {
    let busy = ("OperationInProgress", "VpcEndpoint modify operation in progress");
    let mut deleted = Deleted::new(Within::Subnet("subnet-1"), GuardDutyObjects::LeaveSubnets, 1);
    let aws = deleted.aws.on("DescribeVpcEndpoints", &of_guardduty("available"));
    deleted.aws = aws.fail("ModifyVpcEndpoint", 400, busy.0, busy.1).on("ModifyVpcEndpoint", DONE);
    deleted.run(SECONDS).await.unwrap();
    assert_eq!(deleted.aws.calls("ModifyVpcEndpoint").len(), 2);
}

#[tokio::test(start_paused = true)]
async fn other_endpoints_are_not_touched() {
    let others = [
        endpoint("vpce-9", SERVICE, "available", "false"),
        endpoint("vpce-9", "com.amazonaws.us-east-1.ssm", "available", "true"),
        of_guardduty("deleting"),
    ];
    for (other, handling) in
        others.iter().zip([GuardDutyObjects::LeaveSubnets, GuardDutyObjects::Delete].iter().cycle())
    {
        let mut deleted = Deleted::new(Within::Subnet("subnet-1"), *handling, 1);
        deleted.aws = deleted.aws.on("DescribeVpcEndpoints", other);
        deleted.run(SECONDS).await.unwrap();
        assert_eq!(deleted.aws.actions(), ["DeleteSubnet", "DescribeVpcEndpoints", "DeleteSubnet"], "{other}");
    }
    // The endpoint is in other subnets only.
    for handling in [GuardDutyObjects::LeaveSubnets, GuardDutyObjects::Delete] {
        let mut deleted = Deleted::new(Within::Subnet("subnet-3"), handling, 1);
        deleted.aws = deleted.aws.on("DescribeVpcEndpoints", &of_guardduty("available"));
        deleted.run(SECONDS).await.unwrap();
        assert_eq!(deleted.aws.actions(), ["DeleteSubnet", "DescribeVpcEndpoints", "DeleteSubnet"]);
    }
}

#[tokio::test(start_paused = true)]
async fn a_removal_extends_the_short_wait_of_an_update() {
    let run = async |endpoints: &str| {
        let mut deleted = Deleted::new(Within::Subnet("subnet-1"), GuardDutyObjects::LeaveSubnets, 1000);
        deleted.aws = deleted.aws.on("DescribeVpcEndpoints", endpoints).on("ModifyVpcEndpoint", DONE);
        let notes = Notes { guardduty: deleted.guardduty, ..Notes::default() };
        let (session, start) = (deleted.aws.session(), Instant::now());
        let body = async |operation: &Operation<'_>| {
            let deadlines = Deadlines { in_use_until: start + SECONDS, ..operation.work.deadlines.clone() };
            let work = crate::cloud::OpContext { deadlines, ..operation.work.clone() };
            let operation = Operation { work: &work, ..*operation };
            delete_without(&operation, object(deleted.within), || async {
                let call = session.ec2.delete_subnet().subnet_id("subnet-1").send().await;
                call.map(|_| ()).or_failure("DeleteSubnet")
            })
            .await
        };
        let failure = notes.run_for(&session, &subnet(), &[], INTERFACES * 2, body).await.unwrap_err();
        assert_eq!(failure.cause, Cause::InUse);
        (start.elapsed(), deleted.aws.calls("DescribeVpcEndpoints").len())
    };
    assert_eq!(run("<vpcEndpointSet/>").await, (SECONDS, 1));
    let (waited, searches) = run(&of_guardduty("available")).await;
    assert_eq!(waited, INTERFACES);
    assert!((9..=11).contains(&searches), "GuardDuty may create its endpoint again: {searches}");
}

#[tokio::test(start_paused = true)]
async fn a_destroy_deletes_the_endpoint_and_then_the_group() {
    let mut deleted = Deleted::new(Within::Vpc, GuardDutyObjects::Delete, 1);
    deleted.aws = deleted
        .aws
        .on("DescribeVpcEndpoints", &of_guardduty("available"))
        .on("DescribeVpcEndpoints", &of_guardduty("deleting"))
        .on("DescribeVpcEndpoints", "<vpcEndpointSet/>")
        .on("DeleteVpcEndpoints", "<unsuccessful/>")
        .on("DescribeSecurityGroups", &groups("GuardDutyManagedSecurityGroup-vpc-1"))
        .fail("DeleteSecurityGroup", 400, "DependencyViolation", "has a dependent object")
        .on("DeleteSecurityGroup", DONE);
    deleted.run(SECONDS).await.unwrap();
    assert_eq!(
        deleted.aws.actions(),
        [
            "DeleteSubnet",
            "DescribeVpcEndpoints",
            "DeleteVpcEndpoints",
            "DescribeVpcEndpoints",
            "DescribeVpcEndpoints",
            "DescribeSecurityGroups",
            "DeleteSecurityGroup",
            "DeleteSecurityGroup",
            "DeleteSubnet",
        ]
    );
    assert_eq!(deleted.aws.calls("DeleteVpcEndpoints")[0]["VpcEndpointId.1"], "vpce-9");
    assert_eq!(deleted.aws.calls("DeleteSecurityGroup")[0]["GroupId"], "sg-9");
}

#[tokio::test(start_paused = true)]
async fn a_denied_removal_fails_the_deletion() {
    let mut deleted = Deleted::new(Within::Subnet("subnet-1"), GuardDutyObjects::LeaveSubnets, 1);
    deleted.aws = deleted.aws.on("DescribeVpcEndpoints", &of_guardduty("available")).fail(
        "ModifyVpcEndpoint",
        403,
        "UnauthorizedOperation",
        "You are not authorized",
    );
    let failure = deleted.run(SECONDS).await.unwrap_err();
    assert_eq!((failure.cause, failure.action.as_str()), (Cause::Denied, "ModifyVpcEndpoint"));
}

#[test]
fn a_group_is_recognized_by_its_name_and_tag() {
    let group = |name: &str, value: &str| {
        let tag = Tag::builder().key("GuardDutyManaged").value(value).build();
        SecurityGroup::builder().group_name(name).tags(tag).build()
    };
    assert!(is_group(&group("GuardDutyManagedSecurityGroup-vpc-1", "true"), VPC));
    assert!(!is_group(&group("GuardDutyManagedSecurityGroup-vpc-2", "true"), VPC));
    assert!(!is_group(&group("GuardDutyManagedSecurityGroup-vpc-1", "false"), VPC));
    assert!(!is_group(&group("mine", "true"), VPC));
}
