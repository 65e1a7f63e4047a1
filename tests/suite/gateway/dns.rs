//! The DNS record of a custom domain: made without overwriting anything, led elsewhere, mended and removed, beside the
//! records of others.

use serde_json::{Value, json};

use super::{THIS, TestEnv, text, with};
use crate::support::proxy::fault::Fault;

const CHANGE: &str = "ChangeResourceRecordSets";

/// An account with a certificate for the names below `example.com`, and the zone of that name with records of others.
struct Zone {
    bed: TestEnv,
    id: String,
    others: Vec<Value>,
}

impl Zone {
    fn new() -> Self {
        let bed = TestEnv::new();
        bed.proxy.account().boto("acm", "request_certificate", json!({ "DomainName": "*.example.com" }));
        let mut zone = Self { id: zone_of(&bed, "example.com"), bed, others: Vec::new() };
        zone.put("CREATE", &plain("www.example.com", "A", "192.0.2.1"));
        // What has the name of the gateway and another type is not ours either.
        zone.put("CREATE", &plain("api.example.com", "AAAA", "2001:db8::1"));
        zone.put("CREATE", &plain("api.example.com", "TXT", "\"text\""));
        zone.others = zone.records();
        assert_eq!(zone.others.len(), 3);
        zone
    }

    /// A gateway at this domain, with a record in this zone.
    fn at(&self, domain: &str) -> Value {
        let routes = json!({ "GET /a": self.bed.to("orders") });
        json!({ "route_config": routes, "domain_name": domain, "hosted_zone_id": self.id, "create_dns_entry": true })
    }

    /// Changes a record as somebody else.
    fn put(&self, action: &str, record: &Value) {
        let batch = json!({ "Changes": [{ "Action": action, "ResourceRecordSet": record }] });
        let arguments = json!({ "HostedZoneId": self.id, "ChangeBatch": batch });
        self.bed.proxy.account().boto("route53", "change_resource_record_sets", arguments);
    }

    /// All records but those that AWS gives a zone.
    fn records(&self) -> Vec<Value> {
        let listed =
            self.bed.proxy.account().boto("route53", "list_resource_record_sets", json!({ "HostedZoneId": self.id }));
        let sets = listed["ResourceRecordSets"].as_array().expect("a list").clone();
        sets.into_iter().filter(|it| it["Type"] != "SOA" && it["Type"] != "NS").collect()
    }

    /// The records that somebody else has not made, which must all still be there.
    fn ours(&self) -> Vec<Value> {
        let mut records = self.records();
        for other in &self.others {
            let place = records.iter().position(|it| it == other);
            records.remove(place.unwrap_or_else(|| panic!("{other} is not in {records:?}")));
        }
        records
    }

    /// Looks that this is the only record that somebody else has not made.
    fn assert_only(&self, record: &Value) {
        assert_eq!(self.ours(), std::slice::from_ref(record));
    }

    /// The alias that a gateway at this domain has.
    fn alias(&self, domain: &str) -> Value {
        let target = self.bed.attribute("domain_target");
        json!({ "Name": format!("{domain}."), "Type": "A", "AliasTarget": {
            "DNSName": format!("{}.", text(&target["domain_name"])),
            "HostedZoneId": target["hosted_zone_id"],
            "EvaluateTargetHealth": false,
        } })
    }

    /// The changes of zones in the log: `CREATE api.example.com`.
    fn changes(&self) -> Vec<String> {
        let calls = self.bed.proxy.mutations().into_iter().filter(|it| it.call.action == CHANGE);
        calls.map(|it| format!("{} {}", it.call.param("Action"), it.call.param("Name").trim_end_matches('.'))).collect()
    }
}

fn zone_of(bed: &TestEnv, name: &str) -> String {
    let zone = json!({ "Name": name, "CallerReference": name });
    let made = bed.proxy.account().boto("route53", "create_hosted_zone", zone);
    text(&made["HostedZone"]["Id"]).trim_start_matches("/hostedzone/").to_owned()
}

fn plain(name: &str, kind: &str, value: &str) -> Value {
    json!({ "Name": name, "Type": kind, "TTL": 60, "ResourceRecords": [{ "Value": value }] })
}

#[test]
fn a_record_is_made_follows_the_domain_new_one_first_and_is_removed() {
    let zone = Zone::new();
    let bed = &zone.bed;
    bed.apply(&zone.at("api.example.com"));
    assert_eq!(zone.changes(), ["CREATE api.example.com"]);
    assert_eq!(zone.ours(), [zone.alias("api.example.com")]);
    assert_eq!(bed.attribute("aws_objects")["dns_record"], format!("{}_api.example.com_A", zone.id));
    assert_eq!(bed.attribute("dns_record_fqdn"), "api.example.com");

    let visitor = bed.visit(("GET /a", "orders /a"), &[]);
    bed.apply(&zone.at("shop.example.com"));
    assert_eq!(zone.changes(), ["CREATE shop.example.com", "DELETE api.example.com"]);
    assert_eq!(zone.ours(), [zone.alias("shop.example.com")]);
    assert_eq!(bed.attribute("dns_record_fqdn"), "shop.example.com");

    bed.apply(&with(&zone.at("shop.example.com"), &json!({ "create_dns_entry": false })));
    assert_eq!(bed.proxy.mutations().len(), 1, "only the record goes");
    assert_eq!(zone.changes(), ["DELETE shop.example.com"]);
    assert_eq!(zone.ours(), Vec::<Value>::new());
    assert_eq!(bed.attribute("dns_record_fqdn"), Value::Null);

    bed.apply(&zone.at("shop.example.com"));
    assert_eq!(zone.ours(), [zone.alias("shop.example.com")]);
    visitor.saw_no_error();

    // State is lost: the record is found again by the domain that it leads to.
    let api = text(&bed.attribute("id"));
    bed.workspace.forget(THIS);
    bed.workspace.import(THIS, &api).succeeded();
    assert_eq!(bed.attribute("aws_objects")["dns_record"], format!("{}_shop.example.com_A", zone.id));
    bed.destroy();
    assert_eq!(zone.changes(), ["DELETE shop.example.com"]);
    assert_eq!(zone.ours(), Vec::<Value>::new());
}

#[test]
fn a_record_moves_to_another_zone_new_one_first_while_the_gateway_serves() {
    let zone = Zone::new();
    let bed = &zone.bed;
    bed.apply(&zone.at("api.example.com"));
    let visitor = bed.visit(("GET /a", "orders /a"), &[]);
    let other = zone_of(bed, "api.example.com");
    let moved = with(&zone.at("api.example.com"), &json!({ "hosted_zone_id": other }));
    let change = bed.planned_change(&moved);
    assert_eq!(change.objects, ["~dns_record"]);
    assert_eq!(zone.changes(), ["CREATE api.example.com", "DELETE api.example.com"]);
    let zones: Vec<String> = bed.proxy.mutations().into_iter().map(|it| it.call.param("Id").to_owned()).collect();
    assert!(zones[0].ends_with(&other) && zones[1].ends_with(&zone.id), "{zones:?}");
    assert_eq!(zone.ours(), Vec::<Value>::new());
    assert_eq!(bed.attribute("aws_objects")["dns_record"], format!("{other}_api.example.com_A"));
    visitor.saw_no_error();
    bed.destroy();
}

#[test]
fn a_destroy_right_after_an_import_tells_the_record_that_it_takes_along_and_leaves_all_others() {
    let zone = Zone::new();
    let bed = &zone.bed;
    bed.apply(&zone.at("api.example.com"));
    let mut theirs = zone.alias("api.example.com");
    theirs["Name"] = json!("old.example.com.");
    zone.put("CREATE", &theirs);
    bed.workspace.reimport(THIS);
    let record = format!("{}_api.example.com_A", zone.id);
    assert_eq!(bed.attribute("aws_objects")["dns_record"], record);
    let plan = bed.workspace.plan(&["-destroy"]);
    assert!(plan.says(&format!("dns_record ({record})")), "{plan}");
    bed.destroy();
    zone.assert_only(&theirs);
}

#[test]
fn a_record_that_exists_is_refused_and_left_alone_unless_it_is_the_alias_that_is_wanted() {
    let zone = Zone::new();
    let bed = &zone.bed;
    let wanted = zone.at("api.example.com");
    let without = with(&wanted, &json!({ "create_dns_entry": false }));
    bed.apply(&without);
    let mut weighted = zone.alias("api.example.com");
    weighted["SetIdentifier"] = json!("blue");
    weighted["Weight"] = json!(1);
    for (theirs, words) in [
        (plain("api.example.com.", "A", "192.0.2.9"), "it leads to 192.0.2.9"),
        (weighted, "with the set identifier blue"),
    ] {
        zone.put("CREATE", &theirs);
        bed.config(&wanted);
        let run = bed.workspace.apply(&[]);
        run.failed_with("api.example.com has an A record in hosted zone").failed_with(words);
        run.failed_with("set create_dns_entry = false");
        zone.assert_only(&theirs);
        bed.apply(&without);
        // Giving up does not touch it either.
        zone.assert_only(&theirs);
        zone.put("DELETE", &theirs);
    }
    let alias = zone.alias("api.example.com");
    zone.put("CREATE", &alias);
    bed.apply(&wanted);
    assert_eq!(zone.ours(), [alias]);
    bed.destroy();
    assert_eq!(zone.ours(), Vec::<Value>::new());
}

#[test]
fn a_record_that_somebody_deletes_or_leads_elsewhere_is_shown_and_mended() {
    let zone = Zone::new();
    let bed = &zone.bed;
    bed.apply(&zone.at("api.example.com"));
    let alias = zone.alias("api.example.com");
    let id = text(&bed.attribute("aws_objects")["dns_record"]);
    let mut elsewhere = alias.clone();
    elsewhere["AliasTarget"]["DNSName"] = json!("d-other.example.net.");
    let mut watched = alias.clone();
    watched["AliasTarget"]["EvaluateTargetHealth"] = json!(true);
    for (action, record, drift, mending) in [
        ("DELETE", &alias, format!("{id} is gone"), "CREATE"),
        ("UPSERT", &elsewhere, "target is d-other.example.net instead of domain".to_owned(), "UPSERT"),
        ("UPSERT", &watched, "evaluate_target_health is true instead of false".to_owned(), "UPSERT"),
        (
            "UPSERT",
            &plain("api.example.com", "A", "192.0.2.9"),
            "target is 192.0.2.9 instead of domain".to_owned(),
            "UPSERT",
        ),
    ] {
        zone.put(action, record);
        assert_eq!(bed.drift(), json!({ "dns_record": drift }));
        bed.apply_config();
        assert_eq!(bed.proxy.mutations().len(), 1);
        assert_eq!(zone.changes(), [format!("{mending} api.example.com")]);
        assert_eq!(bed.attribute("drift"), json!({}));
        zone.assert_only(&alias);
    }

    // Once handed over, a name is not taken away from those who have it now.
    zone.put("UPSERT", &elsewhere);
    bed.apply(&with(&zone.at("api.example.com"), &json!({ "create_dns_entry": false })));
    zone.assert_only(&elsewhere);
    zone.put("DELETE", &elsewhere);
    bed.apply(&zone.at("api.example.com"));
    zone.assert_only(&alias);

    // A routing policy takes the place of a record, and is nothing to overwrite.
    let mut weighted = alias.clone();
    weighted["SetIdentifier"] = json!("blue");
    weighted["Weight"] = json!(1);
    zone.put("DELETE", &alias);
    zone.put("CREATE", &weighted);
    assert_eq!(bed.drift(), json!({ "dns_record": format!("{id} is gone") }));
    bed.workspace.apply(&[]).failed_with("with the set identifier blue");
    zone.assert_only(&weighted);
    bed.destroy();
    assert_eq!(zone.ours(), [weighted]);
}

#[test]
fn a_wrong_zone_is_an_error_that_says_so_and_a_new_or_busy_one_is_none() {
    let zone = Zone::new();
    let bed = &zone.bed;
    let wanted = zone.at("api.example.com");
    bed.apply(&with(&wanted, &json!({ "create_dns_entry": false })));
    bed.config(&with(&wanted, &json!({ "hosted_zone_id": zone_of(bed, "example.org") })));
    let run = bed.workspace.apply(&[]);
    run.failed_with("api.example.com. is not permitted in zone example.org.");
    run.failed_with("has to be the zone of api.example.com or of a domain above it");
    assert_eq!(zone.ours(), Vec::<Value>::new());

    bed.proxy.fault(Fault::on(CHANGE).nth(1).answer(404, "NoSuchHostedZone", "No hosted zone found"));
    bed.proxy.fault(Fault::on(CHANGE).nth(2).answer(400, "PriorRequestNotComplete", "still at work"));
    bed.proxy.fault(Fault::on(CHANGE).nth(3).after_work().reset());
    bed.apply(&wanted);
    let changes = zone.changes();
    assert_eq!(changes[..3], ["CREATE api.example.com"; 3], "{changes:?}");
    assert!(
        changes[3..].iter().all(|it| it == "UPSERT api.example.com"),
        "an own record is not made twice: {changes:?}"
    );
    assert_eq!(zone.ours(), [zone.alias("api.example.com")]);

    bed.proxy.clear_faults();
    bed.proxy.fault(Fault::on(CHANGE).nth(1).after_work().reset());
    bed.destroy();
    assert_eq!(zone.ours(), Vec::<Value>::new());
}
