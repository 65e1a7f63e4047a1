//! The kinds of objects of an HTTP gateway, one file each.

mod api;
mod api_mapping;
mod api_route;
mod authorization;
mod authorizer;
mod dns_record;
mod domain_name;
mod integration;
mod jwt_authorizer;
mod lambda_permission;
mod log_group;
mod log_subscription;
mod route_settings;
mod stage;
mod vpc_link;

pub use api::*;
pub use api_mapping::*;
pub use api_route::*;
pub use authorization::*;
pub use authorizer::*;
pub use dns_record::*;
pub use domain_name::*;
pub use integration::*;
pub use jwt_authorizer::*;
pub use lambda_permission::*;
pub use log_group::*;
pub use log_subscription::*;
pub use route_settings::*;
pub use stage::*;
pub use vpc_link::*;

fn in_order(items: &[String], text: fn(&str) -> String) -> Vec<String> {
    let mut items: Vec<String> = items.iter().map(|item| text(item)).collect();
    items.sort();
    items.dedup();
    items
}
