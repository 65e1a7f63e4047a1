//! The literal objects that an expression may return, through references, functions and loops.

use std::cell::Cell;

use super::expression::{Entry, Expression, For, Role, Step};
use super::modules::Module;

/// The number of references that are followed from one to the next. Terraform rejects circles.
const LONGEST: usize = 32;

/// The number of references that are followed for one argument. References to references can multiply.
const MOST: usize = 100_000;

/// The names that an expression can refer to.
#[derive(Clone, Copy)]
pub(super) struct Scope<'a> {
    pub(super) module: &'a Module,
    /// `None` in the root module.
    caller: Option<&'a Caller<'a>>,
    binding: Option<&'a Binding<'a>>,
    /// Whether the expression was reached without a reference.
    pub(super) is_direct: bool,
    followed: usize,
    pub(super) left: &'a Cell<usize>,
}

/// The call of a module.
pub(super) struct Caller<'a> {
    pub(super) arguments: &'a [Entry],
    pub(super) scope: Scope<'a>,
}

/// A name for each element of a collection.
struct Binding<'a> {
    name: &'a str,
    /// Whether the element is its attribute `value`, as that of `each`.
    by_value: bool,
    /// The collection. `None` if its elements are not certain.
    of: Option<(&'a Expression, Scope<'a>)>,
    outer: Option<&'a Binding<'a>>,
}

/// Receives an expression and its scope.
type Found<'f> = &'f mut dyn FnMut(&Expression, Scope<'_>);

/// Receives the literal key of an element, the element and its scope.
type FoundElement<'f> = &'f mut dyn FnMut(Option<&str>, &Expression, Scope<'_>);

/// Receives the entries of a literal object and their scope.
type FoundObject<'f> = &'f mut dyn FnMut(&[Entry], Scope<'_>);

impl<'a> Scope<'a> {
    /// The scope of a module. `left` is the budget of a check, which [`Scope::renewed`] sets.
    pub(super) fn new(module: &'a Module, caller: Option<&'a Caller<'a>>, left: &'a Cell<usize>) -> Scope<'a> {
        Scope { module, caller, binding: None, is_direct: true, followed: 0, left }
    }

    /// The same for the next argument.
    pub(super) fn renewed(self) -> Scope<'a> {
        self.left.set(MOST);
        self
    }

    /// Calls `inner` with a scope that has a name for each element of a collection: `each`, or the iterator of a
    /// dynamic block.
    pub(super) fn with_iterator(self, name: &str, of: Option<&Expression>, inner: &mut dyn FnMut(Scope<'_>)) {
        let of = of.map(|of| (of, self));
        inner(Scope { binding: Some(&Binding { name, by_value: true, of, outer: self.binding }), ..self });
    }

    fn with_loop(self, given: &For, inner: &mut dyn FnMut(Scope<'_>)) {
        let key =
            Binding { name: given.key.as_deref().unwrap_or_default(), by_value: false, of: None, outer: self.binding };
        // Terraform does not use the elements that do not meet the condition.
        let of = (!given.is_filtered).then_some((&given.of, self));
        let element = Binding { name: &given.element, by_value: false, of, outer: Some(&key) };
        inner(Scope { binding: Some(&element), ..self });
    }

    /// The scope of a value that a reference leads to. `None` if there were too many references.
    fn behind_reference(self) -> Option<Scope<'a>> {
        let left = self.left.get().checked_sub(1)?;
        self.left.set(left);
        (self.followed < LONGEST).then_some(Scope { is_direct: false, followed: self.followed + 1, ..self })
    }

    /// Passes on each literal object that an expression may return.
    pub(super) fn objects(self, expression: &Expression, found: FoundObject<'_>) {
        match expression {
            Expression::Object(entries) => found(entries, self),
            Expression::Either(results) => results.iter().for_each(|result| self.objects(result, found)),
            Expression::Call(call) => {
                for (role, operand) in call.operands() {
                    match role {
                        Role::Result => self.objects(operand, found),
                        Role::Results => self.elements(operand, &mut |_, element, scope| scope.objects(element, found)),
                    }
                }
            }
            Expression::Variable(_) | Expression::Part(..) => {
                self.part(expression, &[], &mut |expression, scope| scope.objects(expression, found));
            }
            Expression::Tuple(_) | Expression::For(_) | Expression::Text(_) | Expression::Other => {}
        }
    }

    /// Passes on each element of a collection that an expression may return.
    pub(super) fn elements(self, expression: &Expression, found: FoundElement<'_>) {
        match expression {
            Expression::Object(entries) => {
                for entry in entries {
                    found(entry.key.as_deref(), &entry.value, self);
                }
            }
            Expression::Tuple(items) => items.iter().for_each(|item| found(None, item, self)),
            Expression::For(given) if given.is_grouped => {}
            Expression::For(given) => self.with_loop(given, &mut |scope| found(None, &given.result, scope)),
            Expression::Either(results) => results.iter().for_each(|result| self.elements(result, found)),
            Expression::Call(call) if call.function == "flatten" => {
                if let Some(list) = call.arguments.first() {
                    self.flattened(list, found);
                }
            }
            Expression::Call(call) => {
                for (role, operand) in call.operands() {
                    match role {
                        Role::Result => self.elements(operand, found),
                        Role::Results => {
                            self.elements(operand, &mut |_, element, scope| scope.elements(element, found));
                        }
                    }
                }
            }
            Expression::Variable(_) | Expression::Part(..) => {
                self.part(expression, &[], &mut |expression, scope| scope.elements(expression, found));
            }
            Expression::Text(_) | Expression::Other => {}
        }
    }

    /// Passes on each element of a list, and those of the lists in it.
    fn flattened(self, list: &Expression, found: FoundElement<'_>) {
        self.elements(list, &mut |key, element, scope| scope.flattened_element(key, element, found));
    }

    fn flattened_element(self, key: Option<&str>, element: &Expression, found: FoundElement<'_>) {
        match element {
            Expression::Tuple(_) => self.flattened(element, found),
            Expression::For(given) if !given.is_object => self.flattened(element, found),
            Expression::Either(results) => {
                results.iter().for_each(|result| self.flattened_element(key, result, found));
            }
            Expression::Call(call) if ["concat", "flatten", "values"].contains(&call.function.as_str()) => {
                self.flattened(element, found);
            }
            Expression::Variable(_) | Expression::Part(..) => self.part(element, &[], &mut |expression, scope| {
                scope.flattened_element(key, expression, found);
            }),
            _ => found(key, element, self),
        }
    }

    /// Passes on each expression that a part of a value may be. None of them is a reference.
    fn part(self, expression: &Expression, steps: &[&Step], found: Found<'_>) {
        match (expression, steps) {
            (Expression::Part(value, first), _) => {
                let steps: Vec<&Step> = first.iter().chain(steps.iter().copied()).collect();
                self.part(value, &steps, found);
            }
            (Expression::Variable(name), _) => self.referenced(name, steps, found),
            (_, []) => found(expression, self),
            (_, [Step::Splat, ..]) => {}
            (Expression::Either(results), _) => results.iter().for_each(|result| self.part(result, steps, found)),
            (Expression::Object(entries), [Step::Name(name), rest @ ..]) => {
                let named = entries.iter().rfind(|entry| entry.key.as_ref() == Some(name));
                if let Some(entry) = named {
                    self.part(&entry.value, rest, found);
                }
            }
            (Expression::Tuple(items), [Step::Index(index), rest @ ..]) => {
                if let Some(item) = items.get(*index) {
                    self.part(item, rest, found);
                }
            }
            // Each element may be meant.
            (Expression::Object(_) | Expression::Tuple(_) | Expression::Call(_), [Step::Element, rest @ ..])
            | (Expression::For(_), [_, rest @ ..]) => {
                self.elements(expression, &mut |_, element, scope| scope.part(element, rest, found));
            }
            _ => {}
        }
    }

    fn referenced(self, name: &str, steps: &[&Step], found: Found<'_>) {
        let Some(scope) = self.behind_reference() else { return };
        let bindings = std::iter::successors(self.binding, |binding| binding.outer);
        if let Some(binding) = bindings.into_iter().find(|binding| binding.name == name) {
            let rest = match (binding.by_value, steps) {
                (false, steps) => steps,
                (true, [Step::Name(value), rest @ ..]) if value == "value" => rest,
                (true, _) => return,
            };
            let Some((of, of_scope)) = binding.of else { return };
            let of_scope = Scope { is_direct: false, followed: scope.followed, ..of_scope };
            return of_scope.elements(of, &mut |_, element, scope| scope.part(element, rest, found));
        }
        let [Step::Name(named), rest @ ..] = steps else { return };
        let own = Scope { binding: None, ..scope };
        match name {
            "local" => {
                if let Some(value) = own.module.local(named) {
                    own.part(value, rest, found);
                }
            }
            "var" => own.input(named, rest, found),
            _ => {}
        }
    }

    /// The value of an input is the argument of the call or, without one, the default. Its type has names as well.
    fn input(self, name: &str, steps: &[&Step], found: Found<'_>) {
        let Some(variable) = self.module.variable(name) else { return };
        let argument = self.caller.and_then(|caller| {
            let given = caller.arguments.iter().find(|entry| entry.key.as_deref() == Some(name));
            given.map(|given| (&given.value, caller.scope))
        });
        match argument {
            Some((argument, scope)) => {
                let scope = Scope { is_direct: false, followed: self.followed, ..scope };
                scope.part(argument, steps, found);
            }
            None => {
                if let Some(default) = &variable.default {
                    self.part(default, steps, found);
                }
            }
        }
        self.part(&variable.example, steps, found);
    }
}
