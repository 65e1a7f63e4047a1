//! The gRPC services that control the process.

use std::sync::Arc;

use tonic::codegen::BoxStream;
use tonic::{Request, Response, Status};

use crate::plugin::lifecycle::Lifecycle;
use crate::plugin::proto::process::grpc_controller_server::GrpcController;
use crate::plugin::proto::process::grpc_stdio_server::GrpcStdio;
use crate::plugin::proto::process::{Empty, StdioData};

type Answer<T> = Result<Response<T>, Status>;

/// Ends the process when Terraform requests it.
pub(in crate::plugin) struct Controller(pub(in crate::plugin) Arc<Lifecycle>);

#[tonic::async_trait]
impl GrpcController for Controller {
    async fn shutdown(&self, _: Request<Empty>) -> Answer<Empty> {
        self.0.shut_down();
        Ok(Response::new(Empty {}))
    }
}

/// An empty stream: a provider writes its logs to stderr, which Terraform reads directly.
pub(in crate::plugin) struct NoopStdio;

#[tonic::async_trait]
impl GrpcStdio for NoopStdio {
    async fn stream_stdio(&self, _: Request<()>) -> Answer<BoxStream<StdioData>> {
        Ok(Response::new(Box::pin(tokio_stream::empty())))
    }
}
