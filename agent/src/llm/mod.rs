//! Language models: optional, off by default, behind OpenAI-compatible endpoints.
//!
//! ```text
//! answers, facts, gists, … ─▶ Task ─▶ Endpoint (one request at a time, breaker, ceilings) ─▶ HTTP or a transcript
//!                                          └─▶ reply ─▶ strict check ─▶ once more ─▶ value, or a named fallback
//! ```
//!
//! Invariants: a model chooses among what it was given, and every reply is checked here whatever the endpoint promises. What
//! was heard, read or told is data between marks. Without a usable reply the memory goes on as without a model, and says so.
//! Nothing that was said, asked or replied gets into the log.

mod answers;
mod background;
mod breaker;
mod captions;
mod controlling;
mod endpoint;
mod error;
mod facts;
mod gists;
mod http;
mod known_facts;
mod procedures;
mod prompt;
mod transcript;
mod usage;
mod viewing;
mod wire;

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use jiff::tz::TimeZone;
use memory_core::Clock;

pub use self::answers::AnswerJudge;
pub use self::background::Background;
pub use self::captions::VisionCaptioner;
pub use self::controlling::ModelController;
pub use self::endpoint::{Endpoint, EndpointParts, SchemaSupport, Task, Transport, Urgency};
pub use self::error::LlmError;
pub use self::facts::FactReader;
pub use self::gists::LineChooser;
pub use self::http::EndpointAddress;
use self::http::HttpClient;
pub use self::known_facts::forget_known_facts;
pub use self::procedures::PatternJudge;
use self::transcript::{Recorder, Replay};
use self::usage::UsageFile;
pub use self::viewing::VisionViewer;
use crate::config::{EndpointConfig, LlmConfig, Purpose};
pub use crate::health::LanguageModelHealth;

/// The endpoints that are configured and can be used.
#[derive(Clone, Default)]
pub struct LanguageModels {
    used: Vec<(Arc<Endpoint>, Vec<Purpose>)>,
    /// Endpoints that cannot be used: their name and the reason.
    pub unusable: Vec<(String, String)>,
}

impl LanguageModels {
    /// The endpoints of a configuration. `data` is where the counts of tokens are kept, if anywhere.
    pub fn new(config: &LlmConfig, data: Option<&Path>, clock: &Arc<dyn Clock>, zone: &TimeZone) -> Self {
        let mut models = Self::default();
        let used = config.used();
        if used.is_empty() {
            return models;
        }
        let recorder = config.record.as_deref().map(|path| Recorder::open(path).map(Arc::new)).transpose();
        let replay = config.replay.as_deref().map(|path| Replay::open(path).map(Arc::new)).transpose();
        for (section, endpoint, purposes) in used {
            let made = recorder.clone().and_then(|recorder| {
                let transport = match replay.clone()? {
                    Some(replay) => Transport::Replay(replay),
                    None => Transport::Http(Box::new(client(section, endpoint)?)),
                };
                let file = UsageFile::for_endpoint(data, section);
                let (clock, zone) = (Arc::clone(clock), zone.clone());
                Endpoint::new(endpoint, EndpointParts { section, transport, recorder, clock, zone, file })
            });
            match made {
                Ok(made) => models.used.push((Arc::new(made), purposes)),
                Err(reason) => models.unusable.push((format!("llm.{section}"), reason)),
            }
        }
        models
    }

    /// The endpoint for a purpose.
    pub fn serving(&self, purpose: Purpose) -> Option<Arc<Endpoint>> {
        let serving = self.used.iter().find(|(_, purposes)| purposes.contains(&purpose));
        serving.map(|(endpoint, _)| Arc::clone(endpoint))
    }

    /// Every endpoint that can be used.
    pub fn endpoints(&self) -> impl Iterator<Item = &Arc<Endpoint>> {
        self.used.iter().map(|(endpoint, _)| endpoint)
    }

    /// Gives up what is under way.
    pub fn stop(&self) {
        self.endpoints().for_each(|endpoint| endpoint.stop());
    }

    /// Returns the health of every endpoint, by the name of its section.
    pub fn health(&self) -> BTreeMap<String, LanguageModelHealth> {
        let health = self.used.iter().map(|(endpoint, purposes)| (endpoint.name(), endpoint.health(purposes)));
        health.collect()
    }
}

fn client(section: &str, endpoint: &EndpointConfig) -> Result<HttpClient, String> {
    let address = EndpointAddress::parse(endpoint.url.as_deref().unwrap_or_default())
        .map_err(|error| format!("llm.{section}.url {error}"))?;
    let token = token(section, endpoint)?;
    HttpClient::new(address, token.as_deref(), endpoint.ca_file.as_deref())
        .map_err(|error| format!("llm.{section}: {error}"))
}

/// The secret of an endpoint, if it has one.
fn token(section: &str, endpoint: &EndpointConfig) -> Result<Option<String>, String> {
    let text = match (&endpoint.token, &endpoint.token_file) {
        (Some(token), _) => token.clone(),
        (None, None) => return Ok(None),
        (None, Some(file)) => std::fs::read_to_string(file)
            .map_err(|error| format!("llm.{section}.token_file {} cannot be read: {error}", file.display()))?,
    };
    Ok(Some(text.trim_end_matches(['\r', '\n']).to_owned()).filter(|token| !token.is_empty()))
}
