//! Import: from the id of a root to a whole state, and plans from there until something is applied.

use super::private::Private;
use super::{messages, refresh, state};
use crate::cloud::{Cloud, Owner};
use crate::plugin::{Diagnostics, ImportResponse, Mode, Nested, Value};
use crate::product::Product;
use crate::reconcile::Plan;

/// Looks at a root and all that belongs to it, and makes the state that a configuration of it would have.
pub(super) async fn import<P: Product>(cloud: &dyn Cloud, id: &str) -> ImportResponse {
    let mut diagnostics = Diagnostics::default();
    let nothing = |diagnostics| ImportResponse { state: None, private: Vec::new(), diagnostics };
    let found = match refresh::refresh::<P>(cloud, id, None).await {
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
             fgw:object = \"<key in aws_objects>\", such as \"subnet.public.0\". Objects without these tags stay foreign: \
             they are neither shown nor touched.",
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

/// Whether a plan has nothing to show: what was imported is what the configuration asks for, though it may say so in
/// other words. Terraform lets a provider keep a value that it finds equal to the configured one, but it cannot keep
/// null for a configured value or, where the provider never sets the attribute by itself, the other way round.
pub(super) fn is_as_imported<P: Product>(private: &Private, plan: &Plan, prior: &Value, config: &Value) -> bool {
    let can_stay = P::Config::attributes().iter().all(|attribute| {
        let (was, given) = (prior.get(&attribute.name), config.get(&attribute.name));
        // Terraform compares a block attribute by attribute.
        if attribute.mode == Mode::Block {
            return was == given;
        }
        let may_be_kept = attribute.default.is_some() || attribute.may_be_found;
        was.is_null() == given.is_null() || given.is_null() && may_be_kept
    });
    let in_sync = prior.get("drift").as_map().is_some_and(|drift| drift.is_empty());
    private.imported && plan.is_empty() && in_sync && can_stay
}
