//! Answers from single events: the part of the best event that the question asks for, or its text.

use std::collections::{BTreeMap, HashMap};

use crate::language::english::closed::SPEECH_VERBS;
use crate::language::english::lexicon::{self, PartOfSpeech};
use crate::language::english::question::{AnswerKind, Occurrence};
use crate::language::english::syntax::{Clause, NounKind, NounPhrase, parse};
use crate::language::english::tag::Tag;
use crate::recall::answerers::causes::{explaining_clause, faulty_thing};
use crate::recall::answerers::parts::{MAX_LIST_ITEMS, MIN_PERSON_SIMILARITY, answer_parts, steps_below_class};
use crate::recall::answerers::places::capitalised;
use crate::recall::answerers::quote::{
    asks_for_name_or_number, join_list, may_contain_answer, quotation, quotation_fit,
};
use crate::recall::answerers::rank::{rank, refers_to_asked_future};
use crate::recall::answerers::times::rank_margin;
use crate::recall::candidate::{Candidate, CandidateValue, Layer, Signals};
use crate::recall::clause_selection::{has_other_actor, lacks_asked_deed, lacks_asked_thing};
use crate::recall::corrections::CorrectedStatement;
use crate::recall::likeness::{best_phrase_similarity, phrase_similarity};
use crate::recall::pool::{EventPool, RetrievedEvent};
use crate::recall::question::{Question, ROBOT_ENTITY};
use crate::recall::reading::{ParsedEvent, is_person};
use crate::recall::stance::stance;
use crate::{EventId, Kind, ReadError, TimeSpan};

/// Rank difference to the best event within which another event may contain the answer.
const RANK_TOLERANCE: f32 = 0.12;
/// As [`RANK_TOLERANCE`], for speech.
const SPEECH_RANK_TOLERANCE: f32 = 0.4;
/// As [`RANK_TOLERANCE`], for the actor of a deed, if no closer event contains the answer.
const WIDE_RANK_TOLERANCE: f32 = 0.5;
/// Maximum number of events within [`WIDE_RANK_TOLERANCE`] that are read.
const MAX_WIDE_EVENTS: usize = 12;
/// `fits` signal of a quotation that may contain the answer.
const POSSIBLE_ANSWER_FIT: f32 = 0.1;
/// Minimum coverage of a question about a fault by an event that explains it.
const MIN_EXPLANATION_COVERAGE: f32 = 0.8;
/// Minimum similarity of an event to the thing in question.
const MIN_THING_SIMILARITY: f32 = 0.7;

/// Answers from single events.
pub(in crate::recall) fn answer(
    pool: &EventPool<'_>,
    pooled: &[RetrievedEvent],
) -> Result<Option<Candidate>, ReadError> {
    let question = pool.question;
    let mut ranked: Vec<&RetrievedEvent> = pooled.iter().collect();
    // Events in the requested time go before mere matches of words. The cue is no answer.
    if ranked.iter().any(|found| found.placed > 0.0) {
        ranked.retain(|found| found.placed > 0.0);
    }
    // Past events do not answer a question about a future day, if an event refers to that day.
    if ranked.iter().any(|found| refers_to_asked_future(question, &found.reading) > 0.0) {
        ranked.retain(|found| refers_to_asked_future(question, &found.reading) > 0.0);
    }
    // "All is well again" does not name the fault.
    if let Some(thing) = faulty_thing(question) {
        let over = |found: &RetrievedEvent| {
            stance("broken", thing, &question.asked.clause, &found.reading) == Some(false)
                && explaining_clause(&found.reading).is_none()
        };
        if ranked
            .iter()
            .any(|found| !over(found) && best_phrase_similarity(thing, &found.reading) >= MIN_THING_SIMILARITY)
        {
            ranked.retain(|found| !over(found));
        }
        let explained = |found: &RetrievedEvent| {
            explaining_clause(&found.reading).is_some()
                && best_phrase_similarity(thing, &found.reading) >= MIN_THING_SIMILARITY
        };
        if ranked.iter().any(|found| explained(found)) {
            ranked.retain(|found| explained(found));
        }
    }
    let ranks: HashMap<EventId, f32> = ranked.iter().map(|found| (found.id(), rank(question, found))).collect();
    let rank = |found: &RetrievedEvent| found.placed + ranks.get(&found.id()).copied().unwrap_or_default();
    ranked.sort_by(|a, b| rank(b).total_cmp(&rank(a)).then(a.id().cmp(&b.id())));
    if let Some(occurrence) = question.asked.occurrence {
        prefer_occurrence(
            occurrence,
            &mut ranked,
            rank,
            if names_nothing(question) { f32::MAX } else { RANK_TOLERANCE },
        );
    }
    let Some(best) = ranked.first().copied() else { return Ok(None) };
    let top = rank(best);
    // "The last person" asks of nothing but the time: all that was noticed suits.
    let any = names_nothing(question) && question.asked.occurrence.is_some();
    let suits = |found: &&RetrievedEvent| any || rank(found) >= top - RANK_TOLERANCE;
    let near: Vec<&RetrievedEvent> = ranked.iter().copied().filter(suits).take(8).collect();
    // A person's words are reported by that person, or by others.
    let near: Vec<&RetrievedEvent> = match asked_speaker(question) {
        Some(speaker) => near.into_iter().filter(|found| may_be_said_by(speaker, &found.reading)).collect(),
        None => near,
    };
    let unsaid = near.is_empty();
    let mut chosen: Option<(Vec<String>, &RetrievedEvent)> = None;
    for found in &near {
        let parts = answer_parts(question, found);
        if !parts.is_empty() {
            chosen = Some((parts, found));
            break;
        }
    }
    // The actor may be named in an event with other words.
    if chosen.is_none()
        && matches!(question.ask(), AnswerKind::Person | AnswerKind::Owner | AnswerKind::Description)
        && !unsaid
    {
        // The owner may be stated with another name of the thing: "that is Ivo's lamp".
        let suits =
            |found: &RetrievedEvent| rank(found) >= top - WIDE_RANK_TOLERANCE || question.ask() == AnswerKind::Owner;
        let wider = ranked.iter().copied().filter(|found| suits(found) && !found.reading.only_asks());
        chosen = wider
            .take(MAX_WIDE_EVENTS)
            .map(|found| (answer_parts(question, found), found))
            .find(|(parts, _)| !parts.is_empty());
    }
    let mut computed = false;
    if let Some((names, found)) = most_frequent_tasks(question, pooled) {
        chosen = Some((names, found));
        computed = true;
    }
    if question.asked.habitual
        && matches!(question.ask(), AnswerKind::Person | AnswerKind::Thing)
        && let Some(usual) = most_common_parts(question, &near)
    {
        chosen = Some(usual);
    }
    let wants_list = question.asked.class.as_ref().is_some_and(|class| class.plural);
    if wants_list && let Some((items, _)) = &mut chosen {
        for found in &near {
            for part in answer_parts(question, found) {
                if !items.iter().any(|known| known.eq_ignore_ascii_case(&part)) && items.len() < MAX_LIST_ITEMS {
                    items.push(part);
                }
            }
        }
    }
    let (text, value, fits, first) = match chosen {
        Some((parts, found)) => (capitalised(&join_list(&parts)), CandidateValue::List(parts), 1.0, found),
        None => {
            // No event contains the answer itself. Among similar matches the search score decides, most of all for
            // speech, which says one thing in many words.
            let said = |found: &&RetrievedEvent| {
                found.reading.event.kind == Kind::Text
                    && rank(found) >= top - SPEECH_RANK_TOLERANCE
                    && !has_other_actor(question, &found.reading)
            };
            let near: Vec<&RetrievedEvent> =
                if !unsaid && said(&best) { ranked.iter().copied().filter(said).collect() } else { near };
            let best = near.iter().copied().reduce(|a, b| if b.score > a.score { b } else { a }).unwrap_or(best);
            let text = quotation(best, question);
            let told = quotation_fit(question).max(if may_contain_answer(question, &best.reading) {
                POSSIBLE_ANSWER_FIT
            } else {
                0.0
            });
            let other = has_other_actor(question, &best.reading) || lacks_asked_thing(question, &best.reading);
            let fits = if unsaid || other { 0.0 } else { told };
            (text.clone(), CandidateValue::Text(text), fits, best)
        }
    };
    // Without a report of the deed, neither its actor nor its reason is known.
    let untold = matches!(question.ask(), AnswerKind::Person | AnswerKind::Reason) && first.placed == 0.0 && !computed;
    let fits = if untold && lacks_asked_deed(question, &first.reading) { 0.0 } else { fits };
    let mut evidence = vec![first.clone()];
    // Further evidence is ordered by the search, which weighs every word of the question.
    let mut rest: Vec<&RetrievedEvent> = ranked.iter().copied().filter(|found| found.id() != first.id()).collect();
    if rest.iter().all(|found| found.placed == 0.0) && question.asked.occurrence.is_none() {
        rest.sort_by(|a, b| b.score.total_cmp(&a.score));
    }
    evidence.extend(rest.into_iter().cloned());
    let thing = question.named.iter().map(|thing| best_phrase_similarity(thing, &first.reading)).fold(0.0, f32::max);
    // A member of the class matches the class: a viola is an instrument.
    let of_the_class = match &question.asked.class {
        Some(class) if question.ask() == AnswerKind::Thing && fits >= 1.0 && !computed => {
            let mut held = question.content.item_similarities(&first.reading);
            let items = question.content.items.iter().zip(&mut held);
            items.filter(|(item, _)| item.lemma == class.head).for_each(|(_, held)| *held = 1.0);
            question.content.covered_share(&held)
        }
        _ => 0.0,
    };
    Ok(Some(Candidate {
        layer: Layer::Episodes,
        text,
        value,
        signals: Signals {
            coverage: if computed { 1.0 } else { coverage_by_date(question, first).max(of_the_class) },
            cosine: first.cosine.unwrap_or(0.0),
            // If the question names nothing and has no cue, the best event is arbitrary.
            margin: if question.content.is_empty() && first.placed == 0.0 { 0.0 } else { rank_margin(pooled) },
            fits,
            thing: if computed || orders_robot(question, &first.reading) {
                1.0
            } else if question.named.is_empty() {
                0.5
            } else {
                thing
            },
            known: question.content.known_share().max(of_the_class),
        },
        evidence,
        confidence: 0.0,
        reason: if fits >= 1.0 {
            "the part of the event that was asked for".into()
        } else {
            "the event nearest to the question".into()
        },
    }))
}

/// Returns the coverage of the question by an event. A named future day accounts for half of it.
fn coverage_by_date(question: &Question<'_>, found: &RetrievedEvent) -> f32 {
    let coverage = found.coverage.of_content;
    if orders_robot(question, &found.reading) {
        return 1.0;
    }
    // An explanation covers the fault, whatever its words.
    let explained = faulty_thing(question)
        .is_some_and(|thing| best_phrase_similarity(thing, &found.reading) >= MIN_THING_SIMILARITY);
    if explained && explaining_clause(&found.reading).is_some() {
        return coverage.max(MIN_EXPLANATION_COVERAGE);
    }
    if refers_to_asked_future(question, &found.reading) > 0.0 { f32::midpoint(coverage, 1.0) } else { coverage }
}

/// Returns whether an event orders the robot to do what the question asks: "please feed the cat at eight", for "what do
/// you have to do at eight?".
fn orders_robot(question: &Question<'_>, reading: &ParsedEvent) -> bool {
    let itself = question.named.iter().any(|noun| noun.head == ROBOT_ENTITY);
    let orders = |clause: &Clause| {
        let verb = clause.verb.as_ref().filter(|verb| verb.infinitive && !verb.past && verb.modal.is_none());
        verb.is_some_and(|verb| !verb.auxiliary_only && !verb.negated) && clause.subject.is_none()
    };
    let told = reading.event.kind == Kind::Text && reading.event.entity.as_deref() != Some(ROBOT_ENTITY);
    let asked = question.asked.clause.verb.as_ref().is_some_and(|verb| {
        let of_it = || question.asked.clause.objects.iter().any(|object| object.head == "you");
        (verb.passive || of_it()) && matches!(verb.lemma.as_str(), "ask" | "tell" | "order" | "remind" | "instruct")
    });
    let near = question.boosted_spans();
    let in_time = || {
        near.is_empty()
            || reading.times.iter().any(|time| near.iter().any(|(span, _)| is_same_clock_time(time.span, *span)))
    };
    itself
        && told
        && (refers_to_asked_future(question, reading) > 0.0 || asked && in_time())
        && reading.clauses().any(orders)
}

/// Returns whether two spans start at about the same time of day.
fn is_same_clock_time(a: TimeSpan, b: TimeSpan) -> bool {
    let middle = |span: TimeSpan| span.start.saturating_add(span.end.since(span.start) / 2).as_micros() / 60_000_000;
    let apart = (middle(a) - middle(b)).rem_euclid(12 * 60);
    a.overlaps(b) || apart.min(12 * 60 - apart) <= 15
}

/// Answers what has changed: the latest of several statements about the thing.
pub(in crate::recall) fn answer_change(pool: &EventPool<'_>, found: &[RetrievedEvent]) -> Option<Candidate> {
    let question = pool.question;
    if let Some(pair) = pool.taken_back.iter().max_by_key(|pair| (pair.later.span().start, pair.later.id())) {
        return Some(correction_candidate(question, pair));
    }
    let told: Vec<&RetrievedEvent> = found.iter().filter(|found| !found.reading.only_asks()).collect();
    let best = told.iter().map(|found| found.fitness()).fold(0.0, f32::max);
    let mut near: Vec<&RetrievedEvent> =
        told.into_iter().filter(|found| found.fitness() >= 0.6 * best).take(12).collect();
    if near.iter().any(|found| best_thing_similarity(question, &found.reading) >= MIN_THING_SIMILARITY) {
        near.retain(|found| best_thing_similarity(question, &found.reading) >= MIN_THING_SIMILARITY);
    }
    // Speech contains plans; observations do not.
    if near.iter().any(|found| found.reading.event.kind == Kind::Text && !found.reading.times.is_empty()) {
        near.retain(|found| found.reading.event.kind == Kind::Text && !found.reading.times.is_empty());
    }
    near.sort_by_key(|found| std::cmp::Reverse((found.span().start, found.id())));
    let newest = (*near.first()?).clone();
    let text = quotation(&newest, question);
    Some(Candidate {
        layer: Layer::Episodes,
        text: text.clone(),
        value: CandidateValue::Text(text),
        signals: Signals {
            coverage: newest.coverage.of_content,
            cosine: newest.cosine.unwrap_or(0.0),
            margin: 0.0,
            fits: if near.len() > 1 { 0.8 } else { 0.2 },
            thing: best_thing_similarity(question, &newest.reading),
            known: question.content.known_share(),
        },
        evidence: near.into_iter().cloned().collect(),
        confidence: 0.0,
        reason: "what was told last of it".into(),
    })
}

/// Returns the best similarity of an event to the things that the question names.
fn best_thing_similarity(question: &Question<'_>, reading: &ParsedEvent) -> f32 {
    let named = question.named.iter().map(|thing| best_phrase_similarity(thing, reading));
    named.reduce(f32::max).unwrap_or(0.5)
}

/// Returns a correction as a candidate.
fn correction_candidate(question: &Question<'_>, pair: &CorrectedStatement) -> Candidate {
    let text = quotation(&pair.later, question);
    Candidate {
        layer: Layer::Episodes,
        text: text.clone(),
        value: CandidateValue::Text(text),
        signals: Signals {
            coverage: pair.earlier.coverage.of_content.max(pair.later.coverage.of_content),
            cosine: pair.later.cosine.or(pair.earlier.cosine).unwrap_or(0.0),
            margin: 1.0,
            fits: 1.0,
            thing: best_thing_similarity(question, &pair.earlier.reading),
            known: question.content.known_share(),
        },
        evidence: vec![pair.later.clone(), pair.earlier.clone()],
        confidence: 0.0,
        reason: "what was told since takes back what was told before".into(),
    }
}

/// Answers with all members of a class in the time of the question, if it names nothing else: "which animals did you
/// see?".
pub(in crate::recall) fn answer_class_members(pool: &EventPool<'_>) -> Result<Option<Candidate>, ReadError> {
    let question = pool.question;
    // A name is no class: "what is he called?".
    if asks_for_name_or_number(question) {
        return Ok(None);
    }
    let class = match (question.ask(), &question.asked.class) {
        (AnswerKind::Thing, Some(class)) if class.kind == NounKind::Common => class.head.clone(),
        (AnswerKind::Truth, _) => match question.named.first() {
            Some(noun) if noun.determiner.as_deref() == Some("any") || noun.plural => noun.head.clone(),
            _ => return Ok(None),
        },
        _ => return Ok(None),
    };
    let alone = question
        .content
        .items
        .iter()
        .all(|item| item.lemma == class || item.light || item.documents == 0 || item.tag == Tag::Verb);
    if !alone || question.asked.cue.is_some() {
        return Ok(None);
    }
    let kinds = vec![Kind::Caption, Kind::Object, Kind::Sound, Kind::Entity, Kind::Action, Kind::State];
    let events = pool.events_in_time_order(question.bound(), question.sense, kinds, true, 600, &question.content)?;
    let mut items: Vec<(String, usize, RetrievedEvent)> = Vec::new();
    let mut nearest = u8::MAX;
    for found in events {
        for (lemma, tag) in &found.reading.lemmas[..found.reading.own_words.min(found.reading.lemmas.len())] {
            let steps = lexicon::is_a_as(lemma, &class, PartOfSpeech::Noun).filter(|steps| *steps > 0);
            let steps = steps.filter(|_| *tag == Tag::Noun && lexicon::is_kind_of(lemma, &class));
            if let Some(steps) = steps.filter(|_| !occurs_only_as_modifier(lemma, &found.reading.event.text)) {
                nearest = nearest.min(steps);
                match items.iter_mut().find(|(known, ..)| known == lemma) {
                    Some((_, count, _)) => *count += 1,
                    None => items.push((lemma.clone(), 1, found.clone())),
                }
            }
        }
    }
    // Asked for one ("which animal walked by?"), the one that is nearest in meaning comes first; asked for all, the most frequent.
    let plural = question.asked.class.as_ref().is_none_or(|class| class.plural);
    let near = |found: &RetrievedEvent| {
        let cosine = pool.embedding.as_ref().and_then(|vector| pool.cosine(vector, found.id()));
        if plural { 0.0 } else { cosine.unwrap_or(0.0) }
    };
    items.sort_by(|a, b| near(&b.2).total_cmp(&near(&a.2)).then(b.1.cmp(&a.1)).then_with(|| a.0.cmp(&b.0)));
    items.truncate(MAX_LIST_ITEMS);
    if items.is_empty() {
        return Ok(None);
    }
    let names: Vec<String> = items.iter().map(|(name, ..)| name.clone()).collect();
    let yes = if question.ask() == AnswerKind::Truth { "Yes: " } else { "" };
    Ok(Some(Candidate {
        layer: Layer::Episodes,
        text: capitalised(&format!("{yes}{}", join_list(&names))),
        value: CandidateValue::List(names),
        signals: Signals {
            coverage: 1.0,
            fits: 1.0,
            // The nearest class counts: a drink is nearer to "drink" than to "thing".
            thing: 1.0 / f32::from(nearest),
            known: question.content.known_share(),
            ..Signals::default()
        },
        evidence: items.into_iter().map(|(.., found)| found).collect(),
        confidence: 0.0,
        reason: format!("everything of the class {class}"),
    }))
}

/// Returns whether a noun only modifies other nouns in a text: there is no wine in a "wine rack".
fn occurs_only_as_modifier(lemma: &str, text: &str) -> bool {
    let (words, _) = parse(text, &[]);
    let mut own = (0..words.len()).filter(|at| words[*at].lemma == lemma).peekable();
    let behind = |at: usize| words.get(at + 1).filter(|next| next.range.start <= words[at].range.end + 1);
    let modifies = |at: usize| behind(at).is_some_and(|next| next.tag == Tag::Noun && next.lemma != lemma);
    own.peek().is_some() && own.all(modifies)
}

/// Returns the speaker whose words are asked for: "what did the guard say about the gate?".
fn asked_speaker<'a>(question: &'a Question<'_>) -> Option<&'a NounPhrase> {
    let clause = &question.asked.clause;
    let says = clause.verb.as_ref().is_some_and(|verb| SPEECH_VERBS.contains(&verb.lemma.as_str()) && !verb.passive);
    let open = matches!(question.ask(), AnswerKind::Thing | AnswerKind::Description | AnswerKind::Action);
    clause.subject.as_ref().filter(|subject| says && open && !subject.is_pronoun() && is_person(subject))
}

/// Returns whether an event can contain the words of a person. An unknown speaker can be anybody.
fn may_be_said_by(speaker: &NounPhrase, reading: &ParsedEvent) -> bool {
    let event = &reading.event;
    let unknown = event.entity.is_none() && event.kind == Kind::Text;
    let own = event.entity.as_deref().is_some_and(|entity| {
        let name = crate::recall::reading::name_phrase(entity);
        phrase_similarity(speaker, &name, reading) >= MIN_PERSON_SIMILARITY
            || steps_below_class(&name, &speaker.head).is_some()
    });
    let told = reading.clauses().any(|clause| {
        let says = clause.verb.as_ref().is_some_and(|verb| SPEECH_VERBS.contains(&verb.lemma.as_str()));
        says && clause
            .subject
            .as_ref()
            .is_some_and(|subject| phrase_similarity(speaker, subject, reading) >= MIN_PERSON_SIMILARITY)
    });
    unknown || own || told
}

/// Returns whether a question restricts nothing but the time: "who was the last person in front of you?".
fn names_nothing(question: &Question<'_>) -> bool {
    question.content.is_empty() && question.asked.cue.is_none()
}

fn prefer_occurrence(
    occurrence: Occurrence,
    ranked: &mut [&RetrievedEvent],
    rank: impl Fn(&RetrievedEvent) -> f32,
    near: f32,
) {
    let top = ranked.first().map_or(0.0, |best| rank(best));
    let strong = |found: &RetrievedEvent| rank(found) >= top - near;
    ranked.sort_by(|a, b| match (strong(a), strong(b)) {
        (true, true) => {
            let time = a.span().start.cmp(&b.span().start);
            if occurrence == Occurrence::Last { time.reverse() } else { time }
        }
        (a, b) => b.cmp(&a),
    });
}

/// Returns the tasks of the events in a time span, the most frequent first, if the question asks for tasks.
fn most_frequent_tasks<'a>(
    question: &Question<'_>,
    pooled: &'a [RetrievedEvent],
) -> Option<(Vec<String>, &'a RetrievedEvent)> {
    let class = question.asked.class.as_ref()?;
    if !matches!(
        class.head.as_str(),
        "recipe" | "task" | "job" | "chore" | "procedure" | "dish" | "programme" | "project"
    ) || question.ask() != AnswerKind::Thing
    {
        return None;
    }
    let bound = question.bound()?;
    let mut counts: Vec<(String, usize, &RetrievedEvent)> = Vec::new();
    for found in pooled.iter().filter(|found| found.span().overlaps(bound)) {
        let Some(task) = found.reading.event.attributes.get("task").and_then(crate::Value::as_text) else { continue };
        match counts.iter_mut().find(|(known, ..)| known == task) {
            Some((_, count, _)) => *count += 1,
            None => counts.push((task.to_owned(), 1, found)),
        }
    }
    counts.sort_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
    let first = counts.first()?.2;
    Some((counts.into_iter().map(|(task, ..)| task).take(MAX_LIST_ITEMS).collect(), first))
}

/// Returns the answer that most of the near events contain.
fn most_common_parts<'a>(
    question: &Question<'_>,
    near: &[&'a RetrievedEvent],
) -> Option<(Vec<String>, &'a RetrievedEvent)> {
    let mut counts: BTreeMap<String, (usize, &RetrievedEvent)> = BTreeMap::new();
    for found in near {
        for part in answer_parts(question, found) {
            counts.entry(part).or_insert((0, found)).0 += 1;
        }
    }
    let (part, (_, found)) =
        counts.into_iter().max_by_key(|(part, (count, _))| (*count, std::cmp::Reverse(part.clone())))?;
    Some((vec![part], found))
}
