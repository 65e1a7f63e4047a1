//! What never comes, fails after it was begun, or does not go: the configured timeout holds, and the message says what
//! was waited for, how long, and what stood in the way.

use std::fmt::{self, Display, Formatter};
use std::time::Duration;

use serde_json::json;

use super::campaign::{Tally, campaign, sample};
use super::subject::{Kind, Phase, Subject};
use crate::support::proxy::Proxy;
use crate::support::proxy::lasts::Lasts;
use crate::support::terraform::Run;

/// The timeout of the phase in which something is stuck. What is not stuck is done at the first look, so the rest of
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

    /// A small network. Other waits than the one that is stuck would outlast the test.
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
                proxy.nat_pending(Lasts::Looks(3));
                proxy.nat_fails(1, "InsufficientFreeAddressesInSubnet", text);
            }
            Case::NatStaysDeleting => proxy.nat_deleting(Lasts::UntilSet),
            Case::InterfaceInSubnet => {
                let subnet = proxy.account().list_of("subnets")[0]["SubnetId"].clone();
                let interface = json!({ "SubnetId": subnet, "Description": "somebody's load balancer" });
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
            if interface["Description"] == "somebody's load balancer" {
                let id = json!({ "NetworkInterfaceId": interface["NetworkInterfaceId"] });
                proxy.account().boto("ec2", "delete_network_interface", id);
            }
        }
    }

    /// What the message must say: the object, what AWS said or was seen last, and what is in the way.
    fn words(self) -> &'static [&'static str] {
        match self {
            Case::NatStaysPending => {
                &["Creating NAT gateway nat_gateway.0 failed", "gave up waiting after", "the NAT gateway is pending"]
            }
            Case::NatFails => &[
                "Creating NAT gateway nat_gateway.0 failed",
                "InsufficientFreeAddressesInSubnet",
                "insufficient free addresses in the subnet",
            ],
            Case::NatStaysDeleting => {
                &["Deleting NAT gateway nat_gateway.0 failed", "gave up waiting after", "the NAT gateway is deleting"]
            }
            Case::InterfaceInSubnet => &[
                "Deleting subnet",
                "DeleteSubnet answered DependencyViolation",
                "gave up after",
                "In its way:",
                "somebody's load balancer",
            ],
            Case::UnknownDependency => &[
                "Deleting subnet",
                "DeleteSubnet answered DependencyViolation",
                "gave up after",
                "Nothing of others is found in its way",
            ],
        }
    }

    /// The call that is repeated until the time is over; none where AWS tells at once that it is in vain.
    fn repeated(self) -> Option<&'static str> {
        match self {
            Case::NatFails => None,
            Case::NatStaysPending | Case::NatStaysDeleting => Some("DescribeNatGateways"),
            Case::InterfaceInSubnet | Case::UnknownDependency => Some("DeleteSubnet"),
        }
    }
}

impl Display for Case {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        write!(out, "{self:?}")
    }
}

#[test]
fn a_configured_timeout_holds_and_the_message_says_what_was_waited_for() {
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
        assert_the_timeout_has_ended_it(*case, &subject.proxy, &run);
        // The emulator itself knows nothing of a gateway that is being deleted.
        if *case != Case::NatStaysDeleting {
            subject.assert_state_is_true();
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

/// What is stuck stays so, and all other timeouts are longer than the test may take, so a run that has ended has not
/// waited longer than it was told to. Nor has it waited less: the last try comes when the timeout is over, which began
/// after the provider's first call. One that is in vain is not repeated at all.
fn assert_the_timeout_has_ended_it(case: Case, proxy: &Proxy, run: &Run) {
    let calls = proxy.calls();
    let Some(repeated) = case.repeated() else {
        assert!(proxy.count("DescribeNatGateways") > 3, "it fails after it was pending:\n{run}");
        return;
    };
    let first = calls.first().expect("the provider signs in").started;
    let last = calls.iter().rfind(|record| record.call.action == repeated).expect("it is tried").started;
    let waited = last.duration_since(first);
    assert!(
        waited >= TIMEOUT,
        "{case} is given up after {waited:?}, before the {TIMEOUT:?} that were configured:\n{run}"
    );
}
