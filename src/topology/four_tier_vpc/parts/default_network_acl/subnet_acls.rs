//! Subnets that have another network ACL than the default one. They keep it, unless the configuration newly takes them.

use crate::model::keys::network as keys;
use crate::model::{Entry, Inventory, Key, Spec, TakenSubnet};
use crate::plugin::{AttributePath, Input, Problem};
use crate::topology::Context;
use crate::topology::four_tier_vpc::config::Config;

/// The default network ACL takes only subnets that an input newly gives it.
const INPUT: &str = "associate_default_nacl_to_subnets";

/// The subnets with another ACL, and what happens to them.
pub(super) struct SubnetAcls<'a> {
    existing: &'a Inventory,
    /// Whether the configuration takes them.
    takes: bool,
    /// Whether the configuration of the last apply did not.
    is_new: bool,
    others: Vec<(&'a Entry, &'a str)>,
}

impl<'a> SubnetAcls<'a> {
    /// Finds those of these subnets that the last read has seen with another ACL.
    pub(super) fn of(context: &Context<'a, Config>, subnets: &[Key]) -> SubnetAcls<'a> {
        let takes = |config: &Config| config.associate_default_nacl_to_subnets == Input::Known(true);
        let others = subnets.iter().filter_map(|key| {
            let entry = context.existing.current().find(|entry| entry.key == *key)?;
            Some((entry, entry.learned.network_acl_id.as_deref()?))
        });
        SubnetAcls {
            existing: context.existing,
            takes: takes(context.config),
            is_new: !context.prior.is_some_and(takes),
            others: others.collect(),
        }
    }

    /// The subnets that the default ACL has taken or takes now. Those that it took in an earlier apply stay listed, so
    /// that a subnet which has got another ACL since is not taken again.
    pub(super) fn taken(&self, subnets: &[Key]) -> Vec<TakenSubnet> {
        let acl = self.existing.at(&keys::default_network_acl().slot).map(|acl| &acl.applied);
        let mut taken: Vec<TakenSubnet> = match (self.takes, self.is_new, acl) {
            (true, true, _) => {
                let taken =
                    |(entry, acl): &(&Entry, &str)| TakenSubnet { subnet: entry.key.clone(), from: (*acl).into() };
                self.others.iter().map(taken).collect()
            }
            (true, false, Some(Spec::DefaultNetworkAcl(applied))) => {
                applied.taken.iter().filter(|taken| subnets.contains(&taken.subnet)).cloned().collect()
            }
            _ => Vec::new(),
        };
        taken.sort();
        taken
    }

    /// The warning about subnets that move to the default ACL, or that keep another one when its rules are turned on.
    pub(super) fn warning(&self) -> Option<Problem> {
        let is_turned_on = self.existing.at(&keys::default_network_acl().slot).is_none();
        let default = self.existing.at(keys::VPC).and_then(|vpc| vpc.learned.get("default_network_acl_id"));
        let default = default.map_or("the default one", String::as_str);
        let listed = |text: &dyn Fn(&str) -> String| {
            let line = |(entry, acl): &(&Entry, &str)| format!("{} ({}) {}", entry.key.slot, entry.id, text(acl));
            self.others.iter().map(line).collect::<Vec<_>>().join(", ")
        };
        match (self.others.is_empty(), self.takes && self.is_new, is_turned_on) {
            (true, ..) | (_, false, false) => None,
            (_, true, _) => Some(Problem::new(
                AttributePath::new(INPUT),
                format!(
                    "Subnets move to the default network ACL, so the rules of their ACLs no longer apply to them: {}.",
                    listed(&|acl| format!("moves from {acl} to {default}"))
                ),
                format!("To keep their ACLs, set {INPUT} to false."),
            )),
            (_, false, true) => Some(Problem::new(
                AttributePath::new("apply_default_nacl_rules"),
                format!(
                    "Subnets keep another network ACL, so the rules of the default one do not apply to them: {}.",
                    listed(&|acl| format!("keeps {acl}"))
                ),
                match self.takes {
                    false => format!("To associate them with {default}, set {INPUT} to true."),
                    true => format!(
                        "To associate them with {default}, set {INPUT} to false, apply, and set it to true again."
                    ),
                },
            )),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{DefaultNetworkAcl, Object};
    use crate::plugin::Value;
    use crate::topology::Blueprint;
    use crate::topology::four_tier_vpc::config::tests::config;
    use crate::topology::four_tier_vpc::fixtures::{applied, blueprint, next_objects, objects};

    /// A network with the inputs, whose subnet `subnet.<slot>` has the ACL `acl-9`.
    fn with_other_acl(inputs: &[(&str, Value)], slot: &str) -> Inventory {
        let inputs = [inputs, &[("create_transit_subnets", true.into())]].concat();
        let mut existing = applied(&objects(&config(&inputs), "ab"));
        let entry = existing.entries.iter_mut().find(|entry| entry.key.slot == format!("subnet.{slot}"));
        entry.unwrap().learned.network_acl_id = Some("acl-9".into());
        existing
    }

    fn inputs(rules: bool, associate: bool) -> Config {
        config(&[
            ("create_transit_subnets", true.into()),
            ("apply_default_nacl_rules", rules.into()),
            ("associate_default_nacl_to_subnets", associate.into()),
        ])
    }

    fn warned(wanted: &Config, prior: &Config, existing: &Inventory) -> Vec<String> {
        match blueprint(wanted, Some(prior), existing, "ab") {
            Ok(Blueprint::Decided { warnings, .. }) => {
                warnings.into_iter().map(|it| format!("{}: {} {}", it.path, it.message, it.hint)).collect()
            }
            other => panic!("{other:?}"),
        }
    }

    fn taken(objects: &[Object]) -> Vec<(String, String)> {
        let acl = objects.iter().find_map(|it| DefaultNetworkAcl::of(&it.spec));
        let taken = acl.expect("it is managed").taken.iter();
        taken.map(|it| (it.subnet.slot.clone(), it.from.clone())).collect()
    }

    fn next(wanted: &Config, prior: &Config, existing: &Inventory) -> Vec<(String, String)> {
        taken(&next_objects(wanted, Some(prior), existing, "ab"))
    }

    #[test]
    fn a_subnet_keeps_its_acl_when_the_rules_are_turned_on() {
        let existing = with_other_acl(&[], "private_persistence.1");
        let (off, on) = (inputs(false, false), inputs(true, false));
        assert_eq!(next(&on, &off, &existing), []);
        let [warning] = warned(&on, &off, &existing).try_into().expect("one warning");
        assert!(warning.starts_with("apply_default_nacl_rules: "), "{warning}");
        assert!(warning.contains("subnet.private_persistence.1 (") && warning.contains(") keeps acl-9."), "{warning}");
        assert!(warning.ends_with("set associate_default_nacl_to_subnets to true."), "{warning}");
        assert_eq!(warned(&off, &off, &existing), [""; 0], "the default rules are off");
    }

    #[test]
    fn an_input_that_was_true_already_takes_nothing() {
        let existing = with_other_acl(&[], "public.0");
        let (off, on) = (inputs(false, true), inputs(true, true));
        assert_eq!(next(&on, &off, &existing), []);
        let [warning] = warned(&on, &off, &existing).try_into().expect("one warning");
        let hint = "set associate_default_nacl_to_subnets to false, apply, and set it to true again.";
        assert!(warning.contains("keeps acl-9") && warning.ends_with(hint), "{warning}");
        // The hint takes it.
        let existing = with_other_acl(&[("apply_default_nacl_rules", true.into())], "public.0");
        let without = inputs(true, false);
        assert_eq!((next(&without, &on, &existing), next(&on, &without, &existing).len()), (vec![], 1));
    }

    #[test]
    fn a_new_input_takes_each_subnet_but_those_of_the_transit_tier_once() {
        let (on, taking) = (inputs(true, false), inputs(true, true));
        let managed = [("apply_default_nacl_rules", true.into())];
        assert_eq!(next(&taking, &on, &with_other_acl(&managed, "transit.0")), []);
        let mut existing = with_other_acl(&managed, "private_app.1");
        assert_eq!(warned(&on, &on, &existing), [""; 0], "the rules are not new");
        let expected = [("subnet.private_app.1".to_string(), "acl-9".to_string())];
        assert_eq!(next(&taking, &on, &existing), expected);
        let [warning] = warned(&taking, &on, &existing).try_into().expect("one warning");
        assert!(warning.starts_with("associate_default_nacl_to_subnets: "), "{warning}");
        assert!(warning.contains(") moves from acl-9 to the default one."), "{warning}");

        // The next apply finds the same, although the subnet has another ACL again.
        let acl = next_objects(&taking, Some(&on), &existing, "ab").into_iter();
        let acl = acl.map(|it| it.spec).find(|it| matches!(it, Spec::DefaultNetworkAcl(_))).unwrap();
        let slot = keys::default_network_acl().slot;
        existing.entries.iter_mut().find(|it| it.key.slot == slot).unwrap().applied = acl;
        assert_eq!(next(&taking, &taking, &existing), expected);
        assert_eq!(warned(&taking, &taking, &existing), [""; 0]);
        let smaller = config(&[
            ("apply_default_nacl_rules", true.into()),
            ("associate_default_nacl_to_subnets", true.into()),
            ("create_private_app_subnets", false.into()),
        ]);
        assert_eq!(next(&smaller, &taking, &existing), [], "the subnet is deleted");
    }
}
