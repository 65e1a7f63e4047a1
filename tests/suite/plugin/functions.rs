//! Functions over the protocol: signatures, arguments, results and errors.

use fgw::plugin::Value;
use fgw::plugin::proto::tfplugin6::provider_client::ProviderClient;
use fgw::plugin::proto::tfplugin6::{self as pb};
use fgw::provider::Fgw;
use tonic::transport::Channel;

use super::{connected, dynamic, named, start_provider, validate, wire};
use crate::support::plugin_client::Certificate;

/// A value that is encoded with its type, as Terraform sends it to a dynamic parameter.
fn typed(kind: &str, value: &Value) -> pb::DynamicValue {
    let parts = vec![rmpv::Value::Binary(kind.as_bytes().to_vec()), wire::to_wire(value)];
    let mut msgpack = Vec::new();
    rmpv::encode::write_value(&mut msgpack, &rmpv::Value::Array(parts)).unwrap();
    pb::DynamicValue { msgpack, json: Vec::new() }
}

fn text(text: &str) -> pb::DynamicValue {
    dynamic(&Value::from(text)).unwrap()
}

fn null() -> pb::DynamicValue {
    dynamic(&Value::Null).unwrap()
}

async fn call(
    terraform: &mut ProviderClient<Channel>,
    name: &str,
    arguments: Vec<pb::DynamicValue>,
) -> Result<Vec<u8>, (Option<i64>, String)> {
    let request = pb::call_function::Request { name: name.to_string(), arguments };
    let response = terraform.call_function(request).await.unwrap().into_inner();
    match (response.result, response.error) {
        (Some(result), None) => Ok(result.msgpack),
        (None, Some(error)) => Err((error.function_argument, error.text)),
        other => panic!("a call has a result or an error: {other:?}"),
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn functions_are_in_every_response_that_lists_them() {
    let (_process, mut terraform) = connected().await;
    let metadata = terraform.get_metadata(pb::get_metadata::Request {}).await.unwrap().into_inner();
    assert_eq!(metadata.functions, [pb::get_metadata::FunctionMetadata { name: "measure".to_string() }]);
    let schema = terraform.get_provider_schema(pb::get_provider_schema::Request {}).await.unwrap().into_inner();
    let functions = terraform.get_functions(pb::get_functions::Request {}).await.unwrap().into_inner().functions;
    assert_eq!(schema.functions, functions);
    let measure = &functions["measure"];
    let [what, how] = &measure.parameters[..] else { panic!("{measure:?}") };
    assert_eq!((&what.r#type[..], what.allow_null_value), (&br#""string""#[..], false));
    assert_eq!(
        (&how.r#type[..], how.allow_null_value, &how.description[..]),
        (&br#""dynamic""#[..], true, "Any *way*.")
    );
    assert!(!what.allow_unknown_values && !how.allow_unknown_values);
    assert_eq!(measure.r#return.as_ref().unwrap().r#type, br#""dynamic""#);
}

#[tokio::test(flavor = "multi_thread")]
async fn dynamic_values_keep_their_types() {
    let (_process, mut terraform) = connected().await;
    let kind = r#"["object",{"a":["tuple",["string","number"]],"b":["map","bool"],"c":"dynamic"}]"#;
    let value = Value::map([
        ("a", Value::List(vec!["x".into(), 2_i64.into()])),
        ("b", Value::map([("yes", true.into())])),
        ("c", Value::Null),
    ]);
    let result = call(&mut terraform, "measure", vec![text("door"), typed(kind, &value)]).await.unwrap();
    // The result has no schema, so the map becomes an object.
    let expected = kind.replace(r#"["map","bool"]"#, r#"["object",{"yes":"bool"}]"#);
    assert_eq!(result, typed(&expected, &value).msgpack);
    assert_eq!(call(&mut terraform, "measure", vec![text("door"), null()]).await, Ok(vec![0xc0]));
}

#[tokio::test(flavor = "multi_thread")]
async fn unknown_arguments_give_an_unknown_result_without_a_call() {
    let (_process, mut terraform) = connected().await;
    let unknown = dynamic(&Value::Unknown).unwrap();
    let inside = typed(r#"["object",{"a":"string"}]"#, &Value::map([("a", Value::Unknown)]));
    for arguments in [vec![unknown.clone(), null()], vec![text("panic"), unknown], vec![text("panic"), inside]] {
        assert_eq!(call(&mut terraform, "measure", arguments).await, Ok(vec![0xd4, 0, 0]));
    }
}

/// Terraform and OpenTofu do not call a function with such an argument. If a host does, an unknown input must not count
/// as one that is not set, because the layout would be another one.
#[tokio::test(flavor = "multi_thread")]
async fn an_unknown_input_makes_a_layout_unknown() {
    let client = Certificate::new();
    let process = start_provider(Fgw::default(), Some(&client)).await;
    let mut terraform = process.terraform(&client).await;
    let object = |kind: &str| format!(r#"["object",{{"public_subnet_bits":{kind}}}]"#);
    // An object whose attribute has this value on the wire.
    let with = |kind: &str, value: rmpv::Value| {
        let inside = rmpv::Value::Map(vec![("public_subnet_bits".into(), value)]);
        let parts = rmpv::Value::Array(vec![rmpv::Value::Binary(object(kind).into_bytes()), inside]);
        let mut msgpack = Vec::new();
        rmpv::encode::write_value(&mut msgpack, &parts).unwrap();
        pb::DynamicValue { msgpack, json: Vec::new() }
    };
    let unknown = || rmpv::Value::Ext(0, vec![0]);
    // Refined: not null, with a lower bound of 1, included.
    let refined = rmpv::Value::Ext(12, vec![0x82, 0x01, 0xc2, 0x02, 0x92, 0x01, 0xc3]);
    let dynamic = rmpv::Value::Array(vec![rmpv::Value::Binary(br#""number""#.to_vec()), unknown()]);
    let options = [
        typed(&object(r#""number""#), &Value::Unknown),
        with(r#""number""#, unknown()),
        with(r#""number""#, refined),
        with(r#""dynamic""#, unknown()),
        with(r#""dynamic""#, dynamic),
    ];
    let network = || vec![text("10.0.0.0/16"), self::dynamic(&Value::from(2)).unwrap()];
    for options in options {
        let arguments = [network(), vec![options.clone()]].concat();
        assert_eq!(call(&mut terraform, "subnet_layout", arguments).await, Ok(vec![0xd4, 0, 0]), "{options:02x?}");
    }
    let known = [network(), vec![with(r#""number""#, 6.into())]].concat();
    let layout = call(&mut terraform, "subnet_layout", known).await.unwrap();
    assert!(String::from_utf8_lossy(&layout).contains("10.0.4.0/22"), "a known input is used");
    // OpenTofu sends a null argument as a value without content.
    let mut layout_with =
        async |options| call(&mut terraform, "subnet_layout", [network(), vec![options]].concat()).await.unwrap();
    assert_eq!(layout_with(pb::DynamicValue::default()).await, layout_with(null()).await);
}

#[tokio::test(flavor = "multi_thread")]
async fn errors_name_the_argument_at_fault() {
    let (_process, mut terraform) = connected().await;
    let mut rejected = async |name: &str, arguments| call(&mut terraform, name, arguments).await.unwrap_err();
    // Terraform adds the period.
    let smoke = rejected("measure", vec![text("smoke"), null()]).await;
    assert_eq!(smoke, (Some(0), "Smoke has no size".to_string()));
    let (argument, what) = rejected("measure", vec![null(), null()]).await;
    assert!(argument == Some(0) && what.contains("null"), "{what}");
    let wrong = typed(r#"["object",{"a":"number"}]"#, &Value::map([("a", Value::from("many"))]));
    let (argument, what) = rejected("measure", vec![text("door"), wrong]).await;
    assert!(argument == Some(1) && what.contains("a: The value is not a finite number"), "{what}");
    let (argument, what) = rejected("measure", vec![text("door"), typed("\"door\"", &Value::Null)]).await;
    assert!(argument == Some(1) && what.contains("a type and a value"), "{what}");
    let (argument, what) = rejected("measure", vec![text("door")]).await;
    assert!(argument.is_none() && what.contains("expected 2 arguments, got 1"), "{what}");
    let (argument, what) = rejected("weigh", vec![]).await;
    assert!(argument.is_none() && what.contains("\"weigh\""), "{what}");
}

#[tokio::test(flavor = "multi_thread")]
async fn panicking_function_fails_only_its_own_call() {
    let (process, mut terraform) = connected().await;
    let (argument, what) = call(&mut terraform, "measure", vec![text("panic"), null()]).await.unwrap_err();
    assert!(argument.is_none() && what.contains("the rule broke") && what.contains("Report it"), "{what}");
    let (argument, what) = call(&mut terraform, "measure", vec![text("misfit"), null()]).await.unwrap_err();
    assert!(argument.is_none() && what.contains("invalid value"), "{what}");
    assert_eq!(validate(&mut terraform, &named("front")).await, []);
    assert!(!process.served.is_finished(), "the server has ended");
}
