//! Log groups whose events several gateways forward.

use std::collections::BTreeSet;

use super::*;

/// The configuration of a gateway that forwards the events of its group.
fn forwarding(keeps: bool, pattern: &str, more: &[(&str, Value)]) -> Value {
    let mut pairs = vec![
        ("access_log_logservice_group_subscription_destination_arn", function("sink").into()),
        ("access_log_logservice_group_subscription_filter_pattern", pattern.into()),
    ];
    pairs.extend(more.iter().cloned());
    HttpGateway::config(30, keeps, &pairs)
}

fn filters(terraform: &Terraform<HttpGateway>) -> BTreeSet<String> {
    terraform.account.filters()
}

fn names<const COUNT: usize>(ids: [&str; COUNT]) -> BTreeSet<String> {
    ids.map(str::to_string).into()
}

/// The filter in state.
fn own(terraform: &Terraform<HttpGateway>) -> String {
    terraform.state.get("aws_objects").get("log_subscription").as_str().expect("it is in state").to_string()
}

/// This includes `create_before_destroy`, in which the second gateway replaces the first one.
#[tokio::test(start_paused = true)]
async fn two_gateways_forward_one_group() {
    for is_first_destroyed_first in [true, false] {
        let config = forwarding(true, "", &[allowing()]);
        let mut first = Terraform::<HttpGateway>::new(1);
        first.assert_applies(&config).await;
        let mut second = Terraform::<HttpGateway>::on(Arc::new(first.account.for_another_root()));
        second.assert_applies(&config).await;
        second.account.share_groups_with(&first.account);
        assert_eq!(filters(&first), names([&own(&first), &own(&second)]));
        first.assert_quiet(&config).await;
        if !is_first_destroyed_first {
            (first, second) = (second, first);
        }
        replace_none(&mut first).await;
        first.account.share_groups_with(&second.account);
        assert_eq!(filters(&second), names([&own(&second)]), "{is_first_destroyed_first}");
        second.assert_quiet(&config).await;
        replace_none(&mut second).await;
        assert_eq!(filters(&second), names([]));
        assert_eq!(second.account.groups().into_iter().collect::<Vec<_>>(), [GROUP]);
    }
}

/// The plan says that AWS may reject the filter. The number that AWS allows has changed, so that is no error.
async fn assert_warned(terraform: &Terraform<HttpGateway>, config: &Value) {
    let plan = terraform.plan(config).await;
    let text = texts(&plan.diagnostics);
    let input = "AWS may reject access_log_logservice_group_subscription_destination_arn";
    assert!(!plan.diagnostics.has_errors() && text.contains(input), "{text}");
}

#[tokio::test(start_paused = true)]
async fn a_group_has_no_third_filter() {
    let mut terraform = Terraform::<HttpGateway>::new(1);
    existing(&terraform, None);
    let config = forwarding(true, "", &[]);
    for name in ["one", "two"] {
        assert!(!texts(&terraform.plan(&config).await.diagnostics).contains("AWS may reject"));
        terraform.account.create_filter(GROUP, name);
    }
    assert_warned(&terraform, &config).await;
    let refused = terraform.apply(&config).await;
    assert!(texts(&refused).contains("Resource limit exceeded"), "{}", texts(&refused));
    terraform.assert_applies(&HttpGateway::config(30, true, &[])).await;
    replace_none(&mut terraform).await;
    assert_eq!(filters(&terraform), names(["/shop|one", "/shop|two"]));
}

/// The filter that the change deletes makes no room in another group.
#[tokio::test(start_paused = true)]
async fn a_filter_stays_if_another_group_has_no_room() {
    let mut terraform = Terraform::<HttpGateway>::new(1);
    terraform.assert_applies(&forwarding(true, "", &[])).await;
    let before = filters(&terraform);
    let other = "/other";
    let retention_in_days = Input::Known(Some(30));
    let spec = LogGroup { name: other.to_string().into(), retention_in_days, ..LogGroup::test() };
    terraform.account.create_group(gateway_keys::log_group(&other.to_string().into()), spec, None);
    for name in ["one", "two"] {
        terraform.account.create_filter(other, name);
    }
    let config = forwarding(true, "", &[("access_log_logservice_group_name", other.into())]);
    assert_warned(&terraform, &config).await;
    let refused = terraform.apply(&config).await;
    assert!(texts(&refused).contains("Resource limit exceeded"), "{}", texts(&refused));
    assert!(filters(&terraform).is_superset(&before), "{:?}", filters(&terraform));
}

#[tokio::test(start_paused = true)]
async fn a_destroy_deletes_its_own_filter_alone() {
    for has_private_state in [true, false] {
        for is_used in [true, false] {
            let mut terraform = Terraform::<HttpGateway>::new(1);
            if is_used {
                existing(&terraform, None);
            }
            terraform.account.create_filter(GROUP, "theirs");
            terraform.assert_applies(&forwarding(true, "", &[])).await;
            assert_eq!(filters(&terraform), names([&own(&terraform), "/shop|theirs"]));
            if !has_private_state {
                terraform.private = Vec::new();
            }
            replace_none(&mut terraform).await;
            assert_eq!(
                filters(&terraform),
                names(["/shop|theirs"]),
                "used {is_used}, private state {has_private_state}"
            );
        }
    }
}

/// The update created the filter in a group that it uses, and was killed before the stage logged to the group.
#[tokio::test(start_paused = true)]
async fn the_filter_of_a_killed_update_is_found_by_its_name() {
    for pattern in ["", "ERROR"] {
        let mut terraform = Terraform::<HttpGateway>::new(1);
        existing(&terraform, None);
        terraform.assert_applies(&HttpGateway::plain()).await;
        let before = terraform.state.clone();
        terraform.account.failing.lock().unwrap().push("stage".to_string());
        let failed = terraform.apply(&forwarding(true, "", &[])).await;
        terraform.account.failing.lock().unwrap().clear();
        let left = filters(&terraform);
        assert!(failed.has_errors() && left.len() == 1, "{left:?} {}", texts(&failed));
        (terraform.state, terraform.private) = (before, Vec::new());
        terraform.assert_applies(&forwarding(true, pattern, &[])).await;
        assert_eq!(left, names([&own(&terraform)]));
        assert_eq!(filters(&terraform), left);
        replace_none(&mut terraform).await;
        assert_eq!(filters(&terraform), names([]));
    }
}

#[tokio::test(start_paused = true)]
async fn a_plan_names_the_filters_that_go_with_a_group() {
    for keeps in [false, true] {
        let mut terraform = Terraform::<HttpGateway>::new(1);
        terraform.assert_applies(&forwarding(keeps, "", &[])).await;
        terraform.account.create_filter(GROUP, "theirs");
        let destroy = terraform.resource.plan(terraform.destroy_request()).await.diagnostics;
        let update = terraform.plan(&HttpGateway::plain()).await.diagnostics;
        for text in [texts(&destroy), texts(&update)] {
            assert_eq!(text.contains("subscription filter theirs"), !keeps, "keeps {keeps}: {text}");
        }
    }
}
