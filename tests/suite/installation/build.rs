//! The installation of a local build with `make install`, together with other providers.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::release::{VERSION, directory, platform};
use super::{assert_generates_as_documented, lock};
use crate::support::adoption::install_hashicorp_aws;
use crate::support::proxy::Proxy;
use crate::support::terraform::Workspace;

/// Installs the binary that all tests run, as `make install` does. Returns the mirror and the printed text.
pub(crate) fn install() -> (PathBuf, String) {
    let mirror = directory();
    let built = Path::new(env!("CARGO_BIN_EXE_terraform-provider-fgw")).parent().and_then(Path::file_name);
    let profile = built.and_then(|name| name.to_str()).expect("cargo names the directory of a profile");
    let profile = if profile == "debug" { "dev" } else { profile };
    let run = Command::new("sh").args(["scripts/install.sh", profile]).arg(&mirror).output();
    let run = run.expect("a POSIX system has sh");
    assert!(run.status.success(), "{run:?}");
    (mirror, String::from_utf8(run.stdout).expect("the script prints UTF-8"))
}

/// The hosts of the registries of the installed programs, with which they complete the source address of a provider.
fn hosts(mirror: &Path) -> Vec<String> {
    let folders =
        fs::read_dir(mirror).expect("make install has written it").map(|entry| entry.expect("it can be read"));
    folders.map(|entry| entry.file_name().into_string().expect("a host is ASCII")).collect()
}

/// The printed lines from the one that begins with `start` to the next line with the same indentation and only a brace.
fn printed(text: &str, start: &str) -> String {
    let lines = text.lines().skip_while(|line| line.trim_start() != start);
    let mut block: Vec<&str> = lines.take_while(|line| *line != "  }").collect();
    assert!(!block.is_empty(), "the output has no {start:?}:\n{text}");
    block.push("  }\n");
    block.join("\n")
}

/// Another provider than fgw, in a mirror of its own.
struct Other {
    name: &'static str,
    source: &'static str,
    version: String,
    mirror: PathBuf,
}

impl Other {
    /// Puts a binary into a mirror.
    fn mirroring(name: &'static str, source: &'static str, version: &str, binary: &Path, hosts: &[String]) -> Self {
        let mirror = directory();
        let (system, machine) = platform();
        let file = binary.file_name().filter(|_| name == "aws").map(PathBuf::from);
        let file = file.unwrap_or_else(|| format!("terraform-provider-{name}_v{version}").into());
        let addresses = match source.split('/').count() {
            2 => hosts.iter().map(|host| format!("{host}/{source}")).collect(),
            _ => vec![source.to_owned()],
        };
        for address in addresses {
            let package = mirror.join(address).join(version).join(format!("{system}_{machine}"));
            fs::create_dir_all(&package).expect("the directory is ours");
            symlink(binary, package.join(&file)).expect("the directory is empty");
        }
        Self { name, source, version: version.to_owned(), mirror }
    }

    /// hashicorp/aws, if the folder with its binary is given.
    fn aws(hosts: &[String]) -> Self {
        let folder = std::env::var("FGW_BENCH_AWS_PROVIDER").expect("its caller has checked it");
        let files = fs::read_dir(folder).expect("the folder exists").map(|entry| entry.expect("it can be read").path());
        let named =
            |path: &PathBuf| path.file_name()?.to_str()?.strip_prefix("terraform-provider-aws_v").map(str::to_owned);
        let (binary, rest) = files.filter_map(|it| Some((it.clone(), named(&it)?))).next().expect("it has the binary");
        let version = rest.split('_').next().expect("a name has a first part").to_owned();
        Self::mirroring("aws", "hashicorp/aws", &version, &binary, hosts)
    }
}

/// The printed CLI configuration, with the mirrors of further providers, which are then not in a registry.
fn cli_config(text: &str, others: &[Other]) -> String {
    let mut config = printed(text, "provider_installation {");
    for Other { source, mirror, .. } in others {
        let block = format!(
            "    filesystem_mirror {{\n      path    = \"{}\"\n      include = [\"{source}\"]\n    }}\n    direct {{",
            mirror.display()
        );
        config = config.replace("    direct {", &block).replace("exclude = [", &format!("exclude = [\"{source}\", "));
    }
    config
}

/// The printed `terraform` block, with further providers.
fn requirements(text: &str, others: &[Other]) -> String {
    let mut config = printed(text, "terraform {");
    for Other { name, source, version, .. } in others {
        let entry = format!("{name} = {{\n source = \"{source}\"\n version = \"{version}\"\n}}\n");
        config = config.replace("required_providers {\n", &format!("required_providers {{\n{entry}"));
    }
    config
}

#[test]
fn a_build_installs_with_init_beside_other_providers() {
    let proxy = Proxy::moto();
    let binary = Path::new(env!("CARGO_BIN_EXE_terraform-provider-fgw"));
    let (mirror, text) = install();
    let workspace = Workspace::installing(&proxy, "");
    let mut others = vec![Other::mirroring("other", "example.com/any/other", "1.2.3", binary, &[])];
    let network =
        |name: &str| format!("  vpc_name = \"{name}\"\n  cidr_block = \"10.0.0.0/16\"\n  num_nat_gateways = 0\n");
    let mut config = format!("resource \"fgw_four_tier_vpc\" \"main\" {{\n{}}}\n", network("first"));
    config += &Workspace::block(&proxy, "").replace("\"fgw\"", "\"other\"");
    config += &format!("resource \"fgw_four_tier_vpc\" \"other\" {{\n  provider = other\n{}}}\n", network("second"));
    if install_hashicorp_aws(&workspace, &proxy, &["ec2"]) {
        others.push(Other::aws(&hosts(&mirror)));
        config += "resource \"aws_vpc\" \"main\" {\n  cidr_block = \"10.1.0.0/16\"\n}\n";
    }
    workspace.write("terraformrc", &cli_config(&text, &others));
    workspace.config(&(requirements(&text, &others) + &config));

    let init = workspace.init();
    init.succeeded();
    assert!(init.says(&format!("fgw/fgw v{VERSION}")), "{init}");
    let locked = lock(&workspace);
    for other in &others {
        assert!(locked.contains(&format!("{}\"", other.source)), "{locked}");
    }
    let expected = others.len() + 1;
    let plan = workspace.plan(&[]);
    assert!(plan.says(&format!("Plan: {expected} to add, 0 to change, 0 to destroy.")), "{plan}");
    assert_eq!(proxy.mutations().len(), 0);

    // The import page finds the provider below .terraform/providers.
    workspace.apply(&["-target=fgw_four_tier_vpc.main"]).succeeded();
    assert_generates_as_documented(&workspace);
}

#[test]
fn another_build_installs_after_its_lock_is_deleted() {
    let (mirror, text) = install();
    let workspace = Workspace::installing(&Proxy::moto(), &cli_config(&text, &[]));
    workspace.config(&requirements(&text, &[]));
    workspace.init().succeeded();
    // Another build of the same version has other bytes.
    let (system, machine) = platform();
    for host in hosts(&mirror) {
        let file = format!("{host}/fgw/fgw/{VERSION}/{system}_{machine}/terraform-provider-fgw_v{VERSION}");
        fs::OpenOptions::new()
            .append(true)
            .open(mirror.join(file))
            .and_then(|mut it| std::io::Write::write_all(&mut it, b"x"))
            .expect("it is installed");
    }
    workspace.init().failed_with("checksums");
    assert!(text.contains("Delete the block of fgw/fgw there, and run terraform init again."), "{text}");
    fs::remove_file(workspace.path().join(".terraform.lock.hcl")).expect("its only block is that of fgw/fgw");
    workspace.init().succeeded();
    workspace.validate().succeeded();
}
