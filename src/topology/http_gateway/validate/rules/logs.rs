//! The rules of access logs and their subscription.

use super::*;

const DESTINATION: &str = "access_log_logservice_group_subscription_destination_arn";
const FUNCTION: &str = ORDERS;
const KINESIS: &str = "arn:aws:kinesis:eu-central-1:123456789012:stream/logs";
const FIREHOSE: &str = "arn:aws:firehose:eu-central-1:123456789012:deliverystream/logs";

fn group(more: Json) -> Json {
    with(json!({"access_log_logservice_group_name": "/http/orders"}), more)
}

pub(super) fn access_logs() -> Vec<Rule> {
    let custom = |format: &str| group(json!({"access_log_format_type": "CUSTOM", "custom_access_log_format": format}));
    let named = |name: &str| json!({"access_log_logservice_group_name": name});
    let key = |id: &str| group(json!({"access_log_logservice_group_kms_key_id": id}));
    let name: &[&str] = &["access_log_logservice_group_name"];
    let format: &[&str] = &["custom_access_log_format"];
    let kms: &[&str] = &["access_log_logservice_group_kms_key_id"];
    let uuid = "1234abcd-12ab-34cd-56ef-1234567890ab";
    vec![
        ("a log group's name is not empty", named(""), name, &["0 characters", "1 to 512"], named("x")),
        ("a log group's name has at most 512 characters", named(&"x".repeat(513)), name, &["513", "512"], {
            named(&"x".repeat(512))
        }),
        ("a log group's name has only allowed characters", named("a b"), name, &["\"a b\""], named("/a.b_c-d1")),
        ("a log group's name has no #", named("/http/#1"), name, &["\"/http/#1\"", "tags"], named("/http/1")),
        ("a log group's name does not start with aws/", named("aws/x"), name, &["aws/x"], named("/aws/vendedlogs/x")),
        (
            "a retention period is one that CloudWatch Logs supports",
            group(json!({"access_log_logservice_group_retention_in_days": 8})),
            &["access_log_logservice_group_retention_in_days"],
            &["8", "7, 14"],
            group(json!({"access_log_logservice_group_retention_in_days": 3653})),
        ),
        (
            "a retention period is not negative",
            group(json!({"access_log_logservice_group_retention_in_days": -1})),
            &["access_log_logservice_group_retention_in_days"],
            &["-1", "0, 1, 3"],
            group(json!({"access_log_logservice_group_retention_in_days": 0})),
        ),
        (
            "a format is one of three",
            group(json!({"access_log_format_type": "XML"})),
            &["access_log_format_type"],
            &["XML", "CLF, JSON, CUSTOM"],
            group(json!({"access_log_format_type": "JSON"})),
        ),
        (
            "CUSTOM needs a format",
            group(json!({"access_log_format_type": "CUSTOM"})),
            format,
            &["\"CUSTOM\""],
            // Without a log group, no format is needed.
            json!({"access_log_format_type": "CUSTOM"}),
        ),
        (
            "a format contains a request ID",
            custom("$context.status"),
            format,
            &["$context.status", "$context.requestId"],
            custom("$context.status $context.requestId"),
        ),
        (
            "a format is one line",
            custom("$context.requestId\nx"),
            format,
            &["2 lines"],
            custom("$context.requestId\\nx"),
        ),
        (
            "a format has at most one newline at its end",
            custom("$context.requestId\n\n"),
            format,
            &["2 lines"],
            custom("$context.requestId\n"),
        ),
        (
            "a format has at most 3 KB",
            custom(&format!("$context.requestId{}", "x".repeat(3055))),
            format,
            &["3073", "3072"],
            custom(&format!("$context.requestId{}", "x".repeat(3054))),
        ),
        ("a key is an ID, an ARN or an alias", key("logs"), kms, &["\"logs\"", "alias/NAME"], key("alias/logs")),
        (
            "a key ID is a UUID or that of a multi-Region key",
            key("1234abcd"),
            kms,
            &["1234abcd"],
            key(&format!("mrk-{}", "0a".repeat(16))),
        ),
        (
            "a key ARN is the ARN of a KMS key",
            key("arn:aws:s3:::bucket"),
            kms,
            &["arn:aws:s3:::bucket", "KMS"],
            key(&format!("arn:aws:kms:eu-central-1:123456789012:key/{uuid}")),
        ),
        (
            "a key is customer-managed",
            key("alias/aws/logs"),
            kms,
            &["alias/aws/logs", "AWS managed", "customer-managed key"],
            key("alias/awslogs"),
        ),
        (
            "an alias has only allowed characters",
            key("alias/my logs"),
            kms,
            &["my logs"],
            key("arn:aws:kms:eu-central-1:123456789012:alias/my/logs"),
        ),
    ]
}

pub(super) fn subscriptions() -> Vec<Rule> {
    let to = |arn: &str, more: Json| {
        group(with(json!({"access_log_logservice_group_subscription_destination_arn": arn}), more))
    };
    let role = |arn: &str| json!({"access_log_logservice_group_subscription_role_arn": arn});
    let spread = |how: &str| {
        json!({
            "access_log_logservice_group_subscription_role_arn": ROLE,
            "access_log_logservice_group_subscription_distribution": how,
        })
    };
    let pattern = |text: String| json!({"access_log_logservice_group_subscription_filter_pattern": text});
    let at_destination: &[&str] = &[DESTINATION];
    let at_role: &[&str] = &["access_log_logservice_group_subscription_role_arn"];
    let at_distribution: &[&str] = &["access_log_logservice_group_subscription_distribution"];
    let at_pattern: &[&str] = &["access_log_logservice_group_subscription_filter_pattern"];
    vec![
        (
            "a destination is a function or a stream",
            to("arn:aws:s3:::bucket", json!({})),
            at_destination,
            &["\"s3\"", "Kinesis stream"],
            to(FUNCTION, json!({})),
        ),
        ("a destination is identified by its ARN", to("sink", json!({})), at_destination, &["\"sink\"", "ARN"], {
            to(FOREIGN, json!({}))
        }),
        (
            "a Kinesis destination is a stream",
            to(&format!("{KINESIS}/consumer/c:1"), role(ROLE)),
            at_destination,
            &["consumer", "1 to 128"],
            to(KINESIS, role(ROLE)),
        ),
        (
            "a Firehose destination is a delivery stream",
            to("arn:aws:firehose:eu-central-1:123456789012:stream/logs", role(ROLE)),
            at_destination,
            &["stream/logs"],
            to(FIREHOSE, role(ROLE)),
        ),
        ("a stream needs a role", to(FIREHOSE, json!({})), at_role, &["deliverystream/logs", "role"], {
            to(FIREHOSE, role(UNKNOWN))
        }),
        (
            "only a stream of a log group needs a role",
            to(KINESIS, json!({})),
            at_role,
            &["stream/logs", "role"],
            with(to(KINESIS, json!({})), json!({"access_log_logservice_group_name": null})),
        ),
        (
            "a role is identified by the ARN of a role",
            to(KINESIS, role("arn:aws:iam::123456789012:group/x")),
            at_role,
            &["group/x", "role/name"],
            to(KINESIS, role("arn:aws:iam::123456789012:role/service/x")),
        ),
        (
            "a distribution is one of two",
            to(KINESIS, spread("random")),
            at_distribution,
            &["\"random\"", "Random, ByLogStream"],
            to(KINESIS, spread("Random")),
        ),
        (
            "a pattern has at most 1024 characters",
            to(FUNCTION, pattern("x".repeat(1025))),
            at_pattern,
            &["1025", "1024"],
            to(FUNCTION, pattern("x".repeat(1024))),
        ),
    ]
}
