//! Answers with the reply to an earlier, equal question: "How old is he now?" – "Seven months."

use crate::language::english::question::{AnswerKind, ParsedQuestion, parse_question};
use crate::language::english::reply::is_yes;
use crate::language::english::time::{tense_of, time_phrases};
use crate::recall::candidate::{Candidate, CandidateValue, Layer, Signals};
use crate::recall::likeness::best_phrase_similarity;
use crate::recall::pool::{EventPool, REPLY_WINDOW, RetrievedEvent};
use crate::recall::question::Question;
use crate::{Kind, ReadError, TimeSpan};

/// Minimum coverage of the question by an earlier question.
const MIN_QUESTION_COVERAGE: f32 = 0.65;
/// Minimum similarity of the things that the two questions name.
const MIN_THING_SIMILARITY: f32 = 0.7;
/// Maximum number of texts after a question that are searched for its reply.
const MAX_FOLLOWING_TEXTS: usize = 4;
/// Maximum length of a reply that is an answer, in bytes.
const MAX_REPLY_BYTES: usize = 240;

/// Answers with the reply to an earlier question of somebody.
pub(in crate::recall) fn answer(
    pool: &EventPool<'_>,
    found: &[RetrievedEvent],
) -> Result<Option<Candidate>, ReadError> {
    let question = pool.question;
    if question.asked.cue.is_some() || question.asked.occurrence.is_some() || question.query.options.len() > 1 {
        return Ok(None);
    }
    let mut asked: Vec<&RetrievedEvent> = found
        .iter()
        .filter(|found| found.reading.event.kind == Kind::Text && found.coverage.of_content >= MIN_QUESTION_COVERAGE)
        .filter(|found| found.reading.sentences.last().is_some_and(|sentence| sentence.asks))
        .filter(|found| {
            question.named.iter().all(|thing| best_phrase_similarity(thing, &found.reading) >= MIN_THING_SIMILARITY)
        })
        .filter(|found| asks_the_same(question, found))
        .collect();
    // The latest reply holds.
    asked.sort_by_key(|found| std::cmp::Reverse((found.span().start, found.id())));
    for before in asked {
        if let Some(reply) = find_reply(pool, before)? {
            return Ok(reply_candidate(question, before, reply));
        }
    }
    Ok(None)
}

/// Returns whether an earlier question asks for the same.
fn asks_the_same(question: &Question<'_>, found: &RetrievedEvent) -> bool {
    let Some(sentence) = found.reading.sentences.last() else { return false };
    let text = found.reading.text(&sentence.range);
    let times = time_phrases(text, &question.now, None, tense_of(text));
    let ranges: Vec<_> = times.iter().map(|phrase| phrase.range.clone()).collect();
    let before: ParsedQuestion = parse_question(text, &ranges);
    let head = |asked: &ParsedQuestion| asked.class.as_ref().map(|class| class.head.clone());
    let alike = match (question.ask(), before.ask) {
        (AnswerKind::Thing, AnswerKind::Thing) => head(&question.asked) == head(&before),
        (AnswerKind::Truth, AnswerKind::Truth) => before.alternatives.is_empty(),
        (now, then) => now == then,
    };
    alike
        && !matches!(
            question.ask(),
            AnswerKind::Summary
                | AnswerKind::Change
                | AnswerKind::Next
                | AnswerKind::Way
                | AnswerKind::Action
                | AnswerKind::Description
        )
        && question.asked.negated == before.negated
}

/// Returns what another person said next.
fn find_reply(pool: &EventPool<'_>, asked: &RetrievedEvent) -> Result<Option<RetrievedEvent>, ReadError> {
    let end = asked.span().end;
    let span = TimeSpan { start: asked.span().start, end: end.saturating_add(REPLY_WINDOW) };
    let texts = pool.events_in_time_order(
        Some(span),
        None,
        vec![Kind::Text],
        false,
        MAX_FOLLOWING_TEXTS,
        &pool.question.content,
    )?;
    let own = asked.reading.event.entity.as_deref();
    let mut behind =
        texts.into_iter().filter(|found| (found.span().start, found.id()) > (asked.span().start, asked.id()));
    let next = behind.find(|found| found.reading.event.entity.as_deref() != own);
    Ok(next.filter(|found| !found.reading.only_asks() && found.reading.event.text.len() <= MAX_REPLY_BYTES))
}

fn reply_candidate(question: &Question<'_>, asked: &RetrievedEvent, reply: RetrievedEvent) -> Option<Candidate> {
    let text = reply.reading.event.text.clone();
    let (text, value) = match question.ask() {
        AnswerKind::Truth => {
            let yes = is_yes(&text)?;
            (format!("{}: {text}", if yes { "Yes" } else { "No" }), CandidateValue::Truth(yes))
        }
        _ => (text.clone(), CandidateValue::Text(text)),
    };
    Some(Candidate {
        layer: Layer::Episodes,
        text,
        value,
        signals: Signals {
            coverage: asked.coverage.of_content,
            cosine: asked.cosine.unwrap_or(0.0),
            margin: 1.0,
            fits: 1.0,
            thing: 1.0,
            known: question.content.known_share(),
        },
        evidence: vec![reply, asked.clone()],
        confidence: 0.0,
        computed: false,
        reason: "what was replied when somebody asked the same".into(),
    })
}
