//! Expressions of both syntaxes, reduced to what says where literal objects are used.

/// A position in a file of the configuration.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Place {
    /// Its index in the list of files.
    pub(super) file: usize,
    /// In bytes, from the start of the file.
    pub(super) offset: usize,
}

/// An expression.
#[derive(Clone, Debug)]
pub(super) enum Expression {
    /// Also a block body: a nested block is an entry with a tuple of its bodies.
    Object(Vec<Entry>),
    Tuple(Vec<Expression>),
    For(Box<For>),
    /// The results of a condition.
    Either(Box<[Expression; 2]>),
    Call(Call),
    Variable(String),
    /// A part of a value.
    Part(Box<Expression>, Vec<Step>),
    /// A string without interpolation.
    Text(String),
    /// An expression that contains no object, or none that can be seen.
    Other,
}

/// An entry of an object.
#[derive(Clone, Debug)]
pub(super) struct Entry {
    /// `None` if it is not literal.
    pub(super) key: Option<String>,
    /// The position of the key.
    pub(super) place: Place,
    pub(super) value: Expression,
}

/// A `for` expression.
#[derive(Clone, Debug)]
pub(super) struct For {
    /// The variables for the key and for the element.
    pub(super) key: Option<String>,
    pub(super) element: String,
    pub(super) of: Expression,
    pub(super) result: Expression,
    /// Whether it has a condition.
    pub(super) is_filtered: bool,
    /// Whether the results with equal keys are a list.
    pub(super) is_grouped: bool,
    pub(super) is_object: bool,
}

/// A call of a function.
#[derive(Clone, Debug)]
pub(super) struct Call {
    pub(super) function: String,
    pub(super) arguments: Vec<Expression>,
    /// Whether the elements of the last argument are arguments themselves (`...`).
    pub(super) expands_last: bool,
}

/// A step to a part of a value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Step {
    /// To an attribute, or to an element with a literal key.
    Name(String),
    /// To an element with a literal index.
    Index(usize),
    /// To an element whose key is computed.
    Element,
    /// To a part of every element (`[*]`).
    Splat,
}

/// What the value of an argument of a function is for its result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Role {
    /// The result, or a part of it with the same type.
    Result,
    /// A collection with the result among its elements.
    Results,
}

impl Expression {
    /// The bodies of a block, of which JSON has one or a list, or the object that an expression is.
    pub(super) fn bodies(&self) -> impl Iterator<Item = &[Entry]> {
        let items = if let Expression::Tuple(items) = self { items.as_slice() } else { std::slice::from_ref(self) };
        items
            .iter()
            .filter_map(|item| if let Expression::Object(entries) = item { Some(entries.as_slice()) } else { None })
    }

    /// The same, by value.
    pub(super) fn into_bodies(self) -> Vec<Vec<Entry>> {
        let items = if let Expression::Tuple(items) = self { items } else { vec![self] };
        items
            .into_iter()
            .filter_map(|item| if let Expression::Object(entries) = item { Some(entries) } else { None })
            .collect()
    }

    pub(super) fn as_text(&self) -> Option<&str> {
        if let Expression::Text(text) = self { Some(text) } else { None }
    }

    /// A value of the type that a constraint describes: each collection has one element, and only names are known.
    pub(super) fn of_type(constraint: Expression) -> Expression {
        let Expression::Call(Call { function, arguments, .. }) = constraint else { return Expression::Other };
        let Some(first) = arguments.into_iter().next() else { return Expression::Other };
        match (function.as_str(), first) {
            ("object", Expression::Object(entries)) => Expression::Object(
                entries.into_iter().map(|entry| Entry { value: Expression::of_type(entry.value), ..entry }).collect(),
            ),
            ("tuple", Expression::Tuple(items)) => {
                Expression::Tuple(items.into_iter().map(Expression::of_type).collect())
            }
            ("optional", constraint) => Expression::of_type(constraint),
            ("list" | "set" | "map", constraint) => Expression::For(Box::new(For {
                key: None,
                element: String::new(),
                of: Expression::Other,
                result: Expression::of_type(constraint),
                is_filtered: true,
                is_grouped: false,
                is_object: function == "map",
            })),
            _ => Expression::Other,
        }
    }
}

impl Call {
    /// The arguments that are in the result.
    pub(super) fn operands(&self) -> impl Iterator<Item = (Role, &Expression)> {
        let count = self.arguments.len();
        let operands = match self.function.as_str() {
            "coalesce" | "coalescelist" | "concat" | "merge" | "setunion" | "try" => 0..count,
            "distinct" | "ephemeralasnull" | "nonsensitive" | "reverse" | "sensitive" | "setsubtract" | "slice"
            | "tolist" | "tomap" | "toset" | "values" => 0..1,
            "zipmap" => 1..2,
            _ => 0..0,
        };
        operands.filter_map(move |index| {
            let role = if self.expands_last && index + 1 == count { Role::Results } else { Role::Result };
            Some((role, self.arguments.get(index)?))
        })
    }
}
