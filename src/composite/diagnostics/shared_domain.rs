//! Custom domains to which others have mapped their APIs.

use super::text::{detail, listed};
use crate::cloud::{Dependent, Dependents};
use crate::model::{Entry, mappings_to_other_apis, printable};
use crate::plugin::Diagnostics;
use crate::topology::Topology;

/// An update that leaves shared domains with what leads to them, although the configuration does not require them. An
/// earlier apply has reported those that are pending deletion already.
pub(in crate::composite) fn warn_of_shared_domains<P: Topology>(
    name: &str,
    kept: &[&Entry],
    diagnostics: &mut Diagnostics,
) {
    let new: Vec<&&Entry> = kept.iter().filter(|entry| !entry.pending_deletion).collect();
    for (domain, mappings) in new.iter().filter_map(|entry| Some((entry, mappings_to_other_apis(entry)?))) {
        let objects: Vec<String> = new.iter().map(|it| format!("  {} ({})", it.key, printable(&it.id))).collect();
        let id = printable(&domain.id);
        let ids = mappings.split(", ").filter_map(|mapping| mapping.split(' ').next());
        let commands: Vec<String> = ids.map(|mapping| command(&domain.id, mapping)).collect();
        diagnostics.warning(
            format!("Updating {} {name:?} keeps a custom domain that other APIs use", P::TYPE_NAME),
            format!(
                "The configuration does not require {id} any more, but these API mappings point it at other APIs: {}. AWS \
                 does not delete a domain with mappings, and without its DNS record the other APIs would be \
                 unreachable. These objects therefore stay together, and the attribute pending_deletion lists them:\n{}\n\n\
                 To delete them, remove each mapping, then apply:\n\n{}",
                printable(mappings),
                objects.join("\n"),
                commands.join("\n")
            ),
        );
    }
}

/// An update that would delete a shared domain, because its plan did not know the mappings. Returns whether it is
/// refused.
pub(in crate::composite) fn refuse_shared_domain_in_update<P: Topology>(
    name: &str,
    found: &Dependents,
    diagnostics: &mut Diagnostics,
) -> bool {
    let Some(mappings) = mappings(found) else { return false };
    diagnostics.error(
        format!("Could not update {} {name:?}: custom domain in use", P::TYPE_NAME),
        format!("{mappings}\n\nNothing was changed. Run plan again with a refresh: the new plan keeps the domain."),
    );
    true
}

/// A destroy of a topology with a shared domain. Returns whether it is refused.
pub(in crate::composite) fn refuse_shared_domain_in_destroy<P: Topology>(
    root_id: &str,
    found: &Dependents,
    diagnostics: &mut Diagnostics,
) -> bool {
    let unseen = found
        .unseen
        .iter()
        .map(|failure| format!("The API mappings of the custom domain could not be listed. {}", detail(failure)));
    let Some(text) = mappings(found).or(unseen.reduce(|all, one| format!("{all}\n{one}"))) else { return false };
    diagnostics.error(
        format!("Could not destroy {} {root_id}: custom domain in use", P::TYPE_NAME),
        format!(
            "{text}\n\nNothing was deleted. To delete the resource, remove these mappings, then run the same command \
             again:\n\n{}\n\nTo keep a tainted resource instead, run this command with its address:\n\n  terraform untaint ADDRESS",
            commands(found).join("\n")
        ),
    );
    true
}

fn blocking(found: &Dependents) -> Vec<Dependent> {
    found.objects.iter().filter(|it| !it.holds.is_empty()).cloned().collect()
}

fn mappings(found: &Dependents) -> Option<String> {
    let blocking = blocking(found);
    (!blocking.is_empty()).then(|| {
        format!(
            "These API mappings point the custom domain at other APIs, which would become unreachable:\n{}",
            listed(&blocking, "  ")
        )
    })
}

fn commands(found: &Dependents) -> Vec<String> {
    let of_domain = |mapping: &Dependent| command(mapping.holds.first().map_or("", String::as_str), &mapping.id);
    blocking(found).iter().map(of_domain).collect()
}

/// The command that removes a mapping. IDs and names of domains contain nothing that a shell interprets.
fn command(domain: &str, mapping: &str) -> String {
    let options = format!("--domain-name {domain} --api-mapping-id {mapping}");
    format!("  aws apigatewayv2 delete-api-mapping {}", printable(&options))
}
