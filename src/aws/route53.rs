//! Route 53: DNS records.

pub(crate) mod record;
