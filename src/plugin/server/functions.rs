//! Function calls.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::{Server, decode};
use crate::plugin::printable::printable_lines;
use crate::plugin::proto::tfplugin6 as pb;
use crate::plugin::{Function, FunctionError, Parameter, Provider, Signature, Value, convert, msgpack, panics};

/// A function and its signature.
pub(super) struct PreparedFunction {
    function: Arc<dyn Function>,
    signature: Signature,
}

/// The functions of a provider, by name.
pub(super) fn all<P: Provider>(provider: &P) -> BTreeMap<String, PreparedFunction> {
    let prepare = |function: Arc<dyn Function>| {
        let signature = function.signature();
        (function.name().to_string(), PreparedFunction { function, signature })
    };
    provider.functions().into_iter().map(prepare).collect()
}

/// The error in protocol form. Terraform appends a period to the text.
pub(super) fn error(error: FunctionError) -> pb::FunctionError {
    let text = printable_lines(error.message.trim_end().trim_end_matches('.')).into_owned();
    pb::FunctionError { text, function_argument: error.argument.and_then(|argument| i64::try_from(argument).ok()) }
}

impl PreparedFunction {
    /// The signature in protocol form.
    pub(super) fn to_proto(&self) -> pb::Function {
        convert::function(&self.signature)
    }

    fn arguments(&self, given: Vec<pb::DynamicValue>) -> Result<Vec<Value>, FunctionError> {
        let Signature { parameters, variadic, .. } = &self.signature;
        if given.len() < parameters.len() || (variadic.is_none() && given.len() > parameters.len()) {
            let message = format!("expected {} arguments, got {}", parameters.len(), given.len());
            return Err(FunctionError::new(message));
        }
        let pairs = parameters.iter().chain(variadic.iter().cycle()).zip(given).enumerate();
        pairs.map(|(number, (parameter, value))| argument(number, parameter, value)).collect()
    }
}

fn argument(number: usize, parameter: &Parameter, value: pb::DynamicValue) -> Result<Value, FunctionError> {
    let value = decode(value, &parameter.kind).map_err(|problem| {
        let place = if problem.path.0.is_empty() { String::new() } else { format!("{}: ", problem.path) };
        FunctionError::of_argument(number, format!("{place}{} {}", problem.message, problem.hint))
    })?;
    match value.is_null() && !parameter.nullable {
        true => Err(FunctionError::of_argument(number, "the value must not be null")),
        false => Ok(value),
    }
}

fn panicked(message: &str) -> FunctionError {
    let hint = "This is a bug in the provider. Report it with this message.";
    FunctionError::new(format!("the provider failed unexpectedly: {message}\n\n{hint}"))
}

impl<P: Provider> Server<P> {
    /// Calls a function. A panic in the decoding or encoding becomes an error.
    pub(super) async fn evaluate_fenced(
        &self,
        request: pb::call_function::Request,
    ) -> Result<pb::DynamicValue, FunctionError> {
        panics::caught(self.evaluate(request)).await.unwrap_or_else(|message| Err(panicked(&message)))
    }

    /// Calls a function. If an argument contains unknown values, the result is unknown and the function is not called.
    async fn evaluate(&self, request: pb::call_function::Request) -> Result<pb::DynamicValue, FunctionError> {
        let name = request.name;
        let prepared = self.functions.get(&name);
        let prepared = prepared
            .ok_or_else(|| FunctionError::new(format!("this version of the provider has no function {name:?}")))?;
        let arguments = prepared.arguments(request.arguments)?;
        let result = match arguments.iter().all(Value::is_wholly_known) {
            false => Value::Unknown,
            true => {
                let function = prepared.function.clone();
                let called = self.run(async move { function.call(&arguments) }).await;
                called.map_err(|panic| panicked(&panic))??
            }
        };
        let (msgpack, problems) = msgpack::encode(&result, &prepared.signature.result);
        match problems.into_iter().next() {
            Some(problem) => {
                let message = format!("the provider returned an invalid value for {}", problem.path);
                Err(FunctionError::new(format!("{message}: {} {}", problem.message, problem.hint)))
            }
            None => Ok(pb::DynamicValue { msgpack, json: Vec::new() }),
        }
    }
}
