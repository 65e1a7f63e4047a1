//! The subjects of a measurement: a provider, and a topology with its size and with the delays of its account.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::support::proxy::Proxy;
use crate::support::reaper;

/// A provider, with its binary and its source address.
#[derive(Clone, Debug)]
pub(crate) struct Side {
    /// `fgw` or `aws`, which is also the folder of its configurations.
    pub(crate) name: &'static str,
    pub(crate) is_fgw: bool,
    pub(crate) binary: PathBuf,
    source: &'static str,
}

impl Side {
    pub(crate) fn fgw(binary: &Path) -> Self {
        let binary = binary.canonicalize().unwrap_or_else(|error| panic!("FGW_BINARY {}: {error}", binary.display()));
        Self { name: "fgw", is_fgw: true, binary, source: "fgw/fgw" }
    }

    pub(crate) fn aws(folder: &Path) -> Self {
        let files = fs::read_dir(folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
        let mut paths = files.filter_map(|file| Some(file.ok()?.path()));
        let is_provider = |path: &PathBuf| {
            path.file_name().is_some_and(|name| name.to_string_lossy().starts_with("terraform-provider-aws"))
        };
        let found =
            paths.find(is_provider).unwrap_or_else(|| panic!("{} does not contain hashicorp/aws", folder.display()));
        let binary = found.canonicalize().expect("the file exists");
        Self { name: "aws", is_fgw: false, binary, source: "hashicorp/aws" }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Network,
    Gateway,
}

impl Kind {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Network => "network",
            Self::Gateway => "gateway",
        }
    }
}

/// The size of a topology, and the delays of AWS.
#[derive(Clone, Debug)]
pub(crate) struct Topology {
    pub(crate) kind: Kind,
    pub(crate) azs: usize,
    pub(crate) routes: usize,
    pub(crate) copies: usize,
    /// Whether a network uses every input that creates objects, and each route of a gateway has a function of its own.
    pub(crate) is_full: bool,
    pub(crate) latency_ms: u64,
    pub(crate) nat_pending_s: u64,
}

impl Topology {
    /// One network in one AZ or one gateway with one route, without delays.
    pub(crate) fn of(kind: Kind) -> Self {
        Self { kind, azs: 1, routes: 1, copies: 1, is_full: false, latency_ms: 0, nat_pending_s: 0 }
    }

    pub(crate) fn full(&self) -> Self {
        Self { is_full: true, ..self.clone() }
    }

    pub(crate) fn azs(&self, azs: usize) -> Self {
        Self { azs, ..self.clone() }
    }

    pub(crate) fn routes(&self, routes: usize) -> Self {
        Self { routes, ..self.clone() }
    }

    pub(crate) fn copies(&self, copies: usize) -> Self {
        Self { copies, ..self.clone() }
    }

    pub(crate) fn latency(&self, latency_ms: u64) -> Self {
        Self { latency_ms, ..self.clone() }
    }

    pub(crate) fn nat_pending(&self, nat_pending_s: u64) -> Self {
        Self { nat_pending_s, ..self.clone() }
    }

    /// The number of functions that the routes call in turn.
    pub(crate) fn functions(&self) -> usize {
        match self.routes {
            // The change adds a route.
            routes if self.is_full => routes + 1,
            ..20 => 5,
            20.. => 20,
        }
    }

    /// The folder of its configuration, below the one of a provider.
    fn folder(&self) -> &'static str {
        match self.kind {
            Kind::Network if self.is_full => "full_network",
            kind => kind.name(),
        }
    }

    pub(crate) fn json(&self) -> Value {
        let Self { kind, azs, routes, copies, is_full, latency_ms, nat_pending_s } = self;
        let mut json = json!({
            "kind": kind.name(), "copies": copies, "full": is_full, "latency_ms": latency_ms,
            "nat_pending_s": nat_pending_s,
        });
        match kind {
            Kind::Network => json["azs"] = (*azs).into(),
            Kind::Gateway => json["routes"] = (*routes).into(),
        }
        json
    }

    /// The values of the configuration's variables before or after the change. The plain configurations have no
    /// variable for copies.
    fn variables(&self, proxy: &Proxy, side: &Side, is_changed: bool) -> Value {
        let mut variables = json!({ "endpoint": proxy.endpoint(), "account": proxy.account().id });
        match self.kind {
            Kind::Network => {
                variables["azs"] = self.azs.into();
                let tags = [("project", "bench"), ("cost_centre", "42")];
                variables["tags"] = tags.into_iter().take(1 + usize::from(is_changed)).collect();
            }
            Kind::Gateway => {
                variables["routes"] = (self.routes + usize::from(is_changed)).into();
                variables["functions"] = self.functions().into();
            }
        }
        if side.is_fgw {
            variables["copies"] = self.copies.into();
        } else {
            assert_eq!(self.copies, 1, "the plain configuration has one network or gateway");
        }
        variables
    }
}

/// A folder with the configuration of one topology for one provider.
#[derive(Debug)]
pub(crate) struct Workspace {
    folder: TempDir,
}

impl Workspace {
    pub(crate) fn new(topology: &Topology, side: &Side, proxy: &Proxy) -> Self {
        let workspace = Self::empty();
        let configuration = Path::new(env!("CARGO_MANIFEST_DIR"))
            .join("benches")
            .join(side.name)
            .join(topology.folder())
            .join("main.tf");
        let configuration = fs::read_to_string(&configuration).expect("each provider has a configuration of each kind");
        let providers = side.binary.parent().expect("a binary is in a folder").display();
        let overrides = format!(
            "provider_installation {{\n  dev_overrides {{\n    \"{}\" = \"{providers}\"\n  }}\n  direct {{}}\n}}\n",
            side.source
        );
        workspace.write("main.tf", &configuration);
        workspace.write("terraformrc", &overrides);
        workspace.set(topology, side, proxy, false);
        workspace
    }

    fn empty() -> Self {
        let folder = tempfile::Builder::new().prefix("fgw-bench-").tempdir().expect("a temporary directory");
        reaper::directory_created(folder.path());
        Self { folder }
    }

    /// A configuration without a provider, to measure Terraform alone.
    pub(crate) fn without_provider() -> Self {
        let workspace = Self::empty();
        workspace.write("main.tf", "output \"none\" {\n  value = 1\n}\n");
        workspace.write("terraformrc", "");
        workspace
    }

    /// Sets the variables to their values before or after the change.
    pub(crate) fn set(&self, topology: &Topology, side: &Side, proxy: &Proxy, is_changed: bool) {
        self.write("terraform.tfvars.json", &topology.variables(proxy, side, is_changed).to_string());
    }

    pub(crate) fn path(&self) -> &Path {
        self.folder.path()
    }

    fn write(&self, file: &str, content: &str) {
        fs::write(self.path().join(file), content).expect("the folder is ours");
    }

    /// The size of a file that Terraform has written, if it exists.
    pub(crate) fn bytes_of(&self, file: &str) -> u64 {
        fs::metadata(self.path().join(file)).map_or(0, |it| it.len())
    }
}
