//! One handshake of each kind: who is let in, and what is said to whom it is not.

use std::path::Path;

use agent::config::mqtt::{MqttConfig, TlsConfig};
use agent::mqtt::request;
use anyhow::{Context, Result};
use engram_tests::{Broker, BrokerBuilder, Certificates, ServerCertificate};

use crate::robot::NAME;

fn encrypted(broker: &Broker, authority: &Path) -> MqttConfig {
    MqttConfig {
        host: "localhost".to_owned(),
        port: Some(broker.port()),
        tls: TlsConfig { enabled: true, ca_file: Some(authority.to_owned()), ..TlsConfig::default() },
        ..MqttConfig::default()
    }
}

/// A broker that speaks TLS, and what reaches it.
fn started(builder: BrokerBuilder) -> Result<(Broker, Certificates, MqttConfig)> {
    let broker = builder.start()?;
    let made = broker.certificates().context("it speaks TLS")?.clone();
    let config = encrypted(&broker, &made.authority);
    Ok((broker, made, config))
}

/// Connects and takes leave; what is said if that is refused.
fn handshake(config: &MqttConfig) -> Result<Result<(), String>> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    Ok(runtime.block_on(async {
        let client = request::Client::connect(config, NAME).await.map_err(|error| error.to_string())?;
        client.close().await;
        Ok(())
    }))
}

#[track_caller]
fn refused(outcome: Result<(), String>, words: &str) {
    let said = outcome.expect_err(words);
    assert!(said.contains(words) && said.contains("mqtt.tls"), "{words}: {said}");
}

#[test]
fn a_broker_that_its_authority_vouches_for_is_trusted_and_a_stranger_is_not() -> Result<()> {
    let (_broker, _, config) = started(Broker::builder().tls())?;
    assert_eq!(handshake(&config)?, Ok(()));
    let folder = tempfile::tempdir()?;
    let stranger = Certificates::make(folder.path())?;
    let tls = TlsConfig { ca_file: Some(stranger.authority), ..config.tls.clone() };
    refused(handshake(&MqttConfig { tls, ..config })?, "invalid peer certificate");
    Ok(())
}

#[test]
fn a_certificate_that_has_expired_or_is_of_another_host_is_refused() -> Result<()> {
    let expired = ServerCertificate { days: -1, ..ServerCertificate::default() };
    let (_broker, _, config) = started(Broker::builder().tls_as(expired))?;
    refused(handshake(&config)?, "xpired");
    let elsewhere = ServerCertificate { host: "elsewhere.example", ..ServerCertificate::default() };
    let (_broker, _, config) = started(Broker::builder().tls_as(elsewhere))?;
    refused(handshake(&config)?, "not valid for name");
    refused(handshake(&config)?, "certificate is of another host: set mqtt.host");
    Ok(())
}

#[test]
fn a_broker_whose_certificate_was_revoked_is_refused() -> Result<()> {
    let (_broker, made, config) = started(Broker::builder().tls())?;
    let (_other, other, _) = started(Broker::builder().tls())?;
    let with = |list| MqttConfig { tls: TlsConfig { crl_file: Some(list), ..config.tls.clone() }, ..config.clone() };
    refused(handshake(&with(made.revoke_server()?))?, "Revoked");
    // A list of another authority says nothing of this one.
    refused(handshake(&with(other.revoke_server()?))?, "revocation list");
    let folder = tempfile::tempdir()?;
    let file = folder.path().join("list.pem");
    std::fs::write(&file, "nothing")?;
    let said = handshake(&with(file))?.unwrap_err();
    assert!(said.contains("mqtt.tls.crl_file"), "{said}");
    Ok(())
}

#[test]
fn a_broker_that_asks_for_a_certificate_gets_one_and_others_stay_out() -> Result<()> {
    let (_broker, made, config) = started(Broker::builder().tls().client_certificates())?;
    assert!(handshake(&config)?.is_err(), "without a certificate");
    let as_client = |(cert, key)| {
        let tls = TlsConfig { cert_file: Some(cert), key_file: Some(key), ..config.tls.clone() };
        MqttConfig { tls, ..config.clone() }
    };
    let own = as_client(made.client("kitchen")?);
    assert!(own.authenticated() && !config.authenticated());
    assert_eq!(handshake(&own)?, Ok(()));
    let folder = tempfile::tempdir()?;
    let stranger = Certificates::make(folder.path())?;
    assert!(handshake(&as_client(stranger.client("kitchen")?))?.is_err(), "of another authority");
    let mut with_list = own;
    with_list.tls.crl_file = Some(made.revoke_server()?);
    refused(handshake(&with_list)?, "Revoked");
    Ok(())
}
