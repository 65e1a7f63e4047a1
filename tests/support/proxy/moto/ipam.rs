//! IPAM pools, which moto does not support. Every pool of a test allocates the next free range from 10.64.0.0 on to
//! each VPC, and releases a range that the VPC no longer has after a while. IPv6 ranges of a pool are Amazon-provided
//! ranges of moto.

use std::net::Ipv4Addr;
use std::sync::Mutex;

use ipnet::IpNet;

use super::{Answer, Done, Instead, Params, Repair, Reply, Request, async_trait, lock};
use crate::support::proxy::lasts::{Begun, Lasts};
/// The prefix length of a range if the call requests none.
const DEFAULT_LENGTH: u8 = 16;

/// AWS's value for the pool of an IPv6 range that IPAM allocated.
const MANAGED: &str = "IPAM Managed";

/// A pool of ranges that a customer has brought to AWS without IPAM.
const BROUGHT: &str = "ipv6pool-ec2-0123456789abcdef0";

/// The allocations of the pools.
#[derive(Debug, Default)]
pub(crate) struct Ipam(Mutex<Pools>);

#[derive(Debug, Default)]
struct Pools {
    /// How long a range stays allocated that its VPC no longer has; on AWS, up to half an hour.
    releasing: Lasts,
    given: Vec<Allocation>,
    /// Whether the IPv6 ranges that moto provides are shown as those that a customer has brought to AWS.
    are_brought: bool,
}

#[derive(Debug)]
struct Allocation {
    pool: String,
    range: IpNet,
    /// `None` until the VPC is created.
    vpc: Option<String>,
    /// The association ID of an IPv6 range.
    association: Option<String>,
    released: Option<Begun>,
}

impl Pools {
    fn expire(&mut self) {
        self.given.retain(|it| it.released.as_ref().is_none_or(|released| released.goes_on(self.releasing)));
    }
}

#[async_trait]
impl Repair for Ipam {
    async fn instead(&self, call: &Request<'_>) -> Instead {
        Ok((call.name == "GetIpamPoolAllocations").then(|| self.allocations(call)))
    }

    fn change(&self, call: &Request<'_>, params: &mut Params) -> Done {
        match call.name {
            "CreateVpc" => self.create(call, params),
            "AssociateVpcCidrBlock" => self.associate(call, params),
            _ => Ok(()),
        }
    }

    async fn after(&self, call: &Request<'_>, answer: &mut Answer) -> Done {
        match call.name {
            "CreateVpc" => self.created(call, answer)?,
            "AssociateVpcCidrBlock" => self.associated(call, answer)?,
            "DeleteVpc" => self.release(|it| it.vpc.as_deref() == Some(call.param("VpcId"))),
            "DisassociateVpcCidrBlock" => {
                self.release(|it| it.association.as_deref() == Some(call.param("AssociationId")));
            }
            "DescribeVpcs" => self.described(answer)?,
            _ => {}
        }
        Ok(())
    }
}

impl Ipam {
    pub(in crate::support::proxy) fn set_releasing(&self, releasing: Lasts) {
        lock(&self.0).releasing = releasing;
    }

    pub(in crate::support::proxy) fn bring(&self) {
        lock(&self.0).are_brought = true;
    }

    /// Rewrites the creation of a VPC from a pool into one with a range that the pool allocates.
    fn create(&self, call: &Request<'_>, params: &mut Params) -> Done {
        let pool = call.param("Ipv4IpamPoolId");
        if pool.is_empty() {
            return Ok(());
        }
        let mut pools = lock(&self.0);
        pools.expire();
        let range: IpNet = match call.param("CidrBlock") {
            "" => {
                let length = call.param("Ipv4NetmaskLength").parse().unwrap_or(DEFAULT_LENGTH);
                let is_free = |range: &IpNet| pools.given.iter().all(|it| !overlap(&it.range, range));
                let step = 1_u32 << (32 - length);
                let first = u32::from(Ipv4Addr::new(10, 64, 0, 0));
                let ranges = (0..64).map(|number| IpNet::new(Ipv4Addr::from(first + number * step).into(), length));
                ranges.filter_map(Result::ok).find(is_free).ok_or("the pool is empty")?
            }
            requested => requested.parse().map_err(|error| format!("{requested}: {error}"))?,
        };
        let pool = pool.to_owned();
        pools.given.push(Allocation { pool, range, vpc: None, association: None, released: None });
        params.retain(|name, _| name != "Ipv4IpamPoolId" && name != "Ipv4NetmaskLength");
        params.insert("CidrBlock".into(), range.to_string());
        Ok(())
    }

    /// Records the VPC that received the range.
    fn created(&self, call: &Request<'_>, answer: &mut Answer) -> Done {
        if call.param("Ipv4IpamPoolId").is_empty() {
            return Ok(());
        }
        let root = answer.root()?;
        let vpc = root.child("vpc").ok_or("CreateVpc returns no VPC")?;
        let range = vpc.text_of("cidrBlock");
        let mut pools = lock(&self.0);
        let given = pools.given.iter_mut().find(|it| it.range.to_string() == range && it.vpc.is_none());
        given.ok_or("the range is not from a pool")?.vpc = Some(vpc.text_of("vpcId").to_owned());
        Ok(())
    }

    fn release(&self, is_released: impl Fn(&Allocation) -> bool) {
        for it in lock(&self.0).given.iter_mut().filter(|it| is_released(it)) {
            it.released.get_or_insert_with(Begun::now);
        }
    }

    /// Rewrites the association of an IPv6 range of a pool into one of an Amazon-provided range.
    fn associate(&self, call: &Request<'_>, params: &mut Params) -> Done {
        if call.param("Ipv6IpamPoolId").is_empty() {
            return Ok(());
        }
        if !call.param("Ipv6CidrBlock").is_empty() {
            return Err("moto cannot allocate a requested IPv6 range; use recorded HTTP".into());
        }
        params.retain(|name, _| !name.starts_with("Ipv6"));
        params.insert("AmazonProvidedIpv6CidrBlock".into(), "true".into());
        Ok(())
    }

    fn associated(&self, call: &Request<'_>, answer: &mut Answer) -> Done {
        if call.param("Ipv6IpamPoolId").is_empty() {
            return Ok(());
        }
        let root = answer.root()?;
        let block = root.child_mut("ipv6CidrBlockAssociation").ok_or("AssociateVpcCidrBlock returns no IPv6 range")?;
        let range = block.text_of("ipv6CidrBlock");
        lock(&self.0).given.push(Allocation {
            pool: call.param("Ipv6IpamPoolId").to_owned(),
            range: range.parse().map_err(|error| format!("{range}: {error}"))?,
            vpc: Some(call.param("VpcId").to_owned()),
            association: Some(block.text_of("associationId").to_owned()),
            released: None,
        });
        block.set("ipv6Pool", MANAGED);
        Ok(())
    }

    /// AWS returns that a range is from a pool, but not from which one of IPAM.
    fn described(&self, answer: &mut Answer) -> Done {
        let pools = lock(&self.0);
        if pools.given.is_empty() && !pools.are_brought {
            return Ok(());
        }
        let is_of_pool = |id: &str| pools.given.iter().any(|it| it.association.as_deref() == Some(id));
        let root = answer.root()?;
        for block in root.items_mut("vpcSet").iter_mut().flat_map(|vpc| vpc.items_mut("ipv6CidrBlockAssociationSet")) {
            if is_of_pool(block.text_of("associationId")) {
                block.set("ipv6Pool", MANAGED);
            } else if pools.are_brought {
                block.set("ipv6Pool", BROUGHT);
                block.set("ipSource", "byoip");
            }
        }
        Ok(())
    }

    /// AWS documents no filter of this call. Each page has one allocation, the first one that of another VPC.
    fn allocations(&self, call: &Request<'_>) -> Reply {
        if let Some((name, _)) = call.filters().first() {
            let text = format!("The filter '{name}' is invalid");
            return call.rejected("InvalidParameterValue", &text);
        }
        let mut pools = lock(&self.0);
        pools.expire();
        let mut items = vec![allocation("10.255.0.0/16", "vpc-00000000000000000")];
        let of_pool: Vec<&mut Allocation> =
            pools.given.iter_mut().filter(|it| it.pool == call.param("IpamPoolId")).collect();
        let page: usize = call.param("NextToken").parse().unwrap_or(0);
        for (number, it) in of_pool.into_iter().enumerate() {
            // A released range counts its answer when its page is returned.
            if let Some(released) = it.released.as_mut().filter(|_| page == number + 1) {
                released.shown();
            }
            items.push(allocation(&it.range.to_string(), it.vpc.as_deref().unwrap_or_default()));
        }
        let next = if page + 1 < items.len() { format!("<nextToken>{}</nextToken>", page + 1) } else { String::new() };
        let shown = items.get(page).map_or("", String::as_str);
        call.answer(&format!("<ipamPoolAllocationSet>{shown}</ipamPoolAllocationSet>{next}"))
    }
}

fn allocation(range: &str, vpc: &str) -> String {
    format!(
        "<item><cidr>{range}</cidr><ipamPoolAllocationId>ipam-pool-alloc-1</ipamPoolAllocationId>\
         <resourceId>{vpc}</resourceId><resourceType>vpc</resourceType></item>"
    )
}

fn overlap(a: &IpNet, b: &IpNet) -> bool {
    a.contains(b) || b.contains(a)
}
