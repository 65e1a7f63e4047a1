//! The endpoint and the security group that GuardDuty Runtime Monitoring creates in a VPC by itself.

use serde_json::{Value, json};

use super::{SHORT_TIMEOUTS, TestEnv, text};
use crate::support::proxy::lasts::Lasts;
use crate::support::terraform::Run;

const TWO_AZS: &str = "  num_availability_zones = 2\n  num_nat_gateways = 0\n  create_vpc_endpoints = false\n";

const ALLOWED: &str = "  num_availability_zones = 2\n  num_nat_gateways = 0\n  create_vpc_endpoints = false\n  \
                       delete_guardduty_resources = true\n";

/// The ids of the endpoint and of its security group.
struct Monitoring {
    endpoint: String,
    group: String,
}

impl Monitoring {
    /// Creates them as GuardDuty does: with its tag, and with an interface in the private app subnet of each AZ.
    fn of(env: &TestEnv) -> Monitoring {
        let vpc = env.id("vpc");
        let tags = |kind: &str| json!([{"ResourceType": kind, "Tags": [{"Key": "GuardDutyManaged", "Value": "true"}]}]);
        let group = json!({
            "VpcId": vpc, "GroupName": format!("GuardDutyManagedSecurityGroup-{vpc}"), "Description": "for GuardDuty",
            "TagSpecifications": tags("security-group"),
        });
        let group = text(&env.ec2("create_security_group", group)["GroupId"]);
        let endpoint = json!({
            "VpcId": vpc, "VpcEndpointType": "Interface", "ServiceName": "com.amazonaws.us-east-1.guardduty-data",
            "SubnetIds": [env.id("subnet.private_app.0"), env.id("subnet.private_app.1")],
            "SecurityGroupIds": [group], "TagSpecifications": tags("vpc-endpoint"),
        });
        let endpoint = text(&env.ec2("create_vpc_endpoint", endpoint)["VpcEndpoint"]["VpcEndpointId"]);
        Monitoring { endpoint, group }
    }

    /// The endpoint as boto3 shows it; `None` if it is deleted.
    fn shown(&self, env: &TestEnv) -> Option<Value> {
        let found = env.ec2("describe_vpc_endpoints", json!({"VpcEndpointIds": [self.endpoint]}));
        Some(found["VpcEndpoints"][0].clone()).filter(|it| it["State"] != "deleted")
    }

    fn delete(&self, env: &TestEnv) {
        env.ec2("delete_vpc_endpoints", json!({"VpcEndpointIds": [self.endpoint]}));
        env.ec2("delete_security_group", json!({"GroupId": self.group}));
    }

    fn assert_named(&self, run: &Run, text: &str) {
        for text in [&*self.endpoint, &*self.group, text] {
            assert!(run.says(text), "no {text:?} in\n{run}");
        }
    }
}

#[test]
fn a_destroy_names_the_objects_of_guardduty_and_keeps_them() {
    let env = TestEnv::new();
    env.change(&format!("{TWO_AZS}{SHORT_TIMEOUTS}"));
    let monitoring = Monitoring::of(&env);
    env.workspace.assert_nothing_to_do();
    let plan = env.workspace.plan(&["-destroy"]);
    assert_eq!(plan.code, 2, "{plan}");
    monitoring.assert_named(&plan, "set delete_guardduty_resources to true");

    env.proxy.clear_calls();
    let failed = env.workspace.destroy();
    failed.failed_with(": in use");
    assert_eq!(env.proxy.mutations().len(), 0, "nothing is deleted");
    monitoring.assert_named(&failed, "set delete_guardduty_resources to true");
    let touched = ["ModifyVpcEndpoint", "DeleteVpcEndpoints", "DeleteSecurityGroup"].map(|it| env.proxy.count(it));
    assert_eq!(touched, [0, 0, 0]);
    assert!(monitoring.shown(&env).is_some());
    monitoring.delete(&env);
    env.destroy();
}

#[test]
fn a_destroy_deletes_the_objects_of_guardduty_if_set() {
    let env = TestEnv::new();
    env.change(ALLOWED);
    let monitoring = Monitoring::of(&env);
    // Endpoints that GuardDuty did not create stay, even if they are of its service.
    let other = json!({
        "VpcId": env.id("vpc"), "VpcEndpointType": "Interface", "ServiceName": "com.amazonaws.us-east-1.guardduty-data",
    });
    let other = text(&env.ec2("create_vpc_endpoint", other)["VpcEndpoint"]["VpcEndpointId"]);
    let plan = env.workspace.plan(&["-destroy"]);
    monitoring.assert_named(&plan, "The destroy deletes the endpoint and its security group");
    env.ec2("delete_vpc_endpoints", json!({"VpcEndpointIds": [other]}));

    env.proxy.clear_calls();
    env.destroy();
    let calls = env.calls();
    assert!(calls.contains("DeleteSecurityGroup 1, ") && calls.contains("DeleteVpcEndpoints 1, "), "{calls}");
    assert!(!calls.contains("ModifyVpcEndpoint"), "{calls}");
    assert!(monitoring.shown(&env).is_none());
}

#[test]
fn an_az_leaves_the_endpoint_of_guardduty_if_set() {
    let env = TestEnv::new();
    env.change(ALLOWED);
    let monitoring = Monitoring::of(&env);
    let (kept, removed) = (env.id("subnet.private_app.0"), env.id("subnet.private_app.1"));
    // AWS deletes the network interface of the endpoint some time after the change of the endpoint.
    env.proxy.in_use("DeleteSubnet", Lasts::Answers(3));
    env.config(&ALLOWED.replace("num_availability_zones = 2", "num_availability_zones = 1"));
    let plan = env.workspace.plan(&[]);
    monitoring.assert_named(&plan, "the update removes it from the endpoint");
    let change = env.apply();
    assert!(
        change.calls.contains("ModifyVpcEndpoint 1") && !change.calls.contains("DeleteVpcEndpoints"),
        "{change:#?}"
    );
    let left = monitoring.shown(&env).expect("the endpoint stays");
    assert_eq!(left["SubnetIds"], json!([kept]));
    assert!(env.proxy.account().list_of("subnets").iter().all(|it| it["SubnetId"] != removed.as_str()));
    env.end();
}

#[test]
fn an_az_with_the_endpoint_of_guardduty_stays_pending_by_default() {
    let env = TestEnv::new();
    env.change(TWO_AZS);
    let monitoring = Monitoring::of(&env);
    let one = TWO_AZS.replace("num_availability_zones = 2", "num_availability_zones = 1");
    env.config(&format!("{one}{SHORT_TIMEOUTS}"));
    let plan = env.workspace.plan(&[]);
    monitoring.assert_named(&plan, "set delete_guardduty_resources to true");
    let applied = env.workspace.apply_plan();
    applied.succeeded();
    monitoring.assert_named(&applied, "subnet.private_app.1 is still in use");
    assert!(env.attribute("pending_deletion")["subnet.private_app.1"].is_string());

    // The input alone is no change of an object, but the pending deletion is one.
    let finished = env.change(&format!("{one}  delete_guardduty_resources = true\n"));
    assert!(finished.calls.contains("ModifyVpcEndpoint 1"), "{finished:#?}");
    env.end();
}
