//! API mappings. Each maps a path of a custom domain to a stage. This provider creates only mappings of the root path.

use aws_sdk_apigatewayv2::types::ApiMapping as Shown;
use tokio::sync::OwnedMutexGuard;

use super::deployment::before_move;
use super::{
    PAGE, change, client, deleted, domain_lock, holds, is_conflict, is_unclear, no_id, none_if_absent, note_unmapped,
    pages,
};
use crate::aws::Session;
use crate::aws::calls::non_idempotent::Mutation;
use crate::aws::calls::{Operation, OrFailure};
use crate::cloud::{Cause, Failure, Observed};
use crate::model::keys::gateway as keys;
use crate::model::{ApiMapping, Entry, Key, Learned, Ref, Spec};

/// Lists all mappings of a domain. Empty if the domain does not exist.
pub(crate) async fn list(session: &Session, domain: &str) -> Result<Vec<Shown>, Failure> {
    let all = pages(|token| async move {
        let call = client(session).await.get_api_mappings().domain_name(domain).max_results(PAGE);
        let answer = call.set_next_token(token).send().await.or_failure("GetApiMappings")?;
        Ok((answer.items.unwrap_or_default(), answer.next_token))
    });
    none_if_absent(all.await)
}

/// Converts a mapping that AWS returned to an observation. `stages` are the names of the stages of the gateway.
pub(super) fn read(
    shown: &Shown,
    (api_id, stages): (&str, &[&str]),
    api: Key,
    domain: Key,
    key: Key,
) -> Option<Observed> {
    let id = shown.api_mapping_id.clone()?;
    let stage = match stages.iter().find(|stage| points_to(shown, api_id, stage)) {
        Some(stage) => Ref::Key(keys::stage(stage)),
        None => Ref::Id(target(shown)),
    };
    let spec = ApiMapping { api, stage, domain, mapping_key: path(shown).to_string() };
    Some(Observed { id, key, spec: Spec::ApiMapping(spec), learned: Learned::new() })
}

/// The path of a mapping within its domain. Empty for the root path.
pub(crate) fn path(shown: &Shown) -> &str {
    shown.api_mapping_key.as_deref().unwrap_or_default()
}

/// The target of a mapping: `<API ID>/<stage>`.
pub(crate) fn target(shown: &Shown) -> String {
    format!("{}/{}", shown.api_id.as_deref().unwrap_or_default(), shown.stage.as_deref().unwrap_or_default())
}

/// A mapping for messages: its ID, target and path.
pub(super) fn described(shown: &Shown) -> String {
    format!("{} ({})", shown.api_mapping_id().unwrap_or_default(), target(shown))
}

/// Creates a mapping. An existing one is adopted if it points to the same stage and is an error otherwise.
pub(crate) async fn create(operation: &Operation<'_>, spec: &ApiMapping) -> Result<(), Failure> {
    let session = operation.session;
    let (api_id, stage) = (operation.id(&spec.api)?, operation.resolve(&spec.stage)?);
    let domain = operation.id(&spec.domain)?;
    let find = || async {
        let existing = list(session, domain).await?.into_iter().find(|it| path(it) == spec.mapping_key);
        match existing {
            Some(existing) if points_to(&existing, api_id, stage) => Ok(Some(existing.api_mapping_id)),
            Some(existing) => Err(unmanaged(domain, &existing)),
            None => Ok(None),
        }
    };
    let answer = {
        let (_locks, change) = locked_change(operation, api_id, domain, "CreateApiMapping").await;
        change
            .create(
                || async {
                    let answer = client(session)
                        .await
                        .create_api_mapping()
                        .domain_name(domain)
                        .api_id(api_id)
                        .stage(stage)
                        .set_api_mapping_key(Some(spec.mapping_key.clone()).filter(|key| !key.is_empty()))
                        .customize()
                        .config_override(session.once_apigateway())
                        .send()
                        .await?;
                    Ok(answer.api_mapping_id)
                },
                Ok,
                find,
            )
            .await
    };
    let id = match answer {
        Err(failure) if is_conflict(&failure) => find().await?.ok_or(failure)?,
        result => result?,
    };
    operation.record_id(&id.ok_or_else(|| no_id("CreateApiMapping"))?);
    Ok(())
}

/// Sends what differs, with the API, which the call requires. A mapping that moves to another stage waits until that
/// serves the API.
pub(crate) async fn update(
    operation: &Operation<'_>,
    id: &str,
    from: &ApiMapping,
    to: &ApiMapping,
) -> Result<(), Failure> {
    if from == to {
        return Ok(());
    }
    let session = operation.session;
    let (api_id, stage) = (operation.id(&to.api)?, operation.resolve(&to.stage)?);
    let domain = operation.id(&to.domain)?;
    let leaves_stage = from.stage != to.stage;
    if leaves_stage {
        before_move(operation, api_id, stage).await?;
    }
    let moved = from.mapping_key != to.mapping_key;
    let (_locks, change) = locked_change(operation, api_id, domain, "UpdateApiMapping").await;
    change
        .send(|| async {
            client(session)
                .await
                .update_api_mapping()
                .domain_name(domain)
                .api_mapping_id(id)
                .api_id(api_id)
                .set_stage(leaves_stage.then(|| stage.to_string()))
                .set_api_mapping_key(moved.then(|| to.mapping_key.clone()))
                .send()
                .await
        })
        .await?;
    if leaves_stage {
        note_unmapped(session, api_id);
    }
    Ok(())
}

/// Deletes a mapping, unless it was changed outside Terraform to point to another API: that API would become
/// unreachable. Such a mapping also blocks the deletion of its domain.
pub(crate) async fn delete(operation: &Operation<'_>, entry: &Entry) -> Result<(), Failure> {
    // The API may already be deleted.
    let api_id = operation.work.root_id.unwrap_or_default();
    let Spec::ApiMapping(ApiMapping { domain, .. }) = &entry.applied else { return Ok(()) };
    let domain = operation.known(&domain.fixed)?;
    let (_locks, change) = locked_change(operation, api_id, domain, "DeleteApiMapping").await;
    let existing = list(operation.session, domain).await?.into_iter().find(|it| it.api_mapping_id() == Some(&entry.id));
    if let Some(existing) = existing.filter(|it| it.api_id() != Some(api_id)) {
        let (id, target) = (&entry.id, target(&existing));
        tracing::warn!("API mapping {id} of custom domain {domain} now points to {target}, so it was not deleted");
        return Ok(());
    }
    let delete = || async {
        let client = client(operation.session).await;
        client.delete_api_mapping().domain_name(domain).api_mapping_id(&entry.id).send().await
    };
    let exists = || async { holds(list(operation.session, domain).await, |it| it.api_mapping_id() == Some(&entry.id)) };
    deleted(change.delete(delete, is_unclear, exists).await)?;
    note_unmapped(operation.session, api_id);
    Ok(())
}

/// Locks an API and a domain and returns the locks with a mutation of a mapping, which is part of both.
async fn locked_change<'a>(
    operation: &'a Operation<'_>,
    api_id: &'a str,
    domain: &str,
    action: &'a str,
) -> ([OwnedMutexGuard<()>; 2], Mutation<'a>) {
    let (api_guard, change) = change(operation, api_id, action).await;
    let session = operation.session;
    let domain_guard = session.process.locks.lock(domain_lock(session, domain)).await;
    // A mapping belongs to its domain, so it may exist without its API.
    ([api_guard, domain_guard], Mutation { parent: None, ..change })
}

fn points_to(shown: &Shown, api_id: &str, stage: &str) -> bool {
    shown.api_id.as_deref() == Some(api_id) && shown.stage.as_deref() == Some(stage)
}

fn unmanaged(domain: &str, existing: &Shown) -> Failure {
    let id = existing.api_mapping_id().unwrap_or_default();
    Failure::new(
        Cause::Exists,
        "CreateApiMapping",
        format!(
            "custom domain {domain} is already mapped to {} by an unmanaged API mapping, which was not changed",
            target(existing)
        ),
    )
    .with_advice(
        "If the same run deletes the mapping, apply again. Otherwise delete it with this command, or use another \
         domain_name, then apply again.",
        [format!("aws apigatewayv2 delete-api-mapping --domain-name {domain} --api-mapping-id {id}")],
    )
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::super::stage;
    use super::*;
    use crate::aws::recorded::{Answer, Recorded, run};
    use crate::model::Input;
    use crate::model::Stage;

    const PATH: &str = "/v2/domainnames/api.example.com/apimappings";

    fn domain() -> Key {
        keys::domain(&Input::Known("api.example.com".into()))
    }

    fn spec() -> ApiMapping {
        ApiMapping { domain: domain(), ..ApiMapping::test() }
    }

    fn ids() -> [(Key, &'static str); 3] {
        [(keys::api(), "api1"), (keys::stage(Stage::DEFAULT), Stage::DEFAULT), (domain(), "api.example.com")]
    }

    fn item(id: &str, api: &str, stage: &str, key: &str) -> Value {
        json!({ "apiMappingId": id, "apiId": api, "stage": stage, "apiMappingKey": key })
    }

    fn items(items: &[Value], next: Option<&str>) -> Answer {
        Answer::Json(200, json!({ "items": items, "nextToken": next }))
    }

    async fn created(aws: &Recorded, region: &str) -> (Result<(), Failure>, Vec<String>) {
        let session = aws.session(region);
        let key = keys::api_mapping(&domain());
        let (answer, reported) = run(&session, &key, &ids(), async |it| create(it, &spec()).await).await;
        (answer, reported.ids)
    }

    #[tokio::test(start_paused = true)]
    async fn create_maps_the_root_path_to_the_stage() {
        let post = format!("POST {PATH}");
        let aws = Recorded::default().on(&post, Answer::Json(201, item("m1", "api1", Stage::DEFAULT, "")));
        let (answer, ids) = created(&aws, "mapping-create").await;
        answer.unwrap();
        assert_eq!(ids, ["m1"]);
        assert_eq!(aws.body(&post), json!({ "apiId": "api1", "stage": "$default" }), "an absent key is the root path");
    }

    #[tokio::test(start_paused = true)]
    async fn lost_create_is_resolved_across_pages() {
        let aws = Recorded::default()
            .on(&format!("POST {PATH}"), Answer::Lost)
            .on(&format!("GET {PATH}"), items(&[item("m0", "api2", "prod", "v1")], Some("p2")))
            .on(&format!("GET {PATH}?nextToken=p2"), items(&[item("m1", "api1", Stage::DEFAULT, "")], None));
        let (answer, ids) = created(&aws, "mapping-lost").await;
        answer.unwrap();
        assert_eq!(ids, ["m1"]);
        assert_eq!(aws.calls().iter().filter(|call| call.starts_with("POST")).count(), 1);
    }

    #[tokio::test(start_paused = true)]
    async fn create_never_overwrites_the_mapping_of_another_api() {
        let exists = Answer::Error(409, "ConflictException", "ApiMapping key already exists for this domain name");
        let aws = Recorded::default()
            .on(&format!("POST {PATH}"), exists.clone())
            .on(&format!("GET {PATH}"), items(&[item("m9", "api2", "prod", "")], None));
        let (answer, ids) = created(&aws, "mapping-foreign").await;
        let failure = answer.unwrap_err();
        assert_eq!(failure.cause, Cause::Exists);
        assert!(failure.message.contains("mapped to api2/prod") && failure.text().contains("m9"), "{failure}");
        assert!(ids.is_empty());

        let aws = Recorded::default()
            .on(&format!("POST {PATH}"), exists)
            .on(&format!("GET {PATH}"), items(&[item("m1", "api1", Stage::DEFAULT, "")], None));
        let (answer, ids) = created(&aws, "mapping-equal").await;
        answer.unwrap();
        assert_eq!(ids, ["m1"], "an equal mapping is adopted");
    }

    #[tokio::test(start_paused = true)]
    async fn update_points_a_mapping_back_to_the_stage_in_place() {
        let patch = format!("PATCH {PATH}/m1");
        let aws = Recorded::default()
            .on("GET /v2/apis/api1/stages/%24default", Answer::Json(200, json!({ "stageName": "$default" })))
            .on(&patch, Answer::Json(200, json!({})));
        let session = aws.session("mapping-update");
        let shown = |api: &str, stage: &str, key: &str| {
            let shown = Shown::builder().api_mapping_id("m1").api_id(api).stage(stage).api_mapping_key(key).build();
            let read =
                read(&shown, ("api1", &[Stage::DEFAULT]), keys::api(), domain(), keys::api_mapping(&domain())).unwrap();
            let Spec::ApiMapping(spec) = read.spec else { panic!("{read:?}") };
            spec
        };
        assert_eq!(shown("api1", Stage::DEFAULT, ""), spec(), "an unchanged mapping is no drift");
        let elsewhere = shown("api2", "prod", "");
        let difference = Spec::ApiMapping(spec()).differences(&Spec::ApiMapping(elsewhere.clone()));
        assert_eq!(difference, ["stage is api2/prod instead of stage"]);
        let key = keys::api_mapping(&domain());
        run(&session, &key, &ids(), async |it| update(it, "m1", &elsewhere, &spec()).await).await.0.unwrap();
        assert_eq!(aws.body(&patch), json!({ "apiId": "api1", "stage": "$default" }));

        let aws = Recorded::default().on(&patch, Answer::Json(200, json!({})));
        let session = aws.session("mapping-moved");
        let moved = shown("api1", Stage::DEFAULT, "v2");
        run(&session, &key, &ids(), async |it| update(it, "m1", &moved, &spec()).await).await.0.unwrap();
        assert_eq!(aws.body(&patch)["apiMappingKey"], "");
    }

    #[tokio::test(start_paused = true)]
    async fn a_mapping_moves_when_the_new_stage_serves_the_api() {
        let patch = format!("PATCH {PATH}/m1");
        let shown = |id: Option<&str>, message: Option<&str>| {
            Answer::Json(
                200,
                json!({ "stageName": "prod", "autoDeploy": true, "deploymentId": id,
                "lastDeploymentStatusMessage": message }),
            )
        };
        let deployment = json!({ "createdDate": "2023-11-14T22:13:20Z" });
        for (message, is_moved) in [("Successfully deployed stage", true), ("Deployment attempt failed", false)] {
            let aws = Recorded::default()
                .on("GET /v2/apis/api1/stages/prod", shown(None, None))
                .on("GET /v2/apis/api1/stages/prod", shown(Some("d1"), Some(message)))
                .on("GET /v2/apis/api1/deployments/d1", Answer::Json(200, deployment.clone()))
                .on(&patch, Answer::Json(200, json!({})));
            let session = aws.session("mapping-prod");
            session.process.created.add("api1/prod");
            let to = ApiMapping { stage: Ref::Key(keys::stage("prod")), ..spec() };
            let ids = [(keys::api(), "api1"), (keys::stage("prod"), "prod"), (domain(), "api.example.com")];
            let key = keys::api_mapping(&domain());
            let moved = run(&session, &key, &ids, async |it| update(it, "m1", &spec(), &to).await).await.0;
            assert_eq!(moved.is_ok(), is_moved, "{moved:?}");
            assert_eq!(aws.calls().contains(&patch), is_moved, "{:?}", aws.calls());
        }
    }

    #[tokio::test(start_paused = true)]
    async fn mapping_to_another_api_and_its_domain_are_not_deleted() {
        let remove = format!("DELETE {PATH}/m1");
        for (api, stage, is_ours) in [("api2", "prod", false), ("api1", "prod", true), ("api1", Stage::DEFAULT, true)] {
            let aws = Recorded::default()
                .on(&format!("GET {PATH}"), items(&[item("m0", "api1", Stage::DEFAULT, "v1")], Some("p2")))
                .on(&format!("GET {PATH}?nextToken=p2"), items(&[item("m1", api, stage, "")], None))
                .on(&remove, Answer::Json(204, json!(null)));
            let session = aws.session("mapping-changed");
            let key = keys::api_mapping(&domain());
            let entry = Entry::new(key.clone(), "m1", Spec::ApiMapping(spec()));
            run(&session, &key, &[], async |it| delete(it, &entry).await).await.0.unwrap();
            assert_eq!(aws.calls().contains(&remove), is_ours, "{api}/{stage}: {:?}", aws.calls());
            if is_ours {
                continue;
            }
            let domain_spec = Spec::DomainName(crate::model::DomainName::test());
            let entry = Entry::new(domain(), "api.example.com", domain_spec);
            let rejected =
                run(&session, &domain(), &[], async |it| super::super::domain_name::delete(it, &entry).await).await.0;
            assert!(rejected.unwrap_err().message.contains("m1 (api2/prod)"));
        }
    }

    #[tokio::test(start_paused = true)]
    async fn stage_deletion_retries_while_a_deleted_mapping_is_visible() {
        let stage_path = "DELETE /v2/apis/api1/stages/%24default";
        let mapped = "Please remove all base path mappings related to the stage in your domains";
        let mapped = Answer::Error(400, "BadRequestException", mapped);
        let aws = Recorded::default()
            .on(&format!("GET {PATH}"), items(&[], None))
            .on(&format!("DELETE {PATH}/m1"), Answer::Error(404, "NotFoundException", "no such mapping"))
            .on(stage_path, mapped.clone())
            .on(stage_path, mapped)
            .on(stage_path, Answer::Json(204, json!(null)));
        let session = aws.session("mapping-delete");
        let key = keys::api_mapping(&domain());
        let entry = Entry::new(key.clone(), "m1", Spec::ApiMapping(spec()));
        run(&session, &key, &[], async |it| delete(it, &entry).await).await.0.unwrap();
        let entry = Entry::new(keys::stage(Stage::DEFAULT), Stage::DEFAULT, Spec::Stage(Stage::test()));
        run(&session, &keys::stage(Stage::DEFAULT), &[], async |it| stage::delete(it, &entry).await).await.0.unwrap();
        assert_eq!(aws.calls().iter().filter(|call| *call == stage_path).count(), 3);
    }
}
