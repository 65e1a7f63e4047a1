//! The choice of AZs and CIDR blocks for subnets. Subnets keep both.

use serde_json::json;

use super::TestEnv;

const PLAIN: &str =
    "  num_nat_gateways = 0\n  create_vpc_endpoints = false\n  create_private_persistence_subnets = false";

fn with(further: &str) -> String {
    format!("{PLAIN}\n{further}")
}

fn subnets(lines: &[String]) -> Vec<&str> {
    lines.iter().filter_map(|line| line.strip_prefix("subnet ")).collect()
}

#[test]
fn azs_are_chosen_by_id_exclusion_and_count_and_then_kept() {
    let env = TestEnv::new();
    let two = env.change(&with(
        "  num_availability_zones = 2\n  availability_zone_exclude_names = [\"us-east-1a\"]\n  \
         availability_zone_exclude_ids = [\"use1-az2\"]",
    ));
    assert_eq!(
        subnets(&two.new),
        [
            "main-private-app-0 us-east-1b use1-az1 10.0.80.0/21 public_ip=false",
            "main-private-app-1 us-east-1d use1-az4 10.0.88.0/21 public_ip=false",
            "main-public-0 us-east-1b use1-az1 10.0.0.0/21 public_ip=false",
            "main-public-1 us-east-1d use1-az4 10.0.8.0/21 public_ip=false",
        ]
    );
    // Without exclusions and with a higher count, an AZ is added and no subnet moves.
    let three = env.change(&with("  num_availability_zones = 3"));
    assert_eq!(
        subnets(&three.new),
        [
            "main-private-app-2 us-east-1a use1-az6 10.0.96.0/21 public_ip=false",
            "main-public-2 us-east-1a use1-az6 10.0.16.0/21 public_ip=false",
        ]
    );
    assert_eq!(subnets(&three.old), Vec::<&str>::new());
    // An AZ in the middle is removed. Another one gets its index, and with it the names and blocks.
    let ids = "  availability_zone_ids = [\"use1-az1\", \"use1-az6\", \"use1-az5\"]";
    let chosen = env.change(&with(ids));
    assert_eq!(
        subnets(&chosen.old),
        [
            "main-private-app-1 us-east-1d use1-az4 10.0.88.0/21 public_ip=false",
            "main-public-1 us-east-1d use1-az4 10.0.8.0/21 public_ip=false",
        ]
    );
    assert_eq!(subnets(&chosen.new).len(), 2, "{chosen:#?}");
    assert!(subnets(&chosen.new)[0].starts_with("main-private-app-1 us-east-1f use1-az5 "), "{chosen:#?}");
    assert_eq!(env.attribute("availability_zone_ids_used"), json!(["use1-az1", "use1-az5", "use1-az6"]));
    let one = env.change(&with(&format!("{ids}\n  num_availability_zones = 1")));
    assert_eq!(env.attribute("availability_zones"), json!(["us-east-1b"]));
    assert_eq!(subnets(&one.old).len(), 4, "the highest indices are removed first: {one:#?}");
    env.destroy();
}

#[test]
fn explicit_blocks_win_and_move_only_their_own_subnet() {
    let env = TestEnv::new();
    let two = "  num_availability_zones = 2\n";
    let explicit = "  private_app_subnet_cidr_blocks = { AZ-1 = \"10.0.240.0/24\" }\n  \
                    public_subnet_cidr_blocks = { AZ-0 = \"10.0.4.0/28\" }";
    let created = env.change(&with(&format!("{two}{explicit}")));
    let blocks = |lines: &[String]| -> Vec<String> {
        subnets(lines).iter().map(|line| line.split(' ').nth(3).expect("a block").to_owned()).collect()
    };
    assert_eq!(blocks(&created.new), ["10.0.80.0/21", "10.0.240.0/24", "10.0.4.0/28", "10.0.8.0/21"]);
    // Neither another spacing nor the removal of an entry moves an existing subnet.
    let respaced = env.change(&with(&format!(
        "{two}  subnet_spacing = 16\n  public_subnet_cidr_blocks = {{ AZ-0 = \"10.0.4.0/28\" }}"
    )));
    assert_eq!((respaced.calls.as_str(), respaced.new.len()), ("", 0));
    let moved = env.change(&with(&format!(
        "{two}  subnet_spacing = 16\n  public_subnet_cidr_blocks = {{ AZ-0 = \"10.0.0.0/28\" }}"
    )));
    assert_eq!(moved.calls, "AssociateRouteTable 1, CreateSubnet 1, DeleteSubnet 1");
    assert_eq!((blocks(&moved.old), blocks(&moved.new)), (vec!["10.0.4.0/28".into()], vec!["10.0.0.0/28".into()]));
    env.end();
}

#[test]
fn another_range_replaces_the_network() {
    let env = TestEnv::with_terraform();
    let small = "  num_availability_zones = 1\n  create_private_app_subnets = false";
    env.change(&with(small));
    env.config(&with(&format!("  cidr_block = \"10.7.0.0/16\"\n{small}")));
    let plan = env.workspace.plan_json(&[]);
    let change = &plan["resource_changes"][0]["change"];
    assert_eq!(
        (&change["actions"], &change["replace_paths"]),
        (&json!(["delete", "create"]), &json!([["cidr_block"]]))
    );
    let replaced = env.apply();
    assert!(replaced.new.iter().any(|line| line.starts_with("vpc main 10.7.0.0/16 ")), "{replaced:#?}");
    assert_eq!(env.proxy.account().list_of("vpcs").len(), 1);
    env.end();
}
