//! Requests to a store that this process opened itself, with the same parsing and the same answers as over MQTT.

use bytes::Bytes;
use drivers::models::Role;
use jiff::tz::TimeZone;
use memory_core::{AbsentRole, Memory, Observation, Query, QueryError};
use serde_json::Value as Json;

use crate::config::Config;
use crate::exit::{Exit, Failure};
use crate::media::MediaLinks;
use crate::mqtt::client::Message;
use crate::mqtt::reply::{Route, Router};
use crate::mqtt::{ask, observe};
use crate::senses::encoders;
use crate::service::Committed;
use crate::topics::{ReplyPolicy, Topics};

/// Roles that find memories by meaning.
pub const FINDING: &[Role] = &[Role::TextEmbedding, Role::JointImageText];
/// Roles that answer questions: they also read what was found.
pub const ANSWERING: &[Role] = &[Role::TextEmbedding, Role::AnswerExtraction, Role::JointImageText];

/// Gives the memory the models of these roles that are installed. Without them words and rules must do, and the answer says
/// so.
pub fn give_text_models(memory: &Memory, config: &Config, roles: &[Role]) {
    match encoders::load(&config.models, Some(roles)) {
        Ok(loaded) => {
            loaded.wait_ready();
            memory.set_text_embedder(loaded.text_embedder());
            memory.set_answer_extractor(loaded.answer_extractor());
            memory.set_picture_texts(loaded.picture_texts());
            let matters =
                |role: &AbsentRole| roles.iter().any(|own| *own != Role::JointImageText && role.role == own.name());
            memory.set_absent_roles(loaded.absent_roles().into_iter().filter(matters).collect());
        }
        Err(failure) => tracing::warn!("no model reads questions: {:#}", failure.error),
    }
}

/// The answer as the contract writes it.
///
/// # Errors
/// [`Exit::Usage`] if the question is none, [`Exit::Timeout`], or [`Exit::Store`].
pub fn ask(memory: &Memory, query: &Query, zone: &TimeZone, media: &MediaLinks) -> Result<Json, Failure> {
    let begin = std::time::Instant::now();
    let answer = memory.ask(query).map_err(|error| {
        let exit = match &error {
            QueryError::Invalid(_) => Exit::Usage,
            QueryError::Deadline(_) => Exit::Timeout,
            QueryError::Read(_) => Exit::Store,
            _ => Exit::Internal,
        };
        Failure { exit, error: error.into() }
    })?;
    Ok(ask::render(&answer, &query.question, None, &Route::default(), begin.elapsed(), zone, media))
}

/// Commits observations written as the contract writes them, and reports as it does.
///
/// # Errors
/// [`Exit::Refused`] if the payload is none, [`Exit::Store`] if the store cannot write.
pub fn observe(memory: &Memory, config: &Config, payload: &Json) -> Result<Json, Failure> {
    let topics = Topics::new(&config.mqtt.root, "offline").map_err(|fault| Failure::new(Exit::Config, fault))?;
    let policy = ReplyPolicy::new(&config.mqtt.root, None);
    let message = Message { topic: topics.observe(), payload: Bytes::from(payload.to_string()), ..Message::default() };
    let router = Router { topics: &topics, policy: &policy };
    let items = observe::read_observations(&message, &router, &config.mqtt.limits)
        .body
        .map_err(|refusal| Failure::new(Exit::Refused, refusal.message))?;
    let batch: Vec<Observation> = items.told.iter().cloned().map(Observation::Told).collect();
    let outcomes = memory.observe(batch).map_err(|error| Failure { exit: Exit::Store, error: error.into() })?;
    let committed = Committed { outcomes, seq: memory.stats().seq };
    Ok(items.report(&committed).body(&Route::default()))
}
