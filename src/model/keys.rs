//! The keys of objects, in one module per kind of topology. Blueprints and inventories read from AWS use the same
//! functions, so that equal objects have equal keys.

pub mod gateway;
pub mod network;

use super::only;

/// The name after a prefix of a slot. `None` if no entry of the configuration can have it, as in a tag that another
/// program has written.
pub(crate) fn name_in<'a>(slot: &'a str, prefix: &str) -> Option<&'a str> {
    slot.strip_prefix(prefix).filter(|name| is_name(name))
}

/// Whether an entry with an object can have this name.
pub(crate) fn is_name(name: &str) -> bool {
    !name.is_empty() && name.chars().all(is_in_name)
}

/// Whether such a name can contain this character.
pub(crate) fn is_in_name(character: char) -> bool {
    !character.is_ascii_uppercase() && only(character.encode_utf8(&mut [0; 4]), "._-")
}
