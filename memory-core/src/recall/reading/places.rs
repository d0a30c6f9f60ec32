//! Extracts where an event locates things.

use std::ops::Range;

use super::{MIN_OTHER_SENSE_SHARE, ParsedEvent, is_anaphor, is_person};
use crate::Value;
use crate::language::english::closed::{PLACE_PREPOSITIONS, SOURCE_PREPOSITIONS, is_one_of};
use crate::language::english::lexicon::{self, Category, PartOfSpeech};
use crate::language::english::syntax::{Adjunct, Clause, NounKind, NounPhrase};

/// Prepositions of a place that contains the place before it.
const NESTING_PREPOSITIONS: &[&str] =
    &["in", "on", "at", "under", "behind", "beside", "near", "next to", "above", "below"];

/// Verbs that move the contents of a vessel and not the vessel: "she empties the bucket into the sink".
const EMPTYING_VERBS: &[&str] = &["empty", "drain"];

/// Adverbs that are places.
const PLACE_ADVERBS: &[&str] =
    &["upstairs", "downstairs", "outside", "inside", "home", "outdoors", "indoors", "abroad"];

/// Verbs whose object is with the person to whom it goes.
const GIVING_VERBS: &[&str] = &["give", "hand", "lend", "pass", "sell"];
/// Verbs whose object is with the subject.
const HOLDING_VERBS: &[&str] = &["have", "hold", "borrow", "keep", "wear"];

/// Relation of a thing to a place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::recall) enum Placement {
    /// It is there, or comes there.
    At,
    /// It is there no more.
    From,
}

/// A place of a thing according to an event.
#[derive(Debug, Clone)]
pub(in crate::recall) struct ThingPlace {
    pub thing: NounPhrase,
    /// The place in words, with the preposition.
    pub text: String,
    pub placement: Placement,
    /// Start of the clause in the text. Of two places in one event the later one holds.
    pub clause_start: usize,
}

impl ParsedEvent {
    /// Returns the places of things in an event, in text order.
    pub fn places(&self) -> Vec<ThingPlace> {
        let mut found: Vec<ThingPlace> = Vec::new();
        for sentence in self.sentences.iter().filter(|sentence| !sentence.asks) {
            for clause in &sentence.clauses {
                if clause.verb.as_ref().is_some_and(|verb| verb.negated) {
                    continue;
                }
                self.places_of(clause, &mut found);
            }
        }
        if let Some(place) = self.event.attributes.get("place").and_then(Value::as_text)
            && let Some(thing) =
                self.entity_phrase().filter(|_| found.iter().all(|place| place.placement == Placement::From))
        {
            found.push(ThingPlace {
                thing,
                text: with_preposition(place),
                placement: Placement::At,
                clause_start: usize::MAX,
            });
        }
        found
    }

    fn places_of(&self, clause: &Clause, found: &mut Vec<ThingPlace>) {
        // The referent of "it" may be in a statement of another speaker.
        let meant = |noun: &NounPhrase| self.resolve(noun).or_else(|| is_anaphor(noun).then(|| noun.clone()));
        let subject = clause.subject.as_ref().and_then(meant);
        // "Mia and I slept in the attic": both did.
        let others: Vec<NounPhrase> =
            clause.subject.iter().flat_map(NounPhrase::coordinated).skip(1).filter_map(meant).collect();
        let objects: Vec<NounPhrase> =
            clause.objects.iter().flat_map(NounPhrase::coordinated).filter_map(meant).collect();
        let verb = clause.verb.as_ref();
        let passive = verb.is_some_and(|verb| verb.passive);
        // A moved object is at the place; without an object, the subject is.
        let mut things: Vec<NounPhrase> = objects.iter().filter(|object| !is_measure(object)).cloned().collect();
        if things.is_empty() || passive {
            things.extend(subject.iter().chain(&others).cloned());
        }
        let mut add = |thing: &NounPhrase, text: &str, placement: Placement| {
            let (thing, text) = (thing.clone(), text.to_owned());
            found.push(ThingPlace { thing, text, placement, clause_start: clause.range.start });
        };
        // A person who moves with a thing is at the place too.
        let moves =
            verb.is_some_and(|verb| lexicon::category(&verb.lemma, PartOfSpeech::Verb) == Some(Category::MotionVerb));
        let mover = subject.as_ref().filter(|_| moves && !objects.is_empty() && !passive);
        let mut placed = false;
        for (placement, range, noun) in joined_places(clause) {
            let Some(text) = self.place_in_words(clause, &things, placement, &range, noun) else { continue };
            placed |= placement == Placement::At;
            things.iter().chain(mover).for_each(|thing| add(thing, &text, placement));
        }
        // "On the dock in the hall": the dock is in the hall.
        for pair in clause.adjuncts.windows(2) {
            let [first, second] = pair else { continue };
            let touches = second.range.start <= first.range.end + 1;
            let nests = touches && is_one_of(&second.preposition, NESTING_PREPOSITIONS);
            if nests && can_be_place(&second.noun) && !is_person(&first.noun) {
                add(&first.noun, self.text(&second.range), Placement::At);
            }
        }
        if !placed {
            for (word, _) in clause.complements.iter().filter(|(word, _)| is_one_of(word, PLACE_ADVERBS)) {
                things.iter().for_each(|thing| add(thing, word, Placement::At));
            }
            // "Gives it to Anna": with her.
            let gives =
                verb.is_some_and(|verb| is_one_of(&verb.lemma, GIVING_VERBS) && !verb.negated && verb.modal.is_none());
            let receiver =
                clause.adjuncts.iter().find(|adjunct| adjunct.preposition == "to" && is_person(&adjunct.noun));
            if let Some(receiver) = receiver.filter(|receiver| gives && !receiver.noun.is_pronoun()) {
                let text = format!("with {}", self.phrase_text(&receiver.noun));
                objects.iter().for_each(|thing| add(thing, &text, Placement::At));
            }
            // "Anna has it": with her.
            let is_held =
                verb.is_some_and(|verb| is_one_of(&verb.lemma, HOLDING_VERBS) && !verb.negated && verb.modal.is_none());
            if is_held && subject.as_ref().is_some_and(is_person) {
                let named = clause.subject.as_ref().filter(|noun| !noun.is_pronoun());
                let speaker = || self.event.entity.clone().unwrap_or_default();
                let text = format!("with {}", named.map_or_else(speaker, |noun| self.phrase_text(noun)));
                objects.iter().for_each(|thing| add(thing, &text, Placement::At));
            }
        }
    }

    /// Returns a place of a clause in words, unless it is none of the things: "she knocks over the lamp", "with a baby on
    /// her hip".
    fn place_in_words(
        &self,
        clause: &Clause,
        things: &[NounPhrase],
        placement: Placement,
        range: &Range<usize>,
        noun: &NounPhrase,
    ) -> Option<String> {
        let verb = clause.verb.as_ref();
        // "Knock over the lamp" places nothing.
        let is_part_of_verb = verb.filter(|verb| range.start <= verb.range.end + 1).is_some_and(|verb| {
            self.text(range).starts_with("over ")
                && lexicon::parts_of_speech(&format!("{} over", verb.lemma)).can_be(PartOfSpeech::Verb)
                && !matches!(verb.lemma.as_str(), "go" | "come" | "hang")
        });
        // "At Mia's": where she lives.
        let behind = self.event.text.get(noun.range.end..).unwrap_or_default();
        let home = ["'s", "’s"].iter().find(|mark| behind.starts_with(**mark));
        let range = range.start..range.end.max(noun.range.end + home.map_or(0, |mark| mark.len()));
        let is_named_person = is_person(noun) && noun.kind != NounKind::Common && home.is_none();
        // She comes "with a baby on her hip": neither is there.
        let carried = noun.owner.is_some()
            && things.iter().all(is_person)
            && lexicon::category(&noun.head, PartOfSpeech::Noun) == Some(Category::Body);
        let empties = verb.is_some_and(|verb| is_one_of(&verb.lemma, EMPTYING_VERBS) && !verb.passive)
            && matches!(self.text(&range).split(' ').next(), Some("into" | "onto" | "to"));
        if is_part_of_verb || is_named_person || carried || !can_be_place(noun) || empties {
            return None;
        }
        let text = self.text(&range);
        Some(if placement == Placement::From { without_source(text) } else { text.to_owned() })
    }
}

/// Joins consecutive adjuncts of place: "into the case on the table" is one place.
fn joined_places(clause: &Clause) -> Vec<(Placement, Range<usize>, &NounPhrase)> {
    let mut found: Vec<(Placement, Range<usize>, &NounPhrase)> = Vec::new();
    let mut last: Option<&Adjunct> = None;
    for (at, adjunct) in clause.adjuncts.iter().enumerate() {
        if is_of_object(clause, at) {
            continue;
        }
        let placement = if is_one_of(&adjunct.preposition, SOURCE_PREPOSITIONS) {
            Some(Placement::From)
        } else if is_place_preposition(&adjunct.preposition) {
            Some(Placement::At)
        } else {
            None
        };
        // "Lies on the mat with a ribbon on its tail": the ribbon is on the tail.
        let previous = at.checked_sub(1).map(|before| &clause.adjuncts[before]);
        let of_companion = previous.is_some_and(|with| {
            with.preposition == "with"
                && adjunct.range.start <= with.range.end + 1
                && is_one_of(&adjunct.preposition, NESTING_PREPOSITIONS)
                && found.iter().any(|(placement, ..)| *placement == Placement::At)
        });
        let Some(placement) = placement.filter(|_| !of_companion) else {
            last = None;
            continue;
        };
        let stays = matches!(
            adjunct.preposition.as_str(),
            "in" | "on"
                | "at"
                | "by"
                | "beside"
                | "under"
                | "behind"
                | "near"
                | "next to"
                | "of"
                | "inside"
                | "above"
                | "over"
                | "round"
                | "below"
        );
        let follows = last.is_some_and(|last| adjunct.range.start <= last.range.end + 2) && stays;
        match found.last_mut() {
            Some((_, range, _)) if follows => range.end = adjunct.range.end,
            _ => found.push((placement, adjunct.range.clone(), &adjunct.noun)),
        }
        last = Some(adjunct);
    }
    found
}

/// Returns whether a phrase with "to" belongs to the thing before it, of a clause that tells behind it where the thing is:
/// "hides the keys to the house in a drawer".
fn is_of_object(clause: &Clause, at: usize) -> bool {
    let adjunct = &clause.adjuncts[at];
    let touches = |end: usize, start: usize| end < start && start <= end + 1;
    let moves = clause.verb.as_ref().is_some_and(|verb| {
        let mut categories = lexicon::categories(&verb.lemma, PartOfSpeech::Verb).into_iter();
        categories.any(|(category, _)| category == Category::MotionVerb)
    });
    let next = clause.adjuncts.get(at + 1);
    adjunct.preposition == "to"
        && !moves
        && clause.objects.iter().any(|object| touches(object.range.end, adjunct.range.start))
        && next.is_some_and(|next| {
            touches(adjunct.range.end, next.range.start) && is_one_of(&next.preposition, NESTING_PREPOSITIONS)
        })
}

fn is_place_preposition(preposition: &str) -> bool {
    is_one_of(preposition, PLACE_PREPOSITIONS)
        || preposition
            .split(' ')
            .next_back()
            .is_some_and(|last| is_one_of(last, PLACE_PREPOSITIONS) && !matches!(last, "by"))
}

/// Returns whether a noun can be a location. A moment or a manner cannot.
pub(in crate::recall) fn can_be_place(noun: &NounPhrase) -> bool {
    let category = lexicon::category(&noun.head, PartOfSpeech::Noun);
    // "Yard" is a unit of length and a place.
    let also = || {
        let mut all = lexicon::categories(&noun.head, PartOfSpeech::Noun).into_iter();
        all.any(|(category, share)| {
            matches!(category, Category::Location | Category::Artifact) && share >= MIN_OTHER_SENSE_SHARE
        })
    };
    noun.kind != NounKind::Pronoun
        && noun.kind != NounKind::Number
        // "Through hard times" is nowhere.
        && noun.head != "time"
        // A person "on the phone" is elsewhere.
        && !matches!(noun.head.as_str(), "phone" | "telephone")
        && (!matches!(category, Some(Category::Quantity | Category::Animal | Category::State)) || also())
        && !matches!(
            category,
            Some(Category::Time | Category::Feeling | Category::Motive | Category::Attribute | Category::Cognition)
        )
}

fn is_measure(noun: &NounPhrase) -> bool {
    // "It was there the whole time."
    noun.kind == NounKind::Number
        || noun.head == "time"
        || matches!(lexicon::category(&noun.head, PartOfSpeech::Noun), Some(Category::Time))
}

/// Returns a place as an answer: "in the kitchen" for "kitchen".
pub(in crate::recall) fn with_preposition(place: &str) -> String {
    let place = place.trim();
    let first = place.split_whitespace().next().unwrap_or_default().to_lowercase();
    if is_one_of(&first, PLACE_PREPOSITIONS) {
        place.to_owned()
    } else if is_one_of(&first, &["the", "a", "an", "my", "his", "her", "our", "their"])
        || place.starts_with(char::is_uppercase)
    {
        format!("in {place}")
    } else {
        format!("in the {place}")
    }
}

/// Returns a place without the words that say that something left it: "box 3" of "out of box 3".
fn without_source(text: &str) -> String {
    let rest = text.split_once(' ').map_or(text, |(_, rest)| rest);
    ["of ", "from "].iter().find_map(|word| rest.strip_prefix(word)).unwrap_or(rest).to_owned()
}
