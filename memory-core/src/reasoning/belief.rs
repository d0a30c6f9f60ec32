//! Which interval holds the answer, as what was seen in each says: Bayes' rule over the intervals.

use crate::Modality;
use crate::recall::looking::{Term, Wanted, has_word, means};

use super::interval::Interval;
use super::likeness::{self, Thing};
use super::tools::{AskedThing, KnownPlace, Reach, Sighting, SightingKind, Tool};

/// Minimum certainty at which a label means a word.
pub(super) const MIN_LABEL_MATCH: f32 = 0.6;
/// Prior rate at which a thing that a question names is in a random interval. It counts as two intervals.
const BASE_RATE: f32 = 0.2;
const BASE_COUNT: f32 = 2.0;
/// Lower and upper bound of a rate.
const RATE_BOUNDS: (f32, f32) = (0.02, 0.9);
/// Gain of words and faces that the question does not name.
const UNNAMED_GAIN: f32 = 0.5;
/// Gain of the sound of a thing for a question that does not ask for sounds. The thing need not be in the picture.
const SOUND_ONLY_GAIN: f32 = 0.3;

/// Knowledge about one word in one interval.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
struct WordSighting {
    /// How likely it is there.
    probability: f32,
    /// The recall of the best tool that looked for it.
    recall: f32,
}

impl ToolReach {
    fn from_wanted(wanted: &Wanted, reach: &Reach, things: &[Thing]) -> Self {
        let named = |lemma: &str| likeness::is_named(reach, lemma);
        let compared = |place: usize| reach.likeness && things.iter().any(|thing| thing.terms.contains(&place));
        let likeness = f32::from(u8::from(reach.likeness && !things.is_empty()));
        let told = f32::from(u8::from(reach.question && wanted.said < 1.0 && !wanted.heard));
        let words =
            f32::from(u8::from(reach.writing && wanted.written)).max(if reach.speech { wanted.said } else { 0.0 });
        let term = |place: usize, lemma: &str| if named(lemma) || compared(place) { 1.0 } else { words.max(told) };
        let person = f32::from(u8::from(reach.faces && wanted.person));
        Self {
            terms: wanted.terms.iter().enumerate().map(|(place, one)| term(place, &one.lemma)).collect(),
            beside: words.max(person).max(told).max(likeness) * UNNAMED_GAIN,
            place: if reach.places.is_some() && wanted.place { UNNAMED_GAIN } else { 0.0 },
        }
    }
}

/// Findings about the words of a question, by interval.
pub(super) struct Belief {
    wanted: Wanted,
    /// Findings by interval and term; `None` if no tool looked that has a label for it.
    seen: Vec<Vec<Option<WordSighting>>>,
    /// Probabilities before anything was seen.
    prior: Vec<f32>,
    /// What no encoder has a label for, where a tool compares it with pictures.
    things: Vec<Thing>,
    /// Reach of each tool.
    reach: Vec<(Tool, ToolReach)>,
    /// Share of an interval's speech of which memory has no words, by interval.
    wordless: Vec<f32>,
    /// Share of an interval for which memory has no place, by interval.
    placeless: Vec<f32>,
}

/// What a tool can contribute to a question.
#[derive(Debug, Clone, PartialEq, Default)]
struct ToolReach {
    /// Probability, by term, that the tool finds it where it is: 1 where it has a label for it.
    terms: Vec<f32>,
    /// How likely it finds what the question asks for beside its terms: words that are said or written, a person.
    beside: f32,
    /// How likely it finds the place that the question asks for, where memory has none.
    place: f32,
}

impl Belief {
    /// `wordless` is by interval the share of its speech of which memory has no words, `placeless` that of it for which memory has no
    /// place.
    pub fn new(
        wanted: Wanted,
        options: &[String],
        intervals: &[Interval],
        wordless: Vec<f32>,
        placeless: Vec<f32>,
        tools: &[(Tool, Reach)],
    ) -> Self {
        let things = likeness::things(&wanted, options, tools);
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

    /// What to compare with pictures.
    pub fn things(&self) -> Vec<AskedThing> {
        self.things.iter().map(|thing| thing.asked.clone()).collect()
    }

    /// The terms that a sighting means, each with how surely.
    pub fn meant(&self, sighting: &Sighting) -> Vec<(usize, f32)> {
        if sighting.kind == SightingKind::Likeness {
            let seen = self.things.iter().filter(|thing| thing.asked.phrase == sighting.label);
            return seen.flat_map(|thing| thing.terms.iter().map(|place| (*place, 1.0))).collect();
        }
        let likeness = |lemma: &str| match sighting.kind {
            // It was told the question, and says what shows what is asked for.
            SightingKind::Description | SightingKind::Likeness => 1.0,
            SightingKind::Speech | SightingKind::Writing => f32::from(u8::from(has_word(&sighting.label, lemma))),
            SightingKind::Face => means("person", Modality::Visual, lemma),
            SightingKind::Object | SightingKind::Scene | SightingKind::Sound | SightingKind::Place => {
                means(&sighting.label, sighting.kind.modality(), lemma)
            }
        };
        let terms = self.wanted.terms.iter().enumerate();
        terms
            .map(|(place, term)| (place, likeness(&term.lemma)))
            .filter(|(_, likeness)| *likeness >= MIN_LABEL_MATCH)
            .collect()
    }

    /// Whether the question asks for sightings of a kind whatever they name.
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

    /// Whether the question asks for a place or names a known one.
    pub fn asks_for_places(&self, known: &[KnownPlace]) -> bool {
        let named = |place: &KnownPlace| self.means_term(&place.name, |_| true);
        self.wanted.place || known.iter().any(named)
    }

    /// Whether the label of a picture's thing means a word of the question itself.
    pub fn means_thing(&self, label: &str) -> bool {
        self.means_term(label, |term| term.option.is_none())
    }

    fn means_term(&self, label: &str, counts: impl Fn(&Term) -> bool) -> bool {
        let mut terms = self.wanted.terms.iter().filter(|term| counts(term));
        terms.any(|term| means(label, Modality::Visual, &term.lemma) >= MIN_LABEL_MATCH)
    }

    /// How likely a thing that a label means is in an interval, before anything looked there: of the options one is.
    #[expect(clippy::cast_precision_loss, reason = "a few options")]
    pub fn prior(&self, meant: &[(usize, f32)], interval: &Interval) -> f32 {
        let options = self.wanted.terms.iter().filter_map(|term| term.option).max().map_or(1, |most| most + 1) as f32;
        let of = |place: usize| match self.wanted.terms.get(place).and_then(|term| term.option) {
            Some(_) => interval.probability / options,
            None => interval.probability,
        };
        meant.iter().map(|(place, likeness)| of(*place) * likeness).fold(0.0, f32::max)
    }

    /// Whether any tool may find any word of the question, or what it asks for.
    pub fn can_see_anything(&self) -> bool {
        self.reach
            .iter()
            .any(|(_, reach)| reach.beside.max(reach.place) > 0.0 || reach.terms.iter().any(|reached| *reached > 0.0))
    }

    fn reaches(&self, tool: Tool) -> Option<&ToolReach> {
        self.reach.iter().find(|(known, _)| *known == tool).map(|(_, reach)| reach)
    }

    /// How much of what the question names a tool can still add in an interval, 0 to 1: the weight of the words that it can see and
    /// that are neither seen nor likely missing.
    pub fn open(&self, interval: usize, tool: Tool) -> f32 {
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
            // What memory has in words already need not be written down again.
            Tool::Transcriber => self.wordless.get(interval).copied().unwrap_or(1.0),
            _ => 1.0,
        };
        let place = reach.place * self.placeless.get(interval).copied().unwrap_or(0.0);
        (sum.max(reach.beside).max(place) * share).min(1.0)
    }

    /// Notes what a tool with this recall found in an interval: term and probability.
    pub fn note(&mut self, interval: usize, tool: Tool, recall: f32, found: &[(usize, f32)]) {
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

    /// Notes that a tool with this recall looked for the place of an interval, and whether it told one.
    pub fn note_place(&mut self, interval: usize, tool: Tool, recall: f32, told: bool) {
        let looked = self.reaches(tool).is_some_and(|reach| reach.place > 0.0);
        if let Some(placeless) = self.placeless.get_mut(interval).filter(|_| looked) {
            *placeless *= if told { 0.0 } else { 1.0 - recall };
        }
    }

    /// The probability of each interval, given everything that was seen.
    pub fn update(&self, intervals: &mut [Interval]) {
        for ((interval, prior), ratio) in intervals.iter_mut().zip(&self.prior).zip(self.ratios()) {
            interval.probability = prior * ratio;
        }
        let total: f32 = intervals.iter().map(|interval| interval.probability).sum();
        for interval in intervals.iter_mut() {
            interval.probability /= total.max(f32::EPSILON);
        }
    }

    /// By interval, how much more likely than before it holds what is asked for, as what was seen in it says: 1 where nothing looked.
    #[expect(clippy::cast_precision_loss, reason = "a few intervals")]
    pub fn ratios(&self) -> Vec<f32> {
        let all: Vec<Vec<Option<WordSighting>>> = self.seen.iter().map(|seen| self.features(seen)).collect();
        let count = all.first().map_or(0, Vec::len);
        let rates: Vec<f32> = (0..count)
            .map(|place| {
                let seen: Vec<f32> =
                    all.iter().filter_map(|features| features[place]).map(|seen| seen.probability).collect();
                let rate = (seen.iter().sum::<f32>() + BASE_RATE * BASE_COUNT) / (seen.len() as f32 + BASE_COUNT);
                rate.clamp(RATE_BOUNDS.0, RATE_BOUNDS.1)
            })
            .collect();
        let ratio = |features: &Vec<Option<WordSighting>>| -> f32 {
            let seen = features.iter().zip(&rates).filter_map(|(seen, rate)| Some((seen.as_ref()?, rate)));
            seen.fold(1.0, |product, (seen, rate)| {
                // Seen for sure speaks for it by how rare the thing is; not seen speaks against it by how much the tool sees.
                let (here, p) = (seen.recall.max(*rate), seen.probability);
                product * (p * here + (1.0 - p) * (1.0 - here)) / (p * rate + (1.0 - p) * (1.0 - rate))
            })
        };
        all.iter().map(ratio).collect()
    }

    /// Each word of the question, and the best of the options: of them one is there.
    fn features(&self, seen: &[Option<WordSighting>]) -> Vec<Option<WordSighting>> {
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
