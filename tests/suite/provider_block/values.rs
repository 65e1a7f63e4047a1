//! Invalid values, and arguments copied from a configuration of hashicorp/aws.

use super::{text, with_block};
use crate::support::proxy::Proxy;
use crate::support::terraform::Run;

/// Validates a block of these lines.
fn validate(lines: &str) -> Run {
    with_block(lines).validate()
}

#[test]
fn validate_reports_all_invalid_values_with_hints() {
    // Argument, value, message and hint.
    let invalid: &[(&str, &str, &str, &str)] = &[
        ("region", "\"Frankfurt\"", "\"Frankfurt\" does not look like a Region.", "skip_region_validation = true"),
        ("sts_region", "\"eu-central-1a\"", "\"eu-central-1a\" does not look like a Region.", "Use a Region such as"),
        ("access_key", "\"AKID\"", "access_key is set without secret_key.", "Set secret_key too"),
        ("allowed_account_ids", "[\"123\"]", "\"123\" is not an account ID.", "Write the 12 digits in quotation marks"),
        (
            "forbidden_account_ids",
            "[\"123456789012\"]",
            "forbidden_account_ids is set together with allowed_account_ids.",
            "Keep allowed_",
        ),
        ("max_retries", "1001", "1000", ""),
        ("retry_mode", "\"quick\"", "adaptive", ""),
        ("token_bucket_rate_limiter_capacity", "0", "1000000", ""),
        ("ec2_metadata_service_endpoint_mode", "\"IPv5\"", "IPv6", ""),
        ("ec2_metadata_service_endpoint", "\"169.254.169.254\"", "The value is not a URL with http:// or https://", ""),
        ("http_proxy", "\"proxy:3128\"", "The value is not a URL with http:// or https://", "Use a URL such as"),
        ("https_proxy", "\"ada:open-sesame@proxy\"", "The value is not a URL with http:// or https://", ""),
        ("user_agent", "[\"caf\\u00e9\"]", "is not allowed in a User-Agent header.", "in printable ASCII"),
    ];
    let blocks: &[(&str, &str, &str)] = &[
        ("endpoints { ec2 = \"localhost:4566\" }", "ec2", "The value is not a URL with http:// or https://"),
        (
            "assume_role {\n role_arn = \"deploy\"\n duration = \"5m\"\n policy = \"{\"\n session_name = \"a b\"\n transitive_tag_keys = [\"team\"]\n }",
            "role_arn",
            "\"deploy\" is not the ARN of a role.",
        ),
        ("", "duration", "\"5m\" is out of range."),
        ("", "policy", "The policy is not valid JSON"),
        ("", "session_name", "\"a b\" is not a valid session name."),
        ("", "transitive_tag_keys", "The key \"team\" is not set in tags."),
        (
            "assume_role_with_web_identity {\n web_identity_token = \"t\"\n web_identity_token_file = \"f\"\n }",
            "web_identity_token",
            "web_identity_token is set together with web_identity_token_file.",
        ),
        ("", "assume_role_with_web_identity", "The block has no role ARN."),
        (
            "default_tags {\n tags = { \"aws:x\" = \"1\", \"fgw:object\" = \"x\", owner = \"us\" }\n }",
            "default_tags",
            "The tag key \"aws:x\" starts with aws:, which AWS reserves.",
        ),
        ("", "default_tags", "The tag key \"fgw:object\" starts with fgw:, which this provider reserves."),
        ("ignore_tags {\n keys = [\"owner\"]\n }", "ignore_tags", "There are 2 ignore_tags blocks."),
        ("ignore_tags {\n keys = [\"x\"]\n }", "ignore_tags", "There are 2 ignore_tags blocks."),
    ];
    let arguments = invalid.iter().map(|(name, value, ..)| format!("  {name} = {value}\n"));
    let run = validate(&arguments.chain(blocks.iter().map(|(text, ..)| format!("  {text}\n"))).collect::<String>());
    for (name, value, message, hint) in invalid {
        run.failed_with(message).failed_with(hint);
        assert!(run.says(&format!("{name} = {value}")), "the line of {name} is not shown:\n{run}");
    }
    for (_, name, message) in blocks {
        run.failed_with(message);
        assert!(run.says(name), "{run}");
    }
}

#[test]
fn errors_of_terraform_itself_name_the_argument() {
    validate("  regoin = \"eu-central-1\"\n").failed_with("An argument named \"regoin\" is not expected here.");
    validate("  max_retries = \"many\"\n")
        .failed_with("Inappropriate value for attribute \"max_retries\": a number is required.");
    validate("  assume_role {\n    session_name = \"x\"\n  }\n").failed_with("role_arn");
    let unset = "  secret_key = \"s\"\n  token = \"t\"\n  allowed_account_ids = [\"123456789012\"]\n  skip_credentials_validation = true\n  \
                 skip_requesting_account_id = true\n";
    let run = validate(unset);
    run.failed_with("secret_key is set without access_key.");
    run.failed_with("prevent the provider from reading the account ID");
    assert_eq!(run.stderr.matches("is set without access_key.").count(), 2, "secret_key and token:\n{run}");
}

#[test]
fn arguments_without_effect_cause_one_warning() {
    let run = validate(
        "  region = \"eu-central-1\"\n  s3_use_path_style = true\n  s3_us_east_1_regional_endpoint = \"regional\"\n  \
         endpoints {\n    s3 = \"http://localhost:1\"\n    rds = \"http://localhost:1\"\n    ec2 = \"http://localhost:1\"\n  }\n",
    );
    run.succeeded();
    assert!(
        run.says("does not call the services of these arguments: endpoints.rds, endpoints.s3, s3_use_path_style,"),
        "{run}"
    );
    assert_eq!(run.stdout.matches("Provider arguments without effect").count(), 1, "{run}");
    let skipped = validate("  region = \"local\"\n  skip_region_validation = true\n");
    skipped.succeeded();
}

#[test]
fn localstack_block_for_hashicorp_aws_is_accepted() {
    let proxy = Proxy::moto();
    let url = proxy.endpoint();
    let services = [
        "apigateway",
        "apigatewayv2",
        "acm",
        "cloudformation",
        "cloudwatch",
        "cloudwatchlogs",
        "dynamodb",
        "ec2",
        "es",
        "elasticache",
        "firehose",
        "iam",
        "kinesis",
        "kms",
        "lambda",
        "rds",
        "redshift",
        "route53",
        "s3",
        "secretsmanager",
        "ses",
        "sns",
        "sqs",
        "ssm",
        "stepfunctions",
        "sts",
    ];
    let endpoints: String = services.iter().map(|service| format!("    {service:<15} = \"{url}\"\n")).collect();
    let workspace = with_block(&format!(
        "  access_key                  = \"mock_access_key\"\n  secret_key                  = \"mock_secret_key\"\n  \
           region                      = \"us-east-1\"\n\n  s3_use_path_style           = true\n  \
           s3_us_east_1_regional_endpoint = \"legacy\"\n  \
           skip_credentials_validation = true\n  skip_metadata_api_check     = true\n  \
           skip_requesting_account_id  = true\n  skip_region_validation      = true\n\n  endpoints {{\n{endpoints}  }}\n\n  \
           default_tags {{\n    tags = {{\n      Environment = \"Local\"\n      Service     = \"LocalStack\"\n    }}\n  }}\n"
    ));
    let apply = workspace.apply(&[]);
    apply.succeeded();
    assert!(apply.says("Provider arguments without effect"), "{apply}");
    // Terraform starts a provider more than once, and shows the warnings of each start.
    let plan = workspace.validate();
    assert_eq!(plan.stdout.matches("Provider arguments without effect").count(), 1, "{plan}");
    assert!(
        plan.says("endpoints.s3,") && plan.says("endpoints.stepfunctions,") && plan.says("s3_use_path_style"),
        "{plan}"
    );
    assert!(!plan.says("endpoints.ec2") && !plan.says("endpoints.lambda"), "{plan}");
    workspace.assert_nothing_to_do();
    assert!(proxy.calls().iter().all(|record| record.call.access_key == "mock_access_key"));
    assert_eq!(proxy.count("GetCallerIdentity"), 0, "both checks are skipped");
    let vpc = &proxy.account().list_of("vpcs")[0]["tags"];
    assert_eq!((text(&vpc["Environment"]), text(&vpc["Service"])), ("Local", "LocalStack"));
    workspace.destroy().succeeded();
    proxy.account().assert_nothing_of_ours_is_left();
}
