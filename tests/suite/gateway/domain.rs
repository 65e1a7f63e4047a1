//! Custom domains: the certificate that they get, the API that they lead to, and what others do to them.

use serde_json::{Value, json};

use super::{THIS, TestEnv, text, with};
use crate::support::http::{Answer, Request};
use crate::support::proxy::fault::Fault;
use crate::support::terraform::Workspace;
use crate::support::wait::until;

const NAME: &str = "api.example.com";

impl TestEnv {
    /// A certificate that is issued at once, and later than all others: of several for one domain the provider takes
    /// the latest, and the emulator's clock has seconds.
    fn certificate(&self, domain: &str) -> String {
        let acm = |method: &str, arguments: Value| self.proxy.account().boto("acm", method, arguments);
        let issued = |arn: &str| {
            let detail = &acm("describe_certificate", json!({ "CertificateArn": arn }))["Certificate"];
            text(&detail["NotBefore"])
        };
        let others = acm("list_certificates", json!({}))["CertificateSummaryList"].clone();
        let others = others.as_array().expect("a list").iter().map(|it| issued(&text(&it["CertificateArn"])));
        let latest = others.max().unwrap_or_default();
        let mut made = String::new();
        until("the certificate is the latest", || {
            made = text(&acm("request_certificate", json!({ "DomainName": domain }))["CertificateArn"]);
            let is_latest = issued(&made) > latest;
            if !is_latest {
                acm("delete_certificate", json!({ "CertificateArn": made }));
            }
            is_latest
        });
        made
    }

    /// One route, and this domain.
    fn with_domain(&self, name: &str) -> Value {
        json!({ "route_config": { "GET /a": self.to("orders") }, "domain_name": name })
    }

    fn without_domain(&self) -> Value {
        json!({ "route_config": { "GET /a": self.to("orders") } })
    }

    /// Calls the gateway by a custom domain.
    fn reach(&self, domain: &str) -> Answer {
        let account = self.proxy.account();
        let credential =
            format!("AWS4-HMAC-SHA256 Credential={}/20260101/us-east-1/execute-api/aws4_request", account.id);
        Request::new(account.emulator.port, "GET", "/a")
            .header("host", domain)
            .header("authorization", &credential)
            .send()
            .expect("the emulator answers")
    }

    /// The custom domains of the account, as boto3 sees them.
    fn domains(&self) -> Vec<Value> {
        self.proxy.account().list_of("domain_names")
    }

    /// A call about the domain, by someone else.
    fn domain_by_hand(&self, method: &str, more: Value) -> Value {
        self.proxy.account().boto("apigatewayv2", method, with(&json!({ "DomainName": NAME }), &more))
    }

    /// Makes the domain in the name of someone else.
    fn foreign_domain(&self, certificate: &str) {
        let configuration = json!({ "CertificateArn": certificate, "EndpointType": "REGIONAL" });
        let more = json!({ "DomainNameConfigurations": [configuration], "Tags": { "whose": "theirs" } });
        self.domain_by_hand("create_domain_name", more);
    }

    /// An API of someone else, with a stage; gives its id.
    fn foreign_api(&self) -> String {
        let account = self.proxy.account();
        let api = json!({ "Name": "theirs", "ProtocolType": "HTTP" });
        let api = text(&account.boto("apigatewayv2", "create_api", api)["ApiId"]);
        account.boto("apigatewayv2", "create_stage", json!({ "ApiId": api, "StageName": "prod" }));
        api
    }
}

#[test]
fn a_domain_is_added_gets_other_certificates_is_exchanged_and_removed_while_the_gateway_serves() {
    let bed = TestEnv::new();
    bed.apply(&bed.without_domain());
    let endpoint = bed.attribute("api_endpoint");
    let visitor = bed.visit(("GET /a", "orders /a"), &[]);
    let first = bed.certificate("*.example.com");

    bed.config(&bed.with_domain(NAME));
    let plan = bed.workspace.plan_json(&[]);
    let change = &plan["resource_changes"][0]["change"];
    assert_eq!(change["after"]["certificate_arn"], first, "it is chosen at plan");
    assert_eq!(change["after"]["invoke_url"], format!("https://{NAME}"));
    assert_eq!(change["after_unknown"]["domain_target"], true, "AWS tells it");
    assert_eq!(change["after_unknown"]["aws_objects"]["domain"], true, "the plan shows what is made");
    let told = bed.change(&bed.with_domain(NAME));
    assert_eq!(told, [format!("CreateDomainName {NAME}"), format!("CreateApiMapping {NAME}")]);
    it_is_as_asked_for(&bed, &first);
    assert_eq!((bed.attribute("api_endpoint"), bed.call("GET", "/a", None).status), (endpoint, 200));

    let second = bed.certificate(NAME);
    bed.workspace.assert_nothing_to_do();
    assert_eq!(bed.attribute("certificate_arn"), first, "a newer one changes nothing");

    bed.proxy.account().boto("acm", "delete_certificate", json!({ "CertificateArn": first }));
    let plan = bed.workspace.plan_json(&[]);
    let change = &plan["resource_changes"][0]["change"];
    assert_eq!(change["actions"], json!(["update"]));
    assert_eq!(
        (&change["before"]["certificate_arn"], &change["after"]["certificate_arn"]),
        (&json!(first), &json!(second))
    );
    assert_eq!(change["before"]["aws_objects"], change["after"]["aws_objects"], "in place");
    assert_eq!(bed.change(&bed.with_domain(NAME)), [format!("UpdateDomainName {NAME}")]);
    it_is_as_asked_for(&bed, &second);

    // Looked for by the domain of another one.
    let wildcard = bed.certificate("*.example.com");
    let by_wildcard = with(&bed.with_domain(NAME), &json!({ "certificate_domain": "*.example.com" }));
    assert_eq!(bed.change(&by_wildcard), [format!("UpdateDomainName {NAME}")]);
    it_is_as_asked_for(&bed, &wildcard);

    let third = bed.certificate("www.example.com");
    let told = bed.change(&bed.with_domain("www.example.com"));
    let expected = ["CreateDomainName www", "CreateApiMapping www", "DeleteApiMapping api", "DeleteDomainName api"];
    assert_eq!(told, expected.map(|call| format!("{call}.example.com")), "the new one first");
    assert_eq!(bed.attribute("certificate_arn"), third);
    assert_eq!((bed.reach("www.example.com").status, bed.reach(NAME).status), (200, 404));

    let told = bed.change(&bed.without_domain());
    assert_eq!(told, ["DeleteApiMapping www.example.com", "DeleteDomainName www.example.com"]);
    for output in ["certificate_arn", "domain_target", "dns_record_fqdn"] {
        assert_eq!(bed.attribute(output), Value::Null, "{output}");
    }
    assert_eq!(bed.attribute("invoke_url"), bed.attribute("api_endpoint"));
    assert!(bed.domains().is_empty());
    visitor.saw_no_error();
    bed.apply(&bed.with_domain("www.example.com"));
    bed.destroy();
    assert!(bed.domains().is_empty());
}

/// Compares the domain with what boto3 finds, and calls it.
fn it_is_as_asked_for(bed: &TestEnv, certificate: &str) {
    let domains = bed.domains();
    let [domain] = &domains[..] else { panic!("one domain: {domains:?}") };
    assert_eq!(domain["DomainName"], NAME);
    let configuration = &domain["DomainNameConfigurations"][0];
    for (member, expected) in
        [("CertificateArn", certificate), ("EndpointType", "REGIONAL"), ("SecurityPolicy", "TLS_1_2")]
    {
        assert_eq!(configuration[member], expected, "{member}");
    }
    let api = bed.attribute("api_id");
    let tags = json!({ "fgw:resource": format!("http_gateway/{}", text(&api)), "fgw:object": "domain" });
    assert_eq!(domain["tags"], tags);
    let mapping = &domain["mappings"][0];
    assert_eq!((&mapping["ApiId"], &mapping["Stage"]), (&api, &json!("$default")));
    assert_eq!(mapping["ApiMappingKey"], "");
    let target = json!({ "domain_name": configuration["ApiGatewayDomainName"], "hosted_zone_id": configuration["HostedZoneId"] });
    for (output, expected) in [
        ("certificate_arn", json!(certificate)),
        ("domain_target", target),
        ("invoke_url", json!(format!("https://{NAME}"))),
        ("dns_record_fqdn", Value::Null),
    ] {
        assert_eq!(bed.attribute(output), expected, "{output}");
    }
    let objects = bed.attribute("aws_objects");
    assert_eq!((&objects["domain"], &objects["api_mapping"]), (&json!(NAME), &mapping["ApiMappingId"]));
    let answer = bed.reach(NAME);
    assert_eq!((answer.status, answer.body.as_str()), (200, "orders /a"));
}

#[test]
fn what_others_do_to_a_domain_is_shown_and_mended_and_what_they_add_stays() {
    let mut bed = TestEnv::new();
    bed.workspace =
        Workspace::with_provider(&bed.proxy, "default_tags {\n  tags = { team = \"web\", level = \"live\" }\n}");
    let certificate = bed.certificate("*.example.com");
    bed.apply(&bed.with_domain(NAME));
    let arn = format!("arn:aws:apigateway:us-east-1::/domainnames/{NAME}");
    let account = bed.proxy.account();
    let mapping = |bed: &TestEnv| bed.attribute("aws_objects")["api_mapping"].clone();

    // Tags, the policy, and what it leads to. A path of another API is theirs.
    let theirs = bed.foreign_api();
    account.boto(
        "apigatewayv2",
        "tag_resource",
        json!({ "ResourceArn": arn, "Tags": { "theirs": "x", "level": "test" } }),
    );
    account.boto("apigatewayv2", "untag_resource", json!({ "ResourceArn": arn, "TagKeys": ["team"] }));
    let weak = json!({ "CertificateArn": certificate, "EndpointType": "REGIONAL", "SecurityPolicy": "TLS_1_0" });
    bed.domain_by_hand("update_domain_name", json!({ "DomainNameConfigurations": [weak] }));
    let elsewhere = json!({ "ApiMappingId": mapping(&bed), "ApiId": theirs, "Stage": "prod" });
    bed.domain_by_hand("update_api_mapping", elsewhere);
    let path = json!({ "ApiId": theirs, "Stage": "prod", "ApiMappingKey": "theirs" });
    let path = bed.domain_by_hand("create_api_mapping", path)["ApiMappingId"].clone();
    let drift = bed.drift();
    assert_eq!(drift["api_mapping"], format!("stage is {theirs}/prod instead of stage"), "{drift}");
    let said = "security_policy is TLS_1_0 instead of TLS_1_2; tag level has another value; tag team is missing";
    assert_eq!(drift["domain"], said, "{drift}");
    assert_eq!(drift.as_object().map(serde_json::Map::len), Some(2), "{drift}");
    let before = bed.slots();
    bed.apply_config();
    let expected =
        [format!("UpdateDomainName {NAME}"), "TagResource domain".into(), format!("UpdateApiMapping {NAME}")];
    assert_eq!(bed.told(&before), expected);
    assert_eq!(bed.reach(NAME).status, 200);
    let domain = bed.domains().remove(0);
    assert_eq!((&domain["tags"]["theirs"], &domain["tags"]["team"]), (&json!("x"), &json!("web")));
    assert_eq!(domain["mappings"].as_array().map(Vec::len), Some(2), "their path stays");

    // The mapping is deleted.
    bed.domain_by_hand("delete_api_mapping", json!({ "ApiMappingId": mapping(&bed) }));
    assert_eq!(bed.drift(), json!({ "api_mapping": format!("{} is gone", text(&mapping(&bed))) }));
    let before = bed.slots();
    bed.apply_config();
    assert_eq!(bed.told(&before), [format!("CreateApiMapping {NAME}")]);

    // While others are reached by it, it is not deleted.
    bed.config(&bed.without_domain());
    let refused = bed.workspace.apply(&[]);
    refused.failed_with(&format!(
        "custom domain {NAME} has API mappings that are not ours: {} ({theirs}/prod)",
        text(&path)
    ));
    bed.domain_by_hand("delete_api_mapping", json!({ "ApiMappingId": path }));
    bed.apply(&bed.with_domain(NAME));

    // All of it is deleted.
    let target = bed.attribute("domain_target");
    bed.domain_by_hand("delete_api_mapping", json!({ "ApiMappingId": mapping(&bed) }));
    bed.domain_by_hand("delete_domain_name", json!({}));
    let drift = bed.drift();
    assert_eq!(drift["domain"], format!("{NAME} is gone"), "{drift}");
    let before = bed.slots();
    bed.apply_config();
    assert_eq!(bed.told(&before), [format!("CreateDomainName {NAME}"), format!("CreateApiMapping {NAME}")]);
    assert_ne!(bed.attribute("domain_target"), target, "AWS gives another one");
    assert_eq!(bed.reach(NAME).status, 200);
    bed.destroy();
    account.boto("apigatewayv2", "get_api", json!({ "ApiId": theirs }));
}

#[test]
fn a_domain_of_someone_else_is_never_taken_over_unless_it_is_handed_over() {
    let bed = TestEnv::new();
    let certificate = bed.certificate("*.example.com");
    bed.apply(&bed.without_domain());
    bed.foreign_domain(&certificate);
    let theirs = bed.domains();
    bed.config(&bed.with_domain(NAME));
    let run = bed.workspace.apply(&[]);
    run.failed_with(&format!("custom domain {NAME} exists already and is not managed here, so it is left alone"));
    let resource = format!("http_gateway/{}", text(&bed.attribute("api_id")));
    run.failed_with(&format!("--tags fgw:resource={resource},fgw:object=domain"));
    assert_eq!(bed.domains(), theirs);

    // It is handed over as the message says, but still leads to somebody's API.
    let arn = format!("arn:aws:apigateway:us-east-1::/domainnames/{NAME}");
    let tags = json!({ "fgw:resource": resource, "fgw:object": "domain" });
    bed.proxy.account().boto("apigatewayv2", "tag_resource", json!({ "ResourceArn": arn, "Tags": tags }));
    let api = bed.foreign_api();
    let mapping = json!({ "ApiId": api, "Stage": "prod" });
    let mapping = text(&bed.domain_by_hand("create_api_mapping", mapping)["ApiMappingId"]);
    let run = bed.workspace.apply(&[]);
    run.failed_with(&format!("custom domain {NAME} leads to {api}/prod already"));
    run.failed_with(&format!("--api-mapping-id {mapping}"));
    assert_eq!(bed.domains()[0]["mappings"][0]["ApiId"], api);
    assert_eq!(bed.attribute("aws_objects")["domain"], NAME, "what was taken is in state");

    bed.domain_by_hand("delete_api_mapping", json!({ "ApiMappingId": mapping }));
    let before = bed.slots();
    bed.apply_config();
    assert_eq!(bed.told(&before), [format!("CreateApiMapping {NAME}")]);
    assert_eq!(bed.domains()[0]["tags"]["whose"], "theirs", "a foreign tag stays");

    // Another one of that name that somebody makes in the place of ours is theirs.
    let ours = bed.attribute("aws_objects")["api_mapping"].clone();
    bed.domain_by_hand("delete_api_mapping", json!({ "ApiMappingId": ours }));
    bed.domain_by_hand("delete_domain_name", json!({}));
    bed.foreign_domain(&certificate);
    assert_eq!(bed.drift()["domain"], format!("{NAME} is gone"));
    bed.workspace.apply(&[]).failed_with("exists already and is not managed here");
    bed.apply(&bed.without_domain());
    bed.destroy();
    assert_eq!(bed.domains().len(), 1, "theirs stays");
}

#[test]
fn a_certificate_that_is_not_there_yet_is_a_warning_at_plan_and_an_error_at_apply_unless_it_is_made_meanwhile() {
    let bed = TestEnv::new();
    bed.certificate("example.org");
    bed.apply(&bed.without_domain());
    bed.config(&with(&bed.with_domain(NAME), &json!({ "certificate_domain": "*.example.com" })));
    let said = "ACM has no certificate for \"*.example.com\" in us-east-1 that is issued and not expired";
    let plan = bed.workspace.plan(&[]);
    assert_eq!(plan.code, 2, "{plan}");
    assert!(plan.says("Warning") && plan.says(said), "{plan}");
    bed.proxy.clear_calls();
    bed.workspace.apply_plan().failed_with(said);
    assert!(bed.proxy.mutations().is_empty(), "{:?}", bed.proxy.mutations());
    assert_eq!(bed.call("GET", "/a", None).status, 200);

    // As a resource of the same run would: after the plan, before this resource is applied.
    assert_eq!(bed.workspace.plan(&[]).code, 2);
    let made = bed.certificate("*.example.com");
    let throttled = Fault::on("CreateDomainName").first(2);
    bed.proxy.fault(throttled.answer(429, "TooManyRequestsException", "Too Many Requests"));
    bed.workspace.apply_plan().succeeded();
    assert_eq!(bed.attribute("certificate_arn"), made);
    bed.workspace.assert_nothing_to_do();
    assert_eq!(bed.reach(NAME).status, 200);
    bed.destroy();
}

#[test]
fn a_domain_and_a_mapping_whose_answers_are_lost_are_made_once() {
    let bed = TestEnv::new();
    bed.certificate(NAME);
    for action in ["CreateDomainName", "CreateApiMapping"] {
        bed.proxy.fault(Fault::on(action).nth(1).after_work().reset());
    }
    bed.apply(&bed.with_domain(NAME));
    assert_eq!((bed.proxy.count("CreateDomainName"), bed.proxy.count("CreateApiMapping")), (1, 1));
    assert_eq!(bed.domains().len(), 1);
    assert_eq!(bed.reach(NAME).status, 200);

    // State is lost: everything is found again.
    let api = text(&bed.attribute("id"));
    let target = bed.attribute("domain_target")["domain_name"].clone();
    bed.workspace.forget(THIS);
    bed.workspace.import(THIS, &api).succeeded();
    let objects = bed.attribute("aws_objects");
    assert_eq!(objects["domain"], NAME, "{objects}");
    assert!(objects["api_mapping"].is_string(), "{objects}");
    assert_eq!(bed.attribute("domain_target")["domain_name"], target, "{objects}");
    bed.destroy();
    assert!(bed.domains().is_empty());
}

#[test]
fn a_destroy_after_somebody_has_deleted_the_api_takes_the_domain_along() {
    let bed = TestEnv::new();
    bed.certificate(NAME);
    bed.apply(&bed.with_domain(NAME));
    let api = json!({ "ApiId": bed.attribute("api_id") });
    bed.proxy.account().boto("apigatewayv2", "delete_api", api);
    // AWS may go on seeing the mapping too.
    assert_eq!(bed.domains()[0]["mappings"].as_array().map(Vec::len), Some(1));
    bed.destroy();
    assert!(bed.domains().is_empty());
}

#[test]
fn paths_that_others_have_mapped_are_told_by_the_plan_and_those_to_other_apis_keep_the_domain() {
    let bed = TestEnv::new();
    bed.certificate(NAME);
    bed.apply(&bed.with_domain(NAME));
    let (own, theirs) = (text(&bed.attribute("api_id")), bed.foreign_api());
    let map = |api: &str, stage: &str, path: &str| {
        let mapping = json!({ "ApiId": api, "Stage": stage, "ApiMappingKey": path });
        text(&bed.domain_by_hand("create_api_mapping", mapping)["ApiMappingId"])
    };
    let (to_own, to_theirs) = (map(&own, "$default", "v1"), map(&theirs, "prod", "theirs"));
    let assert_told = |plan: &crate::support::terraform::Run| {
        for line in [
            "AWS deletes these along with",
            &format!("API mapping {to_own} \"{NAME}/v1\" (to {own}/$default)"),
            "By these a custom domain leads to APIs of others",
            &format!("API mapping {to_theirs} \"{NAME}/theirs\" (to {theirs}/prod)"),
        ] {
            assert!(plan.says(line), "no {line:?} in {plan}");
        }
    };
    bed.config(&bed.without_domain());
    let plan = bed.workspace.plan(&[]);
    assert!(plan.says("Others may use a custom domain that the update of fgw_http_gateway \"shop\" deletes"), "{plan}");
    assert_told(&plan);

    bed.config(&bed.with_domain(NAME));
    assert_told(&bed.workspace.plan(&["-destroy"]));
    let refused = format!("custom domain {NAME} has API mappings that are not ours: {to_theirs} ({theirs}/prod)");
    bed.workspace.destroy().failed_with(&refused);
    assert_eq!(bed.proxy.account().list_of("apis").len(), 2, "the API stays with its domain");
    bed.domain_by_hand("delete_api_mapping", json!({ "ApiMappingId": to_theirs }));
    bed.destroy();
    assert!(bed.domains().is_empty());
    assert_eq!(bed.proxy.account().list_of("apis").len(), 1, "theirs stays");
}

#[test]
fn a_domain_that_a_killed_update_has_made_is_told_and_removed_or_finished() {
    let bed = TestEnv::with_terraform();
    bed.certificate("*.example.com");
    bed.apply(&bed.with_domain(NAME));
    let other = "www.example.com";
    let stray = format!("stray.{other}");
    let file = bed.workspace.path().join("terraform.tfstate");
    for (wanted, leaves) in [(NAME, other), (other, NAME)] {
        let before = std::fs::read(&file).expect("there is a state");
        bed.proxy.fault(Fault::on("DeleteApiMapping").first(9).answer(400, "BadRequestException", "not now"));
        bed.config(&bed.with_domain(other));
        bed.workspace.apply(&[]).failed_with("not now");
        bed.proxy.clear_faults();
        // A killed run writes no state.
        std::fs::write(&file, before).expect("the state can be written");
        assert_eq!(bed.domains().len(), 2);

        bed.config(&bed.with_domain(wanted));
        let drift = bed.drift();
        assert!(text(&drift[&stray]).contains("left by a run that was cut off"), "{drift}");
        let slots = bed.slots();
        bed.apply_config();
        assert_eq!(bed.told(&slots), [format!("DeleteApiMapping {leaves}"), format!("DeleteDomainName {leaves}")]);
        assert_eq!((bed.reach(wanted).status, bed.reach(leaves).status), (200, 404));
    }
    bed.destroy();
    assert!(bed.domains().is_empty());
}
