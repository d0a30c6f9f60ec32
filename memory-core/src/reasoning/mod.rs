//! Looking again: the observe-think-act-memorize loop (VideoARM, Algorithm 1). A deterministic policy chooses the looks, or a controller
//! behind a port does, among those that the policy finds worth their cost.
//!
//! ```text
//! answer of the memory ─▶ intervals ─▶ ┌ think: the interval and tool with the most expected gain, noted in working memory
//!                                      │ act: one tool call; what it perceives is sensory memory
//!                                      │ memorize: sightings become derived events, the step goes to result memory
//!                                      └ observe: recall decides again over memory and derived events
//! ```
//!
//! The loop ends when the answer rests on a sure find, when it is stable, when nothing is left to gain, after N steps, at the
//! deadline, or when somebody gives up. Then recall's last decision is the answer, or honestly none.

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
#[cfg(test)]
mod tests;
mod tiers;
mod tools;

use std::collections::BTreeMap;
use std::time::Duration;

pub use crate::query::Effort;
pub use controller::{Controller, Decision, PastLook, PossibleLook, Situation};
pub use options::{LoopAblation, ReasoningOptions};
pub use tools::{AskedThing, KnownPlace, Look, LookError, LookOrder, Reach, Sighting, SightingKind, Tool, Tools};

use self::belief::Belief;
use self::beside::Beside;
use self::controller::MAX_LOOKS;
use self::finding::KnownEvents;
use self::interval::{Interval, by_interval, intervals};
use self::places::Places;
use self::policy::Choice;
use self::tiers::{ResultMemory, SensoryMemory, StepResult, WorkingMemory};
use crate::recall::{self, Reader};
use crate::{
    Answer, Clock, Event, Looked, PerceivedEvent, Query, QueryError, Route, SensedEmbedding, StreamSpan, TimeSpan,
    TraceStep,
};

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

/// Consistent states of a memory, each for one reading: the loop lasts longer than a reading should.
pub(crate) trait Views {
    /// Reads from the current state.
    ///
    /// # Errors
    /// What `read` says, or if there is no state to read.
    fn read<T>(&self, read: impl Fn(&dyn Reader) -> Result<T, QueryError>) -> Result<T, QueryError>;
}

/// Hears of the loop, and may end it.
pub trait Watch: Sync {
    /// A step begins, or has ended.
    fn step(&self, news: &StepNews);

    /// Whether the loop is to end now.
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
    /// Findings; `None` at the begin of the step.
    pub outcome: Option<String>,
    /// Confidence of the answer so far.
    pub confidence: f32,
}

/// Why the loop ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stopped {
    /// There was nothing to look at, or nothing that looking could tell.
    NothingToSee,
    /// The answer rests on a finding that is certain enough.
    Found,
    /// The answer did not change any more.
    Stable,
    /// No look could add enough.
    NoGain,
    /// The controller wanted no more looks.
    Enough,
    /// All steps were made.
    Steps,
    /// The time was over.
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
    /// Found events that are not in the store, each with the episode that it belongs to.
    pub found: Vec<Event>,
    /// The vectors of faces among it, by its place in `found`.
    pub faces: BTreeMap<usize, SensedEmbedding>,
    /// Steps that were made.
    pub steps: usize,
    /// Why it ended.
    pub stopped: Stopped,
}

impl Reasoned {
    /// Returns the found events to be remembered.
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

/// Whether an answer is worth looking again.
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

/// Answers a question, looking at recordings where that may help. Without a controller the policy chooses every look.
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
            false => recall::answer(&wide, &Beside::new(reader, found, vectors)),
        })
    };
    let first = decide(&[], &[])?;
    let (wanted, mut places) = views.read(|reader| {
        let wanted = recall::looking::wanted(query, reader, hard);
        let places = intervals(&first.evidence, first.confidence, wanted.bound, reader)?;
        Ok((wanted, places))
    })?;
    let mut state = Loop {
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
        true => views.read(|reader| wordless(&places, reader))?,
        false => Vec::new(),
    };
    let belief =
        Belief::new(wanted.clone(), &query.options, &places, wordless, state.known_places.placeless(&places), &reach);
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
        return Ok(state.finished(first, Stopped::NothingToSee, begin));
    }
    state.belief = Some(belief);
    state.run(first, &mut places, views, &decide, begin)
}

struct Loop<'a> {
    query: &'a Query,
    tools: &'a dyn Tools,
    options: &'a ReasoningOptions,
    /// `None` where the policy chooses, from the begin or since the controller failed.
    controller: Option<&'a dyn Controller>,
    watch: &'a dyn Watch,
    clock: &'a dyn Clock,
    end: Duration,
    belief: Option<Belief>,
    sensory: SensoryMemory,
    results: ResultMemory,
    working: WorkingMemory,
    found: Vec<Event>,
    /// φ of them.
    vectors: Vec<Option<Vec<i16>>>,
    /// Vectors of faces, by their place in `found`.
    faces: BTreeMap<usize, SensedEmbedding>,
    known_places: Places,
    degraded: Vec<String>,
}

impl Loop<'_> {
    fn run(
        mut self,
        first: Answer,
        places: &mut [Interval],
        views: &impl Views,
        decide: &impl Fn(&[Event], &[Option<Vec<i16>>]) -> Result<Answer, QueryError>,
        begin: Duration,
    ) -> Result<Reasoned, QueryError> {
        let mut answer = first;
        let mut unchanged = 0;
        for iteration in 1.. {
            if let Some(stopped) = self.over(iteration, unchanged) {
                return Ok(self.ended(answer, stopped, begin, places));
            }
            let belief = self.belief.as_ref().expect("the loop runs with one");
            let looks = policy::looks(places, belief, &self.results, self.options);
            if looks.is_empty() {
                return Ok(self.ended(answer, Stopped::NoGain, begin, places));
            }
            let Some((choice, aim)) = self.chosen(&looks, places, &answer) else {
                return Ok(self.ended(answer, Stopped::Enough, begin, places));
            };
            // Choosing may have taken its time.
            if let Some(stopped) = self.over(iteration, unchanged) {
                return Ok(self.ended(answer, stopped, begin, places));
            }
            let (number, tool) = (choice.interval, choice.tool);
            self.working.aim(tool, &places[number], number, choice.gain, &aim);
            let news = |outcome: Option<String>, confidence: f32| StepNews {
                iteration,
                tool,
                span: places[number].span(),
                outcome,
                confidence,
            };
            self.watch.step(&news(None, answer.confidence));
            let (outcome, changed) = self.act(tool, number, &places[number], views)?;
            if self.watch.cancelled() {
                return Ok(self.ended(answer, Stopped::Cancelled, begin, places));
            }
            let next = if changed { decide(&self.found, &self.vectors)? } else { answer.clone() };
            let same = next.answer.is_some()
                && next.answer == answer.answer
                && next.choice == answer.choice
                && (next.confidence - answer.confidence).abs() < MIN_CHANGE;
            unchanged = if same { unchanged + 1 } else { 0 };
            answer = next;
            self.watch.step(&news(Some(outcome.clone()), answer.confidence));
            self.working
                .note("found", format!("{outcome}; now {:?} with {:.2}", answer.answer.as_deref(), answer.confidence));
            let confidence = answer.confidence;
            self.results.steps.push(StepResult { iteration, interval: number, tool, outcome, aim, confidence });
            if let Some(belief) = self.belief.as_ref().filter(|_| !self.options.ablation.without_focus) {
                belief.update(places);
            }
            if self.is_found(&answer, number) {
                return Ok(self.ended(answer, Stopped::Found, begin, places));
            }
        }
        unreachable!("the loop ends by its steps");
    }

    /// The end of a loop that looked. Where nothing answers, what lies in an interval that shows what is asked for together comes first:
    /// recall orders single events, and of what is asked for "on the table beside the computer" many tables show a part.
    fn ended(mut self, mut answer: Answer, stopped: Stopped, begin: Duration, places: &[Interval]) -> Reasoned {
        if let Some(belief) = self.belief.as_ref().filter(|_| answer.answer.is_none()) {
            let ratios = belief.ratios();
            by_interval(&mut answer.evidence, places, &ratios);
            let gained = places.iter().zip(&ratios).filter(|(_, ratio)| **ratio > 1.0);
            let told = gained.map(|(place, ratio)| {
                format!(
                    "{:.1} s to {:.1} s: {ratio:.2}",
                    place.stream.start.as_secs_f64(),
                    place.stream.end.as_secs_f64()
                )
            });
            let told: Vec<String> = told.collect();
            if !told.is_empty() {
                self.working.note("likelier than before", told.join(", "));
            }
        }
        self.finished(answer, stopped, begin)
    }

    /// The next look, by the controller or else by the policy, and why; `None` where the controller has seen enough.
    fn chosen(&mut self, looks: &[Choice], places: &[Interval], answer: &Answer) -> Option<(Choice, String)> {
        if let Some(controller) = self.controller {
            let offered = &looks[..looks.len().min(MAX_LOOKS)];
            let possible = |look: &Choice| PossibleLook {
                tool: look.tool,
                span: places[look.interval].span(),
                probability: places[look.interval].probability,
                gain: look.gain,
            };
            let past = |step: &StepResult| PastLook {
                tool: step.tool,
                span: places[step.interval].span(),
                aim: step.aim.clone(),
                outcome: step.outcome.clone(),
                confidence: step.confidence,
            };
            let past: Vec<PastLook> = self.results.steps.iter().map(past).collect();
            let decision = controller.choose(&Situation {
                question: &self.query.question,
                options: &self.query.options,
                answer: answer.answer.as_deref(),
                confidence: answer.confidence,
                evidence: &answer.evidence,
                looks: &offered.iter().map(possible).collect::<Vec<_>>(),
                past: &past,
                left: self.end.saturating_sub(self.clock.monotonic()),
            });
            let failure = match decision {
                Ok(Decision::Look { place, aim }) => match offered.get(place) {
                    Some(look) => return Some((*look, aim)),
                    None => "it chose a look that it was not offered".to_owned(),
                },
                Ok(Decision::Stop) if !past.is_empty() => return None,
                Ok(Decision::Stop) => "it stopped before the first look".to_owned(),
                Err(error) => error,
            };
            self.controller = None;
            self.degraded.push(format!("controller: {failure}; the policy chose the looks"));
        }
        let best = looks.first()?;
        let aim = match self.results.steps.last().map(|step| step.interval) {
            Some(before) if before != best.interval && self.results.has_seen(best.interval) => "go back to it",
            Some(before) if before != best.interval => "the one before is less likely by now",
            Some(_) => "look closer",
            None => "the likeliest place",
        };
        Some((*best, aim.to_owned()))
    }

    /// Whether the answer rests on a sure finding, and nothing closer can be seen of where it was found.
    fn is_found(&self, answer: &Answer, number: usize) -> bool {
        let sure = |item: &crate::Evidence| {
            self.found.iter().any(|event| event.id == item.event && event.confidence >= SURE_PROBABILITY)
        };
        let closer = |tool| tool != Tool::IntervalLocaliser && self.results.has(number, tool);
        let closer = Tool::ALL.into_iter().any(closer);
        answer.answer.is_some() && closer && answer.evidence.first().is_some_and(sure)
    }

    fn over(&self, iteration: usize, unchanged: usize) -> Option<Stopped> {
        if self.watch.cancelled() {
            Some(Stopped::Cancelled)
        } else if self.clock.monotonic() >= self.end {
            Some(Stopped::Deadline)
        } else if iteration > self.options.steps {
            Some(Stopped::Steps)
        } else if unchanged >= STABLE_STEPS {
            Some(Stopped::Stable)
        } else {
            None
        }
    }

    /// Calls one tool, and takes what it found; says it in words, and whether recall has anything new to decide on.
    fn act(
        &mut self,
        tool: Tool,
        number: usize,
        interval: &Interval,
        views: &impl Views,
    ) -> Result<(String, bool), QueryError> {
        let watch = self.watch;
        let belief = self.belief.as_mut().expect("the loop runs with one");
        let costly = [SightingKind::Writing, SightingKind::Face];
        let asked: Vec<SightingKind> = costly.into_iter().filter(|kind| belief.asks_for(*kind)).collect();
        let things = belief.things();
        let order = LookOrder {
            tool,
            things: &things,
            question: &self.query.question,
            media: &interval.media,
            stream: interval.stream,
            pictures: self.options.pictures(tool, interval.length()),
            asked: &asked,
            places: if belief.asks_for_places(self.known_places.known()) { self.known_places.known() } else { &[] },
            ceiling_bytes: self.sensory.ceiling_bytes,
            budget: self.end.saturating_sub(self.clock.monotonic()),
            cancelled: &|| watch.cancelled(),
        };
        let looked = self.tools.look(&order);
        let look = match looked {
            Ok(look) => look,
            Err(error) => {
                if matches!(error, LookError::Gone | LookError::Failed(_)) {
                    let line = format!("recording: {error}");
                    if !self.degraded.contains(&line) {
                        self.degraded.push(line);
                    }
                }
                // Nothing was seen, which says nothing of what was there.
                return Ok((error.to_string(), false));
            }
        };
        self.sensory.hold(&look);
        let known = views.read(|reader| Ok(KnownEvents::read(interval, reader)?))?;
        let mut seen: Vec<(usize, f32)> = Vec::new();
        let mut names: Vec<String> = Vec::new();
        let before = self.found.len();
        for sighting in &look.sightings {
            let meant = belief.meant(sighting);
            let wanted = !meant.is_empty() || belief.asks_for(sighting.kind);
            let probability = match meant.is_empty() {
                _ if sighting.kind == SightingKind::Place => self.known_places.probability(),
                true => calibration::probability(tool, sighting),
                false => calibration::asked_for(tool, sighting, belief.prior(&meant, interval)),
            };
            seen.extend(meant.iter().map(|(term, likeness)| (*term, probability * likeness)));
            if !meant.is_empty() {
                names.push(format!("{} {probability:.2}", sighting.label));
            }
            // A scene tells which interval it is; as evidence it is wrong too often (docs/benchmarks.md).
            if sighting.kind == SightingKind::Scene {
                continue;
            }
            let is_known = || self.known_places.has(number, interval, sighting.stream);
            if sighting.kind == SightingKind::Place && is_known() {
                continue;
            }
            let place = (tool, self.query.question.as_str(), self.found.len());
            let event = finding::event(sighting, probability, wanted, place, interval, &known);
            let is_new = |event: &Event| !self.found.iter().any(|other| same_thing(other, event));
            if let Some(event) = event.filter(is_new)
                && self.found.len() < MAX_FOUND
            {
                self.faces.extend(sighting.vector.clone().map(|vector| (self.found.len(), vector)));
                self.found.push(event);
            }
        }
        if belief.asks_for(SightingKind::Place) {
            for event in places::of_things(&self.found, &known, |label| belief.means_thing(label)) {
                if self.found.len() < MAX_FOUND && !self.found.iter().any(|other| same_thing(other, &event)) {
                    let id = finding::id(self.found.len());
                    self.found.push(Event { id, ..event });
                }
            }
        }
        let told = self.found[before..].iter().any(|event| event.attributes.contains_key("place"));
        if !self.results.forgets {
            belief.note(number, tool, calibration::recall(tool), &seen);
            belief.note_place(number, tool, calibration::recall(tool), told);
        }
        for line in &look.degraded {
            if !self.degraded.contains(line) {
                self.degraded.push(line.clone());
            }
        }
        self.sensory.clear();
        let vectors = views.read(|reader| Ok(beside::embed(reader, &self.found[before..])))?;
        self.vectors.extend(vectors);
        let new = self.found.len() - before;
        let seen = if names.is_empty() { "nothing that the question names".to_owned() } else { names.join(", ") };
        let looked = match tool {
            Tool::Transcriber => format!("{} sentences", look.sightings.len()),
            _ => format!("{} pictures", look.pictures),
        };
        Ok((format!("{looked}: {seen}; {new} new"), new > 0))
    }

    fn finished(mut self, mut answer: Answer, stopped: Stopped, begin: Duration) -> Reasoned {
        let steps = self.results.steps.len();
        self.working.note("looking", format!("{steps} steps; {}", stopped.name()));
        let limit = self.query.top_k.max(1);
        answer.evidence.truncate(limit);
        if steps > 0 && answer.answer.is_some() {
            answer.route = Route::Agentic;
        }
        if self.query.trace {
            answer.trace.extend(self.working.into_trace());
        } else {
            answer.trace = Vec::<TraceStep>::new();
        }
        for line in self.degraded {
            if !answer.degraded.contains(&line) {
                answer.degraded.push(line);
            }
        }
        answer.elapsed.total = self.clock.monotonic().saturating_sub(begin);
        Reasoned { answer, found: self.found, faces: self.faces, steps, stopped }
    }
}

/// Returns, by interval, the share of its speech of which memory has no words.
fn wordless(places: &[Interval], reader: &dyn Reader) -> Result<Vec<f32>, QueryError> {
    places.iter().map(|interval| Ok(KnownEvents::read(interval, reader)?.wordless())).collect()
}

/// Whether two findings are one thing that two tools saw.
fn same_thing(a: &Event, b: &Event) -> bool {
    a.text == b.text
        && a.media == b.media
        && a.stream.zip(b.stream).is_some_and(|(a, b)| a.start <= b.end && b.start <= a.end)
}
