//! What was chosen, as words with times.

use std::time::Duration;

use super::search::Chosen;
use super::vocabulary::Vocabulary;
use crate::encoders::SpokenWord;

/// Seconds that a phrase may take beyond [`MAX_WORD_S`], because people pause.
const MAX_PAUSES_S: f32 = 3.0;
/// Maximum average length of a word, in seconds.
const MAX_WORD_S: f32 = 0.9;

/// Words between two times.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Phrase {
    /// Seconds from the begin of the sound.
    pub start: f32,
    /// Seconds from the begin of the sound.
    pub end: f32,
    pub words: Vec<SpokenWord>,
}

impl Phrase {
    /// Whether it has far fewer words than its time has room for: then the model has passed over speech.
    pub fn is_sparse(&self) -> bool {
        self.end - self.start > MAX_PAUSES_S + MAX_WORD_S * self.words.len() as f32
    }
}

/// The phrases of a text in a sound of `seconds`. A word's time is its share of its phrase's, by its letters.
pub(super) fn phrases(chosen: &[Chosen], vocabulary: &Vocabulary, seconds: f32) -> Vec<Phrase> {
    let mut phrases = Vec::new();
    let (mut start, mut open) = (0.0_f32, Vec::<Chosen>::new());
    for one in chosen {
        if one.token < vocabulary.end {
            open.push(*one);
        } else if one.token >= vocabulary.first_time {
            let time = vocabulary.seconds(one.token).min(seconds);
            phrases.extend(phrase(&std::mem::take(&mut open), vocabulary, start, time));
            start = time;
        }
    }
    // A text that breaks off has no last time.
    phrases.extend(phrase(&open, vocabulary, start, seconds));
    phrases
}

fn phrase(tokens: &[Chosen], vocabulary: &Vocabulary, start: f32, end: f32) -> Option<Phrase> {
    let mut groups: Vec<Vec<Chosen>> = Vec::new();
    for token in tokens {
        match groups.last_mut() {
            Some(group) if !vocabulary.begins_word(token.token) => group.push(*token),
            _ => groups.push(vec![*token]),
        }
    }
    let texts: Vec<(String, f32)> = groups
        .iter()
        .map(|group| {
            let ids: Vec<u32> = group.iter().map(|chosen| chosen.token).collect();
            let sum: f32 = group.iter().map(|chosen| chosen.log_probability.exp()).sum();
            (vocabulary.text(&ids), sum / group.len() as f32)
        })
        .filter(|(text, _)| !text.is_empty())
        .collect();
    // A space is as long as a letter.
    let letters: usize = texts.iter().map(|(text, _)| text.chars().count() + 1).sum();
    let at = |letter: usize| start + (end - start).max(0.0) * letter as f32 / letters.max(1) as f32;
    let mut passed = 0;
    let words: Vec<SpokenWord> = texts
        .into_iter()
        .map(|(text, confidence)| {
            let from = passed;
            passed += text.chars().count() + 1;
            let time = |letter: usize| Duration::from_secs_f32(at(letter).max(0.0));
            SpokenWord { text, start: time(from), end: time(passed), confidence }
        })
        .collect();
    (!words.is_empty()).then_some(Phrase { start, end, words })
}
