//! The AWS account of the configured provider.

use crate::cloud::{Connected, Connection, Regions};
use crate::plugin::Diagnostics;

/// Returns the account in each Region. Without one, returns `None` and adds an error with the reason.
pub(super) fn account(connection: &Connection, diagnostics: &mut Diagnostics) -> Option<Regions> {
    match connection.get() {
        Connected::Ready(regions) => Some(regions),
        Connected::Unknown(_) => {
            diagnostics.error(
                "The provider configuration is not known yet",
                "An argument of the provider block depends on a value that is known only after apply. Apply the \
                 resource that it refers to first, with -target, or set the argument to a known value.",
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
