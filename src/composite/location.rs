//! The partition, Region and account of a root, which are part of its identity. Pure.
//!
//! AWS returns nothing for an ID of another account or Region. A read must not take that for a deletion, and a plan or
//! an apply must not act on other objects. So an existing root stays in the Region of its state, whatever the Region of
//! the provider block is.

use super::diagnostics;
use crate::cloud::{Regions, SharedCloud};
use crate::model::{Arn, Inventory, Location, Scope, TagSettings, partition_of, unusable_region};
use crate::plugin::{
    Attribute, AttributePath, AttributeType, Check, Diagnostics, IdentityAttribute, ImportTarget, Mode, PlanEffect,
    Type, Value,
};
use crate::topology::Topology;

/// The name of the attribute.
pub(super) const REGION: &str = "region";
/// The name of the account in an identity.
const ACCOUNT: &str = "account_id";

/// The accounts that a plan uses.
pub(super) struct Planned {
    /// In the Region of the existing root; for a create, the same as `target`.
    pub(super) current: SharedCloud,
    /// In the Region of the planned root. It differs from `current` only in a replacement.
    pub(super) target: SharedCloud,
}

/// The attribute `region` of a resource.
pub(super) fn attribute() -> Attribute {
    region(
        "AWS Region, such as `eu-central-1`. Defaults to the Region of the provider block. If the Region of the \
         provider block changes, an existing resource without this argument stays in its Region until it is replaced.",
    )
    .change(PlanEffect::RequiresReplace("because AWS cannot move objects to another Region"))
}

/// The same, of a data source.
pub(super) fn attribute_of_data_source() -> Attribute {
    region("AWS Region in which the data source searches. Defaults to the Region of the provider block.")
}

fn region(description: &str) -> Attribute {
    let check = |value: &Value| match value.as_str().and_then(unusable_region) {
        Some(problem) => Err(problem),
        None => Ok(()),
    };
    Attribute::new(REGION, AttributeType::Plain(Type::String), description)
        .optional_computed()
        .check(Check::new("the name of an AWS Region, such as `eu-central-1`", check))
}

/// The same, of a list resource.
pub(super) fn attribute_of_list() -> Attribute {
    let mut attribute = region("AWS Region in which the list searches. Defaults to the Region of the provider block.");
    attribute.mode = Mode::Optional;
    attribute
}

/// Returns the account in the Region of a state, or in that of the provider block if the state has none. If the root
/// is in another account or partition, returns `None` and adds an error.
pub(super) fn of_state<P: Topology>(
    regions: &Regions,
    state: &Value,
    diagnostics: &mut Diagnostics,
) -> Option<SharedCloud> {
    let stored = stored::<P>(state);
    let cloud = cloud_of_state::<P>(regions, state);
    let connected = Location::of(cloud.scope());
    if !stored.may_equal(&connected) {
        let id = state.get("id").as_str().unwrap_or_default();
        diagnostics::elsewhere::<P>(id, &stored, &connected, diagnostics);
        return None;
    }
    Some(cloud)
}

/// Returns the account in the Region of a state, whichever account that state is of.
pub(super) fn cloud_of_state<P: Topology>(regions: &Regions, state: &Value) -> SharedCloud {
    regions.region(stored::<P>(state).region.as_deref())
}

/// Returns the account in the Region that a configuration requires; null is that of the provider block. If the Region
/// is in another partition, returns `None` and adds an error.
pub(super) fn of_config(regions: &Regions, configured: &Value, diagnostics: &mut Diagnostics) -> Option<SharedCloud> {
    let Some(region) = configured.as_str() else { return Some(regions.default().clone()) };
    let scope = regions.default().scope();
    // A Region that this version does not know may belong to any partition.
    if region != scope.region && partition_of(region) != partition_of(&scope.region) {
        diagnostics::other_partition(region, scope, diagnostics);
        return None;
    }
    Some(regions.region(Some(region)))
}

/// Returns the accounts of a plan. Without an account, returns `None` and adds an error.
pub(super) fn planned<P: Topology>(
    regions: &Regions,
    prior: &Value,
    configured: &Value,
    diagnostics: &mut Diagnostics,
) -> Option<Planned> {
    if prior.is_null() {
        let target = of_config(regions, configured, diagnostics)?;
        return Some(Planned { current: target.clone(), target });
    }
    let current = of_state::<P>(regions, prior, diagnostics)?;
    if configured.is_null() {
        return Some(Planned { target: current.clone(), current });
    }
    Some(Planned { target: of_config(regions, configured, diagnostics)?, current })
}

/// Warns if an existing root is in another Region than that of the provider block and the configuration does not say
/// so. A replacement is created in the latter, because Terraform plans it as a new resource.
pub(super) fn warn_of_default<P: Topology>(
    regions: &Regions,
    planned: &Planned,
    prior: &Value,
    configured: &Value,
    is_replaced: bool,
    diagnostics: &mut Diagnostics,
) {
    let (here, there) = (&planned.current.scope().region, &regions.default().scope().region);
    if configured.is_null() && !prior.is_null() && here != there {
        diagnostics::warn_of_another_region::<P>(prior, here, there, is_replaced, diagnostics);
    }
}

/// Adds an error if the configured Region of an existing root is unknown, because then it is unknown whether the root
/// is replaced. Returns whether it has added one.
pub(super) fn refuse_unknown(prior: &Value, configured: &Value, diagnostics: &mut Diagnostics) -> bool {
    let is_refused = !prior.is_null() && configured.is_unknown();
    if is_refused {
        diagnostics::unknown_region(diagnostics);
    }
    is_refused
}

impl Planned {
    /// The attributes that require a replacement because the Region differs.
    pub(super) fn replaced_by(&self) -> Option<AttributePath> {
        (self.current.scope().region != self.target.scope().region).then(|| AttributePath::new(REGION))
    }
}

/// The attributes that require a replacement because the Region differs, if the provider is not connected.
pub(super) fn replaced_without_account<P: Topology>(prior: &Value, configured: &Value) -> Option<AttributePath> {
    let stored = stored::<P>(prior).region?;
    (configured.as_str()? != stored).then(|| AttributePath::new(REGION))
}

/// Returns the planned Region if the provider is not connected.
pub(super) fn without_account<P: Topology>(prior: &Value, configured: &Value) -> Value {
    if !configured.is_null() {
        return configured.clone();
    }
    stored::<P>(prior).region.map_or(Value::Unknown, Value::from)
}

/// Returns the scope of an existing root if the provider is not connected. `None` if the state does not contain it.
pub(super) fn scope_without_account<P: Topology>(state: &Value, tags: &TagSettings) -> Option<Scope> {
    let Location { partition, region, account } = stored::<P>(state);
    let TagSettings { default_tags, ignore_tags } = tags.clone();
    Some(Scope {
        partition: partition?,
        region: region?,
        account: Some(account?),
        default_tags,
        ignore_tags,
        ..Scope::default()
    })
}

/// The attributes of the identity of a root, which Terraform stores with the state.
pub(super) fn identity_schema() -> Vec<IdentityAttribute> {
    let attribute = |name, is_required, description| IdentityAttribute { name, is_required, description };
    vec![
        attribute("id", true, "ID of the VPC or of the API"),
        attribute(REGION, false, "AWS Region; defaults to that of the provider block"),
        attribute(ACCOUNT, false, "ID of the AWS account; an import checks it"),
    ]
}

/// Returns the identity of the root in a state.
pub(super) fn identity<P: Topology>(state: &Value) -> Option<Value> {
    let Location { region, account, .. } = stored::<P>(state);
    Some(to_identity(state.get("id").as_str()?, region, account))
}

/// Returns the identity of a root in the account and Region of a scope.
pub(super) fn identity_of(id: &str, scope: &Scope) -> Value {
    to_identity(id, Some(scope.region.clone()), scope.account.clone())
}

fn to_identity(id: &str, region: Option<String>, account: Option<String>) -> Value {
    let part = |part: Option<String>| part.map_or(Value::Null, Value::from);
    Value::map([("id", id.into()), (REGION, part(region)), (ACCOUNT, part(account))])
}

/// What an import is to find.
pub(super) struct Imported {
    pub(super) id: String,
    /// The chosen part of the root, see [`Topology::PART`].
    pub(super) part: Option<String>,
    /// The account in the Region of the root.
    pub(super) cloud: SharedCloud,
}

/// Returns what an import is to find: an ID, optionally with a slash and a part of the root, and with `@` and the
/// Region, or an identity. If it has no ID, or an identity is that of another account, adds an error and returns
/// `None`.
pub(super) fn imported<P: Topology>(
    regions: &Regions,
    target: ImportTarget,
    diagnostics: &mut Diagnostics,
) -> Option<Imported> {
    let (id, region, account) = match target {
        ImportTarget::Id(id) => match id.split_once('@') {
            Some((id, region)) => (id.to_string(), Some(region.to_string()), None),
            None => (id, None, None),
        },
        ImportTarget::Identity(identity) => {
            let text = |name: &str| identity.get(name).as_str().map(str::to_string);
            (text("id").unwrap_or_default(), text(REGION), text(ACCOUNT))
        }
    };
    if id.trim().is_empty() {
        diagnostics::empty_import_id::<P>(diagnostics);
        return None;
    }
    // An ARN has slashes too, and is not accepted.
    let parts = id.split_once('/').filter(|(id, part)| P::PART.is_some() && P::KIND.accepts_id(id) && !part.is_empty());
    let (id, part) = match parts {
        Some((id, part)) => (id.to_string(), Some(part.to_string())),
        None => (id, None),
    };
    if !P::KIND.accepts_id(&id) {
        diagnostics::invalid_import_id::<P>(&id, diagnostics);
        return None;
    }
    if let Some(problem) = region.as_deref().and_then(unusable_region) {
        diagnostics::invalid_import_region::<P>(&id, &problem, diagnostics);
        return None;
    }
    let cloud = of_config(regions, &region.map_or(Value::Null, Value::from), diagnostics)?;
    if let (Some(expected), Some(connected)) = (&account, &cloud.scope().account)
        && expected != connected
    {
        diagnostics::import_from_another_account::<P>(&id, expected, connected, diagnostics);
        return None;
    }
    Some(Imported { id, part, cloud })
}

/// Keeps the ARNs of a root that no longer exists in the state of the objects that have outlived it. They are in the
/// same account and Region.
pub(super) fn keep<P: Topology>(before: &Value, inventory: &Inventory, state: &mut Value) {
    if inventory.at(P::KIND.root()).is_none() {
        for name in P::ROOT_ARNS {
            state.set(name, before.get(name).clone());
        }
    }
}

/// Sets the Region of a state.
pub(super) fn write(scope: Option<&Scope>, state: &mut Value) {
    state.set(REGION, scope.map_or(Value::Unknown, |scope| scope.region.as_str().into()));
}

/// The location of the root in a state. Parts that the state does not contain are `None`. States of version 0.1 contain
/// the Region only in ARNs.
fn stored<P: Topology>(state: &Value) -> Location {
    let mut location = Location::default();
    let part = |text: &str| Some(text.to_string()).filter(|text| !text.is_empty());
    location.region = state.get(REGION).as_str().and_then(part);
    for arn in P::ROOT_ARNS.iter().filter_map(|name| Arn::split(state.get(name).as_str()?).ok()) {
        location.partition = location.partition.or(part(arn.partition));
        location.region = location.region.or(part(arn.region));
        location.account = location.account.or(part(arn.account));
    }
    location
}
