//! What a data source tells of what a resource has made, and what it says where there is nothing to tell.

use proptest::prelude::*;

use super::properties::{some_gateway, some_network};
use super::*;
use crate::cloud::Root;
use crate::composite::Existing;
use crate::plugin::{DataRequest, DataResponse, DataSource};

/// A data source on the account of a resource.
fn beside<P: Topology>(terraform: &Terraform<P>) -> Existing<P> {
    let connection = Connection::default();
    connection.set(Connected::Ready(terraform.account.clone()));
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
    source.read(DataRequest { config: config(source, given), stop: Default::default() }).await
}

/// The one error of a look, with its path.
async fn refused<P: Topology>(source: &Existing<P>, given: &[(&str, Value)]) -> (String, String, String) {
    let DataResponse { state, diagnostics: Diagnostics(mut told) } = read(source, given).await;
    assert!(state.is_none() && told.len() == 1, "{state:?} {told:?}");
    let told = told.remove(0);
    (told.path.map(|path| path.to_string()).unwrap_or_default(), told.summary, told.detail)
}

/// Asserts that each attribute which the data source shares with the resource is what the resource says.
async fn assert_told_as_by_the_resource<P: Topology>(terraform: &Terraform<P>) {
    let source = beside(terraform);
    terraform.account.take_calls();
    let found = read(&source, &[("id", terraform.state.get("id").clone())]).await;
    assert_eq!(found.diagnostics, Diagnostics::default());
    let state = found.state.expect("it is there");
    let attributes = source.schema().attributes;
    assert_conforms(&state, &object_type(&attributes), "data");
    assert!(state.is_wholly_known());
    for attribute in attributes.iter().filter(|it| it.name != "tags") {
        let (told, expected) = (state.get(&attribute.name), terraform.state.get(&attribute.name));
        assert_eq!(told, expected, "{}", attribute.name);
    }
    assert_eq!(terraform.account.take_calls(), Vec::<String>::new(), "a look changes nothing");
}

fn tags(pairs: &[(&str, &str)]) -> Value {
    Value::map(pairs.iter().map(|(key, value)| (*key, Value::from(*value))))
}

fn root(id: &str, name: &str, tags: &[(&str, &str)]) -> Root {
    let tags = tags.iter().map(|(key, value)| (key.to_string(), value.to_string())).collect();
    Root { id: id.into(), name: name.into(), tags, state: Some(RootState::Ready) }
}

#[test]
fn every_output_of_the_resource_is_one_of_the_data_source_and_of_the_same_type() {
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
    fn a_network_is_told_as_its_resource_tells_it(attributes in some_network()) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build().unwrap();
        runtime.block_on(async {
            let mut terraform = Terraform::<FourTierVpc>::new(3);
            let plan = terraform.plan(&attributes).await;
            let invalid = terraform.resource.validate(&terraform.config(&attributes)).has_errors();
            if !invalid && !plan.diagnostics.has_errors() {
                terraform.assert_applies(&attributes).await;
                assert_told_as_by_the_resource(&terraform).await;
            }
        });
    }

    #[test]
    fn a_gateway_is_told_as_its_resource_tells_it(attributes in some_gateway()) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build().unwrap();
        runtime.block_on(async {
            let mut terraform = Terraform::<HttpGateway>::new(0);
            terraform.assert_applies(&attributes).await;
            assert_told_as_by_the_resource(&terraform).await;
        });
    }
}

#[tokio::test(start_paused = true)]
async fn a_network_is_found_by_its_name_or_by_tags_that_it_has_among_others() {
    let mut terraform = Terraform::<FourTierVpc>::new(2);
    terraform.assert_applies(&network(&[])).await;
    let id = terraform.state.get("id").clone();
    let blue = root(id.as_str().unwrap(), "main", &[("team", "blue"), ("env", "prod")]);
    *terraform.account.roots.lock().unwrap() =
        vec![blue, root("vpc-b", "other", &[("env", "prod")]), root("vpc-c", "twice", &[])];
    let source = beside(&terraform);
    for given in [
        vec![("vpc_name", Value::from("main"))],
        vec![("vpc_name", "main".into()), ("tags", tags(&[("env", "prod")]))],
        vec![("tags", tags(&[("env", "prod"), ("team", "blue")]))],
    ] {
        let found = read(&source, &given).await;
        let state = found.state.unwrap_or_else(|| panic!("{given:?}: {:?}", found.diagnostics));
        assert_eq!((state.get("id"), state.get("vpc_name")), (&id, &"main".into()));
        // What was written stays as it was written.
        let written = given.iter().find(|(name, _)| *name == "tags").map_or(Value::Null, |(_, tags)| tags.clone());
        assert_eq!(state.get("tags"), &written);
    }
}

#[tokio::test(start_paused = true)]
async fn none_or_several_are_an_error_that_names_what_was_looked_for_and_what_there_is() {
    let terraform = Terraform::<FourTierVpc>::new(2);
    let source = beside(&terraform);
    let (path, summary, detail) = refused(&source, &[("vpc_name", "main".into())]).await;
    assert_eq!((&path[..], &summary[..]), ("vpc_name", "No fgw_four_tier_vpc is called \"main\""));
    for words in ["Region us-east-1 of account 123456789012", "\"four_tier_vpc/main\"", "has made none there"] {
        assert!(detail.contains(words), "{words}: {detail}");
    }
    let mut failed = root("vpc-b", "main", &[]);
    failed.state = Some(RootState::Incomplete);
    *terraform.account.roots.lock().unwrap() = vec![root("vpc-a", "main", &[("env", "prod")]), failed];
    let (_, _, detail) = refused(&source, &[("vpc_name", "mian".into())]).await;
    assert!(detail.contains("\"main\" (vpc-a), \"main\" (vpc-b)"), "{detail}");
    let (path, summary, _) = refused(&source, &[("tags", tags(&[("env", "test")]))]).await;
    assert_eq!((&path[..], &summary[..]), ("tags", "No fgw_four_tier_vpc has the tags env = \"test\""));
    let (path, summary, detail) = refused(&source, &[("vpc_name", "main".into())]).await;
    assert_eq!((&path[..], &summary[..]), ("vpc_name", "2 of fgw_four_tier_vpc are called \"main\""));
    for words in ["vpc-a \"main\" (tags env = \"prod\")", "vpc-b \"main\" (no tags, fgw:state is incomplete)", "Set id"]
    {
        assert!(detail.contains(words), "{words}: {detail}");
    }
    let (path, summary, _) = refused(&source, &[("id", "vpc-9".into())]).await;
    assert_eq!((&path[..], &summary[..]), ("id", "fgw_four_tier_vpc vpc-9 does not exist"));
}

#[tokio::test(start_paused = true)]
async fn what_something_else_has_made_is_not_told_and_what_is_unfinished_is_with_a_warning() {
    let mut terraform = Terraform::<HttpGateway>::new(0);
    terraform.assert_applies(&gateway(&[("GET /a", route("a", None))], &[], &[])).await;
    let source = beside(&terraform);
    let id = terraform.state.get("id").clone();
    *terraform.account.root_state.lock().unwrap() = Some(RootState::Creating);
    let found = read(&source, &[("id", id.clone())]).await;
    assert!(found.state.is_some() && !found.diagnostics.has_errors());
    assert!(found.diagnostics.0[0].detail.contains("fgw:state is creating"), "{:?}", found.diagnostics);
    terraform.account.forget_maker();
    let (path, summary, detail) = refused(&source, &[("id", id.clone())]).await;
    let id = id.as_str().unwrap();
    assert_eq!((&path[..], summary), ("id", format!("{id} was not made by fgw_http_gateway")));
    assert!(detail.contains("\"http_gateway/<name>\"") && detail.contains("aws_apigatewayv2_api"), "{detail}");
}

#[tokio::test(start_paused = true)]
async fn a_provider_whose_block_is_unknown_reads_nothing_and_says_why() {
    let connection = Connection::default();
    connection.set(Connected::Unknown);
    let source = Existing::<FourTierVpc>::new(connection);
    let (_, summary, _) = refused(&source, &[("id", "vpc-1".into())]).await;
    assert_eq!(summary, "The provider configuration is not known yet");
}

#[tokio::test(start_paused = true)]
async fn a_look_that_is_stopped_ends_at_once() {
    let terraform = Terraform::<FourTierVpc>::new(2);
    terraform.account.hanging.store(true, std::sync::atomic::Ordering::Relaxed);
    let source = beside(&terraform);
    let request = DataRequest { config: config(&source, &[("id", "vpc-1".into())]), stop: Default::default() };
    request.stop.cancel();
    let found = source.read(request).await;
    assert!(found.state.is_none());
    assert_eq!(found.diagnostics.0[0].summary, "Reading fgw_four_tier_vpc was stopped");
}

#[test]
fn what_is_meant_must_be_said_and_said_once() {
    let source = Existing::<FourTierVpc>::new(Connection::default());
    let told = |given: &[(&str, Value)]| -> Vec<String> {
        let Diagnostics(told) = source.validate(&config(&source, given));
        told.into_iter().map(|it| it.path.map(|path| path.to_string()).unwrap_or_default()).collect()
    };
    assert_eq!(told(&[]), [""]);
    assert_eq!(told(&[("tags", tags(&[]))]), [""]);
    assert_eq!(told(&[("id", "".into())]), ["id"]);
    assert_eq!(told(&[("vpc_name", "".into())]), ["vpc_name"]);
    let both = [("id", "vpc-1".into()), ("vpc_name", "main".into()), ("tags", tags(&[("a", "b")]))];
    assert_eq!(told(&both), ["vpc_name", "tags"]);
    for given in [
        vec![("id", Value::Unknown)],
        vec![("vpc_name", Value::Unknown)],
        vec![("tags", Value::Unknown)],
        vec![("id", Value::Unknown), ("vpc_name", "main".into())],
        vec![("id", "vpc-1".into()), ("vpc_name", Value::Unknown), ("tags", tags(&[]))],
        vec![("vpc_name", "main".into()), ("tags", tags(&[("a", "b")]))],
    ] {
        assert_eq!(told(&given), Vec::<String>::new(), "{given:?}");
    }
}
