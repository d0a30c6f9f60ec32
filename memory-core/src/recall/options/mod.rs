//! Compares the options of a question: the evidence for and against each, by the kind of answer.

mod agreement;
mod comparison;
mod times;
mod topic;
mod words;

pub(super) use words::Speaks;

use self::comparison::weigh_by_comparison;
use self::times::{MAX_TIME_CANDIDATES, weigh_by_time};
use self::topic::weigh_by_topic;
use self::words::weigh_by_words;
use super::answerers::amounts::sum_amounts;
use super::answerers::order::ordered_items;
use super::answerers::rank::rank;
use super::candidate::{Candidate, CandidateValue};
use super::clause_selection::lacks_asked_thing;
use super::extraction::ReadEvents;
use super::pool::{EventPool, RetrievedEvent};
use super::quantities::{Quantity, quantities};
use super::question::Question;
use crate::ReadError;
use crate::language::english::question::AnswerKind;
use crate::language::english::time::{Tense, WholeTime, whole_times_told};

/// Minimum support of an option that can be chosen.
const MIN_SUPPORT: f32 = 0.02;
/// Minimum support of a time that wins over options that are no times.
const MIN_TIME_SUPPORT: f32 = 0.5;

/// φ of an option.
#[derive(Debug, Clone)]
pub(super) struct OptionVectors {
    /// Vector of the question with the option.
    pub joint: Vec<f32>,
    /// Vector of the option alone.
    pub alone: Vec<f32>,
}

/// The evidence for each option.
#[derive(Debug, Clone)]
pub(super) struct OptionWeights {
    /// Support of each option, from 0 to 1.
    pub support: Vec<f32>,
    /// Events that support the best option, best first.
    pub evidence: Vec<RetrievedEvent>,
    /// How the options were compared.
    pub by: &'static str,
    /// Features of each option, if they were compared by words.
    pub speaks: Vec<Speaks>,
}

impl OptionWeights {
    /// Returns the best option with its support and its lead over the others.
    pub fn best(&self) -> Option<(usize, f32, f32)> {
        let most = self.support.iter().copied().fold(0.0_f32, f32::max);
        let option = self.support.iter().position(|support| *support == most)?;
        let second = self
            .support
            .iter()
            .enumerate()
            .filter(|(place, _)| *place != option)
            .map(|(_, support)| *support)
            .fold(0.0_f32, f32::max);
        (most >= MIN_SUPPORT).then_some((option, most, most - second))
    }
}

/// Weighs the options of a question: by the kind of answer where they are times, numbers, sums, lists in order or topics,
/// else by words. With a reader both are weighed together with what it answers.
pub(super) fn weigh_options(
    pool: &EventPool<'_>,
    pooled: &[RetrievedEvent],
    candidates: &[Candidate],
    vectors: &[OptionVectors],
    read: Option<&ReadEvents>,
) -> Result<OptionWeights, ReadError> {
    let query = pool.question.query;
    let typed = match query.ablation.without_details {
        true => None,
        false => weigh_by_kind(pool, pooled, candidates, vectors)?,
    };
    match typed {
        Some(typed) if read.is_none() => Ok(typed),
        typed => weigh_by_words(pool, pooled, candidates, &query.options, vectors, read, typed),
    }
}

/// Weighs options that are times, numbers, sums, lists in order or topics by what memory says of these. `None` for options
/// in words.
fn weigh_by_kind(
    pool: &EventPool<'_>,
    pooled: &[RetrievedEvent],
    candidates: &[Candidate],
    vectors: &[OptionVectors],
) -> Result<Option<OptionWeights>, ReadError> {
    let question = pool.question;
    let options = &question.query.options;
    // "When is it due?" in the present may mean a day to come or one that is over: the reading that memory bears out.
    let tenses = match question.tense {
        Tense::Present => vec![Tense::Future, Tense::Past],
        tense => vec![tense],
    };
    let mut best: Option<OptionWeights> = None;
    for tense in tenses {
        let times: Vec<Option<Vec<WholeTime>>> =
            options.iter().map(|option| whole_times_told(option, &question.now, tense)).collect();
        let told = times.iter().flatten().count();
        // For a question about a time, an option that names an event ("after supper") is supported by no time.
        let least = if question.ask() == AnswerKind::Time { options.len().min(2) } else { options.len() };
        if told < least {
            break;
        }
        let times: Vec<Vec<WholeTime>> = times.into_iter().map(Option::unwrap_or_default).collect();
        let weighed = weigh_by_time(pool, pooled, candidates, &times)?;
        let borne_out =
            |weighed: &OptionWeights| weighed.best().is_some_and(|(_, support, _)| support >= MIN_TIME_SUPPORT);
        let weighed = weighed.filter(|weighed| told == options.len() || borne_out(weighed));
        let support = |weighed: &OptionWeights| weighed.best().map_or(0.0, |(_, support, _)| support);
        best = match (best, weighed) {
            (Some(known), Some(new)) if support(&new) > support(&known) => Some(new),
            (known, new) => known.or(new),
        };
    }
    if best.is_some() {
        return Ok(best);
    }
    if let Some(weighed) = weigh_by_sums(pool, options)? {
        return Ok(Some(weighed));
    }
    if let Some(weighed) = weigh_by_order(pool, options)? {
        return Ok(Some(weighed));
    }
    if let Some(weighed) = weigh_by_number(pool, candidates, options) {
        return Ok(Some(weighed));
    }
    if let Some(weighed) = weigh_by_told_values(pool, pooled, options) {
        return Ok(Some(weighed));
    }
    if let Some(weighed) = weigh_by_comparison(pool, candidates, options) {
        return Ok(Some(weighed));
    }
    weigh_by_topic(pool, vectors)
}

/// Weighs options that are all numbers or times. Only an event that states one of them about the thing supports it;
/// words do not.
fn weigh_by_told_values(pool: &EventPool<'_>, pooled: &[RetrievedEvent], options: &[String]) -> Option<OptionWeights> {
    let question = pool.question;
    let is_time = |option: &String| whole_times_told(option, &question.now, question.tense).is_some();
    let values: Vec<Option<(f64, String)>> = options.iter().map(|option| sole_number(option)).collect();
    if !options.iter().zip(&values).all(|(option, value)| value.is_some() || is_time(option)) {
        return None;
    }
    let of_it: Vec<&RetrievedEvent> =
        pooled.iter().take(MAX_TIME_CANDIDATES).filter(|found| !lacks_asked_thing(question, &found.reading)).collect();
    let top = of_it.iter().map(|found| rank(question, found)).fold(0.0, f32::max).max(0.2);
    let tells = |found: &RetrievedEvent, (value, unit): &(f64, String)| {
        found.reading.quantities().into_iter().any(|told| {
            (told.value - value).abs() < 1e-6 && (unit.is_empty() || told.unit.is_empty() || told.unit == *unit)
        })
    };
    let support = values.iter().map(|value| {
        let Some(value) = value else { return 0.0 };
        let told = of_it.iter().filter(|found| tells(found, value));
        told.map(|found| (rank(question, found) / top).clamp(0.0, 1.0).powi(2)).fold(0.0, f32::max)
    });
    let support = support.collect();
    let evidence = of_it.into_iter().cloned().collect();
    Some(OptionWeights { support, evidence, speaks: Vec::new(), by: "numbers that were told" })
}

/// Weighs options that name several amounts by the sums of the told amounts.
fn weigh_by_sums(pool: &EventPool<'_>, options: &[String]) -> Result<Option<OptionWeights>, ReadError> {
    let question = pool.question;
    let named: Vec<Vec<(String, f64)>> = options.iter().map(|option| named_amounts(option)).collect();
    if named.iter().any(|amounts| amounts.len() < 2) {
        return Ok(None);
    }
    let names: Vec<String> = named[0].iter().map(|(name, _)| name.clone()).collect();
    let Some(bound) = question.bound() else { return Ok(None) };
    let mut events = pool.events_in_time_order(Some(bound), None, Vec::new(), false, 500, &question.content)?;
    events.retain(|found| {
        sum_amounts(std::slice::from_ref(found), &names).iter().filter(|(_, sum)| *sum != 0.0).count() >= 1
    });
    let told = sum_amounts(&events, &names);
    let support = named
        .iter()
        .map(|amounts| {
            let miss: f64 = told
                .iter()
                .zip(amounts)
                .map(|((_, told), (_, own))| (told - own).abs() / (told.abs() + own.abs()).max(1.0))
                .sum();
            #[expect(clippy::cast_possible_truncation, reason = "a share")]
            let share = (1.0 / (1.0 + 4.0 * miss)) as f32;
            share
        })
        .collect();
    if events.is_empty() {
        return Ok(Some(OptionWeights {
            support: vec![0.0; options.len()],
            evidence: events,
            speaks: Vec::new(),
            by: "sums",
        }));
    }
    Ok(Some(OptionWeights { support, evidence: events, speaks: Vec::new(), by: "sums" }))
}

/// Extracts names with their numbers: "fat changed by 1.6, carbs changed by 29".
pub(super) fn named_amounts(text: &str) -> Vec<(String, f64)> {
    text.split(", ")
        .filter_map(|part| {
            let quantity: Quantity = quantities(part).into_iter().next()?;
            let name = part.split_whitespace().next()?.to_lowercase();
            name.chars().all(char::is_alphabetic).then_some((name, quantity.value))
        })
        .collect()
}

/// Weighs options that are ordered lists by the order of events.
fn weigh_by_order(pool: &EventPool<'_>, options: &[String]) -> Result<Option<OptionWeights>, ReadError> {
    let question = pool.question;
    let lists: Vec<Option<Vec<String>>> = options.iter().map(|option| ordered_items(option)).collect();
    if lists.iter().any(Option::is_none) {
        return Ok(None);
    }
    let lists: Vec<Vec<String>> = lists.into_iter().flatten().collect();
    let mut first: Vec<(String, Option<RetrievedEvent>)> = Vec::new();
    for item in lists.iter().flatten() {
        if first.iter().any(|(known, _)| known == item) {
            continue;
        }
        let event = item_event(pool, item, question)?;
        first.push((item.clone(), event));
    }
    let at = |item: &String| {
        first
            .iter()
            .find(|(known, _)| known == item)
            .and_then(|(_, found)| found.as_ref())
            .map(|found| (found.span().start, found.id()))
    };
    let support = lists
        .iter()
        .map(|list| {
            let mut right = 0;
            let mut pairs = 0;
            for (place, one) in list.iter().enumerate() {
                for other in &list[place + 1..] {
                    pairs += 1;
                    right += usize::from(matches!((at(one), at(other)), (Some(one), Some(other)) if one <= other));
                }
            }
            #[expect(clippy::cast_precision_loss, reason = "a few items")]
            let share = right as f32 / pairs.max(1) as f32;
            share
        })
        .collect();
    let mut evidence: Vec<RetrievedEvent> = first.into_iter().filter_map(|(_, found)| found).collect();
    evidence.sort_by_key(|found| (found.span().start, found.id()));
    Ok(Some(OptionWeights { support, evidence, speaks: Vec::new(), by: "order" }))
}

/// Returns the first event within the time bound that does to an item what the question says.
fn item_event(pool: &EventPool<'_>, item: &str, question: &Question<'_>) -> Result<Option<RetrievedEvent>, ReadError> {
    let search = pool.reader.search();
    let ids = if pool.is_entity(item) {
        search.holding(&crate::index::Holding {
            entity: Some(item.to_owned()),
            span: question.bound(),
            limit: 50,
            ..Default::default()
        })
    } else {
        let groups = crate::index::words(item).map(|word| vec![word]).collect();
        search.holding(&crate::index::Holding { groups, span: question.bound(), limit: 50, ..Default::default() })
    };
    let found = pool.read(&ids, &question.content)?;
    let best = found.iter().map(|found| found.coverage.of_content).fold(0.0, f32::max);
    Ok(found.into_iter().find(|found| found.coverage.of_content >= best - 0.05))
}

/// Weighs options that are numbers by a counted or told number.
fn weigh_by_number(pool: &EventPool<'_>, candidates: &[Candidate], options: &[String]) -> Option<OptionWeights> {
    let values: Vec<Option<(f64, String)>> = options.iter().map(|option| sole_number(option)).collect();
    if values.iter().filter(|value| value.is_some()).count() * 2 < options.len().max(1)
        || pool.question.ask() == AnswerKind::Time
    {
        return None;
    }
    let told = candidates.iter().find_map(|candidate| match &candidate.value {
        CandidateValue::Number(number, unit) => Some((*number, unit.clone(), candidate)),
        _ => None,
    })?;
    let support = values
        .iter()
        .map(|value| match value {
            Some((own, unit))
                if (own - told.0).abs() < 1e-6 && (unit.is_empty() || told.1.is_empty() || *unit == told.1) =>
            {
                1.0
            }
            _ => 0.0,
        })
        .collect();
    Some(OptionWeights { support, speaks: Vec::new(), evidence: told.2.evidence.clone(), by: "number" })
}

/// Returns the number and unit of a text that is nothing else: "28 g", "twice", "three".
fn sole_number(option: &str) -> Option<(f64, String)> {
    let trimmed = option.trim();
    let all = quantities(trimmed);
    let first = all.first()?;
    let words = trimmed.split_whitespace().count();
    (words <= 2 && all.len() == 1 && first.range.start == 0)
        .then(|| (first.value, if matches!(first.unit.as_str(), "time") { String::new() } else { first.unit.clone() }))
}
