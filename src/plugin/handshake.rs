//! What Terraform and a plugin tell each other before the first call: environment variables one way, one
//! line on stdout the other way.

use std::fs::Permissions;
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use base64::Engine;
use base64::engine::general_purpose::STANDARD_NO_PAD;
use tempfile::TempDir;

/// Terraform's way to say "I am Terraform" to a plugin. Not a secret.
const COOKIE: &str = "d602bf8f470bc67ca7faa0386276bbdd4330efaf76d1a219cb4d6991ca9872b2";
/// The protocol version that we speak.
const VERSION: &str = "6";
/// The address of a Unix socket holds 104 bytes on macOS and 108 on Linux, with a zero at the end.
const LONGEST_PATH: usize = 100;

/// What the process that started us says, and how patient we are with it.
#[derive(Clone, Debug)]
pub struct Environment {
    /// `TF_PLUGIN_MAGIC_COOKIE`.
    pub cookie: Option<String>,
    /// `PLUGIN_PROTOCOL_VERSIONS`, a list with commas in any order.
    pub versions: Option<String>,
    /// `PLUGIN_CLIENT_CERT`, PEM. Without it there is no TLS.
    pub client_certificate: Option<String>,
    /// Where to put the socket, best first.
    pub socket_directories: Vec<PathBuf>,
    /// How long to wait for the first connection.
    pub patience: Duration,
    /// How long to stay when the last connection is gone and no work is running.
    pub grace: Duration,
}

impl Environment {
    /// The environment of this process. Its temporary directory may have a path that is too long, so `/tmp`
    /// is the last resort.
    pub fn of_process() -> Environment {
        let variable = |name| std::env::var(name).ok().filter(|value| !value.is_empty());
        let chosen = variable("PLUGIN_UNIX_SOCKET_DIR").map(PathBuf::from);
        Environment {
            cookie: variable("TF_PLUGIN_MAGIC_COOKIE"),
            versions: variable("PLUGIN_PROTOCOL_VERSIONS"),
            client_certificate: variable("PLUGIN_CLIENT_CERT"),
            socket_directories: chosen.into_iter().chain([std::env::temp_dir(), PathBuf::from("/tmp")]).collect(),
            patience: Duration::from_secs(60),
            grace: Duration::from_secs(5),
        }
    }

    /// Whether Terraform started this process, and not a person.
    pub fn is_of_terraform(&self) -> bool {
        self.cookie.as_deref() == Some(COOKIE)
    }

    /// Whether we speak a protocol that Terraform speaks. The error is for the user.
    pub(super) fn check_version(&self) -> Result<(), String> {
        let versions = self.versions.as_deref().unwrap_or_default();
        if versions.split(',').any(|version| version.trim() == VERSION) {
            return Ok(());
        }
        Err(format!(
            "Terraform offers plugin protocol \"{versions}\", and this provider speaks version {VERSION}. \
             Use Terraform 1.8 or later, or OpenTofu.",
        ))
    }
}

/// A directory that only this user can enter, removed when dropped, and the path of a socket in it.
pub(super) struct SocketPlace {
    pub path: PathBuf,
    _directory: TempDir,
}

/// Makes a place for the socket in the first directory that takes one.
pub(super) fn socket_place(directories: &[PathBuf]) -> Result<SocketPlace, String> {
    let mut refusals = String::new();
    for directory in directories {
        match socket_place_in(directory) {
            Ok(place) => return Ok(place),
            Err(error) => refusals.push_str(&format!("\n  {}: {error}", directory.display())),
        }
    }
    Err(format!("There is no place for a Unix socket. Set TMPDIR to a short, writable directory. Tried:{refusals}"))
}

fn socket_place_in(directory: &Path) -> io::Result<SocketPlace> {
    // In one step, so that the directory is never open to others.
    let made =
        tempfile::Builder::new().prefix("plugin-").permissions(Permissions::from_mode(0o700)).tempdir_in(directory)?;
    let path = made.path().join("socket");
    if path.as_os_str().len() > LONGEST_PATH || path.to_str().is_none_or(|path| path.contains('|')) {
        return Err(io::Error::new(io::ErrorKind::InvalidFilename, "the path is too long, or not plain text"));
    }
    Ok(SocketPlace { path, _directory: made })
}

/// The line that tells Terraform where to connect: version of the handshake, version of the protocol, kind of
/// address, address, kind of protocol, certificate. Where TLS is off the last field must be empty: Terraform
/// ends with a panic on a certificate that it has not asked for.
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
    fn version_six_is_found_wherever_it_stands_in_the_list() {
        for versions in ["6", "5,6", "6,5", "7, 6"] {
            assert_eq!(environment(Some(versions)).check_version(), Ok(()), "{versions}");
        }
        for versions in [None, Some("5"), Some("16,60")] {
            assert!(environment(versions).check_version().unwrap_err().contains("version 6"), "{versions:?}");
        }
    }

    #[test]
    fn only_the_right_cookie_is_terraforms() {
        for (cookie, is_terraform) in [(Some(COOKIE), true), (Some("x"), false), (None, false)] {
            let environment = Environment { cookie: cookie.map(str::to_string), ..environment(None) };
            assert_eq!(environment.is_of_terraform(), is_terraform);
        }
    }

    #[test]
    fn the_socket_stands_in_a_private_directory_that_goes_with_it() {
        let place = socket_place(&[std::env::temp_dir()]).unwrap();
        let directory = place.path.parent().unwrap().to_path_buf();
        assert_eq!(directory.metadata().unwrap().permissions().mode() & 0o777, 0o700);
        drop(place);
        assert!(!directory.exists());
    }

    #[test]
    fn a_directory_with_a_long_path_or_without_access_gives_way_to_the_next() {
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
