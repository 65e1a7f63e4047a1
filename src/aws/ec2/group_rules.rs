//! Changes of the rules of security groups.

use std::collections::BTreeSet;

use super::filter;
use super::security_group_rules::{self as rules, Difference, Existing};
use crate::aws::calls::codes;
use crate::aws::calls::wait;
use crate::aws::calls::wait::Backoff;
use crate::aws::calls::{Operation, OrFailure, list_all};
use crate::cloud::Failure;
use crate::model::{RuleSource, SecurityGroupRule};

/// Changes the rules until AWS returns the wanted ones. New rules are added before old ones are revoked, so that
/// traffic that both allow is never interrupted.
///
/// `wanted` are the inbound and the outbound rules; `None` leaves the existing ones of a direction unchanged. `before`
/// are the rules that were read, if they are known: what someone has changed since then stays.
pub(super) async fn apply(
    operation: &Operation<'_>,
    id: &str,
    before: [Option<&[SecurityGroupRule]>; 2],
    wanted: [Option<&[SecurityGroupRule]>; 2],
) -> Result<(), Failure> {
    let directions = [(false, before[0], wanted[0]), (true, before[1], wanted[1])];
    let deadlines = operation.deadlines(wait::PROPAGATION);
    let mut backoff = Backoff::new(wait::SECONDS);
    let mut described = BTreeSet::new();
    loop {
        let all = read(operation, id).await?;
        let mut is_applied = true;
        for (egress, before, wanted) in directions {
            let Some(wanted) = wanted else { continue };
            let existing: Vec<Existing> =
                all.iter().filter(|(direction, _)| *direction == egress).map(|(_, it)| it.clone()).collect();
            let mut difference = Difference::between(&existing, wanted);
            if let Some(before) = before {
                difference.keep_changes_since(before);
            }
            // A new description is visible late, so it is sent once only.
            difference.describe.retain(|(id, _)| described.insert(id.clone()));
            if difference.is_empty() {
                continue;
            }
            is_applied = false;
            match change(operation, id, egress, difference).await {
                // The rules that were read were outdated; the next read returns the remaining differences.
                Err(failure) if codes::is_outdated_rule(&failure) => {}
                changed => changed?,
            }
        }
        if is_applied {
            return Ok(());
        }
        if let Err(ended) = backoff.pause(&deadlines, None).await {
            return Err(ended.failure("DescribeSecurityGroupRules", &backoff, "the rules are not applied yet"));
        }
    }
}

async fn change(operation: &Operation<'_>, id: &str, egress: bool, difference: Difference) -> Result<(), Failure> {
    match authorize(operation, id, egress, &difference.authorize).await {
        // The limit does not allow old and new rules at once, so the old ones are revoked first.
        Err(failure) if codes::is_rule_limit(&failure) => {
            if difference.revoke.is_empty() {
                return Err(beyond_limit(failure, &difference));
            }
            revoke(operation, id, egress, &difference.revoke).await?;
            if let Err(failure) = authorize(operation, id, egress, &difference.authorize).await {
                return Err(Box::pin(put_back(operation, id, egress, &difference, failure)).await);
            }
        }
        authorized => {
            authorized?;
            revoke(operation, id, egress, &difference.revoke).await?;
        }
    }
    describe(operation, id, egress, difference.describe).await
}

/// Adds the revoked rules again after AWS has rejected the new ones. Returns the failure with the state of the rules.
async fn put_back(
    operation: &Operation<'_>,
    id: &str,
    egress: bool,
    difference: &Difference,
    failure: Failure,
) -> Failure {
    let revoked: Vec<SecurityGroupRule> = difference.revoke.iter().map(|it| it.rule.clone()).collect();
    let mut failure = beyond_limit(failure, difference);
    failure.message = failure.message.trim_end_matches('.').to_string();
    failure.message += &match authorize(operation, id, egress, &revoked).await {
        Ok(()) => ". The rules that were revoked to make room exist again".to_string(),
        Err(second) => {
            let traffic: Vec<String> = revoked.iter().map(|rule| rule.traffic(egress)).collect();
            format!(
                ". These rules were revoked to make room, and are missing, because adding them again failed ({second}): {}",
                traffic.join(", ")
            )
        }
    };
    failure
}

/// The failure with what it means if AWS's limit of rules is the cause.
fn beyond_limit(mut failure: Failure, difference: &Difference) -> Failure {
    let has_list = difference.authorize.iter().any(|rule| matches!(rule.source, RuleSource::PrefixList(_)));
    if has_list && codes::is_rule_limit(&failure) {
        failure.message = failure.message.trim_end_matches('.').to_string();
        failure.message += ". A prefix list counts as many rules as its maximum number of entries";
    }
    failure
}

/// All rules of the group, each with whether it is an egress rule.
pub(super) async fn read(operation: &Operation<'_>, id: &str) -> Result<Vec<(bool, Existing)>, Failure> {
    let call = operation.session.ec2.describe_security_group_rules().filters(filter("group-id", id));
    let found = list_all("DescribeSecurityGroupRules", call.into_paginator().items().send()).await?;
    Ok(found.iter().filter_map(|rule| Some((rule.is_egress()?, rules::existing(rule)?))).collect())
}

async fn authorize(
    operation: &Operation<'_>,
    id: &str,
    egress: bool,
    new: &[SecurityGroupRule],
) -> Result<(), Failure> {
    if new.is_empty() {
        return Ok(());
    }
    let ec2 = &operation.session.ec2;
    let permissions = || Some(new.iter().map(|rule| rules::permission(rule, id)).collect());
    let given: Vec<&str> = new.iter().filter_map(|rule| rule.source.given_id()).collect();
    let send = || async {
        if egress {
            let call = ec2.authorize_security_group_egress().group_id(id).set_ip_permissions(permissions());
            call.send().await.map(|_| ()).or_failure("AuthorizeSecurityGroupEgress")
        } else {
            let call = ec2.authorize_security_group_ingress().group_id(id).set_ip_permissions(permissions());
            call.send().await.map(|_| ()).or_failure("AuthorizeSecurityGroupIngress")
        }
    };
    operation.retry_until_visible(&[&[id], given.as_slice()].concat(), send).await
}

pub(super) async fn revoke(
    operation: &Operation<'_>,
    id: &str,
    egress: bool,
    rules: &[Existing],
) -> Result<(), Failure> {
    if rules.is_empty() {
        return Ok(());
    }
    let rule_ids = rules.iter().map(|it| it.id.clone()).collect();
    let ec2 = &operation.session.ec2;
    if egress {
        let call = ec2.revoke_security_group_egress().group_id(id).set_security_group_rule_ids(Some(rule_ids));
        call.send().await.map(|_| ()).or_failure("RevokeSecurityGroupEgress")
    } else {
        let call = ec2.revoke_security_group_ingress().group_id(id).set_security_group_rule_ids(Some(rule_ids));
        call.send().await.map(|_| ()).or_failure("RevokeSecurityGroupIngress")
    }
}

/// Updates descriptions. The calls identify a rule by its permission, not by its id, and remove omitted descriptions.
async fn describe(
    operation: &Operation<'_>,
    id: &str,
    egress: bool,
    described: Vec<(String, SecurityGroupRule)>,
) -> Result<(), Failure> {
    if described.is_empty() {
        return Ok(());
    }
    let ec2 = &operation.session.ec2;
    let permissions = Some(described.iter().map(|(_, rule)| rules::permission(rule, id)).collect());
    if egress {
        let call = ec2.update_security_group_rule_descriptions_egress().group_id(id).set_ip_permissions(permissions);
        let answer = call.send().await;
        answer.map(|_| ()).or_failure("UpdateSecurityGroupRuleDescriptionsEgress")
    } else {
        let call = ec2.update_security_group_rule_descriptions_ingress().group_id(id).set_ip_permissions(permissions);
        let answer = call.send().await;
        answer.map(|_| ()).or_failure("UpdateSecurityGroupRuleDescriptionsIngress")
    }
}
