//! Gives the memory the language models that are configured.

use jiff::tz::TimeZone;

use super::Board;
use crate::config::{Config, Directories, Purpose};
use crate::llm::{AnswerJudge, LanguageModels};
use crate::service::MemoryService;

/// Connects every endpoint with what it is used for. Without a section `[llm]` this does nothing.
pub fn start(
    config: &Config,
    directories: &Directories,
    service: &MemoryService,
    board: &Board,
    zone: &TimeZone,
) -> LanguageModels {
    let clock = service.clock();
    let models = LanguageModels::new(&config.llm, Some(&directories.data), clock, zone);
    for (name, reason) in &models.unusable {
        tracing::warn!("{name}: {reason}; continuing without it");
    }
    for (name, health) in models.health() {
        let (host, model, purposes) = (health.host, health.model, health.purposes.join(", "));
        tracing::info!(host, model, purposes, "language model {name}");
    }
    board.language_models(models.clone());
    if let Some(endpoint) = models.serving(Purpose::Answers) {
        service.set_answer_judge(AnswerJudge::new(endpoint, std::sync::Arc::clone(clock), zone.clone()));
    }
    models
}
