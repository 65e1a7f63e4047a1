//! Sources of the Region and of credentials: the block, the environment, profiles and their files.

use super::{assert_signed_by, at_home, endpoints, network, with_block};
use crate::support::proxy::Proxy;
use crate::support::proxy::fault::Fault;
use crate::support::terraform::Workspace;
use crate::support::tunnel::Tunnel;

#[test]
fn region_and_keys_precedence_is_block_environment_profile() {
    let profiles = "[default]\nregion = eu-west-1\n[profile deploy]\nregion = eu-west-3\n[profile process]\nregion = eu-north-1\n\
                    credential_process = echo '{\"Version\": 1, \"AccessKeyId\": \"AKIDPROCESS\", \"SecretAccessKey\": \"s\"}'\n";
    let keys = "[default]\naws_access_key_id = AKIDDEFAULT\naws_secret_access_key = s\n[deploy]\naws_access_key_id = AKIDDEPLOY\n\
                aws_secret_access_key = s\n";
    let environment_keys = [("AWS_ACCESS_KEY_ID", "AKIDENVIRONMENT"), ("AWS_SECRET_ACCESS_KEY", "s")];
    let files = "  shared_config_files = [\"${path.root}/files/config\"]\n  shared_credentials_files = [\"${path.root}/files/credentials\"]\n";
    let static_keys = "  region = \"eu-central-1\"\n  access_key = \"AKIDBLOCK\"\n  secret_key = \"s\"\n";
    let all_variables =
        [environment_keys[0], environment_keys[1], ("AWS_REGION", "us-west-2"), ("AWS_PROFILE", "deploy")];
    type Case<'a> = (&'a str, String, &'a [(&'a str, &'a str)], &'a str, &'a str);
    let cases: [Case<'_>; 8] = [
        ("the block overrides all", static_keys.into(), &all_variables, "AKIDBLOCK", "eu-central-1"),
        ("the environment overrides the profile", String::new(), &all_variables, "AKIDENVIRONMENT", "us-west-2"),
        (
            "AWS_DEFAULT_REGION",
            String::new(),
            &[environment_keys[0], environment_keys[1], ("AWS_DEFAULT_REGION", "ap-south-1")],
            "AKIDENVIRONMENT",
            "ap-south-1",
        ),
        ("files in the home directory", String::new(), &[], "AKIDDEFAULT", "eu-west-1"),
        ("AWS_PROFILE", String::new(), &[("AWS_PROFILE", "deploy")], "AKIDDEPLOY", "eu-west-3"),
        ("an empty argument is unset", "  region = \"\"\n  profile = \"\"\n".into(), &[], "AKIDDEFAULT", "eu-west-1"),
        (
            "a profile of the block overrides keys of the environment",
            format!("  profile = \"deploy\"\n{files}"),
            &environment_keys,
            "AKIDDEPLOY",
            "eu-west-3",
        ),
        ("a process returns the keys", "  profile = \"process\"\n".into(), &[], "AKIDPROCESS", "eu-north-1"),
    ];
    for (case, lines, variables, key, region) in cases {
        let proxy = Proxy::moto();
        let mut workspace = with_block(&format!("{lines}{}", endpoints(&proxy)));
        let directory = workspace.path().join(if lines.contains("files/config") { "files" } else { ".aws" });
        std::fs::create_dir(&directory).expect("the directory is ours");
        std::fs::write(directory.join("config"), profiles).expect("the directory is ours");
        std::fs::write(directory.join("credentials"), keys).expect("the directory is ours");
        for (name, value) in variables {
            workspace.env(name, value);
        }
        assert_signed_by(case, &workspace, &proxy, key, region);
    }
}

#[test]
fn missing_region_or_credentials_error_lists_the_sources() {
    let proxy = Proxy::moto();
    let endpoints = endpoints(&proxy);
    let keys = "  access_key = \"AKID\"\n  secret_key = \"s\"\n";
    with_block(&format!("{keys}{endpoints}")).plan(&[]).failed_with(
        "The provider block has no region, AWS_REGION and AWS_DEFAULT_REGION are not set, and profile \"default\" has no region.",
    );
    let run = with_block(&format!("  region = \"eu-central-1\"\n{endpoints}")).plan(&[]);
    run.failed_with("Could not configure the provider: no AWS credentials");
    run.failed_with("AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY: not set");
    run.failed_with("profile \"default\" of the shared configuration and credentials files: no credentials");
    let unknown = with_block(&format!("  region = \"eu-central-1\"\n  profile = \"deplyo\"\n{endpoints}"));
    std::fs::create_dir(unknown.path().join(".aws")).expect("the directory is ours");
    unknown.write(".aws/config", "[profile deploy]\nregion = eu-west-3\n");
    unknown.plan(&[]).failed_with("define no profile \"deplyo\". Correct the name");
    let missing =
        with_block(&format!("  region = \"eu-central-1\"\n  custom_ca_bundle = \"/no/such/bundle\"\n{endpoints}"));
    missing.plan(&[]).failed_with("/no/such/bundle cannot be read");
    assert_eq!(proxy.calls().len(), 0, "the provider does not call AWS without credentials");
}

#[test]
fn rejected_credentials_are_reported_with_the_aws_message() {
    let proxy = Proxy::moto();
    proxy.fault(Fault::on("GetCallerIdentity").answer(403, "InvalidClientTokenId", "The security token is invalid"));
    let workspace = Workspace::new(&proxy);
    workspace.config(&network("this", ""));
    let run = workspace.plan(&[]);
    run.failed_with("STS GetCallerIdentity returned InvalidClientTokenId: The security token is invalid (request ID 0");
    run.failed_with("The provider uses access_key and secret_key of the provider block. Correct them");
    assert!(!run.says("skip_credentials_validation"), "STS answered, so it must not be skipped: {run}");
    assert_eq!(proxy.count("GetCallerIdentity"), 1, "a rejected call is not retried");
    assert_eq!(proxy.by_action().len(), 1, "{:?}", proxy.by_action());
}

#[test]
fn expired_credentials_are_named_with_their_source() {
    let proxy = Proxy::moto();
    proxy.fault(Fault::on("GetCallerIdentity").answer(403, "ExpiredToken", "The security token is expired"));
    let plan = |variables: &[(&str, &str)]| {
        let mut workspace = with_block(&endpoints(&proxy));
        let keys = "[team]\naws_access_key_id = AKIDTEAM\naws_secret_access_key = s\naws_session_token = t\n";
        at_home(&workspace, "[default]\nregion = eu-west-1\n", keys);
        for (name, value) in variables {
            workspace.env(name, value);
        }
        workspace.env("AWS_REGION", "eu-west-1");
        workspace.plan(&[])
    };
    let of_environment = [("AWS_ACCESS_KEY_ID", "A"), ("AWS_SECRET_ACCESS_KEY", "s"), ("AWS_SESSION_TOKEN", "t")];
    let run = plan(&of_environment);
    run.failed_with(
        "The credentials have expired. The provider uses AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY and \
                     AWS_SESSION_TOKEN of the environment. Set new values of all three",
    );
    let run = plan(&[("AWS_PROFILE", "team")]);
    run.failed_with(
        "The provider uses the access key of profile \"team\" in the shared configuration and credentials files",
    );
    // The first call that fails may come later, in the middle of an apply.
    proxy.clear_faults();
    proxy.fault(Fault::on("CreateVpc").answer(400, "RequestExpired", "Request has expired."));
    let workspace = Workspace::new(&proxy);
    workspace.config(&network("this", ""));
    let run = workspace.apply(&[]);
    run.failed_with("AWS rejected the credentials");
    run.failed_with("The provider uses access_key and secret_key of the provider block. Correct them");
}

#[test]
fn profile_of_the_block_or_the_environment_must_exist() {
    let proxy = Proxy::moto();
    let profiles = "[default]\nregion = eu-west-1\n[profile deploy]\nregion = eu-west-3\n";
    let keys = "[default]\naws_access_key_id = AKIDDEFAULT\naws_secret_access_key = s\n[deploy]\naws_access_key_id = AKIDDEPLOY\n\
                aws_secret_access_key = s\n";
    let workspace = |variables: &[(&str, &str)]| {
        let mut workspace = with_block(&endpoints(&proxy));
        at_home(&workspace, profiles, keys);
        for (name, value) in variables {
            workspace.env(name, value);
        }
        proxy.clear_calls();
        workspace
    };
    let by_older_name = workspace(&[("AWS_DEFAULT_PROFILE", "deploy")]);
    assert_signed_by("AWS_DEFAULT_PROFILE", &by_older_name, &proxy, "AKIDDEPLOY", "eu-west-3");
    let empty = workspace(&[("AWS_PROFILE", ""), ("AWS_DEFAULT_PROFILE", "")]);
    assert_signed_by("an empty variable is unset", &empty, &proxy, "AKIDDEFAULT", "eu-west-1");
    // The provider must not use other credentials instead, because they usually belong to another account.
    let others = [("AWS_PROFILE", "deplyo"), ("AWS_ACCESS_KEY_ID", "AKIDENVIRONMENT"), ("AWS_SECRET_ACCESS_KEY", "s")];
    let run = workspace(&others).plan(&[]);
    run.failed_with("define no profile \"deplyo\". Correct the name");
    assert!(!run.says("default, deploy"), "the names of other profiles are not shown: {run}");
    run.failed_with("Correct the name in AWS_PROFILE");
    assert_eq!(proxy.calls().len(), 0);
}

#[test]
fn tilde_in_file_names_is_the_home_directory() {
    let proxy = Proxy::moto();
    let lines = "  profile = \"deploy\"\n  shared_config_files = [\"~/conf/aws\", \"~/conf/more\"]\n  \
                 shared_credentials_files = [\"~/conf/keys\"]\n  custom_ca_bundle = \"~/conf/authority.pem\"\n";
    let workspace = with_block(&format!("{lines}{}", endpoints(&proxy)));
    std::fs::create_dir(workspace.path().join("conf")).expect("the directory is ours");
    workspace.write("conf/aws", "[profile deploy]\nregion = eu-west-1\n");
    workspace.write("conf/more", "[profile deploy]\nregion = eu-west-3\n");
    workspace.write("conf/keys", "[deploy]\naws_access_key_id = AKIDHOME\naws_secret_access_key = s\n");
    workspace.write("conf/authority.pem", Tunnel::to(&proxy).authority());
    assert_signed_by("the later file wins", &workspace, &proxy, "AKIDHOME", "eu-west-3");
    let missing = with_block(&format!("  shared_config_files = [\"~/no/such/file\"]\n{}", endpoints(&proxy))).plan(&[]);
    missing.failed_with("Could not read the shared AWS configuration files").failed_with("no/such/file");
}

#[test]
fn credential_process_returns_temporary_keys_or_an_error() {
    let proxy = Proxy::moto();
    let plan = |process: &str| {
        let workspace = with_block(&format!("  region = \"us-east-1\"\n{}", endpoints(&proxy)));
        at_home(&workspace, &format!("[default]\ncredential_process = {process}\n"), "");
        proxy.clear_calls();
        workspace.plan(&[])
    };
    let keys = "'{\"Version\": 1, \"AccessKeyId\": \"AKIDVAULT\", \"SecretAccessKey\": \"s\", \"SessionToken\": \"t\", \
                \"Expiration\": \"2099-01-01T00:00:00Z\"}'";
    assert_eq!(plan(&format!("echo {keys}")).code, 2);
    assert!(proxy.calls().iter().all(|record| record.call.access_key == "AKIDVAULT"), "{:?}", proxy.by_action());
    // The SDK quotes what the process writes to stderr, which may contain secrets that the provider cannot know.
    let failed = plan("sh -c 'echo vault-token=hvs.CAESIJ012345 >&2; exit 3'");
    failed.failed_with("Could not configure the provider: no AWS credentials");
    failed.failed_with("exit status: 3").failed_with("Run the command of credential_process by hand to see its error");
    assert!(!failed.says("hvs."), "the message contains the error output of the process:\n{failed}");
    plan("echo '{\"Version\": 1, \"AccessKeyId\": \"AKIDVAULT\"}'")
        .failed_with("Could not configure the provider: no AWS credentials");
    plan("/no/such/vault").failed_with("Could not configure the provider: no AWS credentials");
    assert_eq!(proxy.calls().len(), 0, "the provider does not call AWS without credentials");
}
