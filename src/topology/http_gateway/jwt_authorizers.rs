//! JWT authorizers: their inputs, their checks, and the way back.

use std::collections::{BTreeMap, BTreeSet};

use crate::model::{JwtAuthorizer, Key};
use crate::plugin::{AttributePath, Check, Input, Problem, Value};

/// The longest URL of an issuer, in bytes.
const LONGEST_ISSUER: usize = 2048;

/// The largest number of audiences.
const MOST_AUDIENCES: usize = 50;

/// The default identity source.
const AUTHORIZATION: &str = "$request.header.Authorization";

/// The end of the URL of a discovery document.
const DISCOVERY: &str = "/.well-known/openid-configuration";

crate::attributes! {
    /// An issuer of tokens.
    pub struct JwtConfig: Encode {
        /// Issuer of the tokens: an `https` URL, exactly as in their claim `iss`, with or without a slash at its end.
        /// API Gateway reads `<issuer>/.well-known/openid-configuration` when the authorizer is created or changed, so
        /// the issuer must be reachable from the internet. The keys must be RSA keys; API Gateway may cache them for
        /// two hours. Tokens of another issuer are rejected as soon as a change is deployed.
        issuer: Input<String> = required().check(issuer()).in_place(),
        /// 1 to 50 values, one of which a token must contain in its claim `aud` or, without it, `client_id`.
        audience: Input<BTreeSet<Input<String>>> = required().check(audience()).in_place(),
        /// Part of the request that contains the token, as a list of one element: `$request.header.<name>` or
        /// `$request.querystring.<name>`. A token may begin with `Bearer `. Defaults to
        /// `["$request.header.Authorization"]`.
        identity_sources: Input<Option<Vec<Input<String>>>> = optional().check(identity_sources()).in_place(),
    }
}

fn issuer() -> Check {
    Check::text("the https URL in the claim iss of the tokens, without a query or a fragment", |text| {
        let host = text.strip_prefix("https://").map(|rest| rest.split('/').next().unwrap_or_default());
        if text.len() > LONGEST_ISSUER {
            return Err(format!("The issuer has {} bytes; {LONGEST_ISSUER} are allowed.", text.len()));
        }
        if let Some(issuer) = text.strip_suffix(DISCOVERY) {
            return Err(format!("{text:?} is the URL of a discovery document; the issuer may be {issuer:?}."));
        }
        match host {
            None | Some("") => Err(format!("{text:?} is not an https URL.")),
            Some(_) if text.contains(['?', '#']) => Err(format!("{text:?} has a query or a fragment.")),
            Some(_) if text.contains(char::is_whitespace) => Err(format!("{text:?} contains a space.")),
            Some(_) => Ok(()),
        }
    })
}

/// The warnings about the domain on which users of Cognito sign in, which is not the issuer of their tokens (developer
/// guide of Amazon Cognito). API Gateway finds no discovery document there.
pub(super) fn warnings(authorizers: &Input<BTreeMap<String, Input<JwtConfig>>>) -> Vec<Problem> {
    let warning = |(name, entry): (&String, &Input<JwtConfig>)| {
        let issuer = entry.known()?.issuer.known()?;
        let host = issuer.strip_prefix("https://")?.split('/').next()?;
        host.ends_with(".amazoncognito.com").then(|| {
            Problem::new(
                AttributePath::new("jwt_authorizers").key(name).attribute("issuer"),
                format!("{issuer:?} is a domain on which users of Amazon Cognito sign in, not the issuer of tokens."),
                "The issuer is https://cognito-idp.<Region>.amazonaws.com/<user pool ID>.",
            )
        })
    };
    authorizers.known().into_iter().flatten().filter_map(warning).collect()
}

fn audience() -> Check {
    Check::new(format!("1 to {MOST_AUDIENCES} client or API IDs"), |value| {
        let Value::List(items) = value else { return Ok(()) };
        match items.len() {
            0 => {
                Err("audience is empty, so tokens that the issuer made for other applications could be accepted."
                    .into())
            }
            count if count > MOST_AUDIENCES => {
                Err(format!("There are {count} audiences; {MOST_AUDIENCES} are allowed."))
            }
            _ if items.iter().any(|it| it.as_str() == Some("")) => Err("An audience is empty.".into()),
            _ => Ok(()),
        }
    })
}

fn identity_sources() -> Check {
    let rule = "one element: $request.header or $request.querystring, a dot, and a name";
    Check::new(rule, |value| {
        let Value::List(items) = value else { return Ok(()) };
        let [source] = &items[..] else {
            return Err(format!("There are {} identity sources; a JWT authorizer has exactly one.", items.len()));
        };
        let Some(source) = source.as_str() else { return Ok(()) };
        let names = ["$request.header.", "$request.querystring."];
        let name = names.iter().find_map(|prefix| source.strip_prefix(prefix));
        match name {
            Some(name) if !name.is_empty() && !name.contains([' ', ',', '$', '&', '=']) => Ok(()),
            _ => Err(format!("{source:?} is not an identity source of a JWT authorizer.")),
        }
    })
}

/// Reports names that AWS does not accept, and those of request authorizers.
pub(super) fn problems<J, R>(
    entries: &Input<BTreeMap<String, J>>,
    request: &Input<BTreeMap<String, R>>,
) -> Vec<Problem> {
    let names = entries.known().into_iter().flat_map(BTreeMap::keys);
    let path = |name: &str| AttributePath::new("jwt_authorizers").key(name);
    let problem = |name: &String| {
        let length = name.chars().count();
        if request.known().is_some_and(|others| others.contains_key(name)) {
            let message =
                format!("{name:?} is a key of faas_authorizers too; names of authorizers are unique in an API.");
            return Some(Problem::new(path(name), message, "Choose another key in one of them."));
        }
        (!(1..=128).contains(&length)).then(|| {
            let message = format!("The authorizer name {name:?} has {length} characters; API Gateway allows 1 to 128.");
            Problem::new(path(name), message, "Choose another key.")
        })
    };
    names.filter_map(problem).collect()
}

/// The authorizer that an entry describes.
pub(super) fn spec(api: &Key, name: &str, entry: &Input<JwtConfig>) -> JwtAuthorizer {
    let of = |value: Option<String>| value.map_or(Input::Unknown, Input::Known);
    let entry = entry.known();
    JwtAuthorizer {
        api: api.clone(),
        name: name.to_string(),
        issuer: of(entry.and_then(|it| it.issuer.known().cloned())),
        audience: entry.map_or(Input::Unknown, |it| known_set(&it.audience)),
        identity_source: of(entry.and_then(|it| match it.identity_sources.known()?.as_deref() {
            Some([source]) => source.known().cloned(),
            _ => Some(AUTHORIZATION.to_string()),
        })),
    }
}

/// The elements of a set; unknown if one of them is.
pub(super) fn known_set(set: &Input<BTreeSet<Input<String>>>) -> Input<BTreeSet<String>> {
    let elements = set.known().and_then(|set| set.iter().map(|it| it.known().cloned()).collect());
    elements.map_or(Input::Unknown, Input::Known)
}

impl JwtConfig {
    /// The entry that describes an authorizer without depending on defaults.
    pub(super) fn of(spec: &JwtAuthorizer) -> JwtConfig {
        JwtConfig {
            issuer: spec.issuer.clone(),
            audience: spec.audience.clone().map(|all| all.into_iter().map(Input::Known).collect()),
            identity_sources: spec.identity_source.clone().map(|source| Some(vec![Input::Known(source)])),
        }
    }

    /// The shortest entry that describes an authorizer.
    pub(super) fn shortest(spec: &JwtAuthorizer) -> JwtConfig {
        let is_default = spec.identity_source == Input::Known(AUTHORIZATION.to_string());
        let all = JwtConfig::of(spec);
        JwtConfig { identity_sources: if is_default { Input::Known(None) } else { all.identity_sources }, ..all }
    }
}
