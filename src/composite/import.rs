//! Import: from the id of a root to a whole state, and plans from there until something is applied.

use super::private_state::Private;
use super::{diagnostics, refresh};
use crate::cloud::Cloud;
use crate::model::Entry;
use crate::plugin::{Diagnostics, ImportResponse, Mode, Nested, Value};
use crate::topology::{IgnoredDrift, Topology};

/// Looks at a root and all that belongs to it, and makes the state that a configuration of it would have.
pub(super) async fn import<P: Topology>(cloud: &dyn Cloud, id: &str) -> ImportResponse {
    let mut diagnostics = Diagnostics::default();
    let nothing = |diagnostics| ImportResponse { state: None, private: Vec::new(), diagnostics };
    let found = match refresh::refresh::<P>(cloud, id, None, &IgnoredDrift::default()).await {
        Ok(found) => found.filter(|private| private.inventory.at(P::KIND.root()).is_some()),
        Err(failure) => {
            diagnostics::failed(&format!("Importing {} {id}", P::TYPE_NAME), &failure, &mut diagnostics);
            return nothing(diagnostics);
        }
    };
    let Some(mut private) = found else {
        diagnostics::no_such_root::<P>(id, cloud.scope(), &mut diagnostics);
        return nothing(diagnostics);
    };
    let Some(attributes) = P::imported(&private.inventory, cloud.scope()) else {
        diagnostics::not_created_here::<P>(id, &mut diagnostics);
        return nothing(diagnostics);
    };
    private.imported = true;
    let state = refresh::state::<P>(&attributes, id, &private, cloud.scope());
    ImportResponse { state: Some(state), private: private.encode(), diagnostics }
}

/// Forgets what an import has taken for ours and the configuration does not claim: it may be a user's own. Whether
/// there was any.
pub(super) fn forget<P: Topology>(private: &mut Private, configuration: &Value, diagnostics: &mut Diagnostics) -> bool {
    let is_imported = private.imported;
    let all = private.inventory.clone();
    let is_foreign = |entry: &Entry| is_imported && entry.adopted && !P::may_own(configuration, entry, &all);
    let mut has_forgotten = false;
    for entry in private.inventory.entries.extract_if(.., |entry| is_foreign(entry)) {
        has_forgotten = true;
        diagnostics::left_to_others(&entry, diagnostics);
    }
    has_forgotten
}

/// The state that is planned where what was imported is what the configuration asks for. Terraform lets a provider keep
/// a value that it finds equal to the configured one, but it cannot keep null for a configured value nor, where the
/// provider never sets the attribute by itself, a value for null. Those are planned as configured, and show once.
pub(super) fn kept<P: Topology>(prior: &Value, config: &Value, filled: &Value) -> Value {
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
