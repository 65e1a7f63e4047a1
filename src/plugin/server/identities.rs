//! Calls about the identity of resources, and moves of states to another resource.

use std::collections::HashMap;
use std::panic::{AssertUnwindSafe, catch_unwind};

use super::{Served, Server, decoding_error, one_error, panicked};
use crate::plugin::proto::tfplugin6 as pb;
use crate::plugin::{Diagnostics, ImportTarget, MoveSource, Provider, Value, identity, panics};

impl Served {
    /// What an import is given. Terraform sends either an ID or an identity.
    pub(super) fn import_target(
        &self,
        id: String,
        identity: Option<pb::ResourceIdentityData>,
    ) -> Result<ImportTarget, Diagnostics> {
        let schema = self.identity.as_ref().filter(|_| id.is_empty());
        let decoded = schema.map_or(Ok(None), |schema| schema.decode(identity));
        let decoded = decoded.map_err(|problem| decoding_error("Could not decode the identity", problem))?;
        Ok(decoded.map_or(ImportTarget::Id(id), ImportTarget::Identity))
    }

    /// The identity of the object in a state; `None` without an object or without an identity schema.
    pub(super) fn identity_of(&self, state: &Value, diagnostics: &mut Diagnostics) -> Option<pb::ResourceIdentityData> {
        let identity = self.identity.as_ref()?;
        identity.encode(&self.resource.identity(state)?, diagnostics)
    }
}

impl Served {
    /// The same after an apply. A failure is only a warning, because the response must contain the state in any case,
    /// and an error would taint a new object.
    pub(super) fn identity_after_apply(
        &self,
        state: &Value,
        diagnostics: &mut Diagnostics,
    ) -> Option<pb::ResourceIdentityData> {
        let mut failures = Diagnostics::default();
        let identity = catch_unwind(AssertUnwindSafe(|| self.identity_of(state, &mut failures)));
        let mut reasons: Vec<String> = failures.0.into_iter().map(|failure| failure.detail).collect();
        if let Err(payload) = &identity {
            reasons.push(panics::message(&**payload).to_string());
        }
        if !reasons.is_empty() {
            let detail = format!("{}\n\nThis is a bug in the provider.", reasons.join("\n"));
            diagnostics.warning(format!("No identity for {}", self.resource.type_name()), detail);
        }
        identity.ok().flatten()
    }
}

impl<P: Provider> Server<P> {
    pub(super) fn identity_schemas(&self) -> HashMap<String, pb::ResourceIdentitySchema> {
        let resources = self.resources.iter();
        resources.filter_map(|(name, served)| Some((name.clone(), served.identity.as_ref()?.schema()))).collect()
    }

    pub(super) fn upgrade_identity(
        &self,
        request: pb::upgrade_resource_identity::Request,
    ) -> Result<pb::ResourceIdentityData, Diagnostics> {
        let served = self.resource(&request.type_name)?;
        let summary = format!("Could not read the stored identity of {}", request.type_name);
        let identity = served.identity.as_ref();
        let identity = identity.ok_or_else(|| one_error(&summary, "The resource has no identity."))?;
        if request.version != identity::VERSION {
            let detail = format!(
                "It has version {}, but this version of the provider supports only version {}. Use the version of the \
                 provider that wrote the state, or a later one.",
                request.version,
                identity::VERSION
            );
            return Err(one_error(&summary, detail));
        }
        let json = request.raw_identity.map(|state| state.json).unwrap_or_default();
        let stored = identity.decode_stored(&json).map_err(|problem| decoding_error(&summary, problem))?;
        let mut diagnostics = Diagnostics::default();
        identity.encode(&stored, &mut diagnostics).ok_or(diagnostics)
    }

    /// Accepts the state of another resource, if the resource supports it. It is upgraded as a stored state is.
    pub(super) async fn move_state(
        &self,
        request: pb::move_resource_state::Request,
    ) -> Result<pb::move_resource_state::Response, Diagnostics> {
        let served = self.resource(&request.target_type_name)?;
        let source = MoveSource {
            provider_address: request.source_provider_address,
            type_name: request.source_type_name,
            schema_version: request.source_schema_version,
        };
        let resource = served.resource.clone();
        let refused = self.run(async move { resource.check_move(&source) }).await.map_err(panicked)?;
        refused.map_err(|detail| {
            one_error(&format!("Could not move a state to {}: unsupported source", request.target_type_name), detail)
        })?;
        let upgrade = pb::upgrade_resource_state::Request {
            type_name: request.target_type_name.clone(),
            version: request.source_schema_version,
            raw_state: request.source_state,
        };
        let state = self.upgraded(upgrade).await?;
        let served = self.resource(&request.target_type_name)?;
        let mut diagnostics = Diagnostics::default();
        let target_identity = served.identity_of(&state, &mut diagnostics);
        let target_state = Some(served.block.encode(state, &mut diagnostics));
        match diagnostics.has_errors() {
            true => Err(diagnostics),
            false => Ok(pb::move_resource_state::Response {
                target_state,
                diagnostics: Vec::new(),
                target_private: request.source_private,
                target_identity,
            }),
        }
    }
}
