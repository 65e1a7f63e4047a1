//! Changes in place that move open connections to another path.

use super::Spec;
use crate::model::{Key, Ref, printable};

impl Spec {
    /// The paths that an update to this spec changes, one phrase for each: the route table of a subnet, and the tables
    /// of a gateway endpoint that exist before and after the plan.
    pub fn moved_paths(&self, before: &Spec, stays: &dyn Fn(&Key) -> bool) -> Vec<String> {
        match (before, self) {
            (Spec::RouteTableAssociation(before), Spec::RouteTableAssociation(to)) => {
                let (from, table) = (&before.route_table, &to.route_table);
                let moves = format!("{} moves from {} to {}", to.subnet, named(from), named(table));
                (from != table).then_some(moves).into_iter().collect()
            }
            (Spec::VpcEndpoint(before), Spec::VpcEndpoint(to)) => {
                let stays = |it: &&Ref| matches!(it, Ref::Key(key) if stays(key));
                let added = to.route_tables.iter().filter(|it| !before.route_tables.contains(it)).filter(stays);
                let removed = before.route_tables.iter().filter(|it| !to.route_tables.contains(it)).filter(stays);
                let added = added.map(|table| format!("{} gets its route", named(table)));
                added.chain(removed.map(|table| format!("{} loses its route", named(table)))).collect()
            }
            _ => Vec::new(),
        }
    }
}

fn named(reference: &Ref) -> String {
    match reference {
        Ref::Key(key) => key.to_string(),
        Ref::Id(id) => printable(id).into_owned(),
    }
}
