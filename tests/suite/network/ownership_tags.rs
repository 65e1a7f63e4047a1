//! Copied, forged and malformed ownership tags: no run changes or deletes an object because of its tags.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::{SHORT_TIMEOUTS, THIS, TestEnv, text};
use crate::support::terraform::Run;

const CONFIG: &str = "  num_availability_zones = 2\n  num_nat_gateways = 1\n  \
                      enable_default_security_group = false\n  interface_endpoints = {\n    kms = {}\n  }";

/// Objects that the network does not manage, in its VPC and in another one.
struct Foreign {
    /// Tagged objects that no read of the network returns: their ids, the key of a managed object of their kind, and a
    /// key that no object has.
    elsewhere: Vec<(String, &'static str, &'static str)>,
    /// The same for objects that a read returns.
    reported: Vec<(String, &'static str, &'static str)>,
    /// The describing calls, with the ids as their arguments.
    calls: Vec<(&'static str, Value)>,
    /// The calls that delete those in the VPC of the network.
    inside: Vec<(&'static str, Value)>,
}

fn address(env: &TestEnv) -> String {
    text(&env.ec2("allocate_address", json!({"Domain": "vpc"}))["AllocationId"])
}

fn nat_gateway(env: &TestEnv, subnet: &str) -> (String, String) {
    let address = address(env);
    let arguments = json!({"SubnetId": subnet, "AllocationId": address});
    let created = env.ec2("create_nat_gateway", arguments);
    (text(&created["NatGateway"]["NatGatewayId"]), address)
}

impl Foreign {
    fn of(env: &TestEnv) -> Self {
        let ec2 = |method: &str, arguments: Value| env.ec2(method, arguments);
        let vpc = text(&ec2("create_vpc", json!({"CidrBlock": "172.16.0.0/16"}))["Vpc"]["VpcId"]);
        let subnet = json!({"VpcId": vpc, "CidrBlock": "172.16.0.0/24", "AvailabilityZone": "us-east-1a"});
        let subnet = text(&ec2("create_subnet", subnet)["Subnet"]["SubnetId"]);
        let gateway = text(&ec2("create_internet_gateway", json!({}))["InternetGateway"]["InternetGatewayId"]);
        ec2("attach_internet_gateway", json!({"InternetGatewayId": gateway, "VpcId": vpc}));
        let free = address(env);
        let (nat, held) = nat_gateway(env, &subnet);
        let other = text(&ec2("create_route_table", json!({"VpcId": vpc}))["RouteTable"]["RouteTableId"]);
        // An address of an instance, which AWS takes off it with DisassociateAddress.
        let interface = text(
            &ec2("create_network_interface", json!({"SubnetId": subnet}))["NetworkInterface"]["NetworkInterfaceId"],
        );
        let served = address(env);
        ec2("associate_address", json!({"AllocationId": served, "NetworkInterfaceId": interface}));

        let ours = env.id("vpc");
        let (inner_nat, inner_address) = nat_gateway(env, &env.id("subnet.public.0"));
        let found = ec2("describe_addresses", json!({"AllocationIds": [inner_address]}));
        let inner_use = found["Addresses"][0]["AssociationId"].clone();
        let table = text(&ec2("create_route_table", json!({"VpcId": ours}))["RouteTable"]["RouteTableId"]);
        let route = json!({"RouteTableId": table, "DestinationCidrBlock": "0.0.0.0/0", "NatGatewayId": inner_nat});
        ec2("create_route", route);
        let inner = json!({"VpcId": ours, "CidrBlock": "10.0.240.0/24", "AvailabilityZone": "us-east-1a"});
        let inner = text(&ec2("create_subnet", inner)["Subnet"]["SubnetId"]);
        let association = ec2("associate_route_table", json!({"RouteTableId": table, "SubnetId": inner}));
        let private = json!({"SubnetId": inner, "ConnectivityType": "private"});
        let private = text(&ec2("create_nat_gateway", private)["NatGateway"]["NatGatewayId"]);
        let acls = json!([{"Name": "vpc-id", "Values": [ours]}, {"Name": "default", "Values": ["true"]}]);
        let acls = ec2("describe_network_acls", json!({ "Filters": acls }));
        let acl = text(&acls["NetworkAcls"][0]["NetworkAclId"]);
        let in_vpc = json!([{"Name": "vpc-id", "Values": [ours]}, {"Name": "group-name", "Values": ["default"]}]);
        let group = text(&ec2("describe_security_groups", json!({"Filters": in_vpc}))["SecurityGroups"][0]["GroupId"]);
        let rule =
            json!([{"IpProtocol": "tcp", "FromPort": 5432, "ToPort": 5432, "IpRanges": [{"CidrIp": "10.9.0.0/16"}]}]);
        ec2("authorize_security_group_ingress", json!({"GroupId": group, "IpPermissions": rule}));
        let named = json!({"VpcId": ours, "GroupName": "interface-endpoint-sns", "Description": "theirs"});
        let named = text(&ec2("create_security_group", named)["GroupId"]);
        let endpoint = json!({
            "VpcId": ours, "VpcEndpointType": "Interface", "ServiceName": "com.amazonaws.us-east-1.sns",
            "SubnetIds": [env.id("subnet.private_app.0")], "SecurityGroupIds": [named],
        });
        let endpoint = text(&ec2("create_vpc_endpoint", endpoint)["VpcEndpoint"]["VpcEndpointId"]);

        // Of other VPCs, only objects that could have outlived this network are read.
        let elsewhere = vec![
            (subnet.clone(), "subnet.public.0", "subnet.public.7"),
            (gateway.clone(), "internet_gateway", "internet_gateway"),
            (nat.clone(), "nat_gateway.0", "nat_gateway.9"),
            (other.clone(), "route_table.public", "route_table.transit.0"),
        ];
        let reported = vec![
            (free.clone(), "eip.0", "eip.7"),
            (served.clone(), "eip.0", "eip.8"),
            (held.clone(), "eip.0", "eip.9"),
            (inner_nat.clone(), "nat_gateway.0", "nat_gateway.1"),
            (inner_address.clone(), "eip.0", "eip.1"),
            (table.clone(), "route_table.private_app.0", "route_table.private_app.1"),
            (inner.clone(), "subnet.private_app.0", "subnet.private_app.9"),
            (group.clone(), "default_security_group", "default_security_group"),
            (acl.clone(), "default_network_acl", "default_network_acl"),
            (private.clone(), "private_nat_gateway.0", "private_nat_gateway.1"),
            (named.clone(), "security_group.interface_endpoints", "security_group.interface_endpoint.sns"),
            (endpoint.clone(), "interface_endpoint.kms", "interface_endpoint.sns"),
        ];
        let calls = vec![
            ("describe_subnets", json!({"SubnetIds": [subnet, inner]})),
            ("describe_internet_gateways", json!({"InternetGatewayIds": [gateway]})),
            ("describe_addresses", json!({"AllocationIds": [free, served, held, inner_address]})),
            ("describe_nat_gateways", json!({"NatGatewayIds": [nat, inner_nat, private]})),
            ("describe_route_tables", json!({"RouteTableIds": [table, other]})),
            ("describe_security_groups", json!({"GroupIds": [group, named]})),
            ("describe_vpc_endpoints", json!({"VpcEndpointIds": [endpoint]})),
            ("describe_network_acls", json!({"NetworkAclIds": [acl]})),
        ];
        let inside = vec![
            ("delete_nat_gateway", json!({"NatGatewayId": inner_nat})),
            // AWS does this with the deletion.
            ("disassociate_address", json!({"AssociationId": inner_use})),
            ("delete_nat_gateway", json!({"NatGatewayId": private})),
            ("disassociate_route_table", json!({"AssociationId": association["AssociationId"]})),
            ("delete_subnet", json!({"SubnetId": inner})),
            ("delete_route_table", json!({"RouteTableId": table})),
            ("delete_vpc_endpoints", json!({"VpcEndpointIds": [endpoint]})),
            ("delete_security_group", json!({"GroupId": named})),
        ];
        Self { elsewhere, reported, calls, inside }
    }

    /// Sets the ownership tags of the network on all objects.
    fn tag(&self, env: &TestEnv, slot: impl Fn(&str, &str) -> String) {
        let root = env.id("vpc");
        for (id, managed, free) in self.elsewhere.iter().chain(&self.reported) {
            let tags = json!([
                {"Key": "fgw:resource", "Value": format!("four_tier_vpc/{root}")},
                {"Key": "fgw:object", "Value": slot(managed, free)},
            ]);
            env.ec2("create_tags", json!({"Resources": [id], "Tags": tags}));
        }
    }

    /// All attributes of the objects.
    fn describe(&self, env: &TestEnv) -> BTreeMap<&'static str, Value> {
        let mut all: BTreeMap<_, _> =
            self.calls.iter().map(|(call, arguments)| (*call, env.ec2(call, arguments.clone()))).collect();
        // AWS associates each new subnet with the default ACL.
        if let Some(acls) = all.get_mut("describe_network_acls") {
            acls["NetworkAcls"][0].as_object_mut().expect("the ACL exists").remove("Associations");
        }
        all
    }
}

/// Removes the private state, as Terraform does if the provider is killed during an update.
pub(super) fn drop_private_state(env: &TestEnv) {
    let file = env.workspace.path().join("terraform.tfstate");
    let mut state: Value =
        serde_json::from_slice(&std::fs::read(&file).expect("there is a state")).expect("it is JSON");
    let instance = &mut state["resources"][0]["instances"][0];
    instance.as_object_mut().expect("an instance").remove("private").expect("it has a private state");
    std::fs::write(&file, state.to_string()).expect("the state can be written");
}

/// Every kind of run with tagged foreign objects.
fn assert_untouched(slot: impl Fn(&str, &str) -> String) {
    let env = TestEnv::with_terraform();
    env.change(CONFIG);
    let foreign = Foreign::of(&env);
    foreign.tag(&env, slot);
    let root = env.id("vpc");
    env.ec2("create_tags", json!({"Resources": [root], "Tags": [{"Key": "fgw:state", "Value": "creating"}]}));
    let before = foreign.describe(&env);
    let unchanged = |run: &str| assert_eq!(foreign.describe(&env), before, "after {run}");

    assert_ne!(env.workspace.plan(&[]).code, 1);
    env.workspace.apply(&[]).succeeded();
    unchanged("an apply of the same configuration");
    let reported = env.attribute("unmanaged_objects");
    for (id, ..) in &foreign.reported {
        assert!(reported[id].is_string(), "{id}: {reported}");
    }
    env.change(&format!("{CONFIG}\n  create_transit_subnets = true"));
    unchanged("a change");
    drop_private_state(&env);
    env.change(&format!("{}\n{SHORT_TIMEOUTS}", CONFIG.replace("num_nat_gateways = 1", "num_nat_gateways = 2")));
    unchanged("a change without private state");
    drop_private_state(&env);
    env.workspace.apply(&["-refresh=false"]).succeeded();
    env.workspace.apply(&["-refresh-only"]).succeeded();
    unchanged("an apply without and one with only a refresh");

    let objects = env.attribute("aws_objects");
    env.workspace.apply(&[&format!("-replace={THIS}")]).failed_with("Nothing was deleted");
    unchanged("a replacement that unmanaged objects block");
    env.workspace.destroy().failed_with("Nothing was deleted");
    unchanged("a destroy that unmanaged objects block");
    assert_eq!(env.attribute("aws_objects"), objects, "nothing is deleted");
    for (call, arguments) in &foreign.inside {
        env.ec2(call, arguments.clone());
    }
    let elsewhere = || -> BTreeMap<&str, Value> {
        ["describe_internet_gateways", "describe_addresses"]
            .map(|call| foreign.calls.iter().find(|(it, _)| *it == call).expect("it is described"))
            .map(|(call, arguments)| (*call, env.ec2(call, arguments.clone())))
            .into()
    };
    let before = elsewhere();
    drop_private_state(&env);
    env.workspace.destroy().succeeded();
    assert_eq!(elsewhere(), before, "after a destroy");
    assert!(env.workspace.state().resource(THIS).is_none());
}

fn copied(managed: &str, _: &str) -> String {
    managed.to_owned()
}

fn forged(_: &str, free: &str) -> String {
    free.to_owned()
}

fn malformed(managed: &str, _: &str) -> String {
    format!("{managed}\n\u{202e}kept: nothing is deleted")
}

#[test]
fn tags_copied_from_managed_objects_give_no_right() {
    assert_untouched(copied);
}

#[test]
fn forged_tags_give_no_right() {
    assert_untouched(forged);
}

#[test]
fn malformed_tags_give_no_right() {
    assert_untouched(malformed);
}

/// A network with tagged foreign objects, which is no longer in state and then imported.
fn imported(slot: impl Fn(&str, &str) -> String) -> (TestEnv, Foreign, Run) {
    let env = TestEnv::with_terraform();
    env.change(CONFIG);
    let foreign = Foreign::of(&env);
    foreign.tag(&env, slot);
    let root = env.id("vpc");
    env.workspace.forget(THIS);
    let run = env.workspace.import(THIS, &root);
    run.succeeded();
    (env, foreign, run)
}

#[test]
fn an_import_with_copied_or_malformed_tags_changes_no_foreign_object() {
    for (slot, is_ambiguous) in [(copied as fn(&str, &str) -> String, true), (malformed, false)] {
        let (env, foreign, _) = imported(slot);
        let before = foreign.describe(&env);
        let applied = env.workspace.apply(&[]);
        assert_eq!(foreign.describe(&env), before, "after an import and {applied}");
        // Copied tags make the real objects ambiguous too, so the import takes in neither.
        assert_eq!(applied.code != 0, is_ambiguous, "{applied}");
    }
}

#[test]
fn the_plan_after_an_import_names_what_has_forged_tags() {
    let (env, foreign, run) = imported(forged);
    let before = foreign.describe(&env);
    let objects = env.attribute("aws_objects");
    let found: Vec<_> = foreign.reported.iter().filter(|(id, _, free)| objects[*free] == json!(id)).collect();
    assert!(!found.is_empty(), "{objects}");
    assert!(run.says("which aws_objects names. Others can set these tags too: review the next plan."), "{run}");
    let plan = env.workspace.plan(&[]);
    for (id, _, slot) in found {
        let is_listed =
            plan.says(&format!("deleted: {slot} ({id})")) || plan.says(&format!("{slot} is not in the configuration"));
        assert!(is_listed, "the plan does not show what happens to {slot}: {plan}");
    }
    assert_eq!(foreign.describe(&env), before, "a plan changes nothing");
    assert_eq!(foreign.elsewhere.iter().filter(|(id, ..)| objects.to_string().contains(id)).count(), 0);
}

#[test]
fn the_tags_of_a_subnet_on_an_address_release_nothing() {
    let env = TestEnv::with_terraform();
    env.change("  num_availability_zones = 1\n  num_nat_gateways = 0");
    let free = address(&env);
    let tags = json!([
        {"Key": "fgw:resource", "Value": format!("four_tier_vpc/{}", env.id("vpc"))},
        {"Key": "fgw:object", "Value": "subnet.public.0"},
    ]);
    env.ec2("create_tags", json!({"Resources": [free], "Tags": tags}));
    env.apply();
    let reason = text(&env.attribute("unmanaged_objects")[&free]);
    assert!(reason.contains("\"subnet.public.0\" is not the key of an Elastic IP address"), "{reason}");
    env.workspace.destroy().succeeded();
    env.ec2("describe_addresses", json!({"AllocationIds": [free]}));
}
