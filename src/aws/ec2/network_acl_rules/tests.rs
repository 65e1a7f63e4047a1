use super::*;
use crate::aws::ec2::recorded::{Notes, Recorded};
use crate::model::keys::network as keys;

fn rule(rule_no: i64, allow: bool, cidr: &str) -> NetworkAclRule {
    NetworkAclRule { rule_no, allow, cidr_block: cidr.into(), ..NetworkAclRule::test() }
}

async fn change(aws: &Recorded, existing: &[NetworkAclRule], wanted: &[NetworkAclRule]) -> Result<(), Failure> {
    let key = keys::default_network_acl();
    Notes::default()
        .run(&aws.session(), &key, &[], async |operation| apply(operation, "acl-1", false, existing, wanted).await)
        .await
}

const DONE: &str = "<return>true</return>";

#[test]
fn icmpv6_with_an_ipv4_range_has_no_type() {
    let entry = |range: &str| {
        let entry = NetworkAclEntry::builder().protocol("58").rule_number(100).rule_action(RuleAction::Allow);
        let entry = entry.egress(false).icmp_type_code(IcmpTypeCode::builder().r#type(-1).code(-1).build());
        let is_ipv6 = range.contains(':');
        let entry = if is_ipv6 { entry.ipv6_cidr_block(range) } else { entry.cidr_block(range) };
        of_entries(&[entry.build()], false).remove(0)
    };
    assert_eq!(entry("10.0.0.0/8").icmp, None);
    assert_eq!(icmp(&entry("10.0.0.0/8")), None);
    assert_eq!(entry("2001:db8::/32").icmp, Some((-1, -1)));
}

#[test]
fn allow_rules_are_created_first_and_deleted_last() {
    let existing = [rule(10, true, "10.0.0.0/8"), rule(20, true, "0.0.0.0/0"), rule(30, false, "0.0.0.0/0")];
    let wanted = [rule(5, false, "10.1.0.0/16"), rule(6, true, "10.0.0.0/8"), rule(20, false, "0.0.0.0/0")];
    let difference = Difference::between(&existing, &wanted);
    let numbers = |rules: &[NetworkAclRule]| rules.iter().map(|rule| rule.rule_no).collect::<Vec<_>>();
    assert_eq!((numbers(&difference.create), numbers(&difference.replace)), (vec![6, 5], vec![20]));
    assert_eq!(difference.delete, [30, 10]);
    assert_eq!(Difference::between(&wanted, &wanted), Difference::default());
}

/// The ranges that the rules allow after each replacement.
fn allowed_during(existing: &[NetworkAclRule], wanted: &[NetworkAclRule]) -> Vec<Vec<String>> {
    let Difference { create, replace, .. } = Difference::between(existing, wanted);
    let mut rules = [existing, &create].concat();
    let mut all = Vec::new();
    for rule in replace {
        rules.retain(|old| old.rule_no != rule.rule_no);
        rules.push(rule);
        all.push(rules.iter().filter(|it| it.allow).map(|it| it.cidr_block.clone()).collect());
    }
    all
}

#[test]
fn a_renumbered_rule_exists_before_its_old_number_is_reused() {
    let (a, b, c) = ("10.1.0.0/16", "10.2.0.0/16", "10.3.0.0/16");
    let existing = [rule(100, true, a), rule(110, true, b)];
    let (down, up) =
        ([rule(100, true, c), rule(110, true, a), rule(120, true, b)], [rule(90, true, a), rule(100, true, b)]);
    for wanted in [&down[..], &up[..]] {
        for allowed in allowed_during(&existing, wanted) {
            assert!(allowed.iter().any(|it| it == a) && allowed.iter().any(|it| it == b), "{allowed:?}");
        }
    }
    let back = allowed_during(&down, &[rule(100, true, a), rule(110, true, b)]);
    assert!(back.iter().all(|allowed| allowed.iter().any(|it| it == a)), "{back:?}");
}

#[test]
fn awss_final_rules_are_hidden_and_others_are_canonical() {
    let entry = |number: i32, protocol: &str| {
        let entry = NetworkAclEntry::builder().rule_number(number).protocol(protocol).egress(true);
        entry.rule_action(RuleAction::from("ALLOW"))
    };
    let entries = [
        entry(32768, "-1").ipv6_cidr_block("::/0").build(),
        entry(32767, "-1").cidr_block("0.0.0.0/0").build(),
        entry(300, "58").ipv6_cidr_block("2001:DB8:0::/32").build(),
        entry(200, "1")
            .cidr_block("10.0.0.0/8")
            .icmp_type_code(IcmpTypeCode::builder().r#type(8).code(-1).build())
            .build(),
        entry(100, "-1").cidr_block("10.9.0.0/8").port_range(PortRange::builder().from(0).to(0).build()).build(),
        NetworkAclEntry::builder().rule_number(1).egress(false).build(),
    ];
    let rules = of_entries(&entries, true);
    let shown: Vec<_> = rules.iter().map(|it| (it.rule_no, it.cidr_block.as_str(), it.ports, it.icmp)).collect();
    assert_eq!(
        shown,
        [
            (100, "10.0.0.0/8", None, None),
            (200, "10.0.0.0/8", None, Some((8, -1))),
            (300, "2001:db8::/32", None, Some((-1, -1))),
        ]
    );
    assert!(rules.iter().all(|rule| rule.allow));
}

#[tokio::test(start_paused = true)]
async fn icmp_has_type_and_code_and_only_tcp_and_udp_have_ports() {
    let aws = Recorded::default().on("CreateNetworkAclEntry", DONE);
    let icmp = NetworkAclRule {
        protocol: "58".into(),
        icmp: Some((128, -1)),
        ports: Some((0, 0)),
        ..rule(10, true, "2001:db8::/32")
    };
    let tcp = NetworkAclRule { protocol: "6".into(), ports: Some((443, 444)), ..rule(20, true, "10.0.0.0/8") };
    change(&aws, &[], &[icmp, tcp]).await.unwrap();
    let [icmp, tcp] = &aws.calls("CreateNetworkAclEntry")[..] else { panic!("{:?}", aws.actions()) };
    assert_eq!((icmp["Icmp.Type"].as_str(), icmp["Icmp.Code"].as_str()), ("128", "-1"));
    assert_eq!((icmp["Ipv6CidrBlock"].as_str(), icmp.get("CidrBlock")), ("2001:db8::/32", None));
    assert_eq!((icmp["Protocol"].as_str(), icmp.get("PortRange.From")), ("58", None));
    assert_eq!((tcp["PortRange.From"].as_str(), tcp["PortRange.To"].as_str()), ("443", "444"));
    assert_eq!((tcp.get("Icmp.Type"), tcp["Egress"].as_str()), (None, "false"));
}

#[tokio::test(start_paused = true)]
async fn an_existing_rule_with_the_same_number_is_replaced() {
    let aws = Recorded::default()
        .fail("CreateNetworkAclEntry", 400, "NetworkAclEntryAlreadyExists", "The entry already exists")
        .on("ReplaceNetworkAclEntry", DONE);
    change(&aws, &[], &[rule(7, true, "10.0.0.0/8")]).await.unwrap();
    assert_eq!(aws.actions(), ["CreateNetworkAclEntry", "ReplaceNetworkAclEntry"]);
    assert_eq!(aws.calls("ReplaceNetworkAclEntry")[0]["CidrBlock"], "10.0.0.0/8");
}

#[tokio::test(start_paused = true)]
async fn a_missing_rule_is_created_again_or_counts_as_deleted() {
    let aws = Recorded::default()
        .fail("ReplaceNetworkAclEntry", 400, "InvalidNetworkAclEntry.NotFound", "does not exist")
        .on("CreateNetworkAclEntry", DONE)
        .fail("DeleteNetworkAclEntry", 400, "InvalidNetworkAclEntry.NotFound", "does not exist");
    let existing = [rule(7, true, "10.0.0.0/8"), rule(9, true, "10.0.0.0/8")];
    change(&aws, &existing, &[rule(7, false, "10.0.0.0/8")]).await.unwrap();
    assert_eq!(aws.actions(), ["ReplaceNetworkAclEntry", "CreateNetworkAclEntry", "DeleteNetworkAclEntry"]);
}

#[tokio::test(start_paused = true)]
async fn at_the_rule_limit_one_delete_makes_room_for_one_create() {
    let full = |aws: Recorded| {
        aws.fail("CreateNetworkAclEntry", 400, "NetworkAclEntryLimitExceeded", "The maximum number is 20")
    };
    let aws = full(full(Recorded::default()).on("CreateNetworkAclEntry", DONE))
        .on("CreateNetworkAclEntry", DONE)
        .on("DeleteNetworkAclEntry", DONE);
    let existing = [rule(1, true, "10.0.0.0/8"), rule(2, true, "10.0.0.0/8"), rule(3, false, "0.0.0.0/0")];
    change(&aws, &existing, &[rule(4, true, "10.0.0.0/8"), rule(5, true, "10.1.0.0/16")]).await.unwrap();
    let deleted = aws.calls("DeleteNetworkAclEntry");
    let deleted: Vec<&str> = deleted.iter().map(|call| call["RuleNumber"].as_str()).collect();
    assert_eq!(deleted, ["3", "1", "2"]);
    let actions = aws.actions();
    assert_eq!(actions[..3], ["CreateNetworkAclEntry", "DeleteNetworkAclEntry", "CreateNetworkAclEntry"]);

    let aws = full(Recorded::default());
    let failure = change(&aws, &[], &[rule(4, true, "10.0.0.0/8")]).await.unwrap_err();
    assert_eq!(failure.code.as_deref(), Some("NetworkAclEntryLimitExceeded"));
    assert_eq!(aws.actions(), ["CreateNetworkAclEntry"]);
}

const LIMIT: &str = "NetworkAclEntryLimitExceeded";

/// An ACL with one rule that gets two others, of which the limit allows one.
fn with_room_for_one() -> Recorded {
    let full = |aws: Recorded| aws.fail("CreateNetworkAclEntry", 400, LIMIT, "The maximum number is 1.");
    let aws = full(Recorded::default()).on("CreateNetworkAclEntry", DONE);
    full(full(aws)).on("DeleteNetworkAclEntry", DONE)
}

#[tokio::test(start_paused = true)]
async fn rules_that_were_deleted_in_vain_are_put_back() {
    let aws = with_room_for_one().on("CreateNetworkAclEntry", DONE);
    let wanted = [rule(4, true, "10.0.0.0/8"), rule(5, true, "10.1.0.0/16")];
    let failure = change(&aws, &[rule(1, false, "0.0.0.0/0")], &wanted).await.unwrap_err();
    assert_eq!(failure.code.as_deref(), Some(LIMIT));
    assert!(failure.message.ends_with("The inbound rules are again those from before this change"), "{failure}");
    let number = |call: &std::collections::BTreeMap<String, String>| call["RuleNumber"].clone();
    let deleted: Vec<String> = aws.calls("DeleteNetworkAclEntry").iter().map(number).collect();
    let created: Vec<String> = aws.calls("CreateNetworkAclEntry").iter().map(number).collect();
    assert_eq!(deleted, ["1", "4"]);
    assert_eq!(created, ["4", "4", "5", "1", "1"], "the first of each pair is rejected");
}

#[tokio::test(start_paused = true)]
async fn rules_that_cannot_be_put_back_are_named() {
    let aws = with_room_for_one().fail("CreateNetworkAclEntry", 403, "UnauthorizedOperation", "not you");
    let wanted = [rule(4, true, "10.0.0.0/8"), rule(5, true, "10.1.0.0/16")];
    let failure = change(&aws, &[rule(1, false, "0.0.0.0/0")], &wanted).await.unwrap_err();
    for text in ["restoring the inbound rules failed", "not you", "missing: 1 deny all traffic from 0.0.0.0/0"] {
        assert!(failure.message.contains(text), "{failure}");
    }
}
