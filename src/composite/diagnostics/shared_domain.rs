//! Custom domains to which others have mapped their APIs.

use super::text::{by_domain, detail, domain, listed};
use crate::cloud::{Dependent, Dependents};
use crate::model::printable;
use crate::plugin::Diagnostics;
use crate::topology::Topology;

/// An update that would delete a domain to which others have mapped their APIs: AWS deletes it with the mappings.
/// Returns whether it is refused.
pub(in crate::composite) fn refuse_shared_domain_in_update<P: Topology>(
    name: &str,
    found: &Dependents,
    diagnostics: &mut Diagnostics,
) -> bool {
    let Some(mappings) = mappings("this resource", found) else { return false };
    diagnostics.error(
        format!("Could not update {} {name:?}: custom domain in use", P::TYPE_NAME),
        format!(
            "{mappings}\n\nNothing was changed. To keep the domain, undo the change. To delete it, remove these mappings, \
             then run the same command again:\n\n{}",
            commands(found).join("\n")
        ),
    );
    true
}

/// API mappings on unmanaged domains that lead to a stage which an update deletes.
pub(in crate::composite) fn warn_of_mapped_stages<P: Topology>(
    name: &str,
    found: &Dependents,
    diagnostics: &mut Diagnostics,
) {
    if found.objects.is_empty() {
        return;
    }
    diagnostics.warning(
        format!("Updating {} {name:?} deletes a stage that other custom domains use", P::TYPE_NAME),
        format!(
            "These API mappings of other custom domains lead to the stage that the plan deletes:\n{}\n\nAWS does not delete \
             the stage while they exist. Point them at the new stage when the apply has created it, then apply again.",
            listed(&found.objects, "  ")
        ),
    );
}

/// A destroy that mappings still block when its wait for them has ended.
pub(in crate::composite) fn destroy_is_mapped<P: Topology>(
    root_id: &str,
    found: &Dependents,
    diagnostics: &mut Diagnostics,
) {
    let unseen = found
        .unseen
        .iter()
        .map(|failure| format!("The API mappings of the custom domain could not be listed. {}", detail(failure)));
    let text = mappings(root_id, found).into_iter().chain(unseen).collect::<Vec<_>>().join("\n");
    diagnostics.error(
        format!("Could not destroy {} {root_id}: custom domain in use", P::TYPE_NAME),
        format!(
            "{text}\n\nNothing was deleted. To delete the resource, remove these mappings, then run the same command \
             again:\n\n{}\n\nTo keep a tainted resource instead, run this command with its address:\n\n  terraform untaint ADDRESS",
            commands(found).join("\n")
        ),
    );
}

fn blocking(found: &Dependents) -> Vec<Dependent> {
    found.objects.iter().filter(|it| !it.holds.is_empty()).cloned().collect()
}

fn mappings(what: &str, found: &Dependents) -> Option<String> {
    let blocking = blocking(found);
    (!blocking.is_empty()).then(|| by_domain(what, &blocking))
}

fn commands(found: &Dependents) -> Vec<String> {
    let of_domain = |it: &Dependent| command(domain(it), &it.id);
    blocking(found).iter().map(of_domain).collect()
}

/// The command that removes a mapping. IDs and names of domains contain nothing that a shell interprets.
fn command(domain: &str, mapping: &str) -> String {
    let options = format!("--domain-name {domain} --api-mapping-id {mapping}");
    format!("  aws apigatewayv2 delete-api-mapping {}", printable(&options))
}
