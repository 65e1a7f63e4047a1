//! The guide on hashicorp/aws shows the example, which uses only attributes that exist.

use std::collections::BTreeMap;

use fgw::plugin::Provider as _;
use fgw::provider::Fgw;

use super::Guide;

const EXAMPLE: &str = include_str!("../../../examples/together-with-hashicorp-aws/main.tf");

#[test]
fn guide_on_both_providers_shows_its_example() {
    let mut guide = Guide::open("together-with-hashicorp-aws.md");
    guide.put("example", &format!("```terraform\n{}\n```\n", EXAMPLE.trim_end()));
    guide.check();
}

#[test]
fn the_example_of_both_providers_uses_outputs_that_exist() {
    let schemas: BTreeMap<&str, Vec<String>> = Fgw::default()
        .resources()
        .iter()
        .map(|it| (it.type_name(), it.schema().attributes.into_iter().map(|it| it.name).collect()))
        .collect();
    let mut found = 0;
    for (name, attributes) in &schemas {
        for rest in EXAMPLE.split(&format!("{name}.")).skip(1) {
            let attribute = rest.split(|sign: char| !sign.is_alphanumeric() && sign != '_').nth(1).unwrap_or_default();
            assert!(attributes.iter().any(|it| it == attribute), "{name} has no attribute {attribute:?}");
            found += 1;
        }
    }
    assert!(found >= 5, "the references are not found: {found}");
}
