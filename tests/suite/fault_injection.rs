//! Fault injection: whatever fails, is interrupted, killed, throttled or late, the state is accurate and the next apply
//! completes the work. Each campaign runs real Terraform on whole topologies, and injects one kind of fault in many
//! places.
//!
//! `cargo test` runs a sample of each campaign. With `FGW_FAULTS=whole` (`make faults`), all cases run, and their
//! counts are written to `target/faults/` for `docs/reliability.md`.

#[path = "fault_injection/adopted.rs"]
mod adopted;
#[path = "fault_injection/campaign.rs"]
mod campaign;
#[path = "fault_injection/every_call.rs"]
mod every_call;
#[path = "fault_injection/interrupted.rs"]
mod interrupted;
#[path = "fault_injection/killed.rs"]
mod killed;
#[path = "fault_injection/moments.rs"]
mod moments;
#[path = "fault_injection/mutations.rs"]
mod mutations;
#[path = "fault_injection/eventual_consistency.rs"]
mod eventual_consistency;
#[path = "fault_injection/panicking.rs"]
mod panicking;
#[path = "fault_injection/recovery.rs"]
mod recovery;
#[path = "fault_injection/replaced.rs"]
mod replaced;
#[path = "fault_injection/roles.rs"]
mod roles;
#[path = "fault_injection/secrets.rs"]
mod secrets;
#[path = "fault_injection/baseline.rs"]
mod baseline;
#[path = "fault_injection/targets.rs"]
mod targets;
#[path = "fault_injection/unknown_clients.rs"]
mod unknown_clients;
#[path = "fault_injection/stuck.rs"]
mod stuck;
#[path = "fault_injection/subject.rs"]
mod subject;
#[path = "fault_injection/throttled.rs"]
mod throttled;
#[path = "fault_injection/unsaved.rs"]
mod unsaved;
