//! Configurations that `terraform-provider-fgw generate` prints: a plan with them changes nothing.

use super::examples::{all, prepared};
use super::{THIS, TestEnv, text};

/// The text for `examples/resources/fgw_four_tier_vpc/resource.tf`.
const SMALLEST: &str = r#"resource "fgw_four_tier_vpc" "main" {
  cidr_block       = "10.0.0.0/16"
  num_nat_gateways = 1
  vpc_name         = "main"
}
"#;

#[test]
fn every_example_is_generated_from_its_state() {
    for example in all() {
        let env = TestEnv::with_terraform();
        let body = prepared(&env, &example);
        env.workspace.config(&body);
        env.workspace.apply(&[]).succeeded();
        let generated = env.workspace.generated_text();
        if example.ends_with("resource.tf") {
            assert_eq!(generated, SMALLEST);
        }
        env.workspace.assert_changes_nothing(&generated);
        env.workspace.config(&body);
        env.workspace.destroy().succeeded();
    }
}

#[test]
fn an_import_into_an_empty_block_is_generated() {
    let env = TestEnv::with_terraform();
    let attributes = r#"  num_availability_zones = 2
  num_nat_gateways       = 1
  private_subnet_bits    = 6
  custom_tags            = { team = "blue", "a \"b\"" = "$${c} %%{d} $$$${e} $ % \\ \n\t", for = "x", AZ-0 = "ü" }
  default_security_group_egress_rules = {
    Https = { protocol = "TCP", from_port = 443, to_port = 443, cidr_blocks = ["0.0.0.0/0"], description = "out" }
  }
  objectstore_endpoint_policy = jsonencode({ Version = "2012-10-17", Statement = [
    { Effect = "Allow", Principal = "*", Action = ["s3:GetObject"], Resource = "*" }
  ] })
  timeouts {
    create = "40m"
  }"#;
    env.change(attributes);
    let id = text(&env.attribute("id"));
    let before = env.workspace.generated_text();
    assert!(before.contains("  timeouts {\n    create = \"40m\"\n  }\n"), "{before}");
    env.workspace.assert_changes_nothing(&before);

    env.workspace.forget(THIS);
    env.workspace.config("resource \"fgw_four_tier_vpc\" \"this\" {}\n");
    env.workspace.import(THIS, &id).succeeded();
    let generated = env.workspace.generated_text();
    // AWS returns neither the timeouts nor the names of rules.
    let inputs = |text: &str| {
        let names = text.lines().filter_map(|line| line.strip_prefix("  ")?.split_once(" = ").map(|it| it.0.trim()));
        names.filter(|name| !name.is_empty() && !text.contains(&format!("    {name}"))).map(str::to_owned).collect()
    };
    let (before, after): (Vec<String>, Vec<String>) = (inputs(&before), inputs(&generated));
    assert_eq!(before, after, "{generated}");
    env.proxy.clear_calls();
    env.workspace.assert_changes_nothing(&generated);
    env.workspace.apply(&[]).succeeded();
    assert_eq!(env.calls(), "", "neither the import nor the generated configuration changes anything");
    env.destroy();
}
