//! Reads the custom domain of a gateway and its API mappings.

use std::collections::{BTreeMap, BTreeSet};

use aws_sdk_apigatewayv2::types::{ApiMapping, DomainName};
use futures::future::join_all;

use super::super::{api_mapping, domain_name};
use crate::aws::Session;
use crate::cloud::{Cause, Failure, Observed};
use crate::model::Input;
use crate::model::keys::gateway as keys;
use crate::model::{Entry, Key, Spec};

/// A domain and its mappings.
#[derive(Clone, Debug)]
pub(super) struct FoundDomain {
    name: String,
    shown: Option<DomainName>,
    mappings: Vec<ApiMapping>,
    is_ours: bool,
}

/// Reads the domains in state and those that an interrupted update created. `resource` is the value of the tag
/// `fgw:resource` for the gateway.
pub(super) async fn known(session: &Session, known: &[Entry], resource: &str) -> Result<Vec<FoundDomain>, Failure> {
    if known.iter().all(|entry| matches!(entry.applied, Spec::Api(_))) {
        // An import finds domains only by their tags, see `tagged`.
        return Ok(Vec::new());
    }
    let names: BTreeSet<&str> = known.iter().filter_map(name).collect();
    let mappings = join_all(names.iter().map(|name| api_mapping::list(session, name)));
    let (listed, mappings) = tokio::join!(domain_name::list(session), mappings);
    let listed = match listed {
        // A role may have access to its own domain only.
        Err(failure) if failure.cause == Cause::Denied => {
            tracing::warn!("Skipping the search for custom domains that are not in state: {failure}");
            Vec::new()
        }
        listed => listed?,
    };
    let name_of = |shown: DomainName| Some((shown.domain_name.clone()?, shown));
    let mut listed: BTreeMap<String, DomainName> = listed.into_iter().filter_map(name_of).collect();
    let mut found = Vec::new();
    for (name, mappings) in names.into_iter().zip(mappings) {
        let shown = match listed.remove(name) {
            // A domain counts as deleted only if GetDomainName reports it as missing.
            None => domain_name::get(session, name).await?,
            listed => listed,
        };
        let is_ours = shown.as_ref().is_some_and(|shown| is_tagged(shown, resource));
        found.push(FoundDomain { name: name.to_string(), shown, mappings: mappings?, is_ours });
    }
    let strays = listed.into_values().filter(|shown| is_tagged(shown, resource));
    for stray in join_all(strays.map(|shown| with_mappings(session, shown))).await {
        found.push(stray?);
    }
    Ok(found)
}

/// Finds the domains with the tags of the gateway, for an import.
pub(super) async fn tagged(session: &Session, resource: &str) -> Result<Vec<FoundDomain>, Failure> {
    let all = domain_name::list(session).await?;
    let ours = all.into_iter().filter(|shown| is_tagged(shown, resource));
    join_all(ours.map(|shown| with_mappings(session, shown))).await.into_iter().collect()
}

async fn with_mappings(session: &Session, shown: DomainName) -> Result<FoundDomain, Failure> {
    let name = shown.domain_name.clone().unwrap_or_default();
    let mappings = api_mapping::list(session, &name).await?;
    Ok(FoundDomain { name, shown: Some(shown), mappings, is_ours: true })
}

/// The current observation of a known domain or mapping.
pub(super) fn read(domains: &[FoundDomain], entry: &Entry, root_id: &str, api: &Key) -> Option<Observed> {
    let found = domains.iter().find(|found| name(entry) == Some(found.name.as_str()))?;
    match &entry.applied {
        Spec::DomainName(_) => {
            let shown = found.shown.as_ref()?;
            // The domain may have been deleted and created again outside Terraform. The new domain has another target,
            // while the original one keeps its target even if its tags are removed.
            let learned = domain_name::learned(shown);
            let is_the_same = found.is_ours || (!entry.learned.is_empty() && entry.learned == learned);
            is_the_same.then(|| domain_name::read(shown, api.clone(), entry.key.clone()))?
        }
        Spec::ApiMapping(applied) => {
            let shown = found.mappings.iter().find(|it| it.api_mapping_id.as_ref() == Some(&entry.id))?;
            api_mapping::read(shown, root_id, api.clone(), applied.domain.clone(), entry.key.clone())
        }
        _ => None,
    }
}

/// The domains that are missing in state, with their root mappings.
pub(super) fn unknown(domains: &[FoundDomain], known: &[Entry], root_id: &str, api: &Key) -> Vec<Observed> {
    let is_known = |found: &&FoundDomain| known.iter().any(|entry| name(entry) == Some(found.name.as_str()));
    everything(domains.iter().filter(|found| !is_known(found)), root_id, api)
}

/// The domains and their root mappings to the API of the gateway.
pub(super) fn everything<'a>(
    domains: impl IntoIterator<Item = &'a FoundDomain>,
    root_id: &str,
    api: &Key,
) -> Vec<Observed> {
    let mut seen = Vec::new();
    for FoundDomain { name, shown, mappings, .. } in domains {
        let key = keys::domain(&Input::Known(name.clone()));
        let Some(domain) = shown.as_ref().and_then(|it| domain_name::read(it, api.clone(), key.clone())) else {
            continue;
        };
        seen.push(domain);
        let ours = |it: &&ApiMapping| api_mapping::path(it).is_empty() && it.api_id.as_deref() == Some(root_id);
        seen.extend(mappings.iter().find(ours).and_then(|mapping| {
            api_mapping::read(mapping, root_id, api.clone(), key.clone(), keys::api_mapping(&key))
        }));
    }
    seen
}

/// The name of the domain that an entry is or belongs to.
fn name(entry: &Entry) -> Option<&str> {
    match &entry.applied {
        Spec::DomainName(_) => Some(&entry.id),
        Spec::ApiMapping(mapping) => mapping.domain.fixed.known().map(String::as_str),
        _ => None,
    }
}

fn is_tagged(shown: &DomainName, resource: &str) -> bool {
    domain_name::is_tagged(shown, resource, &keys::domain(&Input::Unknown).slot)
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::aws::recorded::{Answer, OWNER, Recorded};
    use crate::model::{ApiRoute, Ref};

    const NAME: &str = "api.example.com";

    fn ours() -> Value {
        json!({ "fgw:resource": "http_gateway/api1", "fgw:object": "domain", "team": "web" })
    }

    fn domain(name: &str, target: &str, tags: &Value) -> Value {
        let configuration = json!({
            "apiGatewayDomainName": target, "hostedZoneId": "Z1", "certificateArn": "cert1",
            "endpointType": "REGIONAL", "securityPolicy": "TLS_1_2", "domainNameStatus": "AVAILABLE",
        });
        json!({ "domainName": name, "domainNameConfigurations": [configuration], "tags": tags })
    }

    fn mapping(id: &str, api: &str, stage: &str, key: &str) -> Value {
        json!({ "apiMappingId": id, "apiId": api, "stage": stage, "apiMappingKey": key })
    }

    fn items(items: &[Value]) -> Answer {
        Answer::Json(200, json!({ "items": items }))
    }

    /// A gateway of which only the API exists.
    fn api() -> Recorded {
        let api = json!({ "apiId": "api1", "name": "shop", "tags": { "fgw:resource": "http_gateway/shop" } });
        let lists = ["routes", "integrations", "authorizers"];
        let aws = Recorded::default()
            .on("GET /v2/apis/api1", Answer::Json(200, api))
            .on("GET /v2/apis/api1/stages/%24default", Answer::Error(404, "NotFoundException", "no stage"));
        lists.iter().fold(aws, |aws, list| aws.on(&format!("GET /v2/apis/api1/{list}"), items(&[])))
    }

    /// The same after the deletion of the API.
    fn no_api() -> Recorded {
        let missing = Answer::Error(404, "NotFoundException", "Invalid API identifier specified");
        let parts = ["", "/routes", "/integrations", "/authorizers", "/stages/%24default"];
        parts.iter().fold(Recorded::default(), |aws, part| aws.on(&format!("GET /v2/apis/api1{part}"), missing.clone()))
    }

    /// Adds the domain, or `None` for a deleted one, and its mappings.
    fn with(aws: Recorded, shown: Option<Value>, mappings: Answer) -> Recorded {
        let missing = Answer::Error(404, "NotFoundException", "Invalid domain name identifier specified");
        let listed = items(&shown.iter().cloned().collect::<Vec<_>>());
        aws.on("GET /v2/domainnames", listed)
            .on(&format!("GET /v2/domainnames/{NAME}"), shown.map_or(missing, |shown| Answer::Json(200, shown)))
            .on(&format!("GET /v2/domainnames/{NAME}/apimappings"), mappings)
    }

    async fn seen(aws: &Recorded, known: &[Entry]) -> Vec<Observed> {
        let session = aws.session("domains");
        let seen = crate::aws::apigateway::read::read(&session, OWNER, "api1", known).await.unwrap();
        let is_here = |it: &Observed| matches!(it.spec, Spec::DomainName(_) | Spec::ApiMapping(_));
        seen.map(|seen| seen.objects).unwrap_or_default().into_iter().filter(is_here).collect()
    }

    /// The domain and the mapping that an import finds.
    async fn imported() -> (Recorded, Vec<Observed>) {
        let not_ours = [
            json!({}),
            json!({ "fgw:resource": "http_gateway/api2", "fgw:object": "domain" }),
            json!({ "fgw:resource": "http_gateway/api1" }),
        ];
        let others: Vec<Value> = not_ours.iter().map(|tags| domain("other.example.com", "d-0", tags)).collect();
        let others = json!({ "items": others, "nextToken": "p2" });
        let mappings = [mapping("m9", "api2", "prod", "v1"), mapping("m1", "api1", "$default", "")];
        let aws = api()
            .on("GET /v2/domainnames", Answer::Json(200, others))
            .on("GET /v2/domainnames?nextToken=p2", items(&[domain(NAME, "d-1", &ours())]))
            .on(&format!("GET /v2/domainnames/{NAME}/apimappings"), items(&mappings));
        // An import also searches for the record of the domain.
        let zones = "<HostedZones></HostedZones><IsTruncated>false</IsTruncated><MaxItems>100</MaxItems>";
        let zones = format!("<ListHostedZonesByNameResponse>{zones}</ListHostedZonesByNameResponse>");
        let aws = [NAME, "example.com", "com"].iter().fold(aws, |aws, name| {
            aws.on(&format!("GET /2013-04-01/hostedzonesbyname?dnsname={name}"), Answer::Xml(200, zones.clone()))
        });
        let found = seen(&aws, &[]).await;
        (aws, found)
    }

    async fn known() -> Vec<Entry> {
        let entry = |it: Observed| Entry { learned: it.learned, ..Entry::new(it.key, it.id, it.spec) };
        imported().await.1.into_iter().map(entry).collect()
    }

    #[tokio::test(start_paused = true)]
    async fn import_finds_the_tagged_domain_and_the_mapping_to_the_api() {
        let (aws, found) = imported().await;
        let slots: Vec<(&str, &str)> = found.iter().map(|it| (it.key.slot.as_str(), it.id.as_str())).collect();
        assert_eq!(slots, [("domain", NAME), ("api_mapping", "m1")]);
        assert_eq!(found[0].key.fixed, Input::Known(NAME.to_string()));
        assert_eq!(found[0].learned["target_domain_name"], "d-1");
        let Spec::DomainName(spec) = &found[0].spec else { panic!("{found:?}") };
        assert_eq!(spec.tags, Input::Known([("team".to_string(), Input::Known("web".to_string()))].into()));
        let Spec::ApiMapping(spec) = &found[1].spec else { panic!("{found:?}") };
        assert_eq!((&spec.stage, &spec.domain), (&Ref::Key(keys::stage()), &found[0].key));
        let about_domains = aws.calls().iter().filter(|call| call.contains("domainnames")).count();
        assert_eq!(about_domains, 3, "{:?}", aws.calls());
    }

    #[tokio::test(start_paused = true)]
    async fn known_domain_reads_as_imported() {
        let (_, found) = imported().await;
        let mappings = items(&[mapping("m1", "api1", "$default", "")]);
        let aws = with(api(), Some(domain(NAME, "d-1", &ours())), mappings);
        assert_eq!(seen(&aws, &known().await).await, found);
        assert_eq!(aws.calls().len(), 7, "{:?}", aws.calls());
    }

    #[tokio::test(start_paused = true)]
    async fn domain_of_an_interrupted_update_is_found() {
        let other = "shop.example.com";
        let other_tags = json!({ "fgw:resource": "http_gateway/api2", "fgw:object": "domain" });
        let listed = [
            domain(NAME, "d-1", &ours()),
            domain("theirs.example.com", "d-2", &other_tags),
            domain(other, "d-3", &ours()),
        ];
        let mappings = [mapping("m9", "api2", "prod", "v1"), mapping("m2", "api1", "$default", "")];
        let aws = api()
            .on("GET /v2/domainnames", items(&listed))
            .on(&format!("GET /v2/domainnames/{NAME}/apimappings"), items(&[mapping("m1", "api1", "$default", "")]))
            .on(&format!("GET /v2/domainnames/{other}/apimappings"), items(&mappings));
        let found = seen(&aws, &known().await).await;
        let slots: Vec<(&str, &str)> = found.iter().map(|it| (it.key.slot.as_str(), it.id.as_str())).collect();
        assert_eq!(slots, [("domain", NAME), ("api_mapping", "m1"), ("domain", other), ("api_mapping", "m2")]);
        assert_eq!(found[3].key.fixed, Input::Known(other.to_string()));

        // It is also found if state contains no domain.
        let route = ApiRoute { api: keys::api(), route_key: "GET /a".into(), integration: None, authorizer: None };
        let without = [Entry::new(keys::route("GET /a"), "r1", Spec::ApiRoute(route))];
        assert_eq!(seen(&aws, &without).await.len(), 4);
    }

    #[tokio::test(start_paused = true)]
    async fn known_domain_missing_in_the_list_is_read_by_name() {
        let denied = Answer::Error(403, "AccessDeniedException", "not you");
        for listed in [items(&[]), denied] {
            let aws = api()
                .on("GET /v2/domainnames", listed)
                .on(&format!("GET /v2/domainnames/{NAME}"), Answer::Json(200, domain(NAME, "d-1", &ours())))
                .on(
                    &format!("GET /v2/domainnames/{NAME}/apimappings"),
                    items(&[mapping("m1", "api1", "$default", "")]),
                );
            assert_eq!(seen(&aws, &known().await).await, imported().await.1);
        }
    }

    #[tokio::test(start_paused = true)]
    async fn deleted_domain_is_not_returned_and_neither_is_its_mapping() {
        let missing = || Answer::Error(404, "NotFoundException", "Invalid domain name identifier specified");
        let aws = with(api(), None, missing());
        assert_eq!(seen(&aws, &known().await).await, []);
    }

    #[tokio::test(start_paused = true)]
    async fn domain_is_recognized_by_its_target_or_its_tags() {
        let mappings = || items(&[mapping("m7", "api2", "prod", "")]);
        let aws = with(api(), Some(domain(NAME, "d-2", &json!({}))), mappings());
        assert_eq!(seen(&aws, &known().await).await, [], "another target without the tags");

        let aws = with(api(), Some(domain(NAME, "d-1", &json!({}))), mappings());
        let found = seen(&aws, &known().await).await;
        assert_eq!(found.len(), 1, "{found:?}");
        assert_eq!(found[0].spec.tags(), Some(&Input::Known([].into())));
    }

    #[tokio::test(start_paused = true)]
    async fn changed_target_of_a_mapping_is_drift() {
        let mappings = items(&[mapping("m1", "api2", "prod", "")]);
        let aws = with(api(), Some(domain(NAME, "d-1", &ours())), mappings);
        let known = known().await;
        let found = seen(&aws, &known).await;
        assert_eq!(known[1].applied.differences(&found[1].spec), ["stage is api2/prod instead of stage"]);
    }

    #[tokio::test(start_paused = true)]
    async fn domain_outlives_its_api() {
        let aws = with(no_api(), Some(domain(NAME, "d-1", &ours())), items(&[]));
        let slots: Vec<String> = seen(&aws, &known().await).await.into_iter().map(|it| it.key.slot).collect();
        assert_eq!(slots, ["domain"]);
    }
}
