//! What a deed says of what it is done to, and of who does it: where it is then, how it is then, whose it is.

use super::{ClauseReading, DIRECTION_WORDS, FILLERS, Named, PARTICLES, is_medicine, is_person, settled};
use crate::semantic::claim::{Attribute, Stance};
use crate::semantic::context::Mention;
use crate::semantic::lexicon::{Act, effect, state_group};
use crate::semantic::text::{Noun, PLACE_WORDS, SentenceWord, noun_words};

impl ClauseReading<'_> {
    /// "The bowl was washed by Anna", "the mug was put in the cupboard".
    pub(super) fn read_passive(&mut self, object: &Named, verb: &str, act: Act, rest: &[SentenceWord]) {
        let by = rest.iter().position(|token| token.is("by"));
        let actor = by.and_then(|by| self.read_noun(rest, by + 1, false)).map(|(actor, _)| actor);
        let rest = &rest[1..by.unwrap_or(rest.len())];
        let place =
            rest.iter().position(|token| token.is_one_of(PLACE_WORDS)).and_then(|at| self.read_place(&rest[at..]));
        let place = place.map(|(place, _)| place);
        let who = actor.as_ref().map_or("", |actor| actor.noun.shown.as_str());
        match (act, place.as_deref()) {
            (Act::Put | Act::Take, Some(place)) => {
                self.conclude(object, Attribute::Place, Stance::Affirms, settled(place).as_str(), None);
            }
            (Act::Go | Act::Stay | Act::Relation | Act::State, _) => return,
            _ => {}
        }
        self.conclude(object, Attribute::Deed(verb.into()), Stance::Affirms, who, place.as_deref());
        self.read_effect(object, verb, rest);
    }

    pub(super) fn read_effect(&mut self, object: &Named, verb: &str, rest: &[SentenceWord]) {
        let particle = rest.iter().find(|token| token.is_one_of(&["on", "off"])).map(|token| token.lower.as_str());
        let Some(state) = effect(verb, particle) else { return };
        let Some(group) = state_group(state) else { return };
        self.conclude(object, Attribute::State(group.into()), Stance::Affirms, state, None);
    }

    /// Reads what follows any other verb.
    pub(super) fn read_action(
        &mut self,
        subject: &Named,
        verb: &str,
        act: Act,
        token: &SentenceWord,
        rest: &[SentenceWord],
    ) {
        let negated = rest.first().is_some_and(|token| token.is("not"));
        if negated || token.is_one_of(&["left", "right"]) && rest.is_empty() {
            return;
        }
        match act {
            Act::Go => self.read_motion(subject, rest),
            Act::Stay => {
                if let Some((place, _)) = self.read_place(rest) {
                    self.conclude(subject, Attribute::Place, Stance::Affirms, &place, None);
                }
            }
            Act::State => {
                if let Some((place, _)) = self.read_place(rest) {
                    self.conclude(subject, Attribute::Named(verb.into()), Stance::Affirms, &place, None);
                }
            }
            Act::Relation => {
                let (words, _) = noun_words(rest, 0);
                let Some(noun) = Noun::from_words(&words, None).filter(|_| subject.noun.name) else { return };
                let attribute = Attribute::Relation(verb.into(), noun.key.into());
                self.conclude(subject, attribute, Stance::Affirms, &noun.shown, None);
            }
            Act::Put | Act::Take | Act::Deed => self.read_handling(subject, verb, act, rest),
        }
    }

    pub(super) fn read_motion(&mut self, subject: &Named, rest: &[SentenceWord]) {
        let at = rest.iter().position(|token| !token.is_one_of(FILLERS) && !token.is_one_of(PARTICLES));
        let Some(at) = at else { return };
        if let Some((place, _)) = self.read_place(&rest[at..]).filter(|_| rest[at].is_one_of(DIRECTION_WORDS)) {
            self.conclude(subject, Attribute::Place, Stance::Affirms, &settled(&place), None);
        }
    }

    /// Something is done to an object: who did it, where the object is then, how it is then.
    pub(super) fn read_handling(&mut self, subject: &Named, verb: &str, act: Act, rest: &[SentenceWord]) {
        let skip = rest.iter().take_while(|token| token.is_one_of(PARTICLES)).count();
        let Some((object, end)) = self.read_noun(rest, skip, false) else {
            if act == Act::Put {
                self.read_motion(subject, rest);
            }
            return;
        };
        let after = &rest[end..];
        let at = after.iter().position(|token| token.is_one_of(PLACE_WORDS) && !token.is("by") || token.is("from"));
        let place = at.and_then(|at| self.read_place(&after[at..])).map(|(place, _)| place);
        let from = after.iter().any(|token| token.is("from"));
        match (act, &place) {
            // "Left the kitchen", "left the mug": without a place it was the place, or nothing is known.
            (Act::Put, None) if verb == "leav" => {
                let value = format!("in the {}", object.noun.shown);
                self.conclude(subject, Attribute::Place, Stance::Ends, &value, None);
                return;
            }
            (Act::Put, Some(place)) => {
                self.conclude(&object, Attribute::Place, Stance::Affirms, &settled(place), None);
            }
            (Act::Take, Some(place)) if !from => {
                self.conclude(&object, Attribute::Place, Stance::Affirms, &settled(place), None);
            }
            // Who takes a tablet has it no more.
            (Act::Take, None) if is_medicine(&object.noun) => {}
            (Act::Take, _) if is_person(&subject.noun) || self.speaker.as_ref() == Some(&subject.noun) => {
                let value = format!("with {}", subject.noun.shown);
                self.conclude(&object, Attribute::Place, Stance::Affirms, &value, None);
            }
            _ => {}
        }
        let attribute = Attribute::Deed(verb.into());
        self.conclude(&object, attribute, Stance::Affirms, &subject.noun.shown, place.as_deref());
        let particles: Vec<SentenceWord> = rest[..skip].iter().chain(after).cloned().collect();
        self.read_effect(&object, verb, &particles);
        if object.told_by.is_none() {
            let at = self.event.span.start.as_micros();
            let person = object.noun.name;
            let mention = Mention { event: self.event.id, at, noun: object.noun, person };
            self.context.mention(&self.event.source, mention);
        }
    }
}
