//! Objects that never become ready, fail after their create was accepted, or cannot be deleted: the configured timeout
//! applies, and the message states what was awaited, for how long, and which dependents exist.

use std::fmt::{self, Display, Formatter};
use std::time::{Duration, Instant};

use serde_json::json;

use super::campaign::{Tally, campaign, sample};
use super::subject::{Kind, Phase, Subject};
use crate::support::proxy::Proxy;
use crate::support::proxy::lasts::Lasts;
use crate::support::terraform::Run;

/// The timeout of the phase in which an object is stuck. All other objects are ready at the first poll, so the rest of
/// the phase may take longer.
const TIMEOUT: Duration = Duration::from_secs(3);

#[derive(Clone, Copy, Debug, PartialEq)]
enum Case {
    NatStaysPending,
    NatFails,
    NatStaysDeleting,
    InterfaceInSubnet,
    UnknownDependency,
}

impl Case {
    const ALL: [Case; 5] = [
        Case::NatStaysPending,
        Case::NatStaysDeleting,
        Case::InterfaceInSubnet,
        Case::UnknownDependency,
        Case::NatFails,
    ];

    fn phase(self) -> Phase {
        match self {
            Case::NatStaysPending | Case::NatFails => Phase::Create,
            Case::NatStaysDeleting | Case::InterfaceInSubnet | Case::UnknownDependency => Phase::Destroy,
        }
    }

    /// A small network. All timeouts other than that of the stuck object are longer than the test.
    fn config(self) -> String {
        let short = format!("{}s", TIMEOUT.as_secs());
        let (create, delete) = match (self.repeated(), self.phase()) {
            (None, _) => ("1h", "1h"),
            (_, Phase::Create) => (short.as_str(), "1h"),
            _ => ("1h", short.as_str()),
        };
        format!(
            "resource \"fgw_four_tier_vpc\" \"this\" {{\n  vpc_name = \"small\"\n  cidr_block = \"10.0.0.0/16\"\n  \
             num_availability_zones = 1\n  num_nat_gateways = 1\n  timeouts {{\n    create = \"{create}\"\n    \
             delete = \"{delete}\"\n  }}\n}}\n"
        )
    }

    fn begin(self, proxy: &Proxy) {
        match self {
            Case::NatStaysPending => proxy.nat_pending(Lasts::UntilSet),
            Case::NatFails => {
                let text = "Network vpc has insufficient free addresses in the subnet";
                proxy.nat_pending(Lasts::Answers(3));
                proxy.nat_fails(1, "InsufficientFreeAddressesInSubnet", text);
            }
            Case::NatStaysDeleting => proxy.nat_deleting(Lasts::UntilSet),
            Case::InterfaceInSubnet => {
                let subnet = proxy.account().list_of("subnets")[0]["SubnetId"].clone();
                let interface = json!({ "SubnetId": subnet, "Description": "another team's load balancer" });
                proxy.account().boto("ec2", "create_network_interface", interface);
            }
            Case::UnknownDependency => proxy.in_use("DeleteSubnet", Lasts::UntilSet),
        }
    }

    fn end(self, proxy: &Proxy) {
        proxy.nat_pending(Lasts::NOT_AT_ALL);
        proxy.nat_deleting(Lasts::NOT_AT_ALL);
        proxy.in_use("DeleteSubnet", Lasts::NOT_AT_ALL);
        let interfaces = proxy.account().boto("ec2", "describe_network_interfaces", json!({}));
        for interface in interfaces["NetworkInterfaces"].as_array().into_iter().flatten() {
            if interface["Description"] == "another team's load balancer" {
                let id = json!({ "NetworkInterfaceId": interface["NetworkInterfaceId"] });
                proxy.account().boto("ec2", "delete_network_interface", id);
            }
        }
    }

    /// The parts of the message: the object, AWS's error or the last state, and the dependents.
    fn words(self) -> &'static [&'static str] {
        match self {
            Case::NatStaysPending => &[
                "Could not create NAT gateway \"nat_gateway.0\"",
                "gave up waiting after",
                "the NAT gateway is pending",
            ],
            Case::NatFails => &[
                "Could not create NAT gateway \"nat_gateway.0\"",
                "InsufficientFreeAddressesInSubnet",
                "insufficient free addresses in the subnet",
            ],
            Case::NatStaysDeleting => &[
                "Could not delete NAT gateway \"nat_gateway.0\"",
                "gave up waiting after",
                "the NAT gateway is deleting",
            ],
            Case::InterfaceInSubnet => {
                &[": in use", "Nothing was deleted", "when timeouts.delete expired", "another team's load balancer"]
            }
            Case::UnknownDependency => &[
                "Could not delete subnet",
                "DeleteSubnet returned DependencyViolation",
                "gave up after",
                "No remaining dependents were found",
            ],
        }
    }

    /// The call that is repeated until the timeout; `None` if AWS reports at once that waiting is useless.
    fn repeated(self) -> Option<&'static str> {
        match self {
            Case::NatFails => None,
            Case::NatStaysPending | Case::NatStaysDeleting => Some("DescribeNatGateways"),
            Case::InterfaceInSubnet => Some("DescribeNetworkInterfaces"),
            Case::UnknownDependency => Some("DeleteSubnet"),
        }
    }
}

impl Display for Case {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        write!(out, "{self:?}")
    }
}

#[test]
fn configured_timeouts_apply_and_the_message_names_the_wait() {
    campaign("NAT gateways and deletions that are stuck", sample(Case::ALL.to_vec(), 3), |case| {
        let subject = Subject::new(Kind::Network);
        subject.workspace.config(&case.config());
        if case.phase() == Phase::Destroy {
            subject.run(Phase::Create).succeeded();
        }
        case.begin(&subject.proxy);
        let plan = subject.workspace.plan(if case.phase() == Phase::Destroy { &["-destroy"] } else { &[] });
        assert_eq!(plan.code, 2, "{plan}");
        subject.proxy.clear_calls();
        let run = subject.workspace.apply_plan();
        let tally = Tally::of(&subject.proxy);
        for words in case.words() {
            run.failed_with(words);
        }
        assert_ended_at_the_timeout(*case, &subject.proxy, &run, Instant::now());
        // The emulator itself does not return a gateway that is being deleted.
        if *case != Case::NatStaysDeleting {
            subject.assert_state_is_accurate();
        }
        case.end(&subject.proxy);
        subject.finish(case.phase());
        if case.phase() == Phase::Create {
            subject.destroy();
        }
        subject.proxy.account().assert_nothing_of_ours_is_left();
        tally
    });
}

/// A stuck object stays stuck, and all other timeouts are longer than the test may take. A run that has ended has
/// therefore not waited longer than configured. It has not waited less either: it ended after the timeout, which began
/// after the provider's first call. The last attempt may have begun before the timeout. A call that cannot succeed is
/// not repeated.
fn assert_ended_at_the_timeout(case: Case, proxy: &Proxy, run: &Run, ended: Instant) {
    let Some(repeated) = case.repeated() else {
        assert!(proxy.count("DescribeNatGateways") > 3, "the NAT gateway is not polled until it fails:\n{run}");
        return;
    };
    assert!(proxy.count(repeated) > 0, "{repeated} is not called:\n{run}");
    let calls = proxy.calls();
    let waited = ended.duration_since(calls.first().expect("the provider makes a call").started);
    assert!(
        waited >= TIMEOUT,
        "{case}: the provider gave up after {waited:?}, before the configured {TIMEOUT:?}:\n{run}"
    );
}
