use super::*;
use crate::aws::recorded::{Answer, Recorded, Told, run};

const NAME: &str = "api.example.com";
const CHANGE: &str = "POST /2013-04-01/hostedzone/Z1/rrset";
const LIST: &str = "GET /2013-04-01/hostedzone/Z1/rrset?name=api.example.com&type=A&maxitems=1";
const STATUS: &str = "GET /2013-04-01/change/C1";
const TARGET: &str = "d-api.example.com";
const EXISTS: &str = "Tried to create resource record set [name='api.example.com.', type='A'] but it already exists";

fn domain() -> Key {
    Key::fixed("domain", Input::Known(NAME.into()))
}

fn spec() -> DnsRecord {
    DnsRecord {
        zone_id: Input::Known("Z1".into()),
        name: Input::Known(NAME.into()),
        target: Ref::Key(domain()),
        evaluate_target_health: false,
    }
}

fn entry() -> Entry {
    let learned = DomainTarget { name: TARGET.into(), zone_id: "ZAWS".into() }.learned();
    Entry { learned, ..Entry::new(Key::new("dns_record"), id("Z1", NAME), Spec::DnsRecord(spec())) }
}

/// Runs an operation beside a custom domain that is reached by [`TARGET`] in zone `ZAWS`.
async fn on(
    aws: &Recorded,
    call: impl AsyncFnOnce(&Operation<'_>) -> Result<(), Failure>,
) -> (Result<(), Failure>, Told) {
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

/// A refusal in the form that older endpoints give it.
fn refusal(message: &str) -> Answer {
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

/// The actions of the changes that were sent, and the sets in them.
fn changes(aws: &Recorded) -> Vec<(String, String)> {
    let between = |text: &str, open: &str, close: &str| {
        text.split_once(open).and_then(|(_, rest)| rest.split_once(close)).map(|(inside, _)| inside.to_string())
    };
    let bodies = aws.asked().into_iter().filter(|asked| asked.call == CHANGE);
    let parts = bodies.filter_map(|asked| {
        let body = asked.body.as_str()?.to_string();
        let set = between(&body, "<ResourceRecordSet>", "</ResourceRecordSet>")?;
        Some((between(&body, "<Action>", "</Action>")?, set))
    });
    parts.collect()
}

#[tokio::test(start_paused = true)]
async fn a_record_is_an_alias_that_never_overwrites_and_is_waited_for() {
    let aws = Recorded::default()
        .on(CHANGE, sent("PENDING"))
        .on(STATUS, error(404, "NoSuchChange", "not yet"))
        .on(STATUS, now("PENDING"))
        .on(STATUS, now("INSYNC"));
    let (answer, told) = on(&aws, async |it| create(it, &spec()).await).await;
    answer.unwrap();
    assert_eq!(told.ids, ["Z1_api.example.com_A"]);
    assert_eq!(told.learned, entry().learned);
    let alias = alias_to(TARGET, false);
    assert_eq!(changes(&aws), [("CREATE".into(), format!("<Name>{NAME}</Name><Type>A</Type>{alias}"))]);
    assert_eq!(aws.calls(), [CHANGE, STATUS, STATUS, STATUS]);
}

#[tokio::test(start_paused = true)]
async fn an_existing_record_is_left_alone_and_the_error_gives_the_ways_out() {
    let weighted = format!("<SetIdentifier>blue</SetIdentifier><Weight>9</Weight>{}", alias_to(TARGET, false));
    for (there, words) in [
        (address(), "192.0.2.1"),
        (alias_to("d-other.example.net.", false), "d-other.example.net"),
        (alias_to(TARGET, true), TARGET),
        (weighted, "set identifier blue"),
    ] {
        for refused in [refusal(EXISTS), error(400, "InvalidChangeBatch", EXISTS)] {
            let aws = Recorded::default().on(CHANGE, refused).on(LIST, listed(&set("api.example.com.", &there)));
            let (answer, told) = on(&aws, async |it| create(it, &spec()).await).await;
            let failure = answer.unwrap_err();
            assert_eq!(failure.cause, Cause::Exists);
            for text in [words, NAME, "hosted zone Z1", "create_dns_entry = false", "delete it", TARGET, "ZAWS"] {
                assert!(failure.message.contains(text), "{text} in {}", failure.message);
            }
            assert!(told.ids.is_empty());
            assert_eq!(aws.calls(), [CHANGE, LIST]);
        }
    }
}

#[tokio::test(start_paused = true)]
async fn the_wanted_alias_is_taken_after_a_lost_answer_and_waited_for() {
    let there = listed(&set("API.example.com.", &alias_to("D-api.example.com.", false)));
    for first in [Answer::Lost, refusal(EXISTS)] {
        let aws = Recorded::default().on(CHANGE, first).on(CHANGE, sent("INSYNC")).on(LIST, there.clone());
        let (answer, told) = on(&aws, async |it| create(it, &spec()).await).await;
        answer.unwrap();
        assert_eq!(told.ids, ["Z1_api.example.com_A"]);
        let actions: Vec<String> = changes(&aws).into_iter().map(|(action, _)| action).collect();
        assert_eq!(actions, ["CREATE", "UPSERT"]);
    }
}

#[tokio::test(start_paused = true)]
async fn a_name_outside_the_zone_and_a_missing_zone_are_told_with_the_input_to_correct() {
    let outside = "RRSet with DNS name api.example.com. is not permitted in zone other.org.";
    let aws = Recorded::default().on(CHANGE, refusal(outside)).on(LIST, listed(&set("www.other.org.", &address())));
    let (answer, _) = on(&aws, async |it| create(it, &spec()).await).await;
    let message = answer.unwrap_err().message;
    assert!(message.contains("is not permitted in zone other.org") && message.contains("hosted_zone_id"), "{message}");

    let missing = error(404, "NoSuchHostedZone", "No hosted zone found with ID: Z1");
    let (aws, start) = (Recorded::default().on(CHANGE, missing.clone()), Instant::now());
    let (answer, told) = on(&aws, async |it| create(it, &spec()).await).await;
    let message = answer.unwrap_err().message;
    assert!(message.contains("found with ID: Z1. hosted_zone_id has to be"), "{message}");
    assert!(told.ids.is_empty());
    assert!((NEW_ZONE..NEW_ZONE + Duration::from_secs(6)).contains(&start.elapsed()), "{:?}", start.elapsed());

    let aws = Recorded::default().on(CHANGE, missing);
    let (answer, _) = on(&aws, async |it| update(it, "", None, &spec()).await).await;
    assert!(answer.unwrap_err().message.contains("hosted_zone_id has to be"));
}

#[tokio::test(start_paused = true)]
async fn a_new_zone_is_waited_for() {
    let missing = error(404, "NoSuchHostedZone", "No hosted zone found with ID: Z1");
    let aws = Recorded::default().on(CHANGE, missing.clone()).on(CHANGE, missing.clone()).on(CHANGE, sent("INSYNC"));
    on(&aws, async |it| create(it, &spec()).await).await.0.unwrap();
    assert_eq!(aws.calls(), [CHANGE, CHANGE, CHANGE]);
}

#[tokio::test(start_paused = true)]
async fn a_zone_that_is_busy_and_a_throttle_are_waited_out() {
    let busy = "The request was rejected because Route 53 was still processing a prior request.";
    let aws = Recorded::default()
        .on(CHANGE, error(400, "PriorRequestNotComplete", busy))
        .on(CHANGE, error(400, "Throttling", "Rate exceeded"))
        .on(CHANGE, sent("INSYNC"));
    on(&aws, async |it| create(it, &spec()).await).await.0.unwrap();
    assert_eq!(aws.calls(), [CHANGE, CHANGE, CHANGE]);
}

#[tokio::test(start_paused = true)]
async fn a_record_of_ours_is_led_elsewhere_in_one_step() {
    let aws = Recorded::default().on(CHANGE, sent("INSYNC"));
    on(&aws, async |it| update(it, "Z1_api.example.com_A", None, &spec()).await).await.0.unwrap();
    let alias = alias_to(TARGET, false);
    assert_eq!(changes(&aws), [("UPSERT".into(), format!("<Name>{NAME}</Name><Type>A</Type>{alias}"))]);
}

#[tokio::test(start_paused = true)]
async fn a_record_is_deleted_as_it_is_listed() {
    for there in [alias_to("d-api.example.com.", true), alias_to("D-api.example.com", false)] {
        let aws = Recorded::default().on(LIST, listed(&set("api.example.com.", &there))).on(CHANGE, sent("PENDING"));
        on(&aws, async |it| delete(it, &entry()).await).await.0.unwrap();
        assert_eq!(changes(&aws), [("DELETE".into(), format!("<Name>api.example.com.</Name><Type>A</Type>{there}"))]);
        assert_eq!(aws.calls(), [LIST, CHANGE], "nobody waits for the name servers");
    }
}

#[tokio::test(start_paused = true)]
async fn what_is_not_there_any_more_counts_as_deleted_and_what_is_not_ours_stays() {
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

    let there = || listed(&set("api.example.com.", &alias_to(TARGET, false)));
    let gone = refusal("Tried to delete resource record set [name='api.example.com.', type='A'] but it was not found");
    let aws = Recorded::default().on(LIST, there()).on(LIST, listed("")).on(CHANGE, gone.clone());
    on(&aws, async |it| delete(it, &entry()).await).await.0.unwrap();
    let aws = Recorded::default().on(LIST, there()).on(CHANGE, gone);
    let failure = on(&aws, async |it| delete(it, &entry()).await).await.0.unwrap_err();
    assert_eq!(failure.code.as_deref(), Some("InvalidChangeBatch"));
    assert!(failure.message.contains("it was not found"), "{}", failure.message);
}

#[tokio::test(start_paused = true)]
async fn changes_of_one_zone_take_turns() {
    let slow = || Answer::After(Duration::from_millis(30), Box::new(sent("INSYNC")));
    let aws = Recorded::default().on(CHANGE, slow()).on("POST /2013-04-01/hostedzone/Z2/rrset", slow());
    let one = async |zone_id: &str| {
        let spec = DnsRecord { zone_id: Input::Known(zone_id.into()), ..spec() };
        on(&aws, async |it| create(it, &spec).await).await.0.unwrap();
    };
    tokio::join!(one("Z1"), one("Z1"), one("Z2"));
    let asked = aws.asked();
    let times = |zone_id: &str| {
        let of_zone = asked.iter().filter(|it| it.call.contains(&format!("/{zone_id}/")));
        of_zone.map(|it| (it.times.0, it.times.1.expect("it was answered"))).collect::<Vec<_>>()
    };
    let (same, other) = (times("Z1"), times("Z2"));
    assert!(same[0].1 <= same[1].0, "two changes of one zone overlap");
    assert!(other[0].0 < same[0].1, "another zone waited");
}

#[test]
fn names_are_compared_as_people_write_them() {
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
        update(operation, "", None, spec).await?;
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
async fn a_record_that_has_gone_although_no_deletion_of_it_was_answered_is_deleted() {
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
    for (left, is_gone) in [("", true), (ours.as_str(), false)] {
        let aws = Recorded::default().on(LIST, alias(&ours)).on(LIST, alias(left)).on(CHANGE, Answer::Lost);
        let (answer, _) = on(&aws, async |it| delete(it, &entry()).await).await;
        assert_eq!(answer.is_ok(), is_gone, "{answer:?}");
    }
}
