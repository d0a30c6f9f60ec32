//! Which lines a summary of so many words is made of.
//!
//! The lines that together cover the most: every line counts by its weight and by the share of its words that the chosen
//! ones hold, so that what is said once need not be said again. The function is submodular, and the greedy choice by gain
//! a word comes near the best one (Lin and Bilmes, "A Class of Submodular Functions for Document Summarization", 2011).

use std::collections::HashMap;

use super::SUMMARY_WORDS;
use crate::gist_line::{Line, Topic};
use crate::index::{is_stop_word, stem, words};

/// Words that a count takes: "(3 times)".
const COUNT_WORDS: usize = 2;
/// Words that name a speaker: "Anna said".
const SPEAKER_WORDS: usize = 2;

/// Maximum number of objects, of sounds and of goals in a summary. The gists that longer summaries are made of hold more.
const MAX_NAMES: usize = 6;

/// Places of the lines that fit into `budget` words, the most telling first.
pub(crate) fn chosen(lines: &[Line], budget: usize) -> Vec<usize> {
    let most = MAX_NAMES * budget.div_ceil(SUMMARY_WORDS);
    let mut known: HashMap<String, usize> = HashMap::new();
    let stems: Vec<Vec<usize>> = lines.iter().map(|line| stems_of(line, &mut known)).collect();
    let mut holders: Vec<Vec<usize>> = vec![Vec::new(); known.len()];
    for (place, stems) in stems.iter().enumerate() {
        stems.iter().for_each(|stem| holders[*stem].push(place));
    }
    // What covering a stem is worth: its share of every line that has it.
    #[expect(clippy::cast_precision_loss, reason = "words of a line")]
    let share = |place: usize| lines[place].weight() / stems[place].len().max(1) as f64;
    let worth: Vec<f64> = holders.iter().map(|places| places.iter().map(|place| share(*place)).sum()).collect();

    let mut covered = vec![false; known.len()];
    let mut open: Vec<usize> = (0..lines.len()).collect();
    let (mut spent, mut picked) = (0, Vec::new());
    loop {
        let gain = |place: usize| -> f64 {
            let new: f64 = stems[place].iter().filter(|stem| !covered[**stem]).map(|stem| worth[*stem]).sum();
            #[expect(clippy::cast_precision_loss, reason = "words of a line")]
            let cost = cost(&lines[place]) as f64;
            new / cost
        };
        open.retain(|place| spent + cost(&lines[*place]) <= budget || picked.is_empty());
        let best =
            open.iter().map(|place| (gain(*place), *place)).max_by(|a, b| a.0.total_cmp(&b.0).then(b.1.cmp(&a.1)));
        let Some((gained, best)) = best.filter(|(gained, _)| *gained > 0.0) else { return picked };
        debug_assert!(gained.is_finite());
        spent += cost(&lines[best]);
        stems[best].iter().for_each(|stem| covered[*stem] = true);
        picked.push(best);
        let topic = lines[best].topic;
        let is_full = topic.is_listed() && picked.iter().filter(|place| lines[**place].topic == topic).count() >= most;
        open.retain(|place| *place != best && !(is_full && lines[*place].topic == topic));
    }
}

/// The words that a line takes in a summary.
fn cost(line: &Line) -> usize {
    let speaker = if line.topic == Topic::Speech && line.entity.is_some() { SPEAKER_WORDS } else { 0 };
    line.text.split_whitespace().count() + if line.times > 1 { COUNT_WORDS } else { 0 } + speaker
}

/// The numbers of a line's stems, each once.
fn stems_of(line: &Line, known: &mut HashMap<String, usize>) -> Vec<usize> {
    let mut stems: Vec<usize> = words(&line.text)
        .chain(line.entity.iter().flat_map(|name| words(name)))
        .filter(|word| !is_stop_word(word))
        .map(|word| {
            let next = known.len();
            *known.entry(stem(&word)).or_insert(next)
        })
        .collect();
    stems.sort_unstable();
    stems.dedup();
    stems
}
