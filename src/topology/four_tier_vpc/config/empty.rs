//! Empty values, which are the defaults of many inputs.

use std::collections::BTreeMap;

use crate::plugin::Value;

pub(super) fn empty_list() -> Value {
    Value::List(Vec::new())
}

pub(super) fn empty_map() -> Value {
    Value::Map(BTreeMap::new())
}
