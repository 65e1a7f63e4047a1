//! Flow logs of a network.

use super::*;

fn with_logs(logs: &[(&str, &str)]) -> Value {
    let log = |kind: &str| {
        Value::map([
            ("log_destination_type", Value::from("s3")),
            ("log_destination", "arn:aws:s3:::logs".into()),
            ("traffic_type", kind.into()),
        ])
    };
    network(&[("flow_logs", Value::map(logs.iter().map(|(name, kind)| (*name, log(kind)))))])
}

fn calls(terraform: &Terraform<FourTierVpc>) -> Vec<String> {
    terraform.account.take_calls().into_iter().filter(|call| call.contains("flow_log")).collect()
}

#[tokio::test(start_paused = true)]
async fn only_at_the_limit_the_old_log_goes_first() {
    let mut terraform = Terraform::<FourTierVpc>::new(1);
    terraform.assert_applies(&with_logs(&[("a", "ALL"), ("b", "REJECT")])).await;
    calls(&terraform);
    terraform.assert_applies(&with_logs(&[("a", "ACCEPT"), ("b", "REJECT")])).await;
    assert_eq!(calls(&terraform), ["create flow_log.a", "delete flow_log.a"], "the destination is the same");

    terraform.account.limit("flow_log.", 2);
    terraform.assert_applies(&with_logs(&[("a", "ALL"), ("b", "REJECT")])).await;
    assert_eq!(calls(&terraform), ["create flow_log.a", "delete flow_log.a", "create flow_log.a"]);

    // Nothing of ours makes room.
    let more = with_logs(&[("a", "ALL"), ("b", "REJECT"), ("c", "ACCEPT")]);
    assert!(terraform.apply(&more).await.has_errors());
    assert_eq!(calls(&terraform), ["create flow_log.c"]);
}
