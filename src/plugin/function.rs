//! The trait that a provider implements for each of its functions.

use super::{Type, Value};

/// One function, which a configuration calls as `provider::acme::door_width(...)`.
///
/// It computes from its arguments alone: it needs no provider block, and gives the same for the same.
pub trait Function: Send + Sync + 'static {
    /// The name after `provider::<provider>::`, such as `door_width`.
    fn name(&self) -> &'static str;

    /// What it takes and gives. Asked for once and kept.
    fn signature(&self) -> Signature;

    /// Computes the result. The server calls it only with as many arguments as there are parameters, each of the type
    /// of its parameter, wholly known, and null only where the parameter may be.
    fn call(&self, arguments: &[Value]) -> Result<Value, FunctionError>;
}

/// What a function takes and gives.
#[derive(Clone, Debug)]
pub struct Signature {
    /// What it is for, in one line of plain text.
    pub summary: String,
    /// The same at length, in Markdown.
    pub description: String,
    /// What it takes, in the order of the arguments.
    pub parameters: Vec<Parameter>,
    /// What it gives.
    pub result: Type,
}

/// One parameter of a function.
#[derive(Clone, Debug)]
pub struct Parameter {
    /// Its name in messages and in the documentation.
    pub name: &'static str,
    /// Type of its values.
    pub kind: Type,
    /// Whether null has a meaning.
    pub nullable: bool,
    /// What it is for, in Markdown.
    pub description: String,
}

/// Why a call has no result.
#[derive(Clone, Debug, PartialEq)]
pub struct FunctionError {
    /// The argument at fault, counted from 0; `None` where none of them is by itself.
    pub argument: Option<usize>,
    /// What is wrong with it and what to do. Terraform puts it behind a colon.
    pub message: String,
}

impl FunctionError {
    /// A call that is wrong as a whole.
    pub fn new(message: impl Into<String>) -> FunctionError {
        FunctionError { argument: None, message: message.into() }
    }

    /// An argument that is wrong, counted from 0.
    pub fn of_argument(argument: usize, message: impl Into<String>) -> FunctionError {
        FunctionError { argument: Some(argument), message: message.into() }
    }
}
