//! Which of the reported places of a thing answers a question.

use super::{MAX_MOMENT, MOVING_VERBS, PlaceReport, same_place};
use crate::language::english::closed::is_one_of;
use crate::language::english::question::{Occurrence, Order};
use crate::language::english::syntax::{Clause, NounPhrase};
use crate::language::english::tag::{Tag, Word, lemma};
use crate::language::english::time::Tense;
use crate::recall::content::word_similarity;
use crate::recall::pool::RetrievedEvent;
use crate::recall::question::Question;
use crate::recall::reading::Placement;

/// Minimum similarity of a verb to "find" for a report of where something was found.
const MIN_FINDING_SIMILARITY: f32 = 0.9;

/// Minimum similarity of a word of a place to one of the question.
const MIN_PLACE_WORD_SIMILARITY: f32 = 0.9;

/// Returns whether a question asks for somebody's origin: "where are you from?", "where does he come from?".
fn asks_origin(question: &Question<'_>) -> bool {
    let clause = &question.asked.clause;
    let left = clause.complements.iter().any(|(word, _)| word == "from");
    left && clause.verb.as_ref().is_some_and(|verb| matches!(verb.lemma.as_str(), "be" | "come"))
}

/// Returns whether a report states an origin: "I am from the coast", and not "she comes from the kitchen".
fn states_origin(stay: &PlaceReport) -> bool {
    let verb = stay.found.reading.clause_at(stay.place.clause_start).and_then(|clause| clause.verb.as_ref());
    verb.is_some_and(|verb| verb.lemma == "be" || verb.lemma == "come" && !verb.past)
}

/// Returns whether a question asks where something was until it was found: "where did she find it?", "where did it turn
/// up?", "where had it been all along?".
fn asks_where_found(question: &Question<'_>) -> bool {
    let Some(verb) = question.asked.clause.verb.as_ref().filter(|_| question.tense == Tense::Past) else {
        return false;
    };
    match verb.lemma.as_str() {
        "find" | "discover" => true,
        "turn" => verb.particle.as_deref() == Some("up"),
        "be" | "hide" => verb.perfect && question.asked.words.iter().any(|word| word.has_text("along")),
        _ => false,
    }
}

/// Returns whether a question asks where a thing was before it was moved, whenever that was.
fn asks_before_move(question: &Question<'_>) -> bool {
    let Some(cue) = question.asked.cue.as_ref().filter(|cue| cue.order == Order::Before) else { return false };
    let mut words = question.asked.words_in(&cue.range);
    let moves = |word: &Word| word.tag == Tag::Verb && is_one_of(&word.lemma, MOVING_VERBS);
    words.clone().any(moves) && !words.any(|word| matches!(word.tag, Tag::Noun | Tag::Name))
}

/// Returns whether a question asks where a thing was before something else, so that the order of the places decides.
pub(super) fn asks_earlier_place(question: &Question<'_>) -> bool {
    let before = question.searchable_cue().is_some_and(|(cue, _)| cue.order == Order::Before);
    before || question.asked.occurrence == Some(Occurrence::Previous) || asks_before_move(question)
}

/// Returns the place to which the thing came in the cue of a question: "before it went into the bag".
fn place_in_cue<'a>(question: &Question<'_>, arrivals: &[&'a PlaceReport]) -> Option<&'a PlaceReport> {
    let cue = question.asked.cue.as_ref()?;
    let inside = |clause: &&Clause| cue.range.start <= clause.range.start && clause.range.end <= cue.range.end;
    let clause = question.asked.sentences.iter().flat_map(|sentence| &sentence.clauses).find(inside)?;
    let verb = clause.verb.as_ref()?;
    let is_thing = |noun: &NounPhrase| matches!(noun.head.as_str(), "it" | "they" | "them");
    let comes = (is_one_of(&verb.lemma, MOVING_VERBS) || verb.lemma == "be")
        && clause.subject.iter().chain(&clause.objects).any(is_thing);
    let to = clause.adjuncts.iter().find(|it| is_one_of(&it.preposition, &["in", "into", "on", "onto", "to"]))?;
    let words = to.noun.lemmas();
    let tells = |stay: &&&PlaceReport| {
        let told: Vec<String> = crate::index::words(&stay.place.text).map(|word| lemma(&word, Tag::Noun)).collect();
        words.iter().all(|word| told.iter().any(|told| word_similarity(word, told) >= MIN_PLACE_WORD_SIMILARITY))
    };
    arrivals.iter().rev().filter(|_| comes).find(tells).copied()
}

/// Returns where a thing was when it was last found, else from where it was last taken.
fn found_place<'a>(question: &Question<'_>, stays: &'a [PlaceReport]) -> Option<&'a PlaceReport> {
    let tells = |stay: &&PlaceReport| {
        let verb = stay.found.reading.clause_at(stay.place.clause_start).and_then(|clause| clause.verb.as_ref());
        verb.is_some_and(|verb| word_similarity("find", &verb.lemma) >= MIN_FINDING_SIMILARITY)
            && stay.place.placement == Placement::At
    };
    let left = |stay: &&PlaceReport| stay.place.placement == Placement::From;
    let in_time = |stay: &&PlaceReport| {
        let bound = question.bound().filter(|_| question.has_time_bound());
        bound.is_none_or(|bound| bound.start <= stay.at && stay.at <= bound.end)
    };
    let last = |is: &dyn Fn(&&PlaceReport) -> bool| stays.iter().rev().find(is);
    last(&|stay| in_time(stay) && tells(stay))
        .or_else(|| last(&|stay| in_time(stay) && left(stay)))
        .or_else(|| last(&tells))
        .or_else(|| last(&left))
}

/// Returns the place that answers: by the deed, the event that places the question in time, its bounds, or the latest one.
pub(super) fn choose_report<'a>(
    question: &Question<'_>,
    stays: &'a [PlaceReport],
    mere: bool,
    cue: Option<&RetrievedEvent>,
) -> Option<&'a PlaceReport> {
    let arrivals: Vec<&PlaceReport> = stays.iter().filter(|stay| stay.place.placement == Placement::At).collect();
    if question.asked.habitual {
        return most_common(&arrivals);
    }
    // "Where does she come from?"
    if asks_origin(question) {
        return stays.iter().rev().find(|stay| stay.place.placement == Placement::From && states_origin(stay));
    }
    if asks_where_found(question)
        && let Some(place) = found_place(question, stays)
    {
        return Some(place);
    }
    if let (Some(cue), Some((relation, _))) = (cue, question.searchable_cue()) {
        let came = place_in_cue(question, &arrivals).map(|came| &came.found);
        let cue = came.filter(|_| relation.order == Order::Before).unwrap_or(cue);
        let span = cue.span();
        return match relation.order {
            Order::During => arrivals.iter().rev().find(|stay| stay.at <= span.end).copied(),
            Order::Before => {
                let here =
                    stays.iter().find(|stay| stay.found.id() == cue.id() && stay.place.placement == Placement::From);
                here.or_else(|| {
                    arrivals.iter().rev().find(|stay| stay.at < span.start && stay.found.id() != cue.id()).copied()
                })
            }
            Order::After => arrivals.iter().find(|stay| stay.at >= span.start).copied(),
        };
    }
    let bound = if question.has_time_bound() { question.bound() } else { question.hard };
    if let Some(bound) = bound {
        // "Ten minutes ago" is a moment, however precisely people tell it.
        let length = bound.end.since(bound.start);
        let at = if length <= MAX_MOMENT { bound.start.saturating_add(length / 2) } else { bound.end };
        let until = arrivals
            .iter()
            .rev()
            .find(|stay| stay.at <= at)
            .copied()
            .or_else(|| arrivals.iter().rev().find(|stay| stay.at <= bound.end).copied());
        return match question.asked.occurrence {
            Some(Occurrence::First) => arrivals.iter().find(|stay| stay.at >= bound.start).copied().or(until),
            _ => until.or_else(|| {
                stays.iter().find(|stay| stay.at >= bound.start && stay.place.placement == Placement::From)
            }),
        };
    }
    match question.asked.occurrence.or_else(|| Some(Occurrence::Previous).filter(|_| asks_before_move(question))) {
        Some(Occurrence::First) => arrivals.first().copied(),
        Some(Occurrence::Previous) => {
            let last = arrivals.last()?;
            let other = arrivals.iter().rev().find(|stay| !same_place(&stay.place.text, &last.place.text)).copied();
            // "She takes it from the desk": that is where it was.
            let left = |stay: &&&PlaceReport| stay.place.placement == Placement::From && stay.at <= last.at;
            match stays.iter().rev().collect::<Vec<_>>().iter().find(left) {
                Some(left) if other.is_none_or(|other| other.at < left.at) => Some(*left),
                _ => other,
            }
        }
        // "Where was it?", asked of what was taken out of somewhere: there.
        _ if mere
            && question.tense == Tense::Past
            && question.asked.clause.verb.as_ref().is_some_and(|verb| verb.lemma == "be" && !verb.perfect)
            && stays.last().is_some_and(|stay| stay.place.placement == Placement::From) =>
        {
            stays.last()
        }
        // A thing is at its latest place. A deed is done at the place that is reported most clearly.
        _ if mere || question.tense != Tense::Past => arrivals.last().copied(),
        _ => arrivals.iter().copied().max_by(|a, b| a.found.score.total_cmp(&b.found.score).then(a.at.cmp(&b.at))),
    }
}

fn most_common<'a>(stays: &[&'a PlaceReport]) -> Option<&'a PlaceReport> {
    let count =
        |stay: &&&PlaceReport| stays.iter().filter(|other| same_place(&stay.place.text, &other.place.text)).count();
    stays.iter().max_by_key(|stay| (count(stay), stay.at)).copied()
}
