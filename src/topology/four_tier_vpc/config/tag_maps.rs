//! The inputs with tags.

use super::Config;
use crate::model::{Tags, Tier};

impl Config {
    /// The tags of the tier's subnets.
    pub fn subnet_tags(&self, tier: Tier) -> &Tags {
        match tier {
            Tier::Public => &self.public_subnet_custom_tags,
            Tier::PrivateApp => &self.private_app_subnet_custom_tags,
            Tier::PrivatePersistence => &self.private_persistence_subnet_custom_tags,
            Tier::Transit => &self.transit_subnet_custom_tags,
        }
    }

    /// The tags of the tier's route tables.
    pub fn route_table_tags(&self, tier: Tier) -> &Tags {
        match tier {
            Tier::Public => &self.public_route_table_custom_tags,
            Tier::PrivateApp => &self.private_app_route_table_custom_tags,
            Tier::PrivatePersistence => &self.private_persistence_route_table_custom_tags,
            Tier::Transit => &self.transit_route_table_custom_tags,
        }
    }

    /// The name and the value of every map of tags.
    pub fn tag_maps(&self) -> [(&'static str, &Tags); 12] {
        [
            ("custom_tags", &self.custom_tags),
            ("vpc_custom_tags", &self.vpc_custom_tags),
            ("nat_gateway_custom_tags", &self.nat_gateway_custom_tags),
            ("public_subnet_custom_tags", &self.public_subnet_custom_tags),
            ("private_app_subnet_custom_tags", &self.private_app_subnet_custom_tags),
            ("private_persistence_subnet_custom_tags", &self.private_persistence_subnet_custom_tags),
            ("transit_subnet_custom_tags", &self.transit_subnet_custom_tags),
            ("public_route_table_custom_tags", &self.public_route_table_custom_tags),
            ("private_app_route_table_custom_tags", &self.private_app_route_table_custom_tags),
            ("private_persistence_route_table_custom_tags", &self.private_persistence_route_table_custom_tags),
            ("transit_route_table_custom_tags", &self.transit_route_table_custom_tags),
            ("security_group_tags", &self.security_group_tags),
        ]
    }
}
