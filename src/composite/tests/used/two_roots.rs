//! Two roots of one process and one log group, which the first one owns.

use super::*;

impl<P: Topology> Terraform<P> {
    /// Continues with another resource, in the same process.
    fn go_to(&mut self, account: &Arc<Simulation>, (state, private): (Value, Vec<u8>)) {
        self.account = account.clone();
        self.resource.connection.set(connected(account));
        (self.state, self.private) = (state, private);
    }
}

/// The process has read the owner, whose setting keeps the group or not.
async fn second_of_one_process<P: Logging>() {
    for keeps in [true, false] {
        let mut terraform = Terraform::<P>::new(1);
        let of_first = terraform.account.clone();
        terraform.assert_applies(&P::config(30, keeps, &[allowing()])).await;
        let first = (terraform.state.clone(), terraform.private.clone());
        let of_second = Arc::new(of_first.for_another_root());
        let second = P::config(30, true, &[allowing()]);
        // A new process.
        terraform = Terraform::<P>::on(of_first.clone());
        terraform.go_to(&of_first, first);
        terraform.refresh().await;
        terraform.go_to(&of_second, (Value::Null, Vec::new()));
        let plan = terraform.plan(&second).await;
        let shown = texts(&plan.diagnostics);
        assert!(shown.contains("so the apply uses it also if"), "{shown}");
        let applied = terraform.apply_plan(&second, plan).await;
        assert!(!applied.has_errors(), "the owner keeps: {keeps}: {}\nthe plan: {shown}", texts(&applied));
        assert!(inventory(&terraform.private).at(P::SLOT).expect("it is in state").is_used());
        terraform.assert_quiet(&second).await;
    }
}

for_both!(a_root_of_the_same_process_is_an_owner_like_others, second_of_one_process);

/// An owner, and a second root that uses its group.
struct Two<P: Topology> {
    terraform: Terraform<P>,
    of_owner: Arc<Simulation>,
    owner: (Value, Vec<u8>),
    of_user: Arc<Simulation>,
    user: (Value, Vec<u8>),
}

impl<P: Logging> Two<P> {
    async fn new(owner_keeps: bool) -> Self {
        let mut terraform = Terraform::<P>::new(1);
        let of_owner = terraform.account.clone();
        terraform.assert_applies(&P::config(30, owner_keeps, &[allowing()])).await;
        let owner = (terraform.state.clone(), terraform.private.clone());
        let of_user = Arc::new(of_owner.for_another_root());
        terraform.go_to(&of_user, (Value::Null, Vec::new()));
        terraform.assert_applies(&P::config(30, true, &[allowing()])).await;
        let user = (terraform.state.clone(), terraform.private.clone());
        of_user.share_groups_with(&of_owner);
        Self { terraform: Terraform::on(of_owner.clone()), of_owner, owner, of_user, user }
    }

    /// Reads the user and then the owner, as the plan of one configuration does.
    async fn read(&mut self) {
        self.terraform.go_to(&self.of_user, self.user.clone());
        self.terraform.refresh().await;
        self.terraform.go_to(&self.of_owner, self.owner.clone());
        self.terraform.refresh().await;
    }
}

/// A destroy of the owner keeps the group, which a new owner may not use unless its setting keeps it.
async fn owner_replaced<P: Logging>() {
    for keeps in [true, false] {
        for how in [Replaced::Requested, Replaced::Tainted] {
            let mut two = Two::<P>::new(keeps).await;
            two.read().await;
            let terraform = &mut two.terraform;
            let config = P::config(30, keeps, &[allowing()]);
            if !keeps {
                let plan = match how {
                    Replaced::Requested => terraform.plan_requested_replacement(&config).await,
                    _ => terraform.plan_successor(&config, Vec::new()).await,
                };
                let text = texts(&plan.diagnostics);
                assert!(plan.diagnostics.has_errors(), "{text}");
                let user = two.user.0.get("id").as_str().expect("it exists");
                assert!(text.contains(&format!("because {user} uses it")) && text.contains(P::SETTING), "{text}");
            }
            two.read().await;
            replace(&mut two.terraform, &P::config(30, true, &[allowing()]), how).await;
            assert_eq!(two.of_owner.deleted_groups(), Vec::<String>::new(), "keeps {keeps}, {how:?}");
        }
    }
}

for_both!(an_owner_is_replaced_only_if_the_next_one_can_use_its_group, owner_replaced);

/// The plan saw the owner, and the destroy of the owner comes first.
async fn owner_destroyed_in_the_same_run<P: Logging>() {
    for is_first in [true, false] {
        let mut two = Two::<P>::new(true).await;
        let withdrawn = P::config(30, true, &[]);
        two.terraform.go_to(&two.of_user, two.user.clone());
        two.terraform.assert_applies(&withdrawn).await;
        two.user = (two.terraform.state.clone(), two.terraform.private.clone());
        // It is tainted.
        two.terraform.go_to(&two.of_user, (Value::Null, Vec::new()));
        let create = two.terraform.plan(&withdrawn).await;
        assert!(!create.diagnostics.has_errors(), "{}", texts(&create.diagnostics));
        if is_first {
            two.terraform.go_to(&two.of_owner, two.owner.clone());
            replace_none(&mut two.terraform).await;
            two.of_owner.share_groups_with(&two.of_user);
        }
        two.terraform.go_to(&two.of_user, (two.user.0.clone(), create.private));
        let destroyed = two.terraform.destroy().await;
        assert_eq!(destroyed.has_errors(), !is_first, "{}", texts(&destroyed));
        if is_first {
            two.terraform.assert_applies(&withdrawn).await;
        }
    }
}

for_both!(an_owner_that_the_run_has_destroyed_stops_nothing, owner_destroyed_in_the_same_run);

/// The plan of the owner's destroy saw the user, which the same run destroys before the owner or after it.
async fn user_destroyed_in_the_same_run<P: Logging>() {
    for is_first in [true, false] {
        let mut two = Two::<P>::new(false).await;
        two.read().await;
        let terraform = &mut two.terraform;
        let plan = terraform.resource.plan(terraform.destroy_request()).await;
        assert!(!plan.diagnostics.has_errors(), "{}", texts(&plan.diagnostics));
        if is_first {
            terraform.go_to(&two.of_user, two.user.clone());
            replace_none(terraform).await;
            two.of_user.share_groups_with(&two.of_owner);
        }
        // The apply is another process.
        terraform.go_to(&two.of_owner, (two.owner.0.clone(), plan.private));
        replace_none(terraform).await;
        assert_eq!(two.of_owner.deleted_groups().is_empty(), !is_first);
    }
}

for_both!(a_group_stays_with_a_destroy_while_its_user_exists, user_destroyed_in_the_same_run);

/// The owner needs its group no more, without a destroy of the owner.
async fn owner_lets_go<P: Logging>() {
    let mut without = P::plain();
    without.set("allow_duplicate_name", true.into());
    for is_used in [true, false] {
        let mut two = Two::<P>::new(false).await;
        if is_used {
            two.read().await;
        }
        let terraform = &mut two.terraform;
        terraform.go_to(&two.of_owner, two.owner.clone());
        let plan = terraform.plan(&without).await;
        let text = texts(&plan.diagnostics);
        let user = two.user.0.get("id").as_str().expect("it exists");
        assert_eq!(text.contains(&format!("used by {user}")), is_used, "{text}");
        assert_eq!(text.contains("events are lost"), !is_used, "{text}");
        let applied = terraform.apply_plan(&without, plan).await;
        assert!(!applied.has_errors(), "{}", texts(&applied));
        terraform.assert_quiet(&without).await;
        assert_eq!(two.of_owner.deleted_groups().is_empty(), is_used);
    }
}

for_both!(an_update_leaves_a_group_that_another_root_uses, owner_lets_go);

/// The create of the user failed before it had a root.
async fn user_never_created<P: Logging>() {
    let mut terraform = Terraform::<P>::new(1);
    let of_owner = terraform.account.clone();
    terraform.assert_applies(&P::config(30, false, &[allowing()])).await;
    let owner = (terraform.state.clone(), terraform.private.clone());
    let of_user = Arc::new(of_owner.for_another_root());
    terraform.go_to(&of_user, (Value::Null, Vec::new()));
    of_user.failing.lock().unwrap().push(P::KIND.root().to_string());
    assert!(terraform.apply(&P::config(30, true, &[allowing()])).await.has_errors());
    assert!(terraform.state.is_null());
    terraform.go_to(&of_owner, owner);
    assert!(!terraform.destroy().await.has_errors());
    assert_eq!(of_owner.deleted_groups(), [GROUP]);
}

for_both!(a_failed_create_uses_no_group, user_never_created);
