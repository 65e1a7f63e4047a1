//! The configurations of a test, which decide what statements of the guide the role of the provider has.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde_json::Value;

use super::Needed;

/// All configurations so far. An object may outlive the configuration that needed it. Without any, a role has all
/// statements: then the test makes calls without a configuration.
#[derive(Clone, Debug, Default)]
pub(crate) struct Configurations(Arc<Mutex<Texts>>);

#[derive(Debug, Default)]
struct Texts {
    /// With what the resources refer to, such as local values and variables of a module.
    files: BTreeSet<String>,
    /// What each resource sets itself.
    resources: BTreeSet<String>,
}

impl Configurations {
    /// Adds a file with HCL or JSON, if it has a resource of the provider or may have one of its inputs.
    pub(crate) fn add(&self, text: &str) {
        let mut texts = self.texts();
        texts.resources.extend(resources(text));
        texts.files.insert(text.to_owned());
    }

    /// A resource is read that is not in state, without a configuration that says so.
    pub(crate) fn add_import(&self) {
        self.add("import {}");
    }

    /// Whether one of the configurations needs a statement.
    pub(crate) fn need(&self, needed: Needed) -> bool {
        let texts = self.texts();
        texts.files.is_empty() || needed.by(&texts.files, &texts.resources)
    }

    fn texts(&self) -> MutexGuard<'_, Texts> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The resources of the provider in a file.
fn resources(text: &str) -> Vec<String> {
    const TYPES: [&str; 2] = ["fgw_four_tier_vpc", "fgw_http_gateway"];
    match serde_json::from_str::<Value>(text) {
        Ok(json) => {
            let of_type = |name| json["resource"][name].as_object().into_iter().flat_map(|it| it.values());
            TYPES.iter().flat_map(|name| of_type(*name)).map(Value::to_string).collect()
        }
        Err(_) => {
            let is_ours = |it: &&str| TYPES.iter().any(|name| it.trim_start().starts_with(&format!("\"{name}\"")));
            format!("\n{text}").split("\nresource ").filter(is_ours).map(str::to_owned).collect()
        }
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn each_resource_is_looked_at_by_itself() {
        let two = "resource \"fgw_four_tier_vpc\" \"a\" {\n b = 0\n}\nresource \"fgw_four_tier_vpc\" \"c\" {\n}\n\
                   resource \"other\" \"d\" {\n}\n";
        assert_eq!(super::resources(two).len(), 2);
        let json = r#"{"resource":{"fgw_http_gateway":{"a":{"b":0},"c":{}},"other":{"d":{}}}}"#;
        assert_eq!(super::resources(json), [r#"{"b":0}"#, "{}"]);
        let configurations = super::Configurations::default();
        let (with, unless) = (super::Needed::If(&["b"], ""), super::Needed::Unless(&["b = 0"], ""));
        assert!(configurations.need(with) && configurations.need(unless), "without a configuration");
        configurations.add("locals {\n e = 1\n}\n");
        assert!(!configurations.need(with) && !configurations.need(unless));
        configurations.add(two);
        assert!(configurations.need(with) && configurations.need(unless));
    }
}
