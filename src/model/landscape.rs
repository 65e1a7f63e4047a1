//! A root and the objects in it as AWS returned them, before a topology decides which of them belong to it.

mod api;
mod network;

use std::collections::BTreeMap;

pub use api::{ApiLandscape, FoundAuthorizer, FoundIntegration, FoundRoute, FoundStage};
pub use network::{
    FoundEndpoint, FoundNatGateway, FoundNetworkAcl, FoundObject, FoundRouteTable, FoundSecurityGroup, FoundSubnet,
    NetworkLandscape,
};

use super::TopologyKind;

/// The tags of an object, with the ownership tags.
pub type FoundTags = BTreeMap<String, String>;

/// The tag with which CloudFormation marks the objects of a stack: the name of the stack.
pub const STACK: &str = "aws:cloudformation:stack-name";

/// The tag with the topology of an object: `<topology kind>/<name>` on a root, `<topology kind>/<root ID>` on every
/// other object.
pub const RESOURCE: &str = "fgw:resource";

/// A root and the objects in it, as far as a topology can contain them.
#[derive(Clone, Debug, PartialEq)]
#[expect(clippy::large_enum_variant, reason = "a read has only one")]
pub enum Landscape {
    /// A VPC.
    Network(NetworkLandscape),
    /// An API.
    Api(ApiLandscape),
}

impl Landscape {
    /// Whether the root has the ownership tag of this provider.
    pub fn is_own(&self) -> bool {
        let (tags, kind) = match self {
            Landscape::Network(network) => (&network.vpc_tags, TopologyKind::FourTierVpc),
            Landscape::Api(api) => (&api.tags, TopologyKind::HttpGateway),
        };
        let name = tags.get(RESOURCE).and_then(|owner| owner.strip_prefix(kind.name())?.strip_prefix('/'));
        name.is_some_and(|name| !name.is_empty())
    }
}

/// Which objects of a landscape a topology can adopt.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Classification {
    /// The slots of the objects that can be adopted, by ID. An API has other objects too, which follow from them.
    pub slots: BTreeMap<String, String>,
    /// Why each other object cannot be adopted, by ID: a clause such as "it is the main route table of the VPC". If the
    /// root is among them, nothing can be.
    pub unmanaged: BTreeMap<String, String>,
}
