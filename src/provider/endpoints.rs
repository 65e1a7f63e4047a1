//! The `endpoints` block.

use std::collections::BTreeMap;

use crate::aws::config::settings::Service;
use crate::plugin::{Attribute, AttributePath, AttributeType, FromValue, Nested, Nesting, Problem, Type, Value};

/// A service that this provider calls, with its names in the block. The documentation shows the first name.
struct Called {
    service: Service,
    names: &'static [&'static str],
    title: &'static str,
}

const CALLED: &[Called] = &[
    Called { service: Service::Acm, names: &["acm"], title: "ACM" },
    Called { service: Service::ApiGateway, names: &["apigatewayv2", "apigateway"], title: "API Gateway" },
    Called { service: Service::Ec2, names: &["ec2"], title: "EC2" },
    Called { service: Service::Kms, names: &["kms"], title: "KMS" },
    Called { service: Service::Lambda, names: &["lambda"], title: "Lambda" },
    Called { service: Service::Logs, names: &["logs", "cloudwatchlogs", "cloudwatchlog"], title: "CloudWatch Logs" },
    Called { service: Service::Route53, names: &["route53"], title: "Route 53" },
    Called { service: Service::Sts, names: &["sts"], title: "STS" },
];

/// The names that hashicorp/aws accepts for services that this provider does not call.
const OTHERS: &str = include_str!("other_endpoints.txt");

/// One `endpoints` block: URLs by configured name.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Endpoints(BTreeMap<String, String>);

impl Endpoints {
    /// All entries: configured name and URL.
    pub(crate) fn entries(&self) -> impl Iterator<Item = (&str, &str)> {
        self.0.iter().map(|(name, url)| (name.as_str(), url.as_str()))
    }
}

/// Whether this provider calls the service with a name.
pub(crate) fn is_called(name: &str) -> bool {
    service_named(name).is_some()
}

/// The service with a name in the block; `None` if this provider does not call it.
pub(crate) fn service_named(name: &str) -> Option<Service> {
    CALLED.iter().find(|called| called.names.contains(&name)).map(|called| called.service)
}

impl Nested for Endpoints {
    fn attributes() -> Vec<Attribute> {
        let url = || AttributeType::Plain(Type::String);
        let called = CALLED.iter().flat_map(|called| {
            called.names.iter().map(move |name| {
                Attribute::new(name, url(), &format!("Endpoint URL of {}, with `http://` or `https://`.", called.title))
            })
        });
        let others = OTHERS
            .split_whitespace()
            .map(|name| Attribute::new(name, url(), "Has no effect: this provider does not call this service."));
        called.chain(others).collect()
    }

    fn decode(value: &Value, path: &AttributePath, problems: &mut Vec<Problem>) -> Option<Endpoints> {
        let entries = value.as_map()?.iter().filter(|(_, url)| !url.is_null());
        let decoded: Vec<Option<(String, String)>> = entries
            .map(|(name, url)| Some((name.clone(), String::from_value(url, &path.attribute(name), problems)?)))
            .collect();
        // An empty string means "not set", as in hashicorp/aws, so that a variable can switch an endpoint off.
        let decoded: Option<BTreeMap<String, String>> = decoded.into_iter().collect();
        Some(Endpoints(decoded?.into_iter().filter(|(_, url)| !url.is_empty()).collect()))
    }
}

impl FromValue for Endpoints {
    fn attribute_type() -> AttributeType {
        AttributeType::Nested(Nesting::Single, Endpoints::attributes())
    }

    fn from_value(value: &Value, path: &AttributePath, problems: &mut Vec<Problem>) -> Option<Endpoints> {
        match value {
            Value::Map(_) => Endpoints::decode(value, path, problems),
            other => crate::plugin::decode::type_mismatch(other, path, problems),
        }
    }
}
