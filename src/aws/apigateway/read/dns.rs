//! Reads the DNS record of a gateway. It is an object of Route 53 and outlives the API.

use std::collections::{BTreeMap, BTreeSet};

use aws_sdk_route53::types::ResourceRecordSet;
use futures::future::join_all;

use crate::aws::Session;
use crate::aws::calls::OrFailure;
use crate::aws::route53::record;
use crate::aws::route53::record::DomainTarget;
use crate::cloud::{Cause, Failure, Observed};
use crate::model::Input;
use crate::model::keys::gateway as keys;
use crate::model::{DnsRecord, Entry, Key, Spec};

/// The record sets that Route 53 lists for the zones and names of the known records, keyed by the IDs of the records.
pub(super) type Listed = BTreeMap<String, ResourceRecordSet>;

/// Reads the records in state, with one call for each.
pub(super) async fn listed(session: &Session, known: &[Entry]) -> Result<Listed, Failure> {
    let find = async |entry: &Entry| {
        let Some((zone_id, name, record_type)) = place(entry) else { return Ok(None) };
        let found = record::find(session, zone_id, name, record_type).await?;
        Ok(found.map(|found| (entry.id.clone(), found)))
    };
    let found = join_all(known.iter().filter(|entry| place(entry).is_some()).map(find)).await;
    Ok(found.into_iter().collect::<Result<Vec<_>, _>>()?.into_iter().flatten().collect())
}

/// The current observations of the known records. `seen` are the other objects, among them the custom domains to which
/// records may point.
pub(super) fn known(listed: &Listed, known: &[Entry], seen: &[Observed]) -> Vec<Observed> {
    let domains: Vec<(Key, DomainTarget)> =
        domains(seen).map(|(domain, _)| (domain.key.clone(), domain.target)).collect();
    let read = |entry: &Entry| {
        let (zone_id, name, _) = place(entry)?;
        record::read(listed.get(&entry.id)?, entry.key.clone(), zone_id, name, &domains)
    };
    known.iter().filter_map(read).collect()
}

/// Finds the records of custom domains that are missing in state because an interrupted update created them. Only the
/// zones of the known records are searched, for aliases to such a domain.
pub(super) async fn of_unknown_domains(
    session: &Session,
    known: &[Entry],
    seen: &[Observed],
) -> Result<Vec<Observed>, Failure> {
    let zones: BTreeSet<&str> = known.iter().filter_map(place).map(|(zone_id, ..)| zone_id).collect();
    let is_known = |key: &Key| known.iter().any(|entry| entry.key == *key);
    let mut records = Vec::new();
    for (domain, name) in domains(seen).filter(|(domain, _)| !is_known(domain.key)) {
        for zone_id in &zones {
            records.extend(aliases(session, zone_id, name, &domain).await?);
        }
    }
    Ok(records)
}

/// Finds the records of custom domains in an import. A record belongs to the gateway if it is an alias to a domain in a
/// public zone of the domain's name or of a parent domain.
///
/// Other builders add a record of type AAAA to a domain with IPv4 addresses too.
pub(super) async fn imported(session: &Session, seen: &[Observed]) -> Result<Vec<Observed>, Failure> {
    let mut records = Vec::new();
    for (domain, name) in domains(seen) {
        let domain = Domain { record_types: &[DnsRecord::A, DnsRecord::AAAA], ..domain };
        match nearest(session, name, &domain).await {
            // An import succeeds without the permission to list zones: the plan creates the record, and create adopts
            // the existing one.
            Err(failure) if failure.cause == Cause::Denied => warn_of_skipped_search(name, &failure),
            found => records.extend(found?),
        }
    }
    Ok(records)
}

/// The aliases to a domain in the most specific zone that has one.
async fn nearest(session: &Session, name: &str, domain: &Domain<'_>) -> Result<Vec<Observed>, Failure> {
    for zone_name in zone_names(name) {
        for zone_id in public_zones(session, zone_name).await? {
            match aliases(session, &zone_id, name, domain).await {
                // A role may have access to one of the zones only.
                Err(failure) if failure.cause == Cause::Denied => warn_of_skipped_search(name, &failure),
                Ok(found) if found.is_empty() => {}
                found => return found,
            }
        }
    }
    Ok(Vec::new())
}

/// The records with this zone and name that are aliases to the domain.
async fn aliases(
    session: &Session,
    zone_id: &str,
    name: &str,
    Domain { key, target, record_types }: &Domain<'_>,
) -> Result<Vec<Observed>, Failure> {
    let mut aliases = Vec::new();
    for record_type in *record_types {
        let found = record::find(session, zone_id, name, record_type).await?;
        let Some(found) = found.filter(|found| target.is_target_of(found)) else { continue };
        let record = keys::dns_record(record_type, &zone_id.to_string().into(), &name.to_string().into());
        aliases.extend(record::read(&found, record, zone_id, name, &[((*key).clone(), target.clone())]));
    }
    Ok(aliases)
}

fn warn_of_skipped_search(name: &str, denied: &Failure) {
    tracing::warn!("Skipping the search for the DNS record of {name}: {denied}");
}

/// The zone ID, the name and the type of a record.
fn place(entry: &Entry) -> Option<(&str, &str, &str)> {
    let Spec::DnsRecord(applied) = &entry.applied else { return None };
    Some((applied.zone_id.known()?, applied.name.known()?, &applied.record_type))
}

/// A custom domain to which records may point.
struct Domain<'a> {
    key: &'a Key,
    target: DomainTarget,
    /// The types of the records that this provider creates for it.
    record_types: &'static [&'static str],
}

/// The custom domains with their names.
fn domains(seen: &[Observed]) -> impl Iterator<Item = (Domain<'_>, &str)> {
    seen.iter().filter_map(|it| {
        let Spec::DomainName(domain) = &it.spec else { return None };
        let Input::Known(name) = &domain.domain_name else { return None };
        let record_types = DnsRecord::types(domain.ip_address_type.known()?);
        Some((Domain { key: &it.key, target: DomainTarget::of(&it.learned)?, record_types }, name.as_str()))
    })
}

/// The names of the zones that may contain a name, the most specific first. The name of a zone has no wildcard.
fn zone_names(name: &str) -> impl Iterator<Item = &str> {
    let longest = name.strip_prefix("*.").unwrap_or(name);
    std::iter::successors(Some(longest), |&name| Some(name.split_once('.')?.1))
}

/// Lists the IDs of the public zones with exactly this name.
async fn public_zones(session: &Session, zone_name: &str) -> Result<Vec<String>, Failure> {
    let mut ids = Vec::new();
    let mut next = (Some(zone_name.to_string()), None);
    loop {
        let request = record::client(session).await.list_hosted_zones_by_name();
        let request = request.set_dns_name(next.0).set_hosted_zone_id(next.1);
        let page = request.send().await.or_failure("ListHostedZonesByName")?;
        let is_it = |name: &str| record::plain(name) == zone_name;
        let zones = page.hosted_zones.iter().filter(|zone| is_it(&zone.name));
        let public = zones.filter(|zone| zone.config.as_ref().is_none_or(|config| !config.private_zone));
        ids.extend(public.map(|zone| zone.id.trim_start_matches("/hostedzone/").to_string()));
        // The list is sorted by name, so zones with the same name are adjacent.
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
    use crate::model::{DomainName, Ref};

    const NAME: &str = "api.shop.example.com";

    fn by_name(zone: &str) -> String {
        format!("GET /2013-04-01/hostedzonesbyname?dnsname={zone}")
    }

    fn list_in(zone_id: &str) -> String {
        format!("GET /2013-04-01/hostedzone/{zone_id}/rrset?name={NAME}&type=A&maxitems=1")
    }

    /// The list of the record for IPv6, which a domain without IPv6 may have too.
    fn ipv6_in(zone_id: &str) -> String {
        list_in(zone_id).replace("type=A&", "type=AAAA&")
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

    fn alias_to(target: &str) -> Answer {
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
                domain_name: name,
                certificate_arn: Input::Known("arn".into()),
                ..DomainName::test()
            }),
            learned: learned.map(|(name, value)| (name.to_string(), value.to_string())).into(),
        }
    }

    fn record(target: Ref) -> Observed {
        let learned = if matches!(target, Ref::Key(_)) { domain().learned } else { Default::default() };
        let (zone_id, name) = (Input::Known("Z1".to_string()), Input::Known(NAME.to_string()));
        Observed {
            id: format!("Z1_{NAME}_A"),
            key: keys::dns_record(DnsRecord::A, &zone_id, &name),
            spec: Spec::DnsRecord(DnsRecord { zone_id, name, target, ..DnsRecord::test() }),
            learned,
        }
    }

    #[tokio::test(start_paused = true)]
    async fn import_finds_the_alias_in_the_most_specific_public_zone() {
        let aws = Recorded::default()
            .on(&by_name(NAME), zones(&[("Z9", "apis.example.com", false)]))
            .on(
                &by_name("shop.example.com"),
                zones(&[("Z3", "shop.example.com", true), ("Z2", "shop.example.com", false)]),
            )
            .on(&by_name("example.com"), zones(&[("Z1", "example.com", false)]))
            .on(&list_in("Z2"), alias_to("elsewhere.example.net"))
            .on(&ipv6_in("Z2"), nothing())
            .on(&list_in("Z1"), alias_to("d-1.execute-api"))
            .on(&ipv6_in("Z1"), nothing());
        let found = imported(&aws.session("zones"), &[domain()]).await.unwrap();
        assert_eq!(found, [record(Ref::Key(domain().key))]);
        assert!(!aws.calls().contains(&list_in("Z3")), "private zones are not searched");
    }

    /// Documented shape: ListHostedZonesByName, with a second page. A zone may have no configuration.
    #[tokio::test(start_paused = true)]
    async fn zones_of_all_pages_are_read() {
        let page = |zone: &str, rest: &str| {
            let zone = format!(
                "<HostedZone>{zone}<CallerReference>c</CallerReference><ResourceRecordSetCount>2\
                 </ResourceRecordSetCount></HostedZone>"
            );
            Answer::Xml(
                200,
                format!(
                    "<ListHostedZonesByNameResponse xmlns=\"https://route53.amazonaws.com/doc/2013-04-01/\">\
                     <HostedZones>{zone}</HostedZones><DNSName>example.com.</DNSName>{rest}<MaxItems>100</MaxItems>\
                     </ListHostedZonesByNameResponse>"
                ),
            )
        };
        let first = "<Id>/hostedzone/Z1</Id><Name>example.com.</Name><Config><Comment>shop</Comment><PrivateZone>false\
                     </PrivateZone></Config>";
        let more = "<IsTruncated>true</IsTruncated><NextDNSName>example.com.</NextDNSName><NextHostedZoneId>Z2\
                    </NextHostedZoneId>";
        let second = "<Id>/hostedzone/Z2</Id><Name>example.com.</Name>";
        let aws = Recorded::default().on(&by_name("example.com"), page(first, more)).on(
            "GET /2013-04-01/hostedzonesbyname?dnsname=example.com.&hostedzoneid=Z2",
            page(second, "<IsTruncated>false</IsTruncated>"),
        );
        assert_eq!(public_zones(&aws.session("zones"), "example.com").await.unwrap(), ["Z1", "Z2"]);
    }

    #[tokio::test(start_paused = true)]
    async fn records_of_all_domains_are_found() {
        let other = Observed { id: "b".into(), key: keys::domain(&Input::Known("b".into())), ..domain() };
        let Spec::DomainName(spec) = &other.spec else { panic!("{other:?}") };
        let spec = Spec::DomainName(DomainName { domain_name: Input::Known("b".into()), ..spec.clone() });
        let other = Observed { spec, ..other };
        let aws = Recorded::default()
            .on(&by_name("b"), zones(&[]))
            .on(&by_name(NAME), zones(&[("Z1", NAME, false)]))
            .on(&list_in("Z1"), alias_to("d-1.execute-api"))
            .on(&ipv6_in("Z1"), nothing());
        let found = imported(&aws.session("all"), &[other.clone(), domain()]).await.unwrap();
        assert_eq!(found, [record(Ref::Key(domain().key))], "even if the first domain has none");

        // After an interrupted update only the zones of known records are searched.
        let entry = |it: &Observed| Entry::new(it.key.clone(), &it.id, it.spec.clone());
        let known_record = Entry::new(
            keys::dns_record(DnsRecord::A, &Input::Known("Z1".into()), &Input::Known("b".into())),
            "Z1_b_A",
            Spec::DnsRecord(DnsRecord {
                name: Input::Known("b".into()),
                target: Ref::Key(other.key.clone()),
                ..DnsRecord::test()
            }),
        );
        let aws = Recorded::default().on(&list_in("Z1"), alias_to("d-1.execute-api")).on(&ipv6_in("Z1"), nothing());
        let session = aws.session("killed");
        let (known, seen) = ([entry(&other), known_record], [other.clone(), domain()]);
        let found = of_unknown_domains(&session, &known, &seen).await.unwrap();
        assert_eq!(found, [record(Ref::Key(domain().key))]);
        assert_eq!(of_unknown_domains(&session, &known[..1], &seen).await.unwrap(), []);
        assert_eq!(aws.calls(), [list_in("Z1")]);
    }

    #[tokio::test(start_paused = true)]
    async fn import_without_domain_sends_no_call_and_a_record_is_optional() {
        let aws = Recorded::default();
        assert_eq!(imported(&aws.session("zones"), &[]).await.unwrap(), []);
        assert_eq!(aws.calls(), Vec::<String>::new());

        let names = [NAME, "shop.example.com", "example.com", "com"];
        let aws = names.iter().fold(aws, |aws, name| aws.on(&by_name(name), zones(&[])));
        assert_eq!(imported(&aws.session("zones"), &[domain()]).await.unwrap(), []);
        assert_eq!(aws.calls(), names.map(by_name));
    }

    #[tokio::test(start_paused = true)]
    async fn import_succeeds_without_permission_to_list_zones() {
        let denied =
            "<ErrorResponse><Error><Code>AccessDenied</Code><Message>not you</Message></Error></ErrorResponse>";
        let aws = Recorded::default().on(&by_name(NAME), Answer::Xml(403, denied.into()));
        assert_eq!(imported(&aws.session("zones"), &[domain()]).await.unwrap(), []);
    }

    #[tokio::test(start_paused = true)]
    async fn import_succeeds_with_permission_for_one_zone_only() {
        let denied =
            "<ErrorResponse><Error><Code>AccessDenied</Code><Message>not you</Message></Error></ErrorResponse>";
        for (own, expected) in
            [(nothing(), vec![]), (alias_to("d-1.execute-api"), vec![record(Ref::Key(domain().key))])]
        {
            let aws = Recorded::default()
                .on(&by_name(NAME), zones(&[]))
                .on(&by_name("shop.example.com"), zones(&[("Z2", "shop.example.com", false)]))
                .on(&by_name("example.com"), zones(&[("Z1", "example.com", false)]))
                .on(&by_name("com"), zones(&[]))
                .on(&list_in("Z2"), Answer::Xml(403, denied.into()))
                .on(&ipv6_in("Z2"), Answer::Xml(403, denied.into()))
                .on(&list_in("Z1"), own)
                .on(&ipv6_in("Z1"), nothing());
            assert_eq!(imported(&aws.session("zones"), &[domain()]).await.unwrap(), expected);
        }
    }

    #[tokio::test(start_paused = true)]
    async fn known_record_is_read_with_its_current_target() {
        let ours = record(Ref::Key(domain().key));
        let entries = [Entry::new(ours.key.clone(), &ours.id, ours.spec.clone())];
        for (answer, seen, expected) in [
            (alias_to("d-1.execute-api"), vec![domain()], vec![ours.clone()]),
            (alias_to("x.example.net"), vec![domain()], vec![record(Ref::Id("x.example.net".into()))]),
            // Without the domain the target is unmanaged, and an update must point the record to the new domain.
            (alias_to("d-1.execute-api"), vec![], vec![record(Ref::Id("d-1.execute-api".into()))]),
            (nothing(), vec![domain()], vec![]),
        ] {
            let aws = Recorded::default().on(&list_in("Z1"), answer);
            let listed = listed(&aws.session("known"), &entries).await.unwrap();
            assert_eq!(known(&listed, &entries, &seen), expected);
            assert_eq!(aws.calls(), [list_in("Z1")]);
        }
    }

    #[test]
    fn zone_names_are_the_name_and_its_parent_domains() {
        let of = |name: &'static str| zone_names(name).collect::<Vec<_>>();
        assert_eq!(of("a.b.c"), ["a.b.c", "b.c", "c"]);
        assert_eq!(of("*.b.c"), ["b.c", "c"]);
    }
}
