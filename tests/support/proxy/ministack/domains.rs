//! Custom domains: their settings are merged, change one update at a time and after some time, and name a trust store
//! that AWS reads. ministack replaces the settings at once, whatever they are.

use std::collections::BTreeMap;
use std::sync::Mutex;

use serde_json::{Map, Value, json};

use super::super::call::{Call, encode};
use super::super::lasts::{Begun, Lasts};
use super::super::message::{Message, Reply};
use super::super::upstream::Upstream;
use super::super::{Before, lock};
use super::{body_of, conflict};

const MUTUAL_TLS: &str = "mutualTlsAuthentication";
const CONFIGURATIONS: &str = "domainNameConfigurations";

/// An object in S3 with certificates.
#[derive(Clone, Debug)]
pub(crate) struct TrustStore {
    /// The certificates in PEM format.
    pub(crate) pem: String,
    /// What AWS remarks on them.
    pub(crate) warnings: Vec<String>,
}

#[derive(Debug, Default)]
pub(in super::super) struct Domains {
    /// How long an update takes; on AWS, some minutes.
    lasts: Mutex<Lasts>,
    /// By domain: the update in progress, and the trust store that clients meet until it is complete.
    changes: Mutex<BTreeMap<String, (Begun, Value)>>,
    /// The objects by URI and version; the version of an object without one is empty.
    stores: Mutex<BTreeMap<(String, String), TrustStore>>,
}

impl Domains {
    /// Updates that this ends stay ended, whatever is set later.
    pub(in super::super) fn set_lasts(&self, lasts: Lasts) {
        *lock(&self.lasts) = lasts;
        lock(&self.changes).retain(|_, (begun, _)| begun.goes_on(lasts));
    }

    pub(in super::super) fn add_store(&self, uri: &str, version: &str, store: TrustStore) {
        lock(&self.stores).insert((uri.to_owned(), version.to_owned()), store);
    }

    /// The certificates that clients of a domain need, with this setting in the emulator. `None` without mutual TLS.
    pub(in super::super) fn trusted(&self, name: &str, setting: &Value) -> Option<TrustStore> {
        let before = lock(&self.changes).get(name).filter(|(begun, _)| self.goes_on(begun)).map(|(_, it)| it.clone());
        let setting = before.unwrap_or_else(|| setting.clone());
        let text = |member: &str| setting[member].as_str().unwrap_or_default().to_owned();
        let place = Some((text("truststoreUri"), text("truststoreVersion"))).filter(|(uri, _)| !uri.is_empty())?;
        // A test that sets mutual TLS past the proxy may name any object: no client has a certificate for it.
        let nothing = || TrustStore { pem: String::new(), warnings: Vec::new() };
        Some(lock(&self.stores).get(&place).cloned().unwrap_or_else(nothing))
    }

    pub(super) async fn before(&self, emulator: &Upstream, call: &Call, message: Message) -> Result<Before, String> {
        let name = call.param("domainName");
        if call.action == "DeleteDomainName" {
            lock(&self.changes).remove(name);
            return Ok(Before::Forward(message));
        }
        let mut body = message.json();
        let is_update = call.action == "UpdateDomainName";
        let path = format!("/v2/domainnames/{}", encode(name));
        let (status, stored) = match is_update {
            true => emulator.rest(&message, "GET", &path, None).await?,
            false => (200, Value::Null),
        };
        if status != 200 {
            return Ok(Before::Forward(message));
        }
        // A rejection shows the state as well, so a caller that only repeats its call sees the end of the update, too.
        if let Some((begun, _)) = lock(&self.changes).get_mut(name)
            && self.goes_on(begun)
        {
            begun.shown();
            return Ok(Before::Answer(conflict(call, "There is already an update in progress")));
        }
        if body[CONFIGURATIONS].as_array().is_none_or(|all| all.len() != 1) {
            let text = "Invalid input. Expected one domain name configuration";
            return Ok(Before::Answer(Reply::error(call, 400, "BadRequestException", text)));
        }
        if let Some(sent) = body[MUTUAL_TLS].as_object().cloned() {
            let merged = merged(&stored[MUTUAL_TLS], &sent);
            if let Some(text) = self.unreadable(&merged) {
                return Ok(Before::Answer(Reply::error(call, 400, "BadRequestException", &text)));
            }
            body[MUTUAL_TLS] = merged;
        }
        if is_update {
            let sent = body[CONFIGURATIONS][0].as_object().cloned().unwrap_or_default();
            body[CONFIGURATIONS][0] = overlaid(&stored[CONFIGURATIONS][0], &sent);
            lock(&self.changes).insert(name.to_owned(), (Begun::now(), stored[MUTUAL_TLS].clone()));
        }
        Ok(Before::Forward(Message { body: body.to_string().into(), ..message }))
    }

    /// The status of a change in progress, and the warnings about trust stores. AWS shows no URI without mutual TLS.
    pub(super) fn after(&self, call: &Call, reply: Reply) -> Result<Reply, String> {
        let mut body = body_of(&reply)?;
        let is_read = call.action.starts_with("Get");
        let shown: Vec<&mut Value> = match body.get_mut("items") {
            Some(items) => items.as_array_mut().map(|items| items.iter_mut().collect()).unwrap_or_default(),
            None => vec![&mut body],
        };
        for domain in shown {
            let name = domain["domainName"].as_str().unwrap_or_default().to_owned();
            if let Some((begun, _)) = lock(&self.changes).get_mut(&name)
                && self.goes_on(begun)
            {
                domain[CONFIGURATIONS][0]["domainNameStatus"] = "UPDATING".into();
                if is_read {
                    begun.shown();
                }
            }
            if domain[MUTUAL_TLS]["truststoreUri"].as_str().is_some_and(str::is_empty) {
                domain[MUTUAL_TLS] = Value::Null;
            }
            let place = ["truststoreUri", "truststoreVersion"]
                .map(|member| domain[MUTUAL_TLS][member].as_str().unwrap_or_default().to_owned());
            let [uri, version] = place;
            if let Some(store) = lock(&self.stores).get(&(uri, version)).filter(|store| !store.warnings.is_empty()) {
                domain[MUTUAL_TLS]["truststoreWarnings"] = json!(store.warnings);
            }
        }
        Ok(reply.with_body(body.to_string()))
    }

    fn goes_on(&self, begun: &Begun) -> bool {
        begun.goes_on(*lock(&self.lasts))
    }

    /// The text with which AWS rejects an object that it cannot read, or that contains no certificate.
    fn unreadable(&self, setting: &Value) -> Option<String> {
        let text = |member: &str| setting[member].as_str().unwrap_or_default().to_owned();
        let (uri, version) = (text("truststoreUri"), text("truststoreVersion"));
        if uri.is_empty() {
            return None;
        }
        let store = lock(&self.stores).get(&(uri.clone(), version.clone())).cloned();
        match store {
            Some(store) if store.pem.contains("BEGIN CERTIFICATE") => None,
            Some(_) => Some(format!("The truststore {uri} contains no valid certificate")),
            None => {
                let version = if version.is_empty() { "N/A" } else { version.as_str() };
                Some(format!("Unable to access truststore URI {uri} version {version}"))
            }
        }
    }
}

/// Mutual TLS after an update. AWS keeps what a call omits; an empty URI turns it off.
fn merged(stored: &Value, sent: &Map<String, Value>) -> Value {
    match sent.get("truststoreUri").and_then(Value::as_str) {
        Some("") => json!({}),
        _ => overlaid(stored, sent),
    }
}

/// The stored members, with those of a call in place of them.
fn overlaid(stored: &Value, sent: &Map<String, Value>) -> Value {
    let mut all = stored.as_object().cloned().unwrap_or_default();
    all.extend(sent.clone());
    Value::Object(all)
}
