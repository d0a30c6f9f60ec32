//! A certificate authority and what it vouches for, made by openssl.

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
    folder: PathBuf,
}

/// A server's certificate, as the authority is asked for it.
#[derive(Debug, Clone, Copy)]
pub struct ServerCertificate {
    /// Whose it is.
    pub host: &'static str,
    /// Days until it expires; negative where it has.
    pub days: i32,
}

impl Default for ServerCertificate {
    fn default() -> Self {
        Self { host: "localhost", days: 2 }
    }
}

/// Every key is of this kind, and not encrypted.
const CURVE: [&str; 5] = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"];

impl Certificates {
    /// Makes an authority and a certificate for `localhost` in `folder`.
    ///
    /// # Errors
    /// If openssl is absent or fails.
    pub fn make(folder: &Path) -> Result<Self> {
        Self::make_for(folder, ServerCertificate::default())
    }

    /// Makes an authority and the certificate of a server in `folder`.
    ///
    /// # Errors
    /// If openssl is absent or fails.
    pub fn make_for(folder: &Path, server: ServerCertificate) -> Result<Self> {
        let path = |name: &str| folder.join(name);
        openssl(
            Command::new("openssl")
                .args(["req", "-x509", "-days", "2", "-subj", "/CN=test authority"])
                .args(["-addext", "keyUsage=critical,keyCertSign,cRLSign"])
                .args(CURVE)
                .arg("-keyout")
                .arg(path("ca.key"))
                .arg("-out")
                .arg(path("ca.crt")),
        )?;
        let made = Self {
            authority: path("ca.crt"),
            server: path("server.crt"),
            key: path("server.key"),
            folder: folder.to_owned(),
        };
        let names =
            if server.host == "localhost" { "DNS:localhost,IP:127.0.0.1" } else { &format!("DNS:{}", server.host) };
        made.sign(
            "server",
            server.host,
            &format!("subjectAltName={names}\nextendedKeyUsage=serverAuth\n"),
            server.days,
        )?;
        Ok(made)
    }

    /// Makes a certificate with which a client proves who it is; returns it and its key.
    ///
    /// # Errors
    /// If openssl fails.
    pub fn client(&self, name: &str) -> Result<(PathBuf, PathBuf)> {
        self.sign(name, name, "extendedKeyUsage=clientAuth\n", 2)
    }

    /// Revokes the server's certificate; returns the authority's list of what is revoked.
    ///
    /// # Errors
    /// If openssl fails.
    pub fn revoke_server(&self) -> Result<PathBuf> {
        let path = |name: &str| self.folder.join(name);
        let (config, list) = (path("ca.cnf"), path("revoked.pem"));
        std::fs::write(path("index.txt"), "")?;
        std::fs::write(path("crlnumber"), "01\n")?;
        std::fs::write(
            &config,
            // Only with these extensions it is a list of the second version.
            format!(
                "[ca]\ndefault_ca=own\n[own]\ndatabase={}\ncrlnumber={}\ndefault_md=sha256\ndefault_crl_days=2\n\
                 unique_subject=no\ncrl_extensions=ext\n[ext]\nauthorityKeyIdentifier=keyid:always\n",
                path("index.txt").display(),
                path("crlnumber").display()
            ),
        )?;
        let ca = || {
            let mut command = Command::new("openssl");
            command.args(["ca", "-config"]).arg(&config).arg("-cert").arg(&self.authority);
            command.arg("-keyfile").arg(path("ca.key"));
            command
        };
        openssl(ca().arg("-revoke").arg(&self.server))?;
        openssl(ca().arg("-gencrl").arg("-out").arg(&list))?;
        Ok(list)
    }

    fn sign(&self, file: &str, subject: &str, extensions: &str, days: i32) -> Result<(PathBuf, PathBuf)> {
        let path = |kind: &str| self.folder.join(format!("{file}.{kind}"));
        std::fs::write(path("ext"), ["basicConstraints=CA:FALSE\n", extensions].concat())?;
        openssl(
            Command::new("openssl")
                .args(["req", "-subj", &format!("/CN={subject}")])
                .args(CURVE)
                .arg("-keyout")
                .arg(path("key"))
                .arg("-out")
                .arg(path("csr")),
        )?;
        openssl(
            Command::new("openssl")
                .args(["x509", "-req", "-days", &days.to_string(), "-CAcreateserial", "-in"])
                .arg(path("csr"))
                .arg("-CA")
                .arg(&self.authority)
                .arg("-CAkey")
                .arg(self.folder.join("ca.key"))
                .arg("-extfile")
                .arg(path("ext"))
                .arg("-out")
                .arg(path("crt")),
        )?;
        Ok((path("crt"), path("key")))
    }
}

fn openssl(command: &mut Command) -> Result<()> {
    let ended = run_to_end(command, Duration::from_secs(20))?;
    ensure!(ended.code == Some(0), "openssl failed: {}", ended.stderr);
    Ok(())
}
