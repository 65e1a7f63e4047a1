//! Unmanaged routes in an API, and the objects that they share with the gateway.

use proptest::prelude::*;

use super::*;

/// What a person does in the API before an apply.
#[derive(Clone, Debug)]
enum Person {
    Nothing,
    /// Adds a route with this key, to the integration of a route of the gateway or to another one, and protected by an
    /// authorizer of the gateway, by something else, or not.
    Adds {
        route_key: &'static str,
        integration: Option<&'static str>,
        protection: Option<&'static str>,
    },
    /// Deletes the route with this key.
    Deletes(&'static str),
}

const THEIR_KEYS: [&str; 6] =
    ["GET /theirs", "DELETE /c/{id}", "PUT /c/{other}/d", "GET /theirs/{x}", "POST /a", "PUT /e"];

fn some_person() -> impl Strategy<Value = Person> {
    let key = || prop::sample::select(THEIR_KEYS.to_vec());
    let slots = vec!["integration.GET /a", "integration.POST /a", "integration.GET /c/{id}", "integration.$default"];
    let integration = prop::option::weighted(0.8, prop::sample::select(slots));
    let protections = vec!["authorizer.first", "authorizer.second", "elsewhere"];
    let protection = prop::option::of(prop::sample::select(protections));
    let adds = (key(), integration, protection).prop_map(|(route_key, integration, protection)| Person::Adds {
        route_key,
        integration,
        protection,
    });
    prop_oneof![1 => Just(Person::Nothing), 5 => adds, 1 => key().prop_map(Person::Deletes)]
}

/// A gateway whose path variables and authorizers change too.
fn some_changing_gateway() -> impl Strategy<Value = Value> {
    let ttl = prop::option::of(0..3_i64);
    (super::properties::some_basic_gateway(), any::<bool>(), ttl, any::<bool>()).prop_map(
        |(mut config, renamed, ttl, ignored)| {
            let mut routes = config.get("route_config").as_map().unwrap().clone();
            if let (true, Some(route)) = (renamed, routes.remove("GET /c/{id}")) {
                routes.insert("GET /c/{key}".into(), route.clone());
                routes.insert("POST /c/{key}/e".into(), route);
            }
            config.set("route_config", Value::Map(routes));
            let mut authorizers = config.get("faas_authorizers").as_map().unwrap().clone();
            authorizers.get_mut("first").unwrap().set("result_ttl_in_seconds", ttl.into());
            config.set("faas_authorizers", Value::Map(authorizers));
            if ignored {
                config.set("ignore_drift", Value::List(vec!["integration.*".into()]));
            }
            config
        },
    )
}

fn act(terraform: &Terraform<HttpGateway>, person: &Person) {
    match person {
        Person::Nothing => {}
        Person::Adds { route_key, integration, protection } => {
            terraform.account.add_unmanaged_route(route_key, *integration, *protection);
        }
        Person::Deletes(route_key) => terraform.account.remove_unmanaged_route(route_key),
    }
}

/// Applies the configurations one after the other, each after what a person does, and destroys.
fn check(steps: &[(Value, Person)]) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build().unwrap();
    runtime.block_on(async {
        let mut terraform = Terraform::<HttpGateway>::new(3);
        for (config, person) in steps {
            act(&terraform, person);
            terraform.refresh().await;
            let theirs = terraform.account.answers_of_unmanaged_routes();
            let plan = terraform.plan(config).await;
            if plan.diagnostics.has_errors() {
                let names_route = |it: &Diagnostic| theirs.keys().any(|key| it.detail.contains(&format!("{key:?}")));
                // An earlier step has kept the log group, and this one may not use it.
                let explains = |it: &Diagnostic| names_route(it) || it.detail.contains("\"log_group\" =");
                assert!(plan.diagnostics.0.iter().any(explains), "{:?}", plan.diagnostics);
                continue;
            }
            terraform.assert_applies(config).await;
            let now = terraform.account.answers_of_unmanaged_routes();
            let adopted = |key: &String| !terraform.state.get("route_ids").get(key).is_null();
            for (key, (used, allowed)) in theirs.iter().filter(|(key, _)| !adopted(key)) {
                assert_eq!(now[key].0, *used, "what {key} uses");
                assert!(now[key].1 || !allowed, "{key} loses its permission");
            }
        }
        terraform.end().await;
    });
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn any_gateway_change_leaves_what_unmanaged_routes_use(
        steps in proptest::collection::vec((some_changing_gateway(), some_person()), 2..6)
    ) {
        check(&steps);
    }
}

fn two_routes() -> Value {
    gateway(&[("GET /a", route("a", None)), ("GET /b", route("b", None))], &[], &[])
}

#[tokio::test(start_paused = true)]
async fn a_lost_permission_is_restored_beside_other_changes() {
    let mut terraform = Terraform::<HttpGateway>::new(0);
    terraform.assert_applies(&gateway(&[("GET /a", route("a", None))], &[], &[])).await;
    let before = terraform.account.ids_of("permission.a");
    // Terraform replaces the function after the refresh, and plans again in the process of the apply.
    terraform.account.remove_permissions();
    terraform.begin_process();
    let plan = terraform.plan(&two_routes()).await;
    assert_eq!(terraform.account.part_reads.lock().unwrap().len(), 0, "a plan does not read it");
    assert!(!terraform.apply_plan(&two_routes(), plan).await.has_errors());
    assert_eq!(terraform.account.ids_of("permission.a"), before);
    assert_eq!(terraform.account.part_reads.lock().unwrap().len(), 1);
    terraform.assert_quiet(&two_routes()).await;
}

#[tokio::test(start_paused = true)]
async fn only_policies_of_functions_that_were_unknown_are_read_again() {
    let mut terraform = Terraform::<HttpGateway>::new(0);
    terraform.assert_applies(&two_routes()).await;
    let with_description = |mut config: Value| {
        config.set("description", "more".into());
        config
    };
    let mut unknown = route("a", None);
    unknown.set("faas_function_arn", Value::Unknown);
    let unknown = with_description(gateway(&[("GET /a", unknown), ("GET /b", route("b", None))], &[], &[]));
    let shown = terraform.plan(&unknown).await;
    terraform.account.remove_permissions();
    terraform.begin_process();
    let known = with_description(two_routes());
    let plan = terraform.plan_again(&known, shown.private).await;
    assert!(!terraform.apply_plan(&known, plan).await.has_errors());
    let read = terraform.account.part_reads.lock().unwrap().clone();
    assert!(matches!(&read[..], [only] if only.starts_with("permission.a.")), "{read:?}");
    assert_eq!(terraform.account.ids_of("permission.a").len(), 1);

    // Nothing was unknown.
    let shown = terraform.plan(&two_routes()).await;
    let plan = terraform.plan_again(&two_routes(), shown.private).await;
    assert!(!terraform.apply_plan(&two_routes(), plan).await.has_errors());
    assert_eq!(*terraform.account.part_reads.lock().unwrap(), read);
}

#[tokio::test(start_paused = true)]
async fn objects_that_unmanaged_routes_use_are_left_and_named() {
    let guarded = |ttl: i64| {
        let mut guard = authorizer("guard");
        guard.set("result_ttl_in_seconds", ttl.into());
        gateway(&[("GET /a", route("a", Some("first")))], &[("first", guard)], &[])
    };
    let mut terraform = Terraform::<HttpGateway>::new(0);
    terraform.assert_applies(&guarded(0)).await;
    let before = terraform.state.get("aws_objects").clone();
    terraform.account.add_unmanaged_route("GET /theirs", Some("integration.GET /a"), Some("authorizer.first"));
    terraform.refresh().await;
    let answers = terraform.account.answers_of_unmanaged_routes();

    let plan = terraform.plan(&guarded(60)).await;
    let warning =
        plan.diagnostics.0.iter().find(|it| it.detail.contains("It creates another one, \"first-2\"")).unwrap();
    assert!(warning.detail.contains("The unmanaged route \"GET /theirs\" uses authorizer"), "{warning:?}");
    let left = plan.planned.get("unmanaged_objects");
    for slot in ["authorizer.first", "authorizer_permission.first"] {
        let line = left.get(before.get(slot).as_str().unwrap()).as_str().unwrap();
        assert!(line.starts_with(&format!("{slot} before: not deleted")), "{line}");
        assert!(line.contains("route \"GET /theirs\" (id of GET /theirs)"), "{line}");
    }
    terraform.account.take_calls();
    terraform.assert_applies(&guarded(60)).await;
    let calls = terraform.account.take_calls();
    assert!(!calls.iter().any(|call| call.starts_with("delete") || *call == "update authorizer.first"), "{calls:?}");
    assert_eq!(terraform.account.answers_of_unmanaged_routes(), answers);
    assert_eq!(terraform.state.get("unmanaged_objects").as_map().unwrap().len(), 2);
    assert_ne!(terraform.state.get("authorizer_ids").get("first"), before.get("authorizer.first"));

    // Without private state, the objects have the same names.
    let (objects, private) = (terraform.state.get("aws_objects").clone(), std::mem::take(&mut terraform.private));
    terraform.assert_quiet(&guarded(60)).await;
    assert_eq!(*terraform.state.get("aws_objects"), objects);
    terraform.private = private;

    // A destroy also deletes the statement that the apply left.
    assert!(!terraform.destroy().await.has_errors());
    let calls = terraform.account.take_calls();
    assert_eq!(calls.iter().filter(|call| *call == "delete authorizer_permission.first").count(), 2, "{calls:?}");
}

#[tokio::test(start_paused = true)]
async fn a_taken_route_key_or_variable_is_an_error_of_the_plan() {
    let routes =
        |keys: &[&str]| gateway(&keys.iter().map(|key| (*key, route("a", None))).collect::<Vec<_>>(), &[], &[]);
    let mut terraform = Terraform::<HttpGateway>::new(0);
    terraform.assert_applies(&routes(&["GET /x/{id}", "POST /x/{id}/y"])).await;
    terraform.account.add_unmanaged_route("DELETE /x/{id}", None, None);
    terraform.refresh().await;
    let error = |plan: PlanResponse| match &plan.diagnostics.0[..] {
        [only] if only.severity == Severity::Error => only.detail.clone(),
        other => panic!("{other:?}"),
    };
    let renamed = routes(&["GET /x/{key}"]);
    let detail = error(terraform.plan(&renamed).await);
    let conflict =
        "names a variable \"key\" where the unmanaged route \"DELETE /x/{id}\" (id of DELETE /x/{id}) names it \"id\"";
    assert!(detail.contains(conflict) && detail.contains("Name it \"id\", or rename the variable"), "{detail}");
    let taken = routes(&["GET /x/{id}", "POST /x/{id}/y", "DELETE /x/{id}"]);
    let detail = error(terraform.plan(&taken).await);
    assert!(detail.contains("already has an unmanaged route \"DELETE /x/{id}\""), "{detail}");
    assert!(detail.contains("delete-route --api-id api") && detail.contains("then run plan again"), "{detail}");
    // Both ways out.
    terraform.account.remove_unmanaged_route("DELETE /x/{id}");
    terraform.refresh().await;
    terraform.assert_applies(&taken).await;
    terraform.assert_applies(&renamed).await;
}
