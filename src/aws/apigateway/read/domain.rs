//! Reads the custom domain of a gateway and its API mappings.

mod adoption;

use std::collections::{BTreeMap, BTreeSet, HashMap};

use aws_sdk_apigatewayv2::types::{ApiMapping, DomainName};
use futures::future::join_all;

pub(super) use self::adoption::{adoptable, named, reason_against_named};
use super::super::{api_mapping, domain_name};
use super::CREATED_AGAIN;
use crate::aws::Session;
use crate::cloud::{Cause, Failure, Observed, Unmanaged};
use crate::model::Input;
use crate::model::keys::gateway as keys;
use crate::model::{Entry, Key, Spec};

/// The ID of an API, and the names of those of its stages that belong to the gateway.
type Place<'a> = (&'a str, &'a [&'a str]);

/// A domain and its mappings.
#[derive(Clone, Debug)]
pub(super) struct FoundDomain {
    name: String,
    shown: Option<DomainName>,
    mappings: Vec<ApiMapping>,
    /// Whether it has the tags of the gateway.
    is_tagged: bool,
}

impl FoundDomain {
    /// Its tags. `None` if it does not exist.
    pub(super) fn tags(&self) -> Option<&HashMap<String, String>> {
        self.shown.as_ref()?.tags.as_ref()
    }
}

/// Reads the domains in state and those that an interrupted update created. `resource` is the value of the tag
/// `fgw:resource` for the gateway.
pub(super) async fn known(session: &Session, known: &[Entry], resource: &str) -> Result<Vec<FoundDomain>, Failure> {
    if known.is_empty() {
        // An import finds domains otherwise, see `imported` and `adoptable`.
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
        let is_tagged = shown.as_ref().is_some_and(|shown| is_tagged(shown, resource));
        found.push(FoundDomain { name: name.to_string(), shown, mappings: mappings?, is_tagged });
    }
    let others = listed.into_values().filter(|shown| is_tagged(shown, resource));
    for other in join_all(others.map(|shown| with_mappings(session, shown, resource))).await {
        match other {
            // Anyone may copy the tags to a domain that the role has no access to.
            Err(failure) if failure.cause == Cause::Denied => {
                tracing::warn!("Skipping a custom domain with the tags of the gateway: {failure}");
            }
            other => found.push(other?),
        }
    }
    Ok(found)
}

/// Finds the domain of the gateway by its tags, for an import. All others with these tags are unmanaged.
pub(super) async fn imported(
    session: &Session,
    root_id: &str,
    resource: &str,
) -> Result<(Vec<FoundDomain>, Vec<Unmanaged>), Failure> {
    let all = domain_name::list(session).await?;
    let ours = all.into_iter().filter(|shown| is_tagged(shown, resource));
    let mut domains: Vec<FoundDomain> = join_all(ours.map(|shown| with_mappings(session, shown, resource)))
        .await
        .into_iter()
        .collect::<Result<_, _>>()?;
    let unmanaged = remove_unmanaged(&mut domains, root_id);
    Ok((domains, unmanaged))
}

async fn with_mappings(session: &Session, shown: DomainName, resource: &str) -> Result<FoundDomain, Failure> {
    let name = shown.domain_name.clone().unwrap_or_default();
    let mappings = api_mapping::list(session, &name).await?;
    let is_tagged = is_tagged(&shown, resource);
    Ok(FoundDomain { name, shown: Some(shown), mappings, is_tagged })
}

/// The current observation of a known domain or mapping.
pub(super) fn read(domains: &[FoundDomain], entry: &Entry, place: Place<'_>, api: &Key) -> Option<Observed> {
    let found = domains.iter().find(|found| name(entry) == Some(found.name.as_str()))?;
    match &entry.applied {
        Spec::DomainName(applied) => {
            let shown = found.shown.as_ref()?;
            // The domain may have been deleted and created again outside Terraform.
            let is_the_same = domain_name::is_the_same(shown, &entry.learned);
            let read = || domain_name::read(shown, api.clone(), entry.key.clone(), Some(applied));
            is_the_same.then(read)?
        }
        Spec::ApiMapping(applied) => {
            let shown = found.mappings.iter().find(|it| it.api_mapping_id.as_ref() == Some(&entry.id))?;
            api_mapping::read(shown, place, api.clone(), applied.domain.clone(), entry.key.clone())
        }
        _ => None,
    }
}

/// The domains that are missing in state, with their root mappings, unless something is known against them.
pub(super) fn unknown(domains: &[FoundDomain], known: &[Entry], place: Place<'_>, api: &Key) -> Vec<Observed> {
    let free = domains.iter().filter(|found| is_unknown(found, known) && needs_consent(found, place.0).is_none());
    everything(free, place, api)
}

/// The domains with the tags of the gateway that are unmanaged although they have its tags: those that are missing in
/// state, if something is known against them, and those that replace the one in state. Only the latter have a slot,
/// because the user may name them in `adopt`.
pub(super) fn unmanaged(domains: &[FoundDomain], known: &[Entry], root_id: &str) -> Vec<Unmanaged> {
    let unmanaged = domains.iter().filter(|found| found.is_tagged).filter_map(|found| {
        let (slot, reason) = match is_unknown(found, known) {
            true => (None, needs_consent(found, root_id)?),
            false if is_replaced(found, known) => (Some(keys::DOMAIN.to_string()), CREATED_AGAIN.to_string()),
            false => return None,
        };
        Some(Unmanaged { id: found.name.clone(), slot, is_tagged: true, reason })
    });
    unmanaged.collect()
}

/// Removes the domains that an import does not take in, although they have the tags of the gateway. A gateway has one
/// domain: the one whose root mapping points to the API or, if there is none, one without a mapping to another API.
fn remove_unmanaged(domains: &mut Vec<FoundDomain>, root_id: &str) -> Vec<Unmanaged> {
    let is_mapped = |found: &FoundDomain| root_mapping(found, root_id).is_some();
    let has_mapped = domains.iter().any(is_mapped);
    let known_against = |found: &FoundDomain| match foreign_endpoint(found) {
        None if has_mapped => (!is_mapped(found)).then(|| "another domain has a mapping to the API".to_string()),
        None => foreign_api(found, root_id).map(mapped_to),
        reason => reason,
    };
    let left: Vec<&str> = domains.iter().filter(|it| known_against(it).is_none()).map(|it| it.name.as_str()).collect();
    let ambiguous = (left.len() > 1).then(|| format!("{} have the same tags", left.join(" and ")));
    // The user may choose one of several in `adopt`.
    let reason = |found: &FoundDomain| match known_against(found) {
        Some(reason) => Some((None, reason)),
        None => ambiguous.clone().map(|reason| (Some(keys::DOMAIN.to_string()), reason)),
    };
    let unmanaged = domains.extract_if(.., |found| reason(found).is_some()).map(|found| {
        let (slot, reason) = reason(&found).unwrap_or_default();
        Unmanaged { id: found.name, slot, is_tagged: true, reason }
    });
    let mut unmanaged: Vec<Unmanaged> = unmanaged.collect();
    unmanaged.sort();
    unmanaged
}

/// The mapping of the root path of a domain to the API.
fn root_mapping<'a>(found: &'a FoundDomain, root_id: &str) -> Option<&'a ApiMapping> {
    let is_it = |it: &&ApiMapping| api_mapping::path(it).is_empty() && it.api_id.as_deref() == Some(root_id);
    found.mappings.iter().find(is_it)
}

/// Whether the domain in state was deleted, and this one was created under its name.
fn is_replaced(found: &FoundDomain, known: &[Entry]) -> bool {
    let is_it = |entry: &&Entry| matches!(entry.applied, Spec::DomainName(_)) && entry.id == found.name;
    let entry = known.iter().find(is_it);
    let is_another = |shown: &DomainName| entry.is_some_and(|it| !domain_name::is_the_same(shown, &it.learned));
    found.shown.as_ref().is_some_and(is_another)
}

/// Why the tags of a domain alone do not make it managed.
fn needs_consent(found: &FoundDomain, root_id: &str) -> Option<String> {
    foreign_api(found, root_id).map(mapped_to).or_else(|| foreign_endpoint(found))
}

fn mapped_to(api: &str) -> String {
    format!("it has a mapping to the API {api}")
}

/// The endpoint type, if this provider never creates a domain with it.
fn foreign_endpoint(found: &FoundDomain) -> Option<String> {
    let kind = domain_name::endpoint_type(found.shown.as_ref()?);
    (kind != crate::model::DomainName::REGIONAL).then(|| format!("its endpoint type is {kind}"))
}

fn is_unknown(found: &FoundDomain, known: &[Entry]) -> bool {
    !known.iter().any(|entry| name(entry) == Some(found.name.as_str()))
}

/// Another API to which a domain has a mapping.
fn foreign_api<'a>(found: &'a FoundDomain, root_id: &str) -> Option<&'a str> {
    found.mappings.iter().filter_map(|mapping| mapping.api_id.as_deref()).find(|id| *id != root_id)
}

/// The domains and their root mappings to the API of the gateway.
pub(super) fn everything<'a>(
    domains: impl IntoIterator<Item = &'a FoundDomain>,
    place: Place<'_>,
    api: &Key,
) -> Vec<Observed> {
    let mut seen = Vec::new();
    for found in domains {
        let key = keys::domain(&Input::Known(found.name.clone()));
        let Some(domain) = found.shown.as_ref().and_then(|it| domain_name::read(it, api.clone(), key.clone(), None))
        else {
            continue;
        };
        seen.push(domain);
        seen.extend(
            root_mapping(found, place.0).and_then(|mapping| {
                api_mapping::read(mapping, place, api.clone(), key.clone(), keys::api_mapping(&key))
            }),
        );
    }
    seen
}

/// The names of domains with their tags.
pub(super) fn tags(domains: &[FoundDomain]) -> impl Iterator<Item = (&str, &HashMap<String, String>)> {
    domains.iter().filter_map(|found| Some((found.name.as_str(), found.tags()?)))
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
    domain_name::is_tagged(shown, resource, keys::DOMAIN)
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::aws::recorded::{Answer, OWNER, Recorded};
    use crate::cloud::{Known, Seen};
    use crate::model::{ApiRoute, Ref, Stage};

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
            .on("GET /v2/vpclinks", Answer::Json(200, json!({ "items": [] })))
            .on("GET /v2/apis/api1", Answer::Json(200, api))
            .on("GET /v2/apis/api1/stages", items(&[json!({ "stageName": "$default", "tags": ours() })]));
        lists.iter().fold(aws, |aws, list| aws.on(&format!("GET /v2/apis/api1/{list}"), items(&[])))
    }

    /// The same after the deletion of the API.
    fn no_api() -> Recorded {
        let missing = Answer::Error(404, "NotFoundException", "Invalid API identifier specified");
        let parts = ["", "/routes", "/integrations", "/authorizers", "/stages"];
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

    async fn read_all(aws: &Recorded, known: &[Entry]) -> Option<Seen> {
        let session = aws.session("domains");
        crate::aws::apigateway::read::read(&session, OWNER, "api1", Known::entries(known)).await.unwrap()
    }

    async fn seen(aws: &Recorded, known: &[Entry]) -> Vec<Observed> {
        let seen = read_all(aws, known).await;
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
        let stage = Entry::new(keys::stage("$default"), "$default", Spec::Stage(Stage::test()));
        imported().await.1.into_iter().map(entry).chain([stage]).collect()
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
        assert_eq!((&spec.stage, &spec.domain), (&Ref::Key(keys::stage("$default")), &found[0].key));
        let about_domains = aws.calls().iter().filter(|call| call.contains("domainnames")).count();
        assert_eq!(about_domains, 3, "{:?}", aws.calls());
    }

    #[test]
    fn import_takes_in_one_domain_at_most() {
        let found = |name: &str, mappings: &[(&str, &str)]| {
            let mapping = |(api, key): &(&str, &str)| ApiMapping::builder().api_id(*api).api_mapping_key(*key).build();
            let shown = Some(DomainName::builder().domain_name(name).build());
            FoundDomain { name: name.into(), shown, mappings: mappings.iter().map(mapping).collect(), is_tagged: true }
        };
        let (ours, shared) = (found("ours", &[("api1", "")]), found("shared", &[("api1", ""), ("api2", "v1")]));
        let (path, free) = (found("path", &[("api1", "v1")]), found("free", &[]));
        let theirs = found("theirs", &[("api2", "")]);
        for (domains, expected) in [
            (vec![&ours], vec!["ours"]),
            (vec![&shared, &theirs, &free, &path], vec!["shared"]),
            (vec![&ours, &shared], vec![]),
            (vec![&free], vec!["free"]),
            (vec![&free, &theirs], vec!["free"]),
            (vec![&free, &path], vec![]),
            (vec![&theirs], vec![]),
        ] {
            let mut left: Vec<FoundDomain> = domains.iter().copied().cloned().collect();
            let unmanaged = remove_unmanaged(&mut left, "api1");
            assert_eq!(left.iter().map(|it| it.name.as_str()).collect::<Vec<_>>(), expected);
            assert_eq!(left.len() + unmanaged.len(), domains.len());
        }
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
        let shared = [mapping("m9", "api2", "prod", "v1"), mapping("m2", "api1", "$default", "")];
        let with_mappings = |mappings: &[Value]| {
            api()
                .on("GET /v2/domainnames", items(&listed))
                .on(&format!("GET /v2/domainnames/{NAME}/apimappings"), items(&[mapping("m1", "api1", "$default", "")]))
                .on(&format!("GET /v2/domainnames/{other}/apimappings"), items(mappings))
        };
        let aws = with_mappings(&shared[1..]);
        let found = seen(&aws, &known().await).await;
        let slots: Vec<(&str, &str)> = found.iter().map(|it| (it.key.slot.as_str(), it.id.as_str())).collect();
        assert_eq!(slots, [("domain", NAME), ("api_mapping", "m1"), ("domain", other), ("api_mapping", "m2")]);
        assert_eq!(found[3].key.fixed, Input::Known(other.to_string()));

        // It is also found if state contains no domain.
        let without = [Entry::new(keys::route("GET /a"), "r1", Spec::ApiRoute(ApiRoute::test()))];
        assert_eq!(seen(&aws, &without).await.len(), 4);

        // A domain that another API uses is unmanaged, whatever its tags are.
        let read = read_all(&with_mappings(&shared), &known().await).await.unwrap();
        assert!(!read.objects.iter().any(|it| it.id == other), "{:?}", read.objects);
        assert_eq!(read.unmanaged[0].id, other);
        assert!(read.unmanaged[0].reason.contains("api2"), "{:?}", read.unmanaged);

        // So is one that this provider cannot have created.
        let mut edge = domain(other, "d-3", &ours());
        edge["domainNameConfigurations"][0]["endpointType"] = "EDGE".into();
        let aws = api()
            .on("GET /v2/domainnames", items(&[domain(NAME, "d-1", &ours()), edge]))
            .on(&format!("GET /v2/domainnames/{NAME}/apimappings"), items(&[mapping("m1", "api1", "$default", "")]))
            .on(&format!("GET /v2/domainnames/{other}/apimappings"), items(&[]));
        let read = read_all(&aws, &known().await).await.unwrap();
        assert!(!read.objects.iter().any(|it| it.id == other), "{:?}", read.objects);
        assert_eq!(read.unmanaged[0].reason, "its endpoint type is EDGE");
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
    async fn domain_in_state_is_recognized_by_its_target() {
        let mappings = || items(&[mapping("m7", "api2", "prod", "")]);
        for (tags, is_reported) in [(json!({}), false), (ours(), true)] {
            let aws = with(api(), Some(domain(NAME, "d-2", &tags)), mappings());
            let read = read_all(&aws, &known().await).await.unwrap();
            assert!(!read.objects.iter().any(|it| it.id == NAME), "another target, with the tags {tags}");
            let unmanaged: Vec<&str> = read.unmanaged.iter().map(|it| it.id.as_str()).collect();
            assert_eq!(unmanaged == [NAME], is_reported, "{tags}");
        }

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
