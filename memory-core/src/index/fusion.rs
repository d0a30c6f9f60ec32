//! How the signals of a document are weighed against each other.

/// Weights of the signals. All of them lie between 0 and 1 (BM25 as a share of the most that the question's words can
/// give, cosines as they are), so the weights mean the same at every size of the memory.
///
/// Windows of two neighbours on each side, the entity that the question names and the date that it names are what held on
/// every split of the conversations they were measured on; features of length or of turns that are questions did not, and
/// are left out.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Fusion {
    /// BM25 of the document itself.
    pub own: f32,
    /// BM25 of the document with its neighbours.
    pub context: f32,
    /// Cosine of the document with its neighbours.
    pub dense: f32,
    /// The entity is named in the question.
    pub entity: f32,
    /// A span named in the question holds it.
    pub near: f32,
    /// Bonus for a document that holds the quoted words of the question next to each other.
    pub phrase: f32,
}

impl Default for Fusion {
    fn default() -> Self {
        Self { own: 0.5, context: 1.0, dense: 0.8, entity: 0.33, near: 0.67, phrase: 0.3 }
    }
}

/// BM25's saturation.
pub(super) const K1: f32 = 1.2;
/// BM25's normalisation of length.
pub(super) const B: f32 = 0.4;
/// How often a term counts in the context of a document: its own, its neighbours', the next neighbours'.
pub(super) const TERM_WINDOW: [f32; 3] = [3.0, 2.0, 1.0];
/// Weights of the vectors in the context of a document.
pub(super) const VECTOR_WINDOW: [f32; 3] = [1.0, 0.5, 0.25];
/// Assumed cosine of two neighbours' vectors, from which the length of their weighted sum is estimated.
pub(super) const NEIGHBOUR_COSINE: f32 = 0.25;

/// Weight of one occurrence count against BM25's saturation, without idf; below `K1 + 1`.
pub(super) fn saturation(frequency: f32, length: f32, mean_length: f32) -> f32 {
    frequency * (K1 + 1.0) / (frequency + K1 * (1.0 - B + B * length / mean_length.max(1.0)))
}

/// Inverse document frequency; positive for every term.
#[expect(clippy::cast_precision_loss, reason = "counts of documents; the loss is below the model's own")]
pub(super) fn idf(documents: u32, total: u32) -> f32 {
    let (documents, total) = (documents as f32, total.max(documents) as f32);
    ((total - documents + 0.5) / (documents + 0.5)).ln_1p()
}
