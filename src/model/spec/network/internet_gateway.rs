//! The internet gateway of a VPC.

use serde::{Deserialize, Serialize};

use crate::model::OnDelete::Restrict;
use crate::model::spec::kind::{Counterpart, Identity, Kind, WhenInUse, tagged};
use crate::model::{Claim, Key, Learned, LeftBehind, Need, Tags};

/// An internet gateway, attached to its VPC. Key `internet_gateway`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct InternetGateway {
    /// The VPC it is attached to; `None` if it was found unattached.
    pub vpc: Option<Key>,
    /// Tags.
    pub tags: Tags,
}

impl Kind for InternetGateway {
    fn kind(&self) -> &'static str {
        "internet gateway"
    }

    fn identity(&self) -> Identity {
        Identity::Key("a network has one")
    }

    fn counterpart(&self) -> Counterpart {
        Counterpart {
            description: "Connects resources that have public addresses to the internet.",
            resource: "aws_internet_gateway",
            import_id: "GATEWAY_ID",
            attributes: &[("vpc", &["vpc_id"]), ("tags", &["tags"])],
        }
    }

    fn when_in_use(&self) -> WhenInUse {
        // A plan refuses to detach it while public addresses are mapped through it. Without it, subnets that stay have
        // routes to nowhere, which must not look like a success.
        WhenInUse::Error
    }

    /// An internet gateway has only tags.
    fn left_behind(&self, _learned: &Learned, _new: &dyn Kind) -> Vec<LeftBehind> {
        Vec::new()
    }

    fn needs(&self) -> Vec<Need> {
        self.vpc.iter().map(|vpc| Need::new(vpc, Restrict)).collect()
    }

    fn needs_only_ids(&self) -> bool {
        true
    }

    fn claims(&self) -> Vec<Claim> {
        vec![Claim::InternetGateway]
    }

    tagged!();

    fn maps_public_addresses(&self) -> bool {
        true
    }
}
