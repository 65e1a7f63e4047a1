//! What never comes, fails after it was begun, or does not go: the configured timeout holds, and the message says what
//! was waited for, how long, and what stood in the way.

use std::fmt::{self, Display, Formatter};
use std::time::Duration;

use serde_json::json;

use super::campaign::{Tally, campaign, sample};
use super::subject::{Kind, Phase, Subject};
use crate::support::proxy::Proxy;
use crate::support::terraform::Run;

/// Longer than any test takes.
const FOR_EVER: Duration = Duration::from_secs(3600);

/// The configured timeout.
const TIMEOUT: Duration = Duration::from_secs(20);

/// A small network, so that hardly anything but the wait takes time.
const SMALL: &str = r#"
resource "fgw_four_tier_vpc" "this" {
  vpc_name               = "small"
  cidr_block             = "10.0.0.0/16"
  num_availability_zones = 1
  num_nat_gateways       = 1
  timeouts {
    create = "20s"
    delete = "20s"
  }
}
"#;

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

    fn begin(self, proxy: &Proxy) {
        match self {
            Case::NatStaysPending => proxy.nat_pending(FOR_EVER),
            Case::NatFails => {
                let text = "Network vpc has insufficient free addresses in the subnet";
                proxy.nat_pending(Duration::from_secs(1));
                proxy.nat_fails(1, "InsufficientFreeAddressesInSubnet", text);
            }
            Case::NatStaysDeleting => proxy.nat_deleting(FOR_EVER),
            Case::InterfaceInSubnet => {
                let subnet = proxy.account().list_of("subnets")[0]["SubnetId"].clone();
                let interface = json!({ "SubnetId": subnet, "Description": "somebody's load balancer" });
                proxy.account().boto("ec2", "create_network_interface", interface);
            }
            Case::UnknownDependency => proxy.in_use_for("DeleteSubnet", FOR_EVER),
        }
    }

    fn end(self, proxy: &Proxy) {
        proxy.nat_pending(Duration::ZERO);
        proxy.nat_deleting(Duration::ZERO);
        proxy.in_use_for("DeleteSubnet", Duration::ZERO);
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
        subject.workspace.config(SMALL);
        if case.phase() == Phase::Destroy {
            subject.run(Phase::Create).succeeded();
        }
        subject.proxy.clear_calls();
        case.begin(&subject.proxy);
        let run = subject.run(case.phase());
        let tally = Tally::of(&subject.proxy);
        for words in case.words() {
            run.failed_with(words);
        }
        assert_ends_in_time(*case, &subject.proxy, &run);
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

/// The time from the first change to the last try: Terraform's own start and the plan are not the provider's, and what
/// is written down after the wait is not the wait.
fn assert_ends_in_time(case: Case, proxy: &Proxy, run: &Run) {
    let (mutations, calls) = (proxy.mutations(), proxy.calls());
    let first = mutations.first().expect("something changes").started;
    let tries = calls.iter().filter(|record| case.repeated().is_none_or(|action| record.call.action == action));
    let took = tries.map(|record| record.started).max().expect("something is tried").duration_since(first);
    let within = match case.repeated() {
        Some(_) => TIMEOUT.mul_f64(0.9)..=TIMEOUT.mul_f64(1.1),
        None => Duration::ZERO..=TIMEOUT.mul_f64(0.9),
    };
    assert!(within.contains(&took), "{case} ends after {took:?} and not within {within:?}:\n{run}");
}
