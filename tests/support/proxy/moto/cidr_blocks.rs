//! Secondary IPv4 ranges of VPCs: what AWS rejects and moto accepts, the states of the associations, and the local
//! routes that AWS adds.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::sync::Mutex;

use ipnet::Ipv4Net;

use super::{Answer, Done, Element, Instead, Repair, Request, async_trait, lock};
use crate::support::proxy::lasts::{Begun, Lasts};

/// The list of associations in a VPC.
const SET: &str = "cidrBlockAssociationSet";

/// The associations that were created or removed through this proxy.
#[derive(Debug)]
pub(crate) struct CidrBlocks(Mutex<State>);

#[derive(Debug)]
struct State {
    /// How long a range is associating or disassociating.
    lasts: Lasts,
    /// When the last change of each association began, by its ID.
    begun: HashMap<String, Begun>,
    /// The message of the failure of the next association.
    failing: Option<String>,
    /// The messages of the failed associations, by their IDs.
    failed: HashMap<String, String>,
}

impl Default for CidrBlocks {
    fn default() -> Self {
        let (begun, failing, failed) = Default::default();
        Self(Mutex::new(State { lasts: Lasts::Answers(1), begun, failing, failed }))
    }
}

/// An association of a VPC.
struct Association {
    id: String,
    range: Ipv4Net,
    state: String,
}

#[async_trait]
impl Repair for CidrBlocks {
    async fn instead(&self, call: &Request<'_>) -> Instead {
        match call.name {
            "AssociateVpcCidrBlock" if !call.param("CidrBlock").is_empty() => self.associate(call).await,
            "DisassociateVpcCidrBlock" => self.disassociate(call).await,
            "CreateSubnet" => self.subnet(call).await,
            _ => Ok(None),
        }
    }

    async fn after(&self, call: &Request<'_>, answer: &mut Answer) -> Done {
        match call.name {
            "AssociateVpcCidrBlock" => {
                let Some(created) = answer.root()?.child("cidrBlockAssociation") else { return Ok(()) };
                let id = created.text_of("associationId").to_owned();
                let mut state = lock(&self.0);
                if let Some(message) = state.failing.take() {
                    state.failed.insert(id.clone(), message);
                }
                state.begun.insert(id, Begun::now());
                Ok(())
            }
            "DisassociateVpcCidrBlock" => {
                lock(&self.0).begun.insert(call.param("AssociationId").to_owned(), Begun::now());
                Ok(())
            }
            "DescribeVpcs" if self.is_used() => {
                for vpc in answer.root()?.items_mut("vpcSet") {
                    vpc.items_mut(SET).iter_mut().for_each(|block| self.show(block, true));
                }
                Ok(())
            }
            "DescribeRouteTables" if self.is_used() => self.local_routes(call, answer).await,
            _ => Ok(()),
        }
    }
}

impl CidrBlocks {
    /// How long the ranges that change from now on are associating or disassociating.
    pub(in crate::support::proxy) fn set(&self, lasts: Lasts) {
        lock(&self.0).lasts = lasts;
    }

    /// Lets the next association fail after AWS has accepted it.
    pub(in crate::support::proxy) fn fail(&self, message: &str) {
        lock(&self.0).failing = Some(message.to_owned());
    }

    /// Networks without such a range cost no further calls of moto.
    fn is_used(&self) -> bool {
        !lock(&self.0).begun.is_empty()
    }

    /// Sets the state of an association in an answer of moto, which knows only `associated` and `disassociated`.
    fn show(&self, block: &mut Element, counts: bool) {
        let mut state = lock(&self.0);
        let (lasts, id) = (state.lasts, block.text_of("associationId").to_owned());
        let message = state.failed.get(&id).cloned();
        let Some(begun) = state.begun.get_mut(&id) else { return };
        let Some(shown) = block.child_mut("cidrBlockState") else { return };
        let is_removed = shown.text_of("state") == "disassociated";
        if begun.goes_on(lasts) {
            if counts {
                begun.shown();
            }
            shown.set("state", if is_removed { "disassociating" } else { "associating" });
        } else if let (Some(message), false) = (message, is_removed) {
            shown.set("state", "failed");
            shown.set("statusMessage", &message);
        }
    }

    /// The associations of a VPC.
    async fn of_vpc(&self, call: &Request<'_>, vpc: &str) -> Result<Vec<Association>, String> {
        let vpcs = call.describe("DescribeVpcs", &[("vpc-id", vpc)]).await?;
        let blocks = vpcs.items("vpcSet").iter().flat_map(|vpc| vpc.items(SET)).map(|block| self.association(block));
        Ok(blocks.flatten().collect())
    }

    fn association(&self, block: &Element) -> Option<Association> {
        let mut block = block.clone();
        self.show(&mut block, false);
        Some(Association {
            id: block.text_of("associationId").to_owned(),
            range: block.text_of("cidrBlock").parse().ok()?,
            state: block.child("cidrBlockState")?.text_of("state").to_owned(),
        })
    }

    /// AWS rejects ranges of other sizes, ranges that its table of restrictions excludes, ranges that overlap another
    /// one of the VPC, and ranges with the destination of a route in any table of the VPC.
    async fn associate(&self, call: &Request<'_>) -> Instead {
        let (vpc, text) = (call.param("VpcId"), call.param("CidrBlock"));
        let wanted: Ipv4Net = text.parse().map_err(|error| format!("{text}: {error}"))?;
        if !(16..=28).contains(&wanted.prefix_len()) {
            return Ok(Some(call.rejected("InvalidVpc.Range", &format!("The CIDR '{text}' is invalid."))));
        }
        let mut existing = self.of_vpc(call, vpc).await?;
        existing.retain(|it| !["disassociated", "failed"].contains(&it.state.as_str()));
        if existing.iter().any(|it| it.range.contains(&wanted) || wanted.contains(&it.range)) {
            let message = format!("The CIDR '{text}' conflicts with another CIDR block of the VPC.");
            return Ok(Some(call.rejected("CidrConflict", &message)));
        }
        // The primary range comes first.
        if existing.iter().enumerate().any(|(number, it)| is_restricted(&wanted, &it.range, number == 0)) {
            let message = format!(
                "The CIDR '{text}' is restricted. Use a CIDR from the same private address range as the current VPC \
                 CIDR, or use a publicly-routable CIDR. For additional restrictions, see \
                 https://docs.aws.amazon.com/vpc/latest/userguide/vpc-cidr-blocks.html"
            );
            return Ok(Some(call.rejected("InvalidVpc.Range", &message)));
        }
        let tables = call.describe("DescribeRouteTables", &[("vpc-id", vpc)]).await?;
        let mut routes = tables.items("routeTableSet").iter().flat_map(|table| table.items("routeSet"));
        let is_covered = |route: &&Element| {
            let destination = route.text_of("destinationCidrBlock").parse::<Ipv4Net>();
            route.text_of("gatewayId") != "local" && destination.is_ok_and(|it| wanted.contains(&it))
        };
        let covered = routes.find(is_covered).map(|route| route.text_of("destinationCidrBlock").to_owned());
        // The code is unknown.
        let message = format!("The CIDR '{text}' conflicts with the route to {}.", covered.as_deref().unwrap_or(""));
        call.reject_if(covered.is_some(), "InvalidParameterValue", &message)
    }

    /// AWS does not disassociate a range with a subnet in it, and does not find a range that it has disassociated.
    async fn disassociate(&self, call: &Request<'_>) -> Instead {
        let id = call.param("AssociationId");
        let vpcs = call.describe("DescribeVpcs", &[]).await?;
        let of_ipv6 = |vpc: &Element| {
            vpc.items("ipv6CidrBlockAssociationSet").iter().any(|block| block.text_of("associationId") == id)
        };
        if vpcs.items("vpcSet").iter().any(of_ipv6) {
            return Ok(None);
        }
        let found = vpcs.items("vpcSet").iter().find_map(|vpc| {
            let mut blocks = vpc.items(SET).iter().filter_map(|block| self.association(block));
            Some((vpc, blocks.find(|it| it.id == id && !it.state.starts_with("disassociat"))?))
        });
        let Some((vpc, association)) = found else {
            let message = format!("The vpc CIDR block association ID '{id}' does not exist");
            return Ok(Some(call.rejected("InvalidVpcCidrBlockAssociationID.NotFound", &message)));
        };
        if vpc.text_of("cidrBlock") == association.range.to_string() {
            // moto rejects the removal of the primary range.
            return Ok(None);
        }
        let vpc = vpc.text_of("vpcId");
        let subnets = call.describe("DescribeSubnets", &[("vpc-id", vpc)]).await?;
        let in_use = subnets.items("subnetSet").iter().any(|subnet| {
            subnet.text_of("cidrBlock").parse::<Ipv4Net>().is_ok_and(|block| association.range.contains(&block))
        });
        let message = format!("The vpc {vpc} currently has a subnet within CIDR block {}", association.range);
        call.reject_if(in_use, "InvalidCidrBlock.InUse", &message)
    }

    /// AWS creates subnets only in associated ranges. For moto, ranges that are not associated any more count too.
    async fn subnet(&self, call: &Request<'_>) -> Instead {
        let Ok(wanted) = call.param("CidrBlock").parse::<Ipv4Net>() else { return Ok(None) };
        if !self.is_used() {
            return Ok(None);
        }
        let ranges = self.of_vpc(call, call.param("VpcId")).await?;
        let is_inside = ranges.iter().any(|it| it.state == "associated" && it.range.contains(&wanted));
        call.reject_if(!is_inside, "InvalidSubnet.Range", &format!("The CIDR '{wanted}' is invalid."))
    }

    /// On AWS, each route table has a `local` route for each range of the VPC. In moto it has only that of the primary
    /// range.
    async fn local_routes(&self, call: &Request<'_>, answer: &mut Answer) -> Done {
        let root = answer.root()?;
        let mut ranges: HashMap<String, Vec<Association>> = HashMap::new();
        for table in root.items("routeTableSet") {
            let vpc = table.text_of("vpcId").to_owned();
            if let Entry::Vacant(vacant) = ranges.entry(vpc) {
                let of_vpc = self.of_vpc(call, vacant.key()).await?;
                vacant.insert(of_vpc);
            }
        }
        for table in root.items_mut("routeTableSet") {
            let Some(ranges) = ranges.get(table.text_of("vpcId")) else { continue };
            let Some(routes) = table.child_mut("routeSet") else { continue };
            for range in ranges.iter().filter(|it| it.state == "associated").map(|it| it.range.to_string()) {
                if routes.children.iter().any(|route| route.text_of("destinationCidrBlock") == range) {
                    continue;
                }
                let mut route = Element::leaf("item", "");
                for (name, text) in [
                    ("destinationCidrBlock", range.as_str()),
                    ("gatewayId", "local"),
                    ("state", "active"),
                    ("origin", "CreateRouteTable"),
                ] {
                    route.set(name, text);
                }
                routes.children.push(route);
            }
        }
        Ok(())
    }
}

/// The private ranges in the table of restrictions of AWS's user guide.
const PRIVATE: [&str; 4] = ["10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "198.19.0.0/16"];

/// Whether the table excludes a range from a VPC with another one. A public primary range excludes all private ones.
fn is_restricted(wanted: &Ipv4Net, existing: &Ipv4Net, is_primary: bool) -> bool {
    let within = |range: &Ipv4Net, whole: &str| whole.parse::<Ipv4Net>().is_ok_and(|whole| whole.contains(range));
    let group = |range: &Ipv4Net| PRIVATE.into_iter().find(|whole| within(range, whole));
    within(wanted, "169.254.0.0/16")
        || group(wanted).is_some_and(|wanted| group(existing).map_or(is_primary, |existing| existing != wanted))
        || (within(existing, "10.0.0.0/15") && within(wanted, "10.0.0.0/16"))
        || (within(existing, "172.16.0.0/12") && within(wanted, "172.31.0.0/16"))
}
