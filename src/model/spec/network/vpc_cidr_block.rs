//! The secondary IPv4 ranges of a VPC.

use serde::{Deserialize, Serialize};

use crate::model::OnDelete::Restrict;
use crate::model::spec::kind::{Counterpart, Identity, Kind, WhenInUse};
use crate::model::{Key, Learned, LeftBehind, Need};

/// A secondary IPv4 range of the VPC. Key `cidr_block.<range>`. Its ID is that of the association.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct VpcCidrBlock {
    /// Its VPC.
    pub vpc: Key,
    /// The range in canonical CIDR notation.
    pub cidr_block: String,
}

impl Kind for VpcCidrBlock {
    fn kind(&self) -> &'static str {
        "secondary CIDR block"
    }

    fn identity(&self) -> Identity {
        Identity::Key("its range is its key")
    }

    fn counterpart(&self) -> Counterpart {
        Counterpart {
            description: "A further IPv4 range of the VPC. Its key contains the range.",
            resource: "aws_vpc_ipv4_cidr_block_association",
            import_id: "ASSOCIATION_ID",
            attributes: &[("vpc", &["vpc_id"]), ("cidr_block", &["cidr_block"])],
        }
    }

    fn when_in_use(&self) -> WhenInUse {
        // Unmanaged subnets in it block its removal.
        WhenInUse::Deferred
    }

    /// AWS stores the range alone.
    fn left_behind(&self, _learned: &Learned, _new: &dyn Kind) -> Vec<LeftBehind> {
        Vec::new()
    }

    fn needs(&self) -> Vec<Need> {
        vec![Need::new(&self.vpc, Restrict)]
    }

    /// AWS deletes the association with the VPC.
    fn parent(&self) -> Option<&Key> {
        Some(&self.vpc)
    }
}
