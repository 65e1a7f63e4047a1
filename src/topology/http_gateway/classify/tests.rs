use super::*;
use crate::model::{Authorization, FoundAuthorizer, FoundIntegration, FoundStage, FoundTags, Ref};

/// An API with a function behind the integration `i1`, a request authorizer `a1`, and this route.
fn api(route: FoundRoute) -> ApiLandscape {
    ApiLandscape {
        api_id: "api1".into(),
        tags: FoundTags::new(),
        protocol: "HTTP".into(),
        stages: vec![stage("$default")],
        routes: vec![route],
        integrations: vec![FoundIntegration { id: "i1".into(), inexpressible: None }],
        authorizers: vec![FoundAuthorizer { id: "a1".into(), inexpressible: None }],
    }
}

fn stage(name: &str) -> FoundStage {
    FoundStage { name: name.into(), auto_deploy: true, ..FoundStage::default() }
}

fn route() -> FoundRoute {
    let authorization = Authorization::custom(Ref::Id("a1".into()));
    let integration = Some("i1".into());
    FoundRoute { id: "r1".into(), route_key: "GET /a".into(), is_managed_by_aws: false, integration, authorization }
}

#[test]
fn a_route_is_adopted_with_everything_that_it_uses() {
    let result = classify(&api(route()), None);
    assert_eq!(
        result.slots,
        [("api1", "api"), ("$default", "stage"), ("r1", "route.GET /a")]
            .map(|(id, slot)| (id.into(), slot.into()))
            .into()
    );
    assert_eq!(result.unmanaged.len(), 0, "{:?}", result.unmanaged);
}

#[test]
fn a_route_that_no_input_expresses_leaves_what_it_uses() {
    for (route, reason) in [
        (FoundRoute { is_managed_by_aws: true, ..route() }, "quick create"),
        (FoundRoute { route_key: "GET a".into(), ..route() }, "does not accept its key"),
        (FoundRoute { integration: None, ..route() }, "no integration"),
        (FoundRoute { integration: Some("i2".into()), ..route() }, "it does not exist"),
        (FoundRoute { authorization: AuthorizationType::Custom.into(), ..route() }, "CUSTOM without an authorizer"),
        (FoundRoute { authorization: AuthorizationType::named("NEW").into(), ..route() }, "authorization type NEW"),
        (
            FoundRoute { authorization: Authorization::custom(Ref::Id("a2".into())), ..route() },
            "its authorizer a2 cannot be adopted: it does not exist",
        ),
    ] {
        let result = classify(&api(route), None);
        assert!(result.unmanaged["r1"].contains(reason), "{reason}: {:?}", result.unmanaged);
        assert!(result.unmanaged["i1"].contains("no route") && result.unmanaged["a1"].contains("no route"));
        assert_eq!(result.slots.keys().collect::<Vec<_>>(), ["$default", "api1"]);
    }
}

#[test]
fn a_route_names_what_no_input_expresses_of_its_objects() {
    let reason = || Some("no input expresses its type MOCK".to_string());
    let with_integration = FoundIntegration { id: "i1".into(), inexpressible: reason() };
    let with_authorizer = FoundAuthorizer { id: "a1".into(), inexpressible: reason() };
    for (api, id, object) in [
        (ApiLandscape { integrations: vec![with_integration], ..api(route()) }, "i1", "integration i1"),
        (ApiLandscape { authorizers: vec![with_authorizer], ..api(route()) }, "a1", "authorizer a1"),
    ] {
        let result = classify(&api, None);
        let of_route = format!("its {object} cannot be adopted: no input expresses its type MOCK");
        assert!(result.unmanaged["r1"].ends_with(&of_route), "{:?}", result.unmanaged);
        assert_eq!(result.unmanaged[id], "no input expresses its type MOCK");
    }
}

#[test]
fn an_api_of_another_protocol_or_owner_is_rejected_as_a_whole() {
    let owner = FoundTags::from([(RESOURCE.to_string(), "four_tier_vpc/shop".to_string())]);
    for (api, reason) in [
        (ApiLandscape { protocol: "WEBSOCKET".into(), ..api(route()) }, "its protocol is WEBSOCKET"),
        (ApiLandscape { tags: owner, ..api(route()) }, "its tag fgw:resource is"),
        (ApiLandscape { stages: vec![], ..api(route()) }, "it has no stage"),
        (
            ApiLandscape { stages: ["a", "b"].map(stage).into(), ..api(route()) },
            "it has 2 stages, none of which is $default; the import IDs api1/a and api1/b choose one of them",
        ),
    ] {
        let result = classify(&api, None);
        assert!(result.unmanaged["api1"].contains(reason), "{:?}", result.unmanaged);
        assert_eq!((result.slots.len(), result.unmanaged.len()), (0, 1));
    }
}

#[test]
fn the_only_stage_or_the_default_one_is_managed() {
    let of = |names: &[&str]| {
        let stages = names.iter().map(|name| FoundStage { auto_deploy: *name != "manual", ..stage(name) }).collect();
        classify(&ApiLandscape { stages, ..api(route()) }, None)
    };
    assert_eq!(of(&["prod"]).slots.get("prod").map(String::as_str), Some("stage"));
    let result = of(&["beta", "manual", "$default"]);
    assert_eq!(result.slots.get("$default").map(String::as_str), Some("stage"));
    let reason = |name: &str| result.unmanaged.get(name).map(String::as_str);
    let deployed = "it is a further stage, and a gateway has one; AWS deploys changes of the gateway to it too";
    assert_eq!(reason("beta"), Some(deployed));
    assert_eq!(reason("manual"), Some("it is a further stage, and a gateway has one"));
    let stage = FoundStage { auto_deploy: false, ..stage("prod") };
    let result = classify(&ApiLandscape { stages: vec![stage], ..api(route()) }, None);
    assert_eq!(result.unmanaged["api1"], "its stage prod does not deploy changes automatically");
}

#[test]
fn the_chosen_stage_is_managed() {
    let of = |names: &[&str], wanted: &str| {
        let stages = names.iter().map(|name| stage(name)).collect();
        classify(&ApiLandscape { stages, ..api(route()) }, Some(wanted))
    };
    for (names, wanted, managed) in [
        (&["a", "b"][..], "b", "b"),
        (&["a", "$default"], "a", "a"),
        (&["a"], "a", "a"),
        // Renamed outside of Terraform, while the API is not adopted yet.
        (&["b"], "a", "b"),
        (&["$default", "b"], "a", "$default"),
    ] {
        let result = of(names, wanted);
        assert_eq!(result.slots.get(managed).map(String::as_str), Some("stage"), "{names:?} {wanted}");
        assert_eq!(result.unmanaged.len(), names.len() - 1, "{:?}", result.unmanaged);
    }
    assert!(of(&["a", "b"], "c").unmanaged["api1"].contains("api1/a and api1/b"));
}
