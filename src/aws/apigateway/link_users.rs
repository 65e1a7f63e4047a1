//! The users of VPC links. AWS names them by their methods and route IDs alone when it rejects a deletion.
//!
//! A REST API can use a VPC link too, and is not searched. Only `GetResources` with `embed=methods` returns its
//! integrations, one REST API at a time and with another permission. They may name the link by a stage variable, so the
//! stages would have to be read as well. AWS still rejects the deletion of the link, which then stays in state.

use std::collections::BTreeMap;

use aws_sdk_apigatewayv2::types::{Api, Integration};
use futures::future::join_all;

use super::{api, integration, none_if_absent, route};
use crate::aws::Session;
use crate::aws::calls::ownership;
use crate::cloud::{Cause, Dependent, Dependents, Extent, Failure};
use crate::model::{Entry, Spec};

/// The number of APIs in which a limited search looks for the users of a link.
const READ_APIS: usize = 20;

/// The routes of other APIs, and unmanaged ones of this API, whose integrations use these links. AWS lists neither by
/// link, so every API is read, or at most [`READ_APIS`] in a limited search.
///
/// `is_known` is whether this resource manages the route with an ID.
pub(super) async fn of_links(
    session: &Session,
    api_id: &str,
    (entries, extent): (&[&Entry], Extent),
    is_known: &(dyn Fn(&str) -> bool + Send + Sync),
) -> Dependents {
    let links: Vec<&str> =
        entries.iter().filter(|entry| matches!(entry.applied, Spec::VpcLink(_))).map(|it| it.id.as_str()).collect();
    if links.is_empty() {
        return Dependents::default();
    }
    let mut apis = match api::all(session).await {
        Ok(apis) => apis,
        Err(failure) => return Dependents::of([Err(failure)]),
    };
    // Another gateway of this provider is the most likely user.
    let is_own = |it: &Api| it.api_id.as_deref() == Some(api_id);
    let is_tagged = |it: &Api| it.tags.iter().flatten().any(|(key, _)| key == ownership::RESOURCE);
    apis.sort_by_key(|it| (!is_own(it), !is_tagged(it)));
    let limit = if extent == Extent::Limited { READ_APIS } else { apis.len() };
    let unread = apis.len().saturating_sub(limit);
    apis.truncate(limit);
    let links = &links;
    let of_api = |it: Api| async move {
        let id = it.api_id.unwrap_or_default();
        routes_with(session, (&id, &it.name.unwrap_or_default()), links.clone(), is_known).await
    };
    let more = (unread > 0).then(|| {
        let message = format!("the routes of {READ_APIS} APIs were read, and those of {unread} further ones were not");
        Err(Failure::new(Cause::Other, "GetIntegrations", message))
    });
    Dependents::of(join_all(apis.into_iter().map(of_api)).await.into_iter().chain(more))
}

/// The unmanaged routes of an API whose integrations use these links.
async fn routes_with(
    session: &Session,
    (api_id, name): (&str, &str),
    links: Vec<&str>,
    is_known: &(dyn Fn(&str) -> bool + Send + Sync),
) -> Result<Vec<Dependent>, Failure> {
    let integrations = none_if_absent(integration::list(session, api_id).await)?;
    let link_of = |it: &Integration| links.iter().copied().find(|link| it.connection_id.as_deref() == Some(link));
    let using = integrations.iter().filter_map(|it| Some((it.integration_id.as_deref()?, link_of(it)?)));
    let using: BTreeMap<&str, &str> = using.collect();
    if using.is_empty() {
        return Ok(Vec::new());
    }
    let routes = none_if_absent(route::list(session, api_id).await)?;
    let unmanaged = routes.into_iter().filter_map(|route| {
        let id = route.route_id.filter(|id| !is_known(id))?;
        let link = using.get(route.target.as_deref()?.strip_prefix("integrations/")?)?;
        Some(Dependent {
            kind: "route",
            id,
            description: route.route_key.unwrap_or_default(),
            further: format!("of API {api_id} {name:?}"),
            owner: None,
            holds: vec![link.to_string()],
            guardduty: Vec::new(),
        })
    });
    Ok(unmanaged.collect())
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::aws::recorded::{Answer, Recorded};
    use crate::model::{Key, VpcLink};

    fn entry() -> Entry {
        Entry::new(Key::new("vpc_link.main"), "l1", Spec::VpcLink(VpcLink::test()))
    }

    fn list(items: Value) -> Answer {
        Answer::Json(200, json!({ "items": items }))
    }

    #[tokio::test(start_paused = true)]
    async fn routes_that_use_a_link_are_named_with_their_api() {
        let apis = json!([{ "apiId": "api2", "name": "theirs" }, { "apiId": "api1", "name": "own" }]);
        let integration = |id: &str, link: &str| json!({ "integrationId": id, "connectionId": link });
        let route = |id: &str, key: &str| json!({ "routeId": id, "routeKey": key, "target": "integrations/i1" });
        let aws = Recorded::default()
            .on("GET /v2/apis", list(apis))
            .on("GET /v2/apis/api1/integrations", list(json!([integration("i1", "l1")])))
            .on("GET /v2/apis/api1/routes", list(json!([route("r1", "GET /a")])))
            .on("GET /v2/apis/api2/integrations", list(json!([integration("i1", "l1"), integration("i2", "l9")])))
            .on("GET /v2/apis/api2/routes", list(json!([route("r2", "GET /b"), route("r3", "GET /c")])));
        let (entry, is_known) = (entry(), |id: &str| id == "r1");
        let found = of_links(&aws.session("link-users"), "api1", (&[&entry], Extent::Limited), &is_known).await;
        let named: Vec<_> = found.objects.iter().map(|it| (it.id.as_str(), it.further.as_str())).collect();
        assert_eq!(named, [("r2", "of API api2 \"theirs\""), ("r3", "of API api2 \"theirs\"")]);
        assert!(found.unseen.is_empty() && found.objects.iter().all(|it| it.holds == ["l1"]), "{found:?}");
    }

    /// 25 APIs on two pages. The last but one uses the link.
    fn many_apis() -> Recorded {
        let apis = |numbers: std::ops::RangeInclusive<u8>| -> Vec<Value> {
            numbers.map(|number| json!({ "apiId": format!("api{number}") })).collect()
        };
        let aws = Recorded::default()
            .on("GET /v2/apis", Answer::Json(200, json!({ "items": apis(1..=15), "nextToken": "p2" })))
            .on("GET /v2/apis?nextToken=p2", list(apis(16..=25).into()))
            .on("GET /v2/apis/api24/routes", list(json!([{ "routeId": "r9", "target": "integrations/i1" }])));
        (1..=25).fold(aws, |aws, number| {
            let used = json!([{ "integrationId": "i1", "connectionId": "l1" }]);
            let integrations = if number == 24 { used } else { json!([]) };
            aws.on(&format!("GET /v2/apis/api{number}/integrations"), list(integrations))
        })
    }

    #[tokio::test(start_paused = true)]
    async fn a_limited_search_reads_20_apis_and_reports_the_rest() {
        let (aws, entry) = (many_apis(), entry());
        let found = of_links(&aws.session("many-apis"), "api25", (&[&entry], Extent::Limited), &|_| false).await;
        assert_eq!((found.objects.len(), aws.calls().len()), (0, 2 + READ_APIS));
        assert!(aws.calls().contains(&"GET /v2/apis/api25/integrations".to_string()), "the own API comes first");
        assert!(found.unseen[0].message.contains("5 further ones"), "{found:?}");
    }

    #[tokio::test(start_paused = true)]
    async fn a_complete_search_reads_all_apis() {
        let (aws, entry) = (many_apis(), entry());
        let found = of_links(&aws.session("all-apis"), "api25", (&[&entry], Extent::Complete), &|_| false).await;
        let named: Vec<_> = found.objects.iter().map(|it| (it.id.as_str(), it.further.as_str())).collect();
        assert_eq!((named, found.unseen.len()), (vec![("r9", "of API api24 \"\"")], 0));
        assert_eq!(aws.calls().len(), 2 + 25 + 1);
    }
}
