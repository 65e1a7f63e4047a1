//! Alias records in Route 53.

use serde::{Deserialize, Serialize};

use crate::model::OnDelete::Restrict;
use crate::model::spec::kind::{Counterpart, Kind};
use crate::model::{Claim, Need, Ref};
use crate::plugin::Input;

/// An alias record of type A in Route 53. Key `dns_record`, fixed by zone and name. Its ID is `<zone>_<name>_A`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct DnsRecord {
    /// ID of the hosted zone.
    pub zone_id: Input<String>,
    /// Fully qualified name, in lowercase, without the trailing dot.
    pub name: Input<String>,
    /// The custom domain that it routes to, or the name of an unmanaged target.
    pub target: Ref,
    /// Whether Route 53 evaluates the health of the target; always false in a blueprint.
    pub evaluate_target_health: bool,
}

impl Kind for DnsRecord {
    fn kind(&self) -> &'static str {
        "DNS record"
    }

    fn counterpart(&self) -> Counterpart {
        Counterpart {
            description: "The alias record of type A that resolves the custom domain.",
            resource: "aws_route53_record",
            import_id: "ZONE_ID_NAME_TYPE",
            attributes: &[
                ("zone_id", &["zone_id"]),
                ("name", &["name"]),
                ("target", &["alias.name", "alias.zone_id"]),
                ("evaluate_target_health", &["alias.evaluate_target_health"]),
            ],
        }
    }

    fn needs(&self) -> Vec<Need> {
        Need::of(&self.target, Restrict).into_iter().collect()
    }

    fn claims(&self) -> Vec<Claim> {
        vec![Claim::Record { zone_id: self.zone_id.clone(), name: self.name.clone() }]
    }

    fn references_mut(&mut self) -> Vec<&mut Ref> {
        vec![&mut self.target]
    }

    fn leads_to(&self) -> Vec<&Ref> {
        vec![&self.target]
    }
}
