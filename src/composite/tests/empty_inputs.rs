//! Inputs whose default is empty. Null and empty mean the same there, so a plan and the state contain null, which
//! Terraform does not show.

use super::*;
use crate::plugin::{Attribute, AttributeType, Mode, Nested, Type};

/// The inputs of a resource whose default is empty, at every depth.
fn empty_by_default<P: Topology>() -> Vec<String> {
    fn collect(attributes: &[Attribute], prefix: &str, names: &mut Vec<String>) {
        for attribute in attributes {
            let name = format!("{prefix}{}", attribute.name);
            if let AttributeType::Nested(_, nested) = &attribute.kind {
                collect(nested, &format!("{name}."), names);
            }
            if attribute.is_empty_by_default() {
                names.push(name);
            }
        }
    }
    let mut names = Vec::new();
    collect(&P::Config::attributes(), "", &mut names);
    names
}

/// The same, without those within entries.
fn at_the_top<P: Topology>() -> Vec<String> {
    empty_by_default::<P>().into_iter().filter(|name| !name.contains('.')).collect()
}

/// The empty values of these inputs.
fn empty_values<P: Topology>() -> Vec<(String, Value)> {
    let attributes = P::Config::attributes();
    let empty = |kind: Type| match kind {
        Type::String => "".into(),
        Type::List(_) | Type::Set(_) => Value::List(Vec::new()),
        _ => Value::map::<&str>([]),
    };
    let of = |name: String| {
        let attribute = attributes.iter().find(|it| it.name == name).unwrap();
        (name, empty(attribute.kind.value_type()))
    };
    at_the_top::<P>().into_iter().map(of).collect()
}

/// Applies a configuration that sets none of these inputs, then sets them to empty values, and then removes them.
async fn check<P: Topology>(mut terraform: Terraform<P>, config: &Value) {
    let (names, shown) = (at_the_top::<P>(), |state: &Value, name: &String| state.get(name).clone());
    let planned = terraform.plan(config).await.planned;
    assert_eq!(names.iter().filter(|name| !shown(&planned, name).is_null()).collect::<Vec<_>>(), [""; 0]);
    terraform.assert_applies(config).await;
    assert_eq!(names.iter().filter(|name| !shown(&terraform.state, name).is_null()).collect::<Vec<_>>(), [""; 0]);

    // Terraform requires that a plan contains a configured value as it is.
    let mut written = config.clone();
    for (name, value) in empty_values::<P>() {
        written.set(&name, value);
    }
    let before = terraform.state.clone();
    terraform.account.take_calls();
    terraform.assert_applies(&written).await;
    let mut expected = before;
    for (name, value) in empty_values::<P>() {
        expected.set(&name, value);
    }
    assert_eq!(differing(&expected, &terraform.state), "", "nothing else changes");

    // Without them, the values in state mean the same.
    terraform.assert_quiet(config).await;
    assert_eq!(terraform.account.take_calls(), Vec::<String>::new());

    // After an import, both spellings plan nothing. A module often passes empty values.
    super::import::reimport(&mut terraform).await;
    terraform.assert_quiet(config).await;
    terraform.assert_quiet(&written).await;
}

#[tokio::test(start_paused = true)]
async fn inputs_of_a_network_without_a_value_stay_null() {
    let terraform = Terraform::<FourTierVpc>::new(3);
    check(terraform, &network(&[])).await;
}

#[tokio::test(start_paused = true)]
async fn inputs_of_a_gateway_without_a_value_stay_null() {
    let mut config = gateway(&[("GET /", route("hello", None))], &[], &[]);
    config.set("faas_authorizers", Value::Null);
    check(Terraform::<HttpGateway>::new(0), &config).await;
}

#[tokio::test(start_paused = true)]
async fn rules_that_omit_a_kind_of_source_stay_null_there() {
    let rule = |pairs: &[(&'static str, Value)]| {
        let common = [("protocol", Value::from("tcp")), ("from_port", 443_i64.into()), ("to_port", 443_i64.into())];
        Value::map(common.into_iter().chain(pairs.iter().cloned()))
    };
    let config = network(&[(
        "default_security_group_ingress_rules",
        Value::map([
            ("by_range", rule(&[("cidr_blocks", vec!["10.0.0.0/8"].into())])),
            ("by_itself", rule(&[("self", true.into()), ("cidr_blocks", Value::List(Vec::new()))])),
        ]),
    )]);
    let mut terraform = Terraform::<FourTierVpc>::new(1);
    terraform.assert_applies(&config).await;
    let rules = terraform.state.get("default_security_group_ingress_rules");
    assert_eq!(*rules.get("by_range").get("security_groups"), Value::Null);
    assert_eq!(*rules.get("by_itself").get("cidr_blocks"), Value::List(Vec::new()), "as configured");
    let of_default = terraform.state.get("default_security_group_egress_rules").get("AllowAllOutbound");
    assert_eq!((of_default.get("prefix_list_ids"), of_default.get("self")), (&Value::Null, &false.into()));
    terraform.end().await;
}

/// An empty map of rules has a meaning of its own, so the maps of rules are not in this list.
#[test]
fn these_inputs_mean_the_same_if_they_are_null_or_empty() {
    let rule = ["cidr_blocks", "ipv6_cidr_blocks", "prefix_list_ids", "security_groups"];
    let of_rules = |map: &str| rule.map(|name| format!("default_security_group_{map}_rules.{name}"));
    let network = [
        "availability_zone_exclude_ids",
        "availability_zone_exclude_names",
        "tier_availability_zone_ids",
        "cloud_region",
        "custom_nat_eips",
        "route_table_layout",
        "public_subnet_cidr_blocks",
        "private_app_subnet_cidr_blocks",
        "private_persistence_subnet_cidr_blocks",
        "transit_subnet_cidr_blocks",
        "secondary_cidr_blocks",
    ];
    let tags = [
        "public_propagating_vgws",
        "private_propagating_vgws",
        "persistence_propagating_vgws",
        "transit_propagating_vgws",
        "flow_logs.tags",
        "flow_logs",
        "interface_endpoints.allowed_cidr_blocks",
        "interface_endpoints.tags",
        "interface_endpoints",
        "custom_tags",
        "name_tags",
        "vpc_custom_tags",
        "nat_gateway_custom_tags",
        "public_subnet_custom_tags",
        "private_app_subnet_custom_tags",
        "private_persistence_subnet_custom_tags",
        "transit_subnet_custom_tags",
        "public_route_table_custom_tags",
        "private_app_route_table_custom_tags",
        "private_persistence_route_table_custom_tags",
        "transit_route_table_custom_tags",
        "security_group_tags",
        "public_subnet_ipv6_cidr_blocks",
        "private_app_subnet_ipv6_cidr_blocks",
        "private_persistence_subnet_ipv6_cidr_blocks",
        "transit_subnet_ipv6_cidr_blocks",
    ];
    let of_rules = [of_rules("ingress"), of_rules("egress")].concat();
    let plain = |names: &[&str]| names.iter().map(ToString::to_string).collect::<Vec<_>>();
    assert_eq!(empty_by_default::<FourTierVpc>(), [plain(&network), of_rules, plain(&tags)].concat());
    let pattern = "access_log_logservice_group_subscription_filter_pattern";
    assert_eq!(
        empty_by_default::<HttpGateway>(),
        [
            "route_config.request_parameters",
            "route_config.response_parameters",
            "api_tags",
            "stage_variables",
            "stage_tags",
            "faas_authorizers",
            "jwt_authorizers",
            "vpc_links.tags",
            "vpc_links",
            pattern
        ]
    );
}

/// The computed maps and lists that are null in a state.
fn null_collections<P: Topology>(terraform: &Terraform<P>) -> Vec<String> {
    let is_collection = |it: &Attribute| matches!(it.kind.value_type(), Type::Map(_) | Type::List(_) | Type::Set(_));
    let attributes = terraform.resource.schema().attributes.into_iter();
    let computed = attributes.filter(|it| it.mode == Mode::Computed && is_collection(it));
    computed.map(|it| it.name).filter(|name| terraform.state.get(name).is_null()).collect()
}

#[tokio::test(start_paused = true)]
async fn an_output_map_is_never_null() {
    let mut terraform = Terraform::<FourTierVpc>::new(1);
    terraform.assert_applies(&network(&[("num_availability_zones", 1_i64.into())])).await;
    assert_eq!(null_collections(&terraform), [""; 0]);
    let mut terraform = Terraform::<HttpGateway>::new(0);
    terraform.assert_applies(&gateway(&[("GET /a", route("a", None))], &[], &[])).await;
    assert_eq!(null_collections(&terraform), [""; 0]);
}
