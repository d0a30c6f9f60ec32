//! Answers what is planned: "what have we got coming up?", "what's on on Friday?", with what was announced, by its time.

use super::quote::quotation;
use super::summary::today;
use super::times::{MAX_CLOCK_SPAN, hour_of_day, is_former_time, verb_is_denied};
use crate::episodic::gist::SUMMARY_WORDS;
use crate::index::{Holding, words};
use crate::language::english::closed::is_one_of;
use crate::language::english::correction::{Correction, self_correction};
use crate::language::english::letters::capitalised;
use crate::language::english::lexicon::{self, PartOfSpeech};
use crate::language::english::question::AnswerKind;
use crate::language::english::syntax::{NounKind, NounPhrase, Sentence};
use crate::language::english::tag::Tag;
use crate::language::english::time::{Tense, TimeRelation, ToldTime, WORDS_OF_DAYS, say_moment, say_period};
use crate::recall::candidate::{Candidate, CandidateValue, Layer};
use crate::recall::corrections::correction_in;
use crate::recall::likeness::{best_phrase_similarity, phrase_similarity};
use crate::recall::pool::{EventPool, RetrievedEvent, merge};
use crate::recall::question::{Question, ROBOT_ENTITY, intersection};
use crate::recall::reading::{arguments, is_person};
use crate::{Kind, ReadError, TimeSpan, Timestamp};

/// Maximum number of texts with words for days that are read, the latest ones, and of the texts of today.
const MAX_TEXTS: usize = 400;
/// Maximum number of plans in an answer, the next ones.
const MAX_PLANS: usize = 12;
/// Maximum number of later texts about a plan that are searched for its change.
const MAX_LATER: usize = 20;
/// Minimum similarity of two phrases for one matter.
const MIN_MATTER_SIMILARITY: f32 = 0.9;
/// Minimum similarity of a plan to whom or what the question asks about.
const MIN_ABOUT_SIMILARITY: f32 = 0.85;

/// Nouns for whatever is planned.
const PLAN_NOUNS: &[&str] = &[
    "activity",
    "agenda",
    "appointment",
    "commitment",
    "date",
    "diary",
    "engagement",
    "event",
    "plan",
    "programme",
    "schedule",
    "thing",
];
/// Words that say that something is planned, in any form of a question about the time to come.
const PLANNED: &[&str] = &["planned", "scheduled", "upcoming", "arranged"];
/// The same of two words.
const PLANNED_PAIRS: &[[&str; 2]] =
    &[["coming", "up"], ["comes", "up"], ["lined", "up"], ["in", "store"], ["the", "agenda"], ["the", "diary"]];

/// Something that was announced.
struct Plan {
    at: TimeSpan,
    /// The time in words.
    when: String,
    /// The sentence that announces it.
    text: String,
    /// What it is about.
    matter: Vec<NounPhrase>,
    found: RetrievedEvent,
}

/// Answers with the plans in the time of the question, or with all to come.
pub(in crate::recall) fn answer(pool: &EventPool<'_>) -> Result<Option<Candidate>, ReadError> {
    let question = pool.question;
    let Some(about) = asks_plans(question) else { return Ok(None) };
    let now = Timestamp::from(question.now.timestamp());
    let wanted: Vec<TimeSpan> = question.boosted_spans().into_iter().map(|(span, _)| span).collect();
    // What begins in the evening of one day is not of the next.
    let is_within = |wanted: &TimeSpan, span: TimeSpan| {
        wanted.start <= span.start && span.start < wanted.end || span.start <= wanted.start && wanted.end <= span.end
    };
    let is_wanted =
        |span: TimeSpan| span.end > now && (wanted.is_empty() || wanted.iter().any(|wanted| is_within(wanted, span)));
    let told = announcements(pool)?;
    let mut plans: Vec<Plan> = Vec::new();
    for found in told.iter().filter(|found| !found.reading.only_asks()) {
        let suits = about.iter().all(|noun| {
            let own = found.reading.entity_phrase().map_or(0.0, |own| phrase_similarity(noun, &own, &found.reading));
            own.max(best_phrase_similarity(noun, &found.reading)) >= MIN_ABOUT_SIMILARITY
        });
        if suits {
            plans.extend(plan_in(question, found).filter(|plan| is_wanted(plan.at)));
        }
    }
    // What was told last comes first, so that it is kept of two announcements of the same.
    plans.sort_by_key(|plan| std::cmp::Reverse((plan.found.span().start, plan.found.id())));
    let mut kept: Vec<Plan> = Vec::new();
    let mut changes: Vec<RetrievedEvent> = Vec::new();
    for plan in plans {
        let repeated = kept.iter().any(|other| other.at.overlaps(plan.at) && has_same_matter(&other.matter, &plan));
        if repeated {
            continue;
        }
        match change_of(pool, &plan)? {
            None => kept.push(plan),
            Some(change) if changes.iter().all(|known| known.id() != change.id()) => changes.push(change),
            Some(_) => {}
        }
    }
    kept.sort_by_key(|plan| (plan.at.start, plan.found.id()));
    let count = kept.len();
    kept.truncate(MAX_PLANS);
    let known = question.content.known_share();
    if kept.is_empty() {
        let Some(change) = changes.first() else { return Ok(None) };
        let text = format!("Nothing any more: {}", quotation(change, question));
        let reason = "what was announced was called off or moved".into();
        return Ok(Some(announced(text, changes, known, reason)));
    }
    let mut text = String::new();
    let mut shown = 0;
    for plan in &kept {
        let line = format!("{}: {}", capitalised(&plan.when), plan.text);
        if shown > 0 && words(&text).count() + words(&line).count() > SUMMARY_WORDS {
            break;
        }
        text = if text.is_empty() { line } else { format!("{text} {line}") };
        shown += 1;
    }
    kept.truncate(shown);
    let evidence = kept.into_iter().map(|plan| plan.found).collect();
    let reason = format!("the next {shown} of {count} things that were announced");
    Ok(Some(announced(text, evidence, known, reason)))
}

fn announced(text: String, evidence: Vec<RetrievedEvent>, known: f32, reason: String) -> Candidate {
    Candidate::computed(Layer::Episodes, text.clone(), CandidateValue::Text(text), evidence, known, reason)
}

/// Returns the texts that may announce something: those that name a day, and those of today, which may name only an
/// hour.
fn announcements(pool: &EventPool<'_>) -> Result<Vec<RetrievedEvent>, ReadError> {
    let question = pool.question;
    let kinds = vec![Kind::Text, Kind::State];
    let days = WORDS_OF_DAYS.iter().map(|word| (*word).to_owned()).chain((1..=31).map(ordinal));
    let groups = vec![days.collect()];
    let holding = Holding {
        groups,
        kinds: kinds.clone(),
        span: question.hard,
        latest: true,
        limit: MAX_TEXTS,
        ..Holding::default()
    };
    let dated = pool.read(&pool.reader.search().holding(&holding), &question.content)?;
    let today = today(question);
    let today = question.hard.map_or(Some(today), |hard| intersection(today, hard));
    let recent = match today {
        Some(today) => pool.events_in_time_order(Some(today), None, kinds, true, MAX_TEXTS, &question.content)?,
        None => Vec::new(),
    };
    Ok(merge(dated, recent))
}

/// Returns a day of a month in figures: "22nd".
fn ordinal(day: u8) -> String {
    let suffix = match (day / 10, day % 10) {
        (1, _) => "th",
        (_, 1) => "st",
        (_, 2) => "nd",
        (_, 3) => "rd",
        _ => "th",
    };
    format!("{day}{suffix}")
}

/// Returns whom and what the plans are about that a question asks for, if it asks for plans.
fn asks_plans<'q>(question: &'q Question<'_>) -> Option<Vec<&'q NounPhrase>> {
    let asked = &question.asked;
    let anything = || asked.words.iter().any(|word| word.has_text("anything"));
    let open = match question.ask() {
        AnswerKind::Thing | AnswerKind::Description | AnswerKind::Action | AnswerKind::Summary => true,
        AnswerKind::Truth => anything(),
        _ => false,
    };
    // In "what has she planned?" the plan is past, and not what is planned.
    let is_past = || asked.words.iter().any(|word| is_one_of(&word.text, &["did", "had", "was", "were"]));
    if !open
        || question.tense == Tense::Past && is_past()
        || asked.cue.is_some()
        || asked.negated
        || asked.occurrence.is_some()
    {
        return None;
    }
    let texts: Vec<&str> = asked.words.iter().map(|word| word.text.as_str()).collect();
    let has_pair = |pair: &[&str; 2]| texts.windows(2).any(|two| two == pair);
    let of_class = asked.class.as_ref().is_some_and(|class| is_one_of(&class.head, PLAN_NOUNS));
    let planned = texts.iter().any(|word| is_one_of(word, PLANNED)) || PLANNED_PAIRS.iter().any(has_pair);
    let ahead = question.boosted_spans().iter().any(|(span, _)| span.start > Timestamp::from(question.now.timestamp()));
    let verb = asked.clause.verb.as_ref();
    let has_got = texts.contains(&"got") && texts.iter().any(|word| is_one_of(word, &["have", "has", "'ve", "'s"]));
    // "What's on tomorrow?", "what happens on Friday?", "what have we got on Monday?"
    let goes_on = verb.is_some_and(|verb| verb.lemma == "happen")
        || has_got
        || has_pair(&["going", "on"])
        || has_pair(&["'s", "on"])
        || has_pair(&["is", "on"]);
    if !(planned || ahead && (of_class || goes_on)) {
        return None;
    }
    let general =
        |noun: &NounPhrase| is_one_of(&noun.head, PLAN_NOUNS) || noun.is_pronoun() || noun.head == ROBOT_ENTITY;
    let is_time = |noun: &NounPhrase| lexicon::is_a_as(&noun.head, "time_period", PartOfSpeech::Noun).is_some();
    let about: Vec<&NounPhrase> = question.named.iter().filter(|noun| !general(noun) && !is_time(noun)).collect();
    // What else it says must be of them.
    let known = question.content.items.iter().all(|item| {
        item.light
            || is_one_of(&item.lemma, PLAN_NOUNS)
            || matches!(
                item.lemma.as_str(),
                "plan" | "schedule" | "arrange" | "come" | "line" | "store" | "happen" | "go" | "upcoming" | "get"
            )
            || about.iter().any(|noun| noun.lemmas().contains(&item.lemma.as_str()))
            || item.tag == Tag::Number
            || lexicon::is_a_as(&item.lemma, "time_period", PartOfSpeech::Noun).is_some()
    });
    known.then_some(about)
}

/// Returns the first plan that an event announces.
fn plan_in(question: &Question<'_>, found: &RetrievedEvent) -> Option<Plan> {
    let reading = &found.reading;
    let told = found.span().start;
    let correction = correction_in(reading);
    // "Choir on Thursday is off."
    if correction.as_ref().is_some_and(|correction| correction.called_off && !correction.moved) {
        return None;
    }
    // Who corrects themselves means the last time.
    let corrected = self_correction(&reading.event.text, &reading.sentences);
    let is_ahead = |time: &&ToldTime| {
        corrected.is_none_or(|from| time.range.start >= from)
            && (time.relation == TimeRelation::At
                || ["by ", "from "].iter().any(|word| reading.text(&time.range).starts_with(word)))
            && time.span.start >= told
            && !is_former_time(found, time)
            && !verb_is_denied(reading, time)
    };
    let sentence_of = |time: &ToldTime| {
        let holds =
            |sentence: &&Sentence| sentence.range.start <= time.range.start && time.range.end <= sentence.range.end;
        reading.sentences.iter().find(holds).filter(|sentence| !sentence.asks)
    };
    let mut times = reading.times.iter().filter(is_ahead).filter(|time| time.has_date || time.has_clock);
    let first = times.next()?;
    let sentence = sentence_of(first)?;
    // "On Friday at ten" may be told in two phrases.
    let other = times.find(|time| sentence.range.start <= time.range.start && time.range.end <= sentence.range.end);
    let clock = [Some(first), other].into_iter().flatten().find(|time| time.has_clock);
    let date = [Some(first), other].into_iter().flatten().find(|time| time.has_date);
    let at = match (date, clock) {
        (Some(date), Some(clock)) if date.range != clock.range => hour_of_day(date.span, clock.span, question),
        (Some(date), _) => date.span,
        (None, Some(clock)) => clock.span,
        (None, None) => return None,
    };
    let exact = clock.is_some() && at.end.since(at.start) <= MAX_CLOCK_SPAN;
    let when = if exact { say_moment(at.start, &question.now) } else { say_period(at, &question.now) };
    // "Friday at eight" says nothing without what stands before.
    let says = sentence.clauses.iter().any(|clause| clause.verb.is_some());
    let said = if says { reading.text(&sentence.range).trim() } else { reading.event.text.trim() };
    let said = if said.ends_with(['.', '!', '?', '…']) { said.to_owned() } else { format!("{said}.") };
    let text = match reading.event.entity.as_deref().filter(|_| reading.event.kind == Kind::Text) {
        Some(speaker) => format!("{speaker}: {said}"),
        None => said,
    };
    let is_time = |noun: &NounPhrase| {
        reading.times.iter().any(|time| time.range.start <= noun.range.start && noun.range.end <= time.range.end)
    };
    let nouns = sentence.clauses.iter().flat_map(arguments).filter(|noun| !noun.is_pronoun() && !is_time(noun));
    let matter: Vec<NounPhrase> = nouns.filter_map(|noun| reading.resolve(noun)).collect();
    Some(Plan { at, when, text, matter, found: found.clone() })
}

/// Returns whether a plan is about one of these things, or about these persons if neither names a thing.
fn has_same_matter(nouns: &[NounPhrase], plan: &Plan) -> bool {
    let is_thing = |noun: &&NounPhrase| noun.kind == NounKind::Common && !is_person(noun) && noun.head != "one";
    let any_thing = plan.matter.iter().any(|noun| is_thing(&noun)) && nouns.iter().any(|noun| is_thing(&noun));
    let counts = |noun: &&NounPhrase| !any_thing || is_thing(noun);
    nouns.iter().filter(counts).any(|noun| {
        let own = plan.matter.iter().filter(counts).map(NounPhrase::head_alone);
        own.map(|own| phrase_similarity(&own, noun, &plan.found.reading)).fold(0.0, f32::max) >= MIN_MATTER_SIMILARITY
    })
}

/// Returns the later text that calls a plan off, moves it, or takes it back.
fn change_of(pool: &EventPool<'_>, plan: &Plan) -> Result<Option<RetrievedEvent>, ReadError> {
    let now = Timestamp::from(pool.question.now.timestamp());
    let until = pool.question.hard.map_or(now, |hard| hard.end.min(now)).max(plan.found.span().end);
    let since = TimeSpan::new(plan.found.span().end, until);
    for noun in &plan.matter {
        let later = pool.events_mentioning(&noun.head_alone(), Some(since), true, MAX_LATER, &pool.question.content)?;
        for other in later.into_iter().filter(|other| other.id() != plan.found.id()) {
            let changes = |change: &Correction| {
                change.called_off || change.moved || change.admits.is_some() || !change.denied.is_empty()
            };
            let instead = || words(&other.reading.event.text).any(|word| word == "instead");
            let nouns: Vec<NounPhrase> = other.reading.clauses().flat_map(arguments).cloned().collect();
            if has_same_matter(&nouns, plan)
                && (correction_in(&other.reading).as_ref().is_some_and(changes) || instead())
            {
                return Ok(Some(other));
            }
        }
    }
    Ok(None)
}
