//! Calls to data sources.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::{Block, Server, one_error, panicked};
use crate::plugin::proto::tfplugin6 as pb;
use crate::plugin::{DataRequest, DataSource, Diagnostics, Provider, checks, convert};

/// A data source and its block.
pub(super) struct PreparedDataSource {
    source: Arc<dyn DataSource>,
    block: Arc<Block>,
}

/// The data sources of a provider by type, and their schemas.
pub(super) type All = (BTreeMap<String, PreparedDataSource>, std::collections::HashMap<String, pb::Schema>);

/// Prepares the data sources of a provider. The error names the part of a schema that Terraform would reject.
pub(super) fn all<P: Provider>(provider: &P) -> Result<All, String> {
    let mut all = All::default();
    for source in provider.data_sources() {
        let name = source.type_name();
        let schema = source.schema();
        let converted = convert::resource_schema(&schema).map_err(|error| format!("data source {name}: {error}"))?;
        all.1.insert(name.to_string(), converted);
        all.0.insert(name.to_string(), PreparedDataSource { source, block: Arc::new(Block::new(schema)) });
    }
    Ok(all)
}

impl<P: Provider> Server<P> {
    fn data_source(&self, name: &str) -> Result<&PreparedDataSource, Diagnostics> {
        self.data_sources.get(name).ok_or_else(|| {
            one_error("Unknown data source", format!("This version of the provider has no data source {name:?}."))
        })
    }

    pub(super) async fn validate_data(
        &self,
        request: pb::validate_data_resource_config::Request,
    ) -> Result<Diagnostics, Diagnostics> {
        let prepared = self.data_source(&request.type_name)?;
        let config = prepared.block.decode(request.config, "configuration")?;
        let mut diagnostics = checks::check_config(&prepared.block.attributes, &config);
        let source = prepared.source.clone();
        let found = self.run(async move { source.validate(&config) }).await.unwrap_or_else(panicked);
        checks::add_findings(&mut diagnostics, found);
        Ok(diagnostics)
    }

    pub(super) async fn read_data(
        &self,
        request: pb::read_data_source::Request,
    ) -> Result<pb::read_data_source::Response, Diagnostics> {
        let prepared = self.data_source(&request.type_name)?;
        let config = prepared.block.decode(request.config, "configuration")?;
        if !config.is_wholly_known() {
            let detail = "Its configuration contains unknown values. Terraform reads a data source only when its \
                          configuration is known, so this is a bug in Terraform.";
            return Err(one_error(&format!("Could not read {}", request.type_name), detail));
        }
        let source = prepared.source.clone();
        let work = async move { source.read(DataRequest { config }).await };
        let mut found = self.run_until_stopped(|| format!("reading {}", request.type_name), work).await?;
        let Some(state) = found.state.filter(|state| !state.is_null()) else {
            if !found.diagnostics.has_errors() {
                let summary = format!("Could not read {}", request.type_name);
                found.diagnostics.error(summary, "The data source returned no result.");
            }
            return Err(found.diagnostics);
        };
        let state = Some(prepared.block.encode(state, &mut found.diagnostics));
        Ok(pb::read_data_source::Response { state, diagnostics: Self::messages(found.diagnostics) })
    }
}
