//! The order of changes that turn IPv6 on and off in private tiers.

use super::*;

fn tiers(tiers: &[&str]) -> Value {
    network(&[
        ("num_availability_zones", 1.into()),
        ("create_vpc_endpoints", false.into()),
        ("enable_ipv6", true.into()),
        ("assign_generated_ipv6_cidr_block", true.into()),
        ("ipv6_subnet_tiers", tiers.to_vec().into()),
        ("assign_ipv6_address_on_creation_tiers", tiers.to_vec().into()),
    ])
}

const PLAIN: &[(&str, i64)] = &[("num_availability_zones", 1)];

fn plain() -> Value {
    let mut config = network(&[("create_vpc_endpoints", false.into())]);
    for (name, value) in PLAIN {
        config.set(name, (*value).into());
    }
    config
}

async fn calls(terraform: &mut Terraform<FourTierVpc>, config: &Value) -> Vec<String> {
    terraform.account.take_calls();
    terraform.assert_applies(config).await;
    terraform.account.take_calls()
}

const SUBNET: &str = "update subnet.private_app.0";
const ROUTE: &str = "route.private_app.0.ipv6";
const GATEWAY: &str = "egress_only_internet_gateway";

#[tokio::test(start_paused = true)]
async fn ipv6_of_a_private_tier_is_turned_on_and_off_in_order() {
    let mut terraform = Terraform::<FourTierVpc>::new(1);
    terraform.assert_applies(&plain()).await;
    let before = terraform.state.get("aws_objects").clone();
    // The block, and at the end the flag.
    let on = calls(&mut terraform, &tiers(&["private_app"])).await;
    let expected = [
        "create ipv6_cidr_block".to_string(),
        SUBNET.to_string(),
        format!("create {GATEWAY}"),
        format!("create {ROUTE}"),
        SUBNET.to_string(),
    ];
    assert_eq!(on, expected);
    // The flag, and at the end the block.
    let off = calls(&mut terraform, &plain()).await;
    let expected = [
        SUBNET.to_string(),
        format!("delete {ROUTE}"),
        SUBNET.to_string(),
        format!("delete {GATEWAY}"),
        "delete ipv6_cidr_block".to_string(),
    ];
    assert_eq!(off, expected);
    assert_eq!(terraform.state.get("aws_objects"), &before, "all objects are the same");
    terraform.end().await;
}

#[tokio::test(start_paused = true)]
async fn a_further_tier_leaves_the_others_alone() {
    let mut terraform = Terraform::<FourTierVpc>::new(1);
    terraform.assert_applies(&tiers(&["public"])).await;
    let on = calls(&mut terraform, &tiers(&["public", "private_app"])).await;
    assert_eq!(on, [SUBNET.to_string(), format!("create {GATEWAY}"), format!("create {ROUTE}"), SUBNET.to_string()]);
    let off = calls(&mut terraform, &tiers(&["private_app"])).await;
    let public = "update subnet.public.0";
    assert_eq!(off, [public, "delete route.public.ipv6", public], "the route precedes the block");
    terraform.end().await;
}

#[tokio::test(start_paused = true)]
async fn a_failure_between_two_steps_is_completed_by_the_next_apply() {
    for (from, to) in [(plain(), tiers(&["private_app"])), (tiers(&["private_app"]), plain())] {
        for failing in [GATEWAY, ROUTE, "subnet.private_app.0", "ipv6_cidr_block"] {
            let mut terraform = Terraform::<FourTierVpc>::new(1);
            terraform.assert_applies(&from).await;
            terraform.account.failing.lock().unwrap().push(failing.to_string());
            assert!(terraform.apply(&to).await.has_errors(), "{failing} fails");
            terraform.account.failing.lock().unwrap().clear();
            terraform.assert_applies(&to).await;
            terraform.assert_quiet(&to).await;
            terraform.end().await;
        }
    }
}
