//! The provider function `subnet_layout`: the IPv4 addresses of a new network, for planning and review.

use std::collections::BTreeMap;

use ipnet::Ipv4Net;

use super::config::Config;
use super::tier_zones::{self, TierZones};
use super::zones::ZoneSlot;
use super::{addresses, validate, vpc, warnings};
use crate::model::{Inventory, Tier};
use crate::plugin::schema::{check, with_defaults};
use crate::plugin::{
    AttributePath, AttributeType, Function, FunctionError, Input, Nested, Parameter, Problem, Signature, Step, Type,
    Value,
};

/// The function. It uses the code of the resource.
#[derive(Clone, Copy, Debug, Default)]
pub struct SubnetLayout;

/// The inputs of the resource that determine addresses, in addition to the range and the number of AZs.
const OPTIONS: [&str; 19] = [
    "tier_availability_zone_ids",
    "create_public_subnets",
    "create_private_app_subnets",
    "create_private_persistence_subnets",
    "create_transit_subnets",
    "public_subnet_bits",
    "private_subnet_bits",
    "persistence_subnet_bits",
    "transit_subnet_bits",
    "subnet_spacing",
    "global_subnet_spacing",
    "private_subnet_spacing",
    "persistence_subnet_spacing",
    "transit_subnet_spacing",
    "public_subnet_cidr_blocks",
    "private_app_subnet_cidr_blocks",
    "private_persistence_subnet_cidr_blocks",
    "transit_subnet_cidr_blocks",
    "secondary_cidr_blocks",
];

/// The arguments in order: the name of each, and the name of the input of the resource that it corresponds to.
const ARGUMENTS: [(&str, &str); 3] =
    [("cidr_block", "cidr_block"), ("az_count", "num_availability_zones"), ("options", "")];

const FREE: &str = "free_cidr_blocks";
const WARNINGS: &str = "warnings";

impl Function for SubnetLayout {
    fn name(&self) -> &'static str {
        "subnet_layout"
    }

    fn signature(&self) -> Signature {
        let [cidr_block, az_count, options] = ARGUMENTS.map(|(name, _)| name);
        let parameter = |name, kind, nullable, description: &str| Parameter {
            name,
            kind,
            nullable,
            description: description.to_string(),
        };
        let all = OPTIONS.map(|name| format!("`{name}`")).join(", ");
        Signature {
            summary: "The IPv4 CIDR blocks of the subnets of a new fgw_four_tier_vpc".to_string(),
            description: description(),
            parameters: vec![
                parameter(
                    cidr_block,
                    Type::String,
                    false,
                    "IPv4 CIDR block of the VPC, from /16 to /27: the `cidr_block` of the resource.",
                ),
                parameter(
                    az_count,
                    Type::Number,
                    false,
                    "Number of AZs, from 1 to 100: the `num_availability_zones` of the resource, or the number of AZs \
                     in the Region if the resource does not set it.",
                ),
            ],
            variadic: Some(parameter(
                options,
                Type::Dynamic,
                true,
                &format!(
                    "Object with the inputs of the resource that differ from their defaults. Without it, none \
                     differ. The allowed inputs are {all}. The function has no AZ IDs, so `{}` contains `AZ-0`, \
                     `AZ-1` and so on, such as `{{ transit = [\"AZ-0\"] }}`.",
                    tier_zones::NAME
                ),
            )),
            result: result_type(),
        }
    }

    fn call(&self, arguments: &[Value]) -> Result<Value, FunctionError> {
        let (cidr_block, az_count, options) = match arguments {
            [cidr_block, az_count] => (cidr_block, az_count, &Value::Null),
            [cidr_block, az_count, options] => (cidr_block, az_count, options),
            _ => {
                return Err(FunctionError::new(
                    "The function accepts two or three arguments: cidr_block, az_count and options.",
                ));
            }
        };
        layout(cidr_block, az_count, options).map_err(function_error)
    }
}

fn description() -> String {
    format!(
        "Returns the IPv4 CIDR block of each subnet that a new `fgw_four_tier_vpc` with these inputs would create. The \
         function uses the code of the resource, and needs neither credentials nor access to AWS.\n\n\
         The result is an object with these attributes:\n\n\
         - `public_subnet_cidr_blocks`, `private_app_subnet_cidr_blocks`, `private_persistence_subnet_cidr_blocks` \
         and `transit_subnet_cidr_blocks`: the blocks of each tier by `AZ-0`, `AZ-1`, .... The resource has inputs of \
         the same names, which accept these values. The map of a tier that is not created is empty;\n\
         - `{FREE}`: the unallocated blocks of the VPC's range, sorted and aggregated;\n\
         - `{WARNINGS}`: the warnings that a plan of the resource would show, such as one about an entry for an AZ \
         that does not exist.\n\n\
         The result is for a new network. The subnets of an existing network keep their blocks, even if the result \
         differs."
    )
}

fn result_type() -> Type {
    let blocks = Type::Map(Box::new(Type::String));
    let strings = Type::List(Box::new(Type::String));
    let tiers = Tier::ALL.map(|tier| (Config::cidr_blocks_name(tier).to_string(), blocks.clone()));
    let others = [FREE, WARNINGS].map(|name| (name.to_string(), strings.clone()));
    Type::Object(tiers.into_iter().chain(others).collect())
}

fn layout(cidr_block: &Value, az_count: &Value, options: &Value) -> Result<Value, Vec<Problem>> {
    let config = config(cidr_block, az_count, options)?;
    let nothing = Inventory::default();
    let (Some(vpc), Input::Known(Some(count))) = (vpc::range(&config, &nothing), &config.num_availability_zones) else {
        let message = "A layout requires a CIDR block and a number of AZs.";
        return Err(vec![Problem::new(AttributePath::root(), message, "Set cidr_block and az_count.")]);
    };
    let count = u32::try_from(*count).unwrap_or(0);
    let places: Vec<ZoneSlot> =
        (0..count).map(|index| ZoneSlot { index, name: String::new(), id: format!("AZ-{index}") }).collect();
    let tiers: Vec<Tier> = Tier::ALL.into_iter().filter(|tier| *config.creates(*tier) == Input::Known(true)).collect();
    let Some(zones) = TierZones::of(&config, &tiers, places, no_such_zone)? else {
        let message = "A layout requires the AZs of each tier.";
        return Err(vec![Problem::new(AttributePath::new(tier_zones::NAME), message, "Use values that are known.")]);
    };
    let blocks = addresses::blocks(&config, None, &nothing, Some(vpc), &zones, &mut Vec::new())?;

    let taken: Vec<Ipv4Net> = blocks.values().filter_map(|block| block.known()?.parse().ok()).collect();
    let free: Vec<String> = addresses::free_blocks(vpc, &taken).iter().map(Ipv4Net::to_string).collect();
    let warnings = warnings::unused_entries(&config, &zones);
    let mut result =
        Value::map([(FREE, free.into()), (WARNINGS, warnings.iter().map(in_words).collect::<Vec<_>>().into())]);
    for tier in Tier::ALL {
        let own = blocks.iter().filter(|((it, _), _)| *it == tier);
        let own: BTreeMap<String, Value> =
            own.map(|((_, index), block)| (format!("AZ-{index}"), block.clone().into())).collect();
        result.set(Config::cidr_blocks_name(tier), own.into());
    }
    Ok(result)
}

fn no_such_zone(network: &[ZoneSlot], id: &str) -> (String, String) {
    let ids: Vec<&str> = network.iter().map(|place| place.id.as_str()).collect();
    (format!("{id} is not one of the AZs {}.", ids.join(", ")), "Use AZs from this list, or increase az_count.".into())
}

/// The configuration of a network with these inputs. The other required inputs have no effect on addresses.
fn config(cidr_block: &Value, az_count: &Value, options: &Value) -> Result<Config, Vec<Problem>> {
    let mut value = Value::map([
        ("vpc_name", "layout".into()),
        ("num_nat_gateways", 0_i64.into()),
        ("cidr_block", cidr_block.clone()),
        ("num_availability_zones", az_count.clone()),
    ]);
    let attributes = Config::attributes();
    for (name, given) in known_options(options)? {
        let kind = attributes.iter().find(|attribute| attribute.name == *name).map(|attribute| &attribute.kind);
        value.set(name, kind.map_or_else(|| given.clone(), |kind| converted(given, kind)));
    }
    let value = with_defaults(&attributes, &value);
    let mut problems = check(&attributes, &value, &AttributePath::root());
    let config = Config::decode(&value, &AttributePath::root(), &mut problems);
    if let (Some(config), true) = (&config, problems.is_empty()) {
        problems = validate::addresses(config);
    }
    match config {
        Some(config) if problems.is_empty() => Ok(config),
        _ => Err(problems),
    }
}

/// The options by name, or one problem that lists all unknown options.
fn known_options(options: &Value) -> Result<&BTreeMap<String, Value>, Vec<Problem>> {
    static NONE: BTreeMap<String, Value> = BTreeMap::new();
    let options = match options {
        Value::Null => return Ok(&NONE),
        Value::Map(options) => options,
        other => {
            let message = format!("{other} is not an object.");
            let hint = "Use an object such as { public_subnet_bits = 6 }, or {}.";
            return Err(vec![Problem::new(AttributePath::root(), message, hint)]);
        }
    };
    let unknown: Vec<&str> = options.keys().map(String::as_str).filter(|name| !OPTIONS.contains(name)).collect();
    if unknown.is_empty() {
        return Ok(options);
    }
    let (verdict, these) = if unknown.len() == 1 { ("is not an option", "it") } else { ("are not options", "them") };
    let message = format!("{} {verdict}. The options are {}.", unknown.join(", "), OPTIONS.join(", "));
    Err(vec![Problem::new(AttributePath::root(), message, format!("Remove {these}."))])
}

/// A value as Terraform would convert it for the resource: a string may contain a number or a bool. A value that cannot
/// be converted stays as it is, and decoding reports it.
fn converted(value: &Value, kind: &AttributeType) -> Value {
    match (kind, value) {
        (AttributeType::Plain(Type::Number), Value::String(text)) => {
            text.parse::<i64>().map_or_else(|_| value.clone(), Value::from)
        }
        (AttributeType::Plain(Type::Bool), Value::String(text)) => {
            text.parse::<bool>().map_or_else(|_| value.clone(), Value::from)
        }
        _ => value.clone(),
    }
}

fn in_words(problem: &Problem) -> String {
    format!("{}: {} {}", problem.path, problem.message, problem.hint)
}

/// One error with all problems, for the first argument that has one.
fn function_error(mut problems: Vec<Problem>) -> FunctionError {
    problems.sort_by_key(argument);
    let first = problems.first().map_or(ARGUMENTS.len() - 1, argument);
    let text = |problem: &Problem| {
        let (name, _) = ARGUMENTS[argument(problem)];
        let words = format!("{} {}", problem.message, problem.hint);
        match (argument(problem), problem.path.0.is_empty()) {
            (at, _) if at == first && at < ARGUMENTS.len() - 1 => words,
            (at, _) if at < ARGUMENTS.len() - 1 => format!("{name}: {words}"),
            (_, true) => words,
            (_, false) => in_words(problem),
        }
    };
    let texts: Vec<String> = problems.iter().map(text).collect();
    FunctionError::of_argument(first, texts.join("\n"))
}

/// The index of the argument with the problem. A problem without an attribute belongs to `options`.
fn argument(problem: &Problem) -> usize {
    let attribute = match problem.path.0.first() {
        Some(Step::Attribute(name)) => name.as_str(),
        _ => "",
    };
    ARGUMENTS.iter().position(|(_, known_as)| *known_as == attribute).unwrap_or(ARGUMENTS.len() - 1)
}

#[cfg(test)]
mod tests;
