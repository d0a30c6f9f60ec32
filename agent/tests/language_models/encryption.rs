//! Endpoints behind TLS: who is trusted, and what is said where nobody is.

use std::path::Path;
use std::sync::Arc;

use agent::config::EndpointConfig;
use engram_tests::{Certificates, LanguageModel, ServerCertificate};
use rustls::ServerConfig;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use tokio::net::{TcpListener, TcpStream};
use tokio_rustls::TlsAcceptor;

use crate::bench::{TOLD, chat, choosing, with_chat};

const MUG: &str = "Where is the blue mug?";

/// Speaks TLS in front of `model`; the base of its addresses.
async fn encrypted(model: &LanguageModel, made: &Certificates) -> String {
    let chain = CertificateDer::pem_file_iter(&made.server).unwrap().collect::<Result<Vec<_>, _>>().unwrap();
    let key = PrivateKeyDer::from_pem_file(&made.key).unwrap();
    let config = ServerConfig::builder_with_provider(Arc::new(rustls::crypto::ring::default_provider()))
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(chain, key)
        .unwrap();
    let acceptor = TlsAcceptor::from(Arc::new(config));
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    let behind = model.url().trim_start_matches("http://").trim_end_matches("/v1").to_owned();
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            // Whoever does not trust it goes away in the handshake.
            let Ok(mut near) = acceptor.accept(stream).await else { continue };
            let Ok(mut far) = TcpStream::connect(&behind).await else { continue };
            drop(tokio::io::copy_bidirectional(&mut near, &mut far).await);
        }
    });
    format!("https://localhost:{port}/v1")
}

async fn asked(model: &LanguageModel, url: String, authority: &Path) -> Vec<String> {
    let chat = EndpointConfig { url: Some(url), ca_file: Some(authority.to_owned()), ..chat(model) };
    let bench = with_chat(&TOLD, chat).await;
    let answer = bench.ask(MUG).await;
    assert!(answer.answer.is_some());
    assert!(bench.models.health()["llm.chat"].encrypted);
    answer.degraded.into_iter().filter(|line| line.starts_with("llm.chat")).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn an_endpoint_is_trusted_if_its_authority_and_its_name_are_and_not_otherwise() {
    let model = LanguageModel::start(choosing("shelf")).unwrap();
    let [own, other, foreign] = [(); 3].map(|()| tempfile::tempdir().unwrap());
    let made = Certificates::make(own.path()).unwrap();
    let url = encrypted(&model, &made).await;
    assert_eq!(asked(&model, url.clone(), &made.authority).await, Vec::<String>::new());
    assert_eq!(model.requests().len(), 1);

    let stranger = Certificates::make(other.path()).unwrap();
    let refused = asked(&model, url, &stranger.authority).await;
    assert!(refused[0].contains("cannot be reached") && refused[0].contains("certificate"), "{refused:?}");

    let named = ServerCertificate { host: "elsewhere.example", ..ServerCertificate::default() };
    let made = Certificates::make_for(foreign.path(), named).unwrap();
    let url = encrypted(&model, &made).await;
    let refused = asked(&model, url, &made.authority).await;
    assert!(refused[0].contains("cannot be reached"), "{refused:?}");
    assert_eq!(model.requests().len(), 1, "nothing is sent to whom nobody vouches for");
}
