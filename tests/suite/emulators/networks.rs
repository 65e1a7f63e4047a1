//! Networks on moto, ministack and LocalStack.

use serde_json::json;

use super::{REQUIRED, apply, destroy, id, import, provider, workspace};
use crate::support::emulator::Emulator;

const MAIN: &str = "fgw_four_tier_vpc.main";

/// A network with these lines in addition to the required ones.
fn network(name: &str, lines: &str) -> String {
    format!(
        "{REQUIRED}resource \"fgw_four_tier_vpc\" \"main\" {{\n  vpc_name = \"{name}\"\n  cidr_block = \"10.0.0.0/16\"\n\
         {lines}\n}}\n"
    )
}

/// From a network with defaults, over more and fewer AZs and NAT gateways, to nothing.
fn default_network_lives(emulator: &'static Emulator) {
    let workspace = workspace(&provider(emulator, emulator));
    apply(&workspace, &network("plain", "  num_nat_gateways = 1"));
    let vpc = id(&workspace, MAIN);
    let plan = workspace.plan(&["-destroy"]);
    assert!(plan.says("1 to destroy") && !plan.says("unmanaged object"), "{plan}");

    let grown = "  num_nat_gateways = 2\n  num_availability_zones = 3\n  create_transit_subnets = true\n  custom_tags = {\n\
                 Team = \"blue\"\n  }";
    apply(&workspace, &network("plain", grown));
    import(&workspace, MAIN);
    // New public subnets take the NAT gateways with them, whose addresses stay.
    let moved = "  num_nat_gateways = 2\n  num_availability_zones = 2\n  public_subnet_bits = 6\n  custom_tags = {\n\
                 Team = \"green\"\n  }";
    let addresses = || workspace.state().attribute(MAIN, "nat_gateway_public_ips").clone();
    let before = addresses();
    apply(&workspace, &network("plain", moved));
    assert_eq!(addresses(), before);
    apply(
        &workspace,
        &network("plain", "  num_nat_gateways = 1\n  num_availability_zones = 2\n  create_vpc_endpoints = false"),
    );

    let account = emulator.default_account();
    let subnets = account.list_of("subnets");
    let teams: Vec<_> = subnets.iter().filter(|it| it["VpcId"] == vpc.as_str()).map(|it| &it["tags"]["Team"]).collect();
    assert!(teams.len() == 6 && teams.iter().all(|team| team.is_null()), "{subnets:?}");
    destroy(&workspace, &[account], &[&vpc, "four_tier_vpc/plain"]);
}

/// An example, which has one root or two, to its end.
fn example_lives(emulator: &'static Emulator, file: &str, roots: &[(&str, &str)]) {
    let example =
        std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/resources/fgw_four_tier_vpc").join(file);
    let workspace = workspace(&provider(emulator, emulator));
    apply(&workspace, &std::fs::read_to_string(example).expect("the example exists"));
    let mut left = Vec::new();
    for (name, root) in roots {
        let address = format!("fgw_four_tier_vpc.{root}");
        left.extend([format!("four_tier_vpc/{name}"), id(&workspace, &address)]);
        import(&workspace, &address);
    }
    destroy(&workspace, &[emulator.default_account()], &left.iter().map(String::as_str).collect::<Vec<_>>());
}

#[test]
fn a_default_network_lives_on_plain_moto() {
    default_network_lives(Emulator::plain_moto());
}

#[test]
fn a_default_network_lives_on_plain_ministack() {
    default_network_lives(Emulator::plain_ministack());
}

#[test]
fn a_default_network_lives_on_localstack() {
    default_network_lives(Emulator::localstack());
}

#[test]
fn the_examples_with_ipv4_live_on_both_plain_emulators() {
    let (isolated, private) = (("isolated", "isolated"), ("private", "private"));
    for emulator in [Emulator::plain_moto(), Emulator::plain_ministack()] {
        example_lives(emulator, "production.tf", &[("production", "production")]);
        example_lives(emulator, "private-nat.tf", &[isolated, private]);
    }
}

#[test]
fn the_example_with_ipv6_lives_on_plain_moto() {
    example_lives(Emulator::plain_moto(), "ipv6.tf", &[("dual-stack", "dual_stack")]);
}

#[test]
fn a_destroy_completes_after_a_subnet_was_deleted_by_hand() {
    // moto keeps the association of the subnet, whose ID is then no longer in state.
    let emulator = Emulator::plain_moto();
    let workspace = workspace(&provider(emulator, emulator));
    apply(&workspace, &network("by-hand", "  num_nat_gateways = 1\n  num_availability_zones = 2"));
    let vpc = id(&workspace, MAIN);
    let subnet = workspace.state().attribute(MAIN, "private_app_subnet_ids")[0].clone();
    let account = emulator.default_account();
    account.boto("ec2", "delete_subnet", json!({ "SubnetId": subnet }));
    destroy(&workspace, &[account], &[&vpc, "four_tier_vpc/by-hand"]);
}
