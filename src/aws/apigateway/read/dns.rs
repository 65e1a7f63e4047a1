//! The DNS record of a gateway among what is read. It is in another service than the rest, and outlives the API.

use std::collections::{BTreeMap, BTreeSet};

use aws_sdk_route53::types::ResourceRecordSet;
use futures::future::join_all;

use crate::aws::Session;
use crate::aws::calls::AwsError;
use crate::aws::route53::record;
use crate::aws::route53::record::DomainTarget;
use crate::cloud::{Cause, Failure, Observed};
use crate::model::Input;
use crate::model::keys::gateway as keys;
use crate::model::{Entry, Key, Spec};

/// What Route 53 lists in the places of known records, by the ids of these.
pub(super) type Listed = BTreeMap<String, ResourceRecordSet>;

/// Looks for the records that state knows, one call for each.
pub(super) async fn listed(session: &Session, known: &[Entry]) -> Result<Listed, Failure> {
    let look = async |entry: &Entry| {
        let Some((zone_id, name)) = place(entry) else { return Ok(None) };
        let found = record::find(session, zone_id, name).await?;
        Ok(found.map(|found| (entry.id.clone(), found)))
    };
    let found = join_all(known.iter().filter(|entry| place(entry).is_some()).map(look)).await;
    Ok(found.into_iter().collect::<Result<Vec<_>, _>>()?.into_iter().flatten().collect())
}

/// The known records as they are now. `seen` are the other objects, with the custom domain that a record may lead to.
pub(super) fn known(listed: &Listed, known: &[Entry], seen: &[Observed]) -> Vec<Observed> {
    let domains: Vec<(Key, DomainTarget)> = domains(seen).map(|(key, _, target)| (key.clone(), target)).collect();
    let read = |entry: &Entry| {
        let (zone_id, name) = place(entry)?;
        record::read(listed.get(&entry.id)?, entry.key.clone(), zone_id, name, &domains)
    };
    known.iter().filter_map(read).collect()
}

/// The records of custom domains that state does not know, made by an update that was killed: in the zones that state
/// knows, aliases to such a domain.
pub(super) async fn of_unknown_domains(
    session: &Session,
    known: &[Entry],
    seen: &[Observed],
) -> Result<Vec<Observed>, Failure> {
    let zones: BTreeSet<&str> = known.iter().filter_map(place).map(|(zone_id, _)| zone_id).collect();
    let is_known = |key: &Key| known.iter().any(|entry| entry.key == *key);
    let mut records = Vec::new();
    for (key, name, target) in domains(seen).filter(|(key, ..)| !is_known(key)) {
        for zone_id in &zones {
            records.extend(alias(session, zone_id, name, (key, &target)).await?);
        }
    }
    Ok(records)
}

/// The records of custom domains of which no state tells. Each is ours if it is an alias to its domain, in a public
/// zone of the domain's name or of one above it.
pub(super) async fn imported(session: &Session, seen: &[Observed]) -> Result<Vec<Observed>, Failure> {
    let mut records = Vec::new();
    for (key, name, target) in domains(seen) {
        match nearest(session, name, (key, &target)).await {
            // Who may not list zones has an import all the same: the plan makes the record, and create takes it.
            Err(failure) if failure.cause == Cause::Denied => not_looked_for(name, &failure),
            found => records.extend(found?),
        }
    }
    Ok(records)
}

/// The alias to a domain in the nearest zone that has one.
async fn nearest(session: &Session, name: &str, domain: (&Key, &DomainTarget)) -> Result<Option<Observed>, Failure> {
    for zone_name in zone_names(name) {
        for zone_id in public_zones(session, zone_name).await? {
            match alias(session, &zone_id, name, domain).await {
                // A role may be let into one zone alone, which need not be the first.
                Err(failure) if failure.cause == Cause::Denied => not_looked_for(name, &failure),
                Ok(None) => {}
                found => return found,
            }
        }
    }
    Ok(None)
}

/// The record of this zone and name, if it is an alias to the domain.
async fn alias(
    session: &Session,
    zone_id: &str,
    name: &str,
    (key, target): (&Key, &DomainTarget),
) -> Result<Option<Observed>, Failure> {
    let found = record::find(session, zone_id, name).await?;
    let Some(found) = found.filter(|found| target.is_behind(found)) else { return Ok(None) };
    let record = keys::dns_record(&zone_id.to_string().into(), &name.to_string().into());
    Ok(record::read(&found, record, zone_id, name, &[(key.clone(), target.clone())]))
}

fn not_looked_for(name: &str, denied: &Failure) {
    tracing::warn!("The DNS record of {name} is not looked for: {denied}");
}

/// Zone and name of a record.
fn place(entry: &Entry) -> Option<(&str, &str)> {
    let Spec::DnsRecord(applied) = &entry.applied else { return None };
    Some((applied.zone_id.known()?, applied.name.known()?))
}

/// The custom domains, with their names and what they are reached by.
fn domains(seen: &[Observed]) -> impl Iterator<Item = (&Key, &str, DomainTarget)> {
    seen.iter().filter_map(|it| match &it.spec {
        Spec::DomainName(domain) => match &domain.domain_name {
            Input::Known(name) => Some((&it.key, name.as_str(), DomainTarget::of(&it.learned)?)),
            Input::Unknown => None,
        },
        _ => None,
    })
}

/// The names of the zones that may hold a name, the longest first. A zone's name has no wildcard.
fn zone_names(name: &str) -> impl Iterator<Item = &str> {
    let longest = name.strip_prefix("*.").unwrap_or(name);
    std::iter::successors(Some(longest), |&name| Some(name.split_once('.')?.1))
}

/// The ids of the public zones of exactly this name.
async fn public_zones(session: &Session, zone_name: &str) -> Result<Vec<String>, Failure> {
    let mut ids = Vec::new();
    let mut next = (Some(zone_name.to_string()), None);
    loop {
        let request = record::client(session).await.list_hosted_zones_by_name();
        let request = request.set_dns_name(next.0).set_hosted_zone_id(next.1);
        let page = request.send().await.map_err(|error| error.failure("ListHostedZonesByName"))?;
        let is_it = |name: &str| record::plain(name) == zone_name;
        let zones = page.hosted_zones.iter().filter(|zone| is_it(&zone.name));
        let public = zones.filter(|zone| zone.config.as_ref().is_none_or(|config| !config.private_zone));
        ids.extend(public.map(|zone| zone.id.trim_start_matches("/hostedzone/").to_string()));
        // The list is sorted by name, so that zones of one name stand together.
        if !page.is_truncated || !page.next_dns_name.as_deref().is_some_and(is_it) {
            return Ok(ids);
        }
        next = (page.next_dns_name, page.next_hosted_zone_id);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::aws::recorded::{Answer, Recorded};
    use crate::model::{DnsRecord, DomainName, Ref};

    const NAME: &str = "api.shop.example.com";

    fn by_name(zone: &str) -> String {
        format!("GET /2013-04-01/hostedzonesbyname?dnsname={zone}")
    }

    fn list_in(zone_id: &str) -> String {
        format!("GET /2013-04-01/hostedzone/{zone_id}/rrset?name={NAME}&type=A&maxitems=1")
    }

    fn zones(zones: &[(&str, &str, bool)]) -> Answer {
        let zones = zones.iter().map(|(id, name, is_private)| {
            format!(
                "<HostedZone><Id>/hostedzone/{id}</Id><Name>{name}.</Name><CallerReference>c</CallerReference><Config>\
                 <PrivateZone>{is_private}</PrivateZone></Config></HostedZone>"
            )
        });
        let zones = zones.collect::<String>();
        Answer::Xml(
            200,
            format!(
                "<ListHostedZonesByNameResponse><HostedZones>{zones}</HostedZones><IsTruncated>false</IsTruncated>\
                 <MaxItems>100</MaxItems></ListHostedZonesByNameResponse>"
            ),
        )
    }

    fn leading_to(target: &str) -> Answer {
        Answer::Xml(
            200,
            format!(
                "<ListResourceRecordSetsResponse><ResourceRecordSets><ResourceRecordSet><Name>{NAME}.</Name><Type>A</Type>\
                 <AliasTarget><HostedZoneId>ZAWS</HostedZoneId><DNSName>{target}.</DNSName><EvaluateTargetHealth>false\
                 </EvaluateTargetHealth></AliasTarget></ResourceRecordSet></ResourceRecordSets><IsTruncated>false\
                 </IsTruncated><MaxItems>1</MaxItems></ListResourceRecordSetsResponse>"
            ),
        )
    }

    fn nothing() -> Answer {
        let list = "<ResourceRecordSets></ResourceRecordSets><IsTruncated>false</IsTruncated><MaxItems>1</MaxItems>";
        Answer::Xml(200, format!("<ListResourceRecordSetsResponse>{list}</ListResourceRecordSetsResponse>"))
    }

    fn domain() -> Observed {
        let name = Input::Known(NAME.to_string());
        let learned = [("target_domain_name", "d-1.execute-api"), ("target_hosted_zone_id", "ZAWS")];
        Observed {
            id: NAME.into(),
            key: keys::domain(&name),
            spec: Spec::DomainName(DomainName {
                api: keys::api(),
                domain_name: name,
                certificate_arn: Input::Known("arn".into()),
                endpoint_type: DomainName::REGIONAL.into(),
                security_policy: DomainName::TLS_1_2.into(),
                tags: Input::Known(Default::default()),
            }),
            learned: learned.map(|(name, value)| (name.to_string(), value.to_string())).into(),
        }
    }

    fn record(target: Ref) -> Observed {
        let learned = if matches!(target, Ref::Key(_)) { domain().learned } else { Default::default() };
        let (zone_id, name) = (Input::Known("Z1".to_string()), Input::Known(NAME.to_string()));
        Observed {
            id: format!("Z1_{NAME}_A"),
            key: keys::dns_record(&zone_id, &name),
            spec: Spec::DnsRecord(DnsRecord { zone_id, name, target, evaluate_target_health: false }),
            learned,
        }
    }

    #[tokio::test(start_paused = true)]
    async fn an_import_finds_the_alias_in_the_nearest_public_zone_that_has_one() {
        let aws = Recorded::default()
            .on(&by_name(NAME), zones(&[("Z9", "apis.example.com", false)]))
            .on(
                &by_name("shop.example.com"),
                zones(&[("Z3", "shop.example.com", true), ("Z2", "shop.example.com", false)]),
            )
            .on(&by_name("example.com"), zones(&[("Z1", "example.com", false)]))
            .on(&list_in("Z2"), leading_to("elsewhere.example.net"))
            .on(&list_in("Z1"), leading_to("d-1.execute-api"));
        let found = imported(&aws.session("zones"), &[domain()]).await.unwrap();
        assert_eq!(found, [record(Ref::Key(domain().key))]);
        assert!(!aws.calls().contains(&list_in("Z3")), "a private zone answers nobody outside");
    }

    #[tokio::test(start_paused = true)]
    async fn an_import_finds_the_records_of_all_domains() {
        let other = Observed { id: "b".into(), key: keys::domain(&Input::Known("b".into())), ..domain() };
        let Spec::DomainName(spec) = &other.spec else { panic!("{other:?}") };
        let spec = Spec::DomainName(DomainName { domain_name: Input::Known("b".into()), ..spec.clone() });
        let other = Observed { spec, ..other };
        let aws = Recorded::default()
            .on(&by_name("b"), zones(&[]))
            .on(&by_name(NAME), zones(&[("Z1", NAME, false)]))
            .on(&list_in("Z1"), leading_to("d-1.execute-api"));
        let found = imported(&aws.session("all"), &[other.clone(), domain()]).await.unwrap();
        assert_eq!(found, [record(Ref::Key(domain().key))], "also where the first has none");

        // What a killed update has made is looked for in the zones that are known, and nowhere else.
        let entry = |it: &Observed| Entry::new(it.key.clone(), &it.id, it.spec.clone());
        let known_record = Entry::new(
            keys::dns_record(&Input::Known("Z1".into()), &Input::Known("b".into())),
            "Z1_b_A",
            Spec::DnsRecord(DnsRecord {
                zone_id: Input::Known("Z1".into()),
                name: Input::Known("b".into()),
                target: Ref::Key(other.key.clone()),
                evaluate_target_health: false,
            }),
        );
        let aws = Recorded::default().on(&list_in("Z1"), leading_to("d-1.execute-api"));
        let session = aws.session("killed");
        let (known, seen) = ([entry(&other), known_record], [other.clone(), domain()]);
        let found = of_unknown_domains(&session, &known, &seen).await.unwrap();
        assert_eq!(found, [record(Ref::Key(domain().key))]);
        assert_eq!(of_unknown_domains(&session, &known[..1], &seen).await.unwrap(), []);
        assert_eq!(aws.calls(), [list_in("Z1")]);
    }

    #[tokio::test(start_paused = true)]
    async fn an_import_without_a_domain_asks_nothing_and_one_without_a_record_finds_none() {
        let aws = Recorded::default();
        assert_eq!(imported(&aws.session("zones"), &[]).await.unwrap(), []);
        assert_eq!(aws.calls(), Vec::<String>::new());

        let names = [NAME, "shop.example.com", "example.com", "com"];
        let aws = names.iter().fold(aws, |aws, name| aws.on(&by_name(name), zones(&[])));
        assert_eq!(imported(&aws.session("zones"), &[domain()]).await.unwrap(), []);
        assert_eq!(aws.calls(), names.map(by_name));
    }

    #[tokio::test(start_paused = true)]
    async fn who_may_not_list_zones_can_import_all_the_same() {
        let denied =
            "<ErrorResponse><Error><Code>AccessDenied</Code><Message>not you</Message></Error></ErrorResponse>";
        let aws = Recorded::default().on(&by_name(NAME), Answer::Xml(403, denied.into()));
        assert_eq!(imported(&aws.session("zones"), &[domain()]).await.unwrap(), []);
    }

    #[tokio::test(start_paused = true)]
    async fn who_may_read_only_their_own_zone_can_import_all_the_same() {
        let denied =
            "<ErrorResponse><Error><Code>AccessDenied</Code><Message>not you</Message></Error></ErrorResponse>";
        for (own, expected) in
            [(nothing(), vec![]), (leading_to("d-1.execute-api"), vec![record(Ref::Key(domain().key))])]
        {
            let aws = Recorded::default()
                .on(&by_name(NAME), zones(&[]))
                .on(&by_name("shop.example.com"), zones(&[("Z2", "shop.example.com", false)]))
                .on(&by_name("example.com"), zones(&[("Z1", "example.com", false)]))
                .on(&by_name("com"), zones(&[]))
                .on(&list_in("Z2"), Answer::Xml(403, denied.into()))
                .on(&list_in("Z1"), own);
            assert_eq!(imported(&aws.session("zones"), &[domain()]).await.unwrap(), expected);
        }
    }

    #[tokio::test(start_paused = true)]
    async fn a_known_record_is_shown_with_what_it_leads_to_now() {
        let ours = record(Ref::Key(domain().key));
        let entries = [Entry::new(ours.key.clone(), &ours.id, ours.spec.clone())];
        for (answer, seen, expected) in [
            (leading_to("d-1.execute-api"), vec![domain()], vec![ours.clone()]),
            (leading_to("x.example.net"), vec![domain()], vec![record(Ref::Id("x.example.net".into()))]),
            // Without the domain it leads to nothing of ours, and must be led to the new one.
            (leading_to("d-1.execute-api"), vec![], vec![record(Ref::Id("d-1.execute-api".into()))]),
            (nothing(), vec![domain()], vec![]),
        ] {
            let aws = Recorded::default().on(&list_in("Z1"), answer);
            let listed = listed(&aws.session("known"), &entries).await.unwrap();
            assert_eq!(known(&listed, &entries, &seen), expected);
            assert_eq!(aws.calls(), [list_in("Z1")]);
        }
    }

    #[test]
    fn the_zones_that_may_hold_a_name_are_those_of_the_names_above_it() {
        let of = |name: &'static str| zone_names(name).collect::<Vec<_>>();
        assert_eq!(of("a.b.c"), ["a.b.c", "b.c", "c"]);
        assert_eq!(of("*.b.c"), ["b.c", "c"]);
    }
}
