//! Checks of single inputs.

use crate::plugin::Check;

/// The check of the tenancy. AWS allows `host` for an instance, but not for a VPC (API reference of CreateVpc).
pub(super) fn tenancy() -> Check {
    let rule = "one of default, dedicated";
    Check::new(rule, move |value| match value.as_str() {
        Some("host") => {
            Err("AWS rejects \"host\" for a VPC: \"The host tenancy option cannot be used with a VPC\". Use \
                             \"default\" and set the tenancy of the instances to \"host\", or use \"dedicated\"."
                .to_string())
        }
        Some(text) if !["default", "dedicated"].contains(&text) => Err(format!("{value} is not a tenancy.")),
        _ => Ok(()),
    })
}
