//! Compares the names of literal objects with those of the schema.

use std::cell::Cell;
use std::collections::BTreeMap;
use std::path::PathBuf;

use super::Schemas;
use super::configuration::Configuration;
use super::expression::{Entry, Expression, Place};
use super::modules::{Kind, argument};
use super::scope::{Caller, Scope};
use super::shape::{Names, Shape};
use crate::plugin::nearest;
use crate::plugin::{Attribute, AttributeType, Mode};

/// The state of a check.
pub(super) struct Checker<'a> {
    schemas: &'a Schemas,
    configuration: &'a Configuration,
    /// The texts by position. Several instances of a module have the same positions.
    findings: BTreeMap<Place, String>,
}

/// What Terraform does with a name that the schema does not have.
#[derive(Clone, Copy)]
enum Unknown {
    /// It rejects the name in a block.
    Rejected,
    /// It drops the name from the value of an attribute.
    Dropped,
}

/// An object or block to compare.
struct Target<'t> {
    /// The address of its resource.
    address: &'t str,
    /// Its path in the resource.
    path: String,
}

impl Target<'_> {
    fn attribute(&self, name: &str) -> Self {
        let dot = if self.path.is_empty() { "" } else { "." };
        Target { path: format!("{}{dot}{name}", self.path), ..*self }
    }

    fn element(&self, key: Option<&str>) -> Self {
        let key = key.map_or("*".to_string(), |key| format!("{key:?}"));
        Target { path: format!("{}[{key}]", self.path), ..*self }
    }
}

impl<'a> Checker<'a> {
    pub(super) fn new(schemas: &'a Schemas, configuration: &'a Configuration) -> Checker<'a> {
        Checker { schemas, configuration, findings: BTreeMap::new() }
    }

    pub(super) fn findings(self) -> impl Iterator<Item = (Place, String)> {
        self.findings.into_iter()
    }

    pub(super) fn check_root(&mut self) {
        let (root, left) = (self.configuration.root.clone(), Cell::new(0));
        if let Some(module) = self.configuration.modules.get(&root) {
            self.check_module(&mut vec![root], Scope::new(module, None, &left), "");
        }
    }

    /// Checks a module as called. `stack` has the directories of its callers and, last, its own.
    fn check_module(&mut self, stack: &mut Vec<PathBuf>, scope: Scope<'_>, prefix: &str) {
        let (schemas, configuration) = (self.schemas, self.configuration);
        for block in &scope.module.checked {
            let attributes = match block.kind {
                Kind::Resource => schemas.resources.get(&block.of_type),
                Kind::Data => schemas.data_sources.get(&block.of_type),
                Kind::Provider => Some(&schemas.provider),
                Kind::Module => None,
            };
            let Some(attributes) = attributes else { continue };
            let target = Target { address: &format!("{prefix}{}", block.address()), path: String::new() };
            scope.with_iterator("each", block.argument("for_each"), &mut |scope| {
                self.check_body(attributes, &block.body, &target, scope);
            });
        }
        let directory = stack.last().cloned().unwrap_or_default();
        for call in &scope.module.calls {
            let called = configuration.called(call, &directory);
            let Some((called, module)) = called.and_then(|it| configuration.modules.get_key_value(&it)) else {
                continue;
            };
            // Terraform rejects a module that calls itself.
            if stack.contains(called) {
                continue;
            }
            stack.push(called.clone());
            scope.with_iterator("each", call.argument("for_each"), &mut |outer| {
                let caller = Caller { arguments: &call.body, scope: outer };
                let inner = Scope::new(module, Some(&caller), outer.left);
                self.check_module(stack, inner, &format!("{prefix}{}.", call.address()));
            });
            stack.pop();
        }
    }

    /// Checks the body of a block. The names of the outermost block are left to Terraform, which has names of its own
    /// there.
    fn check_body(&mut self, attributes: &[Attribute], body: &[Entry], target: &Target<'_>, scope: Scope<'_>) {
        for entry in body {
            let Some(name) = &entry.key else { continue };
            match attributes.iter().find(|it| it.name == *name) {
                Some(attribute) => self.check_argument(attribute, &entry.value, &target.attribute(name), scope),
                None if name == "dynamic" => self.check_dynamic(attributes, &entry.value, target, scope),
                None if target.path.is_empty() => {}
                None => self.report(Unknown::Rejected, entry, Names::Attributes(attributes), target, scope),
            }
        }
    }

    fn check_argument(&mut self, attribute: &Attribute, value: &Expression, target: &Target<'_>, scope: Scope<'_>) {
        match (attribute.mode, &attribute.kind) {
            (Mode::Block, AttributeType::Nested(_, nested)) => {
                value.bodies().for_each(|body| self.check_body(nested, body, target, scope));
            }
            (_, kind) => self.check_value(value, Shape::of(kind), target, scope.renewed()),
        }
    }

    /// Checks the bodies that dynamic blocks generate.
    fn check_dynamic(&mut self, attributes: &[Attribute], value: &Expression, target: &Target<'_>, scope: Scope<'_>) {
        for entry in value.bodies().flatten() {
            let Some(attribute) = attributes.iter().find(|it| Some(&it.name) == entry.key.as_ref()) else { continue };
            for body in entry.value.bodies() {
                let iterator = match argument(body, "iterator") {
                    Some(Expression::Variable(name) | Expression::Text(name)) => name,
                    _ => &attribute.name,
                };
                let Some(content) = argument(body, "content") else { continue };
                scope.with_iterator(iterator, argument(body, "for_each"), &mut |scope| {
                    self.check_argument(attribute, content, &target.attribute(&attribute.name), scope);
                });
            }
        }
    }

    fn check_value(&mut self, value: &Expression, shape: Shape<'_>, target: &Target<'_>, scope: Scope<'_>) {
        match shape {
            Shape::Object(names) => scope.objects(value, &mut |entries, scope| {
                for entry in entries {
                    let Some(name) = &entry.key else { continue };
                    match names.get(name) {
                        Some(shape) => self.check_value(&entry.value, shape, &target.attribute(name), scope),
                        None => self.report(Unknown::Dropped, entry, names, target, scope),
                    }
                }
            }),
            Shape::Collection(elements) => {
                let shape = elements.shape();
                if !matches!(shape, Shape::Plain) {
                    scope.elements(value, &mut |key, element, scope| {
                        self.check_value(element, shape, &target.element(key), scope);
                    });
                }
            }
            Shape::Plain => {}
        }
    }

    fn report(&mut self, unknown: Unknown, entry: &Entry, names: Names<'_>, target: &Target<'_>, scope: Scope<'_>) {
        let Some(name) = &entry.key else { return };
        // A name that the configuration reads itself is no misspelling. "//" is the key of a comment in JSON.
        if name == "//" || (!scope.is_direct && self.configuration.reads.contains(name)) {
            return;
        }
        let settable = names.settable();
        let hint = match nearest(name, &settable) {
            Some(nearest) => format!("Did you mean {nearest:?}?"),
            None => format!("Its names are {}.", settable.join(", ")),
        };
        let Target { address, path } = target;
        let text = match unknown {
            Unknown::Rejected => format!("{address}: {path} has no argument {name:?}. {hint}"),
            Unknown::Dropped => {
                format!("{address}: {path} has no attribute {name:?}, which Terraform drops without an error. {hint}")
            }
        };
        self.findings.entry(entry.place).or_insert(text);
    }
}
