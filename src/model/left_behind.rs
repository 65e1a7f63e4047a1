//! What a replacement loses.

/// A setting of an object in AWS that the object in its place does not get.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LeftBehind {
    /// The setting with its value, such as `routing_mode ROUTING_RULE_ONLY`.
    pub setting: String,
    /// How to keep it, as a sentence, if the new object serves at once with less protection without it. Such a plan is
    /// refused.
    pub remedy: Option<String>,
}

impl LeftBehind {
    /// A setting that protects nothing.
    pub fn new(setting: impl Into<String>) -> LeftBehind {
        LeftBehind { setting: setting.into(), remedy: None }
    }

    /// A setting that protects what the object serves, with the way to keep it.
    pub fn protecting(setting: impl Into<String>, remedy: impl Into<String>) -> LeftBehind {
        LeftBehind { setting: setting.into(), remedy: Some(remedy.into()) }
    }
}
