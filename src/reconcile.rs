//! From what exists to what should exist: a pure plan, and a small executor.
//!
//! [`plan`] is called by `terraform plan` and by `terraform apply` with the same arguments, so what is applied is
//! what was shown. [`execute`] makes no decision of its own.

mod diff;
mod execute;
mod ordering;
mod plan;
mod planner;
mod progress;
mod reroute;

pub use execute::{Execution, Outcome, execute};
pub use plan::{Action, Op, Outage, Plan, Unorderable};
pub use planner::plan;
pub use progress::Progress;
