//! The addresses of adopted NAT gateways: they stay with the user unless `adopt` names them.

use serde_json::json;

use super::{THIS, TestEnv, text};
use crate::support::foreign::network::{Objects, foreign_tags, one_nat_gateway_per_az};

/// An imported network with two NAT gateways, whose addresses boto3 has allocated.
struct Imported {
    env: TestEnv,
    objects: Objects,
    /// The addresses by the keys under which the network can manage them.
    addresses: Objects,
    names: serde_json::Value,
}

impl Imported {
    fn new() -> Self {
        let env = TestEnv::with_terraform();
        let (vpc, mut objects) = one_nat_gateway_per_az(&env.proxy);
        // The configuration leaves the default security group and the default network ACL unmanaged.
        objects.retain(|key, _| !key.starts_with("default_"));
        env.config("  num_nat_gateways = 1");
        env.workspace.import(THIS, &vpc).succeeded();
        let given = env.attribute("custom_nat_eips");
        let given = given.as_array().expect("a list").iter().enumerate();
        let addresses = given.map(|(number, id)| (format!("eip.{number}"), text(id))).collect();
        let names = env.attribute("name_tags");
        env.proxy.clear_calls();
        Self { env, objects, addresses, names }
    }

    /// A configuration with these lines and this map `adopt`.
    fn config(&self, lines: &str, adopt: &[&Objects]) {
        let entries = adopt.iter().flat_map(|objects| objects.iter());
        let entries: Vec<String> = entries.map(|(key, id)| format!("    \"{key}\" = \"{id}\"\n")).collect();
        let adopt = if entries.is_empty() { String::new() } else { format!("  adopt = {{\n{}  }}", entries.concat()) };
        self.env.config(&format!(
            "  vpc_name = \"legacy\"\n  num_availability_zones = 2\n  num_nat_gateways = 2\n  \
             create_private_persistence_subnets = false\n  create_vpc_endpoints = false\n  \
             enable_default_security_group = false\n  enable_dns_hostnames = false\n  public_subnet_bits = 8\n  \
             private_subnet_bits = 8\n  custom_tags = {{ Owner = \"platform\" }}\n  name_tags = {}\n{lines}{adopt}",
            self.names,
        ));
    }

    /// The inputs with which the addresses stay with the user.
    fn custom(&self) -> String {
        let ids: Vec<&String> = self.addresses.values().collect();
        format!("  use_custom_nat_eips = true\n  custom_nat_eips = {}\n", json!(ids))
    }

    /// The addresses under each other's key.
    fn swapped(&self) -> Objects {
        self.addresses.keys().cloned().zip(self.addresses.values().rev().cloned()).collect()
    }

    fn only_first(&self) -> Objects {
        self.addresses.iter().take(1).map(|(key, id)| (key.clone(), id.clone())).collect()
    }

    /// Destroys the network, and asserts that it releases its addresses and that no NAT gateway was replaced.
    fn assert_adopted(&self) {
        let managed = self.env.attribute("aws_objects");
        for (key, id) in self.addresses.iter().chain(&self.objects) {
            assert_eq!(managed[key], json!(id), "{key}");
        }
        self.env.workspace.assert_nothing_to_do();
        self.config("", &[]);
        self.env.workspace.assert_nothing_to_do();
        self.env.destroy();
        assert_eq!(self.env.proxy.account().list_of("addresses").len(), 0, "the network releases them");
    }
}

#[test]
fn addresses_stay_with_the_user_unless_adopt_names_them() {
    let network = Imported::new();
    let (env, addresses) = (&network.env, &network.addresses);
    let proposed = env.attribute("adopt");
    assert!(proposed["nat_gateway.0"].is_string() && proposed["eip.0"].is_null(), "{proposed}");
    let refuse = |lines: &str, named: &Objects, texts: &[&str]| {
        network.config(lines, &[&network.objects, named]);
        let plan = env.workspace.plan(&[]);
        for expected in texts {
            plan.failed_with(expected);
        }
    };
    let first = format!("Use \"eip.0\" = \"{}\"", addresses["eip.0"]);
    refuse("", &network.swapped(), &["This object cannot be adopted", &addresses["eip.1"], &first]);
    let second = format!("\"eip.1\" = \"{}\"", addresses["eip.1"]);
    refuse("", &network.only_first(), &["Objects are not named in adopt", &second]);
    refuse(&network.custom(), addresses, &["does not require eip.0", "set use_custom_nat_eips to false"]);
    assert_eq!(env.calls(), "");

    let tags = foreign_tags(env.proxy.account());
    network.config("", &[&network.objects, addresses]);
    env.workspace.apply(&[]).succeeded();
    assert_eq!(env.calls(), format!("CreateTags {}", network.objects.len() + addresses.len()));
    let now = foreign_tags(env.proxy.account());
    assert!(tags.iter().all(|(tag, value)| now.get(tag) == Some(value)), "no tag has changed");
    network.assert_adopted();
}

#[test]
fn addresses_are_adopted_after_the_network() {
    let network = Imported::new();
    let (env, addresses) = (&network.env, &network.addresses);
    network.config(&network.custom(), &[&network.objects]);
    env.workspace.apply(&[]).succeeded();
    env.proxy.clear_calls();

    network.config("", &[&network.swapped()]);
    let plan = env.workspace.plan(&[]);
    plan.failed_with(&format!("{} cannot be adopted: it is not the address of nat_gateway.0", addresses["eip.1"]));
    plan.failed_with(&format!("uses {}", addresses["eip.0"]));
    network.config("", &[&network.only_first()]);
    env.workspace.plan(&[]).failed_with(&format!("\"eip.1\" = \"{}\"", addresses["eip.1"]));
    network.config(&network.custom(), &[addresses]);
    env.workspace.plan(&[]).failed_with("set use_custom_nat_eips to false");
    assert_eq!(env.calls(), "");

    network.config("", &[addresses]);
    env.workspace.apply(&[]).succeeded();
    assert_eq!(env.calls(), "CreateTags 2");
    network.assert_adopted();
}
