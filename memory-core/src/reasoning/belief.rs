//! The probability that each interval holds the answer, by Bayes' rule over what was seen.

use crate::Modality;
use crate::recall::looking::{Wanted, WantedTerm, has_word, label_similarity};

use super::interval::Interval;
use super::likeness::{self, Thing};
use super::tools::{AskedThing, KnownPlace, Reach, Sighting, SightingKind, Tool};

/// Minimum certainty at which a label means a word.
pub(super) const MIN_LABEL_MATCH: f32 = 0.6;
/// Prior rate at which a thing in the question occurs in a random interval.
const BASE_RATE: f32 = 0.2;
/// Weight of [`BASE_RATE`], as a number of intervals.
const BASE_RATE_INTERVALS: f32 = 2.0;
/// Lower and upper bound of a rate.
const RATE_BOUNDS: (f32, f32) = (0.02, 0.9);
/// Gain of words and faces that the question does not name.
const UNNAMED_GAIN: f32 = 0.5;
/// Gain of the sound of a thing for a question that does not ask for sounds. The thing need not be in the picture.
const SOUND_ONLY_GAIN: f32 = 0.3;

/// Knowledge about one word in one interval.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
struct WordSighting {
    /// Probability that it is there.
    probability: f32,
    /// The recall of the best tool that looked for it.
    recall: f32,
}

impl ToolReach {
    fn from_wanted(wanted: &Wanted, reach: &Reach, things: &[Thing]) -> Self {
        let named = |lemma: &str| likeness::has_label(reach, lemma);
        let compared = |place: usize| reach.likeness && things.iter().any(|thing| thing.terms.contains(&place));
        let likeness = f32::from(u8::from(reach.likeness && !things.is_empty()));
        let told = f32::from(u8::from(reach.question && wanted.said < 1.0 && !wanted.heard));
        let words =
            f32::from(u8::from(reach.writing && wanted.written)).max(if reach.speech { wanted.said } else { 0.0 });
        let term = |place: usize, lemma: &str| if named(lemma) || compared(place) { 1.0 } else { words.max(told) };
        let person = f32::from(u8::from(reach.faces && wanted.person));
        Self {
            terms: wanted.terms.iter().enumerate().map(|(place, term_)| term(place, &term_.lemma)).collect(),
            unnamed: words.max(person).max(told).max(likeness) * UNNAMED_GAIN,
            place: if reach.places.is_some() && wanted.place { UNNAMED_GAIN } else { 0.0 },
        }
    }
}

/// Findings about the words of a question, by interval.
pub(super) struct IntervalBelief {
    wanted: Wanted,
    /// Findings by interval and term. `None` if no tool with a label for the term looked.
    seen: Vec<Vec<Option<WordSighting>>>,
    /// Probabilities before any look.
    prior: Vec<f32>,
    /// Things without a label, if a tool compares them with pictures.
    things: Vec<Thing>,
    /// Reach of each tool.
    reach: Vec<(Tool, ToolReach)>,
    /// Share of an interval's speech without a transcript in the memory, by interval.
    wordless: Vec<f32>,
    /// Share of an interval without a place in the memory, by interval.
    placeless: Vec<f32>,
}

/// What a tool can contribute to a question.
#[derive(Debug, Clone, PartialEq, Default)]
struct ToolReach {
    /// Probability, by term, that the tool finds the term where it is: 1 if it has a label for it.
    terms: Vec<f32>,
    /// Probability that the tool finds what the question asks for besides its terms: spoken or written words, a person.
    unnamed: f32,
    /// Probability that the tool finds the place that the question asks for, if the memory has none.
    place: f32,
}

impl IntervalBelief {
    /// `wordless` is the share of each interval's speech without a transcript in the memory, and `placeless` the share
    /// of each interval without a place in the memory.
    pub fn new(
        wanted: Wanted,
        options: &[String],
        intervals: &[Interval],
        wordless: Vec<f32>,
        placeless: Vec<f32>,
        tools: &[(Tool, Reach)],
    ) -> Self {
        let things = likeness::unlabelled_things(&wanted, options, tools);
        let reach =
            tools.iter().map(|(tool, reach)| (*tool, ToolReach::from_wanted(&wanted, reach, &things))).collect();
        Self {
            prior: intervals.iter().map(|interval| interval.probability).collect(),
            seen: vec![vec![None; wanted.terms.len()]; intervals.len()],
            wanted,
            things,
            reach,
            wordless,
            placeless,
        }
    }

    /// Returns the things to compare with pictures.
    pub fn asked_things(&self) -> Vec<AskedThing> {
        self.things.iter().map(|thing| thing.asked.clone()).collect()
    }

    /// Returns the terms that a sighting matches, each with its similarity.
    pub fn matching_terms(&self, sighting: &Sighting) -> Vec<(usize, f32)> {
        if sighting.kind == SightingKind::Likeness {
            let seen = self.things.iter().filter(|thing| thing.asked.phrase == sighting.label);
            return seen.flat_map(|thing| thing.terms.iter().map(|place| (*place, 1.0))).collect();
        }
        let likeness = |lemma: &str| match sighting.kind {
            // The model knows the question, and reports what answers it.
            SightingKind::Description | SightingKind::Likeness => 1.0,
            SightingKind::Speech | SightingKind::Writing => f32::from(u8::from(has_word(&sighting.label, lemma))),
            SightingKind::Face => label_similarity("person", Modality::Visual, lemma),
            SightingKind::Object | SightingKind::Scene | SightingKind::Sound | SightingKind::Place => {
                label_similarity(&sighting.label, sighting.kind.modality(), lemma)
            }
        };
        let terms = self.wanted.terms.iter().enumerate();
        terms
            .map(|(place, term)| (place, likeness(&term.lemma)))
            .filter(|(_, likeness)| *likeness >= MIN_LABEL_MATCH)
            .collect()
    }

    /// Returns whether the question asks for any sighting of a kind.
    pub fn asks_for(&self, kind: SightingKind) -> bool {
        match kind {
            SightingKind::Speech => self.wanted.said >= 1.0,
            SightingKind::Writing => self.wanted.written,
            SightingKind::Face => self.wanted.person,
            SightingKind::Place => self.wanted.place,
            SightingKind::Description | SightingKind::Likeness => true,
            SightingKind::Object | SightingKind::Scene | SightingKind::Sound => false,
        }
    }

    /// Returns whether the question asks for a place or names a known one.
    pub fn asks_for_places(&self, known: &[KnownPlace]) -> bool {
        let named = |place: &KnownPlace| self.matches_any_term(&place.name, |_| true);
        self.wanted.place || known.iter().any(named)
    }

    /// Returns whether the label of a visible thing matches a word of the question itself.
    pub fn matches_question(&self, label: &str) -> bool {
        self.matches_any_term(label, |term| term.option.is_none())
    }

    fn matches_any_term(&self, label: &str, counts: impl Fn(&WantedTerm) -> bool) -> bool {
        let mut terms = self.wanted.terms.iter().filter(|term| counts(term));
        terms.any(|term| label_similarity(label, Modality::Visual, &term.lemma) >= MIN_LABEL_MATCH)
    }

    /// Probability that an interval contains a thing with a label, before any look. One of the options is there.
    #[expect(clippy::cast_precision_loss, reason = "a few options")]
    pub fn prior_of(&self, meant: &[(usize, f32)], interval: &Interval) -> f32 {
        let options = self.wanted.terms.iter().filter_map(|term| term.option).max().map_or(1, |most| most + 1) as f32;
        let of = |place: usize| match self.wanted.terms.get(place).and_then(|term| term.option) {
            Some(_) => interval.probability / options,
            None => interval.probability,
        };
        meant.iter().map(|(place, likeness)| of(*place) * likeness).fold(0.0, f32::max)
    }

    /// Returns whether any tool may find a word of the question, or what it asks for.
    pub fn can_see_anything(&self) -> bool {
        self.reach
            .iter()
            .any(|(_, reach)| reach.unnamed.max(reach.place) > 0.0 || reach.terms.iter().any(|reached| *reached > 0.0))
    }

    fn reaches(&self, tool: Tool) -> Option<&ToolReach> {
        self.reach.iter().find(|(known, _)| *known == tool).map(|(_, reach)| reach)
    }

    /// Returns how much of the question a tool can still find in an interval, from 0 to 1: the weight of the words that
    /// it can see and that are neither seen nor probably absent.
    pub fn remaining_gain(&self, interval: usize, tool: Tool) -> f32 {
        let Some(reach) = self.reaches(tool) else { return 0.0 };
        let open = |place: usize| {
            self.seen[interval][place].map_or(1.0, |seen| (1.0 - seen.probability) * (1.0 - seen.recall))
        };
        let sum: f32 = self
            .wanted
            .terms
            .iter()
            .enumerate()
            .map(|(place, term)| term.weight * open(place) * reach.terms.get(place).copied().unwrap_or(0.0))
            .sum();
        let share = match tool {
            Tool::ClipExplorer if !self.wanted.heard => SOUND_ONLY_GAIN,
            // Speech with a transcript need not be transcribed again.
            Tool::Transcriber => self.wordless.get(interval).copied().unwrap_or(1.0),
            _ => 1.0,
        };
        let place = reach.place * self.placeless.get(interval).copied().unwrap_or(0.0);
        (sum.max(reach.unnamed).max(place) * share).min(1.0)
    }

    /// Records the findings of a tool with a given recall in an interval, as terms and probabilities.
    pub fn record(&mut self, interval: usize, tool: Tool, recall: f32, found: &[(usize, f32)]) {
        let reach: Vec<f32> = self.reaches(tool).map(|reach| reach.terms.clone()).unwrap_or_default();
        for (place, seen) in self.seen[interval].iter_mut().enumerate() {
            let own = found.iter().filter(|(term, _)| *term == place).map(|(_, probability)| *probability);
            let best = own.fold(None, |best: Option<f32>, own| Some(best.map_or(own, |best| best.max(own))));
            if best.is_some() || reach.get(place).copied().unwrap_or(0.0) >= 1.0 {
                let seen = seen.get_or_insert_default();
                seen.probability = seen.probability.max(best.unwrap_or(0.0));
                seen.recall = seen.recall.max(recall);
            }
        }
    }

    /// Records that a tool with a given recall looked for the place of an interval, and whether it found one.
    pub fn record_place(&mut self, interval: usize, tool: Tool, recall: f32, found: bool) {
        let looked = self.reaches(tool).is_some_and(|reach| reach.place > 0.0);
        if let Some(placeless) = self.placeless.get_mut(interval).filter(|_| looked) {
            *placeless *= if found { 0.0 } else { 1.0 - recall };
        }
    }

    /// Updates the probability of each interval by everything that was seen.
    pub fn update_probabilities(&self, intervals: &mut [Interval]) {
        for ((interval, prior), ratio) in intervals.iter_mut().zip(&self.prior).zip(self.likelihood_ratios()) {
            interval.probability = prior * ratio;
        }
        let total: f32 = intervals.iter().map(|interval| interval.probability).sum();
        for interval in intervals.iter_mut() {
            interval.probability /= total.max(f32::EPSILON);
        }
    }

    /// Returns the likelihood ratio of each interval: 1 if nothing looked there.
    #[expect(clippy::cast_precision_loss, reason = "a few intervals")]
    pub fn likelihood_ratios(&self) -> Vec<f32> {
        let all: Vec<Vec<Option<WordSighting>>> = self.seen.iter().map(|seen| self.term_sightings(seen)).collect();
        let count = all.first().map_or(0, Vec::len);
        let rates: Vec<f32> = (0..count)
            .map(|place| {
                let seen: Vec<f32> =
                    all.iter().filter_map(|features| features[place]).map(|seen| seen.probability).collect();
                let rate = (seen.iter().sum::<f32>() + BASE_RATE * BASE_RATE_INTERVALS)
                    / (seen.len() as f32 + BASE_RATE_INTERVALS);
                rate.clamp(RATE_BOUNDS.0, RATE_BOUNDS.1)
            })
            .collect();
        let ratio = |features: &Vec<Option<WordSighting>>| -> f32 {
            let seen = features.iter().zip(&rates).filter_map(|(seen, rate)| Some((seen.as_ref()?, rate)));
            seen.fold(1.0, |product, (seen, rate)| {
                // A certain sighting raises the probability by the rarity of the thing. A missing one lowers it by the
                // recall of the tool.
                let (here, p) = (seen.recall.max(*rate), seen.probability);
                product * (p * here + (1.0 - p) * (1.0 - here)) / (p * rate + (1.0 - p) * (1.0 - rate))
            })
        };
        all.iter().map(ratio).collect()
    }

    /// Returns the sighting of each word of the question, and of the best option: one of the options is there.
    fn term_sightings(&self, seen: &[Option<WordSighting>]) -> Vec<Option<WordSighting>> {
        let terms = || self.wanted.terms.iter().zip(seen);
        let mut features: Vec<Option<WordSighting>> =
            terms().filter(|(term, _)| term.option.is_none()).map(|(_, seen)| *seen).collect();
        let options = self.wanted.terms.iter().filter_map(|term| term.option).max().map_or(0, |most| most + 1);
        let of_option = |option: usize| {
            let own = terms().filter(|(term, _)| term.option == Some(option));
            own.filter_map(|(term, seen)| seen.map(|seen| (term.weight, seen))).fold(None, |sum, (weight, seen)| {
                let sum: WordSighting = sum.unwrap_or_default();
                let probability = (sum.probability + weight * seen.probability).min(1.0);
                Some(WordSighting { probability, recall: sum.recall.max(seen.recall) })
            })
        };
        let best = (0..options).filter_map(of_option).reduce(|a, b| if b.probability > a.probability { b } else { a });
        features.push(best);
        features
    }
}
