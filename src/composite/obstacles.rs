//! What others keep in a topology: looked for where a plan deletes, and where AWS has refused to.

use std::collections::BTreeMap;

use super::messages::End;
use super::planning::name;
use super::private::Private;
use super::{messages, refresh, state};
use crate::cloud::{Cause, Cloud, Connected, Connection, InTheWay, Within};
use crate::model::{Claim, Entry, Inventory, Object, Spec};
use crate::plugin::{Diagnostics, PlanRequest, PlanResponse, Value};
use crate::reconcile::{Action, Outcome, Plan};
use crate::topology::Product;

/// What keeps the objects of failed deletions, by position in the plan.
pub(super) type Culprits = BTreeMap<usize, InTheWay>;

/// The plan of a destroy: nothing is left, and what people should know of that. It fails for nothing that cannot be
/// looked up.
pub(super) async fn plan_of_destroy<P: Product>(connection: &Connection, request: PlanRequest) -> PlanResponse {
    let mut diagnostics = Diagnostics::default();
    let mut inventory = Private::decode(&request.prior_private).map(|private| private.inventory);
    let id = request.prior.get("id").as_str().unwrap_or_default();
    let in_the_way = match connection.get() {
        Connected::Ready(cloud) => Some(of_root::<P>(cloud.as_ref(), id, &request.prior, &mut inventory).await),
        Connected::Unknown | Connected::Missing => None,
    };
    let name = state::decode::<P>(&request.prior).map(|(_, config)| name::<P>(&config)).unwrap_or_default();
    let inventory = inventory.unwrap_or_default();
    messages::warn_of_end::<P>(End::Destroy, (&name, id), &inventory, in_the_way.as_ref(), &mut diagnostics);
    let private = request.prior_private;
    PlanResponse { planned: Value::Null, requires_replace: Vec::new(), private, diagnostics }
}

/// What a replacement takes away. Terraform asks for no plan of the destroy that is a part of it.
pub(super) async fn warn_of_replacement<P: Product>(
    cloud: &dyn Cloud,
    (name, id): (&str, &str),
    inventory: &Inventory,
    diagnostics: &mut Diagnostics,
) {
    let in_the_way = within_root::<P>(cloud, id, inventory).await;
    messages::warn_of_end::<P>(End::Replacement, (name, id), inventory, Some(&in_the_way), diagnostics);
}

/// What others keep in the root. An inventory that private state does not tell is looked up first.
async fn of_root<P: Product>(
    cloud: &dyn Cloud,
    root_id: &str,
    state: &Value,
    inventory: &mut Option<Inventory>,
) -> InTheWay {
    if inventory.is_none() {
        match refresh::rebuild::<P>(cloud, root_id, state).await {
            Ok(found) => *inventory = found.map(|private| private.inventory),
            Err(failure) => return InTheWay { obstacles: Vec::new(), unseen: vec![failure] },
        }
    }
    match inventory {
        Some(inventory) => within_root::<P>(cloud, root_id, inventory).await,
        None => InTheWay::default(),
    }
}

async fn within_root<P: Product>(cloud: &dyn Cloud, root_id: &str, inventory: &Inventory) -> InTheWay {
    match inventory.at(P::OWNER.root()) {
        Some(_) => cloud.in_the_way(P::OWNER, root_id, Within::Root, &inventory.entries).await,
        None => InTheWay::default(),
    }
}

/// What others have in the subnets that a plan deletes. Without such a subnet, nobody is asked.
pub(super) async fn in_deleted_subnets<P: Product>(cloud: &dyn Cloud, inventory: &Inventory, plan: &Plan) -> InTheWay {
    let ids = deleted(plan, Spec::holds_network_interfaces);
    in_deleted::<P>(cloud, inventory, &ids, Within::Subnets(&ids)).await
}

/// The paths that others have mapped in the custom domains that a plan deletes. Without such a domain, nobody is asked.
pub(super) async fn in_deleted_domains<P: Product>(cloud: &dyn Cloud, inventory: &Inventory, plan: &Plan) -> InTheWay {
    let names = deleted(plan, Spec::holds_api_mappings);
    in_deleted::<P>(cloud, inventory, &names, Within::Domains(&names)).await
}

fn deleted(plan: &Plan, is_meant: impl Fn(&Spec) -> bool) -> Vec<&str> {
    plan.deleted().filter(|entry| is_meant(entry.spec())).map(|entry| entry.id.as_str()).collect()
}

async fn in_deleted<P: Product>(
    cloud: &dyn Cloud,
    inventory: &Inventory,
    ids: &[&str],
    within: Within<'_>,
) -> InTheWay {
    match inventory.at(P::OWNER.root()) {
        Some(root) if !ids.is_empty() => cloud.in_the_way(P::OWNER, &root.id, within, &inventory.entries).await,
        _ => InTheWay::default(),
    }
}

/// Refuses a plan that makes a subnet where one has to go first which others use: the apply would wait for them in
/// vain, as Terraform changes them only afterwards.
pub(super) fn refuse_overlaps<P: Product>(
    name: &str,
    plan: &Plan,
    in_the_way: &InTheWay,
    diagnostics: &mut Diagnostics,
) {
    for old in plan.deleted() {
        let inside = in_the_way.holding(&old.id);
        if inside.is_empty() {
            continue;
        }
        for new in plan.ops.iter().filter_map(|op| match &op.action {
            Action::Create(object) => Some(object),
            _ => None,
        }) {
            if let Some((new_block, old_block)) = overlap(new, old) {
                messages::overlap::<P>(name, (new, &new_block), (old, &old_block), &inside, diagnostics);
            }
        }
    }
}

/// The two ranges, the new one first, where both cannot exist at once.
fn overlap(new: &Object, old: &Entry) -> Option<(String, String)> {
    let held = old.spec().claims();
    new.spec.claims().iter().find_map(|wanted| {
        let Claim::Addresses(new_block) = wanted else { return None };
        held.iter().find_map(|held| match held {
            Claim::Addresses(old_block) if wanted.collides(held) => {
                Some((new_block.to_string(), old_block.to_string()))
            }
            _ => None,
        })
    })
}

/// What keeps the objects that AWS would not delete because something uses them. After a stop nobody is asked.
pub(super) async fn of_failures<P: Product>(
    cloud: &dyn Cloud,
    inventory: &Inventory,
    plan: &Plan,
    outcome: &Outcome,
) -> Culprits {
    let in_use = outcome.failed.iter().filter(|(_, failure)| failure.cause == Cause::InUse);
    let kept: Vec<(usize, &Entry)> = in_use
        .filter_map(|(position, _)| match &plan.ops[*position].action {
            Action::Delete { entry, .. } => Some((*position, entry)),
            // A range of addresses stays as long as interfaces have some of it.
            Action::Update { id, to, .. } if to.spec.holds_network_interfaces() => {
                inventory.present().find(|entry| entry.id == *id).map(|entry| (*position, entry))
            }
            _ => None,
        })
        .collect();
    let root = inventory.at(P::OWNER.root());
    let Some(root) = root.filter(|_| !kept.is_empty() && !outcome.stopped && !P::OWNER.takes_foreign_objects_along())
    else {
        return Culprits::new();
    };
    let ids: Vec<&str> = kept.iter().map(|(_, entry)| entry.id.as_str()).collect();
    let only_subnets = kept.iter().all(|(_, entry)| entry.spec().holds_network_interfaces());
    let within = if only_subnets { Within::Subnets(&ids) } else { Within::Root };
    let found = cloud.in_the_way(P::OWNER, &root.id, within, &inventory.entries).await;
    let of_object = |entry: &Entry| match entry.id == root.id {
        true => found.clone(),
        false => InTheWay { obstacles: found.holding(&entry.id), unseen: found.unseen.clone() },
    };
    kept.into_iter().map(|(position, entry)| (position, of_object(entry))).collect()
}
