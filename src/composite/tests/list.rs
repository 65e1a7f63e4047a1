//! Lists of roots, for `terraform query`.

use tokio::sync::mpsc;

use super::*;
use crate::cloud::Root;
use crate::composite::RootList;
use crate::plugin::{ListRequest, ListResource, Listed};

fn root(id: &str, name: &str, team: &str, state: Option<RootState>) -> Root {
    let tags = [("team".to_string(), team.to_string())].into();
    Root { id: id.into(), name: name.into(), tags, state }
}

/// A list resource on a simulated account with three other roots.
fn list_of(terraform: &Terraform<FourTierVpc>) -> RootList<FourTierVpc> {
    let mut roots = terraform.account.roots.lock().unwrap();
    *roots = vec![
        root("vpc-8", "main", "blue", Some(RootState::Creating)),
        root("vpc-7", "main", "green", Some(RootState::Incomplete)),
        root("vpc-9", "edge", "blue", None),
    ];
    let connection = Connection::default();
    connection.set(connected(&terraform.account));
    RootList::new(connection, Arc::default())
}

fn config(list: &impl ListResource, given: &[(&str, Value)]) -> Value {
    let mut config = Value::map(list.schema().attributes.into_iter().map(|it| (it.name, Value::Null)));
    for (name, value) in given {
        config.set(name, value.clone());
    }
    config
}

async fn listed(
    list: &impl ListResource,
    given: &[(&str, Value)],
    with_state: bool,
    limit: usize,
) -> (Vec<Listed>, Diagnostics) {
    let (found, mut results) = mpsc::channel(1);
    let request = ListRequest { config: config(list, given), with_state, limit, found };
    let collect = async {
        let mut all = Vec::new();
        while let Some(listed) = results.recv().await {
            all.push(listed);
        }
        all
    };
    let (diagnostics, all) = tokio::join!(list.list(request), collect);
    (all, diagnostics)
}

async fn names(list: &impl ListResource, given: &[(&str, Value)]) -> Vec<String> {
    let (all, diagnostics) = listed(list, given, false, 100).await;
    assert_eq!(diagnostics, Diagnostics::default());
    all.into_iter().map(|it| it.display_name).collect()
}

fn texts(items: &[&str]) -> Value {
    Value::List(items.iter().map(|it| Value::from(*it)).collect())
}

#[tokio::test(start_paused = true)]
async fn roots_are_found_by_name_tags_and_state() {
    let list = list_of(&Terraform::<FourTierVpc>::new(2));
    let all = ["edge (vpc-9, unknown)", "main (vpc-7, incomplete)", "main (vpc-8, creating)"];
    assert_eq!(names(&list, &[]).await, all);
    assert_eq!(names(&list, &[("vpc_name", "main".into())]).await, all[1..]);
    let blue = Value::map([("team", Value::from("blue"))]);
    assert_eq!(names(&list, &[("tags", blue.clone())]).await, [all[0], all[2]]);
    assert_eq!(names(&list, &[("states", texts(&["creating", "incomplete"]))]).await, all[1..]);
    assert_eq!(names(&list, &[("states", texts(&["unknown"])), ("tags", blue)]).await, all[..1]);
    assert_eq!(names(&list, &[("states", texts(&[]))]).await, [""; 0]);
    assert_eq!(listed(&list, &[], false, 2).await.0.len(), 2);
}

#[tokio::test(start_paused = true)]
async fn a_result_has_the_identity_and_state_of_an_import() {
    let mut terraform = Terraform::<FourTierVpc>::new(2);
    terraform.assert_applies(&network(&[])).await;
    let list = list_of(&terraform);
    *terraform.account.roots.lock().unwrap() = vec![root("vpc-2", "main", "blue", Some(RootState::Ready))];
    let (all, _) = listed(&list, &[], true, 100).await;
    let [found] = &all[..] else { panic!("{} results", all.len()) };
    let imported = terraform.resource.import(ImportTarget::Id("vpc-2".into())).await.state.unwrap();
    assert_eq!(found.state.as_ref(), Some(&imported));
    assert_eq!(found.identity, terraform.resource.identity(&imported));
    assert_eq!(found.display_name, "main (vpc-2, ready)");
    assert!(listed(&list, &[], false, 100).await.0[0].state.is_none());
}

#[tokio::test(start_paused = true)]
async fn a_root_that_cannot_be_read_is_a_warning() {
    // The roots have no objects.
    let list = list_of(&Terraform::<FourTierVpc>::new(2));
    let (all, diagnostics) = listed(&list, &[], true, 100).await;
    assert_eq!(diagnostics, Diagnostics::default());
    let skipped: Vec<&Listed> = all.iter().filter(|it| it.identity.is_none()).collect();
    assert_eq!((all.len(), skipped.len()), (3, 3));
    let warning = &skipped[0].diagnostics.0[0];
    assert_eq!(warning.severity, Severity::Warning);
    assert_eq!(warning.summary, "edge (vpc-9, unknown) is not in the list");
    assert!(warning.detail.contains("not found"), "{}", warning.detail);
}

#[tokio::test(start_paused = true)]
async fn a_root_that_cannot_be_read_does_not_count_towards_the_limit() {
    let list = list_of(&Terraform::<FourTierVpc>::new(2));
    assert_eq!(listed(&list, &[], true, 1).await.0.len(), 3);
}

#[test]
fn an_unknown_state_is_rejected_at_its_position() {
    let list = RootList::<FourTierVpc>::new(Connection::default(), Arc::default());
    let Diagnostics(errors) = list.validate(&config(&list, &[("states", texts(&["ready", "lost"]))]));
    assert_eq!(errors.len(), 1);
    assert_eq!(errors[0].path, Some(AttributePath::new("states").index(1)));
    assert!(errors[0].detail.contains("lost") && errors[0].detail.contains("incomplete"), "{}", errors[0].detail);
}
