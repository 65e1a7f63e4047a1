//! The calls of the gRPC service, each passed to its handler. Every error becomes a diagnostic of the response.

use tonic::codegen::BoxStream;
use tonic::{Request, Response, Status};

use super::{Server, capabilities, fenced, functions};
use crate::plugin::proto::tfplugin6::{self as pb, provider_server::Provider as Calls};
use crate::plugin::{FunctionError, Provider};

type Answer<T> = Result<Response<T>, Status>;

#[tonic::async_trait]
impl<P: Provider> Calls for Server<P> {
    async fn get_metadata(&self, _: Request<pb::get_metadata::Request>) -> Answer<pb::get_metadata::Response> {
        let names = self.resources.keys().cloned();
        let data_sources = self.data_sources.keys().cloned();
        let functions = self.functions.keys().cloned();
        let list_resources = self.list_resources.keys().cloned();
        Ok(Response::new(pb::get_metadata::Response {
            server_capabilities: Some(capabilities()),
            diagnostics: Vec::new(),
            resources: names.map(|type_name| pb::get_metadata::ResourceMetadata { type_name }).collect(),
            data_sources: data_sources.map(|type_name| pb::get_metadata::DataSourceMetadata { type_name }).collect(),
            functions: functions.map(|name| pb::get_metadata::FunctionMetadata { name }).collect(),
            list_resources: list_resources
                .map(|type_name| pb::get_metadata::ListResourceMetadata { type_name })
                .collect(),
        }))
    }

    async fn get_provider_schema(
        &self,
        _: Request<pb::get_provider_schema::Request>,
    ) -> Answer<pb::get_provider_schema::Response> {
        // Each process of Terraform requests the schema before anything else.
        self.lifecycle.allow_work();
        Ok(Response::new(self.schemas.clone()))
    }

    async fn validate_provider_config(
        &self,
        request: Request<pb::validate_provider_config::Request>,
    ) -> Answer<pb::validate_provider_config::Response> {
        let diagnostics = Self::flat(fenced(self.validate_provider(request.into_inner())).await);
        Ok(Response::new(pb::validate_provider_config::Response { diagnostics }))
    }

    async fn validate_resource_config(
        &self,
        request: Request<pb::validate_resource_config::Request>,
    ) -> Answer<pb::validate_resource_config::Response> {
        let diagnostics = Self::flat(fenced(self.validate(request.into_inner())).await);
        Ok(Response::new(pb::validate_resource_config::Response { diagnostics }))
    }

    async fn configure_provider(
        &self,
        request: Request<pb::configure_provider::Request>,
    ) -> Answer<pb::configure_provider::Response> {
        let diagnostics = Self::flat(fenced(self.configure(request.into_inner())).await);
        Ok(Response::new(pb::configure_provider::Response { diagnostics }))
    }

    async fn upgrade_resource_state(
        &self,
        request: Request<pb::upgrade_resource_state::Request>,
    ) -> Answer<pb::upgrade_resource_state::Response> {
        Ok(Response::new(match fenced(self.upgrade(request.into_inner())).await {
            Ok(state) => pb::upgrade_resource_state::Response { upgraded_state: Some(state), diagnostics: Vec::new() },
            Err(diagnostics) => {
                let diagnostics = Self::messages(diagnostics);
                pb::upgrade_resource_state::Response { upgraded_state: None, diagnostics }
            }
        }))
    }

    async fn import_resource_state(
        &self,
        request: Request<pb::import_resource_state::Request>,
    ) -> Answer<pb::import_resource_state::Response> {
        let response = fenced(self.import(request.into_inner())).await;
        Ok(Response::new(response.unwrap_or_else(|diagnostics| pb::import_resource_state::Response {
            diagnostics: Self::messages(diagnostics),
            ..Default::default()
        })))
    }

    async fn read_resource(&self, request: Request<pb::read_resource::Request>) -> Answer<pb::read_resource::Response> {
        let response = fenced(self.read(request.into_inner())).await;
        Ok(Response::new(response.unwrap_or_else(|diagnostics| pb::read_resource::Response {
            diagnostics: Self::messages(diagnostics),
            ..Default::default()
        })))
    }

    async fn plan_resource_change(
        &self,
        request: Request<pb::plan_resource_change::Request>,
    ) -> Answer<pb::plan_resource_change::Response> {
        let response = fenced(self.plan(request.into_inner())).await;
        Ok(Response::new(response.unwrap_or_else(|diagnostics| pb::plan_resource_change::Response {
            diagnostics: Self::messages(diagnostics),
            ..Default::default()
        })))
    }

    async fn apply_resource_change(
        &self,
        request: Request<pb::apply_resource_change::Request>,
    ) -> Answer<pb::apply_resource_change::Response> {
        let response = fenced(self.apply(request.into_inner())).await;
        Ok(Response::new(response.unwrap_or_else(|diagnostics| pb::apply_resource_change::Response {
            diagnostics: Self::messages(diagnostics),
            ..Default::default()
        })))
    }

    async fn move_resource_state(
        &self,
        request: Request<pb::move_resource_state::Request>,
    ) -> Answer<pb::move_resource_state::Response> {
        let response = fenced(self.move_state(request.into_inner())).await;
        Ok(Response::new(response.unwrap_or_else(|diagnostics| pb::move_resource_state::Response {
            diagnostics: Self::messages(diagnostics),
            ..Default::default()
        })))
    }

    async fn generate_resource_config(
        &self,
        request: Request<pb::generate_resource_config::Request>,
    ) -> Answer<pb::generate_resource_config::Response> {
        let response = fenced(self.generate(request.into_inner())).await;
        Ok(Response::new(response.unwrap_or_else(|diagnostics| pb::generate_resource_config::Response {
            diagnostics: Self::messages(diagnostics),
            ..Default::default()
        })))
    }

    async fn get_resource_identity_schemas(
        &self,
        _: Request<pb::get_resource_identity_schemas::Request>,
    ) -> Answer<pb::get_resource_identity_schemas::Response> {
        let identity_schemas = self.identity_schemas();
        Ok(Response::new(pb::get_resource_identity_schemas::Response { identity_schemas, diagnostics: Vec::new() }))
    }

    async fn upgrade_resource_identity(
        &self,
        request: Request<pb::upgrade_resource_identity::Request>,
    ) -> Answer<pb::upgrade_resource_identity::Response> {
        let upgraded = fenced(async { self.upgrade_identity(request.into_inner()) }).await;
        let (upgraded_identity, diagnostics) = match upgraded {
            Ok(identity) => (Some(identity), Vec::new()),
            Err(diagnostics) => (None, Self::messages(diagnostics)),
        };
        Ok(Response::new(pb::upgrade_resource_identity::Response { upgraded_identity, diagnostics }))
    }

    async fn validate_list_resource_config(
        &self,
        request: Request<pb::validate_list_resource_config::Request>,
    ) -> Answer<pb::validate_list_resource_config::Response> {
        let diagnostics = Self::flat(fenced(self.validate_list(request.into_inner())).await);
        Ok(Response::new(pb::validate_list_resource_config::Response { diagnostics }))
    }

    async fn list_resource(
        &self,
        request: Request<pb::list_resource::Request>,
    ) -> Answer<BoxStream<pb::list_resource::Event>> {
        Ok(Response::new(Box::pin(self.list(request.into_inner()))))
    }

    async fn validate_data_resource_config(
        &self,
        request: Request<pb::validate_data_resource_config::Request>,
    ) -> Answer<pb::validate_data_resource_config::Response> {
        let diagnostics = Self::flat(fenced(self.validate_data(request.into_inner())).await);
        Ok(Response::new(pb::validate_data_resource_config::Response { diagnostics }))
    }

    async fn read_data_source(
        &self,
        request: Request<pb::read_data_source::Request>,
    ) -> Answer<pb::read_data_source::Response> {
        let response = fenced(self.read_data(request.into_inner())).await;
        Ok(Response::new(response.unwrap_or_else(|diagnostics| pb::read_data_source::Response {
            diagnostics: Self::messages(diagnostics),
            ..Default::default()
        })))
    }

    async fn get_functions(&self, _: Request<pb::get_functions::Request>) -> Answer<pb::get_functions::Response> {
        let functions = self.schemas.functions.clone();
        Ok(Response::new(pb::get_functions::Response { functions, diagnostics: Vec::new() }))
    }

    async fn call_function(&self, request: Request<pb::call_function::Request>) -> Answer<pb::call_function::Response> {
        Ok(Response::new(match self.evaluate_fenced(request.into_inner()).await {
            Ok(result) => pb::call_function::Response { result: Some(result), error: None },
            Err(error) => {
                let error = FunctionError { message: P::redact(&error.message), ..error };
                pb::call_function::Response { result: None, error: Some(functions::error(error)) }
            }
        }))
    }

    async fn stop_provider(&self, _: Request<pb::stop_provider::Request>) -> Answer<pb::stop_provider::Response> {
        self.lifecycle.stop_work();
        tracing::info!("Terraform requested a stop; no new operation starts");
        Ok(Response::new(pb::stop_provider::Response::default()))
    }
}
