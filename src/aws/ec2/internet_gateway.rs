//! Internet gateways.

use std::time::Duration;

use aws_sdk_ec2::types::{InternetGateway as Gateway, ResourceType, Tag};

use super::claims::{Claims, Evidence, Ours};
use super::network::Network;
use super::{filter, filter_any, tags, vpc};
use crate::aws::calls::codes;
use crate::aws::calls::codes::missing::MissingCodes;
use crate::aws::calls::errors::incomplete_answer;
use crate::aws::calls::non_idempotent::Mutation;
use crate::aws::calls::ownership;
use crate::aws::calls::wait;
use crate::aws::calls::wait::Poll;
use crate::aws::calls::{AwsError, Operation, OrFailure, list_all};
use crate::aws::ec2::observed::{Listed, Shown};
use crate::cloud::{Cause, Failure, Observed};
use crate::model::{Entry, FoundObject, InternetGateway, Learned, Spec};

/// From a recorded answer of AWS.
const MISSING: MissingCodes = MissingCodes(&["InvalidInternetGatewayID.NotFound"]);

/// The slot of the only gateway.
const SLOT: &str = "internet_gateway";

/// How long an attachment may take.
const ATTACHED: Duration = Duration::from_secs(20 * 60);

/// The attached gateway.
async fn attached(network: Network<'_>) -> Result<Vec<Gateway>, Failure> {
    let Network { session, root_id, .. } = network;
    let ec2 = session.ec2.clone();
    let list = move |ids| {
        let call = ec2.describe_internet_gateways().filters(filter_any::<String>("attachment.vpc-id", ids));
        list_all("DescribeInternetGateways", call.into_paginator().items().send())
    };
    session
        .shared
        .internet_gateways
        .of(&session.shared.networks, root_id, |it| it.attachments().first()?.vpc_id(), list)
        .await
}

/// The attached gateway. If it is unmanaged, also the gateways with this root's ownership tag, because a create that
/// was killed before the attachment leaves a detached one. Then the gateways in state that neither call returned. The
/// second and the third call are sent only if necessary.
pub(super) async fn list(network: Network<'_>) -> Result<Vec<Gateway>, Failure> {
    let describe = |filter| async {
        let call = network.session.ec2.describe_internet_gateways().filters(filter);
        list_all("DescribeInternetGateways", call.into_paginator().items().send()).await
    };
    let mut found = attached(network).await?;
    let resource = network.resource();
    let is_ours = |gateway: &Gateway| {
        gateway.internet_gateway_id().is_some_and(|id| network.known.contains_key(id))
            || tags::resource(gateway.tags()) == Some(resource.as_str())
    };
    if !found.iter().any(is_ours) {
        // The attached gateway lacks the ownership tag, so no gateway is in both answers.
        found.extend(describe(tags::below(network.owner, network.root_id)).await?);
    }
    let missing = network.missing(
        [network.slots, None],
        |spec| matches!(spec, Spec::InternetGateway(_)),
        |slot| slot == SLOT,
        |id| found.iter().any(|it| it.internet_gateway_id() == Some(id)),
    );
    if !missing.is_empty() {
        found.extend(describe(filter_any("internet-gateway-id", missing)).await?);
    }
    Ok(found)
}

impl Listed for aws_sdk_ec2::types::InternetGateway {
    fn id(&self) -> Option<&str> {
        self.internet_gateway_id()
    }

    fn tags(&self) -> &[Tag] {
        self.tags()
    }

    /// Route tables must have been claimed.
    fn evidence<'a>(&'a self, claims: &Claims<'a>) -> Evidence<'a> {
        let (id, root_id) = (self.internet_gateway_id(), claims.network.root_id);
        let mut vpcs = self.attachments().iter().filter_map(|it| it.vpc_id());
        let other = vpcs.find(|vpc| *vpc != root_id).map(|vpc| format!("it is attached to {vpc}"));
        let users = claims.tables_to(|route| route.gateway_id() == id);
        let is_attached = self.attachments().iter().any(|it| it.vpc_id() == Some(root_id));
        // A detached gateway of an interrupted run has the network's tags.
        let is_foreign = !is_attached && claims.tagged_slot(self.tags()).is_none();
        Evidence {
            needs_consent: other.clone().or_else(|| claims.foreign_table(users.iter().copied())),
            impossible: other.or_else(|| is_foreign.then(|| "it is not attached to this VPC".to_string())),
            requires: users,
            ..Evidence::new("an internet gateway", |slot| slot == SLOT)
        }
    }

    fn read(&self, shown: &Shown<'_>, ours: Ours<'_>) -> Option<Observed> {
        let attached = self.attachments().iter().any(|it| it.vpc_id() == Some(shown.network.root_id));
        Some(Observed {
            id: self.internet_gateway_id()?.to_string(),
            key: ours.place(InternetGateway::of)?.0,
            spec: Spec::InternetGateway(InternetGateway {
                vpc: attached.then(|| shown.vpc.clone()),
                tags: tags::own(self.tags()),
            }),
            learned: Learned::new(),
        })
    }
}

impl From<&aws_sdk_ec2::types::InternetGateway> for FoundObject {
    fn from(it: &aws_sdk_ec2::types::InternetGateway) -> FoundObject {
        FoundObject { id: it.internet_gateway_id().unwrap_or_default().to_string(), tags: tags::all(it.tags()) }
    }
}

/// Creates the gateway and attaches it. It may start before a new VPC is available.
pub(crate) async fn create(operation: &Operation<'_>, spec: &InternetGateway) -> Result<(), Failure> {
    let available = async {
        match &spec.vpc {
            Some(vpc) if operation.work.in_create => {
                vpc::until_available(operation, operation.id(vpc)?).await.map(|_| ())
            }
            _ => Ok(()),
        }
    };
    let (id, available) = tokio::join!(create_detached(operation, spec), available);
    let id = id?;
    available?;
    attach(operation, &id, spec).await
}

/// Returns the ID of the new gateway.
async fn create_detached(operation: &Operation<'_>, spec: &InternetGateway) -> Result<String, Failure> {
    let session = operation.session;
    let mut tags = ownership::tags_on_create(operation, &spec.tags)?;
    let request = tags::add_request(&mut tags);
    let id = Mutation::of_ec2(operation, "CreateInternetGateway")
        .create(
            || {
                session
                    .ec2
                    .create_internet_gateway()
                    .tag_specifications(tags::on_create(ResourceType::InternetGateway, &tags))
                    .customize()
                    .config_override(session.once_ec2())
                    .send()
            },
            |answer| {
                let id = answer.internet_gateway().and_then(|it| it.internet_gateway_id());
                id.map(str::to_string).ok_or_else(|| incomplete_answer("CreateInternetGateway", "an id"))
            },
            || async {
                let call = session.ec2.describe_internet_gateways().filters(request.clone());
                let found = list_all("DescribeInternetGateways", call.into_paginator().items().send()).await?;
                Ok(found.iter().find_map(|it| it.internet_gateway_id()).map(str::to_string))
            },
        )
        .await?;
    operation.record_id(&id);
    Ok(id)
}

/// Updates tags, and attaches a gateway that was detached outside Terraform.
pub(crate) async fn update(
    operation: &Operation<'_>,
    id: &str,
    from: &InternetGateway,
    to: &InternetGateway,
) -> Result<(), Failure> {
    if from.vpc != to.vpc {
        attach(operation, id, to).await?;
    }
    tags::update(operation, id, &from.tags, &to.tags).await
}

/// Detaches and deletes the gateway. AWS rejects the detachment while a NAT gateway, a load balancer or an instance in
/// the VPC has a public address.
pub(crate) async fn delete(operation: &Operation<'_>, entry: &Entry) -> Result<(), Failure> {
    let (session, id, vpc_id) = (operation.session, entry.id.as_str(), operation.root_id()?);
    let find = || session.pollers.internet_gateways.now(&session.ec2, id);
    let is_attached = || async {
        let gateway = find().await?;
        Ok(gateway.is_some_and(|it| it.attachments().iter().any(|it| it.vpc_id() == Some(vpc_id))))
    };
    let (deadlines, is_missing) = (&operation.work.deadlines, |it: &Failure| MISSING.match_failure(it, id));
    wait::delete(deadlines, is_missing, is_attached, || async {
        let call = session.ec2.detach_internet_gateway().internet_gateway_id(id).vpc_id(vpc_id).send().await;
        match call.or_failure("DetachInternetGateway") {
            Err(failure) if codes::is_not_attached(&failure) => Ok(()),
            result => result.map(|_| ()),
        }
    })
    .await?;
    wait::delete(
        deadlines,
        is_missing,
        || async { Ok(find().await?.is_some()) },
        || async {
            let call = session.ec2.delete_internet_gateway().internet_gateway_id(id).send().await;
            call.map(|_| ()).or_failure("DeleteInternetGateway")
        },
    )
    .await
}

async fn attach(operation: &Operation<'_>, id: &str, spec: &InternetGateway) -> Result<(), Failure> {
    let Some(vpc) = &spec.vpc else { return Ok(()) };
    let (session, vpc_id) = (operation.session, operation.id(vpc)?);
    let attached = operation
        .retry_until_visible(&[id, vpc_id], || async {
            let call = session.ec2.attach_internet_gateway().internet_gateway_id(id).vpc_id(vpc_id).send().await;
            call.map(|_| ()).or_failure("AttachInternetGateway")
        })
        .await;
    let rejection = match attached {
        Ok(()) => None,
        // This gateway is attached already, because an earlier answer was lost.
        Err(failure) if failure.cause == Cause::Exists => Some(failure),
        Err(failure) if codes::is_other_gateway_attached(&failure) => {
            return Err(with_other_gateway(operation, failure, vpc_id).await);
        }
        Err(failure) => return Err(failure),
    };
    let check = |gateway: Option<&aws_sdk_ec2::types::InternetGateway>| {
        let attachment = gateway.and_then(|it| it.attachments().iter().find(|it| it.vpc_id() == Some(vpc_id)));
        // EC2 returns "available", which its API model does not list.
        Ok(match (attachment.and_then(|it| it.state()).map(|state| state.as_str()), &rejection) {
            (Some("available" | "attached"), _) => Poll::Done(()),
            (Some(state), _) => Poll::Pending(format!("the internet gateway is {state}")),
            (None, Some(rejection)) if gateway.is_some() => return Err(rejection.clone()),
            (None, _) => Poll::Pending("the attachment is not visible yet".to_string()),
        })
    };
    let deadlines = operation.deadlines(ATTACHED);
    session.pollers.internet_gateways.until(&session.ec2, "DescribeInternetGateways", id, &deadlines, check).await
}

/// The failure of an attachment to a VPC that has another gateway, with the id of that gateway and what to do.
async fn with_other_gateway(operation: &Operation<'_>, failure: Failure, vpc_id: &str) -> Failure {
    let call = operation.session.ec2.describe_internet_gateways().filters(filter("attachment.vpc-id", vpc_id));
    let found = call.into_paginator().items().send().collect::<Result<Vec<_>, _>>().await;
    let other = match &found {
        Ok(found) => found.first().and_then(|it| it.internet_gateway_id()).unwrap_or("Another gateway").to_string(),
        Err(error) => {
            tracing::warn!(
                "The internet gateway of {vpc_id} is unknown: {}",
                error.failure("DescribeInternetGateways")
            );
            "Another gateway".to_string()
        }
    };
    let message = format!(
        "{}. A VPC can have only one. {other}, which this resource does not manage, is attached. Detach it, or set \
         create_igw to false",
        failure.message.trim_end_matches('.')
    );
    Failure { message, ..failure }
}
