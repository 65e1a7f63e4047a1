//! The scope of the provider: partition, Region and account, and the tags that it sets and ignores.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// The scope of the provider, from the provider block and the identity that AWS returns.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Scope {
    /// The partition, such as `aws` or `aws-cn`.
    pub partition: String,
    /// The Region, such as `eu-central-1`.
    pub region: String,
    /// The account ID; `None` if the provider block disables its lookup.
    pub account: Option<String>,
    /// Tags for all objects.
    pub default_tags: BTreeMap<String, String>,
    /// Tag keys that the provider ignores.
    pub ignore_tags: IgnoreTags,
}

/// Tag keys that are neither set, removed nor read.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct IgnoreTags {
    /// Exact keys.
    pub keys: Vec<String>,
    /// Prefixes of keys.
    pub key_prefixes: Vec<String>,
}

impl IgnoreTags {
    /// Whether the provider ignores this key.
    pub fn ignores(&self, key: &str) -> bool {
        self.keys.iter().any(|it| it == key) || self.key_prefixes.iter().any(|prefix| key.starts_with(prefix))
    }
}
