//! A certificate authority and a server certificate for `localhost`, made by openssl.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use anyhow::{Result, ensure};

use crate::run_to_end;

/// Files of a private authority.
#[derive(Debug, Clone)]
pub struct Certificates {
    /// The authority's certificate, which clients trust.
    pub authority: PathBuf,
    /// The server's certificate.
    pub server: PathBuf,
    /// The server's key.
    pub key: PathBuf,
}

impl Certificates {
    /// Makes them in `folder`.
    ///
    /// # Errors
    /// If openssl is absent or fails.
    pub fn make(folder: &Path) -> Result<Self> {
        let path = |name: &str| folder.join(name);
        let (authority, authority_key) = (path("ca.crt"), path("ca.key"));
        let (server, key, request, extensions) =
            (path("server.crt"), path("server.key"), path("server.csr"), path("server.ext"));
        std::fs::write(
            &extensions,
            "subjectAltName=DNS:localhost,IP:127.0.0.1\nbasicConstraints=CA:FALSE\nextendedKeyUsage=serverAuth\n",
        )?;
        let curve = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"];
        openssl(
            Command::new("openssl")
                .args(["req", "-x509", "-days", "2", "-subj", "/CN=test authority"])
                .args(["-addext", "keyUsage=critical,keyCertSign,cRLSign"])
                .args(curve)
                .arg("-keyout")
                .arg(&authority_key)
                .arg("-out")
                .arg(&authority),
        )?;
        openssl(
            Command::new("openssl")
                .args(["req", "-subj", "/CN=localhost"])
                .args(curve)
                .arg("-keyout")
                .arg(&key)
                .arg("-out")
                .arg(&request),
        )?;
        openssl(
            Command::new("openssl")
                .args(["x509", "-req", "-days", "2", "-CAcreateserial", "-in"])
                .arg(&request)
                .arg("-CA")
                .arg(&authority)
                .arg("-CAkey")
                .arg(&authority_key)
                .arg("-extfile")
                .arg(&extensions)
                .arg("-out")
                .arg(&server),
        )?;
        Ok(Self { authority, server, key })
    }
}

fn openssl(command: &mut Command) -> Result<()> {
    let ended = run_to_end(command, Duration::from_secs(20))?;
    ensure!(ended.code == Some(0), "openssl failed: {}", ended.stderr);
    Ok(())
}
