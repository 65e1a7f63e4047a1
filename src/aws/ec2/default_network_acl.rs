//! The default network ACL of a VPC. AWS creates and deletes it with the VPC; the provider adopts it.

use std::collections::BTreeMap;

use aws_sdk_ec2::types::{Filter, NetworkAcl, Tag, VpcCidrBlockStateCode};

use super::claims::{Claims, Evidence, Ours};
use super::{filter, filter_any, network_acl_rules as rules, tags, vpc};
use crate::aws::Session;
use crate::aws::calls::codes::missing::MissingCodes;
use crate::aws::calls::ownership;
use crate::aws::calls::wait;
use crate::aws::calls::wait::{Backoff, Poll};
use crate::aws::calls::{Operation, OrFailure, list_all};
use crate::aws::ec2::observed::{Listed, Shown};
use crate::cloud::{Cause, Failure, Observed};
use crate::model::Input;
use crate::model::keys::network as keys;
use crate::model::{DefaultNetworkAcl, Entry, FoundNetworkAcl, Learned, NetworkAclRule, Spec, TakenSubnet};

const MISSING: MissingCodes = MissingCodes(&["InvalidNetworkAclID.NotFound"]);

impl Listed for NetworkAcl {
    fn id(&self) -> Option<&str> {
        self.network_acl_id()
    }

    fn tags(&self) -> &[Tag] {
        self.tags()
    }

    fn evidence<'a>(&'a self, claims: &Claims<'a>) -> Evidence<'a> {
        let kind = Evidence::new("a default network ACL", |slot| slot == "default_network_acl");
        claims.of_default(kind, "apply_default_nacl_rules")
    }

    /// The list of subnets is the applied one, so that a subnet that has been associated with another ACL since is not
    /// drift.
    fn read(&self, shown: &Shown<'_>, ours: Ours<'_>) -> Option<Observed> {
        let (key, applied) = ours.place(DefaultNetworkAcl::of)?;
        Some(Observed {
            id: self.network_acl_id()?.to_string(),
            key: applied.map_or_else(keys::default_network_acl, |_| key),
            spec: Spec::DefaultNetworkAcl(DefaultNetworkAcl {
                vpc: shown.vpc.clone(),
                ingress: Input::Known(rules::of_entries(self.entries(), false)),
                egress: Input::Known(rules::of_entries(self.entries(), true)),
                taken: applied.map(|applied| applied.taken.clone()).unwrap_or_default(),
                tags: tags::own(self.tags()),
            }),
            learned: Learned::new(),
        })
    }
}

impl From<&NetworkAcl> for FoundNetworkAcl {
    fn from(it: &NetworkAcl) -> FoundNetworkAcl {
        FoundNetworkAcl {
            id: it.network_acl_id().unwrap_or_default().to_string(),
            tags: tags::all(it.tags()),
            ingress: rules::of_entries(it.entries(), false),
            egress: rules::of_entries(it.entries(), true),
        }
    }
}

/// Adopts the ACL: sets its tags, among them the ownership tags, and its rules, and takes subnets from other ACLs.
pub(crate) async fn create(operation: &Operation<'_>, spec: &DefaultNetworkAcl) -> Result<(), Failure> {
    let vpc_id = operation.id(&spec.vpc)?;
    let deadlines = operation.deadlines(wait::PROPAGATION);
    let (id, acl) = wait::until("DescribeNetworkAcls", &deadlines, wait::SECONDS, || async {
        let found = describe(operation.session, [filter("vpc-id", vpc_id), filter("default", "true")]).await?;
        Ok(match found.into_iter().find_map(|acl| Some((acl.network_acl_id()?.to_string(), acl))) {
            Some(found) => Poll::Done(found),
            None => Poll::Pending("the default network ACL is not visible yet".to_string()),
        })
    })
    .await?;
    operation.record_id(&id);
    tags::set(operation, &id, &ownership::tags_on_create(operation, &spec.tags)?).await?;
    apply(operation, &id, &acl, operation.known(&spec.ingress)?, operation.known(&spec.egress)?).await?;
    take(operation, &id, vpc_id, &spec.taken).await
}

/// Updates rules and tags, and takes further subnets. A subnet that is removed from the list keeps the ACL, because
/// every subnet has one.
pub(crate) async fn update(
    operation: &Operation<'_>,
    id: &str,
    from: &DefaultNetworkAcl,
    to: &DefaultNetworkAcl,
) -> Result<(), Failure> {
    let (ingress, egress) = (operation.known(&to.ingress)?, operation.known(&to.egress)?);
    rules::apply(operation, id, false, operation.known(&from.ingress)?, ingress).await?;
    rules::apply(operation, id, true, operation.known(&from.egress)?, egress).await?;
    // Subnets of the last apply that have another ACL got it outside Terraform.
    let new: Vec<TakenSubnet> = to.taken.iter().filter(|taken| !from.taken.contains(taken)).cloned().collect();
    take(operation, id, operation.id(&to.vpc)?, &new).await?;
    let ownership = match operation.is_resumed() {
        true => {
            let found = describe(operation.session, [filter("network-acl-id", id)]).await?;
            tags::missing_ownership(operation, found.iter().flat_map(|acl| acl.tags()))?
        }
        false => BTreeMap::new(),
    };
    tags::update_with(operation, id, &from.tags, &to.tags, ownership).await
}

/// Releases the ACL: restores the rules that it had when it was found or, if a create has set them, AWS's original
/// rules, which allow all traffic. Removes the applied tags. The subnets keep the ACL.
pub(crate) async fn delete(operation: &Operation<'_>, entry: &Entry) -> Result<(), Failure> {
    let (id, applied) = (entry.id.as_str(), operation.of_its_kind(DefaultNetworkAcl::of(&entry.applied))?);
    wait::retry_while_in_use(&operation.work.deadlines, || async {
        match release_rules(operation, entry, applied).await {
            Err(failure) if MISSING.match_failure(&failure, id) => Ok(()),
            Err(failure) if failure.cause == Cause::NotFound => Err(wait::not_deleted(failure)),
            released => released,
        }
    })
    .await?;
    let keys = tags::to_release(operation, entry)?;
    tags::remove_if_exists(operation, MISSING, id, keys, || async {
        Ok(!describe(operation.session, [filter("network-acl-id", id)]).await?.is_empty())
    })
    .await
}

/// Restores the rules of the ACL.
async fn release_rules(operation: &Operation<'_>, entry: &Entry, applied: &DefaultNetworkAcl) -> Result<(), Failure> {
    let id = entry.id.as_str();
    let found = describe(operation.session, [filter("network-acl-id", id)]).await?;
    // AWS deletes it only with its VPC.
    let Some(acl) = found.first() else { return Ok(()) };
    let [ingress, egress] = match entry.found.as_deref() {
        Some(Spec::DefaultNetworkAcl(found)) => {
            let now = [false, true].map(|egress| rules::of_entries(acl.entries(), egress));
            applied.released_rules([&now[0], &now[1]], found)
        }
        _ => {
            let original = original_rules(has_ipv6(operation).await?);
            [original.clone(), original]
        }
    };
    apply(operation, id, acl, &ingress, &egress).await
}

/// Changes the rules of both directions from the ones in `acl` to the wanted ones.
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

/// The rules of each direction that AWS creates in the default ACL of a new VPC: number 100, and 101 if the VPC has an
/// IPv6 range.
fn original_rules(ipv6: bool) -> Vec<NetworkAclRule> {
    let allow_all = |rule_no: i64, cidr: &str| {
        let (protocol, cidr_block) = ("-1".to_string(), cidr.to_string());
        NetworkAclRule { rule_no, allow: true, protocol, cidr_block, ports: None, icmp: None }
    };
    let mut rules = vec![allow_all(100, "0.0.0.0/0")];
    rules.extend(ipv6.then(|| allow_all(101, "::/0")));
    rules
}

/// Whether an IPv6 range is associated or associating.
async fn has_ipv6(operation: &Operation<'_>) -> Result<bool, Failure> {
    let vpcs = vpc::with_id(operation.session, operation.root_id()?).await?;
    let ranges = vpcs.iter().flat_map(|vpc| vpc.ipv6_cidr_block_association_set());
    let mut states = ranges.filter_map(|range| range.ipv6_cidr_block_state()?.state());
    Ok(states.any(|state| matches!(state, VpcCidrBlockStateCode::Associated | VpcCidrBlockStateCode::Associating)))
}

/// Associates the ACL with subnets that have the ACL of the plan. One call reads the associations of all subnets.
async fn take(operation: &Operation<'_>, id: &str, vpc_id: &str, taken: &[TakenSubnet]) -> Result<(), Failure> {
    let mut rest = Vec::new();
    for TakenSubnet { subnet, from } in taken {
        rest.push((operation.id(subnet)?, from.as_str()));
    }
    let deadlines = operation.deadlines(wait::PROPAGATION);
    let mut backoff = Backoff::new(wait::SECONDS);
    while !rest.is_empty() {
        let acls = all_in_vpc(operation.session, vpc_id).await?;
        let found = rest.iter().map(|(subnet_id, from)| association(&acls, id, subnet_id, from));
        // Nothing is taken if one of the subnets has moved.
        let found = found.collect::<Result<Vec<Option<String>>, Failure>>()?;
        let mut later = Vec::new();
        for (taken, association_id) in rest.into_iter().zip(found) {
            if let Some(association_id) = association_id
                && !replace(operation, id, &association_id).await?
            {
                later.push(taken);
            }
        }
        rest = later;
        if !rest.is_empty()
            && let Err(ended) = backoff.pause(&deadlines, None).await
        {
            let ids: Vec<&str> = rest.iter().map(|(id, _)| *id).collect();
            let seen = format!("{} are not associated with the default network ACL yet", ids.join(", "));
            return Err(ended.failure("ReplaceNetworkAclAssociation", &backoff, &seen));
        }
    }
    Ok(())
}

/// The ID of the association of a subnet with the ACL of the plan. `None` if it has the ACL `id` already.
fn association(acls: &[NetworkAcl], id: &str, subnet_id: &str, from: &str) -> Result<Option<String>, Failure> {
    let found = acls.iter().flat_map(|acl| acl.associations()).find(|it| it.subnet_id() == Some(subnet_id));
    let Some(found) = found else {
        let message = format!("{subnet_id} has no network ACL, so it no longer exists");
        return Err(Failure::new(Cause::NotFound, "DescribeNetworkAcls", message));
    };
    match found.network_acl_id().unwrap_or_default() {
        now if now == id => Ok(None),
        now if now == from => Ok(Some(found.network_acl_association_id().unwrap_or_default().to_string())),
        now => {
            let message = format!(
                "{subnet_id} now has the network ACL {now}, and the plan showed {from}, so it keeps {now}. Run plan again: \
                 it shows the change"
            );
            Err(Failure::new(Cause::Other, "ReplaceNetworkAclAssociation", message))
        }
    }
}

/// Changes the ACL of an association, which replaces the association's id. Returns `false` if the association no longer
/// exists, because of a concurrent change or because the call was repeated after a lost answer.
async fn replace(operation: &Operation<'_>, id: &str, association_id: &str) -> Result<bool, Failure> {
    let call = operation.session.ec2.replace_network_acl_association();
    let call = call.association_id(association_id).network_acl_id(id).send().await;
    match call.or_failure("ReplaceNetworkAclAssociation") {
        Ok(_) => Ok(true),
        Err(failure) if failure.cause == Cause::NotFound => Ok(false),
        Err(failure) => Err(failure),
    }
}

pub(super) async fn all_in_vpc(session: &Session, vpc_id: &str) -> Result<Vec<NetworkAcl>, Failure> {
    let ec2 = session.ec2.clone();
    let list = move |ids| {
        let call = ec2.describe_network_acls().filters(filter_any::<String>("vpc-id", ids));
        list_all("DescribeNetworkAcls", call.into_paginator().items().send())
    };
    session.shared.network_acls.of(&session.shared.networks, vpc_id, NetworkAcl::vpc_id, list).await
}

pub(super) async fn describe(
    session: &Session,
    filters: impl IntoIterator<Item = Filter>,
) -> Result<Vec<NetworkAcl>, Failure> {
    let call = session.ec2.describe_network_acls().set_filters(Some(filters.into_iter().collect()));
    list_all("DescribeNetworkAcls", call.into_paginator().items().send()).await
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::aws::ec2::recorded::{Notes, Recorded};
    use crate::model::Key;
    use crate::model::keys::network as keys;
    use crate::model::{Tier, Unfinished};

    const DONE: &str = "<return>true</return>";

    fn entry(number: i64, cidr: &str, action: &str, egress: bool) -> String {
        format!(
            "<item><ruleNumber>{number}</ruleNumber><protocol>-1</protocol><ruleAction>{action}</ruleAction>\
             <egress>{egress}</egress><cidrBlock>{cidr}</cidrBlock></item>"
        )
    }

    /// An ACL as AWS returns it, with these subnets: association id and subnet id.
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

    /// An ACL that takes these subnets from `acl-9`.
    fn spec(ingress: Vec<NetworkAclRule>, taken: &[u32]) -> DefaultNetworkAcl {
        DefaultNetworkAcl {
            ingress: Input::Known(ingress),
            egress: Input::Known(original_rules(false)),
            taken: taken.iter().map(|index| TakenSubnet { subnet: subnet(*index), from: "acl-9".into() }).collect(),
            tags: Input::Known([("Name".to_string(), Input::Known("shop".to_string()))].into()),
            ..DefaultNetworkAcl::test()
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
    async fn adoption_adds_rules_first_and_skips_associated_subnets() {
        let adopted = acl("acl-1", &allow_all(), &[("aclassoc-0", "subnet-0")]);
        let other = acl("acl-9", &[], &[("aclassoc-1", "subnet-1"), ("aclassoc-2", "subnet-2")]);
        let aws = Recorded::default()
            .on("DescribeNetworkAcls", &set(std::slice::from_ref(&adopted)))
            .on("DescribeNetworkAcls", &set(&[adopted, other]))
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
    async fn an_association_that_changes_concurrently_is_read_again() {
        let of = |association: &str| set(&[acl("acl-9", &[], &[(association, "subnet-1")])]);
        let aws = Recorded::default()
            .on("DescribeNetworkAcls", &of("aclassoc-1"))
            .on("DescribeNetworkAcls", &of("aclassoc-2"))
            .fail("ReplaceNetworkAclAssociation", 400, "InvalidAssociationID.NotFound", "does not exist")
            .on("ReplaceNetworkAclAssociation", "<newAssociationId>aclassoc-3</newAssociationId>");
        let (from, to) = (spec(vec![], &[0]), spec(vec![], &[1]));
        run(&aws, &Notes::default(), async |operation| update(operation, "acl-1", &from, &to).await).await.unwrap();
        let calls = aws.calls("ReplaceNetworkAclAssociation");
        let tried: Vec<&str> = calls.iter().map(|call| call["AssociationId"].as_str()).collect();
        assert_eq!(tried, ["aclassoc-1", "aclassoc-2"], "the removed subnet keeps its ACL");
    }

    #[tokio::test(start_paused = true)]
    async fn nothing_is_taken_if_a_subnet_has_moved_since_the_plan() {
        let other = acl("acl-9", &[], &[("aclassoc-0", "subnet-0")]);
        let third = acl("acl-8", &[], &[("aclassoc-1", "subnet-1")]);
        let aws = Recorded::default().on("DescribeNetworkAcls", &set(&[other, third]));
        let (from, to) = (spec(vec![], &[]), spec(vec![], &[0, 1]));
        let call = async |operation: &Operation<'_>| update(operation, "acl-1", &from, &to).await;
        let failure = run(&aws, &Notes::default(), call).await.unwrap_err();
        assert!(failure.message.contains("subnet-1 now has the network ACL acl-8, and the plan showed acl-9"));
        assert_eq!(aws.actions(), ["DescribeNetworkAcls"]);
    }

    #[tokio::test(start_paused = true)]
    async fn one_changed_rule_takes_one_call_and_no_read() {
        let aws = Recorded::default().on("ReplaceNetworkAclEntry", DONE);
        let (from, to) = (spec(vec![rule(100, "0.0.0.0/0")], &[0]), spec(vec![rule(100, "10.0.0.0/8")], &[0]));
        run(&aws, &Notes::default(), async |operation| update(operation, "acl-1", &from, &to).await).await.unwrap();
        assert_eq!(aws.actions(), ["ReplaceNetworkAclEntry"]);
    }

    #[tokio::test(start_paused = true)]
    async fn an_interrupted_adoption_sets_the_ownership_tags_that_are_missing() {
        let tag = "<tagSet><item><key>fgw:resource</key><value>four_tier_vpc/vpc-9</value></item></tagSet>";
        let tagged = acl("acl-1", &allow_all(), &[]).replace("</item>", &format!("{tag}</item>"));
        let untagged = acl("acl-1", &allow_all(), &[]);
        for (found, expected) in [(untagged, &["fgw:object", "fgw:resource"][..]), (tagged, &["fgw:object"][..])] {
            let aws = Recorded::default().on("DescribeNetworkAcls", &set(&[found])).on("CreateTags", DONE);
            let notes = Notes { unfinished: Some(Unfinished::Create), ..Notes::default() };
            let same = spec(vec![rule(100, "0.0.0.0/0")], &[]);
            run(&aws, &notes, async |operation| update(operation, "acl-1", &same, &same).await).await.unwrap();
            assert_eq!(aws.actions(), ["DescribeNetworkAcls", "CreateTags"]);
            let keys = aws.calls("CreateTags")[0].clone();
            let keys: Vec<String> =
                keys.into_iter().filter(|(name, _)| name.ends_with(".Key")).map(|it| it.1).collect();
            assert_eq!(keys, expected, "a tag that names another root stays");
        }
    }

    #[tokio::test(start_paused = true)]
    async fn a_retried_update_leaves_the_subnets_of_the_last_apply() {
        let default = acl("acl-1", &[], &[]);
        let other = acl("acl-9", &[], &[("aclassoc-0", "subnet-0"), ("aclassoc-1", "subnet-1")]);
        let aws = Recorded::default()
            .on("DescribeNetworkAcls", &set(&[default, other]))
            .on("CreateNetworkAclEntry", DONE)
            .on("CreateTags", DONE)
            .on("ReplaceNetworkAclAssociation", "<newAssociationId>aclassoc-7</newAssociationId>");
        let notes = Notes { unfinished: Some(Unfinished::Update(Default::default())), ..Notes::default() };
        let (from, to) = (spec(vec![], &[0]), spec(vec![rule(100, "0.0.0.0/0")], &[0, 1]));
        run(&aws, &notes, async |operation| update(operation, "acl-1", &from, &to).await).await.unwrap();
        let calls = aws.calls("ReplaceNetworkAclAssociation");
        let changed: Vec<&str> = calls.iter().map(|call| call["AssociationId"].as_str()).collect();
        assert_eq!(changed, ["aclassoc-1"], "only the new subnet");
    }

    #[tokio::test(start_paused = true)]
    async fn delete_restores_awss_original_rules_including_ipv6() {
        let vpc = "<vpcSet><item><vpcId>vpc-1</vpcId><ipv6CidrBlockAssociationSet><item><ipv6CidrBlockState><state>\
            associated</state></ipv6CidrBlockState></item></ipv6CidrBlockAssociationSet></item></vpcSet>";
        let existing = [entry(100, "10.0.0.0/8", "allow", false), entry(7, "10.0.0.0/8", "deny", true)];
        let aws = Recorded::default()
            .on("DescribeNetworkAcls", &set(&[acl("acl-1", &existing, &[])]))
            .on("DescribeVpcs", vpc)
            .on("CreateNetworkAclEntry", DONE)
            .on("ReplaceNetworkAclEntry", DONE)
            .on("DeleteNetworkAclEntry", DONE)
            .on("DeleteTags", DONE);
        let applied = spec(vec![], &[0]);
        let entry = Entry::new(keys::default_network_acl(), "acl-1", Spec::DefaultNetworkAcl(applied.clone()));
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
        let new = aws.calls("CreateNetworkAclEntry");
        let new: Vec<_> = new.iter().map(|call| (call["RuleNumber"].as_str(), call["Egress"].as_str())).collect();
        assert_eq!(new, [("101", "false"), ("100", "true"), ("101", "true")]);
        assert_eq!(
            new.len(),
            aws.calls("CreateNetworkAclEntry").iter().filter(|it| it["RuleAction"] == "allow").count()
        );
        assert_eq!(aws.calls("DeleteTags")[0]["Tag.2.Key"], "fgw:resource");
    }

    #[tokio::test(start_paused = true)]
    async fn delete_restores_the_rules_that_were_found() {
        let now = [entry(100, "10.0.0.0/8", "allow", false), entry(7, "10.9.0.0/16", "allow", false)];
        let aws = Recorded::default()
            .on("DescribeNetworkAcls", &set(&[acl("acl-1", &[&now[..], &allow_all()[1..]].concat(), &[])]))
            .on("ReplaceNetworkAclEntry", DONE)
            .on("DeleteNetworkAclEntry", DONE)
            .on("DeleteTags", DONE);
        let applied = spec(vec![rule(7, "10.9.0.0/16"), rule(100, "10.0.0.0/8")], &[0]);
        let found = Spec::DefaultNetworkAcl(spec(vec![rule(100, "192.168.0.0/16")], &[0]));
        let entry = Entry::new(keys::default_network_acl(), "acl-1", Spec::DefaultNetworkAcl(applied.clone()));
        let entry = Entry { found: Some(Box::new(found)), ..entry };
        run(&aws, &Notes::default(), async |operation| delete(operation, &entry).await).await.unwrap();
        let changes = ["ReplaceNetworkAclEntry", "DeleteNetworkAclEntry", "DeleteTags"];
        assert_eq!(aws.actions(), [&["DescribeNetworkAcls"][..], &changes].concat());
        let replaced = &aws.calls("ReplaceNetworkAclEntry")[0];
        assert_eq!((replaced["RuleNumber"].as_str(), replaced["CidrBlock"].as_str()), ("100", "192.168.0.0/16"));
        let removed = &aws.calls("DeleteTags")[0];
        assert_eq!([&removed["Tag.1.Key"], &removed["Tag.2.Key"]], ["fgw:resource", "fgw:object"], "Name was found");
    }
}
