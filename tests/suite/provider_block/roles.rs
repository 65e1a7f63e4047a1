//! Assumed roles and allowed accounts.

use std::collections::BTreeSet;

use serde_json::Value;

use super::{NETWORK, at_home, endpoints, network, scopes, text, with_block};
use crate::support::emulator::Emulator;
use crate::support::proxy::Proxy;
use crate::support::proxy::call::Call;
use crate::support::proxy::fault::Fault;
use crate::support::terraform::Workspace;

#[test]
fn two_aliases_use_two_accounts_and_a_chain_of_roles() {
    let proxy = Proxy::moto();
    let (gate, target) = (Emulator::moto().account(), Emulator::moto().account());
    let keys = |region: &str| {
        format!("  region = \"{region}\"\n  access_key = \"AKIDFIRST\"\n  secret_key = \"s\"\n{}", endpoints(&proxy))
    };
    let workspace = Workspace::with_blocks(&format!(
        "provider \"fgw\" {{\n{keys_here}  allowed_account_ids = [\"{here}\"]\n}}\n\
         provider \"fgw\" {{\n  alias = \"there\"\n{keys_there}  allowed_account_ids = [\"{there}\"]\n  sts_region = \"us-west-2\"\n\
           assume_role {{\n    role_arn = \"arn:aws:iam::{gate}:role/gate\"\n    session_name = \"pipeline\"\n    \
             external_id = \"ticket\"\n    duration = \"1h\"\n    tags = {{ team = \"net\" }}\n    transitive_tag_keys = [\"team\"]\n    \
             source_identity = \"ada\"\n    policy = jsonencode({{ Version = \"2012-10-17\" }})\n    \
             policy_arns = [\"arn:aws:iam::aws:policy/ReadOnlyAccess\"]\n  }}\n\
           assume_role {{\n    role_arn = \"arn:aws:iam::{there}:role/deploy\"\n  }}\n}}\n",
        keys_here = keys("us-east-1"),
        keys_there = keys("eu-west-1"),
        here = proxy.account().id,
        gate = gate.id,
        there = target.id,
    ));
    workspace.config(&(network("here", "") + &network("there", "  provider = fgw.there")));
    workspace.apply(&[]).succeeded();
    workspace.assert_nothing_to_do();

    let state = workspace.state();
    for (account, name, region) in [(proxy.account(), "here", "us-east-1"), (&target, "there", "eu-west-1")] {
        let attribute = |attribute: &str| state.attribute(&format!("fgw_four_tier_vpc.{name}"), attribute).clone();
        let arn = format!("arn:aws:ec2:{region}:{}:vpc/{}", account.id, text(&attribute("vpc_id")));
        assert_eq!(attribute("vpc_arn"), arn.as_str());
        let subnets = attribute("public_subnets").as_object().cloned().unwrap_or_default();
        assert_eq!(subnets.len(), 1);
        let is_in_account = |subnet: &Value| {
            subnet["owner_id"] == account.id.as_str() && text(&subnet["availability_zone"]).starts_with(region)
        };
        assert!(subnets.values().all(is_in_account), "{subnets:?}");
    }
    assert_eq!(proxy.account().list_of("vpcs").len(), 1);
    let signers: BTreeSet<(String, bool)> = proxy
        .calls()
        .into_iter()
        .filter(|record| record.call.service == "ec2")
        .map(|record| (record.call.region, record.call.access_key.starts_with("ASIA")))
        .collect();
    assert_eq!(signers, BTreeSet::from([("us-east-1".to_owned(), false), ("eu-west-1".to_owned(), true)]));

    let roles: Vec<_> = proxy.calls().into_iter().filter(|record| record.call.action == "AssumeRole").collect();
    let (first, second) = (&roles[0].call, &roles[1].call);
    assert_eq!(first.access_key, "AKIDFIRST");
    assert!(second.access_key.starts_with("ASIA"), "{}", second.access_key);
    assert!(first.param("RoleArn").ends_with("role/gate") && second.param("RoleArn").ends_with("role/deploy"));
    for (name, value) in [
        ("RoleSessionName", "pipeline"),
        ("ExternalId", "ticket"),
        ("DurationSeconds", "3600"),
        ("Tags.member.1.Key", "team"),
        ("Tags.member.1.Value", "net"),
        ("TransitiveTagKeys.member.1", "team"),
        ("SourceIdentity", "ada"),
        ("Policy", "{\"Version\":\"2012-10-17\"}"),
        ("PolicyArns.member.1.arn", "arn:aws:iam::aws:policy/ReadOnlyAccess"),
    ] {
        assert_eq!(first.param(name), value, "{name}");
    }
    assert_eq!((first.region.as_str(), second.region.as_str()), ("us-west-2", "us-west-2"));
    assert!(second.param("RoleSessionName").starts_with("terraform-provider-fgw-"), "{:?}", second.params);

    workspace.destroy().succeeded();
    proxy.account().assert_nothing_of_ours_is_left();
    assert_eq!(proxy.succeeded("DeleteVpc"), 2);
}

#[test]
fn web_identity_token_needs_no_other_credentials() {
    let proxy = Proxy::moto();
    let target = Emulator::moto().account();
    let lines = format!(
        "  region = \"us-east-1\"\n{}  allowed_account_ids = [\"{there}\"]\n  assume_role_with_web_identity {{\n    \
         role_arn = \"arn:aws:iam::{there}:role/ci\"\n    session_name = \"ci-7\"\n    web_identity_token_file = \"${{path.root}}/token\"\n  }}\n",
        endpoints(&proxy),
        there = target.id,
    );
    let workspace = with_block(&lines);
    workspace.write("token", "ey.token\n");
    let plan = workspace.plan(&[]);
    assert_eq!(plan.code, 2, "{plan}");
    let calls = proxy.calls();
    assert_eq!(calls[0].call.action, "AssumeRoleWithWebIdentity");
    assert_eq!((calls[0].call.param("WebIdentityToken"), calls[0].call.access_key.as_str()), ("ey.token", ""));
    assert_eq!(calls[0].call.param("RoleSessionName"), "ci-7");
    assert!(calls[1..].iter().all(|record| record.call.access_key.starts_with("ASIA")), "{:?}", scopes(&proxy));
}

/// The calls to STS that assume a role, in order.
fn role_calls(proxy: &Proxy) -> Vec<Call> {
    let calls = proxy.calls().into_iter().map(|record| record.call);
    calls.filter(|call| call.action.starts_with("AssumeRole")).collect()
}

#[test]
fn web_identity_token_of_the_environment_needs_no_block() {
    let proxy = Proxy::moto();
    let target = Emulator::moto().account();
    let role = format!("arn:aws:iam::{}:role/ci", target.id);
    let lines = format!("  region = \"us-east-1\"\n  sts_region = \"us-west-2\"\n{}", endpoints(&proxy));
    let block = "  assume_role_with_web_identity {\n    duration = \"30m\"\n    policy_arns = [\"arn:aws:iam::aws:policy/ReadOnlyAccess\"]\n    \
                 policy = jsonencode({ Version = \"2012-10-17\" })\n  }\n";
    // As CI systems set it up, and with a block that sets more options of the session.
    for (lines, duration) in [(lines.clone(), ""), (format!("{lines}{block}"), "1800")] {
        let mut workspace = with_block(&lines);
        workspace.write("token", "ey.of-ci\n");
        let token = workspace.path().join("token");
        workspace.env("AWS_WEB_IDENTITY_TOKEN_FILE", token.to_str().expect("a path of ours is text"));
        workspace.env("AWS_ROLE_ARN", &role);
        workspace.env("AWS_ROLE_SESSION_NAME", "build-42");
        proxy.clear_calls();
        let plan = workspace.plan(&[]);
        assert_eq!(plan.code, 2, "{plan}");
        let calls = proxy.calls();
        let first = &calls[0].call;
        assert_eq!((first.action.as_str(), first.access_key.as_str()), ("AssumeRoleWithWebIdentity", ""));
        for (name, value) in [
            ("WebIdentityToken", "ey.of-ci"),
            ("RoleArn", &role),
            ("RoleSessionName", "build-42"),
            ("DurationSeconds", duration),
        ] {
            assert_eq!(first.param(name), value, "{name}");
        }
        assert_eq!(first.param("PolicyArns.member.1.arn").is_empty(), duration.is_empty());
        assert_eq!(first.param("Policy").is_empty(), duration.is_empty());
        assert!(calls[1..].iter().all(|record| record.call.access_key.starts_with("ASIA")), "{:?}", scopes(&proxy));
        assert_eq!(role_calls(&proxy).len(), 1);
    }
}

#[test]
fn roles_follow_an_inline_web_identity_token() {
    let proxy = Proxy::moto();
    let (gate, target) = (Emulator::moto().account(), Emulator::moto().account());
    let lines = format!(
        "  region = \"us-east-1\"\n{}  assume_role_with_web_identity {{\n    role_arn = \"arn:aws:iam::{}:role/ci\"\n    \
         web_identity_token = \"ey.inline\"\n  }}\n  assume_role {{\n    role_arn = \"arn:aws:iam::{there}:role/deploy\"\n  }}\n  \
         allowed_account_ids = [\"{there}\"]\n",
        endpoints(&proxy),
        gate.id,
        there = target.id,
    );
    let plan = with_block(&lines).plan(&[]);
    assert_eq!(plan.code, 2, "{plan}");
    let roles = role_calls(&proxy);
    assert_eq!(
        roles.iter().map(|call| call.action.as_str()).collect::<Vec<_>>(),
        ["AssumeRoleWithWebIdentity", "AssumeRole"]
    );
    assert_eq!(roles[0].param("WebIdentityToken"), "ey.inline");
    assert!(roles[0].param("RoleSessionName").starts_with("terraform-provider-fgw-"), "{:?}", roles[0].params);
    assert!(roles[1].access_key.starts_with("ASIA"));
    let last = proxy.calls().pop().expect("the plan looks up zones").call;
    assert!(last.access_key.starts_with("ASIA") && last.access_key != roles[1].access_key, "the last role is used");
}

#[test]
fn web_identity_errors_name_the_file_or_the_role() {
    let proxy = Proxy::moto();
    let plan = |token: Option<&str>| {
        let mut workspace = with_block(&format!("  region = \"us-east-1\"\n{}", endpoints(&proxy)));
        if let Some(token) = token {
            workspace.write("token", token);
        }
        let file = workspace.path().join("token");
        workspace.env("AWS_WEB_IDENTITY_TOKEN_FILE", file.to_str().expect("a path of ours is text"));
        workspace.env("AWS_ROLE_ARN", "arn:aws:iam::123456789012:role/ci");
        workspace.plan(&[])
    };
    plan(None).failed_with("the web identity token file").failed_with("No such file");
    assert_eq!(proxy.calls().len(), 0);
    proxy.fault(Fault::on("AssumeRoleWithWebIdentity").answer(
        400,
        "ExpiredTokenException",
        "Token expired: ey.old-token-of-a-build",
    ));
    let run = plan(Some("ey.old-token-of-a-build"));
    run.failed_with("The role arn:aws:iam::123456789012:role/ci could not be assumed: ExpiredTokenException: ");
    run.failed_with("Token expired");
    assert!(!run.says("ey.old-token-of-a-build"), "the message contains the token, which AWS quotes:\n{run}");
    assert_eq!(proxy.calls().len(), 1, "a rejected call is not retried: {:?}", proxy.by_action());
}

#[test]
fn profile_role_chains_use_the_sts_endpoint_and_region() {
    let proxy = Proxy::moto();
    let (gate, target) = (Emulator::moto().account(), Emulator::moto().account());
    let profiles = format!(
        "[profile deploy]\nregion = eu-west-1\nsource_profile = gate\nrole_arn = arn:aws:iam::{there}:role/deploy\nduration_seconds = 1200\n\
         [profile gate]\nsource_profile = people\nrole_arn = arn:aws:iam::{gate}:role/gate\nexternal_id = ticket\n\
         role_session_name = ada\n[profile alone]\nregion = eu-west-1\nsource_profile = alone\n\
         role_arn = arn:aws:iam::{there}:role/deploy\naws_access_key_id = AKIDALONE\naws_secret_access_key = s\n\
         [profile variables]\nregion = eu-west-1\ncredential_source = Environment\nrole_arn = arn:aws:iam::{there}:role/deploy\n",
        gate = gate.id,
        there = target.id,
    );
    let plan = |profile: &str, lines: &str| {
        let mut workspace = with_block(&format!("  profile = \"{profile}\"\n{lines}{}", endpoints(&proxy)));
        at_home(&workspace, &profiles, "[people]\naws_access_key_id = AKIDPEOPLE\naws_secret_access_key = s\n");
        workspace.env("AWS_ACCESS_KEY_ID", "AKIDENVIRONMENT");
        workspace.env("AWS_SECRET_ACCESS_KEY", "s");
        proxy.clear_calls();
        workspace.plan(&[])
    };
    let run = plan("deploy", &format!("  sts_region = \"us-west-2\"\n  allowed_account_ids = [\"{}\"]\n", target.id));
    assert_eq!(run.code, 2, "{run}");
    let roles = role_calls(&proxy);
    assert_eq!(roles.len(), 2, "{:?}", proxy.by_action());
    assert!(roles[0].param("RoleArn").ends_with("role/gate") && roles[1].param("RoleArn").ends_with("role/deploy"));
    assert_eq!((roles[0].access_key.as_str(), &roles[1].access_key[..4]), ("AKIDPEOPLE", "ASIA"));
    assert_eq!((roles[0].param("ExternalId"), roles[0].param("RoleSessionName")), ("ticket", "ada"));
    assert_eq!(roles[1].param("DurationSeconds"), "1200");
    assert!(roles.iter().all(|call| call.region == "us-west-2"), "{roles:?}");
    let ec2: Vec<_> = proxy.calls().into_iter().filter(|record| record.call.service == "ec2").collect();
    assert!(ec2.iter().all(|record| record.call.region == "eu-west-1" && record.call.access_key.starts_with("ASIA")));

    // A profile that is its own source, and one that uses the keys of the environment.
    for (profile, key) in [("alone", "AKIDALONE"), ("variables", "AKIDENVIRONMENT")] {
        let run = plan(profile, "");
        assert_eq!(run.code, 2, "{profile}: {run}");
        let roles = role_calls(&proxy);
        assert_eq!(roles.iter().map(|call| call.access_key.as_str()).collect::<Vec<_>>(), [key], "{profile}");
    }
    proxy.fault(Fault::on("AssumeRole").answer(403, "AccessDenied", REFUSED));
    plan("deploy", "").failed_with(&format!("role/gate could not be assumed: AccessDenied: {REFUSED}"));
}

/// What STS says about a role that is not assumed a second time.
const REFUSED: &str = "You may not assume it, with an explicit deny in an identity-based policy";

/// A network whose provider assumes a role.
fn with_role(proxy: &Proxy) -> Workspace {
    let role = "  assume_role {\n    role_arn = \"arn:aws:iam::123456789012:role/deploy\"\n  }\n";
    let workspace = Workspace::with_provider(proxy, role);
    workspace.config(&network("this", ""));
    workspace
}

#[test]
fn rejected_role_is_reported_with_the_message_of_sts() {
    let proxy = Proxy::moto();
    proxy.fault(Fault::on("AssumeRole").answer(403, "AccessDenied", REFUSED));
    let run = with_role(&proxy).plan(&[]);
    run.failed_with("Could not configure the provider: role cannot be assumed");
    let role = "The role arn:aws:iam::123456789012:role/deploy could not be assumed";
    run.failed_with(&format!("{role}: AccessDenied: {REFUSED}"));
    run.failed_with("Check that the role exists, that its trust policy allows the caller, and that a policy");
    assert!(!run.says("Error {"), "{run}");
    assert_eq!((proxy.mutations().len(), proxy.count("AssumeRole")), (0, 1), "an explicit deny is not retried");
}

#[test]
fn a_role_that_iam_does_not_know_yet_is_assumed_again() {
    let proxy = Proxy::moto();
    let text = "User: arn:aws:iam::123456789012:user/ci is not authorized to perform: sts:AssumeRole";
    proxy.fault(Fault::on("AssumeRole").nth(1).answer(403, "AccessDenied", text));
    let run = with_role(&proxy).plan(&[]);
    assert_eq!(run.code, 2, "{run}");
    assert_eq!(proxy.count("AssumeRole"), 2);
}

#[test]
fn disallowed_account_is_rejected_with_both_account_ids() {
    let proxy = Proxy::moto();
    let account = &proxy.account().id;
    let plan = |lines: &str| {
        let workspace = Workspace::with_provider(&proxy, lines);
        workspace.config(&network("this", ""));
        workspace.plan(&[])
    };
    let not_allowed = plan("  allowed_account_ids = [\"111111111111\", \"222222222222\"]\n");
    not_allowed.failed_with(&format!(
        "The credentials belong to account {account}, and allowed_account_ids allows only 111111111111, 222222222222."
    ));
    let forbidden = plan(&format!("  forbidden_account_ids = [\"111111111111\", \"{account}\"]\n"));
    forbidden.failed_with(&format!(
        "The credentials belong to account {account}, and forbidden_account_ids lists 111111111111, {account}."
    ));
    assert_eq!(proxy.count("DescribeAvailabilityZones"), 0, "nothing is read in a rejected account");
    assert_eq!(plan("  forbidden_account_ids = [\"111111111111\"]\n").code, 2);
    // The account ID is read for the check even if the credentials are not validated.
    let unvalidated = plan("  allowed_account_ids = [\"111111111111\"]\n  skip_credentials_validation = true\n");
    unvalidated.failed_with("allowed_account_ids allows only 111111111111");
}

#[test]
fn sts_is_never_called_if_both_checks_are_skipped() {
    let proxy = Proxy::moto();
    proxy.fault(Fault::on("GetCallerIdentity").answer(403, "AccessDenied", "no"));
    let lines =
        "  skip_credentials_validation = true\n  skip_requesting_account_id = true\n  skip_metadata_api_check = true\n";
    let workspace = Workspace::with_provider(&proxy, lines);
    workspace.config(&network("this", ""));
    workspace.apply(&[]).succeeded();
    workspace.assert_nothing_to_do();
    let vpc = workspace.state().attribute(NETWORK, "vpc_id").clone();
    let arn = format!("arn:aws:ec2:us-east-1:{}:vpc/{}", proxy.account().id, text(&vpc));
    assert_eq!(workspace.state().attribute(NETWORK, "vpc_arn"), arn.as_str());
    workspace.destroy().succeeded();
    proxy.account().assert_nothing_of_ours_is_left();
    assert!(proxy.calls().iter().all(|record| record.call.service == "ec2"), "{:?}", proxy.by_action());
}
