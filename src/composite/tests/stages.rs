//! The name, the variables and the description of the stage.

use proptest::prelude::*;

use super::*;

/// The inputs of a random stage.
pub(super) fn some_stage() -> impl Strategy<Value = Vec<(&'static str, Value)>> {
    let name = prop::sample::select(vec!["$default", "$default", "prod", "next"]);
    let variables = prop::sample::select(vec![vec![], vec![("a", "1")], vec![("a", "2"), ("b", "1")]]);
    let description = prop::option::of(prop::sample::select(vec!["Live.", "Next."]));
    (name, variables, description).prop_map(|(name, variables, description)| {
        let variables = Value::map(variables.into_iter().map(|(name, value)| (name, Value::from(value))));
        vec![
            ("stage_name", name.into()),
            ("stage_variables", variables),
            ("stage_description", description.map(str::to_string).into()),
        ]
    })
}

/// A gateway with a domain.
fn named(name: &str, variable: &str) -> Value {
    let key = format!("GET /a/{{{variable}}}");
    let pairs = [("domain_name", Value::from("a.example.com")), ("stage_name", name.into())];
    gateway(&[(key.as_str(), route("a", None)), ("GET /b", route("b", None))], &[], &pairs)
}

async fn created(config: &Value) -> Terraform<HttpGateway> {
    let mut terraform = Terraform::<HttpGateway>::new(0);
    terraform.assert_applies(config).await;
    terraform.account.take_calls();
    terraform
}

#[tokio::test(start_paused = true)]
async fn a_stage_is_replaced_and_its_outputs_follow() {
    let mut terraform = created(&named("$default", "x")).await;
    let endpoint = terraform.state.get("api_endpoint").clone();
    for (name, drops_domain) in [("prod", false), ("next", true), ("$default", false)] {
        let mut config = named(name, "x");
        if drops_domain {
            config.set("domain_name", Value::Null);
        }
        terraform.assert_applies(&config).await;
        let calls = terraform.account.take_calls();
        let first = calls.iter().position(|call| call == "create stage").expect("it is created");
        let last = calls.iter().position(|call| call == "delete stage").expect("the old one is deleted");
        assert!(first < last, "{calls:?}");
        assert_eq!(terraform.state.get("default_stage_id"), &Value::from(name));
        assert_eq!(terraform.state.get("api_endpoint"), &endpoint);
        let url = format!("{}/{name}", endpoint.as_str().unwrap());
        let url = if drops_domain { url.as_str() } else { "https://a.example.com" };
        assert_eq!(terraform.state.get("invoke_url"), &Value::from(url));
        assert!(terraform.state.get("stage_arn").as_str().unwrap().ends_with(&format!("/stages/{name}")));
    }
    terraform.end().await;
}

#[tokio::test(start_paused = true)]
async fn a_domain_stays_on_the_old_stage_until_the_new_one_exists() {
    for (failing, expected) in
        [("stage", vec!["create stage"]), ("api_mapping", vec!["create stage", "update api_mapping"])]
    {
        let mut terraform = created(&named("$default", "x")).await;
        terraform.account.failing.lock().unwrap().push(failing.into());
        terraform.apply(&named("prod", "x")).await;
        assert_eq!(terraform.account.take_calls(), expected);
        terraform.account.failing.lock().unwrap().clear();
        // Both ways lead on.
        for name in ["prod", "$default"] {
            terraform.refresh().await;
            terraform.assert_applies(&named(name, "x")).await;
            assert_eq!(terraform.state.get("default_stage_id"), &Value::from(name));
            assert_eq!(terraform.account.ids_of("stage").len(), 1);
        }
        terraform.end().await;
    }
}

#[tokio::test(start_paused = true)]
async fn a_replaced_stage_deploys_no_part_of_renamed_variables() {
    let mut terraform = created(&named("$default", "x")).await;
    terraform.assert_applies(&named("prod", "y")).await;
    let calls = terraform.account.take_calls();
    assert_eq!(calls[0], "update stage", "{calls:?}");
    let at = |call: &str| calls.iter().position(|it| it == call).unwrap_or_else(|| panic!("no {call}: {calls:?}"));
    assert!(at("delete route.GET /a/{x}") < at("create route.GET /a/{y}"), "{calls:?}");
    assert!(at("create route.GET /a/{y}") < at("create stage"), "{calls:?}");
    terraform.account.failing.lock().unwrap().push("route.GET /a/{z}".into());
    terraform.apply(&named("next", "z")).await;
    terraform.account.failing.lock().unwrap().clear();
    terraform.refresh().await;
    terraform.assert_applies(&named("prod", "y")).await;
    terraform.end().await;
}

#[tokio::test(start_paused = true)]
async fn a_stage_of_a_killed_update_is_taken_over_only_if_required() {
    for (wanted, expected) in [("$default", vec![]), ("prod", vec!["update api_mapping", "delete stage"])] {
        let mut terraform = created(&named("$default", "x")).await;
        let (state, private) = (terraform.state.clone(), terraform.private.clone());
        terraform.assert_applies(&named("prod", "x")).await;
        // The run was killed after the creation of the new stage.
        terraform.account.create_outside(&inventory(&private), "stage", state.get("aws_objects").get("stage"));
        terraform.account.change_outside("api_mapping", |spec| {
            let Spec::ApiMapping(mapping) = spec else { panic!("{spec:?}") };
            mapping.stage = crate::model::Ref::Key(crate::model::keys::gateway::stage("$default"));
        });
        (terraform.state, terraform.private) = (state, private);
        terraform.account.take_calls();
        terraform.refresh().await;
        let unmanaged = terraform.state.get("unmanaged_objects").as_map().unwrap().clone();
        assert!(unmanaged.contains_key("prod"), "{unmanaged:?}");
        terraform.assert_applies(&named(wanted, "x")).await;
        assert_eq!(terraform.account.take_calls(), expected, "{wanted}");
        assert!(terraform.account.ids_of("stage").contains("prod"));
    }
}

#[tokio::test(start_paused = true)]
async fn a_description_that_is_removed_stays_without_drift() {
    let described = |text: Option<&str>| {
        let description = text.map(str::to_string).into();
        gateway(&[("GET /a", route("a", None))], &[], &[("stage_description", description)])
    };
    let mut terraform = created(&described(Some("Live."))).await;
    terraform.assert_applies(&described(Some("Next."))).await;
    assert_eq!(terraform.account.take_calls(), ["update stage"]);
    terraform.assert_applies(&described(None)).await;
    terraform.account.take_calls();
    terraform.account.change_outside("stage", |spec| {
        let Spec::Stage(stage) = spec else { panic!("{spec:?}") };
        stage.description = Input::Known(Some("theirs".to_string()));
    });
    terraform.refresh().await;
    assert_eq!(terraform.state.get("drift"), &Value::map::<&str>([]));
    terraform.assert_quiet(&described(None)).await;
    terraform.assert_applies(&described(Some("Mine."))).await;
    assert_eq!(terraform.account.take_calls(), ["update stage"]);
    terraform.end().await;
}

#[tokio::test(start_paused = true)]
async fn variables_of_someone_else_are_drift_and_may_stay() {
    let with = |ignored: bool| {
        let variables = Value::map([("a", Value::from("1"))]);
        let patterns: Vec<&str> = if ignored { vec!["stage"] } else { vec![] };
        let pairs = [("stage_variables", variables), ("ignore_drift", patterns.into())];
        gateway(&[("GET /a", route("a", None))], &[], &pairs)
    };
    for ignored in [false, true] {
        let mut terraform = created(&with(ignored)).await;
        terraform.account.change_outside("stage", |spec| {
            let Spec::Stage(stage) = spec else { panic!("{spec:?}") };
            let Input::Known(variables) = &mut stage.variables else { panic!("{spec:?}") };
            variables.insert("b".to_string(), Input::Known("2".to_string()));
        });
        terraform.refresh().await;
        let variables = terraform.state.get("stage_variables").as_map().unwrap().clone();
        assert_eq!(variables.contains_key("b"), !ignored);
        terraform.assert_applies(&with(ignored)).await;
        assert_eq!(terraform.account.take_calls().is_empty(), ignored);
        terraform.end().await;
    }
}

#[tokio::test(start_paused = true)]
async fn an_import_reads_the_stage() {
    let variables = Value::map([("a", Value::from("1"))]);
    let mut config = named("prod", "x");
    config.set("stage_variables", variables.clone());
    config.set("stage_description", "Live.".into());
    let mut terraform = created(&config).await;
    super::import::reimport(&mut terraform).await;
    for (name, value) in
        [("stage_name", "prod".into()), ("stage_variables", variables), ("stage_description", "Live.".into())]
    {
        assert_eq!(terraform.state.get(name), &value, "{name}");
    }
    terraform.assert_quiet(&config).await;
    // A description that the configuration does not contain is not managed.
    config.set("stage_description", Value::Null);
    terraform.assert_applies(&config).await;
    assert_eq!(terraform.account.take_calls(), [""; 0]);
}

#[tokio::test(start_paused = true)]
async fn an_adoption_replaces_no_stage() {
    let (mut terraform, mut generated) = super::adoption::imported::<HttpGateway>(&named("prod", "x")).await;
    assert_eq!(generated.get("stage_name"), &Value::from("prod"));
    let adopted = generated.clone();
    generated.set("stage_name", "$default".into());
    let refused = terraform.plan(&generated).await.diagnostics;
    let text = format!("{refused:?}");
    assert!(refused.has_errors() && text.contains("stage"), "{text}");
    terraform.assert_applies(&adopted).await;
    terraform.assert_applies(&generated).await;
    assert_eq!(terraform.account.ids_of("stage").len(), 1);
}
