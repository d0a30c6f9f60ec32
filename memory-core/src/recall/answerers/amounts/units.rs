//! The units of amounts: which unit a question asks for, and what a quantity measures.

use super::states_age;
use crate::language::english::closed::AMBIGUOUS_MONEY_UNITS;
use crate::language::english::lexicon::{self, PartOfSpeech};
use crate::language::english::question::AnswerKind;
use crate::language::english::syntax::NounPhrase;
use crate::language::english::tag::{Tag, lemma};
use crate::recall::content::word_similarity;
use crate::recall::quantities::Quantity;
use crate::recall::question::Question;
use crate::recall::reading::{ParsedEvent, arguments};

/// Verbs with the class of units that they measure in.
pub(super) const UNITS_BY_VERB: &[(&[&str], &str)] =
    &[(&["cost", "pay", "spend", "owe", "charge", "quote"], "monetary_unit"), (&["weigh"], "mass_unit")];

/// Returns the class of units that the question asks for: money for "how much did it cost?".
pub(in crate::recall) fn unit_class(question: &Question<'_>) -> Option<&'static str> {
    let verb = question.asked.clause.verb.as_ref().map_or("", |verb| verb.lemma.as_str());
    let price = question.asked.class.as_ref().is_some_and(|class| matches!(class.head.as_str(), "price" | "cost"));
    // "How heavy is it?" asks what it weighs.
    let degree = question.asked.clause.asking.as_ref().and_then(|asking| asking.degree.as_deref());
    let verb = if degree == Some("heavy") { "weigh" } else { verb };
    let class = UNITS_BY_VERB.iter().find(|(verbs, _)| verbs.contains(&verb)).map(|(_, unit)| *unit);
    // "How much were the lemons?"
    let asking = question.asked.clause.asking.as_ref();
    let much = asking.is_some_and(|asking| asking.degree.as_deref() == Some("much") && asking.noun.is_none());
    let is = question.asked.clause.verb.as_ref().is_some_and(|verb| verb.lemma == "be" && verb.auxiliary_only);
    // "What did it come to?"
    let comes_to = verb == "come" && question.ask() == AnswerKind::Amount;
    class.or((price || comes_to || much && is).then_some("monetary_unit"))
}

/// Returns whether a number can be the amount, by its unit.
pub(in crate::recall) fn has_asked_unit(question: &Question<'_>, quantity: &Quantity, reading: &ParsedEvent) -> bool {
    let asking = question.asked.clause.asking.as_ref();
    if asking.is_some_and(|asking| asking.degree.as_deref() == Some("old")) {
        return states_age(question, quantity, reading)
            || lexicon::is_a_as(&quantity.unit, "time_unit", PartOfSpeech::Noun).is_some();
    }
    unit_class(question).is_none_or(|class| is_in_unit_class(class, quantity, reading))
}

/// Returns whether a number is an amount of money for a price, or of mass for a weight.
pub(in crate::recall::answerers) fn has_unit_class_of(of: &str, quantity: &Quantity, reading: &ParsedEvent) -> bool {
    is_in_unit_class(if of == "weight" { "mass_unit" } else { "monetary_unit" }, quantity, reading)
}

pub(super) fn is_in_unit_class(class: &str, quantity: &Quantity, reading: &ParsedEvent) -> bool {
    let before = reading.event.text.get(..quantity.range.start).unwrap_or_default().trim_end();
    let signed = class == "monetary_unit" && before.ends_with(['$', '€', '£']);
    let money = class == "monetary_unit" && AMBIGUOUS_MONEY_UNITS.contains(&lemma(&quantity.unit, Tag::Noun).as_str());
    signed
        || money
        || lexicon::is_a_as(&quantity.unit, class, PartOfSpeech::Noun).is_some()
        || lexicon::is_a_as(&quantity.measured, class, PartOfSpeech::Noun).is_some()
}

/// Returns the noun directly before a number: "size 38".
pub(super) fn noun_before<'r>(reading: &'r ParsedEvent, quantity: &Quantity) -> Option<&'r str> {
    let mut nouns = reading.clauses().flat_map(arguments).flat_map(NounPhrase::coordinated);
    let noun = nouns.find(|noun| noun.range.end == quantity.range.end && noun.range.start < quantity.range.start)?;
    noun.modifiers.iter().any(|word| word.starts_with(|c: char| c.is_ascii_digit())).then_some(noun.head.as_str())
}

/// Returns whether two names differ in number only: "burgers" and "burger".
pub(super) fn is_same_name(a: &str, b: &str) -> bool {
    let words = |text: &str| crate::index::words(text).map(|word| crate::index::stem(&word)).collect::<Vec<_>>();
    !b.is_empty() && words(a) == words(b)
}

/// Returns whether a quantity measures what a word names.
pub(in crate::recall) fn measures(quantity: &Quantity, name: &str, unit: Option<&str>) -> bool {
    if unit.is_some_and(|unit| quantity.unit == unit) {
        return true;
    }
    quantity.measured.split(' ').any(|word| word_similarity(word, name) >= 0.9)
        || !quantity.unit.is_empty() && word_similarity(&quantity.unit, name) >= 0.9
}

/// Returns the unit that a name implies.
pub(in crate::recall) fn unit_of(name: &str) -> Option<&'static str> {
    match name {
        "calorie" | "calories" | "energy" => Some("kcal"),
        "weight" => Some("g"),
        "temperature" => Some("degree"),
        _ => None,
    }
}
