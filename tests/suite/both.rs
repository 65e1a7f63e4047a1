//! The halves of tests that are the same for both resources.

use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::support::proxy::Proxy;
use crate::support::terraform::{Run, Workspace};

/// A resource with the label `this` in its workspace, and the proxy in front of its account.
pub(crate) struct Subject<'a> {
    pub(crate) type_name: &'static str,
    pub(crate) workspace: &'a Workspace,
    pub(crate) proxy: &'a Proxy,
}

impl Subject<'_> {
    fn address(&self) -> String {
        format!("{}.this", self.type_name)
    }

    /// An attribute in state.
    fn attribute(&self, name: &str) -> Value {
        self.workspace.state().attribute(&self.address(), name).clone()
    }

    /// Refreshes, plans and destroys with a provider that is connected to another account, and asserts that each fails
    /// and changes nothing.
    pub(crate) fn assert_rejected_in(&self, other: &Proxy) {
        let state = || self.workspace.state().resource(&self.address()).cloned();
        let before = state();
        let id = self.attribute("id");
        let own = format!(
            "{} is in account {} in Region us-east-1",
            id.as_str().expect("an ID is text"),
            self.proxy.account().id
        );
        self.workspace.write("provider.tf", &Workspace::block(other, ""));
        let runs = [
            self.workspace.plan(&["-refresh-only"]),
            self.workspace.plan(&["-refresh=false"]),
            self.workspace.apply(&[]),
            self.workspace.destroy(),
            self.workspace.apply(&["-destroy", "-refresh=false"]),
        ];
        for run in runs {
            run.failed_with("another account");
            run.failed_with(&own);
            run.failed_with(&format!("account {} in Region us-east-1", other.account().id));
            run.failed_with("terraform state rm ADDRESS");
        }
        assert_eq!(state(), before);
        self.workspace.write("provider.tf", &Workspace::block(self.proxy, ""));
        self.workspace.assert_nothing_to_do();
    }

    /// A data block with the label `found` and these lines.
    pub(crate) fn data(&self, lines: &str) -> String {
        format!("data \"{}\" \"found\" {{\n{lines}\n}}\n", self.type_name)
    }

    /// Asserts that two data sources return this attribute of the resource, which is created in the same run: `found`,
    /// by its ID, and `named`, by this line. `write` writes their blocks and that of the resource.
    pub(crate) fn assert_read_after_creation(&self, name: &str, attribute: &str, write: impl FnOnce(&str)) {
        let (kind, this) = (self.type_name, self.address());
        let output = |output: &str, label: &str| {
            format!("output \"{output}\" {{\n  value = data.{kind}.{label}.{attribute}\n}}\n")
        };
        let named = format!("data \"{kind}\" \"named\" {{\n  {name}\n  depends_on = [{this}]\n}}\n");
        let found = self.data(&format!("  id = {this}.id"));
        write(&(found + &named + &output("by_id", "found") + &output("by_name", "named")));
        let plan = self.workspace.plan_json(&[]);
        assert_eq!(plan["output_changes"]["by_name"]["after_unknown"], Value::Bool(true), "{}", plan["output_changes"]);
        self.workspace.apply_plan().succeeded();
        self.assert_outputs(attribute);
    }

    /// Asserts that the outputs of [`Subject::assert_read_after_creation`] have this attribute of the resource.
    pub(crate) fn assert_outputs(&self, attribute: &str) {
        let state = self.workspace.state();
        let created = self.attribute(attribute);
        assert_eq!((state.output("by_id"), state.output("by_name")), (&created, &created));
        self.workspace.assert_nothing_to_do();
    }

    /// Asserts that the changes of a plan report exactly this drift and correct it. `shown` is the drift by key, and
    /// `found` has the expected keys with a part of the text of each.
    pub(crate) fn assert_reported(&self, plan: &Value, shown: &[(String, String)], found: &[(&str, &str)]) {
        let mut expected: Vec<&str> = found.iter().map(|(key, _)| *key).collect();
        expected.sort_unstable();
        expected.dedup();
        let mut keys: Vec<&str> = shown.iter().map(|(key, _)| key.as_str()).collect();
        keys.sort_unstable();
        assert_eq!(keys, expected, "{shown:#?}");
        for (key, phrase) in found {
            let is_shown = shown.iter().any(|(of, reason)| of == key && reason.contains(phrase));
            assert!(is_shown, "no {phrase:?} in {key}: {shown:#?}");
        }
        assert_eq!(plan["resource_drift"][0]["address"], self.address());
        let change = &plan["resource_changes"][0]["change"];
        assert_eq!(change["actions"], json!(["update"]));
        assert!(change["after"]["drift"] == json!({}) || change["after_unknown"]["drift"] == true, "{change:#}");
    }
}

/// Another configuration, under Terraform, which reads a resource with the data source `found`.
pub(crate) struct Reader<'a> {
    subject: Subject<'a>,
    pub(crate) workspace: Workspace,
}

impl<'a> Reader<'a> {
    pub(crate) fn of(subject: Subject<'a>) -> Reader<'a> {
        let workspace = Workspace::new(subject.proxy);
        Reader { subject, workspace }
    }

    /// An attribute of the data source.
    pub(crate) fn attribute(&self, name: &str) -> Value {
        self.workspace.state().attribute(&format!("{}.found", self.subject.type_name), name).clone()
    }

    /// Reads the data source and asserts that this changes nothing in AWS. The log has the calls.
    pub(crate) fn read(&self, lines: &str) {
        self.workspace.config(&self.subject.data(lines));
        self.subject.proxy.clear_calls();
        self.workspace.apply(&[]).succeeded();
        let changes: Vec<String> =
            self.subject.proxy.mutations().into_iter().map(|record| record.call.action).collect();
        assert!(changes.is_empty(), "a data source changes something in AWS: {changes:?}");
    }

    /// The plan of a data block.
    pub(crate) fn plan(&self, lines: &str) -> Run {
        self.workspace.config(&self.subject.data(lines));
        self.workspace.plan(&[])
    }

    /// Asserts that the data source and the resource have the same attributes, of which there are more than this.
    pub(crate) fn assert_same_as_resource(&self, more_than: usize) {
        let state = self.workspace.state();
        let found = state.resource(&format!("{}.found", self.subject.type_name)).expect("it was found");
        let found = found.as_object().expect("attributes");
        assert!(found.len() > more_than, "{found:?}");
        for (name, value) in found.iter().filter(|(name, _)| *name != "tags") {
            assert_eq!(*value, self.subject.attribute(name), "{name}");
        }
    }
}

/// The folder with the examples of a resource.
pub(crate) fn examples(type_name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/resources").join(type_name)
}

/// The examples of a resource except those of imports, which are not complete configurations.
pub(crate) fn complete_examples(type_name: &str) -> Vec<PathBuf> {
    let directory = examples(type_name);
    let files = std::fs::read_dir(&directory).unwrap_or_else(|error| panic!("{}: {error}", directory.display()));
    let files = files.map(|file| file.expect("a directory can be read").path());
    let files = files.filter(|path| path.extension().is_some_and(|extension| extension == "tf"));
    let is_import =
        |path: &PathBuf| path.ends_with("import-by-string-id.tf") || path.ends_with("import-by-identity.tf");
    let mut files: Vec<PathBuf> = files.filter(|path| !is_import(path)).collect();
    files.sort();
    assert!(!files.is_empty(), "there are examples in {}", directory.display());
    files
}

/// The example of a data source.
pub(crate) fn example_of_data_source(type_name: &str) -> String {
    let path = format!("examples/data-sources/{type_name}/data-source.tf");
    let example = std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(path));
    without_terraform_block(&example.expect("an example can be read")).to_owned()
}

/// An example without its `terraform` block, because the workspace already has one.
pub(crate) fn without_terraform_block(example: &str) -> &str {
    match example.split_once("terraform {\n") {
        Some((_, rest)) => rest.split_once("\n}\n").expect("a block ends").1,
        None => example,
    }
}
