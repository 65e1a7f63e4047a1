//! Nothing is lost: whatever fails, is interrupted, killed, throttled or late, state tells the truth and the next apply
//! gets there. Each campaign runs real Terraform on whole topologies, and does one thing to them in many places.
//!
//! `cargo test` runs a sample of each campaign; with `FGW_TORTURE=whole` (`make torture`) they run whole, and leave what
//! they counted in `target/torture/` for `docs/reliability.md`.

#[path = "campaigns/campaign.rs"]
mod campaign;
#[path = "campaigns/interrupted.rs"]
mod interrupted;
#[path = "campaigns/killed.rs"]
mod killed;
#[path = "campaigns/moments.rs"]
mod moments;
#[path = "campaigns/recovery.rs"]
mod recovery;
#[path = "campaigns/replaced.rs"]
mod replaced;
#[path = "campaigns/smooth.rs"]
mod smooth;
#[path = "campaigns/subject.rs"]
mod subject;
#[path = "campaigns/truth.rs"]
mod truth;
