//! The account that a configured provider works in.

use crate::cloud::{Connected, Connection, SharedCloud};
use crate::plugin::Diagnostics;

/// The account, or a diagnostic that says why there is none.
pub(super) fn account(connection: &Connection, diagnostics: &mut Diagnostics) -> Option<SharedCloud> {
    match connection.get() {
        Connected::Ready(cloud) => Some(cloud),
        Connected::Unknown => {
            diagnostics.error(
                "The provider configuration is not known yet",
                "An argument of the provider block depends on something that is only known after apply. Apply that first, \
                 with -target, or give the argument a known value.",
            );
            None
        }
        Connected::Missing => {
            diagnostics.error(
                "The provider is not configured",
                "Terraform has not sent a provider configuration. This is a bug in Terraform or in the provider.",
            );
            None
        }
    }
}
