//! Answers how much, how heavy or how long: told quantities, compared and summed.

mod durations;
mod units;

pub(super) use self::durations::answer_duration;
pub(super) use self::units::has_unit_class_of;
use self::units::{UNITS_BY_VERB, is_same_name, noun_before};
pub(in crate::recall) use self::units::{has_asked_unit, measures, unit_class, unit_of};

use crate::ReadError;
use crate::language::english::letters::capitalised;
use crate::language::english::lexicon::scales::is_unit;
use crate::language::english::lexicon::{self, PartOfSpeech};
use crate::language::english::question::AnswerKind;
use crate::language::english::time::{Tense, say_day};
use crate::recall::answerers::birthdays::states_age;
use crate::recall::answerers::times::rank_margin;
use crate::recall::candidate::{Candidate, CandidateValue, Layer, Signals};
use crate::recall::clause_selection::{lacks_asked_thing, relevant_clauses};
use crate::recall::content::word_similarity;
use crate::recall::corrections::stated_quantities;
use crate::recall::likeness::best_phrase_similarity;
use crate::recall::pool::{EventPool, RetrievedEvent};
use crate::recall::quantities::Quantity;
use crate::recall::question::Question;

/// Bonus for a number that states somebody's age, if the question asks for it.
const AGE_BONUS: f32 = 0.5;
/// Bonus for a quantity in the clause that answers the question.
const RELEVANT_CLAUSE_BONUS: f32 = 0.1;
/// Minimum similarity of an event to the thing whose price is asked for.
const MIN_PRICED_THING_SIMILARITY: f32 = 0.4;
/// Coverage from which an event is a good match.
const GOOD_COVERAGE: f32 = 0.7;

/// Answers with the quantity that a question asks for.
pub(in crate::recall) fn answer(
    pool: &EventPool<'_>,
    pooled: &[RetrievedEvent],
) -> Result<Option<Candidate>, ReadError> {
    let question = pool.question;
    if question.ask() == AnswerKind::Length {
        return answer_duration(pool, pooled);
    }
    let mut best: Option<(f32, Quantity, &RetrievedEvent)> = None;
    let latest = question.tense != Tense::Past;
    // A price has its own wording: for a question about a price, only events with a price count.
    let priced = |found: &&RetrievedEvent| {
        unit_class(question).is_none()
            || stated_quantities(&found.reading)
                .iter()
                .any(|quantity| has_asked_unit(question, quantity, &found.reading))
                && (question.named.is_empty()
                    || question
                        .named
                        .iter()
                        .any(|thing| best_phrase_similarity(thing, &found.reading) >= MIN_PRICED_THING_SIMILARITY))
    };
    let of_it = |found: &&RetrievedEvent| priced(found) && !lacks_asked_thing(question, &found.reading);
    let top = pooled.iter().filter(of_it).map(RetrievedEvent::fitness).fold(0.0, f32::max);
    for found in pooled.iter().filter(of_it).filter(|found| found.fitness() >= 0.8 * top) {
        let telling = relevant_clauses(question, &found.reading);
        for quantity in stated_quantities(&found.reading)
            .into_iter()
            .filter(|quantity| has_asked_unit(question, quantity, &found.reading))
        {
            let mut rank = found.fitness() + measure_match(question, &quantity);
            if telling
                .iter()
                .any(|clause| clause.range.start <= quantity.range.start && quantity.range.end <= clause.range.end)
            {
                rank += RELEVANT_CLAUSE_BONUS;
            }
            if states_age(question, &quantity, &found.reading) {
                rank += AGE_BONUS;
            }
            if latest {
                // The newest value of a state holds. Age costs little, the order decides.
                rank += recency_bonus(found, pooled);
            }
            if best.as_ref().is_none_or(|(most, ..)| rank > *most + 1e-4) {
                best = Some((rank, quantity, found));
            }
        }
    }
    let Some((_, quantity, found)) = best else { return Ok(None) };
    // A later statement about the same thing corrects it.
    let later = |other: &&RetrievedEvent| {
        other.span().start > found.span().start
            && other.fitness() >= 0.75 * found.fitness()
            && !question.has_time_bound()
    };
    let corrected = pooled.iter().filter(later).filter_map(|other| {
        // "Size 38" is a size, whatever stands behind the number.
        let same = stated_quantities(&other.reading).into_iter().find(|told| {
            !told.unit.is_empty() && told.unit == quantity.unit
                || noun_before(&other.reading, told)
                    .is_some_and(|kind| Some(kind) == noun_before(&found.reading, &quantity))
        })?;
        Some((same, other))
    });
    let (quantity, found) =
        corrected.max_by_key(|(_, other)| (other.span().start, other.id())).unwrap_or((quantity, found));
    let mut evidence = vec![found.clone()];
    evidence.extend(pooled.iter().filter(|other| other.id() != found.id()).cloned());
    let text = found.reading.text(&quantity.range).to_owned();
    let mut signals = amount_signals(question, found, pooled);
    // Who "weighs nine kilos" is so heavy.
    let degree = question.asked.clause.asking.as_ref().and_then(|asking| asking.degree.as_deref());
    let weighs = found.reading.clauses().filter_map(|clause| clause.verb.as_ref()).any(|verb| verb.lemma == "weigh");
    if degree == Some("heavy") && weighs && signals.thing >= GOOD_COVERAGE {
        signals.coverage = 1.0;
        signals.known = 1.0;
    }
    // That somebody "is twelve" says how old they are.
    if states_age(question, &quantity, &found.reading) {
        signals.coverage = 1.0;
    }
    Ok(Some(Candidate {
        layer: Layer::Episodes,
        text,
        value: CandidateValue::Number(quantity.value, quantity.unit.clone()),
        signals,
        evidence,
        confidence: 0.0,
        computed: false,
        reason: "an amount that was told".into(),
    }))
}

/// Returns a bonus from 0 to 0.2 by time order among the candidates.
fn recency_bonus(found: &RetrievedEvent, pooled: &[RetrievedEvent]) -> f32 {
    let older = pooled.iter().filter(|other| other.span().start < found.span().start).count();
    #[expect(clippy::cast_precision_loss, reason = "a few candidates")]
    let share = older as f32 / pooled.len().max(1) as f32;
    0.2 * share
}

/// Returns how well a number measures what the question asks for: by its unit or its measured noun.
fn measure_match(question: &Question<'_>, quantity: &Quantity) -> f32 {
    let named = |text: &str| {
        text.split(' ')
            .filter(|word| !word.is_empty())
            .flat_map(|word| question.content.items.iter().map(move |item| word_similarity(&item.lemma, word)))
            .fold(0.0, f32::max)
    };
    let class = question.asked.class.as_ref().map_or(0.0, |class| {
        word_similarity(&class.head, &quantity.unit).max(word_similarity(&class.head, &quantity.measured))
    });
    let verb = question.asked.clause.verb.as_ref().map_or("", |verb| verb.lemma.as_str());
    let unit = UNITS_BY_VERB.iter().find(|(verbs, _)| verbs.contains(&verb)).map(|(_, unit)| unit);
    let of_verb = unit.is_some_and(|unit| lexicon::is_a_as(&quantity.unit, unit, PartOfSpeech::Noun).is_some());
    0.2 * named(&quantity.measured).max(0.8 * named(&quantity.unit)).max(class).max(if of_verb { 1.0 } else { 0.0 })
}

/// Returns the coverage of the question by an event that states an amount: "thirty euros" states what it cost.
fn amount_coverage(question: &Question<'_>, found: &RetrievedEvent) -> f32 {
    let of_it = question.named.iter().all(|thing| best_phrase_similarity(thing, &found.reading) >= GOOD_COVERAGE)
        && !question.named.is_empty();
    let Some(class) = unit_class(question).filter(|_| of_it) else { return found.coverage.of_content };
    let says = |word: &str| {
        UNITS_BY_VERB.iter().any(|(verbs, unit)| *unit == class && verbs.contains(&word))
            || matches!(word, "price" | "cost")
    };
    let mut held = question.content.item_similarities(&found.reading);
    let items = question.content.items.iter().zip(&mut held);
    items.filter(|(item, _)| says(&item.lemma)).for_each(|(_, held)| *held = 1.0);
    question.content.covered_share(&held)
}

fn amount_signals(question: &Question<'_>, found: &RetrievedEvent, pooled: &[RetrievedEvent]) -> Signals {
    let coverage = amount_coverage(question, found);
    Signals {
        coverage,
        cosine: found.cosine.unwrap_or(0.0),
        margin: rank_margin(pooled),
        fits: 1.0,
        thing: question.named.first().map_or(0.5, |thing| best_phrase_similarity(thing, &found.reading)),
        known: if coverage > found.coverage.of_content { coverage } else { question.content.known_share() },
    }
}

/// Answers which thing has the most or the least of something, among the events that state an amount of it.
pub(in crate::recall) fn superlative(pool: &EventPool<'_>) -> Result<Option<Candidate>, ReadError> {
    let question = pool.question;
    let Some(scale) = question.asked.scale.as_ref().filter(|scale| !scale.comparative && !scale.scale_noun.is_empty())
    else {
        return Ok(None);
    };
    if matches!(scale.scale_noun.as_str(), "long" | "often") {
        return Ok(None);
    }
    let listed = pool.events_in_time_order(question.bound(), None, Vec::new(), false, 1_000, &question.content)?;
    let unit = unit_of(&scale.scale_noun);
    let mut best: Option<(f64, RetrievedEvent)> = None;
    let options = &question.query.options;
    for found in listed {
        // With options, only their things are possible answers.
        let entity = found.reading.event.entity.as_deref().unwrap_or_default();
        if !options.is_empty() && !options.iter().any(|option| is_same_name(option, entity)) {
            continue;
        }
        let Some(value) = found
            .reading
            .quantities()
            .iter()
            .find(|quantity| measures(quantity, &scale.scale_noun, unit))
            .map(|quantity| quantity.value)
        else {
            continue;
        };
        let value = if scale.most { value } else { -value };
        if best.as_ref().is_none_or(|(most, _)| value > *most) && found.reading.event.entity.is_some() {
            best = Some((value, found));
        }
    }
    let Some((_, found)) = best else { return Ok(None) };
    let is_day = |head: &str| matches!(head, "day" | "date");
    // "On which of the three days was there the most?"
    let asking = question.asked.clause.asking.as_ref().and_then(|asking| asking.noun.as_ref());
    let of_days = asking.and_then(|noun| noun.of.as_ref()).is_some_and(|of| is_day(&of.head));
    let day = of_days || question.asked.class.as_ref().is_some_and(|class| is_day(&class.head));
    let name = match day || question.ask() == AnswerKind::Time {
        true => capitalised(&say_day(found.span().start, &question.now)),
        false => found.reading.event.entity.clone().unwrap_or_default(),
    };
    let reason = format!("the {} of {}", if scale.most { "most" } else { "least" }, scale.scale_noun);
    let value = CandidateValue::Text(name.clone());
    Ok(Some(Candidate::computed(Layer::Episodes, name, value, vec![found], 1.0, reason)))
}

/// Sums the amounts that the events of a span state, by the names in the question or the options.
pub(in crate::recall) fn sum_amounts(events: &[RetrievedEvent], names: &[String]) -> Vec<(String, f64)> {
    names
        .iter()
        .map(|name| {
            let unit = unit_of(name);
            let told = events.iter().filter_map(|found| {
                found.reading.quantities().into_iter().find(|quantity| measures(quantity, name, unit))
            });
            (name.clone(), told.map(|quantity| quantity.value).sum())
        })
        .collect()
}

/// Answers which amounts changed in a time span ("112 kcal, 1.9 g fat"): their sums.
pub(in crate::recall) fn sum_changes(pool: &EventPool<'_>, found: &[RetrievedEvent]) -> Option<Candidate> {
    let question = pool.question;
    let bound = question.bound()?;
    let mut totals: Vec<(String, String, f64)> = Vec::new();
    let mut evidence: Vec<RetrievedEvent> = Vec::new();
    for found in found.iter().filter(|found| found.span().overlaps(bound)) {
        // Things that are counted, "four red ones", are no amounts of something.
        let quantities: Vec<Quantity> =
            found.reading.quantities().into_iter().filter(|quantity| is_unit(&quantity.unit)).collect();
        if quantities.len() < 3 {
            continue;
        }
        evidence.push(found.clone());
        // The first amount is that of the thing itself; the others are its contents.
        for quantity in &quantities[1..] {
            let label = quantity.measured.split(' ').next().unwrap_or_default().to_owned();
            match totals.iter_mut().find(|(unit, of, _)| *unit == quantity.unit && *of == label) {
                Some((_, _, sum)) => *sum += quantity.value,
                None => totals.push((quantity.unit.clone(), label, quantity.value)),
            }
        }
    }
    if totals.len() < 2 {
        return None;
    }
    let items: Vec<String> = totals
        .iter()
        .map(|(unit, of, sum)| format!("{} {unit} {of}", (sum * 10.0).round() / 10.0).trim_end().to_owned())
        .collect();
    let text = super::quote::join_list(&items);
    Some(Candidate::computed(
        Layer::Episodes,
        text.clone(),
        CandidateValue::Text(text),
        evidence,
        question.content.known_share(),
        "the sums of what was told".into(),
    ))
}
