//! Encryption that also looks at what the authorities have revoked.

use std::sync::Arc;

use rustls::client::WebPkiServerVerifier;
use rustls::crypto::ring::default_provider;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, CertificateRevocationListDer, PrivateKeyDer};
use rustls::{ClientConfig, RootCertStore};

/// A certificate and its key, PEM.
type ClientIdentity = (Vec<u8>, Vec<u8>);

/// The configuration of a client that trusts `authorities`, but not what `revoked` lists.
///
/// # Errors
/// Returns what cannot be used, with the path.
pub fn with_revocations(
    authorities: &[u8],
    identity: Option<ClientIdentity>,
    revoked: &[u8],
) -> Result<ClientConfig, String> {
    let text = |error: &dyn std::fmt::Display| error.to_string();
    let mut roots = RootCertStore::empty();
    for authority in CertificateDer::pem_slice_iter(authorities) {
        roots.add(authority.map_err(|error| text(&error))?).map_err(|error| text(&error))?;
    }
    let lists: Vec<CertificateRevocationListDer<'static>> = CertificateRevocationListDer::pem_slice_iter(revoked)
        .collect::<Result<_, _>>()
        .map_err(|error| text(&error))?;
    if lists.is_empty() {
        return Err("it holds no list of revoked certificates in PEM form".to_owned());
    }
    let provider = Arc::new(default_provider());
    let verifier = WebPkiServerVerifier::builder_with_provider(Arc::new(roots), Arc::clone(&provider))
        .with_crls(lists)
        .build()
        .map_err(|error| text(&error))?;
    let config = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(|error| text(&error))?
        .with_webpki_verifier(verifier);
    match identity {
        None => Ok(config.with_no_client_auth()),
        Some((certificate, key)) => {
            let chain = CertificateDer::pem_slice_iter(&certificate).collect::<Result<_, _>>();
            let key = PrivateKeyDer::from_pem_slice(&key).map_err(|error| text(&error))?;
            config.with_client_auth_cert(chain.map_err(|error| text(&error))?, key).map_err(|error| text(&error))
        }
    }
}
