//! Roles that may do less than all: one that may set tags only in the call that makes an object, and those that lack one
//! permission.

use std::collections::BTreeSet;
use std::fmt::{self, Display, Formatter};

use super::campaign::{Tally, campaign, sample};
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

#[test]
fn a_role_that_may_tag_only_what_it_makes_makes_everything_and_is_told() {
    let cases = [Kind::Network, Kind::Gateway].map(|kind| {
        let (service, action) = match kind {
            Kind::Network => ("ec2", "CreateTags"),
            Kind::Gateway => ("apigateway", "TagResource"),
        };
        Lacking { kind, service: service.into(), action: action.into() }
    });
    campaign("A role that may tag only on creation", cases.into(), |case| {
        let subject = Subject::new(case.kind);
        subject.prepare(Phase::Create);
        subject.proxy.fault(case.fault());
        let run = subject.run(Phase::Create);
        let mut tally = Tally::of(&subject.proxy);
        run.succeeded();
        assert!(run.says(&format!("the permission {} is missing", case.permission())), "no warning:\n{run}");
        assert!(tally.faults > 0, "the tag of the root is set after all else is made");
        subject.assert_state_is_true();
        assert!(!subject.workspace.state().is_tainted(subject.address()));
        // The tag is tried again, and with the permission it is set.
        subject.proxy.clear_calls();
        subject.workspace.apply(&[]).succeeded();
        tally.add(Tally::of(&subject.proxy));
        subject.proxy.clear_faults();
        subject.finish(Phase::Create);
        let creating = subject.proxy.account().ours().into_iter().filter(|line| line.contains("fgw:state=creating"));
        assert_eq!(creating.collect::<Vec<_>>(), Vec::<String>::new());
        subject.destroy();
        tally
    });
}

#[test]
fn a_role_that_lacks_a_permission_is_told_which_and_can_go_on_once_it_has_it() {
    let cases = [Kind::Network, Kind::Gateway].into_iter().flat_map(|kind| sample(lacking(kind), 3)).collect();
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

/// Each action that making a subject takes, but for the one that tells whose credentials they are: everyone may ask that.
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
