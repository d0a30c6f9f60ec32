//! What the texts of one question are worth beside each other.

use std::time::Duration;

use memory_core::ports::Passage;
use ndarray::{Array1, Array2};
use parking_lot::Mutex;

use super::{Backend, EncoderError, Graph, Tensor, TensorView};
use crate::models::InstalledModel;

/// What the logarithm of a rank is divided by, as in training.
const RANK_UNIT: f32 = 3.0;
/// What the logarithm of minutes is divided by, as in training.
const MINUTES_UNIT: f32 = 8.0;
/// Number of signs of a text.
const SIGNS: usize = 3;

/// A network that reads what another one found in each text of a question (a transformer over a list; after Pang et al. 2020,
/// "SetRank"): whether a later text tells the same anew, or an earlier one what was before. It takes `f32[texts, width]` (the
/// vectors of question and text), `f32[texts]` (log-odds that a text answers, by itself), `f32[texts, 3]` (the signs) and
/// `i64[texts]` (place in time, the newest first), and gives `f32[texts]`: log-odds that a text answers, against that none does.
pub(super) struct PassageComparison {
    graph: Mutex<Box<dyn Graph>>,
    model: String,
}

impl PassageComparison {
    /// Loads the second network of a reader.
    ///
    /// # Errors
    /// If it cannot be loaded, or the entry lacks its tensors.
    pub fn load(installed: &InstalledModel, backend: &dyn Backend, threads: usize) -> Result<Self, EncoderError> {
        let second = installed.second_network().map_err(EncoderError::Entry)?;
        Ok(Self { graph: Mutex::new(backend.load(&second, threads)?), model: installed.entry.name.clone() })
    }

    /// Returns the log-odds that each passage answers, given what was read in each: its vector, and its log-odds by itself.
    ///
    /// # Errors
    /// If the network fails.
    pub fn compare(
        &self,
        passages: &[Passage<'_>],
        vectors: &Array2<f32>,
        relevance: &Array1<f32>,
    ) -> Result<Array1<f32>, EncoderError> {
        let ages: Vec<Duration> = passages.iter().map(|passage| passage.age).collect();
        let (signs, places) = signs(&ages);
        let inputs = [
            TensorView::F32(vectors.view().into_dyn()),
            TensorView::F32(relevance.view().into_dyn()),
            TensorView::F32(signs.view().into_dyn()),
            TensorView::I64(places.view().into_dyn()),
        ];
        let output = self.graph.lock().run(&inputs)?.into_iter().find_map(Tensor::into_f32);
        let compared = output.and_then(|output| output.into_dimensionality().ok());
        compared
            .filter(|compared: &Array1<f32>| {
                compared.len() == passages.len() && compared.iter().all(|one| one.is_finite())
            })
            .ok_or_else(|| EncoderError::output(&self.model, "the comparison has not one finite number per text"))
    }
}

/// Returns the signs of texts, which come as the search ranks them, and their places in the order of time, from 0, the newest
/// first: the logarithms of one and the rank, the minutes since the text, and those until the next newer one.
#[allow(clippy::cast_possible_truncation, clippy::cast_possible_wrap, reason = "ranks and places are small")]
fn signs(ages: &[Duration]) -> (Array2<f32>, Array1<i64>) {
    let minutes = |age: Duration| (age.as_secs_f64() / 60.0) as f32;
    let mut by_time: Vec<usize> = (0..ages.len()).collect();
    by_time.sort_by_key(|at| ages[*at]);
    let mut signs = Array2::zeros((ages.len(), SIGNS));
    let mut places = Array1::zeros(ages.len());
    let mut newer = None;
    for (place, at) in by_time.into_iter().enumerate() {
        let until_newer = newer.map_or(Duration::ZERO, |newer: usize| ages[at].saturating_sub(ages[newer]));
        signs[[at, 0]] = (at as f32).ln_1p() / RANK_UNIT;
        signs[[at, 1]] = minutes(ages[at]).ln_1p() / MINUTES_UNIT;
        signs[[at, 2]] = minutes(until_newer).ln_1p() / MINUTES_UNIT;
        places[at] = place as i64;
        newer = Some(at);
    }
    (signs, places)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_placed_in_time_from_the_newest() {
        let minutes = |minutes: u64| Duration::from_secs(60 * minutes);
        let (signs, places) = signs(&[minutes(30), minutes(5), minutes(90)]);
        assert_eq!(places.to_vec(), [1, 0, 2]);
        let until_newer: Vec<f32> = signs.column(2).iter().map(|sign| (sign * MINUTES_UNIT).exp_m1().round()).collect();
        assert_eq!(until_newer, [25.0, 0.0, 60.0]);
        let age: Vec<f32> = signs.column(1).iter().map(|sign| (sign * MINUTES_UNIT).exp_m1().round()).collect();
        assert_eq!(age, [30.0, 5.0, 90.0]);
        assert!(signs[[0, 0]] < signs[[1, 0]] && signs[[1, 0]] < signs[[2, 0]]);
    }
}
