//! The connection to AWS: endpoints, retries, proxies, certificates and the User-Agent header.

use std::collections::BTreeSet;

use super::{at_home, network, scopes, with_block};
use crate::support::emulator::free_port;
use crate::support::proxy::Proxy;
use crate::support::proxy::fault::Fault;
use crate::support::terraform::Workspace;
use crate::support::tunnel::Tunnel;

#[test]
fn endpoint_precedence_is_block_then_service_then_global() {
    let (of_block, of_service, of_all) = (Proxy::moto(), Proxy::moto(), Proxy::moto());
    let keys = "  region = \"us-east-1\"\n  access_key = \"AKID\"\n  secret_key = \"s\"\n";
    let plan = |lines: &str, variables: &[(&str, String)]| {
        let mut workspace = with_block(&format!("{keys}{lines}"));
        for (name, value) in variables {
            workspace.env(name, value);
        }
        assert_eq!(workspace.plan(&[]).code, 2);
        let services = |proxy: &Proxy| -> BTreeSet<String> {
            let services = proxy.calls().into_iter().map(|record| record.call.service).collect();
            proxy.clear_calls();
            services
        };
        [services(&of_block), services(&of_service), services(&of_all)].map(|it| Vec::from_iter(it).join(" "))
    };
    let variables = [
        ("AWS_ENDPOINT_URL_EC2", of_service.endpoint()),
        ("AWS_ENDPOINT_URL_STS", of_service.endpoint()),
        ("AWS_ENDPOINT_URL", of_all.endpoint()),
    ];
    let sts_of_block = format!("  endpoints {{\n    sts = \"{}\"\n  }}\n", of_block.endpoint());
    assert_eq!(plan(&sts_of_block, &variables), ["sts", "ec2", ""]);
    assert_eq!(plan("", &[variables[0].clone(), variables[2].clone()]), ["", "ec2", "sts"]);
    assert_eq!(plan("", &variables[2..]), ["", "", "ec2 sts"]);
}

#[test]
fn throttled_call_is_sent_max_retries_times() {
    let proxy = Proxy::moto();
    proxy.fault(Fault::on("DescribeAvailabilityZones").answer(503, "RequestLimitExceeded", "Slow down"));
    let workspace = Workspace::with_provider(&proxy, "  max_retries = 3\n  retry_mode = \"standard\"\n");
    workspace.config(&network("this", ""));
    let run = workspace.plan(&[]);
    run.failed_with("RequestLimitExceeded");
    run.failed_with("Slow down");
    assert_eq!(proxy.count("DescribeAvailabilityZones"), 3);
}

#[test]
fn unreachable_endpoint_is_reported_in_plain_words() {
    let proxy = Proxy::moto();
    let unreachable = format!("http://127.0.0.1:{}", free_port());
    let lines = format!(
        "  region = \"us-east-1\"\n  access_key = \"AKID\"\n  secret_key = \"s\"\n  max_retries = 1\n  endpoints {{\n    \
         sts = \"{}\"\n    ec2 = \"{unreachable}\"\n  }}\n",
        proxy.endpoint()
    );
    let run = with_block(&lines).plan(&[]);
    run.failed_with(&format!("EC2 at {unreachable} refuses the connection."));
    run.failed_with("Start the service, or correct its endpoint, then run Terraform again.");
    assert!(!run.says("dispatch failure") && !run.says("continues"), "{run}");
    for inner in ["DispatchFailure", "ConnectorError", "Os {", "client::"] {
        assert!(!run.says(inner), "{inner} is an implementation detail:\n{run}");
    }
}

#[test]
fn broken_connection_is_reported_in_plain_words() {
    let proxy = Proxy::moto();
    proxy.fault(Fault::on("DescribeAvailabilityZones").reset());
    let workspace = Workspace::with_provider(&proxy, "  max_retries = 1\n");
    workspace.config(&network("this", ""));
    let run = workspace.plan(&[]);
    run.failed_with(&format!("DescribeAvailabilityZones: the connection to EC2 at {} broke:", proxy.endpoint()));
    for inner in ["dispatch failure", "client error", "SendRequest"] {
        assert!(!run.says(inner), "{inner} is an implementation detail:\n{run}");
    }
}

#[test]
fn retries_are_set_by_block_environment_or_profile() {
    // The retry modes in the User-Agent header.
    const STANDARD: &str = "E";
    const ADAPTIVE: &str = "F";
    type Case<'a> = (&'a str, &'a [(&'a str, &'a str)], &'a str, usize, &'a str);
    let cases: [Case<'_>; 6] = [
        ("  max_retries = 0\n", &[], "", 1, STANDARD),
        ("  max_retries = 2\n  retry_mode = \"adaptive\"\n", &[], "", 2, ADAPTIVE),
        ("", &[("AWS_MAX_ATTEMPTS", "2"), ("AWS_RETRY_MODE", "adaptive")], "", 2, ADAPTIVE),
        ("", &[], "[default]\nmax_attempts = 2\nretry_mode = adaptive\n", 2, ADAPTIVE),
        (
            "  max_retries = 3\n  retry_mode = \"standard\"\n",
            &[("AWS_MAX_ATTEMPTS", "2"), ("AWS_RETRY_MODE", "adaptive")],
            "[default]\nmax_attempts = 2\nretry_mode = adaptive\n",
            3,
            STANDARD,
        ),
        // One retry uses up this capacity.
        ("  max_retries = 9\n  token_bucket_rate_limiter_capacity = 5\n", &[], "", 2, STANDARD),
    ];
    for (lines, variables, profile, sent, mode) in cases {
        let case = format!("{lines}{variables:?}{profile}");
        let proxy = Proxy::moto();
        proxy.fault(Fault::on("DescribeAvailabilityZones").answer(503, "RequestLimitExceeded", "Slow down"));
        let mut workspace = Workspace::with_provider(&proxy, lines);
        workspace.config(&network("this", ""));
        at_home(&workspace, profile, "");
        for (name, value) in variables {
            workspace.env(name, value);
        }
        workspace.plan(&[]).failed_with("Slow down");
        assert_eq!(proxy.count("DescribeAvailabilityZones"), sent, "{case}");
        for record in proxy.calls() {
            let agent = &record.call.user_agent;
            let metrics = agent.split(' ').find_map(|product| product.strip_prefix("m/")).unwrap_or_default();
            assert!(metrics.split(',').any(|metric| metric == mode), "{case}: {agent}");
        }
    }
    let proxy = Proxy::moto();
    for (name, value, message) in [
        ("AWS_RETRY_MODE", "quick", "\"quick\" is neither standard nor adaptive."),
        ("AWS_MAX_ATTEMPTS", "many", "\"many\" is not a number."),
    ] {
        let mut workspace = Workspace::new(&proxy);
        workspace.config(&network("this", ""));
        workspace.env(name, value);
        workspace.plan(&[]).failed_with(message).failed_with(name);
    }
}

#[test]
fn user_agent_names_provider_terraform_and_user_additions() {
    let proxy = Proxy::moto();
    let mut workspace = Workspace::with_provider(&proxy, "  user_agent = [\"pipeline/7\", \"team (net)\"]\n");
    workspace.config(&network("this", ""));
    workspace.env("TF_APPEND_USER_AGENT", "appended/1");
    assert_eq!(workspace.plan(&[]).code, 2);
    let own = format!(" terraform-provider-fgw/{} Terraform/1.", env!("CARGO_PKG_VERSION"));
    for record in proxy.calls() {
        let agent = record.call.user_agent;
        assert!(agent.starts_with("aws-sdk-rust/") && agent.contains(&own), "{agent}");
        assert!(agent.ends_with(" pipeline/7 team (net) appended/1"), "{agent}");
    }
}

/// Keys, and a Region that only the tests with a tunnel use.
const IN_OHIO: &str = "  region = \"us-east-2\"\n  access_key = \"AKID\"\n  secret_key = \"s\"\n  max_retries = 1\n";

const OF_OHIO: [&str; 2] = ["sts.us-east-2.amazonaws.com", "ec2.us-east-2.amazonaws.com"];

#[test]
fn tls_intercepting_proxy_is_trusted_by_its_authority() {
    let proxy = Proxy::moto();
    // The source of the proxy, and the source of its authority.
    for (of_proxy, of_bundle) in [("block", "block"), ("environment", "environment"), ("block", "profile")] {
        let case = format!("proxy by {of_proxy}, authority by {of_bundle}");
        let tunnel = Tunnel::to(&proxy);
        let mut lines = IN_OHIO.to_owned();
        if of_proxy == "block" {
            lines += &format!("  https_proxy = \"{}\"\n", tunnel.url());
        }
        if of_bundle == "block" {
            lines += "  custom_ca_bundle = \"${path.root}/authority.pem\"\n";
        }
        let mut workspace = with_block(&lines);
        workspace.write("authority.pem", tunnel.authority());
        let bundle = workspace.path().join("authority.pem").display().to_string();
        if of_proxy == "environment" {
            workspace.env("HTTPS_PROXY", &tunnel.url());
        }
        match of_bundle {
            "environment" => workspace.env("AWS_CA_BUNDLE", &bundle),
            // The block takes precedence over the environment and the profile.
            "block" => {
                workspace.env("AWS_CA_BUNDLE", "/no/such/bundle");
                at_home(&workspace, "[default]\nca_bundle = /no/such/bundle\n", "");
            }
            _ => at_home(&workspace, &format!("[default]\nca_bundle = {bundle}\n"), ""),
        }
        proxy.clear_calls();
        let plan = workspace.plan(&[]);
        assert_eq!(plan.code, 2, "{case}: {plan}");
        assert_eq!(scopes(&proxy), BTreeSet::from([("AKID".to_owned(), "us-east-2".to_owned())]), "{case}");
        assert_eq!(tunnel.hosts(), OF_OHIO, "{case}");
        for head in tunnel.heads() {
            assert!(head.starts_with("CONNECT ") && head.contains(":443 HTTP/1.1"), "{case}: {head}");
            let password = "proxy-authorization: basic ywrhom9wzw4tc2vzyw1l";
            assert!(head.to_lowercase().contains(password), "{case}: the proxy receives user and password: {head}");
        }
    }
}

#[test]
fn untrusted_certificate_is_rejected_unless_insecure_is_set() {
    let proxy = Proxy::moto();
    let (tunnel, other) = (Tunnel::to(&proxy), Tunnel::to(&proxy));
    let plan = |more: &str| {
        let workspace = with_block(&format!("{IN_OHIO}  https_proxy = \"{}\"\n{more}", tunnel.url()));
        workspace.write("other.pem", other.authority());
        workspace.plan(&[])
    };
    let rejected = plan("  custom_ca_bundle = \"${path.root}/other.pem\"\n");
    rejected.failed_with("is rejected: invalid peer certificate: ").failed_with("through proxy");
    rejected.failed_with("For an endpoint without STS, set skip_credentials_validation");
    assert!(!rejected.says("open-sesame"), "the message contains the proxy's password:\n{rejected}");
    assert_eq!(proxy.calls().len(), 0);
    let accepted = plan("  insecure = true\n");
    assert_eq!(accepted.code, 2, "{accepted}");
    assert_eq!(tunnel.hosts(), OF_OHIO);
}

#[test]
fn http_uses_a_proxy_except_for_exempt_hosts() {
    let proxy = Proxy::moto();
    // An address of this machine that is not exempt from proxies by default.
    let port = proxy.endpoint().rsplit(':').next().unwrap_or_default().to_owned();
    let endpoints =
        format!("  endpoints {{\n    ec2 = \"http://0.0.0.0:{port}\"\n    sts = \"http://0.0.0.0:{port}\"\n  }}\n");
    for (of_proxy, exempt) in [("block", ""), ("environment", ""), ("block", "block"), ("environment", "environment")] {
        let case = format!("proxy by {of_proxy}, exempt by {exempt:?}");
        let tunnel = Tunnel::to(&proxy);
        let mut lines = format!("{IN_OHIO}{endpoints}");
        if of_proxy == "block" {
            lines += &format!("  http_proxy = \"{}\"\n", tunnel.url());
        }
        if exempt == "block" {
            lines += "  no_proxy = \"internal.test,0.0.0.0/8\"\n";
        }
        let mut workspace = with_block(&lines);
        if of_proxy == "environment" {
            workspace.env("HTTP_PROXY", &tunnel.url());
        }
        if exempt == "environment" {
            workspace.env("NO_PROXY", "internal.test,0.0.0.0");
        }
        proxy.clear_calls();
        let plan = workspace.plan(&[]);
        assert_eq!(plan.code, 2, "{case}: {plan}");
        assert_eq!(scopes(&proxy), BTreeSet::from([("AKID".to_owned(), "us-east-2".to_owned())]), "{case}");
        // A connection can carry several calls, so there may be only one head.
        let heads = tunnel.heads();
        assert_eq!(heads.is_empty(), !exempt.is_empty(), "{case}: {heads:?}");
        assert!(heads.iter().all(|head| head.starts_with("POST http://0.0.0.0")), "{case}: {heads:?}");
    }
}

#[test]
fn fips_and_dual_stack_are_set_by_block_environment_or_profile() {
    let proxy = Proxy::moto();
    type Case<'a> = (&'a str, &'a [(&'a str, &'a str)], &'a str, [&'a str; 2]);
    let fips = ["sts-fips.us-east-2.amazonaws.com", "ec2-fips.us-east-2.amazonaws.com"];
    let dual = ["sts.us-east-2.api.aws", "ec2.us-east-2.api.aws"];
    let cases: [Case<'_>; 6] = [
        ("  use_fips_endpoint = true\n", &[], "", fips),
        ("  use_dualstack_endpoint = true\n", &[], "", dual),
        ("", &[("AWS_USE_FIPS_ENDPOINT", "true")], "", fips),
        ("", &[("AWS_USE_DUALSTACK_ENDPOINT", "true")], "", dual),
        ("", &[], "[default]\nuse_fips_endpoint = true\n", fips),
        (
            "  use_fips_endpoint = false\n  use_dualstack_endpoint = false\n",
            &[("AWS_USE_FIPS_ENDPOINT", "true"), ("AWS_USE_DUALSTACK_ENDPOINT", "true")],
            "",
            OF_OHIO,
        ),
    ];
    for (lines, variables, profile, hosts) in cases {
        let tunnel = Tunnel::to(&proxy);
        let block = format!("{IN_OHIO}  insecure = true\n  https_proxy = \"{}\"\n{lines}", tunnel.url());
        let mut workspace = with_block(&block);
        at_home(&workspace, profile, "");
        for (name, value) in variables {
            workspace.env(name, value);
        }
        let plan = workspace.plan(&[]);
        assert_eq!(plan.code, 2, "{plan}");
        assert_eq!(tunnel.hosts(), hosts, "{lines}{variables:?}{profile}");
    }
}

#[test]
fn an_unusable_proxy_of_the_environment_is_an_error() {
    let proxy = Proxy::moto();
    let port = proxy.endpoint().rsplit_once(':').expect("the proxy has a port").1.to_owned();
    // Unlike 127.0.0.1, this address is called through a proxy.
    let http =
        format!("  endpoints {{\n    ec2 = \"http://0.0.0.0:{port}\"\n    sts = \"http://0.0.0.0:{port}\"\n  }}\n");
    for (variable, value, endpoints) in [
        ("HTTPS_PROXY", "http://ada:open-sesame@proxy.test:8080 ", ""),
        ("https_proxy", "proxy.test:8080/path", ""),
        ("HTTPS_PROXY", "ftp://proxy.test", ""),
        ("HTTP_PROXY", "socks5://ada:open-sesame@proxy.test:1080", &http),
        ("http_proxy", "http://", &http),
    ] {
        let mut workspace = with_block(&format!("{IN_OHIO}{endpoints}"));
        workspace.env(variable, value);
        let run = workspace.plan(&[]);
        run.failed_with("Could not configure the provider: invalid proxy").failed_with(variable);
        assert!(!run.says("open-sesame"), "{run}");
    }
    assert_eq!(proxy.calls().len(), 0, "the provider bypasses no proxy");
    // No call uses the proxy.
    for (lines, variable, value) in [
        (&http[..], "HTTPS_PROXY", "ftp://proxy.test"),
        (&super::endpoints(&proxy), "HTTP_PROXY", "socks5://proxy.test"),
        (&format!("{http}  no_proxy = \"0.0.0.0\"\n"), "HTTP_PROXY", "socks5://proxy.test"),
    ] {
        let mut workspace = with_block(&format!("{IN_OHIO}{lines}"));
        workspace.env(variable, value);
        assert_eq!(workspace.plan(&[]).code, 2, "{variable}={value}");
    }
    // The block takes precedence, and a value without a scheme is one of http.
    for (lines, value) in [("  http_proxy = \"http://localhost:1\"\n", "socks5://proxy.test"), ("", "localhost:1")] {
        let mut workspace = with_block(&format!("{IN_OHIO}{lines}{}", super::endpoints(&proxy)));
        workspace.env("HTTP_PROXY", value);
        workspace.env("NO_PROXY", "127.0.0.1");
        assert_eq!(workspace.plan(&[]).code, 2);
    }
}

#[test]
fn connections_that_others_can_read_are_a_warning() {
    let proxy = Proxy::moto();
    let with = |lines: &str| with_block(&format!("{IN_OHIO}{lines}")).validate();
    let insecure = with("  insecure = true\n");
    assert!(insecure.succeeded().says("TLS certificates are not verified"), "{insecure}");
    let services = ["acm", "apigatewayv2", "ec2", "kms", "lambda", "logs", "route53", "sts"];
    let lines: String =
        services.iter().map(|name| format!("    {name} = \"https://localhost.localstack.cloud:4566\"\n")).collect();
    let local = with(&format!("  insecure = true\n  endpoints {{\n{lines}  }}\n"));
    assert!(!local.succeeded().says("certificates are not verified"), "{local}");
    let endpoint = |url: &str| with(&format!("  endpoints {{\n    sts = \"{url}\"\n  }}\n"));
    let plain = endpoint("http://ada:open-sesame@sts.example.com");
    assert!(plain.succeeded().says("Endpoints without encryption"), "{plain}");
    assert!(plain.says("sts (host sts.example.com)") && !plain.says("open-sesame"), "{plain}");
    for url in
        ["https://sts.example.com", &proxy.endpoint(), "http://localhost:4566", "http://10.1.2.3", "http://emulator:1"]
    {
        let run = endpoint(url);
        assert!(!run.succeeded().says("without encryption"), "{url}: {run}");
    }
    // The endpoints of the environment and of a profile are known only when the provider connects.
    let tunnel = Tunnel::to(&proxy);
    let proxies = format!("  http_proxy = \"{0}\"\n  https_proxy = \"{0}\"\n  insecure = true\n", tunnel.url());
    let mut workspace = with_block(&format!("{IN_OHIO}{proxies}"));
    workspace.env("AWS_ENDPOINT_URL_STS", "http://sts.example.com");
    at_home(
        &workspace,
        "[default]\nservices = here\n[services here]\nsso =\n  endpoint_url = http://sso.example.com\n",
        "",
    );
    let run = workspace.plan(&[]);
    assert!(run.says("Endpoints without encryption") && run.says("sts (host sts.example.com)"), "{run}");
}
