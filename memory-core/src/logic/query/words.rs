//! Phrases of a request against the steps of a procedure: exact words first, then stems.

use std::cell::RefCell;

use crate::index::{Analyzer, TermId, term_of, words};
use crate::logic::{Procedure, StepId, normalise};

/// Part of a step that a phrase is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Part {
    /// Its words.
    Step,
    /// A thing it is done to.
    Object,
    /// A thing it is done with.
    Tool,
    /// The place of the step.
    Place,
    /// The actor of the step.
    Person,
}

/// Words that name steps: `oven` names every step that speaks of an oven or is done with, to or at one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Phrase {
    /// The words.
    pub text: String,
    /// Only steps that the words fit in this part; any part if absent.
    pub part: Option<Part>,
    /// Other names of the same thing, which count like the words.
    pub also: Vec<String>,
    /// Only steps that need the thing: of the names in its part, it has more than half of the weight of the most frequent
    /// one. A step that was once done with a pot instead of the bowl needs no pot.
    pub needed: bool,
}

impl Phrase {
    /// Words that may fit any part of a step.
    pub fn any(text: impl Into<String>) -> Self {
        Self { text: text.into(), part: None, also: Vec::new(), needed: false }
    }

    /// Words that fit one part of a step.
    pub fn of_part(text: impl Into<String>, part: Part) -> Self {
        Self { part: Some(part), ..Self::any(text) }
    }

    /// A thing that steps need.
    pub fn needed(text: impl Into<String>) -> Self {
        Self { needed: true, ..Self::any(text) }
    }
}

impl From<&str> for Phrase {
    fn from(text: &str) -> Self {
        Self::any(text)
    }
}

/// Turns texts into terms; remembers what it has stemmed.
pub(crate) struct Stems(RefCell<Analyzer>);

impl Stems {
    pub fn new() -> Self {
        Self(RefCell::new(Analyzer::new()))
    }

    /// The distinct terms of a text, sorted. A text of stop words alone keeps them: they are all it says.
    pub fn of(&self, text: &str) -> Vec<TermId> {
        let mut terms = Vec::new();
        self.0.borrow_mut().for_each_term(text, &mut |term| terms.push(term));
        if terms.is_empty() {
            terms.extend(words(text).map(|word| term_of(&word)));
        }
        terms.sort_unstable();
        terms.dedup();
        terms
    }
}

/// A wording or a name of a step: one end of an edge from the step to a thing, a place or a person.
struct StepField {
    part: Part,
    terms: Vec<TermId>,
    /// Whether the step needs it; see [`Phrase::needed`].
    needed: bool,
}

/// The terms of every step of a procedure.
pub(crate) struct StepWords<'a> {
    procedure: &'a Procedure,
    stems: Stems,
    /// Wordings and names of each step.
    fields: Vec<Vec<StepField>>,
}

impl<'a> StepWords<'a> {
    pub fn of(procedure: &'a Procedure) -> Self {
        let stems = Stems::new();
        let fields = procedure.steps().iter().map(|step| {
            let attributes = &step.attributes;
            let field = |part, text: &str, needed| StepField { part, terms: stems.of(text), needed };
            let mut fields: Vec<StepField> =
                step.wordings.iter().map(|wording| field(Part::Step, wording, true)).collect();
            let parts = [
                (Part::Object, &attributes.objects),
                (Part::Tool, &attributes.tools),
                (Part::Place, &attributes.places),
                (Part::Person, &attributes.persons),
            ];
            for (part, names) in parts {
                // The weight of an edge is how many observations of the step named its end.
                let heaviest = names.values().copied().max().unwrap_or(0);
                fields.extend(names.iter().map(|(name, weight)| field(part, name, 2 * weight > heaviest)));
            }
            fields
        });
        let fields = fields.collect();
        Self { procedure, stems, fields }
    }

    /// Which steps a phrase names, by step number. A phrase that is a step's own wording names that step and no other,
    /// unless it is a single word.
    pub fn named_by(&self, phrase: &Phrase) -> Vec<bool> {
        let mut named = vec![false; self.fields.len()];
        let terms = self.stems.of(&phrase.text);
        let of_steps = phrase.part.is_none_or(|part| part == Part::Step);
        if let Some(step) = self.procedure.find_step(&phrase.text).filter(|_| of_steps) {
            named[step.0 as usize] = true;
            if terms.len() > 1 {
                return named;
            }
        }
        let also = phrase.also.iter().map(|name| self.stems.of(name));
        let names: Vec<Vec<TermId>> = [terms].into_iter().chain(also).collect();
        let fits = |field: &StepField| {
            let wanted = phrase.part.is_none_or(|part| part == field.part) && (field.needed || !phrase.needed);
            wanted && names.iter().any(|terms| is_subset(terms, &field.terms))
        };
        for (step, fields) in self.fields.iter().enumerate() {
            named[step] |= fields.iter().any(fits);
        }
        named
    }

    /// The step that somebody means by a text: one of its wordings, or else the one that shares most stems with it.
    /// `None` if nothing shares most of them.
    pub fn meant_by(&self, text: &str) -> Option<StepId> {
        if normalise(text).is_empty() {
            return None;
        }
        if let Some(step) = self.procedure.find_step(text) {
            return Some(step);
        }
        let terms = self.stems.of(text);
        let likeness = |fields: &[StepField]| {
            let wordings = fields.iter().filter(|field| field.part == Part::Step);
            let dice = wordings.map(|field| {
                let shared = terms.iter().filter(|term| field.terms.binary_search(term).is_ok()).count();
                2.0 * shared as f64 / (terms.len() + field.terms.len()) as f64
            });
            dice.fold(0.0, f64::max)
        };
        let mut best = (MIN_DICE, None);
        for (step, fields) in self.fields.iter().enumerate() {
            let likeness = likeness(fields);
            if likeness > best.0 && self.procedure.steps()[step].count > 0 {
                best = (likeness, Some(StepId(step as u32)));
            }
        }
        best.1
    }
}

/// Dice coefficient of their stems above which two wordings may mean the same step.
const MIN_DICE: f64 = 0.5;

/// Whether sorted `part` lies in sorted `whole`; nothing lies in nothing.
fn is_subset(part: &[TermId], whole: &[TermId]) -> bool {
    !part.is_empty() && part.iter().all(|term| whole.binary_search(term).is_ok())
}
