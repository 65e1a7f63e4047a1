//! Alias records in Route 53.

use serde::{Deserialize, Serialize};

use crate::model::OnDelete::Restrict;
use crate::model::spec::kind::{Counterpart, Identity, Kind, WhenInUse};
use crate::model::{Api, Claim, Learned, LeftBehind, Need, Ref};
use crate::plugin::Input;

/// An alias record in Route 53. Key `dns_record` or `dns_record_aaaa`, fixed by zone and name. Its ID is
/// `<zone>_<name>_<type>`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct DnsRecord {
    /// ID of the hosted zone.
    pub zone_id: Input<String>,
    /// Fully qualified name, in lowercase, without the trailing dot.
    pub name: Input<String>,
    /// The custom domain that it routes to, or the name of an unmanaged target.
    pub target: Ref,
    /// [`DnsRecord::A`] or [`DnsRecord::AAAA`].
    #[serde(default = "DnsRecord::a")]
    pub record_type: String,
}

impl Kind for DnsRecord {
    fn kind(&self) -> &'static str {
        "DNS record"
    }

    fn identity(&self) -> Identity {
        Identity::Key("its type is its key")
    }

    fn counterpart(&self) -> Counterpart {
        Counterpart {
            description: "The alias record that resolves the custom domain: one of type A and, for IPv6, one of type \
                          AAAA.",
            resource: "aws_route53_record",
            import_id: "ZONE_ID_NAME_TYPE",
            attributes: &[
                ("zone_id", &["zone_id"]),
                ("name", &["name"]),
                ("record_type", &["type"]),
                ("target", &["alias.name", "alias.zone_id"]),
            ],
        }
    }

    fn when_in_use(&self) -> WhenInUse {
        WhenInUse::Deleted
    }

    /// Whether Route 53 evaluates the health of the target.
    fn left_behind(&self, learned: &Learned, _new: &dyn Kind) -> Vec<LeftBehind> {
        learned.left_behind()
    }

    fn needs(&self) -> Vec<Need> {
        Need::of(&self.target, Restrict).into_iter().collect()
    }

    fn claims(&self) -> Vec<Claim> {
        vec![Claim::Record {
            zone_id: self.zone_id.clone(),
            name: self.name.clone(),
            record_type: self.record_type.clone(),
        }]
    }

    fn references_mut(&mut self) -> Vec<&mut Ref> {
        vec![&mut self.target]
    }

    fn leads_to(&self) -> Vec<&Ref> {
        vec![&self.target]
    }
}

impl DnsRecord {
    /// The type of a record of IPv4 addresses.
    pub const A: &'static str = "A";
    /// The type of a record of IPv6 addresses.
    pub const AAAA: &'static str = "AAAA";

    /// The types of the records of a domain with this IP address type.
    pub fn types(ip_address_type: &str) -> &'static [&'static str] {
        match ip_address_type {
            Api::DUALSTACK => &[DnsRecord::A, DnsRecord::AAAA],
            _ => &[DnsRecord::A],
        }
    }

    /// The type of a record in a state from before there was another.
    fn a() -> String {
        DnsRecord::A.to_string()
    }
}
