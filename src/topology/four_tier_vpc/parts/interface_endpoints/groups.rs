//! The security groups of interface endpoints: one that they share, and one for each endpoint with rules of its own.

use super::{GROUPS, InterfaceEndpoint, Specs, entries, follows};
use crate::model::keys::network as keys;
use crate::model::{Input, Key, Ref, RuleSource, SecurityGroup, SecurityGroupRule, Spec, Tags};
use crate::topology::four_tier_vpc::blueprint::Draft;
use crate::topology::four_tier_vpc::{canonical, ranges, vpc};

/// Adds them.
pub(super) fn draft(draft: &mut Draft<'_>, specs: &Specs) {
    let existing = draft.context.existing;
    let has_ipv6 = |name: &String| {
        specs.get(name).map_or(Input::Known(false), |spec| {
            let key = keys::interface_endpoint(name, &spec.service_name, &spec.settings.service_region);
            follows::has_ipv6(existing, &key, spec)
        })
    };
    let all: Vec<(&String, &InterfaceEndpoint)> = entries(draft.context.config).collect();
    let shared = || all.iter().filter(|(_, it)| it.shares_group());
    if let Some((_, first)) = shared().next() {
        let with_ipv6: Vec<Input<bool>> = shared().map(|(name, _)| has_ipv6(name)).collect();
        let with_ipv6 = match () {
            () if with_ipv6.contains(&Input::Known(true)) => Input::Known(true),
            () if with_ipv6.contains(&Input::Unknown) => Input::Unknown,
            () => Input::Known(false),
        };
        add(draft, &Key::new(keys::ENDPOINTS_GROUP), (first, with_ipv6), false);
    }
    for (name, entry) in all.iter().filter(|(_, entry)| entry.has_own_group()) {
        add(draft, &Key::new(GROUPS.slot(name)), (entry, has_ipv6(name)), true);
    }
}

/// The groups of an endpoint, sorted.
pub(super) fn of(name: &str, entry: &InterfaceEndpoint) -> Input<Vec<Ref>> {
    let managed = |slot: String| Input::Known(vec![Ref::Key(Key::new(slot))]);
    if entry.shares_group() {
        return managed(keys::ENDPOINTS_GROUP.to_string());
    }
    if entry.has_own_group() {
        return managed(GROUPS.slot(name));
    }
    let given = entry.security_group_ids.known().cloned().flatten();
    let ids: Option<Vec<Ref>> =
        given.and_then(|ids| ids.into_iter().map(|id| Some(Ref::Id(id.known()?.clone()))).collect());
    ids.map_or(Input::Unknown, |mut ids| {
        ids.sort();
        ids.dedup();
        Input::Known(ids)
    })
}

fn add(draft: &mut Draft<'_>, key: &Key, (entry, has_ipv6): (&InterfaceEndpoint, Input<bool>), is_own: bool) {
    let own: &[&Tags] = if is_own { &[&entry.settings.tags] } else { &[] };
    let spec = SecurityGroup {
        vpc: draft.vpc.clone(),
        ingress: rules(draft, entry, &has_ipv6).map_or(Input::Unknown, Input::Known),
        egress: Input::Known(Vec::new()),
        tags: draft.tags(key, own),
    };
    draft.add(key, Spec::SecurityGroup(spec));
}

/// The rules for an endpoint: from the VPC and from its other blocks. `None` while one is unknown.
fn rules(draft: &Draft<'_>, entry: &InterfaceEndpoint, has_ipv6: &Input<bool>) -> Option<Vec<SecurityGroupRule>> {
    let (config, existing) = (draft.context.config, draft.context.existing);
    let ranges = [vpc::range(config, existing)?].into_iter().chain(ranges::secondary(config)?);
    let mut sources: Vec<RuleSource> = ranges.map(|range| RuleSource::CidrIpv4(range.to_string())).collect();
    if *has_ipv6.known()? {
        let range = existing.at(keys::IPV6_CIDR_BLOCK)?.learned.get("ipv6_cidr_block")?;
        sources.push(RuleSource::CidrIpv6(canonical(range)));
    }
    for block in entry.allowed_cidr_blocks.known()? {
        let block = canonical(block.known()?);
        sources.push(if block.contains(':') { RuleSource::CidrIpv6(block) } else { RuleSource::CidrIpv4(block) });
    }
    let mut rules = Vec::new();
    for port in entry.allowed_ports.known()? {
        let port = *port.known()?;
        rules.extend(sources.iter().map(|source| SecurityGroupRule {
            protocol: "tcp".to_string(),
            from_port: Some(port),
            to_port: Some(port),
            source: source.clone(),
            description: None,
        }));
    }
    rules.sort();
    rules.dedup();
    Some(rules)
}
