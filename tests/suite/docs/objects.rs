//! The guide "What each object is": the objects of each resource and their order, from its blueprint.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use serde_json::{Value as Json, json};

use super::changes::{first_objects, with};
use super::{gateway_changes, network_changes, pages};
use crate::support::adoption::install_hashicorp_aws;
use crate::support::proxy::Proxy;
use crate::support::terraform::Workspace;
use fgw::model::waves::in_waves;
use fgw::model::{Counterpart, Object};
use fgw::topology::four_tier_vpc::FourTierVpc;
use fgw::topology::http_gateway::HttpGateway;

/// Objects of one kind in one topology.
struct Group<'a> {
    kind: &'static str,
    counterpart: Counterpart,
    /// The first part of their keys.
    slot: &'a str,
    count: usize,
    /// The first and the last wave that creates some of them.
    waves: (usize, usize),
    /// The groups that must exist before, by slot.
    needs: BTreeSet<&'a str>,
}

/// The introduction of the guide.
const BEGINNING: &str = "
# What each object is

A resource of this provider consists of many AWS objects. Each object has a key, such as `subnet.public.0`, which
appears in the attribute `aws_objects`, in plans and messages, and in the patterns of `ignore_drift` and
`protected_objects`. The diagrams and tables below are generated from the code that decides which objects to create.

An arrow points from a dependency to the object that needs it. Arrows that follow from others are omitted. The provider
waits for nothing else, so it can create all objects of a wave in parallel. An update creates new objects before it
deletes those that are no longer needed, and a destroy uses the reverse order. The tables also name the resource of the
provider hashicorp/aws for such an object, and the form of the ID by which it is imported there.
";

/// The whole page.
pub(super) fn guide() -> String {
    let about = "The AWS objects that each resource consists of, the order in which they are created, and their keys.";
    let mut text = pages::front_matter("What each object is", about) + BEGINNING;
    text += &chapter(
        "fgw_four_tier_vpc",
        "A network with four tiers in three availability zones, a NAT gateway in each, IPv6, and the default network \
         ACL:",
        &first_objects::<FourTierVpc>(&network(), network_changes::facts),
    );
    text += "
With `enable_private_nat`, the NAT gateways have keys `private_nat_gateway.<index>`, are in the transit tier, and need
neither Elastic IP addresses nor the internet gateway. The provider does not manage the main route table, which AWS
creates with each VPC, unless it was adopted.
";
    text += &chapter(
        "fgw_http_gateway",
        "A gateway with two routes to one function, three authorizers, access logs that are forwarded to a function, a \
         custom domain and its DNS record:",
        &first_objects::<HttpGateway>(&gateway(), gateway_changes::facts),
    );
    text += "
Each permission is one statement in the policy of a function. The provider removes it together with the object that
needs it. The provider adds no permission to a function in another account; the owner of the function must grant it.
";
    text
}

fn network() -> Json {
    json!({
        "vpc_name": "main", "cidr_block": "10.0.0.0/16", "num_nat_gateways": 3, "create_transit_subnets": true,
        "availability_zone_state": "available", "enable_ipv6": true, "assign_generated_ipv6_cidr_block": true,
        "ipv6_subnet_tiers": ["public", "private_app"], "apply_default_nacl_rules": true,
        "secondary_cidr_blocks": ["100.64.0.0/16"],
    })
}

fn gateway() -> Json {
    let basis = gateway_changes::basis();
    let mut routes = basis["route_config"].clone();
    routes["POST /orders"] = routes["GET /orders"].clone();
    with(&basis, &json!({ "route_config": routes }))
}

/// The chapter of one resource: its diagram and the table of its objects.
fn chapter(name: &str, about: &str, objects: &[Object]) -> String {
    let groups = groups(objects);
    let mut text = format!("\n## {name}\n\n{about}\n\n```mermaid\nflowchart TD\n");
    for group in &groups {
        let count = if group.count > 1 { format!(" ({})", group.count) } else { String::new() };
        writeln!(text, "  {}[\"{}{count}\"]", group.slot, group.kind).expect("a text can be written to");
    }
    for group in &groups {
        for need in direct(group, &groups) {
            writeln!(text, "  {need} --> {}", group.slot).expect("a text can be written to");
        }
    }
    text += "```\n\n| Object | Keys | Wave | In hashicorp/aws | Description |\n|---|---|---|---|---|\n";
    for Group { kind, counterpart, slot, waves: (first, last), .. } in &groups {
        let keys = objects.iter().map(|it| it.key.slot.as_str()).filter(|it| first_part(it) == *slot);
        let keys: Vec<&str> = keys.collect();
        let (example, more) = (keys[0], if keys.len() > 1 { ", ..." } else { "" });
        let waves = if first == last { first.to_string() } else { format!("{first} to {last}") };
        let Counterpart { description, resource, import_id, .. } = counterpart;
        let import_id = import_id.replace('|', "\\|");
        writeln!(text, "| {kind} | `{example}`{more} | {waves} | `{resource}` (`{import_id}`) | {description} |")
            .expect("a text can be written to");
    }
    text
}

/// The objects grouped by the first part of their keys, in the order of creation.
fn groups(objects: &[Object]) -> Vec<Group<'_>> {
    let slots: BTreeMap<_, &str> = objects.iter().map(|it| (&it.key, first_part(&it.key.slot))).collect();
    let (waves, never) = in_waves(objects);
    assert!(never.is_empty(), "{never:?} have dependencies that are never created");
    let mut groups: Vec<Group<'_>> = Vec::new();
    for (wave, objects) in (1..).zip(&waves) {
        for object in objects {
            let slot = slots[&object.key];
            let needed = object.spec.needs().into_iter().map(|need| need.key).chain(object.after.iter().cloned());
            let needs: BTreeSet<&str> = needed.map(|key| slots[&key]).filter(|needed| *needed != slot).collect();
            if let Some(group) = groups.iter_mut().find(|group| group.slot == slot) {
                (group.count, group.waves.1) = (group.count + 1, wave);
                group.needs.extend(needs);
            } else {
                let (kind, counterpart) = (object.spec.kind(), object.spec.counterpart());
                groups.push(Group { kind, counterpart, slot, count: 1, waves: (wave, wave), needs });
            }
        }
    }
    groups
}

/// The dependencies of a group that are not also dependencies of its other dependencies.
fn direct<'a>(group: &Group<'a>, groups: &[Group<'a>]) -> Vec<&'a str> {
    let reaches = |from: &str, to: &str| {
        let mut ahead = vec![from];
        let mut seen = BTreeSet::new();
        while let Some(slot) = ahead.pop() {
            if slot == to {
                return true;
            }
            if seen.insert(slot) {
                ahead.extend(
                    groups.iter().find(|it| it.slot == slot).into_iter().flat_map(|it| it.needs.iter().copied()),
                );
            }
        }
        false
    };
    let others = |need: &str| group.needs.iter().copied().filter(|other| *other != need).collect::<Vec<_>>();
    group.needs.iter().copied().filter(|need| !others(need).into_iter().any(|other| reaches(other, need))).collect()
}

fn first_part(slot: &str) -> &str {
    slot.split('.').next().unwrap_or(slot)
}

#[test]
fn the_guide_describes_every_kind_of_object() {
    let sentences: BTreeSet<&str> = all_objects().map(|it| it.spec.counterpart().description).collect();
    // One for each of the 26 kinds, which the compiler enforces, and two more for the permissions.
    assert_eq!(sentences.len(), 28, "{sentences:#?}");
}

/// The objects of both chapters, which include every kind.
fn all_objects() -> impl Iterator<Item = Object> {
    let network = first_objects::<FourTierVpc>(&network(), network_changes::facts);
    network.into_iter().chain(first_objects::<HttpGateway>(&gateway(), gateway_changes::facts))
}

#[test]
fn each_field_of_a_spec_has_a_row_in_its_counterpart() {
    for Object { spec, .. } in all_objects() {
        let json = serde_json::to_value(&spec).expect("a spec is JSON");
        // The tag of the enum is not a field.
        let fields = json.as_object().expect("an object").keys().map(String::as_str).filter(|name| *name != "kind");
        let mut rows: Vec<&str> = spec.counterpart().attributes.iter().map(|(field, _)| *field).collect();
        rows.sort_unstable();
        assert_eq!(rows, fields.collect::<Vec<_>>(), "{}", spec.kind());
    }
}

/// With the folder of the provider in `FGW_BENCH_AWS_PROVIDER`, its schema must contain the resources and attributes.
#[test]
fn each_counterpart_is_a_resource_of_hashicorp_aws() {
    let counterparts: BTreeMap<&str, Counterpart> =
        all_objects().map(|it| it.spec.counterpart()).map(|it| (it.resource, it)).collect();
    assert!(counterparts.len() >= 22 && counterparts.keys().all(|it| it.starts_with("aws_")), "{counterparts:?}");
    let proxy = Proxy::moto();
    let workspace = Workspace::new(&proxy);
    if !install_hashicorp_aws(&workspace, &proxy, &[]) {
        return;
    }
    let schemas: Json = serde_json::from_str(&workspace.run(&["providers", "schema", "-json"]).succeeded().stdout)
        .expect("Terraform writes JSON");
    let mut providers = schemas["provider_schemas"].as_object().expect("an object").iter();
    let (_, aws) = providers.find(|(name, _)| name.ends_with("/hashicorp/aws")).expect("it is installed");
    for Counterpart { resource, attributes, .. } in counterparts.values() {
        let block = &aws["resource_schemas"][resource]["block"];
        assert!(!block.is_null(), "{resource}");
        for path in attributes.iter().flat_map(|(_, paths)| *paths) {
            assert!(has_attribute(block, path), "{resource}.{path}");
        }
    }
}

/// Whether a block of a schema contains an attribute, which may be in a block below it, or a block.
fn has_attribute(block: &Json, path: &str) -> bool {
    match path.split_once('.') {
        Some((name, below)) => has_attribute(&block["block_types"][name]["block"], below),
        None => !block["attributes"][path].is_null() || !block["block_types"][path].is_null(),
    }
}
