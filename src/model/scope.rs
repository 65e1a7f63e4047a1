//! The scope of the provider: partition, Region and account, and the tags that it sets and ignores.

use std::collections::BTreeSet;
use std::fmt;

use super::Tags;

/// The scope of the provider, from the provider block and the identity that AWS returns.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Scope {
    /// The partition, such as `aws` or `aws-cn`.
    pub partition: String,
    /// The Region, such as `eu-central-1`.
    pub region: String,
    /// The account ID; `None` if the provider block disables its lookup.
    pub account: Option<String>,
    /// Tags for all objects. A plan may not know some values, or none of them.
    pub default_tags: Tags,
    /// Tag keys that the provider ignores.
    pub ignore_tags: IgnoreTags,
    /// The IDs of the roots whose protected objects may be deleted.
    pub allow_protected_deletion: BTreeSet<String>,
}

/// What the provider block states about tags.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TagSettings {
    /// Tags for all objects. A plan may not know some values, or none of them.
    pub default_tags: Tags,
    /// Tag keys that the provider ignores.
    pub ignore_tags: IgnoreTags,
}

/// Where an object is. A part that is not known is `None`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Location {
    /// The partition, such as `aws` or `aws-cn`.
    pub partition: Option<String>,
    /// The Region, such as `eu-central-1`.
    pub region: Option<String>,
    /// The account ID.
    pub account: Option<String>,
}

impl Location {
    /// The location of objects that this provider creates.
    pub fn of(scope: &Scope) -> Location {
        let Scope { partition, region, account, .. } = scope;
        Location { partition: Some(partition.clone()), region: Some(region.clone()), account: account.clone() }
    }

    /// Whether no known part differs.
    pub fn may_equal(&self, other: &Location) -> bool {
        let differs = |one: &Option<String>, other: &Option<String>| one.is_some() && other.is_some() && one != other;
        !differs(&self.partition, &other.partition)
            && !differs(&self.region, &other.region)
            && !differs(&self.account, &other.account)
    }
}

/// `account 123456789012 in Region eu-central-1 (partition aws)`
impl fmt::Display for Location {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let unknown = "(unknown)";
        let part = |part: &Option<String>| part.clone().unwrap_or_else(|| unknown.to_string());
        let (partition, region, account) = (part(&self.partition), part(&self.region), part(&self.account));
        write!(f, "account {account} in Region {region} (partition {partition})")
    }
}

/// The partition that a Region belongs to.
pub fn partition_of(region: &str) -> &'static str {
    const BY_PREFIX: &[(&str, &str)] = &[
        ("cn-", "aws-cn"),
        ("us-gov-", "aws-us-gov"),
        ("us-iso-", "aws-iso"),
        ("us-isob-", "aws-iso-b"),
        ("eu-isoe-", "aws-iso-e"),
        ("us-isof-", "aws-iso-f"),
        ("eusc-", "aws-eusc"),
    ];
    BY_PREFIX.iter().find(|(prefix, _)| region.starts_with(prefix)).map_or("aws", |(_, partition)| partition)
}

/// Why a text cannot be the name of a Region, as a sentence. New Regions have names of the same form.
pub fn unusable_region(text: &str) -> Option<String> {
    let parts: Vec<&str> = text.split('-').collect();
    let is_lower = |part: &&str| !part.is_empty() && part.bytes().all(|it| it.is_ascii_lowercase());
    let is_region = match parts.split_last() {
        Some((number, names)) => names.len() >= 2 && names.iter().all(is_lower) && is_number(number),
        None => false,
    };
    (!is_region).then(|| format!("{text:?} is not the name of an AWS Region."))
}

fn is_number(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|it| it.is_ascii_digit())
}

/// Tag keys that are neither set, removed nor read.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct IgnoreTags {
    /// Exact keys.
    pub keys: Vec<String>,
    /// Prefixes of keys.
    pub key_prefixes: Vec<String>,
    /// Whether there may be further keys and prefixes, which are known only after apply.
    pub may_have_more: bool,
}

impl IgnoreTags {
    /// Whether the provider ignores this key.
    pub fn ignores(&self, key: &str) -> bool {
        self.keys.iter().any(|it| it == key) || self.key_prefixes.iter().any(|prefix| key.starts_with(prefix))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_unknown_part_of_a_location_differs_from_none() {
        let location = |partition: &str, region: &str, account: &str| {
            let part = |text: &str| Some(text.to_string()).filter(|text| !text.is_empty());
            Location { partition: part(partition), region: part(region), account: part(account) }
        };
        let here = location("aws", "us-east-1", "123456789012");
        for same in [location("aws", "us-east-1", ""), location("", "", ""), here.clone()] {
            assert!(here.may_equal(&same) && same.may_equal(&here), "{same}");
        }
        let others = [
            location("aws-cn", "us-east-1", "123456789012"),
            location("aws", "eu-west-1", ""),
            location("aws", "us-east-1", "210987654321"),
        ];
        for other in others {
            assert!(!here.may_equal(&other) && !other.may_equal(&here), "{other}");
        }
    }
}
