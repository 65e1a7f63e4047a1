//! Calls to list resources.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use tokio::sync::mpsc;
use tokio_stream::wrappers::ReceiverStream;
use tonic::Status;
use tracing::Instrument;

use super::{Block, Served, Server, fenced, one_error, panicked, tasks};
use crate::plugin::lifecycle::Lifecycle;
use crate::plugin::proto::tfplugin6 as pb;
use crate::plugin::{Diagnostics, ListRequest, ListResource, Listed, Provider, Value, checks, convert};

/// A list resource and its block.
pub(super) struct PreparedList {
    list: Arc<dyn ListResource>,
    block: Arc<Block>,
}

/// The list resources of a provider by type, and their schemas.
pub(super) type All = (BTreeMap<String, PreparedList>, HashMap<String, pb::Schema>);

/// The stream of results that Terraform reads.
pub(super) type Events = ReceiverStream<Result<pb::list_resource::Event, Status>>;

/// Prepares the list resources of a provider. The error names the part of a schema that Terraform would reject.
pub(super) fn all<P: Provider>(provider: &P) -> Result<All, String> {
    let mut all = All::default();
    for list in provider.list_resources() {
        let name = list.type_name();
        let schema = list.schema();
        let converted = convert::resource_schema(&schema).map_err(|error| format!("list resource {name}: {error}"))?;
        all.1.insert(name.to_string(), converted);
        all.0.insert(name.to_string(), PreparedList { list, block: Arc::new(Block::new(schema)) });
    }
    Ok(all)
}

impl<P: Provider> Server<P> {
    fn list_resource(&self, name: &str) -> Result<&PreparedList, Diagnostics> {
        self.list_resources.get(name).ok_or_else(|| {
            one_error("Unknown list resource", format!("This version of the provider has no list resource {name:?}."))
        })
    }

    pub(super) async fn validate_list(
        &self,
        request: pb::validate_list_resource_config::Request,
    ) -> Result<Diagnostics, Diagnostics> {
        let prepared = self.list_resource(&request.type_name)?;
        let config = prepared.block.decode(request.config, "configuration")?;
        let mut diagnostics = checks::check_config(&prepared.block.attributes, &config);
        let list = prepared.list.clone();
        let found = self.run(async move { list.validate(&config) }).await.unwrap_or_else(panicked);
        checks::add_findings(&mut diagnostics, found);
        Ok(diagnostics)
    }

    /// Starts a list. Its results and, at the end, its diagnostics are sent as events.
    pub(super) fn list(&self, request: pb::list_resource::Request) -> Events {
        let (events, receiver) = mpsc::channel(1);
        let started = self.started_list(request);
        let lifecycle = Arc::clone(&self.lifecycle);
        let sending = async move {
            let work = async { started?.send::<P>(&lifecycle, &events).await };
            let diagnostics = fenced(work).await.unwrap_or_else(|error| error);
            if !diagnostics.0.is_empty() {
                let diagnostic = Self::messages(diagnostics);
                // Terraform has enough results if it does not read this one.
                let _ = events.send(Ok(pb::list_resource::Event { diagnostic, ..Default::default() })).await;
            }
        };
        tokio::spawn(sending.in_current_span());
        ReceiverStream::new(receiver)
    }

    fn started_list(&self, request: pb::list_resource::Request) -> Result<Started, Diagnostics> {
        let prepared = self.list_resource(&request.type_name)?;
        Ok(Started {
            served: Arc::clone(self.resource(&request.type_name)?),
            list: prepared.list.clone(),
            config: prepared.block.decode(request.config, "configuration")?,
            with_state: request.include_resource_object,
            limit: usize::try_from(request.limit).ok().filter(|limit| *limit > 0).unwrap_or(usize::MAX),
        })
    }
}

/// A list that Terraform has requested.
struct Started {
    served: Arc<Served>,
    list: Arc<dyn ListResource>,
    config: Value,
    with_state: bool,
    limit: usize,
}

impl Started {
    /// Sends the results until Terraform has enough. Returns the diagnostics of the list.
    async fn send<P: Provider>(
        self,
        lifecycle: &Lifecycle,
        events: &mpsc::Sender<Result<pb::list_resource::Event, Status>>,
    ) -> Result<Diagnostics, Diagnostics> {
        let Started { served, list, config, with_state, limit } = self;
        let (found, mut results) = mpsc::channel(1);
        let what = || format!("listing {}", list.type_name());
        let listing = list.clone();
        let work = async move { listing.list(ListRequest { config, with_state, limit, found }).await };
        let forward = async {
            let mut sent = 0;
            while let Some(listed) = results.recv().await {
                sent += usize::from(listed.identity.is_some());
                if sent > limit || events.send(Ok(served.event::<P>(listed))).await.is_err() {
                    break;
                }
            }
            // The list ends when it cannot send its next result.
            drop(results);
        };
        let work = tasks::run_until_stopped(lifecycle, what, work);
        let work = async {
            tokio::select! {
                done = work => done,
                // Terraform reads no more events, for example because it has been stopped.
                () = events.closed() => Ok(Diagnostics::default()),
            }
        };
        tokio::join!(work, forward).0
    }
}

impl Served {
    fn event<P: Provider>(&self, listed: Listed) -> pb::list_resource::Event {
        let Listed { identity, display_name, state, mut diagnostics } = listed;
        let identity = identity.as_ref().zip(self.identity.as_ref());
        let identity = identity.and_then(|(identity, schema)| schema.encode(identity, &mut diagnostics));
        let resource_object = state.map(|state| self.block.encode(state, &mut diagnostics));
        let diagnostic = Server::<P>::messages(diagnostics);
        pb::list_resource::Event { identity, display_name, resource_object, diagnostic }
    }
}
