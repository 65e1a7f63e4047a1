//! VPCs, the roots of networks.

use std::time::Duration;

use aws_sdk_ec2::operation::modify_vpc_attribute::builders::ModifyVpcAttributeFluentBuilder;
use aws_sdk_ec2::types::{AttributeBooleanValue, ResourceType, Tenancy, VpcAttributeName, VpcState, VpcTenancy};

use super::guardduty::{self, Object, Within};
use super::{filter, ipam, tags};
use crate::aws::Session;
use crate::aws::calls::codes::missing::MissingCodes;
use crate::aws::calls::errors::incomplete_answer;
use crate::aws::calls::non_idempotent::Mutation;
use crate::aws::calls::ownership;
use crate::aws::calls::wait;
use crate::aws::calls::wait::Poll;
use crate::aws::calls::{Operation, OrFailure, list_all};
use crate::cloud::{Failure, Namesake, Observed, Root, RootState};
use crate::model::Input;
use crate::model::TopologyKind;
use crate::model::keys::network as keys;
use crate::model::{Entry, Learned, Spec, Vpc};

const MISSING: MissingCodes = MissingCodes(&["InvalidVpcID.NotFound"]);

/// How long a VPC may be pending.
const READY: Duration = Duration::from_secs(10 * 60);

/// The attributes that `DescribeVpcAttribute` and `ModifyVpcAttribute` read and set, one with each call.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Attributes {
    pub(super) dns_support: bool,
    pub(super) dns_hostnames: bool,
    pub(super) usage_metrics: bool,
}

impl Attributes {
    /// The attributes of a new VPC.
    const INITIAL: Attributes = Attributes { dns_support: true, dns_hostnames: false, usage_metrics: false };
}

/// One of [`Attributes`] and its new value.
#[derive(Clone, Copy, Debug, PartialEq)]
enum VpcChange {
    DnsSupport(bool),
    DnsHostnames(bool),
    UsageMetrics(bool),
}

/// The attributes as AWS returns them. Sends three concurrent calls, because each returns one attribute.
pub(super) async fn read_attributes(session: &Session, id: &str) -> Result<Attributes, Failure> {
    let (support, hostnames, metrics) = tokio::join!(
        read_attribute(session, id, VpcChange::DnsSupport(true)),
        read_attribute(session, id, VpcChange::DnsHostnames(true)),
        read_attribute(session, id, VpcChange::UsageMetrics(true)),
    );
    Ok(Attributes { dns_support: support?, dns_hostnames: hostnames?, usage_metrics: metrics? })
}

/// The VPC as AWS returns it.
pub(super) fn read(
    owner: TopologyKind,
    id: &str,
    known: Option<&Entry>,
    vpc: &aws_sdk_ec2::types::Vpc,
    attributes: Attributes,
    learned: Learned,
) -> Observed {
    let range = Input::Known(vpc.cidr_block().unwrap_or_default().to_string());
    let tenancy = vpc.instance_tenancy().map_or("default", |tenancy| tenancy.as_str());
    let instance_tenancy = Input::Known(tenancy.to_string());
    let key = known.map_or_else(|| keys::vpc(&range, &instance_tenancy), |entry| entry.key.clone());
    let prefix = ownership::resource(owner, "");
    let name = tags::value(vpc.tags(), ownership::RESOURCE).and_then(|text| text.strip_prefix(prefix.as_str()));
    let applied = known.and_then(|entry| Vpc::of(&entry.applied));
    // If the pool chose the range, the spec has none. AWS does not return the pool of a VPC.
    let cidr_block = match applied {
        Some(Vpc { cidr_block: Input::Known(None), .. }) => Input::Known(None),
        _ => range.map(Some),
    };
    Observed {
        id: id.to_string(),
        key,
        spec: Spec::Vpc(Vpc {
            name: Input::Known(name.unwrap_or_default().to_string()),
            cidr_block,
            ipv4_ipam_pool_id: applied.map_or(Input::Known(None), |applied| applied.ipv4_ipam_pool_id.clone()),
            ipv4_netmask_length: applied.map_or(Input::Known(None), |applied| applied.ipv4_netmask_length.clone()),
            instance_tenancy,
            enable_dns_support: Input::Known(attributes.dns_support),
            enable_dns_hostnames: Input::Known(attributes.dns_hostnames),
            enable_network_address_usage_metrics: Input::Known(attributes.usage_metrics),
            tags: tags::own(vpc.tags()),
        }),
        learned,
    }
}

/// Gives the VPC the name by which people know it: its Name tag or, without one, its ID.
pub(super) fn name_by_tag(root: &mut Observed, vpc: &aws_sdk_ec2::types::Vpc) {
    let given = tags::value(vpc.tags(), "Name").map(str::trim).filter(|name| !name.is_empty());
    if let Spec::Vpc(spec) = &mut root.spec {
        spec.name = Input::Known(given.unwrap_or(&root.id).to_string());
    }
}

/// Creates the VPC, sets its attributes, and records the ids of its main route table, default ACL and default group.
pub(crate) async fn create(operation: &Operation<'_>, spec: &Vpc) -> Result<(), Failure> {
    let session = operation.session;
    let name = operation.known(&spec.name)?;
    let mut tags = ownership::tags_on_create_root(operation, &spec.tags, name)?;
    let request = tags::add_request(&mut tags);
    let cidr_block = operation.known(&spec.cidr_block)?.as_deref();
    let tenancy = operation.known(&spec.instance_tenancy)?;
    let pool_id = operation.known(&spec.ipv4_ipam_pool_id)?.as_deref();
    let netmask_length = ipam::netmask_length("CreateVpc", *operation.known(&spec.ipv4_netmask_length)?)?;
    let mutation = Mutation::of_ec2(operation, "CreateVpc");
    let created = ipam::monitored(operation, || {
        mutation.create(
            || {
                session
                    .ec2
                    .create_vpc()
                    .set_cidr_block(cidr_block.map(str::to_string))
                    .set_ipv4_ipam_pool_id(pool_id.map(str::to_string))
                    .set_ipv4_netmask_length(netmask_length)
                    .instance_tenancy(Tenancy::from(tenancy.as_str()))
                    .tag_specifications(tags::on_create(ResourceType::Vpc, &tags))
                    .customize()
                    .config_override(session.once_ec2())
                    .send()
            },
            |answer| {
                let vpc = answer.vpc().ok_or_else(|| incomplete_answer("CreateVpc", "the VPC"))?;
                identify(vpc).ok_or_else(|| incomplete_answer("CreateVpc", "an id"))
            },
            || async {
                let call = session.ec2.describe_vpcs().filters(request.clone());
                let found = call.into_paginator().items().send().collect::<Result<Vec<_>, _>>().await;
                Ok(found.or_failure("DescribeVpcs")?.iter().find_map(identify))
            },
        )
    })
    .await?;
    let id = created.id.clone();
    operation.record_id(&id);
    let mut learned = created.learned();
    operation.record_learned(learned.clone());

    let ready = operation.deadlines(READY);
    let available = wait::until("DescribeVpcs", &ready, wait::SECONDS, || async {
        let found = with_id(session, &id).await?;
        let Some(vpc) = found.first() else {
            return Ok(Poll::Pending("the VPC is not visible yet".to_string()));
        };
        Ok(match (vpc.state(), identify(vpc)) {
            // A pool may choose the range only after CreateVpc has returned.
            (Some(VpcState::Available), Some(vpc)) if vpc.cidr_block.is_some() => Poll::Done(vpc),
            (Some(VpcState::Available), _) => Poll::Pending("the VPC has no range yet".to_string()),
            (state, _) => Poll::Pending(format!("the VPC is {}", state.map_or("not visible yet", |it| it.as_str()))),
        })
    });
    let (available, defaults) = tokio::join!(available, learn_defaults(operation, &id));
    learned.update(available?.learned());
    learned.update(defaults?);
    operation.record_learned(learned);
    // Objects in the VPC do not depend on these attributes, which take two sequential calls each.
    operation.is_usable();
    apply_attributes(operation, &id, Some(Attributes::INITIAL), wanted(operation, spec)?).await
}

/// Updates attributes, tenancy, tags, and the name in the ownership tag. The pool of the range is immutable. If it
/// becomes known after an import, no call is necessary.
pub(crate) async fn update(operation: &Operation<'_>, id: &str, from: Option<&Vpc>, to: &Vpc) -> Result<(), Failure> {
    let now = from.map(|from| wanted(operation, from)).transpose()?;
    apply_attributes(operation, id, now, wanted(operation, to)?).await?;
    let tenancy = operation.known(&to.instance_tenancy)?;
    // AWS allows a change to `default` only. A change to `dedicated` replaces the VPC.
    if tenancy == Tenancy::Default.as_str() && has_other_tenancy(operation, id, from).await? {
        set_default_tenancy(operation, id).await?;
    }
    let name = operation.known(&to.name)?;
    let mut additional = std::collections::BTreeMap::new();
    if from.is_none_or(|from| from.name != to.name) {
        additional.insert(ownership::RESOURCE.to_string(), ownership::resource(operation.work.owner, name));
    }
    tags::update_with(operation, id, from.map(|from| &from.tags), &to.tags, additional).await
}

/// Deletes the VPC, and with it its main route table, default group and default ACL. If the range came from a pool,
/// waits until the pool has released it, because until then a new VPC may find the pool exhausted.
pub(crate) async fn delete(operation: &Operation<'_>, entry: &Entry) -> Result<(), Failure> {
    let (session, id) = (operation.session, entry.id.as_str());
    let is_missing = |failure: &Failure| MISSING.match_failure(failure, id);
    let exists = || async { Ok(!with_id(session, id).await?.is_empty()) };
    let object = Object { vpc_id: id, within: Within::Vpc, is_missing, exists };
    guardduty::delete_without(operation, object, || async {
        let call = session.ec2.delete_vpc().vpc_id(id).send().await;
        call.map(|_| ()).or_failure("DeleteVpc")
    })
    .await?;
    wait::until("DescribeVpcs", &operation.deadlines(wait::PROPAGATION), wait::SECONDS, || async {
        Ok(match with_id(session, id).await?.as_slice() {
            [] => Poll::Done(()),
            _ => Poll::Pending("the VPC still exists".to_string()),
        })
    })
    .await?;
    match &entry.applied {
        Spec::Vpc(Vpc { ipv4_ipam_pool_id: Input::Known(Some(pool_id)), .. }) => {
            ipam::released(operation, pool_id, id, None).await
        }
        _ => Ok(()),
    }
}

/// The VPCs that this provider created.
pub(crate) async fn roots(session: &Session, owner: TopologyKind) -> Result<Vec<Root>, Failure> {
    Ok(ownership::by_id(all(session, owner).await?.iter().filter_map(|vpc| root(owner, vpc))))
}

/// The VPCs that this provider created with this name. EC2 does not return the creation time of a VPC.
pub(crate) async fn namesakes(session: &Session, owner: TopologyKind, name: &str) -> Result<Vec<Namesake>, Failure> {
    let namesake = |vpc: &aws_sdk_ec2::types::Vpc| {
        let Root { id, state, .. } = root(owner, vpc).filter(|root| root.name == name)?;
        let features = vpc.cidr_block().into_iter().map(str::to_string).collect();
        Some(Namesake { id, created: None, state, features })
    };
    let mut found: Vec<Namesake> = all(session, owner).await?.iter().filter_map(namesake).collect();
    found.sort_by(|a, b| a.id.cmp(&b.id));
    Ok(found)
}

/// Filter values support wildcards, which a name may contain, so the filter includes no name.
async fn all(session: &Session, owner: TopologyKind) -> Result<Vec<aws_sdk_ec2::types::Vpc>, Failure> {
    let managed = filter(format!("tag:{}", ownership::RESOURCE), ownership::resource(owner, "*"));
    let call = session.ec2.describe_vpcs().filters(managed).into_paginator().items().send();
    call.collect::<Result<Vec<_>, _>>().await.or_failure("DescribeVpcs")
}

fn root(owner: TopologyKind, vpc: &aws_sdk_ec2::types::Vpc) -> Option<Root> {
    let tags = vpc.tags().iter().filter_map(|tag| Some((tag.key()?.to_string(), tag.value()?.to_string())));
    ownership::root(owner, vpc.vpc_id()?, tags.collect())
}

/// Sets the tag `fgw:state` of a VPC.
pub(crate) async fn mark_root(session: &Session, id: &str, state: RootState) -> Result<(), Failure> {
    let tag = aws_sdk_ec2::types::Tag::builder().key(ownership::STATE).value(ownership::state(state)).build();
    let call = session.ec2.create_tags().resources(id).tags(tag).send().await;
    call.map(|_| ()).or_failure("CreateTags")
}

/// The VPC with this ID; empty if AWS does not return it.
pub(super) async fn with_id(session: &Session, id: &str) -> Result<Vec<aws_sdk_ec2::types::Vpc>, Failure> {
    let call = session.ec2.describe_vpcs().filters(filter("vpc-id", id));
    list_all("DescribeVpcs", call.into_paginator().items().send()).await
}

/// The values that `CreateVpc` returns.
struct VpcIdentity {
    id: String,
    owner_id: Option<String>,
    cidr_block: Option<String>,
}

impl VpcIdentity {
    fn learned(&self) -> Learned {
        let values = [("owner_id", &self.owner_id), ("cidr_block", &self.cidr_block)];
        values.into_iter().filter_map(|(name, value)| Some((name.to_string(), value.clone()?))).collect()
    }
}

fn identify(vpc: &aws_sdk_ec2::types::Vpc) -> Option<VpcIdentity> {
    Some(VpcIdentity {
        id: vpc.vpc_id()?.to_string(),
        owner_id: vpc.owner_id().map(str::to_string),
        cidr_block: vpc.cidr_block().filter(|cidr_block| !cidr_block.is_empty()).map(str::to_string),
    })
}

/// The ids of the objects that AWS created together with the VPC.
async fn learn_defaults(operation: &Operation<'_>, id: &str) -> Result<Learned, Failure> {
    let (ec2, deadlines) = (&operation.session.ec2, operation.deadlines(wait::PROPAGATION));
    let (table, acl, group) = tokio::join!(
        wait::until("DescribeRouteTables", &deadlines, wait::SECONDS, || async {
            let call =
                ec2.describe_route_tables().filters(filter("vpc-id", id)).filters(filter("association.main", "true"));
            let tables = list_all("DescribeRouteTables", call.into_paginator().items().send()).await?;
            let table = tables.iter().find(|it| it.vpc_id() == Some(id));
            Ok(found(table.and_then(|table| table.route_table_id()), "main route table"))
        }),
        wait::until("DescribeNetworkAcls", &deadlines, wait::SECONDS, || async {
            let call = ec2.describe_network_acls().filters(filter("vpc-id", id)).filters(filter("default", "true"));
            let acls = list_all("DescribeNetworkAcls", call.into_paginator().items().send()).await?;
            let acl = acls.iter().find(|it| it.vpc_id() == Some(id));
            Ok(found(acl.and_then(|acl| acl.network_acl_id()), "default network ACL"))
        }),
        wait::until("DescribeSecurityGroups", &deadlines, wait::SECONDS, || async {
            let call =
                ec2.describe_security_groups().filters(filter("vpc-id", id)).filters(filter("group-name", "default"));
            let groups = list_all("DescribeSecurityGroups", call.into_paginator().items().send()).await?;
            let group = groups.iter().find(|it| it.vpc_id() == Some(id));
            Ok(found(group.and_then(|group| group.group_id()), "default security group"))
        }),
    );
    Ok(Learned::from([
        (keys::DEFAULT_ROUTE_TABLE_ID.to_string(), table?),
        ("default_network_acl_id".to_string(), acl?),
        ("default_security_group_id".to_string(), group?),
    ]))
}

fn found(id: Option<&str>, what: &str) -> Poll<String> {
    match id {
        Some(id) => Poll::Done(id.to_string()),
        None => Poll::Pending(format!("the {what} is not visible yet")),
    }
}

fn wanted(operation: &Operation<'_>, spec: &Vpc) -> Result<Attributes, Failure> {
    Ok(Attributes {
        dns_support: *operation.known(&spec.enable_dns_support)?,
        dns_hostnames: *operation.known(&spec.enable_dns_hostnames)?,
        usage_metrics: *operation.known(&spec.enable_network_address_usage_metrics)?,
    })
}

/// The changes in an order that AWS accepts. DNS hostnames require DNS support.
fn changes(from: Option<Attributes>, to: Attributes) -> Vec<VpcChange> {
    let mut changes = Vec::new();
    if from.is_none_or(|from| from.dns_support != to.dns_support) {
        changes.push(VpcChange::DnsSupport(to.dns_support));
    }
    if from.is_none_or(|from| from.dns_hostnames != to.dns_hostnames) {
        let hostnames = VpcChange::DnsHostnames(to.dns_hostnames);
        if to.dns_hostnames { changes.push(hostnames) } else { changes.insert(0, hostnames) }
    }
    if from.is_none_or(|from| from.usage_metrics != to.usage_metrics) {
        changes.push(VpcChange::UsageMetrics(to.usage_metrics));
    }
    changes
}

/// Sends one call for each change, and waits until AWS returns the new value, because the next change may depend on it.
async fn apply_attributes(
    operation: &Operation<'_>,
    id: &str,
    from: Option<Attributes>,
    to: Attributes,
) -> Result<(), Failure> {
    for change in changes(from, to) {
        operation
            .retry_until_visible(&[id], || async {
                let call = change.on(operation.session.ec2.modify_vpc_attribute().vpc_id(id));
                call.send().await.map(|_| ()).or_failure("ModifyVpcAttribute")
            })
            .await?;
        wait::until("DescribeVpcAttribute", &operation.deadlines(wait::PROPAGATION), wait::SECONDS, || async {
            let shown = read_attribute(operation.session, id, change).await?;
            Ok(if shown == change.value() {
                Poll::Done(())
            } else {
                Poll::Pending(format!("{} is still {shown}", change.name().as_str()))
            })
        })
        .await?;
    }
    Ok(())
}

/// Whether the tenancy of the VPC is not `default`. If `from` is `None`, reads the VPC, because AWS may reject a change
/// to the tenancy that the VPC already has.
async fn has_other_tenancy(operation: &Operation<'_>, id: &str, from: Option<&Vpc>) -> Result<bool, Failure> {
    let default = Tenancy::Default;
    match from {
        Some(from) => Ok(operation.known(&from.instance_tenancy)? != default.as_str()),
        None => {
            let found = with_id(operation.session, id).await?;
            Ok(found.iter().any(|vpc| vpc.instance_tenancy().is_some_and(|tenancy| *tenancy != default)))
        }
    }
}

async fn set_default_tenancy(operation: &Operation<'_>, id: &str) -> Result<(), Failure> {
    operation
        .retry_until_visible(&[id], || async {
            let call = operation.session.ec2.modify_vpc_tenancy().vpc_id(id).instance_tenancy(VpcTenancy::Default);
            call.send().await.map(|_| ()).or_failure("ModifyVpcTenancy")
        })
        .await
}

async fn read_attribute(session: &Session, id: &str, which: VpcChange) -> Result<bool, Failure> {
    let call = session.ec2.describe_vpc_attribute().vpc_id(id).attribute(which.name());
    let answer = call.send().await.or_failure("DescribeVpcAttribute")?;
    let attribute = match which {
        VpcChange::DnsSupport(_) => answer.enable_dns_support(),
        VpcChange::DnsHostnames(_) => answer.enable_dns_hostnames(),
        VpcChange::UsageMetrics(_) => answer.enable_network_address_usage_metrics(),
    };
    let value = attribute.and_then(|attribute| attribute.value());
    value.ok_or_else(|| incomplete_answer("DescribeVpcAttribute", which.name().as_str()))
}

impl VpcChange {
    fn name(self) -> VpcAttributeName {
        match self {
            VpcChange::DnsSupport(_) => VpcAttributeName::EnableDnsSupport,
            VpcChange::DnsHostnames(_) => VpcAttributeName::EnableDnsHostnames,
            VpcChange::UsageMetrics(_) => VpcAttributeName::EnableNetworkAddressUsageMetrics,
        }
    }

    fn value(self) -> bool {
        match self {
            VpcChange::DnsSupport(value) | VpcChange::DnsHostnames(value) | VpcChange::UsageMetrics(value) => value,
        }
    }

    fn on(self, call: ModifyVpcAttributeFluentBuilder) -> ModifyVpcAttributeFluentBuilder {
        let value = AttributeBooleanValue::builder().value(self.value()).build();
        match self {
            VpcChange::DnsSupport(_) => call.enable_dns_support(value),
            VpcChange::DnsHostnames(_) => call.enable_dns_hostnames(value),
            VpcChange::UsageMetrics(_) => call.enable_network_address_usage_metrics(value),
        }
    }
}

#[cfg(test)]
mod tests;
