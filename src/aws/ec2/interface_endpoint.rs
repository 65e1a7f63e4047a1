//! Interface endpoints.

mod moves;

use std::collections::BTreeSet;

use aws_sdk_ec2::types::{
    DnsOptionsSpecification, DnsRecordIpType, IpAddressType, NetworkInterface, ResourceType, Tag,
    VpcEndpoint as Endpoint, VpcEndpointType,
};

use super::claims::{Claims, Evidence, Ours};
use super::observed::{Listed, Shown};
use super::private_names::with_other_names;
use super::vpc_endpoint::{self, MISSING, READY, acquire, last_error, resolve, state};
use super::{client_token, guardduty, tags};
use crate::aws::calls::codes;
use crate::aws::calls::errors::incomplete_answer;
use crate::aws::calls::wait::Poll;
use crate::aws::calls::{Operation, OrFailure, ownership, wait};
use crate::cloud::{Failure, Observed};
use crate::model::keys::{name_in, network as keys};
use crate::model::{
    DnsEntry, ENDPOINT_ADDRESSES, ENDPOINT_STATE, EndpointAddresses, Entry, FULL_ACCESS, Input, InterfaceEndpoint,
    InterfaceEndpointSettings, Key, Learned, PENDING_ACCEPTANCE, Ref, Spec, is_unaccepted, policy_in_vpc, shown_policy,
};

/// Whether it is an interface endpoint that a user created. AWS does not let users change those of its services.
pub(super) fn is_managed(endpoint: &Endpoint) -> bool {
    endpoint.vpc_endpoint_type() == Some(&VpcEndpointType::Interface) && endpoint.requester_managed() != Some(true)
}

/// An interface endpoint.
pub(super) struct Interface(pub(super) Endpoint);

impl Listed for Interface {
    fn id(&self) -> Option<&str> {
        self.0.vpc_endpoint_id()
    }

    fn tags(&self) -> &[Tag] {
        self.0.tags()
    }

    /// Subnets must have been claimed.
    fn evidence<'a>(&'a self, claims: &Claims<'a>) -> Evidence<'a> {
        let fixed = self.0.service_name().unwrap_or_default().to_string();
        let subnets = || self.0.subnet_ids().iter().map(String::as_str);
        let foreign = subnets().find(|id| claims.ours(Some(id)).is_none());
        let of_subnet = || foreign.map(|id| format!("its subnet {id} is not managed"));
        let of_guardduty = guardduty::Endpoint::of(&self.0).map(|_| "GuardDuty created it".to_string());
        let reason = of_guardduty.or_else(of_subnet);
        Evidence {
            fixed,
            needs_consent: reason.clone(),
            impossible: reason,
            requires: subnets().collect(),
            ..Evidence::new("an interface endpoint", |slot| name_in(slot, keys::INTERFACE_ENDPOINT).is_some())
        }
    }

    /// A failed endpoint never recovers, so it gets another key than the wanted one, and the plan replaces it.
    fn read(&self, shown: &Shown<'_>, ours: Ours<'_>) -> Option<Observed> {
        let (key, applied) = ours.place(InterfaceEndpoint::of)?;
        let spec = spec(shown, &self.0, applied)?;
        let key = match applied {
            Some(_) => key,
            None => {
                let name = key.slot.strip_prefix(keys::INTERFACE_ENDPOINT)?;
                keys::interface_endpoint(name, &spec.service_name, &spec.settings.service_region)
            }
        };
        let key = Key { has_failed: key.has_failed || state(&self.0) == "failed", ..key };
        let (id, spec) = (self.id()?.to_string(), Spec::InterfaceEndpoint(spec));
        Some(Observed { id, key, spec, learned: learned(&self.0) })
    }

    fn spec(&self, shown: &Shown<'_>) -> Option<Spec> {
        let is_of_user = guardduty::Endpoint::of(&self.0).is_none();
        spec(shown, &self.0, None).map(Spec::InterfaceEndpoint).filter(|_| is_of_user)
    }
}

fn spec(shown: &Shown<'_>, it: &Endpoint, applied: Option<&InterfaceEndpoint>) -> Option<InterfaceEndpoint> {
    let text = |value: Option<&str>| Input::Known(value.filter(|it| !it.is_empty()).map(str::to_string));
    let references = |ids: &mut dyn Iterator<Item = &str>| {
        let mut all: Vec<Ref> = ids.map(|id| shown.reference(id)).collect();
        all.sort();
        all
    };
    let service_name = it.service_name()?;
    let dns = it.dns_options();
    // Without a gateway endpoint for the same service, AWS has no use for the option, and may return either value.
    let gateway = shown.gateway_endpoint(service_name);
    let inbound_only = dns.and_then(|dns| dns.private_dns_only_for_inbound_resolver_endpoint());
    let has_option =
        applied.map_or(gateway.is_some(), |it| it.private_dns_only_for_inbound_resolver_endpoint != Input::Known(None));
    let names = it.private_dns_enabled().unwrap_or(false);
    // AWS rejects the names until the owner of the service has accepted the endpoint.
    let private_dns_enabled = match applied {
        Some(applied) if is_unaccepted(&state(it)) => applied.private_dns_enabled.clone(),
        _ => Input::Known(names),
    };
    let inbound_only = inbound_only.filter(|_| has_option && private_dns_enabled != Input::Known(false));
    let applied_policy = applied.and_then(|it| it.settings.policy.known()?.as_deref());
    let unless_unmanaged =
        |found: Option<&str>, field: fn(&InterfaceEndpointSettings) -> &Input<Option<String>>| match applied
            .map(|it| field(&it.settings))
        {
            Some(Input::Known(None)) => Input::Known(None),
            _ => text(found),
        };
    Some(InterfaceEndpoint {
        vpc: shown.vpc.clone(),
        service_name: Input::Known(service_name.to_string()),
        offer: applied.and_then(|it| it.offer.clone()),
        subnets: references(&mut it.subnet_ids().iter().map(String::as_str)),
        security_groups: Input::Known(references(&mut it.groups().iter().filter_map(|group| group.group_id()))),
        private_dns_enabled,
        private_dns_only_for_inbound_resolver_endpoint: Input::Known(inbound_only),
        gateway_endpoint: match applied {
            Some(applied) => applied.gateway_endpoint.clone(),
            None => gateway.filter(|_| inbound_only == Some(true)).cloned(),
        },
        settings: InterfaceEndpointSettings {
            service_region: match applied {
                Some(applied) => applied.settings.service_region.clone(),
                None => text(it.service_region().filter(|region| *region != shown.network.session.scope.region)),
            },
            ip_address_type: unless_unmanaged(it.ip_address_type().map(IpAddressType::as_str), |it| {
                &it.ip_address_type
            }),
            dns_record_ip_type: unless_unmanaged(
                dns.and_then(|dns| dns.dns_record_ip_type()).map(DnsRecordIpType::as_str),
                |it| &it.dns_record_ip_type,
            ),
            policy: Input::Known(shown_policy(it.policy_document(), applied_policy, shown.network.root_id)),
            tags: tags::own(it.tags()),
        },
    })
}

fn learned(it: &Endpoint) -> Learned {
    let sorted = |ids: &[String]| {
        let mut ids = ids.to_vec();
        ids.sort();
        ids
    };
    let entries = it.dns_entries().iter();
    let entry = |it: &aws_sdk_ec2::types::DnsEntry| {
        Some(DnsEntry { name: it.dns_name()?.to_string(), hosted_zone_id: it.hosted_zone_id()?.to_string() })
    };
    let addresses = EndpointAddresses {
        subnets: sorted(it.subnet_ids()),
        has_private_dns: it.private_dns_enabled().unwrap_or(false),
        network_interfaces: sorted(it.network_interface_ids()),
        dns_entries: entries.filter_map(entry).collect(),
    };
    let kind = it.ip_address_type().map(|it| (ENDPOINT_ADDRESSES.to_string(), it.as_str().to_string()));
    let attributes = [(ENDPOINT_STATE.to_string(), state(it))].into_iter().chain(kind).collect();
    let settings = [
        ("ip_address_type", it.ip_address_type().map(ToString::to_string)),
        ("dns_record_ip_type", it.dns_options().and_then(|it| it.dns_record_ip_type()).map(ToString::to_string)),
    ];
    let others = settings.into_iter().filter_map(|(name, value)| Some((name.to_string(), value?)));
    let unexpressed = others.filter(|(_, value)| value != "ipv4").collect();
    Learned { endpoint: Some(addresses), attributes, unexpressed, ..Learned::new() }
}

/// Creates an endpoint, and waits until it is available, or until only the owner of the service has to accept it.
pub(crate) async fn create(operation: &Operation<'_>, spec: &InterfaceEndpoint) -> Result<(), Failure> {
    let (session, vpc_id) = (operation.session, operation.id(&spec.vpc)?);
    let (subnets, groups) = (resolve(operation, &spec.subnets)?, groups(operation, spec)?);
    let (service_name, settings) = (operation.known(&spec.service_name)?, &spec.settings);
    let has_names = *operation.known(&spec.private_dns_enabled)?;
    // AWS rejects the names of a third party before its acceptance, which only the answer shows.
    let are_later = has_names && !InterfaceEndpoint::is_of_aws(service_name);
    let record_type = operation.known(&settings.dns_record_ip_type)?.as_deref();
    let tags = ownership::tags_on_create(operation, &settings.tags)?;
    let call = session
        .ec2
        .create_vpc_endpoint()
        .vpc_id(vpc_id)
        .vpc_endpoint_type(VpcEndpointType::Interface)
        .service_name(service_name)
        .set_service_region(operation.known(&settings.service_region)?.clone())
        .set_subnet_ids(Some(subnets.clone()))
        .set_security_group_ids(Some(groups.clone()))
        .private_dns_enabled(has_names && !are_later)
        .set_dns_options(dns_options(operation, spec, record_type, !are_later)?)
        .set_ip_address_type(operation.known(&settings.ip_address_type)?.as_deref().map(IpAddressType::from))
        .set_policy_document(operation.known(&settings.policy)?.as_deref().map(|it| policy_in_vpc(it, vpc_id)))
        .tag_specifications(tags::on_create(ResourceType::VpcEndpoint, &tags))
        .client_token(client_token());
    let used: Vec<&str> = [vpc_id].into_iter().chain(subnets.iter().chain(&groups).map(String::as_str)).collect();
    let send = || async {
        acquire(operation, "CreateVpcEndpoint").await?;
        let answer = call.clone().send().await.or_failure("CreateVpcEndpoint")?;
        let id = answer.vpc_endpoint().and_then(|it| it.vpc_endpoint_id());
        id.map(str::to_string).ok_or_else(|| incomplete_answer("CreateVpcEndpoint", "an id"))
    };
    let id = match operation.retry_until_visible(&used, send).await {
        Err(failure) if codes::is_private_dns_conflict(&failure) => {
            return Err(with_other_names(operation, failure, vpc_id, (None, service_name)).await);
        }
        created => created?,
    };
    operation.record_id(&id);
    let ready = settled(operation, "CreateVpcEndpoint", &id, &subnets).await?;
    if are_later && state(&ready) != PENDING_ACCEPTANCE {
        let names = session.ec2.modify_vpc_endpoint().private_dns_enabled(true);
        let names = names.set_dns_options(dns_options(operation, spec, None, true)?);
        vpc_endpoint::while_busy(operation, || modify(operation, &id, names.clone(), &[], spec)).await?;
        settled(operation, "ModifyVpcEndpoint", &id, &subnets).await?;
    }
    Ok(())
}

/// Changes the endpoint, and waits until the network interfaces in former subnets are deleted: until then, AWS does not
/// delete these subnets.
pub(crate) async fn update(
    operation: &Operation<'_>,
    id: &str,
    from: &InterfaceEndpoint,
    to: &InterfaceEndpoint,
) -> Result<(), Failure> {
    let with_tags = |from: &InterfaceEndpoint| {
        let settings = InterfaceEndpointSettings { tags: to.settings.tags.clone(), ..from.settings.clone() };
        InterfaceEndpoint { settings, ..from.clone() }
    };
    if operation.is_resumed() || with_tags(from) != *to {
        // The first answer may be lost, and AWS makes the change. So each attempt sends what then still differs.
        let sent = vpc_endpoint::while_busy(operation, || Box::pin(change(operation, id, from, to))).await?;
        let ready = settled(operation, "ModifyVpcEndpoint", id, &sent.subnets).await?;
        let left = without(&sent.interfaces, ready.network_interface_ids());
        until_deleted(operation, "ModifyVpcEndpoint", &left).await?;
    }
    tags::update(operation, id, &from.settings.tags, &to.settings.tags).await
}

/// An endpoint after a change.
struct Changed {
    /// Its subnets, once AWS has made the change.
    subnets: Vec<String>,
    /// Its network interfaces before.
    interfaces: Vec<String>,
}

/// Changes what differs, in one call, or in several if subnets replace others. Subnets and groups that someone has
/// added or removed since the endpoint was read stay as they are.
async fn change(
    operation: &Operation<'_>,
    id: &str,
    from: &InterfaceEndpoint,
    to: &InterfaceEndpoint,
) -> Result<Changed, Failure> {
    let session = operation.session;
    let (wanted, wanted_groups) = (resolve(operation, &to.subnets)?, groups(operation, to)?);
    let now = changeable(operation, id).await?;
    let has_subnets = now.as_ref().map(|it| it.subnet_ids().to_vec()).unwrap_or_default();
    let has_groups = now.as_ref().map(|it| it.groups()).unwrap_or_default();
    let has_groups: Vec<String> = has_groups.iter().filter_map(|it| it.group_id.clone()).collect();
    // A subnet or a group that has been deleted since is no longer used.
    let resolved = |references: &[Ref]| -> Vec<String> {
        references.iter().filter_map(|it| operation.work.ids.resolve(it).map(str::to_string)).collect()
    };
    let (before, before_groups) = (resolved(&from.subnets), resolved(operation.known(&from.security_groups)?));
    let (add, remove) = difference((&before, &wanted), &has_subnets);
    let (add_groups, remove_groups) = difference((&before_groups, &wanted_groups), &has_groups);
    let added = [add.as_slice(), &add_groups].concat();
    let steps = moves::steps(session, &has_subnets, add, remove).await?;
    let mut call = session.ec2.modify_vpc_endpoint();
    let differs = |field: fn(&InterfaceEndpoint) -> &Input<Option<String>>| {
        (field(from) != field(to)).then(|| operation.known(field(to))).transpose()
    };
    let (policy, kind) = (differs(|it| &it.settings.policy)?, differs(|it| &it.settings.ip_address_type)?);
    let names = |it: &InterfaceEndpoint| {
        (it.private_dns_enabled.clone(), it.private_dns_only_for_inbound_resolver_endpoint.clone())
    };
    let is_accepted = !now.as_ref().is_some_and(|it| is_unaccepted(&state(it)));
    if is_accepted {
        let change_names = names(from) != names(to);
        let has_names = *operation.known(&to.private_dns_enabled)?;
        call = call.set_private_dns_enabled(change_names.then_some(has_names));
        let record_type = differs(|it| &it.settings.dns_record_ip_type)?.and_then(|kind| kind.as_deref());
        call = call.set_dns_options(dns_options(operation, to, record_type, change_names)?);
    }
    call = match policy {
        Some(policy) => {
            let policy = policy.as_deref().unwrap_or(FULL_ACCESS);
            call.policy_document(policy_in_vpc(policy, operation.root_id()?))
        }
        None => call,
    };
    call = call.set_ip_address_type(kind.and_then(|kind| kind.as_deref()).map(IpAddressType::from));
    call = call.set_add_security_group_ids(some(add_groups)).set_remove_security_group_ids(some(remove_groups));
    let mut subnets = has_subnets;
    for (position, step) in steps.into_iter().enumerate() {
        if position > 0 {
            settled(operation, "ModifyVpcEndpoint", id, &subnets).await?;
        }
        subnets = step.applied_to(&subnets);
        call = call.set_add_subnet_ids(some(step.add)).set_remove_subnet_ids(some(step.remove));
        modify(operation, id, call, &added, to).await?;
        call = session.ec2.modify_vpc_endpoint();
    }
    Ok(Changed { subnets, interfaces: now.map(|it| it.network_interface_ids().to_vec()).unwrap_or_default() })
}

/// The endpoint as it is. AWS rejects a change while it still makes an earlier one, or sets the endpoint up after its
/// acceptance.
async fn changeable(operation: &Operation<'_>, id: &str) -> Result<Option<Endpoint>, Failure> {
    let (session, deadlines) = (operation.session, operation.deadlines(READY));
    let check = |endpoint: Option<&Endpoint>| {
        Ok(match endpoint.map(state).as_deref() {
            Some("pending") => Poll::Pending("the endpoint is pending".to_string()),
            _ => Poll::Done(endpoint.cloned()),
        })
    };
    session.pollers.vpc_endpoints.until(&session.ec2, "ModifyVpcEndpoint", id, &deadlines, check).await
}

fn some(ids: Vec<String>) -> Option<Vec<String>> {
    Some(ids).filter(|ids| !ids.is_empty())
}

/// The IDs to add to those that an endpoint has, and to remove from them, for a change from one list to another.
fn difference((from, to): (&[String], &[String]), has: &[String]) -> (Vec<String>, Vec<String>) {
    let mut remove = without(from, to);
    remove.retain(|it| has.contains(it));
    (without(&without(to, from), has), remove)
}

fn without(all: &[String], others: &[String]) -> Vec<String> {
    all.iter().filter(|it| !others.contains(it)).cloned().collect()
}

type Modify = aws_sdk_ec2::operation::modify_vpc_endpoint::builders::ModifyVpcEndpointFluentBuilder;

/// Sends a change, unless it is empty. AWS makes only one change of an endpoint at a time.
async fn modify(
    operation: &Operation<'_>,
    id: &str,
    call: Modify,
    added: &[String],
    to: &InterfaceEndpoint,
) -> Result<(), Failure> {
    if *call.as_input() == *operation.session.ec2.modify_vpc_endpoint().as_input() {
        return Ok(());
    }
    let used: Vec<&str> = [id].into_iter().chain(added.iter().map(String::as_str)).collect();
    let call = call.vpc_endpoint_id(id);
    let send = || async {
        acquire(operation, "ModifyVpcEndpoint").await?;
        call.clone().send().await.map(|_| ()).or_failure("ModifyVpcEndpoint")
    };
    match operation.retry_until_visible(&used, send).await {
        Err(failure) if codes::is_private_dns_conflict(&failure) => {
            let (vpc_id, service_name) = (operation.id(&to.vpc)?, operation.known(&to.service_name)?);
            Err(with_other_names(operation, failure, vpc_id, (Some(id), service_name)).await)
        }
        sent => sent,
    }
}

/// The options for names. AWS accepts the inbound option only for services that have gateway endpoints, and together
/// with the names.
fn dns_options(
    operation: &Operation<'_>,
    spec: &InterfaceEndpoint,
    record_type: Option<&str>,
    with_names: bool,
) -> Result<Option<DnsOptionsSpecification>, Failure> {
    let kind = record_type.map(DnsRecordIpType::from);
    let inbound = *operation.known(&spec.private_dns_only_for_inbound_resolver_endpoint)?;
    let inbound = inbound.filter(|_| with_names);
    let options = DnsOptionsSpecification::builder()
        .set_dns_record_ip_type(kind)
        .set_private_dns_only_for_inbound_resolver_endpoint(inbound)
        .build();
    Ok((options != DnsOptionsSpecification::builder().build()).then_some(options))
}

/// Waits until AWS has made a change, and records what it has created. An endpoint that waits for its acceptance is
/// complete otherwise.
async fn settled(operation: &Operation<'_>, action: &str, id: &str, subnets: &[String]) -> Result<Endpoint, Failure> {
    let session = operation.session;
    let check = |endpoint: Option<&Endpoint>| {
        let Some(endpoint) = endpoint else {
            return Ok(Poll::Pending("the endpoint is not visible yet".to_string()));
        };
        let (added, removed) = (without(subnets, endpoint.subnet_ids()), without(endpoint.subnet_ids(), subnets));
        match state(endpoint).as_str() {
            "available" | PENDING_ACCEPTANCE if added.is_empty() && removed.is_empty() => {
                Ok(Poll::Done(endpoint.clone()))
            }
            "available" | PENDING_ACCEPTANCE => {
                Ok(Poll::Pending(format!("the endpoint has the subnets {}", endpoint.subnet_ids().join(", "))))
            }
            state @ ("failed" | "rejected" | "expired") => {
                let failure = last_error(action, endpoint);
                let advice = match state {
                    "failed" => "",
                    _ => {
                        ". Ask the owner of the service to accept it. If that is not possible, remove the entry, apply, \
                         and add it again"
                    }
                };
                let message = format!("{id} is {state}: {}{advice}", failure.message.trim_end_matches('.'));
                Err(Failure { message, ..failure })
            }
            other => Ok(Poll::Pending(format!("the endpoint is {other}"))),
        }
    };
    let deadlines = operation.deadlines(READY);
    let ready = session.pollers.vpc_endpoints.until(&session.ec2, action, id, &deadlines, check).await?;
    operation.record_learned(learned(&ready));
    Ok(ready)
}

/// Deletes the endpoint, and waits until its network interfaces are deleted too: until then, AWS deletes neither its
/// subnets nor its security groups.
pub(crate) async fn delete(operation: &Operation<'_>, entry: &Entry) -> Result<(), Failure> {
    let (session, id) = (operation.session, entry.id.as_str());
    let is_missing = |failure: &Failure| MISSING.match_failure(failure, id);
    let found = session.pollers.vpc_endpoints.now(&session.ec2, id).await?;
    // AWS does not return those of an endpoint that an earlier run has deleted.
    let of_state = entry.learned.endpoint.iter().flat_map(|it| &it.network_interfaces);
    let interfaces = found.iter().flat_map(|it| it.network_interface_ids()).chain(of_state).cloned();
    let interfaces: BTreeSet<String> = interfaces.collect();
    let is_there = || async {
        Ok(session.pollers.vpc_endpoints.now(&session.ec2, id).await?.is_some_and(|it| vpc_endpoint::exists(&it)))
    };
    acquire(operation, "DeleteVpcEndpoints").await?;
    let send = || vpc_endpoint::while_busy(operation, || vpc_endpoint::send_delete(session, id));
    wait::delete(&operation.work.deadlines, is_missing, is_there, send).await?;
    vpc_endpoint::until_deleted(operation, id).await?;
    until_deleted(operation, "DeleteVpcEndpoints", &interfaces).await
}

/// Waits until these network interfaces are deleted.
async fn until_deleted<'a>(
    operation: &Operation<'_>,
    action: &str,
    interfaces: impl IntoIterator<Item = &'a String>,
) -> Result<(), Failure> {
    let session = operation.session;
    for interface in interfaces {
        let check = |found: Option<&NetworkInterface>| {
            Ok(match found {
                Some(_) => Poll::Pending(format!("the network interface {interface} still exists")),
                None => Poll::Done(()),
            })
        };
        let (deadlines, pollers) = (operation.deadlines(READY), &session.pollers.network_interfaces);
        pollers.until(&session.ec2, action, interface, &deadlines, check).await?;
    }
    Ok(())
}

/// Whether a network interface belongs to one of these endpoints. AWS writes the ID of the endpoint into its
/// description.
pub(super) fn is_interface_of(interface: &NetworkInterface, is_endpoint: impl Fn(&str) -> bool) -> bool {
    let description = interface.description().unwrap_or_default();
    description.split_whitespace().any(|word| word.starts_with("vpce-") && is_endpoint(word))
}

fn groups(operation: &Operation<'_>, spec: &InterfaceEndpoint) -> Result<Vec<String>, Failure> {
    resolve(operation, operation.known(&spec.security_groups)?)
}

#[cfg(test)]
mod tests;
