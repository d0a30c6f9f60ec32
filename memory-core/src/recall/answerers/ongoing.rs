//! Answers what somebody is doing now, by what they were last seen to do: "what is the cat up to?".

use std::time::Duration;

use super::parts::MIN_PERSON_SIMILARITY;
use crate::language::english::closed::is_one_of;
use crate::language::english::letters::capitalised;
use crate::language::english::question::AnswerKind;
use crate::language::english::syntax::{Clause, NounPhrase};
use crate::language::english::time::Tense;
use crate::recall::candidate::{Candidate, CandidateValue, Layer};
use crate::recall::likeness::phrase_similarity;
use crate::recall::pool::{EventPool, RetrievedEvent, merge};
use crate::recall::question::Question;
use crate::recall::reading::{ParsedEvent, can_be_animal, is_person, name_phrase};
use crate::{Kind, ReadError, TimeSpan, Timestamp};

/// Longest time since something was seen that is still said of now.
const MAX_AGE: Duration = Duration::from_secs(3 * 3_600);
/// Time after which the moment is said with it.
const MIN_AGE_SAID: Duration = Duration::from_secs(10 * 60);
/// Maximum number of events of somebody that are read, the latest ones.
const MAX_EVENTS: usize = 50;

/// Answers with the clause that tells what somebody was last seen to do.
pub(in crate::recall) fn answer(pool: &EventPool<'_>) -> Result<Option<Candidate>, ReadError> {
    let question = pool.question;
    let Some(who) = asks_what_is_done(question) else { return Ok(None) };
    let now = Timestamp::from(question.now.timestamp());
    let until = question.hard.map_or(now, |hard| hard.end.min(now));
    let recent = TimeSpan::new(until.saturating_sub(MAX_AGE), until);
    let called = question.role_names.iter().filter(|(role, _)| *role == who.head).map(|(_, name)| name_phrase(name));
    let names: Vec<NounPhrase> = std::iter::once(who.clone()).chain(called).collect();
    let mut events: Vec<RetrievedEvent> = Vec::new();
    for name in &names {
        events = merge(events, pool.events_about(name, Some(recent), true, MAX_EVENTS, &question.content)?);
        events = merge(events, pool.events_mentioning(name, Some(recent), true, MAX_EVENTS, &question.content)?);
    }
    events.retain(|found| matches!(found.reading.event.kind, Kind::Caption | Kind::Action));
    events.sort_by_key(|found| std::cmp::Reverse((found.span().start, found.id())));
    let seen = events.iter().find_map(|found| Some((deed_in(&names, &found.reading)?, found)));
    let Some((deed, found)) = seen else { return Ok(None) };
    let age = now.since(found.span().end);
    let text = match age > MIN_AGE_SAID {
        true => {
            let at = found.span().start.to_jiff().to_zoned(question.now.time_zone().clone());
            format!("At {}: {deed}", at.strftime("%H:%M"))
        }
        false => capitalised(&deed),
    };
    let reason = "what they were last seen to do";
    let value = CandidateValue::Text(deed);
    Ok(Some(Candidate::computed(Layer::Episodes, text, value, vec![found.clone()], 1.0, reason.into())))
}

/// Returns whether a question asks what somebody is doing now, and an event cannot tell it: it was seen too long ago, or
/// says nothing that goes on. Who said today that they are staying in bed may still be there.
pub(in crate::recall) fn is_over(question: &Question<'_>, found: &RetrievedEvent) -> bool {
    let Some(who) = asks_what_is_done(question) else { return false };
    let now = Timestamp::from(question.now.timestamp());
    if !found.is_told() {
        return found.span().end < now.saturating_sub(MAX_AGE);
    }
    let reading = &found.reading;
    let goes_on = |clause: &Clause| {
        let subject = clause.subject.as_ref().and_then(|subject| reading.resolve(subject));
        clause.verb.as_ref().is_some_and(|verb| verb.progressive && !verb.negated && !verb.past)
            && subject.is_some_and(|subject| phrase_similarity(who, &subject, reading) >= MIN_PERSON_SIMILARITY)
    };
    let day = |at: Timestamp| at.to_jiff().to_zoned(question.now.time_zone().clone()).date();
    day(found.span().end) != day(now) || !reading.clauses().any(goes_on)
}

/// Returns of whom a question asks what they are doing now.
fn asks_what_is_done<'q>(question: &'q Question<'_>) -> Option<&'q NounPhrase> {
    let asked = &question.asked;
    let clause = &asked.clause;
    let verb = clause.verb.as_ref()?;
    let texts: Vec<&str> = asked.words.iter().map(|word| word.text.as_str()).collect();
    let does = verb.lemma == "do" && verb.progressive && !verb.past;
    let up_to = || verb.lemma == "be" && !verb.past && texts.windows(2).any(|two| two == ["up", "to"]);
    let open = matches!(question.ask(), AnswerKind::Action | AnswerKind::Thing | AnswerKind::Description);
    let plain = open && question.tense == Tense::Present && asked.cue.is_none() && !asked.habitual && !asked.negated;
    let who = clause.subject.as_ref().filter(|who| !who.is_pronoun())?;
    let acts = is_person(who) || can_be_animal(&who.head);
    let only =
        clause.objects.is_empty() && clause.adjuncts.iter().all(|it| is_one_of(&it.noun.head, &["moment", "now"]));
    (plain && only && acts && !ahead(question) && (does || up_to())).then_some(who)
}

/// Returns whether a question names a time to come: "what is she doing tomorrow?".
fn ahead(question: &Question<'_>) -> bool {
    let now = Timestamp::from(question.now.timestamp());
    question.boosted_spans().iter().any(|(span, _)| span.start > now || span.end < now)
}

/// Returns what somebody does in an event, in its own words: "sleeps in the armchair".
fn deed_in(names: &[NounPhrase], reading: &ParsedEvent) -> Option<String> {
    let is =
        |noun: &NounPhrase| names.iter().any(|name| phrase_similarity(name, noun, reading) >= MIN_PERSON_SIMILARITY);
    let own = |clause: &&Clause| {
        let subject = clause.subject.as_ref().and_then(|subject| reading.resolve(subject));
        clause.verb.is_some() && subject.is_some_and(|subject| subject.coordinated().any(is))
    };
    // Of several deeds the last one goes on.
    let clause = reading.clauses().filter(own).last()?;
    let start = clause.verb.as_ref()?.range.start;
    // The words up to the next clause with a subject of its own.
    let next = reading.clauses().find(|other| other.range.start >= clause.range.end && other.verb.is_some());
    let end = next.map_or(reading.event.text.len(), |next| next.range.start);
    let text = reading.event.text.get(start..end)?.trim();
    let text = text.trim_end_matches(['.', ',', ';', ' ']);
    let text =
        ["while", "and", "as"].iter().fold(text, |text, word| text.strip_suffix(word).unwrap_or(text).trim_end());
    let text = text.trim_end_matches(',');
    (!text.is_empty()).then(|| text.to_owned())
}
