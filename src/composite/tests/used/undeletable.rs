//! Log groups with deletion protection, which AWS does not delete.

use super::*;

const PROTECTED: &str = "log groups with deletion protection";

/// Asserts that these messages refuse the deletion of the group, and say how to go on.
fn assert_refused(diagnostics: &Diagnostics, what: &str) {
    let text = texts(diagnostics);
    for part in [PROTECTED, "put-log-group-deletion-protection --log-group-identifier /shop", "skip_destroy"] {
        assert!(diagnostics.has_errors() && text.contains(part), "{what}: {part}: {text}");
    }
}

async fn protected_group<P: Logging>() {
    let mut terraform = Terraform::<P>::new(1);
    let config = P::config(30, false, &[]);
    terraform.assert_applies(&config).await;
    terraform.account.protect_group(GROUP, true);
    terraform.assert_quiet(&config).await;
    terraform.account.take_calls();
    let with_private_state = terraform.private.clone();
    for private in [with_private_state.clone(), Vec::new()] {
        terraform.private = private;
        let plan = terraform.resource.plan(terraform.destroy_request()).await;
        assert_refused(&plan.diagnostics, "the plan of a destroy");
        let destroyed = terraform.destroy().await;
        assert_refused(&destroyed, "a destroy");
    }
    assert_refused(&terraform.plan(&P::plain()).await.diagnostics, "an update");
    terraform.private = with_private_state;
    assert_refused(&terraform.plan_requested_replacement(&config).await.diagnostics, "a replacement");
    assert_refused(&terraform.replace(&config, Vec::new()).await, "a tainted resource");
    assert_eq!(terraform.account.take_calls(), Vec::<String>::new());

    // Both ways out.
    terraform.account.protect_group(GROUP, false);
    terraform.assert_quiet(&config).await;
    terraform.assert_applies(&P::plain()).await;
    terraform.assert_applies(&P::config(30, true, &[])).await;
    terraform.account.protect_group(GROUP, true);
    terraform.refresh().await;
    terraform.end().await;
    assert_eq!(terraform.account.deleted_groups(), [GROUP]);
}

for_both!(a_protected_group_stops_its_deletion_before_the_first_call, protected_group);

async fn failing_destroy<P: Logging>() {
    // It is protected after the plan.
    let mut terraform = Terraform::<P>::new(1);
    terraform.assert_applies(&P::config(30, false, &[])).await;
    terraform.account.protect_group(GROUP, true);
    let destroyed = terraform.destroy().await;
    assert!(destroyed.has_errors() && texts(&destroyed).contains("deletion protection"), "{destroyed:?}");
    terraform.account.protect_group(GROUP, false);
    terraform.refresh().await;
    terraform.end().await;
}

for_both!(a_group_that_is_protected_after_the_plan_stays_in_state, failing_destroy);

async fn settings_that_go<P: Logging>() {
    let mut terraform = Terraform::<P>::new(1);
    terraform.assert_applies(&P::config(30, false, &[])).await;
    find_settings(&mut terraform);
    let plan = terraform.resource.plan(terraform.destroy_request()).await;
    let text = texts(&plan.diagnostics);
    assert!(text.contains("its log events are lost, and so are its metric filters (2)"), "{text}");
}

for_both!(a_destroy_names_the_metric_filters_that_are_lost, settings_that_go);
