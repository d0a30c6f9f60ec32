//! Classes of encoder labels: "dining table", "Acoustic guitar", "Typing".

use std::collections::BTreeMap;
use std::sync::LazyLock;

use super::morphology::{lemma, lemma_candidates};
use super::part_of_speech::PartOfSpeech;
use super::relations::{is_a, is_a_as};

/// Returns the number of steps from an encoder's label up to `class`, or `None` if the label is not of that class.
///
/// Each part of the label between commas is looked up as in [`is_a`]. If the table lacks it, its longest known ending
/// is used ("sports ball" is a ball). A word in "-ing" is also looked up as its verb ("Typing" is writing). Each
/// omitted word counts as one step.
pub(crate) fn label_is_a(label: &str, class: &str) -> Option<u8> {
    label_names(label).filter_map(|phrase| phrase_is_a(phrase, class)).min()
}

/// As [`label_is_a`], for a label of the sound encoder. The label also belongs to its families in AudioSet's ontology:
/// the sound "thunder" is weather, and "honk" is a vehicle's or an animal's. A family counts as one step.
pub(crate) fn sound_is_a(label: &str, class: &str) -> Option<u8> {
    let families = sound_families().get(label.trim().replace('_', " ").to_lowercase().as_str());
    let by_family = families.into_iter().flatten().filter_map(|family| is_a(family, class)).map(|steps| steps + 1);
    by_family.chain(label_is_a(label, class)).min()
}

/// Returns the families of each class of sounds. `sounds.txt` is made by `memory-core/scripts/make-lexicon --sounds`.
fn sound_families() -> &'static BTreeMap<&'static str, Vec<&'static str>> {
    static FAMILIES: LazyLock<BTreeMap<&str, Vec<&str>>> = LazyLock::new(|| {
        let mut found: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
        for (family, classes) in include_str!("sounds.txt").lines().filter_map(|line| line.split_once(": ")) {
            for class in classes.split(", ") {
                found.entry(class).or_default().push(family);
            }
        }
        found
    });
    &FAMILIES
}

/// Returns the names in a label. "Walk, footsteps" and "Vehicle horn, car horn, honking" are several names of one
/// sound; "crane (bird)" is one name with a remark.
fn label_names(label: &str) -> impl Iterator<Item = &str> {
    label.split([',', '(', ')', ';']).map(str::trim).filter(|phrase| !phrase.is_empty())
}

fn phrase_is_a(phrase: &str, class: &str) -> Option<u8> {
    let mut rest = phrase;
    let mut left_out = 0_u8;
    loop {
        if is_known_label(rest) {
            let steps = is_a(rest, class).or_else(|| verb_form_is_a(rest, class));
            return steps.map(|steps| steps.saturating_add(left_out));
        }
        rest = rest.split_once([' ', '_', '-'])?.1;
        left_out = left_out.saturating_add(1);
    }
}

/// Returns whether the table has `phrase` as a noun, or as a verb of one word. The verb "to cell phone" does not
/// describe a cell phone.
fn is_known_label(phrase: &str) -> bool {
    let single = !phrase.contains([' ', '_']);
    lemma_candidates(phrase)
        .iter()
        .any(|found| found.part == PartOfSpeech::Noun || (single && found.part == PartOfSpeech::Verb))
}

/// Returns whether the known part of `label` has any class.
#[cfg(test)]
pub(super) fn has_class(label: &str) -> bool {
    let table = super::table::table();
    label_names(label).any(|phrase| {
        let ends = std::iter::successors(Some(phrase), |rest| Some(rest.split_once([' ', '_', '-'])?.1));
        ends.filter(|rest| is_known_label(rest)).flat_map(lemma_candidates).any(|found| {
            let mut senses = table.senses_as(found.lemma, found.part);
            senses.any(|sense| !table.parents(table.sense(sense).synset).is_empty())
        })
    })
}

fn verb_form_is_a(word: &str, class: &str) -> Option<u8> {
    let verb = lemma(word, PartOfSpeech::Verb)?;
    is_a_as(verb, class, PartOfSpeech::Verb)
}
