//! How far a root is under management: the computed attribute `status`.
//!
//! It is in the state that users see, because it must survive the loss of the private state.

use super::private_state::Private;
use crate::plugin::{Attribute, Type, Value};

/// The name of the attribute.
const NAME: &str = "status";

/// How far a root is under management.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Status {
    /// Imported, and no apply has adopted it yet. Nothing of it is managed.
    NotAdopted,
    /// No apply has completed its creation.
    Creating,
    /// Managed.
    Ready,
}

impl Status {
    const ALL: [Status; 3] = [Status::NotAdopted, Status::Creating, Status::Ready];

    /// The value of the attribute.
    pub(super) fn as_str(self) -> &'static str {
        match self {
            Status::NotAdopted => "not_adopted",
            Status::Creating => "creating",
            Status::Ready => "ready",
        }
    }

    /// The status that a private state describes.
    pub(super) fn of(private: &Private) -> Status {
        match private.in_creation {
            _ if private.inventory.has_foreign_root() => Status::NotAdopted,
            true => Status::Creating,
            false => Status::Ready,
        }
    }

    /// The status in a state. `None` if it contains none.
    pub(super) fn in_state(state: &Value) -> Option<Status> {
        let written = state.get(NAME).as_str()?;
        Status::ALL.into_iter().find(|status| status.as_str() == written)
    }

    /// Writes the status into a state.
    pub(super) fn write(self, state: &mut Value) {
        state.set(NAME, self.as_str().into());
    }
}

/// Whether a state is that of an import whose root no apply has adopted yet.
pub(super) fn is_not_adopted(state: &Value) -> bool {
    Status::in_state(state) == Some(Status::NotAdopted)
}

/// The attribute of the resource.
pub(super) fn attribute(root_kind: &str) -> Attribute {
    Attribute::computed(
        NAME,
        Type::String,
        &format!(
            "`ready`; `creating` until an apply completes the creation of the {root_kind}; `not_adopted` from the import \
             of a {root_kind} that something else built until an apply adopts it. Before that, nothing of it is changed \
             or deleted."
        ),
    )
}
