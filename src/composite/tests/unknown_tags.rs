//! Provider blocks whose tags, credentials or endpoints are known only after apply.

use super::unknown_outputs::open_paths;
use super::*;
use crate::cloud::Root;
use crate::composite::Existing;
use crate::model::{IgnoreTags, Tags};
use crate::plugin::{DataRequest, DataSource};

fn tags(pairs: &[(&str, Input<String>)]) -> Tags {
    Input::Known(pairs.iter().map(|(key, value)| (key.to_string(), value.clone())).collect())
}

/// The settings that are known at apply.
fn known() -> TagSettings {
    let default_tags = tags(&[("run", Input::Known("1".into())), ("team", Input::Known("net".into()))]);
    TagSettings { default_tags, ignore_tags: IgnoreTags::default() }
}

/// The same with an unknown tag, with unknown tags, and with an unknown key to ignore.
fn unknown() -> [TagSettings; 3] {
    let value = tags(&[("run", Input::Unknown), ("team", Input::Known("net".into()))]);
    let ignore_tags = IgnoreTags { may_have_more: true, ..IgnoreTags::default() };
    [
        TagSettings { default_tags: value, ..known() },
        TagSettings { default_tags: Input::Unknown, ..known() },
        TagSettings { ignore_tags, ..known() },
    ]
}

fn rich_gateway() -> Value {
    let logs = [("access_log_logservice_group_name", "logs".into()), ("domain_name", "a.example.com".into())];
    gateway(&[("GET /a", route("a", Some("guard")))], &[("guard", authorizer("guard"))], &logs)
}

fn assert_only_tags_are_open(planned: &Value, state: &Value) {
    let open = open_paths(planned, state);
    let maps: Vec<&str> = vec!["tags_all", "drift", "pending_deletion", "unmanaged_objects"];
    let others = open.iter().filter(|path| !path.contains(".tags") && !maps.iter().any(|it| path.starts_with(*it)));
    assert_eq!(others.collect::<Vec<_>>(), Vec::<&String>::new());
    assert!(open.iter().any(|path| path.starts_with("tags_all")), "{open:?}");
}

async fn check<P: Topology>(config: &Value) {
    for settings in unknown() {
        let mut terraform = Terraform::<P>::new(3);
        terraform.account.set_tags(known());
        terraform.assert_applies(config).await;
        let before = terraform.state.clone();
        let slots = terraform.account.slots();
        terraform.account.set_tags(settings);
        terraform.refresh().await;
        assert_eq!(terraform.state, before, "a refresh changes nothing");
        let shown = terraform.plan(config).await;
        assert_eq!(shown.diagnostics, Diagnostics::default());
        assert_only_tags_are_open(&shown.planned, &before);
        for run in ["1", "2"] {
            let mut later = known();
            later.default_tags = tags(&[("run", Input::Known(run.into())), ("team", Input::Known("net".into()))]);
            terraform.account.set_tags(later);
            let last = terraform.plan(config).await;
            terraform.assert_as_planned(&shown.planned, &last.planned, "");
            terraform.assert_applies(config).await;
            assert_eq!(terraform.state.get("tags_all").get("run").as_str(), Some(run));
        }
        assert_eq!(terraform.account.slots(), slots);
    }
}

#[tokio::test(start_paused = true)]
async fn unknown_tags_of_the_provider_make_only_tags_of_a_network_unknown() {
    check::<FourTierVpc>(&network(&[("custom_tags", Value::map([("own", Value::from("x"))]))])).await;
}

#[tokio::test(start_paused = true)]
async fn unknown_tags_of_the_provider_make_only_tags_of_a_gateway_unknown() {
    check::<HttpGateway>(&rich_gateway()).await;
}

/// Other `default_tags` are a change of the configuration, and no drift.
async fn refreshed<P: Topology>(config: &Value) {
    let run = |state: &Value| state.get("tags_all").get("run").as_str().map(str::to_string);
    let mut terraform = Terraform::<P>::new(3);
    terraform.account.set_tags(known());
    terraform.assert_applies(config).await;
    let before = terraform.state.clone();
    let default_tags = tags(&[("run", Input::Known("2".into())), ("team", Input::Known("net".into()))]);
    terraform.account.set_tags(TagSettings { default_tags, ..known() });
    terraform.refresh().await;
    assert_eq!(terraform.state, before, "AWS has the tags of the last apply");
    assert_eq!(run(&terraform.plan(config).await.planned).as_deref(), Some("2"));
    terraform.assert_applies(config).await;
    assert_eq!(run(&terraform.state).as_deref(), Some("2"));

    let set = |spec: &mut Spec| {
        let Some(Input::Known(tags)) = spec.tags_mut() else { unreachable!() };
        tags.insert("run".into(), Input::Known("theirs".into()));
    };
    terraform.account.change_outside(P::KIND.root(), set);
    terraform.refresh().await;
    assert_eq!(run(&terraform.state).as_deref(), Some("theirs"));
    assert_eq!(run(&terraform.plan(config).await.planned).as_deref(), Some("2"));
    terraform.assert_applies(config).await;
    assert_eq!(run(&terraform.state).as_deref(), Some("2"));
}

#[tokio::test(start_paused = true)]
async fn a_refresh_shows_the_tags_that_a_root_has() {
    refreshed::<FourTierVpc>(&network(&[])).await;
    refreshed::<HttpGateway>(&rich_gateway()).await;
}

#[tokio::test(start_paused = true)]
async fn a_create_with_unknown_tags_plans_everything_else() {
    for settings in unknown() {
        let terraform = Terraform::<FourTierVpc>::new(3);
        terraform.account.set_tags(settings);
        let plan = terraform.plan(&network(&[])).await;
        assert_eq!(plan.diagnostics, Diagnostics::default());
        let subnet = plan.planned.get("public_subnets").get("main-public-0");
        assert_eq!((subnet.get("cidr_block"), subnet.get("index")), (&"10.0.0.0/21".into(), &0_i64.into()));
    }
}

/// Drift of a tag that may be ignored is neither reported nor corrected while that is unknown.
#[tokio::test(start_paused = true)]
async fn no_tag_is_removed_or_reported_while_ignored_keys_are_unknown() {
    let mut terraform = Terraform::<FourTierVpc>::new(1);
    let config = network(&[("custom_tags", Value::map([("own", Value::from("x"))]))]);
    terraform.assert_applies(&config).await;
    let set = |spec: &mut Spec| {
        let Some(Input::Known(tags)) = spec.tags_mut() else { unreachable!() };
        tags.insert("own".into(), Input::Known("theirs".into()));
    };
    terraform.account.change_outside("vpc", set);
    let ignore_tags = IgnoreTags { may_have_more: true, ..IgnoreTags::default() };
    terraform.account.set_tags(TagSettings { ignore_tags, ..TagSettings::default() });
    terraform.refresh().await;
    assert_eq!(*terraform.state.get("drift"), Value::map::<&str>([]));
    let shown = terraform.plan(&config).await;
    let ignore_tags = IgnoreTags { keys: vec!["own".into()], ..IgnoreTags::default() };
    terraform.account.set_tags(TagSettings { ignore_tags, ..TagSettings::default() });
    let last = terraform.plan(&config).await;
    terraform.assert_as_planned(&shown.planned, &last.planned, "");
    terraform.apply(&config).await;
    terraform.refresh().await;
    let found = terraform.account.tag("vpc", "own");
    assert_eq!(found.as_deref(), Some("theirs"), "an ignored tag stays");
}

#[tokio::test(start_paused = true)]
async fn data_sources_read_with_unknown_tags() {
    let mut terraform = Terraform::<FourTierVpc>::new(2);
    terraform.account.set_tags(known());
    terraform.assert_applies(&network(&[])).await;
    let id = terraform.state.get("id").clone();
    *terraform.account.roots.lock().unwrap() = vec![Root {
        id: id.as_str().unwrap().into(),
        name: "main".into(),
        state: Some(RootState::Ready),
        tags: [].into(),
    }];
    let connection = Connection::default();
    connection.set(connected(&terraform.account));
    let source = Existing::<FourTierVpc>::new(connection);
    let config = |source: &Existing<FourTierVpc>| {
        let mut config = Value::map(source.schema().attributes.into_iter().map(|it| (it.name, Value::Null)));
        config.set("id", id.clone());
        config
    };
    let before = source.read(DataRequest { config: config(&source) }).await.state.unwrap();
    for (number, settings) in unknown().into_iter().enumerate() {
        terraform.account.set_tags(settings);
        let read = source.read(DataRequest { config: config(&source) }).await;
        let state = read.state.unwrap();
        assert!(state.is_wholly_known() && !read.diagnostics.has_errors(), "{:?}", read.diagnostics);
        let subnet = |state: &Value| state.get("public_subnets").get("main-public-0").clone();
        assert_eq!(state.get("public_subnet_ids"), before.get("public_subnet_ids"));
        assert_eq!(subnet(&state).get("cidr_block"), subnet(&before).get("cidr_block"));
        // Only ignored keys decide which tags AWS's answer contributes.
        let are_hidden = number == 2;
        assert_eq!(read.diagnostics.0.len(), usize::from(are_hidden));
        assert_eq!(state.get("tags_all").is_null() && subnet(&state).get("tags").is_null(), are_hidden);
        assert!(are_hidden || state == before);
    }
}

/// Plans without an account, and returns the resource to its connection.
async fn without_account<P: Topology>(terraform: &mut Terraform<P>, config: &Value, tags: TagSettings) -> PlanResponse {
    let unknown = Connection::default();
    unknown.set(Connected::Unknown(tags));
    let connected = std::mem::replace(&mut terraform.resource, Composite::new(unknown));
    terraform.refresh().await;
    let plan = terraform.plan(config).await;
    terraform.resource = connected;
    plan
}

#[tokio::test(start_paused = true)]
async fn unknown_credentials_change_nothing_of_an_unchanged_topology() {
    let mut vpc = Terraform::<FourTierVpc>::new(3);
    vpc.account.set_tags(known());
    vpc.assert_applies(&network(&[])).await;
    let plan = without_account(&mut vpc, &network(&[]), known()).await;
    assert_eq!((&plan.planned, plan.requires_replace.len()), (&vpc.state, 0));
    let mut api = Terraform::<HttpGateway>::new(0);
    let mut config = rich_gateway();
    api.assert_applies(&config).await;
    let plan = without_account(&mut api, &config, TagSettings::default()).await;
    let open = open_paths(&plan.planned, &api.state);
    let expected = ["certificate_arn", "drift", "pending_deletion", "unmanaged_objects"];
    assert_eq!(open, expected.map(str::to_string).into(), "each plan looks up the certificate");
    config.set("certificate_arn", "cert-1".into());
    api.assert_applies(&config).await;
    let plan = without_account(&mut api, &config, TagSettings::default()).await;
    assert_eq!((&plan.planned, plan.requires_replace.len()), (&api.state, 0));
}

#[tokio::test(start_paused = true)]
async fn unknown_credentials_keep_the_ids_of_an_update_after_an_apply() {
    let mut terraform = Terraform::<FourTierVpc>::new(3);
    assert!(!terraform.apply(&network(&[])).await.has_errors());
    let changed = network(&[("create_transit_subnets", true.into())]);
    let shown = without_account(&mut terraform, &changed, TagSettings::default()).await;
    for name in ["id", "vpc_id", "public_subnet_ids", "private_app_route_table_ids", "nat_gateway_ids"] {
        assert_eq!(shown.planned.get(name), terraform.state.get(name), "{name}");
    }
    assert_eq!(*shown.planned.get("transit_subnet_ids"), Value::List(vec![Value::Unknown; 3]));
    let last = terraform.plan(&changed).await;
    terraform.assert_as_planned(&shown.planned, &last.planned, "");
    // Without private state, only the outputs of the VPC are certain.
    terraform.private.clear();
    let shown = without_account(&mut terraform, &changed, TagSettings::default()).await;
    for name in FourTierVpc::ROOT_OUTPUTS {
        assert_eq!(shown.planned.get(name), terraform.state.get(name), "{name}");
    }
    assert_eq!(*shown.planned.get("public_subnet_ids"), Value::Unknown);
}

#[tokio::test(start_paused = true)]
async fn another_region_without_an_account_is_still_a_replacement() {
    let mut terraform = Terraform::<FourTierVpc>::new(2);
    terraform.assert_applies(&network(&[])).await;
    let elsewhere = network(&[("region", "eu-west-1".into())]);
    let plan = without_account(&mut terraform, &elsewhere, TagSettings::default()).await;
    assert_eq!(plan.requires_replace, [AttributePath::new("region")]);
    assert_eq!(*plan.planned.get("vpc_id"), Value::Unknown);
}

/// A null element of a map of strings stays in the state as it is written, and otherwise counts as absent.
#[tokio::test(start_paused = true)]
async fn a_null_tag_is_absent_and_the_next_plan_is_empty() {
    let null = |more: &[(&str, Value)]| Value::map([("none", Value::Null)].into_iter().chain(more.iter().cloned()));
    let mut terraform = Terraform::<FourTierVpc>::new(2);
    terraform.account.set_tags(TagSettings { default_tags: tags(&[("none", Input::Known("d".into()))]), ..known() });
    let config = network(&[
        ("custom_tags", null(&[("own", "x".into())])),
        ("vpc_custom_tags", null(&[("own", Value::Null)])),
        ("name_tags", Value::map([("vpc", Value::Null), ("subnet.public.9", Value::Null)])),
        ("public_subnet_cidr_blocks", Value::map([("AZ-0", Value::Null)])),
        ("route_table_layout", Value::map([("private_app", Value::Null)])),
    ]);
    assert_eq!(terraform.resource.validate(&terraform.config(&config)), Diagnostics::default());
    let plan = terraform.plan(&config).await;
    assert_eq!(plan.diagnostics, Diagnostics::default());
    terraform.assert_applies(&config).await;
    assert_eq!(terraform.state.get("custom_tags"), config.get("custom_tags"));
    assert_eq!(terraform.account.tag("vpc", "none").as_deref(), Some("d"), "the default tag applies");
    assert_eq!(terraform.account.tag("vpc", "own").as_deref(), Some("x"), "no null overrides a less specific map");
    // Drift of the tag is not written into the null.
    terraform.account.change_outside("vpc", |spec| {
        let Some(Input::Known(tags)) = spec.tags_mut() else { unreachable!() };
        tags.insert("none".into(), Input::Known("other".into()));
    });
    terraform.refresh().await;
    assert_eq!(terraform.state.get("custom_tags"), config.get("custom_tags"));
    terraform.assert_applies(&config).await;
    let mut api = Terraform::<HttpGateway>::new(0);
    let mut config = rich_gateway();
    for name in ["api_tags", "stage_tags", "access_log_logservice_group_tags"] {
        config.set(name, null(&[("own", "x".into())]));
    }
    api.assert_applies(&config).await;
    assert_eq!(api.account.tag("api", "none"), None);
}
