//! The server on a TCP port, as on Windows.

// In tests and their helpers, a failed unwrap is a failed test.
#![allow(clippy::unwrap_used)]

use std::sync::Arc;

use fgw::plugin::proto::tfplugin6::provider_client::ProviderClient;
use fgw::plugin::proto::tfplugin6::{self as pb};
use fgw::plugin::{Environment, Offer, Transport};

use super::fake_provider::Acme;
use super::{Process, environment, named, start_in, validate};
use crate::support::plugin_client::Certificate;

fn on_tcp(client: Option<&Certificate>, ports: Option<(u16, u16)>) -> Environment {
    let (first, last) = ports.map(|(first, last)| (first.to_string(), last.to_string())).unzip();
    Environment { transport: Transport::Tcp { first, last }, ..environment(client) }
}

fn port(process: &Process) -> u16 {
    assert_eq!(process.handshake.network, "tcp");
    process.handshake.socket.strip_prefix("127.0.0.1:").unwrap().parse().unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn only_the_pinned_client_is_served_on_a_port() {
    let client = Certificate::new();
    let process = start_in(Acme::default(), on_tcp(Some(&client), None)).await;
    let mut terraform = process.terraform(&client).await;
    assert_eq!(validate(&mut terraform, &named("front")).await, []);
    let impostor = client.with_key_of(Certificate::new());
    for certificate in [None, Some(Certificate::new()), Some(impostor)] {
        // In TLS 1.3, the client receives the rejection only with the first response.
        let answer = match process.connect(certificate.as_ref()).await {
            Err(_) => continue,
            Ok(channel) => ProviderClient::new(channel).stop_provider(pb::stop_provider::Request {}).await,
        };
        assert!(answer.is_err());
    }
    let mut without_tls = process.handshake.clone();
    without_tls.certificate.clear();
    let plain = match without_tls.connect(None).await {
        Err(_) => None,
        Ok(channel) => ProviderClient::new(channel).stop_provider(pb::stop_provider::Request {}).await.ok(),
    };
    assert!(plain.is_none(), "a client without TLS was served");
    assert_eq!(validate(&mut terraform, &named("front")).await, []);
}

/// Runs a server that must not start.
async fn rejected(environment: Environment) -> String {
    let announce = |offer: &Offer| panic!("nothing should be announced: {offer:?}");
    fgw::plugin::serve::run(Acme::default(), environment, Arc::default(), announce).await.unwrap_err()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_port_is_never_served_without_a_client_certificate() {
    let error = rejected(on_tcp(None, None)).await;
    assert!(error.starts_with("PLUGIN_CLIENT_CERT is not set."), "{error}");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_port_is_in_the_given_range_or_an_error() {
    let client = Certificate::new();
    let (first, last) = (20000, 20999);
    let process = start_in(Acme::default(), on_tcp(Some(&client), Some((first, last)))).await;
    let port = port(&process);
    assert!((first..=last).contains(&port), "{port}");
    let error = rejected(on_tcp(Some(&client), Some((port, port)))).await;
    assert!(
        error.starts_with(&format!("Could not listen on any TCP port of 127.0.0.1 from {port} to {port}")),
        "{error}"
    );
}
