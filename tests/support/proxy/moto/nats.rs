//! NAT gateways. On AWS, creating and deleting one takes minutes, a gateway uses its subnet and address until it is
//! deleted, and a create may fail after its answer.

use std::collections::{BTreeMap, HashMap};
use std::sync::Mutex;

use super::nat_addresses::{Secondary, rewrite_primary};
use super::{Answer, Done, Element, Instead, Params, Repair, Reply, Request, async_trait, lock, remove_filters};
use crate::support::proxy::lasts::{Begun, Lasts};
/// The state of the NAT gateways that were created through this proxy.
#[derive(Debug)]
pub(crate) struct Nats(Mutex<State>);

#[derive(Debug)]
struct State {
    pending: Lasts,
    deleting: Lasts,
    created: usize,
    failures: BTreeMap<usize, Failure>,
    known: HashMap<String, Life>,
    /// The IDs of AZs without NAT gateways.
    constrained: Vec<String>,
    secondary: Secondary,
}

impl Default for Nats {
    fn default() -> Self {
        Self(Mutex::new(State {
            // AWS never returns a new gateway as available at once.
            pending: Lasts::Answers(1),
            deleting: Lasts::NOT_AT_ALL,
            created: 0,
            failures: BTreeMap::new(),
            known: HashMap::new(),
            constrained: Vec::new(),
            secondary: Secondary::default(),
        }))
    }
}

#[derive(Clone, Debug)]
struct Life {
    created: Begun,
    /// Whether it was shown in a later state than `pending`, which AWS never reverts.
    was_ready: bool,
    deleted: Option<Begun>,
    failure: Option<Failure>,
}

#[derive(Clone, Debug)]
struct Failure {
    code: String,
    message: String,
}

#[async_trait]
impl Repair for Nats {
    async fn instead(&self, call: &Request<'_>) -> Instead {
        match call.name {
            "CreateNatGateway" => match self.zone_is_constrained(call).await? {
                None => self.address_in_use(call).await,
                rejected => Ok(rejected),
            },
            "AssignPrivateNatGatewayAddress" => Ok(Some(self.assign(call))),
            "UnassignPrivateNatGatewayAddress" => Ok(Some(self.unassign(call))),
            _ => Ok(None),
        }
    }

    fn change(&self, call: &Request<'_>, params: &mut Params) -> Done {
        if call.name == "DescribeNatGateways" {
            remove_filters(call, params, is_own);
        }
        Ok(())
    }

    async fn after(&self, call: &Request<'_>, answer: &mut Answer) -> Done {
        match call.name {
            "CreateNatGateway" => self.created(call, answer).await,
            "DescribeNatGateways" => self.described(call, answer),
            "DeleteNatGateway" => self.deleted(call).await,
            "DescribeNetworkInterfaces" => self.interfaces(call, answer).await,
            _ => Ok(()),
        }
    }
}

impl Nats {
    pub(in crate::support::proxy) fn set_pending(&self, pending: Lasts) {
        lock(&self.0).pending = pending;
    }

    pub(in crate::support::proxy) fn set_deleting(&self, deleting: Lasts) {
        lock(&self.0).deleting = deleting;
    }

    pub(in crate::support::proxy) fn fail(&self, nth: usize, code: &str, message: &str) {
        let mut state = lock(&self.0);
        let number = state.created + nth;
        state.failures.insert(number, Failure { code: code.into(), message: message.into() });
    }

    pub(in crate::support::proxy) fn constrain(&self, zone_ids: &[&str]) {
        lock(&self.0).constrained = zone_ids.iter().map(|id| (*id).to_owned()).collect();
    }

    /// AWS has AZs without NAT gateways; moto has none.
    async fn zone_is_constrained(&self, call: &Request<'_>) -> Instead {
        let constrained = lock(&self.0).constrained.clone();
        if constrained.is_empty() {
            return Ok(None);
        }
        let found = call.describe("DescribeSubnets", &[("SubnetId.1", call.param("SubnetId"))]).await?;
        let zone = found.items("subnetSet").first().map(|it| it.text_of("availabilityZoneId").to_owned());
        let is_constrained = zone.is_some_and(|zone| constrained.contains(&zone));
        let text = "Nat Gateway is not available in this availability zone";
        call.reject_if(is_constrained, "NotAvailableInZone", text)
    }

    /// The gateways that match filters of DescribeNatGateways and use their subnet and address: all except failed and
    /// deleted ones.
    pub(super) async fn alive(&self, call: &Request<'_>, filters: &[(&str, &str)]) -> Result<Vec<Element>, String> {
        let found = call.describe("DescribeNatGateways", filters).await?;
        let holds = |nat: &&Element| !["failed", "deleted"].contains(&self.state(nat).as_str());
        Ok(found.items("natGatewaySet").iter().filter(holds).cloned().collect())
    }

    /// AWS rejects an address that another gateway uses, even while that gateway is being deleted. moto accepts it.
    async fn address_in_use(&self, call: &Request<'_>) -> Instead {
        let wanted = call.param("AllocationId");
        if wanted.is_empty() {
            return Ok(None);
        }
        let alive = self.alive(call, &[]).await?;
        let addresses = alive.iter().flat_map(|nat| nat.items("natGatewayAddressSet"));
        let held = addresses.into_iter().any(|address| address.text_of("allocationId") == wanted);
        let text = format!("Elastic IP address [{wanted}] is already associated");
        call.reject_if(held, "Resource.AlreadyAssociated", &text)
    }

    /// Assigns the requested number of secondary addresses.
    fn assign(&self, call: &Request<'_>) -> Reply {
        let id = call.param("NatGatewayId");
        let mut state = lock(&self.0);
        if let Some(rejection) = state.busy(call, id) {
            return rejection;
        }
        state.secondary.assign(id, call.param("PrivateIpAddressCount"));
        call.done()
    }

    /// Unassigns these addresses.
    fn unassign(&self, call: &Request<'_>) -> Reply {
        let id = call.param("NatGatewayId");
        let mut state = lock(&self.0);
        if let Some(rejection) = state.busy(call, id) {
            return rejection;
        }
        state.secondary.unassign(id, &call.list("PrivateIpAddress"));
        call.done()
    }

    /// AWS answers a create with `pending` and validates the gateway later: a public one fails if no internet gateway
    /// is attached to its VPC. moto always answers `available`.
    async fn created(&self, call: &Request<'_>, answer: &mut Answer) -> Done {
        let root = answer.root()?;
        let nat = root.child_mut("natGateway").ok_or("CreateNatGateway returns no gateway")?;
        let id = nat.text_of("natGatewayId").to_owned();
        let public = nat.text_of("connectivityType") != "private";
        let vpc = nat.text_of("vpcId").to_owned();
        let failure = if public && !has_internet_gateway(call, &vpc).await? {
            let text = format!("Network {vpc} has no Internet gateway attached");
            Some(Failure { code: "Gateway.NotAttached".into(), message: text })
        } else {
            None
        };
        {
            let mut state = lock(&self.0);
            state.created += 1;
            let number = state.created;
            let failure = state.failures.remove(&number).or(failure);
            state.secondary.assign(&id, call.param("SecondaryPrivateIpAddressCount"));
            state.known.insert(id, Life { created: Begun::now(), was_ready: false, deleted: None, failure });
        }
        // AWS answers before it does any work: the gateway is `pending`, even if it fails at once, and has no IP.
        nat.set("state", "pending");
        rewrite_primary(nat);
        Ok(())
    }

    /// Sets the current states. Applies the filters by tag, which moto ignores, and by state, for which moto has other
    /// values.
    fn described(&self, call: &Request<'_>, answer: &mut Answer) -> Done {
        let root = answer.root()?;
        if let Some(set) = root.child_mut("natGatewaySet") {
            for nat in &mut set.children {
                self.rewrite(nat);
                self.count_answer(nat);
            }
            let filters = call.filters();
            set.children.retain(|nat| filters.iter().all(|(name, values)| passes(nat, name, values)));
        }
        Ok(())
    }

    /// On AWS, the address of a deleted NAT gateway is disassociated; in moto it stays associated.
    async fn deleted(&self, call: &Request<'_>) -> Done {
        let id = call.param("NatGatewayId");
        {
            let mut state = lock(&self.0);
            let unknown = || Life { created: Begun::now(), was_ready: true, deleted: None, failure: None };
            let life = state.known.entry(id.to_owned()).or_insert_with(unknown);
            life.deleted.get_or_insert_with(Begun::now);
        }
        let found = call.describe("DescribeNatGateways", &[("NatGatewayId.1", id)]).await?;
        for address in found.items("natGatewaySet").iter().flat_map(|nat| nat.items("natGatewayAddressSet")) {
            let allocation = address.text_of("allocationId");
            if allocation.is_empty() {
                continue;
            }
            // Leave an address alone that was released or associated with another gateway in the meantime.
            let held = call.ec2("DescribeAddresses", &[("AllocationId.1", allocation)]).await?;
            for held in held.iter().flat_map(|answer| answer.items("addressesSet")) {
                let association = held.text_of("associationId");
                if held.text_of("networkInterfaceId") == address.text_of("networkInterfaceId")
                    && !association.is_empty()
                {
                    let _lost_race = call.ec2("DisassociateAddress", &[("AssociationId", association)]).await?;
                }
            }
        }
        Ok(())
    }

    /// On AWS, the network interface of a NAT gateway has its own type and description, and is deleted with the
    /// gateway. In moto it looks like any other interface, and is not deleted.
    async fn interfaces(&self, call: &Request<'_>, answer: &mut Answer) -> Done {
        let root = answer.root()?;
        let found = call.describe("DescribeNatGateways", &[]).await?;
        let nats = found.items("natGatewaySet");
        let of_interface = |interface: &Element| {
            let id = interface.text_of("networkInterfaceId");
            let holds = |nat: &&Element| {
                nat.items("natGatewayAddressSet").iter().any(|address| address.text_of("networkInterfaceId") == id)
            };
            nats.iter().find(holds)
        };
        if let Some(set) = root.child_mut("networkInterfaceSet") {
            let is_deleted = |nat: &Element| ["failed", "deleted"].contains(&self.state(nat).as_str());
            set.children.retain(|interface| !of_interface(interface).is_some_and(is_deleted));
            for interface in &mut set.children {
                let Some(nat) = of_interface(interface) else { continue };
                interface.set("interfaceType", "nat_gateway");
                interface.set("requesterManaged", "true");
                interface.set("description", &format!("Interface for NAT Gateway {}", nat.text_of("natGatewayId")));
            }
        }
        Ok(())
    }

    fn state(&self, nat: &Element) -> String {
        let state = lock(&self.0);
        let raw = nat.text_of("state");
        let Some(life) = state.known.get(nat.text_of("natGatewayId")) else { return raw.to_owned() };
        let shown = match &life.deleted {
            Some(deleted) if deleted.goes_on(state.deleting) => "deleting",
            Some(_) => "deleted",
            None if !life.was_ready && life.created.goes_on(state.pending) => "pending",
            None if life.failure.is_some() => "failed",
            None => raw,
        };
        shown.to_owned()
    }

    /// Counts an answer that shows the current state, or would show it without its filters.
    fn count_answer(&self, nat: &Element) {
        let mut state = lock(&self.0);
        let id = nat.text_of("natGatewayId");
        if let Some(life) = state.known.get_mut(id) {
            life.deleted.as_mut().unwrap_or(&mut life.created).shown();
            life.was_ready |= nat.text_of("state") != "pending";
        }
        if nat.text_of("state") != "pending" {
            state.secondary.count_answer(id);
        }
    }

    /// Sets the state, the failure, and the members of an address that moto omits.
    fn rewrite(&self, nat: &mut Element) {
        let shown = self.state(nat);
        let failure = lock(&self.0).known.get(nat.text_of("natGatewayId")).and_then(|life| life.failure.clone());
        if let Some(failure) = failure.filter(|_| shown != "pending") {
            nat.set("failureCode", &failure.code);
            nat.set("failureMessage", &failure.message);
        }
        nat.set("state", &shown);
        if nat.text_of("connectivityType").is_empty() {
            nat.set("connectivityType", "public");
        }
        rewrite_primary(nat);
        let secondary = lock(&self.0).secondary.shown(nat.text_of("natGatewayId"));
        if let Some(set) = nat.child_mut("natGatewayAddressSet") {
            set.children.extend(secondary);
        }
    }
}

impl State {
    /// AWS rejects a change of the addresses of a gateway while another one is in progress. Its message is known for
    /// addresses of public gateways: hashicorp/terraform-provider-aws#44581
    fn busy(&self, call: &Request<'_>, id: &str) -> Option<Reply> {
        let text = "Service is currently changing the addresses of the NAT gateway";
        self.secondary.is_changing(id).then(|| call.rejected("OperationInProgress", text))
    }
}

/// Whether [`Nats::described`] applies the filter itself.
fn is_own(filter: &str) -> bool {
    filter == "state" || filter == "tag-key" || filter.starts_with("tag:")
}

fn passes(nat: &Element, filter: &str, values: &[&str]) -> bool {
    let mut tags = nat.items("tagSet").iter();
    match filter.strip_prefix("tag:") {
        Some(key) => tags.any(|tag| tag.text_of("key") == key && values.contains(&tag.text_of("value"))),
        None if filter == "tag-key" => tags.any(|tag| values.contains(&tag.text_of("key"))),
        None if filter == "state" => values.contains(&nat.text_of("state")),
        None => true,
    }
}

async fn has_internet_gateway(call: &Request<'_>, vpc: &str) -> Result<bool, String> {
    let attached = call.describe("DescribeInternetGateways", &[("attachment.vpc-id", vpc)]).await?;
    Ok(!attached.items("internetGatewaySet").is_empty())
}
