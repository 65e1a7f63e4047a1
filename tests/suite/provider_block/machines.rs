//! Credentials of the EC2 instance or the container.

use super::{assert_signed_by, at_home, endpoints, with_block};
use crate::support::proxy::Proxy;
use crate::support::scripted::{Asked, Scripted};
use crate::support::tunnel::Tunnel;

/// Credentials in the format for containers and instances.
fn answer(key: &str) -> String {
    format!(
        "{{\"Code\":\"Success\",\"LastUpdated\":\"2026-01-01T00:00:00Z\",\"Type\":\"AWS-HMAC\",\"AccessKeyId\":\"{key}\",\
          \"SecretAccessKey\":\"s\",\"Token\":\"t\",\"Expiration\":\"2099-01-01T00:00:00Z\"}}"
    )
}

/// A metadata service of version 2, which rejects requests without a token.
fn metadata_service() -> Scripted {
    Scripted::answering(|asked: &Asked| match (asked.method.as_str(), asked.target.as_str()) {
        ("PUT", "/latest/api/token") => (200, "metadata-token".into()),
        _ if asked.header("x-aws-ec2-metadata-token") != "metadata-token" => (401, String::new()),
        ("GET", "/latest/meta-data/iam/security-credentials/") => (200, "builder".into()),
        ("GET", "/latest/meta-data/iam/security-credentials/builder") => (200, answer("AKIDINSTANCE")),
        _ => (404, String::new()),
    })
}

const METADATA_REQUESTS: [&str; 3] = [
    "PUT /latest/api/token",
    "GET /latest/meta-data/iam/security-credentials/",
    "GET /latest/meta-data/iam/security-credentials/builder",
];

#[test]
fn metadata_endpoint_precedence_is_block_environment_profile() {
    let proxy = Proxy::moto();
    let elsewhere = metadata_service();
    for case in ["block", "block with a mode", "environment", "profile"] {
        let service = metadata_service();
        let mut lines = format!("  region = \"us-east-1\"\n{}", endpoints(&proxy));
        if case.starts_with("block") {
            lines += &format!("  ec2_metadata_service_endpoint = \"{}\"\n", service.url());
        }
        if case == "block with a mode" {
            // hashicorp/aws allows both; the endpoint takes precedence.
            lines += "  ec2_metadata_service_endpoint_mode = \"IPv6\"\n";
        }
        let mut workspace = with_block(&lines);
        workspace.env("AWS_EC2_METADATA_DISABLED", "false");
        let of = |before: &str| if case == before { service.url() } else { elsewhere.url() };
        if case != "profile" {
            workspace.env("AWS_EC2_METADATA_SERVICE_ENDPOINT", &of("environment"));
        }
        let profile = format!("ec2_metadata_service_endpoint = {}\n", of("profile"));
        at_home(&workspace, &format!("[default]\n{profile}"), "");
        proxy.clear_calls();
        assert_signed_by(case, &workspace, &proxy, "AKIDINSTANCE", "us-east-1");
        assert_eq!(service.lines(), METADATA_REQUESTS, "{case}");
        assert_eq!(service.requests()[0].header("x-aws-ec2-metadata-token-ttl-seconds"), "21600");
    }
    assert_eq!(elsewhere.lines(), [""; 0]);
}

#[test]
fn metadata_endpoint_of_the_configured_profile_is_used() {
    let proxy = Proxy::moto();
    let service = metadata_service();
    let mut workspace = with_block(&format!(
        "  profile = \"machine\"\n  shared_config_files = [\"${{path.root}}/aws.conf\"]\n{}",
        endpoints(&proxy)
    ));
    workspace.env("AWS_EC2_METADATA_DISABLED", "false");
    let settings =
        format!("credential_source = Ec2InstanceMetadata\nec2_metadata_service_endpoint = {}\n", service.url());
    let role = format!("role_arn = arn:aws:iam::{}:role/deploy\n", proxy.account().id);
    workspace.write("aws.conf", &format!("[profile machine]\nregion = eu-west-2\n{role}{settings}"));
    let plan = workspace.plan(&[]);
    assert_eq!(plan.code, 2, "{plan}");
    assert_eq!(service.lines(), METADATA_REQUESTS);
    let calls = proxy.calls();
    assert_eq!((calls[0].call.action.as_str(), calls[0].call.access_key.as_str()), ("AssumeRole", "AKIDINSTANCE"));
    assert!(calls[1..].iter().all(|record| record.call.access_key.starts_with("ASIA")), "{:?}", proxy.by_action());
}

#[test]
fn metadata_service_is_not_called_if_disabled_or_not_needed() {
    let proxy = Proxy::moto();
    let service = metadata_service();
    let block = format!(
        "  region = \"us-east-1\"\n  ec2_metadata_service_endpoint = \"{}\"\n{}",
        service.url(),
        endpoints(&proxy)
    );
    let mut skipped = with_block(&format!("{block}  skip_metadata_api_check = true\n"));
    skipped.env("AWS_EC2_METADATA_DISABLED", "false");
    skipped.plan(&[]).failed_with("not called, because of skip_metadata_api_check");
    with_block(&block).plan(&[]).failed_with("not called, because of AWS_EC2_METADATA_DISABLED");
    let mut keys = with_block(&format!("{block}  access_key = \"AKIDBLOCK\"\n  secret_key = \"s\"\n"));
    keys.env("AWS_EC2_METADATA_DISABLED", "false");
    assert_signed_by("static keys", &keys, &proxy, "AKIDBLOCK", "us-east-1");
    assert_eq!(service.lines(), [""; 0]);
}

#[test]
fn container_credentials_need_a_token_and_bypass_proxies() {
    let proxy = Proxy::moto();
    let tunnel = Tunnel::to(&proxy);
    let service = Scripted::answering(|asked: &Asked| match (asked.target.as_str(), asked.header("authorization")) {
        ("/v2/credentials/7?task=a", "Bearer of-variable" | "Bearer of-file") => (200, answer("AKIDCONTAINER")),
        _ => (403, "{\"code\":\"AccessDenied\",\"message\":\"this is not your task\"}".into()),
    });
    let workspace = |name: &str, token: &str| {
        let mut workspace = with_block(&format!(
            "  region = \"us-east-1\"\n  http_proxy = \"{}\"\n{}",
            tunnel.url(),
            endpoints(&proxy)
        ));
        workspace.env("AWS_CONTAINER_CREDENTIALS_FULL_URI", &format!("{}/v2/credentials/7?task=a", service.url()));
        workspace.env(name, token);
        workspace
    };
    let by_variable = workspace("AWS_CONTAINER_AUTHORIZATION_TOKEN", "Bearer of-variable");
    assert_signed_by("token in a variable", &by_variable, &proxy, "AKIDCONTAINER", "us-east-1");
    proxy.clear_calls();
    let mut by_file = workspace("AWS_CONTAINER_AUTHORIZATION_TOKEN", "Bearer overridden-by-file");
    by_file.write("token", "Bearer of-file");
    let file = by_file.path().join("token");
    by_file.env("AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE", file.to_str().expect("a path of ours is text"));
    assert_signed_by("token in a file", &by_file, &proxy, "AKIDCONTAINER", "us-east-1");
    assert_eq!(service.requests().len(), 2, "{:?}", service.lines());
    proxy.clear_calls();
    workspace("AWS_CONTAINER_AUTHORIZATION_TOKEN", "Bearer of-another")
        .plan(&[])
        .failed_with("HTTP credential provider: StatusCode(403)");
    assert_eq!(proxy.calls().len(), 0);
    assert_eq!(tunnel.heads(), [""; 0]);
}
