//! Answers about the places of a recording as a whole: where it began and ended, where it was longest, which places came
//! again, how many there were, and which came before or after another.

use std::time::Duration;

use super::counts::times_in_words;
use crate::language::english::closed::is_one_of;
use crate::language::english::letters::capitalised;
use crate::language::english::question::{AnswerKind, Occurrence, Order, is_request_verb};
use crate::language::english::space::{at_place, join_list};
use crate::language::english::syntax::{NounPhrase, parse};
use crate::language::english::time::{say_length, say_moment};
use crate::recall::candidate::{Candidate, CandidateValue, Layer};
use crate::recall::itinerary::{Itinerary, ItineraryStay};
use crate::recall::pool::EventPool;
use crate::recall::question::Question;
use crate::recall::reading::is_person;
use crate::{EventId, ReadError, Timestamp};

/// Nouns for a place of whatever kind.
const PLACE_NOUNS: &[&str] = &["place", "room", "location", "spot", "scene", "setting", "site", "stop"];
/// Nouns for what goes from place to place. No place is meant by them.
const COURSE_NOUNS: &[&str] = &[
    "session",
    "recording",
    "video",
    "film",
    "clip",
    "footage",
    "tour",
    "round",
    "patrol",
    "trip",
    "journey",
    "walk",
    "route",
    "drive",
    "day",
    "time",
    "robot",
    "camera",
];
const BEGIN_VERBS: &[&str] = &["begin", "start", "commence"];
const END_VERBS: &[&str] = &["end", "finish", "conclude", "stop"];
/// Verbs for having been at a place, or for having seen it.
const VISIT_VERBS: &[&str] = &[
    "visit", "see", "show", "enter", "pass", "go", "come", "be", "take", "spend", "stay", "last", "occupy", "fill",
    "appear", "turn", "film", "record", "lead", "get", "do", "have", "reach", "feature", "drive", "hang", "linger",
    "remain", "cross", "walk",
];
/// Verbs for having come to a place again.
const RETURN_VERBS: &[&str] = &["return", "revisit", "reappear", "recur"];
/// Adverbs and adjectives that only say which of the places, or how often.
const FRAME_WORDS: &[&str] = &[
    "first",
    "last",
    "long",
    "longest",
    "most",
    "mostly",
    "twice",
    "again",
    "once",
    "more",
    "several",
    "different",
    "distinct",
    "many",
    "back",
    "up",
    "repeatedly",
    "also",
    "both",
    "main",
    "directly",
    "right",
    "immediately",
    "just",
    "next",
    "all",
    "altogether",
    "only",
    "around",
    "far",
    "various",
    "initially",
    "finally",
];

/// What is asked about the places.
enum AskedPlaces {
    /// Where it began, where it ended, or both.
    Ends { begin: bool, end: bool },
    /// Where it was longest.
    Longest,
    /// Which places came more than once.
    Repeated,
    /// Which places came only once.
    Once,
    /// How many different places there were.
    Number,
    /// All of them, in their order.
    All,
    /// The place that came next before or after another.
    Beside(Order),
    /// What came between two places.
    Between(NounPhrase, NounPhrase),
    /// Whether a place came more than once.
    IsRepeated(NounPhrase),
    /// How often a place came, or the place where something is.
    Visits(NounPhrase),
}

/// Answers a question about the places of a recording. `None` for one that asks for anything else.
pub(in crate::recall) fn answer(pool: &EventPool<'_>) -> Result<Option<Candidate>, ReadError> {
    let question = pool.question;
    let Some(asked) = asked_places(question) else { return Ok(None) };
    let itinerary = Itinerary::load(pool)?;
    // A memory with one place, or with none, tells nothing about the order of places.
    if itinerary.visited().len() < 2 {
        return Ok(None);
    }
    // "How many visits did you pay to the loom?": to where the loom stands.
    let showing = match &asked {
        AskedPlaces::Visits(thing) if counts_visits(question) => itinerary.showing(pool, thing)?,
        _ => None,
    };
    let Some(found) = found_places(question, &asked, &itinerary, showing) else { return Ok(None) };
    let Found { text, value, shown, reason } = found;
    Ok(Some(Candidate::computed(
        Layer::Episodes,
        capitalised(&text),
        value,
        pool.read(&shown, &question.content)?,
        question.content.known_share(),
        reason.into(),
    )))
}

/// An answer with the events that show it.
struct Found {
    text: String,
    value: CandidateValue,
    shown: Vec<EventId>,
    reason: &'static str,
}

/// Returns the places that are asked for. `showing` is where a thing was seen that a question names in place of a place.
fn found_places(
    question: &Question<'_>,
    asked: &AskedPlaces,
    itinerary: &Itinerary,
    showing: Option<usize>,
) -> Option<Found> {
    let (first, last) = (itinerary.stays.first()?, itinerary.stays.last()?);
    let name = |place: usize| itinerary.name(place);
    let shown_at = |place: usize| itinerary.stays_at(place).map(|stay| stay.shown).collect::<Vec<_>>();
    let one = |place: usize, shown: Vec<EventId>, reason: &'static str| {
        let text =
            if question.ask() == AnswerKind::Place { at_place(name(place)) } else { format!("the {}", name(place)) };
        Found { text, value: CandidateValue::Text(name(place).to_owned()), shown, reason }
    };
    match asked {
        AskedPlaces::Ends { begin: true, end: true } if first.place != last.place => {
            let (begin, end) = (name(first.place), name(last.place));
            Some(Found {
                text: format!("It began {} and ended {}", at_place(begin), at_place(end)),
                value: CandidateValue::List(vec![begin.to_owned(), end.to_owned()]),
                shown: vec![first.shown, last.shown],
                reason: "the first and the last place",
            })
        }
        AskedPlaces::Ends { begin: true, end: true } => {
            Some(one(first.place, vec![first.shown, last.shown], "the first and the last place"))
        }
        AskedPlaces::Ends { begin: true, .. } => Some(one(first.place, vec![first.shown], "the first place")),
        AskedPlaces::Ends { .. } => Some(one(last.place, vec![last.shown], "the last place")),
        AskedPlaces::Longest => {
            let mut places: Vec<(Duration, usize)> =
                itinerary.visited().into_iter().map(|place| (itinerary.time_at(place), place)).collect();
            places.sort_by_key(|(time, _)| std::cmp::Reverse(*time));
            let [(most, place), (next, _), ..] = *places.as_slice() else { return None };
            let found = one(place, shown_at(place), "the place with the longest time in all");
            (most > next).then(|| Found { text: format!("{}, {} in all", found.text, say_length(most)), ..found })
        }
        AskedPlaces::Repeated | AskedPlaces::Once => {
            let repeated = matches!(asked, AskedPlaces::Repeated);
            let is_asked = |place: &usize| (itinerary.stays_at(*place).count() > 1) == repeated;
            let places: Vec<usize> = itinerary.visited().into_iter().filter(is_asked).collect();
            let names: Vec<String> = places.iter().map(|place| format!("the {}", name(*place))).collect();
            let yes = if question.ask() == AnswerKind::Truth { "yes: " } else { "" };
            (!places.is_empty()).then(|| Found {
                text: format!("{yes}{}", join_list(&names)),
                value: CandidateValue::List(names),
                shown: places.iter().flat_map(|place| shown_at(*place)).collect(),
                reason: if repeated { "the places with more than one visit" } else { "the places with one visit" },
            })
        }
        AskedPlaces::Number | AskedPlaces::All => {
            let places = itinerary.visited();
            let names: Vec<String> = places.iter().map(|place| format!("the {}", name(*place))).collect();
            let list = join_list(&names);
            #[expect(clippy::cast_precision_loss, reason = "a count of places")]
            let count = places.len() as f64;
            let (text, value) = match asked {
                AskedPlaces::Number => (format!("{count}: {list}"), CandidateValue::Number(count, String::new())),
                _ => (list, CandidateValue::List(names)),
            };
            let shown = places.iter().filter_map(|place| shown_at(*place).first().copied()).collect();
            Some(Found { text, value, shown, reason: "the different places in the order of the first visits" })
        }
        AskedPlaces::Between(one_end, other_end) => {
            let (one_end, other_end) = (itinerary.named(one_end)?, itinerary.named(other_end)?);
            let stays = &itinerary.stays;
            let begin = stays.iter().position(|stay| stay.place == one_end)?;
            let end = begin + stays[begin..].iter().position(|stay| stay.place == other_end)?;
            let between: Vec<&ItineraryStay> = stays[begin + 1..end].iter().collect();
            let names: Vec<String> = between.iter().map(|stay| format!("the {}", name(stay.place))).collect();
            (!between.is_empty()).then(|| Found {
                text: join_list(&names),
                value: CandidateValue::List(names),
                shown: between.iter().map(|stay| stay.shown).collect(),
                reason: "the places between the two",
            })
        }
        AskedPlaces::IsRepeated(noun) => {
            let place = itinerary.named(noun)?;
            let shown = shown_at(place);
            let times: Vec<String> =
                itinerary.stays_at(place).map(|stay| say_moment(stay.span.start, &question.now)).collect();
            let repeated = times.len() > 1;
            let said = format!("{} {}", if repeated { "Yes:" } else { "No: once," }, join_list(&times));
            Some(Found { text: said, value: CandidateValue::Truth(repeated), shown, reason: "the visits to it" })
        }
        // On a map, and with pictures, also what only names the place is a visit (`counts`).
        AskedPlaces::Visits(noun) => {
            let place = itinerary.named(noun).or(showing).filter(|_| itinerary.is_described())?;
            let begins: Vec<Timestamp> = itinerary.stays_at(place).map(|stay| stay.span.start).collect();
            let times: Vec<String> = begins.iter().take(5).map(|start| say_moment(*start, &question.now)).collect();
            let more = if begins.len() > times.len() { ", …" } else { "" };
            #[expect(clippy::cast_precision_loss, reason = "a count of visits")]
            let value = CandidateValue::Number(begins.len() as f64, String::new());
            let text = format!("{}: {}{more}", times_in_words(begins.len()), times.join(", "));
            Some(Found { text, value, shown: shown_at(place), reason: "the visits to it" })
        }
        AskedPlaces::Beside(order) => {
            let cue = question.asked.cue.as_ref()?;
            let (_, sentences) = parse(question.part(&cue.range), &[]);
            let nouns = sentences.iter().flat_map(|sentence| &sentence.clauses).flat_map(|clause| clause.nouns());
            let other = nouns.filter(|noun| !is_course(&noun.head)).find_map(|noun| itinerary.named(noun))?;
            let at = itinerary.stays.iter().position(|stay| stay.place == other)?;
            let beside = if *order == Order::Before { at.checked_sub(1)? } else { at + 1 };
            let stay = itinerary.stays.get(beside)?;
            Some(one(stay.place, vec![stay.shown, itinerary.stays[at].shown], "the next place in the order of visits"))
        }
    }
}

/// Returns what a question asks about the places of a recording. `None` if it names anything that happened there.
fn asked_places(question: &Question<'_>) -> Option<AskedPlaces> {
    let asked = &question.asked;
    let lemmas: Vec<&str> = asked.words.iter().map(|word| word.lemma.as_str()).collect();
    let texts: Vec<&str> = asked.words.iter().map(|word| word.text.as_str()).collect();
    let any = |wanted: &[&str]| lemmas.iter().any(|lemma| wanted.contains(lemma));
    let is_place = |noun: &NounPhrase| PLACE_NOUNS.contains(&noun.head.as_str());
    let class = asked.class.iter().chain(&question.named).find(|noun| is_place(noun));
    let of_place = class.is_some();
    // "Where does the film begin?" asks for what is over, in the present.
    let is_plan = |modal: &String| is_one_of(modal, &["will", "shall", "would", "should", "must"]);
    let will = asked.clause.verb.as_ref().is_some_and(|verb| verb.future || verb.modal.as_ref().is_some_and(is_plan));
    if will || asked.negated || asked.alternatives.len() > 1 {
        return None;
    }
    let has = |phrase: &[&str]| texts.windows(phrase.len()).any(|window| window == phrase);
    let again = has(&["more", "than", "once"])
        || has(&["several", "times"])
        || any(&["again", "twice", "repeatedly", "back"])
        || any(RETURN_VERBS);
    let once = any(&["once"]) && any(&["only", "just"]);
    // Where she went, and how often, is nothing of the recording.
    let of_another = |subject: &NounPhrase| !is_course(&subject.head) && (subject.is_pronoun() || is_person(subject));
    if asked.clause.subject.as_ref().is_some_and(of_another) {
        return None;
    }
    let any_place = |noun: &NounPhrase| noun.plural || noun.determiner.as_deref() == Some("any");
    if question.ask() == AnswerKind::Truth && class.is_some_and(any_place) {
        return (again && asked.cue.is_none()).then_some(AskedPlaces::Repeated);
    }
    if question.ask() == AnswerKind::Truth {
        let visited = question.named.iter().find(|noun| !is_course(&noun.head))?;
        let visits = asked.clause.verb.as_ref().is_some_and(|verb| is_visit(&verb.lemma));
        return (again && visits && asked.cue.is_none()).then(|| AskedPlaces::IsRepeated(visited.clone()));
    }
    if question.ask() == AnswerKind::Times {
        let verb = asked.clause.verb.as_ref().map_or("be", |verb| verb.lemma.as_str());
        let comes = is_visit(verb) || counts_visits(question);
        let visited =
            question.named.iter().find(|noun| !is_course(&noun.head) && noun.head != "visit" && !is_place(noun))?;
        return (comes && asked.cue.is_none()).then(|| AskedPlaces::Visits(visited.clone()));
    }
    if !of_place && question.ask() != AnswerKind::Place {
        return None;
    }
    if let Some(between) = asked.clause.adjuncts.iter().find(|adjunct| adjunct.preposition == "between")
        && let [other] = between.noun.also.as_slice()
    {
        let one = NounPhrase { also: Vec::new(), ..between.noun.clone() };
        return of_place.then(|| AskedPlaces::Between(one, other.clone()));
    }
    let known = [PLACE_NOUNS, COURSE_NOUNS, BEGIN_VERBS, END_VERBS, VISIT_VERBS, RETURN_VERBS, FRAME_WORDS].concat();
    let is_known = |lemma: &str| known.contains(&lemma) || is_request_verb(lemma);
    if !question.content.items.iter().all(|item| item.light || is_known(&item.lemma)) {
        return None;
    }
    // "Where did she go first?": only of the recording, and of who made it.
    let subject = asked.clause.subject.as_ref().filter(|subject| !is_place(subject));
    if subject.is_some_and(|subject| !is_course(&subject.head)) || subject.is_none() && !of_place {
        return None;
    }
    if question.ask() == AnswerKind::Count {
        return (of_place && asked.cue.is_none()).then_some(AskedPlaces::Number);
    }
    if let Some(cue) = &asked.cue {
        return (cue.order != Order::During).then_some(AskedPlaces::Beside(cue.order));
    }
    let (begin, end) = (any(BEGIN_VERBS), any(END_VERBS));
    let first = asked.occurrence == Some(Occurrence::First);
    let last = asked.occurrence == Some(Occurrence::Last);
    if begin || end {
        return Some(AskedPlaces::Ends { begin, end });
    }
    // "List the places in the order you first saw them."
    if any(&["order"]) {
        return Some(AskedPlaces::All);
    }
    if first || last {
        return Some(AskedPlaces::Ends { begin: first, end: last });
    }
    if once {
        return Some(AskedPlaces::Once);
    }
    if again {
        return Some(AskedPlaces::Repeated);
    }
    if any(&["longest", "long", "most", "mostly"]) {
        return Some(AskedPlaces::Longest);
    }
    // "Which places did you visit?", "list the places".
    let visits =
        asked.clause.verb.as_ref().is_some_and(|verb| verb.infinitive || VISIT_VERBS.contains(&verb.lemma.as_str()));
    (visits && class.is_some_and(|class| class.plural)).then_some(AskedPlaces::All)
}

/// Returns whether a noun or pronoun stands for the recording, or for who made it.
fn is_course(head: &str) -> bool {
    COURSE_NOUNS.contains(&head) || is_one_of(head, &["you", "we", "it", "this", "that"])
}

/// Returns whether a verb says that somebody was or came to a place, or that it was seen.
fn is_visit(verb: &str) -> bool {
    VISIT_VERBS.contains(&verb) || RETURN_VERBS.contains(&verb)
}

/// Returns whether a question counts visits by that name: "how many visits did you pay to …?"
fn counts_visits(question: &Question<'_>) -> bool {
    question.asked.class.as_ref().is_some_and(|class| class.head == "visit")
}
