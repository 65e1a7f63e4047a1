//! Routes of an API.

use std::collections::BTreeMap;

use aws_sdk_apigatewayv2::types::{AuthorizationType, Route as Shown};

use super::{change, deleted, is_conflict, no_id, pages, root_id, text, turn};
use crate::aws::{AwsError, Operation, Session};
use crate::cloud::{Cause, Failure, Observed};
use crate::objects::{ApiRoute, Entry, Key, Learned, Ref, Spec};

/// Lists an API's routes.
pub(super) async fn list(session: &Session, api_id: &str) -> Result<Vec<Shown>, Failure> {
    pages(|token| async move {
        let answer = turn(session).await.get_routes().api_id(api_id).set_next_token(token).send().await;
        let answer = answer.map_err(|error| error.failure("GetRoutes"))?;
        Ok((answer.items.unwrap_or_default(), answer.next_token))
    })
    .await
}

/// What AWS shows of a route. `ours` are the keys of our integrations and authorizers by id.
pub(super) fn read(shown: &Shown, api: Key, key: Key, ours: &BTreeMap<String, Key>) -> Option<Observed> {
    let reference = |id: &str| ours.get(id).map_or_else(|| Ref::Id(id.to_string()), |key| Ref::Key(key.clone()));
    let spec = ApiRoute {
        api,
        route_key: shown.route_key.clone()?,
        integration: integration_id(shown).map(reference),
        authorizer: protection(shown).map(reference),
    };
    Some(Observed { id: shown.route_id.clone()?, key, spec: Spec::ApiRoute(spec), learned: Learned::new() })
}

/// Makes a route, or takes the one that has its key already if that does the same.
pub(crate) async fn create(operation: &Operation<'_>, spec: &ApiRoute) -> Result<(), Failure> {
    let session = operation.session;
    let api_id = operation.id(&spec.api)?;
    let wanted = Wanted::of(operation, spec)?;
    let find = || async {
        let there = list(session, api_id).await?;
        match there.into_iter().find(|it| it.route_key.as_deref() == Some(&spec.route_key)) {
            Some(there) if wanted.equals(&there) => Ok(there.route_id),
            Some(there) => Err(different(spec, api_id, &there)),
            None => Ok(None),
        }
    };
    let (_turn, change) = change(operation, api_id, "CreateRoute").await;
    let answer = change
        .create(
            || async {
                let answer = turn(session)
                    .await
                    .create_route()
                    .api_id(api_id)
                    .route_key(&spec.route_key)
                    .set_target(wanted.target.clone())
                    .authorization_type(wanted.authorization_type())
                    .set_authorizer_id(wanted.authorizer_id.map(str::to_string))
                    .customize()
                    .config_override(session.once_apigateway())
                    .send()
                    .await?;
                Ok(answer.route_id)
            },
            || async { Ok(find().await?.map(Some)) },
        )
        .await;
    let id = match answer {
        Ok(id) => id.ok_or_else(|| no_id("CreateRoute"))?,
        // Another conflict, such as that of two path variables on one level, finds no route with this key.
        Err(failure) if is_conflict(&failure) => find().await?.ok_or(failure)?,
        Err(failure) => return Err(failure),
    };
    operation.record_id(&id);
    Ok(())
}

/// Brings a route to its spec, in place: requests are served throughout. The authorization type goes with the
/// authorizer always, and an empty authorizer id takes the authorizer away.
pub(crate) async fn update(
    operation: &Operation<'_>,
    id: &str,
    from: Option<&ApiRoute>,
    to: &ApiRoute,
) -> Result<(), Failure> {
    let api_id = operation.id(&to.api)?;
    let wanted = Wanted::of(operation, to)?;
    let route_key = from.is_none_or(|from| from.route_key != to.route_key).then(|| to.route_key.clone());
    let (_turn, change) = change(operation, api_id, "UpdateRoute").await;
    change
        .send(|| async {
            turn(operation.session)
                .await
                .update_route()
                .api_id(api_id)
                .route_id(id)
                .set_route_key(route_key.clone())
                .set_target(wanted.target.clone())
                .authorization_type(wanted.authorization_type())
                .authorizer_id(wanted.authorizer_id.unwrap_or_default())
                .send()
                .await
        })
        .await
        .map(|_| ())
}

/// Deletes a route.
pub(crate) async fn delete(operation: &Operation<'_>, entry: &Entry) -> Result<(), Failure> {
    let api_id = root_id(operation)?;
    let (_turn, change) = change(operation, api_id, "DeleteRoute").await;
    let answer = change
        .send(|| async { turn(operation.session).await.delete_route().api_id(api_id).route_id(&entry.id).send().await })
        .await;
    deleted(answer)
}

/// The integration that a route points to.
pub(super) fn integration_id(shown: &Shown) -> Option<&str> {
    let target = shown.target.as_deref().filter(|target| !target.is_empty())?;
    Some(target.strip_prefix("integrations/").unwrap_or(target))
}

/// The authorizer that protects a route. AWS keeps the id of an authorizer that is no longer used, so the type
/// decides; a type that needs no authorizer, such as `AWS_IAM`, stands for itself.
pub(super) fn protection(shown: &Shown) -> Option<&str> {
    match shown.authorization_type.as_ref()? {
        AuthorizationType::None => None,
        other => Some(shown.authorizer_id.as_deref().filter(|id| !id.is_empty()).unwrap_or(other.as_str())),
    }
}

struct Wanted<'a> {
    target: Option<String>,
    authorizer_id: Option<&'a str>,
}

impl<'a> Wanted<'a> {
    fn of(operation: &'a Operation<'_>, spec: &'a ApiRoute) -> Result<Wanted<'a>, Failure> {
        let integration = spec.integration.as_ref().map(|it| operation.resolve(it)).transpose()?;
        Ok(Wanted {
            target: integration.map(|id| format!("integrations/{id}")),
            authorizer_id: spec.authorizer.as_ref().map(|it| operation.resolve(it)).transpose()?,
        })
    }

    fn authorization_type(&self) -> AuthorizationType {
        if self.authorizer_id.is_some() { AuthorizationType::Custom } else { AuthorizationType::None }
    }

    fn equals(&self, shown: &Shown) -> bool {
        shown.target == self.target && protection(shown) == self.authorizer_id
    }
}

fn different(spec: &ApiRoute, api_id: &str, there: &Shown) -> Failure {
    let id = there.route_id.as_deref().unwrap_or_default();
    let target = text(there.target.as_deref()).unwrap_or_else(|| "nothing".into());
    let protection = protection(there).map(|it| format!(", protected by {it}")).unwrap_or_default();
    Failure::new(
        Cause::Exists,
        "CreateRoute",
        format!(
            "API {api_id} has a route {:?} already, which is not managed here: {id}, to {target}{protection}. Delete \
             it (aws apigatewayv2 delete-route --api-id {api_id} --route-id {id}) or take the route out of the \
             configuration",
            spec.route_key
        ),
    )
}
