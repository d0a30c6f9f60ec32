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
}

impl Phrase {
    /// Words that may fit any part of a step.
    pub fn any(text: impl Into<String>) -> Self {
        Self { text: text.into(), part: None }
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

/// The terms of every step of a procedure.
pub(crate) struct StepWords<'a> {
    procedure: &'a Procedure,
    stems: Stems,
    /// Wordings and names of each step, with the part that each stands for.
    fields: Vec<Vec<(Part, Vec<TermId>)>>,
}

impl<'a> StepWords<'a> {
    pub fn of(procedure: &'a Procedure) -> Self {
        let stems = Stems::new();
        let fields = procedure.steps().iter().map(|step| {
            let attributes = &step.attributes;
            let wordings = step.wordings.iter().map(|wording| (Part::Step, wording));
            let names = [
                (Part::Object, &attributes.objects),
                (Part::Tool, &attributes.tools),
                (Part::Place, &attributes.places),
                (Part::Person, &attributes.persons),
            ];
            let names = names.into_iter().flat_map(|(part, names)| names.keys().map(move |name| (part, name)));
            wordings.chain(names).map(|(part, text)| (part, stems.of(text))).collect()
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
        for (step, fields) in self.fields.iter().enumerate() {
            named[step] |= fields
                .iter()
                .any(|(part, field)| phrase.part.is_none_or(|wanted| wanted == *part) && is_subset(&terms, field));
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
        let likeness = |fields: &[(Part, Vec<TermId>)]| {
            let wordings = fields.iter().filter(|(part, _)| *part == Part::Step);
            let dice = wordings.map(|(_, field)| {
                let shared = terms.iter().filter(|term| field.binary_search(term).is_ok()).count();
                2.0 * shared as f64 / (terms.len() + field.len()) as f64
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
