//! Names that only one object may have: two resources of one configuration, and objects of something else.

use tokio::time::Instant;

use super::*;
use crate::model::{LogGroup, Outside, OwningRoot};

const NAME: &str = "a.example.com";
const OTHER: &str = "b.example.com";

/// The configuration of a resource with this name, which has an object with that one.
type Config = fn(&str, Option<&str>) -> Value;

/// A custom domain with its record.
fn domain(name: &str, domain: Option<&str>) -> Value {
    let mut config = gateway(&[("GET /a", route("a", None))], &[], &[("name", name.into())]);
    if let Some(domain) = domain {
        config.set("domain_name", domain.into());
        config.set("create_dns_entry", true.into());
        config.set("hosted_zone_id", "Z0123456789A".into());
    }
    config
}

/// A log group that a destroy deletes.
fn group(name: &str, group: Option<&str>) -> Value {
    let mut config = domain(name, None);
    config.set("access_log_logservice_group_name", group.map(str::to_string).into());
    config
}

/// A log group that a destroy keeps.
fn kept_group(name: &str, of: Option<&str>) -> Value {
    let mut config = group(name, of);
    config.set("access_log_logservice_group_skip_destroy", of.is_some().into());
    config
}

fn group_of_network(name: &str, group: Option<&str>) -> Value {
    let log = |group: &str| {
        let role = "arn:aws:iam::123456789012:role/flow";
        Value::map([("log_group_name", Value::from(group)), ("iam_role_arn", role.into())])
    };
    let logs = group.map(|group| Value::map([("app", log(group))]));
    network(&[("vpc_name", name.into()), ("flow_logs", logs.unwrap_or(Value::Null))])
}

const OF_GATEWAY: [Config; 3] = [domain, group, kept_group];

/// Two resources in one account, and in one process if `siblings` is the same.
fn two_in<P: Topology, Q: Topology>(siblings: [Siblings; 2]) -> (Terraform<P>, Terraform<Q>) {
    let here = Arc::new(Simulation::new(1));
    let there = Arc::new(here.for_another_root());
    Simulation::share_names(&here, &there);
    let [one, two] = siblings;
    (Terraform::among(here, one), Terraform::among(there, two))
}

fn two<P: Topology>() -> (Terraform<P>, Terraform<P>) {
    let siblings = Siblings::default();
    two_in([siblings.clone(), siblings])
}

/// The second resource sees the log groups after changes of the first one.
fn show<P: Topology, Q: Topology>(changed: &Terraform<P>, other: &Terraform<Q>) {
    changed.account.share_groups_with(&other.account);
}

/// Terraform plans or applies a configuration in a new process.
fn begin<P: Topology>(terraform: &Terraform<P>) {
    terraform.resource.shared.names.forget_plans();
}

fn texts(diagnostics: &Diagnostics) -> String {
    diagnostics.0.iter().map(|it| format!("{:?}: {} {}\n", it.severity, it.summary, it.detail)).collect()
}

#[track_caller]
fn assert_refused(diagnostics: &Diagnostics, parts: &[&str]) {
    let text = texts(diagnostics);
    assert!(diagnostics.has_errors(), "{text}");
    for part in parts {
        assert!(text.contains(part), "{part}: {text}");
    }
    assert!(!text.contains("delete-domain-name"), "the run would settle it: {text}");
}

/// The first resource with a name, and the second one without.
async fn with_name<P: Topology>(config: Config) -> (Terraform<P>, Terraform<P>) {
    let (mut one, mut two) = two();
    one.assert_applies(&config("one", Some(NAME))).await;
    show(&one, &two);
    two.assert_applies(&config("two", None)).await;
    two.account.take_calls();
    (one, two)
}

async fn moves<P: Topology>(config: Config) {
    for is_user_first in [true, false] {
        for is_update in [true, false] {
            let (mut one, mut two) = with_name::<P>(config).await;
            if !is_update {
                two.end().await;
            }
            let (left, taken) = (config("one", None), config("two", Some(NAME)));
            begin(&one);
            let mut early = None;
            if is_user_first {
                early = Some(two.plan(&taken).await);
            }
            let of_one = one.plan(&left).await;
            let of_two = match early {
                Some(plan) => plan,
                None => two.plan(&taken).await,
            };
            for plan in [&of_one, &of_two] {
                assert!(!plan.diagnostics.has_errors(), "{}", texts(&plan.diagnostics));
            }
            let root_id = one.state.get("id").as_str().expect("it exists").to_string();
            assert!(texts(&of_two.diagnostics).contains(&root_id), "{}", texts(&of_two.diagnostics));
            let (account, theirs) = (one.account.clone(), two.account.clone());
            let releasing = async {
                let applied = one.apply_plan(&left, of_one).await;
                account.share_groups_with(&theirs);
                applied
            };
            let (of_two, of_one) = tokio::join!(two.apply_plan(&taken, of_two), releasing);
            assert!(!of_one.has_errors() && !of_two.has_errors(), "{} {}", texts(&of_one), texts(&of_two));
            two.assert_quiet(&taken).await;
            one.assert_quiet(&left).await;
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_name_moves_between_two_resources_in_one_run() {
    for config in OF_GATEWAY {
        moves::<HttpGateway>(config).await;
    }
    moves::<FourTierVpc>(group_of_network).await;
}

#[tokio::test(start_paused = true)]
async fn a_move_fails_unchanged_after_two_minutes() {
    for config in OF_GATEWAY {
        for is_update in [true, false] {
            // Another process has the other resource.
            let (mut one, mut two) = two_in::<HttpGateway, HttpGateway>([Siblings::default(), Siblings::default()]);
            one.assert_applies(&config("one", Some(NAME))).await;
            show(&one, &two);
            if is_update {
                two.assert_applies(&config("two", None)).await;
            }
            two.account.take_calls();
            let plan = two.plan(&config("two", Some(NAME))).await;
            assert!(!plan.diagnostics.has_errors(), "{}", texts(&plan.diagnostics));
            let (start, before) = (Instant::now(), two.state.clone());
            let applied = two.apply_plan(&config("two", Some(NAME)), plan).await;
            let root_id = one.state.get("id").as_str().expect("it exists").to_string();
            assert_refused(&applied, &[NAME, &root_id, "within 2 minutes", "apply again", "third name"]);
            assert_eq!(start.elapsed().as_secs(), 120);
            assert_eq!((two.account.take_calls(), &two.state), (Vec::new(), &before));
        }
    }
}

async fn exchange<P: Topology>(config: Config) {
    let (mut one, mut two) = with_name::<P>(config).await;
    two.assert_applies(&config("two", Some(OTHER))).await;
    show(&two, &one);
    let (of_one, of_two) = (config("one", Some(OTHER)), config("two", Some(NAME)));
    begin(&one);
    let first = one.plan(&of_one).await;
    assert!(!first.diagnostics.has_errors(), "{}", texts(&first.diagnostics));
    let second = two.plan(&of_two).await.diagnostics;
    assert_refused(&second, &[NAME, OTHER, "\"one\"", "third name"]);

    // The run that applies the plan of the first one sees the second one later.
    let start = Instant::now();
    begin(&one);
    let first = one.plan_again(&of_one, first.private).await;
    one.account.take_calls();
    let before = one.state.clone();
    let (applied, _) = tokio::join!(one.apply_plan(&of_one, first), two.plan(&of_two));
    assert_refused(&applied, &[NAME, OTHER, "\"two\"", "third name"]);
    assert!(start.elapsed().as_secs() < 10, "it waits in vain");
    assert_eq!((one.account.take_calls(), &one.state), (Vec::new(), &before));

    // Through a third name, in two applies.
    begin(&one);
    one.assert_applies(&config("one", Some("c.example.com"))).await;
    show(&one, &two);
    two.assert_applies(&of_two).await;
    show(&two, &one);
    one.assert_applies(&of_one).await;
}

#[tokio::test(start_paused = true)]
async fn an_exchange_fails_unchanged_and_says_how() {
    for config in OF_GATEWAY {
        exchange::<HttpGateway>(config).await;
    }
    exchange::<FourTierVpc>(group_of_network).await;
}

/// Neither resource exists, or the first one has the name and keeps it.
async fn wanted_twice<P: Topology, Q: Topology>(of_one: Config, of_two: Config) {
    let (one, two) = (of_one("one", Some(NAME)), of_two("two", Some(NAME)));
    for exists in [false, true] {
        for is_owner_first in [true, false] {
            let siblings = Siblings::default();
            let (mut first, second) = two_in::<P, Q>([siblings.clone(), siblings]);
            if exists {
                first.assert_applies(&one).await;
                show(&first, &second);
                begin(&first);
            }
            let (refused, other) = match is_owner_first {
                true => {
                    first.plan(&one).await;
                    (second.plan(&two).await, "\"one\"")
                }
                false => {
                    second.plan(&two).await;
                    (first.plan(&one).await, "\"two\"")
                }
            };
            assert_refused(&refused.diagnostics, &[NAME, other]);
        }
    }
}

#[tokio::test(start_paused = true)]
async fn two_resources_of_one_configuration_want_one_name() {
    for config in OF_GATEWAY {
        wanted_twice::<HttpGateway, HttpGateway>(config, config).await;
    }
    wanted_twice::<FourTierVpc, FourTierVpc>(group_of_network, group_of_network).await;
    wanted_twice::<FourTierVpc, HttpGateway>(group_of_network, group).await;
    wanted_twice::<HttpGateway, FourTierVpc>(group, group_of_network).await;
}

/// A hosted zone is in no Region. Users like one name in all Regions.
#[tokio::test(start_paused = true)]
async fn two_regions_want_one_record() {
    for names in [["us", "eu"], ["front", "front"]] {
        let here = Arc::new(Simulation::new(1));
        let there = Arc::new(here.for_another_root().at("123456789012", "eu-west-1"));
        let siblings = Siblings::default();
        let (one, two) =
            (Terraform::<HttpGateway>::among(here, siblings.clone()), Terraform::<HttpGateway>::among(there, siblings));
        let (of_one, mut of_two) = (domain(names[0], Some(NAME)), domain(names[1], Some(NAME)));
        let mut elsewhere = route("a", None);
        elsewhere.set("faas_function_arn", function("a").replace("us-east-1", "eu-west-1").into());
        of_two.set("route_config", Value::map([("GET /a", elsewhere)]));
        assert!(!one.plan(&of_one).await.diagnostics.has_errors());
        assert_refused(&two.plan(&of_two).await.diagnostics, &[NAME, names[0]]);
    }
}

/// The owner, of another process, does not release its group in time.
#[tokio::test(start_paused = true)]
async fn a_group_that_is_not_released_is_not_in_state() {
    for own in [Some("/mine"), None] {
        let (mut one, mut two) = two_in::<HttpGateway, HttpGateway>([Siblings::default(), Siblings::default()]);
        one.assert_applies(&kept_group("one", Some(NAME))).await;
        show(&one, &two);
        let mine = kept_group("two", own);
        two.assert_applies(&mine).await;
        let (wanted, before) = (kept_group("two", Some(NAME)), two.state.clone());
        let plan = two.plan(&wanted).await;
        two.account.take_calls();
        let applied = two.apply_plan(&wanted, plan).await;
        assert_refused(&applied, &[NAME, "within 2 minutes"]);
        assert_eq!(two.account.take_calls(), [""; 0]);
        two.refresh().await;
        assert_eq!(two.state.get("aws_objects"), before.get("aws_objects"));
        two.assert_quiet(&mine).await;
    }
}

/// A person has deleted the API of the owner, whose configuration drops the name.
#[tokio::test(start_paused = true)]
async fn a_name_moves_from_a_missing_root() {
    for config in OF_GATEWAY {
        let (mut one, mut two) = with_name::<HttpGateway>(config).await;
        one.account.delete_root_outside();
        show(&one, &two);
        begin(&one);
        one.refresh().await;
        let (left, taken) = (config("one", None), config("two", Some(NAME)));
        let (first, second) = (one.plan(&left).await, two.plan(&taken).await);
        assert!(!first.diagnostics.has_errors() && !second.diagnostics.has_errors(), "{}", texts(&second.diagnostics));
        let (account, theirs) = (one.account.clone(), two.account.clone());
        let releasing = async {
            let applied = one.replace(&left, first.private).await;
            account.share_groups_with(&theirs);
            applied
        };
        let (of_two, of_one) = tokio::join!(two.apply_plan(&taken, second), releasing);
        assert!(!of_one.has_errors() && !of_two.has_errors(), "{} {}", texts(&of_one), texts(&of_two));
    }
}

/// Whether or not the first network has its NAT gateway already.
#[tokio::test(start_paused = true)]
async fn two_networks_of_one_configuration_want_one_address() {
    let network = |name: &str, address: &str| {
        let addresses = ("custom_nat_eips", vec![address.to_string()].into());
        network(&[
            ("vpc_name", name.into()),
            ("num_nat_gateways", 1.into()),
            ("use_custom_nat_eips", true.into()),
            addresses,
        ])
    };
    let (one, two) = (network("one", "eipalloc-1"), network("two", "eipalloc-1"));
    for exists in [false, true] {
        let (mut first, second) = self::two::<FourTierVpc>();
        if exists {
            first.assert_applies(&one).await;
            begin(&first);
        }
        assert!(!first.plan(&one).await.diagnostics.has_errors());
        assert_refused(
            &second.plan(&two).await.diagnostics,
            &["eipalloc-1", "\"one\"", "custom_nat_eips", "nother address"],
        );
        assert!(!second.plan(&network("two", "eipalloc-2")).await.diagnostics.has_errors());
    }
}

/// A log group and a domain may have one name, and so may a record and both.
#[tokio::test(start_paused = true)]
async fn objects_of_different_kinds_share_a_name() {
    let (mut one, mut two) = two::<HttpGateway>();
    let (of_one, of_two) = (domain("one", Some(NAME)), group("two", Some(NAME)));
    let (first, second) = (one.plan(&of_one).await, two.plan(&of_two).await);
    assert!(!first.diagnostics.has_errors() && !second.diagnostics.has_errors(), "{}", texts(&second.diagnostics));
    let (first, second) = tokio::join!(one.apply_plan(&of_one, first), two.apply_plan(&of_two, second));
    assert!(!first.has_errors() && !second.has_errors(), "{} {}", texts(&first), texts(&second));
}

/// The plans do not know each other, such as those of another process.
#[tokio::test(start_paused = true)]
async fn two_applies_of_one_process_never_create_one_name() {
    for config in OF_GATEWAY {
        for is_at_once in [true, false] {
            let (mut one, mut two) = two::<HttpGateway>();
            let (of_one, of_two) = (config("one", Some(NAME)), config("two", Some(NAME)));
            let first = Terraform::<HttpGateway>::new(1).plan(&of_one).await;
            let second = Terraform::<HttpGateway>::new(1).plan(&of_two).await;
            let results = match is_at_once {
                true => tokio::join!(one.apply_plan(&of_one, first), two.apply_plan(&of_two, second)),
                false => {
                    let applied = one.apply_plan(&of_one, first).await;
                    show(&one, &two);
                    (applied, two.apply_plan(&of_two, second).await)
                }
            };
            let (refused, left) = match results {
                (one_result, refused) if !one_result.has_errors() => (refused, two),
                (refused, two_result) => {
                    assert!(!two_result.has_errors() && is_at_once, "{}", texts(&two_result));
                    (refused, one)
                }
            };
            assert_refused(&refused, &[NAME]);
            assert_eq!((left.account.take_calls(), &left.state), (Vec::new(), &Value::Null));
        }
    }
}

/// Resources of both types know each other.
#[tokio::test(start_paused = true)]
async fn a_gateway_leaves_the_log_group_that_a_network_uses() {
    let siblings = Siblings::default();
    let (mut owner, mut user) = two_in::<HttpGateway, FourTierVpc>([siblings.clone(), siblings]);
    let allowing = |mut config: Value| {
        config.set("allow_duplicate_name", true.into());
        config
    };
    owner.assert_applies(&allowing(group("one", Some(NAME)))).await;
    show(&owner, &user);
    let mut using = allowing(group_of_network("two", Some(NAME)));
    let mut log = using.get("flow_logs").get("app").clone();
    log.set("log_group_skip_destroy", true.into());
    using.set("flow_logs", Value::map([("app", log)]));
    user.assert_applies(&using).await;
    let without = allowing(group("one", None));
    let plan = owner.plan(&without).await;
    let root_id = user.state.get("id").as_str().expect("it exists").to_string();
    let text = texts(&plan.diagnostics);
    assert!(!plan.diagnostics.has_errors() && text.contains(&format!("used by {root_id}")), "{text}");
    let applied = owner.apply_plan(&without, plan).await;
    assert!(!applied.has_errors(), "{}", texts(&applied));
    assert_eq!(owner.account.deleted_groups(), Vec::<String>::new());
}

async fn replaced<P: Topology>(config: Config) {
    let named = config("one", Some(NAME));
    for is_tainted in [true, false] {
        let mut terraform = Terraform::<P>::new(1);
        terraform.assert_applies(&named).await;
        terraform.refresh().await;
        let private = match is_tainted {
            true => Vec::new(),
            false => terraform.plan(&named).await.private,
        };
        let replaced = terraform.replace(&named, private).await;
        assert!(!replaced.has_errors(), "{}", texts(&replaced));
        terraform.assert_quiet(&named).await;
    }
    // The root is missing, and its name stays.
    let mut terraform = Terraform::<P>::new(1);
    terraform.assert_applies(&named).await;
    terraform.account.delete_root_outside();
    terraform.refresh().await;
    terraform.assert_applies(&named).await;
}

#[tokio::test(start_paused = true)]
async fn a_replacement_is_no_second_resource() {
    for config in OF_GATEWAY {
        replaced::<HttpGateway>(config).await;
    }
    replaced::<FourTierVpc>(group_of_network).await;
}

/// With `create_before_destroy`, the old gateway has the domain until the new one exists.
#[tokio::test(start_paused = true)]
async fn a_domain_cannot_be_replaced_before_its_deletion() {
    let (mut one, two) = two::<HttpGateway>();
    let mut config = domain("one", Some(NAME));
    config.set("allow_duplicate_name", true.into());
    one.assert_applies(&config).await;
    begin(&one);
    one.plan(&config).await;
    let plan = two.plan(&config).await;
    assert!(!plan.diagnostics.has_errors(), "{}", texts(&plan.diagnostics));
    // The process of the apply does not know the old gateway.
    let mut two = Terraform::<HttpGateway>::among(two.account.clone(), Siblings::default());
    let id = one.state.get("id").as_str().expect("it exists").to_string();
    let old = Namesake { id, created: None, state: Some(RootState::Ready), features: Default::default() };
    two.account.namesakes.lock().unwrap().push(old);
    let plan = two.plan_again(&config, plan.private).await;
    two.account.take_calls();
    let start = Instant::now();
    assert_refused(&two.apply_plan(&config, plan).await, &[NAME, "create_before_destroy"]);
    assert!(start.elapsed().as_secs() < 10, "it waits in vain");
    assert_eq!((two.account.take_calls(), &two.state), (Vec::new(), &Value::Null));
}

/// A gateway that uses a log group, which `adopt` names. Another name is taken.
#[tokio::test(start_paused = true)]
async fn adopt_lifts_only_the_check_of_what_it_names() {
    let zone_id = || "Z0123456789A".to_string();
    let mapping = Outside::Mapping { domain: NAME.into(), path: String::new(), stage: "$default".into() };
    let record = Outside::Record { zone_id: zone_id(), name: NAME.into(), record_type: "A".into() };
    let cases = [
        (Outside::Domain(NAME.into()), "d-9.example.com", "custom domain"),
        (record, "A 192.0.2.1", "A record"),
        (mapping, "m9 api9/prod", "API mapping"),
    ];
    for (taken, detail, said) in cases {
        let mut terraform = Terraform::<HttpGateway>::new(1);
        let spec = LogGroup { name: "/shop".to_string().into(), ..LogGroup::test() };
        let key = crate::model::keys::gateway::log_group(&"/shop".to_string().into());
        terraform.account.create_group(key, spec, None);
        let mut config = match &taken {
            // Only the mapping of a domain of this gateway is looked up.
            Outside::Mapping { .. } => domain("one", Some(NAME)),
            _ => domain("one", None),
        };
        config.set("access_log_logservice_group_name", "/shop".into());
        config.set("access_log_logservice_group_skip_destroy", true.into());
        terraform.assert_applies(&config).await;
        let is_mapping = matches!(taken, Outside::Mapping { .. });
        if is_mapping {
            terraform.account.delete_outside("api_mapping");
            terraform.refresh().await;
        }
        terraform.account.take_name(taken, None, detail);
        let mut wanted = domain("one", Some(NAME));
        wanted.set("access_log_logservice_group_name", "/shop".into());
        wanted.set("access_log_logservice_group_skip_destroy", true.into());
        for adopts in [false, true] {
            if adopts {
                wanted.set("adopt", Value::map([("log_group", Value::from("/shop"))]));
            }
            let plan = terraform.plan(&wanted).await;
            let text = texts(&plan.diagnostics);
            let is_said = plan.diagnostics.0.iter().any(|it| it.detail.contains(said));
            // The problem of an unchanged input is a warning.
            assert!(plan.diagnostics.has_errors() != is_mapping && is_said, "adopts: {adopts}: {said}: {text}");
        }
    }
}

/// The owner of a domain does not exist any more, so nothing deletes the domain.
#[tokio::test(start_paused = true)]
async fn a_domain_without_a_living_owner_is_an_error_of_the_plan() {
    for (is_living, is_error) in [(false, true), (true, false)] {
        let terraform = Terraform::<HttpGateway>::new(1);
        let owner = OwningRoot { id: "api9".into(), is_living };
        terraform.account.take_name(Outside::Domain(NAME.into()), Some(owner), "d-9.example.com");
        let found = terraform.plan(&domain("one", Some(NAME))).await.diagnostics;
        let text = texts(&found);
        assert!(text.contains("api9") && found.has_errors() == is_error, "{text}");
        assert_eq!(text.contains("delete-domain-name"), is_error, "{text}");
    }
}
