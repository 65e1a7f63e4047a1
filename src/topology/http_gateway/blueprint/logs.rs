//! Access logs: the log group, its key, and the subscription that forwards its events.

use super::Draft;
use crate::model::Destination;
use crate::model::Found;
use crate::model::FunctionArn;
use crate::model::KmsKey;
use crate::model::keys::gateway as keys;
use crate::model::{Caller, Key, LogGroup, LogSubscription, Ref, Spec};
use crate::plugin::{AttributePath, Input, Problem};
use crate::topology::http_gateway::config::GatewayConfig;

const DESTINATION: &str = "access_log_logservice_group_subscription_destination_arn";

impl Draft<'_> {
    /// Adds the log group and its subscription. Returns the destination of the access logs: `Some(None)` if they are
    /// off, `None` if that is unknown.
    pub(super) fn logs(&mut self, config: &GatewayConfig) -> Option<Option<Ref>> {
        if let Some(arn) = config.access_log_destination_arn.known()? {
            return Some(Some(Ref::Id(arn.strip_suffix(":*").unwrap_or(arn).to_string())));
        }
        let Some(name) = config.access_log_logservice_group_name.known()? else { return Some(None) };
        let own = config.access_log_logservice_group_tags.clone().map(Option::unwrap_or_default);
        let name = Input::Known(name.clone());
        let key = keys::log_group(&name);
        let spec = LogGroup {
            root: self.api.clone(),
            name,
            retention_in_days: LogGroup::period(&config.access_log_logservice_group_retention_in_days),
            kms_key_arn: self.kms_key_arn(config),
            skip_destroy: config.access_log_logservice_group_skip_destroy.clone(),
            tags: self.tags(&AttributePath::new("access_log_logservice_group_tags"), &own),
        };
        self.add(key.clone(), Spec::LogGroup(spec), vec![]);
        self.subscription(config, &key)?;
        Some(Some(Ref::Key(key)))
    }

    /// CloudWatch Logs accepts only ARNs, so a key ID or alias is looked up in KMS.
    fn kms_key_arn(&mut self, config: &GatewayConfig) -> Input<Option<String>> {
        let Input::Known(given) = &config.access_log_logservice_group_kms_key_id else { return Input::Unknown };
        let Some(given) = given else { return Input::Known(None) };
        let path = AttributePath::new("access_log_logservice_group_kms_key_id");
        match KmsKey::parse(given) {
            Ok(KmsKey::Arn(arn)) => Input::Known(Some(arn)),
            Ok(KmsKey::Lookup(id)) => match &self.facts.kms_key {
                Some(Found::There(arn)) => Input::Known(Some(arn.clone())),
                Some(Found::Missing) => {
                    let message = format!("There is no KMS key {id:?} in {}.", self.scope.region);
                    let hint = "Correct it. If the same run creates the key or alias, make the gateway depend on it.";
                    self.missing.push(Problem::new(path, message, hint));
                    Input::Unknown
                }
                None => Input::Unknown,
            },
            Err(message) => {
                self.problems.push(Problem::new(path, message, "Use the ID or ARN of a key, or an alias or its ARN."));
                Input::Unknown
            }
        }
    }

    fn subscription(&mut self, config: &GatewayConfig, log_group: &Key) -> Option<()> {
        let Some(arn) = config.access_log_logservice_group_subscription_destination_arn.known()? else {
            return Some(());
        };
        let destination = match Destination::parse(arn) {
            Ok(destination) => destination,
            Err(message) => {
                let path = AttributePath::new(DESTINATION);
                self.problems.push(Problem::new(path, message, "Use the ARN of a function or stream."));
                return Some(());
            }
        };
        // The role is not used for a function, nor the distribution for any other destination than a Kinesis stream.
        let (mut role_arn, mut distribution) = (Input::Known(None), Input::Known(None));
        let permission = match &destination {
            Destination::Function(function) => Some(self.subscription_permission(function, log_group)),
            Destination::KinesisStream | Destination::DeliveryStream => {
                role_arn = config.access_log_logservice_group_subscription_role_arn.clone();
                None
            }
        };
        if destination == Destination::KinesisStream {
            let given = config.access_log_logservice_group_subscription_distribution.clone();
            // The default of AWS, which it also returns.
            distribution = given.map(|given| given.or_else(|| Some("ByLogStream".to_string())));
        }
        let spec = LogSubscription {
            log_group: log_group.clone(),
            destination_arn: Input::Known(arn.clone()),
            filter_pattern: config.access_log_logservice_group_subscription_filter_pattern.clone(),
            role_arn,
            distribution,
            permission,
        };
        self.add(keys::log_subscription(log_group), Spec::LogSubscription(spec), vec![]);
        Some(())
    }

    fn subscription_permission(&mut self, function: &FunctionArn, log_group: &Key) -> Key {
        let key = keys::subscription_permission(function, log_group);
        let spec = self.permission(function, Caller::LogGroup(log_group.clone()));
        self.add(key.clone(), Spec::LambdaPermission(spec), vec![]);
        key
    }
}
