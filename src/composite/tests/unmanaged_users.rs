//! Unmanaged subnets, routes and route tables that use objects of a network.

use proptest::prelude::*;

use super::properties::some_network;
use super::*;

/// What a person does in the VPC before an apply.
#[derive(Clone, Debug)]
enum Person {
    Nothing,
    /// Associates a subnet with this table.
    Associates(&'static str),
    /// Adds a route to this object in this table, or in one of their own.
    Routes(&'static str, &'static str),
    /// Adds a table to an endpoint.
    AddsTable,
    /// Removes everything.
    Leaves,
}

fn some_person() -> impl Strategy<Value = Person> {
    let tables = || {
        let slots = ["public", "public.0", "private_app", "private_app.0", "private_app.1", "private_persistence.0"];
        prop::sample::select(slots.map(|slot| format!("route_table.{slot}").leak() as &str).to_vec())
    };
    let targets = prop::sample::select(vec!["nat_gateway.0", "nat_gateway.1", "internet_gateway"]);
    let routes = (prop_oneof![2 => Just("elsewhere"), 1 => tables()], targets);
    prop_oneof![
        2 => Just(Person::Nothing),
        4 => tables().prop_map(Person::Associates),
        4 => routes.prop_map(|(table, target)| Person::Routes(table, target)),
        1 => Just(Person::AddsTable),
        1 => Just(Person::Leaves),
    ]
}

fn act(account: &Simulation, person: &Person) {
    match person {
        Person::Nothing => {}
        Person::Associates(table) => account.associate_unmanaged_subnet("subnet-theirs", table),
        Person::Routes(table, target) => account.add_route_of_people(table, "10.9.0.0/16", target),
        Person::AddsTable => account.add_table_to_endpoint("vpc_endpoint.objectstore"),
        Person::Leaves => account.remove_people(),
    }
}

/// The texts of a plan that may name users.
fn said(plan: &PlanResponse) -> String {
    plan.diagnostics.0.iter().map(|it| it.detail.clone()).collect::<Vec<_>>().join("\n")
}

/// Applies the configurations one after the other, each after what a person does, and destroys.
fn check(steps: &[(Value, Person)]) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build().unwrap();
    runtime.block_on(async {
        let mut terraform = Terraform::<FourTierVpc>::new(3);
        for (config, person) in steps {
            act(&terraform.account, person);
            terraform.refresh().await;
            let before = terraform.account.reach_of_people();
            let plan = terraform.plan(config).await;
            let invalid = terraform.resource.validate(&terraform.config(config)).has_errors();
            if invalid || plan.diagnostics.has_errors() {
                continue;
            }
            if !plan.requires_replace.is_empty() {
                // They prevent the deletion of the VPC.
                terraform.account.remove_people();
            }
            terraform.assert_applies(config).await;
            let after = terraform.account.reach_of_people();
            let reported = said(&plan);
            for (user, reach) in before.iter().filter(|_| plan.requires_replace.is_empty()) {
                let lost: Vec<&String> = reach.difference(&after[user]).collect();
                assert!(
                    lost.is_empty() || reported.contains(user),
                    "{user} loses {lost:?}, and the plan said: {reported}"
                );
            }
        }
        terraform.account.remove_people();
        terraform.end().await;
    });
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn any_network_change_leaves_or_names_what_unmanaged_objects_use(
        steps in proptest::collection::vec((some_network(), some_person()), 2..6)
    ) {
        check(&steps);
    }
}

/// A network with one AZ, one NAT gateway or none, and a table for each subnet or for the tier.
fn one_az(nats: i64, per_tier: bool) -> Value {
    let layout = per_tier.then_some(("private_app", Value::from("per_tier")));
    network(&[
        ("num_availability_zones", 1.into()),
        ("num_nat_gateways", nats.into()),
        ("create_private_persistence_subnets", false.into()),
        ("route_table_layout", Value::map(layout)),
    ])
}

#[tokio::test(start_paused = true)]
async fn a_table_of_an_unmanaged_subnet_is_left_and_named() {
    let mut terraform = Terraform::<FourTierVpc>::new(1);
    terraform.assert_applies(&one_az(1, false)).await;
    let table = terraform.state.get("aws_objects").get("route_table.private_app.0").as_str().unwrap().to_string();
    terraform.account.associate_unmanaged_subnet("subnet-7", "route_table.private_app.0");
    terraform.refresh().await;
    let reach = terraform.account.reach_of_people();
    let plan = terraform.plan(&one_az(1, true)).await;
    let line = plan.planned.get("unmanaged_objects").get(&table).as_str().unwrap().to_string();
    let expected = "route_table.private_app.0 before: not deleted, because unmanaged objects use it: subnet subnet-7.";
    assert!(line.starts_with(expected), "{line}");
    assert!(
        said(&plan).contains(&format!("no longer managed: route_table.private_app.0 ({table})")),
        "{}",
        said(&plan)
    );
    terraform.assert_applies(&one_az(1, true)).await;
    let nat = |reach: &std::collections::BTreeMap<String, std::collections::BTreeSet<String>>| {
        reach["subnet subnet-7"].iter().find(|it| it.starts_with("0.0.0.0/0")).cloned()
    };
    assert_eq!(nat(&terraform.account.reach_of_people()), nat(&reach));
    // Another apply names the route that loses its target, although its table is no longer managed.
    let plan = terraform.plan(&one_az(0, true)).await;
    let words = "nat_gateway.0 (nat_gateway.0-";
    let end = format!(") is deleted, used by: route to 0.0.0.0/0 in {table}, subnet subnet-7");
    assert!(said(&plan).contains(words) && said(&plan).contains(&end), "{}", said(&plan));
    terraform.assert_applies(&one_az(0, true)).await;
    // Without the subnet, the line is missing too.
    terraform.account.remove_people();
    terraform.refresh().await;
    assert_eq!(terraform.state.get("unmanaged_objects").as_map().unwrap().len(), 0);
}

#[tokio::test(start_paused = true)]
async fn a_plan_names_the_unmanaged_subnet_whose_route_it_deletes() {
    let mut terraform = Terraform::<FourTierVpc>::new(1);
    terraform.assert_applies(&one_az(1, false)).await;
    terraform.account.associate_unmanaged_subnet("subnet-7", "route_table.private_app.0");
    terraform.refresh().await;
    let plan = terraform.plan(&one_az(0, false)).await;
    assert!(said(&plan).contains(") is deleted, used by: subnet subnet-7"), "{}", said(&plan));
    // A change that they do not notice names nothing.
    let mut tagged = one_az(1, false);
    tagged.set("custom_tags", Value::map([("a", Value::from("b"))]));
    assert_eq!(said(&terraform.plan(&tagged).await), "");
}
