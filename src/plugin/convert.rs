//! From our declarations to the protocol's messages.

use super::proto::tfplugin6 as pb;
use super::{
    Attribute, AttributePath, AttributeType, Diagnostics, Mode, Nesting, Schema, Severity, Signature, Step, types,
};

/// What a block belongs to decides what its attributes can be.
#[derive(Clone, Copy, PartialEq)]
enum Owner {
    /// Terraform plans no provider block, so nothing in it is computed.
    Provider,
    Resource,
    /// An object that the provider sets as a whole sets all of its attributes.
    Computed,
}

/// A provider block's schema. The error says what Terraform would refuse in it.
pub(super) fn provider_schema(schema: &Schema) -> Result<pb::Schema, String> {
    convert_schema(schema, Owner::Provider)
}

/// A resource's schema. The error says what Terraform would refuse in it.
pub(super) fn resource_schema(schema: &Schema) -> Result<pb::Schema, String> {
    convert_schema(schema, Owner::Resource)
}

/// A function's signature.
pub(super) fn function(signature: &Signature) -> pb::Function {
    let parameter = |parameter: &super::Parameter| pb::function::Parameter {
        name: parameter.name.to_string(),
        r#type: types::to_json(&parameter.kind).to_string().into_bytes(),
        allow_null_value: parameter.nullable,
        // With an unknown argument Terraform takes the result for unknown, and calls nobody.
        allow_unknown_values: false,
        description: parameter.description.clone(),
        description_kind: pb::StringKind::Markdown.into(),
    };
    pb::Function {
        parameters: signature.parameters.iter().map(parameter).collect(),
        r#return: Some(pb::function::Return { r#type: types::to_json(&signature.result).to_string().into_bytes() }),
        summary: signature.summary.clone(),
        description: signature.description.clone(),
        description_kind: pb::StringKind::Markdown.into(),
        ..pb::Function::default()
    }
}

/// Messages for Terraform.
pub(super) fn diagnostics(diagnostics: Diagnostics) -> Vec<pb::Diagnostic> {
    let convert = |diagnostic: super::Diagnostic| pb::Diagnostic {
        severity: match diagnostic.severity {
            Severity::Error => pb::diagnostic::Severity::Error,
            Severity::Warning => pb::diagnostic::Severity::Warning,
        }
        .into(),
        summary: diagnostic.summary,
        detail: diagnostic.detail,
        attribute: diagnostic.path.filter(|path| !path.0.is_empty()).map(attribute_path),
    };
    diagnostics.0.into_iter().map(convert).collect()
}

/// A path for Terraform.
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
        return Err(format!("{}: a block has attributes of its own, not a plain type", attribute.name));
    };
    let nesting = match nesting {
        Nesting::Single => NestingMode::Single,
        Nesting::List => NestingMode::List,
        Nesting::Map => NestingMode::Map,
    };
    let mut block = convert_block(nested, owner).map_err(|error| format!("{}.{error}", attribute.name))?;
    block.description = attribute.text();
    block.deprecated = attribute.deprecation.is_some();
    block.deprecation_message = attribute.deprecation.clone().unwrap_or_default();
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
        return Err(format!("{}: nothing in a provider block is computed", attribute.name));
    }
    let is_filled_in = attribute.default.is_some() || attribute.mode == Mode::OptionalComputed;
    let mut converted = pb::schema::Attribute {
        name: attribute.name.clone(),
        description: attribute.text(),
        description_kind: pb::StringKind::Markdown.into(),
        required: !computed && attribute.mode == Mode::Required,
        optional: !computed && matches!(attribute.mode, Mode::Optional | Mode::OptionalComputed),
        // Terraform lets a provider fill in a value that the user left out only where it is computed, too.
        computed: computed || (is_filled_in && owner != Owner::Provider),
        sensitive: attribute.sensitive,
        deprecated: attribute.deprecation.is_some(),
        deprecation_message: attribute.deprecation.clone().unwrap_or_default(),
        ..pb::schema::Attribute::default()
    };
    if converted.required && attribute.default.is_some() {
        return Err(format!("{}: what is required has no default", attribute.name));
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
        return Err(format!("{}: a block cannot stand in a nested attribute", block.name));
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
    fn an_attribute_has_a_type_or_nested_attributes_and_never_both() {
        let block = block(vec![text("name"), nested("hinges", Nesting::Map, vec![text("side").required()])]);
        assert_eq!(block.attributes[0].r#type, br#""string""#);
        assert_eq!(block.attributes[0].nested_type, None);
        assert_eq!(block.attributes[1].r#type, b"");
        let object = block.attributes[1].nested_type.as_ref().unwrap();
        assert_eq!(object.nesting(), pb::schema::object::NestingMode::Map);
        assert!(object.attributes[0].required && !object.attributes[0].optional && !object.attributes[0].computed);
    }

    #[test]
    fn a_default_makes_an_attribute_optional_and_computed_but_not_in_a_provider_block() {
        let attributes = vec![text("colour").default("white")];
        let in_resource = &block(attributes.clone()).attributes[0];
        assert!(in_resource.optional && in_resource.computed && !in_resource.required);
        let in_provider = provider_schema(&schema(attributes)).unwrap().block.unwrap();
        assert!(in_provider.attributes[0].optional && !in_provider.attributes[0].computed);
    }

    #[test]
    fn a_block_is_a_block_type_with_a_description_of_its_own() {
        let block = block(vec![
            nested("timeouts", Nesting::Single, vec![text("create").optional()]).block(),
            nested("key", Nesting::List, vec![text("owner").required()]).block().deprecated("Locks are gone."),
        ]);
        assert!(block.attributes.is_empty());
        let [timeouts, key] = &block.block_types[..] else { panic!("two blocks were declared") };
        assert_eq!(timeouts.nesting(), pb::schema::nested_block::NestingMode::Single);
        assert_eq!(key.nesting(), pb::schema::nested_block::NestingMode::List);
        let key = key.block.as_ref().unwrap();
        assert_eq!(key.description, "Nested.");
        assert!(key.deprecated && key.deprecation_message == "Locks are gone.");
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
    fn what_terraform_would_refuse_is_refused_with_its_path() {
        let refused = |attribute| resource_schema(&schema(vec![attribute])).unwrap_err();
        assert!(refused(text("a").block()).starts_with("a: "));
        let inner = nested("b", Nesting::Single, vec![text("c")]).block();
        assert!(refused(nested("a", Nesting::Single, vec![inner])).starts_with("a.b: "));
        assert!(refused(text("a").default("b").required()).starts_with("a: "));
        let computed = Attribute::computed("a", Type::Bool, "");
        assert!(provider_schema(&schema(vec![computed])).is_err());
    }

    #[test]
    fn words_and_flags_arrive() {
        let block = block(vec![text("code").sensitive().deprecated("Use a key.")]);
        let code = &block.attributes[0];
        assert!(code.sensitive && code.deprecated);
        assert_eq!(code.deprecation_message, "Use a key.");
        assert_eq!(code.description, "Some *text*.");
        assert_eq!(code.description_kind(), pb::StringKind::Markdown);
        assert_eq!(block.description, "A door.");
    }

    #[test]
    fn a_description_ends_with_the_default_and_what_a_change_does() {
        let told = |attribute: Attribute| block(vec![attribute]).attributes[0].description.clone();
        assert_eq!(told(text("a").in_place()), "Some *text*. Changed in place.");
        assert_eq!(
            told(text("a").default("b").changes_nothing()),
            "Some *text*. Default: `\"b\"`. A change alters nothing that exists."
        );
        assert_eq!(told(text("a").otherwise("5m")), "Some *text*. Default: `\"5m\"`.");
        let exchanged = told(text("a").change(PlanEffect::PartialReplace("exchanges the lock")));
        assert_eq!(exchanged, "Some *text*. A change exchanges the lock.");
        let replaced = told(text("a").change(PlanEffect::RequiresReplace("unless it fits")));
        assert_eq!(replaced, "Some *text*. A change replaces the whole resource, unless it fits.");
    }

    #[test]
    fn a_path_keeps_its_kinds_of_steps_and_an_empty_one_is_no_path() {
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
