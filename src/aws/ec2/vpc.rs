//! VPCs, the roots of networks.

mod attributes;

use std::collections::BTreeMap;
use std::time::Duration;

use aws_sdk_ec2::types::{ResourceType, Tenancy, VpcState, VpcTenancy};

use super::guardduty::{self, Object, Within};
use super::{filter, filter_any, ipam, tags};
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

pub(super) use attributes::{Attributes, read_attributes};

const MISSING: MissingCodes = MissingCodes(&["InvalidVpcID.NotFound"]);

/// How long a VPC may be pending.
const READY: Duration = Duration::from_secs(10 * 60);

/// The VPC as AWS returns it.
pub(super) fn read(
    owner: TopologyKind,
    id: &str,
    known: Option<&Entry>,
    vpc: &aws_sdk_ec2::types::Vpc,
    shown: Attributes,
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
    let mut spec = Vpc {
        name: Input::Known(name.unwrap_or_default().to_string()),
        cidr_block,
        ipv4_ipam_pool_id: applied.map_or(Input::Known(None), |applied| applied.ipv4_ipam_pool_id.clone()),
        ipv4_netmask_length: applied.map_or(Input::Known(None), |applied| applied.ipv4_netmask_length.clone()),
        instance_tenancy,
        enable_dns_support: Input::Unknown,
        enable_dns_hostnames: Input::Unknown,
        enable_network_address_usage_metrics: Input::Unknown,
        tags: tags::own(vpc.tags()),
    };
    attributes::show(shown, &mut spec);
    Observed { id: id.to_string(), key, spec: Spec::Vpc(spec), learned }
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

    let (available, defaults) = tokio::join!(until_available(operation, &id), learn_defaults(operation, &id));
    let available = available?.learned();
    let unexpressed = available.unexpressed.clone();
    learned.update(available);
    learned.update(Learned { unexpressed, ..defaults? });
    operation.record_learned(learned);
    // Only endpoints with private names depend on these attributes, and wait for all of them. Each takes two sequential
    // calls.
    operation.is_usable();
    attributes::apply(operation, &id, attributes::initial(), attributes::wanted(operation, spec)?).await
}

/// Updates attributes, tenancy, tags, and the name in the ownership tag. The pool of the range is immutable. If it
/// becomes known after an import, no call is necessary.
pub(crate) async fn update(operation: &Operation<'_>, id: &str, from: &Vpc, to: &Vpc) -> Result<(), Failure> {
    let now = attributes::wanted(operation, from)?;
    attributes::apply(operation, id, now, attributes::wanted(operation, to)?).await?;
    // AWS allows a change to `default` only, and may reject one to the tenancy that the VPC already has. A change to
    // `dedicated` replaces the VPC.
    let default = Input::Known(Tenancy::Default.as_str().to_string());
    if to.instance_tenancy == default && from.instance_tenancy != default {
        set_default_tenancy(operation, id).await?;
    }
    let name = operation.known(&to.name)?;
    let mut additional = std::collections::BTreeMap::new();
    if from.name != to.name {
        additional.insert(ownership::RESOURCE.to_string(), ownership::resource(operation.work.owner, name));
    }
    tags::update_with(operation, id, &from.tags, &to.tags, additional).await
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

/// Waits until a new VPC is available.
pub(super) async fn until_available(operation: &Operation<'_>, id: &str) -> Result<VpcIdentity, Failure> {
    wait::until("DescribeVpcs", &operation.deadlines(READY), wait::SECONDS, || async {
        let found = with_id(operation.session, id).await?;
        let Some(vpc) = found.first() else {
            return Ok(Poll::Pending("the VPC is not visible yet".to_string()));
        };
        Ok(match (vpc.state(), identify(vpc)) {
            // A pool may choose the range only after CreateVpc has returned.
            (Some(VpcState::Available), Some(vpc)) if vpc.cidr_block.is_some() => Poll::Done(vpc),
            (Some(VpcState::Available), _) => Poll::Pending("the VPC has no range yet".to_string()),
            (state, _) => Poll::Pending(format!("the VPC is {}", state.map_or("not visible yet", |it| it.as_str()))),
        })
    })
    .await
}

/// The VPC with this ID; empty if AWS does not return it.
pub(super) async fn with_id(session: &Session, id: &str) -> Result<Vec<aws_sdk_ec2::types::Vpc>, Failure> {
    let ec2 = session.ec2.clone();
    let list = move |ids| {
        let call = ec2.describe_vpcs().filters(filter_any::<String>("vpc-id", ids));
        list_all("DescribeVpcs", call.into_paginator().items().send())
    };
    session.shared.vpcs.of(&session.shared.networks, id, |it| it.vpc_id(), list).await
}

/// The values that `CreateVpc` returns.
pub(super) struct VpcIdentity {
    id: String,
    owner_id: Option<String>,
    cidr_block: Option<String>,
    unexpressed: BTreeMap<String, String>,
}

impl VpcIdentity {
    fn learned(&self) -> Learned {
        let values = [("owner_id", &self.owner_id), ("cidr_block", &self.cidr_block)];
        let learned = values.into_iter().filter_map(|(name, value)| Some((name.to_string(), value.clone()?)));
        Learned { unexpressed: self.unexpressed.clone(), ..learned.collect() }
    }
}

/// The settings of the VPC that no input sets.
pub(super) fn unexpressed(vpc: &aws_sdk_ec2::types::Vpc) -> BTreeMap<String, String> {
    vpc.dhcp_options_id().map(|id| ("dhcp_options_id".to_string(), id.to_string())).into_iter().collect()
}

fn identify(vpc: &aws_sdk_ec2::types::Vpc) -> Option<VpcIdentity> {
    Some(VpcIdentity {
        id: vpc.vpc_id()?.to_string(),
        owner_id: vpc.owner_id().map(str::to_string),
        cidr_block: vpc.cidr_block().filter(|cidr_block| !cidr_block.is_empty()).map(str::to_string),
        unexpressed: unexpressed(vpc),
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

async fn set_default_tenancy(operation: &Operation<'_>, id: &str) -> Result<(), Failure> {
    operation
        .retry_until_visible(&[id], || async {
            let call = operation.session.ec2.modify_vpc_tenancy().vpc_id(id).instance_tenancy(VpcTenancy::Default);
            call.send().await.map(|_| ()).or_failure("ModifyVpcTenancy")
        })
        .await
}

#[cfg(test)]
mod tests;
