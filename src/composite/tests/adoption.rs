//! Adoptions of foreign networks and APIs.

use proptest::prelude::*;

use super::domains::some_gateway;
use super::properties::some_network;
use super::*;
use crate::plugin::Nested;

/// Builds a topology, removes every trace of the provider, and imports it. Returns the configuration that reproduces
/// it.
pub(super) async fn imported<P: Topology>(config: &Value) -> (Terraform<P>, Value) {
    let mut terraform = Terraform::<P>::new(3);
    terraform.assert_applies(config).await;
    let id = terraform.state.get("id").as_str().expect("it was created").to_string();
    terraform.account.remove_all_ownership_tags();
    terraform.account.remove_permissions();
    let generated = import(&mut terraform, &id).await;
    (terraform, generated)
}

/// Imports the topology. Returns the inputs in its state.
async fn import<P: Topology>(terraform: &mut Terraform<P>, id: &str) -> Value {
    terraform.account.take_calls();
    let imported = terraform.resource.import(ImportTarget::Id(id.to_string())).await;
    assert!(!imported.diagnostics.has_errors(), "{:?}", imported.diagnostics);
    terraform.state = imported.state.expect("it is found");
    terraform.private = imported.private;
    assert_conforms(&terraform.state, &terraform.kind, "state");
    let before = terraform.state.clone();
    terraform.refresh().await;
    assert!(terraform.state == before, "Terraform reads right after an import");
    assert_eq!(terraform.state.get("aws_objects"), &Value::map::<&str>([]), "an import is not ownership");
    let names = P::Config::attributes().into_iter().map(|attribute| attribute.name);
    Value::map(names.map(|name| (name.clone(), terraform.state.get(&name).clone())))
}

/// The state without private state, as Terraform keeps it if the provider is killed.
fn lose_private_state<P: Topology>(terraform: &mut Terraform<P>) {
    terraform.private = Vec::new();
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]

    #[test]
    fn any_adoption_only_adds_tags(
        config in some_network(),
        failing in any::<prop::sample::Index>(),
        loses in any::<bool>(),
    ) {
        adopt_with_a_failure::<FourTierVpc>(&config, failing, loses);
    }

    #[test]
    fn any_adoption_of_an_api_only_adds_tags_and_permissions(
        config in some_gateway(),
        failing in any::<prop::sample::Index>(),
        loses in any::<bool>(),
    ) {
        adopt_with_a_failure::<HttpGateway>(&config, failing, loses);
    }
}

/// Adopts a topology after a failure at one of its objects, and destroys it.
fn adopt_with_a_failure<P: Topology>(config: &Value, failing: prop::sample::Index, loses: bool) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build().unwrap();
    runtime.block_on(async {
        let terraform = Terraform::<P>::new(3);
        let is_invalid = terraform.resource.validate(&terraform.config(config)).has_errors();
        if is_invalid || terraform.plan(config).await.diagnostics.has_errors() {
            return;
        }
        let (mut terraform, mut generated) = imported::<P>(config).await;
        // No object shows it, so an import does not return it.
        let keeps = config.get("access_log_logservice_group_skip_destroy");
        if !keeps.is_null() {
            generated.set("access_log_logservice_group_skip_destroy", keeps.clone());
        }
        let slots = terraform.account.slots();
        let id = terraform.state.get("id").as_str().expect("it is imported").to_string();
        let failing = slots[failing.index(slots.len())].clone();
        terraform.account.failing.lock().unwrap().push(failing);
        assert!(terraform.apply(&generated).await.has_errors());
        terraform.account.failing.lock().unwrap().clear();
        assert!(terraform.state.get("aws_objects").get(P::KIND.root()).is_null(), "the root is adopted last");
        match loses {
            true => lose_private_state(&mut terraform),
            false => drop(import(&mut terraform, &id).await),
        }
        assert!(!terraform.apply(&generated).await.has_errors());
        let calls = terraform.account.take_calls();
        let is_permitted =
            |call: &String| call.starts_with("adopt ") || (call.starts_with("create ") && call.contains("permission"));
        assert!(calls.iter().all(is_permitted), "{calls:?}");
        terraform.assert_quiet(&generated).await;
        let mut without_adopt = generated.clone();
        without_adopt.set("adopt", Value::Null);
        terraform.assert_quiet(&without_adopt).await;
        assert_eq!(terraform.destroy().await, Diagnostics::default());
        assert_eq!(terraform.account.slots(), [""; 0]);
    });
}

#[tokio::test(start_paused = true)]
async fn routes_that_the_configuration_does_not_list_stay_unmanaged() {
    let authorizers = [("keeper", authorizer("guard")), ("other", authorizer("guard"))];
    let routes =
        [("GET /a", route("a", Some("keeper"))), ("GET /b", route("b", Some("other"))), ("GET /c", route("a", None))];
    let (mut terraform, mut generated) = imported::<HttpGateway>(&gateway(&routes, &authorizers, &[])).await;
    let unlisted = ["route.GET /b", "route.GET /c", "integration.GET /b", "authorizer.other"];
    terraform.account.unlisted.lock().unwrap().extend(unlisted.map(str::to_string));
    let listed = |name: &str, key: &str| Value::map([(key, generated.get(name).get(key).clone())]);
    let (routes, authorizers) = (listed("route_config", "GET /a"), listed("faas_authorizers", "keeper"));
    generated.set("route_config", routes);
    generated.set("faas_authorizers", authorizers);
    assert_eq!(terraform.apply(&generated).await, Diagnostics::default());
    let calls = terraform.account.take_calls();
    assert!(!calls.iter().any(|call| unlisted.iter().any(|slot| call.ends_with(slot))), "{calls:?}");
    let managed = terraform.state.get("aws_objects").as_map().expect("a map");
    assert!(managed.contains_key("route.GET /a") && managed.contains_key("integration.GET /a"), "{managed:?}");
    assert!(!unlisted.iter().any(|slot| managed.contains_key(*slot)), "{managed:?}");
    terraform.assert_quiet(&generated).await;
}

/// Terraform writes JSON as `jsonencode` does, without spaces and with sorted keys.
#[tokio::test(start_paused = true)]
async fn an_adoption_accepts_another_form_of_a_json_format() {
    let format = r#"{ "status": "$context.status", "id": "$context.requestId" }"#;
    let config = gateway(
        &[("GET /a", route("a", None))],
        &[],
        &[
            ("access_log_logservice_group_name", "front-logs".into()),
            ("access_log_format_type", "CUSTOM".into()),
            ("custom_access_log_format", format.into()),
        ],
    );
    let (mut terraform, mut generated) = imported::<HttpGateway>(&config).await;
    assert_eq!(generated.get("custom_access_log_format"), &Value::from(format));
    let dense = r#"{"id":"$context.requestId","status":"$context.status"}"#;
    generated.set("custom_access_log_format", dense.into());
    terraform.assert_applies(&generated).await;
    let inventory = inventory(&terraform.private);
    let Some(Spec::Stage(stage)) = inventory.at("stage").map(|entry| entry.spec()) else { panic!("{inventory:?}") };
    let log = stage.access_log.as_ref().expect("access logs are on");
    assert_eq!(log.format, Input::Known(format.to_string()), "an adoption changes nothing but tags");
}

#[tokio::test(start_paused = true)]
async fn a_failed_deployment_is_no_difference_of_an_adoption() {
    let mut terraform = Terraform::<HttpGateway>::new(1);
    terraform.assert_applies(&gateway(&[("GET /a", route("a", None))], &[], &[])).await;
    let id = terraform.state.get("id").as_str().expect("it was created").to_string();
    terraform.account.change_outside("stage", |spec| {
        let Spec::Stage(stage) = spec else { panic!("{spec:?}") };
        stage.deployment_failure = Some("Invalid model".to_string());
    });
    terraform.account.remove_all_ownership_tags();
    let generated = import(&mut terraform, &id).await;
    let plan = terraform.plan(&generated).await;
    assert!(!plan.diagnostics.has_errors(), "{:?}", plan.diagnostics);
    let applied = terraform.apply_plan(&generated, plan).await;
    assert!(!applied.has_errors(), "{applied:?}");
}

#[tokio::test(start_paused = true)]
async fn a_difference_that_no_input_expresses_names_what_keeps_it() {
    let mut terraform = Terraform::<FourTierVpc>::new(2);
    terraform.assert_applies(&network(&[])).await;
    let id = terraform.state.get("id").as_str().expect("it was created").to_string();
    for slot in ["subnet.private_app.0", "subnet.private_app.1"] {
        terraform.account.change_outside(slot, |spec| {
            let Spec::Subnet(subnet) = spec else { panic!("{spec:?}") };
            subnet.ipv6_cidr_block = Input::Known(Some("2001:db8::/64".to_string()));
        });
    }
    terraform.account.remove_all_ownership_tags();
    let mut generated = import(&mut terraform, &id).await;
    let problems = terraform.plan(&generated).await.diagnostics;
    let keeps = "ignore_drift = [\"subnet.private_app.0\", \"subnet.private_app.1\"]";
    assert!(problems.0[0].detail.contains(keeps), "{problems:?}");
    generated.set("ignore_drift", vec!["subnet.private_app.0", "subnet.private_app.1"].into());
    terraform.assert_applies(&generated).await;
}

#[tokio::test(start_paused = true)]
async fn an_adoption_of_an_api_changes_no_route() {
    let config = gateway(&[("GET /a", route("a", None))], &[], &[("description", "theirs".into())]);
    let (terraform, generated) = imported::<HttpGateway>(&config).await;
    let refused = |attribute: &str, value: Value| {
        let mut other = generated.clone();
        other.set(attribute, value);
        other
    };
    let changed = refused("route_config", Value::map([("GET /a", route("b", None))]));
    let added = refused("route_config", Value::map([("GET /a", route("a", None)), ("GET /b", route("a", None))]));
    for (input, config) in [
        ("route_config[\"GET /a\"] = ", changed),
        ("no route_config[\"GET /b\"]", added),
        ("description = \"theirs\" instead of \"ours\"", refused("description", "ours".into())),
    ] {
        let problems = terraform.plan(&config).await.diagnostics;
        assert_eq!(problems.0[0].summary, "An adoption changes nothing but tags");
        assert!(problems.0[0].detail.contains(&format!("\n  {input}")), "{problems:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_destroy_before_an_adoption_makes_no_call() {
    let (mut terraform, _) = imported::<FourTierVpc>(&network(&[])).await;
    let warned = terraform.resource.plan(terraform.destroy_request()).await.diagnostics;
    assert!(warned.0.iter().any(|it| it.summary.ends_with("nothing is deleted")), "{warned:?}");
    assert_eq!(terraform.destroy().await, Diagnostics::default());
    assert_eq!(terraform.account.take_calls(), [""; 0]);
}

#[tokio::test(start_paused = true)]
async fn an_object_without_room_for_two_tags_is_not_adopted() {
    let (mut terraform, generated) = imported::<FourTierVpc>(&network(&[])).await;
    assert!(!terraform.plan(&generated).await.diagnostics.has_errors());
    let id = terraform.state.get("id").as_str().expect("it is imported").to_string();
    let full = |spec: &mut Spec| {
        let Some(Input::Known(tags)) = spec.tags_mut() else { return };
        tags.extend((0..49).map(|number| (format!("key-{number}"), Input::Known("x".to_string()))));
    };
    terraform.account.change_outside("route_table.public", full);
    import(&mut terraform, &id).await;
    let problems = terraform.plan(&generated).await.diagnostics;
    let error = &problems.0[0];
    assert_eq!(error.summary, "This object cannot be adopted");
    assert!(error.detail.contains("has 50 tags") && error.detail.contains("adds 2"), "{error:?}");

    // Further tags of the configuration count too.
    let fewer = |spec: &mut Spec| {
        let Some(Input::Known(tags)) = spec.tags_mut() else { return };
        (0..3).for_each(|number| drop(tags.remove(&format!("key-{number}"))));
    };
    terraform.account.change_outside("route_table.public", fewer);
    import(&mut terraform, &id).await;
    assert!(!terraform.plan(&generated).await.diagnostics.has_errors());
    let mut tagged = generated.clone();
    tagged.set("custom_tags", Value::map([("a", "1".into()), ("b", "2".into())]));
    let problems = terraform.plan(&tagged).await.diagnostics;
    assert!(problems.0[0].detail.contains("has 47 tags") && problems.0[0].detail.contains("adds 4"), "{problems:?}");
}

#[tokio::test(start_paused = true)]
async fn entries_of_replaced_objects_have_no_effect_after_the_adoption() {
    let (mut terraform, generated) = imported::<FourTierVpc>(&network(&[])).await;
    assert_eq!(terraform.apply(&generated).await, Diagnostics::default());
    terraform.account.delete_outside("vpc_endpoint.objectstore");
    terraform.refresh().await;
    assert!(!terraform.apply(&generated).await.has_errors());
    let (key, adopted) = ("vpc_endpoint.objectstore", generated.get("adopt").get("vpc_endpoint.objectstore").clone());
    assert_ne!(terraform.state.get("aws_objects").get(key), &adopted, "it was created again");
    let plan = terraform.plan(&generated).await;
    assert!(!plan.diagnostics.has_errors(), "{:?}", plan.diagnostics);
    let mut other = generated.clone();
    other.set("adopt", Value::map([(key, Value::from("vpce-of-another-network"))]));
    assert_eq!(
        terraform.plan(&other).await.diagnostics.0[0].summary,
        "The resource manages another object under this key"
    );
}

#[tokio::test(start_paused = true)]
async fn a_plan_that_adopts_objects_of_a_stack_warns() {
    let (mut terraform, generated) = imported::<FourTierVpc>(&network(&[])).await;
    let id = terraform.state.get("id").as_str().expect("it is imported").to_string();
    terraform.account.stacks.lock().unwrap().insert(id.clone(), "legacy".to_string());
    import(&mut terraform, &id).await;
    let plan = terraform.plan(&generated).await.diagnostics;
    assert_eq!(plan.0[0].summary, "Objects belong to CloudFormation stacks");
    assert!(plan.0[0].detail.contains(&format!("vpc {id}: stack legacy")), "{plan:?}");
    assert!(!plan.has_errors());
}

/// The attributes that contain unknown values in the plan of an adoption.
async fn unknown_in_adoption<P: Topology>(config: &Value) -> Vec<String> {
    let (terraform, generated) = imported::<P>(config).await;
    let planned = terraform.plan(&generated).await.planned;
    let attributes = planned.as_map().expect("it has attributes").iter();
    attributes.filter(|(_, value)| !value.is_wholly_known()).map(|(name, _)| name.clone()).collect()
}

#[tokio::test(start_paused = true)]
async fn a_plan_that_adopts_knows_all_outputs() {
    // The read after an adoption may find objects that were created since.
    assert_eq!(unknown_in_adoption::<FourTierVpc>(&network(&[])).await, ["unmanaged_objects"]);
    // The permissions are created.
    let config = gateway(&[("GET /a", route("a", None))], &[], &[]);
    assert_eq!(unknown_in_adoption::<HttpGateway>(&config).await, ["aws_objects", "unmanaged_objects"]);
}

#[tokio::test(start_paused = true)]
async fn an_unknown_adopt_is_an_error_only_before_the_adoption() {
    let (mut terraform, generated) = imported::<FourTierVpc>(&network(&[])).await;
    let mut unknown = generated.clone();
    unknown.set("adopt", Value::Unknown);
    let error = &terraform.plan(&unknown).await.diagnostics.0[0];
    assert_eq!(error.summary, "The objects to adopt are unknown");
    assert!(!terraform.apply(&generated).await.has_errors());
    let plan = terraform.plan(&unknown).await;
    assert_eq!(plan.diagnostics, Diagnostics::default());
    assert_eq!(plan.planned.get("aws_objects"), terraform.state.get("aws_objects"));
}

#[tokio::test(start_paused = true)]
async fn adopt_without_an_import_is_an_error() {
    let terraform = Terraform::<FourTierVpc>::new(1);
    for adopt in [Value::map([("vpc", Value::from("vpc-1"))]), Value::Unknown] {
        let plan = terraform.plan(&network(&[("adopt", adopt.clone())])).await;
        assert!(plan.diagnostics.has_errors(), "{adopt}");
    }
    assert_eq!(terraform.account.take_calls(), [""; 0]);
}

/// The rules of the default group for HTTPS from this range.
fn https(range: &str) -> Value {
    let rule = Value::map([
        ("protocol", Value::from("tcp")),
        ("from_port", 443.into()),
        ("to_port", 443.into()),
        ("cidr_blocks", vec![range].into()),
    ]);
    Value::map([("https", rule)])
}

#[tokio::test(start_paused = true)]
async fn the_rules_that_an_adoption_found_are_remembered() {
    let (mut terraform, generated) = imported::<FourTierVpc>(&network(&[])).await;
    assert_eq!(terraform.apply(&generated).await, Diagnostics::default());
    let group = |terraform: &Terraform<FourTierVpc>| {
        let inventory = crate::composite::simulation::inventory(&terraform.private);
        let entry = inventory.at("default_security_group").expect("it is adopted").clone();
        (entry.found.map(|found| *found), entry.applied)
    };
    let (found, applied) = group(&terraform);
    assert_eq!(found.as_ref(), Some(&applied));
    let mut changed = generated.clone();
    changed.set("default_security_group_ingress_rules", https("10.0.0.0/8"));
    assert!(!terraform.apply(&changed).await.has_errors());
    let (still_found, applied) = group(&terraform);
    assert_eq!(still_found, found);
    assert_ne!(still_found.as_ref(), Some(&applied));

    // Without private state, nothing shows which rules this resource has added.
    lose_private_state(&mut terraform);
    terraform.refresh().await;
    let (found, applied) = group(&terraform);
    assert_eq!(found, Some(applied));
    terraform.assert_quiet(&changed).await;
}

#[tokio::test(start_paused = true)]
async fn the_default_group_and_acl_may_stay_unmanaged() {
    let inputs = [("apply_default_nacl_rules", true.into())];
    let (mut terraform, generated) = imported::<FourTierVpc>(&network(&inputs)).await;
    let slots = ["default_network_acl", "default_security_group"];
    let mut adopt = generated.get("adopt").as_map().expect("a map").clone();
    let ids = slots.map(|slot| adopt.remove(slot).expect("it is proposed"));
    let mut without = generated.clone();
    without.set("adopt", Value::Map(adopt));
    let refused = &terraform.plan(&without).await.diagnostics.0[0];
    assert_eq!(refused.summary, "Objects are not named in adopt");
    for (slot, id) in slots.iter().zip(&ids) {
        assert!(refused.detail.contains(&format!("\n  {slot:?} = {id}")), "{refused:?}");
    }

    terraform.account.unlisted.lock().unwrap().extend(slots.map(str::to_string));
    without.set("apply_default_nacl_rules", false.into());
    without.set("enable_default_security_group", false.into());
    assert_eq!(terraform.apply(&without).await, Diagnostics::default());
    let managed = terraform.state.get("aws_objects").as_map().expect("a map");
    assert!(managed.contains_key("vpc") && !slots.iter().any(|slot| managed.contains_key(*slot)), "{managed:?}");
    let calls = terraform.account.take_calls();
    assert!(!calls.iter().any(|call| slots.iter().any(|slot| call.ends_with(slot))), "{calls:?}");
    terraform.assert_quiet(&without).await;
}

#[tokio::test(start_paused = true)]
async fn an_adoption_takes_no_subnet_from_another_network_acl() {
    let inputs = [("apply_default_nacl_rules", true.into())];
    let (mut terraform, generated) = imported::<FourTierVpc>(&network(&inputs)).await;
    let mut other = generated.clone();
    other.set("associate_default_nacl_to_subnets", true.into());
    assert_eq!(terraform.plan(&other).await.diagnostics, Diagnostics::default(), "all subnets have the default ACL");
    terraform.account.associate_network_acl("subnet.public.0", "acl-9");
    terraform.refresh().await;
    assert_eq!(terraform.plan(&generated).await.diagnostics, Diagnostics::default());
    let diagnostics = terraform.plan(&other).await.diagnostics.0;
    let refused = diagnostics.iter().find(|it| it.summary == "An adoption changes nothing but tags");
    let refused = refused.unwrap_or_else(|| panic!("{diagnostics:?}"));
    assert!(refused.detail.contains("associate_default_nacl_to_subnets = false instead of true"), "{refused:?}");
}

#[tokio::test(start_paused = true)]
async fn a_destroy_releases_no_defaults_while_the_vpc_exists() {
    let inputs = [("apply_default_nacl_rules", true.into())];
    let (mut terraform, generated) = imported::<FourTierVpc>(&network(&inputs)).await;
    assert_eq!(terraform.apply(&generated).await, Diagnostics::default());
    let mut changed = generated.clone();
    changed.set("default_security_group_ingress_rules", https("10.0.0.0/8"));
    assert!(!terraform.apply(&changed).await.has_errors());
    terraform.account.take_calls();
    terraform.account.failing.lock().unwrap().push("vpc".to_string());
    assert!(terraform.destroy().await.has_errors());
    let calls = terraform.account.take_calls();
    assert!(calls.contains(&"delete vpc".to_string()) && !calls.iter().any(|it| it.contains("default_")), "{calls:?}");
    let left = terraform.state.get("aws_objects").as_map().expect("a map").keys();
    assert_eq!(left.collect::<Vec<_>>(), ["default_network_acl", "default_security_group", "vpc"]);
    terraform.account.failing.lock().unwrap().clear();
    assert_eq!(terraform.destroy().await, Diagnostics::default());
}
