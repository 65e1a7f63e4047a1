//! The default network ACL of a VPC. AWS makes and deletes it with the VPC; we adopt it.

use aws_sdk_ec2::types::{Filter, NetworkAcl, VpcCidrBlockStateCode};

use super::{filter, network_acl_rules as rules, tags};
use crate::aws::calls::ownership;
use crate::aws::calls::wait;
use crate::aws::calls::wait::{Backoff, Poll};
use crate::aws::calls::{AwsError, Operation};
use crate::aws::ec2::observed::{Shown, tier_and_index};
use crate::cloud::{Cause, Failure, Observed};
use crate::model::Input;
use crate::model::{DefaultNetworkAcl, Entry, Key, Learned, NetworkAclRule, Spec, Tier};

/// The ACL as AWS shows it. Its list of subnets is what was applied, because a subnet that has got another ACL since is
/// not fought over.
pub(super) fn read(
    shown: &Shown<'_>,
    key: Key,
    applied: Option<&DefaultNetworkAcl>,
    acl: &NetworkAcl,
) -> Option<Observed> {
    let subnets = applied.map_or_else(|| associated(shown, acl), |applied| applied.subnets.clone());
    Some(Observed {
        id: acl.network_acl_id()?.to_string(),
        key,
        spec: Spec::DefaultNetworkAcl(DefaultNetworkAcl {
            vpc: shown.vpc.clone(),
            ingress: Input::Known(rules::of_entries(acl.entries(), false)),
            egress: Input::Known(rules::of_entries(acl.entries(), true)),
            subnets,
            tags: tags::own(acl.tags()),
        }),
        learned: Learned::new(),
    })
}

/// Our subnets that have this ACL. Those of the transit tier have it too, unless someone gave them another one, but
/// they are never given it.
fn associated(shown: &Shown<'_>, acl: &NetworkAcl) -> Vec<Key> {
    let of_acl = acl.associations().iter().filter_map(|it| shown.key(it.subnet_id()?));
    let is_given = |subnet: &&Key| tier_and_index(&subnet.slot).is_some_and(|(tier, _)| tier != Tier::Transit);
    let mut subnets: Vec<Key> = of_acl.filter(is_given).cloned().collect();
    subnets.sort();
    subnets
}

/// Finds the ACL, says whose it is, gives it its rules, and gives it to the subnets that have another one.
pub(crate) async fn create(operation: &Operation<'_>, spec: &DefaultNetworkAcl) -> Result<(), Failure> {
    let vpc_id = operation.id(&spec.vpc)?;
    let deadlines = operation.deadlines(wait::PROPAGATION);
    let (id, acl) = wait::until("DescribeNetworkAcls", &deadlines, wait::SECONDS, || async {
        let found = look(operation, [filter("vpc-id", vpc_id), filter("default", "true")]).await?;
        Ok(match found.into_iter().find_map(|acl| Some((acl.network_acl_id()?.to_string(), acl))) {
            Some(found) => Poll::Done(found),
            None => Poll::Pending("the default network ACL is not visible yet".to_string()),
        })
    })
    .await?;
    operation.record_id(&id);
    tags::set(operation, &id, &ownership::tags_on_create(operation, &spec.tags)?).await?;
    apply(operation, &id, &acl, operation.known(&spec.ingress)?, operation.known(&spec.egress)?).await?;
    associate(operation, &id, vpc_id, &spec.subnets).await
}

/// Changes rules and tags, and gives the ACL to subnets that have come into its list. One that leaves the list keeps
/// it: a subnet always has an ACL.
pub(crate) async fn update(
    operation: &Operation<'_>,
    id: &str,
    from: Option<&DefaultNetworkAcl>,
    to: &DefaultNetworkAcl,
) -> Result<(), Failure> {
    let (ingress, egress) = (operation.known(&to.ingress)?, operation.known(&to.egress)?);
    match from {
        Some(from) => {
            rules::apply(operation, id, false, operation.known(&from.ingress)?, ingress).await?;
            rules::apply(operation, id, true, operation.known(&from.egress)?, egress).await?;
        }
        None => {
            let found = look(operation, [filter("network-acl-id", id)]).await?;
            let gone = || Failure::new(Cause::NotFound, "DescribeNetworkAcls", format!("{id} does not exist"));
            apply(operation, id, found.first().ok_or_else(gone)?, ingress, egress).await?;
        }
    }
    let before = from.map_or(&[][..], |from| &from.subnets);
    let new: Vec<Key> = to.subnets.iter().filter(|subnet| !before.contains(subnet)).cloned().collect();
    associate(operation, id, operation.id(&to.vpc)?, &new).await?;
    tags::update(operation, id, from.map(|from| &from.tags), &to.tags).await
}

/// Lets go of the ACL: puts AWS's original rules back, which allow everything, and removes the tags that were applied.
/// Its subnets keep it.
pub(crate) async fn delete(operation: &Operation<'_>, entry: &Entry) -> Result<(), Failure> {
    let id = entry.id.as_str();
    let found = look(operation, [filter("network-acl-id", id)]).await?;
    // It goes only with its VPC.
    let Some(acl) = found.first() else { return Ok(()) };
    let original = original_rules(has_ipv6(operation).await?);
    match apply(operation, id, acl, &original, &original).await {
        Err(failure) if failure.cause == Cause::NotFound => return Ok(()),
        applied => applied?,
    }
    let mut keys = match entry.applied.tags() {
        Some(tags) => operation.own_tags(tags)?.into_keys().collect(),
        None => Vec::new(),
    };
    keys.extend([ownership::RESOURCE.to_string(), ownership::OBJECT.to_string()]);
    match tags::remove(operation, id, keys).await {
        Err(failure) if failure.cause == Cause::NotFound => Ok(()),
        removed => removed,
    }
}

/// Brings both directions from what a look has shown to what is wanted.
async fn apply(
    operation: &Operation<'_>,
    id: &str,
    acl: &NetworkAcl,
    ingress: &[NetworkAclRule],
    egress: &[NetworkAclRule],
) -> Result<(), Failure> {
    rules::apply(operation, id, false, &rules::of_entries(acl.entries(), false), ingress).await?;
    rules::apply(operation, id, true, &rules::of_entries(acl.entries(), true), egress).await
}

/// The rules that AWS gives each direction of a new VPC's default ACL: 100, and with an IPv6 range 101.
fn original_rules(ipv6: bool) -> Vec<NetworkAclRule> {
    let allow_all = |rule_no: i64, cidr: &str| {
        let (protocol, cidr_block) = ("-1".to_string(), cidr.to_string());
        NetworkAclRule { rule_no, allow: true, protocol, cidr_block, ports: None, icmp: None }
    };
    let mut rules = vec![allow_all(100, "0.0.0.0/0")];
    rules.extend(ipv6.then(|| allow_all(101, "::/0")));
    rules
}

/// Whether the VPC has an IPv6 range, or is getting one.
async fn has_ipv6(operation: &Operation<'_>) -> Result<bool, Failure> {
    let call = operation.session.ec2.describe_vpcs().filters(filter("vpc-id", operation.root_id()?));
    let answer = call.send().await.map_err(|error| error.failure("DescribeVpcs"))?;
    let ranges = answer.vpcs().iter().flat_map(|vpc| vpc.ipv6_cidr_block_association_set());
    let mut states = ranges.filter_map(|range| range.ipv6_cidr_block_state()?.state());
    Ok(states.any(|state| matches!(state, VpcCidrBlockStateCode::Associated | VpcCidrBlockStateCode::Associating)))
}

/// Gives the ACL to those of the subnets that have another one. All are looked up with one call.
async fn associate(operation: &Operation<'_>, id: &str, vpc_id: &str, subnets: &[Key]) -> Result<(), Failure> {
    let mut rest = Vec::new();
    for subnet in subnets {
        rest.push(operation.id(subnet)?);
    }
    let deadlines = operation.deadlines(wait::PROPAGATION);
    let mut backoff = Backoff::new(wait::SECONDS);
    while !rest.is_empty() {
        let acls = look(operation, [filter("vpc-id", vpc_id)]).await?;
        let mut later = Vec::new();
        for subnet_id in rest {
            let mut associations = acls.iter().flat_map(|acl| acl.associations());
            match associations.find(|it| it.subnet_id() == Some(subnet_id)) {
                Some(it) if it.network_acl_id() == Some(id) => {}
                Some(it) => {
                    if !replace(operation, id, it.network_acl_association_id().unwrap_or_default()).await? {
                        later.push(subnet_id);
                    }
                }
                None if operation.session.process.created.contains(subnet_id) => later.push(subnet_id),
                None => {
                    let message = format!("{subnet_id} has no network ACL, so it does not exist any more");
                    return Err(Failure::new(Cause::NotFound, "DescribeNetworkAcls", message));
                }
            }
        }
        rest = later;
        if !rest.is_empty()
            && let Err(ended) = backoff.pause(&deadlines, None).await
        {
            let seen = format!("{} do not have the default network ACL yet", rest.join(", "));
            return Err(ended.failure("ReplaceNetworkAclAssociation", &backoff, &seen));
        }
    }
    Ok(())
}

/// Puts the ACL into an association, which gets another id by that. False where the association is no more, because
/// someone changed it at the same moment, or because an answer was lost and the call repeated.
async fn replace(operation: &Operation<'_>, id: &str, association_id: &str) -> Result<bool, Failure> {
    let call = operation.session.ec2.replace_network_acl_association();
    let call = call.association_id(association_id).network_acl_id(id).send().await;
    match call.map_err(|error| error.failure("ReplaceNetworkAclAssociation")) {
        Ok(_) => Ok(true),
        Err(failure) if failure.cause == Cause::NotFound => Ok(false),
        Err(failure) => Err(failure),
    }
}

async fn look(
    operation: &Operation<'_>,
    filters: impl IntoIterator<Item = Filter>,
) -> Result<Vec<NetworkAcl>, Failure> {
    let filters = Some(filters.into_iter().collect());
    let call = operation.session.ec2.describe_network_acls().set_filters(filters);
    let found = call.into_paginator().items().send().collect::<Result<Vec<_>, _>>().await;
    found.map_err(|error| error.failure("DescribeNetworkAcls"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::aws::ec2::recorded::{Notes, Recorded};
    use crate::model::keys::network as keys;

    const DONE: &str = "<return>true</return>";

    fn entry(number: i64, cidr: &str, action: &str, egress: bool) -> String {
        format!(
            "<item><ruleNumber>{number}</ruleNumber><protocol>-1</protocol><ruleAction>{action}</ruleAction>\
             <egress>{egress}</egress><cidrBlock>{cidr}</cidrBlock></item>"
        )
    }

    /// An ACL as AWS makes it, with these subnets: association id and subnet id.
    fn acl(id: &str, entries: &[String], subnets: &[(&str, &str)]) -> String {
        let associations = subnets.iter().map(|(association, subnet)| {
            format!(
                "<item><networkAclAssociationId>{association}</networkAclAssociationId><networkAclId>{id}\
                 </networkAclId><subnetId>{subnet}</subnetId></item>"
            )
        });
        let built_in = [false, true].map(|egress| entry(32767, "0.0.0.0/0", "deny", egress));
        format!(
            "<item><networkAclId>{id}</networkAclId><vpcId>vpc-1</vpcId><entrySet>{}{}</entrySet><associationSet>{}\
             </associationSet></item>",
            entries.concat(),
            built_in.concat(),
            associations.collect::<String>(),
        )
    }

    fn set(acls: &[String]) -> String {
        format!("<networkAclSet>{}</networkAclSet>", acls.concat())
    }

    fn allow_all() -> [String; 2] {
        [false, true].map(|egress| entry(100, "0.0.0.0/0", "allow", egress))
    }

    fn rule(rule_no: i64, cidr: &str) -> NetworkAclRule {
        NetworkAclRule { rule_no, cidr_block: cidr.to_string(), ..original_rules(false).remove(0) }
    }

    fn subnet(index: u32) -> Key {
        keys::subnet(Tier::Public, index, "use1-az1", &Input::Known(format!("10.0.{index}.0/24")))
    }

    fn spec(ingress: Vec<NetworkAclRule>, subnets: &[u32]) -> DefaultNetworkAcl {
        DefaultNetworkAcl {
            vpc: Key::new("vpc"),
            ingress: Input::Known(ingress),
            egress: Input::Known(original_rules(false)),
            subnets: subnets.iter().map(|index| subnet(*index)).collect(),
            tags: Input::Known([("Name".to_string(), Input::Known("shop".to_string()))].into()),
        }
    }

    async fn run(
        aws: &Recorded,
        notes: &Notes,
        body: impl AsyncFnOnce(&Operation<'_>) -> Result<(), Failure>,
    ) -> Result<(), Failure> {
        let (vpc, subnets) = (Key::new("vpc"), [subnet(0), subnet(1)]);
        let ids = [(&vpc, "vpc-1"), (&subnets[0], "subnet-0"), (&subnets[1], "subnet-1")];
        notes.run(&aws.session(), &keys::default_network_acl(), &ids, body).await
    }

    #[tokio::test(start_paused = true)]
    async fn adopting_the_acl_adds_rules_before_it_removes_any_and_takes_only_subnets_with_another_acl() {
        let ours = acl("acl-1", &allow_all(), &[("aclassoc-0", "subnet-0")]);
        let theirs = acl("acl-9", &[], &[("aclassoc-1", "subnet-1"), ("aclassoc-2", "subnet-2")]);
        let aws = Recorded::default()
            .on("DescribeNetworkAcls", &set(std::slice::from_ref(&ours)))
            .on("DescribeNetworkAcls", &set(&[ours, theirs]))
            .on("CreateTags", DONE)
            .on("CreateNetworkAclEntry", DONE)
            .on("DeleteNetworkAclEntry", DONE)
            .on("ReplaceNetworkAclAssociation", "<newAssociationId>aclassoc-7</newAssociationId>");
        let notes = Notes::default();
        let wanted = spec(vec![rule(200, "10.0.0.0/8"), rule(300, "10.0.0.0/8")], &[0, 1]);
        run(&aws, &notes, async |operation| create(operation, &wanted).await).await.unwrap();
        assert_eq!(notes.ids(), ["acl-1"]);
        assert_eq!(
            aws.actions(),
            [
                "DescribeNetworkAcls",
                "CreateTags",
                "CreateNetworkAclEntry",
                "CreateNetworkAclEntry",
                "DeleteNetworkAclEntry",
                "DescribeNetworkAcls",
                "ReplaceNetworkAclAssociation",
            ]
        );
        let deleted = &aws.calls("DeleteNetworkAclEntry")[0];
        assert_eq!((deleted["RuleNumber"].as_str(), deleted["Egress"].as_str()), ("100", "false"));
        assert_eq!(aws.calls("ReplaceNetworkAclAssociation")[0]["AssociationId"], "aclassoc-1");
        assert_eq!(aws.calls("CreateTags")[0]["Tag.3.Value"], "four_tier_vpc/vpc-1");
    }

    #[tokio::test(start_paused = true)]
    async fn an_association_that_someone_changes_at_the_same_moment_is_looked_up_again() {
        let of = |association: &str| set(&[acl("acl-9", &[], &[(association, "subnet-1")])]);
        let aws = Recorded::default()
            .on("DescribeNetworkAcls", &of("aclassoc-1"))
            .on("DescribeNetworkAcls", &of("aclassoc-2"))
            .fail("ReplaceNetworkAclAssociation", 400, "InvalidAssociationID.NotFound", "does not exist")
            .on("ReplaceNetworkAclAssociation", "<newAssociationId>aclassoc-3</newAssociationId>");
        let (from, to) = (spec(vec![], &[0]), spec(vec![], &[1]));
        run(&aws, &Notes::default(), async |operation| update(operation, "acl-1", Some(&from), &to).await)
            .await
            .unwrap();
        let calls = aws.calls("ReplaceNetworkAclAssociation");
        let tried: Vec<&str> = calls.iter().map(|call| call["AssociationId"].as_str()).collect();
        assert_eq!(tried, ["aclassoc-1", "aclassoc-2"], "and the subnet that left the list keeps its ACL");
    }

    #[tokio::test(start_paused = true)]
    async fn one_changed_rule_is_one_call_without_a_look() {
        let aws = Recorded::default().on("ReplaceNetworkAclEntry", DONE);
        let (from, to) = (spec(vec![rule(100, "0.0.0.0/0")], &[0]), spec(vec![rule(100, "10.0.0.0/8")], &[0]));
        run(&aws, &Notes::default(), async |operation| update(operation, "acl-1", Some(&from), &to).await)
            .await
            .unwrap();
        assert_eq!(aws.actions(), ["ReplaceNetworkAclEntry"]);
    }

    #[tokio::test(start_paused = true)]
    async fn where_it_is_not_sure_what_was_set_a_look_tells() {
        let there = acl("acl-1", &allow_all(), &[("aclassoc-0", "subnet-0")]);
        let aws = Recorded::default()
            .on("DescribeNetworkAcls", &set(&[there]))
            .on("CreateTags", DONE)
            .on("CreateNetworkAclEntry", DONE);
        let to = spec(vec![rule(50, "10.0.0.0/8"), rule(100, "0.0.0.0/0")], &[0]);
        run(&aws, &Notes::default(), async |operation| update(operation, "acl-1", None, &to).await).await.unwrap();
        assert_eq!(
            aws.actions(),
            ["DescribeNetworkAcls", "CreateNetworkAclEntry", "DescribeNetworkAcls", "CreateTags"]
        );
        assert_eq!(aws.calls("CreateNetworkAclEntry")[0]["RuleNumber"], "50");
    }

    #[tokio::test(start_paused = true)]
    async fn letting_go_of_the_acl_puts_awss_rules_back_and_those_of_ipv6_where_the_vpc_has_it() {
        let vpc = "<vpcSet><item><vpcId>vpc-1</vpcId><ipv6CidrBlockAssociationSet><item><ipv6CidrBlockState><state>\
            associated</state></ipv6CidrBlockState></item></ipv6CidrBlockAssociationSet></item></vpcSet>";
        let there = [entry(100, "10.0.0.0/8", "allow", false), entry(7, "10.0.0.0/8", "deny", true)];
        let aws = Recorded::default()
            .on("DescribeNetworkAcls", &set(&[acl("acl-1", &there, &[])]))
            .on("DescribeVpcs", vpc)
            .on("CreateNetworkAclEntry", DONE)
            .on("ReplaceNetworkAclEntry", DONE)
            .on("DeleteNetworkAclEntry", DONE)
            .on("DeleteTags", DONE);
        let entry = Entry::new(keys::default_network_acl(), "acl-1", Spec::DefaultNetworkAcl(spec(vec![], &[0])));
        run(&aws, &Notes::default(), async |operation| delete(operation, &entry).await).await.unwrap();
        assert_eq!(
            aws.actions()[2..],
            [
                "CreateNetworkAclEntry",
                "ReplaceNetworkAclEntry",
                "CreateNetworkAclEntry",
                "CreateNetworkAclEntry",
                "DeleteNetworkAclEntry",
                "DeleteTags",
            ]
        );
        let made = aws.calls("CreateNetworkAclEntry");
        let made: Vec<_> = made.iter().map(|call| (call["RuleNumber"].as_str(), call["Egress"].as_str())).collect();
        assert_eq!(made, [("101", "false"), ("100", "true"), ("101", "true")]);
        assert_eq!(
            made.len(),
            aws.calls("CreateNetworkAclEntry").iter().filter(|it| it["RuleAction"] == "allow").count()
        );
        assert_eq!(aws.calls("DeleteTags")[0]["Tag.2.Key"], "fgw:resource");
    }
}
