//! Roles that may do less than all: one that may set tags only in the call that makes an object, and those that lack
//! one permission.

use std::collections::BTreeSet;
use std::fmt::{self, Display, Formatter};

use super::campaign::{Tally, campaign, sample};
use super::state_check;
use super::subject::{Kind, Phase, Subject};
use crate::support::proxy::call::Call;
use crate::support::proxy::fault::Fault;

/// A permission that is missing: the action of a service.
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

/// What is made by a role that may tag only in the call that makes an object.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Tagged {
    Gateway,
    /// Of objects that the network makes.
    Network,
    /// With an object that AWS has made, and that the network takes over: its tags take a call of their own.
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
fn a_role_that_may_tag_only_what_it_makes_makes_everything_and_is_told() {
    let cases = vec![Tagged::Network, Tagged::NetworkWithDefaultGroup, Tagged::Gateway];
    campaign("A role that may tag only on creation", cases, |case| {
        let lacking = case.lacking();
        let subject = Subject::new(lacking.kind);
        case.prepare(&subject, Phase::Create);
        subject.proxy.fault(lacking.fault());
        let run = subject.run(Phase::Create);
        let tally = Tally::of(&subject.proxy);
        assert!(tally.faults > 0, "the root is marked as ready after all else is made");
        assert!(run.says(&format!("the permission {} is missing", lacking.permission())), "not told:\n{run}");
        assert!(run.says("The tag fgw:state of"), "not told what is not tagged:\n{run}");
        if *case == Tagged::NetworkWithDefaultGroup {
            // Its tags are wanted, so that they are missing is an error. State names the group, which the account does
            // not show as ours for the same reason; else it is as true as ever.
            run.failed_with("Creating default security group default_security_group failed");
            let mut objects = subject.objects();
            objects.remove("default_security_group").expect("it is in state");
            let known: BTreeSet<String> = objects.into_values().collect();
            assert_eq!(known, state_check::existing(subject.proxy.account()));
            subject.proxy.clear_faults();
            subject.finish(Phase::Create);
        } else {
            run.succeeded();
            subject.assert_state_is_true();
            assert!(!subject.workspace.state().is_tainted(subject.address()));
            // Nothing is to be done for a tag that the role cannot set, and the next change sets it.
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
fn a_role_that_lacks_a_permission_is_told_which_and_can_go_on_once_it_has_it() {
    let cases = [Kind::Network, Kind::Gateway].into_iter().flat_map(|kind| sample(lacking(kind), 2)).collect();
    campaign("A role that lacks one permission", cases, |case: &Lacking| {
        let subject = Subject::new(case.kind);
        subject.prepare(Phase::Create);
        subject.proxy.fault(case.fault());
        let run = subject.run(Phase::Create);
        let tally = Tally::of(&subject.proxy);
        // The role of a whole create may do without few; of those it is told as well.
        assert!(run.says(&format!("the permission {} is missing", case.permission())), "not told:\n{run}");
        subject.assert_state_is_true();
        subject.proxy.clear_faults();
        subject.finish(Phase::Create);
        subject.destroy();
        tally
    });
}

/// Each action that making a subject takes, but for the one that tells whose credentials they are: everyone may ask
/// that.
fn lacking(kind: Kind) -> Vec<Lacking> {
    let subject = Subject::new(kind);
    subject.prepare(Phase::Create);
    subject.run(Phase::Create).succeeded();
    let named = |call: Call| (call.service, call.action);
    let actions: BTreeSet<_> = subject.proxy.calls().into_iter().map(|record| named(record.call)).collect();
    subject.destroy();
    let asked = actions.into_iter().filter(|(service, _)| service != "sts");
    asked.map(|(service, action)| Lacking { kind, service, action }).collect()
}
