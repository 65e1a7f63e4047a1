//! Nothing is lost: whatever fails, is interrupted, killed, throttled or late, state tells the truth and the next apply
//! gets there. Each campaign runs real Terraform on whole topologies, and does one thing to them in many places.
//!
//! `cargo test` runs a sample of each campaign; with `FGW_TORTURE=whole` (`make torture`) they run whole, and leave
//! what they counted in `target/torture/` for `docs/reliability.md`.

#[path = "campaigns/campaign.rs"]
mod campaign;
#[path = "campaigns/every_call.rs"]
mod every_call;
#[path = "campaigns/interrupted.rs"]
mod interrupted;
#[path = "campaigns/killed.rs"]
mod killed;
#[path = "campaigns/moments.rs"]
mod moments;
#[path = "campaigns/mutations.rs"]
mod mutations;
#[path = "campaigns/newborn.rs"]
mod newborn;
#[path = "campaigns/panicking.rs"]
mod panicking;
#[path = "campaigns/recovery.rs"]
mod recovery;
#[path = "campaigns/replaced.rs"]
mod replaced;
#[path = "campaigns/roles.rs"]
mod roles;
#[path = "campaigns/secrets.rs"]
mod secrets;
#[path = "campaigns/smooth.rs"]
mod smooth;
#[path = "campaigns/strangers.rs"]
mod strangers;
#[path = "campaigns/stuck.rs"]
mod stuck;
#[path = "campaigns/subject.rs"]
mod subject;
#[path = "campaigns/throttled.rs"]
mod throttled;
#[path = "campaigns/truth.rs"]
mod truth;
