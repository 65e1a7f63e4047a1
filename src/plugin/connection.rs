//! Accepts and authenticates connections on a listening socket.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::sync::mpsc;
use tokio_rustls::TlsAcceptor;
use tokio_stream::Stream;
use tokio_stream::wrappers::ReceiverStream;
use tonic::transport::server::Connected;

use super::lifecycle::{Counted, Lifecycle};
use super::transport::{Listener, Socket};

/// The timeout of the TLS handshake.
const TLS_TIMEOUT: Duration = Duration::from_secs(10);

/// A connection from Terraform. The lifecycle counts it until it is dropped.
pub(super) struct Connection {
    socket: Box<dyn Socket>,
    _counted: Counted,
}

/// Accepts connections until the stream is dropped. Rejects clients without the pinned certificate. A slow TLS
/// handshake does not delay other connections.
pub(super) fn accept(
    listener: Listener,
    acceptor: Option<TlsAcceptor>,
    lifecycle: Arc<Lifecycle>,
) -> impl Stream<Item = io::Result<Connection>> {
    let (sender, receiver) = mpsc::channel(1);
    tokio::spawn(async move {
        loop {
            let socket = tokio::select! {
                accepted = listener.accept() => accepted,
                () = sender.closed() => return,
            };
            match socket {
                Ok(None) => tracing::warn!("rejected a connection of another user"),
                Ok(Some(socket)) => {
                    tokio::spawn(admit(socket, acceptor.clone(), lifecycle.clone(), sender.clone()));
                }
                Err(error) => {
                    // Most likely the process is out of file descriptors. Pending connections are accepted when some
                    // are available again.
                    tracing::warn!(%error, "could not accept a connection");
                    tokio::time::sleep(Duration::from_millis(50)).await;
                }
            }
        }
    });
    ReceiverStream::new(receiver)
}

async fn admit(
    socket: Box<dyn Socket>,
    acceptor: Option<TlsAcceptor>,
    lifecycle: Arc<Lifecycle>,
    admitted: mpsc::Sender<io::Result<Connection>>,
) {
    let socket = match acceptor {
        None => socket,
        Some(acceptor) => match tokio::time::timeout(TLS_TIMEOUT, acceptor.accept(socket)).await {
            Ok(Ok(encrypted)) => Box::new(encrypted),
            Ok(Err(error)) => return tracing::warn!(%error, "rejected a connection"),
            Err(_) => return tracing::warn!("rejected a connection: the TLS handshake timed out"),
        },
    };
    // The receiver is dropped when the process ends. The connection is not needed then.
    let _ = admitted.send(Ok(Connection { socket, _counted: lifecycle.connection() })).await;
}

impl Connected for Connection {
    type ConnectInfo = ();

    fn connect_info(&self) {}
}

impl AsyncRead for Connection {
    fn poll_read(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buffer: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.socket).poll_read(cx, buffer)
    }
}

impl AsyncWrite for Connection {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.socket).poll_write(cx, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.socket).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.socket).poll_shutdown(cx)
    }
}
