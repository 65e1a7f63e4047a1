//! Evaluates requests under the policies of the guide. The engine is the library `iam-rs`, which
//! `suite/guides/iam_policies.rs` compares with the rules that AWS documents.

use std::collections::BTreeMap;
use std::fmt::{self, Display, Formatter};
use std::sync::OnceLock;

use iam_rs::{Arn, Context, ContextValue, Decision, IAMPolicy, IAMRequest, PolicyEvaluator, Principal, PrincipalId};
use serde_json::{Value, json};

use super::document::Statement;
use super::{document, reference};

/// One permission that AWS checks for a request: a call that acts on several objects needs one for each of them. Names,
/// IDs, Region and account are the examples of the guide.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Check {
    pub(crate) action: String,
    /// An ARN; `*` if the action has no resource types.
    pub(crate) resource: String,
    /// The condition keys of the request, with their values.
    pub(crate) context: BTreeMap<String, Vec<String>>,
}

impl Check {
    pub(crate) fn new(action: &str, resource: &str) -> Self {
        Self { action: action.to_owned(), resource: resource.to_owned(), context: BTreeMap::new() }
    }

    pub(crate) fn with(mut self, key: &str, values: &[&str]) -> Self {
        self.context.insert(key.to_owned(), values.iter().map(|value| (*value).to_owned()).collect());
        self
    }

    /// Without the keys that AWS's list does not have for this action and resource.
    pub(crate) fn with_listed_keys(mut self) -> Self {
        self.context.retain(|key, _| reference::has_key(&self.action, &self.resource, key));
        self
    }

    /// The request in the form of the engine.
    pub(crate) fn request(&self) -> IAMRequest {
        // Only the pattern `*` matches this ARN.
        let resource = if self.resource == "*" { "arn:aws:none:::none" } else { &self.resource };
        let resource = Arn::parse(resource).unwrap_or_else(|error| panic!("{self}: {error}"));
        let mut context = Context::new();
        for (key, values) in &self.context {
            // Keys for sets have lists. All others have one value.
            let value = match values.as_slice() {
                [one] if !key.starts_with("route53:") => ContextValue::String(one.clone()),
                all => ContextValue::StringList(all.to_vec()),
            };
            context.insert(key.clone(), value);
        }
        let principal = Principal::Aws(PrincipalId::String("arn:aws:iam::123456789012:role/provider".into()));
        IAMRequest::new_with_context(principal, self.action.clone(), resource, context)
    }
}

impl Display for Check {
    /// One line: the action, the resource and the keys, separated by spaces.
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        write!(out, "{} {}", self.action, self.resource)?;
        self.context.iter().try_for_each(|(key, values)| write!(out, " {key}={}", values.join(",")))
    }
}

/// A statement that the engine has read.
pub(crate) struct Engine {
    actions: Vec<String>,
    evaluator: PolicyEvaluator,
}

impl Engine {
    pub(crate) fn new(statement: &Value) -> Self {
        let policy = json!({ "Version": "2012-10-17", "Statement": [statement] });
        let policy = IAMPolicy::from_json(&policy.to_string()).unwrap_or_else(|error| panic!("{policy}: {error}"));
        let actions = match &statement["Action"] {
            Value::Array(all) => all.iter().filter_map(Value::as_str).map(str::to_lowercase).collect(),
            one => vec![one.as_str().unwrap_or_default().to_lowercase()],
        };
        Self { actions, evaluator: PolicyEvaluator::with_policies(vec![policy]) }
    }

    /// Whether the statement allows the request. AWS ignores the letter case of actions.
    pub(crate) fn allows(&self, request: &IAMRequest) -> bool {
        let action = request.action.to_lowercase();
        let names_it = self.actions.iter().any(|it| it.contains(['*', '?']) || *it == action);
        names_it && {
            let result = self.evaluator.evaluate(request);
            result.unwrap_or_else(|error| panic!("{request:?}: {error}")).decision == Decision::Allow
        }
    }
}

/// Whether the policies of the guide allow the request. They contain no denials, so one statement that allows it is
/// sufficient.
pub(crate) fn is_allowed(check: &Check) -> bool {
    !allowing(check).is_empty()
}

/// The statements of the guide that allow the request.
pub(crate) fn allowing(check: &Check) -> Vec<&'static Statement> {
    static STATEMENTS: OnceLock<Vec<(Statement, Engine)>> = OnceLock::new();
    let statements = STATEMENTS.get_or_init(|| {
        let engine = |statement: Statement| (statement.clone(), Engine::new(&statement.json()));
        document::all().into_iter().map(engine).collect()
    });
    let request = check.request();
    statements.iter().filter(|(_, engine)| engine.allows(&request)).map(|(statement, _)| statement).collect()
}
