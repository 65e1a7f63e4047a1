//! Rules for the dependencies between the parts of the product.

use super::imports::{cycles, imports};
use super::rule::{assert_kept, broken, first_of, has_word};
use super::tree::{product, tree};

#[test]
fn pure_code_does_no_io() {
    let modules = [
        "src/model",
        "src/topology",
        "src/reconcile/diff",
        "src/reconcile/ordering",
        "src/reconcile/plan",
        "src/reconcile/planner",
        "src/reconcile/reroute",
        "src/composite/apply/inventory",
        "src/composite/apply/pending_deletion",
        "src/composite/decision",
        "src/composite/diagnostics",
        "src/composite/duplicates",
        "src/composite/generate",
        "src/composite/observe",
        "src/composite/plan/planned_state",
        "src/composite/private_state",
        "src/composite/state",
    ];
    let files = product();
    for module in modules {
        assert!(files.iter().any(|file| file.is_of(module)), "{module} does not exist: update its name in this test");
    }
    let pure = files.iter().filter(|file| modules.iter().any(|module| file.is_of(module)));
    let words = ["async", "await", "tokio", "futures", "Instant", "SystemTime", "Mutex", "thread"];
    let places = broken(pure, |line| {
        let word = words.iter().find(|word| has_word(line, word)).map(|word| (*word).to_string());
        // IP addresses are values; only the rest of std::net does I/O.
        let line = line.replace("std::net::Ip", "");
        word.or_else(|| first_of(&line, &["aws_sdk", "aws_smithy", "std::fs", "std::net", "std::env", "std::process"]))
    });
    assert_kept("Pure files have no async code, no AWS SDK, no I/O, no clock and no locks.", &places);
}

/// The callers import the diagnostics, so an import in the other direction would be a cycle.
#[test]
fn diagnostics_do_not_import_their_callers() {
    let files = product();
    let diagnostics: Vec<_> = files.iter().filter(|file| file.is_of("src/composite/diagnostics")).collect();
    assert!(diagnostics.len() > 3, "the diagnostics are not found");
    let places = broken(diagnostics, |line| {
        let line = line.replace("pub(in crate::composite)", "").replace("pub(super)", "");
        first_of(&line, &["crate::composite", "super::super"])
    });
    assert_kept("src/composite/diagnostics takes data and returns text. It imports nothing of its folder.", &places);
}

/// Differences between kinds are methods of `Spec`, and differences between topologies are methods of `Topology` or
/// `TopologyKind`, so the compiler requires them for each new kind or topology.
#[test]
fn composite_folder_names_no_kind_and_no_topology() {
    let files = product();
    let composite = files.iter().filter(|file| file.is_of("src/composite"));
    let places = broken(composite, |line| {
        let kind = line.split("Spec::").skip(1).find(|rest| rest.starts_with(|it: char| it.is_uppercase()));
        let kind = kind.map(|rest| format!("Spec::{rest}"));
        kind.or_else(|| first_of(line, &["FourTierVpc", "HttpGateway", "four_tier_vpc", "http_gateway"]))
    });
    assert_kept("src/composite treats all kinds of objects and all topologies alike.", &places);
}

#[test]
fn only_the_aws_folder_names_the_aws_sdk() {
    let files = product();
    let crates = ["aws_sdk", "aws_smithy", "aws_config", "aws_types", "aws_runtime", "aws_credential_types"];
    let others = files.iter().filter(|file| !file.is_of("src/aws"));
    assert_kept("Only src/aws names the AWS SDK.", &broken(others, |line| first_of(line, &crates)));
}

#[test]
fn only_the_plugin_folder_implements_the_protocol() {
    let files = product();
    let others = || files.iter().filter(|file| !file.is_of("src/plugin"));
    let crates = ["tonic", "prost", "rmpv", "rcgen", "tokio_rustls", "tfplugin6"];
    let places = broken(others(), |line| first_of(line, &crates));
    assert_kept("Only src/plugin uses gRPC, MessagePack and the handshake.", &places);
    // The connections to AWS use TLS too.
    let without_tls = others().filter(|file| {
        !["src/aws/config/http_client.rs", "src/aws/config/tls.rs", "src/aws/config/unreachable.rs"]
            .contains(&&*file.path)
    });
    let places = broken(without_tls, |line| first_of(line, &["rustls"]));
    assert_kept(
        "TLS is used only by src/plugin, for Terraform, and by src/aws/config/http_client.rs, tls.rs and unreachable.rs, for AWS.",
        &places,
    );
}

#[test]
fn plugin_folder_names_no_cloud_and_no_topology() {
    let mut places = Vec::new();
    for file in tree().iter().filter(|file| file.is_of("src/plugin")) {
        for (number, line) in file.lines() {
            // Allowed: the crate's name in examples, and the name of the cryptography library.
            let line = line.to_lowercase().replace("fgw::", "").replace("aws_lc", "").replace("aws-lc", "");
            let named = first_of(&line, &["aws", "fgw", "amazon", "ec2", "vpc", "lambda", "gateway", "subnet"]);
            places.extend(named.map(|word| format!("{}:{number}: {word}", file.path)));
            let other = line
                .find("crate::")
                .map(|at| &line[at..])
                .filter(|path| !path.starts_with("crate::plugin") && !path.starts_with("crate::attributes"));
            places.extend(other.map(|path| format!("{}:{number}: {path}", file.path)));
        }
    }
    assert_kept("src/plugin could be a separate crate: it names neither AWS nor fgw nor another module.", &places);
}

#[test]
fn no_two_files_use_each_other() {
    let cycles = cycles(&imports(&product()));
    let cycles: Vec<String> = cycles.into_iter().map(|files| files.join("\n    ")).collect();
    assert_kept("No two files use each other, directly or indirectly. Groups that do:", &cycles);
}

#[test]
fn each_layer_uses_only_lower_layers() {
    // From top to bottom. `plugin` uses no other layer: see the rule for its folder.
    let below: &[(&str, &[&str])] = &[
        ("provider", &["composite", "topology", "aws", "cloud", "model", "plugin"]),
        ("composite", &["topology", "reconcile", "cloud", "model", "plugin"]),
        ("topology", &["reconcile", "model", "plugin"]),
        ("reconcile", &["cloud", "model"]),
        ("aws", &["cloud", "model"]),
        ("cloud", &["model"]),
        ("model", &["plugin"]),
    ];
    let files = product();
    let mut places = Vec::new();
    for (layer, allowed) in below {
        assert!(files.iter().any(|file| file.is_of(&format!("src/{layer}"))), "src/{layer} does not exist");
        for file in files.iter().filter(|file| file.is_of(&format!("src/{layer}"))) {
            for (number, line) in file.code() {
                let named = line.split("crate::").skip(1).filter_map(|rest| {
                    let name = rest.split(|it: char| !it.is_alphanumeric() && it != '_').next()?;
                    (!name.is_empty() && name != *layer && name != "attributes" && !allowed.contains(&name))
                        .then_some(name)
                });
                places.extend(named.map(|name| format!("{}:{number}: {layer} uses {name}", file.path)));
            }
        }
    }
    assert_kept("Dependencies point downward; see the layers in ARCHITECTURE.md.", &places);
}

#[test]
fn error_codes_of_aws_are_compared_in_one_file() {
    let files = product();
    // `errors` passes the code of an SDK error to `codes`.
    let own = ["src/aws/calls/codes.rs", "src/aws/calls/codes/missing.rs", "src/aws/calls/errors.rs"];
    let others = files.iter().filter(|file| !own.contains(&&*file.path));
    let places =
        broken(others, |line| first_of(line, &["code.as_deref() ==", "code.as_deref() {", "code.as_deref(),"]));
    assert_kept("Only src/aws/calls/codes.rs compares AWS's error codes.", &places);
}
