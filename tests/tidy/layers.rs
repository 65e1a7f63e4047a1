//! Which part of the product may name what.

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
        "src/composite/observe",
        "src/composite/plan/planned_state",
        "src/composite/private_state",
        "src/composite/state",
    ];
    let files = product();
    for module in modules {
        assert!(files.iter().any(|file| file.is_of(module)), "{module} is gone; this test must learn its new name");
    }
    let pure = files.iter().filter(|file| modules.iter().any(|module| file.is_of(module)));
    let words = ["async", "await", "tokio", "futures", "Instant", "SystemTime", "Mutex", "thread"];
    let places = broken(pure, |line| {
        let word = words.iter().find(|word| has_word(line, word)).map(|word| (*word).to_string());
        // An address is a number; only the rest of std::net talks to anybody.
        let line = line.replace("std::net::Ip", "");
        word.or_else(|| first_of(&line, &["aws_sdk", "aws_smithy", "std::fs", "std::net", "std::env", "std::process"]))
    });
    assert_kept("Pure files have no async code, no AWS SDK, no I/O, no clock and no locks.", &places);
}

/// Whoever has something to report imports the messages, so that a message that imports a reporter closes a circle.
#[test]
fn messages_import_nothing_of_those_who_report() {
    let files = product();
    let messages: Vec<_> = files.iter().filter(|file| file.is_of("src/composite/diagnostics")).collect();
    assert!(messages.len() > 3, "the messages are not found");
    let places = broken(messages, |line| {
        let line = line.replace("pub(in crate::composite)", "").replace("pub(super)", "");
        first_of(&line, &["crate::composite", "super::super"])
    });
    assert_kept("src/composite/diagnostics takes data and returns text: it knows nothing else of its folder.", &places);
}

/// What differs between kinds is a method of `Spec`, and between topologies one of their trait or of their kind, where
/// the compiler asks for it when one is added.
#[test]
fn the_composite_folder_names_no_kind_of_object_and_no_topology() {
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
fn only_the_plugin_folder_speaks_terraforms_protocol() {
    let files = product();
    let others = || files.iter().filter(|file| !file.is_of("src/plugin"));
    let crates = ["tonic", "prost", "rmpv", "rcgen", "tokio_rustls", "tfplugin6"];
    let places = broken(others(), |line| first_of(line, &crates));
    assert_kept("Only src/plugin knows gRPC, msgpack and the handshake.", &places);
    // The connections to AWS are encrypted too.
    let without_tls =
        others().filter(|file| !["src/aws/config/http_client.rs", "src/aws/config/tls.rs"].contains(&&*file.path));
    let places = broken(without_tls, |line| first_of(line, &["rustls"]));
    assert_kept(
        "TLS is known to src/plugin, for Terraform, and to src/aws/config/http_client.rs and tls.rs, for AWS.",
        &places,
    );
}

#[test]
fn the_plugin_folder_knows_no_cloud_and_no_product() {
    let mut places = Vec::new();
    for file in tree().iter().filter(|file| file.is_of("src/plugin")) {
        for (number, line) in file.lines() {
            // The crate's name in examples, and the name of the cryptography library.
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
    assert_kept("src/plugin could be a crate of its own: it knows no AWS, no fgw and no other module.", &places);
}

#[test]
fn no_two_files_use_each_other() {
    let cycles = cycles(&imports(&product()));
    let cycles: Vec<String> = cycles.into_iter().map(|files| files.join("\n    ")).collect();
    assert_kept("No file uses one that uses it, directly or by way of others. Groups that do:", &cycles);
}

#[test]
fn each_layer_uses_only_those_below_it() {
    // The upper ones first. `plugin` has no knowledge of the others: see the rule for its folder.
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
        assert!(files.iter().any(|file| file.is_of(&format!("src/{layer}"))), "{layer} is gone");
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
    assert_kept("Dependencies point downwards; see the layers in ARCHITECTURE.md.", &places);
}

#[test]
fn error_codes_of_aws_are_compared_in_one_file() {
    let files = product();
    // `errors` hands the code of an SDK error over to `codes`.
    let own = ["src/aws/calls/codes.rs", "src/aws/calls/errors.rs"];
    let others = files.iter().filter(|file| !own.contains(&&*file.path));
    let places =
        broken(others, |line| first_of(line, &["code.as_deref() ==", "code.as_deref() {", "code.as_deref(),"]));
    assert_kept("Only src/aws/calls/codes.rs knows AWS's error codes.", &places);
}
