//! The rules of the parameters of requests and responses.

mod values;

use std::collections::{BTreeMap, BTreeSet};

use self::values::{Direction, Fault};
use crate::model::{RouteKey, Tags, only};
use crate::plugin::{AttributePath, Check, Input, Problem};

/// The longest value, in characters.
const LONGEST: usize = 512;

/// The headers that API Gateway sets itself, or the starts of their names (developer guide of API Gateway).
const RESERVED: [&str; 22] = [
    "access-control-",
    "authorization",
    "connection",
    "content-encoding",
    "content-length",
    "content-location",
    "forwarded",
    "keep-alive",
    "origin",
    "proxy-authenticate",
    "proxy-authorization",
    "te",
    "trailers",
    "transfer-encoding",
    "upgrade",
    "x-forwarded-for",
    "x-forwarded-host",
    "x-forwarded-proto",
    "via",
    "x-amz-",
    "x-amzn-",
    "apigw-",
];

/// An action of a service: its name, the parameters that it requires, and its other ones.
type Action = (&'static str, &'static [&'static str], &'static [&'static str]);

/// The actions (developer guide of API Gateway, "Integration subtype reference").
const ACTIONS: [Action; 10] = [
    (
        "EventBridge-PutEvents",
        &["Detail", "DetailType", "Source"],
        &["Time", "EventBusName", "Resources", "Region", "TraceHeader"],
    ),
    (
        "SQS-SendMessage",
        &["QueueUrl", "MessageBody"],
        &[
            "DelaySeconds",
            "MessageAttributes",
            "MessageDeduplicationId",
            "MessageGroupId",
            "MessageSystemAttributes",
            "Region",
        ],
    ),
    (
        "SQS-ReceiveMessage",
        &["QueueUrl"],
        &[
            "AttributeNames",
            "MaxNumberOfMessages",
            "MessageAttributeNames",
            "ReceiveRequestAttemptId",
            "VisibilityTimeout",
            "WaitTimeSeconds",
            "Region",
        ],
    ),
    ("SQS-DeleteMessage", &["ReceiptHandle", "QueueUrl"], &["Region"]),
    ("SQS-PurgeQueue", &["QueueUrl"], &["Region"]),
    (
        "AppConfig-GetConfiguration",
        &["Application", "Environment", "Configuration", "ClientId"],
        &["ClientConfigurationVersion", "Region"],
    ),
    (
        "Kinesis-PutRecord",
        &["StreamName", "Data", "PartitionKey"],
        &["SequenceNumberForOrdering", "ExplicitHashKey", "Region"],
    ),
    ("StepFunctions-StartExecution", &["StateMachineArn"], &["Name", "Input", "Region"]),
    ("StepFunctions-StartSyncExecution", &["StateMachineArn"], &["Name", "Input", "Region", "TraceHeader"]),
    ("StepFunctions-StopExecution", &["ExecutionArn"], &["Cause", "Error", "Region"]),
];

/// The action with this name, which may end with the version `-1.0`.
fn action(subtype: &str) -> Option<&'static Action> {
    let name = subtype.strip_suffix("-1.0").unwrap_or(subtype);
    ACTIONS.iter().find(|(action, ..)| *action == name)
}

/// The check of a subtype.
pub(super) fn subtype() -> Check {
    let names: Vec<&str> = ACTIONS.iter().map(|(name, ..)| *name).collect();
    Check::text(&format!("one of {}", names.join(", ")), |text| match action(text) {
        Some(_) => Ok(()),
        None => Err(format!("{text:?} is not an action that API Gateway supports.")),
    })
}

/// Parameters of responses by status code, as inputs.
pub(super) type ByCode = Input<BTreeMap<String, Input<BTreeMap<String, Input<String>>>>>;

/// The parameters of a route.
pub(super) struct OfRoute<'a> {
    pub(super) subtype: &'a Input<Option<String>>,
    pub(super) requests: &'a Tags,
    pub(super) responses: &'a ByCode,
    /// `None` if the key of the route is invalid.
    pub(super) route: Option<RouteKey<'a>>,
    pub(super) path: &'a AttributePath,
}

impl OfRoute<'_> {
    /// Their problems.
    pub(super) fn problems(&self) -> Vec<Problem> {
        let mut problems = of_requests(self.subtype, self.requests.known(), &self.path.attribute("request_parameters"));
        let path = self.path.attribute("response_parameters");
        for (code, parameters) in self.responses.known().into_iter().flatten() {
            let path = path.key(code);
            if !is_status(code) {
                let message = format!("{code:?} is not a status code from 200 to 599.");
                problems.push(Problem::new(path.clone(), message, "Use a code of the responses to change."));
            }
            let parameters = parameters.known();
            problems.extend(names(parameters, RESPONSE, &path));
            problems.extend(lengths(parameters, &path));
            problems.extend(status(parameters, &path));
        }
        problems.extend(self.faults().filter(|(_, fault)| fault.is_certain).map(problem));
        problems
    }

    /// The warnings about values that may not work, and about stage variables besides these.
    pub(super) fn warnings(&self, variables: Option<&BTreeSet<&str>>) -> Vec<Problem> {
        let mut warnings: Vec<Problem> = self.faults().filter(|(_, fault)| !fault.is_certain).map(problem).collect();
        for (path, _, value) in self.selecting() {
            warnings.extend(undefined(value, variables, &path));
        }
        if let (Input::Known(Some(_)), Some(parameters)) = (self.subtype, self.requests.known()) {
            let texts = ATTRIBUTES.iter().filter_map(|name| Some((*name, parameters.get(*name)?.known()?)));
            for (name, _) in texts.filter(|(_, value)| !value.contains('$')) {
                let message = format!("API Gateway may reject {name} without a variable as an invalid source.");
                let hint = "If it does, use a variable in it, such as \"$request.body.attributes\".";
                warnings.push(Problem::new(self.path.attribute("request_parameters").key(name), message, hint));
            }
        }
        warnings
    }

    /// The known values, except those of parameters to remove, which have no meaning.
    fn selecting(&self) -> impl Iterator<Item = (AttributePath, Direction, &String)> {
        let requests = self.requests.known().map(|all| (self.path.attribute("request_parameters"), all));
        let requests = requests.into_iter().map(|(path, all)| (path, Direction::Request, all));
        let responses = self.responses.known().into_iter().flatten().filter_map(|(code, all)| {
            Some((self.path.attribute("response_parameters").key(code), Direction::Response, all.known()?))
        });
        requests.chain(responses).flat_map(|(path, direction, all)| {
            let set = all.iter().filter(|(name, _)| !name.starts_with("remove:"));
            set.filter_map(move |(name, value)| Some((path.key(name), direction, value.known()?)))
        })
    }

    fn faults(&self) -> impl Iterator<Item = (AttributePath, Fault)> {
        self.selecting().flat_map(|(path, direction, value)| {
            let faults = values::faults(value, direction, self.route.as_ref()).into_iter();
            faults.map(move |fault| (path.clone(), fault))
        })
    }
}

fn problem((path, fault): (AttributePath, Fault)) -> Problem {
    Problem::new(path, fault.message, fault.hint)
}

fn is_status(code: &str) -> bool {
    code.len() == 3 && code.parse().is_ok_and(|code: u16| (200..600).contains(&code))
}

/// The problem of a new status code that is a text, but not a number.
fn status(parameters: Given<'_>, path: &AttributePath) -> Option<Problem> {
    let code = parameters?.get(STATUS)?.known()?;
    (!code.is_empty() && !code.contains('$') && !is_status(code)).then(|| {
        let message = format!("{code:?} is not a status code from 200 to 599.");
        Problem::new(path.key(STATUS), message, "Use a code such as \"502\", or a variable.")
    })
}

/// The warnings about stage variables that a value names and the stage does not have. Their values are empty texts.
pub(super) fn undefined(value: &str, variables: Option<&BTreeSet<&str>>, path: &AttributePath) -> Vec<Problem> {
    let Some(variables) = variables else { return Vec::new() };
    let missing = values::of_stage(value).filter(|name| !variables.contains(name));
    let warning = |name: &str| {
        let message = format!("stage_variables has no {name:?}, which \"$stageVariables.{name}\" names.");
        Problem::new(path.clone(), message, "Add it to stage_variables, unless the stage gets it otherwise.")
    };
    missing.map(warning).collect()
}

/// The names in braces within a URL that are no path variables of its route: API Gateway sends them as they are.
pub(super) fn unfilled(uri: &str, route: &RouteKey<'_>, path: &AttributePath) -> Vec<Problem> {
    let known = values::path_variables(route);
    let mut warnings = Vec::new();
    let mut parts = uri.split('{');
    let mut before = parts.next().unwrap_or_default();
    for part in parts {
        if let Some((name, _)) = part.split_once('}')
            && !before.ends_with('$')
            && !known.contains(&name)
        {
            let hint = match name.strip_suffix('+').filter(|name| known.contains(name)) {
                Some(name) => format!("Write {{{name}}}: only the key of the route has the plus sign."),
                None if known.is_empty() => "The path of the route has no variables.".to_string(),
                None => format!("The path of the route has {}.", known.join(" and ")),
            };
            let message = format!("API Gateway does not replace {{{name}}}, which is no path variable of the route.");
            warnings.push(Problem::new(path.clone(), message, hint));
        }
        before = part;
    }
    warnings
}

type Given<'a> = Option<&'a BTreeMap<String, Input<String>>>;

fn of_requests(subtype: &Input<Option<String>>, parameters: Given<'_>, path: &AttributePath) -> Vec<Problem> {
    let mut problems = lengths(parameters, path);
    match (subtype, parameters) {
        (Input::Known(Some(subtype)), Some(parameters)) => {
            problems.extend(action(subtype).into_iter().flat_map(|action| of_action(action, parameters, path)));
        }
        (Input::Known(None), _) => problems.extend(names(parameters, REQUEST, path)),
        _ => {}
    }
    problems
}

/// The places that a parameter can change, and a name without one of them that is allowed too.
type Places = (&'static [&'static str], &'static str);

const REQUEST: Places = (&["header.", "querystring."], "overwrite:path");
const RESPONSE: Places = (&["header."], STATUS);

/// The parameter that sets the status code of a response.
const STATUS: &str = "overwrite:statuscode";

/// The parameters of SQS that API Gateway has rejected as fixed texts (hashicorp/terraform-provider-aws#17348).
const ATTRIBUTES: [&str; 2] = ["MessageAttributes", "MessageSystemAttributes"];

fn names(parameters: Given<'_>, places: Places, path: &AttributePath) -> Vec<Problem> {
    let names = parameters.into_iter().flatten().map(|(name, _)| name);
    let of = |name: &String| named(name, places).map(|(message, hint)| Problem::new(path.key(name), message, hint));
    names.filter_map(of).collect()
}

/// The message and the hint about a name that API Gateway does not accept.
fn named(name: &str, (places, whole): Places) -> Option<(String, String)> {
    if name == whole {
        return None;
    }
    let place = name.split_once(':').filter(|(action, _)| ["append", "overwrite", "remove"].contains(action));
    let place = place.and_then(|(_, place)| places.iter().find_map(|it| Some((*it, place.strip_prefix(it)?))));
    match place {
        Some((_, "")) | None => {
            let forms: Vec<String> = places.iter().map(|place| format!("{place}<name>")).collect();
            let hint = format!("Write append, overwrite or remove, a colon, and {}, or {whole}.", forms.join(" or "));
            Some((format!("{name:?} is not the name of a parameter."), hint))
        }
        Some(("header.", header)) if is_reserved(header) => Some((
            format!("API Gateway does not change the header {header:?}, which is reserved."),
            "Use another header.".to_string(),
        )),
        Some(("header.", header)) if !only(header, "!#$%&'*+-.^_`|~") => {
            Some((format!("{header:?} is not a valid header name."), "Use a valid name.".to_string()))
        }
        Some(_) => None,
    }
}

fn is_reserved(header: &str) -> bool {
    let header = header.to_ascii_lowercase();
    let is_it = |reserved: &&str| match reserved.ends_with('-') {
        true => header.starts_with(reserved),
        false => header == **reserved,
    };
    RESERVED.iter().any(is_it)
}

fn lengths(parameters: Given<'_>, path: &AttributePath) -> Vec<Problem> {
    let known = parameters.into_iter().flatten().filter_map(|(name, value)| Some((name, value.known()?)));
    let invalid = known.filter_map(|(name, value)| {
        let hint = match value.chars().count() {
            0 if name.starts_with("remove:") => "Use \"''\", because an empty value removes the parameter itself.",
            0 => "Use \"''\" for an empty text, or remove the parameter.",
            length if length > LONGEST => "Use a shorter value.",
            _ => return None,
        };
        let message = format!(
            "The value of {name:?} has {} characters; API Gateway allows 1 to {LONGEST}.",
            value.chars().count()
        );
        Some(Problem::new(path.key(name), message, hint))
    });
    invalid.collect()
}

fn of_action(
    (action, required, others): &Action,
    parameters: &BTreeMap<String, Input<String>>,
    path: &AttributePath,
) -> Vec<Problem> {
    let missing: Vec<&str> = required.iter().copied().filter(|name| !parameters.contains_key(*name)).collect();
    let mut problems = Vec::new();
    if !missing.is_empty() {
        let missing = missing.join(" and ");
        let message = format!("{action} requires {missing}.");
        problems.push(Problem::new(path.clone(), message, format!("Add {missing}, such as \"$request.body\".")));
    }
    let is_known = |name: &&String| required.iter().chain(*others).any(|it| it == name);
    for name in parameters.keys().filter(|name| !is_known(name)) {
        let all: Vec<&str> = required.iter().chain(*others).copied().collect();
        let message = format!("{name:?} is not a parameter of {action}.");
        problems.push(Problem::new(path.key(name), message, format!("Its parameters are {}.", all.join(", "))));
    }
    problems
}
