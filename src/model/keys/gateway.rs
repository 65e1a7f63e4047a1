//! The keys of a gateway's objects. The doc comment of each function states the slot and the immutable inputs.

use std::collections::BTreeSet;

use sha2::{Digest, Sha256};

use crate::model::{DnsRecord, FunctionArn, Key, Spec, Stage};
use crate::plugin::Input;

/// The slot of the API, the root of a gateway.
pub const API: &str = "api";

/// The slot of the log group.
pub const LOG_GROUP: &str = "log_group";
/// The slot of its subscription filter.
pub const LOG_SUBSCRIPTION: &str = "log_subscription";

/// The slot of the stage.
pub const STAGE: &str = "stage";

/// The slot of the custom domain.
pub const DOMAIN: &str = "domain";

/// The slot of the DNS record of type AAAA.
pub const DNS_RECORD_AAAA: &str = "dns_record_aaaa";

/// The start of the slots of VPC links.
pub(crate) const VPC_LINK: &str = "vpc_link.";

/// The start of the slots of authorizers, before their names.
pub(crate) const AUTHORIZER: &str = "authorizer.";

/// The start of the slots of their permissions.
pub(crate) const AUTHORIZER_PERMISSION: &str = "authorizer_permission.";

/// The name under which an API's entry stores the value of its tag `fgw:resource` in `learned`.
pub(crate) const RESOURCE: &str = "resource";

/// The slots that a gateway can have. `*` is any text.
pub fn slots() -> Vec<String> {
    let slots = [
        API,
        LOG_GROUP,
        "permission.*",
        "authorizer.*",
        "authorizer_permission.*",
        LOG_SUBSCRIPTION,
        "subscription_permission",
        "vpc_link.*",
        "integration.*",
        "route.*",
        STAGE,
        DOMAIN,
        "api_mapping",
        "dns_record",
        DNS_RECORD_AAAA,
    ];
    slots.map(str::to_string).into()
}

/// `api`.
pub fn api() -> Key {
    Key::new(API)
}

/// `log_group`, fixed by its name.
pub fn log_group(name: &Input<String>) -> Key {
    Key::fixed(LOG_GROUP, name.clone())
}

/// `permission.<function>.<hash>`, fixed by function and qualifier. The hash distinguishes functions with the same name
/// in several Regions.
pub fn permission(function: &FunctionArn) -> Key {
    let fixed = function_and_qualifier(function);
    Key::fixed(format!("permission.{}.{}", function.short(), hash(&fixed)), Input::Known(fixed))
}

/// `authorizer.<name>`.
pub fn authorizer(name: &str) -> Key {
    Key::new(format!("{AUTHORIZER}{name}"))
}

/// The same, fixed by its type unless that is REQUEST, and by the name in AWS unless that is the same. It differs if
/// another authorizer has the name: one that an unmanaged route uses, or the predecessor, which has another type.
pub fn authorizer_in_aws(name: &str, spec: &Spec) -> Key {
    let (kind, name_in_aws) = match spec {
        Spec::JwtAuthorizer(it) => (Some("JWT"), &it.name),
        Spec::Authorizer(it) => (None, &it.name),
        _ => return authorizer(name),
    };
    let renamed = Some(name_in_aws.as_str()).filter(|it| *it != name);
    let fixed = Vec::from_iter(kind.into_iter().chain(renamed)).join(" ");
    Key::fixed(format!("{AUTHORIZER}{name}"), Input::Known(fixed))
}

/// The name of an authorizer in its map. `None` if this is the key of another object.
pub fn authorizer_name(authorizer: &Key) -> Option<&str> {
    authorizer.slot.strip_prefix(AUTHORIZER)
}

/// `authorizer_permission.<name>`, fixed by function and qualifier, and by the name of the authorizer in AWS if that
/// differs.
pub fn authorizer_permission(authorizer: &Key, function: &FunctionArn) -> Key {
    authorizer_permission_of(authorizer, &function.unqualified(), function.qualifier.as_deref())
}

/// The same for a function without its qualifier, and the qualifier.
pub fn authorizer_permission_of(authorizer: &Key, function: &str, qualifier: Option<&str>) -> Key {
    let name = authorizer_name(authorizer).unwrap_or(&authorizer.slot);
    let function = text_of(function, qualifier);
    let fixed = authorizer.fixed.as_ref().map(|name| match name.is_empty() {
        true => function.clone(),
        false => format!("{function} {name}"),
    });
    Key::fixed(format!("{AUTHORIZER_PERMISSION}{name}"), fixed)
}

/// `log_subscription`, fixed by the group's name.
pub fn log_subscription(log_group: &Key) -> Key {
    Key::fixed(LOG_SUBSCRIPTION, log_group.fixed.clone())
}

/// `subscription_permission`, fixed by function, qualifier, and the log group, which is the source of the statement.
pub fn subscription_permission(function: &FunctionArn, log_group: &Key) -> Key {
    let fixed = log_group.fixed.as_ref().map(|group| format!("{} {group}", function_and_qualifier(function)));
    Key::fixed("subscription_permission", fixed)
}

/// `vpc_link.<name>`, fixed by its subnets and security groups.
pub fn vpc_link(name: &str, subnets: &Input<BTreeSet<String>>, groups: &Input<BTreeSet<String>>) -> Key {
    let fixed = match (subnets, groups) {
        (Input::Known(subnets), Input::Known(groups)) => {
            let ids: Vec<&str> = subnets.iter().chain(groups).map(String::as_str).collect();
            Input::Known(ids.join(" "))
        }
        _ => Input::Unknown,
    };
    Key::fixed(format!("{VPC_LINK}{name}"), fixed)
}

/// `integration.<name>`.
pub fn integration(name: &str) -> Key {
    Key::new(format!("integration.{name}"))
}

/// `route.<route key>`.
pub fn route(route_key: &str) -> Key {
    Key::new(format!("route.{route_key}"))
}

/// `stage`, fixed by its name unless that is `$default`.
pub fn stage(name: &str) -> Key {
    let fixed = if name == Stage::DEFAULT { "" } else { name };
    Key::fixed(STAGE, Input::Known(fixed.to_string()))
}

/// `domain`, fixed by its name.
pub fn domain(name: &Input<String>) -> Key {
    Key::fixed(DOMAIN, name.clone())
}

/// `api_mapping`, fixed by the name of its domain.
pub fn api_mapping(domain: &Key) -> Key {
    Key::fixed("api_mapping", domain.fixed.clone())
}

/// `dns_record` for the type A and `dns_record_aaaa` for AAAA, fixed by zone and name.
pub fn dns_record(record_type: &str, zone_id: &Input<String>, name: &Input<String>) -> Key {
    let fixed = match (zone_id, name) {
        (Input::Known(zone_id), Input::Known(name)) => Input::Known(format!("{zone_id} {name}")),
        _ => Input::Unknown,
    };
    Key::fixed(if record_type == DnsRecord::AAAA { DNS_RECORD_AAAA } else { "dns_record" }, fixed)
}

fn function_and_qualifier(function: &FunctionArn) -> String {
    text_of(&function.unqualified(), function.qualifier.as_deref())
}

fn text_of(function: &str, qualifier: Option<&str>) -> String {
    qualifier.map_or_else(|| function.to_string(), |qualifier| format!("{function} {qualifier}"))
}

/// Six hexadecimal digits, which suffice to distinguish the few permissions of one function name.
fn hash(text: &str) -> String {
    Sha256::digest(text).iter().take(3).map(|byte| format!("{byte:02x}")).collect()
}
