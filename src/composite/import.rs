//! Import: from the id of a root to a whole state, and plans from there until something is applied.

use super::observe::is_looks_alone;
use super::planning::Decision;
use super::private::Private;
use super::{messages, refresh, state};
use crate::cloud::Cloud;
use crate::model::Entry;
use crate::model::Owner;
use crate::plugin::{Diagnostics, ImportResponse, Mode, Nested, Value};
use crate::topology::{IgnoredDrift, Product};

/// Looks at a root and all that belongs to it, and makes the state that a configuration of it would have.
pub(super) async fn import<P: Product>(cloud: &dyn Cloud, id: &str) -> ImportResponse {
    let mut diagnostics = Diagnostics::default();
    let nothing = |diagnostics| ImportResponse { state: None, private: Vec::new(), diagnostics };
    let found = match refresh::refresh::<P>(cloud, id, None, &IgnoredDrift::default()).await {
        Ok(found) => found.filter(|private| private.inventory.at(P::OWNER.root()).is_some()),
        Err(failure) => {
            diagnostics.error(format!("Importing {} {id} failed", P::TYPE_NAME), messages::detail(&failure));
            return nothing(diagnostics);
        }
    };
    let Some(mut private) = found else {
        diagnostics.error(
            format!("{} {id} does not exist", P::TYPE_NAME),
            format!(
                "AWS knows no such id in Region {}. Check the id, and the region and account of the provider block.",
                cloud.scope().region
            ),
        );
        return nothing(diagnostics);
    };
    let Some(attributes) = P::imported(&private.inventory, cloud.scope()) else {
        not_ours(P::OWNER, P::TYPE_NAME, id, &mut diagnostics);
        return nothing(diagnostics);
    };
    private.imported = true;
    let state = refresh::state::<P>(&attributes, id, &private, cloud.scope());
    ImportResponse { state: Some(state), private: private.encode(), diagnostics }
}

fn not_ours(owner: Owner, type_name: &str, id: &str, diagnostics: &mut Diagnostics) {
    let (product, root) = (owner.product(), owner.root());
    diagnostics.error(
        format!("{id} was not made by {type_name}"),
        format!(
            "It has no tag fgw:resource = \"{product}/<name>\", by which this provider knows what it has made. If that tag \
             was lost, set it again and import once more. To hand over what something else has made, give its {root} this \
             tag, and give each object that the resource is to manage the tags fgw:resource = \"{product}/{id}\" and \
             fgw:object = \"<key in aws_objects>\", such as {}",
            owner.tags_to_hand_over()
        ),
    );
}

/// The attributes that a configuration is compared with: those last applied in full; after an import, those that
/// reproduce what was found, where AWS shows it.
pub(super) fn settled<P: Product>(prior: &Value, private: Option<&Private>, configuration: &Value) -> Value {
    if let Some(settled) = private.and_then(|private| private.settled.clone()) {
        return settled;
    }
    let mut attributes = state::configured::<P>(prior);
    if let Some(private) = private.filter(|private| private.imported) {
        P::take_as_applied(&mut attributes, configuration, &private.inventory);
    }
    attributes
}

/// Forgets what an import has taken for ours and the configuration does not claim: it may be a user's own. Whether
/// there was any.
pub(super) fn forget<P: Product>(private: &mut Private, configuration: &Value, diagnostics: &mut Diagnostics) -> bool {
    let is_imported = private.imported;
    let all = private.inventory.clone();
    let is_foreign = |entry: &Entry| is_imported && entry.adopted && !P::may_own(configuration, entry, &all);
    let mut has_forgotten = false;
    for entry in private.inventory.entries.extract_if(.., |entry| is_foreign(entry)) {
        has_forgotten = true;
        diagnostics.warning(
            format!("{} is left to others", entry.key.slot),
            format!(
                "The import has found {}, which the configuration does not ask for. It leaves the state and is not deleted.",
                entry.id
            ),
        );
    }
    has_forgotten
}

/// Whether what was imported is what the configuration asks for, though it may say so in other words.
pub(super) fn is_as_imported(private: &Private, decision: &Decision) -> bool {
    private.imported && decision.plan.is_empty() && is_looks_alone(private, &decision.objects)
}

/// The state that is planned then. Terraform lets a provider keep a value that it finds equal to the configured one,
/// but it cannot keep null for a configured value nor, where the provider never sets the attribute by itself, a value
/// for null. Those are planned as configured, and show once.
pub(super) fn kept<P: Product>(prior: &Value, config: &Value, filled: &Value) -> Value {
    let mut planned = prior.clone();
    for attribute in P::Config::attributes() {
        let (was, given) = (prior.get(&attribute.name), config.get(&attribute.name));
        let may_be_kept = match attribute.mode {
            // Terraform compares a block attribute by attribute.
            Mode::Block => false,
            _ if shapes_no_object(&attribute.name) => false,
            _ if given.is_null() => {
                was.is_null() || attribute.default.is_some() || attribute.mode == Mode::OptionalComputed
            }
            _ => !was.is_null(),
        };
        if !may_be_kept {
            planned.set(&attribute.name, filled.get(&attribute.name).clone());
        }
    }
    planned
}

/// Inputs that no object tells of, as they only say how one is treated. What a user writes there is never said in other
/// words already.
fn shapes_no_object(name: &str) -> bool {
    name == "ignore_drift" || name.ends_with("_timeout")
}
