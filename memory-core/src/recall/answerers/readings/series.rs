//! Collects the readings of one quantity of one thing or place, in time order.

use std::collections::BTreeMap;

use super::asked::{AskedReading, AskedWord, AskedWordKind};
use crate::index::{Holding, words};
use crate::language::english::closed::number_word;
use crate::language::english::lexicon::scales::{Scale, is_unit, scale_measuring};
use crate::language::english::lexicon::{self, Category, PartOfSpeech};
use crate::language::english::tag::{Tag, lemma};
use crate::recall::content::word_similarity;
use crate::recall::pool::EventPool;
use crate::recall::quantities::{Quantity, quantities};
use crate::recall::question::ROBOT_ENTITY;
use crate::{Event, EventId, Kind, ReadError, TimeSpan, Timestamp, Value};

/// Maximum number of states that are read.
const MAX_STATES: usize = 4_000;
/// Minimum similarity of a word of the question to a word of a reading.
const MIN_WORD_SIMILARITY: f32 = 0.8;
/// Minimum similarity of a name.
const MIN_NAME_SIMILARITY: f32 = 0.95;
/// Score of a word that no reading needs to match, if it does not.
const UNMATCHED_SCORE: f32 = 0.4;
/// Difference of two scores below which two series suit equally well.
const SCORE_TOLERANCE: f32 = 0.02;
/// Difference below which two values are equal.
pub(super) const VALUE_TOLERANCE: f64 = 1e-9;

/// One reading.
#[derive(Debug, Clone)]
pub(super) struct Reading {
    pub event: EventId,
    pub at: Timestamp,
    pub value: f64,
    /// The value with its unit, as told.
    pub shown: String,
    pub unit: String,
    /// Share of the question's words that it matches.
    pub score: f32,
}

/// A value of a state, with the words that say what it measures.
struct Measure {
    value: f64,
    shown: String,
    unit: String,
    /// Name of the attribute, or the unit.
    name: String,
    words: Vec<String>,
}

/// The readings of a series, in time order, or nothing if several series suit equally well. With `merged`, those of one
/// quantity are one series.
pub(super) fn readings(
    pool: &EventPool<'_>,
    asked: &AskedReading,
    span: Option<TimeSpan>,
    merged: bool,
) -> Result<Vec<Reading>, ReadError> {
    let mut series: BTreeMap<(String, String), Vec<Reading>> = BTreeMap::new();
    for id in state_ids(pool, asked, span) {
        let taken_back = pool.taken_back.iter().any(|pair| pair.earlier.id() == id);
        let Some(event) = pool.reader.event(id)?.filter(|event| !taken_back && event.kind == Kind::State) else {
            continue;
        };
        let whose = event.entity.as_deref().unwrap_or_default().to_lowercase();
        if asked.own && whose != ROBOT_ENTITY {
            continue;
        }
        let context = ContextWords::of(&event);
        let mut best: Option<(f32, Measure)> = None;
        for measure in measures(&event) {
            let Some(score) = match_score(asked, &measure, &context) else { continue };
            if best.as_ref().is_none_or(|(most, _)| score > *most) {
                best = Some((score, measure));
            }
        }
        let Some((score, measure)) = best else { continue };
        let reading = Reading {
            event: id,
            at: event.span.start,
            value: measure.value,
            shown: measure.shown,
            unit: measure.unit,
            score,
        };
        let key = if merged { String::new() } else { series_owner(&event, &whose) };
        series.entry((measure.name, key)).or_default().push(reading);
    }
    let score = |all: &Vec<Reading>| all.iter().map(|reading| reading.score).fold(0.0, f32::max);
    let mut rated: Vec<Vec<Reading>> = series.into_values().collect();
    rated.sort_by(|a, b| score(b).total_cmp(&score(a)));
    if let [first, second, ..] = rated.as_slice()
        && score(first) - score(second) < SCORE_TOLERANCE
    {
        return Ok(Vec::new());
    }
    let mut chosen = rated.into_iter().next().unwrap_or_default();
    chosen.sort_by_key(|reading| (reading.at, reading.event));
    Ok(chosen)
}

/// Returns whose readings they are: a thing may be measured at several places, a robot takes its battery along.
fn series_owner(event: &Event, whose: &str) -> String {
    let place = event.attributes.get("place").and_then(Value::as_text).unwrap_or_default();
    if whose.is_empty() { place.to_lowercase() } else { whose.to_owned() }
}

/// Returns the ids of the states that hold all words of the question which any state holds, the latest ones.
fn state_ids(pool: &EventPool<'_>, asked: &AskedReading, span: Option<TimeSpan>) -> Vec<EventId> {
    let search = pool.reader.search();
    let states = || Holding { kinds: vec![Kind::State], span, ..Holding::default() };
    let nouns = asked.words.iter().filter(|word| matches!(word.kind, AskedWordKind::Noun | AskedWordKind::Name));
    let held = |group: &Vec<String>| {
        !search.holding(&Holding { groups: vec![group.clone()], limit: 1, ..states() }).is_empty()
    };
    // The robot's own states tell what they measure by the name of an attribute, and few of them also in words.
    let nouns = nouns.filter(|_| !asked.own);
    let groups: Vec<Vec<String>> = nouns.map(|word| pool.known_synonyms(&word.lemma)).filter(held).collect();
    let entity = asked.own.then(|| ROBOT_ENTITY.to_owned());
    search.holding(&Holding { groups, entity, latest: true, limit: MAX_STATES, ..states() })
}

/// The words around a measure.
struct ContextWords {
    entity: Vec<String>,
    place: Vec<String>,
    text: Vec<String>,
}

impl ContextWords {
    fn of(event: &Event) -> Self {
        let place = event.attributes.get("place").and_then(Value::as_text).unwrap_or_default();
        Self {
            entity: lemmas(event.entity.as_deref().unwrap_or_default()),
            place: lemmas(place),
            text: lemmas(&event.text),
        }
    }
}

fn lemmas(text: &str) -> Vec<String> {
    words(text).map(|word| number_word(&word).map_or_else(|| lemma(&word, Tag::Noun), |n| n.to_string())).collect()
}

/// Returns the values that a state tells: its numeric attributes, or the quantities of its text if it has none.
fn measures(event: &Event) -> Vec<Measure> {
    let told = quantities(&event.text);
    let mut found: Vec<Measure> = Vec::new();
    for (name, value) in event.attributes.iter().filter(|(name, _)| event.tells(name)) {
        #[expect(clippy::cast_precision_loss, reason = "a reading")]
        let value = match value {
            Value::Integer(value) => *value as f64,
            Value::Number(value) => *value,
            _ => continue,
        };
        let mut words: Vec<String> =
            name.split(['_', '-', ' ']).map(|word| lemma(&word.to_lowercase(), Tag::Noun)).collect();
        let quantity = told.iter().find(|quantity| (quantity.value - value).abs() < VALUE_TOLERANCE);
        let unit_of_name = words.last().filter(|last| words.len() > 1 && is_unit(last)).cloned();
        let (shown, unit) = match quantity {
            Some(quantity) => (shown(&event.text, quantity), quantity.unit.clone()),
            None => {
                let unit = unit_of_name.clone().unwrap_or_default();
                (format!("{value} {}", if unit == "c" { "°C" } else { &unit }).trim_end().to_owned(), unit)
            }
        };
        if unit_of_name.is_some() {
            words.pop();
        }
        if let Some(quantity) = quantity {
            words.extend(quantity.measured.split(' ').map(str::to_owned).filter(|word| !word.is_empty()));
        }
        let unit = if is_unit(&unit) { unit } else { unit_of_name.unwrap_or(unit) };
        found.push(Measure { value, shown, unit, name: name.clone(), words });
    }
    if !found.is_empty() {
        return found;
    }
    // The number of a name is no reading: "tank 3".
    let named: Vec<String> = lemmas(event.entity.as_deref().unwrap_or_default());
    let values = told.iter().filter(|quantity| !named.contains(&quantity.value.to_string()));
    let values: Vec<&Quantity> = values.collect();
    let alone = values.len() == 1;
    for quantity in values.into_iter().filter(|quantity| is_unit(&quantity.unit) || alone) {
        let words = quantity.measured.split(' ').map(str::to_owned).filter(|word| !word.is_empty()).collect();
        let (unit, shown) = (quantity.unit.clone(), shown(&event.text, quantity));
        found.push(Measure { value: quantity.value, shown, name: unit.clone(), unit, words });
    }
    found
}

/// Returns a quantity as told, without a word behind it that is no unit: "6.1 now".
fn shown(text: &str, quantity: &Quantity) -> String {
    let told = text.get(quantity.range.clone()).unwrap_or_default();
    let countable = is_unit(&quantity.unit)
        || !matches!(lexicon::category(&quantity.unit, PartOfSpeech::Noun), None | Some(Category::Time));
    match told.split_once(' ') {
        Some((number, _)) if !countable => number.to_owned(),
        // "°C" are two tokens.
        _ if told.ends_with('°') => {
            let behind = text.get(quantity.range.end..).unwrap_or_default();
            let letter = behind.chars().next().filter(|c| matches!(c, 'C' | 'F'));
            letter.map_or_else(|| told.to_owned(), |letter| format!("{told}{letter}"))
        }
        _ => told.trim_end_matches(['.', ',']).to_owned(),
    }
}

/// Returns whether a measure is on a scale: by its name, its unit, or, without both, the words of the text.
fn is_on_scale(scale: &Scale, measure: &Measure, context: &ContextWords) -> bool {
    let named: Vec<&Scale> = measure.words.iter().filter_map(|word| scale_measuring(word)).collect();
    if !named.is_empty() {
        return named.contains(&scale);
    }
    let level = measure.words.iter().any(|word| word == "level") && scale.has_unit("%");
    let by_text =
        || matches!(measure.unit.as_str(), "" | "%") && context.text.iter().any(|word| scale.is_named_by(word));
    let other = || context.text.iter().filter_map(|word| scale_measuring(word)).any(|one| one != scale);
    scale.has_unit(&measure.unit) && !other() || level && !other() || by_text()
}

/// Returns the share of the question's words that a measure matches, or nothing if it measures something else.
fn match_score(asked: &AskedReading, measure: &Measure, context: &ContextWords) -> Option<f32> {
    if asked.scale.is_some_and(|scale| !is_on_scale(scale, measure, context)) {
        return None;
    }
    let mut measured = asked.scale.is_some() || asked.any_value;
    let (mut sum, mut count, mut matched) = (0.0, 0.0_f32, 0);
    for word in &asked.words {
        measured |= word.kind == AskedWordKind::Instrument;
        let own = best(word, &measure.words).max(0.9 * unit_similarity(word, &measure.unit));
        let beside = best(word, &context.entity).max(0.97 * best(word, &context.place));
        let said = if word.kind == AskedWordKind::Number { 0.0 } else { 0.95 * best(word, &context.text) };
        let least =
            if word.kind == AskedWordKind::Name { MIN_NAME_SIMILARITY * 0.95 } else { MIN_WORD_SIMILARITY * 0.95 };
        let score = own.max(beside).max(said);
        count += 1.0;
        if score >= least {
            // What stands in the text around the only value says what it is, too.
            let about = matches!(word.kind, AskedWordKind::Noun | AskedWordKind::Verb) && said > beside;
            if asked.head.as_deref() == Some(word.lemma.as_str()) && own < least && !about {
                return None;
            }
            measured |= own >= least || about;
            matched += 1;
            sum += score;
        } else if is_needed(word, context) || asked.head.as_deref() == Some(word.lemma.as_str()) {
            return None;
        } else {
            sum += UNMATCHED_SCORE;
        }
    }
    let nothing_matches = matched == 0 && !asked.words.is_empty() && !asked.own;
    if !measured || nothing_matches {
        return None;
    }
    if asked.scale.is_some() {
        sum += 1.0;
        count += 1.0;
    }
    // Of two things with the words of the question, the one with fewer other words is meant.
    let extra = context
        .entity
        .iter()
        .filter(|word| !asked.words.iter().any(|asked| best(asked, std::slice::from_ref(word)) > 0.0));
    #[expect(clippy::cast_precision_loss, reason = "a few words")]
    let extra = extra.count() as f32;
    Some(sum / count - if asked.words.is_empty() { 0.0 } else { 0.01 * extra.min(3.0) })
}

fn best(word: &AskedWord, told: &[String]) -> f32 {
    told.iter().map(|told| word_similarity(&word.lemma, told)).fold(0.0, f32::max)
}

fn unit_similarity(word: &AskedWord, unit: &str) -> f32 {
    if unit.is_empty() { 0.0 } else { word_similarity(&word.lemma, unit) }
}

/// Returns whether a reading without a word is one of something else: a place, a thing and a name tell readings apart,
/// an instrument, an event or a phenomenon ("the flood") only describes what was measured.
fn is_needed(word: &AskedWord, context: &ContextWords) -> bool {
    let describes = |part| {
        matches!(
            lexicon::category(&word.lemma, part),
            Some(
                Category::Phenomenon
                    | Category::Event
                    | Category::Process
                    | Category::State
                    | Category::Attribute
                    | Category::Cognition
                    | Category::Quantity
                    | Category::Time
            )
        )
    };
    match word.kind {
        AskedWordKind::Noun => !describes(PartOfSpeech::Noun),
        AskedWordKind::Name | AskedWordKind::Number => true,
        AskedWordKind::Verb | AskedWordKind::Instrument => false,
        AskedWordKind::Modifier => {
            let mut told = context.entity.iter().chain(&context.place).chain(&context.text);
            told.any(|told| lexicon::are_opposites(&word.lemma, told))
        }
    }
}
