//! The gRPC services that control the process.

use std::sync::Arc;

use futures::StreamExt;
use tokio_util::sync::CancellationToken;
use tonic::codegen::BoxStream;
use tonic::{Request, Response, Status};

use crate::plugin::lifecycle::Lifecycle;
use crate::plugin::proto::process::grpc_controller_server::GrpcController;
use crate::plugin::proto::process::grpc_stdio_server::GrpcStdio;
use crate::plugin::proto::process::{Empty, StdioData};

type Answer<T> = Result<Response<T>, Status>;

/// Ends the process when Terraform requests it, unless the process outlives Terraform.
pub(in crate::plugin) struct Controller {
    pub(in crate::plugin) lifecycle: Arc<Lifecycle>,
    pub(in crate::plugin) outlives_terraform: bool,
}

#[tonic::async_trait]
impl GrpcController for Controller {
    async fn shutdown(&self, _: Request<Empty>) -> Answer<Empty> {
        if !self.outlives_terraform {
            self.lifecycle.shut_down();
        }
        Ok(Response::new(Empty {}))
    }
}

/// A stream without data, because a provider writes its logs to stderr, which Terraform reads directly. It stays open
/// until this token is canceled: the gRPC client of Terraform closes a connection that has no open call for 30 minutes.
pub(in crate::plugin) struct Stdio(pub(in crate::plugin) CancellationToken);

#[tonic::async_trait]
impl GrpcStdio for Stdio {
    async fn stream_stdio(&self, _: Request<()>) -> Answer<BoxStream<StdioData>> {
        let ended = self.0.clone().cancelled_owned();
        Ok(Response::new(Box::pin(futures::stream::pending().take_until(ended))))
    }
}
