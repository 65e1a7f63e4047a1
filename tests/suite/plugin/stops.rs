//! Calls that change nothing end at once when Terraform requests a stop or abandons them.

use tonic::transport::Channel;

use super::fake_provider::Acme;
use super::{ProviderClient, Severity, connected_to, door, dynamic, pb, summaries};
use crate::support::wait;
use fgw::plugin::Value;

/// The calls that only read.
#[derive(Clone, Copy, Debug)]
enum Call {
    Configure,
    Read,
    Plan,
    Import,
    ReadData,
}

const CALLS: [(Call, &str); 5] = [
    (Call::Configure, "Stopped configuring the provider"),
    (Call::Read, "Stopped reading acme_door"),
    (Call::Plan, "Stopped planning acme_door"),
    (Call::Import, "Stopped importing acme_door \"endless\""),
    (Call::ReadData, "Stopped reading acme_door"),
];

impl Call {
    /// Sends a call that the fake provider never finishes. Returns the diagnostics of the response, and whether the
    /// response has a state.
    async fn send(self, mut terraform: ProviderClient<Channel>) -> (Vec<pb::Diagnostic>, bool) {
        let type_name = "acme_door".to_owned();
        let endless = dynamic(&door(&[("name", Value::from("endless"))]));
        match self {
            Call::Configure => {
                let config = dynamic(&Value::map([("style", Value::from("endless"))]));
                let request = pb::configure_provider::Request { config, ..Default::default() };
                (terraform.configure_provider(request).await.unwrap().into_inner().diagnostics, false)
            }
            Call::Read => {
                let request = pb::read_resource::Request { type_name, current_state: endless, ..Default::default() };
                let response = terraform.read_resource(request).await.unwrap().into_inner();
                (response.diagnostics, response.new_state.is_some())
            }
            Call::Plan => {
                let request = pb::plan_resource_change::Request {
                    type_name,
                    proposed_new_state: endless.clone(),
                    config: endless,
                    ..Default::default()
                };
                let response = terraform.plan_resource_change(request).await.unwrap().into_inner();
                (response.diagnostics, response.planned_state.is_some())
            }
            Call::Import => {
                let request =
                    pb::import_resource_state::Request { type_name, id: "endless".to_owned(), ..Default::default() };
                let response = terraform.import_resource_state(request).await.unwrap().into_inner();
                (response.diagnostics, !response.imported_resources.is_empty())
            }
            Call::ReadData => {
                let config = ["id", "width", "tags"].map(|name| (name, Value::Null));
                let config = Value::map(config.into_iter().chain([("name", Value::from("endless"))]));
                let request = pb::read_data_source::Request { type_name, config: dynamic(&config) };
                let response = terraform.read_data_source(request).await.unwrap().into_inner();
                (response.diagnostics, response.state.is_some())
            }
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_stop_ends_each_call_that_only_reads() {
    for (call, summary) in CALLS {
        let acme = Acme::default();
        let (_process, mut terraform) = connected_to(acme.clone()).await;
        let sent = tokio::spawn(call.send(terraform.clone()));
        acme.diary.until("endless work begins").await;
        assert!(!sent.is_finished(), "{call:?}");
        terraform.stop_provider(pb::stop_provider::Request {}).await.unwrap();
        let (diagnostics, has_state) = wait::output("the response", sent).await.unwrap();
        assert_eq!(summaries(&diagnostics), [(Severity::Error, summary)], "{call:?}");
        assert!(!has_state, "{call:?}");
        assert!(acme.diary.has("endless work is dropped"), "{call:?}");
    }
}

/// Terraform may have sent the call before the stop.
#[tokio::test(flavor = "multi_thread")]
async fn a_call_that_arrives_after_the_stop_ends_too() {
    for (call, summary) in CALLS {
        let (_process, mut terraform) = connected_to(Acme::default()).await;
        terraform.stop_provider(pb::stop_provider::Request {}).await.unwrap();
        let (diagnostics, has_state) = wait::output("the response", call.send(terraform)).await;
        assert_eq!(summaries(&diagnostics), [(Severity::Error, summary)], "{call:?}");
        assert!(!has_state, "{call:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_call_that_terraform_abandons_is_dropped() {
    for (call, _) in CALLS {
        let acme = Acme::default();
        let (process, terraform) = connected_to(acme.clone()).await;
        let sent = tokio::spawn(call.send(terraform.clone()));
        acme.diary.until("endless work begins").await;
        sent.abort();
        acme.diary.until("endless work is dropped").await;
        assert!(!process.served.is_finished(), "{call:?}: the server has ended");
    }
}
