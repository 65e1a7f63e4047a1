//! Rules for every kind of object: one table for each rule, which a new kind has to join.

mod renamed;
mod in_use;
mod follows;
mod kept;
mod unstored;
mod replaced;
mod failed_updates;

use std::collections::BTreeSet;

pub(super) use self::in_use::links;
use crate::model::Spec;

/// The name of a kind in a table, such as `NAT gateway`. Messages call two kinds `route`.
fn name(spec: &Spec) -> &'static str {
    match spec {
        Spec::ApiRoute(_) => "API route",
        spec => spec.kind(),
    }
}

/// Requires that a table has one row for each kind of object. `rows` are the names of the kinds in the table.
fn assert_complete<'a>(rows: impl IntoIterator<Item = &'a str>) {
    let mut missing: BTreeSet<&str> = Spec::of_each_kind().iter().map(name).collect();
    assert_eq!(missing.len(), Spec::of_each_kind().len(), "each kind has its own name");
    for row in rows {
        assert!(missing.remove(row), "{row:?} is no kind, or has two rows");
    }
    assert!(missing.is_empty(), "kinds without a row: {missing:?}");
}
