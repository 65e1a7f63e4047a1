//! Reads the foreign objects that the user names in `adopt` of a managed gateway.

use std::collections::{BTreeMap, HashMap};
use std::mem::discriminant;

use super::logs::Logs;
use super::{View, dns, domain, policies};
use crate::aws::Session;
use crate::aws::apigateway::vpc_link;
use crate::aws::calls::ownership;
use crate::aws::lambda::permission::FunctionPolicy;
use crate::cloud::{Failure, Observed, Seen, Unmanaged};
use crate::model::keys::gateway as keys;
use crate::model::{Key, STACK, Spec};

/// An object that the user names: all that belongs to it, or why it cannot be managed. `None` if it does not exist.
type Named = Option<Result<Found, String>>;

/// An object with its tags.
struct Found {
    /// The object, and what is part of it or leads to it.
    objects: Vec<Observed>,
    tags: HashMap<String, String>,
}

impl View<'_> {
    /// Adds the objects that the user names, by ID with their slots. Takes a few calls for each of them.
    pub(super) async fn add_consented(
        mut self,
        session: &Session,
        consented: &BTreeMap<String, String>,
        seen: &mut Seen,
    ) -> Result<(), Failure> {
        let api_key = keys::api();
        for (id, slot) in consented {
            if seen.objects.iter().any(|it| it.id == *id && it.key.slot == *slot) {
                // Its tags have identified it.
                continue;
            }
            let named = match slot.as_str() {
                keys::LOG_GROUP => self.named_group(session, id, &api_key).await?,
                keys::DOMAIN => {
                    let stages = seen.objects.iter().filter(|it| matches!(it.spec, Spec::Stage(_)));
                    let stages: Vec<&str> = stages.map(|it| it.id.as_str()).collect();
                    self.named_domain(session, id, &stages, &api_key).await?
                }
                slot if slot.starts_with(keys::VPC_LINK) => self.named_link(session, id, slot, &api_key).await?,
                _ => Some(Err(format!(
                    "for an API that is managed already, adopt can name only {:?}, {:?} and VPC links, such as \
                     \"{}main\"",
                    keys::LOG_GROUP,
                    keys::DOMAIN,
                    keys::VPC_LINK
                ))),
            };
            let Some(named) = named else { continue };
            seen.unmanaged.retain(|it| it.id != *id);
            match named {
                Err(reason) => {
                    seen.unmanaged.push(Unmanaged { id: id.clone(), slot: None, is_tagged: false, reason });
                }
                Ok(found) => add(id, found, seen),
            }
        }
        Ok(())
    }

    async fn named_group(&mut self, session: &Session, name: &str, api_key: &Key) -> Result<Named, Failure> {
        self.logs = Logs::named(session, self.root_id, name).await?;
        let Some((_, tags)) = self.logs.tags().next() else { return Ok(None) };
        let tags = tags.clone();
        if let Some(reason) = self.reason_against_owner(&tags, keys::LOG_GROUP) {
            return Ok(Some(Err(reason)));
        }
        let functions = self.logs.functions().filter(|function| self.is_own(function));
        let places = functions.map(|function| FunctionPolicy::of_function(&function)).collect();
        self.policies = policies(session, places).await?;
        Ok(Some(Ok(Found { objects: self.access_logs(api_key), tags })))
    }

    async fn named_domain(
        &self,
        session: &Session,
        name: &str,
        stages: &[&str],
        api_key: &Key,
    ) -> Result<Named, Failure> {
        let place = (self.root_id, stages);
        let Some(found) = domain::named(session, name, self.owner.resource).await? else { return Ok(None) };
        let tags = found.tags().cloned().unwrap_or_default();
        let reason = self.reason_against_owner(&tags, keys::DOMAIN);
        if let Some(reason) = reason.or_else(|| domain::reason_against_named(&found, place)) {
            return Ok(Some(Err(reason)));
        }
        let mut objects = domain::everything([&found], place, api_key);
        objects.extend(dns::imported(session, &objects).await?);
        Ok(Some(Ok(Found { objects, tags })))
    }

    async fn named_link(&self, session: &Session, id: &str, slot: &str, api_key: &Key) -> Result<Named, Failure> {
        let Some(shown) = vpc_link::get(session, id).await? else { return Ok(None) };
        let Some(link) = vpc_link::under(&shown, slot, api_key) else { return Ok(None) };
        let tags = shown.tags.unwrap_or_default();
        Ok(Some(match self.reason_against_owner(&tags, slot) {
            Some(reason) => Err(reason),
            None if link.key.has_failed => Err("it has failed, and never serves a request".to_string()),
            None => Ok(Found { objects: vec![link], tags }),
        }))
    }

    /// Why the tags of an object forbid that this gateway manages it under this slot.
    fn reason_against_owner(&self, tags: &HashMap<String, String>, slot: &str) -> Option<String> {
        ownership::reason_against(self.owner.resource, slot, |key| tags.get(key).map(String::as_str))
    }
}

/// Adds an object with what belongs to it, except what state contains.
fn add(id: &str, found: Found, seen: &mut Seen) {
    let Found { objects, tags } = found;
    let is_seen = |new: &Observed| {
        seen.objects.iter().any(|it| it.id == new.id && discriminant(&it.spec) == discriminant(&new.spec))
    };
    let new: Vec<Observed> = objects.into_iter().filter(|object| !is_seen(object)).collect();
    seen.objects.extend(new);
    if !tags.contains_key(ownership::RESOURCE) {
        seen.untagged.insert(id.to_string());
        seen.stacks.extend(tags.get(STACK).map(|stack| (id.to_string(), stack.clone())));
    }
}

#[cfg(test)]
mod tests;
