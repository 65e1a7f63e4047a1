//! Accepts and authenticates connections on a listening socket.

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

/// The timeout of the TLS handshake.
const TLS_TIMEOUT: Duration = Duration::from_secs(10);

/// A connection from Terraform. The lifecycle counts it until it is dropped.
pub(super) struct Connection {
    stream: Transport,
    _counted: Counted,
}

enum Transport {
    Plain(UnixStream),
    Tls(Box<TlsStream<UnixStream>>),
}

/// Accepts connections until the stream is dropped. Rejects processes of other users than the one with the ID `user`,
/// and clients without the pinned certificate. A slow TLS handshake does not delay other connections.
pub(super) fn accept(
    listener: UnixListener,
    user: u32,
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
                Ok((stream, _)) if !is_of(user, &stream) => {
                    tracing::warn!("rejected a connection of another user");
                }
                Ok((stream, _)) => {
                    tokio::spawn(admit(stream, acceptor.clone(), lifecycle.clone(), sender.clone()));
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

/// The ID of the effective user of this process. The owner of a file that it creates may have another ID, on file
/// systems that map owners.
pub(super) fn own_user() -> io::Result<u32> {
    let (one, _other) = UnixStream::pair()?;
    Ok(one.peer_cred()?.uid())
}

/// Whether the process that opened a connection belongs to this user. The mode of the directory of the socket ensures
/// it too. This check is independent of the file system.
fn is_of(user: u32, stream: &UnixStream) -> bool {
    stream.peer_cred().is_ok_and(|peer| peer.uid() == user)
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
            Ok(Err(error)) => return tracing::warn!(%error, "rejected a connection"),
            Err(_) => return tracing::warn!("rejected a connection: the TLS handshake timed out"),
        },
    };
    // The receiver is dropped when the process ends. The connection is not needed then.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn only_processes_of_the_given_user_are_admitted() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("socket");
        let listener = UnixListener::bind(&path).unwrap();
        let _client = UnixStream::connect(&path).await.unwrap();
        let (stream, _) = listener.accept().await.unwrap();
        let user = own_user().unwrap();
        assert!(is_of(user, &stream));
        assert!(!is_of(user + 1, &stream));
    }
}
