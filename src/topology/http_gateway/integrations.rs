//! The integration of a route: its inputs, the object that they require, and the way back. `parameters` has the rules
//! of its parameters.

use std::collections::{BTreeMap, BTreeSet};

use super::parameters::{self, ByCode, OfRoute};
use super::vpc_links;
use crate::model::{Arn, FunctionArn, Integration, Key, Parameters, Ref, RouteKey, Spec, Tags, Target, role};
use crate::plugin::{AttributePath, Check, Encode, Input, PlanEffect, Problem, Value};

/// The methods of an HTTP endpoint.
const METHODS: &[&str] = &["ANY", "DELETE", "GET", "HEAD", "OPTIONS", "PATCH", "POST", "PUT"];

/// The payload format versions with which API Gateway calls a function.
pub(super) const PAYLOAD_FORMATS: &[&str] = &["1.0", "2.0"];

/// The effect of a change of an integration.
const OTHER: &str = "updates the integration in place if all routes that use it change alike. Otherwise, it \
                     creates another integration and points the route to it";

/// The effect of a change of what the integration is.
const NEW: &str = "creates another integration and points the route to it";

crate::attributes! {
    /// What a route passes requests to.
    pub struct IntegrationConfig: Encode {
        /// ARN of the Lambda function, optionally with an alias or version. The function may be in another Region or
        /// account. If a function is deleted and created again under the same name, it loses the permission that allows
        /// API Gateway to call it. If only the function is replaced, the same apply restores the permission. If the
        /// gateway changes too and the plan knows this ARN, Terraform 1.16 and later restore it with the next apply.
        /// The attribute `arn` of a function to be replaced is not known in the plan.
        faas_function_arn: Input<Option<String>>
            = optional().either_or(&["integration_uri", "integration_subtype"]).change(PlanEffect::PartialReplace(OTHER)),
        /// URL of an HTTP endpoint. Path variables of the route such as `{id}`, and `{proxy}` for a greedy variable
        /// `{proxy+}`, are replaced by their values; API Gateway appends nothing. With a VPC link, it is the ARN of a
        /// listener of a load balancer, or of a Cloud Map service, in the account and Region of the gateway.
        integration_uri: Input<Option<String>>
            = optional().check(Check::length(1, 2048)).change(PlanEffect::PartialReplace(OTHER)),
        /// Method of the requests to `integration_uri`. Defaults to `ANY`, the method of the client.
        integration_method: Input<Option<String>> = optional().only_if_set("integration_uri")
            .check(Check::one_of(METHODS)).change(PlanEffect::PartialReplace(OTHER)),
        /// Key of `vpc_links`: the link through which API Gateway reaches a private `integration_uri`.
        vpc_link: Input<Option<String>> = optional().only_if_set("integration_uri").conflicts_with("vpc_link_id")
            .change(PlanEffect::PartialReplace(OTHER)),
        /// ID of an existing VPC link, through which API Gateway reaches a private `integration_uri`. A change of it
        /// takes effect without an interruption, and so does its addition. Its removal creates another integration. A
        /// link that leaves `vpc_links` is not deleted if a route names its ID.
        vpc_link_id: Input<Option<String>> = optional().only_if_set("integration_uri")
            .check(link_id()).change(PlanEffect::PartialReplace(OTHER)),
        /// Encryption between API Gateway and a private endpoint, which is off by default. Requires a VPC link; a URL
        /// contains its scheme. Setting or removing it creates another integration.
        tls_config: Input<Option<TlsConfig>> = optional().change(PlanEffect::PartialReplace(OTHER)),
        /// Action of an AWS service that handles the requests: `EventBridge-PutEvents`, `Kinesis-PutRecord`,
        /// `SQS-SendMessage`, `SQS-ReceiveMessage`, `SQS-DeleteMessage`, `SQS-PurgeQueue`,
        /// `StepFunctions-StartExecution`, `StepFunctions-StartSyncExecution`, `StepFunctions-StopExecution` or
        /// `AppConfig-GetConfiguration`. Requires `credentials_arn` and the parameters of the action in
        /// `request_parameters`. Each change of such an integration creates another one.
        integration_subtype: Input<Option<String>>
            = optional().check(parameters::subtype()).change(PlanEffect::PartialReplace(NEW)),
        /// ARN of the IAM role, of the account of the gateway, that API Gateway assumes to call the function or the
        /// service. By default, the provider adds a permission to the policy of the function instead. Removing it
        /// creates another integration.
        credentials_arn: Input<Option<String>> = optional().conflicts_with("integration_uri")
            .check(role()).change(PlanEffect::PartialReplace(OTHER)),
        /// Changes of requests, such as `"overwrite:path" = "$request.path.proxy"`. A name is `append`, `overwrite` or
        /// `remove`, a colon, and `header.<name>` or `querystring.<name>`, or it is `overwrite:path`. A value is a
        /// text, or it has variables: `$request.header.<name>`, `$request.querystring.<name>`, `$request.path`,
        /// `$request.path.<variable of the route>`, `$request.body.<member>`, `$context.<name>` or
        /// `$stageVariables.<name>`. Several variables, or variables within a text, have braces, such as
        /// `"/$${request.path.a}/$${request.path.b}"`. The value of a parameter to remove is `"''"`. With
        /// `integration_subtype`, they are the parameters of the action.
        request_parameters: Tags = default(Value::map::<&str>([])).change(PlanEffect::PartialReplace(OTHER)),
        /// Changes of responses by status code, such as `"500" = { "overwrite:statuscode" = "502" }`. A name is
        /// `append`, `overwrite` or `remove`, a colon, and `header.<name>`, or it is `overwrite:statuscode`. A value is
        /// a text, or it has variables: `$response.header.<name>`, `$response.body.<member>`, `$context.<name>` or
        /// `$stageVariables.<name>`. Removing a name of a status code that keeps others creates another integration.
        response_parameters: ByCode = default(Value::map::<&str>([])).change(PlanEffect::PartialReplace(OTHER)),
        /// Description of the integration. New routes with the same settings share one integration.
        description: Input<Option<String>>
            = optional().check(Check::length(0, 1024)).change(PlanEffect::PartialReplace(OTHER)),
        /// Format version of the event that the function receives and of the response that it returns.
        payload_format_version: Input<String> = default("1.0").only_if_set("faas_function_arn")
            .check(Check::one_of(PAYLOAD_FORMATS)).change(PlanEffect::PartialReplace(OTHER)),
        /// Time in milliseconds after which API Gateway stops waiting for a response.
        timeout_milliseconds: Input<i64>
            = default(30_000).check(Check::between(50, 30_000)).change(PlanEffect::PartialReplace(OTHER)),
    }
}

crate::attributes! {
    /// Encryption between API Gateway and a private endpoint.
    pub struct TlsConfig: Encode {
        /// Name that the certificate of the endpoint contains. API Gateway requests it, and answers with the status 500
        /// if the certificate has another one.
        server_name_to_verify: Input<String>
            = required().check(Check::length(1, 512)).change(PlanEffect::PartialReplace(OTHER)),
    }
}

fn link_id() -> Check {
    Check::text("the ID of a VPC link, such as a1b2c3", |id| {
        let is_allowed = |it: u8| it.is_ascii_lowercase() || it.is_ascii_digit();
        match (1..=64).contains(&id.len()) && id.bytes().all(is_allowed) {
            true => Ok(()),
            false => Err(format!("{id:?} is not the ID of a VPC link.")),
        }
    })
}

impl IntegrationConfig {
    /// The integration without its permission. `None` while a part of it is unknown.
    pub(super) fn required(&self, api: &Key, links: &BTreeMap<&str, Key>) -> Option<Integration> {
        let spec = Integration {
            api: api.clone(),
            target: self.target()?,
            payload_format_version: self.payload_format_version.clone(),
            timeout_in_millis: self.timeout_milliseconds.clone(),
            description: self.description.clone().map(|text| text.filter(|text| !text.is_empty())),
            request_parameters: texts(&self.request_parameters),
            response_parameters: by_code(&self.response_parameters),
            permission: None,
        };
        let mut spec = Spec::Integration(spec);
        if !spec.is_known() {
            return None;
        }
        // The key of a link is unknown as long as its subnets are.
        if let (Some(name), Spec::Integration(Integration { target: Target::Http { vpc_link, .. }, .. })) =
            (self.vpc_link.known()?, &mut spec)
        {
            *vpc_link = links.get(name.as_str()).cloned().map(Ref::Key);
        }
        Integration::of(&spec).cloned()
    }

    /// The function, if it is known and valid.
    pub(super) fn function(&self) -> Option<FunctionArn> {
        FunctionArn::parse(self.faas_function_arn.known()?.as_ref()?).ok()
    }

    fn target(&self) -> Option<Target> {
        let credentials_arn = self.credentials_arn.clone();
        if let Some(function_arn) = self.faas_function_arn.known()? {
            return Some(Target::Function { function_arn: Input::Known(function_arn.clone()), credentials_arn });
        }
        let Some(uri) = self.integration_uri.known()? else {
            let integration_subtype = self.integration_subtype.clone().map(Option::unwrap_or_default);
            return Some(Target::Service { integration_subtype, credentials_arn });
        };
        let tls = self.tls_config.known()?.as_ref();
        Some(Target::Http {
            integration_uri: Input::Known(uri.clone()),
            integration_method: self.integration_method.clone().map(|it| it.unwrap_or(Target::ANY.to_string())),
            vpc_link: self.vpc_link_id.known()?.clone().map(Ref::Id),
            server_name_to_verify: match tls {
                Some(tls) => tls.server_name_to_verify.clone().map(Some),
                None => Input::Known(None),
            },
        })
    }

    /// The inputs that describe an integration without depending on defaults.
    pub(super) fn of(spec: &Integration) -> IntegrationConfig {
        let none = || Input::Known(None);
        let bare = IntegrationConfig {
            faas_function_arn: none(),
            integration_uri: none(),
            integration_method: none(),
            vpc_link: none(),
            vpc_link_id: none(),
            tls_config: Input::Known(None),
            integration_subtype: none(),
            credentials_arn: none(),
            request_parameters: spec.request_parameters.clone().map(inputs),
            response_parameters: spec
                .response_parameters
                .clone()
                .map(|codes| codes.into_iter().map(|(code, changes)| (code, Input::Known(inputs(changes)))).collect()),
            description: spec.description.clone(),
            payload_format_version: payload_format(&spec.payload_format_version),
            timeout_milliseconds: spec.timeout_in_millis.clone(),
        };
        match spec.target.clone() {
            Target::Function { function_arn, credentials_arn } => {
                IntegrationConfig { faas_function_arn: function_arn.map(Some), credentials_arn, ..bare }
            }
            Target::Http { integration_uri, integration_method, vpc_link, server_name_to_verify } => {
                IntegrationConfig {
                    integration_uri: integration_uri.map(Some),
                    integration_method: integration_method.map(Some),
                    vpc_link: Input::Known(match &vpc_link {
                        Some(Ref::Key(key)) => vpc_links::name_of(key).map(str::to_string),
                        _ => None,
                    }),
                    vpc_link_id: Input::Known(match vpc_link {
                        Some(Ref::Id(id)) => Some(id),
                        _ => None,
                    }),
                    tls_config: server_name_to_verify
                        .map(|name| name.map(|name| TlsConfig { server_name_to_verify: Input::Known(name) })),
                    ..bare
                }
            }
            Target::Service { integration_subtype, credentials_arn } => {
                IntegrationConfig { integration_subtype: integration_subtype.map(Some), credentials_arn, ..bare }
            }
        }
    }

    /// The shortest inputs with the same meaning.
    #[must_use]
    pub(super) fn shortest(self) -> IntegrationConfig {
        let integration_method = self.integration_method.map(|it| it.filter(|method| method != Target::ANY));
        IntegrationConfig { integration_method, ..self }
    }

    /// The inputs in the syntax of a configuration, in words.
    pub(super) fn in_words(self) -> String {
        let all = self.shortest().encode();
        let set = all.as_map().into_iter().flatten().filter(|(_, value)| !value.is_null() && !value.is_empty());
        set.map(|(name, value)| format!("{name} = {value}")).collect::<Vec<_>>().join(", ")
    }

    /// Its problems besides those of single values, in the route with this key.
    pub(super) fn problems(&self, path: &AttributePath, key: &str) -> Vec<Problem> {
        let mut problems = Vec::new();
        problems.extend(self.function_problem(path));
        problems.extend(self.uri_problem(path));
        if matches!(self.tls_config, Input::Known(Some(_))) && self.has_link() == Some(false) {
            let message = "tls_config has no effect without a VPC link: API Gateway drops it, and the scheme of a URL \
                           decides.";
            problems.push(
                Problem::new(
                    path.attribute("tls_config"),
                    message,
                    "Set vpc_link or vpc_link_id, or remove tls_config.",
                )
                .of_absence(),
            );
        }
        if let (Input::Known(Some(subtype)), Input::Known(None)) = (&self.integration_subtype, &self.credentials_arn) {
            let message = format!("{subtype} requires credentials_arn, because API Gateway assumes a role to call it.");
            let hint = "Set credentials_arn to a role that apigateway.amazonaws.com may assume.";
            problems.push(Problem::new(path.attribute("credentials_arn"), message, hint).of_absence());
        }
        problems.extend(self.parameters(path, key).problems());
        problems
    }

    /// The warnings about values that may not work, and about stage variables besides these.
    pub(super) fn warnings(&self, path: &AttributePath, key: &str, variables: Option<&BTreeSet<&str>>) -> Vec<Problem> {
        let mut warnings = self.parameters(path, key).warnings(variables);
        if let Input::Known(Some(uri)) = &self.integration_uri
            && is_url(uri)
        {
            let path = path.attribute("integration_uri");
            warnings.extend(parameters::undefined(uri, variables, &path));
            warnings.extend(RouteKey::parse(key).iter().flat_map(|route| parameters::unfilled(uri, route, &path)));
        }
        warnings
    }

    fn parameters<'a>(&'a self, path: &'a AttributePath, key: &'a str) -> OfRoute<'a> {
        OfRoute {
            subtype: &self.integration_subtype,
            requests: &self.request_parameters,
            responses: &self.response_parameters,
            route: RouteKey::parse(key).ok(),
            path,
        }
    }

    fn function_problem(&self, path: &AttributePath) -> Option<Problem> {
        let arn = self.faas_function_arn.known()?.as_ref()?;
        let message = FunctionArn::parse(arn).err()?;
        let hint = match FunctionArn::parse_invoke_uri(arn) {
            Some(function) => {
                format!("Use the ARN within it, {function}: the \"arn\" of the function, not its \"invoke_arn\".")
            }
            None => "Use an ARN such as arn:aws:lambda:eu-central-1:123456789012:function:name or \
                     ...:function:name:alias."
                .to_string(),
        };
        Some(Problem::new(path.attribute("faas_function_arn"), message, hint))
    }

    /// Whether it is private. `None` if that is unknown.
    fn has_link(&self) -> Option<bool> {
        match (&self.vpc_link, &self.vpc_link_id) {
            (Input::Known(Some(_)), _) | (_, Input::Known(Some(_))) => Some(true),
            (Input::Known(None), Input::Known(None)) => Some(false),
            _ => None,
        }
    }

    fn uri_problem(&self, path: &AttributePath) -> Option<Problem> {
        let uri = self.integration_uri.known()?.as_deref()?;
        let has_link = self.has_link()?;
        let needs_link = !has_link && uri.starts_with("arn:");
        let (message, hint) = match (has_link, uri.starts_with("arn:")) {
            (true, _) if is_private_target(uri) => return None,
            (true, _) => (
                format!(
                    "{uri:?} is not the ARN of a listener or of a Cloud Map service, which a VPC link needs; a URL and \
                     the ARN of a load balancer are not."
                ),
                "Use the ARN of the listener, or remove the link to call a URL.",
            ),
            (false, true) => (
                format!("{uri:?} is a private target, which requires a VPC link."),
                "Set vpc_link or vpc_link_id, or use a URL.",
            ),
            (false, false) if is_url(uri) => return None,
            (false, false) => (
                format!("{uri:?} is not a URL with the scheme http or https and a host."),
                "Use a URL such as https://example.com/{proxy}.",
            ),
        };
        let problem = Problem::new(path.attribute("integration_uri"), message, hint);
        Some(if needs_link { problem.of_absence() } else { problem })
    }
}

/// Whether this is the ARN of a listener of an application or network load balancer, or of a Cloud Map service. The
/// latter may have a query, which selects instances.
fn is_private_target(uri: &str) -> bool {
    let Ok(arn) = Arn::split(uri) else { return false };
    match arn.service {
        "elasticloadbalancing" => {
            ["listener/app/", "listener/net/"].iter().any(|prefix| arn.resource.starts_with(prefix))
        }
        "servicediscovery" => arn.resource.starts_with("service/srv-"),
        _ => false,
    }
}

fn is_url(text: &str) -> bool {
    let rest = ["http://", "https://"].iter().find_map(|scheme| text.strip_prefix(scheme));
    let host = rest.and_then(|rest| rest.split(['/', '?', '#']).next()).unwrap_or_default();
    !host.is_empty() && !text.contains(char::is_whitespace)
}

fn texts(parameters: &Tags) -> Input<Parameters> {
    let known = parameters.known().and_then(known_texts);
    known.map_or(Input::Unknown, Input::Known)
}

fn by_code(parameters: &ByCode) -> Input<BTreeMap<String, Parameters>> {
    let code = |(code, changes): (&String, &Input<_>)| Some((code.clone(), changes.known().and_then(known_texts)?));
    let known = parameters.known().and_then(|all| all.iter().map(code).collect::<Option<BTreeMap<_, _>>>());
    let changing = |(_, changes): &(String, Parameters)| !changes.is_empty();
    known.map_or(Input::Unknown, |all| Input::Known(all.into_iter().filter(changing).collect()))
}

fn known_texts(parameters: &BTreeMap<String, Input<String>>) -> Option<Parameters> {
    parameters.iter().map(|(name, value)| Some((name.clone(), value.known()?.clone()))).collect()
}

fn inputs(parameters: Parameters) -> BTreeMap<String, Input<String>> {
    parameters.into_iter().map(|(name, value)| (name, Input::Known(value))).collect()
}

/// AWS may omit version 1.0, which is the default of every payload version attribute.
pub(super) fn payload_format(version: &Input<String>) -> Input<String> {
    version.clone().map(|version| if version.is_empty() { "1.0".to_string() } else { version })
}
