//! Route tables.

use serde::{Deserialize, Serialize};

use crate::model::OnDelete::Restrict;
use crate::model::spec::kind::{Counterpart, Identity, Kind, WhenInUse, of, tagged};
use crate::model::{Key, Learned, LeftBehind, Need, Tags};
use crate::plugin::Input;

/// A route table. Key `route_table.<tier>.<index>`, or `route_table.public` if one table serves all public subnets.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RouteTable {
    /// Its VPC.
    pub vpc: Key,
    /// Virtual private gateways whose routes the provider propagates to it, sorted. Unmanaged propagations are not
    /// included.
    pub propagating_gateways: Input<Vec<Input<String>>>,
    /// Tags.
    pub tags: Tags,
}

impl Kind for RouteTable {
    fn kind(&self) -> &'static str {
        "route table"
    }

    fn identity(&self) -> Identity {
        Identity::Key("its tier and the index of its AZ are its key")
    }

    fn counterpart(&self) -> Counterpart {
        Counterpart {
            description: "The routes for traffic from its subnets.",
            resource: "aws_route_table",
            import_id: "TABLE_ID",
            attributes: &[("vpc", &["vpc_id"]), ("propagating_gateways", &["propagating_vgws"]), ("tags", &["tags"])],
        }
    }

    fn when_in_use(&self) -> WhenInUse {
        // A gateway that is associated with it blocks its deletion. Associated subnets do too, but if a read returns
        // them, it stays in AWS.
        WhenInUse::Deferred
    }

    /// The plan names its unmanaged routes as lost (`lost_when_deleted`). Propagation from unmanaged gateways ends too.
    fn left_behind(&self, learned: &Learned, _new: &dyn Kind) -> Vec<LeftBehind> {
        learned.left_behind()
    }

    fn needs(&self) -> Vec<Need> {
        vec![Need::new(&self.vpc, Restrict)]
    }

    tagged!();

    fn lost_when_deleted(&self, learned: &Learned) -> Option<String> {
        let route = |(destination, target): &(String, String)| format!("{destination} to {target}");
        let routes: Vec<String> = learned.unmanaged_routes.iter().map(route).collect();
        (!routes.is_empty()).then(|| format!("its unmanaged routes are lost: {}", routes.join(", ")))
    }

    /// Propagating gateways are managed one by one.
    fn merge_owned(&mut self, other: &dyn Kind) {
        if let (Input::Known(gateways), Some(Input::Known(others))) =
            (&mut self.propagating_gateways, of::<RouteTable>(other).map(|it| &it.propagating_gateways))
        {
            let missing: Vec<_> = others.iter().filter(|it| it.is_known() && !gateways.contains(it)).cloned().collect();
            gateways.extend(missing);
            gateways.sort();
        }
    }

    fn take_attached_parts_of(&mut self, before: Option<&dyn Kind>) {
        let before = before.and_then(of::<RouteTable>).map(|it| it.propagating_gateways.clone());
        self.propagating_gateways = before.unwrap_or(Input::Known(Vec::new()));
    }

    fn depends_on_attachment(&self) -> bool {
        self.propagating_gateways != Input::Known(Vec::new())
    }

    /// Propagations of other gateways may be unmanaged.
    fn mask_unowned(&mut self, wanted: &dyn Kind) {
        let Some(wanted) = of::<RouteTable>(wanted) else { return };
        if let (Input::Known(found), Input::Known(wanted)) =
            (&mut self.propagating_gateways, &wanted.propagating_gateways)
        {
            found.retain(|gateway| wanted.contains(gateway));
        }
    }
}
