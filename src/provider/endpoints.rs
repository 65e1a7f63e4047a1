//! The `endpoints` block.

use std::collections::BTreeMap;

use super::block::ProviderBlock;
use crate::plugin::{Attribute, AttributePath, AttributeType, FromValue, Nested, Nesting, Problem, Type, Value};

/// A service that this provider calls: its name in `AWS_ENDPOINT_URL_<SERVICE>`, and its names in the block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Service {
    /// The first is the one that the documentation shows.
    pub(crate) names: &'static [&'static str],
    what: &'static str,
}

/// ACM, where certificates are.
pub(crate) const ACM: Service = Service { names: &["acm"], what: "ACM" };
/// API Gateway version 2, the one of HTTP APIs.
pub(crate) const APIGATEWAY: Service = Service { names: &["apigatewayv2", "apigateway"], what: "API Gateway" };
/// CloudWatch Logs.
pub(crate) const LOGS: Service =
    Service { names: &["logs", "cloudwatchlogs", "cloudwatchlog"], what: "CloudWatch Logs" };
/// EC2, which VPCs are part of.
pub(crate) const EC2: Service = Service { names: &["ec2"], what: "EC2" };
/// KMS, where keys are.
pub(crate) const KMS: Service = Service { names: &["kms"], what: "KMS" };
/// Lambda.
pub(crate) const LAMBDA: Service = Service { names: &["lambda"], what: "Lambda" };
/// Route 53, where DNS records are.
pub(crate) const ROUTE53: Service = Service { names: &["route53"], what: "Route 53" };
/// STS.
pub(crate) const STS: Service = Service { names: &["sts"], what: "STS" };

const CALLED: &[Service] = &[ACM, APIGATEWAY, EC2, KMS, LAMBDA, LOGS, ROUTE53, STS];

/// The names that hashicorp/aws accepts for services that this provider does not call.
const OTHERS: &str = include_str!("other_endpoints.txt");

/// One `endpoints` block: URLs by the name that the user wrote.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Endpoints(BTreeMap<String, String>);

impl ProviderBlock {
    /// The URL that the user set for a service.
    pub(crate) fn endpoint(&self, service: Service) -> Option<&str> {
        self.endpoints_by_name().find(|(_, name, _)| service.names.contains(name)).map(|(_, _, url)| url)
    }

    /// Every entry, with its path.
    pub(crate) fn endpoints_by_name(&self) -> impl Iterator<Item = (AttributePath, &str, &str)> {
        let blocks = self.endpoints.iter().flatten().enumerate();
        blocks.flat_map(|(index, block)| {
            let path = AttributePath::new("endpoints").index(index);
            block.0.iter().map(move |(name, url)| (path.attribute(name), name.as_str(), url.as_str()))
        })
    }
}

/// Whether this provider calls the service of that name.
pub(crate) fn is_called(name: &str) -> bool {
    service_named(name).is_some()
}

/// The service that a name in the block stands for, if this provider calls it.
pub(crate) fn service_named(name: &str) -> Option<Service> {
    CALLED.iter().find(|service| service.names.contains(&name)).copied()
}

impl Nested for Endpoints {
    fn attributes() -> Vec<Attribute> {
        let url = || AttributeType::Plain(Type::String);
        let called = CALLED.iter().flat_map(|service| {
            service.names.iter().map(move |name| {
                Attribute::new(name, url(), &format!("The URL of {}, with `http://` or `https://`.", service.what))
            })
        });
        let others = OTHERS
            .split_whitespace()
            .map(|name| Attribute::new(name, url(), "Has no effect: this provider does not call the service."));
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
            other => crate::plugin::decode::misfit(other, path, problems),
        }
    }
}
