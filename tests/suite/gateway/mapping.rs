//! API mappings of a domain that are changed outside Terraform: the managed one is changed back, and mappings to
//! unmanaged APIs are never deleted.

use serde_json::{Value, json};

use super::{TestEnv, text, with};

const NAME: &str = "api.example.com";

/// A gateway with a domain, and an unmanaged API.
struct Mapped {
    env: TestEnv,
    /// The id of the unmanaged API, which has a stage `prod`.
    theirs: String,
}

impl Mapped {
    fn new() -> Self {
        let env = TestEnv::new();
        let account = env.proxy.account();
        account.boto("acm", "request_certificate", json!({ "DomainName": NAME }));
        let api = json!({ "Name": "theirs", "ProtocolType": "HTTP" });
        let theirs = text(&account.boto("apigatewayv2", "create_api", api)["ApiId"]);
        account.boto("apigatewayv2", "create_stage", json!({ "ApiId": theirs, "StageName": "prod" }));
        let mapped = Self { env, theirs };
        mapped.env.apply(&mapped.config());
        mapped
    }

    fn config(&self) -> Value {
        with(&self.without_domain(), &json!({ "domain_name": NAME }))
    }

    fn without_domain(&self) -> Value {
        json!({ "route_config": { "GET /a": self.env.to("orders") }, "timeouts": { "delete": "1s" } })
    }

    fn id(&self) -> String {
        text(&self.env.attribute("aws_objects")["api_mapping"])
    }

    /// An API Gateway call about the domain outside Terraform.
    fn domain_call(&self, method: &str, more: Value) -> Value {
        self.env.proxy.account().boto("apigatewayv2", method, with(&json!({ "DomainName": NAME }), &more))
    }

    fn repoint(&self, api: &str, stage: &str) {
        self.domain_call("update_api_mapping", json!({ "ApiMappingId": self.id(), "ApiId": api, "Stage": stage }));
    }

    /// The id of each mapping of the domain, and its target as `<api>/<stage>`.
    fn targets(&self) -> Vec<(String, String)> {
        let domains = self.env.proxy.account().list_of("domain_names");
        let mappings = domains.iter().flat_map(|domain| domain["mappings"].as_array().expect("a list"));
        let target = |it: &Value| format!("{}/{}", text(&it["ApiId"]), text(&it["Stage"]));
        mappings.map(|it| (text(&it["ApiMappingId"]), target(it))).collect()
    }
}

#[test]
fn a_mapping_to_another_stage_or_api_is_changed_back_in_place() {
    let mapped = Mapped::new();
    let env = &mapped.env;
    let (api, mapping) = (text(&env.attribute("api_id")), mapped.id());
    env.api_call("create_stage", json!({ "StageName": "beta" }));
    for (target, stage) in [(&api, "beta"), (&mapped.theirs, "prod")] {
        mapped.repoint(target, stage);
        let plan = env.workspace.plan_json(&[]);
        let drift = &plan["resource_drift"][0]["change"]["after"]["drift"];
        assert_eq!(*drift, json!({ "api_mapping": format!("stage is {target}/{stage} instead of stage") }));
        assert_eq!(plan["resource_changes"][0]["change"]["actions"], json!(["update"]));
        let slots = env.slots();
        env.apply_config();
        assert_eq!(env.calls(&slots), [format!("UpdateApiMapping {NAME}")]);
        assert_eq!(mapped.targets(), [(mapping.clone(), format!("{api}/$default"))]);
    }

    // A mapping to another stage of the same API can be deleted with the domain, and the stage does not block that.
    mapped.repoint(&api, "beta");
    assert_eq!(
        env.change(&mapped.without_domain()),
        [format!("DeleteApiMapping {NAME}"), format!("DeleteDomainName {NAME}")]
    );
    assert_eq!(env.send("GET", "/a", None).status, 200);
    env.destroy();
}

#[test]
fn a_mapping_to_an_unmanaged_api_is_never_deleted() {
    let mapped = Mapped::new();
    let env = &mapped.env;
    let mapping = mapped.id();
    mapped.repoint(&mapped.theirs, "prod");
    let theirs = [(mapping.clone(), format!("{}/prod", mapped.theirs))];
    let message = format!("API mapping {mapping} \"{NAME}/\" (to {}/prod)", mapped.theirs);

    env.config(&mapped.without_domain());
    let calls = env.proxy.mutations().len();
    env.workspace.apply(&[]).failed_with("custom domain in use").failed_with(&message);
    assert_eq!(env.proxy.mutations().len(), calls, "nothing is changed");
    assert_eq!(mapped.targets(), theirs);
    assert_eq!(env.send("GET", "/a", None).status, 200);

    // A destroy without a refresh has only the mapping's former target in state.
    env.config(&mapped.config());
    for options in [&["-destroy", "-refresh=false"][..], &["-destroy"]] {
        env.workspace.apply(options).failed_with(&message);
        assert_eq!(mapped.targets(), theirs, "{options:?}");
    }

    mapped.domain_call("delete_api_mapping", json!({ "ApiMappingId": mapping }));
    env.destroy();
    assert!(env.proxy.account().list_of("domain_names").is_empty());
    env.proxy.account().boto("apigatewayv2", "get_api", json!({ "ApiId": mapped.theirs }));
}

#[test]
fn a_mapping_recreated_outside_terraform_is_never_touched() {
    let mapped = Mapped::new();
    let env = &mapped.env;
    let ours = mapped.id();
    mapped.domain_call("delete_api_mapping", json!({ "ApiMappingId": ours }));
    let created = mapped.domain_call("create_api_mapping", json!({ "ApiId": mapped.theirs, "Stage": "prod" }));
    let theirs = [(text(&created["ApiMappingId"]), format!("{}/prod", mapped.theirs))];
    assert_ne!(theirs[0].0, ours);
    assert_eq!(env.drift(), json!({ "api_mapping": format!("{ours} is missing") }));
    let run = env.workspace.apply(&[]);
    run.failed_with(&format!("custom domain {NAME} is already mapped to {} by an unmanaged API mapping", theirs[0].1));
    run.failed_with(&format!("delete-api-mapping --domain-name {NAME} --api-mapping-id {}", theirs[0].0));
    assert_eq!(mapped.targets(), theirs);

    let mapping = format!("API mapping {} \"{NAME}/\" (to {})", theirs[0].0, theirs[0].1);
    env.workspace.destroy().failed_with(&mapping);
    assert_eq!(mapped.targets(), theirs);
    mapped.domain_call("delete_api_mapping", json!({ "ApiMappingId": theirs[0].0 }));
    env.end();
}
