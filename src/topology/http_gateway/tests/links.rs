//! VPC links that routes name by ID, and private targets that AWS refuses.

use serde_json::{Value as Json, json};

use super::{UNKNOWN, config, context, decided, domains, existing, objects, scope, with};
use crate::model::{Inventory, Scope, VpcLink};
use crate::plugin::Input;
use crate::reconcile::plan;
use crate::topology::Topology;
use crate::topology::http_gateway::HttpGateway;
use crate::topology::http_gateway::warnings::warnings;

fn listener(region: &str) -> Json {
    json!(format!("arn:aws:elasticloadbalancing:{region}:123456789012:listener/app/a/1/2"))
}

/// A route to a private target.
fn private(link: Json) -> Json {
    json!({ "route_config": { "GET /a": with(json!({ "integration_uri": listener("eu-central-1") }), link) } })
}

fn managed() -> Json {
    let links = json!({ "main": { "subnet_ids": ["subnet-1"], "security_group_ids": ["sg-1"] } });
    with(private(json!({ "vpc_link": "main" })), json!({ "vpc_links": links }))
}

/// The problems of a blueprint, each with its path.
fn refused(gateway: Json, existing: &Inventory) -> Vec<String> {
    let (gateway, scope, facts) = (config(gateway), scope(), domains::facts());
    let problems = HttpGateway::blueprint(&context(&gateway, existing, &scope, &facts)).err().unwrap_or_default();
    problems.iter().map(|it| format!("{}: {}", it.path, it.message)).collect()
}

#[test]
fn a_link_is_named_either_by_its_key_or_by_its_id() {
    let before = existing(&objects(&config(managed())));
    let link = before.entries.iter().find(|entry| VpcLink::of(&entry.applied).is_some()).unwrap();
    let given = private(json!({ "vpc_link_id": link.id }));
    let both = with(given.clone(), json!({ "vpc_links": managed()["vpc_links"] }));
    let expected = "route_config[\"GET /a\"].vpc_link_id: This is the ID of the VPC link \"main\" in vpc_links.";
    assert_eq!(refused(both, &before), [expected]);

    // A link that a route names stays.
    let last = |after: Json| {
        let plan = plan(&before, &decided(&config(after), &before, &scope()).0).unwrap();
        let last = plan.ops.iter().find(|op| op.action.key() == &link.key).unwrap();
        last.action.doing()
    };
    assert_eq!(last(given), "disowning");
    assert_eq!(last(private(json!({ "vpc_link_id": "a1b2c3" }))), "deleting");
}

#[test]
fn the_tags_of_a_link_and_default_tags_are_counted_together() {
    let mut gateway = managed();
    let tags: Json = (0..47).map(|number| (format!("t{number}"), json!("x"))).collect();
    gateway["vpc_links"]["main"]["tags"] = tags;
    let gateway = config(gateway);
    let default_tags = [("team".to_string(), Input::Known("web".to_string()))];
    let scope = Scope { default_tags: Input::Known(default_tags.into()), ..scope() };
    let (existing, facts) = (Inventory::default(), domains::facts());
    let problems = HttpGateway::blueprint(&context(&gateway, &existing, &scope, &facts)).unwrap_err();
    assert_eq!(problems[0].path.to_string(), "vpc_links[\"main\"].tags");
    assert!(problems[0].message.starts_with("With default_tags, there are 48"), "{problems:?}");
}

/// The warnings of a gateway with the link `main`: attribute and text.
fn warned(groups: Json, route: Json) -> Vec<(String, String)> {
    let mut gateway = private(with(json!({ "vpc_link": "main" }), route));
    gateway["vpc_links"] = json!({ "main": { "subnet_ids": ["subnet-1"], "security_group_ids": groups } });
    warnings(&config(gateway))
        .into_iter()
        .map(|it| (it.path.to_string(), format!("{} {}", it.message, it.hint)))
        .collect()
}

#[test]
fn a_link_that_no_route_uses_causes_a_warning() {
    let of = |route: Json| warned(json!(["sg-1"]), route);
    assert_eq!((of(json!({})), of(json!({ "vpc_link": UNKNOWN }))), (vec![], vec![]));
    let found = of(json!({ "vpc_link": null, "vpc_link_id": "a1b2c3" }));
    let text = "No route of this gateway uses the VPC link \"main\". That is right if another gateway uses its ID. Set \
                vpc_link = \"main\" in the routes that are to use it, or remove it.";
    assert_eq!(found, [("vpc_links[\"main\"]".to_string(), text.to_string())]);
}

#[test]
fn a_link_without_security_groups_uses_the_default_one() {
    for groups in [json!(null), json!([])] {
        let found = warned(groups, json!({}));
        assert_eq!((found.len(), found[0].0.as_str()), (1, "vpc_links[\"main\"].security_group_ids"));
        assert!(found[0].1.contains("AWS uses the default security group of the VPC"), "{found:?}");
    }
    assert_eq!((warned(json!(["sg-1"]), json!({})), warned(json!(UNKNOWN), json!({}))), (vec![], vec![]));
}
