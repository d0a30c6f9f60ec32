//! Things in a question that no encoder has a label for. A model with one space for pictures and texts compares them
//! with pictures.

use crate::Modality;
use crate::recall::looking::{Wanted, label_similarity};

use super::belief::MIN_LABEL_MATCH;
use super::tools::{AskedThing, Reach, Tool};

/// A thing to compare.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Thing {
    pub asked: AskedThing,
    /// Indices of the terms of the question that it stands for.
    pub terms: Vec<usize>,
}

/// Returns whether a tool has a label for a word.
pub(super) fn has_label(reach: &Reach, lemma: &str) -> bool {
    reach.labels.iter().any(|(sense, label)| label_similarity(label, *sense, lemma) >= MIN_LABEL_MATCH)
}

/// Returns the things of a question that no detector has a label for, and all its options if one of them is such a
/// thing: options can be compared only if all were looked for in the same way. Empty if no tool compares pictures with
/// words, or if the question asks for sounds.
pub(super) fn unlabelled_things(wanted: &Wanted, options: &[String], tools: &[(Tool, Reach)]) -> Vec<Thing> {
    if wanted.heard || wanted.said >= 1.0 || !tools.iter().any(|(_, reach)| reach.likeness) {
        return Vec::new();
    }
    let labels: Vec<&str> = tools
        .iter()
        .flat_map(|(_, reach)| reach.labels.iter().filter(|(_, label)| !reach.scenes.contains(label)))
        .filter(|(sense, _)| *sense == Modality::Visual)
        .map(|(_, label)| label.as_str())
        .collect();
    let seen =
        |lemma: &str| labels.iter().any(|label| label_similarity(label, Modality::Visual, lemma) >= MIN_LABEL_MATCH);
    let terms = || wanted.terms.iter().enumerate();
    let own = terms().filter(|(_, term)| term.option.is_none() && term.is_thing && !seen(&term.lemma));
    let mut things: Vec<Thing> = own
        .map(|(place, term)| {
            let article = if term.lemma.starts_with(['a', 'e', 'i', 'o', 'u']) { "an" } else { "a" };
            let phrase = format!("{article} {}", term.lemma);
            let sentence = format!("{}{} is in view.", article[..1].to_uppercase(), &phrase[1..]);
            Thing { asked: AskedThing { phrase, sentence }, terms: vec![place] }
        })
        .collect();
    let of = |option: usize| terms().filter(move |(_, term)| term.option == Some(option));
    let unseen = |option: usize| of(option).next().is_none() || of(option).any(|(_, term)| !seen(&term.lemma));
    if (0..options.len()).any(unseen) {
        things.extend(options.iter().enumerate().map(|(number, option)| Thing {
            asked: AskedThing { phrase: option.clone(), sentence: format!("The picture shows {option}.") },
            terms: of(number).map(|(place, _)| place).collect(),
        }));
    }
    things
}
