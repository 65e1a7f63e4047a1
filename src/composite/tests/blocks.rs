//! The blocks of new subnets in a VPC with unmanaged subnets and with subnets in use.

use super::*;

fn azs(count: i64, pairs: &[(&str, Value)]) -> Value {
    let mut config = network(pairs);
    config.set("num_availability_zones", count.into());
    config
}

fn block(terraform: &Terraform<FourTierVpc>, slot: &str) -> String {
    let inventory = inventory(&terraform.private);
    let entry = inventory.at(slot).unwrap_or_else(|| panic!("no {slot} in {inventory:?}"));
    match &entry.applied {
        Spec::Subnet(subnet) => subnet.cidr_block.known().expect("an existing block is known").clone(),
        other => panic!("{other:?}"),
    }
}

#[tokio::test(start_paused = true)]
async fn a_new_subnet_avoids_unmanaged_ones_until_they_are_deleted() {
    for loses_private_state in [false, true] {
        let mut terraform = Terraform::<FourTierVpc>::new(3);
        terraform.assert_applies(&azs(2, &[])).await;
        *terraform.account.unmanaged_subnets.lock().unwrap() = vec![("subnet-theirs", "10.0.100.0/24")];
        terraform.assert_quiet(&azs(2, &[])).await;
        if loses_private_state {
            terraform.private.clear();
        }
        terraform.assert_applies(&azs(3, &[])).await;
        // The block of the formula is 10.0.96.0/21.
        assert_eq!(block(&terraform, "subnet.private_app.2"), "10.0.128.0/21");

        let entry = Value::map([("AZ-0", Value::from("10.0.100.0/25"))]);
        let explicit = azs(3, &[("public_subnet_cidr_blocks", entry)]);
        let rejected = terraform.plan(&explicit).await;
        let errors = rejected.diagnostics;
        assert!(errors.0.iter().any(|it| it.detail.contains("subnet-theirs")), "{errors:?}");
        terraform.account.unmanaged_subnets.lock().unwrap().clear();
        terraform.refresh().await;
        terraform.assert_applies(&explicit).await;
        assert_eq!(block(&terraform, "subnet.public.0"), "10.0.100.0/25");
    }
}

#[tokio::test(start_paused = true)]
async fn a_tier_grows_while_it_is_in_use() {
    let with = |bits: i64| azs(2, &[("public_subnet_bits", bits.into()), ("num_nat_gateways", 0.into())]);
    let mut terraform = Terraform::<FourTierVpc>::new(2);
    terraform.assert_applies(&with(8)).await;
    terraform.account.in_use.lock().unwrap().push("subnet.public.0".into());
    let diagnostics = terraform.apply(&with(6)).await;
    assert!(!diagnostics.has_errors(), "{diagnostics:?}");
    assert_eq!(
        [0, 1].map(|index| block(&terraform, &format!("subnet.public.{index}"))),
        ["10.0.24.0/22", "10.0.4.0/22"]
    );
    let pending: Vec<&String> = terraform.state.get("pending_deletion").as_map().unwrap().keys().collect();
    assert!(pending.contains(&&"subnet.public.0".to_string()), "{pending:?}");
    terraform.account.in_use.lock().unwrap().clear();
    terraform.refresh().await;
    terraform.account.take_calls();
    terraform.assert_applies(&with(6)).await;
    assert_eq!(terraform.account.take_calls(), ["delete subnet.public.0"]);
}

#[tokio::test(start_paused = true)]
async fn a_subnet_stays_until_the_input_of_its_successor_is_known() {
    let public_only = |count: i64, pairs: &[(&str, Value)]| {
        let mut config = azs(count, pairs);
        config.set("create_private_app_subnets", false.into());
        config.set("create_private_persistence_subnets", false.into());
        config.set("num_nat_gateways", count.into());
        config
    };
    let mut terraform = Terraform::<FourTierVpc>::new(2);
    terraform.assert_applies(&public_only(2, &[])).await;
    // The new subnet overlaps the old one, and its IPv6 block is unknown until the range exists. If the old subnet were
    // deleted before that, the next decision would find subnets in the second AZ only.
    let entry = Value::map([("AZ-0", Value::from("10.0.0.0/24"))]);
    let config = public_only(
        1,
        &[
            ("public_subnet_cidr_blocks", entry),
            ("enable_ipv6", true.into()),
            ("assign_generated_ipv6_cidr_block", true.into()),
        ],
    );
    terraform.account.take_calls();
    terraform.assert_applies(&config).await;
    let calls = terraform.account.take_calls();
    let position =
        |call: &str| calls.iter().position(|it| it == call).unwrap_or_else(|| panic!("no {call}: {calls:?}"));
    assert!(position("create ipv6_cidr_block") < position("delete subnet.public.0"), "{calls:?}");
    assert_eq!(*terraform.state.get("availability_zone_ids_used"), vec!["use1-az1"].into());
}
