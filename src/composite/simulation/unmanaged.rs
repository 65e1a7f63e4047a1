//! Unmanaged routes of an API, what they use, and what AWS rejects because of them.

use std::collections::BTreeMap;

use super::Simulation;
use crate::cloud::{Cause, Dependent, Dependents, Failure, OpContext};
use crate::model::{
    ApiRoute, Authorization, AuthorizationType, Caller, Claim, Entry, Input, Key, Learned, Object, Ref, Spec,
    UnmanagedInApi, UnmanagedRoute, authorizer_name,
};

impl Simulation {
    /// Adds an unmanaged route, unless AWS rejects its key. Its integration and its authorizer are the objects with
    /// these slots, as far as they exist. Without an integration, it has one of its own, which calls the function b.
    pub(crate) fn add_unmanaged_route(&self, route_key: &str, integration: Option<&str>, authorizer: Option<&str>) {
        let spec = ApiRoute { route_key: route_key.into(), ..ApiRoute::test() };
        let claims = Spec::ApiRoute(spec).claims();
        let is_rejected = self.objects().iter().any(|object| Claim::any_collide(&object.spec.claims(), &claims));
        if is_rejected || self.id_at("api").is_none() || self.collides_with_unmanaged(&claims).is_some() {
            return;
        }
        let own = (format!("integration of {route_key}"), Some("b".to_string()));
        let (integration, function) = match integration.and_then(|slot| self.id_at(slot)) {
            Some(id) => (id, None),
            None => own,
        };
        self.unmanaged.lock().unwrap().routes.push(UnmanagedRoute {
            route_key: route_key.into(),
            id: format!("id of {route_key}"),
            integration: Some(integration),
            function: function.map(|name| format!("arn:aws:lambda:us-east-1:123456789012:function:{name}")),
            content: None,
            authorization: match (authorizer, authorizer.and_then(|slot| self.id_at(slot))) {
                (None, _) => Authorization::default(),
                (Some(_), None) => AuthorizationType::AwsIam.into(),
                (Some(_), Some(id)) => Authorization::custom(Ref::Id(id)),
            },
        });
    }

    /// Removes the unmanaged routes with this key.
    pub(crate) fn remove_unmanaged_route(&self, route_key: &str) {
        self.unmanaged.lock().unwrap().routes.retain(|route| route.route_key != route_key);
    }

    /// What each unmanaged route uses, by its key: the integration and the authorizer with its permission, and whether
    /// a statement allows API Gateway to call the function of the integration.
    pub(crate) fn answers_of_unmanaged_routes(&self) -> BTreeMap<String, (String, bool)> {
        let routes = self.unmanaged.lock().unwrap().routes.clone();
        let answer = |route: UnmanagedRoute| {
            let integration = route.integration.as_ref().and_then(|id| self.spec_with_id(id));
            let authorizer = route.authorizer().and_then(|id| self.spec_with_id(id));
            let function = match &integration {
                Some(Spec::Integration(it)) => it.function_to_allow().cloned(),
                _ => route.function.clone(),
            };
            let allowed = function.is_some_and(|function| self.is_allowed(&function, None));
            let checks = route.authorizer().is_some_and(|id| self.is_allowed_for_authorizer(id));
            let content = match integration {
                Some(Spec::Integration(it)) => format!("{:?}", it.content()),
                _ => String::new(),
            };
            (route.route_key, (format!("{content} {authorizer:?} {} {checks}", route.authorization), allowed))
        };
        routes.into_iter().map(answer).collect()
    }

    /// The spec of an object of the API, managed or released.
    fn spec_with_id(&self, id: &str) -> Option<Spec> {
        let ids = self.ids.lock().unwrap();
        let managed = self.objects().iter().find(|object| ids[&object.key] == id).map(|object| object.spec.clone());
        managed.or_else(|| self.released.lock().unwrap().get(id).cloned())
    }

    /// Whether a statement allows API Gateway to call a function for routes, or for an authorizer.
    fn is_allowed(&self, function: &str, authorizer: Option<&Key>) -> bool {
        let allows = |spec: &Spec| match spec {
            Spec::LambdaPermission(it) => match (&it.caller, authorizer) {
                (Caller::Routes, None) => it.function_arn == Input::Known(function.to_string()),
                (Caller::Authorizer(key), Some(wanted)) => key == wanted,
                _ => false,
            },
            _ => false,
        };
        self.objects().iter().any(|object| allows(&object.spec)) || self.released.lock().unwrap().values().any(allows)
    }

    fn is_allowed_for_authorizer(&self, id: &str) -> bool {
        let ids = self.ids.lock().unwrap().clone();
        let key = ids.iter().find(|(_, it)| *it == id).map(|(key, _)| key.clone());
        key.is_some_and(|key| self.is_allowed("", Some(&key)))
    }

    fn id_at(&self, slot: &str) -> Option<String> {
        self.ids_of(slot).into_iter().next()
    }

    /// The unmanaged route whose key AWS does not accept together with these claims.
    fn collides_with_unmanaged(&self, claims: &[Claim]) -> Option<String> {
        let collides = |route: &&UnmanagedRoute| {
            let route_key = route.route_key.clone();
            let spec = ApiRoute { route_key, ..ApiRoute::test() };
            Claim::any_collide(&Spec::ApiRoute(spec).claims(), claims)
        };
        self.unmanaged.lock().unwrap().routes.iter().find(collides).map(|route| route.route_key.clone())
    }

    /// The answer of AWS to a create or an update that unmanaged routes or authorizers do not allow.
    pub(super) fn refuse_for_unmanaged(&self, object: &Object) -> Result<(), Failure> {
        let conflict = |message: String| Err(Failure::new(Cause::Other, "Simulate", message));
        match &object.spec {
            Spec::ApiRoute(_) => match self.collides_with_unmanaged(&object.spec.claims()) {
                Some(other) => conflict(format!("ConflictException: {} and {other:?} conflict", object.key)),
                None => Ok(()),
            },
            spec @ (Spec::Authorizer(_) | Spec::JwtAuthorizer(_)) => {
                let wanted = authorizer_name(spec);
                let has_name = |spec: &Spec| authorizer_name(spec) == wanted;
                let is_taken = self.objects().iter().any(|it| it.key != object.key && has_name(&it.spec))
                    || self.released.lock().unwrap().values().any(has_name)
                    || self.unmanaged.lock().unwrap().authorizers.iter().any(|it| Some(it.name.as_str()) == wanted);
                match is_taken {
                    true => conflict(format!("Authorizer name must be unique: {wanted:?}")),
                    false => Ok(()),
                }
            }
            _ => Ok(()),
        }
    }

    /// The answer of AWS to the deletion of an object that unmanaged routes use.
    pub(super) fn refuse_while_used(&self, entry: &Entry) -> Result<(), Failure> {
        let unmanaged = self.unmanaged.lock().unwrap();
        match (&entry.applied, unmanaged.users(&entry.id).next()) {
            (Spec::Integration(_) | Spec::Authorizer(_) | Spec::JwtAuthorizer(_), Some(route)) => {
                let message = format!("Cannot delete it because it is referenced by the route {:?}", route.route_key);
                Err(Failure::new(Cause::InUse, "Simulate", message))
            }
            _ => Ok(()),
        }
    }

    /// Keeps an object that is no longer managed.
    pub(super) fn release(&self, id: &str, spec: &Spec) {
        if authorizer_name(spec).is_some() || matches!(spec, Spec::Integration(_) | Spec::LambdaPermission(_)) {
            self.released.lock().unwrap().insert(id.to_string(), spec.clone());
        }
    }

    /// Deletes the unmanaged objects with their API.
    pub(super) fn delete_with_root(&self, deleted: &Spec) {
        if matches!(deleted, Spec::Api(_)) {
            *self.unmanaged.lock().unwrap() = UnmanagedInApi::default();
            self.released.lock().unwrap().clear();
        }
    }

    /// Whether an existing unmanaged route equals the required one, so that a create adopts it. Returns its ID.
    pub(super) fn take_equal_route(&self, work: &OpContext<'_>, wanted: &Spec) -> Option<String> {
        let Spec::ApiRoute(wanted) = wanted else { return None };
        let id = |it: &Option<Ref>| it.as_ref().and_then(|it| work.ids.resolve(it)).map(str::to_string);
        let mut unmanaged = self.unmanaged.lock().unwrap();
        let is_equal = |route: &UnmanagedRoute| {
            route.route_key == wanted.route_key
                && route.integration == id(&wanted.integration)
                && route.authorization
                    == Authorization {
                        authorizer: id(&wanted.authorization.authorizer).map(Ref::Id),
                        ..wanted.authorization.clone()
                    }
        };
        let position = unmanaged.routes.iter().position(is_equal)?;
        Some(unmanaged.routes.remove(position).id)
    }

    /// Adds what a read learns of the unmanaged objects in an API.
    pub(super) fn learn_unmanaged(
        &self,
        (objects, ids): (&[Object], &BTreeMap<Key, String>),
        known: Option<&Entry>,
        learned: &mut Learned,
    ) {
        let mut all = self.unmanaged.lock().unwrap().clone();
        let spec = |id: &String| {
            let managed = objects.iter().find(|object| ids[&object.key] == *id).map(|object| object.spec.clone());
            managed.or_else(|| self.released.lock().unwrap().get(id).cloned())
        };
        for route in &mut all.routes {
            let spec = route.integration.as_ref().and_then(spec);
            if let Some(Spec::Integration(integration)) = spec {
                route.function = integration.function_to_allow().cloned();
                route.content = Some(integration.content());
            }
        }
        for (id, spec) in self.released.lock().unwrap().iter() {
            if let Some(name) = authorizer_name(spec) {
                let (name, id, content) = (name.to_string(), id.clone(), Some(spec.clone()));
                all.authorizers.push(crate::model::UnmanagedAuthorizer { name, id, content });
            }
        }
        all.learn(learned, known.map(|known| &known.learned));
    }

    /// The unmanaged routes of the API.
    pub(super) fn unmanaged_dependents(&self) -> Dependents {
        let dependent = |route: &UnmanagedRoute| Dependent {
            kind: "route",
            id: route.id.clone(),
            description: route.route_key.clone(),
            further: String::new(),
            owner: None,
            holds: Vec::new(),
            guardduty: Vec::new(),
        };
        let objects = self.unmanaged.lock().unwrap().routes.iter().map(dependent).collect();
        Dependents { objects, unseen: Vec::new() }
    }
}
