//! The state of a data source for a topology of a resource, and its errors.

use proptest::prelude::*;

use super::properties::{some_basic_gateway, some_network};
use super::*;
use crate::cloud::Root;
use crate::composite::Existing;
use crate::plugin::{DataRequest, DataResponse, DataSource};

/// A data source on the account of a resource.
fn data_source_of<P: Topology>(terraform: &Terraform<P>) -> Existing<P> {
    let connection = Connection::default();
    connection.set(connected(&terraform.account));
    Existing::new(connection)
}

fn config<P: Topology>(source: &Existing<P>, given: &[(&str, Value)]) -> Value {
    let mut config = Value::map(source.schema().attributes.into_iter().map(|attribute| (attribute.name, Value::Null)));
    for (name, value) in given {
        config.set(name, value.clone());
    }
    config
}

async fn read<P: Topology>(source: &Existing<P>, given: &[(&str, Value)]) -> DataResponse {
    source.read(DataRequest { config: config(source, given) }).await
}

/// Returns the path, summary and detail of the only error of a read.
async fn read_error<P: Topology>(source: &Existing<P>, given: &[(&str, Value)]) -> (String, String, String) {
    let DataResponse { state, diagnostics: Diagnostics(mut errors) } = read(source, given).await;
    assert!(state.is_none() && errors.len() == 1, "{state:?} {errors:?}");
    let error = errors.remove(0);
    (error.path.map(|path| path.to_string()).unwrap_or_default(), error.summary, error.detail)
}

/// Asserts that the attributes of the data source equal those of the resource.
async fn assert_equals_the_resource<P: Topology>(terraform: &Terraform<P>) {
    let source = data_source_of(terraform);
    terraform.account.take_calls();
    let found = read(&source, &[("id", terraform.state.get("id").clone())]).await;
    assert_eq!(found.diagnostics, Diagnostics::default());
    let state = found.state.expect("the topology exists");
    let attributes = source.schema().attributes;
    assert_conforms(&state, &object_type(&attributes), "data");
    assert!(state.is_wholly_known());
    for attribute in attributes.iter().filter(|it| it.name != "tags") {
        let (actual, expected) = (state.get(&attribute.name), terraform.state.get(&attribute.name));
        assert_eq!(actual, expected, "{}", attribute.name);
    }
    assert_eq!(terraform.account.take_calls(), Vec::<String>::new(), "a read changes nothing");
}

#[tokio::test(start_paused = true)]
async fn the_name_of_one_subnet_is_no_tag_of_the_root() {
    let switches = ["create_igw", "create_private_app_subnets", "create_private_persistence_subnets"];
    let more = ["create_transit_subnets", "create_vpc_endpoints", "enable_default_security_group"];
    let mut attributes = network(&[
        ("num_availability_zones", 2.into()),
        ("num_nat_gateways", 0.into()),
        ("custom_tags", tags(&[("team", "a")])),
        ("name_tags", tags(&[("subnet.public.1", "single")])),
    ]);
    for name in switches.into_iter().chain(more) {
        attributes.set(name, false.into());
    }
    let mut terraform = Terraform::<FourTierVpc>::new(3);
    terraform.assert_applies(&attributes).await;
    assert_equals_the_resource(&terraform).await;
}

fn tags(pairs: &[(&str, &str)]) -> Value {
    Value::map(pairs.iter().map(|(key, value)| (*key, Value::from(*value))))
}

fn root(id: &str, name: &str, tags: &[(&str, &str)]) -> Root {
    let tags = tags.iter().map(|(key, value)| (key.to_string(), value.to_string())).collect();
    Root { id: id.into(), name: name.into(), tags, state: Some(RootState::Ready) }
}

#[test]
fn the_data_source_has_every_output_with_its_type() {
    fn assert_same<P: Topology>() {
        let resource = Composite::<P>::new(Connection::default()).schema().attributes;
        let source = Existing::<P>::new(Connection::default()).schema().attributes;
        let kind = |attributes: &[crate::plugin::Attribute], name: &str| {
            attributes.iter().find(|it| it.name == name).map(|it| it.kind.clone())
        };
        for output in P::outputs_schema().into_iter().chain(P::further_outputs()) {
            assert_eq!(kind(&source, &output.name), kind(&resource, &output.name), "{}", output.name);
        }
        for attribute in source.iter().filter(|it| it.name != "tags") {
            assert_eq!(Some(attribute.kind.clone()), kind(&resource, &attribute.name), "{}", attribute.name);
        }
        assert!(source.iter().all(|it| !it.description.is_empty()));
    }
    assert_same::<FourTierVpc>();
    assert_same::<HttpGateway>();
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn a_network_data_source_equals_its_resource(attributes in some_network()) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build().unwrap();
        runtime.block_on(async {
            let mut terraform = Terraform::<FourTierVpc>::new(3);
            let plan = terraform.plan(&attributes).await;
            let invalid = terraform.resource.validate(&terraform.config(&attributes)).has_errors();
            if !invalid && !plan.diagnostics.has_errors() {
                terraform.assert_applies(&attributes).await;
                assert_equals_the_resource(&terraform).await;
            }
        });
    }

    #[test]
    fn a_gateway_data_source_equals_its_resource(attributes in some_basic_gateway()) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build().unwrap();
        runtime.block_on(async {
            let mut terraform = Terraform::<HttpGateway>::new(0);
            terraform.assert_applies(&attributes).await;
            assert_equals_the_resource(&terraform).await;
        });
    }
}

#[tokio::test(start_paused = true)]
async fn a_network_is_found_by_its_name_or_tags() {
    let mut terraform = Terraform::<FourTierVpc>::new(2);
    terraform.assert_applies(&network(&[])).await;
    let id = terraform.state.get("id").clone();
    let blue = root(id.as_str().unwrap(), "main", &[("team", "blue"), ("env", "prod")]);
    *terraform.account.roots.lock().unwrap() =
        vec![blue, root("vpc-b", "other", &[("env", "prod")]), root("vpc-c", "twice", &[])];
    let source = data_source_of(&terraform);
    for given in [
        vec![("vpc_name", Value::from("main"))],
        vec![("vpc_name", "main".into()), ("tags", tags(&[("env", "prod")]))],
        vec![("tags", tags(&[("env", "prod"), ("team", "blue")]))],
    ] {
        let found = read(&source, &given).await;
        let state = found.state.unwrap_or_else(|| panic!("{given:?}: {:?}", found.diagnostics));
        assert_eq!((state.get("id"), state.get("vpc_name")), (&id, &"main".into()));
        // The configured tags are unchanged.
        let configured = given.iter().find(|(name, _)| *name == "tags").map_or(Value::Null, |(_, tags)| tags.clone());
        assert_eq!(state.get("tags"), &configured);
    }
}

#[tokio::test(start_paused = true)]
async fn errors_name_the_criteria_and_the_existing_roots() {
    let terraform = Terraform::<FourTierVpc>::new(2);
    let source = data_source_of(&terraform);
    let (path, summary, detail) = read_error(&source, &[("vpc_name", "main".into())]).await;
    assert_eq!((&path[..], &summary[..]), ("vpc_name", "Could not read fgw_four_tier_vpc: none matches name \"main\""));
    for words in ["Region us-east-1 of account 123456789012", "\"four_tier_vpc/main\"", "has created none there"] {
        assert!(detail.contains(words), "{words}: {detail}");
    }
    let mut failed = root("vpc-b", "main", &[]);
    failed.state = Some(RootState::Incomplete);
    *terraform.account.roots.lock().unwrap() = vec![root("vpc-a", "main", &[("env", "prod")]), failed];
    let (_, _, detail) = read_error(&source, &[("vpc_name", "mian".into())]).await;
    assert!(detail.contains("\"main\" (vpc-a), \"main\" (vpc-b)"), "{detail}");
    let (path, summary, _) = read_error(&source, &[("tags", tags(&[("env", "test")]))]).await;
    assert_eq!(path, "tags");
    assert_eq!(summary, "Could not read fgw_four_tier_vpc: none matches tags env = \"test\"");
    let (path, summary, detail) = read_error(&source, &[("vpc_name", "main".into())]).await;
    assert_eq!((&path[..], &summary[..]), ("vpc_name", "Could not read fgw_four_tier_vpc: 2 match name \"main\""));
    let lines = ["vpc-a \"main\" (tags env = \"prod\")", "vpc-b \"main\" (no tags, fgw:state is incomplete)"];
    for words in [lines[0], lines[1], "Set only id"] {
        assert!(detail.contains(words), "{words}: {detail}");
    }
    let (path, summary, _) = read_error(&source, &[("id", "vpc-9".into())]).await;
    assert_eq!((&path[..], &summary[..]), ("id", "Could not read fgw_four_tier_vpc vpc-9: not found"));
}

#[tokio::test(start_paused = true)]
async fn unmanaged_roots_are_rejected_and_incomplete_ones_warned_of() {
    let mut terraform = Terraform::<HttpGateway>::new(0);
    terraform.assert_applies(&gateway(&[("GET /a", route("a", None))], &[], &[])).await;
    let source = data_source_of(&terraform);
    let id = terraform.state.get("id").clone();
    *terraform.account.root_state.lock().unwrap() = Some(RootState::Creating);
    let found = read(&source, &[("id", id.clone())]).await;
    assert!(found.state.is_some() && !found.diagnostics.has_errors());
    assert!(found.diagnostics.0[0].detail.contains("fgw:state is creating"), "{:?}", found.diagnostics);
    terraform.account.remove_ownership_tag();
    let (path, summary, detail) = read_error(&source, &[("id", id.clone())]).await;
    let id = id.as_str().unwrap();
    assert_eq!((&path[..], summary), ("id", format!("Could not read fgw_http_gateway {id}: not managed by fgw")));
    assert!(detail.contains("\"http_gateway/<name>\"") && detail.contains("aws_apigatewayv2_api"), "{detail}");
}

#[tokio::test(start_paused = true)]
async fn an_unknown_provider_configuration_is_an_error() {
    let connection = Connection::default();
    connection.set(Connected::Unknown(TagSettings::default()));
    let source = Existing::<FourTierVpc>::new(connection);
    let (_, summary, _) = read_error(&source, &[("id", "vpc-1".into())]).await;
    assert_eq!(summary, "The provider configuration is not known yet");
}

#[test]
fn search_criteria_are_required_and_must_not_conflict() {
    let source = Existing::<FourTierVpc>::new(Connection::default());
    let error_paths = |given: &[(&str, Value)]| -> Vec<String> {
        let Diagnostics(errors) = source.validate(&config(&source, given));
        errors.into_iter().map(|it| it.path.map(|path| path.to_string()).unwrap_or_default()).collect()
    };
    assert_eq!(error_paths(&[]), [""]);
    assert_eq!(error_paths(&[("tags", tags(&[]))]), [""]);
    assert_eq!(error_paths(&[("id", "".into())]), ["id"]);
    assert_eq!(error_paths(&[("vpc_name", "".into())]), ["vpc_name"]);
    let both = [("id", "vpc-1".into()), ("vpc_name", "main".into()), ("tags", tags(&[("a", "b")]))];
    assert_eq!(error_paths(&both), ["vpc_name", "tags"]);
    for given in [
        vec![("id", Value::Unknown)],
        vec![("vpc_name", Value::Unknown)],
        vec![("tags", Value::Unknown)],
        vec![("id", Value::Unknown), ("vpc_name", "main".into())],
        vec![("id", "vpc-1".into()), ("vpc_name", Value::Unknown), ("tags", tags(&[]))],
        vec![("vpc_name", "main".into()), ("tags", tags(&[("a", "b")]))],
    ] {
        assert_eq!(error_paths(&given), Vec::<String>::new(), "{given:?}");
    }
}
