//! What a product is: a pure description of one resource type in terms of [`model`](crate::model).

pub mod four_tier_vpc;
pub mod http_gateway;
mod ignored;
#[cfg(test)]
pub(crate) mod rules;
mod tags;
pub mod timeouts;

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

pub use ignored::IgnoredDrift;
pub use tags::MOST_TAGS;
pub use timeouts::{OperationTimeouts, Timeouts};

use crate::cloud::Owner;
use crate::model::{Entry, Ids, Inventory, Object};
use crate::plugin::{Attribute, AttributePath, Input, Nested, Problem, Value};

/// One resource type. Everything here is pure: no I/O, no async, no clock.
pub trait Product: Send + Sync + 'static {
    /// The configuration as written.
    type Config: Nested + Clone + Send + Sync;

    /// The type in a configuration, such as `fgw_four_tier_vpc`.
    const TYPE_NAME: &'static str;

    /// Whose objects they are.
    const OWNER: Owner;

    /// The input that is the name, such as `vpc_name`.
    const NAME: &'static str;

    /// What the resource is, in Markdown.
    fn description() -> &'static str;

    /// The computed attributes beside those that every product has.
    fn outputs_schema() -> Vec<Attribute>;

    /// Outputs that users may also set, and that so stand among the inputs of the resource. A data source has them too.
    fn further_outputs() -> Vec<Attribute> {
        Vec::new()
    }

    /// The name that the user gave, which is part of the root's ownership tag.
    fn name(config: &Self::Config) -> &Input<String>;

    /// The user's own tags of the root, later maps over earlier ones, which with `default_tags` make `tags_all`.
    fn own_tags(config: &Self::Config) -> Vec<&crate::model::Tags>;

    /// Checks what can be checked without AWS, all at once. Unknown inputs are no problem.
    fn validate(config: &Self::Config) -> Vec<Problem>;

    /// The attributes whose change needs a new root. `prior` is the configuration applied last, `existing` what exists,
    /// which is empty while the provider does not know where it works.
    fn replaced_by(prior: &Self::Config, config: &Self::Config, existing: &Inventory) -> Vec<AttributePath>;

    /// What must be looked up in AWS for a blueprint.
    fn lookups(config: &Self::Config) -> Vec<Lookup>;

    /// The objects that should exist.
    fn blueprint(context: &Context<'_, Self::Config>) -> Result<Blueprint, Vec<Problem>>;

    /// The outputs that `outputs_schema` declares. `objects` is `None` while the blueprint is undecided; then
    /// every output is unknown that depends on it.
    fn outputs(
        config: &Self::Config,
        objects: Option<&[Object]>,
        ids: &Ids,
        scope: Option<&Scope>,
    ) -> BTreeMap<String, Value>;

    /// The configured attributes that reproduce what exists, for an import: what AWS shows, and for what it does not
    /// show the default or a value that leads to the same objects. `None` where nothing shows that this provider made
    /// it.
    fn imported(inventory: &Inventory, scope: &Scope) -> Option<Value>;

    /// Makes `attributes`, as [`imported`](Product::imported) gave them, what a later configuration is compared with:
    /// what AWS does not show is taken from that configuration. Both have their defaults filled in.
    fn take_as_applied(attributes: &mut Value, configuration: &Value, inventory: &Inventory);

    /// Whether what was found in AWS without a record of who made it can be this resource's, by the attributes of a
    /// state or a configuration, and what else was found. Asked of what AWS shows no owner of.
    fn may_own(attributes: &Value, found: &Entry, beside: &Inventory) -> bool {
        let _ = (attributes, found, beside);
        true
    }

    /// The objects that a state names and that may be found by their id alone, as its configuration wants them. Asked
    /// when nothing but that state is known, with nothing looked up.
    fn remembered(context: &Context<'_, Self::Config>) -> Vec<Object> {
        match Self::blueprint(context) {
            Ok(Blueprint::Decided { objects, .. }) => objects,
            _ => Vec::new(),
        }
    }

    /// Writes what differs in AWS from what was applied into the attributes of `state` that express it, so that
    /// Terraform shows it there.
    fn reflect(state: &mut Value, inventory: &Inventory);

    /// The objects whose drift is neither reported nor mended.
    fn ignored_drift(config: &Self::Config) -> IgnoredDrift;

    /// The timeouts that the user set.
    fn timeouts(config: &Self::Config) -> Timeouts;
}

/// What a blueprint is made from.
pub struct Context<'a, C> {
    /// The configuration, with defaults.
    pub config: &'a C,
    /// The configuration applied last, or what an import amounts to; `None` before the first apply.
    pub prior: Option<&'a C>,
    /// What exists. Choices that are frozen once made (AZs, CIDRs, places) are read from it.
    pub existing: &'a Inventory,
    /// Where the provider works.
    pub scope: &'a Scope,
    /// What was looked up.
    pub facts: &'a Facts,
}

/// What should exist.
#[derive(Clone, Debug, PartialEq)]
pub enum Blueprint {
    /// An unknown input decides which objects there are.
    Undecided,
    /// Which objects there are is known, though some of their inputs may not be.
    Decided {
        /// The objects, in the order of creation.
        objects: Vec<Object>,
        /// What the user should know before applying, about attributes of the configuration.
        warnings: Vec<Problem>,
        /// What does not exist yet and must before an apply, for Terraform may make it in the same run.
        missing: Vec<Problem>,
    },
}

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

/// Something to look up in AWS before a blueprint can be made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Lookup {
    /// The AZs of the Region.
    AvailabilityZones,
    /// The names of the gateway endpoint services.
    GatewayEndpointServices,
    /// The certificates of the Region for this domain.
    Certificates(String),
    /// The key with this id, alias or alias ARN.
    KmsKey(String),
}

/// What was looked up.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Facts {
    /// The AZs of the Region that the account may use, real ones only, in any state.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub availability_zones: Option<Vec<AvailabilityZone>>,
    /// Full names of the gateway endpoint services, such as `com.amazonaws.eu-central-1.s3`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gateway_endpoint_services: Option<Vec<String>>,
    /// The certificates of the Region for the domain that was asked for: issued and not expired.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub certificates: Option<Vec<Certificate>>,
    /// The key that was asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kms_key: Option<Found<String>>,
}

/// What a look for one thing found.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Found<T> {
    /// It is there.
    There(T),
    /// It is not there, or not yet.
    Missing,
}

/// A certificate of ACM.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Certificate {
    /// Its ARN, by which a renewal does not change it.
    pub arn: String,
    /// The names that it is for, some of them with a wildcard as their first label, in lower case.
    pub names: Vec<String>,
    /// From when it is valid, in seconds since 1970.
    pub not_before: i64,
}

/// One AZ.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct AvailabilityZone {
    /// Such as `us-east-1a`. Names differ between accounts.
    pub name: String,
    /// Such as `use1-az4`. Ids are the same for all accounts.
    pub id: String,
    /// `available`, `information`, `impaired` or `unavailable`.
    pub state: String,
}

impl Facts {
    /// The look-ups that nobody has made, because at plan their input was unknown, or that found nothing. What they
    /// look for may be made by the same run, between plan and apply.
    pub fn unanswered(&self, lookups: Vec<Lookup>) -> Vec<Lookup> {
        let is_unanswered = |lookup: &Lookup| match lookup {
            Lookup::AvailabilityZones => self.availability_zones.is_none(),
            Lookup::GatewayEndpointServices => self.gateway_endpoint_services.is_none(),
            Lookup::Certificates(_) => self.certificates.as_ref().is_none_or(Vec::is_empty),
            Lookup::KmsKey(_) => !matches!(self.kms_key, Some(Found::There(_))),
        };
        lookups.into_iter().filter(is_unanswered).collect()
    }

    /// The look-ups whose answer may have too little in it, although it is not empty: what a blueprint misses in a list
    /// may be made by the same run too. `asked` has been asked just now.
    pub fn incomplete(lookups: Vec<Lookup>, asked: &[Lookup]) -> Vec<Lookup> {
        let is_list = |lookup: &Lookup| matches!(lookup, Lookup::Certificates(_));
        lookups.into_iter().filter(|lookup| is_list(lookup) && !asked.contains(lookup)).collect()
    }

    /// The same, with the answers of a later look.
    #[must_use]
    pub fn with(self, later: Facts) -> Facts {
        Facts {
            availability_zones: later.availability_zones.or(self.availability_zones),
            gateway_endpoint_services: later.gateway_endpoint_services.or(self.gateway_endpoint_services),
            certificates: later.certificates.or(self.certificates),
            kms_key: later.kms_key.or(self.kms_key),
        }
    }
}

impl IgnoreTags {
    /// Whether others manage this key.
    pub fn ignores(&self, key: &str) -> bool {
        self.keys.iter().any(|it| it == key) || self.key_prefixes.iter().any(|prefix| key.starts_with(prefix))
    }
}
