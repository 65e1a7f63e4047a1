//! The installation of a local build and of a release: packages, registries, mirrors, and the workflows that build a
//! release.

#[path = "installation/build.rs"]
pub(crate) mod build;
#[path = "installation/linker.rs"]
mod linker;
#[path = "installation/package.rs"]
mod package;
#[path = "installation/registry.rs"]
mod registry;
#[path = "installation/release.rs"]
mod release;
#[path = "installation/workflows.rs"]
mod workflows;

use std::fs;
use std::path::Path;
use std::process::Command;

use self::registry::{Registry, sum};
use self::release::{Key, Release, VERSION, name};
use crate::support::proxy::Proxy;
use crate::support::terraform::{Run, Workspace};

/// The address of the network in the example.
const THIS: &str = "fgw_four_tier_vpc.main";

/// The minimal example, with another source address of the provider.
fn example(source: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/resources/fgw_four_tier_vpc/resource.tf");
    let text = fs::read_to_string(path).expect("the example exists");
    assert!(text.contains("\"fgw/fgw\""), "the example requires the provider");
    text.replace("\"fgw/fgw\"", &format!("\"{source}\""))
}

/// A workspace with the example and the registry as the only source of providers.
fn with_registry(proxy: &Proxy, registry: &Registry) -> Workspace {
    let mut workspace = Workspace::installing(proxy, "");
    workspace.env("SSL_CERT_FILE", &registry.authority.display().to_string());
    workspace.config(&example(&registry.source()));
    workspace
}

fn lock(workspace: &Workspace) -> String {
    fs::read_to_string(workspace.path().join(".terraform.lock.hcl")).expect("init writes a lock file")
}

/// Asserts that `.terraform` contains exactly the files of the package. OpenTofu adds a lock file next to the directory
/// of the package, with its name.
fn assert_installed(workspace: &Workspace) {
    let mut waiting = vec![workspace.path().join(".terraform")];
    let mut files = Vec::new();
    while let Some(directory) = waiting.pop() {
        for entry in fs::read_dir(&directory).expect("init has created it") {
            let path = entry.expect("it can be read").path();
            let locks_a_package = path.extension().is_some_and(|it| it == "lock") && path.with_extension("").is_dir();
            if path.is_dir() {
                waiting.push(path);
            } else if !locks_a_package {
                files.push(path.file_name().expect("a file has a name").to_string_lossy().into_owned());
            }
        }
    }
    files.sort();
    let binary = format!("terraform-provider-fgw_v{VERSION}");
    assert_eq!(files, ["LICENSE", "THIRD-PARTY-NOTICES.txt", binary.as_str()]);
}

/// Runs the last commands of the documentation of imports, which find the installed provider and let it print the
/// configuration.
fn assert_generates_as_documented(workspace: &Workspace) {
    let path =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/resources/fgw_four_tier_vpc/import-and-generate.sh");
    let script = fs::read_to_string(path).expect("the example exists");
    let (_, commands) = script.split_once("\nprovider=").expect("it finds the provider");
    let program = std::env::var("TERRAFORM").unwrap_or_else(|_| "terraform".into());
    let commands = format!("provider={commands}").replace("terraform show", &format!("'{program}' show"));
    let output = Command::new("sh").args(["-c", &commands]).current_dir(workspace.path()).output();
    let output = output.expect("a POSIX system has sh");
    let text = String::from_utf8_lossy(&output.stdout);
    let starts = "resource \"fgw_four_tier_vpc\" \"main\" {\n  cidr_block ";
    assert!(text.starts_with(starts), "{text}{}", String::from_utf8_lossy(&output.stderr));
}

#[test]
fn a_release_installs_from_a_registry_and_applies_the_example() {
    let (release, key) = Release::of_the_provider();
    let registry = Registry::serving(release, key);
    let proxy = Proxy::moto();
    let workspace = with_registry(&proxy, &registry);

    let init = workspace.init();
    init.succeeded();
    // For a key that HashiCorp has not signed, Terraform prints "self-signed" and OpenTofu prints "signed".
    assert!(init.says(&format!("signed, key ID {})", key.id)), "{init}");
    assert!(init.says(&format!("Installed {} v{VERSION}", registry.source())), "{init}");
    let lock = lock(&workspace);
    assert!(lock.contains("\"h1:"), "{lock}");
    assert!(lock.contains(&format!("\"zh:{}\"", sum(&release.file(&Release::zip_end())))), "{lock}");
    assert_installed(&workspace);

    workspace.apply(&[]).succeeded();
    workspace.assert_nothing_to_do();
    assert_eq!(proxy.account().list_of("vpcs").len(), 1);
    assert!(workspace.state().0.to_string().contains(&registry.source()), "the state names the installed provider");
    assert_generates_as_documented(&workspace);
    workspace.destroy().succeeded();
    assert!(workspace.state().resource(THIS).is_none());
    proxy.account().assert_nothing_of_ours_is_left();

    // Install again with the lock file but without the installed files, as on another machine.
    fs::remove_dir_all(workspace.path().join(".terraform")).expect("the directory exists");
    workspace.init().succeeded();
    assert_eq!(self::lock(&workspace), lock);
}

#[test]
fn init_rejects_a_release_that_was_tampered_with() {
    let (release, key) = Release::of_the_provider();
    let proxy = Proxy::moto();
    let rejected = |tamper: &dyn Fn(&Registry)| -> Run {
        let registry = Registry::serving(release, key);
        tamper(&registry);
        let workspace = with_registry(&proxy, &registry);
        let init = workspace.init();
        assert_eq!(init.code, 1, "{init}");
        assert!(!workspace.path().join(".terraform.lock.hcl").exists(), "{init}");
        init
    };
    let mut zip = release.file(&Release::zip_end());
    let middle = zip.len() / 2;
    zip[middle] ^= 1;
    let true_sum = sum(&release.file(&Release::zip_end()));
    let sums = release.text("_SHA256SUMS").replace(&true_sum, &sum(&zip));

    let zip_alone = rejected(&|registry| registry.replace(&Release::zip_end(), zip.clone()));
    zip_alone.failed_with("checksum").failed_with(&true_sum);

    let zip_and_sums = rejected(&|registry| {
        registry.replace(&Release::zip_end(), zip.clone());
        registry.replace("_SHA256SUMS", sums.clone());
        registry.publish_sum_of(&zip);
    });
    zip_and_sums.failed_with("signature");

    let other_key = Key::new();
    let other = Release::of(Path::new(env!("CARGO_MANIFEST_DIR")).join("LICENSE").as_path(), Some(&other_key));
    let signature = rejected(&|registry| registry.replace("_SHA256SUMS.sig", other.file("_SHA256SUMS.sig")));
    signature.failed_with("signature");
}

#[test]
fn registry_with_an_untrusted_authority_installs_nothing() {
    let (release, key) = Release::of_the_provider();
    let registry = Registry::serving(release, key);
    let workspace = Workspace::installing(&Proxy::moto(), "");
    workspace.config(&example(&registry.source()));
    workspace.init().failed_with("certificate");
    assert_eq!(registry.requests(), Vec::<String>::new());
}

#[test]
fn a_release_installs_from_a_directory_without_any_registry() {
    let (release, _) = Release::of_the_provider();
    let proxy = Proxy::moto();
    let mirror = release::directory();
    let cli_config =
        format!("provider_installation {{\n  filesystem_mirror {{\n    path = \"{}\"\n  }}\n}}\n", mirror.display());
    let workspace = Workspace::installing(&proxy, &cli_config);
    workspace.config(&example("fgw/fgw"));
    // A mirror has a directory for the host of the registry, which differs between Terraform and OpenTofu.
    let required = workspace.run(&["providers"]);
    let address = required.stdout.split_once("provider[").and_then(|(_, rest)| rest.split_once(']'));
    let (address, _) = address.unwrap_or_else(|| panic!("the configuration requires no provider:\n{required}"));
    let folder = mirror.join(address);
    fs::create_dir_all(&folder).expect("the directory is ours");
    let zip = name(&Release::zip_end());
    fs::copy(release.directory.join(&zip), folder.join(&zip)).expect("the release has it");

    let init = workspace.init();
    init.succeeded();
    assert!(init.says(&format!("v{VERSION} (unauthenticated)")), "{init}");
    assert!(lock(&workspace).contains("\"h1:"), "{}", lock(&workspace));
    assert_installed(&workspace);
    let plan = workspace.plan_json(&[]);
    assert_eq!(plan["resource_changes"][0]["address"], THIS);
    assert_eq!(plan["resource_changes"][0]["change"]["actions"][0], "create");
    assert_eq!(proxy.mutations().len(), 0);
}

#[test]
fn mirrored_release_installs_without_the_registry() {
    let (release, key) = Release::of_the_provider();
    let registry = Registry::serving(release, key);
    let proxy = Proxy::moto();
    let mirror = release::directory();
    let path = mirror.display().to_string();
    let online = with_registry(&proxy, &registry);
    online.run(&["providers", "mirror", &path]).succeeded();
    let source = registry.source();
    drop(registry);

    let offline = Workspace::installing(
        &proxy,
        &format!("provider_installation {{\n  filesystem_mirror {{\n    path = \"{path}\"\n  }}\n}}\n"),
    );
    offline.config(&example(&source));
    offline.init().succeeded();
    offline.validate().succeeded();
}
