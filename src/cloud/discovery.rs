//! The two steps in which a root is read that is not in state: what some calls ask for depends on a decision of the
//! topology.

use async_trait::async_trait;

use super::{Failure, Seen, Unmanaged};
use crate::model::{Classification, Landscape};

/// A root that was read without knowledge of its objects.
#[async_trait]
pub trait Discovery: Send + Sync {
    /// The objects by which a topology decides.
    fn landscape(&self) -> &Landscape;

    /// Reads the members of the topology. Repeats no call of the first step.
    async fn read(self: Box<Self>, members: Members<'_>) -> Result<Seen, Failure>;
}

/// Reads a root that something else built. Objects that the topology excludes are unmanaged, unless the read returns
/// them, such as an authorizer that an interrupted adoption did not use yet.
pub async fn adoptable(discovery: Box<dyn Discovery + '_>, classification: &Classification) -> Result<Seen, Failure> {
    let mut seen = discovery.read(Members::Classified(classification)).await?;
    let is_seen = |id: &str| seen.objects.iter().any(|it| it.id == id);
    let others = classification.unmanaged.iter().filter(|(id, _)| !is_seen(id));
    let unmanaged = |(id, reason): (&String, &String)| Unmanaged {
        id: id.clone(),
        slot: None,
        is_tagged: false,
        reason: reason.clone(),
    };
    let others: Vec<Unmanaged> = others.map(unmanaged).collect();
    seen.unmanaged.extend(others);
    seen.unmanaged.sort();
    Ok(seen)
}

/// How the objects of a discovered root are recognized.
#[derive(Clone, Copy, Debug)]
pub enum Members<'a> {
    /// By the ownership tags: this provider created them.
    Tagged,
    /// By a decision of the topology: something else built them. The objects that it excludes are not reported.
    Classified(&'a Classification),
}
