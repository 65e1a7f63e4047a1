//! Custom domains to which others have mapped their APIs. AWS keeps a domain while it has mappings, so an update that
//! no longer requires it leaves the domain, its mapping and its DNS record together.

use super::{Entry, Inventory, Key, Learned, Object};

/// The name under which the entry of a domain stores its mappings to other APIs in `learned`, such as
/// `m2 (api2/prod)`. An empty value means that there are none any more.
const LEARNED: &str = "mappings_to_other_apis";

/// Records the mappings of a domain to other APIs in the values that a read learns of it. Those of an earlier read are
/// overwritten.
pub(crate) fn learn_mappings(mappings: &[String], learned: &mut Learned, known: &Learned) {
    if !mappings.is_empty() || known.get(LEARNED).is_some() {
        learned.insert(LEARNED.to_string(), mappings.join(", "));
    }
}

/// The mappings of a domain to other APIs that the last read found, if there are any.
pub fn mappings_to_other_apis(domain: &Entry) -> Option<&str> {
    domain.learned.get(LEARNED).map(String::as_str).filter(|mappings| !mappings.is_empty())
}

/// The objects that an update leaves although the configuration does not require them: each shared domain, and what
/// leads to it. A destroy, which requires nothing, leaves none.
pub fn kept_with_shared_domains<'a>(inventory: &'a Inventory, wanted: &[Object]) -> Vec<&'a Entry> {
    let is_required = |key: &Key| wanted.iter().any(|object| object.key == *key);
    if wanted.is_empty() {
        return Vec::new();
    }
    let is_shared = |entry: &&Entry| entry.spec().holds_api_mappings() && mappings_to_other_apis(entry).is_some();
    let shared: Vec<&Key> = inventory.present().filter(is_shared).map(|entry| &entry.key).collect();
    let is_of_shared = |entry: &&Entry| {
        let mut needs = entry.applied.needs().into_iter();
        !is_required(&entry.key)
            && (shared.contains(&&entry.key)
                || needs.any(|need| shared.contains(&&need.key) && !is_required(&need.key)))
    };
    inventory.present().filter(is_of_shared).collect()
}
