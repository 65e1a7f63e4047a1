use super::*;
use crate::aws::ec2::recorded::{Notes, Recorded};
use crate::model::{Key, RuleSource, SecurityGroupRule};

const HTTPS: &str = "<securityGroupRuleSet><item><securityGroupRuleId>sgr-1</securityGroupRuleId><groupId>sg-1</groupId>\
                     <isEgress>false</isEgress><ipProtocol>tcp</ipProtocol><fromPort>443</fromPort><toPort>443</toPort>\
                     <cidrIpv4>10.0.0.0/16</cidrIpv4></item></securityGroupRuleSet>";

fn spec() -> SecurityGroup {
    let rule = SecurityGroupRule {
        protocol: "tcp".into(),
        from_port: Some(443),
        to_port: Some(443),
        source: RuleSource::CidrIpv4("10.0.0.0/16".into()),
        description: None,
    };
    SecurityGroup {
        vpc: Key::new("vpc"),
        ingress: Input::Known(vec![rule]),
        egress: Input::Known(Vec::new()),
        tags: Input::default(),
    }
}

/// A list of groups with these IDs and names.
fn groups(all: &[(&str, &str)]) -> String {
    let item = |(id, name): &(&str, &str)| {
        format!("<item><groupId>{id}</groupId><groupName>{name}</groupName><vpcId>vpc-1</vpcId></item>")
    };
    format!("<securityGroupInfo>{}</securityGroupInfo>", all.iter().map(item).collect::<String>())
}

async fn created(aws: &Recorded, notes: &Notes, slot: &str) -> Result<(), Failure> {
    let (vpc, key) = (Key::new("vpc"), Key::new(slot));
    notes.run(&aws.session(), &key, &[(&vpc, "vpc-1")], async |operation| create(operation, &spec()).await).await
}

#[tokio::test(start_paused = true)]
async fn a_foreign_group_with_the_name_is_named_with_its_adoption() {
    let duplicate = || Recorded::default().fail("CreateSecurityGroup", 400, "InvalidGroup.Duplicate", "exists");
    for (slot, other) in [
        (keys::ENDPOINTS_GROUP, "Interface-Endpoints"),
        ("security_group.interface_endpoint.kms", "INTERFACE-endpoint-kms"),
    ] {
        let aws = duplicate().on("DescribeSecurityGroups", &groups(&[("sg-8", "default"), ("sg-9", other)]));
        let failure = created(&aws, &Notes::default(), slot).await.unwrap_err();
        let says = format!(
            "sg-9, which this resource does not manage, has the name {other}. To take it over, set {slot:?} = \"sg-9\" in adopt"
        );
        assert!(failure.message.contains(&says), "{}", failure.message);
        let call = &aws.calls("DescribeSecurityGroups")[0];
        assert_eq!((call["Filter.1.Name"].as_str(), call["Filter.1.Value.1"].as_str()), ("vpc-id", "vpc-1"));
    }
}

#[tokio::test(start_paused = true)]
async fn a_group_whose_answer_was_lost_is_found_in_its_vpc() {
    let aws = Recorded::default()
        .fail("CreateSecurityGroup", 500, "InternalError", "lost")
        .on("DescribeSecurityGroups", &groups(&[("sg-1", "interface-endpoints")]))
        .on("DescribeSecurityGroupRules", HTTPS);
    let notes = Notes::default();
    created(&aws, &notes, keys::ENDPOINTS_GROUP).await.unwrap();
    assert_eq!(notes.ids(), ["sg-1"]);
    let call = &aws.calls("DescribeSecurityGroups")[0];
    let names = ["Filter.1.Name", "Filter.2.Name"].map(|name| call[name].as_str());
    assert_eq!(names, ["vpc-id", "tag:fgw:request"]);
}

/// The SDK repeats the calls.
#[tokio::test(start_paused = true)]
async fn rules_whose_answers_were_lost_are_read_again() {
    let egress = "<securityGroupRuleSet><item><securityGroupRuleId>sgr-0</securityGroupRuleId><groupId>sg-1</groupId>\
                  <isEgress>true</isEgress><ipProtocol>-1</ipProtocol><cidrIpv4>0.0.0.0/0</cidrIpv4></item>\
                  </securityGroupRuleSet>";
    let aws = Recorded::default()
        .on("CreateSecurityGroup", "<groupId>sg-1</groupId>")
        .on("DescribeSecurityGroupRules", egress)
        .fail("AuthorizeSecurityGroupIngress", 400, "InvalidPermission.Duplicate", "the rule already exists")
        .fail("RevokeSecurityGroupEgress", 400, "InvalidSecurityGroupRuleId.NotFound", "sgr-0 does not exist")
        .on("DescribeSecurityGroupRules", HTTPS);
    created(&aws, &Notes::default(), keys::ENDPOINTS_GROUP).await.unwrap();
    let read = "DescribeSecurityGroupRules";
    let (authorize, revoke) = ("AuthorizeSecurityGroupIngress", "RevokeSecurityGroupEgress");
    assert_eq!(aws.actions(), ["CreateSecurityGroup", read, authorize, revoke, read]);
}

#[tokio::test(start_paused = true)]
async fn a_deleted_group_counts_as_deleted_only_if_it_is_gone() {
    let entry = Entry::new(Key::new(keys::ENDPOINTS_GROUP), "sg-1", Spec::SecurityGroup(spec()));
    let deleted = async |code: &str, message: &str, listed: &str| {
        let aws = Recorded::default().fail("DeleteSecurityGroup", 400, code, message);
        let aws = aws.on("DescribeSecurityGroups", listed);
        let body = async |operation: &Operation<'_>| delete(operation, &entry).await;
        Notes::default().run(&aws.session(), &entry.key, &[], body).await.map_err(|it| it.cause)
    };
    let listed = groups(&[("sg-1", "interface-endpoints")]);
    assert_eq!(deleted("InvalidGroup.NotFound", "The security group 'sg-1' does not exist", &listed).await, Ok(()));
    assert_eq!(
        deleted("InvalidGroup.NotFound", "The security group 'sg-9' does not exist", &groups(&[])).await,
        Ok(())
    );
    assert_eq!(deleted("DependencyViolation", "sg-1 has a dependent object", &listed).await, Err(Cause::InUse));
}
