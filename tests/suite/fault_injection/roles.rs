//! Restricted roles: one that may set tags only in the call that creates an object, and those that lack one permission.

use std::collections::BTreeSet;
use std::fmt::{self, Display, Formatter};

use super::campaign::{Tally, campaign, sample};
use super::subject::{Kind, Phase, Subject};
use crate::state_check;
use crate::support::proxy::call::Call;
use crate::support::proxy::fault::Fault;

/// A missing permission: an action of a service.
struct Lacking {
    kind: Kind,
    service: String,
    action: String,
}

impl Display for Lacking {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        write!(out, "{:?} without {}", self.kind, self.permission())
    }
}

impl Lacking {
    /// The permission as IAM names it: API Gateway has one for each HTTP method.
    fn permission(&self) -> String {
        let Self { service, action, .. } = self;
        match service.as_str() {
            "apigateway" => {
                let verbs = [("Create", "POST"), ("Update", "PATCH"), ("Delete", "DELETE"), ("Tag", "POST")];
                let verb = verbs.iter().find(|(verb, _)| action.starts_with(verb)).map_or("GET", |(_, method)| method);
                format!("apigateway:{verb}")
            }
            _ => format!("{service}:{action}"),
        }
    }

    /// Whether the log says that a lookup was skipped without the permission.
    fn skips_lookup(&self, subject: &Subject) -> bool {
        let log = std::fs::read_to_string(subject.workspace.log()).expect("the run has written a log");
        let skipped = |line: &str| line.contains("A lookup is skipped") && line.contains(&self.permission());
        log.lines().any(skipped)
    }

    fn fault(&self) -> Fault {
        let text = format!(
            "You are not authorized to perform this operation. User: arn:aws:iam::123456789012:user/ci is not authorized \
             to perform: {} because no identity-based policy allows the action",
            self.permission()
        );
        let code = match self.service.as_str() {
            "ec2" => "UnauthorizedOperation",
            "sts" | "route53" => "AccessDenied",
            _ => "AccessDeniedException",
        };
        Fault::on(&self.action).service(&self.service).answer(403, code, &text)
    }
}

/// The resource that is created by a role which may set tags only in the call that creates an object.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Tagged {
    Gateway,
    /// With only objects that the network creates.
    Network,
    /// With an object that AWS creates and the network adopts: its tags require a separate call.
    NetworkWithDefaultGroup,
}

impl Display for Tagged {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        write!(out, "{self:?}")
    }
}

impl Tagged {
    fn lacking(self) -> Lacking {
        let (kind, service, action) = match self {
            Tagged::Gateway => (Kind::Gateway, "apigateway", "TagResource"),
            _ => (Kind::Network, "ec2", "CreateTags"),
        };
        Lacking { kind, service: service.into(), action: action.into() }
    }

    fn prepare(self, subject: &Subject, phase: Phase) {
        if self == Tagged::Gateway {
            subject.prepare(phase);
        } else {
            let nats = if phase == Phase::Change { 2 } else { 1 };
            let default_group = self == Tagged::NetworkWithDefaultGroup;
            subject.workspace.config(&format!(
                "resource \"fgw_four_tier_vpc\" \"this\" {{\n  vpc_name = \"main\"\n  cidr_block = \"10.0.0.0/16\"\n  \
                 num_availability_zones = 2\n  num_nat_gateways = {nats}\n  custom_tags = {{ team = \"net\" }}\n  \
                 enable_default_security_group = {default_group}\n}}\n"
            ));
        }
    }
}

#[test]
fn a_role_that_tags_only_on_creation_creates_everything() {
    let cases = vec![Tagged::Network, Tagged::NetworkWithDefaultGroup, Tagged::Gateway];
    campaign("A role that may tag only on creation", cases, |case| {
        let lacking = case.lacking();
        let subject = Subject::new(lacking.kind);
        case.prepare(&subject, Phase::Create);
        subject.proxy.fault(lacking.fault());
        let run = subject.run(Phase::Create);
        let tally = Tally::of(&subject.proxy);
        assert!(tally.faults > 0, "no call that tags was denied");
        assert!(
            run.says(&format!("the permission {} is missing", lacking.permission())),
            "the message does not name the permission:\n{run}"
        );
        assert!(run.says("Could not change the tag fgw:state of"), "the message does not name the tag:\n{run}");
        if *case == Tagged::NetworkWithDefaultGroup {
            // Its tags are configured, so their absence is an error. The state contains the group, which has no tags of
            // the provider in the account for the same reason. Otherwise, the state is accurate.
            run.failed_with("Could not create default security group \"default_security_group\"");
            let mut objects = subject.objects();
            objects.remove("default_security_group").expect("it is in state");
            let known: BTreeSet<String> = objects.into_values().collect();
            assert_eq!(known, state_check::existing(subject.proxy.account()));
            subject.proxy.clear_faults();
            subject.finish(Phase::Create);
        } else {
            run.succeeded();
            subject.assert_state_is_accurate();
            assert!(!subject.workspace.state().is_tainted(subject.address()));
            // A tag that the role cannot set is no difference in the plan, and the next change sets it.
            subject.workspace.assert_nothing_to_do();
            subject.proxy.clear_faults();
            case.prepare(&subject, Phase::Change);
            subject.finish(Phase::Change);
        }
        let marked: Vec<String> =
            subject.proxy.account().ours().into_iter().filter(|it| it.contains("fgw:state")).collect();
        assert!(marked.len() == 1 && marked[0].contains("fgw:state=ready"), "{marked:?}");
        subject.destroy();
        tally
    });
}

#[test]
fn a_missing_permission_is_named_and_can_be_granted_later() {
    let cases = [Kind::Network, Kind::Gateway].into_iter().flat_map(|kind| sample(lacking(kind), 2)).collect();
    campaign("A role that lacks one permission", cases, |case: &Lacking| {
        let subject = Subject::new(case.kind);
        subject.prepare(Phase::Create);
        subject.proxy.fault(case.fault());
        let run = subject.run(Phase::Create);
        let tally = Tally::of(&subject.proxy);
        // A create succeeds without a few of the permissions. The message names these too, unless only the lookups of a
        // plan need them.
        let is_named = run.says(&format!("the permission {} is missing", case.permission()));
        let is_skipped = run.code == 0 && case.skips_lookup(&subject);
        assert!(is_named || is_skipped, "the message does not name the permission:\n{run}");
        subject.assert_state_is_accurate();
        subject.proxy.clear_faults();
        subject.finish(Phase::Create);
        subject.destroy();
        tally
    });
}

/// Each action that the creation of a subject needs, except for the one that returns the identity of the caller, which
/// needs no permission.
fn lacking(kind: Kind) -> Vec<Lacking> {
    let subject = Subject::new(kind);
    subject.prepare(Phase::Create);
    subject.run(Phase::Create).succeeded();
    let named = |call: Call| (call.service, call.action);
    let actions: BTreeSet<_> = subject.proxy.calls().into_iter().map(|record| named(record.call)).collect();
    subject.destroy();
    let needed = actions.into_iter().filter(|(service, _)| service != "sts");
    needed.map(|(service, action)| Lacking { kind, service, action }).collect()
}
