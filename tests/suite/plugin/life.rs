//! The life of a server: when it ends, and when it does not.

// In tests and their helpers, a failed unwrap is a failed test.
#![allow(clippy::unwrap_used)]

use std::sync::atomic::Ordering;

use fgw::plugin::Value;
use fgw::plugin::proto::process::Empty;
use fgw::plugin::proto::process::grpc_controller_client::GrpcControllerClient;
use fgw::plugin::proto::process::grpc_stdio_client::GrpcStdioClient;
use fgw::plugin::proto::tfplugin6::diagnostic::Severity;
use fgw::plugin::proto::tfplugin6::provider_client::ProviderClient;
use fgw::plugin::proto::tfplugin6::{self as pb};
use futures::FutureExt;

use super::fake_provider::Acme;
use super::{apply, connected, connected_to, door, dynamic, named, start, summaries, validate, value};
use crate::support::plugin_client::Certificate;
use crate::support::wait;

#[tokio::test(flavor = "multi_thread")]
async fn shutdown_ends_the_stdio_stream_and_the_server() {
    let client = Certificate::new();
    let process = start(Some(&client)).await;
    let channel = process.connect(Some(&client)).await.unwrap();
    let mut output = GrpcStdioClient::new(channel.clone()).stream_stdio(()).await.unwrap().into_inner();
    let mut end = Box::pin(output.message());
    let metadata = ProviderClient::new(channel.clone()).get_metadata(pb::get_metadata::Request {}).await;
    assert_eq!(metadata.unwrap().into_inner().diagnostics, []);
    assert!((&mut end).now_or_never().is_none(), "the stream has ended, so a client may close its idle connection");
    GrpcControllerClient::new(channel).shutdown(Empty {}).await.unwrap();
    assert_eq!(wait::output("the stream ends", end).await.unwrap(), None);
    let socket = std::path::PathBuf::from(&process.handshake.socket);
    process.ended().await.unwrap();
    assert!(!socket.parent().unwrap().exists());
}

#[tokio::test(flavor = "multi_thread")]
async fn server_ends_only_after_its_work_when_terraform_dies() {
    let acme = Acme::default();
    let (process, terraform) = connected_to(acme.clone()).await;
    let mut other = terraform.clone();
    let call = tokio::spawn(async move { other.apply_resource_change(apply(&named("slow"))).await });
    acme.diary.until("slow work begins").await;
    call.abort();
    drop(terraform);
    process.lose_parent();
    process.ended().await.unwrap();

    let (process, terraform) = connected_to(acme.clone()).await;
    let mut other = terraform.clone();
    let call = tokio::spawn(async move { other.apply_resource_change(apply(&named("stubborn"))).await });
    acme.diary.until("stubborn work begins").await;
    call.abort();
    drop(terraform);
    process.lose_parent();
    process.terminate.notify_one();
    acme.diary.until("stubborn work is canceled").await;
    // During this time, another server serves its client and ends.
    let (brief, mut terraform) = connected().await;
    assert_eq!(validate(&mut terraform, &named("front")).await, []);
    drop(terraform);
    brief.lose_parent();
    brief.ended().await.unwrap();
    assert!(!process.served.is_finished(), "work was interrupted");
    assert!(!acme.diary.has("stubborn work ends"));
    acme.release.notify_one();
    process.ended().await.unwrap();
    assert!(acme.diary.has("stubborn work ends"), "the server ended before its work");
}

#[tokio::test(flavor = "multi_thread")]
async fn work_is_notified_when_its_client_disconnects() {
    let acme = Acme::default();
    let (_process, mut terraform) = connected_to(acme.clone()).await;
    let mut other = terraform.clone();
    let call = tokio::spawn(async move { other.apply_resource_change(apply(&named("abandoned"))).await });
    acme.diary.until("abandoned work begins").await;
    assert_eq!(validate(&mut terraform, &named("front")).await, []);
    assert!(!acme.diary.has("the client has disconnected"));
    call.abort();
    acme.diary.until("the client has disconnected").await;
    assert_eq!(validate(&mut terraform, &named("front")).await, [], "the connection itself stays open");
}

/// A gRPC client closes a connection that has no open call for some time, and opens another one for its next call.
#[tokio::test(flavor = "multi_thread")]
async fn a_lost_connection_does_not_end_the_server() {
    let client = Certificate::new();
    let process = start(Some(&client)).await;
    let mut terraform = process.terraform(&client).await;
    assert_eq!(validate(&mut terraform, &named("front")).await, []);
    assert_eq!(process.parent.checks.load(Ordering::Relaxed), 0, "checked while a client is connected");
    drop(terraform);
    wait::until("the server has waited for a client", || process.parent.checks.load(Ordering::Relaxed) > 3);
    let mut terraform = process.terraform(&client).await;
    assert_eq!(validate(&mut terraform, &named("front")).await, []);
}

#[tokio::test(flavor = "multi_thread")]
async fn sigterm_returns_the_state_of_an_apply_before_the_end() {
    let acme = Acme::default();
    let (process, mut terraform) = connected_to(acme.clone()).await;
    let mut planned = named("slow");
    planned.set("id", Value::Unknown);
    let running = tokio::spawn(async move { terraform.apply_resource_change(apply(&planned)).await });
    acme.diary.until("slow work begins").await;
    process.terminate.notify_one();
    let stopped = running.await.unwrap().unwrap().into_inner();
    assert_eq!(summaries(&stopped.diagnostics), [(Severity::Error, "Stopped")]);
    assert_eq!(value(stopped.new_state), named("slow"));
    process.ended().await.unwrap();

    let (process, mut terraform) = connected_to(acme.clone()).await;
    let running = tokio::spawn(async move { terraform.apply_resource_change(apply(&named("abandoned"))).await });
    acme.diary.until("abandoned work begins").await;
    process.terminate.notify_one();
    assert_eq!(running.await.unwrap().unwrap().into_inner().diagnostics, []);
    assert!(acme.diary.has("the client is connected"));
    process.ended().await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn sigterm_ends_a_read() {
    let acme = Acme::default();
    let (process, mut terraform) = connected_to(acme.clone()).await;
    let config = door(&[("name", Value::from("endless"))]);
    let config = Value::map(["id", "name", "width", "tags"].map(|name| (name, config.get(name).clone())));
    let request = pb::read_data_source::Request { type_name: "acme_door".to_string(), config: dynamic(&config) };
    let running = tokio::spawn(async move { terraform.read_data_source(request).await });
    acme.diary.until("endless work begins").await;
    process.terminate.notify_one();
    let stopped = running.await.unwrap().unwrap().into_inner();
    assert_eq!(summaries(&stopped.diagnostics), [(Severity::Error, "Stopped reading acme_door")]);
    process.ended().await.unwrap();
}

#[cfg(unix)]
#[tokio::test(flavor = "multi_thread")]
async fn a_debugged_server_outlives_terraform() {
    let process = super::start_in(Acme::default(), fgw::plugin::Environment::of_debugging()).await;
    assert!(process.handshake.certificate.is_empty());
    for _ in 0..2 {
        let channel = process.handshake.connect(None).await.unwrap();
        assert_eq!(validate(&mut ProviderClient::new(channel.clone()), &named("front")).await, []);
        GrpcControllerClient::new(channel).shutdown(Empty {}).await.unwrap();
    }
    process.terminate.notify_one();
    process.ended().await.unwrap();
}
