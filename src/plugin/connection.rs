//! From a listening socket to connections that are known to be Terraform's.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::{UnixListener, UnixStream};
use tokio::sync::mpsc;
use tokio_rustls::TlsAcceptor;
use tokio_rustls::server::TlsStream;
use tokio_stream::Stream;
use tokio_stream::wrappers::ReceiverStream;
use tonic::transport::server::Connected;

use super::lifecycle::{Counted, Lifecycle};

/// How long a peer may take to show its certificate.
const TLS_TIMEOUT: Duration = Duration::from_secs(10);

/// A connection of Terraform, counted as long as it lives.
pub(super) struct Connection {
    stream: Transport,
    _counted: Counted,
}

enum Transport {
    Plain(UnixStream),
    Tls(Box<TlsStream<UnixStream>>),
}

/// Accepts connections until the stream is dropped. A peer without the right certificate is turned away and
/// holds up nobody.
pub(super) fn accept(
    listener: UnixListener,
    acceptor: Option<TlsAcceptor>,
    lifecycle: Arc<Lifecycle>,
) -> impl Stream<Item = io::Result<Connection>> {
    let (sender, receiver) = mpsc::channel(1);
    tokio::spawn(async move {
        loop {
            let stream = tokio::select! {
                accepted = listener.accept() => accepted,
                () = sender.closed() => return,
            };
            match stream {
                Ok((stream, _)) => {
                    tokio::spawn(admit(stream, acceptor.clone(), lifecycle.clone(), sender.clone()));
                }
                Err(error) => {
                    // Out of file descriptors, most likely. Connections that wait are taken when there are some.
                    tracing::warn!(%error, "a connection could not be accepted");
                    tokio::time::sleep(Duration::from_millis(50)).await;
                }
            }
        }
    });
    ReceiverStream::new(receiver)
}

async fn admit(
    stream: UnixStream,
    acceptor: Option<TlsAcceptor>,
    lifecycle: Arc<Lifecycle>,
    admitted: mpsc::Sender<io::Result<Connection>>,
) {
    let stream = match acceptor {
        None => Transport::Plain(stream),
        Some(acceptor) => match tokio::time::timeout(TLS_TIMEOUT, acceptor.accept(stream)).await {
            Ok(Ok(stream)) => Transport::Tls(Box::new(stream)),
            Ok(Err(error)) => return tracing::warn!(%error, "a connection was refused"),
            Err(_) => return tracing::warn!("a connection was refused: it showed no certificate in time"),
        },
    };
    // The receiver is gone when the process ends, and then nobody needs the connection.
    let _ = admitted.send(Ok(Connection { stream, _counted: lifecycle.connection() })).await;
}

impl Connected for Connection {
    type ConnectInfo = ();

    fn connect_info(&self) {}
}

impl AsyncRead for Connection {
    fn poll_read(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buffer: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        match &mut self.stream {
            Transport::Plain(stream) => Pin::new(stream).poll_read(cx, buffer),
            Transport::Tls(stream) => Pin::new(stream).poll_read(cx, buffer),
        }
    }
}

impl AsyncWrite for Connection {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        match &mut self.stream {
            Transport::Plain(stream) => Pin::new(stream).poll_write(cx, bytes),
            Transport::Tls(stream) => Pin::new(stream).poll_write(cx, bytes),
        }
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        match &mut self.stream {
            Transport::Plain(stream) => Pin::new(stream).poll_flush(cx),
            Transport::Tls(stream) => Pin::new(stream).poll_flush(cx),
        }
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        match &mut self.stream {
            Transport::Plain(stream) => Pin::new(stream).poll_shutdown(cx),
            Transport::Tls(stream) => Pin::new(stream).poll_shutdown(cx),
        }
    }
}
