//! The whole way from configuration to objects, on a simulated account that refuses what AWS would refuse.

use std::sync::Arc;

use proptest::prelude::*;

use super::Composite;
use super::simulation::{Simulation, inventory};
use crate::cloud::{Connected, Connection, RootState, UnfinishedRoot};
use crate::four_tier_vpc::FourTierVpc;
use crate::http_gateway::HttpGateway;
use crate::objects::Spec;
use crate::plugin::schema::object_type;
use crate::plugin::{
    ApplyRequest, AttributePath, Diagnostics, Input, PlanRequest, PlanResponse, ReadRequest, Resource, SoFar, Type,
    Value,
};
use crate::product::Product;

/// Terraform, as far as one resource can tell: it keeps the state and checks what core checks.
struct Terraform<P: Product> {
    resource: Composite<P>,
    account: Arc<Simulation>,
    state: Value,
    private: Vec<u8>,
    stop: tokio_util::sync::CancellationToken,
}

impl<P: Product> Terraform<P> {
    fn new(zones: usize) -> Terraform<P> {
        let account = Arc::new(Simulation::new(zones));
        let connection = Connection::default();
        connection.set(Connected::Ready(account.clone()));
        let stop = tokio_util::sync::CancellationToken::new();
        Terraform { resource: Composite::new(connection), account, state: Value::Null, private: Vec::new(), stop }
    }

    fn config(&self, attributes: &Value) -> Value {
        let mut config = super::state::empty::<P>();
        for (name, value) in attributes.as_map().unwrap() {
            config.set(name, value.clone());
        }
        config
    }

    async fn refresh(&mut self) {
        if self.state.is_null() {
            return;
        }
        let request = ReadRequest { state: self.state.clone(), private: self.private.clone(), stop: self.stop.clone() };
        let read = self.resource.read(request).await;
        assert_eq!(read.diagnostics, Diagnostics::default());
        self.state = read.state;
        self.private = read.private;
    }

    /// Plans without a refresh.
    async fn plan(&self, attributes: &Value) -> PlanResponse {
        let config = self.config(attributes);
        let request = PlanRequest {
            prior: self.state.clone(),
            proposed: config.clone(),
            config,
            prior_private: self.private.clone(),
            stop: self.stop.clone(),
        };
        let plan = self.resource.plan(request).await;
        assert_conforms(&plan.planned, &object_type(&self.resource.schema().attributes), "planned");
        plan
    }

    async fn apply(&mut self, attributes: &Value) -> Diagnostics {
        let plan = self.plan(attributes).await;
        assert!(!plan.diagnostics.has_errors(), "{:?}", plan.diagnostics);
        if !plan.requires_replace.is_empty() {
            return Box::pin(self.replace(attributes, plan.private)).await;
        }
        if plan.planned == self.state {
            return plan.diagnostics;
        }
        self.apply_plan(attributes, plan).await
    }

    /// As core does: it plans a create, with no prior state and the private state given here, hands what that says to
    /// the destroy of the old object, and then creates.
    async fn replace(&mut self, attributes: &Value, private: Vec<u8>) -> Diagnostics {
        let old = std::mem::replace(&mut self.state, Value::Null);
        self.private = private;
        let plan = self.plan(attributes).await;
        assert!(!plan.diagnostics.has_errors(), "{:?}", plan.diagnostics);
        self.state = old;
        self.private = plan.private;
        let destroyed = self.destroy().await;
        if destroyed.has_errors() {
            return destroyed;
        }
        let plan = self.plan(attributes).await;
        self.apply_plan(attributes, plan).await
    }

    async fn apply_plan(&mut self, attributes: &Value, plan: PlanResponse) -> Diagnostics {
        let applied = self
            .resource
            .apply(ApplyRequest {
                prior: self.state.clone(),
                planned: plan.planned.clone(),
                config: self.config(attributes),
                planned_private: plan.private,
                stop: self.stop.clone(),
                so_far: SoFar::default(),
            })
            .await;
        self.state = applied.state;
        self.private = applied.private;
        assert!(self.state.is_wholly_known());
        assert_conforms(&self.state, &object_type(&self.resource.schema().attributes), "state");
        if !applied.diagnostics.has_errors() {
            assert_compatible(&plan.planned, &self.state, "");
        }
        applied.diagnostics
    }

    async fn destroy(&mut self) -> Diagnostics {
        let applied = self
            .resource
            .apply(ApplyRequest {
                prior: self.state.clone(),
                planned: Value::Null,
                config: Value::Null,
                planned_private: self.private.clone(),
                stop: self.stop.clone(),
                so_far: SoFar::default(),
            })
            .await;
        self.state = applied.state;
        self.private = applied.private;
        applied.diagnostics
    }

    async fn assert_quiet(&mut self, attributes: &Value) {
        self.refresh().await;
        let plan = self.plan(attributes).await;
        assert!(
            plan.planned == self.state,
            "a plan after an apply is not empty: {}",
            differing(&self.state, &plan.planned)
        );
        assert!(plan.requires_replace.is_empty());
    }

    async fn assert_applies(&mut self, attributes: &Value) {
        let diagnostics = self.apply(attributes).await;
        assert!(!diagnostics.has_errors(), "{diagnostics:?}");
        self.assert_quiet(attributes).await;
    }
}

/// The attributes that two objects differ in.
fn differing(before: &Value, after: &Value) -> String {
    let names = after.as_map().unwrap().iter().filter(|(name, value)| before.get(name) != *value);
    names.map(|(name, value)| format!("{name}: {} -> {value}", before.get(name))).collect::<Vec<_>>().join("; ")
}

/// Terraform's rule that a state is what the plan said, unknowns filled in.
fn assert_compatible(planned: &Value, state: &Value, path: &str) {
    match (planned, state) {
        (Value::Unknown, _) => {}
        (Value::Map(planned), Value::Map(state)) => {
            assert!(planned.keys().eq(state.keys()), "{path}: {:?} became {:?}", planned.keys(), state.keys());
            for (key, value) in planned {
                assert_compatible(value, &state[key], &format!("{path}.{key}"));
            }
        }
        (Value::List(planned), Value::List(state)) => {
            assert_eq!(planned.len(), state.len(), "{path}");
            for (index, (planned, state)) in planned.iter().zip(state).enumerate() {
                assert_compatible(planned, state, &format!("{path}[{index}]"));
            }
        }
        _ => assert_eq!(planned, state, "{path}"),
    }
}

fn assert_conforms(value: &Value, kind: &Type, path: &str) {
    match (value, kind) {
        (Value::Null | Value::Unknown, _) => {}
        (Value::Bool(_), Type::Bool) | (Value::Number(_), Type::Number) | (Value::String(_), Type::String) => {}
        (Value::List(items), Type::List(item) | Type::Set(item)) => {
            for it in items {
                assert_conforms(it, item, path);
            }
        }
        (Value::Map(entries), Type::Map(item)) => {
            for (key, it) in entries {
                assert_conforms(it, item, &format!("{path}.{key}"));
            }
        }
        (Value::Map(entries), Type::Object(attributes)) => {
            assert!(
                entries.keys().eq(attributes.keys()),
                "{path}: {:?} is not {:?}",
                entries.keys(),
                attributes.keys()
            );
            for (key, it) in entries {
                assert_conforms(it, &attributes[key], &format!("{path}.{key}"));
            }
        }
        _ => panic!("{path}: {value} is no {kind:?}"),
    }
}

fn network(pairs: &[(&str, Value)]) -> Value {
    let mut config = Value::map([
        ("cidr_block", Value::from("10.0.0.0/16")),
        ("num_nat_gateways", Value::from(1)),
        ("vpc_name", Value::from("main")),
    ]);
    for (name, value) in pairs {
        config.set(name, value.clone());
    }
    config
}

fn function(name: &str) -> String {
    format!("arn:aws:lambda:us-east-1:123456789012:function:{name}")
}

fn route(function_name: &str, authorizer: Option<&str>) -> Value {
    Value::map([
        ("faas_function_arn", function(function_name).into()),
        ("description", Value::Null),
        ("payload_format_version", Value::Null),
        ("timeout_milliseconds", Value::Null),
        ("authorizer_name", authorizer.map(str::to_string).into()),
    ])
}

fn authorizer(function_name: &str) -> Value {
    Value::map([
        ("authorizer_name", function_name.into()),
        ("authorizer_payload_format_version", Value::Null),
        ("authorizer_uri", Value::Null),
        ("identity_sources", Value::Null),
        ("result_ttl_in_seconds", Value::Null),
        ("enable_simple_responses", Value::Null),
        ("authorizer_credentials_arn", Value::Null),
    ])
}

fn gateway(routes: &[(&str, Value)], authorizers: &[(&str, Value)], pairs: &[(&str, Value)]) -> Value {
    let mut config = Value::map([
        ("name", Value::from("front")),
        ("route_config", Value::map(routes.iter().map(|(key, value)| (*key, value.clone())))),
        ("faas_authorizers", Value::map(authorizers.iter().map(|(key, value)| (*key, value.clone())))),
    ]);
    for (name, value) in pairs {
        config.set(name, value.clone());
    }
    config
}

#[tokio::test]
async fn a_network_is_created_changed_and_destroyed() {
    let mut terraform = Terraform::<FourTierVpc>::new(3);
    let small = network(&[]);
    terraform.assert_applies(&small).await;
    assert_eq!(*terraform.account.root_state.lock().unwrap(), Some(RootState::Ready));
    let before = terraform.state.get("public_subnets").clone();
    let large = network(&[("create_transit_subnets", true.into()), ("num_nat_gateways", 3.into())]);
    terraform.assert_applies(&large).await;
    assert_eq!(terraform.account.slots().len(), 49);
    assert_eq!(*terraform.state.get("public_subnets"), before, "no other subnet moves when transit is switched on");
    terraform.assert_applies(&small).await;
    assert_eq!(terraform.destroy().await, Diagnostics::default());
    assert_eq!((terraform.state.clone(), terraform.account.slots()), (Value::Null, Vec::new()));
}

#[tokio::test]
async fn a_replaced_network_leaves_nothing_behind() {
    let mut terraform = Terraform::<FourTierVpc>::new(2);
    let config = network(&[]);
    terraform.assert_applies(&config).await;
    let objects = terraform.account.slots().len();
    terraform.assert_applies(&network(&[("cidr_block", "10.9.0.0/16".into())])).await;
    assert_eq!(terraform.account.slots().len(), objects, "the old network is gone");
    // A tainted one: no prior and no private state, and the old state for the destroy.
    assert_eq!(terraform.replace(&config, Vec::new()).await, Diagnostics::default());
    assert_eq!(terraform.account.slots().len(), objects);
    terraform.assert_quiet(&config).await;
}

#[tokio::test]
async fn a_replacement_whose_old_network_stays_in_part_goes_on_from_there() {
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

#[tokio::test]
async fn a_gateway_is_created_changed_and_destroyed() {
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

#[tokio::test]
async fn the_root_of_a_failed_create_is_kept_and_the_state_says_what_exists() {
    let mut terraform = Terraform::<FourTierVpc>::new(2);
    terraform.account.failing.lock().unwrap().push("nat_gateway.0".into());
    let diagnostics = terraform.apply(&network(&[])).await;
    let first = &diagnostics.0[0];
    assert_eq!(first.summary, "Creating NAT gateway nat_gateway.0 failed");
    assert!(first.detail.contains("SimulatedFailure") && first.detail.contains("request-1"), "{}", first.detail);
    assert!(diagnostics.0.iter().any(|it| it.detail.contains("terraform untaint")), "{diagnostics:?}");
    let named: Vec<&String> = terraform.state.get("aws_objects").as_map().unwrap().keys().collect();
    assert_eq!(named, terraform.account.slots().iter().collect::<Vec<_>>());
    assert_eq!(*terraform.account.root_state.lock().unwrap(), Some(RootState::Incomplete));

    terraform.account.failing.lock().unwrap().clear();
    terraform.account.take_calls();
    terraform.assert_applies(&network(&[])).await;
    assert_eq!(terraform.account.take_calls()[0], "create nat_gateway.0");
    assert_eq!(*terraform.account.root_state.lock().unwrap(), Some(RootState::Ready));
}

#[tokio::test]
async fn a_create_that_makes_nothing_leaves_no_state() {
    let mut terraform = Terraform::<FourTierVpc>::new(2);
    terraform.account.failing.lock().unwrap().push("vpc".into());
    let diagnostics = terraform.apply(&network(&[])).await;
    assert!(diagnostics.has_errors());
    assert_eq!(terraform.state, Value::Null);
}

#[tokio::test]
async fn a_failed_update_goes_on_without_a_refresh() {
    let mut terraform = Terraform::<FourTierVpc>::new(2);
    terraform.assert_applies(&network(&[])).await;
    let tagged = network(&[("public_subnet_custom_tags", Value::map([("team", Value::from("net"))]))]);
    terraform.account.failing.lock().unwrap().push("subnet.public.1".into());
    assert!(terraform.apply(&tagged).await.has_errors());
    assert_eq!(terraform.state.get("drift").get("subnet.public.1"), &"not yet applied: updating subnet".into());
    terraform.account.failing.lock().unwrap().clear();
    terraform.account.take_calls();
    let plan = terraform.plan(&tagged).await;
    assert_ne!(plan.planned, terraform.state, "the rest is visible in a plan that does not refresh");
    terraform.assert_applies(&tagged).await;
    assert_eq!(terraform.account.take_calls(), ["update subnet.public.1"]);
}

#[tokio::test]
async fn drift_that_the_configuration_takes_over_is_settled_without_a_call() {
    let mut terraform = Terraform::<FourTierVpc>::new(2);
    terraform.assert_applies(&network(&[])).await;
    for slot in ["subnet.public.0", "subnet.public.1"] {
        terraform.account.damage(slot, |spec| {
            let Spec::Subnet(subnet) = spec else { unreachable!() };
            subnet.map_public_ip_on_launch = Input::Known(true);
        });
    }
    terraform.refresh().await;
    terraform.account.take_calls();
    terraform.assert_applies(&network(&[("map_public_ip_on_launch", true.into())])).await;
    assert_eq!(terraform.account.take_calls(), Vec::<String>::new());
    assert_eq!(*terraform.state.get("drift"), Value::map::<&str>([]));
}

#[tokio::test]
async fn what_a_failed_exchange_could_not_replace_keeps_its_place() {
    let mut terraform = Terraform::<FourTierVpc>::new(2);
    let before = network(&[]);
    terraform.assert_applies(&before).await;
    let subnets = terraform.state.get("private_app_subnets").clone();
    terraform.account.failing.lock().unwrap().push("subnet.private_app.1".into());
    assert!(terraform.apply(&network(&[("private_subnet_bits", 6.into())])).await.has_errors());
    assert!(terraform.state.get("aws_objects").as_map().unwrap().contains_key("subnet.private_app.1"));
    assert!(!terraform.state.get("leaving").as_map().unwrap().contains_key("subnet.private_app.1"));
    terraform.account.failing.lock().unwrap().clear();
    terraform.assert_applies(&before).await;
    let name = "main-private-app-1";
    assert_eq!(terraform.state.get("private_app_subnets").get(name).get("id"), subnets.get(name).get("id"));
}

#[tokio::test]
async fn a_tag_that_an_update_dropped_is_removed_also_when_the_update_failed_half_way() {
    let mut terraform = Terraform::<FourTierVpc>::new(1);
    let tagged = |tag: &str| network(&[("custom_tags", Value::map([(tag, Value::from("x"))]))]);
    terraform.assert_applies(&tagged("before")).await;
    terraform.account.failing.lock().unwrap().push("subnet.public.0".into());
    assert!(terraform.apply(&tagged("after")).await.has_errors());
    let inventory = inventory(&terraform.private);
    let entry = inventory.at("subnet.public.0").unwrap();
    let keys: Vec<&String> = entry.applied.tags().unwrap().known().unwrap().keys().collect();
    assert_eq!(keys, ["Name", "after", "before"], "both are ours until the update is finished");
}

#[tokio::test]
async fn foreign_tags_on_what_was_found_without_a_record_are_left_alone() {
    let mut terraform = Terraform::<FourTierVpc>::new(1);
    let config = network(&[]);
    terraform.assert_applies(&config).await;
    terraform.account.damage("subnet.public.0", |spec| {
        let Some(Input::Known(tags)) = spec.tags_mut() else { unreachable!() };
        tags.insert("kubernetes.io/role/elb".into(), Input::Known("1".into()));
    });
    terraform.private = Vec::new();
    terraform.refresh().await;
    terraform.account.take_calls();
    terraform.assert_applies(&config).await;
    assert_eq!(terraform.account.take_calls(), Vec::<String>::new());
}

#[tokio::test]
async fn a_replacement_is_planned_without_regard_to_what_it_replaces() {
    let mut terraform = Terraform::<FourTierVpc>::new(3);
    terraform.assert_applies(&network(&[])).await;
    terraform.assert_applies(&network(&[("cidr_block", "10.0.0.0/20".into())])).await;
    assert_eq!(*terraform.state.get("cidr_block"), "10.0.0.0/20".into());
}

#[tokio::test]
async fn an_operation_that_no_attribute_shows_is_visible_all_the_same() {
    let mut terraform = Terraform::<FourTierVpc>::new(2);
    let config = network(&[]);
    terraform.assert_applies(&config).await;
    let mut private = super::Private::decode(&terraform.private).unwrap();
    private.inventory.entries.iter_mut().find(|entry| entry.key.slot == "subnet.public.1").unwrap().unfinished = true;
    terraform.private = private.encode();
    let plan = terraform.plan(&config).await;
    assert_eq!(*plan.planned.get("drift"), Value::Unknown, "Terraform would drop a plan that changes nothing");
    terraform.account.take_calls();
    terraform.assert_applies(&config).await;
    assert_eq!(terraform.account.take_calls(), ["update subnet.public.1"]);
}

#[tokio::test]
async fn a_move_that_failed_is_made_by_the_next_apply() {
    let mut terraform = Terraform::<FourTierVpc>::new(2);
    terraform.assert_applies(&network(&[])).await;
    let smaller = network(&[("transit_subnet_bits", 6.into()), ("private_subnet_bits", 6.into())]);
    terraform.account.failing.lock().unwrap().push("subnet.private_app.1".into());
    assert!(terraform.apply(&smaller).await.has_errors());
    terraform.account.failing.lock().unwrap().clear();
    terraform.assert_applies(&smaller).await;
    let subnets = terraform.state.get("private_app_subnets");
    let block = |name: &str| subnets.get(name).get("cidr_block").as_str().unwrap().to_string();
    assert!(block("main-private-app-0").ends_with("/22") && block("main-private-app-1").ends_with("/22"), "{subnets}");
}

#[tokio::test]
async fn a_destroy_that_fails_returns_what_remains_and_goes_on_from_there() {
    let mut terraform = Terraform::<FourTierVpc>::new(2);
    terraform.assert_applies(&network(&[])).await;
    terraform.account.in_use.lock().unwrap().push("subnet.private_app.1".into());
    let diagnostics = terraform.destroy().await;
    assert!(diagnostics.0.iter().any(|it| it.summary == "Deleting subnet subnet.private_app.1 failed"));
    let named: Vec<&String> = terraform.state.get("aws_objects").as_map().unwrap().keys().collect();
    assert_eq!(named, terraform.account.slots().iter().collect::<Vec<_>>());
    terraform.account.in_use.lock().unwrap().clear();
    terraform.refresh().await;
    assert_eq!(terraform.destroy().await, Diagnostics::default());
    assert_eq!(terraform.account.slots(), Vec::<String>::new());
}

#[tokio::test]
async fn a_destroy_takes_the_address_that_a_lost_network_has_left() {
    let mut terraform = Terraform::<FourTierVpc>::new(2);
    terraform.assert_applies(&network(&[])).await;
    let id = terraform.state.get("id").clone();
    terraform.account.lose_root();
    terraform.refresh().await;
    assert_eq!(*terraform.state.get("id"), id);
    let named: Vec<&String> = terraform.state.get("aws_objects").as_map().unwrap().keys().collect();
    assert_eq!(named, ["eip.0"]);
    assert!(terraform.state.get("drift").get("vpc").as_str().unwrap().ends_with("is gone"));
    assert_eq!(terraform.destroy().await, Diagnostics::default());
    assert_eq!((terraform.state.clone(), terraform.account.slots()), (Value::Null, Vec::new()));
}

#[tokio::test]
async fn a_network_of_which_only_an_address_is_left_is_replaced_with_it() {
    let mut terraform = Terraform::<FourTierVpc>::new(2);
    let config = network(&[]);
    terraform.assert_applies(&config).await;
    let objects = terraform.account.slots().len();
    terraform.account.failing.lock().unwrap().push("eip.0".into());
    terraform.account.lose_root();
    terraform.refresh().await;
    assert!(terraform.destroy().await.has_errors());
    terraform.account.failing.lock().unwrap().clear();
    terraform.refresh().await;
    let plan = terraform.plan(&config).await;
    assert_eq!(plan.requires_replace, [AttributePath::new("id")]);
    assert_eq!(*plan.planned.get("id"), Value::Unknown, "Terraform replaces only for a value that differs");
    assert!(plan.diagnostics.0.iter().any(|it| it.detail.contains("eip.0 (eip.0-")), "{:?}", plan.diagnostics);
    terraform.account.take_calls();
    terraform.assert_applies(&config).await;
    assert_eq!(terraform.account.take_calls()[0], "delete eip.0");
    assert_eq!(terraform.account.slots().len(), objects);
}

#[tokio::test]
async fn what_a_lost_gateway_has_left_goes_with_its_replacement_tainted_or_not() {
    let mut terraform = Terraform::<HttpGateway>::new(0);
    let config = gateway(&[("GET /a", route("a", None))], &[], &[]);
    terraform.assert_applies(&config).await;
    let objects = terraform.account.slots().len();
    for tainted in [false, true] {
        terraform.account.lose_root();
        assert_eq!(terraform.account.slots().len(), 1, "the permission is left");
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

#[tokio::test]
async fn a_creation_that_is_not_marked_as_finished_shows_and_is_marked_by_an_apply_without_operations() {
    let mut terraform = Terraform::<FourTierVpc>::new(2);
    let config = network(&[]);
    terraform.assert_applies(&config).await;
    *terraform.account.root_state.lock().unwrap() = Some(RootState::Creating);
    terraform.refresh().await;
    let note = terraform.state.get("drift").get("vpc").as_str().unwrap().to_string();
    assert!(note.ends_with("tag fgw:state is creating"), "{note}");
    terraform.account.take_calls();
    terraform.assert_applies(&config).await;
    assert_eq!(*terraform.account.root_state.lock().unwrap(), Some(RootState::Ready));
    assert_eq!(terraform.account.take_calls(), Vec::<String>::new());
}

#[tokio::test]
async fn a_role_that_may_tag_on_creation_only_is_warned_and_gets_an_empty_plan() {
    let mut terraform = Terraform::<FourTierVpc>::new(2);
    *terraform.account.refuses_tags.lock().unwrap() = true;
    let diagnostics = terraform.apply(&network(&[])).await;
    assert!(diagnostics.0[0].summary.contains("fgw:state") && !diagnostics.has_errors(), "{diagnostics:?}");
    terraform.assert_quiet(&network(&[])).await;
    *terraform.account.refuses_tags.lock().unwrap() = false;
    terraform.assert_applies(&network(&[("num_nat_gateways", 2.into())])).await;
    assert_eq!(*terraform.account.root_state.lock().unwrap(), Some(RootState::Ready));
}

#[tokio::test]
async fn a_subnet_in_use_leaves_with_the_next_apply() {
    let mut terraform = Terraform::<FourTierVpc>::new(2);
    let all = network(&[]);
    let without = network(&[("create_private_persistence_subnets", false.into())]);
    terraform.assert_applies(&all).await;
    terraform.account.in_use.lock().unwrap().push("subnet.private_persistence.1".into());
    let diagnostics = terraform.apply(&without).await;
    assert!(!diagnostics.has_errors(), "{diagnostics:?}");
    let leaving: Vec<&String> = terraform.state.get("leaving").as_map().unwrap().keys().collect();
    assert!(leaving.contains(&&"subnet.private_persistence.1".to_string()), "{leaving:?}");
    terraform.refresh().await;
    assert_eq!(*terraform.plan(&without).await.planned.get("leaving"), Value::Unknown);
    terraform.account.in_use.lock().unwrap().clear();
    terraform.assert_applies(&without).await;
    assert_eq!(*terraform.state.get("leaving"), Value::map::<&str>([]));
    assert!(!terraform.account.slots().iter().any(|slot| slot.contains("persistence")));
}

#[tokio::test]
async fn subnets_that_are_leaving_are_back_when_their_tier_is_turned_on_again() {
    let mut terraform = Terraform::<FourTierVpc>::new(2);
    let all = network(&[]);
    let without = network(&[("create_private_persistence_subnets", false.into())]);
    terraform.assert_applies(&all).await;
    let before = terraform.state.clone();
    let in_use = ["subnet.private_persistence.0", "subnet.private_persistence.1"].map(String::from);
    terraform.account.in_use.lock().unwrap().extend(in_use);
    let diagnostics = terraform.apply(&without).await;
    assert!(!diagnostics.has_errors(), "{diagnostics:?}");
    assert_ne!(*terraform.state.get("leaving"), Value::map::<&str>([]));
    terraform.refresh().await;
    terraform.account.take_calls();
    terraform.assert_applies(&all).await;
    for name in ["private_persistence_subnets", "aws_objects", "leaving"] {
        assert_eq!(terraform.state.get(name), before.get(name), "{name}");
    }
    let calls = terraform.account.take_calls();
    assert!(calls.iter().all(|call| call.starts_with("update ")), "{calls:?}");
}

#[tokio::test]
async fn an_az_takes_over_an_index_before_the_old_subnets_are_gone() {
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
    assert_eq!(*terraform.state.get("leaving"), Value::map::<&str>([]));
}

#[tokio::test]
async fn drift_is_reported_planned_and_mended() {
    let mut terraform = Terraform::<FourTierVpc>::new(2);
    let config = network(&[]);
    terraform.assert_applies(&config).await;
    terraform.account.lose("route.private_app.0.ipv4");
    terraform.account.damage("subnet.public.0", |spec| {
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

#[tokio::test]
async fn without_private_state_everything_is_found_again() {
    let mut terraform = Terraform::<FourTierVpc>::new(3);
    let config = network(&[("create_transit_subnets", true.into())]);
    terraform.assert_applies(&config).await;
    terraform.private = Vec::new();
    terraform.account.take_calls();
    terraform.assert_quiet(&config).await;
    terraform.private = b"from the future".to_vec();
    let plan = terraform.plan(&config).await;
    assert_eq!(plan.planned, terraform.state, "also in a plan that does not refresh");
    assert_eq!(terraform.account.take_calls(), Vec::<String>::new());
}

#[tokio::test]
async fn a_create_stops_for_what_a_killed_create_has_left() {
    let mut terraform = Terraform::<FourTierVpc>::new(2);
    let left = UnfinishedRoot { id: "vpc-dead".into(), created: None };
    terraform.account.left.lock().unwrap().push(left);
    let diagnostics = terraform.apply(&network(&[])).await;
    assert!(diagnostics.0[0].detail.contains("terraform import ADDRESS vpc-dead"), "{diagnostics:?}");
    assert_eq!(terraform.account.take_calls(), Vec::<String>::new());
}

#[tokio::test]
async fn an_imported_network_keeps_its_objects() {
    let mut terraform = Terraform::<FourTierVpc>::new(2);
    let config = network(&[]);
    terraform.assert_applies(&config).await;
    let id = terraform.state.get("id").as_str().unwrap().to_string();
    terraform.account.take_calls();
    let imported = terraform.resource.import(&id).await;
    terraform.state = imported.state.expect("it was found");
    terraform.private = imported.private;
    assert_eq!(inventory(&terraform.private).entries.len(), terraform.account.slots().len());
    terraform.refresh().await;
    terraform.assert_applies(&config).await;
    assert_eq!(terraform.account.take_calls(), Vec::<String>::new(), "an import and its plan change nothing in AWS");
}

#[tokio::test]
async fn an_unknown_provider_configuration_plans_without_aws() {
    let connection = Connection::default();
    connection.set(Connected::Unknown);
    let mut terraform = Terraform::<FourTierVpc>::new(2);
    terraform.resource = Composite::new(connection);
    let plan = terraform.plan(&network(&[])).await;
    assert_eq!(plan.diagnostics, Diagnostics::default());
    assert_eq!(*plan.planned.get("aws_objects"), Value::Unknown);
    assert_eq!(*plan.planned.get("vpc_id"), Value::Unknown);
}

#[tokio::test]
async fn unknown_inputs_leave_unknown_only_what_depends_on_them() {
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

#[tokio::test]
async fn a_panic_in_an_objects_code_leaves_the_state_reached() {
    let terraform = Terraform::<FourTierVpc>::new(2);
    terraform.account.panicking.lock().unwrap().push("nat_gateway.0".into());
    let attributes = network(&[]);
    let plan = terraform.plan(&attributes).await;
    let so_far = SoFar::default();
    let request = ApplyRequest {
        prior: Value::Null,
        planned: plan.planned,
        config: terraform.config(&attributes),
        planned_private: plan.private,
        stop: terraform.stop.clone(),
        so_far: so_far.clone(),
    };
    let resource = Arc::new(terraform.resource);
    let outcome = tokio::spawn(async move { resource.apply(request).await }).await;
    assert!(outcome.is_err_and(|error| error.is_panic()));
    let (state, private) = so_far.tell().expect("the apply said how to tell");
    let named: Vec<&String> = state.get("aws_objects").as_map().unwrap().keys().collect();
    assert_eq!(named, terraform.account.slots().iter().collect::<Vec<_>>());
    assert_eq!(inventory(&private).entries.len(), named.len());
}

#[tokio::test]
async fn a_stop_starts_nothing_new() {
    let mut terraform = Terraform::<FourTierVpc>::new(2);
    terraform.stop.cancel();
    let diagnostics = terraform.apply(&network(&[])).await;
    assert!(diagnostics.has_errors());
    assert_eq!(terraform.account.take_calls(), Vec::<String>::new());
    assert_eq!(terraform.state, Value::Null);
}

fn some_network() -> impl Strategy<Value = Value> {
    let switches = proptest::array::uniform10(any::<bool>());
    (switches, 0..4_i64, 1..4_i64, 4..7_i64, any::<bool>(), 0..3_i64).prop_map(
        |(switches, nats, zones, bits, host, tag)| {
            let [public, app, persistence, transit, igw, endpoints, shared, app_out, group, dns] = switches;
            let mut config = network(&[
                ("create_public_subnets", public.into()),
                ("create_private_app_subnets", app.into()),
                ("create_private_persistence_subnets", persistence.into()),
                ("create_transit_subnets", transit.into()),
                ("create_igw", igw.into()),
                ("create_vpc_endpoints", endpoints.into()),
                ("one_route_table_public_subnets", shared.into()),
                ("allow_private_persistence_internet_access", app_out.into()),
                ("enable_default_security_group", group.into()),
                ("enable_dns_hostnames", dns.into()),
                ("map_public_ip_on_launch", host.into()),
                ("num_nat_gateways", nats.into()),
                ("num_availability_zones", zones.into()),
                ("private_subnet_bits", bits.into()),
            ]);
            if tag > 0 {
                config.set("custom_tags", Value::map([("team", Value::from(format!("team-{tag}")))]));
            }
            config
        },
    )
}

fn some_gateway() -> impl Strategy<Value = Value> {
    let keys = ["GET /a", "POST /a", "ANY /b/{proxy+}", "GET /c/{id}", "$default"];
    let some_route = (0..3_usize, prop::option::of(0..2_usize), any::<bool>());
    let routes = proptest::collection::btree_map(prop::sample::select(keys.to_vec()), some_route, 1..5);
    (routes, any::<bool>(), any::<bool>(), prop::option::of(any::<bool>())).prop_map(|(routes, other, logs, cors)| {
        let routes: Vec<(&str, Value)> = routes
            .into_iter()
            .map(|(key, (number, guard, newer))| {
                let guard = guard.map(|number| ["first", "second"][number]);
                let mut route = route(["a", "b", "c"][number], guard);
                if newer {
                    route.set("payload_format_version", "2.0".into());
                }
                (key, route)
            })
            .collect();
        let second = if other { "guard" } else { "another" };
        let authorizers = [("first", authorizer("guard")), ("second", authorizer(second))];
        let mut pairs = Vec::new();
        if logs {
            pairs.push(("access_log_logservice_group_name", Value::from("front-logs")));
        }
        if let Some(credentials) = cors {
            let mut cors = Value::map([("allow_credentials", Value::from(credentials))]);
            for name in ["allow_headers", "allow_methods", "allow_origins", "expose_headers", "max_age"] {
                cors.set(name, Value::Null);
            }
            cors.set("allow_origins", Value::from(vec!["https://example.com"]));
            pairs.push(("cors_configuration", cors));
        }
        gateway(&routes, &authorizers, &pairs)
    })
}

/// Applies one configuration after the other, where it is valid, and destroys.
fn check_sequence<P: Product>(configs: &[Value]) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
    runtime.block_on(async {
        let mut terraform = Terraform::<P>::new(3);
        for config in configs {
            let plan = terraform.plan(config).await;
            let invalid = terraform.resource.validate(&terraform.config(config)).has_errors();
            if invalid || plan.diagnostics.has_errors() {
                continue;
            }
            terraform.assert_applies(config).await;
        }
        if !terraform.state.is_null() {
            let diagnostics = terraform.destroy().await;
            assert!(!diagnostics.has_errors(), "{diagnostics:?}");
        }
        assert_eq!(terraform.account.slots(), Vec::<String>::new());
    });
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn any_change_between_two_networks_is_orderable_and_then_quiet(
        configs in proptest::collection::vec(some_network(), 1..4)
    ) {
        check_sequence::<FourTierVpc>(&configs);
    }

    #[test]
    fn any_change_between_two_gateways_is_orderable_and_then_quiet(
        configs in proptest::collection::vec(some_gateway(), 1..4)
    ) {
        check_sequence::<HttpGateway>(&configs);
    }
}
