//! Tests of the connection, from a provider block to a session. A test that depends on environment variables runs in
//! its own process, because a process has only one environment.

use std::sync::atomic::{AtomicUsize, Ordering};

use aws_config::provider_config::ProviderConfig;
use aws_credential_types::provider::ProvideCredentials;
use aws_smithy_runtime_api::client::http::{HttpConnector, HttpConnectorFuture, SharedHttpConnector, http_client_fn};
use aws_smithy_runtime_api::client::orchestrator::HttpRequest;
use aws_smithy_runtime_api::client::result::ConnectorError;

use super::*;
use crate::aws::config::loopback::{Loopback, Seen, tunnel_to};
use crate::model::Lookup;
use crate::plugin::Value;
use crate::provider::block::ProviderBlock;

async fn connect(settings: &Settings, terraform_version: &str) -> Result<Session, ConfigError> {
    let (account, _) = super::connect(settings, terraform_version).await?;
    Ok(account.session(account.region()))
}

fn block(arguments: &[(&str, Value)]) -> Settings {
    let (block, problems) = ProviderBlock::known_part(&Value::map(arguments.iter().cloned()));
    assert_eq!(problems, []);
    block.unwrap().settings()
}

/// A block with a Region, keys, and one endpoint for everything.
fn keys_and_endpoint(url: &str, more: &[(&str, Value)]) -> Settings {
    let endpoints = Value::map([("sts", url.into()), ("ec2", url.into())]);
    let mut arguments = vec![
        ("region", "eu-central-1".into()),
        ("access_key", "AKIDBLOCK".into()),
        ("secret_key", "open sesame".into()),
        ("endpoints", Value::List(vec![endpoints])),
    ];
    arguments.extend(more.iter().cloned());
    block(&arguments)
}

fn without_check() -> [(&'static str, Value); 2] {
    [("skip_credentials_validation", true.into()), ("skip_requesting_account_id", true.into())]
}

/// Recorded: GetCallerIdentity of a role.
fn identity(account: &str, partition: &str) -> Option<(u16, String)> {
    let body = format!(
        "<GetCallerIdentityResponse xmlns=\"https://sts.amazonaws.com/doc/2011-06-15/\"><GetCallerIdentityResult>\
         <Arn>arn:{partition}:sts::{account}:assumed-role/r/s</Arn><UserId>AROA:s</UserId><Account>{account}</Account>\
         </GetCallerIdentityResult><ResponseMetadata><RequestId>01234567-89ab-cdef-0123-456789abcdef</RequestId>\
         </ResponseMetadata></GetCallerIdentityResponse>"
    );
    Some((200, body))
}

fn role_credentials(key: &str, action: &str) -> Option<(u16, String)> {
    let body = format!(
        "<{action}Response><{action}Result><Credentials><AccessKeyId>{key}</AccessKeyId>\
         <SecretAccessKey>s</SecretAccessKey><SessionToken>t</SessionToken>\
         <Expiration>2099-01-01T00:00:00Z</Expiration></Credentials></{action}Result></{action}Response>"
    );
    Some((200, body))
}

async fn sts() -> Loopback {
    Loopback::http(|_, seen| {
        if seen.has("Action=AssumeRole") {
            let hop = if seen.body.contains("first") { "AKIDFIRST" } else { "AKIDSECOND" };
            role_credentials(hop, "AssumeRole")
        } else if seen.has("Action=AssumeRoleWithWebIdentity") {
            role_credentials("AKIDWEB", "AssumeRoleWithWebIdentity")
        } else {
            identity("123456789012", "aws")
        }
    })
    .await
}

const CHILD: &str = "FGW_TEST_CHILD";

/// Runs a test of this file again in a child process that has only these variables. In the child process it returns
/// true, and the test continues.
async fn alone(test: &str, variables: &[(&str, &str)]) -> bool {
    if std::env::var_os(CHILD).is_some() {
        return true;
    }
    let home = tempfile::tempdir().unwrap();
    let (_, module) = module_path!().split_once("::").unwrap();
    let output = tokio::process::Command::new(std::env::current_exe().unwrap())
        .args([&format!("{module}::{test}"), "--exact", "--nocapture"])
        .env_clear()
        .env(CHILD, "1")
        .env("HOME", home.path())
        .env("AWS_EC2_METADATA_DISABLED", "true")
        .envs(variables.iter().copied())
        .output()
        .await
        .unwrap();
    let text = format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success() && text.contains("1 passed"), "{text}");
    false
}

fn file(content: &str) -> tempfile::NamedTempFile {
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(file.path(), content).unwrap();
    file
}

fn error_of(result: Result<Session, ConfigError>) -> ConfigError {
    match result {
        Ok(_) => panic!("a session was created"),
        Err(error) => error,
    }
}

#[tokio::test]
async fn a_missing_region_error_lists_the_sources() {
    if alone("a_missing_region_error_lists_the_sources", &[]).await {
        let error = error_of(connect(&block(&[]), "").await);
        assert_eq!(error.argument, Some("region"));
        for place in ["provider block", "AWS_REGION", "AWS_DEFAULT_REGION", "profile \"default\""] {
            assert!(error.detail.contains(place), "{}", error.detail);
        }
    }
}

#[tokio::test]
async fn a_missing_credentials_error_lists_the_sources() {
    if alone("a_missing_credentials_error_lists_the_sources", &[]).await {
        let error = error_of(connect(&block(&[("region", "eu-central-1".into())]), "").await);
        assert_eq!(error.summary, "Could not configure the provider: no AWS credentials");
        for place in ["access_key", "AWS_ACCESS_KEY_ID", "profile \"default\"", "AWS_WEB_IDENTITY_TOKEN_FILE"] {
            assert!(error.detail.contains(place), "{}", error.detail);
        }
    }
}

#[tokio::test]
async fn keys_in_the_block_sign_a_single_identity_call() {
    if !alone(
        "keys_in_the_block_sign_a_single_identity_call",
        &[("AWS_ACCESS_KEY_ID", "AKIDENV"), ("AWS_SECRET_ACCESS_KEY", "x"), ("AWS_REGION", "us-west-2")],
    )
    .await
    {
        return;
    }
    let server = Loopback::http(|_, _| identity("210987654321", "aws-us-gov")).await;
    let block = keys_and_endpoint(&server.url("http"), &[("user_agent", Value::List(vec!["pipeline/7".into()]))]);
    let session = connect(&block, "1.11.4").await.unwrap();
    assert_eq!(session.scope.account.as_deref(), Some("210987654321"));
    assert_eq!(session.scope.partition, "aws-us-gov");
    assert_eq!(session.scope.region, "eu-central-1");
    let seen = server.seen();
    assert_eq!(seen.len(), 1);
    assert!(seen[0].header("authorization").contains("Credential=AKIDBLOCK/"), "{seen:?}");
    let agent = seen[0].header("user-agent");
    assert!(agent.contains("terraform-provider-fgw/") && agent.contains("Terraform/1.11.4 pipeline/7"), "{agent}");
}

#[tokio::test]
async fn the_environment_sets_keys_region_and_endpoint() {
    let name = "the_environment_sets_keys_region_and_endpoint";
    if std::env::var_os(CHILD).is_some() {
        let session = connect(&block(&[]), "").await.unwrap();
        assert_eq!(session.scope.region, "ap-south-1");
        return;
    }
    let server = sts().await;
    let variables = [
        ("AWS_ACCESS_KEY_ID", "AKIDENV"),
        ("AWS_SECRET_ACCESS_KEY", "x"),
        ("AWS_DEFAULT_REGION", "ap-south-1"),
        ("AWS_ENDPOINT_URL", "http://localhost:9"),
        ("AWS_ENDPOINT_URL_STS", &server.url("http")),
    ];
    alone(name, &variables).await;
    let seen = server.seen();
    assert_eq!(seen.len(), 1, "the endpoint of STS takes precedence over that of all services");
    assert!(seen[0].header("authorization").contains("AKIDENV/"), "{seen:?}");
    assert!(seen[0].header("authorization").contains("/ap-south-1/sts/"), "{seen:?}");
}

#[tokio::test]
async fn a_profile_in_the_block_overrides_environment_keys() {
    let variables = [("AWS_ACCESS_KEY_ID", "AKIDENV"), ("AWS_SECRET_ACCESS_KEY", "x")];
    if !alone("a_profile_in_the_block_overrides_environment_keys", &variables).await {
        return;
    }
    let server = sts().await;
    let config =
        file("[profile deploy]\nregion = eu-west-3\naws_access_key_id = AKIDPROFILE\naws_secret_access_key = x\n");
    let files = Value::List(vec![config.path().to_str().unwrap().into()]);
    let endpoints = Value::List(vec![Value::map([("sts", server.url("http").into())])]);
    let arguments = [("profile", "deploy".into()), ("shared_config_files", files), ("endpoints", endpoints)];
    let session = connect(&block(&arguments), "").await.unwrap();
    assert_eq!(session.scope.region, "eu-west-3");
    assert!(server.seen()[0].header("authorization").contains("AKIDPROFILE/"));
}

#[tokio::test]
async fn an_unknown_profile_error_names_no_other_profile() {
    if !alone("an_unknown_profile_error_names_no_other_profile", &[]).await {
        return;
    }
    let config = file("[profile deploy]\nregion = eu-west-3\n");
    let files = Value::List(vec![config.path().to_str().unwrap().into()]);
    let error = error_of(connect(&block(&[("profile", "deplyo".into()), ("shared_config_files", files)]), "").await);
    assert!(error.detail.contains("\"deplyo\"") && !error.detail.contains("deploy"), "{}", error.detail);
}

#[tokio::test]
async fn a_profile_of_aws_login_is_rejected_with_an_alternative() {
    if !alone("a_profile_of_aws_login_is_rejected_with_an_alternative", &[]).await {
        return;
    }
    let config = file(
        "[profile deploy]\nregion = eu-west-3\nrole_arn = arn:aws:iam::123456789012:role/r\nsource_profile = people\n\
         [profile people]\nlogin_session = arn:aws:iam::123456789012:user/ada\n",
    );
    let files = Value::List(vec![config.path().to_str().unwrap().into()]);
    let error = error_of(connect(&block(&[("profile", "deploy".into()), ("shared_config_files", files)]), "").await);
    assert_eq!(error.summary, "Could not configure the provider: aws login is not supported");
    assert!(error.detail.contains("aws configure export-credentials --profile people"), "{}", error.detail);
}

#[tokio::test]
async fn an_expired_sign_in_error_names_the_login_command() {
    if !alone("an_expired_sign_in_error_names_the_login_command", &[]).await {
        return;
    }
    let config = file(
        "[profile deploy]\nregion = eu-west-3\nrole_arn = arn:aws:iam::123456789012:role/r\nsource_profile = people\n\
         [profile people]\nsso_session = corp\nsso_account_id = 123456789012\nsso_role_name = dev\n\
         [sso-session corp]\nsso_region = eu-west-3\nsso_start_url = https://corp.awsapps.test/start\n",
    );
    let files = Value::List(vec![config.path().to_str().unwrap().into()]);
    let error = error_of(connect(&block(&[("profile", "deploy".into()), ("shared_config_files", files)]), "").await);
    assert!(error.detail.contains("aws sso login --profile people"), "{}", error.detail);
}

#[tokio::test]
async fn each_role_is_assumed_with_the_previous_credentials() {
    if !alone("each_role_is_assumed_with_the_previous_credentials", &[]).await {
        return;
    }
    let server = sts().await;
    let first = Value::map([
        ("role_arn", "arn:aws:iam::123456789012:role/first".into()),
        ("external_id", "ticket".into()),
        ("duration", "1h30m".into()),
        ("source_identity", "ada".into()),
        ("tags", Value::map([("team", "net".into())])),
        ("transitive_tag_keys", Value::List(vec!["team".into()])),
    ]);
    let second =
        Value::map([("role_arn", "arn:aws:iam::123456789012:role/second".into()), ("session_name", "pipeline".into())]);
    let roles = [("assume_role", Value::List(vec![first, second])), ("sts_region", "us-east-1".into())];
    connect(&keys_and_endpoint(&server.url("http"), &roles), "").await.unwrap();
    let seen = server.seen();
    assert_eq!(seen.len(), 3);
    let signed_by = |seen: &Seen, key: &str| seen.header("authorization").contains(&format!("Credential={key}/"));
    assert!(signed_by(&seen[0], "AKIDBLOCK") && signed_by(&seen[1], "AKIDFIRST") && signed_by(&seen[2], "AKIDSECOND"));
    assert!(seen.iter().all(|seen| seen.header("authorization").contains("/us-east-1/sts/")));
    for field in [
        "ExternalId=ticket",
        "DurationSeconds=5400",
        "SourceIdentity=ada",
        "Tags.member.1.Key=team",
        "TransitiveTagKeys.member.1=team",
    ] {
        assert!(seen[0].has(field), "{field} in {}", seen[0].body);
    }
    assert!(seen[1].has("RoleSessionName=pipeline"));
}

#[tokio::test]
async fn sessions_for_all_regions_share_the_credentials() {
    if !alone("sessions_for_all_regions_share_the_credentials", &[]).await {
        return;
    }
    let server = sts().await;
    let role = Value::map([("role_arn", "arn:aws:iam::123456789012:role/first".into())]);
    let settings = keys_and_endpoint(&server.url("http"), &[("assume_role", Value::List(vec![role]))]);
    let (account, _) = super::connect(&settings, "").await.unwrap();
    let regions = ["eu-central-1", "us-west-2", "eu-west-1"];
    for session in regions.map(|region| account.session(region)) {
        // The server answers calls to EC2 with something else.
        let _not_from_ec2 = session.ec2.describe_vpcs().send().await;
    }
    let seen = server.seen();
    let assumed = seen.iter().filter(|seen| seen.has("Action=AssumeRole")).count();
    assert_eq!(assumed, 1);
    for region in regions {
        let signature = format!("/{region}/ec2/");
        let is_signed = |seen: &&Seen| seen.header("authorization").contains(&signature);
        let calls: Vec<&Seen> = seen.iter().filter(is_signed).collect();
        assert!(
            !calls.is_empty() && calls.iter().all(|it| it.header("authorization").contains("AKIDFIRST")),
            "{region}"
        );
    }
}

#[tokio::test]
async fn a_rejected_role_is_reported_without_secrets() {
    if !alone("a_rejected_role_is_reported_without_secrets", &[]).await {
        return;
    }
    let server = Loopback::http(|_, _| {
        let error = "<ErrorResponse><Error><Code>AccessDenied</Code><Message>not you, by an explicit deny</Message>\
                     </Error></ErrorResponse>";
        Some((403, error.to_string()))
    })
    .await;
    let role = Value::map([("role_arn", "arn:aws:iam::123456789012:role/first".into())]);
    let block = keys_and_endpoint(&server.url("http"), &[("assume_role", Value::List(vec![role]))]);
    let error = error_of(connect(&block, "").await);
    assert_eq!(error.summary, "Could not configure the provider: role cannot be assumed");
    let text = "The role arn:aws:iam::123456789012:role/first could not be assumed: AccessDenied: not you, by an explicit \
                deny.\n\nCheck that the role exists, ";
    assert!(error.detail.starts_with(text) && error.detail.contains("sts:AssumeRole"), "{}", error.detail);
    assert!(!format!("{error:?}{block:?}").contains("open sesame"));
}

#[tokio::test]
async fn a_web_identity_token_file_is_sent_unsigned() {
    if !alone("a_web_identity_token_file_is_sent_unsigned", &[]).await {
        return;
    }
    let server = sts().await;
    let token = file("ey.token\n");
    let role = Value::map([
        ("role_arn", "arn:aws:iam::123456789012:role/ci".into()),
        ("web_identity_token_file", token.path().to_str().unwrap().into()),
    ]);
    let arguments = [
        ("region", "eu-central-1".into()),
        ("assume_role_with_web_identity", Value::List(vec![role])),
        ("endpoints", Value::List(vec![Value::map([("sts", server.url("http").into())])])),
    ];
    connect(&block(&arguments), "").await.unwrap();
    let seen = server.seen();
    assert!(seen[0].has("WebIdentityToken=ey.token"), "{}", seen[0].body);
    assert_eq!(seen[0].header("authorization"), "");
    assert!(seen[1].header("authorization").contains("AKIDWEB/"));
}

#[tokio::test]
async fn the_metadata_service_is_the_last_source_unless_disabled() {
    let name = "the_metadata_service_is_the_last_source_unless_disabled";
    if !alone(name, &[("AWS_EC2_METADATA_DISABLED", "false")]).await {
        return;
    }
    let metadata = Loopback::http(|_, seen| {
        let body = match seen.target.as_str() {
            "/latest/api/token" => "token",
            target if target.ends_with("/security-credentials/") => "instance",
            _ => {
                r#"{"Code":"Success","LastUpdated":"2026-01-01T00:00:00Z","Type":"AWS-HMAC","AccessKeyId":"AKIDIMDS",
                    "SecretAccessKey":"s","Token":"t","Expiration":"2099-01-01T00:00:00Z"}"#
            }
        };
        Some((200, body.to_string()))
    })
    .await;
    let server = sts().await;
    let service = ("ec2_metadata_service_endpoint", Value::from(metadata.url("http")));
    let endpoints = Value::List(vec![Value::map([("sts", server.url("http").into())])]);
    let mut arguments = vec![("region", "eu-central-1".into()), ("endpoints", endpoints), service.clone()];

    connect(&keys_and_endpoint(&server.url("http"), &[service]), "").await.unwrap();
    assert!(metadata.seen().is_empty(), "there were other credentials");
    connect(&block(&arguments), "").await.unwrap();
    assert!(server.seen()[1].header("authorization").contains("AKIDIMDS/"), "{:?}", server.seen());

    let calls = metadata.seen().len();
    arguments.push(("skip_metadata_api_check", true.into()));
    assert_eq!(
        error_of(connect(&block(&arguments), "").await).summary,
        "Could not configure the provider: no AWS credentials"
    );
    assert_eq!(metadata.seen().len(), calls);
    let refusing = Loopback::http(|_, _| Some((403, String::new()))).await;
    arguments = vec![arguments.swap_remove(0), ("ec2_metadata_service_endpoint", refusing.url("http").into())];
    let detail = error_of(connect(&block(&arguments), "").await).detail;
    let texts = ["AWS_PROFILE", "access_key", "\"default\"", "metadata service", "instance profile"];
    assert!(texts.map(|it| detail.find(it).unwrap_or_else(|| panic!("{it}: {detail}"))).is_sorted(), "{detail}");
}

/// Stores the requested URLs, and fails every request.
#[derive(Clone, Debug, Default)]
struct Urls(std::sync::Arc<std::sync::Mutex<Vec<String>>>);

impl HttpConnector for Urls {
    fn call(&self, request: HttpRequest) -> HttpConnectorFuture {
        self.0.lock().unwrap().push(request.uri().to_string());
        HttpConnectorFuture::ready(Err(ConnectorError::io("no network".into())))
    }
}

#[tokio::test]
async fn the_metadata_service_is_called_over_ipv4_or_ipv6() {
    let name = "the_metadata_service_is_called_over_ipv4_or_ipv6";
    if !alone(name, &[("AWS_EC2_METADATA_DISABLED", "false")]).await {
        return;
    }
    for (mode, host) in
        [(None, "169.254.169.254"), (Some("IPv4"), "169.254.169.254"), (Some("IPv6"), "[fd00:ec2::254]")]
    {
        let arguments = mode.map(|mode| ("ec2_metadata_service_endpoint_mode", Value::from(mode)));
        let block = block(arguments.as_slice());
        let sources = Sources::load(&block).await.unwrap();
        let urls = Urls::default();
        let connector = SharedHttpConnector::new(urls.clone());
        let http = http_client_fn(move |_, _| connector.clone());
        let config = ProviderConfig::without_region().with_http_client(http);
        let service = credentials::metadata_service(&block, &sources, &config).unwrap().unwrap();
        assert!(service.provide_credentials().await.is_err());
        assert_eq!(urls.0.lock().unwrap()[0], format!("http://{host}/latest/api/token"), "{mode:?}");
    }
}

#[tokio::test]
async fn a_disallowed_account_error_names_both_account_ids() {
    if !alone("a_disallowed_account_error_names_both_account_ids", &[]).await {
        return;
    }
    let server = sts().await;
    let list = |id: &str| Value::List(vec![id.into()]);
    let connect_with = async |name: &'static str, id: &str| {
        connect(&keys_and_endpoint(&server.url("http"), &[(name, list(id))]), "").await
    };
    let not_allowed = error_of(connect_with("allowed_account_ids", "999999999999").await);
    assert!(not_allowed.detail.contains("123456789012") && not_allowed.detail.contains("999999999999"));
    let forbidden = error_of(connect_with("forbidden_account_ids", "123456789012").await);
    assert_eq!(forbidden.argument, Some("forbidden_account_ids"));
    assert!(connect_with("allowed_account_ids", "123456789012").await.is_ok());
    assert!(connect_with("forbidden_account_ids", "999999999999").await.is_ok());
}

#[tokio::test]
async fn no_call_is_sent_if_both_checks_are_skipped() {
    if !alone("no_call_is_sent_if_both_checks_are_skipped", &[]).await {
        return;
    }
    let server = sts().await;
    let mut more = without_check().to_vec();
    more.push(("region", "cn-north-1".into()));
    let session = connect(&keys_and_endpoint(&server.url("http"), &more), "").await.unwrap();
    assert_eq!((session.scope.account, session.scope.partition.as_str()), (None, "aws-cn"));
    assert!(server.seen().is_empty());
}

#[tokio::test]
async fn default_tags_in_the_block_override_the_environment() {
    let variables = [
        ("TF_AWS_DEFAULT_TAGS_team", "environment"),
        ("TF_AWS_DEFAULT_TAGS_stage", "test"),
        ("TF_AWS_IGNORE_TAGS_KEY_PREFIXES", "kubernetes.io/, karpenter"),
        ("TF_AWS_IGNORE_TAGS_KEYS", "owner"),
    ];
    if !alone("default_tags_in_the_block_override_the_environment", &variables).await {
        return;
    }
    let tags = Value::List(vec![Value::map([("tags", Value::map([("team", "block".into())]))])]);
    let mut more = without_check().to_vec();
    more.push(("default_tags", tags));
    let session = connect(&keys_and_endpoint("http://localhost:9", &more), "").await.unwrap();
    let expected =
        [("stage", "test"), ("team", "block")].map(|(key, value)| (key.to_string(), value.to_string().into()));
    assert_eq!(session.scope.default_tags, Input::Known(expected.into()));
    assert!(session.scope.ignore_tags.ignores("kubernetes.io/cluster/x"));
    assert!(session.scope.ignore_tags.ignores("karpenter.sh/discovery"));
    assert!(session.scope.ignore_tags.ignores("owner") && !session.scope.ignore_tags.ignores("owners"));
}

#[tokio::test]
async fn only_certificates_of_the_bundle_are_trusted_unless_insecure() {
    if !alone("only_certificates_of_the_bundle_are_trusted_unless_insecure", &[]).await {
        return;
    }
    let (server, certificate) = Loopback::https(|_, _| identity("123456789012", "aws")).await;
    let bundle = file(&certificate);
    let path = bundle.path().to_str().unwrap();
    let url = server.url("https");
    let once = ("max_retries", Value::from(1));
    assert!(connect(&keys_and_endpoint(&url, &[("custom_ca_bundle", path.into())]), "").await.is_ok());
    assert!(connect(&keys_and_endpoint(&url, &[("insecure", true.into())]), "").await.is_ok());
    let (_, other) = Loopback::https(|_, _| None).await;
    let other = file(&other);
    let other = ("custom_ca_bundle", other.path().to_str().unwrap().into());
    let error = error_of(connect(&keys_and_endpoint(&url, &[other, once]), "").await);
    assert!(error.detail.contains("certificate"), "{}", error.detail);
    assert_eq!(server.seen().len(), 2);
    let empty = file("no certificate");
    let empty = ("custom_ca_bundle", empty.path().to_str().unwrap().into());
    let error = error_of(connect(&keys_and_endpoint(&url, &[empty]), "").await);
    assert_eq!(error.argument, Some("custom_ca_bundle"));
}

#[tokio::test]
async fn a_proxy_forwards_http_and_tunnels_https_with_its_password() {
    if !alone("a_proxy_forwards_http_and_tunnels_https_with_its_password", &[]).await {
        return;
    }
    let forwarder = Loopback::http(|_, _| identity("123456789012", "aws")).await;
    let proxy = |port: u16| Value::from(format!("http://ada:secret@localhost:{port}"));
    let http = ("http_proxy", proxy(forwarder.address.port()));
    connect(&keys_and_endpoint("http://sts.test:8080", &[http]), "").await.unwrap();
    let seen = &forwarder.seen()[0];
    assert!(seen.target.starts_with("http://sts.test:8080"), "{}", seen.target);
    assert_eq!(seen.header("proxy-authorization"), "Basic YWRhOnNlY3JldA==");

    let (server, certificate) = Loopback::https(|_, _| identity("123456789012", "aws")).await;
    let (tunnel, heads) = tunnel_to(server.address).await;
    let bundle = file(&certificate);
    let https = [("https_proxy", proxy(tunnel.port())), ("custom_ca_bundle", bundle.path().to_str().unwrap().into())];
    connect(&keys_and_endpoint("https://sts.test", &https), "").await.unwrap();
    let head = heads.lock().unwrap()[0].clone();
    assert!(head.starts_with("CONNECT sts.test:443 "), "{head}");
    assert!(head.contains("Basic YWRhOnNlY3JldA=="), "{head}");
    assert_eq!(server.seen()[0].header("proxy-authorization"), "");
}

#[tokio::test]
async fn fips_and_dual_stack_settings_select_the_endpoints() {
    let name = "fips_and_dual_stack_settings_select_the_endpoints";
    if !alone(name, &[("AWS_USE_DUALSTACK_ENDPOINT", "true")]).await {
        return;
    }
    let (server, _) = Loopback::https(|_, seen| match seen.has("Action=GetCallerIdentity") {
        true => identity("123456789012", "aws"),
        false => create_vpc_answer(),
    })
    .await;
    let hosts = async |fips: bool, dual_stack: Option<bool>| {
        let (tunnel, heads) = tunnel_to(server.address).await;
        let mut arguments = vec![
            ("region", Value::from("us-east-2")),
            ("access_key", "AKID".into()),
            ("secret_key", "s".into()),
            ("insecure", true.into()),
            ("https_proxy", format!("http://localhost:{}", tunnel.port()).into()),
            ("use_fips_endpoint", fips.into()),
        ];
        arguments.extend(dual_stack.map(|it| ("use_dualstack_endpoint", it.into())));
        let session = connect(&block(&arguments), "").await.unwrap();
        create_once(&session).await.unwrap();
        let heads = heads.lock().unwrap();
        let host = |head: &String| head.split([' ', ':']).nth(1).unwrap_or_default().to_string();
        heads.iter().map(host).collect::<Vec<_>>().join(" ")
    };
    assert_eq!(hosts(false, Some(false)).await, "sts.us-east-2.amazonaws.com ec2.us-east-2.amazonaws.com");
    assert_eq!(hosts(true, Some(false)).await, "sts-fips.us-east-2.amazonaws.com ec2-fips.us-east-2.amazonaws.com");
    assert_eq!(hosts(false, None).await, "sts.us-east-2.api.aws ec2.us-east-2.api.aws");
    assert_eq!(hosts(true, Some(true)).await, "sts-fips.us-east-2.api.aws ec2-fips.us-east-2.api.aws");
}

fn create_vpc_answer() -> Option<(u16, String)> {
    Some((200, "<CreateVpcResponse><vpc><vpcId>vpc-1</vpcId></vpc></CreateVpcResponse>".to_string()))
}

fn ec2_error(status: u16, code: &str) -> Option<(u16, String)> {
    let body = format!(
        "<Response><Errors><Error><Code>{code}</Code><Message>m</Message></Error></Errors><RequestID>r</RequestID></Response>"
    );
    Some((status, body))
}

async fn session_for(url: &str) -> Session {
    connect(&keys_and_endpoint(url, &without_check()), "").await.unwrap()
}

/// The override for calls without a token, with no pauses between attempts.
fn once(session: &Session) -> aws_sdk_ec2::config::Builder {
    let retries = session.ec2.config().retry_config().expect("a session has one").clone();
    session.once_ec2().retry_config(retries.with_max_backoff(Duration::ZERO))
}

async fn create_once(session: &Session) -> Result<(), crate::cloud::Failure> {
    use crate::aws::calls::OrFailure;
    let call = session.ec2.create_vpc().cidr_block("10.0.0.0/16").customize().config_override(once(session));
    call.send().await.map(|_| ()).or_failure("CreateVpc")
}

#[tokio::test]
async fn a_call_that_may_have_been_carried_out_is_not_sent_twice() {
    if !alone("a_call_that_may_have_been_carried_out_is_not_sent_twice", &[]).await {
        return;
    }
    let failing = Loopback::http(|_, _| ec2_error(500, "InternalError")).await;
    let failure = create_once(&session_for(&failing.url("http")).await).await.unwrap_err();
    assert_eq!(failure.code.as_deref(), Some("InternalError"));
    assert_eq!(failing.seen().len(), 1);
    let silent = Loopback::http(|_, _| None).await;
    assert!(create_once(&session_for(&silent.url("http")).await).await.is_err());
    assert_eq!(silent.seen().len(), 1);
}

#[tokio::test]
async fn a_throttled_call_is_sent_again() {
    if !alone("a_throttled_call_is_sent_again", &[]).await {
        return;
    }
    let server = Loopback::http(|number, _| match number {
        0 => ec2_error(503, "RequestLimitExceeded"),
        _ => create_vpc_answer(),
    })
    .await;
    create_once(&session_for(&server.url("http")).await).await.unwrap();
    assert_eq!(server.seen().len(), 2);
}

#[tokio::test]
async fn a_call_without_a_connection_is_sent_again() {
    if !alone("a_call_without_a_connection_is_sent_again", &[]).await {
        return;
    }
    // A socket that does not listen rejects connections, and reserves its port.
    let socket = tokio::net::TcpSocket::new_v4().unwrap();
    socket.bind("127.0.0.1:0".parse().unwrap()).unwrap();
    let port = socket.local_addr().unwrap().port();
    let block = keys_and_endpoint(&format!("http://localhost:{port}"), &{
        let mut more = without_check().to_vec();
        more.push(("max_retries", 2.into()));
        more
    });
    let session = connect(&block, "").await.unwrap();
    let attempts = AtomicUsize::new(0);
    let interceptor = CountAttempts(std::sync::Arc::new(attempts));
    let call = session.ec2.create_vpc().cidr_block("10.0.0.0/16").customize();
    let sent = call.config_override(once(&session).interceptor(interceptor.clone())).send().await;
    assert!(sent.is_err());
    assert_eq!(interceptor.0.load(Ordering::SeqCst), 2);
}

#[derive(Clone, Debug)]
struct CountAttempts(std::sync::Arc<AtomicUsize>);

#[aws_smithy_runtime_api::client::interceptors::dyn_dispatch_hint]
impl aws_smithy_runtime_api::client::interceptors::Intercept for CountAttempts {
    fn name(&self) -> &'static str {
        "CountAttempts"
    }

    fn read_before_transmit(
        &self,
        _: &aws_smithy_runtime_api::client::interceptors::context::BeforeTransmitInterceptorContextRef<'_>,
        _: &aws_smithy_runtime_api::client::runtime_components::RuntimeComponents,
        _: &mut aws_smithy_types::config_bag::ConfigBag,
    ) -> Result<(), aws_smithy_runtime_api::box_error::BoxError> {
        self.0.fetch_add(1, Ordering::SeqCst);
        Ok(())
    }
}

#[tokio::test]
async fn local_zones_and_zones_not_opted_in_are_excluded() {
    if !alone("local_zones_and_zones_not_opted_in_are_excluded", &[]).await {
        return;
    }
    let server = Loopback::http(|_, seen| {
        let zone = |letter: &str, more: &str| {
            let name = format!("<zoneName>eu-central-1{letter}</zoneName><zoneId>euc1-az-{letter}</zoneId>");
            format!("<item>{name}<zoneState>impaired</zoneState>{more}</item>")
        };
        let services = |name: &str, next: &str| {
            let names = format!("<serviceNameSet><item>com.amazonaws.eu-central-1.{name}</item></serviceNameSet>");
            format!("<DescribeVpcEndpointServicesResponse>{names}{next}</DescribeVpcEndpointServicesResponse>")
        };
        let body = if seen.has("Action=DescribeAvailabilityZones") {
            let items = [
                zone("b", ""),
                zone("a", "<optInStatus>opt-in-not-required</optInStatus><zoneType>availability-zone</zoneType>"),
                zone("c", "<optInStatus>not-opted-in</optInStatus>"),
                zone("d", "<zoneType>local-zone</zoneType>"),
            ];
            let items = format!("<availabilityZoneInfo>{}</availabilityZoneInfo>", items.concat());
            format!("<DescribeAvailabilityZonesResponse>{items}</DescribeAvailabilityZonesResponse>")
        } else if seen.body.contains("NextToken=more") {
            services("dynamodb", "")
        } else {
            services("s3", "<nextToken>more</nextToken>")
        };
        Some((200, body))
    })
    .await;
    let session = session_for(&server.url("http")).await;
    let lookups = [Lookup::AvailabilityZones, Lookup::GatewayEndpointServices];
    let facts = crate::aws::lookups::facts(&session, &lookups).await.unwrap();
    let zones = facts.availability_zones.unwrap();
    assert_eq!(zones.iter().map(|zone| zone.id.as_str()).collect::<Vec<_>>(), ["euc1-az-a", "euc1-az-b"]);
    assert_eq!(zones[0].state, "impaired");
    let services = facts.gateway_endpoint_services.unwrap();
    assert_eq!(services, ["com.amazonaws.eu-central-1.dynamodb", "com.amazonaws.eu-central-1.s3"]);
}
