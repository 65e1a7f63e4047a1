//! The socket on which the server listens: a Unix socket, or a TCP port of this machine on Windows.

use std::io;
use std::net::Ipv4Addr;
use std::ops::RangeInclusive;
#[cfg(unix)]
use std::path::{Path, PathBuf};

use tempfile::TempDir;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpListener;
#[cfg(unix)]
use tokio::net::{UnixListener, UnixStream};

/// The longest path of a socket, in bytes. The address of a Unix socket holds 104 bytes on macOS and 108 on Linux,
/// including a terminating zero.
#[cfg(unix)]
const LONGEST_PATH: usize = 100;

/// Where the server listens.
#[derive(Clone, Debug)]
pub enum Transport {
    /// On a Unix socket.
    #[cfg(unix)]
    Unix {
        /// Directories for the socket, in order of preference.
        directories: Vec<PathBuf>,
    },
    /// On a port of the loopback interface. Every user of the machine can connect to it, so it requires TLS.
    Tcp {
        /// `PLUGIN_MIN_PORT`, the first port to try. If it is not set, the system selects a free port.
        first: Option<String>,
        /// `PLUGIN_MAX_PORT`, the last port to try.
        last: Option<String>,
    },
}

/// A listening socket, with its address.
pub(super) struct Bound {
    pub(super) listener: Listener,
    /// The kind of the address: `unix` or `tcp`.
    pub(super) network: &'static str,
    pub(super) address: String,
    /// The directory of a Unix socket. Dropping it removes the directory.
    pub(super) directory: Option<TempDir>,
}

/// A listening socket.
pub(super) enum Listener {
    /// With the ID of the user whose processes may connect.
    #[cfg(unix)]
    Unix(UnixListener, u32),
    Tcp(TcpListener),
}

/// A connected socket, with or without TLS.
pub(super) trait Socket: AsyncRead + AsyncWrite + Send + Unpin {}

impl<T: AsyncRead + AsyncWrite + Send + Unpin> Socket for T {}

/// Listens on the first usable socket. The error is a message for the user.
pub(super) async fn bind(transport: &Transport, has_tls: bool) -> Result<Bound, String> {
    match transport {
        #[cfg(unix)]
        Transport::Unix { directories } => bind_unix(directories),
        Transport::Tcp { .. } if !has_tls => {
            Err("PLUGIN_CLIENT_CERT is not set. Without it, any user of this machine \
                                                  could connect to the TCP port of the provider. Terraform sets it."
                .to_string())
        }
        Transport::Tcp { first, last } => bind_tcp(ports(first.as_deref(), last.as_deref())?).await,
    }
}

impl Listener {
    /// The next connection; `None` if its process belongs to another user.
    pub(super) async fn accept(&self) -> io::Result<Option<Box<dyn Socket>>> {
        match self {
            #[cfg(unix)]
            Listener::Unix(listener, user) => {
                let (stream, _) = listener.accept().await?;
                Ok(is_of(*user, &stream).then(|| Box::new(stream) as Box<dyn Socket>))
            }
            Listener::Tcp(listener) => {
                let (stream, _) = listener.accept().await?;
                // Otherwise, the last part of a response may wait for the confirmation of the previous one.
                stream.set_nodelay(true)?;
                Ok(Some(Box::new(stream)))
            }
        }
    }
}

#[cfg(unix)]
fn bind_unix(directories: &[PathBuf]) -> Result<Bound, String> {
    let user = own_user().map_err(|error| format!("Could not read the user of this process: {error}"))?;
    let (directory, path) = socket_place(directories)?;
    let listener =
        UnixListener::bind(&path).map_err(|error| format!("Could not listen on {}: {error}", path.display()))?;
    let address = path.display().to_string();
    Ok(Bound { listener: Listener::Unix(listener, user), network: "unix", address, directory: Some(directory) })
}

/// The ID of the effective user of this process. The owner of a file that it creates may have another ID, on file
/// systems that map owners.
#[cfg(unix)]
fn own_user() -> io::Result<u32> {
    let (one, _other) = UnixStream::pair()?;
    Ok(one.peer_cred()?.uid())
}

/// Whether the process that opened a connection belongs to this user. The mode of the directory of the socket ensures
/// it too. This check is independent of the file system.
#[cfg(unix)]
fn is_of(user: u32, stream: &UnixStream) -> bool {
    stream.peer_cred().is_ok_and(|peer| peer.uid() == user)
}

/// Creates a directory that only this user can access, in the first usable one of these directories. Returns it with
/// the path of the socket.
#[cfg(unix)]
fn socket_place(directories: &[PathBuf]) -> Result<(TempDir, PathBuf), String> {
    let mut errors = String::new();
    for directory in directories {
        match socket_place_in(directory) {
            Ok(place) => return Ok(place),
            Err(error) => errors.push_str(&format!("\n  {}: {error}", directory.display())),
        }
    }
    Err(format!(
        "Could not create a Unix socket in any temporary directory. Set TMPDIR to a writable directory with a short \
         path. Tried:{errors}"
    ))
}

#[cfg(unix)]
fn socket_place_in(directory: &Path) -> io::Result<(TempDir, PathBuf)> {
    use std::fs::Permissions;
    use std::os::unix::fs::PermissionsExt;
    // The directory is created with its mode, so that other users can never access it.
    let created =
        tempfile::Builder::new().prefix("plugin-").permissions(Permissions::from_mode(0o700)).tempdir_in(directory)?;
    let path = created.path().join("socket");
    if path.as_os_str().len() > LONGEST_PATH || path.to_str().is_none_or(|path| path.contains('|')) {
        return Err(io::Error::new(io::ErrorKind::InvalidFilename, "the path is too long, not UTF-8, or contains |"));
    }
    Ok((created, path))
}

/// The ports to try. The system selects port 0.
fn ports(first: Option<&str>, last: Option<&str>) -> Result<RangeInclusive<u16>, String> {
    let port = |name: &str, text: &str| {
        text.parse::<u16>().map_err(|error| format!("{name} is {text:?}, which is not a port: {error}."))
    };
    let Some(first) = first.map(|text| port("PLUGIN_MIN_PORT", text)).transpose()? else { return Ok(0..=0) };
    let last = last.map_or(Ok(u16::MAX), |text| port("PLUGIN_MAX_PORT", text))?;
    if first > last {
        return Err(format!("PLUGIN_MIN_PORT is {first}, which is greater than PLUGIN_MAX_PORT, {last}."));
    }
    Ok(first..=last)
}

/// Listens on the first free one of these ports.
async fn bind_tcp(ports: RangeInclusive<u16>) -> Result<Bound, String> {
    let (first, last) = (*ports.start(), *ports.end());
    let mut error = String::new();
    for port in ports {
        match TcpListener::bind((Ipv4Addr::LOCALHOST, port)).await.and_then(|bound| Ok((bound.local_addr()?, bound))) {
            Ok((address, listener)) => {
                let (listener, address) = (Listener::Tcp(listener), address.to_string());
                return Ok(Bound { listener, network: "tcp", address, directory: None });
            }
            Err(failed) => error = failed.to_string(),
        }
    }
    Err(format!(
        "Could not listen on any TCP port of 127.0.0.1 from {first} to {last}, the range in PLUGIN_MIN_PORT and \
         PLUGIN_MAX_PORT. The last error is: {error}."
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_range_of_ports_is_read_from_the_environment() {
        assert_eq!(ports(None, None), Ok(0..=0));
        assert_eq!(ports(None, Some("7")), Ok(0..=0));
        assert_eq!(ports(Some("10000"), Some("25000")), Ok(10000..=25000));
        assert_eq!(ports(Some("10000"), None), Ok(10000..=u16::MAX));
        for (first, last, named) in [("x", "2", "PLUGIN_MIN_PORT"), ("1", "70000", "\"70000\""), ("3", "2", "greater")]
        {
            let error = ports(Some(first), Some(last)).unwrap_err();
            assert!(error.contains(named), "{error}");
        }
    }

    #[tokio::test(start_paused = true)]
    async fn the_first_free_port_of_the_range_is_used() {
        // Two adjacent ports: other processes may take the second one at any time.
        let (taken, free) = loop {
            let taken = std::net::TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
            let next = taken.local_addr().unwrap().port().saturating_add(1);
            if let Ok(bound) = bind_tcp(next..=next).await {
                break (taken, bound);
            }
        };
        let port = taken.local_addr().unwrap().port();
        assert_eq!((free.network, free.address), ("tcp", format!("127.0.0.1:{}", port + 1)));
        let error = bind_tcp(port..=port + 1).await.err().unwrap();
        assert!(error.contains(&format!("from {port} to {}", port + 1)), "{error}");
    }

    #[tokio::test(start_paused = true)]
    async fn a_tcp_port_without_a_client_certificate_is_an_error() {
        let transport = Transport::Tcp { first: None, last: None };
        assert!(bind(&transport, false).await.err().unwrap().contains("PLUGIN_CLIENT_CERT"));
        assert!(bind(&transport, true).await.is_ok());
    }
}

#[cfg(all(test, unix))]
mod unix_tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    #[tokio::test(start_paused = true)]
    async fn only_processes_of_the_given_user_are_admitted() {
        let user = own_user().unwrap();
        for (admitted, is_admitted) in [(user, true), (user + 1, false)] {
            let directory = tempfile::tempdir().unwrap();
            let path = directory.path().join("socket");
            let listener = Listener::Unix(UnixListener::bind(&path).unwrap(), admitted);
            let _client = UnixStream::connect(&path).await.unwrap();
            assert_eq!(listener.accept().await.unwrap().is_some(), is_admitted);
        }
    }

    #[test]
    fn the_socket_directory_is_private_and_removed_on_drop() {
        let (directory, socket) = socket_place(&[std::env::temp_dir()]).unwrap();
        let path = directory.path().to_path_buf();
        assert_eq!((socket.parent(), path.metadata().unwrap().permissions().mode() & 0o777), (Some(&*path), 0o700));
        drop(directory);
        assert!(!path.exists());
    }

    #[test]
    fn unusable_socket_directories_are_skipped() {
        let outer = tempfile::tempdir().unwrap();
        let long = outer.path().join("x".repeat(90));
        std::fs::create_dir(&long).unwrap();
        let missing = outer.path().join("missing");
        let (_directory, path) = socket_place(&[long.clone(), missing.clone(), PathBuf::from("/tmp")]).unwrap();
        assert!(path.starts_with("/tmp") && path.as_os_str().len() <= LONGEST_PATH);
        assert_eq!(std::fs::read_dir(&long).unwrap().count(), 0);
        let error = socket_place(&[long.clone(), missing]).err().unwrap();
        assert!(error.contains(long.to_str().unwrap()) && error.contains("TMPDIR"), "{error}");
    }
}
