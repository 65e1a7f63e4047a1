//! The differences between ministack and Route 53: ministack accepts any name in any zone, and a record without a set
//! identifier next to records with one or next to a CNAME.

use super::super::Before;
use super::super::call::Call;
use super::super::message::{Message, Reply};
use super::super::upstream::Upstream;
use super::super::xml::Element;

pub(super) async fn before(emulator: &Upstream, call: &Call, message: Message) -> Result<Before, String> {
    if call.action != "ChangeResourceRecordSets" {
        return Ok(Before::Forward(message));
    }
    let zone = format!("/2013-04-01/hostedzone/{}", call.param("Id"));
    let records = get(emulator, &message, &format!("{zone}/rrset")).await?;
    let zone = get(emulator, &message, &zone).await?;
    let (Some(zone), Some(records)) = (zone, records) else { return Ok(Before::Forward(message)) };
    let zone_name = zone.child("HostedZone").ok_or("a zone has an element")?.text_of("Name").to_owned();
    let batch = Element::parse(&String::from_utf8_lossy(&message.body))?;
    let changes = batch.child("ChangeBatch").map_or(&[][..], |batch| batch.items("Changes"));
    for change in changes.iter().filter(|change| change.text_of("Action") != "DELETE") {
        let set = change.child("ResourceRecordSet").ok_or("a change has a record set")?;
        if let Some(text) = rejection(set, &zone_name, records.items("ResourceRecordSets")) {
            return Ok(Before::Answer(Reply::error(call, 400, "InvalidChangeBatch", &text)));
        }
    }
    Ok(Before::Forward(message))
}

/// AWS's error if it rejects a record set in a zone with these records.
fn rejection(set: &Element, zone: &str, records: &[Element]) -> Option<String> {
    let (name, kind) = (dotted(set.text_of("Name")), set.text_of("Type"));
    if name != zone && !name.ends_with(&format!(".{zone}")) {
        return Some(format!("RRSet with DNS name {name} is not permitted in zone {zone}"));
    }
    let mut same = records.iter().filter(|it| dotted(it.text_of("Name")) == name);
    if same.clone().any(|it| (it.text_of("Type") == "CNAME") != (kind == "CNAME") && it.text_of("Type") != kind) {
        let conflict = if kind == "CNAME" { "another type" } else { "type CNAME" };
        return Some(format!(
            "RRSet of type {kind} with DNS name {name} is not permitted because a conflicting RRSet of {conflict} with the \
             same DNS name already exists in zone {zone}"
        ));
    }
    let is_routed = |it: &Element| it.child("SetIdentifier").is_some();
    let mixes = same.any(|it| it.text_of("Type") == kind && is_routed(it) != is_routed(set));
    mixes.then(|| {
        format!("RRSet with DNS name {name}, type {kind} cannot be created as other RRSets exist with the same name and type")
    })
}

/// The resource at a path; `None` if the emulator returns an error.
async fn get(emulator: &Upstream, origin: &Message, path: &str) -> Result<Option<Element>, String> {
    let message = Message { method: "GET".into(), target: path.into(), body: Default::default(), ..origin.clone() };
    let reply = emulator.forward(&Call::parse(&message), &message).await?;
    if reply.is_success() { Element::parse(&reply.text()).map(Some) } else { Ok(None) }
}

fn dotted(name: &str) -> String {
    format!("{}.", name.trim_end_matches('.').to_lowercase())
}
