//! From the configuration to the objects that should exist, in the order of creation.

mod authorizers;
mod domain;
mod logs;

use std::collections::BTreeMap;

pub(super) use authorizers::default_ttl;
pub(super) use domain::certificate_domain;

use super::config::{CorsConfig, GatewayConfig, RouteConfig};
use crate::model::keys::gateway as keys;
use crate::model::{
    AccessLog, Api, ApiRoute, Caller, Cors, Facts, FunctionArn, Integration, Inventory, Key, LambdaPermission,
    MOST_TAGS, Object, Ref, RouteKey, Scope, Spec, Stage, TaggingService, Tags, check_count,
};
use crate::plugin::{AttributePath, Input, Problem};
use crate::topology::{Blueprint, Context};

/// The objects that should exist. Errors are what only the account and Region can tell.
pub(super) fn blueprint(context: &Context<'_, GatewayConfig>) -> Result<Blueprint, Vec<Problem>> {
    let mut draft = Draft {
        scope: context.scope,
        facts: context.facts,
        existing: context.existing,
        api: keys::api(),
        objects: Vec::new(),
        after_routes: BTreeMap::new(),
        warnings: Vec::new(),
        missing: Vec::new(),
        // What API Gateway takes, CloudWatch Logs takes too.
        problems: context.scope.default_tag_problems(TaggingService::ApiGateway, &AttributePath::new("api_tags")),
    };
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

/// A blueprint in the making. Its steps return `None` where an unknown input decides which objects there are.
struct Draft<'a> {
    scope: &'a Scope,
    facts: &'a Facts,
    existing: &'a Inventory,
    api: Key,
    objects: Vec<Object>,
    /// Per authorizer name: its key, and the permission that must stand before a route uses it.
    after_routes: BTreeMap<&'a str, (Key, Option<Key>)>,
    warnings: Vec<Problem>,
    missing: Vec<Problem>,
    problems: Vec<Problem>,
}

impl<'a> Draft<'a> {
    fn all(&mut self, config: &'a GatewayConfig) -> Option<()> {
        let routes = known_entries(&config.route_config);
        let authorizers = known_entries(&config.faas_authorizers);
        self.api(config);
        let log_group = self.logs(config);
        // Each step runs although another is undecided, so that all problems are found at once.
        let functions = routes.as_ref().and_then(|routes| self.permissions(routes));
        let protected = authorizers.and_then(|authorizers| self.authorizers(authorizers));
        let (routes, functions, ()) = (routes?, functions?, protected?);
        let integrations = self.integrations(&routes, &functions)?;
        let route_keys = self.routes(&routes, &integrations)?;
        self.stage(config, log_group?, route_keys);
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
            tags: self.tags("api_tags", &config.api_tags),
        };
        self.add(self.api.clone(), Spec::Api(spec), vec![]);
    }

    /// One permission per function and qualifier of ours. Answers per function ARN as configured.
    fn permissions(&mut self, routes: &[(&'a str, &'a RouteConfig)]) -> Option<BTreeMap<&'a str, Option<Key>>> {
        let mut permissions: BTreeMap<&str, Option<Key>> = BTreeMap::new();
        let mut decided = true;
        for (route_key, route) in routes {
            let Input::Known(arn) = &route.faas_function_arn else {
                decided = false;
                continue;
            };
            if permissions.contains_key(arn.as_str()) {
                continue;
            }
            let path = AttributePath::new("route_config").key(route_key).attribute("faas_function_arn");
            let Some(function) = self.function(arn, &path) else { continue };
            if self.is_ours(&function) {
                let key = keys::permission(&function);
                let spec = self.permission(&function, Caller::Routes);
                self.add(key.clone(), Spec::LambdaPermission(spec), vec![]);
                permissions.insert(arn, Some(key));
            } else {
                self.warn_of_foreign_function(&function, path, None);
                permissions.insert(arn, None);
            }
        }
        decided.then_some(permissions)
    }

    /// One integration per distinct function, payload version, timeout and description: API Gateway allows 300, so
    /// routes share them. Answers per route key.
    fn integrations(
        &mut self,
        routes: &[(&'a str, &'a RouteConfig)],
        functions: &BTreeMap<&str, Option<Key>>,
    ) -> Option<BTreeMap<&'a str, Key>> {
        let mut integrations = BTreeMap::new();
        let mut made: BTreeMap<String, Integration> = BTreeMap::new();
        for (route_key, route) in routes {
            let spec = Integration {
                api: self.api.clone(),
                function_arn: route.faas_function_arn.clone(),
                payload_format_version: route.payload_format_version.clone(),
                timeout_in_millis: route.timeout_milliseconds.clone(),
                description: absent_if_empty(&route.description),
                permission: functions.get(route.faas_function_arn.known()?.as_str()).cloned().flatten(),
            };
            let key = keys::integration(&spec)?;
            match made.get(&key.slot) {
                Some(known) if *known != spec => self.problems.push(Problem::new(
                    AttributePath::new("route_config").key(route_key),
                    format!("By chance its integration and another one of the function would both be {:?}.", key.slot),
                    "Change its description.",
                )),
                Some(_) => {}
                None => {
                    made.insert(key.slot.clone(), spec.clone());
                    self.add(key.clone(), Spec::Integration(spec), vec![]);
                }
            }
            integrations.insert(*route_key, key);
        }
        Some(integrations)
    }

    fn routes(
        &mut self,
        routes: &[(&'a str, &'a RouteConfig)],
        integrations: &BTreeMap<&'a str, Key>,
    ) -> Option<Vec<Key>> {
        let mut made = Vec::new();
        for (route_key, route) in routes {
            let protection = match route.authorizer_name.known()? {
                None => None,
                Some(name) => match self.after_routes.get(name.as_str()) {
                    Some(protection) => Some(protection.clone()),
                    // Never without the protection that was asked for.
                    None => {
                        let path = AttributePath::new("route_config").key(route_key).attribute("authorizer_name");
                        let message = format!("There is no authorizer {name:?}.");
                        self.problems.push(Problem::new(path, message, "Add it to faas_authorizers."));
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
                authorizer: authorizer.map(Ref::Key),
            };
            self.add(key.clone(), Spec::ApiRoute(spec), permission.into_iter().collect());
            made.push(key);
        }
        Some(made)
    }

    /// The stage comes last: it is deployed once, not once for each route.
    fn stage(&mut self, config: &GatewayConfig, log_group: Option<Key>, routes: Vec<Key>) {
        let spec = Stage {
            api: self.api.clone(),
            auto_deploy: true,
            deployment_failure: None,
            access_log: log_group.map(|key| AccessLog { log_group: Ref::Key(key), format: config.access_log_format() }),
            tags: self.tags("stage_tags", &config.stage_tags),
        };
        self.add(keys::stage(), Spec::Stage(spec), routes);
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

    fn tags(&mut self, attribute: &str, own: &Tags) -> Tags {
        let merged = self.scope.tags(&[own]);
        // Too many of its own have been reported by validation.
        if let (Some(all), Some(own)) = (merged.known(), own.known())
            && own.len() <= MOST_TAGS
        {
            self.problems.extend(check_count("With default_tags there are", all.len(), &AttributePath::new(attribute)));
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
                self.problems.push(Problem::new(path.clone(), message, "Give the ARN of a function."));
                None
            }
        }
    }

    /// Nothing reaches from one partition into another.
    fn check_partition(&mut self, function: &FunctionArn, path: &AttributePath) {
        let ours = &self.scope.partition;
        if *ours != function.partition {
            let message = format!("The function is in partition {:?}, the gateway in {ours:?}.", function.partition);
            self.problems.push(Problem::new(path.clone(), message, "Use a function of the gateway's partition."));
        }
    }

    /// Functions of other accounts are neither touched nor read. Without our account's id all are taken for ours.
    fn is_ours(&self, function: &FunctionArn) -> bool {
        self.scope.account.as_ref().is_none_or(|account| *account == function.account)
    }

    fn warn_of_foreign_function(&mut self, function: &FunctionArn, path: AttributePath, authorizer: Option<&Key>) {
        let id = |key: &Key, placeholder: &str| {
            let entry = self.existing.present().find(|entry| entry.key == *key && !entry.pending_deletion);
            entry.map_or_else(|| placeholder.to_string(), |entry| entry.id.clone())
        };
        let api = id(&self.api, "API_ID");
        let Scope { partition, region, .. } = self.scope;
        let account = self.scope.account.as_deref().unwrap_or("ACCOUNT_ID");
        let (source, statement) = match authorizer {
            None => ("*/*".to_string(), format!("http-gateway-{api}")),
            Some(key) => {
                let id = id(key, "AUTHORIZER_ID");
                (format!("authorizers/{id}"), format!("http-gateway-{api}-authorizer-{id}"))
            }
        };
        let qualifier = function.qualifier.iter().map(|it| format!(" --qualifier {it}")).collect::<String>();
        let command = format!(
            "aws lambda add-permission --region {} --function-name {}{qualifier} --statement-id {statement} --action \
             lambda:InvokeFunction --principal apigateway.amazonaws.com --source-arn \
             'arn:{partition}:execute-api:{region}:{account}:{api}/{source}'",
            function.region,
            function.unqualified(),
        );
        let ids = match (command.contains("API_ID"), command.contains("AUTHORIZER_ID")) {
            (false, false) => "",
            (true, false) => " API_ID is the output api_id, once the gateway is made.",
            (_, true) => " API_ID and AUTHORIZER_ID are in the outputs api_id and authorizer_ids, once they are made.",
        };
        self.warnings.push(Problem::new(
            path,
            format!(
                "The function {} belongs to account {}, not to {account}, so its policy is not touched. Unless it \
                 lets this gateway in already, calls fail.",
                function.short(),
                function.account
            ),
            format!("Have its owner run: {command}{ids}"),
        ));
    }

    /// API Gateway sends a preflight request to a route that takes any method, and through its authorizer. A route for
    /// `OPTIONS` beside it takes them in its place, and is looked at itself.
    fn warn_of_preflights(&mut self, config: &GatewayConfig, routes: &[(&'a str, &'a RouteConfig)]) {
        if !matches!(config.cors_configuration, Input::Known(Some(_))) {
            return;
        }
        for (key, route) in routes {
            let Ok(route_key) = RouteKey::parse(key) else { continue };
            let Input::Known(Some(authorizer)) = &route.authorizer_name else { continue };
            let is_spared = |(other, _): &(&str, _)| {
                RouteKey::parse(other).is_ok_and(|other| other.takes_preflights_of(&route_key))
            };
            if !route_key.takes_preflights() || routes.iter().any(is_spared) {
                continue;
            }
            let path = key.split_once(' ').map_or("/{proxy+}", |(_, path)| path);
            self.warnings.push(Problem::new(
                AttributePath::new("route_config").key(key).attribute("authorizer_name"),
                format!(
                    "{key:?} takes OPTIONS requests, so authorizer {authorizer:?} checks CORS preflights, which \
                     browsers send without credentials: they are refused in spite of cors_configuration."
                ),
                match key.starts_with("OPTIONS ") {
                    true => "Leave the authorizer out of it.".to_string(),
                    false => {
                        format!("Add a route \"OPTIONS {path}\" without an authorizer, or name the methods one by one.")
                    }
                },
            ));
        }
    }
}

/// The entries of a map, if all of them are known.
fn known_entries<T>(map: &Input<BTreeMap<String, Input<T>>>) -> Option<Vec<(&str, &T)>> {
    map.known()?.iter().map(|(key, entry)| Some((key.as_str(), entry.known()?))).collect()
}

/// AWS shows an empty text and an absent one alike.
fn absent_if_empty(text: &Input<Option<String>>) -> Input<Option<String>> {
    text.clone().map(|text| text.filter(|it| !it.is_empty()))
}

/// What is set on the API. Unknown where any part is, as it is set with one call.
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
