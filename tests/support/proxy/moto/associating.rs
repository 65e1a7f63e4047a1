//! IPv6 ranges while they are being associated. On AWS this takes seconds, and the range of a VPC is an empty text
//! until it is associated, because Amazon or the pool has not chosen it yet. In moto it takes no time.

use std::collections::HashMap;
use std::sync::Mutex;

use super::{Answer, Done, Element, Repair, Request, async_trait, lock};
use crate::support::proxy::lasts::{Begun, Lasts};
/// The list of associations in a VPC or a subnet.
const SET: &str = "ipv6CidrBlockAssociationSet";

/// The associations that were created through this proxy.
#[derive(Debug)]
pub(crate) struct Associating(Mutex<State>);

#[derive(Debug)]
struct State {
    lasts: Lasts,
    /// By association ID.
    begun: HashMap<String, Begun>,
}

impl Default for Associating {
    fn default() -> Self {
        Self(Mutex::new(State { lasts: Lasts::Answers(1), begun: HashMap::new() }))
    }
}

#[async_trait]
impl Repair for Associating {
    async fn after(&self, call: &Request<'_>, answer: &mut Answer) -> Done {
        match call.name {
            "CreateSubnet" | "AssociateSubnetCidrBlock" | "CreateVpc" | "AssociateVpcCidrBlock" => {
                self.created(call, answer)
            }
            "DescribeSubnets" | "DescribeVpcs" => self.described(call, answer),
            _ => Ok(()),
        }
    }
}

impl Associating {
    /// How long the ranges that are created from now on are associating.
    pub(in crate::support::proxy) fn set(&self, lasts: Lasts) {
        lock(&self.0).lasts = lasts;
    }

    /// The answer to a create: its ranges are associating.
    fn created(&self, call: &Request<'_>, answer: &mut Answer) -> Done {
        let root = answer.root()?;
        let mut state = lock(&self.0);
        if state.lasts == Lasts::NOT_AT_ALL {
            return Ok(());
        }
        let of_vpc = is_of_vpc(&call.action);
        let single = root.children.iter_mut().filter(|child| child.name == "ipv6CidrBlockAssociation");
        for block in single {
            state.begun.insert(block.text_of("associationId").to_owned(), Begun::now());
            associate(block, call, of_vpc);
        }
        for object in root.children.iter_mut().filter(|child| child.name == "vpc" || child.name == "subnet") {
            for block in object.items_mut(SET) {
                state.begun.insert(block.text_of("associationId").to_owned(), Begun::now());
                associate(block, call, of_vpc);
            }
        }
        Ok(())
    }

    /// The answer to a describe call. Each counts for the ranges that it shows as associating.
    fn described(&self, call: &Request<'_>, answer: &mut Answer) -> Done {
        let mut state = lock(&self.0);
        if state.begun.is_empty() {
            return Ok(());
        }
        let of_vpc = is_of_vpc(&call.action);
        let root = answer.root()?;
        for object in root.items_mut(if of_vpc { "vpcSet" } else { "subnetSet" }) {
            for block in object.items_mut(SET) {
                let (lasts, id) = (state.lasts, block.text_of("associationId").to_owned());
                match state.begun.get_mut(&id) {
                    Some(begun) if begun.goes_on(lasts) => {
                        begun.shown();
                        associate(block, call, of_vpc);
                    }
                    // AWS never reverts to this state.
                    _ => {
                        state.begun.remove(&id);
                    }
                }
            }
        }
        Ok(())
    }
}

fn is_of_vpc(action: &str) -> bool {
    ["CreateVpc", "AssociateVpcCidrBlock", "DescribeVpcs"].contains(&action)
}

/// Sets the state, and for a VPC the members that AWS returns before the range.
fn associate(block: &mut Element, call: &Request<'_>, of_vpc: bool) {
    if of_vpc {
        block.set("ipv6CidrBlock", "");
        if block.text_of("networkBorderGroup").is_empty() {
            block.set("networkBorderGroup", &call.region);
        }
    }
    match block.child_mut("ipv6CidrBlockState") {
        Some(state) => state.set("state", "associating"),
        None => {
            let mut state = Element::leaf("ipv6CidrBlockState", "");
            state.set("state", "associating");
            block.children.push(state);
        }
    }
}
