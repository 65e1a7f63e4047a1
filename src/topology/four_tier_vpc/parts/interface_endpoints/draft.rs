//! The interface endpoints that a configuration requires, and what the plan says about them.

use std::collections::BTreeMap;

use super::{Answer, ENTRIES, InterfaceEndpoint, Specs, entries, follows, groups};
use crate::model::keys::network as keys;
use crate::model::{
    self, Claim, EndpointOffer, Entry, Input, Inventory, Key, Object, Ref, Spec, Subnet, VpcEndpoint, is_same_policy,
    service_label,
};
use crate::plugin::{AttributePath, Problem, nearest};
use crate::topology::four_tier_vpc::blueprint::Draft;
use crate::topology::four_tier_vpc::canonical_json;
use crate::topology::four_tier_vpc::config::Config;
use crate::topology::four_tier_vpc::ipv6::tiers;
use crate::topology::in_existing_form;

/// The service of an endpoint, as far as it is known.
struct Service<'a> {
    /// The full name.
    name: Input<String>,
    /// What AWS returned of it in this plan.
    looked_up: Option<&'a EndpointOffer>,
    /// The endpoint that exists for it in the same slot.
    existing: Option<&'a model::InterfaceEndpoint>,
}

/// A subnet of the tier, with the name of its AZ.
struct Place {
    zone: String,
    subnet: Key,
}

/// Problems that can be found without AWS.
pub(super) fn problems(config: &Config, entry: &InterfaceEndpoint, path: &AttributePath) -> Vec<Problem> {
    let mut problems = Vec::new();
    let wants_names = entry.private_dns_enabled == Input::Known(Some(true));
    for (input, value) in
        [("enable_dns_support", &config.enable_dns_support), ("enable_dns_hostnames", &config.enable_dns_hostnames)]
    {
        if wants_names && *value == Input::Known(false) {
            problems.push(Problem::new(
                path.attribute("private_dns_enabled"),
                format!("private_dns_enabled is true, but {input} is false."),
                format!("Set {input} to true, or private_dns_enabled to false."),
            ));
        }
    }
    if entry.private_dns_only_for_inbound_resolver_endpoint == Input::Known(Some(true))
        && entry.private_dns_enabled == Input::Known(Some(false))
    {
        problems.push(Problem::new(
            path.attribute("private_dns_only_for_inbound_resolver_endpoint"),
            "private_dns_only_for_inbound_resolver_endpoint is true, but private_dns_enabled is false.",
            "Remove one of the two.",
        ));
    }
    problems.extend(address_types(entry, path));
    if let Some(tier) = entry.tier() {
        if *config.creates(tier) == Input::Known(false) {
            let message = format!("The tier {} has no subnets, because its switch is off.", tier.slot());
            let hint = format!("Set create_{}_subnets to true, or choose another tier.", tier.slot());
            problems.push(Problem::new(path.attribute("subnet_tier"), message, hint));
        }
        if entry.has_ipv6() && !entry.is_ipv6_only() && !tiers::may_have_blocks(config, tier) {
            let kind = entry.settings.ip_address_type.known().cloned().flatten().unwrap_or_default();
            let message = format!("ip_address_type is {kind:?}, but the tier {} has no IPv6 addresses.", tier.slot());
            problems.push(Problem::new(path.attribute("ip_address_type"), message, "Set it to \"ipv4\"."));
        }
    }
    problems
}

/// The problems of addresses and records that AWS never accepts.
fn address_types(entry: &InterfaceEndpoint, path: &AttributePath) -> Option<Problem> {
    let Input::Known(Some(addresses)) = &entry.settings.ip_address_type else { return None };
    if entry.is_ipv6_only() {
        let message = "ip_address_type is \"ipv6\", which AWS accepts only in IPv6-only subnets. No tier has these.";
        return Some(Problem::new(path.attribute("ip_address_type"), message, "Set it to \"dualstack\" or \"ipv4\"."));
    }
    let Input::Known(Some(records)) = &entry.settings.dns_record_ip_type else { return None };
    let message = format!("dns_record_ip_type is {records:?}, but ip_address_type is {addresses:?}.");
    let hint = "Set dns_record_ip_type to \"ipv4\" or \"service-defined\", or ip_address_type to \"dualstack\".";
    let fits = addresses == "dualstack" || records == addresses || records == "service-defined";
    (!fits).then(|| Problem::new(path.attribute("dns_record_ip_type"), message, hint))
}

/// The specs of the endpoints by the names of their entries. Adds the problems of the others.
pub(super) fn specs(draft: &mut Draft<'_>) -> Specs {
    let mut specs = Specs::new();
    for (name, entry) in entries(draft.context.config) {
        match spec(draft, name, entry) {
            Ok(spec) => {
                let key = keys::interface_endpoint(name, &spec.service_name, &spec.settings.service_region);
                let moved = follows::moved_block(&ENTRIES.path(name), &key, draft);
                draft.problems.extend(moved);
                specs.insert(name.clone(), spec);
            }
            Err(problem) => draft.problems.push(problem),
        }
    }
    specs
}

/// Adds the endpoints, with problems and warnings.
pub(super) fn draft(draft: &mut Draft<'_>, mut specs: Specs) {
    let mut with_names: BTreeMap<String, &str> = BTreeMap::new();
    let mut warnings = Vec::new();
    for (name, entry) in entries(draft.context.config) {
        let Some(spec) = specs.remove(name) else { continue };
        let path = ENTRIES.path(name);
        if let (Input::Known(service), Input::Known(true)) = (&spec.service_name, &spec.private_dns_enabled)
            && let Some(other) = with_names.insert(service.clone(), name)
        {
            let message = format!("{other:?} and {name:?} would have the same private DNS names, those of {service}.");
            let hint = "Set private_dns_enabled to false in one of them, or remove it.";
            draft.problems.push(Problem::new(path.attribute("private_dns_enabled"), message, hint));
        }
        let key = keys::interface_endpoint(name, &spec.service_name, &spec.settings.service_region);
        warnings.extend(of_guardduty(&path, &spec));
        warnings.extend(gaps(&path, &key, &spec, (draft.context.existing, &draft.objects)));
        warnings.extend(follows::warnings(&path, &key, (entry, &spec), draft.context));
        draft.add(&key, Spec::InterfaceEndpoint(spec));
    }
    draft.warnings.extend(ENTRIES.merged(warnings));
}

fn spec(draft: &mut Draft<'_>, name: &str, entry: &InterfaceEndpoint) -> Result<model::InterfaceEndpoint, Problem> {
    let path = ENTRIES.path(name);
    let context = draft.context;
    let service = Service::of(draft, name, entry, &path)?;
    service.check(entry, &path)?;
    let (private_dns_enabled, inbound_only) = service.names(context.config, entry, &path)?;
    let gateway_endpoint = match inbound_only {
        Input::Known(Some(true)) => Some(gateway_endpoint(draft, &service, &path)?),
        _ => None,
    };
    let places = places(draft, entry);
    let (subnets, warning) = service.subnets(entry, &places, &path)?;
    draft.warnings.extend(warning);
    let key = keys::interface_endpoint(name, &service.name, &entry.settings.service_region);
    let existing = context.existing.at(&key.slot);
    let of_endpoint: fn(&Spec) -> Option<&String> =
        |spec| model::InterfaceEndpoint::of(spec)?.settings.policy.known()?.as_ref();
    let in_form = |text: String| in_existing_form(canonical_json(&text), existing, of_endpoint, is_same_policy);
    let mut settings = entry.settings.clone();
    settings.policy = settings.policy.map(|policy| policy.map(in_form));
    settings.ip_address_type = follows::address_type(context, entry, &key);
    settings.tags = draft.tags(&key, &[&entry.settings.tags]);
    Ok(model::InterfaceEndpoint {
        vpc: draft.vpc.clone(),
        offer: service.offer().cloned(),
        service_name: service.name,
        subnets,
        security_groups: groups::of(name, entry),
        private_dns_enabled,
        private_dns_only_for_inbound_resolver_endpoint: inbound_only,
        gateway_endpoint,
        settings,
    })
}

impl<'a> Service<'a> {
    /// The service of an entry. An endpoint keeps the full name that it was created with.
    fn of(
        draft: &Draft<'a>,
        name: &str,
        entry: &InterfaceEndpoint,
        path: &AttributePath,
    ) -> Result<Service<'a>, Problem> {
        let context = draft.context;
        let wanted = entry.service_of(name);
        let Input::Known(wanted) = wanted else {
            return Ok(Service { name: Input::Unknown, looked_up: None, existing: None });
        };
        let region = &context.scope.region;
        let existing =
            context.existing.at(&ENTRIES.slot(name)).and_then(|it| model::InterfaceEndpoint::of(&it.applied));
        let existing = existing.filter(|it| {
            let of_wanted = |full: &String| *full == wanted || service_label(full, region) == Some(wanted.as_str());
            it.service_name.known().is_some_and(of_wanted)
                && it.settings.service_region == entry.settings.service_region
        });
        let answer = context.facts.endpoint_services.get(&wanted);
        let looked_up = match answer {
            Some(Answer::There(offer)) => Some(offer),
            _ => None,
        };
        let is_full_name = matches!(entry.service_name, Input::Known(Some(_)));
        let name = match (looked_up, existing, is_full_name, answer) {
            (Some(offer), ..) => Input::Known(offer.name.clone()),
            (None, Some(existing), ..) => existing.service_name.clone(),
            (None, None, true, Some(Answer::Missing))
                if model::InterfaceEndpoint::is_of_aws(&wanted)
                    && entry.settings.service_region == Input::Known(None) =>
            {
                let all: Vec<&str> = context.facts.all_services.iter().map(String::as_str).collect();
                return Err(missing(region, &wanted, &all, path));
            }
            // A third party may show a service to other accounts only.
            (None, None, true, _) => Input::Known(wanted),
            (None, None, false, None) => Input::Unknown,
            (None, None, false, Some(_)) => {
                let message = format!("The Region {region} offers no interface endpoint for the service {wanted:?}.");
                let all = context.facts.all_services.iter();
                let labels: Vec<&str> = all.filter_map(|name| service_label(name, region)).collect();
                let hint = format!(
                    "{}Use a label from the output of `aws ec2 describe-vpc-endpoint-services`, the end of a full name, \
                     or set service_name to a full name.",
                    meant(&wanted, &labels)
                );
                let attribute =
                    if entry.service == Input::Known(None) { path.clone() } else { path.attribute("service") };
                return Err(Problem::new(attribute, message, hint));
            }
        };
        Ok(Service { name, looked_up, existing })
    }

    /// What AWS offers, as far as this plan or an earlier one has looked it up.
    fn offer(&self) -> Option<&EndpointOffer> {
        self.looked_up.or_else(|| self.existing?.offer.as_ref())
    }

    fn named(&self) -> &str {
        self.name.known().map_or("the service", String::as_str)
    }

    /// Refuses what the service does not support.
    fn check(&self, entry: &InterfaceEndpoint, path: &AttributePath) -> Result<(), Problem> {
        let Some(offer) = self.offer() else { return Ok(()) };
        if !offer.accepts_policy && !matches!(entry.settings.policy, Input::Known(None)) {
            let message = format!("{} accepts no policy.", offer.name);
            return Err(Problem::new(path.attribute("policy"), message, "Remove the policy."));
        }
        if let Input::Known(Some(kind)) = &entry.settings.ip_address_type
            && !offer.address_types.is_empty()
            && !offer.address_types.contains(kind)
            // An endpoint with both families is possible if the service has both of them.
            && !(kind == "dualstack" && ["ipv4", "ipv6"].iter().all(|it| offer.address_types.iter().any(|has| has == it)))
        {
            let types = offer.address_types.join(", ");
            let message = format!("ip_address_type is {kind:?}, but {} supports {types}.", offer.name);
            return Err(Problem::new(path.attribute("ip_address_type"), message, "Set it to a type from this list."));
        }
        Ok(())
    }

    /// Whether the endpoint has the private names of the service, and whether only for queries from outside the VPC.
    /// What other inputs force is not taken from the existing endpoint, so that it returns with them.
    fn names(
        &self,
        config: &Config,
        entry: &InterfaceEndpoint,
        path: &AttributePath,
    ) -> Result<(Input<bool>, Input<Option<bool>>), Problem> {
        let has_names = self.offer().is_none_or(|offer| offer.has_private_dns);
        if entry.private_dns_enabled == Input::Known(Some(true)) && !has_names {
            let message = format!("private_dns_enabled is true, but {} has no private DNS names.", self.named());
            return Err(Problem::new(path.attribute("private_dns_enabled"), message, "Remove private_dns_enabled."));
        }
        // What AWS does not accept is not the default.
        let default = || match follows::may_have_names(config) {
            Input::Known(true) => self.name.clone().map(|name| model::InterfaceEndpoint::is_of_aws(&name) && has_names),
            no_names => no_names,
        };
        let enabled = match &entry.private_dns_enabled {
            Input::Known(Some(enabled)) => Input::Known(*enabled),
            Input::Known(None) => default(),
            Input::Unknown => Input::Unknown,
        };
        let wanted = &entry.private_dns_only_for_inbound_resolver_endpoint;
        let has_gateway = match (self.offer(), self.existing) {
            (Some(offer), _) => offer.has_gateway,
            (None, Some(existing)) => existing.private_dns_only_for_inbound_resolver_endpoint != Input::Known(None),
            (None, None) => false,
        };
        if self.offer().is_some() && !has_gateway && matches!(wanted, Input::Known(Some(_))) {
            let message = format!("{} has no gateway endpoints, which this argument requires.", self.named());
            let path = path.attribute("private_dns_only_for_inbound_resolver_endpoint");
            return Err(Problem::new(path, message, "Remove it."));
        }
        let inbound_only = match (&enabled, wanted) {
            (Input::Known(false), _) => Input::Known(None),
            _ if !has_gateway => Input::Known(None),
            (_, Input::Known(wanted)) => Input::Known(Some(wanted.unwrap_or(true))),
            (_, Input::Unknown) => Input::Unknown,
        };
        Ok((enabled, inbound_only))
    }

    /// The subnets in the chosen AZs, or in all of the tier in which the service is offered, with the warning that
    /// there are others.
    fn subnets(
        &self,
        entry: &InterfaceEndpoint,
        places: &[Place],
        path: &AttributePath,
    ) -> Result<(Vec<Ref>, Option<Problem>), Problem> {
        let offered_in = self.offer().map(|offer| offer.availability_zones.as_slice());
        let list = |zones: &mut dyn Iterator<Item = &str>| zones.collect::<Vec<_>>().join(", ");
        let is_offered = |zone: &str| offered_in.is_none_or(|zones| zones.iter().any(|it| it == zone));
        let zones = || places.iter().map(|place| place.zone.as_str());
        let offered = list(&mut offered_in.unwrap_or_default().iter().map(String::as_str));
        let chosen = entry.chosen_zones().flatten();
        let at = path.attribute("availability_zones");
        for zone in chosen.iter().flatten() {
            if !zones().any(|it| it == *zone) {
                let message =
                    format!("The tier {} has no subnet in {zone}. It has some in {}.", tier(entry), list(&mut zones()));
                return Err(Problem::new(at, message, "Use AZs from this list."));
            }
            if !is_offered(zone) {
                let message = format!("AWS does not offer {} in {zone}. It does in {offered}.", self.named());
                return Err(Problem::new(at, message, "Use AZs from this list."));
            }
        }
        let is_used = |place: &&Place| match &chosen {
            Some(chosen) => chosen.contains(&place.zone.as_str()),
            None => is_offered(&place.zone),
        };
        let mut subnets: Vec<Ref> = places.iter().filter(is_used).map(|it| Ref::Key(it.subnet.clone())).collect();
        subnets.sort();
        if subnets.is_empty() {
            let message = format!(
                "AWS offers {} in {offered}, but the tier {} has subnets in {}.",
                self.named(),
                tier(entry),
                list(&mut zones())
            );
            return Err(Problem::new(path.clone(), message, "Remove the entry, or add one of these AZs to the tier."));
        }
        let missing = list(&mut zones().filter(|zone| !is_offered(zone)));
        let is_new = self.looked_up.is_some() && chosen.is_none() && !missing.is_empty();
        let warning = is_new.then(|| {
            let message = format!("{} is not available in {missing}: the endpoint has no subnet there.", self.named());
            Problem::new(path.clone(), message, "Set availability_zones to the other AZs to confirm this.")
        });
        Ok((subnets, warning))
    }
}

/// The name that was probably meant.
fn meant(wanted: &str, all: &[&str]) -> String {
    nearest(wanted, all).map(|name| format!("Did you mean {name:?}? ")).unwrap_or_default()
}

/// The problem of a full name that AWS does not list in the Region.
fn missing(region: &str, wanted: &str, all: &[&str], path: &AttributePath) -> Problem {
    let message = format!("The Region {region} offers no interface endpoint for the service {wanted:?}.");
    let hint = format!(
        "{}Use a name from the output of `aws ec2 describe-vpc-endpoint-services`. For a service of another Region, set \
         service_region too.",
        meant(wanted, all)
    );
    Problem::new(path.attribute("service_name"), message, hint)
}

fn tier(entry: &InterfaceEndpoint) -> &'static str {
    entry.tier().map_or("", model::Tier::slot)
}

/// The subnets of the tier of an entry.
fn places(draft: &Draft<'_>, entry: &InterfaceEndpoint) -> Vec<Place> {
    let of_tier = draft.objects.iter().filter_map(|object| {
        let subnet = Subnet::of(&object.spec).filter(|subnet| Some(subnet.tier) == entry.tier())?;
        Some(Place { zone: subnet.availability_zone.clone(), subnet: object.key.clone() })
    });
    of_tier.collect()
}

/// The gateway endpoint for the same service, which AWS requires if only queries from outside resolve to the endpoint.
fn gateway_endpoint(draft: &Draft<'_>, service: &Service<'_>, path: &AttributePath) -> Result<Key, Problem> {
    let has_service = |spec: &Spec| VpcEndpoint::of(spec).is_some_and(|it| it.service_name == service.name);
    let found = draft.objects.iter().find(|object| has_service(&object.spec));
    found.map(|object| object.key.clone()).ok_or_else(|| {
        let message = format!(
            "AWS requires the gateway endpoint for {} while only queries from outside the VPC resolve to this endpoint, \
             but create_vpc_endpoints is false.",
            service.named()
        );
        Problem::new(
            path.attribute("private_dns_only_for_inbound_resolver_endpoint"),
            message,
            "Set create_vpc_endpoints to true, or private_dns_only_for_inbound_resolver_endpoint to false.",
        )
    })
}

/// The warning that GuardDuty creates such an endpoint by itself.
fn of_guardduty(path: &AttributePath, spec: &model::InterfaceEndpoint) -> Option<Problem> {
    let service = spec.service_name.known().filter(|name| name.ends_with(".guardduty-data"))?;
    let message = format!(
        "GuardDuty may create an endpoint for {service} by itself. AWS rejects the second one with the same private DNS \
         names."
    );
    let hint = "Turn off the automated agent configuration of GuardDuty, or remove the entry.";
    (spec.private_dns_enabled != Input::Known(false)).then(|| Problem::new(path.clone(), message, hint))
}

/// The warnings that a service is not reachable for some time.
fn gaps(
    path: &AttributePath,
    key: &Key,
    spec: &model::InterfaceEndpoint,
    (existing, objects): (&Inventory, &[Object]),
) -> Vec<Problem> {
    let mut gaps = Vec::new();
    let claims = Spec::InterfaceEndpoint(spec.clone()).claims();
    let has_names = |entry: &&Entry| {
        !entry.has_failed() && entry.key != *key && Claim::any_collide(&entry.applied.claims(), &claims)
    };
    if let Some(old) = existing.current().find(has_names) {
        let message = format!(
            "{} ({}) is deleted before its successor is created, because AWS rejects two endpoints with the same private \
             DNS names. Until then, the names of {} resolve to public addresses, which may not be reachable.",
            old.key.slot,
            old.id,
            spec.service_name.known().map_or("the service", String::as_str)
        );
        gaps.push(Problem::new(path.clone(), message, "Apply when nothing depends on it."));
    }
    let before = existing.at(&key.slot).filter(|entry| entry.key == *key);
    let Some(before) = before.and_then(|it| model::InterfaceEndpoint::of(&it.applied)) else { return gaps };
    let left: Vec<&Ref> = before.subnets.iter().filter(|it| !spec.subnets.contains(it)).collect();
    let is_moved = !left.is_empty() && spec.subnets.iter().any(|it| !before.subnets.contains(it));
    if is_moved {
        let names: Vec<String> = left.iter().map(|it| it.named()).collect();
        // New subnets may need the addresses of those that the endpoint leaves, which it then leaves together.
        let is_needed = |subnet: &&Ref| {
            let entry = existing.current().find(|entry| matches!(subnet, Ref::Key(key) if entry.key == *key));
            let collides = |entry: &Entry, object: &Object| {
                object.key != entry.key && Claim::any_collide(&entry.applied.claims(), &object.spec.claims())
            };
            entry.is_some_and(|entry| objects.iter().any(|object| collides(entry, object)))
        };
        let at_once = left.iter().all(is_needed);
        let (how, all) = match (left.len() == before.subnets.len(), left.len()) {
            (true, 1) => ("", " It is not reachable at all until then."),
            (true, _) if at_once => ("", " It is not reachable at all until then."),
            (_, 1) => ("", ""),
            _ => (", one AZ after the other", ""),
        };
        let message = format!(
            "The endpoint leaves {} before it gets another subnet there{how}, because AWS rejects two subnets in one AZ. \
             Its addresses there do not answer until then, for about a minute.{all}",
            names.join(", ")
        );
        gaps.push(Problem::new(path.clone(), message, "Apply when nothing depends on it."));
    }
    gaps
}
