//! Interface endpoints. On AWS, a create, a change and a deletion take minutes, and the owner of a service may have to
//! accept the endpoint. In moto they take no time, and most properties are lost.

use std::collections::{BTreeMap, HashMap};
use std::sync::Mutex;

use super::endpoint_checks::{INBOUND_ONLY, Requested, Settings, rejection};
use super::endpoint_interfaces::Interface;
use super::endpoint_services::Service;
use super::{Answer, Done, Element, Instead, Params, Repair, Request, async_trait, lock};
use crate::support::proxy::lasts::{Begun, Lasts};

/// AWS's default policy of an interface endpoint, which differs from that of a gateway endpoint.
const DEFAULT_POLICY: &str = "{\n  \"Statement\": [\n    {\n      \"Action\": \"*\", \n      \"Effect\": \"Allow\", \n      \
                              \"Principal\": \"*\", \n      \"Resource\": \"*\"\n    }\n  ]\n}";

/// The hosted zone of the regional and zonal names of endpoints in us-east-1.
const ZONE_OF_ENDPOINTS: &str = "Z7HUB22UULQXV";

/// The hosted zone that AWS associates with the VPC for private DNS.
const ZONE_OF_PRIVATE_NAMES: &str = "Z0123456789ABCDEFGHIJ";

/// The interface endpoints that were created or changed through this proxy.
#[derive(Debug)]
pub(crate) struct InterfaceEndpoints(Mutex<State>);

#[derive(Debug)]
struct State {
    pending: Lasts,
    deleting: Lasts,
    created: usize,
    /// Code and message, by the number of the endpoint.
    failures: BTreeMap<usize, (String, String)>,
    known: HashMap<String, Life>,
}

impl Default for InterfaceEndpoints {
    fn default() -> Self {
        // AWS never completes a change at once.
        let (pending, deleting) = (Lasts::Answers(1), Lasts::Answers(1));
        Self(Mutex::new(State { pending, deleting, created: 0, failures: BTreeMap::new(), known: HashMap::new() }))
    }
}

#[derive(Clone, Debug)]
struct Life {
    service: Service,
    settings: Settings,
    acceptance: Acceptance,
    /// The create or the last change, until it was shown as complete.
    changing: Option<Begun>,
    failure: Option<(String, String)>,
    deleted: Option<Begun>,
}

/// The decision of the owner of the service.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Acceptance {
    Waiting,
    Accepted,
    Rejected,
}

#[async_trait]
impl Repair for InterfaceEndpoints {
    async fn instead(&self, call: &Request<'_>) -> Instead {
        match call.name {
            "CreateVpcEndpoint" if is_interface(call.param("VpcEndpointType")) => self.check_create(call).await,
            "ModifyVpcEndpoint" => self.check_change(call).await,
            "DescribeVpcEndpoints" => self.missing(call),
            _ => Ok(None),
        }
    }

    fn change(&self, call: &Request<'_>, params: &mut Params) -> Done {
        match call.name {
            // Subnets are added later, because moto would create network interfaces in the default group.
            "CreateVpcEndpoint" if is_interface(call.param("VpcEndpointType")) => {
                params.retain(|name, _| !name.starts_with("SubnetId."));
                params.entry("PolicyDocument".into()).or_insert_with(|| DEFAULT_POLICY.into());
            }
            "ModifyVpcEndpoint" if call.param("ResetPolicy") == "true" && self.knows(call.param("VpcEndpointId")) => {
                params.remove("ResetPolicy");
                params.insert("PolicyDocument".into(), DEFAULT_POLICY.into());
            }
            _ => {}
        }
        Ok(())
    }

    async fn after(&self, call: &Request<'_>, answer: &mut Answer) -> Done {
        match call.name {
            "CreateVpcEndpoint" if is_interface(call.param("VpcEndpointType")) => self.created(call, answer).await,
            "ModifyVpcEndpoint" if self.knows(call.param("VpcEndpointId")) => changed(call).await,
            "DescribeVpcEndpoints" => self.described(call, answer).await,
            _ => Ok(()),
        }
    }
}

impl InterfaceEndpoints {
    pub(in crate::support::proxy) fn set_pending(&self, pending: Lasts) {
        lock(&self.0).pending = pending;
    }

    pub(in crate::support::proxy) fn set_deleting(&self, deleting: Lasts) {
        lock(&self.0).deleting = deleting;
    }

    pub(in crate::support::proxy) fn fail(&self, nth: usize, code: &str, message: &str) {
        let mut state = lock(&self.0);
        let number = state.created + nth;
        state.failures.insert(number, (code.into(), message.into()));
    }

    /// The owners accept or reject all endpoints that wait for them.
    pub(in crate::support::proxy) fn answer_requests(&self, are_accepted: bool) {
        for life in lock(&self.0).known.values_mut().filter(|life| life.acceptance == Acceptance::Waiting) {
            life.acceptance = if are_accepted { Acceptance::Accepted } else { Acceptance::Rejected };
            life.changing = are_accepted.then(Begun::now);
        }
    }

    fn knows(&self, id: &str) -> bool {
        lock(&self.0).known.contains_key(id)
    }

    /// Whether the endpoint has the option that needs a gateway endpoint.
    pub(super) fn is_inbound_only(&self, id: &str) -> bool {
        lock(&self.0).known.get(id).is_some_and(|life| life.deleted.is_none() && life.settings.inbound_only)
    }

    /// Whether the endpoint has IPv6 addresses.
    pub(super) fn has_ipv6(&self, id: &str) -> bool {
        lock(&self.0).known.get(id).is_some_and(|life| life.settings.ip_address_type != "ipv4")
    }

    /// An endpoint was deleted in moto. On AWS, its deletion takes some time.
    pub(super) async fn deleted(&self, call: &Request<'_>, id: &str) -> Done {
        match lock(&self.0).known.get_mut(id) {
            Some(life) => life.deleted = Some(Begun::now()),
            None => return Ok(()),
        }
        call.repairs.endpoint_interfaces.update(call).await
    }

    async fn check_create(&self, call: &Request<'_>) -> Instead {
        let (name, vpc) = (call.param("ServiceName"), call.param("VpcId"));
        let Some(service) = Service::of(call, name).await? else {
            let text = format!("The Vpc Endpoint Service '{name}' does not exist");
            return Ok(Some(call.rejected("InvalidServiceName", &text)));
        };
        let requested = Requested {
            vpc,
            settings: &Settings::new(call, &service),
            subnets: vec![],
            groups: vec![],
            added_subnets: call.list("SubnetId"),
            removed_subnets: vec![],
            added_groups: call.list("SecurityGroupId"),
            removed_groups: vec![],
            is_waiting: service.acceptance_required,
            has_conflict: self.has_conflict(call, vpc, "", name).await?,
            service: &service,
        };
        rejection(call, &requested).await
    }

    /// Also begins the change, so that AWS rejects a further one.
    async fn check_change(&self, call: &Request<'_>) -> Instead {
        let id = call.param("VpcEndpointId");
        let found = call.ec2("DescribeVpcEndpoints", &[("VpcEndpointId.1", id)]).await?;
        let Some(endpoint) = found.ok().and_then(|found| found.items("vpcEndpointSet").first().cloned()) else {
            return Ok(None);
        };
        if !is_interface(endpoint.text_of("vpcEndpointType")) {
            return Ok(None);
        }
        self.add_unknown(call, &endpoint).await?;
        let life = lock(&self.0).known[id].clone();
        if is_deleted_in_moto(&endpoint, &life) {
            let text = format!("The Vpc Endpoint Id '{id}' does not exist");
            return Ok(Some(call.rejected("InvalidVpcEndpointId.NotFound", &text)));
        }
        if let Some((code, text)) = lock(&self.0).unchangeable(&life, id) {
            return Ok(Some(call.rejected(code, &text)));
        }
        let vpc = endpoint.text_of("vpcId");
        let settings = life.settings.changed(call, &life.service);
        let requested = Requested {
            vpc,
            settings: &settings,
            subnets: endpoint.items("subnetIdSet").iter().map(|it| it.text.as_str()).collect(),
            groups: endpoint.items("groupSet").iter().map(|it| it.text_of("groupId")).collect(),
            added_subnets: call.list("AddSubnetId"),
            removed_subnets: call.list("RemoveSubnetId"),
            added_groups: call.list("AddSecurityGroupId"),
            removed_groups: call.list("RemoveSecurityGroupId"),
            is_waiting: life.acceptance != Acceptance::Accepted,
            has_conflict: self.has_conflict(call, vpc, id, &life.service.name).await?,
            service: &life.service,
        };
        if let Some(rejected) = rejection(call, &requested).await? {
            return Ok(Some(rejected));
        }
        let mut state = lock(&self.0);
        // Another change may have begun in the meantime.
        if let Some((code, text)) = state.unchangeable(&state.known[id], id) {
            return Ok(Some(call.rejected(code, &text)));
        }
        let life = state.known.get_mut(id).ok_or("an endpoint is never forgotten")?;
        (life.settings, life.changing) = (settings, Some(Begun::now()));
        Ok(None)
    }

    /// An endpoint that a test has created in moto, not through the proxy.
    async fn add_unknown(&self, call: &Request<'_>, endpoint: &Element) -> Done {
        let id = endpoint.text_of("vpcEndpointId");
        if self.knows(id) {
            return Ok(());
        }
        let name = endpoint.text_of("serviceName");
        let service = Service::of(call, name).await?.ok_or_else(|| format!("no service {name}"))?;
        let settings = Settings {
            private_dns: endpoint.text_of("privateDnsEnabled") == "true",
            inbound_only: false,
            ip_address_type: "ipv4".into(),
            dns_record_ip_type: "ipv4".into(),
        };
        let life =
            Life { service, settings, acceptance: Acceptance::Accepted, changing: None, failure: None, deleted: None };
        lock(&self.0).known.insert(id.to_owned(), life);
        Ok(())
    }

    /// Whether the private DNS names of the service belong to another endpoint in the VPC. AWS removes them some time
    /// after the deletion of an endpoint.
    async fn has_conflict(&self, call: &Request<'_>, vpc: &str, id: &str, service: &str) -> Result<bool, String> {
        let found = call.describe("DescribeVpcEndpoints", &[("vpc-id", vpc), ("service-name", service)]).await?;
        let state = lock(&self.0);
        Ok(found.items("vpcEndpointSet").iter().any(|other| {
            let other_id = other.text_of("vpcEndpointId");
            let is_private = match state.known.get(other_id) {
                Some(life) if is_deleted_in_moto(other, life) => false,
                Some(life) => life.settings.private_dns && state.shown(life) != Some("deleted"),
                None => other.text_of("privateDnsEnabled") == "true" && other.text_of("state") != "deleted",
            };
            other_id != id && is_interface(other.text_of("vpcEndpointType")) && is_private
        }))
    }

    /// AWS returns a deleted endpoint only for some time.
    fn missing(&self, call: &Request<'_>) -> Instead {
        let state = lock(&self.0);
        let is_missing = |id: &&&str| state.known.get(**id).is_some_and(|life| state.shown(life) == Some("deleted"));
        let ids = call.list("VpcEndpointId");
        let missing = ids.iter().find(is_missing);
        let text = format!("The Vpc Endpoint Id '{}' does not exist", missing.unwrap_or(&""));
        call.reject_if(missing.is_some(), "InvalidVpcEndpointId.NotFound", &text)
    }

    async fn created(&self, call: &Request<'_>, answer: &mut Answer) -> Done {
        let shown = answer.root()?.child_mut("vpcEndpoint").ok_or("CreateVpcEndpoint returns no endpoint")?;
        let (id, vpc) = (shown.text_of("vpcEndpointId").to_owned(), call.param("VpcId"));
        let name = call.param("ServiceName");
        let service = Service::of(call, name).await?.ok_or_else(|| format!("no service {name}"))?;
        {
            let mut state = lock(&self.0);
            state.created += 1;
            let number = state.created;
            let failure = state.failures.remove(&number);
            let acceptance = if service.acceptance_required { Acceptance::Waiting } else { Acceptance::Accepted };
            let (settings, changing) = (Settings::new(call, &service), Some(Begun::now()));
            let life = Life { settings, service, acceptance, changing, failure, deleted: None };
            state.known.insert(id.clone(), life);
        }
        let mut params = vec![("VpcEndpointId".to_owned(), id.clone())];
        let subnets = call.list("SubnetId");
        params.extend((1..).zip(&subnets).map(|(n, it)| (format!("AddSubnetId.{n}"), (*it).to_owned())));
        if call.list("SecurityGroupId").is_empty() {
            let default =
                call.describe("DescribeSecurityGroups", &[("vpc-id", vpc), ("group-name", "default")]).await?;
            let default = default.items("securityGroupInfo").first().ok_or("a VPC has a default group")?;
            params.push(("AddSecurityGroupId.1".into(), default.text_of("groupId").to_owned()));
        }
        let params: Vec<(&str, &str)> = params.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
        call.describe("ModifyVpcEndpoint", &params).await?;
        let mut created = of_id(call, &id).await?;
        let groups: Vec<&str> = created.items("groupSet").iter().map(|it| it.text_of("groupId")).collect();
        let interfaces = &call.repairs.endpoint_interfaces;
        interfaces.create(call, &id, &subnets, &groups).await?;
        let interfaces = interfaces.present(call).await?;
        let state = lock(&self.0);
        complete(&mut created, &state.known[&id], &interfaces);
        created.set("state", state.shown(&state.known[&id]).unwrap_or("pending"));
        shown.children = created.children;
        Ok(())
    }

    /// Sets the current states and the properties that moto does not store.
    async fn described(&self, call: &Request<'_>, answer: &mut Answer) -> Done {
        if lock(&self.0).known.is_empty() {
            return Ok(());
        }
        let interfaces = call.repairs.endpoint_interfaces.present(call).await?;
        let mut state = lock(&self.0);
        let Some(set) = answer.root()?.child_mut("vpcEndpointSet") else { return Ok(()) };
        set.children.retain_mut(|endpoint| {
            let id = endpoint.text_of("vpcEndpointId").to_owned();
            let Some(life) = state.known.get(&id).filter(|life| !is_deleted_in_moto(endpoint, life)) else {
                return true;
            };
            let shown = state.shown(life);
            complete(endpoint, life, &interfaces);
            endpoint.set("state", shown.unwrap_or("available"));
            if let (Some("failed"), Some((code, message))) = (shown, &life.failure) {
                let mut error = Element::leaf("lastError", "");
                error.set("code", code);
                error.set("message", message);
                endpoint.children.push(error);
            }
            state.known.entry(id).and_modify(Life::count_answer);
            shown != Some("deleted")
        });
        Ok(())
    }
}

impl State {
    /// The state of the endpoint; `None` if it is that in moto.
    fn shown(&self, life: &Life) -> Option<&'static str> {
        match (&life.deleted, &life.changing) {
            (Some(deleted), _) if deleted.goes_on(self.deleting) => Some("deleting"),
            (Some(_), _) => Some("deleted"),
            _ if life.acceptance == Acceptance::Waiting => Some("pendingAcceptance"),
            (None, Some(changing)) if changing.goes_on(self.pending) => Some("pending"),
            _ if life.acceptance == Acceptance::Rejected => Some("rejected"),
            _ => life.failure.as_ref().map(|_| "failed"),
        }
    }

    /// Why AWS does not change the endpoint now. The first answer is quoted in
    /// hashicorp/terraform-provider-aws#42884; the second one is not known.
    fn unchangeable(&self, life: &Life, id: &str) -> Option<(&'static str, String)> {
        match self.shown(life) {
            Some("pending") => Some(("OperationInProgress", "VpcEndpoint modify operation in progress".into())),
            Some("deleted") => {
                Some(("InvalidVpcEndpointId.NotFound", format!("The Vpc Endpoint Id '{id}' does not exist")))
            }
            Some(state @ ("deleting" | "failed" | "rejected")) => {
                Some(("IncorrectState", format!("The VPC endpoint {id} is in state {state}.")))
            }
            _ => None,
        }
    }
}

impl Life {
    /// Counts an answer that shows the current state.
    fn count_answer(&mut self) {
        if let Some(current) = self.deleted.as_mut().or(self.changing.as_mut()) {
            current.shown();
        }
    }
}

/// On AWS, the network interfaces follow the subnets and the groups of the endpoint.
async fn changed(call: &Request<'_>) -> Done {
    let id = call.param("VpcEndpointId");
    let endpoint = of_id(call, id).await?;
    let groups: Vec<&str> = endpoint.items("groupSet").iter().map(|it| it.text_of("groupId")).collect();
    let interfaces = &call.repairs.endpoint_interfaces;
    interfaces.update(call).await?;
    interfaces.set_groups(call, id, &groups).await?;
    interfaces.create(call, id, &call.list("AddSubnetId"), &groups).await
}

async fn of_id(call: &Request<'_>, id: &str) -> Result<Element, String> {
    let found = call.describe("DescribeVpcEndpoints", &[("VpcEndpointId.1", id)]).await?;
    found.items("vpcEndpointSet").first().cloned().ok_or_else(|| format!("{id} is missing"))
}

/// Whether a test has deleted the endpoint in moto, not through the proxy.
fn is_deleted_in_moto(endpoint: &Element, life: &Life) -> bool {
    endpoint.text_of("state") == "deleted" && life.deleted.is_none()
}

fn is_interface(kind: &str) -> bool {
    kind == "Interface"
}

/// Sets the members that moto lacks, except the state.
fn complete(endpoint: &mut Element, life: &Life, interfaces: &[Interface]) {
    let id = endpoint.text_of("vpcEndpointId").to_owned();
    let own: Vec<&Interface> = interfaces.iter().filter(|it| it.endpoint == id).collect();
    let settings = &life.settings;
    endpoint.set("privateDnsEnabled", if settings.private_dns { "true" } else { "false" });
    endpoint.set("ipAddressType", &settings.ip_address_type);
    endpoint.set("requesterManaged", "false");
    endpoint.set("serviceRegion", &life.service.region);
    let replaced = ["dnsOptions", "dnsEntrySet", "networkInterfaceIdSet"];
    endpoint.children.retain(|member| !replaced.contains(&member.name.as_str()));
    let mut options = Element::leaf("dnsOptions", "");
    options.set("dnsRecordIpType", &settings.dns_record_ip_type);
    if life.service.has_gateway {
        let name = INBOUND_ONLY.replacen('P', "p", 1);
        options.set(&name, if settings.inbound_only { "true" } else { "false" });
    }
    let mut ids = Element::leaf("networkInterfaceIdSet", "");
    ids.children = own.iter().map(|it| Element::leaf("item", &it.id)).collect();
    let mut entries = Element::leaf("dnsEntrySet", "");
    // A part of the ID replaces the random part of AWS's names. Those of S3 have a wildcard, for buckets.
    let star = if life.service.has_gateway { "*." } else { "" };
    let name = format!("{star}{id}-{}", &id[id.len() - 8..]);
    let base = &life.service.base_name;
    if !own.is_empty() {
        entries.children.push(entry(&format!("{name}.{base}"), ZONE_OF_ENDPOINTS));
        entries.children.extend(own.iter().map(|it| entry(&format!("{name}-{}.{base}", it.zone), ZONE_OF_ENDPOINTS)));
        let private = life.service.private_names.iter().filter(|_| settings.private_dns);
        entries.children.extend(private.map(|it| entry(it, ZONE_OF_PRIVATE_NAMES)));
    }
    endpoint.children.extend([options, ids, entries]);
}

fn entry(name: &str, zone: &str) -> Element {
    let mut entry = Element::leaf("item", "");
    entry.set("dnsName", name);
    entry.set("hostedZoneId", zone);
    entry
}
