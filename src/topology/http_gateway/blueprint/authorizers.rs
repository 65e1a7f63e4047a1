//! Authorizers, and the permissions to call their functions.

use std::collections::BTreeSet;

use super::{Draft, known_entries};
use crate::model::keys::gateway as keys;
use crate::model::{
    Authorizer, Caller, Entry, FunctionArn, JwtAuthorizer, Key, Origin, Scope, Spec, authorizer_name,
    authorizer_name_mut, parse_short,
};
use crate::plugin::{AttributePath, Input, Problem};
use crate::topology::http_gateway::config::{FaasAuthorizer, GatewayConfig};
use crate::topology::http_gateway::jwt_authorizers;

/// The longest name of an authorizer, in characters.
const LONGEST_NAME: usize = 128;

/// The default time in seconds for which API Gateway caches a result.
const DEFAULT_TTL: i64 = 300;

impl<'a> Draft<'a> {
    /// Adds the authorizers of both maps.
    pub(super) fn authorizers(&mut self, config: &'a GatewayConfig) -> Option<()> {
        let of_functions = known_entries(&config.faas_authorizers);
        let of_issuers = config.jwt_authorizers.known();
        let names = of_functions.iter().flatten().map(|(name, _)| *name);
        let names = names.chain(of_issuers.into_iter().flatten().map(|(name, _)| name.as_str())).collect();
        for (name, entry) in of_issuers.into_iter().flatten() {
            let spec = jwt_authorizers::spec(&self.api, name, entry);
            let identified = self.identified(("jwt_authorizers", name), spec.into(), &names);
            // Otherwise the problem is reported, and its routes are not to blame.
            let key = identified.map_or_else(
                || keys::authorizer(name),
                |(key, spec)| {
                    self.warn_of_refused_tokens(&key, name, &spec);
                    self.add(key.clone(), spec, vec![]);
                    key
                },
            );
            self.protections.insert(name, (key, None));
        }
        let of_functions = of_functions.and_then(|entries| self.request_authorizers(entries, &names));
        of_issuers.and(of_functions)
    }

    fn request_authorizers(
        &mut self,
        entries: Vec<(&'a str, &'a FaasAuthorizer)>,
        names: &BTreeSet<&str>,
    ) -> Option<()> {
        let mut decided = Some(());
        for (name, entry) in entries {
            let spec = match spec(&self.api, name, entry, self.scope) {
                Ok(spec) => spec,
                Err(problem) => {
                    self.problems.push(problem);
                    self.protections.insert(name, (keys::authorizer(name), None));
                    continue;
                }
            };
            let identified = self.identified(("faas_authorizers", name), spec.into(), names);
            let Some((key, Spec::Authorizer(spec))) = identified else {
                // The problem is reported, and its routes are not to blame.
                self.protections.insert(name, (keys::authorizer(name), None));
                continue;
            };
            let position = self.objects.len();
            self.add(key.clone(), Spec::Authorizer(spec.clone()), vec![]);
            match self.authorizer_permission(&key, &spec, entry) {
                Some(permission) => {
                    if self.is_in_aws(&key) {
                        // API Gateway calls a new function as soon as the authorizer is updated. The permission of a
                        // new authorizer can only follow, because its statement contains the ID.
                        self.objects[position].after.extend(permission.clone());
                    }
                    self.protections.insert(name, (key, permission));
                }
                None => decided = None,
            }
        }
        decided
    }

    /// Adds the permission of an authorizer if it needs one and its function is in the provider's account. `None` if
    /// that is unknown.
    fn authorizer_permission(&mut self, key: &Key, spec: &Authorizer, entry: &FaasAuthorizer) -> Option<Option<Key>> {
        let (uri, is_by_role) = (spec.authorizer_uri.known()?, spec.credentials_arn.known()?.is_some());
        let path = AttributePath::new("faas_authorizers").key(keys::authorizer_name(key).unwrap_or(&spec.name));
        let path = match entry.authorizer_uri {
            Input::Known(None) => path.attribute("authorizer_name"),
            _ => path.attribute("authorizer_uri"),
        };
        let function = FunctionArn::parse_invoke_uri(uri);
        if let Some(function) = &function {
            self.check_partition(function, &path);
        }
        if is_by_role {
            return Some(None);
        }
        let Some(function) = function else {
            self.warnings.push(Problem::new(
                path,
                format!("{uri:?} does not contain the ARN of a function, so the provider creates no permission."),
                "Set authorizer_credentials_arn, or add the permission to the function yourself.",
            ));
            return Some(None);
        };
        if !self.is_ours(&function) {
            if !self.has_authorizer_with(key, uri) {
                self.warn_of_function_in_other_account(&function, path, Caller::Authorizer(key.clone()));
            }
            return Some(None);
        }
        let permission = keys::authorizer_permission(key, &function);
        let statement = self.permission(&function, Caller::Authorizer(key.clone()));
        self.add(permission.clone(), Spec::LambdaPermission(statement), vec![]);
        Some(Some(permission))
    }

    /// The key of an authorizer, and its spec with its name in AWS. AWS allows each name once in an API. An authorizer
    /// that an unmanaged route uses is not changed: the gateway gets another one, with another name. So does a name
    /// that has moved from one map to the other: both authorizers exist until all routes use the new one. `None` if the
    /// name is not free.
    fn identified(
        &mut self,
        (map, name): (&str, &str),
        mut wanted: Spec,
        names: &BTreeSet<&str>,
    ) -> Option<(Key, Spec)> {
        let path = || AttributePath::new(map).key(name);
        let slot = keys::authorizer(name).slot;
        let is_same = |entry: &&Entry| entry.key.slot == slot && entry.applied.kind() == wanted.kind();
        let mut entries: Vec<_> = self.existing.entries.iter().filter(is_same).collect();
        entries.sort_by_key(|entry| (!entry.is_present(), entry.pending_deletion));
        let holder = entries.first().copied();
        // One that a killed run has deleted counts too, so that the plan after it chooses the same name.
        let is_held = |text: &str| self.existing.entries.iter().any(|it| authorizer_name(&it.applied) == Some(text));
        let name_in_aws = match holder {
            Some(entry) => authorizer_name(&entry.applied).map(str::to_string),
            None => is_held(name).then(|| self.free_name(name, names)),
        };
        if let (Some(of_spec), Some(name)) = (authorizer_name_mut(&mut wanted), name_in_aws) {
            *of_spec = name;
        }
        if let Some(entry) = holder.filter(|entry| entry.is_present()) {
            let is_changed = entry.normalized_against(&wanted) != wanted && !entry.is_foreign();
            let user = self.outside_users(&entry.id).next().filter(|_| is_changed).cloned();
            if let Some(route) = user {
                let renamed = self.free_name(name, names);
                let warning = Problem::new(
                    path(),
                    format!(
                        "The unmanaged route {:?} uses authorizer {} of this gateway, so this update does not change it.",
                        route.route_key, entry.id
                    ),
                    format!("It creates another one, {renamed:?}, for the routes of the gateway."),
                );
                self.warnings.push(warning);
                if let Some(of_spec) = authorizer_name_mut(&mut wanted) {
                    *of_spec = renamed;
                }
                return Some((keys::authorizer_in_aws(name, &wanted), wanted));
            }
            return Some((entry.key.clone(), wanted));
        }
        let key = holder.map_or_else(|| keys::authorizer_in_aws(name, &wanted), |entry| entry.key.clone());
        let of_name = self.unmanaged.authorizers.iter().find(|it| Some(it.name.as_str()) == authorizer_name(&wanted));
        let Some(other) = of_name else { return Some((key, wanted)) };
        // An interrupted run may have created an equal one, which the create adopts.
        let is_equal = |found: &Spec| {
            let entry = Entry { origin: Origin::Found, ..Entry::new(key.clone(), &other.id, found.clone()) };
            found.kind() == wanted.kind() && (!wanted.is_known() || entry.normalized_against(&wanted) == wanted)
        };
        let user = self.outside_users(&other.id).next();
        if user.is_none() && other.content.as_ref().is_some_and(is_equal) {
            return Some((key, wanted));
        }
        let which = user.map_or("is different".into(), |user| format!("the unmanaged route {:?} uses", user.route_key));
        let api = self.api_id();
        let message =
            format!("API {api} already has an unmanaged authorizer {:?} ({}), which {which}.", other.name, other.id);
        let hint = format!(
            "Use another key in {map}, or delete it with this command and the routes that use it, then run plan \
             again.\n\n  aws apigatewayv2 delete-authorizer --api-id {api} --authorizer-id {}",
            other.id
        );
        self.problems.push(Problem::new(path(), message, hint));
        None
    }

    /// Warns that tokens which the authorizer accepts now will be rejected.
    fn warn_of_refused_tokens(&mut self, key: &Key, name: &str, wanted: &Spec) {
        let entry = self.existing.present().find(|entry| entry.key == *key);
        let before = entry.and_then(|entry| JwtAuthorizer::of(entry.spec()));
        let (Some(before), Some(wanted)) = (before, JwtAuthorizer::of(wanted)) else { return };
        let mut lost = Vec::new();
        if let (Input::Known(before), Input::Known(issuer)) = (&before.issuer, &wanted.issuer)
            && before != issuer
        {
            lost.push(format!("of the issuer {before:?}"));
        }
        if let (Input::Known(before), Input::Known(audience)) = (&before.audience, &wanted.audience) {
            lost.extend(before.difference(audience).map(|it| format!("for the audience {it:?}")));
        }
        if let (Input::Known(before), Input::Known(source)) = (&before.identity_source, &wanted.identity_source)
            && before != source
        {
            lost.push(format!("in {before}"));
        }
        if lost.is_empty() {
            return;
        }
        self.warnings.push(Problem::new(
            AttributePath::new("jwt_authorizers").key(name),
            format!("Tokens {} are rejected as soon as the change is deployed.", lost.join(" and ")),
            "To accept both for a time, first add the new audience, or add another authorizer and change the routes to it.",
        ));
    }

    /// A name for an authorizer that no other one in the API has or gets.
    fn free_name(&self, name: &str, names: &BTreeSet<&str>) -> String {
        let is_taken = |text: &String| {
            let is_it = |it: &Spec| authorizer_name(it) == Some(text.as_str());
            (text != name && names.contains(text.as_str()))
                || self.unmanaged.authorizers.iter().any(|it| it.name == *text)
                || self.existing.entries.iter().any(|it| is_it(&it.applied) || it.observed().is_some_and(is_it))
        };
        let numbered = (2_u64..).map(|number| {
            let number = format!("-{number}");
            name.chars().take(LONGEST_NAME - number.len()).collect::<String>() + &number
        });
        let mut names = std::iter::once(name.to_string()).chain(numbered);
        names.find(|it| !is_taken(it)).expect("the API has a finite number of authorizers")
    }

    /// Whether an object exists in AWS, so that it is updated and not created.
    fn is_in_aws(&self, key: &Key) -> bool {
        self.existing.present().any(|entry| entry.key == *key && !entry.is_missing())
    }

    /// Whether this authorizer exists and has called the same function before. If so, an earlier plan has shown the
    /// warning about it.
    fn has_authorizer_with(&self, key: &Key, uri: &str) -> bool {
        self.existing.current().any(|entry| match &entry.applied {
            Spec::Authorizer(it) => entry.key == *key && it.authorizer_uri.known().is_some_and(|it| it == uri),
            _ => false,
        })
    }
}

/// The authorizer that an entry describes.
fn spec(api: &Key, name: &str, entry: &FaasAuthorizer, scope: &Scope) -> Result<Authorizer, Problem> {
    let identity_sources = identity_sources(entry);
    let result_ttl_in_seconds = match (&entry.result_ttl_in_seconds, &identity_sources) {
        (Input::Known(Some(seconds)), _) => Input::Known(*seconds),
        (Input::Unknown, _) | (_, Input::Unknown) => Input::Unknown,
        (Input::Known(None), Input::Known(sources)) => Input::Known(default_ttl(sources)),
    };
    Ok(Authorizer {
        api: api.clone(),
        name: name.to_string(),
        authorizer_uri: uri(name, entry, scope)?,
        payload_format_version: entry.authorizer_payload_format_version.clone(),
        identity_sources,
        result_ttl_in_seconds,
        enable_simple_responses: entry.enable_simple_responses.clone(),
        credentials_arn: entry.authorizer_credentials_arn.clone(),
    })
}

/// The default of `result_ttl_in_seconds`: 0 without identity sources, because results are cached by identity.
pub(in crate::topology::http_gateway) fn default_ttl(sources: &[String]) -> i64 {
    if sources.is_empty() { 0 } else { DEFAULT_TTL }
}

fn identity_sources(entry: &FaasAuthorizer) -> Input<Vec<String>> {
    let Some(sources) = entry.identity_sources.known() else { return Input::Unknown };
    let known: Option<Vec<String>> = sources.iter().flatten().map(|source| source.known().cloned()).collect();
    known.map_or(Input::Unknown, Input::Known)
}

/// The invoke URI of the function of an authorizer.
pub(in crate::topology::http_gateway) fn uri(
    name: &str,
    entry: &FaasAuthorizer,
    scope: &Scope,
) -> Result<Input<String>, Problem> {
    let function = match (&entry.authorizer_uri, &entry.authorizer_name) {
        (Input::Known(Some(uri)), _) => return Ok(Input::Known(uri.clone())),
        (Input::Unknown, _) | (_, Input::Unknown) => return Ok(Input::Unknown),
        (Input::Known(None), Input::Known(function)) => function,
    };
    let path = AttributePath::new("faas_authorizers").key(name).attribute("authorizer_name");
    if function.starts_with("arn:") {
        let arn = FunctionArn::parse(function)
            .map_err(|problem| Problem::new(path, problem, "Use the ARN of a function."))?;
        return Ok(Input::Known(arn.invoke_uri()));
    }
    let (function_name, qualifier) = parse_short(function)
        .map_err(|problem| Problem::new(path.clone(), problem, "Use the name or ARN of a function."))?;
    let Some(account) = &scope.account else {
        return Err(Problem::new(
            path,
            format!(
                "The function name {function:?} contains no account ID, and the provider does not request that of its \
                 own account."
            ),
            "Use the ARN of the function, or remove skip_requesting_account_id from the provider block.",
        ));
    };
    let arn = FunctionArn {
        partition: scope.partition.clone(),
        region: scope.region.clone(),
        account: account.clone(),
        name: function_name,
        qualifier,
    };
    Ok(Input::Known(arn.invoke_uri()))
}
