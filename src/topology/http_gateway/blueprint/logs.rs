//! Access logs: the log group, its key, and the subscription that forwards its events.

use super::Draft;
use crate::model::Arn;
use crate::model::Destination;
use crate::model::Found;
use crate::model::FunctionArn;
use crate::model::KmsKey;
use crate::model::keys::gateway as keys;
use crate::model::{Caller, Key, LogGroup, LogSubscription, Spec};
use crate::plugin::{AttributePath, Input, Problem};
use crate::topology::http_gateway::config::GatewayConfig;

const DESTINATION: &str = "access_log_logservice_group_subscription_destination_arn";

impl Draft<'_> {
    /// The log group and what belongs to it. `Some(None)` where there is none.
    pub(super) fn logs(&mut self, config: &GatewayConfig) -> Option<Option<Key>> {
        let Some(name) = config.access_log_logservice_group_name.known()? else { return Some(None) };
        let own = config.access_log_logservice_group_tags.clone().map(Option::unwrap_or_default);
        let name = Input::Known(name.clone());
        let key = keys::log_group(&name);
        let spec = LogGroup {
            api: self.api.clone(),
            name,
            retention_in_days: config.access_log_logservice_group_retention_in_days.clone(),
            kms_key_arn: self.kms_key_arn(config),
            tags: self.tags("access_log_logservice_group_tags", &own),
        };
        self.add(key.clone(), Spec::LogGroup(spec), vec![]);
        self.subscription(config, &key)?;
        Some(Some(key))
    }

    /// CloudWatch Logs takes ARNs alone, so an id or alias is looked up.
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
                    let hint = "Correct it. If this same run makes the key or its alias, let the gateway depend on it.";
                    self.missing.push(Problem::new(path, message, hint));
                    Input::Unknown
                }
                None => Input::Unknown,
            },
            Err(message) => {
                self.problems.push(Problem::new(path, message, "Give a key's id or ARN, an alias or its ARN."));
                Input::Unknown
            }
        }
    }

    fn subscription(&mut self, config: &GatewayConfig, log_group: &Key) -> Option<()> {
        let Some(arn) = config.access_log_logservice_group_subscription_destination_arn.known()? else {
            return Some(());
        };
        let path = AttributePath::new(DESTINATION);
        let destination = match Destination::parse(arn) {
            Ok(destination) => destination,
            Err(message) => {
                self.problems.push(Problem::new(path, message, "Give the ARN of a function or stream."));
                return Some(());
            }
        };
        self.check_place(arn, path);
        let mut distribution = config.access_log_logservice_group_subscription_distribution.clone();
        let permission = match &destination {
            Destination::Function(function) => Some(self.subscription_permission(function, log_group)),
            Destination::KinesisStream => {
                // What AWS takes where none is given, and shows.
                distribution = distribution.map(|given| given.or_else(|| Some("ByLogStream".to_string())));
                None
            }
            Destination::DeliveryStream => None,
        };
        let spec = LogSubscription {
            log_group: log_group.clone(),
            destination_arn: Input::Known(arn.clone()),
            filter_pattern: config.access_log_logservice_group_subscription_filter_pattern.clone(),
            role_arn: config.access_log_logservice_group_subscription_role_arn.clone(),
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

    /// A log group forwards within its Region and account alone.
    fn check_place(&mut self, arn: &str, path: AttributePath) {
        // That it is no ARN has been reported.
        let Ok(arn) = Arn::split(arn) else { return };
        let ours = self.scope;
        let is_ours = ours.account.as_deref().is_none_or(|account| account == arn.account);
        if arn.partition == ours.partition && arn.region == ours.region && is_ours {
            return;
        }
        let message = format!(
            "It stands in {} of account {} (partition {}), the log group in {} of account {} (partition {}); CloudWatch \
             Logs forwards within one Region and account.",
            arn.region,
            arn.account,
            arn.partition,
            ours.region,
            ours.account.as_deref().unwrap_or("unknown"),
            ours.partition
        );
        let hint = "Give a function or stream of the gateway's Region and account, which may pass events on.";
        self.problems.push(Problem::new(path, message, hint));
    }
}
