//! What was found by looking at a recording again, from the tool to the store and the second asking.

use std::time::Duration;

use memory_core::reasoning::{
    Look, LookError, LookOrder, Reach, ReasoningOptions, Sighting, SightingKind, StepNews, Tool, Tools, Watch,
};
use memory_core::{
    EpisodeId, EventId, FactFilter, ForgetRequest, Modality, Observation, ObserveOutcome, Query, Route, StreamSpan,
    TimeSpan,
};

use crate::support::{Bench, accepted, at, rejected, segment};

/// Sees a bicycle in the second segment.
struct Bicycle;

impl Tools for Bicycle {
    fn reach(&self, tool: Tool) -> Reach {
        let sees = matches!(tool, Tool::IntervalLocaliser | Tool::SceneSnapper);
        let seen = sees.then(|| (Modality::Visual, "bicycle".to_owned()));
        Reach { labels: seen.into_iter().collect(), ..Reach::default() }
    }

    fn look(&self, order: &LookOrder<'_>) -> Result<Look, LookError> {
        let stream = StreamSpan { start: Duration::from_secs(21), end: Duration::from_secs(26) };
        let inside = stream.start < order.stream.end && order.stream.start < stream.end;
        let bicycle = Sighting {
            kind: SightingKind::Object,
            label: "bicycle".to_owned(),
            text: "A blue bicycle is in view on the left.".to_owned(),
            score: 0.95,
            share: 0.9,
            count: 1,
            colours: vec!["blue".to_owned()],
            stream,
            vector: None,
        };
        Ok(Look { sightings: inside.then_some(bicycle).into_iter().collect(), pictures: 30, ..Look::default() })
    }
}

struct Quiet;

impl Watch for Quiet {
    fn step(&self, _: &StepNews) {}
}

fn yard() -> Bench {
    let bench = Bench::new();
    bench.clock.advance(Duration::from_secs(100));
    for (start, end, text) in [
        (0, 8, "The scene looks like a kitchen."),
        (20, 28, "The scene looks like a yard."),
        (40, 48, "The scene looks like a hall."),
    ] {
        bench.perceive(segment(start, end, &[text]));
    }
    bench
}

fn question() -> Query {
    Query { question: "What colour was the bicycle in the yard?".into(), ..Query::default() }
}

fn looked(bench: &Bench) -> memory_core::reasoning::Reasoned {
    bench.memory.reason(&question(), &Bicycle, &ReasoningOptions::default(), None, &Quiet).unwrap()
}

fn write_back(bench: &Bench) -> Vec<ObserveOutcome> {
    let findings = looked(bench).findings();
    bench.memory.observe(findings.into_iter().map(Observation::Looked).collect()).unwrap()
}

#[test]
fn looking_alone_changes_nothing() {
    let bench = yard();
    let before = (bench.memory.stats().seq, bench.events());
    let reasoned = looked(&bench);
    assert_eq!(reasoned.answer.route, Route::Agentic, "{reasoned:?}");
    assert_eq!(reasoned.found.len(), 1);
    assert_eq!((bench.memory.stats().seq, bench.events()), before);
}

#[test]
fn what_was_found_joins_the_episode_that_shows_it_and_the_memory_then_answers_the_same() {
    let bench = yard();
    let first = looked(&bench).answer;
    let (episode, opened, events) = accepted(write_back(&bench).remove(0));
    assert!(!opened);
    let event = bench.memory.event(events[0]).unwrap().unwrap();
    assert!(event.is_looked() && event.episode == episode);
    assert_eq!(event.stream.map(|stream| stream.start), Some(Duration::from_secs(21)));
    assert_eq!(event.media, bench.events()[1].media, "it points to the recording");
    let yard = bench.events().into_iter().find(|event| event.text.contains("yard")).unwrap();
    assert_eq!(yard.episode, episode);
    let second = bench.memory.ask(&question()).unwrap();
    assert_eq!((second.answer, second.choice), (first.answer, first.choice));
    assert!(second.evidence.iter().any(|item| item.event == events[0]));
    bench.assert_clean();
}

#[test]
fn finding_it_again_adds_nothing() {
    let bench = yard();
    let finding = looked(&bench).findings().remove(0);
    let (.., events) = accepted(bench.memory.observe(vec![Observation::Looked(finding.clone())]).unwrap().remove(0));
    let again = bench.memory.observe(vec![Observation::Looked(finding)]).unwrap().remove(0);
    assert_eq!(again, ObserveOutcome::Duplicate { of: Some(events[0]) });
    assert!(looked(&bench).found.is_empty(), "memory has it now");
}

#[test]
fn it_is_no_fact_and_no_summary_and_it_survives_a_restart() {
    let mut bench = yard();
    let (.., events) = accepted(write_back(&bench).remove(0));
    while bench.memory.learn_pending(1000).unwrap().has_lessons() {}
    let facts = bench.memory.facts(&FactFilter::default()).unwrap();
    assert!(facts.iter().all(|fact| !format!("{fact:?}").contains("bicycle")), "{facts:?}");
    bench.reopen();
    assert!(bench.memory.event(events[0]).unwrap().is_some());
    bench.assert_clean();
}

#[test]
fn it_is_forgotten_with_the_episode_and_does_not_come_back() {
    let bench = yard();
    let finding = looked(&bench).findings().remove(0);
    let (episode, _, events) =
        accepted(bench.memory.observe(vec![Observation::Looked(finding.clone())]).unwrap().remove(0));
    bench.memory.forget(&ForgetRequest::Episodes(vec![episode])).unwrap();
    assert_eq!(bench.memory.event(events[0]).unwrap(), None);
    let late = bench.memory.observe(vec![Observation::Looked(finding.clone())]).unwrap().remove(0);
    assert!(rejected(late).contains("forgotten"));
    let unknown = memory_core::Looked { episode: EpisodeId(9_999), ..finding };
    assert!(
        rejected(bench.memory.observe(vec![Observation::Looked(unknown)]).unwrap().remove(0)).contains("forgotten")
    );
    assert_eq!(bench.memory.event(EventId(events[0].0)).unwrap(), None);
    bench.assert_clean();
}

#[test]
fn what_was_seen_in_a_span_that_is_forgotten_meanwhile_is_refused() {
    let bench = yard();
    let finding = looked(&bench).findings().remove(0);
    // A part of the segment, so that its episode stays.
    let span = TimeSpan::new(at(22), at(24));
    bench.memory.forget(&ForgetRequest::Span(span)).unwrap();
    let outcome = bench.memory.observe(vec![Observation::Looked(finding)]).unwrap().remove(0);
    assert!(rejected(outcome).contains("forgotten"));
}
