//! Weighs options by the answer to a comparison.

use super::OptionWeights;
use crate::recall::candidate::{Candidate, CandidateValue};
use crate::recall::pool::EventPool;

/// Weighs options by which of the things that the question compares each of them names first: "Mira, by two years", for
/// "who is older, Mira or Leon?". `None` if nothing was compared or no option names the answer.
pub(super) fn weigh_by_comparison(
    pool: &EventPool<'_>,
    candidates: &[Candidate],
    options: &[String],
) -> Option<OptionWeights> {
    let question = pool.question;
    let named = question.asked.alternatives.iter().map(|range| question.part(range).to_lowercase());
    let things: Vec<String> = named.collect();
    let is_thing = |name: &str| things.iter().any(|thing| thing == name);
    let (compared, answer) = candidates.iter().filter(|candidate| candidate.computed).find_map(|candidate| {
        let CandidateValue::Text(name) = &candidate.value else { return None };
        let name = name.to_lowercase();
        is_thing(&name).then_some((candidate, name))
    })?;
    let support: Vec<f32> = options
        .iter()
        .map(|option| match first_named(&things, option) {
            Some(first) if *first == answer => compared.signals.thing,
            _ => 0.0,
        })
        .collect();
    let told = support.iter().any(|support| *support > 0.0);
    told.then(|| OptionWeights { support, speaks: Vec::new(), evidence: compared.evidence.clone(), by: "comparison" })
}

/// Returns the thing whose last word occurs first in an option.
fn first_named<'t>(things: &'t [String], option: &str) -> Option<&'t String> {
    let words: Vec<String> = crate::index::words(option).collect();
    let place = |thing: &String| {
        let head = crate::index::words(thing).last()?;
        words.iter().position(|word| *word == head)
    };
    let named = things.iter().filter_map(|thing| Some((place(thing)?, thing)));
    named.min_by_key(|(at, _)| *at).map(|(_, thing)| thing)
}
