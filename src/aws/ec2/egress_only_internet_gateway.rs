//! Egress-only internet gateways. A VPC has at most one.

use std::collections::HashMap;

use aws_sdk_ec2::Client;
use aws_sdk_ec2::types::{EgressOnlyInternetGateway as Gateway, Filter, ResourceType, Tag};

use super::claims::{Claims, Evidence, Ours};
use super::conflicts::{Text, explained_by};
use super::network::Network;
use super::{client_token, tags};
use crate::aws::Session;
use crate::aws::calls::codes::missing::MissingCodes;
use crate::aws::calls::errors::incomplete_answer;
use crate::aws::calls::wait::Poll;
use crate::aws::calls::{Operation, OrFailure, list_all, ownership, wait};
use crate::aws::ec2::observed::{Listed, Shown};
use crate::cloud::{Cause, Failure, Observed};
use crate::model::keys::network as keys;
use crate::model::{EgressOnlyInternetGateway, Entry, Key, Learned, Object, Spec, TopologyKind, VpcIpv6Block};

/// hashicorp/terraform-provider-aws handles it (`internal/service/ec2/errors.go`).
const MISSING: MissingCodes = MissingCodes(&["InvalidGatewayID.NotFound"]);

fn is_slot(slot: &str) -> bool {
    slot == keys::EGRESS_ONLY_INTERNET_GATEWAY
}

/// The gateways of the Region with these tags, or all.
async fn describe(ec2: Client, filters: Option<Vec<Filter>>) -> Result<Vec<Gateway>, Failure> {
    let call = ec2.describe_egress_only_internet_gateways().set_filters(filters);
    list_all("DescribeEgressOnlyInternetGateways", call.into_paginator().items().send()).await
}

/// The gateways with the ownership tag of this root.
async fn tagged(network: Network<'_>) -> Result<Vec<Gateway>, Failure> {
    let (shared, ec2) = (&network.session.shared, network.session.ec2.clone());
    let list = move |resources| describe(ec2.clone(), Some(vec![tags::below_any(resources)]));
    shared.egress_only_gateways.of(&shared.networks, &network.resource(), |it| tags::resource(it.tags()), list).await
}

/// The gateway of the VPC. No call is sent for a network without one in state. AWS has no filter by VPC, so one without
/// the ownership tag of this root is looked for among all of the Region, as in a first read.
pub(super) async fn list(network: Network<'_>) -> Result<Vec<Gateway>, Failure> {
    let Network { session, root_id, slots, consented, .. } = network;
    let is_kind = |spec: &Spec| matches!(spec, Spec::EgressOnlyInternetGateway(_));
    let of_state = network.missing([slots, consented], is_kind, is_slot, |_| false);
    if of_state.is_empty() && !network.trusts_tags() {
        return Ok(Vec::new());
    }
    let mut found = Vec::new();
    if !network.trusts_tags() {
        found = tagged(network).await?;
    }
    let is_found = |id: &&str| found.iter().any(|it| it.egress_only_internet_gateway_id() == Some(*id));
    if !of_state.iter().all(is_found) || network.trusts_tags() {
        let (shared, ec2) = (&session.shared, session.ec2.clone());
        found = shared.all_egress_only_gateways.all(&shared.networks, || describe(ec2, None)).await?;
    }
    found.retain(|it| is_attached(it, root_id));
    Ok(found)
}

fn is_attached(gateway: &Gateway, vpc_id: &str) -> bool {
    gateway.attachments().iter().any(|it| it.vpc_id() == Some(vpc_id))
}

/// The gateway among `objects` that exists with the tags of this network.
pub(super) async fn leftovers(
    session: &Session,
    owner: TopologyKind,
    root_id: &str,
    objects: &[&Object],
) -> Result<Vec<Observed>, Failure> {
    if !objects.iter().any(|it| is_slot(&it.key.slot)) {
        return Ok(Vec::new());
    }
    let network = Network { session, owner, root_id, known: &HashMap::new(), slots: None, consented: None };
    let gateways = list(network).await?;
    let mut shown = Shown::new(network, Key::new(keys::VPC), &[], &[]);
    shown.claim(&gateways);
    shown.add_all(&gateways);
    Ok(shown.into_seen().objects)
}

/// The ID of the gateway of a VPC, whatever its tags.
pub(super) async fn in_vpc(session: &Session, vpc_id: &str) -> Result<Option<String>, Failure> {
    let found = describe(session.ec2.clone(), None).await?;
    Ok(found.iter().find(|it| is_attached(it, vpc_id)).and_then(Listed::id).map(str::to_string))
}

/// The gateway that a VPC has already. AWS attaches no second one.
pub(super) fn occupied(vpc_id: &str, other: &str) -> Text {
    let message = format!(
        "{vpc_id} already has the egress-only internet gateway {other}, which this resource does not manage, and can have \
         only one."
    );
    let hint = format!(
        "To take it over, set {:?} = {other:?} in adopt. To leave it as it is, set create_egress_only_igw to false.",
        keys::EGRESS_ONLY_INTERNET_GATEWAY
    );
    (message, hint)
}

impl Listed for Gateway {
    fn id(&self) -> Option<&str> {
        self.egress_only_internet_gateway_id()
    }

    fn tags(&self) -> &[Tag] {
        self.tags()
    }

    /// Route tables must have been claimed.
    fn evidence<'a>(&'a self, claims: &Claims<'a>) -> Evidence<'a> {
        let users = claims.tables_to(|route| route.egress_only_internet_gateway_id() == self.id());
        Evidence {
            needs_consent: claims.foreign_table(users.iter().copied()),
            requires: users,
            ..Evidence::new("an egress-only internet gateway", is_slot)
        }
    }

    /// The IPv6 range must have been added. The gateway in state keeps the one of the last apply.
    fn read(&self, shown: &Shown<'_>, ours: Ours<'_>) -> Option<Observed> {
        let (key, applied) = ours.place(EgressOnlyInternetGateway::of)?;
        let ipv6_block = match applied {
            Some(applied) => applied.ipv6_block.clone(),
            None => shown.first(VpcIpv6Block::of).cloned(),
        };
        let spec = EgressOnlyInternetGateway { vpc: shown.vpc.clone(), ipv6_block, tags: tags::own(self.tags()) };
        Some(Observed { id: self.id()?.to_string(), key, spec: spec.into(), learned: Learned::new() })
    }

    fn spec(&self, shown: &Shown<'_>) -> Option<Spec> {
        let (vpc, tags) = (shown.vpc.clone(), tags::own(self.tags()));
        Some(EgressOnlyInternetGateway { vpc, ipv6_block: None, tags }.into())
    }
}

/// Creates the gateway, which attaches it, and waits until AWS lists it.
pub(crate) async fn create(operation: &Operation<'_>, spec: &EgressOnlyInternetGateway) -> Result<(), Failure> {
    let (session, vpc_id) = (operation.session, operation.id(&spec.vpc)?);
    let tags = ownership::tags_on_create(operation, &spec.tags)?;
    let call = session
        .ec2
        .create_egress_only_internet_gateway()
        .vpc_id(vpc_id)
        .tag_specifications(tags::on_create(ResourceType::EgressOnlyInternetGateway, &tags))
        .client_token(client_token());
    let send = || async {
        let answer = call.clone().send().await.or_failure("CreateEgressOnlyInternetGateway")?;
        let gateway = answer.egress_only_internet_gateway.and_then(|it| it.egress_only_internet_gateway_id);
        gateway.ok_or_else(|| incomplete_answer("CreateEgressOnlyInternetGateway", "an id"))
    };
    let id = match operation.retry_until_visible(&[vpc_id], send).await {
        // The code for a second gateway of a VPC is unknown.
        Err(failure) if matches!(failure.cause, Cause::Other | Cause::Exists) => {
            return Err(match in_vpc(session, vpc_id).await.unwrap_or_default() {
                Some(other) => explained_by(failure, occupied(vpc_id, &other)),
                None => failure,
            });
        }
        created => created?,
    };
    operation.record_id(&id);
    wait::until("CreateEgressOnlyInternetGateway", &operation.deadlines(wait::PROPAGATION), wait::SECONDS, || async {
        Ok(match exists(session, &id).await? {
            true => Poll::Done(()),
            false => Poll::Pending("the egress-only internet gateway is not visible yet".to_string()),
        })
    })
    .await
}

/// Whether AWS lists the gateway.
async fn exists(session: &Session, id: &str) -> Result<bool, Failure> {
    let call = session.ec2.describe_egress_only_internet_gateways().egress_only_internet_gateway_ids(id);
    match list_all("DescribeEgressOnlyInternetGateways", call.into_paginator().items().send()).await {
        Err(failure) if MISSING.match_failure(&failure, id) => Ok(false),
        found => Ok(found?.iter().any(|it| it.egress_only_internet_gateway_id() == Some(id))),
    }
}

/// Updates the tags. Another range of the VPC needs no call.
pub(crate) async fn update(
    operation: &Operation<'_>,
    id: &str,
    from: &EgressOnlyInternetGateway,
    to: &EgressOnlyInternetGateway,
) -> Result<(), Failure> {
    tags::update(operation, id, &from.tags, &to.tags).await
}

/// Deletes the gateway. AWS keeps the routes to it as blackholes, so they are deleted before.
pub(crate) async fn delete(operation: &Operation<'_>, entry: &Entry) -> Result<(), Failure> {
    let (session, id) = (operation.session, entry.id.as_str());
    let is_missing = |failure: &Failure| MISSING.match_failure(failure, id);
    wait::delete(
        &operation.work.deadlines,
        is_missing,
        || exists(session, id),
        || async {
            let call = session.ec2.delete_egress_only_internet_gateway().egress_only_internet_gateway_id(id);
            call.send().await.map(|_| ()).or_failure("DeleteEgressOnlyInternetGateway")
        },
    )
    .await
}

#[cfg(test)]
mod tests;
