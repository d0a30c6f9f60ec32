//! Multiple choice: what the evidence says for each option.

use super::Reader;
use super::classify::Form;
use super::compose::counted;
use super::places::COUNTED;
use super::question::{Content, Question, terms_of_event};
use super::retrieve::{Retrieval, Way};
use crate::index::{SearchQuery, words};
use crate::language::english::time::number;

/// What speaks for an option found anywhere in memory, against one found in the evidence.
const ELSEWHERE: f32 = 0.3;
/// What speaks for an option whose meaning is near, at most.
const MEANING: f32 = 0.6;

/// The choice.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Choice {
    /// Index of the option; `None` if nothing speaks for any.
    pub option: Option<usize>,
    /// Its share of what speaks for all options, 0 to 1.
    pub share: f32,
    /// What speaks for it, 0 to about 2.
    pub support: f32,
}

/// Weighs the options. `cosines[i]` is how near the meaning of the question with option `i` is to the best memory.
pub(super) fn choose(
    question: &Question,
    options: &[String],
    retrieval: &Retrieval,
    reader: &dyn Reader,
    cosines: &[Option<f32>],
) -> Choice {
    let known = retrieval.counted.is_some() || retrieval.found.iter().any(|one| one.coverage >= COUNTED);
    let counted = (question.form == Form::Count && known).then(|| counted(retrieval).len());
    let supports: Vec<f32> = options
        .iter()
        .enumerate()
        .map(|(place, option)| {
            if let Some(counted) = counted
                && let Some(number) = words(option).find_map(|word| number(&word))
            {
                return f32::from(u8::from(i64::try_from(counted) == Ok(number)));
            }
            in_evidence(question, option, retrieval, reader)
                + ELSEWHERE * in_memory(question, option, reader)
                + cosines.get(place).copied().flatten().map_or(0.0, |cosine| MEANING * cosine.max(0.0).powi(2))
        })
        .collect();
    let best = supports.iter().copied().fold(0.0_f32, f32::max);
    let Some(option) = supports.iter().position(|support| *support == best).filter(|_| best > 0.05) else {
        return Choice { option: None, share: 0.0, support: 0.0 };
    };
    // A softmax, so that small differences stay small: equal support for all gives each its chance.
    let share = 1.0 / supports.iter().map(|support| ((support - best) * 4.0).exp()).sum::<f32>();
    Choice { option: Some(option), share, support: best }
}

/// How much of an option's content the evidence holds, the better the evidence the more.
fn in_evidence(question: &Question, option: &str, retrieval: &Retrieval, reader: &dyn Reader) -> f32 {
    let content = Content::whole(option, reader.search());
    if question.longest && retrieval.way == Way::Listing {
        return for_the_time(&content, retrieval);
    }
    let top = retrieval.found.first().map_or(1.0, |best| best.score).max(f32::MIN_POSITIVE);
    let by_time = matches!(retrieval.way, Way::Relation { .. } | Way::Listing);
    let mut best = 0.0_f32;
    for one in retrieval.found.iter().take(12) {
        if let Way::Relation { placed, .. } = &retrieval.way
            && !placed.contains(&one.event.id)
        {
            continue;
        }
        let near = (one.score / top).clamp(0.0, 1.0);
        // What lies at the time that is asked for counts even where it fits the question's words less.
        let weight = if by_time { 0.5 + 0.5 * near } else { near.powi(2) };
        best = best.max(weight * content.told_by(&one.terms));
    }
    best
}

/// How much of an option's content was there for how much of the time.
fn for_the_time(content: &Content, retrieval: &Retrieval) -> f32 {
    let rows = retrieval.found.iter().map(|one| {
        let seconds = one.event.span.end.since(one.event.span.start).as_secs_f32();
        (seconds * content.told_by(&one.terms), seconds)
    });
    let (held, all) = rows.fold((0.0, 0.0), |sum: (f32, f32), row| (sum.0 + row.0, sum.1 + row.1));
    if all > 0.0 { held / all } else { 0.0 }
}

/// How much of an option's content some memory that also fits the question holds.
fn in_memory(question: &Question, option: &str, reader: &dyn Reader) -> f32 {
    let search = reader.search();
    let content = Content::whole(option, search);
    let query = SearchQuery { text: option.into(), limit: 3, ..SearchQuery::default() };
    let mut best = 0.0_f32;
    for hit in search.search(&query) {
        if let Ok(Some(event)) = reader.event(hit.id) {
            let terms = terms_of_event(&event);
            let with_question = 0.5 + 0.5 * question.content.coverage(&terms).max(same_kind(question, &event));
            best = best.max(with_question * content.coverage(&terms));
        }
    }
    best
}

fn same_kind(question: &Question, event: &crate::Event) -> f32 {
    f32::from(u8::from(question.target == Some(event.modality)))
}
