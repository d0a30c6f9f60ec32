//! Gives the memory and the senses the language models that are configured.

use std::sync::Arc;

use drivers::encoders::{Captioner, ClipViewer};
use jiff::tz::TimeZone;
use memory_core::reasoning::Controller;
use memory_core::{EventId, Memory};
use tokio::runtime::Handle;

use super::Board;
use crate::config::{Config, ControllerKind, Directories, Purpose};
use crate::llm::{
    AnswerJudge, Background, FactReader, LanguageModels, LineChooser, ModelController, PatternJudge, VisionCaptioner,
    VisionViewer,
};
use crate::service::MemoryService;

/// The models of a running daemon.
pub struct RunningModels {
    models: LanguageModels,
    facts: Option<Arc<FactReader>>,
    /// Describes pictures, where a vision model is there.
    pub captioner: Option<Arc<dyn Captioner>>,
    /// Looks at pictures for questions, where a vision model is there.
    pub viewer: Option<Arc<dyn ClipViewer>>,
    /// Chooses the looks at recordings, where that is wanted.
    pub controller: Option<Arc<dyn Controller>>,
}

impl RunningModels {
    /// Gives up what is under way, so that no thread waits for an endpoint at the end.
    pub fn stop(&self) {
        self.models.stop();
    }

    /// Removes what a model read from events that were forgotten.
    pub fn after_forgetting(&self) -> impl Fn(&Memory) + Send + Sync + 'static {
        let facts = self.facts.clone();
        move |memory| {
            if let Some(facts) = &facts {
                facts.forget(|event| matches!(memory.event(EventId(event)), Ok(Some(_))));
            }
        }
    }
}

/// Connects every endpoint with what it is used for. Without a section `[llm]` this does nothing. Call within the runtime.
pub fn start(
    config: &Config,
    directories: &Directories,
    service: &MemoryService,
    board: &Board,
    zone: &TimeZone,
) -> RunningModels {
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
    let serving = |purpose| models.serving(purpose);
    let background = |purpose| serving(purpose).map(|endpoint| Background::new(endpoint, Handle::current()));
    if let Some(endpoint) = serving(Purpose::Answers) {
        service.set_answer_judge(AnswerJudge::new(endpoint, Arc::clone(clock), zone.clone()));
    }
    let memory = service.memory();
    if let Some(background) = background(Purpose::Procedures) {
        memory.set_procedure_judge(Some(Arc::new(PatternJudge::new(background))));
    }
    if let Some(background) = background(Purpose::Gists) {
        memory.set_gist_selector(Some(Arc::new(LineChooser::new(background))));
    }
    let facts =
        background(Purpose::Facts).map(|background| Arc::new(FactReader::new(background, Some(&directories.data))));
    if let Some(facts) = &facts {
        memory.set_fact_extractor(Some(Arc::<FactReader>::clone(facts)));
    }
    let disabled = config.models.disabled.iter().any(|role| role == "captions");
    let captioner = background(Purpose::Captions).filter(|_| !disabled);
    let captioner = captioner.map(|background| Arc::new(VisionCaptioner::new(background)) as Arc<dyn Captioner>);
    let viewer = background(Purpose::Looking);
    let viewer = viewer.map(|background| Arc::new(VisionViewer::new(background)) as Arc<dyn ClipViewer>);
    let controller = background(Purpose::Controller).filter(|_| config.reasoning.controller == ControllerKind::Model);
    let controller =
        controller.map(|background| Arc::new(ModelController::new(background, zone.clone())) as Arc<dyn Controller>);
    RunningModels { models, facts, captioner, viewer, controller }
}
