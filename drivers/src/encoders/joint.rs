//! A model with one space for pictures and texts. A question then finds pictures that nobody described in words.

use std::sync::Arc;

use memory_core::ports::TextEmbedder;

use super::{Backend, Encoder, EncoderError, ImageEncoder, Picture, SentenceEncoder, VectorEncoder};
use crate::models::InstalledModel;

/// A pair of networks that were trained together, such as CLIP (Radford et al. 2021). One encodes pictures, the other
/// encodes texts after a tokenizer, both into the same space.
pub struct JointEncoder {
    image: ImageEncoder,
    text: Arc<SentenceEncoder>,
    /// Slope and offset of [`JointEncoder::probability`].
    logistic: Option<(f32, f32)>,
}

impl JointEncoder {
    /// Loads both graphs and the tokenizer.
    ///
    /// # Errors
    /// If one of them cannot be loaded, or the entry lacks the files or tensors of the text side.
    pub fn load(installed: &InstalledModel, backend: &dyn Backend, threads: usize) -> Result<Self, EncoderError> {
        let image = ImageEncoder::load(installed, backend, threads)?;
        let text = Self::text_side(installed)?;
        let parameter = |name: &str| installed.entry.parameter(name).ok();
        let logistic = parameter("shows_slope").zip(parameter("shows_offset"));
        Ok(Self { image, logistic, text: Arc::new(SentenceEncoder::load(&text, backend, threads)?) })
    }

    /// Returns the network for texts as a model of its own.
    ///
    /// # Errors
    /// If the entry lacks its file or tensors.
    fn text_side(installed: &InstalledModel) -> Result<InstalledModel, EncoderError> {
        let text = installed.second_network().map_err(EncoderError::Entry)?;
        if text.entry.outputs.len() != 1 {
            let message = format!("{}: the catalogue must have exactly one of `text_outputs`", installed.entry.name);
            return Err(EncoderError::Entry(message));
        }
        Ok(text)
    }

    /// Returns the probability that a picture shows a text, by a logistic function of their cosine. Its parameters are
    /// `shows_slope` and `shows_offset` of the entry; `None` without them. SigLIP is trained with them; for models like
    /// CLIP they are fitted.
    pub fn probability(&self, cosine: f32) -> Option<f32> {
        self.logistic.map(|(slope, offset)| 1.0 / (1.0 + (-slope * cosine - offset).exp()))
    }

    /// Returns whether [`JointEncoder::probability`] has a value.
    pub fn tells(&self) -> bool {
        self.logistic.is_some()
    }

    /// Returns the text encoder, for questions.
    pub fn text(&self) -> Arc<dyn TextEmbedder> {
        Arc::<SentenceEncoder>::clone(&self.text)
    }
}

impl Encoder<Picture<'_>, Vec<f32>> for JointEncoder {
    fn model(&self) -> &str {
        self.image.model()
    }

    fn encode(&self, picture: &Picture<'_>) -> Result<Vec<f32>, EncoderError> {
        self.image.encode(picture)
    }
}

impl VectorEncoder<Picture<'_>> for JointEncoder {
    fn space(&self) -> &str {
        self.image.space()
    }

    fn dimensions(&self) -> usize {
        self.image.dimensions()
    }
}
