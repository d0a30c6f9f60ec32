//! Answers with a summary of a time span, or of what is remembered about somebody or something.

use crate::episodic::gist::{Line, SUMMARY_WORDS, joined, summary};
use crate::index::stem;
use crate::language::english::closed::{PLACE_PREPOSITIONS, WORK_NOUNS, is_one_of};
use crate::language::english::lexicon::{self, Category, PartOfSpeech};
use crate::language::english::question::AnswerKind;
use crate::language::english::space::asks_robot_perception;
use crate::language::english::syntax::NounPhrase;
use crate::language::english::tag::Tag;
use crate::language::english::time::Tense;
use crate::recall::answerers::state_durations::absence_in_cue;
use crate::recall::candidate::{Candidate, CandidateValue, Layer};
use crate::recall::content::ContentItem;
use crate::recall::pool::{EventPool, RetrievedEvent, merge};
use crate::recall::question::{Question, ROBOT_ENTITY, spends_time};
use crate::recall::reading::{is_person, name_phrase};
use crate::{EventId, ReadError, TimeSpan, Timestamp};

/// Maximum number of events of a named thing that are read.
const MAX_THING_EVENTS: usize = 2_000;

/// Answers with a summary of the time and the things of the question.
pub(in crate::recall) fn answer(pool: &EventPool<'_>) -> Result<Option<Candidate>, ReadError> {
    let question = pool.question;
    // "Summarise 2 February": a day that is named without "on" is what is to be summarised.
    let day = || question.boosted_spans().first().map(|(span, _)| *span);
    let of_today = || question.named.is_empty() || asks_how_time_was(question) && question.named.iter().any(is_day);
    let bound = question.bound().or_else(day).or_else(|| of_today().then(|| today(question)));
    let named = |noun: &&NounPhrase| {
        question.content.items.iter().any(|item| item.documents > 0 && noun.lemmas().contains(&item.lemma.as_str()))
    };
    // If few events have a location, the whole time may have been at this place.
    let there: Vec<&NounPhrase> = places_where_it_happened(question).collect();
    let named = |noun: &&NounPhrase| {
        named(noun) && !names_time_or_recording(noun) && !there.iter().any(|place| place.range == noun.range)
    };
    let whose = owner_of_time(question);
    let mut lines = match (question.named.iter().find(named).or(whose.as_ref()), bound) {
        (Some(thing), _) => {
            let mut found = merge(
                pool.events_about(thing, bound, false, MAX_THING_EVENTS, &question.content)?,
                pool.events_mentioning(thing, bound, false, MAX_THING_EVENTS, &question.content)?,
            );
            // Whom the question calls by a role: "the plumber" is Tamm.
            let called = |name: &&NounPhrase| name.range.is_empty() && name.head != ROBOT_ENTITY;
            let roles = question.role_names.iter().filter(|(role, _)| *role == thing.head);
            let named = question.named.iter().filter(|_| is_person(thing)).filter(called).cloned();
            for name in named.chain(roles.map(|(_, name)| name_phrase(name))) {
                let own = pool.events_about(&name, bound, false, MAX_THING_EVENTS, &question.content)?;
                found = merge(found, own);
            }
            let suits = |found: &RetrievedEvent| whose.is_some() || found.coverage.of_content > 0.2;
            found.retain(|found| suits(found) && !found.reading.only_asks());
            // What somebody says is all of them; others say other things too.
            let topic: Vec<String> = thing.lemmas().into_iter().map(stem).collect();
            let own = |found: &RetrievedEvent| {
                found
                    .reading
                    .entity_phrase()
                    .is_some_and(|own| own.lemmas().iter().any(|word| topic.contains(&stem(word))))
            };
            let topic_of = |found: &RetrievedEvent| if own(found) { &[][..] } else { &topic[..] };
            joined(found.iter().filter_map(|found| Line::about(&found.reading.event, topic_of(found))))
        }
        (None, Some(bound)) => pool.reader.lines(bound)?,
        // "The session" and "the recording" are no thing that memory knows, but all of it.
        (None, None) if question.named.iter().all(names_time_or_recording) => {
            let all = TimeSpan::new(Timestamp::from_micros(i64::MIN), Timestamp::from_micros(i64::MAX));
            pool.reader.lines(all)?
        }
        (None, None) => return Ok(None),
    };
    if let Some(sense) = question.sense {
        lines.retain(|line| line.topic.sense() == sense);
    }
    summarised(pool, &lines)
}

/// Returns the summary of lines.
fn summarised(pool: &EventPool<'_>, lines: &[Line]) -> Result<Option<Candidate>, ReadError> {
    let question = pool.question;
    let Some((text, told)) = summary(lines, SUMMARY_WORDS, pool.reader.zone()) else { return Ok(None) };
    let mut sources: Vec<EventId> = told.iter().filter_map(|line| line.sources.first().copied()).collect();
    sources.dedup();
    let evidence = pool.read(&sources, &question.content)?;
    Ok(Some(Candidate::computed(
        Layer::Gists,
        text.clone(),
        CandidateValue::Text(text),
        evidence,
        question.content.known_share(),
        format!("{} of {} things that happened", told.len(), lines.len()),
    )))
}

/// Answers what happened while somebody was away, with a summary of that time.
pub(in crate::recall) fn of_absence(
    pool: &EventPool<'_>,
    pooled: &[RetrievedEvent],
) -> Result<Option<Candidate>, ReadError> {
    let question = pool.question;
    let open = matches!(question.ask(), AnswerKind::Action | AnswerKind::Thing | AnswerKind::Summary)
        && !question.query.ablation.without_gists;
    if !open || question.asked.class.is_some() || !question.content.items.iter().all(|item| item.light || happens(item))
    {
        return Ok(None);
    }
    let Some(span) = absence_in_cue(pool, pooled)? else { return Ok(None) };
    let lines = pool.reader.lines(span)?;
    summarised(pool, &lines)
}

/// Returns whether a word of a question says only that something happens.
fn happens(item: &ContentItem) -> bool {
    matches!(item.lemma.as_str(), "happen" | "occur" | "go")
}

/// Returns whose time is to be summarised: "Tove's Tuesday".
fn owner_of_time(question: &Question<'_>) -> Option<NounPhrase> {
    let owner = question.phrases.iter().find_map(|phrase| {
        let before = question.text.get(..phrase.range.start)?.trim_end();
        before.strip_suffix("'s").or_else(|| before.strip_suffix('\''))?.split_whitespace().next_back()
    })?;
    let name = name_phrase(owner);
    is_person(&name).then_some(name)
}

/// Returns whether a question asks how a time was: "how did Tove's Tuesday go?", "how was your day?"
pub(in crate::recall) fn asks_how_time_was(question: &Question<'_>) -> bool {
    let asking = question.asked.clause.asking.as_ref();
    let how = asking.is_some_and(|asking| asking.word == "how" && asking.degree.is_none());
    let mut verbs = question.asked.words.iter().filter(|word| matches!(word.tag, Tag::Verb | Tag::Auxiliary));
    let names_time = || question.has_time_bound() || question.named.iter().any(names_time_or_recording);
    // Without the time, "how did the day go?" may have "go" as a noun.
    let nothing_else = || question.named.iter().all(|noun| names_time_or_recording(noun) || noun.head == "go");
    how && verbs.all(|verb| matches!(verb.lemma.as_str(), "go" | "be" | "do"))
        && (owner_of_time(question).is_some() || names_time() && nothing_else())
}

/// Returns whether a phrase is "the day" or somebody's.
fn is_day(noun: &NounPhrase) -> bool {
    noun.head == "day"
}

/// Returns whether a phrase means a time, or a recording.
fn names_time_or_recording(noun: &NounPhrase) -> bool {
    let is = |class: &&str| lexicon::is_a(&noun.head, class).is_some();
    // A bit is a while, and a thing as well.
    let is_time = || lexicon::category(&noun.head, PartOfSpeech::Noun) == Some(Category::Time);
    noun.of.is_none() && (is(&"time_period") && is_time() || ["recording", "movie", "all"].iter().any(is))
}

/// Returns the day of a question until now.
pub(super) fn today(question: &Question<'_>) -> TimeSpan {
    let start = question.now.start_of_day().map_or(question.now.timestamp(), |start| start.timestamp());
    TimeSpan::new(start.into(), question.now.timestamp().into())
}

/// Returns whether a question restricts only the time and at most the modality: "what was in view at ten?", and of
/// today "what did you see?".
pub(in crate::recall) fn restricts_only_time(question: &Question<'_>) -> bool {
    (question.has_time_bound() || question.tense == Tense::Past && asks_robot_perception(&question.asked.clause))
        && question.content.is_empty()
        && question.asked.cue.is_none()
        && question.asked.class.is_none()
        && question.asked.occurrence.is_none()
}

/// Returns the places of a question for what happened there.
fn places_where_it_happened<'q>(question: &'q Question<'_>) -> impl Iterator<Item = &'q NounPhrase> {
    let clause = &question.asked.clause;
    let happened = clause.verb.as_ref().is_some_and(|verb| matches!(verb.lemma.as_str(), "happen" | "occur" | "go"));
    // What happened to a vase did not happen there.
    let is_place = |preposition: &str| preposition != "to" && PLACE_PREPOSITIONS.contains(&preposition);
    let placed = clause.adjuncts.iter().filter(move |adjunct| is_place(&adjunct.preposition));
    placed.map(|adjunct| &adjunct.noun).filter(move |noun| happened && !is_person(noun))
}

/// Returns whether a question for somebody's deeds means a longer time span: only persons are named, for an hour or
/// more.
pub(in crate::recall) fn asks_for_long_span(question: &Question<'_>) -> bool {
    // "How did she spend Monday?" names the time without a preposition.
    let spent = || question.boosted_spans().first().map(|(span, _)| *span).filter(|_| spends_time(&question.asked));
    let long = question
        .bound()
        .filter(|_| question.has_time_bound())
        .or_else(spent)
        .is_some_and(|bound| bound.end.since(bound.start).as_secs() >= 3_600);
    let persons = question.content.items.iter().all(|item| {
        item.light
            || is_one_of(&item.lemma, WORK_NOUNS)
            || places_where_it_happened(question).any(|noun| noun.lemmas().contains(&item.lemma.as_str()))
            || question.named.iter().any(|noun| is_person(noun) && noun.head == item.lemma)
            || item.lemma == ROBOT_ENTITY
    });
    long && persons && question.asked.cue.is_none()
}
