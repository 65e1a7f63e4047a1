//! The stage as AWS has it, for its own operations and for those that wait for its deployment.

use std::collections::{BTreeSet, HashMap};
use std::sync::{MutexGuard, PoisonError};

use aws_sdk_apigatewayv2::operation::get_stage::GetStageOutput;
use aws_sdk_apigatewayv2::types::Stage as Shown;

use crate::aws::Session;
use crate::aws::apigateway::{PAGE, client, is_absent, none_if_absent, pages};
use crate::aws::calls::OrFailure;
use crate::cloud::Failure;

/// The ID of an API, and the name of one of its stages.
pub(in crate::aws::apigateway) type Place<'a> = (&'a str, &'a str);

/// Reads a stage. `None` if the API or the stage does not exist.
pub(in crate::aws::apigateway) async fn get(
    session: &Session,
    api_id: &str,
    name: &str,
) -> Result<Option<Shown>, Failure> {
    let answer = client(session).await.get_stage().api_id(api_id).stage_name(name).send().await;
    match answer.or_failure("GetStage") {
        Ok(it) => {
            let keys = it.route_settings.iter().flatten().map(|(key, _)| key.clone()).collect();
            lock(session).insert(place(session, api_id, name), keys);
            Ok(Some(shown(it)))
        }
        Err(failure) if is_absent(&failure) => Ok(None),
        Err(failure) => Err(failure),
    }
}

/// Lists the stages of an API by their names. Empty if the API does not exist.
pub(in crate::aws::apigateway) async fn list(session: &Session, api_id: &str) -> Result<Vec<Shown>, Failure> {
    let all = pages(|token| async move {
        let call = client(session).await.get_stages().api_id(api_id).max_results(PAGE).set_next_token(token);
        let answer = call.send().await.or_failure("GetStages")?;
        Ok((answer.items.unwrap_or_default(), answer.next_token))
    });
    let mut stages = none_if_absent(all.await)?;
    stages.sort_by(|a, b| a.stage_name.cmp(&b.stage_name));
    Ok(stages)
}

/// The keys of the routes of which the last look at a stage found settings. `None` if this process has not looked.
pub(super) fn keys_with_settings(session: &Session, api_id: &str, name: &str) -> Option<BTreeSet<String>> {
    lock(session).get(&place(session, api_id, name)).cloned()
}

fn place(session: &Session, api_id: &str, name: &str) -> (String, String) {
    (session.scope.region.clone(), created_id(api_id, name))
}

fn lock(session: &Session) -> MutexGuard<'_, HashMap<(String, String), BTreeSet<String>>> {
    session.process.route_settings.lock().unwrap_or_else(PoisonError::into_inner)
}

/// AWS returns the same as in a list, in another type.
fn shown(it: GetStageOutput) -> Shown {
    Shown::builder()
        .set_stage_name(it.stage_name)
        .set_description(it.description)
        .set_stage_variables(it.stage_variables)
        .set_api_gateway_managed(it.api_gateway_managed)
        .set_access_log_settings(it.access_log_settings)
        .set_auto_deploy(it.auto_deploy)
        .set_default_route_settings(it.default_route_settings)
        .set_route_settings(it.route_settings)
        .set_deployment_id(it.deployment_id)
        .set_last_deployment_status_message(it.last_deployment_status_message)
        .set_tags(it.tags)
        .build()
}

/// Sets automatic deployment, which is on, once more: AWS may deploy again.
pub(in crate::aws::apigateway) async fn set_again(session: &Session, api_id: &str, name: &str) -> Result<(), Failure> {
    let call = client(session).await.update_stage().api_id(api_id).stage_name(name).auto_deploy(true);
    call.send().await.map(|_| ()).or_failure("UpdateStage")
}

/// The name under which the process records its creation. Stages of several APIs may have the same name.
pub(super) fn created_id(api_id: &str, name: &str) -> String {
    format!("{api_id}/{name}")
}

/// Whether this process created a stage.
pub(in crate::aws::apigateway) fn is_created_here(session: &Session, api_id: &str, name: &str) -> bool {
    session.process.created.contains(&created_id(api_id, name))
}

/// Whether a status message reports a failed deployment, as "Deployment attempt failed: ...".
pub(in crate::aws::apigateway) fn is_failure(message: &str) -> bool {
    message.to_lowercase().contains("failed")
}
