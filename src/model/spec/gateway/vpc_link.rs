//! VPC links of an account.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use crate::model::OnDelete::NoAction;
use crate::model::keys::gateway;
use crate::model::spec::kind::{Counterpart, Identity, Kind, WhenInUse, tagged};
use crate::model::{Key, Learned, LeftBehind, Need, Tags};
use crate::plugin::Input;

/// A VPC link. Key `vpc_link.<name>`, fixed by its subnets and security groups.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct VpcLink {
    /// The API, which a link does not need, but which must exist first (see [`super::Eip::vpc`]).
    pub api: Key,
    /// Its name, which other links may have too.
    pub name: Input<String>,
    /// The subnets of its network interfaces.
    pub subnet_ids: Input<BTreeSet<String>>,
    /// The security groups of its network interfaces. Without any, AWS uses the default group of the VPC.
    pub security_group_ids: Input<BTreeSet<String>>,
    /// Tags.
    pub tags: Tags,
}

/// The AZs without VPC links, by their IDs: those that AWS has and that the developer guide of API Gateway does not
/// list (Set up VPC links V2, Availability by Region). AWS may have added some of them since.
const WITHOUT_LINKS: &[&str] =
    &["ape1-az1", "apne1-az3", "apne2-az4", "cac1-az3", "cac1-az4", "euw3-az2", "use1-az3", "usw1-az2"];

impl VpcLink {
    /// Whether AWS may have links in the AZ with this ID, as far as it is documented.
    pub(crate) fn may_be_in(zone_id: &str) -> bool {
        !WITHOUT_LINKS.contains(&zone_id)
    }
}

impl Kind for VpcLink {
    fn kind(&self) -> &'static str {
        "VPC link"
    }

    fn identity(&self) -> Identity {
        Identity::Fixed { slots: gateway::VPC_LINK, input: "vpc_links" }
    }

    fn counterpart(&self) -> Counterpart {
        Counterpart {
            description: "Network interfaces through which API Gateway reaches private endpoints in a VPC.",
            resource: "aws_apigatewayv2_vpc_link",
            import_id: "VPC_LINK_ID",
            attributes: &[
                ("api", &[]),
                ("name", &["name"]),
                ("subnet_ids", &["subnet_ids"]),
                ("security_group_ids", &["security_group_ids"]),
                ("tags", &["tags"]),
            ],
        }
    }

    fn when_in_use(&self) -> WhenInUse {
        // Routes of other APIs block its deletion.
        WhenInUse::Deferred
    }

    /// Inputs express all settings of a VPC link.
    fn left_behind(&self, _learned: &Learned, _new: &dyn Kind) -> Vec<LeftBehind> {
        Vec::new()
    }

    fn needs(&self) -> Vec<Need> {
        vec![Need::of_id(&self.api, NoAction)]
    }

    tagged!();
}
