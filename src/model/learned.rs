//! Values that AWS returned for an object in addition to its inputs.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::{FoundSettings, LeftBehind, printable};

/// What is known of an object besides its ID and its inputs.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Learned {
    /// The attributes that AWS computed, by name, such as `public_ip` and `owner_id`.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub attributes: BTreeMap<String, String>,
    /// Of a route table, as the last read found them: the destinations and targets of its unmanaged routes.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unmanaged_routes: Vec<(String, String)>,
    /// Of the main route table, as the last read found them: the IDs of the unmanaged subnets that it serves, because
    /// they are associated with no route table.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub implicit_subnets: Vec<String>,
    /// Of a subnet, as the last read found it: the ID of its network ACL, if that is not the default one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub network_acl_id: Option<String>,
    /// Of an interface endpoint: its addresses.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub endpoint: Option<EndpointAddresses>,
    /// The settings that differ from those of a new object and that no input sets, or no input of this object: their
    /// values by name.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub unexpressed: BTreeMap<String, String>,
    /// What AWS has remarked on the current settings, although it accepted them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub remarks: Vec<String>,
    /// Of a stage: the settings of its routes.
    #[serde(default, skip_serializing_if = "FoundSettings::is_empty")]
    pub route_settings: Box<FoundSettings>,
}

/// What AWS created for an interface endpoint in its subnets.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct EndpointAddresses {
    /// The IDs of the subnets, sorted.
    pub subnets: Vec<String>,
    /// Whether it has private DNS names.
    pub has_private_dns: bool,
    /// The IDs of its network interfaces, sorted.
    pub network_interfaces: Vec<String>,
    /// Its DNS names, in the order of AWS.
    pub dns_entries: Vec<DnsEntry>,
}

/// A DNS name of an interface endpoint.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DnsEntry {
    /// The name.
    pub name: String,
    /// The ID of its hosted zone.
    pub hosted_zone_id: String,
}

impl Learned {
    /// Nothing.
    pub fn new() -> Learned {
        Learned::default()
    }

    /// Whether nothing is known.
    pub fn is_empty(&self) -> bool {
        *self == Learned::default()
    }

    /// An attribute.
    pub fn get(&self, name: &str) -> Option<&String> {
        self.attributes.get(name)
    }

    /// Sets an attribute.
    pub fn insert(&mut self, name: String, value: String) {
        self.attributes.insert(name, value);
    }

    /// The settings that no input sets, none of which protects anything.
    pub fn left_behind(&self) -> Vec<LeftBehind> {
        self.unexpressed.iter().map(|(name, value)| LeftBehind::new(format!("{name} {}", printable(value)))).collect()
    }

    /// Takes over what a read returned. Attributes that it did not return stay.
    pub fn update(&mut self, read: Learned) {
        let mut attributes = std::mem::take(&mut self.attributes);
        attributes.extend(read.attributes);
        *self = Learned { attributes, ..read };
    }
}

impl FromIterator<(String, String)> for Learned {
    fn from_iter<T: IntoIterator<Item = (String, String)>>(attributes: T) -> Learned {
        Learned { attributes: attributes.into_iter().collect(), ..Learned::default() }
    }
}

impl<const N: usize> From<[(String, String); N]> for Learned {
    fn from(attributes: [(String, String); N]) -> Learned {
        attributes.into_iter().collect()
    }
}

impl Extend<(String, String)> for Learned {
    fn extend<T: IntoIterator<Item = (String, String)>>(&mut self, attributes: T) {
        self.attributes.extend(attributes);
    }
}

/// An attribute. Panics if there is none.
impl std::ops::Index<&str> for Learned {
    type Output = String;

    fn index(&self, name: &str) -> &String {
        &self.attributes[name]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_read_replaces_what_surrounds_an_object_and_keeps_attributes() {
        let attribute = |name: &str| (name.to_string(), "value".to_string());
        let mut learned = Learned { implicit_subnets: vec!["subnet-9".into()], ..Learned::from([attribute("arn")]) };
        learned.update(Learned::from([attribute("owner_id")]));
        assert_eq!(learned, Learned::from([attribute("arn"), attribute("owner_id")]));
    }
}
