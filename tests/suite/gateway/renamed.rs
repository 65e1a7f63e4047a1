//! Entries with another key keep their objects: VPC links with their integrations, and authorizers with their routes.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::integrations::LISTENER;
use super::{SECRET, THIS, TestEnv};
use crate::support::issuer::issuers;
use crate::support::proxy::fault::Fault;
use crate::support::{deployments, target};

/// A gateway with a link, an authorizer that calls a function, and one that accepts tokens, under these names.
fn named(env: &TestEnv, [link, guard, tokens]: [&str; 3]) -> Value {
    let mut accepted = env.to("orders");
    accepted["authorizer_name"] = json!(tokens);
    json!({
        "route_config": {
            "GET /a": env.guarded("orders", guard),
            "GET /j": accepted,
            "GET /l": { "integration_uri": LISTENER, "vpc_link": link },
        },
        "faas_authorizers": { guard: {
            "authorizer_name": "guard",
            "authorizer_payload_format_version": "2.0",
            "enable_simple_responses": true,
            "identity_sources": ["$request.header.x-key"],
        } },
        "jwt_authorizers": { tokens: { "issuer": issuers().url("one"), "audience": ["shop"] } },
        "vpc_links": { link: { "subnet_ids": ["subnet-1"], "security_group_ids": ["sg-1"] } },
    })
}

fn ids(env: &TestEnv) -> BTreeSet<String> {
    env.slots().into_keys().collect()
}

/// Asserts that only the name and the tags of the link have changed since the log was cleared.
fn assert_only_renamed(env: &TestEnv) {
    let actions = env.proxy.mutations().into_iter().map(|record| record.call.action);
    let others: Vec<String> = actions.filter(|it| !["UpdateVpcLink", "TagResource"].contains(&it.as_str())).collect();
    assert_eq!(others, Vec::<String>::new());
}

fn assert_tagged_by_slot(env: &TestEnv) {
    for link in env.proxy.account().list_of("vpc_links") {
        let slot = link["Tags"]["fgw:object"].as_str().expect("a text");
        assert_eq!(env.attribute("aws_objects")[slot], link["VpcLinkId"], "{link}");
    }
}

#[test]
fn renamed_entries_of_a_gateway_serve_requests_all_the_time() {
    let env = TestEnv::new();
    let listeners = json!({ LISTENER: { "port": target::start("inside") } });
    deployments::set_links(env.proxy.account(), &json!({ "listeners": listeners }));
    let first = named(&env, ["main", "customers", "users"]);
    env.apply(&first);
    let before = ids(&env);
    let assert_served = || {
        assert_eq!(env.send("GET", "/l", None).json()["by"], "inside");
        let status = |key: Option<&str>| env.send("GET", "/a", key).status;
        assert_eq!((status(None), status(Some(SECRET)), env.send("GET", "/j", None).status), (401, 200, 401));
    };
    assert_served();
    // Renamed, and back under the name that an authorizer has in AWS.
    for names in [["inside", "partners", "people"], ["main", "partners", "users"], ["main", "customers", "users"]] {
        let config = named(&env, names);
        env.config(&config);
        let plan = env.workspace.plan(&[]);
        assert!(plan.says("keeps objects under other keys"), "{plan}");
        env.apply(&config);
        assert_only_renamed(&env);
        assert_eq!(ids(&env), before, "{names:?}");
        assert_tagged_by_slot(&env);
        assert_served();
    }
    env.destroy();
}

#[test]
fn a_rename_in_a_gateway_is_continued_after_failures_and_lost_states() {
    let env = TestEnv::new();
    env.apply(&named(&env, ["main", "customers", "users"]));
    let before = ids(&env);
    let renamed = named(&env, ["inside", "partners", "people"]);
    env.config(&renamed);
    env.proxy.fault(Fault::on("TagResource").answer(403, "AccessDeniedException", "You are not authorized"));
    env.proxy.clear_calls();
    env.workspace.apply(&[]).failed_with("vpc_link.inside");
    assert_eq!(ids(&env), before);
    env.proxy.clear_faults();
    env.apply(&renamed);
    assert_only_renamed(&env);
    assert_tagged_by_slot(&env);
    for (names, is_imported) in [(["a", "b", "c"], false), (["x", "y", "z"], true)] {
        let config = named(&env, names);
        env.config(&config);
        match is_imported {
            true => env.workspace.reimport(THIS),
            false => env.workspace.lose_private_state(THIS),
        }
        env.apply(&config);
        assert_only_renamed(&env);
        assert_eq!(ids(&env), before, "{names:?}");
        assert_tagged_by_slot(&env);
    }
    env.end();
}
