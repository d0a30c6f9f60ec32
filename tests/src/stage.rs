//! A broker, a client and an agent that is online: where most tests begin.

use std::collections::BTreeSet;
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use serde_json::{Value, json};

use crate::{Agent, AgentBuilder, Broker, Client};

/// Long enough for anything that takes a moment on a busy machine.
pub const SOON: Duration = Duration::from_secs(20);

/// A broker, a client and an agent that is online.
#[derive(Debug)]
pub struct Stage {
    /// The agent; first, so that it ends before its broker.
    pub agent: Agent,
    /// A client.
    pub client: Client,
    /// The broker.
    pub broker: Broker,
}

impl Stage {
    /// An agent called `robot` with an empty memory.
    ///
    /// # Errors
    /// If broker or agent do not start.
    pub fn start(robot: &str) -> Result<Self> {
        Self::with(robot, |builder| builder)
    }

    /// An agent called `robot` with more configuration.
    ///
    /// # Errors
    /// If broker or agent do not start.
    pub fn with(robot: &str, configure: impl FnOnce(AgentBuilder) -> AgentBuilder) -> Result<Self> {
        let broker = Broker::start()?;
        let client = broker.client()?;
        let agent = configure(Agent::builder(&broker, robot)).start(&client)?;
        Ok(Self { agent, client, broker })
    }

    /// Asks in plain words.
    ///
    /// # Errors
    /// If no answer comes.
    pub fn ask(&self, question: &str) -> Result<Value> {
        let answer = self.client.ask(self.agent.robot(), question);
        answer.with_context(|| format!("engram said:\n{}", self.agent.output()))
    }

    /// Tells one observation or an array of them.
    ///
    /// # Errors
    /// If no reply comes.
    pub fn observe(&self, body: Value) -> Result<Value> {
        let reply = self.client.observe(self.agent.robot(), body);
        reply.with_context(|| format!("engram said:\n{}", self.agent.output()))
    }

    /// Tells a text with an id and expects it to be accepted.
    ///
    /// # Errors
    /// If it is not.
    pub fn tell(&self, id: &str, text: &str) -> Result<()> {
        let reply = self.observe(json!({"id": id, "text": text, "source": "test", "at": "2026-11-20T08:00:00Z"}))?;
        ensure!(reply["accepted"] == 1, "{id} was not accepted: {reply}");
        Ok(())
    }

    /// Sends a command.
    ///
    /// # Errors
    /// If no reply comes.
    pub fn command(&self, name: &str, body: Value) -> Result<Value> {
        let reply = self.client.command(self.agent.robot(), name, body);
        reply.with_context(|| format!("engram said:\n{}", self.agent.output()))
    }

    /// The senders' ids of all told observations, read back through `list` and `get`; an error if one is there twice.
    ///
    /// # Errors
    /// If a reply is missing or an id is there twice.
    pub fn remembered_ids(&self) -> Result<BTreeSet<String>> {
        self.remembered_ids_of(&json!({}))
    }

    /// As [`Stage::remembered_ids`], of the episodes that a `list` with `filter` names.
    ///
    /// # Errors
    /// If a reply is missing or an id is there twice.
    pub fn remembered_ids_of(&self, filter: &Value) -> Result<BTreeSet<String>> {
        let mut found = BTreeSet::new();
        let mut cursor = Value::Null;
        loop {
            let mut request = filter.clone();
            request["limit"] = 200.into();
            request["cursor"] = cursor;
            let page = self.command("list", request)?;
            let episodes = page["episodes"].as_array().with_context(|| format!("list replied {page}"))?;
            for episode in episodes {
                // A long episode comes in pages.
                let mut after = Value::Null;
                loop {
                    let reply = self.command("get", json!({"episode": episode["id"], "cursor": after}))?;
                    let events =
                        reply["episode"]["events"].as_array().with_context(|| format!("get replied {reply}"))?;
                    for id in events.iter().filter_map(|event| event["observation"].as_str()) {
                        ensure!(found.insert(id.to_owned()), "{id} is remembered twice");
                    }
                    after = reply["next"].clone();
                    if after.is_null() {
                        break;
                    }
                }
            }
            cursor = page["next"].clone();
            if cursor.is_null() {
                return Ok(found);
            }
        }
    }

    /// Runs `engram check` on the stopped agent's memory and expects it to be clean.
    ///
    /// # Errors
    /// If it finds damage.
    pub fn check(&self) -> Result<()> {
        let ended = self.agent.engram(&["check"])?;
        ensure!(ended.code == Some(0), "check ended with {:?}:\n{}{}", ended.code, ended.stdout, ended.stderr);
        Ok(())
    }
}

/// The senders' ids in an answer's evidence, best first.
pub fn evidence_ids(answer: &Value) -> Vec<String> {
    let items = answer["evidence"].as_array().into_iter().flatten();
    let ids = items.filter_map(|item| item["observations"].as_array()).flatten();
    ids.filter_map(|id| id.as_str().map(str::to_owned)).collect()
}
