//! Creates, updates and destroys, with known and unknown inputs.

use super::*;

#[tokio::test(start_paused = true)]
async fn a_network_is_created_updated_and_destroyed() {
    let mut terraform = Terraform::<FourTierVpc>::new(3);
    let small = network(&[]);
    terraform.assert_applies(&small).await;
    assert_eq!(*terraform.account.root_state.lock().unwrap(), Some(RootState::Ready));
    let before = terraform.state.get("public_subnets").clone();
    let large = network(&[("create_transit_subnets", true.into()), ("num_nat_gateways", 3.into())]);
    terraform.assert_applies(&large).await;
    assert_eq!(terraform.account.slots().len(), 49);
    assert_eq!(*terraform.state.get("public_subnets"), before, "no other subnet moves when the transit tier is added");
    terraform.assert_applies(&small).await;
    assert_eq!(terraform.destroy().await, Diagnostics::default());
    assert_eq!((terraform.state.clone(), terraform.account.slots()), (Value::Null, Vec::new()));
}

#[tokio::test(start_paused = true)]
async fn dependencies_of_nat_gateways_are_created_first() {
    let mut terraform = Terraform::<FourTierVpc>::new(6);
    terraform.assert_applies(&network(&[("num_nat_gateways", 6.into())])).await;
    let calls = terraform.account.take_calls();
    // The limit of operations in flight; twice as many depend only on the VPC.
    let first = &calls[..24];
    let needed = (0..6).flat_map(|index| [format!("create eip.{index}"), format!("create subnet.public.{index}")]);
    for call in needed.chain(["create internet_gateway".to_string()]) {
        assert!(first.contains(&call), "{call} is not among {first:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn an_ipv6_range_of_another_source_replaces_no_subnet() {
    let mut terraform = Terraform::<FourTierVpc>::new(2);
    let of_pool = network(&[("enable_ipv6", true.into()), ("ipv6_ipam_pool_id", "ipam-pool-1".into())]);
    terraform.assert_applies(&of_pool).await;
    terraform.account.take_calls();
    let of_amazon = network(&[("enable_ipv6", true.into()), ("assign_generated_ipv6_cidr_block", true.into())]);
    terraform.assert_applies(&of_amazon).await;
    let calls = terraform.account.take_calls();
    let verbs: Vec<&str> = calls.iter().filter_map(|call| call.split_once(' ')).map(|(verb, _)| verb).collect();
    assert_eq!((verbs[0], verbs[verbs.len() - 1]), ("create", "delete"), "subnets are updated in between: {calls:?}");
    assert!(verbs[1..verbs.len() - 1].iter().all(|verb| *verb == "update"), "{calls:?}");
}

#[tokio::test(start_paused = true)]
async fn rules_that_aws_adds_with_an_ipv6_range_are_removed() {
    let mut terraform = Terraform::<FourTierVpc>::new(2);
    let mut config = network(&[("apply_default_nacl_rules", true.into())]);
    properties::allow_only_ipv4(&mut config);
    terraform.assert_applies(&config).await;
    terraform.account.take_calls();
    config.set("enable_ipv6", true.into());
    config.set("assign_generated_ipv6_cidr_block", true.into());
    terraform.assert_applies(&config).await;
    let calls = terraform.account.take_calls();
    let position =
        |call: &str| calls.iter().position(|it| it == call).unwrap_or_else(|| panic!("no {call} in {calls:?}"));
    let range = position("create ipv6_cidr_block");
    for kind in ["default_network_acl", "default_security_group"] {
        assert!(position(&format!("update {kind}")) > range, "{calls:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn another_form_of_a_policy_changes_nothing() {
    let policy = |text: &str| network(&[("objectstore_endpoint_policy", text.into())]);
    let with = |actions: &str| {
        format!(r#"{{"Statement":[{{"Effect":"Allow","Principal":"*","Action":[{actions}],"Resource":"*"}}]}}"#)
    };
    let mut terraform = Terraform::<FourTierVpc>::new(1);
    terraform.assert_applies(&policy(&with(r#""s3:GetObject","s3:PutObject""#))).await;
    terraform.account.take_calls();
    terraform.assert_quiet(&policy(&with(r#""s3:PutObject", "s3:GetObject""#))).await;
    let spaced = with(r#""s3:GetObject","s3:PutObject""#).replace(':', " : ").replace("s3 : ", "s3:");
    terraform.assert_quiet(&policy(&spaced)).await;
    terraform.assert_applies(&policy(&with(r#""s3:GetObject""#))).await;
    assert_eq!(terraform.account.take_calls(), ["update vpc_endpoint.objectstore"]);
}

#[tokio::test(start_paused = true)]
async fn a_replacement_continues_after_a_partial_destroy() {
    let mut terraform = Terraform::<FourTierVpc>::new(2);
    let config = network(&[]);
    terraform.assert_applies(&config).await;
    let objects = terraform.account.slots().len();
    terraform.account.failing.lock().unwrap().push("internet_gateway".into());
    assert!(terraform.replace(&config, Vec::new()).await.has_errors());
    assert!(!terraform.state.is_null());
    terraform.account.failing.lock().unwrap().clear();
    terraform.refresh().await;
    assert_eq!(terraform.replace(&config, Vec::new()).await, Diagnostics::default());
    assert_eq!(terraform.account.slots().len(), objects);
}

#[tokio::test(start_paused = true)]
async fn a_gateway_is_created_updated_and_destroyed() {
    let mut terraform = Terraform::<HttpGateway>::new(0);
    let open = gateway(&[("GET /a", route("a", None)), ("GET /b", route("b", None))], &[], &[]);
    terraform.assert_applies(&open).await;
    let guarded = [("GET /a", route("b", None)), ("GET /b", route("a", Some("guard")))];
    terraform.assert_applies(&gateway(&guarded, &[("guard", authorizer("guard"))], &[])).await;
    let logged = [("access_log_logservice_group_name", Value::from("logs"))];
    terraform.assert_applies(&gateway(&guarded, &[("guard", authorizer("other"))], &logged)).await;
    terraform.assert_applies(&open).await;
    assert_eq!(terraform.destroy().await, Diagnostics::default());
    assert_eq!(terraform.account.slots(), Vec::<String>::new());
}

#[tokio::test(start_paused = true)]
async fn a_replacement_is_planned_from_an_empty_inventory() {
    let mut terraform = Terraform::<FourTierVpc>::new(3);
    terraform.assert_applies(&network(&[])).await;
    terraform.assert_applies(&network(&[("cidr_block", "10.0.0.0/20".into())])).await;
    assert_eq!(*terraform.state.get("cidr_block"), "10.0.0.0/20".into());
}

#[tokio::test(start_paused = true)]
async fn a_denied_tag_change_is_a_warning_and_the_next_plan_is_empty() {
    let mut terraform = Terraform::<FourTierVpc>::new(2);
    *terraform.account.tagging_failure.lock().unwrap() = Some(Cause::Denied);
    let diagnostics = terraform.apply(&network(&[])).await;
    assert!(diagnostics.0[0].summary.contains("fgw:state") && !diagnostics.has_errors(), "{diagnostics:?}");
    terraform.assert_quiet(&network(&[])).await;
    *terraform.account.tagging_failure.lock().unwrap() = None;
    terraform.assert_applies(&network(&[("num_nat_gateways", 2.into())])).await;
    assert_eq!(*terraform.account.root_state.lock().unwrap(), Some(RootState::Ready));
}

#[tokio::test(start_paused = true)]
async fn a_throttled_tag_change_is_repeated_by_the_next_apply() {
    let mut terraform = Terraform::<FourTierVpc>::new(2);
    *terraform.account.tagging_failure.lock().unwrap() = Some(Cause::Throttled);
    let diagnostics = terraform.apply(&network(&[])).await;
    assert!(diagnostics.0[0].summary.contains("fgw:state") && !diagnostics.has_errors(), "{diagnostics:?}");
    *terraform.account.tagging_failure.lock().unwrap() = None;
    terraform.refresh().await;
    let drift = terraform.state.get("drift").get("vpc");
    assert!(drift.as_str().is_some_and(|it| it.contains("fgw:state is creating")), "{drift:?}");
    terraform.assert_applies(&network(&[])).await;
    assert_eq!(*terraform.account.root_state.lock().unwrap(), Some(RootState::Ready));
}

#[tokio::test(start_paused = true)]
async fn an_unknown_provider_configuration_plans_without_aws() {
    let connection = Connection::default();
    connection.set(Connected::Unknown(TagSettings::default()));
    let mut terraform = Terraform::<FourTierVpc>::new(2);
    terraform.resource = Composite::new(connection);
    let plan = terraform.plan(&network(&[])).await;
    assert_eq!(plan.diagnostics, Diagnostics::default());
    assert_eq!(*plan.planned.get("aws_objects"), Value::Unknown);
    assert_eq!(*plan.planned.get("vpc_id"), Value::Unknown);
}

#[tokio::test(start_paused = true)]
async fn only_values_that_depend_on_unknown_inputs_are_unknown() {
    let terraform = Terraform::<FourTierVpc>::new(2);
    let plan = terraform.plan(&network(&[("cidr_block", Value::Unknown)])).await;
    assert!(!plan.diagnostics.has_errors(), "{:?}", plan.diagnostics);
    let names: Vec<&String> = plan.planned.get("public_subnets").as_map().unwrap().keys().collect();
    assert_eq!(names, ["main-public-0", "main-public-1"]);
    let subnet = plan.planned.get("public_subnets").get("main-public-0");
    assert_eq!((subnet.get("cidr_block"), subnet.get("index")), (&Value::Unknown, &Value::from(0)));

    let terraform = Terraform::<HttpGateway>::new(0);
    let mut unknown = route("a", None);
    unknown.set("faas_function_arn", Value::Unknown);
    let plan = terraform.plan(&gateway(&[("GET /a", unknown)], &[], &[])).await;
    assert!(!plan.diagnostics.has_errors(), "{:?}", plan.diagnostics);
    assert_eq!(*plan.planned.get("route_ids"), Value::map([("GET /a", Value::Unknown)]));
}
