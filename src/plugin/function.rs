//! The trait that a provider implements for each of its functions.

use super::{Type, Value};

/// A function, which a configuration calls as `provider::acme::door_width(...)`.
///
/// The result depends only on the arguments: the same arguments give the same result, without a provider block.
pub trait Function: Send + Sync + 'static {
    /// The name after `provider::<provider>::`, such as `door_width`.
    fn name(&self) -> &'static str;

    /// The parameters and the type of the result. Called once; the server keeps the signature.
    fn signature(&self) -> Signature;

    /// Computes the result. The server passes one argument for each parameter, and any number for the variadic one: of
    /// the type of the parameter, wholly known, and null only if the parameter is nullable.
    fn call(&self, arguments: &[Value]) -> Result<Value, FunctionError>;
}

/// The parameters of a function and the type of its result.
#[derive(Clone, Debug)]
pub struct Signature {
    /// A summary in one line of plain text.
    pub summary: String,
    /// A full description, in Markdown.
    pub description: String,
    /// The parameters, in the order of the arguments.
    pub parameters: Vec<Parameter>,
    /// The parameter of any number of further arguments. Terraform has no other optional ones.
    pub variadic: Option<Parameter>,
    /// Type of the result.
    pub result: Type,
}

/// One parameter of a function.
#[derive(Clone, Debug)]
pub struct Parameter {
    /// Name in messages and in the documentation.
    pub name: &'static str,
    /// Type of the argument.
    pub kind: Type,
    /// Whether the argument may be null.
    pub nullable: bool,
    /// A description, in Markdown.
    pub description: String,
}

/// The error of a function call.
#[derive(Clone, Debug, PartialEq)]
pub struct FunctionError {
    /// The invalid argument, counted from 0. `None` if no single argument is invalid.
    pub argument: Option<usize>,
    /// The cause, and what to do. Terraform prints it after a colon.
    pub message: String,
}

impl FunctionError {
    /// An error of the call as a whole.
    pub fn new(message: impl Into<String>) -> FunctionError {
        FunctionError { argument: None, message: message.into() }
    }

    /// An error of one argument, counted from 0.
    pub fn of_argument(argument: usize, message: impl Into<String>) -> FunctionError {
        FunctionError { argument: Some(argument), message: message.into() }
    }
}
