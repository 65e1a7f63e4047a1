use super::service::ALIAS_TTL;
use super::*;
use crate::aws::recorded::{Answer, Recorded, Records, run};

const NAME: &str = "api.example.com";
const CHANGE: &str = "POST /2013-04-01/hostedzone/Z1/rrset";
const LIST: &str = "GET /2013-04-01/hostedzone/Z1/rrset?name=api.example.com&type=A&maxitems=1";
const STATUS: &str = "GET /2013-04-01/change/C1";
const TARGET: &str = "d-api.example.com";
const EXISTS: &str = "Tried to create resource record set [name='api.example.com.', type='A'] but it already exists";

fn domain() -> Key {
    Key::fixed("domain", Input::Known(NAME.into()))
}

/// Another target.
const OTHER: &str = "d-other.example.net";

fn spec() -> DnsRecord {
    DnsRecord { name: Input::Known(NAME.into()), target: Ref::Key(domain()), ..DnsRecord::test() }
}

fn entry() -> Entry {
    let learned = DomainTarget { name: TARGET.into(), zone_id: "ZAWS".into() }.learned();
    Entry { learned, ..Entry::new(Key::new("dns_record"), id("Z1", NAME, "A"), Spec::DnsRecord(spec())) }
}

/// The record before an update to [`spec`].
fn pointing() -> DnsRecord {
    DnsRecord { target: Ref::Id(OTHER.into()), ..spec() }
}

/// Runs an operation with a custom domain whose target is [`TARGET`] in zone `ZAWS`.
async fn on(
    aws: &Recorded,
    call: impl AsyncFnOnce(&Operation<'_>) -> Result<(), Failure>,
) -> (Result<(), Failure>, Records) {
    run(&aws.session("dns"), &Key::new("dns_record"), &[(domain(), NAME)], call).await
}

fn sent(status: &str) -> Answer {
    Answer::Xml(200, change_info("ChangeResourceRecordSetsResponse", status))
}

fn now(status: &str) -> Answer {
    Answer::Xml(200, change_info("GetChangeResponse", status))
}

fn change_info(answer: &str, status: &str) -> String {
    let change = format!("<Id>/change/C1</Id><Status>{status}</Status><SubmittedAt>2026-01-01T00:00:00Z</SubmittedAt>");
    format!("<{answer}><ChangeInfo>{change}</ChangeInfo></{answer}>")
}

fn error(status: u16, code: &str, message: &str) -> Answer {
    let error = format!("<Error><Type>Sender</Type><Code>{code}</Code><Message>{message}</Message></Error>");
    Answer::Xml(status, format!("<ErrorResponse>{error}<RequestId>req-1</RequestId></ErrorResponse>"))
}

/// A rejection in the format of older endpoints.
fn rejection(message: &str) -> Answer {
    let messages = format!("<Messages><Message>{message}</Message></Messages>");
    Answer::Xml(400, format!("<?xml version=\"1.0\"?><InvalidChangeBatch xmlns=\"x\">{messages}</InvalidChangeBatch>"))
}

fn listed(sets: &str) -> Answer {
    let sets = format!("<ResourceRecordSets>{sets}</ResourceRecordSets>");
    let rest = "<IsTruncated>false</IsTruncated><MaxItems>1</MaxItems>";
    Answer::Xml(200, format!("<ListResourceRecordSetsResponse>{sets}{rest}</ListResourceRecordSetsResponse>"))
}

fn set(name: &str, inside: &str) -> String {
    format!("<ResourceRecordSet><Name>{name}</Name><Type>A</Type>{inside}</ResourceRecordSet>")
}

fn alias_to(target: &str, evaluates: bool) -> String {
    format!(
        "<AliasTarget><HostedZoneId>ZAWS</HostedZoneId><DNSName>{target}</DNSName><EvaluateTargetHealth>{evaluates}\
         </EvaluateTargetHealth></AliasTarget>"
    )
}

fn address() -> String {
    "<TTL>300</TTL><ResourceRecords><ResourceRecord><Value>192.0.2.1</Value></ResourceRecord></ResourceRecords>".into()
}

/// The actions and record sets of the changes that were sent.
fn changes(aws: &Recorded) -> Vec<(String, String)> {
    let between = |text: &str, open: &str, close: &str| {
        text.split_once(open).and_then(|(_, rest)| rest.split_once(close)).map(|(inside, _)| inside.to_string())
    };
    let bodies = aws.requests().into_iter().filter(|it| it.call == CHANGE);
    let parts = bodies.filter_map(|it| {
        let body = it.body.as_str()?.to_string();
        let set = between(&body, "<ResourceRecordSet>", "</ResourceRecordSet>")?;
        Some((between(&body, "<Action>", "</Action>")?, set))
    });
    parts.collect()
}

#[tokio::test(start_paused = true)]
async fn create_never_overwrites_and_waits_until_in_sync() {
    let aws = Recorded::default()
        .on(CHANGE, sent("PENDING"))
        .on(STATUS, error(404, "NoSuchChange", "not yet"))
        .on(STATUS, now("PENDING"))
        .on(STATUS, now("INSYNC"));
    let (answer, reported) = on(&aws, async |it| create(it, &spec()).await).await;
    answer.unwrap();
    assert_eq!(reported.ids, ["Z1_api.example.com_A"]);
    assert_eq!(reported.learned, entry().learned);
    let alias = alias_to(TARGET, false);
    assert_eq!(changes(&aws), [("CREATE".into(), format!("<Name>{NAME}</Name><Type>A</Type>{alias}"))]);
    assert_eq!(aws.calls(), [CHANGE, STATUS, STATUS, STATUS]);
}

#[tokio::test(start_paused = true)]
async fn a_record_of_ipv6_addresses_is_a_record_of_its_own() {
    let spec = DnsRecord { record_type: DnsRecord::AAAA.into(), ..spec() };
    let aws = Recorded::default().on(CHANGE, sent("INSYNC"));
    let (answer, reported) = on(&aws, async |it| create(it, &spec).await).await;
    answer.unwrap();
    assert_eq!(reported.ids, ["Z1_api.example.com_AAAA"]);
    let alias = alias_to(TARGET, false);
    assert_eq!(changes(&aws), [("CREATE".into(), format!("<Name>{NAME}</Name><Type>AAAA</Type>{alias}"))]);

    let list = LIST.replace("type=A", "type=AAAA");
    let other = set(NAME, &alias_to("elsewhere.example.net", false)).replace("<Type>A<", "<Type>AAAA<");
    let aws = Recorded::default().on(CHANGE, rejection(EXISTS)).on(&list, listed(&other));
    let failure = on(&aws, async |it| create(it, &spec).await).await.0.unwrap_err();
    assert!(failure.message.contains("already has an unmanaged AAAA record"), "{failure}");
}

#[tokio::test(start_paused = true)]
async fn a_domain_keeps_its_ipv6_addresses_until_the_record_is_forgotten() {
    let list = LIST.replace("type=A", "type=AAAA");
    let found = set(NAME, &alias_to(TARGET, false)).replace("<Type>A<", "<Type>AAAA<");
    let aws = Recorded::default()
        .on(&list, listed(&found))
        .on(CHANGE, sent("PENDING"))
        .on(STATUS, now("PENDING"))
        .on(STATUS, now("INSYNC"));
    let entry =
        || Entry { applied: Spec::DnsRecord(DnsRecord { record_type: DnsRecord::AAAA.into(), ..spec() }), ..entry() };
    let call = async |it: &Operation<'_>| {
        let start = Instant::now();
        delete(it, &entry()).await?;
        assert_eq!(start.elapsed(), Duration::ZERO, "a deletion does not wait");
        until_forgotten(it, NAME).await?;
        assert!(start.elapsed() >= ALIAS_TTL, "resolvers cache the record");
        let start = Instant::now();
        until_forgotten(it, NAME).await?;
        assert_eq!(start.elapsed(), Duration::ZERO, "once");
        Ok(())
    };
    on(&aws, call).await.0.unwrap();
    assert_eq!(aws.calls(), [list.as_str(), CHANGE, STATUS, STATUS]);
}

#[tokio::test(start_paused = true)]
async fn unmanaged_record_is_not_changed_and_the_error_names_options() {
    let weighted = format!("<SetIdentifier>blue</SetIdentifier><Weight>9</Weight>{}", alias_to(TARGET, false));
    for (existing, target) in [
        (address(), "192.0.2.1"),
        (alias_to("d-other.example.net.", false), "d-other.example.net"),
        (weighted, "set identifier blue"),
    ] {
        for rejected in [rejection(EXISTS), error(400, "InvalidChangeBatch", EXISTS)] {
            let aws = Recorded::default().on(CHANGE, rejected).on(LIST, listed(&set("api.example.com.", &existing)));
            let (answer, reported) = on(&aws, async |it| create(it, &spec()).await).await;
            let failure = answer.unwrap_err();
            assert_eq!(failure.cause, Cause::Exists);
            for text in [target, NAME, "hosted zone Z1", "create_dns_entry = false", "delete it", TARGET, "ZAWS"] {
                assert!(failure.message.contains(text), "{text} in {}", failure.message);
            }
            assert!(reported.ids.is_empty());
            assert_eq!(aws.calls(), [CHANGE, LIST]);
        }
    }
}

#[tokio::test(start_paused = true)]
async fn equal_alias_is_adopted_after_a_lost_answer_or_a_conflict() {
    let existing = listed(&set("API.example.com.", &alias_to("D-api.example.com.", false)));
    for first in [Answer::Lost, rejection(EXISTS)] {
        let aws = Recorded::default().on(CHANGE, first).on(CHANGE, sent("INSYNC")).on(LIST, existing.clone());
        let (answer, reported) = on(&aws, async |it| create(it, &spec()).await).await;
        answer.unwrap();
        assert_eq!(reported.ids, ["Z1_api.example.com_A"]);
        let actions: Vec<String> = changes(&aws).into_iter().map(|(action, _)| action).collect();
        assert_eq!(actions, ["CREATE", "UPSERT"]);
    }
}

#[tokio::test(start_paused = true)]
async fn wrong_or_missing_zone_is_reported_with_the_attribute() {
    let outside = "RRSet with DNS name api.example.com. is not permitted in zone other.org.";
    let aws = Recorded::default().on(CHANGE, rejection(outside)).on(LIST, listed(&set("www.other.org.", &address())));
    let (answer, _) = on(&aws, async |it| create(it, &spec()).await).await;
    let message = answer.unwrap_err().message;
    assert!(message.contains("is not permitted in zone other.org") && message.contains("hosted_zone_id"), "{message}");

    let missing = error(404, "NoSuchHostedZone", "No hosted zone found with ID: Z1");
    let (aws, start) = (Recorded::default().on(CHANGE, missing.clone()), Instant::now());
    let (answer, reported) = on(&aws, async |it| create(it, &spec()).await).await;
    let message = answer.unwrap_err().message;
    assert!(message.contains("found with ID: Z1. hosted_zone_id must be"), "{message}");
    assert!(reported.ids.is_empty());
    assert!((NEW_INPUT..NEW_INPUT + Duration::from_secs(6)).contains(&start.elapsed()), "{:?}", start.elapsed());

    let shown = listed(&set("api.example.com.", &alias_to(OTHER, true)));
    let aws = Recorded::default().on(LIST, shown).on(CHANGE, missing);
    let (answer, _) = on(&aws, async |it| update(it, "", &pointing(), &spec()).await).await;
    assert!(answer.unwrap_err().message.contains("hosted_zone_id must be"));
}

#[tokio::test(start_paused = true)]
async fn new_zone_is_waited_for() {
    let missing = error(404, "NoSuchHostedZone", "No hosted zone found with ID: Z1");
    let aws = Recorded::default().on(CHANGE, missing.clone()).on(CHANGE, missing.clone()).on(CHANGE, sent("INSYNC"));
    on(&aws, async |it| create(it, &spec()).await).await.0.unwrap();
    assert_eq!(aws.calls(), [CHANGE, CHANGE, CHANGE]);
}

#[tokio::test(start_paused = true)]
async fn busy_zone_and_throttling_are_retried() {
    let busy = "The request was rejected because Route 53 was still processing a prior request.";
    let aws = Recorded::default()
        .on(CHANGE, error(400, "PriorRequestNotComplete", busy))
        .on(CHANGE, error(400, "Throttling", "Rate exceeded"))
        .on(CHANGE, sent("INSYNC"));
    on(&aws, async |it| create(it, &spec()).await).await.0.unwrap();
    assert_eq!(aws.calls(), [CHANGE, CHANGE, CHANGE]);
}

#[tokio::test(start_paused = true)]
async fn update_replaces_the_target_in_one_step() {
    for evaluates in [true, false] {
        let shown = listed(&set("api.example.com.", &alias_to(OTHER, evaluates)));
        let aws = Recorded::default().on(LIST, shown).on(CHANGE, sent("INSYNC"));
        on(&aws, async |it| update(it, "Z1_api.example.com_A", &pointing(), &spec()).await).await.0.unwrap();
        let alias = alias_to(TARGET, evaluates);
        assert_eq!(changes(&aws), [("UPSERT".into(), format!("<Name>{NAME}</Name><Type>A</Type>{alias}"))]);
    }
}

#[tokio::test(start_paused = true)]
async fn a_record_that_was_changed_after_it_was_read_stays() {
    let weighted = format!("<SetIdentifier>blue</SetIdentifier><Weight>9</Weight>{}", alias_to(TARGET, true));
    for shown in [
        listed(&set("api.example.com.", &alias_to("d-third.example.net.", true))),
        listed(&set("api.example.com.", &address())),
        listed(&set("api.example.com.", &weighted)),
        listed(""),
    ] {
        let aws = Recorded::default().on(LIST, shown);
        let (answer, _) = on(&aws, async |it| update(it, "Z1_a_A", &pointing(), &spec()).await).await;
        let failure = answer.unwrap_err();
        assert!(failure.message.contains("Z1_a_A was changed after it was read"), "{failure}");
        assert_eq!(aws.calls(), [LIST]);
    }
    let done = listed(&set("api.example.com.", &alias_to(TARGET, false)));
    let aws = Recorded::default().on(LIST, done);
    on(&aws, async |it| update(it, "", &pointing(), &spec()).await).await.0.unwrap();
    on(&aws, async |it| update(it, "", &spec(), &spec()).await).await.0.unwrap();
    assert_eq!(aws.calls(), [LIST], "it is as required already");
}

#[tokio::test(start_paused = true)]
async fn delete_sends_the_record_as_it_is_listed() {
    for alias in [alias_to("d-api.example.com.", true), alias_to("D-api.example.com", false)] {
        let aws = Recorded::default().on(LIST, listed(&set("api.example.com.", &alias))).on(CHANGE, sent("PENDING"));
        on(&aws, async |it| delete(it, &entry()).await).await.0.unwrap();
        assert_eq!(changes(&aws), [("DELETE".into(), format!("<Name>api.example.com.</Name><Type>A</Type>{alias}"))]);
        assert_eq!(aws.calls(), [LIST, CHANGE], "delete does not wait for the name servers");
    }
}

#[tokio::test(start_paused = true)]
async fn missing_record_counts_as_deleted_and_unmanaged_one_remains() {
    let weighted = format!("<SetIdentifier>blue</SetIdentifier><Weight>9</Weight>{}", alias_to(TARGET, false));
    for answer in [
        listed(""),
        listed(&set("b.example.com.", &address())),
        listed(&format!("<ResourceRecordSet><Name>{NAME}.</Name><Type>AAAA</Type>{}</ResourceRecordSet>", address())),
        listed(&set("api.example.com.", &weighted)),
        listed(&set("api.example.com.", &address())),
        listed(&set("api.example.com.", &alias_to("d-other.example.net.", false))),
        error(404, "NoSuchHostedZone", "no zone"),
    ] {
        let aws = Recorded::default().on(LIST, answer);
        on(&aws, async |it| delete(it, &entry()).await).await.0.unwrap();
        assert_eq!(aws.calls(), [LIST]);
    }

    let existing = || listed(&set("api.example.com.", &alias_to(TARGET, false)));
    let message = "Tried to delete resource record set [name='api.example.com.', type='A'] but it was not found";
    let missing = rejection(message);
    let aws = Recorded::default().on(LIST, existing()).on(LIST, listed("")).on(CHANGE, missing.clone());
    on(&aws, async |it| delete(it, &entry()).await).await.0.unwrap();
    let aws = Recorded::default().on(LIST, existing()).on(CHANGE, missing);
    let failure = on(&aws, async |it| delete(it, &entry()).await).await.0.unwrap_err();
    assert_eq!(failure.code.as_deref(), Some("InvalidChangeBatch"));
    assert!(failure.message.contains("it was not found"), "{}", failure.message);
}

#[tokio::test(start_paused = true)]
async fn changes_of_one_zone_never_overlap() {
    let slow = || Answer::After(Duration::from_millis(30), Box::new(sent("INSYNC")));
    let aws = Recorded::default().on(CHANGE, slow()).on("POST /2013-04-01/hostedzone/Z2/rrset", slow());
    let one = async |zone_id: &str| {
        let spec = DnsRecord { zone_id: Input::Known(zone_id.into()), ..spec() };
        on(&aws, async |it| create(it, &spec).await).await.0.unwrap();
    };
    tokio::join!(one("Z1"), one("Z1"), one("Z2"));
    let requests = aws.requests();
    let times = |zone_id: &str| {
        let of_zone = requests.iter().filter(|it| it.call.contains(&format!("/{zone_id}/")));
        of_zone.map(|it| (it.times.0, it.times.1.expect("it was answered"))).collect::<Vec<_>>()
    };
    let (same, other) = (times("Z1"), times("Z2"));
    assert!(same[0].1 <= same[1].0, "two changes of one zone overlap");
    assert!(other[0].0 < same[0].1, "the change of another zone waited");
}

#[test]
fn names_are_normalized() {
    for (shown, written) in [
        ("api.example.com.", "api.example.com"),
        ("API.Example.com", "api.example.com"),
        ("\\052.example.com.", "*.example.com"),
    ] {
        assert_eq!(plain(shown), written);
    }
}

#[tokio::test(start_paused = true)]
async fn every_change_can_run_in_a_spawned_task() {
    fn is_send<T: Send>(_: T) {}
    async fn all(operation: &Operation<'_>, spec: &DnsRecord, entry: &Entry) -> Result<(), Failure> {
        create(operation, spec).await?;
        update(operation, "", spec, spec).await?;
        delete(operation, entry).await
    }
    on(&Recorded::default(), async |it| {
        is_send(all(it, &spec(), &entry()));
        Ok(())
    })
    .await
    .0
    .unwrap();
}

#[tokio::test(start_paused = true)]
async fn lost_delete_is_resolved_by_reading_the_record() {
    let alias = |records: &str| {
        let more = "<IsTruncated>false</IsTruncated><MaxItems>1</MaxItems>";
        let sets = format!("<ResourceRecordSets>{records}</ResourceRecordSets>{more}");
        Answer::Xml(200, format!("<ListResourceRecordSetsResponse>{sets}</ListResourceRecordSetsResponse>"))
    };
    let target = format!(
        "<AliasTarget><HostedZoneId>ZAWS</HostedZoneId><DNSName>{TARGET}.</DNSName>\
         <EvaluateTargetHealth>false</EvaluateTargetHealth></AliasTarget>"
    );
    let ours = format!("<ResourceRecordSet><Name>{NAME}.</Name><Type>A</Type>{target}</ResourceRecordSet>");
    for (left, is_deleted) in [("", true), (ours.as_str(), false)] {
        let aws = Recorded::default().on(LIST, alias(&ours)).on(LIST, alias(left)).on(CHANGE, Answer::Lost);
        let (answer, _) = on(&aws, async |it| delete(it, &entry()).await).await;
        assert_eq!(answer.is_ok(), is_deleted, "{answer:?}");
    }
}

/// Recorded: ListResourceRecordSets. A record is an alias, or it has a TTL and values, but it never has both; a
/// weighted one has a set identifier. If the record is missing, the answer contains the next record or none.
#[tokio::test(start_paused = true)]
async fn records_are_read_in_their_recorded_shapes() {
    let namespace = "xmlns=\"https://route53.amazonaws.com/doc/2013-04-01/\"";
    let answer = |sets: &str, next: &str| {
        let rest = format!("<IsTruncated>{}</IsTruncated>{next}<MaxItems>1</MaxItems>", !next.is_empty());
        let list = format!("<ResourceRecordSets>{sets}</ResourceRecordSets>{rest}");
        let list = format!("<ListResourceRecordSetsResponse {namespace}>{list}</ListResourceRecordSetsResponse>");
        Answer::Xml(200, format!("<?xml version=\"1.0\"?>\n{list}"))
    };
    let next = "<NextRecordName>example.com.</NextRecordName><NextRecordType>NS</NextRecordType>";
    let weighted = format!("<SetIdentifier>region-1</SetIdentifier><Weight>255</Weight>{}", alias_to("other.", false));
    let read_from = async |sets: &str, next: &str| {
        let aws = Recorded::default().on(LIST, answer(sets, next));
        let found = find(&aws.session("dns"), "Z1", NAME, "A").await.unwrap()?;
        let domains = [(domain(), DomainTarget { name: TARGET.into(), zone_id: "ZAWS".into() })];
        read(&found, Key::new("dns_record"), "Z1", NAME, &domains)
    };
    let spec_of = |observed: Option<Observed>| observed.map(|it| it.spec);
    let alias = set("api.example.com.", &alias_to(&format!("{TARGET}."), false));
    assert_eq!(spec_of(read_from(&alias, next).await), Some(Spec::DnsRecord(spec())));
    let values = DnsRecord { target: Ref::Id("192.0.2.1".into()), ..spec() };
    assert_eq!(spec_of(read_from(&set("api.example.com.", &address()), "").await), Some(Spec::DnsRecord(values)));
    assert_eq!(read_from(&set("api.example.com.", &weighted), next).await, None);
    assert_eq!(read_from(&set("b.example.com.", &address()), next).await, None);
    assert_eq!(read_from("", "").await, None);
}

/// Recorded: ChangeResourceRecordSets and the error of a missing zone. aws/aws-sdk-kotlin#1435: a rejected change.
#[tokio::test(start_paused = true)]
async fn answers_to_changes_are_read_in_their_recorded_shapes() {
    let namespace = "xmlns=\"https://route53.amazonaws.com/doc/2013-04-01/\"";
    let info = |action: &str, status: &str| {
        let change = format!(
            "<ChangeInfo><Id>/change/C1</Id><Status>{status}</Status><SubmittedAt>2026-01-12T00:07:24.346Z</SubmittedAt>\
             </ChangeInfo>"
        );
        Answer::Xml(200, format!("<?xml version=\"1.0\"?>\n<{action}Response {namespace}>{change}</{action}Response>"))
    };
    let aws = Recorded::default()
        .on(CHANGE, info("ChangeResourceRecordSets", "PENDING"))
        .on(STATUS, info("GetChange", "PENDING"))
        .on(STATUS, info("GetChange", "INSYNC"));
    assert_eq!(on(&aws, async |it| create(it, &spec()).await).await.0, Ok(()));
    assert_eq!(aws.calls(), [CHANGE, STATUS, STATUS]);

    let refused = |status: u16, code: &str, message: &str| {
        let error = format!("<Error><Type>Sender</Type><Code>{code}</Code><Message>{message}</Message></Error>");
        let error = format!("<ErrorResponse {namespace}>{error}<RequestId>ca6b6a9b</RequestId></ErrorResponse>");
        Answer::Xml(status, format!("<?xml version=\"1.0\"?>\n{error}"))
    };
    let rejected = refused(400, "InvalidChangeBatch", &format!("[{EXISTS}]"));
    let same = listed(&set("api.example.com.", &alias_to(TARGET, false)));
    let aws =
        Recorded::default().on(CHANGE, rejected).on(CHANGE, info("ChangeResourceRecordSets", "INSYNC")).on(LIST, same);
    assert_eq!(on(&aws, async |it| create(it, &spec()).await).await.0, Ok(()), "an equal alias is adopted");
    let no_zone = refused(404, "NoSuchHostedZone", "No hosted zone found with ID: Z1");
    let shown = listed(&set("api.example.com.", &alias_to(OTHER, true)));
    let aws = Recorded::default().on(LIST, no_zone.clone()).on(LIST, shown).on(CHANGE, no_zone);
    assert_eq!(find(&aws.session("dns"), "Z1", NAME, "A").await, Ok(None));
    let failure = on(&aws, async |it| update(it, "", &pointing(), &spec()).await).await.0.unwrap_err();
    assert_eq!(failure.code.as_deref(), Some("NoSuchHostedZone"));
    assert!(failure.message.contains("No hosted zone found with ID: Z1"), "{failure}");
}
