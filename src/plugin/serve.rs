//! The lifecycle of a provider process, from the handshake to the shutdown.

use std::io::{self, Write};
use std::process::ExitCode;
use std::sync::Arc;

use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;

use super::lifecycle::Lifecycle;
use super::proto::process::grpc_controller_server::GrpcControllerServer;
use super::proto::process::grpc_stdio_server::GrpcStdioServer;
use super::proto::tfplugin6::provider_server::ProviderServer;
use super::server::Server;
use super::server::process::{Controller, Stdio};
use super::{Environment, Offer, Provider, connection, logs, panics, platform, tls, transport};

/// The size limit of a message in bytes, as in other providers. The default of 4 MiB is less than a large state.
const LARGEST_MESSAGE: usize = 256 * 1024 * 1024;

/// The properties of a provider program.
#[derive(Clone, Copy, Debug)]
pub struct Program {
    /// The crate whose events are logged, as in `env!("CARGO_CRATE_NAME")` of the library.
    pub crate_name: &'static str,
    /// The text for a user who starts the program directly.
    pub introduction: &'static str,
}

/// The stack of a worker thread, in bytes. One poll passes through all nested calls of an operation, and builds without
/// optimization need more than the 2 MiB that are the default. Only the used part occupies memory.
const STACK: usize = 8 * 1024 * 1024;

/// Serves a provider to the Terraform process that started this one, until that process ends it.
///
/// If Terraform did not start this process, prints the introduction on stderr and fails.
pub fn serve<P: Provider>(provider: P, program: Program) -> ExitCode {
    let environment = Environment::of_process();
    if !environment.is_started_by_terraform() {
        return fail(program.introduction);
    }
    start(provider, program, environment, logs::Format::Json, |offer| print(&offer.line()))
}

/// Serves a provider to any Terraform of this user, until Ctrl-C or SIGTERM. Prints the environment variable that makes
/// Terraform use it, for these source addresses.
pub fn debug<P: Provider>(provider: P, program: Program, sources: &[String]) -> ExitCode {
    start(provider, program, Environment::of_debugging(), logs::Format::Text, |offer| {
        writeln!(io::stderr().lock(), "Run Terraform or OpenTofu with this variable. Ctrl-C ends the provider.")?;
        print(&offer.reattachment(std::process::id(), sources))
    })
}

fn start<P: Provider>(
    provider: P,
    program: Program,
    environment: Environment,
    format: logs::Format,
    announce: impl FnOnce(&Offer) -> io::Result<()>,
) -> ExitCode {
    let level = logs::level(program.crate_name, |name| std::env::var(name).ok());
    logs::write_to_stderr(level, format, program.crate_name, P::redact);
    panics::report_on_stderr(format, P::redact);
    let runtime = match tokio::runtime::Builder::new_multi_thread().thread_stack_size(STACK).enable_all().build() {
        Ok(runtime) => runtime,
        Err(error) => return fail(&format!("Could not start the threads of the provider: {error}")),
    };
    let result = runtime.block_on(async {
        let terminate = platform::handle_signals(environment.outlives_terraform)
            .map_err(|error| format!("Could not install signal handlers: {error}"))?;
        run(provider, environment, terminate, announce).await
    });
    // A name lookup may still block a thread. Its result is no longer needed.
    runtime.shutdown_background();
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => fail(&message),
    }
}

/// Serves a provider to the client that `environment` describes. Passes the way to connect to `announce`, and returns
/// when the process should end, which a notification of `terminate` requests. The error is a message for the user.
pub async fn run(
    provider: impl Provider,
    environment: Environment,
    terminate: Arc<Notify>,
    announce: impl FnOnce(&Offer) -> io::Result<()>,
) -> Result<(), String> {
    environment.check_version()?;
    let lifecycle = Arc::new(Lifecycle::new());
    let identity = environment.client_certificate.as_deref().map(tls::identity).transpose()?;
    let bound = transport::bind(&environment.transport, identity.is_some()).await?;
    let (acceptor, certificate) = identity.map(|identity| (identity.acceptor, identity.certificate)).unzip();
    announce(&Offer { network: bound.network, address: bound.address, certificate })
        .map_err(|error| format!("Could not write the handshake to stdout: {error}"))?;

    // After the handshake, because meanwhile the client connects.
    let server = Server::new(provider, lifecycle.clone()).map_err(|error| format!("Invalid schema: {error}"))?;
    let connections = connection::accept(bound.listener, acceptor, lifecycle.clone());
    let ending = CancellationToken::new();
    let controller = Controller { lifecycle: lifecycle.clone(), outlives_terraform: environment.outlives_terraform };
    let router = tonic::transport::Server::builder()
        .trace_fn(|request| tracing::error_span!("call", tf_rpc = method(request.uri().path())))
        .add_service(
            ProviderServer::new(server)
                .max_decoding_message_size(LARGEST_MESSAGE)
                .max_encoding_message_size(LARGEST_MESSAGE),
        )
        .add_service(GrpcControllerServer::new(controller))
        .add_service(GrpcStdioServer::new(Stdio(ending.clone())));
    let mut serving = tokio::spawn(router.serve_with_incoming_shutdown(connections, ending.clone().cancelled_owned()));
    let timeout = tokio::select! {
        timeout = lifecycle.ended(environment.connect_timeout, &environment.parent, &terminate) => timeout,
        stopped = &mut serving => return Err(format!("The server stopped unexpectedly: {stopped:?}")),
    };
    ending.cancel();
    if tokio::time::timeout(timeout, &mut serving).await.is_err() {
        serving.abort();
    }
    // Until here, the directory of the socket must exist.
    drop(bound.directory);
    Ok(())
}

/// The method in the path of a gRPC request: `ReadResource` for `/tfplugin6.Provider/ReadResource`.
fn method(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or_default()
}

fn print(line: &str) -> io::Result<()> {
    let mut stdout = io::stdout().lock();
    writeln!(stdout, "{line}")?;
    stdout.flush()
}

fn fail(message: &str) -> ExitCode {
    // If stderr is closed, the message cannot be reported.
    let _ = writeln!(io::stderr().lock(), "{message}");
    ExitCode::FAILURE
}
