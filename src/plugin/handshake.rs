//! The handshake of Terraform and a plugin before the first call: Terraform sets environment variables, and the plugin
//! prints one line on stdout.

use std::fs::Permissions;
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use base64::Engine;
use base64::engine::general_purpose::STANDARD_NO_PAD;
use tempfile::TempDir;

/// The magic cookie by which a plugin recognizes Terraform. It is not a secret.
const COOKIE: &str = "d602bf8f470bc67ca7faa0386276bbdd4330efaf76d1a219cb4d6991ca9872b2";
/// The supported version of the plugin protocol.
const VERSION: &str = "6";
/// The longest path of a socket, in bytes. The address of a Unix socket holds 104 bytes on macOS and 108 on Linux,
/// including a terminating zero.
const LONGEST_PATH: usize = 100;

/// The environment variables of the handshake, and the timeouts of the process.
#[derive(Clone, Debug)]
pub struct Environment {
    /// `TF_PLUGIN_MAGIC_COOKIE`.
    pub cookie: Option<String>,
    /// `PLUGIN_PROTOCOL_VERSIONS`, a comma-separated list in any order.
    pub versions: Option<String>,
    /// `PLUGIN_CLIENT_CERT`, in PEM. If it is not set, connections do not use TLS.
    pub client_certificate: Option<String>,
    /// Directories for the socket, in order of preference.
    pub socket_directories: Vec<PathBuf>,
    /// How long to wait for the first connection.
    pub connect_timeout: Duration,
    /// How long to wait for another connection after the last one has closed.
    pub idle_timeout: Duration,
}

impl Environment {
    /// Reads the environment of this process. `/tmp` is the last of the socket directories, because the path of the
    /// temporary directory may be too long.
    pub fn of_process() -> Environment {
        let variable = |name| std::env::var(name).ok().filter(|value| !value.is_empty());
        let chosen = variable("PLUGIN_UNIX_SOCKET_DIR").map(PathBuf::from);
        Environment {
            cookie: variable("TF_PLUGIN_MAGIC_COOKIE"),
            versions: variable("PLUGIN_PROTOCOL_VERSIONS"),
            client_certificate: variable("PLUGIN_CLIENT_CERT"),
            socket_directories: chosen.into_iter().chain([std::env::temp_dir(), PathBuf::from("/tmp")]).collect(),
            connect_timeout: Duration::from_secs(60),
            idle_timeout: Duration::from_secs(5),
        }
    }

    /// Whether Terraform started this process.
    pub fn is_started_by_terraform(&self) -> bool {
        self.cookie.as_deref() == Some(COOKIE)
    }

    /// Checks that Terraform supports our version of the protocol. The error is a message for the user.
    pub(super) fn check_version(&self) -> Result<(), String> {
        let versions = self.versions.as_deref().unwrap_or_default();
        if versions.split(',').any(|version| version.trim() == VERSION) {
            return Ok(());
        }
        Err(format!(
            "This provider requires plugin protocol version {VERSION}, but Terraform offers \"{versions}\". \
             Use Terraform 1.8 or later, or OpenTofu.",
        ))
    }
}

/// The path of a socket in a directory that only this user can access. Dropping it removes the directory.
pub(super) struct SocketPlace {
    pub path: PathBuf,
    _directory: TempDir,
}

/// Creates the directory of the socket in the first usable one of these directories.
pub(super) fn socket_place(directories: &[PathBuf]) -> Result<SocketPlace, String> {
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

fn socket_place_in(directory: &Path) -> io::Result<SocketPlace> {
    // The directory is created with its mode, so that other users can never access it.
    let created =
        tempfile::Builder::new().prefix("plugin-").permissions(Permissions::from_mode(0o700)).tempdir_in(directory)?;
    let path = created.path().join("socket");
    if path.as_os_str().len() > LONGEST_PATH || path.to_str().is_none_or(|path| path.contains('|')) {
        return Err(io::Error::new(io::ErrorKind::InvalidFilename, "the path is too long, not UTF-8, or contains |"));
    }
    Ok(SocketPlace { path, _directory: created })
}

/// The handshake line: version of the handshake, version of the protocol, kind of address, address, kind of protocol,
/// certificate. Without TLS the last field must be empty: Terraform panics on a certificate that it did not request.
pub(super) fn line(socket: &Path, certificate: Option<&[u8]>) -> String {
    let certificate = certificate.map(|der| STANDARD_NO_PAD.encode(der)).unwrap_or_default();
    format!("1|{VERSION}|unix|{}|grpc|{certificate}", socket.display())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn environment(versions: Option<&str>) -> Environment {
        Environment { versions: versions.map(str::to_string), ..Environment::of_process() }
    }

    #[test]
    fn version_six_is_accepted_at_any_position_in_the_list() {
        for versions in ["6", "5,6", "6,5", "7, 6"] {
            assert_eq!(environment(Some(versions)).check_version(), Ok(()), "{versions}");
        }
        for versions in [None, Some("5"), Some("16,60")] {
            assert!(environment(versions).check_version().unwrap_err().contains("version 6"), "{versions:?}");
        }
    }

    #[test]
    fn only_the_magic_cookie_identifies_terraform() {
        for (cookie, is_terraform) in [(Some(COOKIE), true), (Some("x"), false), (None, false)] {
            let environment = Environment { cookie: cookie.map(str::to_string), ..environment(None) };
            assert_eq!(environment.is_started_by_terraform(), is_terraform);
        }
    }

    #[test]
    fn the_socket_directory_is_private_and_removed_on_drop() {
        let place = socket_place(&[std::env::temp_dir()]).unwrap();
        let directory = place.path.parent().unwrap().to_path_buf();
        assert_eq!(directory.metadata().unwrap().permissions().mode() & 0o777, 0o700);
        drop(place);
        assert!(!directory.exists());
    }

    #[test]
    fn unusable_socket_directories_are_skipped() {
        let outer = tempfile::tempdir().unwrap();
        let long = outer.path().join("x".repeat(90));
        std::fs::create_dir(&long).unwrap();
        let missing = outer.path().join("missing");
        let place = socket_place(&[long.clone(), missing.clone(), PathBuf::from("/tmp")]).unwrap();
        assert!(place.path.starts_with("/tmp") && place.path.as_os_str().len() <= LONGEST_PATH);
        assert_eq!(std::fs::read_dir(&long).unwrap().count(), 0);
        let error = socket_place(&[long.clone(), missing]).err().unwrap();
        assert!(error.contains(long.to_str().unwrap()) && error.contains("TMPDIR"), "{error}");
    }

    #[test]
    fn the_line_has_six_fields_and_the_last_is_empty_without_tls() {
        assert_eq!(line(Path::new("/tmp/a/socket"), None), "1|6|unix|/tmp/a/socket|grpc|");
        assert_eq!(line(Path::new("/s"), Some(&[0, 1, 2, 3])), "1|6|unix|/s|grpc|AAECAw");
    }
}
