//! Imports, and the plans and generated configurations after them.

use std::fs::{self, File};
use std::path::Path;
use std::process::Command;

use serde_json::Value;

use super::{Run, Workspace};

impl Workspace {
    pub(crate) fn import(&self, address: &str, id: &str) -> Run {
        self.configurations.add_import();
        if let Some(host) = &self.host {
            return Run::of("import", host.import(address, id));
        }
        self.run(&["import", "-no-color", "-input=false", address, id])
    }

    /// Removes a resource from the state, and imports it by its ID.
    pub(crate) fn reimport(&self, address: &str) {
        let text = |name: &str| self.state().attribute(address, name).as_str().expect("it is a string").to_owned();
        let id = format!("{}@{}", text("id"), text("region"));
        self.forget(address);
        self.import(address, &id).succeeded();
    }

    /// Plans after an import, and panics if the plan changes anything but these inputs, which AWS does not return. Then
    /// applies it, after which nothing is left to do.
    pub(crate) fn assert_records_only(&self, inputs: &[&str]) {
        let plan = self.plan(&[]);
        if inputs.is_empty() {
            return assert_eq!(plan.code, 0, "the plan is not empty:\n{plan}");
        }
        assert!(plan.says("changes nothing in AWS"), "{plan}");
        let shown = self.shown_plan();
        let changes = shown["resource_changes"].as_array().expect("a plan has changes").iter();
        for change in changes.map(|it| &it["change"]).filter(|it| it["actions"] != serde_json::json!(["no-op"])) {
            let (before, after) = (change["before"].as_object().expect("it exists"), &change["after"]);
            let differing = before.iter().filter(|(name, value)| after[name.as_str()] != **value);
            assert_eq!(differing.map(|(name, _)| name.as_str()).collect::<Vec<_>>(), inputs, "{plan}");
        }
        self.apply(&[]).succeeded();
        self.assert_nothing_to_do();
    }

    /// Imports the resource of the import examples in a folder, once with the command and once with the block, each
    /// time after removing it from the state. Both must result in an empty plan.
    pub(crate) fn import_as_shown(&self, examples: &Path) {
        let read = |file: &str| fs::read_to_string(examples.join(file)).expect("the example exists");
        let (command, block) = (read("import.sh"), read("import-by-string-id.tf"));
        let ["terraform", "import", address, shown] = command.split_whitespace().collect::<Vec<_>>()[..] else {
            panic!("not an import: {command}");
        };
        let id = self.state().attribute(address, "id").as_str().expect("it has an id").to_owned();
        assert!(block.contains(address) && block.contains(shown), "the block imports another object: {block}");

        self.forget(address);
        self.import(address, &id).succeeded();
        self.assert_nothing_to_do();

        self.forget(address);
        self.write("import.tf", &block.replace(shown, &id));
        let plan = self.plan(&[]);
        assert!(plan.says("1 to import, 0 to add, 0 to change, 0 to destroy"), "{plan}");
        self.apply_plan().succeeded();
        fs::remove_file(self.path().join("import.tf")).expect("the test has written it");
        self.assert_nothing_to_do();
    }

    /// Removes a resource and its configuration, and imports it with a generated configuration. The next plan must be
    /// empty.
    pub(crate) fn generate(&self, address: &str, id: &str) {
        self.forget(address);
        self.generate_beside(address, id, "", "1 to import, 0 to add, 0 to change, 0 to destroy");
        self.apply(&[]).succeeded();
        self.assert_nothing_to_do();
        fs::remove_file(self.path().join("generated.tf")).expect("terraform has written it");
    }

    /// Writes a configuration for an import next to another configuration, and returns it. Then only the import and
    /// that configuration remain. `changes` are those of the plan. Terraform generates the configuration, or the
    /// provider's command where OpenTofu cannot.
    pub(crate) fn generate_beside(&self, address: &str, id: &str, others: &str, changes: &str) -> String {
        let import = |lines: &str| format!("import {{\n  to = {address}\n  id = \"{id}\"\n{lines}}}\n");
        // OpenTofu 1.12 does not quote keys such as `GET /a`: https://github.com/opentofu/opentofu/issues/3978.
        if self.is_opentofu() && address.starts_with("fgw_http_gateway.") {
            let (kind, name) = address.split_once('.').expect("the address of a resource");
            self.config(&format!("resource \"{kind}\" \"{name}\" {{}}\n{others}"));
            self.import(address, id).succeeded();
            let generated = self.generated_text();
            self.forget(address);
            self.write("generated.tf", &generated);
        } else {
            // Terraform 1.16.0 to 1.16.2 look for another provider while they generate, unless the block names it, and
            // no version accepts the name in addition to a resource:
            // https://github.com/hashicorp/terraform/issues/39144.
            self.config(&format!("{}{others}", import("  provider = fgw\n")));
            let plan = self.run(&["plan", "-no-color", "-input=false", "-generate-config-out=generated.tf"]);
            assert!(plan.says(changes), "{plan}");
        }
        self.config(&import(""));
        fs::read_to_string(self.path().join("generated.tf")).expect("it was generated")
    }

    /// The configuration of all resources in the state, as `terraform-provider-fgw generate` prints it. Under
    /// Terraform, it must be formatted as `terraform fmt` does.
    pub(crate) fn generated_text(&self) -> String {
        let shown = match &self.host {
            Some(host) => host.shown_state().to_string(),
            None => self.run(&["show", "-json"]).succeeded().stdout.clone(),
        };
        self.write("show.json", &shown);
        let input = File::open(self.path().join("show.json")).expect("it was just written");
        let output = Command::new(env!("CARGO_BIN_EXE_terraform-provider-fgw")).arg("generate").stdin(input).output();
        let output = output.expect("the provider was built");
        let text = String::from_utf8(output.stdout).expect("a configuration is UTF-8");
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        if self.host.is_some() {
            return text;
        }
        // In a directory of its own, because the provider block of tests has another format.
        fs::create_dir_all(self.path().join("generated")).expect("the directory is ours");
        self.write("generated/main.tf", &text);
        self.run(&["fmt", "-check", "-diff", "generated"]).succeeded();
        text
    }

    /// Plans with only this configuration, and panics unless the plan changes no resource.
    pub(crate) fn assert_changes_nothing(&self, config: &str) {
        self.config(config);
        let plan = self.plan_json(&[]);
        let changes = plan["resource_changes"].as_array().expect("changes").iter();
        let others: Vec<&Value> =
            changes.filter(|it| it["change"]["actions"] != serde_json::json!(["no-op"])).collect();
        assert!(others.is_empty(), "the plan of {config} is not empty: {others:#?}");
    }
}
