use proptest::prelude::*;
use serde_json::{Value as Json, json};

use super::*;
use crate::model::{Classification, Drift, NetworkLandscape};
use crate::plugin::Nested;
use crate::plugin::schema::with_defaults;
use crate::topology::four_tier_vpc::classify::{
    classify,
    tests::{landscape, reason, slot},
};
use crate::topology::four_tier_vpc::config::tests::config;
use crate::topology::four_tier_vpc::fixtures::{
    applied, assert_reproduced, blueprint, imported, next_objects, objects, warned,
};
use crate::topology::four_tier_vpc::validate::rules::problems;
use crate::topology::rules::{Rule, UNKNOWN, assert_reported, with};

fn rules() -> Vec<Rule> {
    let group = |more: Json| {
        let rule = json!({"protocol": "tcp", "from_port": 80, "to_port": 80, "cidr_blocks": ["0.0.0.0/0"]});
        json!({"default_security_group_egress_rules": {"r": with(rule, more)}})
    };
    vec![
        (
            "a group's rule has a source",
            group(json!({"cidr_blocks": []})),
            &["default_security_group_egress_rules[\"r\"]"],
            &["self"],
            group(json!({"cidr_blocks": [], "self": true})),
        ),
        (
            "a group's ports are a range",
            group(json!({"from_port": 81})),
            &["default_security_group_egress_rules[\"r\"].from_port"],
            &["81 to 80"],
            group(json!({"from_port": 79})),
        ),
        (
            "a group's rule for a protocol without ports has none",
            group(json!({"protocol": "50"})),
            &["default_security_group_egress_rules[\"r\"].from_port"],
            &["50", "80 to 80"],
            group(json!({"protocol": "50", "from_port": 0, "to_port": 0})),
        ),
        (
            "a group's account has twelve digits",
            group(json!({"security_groups": ["1234/sg-0123456789abcdef0"]})),
            &["default_security_group_egress_rules[\"r\"].security_groups[0]"],
            &["1234/sg-0123456789abcdef0"],
            group(json!({"security_groups": ["123456789012/sg-0123456789abcdef0"]})),
        ),
        (
            "a group's rule for all protocols has no ports",
            group(json!({"protocol": "-1"})),
            &["default_security_group_egress_rules[\"r\"].from_port"],
            &["80 to 80"],
            group(json!({"protocol": "-1", "from_port": 0, "to_port": 0})),
        ),
        (
            "a group's rule has a known protocol",
            group(json!({"protocol": "http"})),
            &["default_security_group_egress_rules[\"r\"].protocol"],
            &["http", "tcp"],
            group(json!({"protocol": "50", "from_port": 0, "to_port": 0})),
        ),
        (
            "a group's ICMP type is at most 255",
            group(json!({"protocol": "icmp", "from_port": 300, "to_port": 0})),
            &["default_security_group_egress_rules[\"r\"].from_port"],
            &["300"],
            group(json!({"protocol": "icmp", "from_port": 8, "to_port": 0})),
        ),
        (
            "a group's range has no host bits",
            group(json!({"cidr_blocks": ["10.0.0.0/8", "10.0.0.1/8"]})),
            &["default_security_group_egress_rules[\"r\"].cidr_blocks[1]"],
            &["10.0.0.1/8 has host bits", "Use 10.0.0.0/8."],
            group(json!({"cidr_blocks": ["10.0.0.0/8"]})),
        ),
        (
            "a group's IPv6 range is IPv6",
            group(json!({"ipv6_cidr_blocks": ["0.0.0.0/0"]})),
            &["default_security_group_egress_rules[\"r\"].ipv6_cidr_blocks[0]"],
            &["0.0.0.0/0", "::/0"],
            group(json!({"ipv6_cidr_blocks": ["::/0"]})),
        ),
        (
            "a group's prefix list has the ID of a prefix list",
            group(json!({"prefix_list_ids": ["list"]})),
            &["default_security_group_egress_rules[\"r\"].prefix_list_ids[0]"],
            &["list", "pl-"],
            group(json!({"prefix_list_ids": ["pl-1"]})),
        ),
        (
            "a group's other group has the ID of a group",
            group(json!({"security_groups": ["web"]})),
            &["default_security_group_egress_rules[\"r\"].security_groups[0]"],
            &["web", "sg-"],
            group(json!({"security_groups": ["sg-1"]})),
        ),
        (
            "a group's description is short",
            group(json!({"description": "x".repeat(256)})),
            &["default_security_group_egress_rules[\"r\"].description"],
            &["256", "255"],
            group(json!({"description": "x".repeat(255)})),
        ),
        (
            "a group's description has only characters that AWS allows",
            group(json!({"description": "web -> db"})),
            &["default_security_group_egress_rules[\"r\"].description"],
            &["\"web -> db\"", "'>'"],
            group(json!({"description": "aZ9 ._-:/()#,@[]+=&;{}!$*"})),
        ),
        (
            "a group's description has no letters outside ASCII",
            group(json!({"description": "B\u{fc}ro"})),
            &["default_security_group_egress_rules[\"r\"].description"],
            &["'\u{fc}'"],
            group(json!({"description": null})),
        ),
    ]
}

fn restricted_group() -> Vec<Rule> {
    let with_switch = |on: Json| json!({"restrict_default_security_group": true, "enable_default_security_group": on});
    vec![(
        "only a managed default group is restricted",
        with_switch(json!(false)),
        &["restrict_default_security_group"],
        &["is true", "enable_default_security_group is false"],
        with_switch(json!(true)),
    )]
}

fn repeated_permissions() -> Vec<Rule> {
    let rule = |more: Json| {
        let rule = json!({"protocol": "tcp", "from_port": 443, "to_port": 443, "cidr_blocks": ["10.0.0.0/8"]});
        with(rule, more)
    };
    let two = |first: Json, second: Json| json!({"default_security_group_ingress_rules": {"a": first, "b": second}});
    let described = |text: &str| json!({"description": text});
    vec![
        (
            "one permission has one description",
            two(rule(described("office")), rule(described("vpn"))),
            &["default_security_group_ingress_rules[\"b\"]"],
            &["\"a\" and \"b\"", "tcp 443 from 10.0.0.0/8", "\"office\" and \"vpn\""],
            two(rule(described("office")), rule(described("office"))),
        ),
        (
            "a permission is one with its protocol as a number and another form of its range",
            two(
                rule(with(described("office"), json!({"cidr_blocks": [], "ipv6_cidr_blocks": ["2001:db8:0::/48"]}))),
                rule(json!({"protocol": "6", "cidr_blocks": [], "ipv6_cidr_blocks": ["2001:DB8::/48"]})),
            ),
            &["default_security_group_ingress_rules[\"b\"]"],
            &["tcp 443 from 2001:db8::/48", "\"office\" and none"],
            two(rule(json!({"description": ""})), rule(json!({"protocol": "6"}))),
        ),
        (
            "one range of several lists has one description",
            two(
                rule(with(described("office"), json!({"cidr_blocks": ["10.0.0.0/8", "192.0.2.0/24"]}))),
                rule(with(described("vpn"), json!({"cidr_blocks": ["198.51.100.0/24", "192.0.2.0/24"]}))),
            ),
            &["default_security_group_ingress_rules[\"b\"]"],
            &["192.0.2.0/24"],
            two(
                rule(with(described("office"), json!({"cidr_blocks": ["10.0.0.0/8", "10.0.0.0/8"]}))),
                rule(with(described("vpn"), json!({"cidr_blocks": ["198.51.100.0/24"], "to_port": 444}))),
            ),
        ),
        (
            "a group is one with and without its account",
            two(
                rule(with(described("x"), json!({"cidr_blocks": [], "security_groups": ["123456789012/sg-1"]}))),
                rule(with(described("y"), json!({"cidr_blocks": [], "security_groups": ["sg-1"]}))),
            ),
            &["default_security_group_ingress_rules[\"b\"]"],
            &["sg-1"],
            two(
                rule(json!({"cidr_blocks": [], "security_groups": ["123456789012/sg-1"]})),
                rule(json!({"cidr_blocks": [], "security_groups": ["sg-1"]})),
            ),
        ),
        (
            "two rules for the group itself have one description",
            two(
                rule(with(described("x"), json!({"cidr_blocks": [], "self": true}))),
                rule(with(described("y"), json!({"cidr_blocks": [UNKNOWN], "self": true}))),
            ),
            &["default_security_group_ingress_rules[\"b\"]"],
            &["itself"],
            two(rule(described("x")), rule(with(described("y"), json!({"cidr_blocks": [UNKNOWN]})))),
        ),
        (
            "an unknown description is no other description",
            two(rule(described("office")), rule(with(described("vpn"), json!({"protocol": "all", "from_port": 1})))),
            &["default_security_group_ingress_rules[\"b\"].from_port"],
            &["all ports"],
            two(rule(described("office")), rule(described(UNKNOWN))),
        ),
    ]
}

#[test]
fn each_broken_rule_is_reported_at_its_path_only() {
    assert_reported([rules(), restricted_group(), repeated_permissions()].concat(), problems);
}

fn group_rule(protocol: &str, ports: Option<(i64, i64)>, source: RuleSource) -> model::SecurityGroupRule {
    let (from_port, to_port) = ports.unzip();
    model::SecurityGroupRule { protocol: protocol.into(), from_port, to_port, source, description: None }
}

fn range(cidr: &str) -> RuleSource {
    RuleSource::CidrIpv4(cidr.into())
}

/// The default security group with AWS's original rules.
fn original() -> FoundSecurityGroup {
    FoundSecurityGroup {
        id: "sg-1".into(),
        ingress: vec![group_rule("-1", None, RuleSource::ItSelf)],
        egress: vec![group_rule("-1", None, range("0.0.0.0/0"))],
        ..FoundSecurityGroup::default()
    }
}

fn classified(group: FoundSecurityGroup) -> Classification {
    classify(&NetworkLandscape { default_security_group: Some(group), ..landscape() })
}

/// Panics unless the group is proposed, and the inputs that an import sets require exactly what exists.
fn assert_proposed(group: FoundSecurityGroup) {
    assert_eq!(slot(&classified(group.clone()), "sg-1"), "default_security_group");
    assert_reproduced(&[], |spec| {
        if let Spec::DefaultSecurityGroup(spec) = spec {
            spec.ingress = Input::Known(Some(group.ingress.clone()));
            spec.egress = Input::Known(Some(group.egress.clone()));
        }
    });
}

#[test]
fn original_rules_are_reproduced() {
    assert_proposed(original());
    // With an IPv6 range, AWS adds a rule.
    let mut group = original();
    group.egress.push(group_rule("-1", None, RuleSource::CidrIpv6("::/0".into())));
    assert_proposed(group);
}

#[test]
fn a_group_without_any_rules_is_reproduced() {
    assert_proposed(FoundSecurityGroup { ingress: vec![], egress: vec![], ..original() });
}

#[test]
fn a_group_without_rules_in_a_direction_stays_unmanaged() {
    let group = FoundSecurityGroup { ingress: vec![], ..original() };
    let result = classified(group);
    assert!(reason(&result, "sg-1").starts_with("it has no inbound rules"), "{result:?}");
}

#[test]
fn a_group_rule_that_the_inputs_reject_keeps_it_unmanaged() {
    let mut group = original();
    group.egress.push(group_rule("tcp", Some((-1, -1)), range("10.0.0.0/8")));
    let result = classified(group);
    let expected = "the inputs cannot express its outbound rule for tcp -1 to 10.0.0.0/8";
    assert_eq!(reason(&result, "sg-1"), expected);
}

#[test]
fn the_group_of_another_resource_stays_unmanaged() {
    let tags = [("fgw:resource".to_string(), "four_tier_vpc/vpc-9".to_string())].into();
    let result = classified(FoundSecurityGroup { tags, ..original() });
    assert!(reason(&result, "sg-1").contains("another resource manages it"), "{result:?}");
}

fn group_rules() -> impl Strategy<Value = Vec<model::SecurityGroupRule>> {
    let source = prop_oneof![
        Just(RuleSource::ItSelf),
        Just(range("10.0.0.0/8")),
        Just(range("0.0.0.0/0")),
        Just(RuleSource::CidrIpv6("::/0".into())),
        Just(RuleSource::PrefixList("pl-1".into())),
        Just(RuleSource::SecurityGroup("sg-2".into())),
        Just(RuleSource::SecurityGroup("123456789012/sg-3".into())),
    ];
    let protocol = prop::sample::select(vec!["-1", "tcp", "udp", "icmp", "icmpv6", "50"]);
    let description = prop::option::of(prop::sample::select(vec!["a", "b"]));
    let rule = (protocol, source, 0..9_i64, 0..9_i64, description).prop_map(|(protocol, source, a, b, description)| {
        let ports = matches!(protocol, "tcp" | "udp" | "icmp" | "icmpv6").then_some((a.min(b), a.max(b)));
        (group_rule(protocol, ports, source), description.map(str::to_string))
    });
    // AWS has no two rules that differ only in their descriptions.
    prop::collection::btree_map(rule.clone().prop_map(|(rule, _)| rule), rule.prop_map(|(_, text)| text), 1..6)
        .prop_map(|rules| {
            let described = |(rule, description)| model::SecurityGroupRule { description, ..rule };
            let mut rules: Vec<model::SecurityGroupRule> = rules.into_iter().map(described).collect();
            rules.sort();
            rules
        })
}

proptest! {
    #[test]
    fn whatever_is_proposed_is_reproduced_exactly(ingress in group_rules(), egress in group_rules()) {
        assert_proposed(FoundSecurityGroup { ingress, egress, ..original() });
    }
}

#[test]
fn group_rules_that_differ_only_in_source_share_an_entry() {
    let mut inventory = applied(&objects(&config(&[]), "abc"));
    let rule = |source: RuleSource, description: Option<&str>| model::SecurityGroupRule {
        protocol: "tcp".into(),
        from_port: Some(443),
        to_port: Some(443),
        source,
        description: description.map(str::to_string),
    };
    let ingress = vec![
        rule(RuleSource::CidrIpv4("10.0.0.0/8".into()), None),
        rule(RuleSource::CidrIpv6("::/0".into()), None),
        rule(RuleSource::ItSelf, Some("among us")),
    ];
    for entry in &mut inventory.entries {
        if let Spec::DefaultSecurityGroup(group) = &mut entry.applied {
            (group.ingress, group.egress) = (Input::Known(Some(ingress.clone())), Input::Known(None));
        }
    }
    let (found, config) = imported(&inventory);
    assert_eq!(found.get("default_security_group_egress_rules"), &Value::map::<&str>([]));
    let rules = config.default_security_group_ingress_rules.known().expect("they are known");
    assert_eq!(rules.keys().collect::<Vec<_>>(), ["tcp-443-443", "tcp-443-443.2"]);
    let mut wanted = ingress;
    wanted.sort();
    let imported = rule::rules(&config.default_security_group_ingress_rules);
    assert_eq!(imported, Input::Known(Some(wanted)));
}

fn web(cidrs: &[&str]) -> Value {
    let rule = Value::map([
        ("protocol", Value::from("tcp")),
        ("from_port", 80_i64.into()),
        ("to_port", 80_i64.into()),
        ("cidr_blocks", cidrs.to_vec().into()),
    ]);
    with_defaults(&SecurityGroupRule::attributes(), &rule)
}

fn cidr(text: &str) -> model::SecurityGroupRule {
    let source = RuleSource::CidrIpv4(text.into());
    model::SecurityGroupRule {
        protocol: "tcp".into(),
        from_port: Some(80),
        to_port: Some(80),
        source,
        description: None,
    }
}

/// The map of rules after the rules of the group were changed to these outside Terraform.
fn reflected(map: Value, now: &[model::SecurityGroupRule]) -> Value {
    let given = [(INGRESS, map)];
    let mut inventory = applied(&objects(&config(&given), "a"));
    for entry in &mut inventory.entries {
        if let Spec::DefaultSecurityGroup(group) = &entry.applied {
            let mut group = group.clone();
            if group.ingress != Input::Known(None) {
                group.ingress = Input::Known(Some(now.to_vec()));
            }
            entry.drift = Drift::Changed(Box::new(Spec::DefaultSecurityGroup(group)));
        }
    }
    let mut state = Value::map(given);
    DefaultSecurityGroup.reflect(&inventory, &mut state);
    state.get(INGRESS).clone()
}

/// The rules of the group that a map of rules requires.
fn expanded(map: &Value) -> Input<Option<Vec<model::SecurityGroupRule>>> {
    let config = config(&[(INGRESS, map.clone())]);
    rule::rules(&config.default_security_group_ingress_rules)
}

#[test]
fn an_added_rule_gets_its_own_entry_and_needs_no_change() {
    let map = Value::map([("tcp-80-80", web(&["10.1.0.0/16"]))]);
    let now = [cidr("10.1.0.0/16"), cidr("10.2.0.0/16")];
    let shown = reflected(map, &now);
    let entries = shown.as_map().unwrap();
    assert_eq!(entries.keys().collect::<Vec<_>>(), ["tcp-80-80", "tcp-80-80.2"]);
    assert_eq!(entries["tcp-80-80"], web(&["10.1.0.0/16"]), "unchanged");
    assert_eq!(expanded(&shown), Input::Known(Some(now.to_vec())));
}

#[test]
fn an_entry_that_lost_a_rule_is_replaced_and_others_stay() {
    let map = Value::map([("both", web(&["10.1.0.0/16", "10.2.0.0/16"])), ("one", web(&["10.3.0.0/16"]))]);
    let now = [cidr("10.2.0.0/16"), cidr("10.3.0.0/16")];
    let shown = reflected(map, &now);
    assert_eq!(shown.as_map().unwrap().keys().collect::<Vec<_>>(), ["one", "tcp-80-80"]);
    assert_eq!(expanded(&shown), Input::Known(Some(now.to_vec())));
}

#[test]
fn an_empty_map_stays_empty() {
    let empty = Value::map::<&str>([]);
    assert_eq!(reflected(empty.clone(), &[cidr("10.1.0.0/16")]), empty);
}

#[test]
fn a_group_without_rules_has_an_entry_without_sources() {
    let shown = reflected(Value::map([("web", web(&["10.1.0.0/16"]))]), &[]);
    assert_eq!(expanded(&shown), Input::Known(Some(vec![])), "an empty map would mean unmanaged rules: {shown}");
}

#[test]
fn turning_off_the_default_group_warns_about_its_rules() {
    let (on, off) = (config(&[]), config(&[("enable_default_security_group", false.into())]));
    let existing = applied(&objects(&on, "a"));
    assert_eq!(warned(&on, Some(&on), &existing), []);
    assert_eq!(warned(&off, None, &Inventory::default()), [], "there is nothing to revoke");
    let warnings = warned(&off, Some(&on), &existing);
    assert_eq!((warnings.len(), warnings[0].0.as_str()), (1, "enable_default_security_group"));
    assert!(warnings[0].1.contains("are revoked"), "{warnings:?}");
}

#[test]
fn rules_that_an_empty_map_leaves_are_named_once() {
    let (rules, empty) = (Value::map([("web", web(&["10.0.0.0/8"]))]), Value::map::<&str>([]));
    for name in [INGRESS, EGRESS] {
        let [of_rules, none, null] =
            [vec![(name, rules.clone())], vec![(name, empty.clone())], vec![]].map(|inputs| config(&inputs));
        let existing = applied(&objects(&of_rules, "a"));
        let says = |config: &Config, existing: &Inventory| {
            let found = warned(config, Some(&of_rules), existing);
            found.into_iter().filter(|(path, _)| path == name).map(|(_, message)| message).collect::<Vec<_>>()
        };
        let [warning] = &says(&none, &existing)[..] else { panic!("one warning") };
        assert!(warning.contains("still allows this traffic") && warning.contains("10.0.0.0/8"), "{warning}");
        assert_eq!(says(&null, &existing), [""; 0], "AWS's own rule replaces it");
        let left = next_objects(&none, Some(&of_rules), &existing, "a");
        let of = |objects: &[crate::model::Object]| {
            objects.iter().find_map(|it| model::DefaultSecurityGroup::of(&it.spec).cloned()).expect("a group")
        };
        let set = of(&left).set_rules();
        assert_eq!(set[usize::from(name == EGRESS)], [cidr("10.0.0.0/8")]);
        assert_eq!(says(&none, &applied(&left)), [""; 0]);
        assert_eq!(next_objects(&none, Some(&none), &applied(&left), "a"), left, "the next plan is empty");
        assert_eq!(of(&next_objects(&of_rules, Some(&none), &applied(&left), "a")), of(&objects(&of_rules, "a")));
    }
}

#[test]
fn rules_of_the_security_group_count_per_source_and_family() {
    let with = |ipv4: u8, ipv6: u8, lists: Vec<&str>| {
        let rule = Value::map([
            ("protocol", Value::from("tcp")),
            ("from_port", 443_i64.into()),
            ("to_port", 443_i64.into()),
            ("cidr_blocks", (0..ipv4).map(|number| format!("10.0.{number}.0/24")).collect::<Vec<_>>().into()),
            ("ipv6_cidr_blocks", (0..ipv6).map(|number| format!("2001:db8:{number}::/48")).collect::<Vec<_>>().into()),
            ("prefix_list_ids", lists.into()),
        ]);
        let config = config(&[("default_security_group_ingress_rules", Value::map([("https", rule)]))]);
        warned(&config, None, &Inventory::default())
    };
    assert_eq!((with(60, 60, vec![]), with(59, 0, vec!["pl-1"])), (vec![], vec![]));
    for (warnings, says) in [
        (with(61, 3, vec![]), "These are 61 rules for IPv4"),
        (with(3, 61, vec![]), "These are 61 rules for IPv6"),
        (with(60, 0, vec!["pl-1"]), "These are at least 61 rules for IPv4"),
    ] {
        assert_eq!((warnings.len(), warnings[0].0.as_str()), (1, "default_security_group_ingress_rules"));
        assert!(warnings[0].1.contains(says), "no {says} in {warnings:?}");
    }
}

#[test]
fn a_new_prefix_list_counts_as_its_maximum_number_of_entries() {
    let rule = |lists: Vec<&str>, blocks: u8| {
        let blocks: Vec<String> = (0..blocks).map(|number| format!("10.0.{number}.0/24")).collect();
        let rule = Value::map([
            ("protocol", Value::from("tcp")),
            ("from_port", 443_i64.into()),
            ("to_port", 443_i64.into()),
            ("cidr_blocks", blocks.into()),
            ("prefix_list_ids", lists.into()),
        ]);
        let config = config(&[("default_security_group_ingress_rules", Value::map([("https", rule)]))]);
        config.default_security_group_ingress_rules
    };
    let exists = |id: &str, detail: &str| {
        (Outside::PrefixList(id.into()), Finding::Exists { owner: None, detail: detail.into() })
    };
    let outside = [exists("pl-4", "55 IPv4"), exists("pl-6", "60 IPv6"), exists("pl-0", "")].into();
    let facts = Facts { outside, ..Facts::default() };
    let warned = |lists: Vec<&str>, blocks: u8| {
        too_many("default_security_group_ingress_rules", &rule(lists, blocks), &facts).map(|it| it.message)
    };
    assert_eq!((warned(vec!["pl-4"], 5), warned(vec!["pl-4", "pl-6"], 5)), (None, None));
    let says = |message: Option<String>, words: &str| assert!(message.as_ref().unwrap().contains(words), "{message:?}");
    says(warned(vec!["pl-4"], 6), "These are 61 rules for IPv4");
    says(warned(vec!["pl-4", "pl-0"], 5), "These are at least 61 rules for IPv4");
}

/// Values that were unknown in the plan are not validated again.
#[test]
fn different_descriptions_that_become_known_fail_before_any_call() {
    let rule = |description: &str| {
        Value::map([
            ("protocol", Value::from("tcp")),
            ("from_port", 443_i64.into()),
            ("to_port", 443_i64.into()),
            ("cidr_blocks", vec!["10.0.0.0/8"].into()),
            ("description", description.into()),
        ])
    };
    let rules = |second: &str| {
        config(&[("default_security_group_ingress_rules", Value::map([("a", rule("office")), ("b", rule(second))]))])
    };
    let problems = blueprint(&rules("vpn"), None, &Inventory::default(), "a").unwrap_err();
    assert!(problems[0].message.contains("\"office\" and \"vpn\""), "{problems:?}");
    assert!(blueprint(&rules("office"), None, &Inventory::default(), "a").is_ok());
}

#[test]
fn a_release_warns_only_of_rules_that_were_not_found() {
    let (on, off) = (config(&[]), config(&[(SWITCH, false.into())]));
    let mut existing = applied(&objects(&on, "a"));
    for entry in existing.entries.iter_mut().filter(|entry| entry.applied.is_adopted()) {
        entry.found = Some(Box::new(entry.applied.clone()));
    }
    assert_eq!(warned(&off, Some(&on), &existing), []);
    for entry in &mut existing.entries {
        if let Some(Spec::DefaultSecurityGroup(group)) = entry.found.as_deref_mut() {
            group.ingress = Input::Known(Some(vec![]));
        }
    }
    let [(_, warning)] = warned(&off, Some(&on), &existing).try_into().expect("one warning");
    assert!(warning.contains("that this resource set are revoked"), "{warning}");
}
