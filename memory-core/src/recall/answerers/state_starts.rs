//! Answers when a state began, when somebody came back, or when an announced deed was done: times that need more than
//! one event.

use crate::language::english::letters::capitalised;
use crate::language::english::lexicon::{self, Category, PartOfSpeech};
use crate::language::english::question::Occurrence;
use crate::language::english::states::{StateScale, state_of_word};
use crate::language::english::syntax::{Clause, NounKind, NounPhrase};
use crate::language::english::time::{Tense, TimeRelation, say_day, say_moment};
use crate::recall::candidate::{Candidate, CandidateValue, Layer};
use crate::recall::clause_selection::relevant_clauses;
use crate::recall::content::verb_similarity;
use crate::recall::likeness::{best_phrase_similarity, phrase_similarity};
use crate::recall::pool::{EventPool, RetrievedEvent, merge};
use crate::recall::question::ROBOT_ENTITY;
use crate::recall::reading::{ParsedEvent, is_person, name_phrase};
use crate::recall::stance::{clause_words, concerns, stance, subject_leaves};
use crate::{Kind, ReadError, TimeSpan, Timestamp};

/// Maximum number of events of the thing or the person that are read.
const MAX_SUBJECT_EVENTS: usize = 300;
/// Similarity below which a phrase names another person.
const MIN_PERSON_SIMILARITY: f32 = 0.7;
/// Minimum coverage of the question by a text that answers it.
const MIN_ANSWER_COVERAGE: f32 = 0.5;
/// Time before and after the announced time in which an announced deed may be done.
const ANNOUNCEMENT_WINDOW: std::time::Duration = std::time::Duration::from_secs(2 * 3_600);

/// Answers with the time, if it takes more than one event to know it.
pub(super) fn answer(
    pool: &EventPool<'_>,
    pooled: &[RetrievedEvent],
    best: Option<&RetrievedEvent>,
) -> Result<Option<Candidate>, ReadError> {
    let question = pool.question;
    if question.tense != Tense::Past || question.asked.cue.is_some() {
        return Ok(None);
    }
    if let Some(candidate) = answer_not_since(pool, pooled) {
        return Ok(Some(candidate));
    }
    let chosen = match state_onset(pool)? {
        Some(found) => Some((found, "what told first that it was so")),
        None => match return_event(pool)? {
            Some(found) => Some((found, "the first that was known of them afterwards")),
            None => match departure_event(pool)? {
                Some(found) => Some((found, "the last that was seen of them going")),
                None => announced_deed(pool, best)?.map(|found| (found, "when what was announced was done")),
            },
        },
    };
    let Some((found, reason)) = chosen else { return Ok(None) };
    let at = found.span().start;
    let text = capitalised(&say_moment(at, &question.now));
    let value = CandidateValue::Times(vec![found.span()]);
    Ok(Some(Candidate::computed(
        Layer::Episodes,
        text,
        value,
        vec![found],
        question.content.known_share(),
        reason.into(),
    )))
}

/// Answers when something was done last by "it has not been oiled since June".
fn answer_not_since(pool: &EventPool<'_>, pooled: &[RetrievedEvent]) -> Option<Candidate> {
    let question = pool.question;
    if question.asked.occurrence != Some(Occurrence::Last) {
        return None;
    }
    let verb = question.asked.clause.verb.as_ref().filter(|verb| !verb.auxiliary_only)?;
    let told =
        pooled.iter().filter(|found| found.coverage.of_content >= MIN_ANSWER_COVERAGE && !found.reading.only_asks());
    let (time, found) = told.max_by_key(|found| (found.span().start, found.id())).and_then(|found| {
        let denied = found.reading.clauses().find(|clause| {
            clause.verb.as_ref().is_some_and(|told| {
                told.negated && told.perfect && verb_similarity(verb, told) >= MIN_PERSON_SIMILARITY
            })
        })?;
        let since = found
            .reading
            .times
            .iter()
            .find(|time| time.relation == TimeRelation::Since && time.range.start >= denied.range.start)?;
        Some((since.span, found))
    })?;
    let zone = question.now.time_zone();
    let day = time.start.to_jiff().to_zoned(zone.clone());
    let text = capitalised(&say_day(day.timestamp().into(), &question.now));
    Some(Candidate::computed(
        Layer::Episodes,
        text,
        CandidateValue::Times(vec![time]),
        vec![found.clone()],
        question.content.known_share(),
        "not since then, as was told".into(),
    ))
}

/// Returns the events of a person or a thing, in time order.
fn subject_events(pool: &EventPool<'_>, thing: &NounPhrase) -> Result<Vec<RetrievedEvent>, ReadError> {
    let question = pool.question;
    let mut all = merge(
        pool.events_about(thing, question.bound(), true, MAX_SUBJECT_EVENTS, &question.content)?,
        pool.events_mentioning(thing, question.bound(), true, MAX_SUBJECT_EVENTS, &question.content)?,
    );
    all.retain(|found| !found.reading.only_asks());
    all.sort_by_key(|found| (found.span().start, found.id()));
    Ok(all)
}

/// Returns the first event that reports a state, after the last one that denies it: "when did she fall ill?", "when did
/// the light come back?".
fn state_onset(pool: &EventPool<'_>) -> Result<Option<RetrievedEvent>, ReadError> {
    let question = pool.question;
    let clause = &question.asked.clause;
    let Some(verb) = &clause.verb else { return Ok(None) };
    let Some(thing) = clause.subject.as_ref().filter(|subject| !subject.is_pronoun()) else { return Ok(None) };
    let becomes =
        verb.auxiliary_only || matches!(verb.lemma.as_str(), "get" | "become" | "fall" | "go" | "turn" | "feel");
    let told = clause.complements.iter().map(|(word, _)| word.as_str()).find(|word| state_of_word(word).is_some());
    // "When was it mended?": when it was first known to work again.
    let mended = verb.passive && matches!(state_of_word(&verb.lemma), Some((StateScale::Working, true)));
    let told = told.or(mended.then_some(verb.lemma.as_str()));
    let becomes = becomes || mended;
    if let Some(told) = told.filter(|_| becomes && clause.objects.is_empty()) {
        let mut held = false;
        let mut began = None;
        for found in subject_events(pool, thing)?.into_iter().filter(|found| concerns(thing, &found.reading)) {
            match stance(told, thing, clause, &found.reading) {
                Some(true) if !held => {
                    held = true;
                    began = Some(found);
                }
                Some(true) | None => {}
                Some(false) => held = false,
            }
        }
        // A repair that was observed after the fault was reported.
        if began.is_none() && mended {
            let all = subject_events(pool, thing)?;
            let broken = all.iter().filter(|found| {
                stance("broken", thing, clause, &found.reading) == Some(true) || reports_noise(thing, &found.reading)
            });
            let Some(last) = broken.map(|found| found.span().end).max() else { return Ok(None) };
            let dealt = |found: &&RetrievedEvent| {
                let seen =
                    matches!(found.reading.event.kind, Kind::Action | Kind::Caption) && found.span().start > last;
                seen && found.reading.clauses().any(|clause| {
                    clause.verb.as_ref().is_some_and(|verb| !verb.negated)
                        && clause
                            .objects
                            .iter()
                            .any(|object| phrase_similarity(thing, object, &found.reading) >= MIN_PERSON_SIMILARITY)
                })
            };
            return Ok(all.iter().find(dealt).cloned());
        }
        return Ok(began);
    }
    let back = verb.particle.as_deref() == Some("back") || clause.complements.iter().any(|(word, _)| word == "back");
    if !back || is_person(thing) || !matches!(verb.lemma.as_str(), "come" | "be" | "go" | "get") {
        return Ok(None);
    }
    let all = subject_events(pool, thing)?;
    let again = |found: &&RetrievedEvent| {
        best_phrase_similarity(thing, &found.reading) >= MIN_PERSON_SIMILARITY
            && crate::index::words(&found.reading.event.text).any(|word| word == "again" || word == "back")
    };
    Ok(all.iter().rev().find(again).cloned())
}

/// Returns whether somebody reports that a thing makes a noise.
fn reports_noise(thing: &NounPhrase, reading: &ParsedEvent) -> bool {
    reading.event.kind == Kind::Text
        && reading.clauses().any(|clause| {
            let own = clause
                .subject
                .as_ref()
                .is_some_and(|subject| phrase_similarity(thing, subject, reading) >= MIN_PERSON_SIMILARITY);
            own && clause
                .objects
                .iter()
                .any(|object| lexicon::is_a_as(&object.head, "sound", PartOfSpeech::Noun).is_some())
        })
}

/// Returns the event that reports a person's return, else the first deed of the person after leaving: "when did he get
/// back from the library?".
fn return_event(pool: &EventPool<'_>) -> Result<Option<RetrievedEvent>, ReadError> {
    let question = pool.question;
    let clause = &question.asked.clause;
    let Some(verb) = clause.verb.as_ref().filter(|verb| is_arrival_verb(&verb.lemma)) else { return Ok(None) };
    let back =
        verb.lemma == "return" || verb.particle.iter().map(String::as_str).chain(clause_words(clause)).any(is_home);
    let Some(person) = clause.subject.as_ref().filter(|subject| back && is_person(subject)) else { return Ok(None) };
    let all = subject_events(pool, person)?;
    let from = clause.adjuncts.iter().find(|adjunct| adjunct.preposition.ends_with("from")).map(|from| &from.noun);
    let goes = |found: &&RetrievedEvent| {
        clauses_about(person, &found.reading).any(|clause| {
            let moves = clause.verb.as_ref().is_some_and(|verb| {
                lexicon::category(&verb.lemma, PartOfSpeech::Verb) == Some(Category::MotionVerb) && !verb.negated
            });
            let mut towards =
                clause.adjuncts.iter().filter(|adjunct| matches!(adjunct.preposition.as_str(), "to" | "for" | "into"));
            moves
                && towards.any(|to| {
                    from.is_none_or(|from| phrase_similarity(from, &to.noun, &found.reading) >= MIN_PERSON_SIMILARITY)
                })
        })
    };
    let Some(left) = all.iter().rev().find(goes) else { return Ok(None) };
    let later: Vec<&RetrievedEvent> = all.iter().filter(|found| found.span().start > left.span().end).collect();
    let arrives = |found: &&&RetrievedEvent| {
        clauses_about(person, &found.reading).any(|clause| {
            let verb = clause.verb.as_ref().filter(|verb| is_arrival_verb(&verb.lemma) && !verb.negated);
            verb.is_some_and(|verb| {
                verb.lemma == "return"
                    || verb.particle.iter().map(String::as_str).chain(clause_words(clause)).any(is_home)
            })
        })
    };
    let own = |found: &&&RetrievedEvent| {
        found.reading.event.entity.as_deref().is_some_and(|entity| {
            phrase_similarity(person, &name_phrase(entity), &found.reading) >= MIN_PERSON_SIMILARITY
        })
    };
    Ok(later.iter().find(arrives).or_else(|| later.iter().find(own)).map(|found| (*found).clone()))
}

/// Returns the last event that reports a departure, by whatever means: "when did he leave?".
fn departure_event(pool: &EventPool<'_>) -> Result<Option<RetrievedEvent>, ReadError> {
    let question = pool.question;
    let clause = &question.asked.clause;
    let asks = clause.verb.as_ref().is_some_and(|verb| {
        matches!(verb.lemma.as_str(), "leave" | "depart")
            || verb.lemma == "go" && verb.particle.as_deref() == Some("away")
    });
    let Some(person) = clause.subject.as_ref().filter(|subject| asks && is_person(subject)) else { return Ok(None) };
    if !clause.objects.is_empty() || !clause.adjuncts.is_empty() {
        return Ok(None);
    }
    let all = subject_events(pool, person)?;
    let goes = |found: &&RetrievedEvent| {
        found.reading.event.kind != Kind::Text && clauses_about(person, &found.reading).any(subject_leaves)
    };
    Ok(all.iter().rev().find(goes).cloned())
}

fn is_arrival_verb(verb: &str) -> bool {
    matches!(verb, "come" | "get" | "return" | "be" | "arrive")
}

fn is_home(word: &str) -> bool {
    matches!(word, "back" | "home" | "in" | "inside")
}

/// Returns the clauses about what a person does.
fn clauses_about<'r>(person: &'r NounPhrase, reading: &'r ParsedEvent) -> impl Iterator<Item = &'r Clause> {
    reading.clauses().filter(move |clause| {
        let subject = clause.subject.as_ref().and_then(|subject| reading.resolve(subject));
        subject.is_some_and(|subject| {
            subject.coordinated().any(|noun| phrase_similarity(person, noun, reading) >= MIN_PERSON_SIMILARITY)
        })
    })
}

/// Returns the deed that an announcement refers to: the first one that the announced person did near the announced
/// time. "When did the vet come?"
fn announced_deed(pool: &EventPool<'_>, best: Option<&RetrievedEvent>) -> Result<Option<RetrievedEvent>, ReadError> {
    let question = pool.question;
    let announces = |found: &&RetrievedEvent| {
        let telling = relevant_clauses(question, &found.reading);
        let past = telling.iter().filter_map(|clause| clause.verb.as_ref()).any(|verb| verb.past || verb.perfect);
        found.reading.event.kind == Kind::Text && !past
    };
    let Some(announced) = best.filter(announces) else { return Ok(None) };
    let told_at = announced.span().end;
    let Some(time) = announced.reading.times.iter().find(|time| time.span.end > told_at) else { return Ok(None) };
    let around = TimeSpan {
        start: time.span.start.saturating_sub(ANNOUNCEMENT_WINDOW),
        end: time.span.end.saturating_add(ANNOUNCEMENT_WINDOW),
    };
    let now = Timestamp::from(question.now.timestamp());
    // By name, or by the name behind the role in the question.
    let mut persons = question.named.iter().filter(|noun| {
        noun.kind == NounKind::Name && is_person(noun) || noun.range.is_empty() && noun.head != ROBOT_ENTITY
    });
    let Some(person) = persons.next_back() else { return Ok(None) };
    let acts = |found: &&RetrievedEvent| {
        let event = &found.reading.event;
        let own = event.entity.as_deref().is_some_and(|entity| {
            phrase_similarity(person, &name_phrase(entity), &found.reading) >= MIN_PERSON_SIMILARITY
        });
        let seen = matches!(event.kind, Kind::Action | Kind::Caption);
        own && seen && found.span().start > told_at && found.span().start <= now && around.contains(found.span().start)
    };
    Ok(subject_events(pool, person)?.iter().find(acts).cloned())
}
