//! Answers where something is, was, or was before: the latest place that an event reports.

mod choice;

use self::choice::{asks_earlier_place, choose_report};
use crate::language::english::closed::is_one_of;
use crate::language::english::letters::capitalised;
use crate::language::english::lexicon::{self, Category, PartOfSpeech};
use crate::language::english::syntax::{Clause, NounKind, NounPhrase};
use crate::language::english::tag::Tag;
use crate::language::english::time::Tense;
use crate::recall::answerers::keep_if_any;
use crate::recall::candidate::{Candidate, CandidateValue, Layer, Signals};
use crate::recall::clause_selection::relevant_clauses;
use crate::recall::content::word_similarity;
use crate::recall::likeness::{attached, best_phrase_similarity, phrase_similarity};
use crate::recall::pool::{EventPool, REPLY_WINDOW, RetrievedEvent, merge};
use crate::recall::question::{Question, ROBOT_ENTITY};
use crate::recall::reading::{ParsedEvent, Placement, ThingPlace, arguments, is_anaphor, is_person, name_phrase};
use crate::{Kind, ReadError, TimeSpan, Timestamp};

/// Factor for a place in another clause than the relevant one.
const OTHER_CLAUSE_FACTOR: f32 = 0.8;
/// Similarity below which a phrase names another thing.
const MIN_THING_SIMILARITY: f32 = 0.5;
/// Certainty that a short name refers to the thing whose full name was used before.
const FULL_NAME_CERTAINTY: f32 = 0.97;
/// Maximum number of texts about the thing whose replies are read, the latest ones.
const MAX_REPLIED_TEXTS: usize = 12;
/// Minimum similarity of a text to the thing for a mention.
const MIN_MENTION_SIMILARITY: f32 = 0.85;
/// Certainty that "it" in a reply refers to the thing mentioned before.
const REPLY_CERTAINTY: f32 = 0.93;
/// Certainty that a robot charges at the place of a dock or a station.
const DOCK_CERTAINTY: f32 = 0.95;
/// Minimum similarity of a clause to the deed in question.
const MIN_DEED_SIMILARITY: f32 = 0.6;
/// Longest time bound that means one moment.
const MAX_MOMENT: std::time::Duration = std::time::Duration::from_secs(3 * 3_600);
/// Maximum difference in likeness to the best report of one that is chosen from.
const MAX_LIKENESS_GAP: f32 = 0.12;
/// Minimum likeness of a report that was chosen by the order of several.
const MIN_ORDERED_LIKENESS: f32 = 0.85;
/// Maximum number of events of the thing that are read.
const MAX_THING_EVENTS: usize = 200;

/// Verbs that move a thing or somebody to a place.
const MOVING_VERBS: &[&str] =
    &["bring", "carry", "come", "drive", "go", "move", "put", "send", "shift", "ship", "take", "walk"];

/// A reported place of the thing.
struct PlaceReport {
    at: Timestamp,
    place: ThingPlace,
    found: RetrievedEvent,
    likeness: f32,
}

/// What the question says of the place that it asks for.
struct PlaceSearch<'a> {
    question: &'a Question<'a>,
    thing: NounPhrase,
    /// The names of who the thing is, if it is a person or an animal that is called by a role.
    names: Vec<NounPhrase>,
    /// The deed whose place is asked for.
    verb: Option<String>,
    /// Whether nothing but where the thing is is asked for.
    only_place: bool,
    /// Greatest coverage of the question by any of the events.
    best_coverage: f32,
}

/// Answers with the place of the thing in question.
pub(in crate::recall) fn answer(
    pool: &EventPool<'_>,
    pooled: &[RetrievedEvent],
    cue: Option<&RetrievedEvent>,
) -> Result<Option<Candidate>, ReadError> {
    let question = pool.question;
    let Some(thing) = located_phrase(question) else { return Ok(None) };
    let listed = pool.events_about(&thing, None, true, MAX_THING_EVENTS, &question.content)?;
    let mentioned = pool.events_mentioning(&thing, None, true, MAX_THING_EVENTS, &question.content)?;
    // Whoever talks of a thing again leaves out what tells it apart.
    let by_head = match thing.kind == NounKind::Common && thing.is_specific() {
        true => pool.events_mentioning(&thing.head_alone(), None, true, MAX_THING_EVENTS, &question.content)?,
        false => Vec::new(),
    };
    let mut all = merge(merge(merge(pooled.to_vec(), listed), mentioned), by_head);
    let called = question.role_names.iter().filter(|(role, _)| *role == thing.head);
    let names: Vec<NounPhrase> = called.map(|(_, name)| name_phrase(name)).collect();
    for name in &names {
        all = merge(all, pool.events_mentioning(name, None, true, MAX_THING_EVENTS, &question.content)?);
    }
    let search = PlaceSearch {
        question,
        only_place: asks_only_for_place(question, &thing),
        verb: deed_at_place(question),
        best_coverage: all.iter().map(|found| found.coverage.of_content).fold(0.0, f32::max).max(0.1),
        names,
        thing,
    };
    // Questions and suppositions do not locate a thing.
    let telling: Vec<RetrievedEvent> = all.iter().filter(|found| !found.reading.only_asks()).cloned().collect();
    let mut deed_told = 0.0_f32;
    let mut reports: Vec<PlaceReport> = Vec::new();
    for found in &telling {
        reports.extend(search.reports_of_event(found, &telling, &mut deed_told));
    }
    reports.extend(places_in_replies(pool, &search.latest_mentions(all))?);
    search.keep_places_of_deed(&mut reports);
    let best = reports.iter().map(|report| report.likeness).fold(0.0, f32::max);
    reports.retain(|report| report.likeness >= best - MAX_LIKENESS_GAP);
    reports.sort_by_key(|report| (report.at, report.found.id(), report.place.clause_start));
    let Some(chosen) = choose_report(question, &reports, search.only_place, cue) else { return Ok(None) };
    // The place of a person is not the place of an unreported deed.
    let untold = !search.only_place && search.other_deed().is_some() && deed_told < MIN_DEED_SIMILARITY;
    let coverage = chosen.found.coverage.of_content;
    let signals = Signals {
        coverage,
        cosine: chosen.found.cosine.unwrap_or(0.0),
        margin: 1.0,
        fits: if untold { 0.0 } else { 1.0 },
        thing: chosen.likeness,
        known: question.content.known_share(),
    };
    let mut evidence = vec![chosen.found.clone()];
    evidence.extend(pooled.iter().filter(|found| found.id() != chosen.found.id()).cloned());
    let moves = search.verb.as_deref().is_some_and(|verb| MOVING_VERBS.contains(&verb));
    let place = match question.tense == Tense::Present && !moves {
        true => as_position(&chosen.place.text),
        false => chosen.place.text.clone(),
    };
    let place = chosen.found.reading.in_third_person(&place);
    Ok(Some(Candidate {
        layer: Layer::Episodes,
        text: capitalised(&place),
        value: CandidateValue::Text(place),
        evidence,
        signals,
        confidence: 0.0,
        // A reader of single events knows nothing of their order.
        computed: asks_earlier_place(question) && reports.len() > 1 && chosen.likeness >= MIN_ORDERED_LIKENESS,
        reason: reason_for(question, &reports, chosen),
    }))
}

/// Says in a few words why a report was chosen of several, which are in the order of their times.
fn reason_for(question: &Question<'_>, reports: &[PlaceReport], chosen: &PlaceReport) -> String {
    let is_chosen = |report: Option<&PlaceReport>| report.is_some_and(|report| std::ptr::eq(report, chosen));
    let which = match reports {
        [_] => return "the only place told of it".into(),
        _ if question.asked.habitual => "the most frequent",
        _ if is_chosen(reports.last()) => "the latest",
        _ if is_chosen(reports.first()) => "the first",
        _ => "one",
    };
    format!("{which} of {} places told of it", reports.len())
}

impl PlaceSearch<'_> {
    /// Returns the deed if it is more than being somewhere.
    fn other_deed(&self) -> Option<&str> {
        self.verb.as_deref().filter(|verb| !is_location_verb(verb))
    }

    /// Returns the latest texts about the thing. A reply to one of them may say where it is.
    fn latest_mentions(&self, mut events: Vec<RetrievedEvent>) -> Vec<RetrievedEvent> {
        events.retain(|found| {
            found.reading.event.kind == Kind::Text
                && best_phrase_similarity(&self.thing, &found.reading) >= MIN_MENTION_SIMILARITY
        });
        events.sort_by_key(|found| std::cmp::Reverse((found.span().start, found.id())));
        events.truncate(MAX_REPLIED_TEXTS);
        events
    }

    /// Returns the places of the thing that an event reports. `deed_told` becomes the greatest similarity of what was
    /// done there to the deed in question.
    fn reports_of_event(
        &self,
        found: &RetrievedEvent,
        telling: &[RetrievedEvent],
        deed_told: &mut f32,
    ) -> Vec<PlaceReport> {
        let question = self.question;
        // If only the place is asked for, any clause counts.
        let clauses: Vec<usize> = match self.only_place {
            true => Vec::new(),
            false => relevant_clauses(question, &found.reading).into_iter().map(|clause| clause.range.start).collect(),
        };
        let lives = self.verb.as_deref().is_some_and(|verb| matches!(verb, "live" | "reside"));
        let mut reports = Vec::new();
        for place in found.reading.places().into_iter().chain(origins(&found.reading).filter(|_| lives)) {
            if question.tense != Tense::Future && is_proposed(&place, &found.reading) {
                continue;
            }
            let report =
                |place, likeness| PlaceReport { at: found.span().start, place, found: found.clone(), likeness };
            // A robot charges at its dock.
            if self.verb.as_deref() == Some("charge")
                && matches!(place.thing.head.as_str(), "dock" | "station" | "charger")
            {
                reports.push(report(place, DOCK_CERTAINTY));
                *deed_told = 1.0;
                continue;
            }
            let mut likeness = self.likeness(&place, found, telling);
            if likeness < MIN_THING_SIMILARITY || names_itself(&self.thing, &place) {
                continue;
            }
            // "Where does he sleep?" asks for another place than "where is he?".
            if let Some(verb) = self.other_deed() {
                // "Is from there" means "lives there".
                let told = match lives && origins(&found.reading).any(|home| home.text == place.text) {
                    true => 1.0,
                    false => deed_similarity(verb, &place, &found.reading),
                };
                *deed_told = deed_told.max(told);
                likeness *= 0.7 + 0.3 * told;
            }
            // What else the question says of it counts where it asks for more than where the thing is: "where did you
            // get stuck?"
            if !self.only_place {
                likeness *= 0.6 + 0.4 * (found.coverage.of_content / self.best_coverage).min(1.0);
                if !clauses.contains(&place.clause_start) && place.clause_start != usize::MAX {
                    likeness *= OTHER_CLAUSE_FACTOR;
                }
            }
            reports.push(report(place, likeness));
        }
        reports
    }

    /// Returns the certainty that a place in an event is one of the thing.
    fn likeness(&self, place: &ThingPlace, found: &RetrievedEvent, telling: &[RetrievedEvent]) -> f32 {
        let called = std::iter::once(&self.thing).chain(&self.names);
        let mut likeness =
            called.map(|name| reference_certainty(name, &place.thing, found, telling)).fold(0.0, f32::max);
        // An actor is at the place of the deed: "she does her exercises on the lawn".
        if let Some(verb) = self.other_deed()
            && let Some(actor) = actor(place, &found.reading)
            && deed_similarity(verb, place, &found.reading) >= MIN_DEED_SIMILARITY
        {
            likeness = likeness.max(phrase_similarity(&self.thing, &actor, &found.reading));
        }
        // The dock is where the robot charges.
        let is_dock =
            matches!(self.thing.head.as_str(), "dock" | "station" | "charger") && place.thing.head == ROBOT_ENTITY;
        if is_dock
            && found.reading.event.entity.as_deref() == Some(ROBOT_ENTITY)
            && deed_similarity("charge", place, &found.reading) >= MIN_DEED_SIMILARITY
        {
            likeness = likeness.max(DOCK_CERTAINTY);
        }
        likeness
    }

    /// Keeps the places of what the subject of the question does, if any was reported.
    fn keep_places_of_deed(&self, reports: &mut Vec<PlaceReport>) {
        let question = self.question;
        let verb = self.verb.as_deref();
        // "Where did Mia take the dog?": where somebody else had it is not asked.
        let subject = question.asked.clause.subject.as_ref();
        if let Some(who) = subject.filter(|who| who.kind == NounKind::Name && is_person(who))
            && verb.is_some_and(|verb| matches!(verb, "take" | "bring" | "carry" | "drive" | "have"))
            && question.tense == Tense::Past
            && question.asked.clause.objects.iter().any(|object| !object.is_pronoun())
        {
            keep_if_any(reports, |report| {
                actor(&report.place, &report.found.reading)
                    .is_some_and(|actor| phrase_similarity(who, &actor, &report.found.reading) >= MIN_DEED_SIMILARITY)
            });
        }
        // "Where does she go on Mondays?": where she is otherwise is not where she goes.
        if question.asked.habitual && verb == Some("go") {
            keep_if_any(reports, |report| {
                let clause = report.found.reading.clause_at(report.place.clause_start);
                let moves = clause.and_then(|clause| clause.verb.as_ref()).is_some_and(|told| {
                    lexicon::category(&told.lemma, PartOfSpeech::Verb) == Some(Category::MotionVerb)
                });
                let place = report.place.text.to_lowercase();
                moves && ["to ", "into ", "out to ", "off to "].iter().any(|towards| place.starts_with(towards))
            });
        }
    }
}

/// Returns where something is that was moved there: "in the tin" of "into the tin", "the office" of "to the office".
fn as_position(place: &str) -> String {
    let position = [("into ", "in "), ("onto ", "on "), ("to ", "")].into_iter().find_map(|(towards, at)| {
        let head = place.get(..towards.len()).filter(|head| head.eq_ignore_ascii_case(towards))?;
        Some(format!("{at}{}", &place[head.len()..]))
    });
    position.unwrap_or_else(|| place.to_owned())
}

/// Returns whether somebody only proposes to move the thing to a place: "I could take it to the workshop".
fn is_proposed(place: &ThingPlace, reading: &ParsedEvent) -> bool {
    reading.clause_at(place.clause_start).and_then(|clause| clause.verb.as_ref()).is_some_and(|verb| {
        let proposes =
            matches!(verb.modal.as_deref(), Some("can" | "could" | "may" | "might" | "should" | "would" | "must"));
        proposes && !verb.passive && is_one_of(&verb.lemma, MOVING_VERBS)
    })
}

/// Returns the deed whose place is asked for: "where does she like to paint?" asks where she paints.
fn deed_at_place(question: &Question<'_>) -> Option<String> {
    let verb = question.asked.clause.verb.as_ref().filter(|verb| !verb.auxiliary_only)?;
    // "Where can it be picked up?" asks where it is.
    if verb.passive && matches!(verb.modal.as_deref(), Some("can" | "could")) {
        return None;
    }
    let clauses = question.asked.sentences.iter().flat_map(|sentence| &sentence.clauses);
    let mut behind = clauses.filter(|clause| clause.range.start >= question.asked.clause.range.end);
    let infinitive = behind.next().and_then(|clause| clause.verb.as_ref()).filter(|verb| verb.infinitive);
    let wants = matches!(
        verb.lemma.as_str(),
        "like" | "love" | "prefer" | "tend" | "want" | "use" | "need" | "suppose" | "mean"
    );
    let done = infinitive.filter(|_| wants).unwrap_or(verb);
    // "Where is the meeting held?" asks where it is.
    if done.passive && done.lemma == "hold" {
        return None;
    }
    Some(done.lemma.clone())
}

/// Returns the certainty that a located thing is the one in question. "The cup", told after "the blue cup", is the blue
/// one; told after "the green cup", it is the green one.
pub(super) fn reference_certainty(
    thing: &NounPhrase,
    told: &NounPhrase,
    found: &RetrievedEvent,
    called: &[RetrievedEvent],
) -> f32 {
    let value = phrase_similarity(thing, told, &found.reading);
    if value < MIN_THING_SIMILARITY && names_kind_of(thing, told, &found.reading) {
        return FULL_NAME_CERTAINTY;
    }
    let vague = !thing.modifiers.is_empty() && told.modifiers.is_empty() && told.owner.is_none() && told.of.is_none();
    if !vague || value < MIN_THING_SIMILARITY || told.determiner.as_deref() != Some("the") {
        return value;
    }
    let head = thing.head_alone();
    let before = called.iter().filter(|other| other.span().start < found.span().start);
    let precise = before.filter_map(|other| {
        let nouns = other.reading.clauses().flat_map(arguments).flat_map(NounPhrase::coordinated);
        let of_kind = nouns
            .filter(|noun| {
                !noun.modifiers.is_empty() && phrase_similarity(&head, noun, &other.reading) >= MIN_THING_SIMILARITY
            })
            .map(|noun| phrase_similarity(thing, noun, &other.reading));
        of_kind.reduce(f32::max).map(|value| (other.span().start, other.id(), value))
    });
    let last = precise.max_by_key(|(at, id, _)| (*at, *id));
    last.map_or(value, |(.., before)| before.min(FULL_NAME_CERTAINTY))
}

/// Returns whether a text names a thing first and then its kind alone: "stands on the stepladder … leans the ladder on the
/// wall".
fn names_kind_of(thing: &NounPhrase, told: &NounPhrase, reading: &ParsedEvent) -> bool {
    let is_kind = |noun: &NounPhrase| {
        let below = lexicon::is_a_as(&noun.head, &told.head, PartOfSpeech::Noun).is_some_and(|steps| steps > 0);
        // A carpet is no pet.
        let category = |head: &str| lexicon::category(head, PartOfSpeech::Noun);
        let compound = noun.head.len() > told.head.len() && noun.head.ends_with(&told.head);
        below || compound && category(&noun.head) == category(&told.head)
    };
    let before = reading.clauses().flat_map(arguments).filter(|noun| noun.range.end <= told.range.start);
    let mut kinds = before.filter(|noun| noun.kind == NounKind::Common && is_kind(noun)).peekable();
    told.determiner.as_deref() == Some("the")
        && !told.is_specific()
        && told.kind == NounKind::Common
        && kinds.peek().is_some()
        && kinds.all(|noun| phrase_similarity(thing, noun, reading) >= MIN_MENTION_SIMILARITY)
}

/// Returns the places in replies to a mention of the thing: "I can't find the saw." "It is in the shed."
fn places_in_replies(pool: &EventPool<'_>, spoken: &[RetrievedEvent]) -> Result<Vec<PlaceReport>, ReadError> {
    let mut stays = Vec::new();
    for said in spoken {
        let span = said.span();
        let soon = TimeSpan { start: span.end, end: span.end.saturating_add(REPLY_WINDOW) };
        let replies =
            pool.events_in_time_order(Some(soon), None, vec![Kind::Text], false, 3, &pool.question.content)?;
        for mut reply in replies.into_iter().filter(|reply| reply.id() != said.id() && !reply.reading.only_asks()) {
            let places = reply.reading.places();
            let Some(place) = places.into_iter().rfind(|place| is_anaphor(&place.thing)) else { continue };
            reply.coverage = said.coverage;
            stays.push(PlaceReport { at: reply.span().start, place, found: reply, likeness: REPLY_CERTAINTY });
            break;
        }
    }
    Ok(stays)
}

/// Returns where an event says that somebody is from: "Mr Falk from the second floor".
fn origins(reading: &ParsedEvent) -> impl Iterator<Item = ThingPlace> {
    reading.clauses().flat_map(move |clause| {
        let persons = clause.subject.iter().chain(&clause.objects).filter(|noun| is_person(noun));
        persons.filter_map(move |noun| {
            let from = clause
                .adjuncts
                .iter()
                .find(|adjunct| adjunct.preposition.starts_with("from") && adjunct.range.start == noun.range.end + 1)?;
            let text = reading.text(&from.range).split_once(' ').map(|(_, place)| place.to_owned())?;
            Some(ThingPlace { thing: noun.clone(), text, placement: Placement::At, clause_start: clause.range.start })
        })
    })
}

/// Returns the actor of the clause that locates something.
fn actor(place: &ThingPlace, reading: &ParsedEvent) -> Option<NounPhrase> {
    let clause = reading.clause_at(place.clause_start)?;
    clause.subject.as_ref().and_then(|subject| reading.resolve(subject)).filter(is_person)
}

/// Returns how well the clause that locates a thing matches a deed, by its verb or by a noun: "does her exercises".
fn deed_similarity(verb: &str, place: &ThingPlace, reading: &ParsedEvent) -> f32 {
    let all = || reading.clauses();
    let verbs = all().filter_map(|clause| clause.verb.as_ref()).map(|told| word_similarity(verb, &told.lemma));
    let here = all().filter(|clause| clause.range.start == place.clause_start);
    let nouns = here.flat_map(|clause| &clause.objects).map(|noun| 0.95 * word_similarity(verb, &noun.head));
    verbs.chain(nouns).fold(0.0, f32::max)
}

/// Returns what a question for a place is about: the object that is put somewhere, else the subject.
pub(in crate::recall) fn located_phrase(question: &Question<'_>) -> Option<NounPhrase> {
    let clause = &question.asked.clause;
    let object = clause.objects.iter().find(|object| !object.is_pronoun());
    let subject = clause.subject.as_ref();
    // "Where had the robot been?" "Where are you?": the robot itself.
    let itself = subject
        .filter(|subject| matches!(subject.head.as_str(), "you" | "your"))
        .map(|_| crate::recall::reading::name_phrase("robot"));
    let pronoun = subject.is_none_or(NounPhrase::is_pronoun);
    // "She had left it at work. Where was it after all?": what the words before name.
    let thing = subject
        .filter(|subject| matches!(subject.head.as_str(), "it" | "they" | "that" | "those"))
        .and_then(|_| question.named.iter().find(|noun| !is_person(noun)).cloned());
    object
        .cloned()
        .or_else(|| subject.filter(|_| !pronoun).cloned())
        .map(|noun| with_purpose(noun, clause))
        .or(itself)
        .or(thing)
        .or_else(|| question.named.first().cloned())
}

/// Returns a thing with what it is for: "the key for the cellar" is the cellar key.
fn with_purpose(noun: NounPhrase, clause: &Clause) -> NounPhrase {
    let purpose = attached(&noun, clause).filter(|_| noun.of.is_none() && noun.kind == NounKind::Common);
    let of = purpose.map(|purpose| Box::new(purpose.clone()));
    NounPhrase { of: of.or(noun.of), ..noun }
}

/// Returns whether a question describes the thing in no other way: "where did you get stuck?" does.
fn asks_only_for_place(question: &Question<'_>, thing: &NounPhrase) -> bool {
    let clause = &question.asked.clause;
    let placed: Vec<&str> = clause.adjuncts.iter().flat_map(|adjunct| adjunct.noun.lemmas()).collect();
    let own = thing.lemmas();
    let main = &question.asked.main;
    question
        .asked
        .words
        .iter()
        .filter(|word| main.start <= word.range.start && word.range.end <= main.end)
        .filter(|word| matches!(word.tag, Tag::Noun | Tag::Verb | Tag::Adjective))
        .map(|word| word.lemma.as_str())
        .all(|word| own.contains(&word) || placed.contains(&word) || is_location_verb(word))
}

/// Returns whether a verb asks for a place and nothing else.
fn is_location_verb(verb: &str) -> bool {
    matches!(
        verb,
        "be" | "put"
            | "go"
            | "get"
            | "end"
            | "find"
            | "keep"
            | "leave"
            | "lie"
            | "stand"
            | "stay"
            | "hide"
            | "place"
            | "see"
            | "have"
            | "do"
            | "spend"
            | "locate"
            | "store"
            | "move"
            | "bring"
            | "take"
            | "wait"
            | "sit"
            | "remain"
            | "come"
            | "land"
            | "turn"
            | "lay"
            | "set"
            | "carry"
            | "last"
    )
}

/// Returns whether a phrase of place names the thing itself: "the mug is in the mug".
fn names_itself(thing: &NounPhrase, place: &ThingPlace) -> bool {
    let text = place.text.to_lowercase();
    let words: Vec<&str> = text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()).collect();
    words.last().is_some_and(|last| word_similarity(&thing.head, last) >= 0.95)
}

pub(super) fn same_place(a: &str, b: &str) -> bool {
    let plain = |text: &str| {
        let words = text.to_lowercase();
        words
            .split(|c: char| !c.is_alphanumeric())
            .filter(|word| !crate::index::is_stop_word(word))
            .map(str::to_owned)
            .collect::<Vec<_>>()
    };
    plain(a) == plain(b)
}
