//! NAT gateways that are replaced, and the routes to them in the meantime.

use super::*;

/// Two AZs with a NAT gateway each, or with one for both.
fn two_azs(nats: i64, block: Option<&str>) -> Value {
    let mut config = network(&[("num_availability_zones", 2.into()), ("num_nat_gateways", nats.into())]);
    if let Some(block) = block {
        config.set("public_subnet_cidr_blocks", Value::map([("AZ-0", Value::from(block))]));
    }
    config
}

/// The calls that concern NAT gateways and the routes of the private app tier.
fn nat_calls(terraform: &Terraform<FourTierVpc>) -> Vec<String> {
    let concerns = |call: &String| call.contains(" nat_gateway.") || call.contains(" route.private_app.");
    terraform.account.take_calls().into_iter().filter(concerns).collect()
}

fn warning(plan: &PlanResponse) -> Option<&str> {
    plan.diagnostics.0.iter().find(|it| it.summary.contains(" interrupts ")).map(|it| it.detail.as_str())
}

#[tokio::test(start_paused = true)]
async fn a_route_uses_another_nat_gateway_during_a_replacement() {
    let mut terraform = Terraform::<FourTierVpc>::new(2);
    terraform.assert_applies(&two_azs(2, None)).await;
    let other = terraform.state.get("aws_objects").get("nat_gateway.1").clone();
    terraform.account.take_calls();
    assert_eq!(warning(&terraform.plan(&two_azs(2, Some("10.0.240.0/24"))).await), None);
    terraform.assert_applies(&two_azs(2, Some("10.0.240.0/24"))).await;
    let expected = [
        "update route.private_app.0.ipv4",
        "delete nat_gateway.0",
        "create nat_gateway.0",
        "update route.private_app.0.ipv4",
    ];
    assert_eq!(nat_calls(&terraform), expected);
    assert_eq!(*terraform.state.get("aws_objects").get("nat_gateway.1"), other);
    assert_eq!(terraform.account.take_blackholes().len(), 0);
}

#[tokio::test(start_paused = true)]
async fn a_route_uses_another_nat_gateway_until_a_missing_one_exists() {
    let mut terraform = Terraform::<FourTierVpc>::new(2);
    terraform.assert_applies(&two_azs(2, None)).await;
    terraform.account.delete_outside("nat_gateway.0");
    terraform.refresh().await;
    let drift: Vec<&String> = terraform.state.get("drift").as_map().unwrap().keys().collect();
    assert_eq!(drift, ["nat_gateway.0", "route.private_app.0.ipv4"]);
    let address = terraform.state.get("aws_objects").get("eip.0").clone();
    terraform.account.take_calls();
    terraform.assert_applies(&two_azs(2, None)).await;
    let mut calls = nat_calls(&terraform);
    assert_eq!(calls.pop().as_deref(), Some("update route.private_app.0.ipv4"));
    calls.sort();
    assert_eq!(calls, ["create nat_gateway.0", "update route.private_app.0.ipv4"]);
    assert_eq!(*terraform.state.get("aws_objects").get("eip.0"), address);
    assert_eq!(terraform.account.take_blackholes().len(), 0);
}

#[tokio::test(start_paused = true)]
async fn a_plan_warns_of_routes_without_another_nat_gateway() {
    let mut terraform = Terraform::<FourTierVpc>::new(2);
    terraform.assert_applies(&two_azs(1, None)).await;
    let replaced = two_azs(1, Some("10.0.240.0/24"));
    let plan = terraform.plan(&replaced).await;
    let detail = warning(&plan).unwrap_or_else(|| panic!("{:?}", plan.diagnostics));
    for index in 0..2 {
        let line = format!("  route.private_app.{index}.ipv4 (");
        let line = detail.lines().find(|it| it.starts_with(&line)).unwrap_or_else(|| panic!("{detail}"));
        assert!(line.contains("from the deletion of nat_gateway.0 (nat_gateway.0-"), "{line}");
    }
    terraform.assert_applies(&replaced).await;
    assert_eq!(terraform.account.take_blackholes().len(), 2, "the warning is correct");
    terraform.account.delete_outside("nat_gateway.0");
    terraform.refresh().await;
    let plan = terraform.plan(&replaced).await;
    assert!(warning(&plan).is_some_and(|it| it.contains("already")), "{:?}", plan.diagnostics);
}

#[tokio::test(start_paused = true)]
async fn a_failed_replacement_keeps_the_route_to_another_nat_gateway() {
    let mut terraform = Terraform::<FourTierVpc>::new(2);
    terraform.assert_applies(&two_azs(2, None)).await;
    // The deletion fails, so no new object is created.
    terraform.account.failing.lock().unwrap().push("nat_gateway.0".into());
    assert!(terraform.apply(&two_azs(2, Some("10.0.240.0/24"))).await.has_errors());
    assert_eq!(terraform.account.take_blackholes().len(), 0);
    terraform.account.failing.lock().unwrap().clear();
    terraform.account.take_calls();
    terraform.assert_applies(&two_azs(2, Some("10.0.240.0/24"))).await;
    let calls = nat_calls(&terraform);
    assert_eq!(calls, ["delete nat_gateway.0", "create nat_gateway.0", "update route.private_app.0.ipv4"]);
    assert_eq!(terraform.account.take_blackholes().len(), 0);
}

#[tokio::test(start_paused = true)]
async fn a_nat_gateway_with_another_address_is_created_first() {
    let mut terraform = Terraform::<FourTierVpc>::new(2);
    terraform.assert_applies(&two_azs(1, None)).await;
    let mut custom = two_azs(1, None);
    custom.set("use_custom_nat_eips", true.into());
    custom.set("custom_nat_eips", vec!["eipalloc-0123456789abcdef0"].into());
    terraform.account.take_calls();
    assert_eq!(warning(&terraform.plan(&custom).await), None);
    terraform.assert_applies(&custom).await;
    let calls = nat_calls(&terraform);
    assert_eq!((calls[0].as_str(), calls[3].as_str()), ("create nat_gateway.0", "delete nat_gateway.0"), "{calls:?}");
    assert_eq!(calls.len(), 4);
    assert_eq!(terraform.account.take_blackholes().len(), 0);
}
