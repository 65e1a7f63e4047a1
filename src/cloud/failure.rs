//! Failures of calls to AWS.

use super::Case;

/// A failed call to AWS, classified by the reaction of the caller.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("{action}: {message}")]
pub struct Failure {
    /// The classification.
    pub cause: Cause,
    /// The AWS action, such as `CreateNatGateway`.
    pub action: String,
    /// The error code, if AWS answered.
    pub code: Option<String>,
    /// The error message from AWS, or a description of the failure.
    pub message: String,
    /// If the cause is a missing object: its ID or ARN, as far as the message contains one.
    pub missing: Option<String>,
    /// The request id, if AWS returned one.
    pub request_id: Option<String>,
    /// What to do, if the failure itself determines it.
    pub advice: Option<Box<Advice>>,
    /// The case of the guide, if the failure itself determines it.
    pub case: Option<Case>,
    /// The pause before a retry that AWS requests.
    pub retry_after: Option<std::time::Duration>,
    /// Of a deletion that waits for a deployment: the time of the last change that the deployment must contain, in
    /// seconds since the Unix epoch.
    pub undeployed_since: Option<i64>,
}

/// What to do about a failure.
#[derive(Clone, Debug, PartialEq)]
pub struct Advice {
    /// Sentences.
    pub text: String,
    /// The commands that the sentences refer to. A message shows each on a line of its own.
    pub commands: Vec<String>,
}

impl Advice {
    /// Advice without commands.
    pub fn of(text: impl Into<String>) -> Box<Advice> {
        Box::new(Advice { text: text.into(), commands: Vec::new() })
    }
}

/// The causes of failures, by the reaction of the caller.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cause {
    /// An object does not exist, which is not always the one of the call. The caller treats it as missing.
    NotFound,
    /// An object that is neither managed nor created by this run does not exist: the configuration refers to it. The
    /// caller reports its ID, which is in `missing`.
    NoSuchReference,
    /// AWS answered a deletion with a missing object, but the object to delete still exists. The caller keeps it.
    NotDeleted,
    /// A dependent prevents the call. The caller waits until the dependent is deleted.
    InUse,
    /// The object exists already. The caller compares it, and adopts it if it is equal.
    Exists,
    /// AWS throttled the call. The caller slows down.
    Throttled,
    /// The root has as many objects of this kind as AWS allows. The caller deletes those that are no longer used.
    QuotaExceeded,
    /// An unmanaged gateway is not attached to the root. The next apply tries again.
    NotAttached,
    /// A permission is missing. The caller reports it.
    Denied,
    /// The credentials have expired or are invalid. The caller reports it once for all calls.
    Credentials,
    /// AWS did not deploy the changes. The caller keeps the objects of deletions that waited for it as pending.
    NotDeployed,
    /// The stage is not deployed automatically, so only a person can deploy the changes. The caller keeps the objects
    /// that the deployed stage may use as pending, which is not an error.
    AwaitsDeployment,
    /// A wait reached its deadline. The caller reports the awaited condition.
    TimedOut,
    /// Terraform requested a stop during a wait. The caller reports it.
    Stopped,
    /// The provider panicked. The caller reports it as a bug.
    Panicked,
    /// The outcome is unknown: no answer arrived, or one that reports an internal error. The caller reads whether AWS
    /// executed the call.
    Lost,
    /// Any other failure. The caller reports it.
    Other,
}

impl Failure {
    /// Creates a failure that is not an error from AWS.
    pub fn new(cause: Cause, action: impl Into<String>, message: impl Into<String>) -> Failure {
        Failure {
            cause,
            action: action.into(),
            code: None,
            message: message.into(),
            missing: None,
            request_id: None,
            advice: None,
            case: None,
            retry_after: None,
            undeployed_since: None,
        }
    }

    /// Adds what to do, with commands.
    pub fn with_advice<const N: usize>(mut self, text: impl Into<String>, commands: [String; N]) -> Failure {
        self.advice = Some(Box::new(Advice { text: text.into(), commands: commands.into() }));
        self
    }

    /// The message and the advice, each command on a line of its own.
    #[cfg(test)]
    pub fn text(&self) -> String {
        let advice = self.advice.iter().flat_map(|it| std::iter::once(&it.text).chain(&it.commands));
        std::iter::once(&self.message).chain(advice).cloned().collect::<Vec<_>>().join("\n")
    }
}
