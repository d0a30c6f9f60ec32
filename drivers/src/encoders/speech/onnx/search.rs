//! Which token comes next: the rules of Whisper's decoding.

use super::vocabulary::Vocabulary;

/// Time, in seconds, within which the first words must begin.
const MAX_BEGIN_S: f32 = 1.0;
/// Maximum number of tokens of a text, time tokens included.
const MAX_TOKENS: usize = 224;
/// Maximum number of tokens per second of speech, besides a few for times and marks.
const MAX_TOKENS_PER_S: f32 = 12.0;
const SPARE_TOKENS: usize = 16;
/// A phrase of up to this many tokens that repeats so often in a row is a loop that the model does not leave.
const MAX_LOOP_TOKENS: usize = 16;
const MAX_LOOPS: usize = 3;
/// Single words may be repeated ("no, no, no").
const SHORT_LOOP_TOKENS: usize = 4;
const MAX_SHORT_LOOPS: usize = 6;

/// A token that was chosen, and how probable it was.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Chosen {
    pub token: u32,
    /// Natural logarithm.
    pub log_probability: f32,
}

/// Chooses one token after another, always the most probable of those that may follow (Radford et al. 2022, section 4.5, and
/// OpenAI's `decoding.py`): a text begins and ends with a time, times do not decrease, and where all times together are more
/// probable than every word, a time follows.
pub(super) struct Search<'a> {
    vocabulary: &'a Vocabulary,
    /// The last time that lies within the sound.
    last_time: u32,
    most: usize,
    chosen: Vec<Chosen>,
    /// Probability that the sound holds no speech.
    no_speech: f32,
    ended: bool,
}

impl<'a> Search<'a> {
    /// A search in a sound of this length.
    pub fn new(vocabulary: &'a Vocabulary, seconds: f32) -> Self {
        Self {
            vocabulary,
            last_time: vocabulary.time(seconds),
            most: MAX_TOKENS.min(SPARE_TOKENS + (seconds * MAX_TOKENS_PER_S) as usize),
            chosen: Vec::new(),
            no_speech: 0.0,
            ended: false,
        }
    }

    /// Chooses from the scores of the next token, which are changed. `None` where the text ends.
    pub fn choose(&mut self, logits: &mut [f32]) -> Option<u32> {
        if self.ended || self.chosen.len() >= self.most {
            return None;
        }
        if self.chosen.is_empty() {
            let no_speech = logits.get(self.vocabulary.no_speech as usize).copied().unwrap_or(f32::NEG_INFINITY);
            self.no_speech = (no_speech - log_sum(logits)).exp();
        }
        self.forbid(logits);
        let all = log_sum(logits);
        let (words, times) = logits.split_at_mut(self.vocabulary.first_time as usize);
        let best_word = words.iter().copied().fold(f32::NEG_INFINITY, f32::max);
        if log_sum(times) > best_word {
            words.fill(f32::NEG_INFINITY);
        }
        let (token, score) = logits
            .iter()
            .enumerate()
            .fold((0, f32::NEG_INFINITY), |best, (token, score)| if *score > best.1 { (token, *score) } else { best });
        let token = u32::try_from(token).unwrap_or(self.vocabulary.end);
        // Of what may follow, as after the times were preferred.
        let all = if token >= self.vocabulary.first_time { log_sum(logits) } else { all };
        if !score.is_finite() {
            self.ended = true;
            return None;
        }
        self.chosen.push(Chosen { token, log_probability: score - all });
        self.ended = token == self.vocabulary.end || self.cut_loop();
        (!self.ended).then_some(token)
    }

    /// Takes away what may not follow.
    fn forbid(&self, logits: &mut [f32]) {
        let Vocabulary { end, first_time, .. } = *self.vocabulary;
        let (end, first_time) = (end as usize, first_time as usize);
        for token in &self.vocabulary.unspoken {
            forbid(logits, *token as usize..*token as usize + 1);
        }
        // Languages, tasks and other marks.
        forbid(logits, end + 1..first_time);
        let Some(last) = self.chosen.last() else {
            // A text begins with a time near the begin of the sound.
            forbid(logits, 0..first_time);
            let latest = self.vocabulary.time(MAX_BEGIN_S).min(self.last_time) as usize;
            forbid(logits, latest + 1..logits.len());
            return;
        };
        if self.chosen.len() == 1 {
            self.vocabulary.blank.iter().for_each(|blank| forbid(logits, *blank as usize..*blank as usize + 1));
        }
        let is_time = |chosen: &Chosen| chosen.token as usize >= first_time;
        let before_is_time = self.chosen.len() < 2 || is_time(&self.chosen[self.chosen.len() - 2]);
        match (is_time(last), before_is_time) {
            // Behind the time at which something begins come its words.
            (true, true) => forbid(logits, first_time..logits.len()),
            // Behind the time at which something ends, the next begins or the text ends.
            (true, false) => forbid(logits, 0..end),
            _ => {}
        }
        if let Some(latest) = self.chosen.iter().rev().find(|chosen| is_time(chosen)) {
            // What ends at a time may be followed by what begins then; otherwise time passes.
            let may_stay = is_time(last) && !before_is_time;
            forbid(logits, first_time..latest.token as usize + usize::from(!may_stay));
        }
        forbid(logits, self.last_time as usize + 1..logits.len());
    }

    /// Removes all but the first round of a text that repeats itself, and returns whether it did.
    fn cut_loop(&mut self) -> bool {
        let words: Vec<(usize, u32)> = self
            .chosen
            .iter()
            .enumerate()
            .filter(|(_, chosen)| chosen.token < self.vocabulary.end)
            .map(|(at, chosen)| (at, chosen.token))
            .collect();
        for length in 1..=MAX_LOOP_TOKENS {
            let rounds = if length <= SHORT_LOOP_TOKENS { MAX_SHORT_LOOPS } else { MAX_LOOPS };
            let Some(begin) = words.len().checked_sub(length * rounds) else { continue };
            let tail = &words[begin..];
            if (length..tail.len()).all(|at| tail[at].1 == tail[at - length].1) {
                // What goes round within a word is none: "Aaaaaaa".
                let begins = |(_, token): &(usize, u32)| self.vocabulary.begins_word(*token);
                let keep = if words[begin..begin + length].iter().any(begins) {
                    begin + length
                } else {
                    words[..begin].iter().rposition(begins).unwrap_or(0)
                };
                self.chosen.truncate(words[keep].0);
                return true;
            }
        }
        false
    }

    /// Returns the chosen tokens, and the probability that there is no speech.
    pub fn finish(self) -> (Vec<Chosen>, f32) {
        (self.chosen, self.no_speech)
    }
}

fn forbid(logits: &mut [f32], tokens: std::ops::Range<usize>) {
    let end = tokens.end.min(logits.len());
    if let Some(forbidden) = logits.get_mut(tokens.start.min(end)..end) {
        forbidden.fill(f32::NEG_INFINITY);
    }
}

/// Logarithm of the sum of the exponentials.
fn log_sum(logits: &[f32]) -> f32 {
    let largest = logits.iter().copied().fold(f32::NEG_INFINITY, f32::max);
    if !largest.is_finite() {
        return f32::NEG_INFINITY;
    }
    largest + logits.iter().map(|logit| (logit - largest).exp()).sum::<f32>().ln()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Scores that prefer one token after another, the first one most.
    fn scores(preferred: &[usize]) -> Vec<f32> {
        let mut scores = vec![0.0; 14 + 1500];
        preferred.iter().enumerate().for_each(|(at, token)| scores[*token] = 40.0 - 5.0 * at as f32);
        scores
    }

    /// The tokens that are chosen where the model prefers these at each step.
    fn chosen(seconds: f32, steps: &[&[usize]]) -> Vec<u32> {
        let vocabulary = Vocabulary::of_numbers();
        let mut search = Search::new(&vocabulary, seconds);
        for preferred in steps {
            if search.choose(&mut scores(preferred)).is_none() {
                break;
            }
        }
        search.finish().0.iter().map(|chosen| chosen.token).collect()
    }

    #[test]
    fn a_text_begins_with_a_time_of_the_first_second_and_then_a_word_that_is_said() {
        // Neither a word nor a time behind the first second comes first; neither a blank nor a bracket follows.
        assert_eq!(chosen(9.0, &[&[2, 14 + 51, 14 + 50], &[0, 1, 2], &[10]]), [14 + 50, 2, 10]);
    }

    #[test]
    fn times_do_not_decrease_and_lie_within_the_sound() {
        let steps: &[&[usize]] = &[&[20], &[2], &[19, 120, 60], &[59, 60, 61], &[3], &[60, 62], &[10]];
        assert_eq!(chosen(1.0, steps), [20, 2, 60, 60, 3, 62, 10]);
    }

    #[test]
    fn a_time_follows_where_all_times_together_are_likelier_than_any_word() {
        let vocabulary = Vocabulary::of_numbers();
        let mut search = Search::new(&vocabulary, 30.0);
        search.choose(&mut scores(&[14]));
        search.choose(&mut scores(&[2]));
        let mut scores = vec![0.0; 14 + 1500];
        scores[3] = 4.0;
        scores[14..].fill(2.0);
        assert!(search.choose(&mut scores).is_some_and(|token| token >= 14));
    }

    #[test]
    fn a_loop_ends_the_text_and_only_its_first_round_stays() {
        let phrase: Vec<&[usize]> = vec![&[2], &[3], &[4], &[5], &[6]];
        let steps: Vec<&[usize]> = [vec![&[14][..], &[7]], phrase.repeat(9)].concat();
        assert_eq!(chosen(30.0, &steps), [14, 7, 2, 3, 4, 5, 6]);
        let word: Vec<&[usize]> = [vec![&[14][..]], vec![&[2][..]; 30]].concat();
        assert_eq!(chosen(30.0, &word), [14, 2]);
        // Within a word the whole word goes.
        let letters: Vec<&[usize]> = [vec![&[14][..], &[3], &[2]], vec![&[9][..]; 30]].concat();
        assert_eq!(chosen(30.0, &letters), [14, 3]);
    }

    #[test]
    fn a_short_sound_has_few_tokens_whatever_the_model_prefers() {
        let steps: Vec<[usize; 1]> = (0..300).map(|at| if at == 0 { [14] } else { [2 + at * at % 7] }).collect();
        let steps: Vec<&[usize]> = steps.iter().map(<[usize; 1]>::as_slice).collect();
        assert!(chosen(1.0, &steps).len() <= 28);
    }

    #[test]
    fn the_probability_of_no_speech_is_that_of_the_first_step_before_anything_is_forbidden() {
        let vocabulary = Vocabulary::of_numbers();
        let mut search = Search::new(&vocabulary, 2.0);
        let mut scores = vec![f32::NEG_INFINITY; 14 + 1500];
        (scores[12], scores[2], scores[14]) = (3.0_f32.ln(), 0.0, f32::MIN);
        search.choose(&mut scores);
        assert!((search.finish().1 - 0.75).abs() < 1e-6);
    }

    #[test]
    fn scores_of_which_nothing_may_follow_end_the_text() {
        let vocabulary = Vocabulary::of_numbers();
        let mut search = Search::new(&vocabulary, 2.0);
        assert_eq!(search.choose(&mut vec![f32::NEG_INFINITY; 14 + 1500]), None);
        assert!(search.finish().0.is_empty());
    }
}
