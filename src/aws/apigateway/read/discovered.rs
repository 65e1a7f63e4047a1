//! Reads an API that is not in state: first what AWS lists by its ID, then what the decision of the topology requires.

use std::collections::BTreeMap;

use async_trait::async_trait;

use super::listed::Listed;
use super::{View, domain};
use crate::aws::Session;
use crate::aws::calls::ownership;
use crate::aws::calls::ownership::Owner;
use crate::cloud::{Discovery, Failure, Members, Seen};
use crate::model::{Classification, Landscape, STACK, TopologyKind};

/// An API of which only the first step was read.
struct Discovered<'a> {
    session: &'a Session,
    root_id: &'a str,
    /// The value of the tag `fgw:resource` of the objects below the API.
    resource: String,
    listed: Listed,
    landscape: Landscape,
}

/// The first step. `None` if the API does not exist.
pub(crate) async fn discover<'a>(
    session: &'a Session,
    owner: TopologyKind,
    root_id: &'a str,
) -> Result<Option<Box<dyn Discovery + 'a>>, Failure> {
    let Some(listed) = Listed::of(session, root_id, &[]).await? else { return Ok(None) };
    let landscape = Landscape::Api(listed.landscape(root_id));
    let resource = ownership::resource(owner, root_id);
    Ok(Some(Box::new(Discovered { session, root_id, resource, listed, landscape })))
}

#[async_trait]
impl Discovery for Discovered<'_> {
    fn landscape(&self) -> &Landscape {
        &self.landscape
    }

    async fn read(self: Box<Self>, members: Members<'_>) -> Result<Seen, Failure> {
        let Discovered { session, root_id, resource, listed, .. } = *self;
        let classification = match members {
            Members::Tagged => None,
            Members::Classified(classification) => Some(classification),
        };
        let root_state = listed.root_state(session, root_id).await?;
        let owner = Owner { resource: &resource, or_none: classification.is_some() };
        let seen = View::of(session, root_id, listed, owner).first_read(session, classification).await?;
        Ok(Seen { root_state, ..seen })
    }
}

impl View<'_> {
    /// The names of the CloudFormation stacks that objects belong to, by their IDs: those of the API, its stage, its
    /// domain and its log group. AWS returns their tags with them. All other objects of an API have no tags.
    pub(super) fn stacks(&self, classification: &Classification) -> BTreeMap<String, String> {
        let stages = self
            .own_stages(Some(classification))
            .map(|stage| (stage.stage_name().unwrap_or_default(), stage.tags.as_ref()));
        let all = [(self.root_id, self.api.tags.as_ref())].into_iter().chain(stages);
        let all = all.filter_map(|(id, tags)| Some((id, tags?)));
        let all = all.chain(domain::tags(&self.domains)).chain(self.logs.tags());
        all.filter_map(|(id, tags)| Some((id.to_string(), tags.get(STACK)?.clone()))).collect()
    }
}

#[cfg(test)]
mod tests;
