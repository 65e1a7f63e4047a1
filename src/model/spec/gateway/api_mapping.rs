//! The mappings of custom domains to stages.

use serde::{Deserialize, Serialize};

use crate::model::OnDelete::Restrict;
use crate::model::spec::kind::{Counterpart, Identity, Kind, WhenInUse};
use crate::model::{Claim, Key, Learned, LeftBehind, Need, Ref};

/// The mapping of the root path of a custom domain to a stage. Key `api_mapping`, fixed by the domain's name.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ApiMapping {
    /// Its API.
    pub api: Key,
    /// Its stage; an unmanaged stage is referred to as `<API ID>/<stage>`.
    pub stage: Ref,
    /// The domain that it is part of.
    pub domain: Key,
    /// The path below the domain; empty for the root.
    pub mapping_key: String,
}

impl Kind for ApiMapping {
    fn kind(&self) -> &'static str {
        "API mapping"
    }

    fn identity(&self) -> Identity {
        Identity::Key("a gateway has one")
    }

    fn counterpart(&self) -> Counterpart {
        Counterpart {
            description: "Maps requests to the custom domain to the stage.",
            resource: "aws_apigatewayv2_api_mapping",
            import_id: "MAPPING_ID/DOMAIN",
            attributes: &[
                ("api", &["api_id"]),
                ("stage", &["stage"]),
                ("domain", &["domain_name"]),
                ("mapping_key", &["api_mapping_key"]),
            ],
        }
    }

    fn when_in_use(&self) -> WhenInUse {
        WhenInUse::Deleted
    }

    /// A mapping consists of its path and its target.
    fn left_behind(&self, _learned: &Learned, _new: &dyn Kind) -> Vec<LeftBehind> {
        Vec::new()
    }

    fn needs(&self) -> Vec<Need> {
        let mut needs = vec![Need::of_id(&self.api, Restrict), Need::new(&self.domain, Restrict)];
        needs.extend(Need::of(&self.stage, Restrict));
        needs
    }

    fn claims(&self) -> Vec<Claim> {
        vec![Claim::MappingOf { domain: self.domain.clone() }]
    }

    fn references_mut(&mut self) -> Vec<&mut Ref> {
        vec![&mut self.stage]
    }

    fn leads_to(&self) -> Vec<&Ref> {
        vec![&self.stage]
    }
}
