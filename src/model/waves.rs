//! A blueprint as text: its objects grouped by wave. All objects of a wave can be created concurrently.

use super::{Key, Object};
use crate::plugin::Input;

/// The objects grouped by wave, as text. Objects with dependencies that cannot be satisfied are at the end, under
/// `never`.
pub fn waves(objects: &[Object]) -> String {
    let (waves, never) = in_waves(objects);
    let mut text = String::new();
    for (number, wave) in (1..).zip(waves) {
        text.push_str(&format!("wave {number}\n"));
        text.extend(wave.into_iter().map(|object| line(&object.key)));
    }
    if !never.is_empty() {
        text.push_str("never\n");
        text.extend(never.into_iter().map(|object| line(&object.key)));
    }
    text
}

/// The objects by wave, and those with dependencies that cannot be satisfied (a key that no object has, or a cycle). A
/// wave contains the objects whose dependencies are all in earlier waves.
pub fn in_waves(objects: &[Object]) -> (Vec<Vec<&Object>>, Vec<&Object>) {
    let mut waves: Vec<Vec<&Object>> = Vec::new();
    let mut created: Vec<&Key> = Vec::new();
    let mut waiting: Vec<&Object> = objects.iter().collect();
    loop {
        let (ready, rest): (Vec<&Object>, Vec<&Object>) =
            waiting.into_iter().partition(|object| dependencies(object).iter().all(|key| created.contains(&key)));
        if ready.is_empty() {
            return (waves, rest);
        }
        created.extend(ready.iter().map(|object| &object.key));
        waves.push(ready);
        waiting = rest;
    }
}

/// The keys of all dependencies of an object.
fn dependencies(object: &Object) -> Vec<Key> {
    let needs = object.spec.needs().into_iter().map(|need| need.key);
    needs.chain(object.after.iter().cloned()).collect()
}

fn line(key: &Key) -> String {
    match &key.fixed {
        Input::Known(fixed) if fixed.is_empty() => format!("  {key}\n"),
        Input::Known(fixed) => format!("  {key} ({fixed})\n"),
        Input::Unknown => format!("  {key} (known after apply)\n"),
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Eip, InternetGateway, Spec};
    use super::*;
    use crate::model::keys::network as keys;

    #[test]
    fn object_with_missing_dependency_is_never_created() {
        let gateway = Spec::InternetGateway(InternetGateway { vpc: None, ..InternetGateway::test() });
        let objects =
            [Object::new(keys::eip(0), Spec::Eip(Eip::test())), Object::new(keys::internet_gateway(), gateway)];
        assert_eq!(waves(&objects), "wave 1\n  internet_gateway\nnever\n  eip.0\n");
    }
}
