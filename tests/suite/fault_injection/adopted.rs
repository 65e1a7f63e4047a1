//! Adoptions that fail, are interrupted or killed at any changing call. Until the root is adopted, nothing but tags and
//! permissions is added, and a destroy deletes nothing. The next apply completes the adoption.

use std::fmt::{Display, Formatter};

use serde_json::{Value, json};

use super::campaign::{Tally, campaign, sample};
use super::moments::{Share, Victim, slow_down, speed_up};
use super::subject::Kind;
use crate::support::foreign::api::ForeignApi;
use crate::support::foreign::network::one_nat_gateway_per_az;
use crate::support::foreign::{assert_same, structure};
use crate::support::interruption::interrupt;
use crate::support::proxy::Proxy;
use crate::support::proxy::fault::Fault;
use crate::support::terraform::Workspace;

const APPLY: [&str; 4] = ["apply", "-no-color", "-input=false", "-auto-approve"];

#[test]
fn an_adoption_of_a_network_survives_every_interruption() {
    campaign("An adoption of a network is interrupted", sample(cases(Kind::Network), 4), Case::run);
}

#[test]
fn an_adoption_of_an_api_survives_every_interruption() {
    campaign("An adoption of an API is interrupted", sample(cases(Kind::Gateway), 4), Case::run);
}

/// What ends an adopting apply.
#[derive(Clone, Copy, Debug)]
enum End {
    /// AWS denies one changing call.
    Refused,
    /// The answer to one changing call is lost.
    Lost,
    Killed(Victim),
    CtrlC,
}

/// An adoption that ends at one of its changing calls.
struct Case {
    kind: Kind,
    end: End,
    share: Share,
    /// Whether the state is lost afterwards, so that the resource must be imported again.
    loses_state: bool,
}

impl Display for Case {
    fn fmt(&self, out: &mut Formatter<'_>) -> std::fmt::Result {
        let state = if self.loses_state { ", and the state is lost" } else { "" };
        write!(out, "{:?}, {:?} at {}{state}", self.kind, self.end, self.share)
    }
}

fn cases(kind: Kind) -> Vec<Case> {
    let ends = [End::Refused, End::Lost, End::CtrlC].into_iter().chain(Victim::ALL.map(End::Killed));
    let case = |end| {
        let shares = Share::all(4).into_iter().enumerate();
        shares.map(move |(number, share)| Case { kind, end, share, loses_state: number % 2 == 0 })
    };
    ends.flat_map(case).collect()
}

/// A network or an API that boto3 built, imported into a workspace whose configuration reproduces it.
struct Imported {
    kind: Kind,
    proxy: Proxy,
    workspace: Workspace,
    id: String,
    /// The number of changing calls of an adoption: one for each object with tags and for each permission.
    changes: usize,
    before: Value,
}

impl Imported {
    fn new(kind: Kind) -> Self {
        let proxy = match kind {
            Kind::Network => Proxy::moto(),
            Kind::Gateway => Proxy::ministack(),
        };
        let workspace = Workspace::with_provider(&proxy, "  max_retries = 2");
        let (id, changes) = match kind {
            Kind::Network => {
                let (vpc, objects) = one_nat_gateway_per_az(&proxy);
                (vpc, objects.len())
            }
            Kind::Gateway => (foreign_api(&proxy), 5),
        };
        let before = structure(proxy.account());
        let imported = Self { kind, proxy, workspace, id, changes, before };
        imported.import();
        imported.workspace.config(&imported.workspace.generated_text());
        imported.proxy.clear_calls();
        imported
    }

    fn address(&self) -> &'static str {
        match self.kind {
            Kind::Network => "fgw_four_tier_vpc.this",
            Kind::Gateway => "fgw_http_gateway.this",
        }
    }

    fn root(&self) -> &'static str {
        match self.kind {
            Kind::Network => "vpc",
            Kind::Gateway => "api",
        }
    }

    /// Imports it into an empty resource.
    fn import(&self) {
        let (kind, name) = self.address().split_once('.').expect("the address of a resource");
        self.workspace.config(&format!("resource \"{kind}\" \"{name}\" {{}}\n"));
        self.workspace.import(self.address(), &self.id).succeeded();
    }

    fn is_adopted(&self) -> bool {
        let state = self.workspace.state();
        state.resource(self.address()).is_some_and(|it| it["aws_objects"][self.root()] == json!(self.id))
    }

    /// Panics if anything but tags, associations and permissions has changed.
    fn assert_unchanged(&self) {
        assert_same(&self.before, &structure(self.proxy.account()));
    }

    fn destroy(&self) {
        self.workspace.destroy().succeeded();
    }
}

/// An API with two routes, a stage and a log group.
fn foreign_api(proxy: &Proxy) -> String {
    let account = proxy.account();
    for name in ["orders", "users"] {
        account.create_function(name, "def handler(event, context):\n    return {'statusCode': 200}\n");
    }
    let api = ForeignApi::new(proxy, "HTTP");
    api.route("GET /orders", "orders", &json!({}));
    api.route("GET /users", "users", &json!({}));
    account.boto("logs", "create_log_group", json!({ "logGroupName": "/legacy/access" }));
    let group = format!("arn:aws:logs:us-east-1:{}:log-group:/legacy/access", account.id);
    let logs = json!({ "DestinationArn": group, "Format": "{\"id\":\"$context.requestId\"}" });
    api.create("stage", json!({ "StageName": "$default", "AutoDeploy": true, "AccessLogSettings": logs }));
    // Those of other tools are not the subject here.
    api.remove_permissions();
    api.id
}

impl Case {
    fn run(&self) -> Tally {
        let imported = Imported::new(self.kind);
        let config = std::fs::read_to_string(imported.workspace.path().join("main.tf")).expect("it was written");
        self.interrupt(&imported);
        let tally = Tally { faults: 1, ..Tally::of(&imported.proxy) };
        imported.assert_unchanged();
        let was_adopted = imported.is_adopted();
        if self.loses_state {
            // A destroy deletes nothing as long as the state does not say that the root is adopted.
            imported.proxy.clear_calls();
            match was_adopted {
                true => imported.workspace.forget(imported.address()),
                false => imported.destroy(),
            }
            assert!(imported.proxy.mutations().is_empty(), "{:?}", imported.proxy.mutations());
            imported.assert_unchanged();
            imported.import();
            imported.workspace.config(&config);
        }
        imported.workspace.apply(&[]).succeeded();
        assert!(imported.is_adopted(), "the next apply completes the adoption");
        imported.assert_unchanged();
        imported.workspace.assert_nothing_to_do();
        imported.destroy();
        imported.proxy.account().assert_nothing_of_ours_is_left();
        tally
    }

    /// Runs the adopting apply until its end.
    fn interrupt(&self, imported: &Imported) {
        let (proxy, workspace) = (&imported.proxy, &imported.workspace);
        let number = 1 + self.share.step * (imported.changes - 1) / (self.share.steps - 1);
        let changing = || Fault::on("*").when(|call| call.is_mutation()).nth(number);
        match self.end {
            End::Refused => proxy.fault(changing().answer(400, "AccessDeniedException", "scripted")),
            End::Lost => proxy.fault(changing().after_work().reset()),
            End::Killed(_) | End::CtrlC => {
                slow_down(proxy);
                self.share.stops(proxy, imported.changes);
            }
        }
        match self.end {
            End::Refused | End::Lost => {
                let run = workspace.run(&APPLY);
                assert!(run.code == 1 || matches!(self.end, End::Lost), "{run}");
                proxy.clear_faults();
            }
            End::Killed(victim) => victim.kill(workspace.start(&APPLY), proxy),
            End::CtrlC => {
                interrupt(workspace, workspace.start(&APPLY), proxy, || {});
                speed_up(proxy);
            }
        }
    }
}
