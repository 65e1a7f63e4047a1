//! Gateway endpoints.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use crate::model::OnDelete::Restrict;
use crate::model::spec::kind::{Counterpart, Identity, Kind, WhenInUse, of, tagged};
use crate::model::{Claim, Key, Learned, LeftBehind, Need, Ref, Tags, lost_policy};
use crate::plugin::Input;

/// A gateway endpoint. Key `vpc_endpoint.<objectstore|keyvalue>`, fixed by service name.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct VpcEndpoint {
    /// Its VPC.
    pub vpc: Key,
    /// The service name as listed by AWS in this Region.
    pub service_name: Input<String>,
    /// The route tables to which AWS adds its prefix list routes, sorted.
    pub route_tables: Vec<Ref>,
    /// IAM policy as JSON; `None` means full access, the default of AWS.
    pub policy: Input<Option<String>>,
    /// Tags.
    pub tags: Tags,
}

impl Kind for VpcEndpoint {
    fn kind(&self) -> &'static str {
        "VPC endpoint"
    }

    fn identity(&self) -> Identity {
        Identity::Key("its service is its key")
    }

    fn counterpart(&self) -> Counterpart {
        Counterpart {
            description: "Routes traffic to S3 or DynamoDB without the internet and the NAT gateways, at no charge.",
            resource: "aws_vpc_endpoint",
            import_id: "ENDPOINT_ID",
            attributes: &[
                ("vpc", &["vpc_id"]),
                ("service_name", &["service_name"]),
                ("route_tables", &["route_table_ids"]),
                ("policy", &["policy"]),
                ("tags", &["tags"]),
            ],
        }
    }

    fn when_in_use(&self) -> WhenInUse {
        // An interface endpoint with private names for inbound resolvers only blocks its deletion.
        WhenInUse::Deferred
    }

    /// Inputs express all settings of a gateway endpoint.
    fn left_behind(&self, _learned: &Learned, _new: &dyn Kind) -> Vec<LeftBehind> {
        Vec::new()
    }

    fn weakened_by(&self, new: &dyn Kind) -> Option<LeftBehind> {
        lost_policy(&self.policy, &of::<VpcEndpoint>(new)?.policy)
    }

    fn is_protected_by_settings(&self) -> bool {
        true
    }

    fn needs(&self) -> Vec<Need> {
        let mut needs = vec![Need::new(&self.vpc, Restrict)];
        needs.extend(self.route_tables.iter().flat_map(|table| Need::of(table, Restrict)));
        needs
    }

    fn claims(&self) -> Vec<Claim> {
        vec![Claim::Endpoint { service_name: self.service_name.clone() }]
    }

    tagged!();

    fn list_mut(&mut self) -> Option<&mut Vec<Ref>> {
        Some(&mut self.route_tables)
    }

    fn keep_references(&mut self, before: &dyn Kind, keys: &BTreeSet<Key>) {
        let Some(before) = of::<VpcEndpoint>(before) else { return };
        let is_kept = |table: &&Ref| {
            let is_deleted = matches!(table, Ref::Key(key) if keys.contains(key));
            is_deleted && !self.route_tables.contains(table)
        };
        let kept: Vec<Ref> = before.route_tables.iter().filter(is_kept).cloned().collect();
        if !kept.is_empty() {
            self.route_tables.extend(kept);
            self.route_tables.sort();
        }
    }

    fn moved_paths(&self, before: &dyn Kind, stays: &dyn Fn(&Key) -> bool) -> Vec<String> {
        let Some(before) = of::<VpcEndpoint>(before) else { return Vec::new() };
        let stays = |it: &&Ref| matches!(it, Ref::Key(key) if stays(key));
        let added = self.route_tables.iter().filter(|it| !before.route_tables.contains(it)).filter(stays);
        let removed = before.route_tables.iter().filter(|it| !self.route_tables.contains(it)).filter(stays);
        let added = added.map(|table| format!("{} gets its route", table.named()));
        added.chain(removed.map(|table| format!("{} loses its route", table.named()))).collect()
    }
}
