//! The explicit route tables of subnets.

use serde::{Deserialize, Serialize};

use crate::model::OnDelete::Restrict;
use crate::model::spec::kind::{Counterpart, Identity, Kind, WhenInUse, of};
use crate::model::{Claim, Key, Learned, LeftBehind, Need, Ref};

/// A subnet's explicit route table. Key `route_table_association.<tier>.<index>`, fixed like its subnet.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RouteTableAssociation {
    /// The subnet.
    pub subnet: Key,
    /// The table.
    pub route_table: Ref,
}

impl Kind for RouteTableAssociation {
    fn kind(&self) -> &'static str {
        "route table association"
    }

    fn identity(&self) -> Identity {
        Identity::Key("its subnet is its key")
    }

    fn counterpart(&self) -> Counterpart {
        Counterpart {
            description: "Associates a subnet with its route table, after the default route of the table exists.",
            resource: "aws_route_table_association",
            import_id: "SUBNET_ID/TABLE_ID",
            attributes: &[("subnet", &["subnet_id"]), ("route_table", &["route_table_id"])],
        }
    }

    fn when_in_use(&self) -> WhenInUse {
        WhenInUse::Deleted
    }

    /// An association has no settings.
    fn left_behind(&self, _learned: &Learned, _new: &dyn Kind) -> Vec<LeftBehind> {
        Vec::new()
    }

    fn needs(&self) -> Vec<Need> {
        let mut needs = vec![Need::new(&self.subnet, Restrict)];
        needs.extend(Need::of(&self.route_table, Restrict));
        needs
    }

    fn parent(&self) -> Option<&Key> {
        Some(&self.subnet)
    }

    fn claims(&self) -> Vec<Claim> {
        vec![Claim::TableOf { subnet: self.subnet.clone() }]
    }

    fn references_mut(&mut self) -> Vec<&mut Ref> {
        vec![&mut self.route_table]
    }

    fn leads_to(&self) -> Vec<&Ref> {
        vec![&self.route_table]
    }

    fn gets_new_id_when_updated(&self) -> bool {
        true
    }

    fn moved_paths(&self, before: &dyn Kind, _stays: &dyn Fn(&Key) -> bool) -> Vec<String> {
        let Some(before) = of::<RouteTableAssociation>(before) else { return Vec::new() };
        let (from, table) = (&before.route_table, &self.route_table);
        let moves = format!("{} moves from {} to {}", self.subnet, from.named(), table.named());
        (from != table).then_some(moves).into_iter().collect()
    }
}
