//! Adoptions of random networks, whose generator knows nothing of this resource: what an import proposes exists, and an
//! adoption adds nothing but tags and explicit associations, or is refused with a reason.

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::TestRunner;
use serde_json::json;

use super::{TestEnv, text};
use crate::support::adoption::without_adopt;
use crate::support::foreign::network::{ForeignNetwork, foreign_tags};
use crate::support::foreign::{assert_same, structure};

/// How many networks a test run builds. They are the same in each run.
const NETWORKS: usize = 16;

/// The AZs of the emulator.
const ZONES: [&str; 6] = ["us-east-1a", "us-east-1b", "us-east-1c", "us-east-1d", "us-east-1e", "us-east-1f"];

/// Names that people give to subnets and route tables.
const NAMES: [&str; 12] = [
    "",
    "public-1a",
    "web",
    "prod-private-0",
    "prod-private-1",
    "db-1",
    "db-2",
    "app",
    "intra",
    "transit",
    "dmz 1",
    "x.2",
];

/// Where a default route leads.
#[derive(Clone, Copy, Debug)]
enum Way {
    Nowhere,
    InternetGateway,
    /// To one of the NAT gateways, if there are any.
    NatGateway(usize),
}

/// A network. Indices that are too large count from the start again.
#[derive(Clone, Debug)]
struct Network {
    has_internet_gateway: bool,
    /// The name, the AZ and the route table of each subnet; `None` for the main route table.
    subnets: Vec<(&'static str, usize, Option<usize>)>,
    /// The name and the default route of each route table.
    tables: Vec<(&'static str, Way)>,
    /// The default route of the main route table.
    main: Way,
    /// The subnets of the NAT gateways.
    nat_gateways: Vec<usize>,
    /// Whether there are gateway endpoints for S3 and DynamoDB, in all route tables.
    endpoints: (bool, bool),
    /// The subnet that another resource has tagged.
    taken: Option<usize>,
}

fn way() -> impl Strategy<Value = Way> {
    prop_oneof![Just(Way::Nowhere), Just(Way::InternetGateway), (0..3_usize).prop_map(Way::NatGateway)]
}

fn network() -> impl Strategy<Value = Network> {
    let name = || prop::sample::select(NAMES.to_vec());
    (
        any::<bool>(),
        vec((name(), 0..3_usize, prop::option::weighted(0.8, 0..4_usize)), 0..7),
        vec((name(), way()), 0..4),
        prop_oneof![3 => Just(Way::Nowhere), 1 => way()],
        vec(0..6_usize, 0..3),
        (any::<bool>(), any::<bool>()),
        prop::option::weighted(0.1, 0..6_usize),
    )
        .prop_map(|(has_internet_gateway, subnets, tables, main, nat_gateways, endpoints, taken)| Network {
            has_internet_gateway,
            subnets,
            tables,
            main,
            // AWS creates public NAT gateways only in a VPC with an internet gateway.
            nat_gateways: if has_internet_gateway { nat_gateways } else { Vec::new() },
            endpoints,
            taken,
        })
}

impl Network {
    /// Builds it with boto3. Returns the ID of the VPC.
    fn build(&self, env: &TestEnv) -> String {
        let foreign = ForeignNetwork::new(&env.proxy, "found");
        let gateway = self.has_internet_gateway.then(|| foreign.internet_gateway());
        let subnet = |(number, (name, zone, _)): (usize, &(&str, usize, Option<usize>))| {
            foreign.subnet(name, &format!("10.0.{}.0/24", 7 * number), ZONES[2 * zone])
        };
        let subnets: Vec<String> = self.subnets.iter().enumerate().map(subnet).collect();
        let at = |index: usize| (!subnets.is_empty()).then(|| subnets[index % subnets.len()].as_str());
        let nats: Vec<String> =
            self.nat_gateways.iter().filter_map(|index| Some(foreign.nat_gateway(at(*index)?).0)).collect();
        let target = |way: Way| match way {
            Way::Nowhere => None,
            Way::InternetGateway => gateway.as_deref().map(|id| ("GatewayId", id)),
            Way::NatGateway(index) if !nats.is_empty() => Some(("NatGatewayId", nats[index % nats.len()].as_str())),
            Way::NatGateway(_) => None,
        };
        let table = |(number, (name, way)): (usize, &(&str, Way))| {
            let uses = |(_, _, table): &(&str, usize, Option<usize>)| {
                table.is_some_and(|table| table % self.tables.len() == number)
            };
            let users = self.subnets.iter().zip(&subnets).filter(|(subnet, _)| uses(subnet));
            foreign.table(name, target(*way), &users.map(|(_, id)| id.as_str()).collect::<Vec<_>>())
        };
        let mut tables: Vec<String> = self.tables.iter().enumerate().map(table).collect();
        let filters = json!([{ "Name": "association.main", "Values": ["true"] },
            { "Name": "vpc-id", "Values": [foreign.vpc] }]);
        let main =
            text(&env.ec2("describe_route_tables", json!({ "Filters": filters }))["RouteTables"][0]["RouteTableId"]);
        if let Some((kind, id)) = target(self.main) {
            let route = json!({ "RouteTableId": main, "DestinationCidrBlock": "0.0.0.0/0", kind: id });
            env.ec2("create_route", route);
        }
        if tables.is_empty() {
            tables.push(main);
        }
        for (exists, service) in [(self.endpoints.0, "s3"), (self.endpoints.1, "dynamodb")] {
            if exists {
                let service = format!("com.amazonaws.us-east-1.{service}");
                let endpoint = json!({ "VpcId": foreign.vpc, "ServiceName": service, "RouteTableIds": tables,
                    "VpcEndpointType": "Gateway" });
                env.ec2("create_vpc_endpoint", endpoint);
            }
        }
        if let Some(id) = self.taken.and_then(at) {
            let tags = json!([{ "Key": "fgw:resource", "Value": "four_tier_vpc/vpc-0123456789abcdef0" }]);
            env.ec2("create_tags", json!({ "Resources": [id], "Tags": tags }));
        }
        foreign.vpc
    }
}

/// The IDs in `adopt` of a generated configuration.
fn proposed(generated: &str) -> Vec<String> {
    let (_, rest) = generated.split_once("  adopt ").expect("an import proposes objects");
    let (entries, _) = rest.split_once("  }\n").expect("the map ends");
    entries.lines().filter_map(|line| Some(line.split_once(" = \"")?.1.trim_end_matches('"').to_owned())).collect()
}

/// Imports a network and adopts it as proposed. Returns whether that succeeds; otherwise, nothing has changed.
fn is_adopted(env: &TestEnv, vpc: &str) -> bool {
    env.config("  num_nat_gateways = 0");
    env.workspace.import(super::THIS, vpc).succeeded();
    let generated = env.workspace.generated_text();
    let (before, listing) = (foreign_tags(env.proxy.account()), env.proxy.account().list().to_string());
    for id in proposed(&generated) {
        assert!(listing.contains(&id), "{id} is proposed and does not exist");
    }
    let structure_before = structure(env.proxy.account());
    env.workspace.config(&generated);
    env.proxy.clear_calls();
    let plan = env.workspace.plan(&[]);
    if plan.code == 1 {
        plan.failed_with("An adoption changes nothing but tags");
        assert_eq!(env.calls(), "");
        return false;
    }
    env.workspace.apply(&[]).succeeded();
    let others = |action: &str| !["CreateTags", "AssociateRouteTable"].contains(&action);
    let calls: Vec<String> = env.proxy.mutations().into_iter().map(|it| it.call.action).collect();
    assert!(!calls.iter().any(|action| others(action)), "{calls:?}");
    assert_same(&structure_before, &structure(env.proxy.account()));
    let after = foreign_tags(env.proxy.account());
    assert!(before.iter().all(|(tag, value)| after.get(tag) == Some(value)), "{before:?} {after:?}");
    env.workspace.assert_nothing_to_do();
    env.workspace.config(&without_adopt(&generated));
    env.workspace.assert_nothing_to_do();
    true
}

#[test]
fn any_network_is_adopted_as_it_is_or_refused() {
    let mut runner = TestRunner::deterministic();
    let mut adopted = 0;
    for number in 0..NETWORKS {
        let network = network().new_tree(&mut runner).expect("the generator rejects nothing").current();
        eprintln!("network {number}: {network:?}");
        let env = TestEnv::new();
        let vpc = network.build(&env);
        adopted += usize::from(is_adopted(&env, &vpc));
    }
    assert!(adopted > NETWORKS / 2, "only {adopted} of {NETWORKS} networks are adopted");
}
