//! `[mqtt]`: the broker, the permissions of commands, and the limits of the MQTT interface.

use std::path::PathBuf;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// `[mqtt]`: the MQTT interface.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct MqttConfig {
    /// Whether engram connects to a broker. Without one it still remembers, and only `--offline` commands can ask it.
    pub enabled: bool,
    /// Host name or address of the broker.
    pub host: String,
    /// Port of the broker. Default: 1883, or 8883 with TLS.
    #[schemars(range(min = 1, max = 65535))]
    pub port: Option<u16>,
    /// First level of every topic.
    pub root: String,
    /// User name for the broker.
    pub username: Option<String>,
    /// Password for the broker. Prefer `password_file`, which only engram needs to read.
    pub password: Option<String>,
    /// File with the password; a line break at its end is ignored.
    pub password_file: Option<PathBuf>,
    /// Seconds without traffic after which engram sends a ping. The broker declares engram `offline` after one and a half
    /// times this.
    #[schemars(range(min = 5, max = 3600))]
    pub keep_alive_s: u16,
    /// How long the broker keeps observations while engram is away, hours.
    #[schemars(range(min = 1, max = 8760))]
    pub session_expiry_h: u32,
    /// Longest pause between two attempts to reach the broker, seconds.
    #[schemars(range(min = 1, max = 600))]
    pub reconnect_max_s: u64,
    /// Answers go only to topics that begin with one of these. Default: `<root>/` and `reply/`. Topics that engram itself
    /// listens to or publishes on are always refused.
    pub reply_prefixes: Option<Vec<String>>,
    /// Interval of `health`, seconds; changes are published at once.
    #[schemars(range(min = 1, max = 3600))]
    pub health_interval_s: u64,
    /// Encryption.
    pub tls: TlsConfig,
    /// Allowed commands, by name: `forget = true`. A command that is not listed is allowed, with exceptions: `backup`,
    /// `export`, `forget`, `name_entity`, `pause`, `picture`, `restore` and `resume` are allowed only if engram has a
    /// password or a certificate for the broker, or if they come from the command line of its own user.
    pub allow: std::collections::BTreeMap<String, bool>,
    /// Limits of what engram accepts.
    pub limits: MqttLimits,
}

/// `[mqtt.tls]`: encryption of the connection to the broker.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct TlsConfig {
    /// Whether the connection is encrypted.
    pub enabled: bool,
    /// Certificates of the authorities that may vouch for the broker, PEM. Default: the system's.
    pub ca_file: Option<PathBuf>,
    /// Certificates that the authorities have revoked, PEM; needs `ca_file`. Read at the start.
    pub crl_file: Option<PathBuf>,
    /// Engram's own certificate, PEM; needs `key_file` and `ca_file`.
    pub cert_file: Option<PathBuf>,
    /// Private key of `cert_file`, PEM.
    pub key_file: Option<PathBuf>,
}

/// `[mqtt.limits]`: limits of what engram accepts. At a limit the sender gets an error.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct MqttLimits {
    /// Largest payload of `ask` and of a command, bytes. Larger ones get `too_large`.
    #[schemars(range(min = 1024, max = 4_194_304))]
    pub ask_bytes: usize,
    /// Largest payload of `observe`, bytes. Larger ones get `too_large`.
    #[schemars(range(min = 1024, max = 4_194_304))]
    pub observe_bytes: usize,
    /// Largest packet that the broker may send, bytes. Larger ones never reach engram and get no reply.
    #[schemars(range(min = 65_536, max = 268_435_455))]
    pub packet_bytes: u32,
    /// Questions and commands a second on average. More get `busy`.
    #[schemars(range(min = 1, max = 100_000))]
    pub asks_per_s: u32,
    /// Largest burst of questions and commands.
    #[schemars(range(min = 1, max = 100_000))]
    pub ask_burst: u32,
    /// Observations a second on average. Faster ones wait at the broker; none is refused.
    #[schemars(range(min = 1, max = 1_000_000))]
    pub observations_per_s: u32,
    /// Messages of `observe` that the broker may send before the first one is acknowledged. (Mosquitto sends more.)
    #[schemars(range(min = 1, max = 1024))]
    pub unacknowledged: u16,
    /// Deadline of a question that names none, milliseconds.
    #[schemars(range(min = 1, max = 600_000))]
    pub default_deadline_ms: u64,
    /// Longest deadline that a question may name, milliseconds.
    #[schemars(range(min = 1, max = 600_000))]
    pub max_deadline_ms: u64,
}

impl Default for MqttConfig {
    fn default() -> Self {
        Self {
            enabled: true,
            host: "localhost".to_owned(),
            port: None,
            root: "engram".to_owned(),
            username: None,
            password: None,
            password_file: None,
            keep_alive_s: 15,
            session_expiry_h: 168,
            reconnect_max_s: 10,
            reply_prefixes: None,
            health_interval_s: 10,
            tls: TlsConfig::default(),
            allow: std::collections::BTreeMap::new(),
            limits: MqttLimits::default(),
        }
    }
}

impl Default for MqttLimits {
    fn default() -> Self {
        Self {
            ask_bytes: 64 << 10,
            observe_bytes: 1 << 20,
            packet_bytes: 8 << 20,
            asks_per_s: 5000,
            ask_burst: 5000,
            observations_per_s: 20_000,
            unacknowledged: 32,
            default_deadline_ms: 3000,
            max_deadline_ms: 60_000,
        }
    }
}

impl MqttConfig {
    /// The configured port, or the default one.
    pub fn port(&self) -> u16 {
        self.port.unwrap_or(if self.tls.enabled { 8883 } else { 1883 })
    }

    /// Whether engram authenticates to the broker; a user name alone does not. A broker that admits anybody protects nothing,
    /// so commands that destroy, rename, pause or fill the disk must be allowed in `[mqtt.allow]` there.
    pub fn authenticated(&self) -> bool {
        let password = self.password.as_ref().is_some_and(|password| !password.is_empty());
        (self.username.is_some() && (password || self.password_file.is_some()))
            || (self.tls.enabled && self.tls.cert_file.is_some())
    }

    /// What is wrong beyond types and ranges: the key below `mqtt`, and what to do.
    pub fn problems(&self) -> Vec<(&'static str, String)> {
        let mut problems = Vec::new();
        if self.host.trim().is_empty() {
            problems.push(("host", "is empty; name the broker, for instance \"localhost\"".to_owned()));
        }
        if let Err(error) = crate::topics::check_name(&self.root) {
            problems.push(("root", error.to_string()));
        }
        if self.password.is_some() && self.password_file.is_some() {
            problems.push(("password", "is set beside `password_file`; keep one of them".to_owned()));
        }
        if self.username.is_none() && (self.password.is_some() || self.password_file.is_some()) {
            problems.push(("username", "is missing, and there is a password".to_owned()));
        }
        if self.tls.cert_file.is_some() != self.tls.key_file.is_some() {
            problems.push(("tls.cert_file", "and `key_file` belong together; set both or none".to_owned()));
        }
        if self.tls.cert_file.is_some() && self.tls.ca_file.is_none() {
            // The client offers its certificate only where the authorities are named.
            problems.push((
                "tls.ca_file",
                "is missing; a client certificate needs the broker's authority named".to_owned(),
            ));
        }
        if self.tls.crl_file.is_some() && self.tls.ca_file.is_none() {
            problems.push((
                "tls.ca_file",
                "is missing; a list of revoked certificates needs its authority named".to_owned(),
            ));
        }
        if !self.tls.enabled && (self.tls.ca_file.is_some() || self.tls.cert_file.is_some()) {
            problems.push(("tls.enabled", "is false, and certificates are configured; set it to true".to_owned()));
        }
        for name in self.allow.keys() {
            if !crate::command_name::command_names().any(|known| known == name) {
                let known: Vec<&str> = crate::command_name::command_names().collect();
                problems.push(("allow", format!("names `{name}`; the commands are {}", known.join(", "))));
            }
        }
        for (key, ceiling) in
            [("limits.ask_bytes", self.limits.ask_bytes), ("limits.observe_bytes", self.limits.observe_bytes)]
        {
            if ceiling >= self.limits.packet_bytes as usize {
                problems.push((key, "must be below `limits.packet_bytes`, or nobody hears `too_large`".to_owned()));
            }
        }
        problems
    }
}
