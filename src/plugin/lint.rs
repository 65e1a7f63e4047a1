//! Names in the configuration of a directory that the schemas do not have. Terraform rejects such a name in a block,
//! but drops it without an error from an object that is the value of an attribute.
//!
//! Only literal objects are checked, wherever Terraform's functions and references pass them on unchanged. A value that
//! only a run of Terraform could compute is left out.

mod check;
mod configuration;
mod expression;
mod hcl_syntax;
mod json_syntax;
mod lenient;
mod modules;
mod scope;
mod shape;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::path::Path;

use super::{Attribute, Provider, printable};
use check::Checker;
use configuration::Configuration;

/// The result for a directory. Each text begins with a file and a line.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Lint {
    /// The names that a schema does not have, in the order of files and lines.
    pub findings: Vec<String>,
    /// The reasons why a part of the configuration could not be read.
    pub errors: Vec<String>,
}

/// The attributes of the blocks of a provider, by type.
#[derive(Default)]
struct Schemas {
    /// The provider's usual local name, with which the names of its types begin.
    prefix: String,
    provider: Vec<Attribute>,
    resources: BTreeMap<String, Vec<Attribute>>,
    data_sources: BTreeMap<String, Vec<Attribute>>,
}

impl Schemas {
    fn of(provider: &impl Provider) -> Schemas {
        let resources: BTreeMap<_, _> =
            provider.resources().iter().map(|it| (it.type_name().to_string(), it.schema().attributes)).collect();
        let data_sources: BTreeMap<_, _> =
            provider.data_sources().iter().map(|it| (it.type_name().to_string(), it.schema().attributes)).collect();
        let first = resources.keys().chain(data_sources.keys()).next();
        let prefix = first.and_then(|name| name.split('_').next()).unwrap_or_default().to_string();
        Schemas { prefix, provider: provider.schema().attributes, resources, data_sources }
    }
}

/// Checks the configuration in a directory and in its local modules.
pub fn lint(provider: &impl Provider, directory: &Path) -> Lint {
    lint_with(&Schemas::of(provider), directory)
}

fn lint_with(schemas: &Schemas, directory: &Path) -> Lint {
    let configuration = Configuration::read(schemas, directory);
    let mut checker = Checker::new(schemas, &configuration);
    checker.check_root();
    let text = |(place, text): (_, String)| printable(&format!("{}: {text}", configuration.position(place))).into();
    Lint { findings: checker.findings().map(text).collect(), errors: configuration.errors }
}
