//! The advice of a message removes the message.

use super::*;

/// Advice as a message states it, and the change that follows it.
fn change(advice: &str) -> (String, Value) {
    let words: Vec<&str> = advice.split(' ').collect();
    let value = |text: &str| match text {
        "true" => true.into(),
        "false" => false.into(),
        number => number.parse::<i64>().expect("a number").into(),
    };
    match words.as_slice() {
        ["set", name, "to", text] => (name.to_string(), value(text)),
        ["remove", name] => (name.to_string(), Value::Null),
        _ => panic!("{advice:?} has another form"),
    }
}

fn messages(plan: &PlanResponse) -> Vec<String> {
    plan.diagnostics.0.iter().map(|it| format!("{} {}", it.summary, it.detail)).collect()
}

/// The messages about a configuration, of its validation and of its plan.
async fn found(config: &Value) -> Vec<String> {
    let terraform = Terraform::<FourTierVpc>::new(3);
    let validated = terraform.resource.validate(&terraform.config(config));
    match validated.has_errors() {
        true => validated.0.iter().map(|it| format!("{} {}", it.summary, it.detail)).collect(),
        false => messages(&terraform.plan(config).await),
    }
}

#[tokio::test(start_paused = true)]
async fn advice_with_a_value_removes_the_message() {
    let ids = |count: i64| Value::List((1..=count).map(|it| format!("eipalloc-{it}").into()).collect());
    type Row<'a> = (&'a [(&'static str, Value)], &'a str, &'a [&'a str]);
    let table: [Row; 8] = [
        (
            &[("create_public_subnets", false.into())],
            "num_nat_gateways has no effect",
            &["set create_public_subnets to true", "set num_nat_gateways to 0"],
        ),
        (
            &[("create_igw", false.into())],
            "require the internet gateway",
            &["set create_igw to true", "set num_nat_gateways to 0"],
        ),
        (
            &[("use_custom_nat_eips", false.into()), ("custom_nat_eips", ids(1))],
            "custom_nat_eips has no effect",
            &["set use_custom_nat_eips to true"],
        ),
        (
            &[("nat_secondary_private_ip_address_count", 2_i64.into())],
            "only private NAT gateways have secondary addresses",
            &["set nat_secondary_private_ip_address_count to 0"],
        ),
        (
            &[("enable_private_nat", true.into())],
            "Private NAT gateways require transit subnets",
            &["set create_transit_subnets to true"],
        ),
        (
            &[
                ("enable_private_nat", true.into()),
                ("create_transit_subnets", true.into()),
                ("allow_transit_internet_access", true.into()),
            ],
            "which is a loop",
            &["set allow_transit_internet_access to false"],
        ),
        (
            &[("allow_transit_internet_access", true.into())],
            "allow_transit_internet_access has no effect",
            &["set create_transit_subnets to true", "remove allow_transit_internet_access"],
        ),
        (
            &[
                ("enable_private_nat", true.into()),
                ("create_transit_subnets", true.into()),
                ("use_custom_nat_eips", true.into()),
            ],
            "use_custom_nat_eips has no effect while enable_private_nat is true",
            &["set use_custom_nat_eips to false"],
        ),
    ];
    for (pairs, text, all) in table {
        let config = network(pairs);
        let before = found(&config).await;
        let message = before.iter().find(|it| it.contains(text)).unwrap_or_else(|| panic!("{text}: {before:?}"));
        for advice in all {
            assert!(message.to_lowercase().contains(advice), "{advice}: {message}");
            let (name, value) = change(advice);
            let mut corrected = config.clone();
            corrected.set(&name, value);
            let after = found(&corrected).await;
            assert!(!after.iter().any(|it| it.contains(text)), "{advice}: {after:?}");
        }
    }
}

#[tokio::test(start_paused = true)]
async fn given_addresses_are_used_unless_the_switch_is_false() {
    let addresses = || ("custom_nat_eips", Value::from(vec!["eipalloc-1"]));
    let terraform = Terraform::<FourTierVpc>::new(2);
    for (pairs, is_used) in [
        (vec![addresses()], true),
        (vec![addresses(), ("use_custom_nat_eips", true.into())], true),
        (vec![addresses(), ("use_custom_nat_eips", false.into())], false),
        (vec![], false),
    ] {
        let plan = terraform.plan(&network(&pairs)).await;
        assert!(!plan.diagnostics.has_errors(), "{:?}", plan.diagnostics);
        assert_eq!(plan.planned.get("use_custom_nat_eips"), &Value::Bool(is_used), "{pairs:?}");
        let objects = plan.planned.get("aws_objects").as_map().expect("it is known");
        assert_eq!(objects.contains_key("eip.0"), !is_used, "{pairs:?}");
    }
    let unknown = terraform.plan(&network(&[("custom_nat_eips", Value::Unknown)])).await;
    assert!(!unknown.diagnostics.has_errors(), "{:?}", unknown.diagnostics);
    for pairs in [vec![addresses()], vec![("custom_nat_eips", Value::List(Vec::new()))]] {
        let last = terraform.plan(&network(&pairs)).await;
        terraform.assert_as_planned(&unknown.planned, &last.planned, "");
    }
}

/// Inputs with values that a message offers together.
type Offer = Vec<(String, Value)>;

/// What a message about sizes offers: numbers, and maps of blocks.
fn offered(message: &str) -> Vec<Offer> {
    let (mut all, mut blocks): (Vec<Offer>, Option<(String, Value)>) = (Vec::new(), None);
    for line in message.lines() {
        let Some((name, value)) = line.trim().split_once(" = ") else {
            match (line.trim(), blocks.take()) {
                ("}", Some(map)) => all.last_mut().expect("an offer").push(map),
                (other, _) if other.ends_with(':') => all.push(Vec::new()),
                _ => {}
            }
            continue;
        };
        match (&mut blocks, value) {
            (_, "{") => blocks = Some((name.to_string(), Value::map::<String>([]))),
            (Some((_, map)), block) => map.set(name.trim_matches('"'), block.trim_matches('"').into()),
            (None, number) if number.parse::<i64>().is_ok() => {
                all.last_mut().expect("an offer").push((name.to_string(), number.parse::<i64>().unwrap().into()));
            }
            (None, _) => {}
        }
    }
    all.retain(|offer| !offer.is_empty());
    all
}

#[tokio::test(start_paused = true)]
async fn one_message_offers_sizes_and_blocks_that_fit() {
    let bits = |name: &'static str, bits: i64| (name, Value::from(bits));
    let range = |text: &'static str| ("cidr_block", Value::from(text));
    let zones = |count: i64| ("num_availability_zones", Value::from(count));
    let table = [
        (vec![bits("private_subnet_bits", 3)], 2, "private_subnet_bits = 3 makes 8 of /19, 0 to 7"),
        (vec![range("10.0.0.0/24")], 1, "Not all subnets fit into 10.0.0.0/24"),
        (vec![range("10.0.0.0/24"), zones(2)], 1, "Not all subnets fit into 10.0.0.0/24"),
        (
            vec![bits("public_subnet_bits", 1), bits("private_subnet_bits", 1), bits("persistence_subnet_bits", 1)],
            1,
            "Not all subnets fit into 10.0.0.0/16",
        ),
    ];
    for (pairs, least, text) in table {
        let config = network(&pairs);
        let before = found(&config).await;
        assert_eq!(before.len(), 1, "{pairs:?}: {before:#?}");
        assert!(before[0].contains(text), "{text}: {}", before[0]);
        let offers = offered(&before[0]);
        assert!(offers.len() >= least, "{pairs:?}: {offers:?} of {}", before[0]);
        for offer in offers {
            let mut corrected = config.clone();
            for (name, value) in &offer {
                corrected.set(name, value.clone());
            }
            let mut terraform = Terraform::<FourTierVpc>::new(3);
            let validated = terraform.resource.validate(&terraform.config(&corrected));
            assert!(!validated.has_errors(), "{offer:?}: {validated:?}");
            terraform.assert_applies(&corrected).await;
        }
    }
}
