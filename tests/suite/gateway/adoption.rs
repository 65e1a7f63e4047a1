//! Adoption of APIs that something else built: an import is not ownership, and an adoption adds nothing but tags and
//! Lambda permissions.

use serde_json::{Value, json};

use super::{THIS, TestEnv, text};
use crate::support::adoption::{generate, without_adopt};
use crate::support::authority::Authority;
use crate::support::foreign::api::ForeignApi;
use crate::support::issuer::issuers;
use crate::support::proxy::TrustStore;

/// The actions of the changing calls, with their number.
pub(super) fn changes(env: &TestEnv) -> Vec<String> {
    env.proxy.mutation_counts().iter().map(|(action, count)| format!("{action} {count}")).collect()
}

/// Adopts the API with the configuration that Terraform generates, and asserts which calls that takes.
pub(super) fn adopt(env: &TestEnv, id: &str, calls: &[&str]) {
    env.proxy.clear_calls();
    let generated = generate(&env.workspace, THIS, id, "");
    assert_eq!(changes(env), [""; 0], "looking changes nothing");
    env.workspace.apply(&[]).succeeded();
    assert_eq!(changes(env), calls);
    assert_eq!(env.attribute("drift"), json!({}));
    env.workspace.assert_nothing_to_do();
    env.workspace.config("");
    env.workspace.write("generated.tf", &without_adopt(&generated));
    env.workspace.assert_nothing_to_do();
}

#[test]
fn an_api_with_all_kinds_of_objects_is_adopted() {
    let env = TestEnv::with_terraform();
    let account = env.proxy.account();
    let api = ForeignApi::new(&env.proxy, "HTTP");
    let authorizer = api.authorizer("customers");
    let guarded = json!({ "AuthorizationType": "CUSTOM", "AuthorizerId": authorizer });
    let jwt = json!({ "Name": "people", "AuthorizerType": "JWT", "IdentitySource": ["$request.header.x-token"],
        "JwtConfiguration": { "Issuer": issuers().url("one"), "Audience": ["shop"] } });
    let scoped = json!({ "AuthorizationType": "JWT", "AuthorizationScopes": ["read"],
        "AuthorizerId": api.create("authorizer", jwt)["AuthorizerId"] });
    let routes = [
        ("route.GET /orders", api.route("GET /orders", "orders", &json!({}))),
        ("route.POST /orders", api.route("POST /orders", "orders", &guarded)),
        ("route.ANY /users/{proxy+}", api.route("ANY /users/{proxy+}", "users", &json!({}))),
        ("route.GET /admin", api.route("GET /admin", "users", &json!({ "AuthorizationType": "AWS_IAM" }))),
        ("route.GET /token", api.route("GET /token", "users", &scoped)),
    ];
    let other = api.route("GET /other", "users", &json!({ "AuthorizationType": "COGNITO_USER_POOLS" }));
    let group = api.log_group("/legacy/access", "keeper");
    // Terraform generates jsonencode(), which writes this without spaces and in another order.
    let format = "{ \"status\": \"$context.status\", \"id\": \"$context.requestId\" }";
    let logs = json!({ "DestinationArn": group, "Format": format });
    let limits = |rate: f64| json!({ "ThrottlingRateLimit": rate, "ThrottlingBurstLimit": 50 });
    let settings = json!({ "GET /orders": limits(10.0), "ANY /users/{proxy+}": limits(0.0) });
    api.create(
        "stage",
        json!({ "StageName": "$default", "AutoDeploy": true, "AccessLogSettings": logs,
        "DefaultRouteSettings": limits(100.0), "RouteSettings": settings }),
    );
    api.create("stage", json!({ "StageName": "test" }));
    api.domain();

    // Tags for the API, the stage, the domain and the log group. Permissions for two functions of routes, the
    // authorizer and the subscription.
    adopt(&env, &api.id, &["AddPermission 4", "TagResource 4"]);
    let objects = env.attribute("aws_objects");
    for (key, id) in &routes {
        assert_eq!(objects[key], json!(id), "{objects}");
    }
    for key in [
        "authorizer.customers",
        "authorizer.people",
        "stage",
        "log_group",
        "log_subscription",
        "domain",
        "api_mapping",
        "dns_record",
    ] {
        assert!(objects[key].is_string(), "{key}: {objects}");
    }
    let integrations = objects.as_object().expect("a map").keys().filter(|key| key.starts_with("integration."));
    assert_eq!(integrations.count(), 5, "one for each route, as they were: {objects}");
    assert_eq!(env.attribute("access_log_logservice_group_retention_in_days"), json!(14));
    assert_eq!(env.attribute("custom_access_log_format"), json!(format));
    let stage = account.boto("apigatewayv2", "get_stage", json!({ "ApiId": api.id, "StageName": "$default" }));
    assert_eq!(stage["AccessLogSettings"]["Format"], json!(format));
    assert_eq!((&stage["DefaultRouteSettings"], &stage["RouteSettings"]), (&limits(100.0), &settings));
    assert_eq!(env.attribute("default_route_settings")["throttling_rate_limit"], json!(100));
    let throttled = env.attribute("route_config");
    assert_eq!(throttled["GET /orders"]["throttling_rate_limit"], json!(10));
    assert_eq!(throttled["ANY /users/{proxy+}"]["throttling_rate_limit"], json!(null), "no input expresses 0");
    assert_eq!(env.send("GET", "/orders", None).body, "orders /orders");
    let routes = account.boto("apigatewayv2", "get_routes", json!({ "ApiId": api.id })).to_string();
    assert!(routes.contains(&other), "a route that no input expresses stays: {routes}");
    assert_eq!(env.send("GET", "/admin", None).status, 403);
    assert_eq!(env.send("GET", "/token", None).status, 401);
    // An update of these routes sends their authorization as it was found.
    let generated = std::fs::read_to_string(env.workspace.path().join("generated.tf")).expect("it was written");
    env.workspace.write("generated.tf", &generated.replace(":function:users", ":function:orders"));
    env.workspace.apply(&[]).succeeded();
    let routes = account.boto("apigatewayv2", "get_routes", json!({ "ApiId": api.id }));
    let of = |key: &str| routes["Items"].as_array().expect("a list").iter().find(|it| it["RouteKey"] == key).cloned();
    assert_eq!(of("GET /admin").expect("it exists")["AuthorizationType"], "AWS_IAM");
    let token = of("GET /token").expect("it exists");
    assert_eq!((&token["AuthorizationType"], &token["AuthorizationScopes"]), (&json!("JWT"), &json!(["read"])));
    env.workspace.destroy().succeeded();
    api.remove_permissions();
    env.proxy.account().assert_nothing_of_ours_is_left();
}

#[test]
fn an_adoption_of_an_api_whose_state_was_not_saved_is_repeated() {
    let env = TestEnv::with_terraform();
    let api = ForeignApi::new(&env.proxy, "HTTP");
    api.route("GET /a", "orders", &json!({}));
    api.create("stage", json!({ "StageName": "$default", "AutoDeploy": true }));
    env.workspace.config("resource \"fgw_http_gateway\" \"this\" {}\n");
    env.workspace.import(THIS, &api.id).succeeded();
    env.workspace.config(&env.workspace.generated_text());
    env.workspace.apply_without_saving();
    env.workspace.apply(&[]).succeeded();
    assert_eq!(env.attribute("aws_objects")["api"], json!(api.id));
    env.workspace.assert_nothing_to_do();
    env.workspace.destroy().succeeded();
    api.remove_permissions();
    env.proxy.account().assert_nothing_of_ours_is_left();
}

#[test]
fn an_adoption_of_an_api_is_refused_without_consent() {
    let env = TestEnv::with_terraform();
    let api = ForeignApi::new(&env.proxy, "HTTP");
    let kept = api.route("GET /a", "orders", &json!({}));
    let left = api.route("GET /b", "users", &json!({}));
    api.create("stage", json!({ "StageName": "$default", "AutoDeploy": true }));
    let to = |function: &str| json!({ "faas_function_arn": env.arn(function), "payload_format_version": "2.0" });
    let config = |routes: Value, adopt: Value| {
        env.config(
            &json!({ "name": "legacy", "api_tags": { "Owner": "web" }, "route_config": routes, "adopt": adopt }),
        );
    };
    let all = json!({ "GET /a": to("orders"), "GET /b": to("users") });
    config(all.clone(), json!({}));
    env.workspace.import(THIS, &api.id).succeeded();
    assert_eq!(env.attribute("aws_objects"), json!({}));
    env.proxy.clear_calls();

    env.workspace.plan(&[]).failed_with("Objects are not named in adopt");
    let consent = json!({ "api": api.id, "stage": "$default" });
    config(all.clone(), json!({ "api": "abcdef", "stage": "$default" }));
    env.workspace.plan(&[]).failed_with(&format!("Use \"api\" = \"{}\"", api.id));
    config(json!({ "GET /a": to("users") }), consent.clone());
    let plan = env.workspace.plan(&[]);
    plan.failed_with("An adoption changes nothing but tags");
    plan.failed_with("route_config[\"GET /a\"] = ");
    config(json!({ "GET /a": to("orders"), "GET /c": to("orders") }), consent.clone());
    let plan = env.workspace.plan(&[]);
    plan.failed_with("route.GET /c would be created");
    plan.failed_with("no route_config[\"GET /c\"]");
    config(all, consent.clone());
    assert!(env.workspace.destroy().says("nothing is deleted"));
    assert_eq!(changes(&env), [""; 0]);

    // A route that the configuration does not list stays unmanaged, and keeps serving.
    env.workspace.import(THIS, &api.id).succeeded();
    config(json!({ "GET /a": to("orders") }), consent);
    env.workspace.apply(&[]).succeeded();
    assert_eq!(changes(&env), ["AddPermission 1", "TagResource 2"]);
    let objects = env.attribute("aws_objects");
    assert_eq!(objects["route.GET /a"], json!(kept));
    assert!(!objects.to_string().contains(&left), "{objects}");
    env.workspace.assert_nothing_to_do();
    assert_eq!(env.send("GET", "/b", None).body, "users /b");
    env.workspace.destroy().succeeded();
    api.remove_permissions();
    env.proxy.account().assert_nothing_of_ours_is_left();
}

#[test]
fn an_api_without_a_stage_to_adopt_is_rejected() {
    let env = TestEnv::with_terraform();
    env.config(&json!({ "route_config": {} }));
    let rejected = |api: &ForeignApi, reason: &str| {
        let import = env.workspace.import(THIS, &api.id);
        import.failed_with(&format!("Could not import fgw_http_gateway {}: it cannot be adopted", api.id));
        import.failed_with(reason);
    };
    rejected(&ForeignApi::new(&env.proxy, "WEBSOCKET"), "its protocol is WEBSOCKET");
    let api = ForeignApi::new(&env.proxy, "HTTP");
    rejected(&api, "it has no stage");
    api.create("stage", json!({ "StageName": "$default", "AutoDeploy": false }));
    rejected(&api, "its stage $default does not deploy changes automatically");
}

#[test]
fn the_import_id_chooses_one_of_several_stages() {
    let env = TestEnv::with_terraform();
    let api = ForeignApi::new(&env.proxy, "HTTP");
    api.route("GET /a", "orders", &json!({}));
    for stage in ["blue", "green"] {
        api.create("stage", json!({ "StageName": stage, "AutoDeploy": true }));
    }
    env.workspace.config("resource \"fgw_http_gateway\" \"this\" {}\n");
    let import = env.workspace.import(THIS, &api.id);
    import.failed_with("none of which is $default");
    import.failed_with(&format!("{0}/blue and {0}/green", api.id));
    env.workspace.import(THIS, &format!("{}/red", api.id)).failed_with("it cannot be adopted");
    adopt(&env, &format!("{}/green", api.id), &["AddPermission 1", "TagResource 2"]);
    assert_eq!((env.attribute("stage_name"), env.attribute("id")), (json!("green"), json!(api.id)));
    let unmanaged = env.attribute("unmanaged_objects").to_string();
    assert!(unmanaged.contains("blue") && unmanaged.contains("further stage"), "{unmanaged}");
    env.workspace.destroy().succeeded();
    api.remove_permissions();
    env.proxy.account().assert_nothing_of_ours_is_left();
}

#[test]
fn an_adopted_domain_keeps_ip_addresses_of_its_own() {
    let env = TestEnv::with_terraform();
    let api = ForeignApi::new(&env.proxy, "HTTP");
    api.route("GET /a", "orders", &json!({}));
    api.create("stage", json!({ "StageName": "$default", "AutoDeploy": true }));
    api.domain();
    let account = env.proxy.account();
    let domain = || account.list_of("domain_names")[0].clone();
    let certificate = &domain()["DomainNameConfigurations"][0]["CertificateArn"];
    let sent = json!({ "CertificateArn": certificate, "EndpointType": "REGIONAL", "SecurityPolicy": "TLS_1_2",
        "IpAddressType": "dualstack" });
    let update = json!({ "DomainName": "api.example.com", "DomainNameConfigurations": [sent] });
    account.boto("apigatewayv2", "update_domain_name", update);
    // The adoption does not create the absent record of type AAAA, and leaves that of type A.
    adopt(&env, &api.id, &["AddPermission 1", "TagResource 3"]);
    let addresses = (env.attribute("ip_address_type"), env.attribute("domain_ip_address_type"));
    assert_eq!(addresses, ("ipv4".into(), "dualstack".into()));
    assert_eq!(env.attribute("create_dns_entry"), json!(false));
    assert_eq!(domain()["DomainNameConfigurations"][0]["IpAddressType"], "dualstack");
    env.workspace.destroy().succeeded();
    api.remove_permissions();
    env.proxy.account().assert_nothing_of_ours_is_left();
}

#[test]
fn mutual_tls_and_records_of_both_types_are_adopted_as_they_are() {
    let env = TestEnv::with_terraform();
    let api = ForeignApi::new(&env.proxy, "HTTP");
    api.route("GET /a", "orders", &json!({}));
    api.create("stage", json!({ "StageName": "$default", "AutoDeploy": true }));
    let zone = api.domain();
    let account = env.proxy.account();
    let uri = "s3://legacy/ca.pem";
    let pem = Authority::new().certificate.pem();
    env.proxy.truststore(uri, "", TrustStore { pem, warnings: Vec::new() });
    let domain = || account.list_of("domain_names")[0].clone();
    let found = domain()["DomainNameConfigurations"][0].clone();
    let sent = json!({ "CertificateArn": found["CertificateArn"], "EndpointType": "REGIONAL" });
    let update = json!({ "DomainName": "api.example.com", "DomainNameConfigurations": [sent],
        "MutualTlsAuthentication": { "TruststoreUri": uri } });
    env.proxy.boto("apigatewayv2", "update_domain_name", update);
    // Public modules add a record of type AAAA to each domain, and may let Route 53 evaluate the target.
    let records = |action: &str, kind: &str, target: &Value| {
        let alias = json!({ "HostedZoneId": found["HostedZoneId"], "DNSName": target, "EvaluateTargetHealth": true });
        let record = json!({ "Name": "api.example.com", "Type": kind, "AliasTarget": alias });
        let batch = json!({ "Changes": [{ "Action": action, "ResourceRecordSet": record }] });
        account.boto("route53", "change_resource_record_sets", json!({ "HostedZoneId": zone, "ChangeBatch": batch }));
    };
    let target = &found["ApiGatewayDomainName"];
    records("UPSERT", "A", target);
    records("CREATE", "AAAA", target);
    let shown = || {
        let all = account.boto("route53", "list_resource_record_sets", json!({ "HostedZoneId": zone }));
        let all = all["ResourceRecordSets"].as_array().expect("a list").clone();
        let ours = all.into_iter().filter(|it| it["Name"] == "api.example.com.");
        ours.map(|it| (text(&it["Type"]), it["AliasTarget"]["EvaluateTargetHealth"] == true)).collect::<Vec<_>>()
    };
    let both = [("A".to_owned(), true), ("AAAA".to_owned(), true)];

    adopt(&env, &api.id, &["AddPermission 1", "TagResource 3"]);
    assert_eq!(shown(), both);
    let objects = env.attribute("aws_objects");
    assert!(objects["dns_record"].is_string() && objects["dns_record_aaaa"].is_string(), "{objects}");
    assert_eq!(env.attribute("mutual_tls_authentication")["truststore_uri"], uri);
    // An update keeps what the alias had.
    records("UPSERT", "AAAA", &json!("d-other.example.net"));
    env.workspace.apply(&[]).succeeded();
    assert_eq!(shown(), both);
    env.workspace.destroy().succeeded();
    assert_eq!(shown(), [], "both go with the domain");
    api.remove_permissions();
    env.proxy.account().assert_nothing_of_ours_is_left();
}

#[test]
fn a_record_of_another_tool_stays_with_it() {
    let env = TestEnv::new();
    let api = ForeignApi::new(&env.proxy, "HTTP");
    api.route("GET /a", "orders", &json!({}));
    api.create("stage", json!({ "StageName": "$default", "AutoDeploy": true }));
    let zone = json!({ "HostedZoneId": api.domain() });
    let records = || env.proxy.account().boto("route53", "list_resource_record_sets", zone.clone());
    let before = records();
    let config = |adopt: Value| {
        let route = json!({ "faas_function_arn": env.arn("orders"), "payload_format_version": "2.0" });
        let inputs = json!({ "name": "legacy", "api_tags": { "Owner": "web" }, "route_config": { "GET /a": route },
            "domain_name": "api.example.com", "create_dns_entry": false, "adopt": adopt });
        env.config(&inputs);
    };
    config(json!({ "api": api.id, "stage": "$default", "domain": "api.example.com" }));
    env.workspace.import(THIS, &api.id).succeeded();
    env.proxy.clear_calls();
    env.workspace.apply(&[]).succeeded();
    assert_eq!(changes(&env), ["AddPermission 1", "TagResource 3"]);
    assert_eq!(env.attribute("aws_objects")["dns_record"], Value::Null);
    config(Value::Null);
    env.workspace.assert_nothing_to_do();
    env.workspace.destroy().succeeded();
    assert_eq!(records(), before);
    api.remove_permissions();
    env.proxy.account().assert_nothing_of_ours_is_left();
}
