//! Tests of the test environment, on which the other tests rely.

#[path = "testbed/stages.rs"]
mod stages;
#[path = "testbed/acls_and_propagation.rs"]
mod acls_and_propagation;
#[path = "testbed/authorization.rs"]
mod authorization;
#[path = "testbed/cidr_blocks.rs"]
mod cidr_blocks;
#[path = "testbed/domains.rs"]
mod domains;
#[path = "testbed/endpoints.rs"]
mod endpoints;
#[path = "testbed/first_answers.rs"]
mod first_answers;
#[path = "testbed/flow_logs.rs"]
mod flow_logs;
#[path = "testbed/host.rs"]
mod host;
#[path = "testbed/instrument.rs"]
mod instrument;
#[path = "testbed/ipv6.rs"]
mod ipv6;
#[path = "testbed/parameters.rs"]
mod parameters;
#[path = "testbed/route_settings.rs"]
mod route_settings;
#[path = "testbed/terraform.rs"]
mod terraform;
#[path = "testbed/vpc_links.rs"]
mod vpc_links;
#[path = "testbed/zones.rs"]
mod zones;

use std::io::{BufRead, BufReader, Read};
use std::net::TcpStream;
use std::process::{Command, Stdio};

use serde_json::{Value, json};

use crate::support::emulator::Emulator;
use crate::support::http;
use crate::support::proxy::Proxy;
use crate::support::proxy::fault::Fault;
use crate::support::proxy::lasts::Lasts;
use crate::support::venv;
use crate::support::wait::until;

// The emulators and the virtual environment.

#[test]
fn proxied_calls_are_logged_and_reach_the_tests_account() {
    for proxy in [Proxy::moto(), Proxy::ministack()] {
        proxy.boto("ec2", "create_vpc", json!({"CidrBlock": "10.7.0.0/16"}));
        assert_eq!(proxy.account().list_of("vpcs")[0]["CidrBlock"], "10.7.0.0/16");
        assert_eq!(proxy.count("CreateVpc"), 1);
        let caller = proxy.boto("sts", "get_caller_identity", json!({}));
        assert_eq!(caller["Account"], proxy.account().id.as_str());
        let other = proxy.account().emulator.account();
        assert_eq!(other.list_of("vpcs"), Vec::<Value>::new());
    }
}

#[test]
fn venv_script_does_nothing_if_the_environment_is_current() {
    let directory = venv::venv().to_owned();
    let python = directory.join("pyvenv.cfg");
    let created = python.metadata().and_then(|about| about.modified()).expect("an environment has this file");
    assert_eq!(venv::create(), directory);
    assert_eq!(python.metadata().and_then(|about| about.modified()).expect("the file still exists"), created);
}

#[test]
fn emulators_end_when_the_test_process_is_killed() {
    const CHILD: &str = "FGW_TESTBED_CHILD";
    if std::env::var_os(CHILD).is_some() {
        eprintln!("ports {} {}", Emulator::moto().port, Emulator::ministack().port);
        // Wait until the process is killed or the other end of the pipe is closed.
        let _end = std::io::stdin().read(&mut [0]);
        return;
    }
    let mut child = Command::new(std::env::current_exe().expect("a test is a file"))
        .args(["--exact", "testbed::emulators_end_when_the_test_process_is_killed", "--nocapture"])
        .env(CHILD, "1")
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .expect("a test binary can be run again");
    let lines = BufReader::new(child.stderr.take().expect("stderr is piped")).lines().map_while(Result::ok);
    let ports = lines.into_iter().find_map(|line| line.strip_prefix("ports ").map(str::to_owned)).expect("ports");
    let ports: Vec<u16> = ports.split(' ').map(|port| port.parse().expect("a port")).collect();
    let listens = |port: &u16| TcpStream::connect(("127.0.0.1", *port)).is_ok();
    assert!(ports.iter().all(listens));
    // SIGKILL: no destructor of the child runs.
    child.kill().expect("the child is ours");
    child.wait().expect("the child is ours");
    until("the emulators have ended with their test process", || !ports.iter().any(listens));
}

// The log and faults.

#[test]
fn scripted_error_affects_only_the_calls_it_names() {
    let proxy = Proxy::moto();
    proxy.fault(Fault::on("CreateVpc").nth(2).answer(400, "VpcLimitExceeded", "no more"));
    let create = || proxy.try_boto("ec2", "create_vpc", json!({"CidrBlock": "10.0.0.0/16"}));
    create().expect("the first call is not affected");
    let error = create().expect_err("the second call fails");
    assert_eq!((error.code.as_str(), error.message.as_str()), ("VpcLimitExceeded", "no more"));
    create().expect("the third call is not affected");
    assert_eq!(proxy.account().list_of("vpcs").len(), 2);
    let calls = proxy.calls();
    assert_eq!(calls.iter().map(|call| call.status).collect::<Vec<_>>(), [200, 400, 200]);
    assert_eq!(calls[1].error.as_deref(), Some("VpcLimitExceeded"));
    assert!(calls[1].injected && !calls[0].injected);
    assert_eq!(proxy.succeeded("CreateVpc"), 2);
}

#[test]
fn lost_response_takes_effect_and_lost_request_does_not() {
    let proxy = Proxy::moto();
    proxy.fault(Fault::on("CreateVpc").nth(1).after_work().reset());
    proxy.fault(Fault::on("CreateVpc").nth(2).reset());
    for _ in 0..2 {
        let error = proxy.try_boto("ec2", "create_vpc", json!({"CidrBlock": "10.0.0.0/16"})).expect_err("no response");
        assert_eq!(error.code, "ConnectionClosedError");
    }
    assert_eq!(proxy.account().list_of("vpcs").len(), 1);
}

#[test]
fn errors_use_the_protocol_of_each_service() {
    let proxy = Proxy::ministack();
    proxy.fault(Fault::on("*").answer(400, "ScriptedException", "scripted"));
    for (service, method, arguments) in [
        ("ec2", "describe_vpcs", json!({})),
        ("sts", "get_caller_identity", json!({})),
        ("apigatewayv2", "get_apis", json!({})),
        ("lambda", "get_policy", json!({"FunctionName": "f"})),
        ("logs", "describe_log_groups", json!({})),
        ("route53", "list_hosted_zones", json!({})),
    ] {
        let error = proxy.try_boto(service, method, arguments).expect_err("every call fails");
        assert_eq!((error.code.as_str(), error.message.as_str()), ("ScriptedException", "scripted"), "{service}");
    }
    assert_eq!(proxy.by_action()["GetPolicy"], 1);
    assert_eq!(proxy.calls()[3].call.param("FunctionName"), "f");
}

#[test]
fn log_shows_concurrent_calls() {
    let proxy = Proxy::moto();
    proxy.pause();
    let port = proxy.endpoint().rsplit(':').next().and_then(|port| port.parse().ok()).expect("a port");
    let describe = || {
        let scope =
            "AWS4-HMAC-SHA256 Credential=1/20260101/us-east-1/ec2/aws4_request, SignedHeaders=host, Signature=0";
        http::Request::new(port, "POST", "/")
            .header("authorization", scope)
            .header("content-type", "application/x-www-form-urlencoded")
            .body("Action=DescribeVpcs&Version=2016-11-15")
            .send()
            .expect("the proxy answers")
    };
    std::thread::scope(|scope| {
        let threads: Vec<_> = (0..3).map(|_| scope.spawn(describe)).collect();
        until("three calls are in flight", || proxy.count_like(|record| record.ended.is_none()) == 3);
        assert!(threads.iter().all(|thread| !thread.is_finished()), "a call was answered");
        proxy.resume();
        for thread in threads {
            assert_eq!(thread.join().expect("no panic").status, 200);
        }
    });
    assert_eq!(proxy.peak_concurrency(), 3);
    assert!(proxy.calls()[0].overlaps(&proxy.calls()[2]));
    proxy.clear_calls();
    describe();
    describe();
    assert_eq!(proxy.peak_concurrency(), 1);
    assert_eq!(proxy.mutations().len(), 0);
}

#[test]
fn unsupported_call_fails_the_test() {
    type Unknown = (fn() -> Proxy, &'static str, &'static str, Value);
    let unknown: [Unknown; 4] = [
        (Proxy::moto, "ec2", "create_ipam", json!({})),
        (
            Proxy::moto,
            "apigatewayv2",
            "create_authorizer",
            json!({"ApiId": "a", "Name": "guard", "AuthorizerType": "REQUEST", "IdentitySource": []}),
        ),
        (Proxy::ministack, "ec2", "associate_vpc_cidr_block", json!({"VpcId": "vpc-1"})),
        (Proxy::ministack, "logs", "list_anomalies", json!({})),
    ];
    for (start, service, method, arguments) in unknown {
        let proxy = start();
        let error = proxy.try_boto(service, method, arguments.clone()).expect_err("the emulator does not support it");
        assert_eq!(error.code, "EmulatorCannot", "an SDK would retry {method}: {error:?}");
        let panic =
            std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| proxy.check())).expect_err("it must panic");
        let message = panic.downcast_ref::<String>().expect("a panic with a text");
        assert!(message.contains("the emulator cannot serve this test"), "{message}");
        proxy.check();
        proxy.fault(Fault::on("*").answer(400, "AccessDenied", ""));
        assert_eq!(proxy.try_boto(service, method, arguments).expect_err("scripted").code, "AccessDenied");
        proxy.check();
    }
}

#[test]
fn proxy_panics_on_drop_after_an_unsupported_call() {
    let dropped = std::panic::catch_unwind(|| {
        let proxy = Proxy::moto();
        let _rejected = proxy.try_boto("ec2", "create_ipam", json!({}));
    });
    assert!(dropped.is_err());
}

// Corrections of moto.

/// A VPC with two subnets, an attached internet gateway and an address.
struct Network {
    proxy: Proxy,
    vpc: String,
    subnets: [String; 2],
    gateway: String,
    address: String,
}

impl Network {
    fn new() -> Self {
        let proxy = Proxy::moto();
        let vpc =
            proxy.boto("ec2", "create_vpc", json!({"CidrBlock": "10.0.0.0/16", "AmazonProvidedIpv6CidrBlock": true}));
        let vpc = text(&vpc["Vpc"]["VpcId"]);
        let subnet = |number: u8| {
            let cidr = format!("10.0.{number}.0/24");
            let zone = "us-east-1a";
            let created =
                proxy.boto("ec2", "create_subnet", json!({"VpcId": vpc, "CidrBlock": cidr, "AvailabilityZone": zone}));
            text(&created["Subnet"]["SubnetId"])
        };
        let subnets = [subnet(0), subnet(1)];
        let gateway =
            text(&proxy.boto("ec2", "create_internet_gateway", json!({}))["InternetGateway"]["InternetGatewayId"]);
        proxy.boto("ec2", "attach_internet_gateway", json!({"InternetGatewayId": gateway, "VpcId": vpc}));
        let address = text(&proxy.boto("ec2", "allocate_address", json!({"Domain": "vpc"}))["AllocationId"]);
        Self { proxy, vpc, subnets, gateway, address }
    }

    fn ec2(&self, method: &str, arguments: Value) -> Value {
        self.proxy.boto("ec2", method, arguments)
    }

    fn rejected(&self, method: &str, arguments: Value) -> String {
        self.proxy.try_boto("ec2", method, arguments).expect_err("AWS rejects this").code
    }

    fn nat(&self) -> String {
        let arguments =
            json!({"SubnetId": self.subnets[0], "AllocationId": self.address, "ConnectivityType": "public"});
        text(&self.ec2("create_nat_gateway", arguments)["NatGateway"]["NatGatewayId"])
    }

    /// The IPv6 range of the VPC. The first answer after its creation shows it as associating.
    fn ipv6_block(&self) -> Value {
        let shown = || {
            let found = self.ec2("describe_vpcs", json!({"VpcIds": [self.vpc]}));
            found["Vpcs"][0]["Ipv6CidrBlockAssociationSet"][0].clone()
        };
        let first = shown();
        assert_eq!(
            (&first["Ipv6CidrBlock"], &first["Ipv6CidrBlockState"]["State"]),
            (&json!(""), &json!("associating"))
        );
        assert_eq!((&first["Ipv6Pool"], &first["NetworkBorderGroup"]), (&json!("Amazon"), &json!("us-east-1")));
        let second = shown();
        assert_eq!(second["Ipv6CidrBlockState"]["State"], "associated");
        second
    }

    fn nat_state(&self, nat: &str) -> String {
        text(&self.ec2("describe_nat_gateways", json!({"NatGatewayIds": [nat]}))["NatGateways"][0]["State"])
    }

    fn table(&self) -> String {
        text(&self.ec2("create_route_table", json!({"VpcId": self.vpc}))["RouteTable"]["RouteTableId"])
    }
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_else(|| panic!("not a string: {value}")).to_owned()
}

#[test]
fn a_subnet_shows_its_ipv6_association_as_associated() {
    let network = Network::new();
    let block = text(&network.ipv6_block()["Ipv6CidrBlock"]).replace("/56", "/64");
    let created = network.ec2(
        "create_subnet",
        json!({"VpcId": network.vpc, "CidrBlock": "10.0.9.0/24", "Ipv6CidrBlock": block, "AvailabilityZone": "us-east-1b"}),
    );
    let state = |subnet: &Value| text(&subnet["Ipv6CidrBlockAssociationSet"][0]["Ipv6CidrBlockState"]["State"]);
    assert_eq!(state(&created["Subnet"]), "associating");
    let found = || network.ec2("describe_subnets", json!({"SubnetIds": [created["Subnet"]["SubnetId"]]}));
    assert_eq!([found(), found()].map(|it| state(&it["Subnets"][0])), ["associating", "associated"]);
}

#[test]
fn a_main_route_table_cannot_be_deleted() {
    let network = Network::new();
    let filters =
        json!([{"Name": "association.main", "Values": ["true"]}, {"Name": "vpc-id", "Values": [network.vpc]}]);
    let table =
        text(&network.ec2("describe_route_tables", json!({"Filters": filters}))["RouteTables"][0]["RouteTableId"]);
    assert_eq!(network.rejected("delete_route_table", json!({"RouteTableId": table})), "DependencyViolation");
}

#[test]
fn dependencies_of_a_nat_gateway_stay_until_it_is_deleted() {
    let network = Network::new();
    network.proxy.nat_deleting(Lasts::UntilSet);
    let nat = network.nat();
    let (subnet, address) = (json!({"SubnetId": network.subnets[0]}), json!({"AllocationId": network.address}));
    let attachment = json!({"InternetGatewayId": network.gateway, "VpcId": network.vpc});
    let all_rejected = || {
        assert_eq!(network.rejected("delete_subnet", subnet.clone()), "DependencyViolation");
        assert_eq!(network.rejected("release_address", address.clone()), "AuthFailure");
        assert_eq!(network.rejected("detach_internet_gateway", attachment.clone()), "DependencyViolation");
    };
    all_rejected();
    network.ec2("delete_nat_gateway", json!({"NatGatewayId": nat}));
    assert_eq!(network.nat_state(&nat), "deleting");
    all_rejected();
    network.proxy.nat_deleting(Lasts::NOT_AT_ALL);
    assert_eq!(network.nat_state(&nat), "deleted");
    network.ec2("delete_subnet", subnet);
    network.ec2("release_address", address);
    network.ec2("detach_internet_gateway", attachment);
}

#[test]
fn second_nat_gateway_can_use_the_address_of_the_first() {
    let network = Network::new();
    let first = network.nat();
    network.ec2("delete_nat_gateway", json!({"NatGatewayId": first}));
    let second = network.nat();
    assert_ne!(first, second);
    assert_eq!([network.nat_state(&second), network.nat_state(&second)], ["pending", "available"]);
    let error = network.rejected("delete_nat_gateway", json!({"NatGatewayId": "nat-00000000000000000"}));
    assert_eq!(error, "NatGatewayNotFound");
}

#[test]
fn nat_gateway_is_pending_for_the_scripted_answers() {
    let network = Network::new();
    network.proxy.nat_pending(Lasts::Answers(5));
    let nat = network.nat();
    network.ec2("create_tags", json!({"Resources": [nat], "Tags": [{"Key": "fgw:object", "Value": "nat_gateway.0"}]}));
    let found = |name: &str, value: &str| {
        let filters = json!([{"Name": name, "Values": [value]}, {"Name": "vpc-id", "Values": [network.vpc]}]);
        let found = network.ec2("describe_nat_gateways", json!({"Filters": filters}));
        found["NatGateways"].as_array().map_or(0, Vec::len)
    };
    assert_eq!((found("state", "pending"), found("state", "available")), (1, 0));
    assert_eq!((found("tag:fgw:object", "nat_gateway.0"), found("tag:fgw:object", "nat_gateway.1")), (1, 0));
    // The emulator has answered four times; answers whose filter excludes the gateway count too.
    assert_eq!(network.nat_state(&nat), "pending");
    assert_eq!((found("state", "pending"), found("state", "available")), (0, 1));
    network.proxy.nat_deleting(Lasts::Answers(1));
    network.ec2("delete_nat_gateway", json!({"NatGatewayId": nat}));
    assert_eq!([network.nat_state(&nat), network.nat_state(&nat)], ["deleting", "deleted"]);
}

#[test]
fn nat_gateway_fails_by_script_or_without_internet_gateway() {
    let network = Network::new();
    network.proxy.nat_fails(1, "InsufficientFreeAddressesInSubnet", "full");
    let scripted = network.nat();
    assert_eq!(network.nat_state(&scripted), "pending");
    let described = network.ec2("describe_nat_gateways", json!({"NatGatewayIds": [scripted]}));
    assert_eq!(described["NatGateways"][0]["State"], "failed");
    assert_eq!(described["NatGateways"][0]["FailureCode"], "InsufficientFreeAddressesInSubnet");
    network.ec2("delete_nat_gateway", json!({"NatGatewayId": scripted}));
    network.ec2("detach_internet_gateway", json!({"InternetGatewayId": network.gateway, "VpcId": network.vpc}));
    let detached = network.nat();
    assert_eq!(network.nat_state(&detached), "pending");
    let described = network.ec2("describe_nat_gateways", json!({"NatGatewayIds": [detached]}));
    assert_eq!(described["NatGateways"][0]["FailureCode"], "Gateway.NotAttached");
}

#[test]
fn a_route_to_a_deleted_nat_gateway_is_a_blackhole() {
    let network = Network::new();
    let (nat, table) = (network.nat(), network.table());
    let route = json!({"RouteTableId": table, "DestinationCidrBlock": "0.0.0.0/0", "NatGatewayId": nat});
    network.ec2("create_route", route);
    let state = || {
        let found = network.ec2("describe_route_tables", json!({"RouteTableIds": [table]}));
        let routes = found["RouteTables"][0]["Routes"].as_array().expect("routes").clone();
        text(&routes.iter().find(|route| route["NatGatewayId"] == nat.as_str()).expect("the route")["State"])
    };
    assert_eq!(state(), "active");
    network.ec2("delete_nat_gateway", json!({"NatGatewayId": nat}));
    assert_eq!(state(), "blackhole");
}

#[test]
fn second_route_table_or_ipv6_route_is_rejected() {
    let network = Network::new();
    let (first, second) = (network.table(), network.table());
    let associate = |table: &str| json!({"RouteTableId": table, "SubnetId": network.subnets[0]});
    network.ec2("associate_route_table", associate(&first));
    assert_eq!(network.rejected("associate_route_table", associate(&second)), "Resource.AlreadyAssociated");
    let route = json!({"RouteTableId": first, "DestinationIpv6CidrBlock": "::/0", "GatewayId": network.gateway});
    network.ec2("create_route", route.clone());
    assert_eq!(network.rejected("create_route", route), "RouteAlreadyExists");
}

#[test]
fn deleting_an_empty_subnet_deletes_its_association() {
    let network = Network::new();
    let (table, subnet) = (network.table(), &network.subnets[1]);
    network.ec2("associate_route_table", json!({"RouteTableId": table, "SubnetId": subnet}));
    let created = network.ec2("create_network_interface", json!({"SubnetId": subnet}));
    assert_eq!(network.rejected("delete_subnet", json!({"SubnetId": subnet})), "DependencyViolation");
    let interface = &created["NetworkInterface"]["NetworkInterfaceId"];
    network.ec2("delete_network_interface", json!({"NetworkInterfaceId": interface}));
    network.ec2("delete_subnet", json!({"SubnetId": subnet}));
    network.ec2("delete_route_table", json!({"RouteTableId": table}));
}

#[test]
fn endpoint_deletion_handles_changed_and_missing_endpoints() {
    let network = Network::new();
    let (first, second) = (network.table(), network.table());
    let created = network.ec2(
        "create_vpc_endpoint",
        json!({"VpcId": network.vpc, "VpcEndpointType": "Gateway", "ServiceName": "com.amazonaws.us-east-1.s3",
               "RouteTableIds": [first], "PolicyDocument": "{\"Version\":\"2012-10-17\",\"Statement\":[]}"}),
    );
    let id = text(&created["VpcEndpoint"]["VpcEndpointId"]);
    network.ec2("modify_vpc_endpoint", json!({"VpcEndpointId": id, "AddRouteTableIds": [second], "ResetPolicy": true}));
    let found = network.ec2("describe_vpc_endpoints", json!({"VpcEndpointIds": [id]}));
    assert!(text(&found["VpcEndpoints"][0]["PolicyDocument"]).contains("Allow"), "{found}");
    network.ec2("delete_route_table", json!({"RouteTableId": second}));
    let deleted = network.ec2("delete_vpc_endpoints", json!({"VpcEndpointIds": [id]}));
    assert_eq!(deleted["Unsuccessful"], json!([]));
    assert_eq!(network.proxy.account().list_of("vpc_endpoints"), Vec::<Value>::new());
    let again = network.ec2("delete_vpc_endpoints", json!({"VpcEndpointIds": [id]}));
    assert_eq!(again["Unsuccessful"][0]["Error"]["Code"], "InvalidVpcEndpoint.NotFound");
    let tables = network.proxy.account().list_of("route_tables");
    assert!(!json!(tables).to_string().contains("DestinationPrefixListId"), "{tables:?}");
}

#[test]
fn missing_acl_entries_and_associations_have_the_codes_of_aws() {
    let network = Network::new();
    let acls = network.proxy.account().list_of("network_acls");
    let acl = text(&acls[0]["NetworkAclId"]);
    let entry = json!({"NetworkAclId": acl, "RuleNumber": 77, "Egress": false});
    assert_eq!(network.rejected("delete_network_acl_entry", entry), "InvalidNetworkAclEntry.NotFound");
    let entry = json!({"NetworkAclId": "acl-00000000000000000", "RuleNumber": 77, "Egress": false});
    assert_eq!(network.rejected("delete_network_acl_entry", entry), "InvalidNetworkAclID.NotFound");
    let stale = json!({"AssociationId": "aclassoc-00000000000000000", "NetworkAclId": acl});
    assert_eq!(network.rejected("replace_network_acl_association", stale), "InvalidAssociationID.NotFound");
}

#[test]
fn new_vpc_has_the_default_objects_of_aws() {
    let network = Network::new();
    let groups = network.proxy.account().list_of("security_groups");
    let itself = &groups[0]["IpPermissions"][0]["UserIdGroupPairs"][0]["GroupId"];
    assert_eq!(itself, &groups[0]["GroupId"]);
    let acls = network.proxy.account().list_of("network_acls");
    let entries = acls[0]["Entries"].as_array().expect("entries");
    let mut ingress: Vec<i64> = entries
        .iter()
        .filter(|entry| entry["Egress"] == false)
        .filter_map(|entry| entry["RuleNumber"].as_i64())
        .collect();
    ingress.sort_unstable();
    assert_eq!(ingress, [100, 101, 32767, 32768]);
    let zones = network.ec2("describe_availability_zones", json!({}));
    assert_eq!(zones["AvailabilityZones"][0]["OptInStatus"], "opt-in-not-required");
}

#[test]
fn vpc_in_use_is_kept_and_attributes_change_one_at_a_time() {
    let network = Network::new();
    for subnet in &network.subnets {
        network.ec2("delete_subnet", json!({"SubnetId": subnet}));
    }
    assert_eq!(network.rejected("delete_vpc", json!({"VpcId": network.vpc})), "DependencyViolation");
    let both =
        json!({"VpcId": network.vpc, "EnableDnsSupport": {"Value": true}, "EnableDnsHostnames": {"Value": true}});
    assert_eq!(network.rejected("modify_vpc_attribute", both), "InvalidParameterCombination");
    network.ec2("detach_internet_gateway", json!({"InternetGatewayId": network.gateway, "VpcId": network.vpc}));
    network.ec2("delete_vpc", json!({"VpcId": network.vpc}));
}

#[test]
fn one_client_token_creates_one_object() {
    let network = Network::new();
    let create = |vpc: &str| {
        let arguments = json!({"VpcId": vpc, "ClientToken": "token-1"});
        network.proxy.try_boto("ec2", "create_egress_only_internet_gateway", arguments)
    };
    let first = create(&network.vpc).expect("it is created");
    assert_eq!(create(&network.vpc).expect("it is the same"), first);
    assert_eq!(create("vpc-00000000000000000").expect_err("another VPC").code, "IdempotentParameterMismatch");
    assert_eq!(network.proxy.account().list_of("egress_only_internet_gateways").len(), 1);
}

// Corrections of ministack.

/// An API with one function, one route and the default stage.
struct Gateway {
    proxy: Proxy,
    api: String,
    integration: String,
    route: String,
}

impl Gateway {
    fn new() -> Self {
        let proxy = Proxy::ministack();
        let source =
            "def handler(event, context):\n    return {'statusCode': 200, 'body': 'one ' + event['rawPath']}\n";
        let function = proxy.account().create_function("hello", source);
        let call = |method: &str, arguments: Value| proxy.boto("apigatewayv2", method, arguments);
        let permission = json!({"FunctionName": "hello", "StatementId": "all", "Action": "lambda:InvokeFunction",
                                "Principal": "apigateway.amazonaws.com"});
        proxy.boto("lambda", "add_permission", permission);
        let api = text(
            &call("create_api", json!({"Name": "a", "ProtocolType": "HTTP", "Tags": {"fgw:resource": "x"}}))["ApiId"],
        );
        let integration = json!({"ApiId": api, "IntegrationType": "AWS_PROXY", "IntegrationUri": function,
                                 "PayloadFormatVersion": "2.0"});
        let integration = text(&call("create_integration", integration)["IntegrationId"]);
        let target = format!("integrations/{integration}");
        let route = json!({"ApiId": api, "RouteKey": "GET /hello", "Target": target});
        let route = text(&call("create_route", route)["RouteId"]);
        let logs = json!({"DestinationArn": "arn:aws:logs:us-east-1:1:log-group:g", "Format": "$context.requestId"});
        let settings = json!({"GET /hello": {"ThrottlingBurstLimit": 5}});
        let stage = json!({"ApiId": api, "StageName": "$default", "AutoDeploy": true, "AccessLogSettings": logs,
                           "RouteSettings": settings});
        call("create_stage", stage);
        Self { proxy, api, integration, route }
    }

    /// A call about this API.
    fn call(&self, method: &str, mut arguments: Value) -> Value {
        arguments["ApiId"] = self.api.clone().into();
        self.proxy.boto("apigatewayv2", method, arguments)
    }

    fn rejected(&self, method: &str, mut arguments: Value) -> String {
        arguments["ApiId"] = self.api.clone().into();
        self.proxy.try_boto("apigatewayv2", method, arguments).expect_err("AWS rejects this").code
    }

    fn stage(&self) -> Value {
        self.call("get_stage", json!({"StageName": "$default"}))
    }
}

#[test]
fn a_gateway_answers_and_runs_new_code_after_an_update() {
    let gateway = Gateway::new();
    let account = gateway.proxy.account();
    let get = || http::gateway(account, &gateway.api, "GET", "/hello").send().expect("a response");
    let answer = get();
    assert_eq!((answer.status, answer.body.as_str()), (200, "one /hello"));
    account.update_function(
        "hello",
        "def handler(event, context):\n    return {'statusCode': 201, 'body': '{\"a\": 2}'}\n",
    );
    assert_eq!((get().status, get().json()), (201, json!({"a": 2})));
    let other = http::gateway(account, &gateway.api, "POST", "/hello").body("x").send().expect("a response");
    assert_eq!(other.status, 404);
}

#[test]
fn api_and_stage_return_their_current_tags() {
    let gateway = Gateway::new();
    let arn = format!("arn:aws:apigateway:us-east-1::/apis/{}", gateway.api);
    let tag =
        |arn: &str| gateway.proxy.boto("apigatewayv2", "tag_resource", json!({"ResourceArn": arn, "Tags": {"k": "v"}}));
    tag(&arn);
    tag(&format!("{arn}/stages/$default"));
    assert_eq!(gateway.call("get_api", json!({}))["Tags"], json!({"fgw:resource": "x", "k": "v"}));
    assert_eq!(gateway.stage()["Tags"], json!({"k": "v"}));
    let all = gateway.proxy.boto("apigatewayv2", "get_apis", json!({}));
    assert_eq!(all["Items"][0]["Tags"]["k"], "v");
}

#[test]
fn conflicts_and_missing_objects_have_the_errors_of_aws() {
    let gateway = Gateway::new();
    let authorizer = json!({"Name": "a", "AuthorizerType": "REQUEST", "AuthorizerUri": "arn:aws:lambda:us-east-1:1:function:f",
                            "AuthorizerPayloadFormatVersion": "2.0", "IdentitySource": []});
    let authorizer = text(&gateway.call("create_authorizer", authorizer)["AuthorizerId"]);
    let guard = json!({"RouteId": gateway.route, "AuthorizationType": "CUSTOM", "AuthorizerId": authorizer});
    gateway.call("update_route", guard);
    assert_eq!(gateway.rejected("create_route", json!({"RouteKey": "GET /hello"})), "ConflictException");
    assert_eq!(gateway.rejected("create_stage", json!({"StageName": "$default"})), "ConflictException");
    let integration = json!({"IntegrationId": gateway.integration});
    assert_eq!(gateway.rejected("delete_integration", integration.clone()), "ConflictException");
    let authorizer = json!({"AuthorizerId": authorizer});
    assert_eq!(gateway.rejected("delete_authorizer", authorizer.clone()), "ConflictException");
    gateway.call("delete_route", json!({"RouteId": gateway.route}));
    gateway.call("delete_integration", integration.clone());
    gateway.call("delete_authorizer", authorizer.clone());
    for (method, arguments) in [
        ("delete_route", json!({"RouteId": gateway.route})),
        ("delete_integration", integration),
        ("delete_authorizer", authorizer),
        ("delete_stage", json!({"StageName": "none"})),
    ] {
        assert_eq!(gateway.rejected(method, arguments), "NotFoundException", "{method}");
    }
}

#[test]
fn mapped_stage_and_its_api_cannot_be_deleted() {
    let gateway = Gateway::new();
    let name = format!("api-{}.example.com", gateway.api);
    let certificate = "arn:aws:acm:us-east-1:1:certificate/c";
    let domain = json!({"DomainName": name, "DomainNameConfigurations": [{"CertificateArn": certificate}]});
    gateway.proxy.boto("apigatewayv2", "create_domain_name", domain);
    let mapping = gateway.call("create_api_mapping", json!({"DomainName": name, "Stage": "$default"}));
    assert_eq!(gateway.rejected("delete_stage", json!({"StageName": "$default"})), "BadRequestException");
    assert_eq!(gateway.rejected("delete_api", json!({})), "BadRequestException");
    let mapping = json!({"DomainName": name, "ApiMappingId": mapping["ApiMappingId"]});
    gateway.proxy.boto("apigatewayv2", "delete_api_mapping", mapping);
    gateway.call("delete_stage", json!({"StageName": "$default"}));
    gateway.call("delete_api", json!({}));
}

#[test]
fn certificate_of_a_domain_cannot_be_deleted() {
    let gateway = Gateway::new();
    let name = format!("api-{}.example.com", gateway.api);
    let created = gateway.proxy.boto("acm", "request_certificate", json!({"DomainName": name}));
    let certificate = json!({"CertificateArn": created["CertificateArn"]});
    let domain = json!({"DomainName": name, "DomainNameConfigurations": [certificate]});
    gateway.proxy.boto("apigatewayv2", "create_domain_name", domain);
    let rejection = gateway.proxy.try_boto("acm", "delete_certificate", certificate.clone()).unwrap_err();
    assert_eq!(rejection.code, "ResourceInUseException");
    assert!(rejection.message.ends_with("is in use."), "{rejection:?}");
    gateway.proxy.boto("apigatewayv2", "delete_domain_name", json!({"DomainName": name}));
    gateway.proxy.boto("acm", "delete_certificate", certificate);
}

// The independent listing.

#[test]
fn listing_finds_managed_objects_by_their_tags() {
    let network = Network::new();
    let account = network.proxy.account();
    account.assert_nothing_of_ours_is_left();
    network
        .ec2("create_tags", json!({"Resources": [network.address], "Tags": [{"Key": "fgw:object", "Value": "eip.0"}]}));
    assert_eq!(account.ours(), [format!("addresses {} fgw:object=eip.0", network.address)]);
    network.ec2("release_address", json!({"AllocationId": network.address}));
    account.assert_nothing_of_ours_is_left();

    let gateway = Gateway::new();
    let account = gateway.proxy.account();
    account.boto("logs", "create_log_group", json!({"logGroupName": "g", "tags": {"fgw:object": "log_group"}}));
    let mut ours = account.ours();
    ours.sort();
    let api = format!("apis {} fgw:resource=x", gateway.api);
    assert_eq!(ours, [api.as_str(), "log_groups g fgw:object=log_group", "statement all of hello"]);
    let result = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| account.assert_nothing_of_ours_is_left()));
    assert!(result.is_err());
}

#[test]
fn moto_supports_functions() {
    let account = Emulator::moto().account();
    let arn = account.create_function("f", "def handler(event, context):\n    return 1\n");
    assert_eq!(account.list_of("functions")[0]["FunctionArn"], arn.as_str());
}
