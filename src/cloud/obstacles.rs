//! What unmanaged objects have that only one object can have.

use crate::model::{Key, Spec};

/// An object that a plan creates or changes.
#[derive(Clone, Copy, Debug)]
pub struct Begun<'a> {
    /// Its key.
    pub key: &'a Key,
    /// Its spec before; `None` for a new object.
    pub before: Option<&'a Spec>,
    /// The required spec.
    pub spec: &'a Spec,
}

/// An object because of which AWS rejects a create or a change of another one.
#[derive(Clone, Debug, PartialEq)]
pub struct Obstacle {
    /// The key of the object that a plan creates or changes.
    pub key: Key,
    /// The ID of the obstacle.
    pub id: String,
    /// The ID of the root whose ownership tag it has, if that can be another one.
    pub owner: Option<String>,
    /// What the obstacle has: a sentence.
    pub message: String,
    /// What to do.
    pub hint: String,
}
