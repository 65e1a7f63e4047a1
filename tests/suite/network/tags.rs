//! Tags: each map applies to its own objects, unmanaged tags survive, and all changes are in place.

use std::collections::BTreeMap;

use serde_json::json;

use super::TestEnv;

const TWO_AZS: &str = "  num_availability_zones = 2\n  num_nat_gateways = 1\n  create_transit_subnets = true";

/// Every tag map with the objects that have its tags, as `kind name` in the listing.
const MAPS: &[(&str, &[&str])] = &[
    ("vpc_custom_tags", &["vpcs main"]),
    ("nat_gateway_custom_tags", &["addresses main-nat-gateway-0", "nat_gateways main-nat-gateway-0"]),
    ("public_subnet_custom_tags", &["subnets main-public-0", "subnets main-public-1"]),
    ("private_app_subnet_custom_tags", &["subnets main-private-app-0", "subnets main-private-app-1"]),
    (
        "private_persistence_subnet_custom_tags",
        &["subnets main-private-persistence-0", "subnets main-private-persistence-1"],
    ),
    ("transit_subnet_custom_tags", &["subnets main-transit-0", "subnets main-transit-1"]),
    ("public_route_table_custom_tags", &["route_tables main-public"]),
    ("private_app_route_table_custom_tags", &["route_tables main-private-app-0", "route_tables main-private-app-1"]),
    (
        "private_persistence_route_table_custom_tags",
        &["route_tables main-private-persistence-0", "route_tables main-private-persistence-1"],
    ),
    ("transit_route_table_custom_tags", &["route_tables main-transit-0", "route_tables main-transit-1"]),
    ("security_group_tags", &["security_groups main"]),
];

/// The network with every map set to these tags.
fn maps(tags: impl Fn(&str) -> String) -> String {
    let maps: Vec<String> = MAPS.iter().map(|(map, _)| format!("  {map} = {}", tags(map))).collect();
    format!("{TWO_AZS}\n{}", maps.join("\n"))
}

/// The tags of every object except `Name` and the ownership tags, by `kind name`.
fn tags(env: &TestEnv) -> BTreeMap<String, BTreeMap<String, String>> {
    let listing = env.proxy.account().list();
    let mut all = BTreeMap::new();
    for (kind, objects) in listing.as_object().expect("a map") {
        for object in objects.as_array().expect("a list") {
            let Some(name) = object["tags"]["Name"].as_str() else { continue };
            let tags = object["tags"].as_object().expect("a map");
            let own = tags.iter().filter(|(key, _)| *key != "Name" && !key.starts_with("fgw:"));
            let own = own.map(|(key, value)| (key.clone(), value.as_str().unwrap_or_default().to_owned()));
            all.insert(format!("{kind} {name}"), own.collect());
        }
    }
    all
}

#[test]
fn each_tag_map_sets_its_objects_and_unmanaged_tags_survive() {
    let env = TestEnv::new();
    env.change(TWO_AZS);
    let objects: usize = MAPS.iter().map(|(_, objects)| objects.len()).sum();

    let set = env.change(&maps(|map| format!("{{ map = \"{map}\", stays = \"1\" }}")));
    assert_eq!(set.calls, format!("CreateTags {objects}"));
    let found = tags(&env);
    for (map, objects) in MAPS {
        for object in *objects {
            assert_eq!(
                found[*object],
                [("map".into(), map.to_string()), ("stays".into(), "1".into())].into(),
                "{object}"
            );
        }
    }
    let tagged = found.values().filter(|tags| !tags.is_empty()).count();
    assert_eq!(tagged, objects, "other objects have no tags of the maps");
    assert_eq!(env.attribute("tags_all"), json!({"map": "vpc_custom_tags", "stays": "1"}));

    let subnets = [env.id("subnet.public.0"), env.id("subnet.private_app.1")];
    let unmanaged = json!([{"Key": "kubernetes.io/cluster/blue", "Value": "shared"}]);
    env.ec2("create_tags", json!({"Resources": subnets, "Tags": unmanaged}));
    env.workspace.assert_nothing_to_do();

    let changed = env.change(&maps(|map| format!("{{ map = \"{}\", stays = \"1\" }}", map.to_uppercase())));
    assert_eq!(changed.calls, format!("CreateTags {objects}"));
    let removed = env.change(&maps(|_| "{ stays = \"1\" }".into()));
    assert_eq!(removed.calls, format!("DeleteTags {objects}"));
    env.change(TWO_AZS);
    let left: Vec<String> = tags(&env).into_iter().filter(|(_, tags)| !tags.is_empty()).map(|(name, _)| name).collect();
    assert_eq!(left, ["subnets main-private-app-1", "subnets main-public-0"], "only unmanaged tags are left");
    env.destroy();
}

#[test]
fn custom_and_default_tags_reach_all_objects_specific_ones_win() {
    let lines = |tags: &str| {
        format!("  default_tags {{\n    tags = {tags}\n  }}\n  ignore_tags {{\n    key_prefixes = [\"theirs/\"]\n  }}")
    };
    let env = TestEnv::with_provider(&lines("{ team = \"net\", level = \"default\" }"));
    let attributes = "  num_availability_zones = 1\n  num_nat_gateways = 1\n  custom_tags = { level = \"custom\", \"theirs/x\" = \
                      \"1\" }\n  public_subnet_custom_tags = { level = \"subnet\", Name = \"front\" }";
    env.change(attributes);
    let found = tags(&env);
    let level = |object: &str| found[object].get("level").cloned().unwrap_or_default();
    assert_eq!(
        [
            level("vpcs main"),
            level("subnets front"),
            level("addresses main-nat-gateway-0"),
            level("vpc_endpoints main-keyvalue")
        ],
        ["custom", "subnet", "custom", "custom"]
    );
    // VPC, internet gateway, address, NAT gateway, group, two endpoints, three subnets and their tables.
    assert_eq!(found.len(), 13);
    assert!(found.values().all(|tags| tags["team"] == "net" && !tags.contains_key("theirs/x")), "{found:#?}");
    assert_eq!(env.attribute("tags_all"), json!({"team": "net", "level": "custom"}));
    let front = env.attribute("public_subnets");
    assert_eq!(front["main-public-0"]["tags"]["Name"], "front", "the map's key is the computed name: {front}");

    let provider = std::fs::read_to_string(env.workspace.path().join("provider.tf")).expect("the provider block");
    env.workspace.write("provider.tf", &provider.replace("team = \"net\"", "squad = \"net\""));
    let changed = env.apply();
    assert_eq!(changed.calls, "CreateTags 13, DeleteTags 13");
    assert!(
        tags(&env).values().all(|tags| tags.get("squad").is_some_and(|it| it == "net") && !tags.contains_key("team"))
    );
    assert_eq!(env.attribute("tags_all"), json!({"squad": "net", "level": "custom"}));
    env.destroy();
}

#[test]
fn single_objects_have_names_of_their_own() {
    let env = TestEnv::new();
    let attributes = "  num_availability_zones = 2\n  num_nat_gateways = 1";
    let names = |text: &str| format!("{attributes}\n  name_tags = {{ {text} }}");
    env.change(&names("vpc = \"shared\", \"subnet.public.1\" = \"dmz-b\""));
    let name = |kind: &str, id: &str| {
        let objects = env.proxy.account().list_of(kind);
        let is_it = |object: &&serde_json::Value| object.as_object().expect("a map").values().any(|value| *value == id);
        let object = objects.iter().find(is_it).expect("it exists");
        object["tags"]["Name"].as_str().unwrap_or_default().to_owned()
    };
    let (vpc, subnet, table) = (env.id("vpc"), env.id("subnet.public.1"), env.id("route_table.public"));
    assert_eq!(name("vpcs", &vpc), "shared");
    assert_eq!(name("subnets", &subnet), "dmz-b");
    assert_eq!(name("subnets", &env.id("subnet.public.0")), "main-public-0");
    let output = env.attribute("public_subnets");
    assert_eq!(output["main-public-1"]["tags"]["Name"], "dmz-b", "the key is the computed name: {output}");
    assert_eq!(env.attribute("tags_all"), json!({"Name": "shared"}));

    // Someone changes one name, and the plan shows the change where the user set it.
    env.ec2("create_tags", json!({"Resources": [subnet], "Tags": [{"Key": "Name", "Value": "theirs"}]}));
    let plan = env.workspace.plan_json(&[]);
    let change = &plan["resource_changes"][0]["change"];
    let name_in = |state: &str| change[state]["name_tags"]["subnet.public.1"].clone();
    assert_eq!((name_in("before"), name_in("after")), (json!("theirs"), json!("dmz-b")), "{change}");
    assert_eq!(env.apply().calls, "CreateTags 1");
    assert_eq!(name("subnets", &subnet), "dmz-b");

    let changed = env.change(&names("vpc = \"shared\", \"route_table.public\" = \"out\""));
    assert_eq!(changed.calls, "CreateTags 2");
    assert_eq!((name("subnets", &subnet), name("route_tables", &table)), ("main-public-1".into(), "out".into()));
    env.workspace.assert_nothing_to_do();
    env.destroy();
}

#[test]
fn a_new_name_renames_every_object_in_place() {
    let env = TestEnv::new();
    let attributes = "  num_availability_zones = 1\n  num_nat_gateways = 1";
    env.change(attributes);
    let before = env.attribute("aws_objects");
    let plan = {
        env.config(&format!("  vpc_name = \"other\"\n{attributes}"));
        env.workspace.plan(&[])
    };
    assert_eq!(plan.code, 2, "{plan}");
    let renamed = env.apply();
    assert_eq!(renamed.calls, "CreateTags 13");
    assert_eq!(env.attribute("aws_objects"), before, "no object is replaced");
    assert!(env.attribute("private_app_subnets")["other-private-app-0"].is_object());
    let mut tags = env.proxy.account().list_of("vpcs")[0]["tags"].take();
    let request = tags.as_object_mut().expect("tags").remove("fgw:request");
    assert!(request.is_some_and(|it| it.is_string()), "it stays as it was created");
    assert_eq!(tags, json!({"Name": "other", "fgw:resource": "four_tier_vpc/other", "fgw:state": "ready"}));
    assert_eq!(renamed.new.iter().filter(|line| line.contains("main-")).count(), 0, "{:#?}", renamed.new);
    env.destroy();
}
