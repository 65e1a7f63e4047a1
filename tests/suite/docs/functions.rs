//! The page of a provider function.

use super::attributes::plain;
use super::{pages, top};
use fgw::plugin::{Function, Parameter};

/// The entry of the function on the index page.
pub(super) fn entry(function: &dyn Function) -> String {
    pages::entry(function.name(), &path(function), &function.signature().description)
}

fn path(function: &dyn Function) -> String {
    format!("functions/{}.md", function.name())
}

/// The path of the page relative to `docs`, and its text.
pub(super) fn page(function: &dyn Function) -> (String, String) {
    let (name, signature) = (function.name(), function.signature());
    let mut text = pages::front_matter(&format!("{name} function - fgw"), &signature.summary);
    let example = top().join("examples/functions").join(name).join("function.tf");
    text += &format!(
        "\n# function: {name}\n\n{}\n\n## Example Usage\n\n{}",
        signature.description,
        pages::quoted(&example)
    );
    let written = |it: &Parameter| format!("{} {}", it.name, plain(&it.kind).to_lowercase());
    let mut parameters: Vec<String> = signature.parameters.iter().map(written).collect();
    parameters.extend(signature.variadic.iter().map(|it| format!("{}...", written(it))));
    let result = plain(&signature.result).to_lowercase();
    text += &format!("\n## Signature\n\n```text\n{name}({}) {result}\n```\n\n## Arguments\n\n", parameters.join(", "));
    for (number, parameter) in (1..).zip(signature.parameters.iter().chain(&signature.variadic)) {
        let nullable = if parameter.nullable { ", Nullable" } else { "" };
        text += &format!(
            "{number}. `{}` ({}{nullable}) {}\n",
            parameter.name,
            plain(&parameter.kind),
            parameter.description
        );
    }
    (path(function), text)
}
