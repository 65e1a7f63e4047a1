//! From the inventory to the blueprint: a pure planner, and a small executor.
//!
//! `terraform plan` and `terraform apply` call [`plan`] with the same arguments, so that the apply does what the plan
//! showed. [`execute`] makes no decisions.

mod diff;
mod execute;
mod freeing;
mod ordering;
mod plan;
mod planner;
mod progress;
mod reroute;
mod split;
mod suspend;

pub use execute::{Execution, Outcome, execute};
pub use plan::{Action, Op, Outage, Overwritten, Phase, Plan, Unorderable};
pub use planner::plan;
pub use progress::Progress;
