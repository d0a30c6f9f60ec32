//! Search that re-ranks hits by the exact cosines of stored embeddings.

use super::Reader;
use crate::index::{Hit, SearchQuery};

/// Number of hits whose embeddings are read. A cosine that is estimated from 512-bit signatures has an error of about
/// 0.06. Beyond this rank, the exact cosine no longer moves a hit to the top.
const MAX_RERANKED_HITS: usize = 96;

/// Returns hits, best first, ties by id. Signatures select the hits that may be similar. The stored embeddings of the
/// best ones give their exact similarity.
pub(super) fn search(reader: &dyn Reader, query: SearchQuery) -> Vec<Hit> {
    let Some(question) = query.embedding.clone() else { return reader.search().search(&query) };
    let wanted = query.limit;
    let mut hits = reader.search().search(&SearchQuery { limit: wanted.max(MAX_RERANKED_HITS), ..query });
    for hit in hits.iter_mut().take(MAX_RERANKED_HITS).filter(|hit| hit.cosine.is_some()) {
        if let Some(cosine) = reader.vector(hit.id).and_then(|vector| cosine(&question, &vector)) {
            hit.correct(cosine);
        }
    }
    hits.sort_by(|a, b| b.score.total_cmp(&a.score).then(a.id.cmp(&b.id)));
    hits.truncate(wanted);
    hits
}

/// Cosine of two vectors. Returns `None` if their lengths differ, or if one is a zero vector.
pub(crate) fn cosine<T: Copy + Into<f32>>(question: &[f32], vector: &[T]) -> Option<f32> {
    if question.len() != vector.len() {
        return None;
    }
    let (mut product, mut first, mut second) = (0.0_f32, 0.0_f32, 0.0_f32);
    for (a, b) in question.iter().zip(vector) {
        let b: f32 = (*b).into();
        product += a * b;
        first += a * a;
        second += b * b;
    }
    let cosine = product / (first * second).sqrt();
    cosine.is_finite().then_some(cosine)
}

#[cfg(test)]
mod tests {
    use super::cosine;

    #[test]
    fn a_cosine_is_that_of_the_directions_whatever_the_lengths() {
        assert!((cosine(&[3.0, 4.0], &[300_i16, 400]).unwrap() - 1.0).abs() < 1e-6);
        assert!(cosine(&[0.0, 2.0], &[32_767_i16, 0]).unwrap().abs() < 1e-6);
        assert_eq!(cosine(&[1.0, 0.0], &[1_i16, 0, 0]), None);
        assert_eq!(cosine(&[0.0, 0.0], &[1_i16, 0]), None);
    }
}
