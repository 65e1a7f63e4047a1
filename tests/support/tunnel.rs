//! A corporate HTTP proxy: it forwards HTTP, and intercepts TLS with certificates of its own CA. It sends all traffic
//! to one proxy of the test bed, whatever the host, so that calls to AWS's host names stay on this machine.

use std::sync::{Arc, Mutex};

use tokio::io::{AsyncReadExt, AsyncWriteExt, copy_bidirectional};
use tokio::net::{TcpListener, TcpStream};
use tokio_rustls::TlsAcceptor;
use tokio_util::sync::CancellationToken;

use super::authority::Authority;
use super::proxy::Proxy;
use super::runtime;

/// The HTTP proxy. Dropping it stops it.
#[derive(Debug)]
pub(crate) struct Tunnel {
    port: u16,
    authority: String,
    heads: Arc<Mutex<Vec<String>>>,
    stop: CancellationToken,
}

impl Tunnel {
    /// Starts one in front of a proxy of the test bed.
    pub(crate) fn to(proxy: &Proxy) -> Self {
        let authority = Authority::new();
        let certificate = authority.certificate.pem();
        let listener = runtime().block_on(TcpListener::bind(("127.0.0.1", 0))).expect("loopback has free ports");
        let port = listener.local_addr().expect("a bound socket has an address").port();
        let (heads, stop) = (Arc::new(Mutex::new(Vec::new())), CancellationToken::new());
        let line = Line { authority: Arc::new(authority), upstream: proxy.port(), heads: Arc::clone(&heads) };
        runtime().spawn(serve(listener, line, stop.clone()));
        Self { port, authority: certificate, heads, stop }
    }

    /// Its URL, with a user and a password, which it does not check.
    pub(crate) fn url(&self) -> String {
        format!("http://ada:open-sesame@127.0.0.1:{}", self.port)
    }

    /// The certificate of its CA, in PEM.
    pub(crate) fn authority(&self) -> &str {
        &self.authority
    }

    /// The head of the first request on each connection.
    pub(crate) fn heads(&self) -> Vec<String> {
        self.heads.lock().expect("no one panics while holding it").clone()
    }

    /// The hosts that connections were opened to, without ports, in order and without duplicates.
    pub(crate) fn hosts(&self) -> Vec<String> {
        let mut hosts = Vec::new();
        for head in self.heads() {
            let target = head.split(' ').nth(1).unwrap_or_default().trim_start_matches("http://").to_owned();
            let host = target.split([':', '/']).next().unwrap_or_default().to_owned();
            if !hosts.contains(&host) {
                hosts.push(host);
            }
        }
        hosts
    }
}

impl Drop for Tunnel {
    fn drop(&mut self) {
        self.stop.cancel();
    }
}

/// The data that each connection needs.
#[derive(Clone)]
struct Line {
    authority: Arc<Authority>,
    upstream: u16,
    heads: Arc<Mutex<Vec<String>>>,
}

async fn serve(listener: TcpListener, line: Line, stop: CancellationToken) {
    loop {
        let stream = tokio::select! {
            () = stop.cancelled() => return,
            accepted = listener.accept() => accepted.expect("a listening socket accepts").0,
        };
        let (line, stop) = (line.clone(), stop.clone());
        tokio::spawn(async move {
            tokio::select! {
                () = stop.cancelled() => {}
                // A client that rejects the certificate closes the connection. Tests check the error that the client
                // reports.
                _ = forward(stream, line) => {}
            }
        });
    }
}

async fn forward(mut client: TcpStream, line: Line) -> std::io::Result<()> {
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        head.push(client.read_u8().await?);
    }
    let text = String::from_utf8_lossy(&head).into_owned();
    line.heads.lock().expect("no one panics while holding it").push(text.clone());
    let mut upstream = TcpStream::connect(("127.0.0.1", line.upstream)).await?;
    let Some(target) = text.strip_prefix("CONNECT ") else {
        upstream.write_all(&head).await?;
        copy_bidirectional(&mut client, &mut upstream).await?;
        return Ok(());
    };
    client.write_all(b"HTTP/1.1 200 OK\r\n\r\n").await?;
    let host = target.split(':').next().unwrap_or_default();
    let mut opened = TlsAcceptor::from(Arc::new(line.authority.server_for(host))).accept(client).await?;
    copy_bidirectional(&mut opened, &mut upstream).await?;
    Ok(())
}
