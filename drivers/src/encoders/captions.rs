//! Captions: what a picture shows, in a sentence. No model of the catalogue fills the role; a vision model behind an endpoint does.

/// Describes pictures.
pub trait Captioner: Send + Sync {
    /// Name of the model.
    fn model(&self) -> &str;

    /// What the model runs on, for `health`.
    fn backend(&self) -> &str;

    /// One sentence about a picture, a JPEG file. Blocks, within a time limit of its own.
    ///
    /// # Errors
    /// Says why there is none.
    fn caption(&self, jpeg: &[u8]) -> Result<String, String>;
}
