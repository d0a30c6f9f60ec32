//! Options are hypotheses: what memory says for and against each, by the kind of answer that they are.

use crate::language::english::question::{Ask, Occurrence};
use crate::language::english::syntax::parse;
use crate::language::english::time::{Tense, WholeTime, number, whole_times_told};
use crate::recall::answerers::amounts::sums;
use crate::recall::answerers::counts::matching;
use crate::recall::answerers::events::rank;
use crate::recall::answerers::order::{main_noun, ordered_items, rests};
use crate::recall::answerers::times::occurrences;
use crate::recall::candidate::{Candidate, Value};
use crate::recall::content::Content;
use crate::recall::pool::{Found, Pool};
use crate::recall::question::Question;
use crate::recall::reading::{Quantity, quantities};
use crate::{ReadError, TimeSpan};

/// Below this nothing speaks for an option.
const LEAST: f32 = 0.02;
/// What a word of an option counts that no memory holds.
const UNPERCEIVED: f32 = 0.4;
/// How much earlier than its last move is told a thing may be said to rest.
const SLACK: std::time::Duration = std::time::Duration::from_secs(2);
/// Candidates that are looked at for each option.
const LOOKED_AT: usize = 24;

/// What speaks for each option.
#[derive(Debug, Clone)]
pub(super) struct Weighed {
    /// From 0 to 1, by option.
    pub support: Vec<f32>,
    /// The events that speak for the best one, best first.
    pub evidence: Vec<Found>,
    /// How the options were compared.
    pub by: &'static str,
}

impl Weighed {
    /// The option that most speaks for, and how it lies beside the others: its support and its lead.
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
        (most >= LEAST).then_some((option, most, most - second))
    }
}

/// Weighs the options of a question.
pub(super) fn weigh(
    pool: &Pool<'_>,
    pooled: &[Found],
    candidates: &[Candidate],
    cosines: &[Vec<f32>],
) -> Result<Weighed, ReadError> {
    let question = pool.question;
    let options = &question.query.options;
    let times: Vec<Option<Vec<WholeTime>>> =
        options.iter().map(|option| whole_times_told(option, &question.now, tense(question))).collect();
    if times.iter().all(Option::is_some) {
        let times: Vec<Vec<WholeTime>> = times.into_iter().flatten().collect();
        if let Some(weighed) = by_time(pool, pooled, candidates, &times)? {
            return Ok(weighed);
        }
    }
    if let Some(weighed) = by_sums(pool, options)? {
        return Ok(weighed);
    }
    if let Some(weighed) = by_order(pool, options)? {
        return Ok(weighed);
    }
    if let Some(weighed) = by_number(pool, candidates, options) {
        return Ok(weighed);
    }
    by_words(pool, pooled, candidates, options, cosines)
}

fn tense(question: &Question<'_>) -> Tense {
    question.tense
}

/// Options that are times, against the times of what the question speaks of.
fn by_time(
    pool: &Pool<'_>,
    pooled: &[Found],
    candidates: &[Candidate],
    options: &[Vec<WholeTime>],
) -> Result<Option<Weighed>, ReadError> {
    let question = pool.question;
    // "From when does it stay as it is for more than 100 seconds?" asks for a moment after which it rests so long.
    if let Some((rests, least)) = resting(pool, pooled)? {
        let holds = |at: TimeSpan| {
            rests.iter().any(|rest| {
                rest.start <= at.end.saturating_add(SLACK)
                    && rest.end.since(at.start).as_secs_f64() >= least - 1.0
                    && at.start < rest.end
            })
        };
        let support = options
            .iter()
            .map(|times| times.first().map_or(0.0, |time| if holds(time.span) { 1.0 } else { 0.0 }))
            .collect();
        let evidence = matching(pool, pooled)?;
        return Ok(Some(Weighed { support, evidence, by: "rests" }));
    }
    // Several quoted things, and as many times in every option.
    let quotes = &question.asked.quotes;
    if quotes.len() > 1 && options.iter().all(|times| times.len() == quotes.len()) {
        let mut support = vec![0.0; options.len()];
        let mut evidence: Vec<Found> = Vec::new();
        for (place, quote) in quotes.iter().enumerate() {
            let found = told_as(pool, question.part(quote))?;
            for (option, times) in options.iter().enumerate() {
                let best = found.iter().map(|found| shared(&[times[place].span], &[found.span()])).fold(0.0, f32::max);
                #[expect(clippy::cast_precision_loss, reason = "a few quotes")]
                let share = best / quotes.len() as f32;
                support[option] += share;
            }
            evidence.extend(found);
        }
        return Ok(Some(Weighed { support, evidence, by: "times of each" }));
    }
    let told = candidates.iter().find_map(|candidate| match &candidate.value {
        Value::Times(spans) => Some((spans.clone(), candidate.evidence.clone())),
        _ => None,
    });
    let (spans, evidence) = match told {
        Some((spans, evidence)) if question.ask() == Ask::Time => (spans, evidence),
        _ => {
            let found = occurrences(pool, pooled)?;
            (found.iter().map(Found::span).collect(), found)
        }
    };
    if spans.is_empty() {
        return Ok(None);
    }
    let support = options
        .iter()
        .map(|times| {
            let own: Vec<TimeSpan> = times.iter().map(|time| time.span).collect();
            let dates = times.iter().any(|time| time.has_date);
            let clock = times.iter().any(|time| time.has_clock);
            let exact = dates && clock && own[0].end > own[0].start && own[0].end.since(own[0].start).as_secs() < 3_600;
            if own.len() == 1 && !exact {
                let told = spans.iter().map(|span| near(own[0], *span)).fold(0.0, f32::max);
                return told.max(near_any(question, pooled, own[0]));
            }
            shared(&own, &spans)
        })
        .collect();
    Ok(Some(Weighed { support, evidence, by: "times" }))
}

/// How well any event that suits the question lies at an option's time, or tells of it.
fn near_any(question: &Question<'_>, pooled: &[Found], option: TimeSpan) -> f32 {
    let top = pooled.iter().map(|found| rank(question, found)).fold(0.0, f32::max).max(0.2);
    let values = pooled.iter().take(LOOKED_AT).map(|found| {
        let told = found.reading.times.iter().map(|time| near(option, time.span)).fold(0.0, f32::max);
        let happened = near(option, found.span());
        let at = if question.tense == Tense::Future { told } else { happened.max(0.8 * told) };
        (rank(question, found) / top).clamp(0.0, 1.0).powi(2) * at * 0.9
    });
    values.fold(0.0, f32::max)
}

/// The rests of a thing that are longer than the question says, if it asks for them.
fn resting(pool: &Pool<'_>, pooled: &[Found]) -> Result<Option<(Vec<TimeSpan>, f64)>, ReadError> {
    let question = pool.question;
    let stays = question
        .asked
        .words
        .iter()
        .any(|word| matches!(word.lemma.as_str(), "remain" | "stay" | "rest" | "lie" | "stand"))
        && question.asked.words.iter().any(|word| {
            matches!(
                word.lemma.as_str(),
                "static" | "still" | "unmoved" | "untouched" | "stationary" | "undisturbed" | "motionless"
            )
        });
    if !stays {
        return Ok(None);
    }
    let least = quantities(question.text).into_iter().find_map(|quantity| match quantity.unit.as_str() {
        "second" | "s" => Some(quantity.value),
        "minute" | "min" => Some(quantity.value * 60.0),
        "hour" | "h" => Some(quantity.value * 3_600.0),
        _ => None,
    });
    let Some(least) = least else { return Ok(None) };
    let events = matching(pool, pooled)?;
    let mut found = rests(&events, question.bound());
    found.retain(|rest| rest.end.since(rest.start).as_secs_f64() >= least - 1.0);
    Ok((!found.is_empty()).then_some((found, least)))
}

/// Events that tell a text nearly word for word, the best alone.
fn told_as(pool: &Pool<'_>, text: &str) -> Result<Vec<Found>, ReadError> {
    let question = pool.question;
    let (words, _) = parse(text, &[]);
    let whole = 0..text.len();
    let content = Content::of(&words, std::slice::from_ref(&whole), 1.0, pool.reader.search());
    let mut found = pool.search(text, None, &content, question.bound(), None)?;
    let rank = |found: &Found| found.coverage.whole();
    let best = found.iter().map(rank).fold(0.0, f32::max);
    found.retain(|found| rank(found) >= best - 0.03);
    Ok(found)
}

/// How much of the time of two lists of spans is shared: intersection over union.
fn shared(a: &[TimeSpan], b: &[TimeSpan]) -> f32 {
    let seconds = |span: TimeSpan| span.end.since(span.start).as_secs_f32().max(0.5);
    let mut common = 0.0;
    for one in a {
        for other in b {
            if let Some(both) = super::question::intersection(*one, *other) {
                common += both.end.since(both.start).as_secs_f32().max(0.25);
            }
        }
    }
    let all =
        a.iter().map(|span| seconds(*span)).sum::<f32>() + b.iter().map(|span| seconds(*span)).sum::<f32>() - common;
    (common / all.max(0.5)).clamp(0.0, 1.0)
}

/// From 1 where an option's time holds the begin of what happened, to 0 far away.
fn near(option: TimeSpan, span: TimeSpan) -> f32 {
    if option.contains(span.start)
        || option.overlaps(span) && option.end > option.start && span.end.since(span.start).as_secs() < 3_600
    {
        return 1.0;
    }
    let gap = if span.start > option.end { span.start.since(option.end) } else { option.start.since(span.start) };
    1.0 / (1.0 + gap.as_secs_f32() / 5.0)
}

/// Options that name several amounts, against the sums of what was told.
fn by_sums(pool: &Pool<'_>, options: &[String]) -> Result<Option<Weighed>, ReadError> {
    let question = pool.question;
    let named: Vec<Vec<(String, f64)>> = options.iter().map(|option| named_amounts(option)).collect();
    if named.iter().any(|amounts| amounts.len() < 2) {
        return Ok(None);
    }
    let names: Vec<String> = named[0].iter().map(|(name, _)| name.clone()).collect();
    let Some(bound) = question.bound() else { return Ok(None) };
    let mut events = pool.listing(Some(bound), None, Vec::new(), false, 500, &question.content)?;
    events.retain(|found| sums(std::slice::from_ref(found), &names).iter().filter(|(_, sum)| *sum != 0.0).count() >= 1);
    let told = sums(&events, &names);
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
        return Ok(Some(Weighed { support: vec![0.0; options.len()], evidence: events, by: "sums" }));
    }
    Ok(Some(Weighed { support, evidence: events, by: "sums" }))
}

/// "Fat changed by 1.6, carbs changed by 29": names and numbers.
pub(super) fn named_amounts(text: &str) -> Vec<(String, f64)> {
    text.split(", ")
        .filter_map(|part| {
            let quantity: Quantity = quantities(part).into_iter().next()?;
            let name = part.split_whitespace().next()?.to_lowercase();
            name.chars().all(char::is_alphabetic).then_some((name, quantity.value))
        })
        .collect()
}

/// Options that are lists in an order, against the order in which they happened.
fn by_order(pool: &Pool<'_>, options: &[String]) -> Result<Option<Weighed>, ReadError> {
    let question = pool.question;
    let lists: Vec<Option<Vec<String>>> = options.iter().map(|option| ordered_items(option)).collect();
    if lists.iter().any(Option::is_none) {
        return Ok(None);
    }
    let lists: Vec<Vec<String>> = lists.into_iter().flatten().collect();
    let mut first: Vec<(String, Option<Found>)> = Vec::new();
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
    let mut evidence: Vec<Found> = first.into_iter().filter_map(|(_, found)| found).collect();
    evidence.sort_by_key(|found| (found.span().start, found.id()));
    Ok(Some(Weighed { support, evidence, by: "order" }))
}

/// The first event within the bounds that does to an item what the question says.
fn item_event(pool: &Pool<'_>, item: &str, question: &Question<'_>) -> Result<Option<Found>, ReadError> {
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

/// Options that are numbers, against a number that was counted or told.
fn by_number(pool: &Pool<'_>, candidates: &[Candidate], options: &[String]) -> Option<Weighed> {
    let values: Vec<Option<(f64, String)>> = options.iter().map(|option| whole_number(option)).collect();
    if values.iter().filter(|value| value.is_some()).count() * 2 < options.len().max(1)
        || pool.question.ask() == Ask::Time
    {
        return None;
    }
    let told = candidates.iter().find_map(|candidate| match &candidate.value {
        Value::Number(number, unit) => Some((*number, unit.clone(), candidate)),
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
    Some(Weighed { support, evidence: told.2.evidence.clone(), by: "number" })
}

/// A number with or without a unit and nothing else: "28 g", "twice", "three".
fn whole_number(option: &str) -> Option<(f64, String)> {
    let trimmed = option.trim();
    let all = quantities(trimmed);
    let first = all.first()?;
    let words = trimmed.split_whitespace().count();
    let _ = number;
    (words <= 2 && all.len() == 1 && first.range.start == 0)
        .then(|| (first.value, if matches!(first.unit.as_str(), "time") { String::new() } else { first.unit.clone() }))
}

/// Options in words, against what the candidates say and what memory holds of each.
fn by_words(
    pool: &Pool<'_>,
    pooled: &[Found],
    candidates: &[Candidate],
    options: &[String],
    cosines: &[Vec<f32>],
) -> Result<Weighed, ReadError> {
    let question = pool.question;
    let search = pool.reader.search();
    let mut contents: Vec<Content> = Vec::new();
    for option in options {
        let (words, _) = parse(option, &[]);
        contents.push(Content::of(&words, std::slice::from_ref(&(0..option.len())), 1.0, search));
    }
    // What every option says tells none from the others.
    let common: Vec<String> =
        contents.first().map(|first| first.items.iter().map(|item| item.lemma.clone()).collect()).unwrap_or_default();
    let common: Vec<String> = common
        .into_iter()
        .filter(|lemma| {
            contents.len() > 1 && contents.iter().all(|content| content.items.iter().any(|item| item.lemma == *lemma))
        })
        .collect();
    for content in &mut contents {
        content.items.retain(|item| !common.contains(&item.lemma));
        content.discount_unknown(UNPERCEIVED);
    }
    let top = pooled.iter().map(|found| rank(question, found)).fold(0.0, f32::max).max(0.2);
    let anything_placed = pooled.iter().any(|found| found.placed > 0.0);
    let mut support = vec![0.0_f32; options.len()];
    let mut best_event: Vec<Option<(f32, Found)>> = vec![None; options.len()];
    for (place, option) in options.iter().enumerate() {
        let mut looked: Vec<Found> = Vec::new();
        let text = format!("{option} {}", question.timeless);
        let own = pool.search(&text, cosines.get(place), &question.content, question.bound(), None)?;
        looked.extend(own.into_iter().take(LOOKED_AT));
        let looked = super::pool::merged(pooled.iter().take(LOOKED_AT).cloned().collect(), looked);
        let mut together = vec![0.0_f32; contents[place].items.len()];
        for found in looked {
            let fits =
                if anything_placed { found.placed.max(0.15) } else { (rank(question, &found) / top).clamp(0.0, 1.0) };
            let coverage = contents[place].coverage(&found.reading);
            let held = contents[place].held(&found.reading);
            together
                .iter_mut()
                .zip(&held)
                .for_each(|(best, held)| *best = best.max((0.15 + 0.85 * fits * fits) * held));
            let meaning = cosines.get(place).and_then(|vector| pool.cosine(vector, found.id())).unwrap_or(0.0).max(0.0);
            let says = 0.85 * coverage.of_content + 0.15 * meaning;
            // An event about the very thing that the option names says more than one that mentions it.
            let task = found.reading.event.attributes.get("task").and_then(crate::Value::as_text);
            let about = [found.reading.event.entity.as_deref(), task]
                .into_iter()
                .flatten()
                .any(|name| name.eq_ignore_ascii_case(option.trim()));
            let speaks = (0.15 + 0.85 * fits * fits) * says + if about { 0.3 * fits } else { 0.0 };
            if speaks > support[place] {
                support[place] = speaks;
            }
            if best_event[place].as_ref().is_none_or(|(most, _)| speaks > *most) {
                best_event[place] = Some((speaks, found));
            }
        }
        // What is seen and heard of one moment is told in pieces: together they may say what none says alone.
        let scene = contents[place].covered_by(&together);
        support[place] = support[place].max(0.5 * support[place] + 0.45 * scene);
    }
    // What the layers say themselves.
    for candidate in candidates {
        let said = match &candidate.value {
            Value::List(items) => items.join(", "),
            Value::Truth(yes) => (if *yes { "yes" } else { "no" }).to_owned(),
            _ => candidate.text.clone(),
        };
        let (words, _) = parse(&said, &[]);
        let lemmas: Vec<(String, crate::language::english::tag::Tag)> = words
            .iter()
            .filter(|word| super::reading::is_content(word))
            .map(|word| (word.lemma.clone(), word.tag))
            .collect();
        for (place, content) in contents.iter().enumerate() {
            let held = content.share_in(&lemmas);
            let truth = match &candidate.value {
                Value::Truth(yes) => options[place].to_lowercase().starts_with(if *yes { "yes" } else { "no" }),
                _ => false,
            };
            let exactly = candidate.signals.fits >= 1.0 && said.trim().eq_ignore_ascii_case(options[place].trim());
            support[place] +=
                candidate.confidence * (0.6 * held + if exactly { 0.8 } else { 0.0 }) + if truth { 0.2 } else { 0.0 };
        }
    }
    // "Which is not used": the one for which least speaks, where the others are supported.
    if question.asked.negated && question.asked.among_options {
        let most = support.iter().copied().fold(0.0_f32, f32::max);
        support = support.iter().map(|support| (most - support).max(0.0)).collect();
    }
    let _ = (Occurrence::First, main_noun as fn(&str) -> Option<crate::language::english::syntax::NounPhrase>);
    let best = support.iter().enumerate().max_by(|a, b| a.1.total_cmp(b.1).then(b.0.cmp(&a.0))).map(|(place, _)| place);
    let mut evidence: Vec<Found> = Vec::new();
    if let Some(place) = best
        && let Some((_, found)) = best_event[place].clone()
    {
        evidence.push(found);
    }
    Ok(Weighed { support, evidence, by: "words" })
}
