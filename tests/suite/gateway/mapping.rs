//! A domain of ours that somebody has led elsewhere: it is led back, and what others are reached by is never deleted.

use serde_json::{Value, json};

use super::{TestEnv, text, with};

const NAME: &str = "api.example.com";

/// A gateway at a domain, with somebody's API beside it.
struct Mapped {
    bed: TestEnv,
    /// Somebody's API, with a stage `prod`.
    theirs: String,
}

impl Mapped {
    fn new() -> Self {
        let bed = TestEnv::new();
        let account = bed.proxy.account();
        account.boto("acm", "request_certificate", json!({ "DomainName": NAME }));
        let api = json!({ "Name": "theirs", "ProtocolType": "HTTP" });
        let theirs = text(&account.boto("apigatewayv2", "create_api", api)["ApiId"]);
        account.boto("apigatewayv2", "create_stage", json!({ "ApiId": theirs, "StageName": "prod" }));
        let mapped = Self { bed, theirs };
        mapped.bed.apply(&mapped.config());
        mapped
    }

    fn config(&self) -> Value {
        with(&self.without_domain(), &json!({ "domain_name": NAME }))
    }

    fn without_domain(&self) -> Value {
        json!({ "route_config": { "GET /a": self.bed.to("orders") } })
    }

    fn id(&self) -> String {
        text(&self.bed.attribute("aws_objects")["api_mapping"])
    }

    /// A call about the domain, by somebody else.
    fn by_hand(&self, method: &str, more: Value) -> Value {
        self.bed.proxy.account().boto("apigatewayv2", method, with(&json!({ "DomainName": NAME }), &more))
    }

    fn lead(&self, api: &str, stage: &str) {
        self.by_hand("update_api_mapping", json!({ "ApiMappingId": self.id(), "ApiId": api, "Stage": stage }));
    }

    /// What the domain leads to: the id of each mapping, and `<api>/<stage>`.
    fn leads_to(&self) -> Vec<(String, String)> {
        let domains = self.bed.proxy.account().list_of("domain_names");
        let mappings = domains.iter().flat_map(|domain| domain["mappings"].as_array().expect("a list"));
        let target = |it: &Value| format!("{}/{}", text(&it["ApiId"]), text(&it["Stage"]));
        mappings.map(|it| (text(&it["ApiMappingId"]), target(it))).collect()
    }
}

#[test]
fn a_mapping_that_somebody_led_to_another_stage_or_api_is_led_back_in_place() {
    let mapped = Mapped::new();
    let bed = &mapped.bed;
    let (api, mapping) = (text(&bed.attribute("api_id")), mapped.id());
    bed.by_hand("create_stage", json!({ "StageName": "beta" }));
    for (led_to, stage) in [(&api, "beta"), (&mapped.theirs, "prod")] {
        mapped.lead(led_to, stage);
        let plan = bed.workspace.plan_json(&[]);
        let drift = &plan["resource_drift"][0]["change"]["after"]["drift"];
        assert_eq!(*drift, json!({ "api_mapping": format!("stage is {led_to}/{stage} instead of stage") }));
        assert_eq!(plan["resource_changes"][0]["change"]["actions"], json!(["update"]));
        let slots = bed.slots();
        bed.apply_config();
        assert_eq!(bed.told(&slots), [format!("UpdateApiMapping {NAME}")]);
        assert_eq!(mapped.leads_to(), [(mapping.clone(), format!("{api}/$default"))]);
    }

    // One that leads to another stage of ours is ours to delete, and the stage is nobody's obstacle.
    mapped.lead(&api, "beta");
    assert_eq!(
        bed.change(&mapped.without_domain()),
        [format!("DeleteApiMapping {NAME}"), format!("DeleteDomainName {NAME}")]
    );
    assert_eq!(bed.call("GET", "/a", None).status, 200);
    bed.destroy();
}

#[test]
fn a_mapping_that_leads_to_an_api_of_others_outlives_the_domains_end_in_the_configuration_and_a_destroy() {
    let mapped = Mapped::new();
    let bed = &mapped.bed;
    let mapping = mapped.id();
    mapped.lead(&mapped.theirs, "prod");
    let theirs = [(mapping.clone(), format!("{}/prod", mapped.theirs))];
    let refusal =
        format!("custom domain {NAME} has API mappings that are not ours: {mapping} ({}/prod)", mapped.theirs);

    bed.config(&mapped.without_domain());
    bed.workspace.apply(&[]).failed_with(&refusal);
    assert_eq!(mapped.leads_to(), theirs);
    assert_eq!(bed.call("GET", "/a", None).status, 200);

    // A destroy that nobody has looked before knows only what it made.
    bed.config(&mapped.config());
    for options in [&["-destroy", "-refresh=false"][..], &["-destroy"]] {
        bed.workspace.apply(options).failed_with(&refusal);
        assert_eq!(mapped.leads_to(), theirs, "{options:?}");
    }

    mapped.by_hand("delete_api_mapping", json!({ "ApiMappingId": mapping }));
    bed.destroy();
    assert!(bed.proxy.account().list_of("domain_names").is_empty());
    bed.proxy.account().boto("apigatewayv2", "get_api", json!({ "ApiId": mapped.theirs }));
}

#[test]
fn a_mapping_that_others_made_in_the_place_of_ours_is_neither_changed_nor_deleted() {
    let mapped = Mapped::new();
    let bed = &mapped.bed;
    let ours = mapped.id();
    mapped.by_hand("delete_api_mapping", json!({ "ApiMappingId": ours }));
    let made = mapped.by_hand("create_api_mapping", json!({ "ApiId": mapped.theirs, "Stage": "prod" }));
    let theirs = [(text(&made["ApiMappingId"]), format!("{}/prod", mapped.theirs))];
    assert_ne!(theirs[0].0, ours);
    assert_eq!(bed.drift(), json!({ "api_mapping": format!("{ours} is gone") }));
    let run = bed.workspace.apply(&[]);
    run.failed_with(&format!(
        "custom domain {NAME} leads to {} already, by a mapping that is not managed here",
        theirs[0].1
    ));
    run.failed_with(&format!("delete-api-mapping --domain-name {NAME} --api-mapping-id {}", theirs[0].0));
    assert_eq!(mapped.leads_to(), theirs);

    bed.workspace.destroy().failed_with(&format!("{} ({})", theirs[0].0, theirs[0].1));
    assert_eq!(mapped.leads_to(), theirs);
    mapped.by_hand("delete_api_mapping", json!({ "ApiMappingId": theirs[0].0 }));
    bed.destroy();
}
