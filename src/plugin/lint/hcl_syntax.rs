//! Expressions in the native syntax.

use std::collections::{BTreeMap, BTreeSet};

use hcl_edit::expr::{self, ObjectKey, TraversalOperator};
use hcl_edit::structure::{Block, Body, Structure};
use hcl_edit::template::{Element, Template};
use hcl_edit::visit::{self, Visit};
use hcl_edit::{Span, parser};

use super::expression::{Call, Entry, Expression, For, Place, Step};
use super::lenient::{self, Parsed};

/// The content of a file. The error is a line and a message. Adds the names that its expressions read to `reads`.
pub(super) fn file(text: &str, file: usize, reads: &mut BTreeSet<String>) -> Result<Expression, (usize, String)> {
    let without_mark = text.trim_start_matches('\u{feff}');
    let Parsed { body, redefined } = lenient::parse(without_mark)?;
    Reads(reads).visit_body(&body);
    Ok(Reader { file, at: Position::After(text.len() - without_mark.len()), redefined }.body(&body))
}

/// A string of the JSON syntax, which is a template. `None` if it is not valid.
pub(super) fn template(text: &str, place: Place, reads: &mut BTreeSet<String>) -> Option<Expression> {
    let template = parser::parse_template(text).ok()?;
    Reads(reads).visit_template(&template);
    Some(Reader { file: place.file, at: Position::Fixed(place.offset), redefined: BTreeMap::new() }.template(&template))
}

/// A type constraint, which the JSON syntax has in a string. `None` if it is not valid.
pub(super) fn constraint(text: &str, place: Place) -> Option<Expression> {
    let parsed = parser::parse_expr(text).ok()?;
    Some(Reader { file: place.file, at: Position::Fixed(place.offset), redefined: BTreeMap::new() }.expression(&parsed))
}

/// Collects the names that expressions read from other values.
struct Reads<'a>(&'a mut BTreeSet<String>);

impl Visit for Reads<'_> {
    fn visit_traversal_operator(&mut self, operator: &TraversalOperator) {
        match operator {
            TraversalOperator::GetAttr(name) => _ = self.0.insert(name.to_string()),
            TraversalOperator::Index(expr::Expression::String(name)) => _ = self.0.insert(name.to_string()),
            _ => {}
        }
        visit::visit_traversal_operator(self, operator);
    }

    fn visit_func_call(&mut self, call: &expr::FuncCall) {
        if let ("lookup", Some(expr::Expression::String(name))) = (call.name.name.as_str(), call.args.get(1)) {
            self.0.insert(name.to_string());
        }
        visit::visit_func_call(self, call);
    }
}

/// Where the parsed text is in its file.
#[derive(Clone, Copy)]
enum Position {
    /// After this number of bytes.
    After(usize),
    /// In a string that begins here. Its escape sequences make other offsets wrong.
    Fixed(usize),
}

struct Reader {
    file: usize,
    at: Position,
    /// The first letters of keys that are changed, by offset.
    redefined: BTreeMap<usize, char>,
}

impl Reader {
    fn place(&self, node: &impl Span) -> Place {
        let offset = match self.at {
            Position::After(skipped) => skipped + node.span().map_or(0, |span| span.start),
            Position::Fixed(offset) => offset,
        };
        Place { file: self.file, offset }
    }

    fn body(&self, body: &Body) -> Expression {
        Expression::Object(
            body.iter()
                .map(|structure| match structure {
                    Structure::Attribute(attribute) => Entry {
                        key: Some(attribute.key.to_string()),
                        place: self.place(&attribute.key),
                        value: self.expression(&attribute.value),
                    },
                    Structure::Block(block) => self.block(block),
                })
                .collect(),
        )
    }

    /// A block as in the JSON syntax: each label is the key of an object.
    fn block(&self, block: &Block) -> Entry {
        let place = self.place(&block.ident);
        let body = Expression::Tuple(vec![self.body(&block.body)]);
        let value = block.labels.iter().rev().fold(body, |value, label| {
            Expression::Object(vec![Entry { key: Some(label.as_str().to_string()), place, value }])
        });
        Entry { key: Some(block.ident.to_string()), place, value }
    }

    fn expression(&self, given: &expr::Expression) -> Expression {
        match given {
            expr::Expression::String(text) => Expression::Text(text.to_string()),
            expr::Expression::Array(items) => Expression::Tuple(self.each(items.iter())),
            expr::Expression::Object(object) => Expression::Object(
                object
                    .iter()
                    .map(|(key, value)| Entry {
                        key: self.literal_key(key),
                        place: self.place(key),
                        value: self.expression(value.expr()),
                    })
                    .collect(),
            ),
            expr::Expression::StringTemplate(template) => self.template(template),
            expr::Expression::Parenthesis(inner) => self.expression(inner.inner()),
            expr::Expression::Variable(name) => Expression::Variable(name.to_string()),
            expr::Expression::Conditional(condition) => Expression::Either(Box::new([
                self.expression(&condition.true_expr),
                self.expression(&condition.false_expr),
            ])),
            expr::Expression::FuncCall(call) => self.call(call),
            expr::Expression::Traversal(traversal) => Expression::Part(
                Box::new(self.expression(&traversal.expr)),
                traversal.operators.iter().map(|operator| step(operator.value())).collect(),
            ),
            expr::Expression::ForExpr(given) => Expression::For(Box::new(For {
                key: given.intro.key_var.as_ref().map(|name| name.to_string()),
                element: given.intro.value_var.to_string(),
                of: self.expression(&given.intro.collection_expr),
                result: self.expression(&given.value_expr),
                is_filtered: given.cond.is_some(),
                is_grouped: given.grouping,
                is_object: given.key_expr.is_some(),
            })),
            expr::Expression::Null(_)
            | expr::Expression::Bool(_)
            | expr::Expression::Number(_)
            | expr::Expression::HeredocTemplate(_)
            | expr::Expression::UnaryOp(_)
            | expr::Expression::BinaryOp(_) => Expression::Other,
        }
    }

    fn literal_key(&self, key: &ObjectKey) -> Option<String> {
        let name = match key {
            ObjectKey::Ident(name) => name.as_str(),
            ObjectKey::Expression(expr::Expression::String(text)) => text.as_str(),
            ObjectKey::Expression(_) => return None,
        };
        let first = key.span().and_then(|span| self.redefined.get(&span.start));
        Some(first.map_or(name.to_string(), |first| format!("{first}{}", &name[1..])))
    }

    fn each<'a>(&self, items: impl Iterator<Item = &'a expr::Expression>) -> Vec<Expression> {
        items.map(|item| self.expression(item)).collect()
    }

    fn call(&self, call: &expr::FuncCall) -> Expression {
        // A function of a provider may return anything.
        if call.name.namespace.iter().any(|part| part.as_str() != "core") {
            return Expression::Other;
        }
        let (function, mut arguments) = (call.name.name.as_str(), self.each(call.args.iter()));
        match (function, arguments.as_mut_slice()) {
            ("element" | "one", [collection, ..]) => part(collection, Step::Element),
            ("lookup", [map, key, ..]) => {
                let step = key.as_text().map_or(Step::Element, |key| Step::Name(key.to_string()));
                arguments[0] = part(map, step);
                arguments.remove(1);
                Expression::Call(Call { function: "try".to_string(), arguments, expands_last: false })
            }
            _ => {
                let expands_last = call.args.expand_final();
                Expression::Call(Call { function: function.to_string(), arguments, expands_last })
            }
        }
    }

    /// A template with nothing but one expression is the value of that expression.
    fn template(&self, template: &Template) -> Expression {
        match template.as_single_element() {
            Some(Element::Interpolation(inner)) => self.expression(&inner.expr),
            Some(Element::Literal(text)) => Expression::Text(text.to_string()),
            _ => Expression::Other,
        }
    }
}

/// Takes a value, and returns its part.
fn part(value: &mut Expression, step: Step) -> Expression {
    Expression::Part(Box::new(std::mem::replace(value, Expression::Other)), vec![step])
}

fn step(operator: &TraversalOperator) -> Step {
    match operator {
        TraversalOperator::GetAttr(name) => Step::Name(name.to_string()),
        TraversalOperator::LegacyIndex(index) => usize::try_from(**index).map_or(Step::Element, Step::Index),
        TraversalOperator::Index(expr::Expression::String(name)) => Step::Name(name.to_string()),
        TraversalOperator::Index(expr::Expression::Number(number)) => {
            number.as_u64().and_then(|index| usize::try_from(index).ok()).map_or(Step::Element, Step::Index)
        }
        TraversalOperator::Index(_) => Step::Element,
        TraversalOperator::AttrSplat(_) | TraversalOperator::FullSplat(_) => Step::Splat,
    }
}
