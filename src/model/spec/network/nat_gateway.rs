//! NAT gateways.

use serde::{Deserialize, Serialize};

use crate::model::OnDelete::Restrict;
use crate::model::spec::kind::{Counterpart, Identity, Kind, WhenInUse, of, tagged};
use crate::model::{Claim, Key, Learned, LeftBehind, Need, Ref, Tags};
use crate::plugin::Input;

/// A NAT gateway. Key `nat_gateway.<index>`, fixed by subnet and address, or `private_nat_gateway.<index>`, fixed by
/// subnet.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct NatGateway {
    /// Its subnet.
    pub subnet: Key,
    /// The address of a public NAT gateway; `None` for a private one.
    pub allocation: Option<Input<Ref>>,
    /// The internet gateway that a public NAT gateway needs attached.
    pub internet_gateway: Option<Key>,
    /// Number of secondary private addresses; 0 for a public NAT gateway.
    pub secondary_private_ip_address_count: Input<i64>,
    /// Tags.
    pub tags: Tags,
}

impl Kind for NatGateway {
    fn kind(&self) -> &'static str {
        "NAT gateway"
    }

    fn identity(&self) -> Identity {
        Identity::Key("its number follows from the layout of the subnets")
    }

    fn counterpart(&self) -> Counterpart {
        Counterpart {
            description: "Lets resources without public addresses open outbound connections, from its own address.",
            resource: "aws_nat_gateway",
            import_id: "GATEWAY_ID",
            attributes: &[
                ("subnet", &["subnet_id"]),
                ("allocation", &["allocation_id", "connectivity_type"]),
                ("internet_gateway", &[]),
                ("secondary_private_ip_address_count", &["secondary_private_ip_address_count"]),
                ("tags", &["tags"]),
            ],
        }
    }

    fn when_in_use(&self) -> WhenInUse {
        // AWS deletes it although routes lead to it. Any other answer is unexpected.
        WhenInUse::Error
    }

    /// Inputs express all addresses of a NAT gateway.
    fn left_behind(&self, _learned: &Learned, _new: &dyn Kind) -> Vec<LeftBehind> {
        Vec::new()
    }

    fn needs(&self) -> Vec<Need> {
        let mut needs = vec![Need::new(&self.subnet, Restrict)];
        needs.extend(self.internet_gateway.iter().map(|gateway| Need::new(gateway, Restrict)));
        if let Some(Input::Known(address)) = &self.allocation {
            needs.extend(Need::of(address, Restrict));
        }
        needs
    }

    fn claims(&self) -> Vec<Claim> {
        match &self.allocation {
            Some(Input::Known(allocation)) => vec![Claim::ElasticIp { allocation: allocation.clone() }],
            _ => vec![],
        }
    }

    tagged!();

    fn references_mut(&mut self) -> Vec<&mut Ref> {
        match &mut self.allocation {
            Some(Input::Known(address)) => vec![address],
            _ => vec![],
        }
    }

    fn is_given(&self, id: &str) -> bool {
        matches!(&self.allocation, Some(Input::Known(Ref::Id(given))) if given == id)
    }

    /// Both are public, or both are private.
    fn can_replace_target(&self, other: &dyn Kind) -> bool {
        of::<NatGateway>(other).is_some_and(|other| self.allocation.is_some() == other.allocation.is_some())
    }
}
