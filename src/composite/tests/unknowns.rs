//! Plans with unknown inputs. Terraform plans again in the apply, when all inputs are known, and accepts only a plan
//! that agrees with the one that it has shown.

use proptest::prelude::*;

use super::generate::some_spelled_out_network;
use super::properties::{some_gateway, some_network};
use super::*;

/// What happens before the plan.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Event {
    None,
    /// One subnet has another value for `map_public_ip_on_launch`.
    Subnet,
    /// The VPC has another value for `enable_dns_hostnames`, which the configuration may take over.
    Vpc,
    /// The provider block is unknown in the plan that is shown.
    UnknownProvider,
    /// A value in `default_tags` is unknown in the plan that is shown.
    UnknownTag,
}

/// A tag of the provider block.
fn tag_of_provider(value: Input<String>) -> TagSettings {
    let default_tags = Input::Known([("run".to_string(), value)].into());
    TagSettings { default_tags, ..TagSettings::default() }
}

/// Returns the configuration with some of its attributes unknown. Each bit of `mask` selects one.
fn with_unknowns(config: &Value, mask: u64) -> Value {
    let mut unknown = config.clone();
    let set = config.as_map().unwrap().iter().filter(|(_, value)| !value.is_null());
    for (number, (name, value)) in set.enumerate() {
        let is_selected = mask >> (number % 64) & 1 == 1;
        let is_whole = mask >> ((number + 7) % 64) & 1 == 1;
        match value {
            _ if !is_selected => {}
            Value::Map(entries) if !is_whole => {
                let mut entries = entries.clone();
                if let Some(first) = entries.values_mut().next() {
                    *first = Value::Unknown;
                }
                unknown.set(name, Value::Map(entries));
            }
            _ => unknown.set(name, Value::Unknown),
        }
    }
    unknown
}

/// Applies a configuration, then plans another one, first with unknown inputs and then with known ones.
fn check<P: Topology>(before: Option<&Value>, after: &Value, mask: u64, event: Event) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build().unwrap();
    runtime.block_on(async {
        let mut terraform = Terraform::<P>::new(3);
        let is_valid = |config: &Value, terraform: &Terraform<P>| {
            !terraform.resource.validate(&terraform.config(config)).has_errors()
        };
        if !is_valid(after, &terraform) {
            return;
        }
        if let Some(before) = before {
            if !is_valid(before, &terraform) || terraform.plan(before).await.diagnostics.has_errors() {
                return;
            }
            terraform.assert_applies(before).await;
            let slots = terraform.account.slots();
            let has = |slot: &str| slots.iter().any(|it| it == slot);
            match event {
                Event::Subnet if has("subnet.public.0") => {
                    terraform.account.change_outside("subnet.public.0", |spec| {
                        let Spec::Subnet(subnet) = spec else { unreachable!() };
                        let is_set = subnet.map_public_ip_on_launch == Input::Known(true);
                        subnet.map_public_ip_on_launch = Input::Known(!is_set);
                    });
                }
                Event::Vpc if has("vpc") => {
                    terraform.account.change_outside("vpc", |spec| {
                        let Spec::Vpc(vpc) = spec else { unreachable!() };
                        vpc.enable_dns_hostnames = Input::Known(vpc.enable_dns_hostnames != Input::Known(true));
                    });
                }
                _ => {}
            }
            terraform.refresh().await;
        }
        let unknown = Connection::default();
        unknown.set(Connected::Unknown(TagSettings::default()));
        let mut connected = Composite::new(unknown);
        if event == Event::UnknownProvider {
            std::mem::swap(&mut terraform.resource, &mut connected);
        }
        if event == Event::UnknownTag {
            terraform.account.set_tags(tag_of_provider(Input::Unknown));
        }
        let shown = terraform.plan(&with_unknowns(after, mask)).await;
        if event == Event::UnknownProvider {
            terraform.resource = connected;
        }
        if event == Event::UnknownTag {
            terraform.account.set_tags(tag_of_provider(Input::Known("1".into())));
        }
        let last = terraform.plan(after).await;
        if shown.diagnostics.has_errors() || last.diagnostics.has_errors() {
            return;
        }
        if before.is_some() && shown.requires_replace.is_empty() && last.requires_replace.is_empty() {
            for name in P::ROOT_OUTPUTS {
                assert_eq!(shown.planned.get(name), terraform.state.get(name), "dependents of {name} are replaced");
            }
        }
        if !last.requires_replace.is_empty() {
            assert!(!shown.requires_replace.is_empty(), "the action changes: {:?}", last.requires_replace);
        }
        if shown.requires_replace.is_empty() {
            terraform.assert_as_planned(&shown.planned, &last.planned, "");
        }
    });
}

/// Applies a configuration, then plans it with one unknown input, and with the values that two configurations give it.
/// What both plans have in common must not be unknown if the input is a switch.
fn check_one<P: Topology>(before: &Value, other: &Value, number: prop::sample::Index) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build().unwrap();
    runtime.block_on(async {
        let mut terraform = Terraform::<P>::new(3);
        let is_invalid = |config: &Value, it: &Terraform<P>| it.resource.validate(&it.config(config)).has_errors();
        if is_invalid(before, &terraform) || terraform.plan(before).await.diagnostics.has_errors() {
            return;
        }
        terraform.assert_applies(before).await;
        let names: Vec<&String> = before.as_map().unwrap().keys().collect();
        let name = number.get(&names);
        let with = |value: Value| {
            let mut config = before.clone();
            config.set(name, value);
            config
        };
        let shown = terraform.plan(&with(Value::Unknown)).await;
        if !shown.requires_replace.is_empty() {
            return;
        }
        assert!(!shown.diagnostics.has_errors(), "an unknown {name}: {:?}", shown.diagnostics);
        let is_switch = matches!(before.get(name), Value::Bool(_));
        let values = match before.get(name) {
            Value::Bool(value) => vec![before.get(name).clone(), (!value).into()],
            value => vec![value.clone(), other.get(name).clone()],
        };
        let mut planned = Vec::new();
        for value in values {
            let config = with(value);
            let last = terraform.plan(&config).await;
            if is_invalid(&config, &terraform) || last.diagnostics.has_errors() {
                continue;
            }
            assert!(last.requires_replace.is_empty(), "{name}");
            terraform.assert_as_planned(&shown.planned, &last.planned, name);
            planned.push(last.planned);
        }
        if let (true, [one, two]) = (is_switch, &planned[..]) {
            for output in P::outputs_schema() {
                let common = one.get(&output.name).clone().in_common_with(two.get(&output.name));
                assert_eq!(*shown.planned.get(&output.name), common, "{} with an unknown {name}", output.name);
            }
        }
    });
}

fn some_event() -> impl Strategy<Value = Event> {
    prop::sample::select(vec![Event::None, Event::Subnet, Event::Vpc, Event::UnknownProvider, Event::UnknownTag])
}

/// The configuration of an existing network before and after.
fn some_change() -> impl Strategy<Value = (Option<Value>, Value)> {
    let network = || prop_oneof![some_network(), some_spelled_out_network()];
    (prop::option::weighted(0.8, network()), network(), 0..3_u8).prop_map(|(before, after, kind)| {
        match (before, kind) {
            (before @ None, _) | (before, 0) => (before, after),
            // Nothing changes but what has become known.
            (Some(before), 1) => (Some(before.clone()), before),
            // The configuration takes over the drift.
            (Some(before), _) => {
                let mut after = before.clone();
                let is_set = *before.get("enable_dns_hostnames") == Value::from(true);
                after.set("enable_dns_hostnames", (!is_set).into());
                (Some(before), after)
            }
        }
    })
}

#[test]
fn drift_that_the_configuration_adopts_stays_compatible() {
    let network = |adopted: bool| {
        let tags = Value::map([("team", Value::from("net"))]);
        network(&[("enable_dns_hostnames", (!adopted).into()), ("custom_tags", tags)])
    };
    let after = network(true);
    let mut set = after.as_map().unwrap().iter().filter(|(_, value)| !value.is_null());
    let tags = 1 << set.position(|(name, _)| name == "custom_tags").unwrap();
    check::<FourTierVpc>(Some(&network(false)), &after, tags, Event::Vpc);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn the_final_plan_of_a_network_agrees_with_the_shown_one(
        (before, after) in some_change(), mask in any::<u64>(), event in some_event()
    ) {
        check::<FourTierVpc>(before.as_ref(), &after, mask, event);
    }

    #[test]
    fn one_unknown_input_of_a_network_allows_each_of_its_values(
        (before, after, number) in (some_network(), some_network(), any::<prop::sample::Index>())
    ) {
        check_one::<FourTierVpc>(&before, &after, number);
    }

    #[test]
    fn one_unknown_input_of_a_gateway_allows_each_of_its_values(
        (before, after, number) in (domains::some_gateway(), domains::some_gateway(), any::<prop::sample::Index>())
    ) {
        check_one::<HttpGateway>(&before, &after, number);
    }

    #[test]
    fn the_final_plan_of_a_gateway_agrees_with_the_shown_one(
        (before, after) in (prop::option::weighted(0.8, some_gateway()), some_gateway()),
        (mask, repeats, is_connected) in (any::<u64>(), any::<bool>(), any::<bool>())
    ) {
        let after = before.clone().filter(|_| repeats).unwrap_or(after);
        let event = if is_connected { Event::None } else { Event::UnknownProvider };
        check::<HttpGateway>(before.as_ref(), &after, mask, event);
    }
}
