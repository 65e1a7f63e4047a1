//! Roots that are read without state. All objects of the account can be adopted.

use async_trait::async_trait;

use crate::cloud::{Discovery, Failure, Members, Observed, Seen};
use crate::model::{ApiLandscape, FoundStage, FoundTags, Landscape, NetworkLandscape, RESOURCE, Spec, TopologyKind};

pub(super) struct Discovered {
    pub(super) landscape: Landscape,
    pub(super) seen: Seen,
}

/// A root without objects other than stages. `is_own` is whether it has the ownership tag.
pub(super) fn landscape(owner: TopologyKind, root_id: &str, is_own: bool, objects: &[Observed]) -> Landscape {
    let tags: FoundTags =
        is_own.then(|| (RESOURCE.to_string(), format!("{}/main", owner.name()))).into_iter().collect();
    match owner {
        TopologyKind::FourTierVpc => {
            Landscape::Network(NetworkLandscape { vpc_id: root_id.into(), vpc_tags: tags, ..Default::default() })
        }
        TopologyKind::HttpGateway => {
            let names = objects.iter().filter(|it| matches!(it.spec, Spec::Stage(_))).map(|it| it.id.clone());
            let stages = names.map(|name| FoundStage { name, auto_deploy: true, ..FoundStage::default() }).collect();
            let protocol = "HTTP".to_string();
            Landscape::Api(ApiLandscape { api_id: root_id.into(), tags, protocol, stages, ..Default::default() })
        }
    }
}

#[async_trait]
impl Discovery for Discovered {
    fn landscape(&self) -> &Landscape {
        &self.landscape
    }

    async fn read(self: Box<Self>, _: Members<'_>) -> Result<Seen, Failure> {
        Ok(self.seen)
    }
}
