//! The provider block under real Terraform: where Region, credentials and endpoints come from, whose account is worked on,
//! tags for everything, and what a bad value says.

use std::collections::BTreeSet;
use std::time::Duration;

use serde_json::{Value, json};

use crate::support::emulator::{Account, Emulator, free_port};
use crate::support::proxy::Proxy;
use crate::support::proxy::fault::Fault;
use crate::support::terraform::{Run, Workspace};

const NETWORK: &str = "fgw_four_tier_vpc.this";

/// The smallest network, a VPC with one public subnet; with further lines.
fn network(name: &str, lines: &str) -> String {
    format!(
        "resource \"fgw_four_tier_vpc\" \"{name}\" {{\n  vpc_name = \"{name}\"\n  cidr_block = \"10.0.0.0/16\"\n  num_nat_gateways = 0\n  \
         num_availability_zones = 1\n  create_private_app_subnets = false\n  create_private_persistence_subnets = false\n  \
         create_vpc_endpoints = false\n{lines}\n}}\n"
    )
}

/// A provider block of these lines, and the smallest network.
fn with_block(lines: &str) -> Workspace {
    let workspace = Workspace::with_blocks(&format!("provider \"fgw\" {{\n{lines}\n}}\n"));
    workspace.config(&network("this", ""));
    workspace
}

/// The `endpoints` block for all that a network needs.
fn endpoints(proxy: &Proxy) -> String {
    let url = proxy.endpoint();
    format!("  endpoints {{\n    ec2 = \"{url}\"\n    sts = \"{url}\"\n  }}\n")
}

/// Who signed the calls, and for which Region: access key and Region of every call.
fn scopes(proxy: &Proxy) -> BTreeSet<(String, String)> {
    proxy.calls().into_iter().map(|record| (record.call.access_key, record.call.region)).collect()
}

/// Plans to make the network, and asserts that every call of EC2 and STS was signed so.
fn assert_signed_by(case: &str, workspace: &Workspace, proxy: &Proxy, key: &str, region: &str) {
    let plan = workspace.plan(&[]);
    assert_eq!(plan.code, 2, "{case}: {plan}");
    assert_eq!(scopes(proxy), BTreeSet::from([(key.to_owned(), region.to_owned())]), "{case}");
    assert_eq!(proxy.count("GetCallerIdentity"), 1, "{case}: credentials are checked once per start");
    assert!(proxy.count("DescribeAvailabilityZones") >= 1, "{case}");
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_else(|| panic!("no text: {value}"))
}

#[test]
fn the_example_of_the_index_page_applies() {
    let example = concat!(env!("CARGO_MANIFEST_DIR"), "/examples/provider/provider.tf");
    let example = std::fs::read_to_string(example).unwrap_or_else(|error| panic!("{example}: {error}"));
    let proxy = Proxy::moto();
    let mut workspace = Workspace::bare();
    workspace.write("provider.tf", &example.replace("eu-central-1", "us-east-1"));
    workspace.config(&network("this", ""));
    workspace.env("AWS_ACCESS_KEY_ID", &proxy.account().id);
    workspace.env("AWS_SECRET_ACCESS_KEY", "test");
    workspace.env("AWS_ENDPOINT_URL", &proxy.endpoint());
    workspace.apply(&[]).succeeded();
    assert_eq!(workspace.state().attribute(NETWORK, "tags_all")["Owner"], "platform");
    workspace.assert_nothing_to_do();
    workspace.destroy().succeeded();
    proxy.account().assert_nothing_of_ours_is_left();
}

// Region, credentials, endpoints.

#[test]
fn region_and_keys_come_from_the_block_then_the_environment_then_the_profile() {
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
        ("the block goes before all", static_keys.into(), &all_variables, "AKIDBLOCK", "eu-central-1"),
        ("the environment goes before the profile", String::new(), &all_variables, "AKIDENVIRONMENT", "us-west-2"),
        (
            "AWS_DEFAULT_REGION",
            String::new(),
            &[environment_keys[0], environment_keys[1], ("AWS_DEFAULT_REGION", "ap-south-1")],
            "AKIDENVIRONMENT",
            "ap-south-1",
        ),
        ("files at home", String::new(), &[], "AKIDDEFAULT", "eu-west-1"),
        ("AWS_PROFILE", String::new(), &[("AWS_PROFILE", "deploy")], "AKIDDEPLOY", "eu-west-3"),
        ("an empty argument is none", "  region = \"\"\n  profile = \"\"\n".into(), &[], "AKIDDEFAULT", "eu-west-1"),
        (
            "a profile of the block goes before keys of the environment",
            format!("  profile = \"deploy\"\n{files}"),
            &environment_keys,
            "AKIDDEPLOY",
            "eu-west-3",
        ),
        ("a process gives the keys", "  profile = \"process\"\n".into(), &[], "AKIDPROCESS", "eu-north-1"),
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
fn an_endpoint_of_the_block_goes_before_that_of_its_service_and_that_before_the_one_for_all() {
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
fn without_region_or_credentials_the_error_says_where_they_were_looked_for() {
    let proxy = Proxy::moto();
    let endpoints = endpoints(&proxy);
    let keys = "  access_key = \"AKID\"\n  secret_key = \"s\"\n";
    with_block(&format!("{keys}{endpoints}")).plan(&[]).failed_with(
        "The provider block has no region, AWS_REGION and AWS_DEFAULT_REGION are not set, and profile \"default\" has no region.",
    );
    let run = with_block(&format!("  region = \"eu-central-1\"\n{endpoints}")).plan(&[]);
    run.failed_with("No AWS credentials");
    run.failed_with("AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY: not set");
    run.failed_with("profile \"default\" of the shared configuration and credentials files: no credentials");
    let unknown = with_block(&format!("  region = \"eu-central-1\"\n  profile = \"deplyo\"\n{endpoints}"));
    std::fs::create_dir(unknown.path().join(".aws")).expect("the directory is ours");
    unknown.write(".aws/config", "[profile deploy]\nregion = eu-west-3\n");
    unknown.plan(&[]).failed_with("define no profile \"deplyo\"; they define: deploy.");
    let missing =
        with_block(&format!("  region = \"eu-central-1\"\n  custom_ca_bundle = \"/no/such/bundle\"\n{endpoints}"));
    missing.plan(&[]).failed_with("/no/such/bundle cannot be read");
    assert_eq!(proxy.calls().len(), 0, "nothing is asked of AWS without credentials");
}

#[test]
fn credentials_that_aws_refuses_are_told_in_its_words() {
    let proxy = Proxy::moto();
    proxy.fault(Fault::on("GetCallerIdentity").answer(403, "InvalidClientTokenId", "The security token is invalid"));
    let workspace = Workspace::new(&proxy);
    workspace.config(&network("this", ""));
    let run = workspace.plan(&[]);
    run.failed_with("STS GetCallerIdentity failed: InvalidClientTokenId: The security token is invalid (request 0");
    assert_eq!(proxy.count("GetCallerIdentity"), 1, "a refusal is not asked for again");
    assert_eq!(proxy.by_action().len(), 1, "{:?}", proxy.by_action());
}

#[test]
fn a_throttled_call_is_sent_as_often_as_max_retries_says() {
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
fn an_endpoint_that_nobody_answers_is_told_in_plain_words() {
    let proxy = Proxy::moto();
    let nobody = format!("http://127.0.0.1:{}", free_port());
    let lines = format!(
        "  region = \"us-east-1\"\n  access_key = \"AKID\"\n  secret_key = \"s\"\n  max_retries = 1\n  endpoints {{\n    \
         sts = \"{}\"\n    ec2 = \"{nobody}\"\n  }}\n",
        proxy.endpoint()
    );
    let run = with_block(&lines).plan(&[]);
    run.failed_with("no connection: ").failed_with("Connection refused");
    for inner in ["DispatchFailure", "ConnectorError", "Os {", "client::"] {
        assert!(!run.says(inner), "{inner} is the language of the program, not of its user:\n{run}");
    }
}

// Roles and accounts.

#[test]
fn two_aliases_work_in_two_accounts_one_of_them_through_a_chain_of_roles() {
    let proxy = Proxy::moto();
    let (gate, target): (Account, Account) = (Emulator::moto().account(), Emulator::moto().account());
    let keys =
        format!("  region = \"us-east-1\"\n  access_key = \"AKIDFIRST\"\n  secret_key = \"s\"\n{}", endpoints(&proxy));
    let workspace = Workspace::with_blocks(&format!(
        "provider \"fgw\" {{\n{keys}  allowed_account_ids = [\"{here}\"]\n}}\n\
         provider \"fgw\" {{\n  alias = \"there\"\n{keys}  allowed_account_ids = [\"{there}\"]\n  sts_region = \"us-west-2\"\n\
           assume_role {{\n    role_arn = \"arn:aws:iam::{gate}:role/gate\"\n    session_name = \"pipeline\"\n    \
             external_id = \"ticket\"\n    duration = \"1h\"\n    tags = {{ team = \"net\" }}\n    transitive_tag_keys = [\"team\"]\n  }}\n\
           assume_role {{\n    role_arn = \"arn:aws:iam::{there}:role/deploy\"\n  }}\n}}\n",
        here = proxy.account().id,
        gate = gate.id,
        there = target.id,
    ));
    workspace.config(&(network("here", "") + &network("there", "  provider = fgw.there")));
    workspace.apply(&[]).succeeded();
    workspace.assert_nothing_to_do();

    let state = workspace.state();
    for (account, name) in [(proxy.account(), "here"), (&target, "there")] {
        let vpcs = account.list_of("vpcs");
        let address = format!("fgw_four_tier_vpc.{name}");
        assert_eq!(vpcs.len(), 1, "{name}: {vpcs:?}");
        assert_eq!(&vpcs[0]["VpcId"], state.attribute(&address, "vpc_id"));
        let arn = format!("arn:aws:ec2:us-east-1:{}:vpc/{}", account.id, text(&vpcs[0]["VpcId"]));
        assert_eq!(state.attribute(&address, "vpc_arn"), arn.as_str());
        let subnets = state.attribute(&address, "public_subnets").as_object().cloned().unwrap_or_default();
        assert!(subnets.values().all(|subnet| subnet["owner_id"] == account.id.as_str()), "{subnets:?}");
    }
    assert!(gate.list_of("vpcs").is_empty());

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
        ("TransitiveTagKeys.member.1", "team"),
    ] {
        assert_eq!(first.param(name), value, "{name}");
    }
    assert_eq!((first.region.as_str(), second.region.as_str()), ("us-west-2", "us-west-2"));

    workspace.destroy().succeeded();
    proxy.account().assert_nothing_of_ours_is_left();
    target.assert_nothing_of_ours_is_left();
}

#[test]
fn a_web_identity_token_gives_credentials_without_any_other() {
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

#[test]
fn a_refused_role_is_named_with_the_words_of_sts() {
    let proxy = Proxy::moto();
    proxy.fault(Fault::on("AssumeRole").answer(403, "AccessDenied", "You may not assume it"));
    let role = "  assume_role {\n    role_arn = \"arn:aws:iam::123456789012:role/deploy\"\n  }\n";
    let workspace = Workspace::with_provider(&proxy, role);
    workspace.config(&network("this", ""));
    let run = workspace.plan(&[]);
    run.failed_with("the role arn:aws:iam::123456789012:role/deploy could not be assumed");
    run.failed_with("You may not assume it");
    assert_eq!(proxy.mutations().len(), 0);
}

#[test]
fn an_account_that_may_not_be_worked_on_is_refused_with_both_numbers() {
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
    assert_eq!(proxy.count("DescribeAvailabilityZones"), 0, "nothing is read in an account that is refused");
    assert_eq!(plan("  forbidden_account_ids = [\"111111111111\"]\n").code, 2);
    // An account to be checked is asked for, although the credentials are not validated.
    let unvalidated = plan("  allowed_account_ids = [\"111111111111\"]\n  skip_credentials_validation = true\n");
    unvalidated.failed_with("allowed_account_ids allows only 111111111111");
}

#[test]
fn where_both_checks_are_skipped_sts_is_never_asked_and_the_network_is_made() {
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

// Tags.

/// The kinds of a listing whose objects carry tags, and how many a network of one AZ with three tiers and one NAT
/// gateway has.
const TAGGED: &[(&str, usize)] = &[
    ("vpcs", 1),
    ("subnets", 3),
    ("internet_gateways", 1),
    ("addresses", 1),
    ("nat_gateways", 1),
    ("vpc_endpoints", 2),
];

/// Every tagged object of the account: a name for messages, and its tags.
fn tagged(account: &Account) -> Vec<(String, Value)> {
    let listing = account.list();
    let mut found = Vec::new();
    for (kind, count) in TAGGED {
        let objects = listing[*kind].as_array().unwrap_or_else(|| panic!("no {kind}"));
        assert_eq!(objects.len(), *count, "{kind}");
        found.extend(objects.iter().map(|object| (format!("{kind} {object}"), object["tags"].clone())));
    }
    // The main route table, which AWS makes, is not ours.
    let tables = listing["route_tables"].as_array().expect("a list of tables");
    let own: Vec<&Value> = tables.iter().filter(|table| !table["tags"]["fgw:object"].is_null()).collect();
    assert_eq!(own.len(), 3, "{tables:?}");
    found.extend(own.iter().map(|table| (format!("route table {table}"), table["tags"].clone())));
    found
}

#[test]
fn default_tags_of_block_and_environment_are_on_every_object_and_follow_changes() {
    let proxy = Proxy::moto();
    let mut workspace = Workspace::new(&proxy);
    let provider = |tags: &str| {
        format!(
            "terraform {{\n  required_providers {{\n    fgw = {{\n      source = \"fgw/fgw\"\n    }}\n  }}\n}}\n\
             provider \"fgw\" {{\n  region = \"us-east-1\"\n  access_key = \"AKID\"\n  secret_key = \"s\"\n{}  default_tags {{\n    tags = {tags}\n  }}\n}}\n",
            endpoints(&proxy)
        )
    };
    workspace.write("provider.tf", &provider("{ team = \"net\", cost = \"7\", level = \"default\" }"));
    workspace.env("TF_AWS_DEFAULT_TAGS_stage", "test");
    workspace.env("TF_AWS_DEFAULT_TAGS_team", "overridden");
    workspace.config(
        "resource \"fgw_four_tier_vpc\" \"this\" {\n  vpc_name = \"main\"\n  cidr_block = \"10.0.0.0/16\"\n  num_nat_gateways = 1\n  \
         num_availability_zones = 1\n  custom_tags = { level = \"custom\" }\n}\n",
    );
    // What a plan promises, Terraform holds the apply to.
    let planned = workspace.plan_json(&[]);
    let all = json!({"team": "net", "cost": "7", "level": "custom", "stage": "test"});
    assert_eq!(planned["planned_values"]["root_module"]["resources"][0]["values"]["tags_all"], all);
    workspace.apply_plan().succeeded();
    workspace.assert_nothing_to_do();
    // Not the exit code: Terraform 1.11 may give 2 together with these words (hashicorp/terraform#36403). The state tells.
    let refreshed = workspace.plan(&["-refresh-only"]);
    assert!(refreshed.says("found no differences"), "{refreshed}");
    let before = workspace.state().0;
    workspace.apply(&["-refresh-only"]).succeeded();
    assert_eq!(workspace.state().0, before);
    assert_eq!(workspace.state().attribute(NETWORK, "tags_all"), &all);
    for (object, tags) in tagged(proxy.account()) {
        for (key, value) in all.as_object().expect("a map") {
            assert_eq!(&tags[key], value, "{key} of {object}");
        }
        assert!(!tags["Name"].is_null(), "{object}");
    }

    // A foreign tag stays when one of ours goes, another changes and a third comes.
    let vpc = text(workspace.state().attribute(NETWORK, "vpc_id")).to_owned();
    let foreign = json!({"Resources": [vpc], "Tags": [{"Key": "kubernetes.io/cluster/x", "Value": "shared"}]});
    proxy.account().boto("ec2", "create_tags", foreign);
    workspace.write("provider.tf", &provider("{ team = \"core\", level = \"default\", extra = \"new\" }"));
    proxy.clear_calls();
    let change = workspace.plan_json(&[])["resource_changes"][0]["change"].clone();
    assert_eq!(change["actions"], json!(["update"]));
    let all = json!({"team": "core", "extra": "new", "level": "custom", "stage": "test"});
    assert_eq!(change["after"]["tags_all"], all);
    workspace.apply_plan().succeeded();
    let actions: BTreeSet<String> = proxy.mutations().into_iter().map(|record| record.call.action).collect();
    assert!(actions.is_subset(&["CreateTags".to_owned(), "DeleteTags".to_owned()].into()), "{actions:?}");
    workspace.assert_nothing_to_do();
    for (object, tags) in tagged(proxy.account()) {
        for (key, value) in all.as_object().expect("a map") {
            assert_eq!(&tags[key], value, "{key} of {object}");
        }
        assert!(tags["cost"].is_null(), "{object}");
    }
    let kept = proxy.account().list_of("vpcs")[0]["tags"]["kubernetes.io/cluster/x"].clone();
    assert_eq!(kept, "shared");

    workspace.destroy().succeeded();
    proxy.account().assert_nothing_of_ours_is_left();
}

#[test]
fn ignored_tags_are_neither_set_nor_removed_nor_looked_at() {
    let proxy = Proxy::moto();
    let account = proxy.account();
    let ignoring = "  ignore_tags {\n    keys = [\"owner\"]\n    key_prefixes = [\"karpenter.sh/\"]\n  }\n";
    let workspace = Workspace::new(&proxy);
    let plain = std::fs::read_to_string(workspace.path().join("provider.tf")).expect("it is written");
    let with_ignored = plain.replacen("  region = ", &format!("{ignoring}  region = "), 1);
    let own = "  custom_tags = { owner = \"us\", team = \"net\", \"karpenter.sh/discovery\" = \"x\" }";

    // Set while nothing ignores them, then left to others.
    workspace.config(&network("this", own));
    workspace.apply(&[]).succeeded();
    let tags_all = || workspace.state().attribute(NETWORK, "tags_all").clone();
    assert_eq!(tags_all(), json!({"owner": "us", "team": "net", "karpenter.sh/discovery": "x"}));
    let vpc = text(workspace.state().attribute(NETWORK, "vpc_id")).to_owned();
    workspace.write("provider.tf", &with_ignored);
    proxy.clear_calls();
    workspace.apply(&[]).succeeded();
    workspace.assert_nothing_to_do();
    assert_eq!(proxy.mutations().len(), 0, "what others manage is not removed: {:?}", proxy.by_action());
    assert_eq!(tags_all(), json!({"team": "net"}));

    // Others change one and remove the other.
    let changed = json!({"Resources": [vpc], "Tags": [{"Key": "owner", "Value": "them"}]});
    account.boto("ec2", "create_tags", changed);
    account.boto("ec2", "delete_tags", json!({"Resources": [vpc], "Tags": [{"Key": "karpenter.sh/discovery"}]}));
    workspace.assert_nothing_to_do();

    // One that is changed keeps them; a new object gets none of them.
    workspace.config(&network("this", &own.replace("net", "core")));
    workspace.apply(&[]).succeeded();
    workspace.assert_nothing_to_do();
    let tags = account.list_of("vpcs")[0]["tags"].clone();
    assert_eq!((&tags["owner"], &tags["team"]), (&json!("them"), &json!("core")));
    assert!(tags["karpenter.sh/discovery"].is_null());
    workspace.destroy().succeeded();
    workspace.apply(&[]).succeeded();
    let made = account.list_of("subnets");
    assert!(
        made.iter().all(|subnet| subnet["tags"]["owner"].is_null() && subnet["tags"]["team"] == "core"),
        "{made:?}"
    );
    workspace.destroy().succeeded();
    account.assert_nothing_of_ours_is_left();
}

// Bad values.

/// Validates a block of these lines.
fn validate(lines: &str) -> Run {
    with_block(lines).validate()
}

#[test]
fn every_bad_value_is_told_at_validate_all_at_once_with_the_way_out() {
    // Argument, value, what is said of it, and what to do.
    let bad: &[(&str, &str, &str, &str)] = &[
        ("region", "\"Frankfurt\"", "\"Frankfurt\" does not look like a Region.", "skip_region_validation = true"),
        ("sts_region", "\"eu-central-1a\"", "\"eu-central-1a\" does not look like a Region.", "Name one such as"),
        ("access_key", "\"AKID\"", "It is set without secret_key.", "Set secret_key too"),
        ("allowed_account_ids", "[\"123\"]", "\"123\" is not an account id.", "Write its 12 digits in quotation marks"),
        (
            "forbidden_account_ids",
            "[\"123456789012\"]",
            "It is set together with allowed_account_ids.",
            "Keep allowed_",
        ),
        ("max_retries", "1001", "1000", ""),
        ("retry_mode", "\"quick\"", "adaptive", ""),
        ("token_bucket_rate_limiter_capacity", "0", "1000000", ""),
        ("ec2_metadata_service_endpoint_mode", "\"IPv5\"", "IPv6", ""),
        ("ec2_metadata_service_endpoint", "\"169.254.169.254\"", "It is not a URL with http:// or https://", ""),
        ("http_proxy", "\"proxy:3128\"", "It is not a URL with http:// or https://", "Write one such as"),
        ("https_proxy", "\"ada:open-sesame@proxy\"", "It is not a URL with http:// or https://", ""),
        ("user_agent", "[\"caf\\u00e9\"]", "cannot stand in a User-Agent header.", "in printable ASCII"),
    ];
    let blocks: &[(&str, &str, &str)] = &[
        ("endpoints { ec2 = \"localhost:4566\" }", "ec2", "It is not a URL with http:// or https://"),
        (
            "assume_role {\n role_arn = \"deploy\"\n duration = \"5m\"\n policy = \"{\"\n session_name = \"a b\"\n transitive_tag_keys = [\"team\"]\n }",
            "role_arn",
            "\"deploy\" is not the ARN of a role.",
        ),
        ("", "duration", "\"5m\" is out of range."),
        ("", "policy", "It is not JSON"),
        ("", "session_name", "AWS takes no session name such as \"a b\"."),
        ("", "transitive_tag_keys", "It names \"team\", which tags does not set."),
        (
            "assume_role_with_web_identity {\n web_identity_token = \"t\"\n web_identity_token_file = \"f\"\n }",
            "web_identity_token",
            "It is set together with web_identity_token_file.",
        ),
        ("", "assume_role_with_web_identity", "It names no role."),
        (
            "default_tags {\n tags = { \"aws:x\" = \"1\", \"fgw:object\" = \"x\", owner = \"us\" }\n }",
            "default_tags",
            "AWS sets tags that begin with aws: itself, such as \"aws:x\".",
        ),
        ("", "default_tags", "This provider marks what it owns by tags that begin with fgw:, such as \"fgw:object\"."),
        ("ignore_tags {\n keys = [\"owner\"]\n }", "default_tags", "is also one that ignore_tags leaves to others."),
        ("ignore_tags {\n keys = [\"x\"]\n }", "ignore_tags", "There are 2 ignore_tags blocks."),
    ];
    let arguments = bad.iter().map(|(name, value, ..)| format!("  {name} = {value}\n"));
    let run = validate(&arguments.chain(blocks.iter().map(|(text, ..)| format!("  {text}\n"))).collect::<String>());
    for (name, value, said, way_out) in bad {
        run.failed_with(said).failed_with(way_out);
        assert!(run.says(&format!("{name} = {value}")), "the line of {name} is not shown:\n{run}");
    }
    for (_, name, said) in blocks {
        run.failed_with(said);
        assert!(run.says(name), "{run}");
    }
}

#[test]
fn what_terraform_checks_itself_names_the_argument() {
    validate("  regoin = \"eu-central-1\"\n").failed_with("An argument named \"regoin\" is not expected here.");
    validate("  max_retries = \"many\"\n")
        .failed_with("Inappropriate value for attribute \"max_retries\": a number is required.");
    validate("  assume_role {\n    session_name = \"x\"\n  }\n").failed_with("role_arn");
    let unset = "  secret_key = \"s\"\n  token = \"t\"\n  allowed_account_ids = [\"123456789012\"]\n  skip_credentials_validation = true\n  \
                 skip_requesting_account_id = true\n";
    let run = validate(unset);
    run.failed_with("It is set without access_key.");
    run.failed_with("keep the provider from learning the account");
    assert_eq!(run.stderr.matches("It is set without access_key.").count(), 2, "secret_key and token:\n{run}");
}

#[test]
fn arguments_of_hashicorp_aws_without_effect_are_accepted_with_one_warning() {
    let run = validate(
        "  region = \"eu-central-1\"\n  s3_use_path_style = true\n  s3_us_east_1_regional_endpoint = \"regional\"\n  \
         endpoints {\n    s3 = \"http://localhost:1\"\n    rds = \"http://localhost:1\"\n    ec2 = \"http://localhost:1\"\n  }\n",
    );
    run.succeeded();
    assert!(
        run.says("does not call the services that they are for: endpoints.rds, endpoints.s3, s3_use_path_style,"),
        "{run}"
    );
    assert_eq!(run.stdout.matches("Provider arguments without effect").count(), 1, "{run}");
    let skipped = validate("  region = \"local\"\n  skip_region_validation = true\n");
    skipped.succeeded();
}

// Unknowns, secrets.

#[test]
fn a_block_with_a_value_known_after_apply_plans_without_aws_and_applies() {
    let proxy = Proxy::moto();
    let tags = "  default_tags {\n    tags = { run = terraform_data.run.output }\n  }\n";
    let workspace = Workspace::with_provider(&proxy, tags);
    let config = |run: &str| {
        workspace.config(&format!(
            "resource \"terraform_data\" \"run\" {{\n  input = \"{run}\"\n}}\n{}",
            network("this", "")
        ));
    };
    config("first");
    let plan = workspace.plan(&[]);
    assert_eq!(plan.code, 2, "{plan}");
    assert_eq!(proxy.calls().len(), 0, "the block is not known: {:?}", proxy.by_action());
    workspace.apply_plan().succeeded();
    workspace.assert_nothing_to_do();
    assert_eq!(workspace.state().attribute(NETWORK, "tags_all"), &json!({"run": "first"}));
    assert_eq!(proxy.account().list_of("vpcs")[0]["tags"]["run"], "first");

    // The network exists, and the block becomes unknown again.
    let vpc = workspace.state().attribute(NETWORK, "vpc_id").clone();
    config("second");
    proxy.clear_calls();
    let plan = workspace.plan(&[]);
    assert_eq!(plan.code, 2, "{plan}");
    assert_eq!(proxy.calls().len(), 0, "{:?}", proxy.by_action());
    workspace.apply_plan().succeeded();
    workspace.assert_nothing_to_do();
    assert_eq!(workspace.state().attribute(NETWORK, "vpc_id"), &vpc);
    assert_eq!(proxy.account().list_of("vpcs")[0]["tags"]["run"], "second");
    workspace.destroy().succeeded();
    proxy.account().assert_nothing_of_ours_is_left();
}

#[test]
fn an_unknown_that_does_not_matter_is_no_reason_to_plan_blindly() {
    let proxy = Proxy::moto();
    let lines = "  user_agent = [terraform_data.run.output]\n  s3_use_path_style = terraform_data.run.id != \"\"\n";
    let workspace = Workspace::with_provider(&proxy, lines);
    workspace.config(&format!("resource \"terraform_data\" \"run\" {{\n  input = \"x\"\n}}\n{}", network("this", "")));
    let after = workspace.plan_json(&[])["resource_changes"].clone();
    let network = after.as_array().into_iter().flatten().find(|change| change["address"] == NETWORK);
    let subnets = &network.expect("it is planned")["change"]["after"]["public_subnets"];
    assert_eq!(subnets["this-public-0"]["availability_zone"], "us-east-1a");
    assert_eq!(proxy.count("DescribeAvailabilityZones"), 1);
}

#[test]
fn no_secret_is_in_state_plan_log_or_message() {
    let proxy = Proxy::moto();
    let role = Emulator::moto().account().id;
    let lines = format!(
        "  region = \"us-east-1\"\n  access_key = \"AKIDSECRETIVE\"\n  secret_key = \"open-sesame\"\n  token = \"hidden-token\"\n  \
         https_proxy = \"http://ada:proxy-password@localhost:1\"\n{}  assume_role {{\n    role_arn = \"arn:aws:iam::{role}:role/deploy\"\n  }}\n",
        endpoints(&proxy)
    );
    let mut workspace = with_block(&lines);
    workspace.env("TF_LOG", "TRACE");
    workspace.within(Duration::from_secs(180));
    let apply = workspace.apply(&[]);
    apply.succeeded();
    assert!(apply.stderr.contains("fgw"), "the log is there");
    let plan = workspace.plan(&[]);
    assert_eq!(plan.code, 0);
    proxy.fault(Fault::on("GetCallerIdentity").answer(403, "AccessDenied", "no"));
    let refused = workspace.plan(&[]);
    assert_eq!(refused.code, 1);
    proxy.clear_faults();
    workspace.env("TF_LOG", "");
    let shown = workspace.run(&["show", "-json"]);
    let state = std::fs::read_to_string(workspace.path().join("terraform.tfstate")).expect("there is a state");
    for secret in ["open-sesame", "hidden-token", "proxy-password", "SecretAccessKey", "SessionToken"] {
        for (place, text) in [
            ("state", &state),
            ("shown state", &shown.stdout),
            ("output", &apply.stdout),
            ("log of the apply", &apply.stderr),
            ("log of the plan", &plan.stderr),
            ("log of a refusal", &refused.stderr),
        ] {
            let line = text.lines().find(|line| line.contains(secret));
            assert!(line.is_none(), "{secret} is in the {place}: {line:?}");
        }
    }
    workspace.destroy().succeeded();
}
