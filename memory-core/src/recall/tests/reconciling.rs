//! Candidates that agree, disagree, exclude each other, or are too little, in any order.

use std::sync::Arc;

use super::contract::MORNING;
use super::home::home;
use crate::index::SearchQuery;
use crate::recall::candidate::{Candidate, CandidateValue, Layer, Signals};
use crate::recall::content::Content;
use crate::recall::decision::{AnswerDecision, decide};
use crate::recall::pool::RetrievedEvent;
use crate::recall::question::Question;
use crate::recall::reader::Reader;
use crate::recall::reading::ParsedEvent;
use crate::{Ablation, Intent, Query, TraceStep};

fn candidate(layer: Layer, text: &str, value: CandidateValue, confidence: f32) -> Candidate {
    let signals = Signals { fits: 1.0, ..Signals::default() };
    let evidence = Vec::new();
    Candidate {
        layer,
        text: text.into(),
        value,
        evidence,
        signals,
        confidence,
        computed: false,
        reason: "it was told".into(),
    }
}

fn text(layer: Layer, text: &str, confidence: f32) -> Candidate {
    candidate(layer, text, CandidateValue::Text(text.into()), confidence)
}

fn quotation(text_: &str, confidence: f32) -> Candidate {
    let signals = Signals { fits: 0.1, ..Signals::default() };
    Candidate { signals, ..text(Layer::CrossModal, text_, confidence) }
}

fn decided(candidates: Vec<Candidate>, ablation: Ablation) -> (Result<Candidate, String>, Vec<TraceStep>) {
    decided_for("Who walks the dog?", candidates, ablation)
}

fn decided_for(
    asked: &str,
    candidates: Vec<Candidate>,
    ablation: Ablation,
) -> (Result<Candidate, String>, Vec<TraceStep>) {
    let home = home(MORNING);
    let query = Query { question: asked.into(), ablation, ..Query::default() };
    let now = home.clock().now().to_jiff().to_zoned(home.zone().clone());
    let question = Question::parse(&query, now, home.search(), None);
    let mut trace = Vec::new();
    let decision = decide(&question, candidates, Intent::Factual, None, &mut trace);
    let decision = match decision {
        AnswerDecision::Answered(best) => Ok(best),
        AnswerDecision::None { reason, .. } => Err(reason),
    };
    (decision, trace)
}

fn answered(candidates: Vec<Candidate>) -> Candidate {
    decided(candidates, Ablation::default()).0.unwrap()
}

#[test]
fn the_more_detailed_of_those_that_agree_is_told_with_more_confidence() {
    let best = answered(vec![text(Layer::Episodes, "Tove", 0.8), text(Layer::Facts, "Tove, every morning", 0.5)]);
    assert_eq!((best.text.as_str(), best.layer), ("Tove, every morning", Layer::Facts));
    assert!((best.confidence - 0.9).abs() < 1e-6, "{}", best.confidence);
}

#[test]
fn the_same_number_in_words_and_digits_agrees_and_one_of_something_else_does_not() {
    let asked = "How many eggs are there?";
    let told = |texts: [&str; 2]| {
        let candidates = texts.map(|told| text(Layer::Episodes, told, 0.6)).to_vec();
        decided_for(asked, candidates, Ablation::default()).0.unwrap().confidence
    };
    let agreed = 1.0 - 0.4 * 0.4;
    for (texts, confidence) in
        [(["Five", "5"], agreed), (["Five eggs", "5"], agreed), (["Five", "Five minutes"], 0.6), (["Five", "Six"], 0.6)]
    {
        assert!((told(texts) - confidence).abs() < 1e-6, "{texts:?}: {}", told(texts));
    }
}

#[test]
fn a_quotation_bears_an_answer_out_and_is_not_told_for_it() {
    let best = answered(vec![quotation("Tove walks the dog to the lake.", 0.9), text(Layer::Facts, "Tove", 0.6)]);
    assert_eq!(best.text, "Tove");
    assert!((best.confidence - 0.96).abs() < 1e-6, "{}", best.confidence);
    let alone = answered(vec![quotation("Jonas feeds the cat.", 0.9), text(Layer::Facts, "Tove", 0.6)]);
    assert!((alone.confidence - 0.6).abs() < 1e-6, "what says something else changes nothing: {}", alone.confidence);
}

#[test]
fn words_are_as_sure_as_their_sentence_and_they_together() {
    let home = home(MORNING);
    let hits = home.search().search(&SearchQuery { limit: 10, ..SearchQuery::default() });
    let mut events = hits.into_iter().filter_map(|hit| home.event(hit.id).unwrap());
    let event = events.find(|event| event.text.contains("Leena")).unwrap();
    let sentence = event.text.clone();
    let reading = Arc::new(ParsedEvent::parse(event, home.zone()));
    let evidence = vec![RetrievedEvent::new(reading, 1.0, None, &Content::default())];
    let quoted = Candidate { evidence: evidence.clone(), ..text(Layer::Episodes, &sentence, 0.9) };
    let marked = |confidence| {
        let signals = Signals { fits: 0.8, ..Signals::default() };
        Candidate { evidence: evidence.clone(), signals, ..text(Layer::Read, "Turku", confidence) }
    };
    for (own, expected) in [(0.2, 0.9 * 0.8), (0.75, 0.75)] {
        let best = answered(vec![quoted.clone(), marked(own)]);
        assert_eq!(best.text, "Turku");
        assert!((best.confidence - expected).abs() < 1e-6, "{}", best.confidence);
    }
    let computed = answered(vec![Candidate { computed: true, ..quoted }, marked(0.2)]);
    assert_eq!(computed.text, sentence, "what several events tell is no quotation of one");
}

#[test]
fn two_that_agree_are_better_supported_than_one_that_does_not() {
    let candidates = || {
        vec![text(Layer::Episodes, "Jonas", 0.7), text(Layer::Facts, "Tove", 0.6), text(Layer::CrossModal, "Tove", 0.5)]
    };
    let best = answered(candidates());
    assert_eq!(best.text, "Tove");
    assert!(best.reason.contains("better supported"), "{}", best.reason);
    let likeliest = decided(candidates(), Ablation { without_reconciling: true, ..Ablation::default() }).0.unwrap();
    assert_eq!(likeliest.text, "Jonas");
}

#[test]
fn numbers_of_one_thing_exclude_each_other() {
    let number = |layer, number: f64, confidence| {
        candidate(layer, &number.to_string(), CandidateValue::Number(number, "egg".into()), confidence)
    };
    let (decision, trace) =
        decided(vec![number(Layer::Facts, 4.0, 0.8), number(Layer::Episodes, 6.0, 0.8)], Ablation::default());
    assert!(decision.unwrap_err().contains("contradicts itself"));
    assert_eq!(trace.iter().map(|step| step.step.as_str()).collect::<Vec<_>>(), ["contradiction"]);
    let best = answered(vec![number(Layer::Facts, 4.0, 0.9), number(Layer::Episodes, 6.0, 0.5)]);
    assert!(best.text == "4" && best.confidence < 0.9 && best.confidence > 0.5, "{best:?}");
    let same = answered(vec![number(Layer::Facts, 4.0, 0.8), number(Layer::Episodes, 4.0, 0.8)]);
    assert!((same.confidence - 0.96).abs() < 1e-6);
}

#[test]
fn verdicts_of_one_reader_are_no_independent_witnesses() {
    let truth = |layer| candidate(layer, "Yes", CandidateValue::Truth(true), 0.5);
    let by_reader = answered(vec![truth(Layer::Read), truth(Layer::Read)]);
    assert!((by_reader.confidence - 0.5).abs() < 1e-6, "{}", by_reader.confidence);
    let by_both = answered(vec![truth(Layer::Read), truth(Layer::Facts)]);
    assert!((by_both.confidence - 0.75).abs() < 1e-6, "{}", by_both.confidence);
}

#[test]
fn two_unlikely_answers_that_exclude_each_other_are_no_contradiction() {
    let truth = |yes, confidence| candidate(Layer::Episodes, "verdict", CandidateValue::Truth(yes), confidence);
    let (decision, trace) = decided(vec![truth(true, 0.49), truth(false, 0.45)], Ablation::default());
    assert!(decision.unwrap_err().contains("too unlike"));
    assert_eq!(trace[0].step, "disagreement");
}

#[test]
fn what_is_below_the_bar_is_too_little_even_beside_others() {
    let (decision, trace) =
        decided(vec![text(Layer::Episodes, "Jonas", 0.2), text(Layer::Facts, "Tove", 0.1)], Ablation::default());
    assert!(decision.is_err());
    assert_eq!(trace.last().map(|step| step.step.as_str()), Some("insufficiency"));
}
