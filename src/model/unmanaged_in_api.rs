//! The routes and authorizers of an API that its resource does not manage. A decision respects what they use.

use std::collections::BTreeMap;

use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize};

use super::keys::gateway::API;
use super::{Authorization, Caller, Entry, Integration, Inventory, LambdaPermission, Learned, Spec};

/// The unmanaged routes and authorizers of an API, as the last read found them.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct UnmanagedInApi {
    /// The routes, sorted by key.
    pub routes: Vec<UnmanagedRoute>,
    /// The authorizers, sorted by name.
    pub authorizers: Vec<UnmanagedAuthorizer>,
}

/// An unmanaged route.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct UnmanagedRoute {
    /// `<METHOD> <path>` or `$default`.
    pub route_key: String,
    /// Its AWS ID.
    pub id: String,
    /// The ID of its integration, managed or not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub integration: Option<String>,
    /// The ARN of the function that the integration calls by a Lambda permission.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub function: Option<String>,
    /// The integration, if the inputs of a gateway can express it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub content: Option<Integration>,
    /// Its authorization. The authorizer, managed or not, is an ID. States of earlier versions contain only that, or
    /// the type of a route without one.
    #[serde(default, alias = "protection")]
    pub authorization: Authorization,
}

/// An unmanaged authorizer. Names are unique in an API.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct UnmanagedAuthorizer {
    /// Its name.
    pub name: String,
    /// Its AWS ID.
    pub id: String,
    /// The authorizer, if the inputs of a gateway can express it. States of earlier versions contain no type, because
    /// they express only REQUEST authorizers.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "content")]
    pub content: Option<Spec>,
}

impl UnmanagedInApi {
    /// The name under which the entry of the API stores them in `learned`. An empty value means that there are none any
    /// more.
    const LEARNED: &'static str = "unmanaged";

    /// Those that the last read found and that are not in the inventory.
    pub fn of(inventory: &Inventory) -> UnmanagedInApi {
        let stored = inventory.at(API).and_then(|api| api.learned.get(UnmanagedInApi::LEARNED));
        let stored = stored.filter(|text| !text.is_empty());
        let mut all: UnmanagedInApi = stored.and_then(|text| serde_json::from_str(text).ok()).unwrap_or_default();
        let is_managed = |id: &str| inventory.entries.iter().any(|entry| entry.id == id && !entry.is_missing());
        all.routes.retain(|route| !is_managed(&route.id));
        all.authorizers.retain(|authorizer| !is_managed(&authorizer.id));
        all
    }

    /// Records them in the values that a read learns of the API. Those of an earlier read are overwritten.
    pub fn learn(mut self, learned: &mut Learned, known: Option<&Learned>) {
        self.routes.sort_by(|one, other| (&one.route_key, &one.id).cmp(&(&other.route_key, &other.id)));
        self.authorizers.sort_by(|one, other| (&one.name, &one.id).cmp(&(&other.name, &other.id)));
        let text = match self == UnmanagedInApi::default() {
            true => known.is_some_and(|known| known.get(UnmanagedInApi::LEARNED).is_some()).then(String::new),
            false => serde_json::to_string(&self).ok(),
        };
        learned.extend(text.map(|text| (UnmanagedInApi::LEARNED.to_string(), text)));
    }

    /// Forgets those that are managed now, so that one that is deleted later does not count as unmanaged.
    pub fn forget_managed(inventory: &mut Inventory) {
        let left = UnmanagedInApi::of(inventory);
        let api = inventory.entries.iter_mut().find(|entry| entry.key.slot == API && entry.is_present());
        if let Some(api) = api {
            let known = api.learned.clone();
            left.learn(&mut api.learned, Some(&known));
        }
    }

    /// The routes that use an integration or an authorizer.
    pub fn users<'a>(&'a self, id: &'a str) -> impl Iterator<Item = &'a UnmanagedRoute> {
        let uses = move |route: &&UnmanagedRoute| {
            [route.integration.as_deref(), route.authorizer()].into_iter().flatten().any(|used| used == id)
        };
        self.routes.iter().filter(uses)
    }
}

impl UnmanagedRoute {
    /// The ID of its authorizer.
    pub fn authorizer(&self) -> Option<&str> {
        self.authorization.authorizer_id()
    }
}

fn content<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Spec>, D::Error> {
    let mut content = serde_json::Value::deserialize(deserializer)?;
    if let Some(fields) = content.as_object_mut() {
        fields.entry("kind").or_insert("authorizer".into());
    }
    serde_json::from_value(content).map_err(D::Error::custom)
}

/// The objects that unmanaged routes use: an integration, an authorizer, and the permission of such an authorizer. By
/// ID, with the ID of the object that the routes use.
pub(super) fn used_in_api(inventory: &Inventory) -> BTreeMap<String, String> {
    let unmanaged = UnmanagedInApi::of(inventory);
    let used = |entry: &Entry| match &entry.applied {
        Spec::Integration(_) | Spec::Authorizer(_) | Spec::JwtAuthorizer(_) => Some(entry.id.clone()),
        Spec::LambdaPermission(LambdaPermission { caller: Caller::Authorizer(key), .. }) => {
            inventory.present().find(|it| it.key == *key).map(|it| it.id.clone())
        }
        _ => None,
    };
    let of_entry = |entry: &Entry| Some((entry.id.clone(), used(entry)?));
    let all = inventory.present().filter_map(of_entry);
    all.filter(|(_, used)| unmanaged.users(used).next().is_some()).collect()
}

/// Describes the unmanaged routes that use an object with this ID.
pub(super) fn users_in_api(inventory: &Inventory, id: &str) -> Vec<String> {
    let unmanaged = UnmanagedInApi::of(inventory);
    unmanaged.users(id).map(|route| format!("route {:?} ({})", route.route_key, route.id)).collect()
}
