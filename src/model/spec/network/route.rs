//! Routes of route tables.

use serde::{Deserialize, Serialize};

use crate::model::OnDelete::{NoAction, Restrict};
use crate::model::spec::kind::{Counterpart, Identity, Kind, WhenInUse};
use crate::model::{Claim, Key, Learned, LeftBehind, Need, Ref};

/// A managed route. Key `route.<table>.<ipv4|ipv6>`, ID `<route table ID>_<destination>`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Route {
    /// The table.
    pub route_table: Key,
    /// Destination in canonical CIDR notation.
    pub destination: String,
    /// An internet gateway, an egress-only one, or a NAT gateway; the prefix of its ID shows which.
    pub target: Ref,
}

impl Kind for Route {
    fn kind(&self) -> &'static str {
        "route"
    }

    fn identity(&self) -> Identity {
        Identity::Key("its table and its destination are its key")
    }

    fn counterpart(&self) -> Counterpart {
        Counterpart {
            description: "The default route of a route table, to the internet gateway, the egress-only one or a NAT gateway.",
            resource: "aws_route",
            import_id: "TABLE_ID_DESTINATION",
            attributes: &[
                ("route_table", &["route_table_id"]),
                ("destination", &["destination_cidr_block", "destination_ipv6_cidr_block"]),
                ("target", &["gateway_id", "egress_only_gateway_id", "nat_gateway_id"]),
            ],
        }
    }

    /// A route consists of its destination and its target.
    fn left_behind(&self, _learned: &Learned, _new: &dyn Kind) -> Vec<LeftBehind> {
        Vec::new()
    }

    /// AWS allows deleting the target first and keeps the route as a blackhole.
    fn when_in_use(&self) -> WhenInUse {
        WhenInUse::Deleted
    }

    fn needs(&self) -> Vec<Need> {
        let mut needs = vec![Need::new(&self.route_table, Restrict)];
        needs.extend(Need::of(&self.target, NoAction));
        needs
    }

    fn parent(&self) -> Option<&Key> {
        Some(&self.route_table)
    }

    fn claims(&self) -> Vec<Claim> {
        let (route_table, destination) = (self.route_table.clone(), self.destination.clone());
        vec![Claim::Route { route_table, destination }]
    }

    fn references_mut(&mut self) -> Vec<&mut Ref> {
        vec![&mut self.target]
    }

    fn leads_to(&self) -> Vec<&Ref> {
        vec![&self.target]
    }

    fn target(&self) -> Option<&Ref> {
        Some(&self.target)
    }

    fn target_mut(&mut self) -> Option<&mut Ref> {
        Some(&mut self.target)
    }
}
