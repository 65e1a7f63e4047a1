use super::super::config::tests::config;
use super::super::fixtures::{applied, imported, objects, scope};
use super::*;
use crate::model::{Entry, NatGateway, Object, Spec, VpcIpv6Block};
use crate::plugin::AttributePath;

fn of(config: &Config) -> Inventory {
    applied(&objects(config, "abc"))
}

fn import(inventory: &Inventory) -> Value {
    imported(inventory).0
}

fn add<'a>(inventory: &'a mut Inventory, slot: &str, spec: Spec) -> &'a mut Entry {
    let object = Object::new(crate::model::Key::new(slot), spec);
    inventory.entries.extend(applied(&[object]).entries);
    inventory.entries.last_mut().expect("it was just added")
}

fn vpc_key(inventory: &Inventory) -> crate::model::Key {
    inventory.at(keys::VPC).expect("there is a VPC").key.clone()
}

#[test]
fn custom_addresses_are_distinguished_from_created_ones() {
    let ours = import(&of(&config(&[])));
    assert_eq!(ours.get("use_custom_nat_eips"), &false.into());
    assert_eq!(ours.get("num_nat_gateways"), &1.into());
    let given = vec!["eipalloc-2", "eipalloc-1"];
    let theirs = import(&of(&config(&[
        ("use_custom_nat_eips", true.into()),
        ("custom_nat_eips", given.clone().into()),
        ("num_nat_gateways", 2.into()),
    ])));
    assert_eq!(theirs.get("use_custom_nat_eips"), &true.into());
    assert_eq!(theirs.get("custom_nat_eips"), &given.into());
}

#[test]
fn private_nat_gateways_set_their_inputs() {
    let mut inventory = of(&config(&[("num_nat_gateways", 0.into()), ("create_transit_subnets", true.into())]));
    let subnet = inventory.at("subnet.transit.0").expect("transit is created").key.clone();
    for slot in ["private_nat_gateway.0", "private_nat_gateway.1"] {
        let gateway = NatGateway {
            subnet: subnet.clone(),
            secondary_private_ip_address_count: Input::Known(3),
            ..NatGateway::test()
        };
        add(&mut inventory, slot, Spec::NatGateway(gateway));
    }
    let found = import(&inventory);
    assert_eq!(found.get("enable_private_nat"), &true.into());
    assert_eq!(found.get("num_nat_gateways"), &2.into());
    assert_eq!(found.get("nat_secondary_private_ip_address_count"), &3.into());
}

#[test]
fn ipv6_blocks_at_their_computed_place_need_no_entry() {
    let mut inventory = of(&config(&[]));
    let block = VpcIpv6Block {
        vpc: vpc_key(&inventory),
        source: Ipv6Source::Amazon { network_border_group: Input::Known(Some(scope().region)) },
    };
    let entry = add(&mut inventory, keys::IPV6_CIDR_BLOCK, Spec::VpcIpv6Block(block));
    entry.learned.insert("ipv6_cidr_block".into(), "2600:1f00:0:ab00::/56".into());
    for (index, number) in [(0, 0), (1, 1), (2, 9)] {
        let slot = keys::subnet_slot(Tier::Public, index);
        let entry = inventory.entries.iter_mut().find(|entry| entry.key.slot == slot).expect("a public subnet");
        let Spec::Subnet(subnet) = &mut entry.applied else { panic!() };
        subnet.ipv6_cidr_block = Input::Known(Some(format!("2600:1f00:0:ab0{number}::/64")));
    }
    let found = import(&inventory);
    assert_eq!(found.get("enable_ipv6"), &true.into());
    assert_eq!(found.get("assign_generated_ipv6_cidr_block"), &true.into());
    assert_eq!(found.get("ipv6_cidr_block_network_border_group"), &Value::Null, "the Region's group is the default");
    assert_eq!(found.get("ipv6_subnet_bits"), &8.into());
    let entries = Value::map([("AZ-2", Value::from("2600:1f00:0:ab09::/64"))]);
    assert_eq!(found.get("public_subnet_ipv6_cidr_blocks"), &entries);
}

#[test]
fn names_that_follow_from_no_map_are_imported_one_by_one() {
    let names = [("vpc", "shared"), ("subnet.public.1", "dmz"), ("route_table.public", "out")];
    let names = Value::map(names.map(|(slot, name)| (slot, Value::from(name))));
    let front = Value::map([("Name", Value::from("front"))]);
    let found =
        import(&of(&config(&[("name_tags", names.clone()), ("private_app_subnet_custom_tags", front.clone())])));
    assert_eq!(found.get("name_tags"), &names);
    assert_eq!(found.get("private_app_subnet_custom_tags"), &front);
    assert_eq!(found.get("vpc_custom_tags"), &Value::map::<&str>([]));
}

#[test]
fn a_tag_on_one_object_of_a_kind_is_not_imported() {
    let mut inventory = of(&config(&[]));
    let entry = inventory.entries.iter_mut().find(|it| it.key.slot == "subnet.public.1").expect("a public subnet");
    let Some(Input::Known(tags)) = entry.applied.tags_mut() else { panic!() };
    tags.insert("karpenter.sh/discovery".into(), Input::Known("blue".into()));
    let found = import(&inventory);
    for map in maps_of_tags() {
        assert_eq!(found.get(map), &Value::map::<&str>([]), "{map}");
    }
    assert_eq!(found.get("name_tags"), &Value::map::<&str>([]));
}

#[test]
fn default_tags_are_not_imported() {
    let with_defaults = config(&[("custom_tags", Value::map([("team", "blue".into()), ("own", "1".into())]))]);
    let scope =
        Scope { default_tags: Input::Known([("team".to_string(), "blue".to_string().into())].into()), ..scope() };
    let found = super::imported(&of(&with_defaults), &scope).expect("the VPC has a name");
    assert_eq!(found.get("custom_tags"), &Value::map([("own", Value::from("1"))]));
}

#[test]
fn the_azs_of_a_tier_that_is_absent_in_some_are_imported() {
    let given =
        Value::map([("private_persistence", Value::from(vec!["az-a", "az-c"])), ("transit", vec!["az-b"].into())]);
    let partial = config(&[("tier_availability_zone_ids", given.clone()), ("create_transit_subnets", true.into())]);
    let inventory = of(&partial);
    let found = import(&inventory);
    assert_eq!(found.get("tier_availability_zone_ids"), &given);
    assert_eq!(found.get("num_availability_zones"), &3.into());
    let decoded = Config::decode(&found, &AttributePath::root(), &mut Vec::new()).expect("it decodes");
    let wanted = super::super::fixtures::next_objects(&decoded, Some(&decoded), &inventory, "abcd");
    assert_eq!(crate::reconcile::plan(&inventory, &wanted).expect("it can be ordered").ops.len(), 0);
    assert_eq!(import(&of(&config(&[]))).get("tier_availability_zone_ids"), &Value::map::<&str>([]));
}
