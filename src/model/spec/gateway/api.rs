//! The HTTP API of a gateway.

use serde::{Deserialize, Serialize};

use super::in_order;
use crate::model::spec::kind::{Counterpart, Identity, Kind, WhenInUse, of, tagged};
use crate::model::{Learned, LeftBehind, Need, Tags};
use crate::plugin::Input;

/// An HTTP API, the root of a gateway. Key `api`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Api {
    /// Its name, also stored in the ownership tag.
    pub name: Input<String>,
    /// Description; an empty string in AWS is `None`.
    pub description: Input<Option<String>>,
    /// Version identifier; an empty string in AWS is `None`.
    pub version: Input<Option<String>>,
    /// CORS configuration.
    pub cors: Input<Option<Cors>>,
    /// Whether its own endpoint is disabled.
    #[serde(default)]
    pub disable_endpoint: Input<bool>,
    /// [`Api::IPV4`] or [`Api::DUALSTACK`].
    #[serde(default = "Api::ipv4")]
    pub ip_address_type: Input<String>,
    /// Tags.
    pub tags: Tags,
}

/// A CORS configuration. Absent lists are empty.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Cors {
    /// Whether browsers may send credentials.
    pub allow_credentials: bool,
    /// Allowed request headers.
    pub allow_headers: Vec<String>,
    /// Allowed methods.
    pub allow_methods: Vec<String>,
    /// Allowed origins.
    pub allow_origins: Vec<String>,
    /// Headers that scripts may read.
    pub expose_headers: Vec<String>,
    /// Time in seconds for which a browser may cache a preflight response.
    pub max_age: Option<i64>,
}

impl Kind for Api {
    fn kind(&self) -> &'static str {
        "HTTP API"
    }

    fn identity(&self) -> Identity {
        Identity::Key("a gateway has one")
    }

    fn counterpart(&self) -> Counterpart {
        Counterpart {
            description: "The HTTP API, to which all other objects belong. It is created first and alone.",
            resource: "aws_apigatewayv2_api",
            import_id: "API_ID",
            attributes: &[
                ("name", &["name"]),
                ("description", &["description"]),
                ("version", &["version"]),
                ("cors", &["cors_configuration"]),
                ("disable_endpoint", &["disable_execute_api_endpoint"]),
                ("ip_address_type", &["ip_address_type"]),
                ("tags", &["tags"]),
            ],
        }
    }

    fn when_in_use(&self) -> WhenInUse {
        // An update never deletes the root.
        WhenInUse::Error
    }

    /// The plan lists the unmanaged routes, stages and authorizers that AWS deletes with an API. Its other settings
    /// belong to WebSocket APIs.
    fn left_behind(&self, _learned: &Learned, _new: &dyn Kind) -> Vec<LeftBehind> {
        Vec::new()
    }

    fn needs(&self) -> Vec<Need> {
        Vec::new()
    }

    tagged!();

    fn is_root(&self) -> bool {
        true
    }

    /// AWS may return an equivalent CORS configuration in another form.
    fn mask_unowned(&mut self, wanted: &dyn Kind) {
        let Some(wanted) = of::<Api>(wanted) else { return };
        if let (Input::Known(found), Input::Known(cors)) = (&self.cors, &wanted.cors)
            && is_equivalent(found, cors)
        {
            self.cors = wanted.cors.clone();
        }
    }
}

impl Api {
    /// The IP address type of endpoints with IPv4 addresses only.
    pub const IPV4: &'static str = "ipv4";
    /// The IP address type of endpoints with IPv4 and IPv6 addresses.
    pub const DUALSTACK: &'static str = "dualstack";

    /// The type of an endpoint in a state from before there was a choice.
    pub(super) fn ipv4() -> Input<String> {
        Input::Known(Api::IPV4.to_string())
    }
}

/// Whether two CORS configurations are equal except for the order of lists and the case of headers and origins, which
/// AWS may change, and for an empty configuration and a cache time of 0, which AWS does not return.
fn is_equivalent(one: &Option<Cors>, other: &Option<Cors>) -> bool {
    let plain = |cors: &Option<Cors>| {
        let cors = cors.clone().unwrap_or_default();
        Cors {
            allow_credentials: cors.allow_credentials,
            allow_headers: in_order(&cors.allow_headers, str::to_lowercase),
            allow_methods: in_order(&cors.allow_methods, str::to_string),
            allow_origins: in_order(&cors.allow_origins, str::to_lowercase),
            expose_headers: in_order(&cors.expose_headers, str::to_lowercase),
            max_age: cors.max_age.filter(|seconds| *seconds != 0),
        }
    };
    plain(one) == plain(other)
}
