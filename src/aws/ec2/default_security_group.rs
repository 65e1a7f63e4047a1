//! The default security group of a VPC. AWS creates and deletes it with the VPC; the provider adopts it.

use std::collections::BTreeMap;

use aws_sdk_ec2::types::{SecurityGroup, Tag};

use super::claims::{Claims, Evidence, Ours};
use super::security_group_rules::{self as rules, Existing};
use super::{filter, group_rules, tags};
use crate::aws::Session;
use crate::aws::calls::codes::missing::MissingCodes;
use crate::aws::calls::ownership;
use crate::aws::calls::wait;
use crate::aws::calls::wait::Poll;
use crate::aws::calls::{Operation, OrFailure, list_all};
use crate::aws::ec2::observed::{Listed, Shown};
use crate::cloud::{Cause, Failure, Observed};
use crate::model::Input;
use crate::model::keys::network as keys;
use crate::model::{DefaultSecurityGroup, Entry, FoundSecurityGroup, Learned, SecurityGroupRule, Spec};

/// From a recorded answer of AWS.
pub(super) const MISSING: MissingCodes = MissingCodes(&["InvalidGroup.NotFound"]);

/// The default group of a VPC.
pub(super) async fn of_vpc(session: &Session, vpc_id: &str) -> Result<Vec<SecurityGroup>, Failure> {
    let call = session.ec2.describe_security_groups();
    let call = call.filters(filter("vpc-id", vpc_id)).filters(filter("group-name", "default"));
    list_all("DescribeSecurityGroups", call.into_paginator().items().send()).await
}

impl Listed for SecurityGroup {
    fn id(&self) -> Option<&str> {
        self.group_id()
    }

    fn tags(&self) -> &[Tag] {
        self.tags()
    }

    fn evidence<'a>(&'a self, claims: &Claims<'a>) -> Evidence<'a> {
        let kind = Evidence::new("a default security group", |slot| slot == "default_security_group");
        claims.of_default(kind, "enable_default_security_group")
    }

    /// Leaves out the rules of an unmanaged direction.
    fn read(&self, shown: &Shown<'_>, ours: Ours<'_>) -> Option<Observed> {
        let ((key, applied), id) = (ours.place(DefaultSecurityGroup::of)?, self.group_id()?);
        let rules_of = |permissions, direction: fn(&DefaultSecurityGroup) -> &Input<Option<Vec<SecurityGroupRule>>>| {
            let applied = applied.map(direction);
            let rules = applied.and_then(|rules| rules.known()?.as_deref()).unwrap_or_default();
            let is_managed = applied.is_none_or(|rules| *rules != Input::Known(None));
            Input::Known(is_managed.then(|| rules::of_permissions(permissions, id, self.owner_id(), rules)))
        };
        Some(Observed {
            id: id.to_string(),
            key: applied.map_or_else(keys::default_security_group, |_| key),
            spec: Spec::DefaultSecurityGroup(DefaultSecurityGroup {
                vpc: shown.vpc.clone(),
                ingress: rules_of(self.ip_permissions(), |it| &it.ingress),
                egress: rules_of(self.ip_permissions_egress(), |it| &it.egress),
                left_ingress: applied.map(|it| it.left_ingress.clone()).unwrap_or_default(),
                left_egress: applied.map(|it| it.left_egress.clone()).unwrap_or_default(),
                tags: tags::own(self.tags()),
            }),
            learned: Learned::new(),
        })
    }
}

impl From<&SecurityGroup> for FoundSecurityGroup {
    fn from(it: &SecurityGroup) -> FoundSecurityGroup {
        let id = it.group_id().unwrap_or_default();
        let rules = |permissions| rules::of_permissions(permissions, id, it.owner_id(), &[]);
        FoundSecurityGroup {
            id: id.to_string(),
            tags: tags::all(it.tags()),
            ingress: rules(it.ip_permissions()),
            egress: rules(it.ip_permissions_egress()),
        }
    }
}

/// Adopts the group: sets its tags, among them the ownership tags, and its rules.
pub(crate) async fn create(operation: &Operation<'_>, spec: &DefaultSecurityGroup) -> Result<(), Failure> {
    let (session, vpc_id) = (operation.session, operation.id(&spec.vpc)?);
    let id = wait::until("DescribeSecurityGroups", &operation.deadlines(wait::PROPAGATION), wait::SECONDS, || async {
        Ok(match of_vpc(session, vpc_id).await?.first().and_then(|group| group.group_id()) {
            Some(id) => Poll::Done(id.to_string()),
            None => Poll::Pending("the default group is not visible yet".to_string()),
        })
    })
    .await?;
    operation.record_id(&id);
    tags::set(operation, &id, &ownership::tags_on_create(operation, &spec.tags)?).await?;
    set_rules(operation, &id, None, spec).await
}

/// Sets the rules. `from` is the spec that was read; a new object has none.
async fn set_rules(
    operation: &Operation<'_>,
    id: &str,
    from: Option<&DefaultSecurityGroup>,
    to: &DefaultSecurityGroup,
) -> Result<(), Failure> {
    let before = from.map(|from| rules_of(operation, from)).transpose()?.unwrap_or_default();
    group_rules::apply(operation, id, before, rules_of(operation, to)?).await
}

/// The inbound and the outbound rules.
fn rules_of<'a>(
    operation: &Operation<'_>,
    spec: &'a DefaultSecurityGroup,
) -> Result<[Option<&'a [SecurityGroupRule]>; 2], Failure> {
    Ok([operation.known(&spec.ingress)?.as_deref(), operation.known(&spec.egress)?.as_deref()])
}

/// Updates rules and tags.
pub(crate) async fn update(
    operation: &Operation<'_>,
    id: &str,
    from: &DefaultSecurityGroup,
    to: &DefaultSecurityGroup,
) -> Result<(), Failure> {
    if (&from.ingress, &from.egress) != (&to.ingress, &to.egress) {
        set_rules(operation, id, Some(from), to).await?;
    }
    let ownership = match operation.is_resumed() {
        true => {
            let found = with_id(operation.session, id).await?;
            tags::missing_ownership(operation, found.iter().flat_map(|group| group.tags()))?
        }
        false => BTreeMap::new(),
    };
    tags::update_with(operation, id, &from.tags, &to.tags, ownership).await
}

/// Releases the group: revokes the applied rules and removes the applied tags, except those that it had when it was
/// found. AWS deletes the group with its VPC.
pub(crate) async fn delete(operation: &Operation<'_>, entry: &Entry) -> Result<(), Failure> {
    let (id, applied) = (entry.id.as_str(), operation.of_its_kind(DefaultSecurityGroup::of(&entry.applied))?);
    let rules = applied.revoked_rules(entry.found.as_deref().and_then(DefaultSecurityGroup::of));
    // One missing rule fails the whole call, so the rules are read again after such an answer.
    wait::retry_while_in_use(&operation.work.deadlines, || async {
        match release_rules(operation, id, &rules).await {
            Err(failure) if MISSING.match_failure(&failure, id) => Ok(()),
            Err(failure) if failure.cause == Cause::NotFound => Err(wait::not_deleted(failure)),
            released => released,
        }
    })
    .await?;
    let keys = tags::to_release(operation, entry)?;
    tags::remove_if_exists(operation, MISSING, id, keys, || exists(operation.session, id)).await
}

/// Whether a security group exists.
pub(super) async fn exists(session: &Session, id: &str) -> Result<bool, Failure> {
    Ok(!with_id(session, id).await?.is_empty())
}

async fn with_id(session: &Session, id: &str) -> Result<Vec<SecurityGroup>, Failure> {
    let found = session.ec2.describe_security_groups().filters(filter("group-id", id)).send().await;
    Ok(found.or_failure("DescribeSecurityGroups")?.security_groups.unwrap_or_default())
}

/// Revokes those of the group's rules that equal one of these ingress or egress rules.
async fn release_rules(
    operation: &Operation<'_>,
    id: &str,
    [ingress, outbound]: &[Vec<SecurityGroupRule>; 2],
) -> Result<(), Failure> {
    let all = group_rules::read(operation, id).await?;
    for (egress, revoked) in [(false, ingress), (true, outbound)] {
        let matching = all
            .iter()
            .filter(|(direction, it)| *direction == egress && revoked.iter().any(|rule| rules::same(rule, &it.rule)));
        let matching: Vec<Existing> = matching.map(|(_, it)| it.clone()).collect();
        group_rules::revoke(operation, id, egress, &matching).await?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::aws::ec2::recorded::{Notes, Recorded};
    use crate::model::Key;
    use crate::model::RuleSource;
    use crate::model::keys::network as keys;

    fn rule(id: &str, egress: bool, inside: &str) -> String {
        format!(
            "<item><securityGroupRuleId>{id}</securityGroupRuleId><groupId>sg-1</groupId><isEgress>{egress}</isEgress>\
             {inside}</item>"
        )
    }

    fn rules_set(rules: &[String]) -> String {
        format!("<securityGroupRuleSet>{}</securityGroupRuleSet>", rules.concat())
    }

    const SELF: &str = "<ipProtocol>-1</ipProtocol><fromPort>-1</fromPort><toPort>-1</toPort>\
        <referencedGroupInfo><groupId>sg-1</groupId></referencedGroupInfo>";
    const WEB: &str = "<ipProtocol>tcp</ipProtocol><fromPort>443</fromPort><toPort>443</toPort>\
        <cidrIpv4>10.0.0.0/8</cidrIpv4>";
    const ALL_OUT: &str = "<ipProtocol>-1</ipProtocol><cidrIpv4>0.0.0.0/0</cidrIpv4>";

    fn spec() -> DefaultSecurityGroup {
        DefaultSecurityGroup {
            ingress: Input::Known(Some(vec![SecurityGroupRule::test()])),
            tags: Input::Known([("Name".to_string(), Input::Known("shop".to_string()))].into()),
            ..DefaultSecurityGroup::test()
        }
    }

    #[tokio::test(start_paused = true)]
    async fn adoption_adds_before_revoking_in_managed_directions_only() {
        let out = rule("sgr-2", true, ALL_OUT);
        let aws = Recorded::default()
            .on("DescribeSecurityGroups", "<securityGroupInfo><item><groupId>sg-1</groupId></item></securityGroupInfo>")
            .on("CreateTags", "<return>true</return>")
            .on("DescribeSecurityGroupRules", &rules_set(&[rule("sgr-1", false, SELF), out.clone()]))
            .on("DescribeSecurityGroupRules", &rules_set(&[rule("sgr-3", false, WEB), out]))
            .on("AuthorizeSecurityGroupIngress", "<return>true</return>")
            .on("RevokeSecurityGroupIngress", "<return>true</return>");
        let (vpc, notes) = (Key::new("vpc"), Notes::default());
        notes
            .run(&aws.session(), &keys::default_security_group(), &[(&vpc, "vpc-1")], async |operation| {
                create(operation, &spec()).await
            })
            .await
            .unwrap();
        assert_eq!(notes.ids(), ["sg-1"]);
        let actions = aws.actions();
        assert_eq!(actions[3..5], ["AuthorizeSecurityGroupIngress", "RevokeSecurityGroupIngress"]);
        let revoked = &aws.calls("RevokeSecurityGroupIngress")[0];
        assert_eq!(revoked["SecurityGroupRuleId.1"], "sgr-1");
        assert!(!revoked.contains_key("SecurityGroupRuleId.2"));
        assert!(aws.calls("RevokeSecurityGroupEgress").is_empty());
        let tags = &aws.calls("CreateTags")[0];
        assert_eq!(tags["Tag.2.Value"], "default_security_group");
        assert_eq!(tags["Tag.3.Value"], "four_tier_vpc/vpc-1");
    }

    const LIMIT: &str = "RulesPerSecurityGroupLimitExceeded";

    /// An update from two rules to [`spec`] with a prefix list, whose answers follow.
    async fn update_beyond_limit(aws: Recorded) -> (Failure, Recorded) {
        let ssh = format!("{}<description>vpn</description>", WEB.replace("443", "22"));
        let aws = aws
            .on("DescribeSecurityGroupRules", &rules_set(&[rule("sgr-1", false, SELF), rule("sgr-2", false, &ssh)]))
            .on("RevokeSecurityGroupIngress", "<return>true</return>");
        let list = SecurityGroupRule { source: RuleSource::PrefixList("pl-1".into()), ..SecurityGroupRule::test() };
        let all = SecurityGroupRule { protocol: "-1".into(), from_port: None, to_port: None, ..list.clone() };
        let own = SecurityGroupRule { source: RuleSource::ItSelf, ..all };
        let ssh = SecurityGroupRule { from_port: Some(22), to_port: Some(22), ..SecurityGroupRule::test() };
        let from = DefaultSecurityGroup { ingress: Input::Known(Some(vec![own, ssh])), ..spec() };
        let to = DefaultSecurityGroup { ingress: Input::Known(Some(vec![list])), ..spec() };
        let updated = Notes::default()
            .run(&aws.session(), &keys::default_security_group(), &[], async |operation| {
                update(operation, "sg-1", &from, &to).await
            })
            .await;
        (updated.unwrap_err(), aws)
    }

    #[tokio::test(start_paused = true)]
    async fn rules_that_were_revoked_in_vain_are_put_back() {
        let action = "AuthorizeSecurityGroupIngress";
        let limit = |aws: Recorded| aws.fail(action, 400, LIMIT, "The maximum number of rules has been reached.");
        let aws = limit(limit(Recorded::default())).on(action, "<return>true</return>");
        let (failure, aws) = update_beyond_limit(aws).await;
        assert_eq!(failure.code.as_deref(), Some(LIMIT));
        for text in ["A prefix list counts", "The rules that were revoked to make room exist again"] {
            assert!(failure.message.contains(text), "{failure}");
        }
        let [_, _, restored] = &aws.calls(action)[..] else { panic!("{:?}", aws.actions()) };
        assert_eq!(restored["IpPermissions.1.Groups.1.GroupId"], "sg-1");
        assert_eq!(restored["IpPermissions.2.FromPort"], "22");
        assert_eq!(restored["IpPermissions.2.IpRanges.1.Description"], "vpn");
    }

    #[tokio::test(start_paused = true)]
    async fn rules_that_cannot_be_put_back_are_named() {
        let action = "AuthorizeSecurityGroupIngress";
        let limit = |aws: Recorded| aws.fail(action, 400, LIMIT, "The maximum number of rules has been reached.");
        let aws = limit(limit(Recorded::default())).fail(action, 403, "UnauthorizedOperation", "not you");
        let (failure, _) = update_beyond_limit(aws).await;
        for text in ["are missing", "not you", "all traffic from itself, tcp 22 from 10.0.0.0/8"] {
            assert!(failure.message.contains(text), "{failure}");
        }
    }

    #[tokio::test(start_paused = true)]
    async fn delete_revokes_only_applied_rules() {
        let aws = Recorded::default()
            .on(
                "DescribeSecurityGroupRules",
                &rules_set(&[rule("sgr-1", false, SELF), rule("sgr-2", true, ALL_OUT), rule("sgr-3", false, WEB)]),
            )
            .on("RevokeSecurityGroupIngress", "<return>true</return>")
            .on("DeleteTags", "<return>true</return>");
        let key = keys::default_security_group();
        let entry = Entry::new(key.clone(), "sg-1", Spec::DefaultSecurityGroup(spec()));
        Notes::default()
            .run(&aws.session(), &key, &[], async |operation| delete(operation, &entry).await)
            .await
            .unwrap();
        assert_eq!(aws.actions(), ["DescribeSecurityGroupRules", "RevokeSecurityGroupIngress", "DeleteTags"]);
        assert_eq!(aws.calls("RevokeSecurityGroupIngress")[0]["SecurityGroupRuleId.1"], "sgr-3");
        let removed = &aws.calls("DeleteTags")[0];
        assert_eq!(
            [&removed["Tag.1.Key"], &removed["Tag.2.Key"], &removed["Tag.3.Key"]],
            ["Name", "fgw:resource", "fgw:object"]
        );
    }

    #[tokio::test(start_paused = true)]
    async fn delete_keeps_the_rules_and_tags_that_were_found() {
        let found = DefaultSecurityGroup { egress: Input::Known(Some(vec![])), ..spec() };
        let ssh = SecurityGroupRule { from_port: Some(22), to_port: Some(22), ..SecurityGroupRule::test() };
        let tag = |key: &str| (key.to_string(), Input::Known("x".to_string()));
        let applied = DefaultSecurityGroup {
            ingress: Input::Known(Some(vec![ssh, SecurityGroupRule::test()])),
            tags: Input::Known([tag("Name"), tag("team")].into()),
            ..spec()
        };
        let aws = Recorded::default()
            .on(
                "DescribeSecurityGroupRules",
                &rules_set(&[rule("sgr-1", false, WEB), rule("sgr-2", false, &WEB.replace("443", "22"))]),
            )
            .on("RevokeSecurityGroupIngress", "<return>true</return>")
            .on("DeleteTags", "<return>true</return>");
        let key = keys::default_security_group();
        let entry = Entry::new(key.clone(), "sg-1", Spec::DefaultSecurityGroup(applied.clone()));
        let entry = Entry { found: Some(Box::new(Spec::DefaultSecurityGroup(found))), ..entry };
        Notes::default()
            .run(&aws.session(), &key, &[], async |operation| delete(operation, &entry).await)
            .await
            .unwrap();
        let revoked = &aws.calls("RevokeSecurityGroupIngress")[0];
        assert_eq!(revoked["SecurityGroupRuleId.1"], "sgr-2");
        assert!(!revoked.contains_key("SecurityGroupRuleId.2"), "{revoked:?}");
        let removed = &aws.calls("DeleteTags")[0];
        assert_eq!([&removed["Tag.1.Key"], &removed["Tag.2.Key"]], ["team", "fgw:resource"]);
    }
}
