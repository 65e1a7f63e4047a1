//! Carries out a decision of which a part is not known before another part has been made.

use super::changes::{lock, reclaim};
use super::messages;
use super::planning::Decision;
use crate::model::Inventory;
use crate::plugin::Diagnostics;
use crate::reconcile::{self, Execution, Outcome};
use crate::topology::Product;

/// Carries out a decision, and returns the last one made and what came of it.
///
/// The range that a pool gives is known when it is given, and only then the blocks of subnets in it. Operations that
/// need such a thing are held back. Once the others are done, the same function that decided at plan decides again
/// from what exists now, and the rest is carried out.
pub(super) async fn carry_out<P: Product>(
    name: &str,
    first: Decision,
    execution: &Execution<'_>,
    decide_again: impl Fn(&mut Inventory, &mut Diagnostics) -> Result<Option<Decision>, ()>,
    diagnostics: &mut Diagnostics,
) -> (Decision, Outcome) {
    let mut decision = first;
    loop {
        let outcome = reconcile::execute(&decision.plan, execution).await;
        let held = decision.plan.held_back();
        if held.is_empty() || !outcome.failed.is_empty() || outcome.stopped {
            return (decision, outcome);
        }
        let keys = held.iter().map(|position| decision.plan.ops[*position].action.key().to_string()).collect();
        if held.len() == decision.plan.ops.len() {
            messages::still_unknown::<P>(name, keys, diagnostics);
            return (decision, outcome);
        }
        let mut inventory = lock(&execution.inventory).clone();
        match decide_again(&mut inventory, diagnostics) {
            Ok(Some(next)) => {
                reclaim(&mut inventory, &next.objects);
                *lock(&execution.inventory) = inventory;
                decision = next;
            }
            // What is wrong with it could not be seen before, and has been told.
            Err(()) => return (decision, outcome),
            Ok(None) => {
                messages::still_unknown::<P>(name, keys, diagnostics);
                return (decision, outcome);
            }
        }
    }
}
