//! Used groups whose adoption fails: they stay used, also if `adopt` does not name them any more.

use super::*;

fn adopting<P: Logging>() -> Value {
    P::config(30, true, &[("adopt", Value::map([(P::SLOT, Value::from(GROUP))]))])
}

/// A root that uses a group, and whose adoption of that group has failed.
async fn failed<P: Logging>() -> Terraform<P> {
    let mut terraform = Terraform::<P>::new(1);
    existing(&terraform, None);
    terraform.assert_applies(&P::config(30, true, &[])).await;
    terraform.account.failing.lock().unwrap().push(P::SLOT.to_string());
    assert!(terraform.apply(&adopting::<P>()).await.has_errors());
    terraform.account.failing.lock().unwrap().clear();
    terraform
}

async fn adoption_fails<P: Logging>() {
    for is_private_state_lost in [false, true] {
        for keeps in [true, false] {
            let mut terraform = failed::<P>().await;
            if is_private_state_lost {
                terraform.private = Vec::new();
            }
            terraform.account.take_calls();
            terraform.assert_applies(&P::config(30, keeps, &[])).await;
            assert!(inventory(&terraform.private).at(P::SLOT).expect("it is in state").is_used());
            replace_none(&mut terraform).await;
            assert_eq!(calls(&terraform), Vec::<String>::new(), "keeps {keeps}");
            assert_eq!(terraform.account.groups().into_iter().collect::<Vec<_>>(), [GROUP]);
        }
    }
}

for_both!(a_group_whose_adoption_has_failed_stays_used, adoption_fails);

async fn adoption_is_repeated<P: Logging>() {
    let mut terraform = failed::<P>().await;
    terraform.refresh().await;
    terraform.assert_applies(&adopting::<P>()).await;
    assert!(!inventory(&terraform.private).at(P::SLOT).expect("it is in state").is_used());
    terraform.assert_applies(&P::config(30, false, &[])).await;
    terraform.end().await;
    assert_eq!(terraform.account.deleted_groups(), [GROUP]);
}

for_both!(a_failed_adoption_of_a_used_group_is_repeated, adoption_is_repeated);
