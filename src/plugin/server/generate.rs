//! The configurations that Terraform generates for imported resources.

use super::{Server, panicked};
use crate::plugin::proto::tfplugin6 as pb;
use crate::plugin::{Diagnostics, Provider, generate};

impl<P: Provider> Server<P> {
    pub(super) async fn generate(
        &self,
        request: pb::generate_resource_config::Request,
    ) -> Result<pb::generate_resource_config::Response, Diagnostics> {
        let served = self.resource(&request.type_name)?;
        let state = served.block.decode(request.state, "state")?;
        let (resource, block) = (served.resource.clone(), served.block.clone());
        let work = async move { generate::configuration(resource.as_ref(), &block.attributes, &state) };
        let config = self.run(work).await.map_err(panicked)?;
        let mut diagnostics = Diagnostics::default();
        let config = Some(served.block.encode(config, &mut diagnostics));
        Ok(pb::generate_resource_config::Response { config, diagnostics: Self::messages(diagnostics) })
    }
}
