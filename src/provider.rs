//! The provider: its block, its connection to AWS, its resources.

use std::sync::Arc;

use async_trait::async_trait;

use crate::aws::Session;
use crate::cloud::SharedCloud;
use crate::plugin::{Diagnostics, Nested, Provider, Resource, Schema, Value};

pub mod block;
mod connection;
mod duration;
pub(crate) mod endpoints;
mod validate;

pub use connection::{Connected, Connection};

use block::ProviderBlock;
pub(crate) use duration::parse as parse_duration;
pub(crate) use validate::tag as check_tag;

/// The provider `fgw`.
pub struct Fgw {
    connection: Connection,
    cloud: fn(Session) -> SharedCloud,
    resources: Vec<Arc<dyn Resource>>,
}

impl Fgw {
    /// A provider that is not configured yet. `cloud` makes what the resources work with from the AWS clients.
    pub fn new(cloud: fn(Session) -> SharedCloud) -> Fgw {
        let connection = Connection::default();
        // The resources go here: Arc::new(Composite::<FourTierVpc>::new(connection.clone())), ...
        let resources = Vec::new();
        Fgw { connection, cloud, resources }
    }

    /// The connection that the resources share.
    pub fn connection(&self) -> &Connection {
        &self.connection
    }
}

#[async_trait]
impl Provider for Fgw {
    fn schema(&self) -> Schema {
        Schema {
            version: 0,
            description: "Whole AWS topologies as single resources. The arguments are those of hashicorp/aws.".into(),
            attributes: ProviderBlock::attributes(),
        }
    }

    fn resources(&self) -> Vec<Arc<dyn Resource>> {
        self.resources.clone()
    }

    fn validate(&self, config: &Value) -> Diagnostics {
        validate::validate(config)
    }

    async fn configure(&self, config: Value, terraform_version: &str) -> Diagnostics {
        let mut diagnostics = Diagnostics::default();
        self.connection.set(Connected::Missing);
        if !config.is_wholly_known() {
            self.connection.set(Connected::Unknown);
            return diagnostics;
        }
        let (block, problems) = ProviderBlock::known_part(&config);
        diagnostics.problems(problems);
        let Some(block) = block else { return diagnostics };
        match crate::aws::connect(&block, terraform_version).await {
            Ok(session) => self.connection.set(Connected::Ready((self.cloud)(session))),
            Err(refusal) => match refusal.path {
                Some(path) => diagnostics.attribute_error(path, refusal.summary, refusal.detail),
                None => diagnostics.error(refusal.summary, refusal.detail),
            },
        }
        diagnostics
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn provider() -> Fgw {
        Fgw::new(|_| unreachable!("no test here reaches AWS"))
    }

    #[tokio::test]
    async fn a_block_with_unknowns_connects_to_nothing_and_is_no_error() {
        let provider = provider();
        let config = Value::map([("region", Value::Unknown)]);
        assert_eq!(provider.configure(config, "1.11.4").await, Diagnostics::default());
        assert!(matches!(provider.connection().get(), Connected::Unknown));
    }

    #[tokio::test]
    async fn a_refused_block_leaves_no_connection_and_names_the_argument() {
        let provider = provider();
        let config = Value::map([("region", "eu-central-1".into()), ("custom_ca_bundle", "/no/such/file".into())]);
        let Diagnostics(found) = provider.configure(config, "1.11.4").await;
        assert_eq!(found.len(), 1);
        assert_eq!(found[0].path, Some(crate::plugin::AttributePath::new("custom_ca_bundle")));
        assert!(found[0].detail.contains("/no/such/file"), "{}", found[0].detail);
        assert!(matches!(provider.connection().get(), Connected::Missing));
    }
}
