//! Custom domains: their certificate, their API mapping, drift, and unmanaged domains and mappings.

use serde_json::{Value, json};

use super::{THIS, TestEnv, text, with};
use crate::support::deployments;
use crate::support::http::{Answer, Request};
use crate::support::proxy::fault::Fault;
use crate::support::terraform::Workspace;
use crate::support::wait::until;

const NAME: &str = "api.example.com";

impl TestEnv {
    /// Requests a certificate, which the emulator issues at once, and returns its ARN. It is issued in a later second
    /// than all others, because the provider chooses the latest one for a domain, and AWS's times are whole seconds.
    pub(super) fn certificate(&self, domain: &str) -> String {
        let acm = |method: &str, arguments: Value| self.proxy.account().boto("acm", method, arguments);
        let issued = |arn: &str| {
            let detail = &acm("describe_certificate", json!({ "CertificateArn": arn }))["Certificate"];
            text(&detail["NotBefore"])[.."2026-01-01 00:00:00".len()].to_owned()
        };
        let others = acm("list_certificates", json!({}))["CertificateSummaryList"].clone();
        let others = others.as_array().expect("a list").iter().map(|it| issued(&text(&it["CertificateArn"])));
        let latest = others.max().unwrap_or_default();
        let mut created = String::new();
        until("the certificate is the latest", || {
            created = text(&acm("request_certificate", json!({ "DomainName": domain }))["CertificateArn"]);
            let is_latest = issued(&created) > latest;
            if !is_latest {
                acm("delete_certificate", json!({ "CertificateArn": created }));
            }
            is_latest
        });
        created
    }

    /// A gateway with one route and this domain.
    pub(super) fn with_domain(&self, name: &str) -> Value {
        json!({ "route_config": { "GET /a": self.to("orders") }, "domain_name": name })
    }

    fn without_domain(&self) -> Value {
        json!({ "route_config": { "GET /a": self.to("orders") } })
    }

    /// Sends a request to a custom domain.
    pub(super) fn reach(&self, domain: &str) -> Answer {
        let account = self.proxy.account();
        let credential =
            format!("AWS4-HMAC-SHA256 Credential={}/20260101/us-east-1/execute-api/aws4_request", account.id);
        Request::new(account.emulator.port, "GET", "/a")
            .header("host", domain)
            .header("authorization", &credential)
            .send()
            .expect("the emulator answers")
    }

    /// The custom domains of the account, as boto3 shows them.
    fn domains(&self) -> Vec<Value> {
        self.proxy.account().list_of("domain_names")
    }

    /// An API Gateway call about the domain outside Terraform.
    fn domain_call(&self, method: &str, more: Value) -> Value {
        self.proxy.account().boto("apigatewayv2", method, with(&json!({ "DomainName": NAME }), &more))
    }

    /// Creates the domain outside Terraform.
    fn unmanaged_domain(&self, certificate: &str) {
        let configuration = json!({ "CertificateArn": certificate, "EndpointType": "REGIONAL" });
        let more = json!({ "DomainNameConfigurations": [configuration], "Tags": { "whose": "theirs" } });
        self.domain_call("create_domain_name", more);
    }

    /// Creates an API with a stage `prod` outside Terraform, and returns its id.
    fn unmanaged_api(&self) -> String {
        let account = self.proxy.account();
        let api = json!({ "Name": "theirs", "ProtocolType": "HTTP" });
        let api = text(&account.boto("apigatewayv2", "create_api", api)["ApiId"]);
        account.boto("apigatewayv2", "create_stage", json!({ "ApiId": api, "StageName": "prod" }));
        api
    }
}

#[test]
fn a_disabled_endpoint_leaves_the_domain_only() {
    let env = TestEnv::new();
    let certificate = env.certificate("*.example.com");
    let disabled = with(&env.with_domain(NAME), &json!({ "disable_execute_api_endpoint": true }));
    env.apply(&env.without_domain());
    let endpoint = env.attribute("api_endpoint");
    let served = || (env.reach(NAME).status, env.send("GET", "/a", None).status);

    let calls = env.change(&disabled);
    assert_eq!(calls, [format!("CreateDomainName {NAME}"), format!("CreateApiMapping {NAME}"), "UpdateApi".to_owned()]);
    assert_domain(&env, &certificate);
    let url = format!("https://{NAME}");
    assert_eq!((env.attribute("invoke_url"), env.attribute("api_endpoint")), (json!(url), endpoint.clone()));
    deployments::wait(env.proxy.account());
    assert_eq!(served(), (200, 404));

    // Someone enables it again, which is drift.
    env.api_call("update_api", json!({ "DisableExecuteApiEndpoint": false }));
    assert_eq!(env.drift(), json!({ "api": "disable_endpoint is false instead of true" }));
    env.apply_config();
    deployments::wait(env.proxy.account());
    assert_eq!(served(), (200, 404));
    env.workspace.reimport(THIS);
    assert_eq!(env.attribute("disable_execute_api_endpoint"), true);
    env.workspace.assert_nothing_to_do();

    env.config(&env.without_domain());
    let plan = env.workspace.plan(&[]);
    assert!(plan.says(&format!("clients can reach it at {}", text(&endpoint))), "{plan}");
    let calls = env.change(&env.without_domain());
    assert_eq!(calls[0], "UpdateApi", "{calls:?}");
    assert_eq!(env.send("GET", "/a", None).status, 200);
    assert_eq!(env.attribute("invoke_url"), endpoint);
    env.destroy();
}

#[test]
fn a_domain_changes_its_certificate_and_name_while_serving() {
    let env = TestEnv::new();
    env.apply(&env.without_domain());
    let endpoint = env.attribute("api_endpoint");
    let client = env.load_client(("GET /a", "orders /a"), &[]);
    let first = env.certificate("*.example.com");

    env.config(&env.with_domain(NAME));
    let plan = env.workspace.plan_json(&[]);
    let change = &plan["resource_changes"][0]["change"];
    assert_eq!(change["after"]["certificate_arn"], first, "the plan chooses it");
    assert_eq!(change["after"]["invoke_url"], format!("https://{NAME}"));
    assert_eq!(change["after_unknown"]["domain_target"], true, "only AWS returns it");
    assert_eq!(change["after_unknown"]["aws_objects"]["domain"], true, "the plan shows the new object");
    let calls = env.change(&env.with_domain(NAME));
    assert_eq!(calls, [format!("CreateDomainName {NAME}"), format!("CreateApiMapping {NAME}")]);
    assert_domain(&env, &first);
    assert_eq!((env.attribute("api_endpoint"), env.send("GET", "/a", None).status), (endpoint, 200));

    // A rotation: ACM does not delete the old certificate before the domain uses the new one.
    let delete = |arn: &str| env.proxy.try_boto("acm", "delete_certificate", json!({ "CertificateArn": arn }));
    let second = env.certificate(NAME);
    let rejection = delete(&first).expect_err("the domain uses it");
    assert_eq!(rejection.code, "ResourceInUseException", "{rejection:?}");
    let plan = env.workspace.plan_json(&[]);
    let change = &plan["resource_changes"][0]["change"];
    assert_eq!(change["actions"], json!(["update"]));
    assert_eq!(
        (&change["before"]["certificate_arn"], &change["after"]["certificate_arn"]),
        (&json!(first), &json!(second))
    );
    assert_eq!(change["before"]["aws_objects"], change["after"]["aws_objects"], "in place");
    assert_eq!(env.change(&env.with_domain(NAME)), [format!("UpdateDomainName {NAME}")]);
    assert_domain(&env, &second);
    delete(&first).expect("nothing uses it");
    env.workspace.assert_nothing_to_do();

    // The certificate is given by `certificate_arn`.
    let pinned = |arn: &str| with(&env.with_domain(NAME), &json!({ "certificate_arn": arn }));
    let wildcard = env.certificate("*.example.com");
    env.config(&pinned(&second));
    env.proxy.clear_calls();
    env.workspace.assert_nothing_to_do();
    assert_eq!(env.proxy.count("ListCertificates"), 0, "no lookup is needed");

    // The certificate is chosen by `certificate_domain`.
    let by_wildcard = with(&env.with_domain(NAME), &json!({ "certificate_domain": "*.example.com" }));
    assert_eq!(env.change(&by_wildcard), [format!("UpdateDomainName {NAME}")]);
    assert_domain(&env, &wildcard);

    assert_eq!(env.change(&pinned(&second)), [format!("UpdateDomainName {NAME}")]);
    assert_domain(&env, &second);

    let third = env.certificate("www.example.com");
    let calls = env.change(&env.with_domain("www.example.com"));
    let expected = ["CreateDomainName www", "CreateApiMapping www", "DeleteApiMapping api", "DeleteDomainName api"];
    assert_eq!(calls, expected.map(|call| format!("{call}.example.com")), "the new domain is created first");
    assert_eq!(env.attribute("certificate_arn"), third);
    assert_eq!((env.reach("www.example.com").status, env.reach(NAME).status), (200, 404));

    let calls = env.change(&env.without_domain());
    assert_eq!(calls, ["DeleteApiMapping www.example.com", "DeleteDomainName www.example.com"]);
    for output in ["certificate_arn", "domain_target", "dns_record_fqdn"] {
        assert_eq!(env.attribute(output), Value::Null, "{output}");
    }
    assert_eq!(env.attribute("invoke_url"), env.attribute("api_endpoint"));
    assert!(env.domains().is_empty());
    client.saw_no_error();
    env.apply(&env.with_domain("www.example.com"));
    env.destroy();
    assert!(env.domains().is_empty());
}

/// Compares the domain in AWS with the outputs, and sends a request to it.
fn assert_domain(env: &TestEnv, certificate: &str) {
    let domains = env.domains();
    let [domain] = &domains[..] else { panic!("there is not exactly one domain: {domains:?}") };
    assert_eq!(domain["DomainName"], NAME);
    let configuration = &domain["DomainNameConfigurations"][0];
    for (member, expected) in
        [("CertificateArn", certificate), ("EndpointType", "REGIONAL"), ("SecurityPolicy", "TLS_1_2")]
    {
        assert_eq!(configuration[member], expected, "{member}");
    }
    let api = env.attribute("api_id");
    let tags = json!({ "fgw:resource": format!("http_gateway/{}", text(&api)), "fgw:object": "domain" });
    let mut shown = domain["tags"].clone();
    shown.as_object_mut().expect("tags").remove("fgw:request").expect("the tag of the request");
    assert_eq!(shown, tags);
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
        assert_eq!(env.attribute(output), expected, "{output}");
    }
    let objects = env.attribute("aws_objects");
    assert_eq!((&objects["domain"], &objects["api_mapping"]), (&json!(NAME), &mapping["ApiMappingId"]));
    let answer = env.reach(NAME);
    assert_eq!((answer.status, answer.body.as_str()), (200, "orders /a"));
}

#[test]
fn drift_of_a_domain_is_fixed_and_unmanaged_parts_stay() {
    let mut env = TestEnv::new();
    env.workspace =
        Workspace::with_provider(&env.proxy, "default_tags {\n  tags = { team = \"web\", level = \"live\" }\n}");
    let certificate = env.certificate("*.example.com");
    env.apply(&env.with_domain(NAME));
    let arn = format!("arn:aws:apigateway:us-east-1::/domainnames/{NAME}");
    let account = env.proxy.account();
    let mapping = |env: &TestEnv| env.attribute("aws_objects")["api_mapping"].clone();

    // Tags, the security policy, and the target of the mapping. The mapping of a path to another API is unmanaged.
    let theirs = env.unmanaged_api();
    account.boto(
        "apigatewayv2",
        "tag_resource",
        json!({ "ResourceArn": arn, "Tags": { "theirs": "x", "level": "test" } }),
    );
    account.boto("apigatewayv2", "untag_resource", json!({ "ResourceArn": arn, "TagKeys": ["team"] }));
    let weak = json!({ "CertificateArn": certificate, "EndpointType": "REGIONAL", "SecurityPolicy": "TLS_1_0" });
    env.domain_call("update_domain_name", json!({ "DomainNameConfigurations": [weak] }));
    let elsewhere = json!({ "ApiMappingId": mapping(&env), "ApiId": theirs, "Stage": "prod" });
    env.domain_call("update_api_mapping", elsewhere);
    let path = json!({ "ApiId": theirs, "Stage": "prod", "ApiMappingKey": "theirs" });
    let path = env.domain_call("create_api_mapping", path)["ApiMappingId"].clone();
    let drift = env.drift();
    assert_eq!(drift["api_mapping"], format!("stage is {theirs}/prod instead of stage"), "{drift}");
    let message = "security_policy is TLS_1_0 instead of TLS_1_2; tag level has another value; tag team is missing";
    assert_eq!(drift["domain"], message, "{drift}");
    assert_eq!(drift.as_object().map(serde_json::Map::len), Some(2), "{drift}");
    let before = env.slots();
    env.apply_config();
    let expected =
        [format!("UpdateDomainName {NAME}"), "TagResource domain".into(), format!("UpdateApiMapping {NAME}")];
    assert_eq!(env.calls(&before), expected);
    assert_eq!(env.reach(NAME).status, 200);
    let domain = env.domains().remove(0);
    assert_eq!((&domain["tags"]["theirs"], &domain["tags"]["team"]), (&json!("x"), &json!("web")));
    assert_eq!(domain["mappings"].as_array().map(Vec::len), Some(2), "the unmanaged mapping stays");

    // The mapping is deleted.
    env.domain_call("delete_api_mapping", json!({ "ApiMappingId": mapping(&env) }));
    assert_eq!(env.drift(), json!({ "api_mapping": format!("{} is missing", text(&mapping(&env))) }));
    let before = env.slots();
    env.apply_config();
    assert_eq!(env.calls(&before), [format!("CreateApiMapping {NAME}")]);

    // A domain with an unmanaged mapping is not deleted.
    env.config(&env.without_domain());
    let calls = env.proxy.mutations().len();
    env.workspace.apply(&[]).failed_with("custom domain in use").failed_with(&text(&path));
    assert_eq!(env.proxy.mutations().len(), calls, "nothing is changed");
    env.domain_call("delete_api_mapping", json!({ "ApiMappingId": path }));
    env.apply(&env.with_domain(NAME));

    // The mapping and the domain are deleted.
    let target = env.attribute("domain_target");
    env.domain_call("delete_api_mapping", json!({ "ApiMappingId": mapping(&env) }));
    env.domain_call("delete_domain_name", json!({}));
    let drift = env.drift();
    assert_eq!(drift["domain"], format!("{NAME} is missing"), "{drift}");
    let before = env.slots();
    env.apply_config();
    assert_eq!(env.calls(&before), [format!("CreateDomainName {NAME}"), format!("CreateApiMapping {NAME}")]);
    assert_ne!(env.attribute("domain_target"), target, "the new domain has another target");
    assert_eq!(env.reach(NAME).status, 200);
    env.destroy();
    account.boto("apigatewayv2", "get_api", json!({ "ApiId": theirs }));
}

#[test]
fn an_unmanaged_domain_is_adopted_only_with_ownership_tags() {
    let env = TestEnv::new();
    let certificate = env.certificate("*.example.com");
    env.apply(&env.without_domain());
    env.unmanaged_domain(&certificate);
    let theirs = env.domains();
    env.config(&env.with_domain(NAME));
    env.proxy.clear_calls();
    let run = env.workspace.apply(&[]);
    run.failed_with(&format!("The custom domain {NAME:?} exists already and is not managed by this resource"));
    assert!(env.proxy.mutations().is_empty(), "the plan sees it");
    let resource = format!("http_gateway/{}", text(&env.attribute("api_id")));
    run.failed_with(&format!("delete-domain-name --domain-name {NAME}"));
    assert_eq!(env.domains(), theirs);

    // A domain with the tags of this gateway is taken for one of an interrupted run, unless another API uses it.
    let arn = format!("arn:aws:apigateway:us-east-1::/domainnames/{NAME}");
    let tags = json!({ "fgw:resource": resource, "fgw:object": "domain" });
    env.proxy.account().boto("apigatewayv2", "tag_resource", json!({ "ResourceArn": arn, "Tags": tags }));
    let api = env.unmanaged_api();
    let mapping = json!({ "ApiId": api, "Stage": "prod" });
    let mapping = text(&env.domain_call("create_api_mapping", mapping)["ApiMappingId"]);
    let before = env.domains();
    let run = env.workspace.apply(&[]);
    run.failed_with(&format!("custom domain {NAME} already exists and is not managed by this resource"));
    assert_eq!(env.domains(), before);
    let reason = text(&env.attribute("unmanaged_objects")[NAME]);
    assert!(reason.contains(&format!("it has a mapping to the API {api}")), "{reason}");

    env.domain_call("delete_api_mapping", json!({ "ApiMappingId": mapping }));
    let before = env.slots();
    env.apply_config();
    assert_eq!(env.calls(&before), [format!("CreateApiMapping {NAME}")]);
    assert_eq!(env.domains()[0]["tags"]["whose"], "theirs", "an unmanaged tag stays");

    // A domain that was deleted and created again outside Terraform is unmanaged.
    let ours = env.attribute("aws_objects")["api_mapping"].clone();
    env.domain_call("delete_api_mapping", json!({ "ApiMappingId": ours }));
    env.domain_call("delete_domain_name", json!({}));
    env.unmanaged_domain(&certificate);
    assert_eq!(env.drift()["domain"], format!("{NAME} is missing"));
    env.workspace.apply(&[]).failed_with("already exists and is not managed by this resource");
    env.apply(&env.without_domain());
    env.destroy();
    assert_eq!(env.domains().len(), 1, "the unmanaged one stays");
}

#[test]
fn a_missing_certificate_warns_at_plan_and_fails_at_apply() {
    let env = TestEnv::new();
    env.certificate("example.org");
    env.apply(&env.without_domain());
    env.config(&with(&env.with_domain(NAME), &json!({ "certificate_domain": "*.example.com" })));
    let message = "ACM has no certificate for \"*.example.com\" in us-east-1 that is issued and not expired";
    let plan = env.workspace.plan(&[]);
    assert_eq!(plan.code, 2, "{plan}");
    assert!(plan.says("Warning") && plan.says(message), "{plan}");
    env.proxy.clear_calls();
    env.workspace.apply_plan().failed_with(message);
    assert!(env.proxy.mutations().is_empty(), "{:?}", env.proxy.mutations());
    assert_eq!(env.send("GET", "/a", None).status, 200);

    // The certificate is created between the plan and the apply, as by another resource of the same run.
    assert_eq!(env.workspace.plan(&[]).code, 2);
    let created = env.certificate("*.example.com");
    let throttled = Fault::on("CreateDomainName").first(2);
    env.proxy.fault(throttled.answer(429, "TooManyRequestsException", "Too Many Requests"));
    env.workspace.apply_plan().succeeded();
    assert_eq!(env.attribute("certificate_arn"), created);
    env.workspace.assert_nothing_to_do();
    assert_eq!(env.reach(NAME).status, 200);
    env.end();
}

#[test]
fn lost_answers_create_no_second_domain_or_mapping() {
    let env = TestEnv::new();
    env.certificate(NAME);
    for action in ["CreateDomainName", "CreateApiMapping"] {
        env.proxy.fault(Fault::on(action).nth(1).after_work().reset());
    }
    env.apply(&env.with_domain(NAME));
    assert_eq!((env.proxy.count("CreateDomainName"), env.proxy.count("CreateApiMapping")), (1, 1));
    assert_eq!(env.domains().len(), 1);
    assert_eq!(env.reach(NAME).status, 200);

    // The import finds the domain and its mapping.
    let api = text(&env.attribute("id"));
    let target = env.attribute("domain_target")["domain_name"].clone();
    env.workspace.forget(THIS);
    env.workspace.import(THIS, &api).succeeded();
    let objects = env.attribute("aws_objects");
    assert_eq!(objects["domain"], NAME, "{objects}");
    assert!(objects["api_mapping"].is_string(), "{objects}");
    assert_eq!(env.attribute("domain_target")["domain_name"], target, "{objects}");
    env.destroy();
    assert!(env.domains().is_empty());
}

#[test]
fn a_destroy_deletes_the_domain_after_the_api_was_deleted() {
    let env = TestEnv::new();
    env.certificate(NAME);
    env.apply(&env.with_domain(NAME));
    let api = json!({ "ApiId": env.attribute("api_id") });
    env.proxy.account().boto("apigatewayv2", "delete_api", api);
    // The mapping still exists, as it may in AWS.
    assert_eq!(env.domains()[0]["mappings"].as_array().map(Vec::len), Some(1));
    env.destroy();
    assert!(env.domains().is_empty());
}

#[test]
fn the_plan_names_unmanaged_mappings_of_a_deleted_domain() {
    let env = TestEnv::new();
    env.certificate(NAME);
    let config = with(&env.with_domain(NAME), &json!({ "timeouts": { "delete": "1s" } }));
    env.apply(&config);
    let (own, theirs) = (text(&env.attribute("api_id")), env.unmanaged_api());
    let map = |api: &str, stage: &str, path: &str| {
        let mapping = json!({ "ApiId": api, "Stage": stage, "ApiMappingKey": path });
        text(&env.domain_call("create_api_mapping", mapping)["ApiMappingId"])
    };
    let (to_own, to_theirs) = (map(&own, "$default", "v1"), map(&theirs, "prod", "theirs"));
    let blocking = format!("API mapping {to_theirs} \"{NAME}/theirs\" (to {theirs}/prod)");
    env.config(&env.without_domain());
    env.workspace.plan(&[]).failed_with("custom domain in use").failed_with(&blocking);

    env.config(&config);
    let assert_named = |plan: &crate::support::terraform::Run| {
        for line in [
            "AWS deletes these unmanaged objects together with",
            &format!("API mapping {to_own} \"{NAME}/v1\" (to {own}/$default)"),
            &format!("These API mappings point a custom domain of {own} at other APIs"),
            &blocking,
        ] {
            assert!(plan.says(line), "no {line:?} in {plan}");
        }
    };
    assert_named(&env.workspace.plan(&["-destroy"]));
    env.workspace.destroy().failed_with(&blocking);
    assert_eq!(env.proxy.account().list_of("apis").len(), 2, "nothing is deleted");
    env.domain_call("delete_api_mapping", json!({ "ApiMappingId": to_theirs }));
    env.config(&env.without_domain());
    let plan = env.workspace.plan(&[]);
    assert!(plan.says("Updating fgw_http_gateway \"shop\" deletes a custom domain that may be in use"), "{plan}");
    assert!(plan.says(&format!("API mapping {to_own} \"{NAME}/v1\" (to {own}/$default)")), "{plan}");
    env.destroy();
    assert!(env.domains().is_empty());
    assert_eq!(env.proxy.account().list_of("apis").len(), 1, "the unmanaged one stays");
}

#[test]
fn a_domain_left_by_a_killed_update_is_taken_over_if_required() {
    let env = TestEnv::with_terraform();
    env.certificate("*.example.com");
    env.apply(&env.with_domain(NAME));
    let other = "www.example.com";
    let file = env.workspace.path().join("terraform.tfstate");
    for wanted in [NAME, other] {
        let before = std::fs::read(&file).expect("there is a state");
        env.proxy.fault(Fault::on("DeleteApiMapping").first(9).answer(400, "BadRequestException", "not now"));
        env.config(&env.with_domain(other));
        env.workspace.apply(&[]).failed_with("not now");
        env.proxy.clear_faults();
        // Restore the state from before the apply, because a killed run writes none.
        std::fs::write(&file, before).expect("the state can be written");
        assert_eq!(env.domains().len(), 2);

        env.config(&env.with_domain(wanted));
        env.workspace.apply(&["-refresh-only"]).succeeded();
        let reason = text(&env.attribute("unmanaged_objects")[other]);
        assert!(reason.starts_with("domain, not in state"), "{reason}");
        let slots = env.slots();
        env.apply_config();
        let expected = match wanted == NAME {
            true => vec![],
            false => vec![format!("DeleteApiMapping {NAME}"), format!("DeleteDomainName {NAME}")],
        };
        assert_eq!(env.calls(&slots), expected);
        assert_eq!(env.reach(wanted).status, 200);
    }
    env.destroy();
    assert!(env.domains().is_empty());
}
