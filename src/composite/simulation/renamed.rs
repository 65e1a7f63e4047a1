//! Keys that change. The provider knows an object by its key, and AWS by its ID, so the simulated account follows.

use crate::composite::renamed::with_keys;
use crate::model::keys::gateway::{AUTHORIZER, AUTHORIZER_PERMISSION};
use crate::model::{Caller, Identity, Ids, Key, Object, Spec, authorizer_name};

use super::Simulation;

impl Simulation {
    /// Gives the objects with these IDs the keys by which an operation knows them.
    pub(super) fn follow(&self, ids: &Ids, own: Option<(&Key, &str)>) {
        let needed = ids.iter().map(|(key, resolved)| (key.clone(), resolved.id.clone()));
        self.follow_keys(needed.chain(own.map(|(key, id)| (key.clone(), id.to_string()))));
    }

    /// The same for other keys.
    pub(super) fn follow_keys(&self, keys: impl IntoIterator<Item = (Key, String)>) {
        let mut moves: Vec<(Key, Key)> = Vec::new();
        {
            let (objects, ids) = (self.objects(), self.ids.lock().unwrap());
            for (key, id) in keys {
                let is_it = |it: &&Object| {
                    let identity = it.spec.identity();
                    ids[&it.key] == id && [&it.key, &key].iter().all(|key| identity.name_in(&key.slot).is_some())
                };
                let Some(from) = objects.iter().find(is_it).map(|it| it.key.clone()) else { continue };
                // The account alone knows whether it has failed.
                let to = Key { has_failed: from.has_failed, ..key };
                moves.extend((from != to).then_some((from, to)));
            }
            // What has such a key makes room until an operation names it.
            let held = |key: &Key| objects.iter().any(|it| it.key == *key);
            for (from, to) in moves.clone() {
                if held(&to) && !moves.iter().any(|(other, _)| *other == to) {
                    let mut free = from;
                    while let Some((before, _)) = moves.iter().find(|(_, to)| *to == free) {
                        free = before.clone();
                    }
                    moves.push((to, free));
                }
            }
        }
        if !moves.is_empty() {
            self.move_keys(&moves);
        }
    }

    fn move_keys(&self, moves: &[(Key, Key)]) {
        let now = |key: &Key| moves.iter().find(|(from, _)| from == key).map_or(key, |(_, to)| to).clone();
        for object in self.objects().iter_mut() {
            object.key = now(&object.key);
            object.spec = with_keys(&object.spec, moves).expect("a spec has a text form");
        }
        for map in [&self.ids, &self.targets, &self.created_for] {
            let mut map = map.lock().unwrap();
            let moved: Vec<_> = moves.iter().filter_map(|(from, to)| Some((to.clone(), map.remove(from)?))).collect();
            map.extend(moved);
        }
    }

    /// Gives the objects the slots in their tags, in which they are if nothing else is known of them. Authorizers have
    /// none, and are found by their names.
    pub(super) fn follow_tags(&self) {
        let tags = self.tagged_as.lock().unwrap().clone();
        self.follow_slots(|object, id| match authorizer_name(&object.spec) {
            Some(name) => Some(format!("{AUTHORIZER}{name}")),
            None => object.spec.tags().and(tags.get(id).cloned()),
        });
    }

    /// The same for other slots. The permission of an authorizer follows it.
    pub(super) fn follow_slots(&self, slot: impl Fn(&Object, &str) -> Option<String>) {
        let keys_of = |of: &dyn Fn(&Object, &str) -> Option<String>| -> Vec<(Key, String)> {
            let (objects, ids) = (self.objects(), self.ids.lock().unwrap());
            let key = |it: &Object| {
                let id = ids[&it.key].clone();
                Some((it.spec.key_in(&it.key, of(it, &id)?), id))
            };
            objects.iter().filter_map(key).collect()
        };
        let is_led = |it: &Object| matches!(it.spec.identity(), Identity::Entry { .. }) && it.spec.tags().is_none();
        self.follow_keys(keys_of(&|it, id| slot(it, id).filter(|_| !is_led(it))));
        self.follow_keys(keys_of(&|it, _| match &it.spec {
            Spec::LambdaPermission(permission) => match &permission.caller {
                Caller::Authorizer(key) => {
                    Some(format!("{AUTHORIZER_PERMISSION}{}", key.slot.strip_prefix(AUTHORIZER)?))
                }
                Caller::Routes | Caller::LogGroup(_) => None,
            },
            _ => None,
        }));
    }

    /// The slots in the tags of the objects that have another one in the account.
    pub(crate) fn old_tags(&self) -> Vec<String> {
        let (objects, ids, tags) = (self.objects(), self.ids.lock().unwrap(), self.tagged_as.lock().unwrap());
        let old = |it: &Object| tags.get(&ids[&it.key]).filter(|slot| **slot != it.key.slot).cloned();
        objects.iter().filter_map(old).collect()
    }
}
