//! IPAM pools, which moto does not know. Every pool of a test gives ranges from 10.64.0.0 on, the next free one to each
//! VPC, and takes that of a deleted VPC back after a while. IPv6 ranges of a pool are those that moto gives for
//! Amazon's.

use std::collections::{BTreeMap, BTreeSet};
use std::net::Ipv4Addr;
use std::sync::Mutex;

use crate::support::proxy::call::Call;
use crate::support::proxy::lasts::{Begun, Lasts};
use crate::support::proxy::lock;
use crate::support::proxy::message::{Message, Reply};
use crate::support::proxy::xml::Element;

/// The length of a range that a pool gives where the call asks for none.
const DEFAULT_LENGTH: u8 = 16;

/// What AWS shows as the pool of an IPv6 range that IPAM gave.
const MANAGED: &str = "IPAM Managed";

/// What the pools have given.
#[derive(Debug, Default)]
pub(in crate::support::proxy) struct Ipam(Mutex<Pools>);

#[derive(Debug, Default)]
struct Pools {
    /// How long the range of a deleted VPC stays with it; on AWS up to half an hour.
    releasing: Lasts,
    given: Vec<Allocation>,
    /// The associations of IPv6 ranges that came from a pool.
    ipv6: BTreeSet<String>,
}

#[derive(Debug)]
struct Allocation {
    pool: String,
    range: ipnet::Ipv4Net,
    /// None until the answer to its creation has named the VPC.
    vpc: Option<String>,
    released: Option<Begun>,
}

impl Pools {
    fn settle(&mut self) {
        self.given.retain(|it| it.released.as_ref().is_none_or(|released| released.goes_on(self.releasing)));
    }
}

impl Ipam {
    pub(in crate::support::proxy) fn set_releasing(&self, releasing: Lasts) {
        lock(&self.0).releasing = releasing;
    }

    /// A VPC from a pool, as one with the range that the pool gives.
    pub(super) fn create(&self, call: &Call, message: Message) -> Result<Message, String> {
        let pool = call.param("Ipv4IpamPoolId");
        if pool.is_empty() {
            return Ok(message);
        }
        let mut pools = lock(&self.0);
        pools.settle();
        let range: ipnet::Ipv4Net = match call.param("CidrBlock") {
            "" => {
                let length = call.param("Ipv4NetmaskLength").parse().unwrap_or(DEFAULT_LENGTH);
                let is_free = |range: &ipnet::Ipv4Net| pools.given.iter().all(|it| !overlap(&it.range, range));
                let step = 1_u32 << (32 - length);
                let first = u32::from(Ipv4Addr::new(10, 64, 0, 0));
                let ranges = (0..64).map(|number| ipnet::Ipv4Net::new((first + number * step).into(), length));
                ranges.filter_map(Result::ok).find(is_free).ok_or("the pool is empty")?
            }
            asked => asked.parse().map_err(|error| format!("{asked}: {error}"))?,
        };
        pools.given.push(Allocation { pool: pool.to_owned(), range, vpc: None, released: None });
        let mut params: BTreeMap<String, String> = call.params.clone();
        params.retain(|name, _| name != "Ipv4IpamPoolId" && name != "Ipv4NetmaskLength");
        params.insert("CidrBlock".into(), range.to_string());
        Ok(super::with_params(message, &params))
    }

    /// Learns which VPC got the range.
    pub(super) fn created(&self, call: &Call, reply: &Reply) -> Result<(), String> {
        if call.param("Ipv4IpamPoolId").is_empty() {
            return Ok(());
        }
        let root = Element::parse(&reply.text())?;
        let vpc = root.child("vpc").ok_or("CreateVpc answers no VPC")?;
        let range = vpc.text_of("cidrBlock");
        let mut pools = lock(&self.0);
        let given = pools.given.iter_mut().find(|it| it.range.to_string() == range && it.vpc.is_none());
        given.ok_or("the range is not the pool's")?.vpc = Some(vpc.text_of("vpcId").to_owned());
        Ok(())
    }

    pub(super) fn deleted(&self, call: &Call) {
        let mut pools = lock(&self.0);
        for it in pools.given.iter_mut().filter(|it| it.vpc.as_deref() == Some(call.param("VpcId"))) {
            it.released = Some(Begun::now());
        }
    }

    /// An IPv6 range of a pool, as one of Amazon's.
    pub(super) fn associate(&self, call: &Call, message: Message) -> Result<Message, String> {
        if call.param("Ipv6IpamPoolId").is_empty() {
            return Ok(message);
        }
        if !call.param("Ipv6CidrBlock").is_empty() {
            return Err("moto gives no IPv6 range that is asked for; use recorded HTTP".into());
        }
        let mut params = call.params.clone();
        params.retain(|name, _| !name.starts_with("Ipv6"));
        params.insert("AmazonProvidedIpv6CidrBlock".into(), "true".into());
        Ok(super::with_params(message, &params))
    }

    pub(super) fn associated(&self, call: &Call, reply: Reply) -> Result<Reply, String> {
        if call.param("Ipv6IpamPoolId").is_empty() {
            return Ok(reply);
        }
        let mut root = Element::parse(&reply.text())?;
        let made = root.child_mut("ipv6CidrBlockAssociation").ok_or("AssociateVpcCidrBlock answers no IPv6 range")?;
        lock(&self.0).ipv6.insert(made.text_of("associationId").to_owned());
        made.set("ipv6Pool", MANAGED);
        Ok(reply.with_body(root.to_string()))
    }

    /// AWS says that a range came from a pool, and not from which.
    pub(super) fn described(&self, reply: Reply) -> Result<Reply, String> {
        let pools = lock(&self.0);
        if pools.ipv6.is_empty() {
            return Ok(reply);
        }
        let mut root = Element::parse(&reply.text())?;
        for block in root.items_mut("vpcSet").iter_mut().flat_map(|vpc| vpc.items_mut("ipv6CidrBlockAssociationSet")) {
            if pools.ipv6.contains(block.text_of("associationId")) {
                block.set("ipv6Pool", MANAGED);
            }
        }
        Ok(reply.with_body(root.to_string()))
    }

    pub(super) fn allocations(&self, call: &Call) -> Reply {
        let mut pools = lock(&self.0);
        pools.settle();
        let filters = call.filters();
        let wanted = |vpc: &str| {
            filters.iter().all(|(name, values)| match *name {
                "resource-type" => values.contains(&"vpc"),
                "resource-id" => values.contains(&vpc),
                _ => false,
            })
        };
        let mut items = String::new();
        for it in pools.given.iter_mut().filter(|it| it.pool == call.param("IpamPoolId")) {
            let vpc = it.vpc.as_deref().unwrap_or_default();
            if wanted(vpc) {
                if let Some(released) = &mut it.released {
                    released.shown();
                }
                items += &format!(
                    "<item><cidr>{}</cidr><ipamPoolAllocationId>ipam-pool-alloc-1</ipamPoolAllocationId>\
                     <resourceId>{vpc}</resourceId><resourceType>vpc</resourceType></item>",
                    it.range
                );
            }
        }
        Reply::xml(
            200,
            &format!(
                "<GetIpamPoolAllocationsResponse xmlns=\"http://ec2.amazonaws.com/doc/2016-11-15/\"><requestId>proxy\
                 </requestId><ipamPoolAllocationSet>{items}</ipamPoolAllocationSet></GetIpamPoolAllocationsResponse>"
            ),
        )
    }
}

fn overlap(a: &ipnet::Ipv4Net, b: &ipnet::Ipv4Net) -> bool {
    a.contains(b) || b.contains(a)
}
