//! Nothing is lost: whatever fails, is interrupted, killed, throttled or late, state tells the truth and the next apply
//! gets there. Each campaign runs real Terraform on whole topologies, and does one thing to them in many places.
//!
//! `cargo test` runs a sample of each campaign; with `FGW_TORTURE=whole` (`make torture`) they run whole, and leave what
//! they counted in `target/torture/` for `docs/reliability.md`.

#[path = "campaigns/campaign.rs"]
mod campaign;
#[path = "campaigns/newborn.rs"]
mod newborn;
#[path = "campaigns/roles.rs"]
mod roles;
#[path = "campaigns/smooth.rs"]
mod smooth;
#[path = "campaigns/stuck.rs"]
mod stuck;
#[path = "campaigns/subject.rs"]
mod subject;
#[path = "campaigns/throttled.rs"]
mod throttled;
#[path = "campaigns/truth.rs"]
mod truth;
