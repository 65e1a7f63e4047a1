//! Rules of a network ACL: their form in AWS, and an order of changes that never denies traffic that both the old and
//! the new rules allow. Rules that exchange their numbers are an exception: one of them is missing for the duration of
//! a call.

use aws_sdk_ec2::types::{IcmpTypeCode, NetworkAclEntry, PortRange, RuleAction};
use ipnet::IpNet;

use crate::aws::calls::codes;
use crate::aws::calls::{AwsError, Operation};
use crate::cloud::{Cause, Failure};
use crate::model::NetworkAclRule;

/// The highest number of a rule that can be changed. AWS's own rules have higher numbers: 32767 denies all other IPv4
/// traffic, and 32768 all other IPv6 traffic.
const LAST: i64 = 32766;

/// The changes from the existing rules of one direction to the wanted ones, in the order of their execution. A rule is
/// identified by its number and replaced in place.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Difference {
    /// Rules whose numbers are free.
    pub(super) create: Vec<NetworkAclRule>,
    /// Rules whose numbers are in use.
    pub(super) replace: Vec<NetworkAclRule>,
    /// Numbers of rules to delete.
    pub(super) delete: Vec<i64>,
}

impl Difference {
    /// Creates allow rules before deny rules, and deletes them after deny rules.
    pub(super) fn between(existing: &[NetworkAclRule], wanted: &[NetworkAclRule]) -> Difference {
        let of = |number: i64| existing.iter().find(|rule| rule.rule_no == number);
        let mut create: Vec<_> = wanted.iter().filter(|rule| of(rule.rule_no).is_none()).cloned().collect();
        let mut replace: Vec<_> =
            wanted.iter().filter(|rule| of(rule.rule_no).is_some_and(|existing| existing != *rule)).cloned().collect();
        let is_wanted = |number: i64| wanted.iter().any(|rule| rule.rule_no == number);
        let mut delete: Vec<&NetworkAclRule> = existing.iter().filter(|rule| !is_wanted(rule.rule_no)).collect();
        create.sort_by_key(|rule| !rule.allow);
        replace.sort_by_key(|rule| !rule.allow);
        delete.sort_by_key(|rule| rule.allow);
        let replace = moved_first(existing, replace);
        Difference { create, replace, delete: delete.into_iter().map(|rule| rule.rule_no).collect() }
    }
}

/// Orders replacements so that a rule that gets another number exists there before its old number is reused.
fn moved_first(existing: &[NetworkAclRule], mut rest: Vec<NetworkAclRule>) -> Vec<NetworkAclRule> {
    let mut ordered = Vec::with_capacity(rest.len());
    while !rest.is_empty() {
        let is_moved_later = |old: &NetworkAclRule| {
            rest.iter().any(|rule| *rule == NetworkAclRule { rule_no: rule.rule_no, ..old.clone() })
        };
        let loses_no_allow_rule = |rule: &NetworkAclRule| {
            let old = existing.iter().find(|old| old.rule_no == rule.rule_no);
            old.is_none_or(|old| !old.allow || !is_moved_later(old))
        };
        let next = rest.iter().position(loses_no_allow_rule).unwrap_or(0);
        ordered.push(rest.remove(next));
    }
    ordered
}

/// The rules of one direction that can be changed, sorted by number.
pub(super) fn of_entries(entries: &[NetworkAclEntry], egress: bool) -> Vec<NetworkAclRule> {
    let of_direction = entries.iter().filter(|entry| entry.egress() == Some(egress));
    let mut rules: Vec<NetworkAclRule> = of_direction.filter_map(rule).filter(|rule| rule.rule_no <= LAST).collect();
    rules.sort();
    rules
}

/// Whether the protocol is TCP or UDP. AWS ignores the ports of all others.
fn has_ports(protocol: &str) -> bool {
    matches!(protocol, "6" | "17")
}

/// Whether a rule has an ICMP type and code. AWS ignores them in a rule for ICMPv6 with an IPv4 range, which applies to
/// all types.
fn has_icmp_type(protocol: &str, is_ipv6: bool) -> bool {
    protocol == "1" || protocol == "58" && is_ipv6
}

fn rule(entry: &NetworkAclEntry) -> Option<NetworkAclRule> {
    let protocol = entry.protocol()?.to_string();
    let cidr_block = entry.cidr_block().or(entry.ipv6_cidr_block())?;
    let ports = entry.port_range().and_then(|range| Some((range.from()?.into(), range.to()?.into())));
    let icmp = entry.icmp_type_code().and_then(|icmp| Some((icmp.r#type()?.into(), icmp.code()?.into())));
    Some(NetworkAclRule {
        rule_no: entry.rule_number()?.into(),
        allow: entry.rule_action()?.as_str().eq_ignore_ascii_case("allow"),
        cidr_block: cidr_block.parse::<IpNet>().map_or(cidr_block.to_string(), |net| net.trunc().to_string()),
        ports: ports.filter(|_| has_ports(&protocol)),
        icmp: has_icmp_type(&protocol, entry.cidr_block().is_none()).then(|| icmp.unwrap_or((-1, -1))),
        protocol,
    })
}

/// Changes the rules of one direction to the wanted ones. Creates new rules first and deletes old ones last, so that
/// traffic that both allow is never denied.
pub(super) async fn apply(
    operation: &Operation<'_>,
    acl_id: &str,
    egress: bool,
    existing: &[NetworkAclRule],
    wanted: &[NetworkAclRule],
) -> Result<(), Failure> {
    let Difference { create, replace, delete } = Difference::between(existing, wanted);
    let mut delete = delete.into_iter();
    let acl = Acl { operation, id: acl_id, egress };
    for rule in &create {
        loop {
            match acl.create(rule).await {
                // The limit does not allow old and new rules at once. One delete makes room for one create, so that as
                // many rules as possible exist at any time.
                Err(failure) if codes::is_rule_limit(&failure) => {
                    acl.delete(delete.next().ok_or(failure)?).await?;
                }
                created => break created?,
            }
        }
    }
    for rule in &replace {
        acl.replace(rule).await?;
    }
    for number in delete {
        acl.delete(number).await?;
    }
    Ok(())
}

/// One direction of an ACL.
struct Acl<'a> {
    operation: &'a Operation<'a>,
    id: &'a str,
    egress: bool,
}

/// The outcome of a call for one rule.
enum Sent {
    Done,
    /// A rule with this number exists already.
    Taken,
    /// No rule with this number exists.
    Missing,
}

impl Acl<'_> {
    /// Creates a rule. Replaces one that has the number already, because an answer was lost or because it was created
    /// outside Terraform.
    async fn create(&self, rule: &NetworkAclRule) -> Result<(), Failure> {
        match self.send_create(rule).await? {
            Sent::Taken => self.send_replace(rule).await.and_then(|sent| self.succeeded(sent, rule)),
            sent => self.succeeded(sent, rule),
        }
    }

    /// Replaces a rule. Creates it if it was deleted outside Terraform.
    async fn replace(&self, rule: &NetworkAclRule) -> Result<(), Failure> {
        match self.send_replace(rule).await? {
            Sent::Missing => self.send_create(rule).await.and_then(|sent| self.succeeded(sent, rule)),
            sent => self.succeeded(sent, rule),
        }
    }

    async fn delete(&self, number: i64) -> Result<(), Failure> {
        let ec2 = &self.operation.session.ec2;
        self.send(|| async {
            let call = ec2.delete_network_acl_entry().network_acl_id(self.id);
            let call = call.egress(self.egress).rule_number(int(number)).send().await;
            call.map(|_| ()).map_err(|error| error.failure("DeleteNetworkAclEntry"))
        })
        .await
        .map(|_| ())
    }

    async fn send_create(&self, rule: &NetworkAclRule) -> Result<Sent, Failure> {
        let ec2 = &self.operation.session.ec2;
        let (ipv4, ipv6) = ranges(rule);
        self.send(|| async {
            let call = ec2
                .create_network_acl_entry()
                .network_acl_id(self.id)
                .egress(self.egress)
                .rule_number(int(rule.rule_no))
                .rule_action(action(rule))
                .protocol(&rule.protocol)
                .set_cidr_block(ipv4.clone())
                .set_ipv6_cidr_block(ipv6.clone())
                .set_port_range(ports(rule))
                .set_icmp_type_code(icmp(rule));
            call.send().await.map(|_| ()).map_err(|error| error.failure("CreateNetworkAclEntry"))
        })
        .await
    }

    async fn send_replace(&self, rule: &NetworkAclRule) -> Result<Sent, Failure> {
        let ec2 = &self.operation.session.ec2;
        let (ipv4, ipv6) = ranges(rule);
        self.send(|| async {
            let call = ec2
                .replace_network_acl_entry()
                .network_acl_id(self.id)
                .egress(self.egress)
                .rule_number(int(rule.rule_no))
                .rule_action(action(rule))
                .protocol(&rule.protocol)
                .set_cidr_block(ipv4.clone())
                .set_ipv6_cidr_block(ipv6.clone())
                .set_port_range(ports(rule))
                .set_icmp_type_code(icmp(rule));
            call.send().await.map(|_| ()).map_err(|error| error.failure("ReplaceNetworkAclEntry"))
        })
        .await
    }

    /// Retries while an ACL that was created just now with its VPC is not visible. Does not retry if a rule is missing.
    async fn send<F>(&self, mut call: impl FnMut() -> F) -> Result<Sent, Failure>
    where
        F: Future<Output = Result<(), Failure>>,
    {
        self.operation
            .retry_until_visible(&[self.id], || {
                let sent = call();
                async {
                    match sent.await {
                        Ok(()) => Ok(Sent::Done),
                        Err(failure) if failure.cause == Cause::Exists => Ok(Sent::Taken),
                        Err(failure) if codes::is_no_acl_entry(&failure) => Ok(Sent::Missing),
                        Err(failure) => Err(failure),
                    }
                }
            })
            .await
    }

    /// For the second call for a rule. Fails if its outcome contradicts the first one.
    fn succeeded(&self, sent: Sent, rule: &NetworkAclRule) -> Result<(), Failure> {
        let (action, cause, state) = match sent {
            Sent::Done => return Ok(()),
            Sent::Taken => ("CreateNetworkAclEntry", Cause::Exists, "does not exist, and then that it exists"),
            Sent::Missing => ("ReplaceNetworkAclEntry", Cause::Other, "exists, and then that it does not exist"),
        };
        let direction = if self.egress { "egress" } else { "ingress" };
        let message = format!("AWS reports that {direction} rule {} of {} {state}", rule.rule_no, self.id);
        Err(Failure::new(cause, action, message))
    }
}

/// Rule numbers, ports and ICMP types are far below the limit of the type. AWS rejects larger values.
fn int(number: i64) -> i32 {
    i32::try_from(number).unwrap_or(i32::MAX)
}

fn action(rule: &NetworkAclRule) -> RuleAction {
    if rule.allow { RuleAction::Allow } else { RuleAction::Deny }
}

/// The IPv4 and the IPv6 range; a rule has one of them.
fn ranges(rule: &NetworkAclRule) -> (Option<String>, Option<String>) {
    let cidr = rule.cidr_block.clone();
    if cidr.contains(':') { (None, Some(cidr)) } else { (Some(cidr), None) }
}

fn ports(rule: &NetworkAclRule) -> Option<PortRange> {
    let (from, to) = rule.ports.filter(|_| has_ports(&rule.protocol))?;
    Some(PortRange::builder().from(int(from)).to(int(to)).build())
}

fn icmp(rule: &NetworkAclRule) -> Option<IcmpTypeCode> {
    let (kind, code) = rule.icmp.filter(|_| has_icmp_type(&rule.protocol, rule.cidr_block.contains(':')))?;
    Some(IcmpTypeCode::builder().r#type(int(kind)).code(int(code)).build())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::aws::ec2::recorded::{Notes, Recorded};
    use crate::model::keys::network as keys;

    fn rule(rule_no: i64, allow: bool, cidr: &str) -> NetworkAclRule {
        let (protocol, cidr_block) = ("-1".to_string(), cidr.to_string());
        NetworkAclRule { rule_no, allow, protocol, cidr_block, ports: None, icmp: None }
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
    }
}
