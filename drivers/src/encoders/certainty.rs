//! Scores that a detector must give before a thing counts, by the thing's class.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::EncoderError;
use crate::models::ModelEntry;

/// Scores from which things are told.
///
/// A detector names rare things too often, so a class that is rare in the training data needs more evidence. The
/// threshold of a class follows Bayes' rule in odds, with a discount `prior`, because the score holds part of that
/// knowledge already: `logit(t) = logit(base) + prior · ln(boxes of the most frequent class / boxes of the class)`.
#[derive(Debug, Clone, PartialEq)]
pub struct Certainty {
    steady: f32,
    sure: f32,
    /// What a class adds to the logits of both, 0 or more.
    shifts: BTreeMap<Arc<str>, f32>,
}

impl Default for Certainty {
    fn default() -> Self {
        Self { steady: 0.65, sure: 0.8, shifts: BTreeMap::new() }
    }
}

impl Certainty {
    /// What an entry says: `parameters.steady` and `parameters.sure`, and `boxes` with `parameters.prior`.
    ///
    /// # Errors
    /// If a number is not between 0 and 1, or there is not one of `boxes` per label.
    pub fn from_entry(entry: &ModelEntry) -> Result<Self, EncoderError> {
        let refuse = |message: String| EncoderError::Entry(format!("{}: {message}", entry.name));
        let otherwise = Self::default();
        let threshold = |name: &str, otherwise: f32| match entry.parameters.get(name) {
            None => Ok(otherwise),
            Some(value) if *value > 0.0 && *value < 1.0 => Ok(*value),
            Some(value) => Err(refuse(format!("parameter `{name}` is {value}, expected a number between 0 and 1"))),
        };
        let (steady, sure) = (threshold("steady", otherwise.steady)?, threshold("sure", otherwise.sure)?);
        if entry.boxes.is_empty() {
            return Ok(Self { steady, sure, shifts: BTreeMap::new() });
        }
        let prior = entry.parameter("prior").map_err(EncoderError::Entry)?;
        if entry.boxes.len() != entry.labels.len() || entry.boxes.contains(&0) || prior < 0.0 {
            let message =
                format!("{} `boxes` for {} labels; expected one above 0 each", entry.boxes.len(), entry.labels.len());
            return Err(refuse(message));
        }
        let most = entry.boxes.iter().copied().max().unwrap_or(1) as f32;
        let shift = |(label, boxes): (&String, &u32)| (Arc::from(label.as_str()), prior * (most / *boxes as f32).ln());
        Ok(Self { steady, sure, shifts: entry.labels.iter().zip(&entry.boxes).map(shift).collect() })
    }

    /// Score that a thing needs once among several sightings.
    pub fn steady(&self, label: &str) -> f32 {
        self.shifted(self.steady, label)
    }

    /// Score from which one sighting is enough.
    pub fn sure(&self, label: &str) -> f32 {
        self.shifted(self.sure, label)
    }

    fn shifted(&self, base: f32, label: &str) -> f32 {
        match self.shifts.get(label) {
            Some(shift) if *shift > 0.0 => 1.0 / (1.0 + (-((base / (1.0 - base)).ln() + shift)).exp()),
            _ => base,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::models::{Catalogue, Role};

    fn entry(labels: &[&str], boxes: &[u32]) -> ModelEntry {
        let mut entry = Catalogue::load(None).unwrap().model(Role::Objects).unwrap().clone();
        entry.labels = labels.iter().map(|label| (*label).to_owned()).collect();
        entry.boxes = boxes.to_vec();
        entry
            .parameters
            .extend([("steady", 0.5), ("sure", 0.8), ("prior", 0.5)].map(|(name, value)| (name.to_owned(), value)));
        entry
    }

    #[test]
    fn what_was_seldom_seen_in_training_needs_more() {
        let certainty = Certainty::from_entry(&entry(&["person", "kite"], &[10_000, 100])).unwrap();
        assert_eq!((certainty.steady("person"), certainty.sure("person")), (0.5, 0.8));
        // A hundred times as rare: at half weight the odds must be ten to one.
        assert!((certainty.steady("kite") - 10.0 / 11.0).abs() < 1e-5);
        assert!((certainty.sure("kite") - 40.0 / 41.0).abs() < 1e-5);
        assert_eq!(certainty.steady("a thing of no class"), 0.5);
    }

    #[test]
    fn without_counts_every_class_needs_the_same() {
        let certainty = Certainty::from_entry(&entry(&["person", "kite"], &[])).unwrap();
        assert_eq!(certainty.steady("kite"), certainty.steady("person"));
    }

    #[test]
    fn counts_that_do_not_fit_the_labels_are_refused() {
        for boxes in [&[1][..], &[1, 0]] {
            let error = Certainty::from_entry(&entry(&["person", "kite"], boxes)).unwrap_err().to_string();
            assert!(error.contains("for 2 labels"), "{error}");
        }
        let mut wrong = entry(&["person"], &[]);
        wrong.parameters.insert("sure".to_owned(), 1.5);
        assert!(Certainty::from_entry(&wrong).unwrap_err().to_string().contains("`sure` is 1.5"));
    }
}
