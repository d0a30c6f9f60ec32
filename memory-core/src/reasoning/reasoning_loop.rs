//! The observe-think-act-memorize loop (VideoARM, Algorithm 1).

use std::collections::BTreeMap;
use std::time::Duration;

use super::belief::IntervalBelief;
use super::controller::MAX_LOOKS;
use super::controller::{Controller, Decision, PastLook, PossibleLook, Situation};
use super::finding::KnownEvents;
use super::interval::{Interval, order_by_interval};
use super::options::ReasoningOptions;
use super::places::{self, Places};
use super::policy::RankedLook;
use super::tiers::{ResultMemory, SensoryMemory, StepResult, WorkingMemory};
use super::tools::{LookError, LookOrder, SightingKind, Tool, Tools};
use super::{MAX_FOUND, MIN_CHANGE, Reasoned, STABLE_STEPS, SURE_PROBABILITY, StepNews, Stopped, Views, Watch};
use super::{beside, calibration, finding, policy};
use crate::recall::Reader;
use crate::{Answer, Clock, Event, Query, QueryError, Route, SensedEmbedding, TraceStep};

pub(super) struct ReasoningLoop<'a> {
    pub query: &'a Query,
    pub tools: &'a dyn Tools,
    pub options: &'a ReasoningOptions,
    /// `None` if the policy chooses, from the start or since the controller failed.
    pub controller: Option<&'a dyn Controller>,
    pub watch: &'a dyn Watch,
    pub clock: &'a dyn Clock,
    pub end: Duration,
    pub belief: Option<IntervalBelief>,
    pub sensory: SensoryMemory,
    pub results: ResultMemory,
    pub working: WorkingMemory,
    pub found: Vec<Event>,
    /// φ of them.
    pub vectors: Vec<Option<Vec<i16>>>,
    /// Vectors of faces, by their place in `found`.
    pub faces: BTreeMap<usize, SensedEmbedding>,
    pub known_places: Places,
    pub degraded: Vec<String>,
}

impl ReasoningLoop<'_> {
    pub fn run(
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
            if let Some(stopped) = self.stop_reason(iteration, unchanged) {
                return Ok(self.finish_after_looking(answer, stopped, begin, places));
            }
            let belief = self.belief.as_ref().expect("the loop runs with one");
            let looks = policy::rank_looks(places, belief, &self.results, self.options);
            if looks.is_empty() {
                return Ok(self.finish_after_looking(answer, Stopped::NoGain, begin, places));
            }
            let Some((choice, aim)) = self.choose_look(&looks, places, &answer) else {
                return Ok(self.finish_after_looking(answer, Stopped::Enough, begin, places));
            };
            // The choice may have taken long.
            if let Some(stopped) = self.stop_reason(iteration, unchanged) {
                return Ok(self.finish_after_looking(answer, stopped, begin, places));
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
            let (outcome, changed) = self.call_tool(tool, number, &places[number], views)?;
            if self.watch.cancelled() {
                return Ok(self.finish_after_looking(answer, Stopped::Cancelled, begin, places));
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
                belief.update_probabilities(places);
            }
            if self.rests_on_sure_finding(&answer, number) {
                return Ok(self.finish_after_looking(answer, Stopped::Found, begin, places));
            }
        }
        unreachable!("the loop ends by its steps");
    }

    /// Ends a loop that looked. Without an answer, evidence in an interval that shows everything together comes first.
    /// Recall orders single events, and for "on the table beside the computer" many events show a part.
    fn finish_after_looking(
        mut self,
        mut answer: Answer,
        stopped: Stopped,
        begin: Duration,
        places: &[Interval],
    ) -> Reasoned {
        if let Some(belief) = self.belief.as_ref().filter(|_| answer.answer.is_none()) {
            let ratios = belief.likelihood_ratios();
            order_by_interval(&mut answer.evidence, places, &ratios);
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
        self.finish(answer, stopped, begin)
    }

    /// Returns the next look and its reason, by the controller or else by the policy. `None` if the controller has seen
    /// enough.
    fn choose_look(
        &mut self,
        looks: &[RankedLook],
        places: &[Interval],
        answer: &Answer,
    ) -> Option<(RankedLook, String)> {
        if let Some(controller) = self.controller {
            let offered = &looks[..looks.len().min(MAX_LOOKS)];
            let possible = |look: &RankedLook| PossibleLook {
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

    /// Returns whether the answer rests on a certain finding, and no tool can look closer.
    fn rests_on_sure_finding(&self, answer: &Answer, number: usize) -> bool {
        let sure = |item: &crate::Evidence| {
            self.found.iter().any(|event| event.id == item.event && event.confidence >= SURE_PROBABILITY)
        };
        let closer = |tool| tool != Tool::IntervalLocaliser && self.results.has(number, tool);
        let closer = Tool::ALL.into_iter().any(closer);
        answer.answer.is_some() && closer && answer.evidence.first().is_some_and(sure)
    }

    fn stop_reason(&self, iteration: usize, unchanged: usize) -> Option<Stopped> {
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

    /// Calls one tool and records its findings. Returns them in words, and whether recall has new events to decide on.
    fn call_tool(
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
        let things = belief.asked_things();
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
                // A look without sightings is no evidence of absence.
                return Ok((error.to_string(), false));
            }
        };
        self.sensory.hold(&look);
        let known = views.read(|reader| Ok(KnownEvents::read(interval, reader)?))?;
        let mut seen: Vec<(usize, f32)> = Vec::new();
        let mut names: Vec<String> = Vec::new();
        let before = self.found.len();
        for sighting in &look.sightings {
            let meant = belief.matching_terms(sighting);
            let wanted = !meant.is_empty() || belief.asks_for(sighting.kind);
            let probability = match meant.is_empty() {
                _ if sighting.kind == SightingKind::Place => self.known_places.probability(),
                true => calibration::sighting_probability(tool, sighting),
                false => calibration::probability_with_prior(tool, sighting, belief.prior_of(&meant, interval)),
            };
            seen.extend(meant.iter().map(|(term, likeness)| (*term, probability * likeness)));
            if !meant.is_empty() {
                names.push(format!("{} {probability:.2}", sighting.label));
            }
            // A scene tells which interval it is; as evidence it is wrong too often (docs/benchmarks.md).
            if sighting.kind == SightingKind::Scene {
                continue;
            }
            let is_known = || self.known_places.has_place(number, interval, sighting.stream);
            if sighting.kind == SightingKind::Place && is_known() {
                continue;
            }
            let place = (tool, self.query.question.as_str(), self.found.len());
            let event = finding::derive_event(sighting, probability, wanted, place, interval, &known);
            let is_new = |event: &Event| !self.found.iter().any(|other| same_thing(other, event));
            if let Some(event) = event.filter(is_new)
                && self.found.len() < MAX_FOUND
            {
                self.faces.extend(sighting.vector.clone().map(|vector| (self.found.len(), vector)));
                self.found.push(event);
            }
        }
        if belief.asks_for(SightingKind::Place) {
            for event in places::thing_places(&self.found, &known, |label| belief.matches_question(label)) {
                if self.found.len() < MAX_FOUND && !self.found.iter().any(|other| same_thing(other, &event)) {
                    let id = finding::found_id(self.found.len());
                    self.found.push(Event { id, ..event });
                }
            }
        }
        let place_found = self.found[before..].iter().any(|event| event.attributes.contains_key("place"));
        if !self.results.forgets {
            belief.record(number, tool, calibration::tool_recall(tool), &seen);
            belief.record_place(number, tool, calibration::tool_recall(tool), place_found);
        }
        for line in &look.degraded {
            if !self.degraded.contains(line) {
                self.degraded.push(line.clone());
            }
        }
        self.sensory.clear();
        let vectors = views.read(|reader| Ok(beside::embed_events(reader, &self.found[before..])))?;
        self.vectors.extend(vectors);
        let new = self.found.len() - before;
        let seen = if names.is_empty() { "nothing that the question names".to_owned() } else { names.join(", ") };
        let looked = match tool {
            Tool::Transcriber => format!("{} sentences", look.sightings.len()),
            _ => format!("{} pictures", look.pictures),
        };
        Ok((format!("{looked}: {seen}; {new} new"), new > 0))
    }

    pub fn finish(mut self, mut answer: Answer, stopped: Stopped, begin: Duration) -> Reasoned {
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

/// Returns the share of each interval's speech without a transcript in the memory.
pub(super) fn wordless_shares(places: &[Interval], reader: &dyn Reader) -> Result<Vec<f32>, QueryError> {
    places.iter().map(|interval| Ok(KnownEvents::read(interval, reader)?.wordless_share())).collect()
}

/// Returns whether two findings are one thing that two tools saw.
pub(super) fn same_thing(a: &Event, b: &Event) -> bool {
    a.text == b.text
        && a.media == b.media
        && a.stream.zip(b.stream).is_some_and(|(a, b)| a.start <= b.end && b.start <= a.end)
}
