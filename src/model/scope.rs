//! Where the provider works, and which tags it leaves to others.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// Where the provider works: what its own block says and the account answers.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Scope {
    /// Such as `aws`, `aws-cn`.
    pub partition: String,
    /// Such as `eu-central-1`.
    pub region: String,
    /// The account's id; `None` when the user told us not to ask.
    pub account: Option<String>,
    /// Tags for everything.
    pub default_tags: BTreeMap<String, String>,
    /// Tag keys that others manage.
    pub ignore_tags: IgnoreTags,
}

/// Tag keys that are neither set nor removed nor looked at.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct IgnoreTags {
    /// Exact keys.
    pub keys: Vec<String>,
    /// Beginnings of keys.
    pub key_prefixes: Vec<String>,
}

impl IgnoreTags {
    /// Whether others manage this key.
    pub fn ignores(&self, key: &str) -> bool {
        self.keys.iter().any(|it| it == key) || self.key_prefixes.iter().any(|prefix| key.starts_with(prefix))
    }
}
