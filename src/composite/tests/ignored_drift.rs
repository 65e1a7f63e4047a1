//! Ignored drift through changes of the configuration: what a plan does not show, an apply does not change.

use std::collections::{BTreeMap, BTreeSet};

use proptest::prelude::*;

use super::properties::{some_gateway, some_network};
use super::*;
use crate::model::{
    AccessLog, AuthorizationType, Entry, Key, NetworkAclRule, Ref, RuleSource, SecurityGroupRule, Unfinished,
};

/// Changes an object outside Terraform. `choice` selects the change. Returns whether the kind of object has it.
fn change(spec: &mut Spec, choice: u8, others: &[Key]) -> bool {
    let flip = |value: &mut Input<bool>| *value = Input::Known(*value != Input::Known(true));
    match (spec, choice) {
        (Spec::Vpc(it), 0) => flip(&mut it.enable_dns_hostnames),
        (Spec::Subnet(it), 0) => flip(&mut it.map_public_ip_on_launch),
        (Spec::Subnet(it), 1) if it.ipv6_block.is_none() => {
            let Some(block) = others.iter().find(|key| key.slot == "ipv6_cidr_block") else { return false };
            it.ipv6_block = Some(block.clone());
            it.ipv6_cidr_block = Input::Known(Some("2001:db8:ffff:1::/64".into()));
        }
        (Spec::Route(it), 0) => it.target = Ref::Id("eni-inspection".into()),
        (Spec::Route(it), 1) => {
            let is_other = |key: &&Key| key.slot.starts_with("nat_gateway.") && Ref::Key((*key).clone()) != it.target;
            let Some(other) = others.iter().find(is_other).cloned() else { return false };
            it.target = Ref::Key(other);
        }
        (Spec::RouteTableAssociation(it), 0) => it.route_table = Ref::Id("rtb-own".into()),
        (Spec::RouteTable(it), 0) => {
            let Input::Known(gateways) = &mut it.propagating_gateways else { return false };
            return gateways.pop().is_some();
        }
        (Spec::VpcEndpoint(it), 0) => return it.route_tables.pop().is_some(),
        (Spec::VpcEndpoint(it), 1) => it.policy = Input::Known(Some("{}".into())),
        (Spec::DefaultNetworkAcl(it), 0) => {
            let Input::Known(rules) = &mut it.ingress else { return false };
            rules.push(NetworkAclRule { rule_no: 77, cidr_block: "10.9.0.0/16".into(), ..NetworkAclRule::test() });
            rules.sort();
        }
        (Spec::DefaultSecurityGroup(it), 0) => {
            let Input::Known(Some(rules)) = &mut it.egress else { return false };
            let source = RuleSource::CidrIpv4("10.9.0.0/16".into());
            rules.push(SecurityGroupRule { source, ..SecurityGroupRule::test() });
            rules.sort();
        }
        (Spec::Api(it), 0) => it.description = Input::Known(Some("by hand".into())),
        (Spec::Api(it), 1) => {
            let Input::Known(Some(cors)) = &mut it.cors else { return false };
            cors.allow_origins.push("https://other.example.com".into());
        }
        (Spec::Authorizer(it), 0) => it.result_ttl_in_seconds = Input::Known(77),
        (Spec::JwtAuthorizer(it), 0) => it.audience = Input::Known(["desk".to_string()].into()),
        (Spec::ApiRoute(it), 0) => it.authorization = AuthorizationType::AwsIam.into(),
        (Spec::Integration(it), 0) => it.timeout_in_millis = Input::Known(7_777),
        (Spec::Stage(it), 0) => it.auto_deploy = false,
        (Spec::Stage(it), 1) => {
            let (log_group, format) = (Ref::Id("arn:aws:logs:::own".into()), Input::Known("$context.path".into()));
            it.access_log = Some(AccessLog { log_group, format });
        }
        (Spec::LogGroup(it), 0) => it.retention_in_days = Input::Known(Some(545)),
        (Spec::LogSubscription(it), 0) => it.filter_pattern = Input::Known("ERROR".into()),
        (spec, 2) => match spec.tags_mut() {
            Some(Input::Known(tags)) => match tags.values_mut().next() {
                Some(tag) => *tag = Input::Known("by hand".into()),
                None => return false,
            },
            _ => return false,
        },
        (spec, 3) => match spec.tags_mut() {
            Some(Input::Known(tags)) => return tags.pop_first().is_some(),
            _ => return false,
        },
        _ => return false,
    }
    true
}

/// One apply: its configuration, the change of an object before it, and the object whose operations fail in it. Both
/// objects are selected by numbers.
#[derive(Clone, Debug)]
struct Round {
    config: Value,
    changed: (usize, u8),
    failing: Option<usize>,
}

fn some_round(config: impl Strategy<Value = Value>) -> impl Strategy<Value = Round> {
    let changed = (any::<prop::sample::Index>(), 0..4_u8).prop_map(|(index, choice)| (index.index(4096), choice));
    let failing = prop::option::weighted(0.3, any::<prop::sample::Index>().prop_map(|index| index.index(4096)));
    (config, changed, failing).prop_map(|(mut config, changed, failing)| {
        config.set("ignore_drift", vec!["*"].into());
        Round { config, changed, failing }
    })
}

/// Rounds that change tags only, or anything.
fn some_rounds(config: impl Strategy<Value = Value>) -> impl Strategy<Value = Vec<Round>> {
    let rounds = proptest::collection::vec(some_round(config), 4);
    (rounds, any::<[bool; 4]>()).prop_map(|(mut rounds, same)| {
        for number in 1..rounds.len() {
            if same[number] {
                let mut config = rounds[number - 1].config.clone();
                let tags = Value::map([("round", Value::from(format!("{number}")))]);
                let name = if config.get("vpc_name").is_null() { "api_tags" } else { "custom_tags" };
                config.set(name, tags);
                rounds[number].config = config;
            }
        }
        rounds
    })
}

/// The lines of the warnings with this summary.
fn lines<'a>(plan: &'a PlanResponse, summary: &'a str) -> impl Iterator<Item = &'a str> {
    let warnings = plan.diagnostics.0.iter().filter(move |it| it.summary.contains(summary));
    warnings.flat_map(|it| it.detail.lines())
}

/// The drift of the ignored units, by key, which this test has caused.
type Drift = BTreeMap<Key, BTreeSet<String>>;

/// Asserts that the found values have changed only where the plan has said so, and removes these from `drift`.
fn assert_announced(drift: &mut Drift, found: &BTreeMap<Key, Spec>, account: &Simulation, plan: &PlanResponse) {
    drift.retain(|key, units| {
        let slot = &key.slot;
        // A change to the value that an object had, such as the authorization of a route, is no drift.
        if units.is_empty() {
            return false;
        }
        let Some(now) = account.spec_of(key) else {
            let is_listed =
                lines(plan, "loses ignored drift").any(|line| line.trim().starts_with(&format!("{slot} (")));
            assert!(is_listed, "{slot} is deleted with its drift: {:?}", plan.diagnostics);
            return false;
        };
        let changed: BTreeSet<String> = found[key].differing_units(&now).intersection(units).cloned().collect();
        for unit in &changed {
            let field = unit.split(' ').next().unwrap().trim_start_matches("cors.");
            let word = if field == "tags" { "tag" } else { field };
            let is_listed = lines(plan, "overwrites ignored drift")
                .any(|line| line.trim().strip_prefix(&format!("{slot}: ")).is_some_and(|text| text.contains(word)));
            assert!(is_listed, "{slot}: {unit} was overwritten silently: {:?}", plan.diagnostics);
        }
        units.retain(|unit| !changed.contains(unit));
        true
    });
}

fn entries<P: Topology>(terraform: &Terraform<P>) -> Vec<Entry> {
    if terraform.state.is_null() { Vec::new() } else { inventory(&terraform.private).entries }
}

/// The spec of an object, with what AWS does not store as in the last apply.
fn spec_in(account: &Simulation, entry: &Entry) -> Option<Spec> {
    let mut spec = account.spec_of(&entry.key)?;
    spec.take_forms(entry.applied.as_kind());
    spec.mask_unowned(entry.applied.as_kind());
    Some(spec)
}

fn check<P: Topology>(rounds: &[Round]) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build().unwrap();
    runtime.block_on(async {
        let mut terraform = Terraform::<P>::new(3);
        let mut drift = Drift::new();
        let mut last = None;
        for Round { config, changed: (number, choice), failing } in rounds {
            if terraform.resource.validate(&terraform.config(config)).has_errors() {
                continue;
            }
            let keys: Vec<Key> = entries(&terraform).into_iter().map(|entry| entry.key).collect();
            if let Some(key) = (!keys.is_empty()).then(|| &keys[number % keys.len()])
                && let Some(before) = terraform.account.spec_of(key)
            {
                let mut spec = before.clone();
                if change(&mut spec, *choice, &keys) {
                    terraform.account.change_outside(&key.slot, |it| *it = spec.clone());
                    // What a failed update may have changed is no drift, even if someone changes it again.
                    let entry = entries(&terraform).into_iter().find(|entry| entry.key == *key);
                    let attempted = match entry.and_then(|entry| entry.unfinished) {
                        Some(Unfinished::Update(units)) => units,
                        _ => BTreeSet::new(),
                    };
                    let changed = before.differing_units(&spec);
                    drift.entry(key.clone()).or_default().extend(changed.difference(&attempted).cloned());
                }
            }
            terraform.refresh().await;
            let found = drift.keys().filter_map(|key| Some((key.clone(), terraform.account.spec_of(key)?))).collect();
            let plan = terraform.plan(config).await;
            if plan.diagnostics.has_errors() {
                continue;
            }
            if !plan.requires_replace.is_empty() {
                drift.clear();
                terraform.assert_applies(config).await;
                last = Some(config);
                continue;
            }
            let slots = terraform.account.slots();
            if let (Some(number), false) = (failing, slots.is_empty()) {
                terraform.account.failing.lock().unwrap().push(slots[number % slots.len()].clone());
            }
            let diagnostics = terraform.apply(config).await;
            terraform.account.failing.lock().unwrap().clear();
            assert_announced(&mut drift, &found, &terraform.account, &plan);
            if diagnostics.has_errors() {
                // The plan of the rest names what is overwritten, as this one did. What the failed update was to set is
                // no drift any more.
                for entry in entries(&terraform) {
                    let Some(Unfinished::Update(attempted)) = entry.unfinished else { continue };
                    drift.entry(entry.key).and_modify(|units| units.retain(|unit| !attempted.contains(unit)));
                }
                continue;
            }
            last = Some(config);
            terraform.assert_quiet(config).await;
            for entry in entries(&terraform) {
                let Some(spec) = spec_in(&terraform.account, &entry) else { continue };
                let differing = entry.applied.differing_units(&spec);
                let expected = drift.get(&entry.key).cloned().unwrap_or_default();
                assert!(differing.is_subset(&expected), "{}: {differing:?} is not {expected:?}", entry.key);
                // What the configuration requires by now is no drift any more.
                drift.entry(entry.key).and_modify(|units| *units = differing);
            }
        }
        if let Some(config) = last {
            let mut config = config.clone();
            config.set("ignore_drift", Value::Null);
            terraform.refresh().await;
            terraform.assert_applies(&config).await;
            for entry in entries(&terraform) {
                assert_eq!(spec_in(&terraform.account, &entry).as_ref(), Some(&entry.applied), "{}", entry.key);
            }
        }
    });
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]

    #[test]
    fn no_apply_changes_ignored_drift_of_a_network_silently(rounds in some_rounds(some_network())) {
        check::<FourTierVpc>(&rounds);
    }

    #[test]
    fn no_apply_changes_ignored_drift_of_a_gateway_silently(rounds in some_rounds(some_gateway())) {
        check::<HttpGateway>(&rounds);
    }
}
