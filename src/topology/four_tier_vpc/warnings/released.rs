//! Warnings about the rules of a default network ACL or a default security group that is no longer managed.

use super::super::config::Config;
use crate::model::keys::network as keys;
use crate::model::{DefaultSecurityGroup, Inventory, Spec};
use crate::plugin::{AttributePath, Input, Problem};
use crate::topology::Context;

/// The warning that the default network ACL gets earlier rules again.
pub(super) fn network_acl(existing: &Inventory) -> Option<Problem> {
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
    Some(Problem::new(AttributePath::new("apply_default_nacl_rules"), message, hint))
}

/// The warning that the rules of the default security group are revoked. The group itself stays.
pub(super) fn security_group(context: &Context<'_, Config>) -> Option<Problem> {
    let is_off = context.config.enable_default_security_group == Input::Known(false);
    let entry = context.existing.at(&keys::default_security_group().slot).filter(|_| is_off)?;
    if let (Spec::DefaultSecurityGroup(applied), Some(found)) = (&entry.applied, entry.found.as_deref())
        && applied.revoked_rules(DefaultSecurityGroup::of(found)).iter().all(Vec::is_empty)
    {
        return None;
    }
    Some(Problem::new(
        AttributePath::new("enable_default_security_group"),
        "The rules of the default security group that this resource set are revoked. Instances and network interfaces \
         that have only this group lose the traffic that these rules allow.",
        "Set enable_default_security_group to true to keep the rules, or give these interfaces another group first.",
    ))
}

#[cfg(test)]
mod tests {
    use super::super::super::config::tests::config;
    use super::super::super::fixtures::{applied, blueprint, objects};
    use super::*;
    use crate::topology::Blueprint;

    #[test]
    fn a_release_warns_only_of_rules_that_were_not_found() {
        let on = config(&[("apply_default_nacl_rules", true.into())]);
        let off = config(&[("enable_default_security_group", false.into())]);
        let mut existing = applied(&objects(&on, "a"));
        for entry in existing.entries.iter_mut().filter(|entry| entry.applied.is_adopted()) {
            entry.found = Some(Box::new(entry.applied.clone()));
        }
        let warned = |existing: &Inventory| match blueprint(&off, Some(&on), existing, "a") {
            Ok(Blueprint::Decided { warnings, .. }) => warnings,
            other => panic!("{other:?}"),
        };
        assert_eq!(warned(&existing), []);

        for entry in &mut existing.entries {
            match entry.found.as_deref_mut() {
                Some(Spec::DefaultNetworkAcl(acl)) => acl.ingress = Input::Known(vec![]),
                Some(Spec::DefaultSecurityGroup(group)) => group.ingress = Input::Known(Some(vec![])),
                _ => {}
            }
        }
        let [acl, group] = warned(&existing).try_into().expect("one warning for each");
        assert!(
            acl.message.starts_with("The default network ACL loses the rules that this resource has added"),
            "{acl:?}"
        );
        assert!(group.message.contains("that this resource set are revoked"), "{group:?}");
    }
}
