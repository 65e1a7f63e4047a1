//! Calls of functions.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::{Server, decode};
use crate::plugin::proto::tfplugin6 as pb;
use crate::plugin::{Function, FunctionError, Parameter, Provider, Signature, Value, convert, msgpack};

/// A function with what it says of itself.
pub(super) struct Offered {
    function: Arc<dyn Function>,
    signature: Signature,
}

/// The functions of a provider, by name.
pub(super) fn offered<P: Provider>(provider: &P) -> BTreeMap<String, Offered> {
    let offered = |function: Arc<dyn Function>| {
        let signature = function.signature();
        (function.name().to_string(), Offered { function, signature })
    };
    provider.functions().into_iter().map(offered).collect()
}

/// Why a call failed, for Terraform, which ends the sentence.
pub(super) fn error(misuse: FunctionError) -> pb::FunctionError {
    let text = misuse.message.trim_end().trim_end_matches('.').to_string();
    pb::FunctionError { text, function_argument: misuse.argument.and_then(|argument| i64::try_from(argument).ok()) }
}

impl Offered {
    /// The signature as Terraform reads it.
    pub(super) fn described(&self) -> pb::Function {
        convert::function(&self.signature)
    }

    fn arguments(&self, given: Vec<pb::DynamicValue>) -> Result<Vec<Value>, FunctionError> {
        let parameters = &self.signature.parameters;
        if given.len() != parameters.len() {
            let message = format!("It takes {} arguments, and {} were given.", parameters.len(), given.len());
            return Err(FunctionError::new(message));
        }
        let pairs = parameters.iter().zip(given).enumerate();
        pairs.map(|(number, (parameter, value))| argument(number, parameter, value)).collect()
    }
}

fn argument(number: usize, parameter: &Parameter, value: pb::DynamicValue) -> Result<Value, FunctionError> {
    let value = decode(value, &parameter.kind).map_err(|problem| {
        let place = if problem.path.0.is_empty() { String::new() } else { format!("{}: ", problem.path) };
        FunctionError::of_argument(number, format!("{place}{} {}", problem.message, problem.hint))
    })?;
    match value.is_null() && !parameter.nullable {
        true => Err(FunctionError::of_argument(number, "It is null, and null has no meaning here.")),
        false => Ok(value),
    }
}

impl<P: Provider> Server<P> {
    /// Calls a function. What is not known yet makes the result unknown, without a call.
    pub(super) async fn called(&self, request: pb::call_function::Request) -> Result<pb::DynamicValue, FunctionError> {
        let name = request.name;
        let offered = self.functions.get(&name);
        let offered = offered
            .ok_or_else(|| FunctionError::new(format!("This version of the provider has no function {name:?}.")))?;
        let arguments = offered.arguments(request.arguments)?;
        let result = match arguments.iter().all(Value::is_wholly_known) {
            false => Value::Unknown,
            true => {
                let function = offered.function.clone();
                let called = self.run(async move { function.call(&arguments) }).await;
                called.map_err(|panic| {
                    let hint = "This is a bug in the provider: please report it with this message.";
                    FunctionError::new(format!("the provider failed unexpectedly: {panic}\n\n{hint}"))
                })??
            }
        };
        let (msgpack, problems) = msgpack::encode(&result, &offered.signature.result);
        match problems.into_iter().next() {
            Some(problem) => {
                let message = format!("the provider returned an invalid value for {}", problem.path);
                Err(FunctionError::new(format!("{message}: {} {}", problem.message, problem.hint)))
            }
            None => Ok(pb::DynamicValue { msgpack, json: Vec::new() }),
        }
    }
}
