//! Where an event says that things are.

use std::ops::Range;

use super::{ALSO, Reading, is_anaphor, is_person};
use crate::Value;
use crate::language::english::closed::{LEAVING, PLACING, is_one_of};
use crate::language::english::lexicon::{self, Category, PartOfSpeech};
use crate::language::english::syntax::{Adjunct, Clause, NounKind, NounPhrase};

/// Prepositions of a place that the place before lies at.
const NESTING: &[&str] = &["in", "on", "at", "under", "behind", "beside", "near", "next to", "above", "below"];

/// Verbs of a vessel whose contents go where they say, and not the vessel: "she empties the bucket into the sink".
const EMPTYING: &[&str] = &["empty", "drain"];

/// How a place stands to a thing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::recall) enum Placement {
    /// It is there, or comes there.
    At,
    /// It is there no more.
    From,
}

/// Where an event says that a thing is.
#[derive(Debug, Clone)]
pub(in crate::recall) struct Place {
    pub thing: NounPhrase,
    /// In words, the preposition included.
    pub text: String,
    pub placement: Placement,
    /// Where in the text the clause begins that says so: of two in one event the later one holds.
    pub at: usize,
}

impl Reading {
    /// Where the event says that things are, in the order of its text.
    pub fn places(&self) -> Vec<Place> {
        let mut found: Vec<Place> = Vec::new();
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
            found.push(Place { thing, text: in_words(place), placement: Placement::At, at: usize::MAX });
        }
        found
    }

    fn places_of(&self, clause: &Clause, found: &mut Vec<Place>) {
        // What "it" means may stand in what somebody else said before.
        let meant = |noun: &NounPhrase| self.resolve(noun).or_else(|| is_anaphor(noun).then(|| noun.clone()));
        let subject = clause.subject.as_ref().and_then(meant);
        // "Mia and I slept in the attic": both did.
        let others: Vec<NounPhrase> =
            clause.subject.iter().flat_map(NounPhrase::all).skip(1).filter_map(meant).collect();
        let objects: Vec<NounPhrase> = clause.objects.iter().flat_map(NounPhrase::all).filter_map(meant).collect();
        let passive = clause.verb.as_ref().is_some_and(|verb| verb.passive);
        // What is moved is what is then somewhere; without an object it is the subject itself.
        let mut things: Vec<NounPhrase> = objects.iter().filter(|object| !is_measure(object)).cloned().collect();
        if things.is_empty() || passive {
            things.extend(subject.iter().chain(&others).cloned());
        }
        let mut placed = false;
        // "Knock over the lamp" places nothing.
        let is_part = |range: &Range<usize>| {
            let verb = clause.verb.as_ref().filter(|verb| range.start <= verb.range.end + 1);
            verb.is_some_and(|verb| {
                let phrase = format!("{} over", verb.lemma);
                self.text(range).starts_with("over ")
                    && lexicon::parts_of_speech(&phrase).can_be(PartOfSpeech::Verb)
                    && !matches!(verb.lemma.as_str(), "go" | "come" | "hang")
            })
        };
        let empties = clause.verb.as_ref().is_some_and(|verb| EMPTYING.contains(&verb.lemma.as_str())) && !passive;
        let run = place_runs(clause);
        for (placement, range, noun) in run.into_iter().filter(|(_, range, _)| !is_part(range)) {
            // "At Mia's": where she lives.
            let behind = self.event.text.get(noun.range.end..).unwrap_or_default();
            let home = ["'s", "’s"].iter().find(|mark| behind.starts_with(**mark));
            let range = range.start..range.end.max(noun.range.end + home.map_or(0, |mark| mark.len()));
            if is_person(noun) && !matches!(noun.kind, NounKind::Common) && home.is_none() {
                continue;
            }
            // She comes "with a baby on her hip": neither is there.
            let carried = noun.owner.is_some() && things.iter().all(is_person);
            let carried = carried && lexicon::category(&noun.head, PartOfSpeech::Noun) == Some(Category::Body);
            if carried
                || !can_be_place(noun)
                || empties && matches!(self.text(&range).split(' ').next(), Some("into" | "onto" | "to"))
            {
                continue;
            }
            placed |= placement == Placement::At;
            let text = self.text(&range).to_owned();
            let text = if placement == Placement::From { without_first(&text) } else { text };
            for thing in &things {
                found.push(Place { thing: thing.clone(), text: text.clone(), placement, at: clause.range.start });
            }
            // Who goes somewhere with a thing is there as well.
            let moves = clause
                .verb
                .as_ref()
                .is_some_and(|verb| lexicon::category(&verb.lemma, PartOfSpeech::Verb) == Some(Category::MotionVerb));
            if moves
                && !objects.is_empty()
                && !passive
                && let Some(subject) = &subject
            {
                found.push(Place { thing: subject.clone(), text: text.clone(), placement, at: clause.range.start });
            }
        }
        // "On the dock in the hall": the dock is in the hall.
        for pair in clause.adjuncts.windows(2) {
            let [first, second] = pair else { continue };
            let touches = second.range.start <= first.range.end + 1;
            if touches
                && is_one_of(&second.preposition, NESTING)
                && can_be_place(&second.noun)
                && !is_person(&first.noun)
            {
                found.push(Place {
                    thing: first.noun.clone(),
                    text: self.text(&second.range).to_owned(),
                    placement: Placement::At,
                    at: clause.range.start,
                });
            }
        }
        let verb = clause.verb.as_ref();
        for (word, _) in &clause.complements {
            if !placed
                && matches!(
                    word.as_str(),
                    "upstairs" | "downstairs" | "outside" | "inside" | "home" | "outdoors" | "indoors" | "abroad"
                )
            {
                for thing in &things {
                    found.push(Place {
                        thing: thing.clone(),
                        text: word.clone(),
                        placement: Placement::At,
                        at: clause.range.start,
                    });
                }
            }
        }
        // "Anna has it": with her.
        let holds = verb.is_some_and(|verb| {
            matches!(verb.lemma.as_str(), "have" | "hold" | "borrow" | "keep" | "wear")
                && !verb.negated
                && verb.modal.is_none()
        });
        if holds && !placed && subject.as_ref().is_some_and(is_person) {
            let text = format!(
                "with {}",
                clause
                    .subject
                    .as_ref()
                    .filter(|noun| !noun.is_pronoun())
                    .map_or(self.event.entity.clone().unwrap_or_default(), |noun| self.phrase_text(noun))
            );
            for thing in objects {
                found.push(Place { thing, text: text.clone(), placement: Placement::At, at: clause.range.start });
            }
        }
    }
}

/// Adjuncts of place in a row are one place: "into the case on the table".
fn place_runs(clause: &Clause) -> Vec<(Placement, Range<usize>, &NounPhrase)> {
    let mut found: Vec<(Placement, Range<usize>, &NounPhrase)> = Vec::new();
    let mut last: Option<&Adjunct> = None;
    for adjunct in &clause.adjuncts {
        let placement = if is_one_of(&adjunct.preposition, LEAVING) {
            Some(Placement::From)
        } else if is_placing(&adjunct.preposition) {
            Some(Placement::At)
        } else {
            None
        };
        let Some(placement) = placement else {
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

fn is_placing(preposition: &str) -> bool {
    is_one_of(preposition, PLACING)
        || preposition.split(' ').next_back().is_some_and(|last| is_one_of(last, PLACING) && !matches!(last, "by"))
}

/// Whether a noun can be where something is: a moment or a way of doing cannot.
pub(in crate::recall) fn can_be_place(noun: &NounPhrase) -> bool {
    let category = lexicon::category(&noun.head, PartOfSpeech::Noun);
    // A yard is a length and a place.
    let also = || {
        let mut all = lexicon::categories(&noun.head, PartOfSpeech::Noun).into_iter();
        all.any(|(category, share)| matches!(category, Category::Location | Category::Artifact) && share >= ALSO)
    };
    noun.kind != NounKind::Pronoun
        && noun.kind != NounKind::Number
        // "Through hard times" is nowhere.
        && noun.head != "time"
        // Who is "on the phone" is elsewhere.
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

/// A place as an answer: "kitchen" is "in the kitchen".
pub(in crate::recall) fn in_words(place: &str) -> String {
    let place = place.trim();
    let first = place.split_whitespace().next().unwrap_or_default().to_lowercase();
    if is_one_of(&first, PLACING) {
        place.to_owned()
    } else if is_one_of(&first, &["the", "a", "an", "my", "his", "her", "our", "their"])
        || place.starts_with(char::is_uppercase)
    {
        format!("in {place}")
    } else {
        format!("in the {place}")
    }
}

fn without_first(text: &str) -> String {
    text.split_once(' ').map_or(text, |(_, rest)| rest).to_owned()
}
