//! The steps of the guides "Adopting a network" and "Adopting an API".

use std::path::Path;

use super::proxy::Proxy;
use super::terraform::Workspace;

/// The changes that the plan of an adoption announces.
const ADOPTION: &str = "1 to import, 0 to add, 1 to change, 0 to destroy";

/// Writes the configuration that Terraform generates for an adoption next to another configuration, and returns it.
/// Then only the import and the generated configuration remain.
pub(crate) fn generate(workspace: &Workspace, address: &str, id: &str, others: &str) -> String {
    workspace.generate_beside(address, id, others, ADOPTION)
}

impl Workspace {
    /// An apply after whose last call Terraform is killed, so that the state is that from before it.
    pub(crate) fn apply_without_saving(&self) {
        let before = self.state();
        self.apply(&[]).succeeded();
        self.write("terraform.tfstate", &before.0.to_string());
    }
}

/// The generated configuration without `adopt`.
pub(crate) fn without_adopt(generated: &str) -> String {
    let (before, rest) = generated.split_once("  adopt ").expect("it names the objects");
    let (_, after) = rest.split_once("  }\n").expect("the map ends");
    format!("{before}{after}")
}

/// A block that removes a resource or a module from the state without destroying it.
pub(crate) fn removed(address: &str) -> String {
    format!("removed {{\n  from = {address}\n  lifecycle {{\n    destroy = false\n  }}\n}}\n")
}

/// Adds hashicorp/aws with endpoints for these services to the workspace. Returns false, and says so, if
/// `FGW_BENCH_AWS_PROVIDER` does not name the folder of its binary.
pub(crate) fn install_hashicorp_aws(workspace: &Workspace, proxy: &Proxy, services: &[&str]) -> bool {
    let folder = std::env::var_os("FGW_BENCH_AWS_PROVIDER");
    let Some(folder) = folder.filter(|folder| Path::new(folder).is_dir()) else {
        eprintln!("FGW_BENCH_AWS_PROVIDER is not set: boto3 builds the objects");
        return false;
    };
    let fgw = std::fs::read_to_string(workspace.path().join("terraformrc")).expect("the CLI configuration");
    let overrides = format!("dev_overrides {{\n    \"hashicorp/aws\" = \"{}\"\n", Path::new(&folder).display());
    workspace.write("terraformrc", &fgw.replace("dev_overrides {\n", &overrides));
    let (endpoint, account) = (proxy.endpoint(), &proxy.account().id);
    let endpoints: String = services.iter().map(|service| format!("    {service} = \"{endpoint}\"\n")).collect();
    workspace.write(
        "aws.tf",
        &format!(
            "provider \"aws\" {{\n  region = \"us-east-1\"\n  access_key = \"{account}\"\n  secret_key = \"secret\"\n  \
             skip_credentials_validation = true\n  skip_requesting_account_id = true\n  skip_metadata_api_check = \
             true\n  endpoints {{\n{endpoints}  }}\n}}\n"
        ),
    );
    true
}
