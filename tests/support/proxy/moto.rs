//! The differences between moto and AWS, which the proxy repairs. Each repair states the behavior of AWS.

mod acls;
mod associating;
mod cidr_blocks;
mod dependencies;
mod egress_gateways;
mod endpoint_checks;
mod endpoint_interfaces;
mod endpoint_services;
mod endpoints;
mod flow_logs;
mod group_rules;
mod interface_endpoints;
mod ipam;
mod ipv6;
mod link_interfaces;
mod log_groups;
mod missing;
mod nat_addresses;
mod nats;
mod propagation;
mod routes;
mod subnets;
mod tokens;
mod unsupported;
mod vpcs;
pub(super) mod zones;

use std::collections::BTreeMap;
use std::ops::Deref;

use async_trait::async_trait;

use super::call::{Call, encode};
use super::message::{Message, Reply};
use super::upstream::Upstream;
use super::xml::Element;
use super::{Before, lock};

/// The answer that the caller gets instead of moto's; `None` to forward the request.
type Instead = Result<Option<Reply>, String>;

type Done = Result<(), String>;

type Params = BTreeMap<String, String>;

/// A difference between moto and AWS, in one file. It may keep state between calls. An error fails the test.
#[async_trait]
trait Repair: Sync {
    /// Rejects a call, or executes it.
    async fn instead(&self, _call: &Request<'_>) -> Instead {
        Ok(None)
    }

    /// Changes the parameters that moto gets.
    fn change(&self, _call: &Request<'_>, _params: &mut Params) -> Done {
        Ok(())
    }

    /// Completes a successful call, and changes its answer.
    async fn after(&self, _call: &Request<'_>, _answer: &mut Answer) -> Done {
        Ok(())
    }
}

/// Declares [`Repairs`], with a field for each file.
macro_rules! repairs {
    ($($file:ident::$kind:ident,)*) => {
        #[derive(Debug, Default)]
        pub(super) struct Repairs {
            $(pub(super) $file: $file::$kind,)*
        }

        impl Repairs {
            fn all(&self) -> Vec<&dyn Repair> {
                vec![$(&self.$file,)*]
            }
        }
    };
}

// From the caller to moto: the first one is the first to see a request, and the last to see its answer.
repairs! {
    unsupported::Unsupported,
    tokens::Tokens,
    zones::Zones,
    associating::Associating,
    cidr_blocks::CidrBlocks,
    vpcs::Vpcs,
    ipam::Ipam,
    nats::Nats,
    endpoint_interfaces::EndpointInterfaces,
    link_interfaces::LinkInterfaces,
    dependencies::Dependencies,
    egress_gateways::EgressGateways,
    subnets::Subnets,
    ipv6::Ipv6,
    endpoints::Endpoints,
    interface_endpoints::InterfaceEndpoints,
    endpoint_services::EndpointServices,
    propagation::Propagation,
    routes::Routes,
    acls::Acls,
    group_rules::GroupRules,
    flow_logs::FlowLogs,
    log_groups::LogGroups,
}

impl Repairs {
    pub(super) async fn before(&self, emulator: &Upstream, call: &Call, message: Message) -> Result<Before, String> {
        let name = name(call);
        let request = Request { repairs: self, emulator, message: &message, call, name: &name };
        for repair in self.all() {
            if let Some(reply) = repair.instead(&request).await? {
                return Ok(Before::Answer(reply));
            }
        }
        let mut params = call.params.clone();
        self.all().into_iter().try_for_each(|repair| repair.change(&request, &mut params))?;
        if params == call.params {
            return Ok(Before::Forward(message));
        }
        let pairs: Vec<String> = params.iter().map(|(name, value)| format!("{name}={}", encode(value))).collect();
        Ok(Before::Forward(Message { body: pairs.join("&").into(), ..message }))
    }

    pub(super) async fn after(
        &self,
        emulator: &Upstream,
        call: &Call,
        message: &Message,
        reply: Reply,
    ) -> Result<Reply, String> {
        let name = name(call);
        let request = Request { repairs: self, emulator, message, call, name: &name };
        if !reply.is_success() {
            return missing::object(&request, reply).await;
        }
        let mut answer = Answer { reply, root: None };
        for repair in self.all().into_iter().rev() {
            repair.after(&request, &mut answer).await?;
        }
        Ok(answer.reply())
    }
}

/// A call that the proxy has received.
struct Request<'a> {
    repairs: &'a Repairs,
    emulator: &'a Upstream,
    message: &'a Message,
    call: &'a Call,
    /// The action, which follows the name of the service if it is not EC2.
    name: &'a str,
}

fn name(call: &Call) -> String {
    if call.service == "ec2" { call.action.clone() } else { format!("{} {}", call.service, call.action) }
}

impl Deref for Request<'_> {
    type Target = Call;

    fn deref(&self) -> &Call {
        self.call
    }
}

impl Request<'_> {
    /// Makes another EC2 call as the same caller. A name that begins with a small letter is the one of a filter.
    /// Returns an AWS error as `Ok(Err(code))`.
    async fn ec2(&self, action: &str, params: &[(&str, &str)]) -> Result<Result<Element, String>, String> {
        let (filters, others): (Vec<_>, Vec<_>) =
            params.iter().partition(|(name, _)| name.starts_with(|it: char| it.is_ascii_lowercase()));
        let mut all: Vec<(String, &str)> = others.into_iter().map(|(name, value)| (name.to_owned(), value)).collect();
        for (number, (name, value)) in (1..).zip(filters) {
            all.extend([(format!("Filter.{number}.Name"), name), (format!("Filter.{number}.Value.1"), value)]);
        }
        let all: Vec<(&str, &str)> = all.iter().map(|(name, value)| (name.as_str(), *value)).collect();
        self.emulator.ec2(self.message, action, &all).await
    }

    /// The same for a call that cannot fail: an AWS error is an `Err`.
    async fn describe(&self, action: &str, params: &[(&str, &str)]) -> Result<Element, String> {
        self.ec2(action, params).await?.map_err(|code| format!("{action} {params:?}: {code}"))
    }

    fn rejected(&self, code: &str, text: &str) -> Reply {
        Reply::error(self.call, 400, code, text)
    }

    fn reject_if(&self, is_rejected: bool, code: &str, text: &str) -> Instead {
        Ok(is_rejected.then(|| self.rejected(code, text)))
    }

    /// The answer to a call that the proxy has executed itself.
    fn done(&self) -> Reply {
        self.answer("<return>true</return>")
    }

    /// The same with other members.
    fn answer(&self, members: &str) -> Reply {
        let action = &self.action;
        Reply::xml(
            200,
            &format!(
                "<{action}Response xmlns=\"http://ec2.amazonaws.com/doc/2016-11-15/\"><requestId>proxy</requestId>\
                 {members}</{action}Response>"
            ),
        )
    }
}

/// An error within a successful answer.
fn unsuccessful(id: &str, code: &str, text: &str) -> String {
    format!("<item><resourceId>{id}</resourceId><error><code>{code}</code><message>{text}</message></error></item>")
}

/// A successful answer, which is parsed when the first repair needs its elements.
struct Answer {
    reply: Reply,
    root: Option<Element>,
}

impl Answer {
    fn root(&mut self) -> Result<&mut Element, String> {
        match &mut self.root {
            Some(root) => Ok(root),
            none => Ok(none.insert(Element::parse(&self.reply.text())?)),
        }
    }

    fn reply(&self) -> Reply {
        let reply = self.reply.clone();
        match &self.root {
            Some(root) => reply.with_body(root.to_string()),
            None => reply,
        }
    }
}

/// Removes some of the filters of a query.
fn remove_filters(call: &Call, params: &mut Params, is_left_out: fn(&str) -> bool) {
    params.retain(|name, _| !name.starts_with("Filter."));
    let kept = call.filters().into_iter().filter(|(name, _)| !is_left_out(name));
    for (number, (name, values)) in (1..).zip(kept) {
        params.insert(format!("Filter.{number}.Name"), name.to_owned());
        for (place, value) in (1..).zip(values) {
            params.insert(format!("Filter.{number}.Value.{place}"), value.to_owned());
        }
    }
}
