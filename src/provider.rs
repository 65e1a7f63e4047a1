//! The provider: its block, its connection to AWS, its resources, data sources and functions.

use std::sync::{Arc, OnceLock};

use async_trait::async_trait;

use crate::aws::config::connect::Account;
use crate::aws::config::plaintext::explained;
use crate::aws::config::settings::Settings;
use crate::aws::config::sources::ConfigError;
use crate::cloud::{Connected, Connection, Regions, SharedCloud};
use crate::composite::{Composite, Existing, Progress, RootList, Siblings};
use crate::plugin::{
    AttributePath, DataSource, Diagnostics, Function, ListResource, Nested, Provider, Resource, Schema, Value,
};
use crate::topology::four_tier_vpc::{FourTierVpc, SubnetLayout};
use crate::topology::http_gateway::HttpGateway;

pub mod block;
mod endpoints;
mod settings;
mod validate;

use block::ProviderBlock;

/// The provider `fgw`.
#[derive(Default)]
pub struct Fgw {
    connection: Connection,
    /// Opened once, on first use.
    progress: OnceLock<Arc<Progress>>,
    siblings: Siblings,
}

impl Fgw {
    /// The progress file, which everything of this provider shares.
    fn progress(&self) -> Arc<Progress> {
        Arc::clone(self.progress.get_or_init(|| Arc::new(Progress::from_environment())))
    }
}

/// Connects to a Region of an account.
fn open(account: &Account, region: &str) -> SharedCloud {
    let session = account.session(region);
    #[cfg(debug_assertions)]
    let session = crate::cloud::panic_on_demand::PanicOnDemand::of_environment(session);
    Arc::new(session)
}

#[async_trait]
impl Provider for Fgw {
    fn schema(&self) -> Schema {
        Schema {
            version: 0,
            description: "Manages a whole AWS network or HTTP gateway as one resource. An update creates new objects \
                          and switches traffic to them before it deletes old ones. A subnet keeps its availability \
                          zone and CIDR block unless you explicitly change them. The provider modifies only the tags \
                          that it set.\n\n\
                          The provider block accepts the arguments of that of hashicorp/aws, so you can copy an existing \
                          block."
                .into(),
            attributes: ProviderBlock::attributes(),
        }
    }

    fn resources(&self) -> Vec<Arc<dyn Resource>> {
        let (connection, siblings) = (|| self.connection.clone(), || self.siblings.clone());
        vec![
            Arc::new(Composite::<FourTierVpc>::with(connection(), self.progress(), siblings())),
            Arc::new(Composite::<HttpGateway>::with(connection(), self.progress(), siblings())),
        ]
    }

    fn list_resources(&self) -> Vec<Arc<dyn ListResource>> {
        vec![
            Arc::new(RootList::<FourTierVpc>::new(self.connection.clone(), self.progress())),
            Arc::new(RootList::<HttpGateway>::new(self.connection.clone(), self.progress())),
        ]
    }

    fn data_sources(&self) -> Vec<Arc<dyn DataSource>> {
        vec![
            Arc::new(Existing::<FourTierVpc>::new(self.connection.clone())),
            Arc::new(Existing::<HttpGateway>::new(self.connection.clone())),
        ]
    }

    fn functions(&self) -> Vec<Arc<dyn Function>> {
        vec![Arc::new(SubnetLayout)]
    }

    fn validate(&self, config: &Value) -> Diagnostics {
        validate::validate(config)
    }

    fn redact(text: &str) -> String {
        crate::aws::config::redact::redact(text)
    }

    async fn configure(&self, config: Value, terraform_version: &str) -> Diagnostics {
        let mut diagnostics = Diagnostics::default();
        self.connection.set(Connected::Missing);
        self.siblings.begin_command();
        let (block, problems) = ProviderBlock::known_part(&config);
        diagnostics.problems(problems);
        let Some(block) = block else { return diagnostics };
        let settings = block.settings();
        let connected = match ProviderBlock::is_decided(&config) {
            true => connected(&settings, terraform_version, &mut diagnostics).await,
            false => crate::aws::config::connect::tags(&settings).map(Connected::Unknown),
        };
        match connected {
            Ok(connected) => self.connection.set(connected),
            Err(error) => match error.argument {
                Some(name) => diagnostics.attribute_error(AttributePath::new(name), error.summary, error.detail),
                None => diagnostics.error(error.summary, error.detail),
            },
        }
        diagnostics
    }
}

async fn connected(
    settings: &Settings,
    terraform_version: &str,
    diagnostics: &mut Diagnostics,
) -> Result<Connected, ConfigError> {
    let (account, exposed) = crate::aws::connect(settings, terraform_version).await?;
    if !exposed.is_empty() {
        diagnostics.warning("Endpoints without encryption", explained(&exposed));
    }
    let default = open(&account, account.region());
    Ok(Connected::Ready(Regions::new(default, move |region| open(&account, region))))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn unknown_arguments_defer_the_connection() {
        let provider = Fgw::default();
        let config = Value::map([("region", Value::Unknown)]);
        assert_eq!(provider.configure(config, "1.11.4").await, Diagnostics::default());
        assert!(matches!(provider.connection.get(), Connected::Unknown(_)));
    }

    #[test]
    fn only_relevant_unknowns_leave_a_block_undecided() {
        let endpoint = |name: &str| Value::List(vec![Value::map([(name, Value::Unknown)])]);
        let tags = Value::List(vec![Value::map([("tags", Value::map([("run", Value::Unknown)]))])]);
        let decided = |name: &str, value: Value| ProviderBlock::is_decided(&Value::map([(name, value)]));
        assert!(decided("user_agent", Value::List(vec![Value::Unknown])));
        assert!(decided("s3_use_path_style", Value::Unknown) && decided("max_retries", Value::Unknown));
        assert!(decided("endpoints", endpoint("s3")) && !decided("endpoints", endpoint("ec2")));
        assert!(!decided("endpoints", Value::Unknown) && !decided("endpoints", Value::List(vec![Value::Unknown])));
        assert!(!decided("allowed_account_ids", Value::List(vec![Value::Unknown])));
        assert!(decided("default_tags", tags) && decided("default_tags", Value::Unknown));
        assert!(decided("ignore_tags", Value::List(vec![Value::Unknown])) && !decided("secret_key", Value::Unknown));
    }

    #[tokio::test(start_paused = true)]
    async fn rejected_block_names_the_argument_and_sets_no_connection() {
        let provider = Fgw::default();
        let config = Value::map([("region", "eu-central-1".into()), ("custom_ca_bundle", "/no/such/file".into())]);
        let Diagnostics(found) = provider.configure(config, "1.11.4").await;
        assert_eq!(found.len(), 1);
        assert_eq!(found[0].path, Some(crate::plugin::AttributePath::new("custom_ca_bundle")));
        assert!(found[0].detail.contains("/no/such/file"), "{}", found[0].detail);
        assert!(matches!(provider.connection.get(), Connected::Missing));
    }
}
