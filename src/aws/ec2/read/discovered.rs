//! Reads a network that is not in state. All calls belong to the first step.

use std::collections::{BTreeMap, HashMap};

use async_trait::async_trait;

use super::{Lists, Network};
use crate::aws::Session;
use crate::cloud::{Discovery, Failure, Members, Seen};
use crate::model::{Landscape, TopologyKind};

/// A network with everything that AWS lists.
struct Discovered<'a> {
    session: &'a Session,
    owner: TopologyKind,
    root_id: &'a str,
    consented: Option<&'a BTreeMap<String, String>>,
    lists: Lists,
    landscape: Landscape,
}

/// The first step. `None` if the VPC does not exist.
pub(crate) async fn discover<'a>(
    session: &'a Session,
    owner: TopologyKind,
    root_id: &'a str,
    consented: Option<&'a BTreeMap<String, String>>,
) -> Result<Option<Box<dyn Discovery + 'a>>, Failure> {
    let network = Network { session, owner, root_id, known: &HashMap::new(), slots: None, consented };
    let lists = Lists::of(network).await?;
    if lists.vpc.is_none() {
        return Ok(None);
    }
    let landscape = Landscape::Network(lists.landscape(network));
    Ok(Some(Box::new(Discovered { session, owner, root_id, consented, lists, landscape })))
}

#[async_trait]
impl Discovery for Discovered<'_> {
    fn landscape(&self) -> &Landscape {
        &self.landscape
    }

    async fn read(self: Box<Self>, members: Members<'_>) -> Result<Seen, Failure> {
        let Discovered { session, owner, root_id, consented, lists, .. } = *self;
        let (known, slots) = (HashMap::new(), None);
        let network = Network { session, owner, root_id, known: &known, slots, consented };
        Ok(match members {
            Members::Tagged => lists.seen(network, None),
            Members::Classified(classification) => lists.seen(network, Some(classification)),
        })
    }
}
