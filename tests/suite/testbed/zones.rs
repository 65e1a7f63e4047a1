//! Corrections of ministack for DNS.

use super::*;

#[test]
fn zone_rejects_outside_names_and_conflicting_records() {
    let proxy = Proxy::ministack();
    let zone = json!({"Name": "example.com", "CallerReference": "1"});
    let zone = proxy.boto("route53", "create_hosted_zone", zone)["HostedZone"]["Id"].clone();
    let change = |set: Value| {
        let batch = json!({"Changes": [{"Action": "CREATE", "ResourceRecordSet": set}]});
        proxy.try_boto("route53", "change_resource_record_sets", json!({"HostedZoneId": zone, "ChangeBatch": batch}))
    };
    let record = |name: &str, kind: &str, value: &str| json!({"Name": name, "Type": kind, "TTL": 60, "ResourceRecords": [{"Value": value}]});
    let routed = |name: &str| {
        let mut record = record(name, "A", "192.0.2.1");
        record["SetIdentifier"] = json!("blue");
        record["Weight"] = json!(1);
        record
    };
    for valid in [
        record("example.com", "A", "192.0.2.1"),
        routed("r.example.com"),
        record("c.example.com", "CNAME", "example.org"),
        record("r.example.com", "TXT", "\"text\""),
    ] {
        change(valid.clone()).unwrap_or_else(|error| panic!("{valid}: {error:?}"));
    }
    for (invalid, text) in [
        (record("badexample.com", "A", "192.0.2.1"), "is not permitted in zone example.com."),
        (record("c.example.com", "A", "192.0.2.1"), "conflicting RRSet of type CNAME"),
        (record("r.example.com", "A", "192.0.2.1"), "other RRSets exist with the same name and type"),
        (routed("example.com"), "other RRSets exist with the same name and type"),
    ] {
        let error = change(invalid).expect_err("AWS rejects it");
        assert_eq!(error.code, "InvalidChangeBatch");
        assert!(error.message.contains(text), "{text} in {}", error.message);
    }
    assert_eq!(proxy.calls()[1].call.param("Action"), "CREATE");
    assert_eq!(proxy.calls()[1].call.param("Name"), "example.com");
}
