//! The blocks of one module.

use std::collections::BTreeMap;

use super::Schemas;
use super::expression::{Entry, Expression, Place};
use super::hcl_syntax;

/// A module: the blocks that the check needs.
#[derive(Default)]
pub(super) struct Module {
    /// The resources, data sources and provider blocks of the provider.
    pub(super) checked: Vec<Block>,
    /// The calls of other modules.
    pub(super) calls: Vec<Block>,
    /// The definitions of each local value. Terraform accepts more than one only in override files.
    locals: BTreeMap<String, Vec<Expression>>,
    variables: BTreeMap<String, Vec<Variable>>,
}

/// The type of a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Resource,
    Data,
    Provider,
    Module,
}

/// A block with a type and a name.
pub(super) struct Block {
    pub(super) kind: Kind,
    /// The first of two labels. Empty if it has one.
    pub(super) of_type: String,
    pub(super) name: String,
    pub(super) place: Place,
    pub(super) body: Vec<Entry>,
}

/// An input of a module.
pub(super) struct Variable {
    pub(super) default: Option<Expression>,
    /// A value with the names of its type constraint.
    pub(super) example: Expression,
}

impl Module {
    /// Reads the content of its files.
    pub(super) fn of(files: Vec<Expression>, schemas: &Schemas) -> Module {
        let mut module = Module::default();
        let mut providers = Vec::new();
        let mut sources = BTreeMap::new();
        for entry in files.into_iter().flat_map(Expression::into_bodies).flatten() {
            let place = entry.place;
            match entry.key.as_deref() {
                Some("resource") => module.add_typed(Kind::Resource, entry.value, &schemas.resources),
                Some("data") => module.add_typed(Kind::Data, entry.value, &schemas.data_sources),
                // A check block may contain a data source.
                Some("check") => {
                    for (_, _, body) in labelled(entry.value) {
                        for entry in body.into_iter().filter(|entry| entry.key.as_deref() == Some("data")) {
                            module.add_typed(Kind::Data, entry.value, &schemas.data_sources);
                        }
                    }
                }
                Some("provider") => providers.extend(blocks(Kind::Provider, "", entry.value)),
                Some("module") => module.calls.extend(blocks(Kind::Module, "", entry.value)),
                Some("locals") => {
                    for entry in entry.value.into_bodies().into_iter().flatten() {
                        let Some(name) = entry.key else { continue };
                        module.locals.entry(name).or_default().push(entry.value);
                    }
                }
                Some("variable") => {
                    for (name, _, body) in labelled(entry.value) {
                        module.variables.entry(name).or_default().push(Variable::of(body, place));
                    }
                }
                Some("terraform") => sources.extend(required_providers(&entry.value)),
                _ => {}
            }
        }
        let is_ours = |block: &Block| {
            let source = sources.get(&block.name).unwrap_or(&block.name);
            source.rsplit('/').next() == Some(&schemas.prefix)
        };
        module.checked.extend(providers.into_iter().filter(is_ours));
        module
    }

    fn add_typed<T>(&mut self, kind: Kind, value: Expression, types: &BTreeMap<String, T>) {
        for (of_type, value) in value.into_bodies().into_iter().flatten().filter_map(|it| Some((it.key?, it.value))) {
            if types.contains_key(&of_type) {
                self.checked.extend(blocks(kind, &of_type, value));
            }
        }
    }

    /// The value of a local value, if it is certain.
    pub(super) fn local(&self, name: &str) -> Option<&Expression> {
        if let [value] = self.locals.get(name)?.as_slice() { Some(value) } else { None }
    }

    pub(super) fn variable(&self, name: &str) -> Option<&Variable> {
        if let [variable] = self.variables.get(name)?.as_slice() { Some(variable) } else { None }
    }
}

impl Block {
    pub(super) fn argument(&self, name: &str) -> Option<&Expression> {
        argument(&self.body, name)
    }

    /// How Terraform names it.
    pub(super) fn address(&self) -> String {
        match self.kind {
            Kind::Resource => format!("{}.{}", self.of_type, self.name),
            Kind::Data => format!("data.{}.{}", self.of_type, self.name),
            Kind::Provider => format!("provider.{}", self.name),
            Kind::Module => format!("module.{}", self.name),
        }
    }
}

impl Variable {
    fn of(body: Vec<Entry>, place: Place) -> Variable {
        let mut variable = Variable { default: None, example: Expression::Other };
        for entry in body {
            match (entry.key.as_deref(), entry.value) {
                (Some("default"), value) => variable.default = Some(value),
                (Some("type"), Expression::Text(text)) => {
                    let constraint = hcl_syntax::constraint(&text, Place { offset: entry.place.offset, ..place });
                    variable.example = constraint.map_or(Expression::Other, Expression::of_type);
                }
                (Some("type"), constraint) => variable.example = Expression::of_type(constraint),
                _ => {}
            }
        }
        variable
    }
}

/// The value of an argument of a body, or the blocks with this name that come first.
pub(super) fn argument<'a>(body: &'a [Entry], name: &str) -> Option<&'a Expression> {
    body.iter().find(|entry| entry.key.as_deref() == Some(name)).map(|entry| &entry.value)
}

/// The blocks below a label.
fn blocks(kind: Kind, of_type: &str, value: Expression) -> impl Iterator<Item = Block> {
    labelled(value).map(move |(name, place, body)| Block { kind, of_type: of_type.to_string(), name, place, body })
}

/// The name, position and body of each block.
fn labelled(value: Expression) -> impl Iterator<Item = (String, Place, Vec<Entry>)> {
    value.into_bodies().into_iter().flatten().flat_map(|Entry { key, place, value }| {
        let bodies = value.into_bodies().into_iter();
        bodies.filter_map(move |body| Some((key.clone()?, place, body)))
    })
}

/// The source addresses in a `terraform` block, by local name.
fn required_providers(value: &Expression) -> BTreeMap<String, String> {
    let blocks = value.bodies().filter_map(|body| argument(body, "required_providers"));
    let entries = blocks.flat_map(Expression::bodies).flatten();
    entries
        .filter_map(|entry| {
            let source = entry.value.bodies().find_map(|body| argument(body, "source"))?.as_text()?;
            Some((entry.key.clone()?, source.to_string()))
        })
        .collect()
}
