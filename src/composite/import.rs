//! Import of a topology by the id of its root, and the plans between the import and the first apply.

use super::decision::Basis;
use super::observe::unmanaged_objects;
use super::private_state::Private;
use super::protected::Protection;
use super::refresh::Foreign;
use super::{diagnostics, refresh, state};
use crate::cloud::{Cloud, Discovery, Failure, Members};
use crate::model::{Entry, Inventory};
use crate::plugin::{Attribute, AttributeType, Diagnostics, ImportResponse, Mode, Nested, Nesting, PlanEffect, Value};
use crate::topology::{IgnoredDrift, Topology};

/// Reads a root and its objects, and builds the state of a configuration that would create them.
pub(super) async fn import<P: Topology>(cloud: &dyn Cloud, id: &str, part: Option<&str>) -> ImportResponse {
    let mut diagnostics = Diagnostics::default();
    let imported = match found::<P>(cloud, (id, part), &mut diagnostics).await {
        Ok(imported) => imported,
        Err(failure) => {
            diagnostics::failed(format!("Could not import {} {id}", P::TYPE_NAME), &failure, &mut diagnostics);
            None
        }
    };
    let (state, private) = imported.map(|(state, private)| (Some(state), private.encode())).unwrap_or_default();
    ImportResponse { state, private, diagnostics }
}

/// The imported root; `None` if it cannot be imported, which is reported.
async fn found<P: Topology>(
    cloud: &dyn Cloud,
    (id, part): (&str, Option<&str>),
    diagnostics: &mut Diagnostics,
) -> Result<Option<(Value, Private)>, Failure> {
    let Some(discovery) = cloud.discover(P::KIND, id, None).await? else {
        diagnostics::no_such_root::<P>(id, cloud.scope(), diagnostics);
        return Ok(None);
    };
    let found = match discovery.landscape().is_own() {
        true => own::<P>(discovery, cloud, id, diagnostics).await?,
        false => foreign::<P>(discovery, cloud, (id, part), diagnostics).await?,
    };
    if let (Some((state, _)), Some(part), Some(name)) = (&found, part, P::PART)
        && state.get(name).as_str() != Some(part)
    {
        diagnostics::has_other_part::<P>(id, part, state.get(name), diagnostics);
        return Ok(None);
    }
    Ok(found)
}

/// Imports a root that this provider created.
async fn own<P: Topology>(
    discovery: Box<dyn Discovery + '_>,
    cloud: &dyn Cloud,
    id: &str,
    diagnostics: &mut Diagnostics,
) -> Result<Option<(Value, Private)>, Failure> {
    let seen = discovery.read(Members::Tagged).await?;
    let mut private = refresh::observed(None, seen, cloud.scope(), &IgnoredDrift::default());
    let Some(attributes) = P::imported(&private.inventory, cloud.scope()) else {
        diagnostics::no_such_root::<P>(id, cloud.scope(), diagnostics);
        return Ok(None);
    };
    diagnostics::found_by_tags::<P>(id, &private.inventory, diagnostics);
    private.imported = true;
    let state = refresh::state::<P>(&attributes, id, &private, cloud.scope());
    Ok(Some((state, private)))
}

/// Imports a foreign root, so that the next apply can adopt it.
async fn foreign<P: Topology>(
    discovery: Box<dyn Discovery + '_>,
    cloud: &dyn Cloud,
    (id, part): (&str, Option<&str>),
    diagnostics: &mut Diagnostics,
) -> Result<Option<(Value, Private)>, Failure> {
    let private = match refresh::classified::<P>(discovery, cloud.scope(), (id, part), &Value::Null).await? {
        Foreign::Adoptable(private) => *private,
        Foreign::NotAdoptable(reason) => {
            diagnostics::cannot_be_adopted::<P>(id, &reason, diagnostics);
            return Ok(None);
        }
        Foreign::Missing => {
            diagnostics::no_such_root::<P>(id, cloud.scope(), diagnostics);
            return Ok(None);
        }
    };
    let Some(state) = refresh::state_of_foreign::<P>(&Value::Null, id, &private, cloud) else {
        diagnostics::cannot_be_adopted::<P>(id, "no inputs reproduce it", diagnostics);
        return Ok(None);
    };
    diagnostics::not_adopted_yet::<P>(id, &private.inventory, &unmanaged_objects(&private), diagnostics);
    Ok(Some((state, private)))
}

/// Removes the objects from an imported inventory that the configuration does not claim, as they may belong to someone
/// else. Returns whether there were any.
pub(super) fn remove_unclaimed<P: Topology>(
    private: &mut Private,
    configuration: &Value,
    diagnostics: &mut Diagnostics,
) -> bool {
    let is_imported = private.imported;
    let all = private.inventory.clone();
    let is_unclaimed = |entry: &Entry| is_imported && !entry.is_applied() && !P::may_own(configuration, entry, &all);
    let mut has_removed = false;
    for entry in private.inventory.entries.extract_if(.., |entry| is_unclaimed(entry)) {
        has_removed = true;
        diagnostics::left_to_others(&entry, diagnostics);
    }
    has_removed
}

/// Removes the objects that AWS deletes with the root from an imported inventory, before a destroy. Only their tags say
/// that this provider has set their rules, so the destroy does not revoke these.
pub(super) fn keep_rules(private: &mut Private) {
    if private.imported {
        private.inventory.entries.retain(|entry| !entry.applied.is_adopted());
    }
}

/// Returns the planned state if the imported objects match the configuration. Terraform allows a provider to keep a
/// prior value that is equivalent to the configured one. It does not allow null for a configured value, nor a value for
/// null unless the attribute is computed or has a default. Such attributes are planned as configured, so that the first
/// plan shows them as changes. Together with the ones that are kept, they may mean something else: a default authorizer
/// protects the routes of which an import does not state that they are public. Then another one is planned as
/// configured, too. `None` if one is not enough.
pub(super) fn kept<P: Topology>(
    basis: &Basis<'_, P>,
    (prior, config, filled): (&Value, &Value, &Value),
    inventory: &Inventory,
) -> Option<Value> {
    let (mut planned, mut equivalent) = (prior.clone(), Vec::new());
    for attribute in P::Config::attributes() {
        let (was, given) = (prior.get(&attribute.name), config.get(&attribute.name));
        let may_be_kept = match attribute.mode {
            // Terraform compares a block attribute by attribute.
            Mode::Block => false,
            _ if differ_in_handling(&attribute, was, filled.get(&attribute.name)) => false,
            _ if given.is_null() => {
                was.is_null() || attribute.default.is_some() || attribute.mode == Mode::OptionalComputed
            }
            _ => !was.is_null(),
        };
        match may_be_kept {
            true => equivalent.extend((was != filled.get(&attribute.name)).then_some(attribute.name)),
            false => planned.set(&attribute.name, filled.get(&attribute.name).clone()),
        }
    }
    let changes_nothing = |planned: &Value| {
        let Ok((_, config)) = state::decode::<P>(&state::configured::<P>(planned)) else { return false };
        let (prior, scope, facts) = (basis.prior, basis.scope, basis.facts);
        let basis =
            Basis::<P> { config: &config, prior, scope, facts, protection: Protection::none(), may_rename: true };
        let decision = basis.decide(&mut inventory.clone(), &mut Diagnostics::default());
        decision.is_ok_and(|it| it.is_some_and(|it| it.plan.is_empty()))
    };
    let with_one_more = equivalent.iter().map(|name| {
        let mut more = planned.clone();
        more.set(name, filled.get(name).clone());
        more
    });
    std::iter::once(planned.clone()).chain(with_one_more).find(changes_nothing)
}

/// The inputs that a plan adds to state although no object changes.
pub(super) fn recorded<P: Topology>(prior: &Value, planned: &Value) -> Vec<String> {
    let names = P::Config::attributes().into_iter().map(|attribute| attribute.name);
    names.filter(|name| prior.get(name) != planned.get(name)).collect()
}

/// Whether two values of an attribute differ in an input whose value no object shows, also within entries of a map.
fn differ_in_handling(attribute: &Attribute, was: &Value, given: &Value) -> bool {
    match &attribute.kind {
        _ if attribute.change == Some(PlanEffect::Handling) => was != given,
        AttributeType::Nested(Nesting::Map, inputs) => was.as_map().into_iter().flatten().any(|(key, was)| {
            let given = given.get(key);
            inputs.iter().any(|input| differ_in_handling(input, was.get(&input.name), given.get(&input.name)))
        }),
        AttributeType::Plain(_) | AttributeType::Nested(..) => false,
    }
}
