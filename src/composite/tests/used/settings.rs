//! A setting that keeps a group, in an apply that fails.

use super::*;

/// Applies another value of the setting, with changes of the group and of the root, of which one fails.
async fn failing_change<P: Logging>(terraform: &mut Terraform<P>, before: bool, failing: &str) {
    terraform.assert_applies(&P::config(30, before, &[])).await;
    terraform.account.failing.lock().unwrap().push(failing.to_string());
    let failed = terraform.apply(&changed::<P>(!before)).await;
    terraform.account.failing.lock().unwrap().clear();
    assert!(failed.has_errors(), "{failing} did not fail");
}

fn changed<P: Logging>(keeps: bool) -> Value {
    P::config(14, keeps, &[P::of_root()])
}

async fn kept_after_a_failure<P: Logging>() {
    for before in [true, false] {
        for failing in [P::SLOT, P::KIND.root()] {
            let mut terraform = Terraform::<P>::new(1);
            failing_change(&mut terraform, before, failing).await;
            terraform.refresh().await;
            let plan = terraform.resource.plan(terraform.destroy_request()).await;
            let text = texts(&plan.diagnostics);
            assert!(text.contains("kept by its setting"), "kept before: {before}, {failing} failed: {text}");
            replace_none(&mut terraform).await;
            let deleted = terraform.account.deleted_groups();
            assert_eq!(deleted, Vec::<String>::new(), "kept before: {before}, {failing} failed");
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_failed_apply_keeps_what_either_setting_keeps() {
    kept_after_a_failure::<FourTierVpc>().await;
    kept_after_a_failure::<HttpGateway>().await;
}

async fn private_state_lost_after_a_failure<P: Logging>() {
    for failing in [P::SLOT, P::KIND.root()] {
        let mut terraform = Terraform::<P>::new(1);
        failing_change(&mut terraform, false, failing).await;
        terraform.private = Vec::new();
        replace_none(&mut terraform).await;
        assert_eq!(terraform.account.deleted_groups(), Vec::<String>::new(), "{failing} failed");
    }
}

for_both!(a_failed_apply_keeps_without_private_state, private_state_lost_after_a_failure);

async fn applied_after_a_failure<P: Logging>() {
    for before in [true, false] {
        for failing in [P::SLOT, P::KIND.root()] {
            let mut terraform = Terraform::<P>::new(1);
            failing_change(&mut terraform, before, failing).await;
            terraform.assert_applies(&changed::<P>(!before)).await;
            replace_none(&mut terraform).await;
            let deleted = terraform.account.deleted_groups();
            assert_eq!(deleted.is_empty(), !before, "kept before: {before}, {failing} failed");
        }
    }
}

for_both!(the_next_apply_makes_the_new_setting_count, applied_after_a_failure);
