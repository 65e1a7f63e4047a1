//! The rules of the default security group.

mod rule;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

use super::rule_maps::{self, RuleEntry, RuleMap};
use super::*;
use crate::model::{self, Facts, Finding, FoundSecurityGroup, Outside, RuleSource};
use crate::topology::four_tier_vpc::references;

pub use rule::SecurityGroupRule;

/// The switch of the part.
const SWITCH: &str = "enable_default_security_group";
/// The input of a group without rules. Its maps of rules have no effect then, and stay as they are.
const RESTRICTED: &str = "restrict_default_security_group";

/// The output of the part, which is also the name of the property of the VPC.
const OUTPUT: &str = "default_security_group_id";

/// The inputs with the rules of each direction.
const INGRESS: &str = "default_security_group_ingress_rules";
const EGRESS: &str = "default_security_group_egress_rules";

/// AWS's default quota of rules per direction of a security group, for each of IPv4 and IPv6.
const MOST_RULES: usize = 60;

/// The rules of one direction in the form of AWS; `None` if they are not managed.
type Rules = Input<Option<Vec<model::SecurityGroupRule>>>;

/// The default security group.
pub(in super::super) struct DefaultSecurityGroup;

impl Part for DefaultSecurityGroup {
    fn is_wanted(&self, config: &Config) -> Input<bool> {
        config.enable_default_security_group.clone()
    }

    fn problems(&self, config: &Config) -> Vec<Problem> {
        let mut problems = Problems::default();
        for (name, rules) in maps(config) {
            for (key, rule) in rules.known().into_iter().flatten() {
                if let Input::Known(rule) = rule {
                    problems.security_group_rule(&AttributePath::new(name).key(key), rule);
                }
            }
        }
        problems.0.extend(descriptions(config));
        if config.restrict_default_security_group == Input::Known(true)
            && config.enable_default_security_group == Input::Known(false)
        {
            problems.add(
                AttributePath::new(RESTRICTED),
                "restrict_default_security_group is true, but enable_default_security_group is false, so the default \
                 security group is not managed.",
                "Set enable_default_security_group to true, or remove restrict_default_security_group.",
            );
        }
        problems.0
    }

    /// The number of rules, their revocation, and rules that stay although the configuration no longer has them.
    fn warnings(&self, context: &Context<'_, Config>) -> Vec<Problem> {
        let config = context.config;
        let has_rules = config.restrict_default_security_group == Input::Known(false);
        match config.enable_default_security_group {
            Input::Known(true) if has_rules => {
                let all = maps(config).into_iter();
                let too_many = all.clone().filter_map(|(name, rules)| too_many(name, rules, context.facts));
                let left = all.enumerate().filter_map(|(at, (name, rules))| left(name, rules, at, context.existing));
                too_many.chain(left).collect()
            }
            Input::Known(false) => released(context.existing).into_iter().collect(),
            _ => Vec::new(),
        }
    }

    fn unused(&self, config: &Config, default: &Config) -> Vec<Unused> {
        let (enable, restrict) = (&config.enable_default_security_group, &config.restrict_default_security_group);
        let mut unused = while_off(SWITCH, enable, false, maps(config), maps(default));
        unused.extend(while_off(RESTRICTED, restrict, true, maps(config), maps(default)));
        unused
    }

    /// Prefix lists, and groups of this account.
    fn references(&self, config: &Config, scope: &Scope) -> Vec<Reference> {
        let mut all = Vec::new();
        for (map, rules) in maps(config) {
            for (name, rule) in rules.known().into_iter().flatten() {
                let Input::Known(rule) = rule else { continue };
                let path = AttributePath::new(map).key(name);
                references::each(
                    &mut all,
                    &path.attribute("prefix_list_ids"),
                    &rule.prefix_list_ids,
                    Outside::PrefixList,
                );
                for (index, group) in rule.security_groups.known().into_iter().flatten().enumerate() {
                    // A group of another account cannot be read.
                    let id = match group.known().map(|group| group.split_once('/').ok_or(group)) {
                        Some(Ok((account, id))) if scope.account.as_deref() == Some(account) => id.to_string(),
                        Some(Err(id)) => id.clone(),
                        _ => continue,
                    };
                    all.push(Reference::new(
                        Outside::SecurityGroup(id),
                        path.attribute("security_groups").index(index),
                    ));
                }
            }
        }
        all
    }

    /// Rules whose descriptions became known only during the apply have not been validated.
    fn draft(&self, draft: &mut Draft<'_>, built: &Built<'_>) {
        let config = draft.context.config;
        let key = keys::default_security_group();
        let [ingress, egress] = maps(config).map(|(_, rules)| match config.restrict_default_security_group {
            Input::Known(false) => rule::rules(rules),
            Input::Known(true) => Input::Known(Some(Vec::new())),
            Input::Unknown => Input::Unknown,
        });
        let applied = draft.context.existing.at(&key.slot).and_then(|it| model::DefaultSecurityGroup::of(&it.applied));
        let [set_ingress, set_egress] = applied.map(model::DefaultSecurityGroup::set_rules).unwrap_or_default();
        let left = |rules: &Rules, set: Vec<_>| if *rules == Input::Known(None) { set } else { Vec::new() };
        let spec = model::DefaultSecurityGroup {
            vpc: draft.vpc.clone(),
            left_ingress: left(&ingress, set_ingress),
            left_egress: left(&egress, set_egress),
            ingress,
            egress,
            tags: draft.tags(&key, &[&config.security_group_tags]),
        };
        draft.problems.extend(descriptions(config));
        draft.add_after(&key, Spec::DefaultSecurityGroup(spec), built.ipv6_range);
    }

    fn switches(&self) -> &'static [Switch<Config>] {
        &[|config| &mut config.enable_default_security_group]
    }

    /// If the inputs express all its rules.
    fn classify(&self, classifier: &mut Classifier<'_>) {
        let Some(group) = &classifier.landscape.default_security_group else { return };
        classifier.place_or_reject(&group.id, keys::default_security_group().slot, fault(group));
    }

    fn kept_by(&self, spec: &Spec) -> Option<&'static str> {
        model::DefaultSecurityGroup::of(spec).map(|_| SWITCH)
    }

    fn import(&self, found: Found<'_>, _: &Scope, attributes: &mut Value) {
        let group = found.all(model::DefaultSecurityGroup::of).next();
        attributes.set(SWITCH, group.is_some().into());
        if group.is_some_and(model::DefaultSecurityGroup::has_no_rules) {
            attributes.set(RESTRICTED, true.into());
            return;
        }
        for (name, rules) in group.into_iter().flat_map(maps_of) {
            let now = rules.known().cloned().flatten().unwrap_or_default();
            rule_maps::import::<SecurityGroupRule>(attributes, name, &now);
        }
    }

    fn reflect(&self, inventory: &Inventory, state: &mut Value) {
        let of = model::DefaultSecurityGroup::of;
        for entry in inventory.current() {
            let (Some(applied), Some(observed)) = (of(&entry.applied), entry.drifted().and_then(of)) else { continue };
            let was_restricted = applied.has_no_rules();
            if observed.has_no_rules() {
                state.set(RESTRICTED, true.into());
                continue;
            }
            if was_restricted {
                state.set(RESTRICTED, false.into());
            }
            for ((name, applied), (_, observed)) in maps_of(applied).into_iter().zip(maps_of(observed)) {
                // Without configured rules, AWS's rules are not managed.
                if let (Input::Known(Some(before)), Input::Known(Some(now))) = (applied, observed)
                    && (before != now || was_restricted)
                {
                    rule_maps::reflect(state, name, now, |rest| match now.as_slice() {
                        // An empty map would mean that the rules are not managed.
                        [] => BTreeMap::from([("none".to_string(), SecurityGroupRule::of(&[]))]),
                        _ => SecurityGroupRule::of_all(rest),
                    });
                }
            }
        }
    }

    fn outputs(&self) -> &'static [Output] {
        const { &[Output::text(OUTPUT, "ID of the VPC's default security group.", |it| it.learned_at(keys::VPC, OUTPUT))] }
    }

    fn name(&self, slot: &str) -> Option<String> {
        (slot == "default_security_group").then(String::new)
    }
}

/// The names and the values of the inputs with its rules.
fn maps(config: &Config) -> [(&'static str, &RuleMap<SecurityGroupRule>); 2] {
    [(INGRESS, &config.default_security_group_ingress_rules), (EGRESS, &config.default_security_group_egress_rules)]
}

/// The rules of a group, with the names of their inputs.
fn maps_of(group: &model::DefaultSecurityGroup) -> [(&'static str, &Rules); 2] {
    [(INGRESS, &group.ingress), (EGRESS, &group.egress)]
}

/// The problems of rules that differ only in their descriptions.
fn descriptions(config: &Config) -> Vec<Problem> {
    let mut problems = Problems::default();
    for (name, rules) in maps(config) {
        problems.descriptions(name, rules);
    }
    problems.0
}

/// The warning that a direction has more rules than AWS allows by default. AWS counts
/// each range as a rule of its family, and a group as one of each. A prefix list counts as its maximum number of
/// entries. Only the plan that adds the list looks this up, so other lists count once.
fn too_many(name: &str, rules: &RuleMap<SecurityGroupRule>, facts: &Facts) -> Option<Problem> {
    let Input::Known(Some(rules)) = rule::rules(rules) else { return None };
    let weight = |list: &String| match facts.outside.get(&Outside::PrefixList(list.clone())) {
        Some(Finding::Exists { detail, .. }) => {
            let (weight, family) = detail.split_once(' ')?;
            Some((weight.parse::<usize>().ok()?, family))
        }
        Some(Finding::Usable(_) | Finding::Missing(_)) | None => None,
    };
    let count = |family: &str| -> usize {
        let count = |source: &RuleSource| match source {
            RuleSource::CidrIpv4(_) => usize::from(family == "IPv4"),
            RuleSource::CidrIpv6(_) => usize::from(family == "IPv6"),
            RuleSource::PrefixList(list) => {
                weight(list).map_or(1, |(weight, of)| if of == family { weight } else { 0 })
            }
            RuleSource::SecurityGroup(_) | RuleSource::ItSelf => 1,
        };
        rules.iter().map(|rule| count(&rule.source)).sum()
    };
    let (ipv4, ipv6) = (count("IPv4"), count("IPv6"));
    let (count, family) = if ipv4 >= ipv6 { (ipv4, "IPv4") } else { (ipv6, "IPv6") };
    let is_unknown = |source: &RuleSource| matches!(source, RuleSource::PrefixList(list) if weight(list).is_none());
    let least = if rules.iter().any(|rule| is_unknown(&rule.source)) { "at least " } else { "" };
    (count > MOST_RULES).then(|| {
        let message = format!(
            "AWS counts each CIDR block, security group and entry of a prefix list as a rule. These are {least}{count} \
             rules for {family}, but AWS allows {MOST_RULES} per direction by default."
        );
        Problem::new(AttributePath::new(name), message, "Use fewer, unless AWS has raised the quota of this account.")
    })
}

/// The warning that the rules of a direction stay, because its map is empty. `at` is the number of the direction.
fn left(name: &str, rules: &RuleMap<SecurityGroupRule>, at: usize, existing: &Inventory) -> Option<Problem> {
    let entry = existing.at(&keys::default_security_group().slot)?;
    let rules_of = |spec| Some(maps_of(model::DefaultSecurityGroup::of(spec)?)[at].1.known()?.as_deref());
    let (was_managed, now) = (rules_of(&entry.applied)?.is_some(), rules_of(entry.spec())?.unwrap_or_default());
    if rule::rules(rules) != Input::Known(None) || !was_managed || now.is_empty() {
        return None;
    }
    let traffic: Vec<String> = now.iter().map(|rule| rule.traffic(name == EGRESS)).collect();
    let message = format!(
        "An empty map leaves the rules that exist. The default security group still allows this traffic, and it is no \
         longer managed: {}.",
        traffic.join(", ")
    );
    let hint = format!(
        "To revoke the rules, remove {name}, which leaves only AWS's own rule, or set {RESTRICTED} to true. Setting \
         {SWITCH} to false revokes all rules that this resource has set."
    );
    Some(Problem::new(AttributePath::new(name), message, hint))
}

/// The warning that the rules of the default security group are revoked. The group itself stays.
fn released(existing: &Inventory) -> Option<Problem> {
    let entry = existing.at(&keys::default_security_group().slot)?;
    if let (Spec::DefaultSecurityGroup(applied), Some(found)) = (&entry.applied, entry.found.as_deref())
        && applied.revoked_rules(model::DefaultSecurityGroup::of(found)).iter().all(Vec::is_empty)
    {
        return None;
    }
    Some(Problem::new(
        AttributePath::new(SWITCH),
        "The rules of the default security group that this resource set are revoked. Instances and network interfaces \
         that have only this group lose the traffic that these rules allow.",
        "Set enable_default_security_group to true to keep the rules, or give these interfaces another group first.",
    ))
}

/// Why the inputs cannot express a group.
fn fault(group: &FoundSecurityGroup) -> Option<String> {
    if group.ingress.is_empty() && group.egress.is_empty() {
        // This is `restrict_default_security_group`.
        return None;
    }
    for (direction, rules) in [("inbound", &group.ingress), ("outbound", &group.egress)] {
        if rules.is_empty() {
            return Some(format!(
                "it has no {direction} rules, and the inputs cannot express a group with rules in one direction alone"
            ));
        }
        if let Some(rule) = rules.iter().find(|rule| !SecurityGroupRule::expresses(rule)) {
            let traffic = rule.traffic(direction == "outbound");
            return Some(format!("the inputs cannot express its {direction} rule for {traffic}"));
        }
    }
    None
}
