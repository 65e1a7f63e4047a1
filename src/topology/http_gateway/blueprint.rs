//! Computes the objects that a configuration requires, in the order of creation.

mod authorizers;
mod domain;
mod exposure;
mod integrations;
mod logs;
mod settings;
mod unmanaged;

use std::collections::{BTreeMap, BTreeSet};

pub(super) use authorizers::{default_ttl, uri as authorizer_uri};
pub(super) use domain::certificate_domain;
pub(super) use logs::{input_of, log_group};

use super::authorization::Required;
use super::config::{CorsConfig, GatewayConfig, RouteConfig};
use super::warnings::{deploys_again, enables_endpoint, warnings};
use super::{places, stage, vpc_links};
use crate::model::keys::gateway as keys;
use crate::model::{
    AccessLog, Api, ApiRoute, Authorization, AuthorizationType, Caller, Cors, Facts, FunctionArn, Inventory, Key,
    LambdaPermission, MOST_TAGS, Needs, Object, Ref, RouteKey, Scope, Spec, Stage, TaggingService, Tags,
    UnmanagedInApi, check_count, is_same_format,
};
use crate::plugin::{AttributePath, Input, Problem};
use crate::topology::places::elsewhere;
use crate::topology::{Blueprint, Context, in_existing_form};

/// The objects that the configuration requires. Errors are problems that depend on the account or Region.
pub(super) fn blueprint(context: &Context<'_, GatewayConfig>) -> Result<Blueprint, Vec<Problem>> {
    let mut draft = Draft {
        scope: context.scope,
        facts: context.facts,
        existing: context.existing,
        unmanaged: UnmanagedInApi::of(context.existing),
        ignored: &context.config.ignore_drift,
        route_keys: context.config.route_config.known().into_iter().flatten().map(|(key, _)| key.as_str()).collect(),
        api: keys::api(),
        objects: Vec::new(),
        protections: BTreeMap::new(),
        links: BTreeMap::new(),
        warnings: warnings(context.config)
            .into_iter()
            .chain(deploys_again(context))
            .chain(enables_endpoint(context))
            .chain(stage::renamed(context))
            .collect(),
        missing: Vec::new(),
        // CloudWatch Logs accepts every tag that API Gateway accepts.
        problems: context.scope.default_tag_problems(TaggingService::ApiGateway, &AttributePath::new("api_tags")),
    };
    draft.problems.extend(places::problems(context.config, context.scope));
    let decided = draft.all(context.config);
    match (draft.problems.is_empty(), decided) {
        (false, _) => Err(draft.problems),
        (true, None) => Ok(Blueprint::Undecided),
        (true, Some(())) => {
            let Draft { objects, warnings, missing, .. } = draft;
            Ok(Blueprint::Decided { objects, warnings, missing })
        }
    }
}

/// The placeholder for the ID of an API that does not exist yet.
const NO_API_ID: &str = "API_ID";

/// An incomplete blueprint. Its methods return `None` if the set of objects depends on an unknown input.
struct Draft<'a> {
    scope: &'a Scope,
    facts: &'a Facts,
    existing: &'a Inventory,
    unmanaged: UnmanagedInApi,
    /// The patterns of ignored drift.
    ignored: &'a Input<Option<Vec<Input<String>>>>,
    /// The keys of the configured routes, as far as they are known.
    route_keys: BTreeSet<&'a str>,
    api: Key,
    objects: Vec<Object>,
    /// By authorizer name: the key of the authorizer, and the permission that must exist before a route uses it.
    protections: BTreeMap<&'a str, (Key, Option<Key>)>,
    /// The keys of the VPC links by name.
    links: BTreeMap<&'a str, Key>,
    warnings: Vec<Problem>,
    missing: Vec<Problem>,
    problems: Vec<Problem>,
}

impl<'a> Draft<'a> {
    fn all(&mut self, config: &'a GatewayConfig) -> Option<()> {
        let routes = known_entries(&config.route_config);
        self.api(config);
        let log_group = self.logs(config);
        if let Some(routes) = &routes {
            self.check_variables(routes);
        }
        // Each step runs even if another one is undecided, so that all problems are reported at once.
        let functions = routes.as_ref().and_then(|routes| self.permissions(routes));
        let protected = self.authorizers(config);
        let linked = self.links(config);
        let (routes, functions, (), ()) = (routes?, functions?, protected?, linked?);
        let reauthorized = self.reauthorized(config, &routes);
        let integrations = self.integrations(&routes, &functions, &reauthorized)?;
        let route_keys = self.routes(config, &routes, &integrations)?;
        self.order_exposure();
        self.warn_of_exposure();
        self.warn_of_open_routes(&routes);
        self.note_users();
        self.keep_permissions();
        self.check_route_keys();
        self.stage(config, log_group?, route_keys)?;
        self.domain(config)?;
        self.warn_of_preflights(config, &routes);
        Some(())
    }

    fn api(&mut self, config: &GatewayConfig) {
        let spec = Api {
            name: config.name.clone(),
            description: absent_if_empty(&config.description),
            version: absent_if_empty(&config.api_version),
            cors: cors(&config.cors_configuration),
            disable_endpoint: config.disable_execute_api_endpoint.clone(),
            ip_address_type: config.ip_address_type.clone(),
            tags: self.tags(&AttributePath::new("api_tags"), &config.api_tags),
        };
        self.add(self.api.clone(), Spec::Api(spec), vec![]);
    }

    /// Adds the VPC links. `None` if their names are unknown.
    fn links(&mut self, config: &'a GatewayConfig) -> Option<()> {
        for (name, entry) in config.vpc_links.known()? {
            let own = entry.known().map_or(Input::Unknown, |entry| entry.tags.clone());
            let tags = self.tags(&vpc_links::ENTRIES.path(name).attribute("tags"), &own);
            let (key, spec) = vpc_links::object(&self.api, name, entry, tags);
            self.links.insert(name, key.clone());
            let existing = self.existing.at(&key.slot).map(|entry| &entry.id);
            for (_, path) in given_links(config).filter(|(id, _)| Some(*id) == existing) {
                let message = format!("This is the ID of the VPC link {name:?} in vpc_links.");
                let hint = format!(
                    "Set vpc_link = {name:?} instead. To stop managing the link, remove it from vpc_links: it is not \
                     deleted while a route names its ID."
                );
                self.problems.push(Problem::new(path, message, hint));
            }
            self.add(key, Spec::VpcLink(spec), vec![]);
        }
        Some(())
    }

    /// Adds one permission per function and qualifier in the provider's account that a route calls without a role.
    /// Returns the permissions by configured function ARN.
    fn permissions(&mut self, routes: &[(&'a str, &'a RouteConfig)]) -> Option<BTreeMap<&'a str, Option<Key>>> {
        let mut permissions: BTreeMap<&str, Option<Key>> = BTreeMap::new();
        let mut decided = true;
        for (route_key, route) in routes {
            let integration = &route.integration;
            let (Input::Known(arn), Input::Known(role)) =
                (&integration.faas_function_arn, &integration.credentials_arn)
            else {
                decided = false;
                continue;
            };
            let Some(arn) = arn.as_deref().filter(|arn| !permissions.contains_key(arn)) else { continue };
            let path = AttributePath::new("route_config").key(route_key).attribute("faas_function_arn");
            let Some(function) = self.function(arn, &path) else { continue };
            if role.is_some() {
                continue;
            }
            if self.is_ours(&function) {
                let key = keys::permission(&function);
                let spec = self.permission(&function, Caller::Routes);
                self.add(key.clone(), Spec::LambdaPermission(spec), vec![]);
                permissions.insert(arn, Some(key));
            } else {
                if !self.has_integration_with(arn) {
                    self.warn_of_function_in_other_account(&function, path, Caller::Routes);
                }
                permissions.insert(arn, None);
            }
        }
        decided.then_some(permissions)
    }

    fn routes(
        &mut self,
        config: &'a GatewayConfig,
        routes: &[(&'a str, &'a RouteConfig)],
        integrations: &BTreeMap<&'a str, Key>,
    ) -> Option<Vec<Key>> {
        let mut added = Vec::new();
        for (route_key, route) in routes {
            let Required { kind, authorizer, scopes } = config.authorization(route)?;
            let protection = match authorizer {
                None => None,
                Some(name) => match self.protections.get(name) {
                    Some(protection) => Some(protection.clone()),
                    // A route is never created without its configured authorizer.
                    None => {
                        let path = AttributePath::new("route_config").key(route_key).attribute("authorizer_name");
                        let message = format!("There is no authorizer {name:?}.");
                        let hint = "Add it to faas_authorizers or jwt_authorizers, or use another one.";
                        self.problems.push(Problem::new(path, message, hint));
                        continue;
                    }
                },
            };
            let (authorizer, permission) = protection.map_or((None, None), |(key, permission)| (Some(key), permission));
            let key = keys::route(route_key);
            let spec = ApiRoute {
                api: self.api.clone(),
                route_key: (*route_key).to_string(),
                integration: integrations.get(route_key).cloned().map(Ref::Key),
                authorization: Authorization { kind, authorizer: authorizer.map(Ref::Key), scopes },
            };
            self.add(key.clone(), Spec::ApiRoute(spec), permission.into_iter().collect());
            added.push(key);
        }
        Some(added)
    }

    /// Adds the routes that use an integration or authorizer to that object.
    fn note_users(&mut self) {
        let mut users: BTreeMap<Key, Vec<String>> = BTreeMap::new();
        for object in &self.objects {
            let Spec::ApiRoute(route) = &object.spec else { continue };
            for target in [&route.integration, &route.authorization.authorizer] {
                if let Some(Ref::Key(target)) = target {
                    users.entry(target.clone()).or_default().push(route.route_key.clone());
                }
            }
        }
        for object in &mut self.objects {
            object.routes = users.remove(&object.key).unwrap_or_default();
        }
    }

    /// The stage is created after the routes, so that it is deployed once and not once per route. `None` if its name is
    /// unknown.
    fn stage(&mut self, config: &GatewayConfig, log_group: Option<Ref>, routes: Vec<Key>) -> Option<()> {
        let name = config.stage_name.known()?;
        let of_stage: fn(&Spec) -> Option<&String> = |spec| match spec {
            Spec::Stage(stage) => stage.access_log.as_ref()?.format.known(),
            _ => None,
        };
        let existing = self.existing.at(keys::STAGE);
        let format = config.access_log_format();
        let format = format.map(|format| in_existing_form(format, existing, of_stage, is_same_format));
        let spec = Stage {
            api: self.api.clone(),
            name: name.clone(),
            description: config.stage_description.clone(),
            variables: config.stage_variables.clone(),
            auto_deploy: true,
            deployment_failure: None,
            access_log: log_group.map(|log_group| AccessLog { log_group, format }),
            default_settings: settings::default(config),
            route_settings: settings::of_routes(config),
            tags: self.tags(&AttributePath::new("stage_tags"), &config.stage_tags),
        };
        self.check_settings(&spec);
        self.add(keys::stage(name), Spec::Stage(spec), routes);
        Some(())
    }

    fn add(&mut self, key: Key, spec: Spec, after: Vec<Key>) {
        self.objects.push(Object { after, ..Object::new(key, spec) });
    }

    fn permission(&self, function: &FunctionArn, caller: Caller) -> LambdaPermission {
        LambdaPermission {
            api: self.api.clone(),
            function_arn: Input::Known(function.unqualified()),
            qualifier: Input::Known(function.qualifier.clone()),
            caller,
        }
    }

    fn tags(&mut self, path: &AttributePath, own: &Tags) -> Tags {
        let merged = self.scope.tags(&[own]);
        // Validation has already reported too many tags in the attribute itself.
        if let (Some(all), Some(own)) = (merged.known(), own.known())
            && own.len() <= MOST_TAGS
        {
            self.problems.extend(check_count("With default_tags, there are", all.len(), path));
        }
        merged
    }

    fn function(&mut self, arn: &str, path: &AttributePath) -> Option<FunctionArn> {
        match FunctionArn::parse(arn) {
            Ok(function) => {
                self.check_partition(&function, path);
                Some(function)
            }
            Err(message) => {
                self.problems.push(Problem::new(path.clone(), message, "Use the ARN of a Lambda function."));
                None
            }
        }
    }

    /// API Gateway cannot call a function in another partition.
    fn check_partition(&mut self, function: &FunctionArn, path: &AttributePath) {
        let hint = "Use a function in the partition of the gateway.";
        self.problems.extend(elsewhere(path.clone(), &function.to_string(), self.scope, Needs::PARTITION, hint));
    }

    /// Functions in other accounts are neither changed nor read. If the provider's account ID is unknown, every
    /// function counts as one in its account.
    fn is_ours(&self, function: &FunctionArn) -> bool {
        self.scope.account.as_ref().is_none_or(|account| *account == function.account)
    }

    /// Whether an integration with this function exists. If so, an earlier plan has shown the warning about it. The
    /// provider cannot read the policy, so the warning would appear in every plan.
    fn has_integration_with(&self, function_arn: &str) -> bool {
        self.existing.current().any(|entry| match &entry.applied {
            Spec::Integration(it) => it.function_to_allow().is_some_and(|it| it == function_arn),
            _ => false,
        })
    }

    fn warn_of_function_in_other_account(&mut self, function: &FunctionArn, path: AttributePath, caller: Caller) {
        let api = self.api_id();
        let api_output = (api == NO_API_ID).then_some("API_ID is the output api_id");
        let Scope { partition, region, .. } = self.scope;
        let account = self.scope.account.as_deref().unwrap_or("ACCOUNT_ID");
        let (source, statement, authorizer_output) = match caller {
            // The authorizer does not exist yet, so its ID is unknown.
            Caller::Authorizer(_) => (
                "authorizers/AUTHORIZER_ID",
                format!("http-gateway-{api}-authorizer-AUTHORIZER_ID"),
                Some("AUTHORIZER_ID is in the output authorizer_ids"),
            ),
            _ => ("*/*", format!("http-gateway-{api}"), None),
        };
        let qualifier = function.qualifier.iter().map(|it| format!(" --qualifier {it}")).collect::<String>();
        let command = format!(
            "aws lambda add-permission --region {} --function-name {}{qualifier} --statement-id {statement} --action \
             lambda:InvokeFunction --principal apigateway.amazonaws.com --source-arn \
             'arn:{partition}:execute-api:{region}:{account}:{api}/{source}'",
            function.region,
            function.unqualified(),
        );
        let outputs: Vec<&str> = api_output.into_iter().chain(authorizer_output).collect();
        let ids = match outputs.is_empty() {
            true => String::new(),
            false => format!(" After the apply, {}.", outputs.join(", and ")),
        };
        self.warnings.push(Problem::new(
            path,
            format!(
                "The function {} belongs to account {}, not to {account}, so the provider does not manage its policy. \
                 Calls fail unless the policy already allows this gateway.",
                function.short(),
                function.account
            ),
            format!("Ask the owner of the function to run the command below.{ids}\n\n  {command}"),
        ));
    }

    /// Warns of routes whose authorizer rejects preflight requests: API Gateway sends these requests to routes for any
    /// method, and through their authorizer. A route for `OPTIONS` on the same path receives them instead, and is
    /// checked itself.
    fn warn_of_preflights(&mut self, config: &GatewayConfig, routes: &[(&'a str, &'a RouteConfig)]) {
        if !matches!(config.cors_configuration, Input::Known(Some(_))) {
            return;
        }
        for (key, route) in routes {
            let Ok(route_key) = RouteKey::parse(key) else { continue };
            let Some(Required { kind, authorizer, .. }) = config.authorization(route) else { continue };
            if kind == AuthorizationType::None {
                continue;
            }
            let is_covered = |(other, _): &(&str, _)| {
                RouteKey::parse(other).is_ok_and(|other| other.takes_preflights_of(&route_key))
            };
            if !route_key.takes_preflights() || routes.iter().any(is_covered) {
                continue;
            }
            let path = key.split_once(' ').map_or("/{proxy+}", |(_, path)| path);
            self.warnings.push(Problem::new(
                AttributePath::new("route_config").key(key).attribute(match authorizer {
                    Some(_) => "authorizer_name",
                    None => "authorization_type",
                }),
                format!(
                    "{key:?} matches OPTIONS requests, so {} rejects CORS preflight requests despite cors_configuration, \
                     because browsers send them without credentials.",
                    authorizer.map_or_else(|| kind.name().to_string(), |name| format!("authorizer {name:?}")),
                ),
                match key.starts_with("OPTIONS ") {
                    true => "Set authorization_type = \"NONE\" for this route.".to_string(),
                    false => format!(
                        "Add a route \"OPTIONS {path}\" with authorization_type = \"NONE\", or use one route per method."
                    ),
                },
            ));
        }
    }
}

/// The IDs of VPC links in the configuration, with their attributes.
pub(super) fn given_links(config: &GatewayConfig) -> impl Iterator<Item = (&String, AttributePath)> {
    let routes = config.route_config.known().into_iter().flatten();
    routes.filter_map(|(key, route)| {
        let id = route.known()?.integration.vpc_link_id.known()?.as_ref()?;
        Some((id, AttributePath::new("route_config").key(key).attribute("vpc_link_id")))
    })
}

/// The entries of a map; `None` unless all of them are known.
fn known_entries<T>(map: &Input<BTreeMap<String, Input<T>>>) -> Option<Vec<(&str, &T)>> {
    map.known()?.iter().map(|(key, entry)| Some((key.as_str(), entry.known()?))).collect()
}

/// AWS returns the same for an empty text and an absent one.
fn absent_if_empty(text: &Input<Option<String>>) -> Input<Option<String>> {
    text.clone().map(|text| text.filter(|it| !it.is_empty()))
}

/// The CORS configuration of the API. Unknown if any part is, because one call sets all of it.
fn cors(config: &Input<Option<CorsConfig>>) -> Input<Option<Cors>> {
    match config {
        Input::Unknown => Input::Unknown,
        Input::Known(None) => Input::Known(None),
        Input::Known(Some(config)) => known_cors(config).map_or(Input::Unknown, |cors| Input::Known(Some(cors))),
    }
}

fn known_cors(config: &CorsConfig) -> Option<Cors> {
    Some(Cors {
        allow_credentials: config.allow_credentials.known()?.unwrap_or(false),
        allow_headers: strings(&config.allow_headers)?,
        allow_methods: strings(&config.allow_methods)?,
        allow_origins: strings(&config.allow_origins)?,
        expose_headers: strings(&config.expose_headers)?,
        max_age: *config.max_age.known()?,
    })
}

fn strings(list: &Input<Option<Vec<Input<String>>>>) -> Option<Vec<String>> {
    list.known()?.iter().flatten().map(|item| item.known().cloned()).collect()
}
