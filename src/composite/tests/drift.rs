//! Changes outside Terraform, missing objects, and lost private state.

use super::*;

/// The same happens with `ignore_changes`: Terraform then uses the refreshed value of the attribute as configured.
#[tokio::test(start_paused = true)]
async fn drift_that_the_configuration_adopts_needs_no_change() {
    let mut terraform = Terraform::<FourTierVpc>::new(2);
    terraform.assert_applies(&network(&[])).await;
    for slot in ["subnet.public.0", "subnet.public.1"] {
        terraform.account.change_outside(slot, |spec| {
            let Spec::Subnet(subnet) = spec else { unreachable!() };
            subnet.map_public_ip_on_launch = Input::Known(true);
        });
    }
    terraform.refresh().await;
    assert_eq!(terraform.state.get("drift").as_map().unwrap().len(), 2);
    terraform.account.take_calls();
    let adopted = ("map_public_ip_on_launch", Value::from(true));
    terraform.assert_quiet(&network(std::slice::from_ref(&adopted))).await;
    assert!(terraform.plan(&network(&[])).await.planned != terraform.state, "otherwise it is corrected");
    terraform.assert_applies(&network(&[adopted, ("enable_dns_hostnames", false.into())])).await;
    assert_eq!(terraform.account.take_calls(), ["update vpc"]);
    assert_eq!(*terraform.state.get("drift"), Value::map::<&str>([]));
}

#[tokio::test(start_paused = true)]
async fn ignored_drift_stays_when_other_values_change() {
    let mut terraform = Terraform::<FourTierVpc>::new(1);
    let ignoring = |further: &[(&str, Value)]| {
        let patterns = ("ignore_drift", vec!["subnet.public.*", "vpc_endpoint.*"].into());
        network(&[&[patterns], further].concat())
    };
    terraform.assert_applies(&ignoring(&[])).await;
    let change = |terraform: &Terraform<FourTierVpc>| {
        terraform
            .account
            .change_outside("subnet.public.0", |spec| *spec.tags_mut().unwrap() = Input::Known(Default::default()));
        terraform.account.delete_outside("vpc_endpoint.keyvalue");
    };
    change(&terraform);
    terraform.account.take_calls();
    terraform.assert_quiet(&ignoring(&[])).await;
    assert_eq!(*terraform.state.get("drift"), Value::map::<&str>([]));
    assert_eq!(terraform.account.take_calls(), Vec::<String>::new());

    let tagged = [("custom_tags", Value::map([("team", "net".into())]))];
    terraform.assert_applies(&ignoring(&tagged)).await;
    let calls = terraform.account.take_calls();
    assert!(!calls.contains(&"create vpc_endpoint.keyvalue".to_string()), "nothing needs it: {calls:?}");
    assert!(calls.contains(&"update subnet.public.0".to_string()), "{calls:?}");
    let tags = inventory(&terraform.private).at("subnet.public.0").unwrap().observed().cloned();
    let tags = tags.and_then(|spec| Some(spec.tags()?.known()?.keys().cloned().collect::<Vec<_>>()));
    assert_eq!(tags.unwrap_or_default(), ["team"], "the missing tags stay missing");

    // Drift is no longer ignored as soon as the configuration has no pattern.
    change(&terraform);
    terraform.account.take_calls();
    let without_patterns = [("custom_tags", Value::map([("team", "net".into())])), ("ignore_drift", Value::Null)];
    terraform.refresh().await;
    terraform.assert_applies(&network(&without_patterns)).await;
    let calls = terraform.account.take_calls();
    assert_eq!(calls.len(), 2, "{calls:?}");
    assert!(!terraform.destroy().await.has_errors());
    assert_eq!(terraform.account.slots(), Vec::<String>::new());
}

#[tokio::test(start_paused = true)]
async fn unmanaged_tags_are_kept_without_private_state() {
    let mut terraform = Terraform::<FourTierVpc>::new(1);
    let config = network(&[]);
    terraform.assert_applies(&config).await;
    terraform.account.change_outside("subnet.public.0", |spec| {
        let Some(Input::Known(tags)) = spec.tags_mut() else { unreachable!() };
        tags.insert("kubernetes.io/role/elb".into(), Input::Known("1".into()));
    });
    terraform.private = Vec::new();
    terraform.refresh().await;
    terraform.account.take_calls();
    terraform.assert_applies(&config).await;
    assert_eq!(terraform.account.take_calls(), Vec::<String>::new());
}

#[tokio::test(start_paused = true)]
async fn a_destroy_deletes_the_address_of_a_missing_network() {
    let mut terraform = Terraform::<FourTierVpc>::new(2);
    terraform.assert_applies(&network(&[])).await;
    let id = terraform.state.get("id").clone();
    terraform.account.delete_root_outside();
    terraform.refresh().await;
    assert_eq!(*terraform.state.get("id"), id);
    let named: Vec<&String> = terraform.state.get("aws_objects").as_map().unwrap().keys().collect();
    assert_eq!(named, ["eip.0"]);
    assert!(terraform.state.get("drift").get("vpc").as_str().unwrap().ends_with("is missing"));
    assert_eq!(terraform.destroy().await, Diagnostics::default());
    assert_eq!((terraform.state.clone(), terraform.account.slots()), (Value::Null, Vec::new()));
}

#[tokio::test(start_paused = true)]
async fn a_network_with_only_an_address_left_is_replaced() {
    let mut terraform = Terraform::<FourTierVpc>::new(2);
    let config = network(&[]);
    terraform.assert_applies(&config).await;
    let objects = terraform.account.slots().len();
    terraform.account.failing.lock().unwrap().push("eip.0".into());
    terraform.account.delete_root_outside();
    terraform.refresh().await;
    assert!(terraform.destroy().await.has_errors());
    terraform.account.failing.lock().unwrap().clear();
    terraform.refresh().await;
    let plan = terraform.plan(&config).await;
    assert_eq!(plan.requires_replace, [AttributePath::new("id")]);
    assert_eq!(*plan.planned.get("id"), Value::Unknown, "Terraform replaces only for a value that differs");
    assert!(plan.diagnostics.0.iter().any(|it| it.detail.contains("eip.0 (eipalloc-eip.0-")), "{:?}", plan.diagnostics);
    terraform.account.take_calls();
    terraform.assert_applies(&config).await;
    assert_eq!(terraform.account.take_calls()[0], "delete eip.0");
    assert_eq!(terraform.account.slots().len(), objects);
}

#[tokio::test(start_paused = true)]
async fn a_replacement_deletes_the_remains_of_a_missing_gateway() {
    let mut terraform = Terraform::<HttpGateway>::new(0);
    let config = gateway(&[("GET /a", route("a", None))], &[], &[]);
    terraform.assert_applies(&config).await;
    let objects = terraform.account.slots().len();
    for tainted in [false, true] {
        terraform.account.delete_root_outside();
        assert_eq!(terraform.account.slots().len(), 1, "only the permission is left");
        terraform.refresh().await;
        terraform.account.take_calls();
        match tainted {
            false => terraform.assert_applies(&config).await,
            true => assert_eq!(terraform.replace(&config, Vec::new()).await, Diagnostics::default()),
        }
        assert!(terraform.account.take_calls()[0].starts_with("delete permission"));
        assert_eq!(terraform.account.slots().len(), objects);
    }
}

#[tokio::test(start_paused = true)]
async fn an_az_takes_an_index_while_an_old_subnet_is_in_use() {
    let mut terraform = Terraform::<FourTierVpc>::new(4);
    let three = network(&[("num_availability_zones", 3.into())]);
    terraform.assert_applies(&three).await;
    terraform.account.in_use.lock().unwrap().push("subnet.private_app.0".into());
    terraform.account.take_calls();
    let mut without_first = three.clone();
    without_first.set("availability_zone_exclude_ids", vec!["use1-az1"].into());
    let diagnostics = terraform.apply(&without_first).await;
    assert!(!diagnostics.has_errors(), "{diagnostics:?}");
    let calls = terraform.account.take_calls();
    let position = |call: &str| calls.iter().position(|it| it == call);
    let (created, deleted) = (position("create subnet.public.0"), position("delete subnet.public.0"));
    assert!(created.is_some() && deleted.is_some() && created < deleted, "{calls:?}");
    let subnets = terraform.state.get("private_app_subnets");
    assert_eq!(subnets.get("main-private-app-0").get("availability_zone_id"), &"use1-az4".into());
    terraform.account.in_use.lock().unwrap().clear();
    terraform.refresh().await;
    terraform.assert_applies(&without_first).await;
    assert_eq!(*terraform.state.get("pending_deletion"), Value::map::<&str>([]));
}

#[tokio::test(start_paused = true)]
async fn drift_is_reported_planned_and_corrected() {
    let mut terraform = Terraform::<FourTierVpc>::new(2);
    let config = network(&[]);
    terraform.assert_applies(&config).await;
    terraform.account.delete_outside("route.private_app.0.ipv4");
    terraform.account.change_outside("subnet.public.0", |spec| {
        let Spec::Subnet(subnet) = spec else { unreachable!() };
        subnet.map_public_ip_on_launch = Input::Known(true);
    });
    terraform.refresh().await;
    let drift: Vec<&String> = terraform.state.get("drift").as_map().unwrap().keys().collect();
    assert_eq!(drift, ["route.private_app.0.ipv4", "subnet.public.0"]);
    terraform.refresh().await;
    terraform.account.take_calls();
    terraform.assert_applies(&config).await;
    let mut calls = terraform.account.take_calls();
    calls.sort();
    assert_eq!(calls, ["create route.private_app.0.ipv4", "update subnet.public.0"]);
}

#[tokio::test(start_paused = true)]
async fn private_state_is_rebuilt_from_aws() {
    let mut terraform = Terraform::<FourTierVpc>::new(3);
    let config = network(&[("create_transit_subnets", true.into())]);
    terraform.assert_applies(&config).await;
    terraform.private = Vec::new();
    terraform.account.take_calls();
    terraform.assert_quiet(&config).await;
    terraform.private = b"from the future".to_vec();
    let plan = terraform.plan(&config).await;
    assert_eq!(plan.planned, terraform.state, "also in a plan without refresh");
    assert_eq!(terraform.account.take_calls(), Vec::<String>::new());
}

#[tokio::test(start_paused = true)]
async fn an_import_changes_no_objects() {
    let mut terraform = Terraform::<FourTierVpc>::new(2);
    let config = network(&[]);
    terraform.assert_applies(&config).await;
    let id = terraform.state.get("id").as_str().unwrap().to_string();
    terraform.account.take_calls();
    let imported = terraform.resource.import(ImportTarget::Id(id.to_string())).await;
    terraform.state = imported.state.expect("the network is found");
    terraform.private = imported.private;
    assert_eq!(inventory(&terraform.private).entries.len(), terraform.account.slots().len());
    terraform.refresh().await;
    terraform.assert_applies(&config).await;
    assert_eq!(terraform.account.take_calls(), Vec::<String>::new(), "an import and its plan change nothing in AWS");
}

#[tokio::test(start_paused = true)]
async fn a_missing_root_is_never_ignored() {
    let mut terraform = Terraform::<FourTierVpc>::new(2);
    let config = network(&[("ignore_drift", vec!["*"].into())]);
    terraform.assert_applies(&config).await;
    terraform.account.delete_root_outside();
    terraform.refresh().await;
    for attributes in [&config, &network(&[])] {
        let plan = terraform.plan(attributes).await;
        assert_eq!(plan.requires_replace, [AttributePath::new("id")], "only a replacement can create another VPC");
    }
}
