//! The handshake of Terraform and a plugin before the first call: Terraform sets environment variables, and the plugin
//! prints one line on stdout.

use std::time::Duration;

use base64::Engine;
use base64::engine::general_purpose::STANDARD_NO_PAD;

use super::platform::Parent;
use super::transport::Transport;

/// The magic cookie by which a plugin recognizes Terraform. It is not a secret.
const COOKIE: &str = "d602bf8f470bc67ca7faa0386276bbdd4330efaf76d1a219cb4d6991ca9872b2";
/// The supported version of the plugin protocol.
const VERSION: u32 = 6;
/// The environment variables of the handshake, and the timeouts of the process.
#[derive(Clone, Debug)]
pub struct Environment {
    /// `TF_PLUGIN_MAGIC_COOKIE`.
    pub cookie: Option<String>,
    /// `PLUGIN_PROTOCOL_VERSIONS`, a comma-separated list in any order.
    pub versions: Option<String>,
    /// `PLUGIN_CLIENT_CERT`, in PEM. If it is not set, connections do not use TLS.
    pub client_certificate: Option<String>,
    /// Where the server listens.
    pub transport: Transport,
    /// How long to wait for the first connection.
    pub connect_timeout: Duration,
    /// The process that started this one.
    pub parent: Parent,
    /// Whether the process serves any number of runs of Terraform, one after another, and ignores `Shutdown`.
    pub outlives_terraform: bool,
}

/// An environment variable of this process, if it is not empty.
fn variable(name: &str) -> Option<String> {
    std::env::var(name).ok().filter(|value| !value.is_empty())
}

impl Environment {
    /// Reads the environment of this process.
    pub fn of_process() -> Environment {
        Environment {
            cookie: variable("TF_PLUGIN_MAGIC_COOKIE"),
            versions: variable("PLUGIN_PROTOCOL_VERSIONS"),
            client_certificate: variable("PLUGIN_CLIENT_CERT"),
            transport: transport(),
            connect_timeout: Duration::from_secs(60),
            parent: Parent::of_process(),
            outlives_terraform: false,
        }
    }

    /// The environment of a process that a user starts, and that any Terraform of this user can connect to, without a
    /// handshake and without TLS.
    pub fn of_debugging() -> Environment {
        Environment {
            cookie: None,
            versions: Some(VERSION.to_string()),
            client_certificate: None,
            transport: transport(),
            connect_timeout: Duration::MAX,
            parent: Parent::immortal(),
            outlives_terraform: true,
        }
    }

    /// Whether Terraform started this process.
    pub fn is_started_by_terraform(&self) -> bool {
        self.cookie.as_deref() == Some(COOKIE)
    }

    /// Checks that Terraform supports our version of the protocol. The error is a message for the user.
    pub(super) fn check_version(&self) -> Result<(), String> {
        let versions = self.versions.as_deref().unwrap_or_default();
        if versions.split(',').any(|version| version.trim().parse() == Ok(VERSION)) {
            return Ok(());
        }
        Err(format!(
            "This provider requires plugin protocol version {VERSION}, but Terraform offers \"{versions}\". \
             Use Terraform 1.8 or later, or OpenTofu.",
        ))
    }
}

/// The usual transport of plugins on this platform. `/tmp` is the last of the directories for a Unix socket, because
/// the path of the temporary directory may be too long.
#[cfg(unix)]
fn transport() -> Transport {
    let chosen = variable("PLUGIN_UNIX_SOCKET_DIR").map(Into::into);
    Transport::Unix { directories: chosen.into_iter().chain([std::env::temp_dir(), "/tmp".into()]).collect() }
}

/// The usual transport of plugins on this platform.
#[cfg(windows)]
fn transport() -> Transport {
    Transport::Tcp { first: variable("PLUGIN_MIN_PORT"), last: variable("PLUGIN_MAX_PORT") }
}

/// The way to connect to a server that is ready.
#[derive(Clone, Debug, PartialEq)]
pub struct Offer {
    /// The kind of the address: `unix` or `tcp`.
    pub network: &'static str,
    /// The path of the socket, or the IP address and the port.
    pub address: String,
    /// The certificate of the server, in DER. `None` without TLS.
    pub certificate: Option<Vec<u8>>,
}

impl Offer {
    /// The handshake line: version of the handshake, version of the protocol, kind of address, address, kind of
    /// protocol, certificate. Without TLS the last field must be empty: Terraform panics on a certificate that it did
    /// not request.
    pub fn line(&self) -> String {
        let certificate = self.certificate.as_ref().map(|der| STANDARD_NO_PAD.encode(der)).unwrap_or_default();
        format!("1|{VERSION}|{}|{}|grpc|{certificate}", self.network, self.address)
    }

    /// The variable with which Terraform uses this server, which has this process ID, as the provider with these source
    /// addresses, in the syntax of a POSIX shell. Terraform and OpenTofu each complete an address without a host with
    /// their own default.
    pub fn reattachment(&self, process: u32, sources: &[String]) -> String {
        let reattached = serde_json::json!({
            "Protocol": "grpc",
            "ProtocolVersion": VERSION,
            "Pid": process,
            // Terraform must not end the process.
            "Test": true,
            "Addr": { "Network": self.network, "String": self.address },
        });
        let all: serde_json::Map<_, _> = sources.iter().map(|source| (source.clone(), reattached.clone())).collect();
        format!("TF_REATTACH_PROVIDERS='{}'", serde_json::Value::from(all).to_string().replace('\'', r"'\''"))
    }
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
    fn the_line_has_six_fields_and_the_last_is_empty_without_tls() {
        let offer = Offer { network: "unix", address: "/tmp/a/socket".to_string(), certificate: None };
        assert_eq!(offer.line(), "1|6|unix|/tmp/a/socket|grpc|");
        let certificate = Some(vec![0, 1, 2, 3]);
        let offer = Offer { network: "tcp", address: "127.0.0.1:1234".to_string(), certificate };
        assert_eq!(offer.line(), "1|6|tcp|127.0.0.1:1234|grpc|AAECAw");
    }

    #[test]
    fn a_reattachment_names_each_source_and_quotes_the_path() {
        let offer = Offer { network: "unix", address: "/it's/socket".to_string(), certificate: None };
        let text = offer.reattachment(7, &["acme/acme".to_string(), "example.com/a/acme".to_string()]);
        let json = text.strip_prefix("TF_REATTACH_PROVIDERS='").and_then(|text| text.strip_suffix('\'')).unwrap();
        let json: serde_json::Value = serde_json::from_str(&json.replace(r"'\''", "'")).unwrap();
        let address = serde_json::json!({ "Network": "unix", "String": "/it's/socket" });
        let expected = serde_json::json!({
            "Protocol": "grpc", "ProtocolVersion": 6, "Pid": 7, "Test": true, "Addr": address
        });
        assert_eq!(json, serde_json::json!({ "acme/acme": expected, "example.com/a/acme": expected }));
    }
}
