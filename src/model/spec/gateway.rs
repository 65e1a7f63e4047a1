//! The kinds of objects of an HTTP gateway, one file each.

mod api;
mod api_mapping;
mod api_route;
mod authorizer;
mod dns_record;
mod domain_name;
mod integration;
mod lambda_permission;
mod log_group;
mod log_subscription;
mod stage;

pub use api::{Api, Cors};
pub use api_mapping::ApiMapping;
pub use api_route::ApiRoute;
pub use authorizer::Authorizer;
pub use dns_record::DnsRecord;
pub use domain_name::DomainName;
pub use integration::Integration;
pub use lambda_permission::LambdaPermission;
pub use log_group::LogGroup;
pub use log_subscription::LogSubscription;
pub use stage::{AccessLog, Stage};

fn in_order(items: &[String], text: fn(&str) -> String) -> Vec<String> {
    let mut items: Vec<String> = items.iter().map(|item| text(item)).collect();
    items.sort();
    items.dedup();
    items
}
