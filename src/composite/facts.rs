//! Facts of an earlier lookup: those of the plan that was shown. Some hosts do not pass these to the plan that they
//! repeat at apply. There, they are those of the last refresh, which are in state.

use super::state;
use crate::cloud::{Cloud, Failure};
use crate::model::{Facts, Inventory, Lookup};
use crate::plugin::Value;
use crate::topology::Topology;

/// The lookups for the configuration in a state; none if it cannot be decoded, as after some imports.
pub(super) fn lookups_of_state<P: Topology>(state: &Value) -> Vec<Lookup> {
    state::decode::<P>(state).map(|(_, config)| P::lookups(&config)).unwrap_or_default()
}

/// The lookups for a configuration and its change. `prior` is the configuration of the last apply.
pub(super) fn lookups<P: Topology>(config: &P::Config, prior: Option<&P::Config>, existing: &Inventory) -> Vec<Lookup> {
    let mut all = P::lookups(config);
    all.extend(P::lookups_of_change(config, prior, existing));
    all
}

/// Looks up the facts that a plan after a refresh probably requires. `None` if a lookup fails: the plan repeats it, and
/// reports the failure if it requires the result.
pub(super) async fn of_refresh(cloud: &dyn Cloud, lookups: &[Lookup]) -> Option<Facts> {
    let failed = |failure: &Failure| tracing::debug!("a lookup of the refresh failed: {failure:?}");
    cloud.facts(lookups).await.inspect_err(failed).ok()
}

/// Returns those of the facts of a refresh that answer lookups of a configuration. `prior` is the state.
pub(super) fn applicable<P: Topology>(facts: Facts, prior: &Value, lookups: &[Lookup]) -> Facts {
    let mut made = lookups_of_state::<P>(prior);
    made.retain(|lookup| lookups.contains(lookup));
    facts.of(&made)
}

/// Returns the facts of an earlier plan, and looks up only those that it did not find, because the run may have created
/// these objects since. `misses_something` decides whether facts are insufficient.
pub(super) async fn completed(
    cloud: &dyn Cloud,
    lookups: Vec<Lookup>,
    mut facts: Facts,
    mut misses_something: impl FnMut(&Facts) -> bool,
) -> Result<Facts, Failure> {
    let unanswered = facts.unanswered(lookups.clone());
    if !unanswered.is_empty() {
        facts = facts.with(cloud.facts(&unanswered).await?);
    }
    let incomplete = Facts::incomplete(lookups, &unanswered);
    if !incomplete.is_empty() && misses_something(&facts) {
        facts = facts.with(cloud.facts(&incomplete).await?);
    }
    Ok(facts)
}
