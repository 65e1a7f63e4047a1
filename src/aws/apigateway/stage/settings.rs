//! Throttling and metrics of the stage and its routes.
//!
//! - `UpdateStage` merges the default settings, the map of those of routes, and the members of each. It cannot remove a
//!   member; `DeleteRouteSettings` removes all settings of one route.
//! - The settings of a route outlive it. As long as a stage has settings of a missing route, AWS rejects an
//!   `UpdateStage` with settings of any route (hashicorp/terraform-provider-aws#16094), so they are deleted before the
//!   route.
//! - Without an entry, a route has the default settings of the stage. With one, an absent member has the value of the
//!   account.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use aws_sdk_apigatewayv2::types::{RouteSettings as Sent, Stage as Shown};

use super::get;
use super::shown::{Place, keys_with_settings};
use crate::aws::apigateway::{change, client, is_absent, small};
use crate::aws::calls::Operation;
use crate::aws::calls::codes::is_stale_route_settings;
use crate::aws::calls::non_idempotent::Mutation;
use crate::cloud::{Failure, Observed, Unmanaged};
use crate::model::{FoundSettings, Input, Learned, RouteSettings, Stage};

/// The settings of a stage. Metrics that are off are absent, as in a stage that never had settings.
pub(super) fn found(shown: &Shown, route_keys: &BTreeSet<&str>) -> FoundSettings {
    let default = shown.default_route_settings.as_ref().map(members).unwrap_or_default();
    let routes = shown.route_settings.iter().flatten().map(|(key, shown)| (key.clone(), members(shown)));
    let routes: BTreeMap<String, RouteSettings> = routes.collect();
    let stale = routes.keys().filter(|key| !route_keys.contains(key.as_str())).cloned().collect();
    FoundSettings { default, routes, stale }
}

fn members(shown: &Sent) -> RouteSettings {
    RouteSettings {
        throttling_rate_limit: shown.throttling_rate_limit.into(),
        throttling_burst_limit: shown.throttling_burst_limit.map(i64::from).into(),
        detailed_metrics_enabled: shown.detailed_metrics_enabled.filter(|is_on| *is_on).into(),
    }
}

/// Keeps the description and the settings of the last apply. Of these, absent metrics are off.
pub(super) fn keep_known(spec: &mut Stage, applied: &Stage) {
    let off = |found: &mut RouteSettings, applied: &RouteSettings| {
        if applied.detailed_metrics_enabled == Input::Known(Some(false)) {
            *found =
                found.or(&RouteSettings { detailed_metrics_enabled: Some(false).into(), ..RouteSettings::default() });
        }
    };
    spec.keep_managed_of(applied);
    off(&mut spec.default_settings, &applied.default_settings);
    for (key, found) in &mut spec.route_settings {
        off(found, &applied.route_settings[key]);
    }
}

/// Of settings that no apply has recorded: where metrics are on by default, they may be off for a route.
pub(super) fn keep_effective(spec: &mut Stage) {
    if spec.default_settings.detailed_metrics_enabled == Input::Known(Some(true)) {
        let off = RouteSettings { detailed_metrics_enabled: Some(false).into(), ..RouteSettings::default() };
        spec.route_settings.values_mut().for_each(|settings| *settings = settings.or(&off));
    }
    spec.route_settings.retain(|_, settings| !settings.is_empty());
}

/// The settings of an observed stage that no apply has set. Empty for any other object.
pub(in crate::aws::apigateway) fn unmanaged(observed: &Observed, api_id: &str) -> Vec<Unmanaged> {
    let Some(stage) = Stage::of(&observed.spec) else { return Vec::new() };
    let found = &observed.learned.route_settings;
    let unmanaged = |id: &str, reason: String| {
        let id = format!("{}/{id}", stage.name);
        Unmanaged { id, slot: None, is_tagged: false, reason }
    };
    let default = found.default.without(&stage.default_settings);
    let default = (!default.is_empty())
        .then(|| unmanaged("default_route_settings", format!("default settings of the stage: {}", default.phrase())));
    let of_route = |(key, settings): (&String, &RouteSettings)| {
        if found.stale.contains(key) && !stage.route_settings.contains_key(key) {
            let command = Stage::command_to_delete_settings(api_id, &stage.name, key);
            let reason = format!(
                "settings of a route that does not exist. They block those of other routes; delete them: {command}"
            );
            return Some(unmanaged(key, reason));
        }
        let managed = stage.route_settings.get(key);
        let rest = managed.map_or_else(|| settings.clone(), |managed| settings.without(managed));
        let is_none = managed.is_some() && rest.is_empty();
        (!is_none).then(|| unmanaged(key, format!("settings of a route: {}", rest.phrase())))
    };
    default.into_iter().chain(found.routes.iter().filter_map(of_route)).collect()
}

type OfRoutes = HashMap<String, Sent>;

/// The settings with which a stage is created.
pub(super) fn of_new_stage(
    operation: &Operation<'_>,
    spec: &Stage,
) -> Result<(Option<Sent>, Option<OfRoutes>), Failure> {
    let default = Some(&spec.default_settings).filter(|settings| !settings.is_empty());
    Ok((default.map(|settings| sent(operation, settings)).transpose()?, of_routes(operation, &spec.route_settings)?))
}

fn of_routes(
    operation: &Operation<'_>,
    settings: &BTreeMap<String, RouteSettings>,
) -> Result<Option<OfRoutes>, Failure> {
    let all = settings.iter().map(|(key, settings)| Ok((key.clone(), sent(operation, settings)?)));
    let all = all.collect::<Result<OfRoutes, Failure>>()?;
    Ok(Some(all).filter(|all| !all.is_empty()))
}

/// An absent member is not sent, because AWS would take 0 for a limit that rejects everything.
fn sent(operation: &Operation<'_>, settings: &RouteSettings) -> Result<Sent, Failure> {
    Ok(Sent::builder()
        .set_throttling_rate_limit(*operation.known(&settings.throttling_rate_limit)?)
        .set_throttling_burst_limit(operation.known(&settings.throttling_burst_limit)?.map(small))
        .set_detailed_metrics_enabled(*operation.known(&settings.detailed_metrics_enabled)?)
        .build())
}

/// The calls that change the settings of a stage.
#[derive(Default)]
pub(super) struct Changes {
    /// The routes whose settings are deleted first.
    pub(super) deleted: Vec<String>,
    /// The default settings to send.
    pub(super) default: Option<Sent>,
    /// The settings of routes to send.
    pub(super) routes: Option<OfRoutes>,
}

impl Changes {
    /// Reads the stage if settings of routes change.
    pub(super) async fn of(
        operation: &Operation<'_>,
        (api_id, name): Place<'_>,
        from: &Stage,
        to: &Stage,
    ) -> Result<Changes, Failure> {
        let mut changes = Changes::default();
        if from.default_settings != to.default_settings {
            let wanted = with_metrics_off(&to.default_settings, &from.default_settings);
            changes.default = Some(wanted).filter(|it| !it.is_empty()).map(|it| sent(operation, &it)).transpose()?;
        }
        if from.route_settings == to.route_settings {
            return Ok(changes);
        }
        let shown = get(operation.session, api_id, name).await?;
        let found = shown.map(|shown| found(&shown, &BTreeSet::new()).routes).unwrap_or_default();
        let (deleted, wanted) = of_all_routes(&from.route_settings, &to.route_settings, &found);
        Ok(Changes { deleted, routes: of_routes(operation, &wanted)?, ..changes })
    }

    /// Whether an update contains settings.
    pub(super) fn are_sent(&self) -> bool {
        self.default.is_some() || self.routes.is_some()
    }
}

/// Records the settings of the stage after a change, as the next refresh does.
pub(super) async fn learn(operation: &Operation<'_>, (api_id, name): Place<'_>) -> Result<(), Failure> {
    if let Some(shown) = get(operation.session, api_id, name).await? {
        let route_keys = shown.route_settings.iter().flatten().map(|(key, _)| key.as_str()).collect();
        operation.record_learned(Learned { route_settings: found(&shown, &route_keys).into(), ..Learned::new() });
    }
    Ok(())
}

/// The routes whose settings are deleted, and the settings that are sent afterwards. Members that are neither in
/// `before`, the settings of the last apply, nor in `to` are not managed and stay.
fn of_all_routes(
    before: &BTreeMap<String, RouteSettings>,
    to: &BTreeMap<String, RouteSettings>,
    found: &BTreeMap<String, RouteSettings>,
) -> (Vec<String>, BTreeMap<String, RouteSettings>) {
    let (mut deleted, mut wanted) = (Vec::new(), BTreeMap::new());
    let none = RouteSettings::default();
    for key in before.keys().chain(to.keys()).collect::<BTreeSet<&String>>() {
        let of = |settings: &BTreeMap<String, RouteSettings>| settings.get(key).unwrap_or(&none).clone();
        let (before, to, now) = (of(before), of(to), of(found));
        let kept = to.or(&now.without(&before));
        let has_removed_limits = now.without(&kept).throttles();
        if found.contains_key(key) && (kept.is_empty() || has_removed_limits) {
            deleted.push(key.clone());
            if !kept.is_empty() {
                wanted.insert(key.clone(), kept);
            }
            continue;
        }
        let sent = with_metrics_off(&to, &now.only(&before));
        if sent.or(&now) != now {
            wanted.insert(key.clone(), sent);
        }
    }
    (deleted, wanted)
}

/// The settings, with metrics off where they are on and no longer wanted.
fn with_metrics_off(to: &RouteSettings, before: &RouteSettings) -> RouteSettings {
    match (&before.detailed_metrics_enabled, &to.detailed_metrics_enabled) {
        (Input::Known(Some(true)), Input::Known(None)) => {
            RouteSettings { detailed_metrics_enabled: Some(false).into(), ..to.clone() }
        }
        _ => to.clone(),
    }
}

/// Deletes the settings of a route that is about to be deleted or renamed, also if they are not managed. All deletions
/// of an apply share one look at each stage.
pub(in crate::aws::apigateway) async fn forget(
    operation: &Operation<'_>,
    api_id: &str,
    route_key: &str,
) -> Result<(), Failure> {
    for name in &operation.work.deployed {
        let known = keys_with_settings(operation.session, api_id, name).map(|keys| keys.contains(route_key));
        let has = match known {
            Some(has) => has,
            None => has(operation, (api_id, name), route_key).await?,
        };
        if has {
            delete(operation, (api_id, name), route_key).await?;
        }
    }
    Ok(())
}

async fn has(operation: &Operation<'_>, (api_id, name): Place<'_>, route_key: &str) -> Result<bool, Failure> {
    let stage = get(operation.session, api_id, name).await?;
    Ok(stage.is_some_and(|stage| stage.route_settings.iter().flatten().any(|(key, _)| key == route_key)))
}

/// Deletes the settings of a route.
pub(super) async fn delete(operation: &Operation<'_>, place: Place<'_>, route_key: &str) -> Result<(), Failure> {
    let (api_id, name) = place;
    let answer = {
        let (_lock, change) = change(operation, api_id, "DeleteRouteSettings").await;
        // Without settings AWS returns NotFound, which is success here and must not be retried.
        let change = Mutation { unknown_until: None, ..change };
        let call = || async {
            let call = client(operation.session).await.delete_route_settings().api_id(api_id).stage_name(name);
            call.route_key(route_key).send().await
        };
        change.send(call).await
    };
    match answer {
        Err(failure) if is_absent(&failure) => match has(operation, place, route_key).await? {
            true => Err(failure),
            false => Ok(()),
        },
        answer => answer.map(|_| ()),
    }
}

/// Adds the way out to the rejection of settings because of a missing route, which the message names.
pub(super) fn with_advice(failure: Failure, (api_id, name): Place<'_>) -> Failure {
    let Some(key) = is_stale_route_settings(&failure).map(str::to_string) else { return failure };
    failure.with_advice(
        "The stage has settings of a route that does not exist, and AWS rejects those of all other routes. Delete them \
         with this command, then apply again.",
        [Stage::command_to_delete_settings(api_id, name, &key)],
    )
}

#[cfg(test)]
mod tests;
