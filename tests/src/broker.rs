//! A private Mosquitto on a free port of the loopback interface.

use std::net::{Ipv4Addr, SocketAddr, TcpStream};
use std::path::PathBuf;
use std::process::Command;
use std::time::Duration;

use anyhow::{Context, Result, bail, ensure};
use rustix::process::Signal;
use tempfile::TempDir;

use crate::{Certificates, Client, Process, ServerCertificate, free_port, run_to_end, until};

const START: Duration = Duration::from_secs(10);

/// How a broker is to be.
#[derive(Debug, Default)]
pub struct BrokerBuilder {
    users: Vec<(String, String)>,
    acl: Option<String>,
    tls: Option<ServerCertificate>,
    client_certificates: bool,
}

impl BrokerBuilder {
    /// This user may connect, and nobody who was not named. The first one is that of [`Broker::user`].
    pub fn password(mut self, user: &str, password: &str) -> Self {
        self.users.push((user.to_owned(), password.to_owned()));
        self
    }

    /// Who may publish and subscribe where, as Mosquitto's `acl_file` says it.
    pub fn acl(mut self, text: &str) -> Self {
        self.acl = Some(text.to_owned());
        self
    }

    /// Speaks TLS, with certificates of its own.
    pub fn tls(self) -> Self {
        self.tls_as(ServerCertificate::default())
    }

    /// Speaks TLS with a certificate of this kind.
    pub fn tls_as(mut self, certificate: ServerCertificate) -> Self {
        self.tls = Some(certificate);
        self
    }

    /// Only who proves with a certificate of the broker's authority who he is may connect.
    pub fn client_certificates(mut self) -> Self {
        self.client_certificates = true;
        self
    }

    /// Starts it.
    ///
    /// # Errors
    /// If Mosquitto is not installed or does not come up.
    pub fn start(self) -> Result<Broker> {
        let mut broker = self.down()?;
        broker.up()?;
        Ok(broker)
    }

    /// Sets everything up but does not start it: a broker that is down.
    ///
    /// # Errors
    /// If its files cannot be made.
    pub fn down(self) -> Result<Broker> {
        let port = free_port()?;
        let folder = tempfile::Builder::new().prefix("engram-broker-").tempdir().context("no temporary folder")?;
        let path = |name: &str| folder.path().join(name);
        let mut lines = vec![
            "per_listener_settings false".to_owned(),
            format!("listener {port} 127.0.0.1"),
            // Without it small messages wait up to 40 ms for the acknowledgement of the one before.
            "set_tcp_nodelay true".to_owned(),
            "max_queued_messages 0".to_owned(),
            "persistence true".to_owned(),
            format!("persistence_location {}/", folder.path().display()),
            "log_dest stderr".to_owned(),
        ];
        if rustix::process::geteuid().is_root() {
            lines.push("user root".to_owned());
        }
        if self.users.is_empty() {
            lines.push("allow_anonymous true".to_owned());
        } else {
            let file = path("passwords");
            std::fs::write(&file, "")?;
            for (user, password) in &self.users {
                let ended =
                    run_to_end(Command::new("mosquitto_passwd").arg("-b").arg(&file).args([user, password]), START)?;
                ensure!(ended.code == Some(0), "mosquitto_passwd failed: {}", ended.stderr);
            }
            lines.push(format!("password_file {}", file.display()));
            lines.push("allow_anonymous false".to_owned());
        }
        if let Some(acl) = &self.acl {
            std::fs::write(path("acl"), acl)?;
            lines.push(format!("acl_file {}", path("acl").display()));
        }
        let certificates = self.tls.map(|server| Certificates::make_for(folder.path(), server)).transpose()?;
        if let Some(made) = &certificates {
            lines.push(format!("cafile {}", made.authority.display()));
            lines.push(format!("certfile {}", made.server.display()));
            lines.push(format!("keyfile {}", made.key.display()));
            if self.client_certificates {
                lines.push("require_certificate true".to_owned());
            }
        }
        let config = path("mosquitto.conf");
        std::fs::write(&config, lines.join("\n") + "\n").context("cannot write the broker's configuration")?;
        Ok(Broker { port, config, user: self.users.first().cloned(), certificates, process: None, _folder: folder })
    }
}

/// A private broker; ends when dropped.
#[derive(Debug)]
pub struct Broker {
    port: u16,
    config: PathBuf,
    user: Option<(String, String)>,
    certificates: Option<Certificates>,
    process: Option<Process>,
    _folder: TempDir,
}

impl Broker {
    /// An open broker without TLS.
    ///
    /// # Errors
    /// If Mosquitto is not installed or does not come up.
    pub fn start() -> Result<Self> {
        Self::builder().start()
    }

    /// A broker with options.
    pub fn builder() -> BrokerBuilder {
        BrokerBuilder::default()
    }

    /// The port it has, now and after every restart.
    pub fn port(&self) -> u16 {
        self.port
    }

    /// Its certificates, if it speaks TLS.
    pub fn certificates(&self) -> Option<&Certificates> {
        self.certificates.as_ref()
    }

    /// User and password, if it asks for them.
    pub fn user(&self) -> Option<(&str, &str)> {
        self.user.as_ref().map(|(user, password)| (user.as_str(), password.as_str()))
    }

    /// A client that is connected.
    ///
    /// # Errors
    /// If it cannot connect.
    pub fn client(&self) -> Result<Client> {
        Client::connect(self)
    }

    /// Ends it as an operator would: it writes its sessions down and goes.
    ///
    /// # Errors
    /// If it does not end.
    pub fn stop(&mut self) -> Result<()> {
        if let Some(mut process) = self.process.take() {
            process.signal(Signal::TERM)?;
            process.wait(START)?;
        }
        Ok(())
    }

    /// Starts it again on its port, with the sessions it had.
    ///
    /// # Errors
    /// If it does not come up.
    pub fn up(&mut self) -> Result<()> {
        ensure!(self.process.is_none(), "the broker runs already");
        // Debian keeps it in /usr/sbin, which a user's PATH may lack.
        let program = ["/usr/sbin/mosquitto", "/usr/bin/mosquitto", "/usr/local/sbin/mosquitto"]
            .into_iter()
            .find(|path| std::path::Path::new(path).is_file());
        let mut process =
            Process::start("mosquitto", Command::new(program.unwrap_or("mosquitto")).arg("-c").arg(&self.config))
                .context("install the package mosquitto")?;
        let address = SocketAddr::from((Ipv4Addr::LOCALHOST, self.port));
        until("Mosquitto listens", START, || {
            if process.ended()?.is_some() {
                process.wait(START)?;
                bail!("Mosquitto ended: {}", process.output());
            }
            Ok(TcpStream::connect_timeout(&address, START).ok())
        })?;
        self.process = Some(process);
        Ok(())
    }
}
