//! The lifecycle of a provider process, from the handshake to the shutdown.

use std::io::{self, Write};
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use tokio::net::UnixListener;
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;

use super::lifecycle::Lifecycle;
use super::proto::process::grpc_controller_server::GrpcControllerServer;
use super::proto::process::grpc_stdio_server::GrpcStdioServer;
use super::proto::tfplugin6::provider_server::ProviderServer;
use super::server::Server;
use super::server::process::{Controller, NoopStdio};
use super::{Environment, Provider, connection, handshake, logs, panics, tls};

/// The size limit of a message in bytes, as in other providers. The default of 4 MiB is less than a large state.
const LARGEST_MESSAGE: usize = 256 * 1024 * 1024;
/// How long the end of the process waits for pending responses. Terraform kills the process after two seconds.
const SHUTDOWN_TIMEOUT: Duration = Duration::from_millis(500);

/// The properties of a provider program.
#[derive(Clone, Copy, Debug)]
pub struct Program {
    /// The crate whose events are logged, as in `env!("CARGO_CRATE_NAME")` of the library.
    pub crate_name: &'static str,
    /// The text for a user who starts the program directly.
    pub introduction: &'static str,
}

/// Serves a provider to the Terraform process that started this one, until that process ends it.
///
/// If Terraform did not start this process, prints the introduction on stderr and fails.
pub fn serve<P: Provider>(provider: P, program: Program) -> ExitCode {
    let environment = Environment::of_process();
    if !environment.is_started_by_terraform() {
        return fail(program.introduction);
    }
    logs::write_to_stderr(logs::level(|name| std::env::var(name).ok()), program.crate_name, P::redact);
    panics::report_on_stderr(P::redact);
    let runtime = match tokio::runtime::Builder::new_multi_thread().enable_all().build() {
        Ok(runtime) => runtime,
        Err(error) => return fail(&format!("Error starting the threads of the provider: {error}")),
    };
    let result = runtime.block_on(async {
        let terminate = handle_signals().map_err(|error| format!("Error installing signal handlers: {error}"))?;
        run(provider, environment, terminate, announce).await
    });
    // A name lookup may still block a thread. Its result is no longer needed.
    runtime.shutdown_background();
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => fail(&message),
    }
}

/// Serves a provider to the client that `environment` describes. Passes the handshake line to `announce`, and returns
/// when the process should end. A notification of `terminate` requests the end of the process while no client is
/// connected. The error is a message for the user.
pub async fn run(
    provider: impl Provider,
    environment: Environment,
    terminate: Arc<Notify>,
    announce: impl FnOnce(&str) -> io::Result<()>,
) -> Result<(), String> {
    environment.check_version()?;
    let lifecycle = Arc::new(Lifecycle::new());
    let server = Server::new(provider, lifecycle.clone()).map_err(|error| format!("Invalid schema: {error}"))?;
    let identity = environment.client_certificate.as_deref().map(tls::identity).transpose()?;
    let user = connection::own_user().map_err(|error| format!("Error reading the user of this process: {error}"))?;
    let place = handshake::socket_place(&environment.socket_directories)?;
    let listener = UnixListener::bind(&place.path)
        .map_err(|error| format!("Error listening on {}: {error}", place.path.display()))?;
    let line = handshake::line(&place.path, identity.as_ref().map(|identity| &identity.certificate[..]));
    announce(&line).map_err(|error| format!("Error writing the handshake to stdout: {error}"))?;

    let acceptor = identity.map(|identity| identity.acceptor);
    let connections = connection::accept(listener, user, acceptor, lifecycle.clone());
    let ending = CancellationToken::new();
    let router = tonic::transport::Server::builder()
        .add_service(
            ProviderServer::new(server)
                .max_decoding_message_size(LARGEST_MESSAGE)
                .max_encoding_message_size(LARGEST_MESSAGE),
        )
        .add_service(GrpcControllerServer::new(Controller(lifecycle.clone())))
        .add_service(GrpcStdioServer::new(NoopStdio));
    let mut serving = tokio::spawn(router.serve_with_incoming_shutdown(connections, ending.clone().cancelled_owned()));
    tokio::select! {
        () = lifecycle.ended(environment.connect_timeout, environment.idle_timeout, &terminate) => {}
        stopped = &mut serving => return Err(format!("The server stopped unexpectedly: {stopped:?}")),
    }
    ending.cancel();
    if tokio::time::timeout(SHUTDOWN_TIMEOUT, &mut serving).await.is_err() {
        serving.abort();
    }
    Ok(())
}

/// Handles the signals that a terminal sends to all of its processes. Terraform receives them too and decides what to
/// do, so none of them may end this process during an apply. SIGTERM notifies the result.
fn handle_signals() -> io::Result<Arc<Notify>> {
    let mut interrupt = signal(SignalKind::interrupt())?;
    let mut hangup = signal(SignalKind::hangup())?;
    let mut terminate = signal(SignalKind::terminate())?;
    let terminated = Arc::new(Notify::new());
    let notify = terminated.clone();
    tokio::spawn(async move {
        loop {
            tokio::select! {
                _ = interrupt.recv() => {}
                _ = hangup.recv() => {}
                _ = terminate.recv() => notify.notify_one(),
            }
        }
    });
    Ok(terminated)
}

fn announce(line: &str) -> io::Result<()> {
    let mut stdout = io::stdout().lock();
    writeln!(stdout, "{line}")?;
    stdout.flush()
}

fn fail(message: &str) -> ExitCode {
    // If stderr is closed, the message cannot be reported.
    let _ = writeln!(io::stderr().lock(), "{message}");
    ExitCode::FAILURE
}
