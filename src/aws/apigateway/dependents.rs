//! Unmanaged objects in an API, in its custom domain and in its log group. AWS deletes them too, so the plan warns
//! about them.

use std::collections::HashSet;

use aws_sdk_apigatewayv2::types::ApiMapping;
use futures::future::join_all;

use super::{api_mapping, authorizer, domain_name, link_users, route, stage, text};
use crate::aws::Session;
use crate::aws::logs::subscription;
use crate::cloud::{Cause, Dependent, DependentScope, Dependents, Failure};
use crate::model::{Entry, Spec};

/// Finds the unmanaged routes, stages and authorizers of an API, the unmanaged mappings of its domain, and the
/// unmanaged filters of a log group that is deleted. All of them are deleted with the API, domain or group, except
/// mappings to other APIs, which block the deletion of the domain, and mappings to the API on unmanaged domains, which
/// block the deletion of their stage. Integrations only serve routes and are not reported. Failed list calls are
/// reported in addition to the results of the others.
pub(crate) async fn dependents(
    session: &Session,
    api_id: &str,
    within: DependentScope<'_>,
    known: &[Entry],
) -> Dependents {
    if let DependentScope::Objects(entries, extent) = within {
        let is_known = |id: &str| known.iter().any(|entry| entry.id == id);
        let (mut found, mappings) = tokio::join!(
            link_users::of_links(session, api_id, (entries, extent), &is_known),
            of_stages(session, api_id, entries, known)
        );
        found.extend(Dependents::of([mappings]));
        return found;
    }
    let is_meant = |entry: &&Entry| match within {
        DependentScope::Root => true,
        DependentScope::Domains(names) => names.contains(&entry.id.as_str()),
        _ => false,
    };
    if let DependentScope::LogGroups(names) = within {
        return Dependents::of(subscription::unmanaged_in(session, names.iter().copied(), known).await);
    }
    let domains = known.iter().filter(|entry| matches!(entry.applied, Spec::DomainName(_)) && entry.is_present());
    let paths = join_all(domains.filter(is_meant).map(|entry| paths(session, api_id, &entry.id, known)));
    if !matches!(within, DependentScope::Root) {
        return Dependents::of(paths.await);
    }
    let ours: HashSet<&str> = known.iter().map(|entry| entry.id.as_str()).collect();
    let unmanaged = |kind: &'static str, id: Option<String>, description: Option<String>| {
        let id = id.filter(|id| !ours.contains(id.as_str()))?;
        let description = description.filter(|text| *text != id).unwrap_or_default();
        Some(Dependent {
            kind,
            id,
            description,
            further: String::new(),
            owner: None,
            holds: Vec::new(),
            guardduty: Vec::new(),
        })
    };
    let groups = known.iter().filter(|entry| entry.is_present() && entry.takes_filters_along());
    let groups = groups.map(|entry| entry.id.as_str());
    let (routes, stages, authorizers, paths, elsewhere, filters) = tokio::join!(
        route::list(session, api_id),
        stage::list(session, api_id),
        authorizer::list(session, api_id),
        paths,
        mappings_elsewhere(session, api_id, known, |_| true),
        subscription::unmanaged_in(session, groups, known)
    );
    let routes = routes.map(|all| {
        let found = all.into_iter().filter_map(|it| unmanaged("route", it.route_id, it.route_key));
        found.collect::<Vec<_>>()
    });
    let stages = stages.map(|all| {
        let found = all.into_iter().filter_map(|it| unmanaged("stage", it.stage_name, text(it.description.as_deref())));
        found.collect()
    });
    let authorizers = authorizers.map(|all| {
        let found = all.into_iter().filter_map(|it| unmanaged("authorizer", it.authorizer_id, it.name));
        found.collect()
    });
    Dependents::of([routes, stages, authorizers, elsewhere].into_iter().chain(paths).chain(filters))
}

/// Lists the mappings of unmanaged domains to the stages among these objects. AWS does not delete a stage that has one.
/// Without a stage, it calls nothing.
async fn of_stages(
    session: &Session,
    api_id: &str,
    entries: &[&Entry],
    known: &[Entry],
) -> Result<Vec<Dependent>, Failure> {
    let stages: Vec<&str> =
        entries.iter().filter(|entry| matches!(entry.applied, Spec::Stage(_))).map(|it| it.id.as_str()).collect();
    match stages.is_empty() {
        true => Ok(Vec::new()),
        false => mappings_elsewhere(session, api_id, known, |stage| stages.contains(&stage)).await,
    }
}

/// Lists the mappings to stages of the API on the domains that are not in state. A role may have access to its own
/// domain only.
async fn mappings_elsewhere(
    session: &Session,
    api_id: &str,
    known: &[Entry],
    is_meant: impl Fn(&str) -> bool,
) -> Result<Vec<Dependent>, Failure> {
    let skipped = |failure: &Failure| {
        tracing::warn!("Skipping the search for API mappings on other custom domains: {failure}");
    };
    let domains = match domain_name::list(session).await {
        Err(failure) if failure.cause == Cause::Denied => {
            skipped(&failure);
            return Ok(Vec::new());
        }
        listed => listed?,
    };
    let is_ours = |name: &str| known.iter().any(|it| matches!(it.applied, Spec::DomainName(_)) && it.id == name);
    let names: Vec<String> = domains.into_iter().filter_map(|it| it.domain_name).filter(|it| !is_ours(it)).collect();
    let mut found = Vec::new();
    for (name, mappings) in names.iter().zip(join_all(names.iter().map(|it| api_mapping::list(session, it))).await) {
        let mappings = match mappings {
            Err(failure) if failure.cause == Cause::Denied => {
                skipped(&failure);
                continue;
            }
            mappings => mappings?,
        };
        let leads_here = |it: &ApiMapping| it.api_id() == Some(api_id) && it.stage().is_some_and(&is_meant);
        found.extend(mappings.iter().filter(|it| leads_here(it)).filter_map(|shown| {
            Some(Dependent {
                kind: Dependent::MAPPING,
                id: shown.api_mapping_id.clone()?,
                description: format!("{name}/{}", api_mapping::path(shown)),
                further: format!("to {}", api_mapping::target(shown)),
                owner: None,
                holds: shown.stage.clone().into_iter().collect(),
                guardduty: Vec::new(),
            })
        }));
    }
    Ok(found)
}

/// Lists the unmanaged mappings of a domain.
async fn paths(session: &Session, api_id: &str, domain: &str, known: &[Entry]) -> Result<Vec<Dependent>, Failure> {
    let mappings = api_mapping::list(session, domain).await?;
    let unmanaged = mappings.into_iter().filter_map(|shown| {
        let id = shown.api_mapping_id.clone()?;
        let points_elsewhere = shown.api_id.as_deref() != Some(api_id);
        // A mapping in state that someone has pointed at another API serves that API now.
        if !points_elsewhere && known.iter().any(|entry| entry.id == id) {
            return None;
        }
        Some(Dependent {
            kind: Dependent::MAPPING,
            id,
            description: format!("{domain}/{}", api_mapping::path(&shown)),
            further: format!("to {}", api_mapping::target(&shown)),
            owner: None,
            holds: if points_elsewhere { vec![domain.to_string()] } else { Vec::new() },
            guardduty: Vec::new(),
        })
    });
    Ok(unmanaged.collect())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::aws::recorded::{Answer, Recorded};
    use crate::cloud::{Cause, Extent};
    use crate::model::Input;
    use crate::model::keys::gateway as keys;
    use crate::model::{ApiMapping, ApiRoute, DomainName, Key, Stage};

    /// A route and the stage.
    fn known() -> Vec<Entry> {
        vec![
            Entry::new(Key::new("route.GET /a"), "r1", Spec::ApiRoute(ApiRoute::test())),
            Entry::new(Key::new("stage"), "$default", Spec::Stage(Stage::test())),
        ]
    }

    fn aws() -> Recorded {
        let routes = json!([{ "routeId": "r1", "routeKey": "GET /a" }, { "routeId": "r2", "routeKey": "GET /theirs" }]);
        Recorded::default()
            .on("GET /v2/apis/api1/routes", Answer::Json(200, json!({ "items": routes, "nextToken": "n" })))
            .on(
                "GET /v2/apis/api1/routes?nextToken=n",
                Answer::Json(200, json!({ "items": [{ "routeId": "r0", "routeKey": "$default" }] })),
            )
            .on("GET /v2/domainnames", Answer::Json(200, json!({ "items": [] })))
            .on(
                "GET /v2/apis/api1/stages",
                Answer::Json(
                    200,
                    json!({ "items": [{ "stageName": "$default" }, { "stageName": "beta", "description": "of the web team" }] }),
                ),
            )
    }

    #[tokio::test(start_paused = true)]
    async fn routes_stages_and_authorizers_not_in_state_are_reported() {
        let authorizers = json!({ "items": [{ "authorizerId": "a9", "name": "jwt" }] });
        let aws = aws().on("GET /v2/apis/api1/authorizers", Answer::Json(200, authorizers));
        let found = dependents(&aws.session("unmanaged"), "api1", DependentScope::Root, &known()).await;
        let objects: Vec<[&str; 3]> =
            found.objects.iter().map(|it| [it.kind, it.id.as_str(), it.description.as_str()]).collect();
        assert_eq!(
            objects,
            [
                ["route", "r0", "$default"],
                ["route", "r2", "GET /theirs"],
                ["stage", "beta", "of the web team"],
                ["authorizer", "a9", "jwt"],
            ]
        );
        assert_eq!((found.unseen, aws.calls().len()), (vec![], 5));
    }

    #[tokio::test(start_paused = true)]
    async fn unmanaged_mappings_are_reported_as_deleted_or_blocking() {
        let name = Input::Known("api.example.com".to_string());
        let mapping = ApiMapping { domain: keys::domain(&name), ..ApiMapping::test() };
        let domain = DomainName { domain_name: name.clone(), ..DomainName::test() };
        let mut known = known();
        known.push(Entry::new(keys::domain(&name), "api.example.com", Spec::DomainName(domain)));
        known.push(Entry::new(keys::api_mapping(&keys::domain(&name)), "m1", Spec::ApiMapping(mapping)));
        let item = |id: &str, api: &str, path: &str| json!({ "apiMappingId": id, "apiId": api, "stage": "$default", "apiMappingKey": path });
        let items = json!({ "items": [item("m1", "api1", ""), item("m2", "api1", "v1"), item("m3", "api2", "shop")] });
        let list = "GET /v2/domainnames/api.example.com/apimappings";
        let none = || Answer::Json(200, json!({ "items": [] }));
        let aws = ["routes", "stages", "authorizers"]
            .iter()
            .fold(Recorded::default(), |aws, list| aws.on(&format!("GET /v2/apis/api1/{list}"), none()))
            .on("GET /v2/domainnames", none())
            .on(list, Answer::Json(200, items));
        let session = aws.session("paths");
        let found = dependents(&session, "api1", DependentScope::Root, &known).await;
        let objects: Vec<(&str, &str, &str, usize)> = found
            .objects
            .iter()
            .map(|it| (it.id.as_str(), it.description.as_str(), it.further.as_str(), it.holds.len()))
            .collect();
        assert_eq!(
            objects,
            [
                ("m2", "api.example.com/v1", "to api1/$default", 0),
                ("m3", "api.example.com/shop", "to api2/$default", 1)
            ]
        );
        let calls = aws.calls().len();
        assert_eq!(dependents(&session, "api1", DependentScope::Domains(&["api.example.com"]), &known).await, found);
        assert_eq!(aws.calls()[calls..], [list], "no other list is read");
        assert_eq!(dependents(&session, "api1", DependentScope::Domains(&["b"]), &known).await, Dependents::default());
    }

    #[tokio::test(start_paused = true)]
    async fn denied_list_call_hides_only_its_own_results() {
        let denied = Answer::Error(403, "AccessDeniedException", "not you");
        let aws = aws().on("GET /v2/apis/api1/authorizers", denied);
        let found = dependents(&aws.session("hidden"), "api1", DependentScope::Root, &known()).await;
        let unseen: Vec<(&str, Cause)> = found.unseen.iter().map(|it| (it.action.as_str(), it.cause)).collect();
        assert_eq!((unseen, found.objects.len()), (vec![("GetAuthorizers", Cause::Denied)], 3));
    }

    #[tokio::test(start_paused = true)]
    async fn mappings_of_the_api_on_other_domains_are_reported() {
        let domains = json!({ "items": [
            { "domainName": "api.example.com" }, { "domainName": "theirs.example.com" }, { "domainName": "closed.example.com" },
        ] });
        let item = |id: &str, api: &str, stage: &str| json!({ "apiMappingId": id, "apiId": api, "stage": stage, "apiMappingKey": "v1" });
        let theirs = [item("m1", "api1", "$default"), item("m2", "api2", "$default"), item("m3", "api1", "beta")];
        let name = Input::Known("api.example.com".to_string());
        let known = [Entry::new(keys::domain(&name), "api.example.com", Spec::DomainName(DomainName::test()))];
        let mappings = |domain: &str| format!("GET /v2/domainnames/{domain}/apimappings");
        let found_by = async |stages: &[&str]| {
            let entries = stages.iter().map(|it| Entry::new(keys::stage(it), *it, Spec::Stage(Stage::test())));
            let entries: Vec<Entry> = entries.collect();
            let entries: Vec<&Entry> = entries.iter().collect();
            let scope = DependentScope::Objects(&entries, Extent::Limited);
            let aws = Recorded::default()
                .on("GET /v2/domainnames", Answer::Json(200, domains.clone()))
                .on(&mappings("theirs.example.com"), Answer::Json(200, json!({ "items": theirs })))
                .on(&mappings("closed.example.com"), Answer::Error(403, "AccessDeniedException", "not you"));
            let found = dependents(&aws.session("elsewhere"), "api1", scope, &known).await;
            let of = |it: &Dependent| (it.id.clone(), it.description.clone(), it.holds.concat());
            (found.objects.iter().map(of).collect::<Vec<_>>(), found.unseen)
        };
        let found = |id: &str, stage: &str| (id.to_string(), "theirs.example.com/v1".to_string(), stage.to_string());
        assert_eq!(found_by(&["$default"]).await, (vec![found("m1", "$default")], vec![]));
        let all = vec![found("m1", "$default"), found("m3", "beta")];
        assert_eq!(found_by(&["$default", "beta"]).await, (all, vec![]));
    }
}
