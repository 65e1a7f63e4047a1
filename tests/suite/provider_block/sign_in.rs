//! Profiles that sign in through IAM Identity Center (`aws sso login`).

use serde_json::json;

use super::{assert_signed_by, endpoints, with_block};
use crate::support::proxy::Proxy;
use crate::support::scripted::{Asked, Scripted};
use crate::support::terraform::Workspace;

/// The same sign-in in two forms: `people`, and the older form `elders`. `deploy` is a role with the source `people`.
const PROFILES: &str = "[profile people]\nregion = eu-west-1\nsso_session = corp\nsso_account_id = 210987654321\n\
     sso_role_name = network\n[sso-session corp]\nsso_region = eu-west-3\nsso_start_url = https://corp.awsapps.test/start\n\
     [profile elders]\nregion = eu-west-1\nsso_start_url = https://corp.awsapps.test/start\nsso_region = eu-west-3\n\
     sso_account_id = 210987654321\nsso_role_name = network\n\
     [profile deploy]\nregion = eu-west-1\nrole_arn = arn:aws:iam::123456789012:role/deploy\nsource_profile = people\n";

/// The file name under which the AWS CLI caches the token of session `corp`: the SHA-1 of `corp`.
const OF_SESSION: &str = "ee0bfd2552fbd840c02cc48b6e823320543c450f";

/// The same for the start URL, which the older form uses instead of a session.
const OF_START_URL: &str = "ef23e9c34ca711a4bdace0fafbe6686f96b587d8";

/// Returns credentials for the tokens `valid` and `renewed`, and renews a token with the refresh token `again`.
fn portal() -> Scripted {
    Scripted::answering(|asked: &Asked| match asked.target.split('?').next().unwrap_or_default() {
        "/federation/credentials" if ["valid", "renewed"].contains(&asked.header("x-amz-sso_bearer_token")) => {
            let keys = json!({
                "accessKeyId": "AKIDPEOPLE", "secretAccessKey": "s", "sessionToken": "t", "expiration": 4_102_444_800_000_u64
            });
            (200, json!({ "roleCredentials": keys }).to_string())
        }
        "/federation/credentials" => (
            401,
            json!({"__type": "UnauthorizedException", "message": "Session token not found or invalid"}).to_string(),
        ),
        "/token" if asked.body.contains("\"again\"") => {
            (200, json!({"accessToken": "renewed", "tokenType": "Bearer", "expiresIn": 3600}).to_string())
        }
        _ => (400, json!({"error": "invalid_grant"}).to_string()),
    })
}

/// A workspace that signs in with `profile`, and a token file with these members.
fn signed_in(proxy: &Proxy, portal: &Scripted, profile: &str, token: Option<serde_json::Value>) -> Workspace {
    let mut workspace = with_block(&format!("  profile = \"{profile}\"\n  max_retries = 1\n{}", endpoints(proxy)));
    workspace.env("AWS_ENDPOINT_URL_SSO", &portal.url());
    workspace.env("AWS_ENDPOINT_URL_SSO_OIDC", &portal.url());
    std::fs::create_dir_all(workspace.path().join(".aws/sso/cache")).expect("the directory is ours");
    workspace.write(".aws/config", PROFILES);
    if let Some(token) = token {
        for name in [OF_SESSION, OF_START_URL] {
            workspace.write(&format!(".aws/sso/cache/{name}.json"), &token.to_string());
        }
    }
    workspace
}

fn token(access_token: &str, expires: &str) -> serde_json::Value {
    json!({
        "startUrl": "https://corp.awsapps.test/start", "region": "eu-west-3", "accessToken": access_token, "expiresAt": expires
    })
}

const PAST: &str = "2020-01-01T00:00:00Z";
const FUTURE: &str = "2099-01-01T00:00:00Z";

#[test]
fn a_sign_in_gives_the_credentials_of_its_account_and_role() {
    let proxy = Proxy::moto();
    for profile in ["people", "elders"] {
        let portal = portal();
        let workspace = signed_in(&proxy, &portal, profile, Some(token("valid", FUTURE)));
        proxy.clear_calls();
        assert_signed_by(profile, &workspace, &proxy, "AKIDPEOPLE", "eu-west-1");
        let expected = ["GET /federation/credentials?role_name=network&account_id=210987654321"];
        assert_eq!(portal.lines(), expected, "{profile}");
        assert_eq!(portal.requests()[0].header("authorization"), "", "the request has no signature");
    }
}

#[test]
fn expired_sign_in_is_renewed_with_its_refresh_token() {
    let proxy = Proxy::moto();
    let portal = portal();
    let mut ended = token("ended", PAST);
    for (name, value) in
        [("clientId", "c"), ("clientSecret", "s"), ("refreshToken", "again"), ("registrationExpiresAt", FUTURE)]
    {
        ended[name] = value.into();
    }
    let workspace = signed_in(&proxy, &portal, "people", Some(ended));
    assert_signed_by("renewed", &workspace, &proxy, "AKIDPEOPLE", "eu-west-1");
    assert_eq!(portal.lines()[0], "POST /token");
    assert_eq!(portal.requests()[1].header("x-amz-sso_bearer_token"), "renewed");
    let kept = std::fs::read_to_string(workspace.path().join(format!(".aws/sso/cache/{OF_SESSION}.json")));
    assert!(kept.expect("the AWS CLI uses the same file").contains("renewed"));
}

#[test]
fn error_for_an_ended_sign_in_names_the_command() {
    let proxy = Proxy::moto();
    let portal = portal();
    for (case, profile, of_profile, token) in [
        ("expired", "people", "people", Some(token("ended", PAST))),
        ("never signed in", "people", "people", None),
        ("revoked", "people", "people", Some(token("revoked", FUTURE))),
        ("the older form", "elders", "elders", Some(token("revoked", FUTURE))),
        ("source of a role", "deploy", "people", Some(token("ended", PAST))),
    ] {
        let run = signed_in(&proxy, &portal, profile, token).plan(&[]);
        run.failed_with("Could not configure the provider: sign-in required");
        run.failed_with(&format!("Profile \"{of_profile}\" signs in through IAM Identity Center"));
        run.failed_with(&format!("run: aws sso login --profile {of_profile}"));
        assert!(!run.says("revoked"), "{case}: the message contains the token:\n{run}");
        assert!(run.says("The cause: "), "{case}: {run}");
    }
    assert_eq!(proxy.calls().len(), 0, "the provider does not call AWS without credentials");
}
