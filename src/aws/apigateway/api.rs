//! HTTP APIs. An API is the root of a gateway.

use std::collections::{BTreeMap, BTreeSet};

use aws_sdk_apigatewayv2::types::{Api as Shown, Cors as ShownCors, IpAddressType, ProtocolType};

use super::{
    PAGE, api_arn, change, client, deleted, is_absent, no_id, pages, route, small, tag, text, unmapped, untag,
};
use crate::aws::Session;
use crate::aws::calls::codes::missing::is_api_missing;
use crate::aws::calls::non_idempotent::{Mutation, Search};
use crate::aws::calls::ownership;
use crate::aws::calls::tag_changes;
use crate::aws::calls::tag_changes::TagChanges;
use crate::aws::calls::{Operation, OrFailure};
use crate::cloud::{Failure, Namesake, Observed, Root, RootState};
use crate::model::Input;
use crate::model::TopologyKind;
use crate::model::keys::gateway::RESOURCE;
use crate::model::{Api, Cors, Entry, Key, Learned, Spec};

/// Whether an API exists.
pub(crate) async fn exists(session: &Session, api_id: &str) -> Result<bool, Failure> {
    Ok(get(session, api_id).await?.is_some())
}

/// Reads an API. `None` only if AWS reports that it does not exist.
pub(super) async fn get(session: &Session, api_id: &str) -> Result<Option<Shown>, Failure> {
    let answer = client(session).await.get_api().api_id(api_id).send().await;
    match answer.or_failure("GetApi") {
        Ok(it) => Ok(Some(
            Shown::builder()
                .set_api_id(it.api_id)
                .set_name(it.name)
                .set_description(it.description)
                .set_version(it.version)
                .set_cors_configuration(it.cors_configuration)
                .set_disable_execute_api_endpoint(it.disable_execute_api_endpoint)
                .set_ip_address_type(it.ip_address_type)
                .set_api_endpoint(it.api_endpoint)
                .set_created_date(it.created_date)
                .set_protocol_type(it.protocol_type)
                .set_tags(it.tags)
                .build(),
        )),
        Err(failure) if is_absent(&failure) => Ok(None),
        Err(failure) => Err(failure),
    }
}

/// Converts an API that AWS returned to an observation.
pub(super) fn read(shown: &Shown, api_id: &str, key: Key, applied: Option<&Api>) -> Observed {
    let applied_cors = applied.and_then(|api| api.cors.known()).and_then(Option::as_ref);
    let spec = Api {
        name: Input::Known(shown.name.clone().unwrap_or_default()),
        description: Input::Known(text(shown.description.as_deref())),
        version: Input::Known(text(shown.version.as_deref())),
        cors: Input::Known(match &shown.cors_configuration {
            Some(cors) => read_cors(cors, applied_cors),
            // AWS may not store a configuration without effect.
            None => applied_cors.filter(|cors| has_no_effect(cors)).cloned(),
        }),
        disable_endpoint: Input::Known(shown.disable_execute_api_endpoint.unwrap_or(false)),
        ip_address_type: read_ip_address_type(shown.ip_address_type.as_ref()),
        tags: tag_changes::shown(shown.tags.iter().flatten()),
    };
    let mut learned = learned(shown.api_endpoint.clone());
    let resource = shown.tags.as_ref().and_then(|tags| tags.get(ownership::RESOURCE));
    learned.extend(resource.map(|resource| (RESOURCE.to_string(), resource.clone())));
    Observed { id: api_id.to_string(), key, spec: Spec::Api(spec), learned }
}

/// The IP address type of an endpoint. An omitted one is AWS's default.
pub(super) fn read_ip_address_type(shown: Option<&IpAddressType>) -> Input<String> {
    Input::Known(shown.map_or(Api::IPV4, IpAddressType::as_str).to_string())
}

/// The IP address type of a new endpoint, which is not sent if it is the default of AWS.
pub(super) fn of_new_endpoint(
    operation: &Operation<'_>,
    wanted: &Input<String>,
) -> Result<Option<IpAddressType>, Failure> {
    let wanted = operation.known(wanted)?;
    Ok(Some(IpAddressType::from(wanted.as_str())).filter(|_| wanted != Api::IPV4))
}

/// Creates an API without a quick-create target, because AWS manages the objects that quick create adds.
pub(crate) async fn create(operation: &Operation<'_>, spec: &Api) -> Result<(), Failure> {
    let session = operation.session;
    let name = operation.known(&spec.name)?;
    let mut tags = ownership::tags_on_create_root(operation, &spec.tags, name)?;
    let request = ownership::add_request(&mut tags);
    let description = operation.known(&spec.description)?;
    let version = operation.known(&spec.version)?;
    let cors = operation.known(&spec.cors)?.as_ref().map(cors);
    let disable = Some(*operation.known(&spec.disable_endpoint)?).filter(|disable| *disable);
    let ip_address_type = of_new_endpoint(operation, &spec.ip_address_type)?;
    let (deadlines, is_busy) = (&operation.work.deadlines, super::is_busy);
    let (unknown_until, search, parent) = (None, Search::TWO_POLLS, None);
    let change = Mutation { action: "CreateApi", deadlines, is_busy, unknown_until, search, parent };
    let (id, endpoint) = change
        .create(
            || async {
                let answer = client(session)
                    .await
                    .create_api()
                    .name(name)
                    .protocol_type(ProtocolType::Http)
                    .set_description(description.clone())
                    .set_version(version.clone())
                    .set_cors_configuration(cors.clone())
                    .set_disable_execute_api_endpoint(disable)
                    .set_ip_address_type(ip_address_type.clone())
                    .set_tags(Some(tags.clone().into_iter().collect()))
                    .customize()
                    .config_override(session.once_apigateway())
                    .send()
                    .await?;
                Ok((answer.api_id, answer.api_endpoint))
            },
            Ok,
            || async {
                let mut apis = all(session).await?.into_iter();
                let created = apis.find(|api| ownership::is_of_request(api.tags.as_ref(), &request));
                Ok(created.map(|api| (api.api_id, api.api_endpoint)))
            },
        )
        .await?;
    let id = id.ok_or_else(|| no_id("CreateApi"))?;
    operation.record_id(&id);
    let mut learned = learned(endpoint);
    learned.extend(tags.get(ownership::RESOURCE).map(|resource| (RESOURCE.to_string(), resource.clone())));
    operation.record_learned(learned);
    Ok(())
}

/// Sends the members that differ. An empty string clears a text. An empty CORS object has no effect, so a separate call
/// deletes the CORS configuration.
pub(crate) async fn update(operation: &Operation<'_>, id: &str, from: &Api, to: &Api) -> Result<(), Failure> {
    let session = operation.session;
    let (_lock, change) = change(operation, id, "UpdateApi").await;
    let name = operation.known(&to.name)?;
    let changed = Changed::between(operation, from, to)?;
    if changed.is_sent() {
        change
            .send(|| async {
                client(session)
                    .await
                    .update_api()
                    .api_id(id)
                    .set_name(changed.name.map(str::to_string))
                    .set_description(changed.description.clone())
                    .set_version(changed.version.clone())
                    .set_cors_configuration(changed.cors.clone())
                    .set_disable_execute_api_endpoint(changed.disable_endpoint)
                    .set_ip_address_type(changed.ip_address_type.clone())
                    .send()
                    .await
            })
            .await?;
    }
    if from.cors != to.cors && changed.cors.is_none() {
        let change = Mutation { action: "DeleteCorsConfiguration", ..change };
        let answer =
            change.send(|| async { client(session).await.delete_cors_configuration().api_id(id).send().await }).await;
        match answer {
            // An earlier call whose answer was lost may have deleted it. A missing API remains an error.
            Err(failure) if is_absent(&failure) => match get(session, id).await? {
                Some(api) if api.cors_configuration.is_none() => {}
                _ => return Err(failure),
            },
            answer => answer.map(|_| ())?,
        }
    }
    let arn = api_arn(&session.scope, id);
    let mut tags = TagChanges::between(operation, &from.tags, &to.tags)?;
    let resource = ownership::resource(operation.work.owner, name);
    if from.name != to.name || (operation.is_resumed() && !has_resource(session, id, &resource).await?) {
        tags.set.insert(ownership::RESOURCE.into(), resource);
    }
    tag(session, &arn, tags.set, &Mutation { action: "TagResource", ..change }).await?;
    untag(session, &arn, tags.remove, &Mutation { action: "UntagResource", ..change }).await
}

/// The members to send.
struct Changed<'a> {
    name: Option<&'a str>,
    description: Option<String>,
    version: Option<String>,
    cors: Option<ShownCors>,
    disable_endpoint: Option<bool>,
    ip_address_type: Option<IpAddressType>,
}

impl<'a> Changed<'a> {
    fn between(operation: &Operation<'_>, from: &Api, to: &'a Api) -> Result<Changed<'a>, Failure> {
        let text = |from: &Input<Option<String>>, to: &Input<Option<String>>| match from == to {
            true => Ok(None),
            false => operation.known(to).map(|text| Some(text.clone().unwrap_or_default())),
        };
        let name = operation.known(&to.name)?.as_str();
        let disable_endpoint = *operation.known(&to.disable_endpoint)?;
        let ip_address_type = operation.known(&to.ip_address_type)?.as_str();
        let wanted = operation.known(&to.cors)?.as_ref().filter(|_| from.cors != to.cors);
        // AWS documents no way to remove the maximum age alone, and may keep the old value if it is omitted. With 0,
        // browsers do not cache; without a value, they cache for some seconds.
        let had_max_age = operation.known(&from.cors)?.as_ref().is_some_and(|cors| cors.max_age.is_some());
        let with_age = |wanted: &Cors| Cors { max_age: wanted.max_age.or(had_max_age.then_some(0)), ..wanted.clone() };
        Ok(Changed {
            name: (from.name != to.name).then_some(name),
            description: text(&from.description, &to.description)?,
            version: text(&from.version, &to.version)?,
            cors: wanted.map(|wanted| cors(&with_age(wanted))),
            disable_endpoint: (from.disable_endpoint != to.disable_endpoint).then_some(disable_endpoint),
            ip_address_type: (from.ip_address_type != to.ip_address_type).then(|| ip_address_type.into()),
        })
    }

    fn is_sent(&self) -> bool {
        let has_text = self.name.is_some() || self.description.is_some() || self.version.is_some();
        has_text || self.cors.is_some() || self.disable_endpoint.is_some() || self.ip_address_type.is_some()
    }
}

/// Whether the ownership tag has this value. An interrupted update may have changed the name of the API alone.
async fn has_resource(session: &Session, id: &str, resource: &str) -> Result<bool, Failure> {
    let tags = get(session, id).await?.and_then(|api| api.tags).unwrap_or_default();
    Ok(tags.get(ownership::RESOURCE).is_some_and(|value| value == resource))
}

/// Adds tags to an API.
pub(crate) async fn add_tags(
    operation: &Operation<'_>,
    id: &str,
    tags: BTreeMap<String, String>,
) -> Result<(), Failure> {
    let session = operation.session;
    let (_lock, change) = change(operation, id, "TagResource").await;
    tag(session, &api_arn(&session.scope, id), tags, &change).await
}

/// Deletes an API together with its routes, integrations, authorizers and stages.
pub(crate) async fn delete(operation: &Operation<'_>, entry: &Entry) -> Result<(), Failure> {
    let (_lock, change) = change(operation, &entry.id, "DeleteApi").await;
    let delete = || async { client(operation.session).await.delete_api().api_id(&entry.id).send().await };
    let exists = || async { Ok(get(operation.session, &entry.id).await?.is_some()) };
    let is_missing = |failure: &Failure| is_api_missing(failure, &entry.id);
    unmapped(operation, &entry.id, || async { deleted(change.delete(delete, is_missing, exists).await) }).await
}

/// Reads the tag `fgw:state` of an API by a separate call.
pub(crate) async fn state(session: &Session, id: &str) -> Result<Option<RootState>, Failure> {
    let arn = api_arn(&session.scope, id);
    let answer = client(session).await.get_tags().resource_arn(arn).send().await;
    let answer = answer.or_failure("GetTags")?;
    Ok(answer.tags().and_then(|tags| tags.get(ownership::STATE)).and_then(|state| ownership::state_in(state)))
}

/// Lists the APIs that this provider created.
pub(super) async fn roots(session: &Session, owner: TopologyKind) -> Result<Vec<Root>, Failure> {
    let root = |api: Shown| ownership::root(owner, &api.api_id?, api.tags.unwrap_or_default().into_iter().collect());
    Ok(ownership::by_id(all(session).await?.into_iter().filter_map(root)))
}

/// Lists the APIs that this provider created with this name. Reads the routes of each complete one that is compared.
pub(super) async fn namesakes(
    session: &Session,
    owner: TopologyKind,
    name: &str,
    is_compared: &(dyn Fn(&str) -> bool + Send + Sync),
) -> Result<Vec<Namesake>, Failure> {
    let mut found = Vec::new();
    for api in all(session).await? {
        let created = api.created_date.map(|date| date.to_string());
        let root =
            api.api_id.and_then(|id| ownership::root(owner, &id, api.tags.unwrap_or_default().into_iter().collect()));
        let Some(Root { id, state, .. }) = root.filter(|root| root.name == name) else { continue };
        let mut features = BTreeSet::new();
        if is_compared(&id) {
            match route::list(session, &id).await {
                Ok(routes) => features.extend(routes.into_iter().filter_map(|route| route.route_key)),
                // It was deleted since the list call.
                Err(failure) if is_absent(&failure) => continue,
                Err(failure) => return Err(failure),
            }
        }
        found.push(Namesake { id, created, state, features });
    }
    found.sort_by(|a, b| a.id.cmp(&b.id));
    Ok(found)
}

/// Sets the tag `fgw:state`.
pub(super) async fn mark_root(session: &Session, id: &str, state: RootState) -> Result<(), Failure> {
    let tag = (ownership::STATE, ownership::state(state));
    let arn = api_arn(&session.scope, id);
    let answer = client(session).await.tag_resource().resource_arn(arn).tags(tag.0, tag.1).send().await;
    answer.map(|_| ()).or_failure("TagResource")
}

fn learned(endpoint: Option<String>) -> Learned {
    endpoint.into_iter().map(|endpoint| ("api_endpoint".to_string(), endpoint)).collect()
}

/// Lists the APIs of the account in the Region.
pub(super) async fn all(session: &Session) -> Result<Vec<Shown>, Failure> {
    pages(|token| async move {
        let answer = client(session).await.get_apis().max_results(PAGE).set_next_token(token).send().await;
        let answer = answer.or_failure("GetApis")?;
        Ok((answer.items.unwrap_or_default(), answer.next_token))
    })
    .await
}

/// Includes empty lists, because an omitted list keeps its old value.
fn cors(cors: &Cors) -> ShownCors {
    ShownCors::builder()
        .allow_credentials(cors.allow_credentials)
        .set_allow_headers(Some(cors.allow_headers.clone()))
        .set_allow_methods(Some(cors.allow_methods.clone()))
        .set_allow_origins(Some(cors.allow_origins.clone()))
        .set_expose_headers(Some(cors.expose_headers.clone()))
        .set_max_age(cors.max_age.map(small))
        .build()
}

/// Whether a CORS configuration allows nothing, so that AWS may return none.
fn has_no_effect(cors: &Cors) -> bool {
    let max_age = cors.max_age.filter(|seconds| *seconds != 0);
    Cors { max_age, ..cors.clone() } == Cors::default()
}

/// AWS may return lists in another order and headers in another case. Both mean the same, so the applied values are
/// kept in that case.
fn read_cors(shown: &ShownCors, applied: Option<&Cors>) -> Option<Cors> {
    let list = |shown: &Option<Vec<String>>, applied: Option<&Vec<String>>| -> Vec<String> {
        let shown = shown.clone().unwrap_or_default();
        match applied {
            Some(applied) if folded(applied) == folded(&shown) => applied.clone(),
            _ => shown,
        }
    };
    let max_age = match (shown.max_age.map(i64::from), applied.map(|it| it.max_age)) {
        (Some(0), None | Some(None)) => None,
        (None, Some(Some(0))) => Some(0),
        (shown, _) => shown,
    };
    let cors = Cors {
        allow_credentials: shown.allow_credentials.unwrap_or(false),
        allow_headers: list(&shown.allow_headers, applied.map(|it| &it.allow_headers)),
        allow_methods: list(&shown.allow_methods, applied.map(|it| &it.allow_methods)),
        allow_origins: list(&shown.allow_origins, applied.map(|it| &it.allow_origins)),
        expose_headers: list(&shown.expose_headers, applied.map(|it| &it.expose_headers)),
        max_age,
    };
    (applied.is_some() || cors != Cors::default()).then_some(cors)
}

fn folded(list: &[String]) -> Vec<String> {
    let mut list: Vec<String> = list.iter().map(|text| text.to_lowercase()).collect();
    list.sort();
    list.dedup();
    list
}

#[cfg(test)]
mod tests;
