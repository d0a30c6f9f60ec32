//! The running program with a memory of its own.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use anyhow::{Context, Result, anyhow, ensure};
use rustix::process::Signal;
use serde_json::Value;
use tempfile::TempDir;
use toml::{Table, Value as Toml};

use crate::{Broker, Client, Finished, Process, engram_command, run_to_end, until};

/// Longest wait for `online`. The goal is 2 s; a busy test machine gets more.
const ONLINE: Duration = Duration::from_secs(30);
const COMMAND: Duration = Duration::from_secs(60);

/// How an agent is to be.
#[derive(Debug)]
pub struct AgentBuilder {
    robot: String,
    config: Table,
    folder: Option<PathBuf>,
    arguments: Vec<String>,
    environment: Vec<(String, String)>,
    wrapper: Vec<String>,
}

impl AgentBuilder {
    /// An agent for `robot` on `broker`: no sources, no models, no metrics port.
    pub fn new(broker: &Broker, robot: &str) -> Self {
        let mut builder =
            Self::without_broker(robot).set("mqtt.host", "localhost").set("mqtt.port", i64::from(broker.port()));
        if let Some((user, password)) = broker.user() {
            builder = builder.set("mqtt.username", user).set("mqtt.password", password);
        }
        if let Some(made) = broker.certificates() {
            let authority = made.authority.display().to_string();
            builder = builder.set("mqtt.tls.enabled", true).set("mqtt.tls.ca_file", authority);
        }
        builder
    }

    fn without_broker(robot: &str) -> Self {
        let builder = Self {
            robot: robot.to_owned(),
            config: Table::new(),
            folder: None,
            arguments: Vec::new(),
            environment: Vec::new(),
            wrapper: Vec::new(),
        };
        builder.set("robot", robot).set("metrics.enabled", false).set("mqtt.health_interval_s", 1)
    }

    /// Sets a dotted key of the configuration.
    pub fn set(mut self, key: &str, value: impl Into<Toml>) -> Self {
        let mut table = &mut self.config;
        let mut path = key.split('.').peekable();
        let mut value = Some(value.into());
        while let Some(part) = path.next() {
            if path.peek().is_none() {
                table.insert(part.to_owned(), value.take().expect("a path has one last part"));
                break;
            }
            let inner = table.entry(part).or_insert_with(|| Toml::Table(Table::new()));
            table = inner.as_table_mut().expect("a section is a table");
        }
        self
    }

    /// A source that plays a file as fast as the encoders go.
    pub fn file(self, name: &str, path: &Path) -> Self {
        self.set(&format!("sources.{name}.uri"), format!("file:{}", path.display()))
            .set(&format!("sources.{name}.speed"), "max")
    }

    /// A source by its uri.
    pub fn source(self, name: &str, uri: &str) -> Self {
        self.set(&format!("sources.{name}.uri"), uri)
    }

    /// Keeps the memory in `folder`, which outlives the agent.
    pub fn folder(mut self, folder: &Path) -> Self {
        self.folder = Some(folder.to_owned());
        self
    }

    /// More words of the command line, after `run`.
    pub fn argument(mut self, word: &str) -> Self {
        self.arguments.push(word.to_owned());
        self
    }

    /// A variable of the program's environment.
    pub fn environment(mut self, name: &str, value: &str) -> Self {
        self.environment.push((name.to_owned(), value.to_owned()));
        self
    }

    /// Words put before the program, for instance `prlimit --fsize=…`.
    pub fn wrapper(mut self, words: &[&str]) -> Self {
        self.wrapper = words.iter().map(|word| (*word).to_owned()).collect();
        self
    }

    /// Writes the configuration and starts the program; does not wait for anything.
    ///
    /// # Errors
    /// If it cannot be started.
    pub fn spawn(self) -> Result<Agent> {
        let kept = match &self.folder {
            Some(_) => None,
            None => Some(tempfile::Builder::new().prefix("engram-agent-").tempdir().context("no temporary folder")?),
        };
        let folder = match (&kept, self.folder) {
            (_, Some(folder)) => folder,
            (Some(kept), None) => kept.path().to_owned(),
            (None, None) => unreachable!("one of the two is there"),
        };
        let mut config = self.config;
        config.entry("data_dir").or_insert_with(|| folder.join("data").display().to_string().into());
        let file = folder.join("engram.toml");
        std::fs::write(&file, toml::to_string(&config).context("the configuration is not TOML")?)
            .with_context(|| format!("cannot write {}", file.display()))?;
        let mut agent = Agent {
            robot: self.robot,
            folder,
            file,
            arguments: self.arguments,
            environment: self.environment,
            wrapper: self.wrapper,
            process: None,
            _kept: kept,
        };
        agent.process = Some(agent.launch()?);
        Ok(agent)
    }

    /// Starts the program and waits until it says `online`.
    ///
    /// # Errors
    /// If it ends or does not come online; the error holds what it said.
    pub fn start(self, client: &Client) -> Result<Agent> {
        let topic = format!("engram/{}/status", self.robot);
        client.subscribe(&topic)?;
        let mark = client.mark();
        let mut agent = self.spawn()?;
        agent.wait_online(client, mark)?;
        Ok(agent)
    }
}

/// The running program; killed when dropped.
#[derive(Debug)]
pub struct Agent {
    robot: String,
    folder: PathBuf,
    file: PathBuf,
    arguments: Vec<String>,
    environment: Vec<(String, String)>,
    wrapper: Vec<String>,
    process: Option<Process>,
    _kept: Option<TempDir>,
}

impl Agent {
    /// An agent for `robot` on `broker`, to be configured.
    pub fn builder(broker: &Broker, robot: &str) -> AgentBuilder {
        AgentBuilder::new(broker, robot)
    }

    fn launch(&self) -> Result<Process> {
        let program = engram_command()?;
        let mut words = self.wrapper.iter();
        let mut command = match words.next() {
            Some(first) => {
                let mut command = Command::new(first);
                command.args(words).arg(program.get_program()).args(program.get_args());
                command
            }
            None => program,
        };
        command.arg("--config").arg(&self.file).arg("run").args(&self.arguments);
        command.envs(self.environment.iter().map(|(name, value)| (name, value)));
        Process::start(&format!("engram ({})", self.robot), &mut command)
    }

    /// Its robot name.
    pub fn robot(&self) -> &str {
        &self.robot
    }

    /// The folder of its data.
    pub fn data_dir(&self) -> PathBuf {
        self.folder.join("data")
    }

    /// Its configuration file.
    pub fn config_file(&self) -> &Path {
        &self.file
    }

    /// The running process.
    ///
    /// # Panics
    /// If it was stopped or killed.
    pub fn process(&mut self) -> &mut Process {
        self.process.as_mut().expect("the agent runs")
    }

    /// What it said so far.
    pub fn output(&self) -> String {
        self.process.as_ref().map(Process::output).unwrap_or_default()
    }

    /// Waits for a live `online`, that is one said after `mark` and not one the broker had kept.
    ///
    /// # Errors
    /// If the program ends or does not come online.
    pub fn wait_online(&mut self, client: &Client, mark: usize) -> Result<()> {
        let topic = format!("engram/{}/status", self.robot);
        let process = self.process.as_mut().expect("the agent runs");
        let online = until("online", ONLINE, || {
            ensure!(process.ended()?.is_none(), "engram ended instead of coming online");
            let look = client
                .message_after(mark, &topic, Duration::ZERO, |found| !found.retained && found.payload == b"online");
            Ok(look.ok().map(|_| ()))
        });
        online.map_err(|error| anyhow!("{error:#}; engram said:\n{}", self.output()))
    }

    /// Waits for a health report that satisfies `wanted`.
    ///
    /// # Errors
    /// If none comes within `deadline`; the error shows the last report.
    pub fn health(&self, client: &Client, deadline: Duration, wanted: impl Fn(&Value) -> bool) -> Result<Value> {
        let topic = format!("engram/{}/health", self.robot);
        client.subscribe(&topic)?;
        let found = client
            .message_after(0, &topic, deadline, |message| message.json().is_ok_and(|report| wanted(&report)))
            .with_context(|| format!("engram said:\n{}", self.output()))?;
        found.json()
    }

    /// Ends it as systemd would and waits.
    ///
    /// # Errors
    /// If it does not end, or not with success.
    pub fn stop(&mut self) -> Result<()> {
        let mut process = self.process.take().context("the agent does not run")?;
        process.signal(Signal::TERM)?;
        let status = process.wait(ONLINE)?;
        ensure!(status.success(), "engram ended with {status}; it said:\n{}", process.output());
        Ok(())
    }

    /// Ends it with `kill -9`.
    ///
    /// # Errors
    /// If the system refuses.
    pub fn kill(&mut self) -> Result<()> {
        self.process.take().context("the agent does not run")?.kill()
    }

    /// Starts it again on the same memory and waits until it is online.
    ///
    /// # Errors
    /// If it does not come online.
    pub fn restart(&mut self, client: &Client) -> Result<()> {
        ensure!(self.process.is_none(), "the agent runs already");
        let mark = client.mark();
        self.process = Some(self.launch()?);
        self.wait_online(client, mark)
    }

    /// Runs another command of the program on this agent's configuration, for instance `check`.
    ///
    /// # Errors
    /// If it cannot be started or does not end.
    pub fn engram(&self, words: &[&str]) -> Result<Finished> {
        self.engram_with(&[], words)
    }

    /// As [`Agent::engram`], with more in its environment.
    ///
    /// # Errors
    /// If it cannot be started or does not end.
    pub fn engram_with(&self, environment: &[(&str, &str)], words: &[&str]) -> Result<Finished> {
        let mut command = engram_command()?;
        command.arg("--config").arg(&self.file).args(words).envs(environment.iter().copied());
        run_to_end(&mut command, COMMAND)
    }
}
