//! Shared lists, compared with reads one by one.

use std::collections::BTreeMap;

use futures::future::join_all;
use proptest::prelude::*;
use tokio::time::sleep;

use super::*;
use crate::cloud::Cause;

/// A root with an object, whose version counts its changes.
type Item = (String, u32);

/// An account with its roots, and the calls that it has received.
#[derive(Clone, Default)]
struct Account(Arc<Mutex<Inside>>);

#[derive(Default)]
struct Inside {
    versions: BTreeMap<String, u32>,
    calls: Vec<Vec<String>>,
    /// The numbers of the calls that fail, from 0.
    failing: BTreeSet<usize>,
    /// How long each call takes before and after AWS looks at the objects.
    slow: Duration,
    /// AWS does not say which root an object has.
    is_silent: bool,
}

impl Account {
    fn with(roots: usize) -> Account {
        let versions = (0..roots).map(|root| (root.to_string(), 0)).collect();
        Account(Arc::new(Mutex::new(Inside { versions, ..Inside::default() })))
    }

    fn calls(&self) -> Vec<Vec<String>> {
        lock(&self.0).calls.clone()
    }

    fn list(&self) -> impl Fn(Vec<String>) -> BoxFuture<'static, Result<Vec<Item>, Failure>> + Clone + Send + 'static {
        let account = self.clone();
        move |values| {
            let account = account.clone();
            async move {
                let (number, slow) = {
                    let mut inside = lock(&account.0);
                    inside.calls.push(values.clone());
                    (inside.calls.len() - 1, inside.slow)
                };
                sleep(slow).await;
                let found = {
                    let inside = lock(&account.0);
                    let owner = |root: &str| if inside.is_silent { String::new() } else { root.to_string() };
                    let found = inside.versions.iter().filter(|(root, _)| values.contains(root));
                    match inside.failing.contains(&number) {
                        true => Err(Failure::new(Cause::Throttled, "Describe", format!("call {number}"))),
                        false => Ok(found.map(|(root, version)| (owner(root), *version)).collect()),
                    }
                };
                sleep(slow).await;
                found
            }
            .boxed()
        }
    }
}

fn root_of(item: &Item) -> Option<&str> {
    Some(item.0.as_str()).filter(|root| !root.is_empty())
}

/// What Terraform reads in one process.
#[derive(Clone, Default)]
struct Process {
    company: Arc<Company>,
    list: Arc<SharedList<Item>>,
    account: Account,
}

impl Process {
    fn with(roots: usize) -> Process {
        Process { account: Account::with(roots), ..Process::default() }
    }

    /// As Terraform, which sends the state of each root before it reads it.
    fn announced(roots: usize) -> Process {
        let process = Process::with(roots);
        for root in 0..roots {
            process.company.announce(&root.to_string());
        }
        process
    }

    async fn read(&self, root: usize) -> Result<Vec<Item>, Failure> {
        let root = root.to_string();
        let _reading = self.company.enter(&root);
        self.list.of(&self.company, &root, root_of, self.account.list()).await
    }
}

fn item(root: usize, version: u32) -> Item {
    (root.to_string(), version)
}

#[tokio::test(start_paused = true)]
async fn a_root_without_company_does_not_wait() {
    let (process, start) = (Process::with(1), Instant::now());
    assert_eq!(process.read(0).await.unwrap(), [item(0, 0)]);
    assert_eq!(start.elapsed(), Duration::ZERO);
}

#[tokio::test(start_paused = true)]
async fn roots_that_are_read_together_send_one_call() {
    let (process, start) = (Process::announced(10), Instant::now());
    for (root, found) in join_all((0..10).map(|root| process.read(root))).await.into_iter().enumerate() {
        assert_eq!(found.unwrap(), [item(root, 0)]);
    }
    assert_eq!((process.account.calls().len(), start.elapsed()), (1, Duration::ZERO), "all have come");
}

#[tokio::test(start_paused = true)]
async fn company_is_waited_for_10_ms_at_most() {
    let (process, start) = (Process::with(2), Instant::now());
    let _other = process.company.enter("1");
    process.read(0).await.unwrap();
    assert_eq!(start.elapsed(), GATHER);
}

#[tokio::test(start_paused = true)]
async fn an_announced_root_is_company_for_a_moment() {
    let process = Process::announced(2);
    let second = async {
        sleep(Duration::from_millis(3)).await;
        process.read(1).await
    };
    let start = Instant::now();
    let (first, second) = tokio::join!(process.read(0), second);
    assert_eq!((first.unwrap(), second.unwrap()), (vec![item(0, 0)], vec![item(1, 0)]));
    assert_eq!((process.account.calls().len(), start.elapsed()), (1, Duration::from_millis(3)));

    sleep(COMING).await;
    process.company.announce("1");
    let start = Instant::now();
    process.read(0).await.unwrap();
    assert_eq!(start.elapsed(), COMING, "Terraform has not read it");
    process.read(0).await.unwrap();
    assert_eq!(start.elapsed(), COMING * 2, "a successor has not come");
    sleep(COMING).await;
    let start = Instant::now();
    process.read(0).await.unwrap();
    assert_eq!(start.elapsed(), Duration::ZERO, "no more are expected");
}

/// Terraform reads ten roots at once. It plans each, in turn because it has few cores, and then begins another one.
#[tokio::test(start_paused = true)]
async fn each_ten_of_many_roots_send_one_call() {
    let process = &Process::with(25);
    lock(&process.account.0).slow = Duration::from_millis(50);
    let permits = &tokio::sync::Semaphore::new(10);
    let core = &tokio::sync::Semaphore::new(1);
    let work = async || {
        let _core = core.acquire().await.unwrap();
        sleep(Duration::from_millis(9)).await;
    };
    let start = Instant::now();
    join_all((0..25).map(|root| async move {
        let _permit = permits.acquire().await.unwrap();
        process.company.announce(&root.to_string());
        work().await;
        assert_eq!(process.read(root).await.unwrap(), [item(root, 0)]);
        work().await;
    }))
    .await;
    let sizes: Vec<usize> = process.account.calls().iter().map(Vec::len).collect();
    assert_eq!(sizes, [10, 10, 5]);
    assert!(start.elapsed() < Duration::from_millis(1200), "{:?}", start.elapsed());
}

#[tokio::test(start_paused = true)]
async fn the_last_root_joins_all_lists() {
    let process = Process::announced(2);
    let other = SharedList::default();
    let second = async {
        sleep(Duration::from_millis(100)).await;
        let _reading = process.company.enter("1");
        sleep(Duration::from_millis(5)).await;
        other.of(&process.company, "1", root_of, process.account.list()).await
    };
    let first = async {
        let _reading = process.company.enter("0");
        other.of(&process.company, "0", root_of, process.account.list()).await
    };
    let (first, second) = tokio::join!(first, second);
    assert_eq!((first.unwrap(), second.unwrap()), (vec![item(0, 0)], vec![item(1, 0)]));
    assert_eq!(process.account.calls().len(), 1);
}

#[tokio::test(start_paused = true)]
async fn a_read_never_joins_a_call_that_was_sent() {
    let process = Process::with(2);
    lock(&process.account.0).slow = Duration::from_millis(50);
    let late = async {
        sleep(Duration::from_millis(60)).await;
        lock(&process.account.0).versions.insert("0".to_string(), 1);
        process.read(0).await
    };
    let (early, late) = tokio::join!(process.read(0), late);
    assert_eq!((early.unwrap(), late.unwrap()), (vec![item(0, 0)], vec![item(0, 1)]));
}

#[tokio::test(start_paused = true)]
async fn a_failure_reaches_exactly_the_reads_that_have_joined() {
    let process = Process::announced(2);
    lock(&process.account.0).failing.insert(0);
    let (first, second) = tokio::join!(process.read(0), process.read(1));
    assert_eq!((first.unwrap_err().cause, second.unwrap_err().cause), (Cause::Throttled, Cause::Throttled));
    assert_eq!(process.read(0).await.unwrap(), [item(0, 0)]);
}

#[tokio::test(start_paused = true)]
async fn a_call_outlives_who_began_it_and_ends_with_the_last() {
    let process = Process::announced(2);
    lock(&process.account.0).slow = Duration::from_millis(50);
    let first = tokio::time::timeout(Duration::from_millis(20), process.read(0));
    let (first, second) = tokio::join!(first, process.read(1));
    assert!(first.is_err());
    assert_eq!(second.unwrap(), [item(1, 0)]);
    assert_eq!(process.account.calls(), [["0", "1"]]);

    let _other = process.company.enter("0");
    let stopped = tokio::time::timeout(Duration::from_millis(5), process.read(1)).await;
    assert!(stopped.is_err());
    process.read(1).await.unwrap();
    assert_eq!(process.account.calls().len(), 2, "the call that no read waited for was not sent");
}

#[tokio::test(start_paused = true)]
async fn a_call_reads_at_most_200_roots() {
    let process = Process::announced(201);
    for found in join_all((0..201).map(|root| process.read(root))).await {
        assert_eq!(found.unwrap().len(), 1);
    }
    let mut sizes: Vec<usize> = process.account.calls().iter().map(Vec::len).collect();
    sizes.sort_unstable();
    assert_eq!(sizes, [1, 200]);
}

#[tokio::test(start_paused = true)]
async fn answers_that_cannot_be_divided_are_read_one_by_one() {
    let process = Process::announced(2);
    lock(&process.account.0).is_silent = true;
    let (first, second) = tokio::join!(process.read(0), process.read(1));
    assert_eq!((first.unwrap().len(), second.unwrap().len()), (1, 1));
    assert_eq!(process.account.calls().len(), 3);
}

/// What happens, in milliseconds from the start.
#[derive(Clone, Debug)]
enum Event {
    /// Terraform reads a root, and may stop after a time.
    Read { root: usize, stop: Option<u64> },
    /// Something else changes the object of a root.
    Change { root: usize },
}

fn events() -> impl Strategy<Value = Vec<(u64, Event)>> {
    let root = 0_usize..4;
    let read =
        (root.clone(), proptest::option::weighted(0.2, 0_u64..40)).prop_map(|(root, stop)| Event::Read { root, stop });
    let change = root.prop_map(|root| Event::Change { root });
    proptest::collection::vec((0_u64..100, prop_oneof![3 => read, 2 => change]), 1..30)
}

proptest! {
    /// Each read returns what a read of its own would have returned at some time between its begin and its end.
    #[test]
    fn a_shared_read_equals_one_of_its_own(
        events in events(), failing in proptest::collection::btree_set(0_usize..10, 0..4), slow in 0_u64..20,
    ) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build().unwrap();
        runtime.block_on(async {
            let process = Process::with(4);
            {
                let mut inside = lock(&process.account.0);
                (inside.failing, inside.slow) = (failing.clone(), Duration::from_millis(slow));
            }
            let asked = events.iter().filter(|(_, event)| matches!(event, Event::Read { .. })).count();
            join_all(events.into_iter().map(|(at, event)| happen(&process, at, event))).await;
            assert!(process.account.calls().len() <= asked);
        });
    }
}

async fn happen(process: &Process, at: u64, event: Event) {
    sleep(Duration::from_millis(at)).await;
    let version = |root: usize| lock(&process.account.0).versions[&root.to_string()];
    match event {
        Event::Change { root } => {
            *lock(&process.account.0).versions.get_mut(&root.to_string()).expect("it exists") += 1;
        }
        Event::Read { root, stop } => {
            let (before, calls) = (version(root), process.account.calls().len());
            let limit = stop.map_or(Duration::from_secs(60), Duration::from_millis);
            let Ok(found) = tokio::time::timeout(limit, process.read(root)).await else {
                assert!(stop.is_some(), "a read ends");
                return;
            };
            match found {
                Ok(found) => {
                    assert_eq!((found.len(), root_of(&found[0])), (1, Some(root.to_string().as_str())));
                    assert!((before..=version(root)).contains(&found[0].1), "{found:?} is older than the read");
                }
                Err(failure) => {
                    let number: usize = failure.message.trim_start_matches("call ").parse().expect("a number");
                    assert!(number >= calls, "call {number} was sent before");
                    assert!(process.account.calls()[number].contains(&root.to_string()), "it has asked");
                }
            }
        }
    }
}
