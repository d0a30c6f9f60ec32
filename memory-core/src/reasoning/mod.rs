//! Looking again: the observe-think-act-memorize loop (VideoARM, Algorithm 1). A deterministic policy chooses the
//! looks. A controller behind a port may choose instead, among the looks that are worth their cost.
//!
//! ```text
//! answer of the memory ─▶ intervals ─▶ ┌ think: the interval and tool with the most expected gain, noted in working memory
//!                                      │ act: one tool call; what it perceives is sensory memory
//!                                      │ memorize: sightings become derived events, the step goes to result memory
//!                                      └ observe: recall decides again over memory and derived events
//! ```
//!
//! The loop ends when the answer rests on a certain finding, when the answer is stable, when no look can add enough,
//! after N steps, at the deadline, or when the caller cancels. The last decision of recall is the answer, or that
//! there is none.

mod belief;
mod beside;
mod calibration;
mod controller;
mod finding;
mod interval;
mod likeness;
mod options;
mod places;
mod policy;
mod reasoning_loop;
#[cfg(test)]
mod tests;
mod tiers;
mod tools;

use std::collections::BTreeMap;
use std::time::Duration;

use self::reasoning_loop::{ReasoningLoop, wordless_shares};
pub use crate::query::Effort;
pub use controller::{Controller, Decision, PastLook, PossibleLook, Situation};
pub use options::{LoopAblation, ReasoningOptions};
pub use tools::{AskedThing, KnownPlace, Look, LookError, LookOrder, Reach, Sighting, SightingKind, Tool, Tools};

use self::belief::IntervalBelief;
use self::beside::OverlayReader;
use self::interval::candidate_intervals;
use self::places::Places;
use self::tiers::{ResultMemory, SensoryMemory, WorkingMemory};
use crate::recall::{self, Reader};
use crate::{Answer, Clock, Event, Looked, PerceivedEvent, Query, QueryError, SensedEmbedding, StreamSpan, TimeSpan};

/// Maximum number of events of the memory's own answer from which intervals are taken.
const MAX_EVIDENCE: usize = 24;
/// Maximum number of things that one question may find.
const MAX_FOUND: usize = 60;
/// Change of confidence below which an answer counts as unchanged.
const MIN_CHANGE: f32 = 0.02;
/// Probability from which a thing counts as found. Another look could hardly change the answer that rests on it.
const SURE_PROBABILITY: f32 = 0.9;
/// Number of steps without a change after which an answer is stable. No answer never is: the next look may bring one.
const STABLE_STEPS: usize = 4;

/// Consistent views of a memory, each for one read: the loop lasts longer than a view should.
pub(crate) trait Views {
    /// Reads from the current state.
    ///
    /// # Errors
    /// Errors of `read`, or if there is no state to read.
    fn read<T>(&self, read: impl Fn(&dyn Reader) -> Result<T, QueryError>) -> Result<T, QueryError>;
}

/// Observes the loop, and may end it.
pub trait Watch: Sync {
    /// Called when a step begins and when it has ended.
    fn step(&self, news: &StepNews);

    /// Returns whether to end the loop now.
    fn cancelled(&self) -> bool {
        false
    }
}

/// Progress of the loop.
#[derive(Debug, Clone, PartialEq)]
pub struct StepNews {
    /// Number of the step, from 1.
    pub iteration: usize,
    /// The tool.
    pub tool: Tool,
    /// Wall-clock span of what is looked at.
    pub span: TimeSpan,
    /// Findings. `None` at the start of the step.
    pub outcome: Option<String>,
    /// Confidence of the answer so far.
    pub confidence: f32,
}

/// Why the loop ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stopped {
    /// There was nothing to look at, or nothing that looking could show.
    NothingToSee,
    /// The answer rests on a finding that is certain enough.
    Found,
    /// The answer no longer changed.
    Stable,
    /// No look could add enough.
    NoGain,
    /// The controller wanted no more looks.
    Enough,
    /// All steps were made.
    Steps,
    /// The time limit was reached.
    Deadline,
    /// The caller cancelled.
    Cancelled,
}

impl Stopped {
    /// Returns the reason in words.
    pub const fn name(self) -> &'static str {
        match self {
            Self::NothingToSee => "nothing to see",
            Self::Found => "it is found",
            Self::Stable => "the answer is stable",
            Self::NoGain => "nothing left to gain",
            Self::Enough => "the controller has seen enough",
            Self::Steps => "all steps are made",
            Self::Deadline => "deadline",
            Self::Cancelled => "cancelled",
        }
    }
}

/// An answer after looking again.
#[derive(Debug, Clone, PartialEq)]
pub struct Reasoned {
    /// The answer.
    pub answer: Answer,
    /// Found events that are not in the store, each with its episode.
    pub found: Vec<Event>,
    /// Vectors of faces, by index in `found`.
    pub faces: BTreeMap<usize, SensedEmbedding>,
    /// Number of steps.
    pub steps: usize,
    /// Why the loop ended.
    pub stopped: Stopped,
}

impl Reasoned {
    /// Returns the found events for storage.
    #[must_use]
    pub fn findings(&self) -> Vec<Looked> {
        let looked = |(place, event): (usize, &Event)| Looked {
            episode: event.episode,
            event: PerceivedEvent {
                kind: event.kind,
                modality: event.modality,
                text: event.text.clone(),
                start: event.span.start,
                end: event.span.end,
                stream: event.stream.unwrap_or(StreamSpan { start: Duration::ZERO, end: Duration::ZERO }),
                entity: None,
                attributes: event.attributes.clone(),
                confidence: event.confidence,
                embeddings: self.faces.get(&place).cloned().into_iter().collect(),
                pose: event.pose.clone(),
            },
        };
        self.found.iter().enumerate().map(looked).collect()
    }
}

/// Returns whether looking may improve an answer.
#[must_use]
pub fn is_worth_looking(answer: &Answer, effort: Effort, trigger: f32) -> bool {
    let factual = answer.intent == crate::Intent::Factual && answer.modality != crate::QuestionModality::Gist;
    factual
        && match effort {
            Effort::Fast => false,
            // Where nothing that comes near was recorded, most likely nothing is there to look at.
            Effort::Normal => answer.confidence < trigger && answer.evidence.iter().any(|item| item.media.is_some()),
            Effort::Thorough => true,
        }
}

/// Answers a question, and looks at recordings if that may help. Without a controller the policy chooses every look.
///
/// # Errors
/// As [`recall::answer`].
pub(crate) fn reason(
    query: &Query,
    views: &impl Views,
    clock: &dyn Clock,
    tools: &dyn Tools,
    options: &ReasoningOptions,
    controller: Option<&dyn Controller>,
    watch: &dyn Watch,
) -> Result<Reasoned, QueryError> {
    let begin = clock.monotonic();
    let budget = query.budget.map_or(options.deadline, |budget| budget.min(options.deadline));
    let wide = Query { top_k: query.top_k.max(MAX_EVIDENCE), budget: None, ..query.clone() };
    let hard = recall::hard_bounds(query)?;
    let decide = |found: &[Event], vectors: &[Option<Vec<i16>>]| {
        views.read(|reader| match found.is_empty() {
            true => recall::answer(&wide, reader),
            false => recall::answer(&wide, &OverlayReader::new(reader, found, vectors)),
        })
    };
    let first = decide(&[], &[])?;
    let (wanted, mut places) = views.read(|reader| {
        let wanted = recall::looking::wanted(query, reader, hard);
        let places = candidate_intervals(&first.evidence, first.confidence, wanted.bound, reader)?;
        Ok((wanted, places))
    })?;
    let mut state = ReasoningLoop {
        query,
        tools,
        options,
        controller,
        watch,
        clock,
        end: begin + budget,
        belief: None,
        sensory: SensoryMemory { ceiling_bytes: options.ceiling_bytes, ..SensoryMemory::default() },
        results: ResultMemory { forgets: options.ablation.without_results, ..ResultMemory::default() },
        working: WorkingMemory::default(),
        found: Vec::new(),
        vectors: Vec::new(),
        faces: BTreeMap::new(),
        known_places: Places::default(),
        degraded: Vec::new(),
    };
    if options.ablation.without_focus {
        #[expect(clippy::cast_precision_loss, reason = "a few intervals")]
        let each = 1.0 / places.len().max(1) as f32;
        places.iter_mut().for_each(|place| place.probability = each);
    }
    let used = Tool::ALL.into_iter().filter(|tool| !options.ablation.without_tools.contains(tool));
    let mut reach: Vec<(Tool, Reach)> = used.map(|tool| (tool, tools.reach(tool))).collect();
    state.known_places = views.read(|reader| {
        let mut spaces: Vec<&str> = reach.iter().filter_map(|(_, reach)| reach.places.as_deref()).collect();
        spaces.dedup();
        Ok(Places::read(&spaces, &places, reader)?)
    })?;
    for (_, reach) in &mut reach {
        state.known_places.add_names(reach);
    }
    let wordless = match reach.iter().any(|(_, reach)| reach.speech) && wanted.said > 0.0 {
        true => views.read(|reader| wordless_shares(&places, reader))?,
        false => Vec::new(),
    };
    let placeless = state.known_places.placeless_shares(&places);
    let belief = IntervalBelief::new(wanted.clone(), &query.options, &places, wordless, placeless, &reach);
    let looks = wanted.can_be_perceived && !places.is_empty();
    if looks {
        let missing = reach.iter().flat_map(|(_, reach)| &reach.missing).filter(|(kind, _)| belief.asks_for(*kind));
        state.degraded.extend(missing.map(|(_, line)| line.clone()));
    }
    if !looks || !belief.can_see_anything() {
        let why = if !wanted.can_be_perceived {
            "the question asks for nothing that a picture or a sound shows"
        } else if places.is_empty() {
            "no recording shows the time that it asks about"
        } else if wanted.said >= 1.0 {
            "no encoder writes down what is said"
        } else {
            "no encoder has a word for anything that it names"
        };
        state.working.note("looking", why.to_owned());
        return Ok(state.finish(first, Stopped::NothingToSee, begin));
    }
    state.belief = Some(belief);
    state.run(first, &mut places, views, &decide, begin)
}
