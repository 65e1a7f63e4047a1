//! The DNS record of a custom domain: created without overwriting another one, changed, fixed and deleted, in a zone
//! with unmanaged records.

use serde_json::{Value, json};

use super::{THIS, TestEnv, text, with};
use crate::support::proxy::fault::Fault;

const CHANGE: &str = "ChangeResourceRecordSets";

/// An account with a certificate for `*.example.com`, and the zone `example.com` with unmanaged records.
struct Zone {
    env: TestEnv,
    id: String,
    unmanaged: Vec<Value>,
}

impl Zone {
    fn new() -> Self {
        let env = TestEnv::new();
        env.proxy.account().boto("acm", "request_certificate", json!({ "DomainName": "*.example.com" }));
        let mut zone = Self { id: zone_of(&env, "example.com"), env, unmanaged: Vec::new() };
        zone.put("CREATE", &plain("www.example.com", "A", "192.0.2.1"));
        // Records with the gateway's name and another type are unmanaged, too.
        zone.put("CREATE", &plain("api.example.com", "AAAA", "2001:db8::1"));
        zone.put("CREATE", &plain("api.example.com", "TXT", "\"text\""));
        zone.unmanaged = zone.records();
        assert_eq!(zone.unmanaged.len(), 3);
        zone
    }

    /// A gateway at this domain, with a record in this zone.
    fn at(&self, domain: &str) -> Value {
        let routes = json!({ "GET /a": self.env.to("orders") });
        json!({ "route_config": routes, "domain_name": domain, "hosted_zone_id": self.id, "create_dns_entry": true })
    }

    /// Changes a record outside Terraform.
    fn put(&self, action: &str, record: &Value) {
        let batch = json!({ "Changes": [{ "Action": action, "ResourceRecordSet": record }] });
        let arguments = json!({ "HostedZoneId": self.id, "ChangeBatch": batch });
        self.env.proxy.account().boto("route53", "change_resource_record_sets", arguments);
    }

    /// All records except those that AWS creates with a zone.
    fn records(&self) -> Vec<Value> {
        let listed =
            self.env.proxy.account().boto("route53", "list_resource_record_sets", json!({ "HostedZoneId": self.id }));
        let sets = listed["ResourceRecordSets"].as_array().expect("a list").clone();
        sets.into_iter().filter(|it| it["Type"] != "SOA" && it["Type"] != "NS").collect()
    }

    /// The records apart from the unmanaged ones of [`Zone::new`]. Asserts that these still exist.
    fn ours(&self) -> Vec<Value> {
        let mut records = self.records();
        for other in &self.unmanaged {
            let place = records.iter().position(|it| it == other);
            records.remove(place.unwrap_or_else(|| panic!("{other} is not in {records:?}")));
        }
        records
    }

    /// Asserts that this is the only record apart from the unmanaged ones of [`Zone::new`].
    fn assert_only(&self, record: &Value) {
        assert_eq!(self.ours(), std::slice::from_ref(record));
    }

    /// The alias record of a gateway with this domain.
    fn alias(&self, domain: &str) -> Value {
        let target = self.env.attribute("domain_target");
        json!({ "Name": format!("{domain}."), "Type": "A", "AliasTarget": {
            "DNSName": format!("{}.", text(&target["domain_name"])),
            "HostedZoneId": target["hosted_zone_id"],
            "EvaluateTargetHealth": false,
        } })
    }

    /// The IP address types of the API and of the custom domain.
    fn ip_address_types(&self) -> [Value; 2] {
        let domain = &self.env.proxy.account().list_of("domain_names")[0];
        let api = self.env.api_call("get_api", json!({}));
        [api["IpAddressType"].clone(), domain["DomainNameConfigurations"][0]["IpAddressType"].clone()]
    }

    /// The changes of records in the log, such as `CREATE api.example.com`.
    fn changes(&self) -> Vec<String> {
        let calls = self.env.proxy.mutations().into_iter().filter(|it| it.call.action == CHANGE);
        calls.map(|it| format!("{} {}", it.call.param("Action"), it.call.param("Name").trim_end_matches('.'))).collect()
    }
}

fn zone_of(env: &TestEnv, name: &str) -> String {
    let zone = json!({ "Name": name, "CallerReference": name });
    let created = env.proxy.account().boto("route53", "create_hosted_zone", zone);
    text(&created["HostedZone"]["Id"]).trim_start_matches("/hostedzone/").to_owned()
}

fn plain(name: &str, kind: &str, value: &str) -> Value {
    json!({ "Name": name, "Type": kind, "TTL": 60, "ResourceRecords": [{ "Value": value }] })
}

#[test]
fn a_dualstack_domain_has_a_record_of_each_type() {
    let zone = Zone::new();
    let env = &zone.env;
    let of = |kind: &str| with(&zone.at("shop.example.com"), &json!({ "ip_address_type": kind }));
    let types = || zone.ip_address_types();
    env.apply(&of("ipv4"));
    assert_eq!(types(), ["ipv4", "ipv4"]);
    let client = env.load_client(("GET /a", "orders /a"), &[]);
    let calls = env.change(&of("dualstack"));
    assert_eq!(calls, ["UpdateApi", "UpdateDomainName shop.example.com", "ChangeResourceRecordSets"]);
    assert_eq!(types(), ["dualstack", "dualstack"]);
    let alias = zone.alias("shop.example.com");
    assert_eq!(zone.ours(), [alias.clone(), with(&alias, &json!({ "Type": "AAAA" }))]);
    assert_eq!(env.attribute("aws_objects")["dns_record_aaaa"], format!("{}_shop.example.com_AAAA", zone.id));

    // An import finds both.
    env.workspace.reimport(THIS);
    assert_eq!(env.attribute("ip_address_type"), "dualstack");
    assert_eq!(env.attribute("aws_objects")["dns_record_aaaa"], format!("{}_shop.example.com_AAAA", zone.id));
    env.workspace.assert_nothing_to_do();

    // A record that someone deletes is created again.
    zone.put("DELETE", &with(&alias, &json!({ "Type": "AAAA" })));
    assert_eq!(env.drift(), json!({ "dns_record_aaaa": format!("{}_shop.example.com_AAAA is missing", zone.id) }));
    env.apply_config();
    assert_eq!(zone.changes(), ["CREATE shop.example.com"]);

    let calls = env.change(&of("ipv4"));
    assert_eq!(calls, ["UpdateApi", "ChangeResourceRecordSets", "UpdateDomainName shop.example.com"]);
    assert_eq!((types(), zone.ours()), (["ipv4".into(), "ipv4".into()], vec![alias]));
    client.saw_no_error();
    env.destroy();
}

#[test]
fn a_domain_may_have_other_ip_addresses_than_the_endpoint() {
    let zone = Zone::new();
    let env = &zone.env;
    let of = |kind: Value| with(&zone.at("shop.example.com"), &json!({ "domain_ip_address_type": kind }));
    env.apply(&of(json!("dualstack")));
    assert_eq!(zone.ip_address_types(), ["ipv4", "dualstack"]);
    assert_eq!(zone.ours().len(), 2);
    env.workspace.reimport(THIS);
    assert_eq!(
        (env.attribute("ip_address_type"), env.attribute("domain_ip_address_type")),
        ("ipv4".into(), "dualstack".into())
    );
    env.workspace.assert_nothing_to_do();

    // Without an input of its own, the domain follows the endpoint.
    let calls = env.change(&of(Value::Null));
    assert_eq!(calls, ["ChangeResourceRecordSets", "UpdateDomainName shop.example.com"]);
    assert_eq!((zone.ip_address_types(), zone.ours().len()), (["ipv4".into(), "ipv4".into()], 1));
    let dualstack = with(&of(json!("ipv4")), &json!({ "ip_address_type": "dualstack" }));
    assert_eq!(env.change(&dualstack), ["UpdateApi"]);
    assert_eq!(zone.ip_address_types(), ["dualstack", "ipv4"]);
    env.api_call("update_api", json!({ "IpAddressType": "ipv4" }));
    assert_eq!(env.drift(), json!({ "api": "ip_address_type is ipv4 instead of dualstack" }));
    env.apply_config();
    assert_eq!(zone.ip_address_types(), ["dualstack", "ipv4"]);
    env.end();
}

#[test]
fn a_record_of_ipv6_addresses_that_exists_is_reported_by_the_plan() {
    let zone = Zone::new();
    zone.env.config(&with(&zone.at("api.example.com"), &json!({ "ip_address_type": "dualstack" })));
    let plan = zone.env.workspace.plan(&[]);
    assert_eq!(plan.code, 1, "{plan}");
    assert!(plan.says("already has an AAAA record"), "{plan}");
}

#[test]
fn a_record_is_created_moved_with_the_domain_and_deleted() {
    let zone = Zone::new();
    let env = &zone.env;
    env.apply(&zone.at("api.example.com"));
    assert_eq!(zone.changes(), ["CREATE api.example.com"]);
    assert_eq!(zone.ours(), [zone.alias("api.example.com")]);
    assert_eq!(env.attribute("aws_objects")["dns_record"], format!("{}_api.example.com_A", zone.id));
    assert_eq!(env.attribute("dns_record_fqdn"), "api.example.com");

    let client = env.load_client(("GET /a", "orders /a"), &[]);
    env.apply(&zone.at("shop.example.com"));
    assert_eq!(zone.changes(), ["CREATE shop.example.com", "DELETE api.example.com"]);
    assert_eq!(zone.ours(), [zone.alias("shop.example.com")]);
    assert_eq!(env.attribute("dns_record_fqdn"), "shop.example.com");

    env.apply(&with(&zone.at("shop.example.com"), &json!({ "create_dns_entry": false })));
    assert_eq!(env.proxy.mutations().len(), 1, "only the record is deleted");
    assert_eq!(zone.changes(), ["DELETE shop.example.com"]);
    assert_eq!(zone.ours(), Vec::<Value>::new());
    assert_eq!(env.attribute("dns_record_fqdn"), Value::Null);

    env.apply(&zone.at("shop.example.com"));
    assert_eq!(zone.ours(), [zone.alias("shop.example.com")]);
    client.saw_no_error();

    // The import finds the record by the domain to which it points.
    let api = text(&env.attribute("id"));
    env.workspace.forget(THIS);
    env.workspace.import(THIS, &api).succeeded();
    assert_eq!(env.attribute("aws_objects")["dns_record"], format!("{}_shop.example.com_A", zone.id));
    env.destroy();
    assert_eq!(zone.changes(), ["DELETE shop.example.com"]);
    assert_eq!(zone.ours(), Vec::<Value>::new());
}

#[test]
fn a_move_to_another_zone_creates_the_new_record_first() {
    let zone = Zone::new();
    let env = &zone.env;
    env.apply(&zone.at("api.example.com"));
    let client = env.load_client(("GET /a", "orders /a"), &[]);
    let other = zone_of(env, "api.example.com");
    let moved = with(&zone.at("api.example.com"), &json!({ "hosted_zone_id": other }));
    let change = env.planned_change(&moved);
    assert_eq!(change.objects, ["~dns_record"]);
    assert_eq!(zone.changes(), ["CREATE api.example.com", "DELETE api.example.com"]);
    let zones: Vec<String> = env.proxy.mutations().into_iter().map(|it| it.call.param("Id").to_owned()).collect();
    assert!(zones[0].ends_with(&other) && zones[1].ends_with(&zone.id), "{zones:?}");
    assert_eq!(zone.ours(), Vec::<Value>::new());
    assert_eq!(env.attribute("aws_objects")["dns_record"], format!("{other}_api.example.com_A"));
    client.saw_no_error();
    env.end();
}

#[test]
fn a_destroy_after_an_import_deletes_only_the_own_record() {
    let zone = Zone::new();
    let env = &zone.env;
    env.apply(&zone.at("api.example.com"));
    let mut theirs = zone.alias("api.example.com");
    theirs["Name"] = json!("old.example.com.");
    zone.put("CREATE", &theirs);
    env.workspace.reimport(THIS);
    let record = format!("{}_api.example.com_A", zone.id);
    assert_eq!(env.attribute("aws_objects")["dns_record"], record);
    let plan = env.workspace.plan(&["-destroy"]);
    assert!(plan.says(&format!("dns_record ({record})")), "{plan}");
    env.destroy();
    zone.assert_only(&theirs);
}

#[test]
fn an_existing_record_is_rejected_unless_it_is_the_same_alias() {
    let zone = Zone::new();
    let env = &zone.env;
    let wanted = zone.at("api.example.com");
    let without = with(&wanted, &json!({ "create_dns_entry": false }));
    env.apply(&without);
    let mut weighted = zone.alias("api.example.com");
    weighted["SetIdentifier"] = json!("blue");
    weighted["Weight"] = json!(1);
    for (theirs, words) in [
        (plain("api.example.com.", "A", "192.0.2.9"), "which points to 192.0.2.9"),
        (weighted, "with the set identifier blue"),
    ] {
        zone.put("CREATE", &theirs);
        env.config(&wanted);
        let run = env.workspace.plan(&[]);
        run.failed_with("\"api.example.com\" already has an A record in hosted zone").failed_with(words);
        run.failed_with("set create_dns_entry to false");
        zone.assert_only(&theirs);
        env.apply(&without);
        // Turning the record off does not change the existing one either.
        zone.assert_only(&theirs);
        zone.put("DELETE", &theirs);
    }
    let alias = zone.alias("api.example.com");
    zone.put("CREATE", &alias);
    env.config(&wanted);
    let plan = env.workspace.plan(&[]);
    assert!(plan.says("exists already and points to the custom domain. The apply takes it over"), "{plan}");
    env.apply(&wanted);
    assert_eq!(zone.ours(), [alias]);
    env.destroy();
    assert_eq!(zone.ours(), Vec::<Value>::new());
}

#[test]
fn a_record_deleted_or_changed_outside_terraform_is_restored() {
    let zone = Zone::new();
    let env = &zone.env;
    env.apply(&zone.at("api.example.com"));
    let alias = zone.alias("api.example.com");
    let id = text(&env.attribute("aws_objects")["dns_record"]);
    let mut elsewhere = alias.clone();
    elsewhere["AliasTarget"]["DNSName"] = json!("d-other.example.net.");
    let mut watched = alias.clone();
    watched["AliasTarget"]["EvaluateTargetHealth"] = json!(true);
    for (action, record, drift, fix) in [
        ("DELETE", &alias, format!("{id} is missing"), "CREATE"),
        ("UPSERT", &elsewhere, "target is d-other.example.net instead of domain".to_owned(), "UPSERT"),
        (
            "UPSERT",
            &plain("api.example.com", "A", "192.0.2.9"),
            "target is 192.0.2.9 instead of domain".to_owned(),
            "UPSERT",
        ),
    ] {
        zone.put(action, record);
        assert_eq!(env.drift(), json!({ "dns_record": drift }));
        env.apply_config();
        assert_eq!(env.proxy.mutations().len(), 1);
        assert_eq!(zone.changes(), [format!("{fix} api.example.com")]);
        assert_eq!(env.attribute("drift"), json!({}));
        zone.assert_only(&alias);
    }

    // Whether Route 53 evaluates the target is no drift, and an update keeps it.
    zone.put("UPSERT", &watched);
    assert_eq!(env.drift(), json!({}));
    elsewhere["AliasTarget"]["EvaluateTargetHealth"] = json!(true);
    zone.put("UPSERT", &elsewhere);
    env.apply_config();
    zone.assert_only(&watched);
    zone.put("UPSERT", &alias);

    // A record that was changed outside Terraform is not deleted when the record is turned off.
    zone.put("UPSERT", &elsewhere);
    env.apply(&with(&zone.at("api.example.com"), &json!({ "create_dns_entry": false })));
    zone.assert_only(&elsewhere);
    zone.put("DELETE", &elsewhere);
    env.apply(&zone.at("api.example.com"));
    zone.assert_only(&alias);

    // A record with a routing policy in place of the managed one is not overwritten.
    let mut weighted = alias.clone();
    weighted["SetIdentifier"] = json!("blue");
    weighted["Weight"] = json!(1);
    zone.put("DELETE", &alias);
    zone.put("CREATE", &weighted);
    assert_eq!(env.drift(), json!({ "dns_record": format!("{id} is missing") }));
    env.workspace.apply(&[]).failed_with("with the set identifier blue");
    zone.assert_only(&weighted);
    env.destroy();
    assert_eq!(zone.ours(), [weighted]);
}

#[test]
fn a_wrong_zone_is_an_error_and_transient_errors_are_retried() {
    let zone = Zone::new();
    let env = &zone.env;
    let wanted = zone.at("api.example.com");
    env.apply(&with(&wanted, &json!({ "create_dns_entry": false })));
    env.config(&with(&wanted, &json!({ "hosted_zone_id": zone_of(env, "example.org") })));
    env.workspace.plan(&[]).failed_with("is that of \"example.org\", which does not contain \"api.example.com\"");
    // Without the permission to look.
    env.proxy.fault(Fault::on("GetHostedZone").answer(403, "AccessDenied", "not authorized"));
    let run = env.workspace.apply(&[]);
    run.failed_with("api.example.com. is not permitted in zone example.org.");
    run.failed_with("must be the zone of api.example.com or of a parent domain");
    assert_eq!(zone.ours(), Vec::<Value>::new());

    env.proxy.fault(Fault::on(CHANGE).nth(1).answer(404, "NoSuchHostedZone", "No hosted zone found"));
    env.proxy.fault(Fault::on(CHANGE).nth(2).answer(400, "PriorRequestNotComplete", "still at work"));
    env.proxy.fault(Fault::on(CHANGE).nth(3).after_work().reset());
    env.apply(&wanted);
    let changes = zone.changes();
    assert_eq!(changes[..3], ["CREATE api.example.com"; 3], "{changes:?}");
    assert!(
        changes[3..].iter().all(|it| it == "UPSERT api.example.com"),
        "the record is not created twice: {changes:?}"
    );
    assert_eq!(zone.ours(), [zone.alias("api.example.com")]);

    env.proxy.clear_faults();
    env.proxy.fault(Fault::on(CHANGE).nth(1).after_work().reset());
    env.destroy();
    assert_eq!(zone.ours(), Vec::<Value>::new());
}
