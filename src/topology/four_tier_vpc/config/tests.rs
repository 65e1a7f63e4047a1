use super::*;
use crate::plugin::{AttributePath, Nested, Type, Value, schema};

/// A configuration with `cidr_block = "10.0.0.0/16"`, one NAT gateway, the name `main`, and these attributes.
pub(crate) fn config(attributes: &[(&str, Value)]) -> Config {
    decode(attributes).unwrap_or_else(|problems| panic!("{problems:?}"))
}

pub(crate) fn decode(attributes: &[(&str, Value)]) -> Result<Config, Vec<crate::plugin::Problem>> {
    let mut value = Value::map([
        ("cidr_block", "10.0.0.0/16".into()),
        ("num_nat_gateways", 1_i64.into()),
        ("vpc_name", "main".into()),
    ]);
    for (name, attribute) in attributes {
        value.set(name, attribute.clone());
    }
    let value = schema::with_defaults(&Config::attributes(), &value);
    let mut problems = schema::check(&Config::attributes(), &value, &AttributePath::root());
    match Config::decode(&value, &AttributePath::root(), &mut problems) {
        Some(config) if problems.is_empty() => Ok(config),
        _ => Err(problems),
    }
}

#[test]
fn a_rule_may_name_its_own_group_with_self() {
    let config = config(&[]);
    let rules = config.default_security_group_ingress_rules.known().unwrap();
    let rule = rules["AllowAllFromSelf"].known().unwrap();
    assert_eq!(rule.self_, Input::Known(true));
    assert_eq!(rule.cidr_blocks, Input::Known(vec![]));
    let Type::Object(fields) = schema::object_type(&SecurityGroupRule::attributes()) else { panic!() };
    assert_eq!(fields.get("self"), Some(&Type::Bool));
}

#[test]
fn every_attribute_is_documented() {
    for attribute in Config::attributes() {
        assert!(!attribute.description.is_empty(), "{}", attribute.name);
    }
}

#[test]
fn every_attribute_accepts_an_unknown_value() {
    for attribute in Config::attributes() {
        if let Err(problems) = decode(&[(&attribute.name, Value::Unknown)]) {
            panic!("{}: {problems:?}", attribute.name);
        }
    }
}
