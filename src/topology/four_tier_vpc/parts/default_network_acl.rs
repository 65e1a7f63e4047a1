//! The rules of the default network ACL, and the subnets that it takes.

mod rule;
mod subnet_acls;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

use super::rule_maps::{self, RuleEntry, RuleMap};
use super::*;
use crate::model::{self, FoundNetworkAcl, Key, NetworkAclRule, Tier};
use subnet_acls::SubnetAcls;

pub use rule::NaclRule;

/// The switch of the part.
const SWITCH: &str = "apply_default_nacl_rules";

/// The output of the part, which is also the name of the property of the VPC.
const OUTPUT: &str = "default_network_acl_id";

/// The inputs with the rules of each direction.
const INGRESS: &str = "default_nacl_ingress_rules";
const EGRESS: &str = "default_nacl_egress_rules";

/// AWS's default quota of rules per direction of a network ACL, including the rules that deny the rest: one for IPv4,
/// and one for IPv6 if the VPC has an IPv6 range.
const MOST_RULES: usize = 20;

/// The default network ACL.
pub(in super::super) struct DefaultNetworkAcl;

impl Part for DefaultNetworkAcl {
    /// Unknown also while it is unknown whether the ACL takes subnets.
    fn is_wanted(&self, config: &Config) -> Input<bool> {
        match config.associate_default_nacl_to_subnets {
            Input::Known(_) => config.apply_default_nacl_rules.clone(),
            Input::Unknown => Input::Unknown,
        }
    }

    fn problems(&self, config: &Config) -> Vec<Problem> {
        let mut problems = Problems::default();
        for (name, rules) in maps(config) {
            let mut numbers: BTreeMap<i64, &str> = BTreeMap::new();
            for (key, rule) in rules.known().into_iter().flatten() {
                let Input::Known(rule) = rule else { continue };
                let path = AttributePath::new(name).key(key);
                problems.nacl_rule(&path, rule);
                let Input::Known(number) = rule.rule_no else { continue };
                if let Some(other) = numbers.insert(number, key) {
                    let message = format!("Rule {other:?} also has the number {number}.");
                    let hint = "Use a unique number for each rule of a direction.";
                    problems.add(path.attribute("rule_no"), message, hint);
                }
            }
        }
        problems.0
    }

    /// Their replacement by earlier rules, their number, and that there are none.
    fn warnings(&self, context: &Context<'_, Config>) -> Vec<Problem> {
        let config = context.config;
        match config.apply_default_nacl_rules {
            Input::Known(false) => released(context.existing).into_iter().collect(),
            Input::Known(true) => {
                let denying = if config.enable_ipv6 == Input::Known(true) { 2 } else { 1 };
                let all = maps(config).into_iter();
                let too_many = all.clone().filter_map(|(name, rules)| too_many(name, rules, denying));
                let denied =
                    all.enumerate().filter_map(|(at, (name, rules))| denied(name, rules, at, context.existing));
                too_many.chain(denied).collect()
            }
            Input::Unknown => Vec::new(),
        }
    }

    fn unused(&self, config: &Config, default: &Config) -> Vec<Unused> {
        while_off(SWITCH, &config.apply_default_nacl_rules, false, maps(config), maps(default))
    }

    fn draft(&self, draft: &mut Draft<'_>, built: &Built<'_>) {
        let config = draft.context.config;
        let given = built.subnets.iter().filter(|((tier, _), _)| *tier != Tier::Transit);
        let subnets: Vec<Key> = given.map(|(_, key)| key.clone()).collect();
        let acls = SubnetAcls::of(draft.context, &subnets);
        draft.warnings.extend(acls.warning());
        let key = keys::default_network_acl();
        let [(_, ingress), (_, egress)] = maps(config);
        let spec = model::DefaultNetworkAcl {
            vpc: draft.vpc.clone(),
            ingress: rule_maps::required(ingress).map_or(Input::Unknown, Input::Known),
            egress: rule_maps::required(egress).map_or(Input::Unknown, Input::Known),
            taken: acls.taken(&subnets),
            tags: draft.tags(&key, &[]),
        };
        draft.add_after(&key, Spec::DefaultNetworkAcl(spec), built.ipv6_range);
    }

    fn switches(&self) -> &'static [Switch<Config>] {
        &[|config| &mut config.apply_default_nacl_rules, |config| &mut config.associate_default_nacl_to_subnets]
    }

    /// If the inputs express all its rules.
    fn classify(&self, classifier: &mut Classifier<'_>) {
        let Some(acl) = &classifier.landscape.default_network_acl else { return };
        classifier.place_or_reject(&acl.id, keys::default_network_acl().slot, fault(acl));
    }

    fn kept_by(&self, spec: &Spec) -> Option<&'static str> {
        model::DefaultNetworkAcl::of(spec).map(|_| SWITCH)
    }

    fn import(&self, found: Found<'_>, _: &Scope, attributes: &mut Value) {
        let acl = found.all(model::DefaultNetworkAcl::of).next();
        attributes.set(SWITCH, acl.is_some().into());
        for (name, rules) in acl.into_iter().flat_map(maps_of) {
            if let Input::Known(rules) = rules {
                rule_maps::import::<NaclRule>(attributes, name, rules);
            }
        }
    }

    fn reflect(&self, inventory: &Inventory, state: &mut Value) {
        let of = model::DefaultNetworkAcl::of;
        for entry in inventory.current() {
            let (Some(applied), Some(observed)) = (of(&entry.applied), entry.drifted().and_then(of)) else { continue };
            for ((name, applied), (_, observed)) in maps_of(applied).into_iter().zip(maps_of(observed)) {
                if let (Input::Known(before), Input::Known(now)) = (applied, observed)
                    && before != now
                {
                    rule_maps::reflect(state, name, now, NaclRule::of_all);
                }
            }
        }
    }

    fn outputs(&self) -> &'static [Output] {
        const { &[Output::text(OUTPUT, "ID of the VPC's default network ACL.", |it| it.learned_at(keys::VPC, OUTPUT))] }
    }

    fn name(&self, slot: &str) -> Option<String> {
        (slot == "default_network_acl").then(String::new)
    }
}

/// The names and the values of the inputs with its rules.
fn maps(config: &Config) -> [(&'static str, &RuleMap<NaclRule>); 2] {
    [(INGRESS, &config.default_nacl_ingress_rules), (EGRESS, &config.default_nacl_egress_rules)]
}

/// The rules of an ACL, with the names of their inputs.
fn maps_of(acl: &model::DefaultNetworkAcl) -> [(&'static str, &Input<Vec<NetworkAclRule>>); 2] {
    [(INGRESS, &acl.ingress), (EGRESS, &acl.egress)]
}

/// The warning that a direction has more rules than AWS allows by default.
fn too_many(name: &str, rules: &RuleMap<NaclRule>, denying: usize) -> Option<Problem> {
    let count = rules.known().map_or(0, BTreeMap::len);
    (count + denying > MOST_RULES).then(|| {
        let message = format!(
            "The map has {count} rules, and AWS adds {denying} that deny the rest, which makes {}. By default, AWS \
             allows {MOST_RULES} per direction.",
            count + denying
        );
        let hint = "Use fewer rules, unless AWS has raised the quota of this account.";
        Problem::new(AttributePath::new(name), message, hint)
    })
}

/// The warning that an empty map denies all traffic of a direction, unlike one of the default security group. `at` is
/// the number of the direction.
fn denied(name: &str, rules: &RuleMap<NaclRule>, at: usize, existing: &Inventory) -> Option<Problem> {
    let entry = existing.at(&keys::default_network_acl().slot);
    let has_none = |spec: &Spec| {
        model::DefaultNetworkAcl::of(spec).is_some_and(|acl| *maps_of(acl)[at].1 == Input::Known(Vec::new()))
    };
    let is_empty = rules.known().is_some_and(BTreeMap::is_empty);
    let is_new = !entry.is_some_and(|entry| has_none(entry.spec()));
    let direction = if name == EGRESS { "outbound" } else { "inbound" };
    (is_empty && is_new).then(|| {
        let message = format!(
            "An empty map denies all {direction} traffic of the subnets with this ACL, unlike an empty map of rules of the \
             default security group."
        );
        let hint = format!("To allow all {direction} traffic, remove {name}.");
        Problem::new(AttributePath::new(name), message, hint)
    })
}

/// The warning that the default network ACL gets earlier rules again.
fn released(existing: &Inventory) -> Option<Problem> {
    let entry = existing.at(&keys::default_network_acl().slot)?;
    let message = match (&entry.applied, entry.spec(), entry.found.as_deref()) {
        (Spec::DefaultNetworkAcl(applied), Spec::DefaultNetworkAcl(now), Some(Spec::DefaultNetworkAcl(found))) => {
            let now = [now.ingress.known()?, now.egress.known()?].map(Vec::as_slice);
            let released = applied.released_rules(now, found);
            if now == released.each_ref().map(Vec::as_slice) {
                return None;
            }
            "The default network ACL loses the rules that this resource has added, and gets those again that it has \
             replaced or deleted."
        }
        _ => "The default network ACL gets AWS's original rules again, which allow all traffic.",
    };
    let hint = "Set apply_default_nacl_rules to true to keep the current rules.";
    Some(Problem::new(AttributePath::new(SWITCH), message, hint))
}

/// Why the inputs cannot express an ACL.
fn fault(acl: &FoundNetworkAcl) -> Option<String> {
    let fault = |(direction, rules): (&str, &Vec<NetworkAclRule>)| {
        let rule = rules.iter().find(|rule| !NaclRule::expresses(rule))?;
        Some(format!("the inputs cannot express its {direction} rule {}", rule.rule_no))
    };
    [("inbound", &acl.ingress), ("outbound", &acl.egress)].into_iter().find_map(fault)
}
