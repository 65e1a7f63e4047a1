//! Rules of a network ACL: their form in AWS, and an order of changes that never denies traffic that both the old and
//! the new rules allow. Rules that exchange their numbers are an exception: one of them is missing for the duration of
//! a call.

use aws_sdk_ec2::types::{IcmpTypeCode, NetworkAclEntry, PortRange, RuleAction};
use ipnet::IpNet;

use crate::aws::calls::codes;
use crate::aws::calls::{Operation, OrFailure};
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
    let acl = Acl { operation, id: acl_id, egress };
    let mut difference = Difference::between(existing, wanted);
    let mut now = existing.to_vec();
    // The future is large. Unboxed, it is part of the futures of all callers, whose copies overflow the stack.
    if let Err(failure) = Box::pin(add(&acl, &mut difference, &mut now)).await {
        let has_deleted = existing.iter().any(|rule| !now.iter().any(|it| it.rule_no == rule.rule_no));
        return Err(if has_deleted { Box::pin(put_back(&acl, existing, now, failure)).await } else { failure });
    }
    for number in difference.delete {
        acl.delete(number).await?;
    }
    Ok(())
}

/// Creates and replaces rules. If the limit does not allow old and new rules at once, one delete makes room for one
/// create, so that as many rules as possible exist at any time. `now` follows the rules of the ACL.
async fn add(acl: &Acl<'_>, difference: &mut Difference, now: &mut Vec<NetworkAclRule>) -> Result<(), Failure> {
    for rule in &difference.create {
        loop {
            match acl.create(rule).await {
                Err(failure) if codes::is_rule_limit(&failure) => {
                    if difference.delete.is_empty() {
                        return Err(failure);
                    }
                    let number = difference.delete.remove(0);
                    acl.delete(number).await?;
                    now.retain(|it| it.rule_no != number);
                }
                created => break created?,
            }
        }
        set(now, rule);
    }
    for rule in &difference.replace {
        acl.replace(rule).await?;
        set(now, rule);
    }
    Ok(())
}

fn set(rules: &mut Vec<NetworkAclRule>, rule: &NetworkAclRule) {
    rules.retain(|it| it.rule_no != rule.rule_no);
    rules.push(rule.clone());
}

/// Restores the rules that existed before a change that AWS has rejected after some of them were deleted. Returns the
/// failure with the state of the rules.
async fn put_back(
    acl: &Acl<'_>,
    existing: &[NetworkAclRule],
    mut now: Vec<NetworkAclRule>,
    mut failure: Failure,
) -> Failure {
    let mut difference = Difference::between(&now, existing);
    let mut restored = Box::pin(add(acl, &mut difference, &mut now)).await;
    for number in std::mem::take(&mut difference.delete) {
        if restored.is_ok() {
            restored = acl.delete(number).await;
        }
    }
    let direction = if acl.egress { "outbound" } else { "inbound" };
    failure.message = failure.message.trim_end_matches('.').to_string();
    failure.message += &match restored {
        Ok(()) => format!(". The {direction} rules are again those from before this change"),
        Err(second) => {
            let missing = existing.iter().filter(|rule| !now.contains(rule));
            let missing: Vec<String> = missing.map(|rule| rule.phrase(acl.egress)).collect();
            format!(
                ". Rules were deleted to make room, and restoring the {direction} rules failed ({second}). These are \
                 missing: {}",
                missing.join(", ")
            )
        }
    };
    failure
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
            call.map(|_| ()).or_failure("DeleteNetworkAclEntry")
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
            call.send().await.map(|_| ()).or_failure("CreateNetworkAclEntry")
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
            call.send().await.map(|_| ()).or_failure("ReplaceNetworkAclEntry")
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
mod tests;
