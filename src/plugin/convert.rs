//! Conversion of declarations to protocol messages.

use super::printable::{printable, printable_lines};
use super::proto::tfplugin6 as pb;
use super::{
    Attribute, AttributePath, AttributeType, Diagnostics, Mode, Nesting, Schema, Severity, Signature, Step, types,
};

/// The owner of a block, which determines the modes of its attributes.
#[derive(Clone, Copy, PartialEq)]
enum Owner {
    /// Terraform does not plan provider blocks, so they have no computed attributes.
    Provider,
    Resource,
    /// The provider sets the whole object, so all of its attributes are computed.
    Computed,
}

/// The schema of a provider block. The error names the part that Terraform would reject.
pub(super) fn provider_schema(schema: &Schema) -> Result<pb::Schema, String> {
    convert_schema(schema, Owner::Provider)
}

/// The schema of a resource or data source. The error names the part that Terraform would reject.
pub(super) fn resource_schema(schema: &Schema) -> Result<pb::Schema, String> {
    convert_schema(schema, Owner::Resource)
}

/// A function's signature.
pub(super) fn function(signature: &Signature) -> pb::Function {
    let parameter = |parameter: &super::Parameter| pb::function::Parameter {
        name: parameter.name.to_string(),
        r#type: types::to_json(&parameter.kind).to_string().into_bytes(),
        allow_null_value: parameter.nullable,
        // If an argument is unknown, Terraform assumes an unknown result without a call.
        allow_unknown_values: false,
        description: parameter.description.clone(),
        description_kind: pb::StringKind::Markdown.into(),
    };
    pb::Function {
        parameters: signature.parameters.iter().map(parameter).collect(),
        variadic_parameter: signature.variadic.as_ref().map(parameter),
        r#return: Some(pb::function::Return { r#type: types::to_json(&signature.result).to_string().into_bytes() }),
        summary: signature.summary.clone(),
        description: signature.description.clone(),
        description_kind: pb::StringKind::Markdown.into(),
        ..pb::Function::default()
    }
}

/// Diagnostics in protocol form.
pub(super) fn diagnostics(diagnostics: Diagnostics) -> Vec<pb::Diagnostic> {
    let convert = |diagnostic: super::Diagnostic| pb::Diagnostic {
        severity: match diagnostic.severity {
            Severity::Error => pb::diagnostic::Severity::Error,
            Severity::Warning => pb::diagnostic::Severity::Warning,
        }
        .into(),
        summary: printable(&diagnostic.summary).into_owned(),
        detail: printable_lines(&diagnostic.detail).into_owned(),
        attribute: diagnostic.path.filter(|path| !path.0.is_empty()).map(attribute_path),
    };
    diagnostics.0.into_iter().map(convert).collect()
}

/// A path in protocol form.
pub(super) fn attribute_path(path: AttributePath) -> pb::AttributePath {
    use pb::attribute_path::step::Selector;
    let convert = |step| pb::attribute_path::Step {
        selector: Some(match step {
            Step::Attribute(name) => Selector::AttributeName(name),
            Step::Key(key) => Selector::ElementKeyString(key),
            Step::Index(index) => Selector::ElementKeyInt(index),
        }),
    };
    pb::AttributePath { steps: path.0.into_iter().map(convert).collect() }
}

fn convert_schema(schema: &Schema, owner: Owner) -> Result<pb::Schema, String> {
    let mut block = convert_block(&schema.attributes, owner)?;
    block.description = schema.description.clone();
    Ok(pb::Schema { version: schema.version, block: Some(block) })
}

fn convert_block(attributes: &[Attribute], owner: Owner) -> Result<pb::schema::Block, String> {
    let mut block =
        pb::schema::Block { description_kind: pb::StringKind::Markdown.into(), ..pb::schema::Block::default() };
    for attribute in attributes {
        if attribute.mode == Mode::Block {
            block.block_types.push(convert_nested_block(attribute, owner)?);
        } else {
            block.attributes.push(convert_attribute(attribute, owner)?);
        }
    }
    Ok(block)
}

fn convert_nested_block(attribute: &Attribute, owner: Owner) -> Result<pb::schema::NestedBlock, String> {
    use pb::schema::nested_block::NestingMode;
    let AttributeType::Nested(nesting, nested) = &attribute.kind else {
        return Err(format!("{}: a block must have nested attributes, not a plain type", attribute.name));
    };
    let nesting = match nesting {
        Nesting::Single => NestingMode::Single,
        Nesting::List => NestingMode::List,
        Nesting::Map => NestingMode::Map,
    };
    let mut block = convert_block(nested, owner).map_err(|error| format!("{}.{error}", attribute.name))?;
    block.description = attribute.text();
    Ok(pb::schema::NestedBlock {
        type_name: attribute.name.clone(),
        block: Some(block),
        nesting: nesting.into(),
        ..pb::schema::NestedBlock::default()
    })
}

fn convert_attribute(attribute: &Attribute, owner: Owner) -> Result<pb::schema::Attribute, String> {
    let computed = owner == Owner::Computed || attribute.mode == Mode::Computed;
    if computed && owner == Owner::Provider {
        return Err(format!("{}: a provider block cannot have computed attributes", attribute.name));
    }
    let is_filled_in = attribute.default.is_some() || attribute.mode == Mode::OptionalComputed;
    let mut converted = pb::schema::Attribute {
        name: attribute.name.clone(),
        description: attribute.text(),
        description_kind: pb::StringKind::Markdown.into(),
        required: !computed && attribute.mode == Mode::Required,
        optional: !computed && matches!(attribute.mode, Mode::Optional | Mode::OptionalComputed),
        // Terraform accepts a value for an attribute that the user omitted only if the attribute is also computed.
        computed: computed || (is_filled_in && owner != Owner::Provider),
        sensitive: attribute.sensitive,
        ..pb::schema::Attribute::default()
    };
    if converted.required && attribute.default.is_some() {
        return Err(format!("{}: a required attribute cannot have a default", attribute.name));
    }
    match &attribute.kind {
        AttributeType::Plain(kind) => converted.r#type = types::to_json(kind).to_string().into_bytes(),
        AttributeType::Nested(nesting, nested) => {
            let owner = if computed { Owner::Computed } else { owner };
            let object = convert_object(*nesting, nested, owner);
            converted.nested_type = Some(object.map_err(|error| format!("{}.{error}", attribute.name))?);
        }
    }
    Ok(converted)
}

fn convert_object(nesting: Nesting, nested: &[Attribute], owner: Owner) -> Result<pb::schema::Object, String> {
    use pb::schema::object::NestingMode;
    if let Some(block) = nested.iter().find(|it| it.mode == Mode::Block) {
        return Err(format!("{}: a nested attribute cannot contain a block", block.name));
    }
    let nesting = match nesting {
        Nesting::Single => NestingMode::Single,
        Nesting::List => NestingMode::List,
        Nesting::Map => NestingMode::Map,
    };
    let attributes = nested.iter().map(|it| convert_attribute(it, owner)).collect::<Result<_, _>>()?;
    Ok(pb::schema::Object { attributes, nesting: nesting.into() })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plugin::{PlanEffect, Type, Value};

    fn text(name: &str) -> Attribute {
        Attribute::new(name, AttributeType::Plain(Type::String), "Some *text*.")
    }

    fn nested(name: &str, nesting: Nesting, attributes: Vec<Attribute>) -> Attribute {
        Attribute::new(name, AttributeType::Nested(nesting, attributes), "Nested.")
    }

    fn schema(attributes: Vec<Attribute>) -> Schema {
        Schema { version: 3, description: "A door.".to_string(), attributes }
    }

    fn block(attributes: Vec<Attribute>) -> pb::schema::Block {
        resource_schema(&schema(attributes)).unwrap().block.unwrap()
    }

    #[test]
    fn messages_contain_no_hidden_character() {
        let mut found = super::Diagnostics::default();
        found.error("a\nb\u{9b}2K", "first\u{202e}\nsecond\r\u{200b}");
        let [message] = &diagnostics(found)[..] else { panic!("there is one message") };
        assert_eq!(message.summary, "a\\nb\\u{9b}2K");
        assert_eq!(message.detail, "first\\u{202e}\nsecond\\r\\u{200b}");
    }

    #[test]
    fn an_attribute_has_either_a_type_or_nested_attributes() {
        let block = block(vec![text("name"), nested("hinges", Nesting::Map, vec![text("side").required()])]);
        assert_eq!(block.attributes[0].r#type, br#""string""#);
        assert_eq!(block.attributes[0].nested_type, None);
        assert_eq!(block.attributes[1].r#type, b"");
        let object = block.attributes[1].nested_type.as_ref().unwrap();
        assert_eq!(object.nesting(), pb::schema::object::NestingMode::Map);
        assert!(object.attributes[0].required && !object.attributes[0].optional && !object.attributes[0].computed);
    }

    #[test]
    fn defaults_are_computed_except_in_a_provider_block() {
        let attributes = vec![text("color").default("white")];
        let in_resource = &block(attributes.clone()).attributes[0];
        assert!(in_resource.optional && in_resource.computed && !in_resource.required);
        let in_provider = provider_schema(&schema(attributes)).unwrap().block.unwrap();
        assert!(in_provider.attributes[0].optional && !in_provider.attributes[0].computed);
    }

    #[test]
    fn a_block_becomes_a_block_type_with_its_own_description() {
        let block = block(vec![
            nested("timeouts", Nesting::Single, vec![text("create").optional()]).block(),
            nested("key", Nesting::List, vec![text("owner").required()]).block(),
        ]);
        assert!(block.attributes.is_empty());
        let [timeouts, key] = &block.block_types[..] else { panic!("two blocks were declared") };
        assert_eq!(timeouts.nesting(), pb::schema::nested_block::NestingMode::Single);
        assert_eq!(key.nesting(), pb::schema::nested_block::NestingMode::List);
        let key = key.block.as_ref().unwrap();
        assert_eq!(key.description, "Nested.");
        assert!(key.attributes[0].required);
    }

    #[test]
    fn everything_in_a_computed_object_is_computed() {
        let mut outputs = nested("outputs", Nesting::Map, vec![text("id").required(), text("name").default("x")]);
        outputs.mode = Mode::Computed;
        let block = block(vec![outputs]);
        let outputs = &block.attributes[0];
        assert!(outputs.computed && !outputs.optional);
        for attribute in &outputs.nested_type.as_ref().unwrap().attributes {
            assert!(attribute.computed && !attribute.optional && !attribute.required, "{}", attribute.name);
        }
    }

    #[test]
    fn schemas_that_terraform_rejects_are_errors_with_a_path() {
        let error = |attribute| resource_schema(&schema(vec![attribute])).unwrap_err();
        assert!(error(text("a").block()).starts_with("a: "));
        let inner = nested("b", Nesting::Single, vec![text("c")]).block();
        assert!(error(nested("a", Nesting::Single, vec![inner])).starts_with("a.b: "));
        assert!(error(text("a").default("b").required()).starts_with("a: "));
        let computed = Attribute::computed("a", Type::Bool, "");
        assert!(provider_schema(&schema(vec![computed])).is_err());
    }

    #[test]
    fn descriptions_and_flags_are_converted() {
        let block = block(vec![text("code").sensitive().deprecated("Use a key.")]);
        let code = &block.attributes[0];
        assert!(code.sensitive);
        assert!(!code.deprecated && code.deprecation_message.is_empty(), "Terraform would warn of each output");
        assert_eq!(code.description, "Some *text*.");
        assert_eq!(code.description_kind(), pb::StringKind::Markdown);
        assert_eq!(block.description, "A door.");
    }

    #[test]
    fn descriptions_end_with_the_default_and_the_plan_effect() {
        let description = |attribute: Attribute| block(vec![attribute]).attributes[0].description.clone();
        assert_eq!(description(text("a").in_place()), "Some *text*. Changed in place.");
        assert_eq!(
            description(text("a").default("b").changes_nothing()),
            "Some *text*. Default: `\"b\"`. A change does not affect existing objects."
        );
        assert_eq!(description(text("a").otherwise("5m")), "Some *text*. Default: `\"5m\"`.");
        let partial = description(text("a").change(PlanEffect::PartialReplace("replaces the lock")));
        assert_eq!(partial, "Some *text*. A change replaces the lock.");
        let replaced = description(text("a").change(PlanEffect::RequiresReplace("unless it fits")));
        assert_eq!(replaced, "Some *text*. A change replaces the whole resource, unless it fits.");
    }

    #[test]
    fn paths_keep_their_kinds_of_steps_and_empty_ones_are_omitted() {
        use pb::attribute_path::step::Selector;
        let mut messages = Diagnostics::default();
        messages.attribute_error(AttributePath::new("a").index(2).key("b").attribute("c"), "s", "d");
        messages.problems([crate::plugin::Problem::new(AttributePath::root(), "m", "h")]);
        messages.warning("w", Value::from("d").to_string());
        let converted = diagnostics(messages);
        let steps: Vec<_> =
            converted[0].attribute.clone().unwrap().steps.into_iter().flat_map(|it| it.selector).collect();
        let expected = [
            Selector::AttributeName("a".to_string()),
            Selector::ElementKeyInt(2),
            Selector::ElementKeyString("b".to_string()),
            Selector::AttributeName("c".to_string()),
        ];
        assert_eq!(steps, expected);
        assert_eq!(converted[1].attribute, None);
        assert_eq!(converted[2].severity(), pb::diagnostic::Severity::Warning);
    }
}
