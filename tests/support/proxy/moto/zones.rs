//! The zones of the Region, as a test configures them: new ones, impaired ones, and zones that are not Availability
//! Zones.

use std::sync::Mutex;

use super::{Answer, Done, Element, Repair, Request, async_trait, lock};

/// A zone as DescribeAvailabilityZones lists it. Subnets can be created only in moto's own zones: `us-east-1a` to
/// `us-east-1f`.
#[derive(Clone, Debug)]
pub(crate) struct Zone {
    name: String,
    id: String,
    state: String,
    kind: String,
    opt_in_status: String,
}

impl Zone {
    /// An available AZ that requires no opt-in.
    pub(crate) fn new(name: &str, id: &str) -> Self {
        let text = str::to_owned;
        let (state, kind) = (text("available"), text("availability-zone"));
        Self { name: text(name), id: text(id), state, kind, opt_in_status: text("opt-in-not-required") }
    }

    /// In state `information`, `impaired`, `unavailable` or `constrained`.
    pub(crate) fn state(self, state: &str) -> Self {
        Self { state: state.into(), ..self }
    }

    /// Of type `local-zone` or `wavelength-zone`, and opted in.
    pub(crate) fn kind(self, kind: &str) -> Self {
        Self { kind: kind.into(), opt_in_status: "opted-in".into(), ..self }
    }

    pub(crate) fn not_opted_in(self) -> Self {
        Self { opt_in_status: "not-opted-in".into(), ..self }
    }
}

/// The zones that a test has set; `None` for moto's own zones.
#[derive(Debug, Default)]
pub(crate) struct Zones(Mutex<Option<Vec<Zone>>>);

impl Zones {
    pub(in crate::support::proxy) fn set(&self, zones: &[Zone]) {
        *lock(&self.0) = Some(zones.to_vec());
    }
}

#[async_trait]
impl Repair for Zones {
    /// Replaces moto's zones. Ignores filters: not every endpoint supports them, so the provider must not rely on them.
    async fn after(&self, call: &Request<'_>, answer: &mut Answer) -> Done {
        if call.name != "DescribeAvailabilityZones" {
            return Ok(());
        }
        let root = answer.root()?;
        let list = root.child_mut("availabilityZoneInfo").ok_or("DescribeAvailabilityZones returns no list")?;
        if let Some(zones) = &*lock(&self.0) {
            list.children = zones.iter().map(|zone| item(zone, &call.region)).collect();
        } else {
            for zone in &mut list.children {
                set_groups(zone, "opt-in-not-required", &call.region);
            }
        }
        Ok(())
    }
}

fn item(zone: &Zone, region: &str) -> Element {
    let mut item = Element::leaf("item", "");
    for (name, value) in [
        ("regionName", region),
        ("zoneName", &zone.name),
        ("zoneId", &zone.id),
        ("zoneState", &zone.state),
        ("zoneType", &zone.kind),
    ] {
        item.set(name, value);
    }
    set_groups(&mut item, &zone.opt_in_status, region);
    item
}

/// AWS returns the opt-in status and the group of each zone; moto omits both.
fn set_groups(zone: &mut Element, opt_in_status: &str, region: &str) {
    for (name, value) in
        [("optInStatus", opt_in_status), ("groupName", &format!("{region}-zg-1")), ("networkBorderGroup", region)]
    {
        zone.set(name, value);
    }
}
