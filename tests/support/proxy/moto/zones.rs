//! The zones of the Region as a test wants them: AWS opens some, impairs others, and some are no AZs at all.

use std::sync::Mutex;

use crate::support::proxy::call::Call;
use crate::support::proxy::lock;
use crate::support::proxy::message::Reply;
use crate::support::proxy::xml::Element;

/// A zone as DescribeAvailabilityZones lists it. Subnets can be made only in those of moto: `us-east-1a` to `f`.
#[derive(Clone, Debug)]
pub(crate) struct Zone {
    name: String,
    id: String,
    state: String,
    kind: String,
    opt_in_status: String,
}

impl Zone {
    /// An AZ that is available to everybody.
    pub(crate) fn new(name: &str, id: &str) -> Self {
        let text = str::to_owned;
        let (state, kind) = (text("available"), text("availability-zone"));
        Self { name: text(name), id: text(id), state, kind, opt_in_status: text("opt-in-not-required") }
    }

    /// In state `information`, `impaired`, `unavailable` or `constrained`.
    pub(crate) fn state(self, state: &str) -> Self {
        Self { state: state.into(), ..self }
    }

    /// Of type `local-zone` or `wavelength-zone`, opted in to.
    pub(crate) fn kind(self, kind: &str) -> Self {
        Self { kind: kind.into(), opt_in_status: "opted-in".into(), ..self }
    }

    pub(crate) fn not_opted_in(self) -> Self {
        Self { opt_in_status: "not-opted-in".into(), ..self }
    }
}

/// What a test says that there is; nothing while moto's own zones are shown.
#[derive(Debug, Default)]
pub(in crate::support::proxy) struct Zones(Mutex<Option<Vec<Zone>>>);

impl Zones {
    pub(in crate::support::proxy) fn set(&self, zones: &[Zone]) {
        *lock(&self.0) = Some(zones.to_vec());
    }

    /// Replaces moto's zones. Filters are not obeyed: not every endpoint does, and the product must not rely on them.
    pub(super) fn described(&self, call: &Call, reply: Reply) -> Result<Reply, String> {
        let mut root = Element::parse(&reply.text())?;
        let list = root.child_mut("availabilityZoneInfo").ok_or("DescribeAvailabilityZones answers no list")?;
        if let Some(zones) = &*lock(&self.0) {
            list.children = zones.iter().map(|zone| item(zone, &call.region)).collect();
        } else {
            for zone in &mut list.children {
                say_groups(zone, "opt-in-not-required", &call.region);
            }
        }
        Ok(reply.with_body(root.to_string()))
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
    say_groups(&mut item, &zone.opt_in_status, region);
    item
}

/// AWS says of each zone whether it was opted into, and to which group it belongs; moto leaves that out.
fn say_groups(zone: &mut Element, opt_in_status: &str, region: &str) {
    for (name, value) in
        [("optInStatus", opt_in_status), ("groupName", &format!("{region}-zg-1")), ("networkBorderGroup", region)]
    {
        zone.set(name, value);
    }
}
