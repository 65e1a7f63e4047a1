//! Replacements whose new root could not use the group that the old one leaves: they stop before the first call.

use super::*;

/// An input of the group: its name, its setting or its retention.
#[derive(Clone, Copy, Debug)]
enum Part {
    Name,
    Setting,
    Retention,
}

/// The configuration with an unknown input of its group.
fn unknown(config: &Value, part: Part) -> Value {
    let mut config = config.clone();
    let mut logs = config.get("flow_logs").clone();
    if logs.is_null() {
        let input = match part {
            Part::Name => "name",
            Part::Setting => "skip_destroy",
            Part::Retention => "retention_in_days",
        };
        config.set(&format!("access_log_logservice_group_{input}"), Value::Unknown);
        return config;
    }
    let mut log = logs.get("app").clone();
    let input = match part {
        Part::Name => "log_group_name",
        Part::Setting => "log_group_skip_destroy",
        Part::Retention => "retention_in_days",
    };
    log.set(input, Value::Unknown);
    logs.set("app", log);
    config.set("flow_logs", logs);
    config
}

/// A root that keeps its group, which it has created, in a process that has not read it.
async fn keeping<P: Logging>() -> Terraform<P> {
    let mut terraform = Terraform::<P>::new(1);
    terraform.assert_applies(&P::config(30, true, &[])).await;
    terraform.resource = Terraform::<P>::on(terraform.account.clone()).resource;
    terraform.account.take_calls();
    terraform
}

/// Plans the create, and then destroys as the same run does. Returns the errors.
async fn destroyed_for<P: Logging>(terraform: &mut Terraform<P>, config: &Value, private: Vec<u8>) -> String {
    let create = terraform.plan_successor(config, private).await;
    if create.diagnostics.has_errors() {
        return texts(&create.diagnostics);
    }
    terraform.private = create.private;
    let destroyed = terraform.destroy().await;
    if destroyed.has_errors() { texts(&destroyed) } else { String::new() }
}

async fn not_kept_any_more<P: Logging>() {
    for config in [P::config(30, false, &[]), P::config(14, true, &[])] {
        for is_private_state_lost in [false, true] {
            let mut terraform = keeping::<P>().await;
            if is_private_state_lost {
                terraform.private = Vec::new();
            }
            let text = destroyed_for(&mut terraform, &config, Vec::new()).await;
            assert!(text.contains(GROUP) && text.contains("terraform untaint"), "{config}: {text}");
            assert_eq!(changes(&terraform), Vec::<String>::new(), "{text}");
        }
    }
    // Another name needs nothing of it, and the same values use it.
    for name in ["/other", GROUP] {
        let mut terraform = keeping::<P>().await;
        let mut config = P::config(30, name == GROUP, &[]);
        rename(&mut config, name);
        replace(&mut terraform, &config, Replaced::Tainted).await;
    }
}

for_both!(a_tainted_root_is_not_destroyed_if_its_group_stays_unused, not_kept_any_more);

fn rename(config: &mut Value, name: &str) {
    let mut logs = config.get("flow_logs").clone();
    if logs.is_null() {
        config.set("access_log_logservice_group_name", name.into());
        return;
    }
    let mut log = logs.get("app").clone();
    log.set("log_group_name", name.into());
    logs.set("app", log);
    config.set("flow_logs", logs);
}

fn changes<P: Topology>(terraform: &Terraform<P>) -> Vec<String> {
    let calls = terraform.account.take_calls();
    calls.into_iter().filter(|call| !call.starts_with("announce")).collect()
}

async fn unknown_parts<P: Logging>() {
    // The last value is whether the create can use the group, whatever the input becomes.
    for (part, keeps, is_safe) in [
        (Part::Setting, true, false),
        (Part::Retention, true, false),
        (Part::Name, true, true),
        (Part::Name, false, false),
    ] {
        for is_tainted in [true, false] {
            let mut terraform = keeping::<P>().await;
            let config = unknown(&P::config(30, keeps, &[]), part);
            let private = match is_tainted {
                true => Vec::new(),
                false => {
                    terraform.refresh().await;
                    terraform.plan(&config).await.private
                }
            };
            let text = destroyed_for(&mut terraform, &config, private).await;
            let what = format!("{part:?}, keeps {keeps}, tainted {is_tainted}: {text}");
            assert_eq!(text.is_empty(), is_safe, "{what}");
            assert_eq!(changes(&terraform).is_empty(), !is_safe, "{what}");
        }
    }
}

for_both!(an_unknown_input_of_a_kept_group_stops_a_replacement, unknown_parts);

/// Something else is unknown, so the plan of the create is undecided.
#[tokio::test(start_paused = true)]
async fn an_undecided_create_compares_the_group_too() {
    for keeps in [true, false] {
        for is_tainted in [true, false] {
            let mut terraform = keeping::<HttpGateway>().await;
            let config = HttpGateway::config(30, keeps, &[("domain_name", Value::Unknown)]);
            let private = if is_tainted { Vec::new() } else { terraform.private.clone() };
            let text = destroyed_for(&mut terraform, &config, private).await;
            assert_eq!(text.is_empty(), keeps, "tainted {is_tainted}: {text}");
            assert_eq!(changes(&terraform).is_empty(), !keeps, "tainted {is_tainted}: {text}");
        }
    }
}
