//! Generates memories of any size from a few real texts, with a seed, so that they are the same on every machine.

use std::collections::{BTreeMap, HashSet};
use std::time::Duration;

use crate::index::content::pieces;
use crate::index::signature::quantise;
use crate::index::{Document, Language, SearchQuery, words};
use crate::random::split_mix;
use crate::{EpisodeId, EventId, Kind, Modality, TimeSpan, Timestamp};

/// Tokens of an entry, words and separators.
pub const ENTRY_TOKENS: usize = 20;
/// Terms of a question.
const QUESTION_TERMS: usize = 5;
/// One of a question's terms is in at least this share of the entries.
const FREQUENT: f64 = 0.1;
/// Entries that follow each other before a pause.
const SITTING: u64 = 20;

/// A real text, who said it, and its vector if there is one.
#[derive(Debug, Clone)]
pub struct SourceText {
    /// The text.
    pub text: String,
    /// Speaker.
    pub entity: Option<String>,
    /// Its unit vector.
    pub vector: Option<Vec<f32>>,
}

/// Texts and questions to recombine.
#[derive(Debug, Clone)]
pub struct IndexWorkload {
    told: Vec<SourceText>,
    questions: Vec<SourceText>,
    /// Every word of the questions that is no stop word, as often as it occurs in them.
    asked: Vec<String>,
}

/// A seeded source of numbers.
pub(super) struct SeededDraw(pub u64);

impl SeededDraw {
    #[expect(clippy::cast_possible_truncation, reason = "below `count`")]
    pub fn below(&mut self, count: usize) -> usize {
        (split_mix(&mut self.0) % count.max(1) as u64) as usize
    }

    /// About normally distributed, mean 0, variance 1.
    fn normal(&mut self) -> f32 {
        #[expect(clippy::cast_precision_loss, reason = "at most 64")]
        let ones = split_mix(&mut self.0).count_ones() as f32;
        (ones - 32.0) / 4.0
    }
}

impl IndexWorkload {
    /// `None` if there is no text or no question with a word.
    pub fn new(told: Vec<SourceText>, questions: Vec<SourceText>) -> Option<Self> {
        let all = questions.iter().flat_map(|question| words(&question.text));
        let asked: Vec<String> = all.filter(|word| Language::English.term_of(word).is_some()).collect();
        let some = told.iter().any(|told| pieces(&told.text).next().is_some());
        (some && !asked.is_empty()).then_some(Self { told, questions, asked })
    }

    /// Length of the vectors; 0 if there are none.
    pub fn dimensions(&self) -> usize {
        self.told.iter().chain(&self.questions).find_map(|told| told.vector.as_ref()).map_or(0, Vec::len)
    }

    /// The entry of a number: pieces of real texts, one after the other, [`ENTRY_TOKENS`] tokens together.
    pub fn entry(&self, number: u64) -> Document {
        let mut text = String::new();
        let mut tokens = 0;
        let mut draw = SeededDraw(number);
        let mut entity = None;
        while tokens < ENTRY_TOKENS {
            let source = &self.told[draw.below(self.told.len())];
            let held: Vec<&str> = pieces(&source.text).collect();
            let start = draw.below(held.len());
            let run = held[start.min(held.len())..].iter().take((ENTRY_TOKENS - tokens).min(10));
            run.for_each(|piece| {
                text.push_str(piece);
                tokens += 1;
            });
            entity = entity.or(source.entity.as_ref());
        }
        let start =
            Timestamp::from_micros(i64::try_from(number * 15 + number / SITTING * 600).unwrap_or(0) * 1_000_000);
        Document {
            id: EventId(number + 1),
            episode: EpisodeId(number / SITTING + 1),
            kind: Kind::Text,
            modality: Modality::Audio,
            span: TimeSpan::new(start, start.saturating_add(Duration::from_secs(10))),
            stream: None,
            source: "told".into(),
            entity: entity.cloned(),
            text,
        }
    }

    /// The vector of an entry: those of the texts that it was made of, perturbed.
    pub fn vector(&self, number: u64) -> Option<Vec<f32>> {
        let mut draw = SeededDraw(number);
        let first = self.told[draw.below(self.told.len())].vector.as_ref()?;
        let mut draw = SeededDraw(number ^ 0x5eed_0000_0000_0000);
        let second = self.told[draw.below(self.told.len())].vector.as_ref()?;
        #[expect(clippy::cast_precision_loss, reason = "a few hundred dimensions")]
        let noise = 0.5 / (first.len() as f32).sqrt();
        let mixed: Vec<f32> = first.iter().zip(second).map(|(a, b)| a + 0.5 * b + noise * draw.normal()).collect();
        let norm = mixed.iter().map(|x| x * x).sum::<f32>().sqrt();
        Some(mixed.into_iter().map(|x| x / norm).collect())
    }

    /// The same in the form in which it is stored.
    pub fn stored_vector(&self, number: u64) -> Option<Vec<i16>> {
        quantise(&self.vector(number)?)
    }

    /// Questions of [`QUESTION_TERMS`] words drawn by how often they are asked for, one of them in at least a tenth of the entries (as far
    /// as the first 2,000 tell), with the vector of a real question.
    pub fn queries(&self, count: usize, limit: usize) -> Vec<SearchQuery> {
        let sample = 2_000;
        let mut holding: BTreeMap<String, usize> = BTreeMap::new();
        for number in 0..sample {
            let document = self.entry(number);
            let text = format!("{} {}", document.entity.unwrap_or_default(), document.text);
            words(&text).collect::<HashSet<_>>().into_iter().for_each(|word| *holding.entry(word).or_default() += 1);
        }
        #[expect(clippy::cast_precision_loss, reason = "2,000 entries")]
        let share = |word: &String| holding.get(word).copied().unwrap_or(0) as f64 / sample as f64;
        let frequent: Vec<&String> = self.asked.iter().filter(|word| share(word) >= FREQUENT).collect();
        let distinct = self.asked.iter().collect::<HashSet<_>>().len();
        let mut draw = SeededDraw(0xa5ced);
        let question = |_| {
            let mut terms: Vec<String> = Vec::new();
            if !frequent.is_empty() {
                terms.push(frequent[draw.below(frequent.len())].clone());
            }
            while terms.len() < QUESTION_TERMS.min(distinct) {
                let word = &self.asked[draw.below(self.asked.len())];
                if !terms.contains(word) {
                    terms.push(word.clone());
                }
            }
            let embedding = self.questions[draw.below(self.questions.len())].vector.clone();
            SearchQuery { text: terms.join(" "), embedding, limit, ..SearchQuery::default() }
        };
        (0..count).map(question).collect()
    }
}
