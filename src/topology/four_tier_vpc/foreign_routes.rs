//! Default routes that others have put into our tables, where we want one.

use crate::model::keys::network as keys;
use crate::model::{Inventory, Object, Ref, Route, Spec};
use crate::plugin::{AttributePath, Problem};

/// A problem for each wanted route whose place in its table somebody else's holds. Ours cannot be made beside it, and
/// theirs is not ours to delete.
pub(super) fn problems(objects: &[Object], existing: &Inventory) -> Vec<Problem> {
    objects.iter().filter_map(|object| problem(object, existing)).collect()
}

fn problem(object: &Object, existing: &Inventory) -> Option<Problem> {
    let Spec::Route(Route { route_table, destination, target: Ref::Key(wanted) }) = &object.spec else { return None };
    if existing.present().any(|entry| entry.key == object.key) {
        return None;
    }
    let table = existing.present().find(|entry| entry.key == *route_table)?;
    let there = table.learned.get(&keys::foreign_route(destination)).filter(|target| !target.is_empty())?;
    let (input, without) = match wanted.slot.split('.').next() {
        Some("nat_gateway") => ("num_nat_gateways", "num_nat_gateways = 0"),
        Some("private_nat_gateway") => ("enable_private_nat", "enable_private_nat = false"),
        _ => ("create_igw", "create_igw = false"),
    };
    let message = format!(
        "{} would lead {destination} of {route_table} ({}) to {wanted}, but a route there leads it to {there} already, \
         and was not made by this resource.",
        object.key, table.id
    );
    let hint = format!("Delete that route, or leave the way out to it with {without}.");
    Some(Problem::new(AttributePath::new(input), message, hint))
}

#[cfg(test)]
mod tests {
    use super::super::config::tests::config;
    use super::super::fixtures::{applied, blueprint, objects};
    use super::*;

    /// A network with one NAT gateway, whose table of the private app tier in AZ 0 has such a route instead of ours.
    fn existing(target: &str, has_ours: bool) -> Inventory {
        let mut existing = applied(&objects(&config(&[]), "ab"));
        existing.entries.retain(|entry| has_ours || entry.key.slot != "route.private_app.0.ipv4");
        let table = existing.entries.iter_mut().find(|entry| entry.key.slot == "route_table.private_app.0").unwrap();
        table.learned.insert(keys::foreign_route("0.0.0.0/0"), target.to_string());
        existing
    }

    fn problems_of(existing: &Inventory, attributes: &[(&str, crate::plugin::Value)]) -> Vec<Problem> {
        blueprint(&config(attributes), Some(&config(&[])), existing, "ab").err().unwrap_or_default()
    }

    #[test]
    fn a_foreign_default_route_is_refused_with_its_table_and_target() {
        let problems = problems_of(&existing("tgw-9", false), &[]);
        let [problem] = problems.as_slice() else { panic!("{problems:?}") };
        assert_eq!(problem.path, AttributePath::new("num_nat_gateways"));
        for part in ["route_table.private_app.0", "id-of-route_table.private_app.0", "tgw-9", "0.0.0.0/0"] {
            assert!(problem.message.contains(part), "no {part} in {}", problem.message);
        }
        assert!(problem.hint.contains("num_nat_gateways = 0"), "{}", problem.hint);
    }

    #[test]
    fn a_foreign_default_route_is_no_problem_where_none_of_ours_is_wanted_or_ours_is_there() {
        assert_eq!(problems_of(&existing("tgw-9", false), &[("num_nat_gateways", 0_i64.into())]), []);
        assert_eq!(problems_of(&existing("tgw-9", true), &[]), []);
        assert_eq!(problems_of(&existing("", false), &[]), [], "it has gone");
    }
}
