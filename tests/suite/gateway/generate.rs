//! Configurations that `terraform-provider-fgw generate` prints: a plan with them changes nothing.

use super::import::whole;
use super::{THIS, TestEnv, examples, text};

#[test]
fn every_example_is_generated_from_its_state() {
    for example in examples::all() {
        let env = TestEnv::with_terraform();
        let body = examples::prepared(&env, &example);
        env.workspace.config(&body);
        env.workspace.apply(&[]).succeeded();
        let generated = env.workspace.generated_text();
        if example.ends_with("resource.tf") {
            let function = env.arn("orders");
            let smallest = format!(
                r#"resource "fgw_http_gateway" "orders" {{
  name = "orders"

  route_config = {{
    "ANY /orders/{{proxy+}}" = {{
      faas_function_arn = "{function}"
    }}
  }}
}}
"#
            );
            assert_eq!(generated, smallest);
        }
        env.workspace.assert_changes_nothing(&generated);
        env.workspace.config(&body);
        env.workspace.destroy().succeeded();
    }
}

#[test]
fn an_import_into_an_empty_block_is_generated() {
    let env = TestEnv::with_terraform();
    env.apply(&whole(&env));
    let id = text(&env.attribute("id"));
    let before = env.workspace.generated_text();
    std::fs::remove_file(env.workspace.path().join("main.tf.json")).expect("the test has written it");
    env.workspace.assert_changes_nothing(&before);

    env.workspace.forget(THIS);
    env.workspace.config("resource \"fgw_http_gateway\" \"this\" {}\n");
    env.workspace.import(THIS, &id).succeeded();
    let generated = env.workspace.generated_text();
    assert!(generated.contains("\n    \"ANY /users/{proxy+}\" = {\n"), "route keys are quoted: {generated}");
    env.proxy.clear_calls();
    env.workspace.assert_changes_nothing(&generated);
    env.workspace.apply(&[]).succeeded();
    assert!(env.proxy.mutations().is_empty(), "neither the import nor the generated configuration changes anything");
    env.destroy();
}
